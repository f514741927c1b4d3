/* segments.cu - reductions of the segments of a vector, whose lengths only the device knows: the
 * launches are the same for any lengths, and nothing is read back.
 *
 * Assumes: compute capability 7.5 or later; floats are aligned to 4 bytes; a segment whose offsets
 * decrease is empty; segments may overlap.
 *
 * First, warps take the segments of up to warp_limit elements and put the others on lists. Then
 * blocks of 32 warps take the entries of the lists: whole segments of up to a span of 1024 tiles,
 * and the spans of longer ones. Last, warps fold the spans' results. A counter hands out the
 * entries of a list, so each is written by one warp; their order does not matter to any result. A
 * segment whose list is full is done at once by the warp that found it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <type_traits>

#include <cuda_runtime.h>

#include "search.cuh"
#include "sum.cuh"

DEVICE int64_t segment_length(const segments_t *args, int64_t segment)
{
    const int64_t begin = args->offsets[segment], end = args->offsets[segment + 1];
    return end > begin ? end - begin : 0;
}

DEVICE int64_t span_count(int64_t length)
{
    return (length - 1) / SPAN + 1;
}

/* Put a segment on its list. Returns 0 if the list is full. All lanes call. */
DEVICE int enlist(const lists_t *lists, int64_t segment, int64_t length, int lane)
{
    const int64_t spans = span_count(length);
    unsigned long long at = 0;
    if (spans == 1) {
        if (lists->room == 0)
            return 0;
        if (lane == 0) {
            at = atomicAdd(&lists->taken[1], 1ull);
            if ((int64_t)at < lists->room)
                lists->segments[at] = segment;
        }
        at = __shfl_sync(FULL_WARP, at, 0);
        return (int64_t)at < lists->room;
    }
    if (spans > lists->span_room)
        return 0;
    if (lane == 0)
        at = atomicAdd(&lists->taken[0], (unsigned long long)spans);
    at = __shfl_sync(FULL_WARP, at, 0);
    const int fits = (int64_t)at + spans <= lists->span_room;
    for (int64_t i = lane; i < spans && (int64_t)at + i < lists->span_room; i += LANES) {
        lists->span_segment[at + i] = fits ? segment : -1;
        lists->span_number[at + i] = i;
    }
    return fits;
}

DEVICE int64_t listed(unsigned long long taken, int64_t room)
{
    return (int64_t)taken < room ? (int64_t)taken : room;
}

/* ---- a segment by a warp ---------------------------------------------------------------- */

DEVICE float sum_segment(int op, int nan_ignore, const float *x, int64_t length, int lane)
{
    const int64_t tiles = tilemm__tile_count(length);
    int64_t count = length;
    levels_t levels;
    levels_begin(&levels);
#pragma unroll 1
    for (int64_t tile = 0; tile < tiles; tile++) {
        int nans = 0;
        const sum_t sum = sum_tile<0, 16>(op, nan_ignore, x + tile * TILE, 1, NULL, 1,
                                          clip(length - tile * TILE, TILE), lane, &nans);
        count -= nans;
        if (tiles == 1)
            return tilemm__sum_result(op, sum, count);
        levels_add(&levels, 0, tile, sum, lane);
    }
    return tilemm__sum_result(op, levels_end(&levels, tiles, lane), count);
}

DEVICE float search_segment(int op, int nan_ignore, const float *x, int64_t length, int lane)
{
    const order_t order = tilemm__order_of(op, nan_ignore);
    int32_t best = TILEMM__KEY_NONE;
#pragma unroll 1
    for (int64_t start = 0; start < length; start += TILE)
        best = max(best,
                   search_tile<16>(order, x + start, 1, clip(length - start, TILE), lane, 0, NULL));
    return tilemm__key_result(op, best);
}

/* Compute the result or put the segment on a list. All lanes call. */
template <int SEARCH>
DEVICE void take_segment(const segments_t *args, const lists_t *lists, int64_t warp_limit,
                         int64_t segment, int64_t begin, int64_t length, int lane)
{
    if (length > warp_limit && enlist(lists, segment, length, lane))
        return;
    const float result =
        SEARCH ? search_segment(args->op, args->nan_ignore, args->x + begin, length, lane)
               : sum_segment(args->op, args->nan_ignore, args->x + begin, length, lane);
    if (lane == 0)
        args->out[segment] = result;
}

template <int SEARCH>
DEVICE void segments_by_warps(segments_t args, int64_t warp_limit, lists_t lists)
{
    const int lane = threadIdx.x % LANES;
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    for (int64_t s = (int64_t)blockIdx.x * WARPS + threadIdx.x / LANES; s < args.segments;
         s += warps) {
        take_segment<SEARCH>(&args, &lists, warp_limit, s, args.offsets[s],
                             segment_length(&args, s), lane);
    }
}

#define KERNEL_SEGMENTS_WARP(name, search)                                                         \
    KERNEL_OF(name, (THREADS, 3), (segments_t args, int64_t warp_limit, lists_t lists),            \
              segments_by_warps<search>(args, warp_limit, lists))

