/* team_sm90.cu - invariant products of few tiles with a long k, by mma.sync: all warps of a block
 * share a part of k (warp.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule adds one step of k after the other to a part's sum. But what a step adds, q, is of that
 * step's large products and of the smaller ones of the step before, no more. So in a round each
 * warp multiplies a few steps that follow each other (warp_sm90.cuh), and leaves their q in shared
 * memory; the first one when it has the smaller products from the warp before. Then a thread adds
 * up an element's q, in their order.
 *
 * A tile has a block for each part of k: a cluster; with many parts of BF16 planes the workspace
 * has their sums.
 *
 * Assumes: compute capability 9.0; what the host promises in tilemm__sgemm_warp_t. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "warp.h"
#include "warp_sm90.cuh"

enum {
    STAGES = 3, /* steps that a warp has under way */
    PARTS = 4   /* of k, of FP16 planes */
};

/* A row of variants.h: a tile of a warp; the warps, and the steps of each in a round, at most. */
template <int M_TILES, int N_TILES, bool A_K, bool B_K, int WARPS_, int EACH_>
struct team_t : shape_t<M_TILES, N_TILES, A_K, B_K> {
    typedef shape_t<M_TILES, N_TILES, A_K, B_K> S;
    static const int WARPS = WARPS_, THREADS = 32 * WARPS, EACH = EACH_;
    static const int ELEMENTS = S::M * S::N, LINES = S::M + S::N;
    static const int OF_THREAD = (ELEMENTS + THREADS - 1) / THREADS; /* elements */
    static const int CARRIED = WARPS * EACH + 1;                     /* a place of q */
    static const int OF_WARP = (LINES + WARPS - 1) / WARPS;          /* lines */
    static_assert(LINES <= THREADS, "a thread for each line");
};

/* Dynamic shared memory; after it each warp's steps. Lines: rows, then columns. */
template <typename S>
struct __align__(16) shared_t
{
    /* Of the steps of a round, and of the one after; and what the next round begins with. */
    float q[S::CARRIED + 1][S::ELEMENTS];
    float total[S::ELEMENTS];   /* of a part, for the cluster */
    float classes[S::LINES];    /* in a part, for the cluster */
    unsigned largest[S::LINES]; /* number of a part's first step, its bits */
    int near[S::LINES];
    unsigned most[S::LINES];  /* largest |h| */
    unsigned least[S::LINES]; /* class in all parts */
};

/* What a block has. */
typedef struct {
    tile_t tile;
    operand_t a, b;
    float *rings; /* all warps' steps */
} block_t;

/* Where a thread's element i lies in q, `total` and C's tile: elements lie as lanes of a warp have
 * them, 32 lanes side by side. */
template <typename S>
static __device__ __forceinline__ int index_of(int i)
{
    return i * S::THREADS + (int)threadIdx.x;
}

template <typename S>
static __device__ __forceinline__ int row_at(int index)
{
    const int of_lane = index / 32;
    return row_of<S>(of_lane / 4 / S::N_TILES, of_lane % 4);
}

template <typename S>
static __device__ __forceinline__ int column_at(int index)
{
    const int of_lane = index / 32;
    return column_of<S>(of_lane / 4 % S::N_TILES, of_lane % 4);
}

