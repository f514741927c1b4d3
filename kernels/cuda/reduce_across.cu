/* reduce_across.cu - reductions of vectors whose elements are read by a warp row by row, side by
 * side or with any stride, and of the partial results that this leaves.
 *
 * Assumes: compute capability 7.5 or later; no alignment but that of a float; element sizes and
 * strides within 64 bits; partial results as reduce.h lays them out.
 *
 * A warp takes a tile: 32 loads of a row each, all under way at once, added in order, folded by
 * halves through shuffles. Of short vectors it takes 4 or 32, so that the rows are as many, and
 * folds them together. A block of 32 warps takes a whole vector where that saves a launch or where
 * there is no room for partial results.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "reduce_warp.cuh"

/* Launch bounds say how many blocks should fit a multiprocessor: a bound on registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { WARPS = 8, THREADS = WARPS * LANES, SEARCH_RESIDENT = 2 };
#else
enum { WARPS = 8, THREADS = WARPS * LANES, SEARCH_RESIDENT = 4 };
#endif

/* The number of this warp among all of them, and how many those are. */
static __device__ __forceinline__ int64_t warp_number(void)
{
    return (int64_t)blockIdx.x * WARPS + threadIdx.x / LANES;
}

static __device__ __forceinline__ int64_t warp_total(void)
{
    return (int64_t)gridDim.x * WARPS;
}

/* item = vector * tiles + tile. */
static __device__ __forceinline__ int64_t vector_of(int64_t item, int64_t tiles)
{
    if (tiles == 1) {
        return item;
    }
    if ((uint64_t)(item | tiles) >> 32 == 0) { /* a far cheaper division */
        return (uint32_t)item / (uint32_t)tiles;
    }
    return item / tiles;
}

/* ---- vectors of floats -------------------------------------------------------------------- */

template <int DOT>
static __global__ void __launch_bounds__(THREADS, 3)
    sum_tiles(tilemm__reduce_args_t args, int64_t tiles, tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES;
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        const int length = clip(args.n - start, TILE);
        int nans = 0;
        const tilemm__sum_t sum = sum_tile < DOT,
                            DOT ? 16
                                : 32 > (args.op, args.nan_ignore,
                                        args.x + vector * args.vstride + start * args.istride,
                                        args.istride, args.y + start * args.y_istride,
                                        args.y_istride, length, lane, &nans);
        if (lane == 0) {
            put_sum(&args, &to, item, vector, sum, length - nans);
        }
    }
}

static __global__ void __launch_bounds__(THREADS, SEARCH_RESIDENT)
    search_tiles(tilemm__reduce_args_t args, int64_t tiles, int64_t first_index,
                 tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        int place = 0;
        const int32_t key = search_tile<32>(
            order, args.x + vector * args.vstride + start * args.istride, args.istride,
            clip(args.n - start, TILE), lane, args.index_out != NULL, &place);
        if (lane == 0) {
            put_key(&args, &to, item, vector, key, first_index + start + place);
        }
    }
}

/* V vectors of one tile each, of up to 1024 / V elements. */
template <int V>
static __global__ void __launch_bounds__(THREADS)
    sum_short(tilemm__reduce_args_t args, tilemm__partials_t to)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane / (LANES / V);
        int nans = 0;
        float v[V * ROWS];
        tilemm__sum_t sum[V];
        load_rows<V, ROWS>(args.x + first * args.vstride, args.istride, args.vstride, (int)args.n,
                           clip(args.count - first, V), 0.0f, lane, v);
        if (tilemm__sum_is_counted(args.op, args.nan_ignore)) {
            nans = count_nans<V, ROWS>(v, lane);
        }
#pragma unroll
        for (int j = 0; j < V; j++) {
            sum[j] = no_sum();
        }
        add_floats<V * ROWS, ROWS, V>(args.op, args.nan_ignore, v, sum);
        sum[0] = fold_sums<V>(sum, lane);
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_sum(&args, &to, vector, vector, sum[0], args.n - nans);
        }
    }
}

