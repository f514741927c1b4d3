/* fused_sm90.cu - SGEMM in one launch on Hopper's tensor cores, operands split in three BF16
 * planes as they are read (sgemm_fused.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C, k in steps of 32. The copy engine brings steps of both operands
 * to queues in shared memory. Planes of op(B)'s steps are in a ring there; those of op(A)'s are in
 * registers, which the tensor cores take as well. Where C has few rows, the operands change places.
 *
 * Splitter: one warpgroup makes the planes of op(B). Two of its threads ask for the steps of op(A)
 * and op(B), ahead of their use.
 *
 * Multipliers: each of BM / 64 warpgroups has 64 rows. It splits its rows of op(A) a step ahead,
 * between the instructions for the tensor cores. The product of the large planes and those of the
 * others go to `part`, one after the other, which each time is added to `total` in ordinary
 * registers, since the tensor core truncates what it accumulates. A step that has numbers which the
 * planes cannot carry (Inf, NaN, next to overflow, below 2^-100) does not count: the warps
 * concerned multiply it in FP32.
 *
 * Epilogue: alpha, beta, straight to C; or by the copy engine, so that the multipliers go on with
 * the next tile meanwhile; or to the partial products where k is split; or, where the splits of k
 * are the blocks of a cluster, each block adds up some rows of all of them, in order.
 *
 * Blocks are persistent: reading and splitting run on into the next tile.
 *
 * Assumes: compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "fused.h"
#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"

enum {
    BK = TILEMM__SGEMM_FUSED_K,
    WARPGROUP = 128,
    PLANES = 3,
    ROWS = 2, /* of op(A), that are a multiplier thread's */
    OCTET = 8,
    GROUP = 8
};
static_assert(BK == 4 * OCTET, "a lane has an octet of a step");

/* A kernel's constants: the tile; whether the operands' memory runs along k; whether they have
 * changed places, so that C's memory runs down the columns; whether there is room for the copy
 * engine to store C from. */
template <int BM_, int BN_, bool A_K_, bool B_K_, bool TURNED_, bool BULK_>
struct shape_t {
    static const int BM = BM_, BN = BN_;
    static const bool A_K = A_K_, B_K = B_K_, TURNED = TURNED_, BULK = BULK_;
    static const bool NARROW = BN < 64;     /* mostly a matter of reading op(A) */
    static const int MULTIPLIERS = BM / 64; /* warpgroups */
    static const int REGISTERS_SPLITTER = NARROW ? 64 : MULTIPLIERS == 1 ? 88 : 72;
    static const int REGISTERS_MULTIPLIER = NARROW ? 104 : MULTIPLIERS == 1 ? 168 : 216;
    static const int THREADS = (MULTIPLIERS + 1) * WARPGROUP;
    static const int ACCUMULATORS = BN / 2;         /* registers */
    static const int LINES = BN > 32 ? BN / 32 : 1; /* of op(B), for a thread to split */
    static const int LINES_B = BN > 32 ? BN : 32;   /* that a stage has room for */
    /* Of planes, in the ring; and of numbers on their way: what shared memory has room for. */
    static const int BUFFERS = BN == 16 ? 12 : NARROW ? 8 : BULK && BN == 128 ? 2 : 3;
    static const int STAGES = BULK && (BM == 64 || BN == 128) ? 3 : 4;
    static const int PLANE = BN / 8 * TILEMM__SGEMM_FUSED_PITCH; /* words */
    static const int TILE = BM * LINES_B;                        /* floats, of C */
    static_assert(BULK || TILE <= BUFFERS * PLANES * PLANE, "the ring has room for the tile");
    static_assert(BM % 64 == 0 && BN % 16 == 0 && BN <= 128, "whole warpgroups, one instruction");

    /* What the copy engine brings of so many lines: parts of 32 where memory runs along them. */
    static __device__ constexpr int stage_bytes(int lines, bool k_major)
    {
        return (k_major ? lines : (lines + 31) / 32 * 32) * BK * 4;
    }
};

/* ---- places --------------------------------------------------------------------------------- */

/* The operands and the result for the copy engine. */
typedef struct {
    CUtensorMap a, b, c;
} maps_t;

/* What the blocks have to do: items, each a tile of a matrix and one split of its k. */
typedef struct {
    unsigned rows, cols; /* of tiles in a matrix */
    unsigned count;      /* of items */
    bool bulk;           /* the copy engine stores C */
} schedule_t;

typedef struct {
    int m, n, k, end; /* of the tile's first element; and the end of the split */
    unsigned matrix, split;
} place_t;

