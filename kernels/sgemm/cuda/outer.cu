/* outer.cu - SGEMM by FP32 multiply-adds where k is so short that C is a sum of few outer products.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearly all of the time goes into storing C, so a thread keeps no part of it. It has all k of four
 * columns of B in registers, and goes down the rows of its tile: it reads a row of A's tile Ms by
 * broadcast, 16 bytes at a time, multiplies, and stores four elements of C, at once where C is
 * aligned. Where it is not, a thread's columns are up to 32 apart, so that a warp stores 128 bytes
 * four times, side by side: memory takes longer for parts of 32 bytes whose rest comes later.
 *
 * Where B's rows run along k, its tile Ns lies in shared memory first, so that it is read as it
 * lies. A block may go from tile to tile of the same columns, and copies the next tile's Ms
 * meanwhile.
 *
 * Layout: Ms has a line for each row, of the DEPTH steps of k, Ns one for each column:
 * tilemm__outer_pitch(). Ms is read without bank conflicts, Ns where a thread's columns are apart;
 * what fills both, once for each tile, has some.
 *
 * Padding: zeros for k that are not there, in both operands. Rows and columns that are not there
 * are not stored.
 *
 * Assumes: compute capability 8.0 or more; what the host promises in tilemm__sgemm_outer_t.
 * Accuracy: one chain of multiply-adds over k, and a zero where k is less than DEPTH. */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "outer.h"

enum { COLUMNS = TILEMM__SGEMM_OUTER_COLUMNS };

/* Copy `lines` lines along k, WIDTH numbers at a time, each to a line of its own. */
template <int DEPTH, int WIDTH>
static __device__ __forceinline__ void fetch_along(unsigned to, const float *__restrict__ from,
                                                   int64_t ld, int lines, int k)
{
    const int PITCH = tilemm__outer_pitch(DEPTH), COPIES = DEPTH / WIDTH;
#pragma unroll(WIDTH == 4 ? 1 : 2)
    for (int i = threadIdx.x; i < lines * COPIES; i += blockDim.x) {
        const int line = i / COPIES, p = i % COPIES * WIDTH;
        copy_async_zero<4 * WIDTH>(to + (line * PITCH + p) * 4, from + line * ld + (p < k ? p : 0),
                                   p < k ? 4 * WIDTH : 0);
    }
}

template <int DEPTH>
static __device__ __forceinline__ void fetch_along(unsigned to, const float *__restrict__ from,
                                                   int64_t ld, int lines, int k, bool wide)
{
    if (wide)
        fetch_along<DEPTH, 4>(to, from, ld, lines, k);
    else
        fetch_along<DEPTH, 1>(to, from, ld, lines, k);
}

/* The same of lines side by side, each k of which follows `ld` numbers later. */
template <int DEPTH>
static __device__ __forceinline__ void fetch_across(unsigned to, const float *__restrict__ from,
                                                    int64_t ld, int lines, int k)
{
    const int PITCH = tilemm__outer_pitch(DEPTH);
#pragma unroll 1
    for (int line = threadIdx.x; line < lines; line += blockDim.x) {
        const float *at = from + line;
#pragma unroll 4
        for (int p = 0; p < DEPTH; p++) {
            copy_async_zero<4>(to + (line * PITCH + p) * 4, at, p < k ? 4 : 0);
            at += p + 1 < k ? ld : 0;
        }
    }
}

/* All k of a thread's columns of B, whose rows run along n; each column is `apart` from the one
 * before, and `columns` are there. What is not there is read from elsewhere in B, and is 0: without
 * branches all reads are under way at once. `b` is the first column, or B's if there is none. */
template <int DEPTH>
static __device__ __forceinline__ void
read_b(float (&x)[DEPTH][COLUMNS], const float *__restrict__ b,
       const tilemm__sgemm_outer_t &problem, int columns, int apart)
{
    const int k = (int)problem.args.k;
    const int64_t ldb = problem.args.ldb;
    if (problem.wide_b && apart == 1 && columns % COLUMNS == 0) {
#pragma unroll
        for (int p = 0; p < DEPTH; p++) {
            unpack(x[p], __ldg((const float4 *)b));
            b += p + 1 < k ? ldb : 0;
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                x[p][j] = p < k ? x[p][j] : 0.0f;
        }
    } else {
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const float *from = b + (j < columns ? j * apart : 0);
#pragma unroll
            for (int p = 0; p < DEPTH; p++) {
                const float there = __ldg(from);
                x[p][j] = p < k ? there : 0.0f;
                from += p + 1 < k ? ldb : 0;
            }
        }
    }
}

/* The same of B's tile Ns, whose lines run along k; ns: the thread's first one. */
template <int DEPTH>
static __device__ __forceinline__ void read_ns(float (&x)[DEPTH][COLUMNS], unsigned ns, int apart)
{
#pragma unroll
    for (int j = 0; j < COLUMNS; j++, ns += apart * tilemm__outer_pitch(DEPTH) * 4)
#pragma unroll
        for (int p = 0; p < DEPTH; p += 4) {
            float along[4];
            unpack(along, shared_read(ns + p * 4));
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[p + i][j] = along[i];
        }
}

/* Consumer: the products of a thread's columns with its rows of Ms, of which `group` is the first.
 * IS_ALIGNED: C is stored 16 bytes at a time, and a thread's columns are neighbours. IS_USUAL: beta
 * is 0. */
