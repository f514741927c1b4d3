/* half_planes_sm90.cu - invariant products from FP16 planes (half_planes.h) on the tensor cores of
 * compute capability 9.0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is 128 x BN of C. A stage of shared memory holds 64 of k of both operands' planes,
 * in pieces of 64 lines with the copy engine's 128-byte swizzle.
 *
 * Producer: one thread keeps the copy engine STAGES ahead. The two blocks of a cluster have tiles
 * side by side; each brings half of op(A)'s lines to both.
 *
 * Consumers: two warpgroups, each with 64 rows of the tile. A step of 32 of k adds the smaller
 * products of the step before, then its own large ones, to `part`, which then goes to `total`.
 * While one warpgroup adds, the tensor cores have the other one's products. Where a part of k ends,
 * its sums are taken back from the scales of rows and columns.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "half_lines.cuh"
#include "half_planes.h"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/named_barrier.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/tile_walk.cuh"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"

typedef tilemm__sgemm_half_product_t product_t;

enum {
    BM = 128,
    BK = 64,
    STEP = 32,
    PIECE = 64 * BK, /* halves of one copy: 64 lines */
    CONSUMERS = 2,   /* warpgroups */
    WARPGROUP = 128,
    THREADS = (1 + CONSUMERS) * WARPGROUP,
    BLOCKS = 2, /* of a cluster */
    PARTS = 4,  /* of k, at most */
    GROUP = 16  /* rows of tiles in a group of the tile walk */
};
static_assert(BM == CONSUMERS * 64 && BM == BLOCKS * 64, "a warpgroup has 64 rows");
static_assert(BK == (int)TILEMM__SGEMM_HALF_ALIGN_K && BM == (int)TILEMM__SGEMM_HALF_ALIGN_MN,
              "no edges in planes");

/* A row of variants.h: the width of the tile; and what follows from it. */
template <int BN_>
struct shape_t {
    static const int BN = BN_, ACCUMULATORS = BN / 2; /* registers */
    static const int STAGE_BYTES = 2 * (BM + BN) * BK * 2;
    static const int STAGES = (208 << 10) / STAGE_BYTES;
    static_assert(BN % 64 == 0 && BN <= WARPGROUP, "whole pieces; a thread for each column");
};

/* Dynamic shared memory, from a multiple of 1024 bytes on. */
template <typename S>
struct shared_t {
    unsigned short a[S::STAGES][2][BM * BK], b[S::STAGES][2][S::BN * BK]; /* high, low */
    uint64_t full[S::STAGES], empty[S::STAGES];
    __align__(8) float inverses[CONSUMERS][S::BN];     /* of the columns' scales, in a part of k */
    unsigned char rows[BM], columns[CONSUMERS][S::BN]; /* the least classes */
};

/* The planes for the copy engine: high, low. */
typedef struct {
    CUtensorMap a[2], b[2];
} maps_t;

/* A block's tile: its first row and column of C, and its matrix. */
typedef struct {
    int64_t m, n;
    unsigned matrix;
} place_t;

template <typename S>
static __device__ __forceinline__ place_t locate(const product_t &product, unsigned pair)
{
    const unsigned across = (product.cols + 1) / BLOCKS, per_matrix = product.rows * across;
    const unsigned matrix = pair / per_matrix, inside = pair - matrix * per_matrix;
    const tile_position_t<unsigned> at = tile_walk<GROUP>(inside, product.rows, across);
    return {(int64_t)at.row * BM, ((int64_t)at.col * BLOCKS + cluster_rank()) * S::BN, matrix};
}

[[maybe_unused]] static __device__ __forceinline__ unsigned first_pair(void)
{
    return blockIdx.x / BLOCKS;
}

[[maybe_unused]] static __device__ __forceinline__ unsigned next_pairs(void)
{
    return gridDim.x / BLOCKS;
}

/* The greatest classes of GROUPS groups of lines: a lane has that of a group in a part of k, and
 * then another one. */
template <int GROUPS>
struct most_t {
    static const int COUNT = GROUPS * PARTS / 32; /* of a lane */
    unsigned of[COUNT];

