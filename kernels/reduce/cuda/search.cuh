/* search.cuh - the largest or smallest element of a tile by a warp, and of a vector by a block.
 *
 * Assumes what warp.cuh does.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_SEARCH_CUH
#define TILEMM_KERNELS_REDUCE_CUDA_SEARCH_CUH

#include "warp.cuh"

/* ---- searches by key -------------------------------------------------------------------- */

/* The place in ROWS rows where the largest key comes first. */
template <int ROWS>
DEVICE int find_key(const int32_t *key, int32_t best)
{
    int place = 0;
#pragma unroll
    for (int r = ROWS - 1; r >= 0; r--) {
        const unsigned here = __ballot_sync(FULL_WARP, key[r] == best);
        place = here ? r * LANES + __ffs(here) - 1 : place;
    }
    return place;
}

/* The keys of floats; past `length` elements those of none. */
template <int ROWS>
DEVICE void keys_of_rows(order_t order, const float *v, int length, int lane, int32_t *key)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int32_t k = tilemm__key_of(order, __float_as_uint(v[r]));
        key[r] = r * LANES + lane < length ? k : TILEMM__KEY_NONE;
    }
}

/* ---- searches by value ------------------------------------------------------------------ */

/* A key costs eight instructions for each element. Here floats are compared, mapped so that the
 * largest is searched for, and the winner becomes a key: the hardware too orders -0 before +0. */
template <int N>
DEVICE void map_to_largest(order_t order, float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = __uint_as_float((__float_as_uint(v[i]) & order.keep) ^ (order.flip & 0x80000000u));
}

/* The larger of two. IGNORE: NaN only if both are NaN; otherwise NaN if either is. */
template <int IGNORE>
DEVICE float larger(float a, float b)
{
    if (IGNORE)
        return fmaxf(a, b);
#if __CUDA_ARCH__ >= 800
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a != a ? a : b != b ? b : fmaxf(a, b);
#endif
}

/* The largest of N mapped floats of one lane. */
template <int IGNORE, int N>
DEVICE float largest(const float *v)
{
    float most = v[0];
#pragma unroll
    for (int i = 1; i < N; i++)
        most = larger<IGNORE>(most, v[i]);
    return most;
}

/* The key of a mapped float. */
DEVICE int32_t key_of_mapped(order_t order, float value)
{
    return value != value ? order.nan : (int32_t)tilemm__order_bits(__float_as_uint(value));
}

/* The first of N mapped floats that has the bits of `most`, or is NaN if that is. */
template <int N>
DEVICE int first_of(const float *v, float most)
{
    int first = 0;
    if (most == most) {
#pragma unroll
        for (int i = N - 1; i >= 0; i--)
            first = __float_as_uint(v[i]) == __float_as_uint(most) ? i : first;
    } else {
#pragma unroll
        for (int i = N - 1; i >= 0; i--)
            first = v[i] != v[i] ? i : first;
    }
    return first;
}

DEVICE int64_t least_of_lanes(int64_t value)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2)
        value = min(value, (int64_t)__shfl_xor_sync(FULL_WARP, value, half));
    return value;
}

/* The largest key of `group` lanes, a power of two, and the lowest place that has it. */
DEVICE void fold_best(int32_t *best, int64_t *place, int group = LANES)
{
#pragma unroll
    for (int half = group / 2; half > 0; half /= 2) {
        const int32_t key = __shfl_xor_sync(FULL_WARP, *best, half);
        const int64_t there = __shfl_xor_sync(FULL_WARP, *place, half);
        if (tilemm__key_wins(key, there, *best, *place)) {
            *best = key;
            *place = there;
        }
    }
}

/* ---- a tile by a warp: every lane gets the result --------------------------------------- */

