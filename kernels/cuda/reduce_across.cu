/* reduce_across.cu - reductions of vectors whose elements are read by a warp row by row, side by
 * side or with any stride, and of the partial results that this leaves.
 *
 * Assumes: compute capability 7.5 or later; no alignment but that of a float; element sizes and
 * strides within 64 bits; partial results as reduce.h lays them out.
 *
 * A warp takes a tile: 32 loads of a row each, all under way at once, added in order, folded by
 * halves through shuffles. Of short vectors it takes 2 to 32, so that the rows are as many, and
 * folds them together. A block of 32 warps takes a whole vector where that saves a launch or where
 * there is no room for partial results.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "launch.cuh"
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

/* An item is up to `tiles` tiles of a vector, 1 or 32, and `share` warps of a block take them, 1 to
 * 8; one of them folds their sums. UNIT: elements lie side by side. So little goes back to memory:
 * writes among reads cost far more than their bytes. Assumes that the grid is large enough. */
template <int DOT, int UNIT>
static __global__ void __launch_bounds__(THREADS, !UNIT ? 2
                                                  : DOT ? 3
                                                        : 4)
    sum_tiles(tilemm__reduce_args_t args, int tiles, int share, int64_t items,
              tilemm__partials_t to)
{
    enum { ROWS = DOT ? 8 : 32 };
    __shared__ tilemm__sum_t sums[WARPS][LANES];
    __shared__ int nans[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, part = warp % share;
    const int64_t item = (int64_t)blockIdx.x * (blockDim.x / LANES / share) + warp / share;
    const int64_t vector = vector_of(item, items);
    const int64_t start = (item - vector * items) * tiles * TILE;
    const int length = vector < args.count ? clip(args.n - start, tiles * TILE) : 0;
    const int64_t stride = UNIT ? 1 : args.istride, y_stride = UNIT ? 1 : args.y_istride;
    const float *x = args.x + vector * args.vstride + (start + part * TILE) * stride;
    const float *y = DOT ? args.y + (start + part * TILE) * y_stride : NULL;
    int found = 0;
    tilemm__sum_t sum = no_sum();
#pragma unroll 1
    for (int tile = part; tile * TILE < length; tile += share) {
        sum = sum_tile<DOT, ROWS>(args.op, args.nan_ignore, x, stride, y, y_stride,
                                  clip(length - tile * TILE, TILE), lane, &found);
        if (lane == 0) {
            sums[warp - part][tile] = sum;
        }
        x += share * TILE * stride;
        if (DOT) {
            y += share * TILE * y_stride;
        }
    }
    if (tiles > 1) {
        if (lane == 0) {
            nans[warp] = found;
        }
        __syncthreads();
        if (part != 0) {
            return;
        }
        sum = fold_sum(lane * TILE < length ? sums[warp][lane] : no_sum(), lane);
        for (int i = 1; i < share; i++) {
            found += nans[warp + i];
        }
    }
    if (lane == 0 && vector < args.count) {
        put_sum(&args, &to, item, vector, sum, length - found);
    }
}

/* `parts` warps share a vector's tiles: a search may take them in any order. Each lane keeps its
 * own best and the tile where that was, and looks for the row at the very end. */
template <int IGNORE>
static __global__ void __launch_bounds__(THREADS, SEARCH_RESIDENT)
    search_tiles(tilemm__reduce_args_t args, int64_t parts, int64_t first_index,
                 tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES;
    const int64_t tiles = tilemm__tile_count(args.n), row = LANES * args.istride;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t item = warp_number(); item < args.count * parts; item += warp_total()) {
        const int64_t vector = vector_of(item, parts);
        const float *x = args.x + vector * args.vstride + lane * args.istride;
        int32_t best = TILEMM__KEY_NONE;
        int64_t where = 0, place = 0;
        float v[TILEMM__TILE_ROWS];
        for (int64_t tile = item - vector * parts; tile < tiles; tile += parts) {
            const float *p = x + tile * TILEMM__TILE_ROWS * row;
            const int64_t length = args.n - tile * TILE;
            int32_t key = TILEMM__KEY_NONE;
            if (length >= TILE) {
#pragma unroll
                for (int r = 0; r < TILEMM__TILE_ROWS; r++) {
                    v[r] = __ldg(p + r * row);
                }
                key = largest_key<IGNORE, TILEMM__TILE_ROWS>(order, v);
            } else {
                for (int r = 0; r * LANES + lane < length; r++) {
                    key = max(key, tilemm__key_of(order, __float_as_uint(__ldg(p + r * row))));
                }
            }
            if (key > best) {
                best = key;
                where = tile;
            }
        }
        int32_t most = best;
        most = fold_keys<1>(&most, lane);
        if (args.index_out) { /* in the first of the tiles that have it */
            int32_t key[TILEMM__TILE_ROWS];
            where = best == most ? where : INT64_MAX;
#pragma unroll
            for (int half = LANES / 2; half > 0; half /= 2) {
                where = min(where, __shfl_xor_sync(FULL_WARP, where, half));
            }
            load_rows<1, TILEMM__TILE_ROWS>(
                x - lane * args.istride + where * TILEMM__TILE_ROWS * row, args.istride, 0,
                clip(args.n - where * TILE, TILE), 1, 0.0f, lane, v);
            keys_of_rows<1, TILEMM__TILE_ROWS>(order, v, clip(args.n - where * TILE, TILE), 1, lane,
                                               key);
            place = where * TILE + find_keys<1, TILEMM__TILE_ROWS>(key, most, lane);
        }
        if (lane == 0) {
            put_key(&args, &to, item, vector, most, first_index + place);
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
        if (V == LANES) {
            sum[0] = sum_rows(args.op, args.nan_ignore, v, lane);
        } else {
            add_floats<V * ROWS, ROWS, V, 1>(args.op, args.nan_ignore, v, sum);
            sum[0] = fold_sums<V>(sum, lane);
        }
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
                levels_add(&levels[lane], 0, span, sum, lane);
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
    wait_for_previous();
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        const int64_t at = vector * length + start;
        const int here = clip(length - start, TILE);
        const tilemm__sum_t sum = sum_of_sums<8>(from.sums + at, here, lane);
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
    wait_for_previous();
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(item, tiles), start = (item - vector * tiles) * TILE;
        const int64_t at = vector * length + start;
        int64_t index = 0;
        const int32_t key =
            search_tile_of_keys(from.keys + at, args.index_out ? from.indices + at : NULL,
                                clip(length - start, TILE), lane, &index);
        if (lane == 0) {
            put_key(&args, &to, item, vector, key, index);
        }
    }
}

/* 32 vectors of up to 32 partial results: this finishes them. */
static __global__ void __launch_bounds__(THREADS)
    sum_short_partials(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { V = LANES };
    const int lane = threadIdx.x % LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    wait_for_previous();
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane;
        const int vectors = clip(args.count - first, V);
        int64_t count = 0;
        tilemm__sum_t v[V];
        load_rows<V, 1>(from.sums + first * length, 1, length, length, vectors, no_sum(), lane, v);
        v[0] = fold_sums<V>(v, lane);
        if (from.counts) {
            int64_t w[V];
            load_rows<V, 1>(from.counts + first * length, 1, length, length, vectors, (int64_t)0,
                            lane, w);
            count = fold_sums<V>(w, lane);
        }
        if (vector < args.count) {
            put_sum(&args, &none, 0, vector, v[0], count);
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    search_short_partials(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { V = LANES };
    const int lane = threadIdx.x % LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    wait_for_previous();
    for (int64_t first = warp_number() * V; first < args.count; first += warp_total() * V) {
        const int64_t vector = first + lane;
        const int vectors = clip(args.count - first, V);
        int64_t index = 0;
        int32_t key[V];
        load_rows<V, 1>(from.keys + first * length, 1, length, length, vectors, TILEMM__KEY_NONE,
                        lane, key);
        const int32_t best = best_keys<V, 1>(key, false, lane, NULL);
        for (int j = 0; j < vectors && args.index_out; j++) { /* vector j is lane j's */
            const int64_t at = (first + j) * length + lane;
            const int32_t theirs = __shfl_sync(FULL_WARP, best, j);
            const bool is_best = lane < length && from.keys[at] == theirs;
            const int64_t least = least_of_lanes(is_best ? from.indices[at] : INT64_MAX);
            index = lane == j ? least : index;
        }
        if (vector < args.count) {
            put_key(&args, &none, 0, vector, best, index);
        }
    }
}

/* A block takes a vector of up to 2^20 partial results. */
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    sum_partials_blocks(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    wait_for_previous();
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int64_t count = 0;
#pragma unroll 1
        for (int i = warp; i * TILE < length; i += warps) {
            const int64_t at = vector * length + i * TILE;
            const int here = clip(length - i * TILE, TILE);
            const tilemm__sum_t sum = sum_of_sums<4>(from.sums + at, here, lane);
            if (lane == 0) {
                room.sums[i] = sum;
            }
            if (from.counts) {
                count += sum_counts(from.counts + at, here, lane);
            }
        }
        const tilemm__sum_t sum =
            block_fold_sum(&room, (length - 1) / TILE + 1, &count, lane, warp);
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
    wait_for_previous();
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int32_t best = TILEMM__KEY_NONE;
        int64_t place = 0;
#pragma unroll 1
        for (int start = warp * TILE; start < length; start += BLOCK_WARPS * TILE) {
            const int64_t at = vector * length + start;
            int64_t index = 0;
            const int32_t key =
                search_tile_of_keys(from.keys + at, args.index_out ? from.indices + at : NULL,
                                    clip(length - start, TILE), lane, &index);
            if (tilemm__key_wins(key, index, best, place)) {
                best = key;
                place = index;
            }
        }
        best = block_fold_key(&room, best, &place, lane, warp);
        if (threadIdx.x == 0) {
            put_key(&args, &none, 0, vector, best, place);
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

/* The kernel for `width` vectors to a warp. */
#define BY_WIDTH(kernel, width)                                                                    \
    ((width) == 32   ? kernel<32>                                                                  \
     : (width) == 16 ? kernel<16>                                                                  \
     : (width) == 8  ? kernel<8>                                                                   \
     : (width) == 4  ? kernel<4>                                                                   \
                     : kernel<2>)

extern "C" int tilemm__reduce_across(const tilemm__reduce_args_t *args, int width, int tiles,
                                     int share, int64_t items, int64_t first_index,
                                     const tilemm__partials_t *to, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const tilemm__partials_t target = to ? *to : nowhere;
    const unsigned grid = grid_for(args->count, width * WARPS);
    if (tilemm__op_is_order(args->op)) {
        if (width > 1) {
            const auto kernel = BY_WIDTH(search_short, width);
            kernel<<<grid, THREADS, 0, queue>>>(*args, first_index, target);
        } else {
            const auto kernel = args->nan_ignore ? search_tiles<1> : search_tiles<0>;
            kernel<<<grid_for(args->count * items, WARPS), THREADS, 0, queue>>>(
                *args, items, first_index, target);
        }
    } else if (width > 1) {
        const auto kernel = BY_WIDTH(sum_short, width);
        kernel<<<grid, THREADS, 0, queue>>>(*args, target);
    } else {
        const int unit = args->istride == 1 && (args->op != TILEMM__DOT || args->y_istride == 1);
        const auto kernel = args->op == TILEMM__DOT ? (unit ? sum_tiles<1, 1> : sum_tiles<1, 0>)
                                                    : (unit ? sum_tiles<0, 1> : sum_tiles<0, 0>);
        const int warps = args->count * items == 1 ? share : WARPS;
        kernel<<<grid_for(args->count * items, warps / share), warps * LANES, 0, queue>>>(
            *args, tiles, share, items, target);
    }
    return (int)cudaGetLastError();
}

/* Threads of a block whose warps take a tile each of up to 32. */
static int block_threads(int64_t length)
{
    const int64_t tiles = tilemm__tile_count(length);
    return (tiles < BLOCK_WARPS ? (int)tiles : BLOCK_WARPS) * LANES;
}

extern "C" int tilemm__reduce_across_block(const tilemm__reduce_args_t *args, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const unsigned grid = grid_for(args->count, 1);
    const int threads = block_threads(args->n);
    if (tilemm__op_is_order(args->op)) {
        search_blocks<<<grid, threads, 0, queue>>>(*args);
    } else if (args->op == TILEMM__DOT) {
        sum_blocks<1><<<grid, threads, 0, queue>>>(*args);
    } else {
        sum_blocks<0><<<grid, threads, 0, queue>>>(*args);
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
    cudaError_t error;
    if (width > 1) {
        error = launch_after(is_order ? search_short_partials : sum_short_partials, grid, THREADS,
                             0, queue, *args, (int)length, *from);
    } else if (is_order) {
        error = launch_after(search_partials, grid, THREADS, 0, queue, *args, length, tiles, *from,
                             target);
    } else {
        error = launch_after(sum_partials, grid, THREADS, 0, queue, *args, length, tiles, *from,
                             target);
    }
    return (int)error;
}

extern "C" int tilemm__reduce_partials_block(const tilemm__reduce_args_t *args, int64_t length,
                                             const tilemm__partials_t *from, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const unsigned grid = grid_for(args->count, 1);
    cudaError_t error;
    if (tilemm__op_is_order(args->op)) {
        error = launch_after(search_partials_blocks, grid, BLOCK_WARPS * LANES, 0, queue, *args,
                             (int)length, *from);
    } else {
        error = launch_after(sum_partials_blocks, grid, BLOCK_WARPS * LANES, 0, queue, *args,
                             (int)length, *from);
    }
    return (int)error;
}
