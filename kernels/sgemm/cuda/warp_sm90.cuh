/* warp_sm90.cuh - what a warp does with steps of k of its tile of an invariant product: copies
 * them, makes planes of both operands in registers, and multiplies these by mma.sync. For
 * warp_sm90.cu, team_sm90.cu and resident_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * On compute capability 9.0 mma.sync adds as wgmma does, bit by bit, and needs neither planes in
 * shared memory nor four warps in step. A warp copies steps of both operands to shared memory of
 * its own, some ahead.
 *
 * Layout: tilemm__warp_index(). A lane has four neighbouring k of each half of a step, whose order
 * changes no sum, of lines of both operands (tilemm__warp_line()).
 *
 * Padding: lines and k that are not there are copied as zeros. Their sums are not stored. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_WARP_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_WARP_SM90_CUH

#include <cuda_runtime.h>

#include "bf16_pair.cuh"
#include "half_lines.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "warp.h"

typedef tilemm__sgemm_warp_t problem_t;

enum {
    BK = TILEMM__SGEMM_WARP_K,
    HALVES = 2,  /* of a step, of a product's 16 of k */
    OF_LANE = 4, /* k of a half */
    AHEAD = 16   /* rows of the tile whose registers suffice to take numbers while products run */
};
static_assert((int)HALF_FIRST == (int)BK, "the first step has the scale");

/* A tile of M_TILES x N_TILES products of 16 x 8. A lane has A_LINES lines of op(A), and B_LINES of
 * op(B). */
template <int M_TILES_, int N_TILES_, bool A_K_, bool B_K_>
struct shape_t {
    static const int M_TILES = M_TILES_, N_TILES = N_TILES_;
    static const bool A_K = A_K_, B_K = B_K_;
    static const int M = 16 * M_TILES, N = 8 * N_TILES;
    static const int A_LINES = M / 8, B_LINES = N / 8;
    static const int WORDS_A = tilemm__warp_words(M, A_K); /* of a step */
    static const int STEP = WORDS_A + tilemm__warp_words(N, B_K);
};

/* An operand's lines of a warp's tile, from its first element on. */
typedef struct {
    const float *from;
    int64_t ld;
    int lines; /* that exist, perhaps less than 1 */
    bool wide;
} operand_t;

/* ---- a step --------------------------------------------------------------------------------- */

/* Copies steps of LINES lines of an operand, one after the other: a lane 16 bytes of every WIDE-th
 * line, or k; or 4 bytes, if not aligned. An operand of which many blocks have the same lines stays
 * in the L1 cache if it is SHARED: else all would read from one place in the L2 cache. */
template <int LINES, bool ALONG_K, bool SHARED>
struct copier_t {
    static const int WIDE = ALONG_K ? 4 : 32 / (LINES / 4); /* to the next line, or k, of a lane */
    static const int NARROW = ALONG_K ? 1 : 32 / LINES;
    static_assert(ALONG_K || NARROW <= 4, "at most a group of k that is padded");
    const float *base, *from; /* of the operand; the lane's first number of the next step */
    int64_t ld;
    int valid;           /* bytes of a lane's that exist, of a whole step */
    int lines;           /* that exist from the lane's first one on */
    bool wide, is_whole; /* all lines exist */

    __device__ __forceinline__ copier_t(const operand_t &op, int k)
        : base(op.from), ld(op.ld), wide(op.wide), is_whole(op.lines == LINES)
    {
        const int lane = (int)threadIdx.x % 32, unit = wide ? 4 : 1;
        const int run = (ALONG_K ? (int)BK : LINES) / unit; /* lanes side by side */
        const int inside = lane % run * unit, outside = lane / run;
        from = base + (ALONG_K ? outside * ld + k + inside : (k + outside) * ld + inside);
        lines = op.lines - (ALONG_K ? outside : inside);
        valid = ALONG_K ? unit * 4 : min(max(lines, 0), unit) * 4;
    }

    /* Leave so much of k out, before the next step. */
    __device__ __forceinline__ void skip(int k)
    {
        from += ALONG_K ? (int64_t)k : k * ld;
    }

    /* Copy the next step, of which `depth` of k exist. The first ones have no code for whole steps:
     * it would be read once. */
    __device__ __forceinline__ void copy(unsigned to, int depth, bool is_first)
    {
        if (__builtin_expect(wide && !is_first && is_whole && depth >= BK, 1))
            copy_step<16, WIDE, true>(to, depth);
        else if (!wide)
            copy_step<4, NARROW, false>(to, depth);
        else
            copy_step<16, WIDE, false>(to, depth);
        from += ALONG_K ? (int64_t)BK : BK * ld;
    }

