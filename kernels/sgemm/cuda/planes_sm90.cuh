/* planes_sm90.cuh - the shapes of planes_sm90.cu, its shared memory, and the roles that serve its
 * consumers: the producer, which brings the planes, and the keeper, which tells their units.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_PLANES_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_PLANES_SM90_CUH

#include <cuda_runtime.h>

#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/tma.cuh"
#include "planes.h"
#include "stream_k.cuh"

typedef tilemm__sgemm_planes_product_t product_t;

enum {
    PAIR = TILEMM__SGEMM_STREAM_K_PAIR, /* blocks of a cluster */
    BM = 128,
    BK = 64,
    PART = 64 * 64, /* halves of one copy */
    CONSUMERS = 2,  /* warpgroups */
    WARPGROUP = 128,
    THREADS = (1 + CONSUMERS) * WARPGROUP,
    KEEPERS = 64, /* threads */
    SLOTS = 2,    /* for what the keeper tells */
    GROUP = 16,   /* rows of tiles in a group of the tile walk */
    BLOCK = TILEMM__SGEMM_PLANES_BLOCK,
    STEPS = BLOCK / BK, /* k-steps with one exponent */
    ZERO = TILEMM__SGEMM_PLANES_ZERO,
    NOT_STORED = INT32_MAX, /* in place of the unit of an exact line, and beyond the last */
    /* Of a tile: some line's unit is no float with another one's; some line is exact. */
    GENERAL = 1,
    HAS_EXACT = 2
};
static_assert(BM == CONSUMERS * 64, "a warpgroup has 64 rows");
static_assert(TILEMM__SGEMM_STREAM_K_COUNTERS * 32 == CONSUMERS * WARPGROUP, "one for each warp");
static_assert((int)TILEMM__SGEMM_PLANES_ALIGN_MN == BM && (int)TILEMM__SGEMM_PLANES_ALIGN_K == BK,
              "no edges in planes");

/* The planes for the copy engine: hi, lo. */
typedef struct {
    CUtensorMap a[2], b[2];
} maps_t;

/* A row of variants.h: products of planes, and the width of the tile; and what follows from it. */
template <int PRODUCTS_, int BN_>
struct shape_t {
    static const int PRODUCTS = PRODUCTS_, BN = BN_;
    static const int PLANES = PRODUCTS == 1 ? 1 : 2;
    static const int PARTS_A = BM / 64, PARTS_B = BN / 64;
    static const int PLANE_A = PARTS_A * PART, PLANE_B = PARTS_B * PART; /* halves of a stage */
    static const int STAGE = PLANES * (PLANE_A + PLANE_B);
    static const int STAGE_BYTES = STAGE * 2;
    static const int STAGES = (208 << 10) / STAGE_BYTES > 8 ? 8 : (208 << 10) / STAGE_BYTES;
    static const int LINES = BM + BN;
    static const int ACCUMULATORS = BN / 2; /* registers */
    /* With one product narrow tiles have registers for `total`: hi hi is added to it with every
     * change of units, so that truncation does not grow with all of k. */
    static const bool PROMOTES = PRODUCTS == 1 && BN <= 128;
    /* With more, the narrowest tile has registers for `earlier`: what the blocks of k before the
     * present one gave, so that rounding does not grow with all of k. */
    static const bool BY_BLOCKS = PRODUCTS > 1 && BN <= 64;
    static_assert(BN % 64 == 0 && BN <= 256, "whole parts, one instruction");
    static_assert(PARTS_A % PAIR == 0, "each block brings the same number");
    static_assert(LINES % KEEPERS == 0, "each keeper has the same number of lines");
};

/* Dynamic shared memory, from a multiple of 1024 bytes on. */
template <typename S>
struct shared_t {
    unsigned short stages[S::STAGES][S::STAGE];
    uint64_t full[S::STAGES], empty[S::STAGES];
    uint64_t told[SLOTS], heard[SLOTS];
    float factor[SLOTS][S::LINES];       /* of a change of units; at the end 2^unit */
    int unit[SLOTS][S::LINES];           /* at the end */
    unsigned flags[SLOTS][KEEPERS / 32]; /* at the end, of each warp: GENERAL, HAS_EXACT */
};

/* The block's tile within the cluster's tile `number`: its first row and column of C, and its
 * matrix. */
typedef struct {
    unsigned m, n, matrix;
} place_t;

template <typename S>
static __device__ __forceinline__ place_t locate(const stream_k_t &s, unsigned number,
                                                 unsigned rank)
{
    const unsigned matrix = number / s.per_matrix, inside = number - matrix * s.per_matrix;
    const tile_position_t<unsigned> at = tile_walk<GROUP>(inside, s.rows, s.cols);
    return {at.row * BM, (at.col * PAIR + rank) * S::BN, matrix};
}

/* The next piece whose tile is computed from planes, as stream_k_next(); of a plain product that is
 * any piece. The blocks of a cluster, which share what they bring, skip the same pieces. If
 * `tells`, note which routes others take. */
