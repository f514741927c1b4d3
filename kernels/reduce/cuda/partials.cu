/* partials.cu - results of vectors from the partial results that other kernels have left.
 *
 * Assumes: compute capability 7.5 or later; partial results as reduce.h lays them out, those of
 * sums aligned to 16 bytes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "search.cuh"
#include "sum.cuh"

/* ---- of 1024 partial results a warp leaves one ------------------------------------------ */

template <int SEARCH>
DEVICE void partials_of_tiles(args_t args, int64_t length, int64_t tiles, partials_t from,
                              partials_t to)
{
    const int lane = threadIdx.x % LANES;
    let_next_start();
    wait_for_previous();
    for (int64_t item = (int64_t)blockIdx.x * WARPS + threadIdx.x / LANES;
         item < args.count * tiles; item += (int64_t)gridDim.x * WARPS) {
        const int64_t vector = vector_of(&args, item, tiles);
        const int64_t start = (item - vector * tiles) * TILE, at = vector * length + start;
        if (SEARCH) {
            int64_t index = 0;
            const int32_t key = search_keys<TILEMM__TILE_ROWS>(
                from.keys + at, args.index_out ? from.indices + at : NULL,
                clip(length - start, TILE), lane, &index);
            if (lane == 0)
                put_key(&args, &to, item, vector, key, index);
        } else {
            const int here = clip(length - start, TILE);
            const sum_t sum = sum_of_sums<8>(from.sums + at, here, lane);
            const int64_t count = from.counts ? sum_counts(from.counts + at, here, lane) : 0;
            if (lane == 0)
                put_sum(&args, &to, item, vector, sum, count);
        }
    }
}

#define KERNEL_PARTIALS_TILES(name, search)                                                        \
    KERNEL_OF(name, (THREADS),                                                                     \
              (args_t args, int64_t length, int64_t tiles, partials_t from, partials_t to),        \
              partials_of_tiles<search>(args, length, tiles, from, to))

/* ---- a warp takes as many vectors of up to `group` partial results as fill it ----------- */
/* Assumes a grid that is large enough. */

template <int SEARCH>
DEVICE void short_partials(args_t args, int length, int group, partials_t from, partials_t to)
{
    const int lane = threadIdx.x % LANES, place = lane % group;
    const int64_t vector =
        ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * (LANES / group) + lane / group;
    const int64_t at = vector * length + place;
    const bool there = vector < args.count && place < length;
    let_next_start();
    wait_for_previous();
    if (SEARCH) {
        int32_t key = there ? from.keys[at] : TILEMM__KEY_NONE;
        int64_t index = there && args.index_out ? from.indices[at] : INT64_MAX;
        fold_best(&key, &index, group);
        if (place == 0 && vector < args.count)
            put_key(&args, &to, vector, vector, key, index);
    } else {
        sum_t sum = there ? load(from.sums + at) : no_sum();
        int64_t count = there && from.counts ? from.counts[at] : 0;
        for (int half = group / 2; half > 0; half /= 2) {
            sum = join(sum, from_lane(sum, half));
            count = join(count, from_lane(count, half));
        }
        if (place == 0 && vector < args.count)
            put_sum(&args, &to, vector, vector, sum, count);
    }
}

#define KERNEL_PARTIALS_SHORT(name, search)                                                        \
    KERNEL_OF(name, (THREADS),                                                                     \
              (args_t args, int length, int group, partials_t from, partials_t to),                \
              short_partials<search>(args, length, group, from, to))

/* ---- a block takes a vector ------------------------------------------------------------- */

/* Up to ROWS * 1024 sums, all loads in flight together: a warp has ROWS rows of 32. Little shared
 * memory, so that a block fits on a multiprocessor beside blocks of the kernel before. */
template <int SPLITS, int ROWS>
DEVICE void sum_last(args_t args, int length, partials_t from)
{
    enum { EACH = LANES / ROWS };
    __shared__ sum_t sums[ROWS * BLOCK_WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int rows = (length - 1) / LANES + 1;
    const int64_t vector = blockIdx.x, at = vector * length * SPLITS;
    sum_t v[ROWS];
    wait_for_previous();
    let_next_start();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int i = (warp * ROWS + r) * LANES + lane;
        v[r] = i < length ? load_splits<SPLITS>(from.sums + at + i, length) : no_sum();
    }
    sum_t sum = fold<ROWS>(v, lane); /* of row lane / EACH */
    if (rows > 1) {
        if (lane % EACH == 0)
            sums[warp * ROWS + lane / EACH] = sum;
        __syncthreads();
        if (warp != 0)
            return;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            v[r] = r * LANES + lane < rows ? sums[r * LANES + lane] : no_sum();
        sum = fold<ROWS>(v, lane);
#pragma unroll
        for (int half = LANES / 2; half >= EACH; half /= 2)
            sum = join(sum, from_lane(sum, half));
    }
    const int64_t count = from.counts ? sum_counts(from.counts + at, length * SPLITS, lane) : 0;
    if (lane == 0)
        store_sum(&args, vector, sum, count);
}