    /* WHOLE: all lines and k exist. */
    template <int BYTES, int NEXT, bool WHOLE>
    __device__ __forceinline__ void copy_step(unsigned to, int depth)
    {
        const int lane = (int)threadIdx.x % 32, unit = BYTES / 4;
        const int run = (ALONG_K ? (int)BK : LINES) / unit;
        const int inside = lane % run * unit, outside = lane / run;
        const int k = ALONG_K ? inside : outside, line = ALONG_K ? outside : inside;
        const int here = ALONG_K ? max(min(valid, (depth - k) * 4), 0) : valid;
        const int64_t ld = opaque(this->ld); /* no registers for its multiples */
        const float *now = from;
        /* Of even lines and of odd ones, which are swizzled. */
        const unsigned first[2] = {to + tilemm__warp_index(k, line, LINES, ALONG_K) * 4,
                                   to + (k ^ 16) * 4};
#pragma unroll 8
        for (int i = 0; i < LINES * BK / unit / 32; i++) {
            const bool exists =
                WHOLE || (ALONG_K ? here > 0 && i * NEXT < lines : k + i * NEXT < depth);
            const int next =
                ALONG_K ? i * NEXT * (int)BK : tilemm__warp_index(i * NEXT, 0, LINES, false);
            copy_async_zero<BYTES, SHARED>(first[ALONG_K && NEXT == 1 ? i % 2 : 0] + next * 4,
                                           exists && here > 0 ? now : base,
                                           WHOLE    ? BYTES
                                           : exists ? here
                                                    : 0);
            now += NEXT * ld;
        }
    }
};

/* A lane's numbers of half a step, of each line; and of a step. */
template <int LINES>
using half_numbers_t = float[LINES][OF_LANE];

template <int LINES>
using numbers_t = float[HALVES][LINES][OF_LANE];

template <int LINES, bool ALONG_K>
static __device__ __forceinline__ void take_half(const float *step, int half,
                                                 half_numbers_t<LINES / 8> &x)
{
    const int lane = (int)threadIdx.x % 32, k = half * 16 + lane % 4 * OF_LANE;
    const int line = tilemm__warp_line(lane / 4, 0, LINES, ALONG_K);
    const float *const from = step + tilemm__warp_index(k, line, LINES, ALONG_K);
#pragma unroll
    for (int j = 0; j < LINES / 8 && ALONG_K; j++)
        unpack(x[j], *(const float4 *)(from + j * 8 * BK));
#pragma unroll
    for (int i = 0; i < OF_LANE && !ALONG_K; i++) {
        float of_k[LINES / 8];
        if (LINES == 32)
            unpack(of_k, *(const float4 *)(from + i * LINES));
        else if (LINES == 16)
            *(float2 *)of_k = *(const float2 *)(from + i * LINES);
        else
            of_k[0] = from[i * LINES];
#pragma unroll
        for (int j = 0; j < LINES / 8; j++)
            x[j][i] = of_k[j];
    }
}

template <int LINES, bool ALONG_K>
static __device__ __forceinline__ void take(const float *step, numbers_t<LINES / 8> &x)
{
#pragma unroll
    for (int half = 0; half < HALVES; half++)
        take_half<LINES, ALONG_K>(step, half, x[half]);
}

/* A warp's steps of both operands: a ring of STAGES of them in shared memory. */
template <typename S, int STAGES>
struct steps_t {
    copier_t<S::M, S::A_K, false> a;
    copier_t<S::N, S::B_K, true> b;
    float *ring;
    unsigned to, from; /* where the next one is copied to, and taken from */
    numbers_t<S::A_LINES> numbers_a;
    numbers_t<S::B_LINES> numbers_b;

    __device__ __forceinline__ steps_t(const operand_t &a, const operand_t &b, int k, float *ring)
        : a(a, k), b(b, k), ring(ring), to(0), from(0)
    {
    }

    /* Copy the next step, of which `depth` of k exist, if there is one. All lanes have taken the
     * step that was there. */
    __device__ __forceinline__ void copy(bool is_there, int depth, bool is_first)
    {
        if (is_there) {
            const unsigned address = shared_address(ring) + to * S::STEP * 4;
            a.copy(address, depth, is_first);
            b.copy(address + S::WORDS_A * 4, depth, is_first);
        }
        copy_async_commit();
        to = to + 1 == STAGES ? 0 : to + 1;
    }

