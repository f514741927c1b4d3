/* reduce_down.cu - reductions of vectors that lie side by side: down the rows of a matrix, one
 * result for each column.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes: vstride is 1; compute capability 7.5 or later; no alignment but that of a float.
 *
 * A block takes a tile of each of 32 columns. A thread has one column, so that each load of a warp
 * is a row of 32 columns side by side, and some of the tile's lanes: all 32 where the block is one
 * warp, or 8, 4, 1. What its lanes fold to goes through shared memory to the first warp. */
#include <cuda_runtime.h>

#include "launch.cuh"
#include "reduce_warp.cuh"

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

/* ROWS rows of the tile, from row `first` on: the thread's first lane + WARPS * k of row r is
 * v[r * PER_THREAD + k]. Past the end it is 0. */
template <int WARPS, int PER_THREAD, int ROWS>
static __device__ __forceinline__ void load_columns(const place_t *at, int64_t istride, int first,
                                                    float *v)
{
    const float *p = at->x + first * LANES * istride;
    const int left = at->own - first * LANES;
    if (left > (ROWS - 1) * LANES + (PER_THREAD - 1) * WARPS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < PER_THREAD; k++) {
                v[r * PER_THREAD + k] = __ldg(p + (r * LANES + k * WARPS) * istride);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < PER_THREAD; k++) {
                v[r * PER_THREAD + k] = r * LANES + k * WARPS < left
                                            ? __ldg(p + (r * LANES + k * WARPS) * istride)
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

/* ROWS rows at a time; one warp has one row, of no more than 32 elements. Where the tile is in
 * PARTS a block has every PARTS-th lane, and leaves that part. Assumes that the grid is large
 * enough. */
template <int WARPS, int ROWS, int RESIDENT, int PARTS>
static __global__ void __launch_bounds__(WARPS *LANES, RESIDENT)
    sum_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, tilemm__partials_t to)
{
    enum { PER_THREAD = LANES / WARPS / PARTS };
    __shared__ tilemm__sum_t sums[WARPS * COLS];
    __shared__ int nans[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int mine = tilemm__down_index(warp, col), part = blockIdx.x % PARTS;
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x / PARTS, columns, warp * PARTS + part);
    tilemm__sum_t sum[PER_THREAD];
    float v[ROWS * PER_THREAD];
    int found = 0;
    let_next_start();
    load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, 0, v);
    if (counted) {
        found = nans_of<ROWS * PER_THREAD>(v);
    }
    add_floats<ROWS * PER_THREAD, 1, PER_THREAD, 1>(args.op, args.nan_ignore, v, sum);
#pragma unroll 1
    for (int first = ROWS; WARPS > 1 && first * LANES < at.length; first += ROWS) {
        load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first, v);
        if (counted) {
            found += nans_of<ROWS * PER_THREAD>(v);
        }
        add_floats<ROWS * PER_THREAD, 1, PER_THREAD, 0>(args.op, args.nan_ignore, v, sum);
    }
#pragma unroll
    for (int half = PER_THREAD / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < PER_THREAD / 2; k++) {
            if (k < half) {
                sum[k] = join(sum[k], sum[k + half]);
            }
        }
    }
    if (WARPS > 1) {
        sums[mine] = sum[0];
        nans[mine] = found;
        __syncthreads();
        if (WARPS == 32) { /* eights first, by four warps */
            if (warp < 4) {
                sums[mine] = fold_column<8>(sums, warp, col, 4);
            }
            __syncthreads();
        }
        if (warp != 0) {
            return;
        }
        sum[0] = fold_column < WARPS == 32 ? 4 : WARPS > (sums, 0, col, 1);
        for (int w = 1; w < WARPS && counted; w++) {
            found += nans[tilemm__down_index(w, col)];
        }
    }
    if (at.vector < args.count) {
        /* Of the tile's elements this part has every PARTS-th. */
        put_sum(&args, &to, (at.vector * tiles + at.tile) * PARTS + part, at.vector, sum[0],
                (at.length - part + PARTS - 1) / PARTS - found);
    }
}

template <int WARPS, int ROWS, int IGNORE>
static __global__ void __launch_bounds__(WARPS *LANES, WARPS == 4 ? SEARCH_RESIDENT : 1)
    search_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, int64_t first_index,
                   tilemm__partials_t to)
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
#pragma unroll 1
    for (int first = 0; first * LANES < at.own; first += ROWS) {
        /* A row is a number of this loop; what lies past the end must not win. */
        const int rows = (at.own - first * LANES + WARPS - 1) / WARPS;
        float v[NUMBER];
        load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first, v);
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
        put_key(&args, &to, at.vector * tiles + at.tile, at.vector, best,
                first_index + at.tile * TILE + place);
    }
}

extern "C" int tilemm__reduce_down(const tilemm__reduce_args_t *args, int warps, int parts,
                                   int64_t first_index, const tilemm__partials_t *to, void *stream)
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
        kernel<<<grid, threads, 0, queue>>>(*args, tiles, columns, first_index, target);
    } else {
        const auto kernel = parts > 1    ? sum_columns<8, 32, 4, TILEMM__QUARTERS>
                            : warps == 1 ? sum_columns<1, 1, 16, 1>
                            : warps == 4 ? sum_columns<4, 2, 6, 1>
                            : warps == 8 ? sum_columns<8, 4, 4, 1>
                                         : sum_columns<32, 16, 1, 1>;
        kernel<<<grid * parts, threads, 0, queue>>>(*args, tiles, columns, target);
    }
    return (int)cudaGetLastError();
}
