/* epilogue.cuh - C = alpha sum + beta C by the rules of BLAS: where beta is 0, C is not read, so
 * that a NaN there does not spread.
 *
 * For one value, for two or four neighbours, whose address is aligned to their size, and for rows
 * of the tensor cores' sums. The product with alpha is rounded, then one fused multiply-add adds
 * beta C.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_EPILOGUE_CUH
#define TILEMM_KERNELS_CUDA_EPILOGUE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

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

/* Store alpha times two neighbours in C, plus beta C. */
[[maybe_unused]] static __device__ __forceinline__ void
epilogue_store_pair(float *to, float x, float y, float alpha, float beta)
{
    const float pair[2] = {x, y};
    epilogue_store((float2 *)to, pair, alpha, beta);
}

/* Of a warpgroup's sums as wgmma leaves them: store `cols` columns of row h (0, 1) of a thread,
 * which four lanes have, from its first two on; none if the row does not exist. Where these are not
 * aligned as a pair, a lane stores its second and the next lane's first one: the fourth lane the
 * first one's of the next 8 columns. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void epilogue_store_row(const float (&total)[ACCUMULATORS], int h,
                                                          float alpha, float beta, float *to,
                                                          int64_t cols)
{
    const unsigned lane = threadIdx.x % 32, next = lane / 4 * 4 + (lane + 1) % 4;
    const int shift = (uint64_t)to / sizeof(float) % 2;
    const bool some_shift = __any_sync(~0u, shift);
    if (!__any_sync(~0u, cols > 0))
        return;
    if (shift && lane % 4 == 0 && cols > 0)
        epilogue_store(to, total[h * 2], alpha, beta);
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 4) {
        const bool is_last = i + 4 == ACCUMULATORS;
        float x = total[i + h * 2], y = total[i + h * 2 + 1];
        if (some_shift) {
            const float given =
                lane % 4 == 0 && !is_last ? total[(i + 4) % ACCUMULATORS + h * 2] : x;
            const float got = __shfl_sync(~0u, given, next);
            x = shift ? y : x;
            y = shift ? got : y;
        }
        const int col = i * 2 + shift;
        if (col + 1 < cols && !(is_last && shift && lane % 4 == 3))
            epilogue_store_pair(to + col, x, y, alpha, beta);
        else if (col < cols)
            epilogue_store(to + col, x, alpha, beta);
    }
}

#endif
