/* plan_cpu.c - which kernel transposes on the CPU, in which blocks, on how many threads.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cpu.h"

#include "kernels/cpu.h"
#include "lib/size.h"

typedef tilemm__transpose_cpu_plan_t plan_t;
typedef tilemm__transpose_cpu_blocks_t blocks_t;

int tilemm__transpose_kind(const tilemm__transpose_args_t *args)
{
    /* Multiplying by 1 is moving. */
    return args->scaled && args->alpha != 1.0f ? TILEMM__TRANSPOSE_SCALED
                                               : __builtin_ctzll(args->elem_size);
}

/* The least power of two that is not less than x. */
static int64_t power_of_two(int64_t x)
{
    int64_t power = 1;
    while (power < x)
        power *= 2;
    return power;
}

/* The side of the largest square block, a power of two, that fits into `bytes`. */
static int64_t block_side(size_t bytes, size_t elem_size)
{
    int64_t side = 256;
    while (side > 16 && (size_t)(side * side) * elem_size > bytes)
        side /= 2;
    return side;
}

/* Bytes of a block in scratch. */
static size_t block_bytes(int64_t rows, int64_t cols, size_t elem_size)
{
    return (size_t)(rows * tilemm__transpose_block_ld(cols, elem_size)) * elem_size;
}

static double bytes_moved(const tilemm__transpose_args_t *args)
{
    return 2.0 * (double)args->rows * (double)args->cols * (double)args->batch_count *
           (double)args->elem_size;
}

static void limit_threads(plan_t *plan, double limit)
{
    if (plan->threads > limit)
        plan->threads = limit < 1 ? 1 : (int)limit;
}

/* Take `scratch` bytes of workspace for each thread, with fewer threads if need be; none if one
 * thread's are too many, or if the stack has room. Returns whether there is room. */
static int take_scratch(plan_t *plan, size_t scratch, size_t workspace)
{
    scratch = (scratch + 63) / 64 * 64;
    if (scratch > TILEMM__TRANSPOSE_STACK && scratch <= workspace) {
        plan->scratch = scratch;
        limit_threads(plan, (double)(workspace / scratch));
    }
    return plan->scratch || scratch <= TILEMM__TRANSPOSE_STACK;
}

/* FILL, COPY or MOVE. Rows without gaps between them are one row. */
static void plan_copy(const tilemm__transpose_args_t *args, plan_t *plan)
{
    blocks_t *b = &plan->blocks;
    if (b->rows == 1 || (b->ld_src == b->cols && b->ld_dst == b->cols)) {
        b->cols *= b->rows;
        b->rows = 1;
        b->ld_src = b->ld_dst = b->cols;
    }
    /* Long pieces, so that memcpy can choose its method. */
    b->block_cols = b->cols;
    if (b->rows * b->batch_count < plan->threads)
        b->block_cols = tilemm__div_up(b->cols, plan->threads);
    b->block_rows =
        tilemm__min(b->rows, tilemm__div_up(65536, b->block_cols * (int64_t)args->elem_size));
    plan->tile_rows = 1;
    limit_threads(plan, (double)tilemm__transpose_tasks(b));
}

/* Blocks for `lines`: pieces of a quarter of a kilobyte and more of the result's rows, gathered in
 * a part of L2. So much is read of each row of the source that the hardware finds out what comes
 * next. Returns 0 where rows of the result are too short, or workspace is. */
