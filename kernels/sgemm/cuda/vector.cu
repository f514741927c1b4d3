/* vector.cu - SGEMM of a matrix and a few vectors by FP32 multiply-adds, where the matrix is
 * mostly not large: in batches, or in the L2 cache.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * What counts is how soon all of X is under way. So nothing is staged in shared memory: a thread
 * reads X and Z where they lie, several numbers of X before it multiplies the first; Z, of N
 * columns, comes from the L1 cache. LANES threads share a row of X. There are two kernels:
 *   across - X's rows run along k: the threads of a row are neighbours, and so are their numbers;
 *            or X has few rows, and their numbers are not far apart.
 *   down   - X's rows run along m: neighbours have neighbouring rows, W each, of the same k.
 * Blocks may share out a long k, those of a cluster or others; across, if a block has one row.
 *
 * Assumes: what the host promises in tilemm__sgemm_vector_t.
 * Accuracy: a chain of multiply-adds for each number that a thread reads at a time, added in pairs;
 * then the threads' sums, in pairs within a warp, then the warps' in order, and those of a cluster.
 */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "vector.h"

/* Read W neighbours. */
template <int W>
static __device__ __forceinline__ void read(float (&x)[W], const float *from)
{
    if constexpr (W == 4)
        unpack(x, __ldg((const float4 *)from));
    else
        x[0] = __ldg(from);
}

/* What a block, or a cluster, computes, of one matrix. */
struct place_t {
    const float *x, *z;
    float *c;
    int64_t m0; /* its first row */
};

static __device__ __forceinline__ place_t place_of(const tilemm__sgemm_vector_t &p, unsigned number,
                                                   unsigned split, int rows)
{
    const unsigned matrix = divided(number, p.by_per_matrix);
    return {p.x_array ? p.x_array[matrix] : p.x + matrix * p.stride_x,
            p.z_array ? p.z_array[matrix] : p.z + matrix * p.stride_z,
            p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c + split * p.c_split,
            (int64_t)(number - matrix * p.per_matrix) * rows};
}

/* ---- X's rows run along k ------------------------------------------------------------------- */

/* One thread's AHEAD pieces of its row from `at` on, LANES apart, of which those before `k` exist,
 * or all if WHOLE. */
template <int LANES, int N, int W, bool WHOLE>
static __device__ __forceinline__ void multiply_pieces(float (&sum)[N][W], const float *x,
                                                       const float *const (&z)[N], int64_t x_k,
                                                       int64_t z_k, int64_t at, int64_t k)
{
    const int AHEAD = TILEMM__SGEMM_VECTOR_AHEAD_K(W);
    float xs[AHEAD][W] = {}, zs[AHEAD][W] = {};
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int64_t p = at + i * LANES * W;
        if (WHOLE || p + W <= k) {
            read(xs[i], x + p * x_k);
            if (N == 1)
                read(zs[i], z[0] + p * z_k);
        }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int64_t p = at + i * LANES * W;
        float z_i[N][W] = {};
#pragma unroll
        for (int j = 0; j < N && N > 1; j++) /* more would be too many to read ahead */
            if (WHOLE || p + W <= k)
                read(z_i[j], z[j] + p * z_k);
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int w = 0; w < W; w++)
                sum[j][w] = fmaf(xs[i][w], N == 1 ? zs[i][w] : z_i[j][w], sum[j][w]);
    }
}

