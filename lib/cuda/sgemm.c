/* sgemm.c - SGEMM on the GPU: the launches that a plan stands for, in their order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../../kernels/cuda/sgemm.h"
#include "../plan_sgemm_cuda.h"
#include "cuda.h"

/* All math modes are served alike: this is the strictest of them. */
tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__sgemm_cuda_plan_t plan;
    tilemm__sgemm_ffma_t problem;
    int error = 0;

    if (args->k > TILEMM__SGEMM_MOST_K)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED, "sgemm: k = %lld, must be at most %lld",
                            (long long)args->k, (long long)TILEMM__SGEMM_MOST_K);
    memset(&problem, 0, sizeof problem);
    tilemm__plan_sgemm_cuda(args, &state->traits, SIZE_MAX, &plan);
    if (plan.workspace_bytes > 0) {
        size_t got = 0;

        problem.partial = (float *)tilemm__cuda_workspace(ctx, plan.workspace_bytes, &got);
        if (got < plan.workspace_bytes)
            tilemm__plan_sgemm_cuda(args, &state->traits, got, &plan);
    }
    tilemm__set_kernel(ctx, "%s", plan.name);
    if (plan.kernel == TILEMM__SGEMM_SCALE) {
        error = tilemm__sgemm_scale_launch(args, state->stream);
    } else if (plan.kernel == TILEMM__SGEMM_FFMA) {
        problem.args = *args;
        problem.tile = plan.tile;
        problem.vector_a = plan.vector_a;
        problem.vector_b = plan.vector_b;
        problem.vector_c = plan.vector_c;
        problem.splits = plan.splits;
        problem.k_split = plan.k_split;
        error = tilemm__sgemm_ffma_launch(&problem, state->stream);
        if (!error && plan.splits > 1)
            error = tilemm__sgemm_splitk_launch(&problem, state->stream);
    }
    return error ? tilemm__cuda_fail(ctx, "sgemm", error) : TILEMM_SUCCESS;
}
