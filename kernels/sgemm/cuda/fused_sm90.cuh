/* fused_sm90.cuh - the shapes of the fused SGEMM kernel (fused_sm90.cu), its shared memory, and how
 * operands come to it: steps by the copy engine, and BF16 planes made of them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. Steps of 32 of k lie in queues as the copy engine writes them, with its 128-byte swizzle;
 * of an UNALIGNED kernel by phases of rows (layout.h).
 * Planes of op(B) are in a ring of buffers in cores of 8 lines, planes of op(A) in registers; the
 * order of pairs in both is that of tilemm__fused_k(), or tilemm__phased_k(). */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_SM90_CUH

#include <cuda_runtime.h>
#include <type_traits>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/tile_walk.cuh"
#include "kernels/cuda/tma.cuh"
#include "bf16_pair.cuh"
#include "fused.h"
#include "fused_copy_sm90.cuh"

typedef tilemm__sgemm_fused_t fused_t;

enum {
    BK = TILEMM__SGEMM_FUSED_K,
    WARPGROUP = 128,
    ROWS = 2, /* of op(A) that a multiplier thread has */
    OCTET = 8,
    GROUP = 8 /* rows of tiles in a group of the tile walk */
};
static_assert(BK == 4 * OCTET, "a lane has an octet of a step");

/* What a kernel multiplies: three BF16 planes of each operand; the operands in TF32, as one plane;
 * or, so that an element's bits depend on its lines alone, three BF16 planes
 * (fused_invariant_sm90.cuh) or two FP16 planes (fused_half_sm90.cuh). */
enum kind_t { FUSED_KIND, TF32_KIND, INVARIANT_KIND, HALF_KIND };

/* A row of variants.h, and what follows from it. */
template <int BM_, int BN_, bool A_K_, bool B_K_, bool TRANSPOSED_, bool BULK_, kind_t KIND,
          int CLUSTER_ = 1, bool UNALIGNED_ = false, bool FED = true>
