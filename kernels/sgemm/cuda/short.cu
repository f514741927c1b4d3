/* short.cu - SGEMM by FP32 multiply-adds where k is short, or memory is not aligned.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * With a short k the time goes into C, and with few rows into B. So the lanes of a warp are
 * neighbouring columns: a warp stores 128 bytes of a row of C at a time, wherever the row begins. A
 * thread computes ROWS x COLUMNS elements: rows that follow each other, and columns 32 apart. It
 * reads A's tile Ms by broadcast, 16 bytes at a time, and B's tile Ns with stride one.
 *
 * Layout: tilemm__short_pitch(). Both tiles have a line for each k. An operand whose rows run along
 * k is transposed by copies of 4 bytes: of 8 k of 4 of its rows by a warp, without bank conflicts.
 *
 * Padding: none. Rows, columns and k that are not there are not copied; their sums are not stored.
 *
 * Assumes: compute capability 8.0 or more; what the host promises in tilemm__sgemm_short_t.
 * Accuracy: one chain of multiply-adds over k; in tiles with few elements of C for each thread, the
 * sum of one chain for each stage. */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "short.h"

template <int ROWS_, int COLUMNS_, int WARPS_M_, int WARPS_N_, bool A_ALONG_K_, bool B_ALONG_K_>
struct shape {
    static const int ROWS = ROWS_, COLUMNS = COLUMNS_, WARPS_M = WARPS_M_, WARPS_N = WARPS_N_;
    static const bool A_ALONG_K = A_ALONG_K_, B_ALONG_K = B_ALONG_K_;
    static const int BM = ROWS * WARPS_M, BN = 32 * COLUMNS * WARPS_N;
    static const int THREADS = 32 * WARPS_M * WARPS_N;
    static const int PITCH_A = tilemm__short_pitch(BM, A_ALONG_K);
    static const int PITCH_B = tilemm__short_pitch(BN, B_ALONG_K);
    /* There are registers for totals: a chain ends with each stage. */
    static const bool ENDS_CHAINS = ROWS * COLUMNS <= TILEMM__SGEMM_SHORT_TOTALS;
    static_assert(ROWS % 4 == 0, "Ms is read 16 bytes at a time");
};

/* Producer: copy `depth` steps of k of an operand's tile of WIDTH lines, of which `extent` are
 * there. `from` is the tile's first element. */
template <int WIDTH, int PITCH, int THREADS, bool ALONG_K>
static __device__ __forceinline__ void produce(unsigned to, const float *__restrict__ from,
                                               int64_t ld, int extent, int depth, bool wide)
{
    const int thread = (int)threadIdx.x;
    if (ALONG_K) {
        const int first_line = tilemm__short_line(thread), k = tilemm__short_k(thread);
        const int step = tilemm__short_line(THREADS);
        to += (k * PITCH + first_line) * 4;
        from += first_line * ld + k;
#pragma unroll 2
        for (int line = first_line; line < extent; line += step, to += 4 * step, from += step * ld)
#pragma unroll
            for (int i = 0; i < TILEMM__SGEMM_SHORT_DEPTH; i += TILEMM__SGEMM_SHORT_TOGETHER)
                if (k + i < depth)
                    copy_async<4>(to + i * PITCH * 4, from + i);
    } else if (wide) {
        const int first_k = thread / (WIDTH / 4), line = thread % (WIDTH / 4) * 4;
        const int step = THREADS / (WIDTH / 4), there = 4 * min(4, extent - line);
        from += first_k * ld + line;
#pragma unroll 2
        for (int k = first_k; k < depth && line < extent; k += step, from += step * ld)
            copy_async_zero<16>(to + (k * PITCH + line) * 4, from, there);
    } else {
        const int first_k = thread / WIDTH, line = thread % WIDTH, step = THREADS / WIDTH;
        from += first_k * ld + line;
#pragma unroll 4
        for (int k = first_k; k < depth && line < extent; k += step, from += step * ld)
            copy_async<4>(to + (k * PITCH + line) * 4, from);
    }
}

/* Consumer: sum += the products of `depth` steps of k. `ms` and `ns` are the thread's first words
 * of both tiles. */
