/* across.cu - reductions of vectors whose elements are read by a warp row by row, side by
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

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "warp.cuh"

/* Launch bounds say how many blocks should fit a multiprocessor: a bound on registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { WARPS = 8, THREADS = WARPS * LANES, SEARCH_RESIDENT = 2 };
#else
enum { WARPS = 8, THREADS = WARPS * LANES, SEARCH_RESIDENT = 4 };
#endif

enum { CLUSTER = 8 }; /* blocks: as many as every device can have together */

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
static __device__ __forceinline__ int64_t vector_of(const tilemm__reduce_args_t *args, int64_t item,
                                                    int64_t tiles)
{
    if (tiles == 1) {
        return item;
    }
    if (args->count == 1 && item < tiles) { /* a division would hold the loads up */
        return 0;
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
template <int DOT, int UNIT, int ROWS, int RESIDENT>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    sum_tiles(tilemm__reduce_args_t args, int tiles, int share, int64_t items,
              tilemm__partials_t to)
{
    __shared__ tilemm__sum_t sums[WARPS][LANES];
    __shared__ int nans[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, part = warp % share;
    const int64_t item = (int64_t)blockIdx.x * (blockDim.x / LANES / share) + warp / share;
    const int64_t vector = vector_of(&args, item, items);
    const int64_t start = (item - vector * items) * tiles * TILE;
    const int length = vector < args.count ? clip(args.n - start, tiles * TILE) : 0;
    const int64_t stride = UNIT ? 1 : args.istride, y_stride = UNIT ? 1 : args.y_istride;
    const float *x = args.x + vector * args.vstride + (start + part * TILE) * stride;
    const float *y = DOT ? args.y + (start + part * TILE) * y_stride : NULL;
    int found = 0;
    tilemm__sum_t sum = no_sum();
    let_next_start();
    wait_for_previous();
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

/* Of every 32 tiles a block of WIDE warps has one of PARTS parts: number part + PARTS * warp for
 * each warp, all of it under way at once. So shorter vectors keep more of the device busy, and
 * leave little to fold. Assumes that the grid is large enough, and no larger. */
template <int UNIT, int PARTS>
static __global__ void __launch_bounds__(LANES / PARTS * LANES, UNIT ? PARTS : PARTS / 2)
    sum_parts(tilemm__reduce_args_t args, int64_t items, tilemm__partials_t to)
{
    enum { WIDE = LANES / PARTS };
    __shared__ tilemm__sum_t sums[WIDE];
    __shared__ int counts[WIDE];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, part = blockIdx.x % PARTS;
    const int64_t item = blockIdx.x / PARTS, vector = vector_of(&args, item, items);
    const int64_t number = item - vector * items, first = number * LANES + part;
    const int64_t start = (first + warp * PARTS) * TILE;
    const int64_t stride = UNIT ? 1 : args.istride;
    const int length = start < args.n ? clip(args.n - start, TILE) : 0;
    int found = 0;
    tilemm__sum_t sum;
    let_next_start();
    wait_for_previous();
    sum = sum_tile<0, TILEMM__TILE_ROWS>(args.op, args.nan_ignore,
                                         args.x + vector * args.vstride + start * stride, stride,
                                         NULL, 0, length, lane, &found);
    if (lane == 0) {
        sums[warp] = sum;
        counts[warp] = length - found;
    }
    __syncthreads();
    if (warp == 0) {
        int64_t count = 0;
        sum = sums[lane % WIDE];
#pragma unroll
        for (int half = WIDE / 2; half > 0; half /= 2) {
            sum = join(sum, from_lane(sum, half));
        }
        for (int w = 0; to.counts && w < WIDE; w++) {
            count += counts[w];
        }
        if (lane == 0) {
            put_sum(&args, &to, (vector * PARTS + part) * items + number, vector, sum, count);
        }
    }
}

/* A vector of up to 64 tiles for the blocks of a cluster, a warp for each tile. What they have they
 * push to the first block, whose first warp alone waits for it. Blocks have no more warps than the
 * tiles take: on more multiprocessors they wait less for each other's additions. */
template <int DOT>
static __global__ void __launch_bounds__(THREADS) sum_cluster(tilemm__reduce_args_t args)
{
    enum { MOST = CLUSTER * WARPS, ROWS = DOT ? 8 : TILEMM__TILE_ROWS };
    static_assert(MOST == 2 * LANES, "two rows");
    __shared__ __align__(16) tilemm__sum_t sums[MOST];
    __shared__ int64_t counts[MOST];
    __shared__ uint64_t mail;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, rank = blockIdx.x % CLUSTER;
    const int64_t vector = blockIdx.x / CLUSTER;
    const int tiles = (int)tilemm__tile_count(args.n), tile = warp * CLUSTER + rank;
    const int start = tile * TILE, length = tile < tiles ? clip(args.n - start, TILE) : 0;
    int found = 0;
    if (rank == 0 && threadIdx.x == 0) {
        mail_expect(&mail, tiles * (int)(sizeof *sums + sizeof *counts));
    }
    cluster_arrive();
    let_next_start();
    wait_for_previous();
    tilemm__sum_t sum =
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
        if (tiles > LANES) {
            sum = join(sum, fold_sum(more ? sums[LANES + lane] : no_sum(), lane));
        }
        if (tilemm__sum_is_counted(args.op, args.nan_ignore)) {
            count = fold_sums<1>(&count, lane);
        }
        if (lane == 0) {
            put_sum(&args, &none, 0, vector, sum, count);
        }
    }
}

/* `items * share` warps take a vector's tiles in turns: a search may have them in any order. Each
 * lane keeps its own best and the place where that was. The next tile's rows are on their way while
 * this tile's are looked through, eight at a time. `share` warps of a block have one result.
 * Assumes that the grid is large enough. */
template <int IGNORE>
static __global__ void __launch_bounds__(THREADS, SEARCH_RESIDENT)
    search_tiles(tilemm__reduce_args_t args, int share, int64_t items, int64_t first_index,
                 tilemm__partials_t to)
{
    enum { HELD = 16, STEP = 8 };
    __shared__ int32_t keys[WARPS];
    __shared__ int64_t places[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, part = warp % share;
    const int64_t item = (int64_t)blockIdx.x * (WARPS / share) + warp / share;
    const int64_t vector = vector_of(&args, item, items), row = LANES * args.istride;
    const int64_t whole = vector < args.count ? args.n / TILE : 0, hop = items * share;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    int64_t tile = (item - vector * items) * share + part, place = 0;
    const float *x =
        args.x + vector * args.vstride + tile * TILE * args.istride + lane * args.istride;
    int32_t best = TILEMM__KEY_NONE;
    float v[HELD];
    let_next_start();
    wait_for_previous();
    if (tile < whole) {
#pragma unroll
        for (int r = 0; r < HELD; r++) {
            v[r] = __ldg(x + r * row);
        }
    }
#pragma unroll 1
    for (; tile < whole; tile += hop) {
#pragma unroll
        for (int r = 0; r < TILEMM__TILE_ROWS; r += STEP) {
            float *mine = v + r % HELD;
            turn<STEP>(order, mine);
            const float most = largest<IGNORE, STEP>(mine);
            const int32_t key = key_of_turned(order, most);
            if (key > best) {
                best = key;
                if (args.index_out) {
                    place = tile * TILE + (r + first_of<STEP>(mine, most)) * LANES + lane;
                }
            }
            if (r + HELD == TILEMM__TILE_ROWS) {
                x += hop * TILE * args.istride;
            }
            if (r + HELD < TILEMM__TILE_ROWS || tile + hop < whole) {
                const int ahead = (r + HELD) % TILEMM__TILE_ROWS;
#pragma unroll
                for (int k = 0; k < STEP; k++) {
                    mine[k] = __ldg(x + (ahead + k) * row);
                }
            }
        }
    }
    if (vector < args.count && tile == whole) { /* what no whole tile has */
        for (int64_t i = whole * TILE + lane; i < args.n; i += LANES, x += row) {
            const int32_t key = tilemm__key_of(order, __float_as_uint(__ldg(x)));
            if (key > best) {
                best = key;
                place = i;
            }
        }
    }
    fold_best(&best, &place);
    if (share > 1) {
        if (lane == 0) {
            keys[warp] = best;
            places[warp] = place;
        }
        __syncthreads();
        if (part != 0) {
            return;
        }
        best = lane < share ? keys[warp + lane] : TILEMM__KEY_NONE;
        place = lane < share ? places[warp + lane] : 0;
        fold_best(&best, &place);
    }
    if (lane == 0 && vector < args.count) {
        put_key(&args, &to, item, vector, best, first_index + place);
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
        load_rows<V, ROWS, true>(args.x + first * args.vstride, args.istride, args.vstride,
                                 (int)args.n, clip(args.count - first, V), 0.0f, lane, v);
        if (tilemm__sum_is_counted(args.op, args.nan_ignore)) {
            nans = count_nans<V, ROWS>(v, lane);
        }
        if (V == LANES) {
            sum[0] = sum_rows(args.op, args.nan_ignore, v, lane);
        } else {
            ready_floats<V * ROWS>(args.op, args.nan_ignore, v);
            if (is_squares(args.op) || !sum_exactly<V, ROWS>(v, lane, sum)) {
                add_floats<V * ROWS, ROWS, V, 1>(args.op, args.nan_ignore, v, sum);
                sum[0] = fold_sums<V>(sum, lane);
            }
        }
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_sum(&args, &to, vector, vector, sum[0], args.n - nans);
        }
    }
}

/* A key and the place in its tile as one number: of the larger key, then of the lower place, the
 * larger. */
static __device__ __forceinline__ int64_t rank_of(int32_t key, int place)
{
    return (int64_t)key * ((int64_t)1 << 32) + (TILE - place);
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
        float v[V * ROWS];
        int64_t rank[V];
        load_rows<V, ROWS, false>(args.x + first * args.vstride, args.istride, args.vstride, length,
                                  vectors, 0.0f, lane, v);
        turn<V * ROWS>(order, v);
#pragma unroll
        for (int j = 0; j < V; j++) {
            float *mine = v + j * ROWS;
#pragma unroll
            for (int r = 1; r < ROWS; r++) { /* what lies past the end must not win */
                mine[r] = r * LANES + lane < length ? mine[r] : mine[0];
            }
            const float most = args.nan_ignore ? largest<1, ROWS>(mine) : largest<0, ROWS>(mine);
            const int32_t key = lane < length ? key_of_turned(order, most) : TILEMM__KEY_NONE;
            rank[j] = rank_of(key, first_of<ROWS>(mine, most) * LANES + lane);
        }
        rank[0] = fold_largest<V>(rank, lane);
        if (lane % (LANES / V) == 0 && vector < args.count) {
            put_key(&args, &to, vector, vector, (int32_t)(rank[0] >> 32),
                    first_index + TILE - (int32_t)rank[0]);
        }
    }
}

/* Vectors of one element: a copy, with what the operation does to it. EACH loads of a thread are
 * under way at once. */
static __global__ void __launch_bounds__(THREADS) reduce_each(tilemm__reduce_args_t args)
{
    enum { EACH = 4 };
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    const int64_t first = (int64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    float v[EACH];
    let_next_start();
    wait_for_previous();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int64_t i = first + k * THREADS;
        v[k] = i < args.count ? __ldg(args.x + i * args.vstride) : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int64_t i = first + k * THREADS;
        if (i < args.count && tilemm__op_is_order(args.op)) {
            put_key(&args, &none, 0, i, tilemm__key_of(order, __float_as_uint(v[k])), 0);
        } else if (i < args.count) {
            const double term = tilemm__sum_term(args.op, args.nan_ignore, v[k], 0.0f);
            put_sum(&args, &none, 0, i, tilemm__sum_add(no_sum(), term), v[k] == v[k]);
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
                const tilemm__sum_t all = {__shfl_sync(FULL_WARP, sum.sum, 0),
                                           __shfl_sync(FULL_WARP, sum.lost, 0)};
                levels_add(&levels[lane], 0, span, all, lane);
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
    let_next_start();
    wait_for_previous();
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(&args, item, tiles),
                      start = (item - vector * tiles) * TILE;
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
    let_next_start();
    wait_for_previous();
    for (int64_t item = warp_number(); item < args.count * tiles; item += warp_total()) {
        const int64_t vector = vector_of(&args, item, tiles),
                      start = (item - vector * tiles) * TILE;
        const int64_t at = vector * length + start;
        int64_t index = 0;
        const int32_t key = search_keys<TILEMM__TILE_ROWS>(
            from.keys + at, args.index_out ? from.indices + at : NULL, clip(length - start, TILE),
            lane, &index);
        if (lane == 0) {
            put_key(&args, &to, item, vector, key, index);
        }
    }
}

/* Vectors of up to `group` partial results, a power of two to 32: as many as fill a warp. Assumes
 * that the grid is large enough. */
static __global__ void __launch_bounds__(THREADS)
    sum_short_partials(tilemm__reduce_args_t args, int length, int group, tilemm__partials_t from,
                       tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES, place = lane % group;
    const int64_t vector = warp_number() * (LANES / group) + lane / group;
    const int64_t at = vector * length + place;
    const bool there = vector < args.count && place < length;
    let_next_start();
    wait_for_previous();
    tilemm__sum_t sum = there ? load(from.sums + at) : no_sum();
    int64_t count = there && from.counts ? from.counts[at] : 0;
    for (int half = group / 2; half > 0; half /= 2) {
        sum = join(sum, from_lane(sum, half));
        count = join(count, from_lane(count, half));
    }
    if (place == 0 && vector < args.count) {
        put_sum(&args, &to, vector, vector, sum, count);
    }
}

static __global__ void __launch_bounds__(THREADS)
    search_short_partials(tilemm__reduce_args_t args, int length, int group,
                          tilemm__partials_t from, tilemm__partials_t to)
{
    const int lane = threadIdx.x % LANES, place = lane % group;
    const int64_t vector = warp_number() * (LANES / group) + lane / group;
    const int64_t at = vector * length + place;
    const bool there = vector < args.count && place < length;
    let_next_start();
    wait_for_previous();
    int32_t key = there ? from.keys[at] : TILEMM__KEY_NONE;
    int64_t index = there && args.index_out ? from.indices[at] : INT64_MAX;
    fold_best(&key, &index, group);
    if (place == 0 && vector < args.count) {
        put_key(&args, &to, vector, vector, key, index);
    }
}

/* A block takes a vector of up to ROWS * 1024 items, all of them under way at once: a warp ROWS
 * rows of 32. Little shared memory: with much a multiprocessor would first have to become empty. */
template <int PARTS, int ROWS>
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    sum_last(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { EACH = LANES / ROWS };
    __shared__ tilemm__sum_t sums[ROWS * BLOCK_WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int rows = (length - 1) / LANES + 1;
    const int64_t vector = blockIdx.x, at = vector * length * PARTS;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    tilemm__sum_t v[ROWS];
    wait_for_previous();
    let_next_start();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int i = (warp * ROWS + r) * LANES + lane;
        v[r] = i < length ? load_parts<PARTS>(from.sums + at + i, length) : no_sum();
    }
    tilemm__sum_t sum = fold_sums<ROWS>(v, lane); /* of row lane / EACH */
    if (rows > 1) {
        if (lane % EACH == 0) {
            sums[warp * ROWS + lane / EACH] = sum;
        }
        __syncthreads();
        if (warp != 0) {
            return;
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            v[r] = r * LANES + lane < rows ? sums[r * LANES + lane] : no_sum();
        }
        sum = fold_sums<ROWS>(v, lane);
#pragma unroll
        for (int half = LANES / 2; half >= EACH; half /= 2) {
            sum = join(sum, from_lane(sum, half));
        }
    }
    const int64_t count = from.counts ? sum_counts(from.counts + at, length * PARTS, lane) : 0;
    if (lane == 0) {
        put_sum(&args, &none, 0, vector, sum, count);
    }
}

/* A block takes a vector of up to 2^15 partial results: rows of 32 are folded, ROWS of them at once
 * by a warp, and leave no more than a thousand. */
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    sum_partials_blocks(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { ROWS = 8, EACH = LANES / ROWS };
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int rows = (length - 1) / LANES + 1, step = (int)blockDim.x / LANES * ROWS;
    const int64_t vector = blockIdx.x, at = vector * length;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    int64_t count = 0;
    wait_for_previous();
    let_next_start();
#pragma unroll 1
    for (int row = warp * ROWS; row < rows; row += step) {
        const int start = row * LANES, here = length - start;
        tilemm__sum_t v[ROWS];
        load_rows<1, ROWS, true>(from.sums + at + start, 1, 0, here, 1, no_sum(), lane, v);
        v[0] = fold_sums<ROWS>(v, lane); /* of row lane / EACH */
        if (lane % EACH == 0 && row + lane / EACH < rows) {
            room.sums[row + lane / EACH] = v[0];
        }
        if (from.counts) {
            count += sum_counts(from.counts + at + start, clip(here, ROWS * LANES), lane);
        }
    }
    const tilemm__sum_t sum = block_fold_sum(&room, rows, from.counts != NULL, &count, lane, warp);
    if (threadIdx.x == 0) {
        put_sum(&args, &none, 0, vector, sum, count);
    }
}

static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    search_partials_blocks(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    enum { ROWS = 8 };
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    wait_for_previous();
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int32_t best = TILEMM__KEY_NONE;
        int64_t place = 0;
#pragma unroll 1
        for (int start = warp * ROWS * LANES; start < length; start += (int)blockDim.x * ROWS) {
            const int64_t at = vector * length + start;
            int64_t index = 0;
            const int32_t key =
                search_keys<ROWS>(from.keys + at, args.index_out ? from.indices + at : NULL,
                                  length - start, lane, &index);
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
                                     int share, int parts, int64_t items, int64_t first_index,
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
            return (int)launch_after(kernel, grid_for(args->count * items, WARPS / share), THREADS,
                                     0, queue, *args, share, items, first_index, target);
        }
    } else if (width > 1) {
        const auto kernel = BY_WIDTH(sum_short, width);
        kernel<<<grid, THREADS, 0, queue>>>(*args, target);
    } else if (parts > 1) {
        const int unit = args->istride == 1;
        const auto kernel = parts == 2 ? (unit ? sum_parts<1, 2> : sum_parts<0, 2>)
                                       : (unit ? sum_parts<1, 4> : sum_parts<0, 4>);
        return (int)launch_after(kernel, (unsigned)(args->count * items * parts),
                                 LANES / parts * LANES, 0, queue, *args, items, target);
    } else {
        const int unit = args->istride == 1 && (args->op != TILEMM__DOT || args->y_istride == 1);
        const auto kernel = args->op == TILEMM__DOT
                                ? (unit ? sum_tiles<1, 1, 8, 4> : sum_tiles<1, 0, 8, 2>)
                                : (unit ? sum_tiles<0, 1, 32, 4> : sum_tiles<0, 0, 32, 2>);
        const int warps = args->count * items == 1 ? share : WARPS;
        return (int)launch_after(kernel, grid_for(args->count * items, warps / share),
                                 warps * LANES, 0, queue, *args, tiles, share, items, target);
    }
    return (int)cudaGetLastError();
}

extern "C" int tilemm__reduce_each(const tilemm__reduce_args_t *args, void *stream)
{
    return (int)launch_after(reduce_each, grid_for(args->count, 4 * THREADS), THREADS, 0,
                             (cudaStream_t)stream, *args);
}

extern "C" int tilemm__reduce_across_cluster(const tilemm__reduce_args_t *args, void *stream)
{
    const int warps = (int)(tilemm__tile_count(args->n) - 1) / CLUSTER + 1;
    return (int)launch_cluster_after(args->op == TILEMM__DOT ? sum_cluster<1> : sum_cluster<0>,
                                     CLUSTER, grid_for(args->count * CLUSTER, 1), warps * LANES, 0,
                                     (cudaStream_t)stream, *args);
}

/* Threads of a block whose warps take `each` numbers at once, up to 32 warps. */
static int block_threads(int64_t length, int each)
{
    const int64_t warps = (length - 1) / each + 1;
    return (warps < BLOCK_WARPS ? (int)warps : BLOCK_WARPS) * LANES;
}

extern "C" int tilemm__reduce_across_block(const tilemm__reduce_args_t *args, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const unsigned grid = grid_for(args->count, 1);
    const int threads = block_threads(args->n, TILE);
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
                                       const tilemm__partials_t *from, const tilemm__partials_t *to,
                                       void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const int64_t tiles = tilemm__tile_count(length);
    const tilemm__partials_t target = to ? *to : nowhere;
    const int is_order = tilemm__op_is_order(args->op);
    if (length <= LANES) {
        int group = 1;
        while (group < length) {
            group *= 2;
        }
        return (int)launch_after(is_order ? search_short_partials : sum_short_partials,
                                 grid_for(args->count, LANES / group * WARPS), THREADS, 0, queue,
                                 *args, (int)length, group, *from, target);
    }
    return (int)launch_after(is_order ? search_partials : sum_partials,
                             grid_for(args->count * tiles, WARPS), THREADS, 0, queue, *args, length,
                             tiles, *from, target);
}

extern "C" int tilemm__reduce_partials_block(const tilemm__reduce_args_t *args, int64_t length,
                                             int parts, const tilemm__partials_t *from,
                                             void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    /* Of many vectors blocks of few warps, which find room beside the kernel before. */
    const int each = parts > 1                              ? 1
                     : args->count > 1 || length > 2 * TILE ? 8
                     : length > TILE                        ? 2
                                                            : 1;
    const auto sums = parts == 8           ? sum_last<8, 1>
                      : parts == 4         ? sum_last<4, 1>
                      : parts == 2         ? sum_last<2, 1>
                      : each == 1          ? sum_last<1, 1>
                      : each == 2          ? sum_last<1, 2>
                      : length <= 8 * TILE ? sum_last<1, 8>
                                           : sum_partials_blocks;
    const int is_order = tilemm__op_is_order(args->op);
    return (int)launch_after(is_order ? search_partials_blocks : sums, grid_for(args->count, 1),
                             block_threads(length, (is_order ? 8 : each) * LANES), 0, queue, *args,
                             (int)length, *from);
}
