/* bench_crossovers.c - the sizes at which two kernels are equally fast, for `bench --calibrate`.
 *
 * Each constant stands between two kernels. Both are forced on problems of a size x, and the first
 * x at which the second kernel is faster is found by bisection; the constant follows from it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "bench_forced.h"

enum {
    LONG = 1 << 20,           /* the longer side of a narrow matrix */
    BATCH_ELEMENTS = 1 << 24, /* of a batch of small matrices */
    LANES = 32,               /* of a warp; also the columns that a warp sums */
    TILE = 1024,              /* elements of a reduction's tile */
    LOW_COLUMN = 128,         /* elements of many low columns */
    TALLER_COLUMN = 256,      /* of taller ones */
    SUM_MOST = 32,            /* x of the longest sum */
    LONGEST = 1 << 26,        /* elements of the other problems, at most */
    BUSY_THREADS = 64         /* threads that the device holds for each warp that it needs */
};

/* Shapes of a problem of size x. */
typedef enum {
    LOW,            /* transpose of x rows of LONG */
    NARROW,         /* of LONG rows of x */
    SQUARE,         /* of x rows of x */
    SQUARES,        /* of a batch of these */
    SEARCH,         /* position of the maximum of x tiles */
    SUM,            /* of x / 2 tiles for each busy warp */
    TALLER_COLUMNS, /* sums of x columns for each lane of a warp */
    LOW_COLUMNS
} shape_t;

typedef struct {
    int64_t busy_warps;
    float *in;
    void *out;
    shape_t shape;
    int64_t x;
} problem_t;

static int64_t warps_of(const gpu_traits_t *gpu, int threads)
{
    return (int64_t)gpu->sm_count * (gpu->max_threads_per_sm / threads);
}

static tilemm_status_t transpose(tilemm_t ctx, const problem_t *p, int64_t rows, int64_t cols,
                                 int64_t batch)
{
    return tilemm_transpose_strided_batched(ctx, rows, cols, sizeof(float), p->in, cols,
                                            rows * cols, p->out, rows, rows * cols, batch);
}

static tilemm_status_t sum_columns(tilemm_t ctx, const problem_t *p, int64_t rows)
{
    const int64_t cols = p->x * LANES;
    return tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, rows, cols, p->in,
                          cols, p->out, 1);
}

static tilemm_status_t compute(tilemm_t ctx, const problem_t *p)
{
    const int64_t x = p->x;
    switch (p->shape) {
    case LOW: return transpose(ctx, p, x, LONG, 1);
    case NARROW: return transpose(ctx, p, LONG, x, 1);
    case SQUARE: return transpose(ctx, p, x, x, 1);
    case SQUARES: return transpose(ctx, p, x, x, BATCH_ELEMENTS / (x * x));
    case SEARCH: return tilemm_ismax(ctx, x * TILE, p->in, 1, p->out);
    case SUM: return tilemm_ssum(ctx, x * p->busy_warps / 2 * TILE, p->in, 1, p->out);
    case TALLER_COLUMNS: return sum_columns(ctx, p, TALLER_COLUMN);
    default: return sum_columns(ctx, p, LOW_COLUMN);
    }
}

static int run(const machine_t *machine, void *problem)
{
    return check_ours(machine, compute(machine->ctx, problem));
}

/* What a constant is. */
typedef enum {
    FIRST, /* an x */
    LAST,
    HALF_OF_LAST,
    MATRIX_BYTES,
    TILES_FOR_EACH_SM, /* of 64 x 64 elements */
    BUSY_WARPS,        /* for each tile */
    COLUMN_BLOCKS,     /* of 32 columns, for each multiprocessor */
    WARPS_FOR_EACH     /* of the columns */
} unit_t;

/* From the first x at which the kernel above is faster, and the last one at which it is not. */
static double constant_of(unit_t unit, const gpu_traits_t *gpu, int64_t first, int64_t last)
{
    switch (unit) {
    case FIRST: return (double)first;
    case LAST: return (double)last;
    case HALF_OF_LAST: return (double)last / 2;
    case MATRIX_BYTES: return (double)(last * last) * sizeof(float);
    case TILES_FOR_EACH_SM: return (double)(last / 64 * (last / 64)) / gpu->sm_count;
    case BUSY_WARPS: return (double)warps_of(gpu, BUSY_THREADS) / (double)last;
    case COLUMN_BLOCKS: return (double)first / gpu->sm_count;
    default: return (double)warps_of(gpu, LANES) / (double)first;
    }
}

