/* slicek.cu - SGEMM by FP32 multiply-adds of small tiles of C, whose k is shared out among the
 * warps of a block: where C is small, or has few rows or columns.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Such products take as long as memory takes to answer. So a block asks for up to 384 steps of k
 * before it waits for the first, where tiles whose warps share out C have stages of 16; each warp
 * multiplies all of the tile for every eighth group of four k; and the warps' sums are
 * added up at the end. A cluster may share out a longer k in the same way.
 *
 * A thread computes ROWS x COLUMNS elements: all rows of the tile, and columns 32 apart. It reads
 * A's tile Ms by broadcast, 16 bytes at a time, and B's tile Ns with stride one, or 16 bytes of a
 * line along k; a warp stores 128 bytes of a row at a time.
 *
 * Layout: tilemm__slicek_index(): a tile of an operand lies as in memory: lines along k, padded by
 * 16 bytes, or a line for each k. So any operand that is aligned is copied 16 bytes at a time,
 * others 4, and neither copies nor reads have bank conflicts.
 *
 * Padding: k is filled up with zeros to a multiple of 4. Rows and columns that are not there are
 * not copied; their sums are not stored.
 *
 * Assumes: compute capability 8.0 or more, 9.0 with clusters; what the host promises in
 * tilemm__sgemm_slicek_t. Accuracy: one chain of multiply-adds for each warp of a block, over its
 * part of k; eight sums are added up, and then those of the cluster. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "slicek.h"

enum {
    WARPS = TILEMM__SGEMM_SLICEK_WARPS,
    THREADS = 32 * WARPS,
    STEP = TILEMM__SGEMM_SLICEK_STEP,
    DEPTH = TILEMM__SGEMM_SLICEK_DEPTH,
    STAGES = TILEMM__SGEMM_SLICEK_STAGES
};

/* Producer: copy `depth` of k of an operand's tile of LINES lines, of which `extent` are there, and
 * zeros up to a whole step. `from` is the tile's first element. */
template <int LINES, bool ALONG_K>
static __device__ __forceinline__ void produce(unsigned to, const float *__restrict__ from,
                                               int64_t ld, int extent, int depth, bool wide)
{
    const int thread = (int)threadIdx.x, whole = (depth + STEP - 1) / STEP * STEP;
    if (ALONG_K && wide) {
        const int first = thread / (DEPTH / 4), k = thread % (DEPTH / 4) * 4;
        const int step = THREADS / (DEPTH / 4), there = 4 * min(4, depth - k);
        to += tilemm__slicek_index(k, first, LINES, true) * 4;
        from += first * ld + k;
#pragma unroll 4
        for (int line = first; line < extent && k < depth; line += step, from += step * ld)
            copy_async_zero<16>(to + tilemm__slicek_index(0, line - first, LINES, true) * 4, from,
                                there);
    } else if (ALONG_K) {
        const int first = thread / DEPTH, k = thread % DEPTH, step = THREADS / DEPTH;
        const int there = k < depth ? 4 : 0;
        to += tilemm__slicek_index(k, first, LINES, true) * 4;
        from += first * ld + (k < depth ? k : 0);
#pragma unroll 4
        for (int line = first; line < extent && k < whole; line += step, from += step * ld)
            copy_async_zero<4>(to + tilemm__slicek_index(0, line - first, LINES, true) * 4, from,
                               there);
    } else if (wide) {
        const int first = thread / (LINES / 4), line = thread % (LINES / 4) * 4;
        const int step = THREADS / (LINES / 4), there = 4 * min(4, extent - line);
        to += tilemm__slicek_index(first, line, LINES, false) * 4;
        from += line;
#pragma unroll 4
        for (int k = first; k < whole && line < extent; k += step)
            copy_async_zero<16>(to + tilemm__slicek_index(k - first, 0, LINES, false) * 4,
                                from + (k < depth ? k : 0) * ld, k < depth ? there : 0);
    } else {
        const int first = thread / LINES, line = thread % LINES, step = THREADS / LINES;
        to += tilemm__slicek_index(first, line, LINES, false) * 4;
        from += line;
#pragma unroll 4
        for (int k = first; k < whole && line < extent; k += step)
            copy_async_zero<4>(to + tilemm__slicek_index(k - first, 0, LINES, false) * 4,
                               from + (k < depth ? k : 0) * ld, k < depth ? 4 : 0);
    }
}

/* Consumer: sum += the products of the warp's groups of four among `depth` of k. `ms` and `ns` are
 * the stage's tiles. */
template <int ROWS, int COLUMNS, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void multiply(float (&sum)[ROWS][COLUMNS], unsigned ms,
                                                const float *ns, int depth)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
#pragma unroll 1
    for (int k = warp * STEP; k < depth; k += WARPS * STEP) {
        float b[COLUMNS][STEP];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            if (B_ALONG_K)
                unpack(b[j], shared_read(shared_address(
                                 ns + tilemm__slicek_index(k, 32 * j + lane, 32 * COLUMNS, true))));
            else
#pragma unroll
                for (int p = 0; p < STEP; p++)
                    b[j][p] = ns[tilemm__slicek_index(k + p, 32 * j + lane, 32 * COLUMNS, false)];
        }
#pragma unroll
        for (int i = 0; i < ROWS; i += STEP)
