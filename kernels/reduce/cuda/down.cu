/* down.cu - reductions of vectors that lie side by side: down the rows of a matrix, one
 * result for each column.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes: vstride is 1; compute capability 7.5 or later; no alignment but that of a float.
 *
 * A block takes a tile of each of 32 columns. A thread has one column, so that each load of a warp
 * is a row of 32 columns side by side, and some of the tile's lanes: all 32 where the block is one
 * warp, or 8, or 1. What its lanes fold to goes through shared memory to the first warp. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "warp.cuh"

enum { COLS = TILEMM__DOWN_COLS };

/* Blocks of a search's four warps that should fit a multiprocessor: a bound on registers. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900))
enum { SEARCH_RESIDENT = 8 };
#else
enum { SEARCH_RESIDENT = 16 };
#endif

/* Which tile of which columns a block takes; blocks side by side take columns side by side. */
typedef struct {
    int64_t vector; /* of this thread */
    int64_t tile;
    int length; /* of the tile */
    int own;    /* of it, from this thread's first lane on, 0 where there is no such vector */
    const float *x;
} place_t;

static __device__ __forceinline__ place_t place_of(const tilemm__reduce_args_t *args, int64_t block,
                                                   int64_t columns, int lane)
{
    place_t at;
    int64_t start;
    at.tile = block / columns;
    at.vector = (block - at.tile * columns) * COLS + threadIdx.x % COLS;
    start = at.tile * TILE;
    at.length = clip(args->n - start, TILE);
    at.own = at.vector < args->count ? at.length - lane : 0;
    at.x = args->x + at.vector + (start + lane) * args->istride;
    return at;
}

/* Where the tile's partial result goes: those of a vector one after the other, or where they lie
 * `beside` those of other vectors, all first ones, then all second ones: a warp then writes whole
 * lines. */
static __device__ __forceinline__ int64_t slot_of(int64_t vector, int64_t tile, int64_t tiles,
                                                  int64_t vectors, int beside)
{
    return beside ? tile * vectors + vector : vector * tiles + tile;
}

/* ROWS rows of the tile: the element of row r that is `from` + APART * k lanes on from the thread's
 * first is v[r * AT_ONCE + k]. Past the end it is 0. */
template <int APART, int AT_ONCE, int ROWS>
static __device__ __forceinline__ void load_columns(const place_t *at, int64_t istride, int from,
                                                    float *v)
{
    const float *p = at->x + from * istride;
    const int left = at->own - from;
    if (left > (ROWS - 1) * LANES + (AT_ONCE - 1) * APART) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                v[r * AT_ONCE + k] = __ldg(p + (r * LANES + k * APART) * istride);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                v[r * AT_ONCE + k] = r * LANES + k * APART < left
                                         ? __ldg(p + (r * LANES + k * APART) * istride)
                                         : 0.0f;
            }
        }
    }
}

/* Fold EACH of a column's sums, `apart` lanes from one to the next, by halves. */
template <int EACH>
static __device__ __forceinline__ tilemm__sum_t fold_column(const tilemm__sum_t *sums, int warp,
                                                            int col, int apart)
{
    tilemm__sum_t v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        v[k] = sums[tilemm__down_index(warp + k * apart, col)];
    }
#pragma unroll
    for (int half = EACH / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; k++) {
            v[k] = join(v[k], v[k + half]);
        }
    }
    return v[0];
}

template <int N>
static __device__ __forceinline__ int nans_of(const float *v)
{
    int found = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        found += v[i] != v[i];
    }
    return found;
}

/* The fold of lanes K, K + APART, K + 2 * APART and so on of LANES_HELD, ROWS rows each: by halves,
 * which joins every second one of them last. v is as load_columns() leaves it. */
template <int LANES_HELD, int ROWS, int SQUARES, int APART = 1, int K = 0>
static __device__ __forceinline__ tilemm__sum_t fold_held(const float *v)
{
    if constexpr (APART < LANES_HELD) {
        const tilemm__sum_t even = fold_held<LANES_HELD, ROWS, SQUARES, 2 * APART, K>(v);
        return join(even, fold_held<LANES_HELD, ROWS, SQUARES, 2 * APART, K + APART>(v));
    } else {
        tilemm__sum_t sum;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const double x = v[r * LANES_HELD + K], term = SQUARES ? x * x : x;
            sum = r == 0 ? tilemm__sum_t{term + 0.0, 0.0} : tilemm__sum_add(sum, term);
        }
        return sum;
    }
}

