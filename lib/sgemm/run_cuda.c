/* run_cuda.c - SGEMM on the GPU: the launches that a plan stands for, in their order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/sgemm/cuda/ffma.h"
#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/split.h"
#include "kernels/sgemm/cuda/thin.h"
#include "plan_cuda.h"
#include "run_cuda.h"

/* One kernel; and, if k is split and the blocks do not add up themselves, another one. */
static int run_tiles(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan,
                     void *workspace, cudaStream_t stream)
{
    tilemm__sgemm_ffma_t problem;
    int error;

    memset(&problem, 0, sizeof problem);
    problem.args = *args;
    problem.tile = plan->tile;
    problem.vector_a = plan->vector_a;
    problem.vector_b = plan->vector_b;
    problem.vector_c = plan->vector_c;
    problem.splits = plan->splits;
    problem.k_split = plan->k_split;
    problem.partial = plan->cluster ? NULL : workspace;
    problem.lets_start = plan->rest_m + plan->rest_n > 0;
    error = plan->kernel == TILEMM__SGEMM_FUSED ? tilemm__sgemm_fused_sm90_launch(&problem, stream)
            : plan->sm80                        ? tilemm__sgemm_ffma_sm80_launch(&problem, stream)
                                                : tilemm__sgemm_ffma_launch(&problem, stream);
    if (!error && plan->splits > 1 && !plan->cluster)
        error = tilemm__sgemm_splitk_launch(&problem, stream);
    return error;
}

static int run_thin(const tilemm__sgemm_cuda_plan_t *plan, char *workspace, cudaStream_t stream)
{
    tilemm__sgemm_thin_t problem = plan->thin;

    if (plan->counter_bytes > 0) {
        int error = tilemm__sgemm_split_zero_launch(workspace + plan->counters, plan->counter_bytes,
                                                    stream);
        if (error)
            return error;
        problem.partial = (float *)(void *)workspace;
        problem.counters = (unsigned *)(workspace + plan->counters);
    }
    return tilemm__sgemm_thin_launch(&problem, stream);
}

static int run_tiny(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan,
                    cudaStream_t stream)
{
    tilemm__sgemm_tiny_t problem = {*args, plan->vector_a, plan->vector_b, plan->vector_c};

    return tilemm__sgemm_tiny_launch(&problem, stream);
}

/* The planes of one operand in the workspace. */
static tilemm__split_operand_t planes(const tilemm__split_plan_t *plan, char *workspace, int of_b,
                                      const tilemm__sgemm_args_t *args)
{
    const int64_t mn = of_b ? args->n : args->m;
    const int64_t align = TILEMM__SPLIT_ALIGN_K;
    const tilemm__split_operand_t operand = {
        .mn = mn,
        .pitch = (args->k + align - 1) / align * align,
        .hi = (unsigned short *)(workspace + (of_b ? plan->hi_b : plan->hi_a)),
        .lo = plan->products == 1
                  ? NULL
                  : (unsigned short *)(workspace + (of_b ? plan->lo_b : plan->lo_a)),
        .exponents = (int *)(workspace + (of_b ? plan->exponents_b : plan->exponents_a)),
        .states = (tilemm__split_state_t *)(workspace + (of_b ? plan->states_b : plan->states_a)),
        .sparse = (unsigned *)(workspace + plan->sparse) + of_b};

    return operand;
}

/* Tiles; and beside them, on what they leave of the device, the few rows or columns that they leave
 * of C. */
static int run_ffma(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan,
                    void *workspace, cudaStream_t stream)
{
    const int has_rest = plan->rest_m + plan->rest_n > 0;
    tilemm__sgemm_args_t whole = *args;
    int error;

    whole.m -= plan->rest_m;
    whole.n -= plan->rest_n;
    error = run_tiles(&whole, plan, workspace, stream);
    return error || !has_rest ? error : run_thin(plan, NULL, stream);
}