/* Splits of a tile follow each other; tiles go down groups of GROUP rows of tiles. */
template <typename S>
static __device__ __forceinline__ place_t locate(const tilemm__sgemm_ffma_t &problem,
                                                 const schedule_t &schedule, unsigned item)
{
    const unsigned splits = (unsigned)problem.splits, per_matrix = schedule.rows * schedule.cols;
    const unsigned tile = item / splits, split = item - tile * splits;
    const unsigned matrix = tile / per_matrix, inside = tile - matrix * per_matrix;
    const unsigned per_group = GROUP * schedule.cols, group = inside / per_group;
    const unsigned height = min((unsigned)GROUP, schedule.rows - group * GROUP);
    const unsigned in_group = inside - group * per_group;
    const unsigned col = in_group / height, row = group * GROUP + (in_group - col * height);
    const int64_t k = split * problem.k_split, end = min(problem.args.k, k + problem.k_split);
    const place_t place = {(int)row * S::BM, (int)col * S::BN, (int)k, (int)end, matrix, split};

    return place;
}

/* ---- feed ----------------------------------------------------------------------------------- */

/* Steps of an operand on their way from global memory: LINES lines by BK each. */
template <int LINES, int STAGES>
struct queue_t {
    __align__(1024) float at[STAGES][LINES * BK];
    uint64_t full[STAGES], empty[STAGES];
};

/* Where the next step comes from. One thread asks for it. */
typedef struct {
    unsigned item;            /* after this one */
    int line, k, end, matrix; /* the next step's place, and the end of the item's k */
    unsigned count;           /* of steps that were asked for */
} feed_t;

/* Ask for the next step, be it of the next item. After op(A)'s last one comes a step of zeros: the
 * multipliers split one more step than there are. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void
feed_step(feed_t &feed, queue_t<IS_A ? S::BM : S::LINES_B, S::STAGES> &queue,
          const tilemm__sgemm_ffma_t &problem, const schedule_t &schedule, const maps_t &maps)
{
    const bool K_MAJOR = IS_A ? S::A_K : S::B_K;
    const int LINES = IS_A ? S::BM : S::BN, BYTES = S::stage_bytes(LINES, K_MAJOR);
    const CUtensorMap *const map = IS_A ? &maps.a : &maps.b;
    const unsigned stage = feed.count % S::STAGES, parity = feed.count / S::STAGES % 2;

    if (feed.k >= feed.end) {
        if (feed.item < schedule.count) {
            const place_t place = locate<S>(problem, schedule, feed.item);

            feed.line = IS_A ? place.m : place.n;
            feed.k = place.k;
            feed.end = place.end;
            feed.matrix = (int)place.matrix;
        } else if (IS_A && feed.item < schedule.count + gridDim.x) {
            feed.k = (int)((problem.args.k + BK - 1) / BK * BK);
            feed.end = feed.k + 1;
        } else {
            return;
        }
        feed.item += gridDim.x;
    }
    mbarrier_wait(&queue.empty[stage], parity ^ 1);
    mbarrier_expect(&queue.full[stage], BYTES);
    if (K_MAJOR) {
        tensor_load(queue.at[stage], map, feed.k, feed.line, feed.matrix, &queue.full[stage]);
    } else {
#pragma unroll
        for (int i = 0; i < LINES; i += 32)
            tensor_load(queue.at[stage] + i * BK, map, feed.line + i, feed.k, feed.matrix,
                        &queue.full[stage]);
    }
    feed.k += BK;
    feed.count++;
}

/* The index of a lane's first number in a stage: `line` is the warp's first. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ unsigned first_of(unsigned line)
{
    const unsigned lane = threadIdx.x % 32;

    return tilemm__fused_staged(line + tilemm__fused_line(lane, 0, LINES, K_MAJOR),
                                tilemm__fused_k(lane % 4, 0), K_MAJOR);
}

/* Half of a lane's octets of LINES lines of a stage. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ void take(const float *stage, unsigned first, int half,
                                            float (&x)[LINES][OCTET / 2])
{
    asm volatile("" : "+r"(first)); /* no registers for the places of all numbers */
    if (K_MAJOR) {
        first ^= half * TILEMM__SGEMM_FUSED_HALF_K;
#pragma unroll
        for (int j = 0; j < LINES; j++)
#pragma unroll
            for (int i = 0; i < OCTET / 2; i += 2) {
                const float2 v =
                    *(const float2 *)(stage + (first ^ i) + j * TILEMM__SGEMM_FUSED_8_LINES);

                x[j][i] = v.x, x[j][i + 1] = v.y;
            }
    } else {
#pragma unroll
        for (int i = 0; i < OCTET / 2; i++) {
            const float *const from =
                stage + (first ^ i * TILEMM__SGEMM_FUSED_NEXT) + half * TILEMM__SGEMM_FUSED_HALF;

            if (LINES == 4) {
                const float4 v = *(const float4 *)from;

                x[0][i] = v.x, x[1 % LINES][i] = v.y, x[2 % LINES][i] = v.z, x[3 % LINES][i] = v.w;
            } else if (LINES == 2) {
                const float2 v = *(const float2 *)from;

                x[0][i] = v.x, x[1 % LINES][i] = v.y;
            } else {
                x[0][i] = *from;
            }
        }
    }
}

