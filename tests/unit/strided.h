/* strided.h - the simplest access of a warp, and the cost of any access to shared memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_STRIDED_H
#define TILEMM_TESTS_UNIT_STRIDED_H

#include "tests/support/check.h"
#include "tilemm.h"

/* Lanes a constant number of bytes apart. */
static inline tilemm_warp_access_t strided(int elem_bytes, uint64_t base, uint64_t stride_bytes)
{
    tilemm_warp_access_t access = {.elem_bytes = elem_bytes, .active = 0xffffffffu};
    for (unsigned lane = 0; lane < 32; lane++)
        access.addr[lane] = base + lane * stride_bytes;
    return access;
}

static inline tilemm_shared_cost_t shared_cost(int cc, int load, const tilemm_warp_access_t *access)
{
    tilemm_shared_cost_t cost = {0, 0, 0, 0};
    const tilemm_status_t status =
        load ? tilemm_model_shared_load(cc, access, &cost) : tilemm_model_shared(cc, access, &cost);
    CHECK(status == TILEMM_SUCCESS, "cc %d, %d bytes", cc, access->elem_bytes);
    return cost;
}

#endif