template <typename S>
static __device__ __forceinline__ bool next_piece(const product_t &product,
                                                  const stream_k_t &stream_k, unsigned *at,
                                                  piece_t *piece, bool tells = false)
{
    static_assert(TILEMM__SGEMM_ROUTE_LINES % BM == 0 &&
                      TILEMM__SGEMM_ROUTE_LINES % (PAIR * S::BN) == 0,
                  "a cluster's tile is of one group of rows and one of columns");
    while (stream_k_next<PAIR>(stream_k, at, piece)) {
        if (tilemm__sgemm_is_plain(product.routes))
            return true;

        const place_t place = locate<S>(stream_k, piece->tile, 0);
        const tilemm__sgemm_route_t route =
            tilemm__sgemm_route(product.routes, place.matrix, place.m, place.n);
        if (route == TILEMM__SGEMM_BY_PLANES)
            return true;
        if (tells)
            tilemm__sgemm_tell(product.routes, route);
    }
    return false;
}

/* Lines of a matrix's plane. */
static __device__ __forceinline__ int64_t planes_lines(const tilemm__sgemm_planes_operand_t &op)
{
    return (op.mn + TILEMM__SGEMM_PLANES_ALIGN_MN - 1) / TILEMM__SGEMM_PLANES_ALIGN_MN *
           TILEMM__SGEMM_PLANES_ALIGN_MN;
}

/* ---- producer --------------------------------------------------------------------------- */

/* Bring this block's share of a k-step of an operand's planes, share `number` of the cluster's:
 * COPIES parts of 64 lines by 64 of k. The tile begins at `line`, the matrix's planes at line
 * `matrix` of all. `blocks`: bits of the blocks of the cluster that get it; 0: this one. */
template <int PLANES, int PLANE, int COPIES>
static __device__ __forceinline__ void bring(unsigned short *to, const CUtensorMap *maps,
                                             unsigned line, unsigned number, int k, unsigned matrix,
                                             uint64_t *full, unsigned blocks)
{
#pragma unroll
    for (int p = 0; p < PLANES; p++)
#pragma unroll
        for (int i = 0; i < COPIES; i++) {
            const unsigned part = number * COPIES + i;
            unsigned short *const at = to + p * PLANE + part * PART;
            const int y = (int)(line + part * 64 + matrix);
            if (blocks)
                tensor_load_multicast(at, &maps[p], k, y, full, (unsigned short)blocks);
            else
                tensor_load(at, &maps[p], k, y, full);
        }
}

/* The producer thread: bring the stages of all pieces, each when the consumers have read it. */
template <typename S>
static __device__ __forceinline__ void produce(const maps_t &maps, const product_t &product,
                                               const stream_k_t &stream_k, shared_t<S> &shared,
                                               unsigned rank)
{
    const unsigned lines_a = (unsigned)planes_lines(product.a);
    const unsigned lines_b = (unsigned)planes_lines(product.b);
    const unsigned ALL = (1u << PAIR) - 1;
    unsigned stage = 0, parity = 1;
    unsigned at = stream_k_start<PAIR>(stream_k);
    piece_t piece;
    while (next_piece<S>(product, stream_k, &at, &piece)) {
        const place_t place = locate<S>(stream_k, piece.tile, rank);
        for (unsigned k = piece.begin * BK; k < piece.end * BK; k += BK) {
            uint64_t *const full = &shared.full[stage];
            mbarrier_wait(&shared.empty[stage], parity);
            mbarrier_expect(full, S::STAGE_BYTES);
            bring<S::PLANES, S::PLANE_A, S::PARTS_A / PAIR>(shared.stages[stage], maps.a, place.m,
                                                            rank, (int)k, place.matrix * lines_a,
                                                            full, ALL);
            bring<S::PLANES, S::PLANE_B, S::PARTS_B>(shared.stages[stage] + S::PLANES * S::PLANE_A,
                                                     maps.b, place.n, 0, (int)k,
                                                     place.matrix * lines_b, full, 0);
            advance<S::STAGES>(&stage, &parity);
        }
    }
}

/* ---- keeper ----------------------------------------------------------------------------- */

static __device__ __forceinline__ float power_of_two(int exponent)
{
    return __uint_as_float((unsigned)(127 + max(-126, min(127, exponent))) << 23);
}

/* Whether a line is exact, or beyond the last. */
static __device__ __forceinline__ bool is_exact(const tilemm__sgemm_planes_operand_t &op,
                                                const tilemm__sgemm_density_t &other,
                                                unsigned matrix, unsigned line)
{
    return line >= op.mn ||
           (op.exact[matrix * planes_lines(op) + line] >> tilemm__sgemm_route_case(other) & 1);
}

/* A keeper's lines: the first MINE_A are A's. */
template <typename S>
struct keeper_t {
    static const int MINE = S::LINES / KEEPERS, MINE_A = BM / KEEPERS;
    unsigned number; /* of the keeper */
    place_t place;   /* of the tile */
    int unit[MINE];  /* the exponent so far, or NOT_STORED */
    bool has_exact;  /* some of them */