    __device__ __forceinline__ void skip(int k)
    {
        a.skip(k);
        b.skip(k);
    }

    /* Wait for the next step. */
    __device__ __forceinline__ const float *next(void)
    {
        const float *const step = ring + from * S::STEP;
        copy_async_wait<STAGES - 1>();
        __syncwarp();
        from = from + 1 == STAGES ? 0 : from + 1;
        return step;
    }

    /* Take the numbers of the next step. */
    __device__ __forceinline__ void take_next(void)
    {
        const float *const step = next();
        take<S::M, S::A_K>(step, numbers_a);
        take<S::N, S::B_K>(step + S::WORDS_A, numbers_b);
    }
};

/* ---- planes --------------------------------------------------------------------------------- */

/* Three BF16 planes of 2^16 times the numbers. A line whose largest |h| is MOST or more has numbers
 * that overflow. */
struct bf16_t {
    static const int PLANES = 3;
    static const bool HALF = false;
    enum { SCALE_LOG2 = 16, MOST = (127 + 61) << 7 };
    typedef unsigned line_t; /* the largest |h|, in either half; the signs are any */

    static __device__ __forceinline__ void begin(line_t &line, unsigned)
    {
        line = 0;
    }

    static __device__ __forceinline__ void convert(const float (&x)[OF_LANE], line_t &line,
                                                   unsigned (&planes)[PLANES][2])
    {
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            float u = x[pair * 2] * (1 << SCALE_LOG2), v = x[pair * 2 + 1] * (1 << SCALE_LOG2);
#pragma unroll
            for (int p = 0; p < PLANES; p++)
                planes[p][pair] = bf16_plane(u, v);
            bf16_note(planes[0][pair], line);
        }
    }

    static __device__ __forceinline__ float add(float q, float total)
    {
        return fmaf(q, 1.0f / (1ull << 2 * SCALE_LOG2), total);
    }

    /* What of q is not in the sum. */
    static __device__ __forceinline__ float lost(float q, float total, float sum)
    {
        return fmaf(total - sum, (float)(1ull << 2 * SCALE_LOG2), q);
    }
};

/* Two FP16 planes of numbers scaled by the line's power of two. */
struct fp16_t {
    static const int PLANES = 2;
    static const bool HALF = true;
    typedef half_line_t line_t;

    /* `largest`: the bits of the largest number of the first step. */
    static __device__ __forceinline__ void begin(line_t &line, unsigned largest)
    {
        line = {half_scale(largest), 0, 0};
    }

    static __device__ __forceinline__ void convert(const float (&x)[OF_LANE], line_t &line,
                                                   unsigned (&planes)[PLANES][2])
    {
        const bool first = threadIdx.x % 4 < 2; /* which of a lane's pairs HALF_ASKED has */
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            half_pair(x[pair * 2], x[pair * 2 + 1], line.scale, planes[0][pair], planes[1][pair]);
            half_note(planes[0][pair], false, line);
        }
        half_ask(first ? planes[0][0] : planes[0][1], line);
    }

    static __device__ __forceinline__ float add(float q, float total)
    {
        return q + total;
    }
};

/* A lane's planes of half a step: of each line the pairs of k. */
template <typename P, int LINES>
using planes_t = unsigned[P::PLANES][LINES][2];

template <typename P, int LINES>
static __device__ __forceinline__ void convert(const float (&x)[LINES][OF_LANE],
                                               typename P::line_t (&lines)[LINES],
                                               planes_t<P, LINES> &planes)
{
#pragma unroll
    for (int j = 0; j < LINES; j++) {
        unsigned of_line[P::PLANES][2];
        P::convert(x[j], lines[j], of_line);
#pragma unroll
        for (int p = 0; p < P::PLANES; p++)
            planes[p][j][0] = of_line[p][0], planes[p][j][1] = of_line[p][1];
    }
}