#define KERNEL_PARTIALS_LAST(name, splits, rows)                                                   \
    KERNEL_OF(name, (BLOCK_WARPS * LANES), (args_t args, int length, partials_t from),             \
              sum_last<splits, rows>(args, length, from))

/* Up to 2^15 sums: rows of 32 are folded, ROWS at a time by a warp, and leave up to 1024. */
DEVICE void sum_partials_blocks(args_t args, int length, partials_t from)
{
    enum { ROWS = 8, EACH = LANES / ROWS };
    __shared__ block_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int rows = (length - 1) / LANES + 1, step = (int)blockDim.x / LANES * ROWS;
    const int64_t vector = blockIdx.x, at = vector * length;
    int64_t count = 0;
    wait_for_previous();
    let_next_start();
#pragma unroll 1
    for (int row = warp * ROWS; row < rows; row += step) {
        const int start = row * LANES, here = length - start;
        sum_t v[ROWS];
        load_rows<1, ROWS, true>(from.sums + at + start, 1, 0, here, 1, no_sum(), lane, v);
        v[0] = fold<ROWS>(v, lane); /* of row lane / EACH */
        if (lane % EACH == 0 && row + lane / EACH < rows)
            room.sums[row + lane / EACH] = v[0];
        if (from.counts)
            count += sum_counts(from.counts + at + start, clip(here, ROWS * LANES), lane);
    }
    const sum_t sum = block_fold_sum(&room, rows, from.counts != NULL, &count, lane, warp);
    if (threadIdx.x == 0)
        store_sum(&args, vector, sum, count);
}

DEVICE void search_partials_blocks(args_t args, int length, partials_t from)
{
    enum { ROWS = 8 };
    __shared__ search_room_t room;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    wait_for_previous();
    let_next_start();
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
        if (blockDim.x > LANES)
            best = block_fold_key(&room, best, &place, lane, warp);
        if (threadIdx.x == 0)
            store_key(&args, vector, best, place);
    }
}

#define KERNEL_PARTIALS_BLOCK(name, search)                                                        \
    KERNEL_OF(name, (BLOCK_WARPS * LANES), (args_t args, int length, partials_t from),             \
              search ? search_partials_blocks(args, length, from)                                  \
                     : sum_partials_blocks(args, length, from))

/* ---- a thread takes a vector of up to 32 transposed partial results --------------------- */

enum { COLUMN_THREADS = TILEMM__REDUCE_TRANSPOSED_THREADS };

template <int SEARCH>
DEVICE void transposed_partials(args_t args, int length, partials_t from)
{
    const int64_t vector = (int64_t)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    wait_for_previous();
    let_next_start();
    if (vector >= args.count)
        return;
    if (SEARCH) {
        int32_t key[LANES];
        int at = 0;
#pragma unroll
        for (int i = 0; i < LANES; i++)
            key[i] = i < length ? __ldg(from.keys + i * args.count + vector) : TILEMM__KEY_NONE;
        int32_t best = key[0];
#pragma unroll
        for (int i = 1; i < LANES; i++) {
            if (key[i] > best) { /* the first among equals stays */
                best = key[i];
                at = i;
            }
        }
        const int64_t index = args.index_out ? __ldg(from.indices + at * args.count + vector) : 0;
        store_key(&args, vector, best, index);
    } else {
        sum_t sum[LANES];
        int64_t count = 0;
#pragma unroll
        for (int i = 0; i < LANES; i++)
            sum[i] = i < length ? load(from.sums + i * args.count + vector) : no_sum();
        for (int i = 0; from.counts && i < length; i++)
            count += from.counts[i * args.count + vector];
#pragma unroll
        for (int half = LANES / 2; half > 0; half /= 2) {
            if (half < length) {
#pragma unroll
                for (int i = 0; i < LANES / 2; i++) {
                    if (i < half)
                        sum[i] = join(sum[i], sum[i + half]);
                }
            }
        }
        store_sum(&args, vector, sum[0], count);
    }
}

#define KERNEL_PARTIALS_TRANSPOSED(name, search)                                                   \
    KERNEL_OF(name, (COLUMN_THREADS), (args_t args, int length, partials_t from),                  \
              transposed_partials<search>(args, length, from))

DEFINE_KERNELS(TILEMM__REDUCE_PARTIALS, tilemm__reduce_partial_kernel)
