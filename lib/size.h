/* size.h - how plans and loops cut sizes up, and keep them in bounds; with kernels/size.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SIZE_H
#define TILEMM_LIB_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/size.h"

/* The size of the fewest equal pieces of `total`, none larger than `limit`; a multiple of unit. */
static inline int64_t tilemm__even_size(int64_t total, int64_t limit, int64_t unit)
{
    limit = tilemm__max(limit / unit, 1) * unit;
    return tilemm__round_up(tilemm__div_up(total, tilemm__div_up(total, limit)), unit);
}

/* x, or the bound that it exceeds. */
static inline int64_t tilemm__clamp(double x, int64_t low, int64_t high)
{
    return x < (double)low ? low : x < (double)high ? (int64_t)x : high;
}

/* Whether an address, or some of them or-ed together, are multiples of a power of two. */
static inline int tilemm__is_multiple(uintptr_t addresses, size_t alignment)
{
    return (addresses & (alignment - 1)) == 0;
}

/* The largest power of two up to 16 that the address of every row of an operand is a multiple of.
 */
static inline int tilemm__alignment(const void *pointer, int64_t ld, int64_t stride, int64_t batch,
                                    size_t elem_size)
{
    uint64_t all = (uint64_t)(uintptr_t)pointer | (uint64_t)ld * elem_size | 16;
    if (batch > 1)
        all |= (uint64_t)stride * elem_size;
    return (int)(all & -all);
}

#endif