/* The same where nothing is lost: in any order. */
template <int N>
static __device__ __forceinline__ tilemm__sum_t add_exactly(const float *v)
{
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        sum += v[i];
    }
    return {sum, 0.0};
}

/* The sums of a column's WARPS threads, at tilemm__down_index(warp, col), for warp 0. */
template <int WARPS>
static __device__ __forceinline__ tilemm__sum_t fold_block(tilemm__sum_t *sums, int warp, int col)
{
    __syncthreads();
    if (WARPS == 32) { /* eights first, by four warps */
        if (warp < 4) {
            sums[tilemm__down_index(warp, col)] = fold_column<8>(sums, warp, col, 4);
        }
        __syncthreads();
    }
    return warp == 0 ? fold_column < WARPS == 32 ? 4 : WARPS > (sums, 0, col, 1) : no_sum();
}

/* ROWS rows at a time, in the order of memory. Where the tile is in PARTS a block has every
 * PARTS-th lane, and leaves that part. Assumes that the grid is large enough. */
template <int WARPS, int ROWS, int RESIDENT, int PARTS>
static __global__ void __launch_bounds__(WARPS *LANES, RESIDENT)
    sum_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, int beside,
                tilemm__partials_t to)
{
    enum { APART = WARPS * PARTS, EACH = LANES / APART, HELD = ROWS * EACH };
    enum { SPAN = 53 - 24 - (EACH == 1 ? 5 : 7) }; /* of 2^5 elements for each lane */
    static_assert(EACH == 1 || EACH == 4, "lanes of a thread");
    __shared__ tilemm__sum_t sums[WARPS * COLS];
    __shared__ int nans[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS, part = blockIdx.x % PARTS;
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x / PARTS, columns, warp * PARTS + part);
    reach_t reach = reach_of_none();
    tilemm__sum_t sum[EACH];
    int found = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        sum[k] = no_sum();
    }
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int first = 0; first * LANES < at.length; first += ROWS) {
        float v[HELD];
        load_columns<APART, EACH, ROWS>(&at, args.istride, first * LANES, v);
        if (counted) {
            found += nans_of<HELD>(v);
        }
        ready_floats<HELD>(args.op, args.nan_ignore, v);
        reach_further<HELD>(v, &reach);
        if (!is_squares(args.op) && __all_sync(FULL_WARP, is_within<SPAN>(reach))) {
#pragma unroll
            for (int i = 0; i < HELD; i++) {
                sum[i % EACH].sum += v[i];
            }
        } else {
            forget<HELD>(v);
            add_floats<HELD, 1, EACH, 0>(args.op, args.nan_ignore, v, sum);
        }
    }
#pragma unroll
    for (int half = EACH / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; k++) {
            sum[k] = join(sum[k], sum[k + half]);
        }
    }
    sums[tilemm__down_index(warp, col)] = sum[0];
    nans[tilemm__down_index(warp, col)] = found;
    sum[0] = fold_block<WARPS>(sums, warp, col);
    if (warp == 0 && at.vector < args.count) {
        for (int w = 1; w < WARPS && counted; w++) {
            found += nans[tilemm__down_index(w, col)];
        }
        /* There was no register to keep this in. */
        const int tile = blockIdx.x / PARTS / (unsigned)columns;
        /* Of the tile's elements this part has every PARTS-th. */
        put_sum(&args, &to,
                PARTS == 1 ? slot_of(at.vector, tile, tiles, args.count, beside)
                           : (at.vector * PARTS + part) * tiles + tile,
                at.vector, sum[0], (at.length - part + PARTS - 1) / PARTS - found);
    }
}

/* Columns of one tile, ROWS rows: a thread loads HELD elements at once, all of as many lanes as
 * that makes. So it waits seldom, holds few sums, and hardly ever waits for other warps. Assumes
 * that the grid is large enough. */
