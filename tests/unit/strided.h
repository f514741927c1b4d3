/* strided.h - the simplest access of a warp: lanes a constant number of bytes apart.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_STRIDED_H
#define TILEMM_TESTS_UNIT_STRIDED_H

#include "tilemm.h"

static inline tilemm_warp_access_t strided(int elem_bytes, uint64_t base, uint64_t stride_bytes)
{
    tilemm_warp_access_t access = {.elem_bytes = elem_bytes, .active = 0xffffffffu};
    for (unsigned lane = 0; lane < 32; lane++)
        access.addr[lane] = base + lane * stride_bytes;
    return access;
}

#endif
