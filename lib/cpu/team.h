/* team.h - what the threads of one call do together.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CPU_TEAM_H
#define TILEMM_LIB_CPU_TEAM_H

#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* A thread of a team of `of` threads. */
typedef struct {
    int number, of;
} thread_t;

/* This thread, of the team that it is in. */
static inline thread_t of_team(void)
{
#ifdef _OPENMP
    return (thread_t){omp_get_thread_num(), omp_get_num_threads()};
#else
    return (thread_t){0, 1};
#endif
}

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