    __device__ __forceinline__ most_t(const product_t &product,
                                      const tilemm__sgemm_half_planes_t &planes, unsigned matrix,
                                      int64_t line)
    {
        const int64_t all = planes.lines / TILEMM__SGEMM_HALF_LINES;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int index = (int)threadIdx.x % 32 + i * 32, part = index / GROUPS;
            const int64_t group = line / TILEMM__SGEMM_HALF_LINES + index % GROUPS;
            of[i] = group >= all ? TILEMM__SGEMM_CARRY_NONE : TILEMM__SGEMM_CARRY_DENSE;
            if (group < all && part < product.parts)
                of[i] = planes.most[(part * product.batch_count + matrix) * all + group];
        }
    }

    /* The greatest of what groups have in all parts: no line has more. */
    __device__ __forceinline__ unsigned most(void) const
    {
        unsigned least = of[0];
#pragma unroll
        for (int i = 1; i < COUNT; i++)
            least = min(least, of[i]);
#pragma unroll
        for (int apart = GROUPS; apart < 32; apart *= 2)
            least = min(least, __shfl_xor_sync(~0u, least, apart));
        return __reduce_max_sync(~0u, least);
    }
};

/* Whether planes may carry an element of a pair's tiles, asked by a whole warp. Both blocks of the
 * cluster have the same answer. */
template <typename S>
static __device__ __forceinline__ bool may_carry(const product_t &product, const place_t &place)
{
    const int64_t n = place.n - (int64_t)cluster_rank() * S::BN; /* of both tiles */
    const most_t<BM / TILEMM__SGEMM_HALF_LINES> a(product, product.a, place.matrix, place.m);
    const most_t<BLOCKS * S::BN / TILEMM__SGEMM_HALF_LINES> b(product, product.b, place.matrix, n);
    return a.most() + b.most() >= TILEMM__SGEMM_CARRY_LEAST;
}

/* ---- producer ------------------------------------------------------------------------------- */

/* All lanes of a warp, of which the first brings steps. Of a pair of which planes carry nothing it
 * brings one: with the others it waits until it knows. */
template <typename S>
static __device__ __forceinline__ void produce(const maps_t &maps, const product_t &product,
                                               shared_t<S> &shared)
{
    const unsigned rank = cluster_rank(), all = (1u << BLOCKS) - 1;
    const int depth = (int)(product.k_pitch * product.parts);
    unsigned stage = 0, parity = 1;
    for (unsigned pair = first_pair(); pair < product.pairs; pair += next_pairs()) {
        const place_t place = locate<S>(product, pair);
        const int line_a = (int)(place.matrix * product.a.lines + place.m) + (int)rank * 64;
        const int line_b = (int)(place.matrix * product.b.lines + place.n);
        const auto bring = [&](int k) {
            uint64_t *const full = &shared.full[stage];
            mbarrier_wait(&shared.empty[stage], parity);
            mbarrier_expect(full, S::STAGE_BYTES);
#pragma unroll
            for (int p = 0; p < 2; p++) {
                tensor_load_multicast(shared.a[stage][p] + rank * PIECE, &maps.a[p], k, line_a,
                                      full, (unsigned short)all);
#pragma unroll
                for (int i = 0; i < S::BN / 64; i++)
                    tensor_load(shared.b[stage][p] + i * PIECE, &maps.b[p], k, line_b + i * 64,
                                full);
            }
            advance<S::STAGES>(&stage, &parity);
        };
        if (threadIdx.x == 0)
            bring(0);
        const bool carries = may_carry<S>(product, place);
        for (int k = BK; k < depth && carries && threadIdx.x == 0; k += BK)
            bring(k);
    }
}

/* ---- consumers ------------------------------------------------------------------------------ */

/* A consumer thread: rows row and row + 8 of the tile, columns col + 8 i and col + 8 i + 1. */
template <typename S>
struct consumer_t {
    unsigned group, thread, row, col; /* group: which consumer warpgroup */
    unsigned stage, parity;
    float sum[S::ACCUMULATORS], total[S::ACCUMULATORS], part[S::ACCUMULATORS];
    unsigned words[2];   /* of the rows, in a part of k */
    unsigned classes[2]; /* the least of their classes */
};