struct shape_t {
    static const int BM = BM_, BN = BN_, CLUSTER = CLUSTER_;
    static const bool A_K = A_K_, B_K = B_K_, TRANSPOSED = TRANSPOSED_, BULK = BULK_;
    static const bool TF32 = KIND == TF32_KIND;
    /* Rows of operands begin anywhere: the copy engine brings them by phases, or a warpgroup of its
     * own copies them (fused_copy_sm90.cuh). */
    static const bool UNALIGNED = UNALIGNED_;
    static const int PHASES = UNALIGNED ? TILEMM__SGEMM_PHASES : 1;
    /* Tensor maps of an operand: for each phase; and for matrices (fused.h, uneven). */
    static const int MAPS_A = PHASES * (UNALIGNED && !A_K && B_K ? 4 : 1);
    static const int MAPS_B = PHASES * (UNALIGNED && A_K && !B_K ? 4 : 1);
    static const bool INVARIANT = KIND == INVARIANT_KIND;
    static const bool HALF = KIND == HALF_KIND;
    static const bool FUSED = KIND == FUSED_KIND;
    /* In sparse items it goes on with what additions lose. The converter finds these, and leaves
     * steps of op(A) as well, since it may look at them. */
    static const bool KEEPS = FUSED && !UNALIGNED;
    /* Shared memory has room for a tile of C beside the operands; in TF32 for half of its columns,
     * which the copy engine stores one half after the other. */
    static const bool HAS_TILE = (BULK && !TF32) || INVARIANT || HALF;
    static const int BULK_BN = TF32 ? BN / 2 : BN;
    /* Blocks of a cluster below each other, which share op(B), and side by side: op(A). */
    static const int CLUSTER_N = tilemm__fused_cluster_n(BM, BN, CLUSTER);
    static const int CLUSTER_M = CLUSTER / CLUSTER_N;
    /* The tensor cores read op(B) as the copy engine writes it (tf32_direct_sm90.cuh). */
    static const bool DIRECT = TF32 && B_K && !UNALIGNED;
    static const int PLANES = TF32 ? 1 : HALF ? 2 : 3;
    static const int WORDS = TF32 ? OCTET : OCTET / 2; /* of an octet in a plane */
    static const bool NARROW = BN < 64;                /* bound by reading op(A) */
    static const int MULTIPLIERS = BM / 64;            /* warpgroups */
    static const int CONVERTERS = HALF && BM == 128 && BN == 128 ? 2 : 1;
    /* A warpgroup of its own copies operands, or asks the copy engine for them; where multipliers
     * need the registers, or not FED, as what follows FP16 planes in the same block, the converter
     * asks: in TF32 a warp of its own, and CONVERTING of its warps make planes. */
    static const bool HAS_FEEDER = UNALIGNED || (TF32 ? !DIRECT && BN <= 128 : FED && !HALF);
    static const int CONVERTING = 4 * CONVERTERS - (TF32 && !HAS_FEEDER);
    static const int BLOCKS = BM == 64 && BN == 64 ? 2 : 1;            /* on a multiprocessor */
    static const int LASTING = (MULTIPLIERS + CONVERTERS) * WARPGROUP; /* threads, to the end */
    static const int THREADS = LASTING + HAS_FEEDER * WARPGROUP;
    /* Of a thread of each role, in eights. Multipliers share what the others leave of those that
     * the launch gives to all, as they would wait for more without end; up to what they need. */
    static const int REGISTERS_FEEDER = MULTIPLIERS == 3 ? 24 : 40;
    static const int REGISTERS_CONVERTER = CONVERTERS == 2 ? 56
                                           : NARROW        ? (HAS_FEEDER ? 56 : 64)
                                           : BLOCKS == 2   ? (HAS_FEEDER ? 64 : 88)
                                                           : 72;
    static const int REGISTERS_LEFT =
        (65536 / (BLOCKS * THREADS) / 8 * 8 * THREADS / WARPGROUP -
         CONVERTERS * REGISTERS_CONVERTER - HAS_FEEDER * REGISTERS_FEEDER) /
        MULTIPLIERS / 8 * 8;
    static const int REGISTERS_NEEDED = TF32 && NARROW ? (HAS_FEEDER ? 96 : 104) : 216;
    static const int REGISTERS_MULTIPLIER =
        REGISTERS_LEFT < REGISTERS_NEEDED ? REGISTERS_LEFT : REGISTERS_NEEDED;
    static const int ACCUMULATORS = BN / 2; /* registers */
    /* Lines of op(B) of which a thread makes planes at a time. */
    static const int LINES = BN > 128 ? 4 : BN / (32 * CONVERTERS);
    /* A thread's lines are not neighbours, but 8 apart. Neighbours in C' are stored together. */
    static const bool A_APART = A_K || (UNALIGNED && !TRANSPOSED), B_APART = B_K || UNALIGNED;
    static const int TILE = BM * BN; /* floats, of C */
    static const int BULK_TILE = HAS_TILE ? TILE : BULK ? BM * BULK_BN : 1;
    /* Steps that shared memory has room for: as planes in the ring; as numbers in the queues. */
    static const int MOST_STAGES = ((208 << 10) / BLOCKS - BULK_TILE * 4) / ((BM + BN) * BK * 4);
    static const int BUFFERS = DIRECT                            ? 1
                               : NARROW                          ? (INVARIANT ? 7 : 8)
                               : HALF                            ? (BN == 128 ? 3 : 4)
                               : MULTIPLIERS == 3                ? 4
                               : BN > 128 || (BULK && BN == 128) ? 2
                               : TF32 && (BN == 128 || !BULK)    ? 4
                                                                 : 3;
    static const int STAGES = DIRECT                            ? MOST_STAGES
                              : BN > 128                        ? 3
                              : TF32                            ? (BM == 64 || BN == 128 ? 4 : 5)
                              : BULK && (BM == 64 || BN == 128) ? 3
                                                                : 4;
    /* Floats of a stage. By phases, lines in groups: chains of an INVARIANT kernel go where a
     * warpgroup's rows were. */
    static const int GROUP_A = INVARIANT ? 64 : BM, GROUP_B = BN;
    static const int STAGE_A = UNALIGNED ? tilemm__phased_size(BM, GROUP_A, A_K) : BM * BK;
    static const int STAGE_B = UNALIGNED ? tilemm__phased_size(BN, GROUP_B, B_K) : BN * BK;
    static const int PLANE = DIRECT ? 1 : BN / 8 * TILEMM__SGEMM_FUSED_PITCH(WORDS); /* words */
    static_assert(TILE > 128 * 128 || HAS_TILE ||
                      TILE <= (DIRECT ? STAGES * BN * BK : BUFFERS * PLANES * PLANE),
                  "what holds op(B) has room for it");
    static_assert(BM % 64 == 0 && BN % 32 == 0 && BN <= 256, "whole warpgroups, one instruction");
    static_assert(TF32 || LINES * CONVERTERS * 32 == BN, "converters have all lines of op(B)");
    static_assert(STAGE_A / PHASES % 32 == 0 && STAGE_B / PHASES % 32 == 0,
                  "a box begins at a multiple of 128 bytes");
};

/* ---- places --------------------------------------------------------------------------------- */

/* The operands, or phases of their rows, and the result for the copy engine. */
template <int MAPS_A, int MAPS_B>
struct maps_of_t {
    CUtensorMap a[MAPS_A], b[MAPS_B], c;
};

template <typename S>
using maps_t = maps_of_t<S::MAPS_A, S::MAPS_B>;

/* An item of work: a tile of a matrix and one split of its k. */
typedef struct {
    int m, n, k, end; /* the tile's first element; and the end of the split */
    unsigned matrix, split;
} place_t;

