/* bench_crossovers.c - see bench_crossovers.h.
 *
 * Each constant stands between two kernels. Both are forced on problems of a size x, and the first
 * x at which the second kernel is faster is found by bisection; the constant follows from it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "bench_crossovers.h"

#include <stdio.h>

enum {
    LONG = 1 << 20,           /* the longer side of a narrow matrix */
    BATCH_ELEMENTS = 1 << 24, /* of a batch of small matrices */
    LANES = 32,               /* of a warp; also the columns that a warp sums */
    TILE = 1024,              /* elements of a reduction's tile */
    COLUMN = 4 * TILE,        /* elements of a few columns */
    LOW_COLUMN = 64,          /* elements of many low columns */
    SUM_MOST = 32,            /* x of the longest sum */
    LONGEST = 1 << 26,        /* elements of the other problems, at most */
    BUSY_THREADS = 64         /* threads that the device holds for each warp that it needs */
};

typedef struct {
    const gpu_traits_t *gpu;
    float *in, *out;
    int64_t x;
} problem_t;

static int64_t warps_of(const gpu_traits_t *gpu, int threads)
{
    return (int64_t)gpu->sm_count * (gpu->max_threads_per_sm / threads);
}

/* ---- problems -----------------------------------------------------------------------------------
 */

static int transpose(const machine_t *machine, const problem_t *p, int64_t rows, int64_t cols,
                     int64_t batch)
{
    return check_ours(machine, tilemm_transpose_strided_batched(
                                   machine->ctx, rows, cols, sizeof(float), p->in, cols,
                                   rows * cols, p->out, rows, rows * cols, batch));
}

static int low(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return transpose(machine, p, p->x, LONG, 1);
}

static int narrow(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return transpose(machine, p, LONG, p->x, 1);
}

static int square(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return transpose(machine, p, p->x, p->x, 1);
}

static int squares(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return transpose(machine, p, p->x, p->x, BATCH_ELEMENTS / (p->x * p->x));
}

static int search(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_ours(machine,
                      tilemm_ismax(machine->ctx, p->x * TILE, p->in, 1, (int64_t *)p->out));
}

/* x / 2 tiles for each busy warp. */
static int sum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const int64_t n = p->x * warps_of(p->gpu, BUSY_THREADS) / 2 * TILE;
    return check_ours(machine, tilemm_ssum(machine->ctx, n, p->in, 1, p->out));
}

static int columns(const machine_t *machine, const problem_t *p, int64_t rows)
{
    const int64_t cols = p->x * LANES;
    return check_ours(machine,
                      tilemm_sreduce(machine->ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR,
                                     rows, cols, p->in, cols, p->out, 1));
}

static int few_columns(const machine_t *machine, void *problem)
{
    return columns(machine, problem, COLUMN);
}

static int low_columns(const machine_t *machine, void *problem)
{
    return columns(machine, problem, LOW_COLUMN);
}

/* ---- constants ----------------------------------------------------------------------------------
 */

/* From the first x at which the kernel above is faster, and the last one at which it is not. */
static double first(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)gpu, (void)below;
    return (double)above;
}

static double last(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)gpu, (void)above;
    return (double)below;
}

static double last_half(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)gpu, (void)above;
    return (double)below / 2;
}

static double matrix_bytes(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)gpu, (void)above;
    return (double)(below * below) * sizeof(float);
}

static double tiles_for_each_sm(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)above;
    return (double)(below / 64 * (below / 64)) / gpu->sm_count;
}

static double elements(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)gpu, (void)above;
    return (double)below * TILE;
}

static double column_blocks(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)below;
    return (double)(above * (COLUMN / TILE)) / gpu->sm_count;
}

static double warps_for_each(const gpu_traits_t *gpu, int64_t above, int64_t below)
{
    (void)below;
    return (double)warps_of(gpu, LANES) / (double)above;
}

typedef struct {
    const char *constant;
    const char *below, *above; /* how the names of the two kernels begin */
    int64_t least, most, step; /* the sizes x between which the crossover is looked for */
    int (*run)(const machine_t *machine, void *problem);
    double (*value)(const gpu_traits_t *gpu, int64_t above, int64_t below);
} crossover_t;

