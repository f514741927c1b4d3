/* searches.h - counts, and the largest and smallest elements, along a vector, on a CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CPU_SEARCHES_H
#define TILEMM_KERNELS_REDUCE_CPU_SEARCHES_H

#include "vectors.h"

/* All ones where a float is NaN. */
INLINE vec_w is_nan(vec_u bits)
{
    return (vec_w)(bits & 0x7fffffffu) > 0x7f800000;
}

static int64_t count(int64_t n, const float *x, int64_t istride)
{
    int64_t nans = 0;
    for (int64_t start = 0; start < n; start += ELEMS) {
        int64_t m = n - start < ELEMS ? n - start : ELEMS, e = 0;
        const float *tile = x + start * istride;
        float packed[ELEMS];
        vec_w found = {0};
        if (istride != 1) {
            gather(m, tile, istride, packed);
            tile = packed;
        }
        for (; e + WORDS <= m; e += WORDS)
            found -= is_nan(*(const any_u *)(tile + e));
        for (int i = 0; i < WORDS; i++)
            nans += found[i];
        for (; e < m; e++)
            nans += tile[e] != tile[e];
    }
    return n - nans;
}

/* tilemm__key_of for a register of floats. */
INLINE vec_w keys_of(tilemm__order_t order, vec_u bits)
{
    vec_u kept = bits & order.keep;
    vec_w key = (vec_w)(kept ^ ((vec_u)((vec_w)kept >> 31) & 0x7fffffffu) ^ order.flip);
    vec_w nan = is_nan(bits);
    return (key & ~nan) | (nan & order.nan);
}

/* Whether the bits of magnitudes order them: NaN wins and has larger bits than Inf. */
INLINE int is_magnitude(tilemm__order_t order)
{
    return order.keep == 0x7fffffffu && order.flip == 0 && order.nan == TILEMM__KEY_NAN;
}

/* The keys of WORDS elements, but for NaN if `plain`: then is_magnitude(order) holds. */
INLINE vec_w keys_at(int plain, tilemm__order_t order, const float *x)
{
    const vec_u bits = *(const any_u *)x;
    return plain ? (vec_w)(bits & 0x7fffffffu) : keys_of(order, bits);
}

/* The largest key of n <= 1024 contiguous elements; `plain` is is_magnitude(order). */
INLINE int32_t largest(int plain, tilemm__order_t order, int64_t n, const float *x)
{
    vec_w key[KEY_REGS];
    int64_t e = 0;
    for (int i = 0; i < KEY_REGS; i++)
        key[i] = (vec_w){0} + TILEMM__KEY_NONE;
    for (; e + KEY_REGS * WORDS <= n; e += KEY_REGS * WORDS) {
#pragma GCC unroll 4
        for (int i = 0; i < KEY_REGS; i++)
            key[i] = REDUCE_MAX(key[i], keys_at(plain, order, x + e + i * WORDS));
    }
    for (; e + WORDS <= n; e += WORDS)
        key[0] = REDUCE_MAX(key[0], keys_at(plain, order, x + e));
    key[0] = REDUCE_MAX(REDUCE_MAX(key[0], key[1]), REDUCE_MAX(key[2], key[3]));
    if (e < n && n >= WORDS) { /* overlaps what was searched, which does no harm */
        key[0] = REDUCE_MAX(key[0], keys_at(plain, order, x + n - WORDS));
        e = n;
    }
    int32_t best = REDUCE_LARGEST(key[0]);
    for (; e < n; e++) {
        int32_t k = tilemm__key_of(order, tilemm__float_bits(x[e]));
        best = k > best ? k : best;
    }
    return plain && best > 0x7f800000 ? TILEMM__KEY_NAN : best;
}

/* The first position of a key in a vector that has it. */
static int64_t find_strided(tilemm__order_t order, int32_t key, const float *x, int64_t istride)
{
    int64_t i = 0;
    while (tilemm__key_of(order, tilemm__float_bits(x[i * istride])) != key)
        i++;
    return i;
}

/* The same of n contiguous elements; `plain`: is_magnitude(order) and the key is not NaN's. */
INLINE int64_t find(int plain, tilemm__order_t order, int32_t key, int64_t n, const float *x)
{
    int64_t i = 0;
    for (; i + KEY_REGS * WORDS <= n; i += KEY_REGS * WORDS) {
        vec_w here = {0};
#pragma GCC unroll 4
        for (int r = 0; r < KEY_REGS; r++)
            here |= keys_at(plain, order, x + i + r * WORDS) == key;
        if (REDUCE_FIRST(here) < WORDS)
            break;
    }
    for (; i + WORDS <= n; i += WORDS) {
        const int first = REDUCE_FIRST(keys_of(order, *(const any_u *)(x + i)) == key);
        if (first < WORDS)
            return i + first;
    }
    return i + find_strided(order, key, x + i, 1);
}

static int32_t extreme(tilemm__order_t order, int64_t n, const float *x, int64_t istride,
                       int64_t *index)
{
    int32_t best = TILEMM__KEY_NONE;
    int64_t best_start = 0;
    for (int64_t start = 0; start < n; start += ELEMS) {
        int64_t m = n - start < ELEMS ? n - start : ELEMS;
        const float *tile = x + start * istride;
        float packed[ELEMS];
        if (istride != 1) {
            gather(m, tile, istride, packed);
            tile = packed;
        }
        const int32_t key =
            is_magnitude(order) ? largest(1, order, m, tile) : largest(0, order, m, tile);
        if (key > best) {
            best = key;
            best_start = start;
        }
    }
    /* Its place is searched from the first tile that has it. */
    if (index && best != TILEMM__KEY_NONE)
        *index = istride != 1
                     ? best_start + find_strided(order, best, x + best_start * istride, istride)
                 : is_magnitude(order) && best != TILEMM__KEY_NAN
                     ? best_start + find(1, order, best, n - best_start, x + best_start)
                     : best_start + find(0, order, best, n - best_start, x + best_start);
    return best;
}

#endif
