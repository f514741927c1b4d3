/* division.h - division by numbers that a plan knows, as a product.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_DIVISION_H
#define TILEMM_KERNELS_DIVISION_H

#include <stdint.h>

/* Division of x < 2^31 by d < 2^31: magic is floor(2^(32 + shift) / d) + 1, where
 * 2^shift < d <= 2^(shift + 1), so the error x / 2^(32 + shift) of the product is below 1 / d. */
typedef struct {
    uint32_t magic; /* 0 for d = 1 */
    int shift;
} tilemm__division_t;

static inline tilemm__division_t tilemm__division_by(uint32_t d)
{
    tilemm__division_t by = {0, 0};
    while (d > 1 && UINT64_C(2) << by.shift < d)
        by.shift++;
    if (d > 1)
        by.magic = (uint32_t)((UINT64_C(1) << (32 + by.shift)) / d) + 1;
    return by;
}

#ifdef __CUDACC__
/* x / d, by = tilemm__division_by(d). */
static __device__ __forceinline__ uint32_t divided(uint32_t x, tilemm__division_t by)
{
    return by.magic ? __umulhi(x, by.magic) >> by.shift : x;
}
#endif

#endif
