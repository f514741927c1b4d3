/* plan_cpu.c - which kernel transposes on the CPU, in which blocks, on how many threads.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "plan_cpu.h"

#include "kernels/transpose/cpu/kernels.h"
#include "kernels/transpose/inplace.h"
#include "lib/size.h"

/* Bytes read and written below which a thread more costs more than it brings. */
static const double bytes_per_thread = 512.0 * 1024;

static int vector_bytes(tilemm__isa_t isa)
{
    switch (isa) {
    case TILEMM__ISA_AMX:
    case TILEMM__ISA_AVX512: return 64;
    case TILEMM__ISA_AVX2: return 32;
    default: return 16;
    }
}

int tilemm__transpose_kind(const tilemm__transpose_args_t *args)
{
    int kind = 0;

    /* Multiplying by 1 is moving. */
    if (args->scaled && args->alpha != 1.0f)
        return TILEMM__TRANSPOSE_SCALED;
    while ((size_t)1 << kind < args->elem_size)
        kind++;
    return kind;
}

/* The least power of two that is not less than x. */
static int64_t power_of_two(int64_t x)
{
    int64_t power = 1;

    while (power < x)
        power *= 2;
    return power;
}

/* The side of the largest square block, a power of two, that fits into so many bytes. */
static int64_t block_side(size_t bytes, size_t elem_size)
{
    int64_t side = 256;

    while (side > 16 && (size_t)(side * side) * elem_size > bytes)
        side /= 2;
    return side;
}

static double bytes_moved(const tilemm__plan_transpose_cpu_t *plan, size_t elem_size)
{
    return 2.0 * (double)plan->rows * (double)plan->cols * (double)plan->batch_count *
           (double)elem_size;
}

/* What can be counted on to be near still: half of the last cache, but no more than a program has
 * of one that many cores, or several virtual machines, share. */
static double near_bytes(const tilemm__cpu_traits_t *traits)
{
    const size_t share = (size_t)64 << 20;

    return (double)(traits->l3_bytes / 2 < share ? traits->l3_bytes / 2 : share);
}

static void limit_threads(tilemm__plan_transpose_cpu_t *plan, double limit)
{
    if (plan->threads > limit)
        plan->threads = limit < 1 ? 1 : (int)limit;
}

/* Take `scratch` bytes for each thread, with fewer threads if need be; 0 if that is too much for
 * one, or if the stack will do. */
static void take_scratch(tilemm__plan_transpose_cpu_t *plan, size_t scratch, size_t workspace)
{
    scratch = (scratch + 63) / 64 * 64;
    if (scratch > TILEMM__TRANSPOSE_STACK && scratch <= workspace) {
        plan->scratch = scratch;
        limit_threads(plan, (double)(workspace / scratch));
    }
}

/* Rows that follow each other without a gap are one row; so are matrices of a batch. */
static void plan_copy(tilemm__plan_transpose_cpu_t *plan, size_t elem_size)
{
    if (plan->rows == 1 || (plan->ld_src == plan->cols && plan->ld_dst == plan->cols)) {
        plan->cols *= plan->rows;
        plan->rows = 1;
        plan->ld_src = plan->ld_dst = plan->cols;
    }
    limit_threads(plan, bytes_moved(plan, elem_size) / bytes_per_thread);
    /* Long pieces, so that memcpy can choose its method. */
    plan->block_cols = plan->cols;
    if (plan->rows * plan->batch_count < plan->threads)
        plan->block_cols = tilemm__div_up(plan->cols, plan->threads);
    plan->block_rows =
        tilemm__min(plan->rows, tilemm__div_up(65536, plan->block_cols * (int64_t)elem_size));
    plan->tile_rows = 1;
    limit_threads(plan, (double)tilemm__transpose_tasks(plan));
}

