/* reduce_down.cu - reductions of vectors that lie side by side: down the rows of a matrix, one
 * result for each column.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes: vstride is 1; compute capability 7.5 or later; no alignment but that of a float.
 *
 * A block takes a tile of each of 32 columns. A thread has one column, so that each load of a warp
 * is a row of 32 columns side by side, and some of the tile's lanes: all 32 where the block is one
 * warp, or 4, or 1. What its lanes fold to goes through shared memory to the next half. */
#include <cuda_runtime.h>

#include "reduce_warp.cuh"

enum { COLS = TILEMM__DOWN_COLS };

/* Which tile of which columns a block takes; blocks side by side take columns side by side. */
typedef struct {
    int64_t vector; /* of this thread */
    int64_t tile;
    int length; /* of the tile */
    int own;    /* of it, from this warp's first lane on, 0 where there is no such vector */
    const float *x;
} place_t;

static __device__ __forceinline__ place_t place_of(const tilemm__reduce_args_t *args, int64_t block,
                                                   int64_t columns, int warp)
{
    place_t at;
    int64_t start;
    at.tile = block / columns;
    at.vector = (block - at.tile * columns) * COLS + threadIdx.x % COLS;
    start = at.tile * TILE;
    at.length = clip(args->n - start, TILE);
    at.own = at.vector < args->count ? at.length - warp : 0;
    at.x = args->x + at.vector + (start + warp) * args->istride;
    return at;
}

/* ROWS rows of the tile, from row `first` on: lane warp + WARPS * k of row r is
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

template <int WARPS, int RESIDENT>
static __global__ void __launch_bounds__(WARPS *LANES, RESIDENT)
    sum_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, tilemm__partials_t to)
{
    enum { PER_THREAD = LANES / WARPS, ROWS = WARPS == 8 ? 4 : WARPS }; /* 16 or 32 loads */
    __shared__ tilemm__sum_t sums[WARPS * COLS];
    __shared__ int nans[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int mine = tilemm__down_index(warp, col);
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    for (int64_t block = blockIdx.x; block < tiles * columns; block += gridDim.x) {
        const place_t at = place_of(&args, block, columns, warp);
        tilemm__sum_t sum[PER_THREAD];
        int found = 0;
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            sum[k] = no_sum();
        }
#pragma unroll 1
        for (int first = 0; first * LANES < at.length; first += ROWS) {
            float v[ROWS * PER_THREAD];
            load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first, v);
            if (counted) {
#pragma unroll
                for (int i = 0; i < ROWS * PER_THREAD; i++) {
                    found += v[i] != v[i];
                }
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
#pragma unroll
            for (int half = WARPS / 2; half > 0; half /= 2) {
                if (warp < half) {
                    sums[mine] = join(sums[mine], sums[tilemm__down_index(warp + half, col)]);
                    nans[mine] += nans[tilemm__down_index(warp + half, col)];
                }
                __syncthreads();
            }
            sum[0] = sums[mine];
            found = nans[mine];
        }
        if (warp == 0 && at.vector < args.count) {
            put_sum(&args, &to, at.vector * tiles + at.tile, at.vector, sum[0], at.length - found);
        }
    }
}

template <int WARPS, int RESIDENT, int IGNORE>
static __global__ void __launch_bounds__(WARPS *LANES, RESIDENT)
    search_columns(tilemm__reduce_args_t args, int64_t tiles, int64_t columns, int64_t first_index,
                   tilemm__partials_t to)
{
    enum { PER_THREAD = LANES / WARPS, ROWS = WARPS };
    __shared__ int32_t keys[WARPS * COLS];
    __shared__ int places[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int mine = tilemm__down_index(warp, col);
    const tilemm__order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t block = blockIdx.x; block < tiles * columns; block += gridDim.x) {
        const place_t at = place_of(&args, block, columns, warp);
        int32_t best = TILEMM__KEY_NONE;
        int place = 0;
#pragma unroll 1
        for (int first = 0; first * LANES < at.length; first += ROWS) {
            float v[ROWS * PER_THREAD];
            load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first, v);
            /* A row is a number of this loop; what lies past the end must not win. */
            const int rows = (at.own - first * LANES + WARPS - 1) / WARPS;
            int32_t key = TILEMM__KEY_NONE;
            if (rows >= ROWS * PER_THREAD) {
                key = largest_key<IGNORE, ROWS * PER_THREAD>(order, v);
            } else {
#pragma unroll
                for (int i = 0; i < ROWS * PER_THREAD; i++) {
                    key = i < rows ? max(key, tilemm__key_of(order, __float_as_uint(v[i]))) : key;
                }
            }
            if (key > best) {
                best = key;
                place = first * LANES + warp + first_row<ROWS * PER_THREAD>(order, v, key) * WARPS;
            }
        }
        if (WARPS > 1) {
            keys[mine] = best;
            places[mine] = place;
            __syncthreads();
#pragma unroll
            for (int half = WARPS / 2; half > 0; half /= 2) {
                if (warp < half) {
                    const int other = tilemm__down_index(warp + half, col);
                    if (tilemm__key_wins(keys[other], places[other], keys[mine], places[mine])) {
                        keys[mine] = keys[other];
                        places[mine] = places[other];
                    }
                }
                __syncthreads();
            }
            best = keys[mine];
            place = places[mine];
        }
        if (warp == 0 && at.vector < args.count) {
            put_key(&args, &to, at.vector * tiles + at.tile, at.vector, best,
                    first_index + at.tile * TILE + place);
        }
    }
}

extern "C" int tilemm__reduce_down(const tilemm__reduce_args_t *args, int warps,
                                   int64_t first_index, const tilemm__partials_t *to, void *stream)
{
    const cudaStream_t queue = (cudaStream_t)stream;
    const tilemm__partials_t nowhere = {NULL, NULL, NULL, NULL}, target = to ? *to : nowhere;
    const int64_t tiles = tilemm__tile_count(args->n), columns = (args->count - 1) / COLS + 1;
    const unsigned grid = tiles * columns < INT32_MAX ? (unsigned)(tiles * columns) : INT32_MAX;
    const int threads = warps * LANES;
    if (tilemm__op_is_order(args->op)) {
        const auto kernel = args->nan_ignore ? (warps == 1   ? search_columns<1, 16, 1>
                                                : warps == 8 ? search_columns<8, 4, 1>
                                                             : search_columns<32, 1, 1>)
                                             : (warps == 1   ? search_columns<1, 16, 0>
                                                : warps == 8 ? search_columns<8, 4, 0>
                                                             : search_columns<32, 1, 0>);
        kernel<<<grid, threads, 0, queue>>>(*args, tiles, columns, first_index, target);
    } else if (warps == 1) {
        sum_columns<1, 8><<<grid, threads, 0, queue>>>(*args, tiles, columns, target);
    } else if (warps == 8) {
        sum_columns<8, 4><<<grid, threads, 0, queue>>>(*args, tiles, columns, target);
    } else {
        sum_columns<32, 1><<<grid, threads, 0, queue>>>(*args, tiles, columns, target);
    }
    return (int)cudaGetLastError();
}
