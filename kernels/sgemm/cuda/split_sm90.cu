/* split_sm90.cu - the product of FP16 planes (sgemm_split.h) on Hopper's tensor cores.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C. A stage of shared memory holds a k-step of 64 of both operands'
 * planes, each in parts of 64 x 64 halves with the 128-byte swizzle, as the copy engine brings them
 * and the tensor cores read them.
 *
 * Producer: one thread of the first warpgroup keeps the copy engine STAGES ahead. CM x CN blocks
 * make a cluster with neighbouring tiles, and each brings for the others a share of what they have
 * in common: A's part of a row of tiles, B's of a column.
 *
 * Keeper: two warps of the first warpgroup follow the lines' exponents, and tell the consumers at
 * every TILEMM__SPLIT_BLOCK of k by which powers of two the units change, and at the end what the
 * units are and which lines are left alone.
 *
 * Consumers: two warpgroups, each with 64 rows of the tile. For each k-step hi hi goes to an
 * accumulator of its own, which is then added to `total` in ordinary registers, since the tensor
 * core truncates what it accumulates; the cross products hi lo + lo hi, smaller by 2^11, go to
 * another over all of k, and run while hi hi is added up.
 *
 * Epilogue: total + cross / 2^11, brought back by the exponents, alpha and beta, straight to C;
 * lines that are left alone are not stored.
 *
 * Blocks are persistent, and walk the tiles in groups of GROUP rows of tiles, so that what runs at
 * one time shares its operands in the L2 cache. Tiles that would leave clusters idle are cut in
 * pieces along k: whoever ends the last piece of a tile adds all of them up.
 *
 * Assumes: compute capability 9.0 (sm_90a); planes filled up with zeros as sgemm_split.h says. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "split.h"
#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"

enum {
    BM = 128,
    BK = 64,
    PART = 64 * 64, /* halves of one copy */
    CONSUMERS = 2,  /* warpgroups */
    WARPGROUP = 128,
    THREADS = (1 + CONSUMERS) * WARPGROUP,
    KEEPERS = 64, /* threads */
    SLOTS = 2,    /* of what the keeper tells */
    GROUP = 16,
    STEPS = TILEMM__SPLIT_BLOCK / BK, /* with one exponent */
    LEFT = INT32_MAX /* in place of the exponent of a line that is left alone or is not there */
};
static_assert(BM == CONSUMERS * 64, "a warpgroup has 64 rows");
static_assert(TILEMM__SPLIT_COUNTERS * 32 == CONSUMERS * WARPGROUP, "one for each warp");
static_assert((int)TILEMM__SPLIT_ALIGN_MN == BM && (int)TILEMM__SPLIT_ALIGN_K == BK,
              "no edges in planes");

typedef struct {
    CUtensorMap a[2], b[2]; /* hi, lo */
} maps_t;

/* The clusters' tiles, in the order in which they are walked: the first `whole` one at a time by
 * each cluster in turn. Then the k of the `shared` last ones is shared out: layers of so many
 * steps, each with a cluster for each tile; and what those leave of every tile, its tail, in equal
 * ranges of the tails' steps. So the clusters of a layer read the same k at the same time, which
 * the L2 cache then holds. */
typedef struct {
    unsigned rows, cols, per_matrix; /* of clusters' tiles in a matrix */
    unsigned steps;                  /* of a tile */
    unsigned whole, shared;          /* tiles */
    unsigned layers, layer, tail;    /* how many, their steps, and those of a tail */
    unsigned tail_clusters;
} schedule_t;

/* A kernel's constants: BN; products of planes; blocks of a cluster along m and n. */
template <int BN_, int PRODUCTS_, int CM_, int CN_>
struct shape_t {
    static const int BN = BN_, PRODUCTS = PRODUCTS_, CM = CM_, CN = CN_;
    static const int PLANES = PRODUCTS == 1 ? 1 : 2;
    static const int PARTS_A = BM / 64, PARTS_B = BN / 64;
    static const int PLANE_A = PARTS_A * PART, PLANE_B = PARTS_B * PART; /* halves of a stage */
    static const int STAGE = PLANES * (PLANE_A + PLANE_B);
    static const int STAGE_BYTES = STAGE * 2;
    static const int STAGES = (208 << 10) / STAGE_BYTES > 8 ? 8 : (208 << 10) / STAGE_BYTES;
    static const int LINES = BM + BN;
    static const int ACCUMULATORS = BN / 2; /* registers */
    /* One product leaves room for `total` in narrow tiles: sums are added up with every change of
     * units, so that truncation does not grow with all of k. */
    static const bool SUMS = PRODUCTS == 1 && BN <= 128;
    static_assert(BN % 64 == 0 && BN <= 256, "whole parts, one instruction");
    static_assert(PARTS_A % CN == 0 && PARTS_B % CM == 0, "each block has as many to bring");
    static_assert(LINES % KEEPERS == 0, "each keeper has as many lines");
};