static void plan_simd(const tilemm__transpose_args_t *args, const tilemm__cpu_traits_t *traits,
                      size_t workspace, tilemm__plan_transpose_cpu_t *plan)
{
    const int64_t size = (int64_t)args->elem_size, vector = vector_bytes(traits->isa);
    const int64_t side = block_side(traits->l2_bytes / 16, args->elem_size);
    const int64_t line = 64 / size;
    /* Rows of the source that make long pieces, and fewer that make none. */
    enum { LINES_ROWS = 1024, LINES_LEAST = 512 };
    const int far = bytes_moved(plan, args->elem_size) > near_bytes(traits);
    int direct;
    size_t scratch;

    /* A thin matrix gets thin blocks of the same size. */
    plan->block_rows = plan->block_cols = side;
    if (plan->cols < side)
        plan->block_rows = side * (side / power_of_two(plan->cols));
    else if (plan->rows < side)
        plan->block_cols = side * (side / power_of_two(plan->rows));
    plan->block_rows = tilemm__min(plan->block_rows, plan->rows);
    plan->block_cols = tilemm__min(plan->block_cols, plan->cols);
    limit_threads(plan, bytes_moved(plan, args->elem_size) / bytes_per_thread);
    /* Blocks of a large matrix that are many for some threads and none for others. */
    while (plan->threads > 1 && tilemm__transpose_tasks(plan) < plan->threads &&
           (plan->block_rows > 4 * line || plan->block_cols > 4 * line)) {
        if (plan->block_rows >= plan->block_cols)
            plan->block_rows = tilemm__round_up(plan->block_rows / 2, line);
        else
            plan->block_cols = tilemm__round_up(plan->block_cols / 2, line);
    }
    /* What will not stay in the last cache anyway is written around it, if the result's rows are
     * all aligned alike: then they are aligned from row `head` of the source on. */
    if (far && (uintptr_t)args->dst % args->elem_size == 0 && plan->ld_dst * size % vector == 0 &&
        (plan->batch_count == 1 || args->stride_dst * size % vector == 0)) {
        plan->head = (int64_t)(-(uintptr_t)args->dst % 64) / size;
        plan->stream = plan->rows - plan->head >= 2 * line;
        if (!plan->stream)
            plan->head = 0;
    }
    /* A vector that is a whole cache line leaves no part of one behind, and tiles side by side read
     * whole lines. Then a block of a large matrix needs no copy if it fits the nearest cache. */
    direct = far && vector == 64 && plan->block_cols == side && plan->block_rows == side &&
             size >= (plan->stream ? 2 : 4);
    /* Where the result's rows are not aligned alike, long pieces of them are gathered first: whole
     * lines of those are written around the caches. */
    if (far && !plan->stream && vector >= 32 && size <= 4 && plan->rows >= LINES_LEAST) {
        const int64_t rows = tilemm__div_up(plan->rows, tilemm__div_up(plan->rows, LINES_ROWS));
        const int64_t cols = tilemm__min(plan->cols, 2 * line);

        scratch = (size_t)(cols * tilemm__transpose_block_ld(rows, args->elem_size) * size);
        take_scratch(plan, scratch, workspace);
        if (plan->scratch) {
            plan->lines = plan->along_rows = plan->ahead = 1;
            plan->block_rows = rows;
            plan->block_cols = cols;
            limit_threads(plan, (double)tilemm__transpose_tasks(plan));
            return;
        }
    }
    if (direct) {
        plan->along_rows = 1;
        plan->block_rows = size == 2 ? 512 : 64;
        plan->block_cols = size == 2 ? 64 : 4 * line;
    }
    if (direct && plan->stream && (uintptr_t)args->src % args->elem_size == 0 &&
        plan->ld_src % line == 0 && (plan->batch_count == 1 || args->stride_src % line == 0))
        plan->head_cols = (int64_t)(-(uintptr_t)args->src % 64) / size;
    if (plan->stream)
        plan->block_rows =
            tilemm__min(tilemm__round_up(plan->block_rows, line), plan->rows - plan->head);
    limit_threads(plan, (double)tilemm__transpose_tasks(plan));

    /* The hardware foresees neither the rows of a block nor the next block. */
    plan->ahead = far && plan->cols > plan->block_cols;

    /* Where rows are longer than a block's, reading the block once, row by row, keeps its rows
     * from evicting each other, and page by page what would be all pages at a time. */
    plan->buffered = !direct && plan->cols > plan->block_cols && plan->block_rows >= 32 &&
                     bytes_moved(plan, args->elem_size) > (double)traits->l2_bytes;
    if (plan->buffered) {
        scratch = (size_t)(plan->block_rows *
                           tilemm__transpose_block_ld(plan->block_cols, args->elem_size)) *
                  args->elem_size;
        take_scratch(plan, scratch, workspace);
        plan->buffered = plan->scratch || scratch <= TILEMM__TRANSPOSE_STACK;
    }
}