/* Begin a part's lines with its first step. */
template <typename P, int LINES>
static __device__ __forceinline__ void begin_lines(const numbers_t<LINES> &x,
                                                   typename P::line_t (&lines)[LINES])
{
#pragma unroll
    for (int j = 0; j < LINES; j++) {
        unsigned largest = 0;
#pragma unroll
        for (int i = 0; i < HALVES * OF_LANE; i++)
            largest = max(largest, __float_as_uint(x[i / OF_LANE][j][i % OF_LANE]) & 0x7fffffff);
#pragma unroll
        for (int apart = 1; apart < 4 && P::HALF; apart *= 2) /* four lanes have a line */
            largest = max(largest, __shfl_xor_sync(~0u, largest, apart));
        P::begin(lines[j], largest);
    }
}

/* What a lane knows of its lines of both operands. */
template <typename S, typename P>
struct lines_t {
    typename P::line_t a[S::A_LINES], b[S::B_LINES];
};

/* ---- products ------------------------------------------------------------------------------- */

template <typename S>
using accumulators_t = float[S::M_TILES][S::N_TILES][4];

/* Call do_element(i, j, e) for each. */
template <typename S, typename DO_ELEMENT>
static __device__ __forceinline__ void for_accumulators(const DO_ELEMENT &do_element)
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                do_element(i, j, e);
}

template <typename S>
static __device__ __forceinline__ void clear(accumulators_t<S> &q)
{
    for_accumulators<S>([&](int i, int j, int e) { q[i][j][e] = 0.0f; });
}

/* If `yes`, which all lanes say, q += x y, of plane x of op(A) and y of op(B), of half a step:
 * without a branch, which would end what the processor fetches ahead. */
template <typename S, typename P>
static __device__ __forceinline__ void multiply(accumulators_t<S> &q,
                                                const unsigned (&x)[S::A_LINES][2],
                                                const unsigned (&y)[S::B_LINES][2], bool yes = true)
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++) {
            const unsigned a[4] = {x[2 * i][0], x[2 * i + 1][0], x[2 * i][1], x[2 * i + 1][1]};
            if (P::HALF)
                mma_fp16(q[i][j], a, y[j], yes);
            else
                mma_bf16(q[i][j], a, y[j], yes);
        }
}

/* The smaller products of half a step, in the order of the caller's A and B. */
template <typename S, typename P>
static __device__ __forceinline__ void
multiply_smaller(accumulators_t<S> &q, const planes_t<P, S::A_LINES> &a,
                 const planes_t<P, S::B_LINES> &b, bool exchanged)
{
    const int L = P::PLANES - 1;
    if (!P::HALF)
        multiply<S, P>(q, a[1], b[1]);
    multiply<S, P>(q, a[0], b[L], !exchanged);
    multiply<S, P>(q, a[L], b[0]);
    multiply<S, P>(q, a[0], b[L], exchanged);
    if (!P::HALF) {
        multiply<S, P>(q, a[1], b[0], exchanged);
        multiply<S, P>(q, a[0], b[1]);
        multiply<S, P>(q, a[1], b[0], !exchanged);
    }
}

/* What a lane has of a part of k. */
template <typename S, typename P>
struct part_t : lines_t<S, P> {
    accumulators_t<S> total;
};

/* Add up q, in its place. If `compensates`, what this loses of BF16 planes' products goes to the
 * next q (Dekker, "A floating-point technique for extending the available precision", 1971). */
template <typename S, typename P>
static __device__ __forceinline__ void add_up(const accumulators_t<S> &q, bool compensates,
                                              accumulators_t<S> &next, part_t<S, P> &part)
{
    for_accumulators<S>([&](int i, int j, int e) {
        const float total = part.total[i][j][e], sum = P::add(q[i][j][e], total);
        if (!P::HALF && compensates)
            next[i][j][e] += bf16_t::lost(q[i][j][e], total, sum);
        part.total[i][j][e] = sum;
    });
}

/* Call multiply_step(k, halves) for the steps from `begin` to `end`. Of a last step with 16 of k or
 * fewer the other half is zeros, which change no sum. */