/* Dynamic shared memory, from a multiple of 1024 bytes on. */
template <typename S>
struct shared_t {
    unsigned short stages[S::STAGES][S::STAGE];
    uint64_t full[S::STAGES], empty[S::STAGES];
    uint64_t told[SLOTS], heard[SLOTS];
    float factor[SLOTS][S::LINES];     /* a change of unit, or at the end 2^unit */
    int unit[SLOTS][S::LINES];         /* at the end */
    unsigned odd[SLOTS][KEEPERS / 32]; /* at the end: some line needs the general epilogue */
};

/* Go on to the next of COUNT slots; the parity changes after the last. */
template <int COUNT>
static __device__ __forceinline__ void go_on(unsigned *slot, unsigned *parity)
{
    if (++*slot == COUNT) {
        *slot = 0;
        *parity ^= 1;
    }
}

/* Steps [begin, end) of a cluster's tile. */
typedef struct {
    unsigned tile, begin, end;
} piece_t;

/* Where the range of a cluster for tails begins, counted from the first tail on. */
static __device__ __forceinline__ unsigned tail_range(const schedule_t &s, unsigned cluster)
{
    return (unsigned)((uint64_t)cluster * s.shared * s.tail / s.tail_clusters);
}

/* Whose range a step of the tails is in: the last one that begins at it or before. */
[[maybe_unused]] static __device__ __forceinline__ unsigned tail_owner(const schedule_t &s,
                                                                       unsigned step)
{
    return (unsigned)((((uint64_t)step + 1) * s.tail_clusters - 1) / (s.shared * s.tail));
}

/* Where a cluster goes on when its whole tiles are done: see next(). */
[[maybe_unused]] static __device__ __forceinline__ unsigned shared_start(const schedule_t &s,
                                                                         unsigned cluster)
{
    const unsigned in_layers = s.layers * s.shared;

    return s.whole + (cluster >= in_layers && cluster - in_layers < s.tail_clusters
                          ? tail_range(s, cluster - in_layers)
                          : 0);
}

/* Where this cluster begins. */
template <typename S>
static __device__ __forceinline__ unsigned start(const schedule_t &s)
{
    const unsigned cluster = blockIdx.x / (S::CM * S::CN);

    return cluster < s.whole ? cluster : shared_start(s, cluster);
}

/* This cluster's piece at `at`, which goes on to the next one: a whole tile's number; then, past
 * those, 0 or 1 pieces of a layer done, or the next step of the tails. Returns false after the
 * last. */
template <typename S>
static __device__ __forceinline__ bool next(const schedule_t &s, unsigned *at, piece_t *piece)
{
    const unsigned cluster = blockIdx.x / (S::CM * S::CN), clusters = gridDim.x / (S::CM * S::CN);
    const unsigned in_layers = s.layers * s.shared;

    if (*at < s.whole) {
        piece->tile = *at;
        piece->begin = 0;
        piece->end = s.steps;
        *at += clusters;
        if (*at >= s.whole)
            *at = shared_start(s, cluster);
        return true;
    }

    const unsigned from = *at - s.whole;

    if (cluster < in_layers) {
        const unsigned layer = cluster / s.shared;

        piece->tile = s.whole + cluster - layer * s.shared;
        piece->begin = layer * s.layer;
        piece->end = min(s.steps, piece->begin + s.layer);
        *at = s.whole + 1;
        return from == 0;
    }
    if (cluster - in_layers >= s.tail_clusters)
        return false;

    const unsigned to = tail_range(s, cluster - in_layers + 1), tile = from / s.tail;

    piece->tile = s.whole + tile;
    piece->begin = s.layers * s.layer + from - tile * s.tail;
    piece->end = min(s.steps, piece->begin + to - from);
    *at += piece->end - piece->begin;
    return from != to;
}

/* Where the tiles of a cluster begin, in rows and columns of C, and in which matrix. */
typedef struct {
    unsigned m, n, matrix;
} place_t;

