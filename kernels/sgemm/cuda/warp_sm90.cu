/* warp_sm90.cu - invariant products in tiles of a warp, by mma.sync: for few tiles, and few rows or
 * columns, which take as long as memory takes to answer (warp.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * On compute capability 9.0 mma.sync adds as wgmma does, bit by bit, and needs neither planes in
 * shared memory nor four warps in step. So a warp has a part of k to itself: it copies steps of
 * both operands to shared memory of its own, STAGES ahead, makes planes of them in registers, and
 * multiplies these. Warps meet once, where the sums of a tile's parts are added up.
 *
 * Layout: tilemm__warp_index(). A lane has four neighbouring k of each half of a step, whose order
 * changes no sum, of lines of both operands (tilemm__warp_line()).
 *
 * Padding: lines and k that are not there are copied as zeros. Their sums are not stored.
 *
 * Assumes: compute capability 9.0; what the host promises in tilemm__sgemm_warp_t. */
#include <cuda_runtime.h>

#include "bf16_pair.cuh"
#include "half_lines.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "warp.h"

typedef tilemm__sgemm_warp_t problem_t;

enum {
    WARPS_LOG2 = TILEMM__SGEMM_WARP_WARPS_LOG2,
    WARPS = 1 << WARPS_LOG2,
    THREADS = 32 * WARPS,
    STAGES = TILEMM__SGEMM_WARP_STAGES,
    BK = TILEMM__SGEMM_WARP_K,
    HALVES = 2, /* of a step, of a product's 16 of k */
    OF_LANE = 4 /* k of a half */
};
static_assert((int)HALF_FIRST == (int)BK, "the first step has the scale");

/* A tile of M_TILES x N_TILES products of 16 x 8. A lane has A_LINES lines of op(A), and B_LINES of
 * op(B). */
template <int M_TILES_, int N_TILES_, bool A_K_, bool B_K_>
struct shape_t {
    static const int M_TILES = M_TILES_, N_TILES = N_TILES_;
    static const bool A_K = A_K_, B_K = B_K_;
    static const int M = 16 * M_TILES, N = 8 * N_TILES, M_LOG2 = M == 32 ? 5 : 4;
    static_assert(M == 1 << M_LOG2, "its logarithm");
    static const int A_LINES = M / 8, B_LINES = N / 8;
    static const int WORDS_A = tilemm__warp_words(M, A_K); /* of a step */
    static const int STEP = WORDS_A + tilemm__warp_words(N, B_K);
    static const int PITCH = N + 1; /* of a tile of sums, which lies where steps were */
    static_assert(M * PITCH <= STEP, "the first step has room for it");
};

/* Dynamic shared memory; after it each warp's steps. */
template <typename S>
struct __align__(16) shared_t
{
    float sums[WARPS][S::M * S::PITCH]; /* of parts before, each tile's */
    unsigned char part_rows[WARPS][S::M], part_columns[WARPS][S::N]; /* classes of a warp's part */
    unsigned char rows[WARPS][S::M], columns[WARPS][S::N];           /* the least of a tile's */
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

    /* Copy the next step, of which `depth` of k exist. The first ones have no code for whole steps:
     * it would be read once. */
    __device__ __forceinline__ void copy(unsigned to, int depth, bool is_first)
    {
        if (!wide)
            copy_step<4, NARROW, false>(to, depth);
        else if (!is_first && is_whole && depth >= BK)
            copy_step<16, WIDE, true>(to, depth);
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

/* A lane's numbers of a step: of each half, of each line. */
template <int LINES>
using numbers_t = float[HALVES][LINES][OF_LANE];

template <int LINES, bool ALONG_K>
static __device__ __forceinline__ void take(const float *step, numbers_t<LINES / 8> &x)
{
    const int lane = (int)threadIdx.x % 32;
    const int line = tilemm__warp_line(lane / 4, 0, LINES, ALONG_K);
#pragma unroll
    for (int half = 0; half < HALVES; half++) {
        const int k = half * 16 + lane % 4 * OF_LANE;
        const float *const from = step + tilemm__warp_index(k, line, LINES, ALONG_K);
#pragma unroll
        for (int j = 0; j < LINES / 8 && ALONG_K; j++)
            unpack(x[half][j], *(const float4 *)(from + j * 8 * BK));
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
                x[half][j][i] = of_k[j];
        }
    }
}

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
        half_note(first ? planes[0][0] : planes[0][1], true, line);
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

/* ---- products ------------------------------------------------------------------------------- */

template <typename S>
using accumulators_t = float[S::M_TILES][S::N_TILES][4];

template <typename S>
static __device__ __forceinline__ void clear(accumulators_t<S> &q)
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                q[i][j][e] = 0.0f;
}

