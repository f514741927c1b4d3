/* run_cuda.c - reductions on a GPU: the launches of a plan, one after the other.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/cuda/cuda.h"
#include "lib/size.h"
#include "plan_cuda.h"
#include "plan_pieces_cuda.h"

/* ---- vectors ---------------------------------------------------------------------------- */

/* Partial results of a step, from its number `at` on. */
static tilemm__partials_t partials_of(const tilemm__reduce_cuda_plan_t *plan, void *workspace,
                                      int step, int64_t at)
{
    const int64_t place = plan->step[step].place + at;
    char *const extras = (char *)workspace + (size_t)plan->room * plan->value_bytes;
    int64_t *const extra = plan->has_extras ? (int64_t *)extras + place : NULL;
    if (tilemm__op_is_order(plan->step[0].launch.args.op))
        return (tilemm__partials_t){.keys = (int32_t *)workspace + place, .indices = extra};
    return (tilemm__partials_t){.sums = (tilemm__sum_t *)workspace + place, .counts = extra};
}

/* One step for args->count vectors, of each of which it reads `length` elements or partial results;
 * its partial results begin at number `at` of its own. */
static int run_step(const tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                    void *workspace, int number, int64_t length, int64_t at, void *stream)
{
    tilemm__reduce_launch_t launch = plan->step[number].launch;
    launch.args = *args;
    tilemm__size_reduce_launch(&launch, args->count, length);
    if (number > 0)
        launch.from = partials_of(plan, workspace, number - 1, 0);
    if (number < plan->steps - 1)
        launch.to = partials_of(plan, workspace, number, at);
    return tilemm__reduce_launch(&launch, stream);
}

/* All steps for these vectors. */
static int run_vectors(const tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                       void *workspace, void *stream)
{
    const int64_t items = plan->step[0].items;
    const int in_ranges = plan->range < items;
    int64_t start = 0;
    int error = 0;
    for (int64_t first = 0; first < items && !error; first += plan->range) {
        tilemm__reduce_args_t part = *args;
        if (first > 0) {
            part.x += start * args->istride;
            if (args->op == TILEMM__DOT)
                part.y += start * args->y_istride;
        }
        error = run_step(plan, &part, workspace, 0,
                         tilemm__min(args->n - start, plan->range_elements), 0, stream);
        if (in_ranges && !error)
            error = run_step(plan, args, workspace, 1, tilemm__min(items - first, plan->range),
                             first / TILEMM__TILE_ELEMS, stream);
        start += plan->range_elements;
    }
    for (int i = in_ranges ? 2 : 1; i < plan->steps && !error; i++)
        error = run_step(plan, args, workspace, i, plan->step[i].length, 0, stream);
    return error;
}

tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__reduce_cuda_plan_t plan;
    void *workspace = NULL;
    int error = tilemm__plan_reduce_cuda(args, &limits, &plan);
    if (plan.workspace > 0) {
        workspace = tilemm__cuda_workspace(ctx, plan.workspace, &limits.workspace);
        if (limits.workspace < plan.workspace)
            error = tilemm__plan_reduce_cuda(args, &limits, &plan);
    }
    tilemm__set_kernel_name(ctx, plan.name);
    for (int64_t v = 0; v < args->count && !error; v += plan.vectors) {
        tilemm__reduce_args_t part = *args;
        part.count = tilemm__min(args->count - v, plan.vectors);
        if (v > 0) {
            part.x += v * args->vstride;
            if (args->out)
                part.out += v * args->out_stride;
            if (args->index_out)
                part.index_out += v * args->out_stride;
        }
        error = run_vectors(&plan, &part, workspace, tilemm__cuda(ctx)->stream);
    }
    return error ? tilemm__cuda_fail(ctx, "reduce", error) : TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_reduce_part(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                         int64_t unit, int64_t first_index, void *partials)
{
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, 0);
    tilemm__reduce_launch_t launch;
    tilemm__plan_reduce_part_cuda(args, unit, first_index, &limits, &launch);
    launch.to = tilemm__part_of(args, tilemm__div_up(args->n, unit) * args->count, partials);
    tilemm__set_kernel_name(ctx, tilemm__reduce_rows[launch.variant].name);
    const int error = tilemm__reduce_launch(&launch, tilemm__cuda(ctx)->stream);
    return error ? tilemm__cuda_fail(ctx, "reduce", error) : TILEMM_SUCCESS;
}

/* ---- segments --------------------------------------------------------------------------- */

/* Give the lists their places in the workspace: see tilemm__segment_lists_t. */
static void place_lists(void *workspace, tilemm__segment_lists_t *lists)
{
    tilemm__sum_t *const sums = (tilemm__sum_t *)((char *)workspace + TILEMM__LISTS_HEAD);
    int64_t *const next = (int64_t *)(sums + lists->span_room);
    lists->taken = workspace;
    lists->value.sums = sums;
    lists->span_segment = next;
    lists->span_number = next + lists->span_room;
    lists->counts = next + 2 * lists->span_room;
    lists->segments = next + 3 * lists->span_room;
}

tilemm_status_t tilemm__cuda_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    const cudaStream_t stream = tilemm__cuda(ctx)->stream;
    tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__segments_cuda_plan_t plan;
    void *workspace = NULL;
    int error = tilemm__plan_segments_cuda(args, &limits, &plan);
    if (plan.workspace > 0) {
        workspace = tilemm__cuda_workspace(ctx, plan.workspace, &limits.workspace);
        if (limits.workspace < plan.workspace)
            error = tilemm__plan_segments_cuda(args, &limits, &plan);
    }
    tilemm__set_kernel_name(ctx, plan.name);
    if (plan.launches > 1 && !error)
        error = (int)cudaMemsetAsync(workspace, 0, TILEMM__LISTS_HEAD, stream);
    for (int i = 0; i < plan.launches && !error; i++) {
        tilemm__reduce_launch_t *launch = &plan.launch[i];
        if (plan.launches > 1)
            place_lists(workspace, &launch->lists);
        error = tilemm__reduce_launch(launch, stream);
    }
    return error ? tilemm__cuda_fail(ctx, "reduce_segments", error) : TILEMM_SUCCESS;
}
