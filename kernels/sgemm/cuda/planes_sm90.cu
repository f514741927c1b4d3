/* planes_sm90.cu - SGEMM from FP16 planes (planes.h) on the tensor cores of compute capability 9.0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C. A stage of shared memory holds a k-step of 64 of both operands'
 * planes, in parts of 64 x 64 halves with the copy engine's 128-byte swizzle.
 *
 * Producer: one thread of the first warpgroup keeps the copy engine STAGES ahead. The two blocks of
 * a cluster have tiles side by side; each brings half of A's lines, which they share.
 *
 * Keeper: two warps of the first warpgroup follow the lines' exponents. After each
 * TILEMM__SGEMM_PLANES_BLOCK of k they tell the consumers how the units of the sums, powers of two,
 * change; at the end, the units and which lines are exact.
 *
 * Consumers: two warpgroups, each with 64 rows of the tile. The tensor core truncates as it adds.
 * So hi hi of each k-step has a fresh accumulator, which is added to `total` in FP32 (promotion)
 * while the cross products hi lo + lo hi run. These are smaller by 2^11 and accumulate over all of
 * k. In the narrowest tile each block of k has a `total` of its own, which is added to `earlier`:
 * sums of sums round less.
 *
 * Epilogue: earlier + total + cross / 2^11, scaled by the units, alpha and beta, to C, except exact
 * lines.
 *
 * Tile scheduler: blocks are persistent, and walk the tiles in groups of GROUP rows. The k-steps of
 * the last tiles may be shared out (stream_k.cuh).
 *
 * Assumes compute capability 9.0 (sm_90a), and planes filled up with zeros as planes.h says. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "planes_sm90.cuh"

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

/* ---- epilogue --------------------------------------------------------------------------- */

/* From units to plain numbers, where these are floats. `rows` and `cols` are the factors from the
 * thread's first row and column on; likewise below. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void scale_plain(float (&x)[ACCUMULATORS], const float *rows,
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

/* v 2^exponent, rounded once. The power alone may be too large or small for a float. */
[[maybe_unused]] static __device__ __forceinline__ float scale(float v, int exponent)
{
    const int half = exponent / 2;
    return v * power_of_two(half) * power_of_two(exponent - half);
}

/* The same for any other tile; zeros where a line is not stored. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void scale_any(float (&x)[ACCUMULATORS], const int *rows,
                                                 const int *cols)
{
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        const int unit_a = rows[i & 2 ? 8 : 0], unit_b = cols[i / 4 * 8 + (i & 1)];
        x[i] = unit_a != NOT_STORED && unit_b != NOT_STORED ? scale(x[i], unit_a + unit_b) : 0.0f;
        if (i % 16 == 15)
            reads_end();
    }
}

/* Store a tile with exact lines, element by element. */
template <int ACCUMULATORS>
static __device__ __forceinline__ void store_any(const float (&x)[ACCUMULATORS], float *c,
                                                 const product_t &product, const int *rows,
                                                 const int *cols)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (rows[half * 8] != NOT_STORED) {
#pragma unroll
            for (int j = 0; j < ACCUMULATORS / 2; j++) {
                const int across = j / 2 * 8 + j % 2;
                if (cols[across] != NOT_STORED)
                    epilogue_store(c + across, x[j / 2 * 4 + half * 2 + j % 2], product.alpha,
                                   product.beta);
            }
        }
        c += 8 * product.ldc;
    }
}

/* ---- main loop -------------------------------------------------------------------------- */

/* A consumer thread: rows row and row + 8 of the tile, columns col + 8 i and col + 8 i + 1. */
template <typename S>
struct consumer_t {
    unsigned group, row, col; /* group: which consumer warpgroup */
    unsigned stage, parity, slot, slot_parity;
    float total[S::ACCUMULATORS], hh[S::ACCUMULATORS], cross[S::ACCUMULATORS];
    float earlier[S::BY_BLOCKS ? S::ACCUMULATORS : 1];
};

/* Where a block of k begins: scale the sums to its units. */
template <typename S>
static __device__ __forceinline__ void scale_sums(consumer_t<S> &c, shared_t<S> &shared)
{
    const float *const ratio = shared.factor[c.slot];
    mbarrier_wait(&shared.told[c.slot], c.slot_parity);
    wgmma_wait<0>();
    wgmma_pin(S::PRODUCTS == 1 ? c.hh : c.cross);

    const float first = ratio[c.row], second = ratio[c.row + 8];

#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float factor = (i & 2 ? second : first) * ratio[BM + i / 4 * 8 + c.col + (i & 1)];
        if (S::PROMOTES) {
            c.total[i] = (c.total[i] + c.hh[i]) * factor;
        } else if (S::PRODUCTS == 1) {
            c.hh[i] *= factor;
        } else if (S::BY_BLOCKS) {
            c.earlier[i] = (c.earlier[i] + c.total[i]) * factor;
            c.total[i] = 0.0f;
            c.cross[i] *= factor;
        } else {
            c.total[i] *= factor;
            c.cross[i] *= factor;
        }
    }
    mbarrier_arrive(&shared.heard[c.slot]);
    advance<SLOTS>(&c.slot, &c.slot_parity);
}

