/* tiny.cu - batches of products so small that a warp or two holds a whole one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes are rounded up to one P: 4, 8, 16 or 32. A group of threads (a warp, or two where P is 32)
 * takes MATRICES products, brings their A and B to shared memory as they are stored, and each
 * thread computes TM x TN elements of one C. Nothing is transposed on the way: a thread takes 4
 * steps of k at a time, as four words along k or as four rows of words along m or n.
 *
 * Layout: tilemm__tiny_piece() in tile_layout.h; reads meet no bank twice.
 *
 * Padding: where k is not a multiple of 4 the missing steps are zeros in A and in B, so that they
 * add 0 * 0. Rows and columns past m and n hold anything: what comes of them is not stored.
 *
 * Assumes: compute capability 7.5 or more; what the host promises in tilemm__sgemm_tiny_t.
 * Accuracy: one chain of multiply-adds over k. */
#include <cuda_runtime.h>

#include "thin.h"

/* Copy `bytes` (0 to 4 * W) bytes to shared memory and fill up with zeros. The copy is complete
 * after copies_wait(). */
template <int W>
static __device__ __forceinline__ void copy_piece(float *to, const float *from, int bytes)
{
#if __CUDA_ARCH__ >= 800
    const unsigned s = (unsigned)__cvta_generic_to_shared(to);

    if (W == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(s), "l"(from), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(s), "l"(from), "r"(bytes)
                     : "memory");
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

static __device__ __forceinline__ void copies_wait(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
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
    static const int PITCH = tilemm__tiny_pitch(P);              /* words from matrix to matrix */
    static const int WORDS = THREADS / GROUP * MATRICES * PITCH; /* of a block, for A or for B */

    static_assert(P % 4 == 0 && TM % 4 == 0 && TN % 4 == 0, "threads compute squares of 4 x 4");
    static_assert(GROUP % 32 == 0 && THREADS % GROUP == 0, "groups are whole warps");

    /* The word at which the piece of 4 words begins. */
    static __device__ __forceinline__ int piece(int row, int column)
    {
        return tilemm__tiny_piece(row, column, P);
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

        /* A copy of no bytes still wants an address that is one. */
        copy_piece<W>(s + which * L::PITCH + L::piece(row, column) + column % 4,
                      there ? from + row * ld + column : from, 4 * there);
    }
}

template <class L, bool A_ALONG_K, bool B_ALONG_K>
static __global__ void __launch_bounds__(L::THREADS)
    sgemm_tiny(const __grid_constant__ tilemm__sgemm_tiny_t problem, int64_t first)
{
    extern __shared__ __align__(16) float shared[];
    const int P = L::P, TM = L::TM, TN = L::TN;
    const tilemm__sgemm_args_t &args = problem.args;
    const int group = threadIdx.x / L::GROUP, thread = threadIdx.x % L::GROUP;
    const int64_t matrix =
        first + ((int64_t)blockIdx.x * (L::THREADS / L::GROUP) + group) * L::MATRICES;
    const int matrices = (int)max((int64_t)0, min((int64_t)L::MATRICES, args.batch_count - matrix));
    const int m = (int)args.m, n = (int)args.n, k = (int)args.k, padded_k = (k + 3) & ~3;
    float *const ms = shared + group * (L::MATRICES * L::PITCH), *const ns = ms + L::WORDS;

    {
        const int rows = A_ALONG_K ? m : k, columns = A_ALONG_K ? k : m;
        const int zero_rows = A_ALONG_K ? m : padded_k, zero_columns = A_ALONG_K ? padded_k : m;

        if (problem.vector_a)
            produce<L, 4>(ms, args.a, args.a_array, args.stride_a, args.lda, matrix, matrices, rows,
                          columns, zero_rows, zero_columns, thread);
        else
            produce<L, 1>(ms, args.a, args.a_array, args.stride_a, args.lda, matrix, matrices, rows,
                          columns, zero_rows, zero_columns, thread);
    }
    {
        const int rows = B_ALONG_K ? n : k, columns = B_ALONG_K ? k : n;
        const int zero_rows = B_ALONG_K ? n : padded_k, zero_columns = B_ALONG_K ? padded_k : n;

        if (problem.vector_b)
            produce<L, 4>(ns, args.b, args.b_array, args.stride_b, args.ldb, matrix, matrices, rows,
                          columns, zero_rows, zero_columns, thread);
        else
            produce<L, 1>(ns, args.b, args.b_array, args.stride_b, args.ldb, matrix, matrices, rows,
                          columns, zero_rows, zero_columns, thread);
    }
    copies_wait();
    if (L::GROUP == 32)
        __syncwarp();
    else
        __syncthreads();

    /* Consumer. */
    const int which = thread / L::PER_MATRIX;
    const int lane_m = thread % L::PER_MATRIX / L::LANES_N, lane_n = thread % L::LANES_N;
    const float *const a = ms + which * L::PITCH, *const b = ns + which * L::PITCH;
    float sum[TM][TN];

    if (which >= matrices)
        return;
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
#pragma unroll
        for (int i = 0; i < TM; i++) {
            /* Word i of a run along k, or piece i / 4 * 4 of row i % 4. */
            const float4 v = *(
                const float4 *)(a + (A_ALONG_K ? L::piece(L::row(lane_m, i), k0)
                                               : L::piece(k0 + i % 4, L::row(lane_m, i / 4 * 4))));
            const float w[4] = {v.x, v.y, v.z, v.w};

#pragma unroll
            for (int x = 0; x < 4; x++)
                if (A_ALONG_K)
                    am[x][i] = w[x];
                else
                    am[i % 4][i / 4 * 4 + x] = w[x];
        }
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const float4 v =
                *(const float4 *)(b + (B_ALONG_K
                                           ? L::piece(L::column(lane_n, j), k0)
                                           : L::piece(k0 + j % 4, L::column(lane_n, j / 4 * 4))));
            const float w[4] = {v.x, v.y, v.z, v.w};

#pragma unroll
            for (int x = 0; x < 4; x++)
                if (B_ALONG_K)
                    bn[x][j] = w[x];
                else
                    bn[j % 4][j / 4 * 4 + x] = w[x];
        }
#pragma unroll
        for (int x = 0; x < 4; x++)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] = fmaf(am[x][i], bn[x][j], sum[i][j]);
    }

    /* Epilogue. */
    float *const c =
        args.c_array ? args.c_array[matrix + which] : args.c + (matrix + which) * args.stride_c;
    const float alpha = args.alpha, beta = args.beta;

