/* sums.cu - sums of vectors whose elements are contiguous or have any stride.
 *
 * Assumes: compute capability 7.5 or later; floats are aligned to 4 bytes; sizes and strides within
 * 64 bits; partial results as reduce.h lays them out.
 *
 * A warp takes a tile: 32 loads of a row each, all in flight together, added in order, folded by
 * halves through shuffles. Of short vectors it takes 2 to 32 at a time. The sums of 32 tiles are
 * folded by a block, by the blocks of a cluster, or by several blocks, each of which leaves a
 * partial result.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "search.cuh"
#include "sum.cuh"

enum { CLUSTER = TILEMM__REDUCE_CLUSTER, SINGLE = TILEMM__REDUCE_SINGLE_VECTORS };

/* `warps` warps of a block take the tiles of an item in turns; one of them folds their sums. So few
 * writes go to memory: among reads they cost far more than their bytes. UNIT: elements are
 * contiguous. Assumes a grid that is large enough. */
template <int DOT, int UNIT, int ROWS>
DEVICE void sum_tiles(args_t args, int tiles, int warps, int64_t items, partials_t to)
{
    __shared__ sum_t sums[WARPS][LANES];
    __shared__ int nans[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, member = warp % warps;
    const int64_t item = (int64_t)blockIdx.x * (blockDim.x / LANES / warps) + warp / warps;
    const int64_t vector = vector_of(&args, item, items);
    const int64_t start = (item - vector * items) * tiles * TILE;
    const int length = vector < args.count ? clip(args.n - start, tiles * TILE) : 0;
    const int64_t stride = UNIT ? 1 : args.istride, y_stride = UNIT ? 1 : args.y_istride;
    const float *x = args.x + vector * args.vstride + (start + member * TILE) * stride;
    const float *y = DOT ? args.y + (start + member * TILE) * y_stride : NULL;
    int found = 0;
    sum_t sum = no_sum();
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int tile = member; tile * TILE < length; tile += warps) {
        sum = sum_tile<DOT, ROWS>(args.op, args.nan_ignore, x, stride, y, y_stride,
                                  clip(length - tile * TILE, TILE), lane, &found);
        if (lane == 0)
            sums[warp - member][tile] = sum;
        x += warps * TILE * stride;
        if (DOT)
            y += warps * TILE * y_stride;
    }
    if (tiles > 1) {
        if (lane == 0)
            nans[warp] = found;
        __syncthreads();
        if (member != 0)
            return;
        sum = fold_sum(lane * TILE < length ? sums[warp][lane] : no_sum(), lane);
        for (int i = 1; i < warps; i++)
            found += nans[warp + i];
    }
    if (lane == 0 && vector < args.count)
        put_sum(&args, &to, item, vector, sum, length - found);
}

#define KERNEL_SUM_TILES(name, dot, unit, rows, resident)                                          \
    KERNEL_OF(name, (THREADS, resident),                                                           \
              (args_t args, int tiles, int warps, int64_t items, partials_t to),                   \
              sum_tiles<dot, unit, rows>(args, tiles, warps, items, to))

/* Blocks that a multiprocessor should hold. Of dot products 5 million elements are a wave of blocks
 * and a few with 4. Compute capability 7.5 holds 1024 threads, and for Blackwell the compiler would
 * spill. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 1000)
enum { DOT_BLOCKS = 4 };
#else
enum { DOT_BLOCKS = 6 };
#endif
#define SPLIT_ROOM(dot, unit, splits) (!(unit) ? (splits) / 2 : (dot) ? (int)DOT_BLOCKS : (splits))

/* The 32 tiles of an item are divided among SPLITS blocks: warp w of split s has tile
 * s + SPLITS * w, and all loads of the block are in flight together. So shorter vectors keep more
 * of the device busy, and leave little to fold. Assumes a grid of the exact size. */