template <typename S>
static __device__ __forceinline__ place_t locate(const schedule_t &s, unsigned number,
                                                 unsigned rank)
{
    const unsigned HEIGHT = GROUP / S::CM;
    const unsigned matrix = number / s.per_matrix, inside = number - matrix * s.per_matrix;
    const unsigned group = inside / (HEIGHT * s.cols), in_group = inside - group * HEIGHT * s.cols;
    const unsigned rows = min(HEIGHT, s.rows - group * HEIGHT);
    const unsigned col = in_group / rows, row = group * HEIGHT + (in_group - col * rows);
    const place_t place = {(row * S::CM + rank / S::CN) * BM, (col * S::CN + rank % S::CN) * S::BN,
                           matrix};

    return place;
}

[[maybe_unused]] static __device__ __forceinline__ int64_t
lines_of(const tilemm__split_operand_t &op)
{
    return (op.mn + TILEMM__SPLIT_ALIGN_MN - 1) / TILEMM__SPLIT_ALIGN_MN * TILEMM__SPLIT_ALIGN_MN;
}

/* ---- producer --------------------------------------------------------------------------- */

/* Bring 64 lines, from `line` on, by 64 of k of a matrix's plane. A matrix of a batch lies beyond
 * the one before it: lines further on. */
[[maybe_unused]] static __device__ __forceinline__ void
bring(unsigned short *to, const CUtensorMap *map, unsigned line, unsigned k, unsigned matrix,
      unsigned lines, uint64_t *full, unsigned blocks)
{
    const int x = (int)k, y = (int)(line + matrix * lines);

    if (blocks)
        tensor_load_multicast(to, map, x, y, full, (unsigned short)blocks);
    else
        tensor_load(to, map, x, y, full);
}

template <typename S>
static __device__ __forceinline__ void
produce(const maps_t &maps, const tilemm__split_product_t &product, const schedule_t &schedule,
        shared_t<S> &shared, unsigned rank)
{
    const int SHARE_A = S::PARTS_A / S::CN, SHARE_B = S::PARTS_B / S::CM;
    const unsigned lines_a = (unsigned)lines_of(product.a), lines_b = (unsigned)lines_of(product.b);
    const unsigned row = rank / S::CN, col = rank % S::CN; /* in the cluster */
    unsigned row_mates = 0, col_mates = 0, stage = 0, parity = 1;
    unsigned at = start<S>(schedule);
    piece_t piece;

#pragma unroll
    for (int i = 0; i < S::CN; i++)
        row_mates |= 1u << (row * S::CN + i);
#pragma unroll
    for (int i = 0; i < S::CM; i++)
        col_mates |= 1u << (i * S::CN + col);
    if (S::CN == 1)
        row_mates = 0;
    if (S::CM == 1)
        col_mates = 0;

    while (next<S>(schedule, &at, &piece)) {
        const place_t place = locate<S>(schedule, piece.tile, rank);

        for (unsigned k = piece.begin * BK; k < piece.end * BK; k += BK) {
            uint64_t *const full = &shared.full[stage];

            mbarrier_wait(&shared.empty[stage], parity);
            mbarrier_expect(full, S::STAGE_BYTES);
#pragma unroll
            for (int p = 0; p < S::PLANES; p++) {
                unsigned short *const to = shared.stages[stage] + p * S::PLANE_A;

#pragma unroll
                for (int i = 0; i < SHARE_A; i++) {
                    const unsigned part = col * SHARE_A + i;

                    bring(to + part * PART, &maps.a[p], place.m + part * 64, k, place.matrix,
                          lines_a, full, row_mates);
                }
            }
#pragma unroll
            for (int p = 0; p < S::PLANES; p++) {
                unsigned short *const to =
                    shared.stages[stage] + S::PLANES * S::PLANE_A + p * S::PLANE_B;

#pragma unroll
                for (int i = 0; i < SHARE_B; i++) {
                    const unsigned part = row * SHARE_B + i;

                    bring(to + part * PART, &maps.b[p], place.n + part * 64, k, place.matrix,
                          lines_b, full, col_mates);
                }
            }
            go_on<S::STAGES>(&stage, &parity);
        }
    }
}

/* ---- keeper ----------------------------------------------------------------------------- */

static __device__ __forceinline__ float power_of_two(int exponent)
{
    return __uint_as_float((unsigned)(127 + max(-126, min(127, exponent))) << 23);
}

/* Whether a line's products are left alone; also where there is no such line. */
template <int PRODUCTS>
static __device__ __forceinline__ bool is_left(const tilemm__split_operand_t &op,
                                               const unsigned *other_sparse, unsigned matrix,
                                               unsigned line)
{
    if (line >= op.mn)
        return true;

    const tilemm__split_state_t state = op.states[matrix * lines_of(op) + line];

    return tilemm__split_is_left(state, *other_sparse, PRODUCTS == 1);
}

