/* team.h - the threads of one call: how many it may have, what each does, and where they meet.
 *
 * Threads are the library's own, kept from call to call for all contexts of the process (team.c).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CPU_TEAM_H
#define TILEMM_LIB_CPU_TEAM_H

#include <stdint.h>

typedef struct tilemm__team tilemm__team_t;

/* A thread of a team of `of` threads. */
typedef struct {
    int number, of;
    tilemm__team_t *team;
} thread_t;

/* Processors that this process may use. */
int tilemm__processors(void);
/* How many threads a call has unless told otherwise: OpenMP's number where the program has OpenMP,
 * else OMP_NUM_THREADS, else one for each processor. */
int tilemm__default_threads(void);

/* How many threads a call may have, which counts until they are released. That is `asked`, where
 * the user asked for a number (or 0), else what the process's other calls leave of `share` threads,
 * at least one; and one in a parallel region of OpenMP, whose threads are at work already. */
int tilemm__claim_threads(int asked, int share);
void tilemm__release_threads(int threads);

/* Do part(job, me) on `threads` threads at once, this one included, or on fewer if the system gives
 * fewer; returns when all have done so. They have the rounding mode and the flush-to-zero of this
 * one. */
void tilemm__run_team(int threads, void (*part)(void *job, thread_t me), void *job);

/* All of the team meet; what each has written before, all can read after. */
void tilemm__meet(thread_t me);

/* The next parts to do, where threads take them as they come, `count` at a time: *next is the
 * first one left. */
static inline int64_t take(int64_t *next, int64_t count)
{
    return __atomic_fetch_add(next, count, __ATOMIC_RELAXED);
}

/* This thread's share of the tasks, as a range. */
static inline void my_share(thread_t me, int64_t tasks, int64_t *begin, int64_t *end)
{
    const int64_t each = tasks / me.of, more = tasks % me.of;
    *begin = me.number * each + (me.number < more ? me.number : more);
    *end = *begin + each + (me.number < more);
}

#endif