    /* Line i, counted from the tile's first one of its operand. */
    __device__ __forceinline__ unsigned line(int i) const
    {
        return number + (i < MINE_A ? i : i - MINE_A) * KEEPERS;
    }
};

/* Begin with a tile: no units yet; and note if there are exact lines. */
template <typename S>
static __device__ __forceinline__ void begin_units(keeper_t<S> &keeper, const product_t &product)
{
    const place_t &place = keeper.place;
    keeper.has_exact = false;
#pragma unroll
    for (int i = 0; i < keeper.MINE; i++) {
        const bool of_a = i < keeper.MINE_A;
        const unsigned line = keeper.line(i);
        keeper.unit[i] =
            (of_a ? is_exact(product.a, *product.b.density, place.matrix, place.m + line)
                  : is_exact(product.b, *product.a.density, place.matrix, place.n + line))
                ? (int)NOT_STORED
                : (int)ZERO;
        keeper.has_exact |= keeper.unit[i] == NOT_STORED &&
                            (of_a ? place.m + line < product.a.mn : place.n + line < product.b.mn);
    }
    if (keeper.has_exact)
        tilemm__sgemm_tell(product.routes, TILEMM__SGEMM_BY_LINES);
}

/* Go on to the units of a block of k. Store the changes in `factor` if `tell`. */
template <typename S>
static __device__ __forceinline__ void change_units(keeper_t<S> &keeper, const product_t &product,
                                                    unsigned block, unsigned blocks, bool tell,
                                                    float *factor)
{
    const place_t &place = keeper.place;
#pragma unroll
    for (int i = 0; i < keeper.MINE; i++) {
        const bool of_a = i < keeper.MINE_A;
        const tilemm__sgemm_planes_operand_t &op = of_a ? product.a : product.b;
        float ratio = 1.0f;
        if (keeper.unit[i] != NOT_STORED) {
            const int now = tilemm__sgemm_note_exponent(
                op.notes[((int64_t)place.matrix * blocks + block) * op.notes_pitch +
                         (of_a ? place.m : place.n) + keeper.line(i)]);
            /* A block of zeros keeps the unit. */
            if (now != ZERO) {
                if (keeper.unit[i] != ZERO)
                    ratio = power_of_two(keeper.unit[i] - now);
                keeper.unit[i] = now;
            }
        }
        if (tell)
            factor[keeper.number + i * KEEPERS] = ratio;
    }
}

/* Tell the last units. */
template <typename S>
static __device__ __forceinline__ void end_units(const keeper_t<S> &keeper, shared_t<S> &shared,
                                                 unsigned slot)
{
    bool general = false;
#pragma unroll
    for (int i = 0; i < keeper.MINE; i++) {
        /* A line of zeros has no unit; any will do. So it is with those that are not stored. */
        const int last = keeper.unit[i] == ZERO ? 0 : keeper.unit[i];
        const int used = last == NOT_STORED ? 0 : last;
        shared.unit[slot][keeper.number + i * KEEPERS] = last;
        shared.factor[slot][keeper.number + i * KEEPERS] = power_of_two(used);
        general |= used > 60 || used < -60; /* two such factors might overflow */
    }
    const unsigned flags = (__any_sync(~0u, general) ? GENERAL : 0) |
                           (__any_sync(~0u, keeper.has_exact) ? HAS_EXACT : 0);
    if (keeper.number % 32 == 0)
        shared.flags[slot][keeper.number / 32] = flags;
}

/* The keeper threads: for all pieces tell what the consumers must know of units. */
template <typename S>
static __device__ __forceinline__ void keep(const product_t &product, const stream_k_t &stream_k,
                                            shared_t<S> &shared, unsigned rank, unsigned number)
{
    const unsigned blocks = (unsigned)((product.k + BLOCK - 1) / BLOCK);
    unsigned slot = 0, parity = 1;
    unsigned at = stream_k_start<PAIR>(stream_k);
    piece_t piece;
    keeper_t<S> keeper;
    keeper.number = number;
    while (next_piece<S>(product, stream_k, &at, &piece, number == 0)) {
        const unsigned first = piece.begin / STEPS, last_block = (piece.end - 1) / STEPS;
        keeper.place = locate<S>(stream_k, piece.tile, rank);
        begin_units(keeper, product);
        for (unsigned block = first; block <= last_block; block++) {
            if (block > first)
                mbarrier_wait(&shared.heard[slot], parity);
            change_units(keeper, product, block, blocks, block > first, shared.factor[slot]);
            if (block > first) {
                mbarrier_arrive(&shared.told[slot]);
                advance<SLOTS>(&slot, &parity);
            }
        }
        mbarrier_wait(&shared.heard[slot], parity);
        end_units(keeper, shared, slot);
        mbarrier_arrive(&shared.told[slot]);
        advance<SLOTS>(&slot, &parity);
    }
}

#endif