/* The splits of a tile follow each other. */
template <typename S>
static __device__ __forceinline__ place_t locate(const fused_t &problem, unsigned item)
{
    const unsigned splits = (unsigned)problem.splits, per_matrix = problem.rows * problem.cols;
    const unsigned tile = item / splits, split = item - tile * splits;
    const unsigned matrix = tile / per_matrix, inside = tile - matrix * per_matrix;
    const tile_position_t<unsigned> at = tile_walk<GROUP>(inside, problem.rows, problem.cols);
    const int64_t k = split * problem.k_split, end = min(problem.args.k, k + problem.k_split);
    const unsigned rank = S::CLUSTER == 1 ? 0 : cluster_rank();
    const unsigned row = at.row * S::CLUSTER_M + (S::CLUSTER_M > 1 ? rank : 0);
    const unsigned col = at.col * S::CLUSTER_N + (S::CLUSTER_N > 1 ? rank : 0);
    return {(int)row * S::BM, (int)col * S::BN, (int)k, (int)end, matrix, split};
}

/* A block's first item, and how far it is to its next one. Where CLUSTER is not 1 the blocks of a
 * cluster share an item, of CLUSTER_M x CLUSTER_N tiles. */
template <typename S>
static __device__ __forceinline__ unsigned first_item(void)
{
    return blockIdx.x / S::CLUSTER;
}

template <typename S>
static __device__ __forceinline__ unsigned next_items(void)
{
    return gridDim.x / S::CLUSTER;
}

/* The number of a place's tile for carry.h. */
template <typename S>
static __device__ __forceinline__ uint64_t tile_number(const fused_t &problem, const place_t &place)
{
    return ((uint64_t)place.matrix * problem.rows + place.m / S::BM) * problem.cols +
           place.n / S::BN;
}

/* Whether FP16 planes left an element of an item's tile over. */
template <typename S>
static __device__ __forceinline__ bool is_left(const fused_t &problem, unsigned item)
{
    const uint64_t tile = tile_number<S>(problem, locate<S>(problem, item));
    unsigned any = 0;
    for (int slot = 0; slot < problem.carry.slots; slot++)
        any |= problem.carry.left[tile * TILEMM__SGEMM_CARRY_SLOTS + slot];
    return any;
}

/* Whether planes left anything over for this block, asked by all of its threads. */
template <typename S>
static __device__ __forceinline__ bool has_left(const fused_t &problem)
{
    bool left = false;
    for (uint64_t item = blockIdx.x + (uint64_t)threadIdx.x * gridDim.x; item < problem.count;
         item += (uint64_t)S::THREADS * gridDim.x)
        left |= is_left<S>(problem, (unsigned)item);
    return __syncthreads_or(left);
}

/* The first of a block's items from `item` on that is the kernel's: problem.count or more if there
 * is none. */
template <typename S>
static __device__ __forceinline__ unsigned own_item(const fused_t &problem, unsigned item)
{
    if (S::INVARIANT && problem.carry.a)
        while (item < problem.count && !is_left<S>(problem, item))
            item += gridDim.x;
    return item;
}

/* ---- feed ----------------------------------------------------------------------------------- */

/* Steps of an operand as they are brought: SIZE floats each. */
template <int SIZE, int STAGES>
struct queue_t {
    __align__(1024) float at[STAGES][SIZE];
    uint64_t full[STAGES], empty[STAGES];
};

/* Whether threads copy the operands, which the copy engine cannot bring. */
template <typename S>
static __device__ __forceinline__ bool is_copied(const fused_t &problem)
{
    return S::UNALIGNED && !problem.phased;
}

/* Lanes of a warp that say that it has left a stage: lane 0 after a __syncwarp(), of which the
 * compiler makes nothing where lanes are together. racecheck then takes the other lanes' reads and
 * copies by threads, which it sees, for a race: so all lanes say it there. */
template <typename S>
static __device__ __forceinline__ unsigned leaving_lanes(const fused_t &problem)
{
    return is_copied<S>(problem) ? 32 : 1;
}

/* Leave a stage, which all lanes have read, if the warp is to. */
template <typename S>
static __device__ __forceinline__ void leave_stage(const fused_t &problem, uint64_t *empty,
                                                   bool leaves = true)
{
    __syncwarp();
    if (threadIdx.x % 32 < leaving_lanes<S>(problem) && leaves)
        mbarrier_arrive(empty);
}

static __device__ __forceinline__ unsigned word_of(float x)
{
    return __float_as_uint(x);
}

static __device__ __forceinline__ unsigned word_of(unsigned x)
{
    return x;
}

/* Whether numbers have come that were read from a stage, or from which these were made: they have,
 * but only who waits for them can tell. An arrival does not wait for reads under way. */
template <typename T, int COUNT>
static __device__ __forceinline__ bool have_come(const fused_t &problem, const T (&x)[COUNT])
{
    unsigned bits = problem.count; /* never 0, which the compiler does not know */
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        bits |= word_of(x[i]);
    return bits != 0;
}

/* Which step one thread asks for next. */
typedef struct {
    unsigned item;            /* the item after that of the step */
    int line, k, end, matrix; /* the step's place, and the end of its item's k */
    unsigned count;           /* of steps that it has asked for */
} feed_t;

