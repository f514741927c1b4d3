/* run_cuda.c - transpose on the GPU: the launches that a plan stands for, in their order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/transpose/cuda/transpose.h"
#include "plan_cuda.h"
#include "run_cuda.h"

/* Everything here returns a cudaError_t, 0 for success, which goes up to the entry point. */

static int run_plan(const tilemm__transpose_args_t *args, const tilemm__transpose_plan_t *plan,
                    void *stream)
{
    tilemm__transpose_launch_t launch;

    if (plan->kernel == TILEMM__TRANSPOSE_COPY) {
        tilemm__transpose_copy_t copy;

        memset(&copy, 0, sizeof copy);
        /* What is not read need not be there: it has the shape of the result, too. */
        copy.src = plan->zero ? args->dst : args->src;
        copy.dst = args->dst;
        /* Filling with zeros may come with a transpose: the shape is the result's. */
        copy.rows = args->trans ? args->cols : args->rows;
        copy.cols = args->trans ? args->rows : args->cols;
        copy.batch = args->batch_count;
        copy.ld_src = plan->zero ? args->ld_dst : args->ld_src;
        copy.ld_dst = args->ld_dst;
        copy.stride_src = plan->zero ? args->stride_dst : args->stride_src;
        copy.stride_dst = args->stride_dst;
        if (plan->flat) {
            copy.cols *= copy.rows * copy.batch;
            copy.rows = copy.batch = 1;
        }
        copy.elem_size = (int)args->elem_size;
        copy.unit = plan->access;
        copy.block_cols = plan->block_cols;
        copy.scaled = args->scaled && args->alpha != 1.0f;
        copy.zero = plan->zero;
        copy.alpha = args->alpha;
        return tilemm__launch_transpose_copy(&copy, stream);
    }
    memset(&launch, 0, sizeof launch);
    launch.src = args->src;
    launch.dst = args->dst;
    launch.rows = args->rows;
    launch.cols = args->cols;
    launch.batch = args->batch_count;
    launch.ld_src = args->ld_src;
    launch.ld_dst = args->ld_dst;
    launch.stride_src = args->stride_src;
    launch.stride_dst = args->stride_dst;
    launch.elem_size = (int)args->elem_size;
    launch.scaled = args->scaled && args->alpha != 1.0f;
    launch.alpha = args->alpha;
    launch.access = plan->access;
    launch.halo = plan->halo;
    launch.streaming = plan->streaming;
    launch.tile_rows = plan->tile_rows;
    launch.tile_cols = plan->tile_cols;
    launch.tile_batch = plan->tile_batch;
    launch.unit_in = plan->unit_in;
    launch.unit_out = plan->unit_out;
    switch (plan->kernel) {
    case TILEMM__TRANSPOSE_CHUNKS: return tilemm__launch_transpose_chunks(&launch, stream);
    case TILEMM__TRANSPOSE_SHIFTED: return tilemm__launch_transpose_shifted(&launch, stream);
    case TILEMM__TRANSPOSE_NARROW: return tilemm__launch_transpose_narrow(&launch, stream);
    case TILEMM__TRANSPOSE_GATHER: return tilemm__launch_transpose_gather(&launch, stream);
    case TILEMM__TRANSPOSE_SHORT:
        return tilemm__launch_transpose_short(&launch, &plan->turn, stream);
    default: return tilemm__launch_transpose_strip(&launch, stream);
    }
}

tilemm_status_t tilemm__cuda_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__transpose_plan_t plan;
    int error;

    tilemm__plan_transpose_cuda(args, &state->traits, &plan);
    error = run_plan(args, &plan, state->stream);
    if (error)
        return tilemm__cuda_fail(ctx, "transpose", error);
    tilemm__set_kernel(ctx, "%s", plan.name);
    return TILEMM_SUCCESS;
}

/* ---- in place ------------------------------------------------------------------------------- */

/* What the steps of one call share. */
typedef struct {
    const tilemm__transpose_args_t *args;
    const tilemm__cuda_traits_t *traits;
    const tilemm__transpose_inplace_plan_t *plan;
    unsigned char *workspace;
    void *stream;
    tilemm__inplace_t view;
    int size;   /* of an element */
    int64_t ld; /* of the view */
} inplace_t;