template <typename S>
static __device__ __forceinline__ void keep(const tilemm__split_product_t &product,
                                            const schedule_t &schedule, shared_t<S> &shared,
                                            unsigned rank, unsigned keeper)
{
    const int MINE = S::LINES / KEEPERS, MINE_A = BM / KEEPERS;
    const unsigned blocks = (unsigned)((product.k + TILEMM__SPLIT_BLOCK - 1) / TILEMM__SPLIT_BLOCK);
    unsigned slot = 0, parity = 1;
    unsigned at = start<S>(schedule);
    piece_t piece;

    while (next<S>(schedule, &at, &piece)) {
        const place_t place = locate<S>(schedule, piece.tile, rank);
        const unsigned first = piece.begin / STEPS, last_block = (piece.end - 1) / STEPS;
        int unit[MINE]; /* LEFT, or the exponent so far */
        bool left = false, odd = false;

#pragma unroll
        for (int i = 0; i < MINE; i++) {
            const bool of_a = i < MINE_A;
            const unsigned nth = keeper + (of_a ? i : i - MINE_A) * KEEPERS;

            unit[i] = (of_a ? is_left<S::PRODUCTS>(product.a, product.b.sparse, place.matrix,
                                                   place.m + nth)
                            : is_left<S::PRODUCTS>(product.b, product.a.sparse, place.matrix,
                                                   place.n + nth))
                          ? (int)LEFT
                          : (int)TILEMM__SPLIT_ZERO;
            left |= unit[i] == LEFT &&
                    (of_a ? place.m + nth < product.a.mn : place.n + nth < product.b.mn);
        }
        if (left)
            *(volatile unsigned *)product.left = 1;
        for (unsigned block = first; block <= last_block; block++) {
            if (block > first)
                mbarrier_wait(&shared.heard[slot], parity);
#pragma unroll
            for (int i = 0; i < MINE; i++) {
                const bool of_a = i < MINE_A;
                const tilemm__split_operand_t &op = of_a ? product.a : product.b;
                const unsigned nth = keeper + (of_a ? i : i - MINE_A) * KEEPERS;
                float ratio = 1.0f;

                if (unit[i] != LEFT) {
                    const int now =
                        op.exponents[((int64_t)place.matrix * blocks + block) * lines_of(op) +
                                     (of_a ? place.m : place.n) + nth];

                    /* A block of zeros keeps the unit. */
                    if (now != TILEMM__SPLIT_ZERO) {
                        if (unit[i] != TILEMM__SPLIT_ZERO)
                            ratio = power_of_two(unit[i] - now);
                        unit[i] = now;
                    }
                }
                if (block > first)
                    shared.factor[slot][keeper + i * KEEPERS] = ratio;
            }
            if (block > first) {
                mbarrier_arrive(&shared.told[slot]);
                go_on<SLOTS>(&slot, &parity);
            }
        }
        mbarrier_wait(&shared.heard[slot], parity);
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            /* A line of zeros has no unit; any will do. */
            const int last = unit[i] == TILEMM__SPLIT_ZERO ? 0 : unit[i];

            shared.unit[slot][keeper + i * KEEPERS] = last;
            shared.factor[slot][keeper + i * KEEPERS] = power_of_two(last);
            odd |= last > 60 || last < -60; /* their factors might not do one after the other */
        }
        odd = __any_sync(~0u, odd);
        if (keeper % 32 == 0)
            shared.odd[slot][keeper / 32] = odd;
        mbarrier_arrive(&shared.told[slot]);
        go_on<SLOTS>(&slot, &parity);
    }
}

/* ---- consumers -------------------------------------------------------------------------- */

/* One product of planes over a k-step: d (+)= a b. */
template <typename S>
static __device__ __forceinline__ void
multiply(float (&d)[S::ACCUMULATORS], const unsigned short *a, const unsigned short *b, bool add)
{
    const uint64_t at_a = wgmma_operand(a), at_b = wgmma_operand(b);

#pragma unroll
    for (int i = 0; i < BK / 16; i++)
        wgmma(d, at_a + i * 32 / 16, at_b + i * 32 / 16, add || i > 0);
}

/* The compiler moves no read across this: registers would not do for more of them at a time. */
[[maybe_unused]] static __device__ __forceinline__ void reads_end(void)
{
    asm volatile("" ::: "memory");
}