/* Dynamic shared memory. */
template <typename S>
struct shared_t {
    queue_t<S::BM, S::STAGES> a;
    queue_t<S::LINES_B, S::STAGES> b;
    unsigned planes[S::BUFFERS][PLANES][S::PLANE];     /* of op(B): h, m, l */
    __align__(1024) float bulk[S::BULK ? S::TILE : 1]; /* for the copy engine to store */
    uint64_t full[S::BUFFERS], empty[S::BUFFERS];
    /* Whether a splitter's warp found what planes cannot carry. */
    union {
        unsigned any;
        bool warp[WARPGROUP / 32];
    } beyond[S::BUFFERS];
};

/* Where a tile of C goes: else it is in the ring, when that is no longer in use. */
template <typename S>
static __device__ __forceinline__ float *tile_of(shared_t<S> &shared)
{
    return S::BULK ? shared.bulk : (float *)shared.planes;
}

/* ---- split ---------------------------------------------------------------------------------- */

/* Among what was split: the bits of the least magnitude that is not zero, less 1; and of h's
 * magnitudes the largest, in either half of a word. */
typedef struct {
    unsigned least, most;
} range_t;

[[maybe_unused]] static __device__ __forceinline__ range_t range_of_none(void)
{
    const range_t none = {~0u, 0};

    return none;
}

/* Whether there was something that the planes cannot carry: below 2^-100 the last bits of l, and of
 * the products, would be lost; h may be Inf, or NaN. */
[[maybe_unused]] static __device__ __forceinline__ bool is_beyond_planes(const range_t &range)
{
    const unsigned LEAST = (127 - 100) << 23, MOST = 0x7f80;

    return range.least < LEAST - 1 || (range.most & 0xffff) >= MOST || range.most >> 16 >= MOST;
}