static void *element_at(void *base, int64_t offset, int size)
{
    return (unsigned char *)base + offset * size;
}

/* The workspace that is left beside the rest. */
static void *after_rest(const inplace_t *in)
{
    return in->plan->rest_bytes ? in->workspace + in->plan->rest_bytes : in->workspace;
}

/* An out-of-place step, from and to any rows. */
static int step(const inplace_t *in, int trans, int64_t rows, int64_t cols, const void *src,
                int64_t ld_src, void *dst, int64_t ld_dst, int scaled)
{
    tilemm__transpose_args_t args;
    tilemm__transpose_plan_t plan;

    memset(&args, 0, sizeof args);
    args.rows = rows;
    args.cols = cols;
    args.elem_size = (size_t)in->size;
    args.trans = trans;
    args.scaled = scaled;
    args.alpha = in->args->alpha;
    args.src = src;
    args.dst = dst;
    args.ld_src = ld_src;
    args.ld_dst = ld_dst;
    args.batch_count = 1;
    tilemm__plan_transpose_cuda(&args, in->traits, &plan);
    return run_plan(&args, &plan, in->stream);
}

/* Through the workspace, which holds the whole matrix. */
static int run_staged(const inplace_t *in)
{
    const tilemm__transpose_args_t *args = in->args;
    const int64_t rows = args->trans ? args->cols : args->rows;
    const int64_t cols = args->trans ? args->rows : args->cols;
    const int error = step(in, args->trans, args->rows, args->cols, args->dst, args->ld_src,
                           in->workspace, cols, args->scaled);

    return error ? error : step(in, 0, rows, cols, in->workspace, cols, args->dst, args->ld_dst, 0);
}

static int run_swap(const inplace_t *in)
{
    tilemm__transpose_swap_t swap;

    memset(&swap, 0, sizeof swap);
    swap.a = in->args->dst;
    swap.n = in->args->rows;
    swap.ld = in->args->ld_src;
    swap.elem_size = in->size;
    swap.access = in->plan->access;
    swap.scaled = in->args->scaled && in->args->alpha != 1.0f;
    swap.alpha = in->args->alpha;
    return tilemm__launch_transpose_swap(&swap, in->stream);
}

/* A column operation, panel by panel: out to the workspace, rows taken as `out_source` says, and
 * back as `back_source` says. */
static int run_panels(const inplace_t *in, int out_source, int back_source, int64_t div)
{
    int64_t first;

    for (first = 0; first < in->view.n; first += in->plan->panel) {
        const int64_t left = in->view.n - first;
        void *matrix = element_at(in->args->dst, first, in->size);
        tilemm__transpose_columns_t columns;
        int error;

        memset(&columns, 0, sizeof columns);
        columns.view = in->view;
        columns.elem_size = in->size;
        columns.first = first;
        columns.width = left < in->plan->panel ? left : in->plan->panel;
        columns.div = div;
        columns.in = matrix;
        columns.ld_in = in->ld;
        columns.out = in->workspace;
        columns.ld_out = columns.width;
        columns.source = out_source;
        error = tilemm__launch_transpose_columns(&columns, in->stream);
        if (error)
            return error;
        columns.in = in->workspace;
        columns.ld_in = columns.width;
        columns.out = matrix;
        columns.ld_out = in->ld;
        columns.source = back_source;
        error = tilemm__launch_transpose_columns(&columns, in->stream);
        if (error)
            return error;
    }
    return 0;
}

static int run_rotation(const inplace_t *in, int up, int64_t div)
{
    tilemm__transpose_rotate_t rotate;

    memset(&rotate, 0, sizeof rotate);
    rotate.a = in->args->dst;
    rotate.m = in->view.m;
    rotate.n = in->view.n;
    rotate.ld = in->ld;
    rotate.div = div;
    rotate.up = up;
    rotate.elem_size = in->size;
    return tilemm__launch_transpose_rotate(&rotate, in->stream);
}

static int run_cycles(const inplace_t *in)
{
    tilemm__transpose_cycles_t cycles;

    memset(&cycles, 0, sizeof cycles);
    cycles.a = in->args->dst;
    cycles.ld = in->ld;
    cycles.forward = in->plan->forward;
    cycles.elem_size = in->size;
    cycles.view = in->view;
    return tilemm__launch_transpose_cycles(&cycles, in->stream);
}