/* q += x y, of plane x of op(A) and y of op(B), of half a step. */
template <typename S, typename P>
static __device__ __forceinline__ void multiply(accumulators_t<S> &q,
                                                const unsigned (&x)[S::A_LINES][2],
                                                const unsigned (&y)[S::B_LINES][2])
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++) {
            const unsigned a[4] = {x[2 * i][0], x[2 * i + 1][0], x[2 * i][1], x[2 * i + 1][1]};
            if (P::HALF)
                mma_fp16(q[i][j], a, y[j]);
            else
                mma_bf16(q[i][j], a, y[j]);
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
    if (exchanged) {
        multiply<S, P>(q, a[L], b[0]);
        multiply<S, P>(q, a[0], b[L]);
    } else {
        multiply<S, P>(q, a[0], b[L]);
        multiply<S, P>(q, a[L], b[0]);
    }
    if (!P::HALF && exchanged) {
        multiply<S, P>(q, a[1], b[0]);
        multiply<S, P>(q, a[0], b[1]);
    } else if (!P::HALF) {
        multiply<S, P>(q, a[0], b[1]);
        multiply<S, P>(q, a[1], b[0]);
    }
}

/* What a lane has of a part of k. */
template <typename S, typename P>
struct part_t {
    accumulators_t<S> total;
    typename P::line_t a[S::A_LINES], b[S::B_LINES];
};

/* Add up q, in its place. */
template <typename S, typename P>
static __device__ __forceinline__ void add_up(const accumulators_t<S> &q, part_t<S, P> &part)
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                part.total[i][j][e] = P::add(q[i][j][e], part.total[i][j][e]);
}

/* Multiply the part of k from `begin` to `end`. `ring`: the warp's steps. */
template <typename S, typename P>
static __device__ __forceinline__ void multiply_part(const operand_t &a, const operand_t &b,
                                                     int begin, int end, bool exchanged,
                                                     float *ring, part_t<S, P> &part)
{
    copier_t<S::M, S::A_K, false> copier_a(a, begin);
    copier_t<S::N, S::B_K, true> copier_b(b, begin);
    numbers_t<S::A_LINES> numbers_a; /* of step k */
    numbers_t<S::B_LINES> numbers_b;
    accumulators_t<S> q = {};
    int copied = begin;
    unsigned to = 0, from = 0;
    const auto copy = [&](bool is_first) {
        if (copied < end) {
            const unsigned address = shared_address(ring) + to * S::STEP * 4;
            copier_a.copy(address, end - copied, is_first);
            copier_b.copy(address + S::WORDS_A * 4, end - copied, is_first);
        }
        copy_async_commit();
        copied += BK;
        to = to + 1 == STAGES ? 0 : to + 1;
    };
    const auto take_step = [&] {
        const float *const step = ring + from * S::STEP;
        copy_async_wait<STAGES - 1>();
        __syncwarp();
        take<S::M, S::A_K>(step, numbers_a);
        take<S::N, S::B_K>(step + S::WORDS_A, numbers_b);
        from = from + 1 == STAGES ? 0 : from + 1;
    };
    clear<S>(part.total);
#pragma unroll 1
    for (int i = 0; i < STAGES; i++)
        copy(true);
    take_step();
    begin_lines<P>(numbers_a, part.a);
    begin_lines<P>(numbers_b, part.b);
#pragma unroll 1
    for (int k = begin; k < end; k += BK) {
        planes_t<P, S::A_LINES> x[HALVES];
        planes_t<P, S::B_LINES> y[HALVES];
#pragma unroll
        for (int half = 0; half < HALVES; half++) {
            convert<P>(numbers_a[half], part.a, x[half]);
            convert<P>(numbers_b[half], part.b, y[half]);
            multiply<S, P>(q, x[half][0], y[half][0]);
        }
        __syncwarp(); /* all lanes have taken the step */
        copy(false);
        if (k + BK < end)
            take_step();
        add_up<S, P>(q, part);
        clear<S>(q);
#pragma unroll
        for (int half = 0; half < HALVES; half++)
            multiply_smaller<S, P>(q, x[half], y[half], exchanged);
    }
    add_up<S, P>(q, part);
    copy_async_wait_all();
    __syncwarp(); /* the ring is free */
}