/* Let the feed's next step be the first one of an item. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void set_place(feed_t &feed, const place_t &place)
{
    feed.line = IS_A ? place.m : place.n;
    feed.k = place.k;
    feed.end = place.end;
    feed.matrix = (int)place.matrix;
}

/* Ask the copy engine for a step of an operand by phases of rows. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void ask_for_phases(const feed_t &feed, float *stage,
                                                      const fused_t &problem,
                                                      const CUtensorMap *maps, uint64_t *full)
{
    const bool K_MAJOR = IS_A ? S::A_K : S::B_K;
    const int LINES = IS_A ? S::BM : S::BN, GROUP = IS_A ? S::GROUP_A : S::GROUP_B;
    const int PHASES = TILEMM__SGEMM_PHASES;
    const bool uneven = IS_A ? problem.uneven_a : problem.uneven_b;
    const int before = uneven ? feed.matrix * (int)(IS_A ? problem.args.m : problem.args.n) : 0;
    mbarrier_expect(full, tilemm__phased_size(LINES, GROUP, K_MAJOR) * sizeof(float));
#pragma unroll
    for (int i = 0; i < LINES; i += GROUP)
#pragma unroll
        for (int phase = 0; phase < PHASES; phase++) {
            if (K_MAJOR) {
                const int row = before + feed.line + i + phase;
                tensor_load(stage + tilemm__phased(i + phase, 0, GROUP, true), maps + row % PHASES,
                            feed.k, row / PHASES, uneven ? 0 : feed.matrix, full);
            } else {
                tensor_load(stage + tilemm__phased(i, phase, GROUP, false),
                            maps + (uneven ? feed.matrix % 4 * PHASES : 0) + phase, feed.line + i,
                            feed.k / PHASES, uneven ? feed.matrix / 4 : feed.matrix, full);
            }
        }
}

/* Ask the copy engine for a step of an operand; or start the copies of this thread. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void
ask_for(const feed_t &feed, queue_t<IS_A ? S::STAGE_A : S::STAGE_B, S::STAGES> &queue,
        const fused_t &problem, const maps_t<S> &maps)
{
    const bool K_MAJOR = IS_A ? S::A_K : S::B_K;
    const int LINES = IS_A ? S::BM : S::BN;
    const CUtensorMap *const map = IS_A ? maps.a : maps.b;
    const unsigned stage = feed.count % S::STAGES, parity = feed.count / S::STAGES % 2;
    mbarrier_wait(&queue.empty[stage], parity ^ 1);
    if constexpr (S::UNALIGNED) {
        if (problem.phased) {
            ask_for_phases<S, IS_A>(feed, queue.at[stage], problem, map, &queue.full[stage]);
        } else {
            copy_step<LINES, IS_A ? S::GROUP_A : S::GROUP_B, K_MAJOR>(
                queue.at[stage], source_of<IS_A>(problem.args, feed.matrix), feed.line, feed.k);
            mbarrier_arrive_after_copies(&queue.full[stage]);
        }
        return;
    }
    mbarrier_expect(&queue.full[stage], LINES * BK * 4);
    if (K_MAJOR) {
        tensor_load(queue.at[stage], map, feed.k, feed.line, feed.matrix, &queue.full[stage]);
    } else {
#pragma unroll
        for (int i = 0; i < LINES; i += 32)
            tensor_load(queue.at[stage] + i * BK, map, feed.line + i, feed.k, feed.matrix,
                        &queue.full[stage]);
    }
}

/* Ask for the next step, of this item or the next one, if there is one. op(A)'s last one is
 * followed by a step of zeros, since multipliers make the planes of one step too many. */
template <typename S, bool IS_A>
static __device__ __forceinline__ bool
feed_step(feed_t &feed, queue_t<IS_A ? S::STAGE_A : S::STAGE_B, S::STAGES> &queue,
          const fused_t &problem, const maps_t<S> &maps)
{
    if (feed.k >= feed.end) {
        if (feed.item < problem.count) {
            set_place<S, IS_A>(feed, locate<S>(problem, feed.item));
        } else if (IS_A && feed.item < problem.count + gridDim.x) {
            feed.k = (int)((problem.args.k + BK - 1) / BK * BK);
            feed.end = feed.k + 1;
        } else {
            return false;
        }
        feed.item = own_item<S>(problem, feed.item + gridDim.x);
    }
    ask_for<S, IS_A>(feed, queue, problem, maps);
    feed.k += BK;
    feed.count++;
    return true;
}

/* Where a lane's numbers are in a stage by phases. If memory runs along k: the index of its first
 * number, from which the others follow. Else those of its first four along k, whose phases have
 * shifts of their own. Its lines are NEXT apart. */
template <bool K_MAJOR, int GROUP, int NEXT>
struct phased_t {
    unsigned at[K_MAJOR ? 1 : TILEMM__SGEMM_PHASES];
};

/* The same of an operand of S; of a stage as the copy engine swizzles it, the index of the lane's
 * first number. */
template <typename S, bool IS_A>
using first_t = std::conditional_t<S::UNALIGNED,
                                   phased_t<IS_A ? S::A_K : S::B_K, IS_A ? S::GROUP_A : S::GROUP_B,
                                            (IS_A ? S::A_APART : S::B_APART) ? 8 : 1>,
                                   unsigned>;