/* Step 1 of the permutation: rotate column j by j / b; b = n if c = 1. */
static int run_prerotation(const inplace_t *in)
{
    const int up = in->plan->forward;

    if (in->view.c == 1)
        return 0;
    if (!in->plan->panel)
        return run_rotation(in, up, in->view.b);
    return run_panels(in, TILEMM__COLUMNS_SAME, up ? TILEMM__COLUMNS_UP : TILEMM__COLUMNS_DOWN,
                      in->view.b);
}

/* Step 2: shuffle rows. */
static int run_rows(const inplace_t *in)
{
    tilemm__transpose_rows_t rows;
    tilemm__transpose_long_rows_t shuffle;
    int64_t first;

    if (in->plan->rows_per_block) {
        memset(&rows, 0, sizeof rows);
        rows.a = in->args->dst;
        rows.ld = in->ld;
        rows.forward = in->plan->forward;
        rows.rows_per_block = in->plan->rows_per_block;
        rows.elem_size = in->size;
        rows.view = in->view;
        return tilemm__launch_transpose_rows(&rows, in->stream);
    }
    memset(&shuffle, 0, sizeof shuffle);
    shuffle.in = in->args->dst;
    shuffle.out = in->workspace;
    shuffle.ld_out = in->view.n;
    shuffle.ld_in = in->ld;
    shuffle.forward = in->plan->forward;
    shuffle.elem_size = in->size;
    shuffle.view = in->view;
    for (first = 0; first < in->view.m; first += in->plan->workspace_rows) {
        const int64_t left = in->view.m - first;
        void *matrix = element_at(in->args->dst, first * in->ld, in->size);
        int error;

        shuffle.in = matrix;
        shuffle.first = first;
        shuffle.count = left < in->plan->workspace_rows ? left : in->plan->workspace_rows;
        error = tilemm__launch_transpose_long_rows(&shuffle, in->stream);
        if (!error)
            error = step(in, 0, shuffle.count, in->view.n, in->workspace, in->view.n, matrix,
                         in->ld, 0);
        if (error)
            return error;
    }
    return 0;
}

/* Step 3: rotate column j by j, and permute rows; backward, the other way about. */
static int run_columns(const inplace_t *in)
{
    int error;

    if (in->plan->panel) {
        if (in->plan->forward)
            return run_panels(in, TILEMM__COLUMNS_UP, TILEMM__COLUMNS_PERMUTED, 1);
        return run_panels(in, TILEMM__COLUMNS_UNPERMUTED, TILEMM__COLUMNS_DOWN, 1);
    }
    if (in->plan->forward) {
        error = run_rotation(in, 1, 1);
        return error ? error : run_cycles(in);
    }
    error = run_cycles(in);
    return error ? error : run_rotation(in, 0, 1);
}

static int run_c2r(const inplace_t *in)
{
    int error = in->plan->forward ? run_prerotation(in) : run_columns(in);

    if (!error)
        error = run_rows(in);
    if (!error)
        error = in->plan->forward ? run_columns(in) : run_prerotation(in);
    return error;
}

/* Each block of `length` rows of the view is transposed through the workspace, or, backward, each
 * block of n runs. Both forms of a block take the same slots. */
static int run_blocks(const inplace_t *in)
{
    void *const workspace = after_rest(in);
    const int64_t n = in->view.n, length = in->plan->length;
    int64_t chunk;

    for (chunk = 0; chunk < in->plan->chunks; chunk++) {
        void *block = element_at(in->args->dst, chunk * length * in->ld, in->size);
        int error;

        if (in->plan->forward) {
            error = step(in, 1, length, n, block, in->ld, workspace, length, 0);
            if (!error)
                error = step(in, 0, length, n, workspace, n, block, in->ld, 0);
        } else {
            error = step(in, 0, length, n, block, in->ld, workspace, n, 0);
            if (!error)
                error = step(in, 1, n, length, workspace, length, block, in->ld, 0);
        }
        if (error)
            return error;
    }
    return 0;
}