template <int DOT, int UNIT, int SPLITS, int ROWS>
DEVICE void sum_split(args_t args, int64_t items, partials_t to)
{
    enum { WIDE = LANES / SPLITS };
    __shared__ sum_t sums[WIDE];
    __shared__ int counts[WIDE];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, split = blockIdx.x % SPLITS;
    const int64_t item = blockIdx.x / SPLITS, vector = vector_of(&args, item, items);
    const int64_t number = item - vector * items, first = number * LANES + split;
    const int64_t start = (first + warp * SPLITS) * TILE;
    const int64_t stride = UNIT ? 1 : args.istride, y_stride = UNIT ? 1 : args.y_istride;
    const int length = start < args.n ? clip(args.n - start, TILE) : 0;
    int found = 0;
    let_next_start();
    wait_for_previous();
    sum_t sum = sum_tile<DOT, ROWS>(
        args.op, args.nan_ignore, args.x + vector * args.vstride + start * stride, stride,
        DOT ? args.y + start * y_stride : NULL, y_stride, length, lane, &found);
    if (lane == 0) {
        sums[warp] = sum;
        counts[warp] = length - found;
    }
    __syncthreads();
    if (warp == 0) {
        int64_t count = 0;
        sum = sums[lane % WIDE];
#pragma unroll
        for (int half = WIDE / 2; half > 0; half /= 2)
            sum = join(sum, from_lane(sum, half));
        for (int w = 0; to.counts && w < WIDE; w++)
            count += counts[w];
        if (lane == 0)
            put_sum(&args, &to, (vector * SPLITS + split) * items + number, vector, sum, count);
    }
}

#define KERNEL_SUM_SPLIT(name, dot, unit, splits, rows)                                            \
    KERNEL_OF(name, (LANES / splits * LANES, SPLIT_ROOM(dot, unit, splits)),                       \
              (args_t args, int64_t items, partials_t to),                                         \
              sum_split<dot, unit, splits, rows>(args, items, to))

/* A cluster takes a vector of up to 64 tiles, a warp a tile. Each warp sends its sum to the first
 * block, whose first warp folds them. Blocks have only as many warps as there are tiles for: spread
 * over more multiprocessors, warps wait less for each other's additions. */
template <int DOT>
DEVICE void sum_cluster(args_t args)
{
    enum { MOST = CLUSTER * WARPS, ROWS = DOT ? 8 : TILEMM__TILE_ROWS };
    static_assert(MOST == 2 * LANES, "two rows");
    __shared__ __align__(16) sum_t sums[MOST];
    __shared__ int64_t counts[MOST];
    __shared__ uint64_t mail;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, rank = blockIdx.x % CLUSTER;
    const int64_t vector = blockIdx.x / CLUSTER;
    const int tiles = (int)tilemm__tile_count(args.n), tile = warp * CLUSTER + rank;
    const int start = tile * TILE, length = tile < tiles ? clip(args.n - start, TILE) : 0;
    int found = 0;
    if (rank == 0 && threadIdx.x == 0)
        mail_expect(&mail, tiles * (int)(sizeof *sums + sizeof *counts));
    cluster_arrive();
    let_next_start();
    wait_for_previous();
    sum_t sum =
        sum_tile<DOT, ROWS>(args.op, args.nan_ignore, args.x + vector * args.vstride + start, 1,
                            DOT ? args.y + start : NULL, 1, length, lane, &found);
    cluster_wait(); /* the first block is there and has its mail box */
    if (lane == 0 && tile < tiles) {
        mail_push(&mail, &sums[tile], sum);
        mail_push(&mail, &counts[tile], (int64_t)(length - found));
    }
    if (rank == 0 && warp == 0) {
        mail_wait(&mail);
        const bool more = LANES + lane < tiles;
        int64_t count = (lane < tiles ? counts[lane] : 0) + (more ? counts[LANES + lane] : 0);
        sum = fold_sum(lane < tiles ? sums[lane] : no_sum(), lane);
        if (tiles > LANES)
            sum = join(sum, fold_sum(more ? sums[LANES + lane] : no_sum(), lane));
        if (tilemm__sum_is_counted(args.op, args.nan_ignore))
            count = fold<1>(&count, lane);
        if (lane == 0)
            store_sum(&args, vector, sum, count);
    }
}

#define KERNEL_SUM_CLUSTER(name, dot)                                                              \
    KERNEL_OF(name, (THREADS), (args_t args), sum_cluster<dot>(args))

