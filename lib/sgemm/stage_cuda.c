/* stage_cuda.c - SGEMM on a GPU with operands anywhere: those on the host are staged,
 * or go through in strips.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/cuda/cuda.h"
#include "pipeline_cuda.h"

/* The product of what was staged, with the bits of the caller's operands on the device. */
static tilemm_status_t run(tilemm_t ctx, const tilemm__sgemm_args_t *staged,
                           const tilemm__sgemm_args_t *args)
{
    char variant[sizeof ctx->variant];
    memcpy(variant, ctx->variant, sizeof variant);
    if (staged->lda != args->lda || staged->ldb != args->ldb || staged->ldc != args->ldc)
        tilemm__cuda_keep_bits(ctx, args);
    const tilemm_status_t status = tilemm__cuda_sgemm(ctx, staged);
    memcpy(ctx->variant, variant, sizeof variant);
    return status;
}

tilemm_status_t tilemm__cuda_staged_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    tilemm__sgemm_args_t p = *args;
    int flags_c = TILEMM__STAGE_OUT | (p.beta ? TILEMM__STAGE_IN : 0);
    int64_t rows_a = p.trans_a ? p.k : p.m, cols_a = p.trans_a ? p.m : p.k;
    int64_t rows_b = p.trans_b ? p.n : p.k, cols_b = p.trans_b ? p.k : p.n;
    tilemm_status_t status;
    if (tilemm__cuda_pipelined_sgemm(ctx, args, &status))
        return status;
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "sgemm");
    if (p.c_array) {
        p.c_array = (float *const *)tilemm__stage_array(&stage, (const void *const *)p.c_array,
                                                        p.batch_count, p.m, p.n, sizeof(float),
                                                        &p.ldc, flags_c);
        if (p.k > 0) {
            p.a_array = (const float *const *)tilemm__stage_array(
                &stage, (const void *const *)p.a_array, p.batch_count, rows_a, cols_a,
                sizeof(float), &p.lda, TILEMM__STAGE_IN);
            p.b_array = (const float *const *)tilemm__stage_array(
                &stage, (const void *const *)p.b_array, p.batch_count, rows_b, cols_b,
                sizeof(float), &p.ldb, TILEMM__STAGE_IN);
        }
    } else {
        p.c = tilemm__stage(&stage, p.c, p.batch_count, p.m, p.n, sizeof(float), &p.ldc,
                            &p.stride_c, flags_c);
        if (p.k > 0) {
            p.a = tilemm__stage(&stage, p.a, p.batch_count, rows_a, cols_a, sizeof(float), &p.lda,
                                &p.stride_a, TILEMM__STAGE_IN);
            p.b = tilemm__stage(&stage, p.b, p.batch_count, rows_b, cols_b, sizeof(float), &p.ldb,
                                &p.stride_b, TILEMM__STAGE_IN);
        }
    }
    if (stage.status == TILEMM_SUCCESS)
        stage.status = run(ctx, &p, args);
    return tilemm__stage_end(&stage);
}