/* The plain epilogue of a tile that is all there: from the units to numbers. The factors of rows
 * and columns begin at the thread's first element; likewise below. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void bring_back_plain(float (&x)[ACCUMULATORS], const float *rows,
                                                        const float *cols)
{
    const float factor[2] = {rows[0], rows[8]};

#pragma unroll
    for (int j = 0; j < ACCUMULATORS / 4; j++) {
        const float2 factors = *(const float2 *)(cols + j * 8);

#pragma unroll
        for (int half = 0; half < 2; half++) {
            x[j * 4 + half * 2] = x[j * 4 + half * 2] * factor[half] * factors.x;
            x[j * 4 + half * 2 + 1] = x[j * 4 + half * 2 + 1] * factor[half] * factors.y;
        }
        if (j % 4 == 3)
            reads_end();
    }
}

/* v 2^exponent, rounded once; the power alone need not be a float. */
[[maybe_unused]] static __device__ __forceinline__ float scale(float v, int exponent)
{
    const int half = exponent / 2;

    return v * power_of_two(half) * power_of_two(exponent - half);
}

/* The same for any other tile; zeros where a line is left alone. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void bring_back_any(float (&x)[ACCUMULATORS], const int *rows,
                                                      const int *cols)
{
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        const int unit_a = rows[i & 2 ? 8 : 0], unit_b = cols[i / 4 * 8 + (i & 1)];

        x[i] = unit_a != LEFT && unit_b != LEFT ? scale(x[i], unit_a + unit_b) : 0.0f;
        if (i % 16 == 15)
            reads_end();
    }
}

/* Put the sums of a piece of a tile, as plain numbers, beside those of its other pieces. Returns
 * whether they are the last to come; then x is the sum of all, in the order of k, so that its bits
 * do not depend on who came last. Every warp does so for itself: what a thread reads, the threads
 * of that number in the other clusters have written. */
template <typename S>
static __device__ __forceinline__ bool
add_up(float (&x)[S::ACCUMULATORS], const tilemm__split_product_t &product,
       const schedule_t &schedule, const piece_t &piece, unsigned rank)
{
    const unsigned SIZE = S::CM * S::CN, ALL = CONSUMERS * WARPGROUP;
    const unsigned cluster = blockIdx.x / SIZE, in_layers = schedule.layers * schedule.shared;
    const unsigned tile = piece.tile - schedule.whole, thread = threadIdx.x - WARPGROUP;
    /* The tile's pieces, and this one among them. */
    unsigned pieces = schedule.layers, number = cluster / schedule.shared;

    if (schedule.tail > 0) {
        const unsigned first = tail_owner(schedule, tile * schedule.tail);
        const unsigned last = tail_owner(schedule, (tile + 1) * schedule.tail - 1);

        if (cluster >= in_layers)
            number = pieces + cluster - in_layers - first;
        pieces += last - first + 1;
    }

    float4 *const sums =
        (float4 *)product.partial + thread +
        (tile * (schedule.layers + TILEMM__SPLIT_TAILS) * SIZE + rank) * (uint64_t)(BM * S::BN / 4);
    const unsigned apart = SIZE * (BM * S::BN / 4); /* pieces */
    unsigned before = 0;

#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4)
        __stcg(sums + number * apart + i / 4 * ALL,
               make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]));
    __threadfence();
    __syncwarp();
    if (thread % 32 == 0)
        before = atomicAdd(
            &product.counters[(tile * SIZE + rank) * TILEMM__SPLIT_COUNTERS + thread / 32], 1);
    if (__shfl_sync(~0u, before, 0) < pieces - 1)
        return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        x[i] = 0.0f;
    for (unsigned p = 0; p < pieces; p++) {
        const float4 *const from = sums + p * apart;

#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i += 4) {
            const float4 v = __ldcg(from + i / 4 * ALL);

            x[i] += v.x;
            x[i + 1] += v.y;
            x[i + 2] += v.z;
            x[i + 3] += v.w;
            if (i % 32 == 28)
                reads_end();
        }
    }
    return true;
}

/* All of the tile is there, and C is aligned for pairs if PAIRS; c is the thread's first element.
 */