static int plan_lines(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                      plan_t *plan)
{
    enum { PIECE = 256, HIGH = 128, LEAST = 1024, TASKS = 4 };
    const int64_t size = (int64_t)args->elem_size, line = 64 / size;
    /* Where processors are halves of cores, two threads share an L2. */
    const int64_t elements =
        limits->tuning->transpose_block_bytes / size / (plan->threads > 2 ? 2 : 1);
    blocks_t *b = &plan->blocks;
    int64_t rows = tilemm__min(HIGH, PIECE / size), cols = tilemm__max(elements / rows, line);
    if (b->rows * size < PIECE)
        return 0;
    /* Many threads want many blocks. */
    while (plan->threads > 1 && cols * size > LEAST &&
           tilemm__div_up(b->rows, rows) * tilemm__div_up(b->cols, cols) * b->batch_count <
               TASKS * plan->threads)
        cols /= 2;
    if (b->cols < cols)
        rows = elements / b->cols;
    b->block_rows = tilemm__even_size(b->rows, rows, line);
    b->block_cols = tilemm__min(b->cols, cols);
    b->lines = take_scratch(plan, block_bytes(b->block_cols, b->block_rows, args->elem_size),
                            limits->workspace);
    return b->lines;
}

static void plan_simd(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                      plan_t *plan)
{
    const int64_t size = (int64_t)args->elem_size, line = 64 / size;
    const int64_t side = block_side(limits->cpu->l2_bytes / 16, args->elem_size);
    blocks_t *b = &plan->blocks;
    /* Of many threads each brings an L2, in which its part of both matrices may lie. Single bytes
     * make many more accesses of a line, each of which may find it gone. */
    const int64_t far_bytes = limits->tuning->transpose_far_bytes;
    const int64_t of_each = tilemm__min(far_bytes, (int64_t)limits->cpu->l2_bytes / 2);
    const double near_bytes =
        (double)far_bytes + (double)of_each * tilemm__max(plan->threads - 2, 0);
    const int far = bytes_moved(args) > near_bytes * (size == 1 ? 0.75 : 1);
    /* Tiles of short elements read a part of a line of 32 or 64 rows, and then the next part: not
     * from the first cache, if those rows share few of its sets. */
    enum { TALL = 256, ALIASED = 1024 };
    const int aliased = size <= 2 && b->ld_src % ALIASED == 0;
    const int beyond_l2 = bytes_moved(args) > (double)limits->cpu->l2_bytes;
    /* Where both matrices lie in the last cache, tall blocks write long pieces of the result's rows
     * straight from the source. */
    const int tall = beyond_l2 && !far && !aliased && b->rows >= TALL && b->cols >= 4 * line;
    if (far && plan_lines(args, limits, plan)) {
        limit_threads(plan, (double)tilemm__transpose_tasks(b));
        return;
    }
    /* A skinny matrix gets skinny blocks of the same size. */
    b->block_rows = b->block_cols = side;
    if (tall) {
        b->block_rows = TALL;
        b->block_cols = (size <= 2 ? 2 : 4) * line;
    } else if (b->cols < side)
        b->block_rows = side * (side / power_of_two(b->cols));
    else if (b->rows < side)
        b->block_cols = side * (side / power_of_two(b->rows));
    b->block_rows = tilemm__min(b->block_rows, b->rows);
    b->block_cols = tilemm__min(b->block_cols, b->cols);
    /* Blocks of a large matrix that are many for some threads and none for others. */
    while (plan->threads > 1 && tilemm__transpose_tasks(b) < plan->threads &&
           (b->block_rows > 4 * line || b->block_cols > 4 * line)) {
        if (b->block_rows >= b->block_cols)
            b->block_rows = tilemm__round_up(b->block_rows / 2, line);
        else
            b->block_cols = tilemm__round_up(b->block_cols / 2, line);
    }
    limit_threads(plan, (double)tilemm__transpose_tasks(b));
    /* Where rows are longer than a block's, a copy of the block, made row by row, keeps its rows
     * from evicting each other, and reads one page at a time. */
    b->buffered = !tall && beyond_l2 && b->cols > b->block_cols && b->block_rows >= 32 &&
                  take_scratch(plan, block_bytes(b->block_rows, b->block_cols, args->elem_size),
                               limits->workspace);
}

