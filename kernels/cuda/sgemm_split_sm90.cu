/* sgemm_split_sm90.cu - the product of FP16 planes (sgemm_split.h) on Hopper's tensor cores.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C. A stage of shared memory holds a k-step of 64 of both operands'
 * planes, each in parts of 64 x 64 halves with the 128-byte swizzle, as the copy engine brings them
 * and the tensor cores read them, whether memory runs along k or along m and n.
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
 * one time shares its operands in the L2 cache.
 *
 * Assumes: compute capability 9.0 (sm_90a); planes filled up with zeros as sgemm_split.h says. */
#include <cuda_runtime.h>

#include "launch.cuh"
#include "sgemm_split.h"
#include "sm90.cuh"

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
static_assert((int)TILEMM__SPLIT_ALIGN_MN == BM && (int)TILEMM__SPLIT_ALIGN_K == BK,
              "no edges in planes");

typedef struct {
    CUtensorMap a[2], b[2]; /* hi, lo */
} maps_t;

/* The clusters' tiles, in the order in which they are walked. */
typedef struct {
    unsigned rows, cols;        /* of clusters' tiles in a matrix */
    unsigned per_matrix, count; /* of them */
} schedule_t;

/* A kernel's constants: BN; products of planes; blocks of a cluster along m and n; whether the
 * operands' memory runs along k. */