/* Call do_element(i, row, column) for a thread's elements that exist. */
template <typename S, typename DO_ELEMENT>
static __device__ __forceinline__ void for_elements(const block_t &block,
                                                    const DO_ELEMENT &do_element)
{
#pragma unroll
    for (int i = 0; i < S::OF_THREAD; i++) {
        const int index = index_of<S>(i);
        const int row = row_at<S>(index), column = column_at<S>(index);
        if (index < S::ELEMENTS && row < block.tile.rows && column < block.tile.columns)
            do_element(i, row, column);
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Find the largest number of each line in the first step of a part. */
template <typename S>
static __device__ __forceinline__ void find_largest(const block_t &block, shared_t<S> &shared,
                                                    int begin, int end)
{
    const int warp = (int)threadIdx.x / 32, k = begin + (int)threadIdx.x % 32;
    float x[S::OF_WARP];
#pragma unroll
    for (int i = 0; i < S::OF_WARP; i++) {
        const int line = warp + i * S::WARPS, column = line - S::M;
        const bool is_row = line < S::M;
        const bool exists =
            k < end && (is_row ? line < block.tile.rows : column < block.tile.columns);
        const float *const from =
            is_row ? block.a.from + (S::A_K ? line * block.a.ld + k : k * block.a.ld + line)
                   : block.b.from + (S::B_K ? column * block.b.ld + k : k * block.b.ld + column);
        x[i] = exists ? *from : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < S::OF_WARP; i++) {
        const unsigned largest = __reduce_max_sync(~0u, __float_as_uint(x[i]) & 0x7fffffff);
        if (warp + i * S::WARPS < S::LINES)
            shared.largest[warp + i * S::WARPS] = largest;
    }
}

template <typename S, typename P>
static __device__ __forceinline__ void begin_lines(const shared_t<S> &shared, lines_t<S, P> &lines)
{
    const int group = (int)threadIdx.x % 32 / 4;
#pragma unroll
    for (int j = 0; j < S::A_LINES; j++)
        P::begin(lines.a[j], shared.largest[tilemm__warp_line(group, j, S::M, S::A_K)]);
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++)
        P::begin(lines.b[j], shared.largest[S::M + tilemm__warp_line(group, j, S::N, S::B_K)]);
}

/* Add what a warp has of a line to what others have. */
template <typename S>
static __device__ __forceinline__ void note_line(const half_line_t &line, int at,
                                                 shared_t<S> &shared)
{
    int near;
    unsigned most;
    half_gather<4>(line, near, most);
    if (threadIdx.x % 4 == 0) {
        atomicAdd(&shared.near[at], near);
        atomicMax(&shared.most[at], most);
    }
}

template <typename S>
static __device__ __forceinline__ void note_line(unsigned line, int at, shared_t<S> &shared)
{
    atomicMax(&shared.most[at], bf16_most(line));
}

template <typename S, typename P>
static __device__ __forceinline__ void note_lines(const lines_t<S, P> &lines, shared_t<S> &shared)
{
    const int group = (int)threadIdx.x % 32 / 4;
#pragma unroll
    for (int j = 0; j < S::A_LINES; j++)
        note_line(lines.a[j], tilemm__warp_line(group, j, S::M, S::A_K), shared);
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++)
        note_line(lines.b[j], S::M + tilemm__warp_line(group, j, S::N, S::B_K), shared);
}

/* ---- a part of k ----------------------------------------------------------------------------- */

/* A thread's sums. */
template <typename S>
using totals_t = float[S::OF_THREAD];

/* Leave q at its place; take it. */
template <typename S>
static __device__ __forceinline__ void leave(const accumulators_t<S> &q, float *to)
{
    for_accumulators<S>([&](int i, int j, int e) {
        to[((i * S::N_TILES + j) * 4 + e) * 32 + threadIdx.x % 32] = q[i][j][e];
    });
}

template <typename S>
static __device__ __forceinline__ void take_q(accumulators_t<S> &q, const float *from)
{
    for_accumulators<S>([&](int i, int j, int e) {
        q[i][j][e] = from[((i * S::N_TILES + j) * 4 + e) * 32 + threadIdx.x % 32];
    });
}

/* Keep a step's large planes. */
template <typename S>
static __device__ __forceinline__ void
keep(const unsigned (&x)[S::A_LINES][2], const unsigned (&y)[S::B_LINES][2],
     unsigned (&first_a)[S::A_LINES][2], unsigned (&first_b)[S::B_LINES][2])
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < S::A_LINES; j++)
            first_a[j][i] = x[j][i];
#pragma unroll
        for (int j = 0; j < S::B_LINES; j++)
            first_b[j][i] = y[j][i];
    }
}

/* A thread's elements: add `count` steps' q, from the first place on. */
template <typename S, typename P>
static __device__ __forceinline__ void add_up(const shared_t<S> &shared, int count,
                                              totals_t<S> &total)
{
#pragma unroll
    for (int i = 0; i < S::OF_THREAD; i++)
        if (index_of<S>(i) < S::ELEMENTS)
#pragma unroll 8
            for (int step = 0; step < count; step++)
                total[i] = P::add(shared.q[step][index_of<S>(i)], total[i]);
}

/* Multiply the part of k from `begin` to `end`. In a round each warp has `each` steps; those beyond
 * the end are zeros, and what these add is not added up. */