static void plan_swap(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                      size_t workspace, plan_t *plan)
{
    const size_t size = args->elem_size;
    int64_t side =
        tilemm__min(block_side(limits->cpu->l2_bytes / 32, size), power_of_two(args->rows));
    plan->method = TILEMM__TRANSPOSE_CPU_SWAP;
    take_scratch(plan, 2 * block_bytes(side, side, size), workspace);
    while (!plan->scratch && 2 * block_bytes(side, side, size) > TILEMM__TRANSPOSE_STACK)
        side /= 2;
    plan->swap.side = side;
    limit_threads(plan, (double)tilemm__div_up(args->rows, side));
}

/* Slabs need room for one of them, and rows without gaps. Returns 0 if they cannot be. */
static int plan_slabs(const tilemm__transpose_args_t *args, size_t workspace, plan_t *plan)
{
    const int forward = tilemm__inplace_forward(args->rows, args->cols);
    const int64_t m = forward ? args->rows : args->cols, n = forward ? args->cols : args->rows;
    const int64_t size = (int64_t)args->elem_size;
    if (args->ld_src != args->cols || args->ld_dst != args->rows || n * size < 64)
        return 0;
    for (int64_t run = TILEMM__TRANSPOSE_RUN; run >= 64; run /= 2) {
        const int64_t height = run / size, fringe = m % height;
        const size_t fringe_bytes = (size_t)tilemm__round_up(fringe * n * size + 1, 64);
        const size_t slab = block_bytes(height, n, args->elem_size);
        const size_t bits = (size_t)tilemm__div_up(m / height * n, 8);
        if (fringe_bytes > workspace)
            continue;
        take_scratch(plan, slab > bits ? slab : bits, workspace - fringe_bytes);
        if (!plan->scratch)
            continue;
        plan->method = TILEMM__TRANSPOSE_CPU_SLABS;
        plan->slabs = (tilemm__transpose_cpu_slabs_t){forward, m, n, height, fringe};
        plan->workspace = fringe_bytes;
        plan->tile_rows = (int)height;
        return 1;
    }
    return 0;
}

/* By the extended Euclidean algorithm. x is always {r, s, t} with r = s m + t n, and likewise y. In
 * the end r is the greatest common divisor c, and s a + t b = 1: the inverses are s and t. */
void tilemm__inplace_init(tilemm__inplace_t *view, int64_t m, int64_t n)
{
    int64_t x[3] = {m, 1, 0}, y[3] = {n, 0, 1};
    while (y[0]) {
        const int64_t quotient = x[0] / y[0];
        for (int i = 0; i < 3; i++) {
            const int64_t rest = x[i] - quotient * y[i];
            x[i] = y[i];
            y[i] = rest;
        }
    }
    *view = (tilemm__inplace_t){.m = m, .n = n, .a = m / x[0], .b = n / x[0], .c = x[0]};
    view->a_inv = x[1] < 0 ? x[1] + view->b : x[1];
    view->b_inv = x[2] < 0 ? x[2] + view->a : x[2];
}

static void plan_cycles(const tilemm__transpose_args_t *args, size_t workspace, plan_t *plan)
{
    const int forward = tilemm__inplace_forward(args->rows, args->cols);
    const int64_t m = forward ? args->rows : args->cols, n = forward ? args->cols : args->rows;
    const size_t row = (size_t)n * args->elem_size, bits = (size_t)tilemm__div_up(m, 8);
    plan->method = forward ? TILEMM__TRANSPOSE_CPU_C2R : TILEMM__TRANSPOSE_CPU_R2C;
    tilemm__inplace_init(&plan->cycles.view, m, n);
    plan->cycles.cols = tilemm__min(n, tilemm__skew_cols(args->elem_size));
    plan->tile_rows = TILEMM__SKEW_COLS;
    plan->tile_cols = (int)tilemm__skew_cols(args->elem_size);
    take_scratch(plan, row > bits ? row : bits, workspace);
}

/* ---- the plans ---------------------------------------------------------------------------- */

