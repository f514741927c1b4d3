/* small_batch.cu - batches of products so small that a warp or two holds a whole one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes are rounded up to P: 4, 8, 16 or 32. A group of threads (a warp, or two where P is 32)
 * copies A and B of MATRICES products to shared memory as they are stored; a thread computes TM x
 * TN elements of one C. It takes 4 steps of k at a time, as four words along k or as four rows of
 * words along m or n.
 *
 * Layout: tilemm__small_batch_piece(); reads have no bank conflicts.
 *
 * Padding: k is filled up with zeros to a multiple of 4 in A and B. Rows and columns past m and n
 * hold any numbers, and their results are not stored.
 *
 * Assumes: compute capability 7.5 or more; what the host promises in tilemm__sgemm_small_batch_t.
 * Accuracy: one chain of multiply-adds over k. */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "skinny.h"

/* Copy `bytes` (0 to 4 * W) bytes to shared memory and fill up with zeros. The copy is complete
 * after copy_async_wait_all(). */
template <int W>
static __device__ __forceinline__ void copy_piece(float *to, const float *from, int bytes)
{
#if __CUDA_ARCH__ >= 800
    copy_async_zero<4 * W>(shared_address(to), from, bytes);
#else
    if (W == 4 && bytes == 16) {
        *(float4 *)to = __ldg((const float4 *)from);
    } else {
#pragma unroll
        for (int i = 0; i < W; i++)
            to[i] = 4 * i < bytes ? __ldg(from + i) : 0.0f;
    }
#endif
}

/* The layout: P, the thread's part of C, and where words lie. */
template <int P_, int TM_, int TN_, int THREADS_>
struct layout {
    static const int P = P_, TM = TM_, TN = TN_;
    static const int LANES_M = P / TM, LANES_N = P / TN;
    static const int PER_MATRIX = LANES_M * LANES_N;             /* threads */
    static const int GROUP = PER_MATRIX < 32 ? 32 : PER_MATRIX;  /* threads that wait together */
    static const int MATRICES = GROUP / PER_MATRIX;              /* of a group */
    static const int THREADS = THREADS_;                         /* of a block */
    static const int PITCH = tilemm__small_batch_pitch(P);       /* words from matrix to matrix */
    static const int WORDS = THREADS / GROUP * MATRICES * PITCH; /* of a block, for A or for B */

    static_assert(P % 4 == 0 && TM % 4 == 0 && TN % 4 == 0, "threads compute squares of 4 x 4");
    static_assert(GROUP % 32 == 0 && THREADS % GROUP == 0, "groups are whole warps");

    /* The word at which the piece of 4 words begins. */
    static __device__ __forceinline__ int piece(int row, int column)
    {
        return tilemm__small_batch_piece(row, column, P);
    }
    /* Square q of a thread begins at row or column first + q * apart. */
    static __device__ __forceinline__ int row(int lane_m, int i)
    {
        return i / 4 * (LANES_M * 4) + lane_m * 4 + i % 4;
    }
    static __device__ __forceinline__ int column(int lane_n, int j)
    {
        return j / 4 * (LANES_N * 4) + lane_n * 4 + j % 4;
    }
};

/* Producer: copy the group's matrices, of rows x columns words; rows from `rows` to `zero_rows`
 * and columns from `columns` to `zero_columns` become zeros. */
template <class L, int W>
static __device__ __forceinline__ void
produce(float *s, const float *base, const float *const *array, int64_t stride, int64_t ld,
        int64_t matrix, int matrices, int rows, int columns, int zero_rows, int zero_columns,
        int thread)
{
    const int ACROSS = L::P / W, PIECES = L::P * ACROSS;
#pragma unroll 8
    for (int i = 0; i < L::MATRICES * PIECES / L::GROUP; i++) {
        const int piece = i * L::GROUP + thread;
        const int which = piece / PIECES, row = piece % PIECES / ACROSS;
        const int column = piece % ACROSS * W;
        if (which >= matrices || row >= zero_rows || column >= zero_columns)
            continue;

        const float *from = array ? array[matrix + which] : base + (matrix + which) * stride;
        const int there = row < rows ? min(W, max(0, columns - column)) : 0;

        /* A copy of no bytes needs a valid address too. */
        copy_piece<W>(s + which * L::PITCH + L::piece(row, column) + column % 4,
                      there ? from + row * ld + column : from, 4 * there);
    }
}