template <typename MULTIPLY_STEP>
static __device__ __forceinline__ void for_steps(int begin, int end,
                                                 const MULTIPLY_STEP &multiply_step)
{
    int k = begin;
#pragma unroll 1
    for (; end - k > BK / HALVES; k += BK)
        multiply_step(k, HALVES);
    if (k < end)
        multiply_step(k, 1);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Where a tile begins, and what there is of it. */
typedef struct {
    int64_t m, n;
    unsigned matrix;
    int rows, columns;
} tile_t;

/* Tile number `number`, or none of its elements. Tiles along C's shorter side follow each other:
 * they read the same lines of the longer operand, which so comes from memory once. */
template <typename S>
static __device__ __forceinline__ tile_t locate_tile(const problem_t &problem, unsigned number,
                                                     bool exists)
{
    const unsigned matrix = divided(number, problem.by_per_matrix);
    const unsigned inside = number - matrix * problem.per_matrix;
    const unsigned outer = divided(inside, problem.by_tiles_short);
    const unsigned inner = inside - outer * problem.tiles_short;
    const int64_t m = (int64_t)(problem.m_is_short ? inner : outer) * S::M;
    const int64_t n = (int64_t)(problem.m_is_short ? outer : inner) * S::N;
    return {m, n, matrix, exists ? (int)min(problem.args.m - m, (int64_t)S::M) : 0,
            exists ? (int)min(problem.args.n - n, (int64_t)S::N) : 0};
}

/* The lines of op(A), and of op(B), of a tile. */
template <typename S>
static __device__ __forceinline__ operand_t rows_of(const problem_t &problem, const tile_t &tile)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const float *const a =
        args.a_array ? args.a_array[tile.matrix] : args.a + tile.matrix * args.stride_a;
    return {a + tile.m * (S::A_K ? args.lda : 1), args.lda, tile.rows, problem.wide_a != 0};
}

template <typename S>
static __device__ __forceinline__ operand_t columns_of(const problem_t &problem, const tile_t &tile)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const float *const b =
        args.b_array ? args.b_array[tile.matrix] : args.b + tile.matrix * args.stride_b;
    return {b + tile.n * (S::B_K ? args.ldb : 1), args.ldb, tile.columns, problem.wide_b != 0};
}

/* Store an element of C. */
[[maybe_unused]] static __device__ __forceinline__ void
store(const problem_t &problem, const tile_t &tile, int row, int column, float sum)
{
    const tilemm__sgemm_args_t &args = problem.args;
    float *const c =
        args.c_array ? args.c_array[tile.matrix] : args.c + tile.matrix * args.stride_c;
    epilogue_store(c + (tile.m + row) * problem.c_m + (tile.n + column) * problem.c_n, sum,
                   args.alpha, args.beta);
}

/* Where the sum of an element in a part of k goes in the workspace; that of the next part is
 * elements_of_c() further. */
[[maybe_unused]] static __device__ __forceinline__ int64_t elements_of_c(const problem_t &problem)
{
    return problem.args.batch_count * problem.args.m * problem.args.n;
}

[[maybe_unused]] static __device__ __forceinline__ float *
partial_of(const problem_t &problem, const tile_t &tile, int row, int column, int part)
{
    return problem.partial + part * elements_of_c(problem) +
           (int64_t)tile.matrix * problem.args.m * problem.args.n +
           (tile.m + row) * problem.partial_m + (tile.n + column) * problem.partial_n;
}

/* A chain of `count` multiply-adds, of numbers that are `to_x` and `to_y` apart. */
static __device__ __forceinline__ float chain(const float *x, int64_t to_x, const float *y,
                                              int64_t to_y, int count)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        sum = fmaf(*x, *y, sum);
        x += to_x;
        y += to_y;
    }
    return sum;
}

/* An element of a part of k by such a chain. */
template <typename S>
static __device__ __forceinline__ float chain_of(const operand_t &a, const operand_t &b, int row,
                                                 int column, int begin, int end)
{
    return chain(a.from + (S::A_K ? row * a.ld + begin : begin * a.ld + row), S::A_K ? 1 : a.ld,
                 b.from + (S::B_K ? column * b.ld + begin : begin * b.ld + column),
                 S::B_K ? 1 : b.ld, end - begin);
}

/* ---- a lane's elements ---------------------------------------------------------------------- */

/* Row and column of the tile of element e of product i, j. */
template <typename S>
static __device__ __forceinline__ int row_of(int i, int e)
{
    return tilemm__warp_line((int)threadIdx.x % 32 / 4, 2 * i + e / 2, S::M, S::A_K);
}

template <typename S>
static __device__ __forceinline__ int column_of(int j, int e)
{
    return tilemm__warp_line((int)threadIdx.x % 4 * 2 + e % 2, j, S::N, S::B_K);
}

/* What the lanes with column e % 2 of a lane's two have. */
template <typename T>
static __device__ __forceinline__ T of_column(T x, int e)
{
    return __shfl_sync(~0u, x, (threadIdx.x % 4 * 2 + e % 2) * 4);
}

#endif
