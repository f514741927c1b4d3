/* plan_cpu.h - how threads divide reductions on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_PLAN_CPU_H
#define TILEMM_LIB_REDUCE_PLAN_CPU_H

#include "kernels/args.h"
#include "kernels/reduce/layout.h"
#include "lib/plan.h"

/* No plan changes a result: sums are added in the canonical order of kernels/reduce/layout.h, and
 * searches do not depend on an order. For any workspace there is a plan. */

enum {
    TILEMM__REDUCE_STACK_TILES = 1024, /* tiles whose sums lie on the stack */
    TILEMM__REDUCE_STACK_LANES = 2048, /* doubles on the stack, for the lanes of columns */
    TILEMM__REDUCE_MAX_COLUMNS = 256   /* of a column block */
};

typedef enum {
    TILEMM__REDUCE_VECTORS,      /* each thread takes whole vectors */
    TILEMM__REDUCE_TILES,        /* all threads take the tiles of one vector at a time */
    TILEMM__REDUCE_COLUMNS,      /* each thread takes blocks of whole columns */
    TILEMM__REDUCE_COLUMN_BLOCKS /* each thread takes some rows of them, which are joined later */
} tilemm__reduce_cpu_method_t;

typedef struct {
    tilemm__reduce_cpu_method_t method;
    int threads;
    size_t workspace; /* bytes */
    int64_t tiles;    /* TILES: whose sums the workspace holds, a multiple of 1024 */
    int64_t width;    /* COLUMNS, COLUMN_BLOCKS: columns of a block, whose lanes are */
    size_t lanes;     /* bytes of workspace for each thread, or 0: they lie on its stack */
    int64_t rows;     /* COLUMN_BLOCKS: rows of a block; of a sum, one tile */
} tilemm__reduce_cpu_plan_t;

typedef struct {
    int threads;
    int64_t grain; /* segments that a thread takes at a time */
    int64_t alone; /* elements of a segment up to which one thread takes it; all take longer ones */
} tilemm__segments_cpu_plan_t;

int tilemm__plan_reduce_cpu(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                            tilemm__reduce_cpu_plan_t *plan);
int tilemm__plan_segments_cpu(const tilemm__segments_args_t *args, const tilemm__limits_t *limits,
                              tilemm__segments_cpu_plan_t *plan);

#endif
