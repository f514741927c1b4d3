/* run_cuda.c - transpose on the GPU: the launches that a plan stands for, in their order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/transpose/cuda/transpose.h"
#include "lib/cuda/cuda.h"
#include "plan_cuda.h"

/* Everything here returns a cudaError_t, 0 for success, which goes up to the entry point. */

static int run_plan(const tilemm__transpose_cuda_plan_t *plan, void *stream)
{
    static tilemm__transpose_launcher_t *const launchers[] = {
        [TILEMM__TRANSPOSE_BY_copy] = tilemm__launch_transpose_copy,
        [TILEMM__TRANSPOSE_BY_tile] = tilemm__launch_transpose_tile,
        [TILEMM__TRANSPOSE_BY_shifted] = tilemm__launch_transpose_shifted,
        [TILEMM__TRANSPOSE_BY_narrow] = tilemm__launch_transpose_narrow,
        [TILEMM__TRANSPOSE_BY_gather] = tilemm__launch_transpose_gather,
        [TILEMM__TRANSPOSE_BY_elements] = tilemm__launch_transpose_elements,
        [TILEMM__TRANSPOSE_BY_repeated] = tilemm__launch_transpose_repeated,
        [TILEMM__TRANSPOSE_BY_packed] = tilemm__launch_transpose_packed,
        [TILEMM__TRANSPOSE_BY_columns] = tilemm__launch_transpose_columns,
        [TILEMM__TRANSPOSE_BY_few] = tilemm__launch_transpose_few,
        [TILEMM__TRANSPOSE_BY_zip] = tilemm__launch_transpose_zip,
        [TILEMM__TRANSPOSE_BY_skewed] = tilemm__launch_transpose_skewed,
        [TILEMM__TRANSPOSE_BY_words] = tilemm__launch_transpose_words,
        [TILEMM__TRANSPOSE_BY_direct] = tilemm__launch_transpose_direct,
    };
    return launchers[plan->method](&plan->launch, &plan->arm, stream);
}

tilemm_status_t tilemm__cuda_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, 0);
    tilemm__transpose_cuda_plan_t plan;
    (void)tilemm__plan_transpose_cuda(args, &limits, &plan);
    const int error = run_plan(&plan, tilemm__cuda(ctx)->stream);
    if (error)
        return tilemm__cuda_fail(ctx, "transpose", error);
    tilemm__set_kernel(ctx, plan.name);
    return TILEMM_SUCCESS;
}

/* ---- in place ------------------------------------------------------------------------------- */

/* What the steps of one call share. */
typedef struct {
    const tilemm__transpose_inplace_cuda_plan_t *plan;
    unsigned char *a, *workspace;
    cudaStream_t stream;
} inplace_t;

/* A step out of place between other addresses than it was planned for, as aligned as those. */
static int run_step(const inplace_t *in, const tilemm__transpose_cuda_plan_t *step, const void *src,
                    void *dst)
{
    tilemm__transpose_cuda_plan_t plan = *step;
    if (plan.method == TILEMM__TRANSPOSE_BY_copy) {
        plan.arm.copy.of.src = src;
        plan.arm.copy.of.dst = dst;
    } else {
        plan.arm.tiles.src = src;
        plan.arm.tiles.dst = dst;
    }
    return run_plan(&plan, in->stream);
}

/* The first pass. */
static int run_slabs(const inplace_t *in)
{
    const tilemm__transpose_slabs_plan_t *plan = &in->plan->arm.slabs;
    tilemm__transpose_slabs_t slabs = plan->slabs;
    unsigned char *const buffer = in->workspace + plan->marks_at;
    if (!plan->through) {
        slabs.counts = (unsigned *)(void *)(in->workspace + plan->counts_at);
        const int error = cudaMemsetAsync(slabs.counts, 0, plan->counts_bytes, in->stream);
        return error ? error : tilemm__launch_transpose_slabs(&plan->launch, &slabs, in->stream);
    }
    int error = 0;
    for (int64_t i = 0; !error && i < plan->count; i++) {
        unsigned char *slab = in->a + i * plan->slab_bytes;
        error = run_step(in, &plan->steps[0], slab, buffer);
        if (!error)
            error = run_step(in, &plan->steps[1], buffer, slab);
    }
    return error;
}

/* The second pass. */
static int run_chains(const inplace_t *in)
{
    const tilemm__transpose_slabs_plan_t *plan = &in->plan->arm.slabs;
    const tilemm__transpose_launch_t *const launches[] = {&plan->save, &plan->chain, &plan->cycle};
    tilemm__transpose_chains_t chains = plan->chains;
    chains.marks = (uint32_t *)(void *)(in->workspace + plan->marks_at);
    chains.saved = in->workspace + plan->saved_at;
    int error = cudaMemsetAsync(chains.marks, 0, plan->marks_bytes, in->stream);
    for (int i = 0; !error && i < 3; i++)
        error = tilemm__launch_transpose_chains(launches[i], &chains, in->stream);
    return error;
}