static __device__ __forceinline__ unsigned bf16_pair(float low, float high)
{
    unsigned pair;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/* x = h + m + l, for two at a time. */
[[maybe_unused]] static __device__ __forceinline__ void
split(float x, float y, unsigned (&planes)[PLANES], range_t &range)
{
    /* Of x, as h may be zero where x is not. */
    range.least = __viaddmin_u32(__float_as_uint(x) & 0x7fffffff, ~0u, range.least);
    range.least = __viaddmin_u32(__float_as_uint(y) & 0x7fffffff, ~0u, range.least);
#pragma unroll
    for (int p = 0; p < PLANES; p++) {
        planes[p] = bf16_pair(x, y);
        x -= __uint_as_float(planes[p] << 16);
        y -= __uint_as_float(planes[p] & 0xffff0000);
    }
    range.most = __vmaxu2(planes[0] & 0x7fff7fff, range.most);
}

/* ---- splitter ------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void split_b(const tilemm__sgemm_ffma_t &problem,
                                               const schedule_t &schedule, const maps_t &maps,
                                               shared_t<S> &shared)
{
    const unsigned thread = threadIdx.x % WARPGROUP, warp = thread / 32, lane = thread % 32;
    const unsigned line0 = warp * 8 * S::LINES, first = first_of<S::LINES, S::B_K>(line0);
    unsigned buffer = 0, parity = 1, count = 0;
    feed_t feed = {blockIdx.x, 0, 0, 0, 0, 0};

    for (int i = 0; i < S::STAGES - 1; i++) {
        if (thread == 0)
            feed_step<S, false>(feed, shared.b, problem, schedule, maps);
        else if (thread == 32 && i > 0)
            feed_step<S, true>(feed, shared.a, problem, schedule, maps);
    }
    for (unsigned item = blockIdx.x; item < schedule.count; item += gridDim.x) {
        const place_t place = locate<S>(problem, schedule, item);

#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK, count++) {
            const unsigned stage = count % S::STAGES;
            range_t range = range_of_none();

            if (thread == 0)
                feed_step<S, false>(feed, shared.b, problem, schedule, maps);
            else if (thread == 32)
                feed_step<S, true>(feed, shared.a, problem, schedule, maps);
            __syncwarp();
            mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
            mbarrier_wait(&shared.empty[buffer], parity);
#pragma unroll
            for (int half = 0; half < 2 && line0 < S::BN; half++) {
                float x[S::LINES][OCTET / 2];

                take<S::LINES, S::B_K>(shared.b.at[stage], first, half, x);
#pragma unroll
                for (int j = 0; j < S::LINES; j++)
#pragma unroll
                    for (int i = 0; i < OCTET / 4; i++) {
                        const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_K);
                        const unsigned at =
                            tilemm__fused_pair(line, lane % 4, half * (OCTET / 4) + i);
                        unsigned planes[PLANES];

                        split(x[j][i * 2], x[j][i * 2 + 1], planes, range);
#pragma unroll
                        for (int p = 0; p < PLANES; p++)
                            shared.planes[buffer][p][at] = planes[p];
                    }
            }
            const bool beyond = __any_sync(~0u, is_beyond_planes(range));

            __syncwarp(); /* all have read */
            if (lane == 0) {
                shared.beyond[buffer].warp[warp] = beyond;
                mbarrier_arrive(&shared.b.empty[stage]);
            }
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            if (++buffer == S::BUFFERS) {
                buffer = 0;
                parity ^= 1;
            }
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* A thread's pairs are fragments for two products of 16 of k. */
enum { FRAGMENT = 4, FRAGMENTS = ROWS * OCTET / 2, PRODUCTS = 6 };

/* Fragments are in use by the tensor cores between these. */
[[maybe_unused]] static __device__ __forceinline__ void pin(unsigned (&a)[PLANES][FRAGMENTS])
{
#pragma unroll
    for (int p = 0; p < PLANES; p++)
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
            asm volatile("" : "+r"(a[p][i])::"memory");
}

/* Split half a step of op(A): pair i is of row i % 2. */
template <typename S>
static __device__ __forceinline__ void split_a(const float *stage, unsigned first, int half,
                                               unsigned (&a)[PLANES][FRAGMENTS], range_t &range)
{
    float x[ROWS][OCTET / 2];

    take<ROWS, S::A_K>(stage, first, half, x);
#pragma unroll
    for (int i = 0; i < FRAGMENTS / 2; i++) {
        unsigned planes[PLANES];

        split(x[i % 2][i / 2 * 2], x[i % 2][i / 2 * 2 + 1], planes, range);
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            a[p][half * (FRAGMENTS / 2) + i] = planes[p];
    }
}

/* part = products FIRST to LAST - 1 of a step on the tensor cores, which are under way on return;
 * and half of the next step is split, between the instructions for the tensor cores, as a warp that
 * has given out all of those would only wait for them. */
template <typename S, int FIRST, int LAST>
static __device__ __forceinline__ void
multiply(float (&part)[S::ACCUMULATORS], const unsigned (&a)[PLANES][FRAGMENTS],
         const unsigned (&b)[PLANES][S::PLANE], const float *stage, unsigned first,
         unsigned (&next_a)[PLANES][FRAGMENTS], range_t &range)
{
    const int PARTS = BK / 16, COUNT = (LAST - FIRST) * PARTS;
    const int of_a[PRODUCTS] = {0, 1, 0, 2, 0, 1}, of_b[PRODUCTS] = {0, 1, 2, 0, 1, 0};
    const unsigned CORE_BYTES = TILEMM__SGEMM_FUSED_CORE * 4;
    const uint64_t b0 = wgmma_operand_cores(b[0], CORE_BYTES, TILEMM__SGEMM_FUSED_PITCH * 4);

    wgmma_fence();
#pragma unroll
    for (int w = 0; w < COUNT; w++) {
        const int p = FIRST + w / PARTS, i = w % PARTS;

        wgmma_bf16(part, a[of_a[p]] + i * FRAGMENT,
                   wgmma_operand_at(b0, of_b[p] * sizeof b[0] + i * 2 * CORE_BYTES), w > 0);
        if (w == (COUNT - 1) / 2)
            split_a<S>(stage, first, FIRST > 0, next_a, range);
    }
    wgmma_commit();
}

/* A thread's rows and columns of the tile: row i of ROWS; its columns are col, col + 1, and those
 * 8 further on and so forth. */
template <typename S>
static __device__ __forceinline__ unsigned row_of(int i)
{
    return threadIdx.x / 32 * 16 + tilemm__fused_line(threadIdx.x % 32, i, ROWS, S::A_K);
}

[[maybe_unused]] static __device__ __forceinline__ unsigned col_of(void)
{
    return threadIdx.x % 4 * 2;
}

/* total += a step's product in FP32, from the operands themselves, summed apart as on the tensor
 * cores. */
template <typename S>
static __device__ __forceinline__ void multiply_fp32(float (&total)[S::ACCUMULATORS],
                                                     const tilemm__sgemm_args_t &args,
                                                     const place_t &place, int k0)
{
    const float *const a = args.a + place.matrix * args.stride_a;
    const float *const b = args.b + place.matrix * args.stride_b;
    const int64_t row0 = min((int64_t)place.m + row_of<S>(0), args.m - 1);
    const int64_t row1 = min((int64_t)place.m + row_of<S>(1), args.m - 1);

#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4) {
        int64_t col = (int64_t)place.n + col_of() + i * 2;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};

        asm volatile("" : "+l"(col)); /* no registers for the places of all columns */
        const int64_t col0 = min(col, args.n - 1), col1 = min(col + 1, args.n - 1);

#pragma unroll 1
        for (int64_t k = k0; k < min(place.end, k0 + BK); k++) {
            const float a0 = __ldg(a + (S::A_K ? row0 * args.lda + k : k * args.lda + row0));
            const float a1 = __ldg(a + (S::A_K ? row1 * args.lda + k : k * args.lda + row1));
            const float b0 = __ldg(b + (S::B_K ? col0 * args.ldb + k : k * args.ldb + col0));
            const float b1 = __ldg(b + (S::B_K ? col1 * args.ldb + k : k * args.ldb + col1));

            sum[0] = fmaf(a0, b0, sum[0]);
            sum[1] = fmaf(a0, b1, sum[1]);
            sum[2] = fmaf(a1, b0, sum[2]);
            sum[3] = fmaf(a1, b1, sum[3]);
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            total[i + j] += sum[j];
    }
}