template <bool READ, bool PAIRS, int ACCUMULATORS>
static __device__ __forceinline__ void store_plain(const float (&x)[ACCUMULATORS], float *c,
                                                   const tilemm__split_product_t &product)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int j = 0; j < ACCUMULATORS / 4; j++) {
            float *const to = c + j * 8;
            float2 v;

            v.x = product.alpha * x[j * 4 + half * 2];
            v.y = product.alpha * x[j * 4 + half * 2 + 1];
            if (READ) {
                const float2 old = PAIRS ? *(const float2 *)to : make_float2(to[0], to[1]);

                v.x = fmaf(product.beta, old.x, v.x);
                v.y = fmaf(product.beta, old.y, v.y);
            }
            if (PAIRS) {
                *(float2 *)to = v;
            } else {
                to[0] = v.x;
                to[1] = v.y;
            }
        }
        c += 8 * product.ldc;
    }
}

/* Any other tile, element by element. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void store_any(const float (&x)[ACCUMULATORS], float *c,
                                                 const tilemm__split_product_t &product,
                                                 const int *rows, const int *cols)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (rows[half * 8] != LEFT) {
#pragma unroll
            for (int j = 0; j < ACCUMULATORS / 2; j++) {
                const int across = j / 2 * 8 + j % 2;

                if (cols[across] != LEFT) {
                    float v = product.alpha * x[j / 2 * 4 + half * 2 + j % 2];

                    if (product.beta != 0.0f)
                        v = fmaf(product.beta, c[across], v);
                    c[across] = v;
                }
            }
        }
        c += 8 * product.ldc;
    }
}

template <typename S>
static __device__ __forceinline__ void consume(const tilemm__split_product_t &product,
                                               const schedule_t &schedule, shared_t<S> &shared,
                                               unsigned rank)
{
    const unsigned group = threadIdx.x / WARPGROUP - 1, thread = threadIdx.x % WARPGROUP;
    const unsigned row = group * 64 + thread / 32 * 16 + thread % 32 / 4; /* and row + 8 */
    const unsigned col = thread % 4 * 2;
    const bool pairs =
        ((uint64_t)product.c | (uint64_t)product.ldc * 4 | (uint64_t)product.stride_c * 4) % 8 ==
            0 &&
        !product.c_array;
    /* Whom to tell that a stage is read: those who bring parts of it. */
    const bool tells = thread < S::CM * S::CN &&
                       (thread / S::CN == rank / S::CN || thread % S::CN == rank % S::CN);
    unsigned stage = 0, parity = 0, slot = 0, slot_parity = 0;
    float total[S::ACCUMULATORS], hh[S::ACCUMULATORS], cross[S::ACCUMULATORS];
    unsigned at = start<S>(schedule);
    piece_t piece;

    while (next<S>(schedule, &at, &piece)) {
        unsigned previous = 0;

#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            total[i] = 0.0f;
        for (unsigned step = piece.begin; step < piece.end; step++) {
            const bool later = step > piece.begin; /* than the first */

            if (later && step % STEPS == 0) { /* the units change */
                const float *const ratio = shared.factor[slot];

                mbarrier_wait(&shared.told[slot], slot_parity);
                wgmma_wait<0>();
                wgmma_pin(S::PRODUCTS == 1 ? hh : cross);

                const float first = ratio[row], second = ratio[row + 8];

#pragma unroll
                for (int i = 0; i < S::ACCUMULATORS; i++) {
                    const float factor =
                        (i & 2 ? second : first) * ratio[BM + i / 4 * 8 + col + (i & 1)];

                    if (S::SUMS) {
                        total[i] = (total[i] + hh[i]) * factor;
                    } else if (S::PRODUCTS == 1) {
                        hh[i] *= factor;
                    } else {
                        total[i] *= factor;
                        cross[i] *= factor;
                    }
                }
                mbarrier_arrive(&shared.heard[slot]);
                go_on<SLOTS>(&slot, &slot_parity);
            }

            const unsigned short *const a = shared.stages[stage] + group * PART;
            const unsigned short *const b = shared.stages[stage] + S::PLANES * S::PLANE_A;

            mbarrier_wait(&shared.full[stage], parity);
            wgmma_pin(hh);
            wgmma_fence();
            multiply<S>(hh, a, b, S::SUMS ? later && step % STEPS > 0 : S::PRODUCTS == 1 && later);
            wgmma_commit();
            if (later) { /* all products of the step before are done */
                wgmma_wait<1>();
                if (tells)
                    mbarrier_arrive_cluster(&shared.empty[previous], thread);
            }
            if (S::PRODUCTS > 1) {
                wgmma_fence();
                multiply<S>(cross, a, b + S::PLANE_B, later);
                multiply<S>(cross, a + S::PLANE_A, b, true);
                wgmma_commit();
                wgmma_wait<1>();
                wgmma_pin(hh);
#pragma unroll
                for (int i = 0; i < S::ACCUMULATORS; i++)
                    total[i] += hh[i];
            }
            if (S::PRODUCTS == 4) {
                wgmma_pin(hh);
                wgmma_fence();
                multiply<S>(hh, a + S::PLANE_A, b + S::PLANE_B, false);
                wgmma_commit();
                wgmma_wait<0>();
                wgmma_pin(hh);
                wgmma_pin(cross);
#pragma unroll
                for (int i = 0; i < S::ACCUMULATORS; i++)
                    cross[i] = fmaf(hh[i], 0x1p-11f, cross[i]);
            }
            previous = stage;
            go_on<S::STAGES>(&stage, &parity);
        }
        wgmma_wait<0>();
        if (tells)
            mbarrier_arrive_cluster(&shared.empty[previous], thread);
        wgmma_pin(hh);
        wgmma_pin(cross);

        /* Epilogue. */
        const place_t place = locate<S>(schedule, piece.tile, rank);
        float *const base = product.c_array ? product.c_array[place.matrix]
                                            : product.c + place.matrix * product.stride_c;
        float *const c = base + (place.m + row) * product.ldc + place.n + col;

        if (S::SUMS) {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i++)
                hh[i] += total[i];
        } else if (S::PRODUCTS > 1) {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i++)
                hh[i] = fmaf(cross[i], 0x1p-11f, total[i]);
        }
        mbarrier_wait(&shared.told[slot], slot_parity);

        const bool odd = shared.odd[slot][0] | shared.odd[slot][1];
        const int *const row_units = shared.unit[slot] + row;
        const int *const col_units = shared.unit[slot] + BM + col;

        if (odd)
            bring_back_any(hh, row_units, col_units);
        else
            bring_back_plain(hh, shared.factor[slot] + row, shared.factor[slot] + BM + col);
        if (piece.tile < schedule.whole || add_up<S>(hh, product, schedule, piece, rank)) {
            if (odd)
                store_any(hh, c, product, row_units, col_units);
            else if (product.beta != 0.0f && pairs)
                store_plain<true, true>(hh, c, product);
            else if (product.beta != 0.0f)
                store_plain<true, false>(hh, c, product);
            else if (pairs)
                store_plain<false, true>(hh, c, product);
            else
                store_plain<false, false>(hh, c, product);
        }
        mbarrier_arrive(&shared.heard[slot]);
        go_on<SLOTS>(&slot, &slot_parity);
    }
}