template <int DEPTH, bool IS_ALIGNED, bool IS_USUAL>
static __device__ __forceinline__ void multiply(const float (&x)[DEPTH][COLUMNS], unsigned ms,
                                                float *c, const tilemm__sgemm_outer_t &problem,
                                                int group, int rows, int columns)
{
    const int PITCH = tilemm__outer_pitch(DEPTH) * 4;
    const int apart = IS_ALIGNED ? 1 : problem.apart;
    const float alpha = problem.args.alpha, beta = IS_USUAL ? 0.0f : problem.args.beta;
    const int64_t step = problem.groups * problem.args.ldc;
    const unsigned end = ms + rows * PITCH;
    ms += group * PITCH;
#pragma unroll(DEPTH <= 8 ? 2 : 1)
    for (; ms < end; ms += problem.groups * PITCH, c += step) {
        float sum[COLUMNS] = {};
#pragma unroll
        for (int p = 0; p < DEPTH; p += 4) {
            float y[4];
            unpack(y, shared_read(ms + p * 4));
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    sum[j] = fmaf(y[i], x[p + i][j], sum[j]);
        }
        if (IS_ALIGNED && columns == COLUMNS) {
            epilogue_store((float4 *)c, sum, alpha, beta);
        } else {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                if (j < columns)
                    epilogue_store(c + j * apart, sum[j], alpha, beta);
        }
    }
}

template <int DEPTH, bool IS_ALIGNED>
static __device__ __forceinline__ void body(const tilemm__sgemm_outer_t &problem)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float memory[];
    const tilemm__sgemm_args_t &args = problem.args;
    const int PITCH = tilemm__outer_pitch(DEPTH) * 4;
    const unsigned matrix = divided(blockIdx.x, problem.by_per_matrix);
    const unsigned in_matrix = blockIdx.x - matrix * problem.per_matrix;
    const unsigned share = divided(in_matrix, problem.by_tiles_n);
    const int64_t first =
        (int64_t)(in_matrix - share * problem.tiles_n) * COLUMNS * problem.lanes; /* column */
    const int group = (int)divided(threadIdx.x, problem.by_lanes);
    const int lane = (int)threadIdx.x - group * problem.lanes;
    const int strip = IS_ALIGNED ? 0 : (int)divided((unsigned)lane, problem.by_apart);
    const int apart = IS_ALIGNED ? 1 : problem.apart;
    const int column = IS_ALIGNED ? COLUMNS * lane : lane + (COLUMNS - 1) * apart * strip;
    const int64_t n0 = first + column;
    int columns = 0; /* of the thread, that are there */
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        columns += group < problem.groups && n0 + j * apart < args.n;

    wait_for_previous();
    const float *a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    float *c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
    const int k = (int)args.k;
    const unsigned ms = shared_address(memory);
    const unsigned stage_bytes = (unsigned)(problem.rows * PITCH);
    const unsigned ns = ms + (unsigned)problem.stages * stage_bytes;
    const int64_t step = (int64_t)problem.shares * problem.rows;
    int64_t m0 = (int64_t)share * problem.rows;
    const auto fetch_ms = [&](unsigned stage, int64_t from) {
        const int rows = (int)min(args.m - from, (int64_t)problem.rows);
        if (args.trans_a)
            fetch_across<DEPTH>(ms + stage * stage_bytes, a + from, args.lda, rows, k);
        else
            fetch_along<DEPTH>(ms + stage * stage_bytes, a + from * args.lda, args.lda, rows, k,
                               problem.wide_a != 0);
    };
    float x[DEPTH][COLUMNS];

    fetch_ms(0, m0);
    if (args.trans_b) {
        fetch_along<DEPTH>(ns, b + first * args.ldb, args.ldb,
                           (int)min(args.n - first, (int64_t)COLUMNS * problem.lanes), k,
                           problem.wide_b != 0);
        copy_async_wait_all();
        __syncthreads();
        read_ns<DEPTH>(x, ns + (unsigned)(column * PITCH), apart);
    } else {
        read_b<DEPTH>(x, b + (columns ? n0 : 0), problem, columns, apart);
    }
    c += (m0 + group) * args.ldc + n0;
#pragma unroll 1
    for (unsigned stage = 0; m0 < args.m; stage ^= 1, m0 += step, c += step * args.ldc) {
        const int rows = (int)min(args.m - m0, (int64_t)problem.rows);
        copy_async_wait_all();
        __syncthreads(); /* and the other stage is no longer read */
        if (m0 + step < args.m)
            fetch_ms(stage ^ 1, m0 + step);
        if (columns == 0)
            continue;
        if (args.beta == 0.0f)
            multiply<DEPTH, IS_ALIGNED, true>(x, ms + stage * stage_bytes, c, problem, group, rows,
                                              columns);
        else
            multiply<DEPTH, IS_ALIGNED, false>(x, ms + stage * stage_bytes, c, problem, group, rows,
                                               columns);
    }
#endif
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, depth, aligned, blocks)                                                       \
    KERNEL_OF(name, (TILEMM__SGEMM_OUTER_THREADS, ROOM_FOR(blocks)),                               \
              (const __grid_constant__ tilemm__sgemm_outer_t problem),                             \
              body<depth, (aligned) != 0>(problem))
TILEMM__SGEMM_OUTER_ROWS(KERNEL)

#define VARIANT(name, ...) name,
static void (*const variants[])(tilemm__sgemm_outer_t) = {TILEMM__SGEMM_OUTER_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_outer_launch(const tilemm__sgemm_outer_t *problem, void *stream)
{
    return launch_kernel(
        variants[problem->variant - TILEMM__sgemm_outer_sm80_4],
        {problem->blocks, problem->threads, problem->shared, 1, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
