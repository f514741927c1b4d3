/* size.h - minimum, maximum, and division rounded up, for sizes: in C and in CUDA.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SIZE_H
#define TILEMM_KERNELS_SIZE_H

#include "layout.h"

TILEMM__LAYOUT int64_t tilemm__min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

TILEMM__LAYOUT int64_t tilemm__max(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* total / size, rounded up: how many pieces of `size` cover `total`. */
TILEMM__LAYOUT int64_t tilemm__div_up(int64_t total, int64_t size)
{
    return total / size + (total % size != 0);
}

/* x rounded up to a multiple of unit. */
TILEMM__LAYOUT int64_t tilemm__round_up(int64_t x, int64_t unit)
{
    return tilemm__div_up(x, unit) * unit;
}

#endif