template <int WARPS, int ROWS, int RESIDENT>
static __global__ void __launch_bounds__(WARPS *LANES, RESIDENT)
    sum_low_columns(tilemm__reduce_args_t args, int64_t columns)
{
    enum { HELD = 32, AT_ONCE = HELD / ROWS };
    enum { TURNS = LANES / WARPS / AT_ONCE, STEPS = TURNS == 8 ? 3 : TURNS / 2 };
    enum { SPAN = 53 - 24 - 5 }; /* of 2^5 elements */
    static_assert(TURNS * AT_ONCE * WARPS == LANES && TURNS <= 8 && HELD == 1 << 5, "lanes");
    __shared__ tilemm__sum_t sums[WARPS * COLS];
    __shared__ tilemm__sum_t waiting[STEPS > 0 ? STEPS : 1][WARPS * COLS]; /* each thread its own */
    __shared__ int nans[WARPS * COLS];
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int mine = tilemm__down_index(warp, col);
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x, columns, warp);
    tilemm__sum_t sum = no_sum();
    int found = 0;
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        /* And those TURNS * WARPS further on. In bit-reversed order turns that are joined follow
         * each other soon. */
        const int lane = (int)(__brev(turn) >> 1 >> (31 - STEPS)) * WARPS;
        float v[HELD];
        reach_t reach = reach_of_none();
        int step = 0;
        load_columns<TURNS * WARPS, AT_ONCE, ROWS>(&at, args.istride, lane, v);
        if (counted) {
            found += nans_of<HELD>(v);
        }
        ready_floats<HELD>(args.op, args.nan_ignore, v);
        reach_further<HELD>(v, &reach);
        if (!is_squares(args.op) && __all_sync(FULL_WARP, is_within<SPAN>(reach))) {
            sum = add_exactly<HELD>(v);
        } else {
            forget<HELD>(v);
            sum = is_squares(args.op) ? fold_held<AT_ONCE, ROWS, 1>(v)
                                      : fold_held<AT_ONCE, ROWS, 0>(v);
        }
#pragma unroll 1
        for (; turn >> step & 1; step++) {
            sum = join(waiting[step][mine], sum);
        }
        if (turn + 1 < TURNS) {
            waiting[step][mine] = sum;
        }
    }
    if (WARPS > 1) {
        sums[mine] = sum;
        nans[mine] = found;
        sum = fold_block<WARPS>(sums, warp, col);
    }
    if (warp == 0 && at.vector < args.count) {
        for (int w = 1; w < WARPS && counted; w++) {
            found += nans[tilemm__down_index(w, col)];
        }
        put_sum(&args, &none, 0, at.vector, sum, at.length - found);
    }
}

template <int WARPS, int ROWS, int IGNORE>
static __global__ void __launch_bounds__(WARPS *LANES, WARPS == 4 ? SEARCH_RESIDENT : 1)
    search_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, int beside,
                   int64_t first_index, tilemm__partials_t to)
{
    enum { PER_THREAD = LANES / WARPS, NUMBER = ROWS * PER_THREAD };
    __shared__ int32_t keys[WARPS * COLS];
    __shared__ int places[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x, columns, warp);
    int32_t best = TILEMM__KEY_NONE;
    int place = 0;
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int first = 0; first * LANES < at.own; first += ROWS) {
        /* A row is a number of this loop; what lies past the end must not win. */
        const int rows = (at.own - first * LANES + WARPS - 1) / WARPS;
        float v[NUMBER];
        load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first * LANES, v);
        if (rows < NUMBER) {
#pragma unroll
            for (int i = 1; i < NUMBER; i++) {
                v[i] = i < rows ? v[i] : v[0];
            }
        }
        turn<NUMBER>(order, v);
        const float most = largest<IGNORE, NUMBER>(v);
        const int32_t key = key_of_turned(order, most);
        if (key > best) {
            best = key;
            place = first * LANES + warp + first_of<NUMBER>(v, most) * WARPS;
        }
    }
    if (WARPS > 1) {
        keys[tilemm__down_index(warp, col)] = best;
        places[tilemm__down_index(warp, col)] = place;
        __syncthreads();
        if (warp != 0) {
            return;
        }
#pragma unroll
        for (int w = 1; w < WARPS; w++) {
            const int other = tilemm__down_index(w, col);
            if (tilemm__key_wins(keys[other], places[other], best, place)) {
                best = keys[other];
                place = places[other];
            }
        }
    }
    if (at.vector < args.count) {
        put_key(&args, &to, slot_of(at.vector, at.tile, tiles, args.count, beside), at.vector, best,
                first_index + at.tile * TILE + place);
    }
}