typedef struct {
    const char *constant;
    const char *below, *above; /* how the names of the two kernels begin */
    int64_t least, most, step; /* the sizes x between which the crossover is looked for */
    shape_t shape;
    unit_t unit;
    const char *heading; /* printed before it, or NULL */
} crossover_t;

static const crossover_t crossovers[] = {
    {"short_side", "transpose_narrow_sm75_32x128x4", "transpose_tile_sm75_64x64x4", 16, 60, 4, LOW,
     FIRST, "lib/transpose/cost_cuda.c, where two kernels are equally fast"},
    {"gather_bytes[0]", "transpose_gather_sm75_1x4x4", "transpose_narrow_sm75_128x32x4", 4, 64, 1,
     SQUARES, MATRIX_BYTES, NULL},
    {"gather_rows[0]", "transpose_gather_sm75_1x4x4", "transpose_narrow_sm75_16x256x4", 2, 32, 1,
     LOW, LAST, NULL},
    {"gather_cols", "transpose_gather_sm75_1x4x4", "transpose_narrow_sm75_256x16x4", 2, 32, 1,
     NARROW, LAST, NULL},
    {"small_tiles", "transpose_tile_sm75_32x32x4", "transpose_tile_sm75_64x64x4", 128, 4096, 64,
     SQUARE, TILES_FOR_EACH_SM, NULL},
    {"held_warps", "reduce_search_held", "reduce_search_tiles", 128, 8192, 128, SEARCH, BUSY_WARPS,
     "lib/reduce/cost_cuda.c, likewise"},
    {"split_tiles", "reduce_sum_split2", "reduce_sum_tiles", 2, SUM_MOST, 1, SUM, HALF_OF_LAST,
     NULL},
    {"split4_tiles", "reduce_sum_split4", "reduce_sum_split2", 1, 16, 1, SUM, HALF_OF_LAST, NULL},
    {"column_blocks", "reduce_sum_columns_sm75_8x4x32", "reduce_sum_low_columns_sm75_4x8x32", 256,
     4096, 128, TALLER_COLUMNS, COLUMN_BLOCKS, NULL},
    {"narrow_columns", "reduce_sum_low_columns_sm75_4x4x32", "reduce_sum_low_columns_sm75_2x4x32",
     128, 8192, 128, LOW_COLUMNS, WARPS_FOR_EACH, NULL},
};

/* Print one constant. */
static void find(forced_t *at, problem_t *problem, const crossover_t *what)
{
    int64_t low_step = what->least / what->step, high_step = what->most / what->step + 1;
    problem->shape = what->shape;
    while (low_step < high_step) { /* above is faster from high_step on */
        const int64_t middle = low_step + (high_step - low_step) / 2;
        problem->x = middle * what->step;
        const double below = forced_cycles(at, what->below, TILEMM_MATH_FP32, run, problem);
        const double above = forced_cycles(at, what->above, TILEMM_MATH_FP32, run, problem);
        if (below < 0 && above < 0) {
            printf("    /* .%s: not measured on this device */\n", what->constant);
            return;
        }
        if (above >= 0 && (below < 0 || above < below))
            high_step = middle;
        else
            low_step = middle + 1;
    }
    const int64_t first = high_step * what->step;
    printf("    .%s = %.0f,%s\n", what->constant,
           constant_of(what->unit, &at->gpu, first, first - what->step),
           first > what->most ? " /* or more */" : "");
}

int bench_crossovers(forced_t *at)
{
    /* What the largest problem needs: the longest sum, or LONGEST elements. */
    const int64_t busy_warps = warps_of(&at->gpu, BUSY_THREADS);
    const int64_t elements = tilemm__max(SUM_MOST * busy_warps / 2 * TILE, LONGEST);
    const size_t bytes = (size_t)elements * sizeof(float);
    problem_t problem = {busy_warps, forced_operand(at, bytes), forced_operand(at, bytes), LOW, 0};
    const int is_ready = problem.in && problem.out;
    for (int i = 0; is_ready && i < COUNT_OF(crossovers); i++) {
        if (crossovers[i].heading)
            printf("/* %s: %s */\n", at->gpu.name, crossovers[i].heading);
        find(at, &problem, &crossovers[i]);
    }
    gpu_free(problem.in);
    gpu_free(problem.out);
    return is_ready ? 0 : command_error("not enough device memory to calibrate");
}
