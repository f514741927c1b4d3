/* run_cuda.c - reductions on a GPU: the launches of a plan, one level after the other.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/reduce/cuda/reduce.h"
#include "kernels/reduce/ops.h"
#include "plan.h"
#include "run_cuda.h"

/* The oldest compute capability that the kernels are written for. */
#define KERNEL_ARCH "sm75"

/* Partial results of a step, from number `at` of its own on. */
static tilemm__partials_t partials_of(const tilemm__reduce_cuda_plan_t *plan,
                                      const tilemm__reduce_args_t *args, void *workspace, int step,
                                      int64_t at)
{
    tilemm__partials_t partials = {NULL, NULL, NULL, NULL};
    const int64_t place = plan->step[step].place;
    int64_t *extras = NULL;
    if (plan->has_extras)
        extras =
            (int64_t *)((char *)workspace + (size_t)plan->room * plan->value_bytes) + place + at;
    if (tilemm__op_is_order(args->op)) {
        partials.keys = (int32_t *)workspace + place + at;
        partials.indices = extras;
    } else {
        partials.sums = (tilemm__sum_t *)workspace + place + at;
        partials.counts = extras;
    }
    return partials;
}

/* The step that reads the elements: a chunk of vectors, whole or `length` elements, `items` items,
 * from `first`. */
static int run_first(const tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                     void *workspace, int64_t first, int64_t length, int64_t items, void *stream)
{
    const tilemm__reduce_step_t *step = &plan->step[0];
    tilemm__partials_t to = {NULL, NULL, NULL, NULL};
    tilemm__reduce_args_t panel = *args;
    if (step->kind == TILEMM__STEP_BLOCK)
        return tilemm__reduce_across_block(args, stream);
    if (step->kind == TILEMM__STEP_EACH)
        return tilemm__reduce_each(args, stream);
    if (step->kind == TILEMM__STEP_CLUSTER)
        return tilemm__reduce_across_cluster(args, stream);
    if (plan->steps > 1)
        to = partials_of(plan, args, workspace, 0, 0);
    if (first > 0) {
        panel.x += first * args->istride;
        if (args->op == TILEMM__DOT)
            panel.y += first * args->y_istride;
    }
    panel.n = length;
    if (step->kind == TILEMM__STEP_DOWN)
        return tilemm__reduce_down(&panel, step->width, step->parts,
                                   plan->steps > 1 && plan->step[1].kind == TILEMM__STEP_BESIDE,
                                   first, plan->steps > 1 ? &to : NULL, stream);
    return tilemm__reduce_across(&panel, step->width, step->tiles, step->share, step->parts, items,
                                 first, plan->steps > 1 ? &to : NULL, stream);
}

/* A later step: `length` partial results of each vector; what comes of them begins at `at`. */
static int run_level(const tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                     void *workspace, int number, int64_t length, int64_t at, void *stream)
{
    const tilemm__reduce_step_t *step = &plan->step[number];
    const tilemm__partials_t from = partials_of(plan, args, workspace, number - 1, 0);
    tilemm__partials_t to;
    if (step->kind == TILEMM__STEP_BESIDE)
        return tilemm__reduce_beside(args, length, &from, stream);
    if (step->kind == TILEMM__STEP_BLOCK)
        return tilemm__reduce_partials_block(args, length, plan->step[number - 1].parts, &from,
                                             stream);
    if (number == plan->steps - 1)
        return tilemm__reduce_partials(args, length, &from, NULL, stream);
    to = partials_of(plan, args, workspace, number, at);
    return tilemm__reduce_partials(args, length, &from, &to, stream);
}

/* All steps for one chunk of vectors. */
static int run_chunk(const tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                     void *workspace, void *stream)
{
    const int64_t items = plan->step[0].items;
    const int64_t unit = (int64_t)plan->step[0].tiles * TILEMM__TILE_ELEMS; /* of sums */
    const int in_panels = plan->panel < items;
    int error = 0;
    for (int64_t first = 0; first < items && !error; first += plan->panel) {
        const int64_t here = items - first < plan->panel ? items - first : plan->panel;
        const int64_t start = first * unit;
        const int64_t length = first + here < items ? here * unit : args->n - start;
        error = run_first(plan, args, workspace, start, length, here, stream);
        if (in_panels && !error)
            error = run_level(plan, args, workspace, 1, here, first / TILEMM__TILE_ELEMS, stream);
    }
    for (int i = in_panels ? 2 : 1; i < plan->steps && !error; i++)
        error = run_level(plan, args, workspace, i, plan->step[i].length, 0, stream);
    return error;
}

tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__reduce_cuda_plan_t plan;
    void *workspace = NULL;
    int error = 0;
    tilemm__plan_reduce_cuda(&plan, args, &state->traits, SIZE_MAX);
    if (plan.workspace > 0) {
        size_t got;
        workspace = tilemm__cuda_workspace(ctx, plan.workspace, &got);
        if (got < plan.workspace)
            tilemm__plan_reduce_cuda(&plan, args, &state->traits, got);
    }
    tilemm__set_kernel(ctx, "reduce_%s_" KERNEL_ARCH "_%dx%d",
                       plan.step[0].kind == TILEMM__STEP_DOWN ? "down" : "across",
                       TILEMM__TILE_ROWS, TILEMM__TILE_LANES);
    for (int64_t v = 0; v < args->count && !error; v += plan.vectors) {
        tilemm__reduce_args_t chunk = *args;
        chunk.count = args->count - v < plan.vectors ? args->count - v : plan.vectors;
        if (v > 0) {
            chunk.x += v * args->vstride;
            if (args->out)
                chunk.out += v * args->out_stride;
            if (args->index_out)
                chunk.index_out += v * args->out_stride;
        }
        error = run_chunk(&plan, &chunk, workspace, state->stream);
    }
    return error ? tilemm__cuda_fail(ctx, "reduce", error) : TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__segments_cuda_plan_t plan;
    void *workspace = NULL;
    int error;
    tilemm__plan_segments_cuda(&plan, args, &state->traits, SIZE_MAX);
    if (plan.workspace > 0) {
        size_t got;
        workspace = tilemm__cuda_workspace(ctx, plan.workspace, &got);
        if (got < plan.workspace)
            tilemm__plan_segments_cuda(&plan, args, &state->traits, got);
    }
    tilemm__set_kernel(ctx, "reduce_segments_" KERNEL_ARCH "_%dx%d", TILEMM__TILE_ROWS,
                       TILEMM__TILE_LANES);
    error = tilemm__reduce_segments(args, plan.group, plan.warp_limit, plan.room, plan.span_room,
                                    plan.blocks, workspace, state->stream);
    return error ? tilemm__cuda_fail(ctx, "reduce_segments", error) : TILEMM_SUCCESS;
}
