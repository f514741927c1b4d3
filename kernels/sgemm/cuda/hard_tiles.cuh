/* hard_tiles.cuh - hard tiles (route.h) on the tensor cores, from the planes of hard_planes.cuh,
 * for rest_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Producer: of one warpgroup a thread asks the copy engine for k-steps of both operands' planes,
 * and three warps make planes that are not there yet. Multipliers: two warpgroups, each with 64
 * rows of the tile. Six products of the planes' nine are added, m m + h l
 * + l h + h m + m h + h h; those left out are below 2^-24 |a b|, and hardly ever above 2^-26.
 *
 * The tensor core truncates as it adds. So `part` has the smaller products of a step, then h h of
 * the next one, and is added to `total` in FP32 (promotion); in such data few products decide a
 * sum, h h has hardly an error, and what promotion loses is most of it: `part` goes on with that
 * (Dekker, "A floating-point technique for extending the available precision", 1971: exact where
 * the total is the larger). The warpgroups take turns: each asks for a step's smaller products and
 * the next h h at once, and adds while the tensor cores multiply what the other one has asked for.
 * If both asked at will, both would wait, and then add, at the same time.
 *
 * Tile scheduler: blocks are persistent, take whole tiles and then pieces of the last ones
 * (stream_k.cuh), and skip tiles of other routes; reading runs on into the next tile. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_HARD_TILES_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_HARD_TILES_CUH

#include <cuda_runtime.h>

#include "hard_planes.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "stream_k.cuh"

namespace hard_tiles
{

enum {
    WARPGROUP = 128,
    MULTIPLIERS = 2,
    MULTIPLYING = MULTIPLIERS * WARPGROUP, /* threads, the first of a block */
    THREADS = MULTIPLYING + WARPGROUP,
    REGISTERS_PRODUCER = 88,
    REGISTERS_MULTIPLIER = 208,
    GROUP = 16, /* rows of tiles in a group of the tile walk */
    BM = MULTIPLIERS * 64,
    BN = 128,
    ACCUMULATORS = BN / 2, /* registers */
    PRODUCTS = 6,
    CORE_BYTES = CORE * CORE * 2, /* 8 lines by 8 of k */
    PLANE_BYTES = CORE * BK * 2,  /* 8 lines of a plane */
    STAGE_A = BM * LINE,          /* BF16 numbers */
    STAGE_B = BN * LINE,
    STAGE_BYTES = (STAGE_A + STAGE_B) * 2,
    STAGES = (208 << 10) / STAGE_BYTES
};

/* Dynamic shared memory. */
struct shared_t {
    unsigned short a[STAGES][STAGE_A], b[STAGES][STAGE_B];
    uint64_t full[STAGES], empty[STAGES];
    uint64_t turn[MULTIPLIERS]; /* of each warpgroup, to ask for products */
    unsigned taken;             /* the block's first chunk of planes */
};

struct place_t {
    int64_t m, n;
    unsigned matrix;
};

static __device__ __forceinline__ place_t locate(const hard_t &hard, unsigned tile)
{
    const unsigned matrix = tile / hard.walk.per_matrix;
    const tile_position_t<unsigned> at =
        tile_walk<GROUP>(tile - matrix * hard.walk.per_matrix, hard.walk.rows, hard.walk.cols);
    return {(int64_t)at.row * BM, (int64_t)at.col * BN, matrix};
}

/* The next piece of a tile of a route, as stream_k_next(). */
static __device__ __forceinline__ bool next_piece(const hard_t &hard, tilemm__sgemm_route_t route,
                                                  unsigned *at, piece_t *piece)
{
    while (stream_k_next<1>(hard.walk, at, piece)) {
        const place_t place = locate(hard, piece->tile);
        if (tilemm__sgemm_route(hard.routes, place.matrix, place.m, place.n) == route)
            return true;
    }
    return false;
}

/* Prepare the barriers, and make planes. */
static __device__ __forceinline__ void prepare(const hard_t &hard, shared_t &shared)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&shared.full[s], 1);
            mbarrier_init(&shared.empty[s], MULTIPLYING / 32);
        }
        for (int g = 0; g < MULTIPLIERS; g++)
            mbarrier_init(&shared.turn[g], WARPGROUP / 32);
        mbarrier_fence_init();
    }
    make_first(hard, shared.taken); /* where all threads meet */
}

/* ---- producer ------------------------------------------------------------------------------- */

/* One thread: bring the k-steps of all pieces, each when it is there and when there is room. */
static __device__ __forceinline__ void bring(const hard_t &hard, shared_t &shared)
{
    const int STEPS = CHUNK / BK; /* of a part of k */
    unsigned stage = 0, parity = 1, at = stream_k_start<1>(hard.walk);
    piece_t piece;
    while (next_piece(hard, TILEMM__SGEMM_BY_BF16, &at, &piece)) {
        const place_t place = locate(hard, piece.tile);
        const unsigned short *a =
            hard.a.planes + place_of(hard.a, place.matrix, piece.begin, hard.walk.steps, place.m);
        const unsigned short *b =
            hard.b.planes + place_of(hard.b, place.matrix, piece.begin, hard.walk.steps, place.n);
        for (unsigned step = piece.begin; step < piece.end; step++) {
            uint64_t *const full = &shared.full[stage];
            if (step == piece.begin || step % STEPS == 0)
                wait_for_planes(hard, place.matrix, step / STEPS);
            mbarrier_wait(&shared.empty[stage], parity);
            mbarrier_expect(full, STAGE_BYTES);
            bulk_load(shared.a[stage], a, STAGE_A * 2, full);
            bulk_load(shared.b[stage], b, STAGE_B * 2, full);
            a += hard.a.of.mn_planes * LINE;
            b += hard.b.of.mn_planes * LINE;
            advance<STAGES>(&stage, &parity);
        }
    }
}