/* Start part (+)= x y, 16 of k of step `step` of a stage, from planes of op(A) and op(B). */
template <typename S>
static __device__ __forceinline__ void multiply(consumer_t<S> &c, const shared_t<S> &shared,
                                                unsigned stage, int step, int plane_a, int plane_b,
                                                int slice, bool adds)
{
    const int at = (step * STEP + slice * 16) * 2 / 16;
    wgmma(c.part, wgmma_operand(shared.a[stage][plane_a] + c.group * PIECE) + at,
          wgmma_operand(shared.b[stage][plane_b]) + at, adds);
}

template <typename S>
static __device__ __forceinline__ void multiply_large(consumer_t<S> &c, const shared_t<S> &shared,
                                                      unsigned stage, int step, bool adds)
{
    multiply(c, shared, stage, step, 0, 0, 0, adds);
    multiply(c, shared, stage, step, 0, 0, 1, true);
}

/* h l, l h of each half of a step, the plane of A's number first. */
template <typename S>
static __device__ __forceinline__ void multiply_smaller(consumer_t<S> &c, const shared_t<S> &shared,
                                                        unsigned stage, int step, int exchanged)
{
#pragma unroll
    for (int slice = 0; slice < 2; slice++) {
        multiply(c, shared, stage, step, exchanged, !exchanged, slice, slice > 0);
        multiply(c, shared, stage, step, !exchanged, exchanged, slice, true);
    }
}

/* Wait for the products, and add them to the total. */
template <typename S>
static __device__ __forceinline__ void add_part(consumer_t<S> &c)
{
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(c.part);
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        c.total[i] += c.part[i];
    wgmma_pin(c.part);
    wgmma_fence();
}

/* Tell both blocks of the cluster that a stage has been read. */
template <typename S>
static __device__ __forceinline__ void leave_stage(const consumer_t<S> &c, shared_t<S> &shared,
                                                   unsigned stage)
{
    if (c.thread < BLOCKS)
        mbarrier_arrive_cluster(&shared.empty[stage], c.thread);
}

/* Multiply a part of k. */
template <typename S, int EXCHANGED>
static __device__ __forceinline__ void multiply_part(consumer_t<S> &c, shared_t<S> &shared,
                                                     int depth)
{
    unsigned before = c.stage;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        c.total[i] = 0.0f;
    wgmma_fence();
#pragma unroll 1
    for (int k = 0; k < depth; k += BK) {
        mbarrier_wait(&shared.full[c.stage], c.parity);
        if (k > 0)
            multiply_smaller(c, shared, before, 1, EXCHANGED);
        multiply_large(c, shared, c.stage, 0, k > 0);
        add_part(c);
        if (k > 0)
            leave_stage(c, shared, before);
        multiply_smaller(c, shared, c.stage, 0, EXCHANGED);
        multiply_large(c, shared, c.stage, 1, true);
        add_part(c);
        before = c.stage;
        advance<S::STAGES>(&c.stage, &c.parity);
    }
    multiply_smaller(c, shared, before, 1, EXCHANGED);
    add_part(c);
    leave_stage(c, shared, before);
}

/* The words of the tile's lines in a part of k: the thread's rows, and a column of its own. */
template <typename S>
static __device__ __forceinline__ unsigned take_words(consumer_t<S> &c, const product_t &product,
                                                      const place_t &place, int64_t part)
{
    const int64_t matrix = part * product.batch_count + place.matrix;
    const unsigned short *const rows = product.a.words + matrix * product.a.lines + place.m;
    const bool exists = c.thread < S::BN && place.n < product.b.lines;
    c.words[0] = rows[c.row];
    c.words[1] = rows[c.row + 8];
    return exists ? product.b.words[matrix * product.b.lines + place.n + c.thread] : 0;
}

/* Note the classes of a part: of the thread's rows, and of its column, whose word this is. */
template <typename S>
static __device__ __forceinline__ void note_classes(consumer_t<S> &c, shared_t<S> &shared,
                                                    unsigned word, bool is_first)
{
    unsigned char *const column = &shared.columns[c.group][c.thread];
    const unsigned now = half_word_class(word);
    if (c.thread < S::BN)
        *column = (unsigned char)(is_first ? now : min(now, (unsigned)*column));
#pragma unroll
    for (int i = 0; i < 2; i++)
        c.classes[i] =
            is_first ? half_word_class(c.words[i]) : min(c.classes[i], half_word_class(c.words[i]));
}