/* Multiply one k-step. `later`: it is not the piece's first; `again`: hh goes on accumulating. If
 * `tells`, tell block `whom` of the cluster when stage `previous` has been read. */
template <typename S>
static __device__ __forceinline__ void multiply_step(consumer_t<S> &c, shared_t<S> &shared,
                                                     bool later, bool again, unsigned previous,
                                                     bool tells, unsigned whom)
{
    const unsigned short *const a = shared.stages[c.stage] + c.group * PART;
    const unsigned short *const b = shared.stages[c.stage] + S::PLANES * S::PLANE_A;
    mbarrier_wait(&shared.full[c.stage], c.parity);
    wgmma_pin(c.hh);
    wgmma_fence();
    multiply<S>(c.hh, a, b, again);
    wgmma_commit();
    if (later) {
        wgmma_wait<1>();
        if (tells)
            mbarrier_arrive_cluster(&shared.empty[previous], whom);
    }
    if (S::PRODUCTS > 1) {
        wgmma_fence();
        multiply<S>(c.cross, a, b + S::PLANE_B, later);
        multiply<S>(c.cross, a + S::PLANE_A, b, true);
        wgmma_commit();
        wgmma_wait<1>();
        wgmma_pin(c.hh);
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            c.total[i] += c.hh[i];
    }
    if (S::PRODUCTS == 4) {
        wgmma_pin(c.hh);
        wgmma_fence();
        multiply<S>(c.hh, a + S::PLANE_A, b + S::PLANE_B, false);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_pin(c.hh);
        wgmma_pin(c.cross);
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            c.cross[i] = fmaf(c.hh[i], 0x1p-11f, c.cross[i]);
    }
}

/* The end of a piece: the sums in hh, scaled, to C or to those of the tile's other pieces. */
template <typename S>
static __device__ __forceinline__ void finish(consumer_t<S> &c, const product_t &product,
                                              const stream_k_t &stream_k, shared_t<S> &shared,
                                              const piece_t &piece, unsigned rank)
{
    const place_t place = locate<S>(stream_k, piece.tile, rank);
    float *const base = product.c_array ? product.c_array[place.matrix]
                                        : product.c + place.matrix * product.stride_c;
    float *const to = base + (place.m + c.row) * product.ldc + place.n + c.col;
    if (S::PROMOTES) {
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            c.hh[i] += c.total[i];
    } else if (S::PRODUCTS > 1) {
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            c.hh[i] =
                fmaf(c.cross[i], 0x1p-11f, S::BY_BLOCKS ? c.earlier[i] + c.total[i] : c.total[i]);
    }
    mbarrier_wait(&shared.told[c.slot], c.slot_parity);

    const unsigned flags = shared.flags[c.slot][0] | shared.flags[c.slot][1];
    const int *const row_units = shared.unit[c.slot] + c.row;
    const int *const col_units = shared.unit[c.slot] + BM + c.col;

    if (flags & GENERAL)
        scale_any(c.hh, row_units, col_units);
    else
        scale_plain(c.hh, shared.factor[c.slot] + c.row, shared.factor[c.slot] + BM + c.col);
    if (piece.tile < stream_k.whole ||
        add_up<PAIR, CONSUMERS * WARPGROUP>(c.hh, product.sums, stream_k, piece, rank,
                                            threadIdx.x - WARPGROUP)) {
        if (__any_sync(~0u, flags & HAS_EXACT)) {
            store_any(c.hh, to, product, row_units, col_units);
        } else {
            const int64_t rows = (int64_t)product.a.mn - place.m - c.row;
            const int64_t cols = (int64_t)product.b.mn - place.n;
            epilogue_store_row(c.hh, 0, product.alpha, product.beta, to - c.col,
                               rows > 0 ? cols : 0);
            epilogue_store_row(c.hh, 1, product.alpha, product.beta, to - c.col + 8 * product.ldc,
                               rows > 8 ? cols : 0);
        }
    }
    mbarrier_arrive(&shared.heard[c.slot]);
    advance<SLOTS>(&c.slot, &c.slot_parity);
}

