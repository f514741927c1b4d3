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

/* Store of two neighbours in C those whose numbers, `col` and col + 1, are in [0, cols). */
static __device__ __forceinline__ void epilogue_store_two(float *row, int col, int64_t cols,
                                                          float x, float y, float alpha, float beta)
{
    if (col >= 0 && col + 1 < cols)
        epilogue_store_pair(row + col, x, y, alpha, beta);
    else if (col >= 0 && col < cols)
        epilogue_store(row + col, x, alpha, beta);
    else if (col == -1 && cols > 0)
        epilogue_store(row, y, alpha, beta);
}

/* Of a warpgroup's sums as wgmma leaves them: store row h (0, 1) of each four lanes of a warp, all
 * of which call this. Four lanes have eight neighbours in C at a time; `row` is the address of
 * their first one, and `cols` columns of C are there from it on, none if the row does not exist.
 * Where it is not the first of a sector of the L2 cache, which has eight numbers as well, lanes
 * exchange sums, so that they store whole sectors: eight that lie in two would write half of each.
 */
template <int ACCUMULATORS>
static __device__ __forceinline__ void epilogue_store_row(const float (&total)[ACCUMULATORS], int h,
                                                          float alpha, float beta, float *row,
                                                          int64_t cols)
{
    enum { EIGHTS = ACCUMULATORS / 4, SECTOR = 8 };
    const unsigned lane = threadIdx.x % 32, pair = lane % 4;
    /* The first sector's first column: so many pairs of columns, and one column if `odd`. */
    const unsigned shift = (0u - (unsigned)((uint64_t)row / sizeof(float))) % SECTOR;
    const unsigned turn = shift / 2, odd = shift % 2;
    const unsigned from_x = lane - pair + (pair + turn) % 4;
    const unsigned from_y = lane - pair + (pair + turn + odd) % 4;
    const auto sum = [&](int eight, int j) {
        return eight >= 0 && eight < EIGHTS ? total[eight * 4 + h * 2 + j] : 0.0f;
    };
    cols = min(cols, (int64_t)ACCUMULATORS * 2);
    if (!__any_sync(~0u, cols > 0))
        return;
    if (!__any_sync(~0u, shift)) {
#pragma unroll
        for (int i = 0; i < EIGHTS; i++)
            epilogue_store_two(row, i * 8 + (int)pair * 2, cols, sum(i, 0), sum(i, 1), alpha, beta);
        return;
    }
#pragma unroll
    for (int i = -1; i < EIGHTS; i++) {
        const float x = odd ? sum(i, 1) : sum(i, 0), next_x = odd ? sum(i + 1, 1) : sum(i + 1, 0);
        const float y = odd ? sum(i, 0) : sum(i, 1), next_y = odd ? sum(i + 1, 0) : sum(i + 1, 1);
        epilogue_store_two(row, i * 8 + (int)(shift + pair * 2), cols,
                           __shfl_sync(~0u, pair < turn ? next_x : x, from_x),
                           __shfl_sync(~0u, pair < turn + odd ? next_y : y, from_y), alpha, beta);
    }
}

#endif