/* ---- epilogue ------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void to_shared(const float (&total)[S::ACCUMULATORS], float alpha,
                                                 float *tile)
{
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 2)
        *(float2 *)(tile +
                    tilemm__fused_tile(row_of<S>(i / 2 % 2), col_of() + i / 4 * 8, S::LINES_B)) =
            make_float2(alpha * total[i], alpha * total[i + 1]);
}

/* To C by the copy engine, each warp its 16 rows. */
template <typename S>
static __device__ __forceinline__ void store_bulk(const float (&total)[S::ACCUMULATORS],
                                                  float alpha, const CUtensorMap *c,
                                                  const place_t &place, float *tile)
{
    const int row = threadIdx.x / 32 * 16;

    if (threadIdx.x % 32 == 0)
        tensor_wait_read();
    __syncwarp(); /* the last tile has gone */
    to_shared<S>(total, alpha, tile);
    fence_for_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        for (int col = 0; col < S::BN; col += 32)
            tensor_store(c, place.n + col, place.m + row, (int)place.matrix,
                         tile + tilemm__fused_tile(row, col, S::LINES_B));
}

/* To C, or to the partial products. */
template <typename S>
static __device__ __forceinline__ void store(const float (&total)[S::ACCUMULATORS],
                                             const tilemm__sgemm_ffma_t &problem,
                                             const place_t &place)
{
    const tilemm__sgemm_args_t &args = problem.args;
    float *const whole =
        problem.partial
            ? problem.partial + (place.split * args.batch_count + place.matrix) * args.m * args.n
        : args.c_array ? args.c_array[place.matrix]
                       : args.c + place.matrix * args.stride_c;
    const int64_t ld = !problem.partial ? args.ldc : S::TURNED ? args.m : args.n;
    const float alpha = problem.partial ? 1.0f : args.alpha;
    const float beta = problem.partial ? 0.0f : args.beta;
    const int64_t cols = args.n - place.n - col_of();

#pragma unroll
    for (int h = 0; h < ROWS; h++) {
        const int64_t row = (int64_t)place.m + row_of<S>(h), col = (int64_t)place.n + col_of();
        const int64_t next = S::TURNED ? ld : 1; /* column */
        float *const to = whole + (S::TURNED ? col * ld + row : row * ld + col);
        const bool pairs = !S::TURNED && ((uint64_t)to & 7) == 0;

        if (row >= args.m)
            continue;
        if (pairs && cols > S::BN - 8 + 1 && beta == 0.0f) {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i += 4)
                *(float2 *)(to + i * 2) =
                    make_float2(alpha * total[i + h * 2], alpha * total[i + h * 2 + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i += 4)
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float v = alpha * total[i + h * 2 + j];
                    float *const at = to + (i * 2 + j) * next;

                    if (i * 2 + j < cols)
                        *at = beta != 0.0f ? fmaf(beta, *at, v) : v;
                }
        }
    }
}

