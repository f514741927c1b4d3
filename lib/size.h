/* size.h - how plans and loops cut sizes up, and keep them in bounds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SIZE_H
#define TILEMM_LIB_SIZE_H

#include <stdint.h>

static inline int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static inline int64_t most(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* How many pieces of `size` cover `total`. */
static inline int64_t pieces(int64_t total, int64_t size)
{
    return total / size + (total % size != 0);
}

static inline int64_t round_up(int64_t x, int64_t unit)
{
    return pieces(x, unit) * unit;
}

/* The size of the fewest equal pieces of `total`, none larger than `limit`; a multiple of unit. */
static inline int64_t even(int64_t total, int64_t limit, int64_t unit)
{
    limit = most(limit / unit, 1) * unit;
    return round_up(pieces(total, pieces(total, limit)), unit);
}

static inline int64_t within(double x, int64_t low, int64_t high)
{
    return x < (double)low ? low : x < (double)high ? (int64_t)x : high;
}

#endif