template <typename S, typename P>
static __device__ __forceinline__ void multiply_part(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int begin, int end,
                                                     totals_t<S> &total)
{
    const int warp = (int)threadIdx.x / 32, count = (end - begin + BK - 1) / BK;
    const int rounds = (count + S::WARPS * S::EACH - 1) / (S::WARPS * S::EACH);
    const int each = (count + S::WARPS * rounds - 1) / max(S::WARPS * rounds, 1);
    const bool exchanged = problem.args.exchanged != 0;
    const int gap = (S::WARPS - 1) * each * BK; /* to the warp's next round */
    const int limit = begin + rounds * S::WARPS * each * BK;
    int to_copy = begin + warp * each * BK, of_round = 0;
    steps_t<S, STAGES> steps(block.a, block.b, to_copy, block.rings + warp * STAGES * S::STEP);
    const auto copy = [&](bool is_first) {
        steps.copy(to_copy < limit, end - to_copy, is_first);
        to_copy += BK;
        if (++of_round == each) {
            steps.skip(gap);
            to_copy += gap;
            of_round = 0;
        }
    };
    lines_t<S, P> lines;
    accumulators_t<S> q = {};
#pragma unroll
    for (int i = 0; i < S::OF_THREAD; i++)
        total[i] = 0.0f;
    if (count <= 0)
        return;
#pragma unroll 1
    for (int i = 0; i < STAGES; i++)
        copy(true);
    if (threadIdx.x < S::LINES)
        shared.near[threadIdx.x] = 0, shared.most[threadIdx.x] = 0;
    if (P::HALF)
        find_largest<S>(block, shared, begin, end);
    if (warp == 0)
        leave<S>(q, shared.q[S::CARRIED]);
    __syncthreads();
    begin_lines<S, P>(shared, lines);
    steps.take_next();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        unsigned first_a[HALVES][S::A_LINES][2], first_b[HALVES][S::B_LINES][2]; /* large planes */
        float(*const own)[S::ELEMENTS] = &shared.q[warp * each];
#pragma unroll 1
        for (int i = 0; i < each; i++) {
            planes_t<P, S::A_LINES> x[HALVES];
            planes_t<P, S::B_LINES> y[HALVES];
#pragma unroll
            for (int half = 0; half < HALVES; half++) {
                convert<P>(steps.numbers_a[half], lines.a, x[half]);
                convert<P>(steps.numbers_b[half], lines.b, y[half]);
                if (i > 0)
                    multiply<S, P>(q, x[half][0], y[half][0]);
                else
                    keep<S>(x[half][0], y[half][0], first_a[half], first_b[half]);
            }
            __syncwarp(); /* all lanes have taken the step */
            copy(false);
            if (i + 1 < each || round + 1 < rounds)
                steps.take_next();
            if (i > 0)
                leave<S>(q, own[i]);
            clear<S>(q);
#pragma unroll
            for (int half = 0; half < HALVES; half++)
                multiply_smaller<S, P>(q, x[half], y[half], exchanged);
        }
        leave<S>(q, own[each]); /* where the next warp's first one will be */
        __syncthreads();
        take_q<S>(q, warp > 0 ? own[0] : shared.q[S::CARRIED]);
#pragma unroll
        for (int half = 0; half < HALVES; half++)
            multiply<S, P>(q, first_a[half], first_b[half]);
        leave<S>(q, own[0]);
        clear<S>(q);
        __syncthreads();
        const int before = round * S::WARPS * each;
        add_up<S, P>(shared, min(S::WARPS * each, count - before) + (round + 1 == rounds), total);
        if (warp == S::WARPS - 1) {
            accumulators_t<S> last;
            take_q<S>(last, own[each]);
            leave<S>(last, shared.q[S::CARRIED]);
        }
        __syncthreads();
    }
    copy_async_wait_all();
    note_lines<S, P>(lines, shared);
    __syncthreads();
}

/* ---- FP16 planes ---------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ bool is_carried(const shared_t<S> &shared, int row, int column)
{
    return shared.least[row] + shared.least[S::M + column] >= TILEMM__SGEMM_CARRY_LEAST;
}

/* Whether this block of the cluster stores an element: each has every PARTS-th of a lane's. */
template <typename S>
static __device__ __forceinline__ bool is_own(int i)
{
    static_assert(S::ELEMENTS / 32 % PARTS == 0, "as many each");
    return index_of<S>(i) / 32 % PARTS == (int)cluster_rank();
}

/* The cluster has the part's sums; other blocks have no use any more for those before. */
template <typename S>
static __device__ __forceinline__ void show_totals(shared_t<S> &shared, const totals_t<S> &total)
{
#pragma unroll
    for (int i = 0; i < S::OF_THREAD; i++)
        if (index_of<S>(i) < S::ELEMENTS)
            shared.total[index_of<S>(i)] = total[i];
    cluster_sync();
}

/* The part that the block has. Returns whether these planes do not carry some element of the tile,
 * the same in all blocks of the cluster. */