/* The blocks of a cluster have one tile, each one split of its k: add them up, some rows each. */
template <typename S>
static __device__ __forceinline__ void
add_up(shared_t<S> &shared, const tilemm__sgemm_ffma_t &problem, const schedule_t &schedule)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const place_t place = locate<S>(problem, schedule, blockIdx.x);
    const int blocks = (int)problem.splits, rank = (int)place.split;
    const int rows = (int)min((int64_t)S::BM, args.m - place.m);
    const int cols = (int)min((int64_t)S::BN, args.n - place.n);
    const int share = (rows + blocks - 1) / blocks, last = min(rows, (rank + 1) * share);
    const float *const tile = tile_of(shared);
    float *const c =
        args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c;

    cluster_sync();
    for (int at = rank * share * S::BN + (int)threadIdx.x; at < last * S::BN; at += S::THREADS) {
        const int i = at / S::BN, j = at % S::BN;

        if (j < cols) {
            const int64_t row = (int64_t)place.m + i, col = (int64_t)place.n + j;
            float *const to = c + (S::TURNED ? col * args.ldc + row : row * args.ldc + col);
            float sum = 0.0f;

#pragma unroll 4
            for (int block = 0; block < blocks; block++)
                sum += cluster_read(tile + tilemm__fused_tile(i, j, S::LINES_B), block);
            sum *= args.alpha;
            *to = args.beta != 0.0f ? fmaf(args.beta, *to, sum) : sum;
        }
    }
    cluster_sync(); /* nobody leaves while another may still read from it */
}

/* ---- kernel --------------------------------------------------------------------------------- */

/* A multiplier's state. */
template <typename S>
struct multiplier_t {
    unsigned first; /* of its numbers in a stage of op(A) */
    unsigned count; /* of steps of op(A) that were split */
    unsigned buffer, parity;
    bool beyond; /* whether planes could not carry what the thread split last */
    unsigned item;
    place_t place;
    int k; /* of the next step */
    float total[S::ACCUMULATORS], part[S::ACCUMULATORS];
};

template <typename S>
static __device__ __forceinline__ void add_part(multiplier_t<S> &at, bool in_fp32)
{
    if (in_fp32)
        return;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] += at.part[i];
}

/* Multiply a step, and split the next one. */
template <typename S>
static __device__ __forceinline__ void
step(multiplier_t<S> &at, shared_t<S> &shared, unsigned (&a)[PLANES][FRAGMENTS],
     unsigned (&next_a)[PLANES][FRAGMENTS], const tilemm__sgemm_ffma_t &problem)
{
    const unsigned stage = at.count % S::STAGES, lane = threadIdx.x % 32;
    range_t range = range_of_none();

    mbarrier_wait(&shared.full[at.buffer], at.parity);
    pin(a);
    wgmma_pin(at.part);
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
    multiply<S, 0, 1>(at.part, a, shared.planes[at.buffer], shared.a.at[stage], at.first, next_a,
                      range);
    /* Lane 0 alone reads, as it alone reports that all was read. */
    const bool in_fp32 =
        __any_sync(~0u, at.beyond | (lane == 0 && shared.beyond[at.buffer].any != 0));

    wgmma_wait<0>();
    wgmma_pin(at.part);
    add_part(at, in_fp32);
    wgmma_pin(at.part);
    multiply<S, 1, PRODUCTS>(at.part, a, shared.planes[at.buffer], shared.a.at[stage], at.first,
                             next_a, range);
    at.beyond = is_beyond_planes(range);
    __syncwarp(); /* all have read */
    if (lane == 0)
        mbarrier_arrive(&shared.a.empty[stage]);
    at.count++;
    wgmma_wait<0>();
    pin(a);
    wgmma_pin(at.part);
    if (lane == 0)
        mbarrier_arrive(&shared.empty[at.buffer]);
    if (in_fp32)
        multiply_fp32<S>(at.total, problem.args, at.place, at.k);
    add_part(at, in_fp32);
    at.k += BK;
    if (++at.buffer == S::BUFFERS) {
        at.buffer = 0;
        at.parity ^= 1;
    }
}

/* Wait for the other multipliers. */
template <typename S>
static __device__ __forceinline__ void multipliers_sync(void)
{
    asm volatile("bar.sync 1, %0;" : : "n"(S::MULTIPLIERS * WARPGROUP) : "memory");
}

template <typename S>
static __device__ __forceinline__ void
begin_item(multiplier_t<S> &at, const tilemm__sgemm_ffma_t &problem, const schedule_t &schedule)
{
    at.place = locate<S>(problem, schedule, at.item);
    at.k = at.place.k;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] = 0.0f;
}

/* After a step: if it was an item's last, store that, and go to the next item. Whether there is
 * more to do. */
template <typename S>
static __device__ __forceinline__ bool go_on(multiplier_t<S> &at, shared_t<S> &shared,
                                             const tilemm__sgemm_ffma_t &problem,
                                             const schedule_t &schedule, const maps_t &maps)
{
    if (at.k < at.place.end)
        return true;
    if (problem.splits > 1 && !problem.partial) { /* for add_up() */
        multipliers_sync<S>();
        to_shared<S>(at.total, 1.0f, tile_of(shared));
    } else if (S::BULK && schedule.bulk) {
        store_bulk<S>(at.total, problem.args.alpha, &maps.c, at.place, shared.bulk);
    } else {
        store<S>(at.total, problem, at.place);
    }
    at.item += gridDim.x;
    if (at.item >= schedule.count)
        return false;
    begin_item(at, problem, schedule);
    return true;
}