#pragma unroll
            for (int q = 0; q < STEP; q++) { /* a row, or four rows of a k */
                float a[STEP];
                unpack(a,
                       shared_read(ms + (A_ALONG_K ? tilemm__slicek_index(k, i + q, ROWS, true)
                                                   : tilemm__slicek_index(k + q, i, ROWS, false)) *
                                            4));
#pragma unroll
                for (int p = 0; p < STEP; p++)
#pragma unroll
                    for (int j = 0; j < COLUMNS; j++) {
                        float &to = sum[A_ALONG_K ? i + q : i + p][j];
                        to = fmaf(a[p], b[j][A_ALONG_K ? p : q], to);
                    }
            }
    }
}

template <int ROWS, int COLUMNS, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void body(const tilemm__sgemm_slicek_t &problem)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float stages[];
    const int BN = 32 * COLUMNS;
    const int WORDS_A = tilemm__slicek_words(ROWS, A_ALONG_K);
    const int WORDS = WORDS_A + tilemm__slicek_words(BN, B_ALONG_K);
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned group = divided(blockIdx.x, problem.by_splits);
    const unsigned split = blockIdx.x - group * problem.splits;
    const unsigned matrix = divided(group, problem.by_per_matrix);
    const unsigned tile = group - matrix * problem.per_matrix;
    const unsigned tile_m = divided(tile, problem.by_tiles_n);
    const int64_t m0 = (int64_t)tile_m * ROWS;
    const int64_t n0 = (int64_t)(tile - tile_m * problem.tiles_n) * BN;
    const int64_t k0 = (int64_t)split * problem.k_split;
    const int rows = (int)min(args.m - m0, (int64_t)ROWS);
    const int columns = (int)min(args.n - n0, (int64_t)BN);
    const int k = (int)min(args.k - k0, (int64_t)problem.k_split);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const unsigned ring = shared_address(stages);

    wait_for_previous();
    const float *a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    a += A_ALONG_K ? m0 * args.lda + k0 : m0 + k0 * args.lda;
    b += B_ALONG_K ? n0 * args.ldb + k0 : n0 + k0 * args.ldb;
    int to_copy = 0; /* the first k that is not under way */
    unsigned filling = 0, stage = 0;
    const auto fill = [&] {
        const int depth = min((int)DEPTH, k - to_copy);
        const unsigned to = ring + filling * WORDS * 4;
        if (depth > 0) {
            produce<ROWS, A_ALONG_K>(to, a + (A_ALONG_K ? to_copy : to_copy * args.lda), args.lda,
                                     rows, depth, problem.wide_a != 0);
            produce<BN, B_ALONG_K>(to + WORDS_A * 4, b + (B_ALONG_K ? to_copy : to_copy * args.ldb),
                                   args.ldb, columns, depth, problem.wide_b != 0);
        }
        copy_async_commit();
        to_copy += DEPTH;
        filling = (filling + 1) % STAGES;
    };
    float sum[ROWS][COLUMNS] = {};

#pragma unroll 1
    for (int i = 0; i < STAGES; i++)
        fill();
#pragma unroll 1
    for (int p = 0; p < k; p += DEPTH, stage = (stage + 1) % STAGES) {
        copy_async_wait<STAGES - 1>();
        __syncthreads();
        multiply<ROWS, COLUMNS, A_ALONG_K, B_ALONG_K>(sum, ring + stage * WORDS * 4,
                                                      stages + stage * WORDS + WORDS_A,
                                                      min((int)DEPTH, k - p));
        __syncthreads();
        fill(); /* the stage that has been read */
    }

    /* The warps' sums, where the stages were: a warp's rows follow each other. */
    float *const own = stages + lane;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            own[((warp * ROWS + i) * COLUMNS + j) * 32] = sum[i][j];
    __syncthreads();
    float *const c = (args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c) +
                     m0 * problem.c_m + (n0 + lane) * problem.c_n;
    /* Store 32 elements of a row. */
    const auto store = [&](int run, float total) {
        const int i = run / COLUMNS, j = run % COLUMNS * 32;
        if (i < rows && j + lane < columns)
            epilogue_store(c + i * problem.c_m + j * problem.c_n, total, args.alpha, args.beta);
    };
#pragma unroll
    for (int run = warp; run < ROWS * COLUMNS; run += WARPS) {
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            total += own[(w * ROWS * COLUMNS + run) * 32];
        if (problem.splits == 1)
            store(run, total);
        else
            own[run * 32] = total; /* which this thread alone has read */
    }
    if (problem.splits == 1)
        return;
    cluster_sync();
    const int step = WARPS * problem.splits;
    for (int run = warp * problem.splits + (int)split; run < ROWS * COLUMNS; run += step) {
        float total = 0.0f;
        for (int block = 0; block < problem.splits; block++)
            total += cluster_read(own + run * 32, (unsigned)block);
        store(run, total);
    }
    cluster_sync(); /* the others have read this block's sums */
#endif
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, rows, columns, blocks)                                      \
    KERNEL_OF(name, (THREADS, ROOM_FOR(blocks)),                                                   \
              (const __grid_constant__ tilemm__sgemm_slicek_t problem),                            \
              body<rows, columns, !(trans_a), (trans_b) != 0>(problem))
TILEMM__SGEMM_SLICEK_ROWS(KERNEL)

#define VARIANT(name, ...) name,
static void (*const variants[])(tilemm__sgemm_slicek_t) = {TILEMM__SGEMM_SLICEK_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_slicek_launch(const tilemm__sgemm_slicek_t *problem, void *stream)
{
    return launch_kernel(variants[problem->variant - TILEMM__sgemm_slicek_sm80_32x64_nn],
                         {problem->blocks, THREADS, problem->shared, (unsigned)problem->splits,
                          problem->concurrent != 0},
                         (cudaStream_t)stream, *problem);
}