/* A warp takes V vectors of up to 1024 / V elements. */
template <int V>
DEVICE void sum_short(args_t args, partials_t to)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    for (int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * V;
         first < args.count; first += (int64_t)gridDim.x * WARPS * V) {
        const int64_t vector = first + lane / (LANES / V);
        int nans = 0;
        float v[V * ROWS];
        sum_t sum[V];
        load_rows<V, ROWS, true>(args.x + first * args.vstride, args.istride, args.vstride,
                                 (int)args.n, clip(args.count - first, V), 0.0f, lane, v);
        if (tilemm__sum_is_counted(args.op, args.nan_ignore))
            nans = count_nans<V, ROWS>(v, lane);
        if (V == LANES) {
            sum[0] = sum_rows(args.op, args.nan_ignore, v, lane);
        } else {
            ready_floats<V * ROWS>(args.op, args.nan_ignore, v);
            if (is_squares(args.op) || !sum_exactly<V, ROWS>(v, lane, sum)) {
                add_floats<V * ROWS, ROWS, V, 1>(args.op, args.nan_ignore, v, sum);
                sum[0] = fold<V>(sum, lane);
            }
        }
        if (lane % (LANES / V) == 0 && vector < args.count)
            put_sum(&args, &to, vector, vector, sum[0], args.n - nans);
    }
}

#define KERNEL_SUM_SHORT(name, vectors)                                                            \
    KERNEL_OF(name, (THREADS), (args_t args, partials_t to), sum_short<vectors>(args, to))

/* A block takes a vector, a span of 1024 tiles at a time. */
template <int DOT>
DEVICE void sum_blocks(args_t args)
{
    __shared__ block_room_t room;
    __shared__ levels_t levels[LANES]; /* of warp 0 */
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        const int64_t spans = (args.n - 1) / SPAN + 1;
        int64_t count = 0;
        if (warp == 0)
            levels_begin(&levels[lane]);
#pragma unroll 1
        for (int64_t span = 0; span < spans; span++) {
            const int64_t start = span * SPAN;
            int64_t here;
            const sum_t sum = block_sum<DOT>(
                args.op, args.nan_ignore, args.x + vector * args.vstride + start * args.istride,
                args.istride, args.y + start * args.y_istride, args.y_istride,
                clip(args.n - start, SPAN), &room, &here);
            count += here;
            if (warp == 0) {
                const sum_t all = {__shfl_sync(FULL_WARP, sum.sum, 0),
                                   __shfl_sync(FULL_WARP, sum.lost, 0)};
                levels_add(&levels[lane], 0, span, all, lane);
            }
        }
        if (warp == 0) {
            const sum_t sum = levels_end(&levels[lane], spans, lane);
            if (lane == 0)
                store_sum(&args, vector, sum, count);
        }
    }
}

#define KERNEL_SUM_BLOCK(name, dot)                                                                \
    KERNEL_OF(name, (BLOCK_WARPS * LANES), (args_t args), sum_blocks<dot>(args))

/* Sums and searches of vectors of one element: what the operation makes of it. A thread has SINGLE
 * loads in flight. */
#define KERNEL_SINGLE(...) /* there is one only: */
static __global__ void __launch_bounds__(THREADS) reduce_single_sm75_4x256(args_t args)
{
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    const int64_t first = (int64_t)blockIdx.x * (THREADS * SINGLE) + threadIdx.x;
    float v[SINGLE];
    let_next_start();
    wait_for_previous();
#pragma unroll
    for (int k = 0; k < SINGLE; k++) {
        const int64_t i = first + k * THREADS;
        v[k] = i < args.count ? __ldg(args.x + i * args.vstride) : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < SINGLE; k++) {
        const int64_t i = first + k * THREADS;
        if (i < args.count && tilemm__op_is_order(args.op)) {
            store_key(&args, i, tilemm__key_of(order, __float_as_uint(v[k])), 0);
        } else if (i < args.count) {
            const double term = tilemm__sum_term(args.op, args.nan_ignore, v[k], 0.0f);
            store_sum(&args, i, tilemm__sum_add(no_sum(), term), v[k] == v[k]);
        }
    }
}

DEFINE_KERNELS(TILEMM__REDUCE_SUMS, tilemm__reduce_sum_kernel)