static int run_runs(const inplace_t *in)
{
    tilemm__transpose_runs_t runs;
    int error;

    memset(&runs, 0, sizeof runs);
    runs.a = in->args->dst;
    runs.n = in->view.n;
    runs.ld = in->ld;
    runs.chunks = in->plan->chunks;
    runs.length = in->plan->length;
    runs.forward = in->plan->forward;
    runs.slice = in->plan->slice;
    runs.elem_size = in->size;
    if (in->plan->forward) {
        error = run_blocks(in);
        return error ? error : tilemm__launch_transpose_runs(&runs, in->stream);
    }
    error = tilemm__launch_transpose_runs(&runs, in->stream);
    return error ? error : run_blocks(in);
}

/* Panels of rows change places, then runs of their elements; or the other way about. */
static int run_two_passes(const inplace_t *in)
{
    const tilemm__transpose_inplace_plan_t *plan = in->plan;
    const uintptr_t where = (uintptr_t)in->args->dst;
    const int64_t rest_bytes = plan->rest * in->size;
    tilemm__transpose_panels_t panels;
    tilemm__transpose_chains_t chains;
    int error;

    memset(&panels, 0, sizeof panels);
    panels.a = in->args->dst;
    panels.n = plan->n;
    panels.panels = plan->chunks;
    panels.rest = plan->rest;
    panels.forward = plan->forward;
    panels.wide = (where | (uintptr_t)rest_bytes) % 16 == 0;
    panels.elem_size = in->size;
    panels.counts = (unsigned *)(void *)(in->workspace + plan->counts_at);
    memset(&chains, 0, sizeof chains);
    chains.a = in->args->dst;
    chains.n = plan->n;
    chains.panels = plan->chunks;
    chains.rest_bytes = rest_bytes;
    chains.forward = plan->forward;
    for (chains.unit = 8; (where | (uintptr_t)rest_bytes) % (unsigned)chains.unit != 0;)
        chains.unit /= 2;
    chains.stride = plan->stride;
    chains.marks = (uint32_t *)(void *)(in->workspace + plan->marks_at);
    chains.saved = in->workspace + plan->saved_at;
    if (plan->forward) {
        error = tilemm__launch_transpose_panels(&panels, in->stream);
        return error ? error : tilemm__launch_transpose_chains(&chains, in->stream);
    }
    error = tilemm__launch_transpose_chains(&chains, in->stream);
    return error ? error : tilemm__launch_transpose_panels(&panels, in->stream);
}

/* The elements that blocks of equal length leave over: rows of the view from m0 on. They wait in
 * the workspace, in the form that they have in the end, from before the rest moves until after. */
static int keep_rest(const inplace_t *in)
{
    const tilemm__transpose_inplace_plan_t *plan = in->plan;
    const int64_t m0 = plan->m - plan->rest;

    if (!plan->rest)
        return 0;
    if (plan->forward)
        return step(in, 1, plan->rest, plan->n,
                    element_at(in->args->dst, m0 * in->args->ld_src, in->size), in->args->ld_src,
                    in->workspace, plan->rest, 0);
    return step(in, 1, plan->n, plan->rest, element_at(in->args->dst, m0, in->size),
                in->args->ld_src, in->workspace, plan->n, 0);
}

static int return_rest(const inplace_t *in)
{
    const tilemm__transpose_inplace_plan_t *plan = in->plan;
    const int64_t m0 = plan->m - plan->rest;

    if (!plan->rest)
        return 0;
    if (plan->forward)
        return step(in, 0, plan->n, plan->rest, in->workspace, plan->rest,
                    element_at(in->args->dst, m0, in->size), in->args->ld_dst, 0);
    return step(in, 0, plan->rest, plan->n, in->workspace, plan->n,
                element_at(in->args->dst, m0 * in->args->ld_dst, in->size), in->args->ld_dst, 0);
}

/* Whether any slot of begin ... end - 1 can fall, or rise: the change of address is
 * (k / width_out) * pad_out - (k / width_in) * pad_in, each of the two rising with k. */
static int can_move(const tilemm__transpose_move_t *move, int64_t begin, int64_t end, int rising)
{
    const int64_t pad_in = move->ld_in - move->width_in, pad_out = move->ld_out - move->width_out;

    if (rising)
        return (end - 1) / move->width_out * pad_out > begin / move->width_in * pad_in;
    return begin / move->width_out * pad_out < (end - 1) / move->width_in * pad_in;
}