/* ---- kernel ----------------------------------------------------------------------------- */

/* Other architectures, for which the kernel is empty, know no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CLUSTER_OF(blocks)
#endif

template <typename S>
static __global__ void CLUSTER_OF(S::CM *S::CN) __launch_bounds__(THREADS, 1)
    sgemm_split_sm90(const __grid_constant__ maps_t maps,
                     const __grid_constant__ tilemm__split_product_t product,
                     const __grid_constant__ schedule_t schedule)
{
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const unsigned rank = cluster_rank(), warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        for (int s = 0; s < S::STAGES; s++) {
            mbarrier_init(&shared.full[s], 1);
            mbarrier_init(&shared.empty[s], CONSUMERS * (S::CM + S::CN - 1));
        }
        for (int s = 0; s < SLOTS; s++) {
            mbarrier_init(&shared.told[s], KEEPERS);
            mbarrier_init(&shared.heard[s], CONSUMERS * WARPGROUP);
        }
        mbarrier_fence_init();
        for (int p = 0; p < S::PLANES; p++) {
            tensor_prefetch(&maps.a[p]);
            tensor_prefetch(&maps.b[p]);
        }
    }
    cluster_sync();
    wait_for_previous();
    let_next_start();
    if (threadIdx.x < WARPGROUP) {
        registers_shrink<56>();
        if (threadIdx.x == 0)
            produce<S>(maps, product, schedule, shared, rank);
        else if (warp >= WARPGROUP / 32 - KEEPERS / 32)
            keep<S>(product, schedule, shared, rank, threadIdx.x - (WARPGROUP - KEEPERS));
    } else {
        registers_grow<224>();
        consume<S>(product, schedule, shared, rank);
    }
    cluster_sync(); /* nobody leaves while another may still send to it */
#endif
}

/* ---- host ------------------------------------------------------------------------------- */

