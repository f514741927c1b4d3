/* bank_conflicts.h - a warp's accesses to shared memory, by the memory model: checks that the tests
 * of layouts share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_BANK_CONFLICTS_H
#define TILEMM_TESTS_UNIT_BANK_CONFLICTS_H

#include "strided.h"

/* Lane l accesses `width` words from index[l] on: on every architecture this must cost `conflicts`
 * wavefronts more than the ideal. */
static inline void check_conflicts(const unsigned *index, int width, int conflicts,
                                   const char *what, const char *tile)
{
    static const int ccs[] = {75, 80, 86, 89, 90};
    tilemm_warp_access_t access = {.elem_bytes = width * (int)sizeof(float), .active = 0xffffffff};
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = index[lane] * sizeof(float);
    for (int i = 0; i < 5; i++) {
        const tilemm_shared_cost_t cost = shared_cost(ccs[i], 0, &access);
        CHECK(cost.conflicts == conflicts, "%s, tile %s: %d conflicts", what, tile, cost.conflicts);
    }
}

static inline void check_free(const unsigned *index, int width, const char *what, const char *tile)
{
    check_conflicts(index, width, 0, what, tile);
}

/* A read of 16 bytes a lane that takes 2 wavefronts, one for each half of the warp. */
static inline void check_halves(const unsigned *index, const char *what, const char *tile)
{
    tilemm_warp_access_t access = {.elem_bytes = 16, .active = 0xffffffff};
    check_free(index, 4, what, tile);
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = index[lane] * sizeof(float);
    const int wavefronts = shared_cost(90, 1, &access).wavefronts;
    CHECK(wavefronts == 2, "%s, tile %s: %d wavefronts", what, tile, wavefronts);
}

/* Count an access to `width` words from `index` on, in a tile of `words` words. */
static inline void mark(int *accesses, unsigned words, unsigned index, unsigned width)
{
    CHECK(index + width <= words, "%u", index);
    for (unsigned i = index; i < index + width && i < words; i++)
        accesses[i]++;
}

#endif