/* Take a part's sums back from the scales, add them up, and note the classes. */
template <typename S>
static __device__ __forceinline__ void end_part(consumer_t<S> &c, shared_t<S> &shared,
                                                unsigned word, bool is_first)
{
    float *const inverses = shared.inverses[c.group];
    named_barrier<WARPGROUP>(1 + c.group); /* those before have been read */
    if (c.thread < S::BN)
        inverses[c.thread] = half_word_inverse(word);
    note_classes(c, shared, word, is_first);
    named_barrier<WARPGROUP>(1 + c.group);
    const float rows[2] = {half_word_inverse(c.words[0]), half_word_inverse(c.words[1])};
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4) {
        const float2 columns = *(const float2 *)&inverses[c.col + i * 2];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float inverse = rows[j / 2] * (j % 2 ? columns.y : columns.x);
            c.sum[i + j] = (is_first ? 0.0f : c.sum[i + j]) + __fmul_rn(c.total[i + j], inverse);
        }
    }
}

/* The same of a tile of which planes carry no element: the only step is left, and there are all
 * parts' classes and no sums. */
template <typename S>
static __device__ __forceinline__ void note_parts(consumer_t<S> &c, shared_t<S> &shared,
                                                  const product_t &product, const place_t &place)
{
    mbarrier_wait(&shared.full[c.stage], c.parity);
    leave_stage(c, shared, c.stage);
    advance<S::STAGES>(&c.stage, &c.parity);
    named_barrier<WARPGROUP>(1 + c.group); /* those before have been read */
    for (int64_t part = 0; part < product.parts; part++) {
        const unsigned word = take_words(c, product, place, part);
        note_classes(c, shared, word, part == 0);
    }
    named_barrier<WARPGROUP>(1 + c.group);
}

/* ---- epilogue ------------------------------------------------------------------------------- */

/* Note the classes of the tile's lines, and in the warp's slot whether planes do not carry some
 * element of its rows. Returns that. */
template <typename S>
static __device__ __forceinline__ bool note_carried(const consumer_t<S> &c, shared_t<S> &shared,
                                                    const product_t &product, const place_t &place)
{
    const tilemm__sgemm_carry_t &carry = product.carry;
    const unsigned warp = c.group * (WARPGROUP / 32) + c.thread / 32;
    const uint64_t tile =
        ((uint64_t)place.matrix * product.rows + place.m / BM) * product.cols + place.n / S::BN;
    if (c.thread % 4 == 0)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            shared.rows[c.row + i * 8] = (unsigned char)c.classes[i];
            if (place.m + c.row + i * 8 < product.m)
                carry.a[place.matrix * product.m + place.m + c.row + i * 8] =
                    (unsigned char)c.classes[i];
        }
    if (c.group == 0 && c.thread < S::BN && place.n + c.thread < product.n)
        carry.b[place.matrix * product.n + place.n + c.thread] = shared.columns[0][c.thread];
    __syncwarp();
    const bool left =
        half_least(shared.rows + warp * TILEMM__SGEMM_CARRY_ROWS, TILEMM__SGEMM_CARRY_ROWS) +
            half_least(shared.columns[c.group], S::BN) <
        TILEMM__SGEMM_CARRY_LEAST;
    if (threadIdx.x % 32 == 0)
        carry.left[tile * TILEMM__SGEMM_CARRY_SLOTS + warp] = left;
    return left;
}

/* Store the tile: all of it, or what planes carry. `all` is the same for a whole warp. */
template <typename S>
static __device__ __forceinline__ void store(const consumer_t<S> &c, const shared_t<S> &shared,
                                             const product_t &product, const place_t &place,
                                             bool all)
{
    float *const base = product.c_array ? product.c_array[place.matrix]
                                        : product.c + place.matrix * product.stride_c;
    const int64_t cols = product.n - place.n - c.col;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int64_t row = place.m + c.row + half * 8;
        float *const to = base + row * product.ldc + place.n + c.col;
        if (__all_sync(~0u, all)) {
            epilogue_store_row(c.sum, half, product.alpha, product.beta, to - c.col,
                               row < product.m ? cols + c.col : 0);
            continue;
        }
#pragma unroll
        for (int j = 0; j < S::ACCUMULATORS / 4; j++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (row < product.m && j * 8 + i < cols &&
                    c.classes[half] + shared.columns[c.group][c.col + j * 8 + i] >=
                        TILEMM__SGEMM_CARRY_LEAST)
                    epilogue_store(to + j * 8 + i, c.sum[j * 4 + half * 2 + i], product.alpha,
                                   product.beta);
    }
}