/* The shift of a matrix's row of an operand in its phase; where threads copy, one that spreads rows
 * over banks. */
template <bool IS_A>
static __device__ __forceinline__ unsigned shift_of(const fused_t &problem, unsigned matrix,
                                                    unsigned row)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned first = (unsigned)((uint64_t)(IS_A ? args.a : args.b) / sizeof(float));
    const unsigned ld = (unsigned)(IS_A ? args.lda : args.ldb);
    const unsigned stride = (unsigned)(IS_A ? args.stride_a : args.stride_b);
    return (problem.phased ? first + matrix * stride + row * ld : row) % 4;
}

/* A lane's first number in stages with steps of a matrix. `line` is the warp's first line. */
template <typename S, bool IS_A>
static __device__ __forceinline__ first_t<S, IS_A> first_of(const fused_t &problem, unsigned line,
                                                            unsigned matrix)
{
    const bool K_MAJOR = IS_A ? S::A_K : S::B_K;
    const unsigned lane = threadIdx.x % 32;
    line += tilemm__fused_line(lane, 0, IS_A ? ROWS : S::LINES, IS_A ? S::A_APART : S::B_APART);
    if constexpr (S::UNALIGNED) {
        const unsigned k = tilemm__phased_k(lane % 4, 0);
        first_t<S, IS_A> first;
#pragma unroll
        for (unsigned i = 0; i < (K_MAJOR ? 1 : TILEMM__SGEMM_PHASES); i++)
            first.at[i] = tilemm__phased(line, k + i, IS_A ? S::GROUP_A : S::GROUP_B, K_MAJOR) +
                          shift_of<IS_A>(problem, matrix, K_MAJOR ? line : i);
        return first;
    } else {
        return tilemm__fused_staged(line, tilemm__fused_k(lane % 4, 0), K_MAJOR);
    }
}

/* The same of op(A), of a multiplier's warp. */
template <typename S>
static __device__ __forceinline__ first_t<S, true> first_of_a(const fused_t &problem,
                                                              unsigned matrix)
{
    return first_of<S, true>(problem, threadIdx.x / 32 * 16, matrix);
}

/* Read a pair of a lane's octets of LINES lines of a stage, the octets' pair number `pair`, to
 * x[][at] and the next. */
template <int LINES, bool K_MAJOR, int COUNT>
static __device__ __forceinline__ void take_pair(const float *stage, unsigned first, int pair,
                                                 float (&x)[LINES][COUNT], int at = 0)
{
    const int half = pair / 2, in_half = pair % 2 * 2;
    if (K_MAJOR) {
        first ^= half * TILEMM__SGEMM_FUSED_HALF_K;
#pragma unroll
        for (int j = 0; j < LINES; j++) {
            const float2 v =
                *(const float2 *)(stage + (first ^ in_half) + j * TILEMM__SGEMM_FUSED_8_LINES);
            x[j][at] = v.x, x[j][at + 1] = v.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float *const from = stage + (first ^ (in_half + i) * TILEMM__SGEMM_FUSED_NEXT) +
                                      half * TILEMM__SGEMM_FUSED_HALF;
            const int to = at + i;
            if (LINES == 4) {
                const float4 v = *(const float4 *)from;
                x[0][to] = v.x, x[1 % LINES][to] = v.y;
                x[2 % LINES][to] = v.z, x[3 % LINES][to] = v.w;
            } else if (LINES == 2) {
                const float2 v = *(const float2 *)from;
                x[0][to] = v.x, x[1 % LINES][to] = v.y;
            } else {
                x[0][to] = *from;
            }
        }
    }
}

template <int LINES, bool K_MAJOR, int GROUP, int NEXT, int COUNT>
static __device__ __forceinline__ void take_pair(const float *stage,
                                                 const phased_t<K_MAJOR, GROUP, NEXT> &first,
                                                 int pair, float (&x)[LINES][COUNT], int at = 0)
{
    const unsigned half = pair / 2, in_half = pair % 2 * 2, LAST = K_MAJOR ? 0 : 3;
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        const unsigned of = K_MAJOR   ? first.at[0] + in_half + i
                            : in_half ? first.at[(2 + i) & LAST]
                                      : first.at[i & LAST];
        const float *const from =
            stage + of + tilemm__phased(0, half * tilemm__phased_k(0, OCTET / 2), GROUP, K_MAJOR);
#pragma unroll
        for (unsigned j = 0; j < LINES; j++)
            x[j][at + i] = from[tilemm__phased(j * NEXT, 0, GROUP, K_MAJOR)];
    }
}

/* Read half of a lane's octets of LINES lines of a stage. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ void take(const float *stage, unsigned first, int half,
                                            float (&x)[LINES][OCTET / 2])
{
    first = opaque(first); /* no registers for the places of all numbers */
    take_pair<LINES, K_MAJOR>(stage, first, half * 2, x);
    take_pair<LINES, K_MAJOR>(stage, first, half * 2 + 1, x, 2);
}

