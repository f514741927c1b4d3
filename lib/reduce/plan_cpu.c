/* plan_cpu.c - how threads divide reductions on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cpu.h"

#include <string.h>

#include "kernels/reduce/ops.h"
#include "lib/size.h"

enum { MOST_TILES = 131072 }; /* enough that threads seldom meet, in 2 MiB */

/* a * b for sizes, or the largest size. */
static size_t product(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

/* Columns of a block, so that their lanes fit the first cache; and where those lie: in workspace
 * if there is enough of it. */
static void plan_width(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                       tilemm__reduce_cpu_plan_t *plan)
{
    enum { COLUMN = TILEMM__TILE_LANES * sizeof(double), VECTOR = 16, NARROW = 4 };
    int64_t width = TILEMM__REDUCE_MAX_COLUMNS;
    int64_t levels = 1; /* of 32 lanes of a column: for the tile, and each level of folds above */
    plan->width = width;
    if (tilemm__op_is_order(args->op)) /* needs no lanes */
        return;
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        levels++;
    width = tilemm__min(width, (int64_t)(limits->cpu->l1d_bytes / 4 * 3 / COLUMN));
    if (args->n <= TILEMM__TILE_ELEMS) /* only columns can be divided among threads */
        width = tilemm__min(width, tilemm__div_up(args->count, plan->threads));
    plan->width = tilemm__max(width / VECTOR * VECTOR, VECTOR);
    plan->lanes = (size_t)(plan->width * levels) * COLUMN;
    if (plan->lanes <= TILEMM__REDUCE_STACK_LANES * sizeof(double) ||
        plan->lanes > limits->workspace / (size_t)plan->threads) {
        width = TILEMM__REDUCE_STACK_LANES / (TILEMM__TILE_LANES * levels);
        plan->width = tilemm__min(plan->width, tilemm__max(width / NARROW * NARROW, NARROW));
        plan->lanes = 0;
    }
}

/* Columns: whole ones, or blocks of rows where those are too few for the threads. */
static void plan_columns(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                         tilemm__reduce_cpu_plan_t *plan)
{
    const int search = tilemm__op_is_order(args->op), threads = plan->threads;
    const int extras = tilemm__sum_is_counted(args->op, args->nan_ignore) || args->index_out;
    const int64_t tiles = tilemm__tile_count(args->n);
    plan_width(args, limits, plan);
    const int64_t blocks = tilemm__div_up(args->count, plan->width);
    plan->method = TILEMM__REDUCE_COLUMNS;
    plan->threads = (int)tilemm__min(threads, blocks);
    plan->workspace = (size_t)plan->threads * plan->lanes;
    if (threads > 1 && tiles > 1 && blocks < 4 * (int64_t)threads) {
        /* Searches need not keep to tiles: blocks that keep all threads busy. */
        const int64_t rows = search
                                 ? tilemm__div_up(tiles, 2 * (int64_t)threads) * TILEMM__TILE_ELEMS
                                 : TILEMM__TILE_ELEMS;
        /* A value and perhaps an extra of each column, the largest magnitude of each block. */
        const size_t lanes = (size_t)threads * plan->lanes;
        const size_t bytes =
            product((size_t)tilemm__div_up(args->n, rows),
                    product((size_t)args->count, extras ? 16 : 8) + 8 * (size_t)blocks);
        if (bytes <= limits->workspace - lanes) {
            plan->method = TILEMM__REDUCE_COLUMN_BLOCKS;
            plan->rows = rows;
            plan->workspace = lanes + bytes;
            plan->threads = threads;
        }
    }
}

int tilemm__plan_reduce_cpu(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                            tilemm__reduce_cpu_plan_t *plan)
{
    enum { UNIT = TILEMM__REDUCE_STACK_TILES };
    const int64_t tiles = tilemm__tile_count(args->n);
    const double elements = (double)args->n * (double)args->count;
    const double most_threads = elements / (double)limits->tuning->reduce_thread_elements;
    int threads = limits->threads;
    memset(plan, 0, sizeof *plan);
    if (most_threads < threads)
        threads = 1 + (int)most_threads;
    plan->threads = threads;
    if (args->count > 1 && args->vstride == 1 && args->istride != 1 && args->n > 1 &&
        args->op != TILEMM__DOT) {
        plan_columns(args, limits, plan);
    } else if (threads > 1 && tiles >= 4 * (int64_t)threads && args->count < 8 * (int64_t)threads) {
        const int64_t most = (int64_t)(limits->workspace / sizeof(tilemm__sum_t)) / UNIT * UNIT;
        plan->method = TILEMM__REDUCE_TILES;
        plan->tiles = tilemm__min(tilemm__min(tilemm__round_up(tiles, UNIT), MOST_TILES), most);
        if (tilemm__op_is_order(args->op) || plan->tiles <= UNIT)
            plan->tiles = UNIT; /* on the stack */
        else
            plan->workspace = (size_t)plan->tiles * sizeof(tilemm__sum_t);
    } else {
        plan->method = TILEMM__REDUCE_VECTORS;
        plan->threads = (int)tilemm__min(threads, args->count);
    }
    return TILEMM_SUCCESS;
}

int tilemm__plan_segments_cpu(const tilemm__segments_args_t *args, const tilemm__limits_t *limits,
                              tilemm__segments_cpu_plan_t *plan)
{
    /* A segment costs about as much as 16 elements beside its own. */
    enum { SEGMENT_ELEMENTS = 16, GRAIN = 64, ALONE = 1 << 20 };
    const double elements = (double)args->offsets[args->segments] - (double)args->offsets[0];
    const double work = elements + (double)SEGMENT_ELEMENTS * (double)args->segments;
    plan->threads = work < (double)limits->tuning->segments_thread_elements ? 1 : limits->threads;
    plan->grain = tilemm__min(args->segments / plan->threads / GRAIN + 1, GRAIN);
    plan->alone = plan->threads > 1 ? (int64_t)ALONE : INT64_MAX;
    return TILEMM_SUCCESS;
}
