/* epilogue.cuh - C = alpha sum + beta C by the rules of BLAS: where beta is 0, C is not read, so
 * that a NaN there does not spread.
 *
 * For one value, and for two or four neighbours, whose address is aligned to their size. The
 * product with alpha is rounded, then one fused multiply-add adds beta C.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_EPILOGUE_CUH
#define TILEMM_KERNELS_CUDA_EPILOGUE_CUH

#include <cuda_runtime.h>

static __device__ __forceinline__ void epilogue_store(float *c, float sum, const float &alpha,
                                                      const float &beta)
{
    float v = alpha * sum;
    if (beta != 0.0f)
        v = fmaf(beta, *c, v);
    *c = v;
}

static __device__ __forceinline__ void epilogue_store(float2 *c, const float *sum,
                                                      const float &alpha, const float &beta)
{
    float2 v = make_float2(alpha * sum[0], alpha * sum[1]);
    if (beta != 0.0f) {
        const float2 old = *c;
        v.x = fmaf(beta, old.x, v.x);
        v.y = fmaf(beta, old.y, v.y);
    }
    *c = v;
}

static __device__ __forceinline__ void epilogue_store(float4 *c, const float *sum,
                                                      const float &alpha, const float &beta)
{
    float4 v = make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
    if (beta != 0.0f) {
        const float4 old = *c;
        v.x = fmaf(beta, old.x, v.x);
        v.y = fmaf(beta, old.y, v.y);
        v.z = fmaf(beta, old.z, v.z);
        v.w = fmaf(beta, old.w, v.w);
    }
    *c = v;
}

#endif