/* ---- sums of a part ------------------------------------------------------------------------- */

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

template <typename S, typename P>
static __device__ __forceinline__ void leave_sums(const part_t<S, P> &part, float *sums)
{
#pragma unroll
    for (int i = 0; i < S::M_TILES; i++)
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sums[row_of<S>(i, e) * S::PITCH + column_of<S>(j, e)] = part.total[i][j][e];
}

/* Of FP16 planes: take the sums back from the scales, and leave them with the lines' classes. */
template <typename S>
static __device__ __forceinline__ void
end_part(part_t<S, fp16_t> &part, const operand_t &, const operand_t &, int begin, int end,
         unsigned char *rows, unsigned char *columns, float *sums)
{
    const int group = (int)threadIdx.x % 32 / 4;
    float inverses[S::B_LINES][2];
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++) {
        const unsigned its_class = half_class_of(part.b[j], end - begin);
        const float inverse = half_inverse(part.b[j].scale);
        inverses[j][0] = of_column(inverse, 0), inverses[j][1] = of_column(inverse, 1);
        if (threadIdx.x % 4 == 0)
            columns[tilemm__warp_line(group, j, S::N, S::B_K)] = (unsigned char)its_class;
    }
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++) {
        const unsigned its_class = half_class_of(part.a[i], end - begin);
        const float inverse = half_inverse(part.a[i].scale);
        if (threadIdx.x % 4 == 0)
            rows[tilemm__warp_line(group, i, S::M, S::A_K)] = (unsigned char)its_class;
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &total = part.total[i / 2][j][i % 2 * 2 + e];
                total = __fmul_rn(total, inverse * inverses[j][e]);
            }
    }
    leave_sums(part, sums);
}

/* Of BF16 planes: leave the sums, and in place of those of lines that overflow chains of
 * multiply-adds. */
template <typename S>
static __device__ __forceinline__ void end_part(part_t<S, bf16_t> &part, const operand_t &a,
                                                const operand_t &b, int begin, int end,
                                                unsigned char *, unsigned char *, float *sums)
{
    unsigned rows = 0, columns = 0; /* a bit for each of A_LINES, for two of each of B_LINES */
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++)
        rows |= (bf16_most(part.a[i]) >= bf16_t::MOST) << i;
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++)
        columns |= (bf16_most(part.b[j]) >= bf16_t::MOST) << j;
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) { /* four lanes have a line */
        rows |= __shfl_xor_sync(~0u, rows, apart);
        columns |= __shfl_xor_sync(~0u, columns, apart);
    }
    leave_sums(part, sums);
    if (!__any_sync(~0u, rows | columns))
        return;
    columns = of_column(columns, 0) | of_column(columns, 1) << 16;
#pragma unroll 1
    for (int at = 0; at < S::M_TILES * S::N_TILES * 4; at++) {
        const int i = at / 4 / S::N_TILES, j = at / 4 % S::N_TILES, e = at % 4;
        const int row = row_of<S>(i, e), column = column_of<S>(j, e);
        const bool overflows = rows >> (2 * i + e / 2) & 1 || columns >> (j + e % 2 * 16) & 1;
        if (!overflows || row >= a.lines || column >= b.lines)
            continue;
        const float *x = a.from + (S::A_K ? row * a.ld + begin : begin * a.ld + row);
        const float *y = b.from + (S::B_K ? column * b.ld + begin : begin * b.ld + column);
        float sum = 0.0f;
#pragma unroll 8
        for (int k = begin; k < end; k++) {
            sum = fmaf(*x, *y, sum);
            x += S::A_K ? 1 : a.ld;
            y += S::B_K ? 1 : b.ld;
        }
        sums[row * S::PITCH + column] = sum;
    }
}

/* ---- a block's tiles ------------------------------------------------------------------------ */

/* What a block has: its tiles, and of the warp the tile, its slot, and the operands' lines. */
typedef struct {
    int groups_log2, group, slot; /* tiles below each other; the warp's */
    int64_t m, n, matrix;         /* of the block's first element */
    int rows, columns;            /* that exist */
    operand_t a, b;
    float *rings; /* all warps' steps */
    int ring;     /* words of a warp's */
} block_t;

