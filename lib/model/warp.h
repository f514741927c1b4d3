/* warp.h - what the models of shared and of global memory share: a warp's active lanes, and sets of
 * addresses.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_MODEL_WARP_H
#define TILEMM_LIB_MODEL_WARP_H

#include "tilemm.h"

enum { WARP = 32, HALF_WARP = 16 };

static inline int is_valid(int cc, const tilemm_warp_access_t *access)
{
    return tilemm_model_check(cc, access, NULL, 0) == TILEMM_SUCCESS;
}

static inline int is_active(const tilemm_warp_access_t *access, int lane)
{
    return access->active >> lane & 1;
}

/* The position of a value in a set, to which it is added if it is new. */
static inline int place(uint64_t *set, int *size, uint64_t value)
{
    int i = 0;
    while (i < *size && set[i] != value)
        i++;
    set[i] = value;
    *size += i == *size;
    return i;
}

#endif