static void plan_swap(const tilemm__transpose_args_t *args, const tilemm__cpu_traits_t *traits,
                      size_t workspace, tilemm__plan_transpose_cpu_t *plan)
{
    const size_t size = args->elem_size;
    int64_t side = tilemm__min(block_side(traits->l2_bytes / 32, size), power_of_two(plan->rows));

    plan->method = TILEMM__TRANSPOSE_CPU_SWAP;
    limit_threads(plan, bytes_moved(plan, size) / bytes_per_thread);
    take_scratch(plan, (size_t)(2 * side * tilemm__transpose_block_ld(side, size)) * size,
                 workspace);
    while (!plan->scratch && (size_t)(2 * side * tilemm__transpose_block_ld(side, size)) * size >
                                 TILEMM__TRANSPOSE_STACK)
        side /= 2;
    plan->block_rows = plan->block_cols = side;
    limit_threads(plan, (double)tilemm__div_up(plan->rows, side));
}

/* Panels need room for one of them, and rows without gaps. Returns 0 if they cannot be. */
static int plan_panels(const tilemm__transpose_args_t *args, size_t workspace,
                       tilemm__plan_transpose_cpu_t *plan)
{
    const int forward = tilemm__inplace_forward(plan->rows, plan->cols);
    const int64_t m = forward ? plan->rows : plan->cols, n = forward ? plan->cols : plan->rows;
    const int64_t size = (int64_t)args->elem_size;
    int64_t run;

    if (args->ld_src != args->cols || args->ld_dst != args->rows || n * size < 64)
        return 0;
    for (run = TILEMM__TRANSPOSE_RUN; run >= 64; run /= 2) {
        const int64_t height = run / size, rest = m % height;
        const size_t rest_bytes = (size_t)tilemm__round_up(rest * n * size + 1, 64);
        const size_t panel =
            (size_t)(height * tilemm__transpose_block_ld(n, args->elem_size) * size);
        const size_t bits = (size_t)tilemm__div_up(m / height * n, 8);

        if (rest_bytes > workspace)
            continue;
        limit_threads(plan, bytes_moved(plan, args->elem_size) / bytes_per_thread);
        take_scratch(plan, panel > bits ? panel : bits, workspace - rest_bytes);
        if (!plan->scratch)
            continue;
        plan->method = TILEMM__TRANSPOSE_CPU_PANELS;
        plan->block_rows = height;
        plan->block_cols = n;
        plan->rest = rest;
        plan->rest_bytes = rest_bytes;
        plan->tile_rows = (int)height;
        return 1;
    }
    return 0;
}

static void plan_rectangle(const tilemm__transpose_args_t *args, size_t workspace,
                           tilemm__plan_transpose_cpu_t *plan)
{
    const int forward = tilemm__inplace_forward(plan->rows, plan->cols);
    const int64_t m = forward ? plan->rows : plan->cols, n = forward ? plan->cols : plan->rows;
    const size_t row = (size_t)n * args->elem_size, bits = (size_t)tilemm__div_up(m, 8);

    plan->method = forward ? TILEMM__TRANSPOSE_CPU_C2R : TILEMM__TRANSPOSE_CPU_R2C;
    plan->block_rows = TILEMM__PANEL_COLS;
    plan->block_cols = tilemm__min(n, tilemm__panel_cols(args->elem_size));
    plan->tile_rows = (int)plan->block_rows;
    plan->tile_cols = (int)tilemm__panel_cols(args->elem_size);
    limit_threads(plan, bytes_moved(plan, args->elem_size) / bytes_per_thread);
    take_scratch(plan, row > bits ? row : bits, workspace);
}