/* Of V vectors, ROWS keys a lane of each: the largest key of vector lane / (32 / V), and where it
 * stands first, if that is wanted. */
template <int V, int ROWS>
static __device__ __forceinline__ int32_t best_keys(const int32_t *key, bool find, int lane,
                                                    int *place)
{
    int32_t best[V];
#pragma unroll
    for (int j = 0; j < V; j++) {
        best[j] = TILEMM__KEY_NONE;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            best[j] = max(best[j], key[j * ROWS + r]);
        }
    }
    best[0] = fold_keys<V>(best, lane);
    if (find) {
        *place = find_keys<V, ROWS>(key, best[0], lane);
    }
    return best[0];
}

template <int V>
static __global__ void __launch_bounds__(THREADS)
    search_short(tilemm__reduce_args_t args, int64_t first_index, tilemm__partials_t to)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane / (LANES / V);
        const int vectors = clip(args.count - first, V), length = (int)args.n;
        int place = 0;
        float v[V * ROWS];
        int32_t key[V * ROWS];
        load_rows<V, ROWS>(args.x + first * args.vstride, args.istride, args.vstride, length,
                           vectors, 0.0f, lane, v);
        keys_of_rows<V, ROWS>(order, v, length, vectors, lane, key);
        const int32_t best = best_keys<V, ROWS>(key, args.index_out != NULL, lane, &place);
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_key(&args, &to, vector, vector, best, first_index + place);
        }
    }
}

/* A block takes a vector, span by span. */
template <int DOT>
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES) sum_blocks(tilemm__reduce_args_t args)
{
    __shared__ block_room_t room;
    __shared__ levels_t levels[LANES]; /* of warp 0 */
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        const int64_t spans = (args.n - 1) / SPAN + 1;
        int64_t count = 0;
        if (warp == 0) {
            levels_begin(&levels[lane]);
        }
#pragma unroll 1
        for (int64_t span = 0; span < spans; span++) {
            const int64_t start = span * SPAN;
            int64_t here;
            const tilemm__sum_t sum = block_sum<DOT>(
                args.op, args.nan_ignore, args.x + vector * args.vstride + start * args.istride,
                args.istride, args.y + start * args.y_istride, args.y_istride,
                clip(args.n - start, SPAN), &room, &here);
            count += here;
            if (warp == 0) {
                levels_add(&levels[lane], span, sum, lane);
            }
        }
        if (warp == 0) {
            const tilemm__sum_t sum = levels_end(&levels[lane], spans, lane);
            if (lane == 0) {
                put_sum(&args, &none, 0, vector, sum, count);
            }
        }
    }
}

static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    search_blocks(tilemm__reduce_args_t args)
{
    __shared__ block_room_t room;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int64_t place;
        const int32_t key = block_search(order, args.x + vector * args.vstride, args.istride,
                                         args.n, args.index_out != NULL, &room, &place);
        if (threadIdx.x == 0) {
            put_key(&args, &none, 0, vector, key, place);
        }
    }
}

/* ---- vectors of partial results ----------------------------------------------------------- */