/* Produce A or B: `along_k` if its rows, as they are stored, run along k; `mn` is m or n. */
template <class L>
static __device__ __forceinline__ void
produce_operand(float *s, bool along_k, bool aligned, const float *base, const float *const *array,
                int64_t stride, int64_t ld, int64_t matrix, int matrices, int mn, int k, int thread)
{
    const int padded_k = (k + 3) & ~3;
    const int rows = along_k ? mn : k, columns = along_k ? k : mn;
    const int zero_rows = along_k ? mn : padded_k, zero_columns = along_k ? padded_k : mn;
    if (aligned)
        produce<L, 4>(s, base, array, stride, ld, matrix, matrices, rows, columns, zero_rows,
                      zero_columns, thread);
    else
        produce<L, 1>(s, base, array, stride, ld, matrix, matrices, rows, columns, zero_rows,
                      zero_columns, thread);
}

/* Read a thread's COUNT rows of op(A), or columns of op(B), over 4 of k from k0 on. place_of(i) is
 * the number of row or column i. */
template <class L, bool ALONG_K, int COUNT, typename PLACE_OF>
static __device__ __forceinline__ void read_operand(float (&x)[4][COUNT], const float *s, int k0,
                                                    const PLACE_OF &place_of)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        /* Words along k of row i, or words i / 4 * 4 to i / 4 * 4 + 3 of row k0 + i % 4. */
        float w[4];
        unpack(w, *(const float4 *)(s + (ALONG_K ? L::piece(place_of(i), k0)
                                                 : L::piece(k0 + i % 4, place_of(i / 4 * 4)))));
#pragma unroll
        for (int y = 0; y < 4; y++)
            if (ALONG_K)
                x[y][i] = w[y];
            else
                x[i % 4][i / 4 * 4 + y] = w[y];
    }
}

/* Consumer: a thread's elements of one matrix's product. */
template <class L, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void consume(float (&sum)[L::TM][L::TN], const float *a,
                                               const float *b, int k, int lane_m, int lane_n)
{
    const int P = L::P, TM = L::TM, TN = L::TN;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0.0f;

#pragma unroll(P <= 16 ? P / 4 : 2)
    for (int k0 = 0; k0 < P; k0 += 4) {
        float am[4][TM], bn[4][TN];
        if (k0 >= k)
            break;
        read_operand<L, A_ALONG_K>(am, a, k0, [=](int i) { return L::row(lane_m, i); });
        read_operand<L, B_ALONG_K>(bn, b, k0, [=](int j) { return L::column(lane_n, j); });
#pragma unroll
        for (int x = 0; x < 4; x++)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] = fmaf(am[x][i], bn[x][j], sum[i][j]);
    }
}

/* Epilogue. */
template <class L>
static __device__ __forceinline__ void store(const float (&sum)[L::TM][L::TN],
                                             const tilemm__sgemm_small_batch_t &problem,
                                             int64_t matrix, int lane_m, int lane_n)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const int m = (int)args.m, n = (int)args.n;
    float *const c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
#pragma unroll
    for (int i = 0; i < L::TM; i++) {
        const int row = L::row(lane_m, i);
        if (row >= m)
            continue;
#pragma unroll
        for (int q = 0; q < L::TN; q += 4) {
            const int column = L::column(lane_n, q);
            float *const to = c + row * args.ldc + column;
            if (problem.aligned_c && column + 4 <= n) {
                epilogue_store((float4 *)to, sum[i] + q, args.alpha, args.beta);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (column + j < n)
                        epilogue_store(to + j, sum[i][q + j], args.alpha, args.beta);
            }
        }
    }
}