/* The consumer threads: multiply all pieces. */
template <typename S>
static __device__ __forceinline__ void consume(const product_t &product, const stream_k_t &stream_k,
                                               shared_t<S> &shared, unsigned rank)
{
    const unsigned thread = threadIdx.x % WARPGROUP;
    /* Whether this thread tells block `thread` of the cluster that a stage has been read. */
    const bool tells = thread < PAIR;
    unsigned at = stream_k_start<PAIR>(stream_k);
    piece_t piece;
    consumer_t<S> c;
    c.group = threadIdx.x / WARPGROUP - 1;
    c.row = c.group * 64 + thread / 32 * 16 + thread % 32 / 4;
    c.col = thread % 4 * 2;
    c.stage = c.parity = c.slot = c.slot_parity = 0;
    while (next_piece<S>(product, stream_k, &at, &piece)) {
        unsigned previous = 0;
        /* hh too, which wgmma would not read: else the compiler makes products of one plane wait
         * for each other. */
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            c.total[i] = c.hh[i] = 0.0f;
        if (S::BY_BLOCKS)
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i++)
                c.earlier[i] = 0.0f;
        for (unsigned step = piece.begin; step < piece.end; step++) {
            const bool later = step > piece.begin;
            if (later && step % STEPS == 0)
                scale_sums(c, shared);
            multiply_step(c, shared, later,
                          S::PROMOTES ? later && step % STEPS > 0 : S::PRODUCTS == 1 && later,
                          previous, tells, thread);
            previous = c.stage;
            advance<S::STAGES>(&c.stage, &c.parity);
        }
        wgmma_wait<0>();
        if (tells)
            mbarrier_arrive_cluster(&shared.empty[previous], thread);
        wgmma_pin(c.hh);
        wgmma_pin(c.cross);
        finish(c, product, stream_k, shared, piece, rank);
    }
}

/* ---- kernels ---------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void multiply_planes(const maps_t &maps, const product_t &product)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const stream_k_t &stream_k = product.walk.stream_k;
    const unsigned rank = cluster_rank(), warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        for (int s = 0; s < S::STAGES; s++) {
            mbarrier_init(&shared.full[s], 1);
            mbarrier_init(&shared.empty[s], CONSUMERS * PAIR);
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
    /* The next kernel's blocks do not start early: they take more time than they save. */
    if (threadIdx.x < WARPGROUP) {
        registers_shrink<56>();
        if (threadIdx.x == 0)
            produce<S>(maps, product, stream_k, shared, rank);
        else if (warp >= WARPGROUP / 32 - KEEPERS / 32)
            keep<S>(product, stream_k, shared, rank, threadIdx.x - (WARPGROUP - KEEPERS));
    } else {
        registers_grow<224>();
        consume<S>(product, stream_k, shared, rank);
    }
    cluster_sync(); /* nobody leaves while another may still send to it */
}

#define PLANES_SM90(name, products, m, n, k)                                                       \
    typedef shape_t<products, n> name##_t;                                                         \
    static __global__ void CLUSTER_OF(PAIR) __launch_bounds__(THREADS, 1)                          \
        name(const __grid_constant__ maps_t maps, const __grid_constant__ product_t product)       \
    {                                                                                              \
        static_assert(m == BM && k == BK, "what the kernel is written for");                       \
        multiply_planes<name##_t>(maps, product);                                                  \
    }
TILEMM__SGEMM_PLANES_SM90_ROWS(PLANES_SM90)

/* ---- launcher --------------------------------------------------------------------------- */

template <typename S>
static int launch(void (*kernel)(maps_t, product_t), const product_t *problem, cudaStream_t stream)
{
    const tensor_encode_t encode = tensor_encoder();
    maps_t maps;
    if (!encode)
        return cudaErrorNotSupported;
    for (int i = 0; i < 4; i++) { /* hi and lo of a, then of b */
        const tilemm__sgemm_planes_operand_t &op = i < 2 ? problem->a : problem->b;
        const int64_t lines = (op.mn + BM - 1) / BM * BM;
        const cuuint64_t size[2] = {(cuuint64_t)((problem->k + BK - 1) / BK * BK),
                                    (cuuint64_t)(lines * problem->batch_count)};
        const cuuint64_t pitch = (cuuint64_t)op.pitch * 2;
        const cuuint32_t box[2] = {64, 64};
        if (!tensor_describe(encode, i < 2 ? &maps.a[i] : &maps.b[i - 2],
                             CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                             i % 2 && S::PLANES > 1 ? op.lo : op.hi, size, &pitch, box))
            return cudaErrorInvalidValue;
    }
    return launch_kernel(kernel, {(unsigned)problem->blocks, THREADS, sizeof(shared_t<S>), 1, true},
                         stream, maps, *problem);
}

extern "C" int tilemm__sgemm_planes_sm90_is_built(void)
{
    struct cudaFuncAttributes attributes;
    const cudaError_t error =
        cudaFuncGetAttributes(&attributes, sgemm_planes_sm90_128x128x64_p3_1x2);
    (void)cudaGetLastError();
    return error == cudaSuccess;
}

extern "C" int tilemm__sgemm_planes_sm90_launch(const product_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_PLANES_SM90_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