template <typename S>
static __device__ __forceinline__ block_t locate(const problem_t &problem, unsigned tile,
                                                 float *rings)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned matrix = divided(tile, problem.by_per_matrix);
    const unsigned inside = tile - matrix * problem.per_matrix;
    const unsigned row = divided(inside, problem.by_tiles_n);
    const int warp = (int)threadIdx.x / 32;
    const float *const a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *const b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    block_t block;
    block.groups_log2 = WARPS_LOG2 - problem.slots_log2;
    block.group = warp >> problem.slots_log2;
    block.slot = warp & ((1 << problem.slots_log2) - 1);
    block.matrix = matrix;
    block.m = ((int64_t)row * S::M) << block.groups_log2;
    block.n = (int64_t)(inside - row * problem.tiles_n) * S::N;
    block.rows = (int)min(args.m - block.m, (int64_t)S::M << block.groups_log2);
    block.columns = (int)min(args.n - block.n, (int64_t)S::N);
    const int first = min(block.group * S::M, block.rows - 1); /* an address, if no line is there */
    block.a = {a + (block.m + first) * (S::A_K ? args.lda : 1), args.lda,
               min(block.rows - block.group * S::M, S::M), problem.wide_a != 0};
    block.b = {b + block.n * (S::B_K ? args.ldb : 1), args.ldb, block.columns, problem.wide_b != 0};
    block.rings = rings;
    block.ring = problem.stages * S::STEP;
    return block;
}

/* Multiply a round of parts of k, `length` each: one for each slot, from `first` on, before `end`.
 */
template <typename S, typename P>
static __device__ __forceinline__ void multiply_round(const problem_t &problem,
                                                      const block_t &block, shared_t<S> &shared,
                                                      int first, int end, int length)
{
    const int warp = (int)threadIdx.x / 32, part = first + block.slot;
    float *const ring = block.rings + warp * block.ring;
    if (part < end) {
        const int begin = part * length, last = (int)min(problem.args.k, (int64_t)begin + length);
        part_t<S, P> sums;
        multiply_part<S, P>(block.a, block.b, begin, last, problem.args.exchanged, ring, sums);
        end_part<S>(sums, block.a, block.b, begin, last, shared.part_rows[warp],
                    shared.part_columns[warp], ring);
    }
    __syncthreads();
}

/* Call do_element(row, column, sums) for each element of the block that exists; `sums` are a ring
 * apart, a part's each. Neighbouring threads have neighbours in C's memory. */
template <typename S, typename DO_ELEMENT>
static __device__ __forceinline__ void for_elements(const problem_t &problem, const block_t &block,
                                                    const DO_ELEMENT &do_element)
{
    const int rows_log2 = S::M_LOG2 + block.groups_log2, rows = 1 << rows_log2;
    const bool by_rows = problem.c_n == 1;
    const int count = by_rows ? block.rows * S::N : block.columns << rows_log2;
    for (int i = (int)threadIdx.x; i < count; i += THREADS) {
        const int row = by_rows ? i / S::N : i & (rows - 1);
        const int column = by_rows ? i % S::N : i >> rows_log2;
        /* The warps of a tile follow each other. */
        if (row < block.rows && column < block.columns)
            do_element(row, column,
                       block.rings + ((row / S::M) << problem.slots_log2) * block.ring +
                           row % S::M * S::PITCH + column);
    }
}

/* The sums of `count` parts, added to that of the parts before. */
[[maybe_unused]] static __device__ __forceinline__ float
sum_of(const block_t &block, const float *sums, int count, float before)
{
    for (int slot = 0; slot < count; slot++)
        before += sums[slot * block.ring];
    return before;
}

template <typename S>
static __device__ __forceinline__ void store(const problem_t &problem, const block_t &block,
                                             int row, int column, float sum)
{
    const tilemm__sgemm_args_t &args = problem.args;
    float *const c =
        args.c_array ? args.c_array[block.matrix] : args.c + block.matrix * args.stride_c;
    epilogue_store(c + (block.m + row) * problem.c_m + (block.n + column) * problem.c_n, sum,
                   args.alpha, args.beta);
}

/* ---- FP16 planes ---------------------------------------------------------------------------- */