template <class L, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void body(const tilemm__sgemm_small_batch_t &problem)
{
    extern __shared__ __align__(16) float shared[];
    const tilemm__sgemm_args_t &args = problem.args;
    const int group = threadIdx.x / L::GROUP, thread = threadIdx.x % L::GROUP;
    const int64_t matrix =
        problem.first + ((int64_t)blockIdx.x * (L::THREADS / L::GROUP) + group) * L::MATRICES;
    const int matrices = (int)max((int64_t)0, min((int64_t)L::MATRICES, args.batch_count - matrix));
    const int m = (int)args.m, n = (int)args.n, k = (int)args.k;
    float *const ms = shared + group * (L::MATRICES * L::PITCH), *const ns = ms + L::WORDS;
    wait_for_previous();
    produce_operand<L>(ms, A_ALONG_K, problem.aligned_a, args.a, args.a_array, args.stride_a,
                       args.lda, matrix, matrices, m, k, thread);
    produce_operand<L>(ns, B_ALONG_K, problem.aligned_b, args.b, args.b_array, args.stride_b,
                       args.ldb, matrix, matrices, n, k, thread);
    copy_async_wait_all();
    if (L::GROUP == 32)
        __syncwarp();
    else
        __syncthreads();

    const int which = thread / L::PER_MATRIX;
    const int lane_m = thread % L::PER_MATRIX / L::LANES_N, lane_n = thread % L::LANES_N;
    float sum[L::TM][L::TN];

    if (which >= matrices)
        return;
    consume<L, A_ALONG_K, B_ALONG_K>(sum, ms + which * L::PITCH, ns + which * L::PITCH, k, lane_m,
                                     lane_n);
    store<L>(sum, problem, matrix + which, lane_m, lane_n);
}

/* ---- variants ------------------------------------------------------------------------------- */

#define LAYOUT(p, threads) layout<p, 4, 4, threads>
#define KERNEL(name, trans_a, trans_b, p, threads)                                                 \
    static_assert(2 * LAYOUT(p, threads)::WORDS * 4 <= 48 * 1024, "no opt-in to more");            \
    static __global__ void __launch_bounds__(threads)                                              \
        name(const __grid_constant__ tilemm__sgemm_small_batch_t problem)                          \
    {                                                                                              \
        body<LAYOUT(p, threads), !(trans_a), (trans_b) != 0>(problem);                             \
    }
TILEMM__SGEMM_SMALL_BATCH_ROWS(KERNEL)

typedef struct {
    void (*kernel)(tilemm__sgemm_small_batch_t);
    unsigned threads, matrices; /* of a block */
    size_t shared;
} variant_t;

#define VARIANT(name, trans_a, trans_b, p, threads)                                                \
    {name, threads, threads / LAYOUT(p, threads)::GROUP * LAYOUT(p, threads)::MATRICES,            \
     2 * LAYOUT(p, threads)::WORDS * 4},
static const variant_t variants[] = {TILEMM__SGEMM_SMALL_BATCH_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_small_batch_launch(const tilemm__sgemm_small_batch_t *problem,
                                                void *stream)
{
    const variant_t &row = variants[problem->variant - TILEMM__sgemm_small_batch_sm75_4x4x4_nn];
    const uint64_t blocks = ((uint64_t)problem->args.batch_count - 1) / row.matrices + 1;
    return launch_grids(blocks, 1, [&](uint64_t first, unsigned count) {
        tilemm__sgemm_small_batch_t part = *problem;
        part.first = (int64_t)(first * row.matrices);
        return launch_kernel(row.kernel, {count, row.threads, row.shared, 1, part.concurrent != 0},
                             (cudaStream_t)stream, part);
    });
}