/* Up to 32 partial results of each vector, which lie beside those of others: a thread for each. */
enum { THREADS = 64 };

static __global__ void __launch_bounds__(THREADS)
    sum_beside(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    const int64_t vector = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    tilemm__sum_t sum[LANES];
    int64_t count = 0;
    wait_for_previous();
    let_next_start();
    if (vector >= args.count) {
        return;
    }
#pragma unroll
    for (int i = 0; i < LANES; i++) {
        sum[i] = i < length ? load(from.sums + i * args.count + vector) : no_sum();
    }
    for (int i = 0; from.counts && i < length; i++) {
        count += from.counts[i * args.count + vector];
    }
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2) {
        if (half < length) {
#pragma unroll
            for (int i = 0; i < LANES / 2; i++) {
                if (i < half) {
                    sum[i] = join(sum[i], sum[i + half]);
                }
            }
        }
    }
    put_sum(&args, &none, 0, vector, sum[0], count);
}

static __global__ void __launch_bounds__(THREADS)
    search_beside(tilemm__reduce_args_t args, int length, tilemm__partials_t from)
{
    const int64_t vector = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    int32_t key[LANES], best;
    int at = 0;
    wait_for_previous();
    let_next_start();
    if (vector >= args.count) {
        return;
    }
#pragma unroll
    for (int i = 0; i < LANES; i++) {
        key[i] = i < length ? __ldg(from.keys + i * args.count + vector) : TILEMM__KEY_NONE;
    }
    best = key[0];
#pragma unroll
    for (int i = 1; i < LANES; i++) {
        if (key[i] > best) { /* the first among equals stays */
            best = key[i];
            at = i;
        }
    }
    const int64_t index = args.index_out ? __ldg(from.indices + at * args.count + vector) : 0;
    put_key(&args, &none, 0, vector, best, index);
}

extern "C" int tilemm__reduce_beside(const tilemm__reduce_args_t *args, int64_t length,
                                     const tilemm__partials_t *from, void *stream)
{
    const auto kernel = tilemm__op_is_order(args->op) ? search_beside : sum_beside;
    return (int)launch_after(kernel, (unsigned)((args->count - 1) / THREADS + 1), THREADS, 0,
                             (cudaStream_t)stream, *args, (int)length, *from);
}

extern "C" int tilemm__reduce_down(const tilemm__reduce_args_t *args, int warps, int parts,
                                   int beside, int64_t first_index, const tilemm__partials_t *to,
                                   void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const tilemm__partials_t nowhere = {NULL, NULL, NULL, NULL}, target = to ? *to : nowhere;
    const int64_t tiles = tilemm__tile_count(args->n), columns = (args->count - 1) / COLS + 1;
    const unsigned grid = (unsigned)(tiles * columns);
    const int threads = warps * LANES;
    if (tiles * columns * parts > INT32_MAX) {
        return (int)cudaErrorInvalidConfiguration; /* more than any memory holds */
    }
    if (tilemm__op_is_order(args->op)) {
        const auto kernel =
            args->nan_ignore ? (warps == 4 ? search_columns<4, 1, 1> : search_columns<32, 32, 1>)
                             : (warps == 4 ? search_columns<4, 1, 0> : search_columns<32, 32, 0>);
        return (int)launch_after(kernel, grid, threads, 0, queue, *args, tiles, columns, beside,
                                 first_index, target);
    }
    if (warps < 8) {
        const auto kernel = args->n > 256   ? sum_low_columns<4, 16, 7>
                            : args->n > 128 ? sum_low_columns<4, 8, 6>
                            : warps == 4    ? sum_low_columns<4, 4, 5>
                            : args->n > 32  ? sum_low_columns<2, 4, 10>
                                            : sum_low_columns<1, 1, 16>;
        return (int)launch_after(kernel, grid, threads, 0, queue, *args, columns);
    }
    const auto kernel = parts > 1    ? sum_columns<8, 16, 4, TILEMM__MOST_PARTS>
                        : warps == 8 ? sum_columns<8, 4, 4, 1>
                                     : sum_columns<32, 16, 1, 1>;
    return (int)launch_after(kernel, grid * parts, threads, 0, queue, *args, tiles, columns, beside,
                             target);
}