/* The producer's warpgroup. */
static __device__ __forceinline__ void produce(const hard_t &hard, shared_t &shared)
{
    if (threadIdx.x == MULTIPLYING)
        bring(hard, shared);
    else if (threadIdx.x >= MULTIPLYING + 32)
        make_others(hard);
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* Start part += products FIRST to END - 1 of a k-step, as one group. */
template <int FIRST, int END>
static __device__ __forceinline__ void multiply(float (&part)[ACCUMULATORS], uint64_t a, uint64_t b)
{
    const int of_a[PRODUCTS] = {0, 1, 0, 2, 0, 1};
    const int of_b[PRODUCTS] = {0, 1, 2, 0, 1, 0};
    wgmma_fence();
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int i = FIRST; i < END; i++)
            wgmma_bf16(part, wgmma_operand_at(a, of_a[i] * PLANE_BYTES + half * 2 * CORE_BYTES),
                       wgmma_operand_at(b, of_b[i] * PLANE_BYTES + half * 2 * CORE_BYTES), true);
    wgmma_commit();
}

/* A multiplier thread: rows row and row + 8 of the tile, columns col + 8 i and col + 8 i + 1. */
struct multiplier_t {
    unsigned group, lane; /* the warpgroup, and the lane of the warp */
    unsigned row, col, stage, parity, turn_parity;
    float total[ACCUMULATORS], part[ACCUMULATORS];
};

/* total += part. If `keeps`, part becomes what the addition lost. */
static __device__ __forceinline__ void add_part(multiplier_t &at, bool keeps)
{
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        const float sum = at.total[i] + at.part[i];
        if (keeps)
            at.part[i] += at.total[i] - sum;
        at.total[i] = sum;
    }
}

/* Wait for the warpgroup's turn; and give it to the other one. */
static __device__ __forceinline__ void take_turn(multiplier_t &at, shared_t &shared)
{
    mbarrier_wait(&shared.turn[at.group], at.turn_parity);
    at.turn_parity ^= 1;
}

static __device__ __forceinline__ void give_turn(const multiplier_t &at, shared_t &shared)
{
    if (at.lane == 0)
        mbarrier_arrive(&shared.turn[MULTIPLIERS - 1 - at.group]);
}

/* Start part += products FIRST to END - 1 of the k-step of the present stage. */
template <int FIRST, int END>
static __device__ __forceinline__ void multiply_stage(multiplier_t &at, shared_t &shared)
{
    multiply<FIRST, END>(at.part,
                         wgmma_operand_cores(shared.a[at.stage] + at.group * 64 * LINE, CORE_BYTES,
                                             PLANES * PLANE_BYTES),
                         wgmma_operand_cores(shared.b[at.stage], CORE_BYTES, PLANES * PLANE_BYTES));
}

/* Multiply so many k-steps of a tile. */
static __device__ __forceinline__ void multiply_steps(multiplier_t &at, shared_t &shared,
                                                      unsigned steps)
{
    unsigned before = 0;
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        at.total[i] = at.part[i] = 0.0f;
    mbarrier_wait(&shared.full[at.stage], at.parity);
    take_turn(at, shared);
#pragma unroll 1
    for (unsigned step = 0; step < steps; step++) {
        multiply_stage<0, 1>(at, shared);
        give_turn(at, shared);
        wgmma_wait<0>();
        wgmma_pin(at.part);
        if (step > 0 && at.lane == 0)
            mbarrier_arrive(&shared.empty[before]);
        add_part(at, true);
        wgmma_pin(at.part);
        before = at.stage;
        take_turn(at, shared);
        multiply_stage<1, PRODUCTS>(at, shared);
        advance<STAGES>(&at.stage, &at.parity);
        if (step + 1 < steps)
            mbarrier_wait(&shared.full[at.stage], at.parity);
    }
    give_turn(at, shared);
    wgmma_wait<0>();
    wgmma_pin(at.part);
    if (at.lane == 0)
        mbarrier_arrive(&shared.empty[before]);
    add_part(at, false);
}

/* What a tile's lines were multiplied by, as log2 + SCALE_BIAS: of the thread's two rows; and of
 * four columns, from 4 times the lane's number on, in the bytes of a word. `plain`: all powers that
 * scale sums back are floats, and none is above 1. */
enum { SCALE_BIAS = 127 - TOP_LOG2, MOST_PLAIN = 126 };
static_assert(SCALE_BIAS + TOP_LOG2 + 127 < 256, "in a byte");