static __global__ void __launch_bounds__(THREADS)
    sum_partials(tilemm__reduce_args_t args, int64_t length, int64_t tiles, tilemm__partials_t from,
                 tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES;
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        const int64_t at = vector * length + start;
        const int here = clip(length - start, TILE);
        const tilemm__sum_t sum = sum_tile_of_sums<16>(from.sums + at, here, lane);
        const int64_t count = from.counts ? sum_counts(from.counts + at, here, lane) : 0;
        if (lane == 0) {
            put_sum(&args, &to, item, vector, sum, count);
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    search_partials(tilemm__reduce_args_t args, int64_t length, int64_t tiles,
                    tilemm__partials_t from, tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES;
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        const int64_t at = vector * length + start;
        int place = 0;
        const int32_t key = search_tile_of_keys(from.keys + at, clip(length - start, TILE), lane,
                                                args.index_out != NULL, &place);
        if (lane == 0) {
            put_key(&args, &to, item, vector, key, args.index_out ? from.indices[at + place] : 0);
        }
    }
}

/* V vectors of one tile each, of up to 1024 / V partial results: this finishes them. */
template <int V>
static __global__ void __launch_bounds__(THREADS)
    sum_short_partials(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane / (LANES / V);
        const int vectors = clip(args.count - first, V);
        int64_t count[V];
        tilemm__sum_t v[V * ROWS], sum[V];
        load_rows<V, ROWS>(from.sums + first * length, 1, length, length, vectors, no_sum(), lane,
                           v);
#pragma unroll
        for (int j = 0; j < V; j++) {
            sum[j] = no_sum();
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                sum[j] = join(sum[j], v[j * ROWS + r]);
            }
        }
        sum[0] = fold_sums<V>(sum, lane);
        count[0] = 0;
        if (from.counts) {
            int64_t w[V * ROWS];
            load_rows<V, ROWS>(from.counts + first * length, 1, length, length, vectors, (int64_t)0,
                               lane, w);
#pragma unroll
            for (int j = 0; j < V; j++) {
                count[j] = 0;
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    count[j] += w[j * ROWS + r];
                }
            }
            count[0] = fold_sums<V>(count, lane);
        }
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_sum(&args, &none, 0, vector, sum[0], count[0]);
        }
    }
}

template <int V>
static __global__ void __launch_bounds__(THREADS)
    search_short_partials(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane / (LANES / V);
        int place = 0;
        int32_t key[V * ROWS];
        load_rows<V, ROWS>(from.keys + first * length, 1, length, length,
                           clip(args.count - first, V), TILEMM__KEY_NONE, lane, key);
        const int32_t best = best_keys<V, ROWS>(key, args.index_out != NULL, lane, &place);
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_key(&args, &none, 0, vector, best,
                    args.index_out ? from.indices[vector * length + place] : 0);
        }
    }
}

/* A block takes a vector of up to 2^20 partial results. */
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    sum_partials_blocks(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        tilemm__sum_t sum = no_sum();
        int64_t count = 0;
#pragma unroll 1
        for (int start = warp * TILE; start < length; start += BLOCK_WARPS * TILE) {
            const int64_t at = vector * length + start;
            const int here = clip(length - start, TILE);
            sum = join(sum, sum_tile_of_sums<8>(from.sums + at, here, lane));
            if (from.counts) {
                count += sum_counts(from.counts + at, here, lane);
            }
        }
        sum = block_fold_sum(&room, sum, &count, from.counts != NULL, lane, warp);
        if (threadIdx.x == 0) {
            put_sum(&args, &none, 0, vector, sum, count);
        }
    }
}

static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    search_partials_blocks(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int32_t best = TILEMM__KEY_NONE;
        int64_t place = 0;
#pragma unroll 1
        for (int start = warp * TILE; start < length; start += BLOCK_WARPS * TILE) {
            int here = 0;
            const int32_t key =
                search_tile_of_keys(from.keys + vector * length + start, clip(length - start, TILE),
                                    lane, args.index_out != NULL, &here);
            if (key > best) {
                best = key;
                place = start + here;
            }
        }
        best = block_fold_key(&room, best, &place, lane, warp);
        if (threadIdx.x == 0) {
            put_key(&args, &none, 0, vector, best,
                    args.index_out ? from.indices[vector * length + place] : 0);
        }
    }
}

/* ---- launchers ---------------------------------------------------------------------------- */

static unsigned grid_for(int64_t items, int per_block)
{
    const int64_t blocks = (items - 1) / per_block + 1;
    return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX;
}

static const tilemm__partials_t nowhere = {NULL, NULL, NULL, NULL};