/* Whether any slot of begin ... end - 1 can fall, or rise: the change of address is
 * (k / width_out) * pad_out - (k / width_in) * pad_in, each of the two rising with k. */
static int can_move(const tilemm__transpose_move_t *move)
{
    const int64_t pad_in = move->ld_in - move->width_in, pad_out = move->ld_out - move->width_out;
    if (move->rising)
        return (move->end - 1) / move->width_out * pad_out > move->begin / move->width_in * pad_in;
    return move->begin / move->width_out * pad_out < (move->end - 1) / move->width_in * pad_in;
}

static int run_move(const inplace_t *in)
{
    const tilemm__transpose_inplace_cuda_plan_t *plan = in->plan;
    const int64_t intervals = plan->interval ? (plan->move.total - 1) / plan->interval + 1 : 0;
    tilemm__transpose_move_t move = plan->move;
    int error = 0;
    move.workspace = in->workspace + plan->move_at;
    for (int64_t i = 0; !error && i < 2 * intervals; i++) {
        move.rising = i >= intervals;
        move.begin = (move.rising ? 2 * intervals - 1 - i : i) * plan->interval;
        move.end =
            move.begin + plan->interval < move.total ? move.begin + plan->interval : move.total;
        if (!can_move(&move))
            continue;
        error = tilemm__launch_transpose_move(&plan->move_out, &move, in->stream);
        if (!error)
            error = tilemm__launch_transpose_move(&plan->move_in, &move, in->stream);
    }
    return error;
}

/* The fringe goes to the workspace first, and from there last. */
static int run_two_passes(const inplace_t *in)
{
    const tilemm__transpose_inplace_cuda_plan_t *plan = in->plan;
    const tilemm__transpose_slabs_plan_t *arm = &plan->arm.slabs;
    int error = 0;
    if (arm->fringe_bytes)
        error = run_step(in, &arm->fringe[0], in->a + arm->fringe_from, in->workspace);
    if (!error)
        error = plan->forward ? run_slabs(in) : run_chains(in);
    if (!error)
        error = run_move(in);
    if (!error)
        error = plan->forward ? run_chains(in) : run_slabs(in);
    if (!error && arm->fringe_bytes)
        error = run_step(in, &arm->fringe[1], in->workspace, in->a + arm->fringe_to);
    return error;
}

static int run_inplace(const inplace_t *in)
{
    const tilemm__transpose_inplace_cuda_plan_t *plan = in->plan;
    int error = 0;
    if (plan->method == TILEMM__INPLACE_SLABS) {
        error = run_two_passes(in);
    } else if (plan->method == TILEMM__INPLACE_WHOLE) {
        error = tilemm__launch_transpose_whole(&plan->arm.whole.launch, &plan->arm.whole.whole,
                                               in->stream);
    } else if (plan->method == TILEMM__INPLACE_STAGED) {
        error = run_step(in, &plan->arm.staged[0], in->a, in->workspace);
        if (!error)
            error = run_step(in, &plan->arm.staged[1], in->workspace, in->a);
    } else {
        if (plan->method == TILEMM__INPLACE_SWAP)
            error = tilemm__launch_transpose_swap(&plan->arm.swap.launch, &plan->arm.swap.swap,
                                                  in->stream);
        if (!error)
            error = run_move(in);
    }
    if (!error && plan->scale)
        error = run_step(in, &plan->scaling, in->a, in->a);
    return error;
}

tilemm_status_t tilemm__cuda_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    const size_t want = tilemm__transpose_inplace_cuda_want(args, &state->traits);
    size_t got = 0;
    void *workspace = want ? tilemm__cuda_workspace(ctx, want, &got) : NULL;
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, got);
    tilemm__transpose_inplace_cuda_plan_t plan;
    if (tilemm__plan_transpose_inplace_cuda(args, &limits, &plan) != TILEMM_SUCCESS)
        return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY,
                            "transpose: %zu bytes of workspace are too few, %zu are enough", got,
                            plan.workspace);
    const inplace_t in = {&plan, args->dst, workspace, state->stream};
    const int error = run_inplace(&in);
    if (error)
        return tilemm__cuda_fail(ctx, "transpose", error);
    tilemm__set_kernel(ctx, plan.name);
    return TILEMM_SUCCESS;
}