static int run_move(const inplace_t *in)
{
    const tilemm__transpose_args_t *args = in->args;
    const tilemm__transpose_inplace_plan_t *plan = in->plan;
    const int64_t m0 = plan->m - plan->rest;
    void *const workspace = after_rest(in);
    tilemm__transpose_move_t move;
    int64_t begin;
    int error;

    if (!plan->move)
        return 0;
    memset(&move, 0, sizeof move);
    move.a = args->dst;
    move.total = m0 * plan->n;
    move.ld_in = args->ld_src;
    move.ld_out = args->ld_dst;
    if (!args->trans) {
        move.width_in = move.width_out = args->cols;
    } else {
        move.width_in = plan->forward ? plan->n : m0;
        move.width_out = plan->forward ? m0 : plan->n;
    }
    move.elem_size = in->size;
    if (!plan->interval)
        return tilemm__launch_transpose_move_alone(&move, in->stream);
    for (begin = 0; begin < move.total; begin += plan->interval) {
        const int64_t left = move.total - begin;
        const int64_t end = begin + (left < plan->interval ? left : plan->interval);

        if (!can_move(&move, begin, end, 0))
            continue;
        error = tilemm__launch_transpose_move(&move, begin, end, 0, workspace, in->stream);
        if (error)
            return error;
    }
    for (begin = (move.total - 1) / plan->interval * plan->interval; begin >= 0;
         begin -= plan->interval) {
        const int64_t left = move.total - begin;
        const int64_t end = begin + (left < plan->interval ? left : plan->interval);

        if (!can_move(&move, begin, end, 1))
            continue;
        error = tilemm__launch_transpose_move(&move, begin, end, 1, workspace, in->stream);
        if (error)
            return error;
    }
    return 0;
}

static int permute(const inplace_t *in)
{
    switch (in->plan->method) {
    case TILEMM__INPLACE_SWAP: return run_swap(in);
    case TILEMM__INPLACE_RUNS: return run_runs(in);
    case TILEMM__INPLACE_PANELS: return run_two_passes(in);
    case TILEMM__INPLACE_C2R: return run_c2r(in);
    default: return 0;
    }
}

static int run_inplace(inplace_t *in)
{
    const tilemm__transpose_args_t *args = in->args;
    const tilemm__transpose_inplace_plan_t *plan = in->plan;
    const int64_t rows = args->trans ? args->cols : args->rows;
    const int64_t cols = args->trans ? args->rows : args->cols;
    int error;

    if (plan->method == TILEMM__INPLACE_STAGED)
        return run_staged(in);
    if (plan->method == TILEMM__INPLACE_ZERO)
        return step(in, 0, rows, cols, args->dst, args->ld_dst, args->dst, args->ld_dst, 1);
    tilemm__inplace_init(&in->view, plan->m, plan->n);
    in->ld = plan->forward ? args->ld_src : args->ld_dst;
    error = keep_rest(in);
    if (!error)
        error = plan->forward ? permute(in) : run_move(in);
    if (!error)
        error = plan->forward ? run_move(in) : permute(in);
    if (!error)
        error = return_rest(in);
    if (!error && plan->scale)
        error = step(in, 0, rows, cols, args->dst, args->ld_dst, args->dst, args->ld_dst, 1);
    return error;
}

tilemm_status_t tilemm__cuda_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    const size_t want = tilemm__transpose_inplace_cuda_want(args, &state->traits);
    tilemm__transpose_inplace_plan_t plan;
    inplace_t in;
    size_t got = 0;
    int error;

    memset(&in, 0, sizeof in);
    if (want)
        in.workspace = tilemm__cuda_workspace(ctx, want, &got);
    if (tilemm__plan_transpose_inplace_cuda(args, &state->traits, got, &plan) != 0)
        return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY,
                            "transpose: %zu bytes of workspace are too few for rows of %lld "
                            "elements of %zu bytes",
                            got, (long long)plan.n, args->elem_size);
    in.args = args;
    in.traits = &state->traits;
    in.plan = &plan;
    in.stream = state->stream;
    in.size = (int)args->elem_size;
    error = run_inplace(&in);
    if (error)
        return tilemm__cuda_fail(ctx, "transpose", error);
    tilemm__set_kernel(ctx, "%s", plan.name);
    return TILEMM_SUCCESS;
}
