/* fitted.cu - SGEMM by FP32 multiply-adds in tiles whose sides fit the matrices: batches of small
 * ones, and products with a short k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The host chooses how many threads a tile of C has along m and along n, so that little of a tile
 * lies outside of the matrix, and how many tiles share a block. A thread computes a square of T x T
 * as quads of 4 x 4. A tile's threads copy its part of A and B to shared memory: all of k, or a
 * part while the part before is multiplied.
 *
 * Layout: tilemm__fitted_index(). Operands lie as they are stored: with 4 words of padding after
 * each 4 rows where rows run along k, and densely where they run along m or n. Reads of 16 bytes by
 * neighbouring lanes have no bank conflicts.
 *
 * Padding: k is filled up with zeros to a multiple of 4. Rows and columns past m and n hold any
 * numbers, and their results are not stored.
 *
 * Assumes: compute capability 8.0 or more; what the host promises in tilemm__sgemm_fitted_t.
 * Accuracy: one chain of multiply-adds over k. */
#include <cuda_runtime.h>

#include "fitted.h"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"

/* Producer: copy `lines` lines of `length` numbers from `from` on, and zeros up to `zero_lines` and
 * `zero_length`, by threads 0 to `threads` - 1. */
template <bool ALONG_K, int W>
static __device__ __forceinline__ void
produce(unsigned to, const float *__restrict__ from, int64_t ld, int lines, int length,
        int zero_lines, int zero_length, int pitch, const tilemm__fitted_copies_t &copies,
        int thread, int threads)
{
    const int across = (pitch + W - 1) / W; /* copies of a whole line */
    const int at_once = copies.lines;
    const int first = threads < across ? 0 : (int)divided((unsigned)thread, copies.by_across);
    const int begin = (thread - first * across) * W;
    if (first >= at_once)
        return;
    const float *row = from + first * ld;
#pragma unroll 2
    for (int line = first; line < zero_lines; line += at_once, row += at_once * ld) {
        for (int i = begin; i < zero_length; i += threads * W) {
            const int there = line < lines ? min(W, max(0, length - i)) : 0;

            /* A copy of no bytes needs a valid address too. */
            copy_async_zero<4 * W>(to + tilemm__fitted_index(line, i, pitch, ALONG_K) * 4,
                                   there ? row + i : from, 4 * there);
        }
    }
}

/* `depth` steps of k of an operand, from `from` on, of which a tile has `extent` rows or columns.
 */
template <bool ALONG_K>
static __device__ __forceinline__ void
produce_step(unsigned to, const float *from, int64_t ld, int depth, int extent, int pitch,
             const tilemm__fitted_copies_t &copies, int thread, int threads)
{
    const int padded = (depth + 3) & ~3;
    const int lines = ALONG_K ? extent : depth, length = ALONG_K ? depth : extent;
    const int zero_lines = ALONG_K ? extent : padded, zero_length = ALONG_K ? padded : extent;
    if (copies.width == 4)
        produce<ALONG_K, 4>(to, from, ld, lines, length, zero_lines, zero_length, pitch, copies,
                            thread, threads);
    else if (copies.width == 2)
        produce<ALONG_K, 2>(to, from, ld, lines, length, zero_lines, zero_length, pitch, copies,
                            thread, threads);
    else
        produce<ALONG_K, 1>(to, from, ld, lines, length, zero_lines, zero_length, pitch, copies,
                            thread, threads);
}

/* Consumer: add 4 steps of k. `a` and `b` are the thread's first words of these, `pitch` the words
 * from row to row, `apart` those from quad to quad. */
template <int T, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void multiply(float (&sum)[T][T], unsigned a, unsigned b,
                                                unsigned pitch_a, unsigned pitch_b,
                                                unsigned apart_a, unsigned apart_b)
{
    float bn[4][T];
#pragma unroll
    for (int j = 0; j < T; j++) {
        /* Words along k of column j, or the words of columns j / 4 * 4 and on of row j % 4. */
        float w[4];
        unpack(w, shared_read(b + j % 4 * pitch_b + j / 4 * apart_b));
#pragma unroll
        for (int x = 0; x < 4; x++)
            if (B_ALONG_K)
                bn[x][j] = w[x];
            else
                bn[j % 4][j / 4 * 4 + x] = w[x];
    }
    if (A_ALONG_K) {
#pragma unroll
        for (int i = 0; i < T; i++) {
            float am[4];
            unpack(am, shared_read(a + i % 4 * pitch_a + i / 4 * apart_a));
#pragma unroll
            for (int x = 0; x < 4; x++)
#pragma unroll
                for (int j = 0; j < T; j++)
                    sum[i][j] = fmaf(am[x], bn[x][j], sum[i][j]);
        }
    } else {
#pragma unroll
        for (int x = 0; x < 4; x++) {
            float am[T];
#pragma unroll
            for (int q = 0; q < T / 4; q++)
                unpack(am + 4 * q, shared_read(a + x * pitch_a + q * apart_a));
#pragma unroll
            for (int i = 0; i < T; i++)
#pragma unroll
                for (int j = 0; j < T; j++)
                    sum[i][j] = fmaf(am[i], bn[x][j], sum[i][j]);
        }
    }
}