/* One panel of k of a group of matrices: planes, their product, and the lines that it left. */
static int run_panel(const tilemm__sgemm_args_t *args, const tilemm__split_plan_t *plan,
                     char *workspace, cudaStream_t stream)
{
    const tilemm__split_operand_t a = planes(plan, workspace, 0, args);
    const tilemm__split_operand_t b = planes(plan, workspace, 1, args);
    unsigned *const left = (unsigned *)(workspace + plan->sparse) + 2;
    const tilemm__split_product_t product = {.m = args->m,
                                             .n = args->n,
                                             .k = args->k,
                                             .batch_count = args->batch_count,
                                             .a = a,
                                             .b = b,
                                             .products = plan->products,
                                             .left = left,
                                             .tile = plan->tile,
                                             .shared = plan->shared,
                                             .counters = (unsigned *)(workspace + plan->counters),
                                             .partial =
                                                 (float *)(void *)(workspace + plan->partial),
                                             .alpha = args->alpha,
                                             .beta = args->beta,
                                             .c = args->c,
                                             .c_array = args->c_array,
                                             .ldc = args->ldc,
                                             .stride_c = args->stride_c};
    int error = tilemm__sgemm_split_zero_launch(workspace + plan->zero, plan->zero_bytes, stream);

    if (!error)
        error = tilemm__sgemm_split_launch(args, &a, &b, stream);
    if (!error)
        error = plan->sm90 ? tilemm__sgemm_split_sm90_launch(&product, stream)
                           : tilemm__sgemm_split_sm80_launch(&product, stream);
    if (!error)
        error = tilemm__sgemm_left_launch(args, &a, &b, plan->products == 1, left, stream);
    return error;
}

static int run_split(const tilemm__sgemm_args_t *args, const tilemm__split_plan_t *plan,
                     char *workspace, cudaStream_t stream)
{
    int error = 0;

    for (int64_t first = 0; first < args->batch_count && !error; first += plan->batch_group)
        for (int64_t k0 = 0; k0 < args->k && !error; k0 += plan->k_panel) {
            tilemm__sgemm_args_t part = *args;

            part.k = args->k - k0 < plan->k_panel ? args->k - k0 : plan->k_panel;
            part.batch_count = args->batch_count - first < plan->batch_group
                                   ? args->batch_count - first
                                   : plan->batch_group;
            if (args->a_array) {
                part.a_array += first;
            } else {
                part.a += first * args->stride_a + k0 * (args->trans_a ? args->lda : 1);
            }
            if (args->b_array) {
                part.b_array += first;
            } else {
                part.b += first * args->stride_b + k0 * (args->trans_b ? 1 : args->ldb);
            }
            if (args->c_array)
                part.c_array += first;
            else
                part.c += first * args->stride_c;
            if (k0 > 0)
                part.beta = 1.0f;
            error = run_panel(&part, plan, workspace, stream);
        }
    return error;
}

tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__sgemm_cuda_plan_t plan;
    char *workspace = NULL;
    int error = 0;

    if (args->k > TILEMM__SGEMM_MOST_K)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED, "sgemm: k = %lld, must be at most %lld",
                            (long long)args->k, (long long)TILEMM__SGEMM_MOST_K);
    tilemm__plan_sgemm_cuda(args, ctx->math, &state->traits, SIZE_MAX, &plan);
    if (plan.workspace_bytes > 0) {
        size_t got = 0;

        workspace = tilemm__cuda_workspace(ctx, plan.workspace_bytes, &got);
        if (got < plan.workspace_bytes)
            tilemm__plan_sgemm_cuda(args, ctx->math, &state->traits, got, &plan);
    }
    tilemm__set_kernel(ctx, "%s", plan.name);
    switch (plan.kernel) {
    case TILEMM__SGEMM_NOTHING: break;
    case TILEMM__SGEMM_SCALE: error = tilemm__sgemm_scale_launch(args, state->stream); break;
    case TILEMM__SGEMM_FFMA: error = run_ffma(args, &plan, workspace, state->stream); break;
    case TILEMM__SGEMM_FUSED: error = run_tiles(args, &plan, workspace, state->stream); break;
    case TILEMM__SGEMM_THIN: error = run_thin(&plan, workspace, state->stream); break;
    case TILEMM__SGEMM_TINY: error = run_tiny(args, &plan, state->stream); break;
    case TILEMM__SGEMM_SPLIT: error = run_split(args, &plan.split, workspace, state->stream); break;
    }
    return error ? tilemm__cuda_fail(ctx, "sgemm", error) : TILEMM_SUCCESS;
}

size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    tilemm__sgemm_cuda_plan_t plan;

    if (args->k > TILEMM__SGEMM_MOST_K) /* such a call is refused */
        return 0;
    tilemm__plan_sgemm_cuda(args, ctx->math, &tilemm__cuda(ctx)->traits, SIZE_MAX, &plan);
    return plan.workspace_bytes;
}