static const crossover_t of_transposes[] = {
    {"strip_side", "transpose_narrow_sm75_32x128x4", "transpose_tile_sm75_64x64x4", 16, 60, 4, low,
     first},
    {"narrow_side", "transpose_strip_sm75_x4", "transpose_narrow_sm75_32x128x4", 2, 31, 1, low,
     first},
    {"gather_bytes", "transpose_gather_sm75_1x4x4", "transpose_strip_sm75_x4", 4, 64, 1, squares,
     matrix_bytes},
    {"gather_rows", "transpose_gather_sm75_1x4x4", "transpose_strip_sm75_x4", 2, 32, 1, low, last},
    {"gather_cols", "transpose_gather_sm75_1x4x4", "transpose_strip_sm75_x4", 2, 32, 1, narrow,
     last},
    {"small_tiles", "transpose_tile_sm75_32x32x4", "transpose_tile_sm75_64x64x4", 128, 4096, 64,
     square, tiles_for_each_sm},
};

static const crossover_t of_reductions[] = {
    {"search_block", "reduce_search_block", "reduce_search_tiles", 2, 64, 1, search, elements},
    {"split_tiles", "reduce_sum_split2", "reduce_sum_tiles", 2, SUM_MOST, 1, sum, last_half},
    {"split4_tiles", "reduce_sum_split4", "reduce_sum_split2", 1, 16, 1, sum, last_half},
    {"column_blocks", "reduce_sum_columns_sm75_32x16x32", "reduce_sum_columns_sm75_8x4x32", 8, 504,
     8, few_columns, column_blocks},
    {"narrow_columns", "reduce_sum_low_columns_sm75_4x4x32", "reduce_sum_low_columns_sm75_2x4x32",
     128, 8192, 128, low_columns, warps_for_each},
};

/* Print one constant. */
static void find(forced_t *at, problem_t *problem, const crossover_t *what)
{
    int64_t low_step = what->least / what->step, high_step = what->most / what->step + 1;

    while (low_step < high_step) { /* above is faster from high_step on */
        const int64_t middle = low_step + (high_step - low_step) / 2;
        double below, above;

        problem->x = middle * what->step;
        below = forced_cycles(at, what->below, TILEMM_MATH_FP32, what->run, problem);
        above = forced_cycles(at, what->above, TILEMM_MATH_FP32, what->run, problem);
        if (below < 0 && above < 0) {
            printf("    /* .%s: not measured on this device */\n", what->constant);
            return;
        }
        if (above >= 0 && (below < 0 || above < below))
            high_step = middle;
        else
            low_step = middle + 1;
    }
    printf("    .%s = %.0f,%s\n", what->constant,
           what->value(&at->gpu, high_step * what->step, (high_step - 1) * what->step),
           high_step * what->step > what->most ? " /* or more */" : "");
}

int bench_crossovers(forced_t *at)
{
    /* What the largest problem needs: the longest sum, or LONGEST elements. */
    const int64_t sum_elements = SUM_MOST * warps_of(&at->gpu, BUSY_THREADS) / 2 * TILE;
    const size_t bytes = (size_t)(sum_elements > LONGEST ? sum_elements : LONGEST) * sizeof(float);
    problem_t problem = {
        .gpu = &at->gpu, .in = forced_operand(at, bytes), .out = forced_operand(at, bytes)};
    const int is_ready = problem.in && problem.out;

    if (is_ready) {
        printf("/* %s: lib/transpose/cost_cuda.c, where two kernels are equally fast */\n",
               at->gpu.name);
        for (size_t i = 0; i < sizeof of_transposes / sizeof *of_transposes; i++)
            find(at, &problem, &of_transposes[i]);
        printf("/* %s: lib/reduce/cost_cuda.c, likewise */\n", at->gpu.name);
        for (size_t i = 0; i < sizeof of_reductions / sizeof *of_reductions; i++)
            find(at, &problem, &of_reductions[i]);
    }
    gpu_free(problem.in);
    gpu_free(problem.out);
    return is_ready ? 0 : command_error("not enough device memory to calibrate");
}