/* Where a thread's tile lies. */
typedef struct {
    bool active;                 /* there is a tile */
    unsigned matrix, m0, n0;     /* its first row and column */
    int thread, lane_m, lane_n;  /* of the tile's threads */
    int tile_m, tile_n;          /* its sides, */
    int rows, cols;              /* of which these are in the matrix */
    unsigned ring, bytes_a, all; /* its shared memory; bytes of a stage, A's and all */
} place_t;

/* Found again where it is needed, since it would hold registers through the loop. The assembly
 * keeps the compiler from seeing that it is the same. */
template <int T, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ place_t place_of(const tilemm__sgemm_fitted_t &problem,
                                                   const float *stages)
{
    const unsigned lanes_n = (unsigned)problem.lanes_n;
    const unsigned of_tile = (unsigned)problem.lanes_m * lanes_n;
    unsigned number, block;
    place_t p;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));

    const unsigned which = divided(number, problem.by_lanes), thread = number - which * of_tile;
    const unsigned tile = block * (unsigned)problem.together + which;
    const unsigned matrix = divided(tile, problem.by_per_matrix);
    const unsigned inside = tile - matrix * problem.per_matrix;
    const unsigned row = divided(inside, problem.by_tiles_n);

    p.active = which < (unsigned)problem.together && tile < problem.tiles;
    p.matrix = matrix;
    p.thread = (int)thread;
    p.lane_m = (int)divided(thread, problem.by_lanes_n);
    p.lane_n = (int)(thread - (unsigned)p.lane_m * lanes_n);
    p.tile_m = problem.lanes_m * T;
    p.tile_n = problem.lanes_n * T;
    p.m0 = row * (unsigned)p.tile_m;
    p.n0 = (inside - row * problem.tiles_n) * (unsigned)p.tile_n;
    p.rows = min(p.tile_m, (int)problem.args.m - (int)p.m0);
    p.cols = min(p.tile_n, (int)problem.args.n - (int)p.n0);
    p.bytes_a = (unsigned)tilemm__fitted_words(p.tile_m, problem.depth, A_ALONG_K) * 4;
    p.all = p.bytes_a + (unsigned)tilemm__fitted_words(p.tile_n, problem.depth, B_ALONG_K) * 4;
    p.ring = shared_address(stages) + which * (unsigned)problem.stages * p.all;
    return p;
}

/* Producer: the steps from k0 on, to a stage. */
template <int T, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void fill(const tilemm__sgemm_fitted_t &problem,
                                            const float *stages, unsigned stage, int k0)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const place_t p = place_of<T, A_ALONG_K, B_ALONG_K>(problem, stages);
    const int depth = problem.depth, left = min(depth, (int)args.k - k0);
    const int threads = problem.lanes_m * problem.lanes_n;
    const unsigned to = p.ring + stage * p.all;
    if (!p.active)
        return;
    const float *a = args.a_array ? args.a_array[p.matrix] : args.a + p.matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[p.matrix] : args.b + p.matrix * args.stride_b;
    a += A_ALONG_K ? p.m0 * args.lda + k0 : k0 * args.lda + p.m0;
    b += B_ALONG_K ? p.n0 * args.ldb + k0 : k0 * args.ldb + p.n0;
    produce_step<A_ALONG_K>(to, a, args.lda, left, p.rows, A_ALONG_K ? depth : p.tile_m,
                            problem.copies_a, p.thread, threads);
    produce_step<B_ALONG_K>(to + p.bytes_a, b, args.ldb, left, p.cols, B_ALONG_K ? depth : p.tile_n,
                            problem.copies_b, p.thread, threads);
}

/* Epilogue. */
template <int T, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void
store(const float (&sum)[T][T], const tilemm__sgemm_fitted_t &problem, const float *stages)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const place_t p = place_of<T, A_ALONG_K, B_ALONG_K>(problem, stages);
    if (!p.active)
        return;
    float *const c = (args.c_array ? args.c_array[p.matrix] : args.c + p.matrix * args.stride_c) +
                     p.m0 * args.ldc + p.n0;
