/* ffma.cu - SGEMM by FP32 multiply-adds on shared tiles Ms and Ns.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block computes one tile of C, for one matrix of a batch and one range of k. While it
 * multiplies the shared tiles of one k-step, the next ones go through registers to a second pair of
 * buffers: Ms in the first half of the step, Ns in the second, which needs fewer registers. There
 * is one barrier a step.
 *
 * The last tile of a row or column of tiles is moved back so that it ends where the matrix ends; it
 * stores only elements that no other tile has. So only matrices smaller than a tile, and a partial
 * last k-step, need their reads checked.
 *
 * Assumes: compute capability 7.5 or more; what the host promises in tilemm__sgemm_ffma_t.
 *
 * Accuracy: in the smallest tile, which has registers for it, a sum is the sum of chains of CHAIN
 * multiply-adds; in others it is one chain over the block's range of k. */
#include <cuda_runtime.h>

#include "ffma.h"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "tile.cuh"

enum { CHAIN = 16 };

/* The offset in the operand of the first element that this thread fetches. */
template <int WIDTH, bool TRANSPOSED>
static __device__ __forceinline__ int64_t fetch_offset(unsigned thread, int64_t ld, int wide)
{
    const unsigned warp = thread / 32, lane = thread % 32;
    const unsigned k = tilemm__fetch_k(warp, lane, 0, WIDTH, TRANSPOSED, wide);
    const unsigned mn = tilemm__fetch_mn(warp, lane, 0, WIDTH, TRANSPOSED, wide);
    return TRANSPOSED ? mn * ld + k : k * ld + mn;
}

/* Fetch by 4 bytes; if CHECKED, zeros for missing elements. One address steps from element to
 * element, which needs few registers. */
template <int WIDTH, int BK, int WARPS, bool TRANSPOSED, bool CHECKED>
static __device__ __forceinline__ void fetch_narrow(float (&x)[WIDTH * BK / WARPS / 32],
                                                    const float *__restrict__ p, int64_t ld,
                                                    int64_t extent, unsigned depth)
{
    const unsigned PIECES = WIDTH * BK / 128 / WARPS;
    const unsigned thread = opaque(threadIdx.x) % (32 * WARPS);
    const unsigned warp = thread / 32, lane = thread % 32;
    const unsigned k0 = tilemm__fetch_k(warp, lane, 0, WIDTH, TRANSPOSED, 0);
    const unsigned mn0 = tilemm__fetch_mn(warp, lane, 0, WIDTH, TRANSPOSED, 0);
    const unsigned width = extent < WIDTH ? (unsigned)extent : WIDTH;
#pragma unroll
    for (unsigned i = 0; i < 4 * PIECES; i++) {
        const unsigned k = tilemm__fetch_k(i / 4 * WARPS, 0, i % 4, WIDTH, TRANSPOSED, 0);
        const unsigned mn = tilemm__fetch_mn(i / 4 * WARPS, 0, i % 4, WIDTH, TRANSPOSED, 0);
        x[i] = 0.0f;
        if (!CHECKED || (k0 + k < depth && mn0 + mn < width))
            x[i] = __ldg(p);
        if (i + 1 < 4 * PIECES) {
            const int64_t to_k =
                tilemm__fetch_k((i + 1) / 4 * WARPS, 0, (i + 1) % 4, WIDTH, TRANSPOSED, 0);
            const int64_t to_mn =
                tilemm__fetch_mn((i + 1) / 4 * WARPS, 0, (i + 1) % 4, WIDTH, TRANSPOSED, 0);
            p += TRANSPOSED ? (to_mn - mn) * ld + (to_k - k) : (to_k - k) * ld + (to_mn - mn);
            p = (const float *)opaque((int64_t)p);
        }
    }
}

/* Fetch this thread's elements of a tile of WIDTH x BK, of which `extent` x `depth` exist. p is the
 * thread's first element, for 16-byte reads if `wide`. */