/* What all methods begin with. */
static void plan_start(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                       plan_t *plan)
{
    const int size = (int)args->elem_size;
    *plan = (plan_t){
        .kind = tilemm__transpose_kind(args),
        .threads = limits->threads < 1 ? 1 : limits->threads,
        .tile_rows = limits->kernels->transpose->vector_bytes / size,
        .tile_cols = 16 / size,
        .blocks = {.rows = args->rows,
                   .cols = args->cols,
                   .batch_count = args->batch_count,
                   .ld_src = args->ld_src,
                   .ld_dst = args->ld_dst},
    };
    limit_threads(plan, bytes_moved(args) / (double)limits->tuning->transpose_thread_bytes);
}

static void plan_fill(const tilemm__transpose_args_t *args, plan_t *plan)
{
    plan->method = TILEMM__TRANSPOSE_CPU_FILL;
    if (args->trans) {
        plan->blocks.rows = args->cols;
        plan->blocks.cols = args->rows;
    }
    plan->blocks.ld_src = plan->blocks.ld_dst;
    plan_copy(args, plan);
}

int tilemm__plan_transpose_cpu(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                               tilemm__transpose_cpu_plan_t *plan)
{
    plan_start(args, limits, plan);
    if (args->scaled && args->alpha == 0.0f) {
        plan_fill(args, plan);
    } else if (!args->trans) {
        plan->method = TILEMM__TRANSPOSE_CPU_COPY;
        plan_copy(args, plan);
    } else if ((args->rows == 1 && args->ld_dst == 1) || (args->cols == 1 && args->ld_src == 1)) {
        /* A vector, contiguous as a row and as a column. */
        plan->method = TILEMM__TRANSPOSE_CPU_COPY;
        plan->blocks.rows = 1;
        plan->blocks.cols = args->rows * args->cols;
        plan_copy(args, plan);
    } else {
        plan->method = TILEMM__TRANSPOSE_CPU_SIMD;
        plan_simd(args, limits, plan);
    }
    plan->workspace = (size_t)plan->threads * plan->scratch;
    return TILEMM_SUCCESS;
}

int tilemm__plan_transpose_inplace_cpu(const tilemm__transpose_args_t *args,
                                       const tilemm__limits_t *limits,
                                       tilemm__transpose_cpu_plan_t *plan)
{
    /* At most a few percent of the matrix. */
    const size_t few = (size_t)(args->rows * args->cols) * args->elem_size / 16;
    const size_t workspace = limits->workspace < few ? limits->workspace : few;
    plan_start(args, limits, plan);
    if (args->scaled && args->alpha == 0.0f) {
        plan_fill(args, plan);
    } else if (!args->trans || args->rows == 1 || args->cols == 1) {
        plan->method = TILEMM__TRANSPOSE_CPU_MOVE;
        plan->blocks.ld_dst = plan->blocks.ld_src; /* scaled where they lie, then moved */
        plan_copy(args, plan);
    } else if (args->rows == args->cols) {
        plan_swap(args, limits, workspace, plan);
    } else if (!plan_slabs(args, workspace, plan)) {
        plan_cycles(args, workspace, plan);
    }
    plan->workspace += (size_t)plan->threads * plan->scratch;
    return TILEMM_SUCCESS;
}

int64_t tilemm__transpose_row_blocks(const tilemm__transpose_cpu_blocks_t *b)
{
    return tilemm__div_up(b->rows, b->block_rows);
}

int64_t tilemm__transpose_tasks(const tilemm__transpose_cpu_blocks_t *b)
{
    return tilemm__transpose_row_blocks(b) * tilemm__div_up(b->cols, b->block_cols) *
           b->batch_count;
}

const char *tilemm__transpose_method_name(tilemm__transpose_cpu_method_t method)
{
    static const char *const names[] = {"fill", "copy",  "simd", "move",
                                        "swap", "slabs", "c2r",  "r2c"};
    return names[method];
}