/* The least classes of the block's lines in `parts` parts. */
template <typename S>
static __device__ __forceinline__ void least_classes(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int parts)
{
    for (int i = (int)threadIdx.x; i < (S::M + S::N) << block.groups_log2; i += THREADS) {
        const int group = i / (S::M + S::N), line = i % (S::M + S::N);
        unsigned least = TILEMM__SGEMM_CARRY_DENSE;
        for (int slot = 0; slot < parts; slot++) {
            const int warp = (group << problem.slots_log2) + slot;
            const unsigned now =
                line < S::M ? shared.part_rows[warp][line] : shared.part_columns[warp][line - S::M];
            least = min(least, now);
        }
        (line < S::M ? shared.rows[group] + line : shared.columns[group] + line - S::M)[0] =
            (unsigned char)least;
    }
    __syncthreads();
}

template <typename S>
static __device__ __forceinline__ bool is_carried(const shared_t<S> &shared, int row, int column)
{
    const int group = row / S::M;
    return shared.rows[group][row % S::M] + shared.columns[group][column] >=
           TILEMM__SGEMM_CARRY_LEAST;
}

/* Returns whether these planes do not carry some element of the block. */
template <typename S>
static __device__ __forceinline__ bool multiply_half(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared)
{
    const int parts = problem.parts_half;
    bool left = false;
    multiply_round<S, fp16_t>(problem, block, shared, 0, parts, problem.k_half);
    least_classes(problem, block, shared, parts);
    for_elements<S>(problem, block, [&](int row, int column, const float *sums) {
        if (is_carried(shared, row, column))
            store<S>(problem, block, row, column, sum_of(block, sums, parts, 0.0f));
        else
            left = true;
    });
    return __syncthreads_or(left);
}

/* ---- BF16 planes ---------------------------------------------------------------------------- */

/* Leave the sums of `count` parts, from `first` on, in the workspace. */
[[maybe_unused]] static __device__ __forceinline__ void leave_parts(const problem_t &problem,
                                                                    const block_t &block, int row,
                                                                    int column, const float *sums,
                                                                    int first, int count)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const int64_t matrix = args.m * args.n, all = args.batch_count * matrix;
    float *const to = problem.partial + first * all + block.matrix * matrix +
                      (block.m + row) * problem.partial_m + (block.n + column) * problem.partial_n;
    for (int slot = 0; slot < count; slot++)
        to[slot * all] = sums[slot * block.ring];
}

/* All elements, or what FP16 planes do not carry. */
template <typename S>
static __device__ __forceinline__ void multiply_bf16(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int split)
{
    const int first = split * problem.parts_split;
    const int end = min(problem.parts, first + problem.parts_split);
#pragma unroll 1
    for (int part = first; part < end; part += 1 << problem.slots_log2) {
        const int count = min(1 << problem.slots_log2, end - part);
        multiply_round<S, bf16_t>(problem, block, shared, part, end, problem.k_part);
        for_elements<S>(problem, block, [&](int row, int column, const float *sums) {
            if (problem.splits > 1) {
                leave_parts(problem, block, row, column, sums, part, count);
                return;
            }
            float &before = shared.sums[row / S::M][row % S::M * S::PITCH + column];
            const float sum =
                problem.parts == 1 ? *sums : sum_of(block, sums, count, part > 0 ? before : 0.0f);
            if (part + count < end)
                before = sum;
            else if (!problem.half || !is_carried(shared, row, column))
                store<S>(problem, block, row, column, sum);
        });
        __syncthreads();
    }
}

template <typename S>
static __device__ __forceinline__ void body(const problem_t &problem)
{
    extern __shared__ __align__(16) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const unsigned tile = divided(blockIdx.x, problem.by_splits);
    wait_for_previous();
    const block_t block = locate<S>(problem, tile, (float *)(&shared + 1));
    if (!problem.half || multiply_half<S>(problem, block, shared))
        multiply_bf16<S>(problem, block, shared, (int)(blockIdx.x - tile * problem.splits));
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, m, n, blocks)                                               \
    typedef shape_t<(m) / 16, (n) / 8, !(trans_a), (trans_b) != 0> name##_t;                       \
    KERNEL_OF(name, (THREADS, ROOM_FOR(blocks)), (const __grid_constant__ problem_t problem),      \
              body<name##_t>(problem))
TILEMM__SGEMM_WARP_ROWS(KERNEL)

extern "C" int tilemm__sgemm_warp_launch(const problem_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name:                                                                           \
        return launch_kernel(name,                                                                 \
                             {problem->blocks, THREADS,                                            \
                              sizeof(shared_t<name##_t>) +                                         \
                                  WARPS * problem->stages * name##_t::STEP * sizeof(float),        \
                              1, true},                                                            \
                             (cudaStream_t)stream, *problem);
        TILEMM__SGEMM_WARP_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