template <int WIDTH, int BK, int WARPS, bool TRANSPOSED>
static __device__ __forceinline__ void fetch(float (&x)[WIDTH * BK / WARPS / 32],
                                             const float *__restrict__ p, int64_t ld, int wide,
                                             int64_t extent, unsigned depth)
{
    const unsigned PIECES = WIDTH * BK / 128 / WARPS;
    ld = opaque(ld);
    if (extent < WIDTH || depth < BK) {
        const unsigned thread = opaque(threadIdx.x) % (32 * WARPS);
        p += fetch_offset<WIDTH, TRANSPOSED>(thread, ld, 0);
        p -= fetch_offset<WIDTH, TRANSPOSED>(thread, ld, wide);
        fetch_narrow<WIDTH, BK, WARPS, TRANSPOSED, true>(x, p, ld, extent, depth);
    } else if (!wide) {
        fetch_narrow<WIDTH, BK, WARPS, TRANSPOSED, false>(x, p, ld, extent, depth);
    } else {
#pragma unroll
        for (unsigned i = 0; i < PIECES; i++) {
            const unsigned k = tilemm__fetch_k(i * WARPS, 0, 0, WIDTH, TRANSPOSED, 1);
            const unsigned mn = tilemm__fetch_mn(i * WARPS, 0, 0, WIDTH, TRANSPOSED, 1);
            unpack(x + 4 * i,
                   __ldg((const float4 *)(p + (TRANSPOSED ? mn * ld + k : k * ld + mn))));
        }
    }
}

/* Store in a shared tile what fetch() has read. */
template <int WIDTH, int BK, int WARPS, bool TRANSPOSED>
static __device__ __forceinline__ void store(float *s, const float (&x)[WIDTH * BK / WARPS / 32],
                                             int wide, unsigned depth)
{
    const unsigned PIECES = WIDTH * BK / 128 / WARPS;
    const unsigned thread = opaque(threadIdx.x) % (32 * WARPS);
    const unsigned warp = thread / 32, lane = thread % 32;
    const bool as_wide = wide && depth >= BK;
    if (TRANSPOSED ? !as_wide : as_wide) {
#pragma unroll
        for (unsigned i = 0; i < PIECES; i++) {
            const unsigned k =
                tilemm__fetch_k(warp + i * WARPS, lane, 0, WIDTH, TRANSPOSED, !TRANSPOSED);
            const unsigned mn =
                tilemm__fetch_mn(warp + i * WARPS, lane, 0, WIDTH, TRANSPOSED, !TRANSPOSED);
            shared_write(shared_address(s + tilemm__ms_index(k, mn, WIDTH, TRANSPOSED)),
                         pack(x + 4 * i));
        }
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4 * PIECES; i++) {
            const unsigned piece = warp + i / 4 * WARPS;
            const unsigned k = tilemm__fetch_k(piece, lane, i % 4, WIDTH, TRANSPOSED, TRANSPOSED);
            const unsigned mn = tilemm__fetch_mn(piece, lane, i % 4, WIDTH, TRANSPOSED, TRANSPOSED);
            s[tilemm__ms_index(k, mn, WIDTH, TRANSPOSED)] = x[i];
        }
    }
}

template <int QUADS>
static __device__ __forceinline__ void read_fragment(float (&x)[4 * QUADS], const float *s,
                                                     int apart)
{
#pragma unroll
    for (int q = 0; q < QUADS; q++)
        unpack(x + 4 * q, *(const float4 *)(s + q * apart));
}

/* The depth of the next of `steps` steps; small >> 16 is that of the last. */
template <int BK>
static __device__ __forceinline__ unsigned next_depth(unsigned steps, unsigned small)
{
    return opaque(steps) > 1 ? BK : small >> 16;
}

/* Store those of four neighbours in C whose numbers, 0 to 3, are in [begin, end): all or none if
 * `wide`. */
static __device__ __forceinline__ void store_four(float *c, const float *sum, float alpha,
                                                  float beta, bool wide, int begin, int end)
{
    if (wide) {
        if (begin <= 0 && end > 0)
            epilogue_store((float4 *)c, sum, alpha, beta);
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (j >= begin && j < end)
                epilogue_store(c + j, sum[j], alpha, beta);
    }
}