template <int LANES, int N, int THREADS, int W>
static __device__ __forceinline__ void across(const tilemm__sgemm_vector_t &problem)
{
    const int AHEAD = TILEMM__SGEMM_VECTOR_AHEAD_K(W), STEP = LANES * W;
    const int ROWS = THREADS / LANES, WARPS = THREADS / 32;
    const int lane = (int)threadIdx.x % LANES;
    const unsigned cluster = ROWS == 1 ? divided(blockIdx.x, problem.by_splits) : blockIdx.x;
    const unsigned split = ROWS == 1 ? blockIdx.x - cluster * problem.splits : 0;
    const int64_t k0 = split * problem.k_split, z_k = W > 1 ? 1 : problem.z_k;
    const int x_k = W > 1 || ROWS > 1 ? 1 : problem.x_k;
    wait_for_previous();
    if (ROWS == 1 && problem.c_split)
        let_next_start();
    const place_t at = place_of(problem, cluster, split, ROWS);
    const int64_t row = at.m0 + (int)threadIdx.x / LANES;
    const int64_t k = min(problem.k - k0, problem.k_split);
    const bool there = row < problem.m;
    const float *const x = at.x + (there ? row : at.m0) * problem.ldx + k0 * x_k;
    const float *z[N];
    float sum[N][W] = {}, total[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        z[j] = (N == 1 ? at.z : at.z + min(j, problem.n - 1) * problem.z_n) + k0 * z_k;
    int64_t p = lane * W;
    /* Of short rows, and of several columns, registers are for the second loop alone. */
    const bool has_whole = N == 1 && LANES >= 32 && (W > 1 || ROWS == 1);
#pragma unroll 1
    for (; has_whole && p + (AHEAD - 1) * STEP + W <= k; p += AHEAD * STEP)
        multiply_pieces<LANES, N, W, true>(sum, x, z, x_k, z_k, p, k);
#pragma unroll 1
    for (; p + W <= k; p += AHEAD * STEP)
        multiply_pieces<LANES, N, W, false>(sum, x, z, x_k, z_k, p, k);
#pragma unroll
    for (int j = 0; j < N; j++) {
        float(&s)[W] = sum[j];
        if (W > 1 && lane < k % W) /* the k that are no whole piece */
            s[0] = fmaf(__ldg(x + k / W * W + lane), __ldg(z[j] + k / W * W + lane), s[0]);
        total[j] = W == 4 ? (s[0] + s[W / 2]) + (s[W / 4] + s[W - 1]) : s[0];
#pragma unroll
        for (int apart = (LANES < 32 ? LANES : 32) / 2; apart > 0; apart /= 2)
            total[j] += __shfl_xor_sync(~0u, total[j], apart);
    }
    const auto store = [&](int j, float c) {
        epilogue_store(at.c + row * problem.c_m + j * problem.c_n, c, problem.alpha, problem.beta);
    };
    __shared__ float totals[N][WARPS];
    if (LANES > 32) {
#pragma unroll
        for (int j = 0; j < N; j++)
            if (threadIdx.x % 32 == 0)
                totals[j][threadIdx.x / 32] = total[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < N; j++) {
            total[j] = 0.0f;
            for (int i = 0; i < WARPS; i++)
                total[j] += totals[j][i];
        }
    }
    if (ROWS > 1 || problem.cluster == 1) {
#pragma unroll
        for (int j = 0; j < N; j++)
            if (there && lane == j && j < problem.n)
                store(j, total[j]);
        return;
    }
    __syncthreads(); /* the warps' sums are all read */
#pragma unroll
    for (int j = 0; j < N; j++)
        if (lane == j)
            totals[j][0] = total[j];
    cluster_sync();
    if (split == 0 && lane < problem.n)
        store(lane, cluster_sum<TILEMM__SGEMM_MOST_CLUSTER>(totals[lane], (int)problem.splits));
    cluster_sync(); /* the first block has read this one's sums */
}

/* ---- X's rows run along m ------------------------------------------------------------------- */

/* One thread's part of its W rows, of which `there` exist: of each LANES steps of k, one. */
template <int LANES, int N, int W, bool WIDE>
static __device__ __forceinline__ void multiply_rows(const tilemm__sgemm_vector_t &problem,
                                                     float (&sum)[N][W], const float *x,
                                                     const float *z, int k, int first, int there)
{
    const int AHEAD = TILEMM__SGEMM_VECTOR_AHEAD_M(W);
    const int64_t ldx = problem.ldx, z_k = problem.z_k;
    x += first * ldx;
    z += first * z_k;
#pragma unroll 1
    for (int left = k - first; left > 0; left -= AHEAD * LANES) {
        float xs[AHEAD][W] = {}, zs[AHEAD] = {};
#pragma unroll
        for (int i = 0; i < AHEAD; i++, x += LANES * ldx, z += N == 1 ? LANES * z_k : 0) {
            if (i * LANES >= left)
                continue;
            if (N == 1)
                zs[i] = __ldg(z);
            if constexpr (WIDE)
                read(xs[i], x);
            else
#pragma unroll
                for (int r = 0; r < W; r++)
                    if (r < there)
                        xs[i][r] = __ldg(x + r);
        }
#pragma unroll
        for (int i = 0; i<AHEAD; i++, z += N> 1 ? LANES * z_k : 0)
#pragma unroll
            for (int j = 0; j < N; j++) {
                const bool exists = i * LANES < left && (j == 0 || j < problem.n);
                const float z_j = N == 1 ? zs[i] : exists ? __ldg(z + j * problem.z_n) : 0.0f;
#pragma unroll
                for (int r = 0; r < W; r++)
                    sum[j][r] = fmaf(xs[i][r], z_j, sum[j][r]);
            }
    }
}

template <int LANES, int N, int THREADS, int W>
static __device__ __forceinline__ void down(const tilemm__sgemm_vector_t &problem)
{
    const int ACROSS = THREADS / LANES, ROWS = ACROSS * W, WARPS = THREADS / 32;
    const int thread = (int)threadIdx.x, first = thread % ACROSS * W;
    __shared__ float sums[N][WARPS][ROWS];
    static_assert(ACROSS <= 32 && ROWS <= THREADS, "a warp has all rows; a thread for each");
    const unsigned cluster = divided(blockIdx.x, problem.by_splits);
    const unsigned split = blockIdx.x - cluster * problem.splits;
    const int64_t k0 = split * problem.k_split;
    wait_for_previous();
    if (problem.c_split)
        let_next_start();
    const place_t at = place_of(problem, cluster, split, ROWS);
    const int k = (int)min(problem.k - k0, problem.k_split);
    const int there = (int)(problem.m - at.m0) - first;
    const float *const x = at.x + at.m0 + first + k0 * problem.ldx;
    const float *const z = at.z + k0 * problem.z_k;
    float sum[N][W] = {};
    if (there >= W)
        multiply_rows<LANES, N, W, true>(problem, sum, x, z, k, thread / ACROSS, there);
    else if (there > 0)
        multiply_rows<LANES, N, W, false>(problem, sum, x, z, k, thread / ACROSS, there);
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int r = 0; r < W; r++) {
#pragma unroll
            for (int apart = 16; apart >= ACROSS; apart /= 2)
                sum[j][r] += __shfl_xor_sync(~0u, sum[j][r], apart);
            if (thread % 32 < ACROSS)
                sums[j][thread / 32][first + r] = sum[j][r];
        }
    __syncthreads();
    const bool in_cluster = problem.cluster > 1;
    const bool is_row = thread < ROWS && at.m0 + thread < problem.m;
    const auto store = [&](int j, float total) {
        epilogue_store(at.c + (at.m0 + thread) * problem.c_m + j * problem.c_n, total,
                       problem.alpha, problem.beta);
    };
#pragma unroll
    for (int j = 0; j < N; j++) {
        float total = 0.0f;
        for (int i = 0; i < WARPS && is_row; i++)
            total += sums[j][i][thread];
        if (is_row && in_cluster)
            sums[j][0][thread] = total; /* which this thread alone has read */
        else if (is_row && j < problem.n)
            store(j, total);
    }
    if (!in_cluster)
        return;
    cluster_sync();
    if (is_row && thread % problem.splits == split)
#pragma unroll
        for (int j = 0; j < N; j++) {
            float total = 0.0f;
            for (unsigned block = 0; block < problem.splits; block++)
                total += cluster_read(&sums[j][0][thread], block);
            if (j < problem.n)
                store(j, total);
        }
    cluster_sync(); /* the others have read this block's sums */
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, threads, body, blocks)                                                        \
    KERNEL_OF(name, (threads, ROOM_FOR(blocks)),                                                   \
              (const __grid_constant__ tilemm__sgemm_vector_t problem), body(problem))
#define KERNEL_K(name, lanes, columns, threads, width, blocks)                                     \
    KERNEL(name, threads, (across<lanes, columns, threads, width>), blocks)
#define KERNEL_M(name, lanes, columns, threads, width, blocks)                                     \
    KERNEL(name, threads, (down<lanes, columns, threads, width>), blocks)
TILEMM__SGEMM_VECTOR_K_ROWS(KERNEL_K)
TILEMM__SGEMM_VECTOR_M_ROWS(KERNEL_M)

#define VARIANT(name, lanes, columns, threads, ...) {name, threads},
static const struct {
    void (*kernel)(tilemm__sgemm_vector_t);
    unsigned threads;
} variants[] = {TILEMM__SGEMM_VECTOR_K_ROWS(VARIANT) TILEMM__SGEMM_VECTOR_M_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_vector_launch(const tilemm__sgemm_vector_t *problem, void *stream)
{
    const auto &variant = variants[problem->variant - TILEMM__sgemm_vector_sm75_4_k_aligned];
    return launch_kernel(
        variant.kernel,
        {problem->blocks, variant.threads, 0, problem->cluster, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