template <int LINES, bool K_MAJOR, int GROUP, int NEXT>
static __device__ __forceinline__ void take(const float *stage,
                                            const phased_t<K_MAJOR, GROUP, NEXT> &first, int half,
                                            float (&x)[LINES][OCTET / 2])
{
    take_pair<LINES>(stage, first, half * 2, x);
    take_pair<LINES>(stage, first, half * 2 + 1, x, 2);
}

/* Call use(line, x) with each number x of a lane's octets of LINES lines of a stage. */
template <int LINES, bool K_MAJOR, typename FIRST, typename USE>
static __device__ __forceinline__ void for_each_number(const float *stage, const FIRST &first,
                                                       USE use)
{
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        float x[LINES][OCTET / 2];
        take<LINES, K_MAJOR>(stage, first, half, x);
#pragma unroll
        for (int line = 0; line < LINES; line++)
#pragma unroll
            for (int i = 0; i < OCTET / 2; i++)
                use(line, x[line][i]);
    }
}

/* Chains of FP32 multiply-adds of a warpgroup's 64 rows (fused_chain_sm90.cuh). */
template <typename S>
struct chain_t {
    static const int ROWS_A = 64;
    /* Of k, in shared memory at a time: more where a fused kernel has room for a tile of C. */
    static const int STEP = !S::FUSED || !S::HAS_TILE || S::MULTIPLIERS != 2 ? 8
                            : S::BN == 128                                   ? 32
                                                                             : 16;
    /* In registers, for which these suffice. */
    static const int AT_ONCE = !S::FUSED                            ? 4
                               : S::MULTIPLIERS == 2 && S::BN == 64 ? 8
                               : S::HAS_TILE                        ? 2
                                                                    : 1;
    /* Of k: at its multiples chains of a fused kernel end at least; likewise. */
    static const int LONGEST = S::MULTIPLIERS > 2 ? BK : 8 * BK;
    static const int PITCH = ROWS_A + S::BN + 4;
    static const int OF_THREAD = 8;                    /* rows */
    static const int COLUMNS = S::BN / 16;             /* of a thread */
    static const int WIDE = COLUMNS < 4 ? COLUMNS : 4; /* side by side */
    static const int TURNED = WIDE * 16; /* columns of what lanes exchange at a time */
    static const int OF_WARP = OF_THREAD * TURNED;
    static const int SIZE = (STEP * PITCH > 4 * OF_WARP) ? STEP * PITCH : 4 * OF_WARP; /* floats */
    static_assert(!S::FUSED || !S::HAS_TILE || SIZE <= ROWS_A * S::BN, "the tile has room for it");
};

/* Dynamic shared memory. */
template <typename S>
struct shared_t {
    queue_t<S::STAGE_A, S::STAGES> a;
    queue_t<S::STAGE_B, S::STAGES> b;
    unsigned planes[S::BUFFERS][S::PLANES][S::PLANE]; /* of op(B): h, m, l; or TF32 */
    __align__(1024) float bulk[S::BULK_TILE];         /* for the copy engine to store */
    uint64_t full[S::BUFFERS], empty[S::BUFFERS];
    uint64_t multipliers;         /* at which they meet, from wherever they are in the code */
    unsigned windows[S::BUFFERS]; /* of op(B): a byte for each warp of the converter */
    /* For chains of a warpgroup each, without a tile to store from, where they could be. */
    __align__(16) float chains[S::FUSED && !S::HAS_TILE ? S::MULTIPLIERS * chain_t<S>::SIZE : 1];
    /* Lines of op(B) in a step that planes do not carry: a word for each warp of the converter. */
    __align__(16) unsigned exact[S::INVARIANT ? S::BUFFERS : 1][WARPGROUP / 32];
    /* HALF: with a part's last step, op(B)'s lines' classes, and what takes sums back from their
     * scales; the least classes of an item's rows, and of its columns, for each warpgroup of
     * multipliers; and both for the cluster. */
    __align__(8) float inverses[S::HALF ? S::BUFFERS : 1][S::BN];
    unsigned char column_classes[S::HALF ? S::BUFFERS : 1][S::BN];
    unsigned char rows[S::HALF ? S::BM : 1];
    unsigned char columns[S::HALF ? S::MULTIPLIERS : 1][S::BN];
    float classes[S::HALF ? S::BM + S::BN : 1];
    unsigned has_left; /* an element that planes do not carry, in some item of the block */
};

/* Where a finished tile of C lies: without room of its own where op(B) was, which is no longer in
 * use then. */
template <typename S>
static __device__ __forceinline__ float *tile_of(shared_t<S> &shared)
{
    return S::HAS_TILE ? shared.bulk : S::DIRECT ? shared.b.at[0] : (float *)shared.planes;
}

/* ---- planes --------------------------------------------------------------------------------- */