#pragma unroll
    for (int i = 0; i < T; i++) {
        const int row = i / 4 * (p.tile_m / 2) + 4 * p.lane_m + i % 4;
        if (row >= p.rows)
            continue;
#pragma unroll
        for (int q = 0; q < T; q += 4) {
            const int column = q / 4 * (p.tile_n / 2) + 4 * p.lane_n;
            float *const to = c + row * args.ldc + column;
            if (problem.width_c == 4 && column + 4 <= p.cols) {
                epilogue_store((float4 *)to, sum[i] + q, args.alpha, args.beta);
            } else if (problem.width_c == 2 && column + 4 <= p.cols) {
                epilogue_store((float2 *)to, sum[i] + q, args.alpha, args.beta);
                epilogue_store((float2 *)(to + 2), sum[i] + q + 2, args.alpha, args.beta);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (column + j < p.cols)
                        epilogue_store(to + j, sum[i][q + j], args.alpha, args.beta);
            }
        }
    }
}

template <int T, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void body(const tilemm__sgemm_fitted_t &problem)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float stages[];
    const int k = (int)problem.args.k, depth = problem.depth;

    wait_for_previous();
    fill<T, A_ALONG_K, B_ALONG_K>(problem, stages, 0, 0);
    copy_async_commit();

    const place_t p = place_of<T, A_ALONG_K, B_ALONG_K>(problem, stages);
    const int pitch_a = A_ALONG_K ? depth : p.tile_m, pitch_b = B_ALONG_K ? depth : p.tile_n;
    const int first_a =
        A_ALONG_K ? tilemm__fitted_index(4 * p.lane_m, 0, pitch_a, 1) : 4 * p.lane_m;
    const int first_b =
        B_ALONG_K ? tilemm__fitted_index(4 * p.lane_n, 0, pitch_b, 1) : 4 * p.lane_n;
    const unsigned apart_a = tilemm__fitted_index(A_ALONG_K ? p.tile_m / 2 : 0,
                                                  A_ALONG_K ? 0 : p.tile_m / 2, pitch_a, A_ALONG_K);
    const unsigned apart_b = tilemm__fitted_index(B_ALONG_K ? p.tile_n / 2 : 0,
                                                  B_ALONG_K ? 0 : p.tile_n / 2, pitch_b, B_ALONG_K);
    const unsigned at_a = p.ring + first_a * 4, at_b = p.ring + p.bytes_a + first_b * 4;
    const unsigned all = p.all;
    const bool active = p.active;
    float sum[T][T];
    unsigned stage = 0;

#pragma unroll
    for (int i = 0; i < T; i++)
#pragma unroll
        for (int j = 0; j < T; j++)
            sum[i][j] = 0.0f;

#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += depth, stage ^= 1) {
        const bool more = k0 + depth < k;
        if (more) {
            fill<T, A_ALONG_K, B_ALONG_K>(problem, stages, stage ^ 1, k0 + depth);
            copy_async_commit();
            copy_async_wait<1>();
        } else {
            copy_async_wait<0>();
        }
        __syncthreads();

        unsigned from_a = at_a + stage * all, from_b = at_b + stage * all;
        const int fours = active ? (min(depth, k - k0) + 3) / 4 : 0;

#pragma unroll 1
        for (int i = 0; i < fours; i++) {
            multiply<T, A_ALONG_K, B_ALONG_K>(sum, from_a, from_b, pitch_a * 4, pitch_b * 4,
                                              apart_a * 4, apart_b * 4);
            from_a += (A_ALONG_K ? 4 : 4 * pitch_a) * 4;
            from_b += (B_ALONG_K ? 4 : 4 * pitch_b) * 4;
        }
        if (more)
            __syncthreads(); /* the stage is read */
    }
#pragma unroll
    for (int i = 0; i < T; i++)
#pragma unroll
        for (int j = 0; j < T; j++)
            sum[i][j] += 0.0f; /* no -0 */
    store<T, A_ALONG_K, B_ALONG_K>(sum, problem, stages);
#endif
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, side, blocks)                                               \
    static __global__ void __launch_bounds__(TILEMM__SGEMM_FITTED_MOST_THREADS, ROOM_FOR(blocks))  \
        name(const __grid_constant__ tilemm__sgemm_fitted_t problem)                               \
    {                                                                                              \
        body<side, !(trans_a), (trans_b) != 0>(problem);                                           \
    }
TILEMM__SGEMM_FITTED_ROWS(KERNEL)

#define VARIANT(name, ...) name,
static void (*const variants[])(tilemm__sgemm_fitted_t) = {TILEMM__SGEMM_FITTED_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_fitted_launch(const tilemm__sgemm_fitted_t *problem, void *stream)
{
    return launch_kernel(
        variants[problem->variant - TILEMM__sgemm_fitted_sm80_4x4_nn],
        {problem->blocks, problem->threads, problem->shared, 1, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