template <typename S>
static __device__ __forceinline__ void multiply_items(const tilemm__sgemm_ffma_t &problem,
                                                      const schedule_t &schedule,
                                                      const maps_t &maps, shared_t<S> &shared)
{
    unsigned a[2][PLANES][FRAGMENTS]; /* one step's, and the next one's */
    multiplier_t<S> at;
    range_t range = range_of_none();

    at.item = blockIdx.x;
    at.buffer = at.parity = 0;
    at.first = first_of<ROWS, S::A_K>(threadIdx.x / 32 * 16);
    begin_item(at, problem, schedule);
    mbarrier_wait(&shared.a.full[0], 0);
    split_a<S>(shared.a.at[0], at.first, 0, a[0], range);
    split_a<S>(shared.a.at[0], at.first, 1, a[0], range);
    at.beyond = is_beyond_planes(range);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.a.empty[0]);
    at.count = 1;
#pragma unroll 1
    do {
        step<S>(at, shared, a[0], a[1], problem);
        if (!go_on(at, shared, problem, schedule, maps))
            break;
        step<S>(at, shared, a[1], a[0], problem);
    } while (go_on(at, shared, problem, schedule, maps));
    if (S::BULK && schedule.bulk)
        tensor_wait_read(); /* before the shared memory goes */
}

/* 384 threads, one block to a multiprocessor; or 256, two of them. */
template <typename S>
static __global__ void __launch_bounds__(S::THREADS, S::MULTIPLIERS == 1 ? 2 : 1)
    sgemm_fused_sm90(const __grid_constant__ tilemm__sgemm_ffma_t problem,
                     const __grid_constant__ schedule_t schedule,
                     const __grid_constant__ maps_t maps)
{
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;

    if (threadIdx.x == 0) {
        for (int i = 0; i < S::BUFFERS; i++) {
            mbarrier_init(&shared.full[i], WARPGROUP);
            mbarrier_init(&shared.empty[i], S::MULTIPLIERS * WARPGROUP / 32);
        }
        for (int i = 0; i < S::STAGES; i++) {
            mbarrier_init(&shared.a.full[i], 1);
            mbarrier_init(&shared.a.empty[i], S::MULTIPLIERS * WARPGROUP / 32);
            mbarrier_init(&shared.b.full[i], 1);
            mbarrier_init(&shared.b.empty[i], WARPGROUP / 32);
        }
        mbarrier_fence_init();
        tensor_prefetch(&maps.a);
        tensor_prefetch(&maps.b);
    }
    __syncthreads();
    wait_for_previous();
    if (threadIdx.x >= S::MULTIPLIERS * WARPGROUP) {
        registers_shrink<S::REGISTERS_SPLITTER>();
        split_b<S>(problem, schedule, maps, shared);
    } else {
        registers_grow<S::REGISTERS_MULTIPLIER>();
        multiply_items<S>(problem, schedule, maps, shared);
    }
    if (problem.splits > 1 && !problem.partial)
        add_up<S>(shared, problem, schedule);
#endif
}

/* ---- host ----------------------------------------------------------------------------------- */

/* Matrices of y lines of x numbers, for copies of box_y lines of 32. */
static bool describe(CUtensorMap *map, const float *data, int64_t x, int64_t y, int64_t ld,
                     int64_t stride, int64_t batch, int box_y)
{
    const tensor_encode_t encode = tensor_encoder();
    const cuuint64_t size[3] = {(cuuint64_t)x, (cuuint64_t)y, (cuuint64_t)batch};
    const cuuint64_t pitch[2] = {(cuuint64_t)ld * sizeof(float),
                                 (cuuint64_t)(batch > 1 ? stride : ld) * sizeof(float)};
    const cuuint32_t box[3] = {32, (cuuint32_t)box_y, 1};

    return encode &&
           tensor_describe(encode, map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, data, size, pitch, box);
}

static bool describe_operand(CUtensorMap *map, const float *data, int64_t lines, int64_t k,
                             bool k_major, int64_t ld, int64_t stride, int64_t batch, int tile)
{
    static_assert(BK == 32, "a box's width");
    return k_major ? describe(map, data, k, lines, ld, stride, batch, tile)
                   : describe(map, data, lines, k, ld, stride, batch, BK);
}

/* Whether the copy engine can store C: it cannot add to it. */
static bool is_bulk(const tilemm__sgemm_ffma_t *problem)
{
    const tilemm__sgemm_args_t *const args = &problem->args;

    return problem->splits == 1 && args->beta == 0.0f && !args->c_array &&
           ((uint64_t)args->c | args->ldc * sizeof(float) |
            (args->batch_count > 1 ? args->stride_c * sizeof(float) : 0)) %
                   16 ==
               0;
}