template <typename S, int EXCHANGED>
static __device__ __forceinline__ void consume(const product_t &product, shared_t<S> &shared)
{
    const int depth = (int)product.k_pitch;
    consumer_t<S> c;
    c.group = threadIdx.x / WARPGROUP - 1;
    c.thread = threadIdx.x % WARPGROUP;
    c.row = c.group * 64 + c.thread / 32 * 16 + c.thread % 32 / 4;
    c.col = c.thread % 4 * 2;
    c.stage = c.parity = 0;
    for (unsigned pair = first_pair(); pair < product.pairs; pair += next_pairs()) {
        const place_t place = locate<S>(product, pair);
        const bool carries = may_carry<S>(product, place);
        if (!carries)
            note_parts(c, shared, product, place);
#pragma unroll 1
        for (int64_t part = 0; part < product.parts && carries; part++) {
            const unsigned word = take_words(c, product, place, part);
            multiply_part<S, EXCHANGED>(c, shared, depth);
            end_part(c, shared, word, part == 0);
        }
        if (place.n >= product.n)
            continue; /* the other block's tile is the last one */
        const bool left = note_carried(c, shared, product, place);
        if (carries)
            store(c, shared, product, place, !left || product.beta == 0.0f);
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void multiply_planes(const maps_t &maps, const product_t &product)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    if (threadIdx.x == 0) {
        for (int s = 0; s < S::STAGES; s++) {
            mbarrier_init(&shared.full[s], 1);
            mbarrier_init(&shared.empty[s], CONSUMERS * BLOCKS);
        }
        mbarrier_fence_init();
        for (int p = 0; p < 2; p++) {
            tensor_prefetch(&maps.a[p]);
            tensor_prefetch(&maps.b[p]);
        }
    }
    cluster_sync();
    wait_for_previous();
    let_next_start();
    if (threadIdx.x < WARPGROUP) {
        registers_shrink<56>();
        if (threadIdx.x < 32)
            produce(maps, product, shared);
    } else {
        registers_grow<224>();
        if (product.exchanged)
            consume<S, 1>(product, shared);
        else
            consume<S, 0>(product, shared);
    }
    cluster_sync(); /* nobody leaves while another may still send to it */
}

#define HALF_PLANES(name, m, n, k)                                                                 \
    static __global__ void CLUSTER_OF(BLOCKS) __launch_bounds__(THREADS, 1)                        \
        name(const __grid_constant__ maps_t maps, const __grid_constant__ product_t product)       \
    {                                                                                              \
        static_assert(m == BM && k == BK, "what the kernel is written for");                       \
        multiply_planes<shape_t<n>>(maps, product);                                                \
    }
TILEMM__SGEMM_HALF_PLANES_ROWS(HALF_PLANES)

template <typename S>
static int launch(void (*kernel)(maps_t, product_t), const product_t *problem, cudaStream_t stream)
{
    const tensor_encode_t encode = tensor_encoder();
    maps_t maps;
    if (!encode)
        return cudaErrorNotSupported;
    for (int i = 0; i < 4; i++) { /* high and low of a, then of b */
        const tilemm__sgemm_half_planes_t &op = i < 2 ? problem->a : problem->b;
        const cuuint64_t size[2] = {(cuuint64_t)(problem->k_pitch * problem->parts),
                                    (cuuint64_t)(op.lines * problem->batch_count)};
        const cuuint64_t pitch = size[0] * 2;
        const cuuint32_t box[2] = {BK, 64};
        if (!tensor_describe(encode, i < 2 ? &maps.a[i] : &maps.b[i - 2],
                             CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, i % 2 ? op.low : op.high, size,
                             &pitch, box))
            return cudaErrorInvalidValue;
    }
    return launch_kernel(kernel, {problem->blocks, THREADS, sizeof(shared_t<S>), 1, true}, stream,
                         maps, *problem);
}

extern "C" int tilemm__sgemm_half_planes_launch(const product_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, m, n, k)                                                                      \
    case TILEMM__##name: return launch<shape_t<n>>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_HALF_PLANES_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