template <typename S>
static __device__ __forceinline__ bool multiply_half(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared)
{
    const int begin = (int)cluster_rank() * problem.k_half;
    const int end = (int)min(problem.args.k, (int64_t)begin + problem.k_half);
    const int line = (int)threadIdx.x;
    totals_t<S> total;
    bool left = false;
    multiply_part<S, fp16_t>(problem, block, shared, begin, end, total);
    for_elements<S>(block, [&](int i, int row, int column) {
        total[i] = __fmul_rn(total[i], half_inverse(half_scale(shared.largest[row])) *
                                           half_inverse(half_scale(shared.largest[S::M + column])));
    });
    if (line < S::LINES)
        shared.classes[line] = half_class(half_scale(shared.largest[line]), shared.near[line],
                                          half_asked(end - begin), shared.most[line]);
    show_totals(shared, total);
    if (line < S::LINES) {
        float least = TILEMM__SGEMM_CARRY_DENSE;
        for (int part = 0; part < PARTS; part++)
            least = fminf(least, cluster_read(&shared.classes[line], part));
        shared.least[line] = (unsigned)least;
    }
    __syncthreads();
    for_elements<S>(block, [&](int i, int row, int column) {
        if (!is_carried(shared, row, column))
            left = true;
        else if (is_own<S>(i))
            store(problem, block.tile, row, column,
                  cluster_sum<PARTS>(&shared.total[index_of<S>(i)], PARTS));
    });
    left = __syncthreads_or(left);
    cluster_sync(); /* all have been read */
    return left;
}

/* ---- BF16 planes ---------------------------------------------------------------------------- */

/* Multiply part number `part`, if there is one. */
template <typename S>
static __device__ __forceinline__ void multiply_bf16(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int part,
                                                     totals_t<S> &total)
{
    const int64_t from = (int64_t)part * problem.k_part;
    const int begin = (int)min(from, problem.args.k);
    const int end = (int)min(from + problem.k_part, problem.args.k);
    multiply_part<S, bf16_t>(problem, block, shared, begin, end, total);
    for_elements<S>(block, [&](int i, int row, int column) {
        if (shared.most[row] >= bf16_t::MOST || shared.most[S::M + column] >= bf16_t::MOST)
            total[i] = chain_of<S>(block.a, block.b, row, column, begin, end);
    });
}

/* What FP16 planes do not carry, PARTS parts at a time. */
template <typename S>
static __device__ __forceinline__ void multiply_left(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared)
{
    totals_t<S> total, sum;
#pragma unroll
    for (int i = 0; i < S::OF_THREAD; i++)
        sum[i] = 0.0f;
#pragma unroll 1
    for (int first = 0; first < problem.parts; first += PARTS) {
        multiply_bf16(problem, block, shared, first + (int)cluster_rank(), total);
        show_totals(shared, total);
        for_elements<S>(block, [&](int i, int, int) {
            for (int part = 0; part < min(PARTS, problem.parts - first) && is_own<S>(i); part++)
                sum[i] += cluster_read(&shared.total[index_of<S>(i)], part);
        });
        cluster_sync();
    }
    for_elements<S>(block, [&](int i, int row, int column) {
        if (is_own<S>(i) && !is_carried(shared, row, column))
            store(problem, block.tile, row, column, sum[i]);
    });
}

/* A part of all elements, to the workspace. */
template <typename S>
static __device__ __forceinline__ void
multiply_split(const problem_t &problem, const block_t &block, shared_t<S> &shared, int part)
{
    totals_t<S> total;
    multiply_bf16(problem, block, shared, part, total);
    for_elements<S>(block, [&](int i, int row, int column) {
        *partial_of(problem, block.tile, row, column, part) = total[i];
    });
}

template <typename S>
static __device__ __forceinline__ void body(const problem_t &problem)
{
    extern __shared__ __align__(16) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const unsigned tile = divided(blockIdx.x, problem.by_splits);
    wait_for_previous();
    const tile_t own = locate_tile<S>(problem, tile, true);
    const block_t block = {own, rows_of<S>(problem, own), columns_of<S>(problem, own),
                           (float *)(&shared + 1)};
    if (!problem.half)
        multiply_split(problem, block, shared, (int)(blockIdx.x - tile * problem.splits));
    else if (multiply_half(problem, block, shared))
        multiply_left(problem, block, shared);
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, m, n, warps, each, blocks)                                  \
    typedef team_t<(m) / 16, (n) / 8, !(trans_a), (trans_b) != 0, warps, each> name##_t;           \
    KERNEL_OF(name, (name##_t::THREADS, ROOM_FOR(blocks)),                                         \
              (const __grid_constant__ problem_t problem), body<name##_t>(problem))
TILEMM__SGEMM_TEAM_ROWS(KERNEL)

extern "C" int tilemm__sgemm_team_launch(const problem_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name:                                                                           \
        return launch_kernel(name,                                                                 \
                             {problem->blocks, name##_t::THREADS,                                  \
                              sizeof(shared_t<name##_t>) +                                         \
                                  name##_t::WARPS * STAGES * name##_t::STEP * sizeof(float),       \
                              problem->half ? (unsigned)problem->splits : 1, true},                \
                             (cudaStream_t)stream, *problem);
        TILEMM__SGEMM_TEAM_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