/* The largest key of `length` floats, ROWS rows at a time, and if wanted its place. */
template <int ROWS>
DEVICE int32_t search_tile(order_t order, const float *x, int64_t istride, int length, int lane,
                           int want_place, int *place)
{
    int32_t best = TILEMM__KEY_NONE;
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        float v[ROWS];
        int32_t key[ROWS], here = TILEMM__KEY_NONE;
        load_rows<1, ROWS, false>(x + first * istride, istride, 0, length - first, 1, 0.0f, lane,
                                  v);
        keys_of_rows<ROWS>(order, v, length - first, lane, key);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            here = max(here, key[r]);
        here = fold<1, LARGEST>(&here, lane);
        if (here > best) {
            best = here;
            if (want_place)
                *place = first + find_key<ROWS>(key, here);
        }
    }
    return best;
}

/* The largest of up to 32 * ROWS keys, and the least of its indices unless `indices` is NULL. The
 * warps of a vector take its tiles in turns: an earlier key may have a larger index. */
template <int ROWS>
DEVICE int32_t search_keys(const int32_t *keys, const int64_t *indices, int length, int lane,
                           int64_t *index)
{
    int32_t key[ROWS], best = TILEMM__KEY_NONE;
    int64_t at[ROWS], least = INT64_MAX;
    load_rows<1, ROWS, false>(keys, 1, 0, length, 1, TILEMM__KEY_NONE, lane, key);
    if (indices) /* in flight with the keys */
        load_rows<1, ROWS, false>(indices, 1, 0, length, 1, INT64_MAX, lane, at);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        best = max(best, key[r]);
    best = fold<1, LARGEST>(&best, lane);
    if (indices) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            least = key[r] == best ? min(least, at[r]) : least;
        *index = least_of_lanes(least);
    }
    return best;
}

/* ---- a vector by a block ---------------------------------------------------------------- */

/* Shared memory of a block that searches: little, so that it fits on a multiprocessor beside blocks
 * of the kernel before. */
typedef struct {
    int32_t keys[BLOCK_WARPS];
    int64_t places[BLOCK_WARPS];
} search_room_t;

/* Fold the warps' keys and places; warp 0 gets the results. */
DEVICE int32_t block_fold_key(search_room_t *room, int32_t best, int64_t *place, int lane, int warp)
{
    __syncthreads();
    if (lane == 0) {
        room->keys[warp] = best;
        room->places[warp] = *place;
    }
    __syncthreads();
    if (warp == 0) {
        best = lane < (int)blockDim.x / LANES ? room->keys[lane] : TILEMM__KEY_NONE;
        *place = room->places[lane];
        fold_best(&best, place);
    }
    return best;
}

/* The largest key of any number of floats and, if wanted, its place. */
DEVICE int32_t block_search(order_t order, const float *x, int64_t istride, int64_t length,
                            int want_place, search_room_t *room, int64_t *place)
{
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    int32_t best = TILEMM__KEY_NONE;
    *place = 0;
#pragma unroll 1
    for (int64_t start = (int64_t)warp * TILE; start < length; start += blockDim.x / LANES * TILE) {
        int here = 0;
        const int32_t key = search_tile<8>(order, x + start * istride, istride,
                                           clip(length - start, TILE), lane, want_place, &here);
        if (key > best) {
            best = key;
            *place = start + here;
        }
    }
    return block_fold_key(room, best, place, lane, warp);
}

/* ---- results: one thread calls ---------------------------------------------------------- */

/* Store partial result number `slot`, or the result of vector `vector` if `to` is none. */
DEVICE void put_key(const args_t *args, const partials_t *to, int64_t slot, int64_t vector,
                    int32_t key, int64_t index)
{
    if (to->keys) {
        to->keys[slot] = key;
        if (args->index_out)
            to->indices[slot] = index;
        return;
    }
    if (args->out)
        args->out[vector * args->out_stride] = tilemm__key_result(args->op, key);
    if (args->index_out)
        args->index_out[vector * args->out_stride] = tilemm__index_result(key, index);
}

DEVICE void store_key(const args_t *args, int64_t vector, int32_t key, int64_t index)
{
    const partials_t none = {};
    put_key(args, &none, 0, vector, key, index);
}

#endif