/* Sizes, and items, whose counts fit 31 bits, with a tile and a grid beyond. */
static const int64_t MOST = INT32_MAX - 65536;

template <typename S>
static int launch(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const tilemm__sgemm_args_t *const args = &problem->args;
    const size_t bytes = sizeof(shared_t<S>);
    const bool in_cluster = problem->splits > 1 && !problem->partial;
    const int64_t rows = (args->m + S::BM - 1) / S::BM, cols = (args->n + S::BN - 1) / S::BN;
    const int64_t count = rows * cols * args->batch_count * problem->splits;
    schedule_t schedule;
    maps_t maps;
    int device = 0, sms = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(sgemm_fused_sm90<S>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    if (args->m > MOST || args->n > MOST || args->k > MOST || count > MOST)
        return cudaErrorInvalidConfiguration;
    schedule.bulk = S::BULK && is_bulk(problem);
    if (!describe_operand(&maps.a, args->a, args->m, args->k, S::A_K, args->lda, args->stride_a,
                          args->batch_count, S::BM) ||
        !describe_operand(&maps.b, args->b, args->n, args->k, S::B_K, args->ldb, args->stride_b,
                          args->batch_count, S::BN) ||
        (schedule.bulk && !describe(&maps.c, args->c, args->n, args->m, args->ldc, args->stride_c,
                                    args->batch_count, 16)))
        return cudaErrorInvalidValue;
    schedule.rows = (unsigned)rows;
    schedule.cols = (unsigned)cols;
    schedule.count = (unsigned)count;
    sms *= S::MULTIPLIERS == 1 ? 2 : 1;
    return launch_cluster_after(sgemm_fused_sm90<S>, in_cluster ? (unsigned)problem->splits : 1,
                                (unsigned)(in_cluster || count < sms ? count : sms), S::THREADS,
                                bytes, stream, *problem, schedule, maps);
}

template <int BM, int BN, bool TURNED, bool BULK>
static int launch_major(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const bool a_k = !problem->args.trans_a, b_k = problem->args.trans_b;

    if (a_k && b_k)
        return launch<shape_t<BM, BN, true, true, TURNED, BULK>>(problem, stream);
    if (a_k)
        return launch<shape_t<BM, BN, true, false, TURNED, BULK>>(problem, stream);
    if (b_k)
        return launch<shape_t<BM, BN, false, true, TURNED, BULK>>(problem, stream);
    return launch<shape_t<BM, BN, false, false, TURNED, BULK>>(problem, stream);
}

/* The large tile: storing counts where k is short; else the room is better used for operands. */
static int launch_128x128(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const int64_t SHORT = 64;

    return problem->args.k <= SHORT && is_bulk(problem)
               ? launch_major<128, 128, false, true>(problem, stream)
               : launch_major<128, 128, false, false>(problem, stream);
}

/* The transposed product: op(B)' op(A)'. */
static tilemm__sgemm_ffma_t turned(const tilemm__sgemm_ffma_t *problem)
{
    const tilemm__sgemm_args_t *const args = &problem->args;
    tilemm__sgemm_ffma_t other = *problem;

    other.args.m = args->n, other.args.n = args->m;
    other.args.a = args->b, other.args.b = args->a;
    other.args.lda = args->ldb, other.args.ldb = args->lda;
    other.args.stride_a = args->stride_b, other.args.stride_b = args->stride_a;
    other.args.trans_a = !args->trans_b, other.args.trans_b = !args->trans_a;
    return other;
}

extern "C" int tilemm__sgemm_fused_sm90_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    const tilemm__sgemm_ffma_t other = turned(problem);
    const cudaStream_t s = (cudaStream_t)stream;

    switch (problem->tile) {
    case TILEMM__SGEMM_FUSED_128X128: return launch_128x128(problem, s);
    case TILEMM__SGEMM_FUSED_128X64: return launch_major<128, 64, false, true>(problem, s);
    case TILEMM__SGEMM_FUSED_64X64: return launch_major<64, 64, false, true>(problem, s);
    case TILEMM__SGEMM_FUSED_256X32: return launch_major<256, 32, false, false>(problem, s);
    case TILEMM__SGEMM_FUSED_256X16: return launch_major<256, 16, false, false>(problem, s);
    case TILEMM__SGEMM_FUSED_32X256: return launch_major<256, 32, true, false>(&other, s);
    case TILEMM__SGEMM_FUSED_16X256: return launch_major<256, 16, true, false>(&other, s);
    }
    return cudaErrorInvalidValue;
}