template <typename S>
static __device__ __forceinline__ void multiply(float (&sum)[S::ROWS][S::COLUMNS], unsigned ms,
                                                const float *ns, int depth)
{
#pragma unroll 2
    for (int k = 0; k < depth; k++) {
        float a[S::ROWS], b[S::COLUMNS];
#pragma unroll
        for (int i = 0; i < S::ROWS; i += 4)
            unpack(a + i, shared_read(ms + (k * S::PITCH_A + i) * 4));
#pragma unroll
        for (int j = 0; j < S::COLUMNS; j++)
            b[j] = ns[k * S::PITCH_B + 32 * j];
#pragma unroll
        for (int i = 0; i < S::ROWS; i++)
#pragma unroll
            for (int j = 0; j < S::COLUMNS; j++)
                sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
}

template <typename S>
static __device__ __forceinline__ void body(const tilemm__sgemm_short_t &problem)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float stages[];
    const int DEPTH = TILEMM__SGEMM_SHORT_DEPTH, STAGES = TILEMM__SGEMM_SHORT_STAGES;
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned matrix = divided(blockIdx.x, problem.by_per_matrix);
    const unsigned tile = blockIdx.x - matrix * problem.per_matrix;
    const unsigned tile_m = divided(tile, problem.by_tiles_n);
    const int64_t m0 = (int64_t)tile_m * S::BM;
    const int64_t n0 = (int64_t)(tile - tile_m * problem.tiles_n) * S::BN;
    const int rows = (int)min(args.m - m0, (int64_t)S::BM);
    const int columns = (int)min(args.n - n0, (int64_t)S::BN);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, k = (int)args.k;
    const int m = warp / S::WARPS_N * S::ROWS, n = warp % S::WARPS_N * 32 * S::COLUMNS + lane;
    const unsigned words_a = (unsigned)(problem.depth * S::PITCH_A);
    const unsigned words = words_a + (unsigned)(problem.depth * S::PITCH_B);
    const unsigned ring = shared_address(stages);

    wait_for_previous();
    const float *a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    a += S::A_ALONG_K ? m0 * args.lda : m0;
    b += S::B_ALONG_K ? n0 * args.ldb : n0;
    int to_copy = 0; /* the first k that is not under way */
    unsigned filling = 0, stage = 0;
    const auto fill = [&] {
        const int depth = min(DEPTH, k - to_copy);
        const unsigned to = ring + filling * words * 4;
        if (depth > 0) {
            produce<S::BM, S::PITCH_A, S::THREADS, S::A_ALONG_K>(
                to, a + (S::A_ALONG_K ? to_copy : to_copy * args.lda), args.lda, rows, depth,
                problem.wide_a != 0);
            produce<S::BN, S::PITCH_B, S::THREADS, S::B_ALONG_K>(
                to + words_a * 4, b + (S::B_ALONG_K ? to_copy : to_copy * args.ldb), args.ldb,
                columns, depth, problem.wide_b != 0);
        }
        copy_async_commit();
        to_copy += DEPTH;
        filling = (filling + 1) % STAGES;
    };
    float total[S::ROWS][S::COLUMNS] = {};

#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        fill();
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += DEPTH, stage = (stage + 1) % STAGES) {
        const unsigned ms = ring + (stage * words + m) * 4;
        const float *const ns = stages + stage * words + words_a + n;
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        fill(); /* the stage that was read last */
        if (S::ENDS_CHAINS) {
            float sum[S::ROWS][S::COLUMNS] = {};
            multiply<S>(sum, ms, ns, min(DEPTH, k - k0));
#pragma unroll
            for (int i = 0; i < S::ROWS; i++)
#pragma unroll
                for (int j = 0; j < S::COLUMNS; j++)
                    total[i][j] += sum[i][j];
        } else {
            multiply<S>(total, ms, ns, min(DEPTH, k - k0));
        }
    }

    float *const c = (args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c) +
                     (m0 + m) * problem.c_m + (n0 + n) * problem.c_n;
#pragma unroll
    for (int i = 0; i < S::ROWS; i++)
#pragma unroll
        for (int j = 0; j < S::COLUMNS; j++)
            if (m + i < rows && n + 32 * j < columns)
                epilogue_store(c + i * problem.c_m + 32 * j * problem.c_n, total[i][j], args.alpha,
                               args.beta);
#endif
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, rows, columns, warps_m, warps_n, blocks)                    \
    KERNEL_OF(name, (32 * (warps_m) * (warps_n), ROOM_FOR(blocks)),                                \
              (const __grid_constant__ tilemm__sgemm_short_t problem),                             \
              body<shape<rows, columns, warps_m, warps_n, !(trans_a), (trans_b) != 0>>(problem))
TILEMM__SGEMM_SHORT_ROWS(KERNEL)

#define VARIANT(name, trans_a, trans_b, rows, columns, warps_m, warps_n, blocks)                   \
    {name, 32 * (warps_m) * (warps_n)},
static const struct {
    void (*kernel)(tilemm__sgemm_short_t);
    unsigned threads;
} variants[] = {TILEMM__SGEMM_SHORT_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_short_launch(const tilemm__sgemm_short_t *problem, void *stream)
{
    const auto &variant = variants[problem->variant - TILEMM__sgemm_short_sm80_128x128_nn];
    return launch_kernel(
        variant.kernel,
        {problem->blocks, variant.threads, problem->shared, 1, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