template <int BM, int BN, int BK, int QM, int QN, bool TRANSPOSED_A, bool TRANSPOSED_B>
static __device__ __forceinline__ void body(const tilemm__sgemm_ffma_t &problem)
{
    const int WARPS = BM / QM * (BN / QN) / 16 / 32;
    const int WARPS_N = BN / QN / 32;
    const int PART_A = BM * BK / WARPS / 32, PART_B = BN * BK / WARPS / 32;
    /* The buffers of one tile are a power of two apart: exclusive or moves between them. */
    __shared__ __align__(16) float ms[2 * BM * BK];
    __shared__ __align__(16) float ns[2 * BN * BK];
    static_assert(BK % CHAIN == 0, "a k-step is whole chains");
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    const tile_place_t place = tile_place<BM, BN>(problem, problem.first + blockIdx.x);
    const int64_t m0 = place.m0, n0 = place.n0, k0 = place.k0, depth = place.depth;
    const uint64_t split = place.split, matrix = place.matrix;
    unsigned steps = (unsigned)((depth - 1) / BK); /* after the first */

    const float *a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    const int wide_a = problem.aligned_a, wide_b = problem.aligned_b;
    const int64_t step_a = TRANSPOSED_A ? BK : BK * args.lda,
                  step_b = TRANSPOSED_B ? BK : BK * args.ldb;

    a += TRANSPOSED_A ? m0 * args.lda + k0 : k0 * args.lda + m0;
    b += TRANSPOSED_B ? n0 * args.ldb + k0 : k0 * args.ldb + n0;
    a += fetch_offset<BM, TRANSPOSED_A>(threadIdx.x, args.lda, wide_a);
    b += fetch_offset<BN, TRANSPOSED_B>(threadIdx.x, args.ldb, wide_b);

    /* This thread's squares begin at (m, n), (m + BM / QM, n), (m, n + BN / QN) ... of the tile. */
    const unsigned m = warp / WARPS_N * 16 + tilemm__square_m(lane) * 4;
    const unsigned n = warp % WARPS_N * 32 + tilemm__square_n(lane) * 4;

    /* For the end, in few registers: where the squares go, in C or in the partial product; and in
     * one word the first row and column that no other tile has, and the depth of the last step. */
    float *c;

    if (problem.splits > 1) {
        c = problem.partial + (split * args.batch_count + matrix) * (args.m * args.n);
        c += (m0 + m) * args.n + n0 + n;
    } else {
        c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
        c += (m0 + m) * args.ldc + n0 + n;
    }
    c = (float *)opaque((int64_t)c);

    const unsigned small =
        opaque((unsigned)(place.begin_m - m0) | (unsigned)(place.begin_n - n0) << 8 |
               (unsigned)(depth - (int64_t)steps * BK) << 16);

    const bool CHAINS = QM * QN == 1;
    float sum[4 * QM][4 * QN], total[4 * QM][4 * QN]; /* total is used where CHAINS */
    unsigned buffer_a = 0, buffer_b = 0;

#pragma unroll
    for (int i = 0; i < 4 * QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * QN; j++)
            sum[i][j] = total[i][j] = 0.0f;

    {
        const unsigned now = steps ? BK : small >> 16;
        float next_a[PART_A], next_b[PART_B];
        fetch<BM, BK, WARPS, TRANSPOSED_A>(next_a, a, args.lda, wide_a, args.m, now);
        fetch<BN, BK, WARPS, TRANSPOSED_B>(next_b, b, args.ldb, wide_b, args.n, now);
        store<BM, BK, WARPS, TRANSPOSED_A>(ms, next_a, wide_a, now);
        store<BN, BK, WARPS, TRANSPOSED_B>(ns, next_b, wide_b, now);
    }
    __syncthreads();

    for (;;) {
        float next_a[PART_A], next_b[PART_B];
        if (steps) {
            a += step_a;
            b += step_b;
            fetch<BM, BK, WARPS, TRANSPOSED_A>(next_a, a, args.lda, wide_a, args.m,
                                               next_depth<BK>(steps, small));
        }
#pragma unroll
        for (unsigned k = 0; k < BK; k++) {
            float am[4 * QM], bn[4 * QN];
            if (k == BK / 2 && steps) {
                store<BM, BK, WARPS, TRANSPOSED_A>(ms + (buffer_a ^ (BM * BK)), next_a, wide_a,
                                                   next_depth<BK>(steps, small));
                fetch<BN, BK, WARPS, TRANSPOSED_B>(next_b, b, args.ldb, wide_b, args.n,
                                                   next_depth<BK>(steps, small));
            }
            read_fragment<QM>(am, ms + buffer_a + tilemm__ms_index(k, opaque(m), BM, TRANSPOSED_A),
                              BM / QM);
            read_fragment<QN>(bn, ns + buffer_b + tilemm__ms_index(k, opaque(n), BN, TRANSPOSED_B),
                              BN / QN);
#pragma unroll
            for (int i = 0; i < 4 * QM; i++)
#pragma unroll
                for (int j = 0; j < 4 * QN; j++) {
                    sum[i][j] = fmaf(am[i], bn[j], sum[i][j]);
                    if (CHAINS && k % CHAIN == CHAIN - 1) {
                        total[i][j] += sum[i][j];
                        sum[i][j] = 0.0f;
                    }
                }
        }
        if (!steps)
            break;
        buffer_a ^= BM * BK;
        buffer_b ^= BN * BK;
        store<BN, BK, WARPS, TRANSPOSED_B>(ns + buffer_b, next_b, wide_b,
                                           next_depth<BK>(steps, small));
        steps--;
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4 * QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * QN && !CHAINS; j++)
            sum[i][j] += 0.0f; /* no -0 */

    /* Store the elements that no other tile has. */
    const bool whole = problem.splits == 1;
    const float alpha = whole ? args.alpha : 1.0f, beta = whole ? args.beta : 0.0f;
    const int64_t ldc = whole ? args.ldc : args.n;
    const int new_m = (int)(small & 255) - (int)m, new_n = (int)(small >> 8 & 255) - (int)n;
    const int end_m = (int)min((int64_t)BM, args.m) - (int)m;
    const int end_n = (int)min((int64_t)BN, args.n) - (int)n;

#pragma unroll
    for (int i = 0; i < 4 * QM; i++) {
        const int row = i / 4 * (BM / QM) + i % 4;
        if (row < new_m || row >= end_m)
            continue;
#pragma unroll
        for (int q = 0; q < QN; q++) {
            const int col = q * (BN / QN);
            store_four(c + row * ldc + col, (CHAINS ? total[i] : sum[i]) + 4 * q, alpha, beta,
                       problem.aligned_c, new_n - col, end_n - col);
        }
    }
}

/* ---- variants ------------------------------------------------------------------------------- */

/* A's rows run along k unless it is transposed, B's do if it is. */
#define KERNEL(name, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)          \
    static __global__ void __launch_bounds__((m) / (quads_m) * ((n) / (quads_n)) / 16, blocks)     \
        name(const __grid_constant__ tilemm__sgemm_ffma_t problem)                                 \
    {                                                                                              \
        static_assert((groups) == 1 && (stages) == 2, "what body() does");                         \
        body<m, n, k, quads_m, quads_n, !(trans_a), (trans_b) != 0>(problem);                      \
    }
TILEMM__SGEMM_FFMA_SM75_ROWS(KERNEL)

typedef struct {
    void (*kernel)(tilemm__sgemm_ffma_t);
    unsigned threads;
} variant_t;

#define VARIANT(name, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)         \
    {name, (m) / (quads_m) * ((n) / (quads_n)) / 16},
static const variant_t variants[] = {TILEMM__SGEMM_FFMA_SM75_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_ffma_sm75_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    const variant_t &row = variants[problem->variant - TILEMM__sgemm_ffma_sm75_128x128x16_nn];
    return launch_grids(row.kernel, *problem, {0, row.threads, 0, 1, false}, stream);
}
