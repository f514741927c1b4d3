/* vector.cu - SGEMM of a matrix and a vector by FP32 multiply-adds, where the matrix is not large:
 * in batches, or in the L2 cache.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * What counts is how soon all of X is under way. So nothing is staged in shared memory: a thread
 * reads X and Z where they lie, several numbers of each before it multiplies the first; Z comes
 * from the L1 cache. LANES threads share a row of X that runs along k. Where X's rows run along m a
 * thread has a row, or four neighbours, and the block's warps share k.
 *
 * Assumes: what the host promises in tilemm__sgemm_vector_t.
 * Accuracy: a chain of multiply-adds for each number that a thread reads at a time, added in pairs;
 * then the threads' sums, in pairs within a warp, then the warps' in order. */
#include <cuda_runtime.h>

#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "vector.h"

enum { THREADS = TILEMM__SGEMM_VECTOR_THREADS, WARPS = THREADS / 32 };

/* Read W neighbours. */
template <int W>
static __device__ __forceinline__ void read(float (&x)[W], const float *from)
{
    if constexpr (W == 4)
        unpack(x, __ldg((const float4 *)from));
    else
        x[0] = __ldg(from);
}

/* What a block computes, of one matrix. */
struct place_t {
    const float *x, *z;
    float *c;
    int64_t m0; /* its first row */
};

static __device__ __forceinline__ place_t place_of(const tilemm__sgemm_vector_t &p, int rows)
{
    const unsigned matrix = divided(blockIdx.x, p.by_per_matrix);
    return {p.x_array ? p.x_array[matrix] : p.x + matrix * p.stride_x,
            p.z_array ? p.z_array[matrix] : p.z + matrix * p.stride_z,
            p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c,
            (int64_t)(blockIdx.x - matrix * p.per_matrix) * rows};
}

template <int LANES, int W>
static __device__ __forceinline__ void body(const tilemm__sgemm_vector_t &problem)
{
    const int AHEAD = W == 4 ? 4 : 8, ROWS = THREADS / LANES;
    const int lane = (int)threadIdx.x % LANES;
    wait_for_previous();
    const place_t at = place_of(problem, ROWS);
    const int64_t row = at.m0 + (int)threadIdx.x / LANES, k = problem.k;
    const bool there = row < problem.m;
    const float *const x = at.x + (there ? row : at.m0) * problem.ldx, *const z = at.z;
    float sum[W] = {};
#pragma unroll 1
    for (int64_t p = lane * W; p + W <= k; p += AHEAD * LANES * W) {
        float xs[AHEAD][W] = {}, zs[AHEAD][W] = {};
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int64_t at_k = p + i * LANES * W;
            if (at_k + W <= k) {
                read(xs[i], x + at_k);
                read(zs[i], z + at_k * problem.z_k);
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
#pragma unroll
            for (int j = 0; j < W; j++)
                sum[j] = fmaf(xs[i][j], zs[i][j], sum[j]);
    }
    if (W > 1 && lane < k % W) /* the k that are no whole piece */
        sum[0] = fmaf(__ldg(x + k / W * W + lane), __ldg(z + k / W * W + lane), sum[0]);
    float total = W == 4 ? (sum[0] + sum[W / 2]) + (sum[W / 4] + sum[W - 1]) : sum[0];
#pragma unroll
    for (int apart = (LANES < 32 ? LANES : 32) / 2; apart > 0; apart /= 2)
        total += __shfl_xor_sync(~0u, total, apart);
    if (LANES > 32) {
        __shared__ float totals[WARPS];
        if (threadIdx.x % 32 == 0)
            totals[threadIdx.x / 32] = total;
        __syncthreads();
        total = 0.0f;
        for (int i = 0; i < WARPS; i++)
            total += totals[i];
    }
    if (there && lane == 0)
        epilogue_store(at.c + row * problem.c_m, total, problem.alpha, problem.beta);
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, lanes, width, blocks)                                                         \
    KERNEL_OF(name, (THREADS, ROOM_FOR(blocks)),                                                   \
              (const __grid_constant__ tilemm__sgemm_vector_t problem),                            \
              body<lanes, width>(problem))
TILEMM__SGEMM_VECTOR_ROWS(KERNEL)

#define VARIANT(name, ...) name,
static void (*const variants[])(tilemm__sgemm_vector_t) = {TILEMM__SGEMM_VECTOR_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_vector_launch(const tilemm__sgemm_vector_t *problem, void *stream)
{
    return launch_kernel(variants[problem->variant - TILEMM__sgemm_vector_sm75_8],
                         {problem->blocks, THREADS, 0, 1, problem->concurrent != 0},
                         (cudaStream_t)stream, *problem);
}