template <int BN_, int PRODUCTS_, int CM_, int CN_, bool A_K_, bool B_K_>
struct shape_t {
    static const int BN = BN_, PRODUCTS = PRODUCTS_, CM = CM_, CN = CN_;
    static const bool A_K = A_K_, B_K = B_K_;
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
 * the one before it: lines or depth further on. */
template <bool K_MAJOR>
static __device__ __forceinline__ void
bring(unsigned short *to, const CUtensorMap *map, unsigned line, unsigned k, unsigned matrix,
      unsigned lines, unsigned depth, uint64_t *full, unsigned blocks)
{
    const int x = (int)(K_MAJOR ? k : line);
    const int y = (int)(K_MAJOR ? line + matrix * lines : k + matrix * depth);

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
    const unsigned depth = (unsigned)((product.k + BK - 1) / BK * BK);
    const unsigned lines_a = (unsigned)lines_of(product.a), lines_b = (unsigned)lines_of(product.b);
    const unsigned row = rank / S::CN, col = rank % S::CN; /* in the cluster */
    unsigned row_mates = 0, col_mates = 0, stage = 0, parity = 1;

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

    for (unsigned number = blockIdx.x / (S::CM * S::CN); number < schedule.count;
         number += gridDim.x / (S::CM * S::CN)) {
        const place_t place = locate<S>(schedule, number, rank);

        for (unsigned k = 0; k < depth; k += BK) {
            uint64_t *const full = &shared.full[stage];

            mbarrier_wait(&shared.empty[stage], parity);
            mbarrier_expect(full, S::STAGE_BYTES);
#pragma unroll
            for (int p = 0; p < S::PLANES; p++) {
                unsigned short *const to = shared.stages[stage] + p * S::PLANE_A;

#pragma unroll
                for (int i = 0; i < SHARE_A; i++) {
                    const unsigned part = col * SHARE_A + i;

                    bring<S::A_K>(to + part * PART, &maps.a[p], place.m + part * 64, k,
                                  place.matrix, lines_a, depth, full, row_mates);
                }
            }
#pragma unroll
            for (int p = 0; p < S::PLANES; p++) {
                unsigned short *const to =
                    shared.stages[stage] + S::PLANES * S::PLANE_A + p * S::PLANE_B;

#pragma unroll
                for (int i = 0; i < SHARE_B; i++) {
                    const unsigned part = row * SHARE_B + i;

                    bring<S::B_K>(to + part * PART, &maps.b[p], place.n + part * 64, k,
                                  place.matrix, lines_b, depth, full, col_mates);
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

    for (unsigned number = blockIdx.x / (S::CM * S::CN); number < schedule.count;
         number += gridDim.x / (S::CM * S::CN)) {
        const place_t place = locate<S>(schedule, number, rank);
        int unit[MINE]; /* LEFT, or the exponent so far */
        bool odd = false;

#pragma unroll
        for (int i = 0; i < MINE; i++) {
            const bool of_a = i < MINE_A;
            const unsigned at = keeper + (of_a ? i : i - MINE_A) * KEEPERS;

            unit[i] = (of_a ? is_left<S::PRODUCTS>(product.a, product.b.sparse, place.matrix,
                                                   place.m + at)
                            : is_left<S::PRODUCTS>(product.b, product.a.sparse, place.matrix,
                                                   place.n + at))
                          ? (int)LEFT
                          : (int)TILEMM__SPLIT_ZERO;
        }
        for (unsigned block = 0; block < blocks; block++) {
            if (block)
                mbarrier_wait(&shared.heard[slot], parity);
#pragma unroll
            for (int i = 0; i < MINE; i++) {
                const bool of_a = i < MINE_A;
                const tilemm__split_operand_t &op = of_a ? product.a : product.b;
                const unsigned at = keeper + (of_a ? i : i - MINE_A) * KEEPERS;
                float ratio = 1.0f;

                if (unit[i] != LEFT) {
                    const int now =
                        op.exponents[((int64_t)place.matrix * blocks + block) * lines_of(op) +
                                     (of_a ? place.m : place.n) + at];

                    /* A block of zeros keeps the unit. */
                    if (now != TILEMM__SPLIT_ZERO) {
                        if (unit[i] != TILEMM__SPLIT_ZERO)
                            ratio = power_of_two(unit[i] - now);
                        unit[i] = now;
                    }
                }
                if (block)
                    shared.factor[slot][keeper + i * KEEPERS] = ratio;
            }
            if (block) {
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
        wgmma<S::A_K, S::B_K>(d, at_a + i * (S::A_K ? 32 : 2048) / 16,
                              at_b + i * (S::B_K ? 32 : 2048) / 16, add || i > 0);
}

/* The plain epilogue: all of the tile is there, and C is aligned for pairs if PAIRS. c, and the
 * factors of rows and columns, begin at the thread's first element. */
template <bool READ, bool PAIRS, int ACCUMULATORS>
static __device__ __forceinline__ void store_plain(const float (&x)[ACCUMULATORS], float *c,
                                                   const tilemm__split_product_t &product,
                                                   const float *rows, const float *cols)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float factor = rows[half * 8];

#pragma unroll
        for (int j = 0; j < ACCUMULATORS / 4; j++) {
            const float2 factors = *(const float2 *)(cols + j * 8);
            float *const to = c + j * 8;
            float2 v;

            v.x = product.alpha * (x[j * 4 + half * 2] * factor * factors.x);
            v.y = product.alpha * (x[j * 4 + half * 2 + 1] * factor * factors.y);
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

/* v 2^exponent, rounded once; the power alone need not be a float. */
[[maybe_unused]] static __device__ __forceinline__ float scale(float v, int exponent)
{
    const int half = exponent / 2;

    return v * power_of_two(half) * power_of_two(exponent - half);
}

/* The epilogue of any other tile, element by element. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void store_any(const float (&x)[ACCUMULATORS], float *c,
                                                 const tilemm__split_product_t &product,
                                                 const int *rows, const int *cols)
{
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        const int down = i & 2 ? 8 : 0, across = i / 4 * 8 + (i & 1);
        const int unit_a = rows[down], unit_b = cols[across];

        if (unit_a != LEFT && unit_b != LEFT) {
            float *const to = c + down * product.ldc + across;
            float v = product.alpha * scale(x[i], unit_a + unit_b);

            if (product.beta != 0.0f)
                v = fmaf(product.beta, *to, v);
            *to = v;
        }
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
    const unsigned steps = (unsigned)((product.k + BK - 1) / BK);
    const bool pairs =
        ((uint64_t)product.c | (uint64_t)product.ldc * 4 | (uint64_t)product.stride_c * 4) % 8 ==
            0 &&
        !product.c_array;
    /* Whom to tell that a stage is read: those who bring parts of it. */
    const bool tells = thread < S::CM * S::CN &&
                       (thread / S::CN == rank / S::CN || thread % S::CN == rank % S::CN);
    unsigned stage = 0, parity = 0, slot = 0, slot_parity = 0;
    float total[S::ACCUMULATORS], hh[S::ACCUMULATORS], cross[S::ACCUMULATORS];

    for (unsigned number = blockIdx.x / (S::CM * S::CN); number < schedule.count;
         number += gridDim.x / (S::CM * S::CN)) {
        unsigned previous = 0;

#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            total[i] = 0.0f;
        for (unsigned step = 0; step < steps; step++) {
            if (step && step % STEPS == 0) { /* the units change */
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
            multiply<S>(hh, a, b, S::SUMS ? step % STEPS > 0 : S::PRODUCTS == 1 && step > 0);
            wgmma_commit();
            if (step) { /* all products of the step before are done */
                wgmma_wait<1>();
                if (tells)
                    mbarrier_arrive_cluster(&shared.empty[previous], thread);
            }
            if (S::PRODUCTS > 1) {
                wgmma_fence();
                multiply<S>(cross, a, b + S::PLANE_B, step > 0);
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
        const place_t place = locate<S>(schedule, number, rank);
        float *const base = product.c_array ? product.c_array[place.matrix]
                                            : product.c + place.matrix * product.stride_c;
        float *const c = base + (place.m + row) * product.ldc + place.n + col;
        const float *const rows = shared.factor[slot] + row;
        const float *const cols = shared.factor[slot] + BM + col;

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
        if (shared.odd[slot][0] | shared.odd[slot][1])
            store_any(hh, c, product, shared.unit[slot] + row, shared.unit[slot] + BM + col);
        else if (product.beta != 0.0f && pairs)
            store_plain<true, true>(hh, c, product, rows, cols);
        else if (product.beta != 0.0f)
            store_plain<true, false>(hh, c, product, rows, cols);
        else if (pairs)
            store_plain<false, true>(hh, c, product, rows, cols);
        else
            store_plain<false, false>(hh, c, product, rows, cols);
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

typedef CUresult (*encode_t)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The driver's function, found through the runtime: nothing links against the driver. */
static encode_t find_encode(void)
{
    void *function = 0;
    cudaDriverEntryPointQueryResult found;

    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return 0;
    return (encode_t)function;
}

static bool describe(encode_t encode, CUtensorMap *map, const void *plane,
                     const tilemm__split_operand_t *op, int64_t k, int64_t batch)
{
    const int64_t lines = (op->mn + 127) / 128 * 128, depth = (k + BK - 1) / BK * BK;
    const cuuint64_t size[2] = {(cuuint64_t)(op->k_major ? depth : lines),
                                (cuuint64_t)((op->k_major ? lines : depth) * batch)};
    const cuuint64_t pitch[1] = {(cuuint64_t)op->pitch * 2};
    const cuuint32_t box[2] = {64, 64}, step[2] = {1, 1};

    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)plane, size, pitch, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <typename S>
static int launch(const tilemm__split_product_t *product, cudaStream_t stream)
{
    const encode_t encode = find_encode();
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
    schedule.rows = (unsigned)rows;
    schedule.cols = (unsigned)cols;
    schedule.per_matrix = (unsigned)(rows * cols);
    schedule.count = (unsigned)(rows * cols * batch);
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(sgemm_split_sm90<S>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;

    const unsigned size = S::CM * S::CN;
    unsigned clusters = (unsigned)sms / size;

    if (clusters > schedule.count)
        clusters = schedule.count;
    return launch_after(sgemm_split_sm90<S>, clusters * size, THREADS, bytes, stream, maps,
                        *product, schedule);
}

template <int BN, int PRODUCTS, int CM, int CN>
static int launch_major(const tilemm__split_product_t *product, cudaStream_t stream)
{
    if (product->a.k_major && product->b.k_major)
        return launch<shape_t<BN, PRODUCTS, CM, CN, true, true>>(product, stream);
    if (product->a.k_major)
        return launch<shape_t<BN, PRODUCTS, CM, CN, true, false>>(product, stream);
    if (product->b.k_major)
        return launch<shape_t<BN, PRODUCTS, CM, CN, false, true>>(product, stream);
    return launch<shape_t<BN, PRODUCTS, CM, CN, false, false>>(product, stream);
}

/* A kernel that was built for other targets only is empty, and needs few registers. */
extern "C" int tilemm__sgemm_split_sm90_is_built(void)
{
    struct cudaFuncAttributes attributes;

    if (cudaFuncGetAttributes(&attributes, sgemm_split_sm90<shape_t<128, 3, 1, 2, true, true>>) !=
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
        case TILEMM__SPLIT_128X256: return launch_major<256, 1, 1, 2>(product, s);
        case TILEMM__SPLIT_128X128: return launch_major<128, 1, 1, 2>(product, s);
        }
        break;
    case 3:
        switch (product->tile) {
        case TILEMM__SPLIT_128X128: return launch_major<128, 3, 1, 2>(product, s);
        case TILEMM__SPLIT_128X128_DOWN: return launch_major<128, 3, 2, 1>(product, s);
        case TILEMM__SPLIT_128X64: return launch_major<64, 3, 1, 2>(product, s);
        }
        break;
    case 4:
        if (product->tile == TILEMM__SPLIT_128X128)
            return launch_major<128, 4, 1, 2>(product, s);
    }
    return cudaErrorInvalidValue;
}