/* Windows. A warp makes planes of 2^16 times its numbers: these have all bits of any number, since
 * the last bit of a subnormal number is 2^-149 and BF16 goes down to 2^-133; and no product or sum
 * of a step overflows while they are below 2^61. Where a step has numbers from 2^45 on, the warp
 * takes another window, and makes the step's planes again:
 * LARGE, of the numbers as they are, with all bits from 2^-110 on, below 2^61;
 * HUGE_ONES, of 2^-16 times the numbers, from 2^-46 on, below 2^77. Sums of products are 2^-16 or
 * 2^-32 times the true ones beside a window other than the usual one, and would lose bits if the
 * other operand had LARGE numbers below 2^-62;
 * HUGE_ONES | RISKY, of 2^-16 times the numbers, below 2^124: unless the other operand's numbers of
 * the step are in the usual window, below 2^4, products may overflow, or lose bits. LOSSY, if there
 * are numbers below 2^-94, of which planes lose at most 2^-118: that is nothing beside a line's
 * largest number in this step, 2^-10 or more, unless the other operand has numbers below 2^-47.
 * Where a window is HUGE_ONES the multipliers see whether the other operand's numbers are even: as
 * said here. Of each step the warp says which window its planes have, and whether it met numbers
 * beyond all of them (fused_fp32_sm90.cuh). */
enum {
    BEYOND = 1, /* bits of a byte of shared_t.windows */
    LARGE = 2,
    HUGE_ONES = 4,
    SPARSE = 8, /* the item is sparse */
    RISKY = 16,
    LOSSY = 32,
    FEW_STEPS = 5, /* up to which nobody looks whether an item is sparse */
    EVERY_BYTE = 0x01010101,
    WINDOW_LOG2 = 16,
    MOST_BF16 = (127 + 61) << 7, /* of planes, as BF16 */
    LEAST_LARGEST_LOG2 = -10,    /* of a line's largest number, where a window is LOSSY */
    /* Of even numbers, in planes: beside RISKY ones, LOSSY ones; in the window LARGE. */
    MOST_EVEN_BF16 = (127 + 4 + WINDOW_LOG2) << 7,
    LEAST_EVEN_BF16 = (127 - 47 + WINDOW_LOG2) << 7,
    LEAST_EVEN_LARGE_BF16 = (127 - 62) << 7
};

/* A warp's window, and what it met of a step. */
typedef struct {
    unsigned large; /* 0, LARGE, HUGE_ONES, HUGE_ONES | RISKY, the same | LOSSY */
    unsigned most;  /* a thread's largest |h|, in either half of a word; the signs are any */
    bool beyond;    /* the warp met numbers beyond all windows */
    bool fits;      /* beyond that of the planes, but `large` is by now one that has them */
} window_t;

/* The logarithm of what numbers are multiplied by: 16, 0 or -16, of `large` as in a window. For
 * several windows in the bytes of a word, `ones` is EVERY_BYTE. */
static __device__ __forceinline__ unsigned window_log2(unsigned large, unsigned ones = 1)
{
    return ones * WINDOW_LOG2 - (large & ones * (LARGE | HUGE_ONES)) * (WINDOW_LOG2 / LARGE);
}

/* A number as planes are made of it. */
static __device__ __forceinline__ float taken(float x, const window_t &window)
{
    return x * __uint_as_float((127u + window_log2(window.large)) << 23);
}

static __device__ __forceinline__ unsigned window_most(const window_t &window)
{
    return bf16_most(window.most);
}

/* Pair i of half an octet: each x = h + m + l. */
template <typename S>
static __device__ __forceinline__ void convert(const float (&half)[OCTET / 2], int i,
                                               unsigned (&planes)[S::PLANES], window_t &window)
{
    float x = taken(half[i * 2], window), y = taken(half[i * 2 + 1], window);
#pragma unroll
    for (int p = 0; p < S::PLANES; p++)
        planes[p] = bf16_plane(x, y);
    bf16_note(planes[0], window.most);
}

/* Whether an operand is sparse, by pairs of numbers, one or two of each of a stage's LINES lines:
 * an eighth of them or more are zeros. Only `lines` of the lines exist, or all; of k, `depth`. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ bool is_sparse(const float *stage, int64_t lines, int depth)
{
    const unsigned lane = opaque(threadIdx.x % 32), k = lane / 2 * 2;
    int pairs = 0, zeros = 0;
#pragma unroll 4
    for (int first = 0; first < LINES; first += 32) {
        const unsigned line = (first + lane) % LINES;
        const bool exists = line < lines && (int)k < depth;
        const bool zero = stage[tilemm__fused_staged(line, k, K_MAJOR)] == 0.0f &&
                          stage[tilemm__fused_staged(line, k + 1, K_MAJOR)] == 0.0f;
        pairs += __popc(__ballot_sync(~0u, exists));
        zeros += __popc(__ballot_sync(~0u, exists && zero));
    }
    return zeros * 8 >= pairs;
}

/* Which numbers of an operand in one window are even beside the other operand's windows, of which
 * `others` has the bits: magnitudes of the first plane in least .. most, and 0 if `zeros`. */
typedef struct {
    unsigned least, most;
    bool zeros;
} even_t;