static bool describe(tensor_encode_t encode, CUtensorMap *map, const void *plane,
                     const tilemm__split_operand_t *op, int64_t k, int64_t batch)
{
    const int64_t lines = (op->mn + 127) / 128 * 128, depth = (k + BK - 1) / BK * BK;
    const cuuint64_t size[2] = {(cuuint64_t)depth, (cuuint64_t)(lines * batch)};
    const cuuint64_t pitch[1] = {(cuuint64_t)op->pitch * 2};
    const cuuint32_t box[2] = {64, 64};

    return tensor_describe(encode, map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, plane, size, pitch,
                           box);
}

template <typename S>
static int launch(const tilemm__split_product_t *product, cudaStream_t stream)
{
    const tensor_encode_t encode = tensor_encoder();
    const size_t bytes = sizeof(shared_t<S>);
    const tilemm__split_operand_t &a = product->a, &b = product->b;
    const int64_t batch = product->batch_count;
    const int64_t rows = (product->m + S::CM * BM - 1) / (S::CM * BM);
    const int64_t cols = (product->n + S::CN * S::BN - 1) / (S::CN * S::BN);
    maps_t maps;
    schedule_t schedule;
    int device = 0, sms = 0;
    cudaError_t error;

    if (!encode)
        return cudaErrorNotSupported;
    if (rows * cols * batch > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    if (!describe(encode, &maps.a[0], a.hi, &a, product->k, batch) ||
        !describe(encode, &maps.b[0], b.hi, &b, product->k, batch))
        return cudaErrorInvalidValue;
    maps.a[1] = maps.a[0];
    maps.b[1] = maps.b[0];
    if (S::PLANES > 1 && (!describe(encode, &maps.a[1], a.lo, &a, product->k, batch) ||
                          !describe(encode, &maps.b[1], b.lo, &b, product->k, batch)))
        return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(sgemm_split_sm90<S>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;

    const unsigned size = S::CM * S::CN;
    const int64_t count = rows * cols * batch, steps = (product->k + BK - 1) / BK;
    int64_t clusters = sms / size, shared = product->shared, layers = 0, layer = 0, tail = 0;

    if (shared >= clusters || shared > count || count * steps > INT32_MAX)
        shared = 0;
    if (shared > 0) {
        tilemm__split_share(shared, clusters, steps, &layers, &layer);
        tail = layers * layer < steps ? steps - layers * layer : 0;
    }
    if (count == shared && tail == 0)
        clusters = layers * shared;
    if (clusters > count && shared == 0)
        clusters = count;
    schedule.rows = (unsigned)rows;
    schedule.cols = (unsigned)cols;
    schedule.per_matrix = (unsigned)(rows * cols);
    schedule.steps = (unsigned)steps;
    schedule.whole = (unsigned)(count - shared);
    schedule.shared = (unsigned)shared;
    schedule.layers = (unsigned)layers;
    schedule.layer = (unsigned)layer;
    schedule.tail = (unsigned)tail;
    schedule.tail_clusters = (unsigned)(tail > 0 ? clusters - layers * shared : 0);
    if (schedule.tail_clusters > shared * tail)
        schedule.tail_clusters = (unsigned)(shared * tail);
    return launch_after(sgemm_split_sm90<S>, (unsigned)(clusters * size), THREADS, bytes, stream,
                        maps, *product, schedule);
}

/* A kernel that was built for other targets only is empty, and needs few registers. */
extern "C" int tilemm__sgemm_split_sm90_is_built(void)
{
    struct cudaFuncAttributes attributes;

    if (cudaFuncGetAttributes(&attributes, sgemm_split_sm90<shape_t<128, 3, 1, 2>>) !=
        cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return attributes.numRegs > 64;
}

extern "C" int tilemm__sgemm_split_sm90_launch(const tilemm__split_product_t *product, void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;

    switch (product->products) {
    case 1:
        switch (product->tile) {
        case TILEMM__SPLIT_128X256: return launch<shape_t<256, 1, 1, 2>>(product, s);
        case TILEMM__SPLIT_128X128: return launch<shape_t<128, 1, 1, 2>>(product, s);
        }
        break;
    case 3:
        switch (product->tile) {
        case TILEMM__SPLIT_128X128: return launch<shape_t<128, 3, 1, 2>>(product, s);
        case TILEMM__SPLIT_128X128_DOWN: return launch<shape_t<128, 3, 2, 1>>(product, s);
        case TILEMM__SPLIT_128X64: return launch<shape_t<64, 3, 1, 2>>(product, s);
        }
        break;
    case 4:
        if (product->tile == TILEMM__SPLIT_128X128)
            return launch<shape_t<128, 4, 1, 2>>(product, s);
    }
    return cudaErrorInvalidValue;
}
