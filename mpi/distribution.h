/* distribution.h - how the lines of one side of a matrix are dealt out in blocks to the processes
 * of one side of a grid: pure functions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_DISTRIBUTION_H
#define TILEMM_MPI_DISTRIBUTION_H

#include <stdint.h>

#include "lib/size.h"

/* Lines 0 to n - 1: the first `first` are process `source`'s, the next `block` the next one's. */
typedef struct {
    int64_t n, first, block; /* first and block are at least 1 */
    int procs, source;
} tilemm__dist_t;

/* A run of consecutive lines of one process. */
typedef struct {
    int64_t begin, end; /* counted in the whole */
    int64_t local;      /* the number of line `begin` on its process */
    int owner;
} tilemm__run_t;

/* The number of block that has a line: 0 is the first block. */
static inline int64_t tilemm__dist_block(const tilemm__dist_t *d, int64_t line)
{
    return line < d->first ? 0 : 1 + (line - d->first) / d->block;
}

static inline int tilemm__dist_owner(const tilemm__dist_t *d, int64_t line)
{
    return (int)((tilemm__dist_block(d, line) + d->source) % d->procs);
}

/* How many lines below `line` a process has. */
int64_t tilemm__dist_before(const tilemm__dist_t *d, int proc, int64_t line);

/* How many lines a process has; the most that any has. */
int64_t tilemm__dist_count(const tilemm__dist_t *d, int proc);
int64_t tilemm__dist_most(const tilemm__dist_t *d);

/* Lines `begin` to begin + n - 1, as a distribution of their own. */
tilemm__dist_t tilemm__dist_part(const tilemm__dist_t *d, int64_t begin, int64_t n);

/* Whether each line has the same process in both. */
int tilemm__dist_same(const tilemm__dist_t *x, const tilemm__dist_t *y);

/* The run that begins at `line`, cut at `end`. Neighbouring blocks of one process are one run where
 * there is one process. */
tilemm__run_t tilemm__dist_run(const tilemm__dist_t *d, int64_t line, int64_t end);

#endif