static __device__ __forceinline__ even_t even_beside(unsigned others, unsigned window)
{
    const bool risky = others & RISKY, lossy = others & LOSSY, large = window & LARGE;
    const bool usual = !(window & (LARGE | HUGE_ONES));
    return {lossy             ? LEAST_EVEN_BF16
            : large && !risky ? LEAST_EVEN_LARGE_BF16
                              : 1u, /* any but 0 */
            !risky  ? ~0u
            : usual ? MOST_EVEN_BF16
                    : 0u,
            !lossy};
}

/* Of two numbers of a first plane, of which `count` exist: whether one is not even. Without
 * branches: they would be many. */
static __device__ __forceinline__ bool is_uneven(unsigned pair, int count, const even_t &even)
{
    const unsigned low = pair & 0x7fff, high = count > 1 ? pair >> 16 & 0x7fff : low;
    const unsigned not_zero = even.zeros; /* 0 - 1 is no little number */
    const bool little =
        (low - not_zero < even.least - not_zero) | (high - not_zero < even.least - not_zero);
    return (count > 0) & (little | (low >= even.most) | (high >= even.most));
}

/* Bits of 2^log2. */
static __device__ constexpr unsigned bits_of(int log2)
{
    return (unsigned)(127 + log2) << 23;
}

/* Whether a warp's lines in a step, LINES of a lane, have a number whose LARGE planes lack bits. */
template <int LINES, bool K_MAJOR, typename FIRST>
static __device__ __forceinline__ bool has_little(const float *stage, const FIRST &first)
{
    unsigned least = ~0u;
    for_each_number<LINES, K_MAJOR>(stage, first, [&](int, float x) {
        least = min(least, 2 * __float_as_uint(x) - 1); /* not of 0 */
    });
    return __any_sync(~0u, least < 2 * bits_of(-110) - 1);
}

/* Look at the numbers of a warp's lines in a step, LINES of a lane: whether the window has them,
 * and if not, which has. */
template <int LINES, bool K_MAJOR, typename FIRST>
static __device__ __forceinline__ void look_closely(const float *stage, const FIRST &first,
                                                    window_t &window)
{
    unsigned most_of[LINES], least_of[LINES], most = 0, least = ~0u;
#pragma unroll
    for (int j = 0; j < LINES; j++)
        most_of[j] = 0, least_of[j] = ~0u;
    for_each_number<LINES, K_MAJOR>(stage, first, [&](int line, float x) {
        const unsigned size = __float_as_uint(x) & 0x7fffffff;
        most_of[line] = max(most_of[line], size);
        least_of[line] = min(least_of[line], size - 1); /* not of 0 */
    });
#pragma unroll
    for (int j = 0; j < LINES; j++) {
        most = max(most, most_of[j]);
        least = min(least, least_of[j]);
    }
    most = __reduce_max_sync(~0u, most);
    least = __reduce_min_sync(~0u, least);

    const bool usual = most < bits_of(45), large = most < bits_of(61) && least >= bits_of(-110) - 1;
    const bool huge = most < bits_of(77) && least >= bits_of(-46) - 1;
    const unsigned now = window.large & (LARGE | HUGE_ONES);
    const unsigned lossy = least < bits_of(-94) - 1 ? LOSSY : 0;
    bool risky = most < bits_of(124);
    if (__any_sync(~0u, risky && !usual && !large && !huge)) {
        bool loses = false;
#pragma unroll
        for (int j = 0; j < LINES; j++) {
#pragma unroll
            for (int apart = 1; apart < 4; apart *= 2) { /* four lanes have a line */
                most_of[j] = max(most_of[j], __shfl_xor_sync(~0u, most_of[j], apart));
                least_of[j] = min(least_of[j], __shfl_xor_sync(~0u, least_of[j], apart));
            }
            loses |= most_of[j] < bits_of(LEAST_LARGEST_LOG2) && least_of[j] < bits_of(-94) - 1;
        }
        risky = !__any_sync(~0u, loses);
    }
    const unsigned fitting = large && (!usual || now == LARGE) ? LARGE
                             : usual                           ? 0
                             : huge                            ? HUGE_ONES
                             : risky                           ? HUGE_ONES | RISKY | lossy
                                                               : now;
    window.beyond = !usual && !large && !huge && !risky;
    window.fits = (fitting & (LARGE | HUGE_ONES)) != now;
    window.large = fitting;
}

/* Note whether a warp met numbers beyond its window, by its planes of a step. If so, take a window
 * that has them, if there is one. The vote is taken in any case: it brings threads together again
 * that waited for the step apart from each other, and would go on to make its planes twice. */
template <int LINES, bool K_MAJOR, typename FIRST>
static __device__ __forceinline__ void look_beyond(const float *stage, const FIRST &first,
                                                   window_t &window)
{
    const bool above = window_most(window) >= MOST_BF16;
    if (__any_sync(~0u, above || window.large) &&
        (__any_sync(~0u, above || (window.large & HUGE_ONES)) ||
         has_little<LINES, K_MAJOR>(stage, first)))
        look_closely<LINES, K_MAJOR>(stage, first, window);
}

#endif