struct scales_t {
    unsigned rows[2], columns;
    bool plain;
};

static __device__ __forceinline__ scales_t scales_of(const multiplier_t &at, const hard_t &hard,
                                                     const place_t &place)
{
    const unsigned *const of_a =
        hard.a.of.to.exact + place.matrix * hard.a.of.mn_planes + place.m + at.row;
    const unsigned *const of_b =
        hard.b.of.to.exact + place.matrix * hard.b.of.mn_planes + place.n + at.lane * 4;
    const int64_t rows = hard.a.of.mn - place.m - at.row, cols = hard.b.of.mn - place.n;
    scales_t scales = {{SCALE_BIAS, SCALE_BIAS}, 0, true};
#pragma unroll
    for (int h = 0; h < 2; h++)
        if (h * 8 < rows) {
            const int log2 = scale_log2(__ldg(of_a + h * 8));
            scales.rows[h] = (unsigned)(log2 + SCALE_BIAS);
            scales.plain &= log2 >= 0 && log2 <= MOST_PLAIN;
        }
#pragma unroll
    for (int c = 0; c < 4; c++)
        if ((int)at.lane * 4 + c < min((int64_t)BN, cols)) {
            const int log2 = scale_log2(__ldg(of_b + c));
            scales.columns |= (unsigned)(log2 + SCALE_BIAS) << c * 8;
            scales.plain &= log2 >= 0 && log2 <= MOST_PLAIN;
        }
    scales.plain = __all_sync(~0u, scales.plain);
    return scales;
}

/* v 2^-log2. The power alone may be too large or small for a float. */
static __device__ __forceinline__ float scaled_back(float v, int log2)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int some = max(-126, min(126, log2));
        v *= power_of_two(-some);
        log2 -= some;
    }
    return v;
}

/* What columns col + 8 i and col + 8 i + 1 were multiplied by, in the low bytes of a word. */
static __device__ __forceinline__ unsigned columns_of(const multiplier_t &at,
                                                      const scales_t &scales, int i)
{
    return __shfl_sync(~0u, scales.columns, i * 2 + at.col / 4) >> at.col % 4 * 8;
}

/* Scale a tile's sums back. Usual ones have few instructions of their own: a tile takes longer to
 * fetch them than to execute them. */
static __device__ __forceinline__ void scale_back(multiplier_t &at, const scales_t &scales)
{
    const int log2[2] = {(int)scales.rows[0] - SCALE_BIAS, (int)scales.rows[1] - SCALE_BIAS};
    if (scales.plain) {
        const float row[2] = {power_of_two(-log2[0]), power_of_two(-log2[1])};
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; i += 4) {
            const unsigned columns = columns_of(at, scales, i / 4);
#pragma unroll
            for (int j = 0; j < 4; j++)
                at.total[i + j] *= row[j / 2];
#pragma unroll
            for (int j = 0; j < 4; j++)
                at.total[i + j] *= power_of_two(SCALE_BIAS - (int)(columns >> j % 2 * 8 & 0xff));
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 4) {
        const unsigned columns = columns_of(at, scales, i / 4);
#pragma unroll
        for (int j = 0; j < 4; j++)
            at.total[i + j] = scaled_back(
                at.total[i + j], log2[j / 2] + (int)(columns >> j % 2 * 8 & 0xff) - SCALE_BIAS);
    }
}

/* Store a tile. */
static __device__ __forceinline__ void
store_tile(multiplier_t &at, const tilemm__sgemm_args_t &args, const place_t &place)
{
    const int64_t m = place.m + at.row, rows = args.m - m, cols = args.n - place.n;
    float *const c =
        (args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c) +
        m * args.ldc + place.n;
#pragma unroll
    for (int h = 0; h < 2; h++)
        epilogue_store_row(at.total, h, args.alpha, args.beta, c + h * 8 * args.ldc,
                           rows > h * 8 ? cols : 0);
}

/* The multiplier threads: all tiles of this route. */
static __device__ __forceinline__ void
multiply_tiles(const hard_t &hard, const tilemm__sgemm_args_t &args, shared_t &shared)
{
    unsigned next = stream_k_start<1>(hard.walk);
    piece_t piece;
    multiplier_t at;
    at.group = threadIdx.x / WARPGROUP;
    at.lane = threadIdx.x % 32;
    at.row = threadIdx.x / 32 * 16 + at.lane / 4;
    at.col = at.lane % 4 * 2;
    at.stage = at.parity = 0;
    at.turn_parity = at.group == 0; /* the first has the first turn */
#pragma unroll 1
    while (next_piece(hard, TILEMM__SGEMM_BY_BF16, &next, &piece)) {
        const place_t place = locate(hard, piece.tile);
        const scales_t scales = scales_of(at, hard, place);
        multiply_steps(at, shared, piece.end - piece.begin);
        if (piece.tile < hard.walk.whole ||
            add_up<1, MULTIPLYING>(at.total, hard.sums, hard.walk, piece, 0, threadIdx.x)) {
            scale_back(at, scales);
            store_tile(at, args, place);
        }
    }
}

} /* namespace hard_tiles */

#endif