#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int row = L::row(lane_m, i);

        if (row >= m)
            continue;
#pragma unroll
        for (int q = 0; q < TN; q += 4) {
            const int column = L::column(lane_n, q);
            float *const to = c + row * args.ldc + column;

            if (problem.vector_c && column + 4 <= n) {
                float4 v = make_float4(alpha * sum[i][q], alpha * sum[i][q + 1],
                                       alpha * sum[i][q + 2], alpha * sum[i][q + 3]);

                if (beta != 0.0f) {
                    const float4 old = *(const float4 *)to;

                    v.x = fmaf(beta, old.x, v.x);
                    v.y = fmaf(beta, old.y, v.y);
                    v.z = fmaf(beta, old.z, v.z);
                    v.w = fmaf(beta, old.w, v.w);
                }
                *(float4 *)to = v;
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (column + j < n) {
                        float v = alpha * sum[i][q + j];

                        if (beta != 0.0f)
                            v = fmaf(beta, to[j], v);
                        to[j] = v;
                    }
            }
        }
    }
}

template <class L, bool A_ALONG_K, bool B_ALONG_K>
static int launch(const tilemm__sgemm_tiny_t *problem, cudaStream_t stream)
{
    const int64_t per_block = L::THREADS / L::GROUP * L::MATRICES;
    const int64_t batch = problem->args.batch_count;
    const int bytes = 2 * L::WORDS * 4;

    static_assert(2 * L::WORDS * 4 <= 48 * 1024, "no opt-in to more shared memory is needed");
    for (int64_t first = 0; first < batch;) {
        const int64_t left = (batch - first - 1) / per_block + 1, most = 1 << 30;
        const int64_t blocks = left < most ? left : most;

        sgemm_tiny<L, A_ALONG_K, B_ALONG_K>
            <<<(unsigned)blocks, L::THREADS, bytes, stream>>>(*problem, first);

        const cudaError_t error = cudaGetLastError();

        if (error != cudaSuccess)
            return error;
        first += blocks * per_block;
    }
    return cudaSuccess;
}

template <class L>
static int launch_turned(const tilemm__sgemm_tiny_t *problem, cudaStream_t stream)
{
    const int a_along_k = !problem->args.trans_a, b_along_k = problem->args.trans_b;

    if (a_along_k)
        return b_along_k ? launch<L, true, true>(problem, stream)
                         : launch<L, true, false>(problem, stream);
    return b_along_k ? launch<L, false, true>(problem, stream)
                     : launch<L, false, false>(problem, stream);
}

extern "C" int tilemm__sgemm_tiny_launch(const tilemm__sgemm_tiny_t *problem, void *stream)
{
    const tilemm__sgemm_args_t *args = &problem->args;
    const int64_t mn = args->m > args->n ? args->m : args->n;
    const int64_t size = mn > args->k ? mn : args->k;

    if (size <= 4)
        return launch_turned<layout<4, 4, 4, 128>>(problem, (cudaStream_t)stream);
    if (size <= 8)
        return launch_turned<layout<8, 4, 4, 128>>(problem, (cudaStream_t)stream);
    if (size <= 16)
        return launch_turned<layout<16, 4, 4, 128>>(problem, (cudaStream_t)stream);
    if (size <= TILEMM__SGEMM_TINY_MOST)
        return launch_turned<layout<32, 4, 4, 64>>(problem, (cudaStream_t)stream);
    return cudaErrorInvalidValue;
}