void tilemm__plan_transpose_cpu(const tilemm__transpose_args_t *args, int in_place,
                                const tilemm__cpu_traits_t *traits, int threads, size_t workspace,
                                tilemm__plan_transpose_cpu_t *plan)
{
    plan->kind = tilemm__transpose_kind(args);
    plan->threads = threads < 1 ? 1 : threads;
    plan->tile_rows = vector_bytes(traits->isa) / (int)args->elem_size;
    plan->tile_cols = 16 / (int)args->elem_size;
    plan->rows = args->rows;
    plan->cols = args->cols;
    plan->batch_count = args->batch_count;
    plan->ld_src = args->ld_src;
    plan->ld_dst = args->ld_dst;
    plan->block_rows = args->rows;
    plan->block_cols = args->cols;
    plan->buffered = 0;
    plan->stream = plan->lines = 0;
    plan->head = plan->head_cols = 0;
    plan->along_rows = 0;
    plan->ahead = 0;
    plan->scratch = 0;
    plan->rest = 0;
    plan->rest_bytes = 0;

    if (args->scaled && args->alpha == 0.0f) {
        plan->method = TILEMM__TRANSPOSE_CPU_FILL;
        if (args->trans) {
            plan->rows = args->cols;
            plan->cols = args->rows;
        }
        plan->ld_src = plan->ld_dst;
        plan_copy(plan, args->elem_size);
    } else if (in_place && (!args->trans || args->rows == 1 || args->cols == 1)) {
        plan->method = TILEMM__TRANSPOSE_CPU_MOVE;
        plan->ld_dst = plan->ld_src; /* scaled where they lie, then moved */
        plan_copy(plan, args->elem_size);
    } else if (in_place) {
        /* Not more than a few percent of the matrix, whatever there is. */
        const size_t few = (size_t)(args->rows * args->cols) * args->elem_size / 16;

        workspace = workspace < few ? workspace : few;
        if (args->rows == args->cols)
            plan_swap(args, traits, workspace, plan);
        else if (!plan_panels(args, workspace, plan))
            plan_rectangle(args, workspace, plan);
    } else if (!args->trans) {
        plan->method = TILEMM__TRANSPOSE_CPU_COPY;
        plan_copy(plan, args->elem_size);
    } else if ((args->rows == 1 && args->ld_dst == 1) || (args->cols == 1 && args->ld_src == 1)) {
        /* A vector that is contiguous both as a row and as a column. */
        plan->method = TILEMM__TRANSPOSE_CPU_COPY;
        plan->rows = 1;
        plan->cols = args->rows * args->cols;
        plan_copy(plan, args->elem_size);
    } else {
        plan->method = TILEMM__TRANSPOSE_CPU_SIMD;
        plan_simd(args, traits, workspace, plan);
    }
}

int64_t tilemm__transpose_row_blocks(const tilemm__plan_transpose_cpu_t *plan)
{
    return (plan->head > 0) + tilemm__div_up(plan->rows - plan->head, plan->block_rows);
}

int64_t tilemm__transpose_col_blocks(const tilemm__plan_transpose_cpu_t *plan)
{
    return (plan->head_cols > 0) + tilemm__div_up(plan->cols - plan->head_cols, plan->block_cols);
}

int64_t tilemm__transpose_tasks(const tilemm__plan_transpose_cpu_t *plan)
{
    return tilemm__transpose_row_blocks(plan) * tilemm__transpose_col_blocks(plan) *
           plan->batch_count;
}

const char *tilemm__transpose_method_name(tilemm__transpose_method_t method)
{
    static const char *const names[] = {"fill", "copy",   "simd", "move",
                                        "swap", "panels", "c2r",  "r2c"};

    return names[method];
}
