/* team.h - what the threads of one product do together.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CPU_TEAM_H
#define TILEMM_LIB_CPU_TEAM_H

#include <stdint.h>

/* All of the team meet. */
static inline void meet(int threads)
{
    if (threads > 1) {
#pragma omp barrier
    }
}

/* The next part to do, of those that threads take as they come: *next is the first one left. */
static inline int64_t take(int64_t *next, int threads)
{
    int64_t part;
    if (threads == 1)
        return (*next)++;
#pragma omp atomic capture
    part = (*next)++;
    return part;
}

#endif