/* 32 segments at a time: those of up to 32 elements together, a row each, then the others. */
template <int SEARCH>
DEVICE void segments_by_groups(segments_t args, int64_t warp_limit, lists_t lists)
{
    const int lane = threadIdx.x % LANES;
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * LANES;
         first < args.segments; first += warps * LANES) {
        const int64_t own = first + lane;
        const int64_t begin = own < args.segments ? args.offsets[own] : 0;
        const int64_t length = own < args.segments ? segment_length(&args, own) : 0;
        const int is_row = length <= LANES;
        unsigned others = __ballot_sync(FULL_WARP, !is_row);
        float v[LANES], result;
#pragma unroll
        for (int j = 0; j < LANES; j++) {
            const int64_t start = __shfl_sync(FULL_WARP, begin, j);
            const int here = __shfl_sync(FULL_WARP, is_row ? (int)length : 0, j);
            v[j] = lane < here ? __ldg(args.x + start + lane) : 0.0f;
        }
        if (SEARCH) {
            int32_t key[LANES];
#pragma unroll
            for (int j = 0; j < LANES; j++) {
                const int here = __shfl_sync(FULL_WARP, is_row ? (int)length : 0, j);
                const int32_t k = tilemm__key_of(order, __float_as_uint(v[j]));
                key[j] = lane < here ? k : TILEMM__KEY_NONE;
            }
            result = tilemm__key_result(args.op, fold<LANES, LARGEST>(key, lane));
        } else {
            int64_t count = length;
            if (tilemm__sum_is_counted(args.op, args.nan_ignore))
                count -= count_nans<LANES, 1>(v, lane);
            result =
                tilemm__sum_result(args.op, sum_rows(args.op, args.nan_ignore, v, lane), count);
        }
        if (is_row && own < args.segments)
            args.out[own] = result;
        while (others) {
            const int j = __ffs(others) - 1;
            take_segment<SEARCH>(&args, &lists, warp_limit, first + j,
                                 __shfl_sync(FULL_WARP, begin, j),
                                 __shfl_sync(FULL_WARP, length, j), lane);
            others &= others - 1;
        }
    }
}

#define KERNEL_SEGMENTS_GROUP(name, search)                                                        \
    KERNEL_OF(name, (THREADS), (segments_t args, int64_t warp_limit, lists_t lists),               \
              segments_by_groups<search>(args, warp_limit, lists))

/* ---- entries of the lists, by blocks ---------------------------------------------------- */

template <int SEARCH>
DEVICE void segments_by_blocks(segments_t args, lists_t lists)
{
    __shared__ typename std::conditional<SEARCH, search_room_t, block_room_t>::type room;
    const int64_t spans = listed(lists.taken[0], lists.span_room);
    const int64_t items = spans + listed(lists.taken[1], lists.room);
    for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
        const int is_span = item < spans;
        const int64_t segment = is_span ? lists.span_segment[item] : lists.segments[item - spans];
        if (segment < 0)
            continue; /* the whole block: all of it read the same */
        const int64_t start = is_span ? lists.span_number[item] * SPAN : 0;
        const int length = clip(segment_length(&args, segment) - start, SPAN);
        const float *x = args.x + args.offsets[segment] + start;
        int64_t extra;
        if constexpr (SEARCH) {
            const order_t order = tilemm__order_of(args.op, args.nan_ignore);
            const int32_t key = block_search(order, x, 1, length, 0, &room, &extra);
            if (threadIdx.x == 0) {
                if (is_span)
                    lists.value.keys[item] = key;
                else
                    args.out[segment] = tilemm__key_result(args.op, key);
            }
        } else {
            const sum_t sum =
                block_sum<0>(args.op, args.nan_ignore, x, 1, NULL, 1, length, &room, &extra);
            if (threadIdx.x == 0) {
                if (is_span) {
                    lists.value.sums[item] = sum;
                    lists.counts[item] = extra;
                } else {
                    args.out[segment] = tilemm__sum_result(
                        args.op, sum,
                        tilemm__sum_is_counted(args.op, args.nan_ignore) ? extra : length);
                }
            }
        }
    }
}

#define KERNEL_SEGMENTS_BLOCK(name, search)                                                        \
    KERNEL_OF(name, (BLOCK_WARPS * LANES), (segments_t args, lists_t lists),                       \
              segments_by_blocks<search>(args, lists))

/* The spans of a segment are consecutive: the warp that finds the first one folds them all. */
template <int SEARCH>
DEVICE void join_spans(segments_t args, lists_t lists)
{
    const int lane = threadIdx.x % LANES;
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    const int64_t spans = listed(lists.taken[0], lists.span_room);
    for (int64_t item = (int64_t)blockIdx.x * WARPS + threadIdx.x / LANES; item < spans;
         item += warps) {
        const int64_t segment = lists.span_segment[item];
        if (segment < 0 || lists.span_number[item] != 0)
            continue;
        const int64_t length = segment_length(&args, segment), own = span_count(length);
        float result;
        if (SEARCH) {
            int32_t best = TILEMM__KEY_NONE;
            for (int64_t i = lane; i < own; i += LANES)
                best = max(best, lists.value.keys[item + i]);
            result = tilemm__key_result(args.op, fold<1, LARGEST>(&best, lane));
        } else {
            const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
            const int64_t count = counted ? sum_counts(lists.counts + item, own, lane) : length;
            const int64_t tiles = tilemm__tile_count(own);
            levels_t levels;
            levels_begin(&levels);
#pragma unroll 1
            for (int64_t tile = 0; tile < tiles; tile++)
                levels_add(&levels, 0, tile,
                           sum_of_sums<8>(lists.value.sums + item + tile * TILE,
                                          clip(own - tile * TILE, TILE), lane),
                           lane);
            result = tilemm__sum_result(args.op, levels_end(&levels, tiles, lane), count);
        }
        if (lane == 0)
            args.out[segment] = result;
    }
}

#define KERNEL_SEGMENTS_SPANS(name, search)                                                        \
    KERNEL_OF(name, (THREADS), (segments_t args, lists_t lists), join_spans<search>(args, lists))

DEFINE_KERNELS(TILEMM__REDUCE_SEGMENTS, tilemm__reduce_segment_kernel)