extern "C" int tilemm__reduce_across(const tilemm__reduce_args_t *args, int width,
                                     int64_t first_index, const tilemm__partials_t *to,
                                     void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const int64_t tiles = tilemm__tile_count(args->n);
    const tilemm__partials_t target = to ? *to : nowhere;
    const unsigned grid = grid_for(width == 1 ? args->count * tiles : args->count, width * WARPS);
    if (tilemm__op_is_order(args->op)) {
        if (width == 32) {
            search_short<32><<<grid, THREADS, 0, queue>>>(*args, first_index, target);
        } else if (width == 4) {
            search_short<4><<<grid, THREADS, 0, queue>>>(*args, first_index, target);
        } else {
            search_tiles<<<grid, THREADS, 0, queue>>>(*args, tiles, first_index, target);
        }
    } else if (args->op == TILEMM__DOT) { /* one vector: nothing to put into one warp */
        sum_tiles<1><<<grid_for(tiles, WARPS), THREADS, 0, queue>>>(*args, tiles, target);
    } else if (width == 32) {
        sum_short<32><<<grid, THREADS, 0, queue>>>(*args, target);
    } else if (width == 4) {
        sum_short<4><<<grid, THREADS, 0, queue>>>(*args, target);
    } else {
        sum_tiles<0><<<grid, THREADS, 0, queue>>>(*args, tiles, target);
    }
    return (int)cudaGetLastError();
}

extern "C" int tilemm__reduce_across_block(const tilemm__reduce_args_t *args, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const unsigned grid = grid_for(args->count, 1);
    if (tilemm__op_is_order(args->op)) {
        search_blocks<<<grid, BLOCK_WARPS * LANES, 0, queue>>>(*args);
    } else if (args->op == TILEMM__DOT) {
        sum_blocks<1><<<grid, BLOCK_WARPS * LANES, 0, queue>>>(*args);
    } else {
        sum_blocks<0><<<grid, BLOCK_WARPS * LANES, 0, queue>>>(*args);
    }
    return (int)cudaGetLastError();
}

extern "C" int tilemm__reduce_partials(const tilemm__reduce_args_t *args, int64_t length,
                                       const tilemm__partials_t *from, int width,
                                       const tilemm__partials_t *to, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const int64_t tiles = tilemm__tile_count(length);
    const tilemm__partials_t target = to ? *to : nowhere;
    const unsigned grid = grid_for(width == 1 ? args->count * tiles : args->count, width * WARPS);
    const int is_order = tilemm__op_is_order(args->op);
    if (width == 32) {
        if (is_order) {
            search_short_partials<32><<<grid, THREADS, 0, queue>>>(*args, (int)length, *from);
        } else {
            sum_short_partials<32><<<grid, THREADS, 0, queue>>>(*args, (int)length, *from);
        }
    } else if (width == 4) {
        if (is_order) {
            search_short_partials<4><<<grid, THREADS, 0, queue>>>(*args, (int)length, *from);
        } else {
            sum_short_partials<4><<<grid, THREADS, 0, queue>>>(*args, (int)length, *from);
        }
    } else if (is_order) {
        search_partials<<<grid, THREADS, 0, queue>>>(*args, length, tiles, *from, target);
    } else {
        sum_partials<<<grid, THREADS, 0, queue>>>(*args, length, tiles, *from, target);
    }
    return (int)cudaGetLastError();
}

extern "C" int tilemm__reduce_partials_block(const tilemm__reduce_args_t *args, int64_t length,
                                             const tilemm__partials_t *from, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const unsigned grid = grid_for(args->count, 1);
    if (tilemm__op_is_order(args->op)) {
        search_partials_blocks<<<grid, BLOCK_WARPS * LANES, 0, queue>>>(*args, (int)length, *from);
    } else {
        sum_partials_blocks<<<grid, BLOCK_WARPS * LANES, 0, queue>>>(*args, (int)length, *from);
    }
    return (int)cudaGetLastError();
}
