/* run_columns.c - reductions on the CPU down the rows of a matrix: blocks of adjacent columns.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/size.h"
#include "passes_cpu.h"

enum {
    LANES = TILEMM__TILE_LANES,
    TILE = TILEMM__TILE_ELEMS,
    LEVELS = 12, /* above tiles */
    WIDTH = TILEMM__REDUCE_MAX_COLUMNS
};

/* Plain additions that a term passes in a tile, and in each fold above. */
enum { TILE_ADDITIONS = TILEMM__TILE_ROWS + 5, FOLD_ADDITIONS = 5 };

/* The larger of two numbers that are not negative; NaN is larger than any. */
static double larger_or_nan(double a, double b)
{
    return a > b || a != a ? a : b;
}

/* Levels of folds for `cols` columns. A level has 32 values of each column in `lanes`, one row of
 * `cols` after the other; there are as many levels as the vectors need. */
typedef struct {
    int64_t cols;
    int filled[LEVELS];
    double *lanes;
} levels_t;

/* Fold the 32 lanes of `cols` columns, a row of `cols` each; the first row gets the plain sums. */
static void fold_rows(int64_t cols, double *lanes)
{
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        double *restrict low = lanes;
        const double *restrict high = lanes + half * cols;
        for (int64_t j = 0; j < half * cols; j++)
            low[j] += high[j];
    }
}

/* Add one value of each column, from outside of the level. A full level is folded when the next
 * value comes, so the last level of a vector is not folded here. */
static void levels_add(levels_t *levels, int level, const double *values)
{
    const int64_t cols = levels->cols;
    double *lanes = levels->lanes + level * LANES * cols;
    if (levels->filled[level] == LANES) {
        fold_rows(cols, lanes);
        levels_add(levels, level + 1, lanes);
        levels->filled[level] = 0;
    }
    if (levels->filled[level] == 0)
        memset(lanes, 0, (size_t)(LANES * cols) * sizeof *lanes);
    memcpy(lanes + levels->filled[level]++ * cols, values, (size_t)cols * sizeof *lanes);
}

/* The results of columns whose terms were added plainly; `largest` is their largest magnitude.
 * Those that are not certain are summed again, one by one. */
static void store_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                          int64_t first, int64_t cols, const double *sums, const int64_t *counts,
                          double largest)
{
    int additions = TILE_ADDITIONS;
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        additions += FOLD_ADDITIONS;
    for (int64_t j = 0; j < cols; j++) {
        tilemm__total_t total = {
            {sums[j], 0}, largest * (double)args->n, counts ? counts[j] : args->n};
        if (!tilemm__sum_is_certain(args->op, &total, additions))
            total.sum = tilemm__sum_in_order(k, args, args->x + first + j, 1, 0, NULL);
        tilemm__store_sum(args, first + j, total.sum, total.count);
    }
}

/* The sums of the columns, once m > 0 values of each have been added to level 0. */
static const double *levels_finish(levels_t *levels, int64_t m)
{
    double *lanes = levels->lanes;
    fold_rows(levels->cols, lanes);
    for (int level = 1; m > LANES; level++) {
        levels_add(levels, level, lanes);
        lanes = levels->lanes + level * LANES * levels->cols;
        fold_rows(levels->cols, lanes);
        m = tilemm__fold_count(m);
    }
    return lanes;
}

/* The keys and, unless NULL, the places of `rows` rows of a block. */
static void search_block(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                         int64_t rows, int64_t cols, const float *x, int32_t *restrict keys,
                         int64_t *restrict places)
{
    enum { MAX_ROWS = 1 << 30 };
    const tilemm__order_t order = tilemm__order_of(args->op, args->nan_ignore);
    int32_t where[WIDTH];
    for (int64_t j = 0; j < cols; j++)
        keys[j] = TILEMM__KEY_NONE;
    for (int64_t start = 0; start < rows; start += MAX_ROWS) {
        const int64_t m = tilemm__min(rows - start, MAX_ROWS);
        for (int64_t j = 0; j < cols; j++)
            where[j] = -1;
        k->extreme_down(order, m, cols, x + start * args->istride, args->istride, keys,
                        places ? where : NULL);
        for (int64_t j = 0; places && j < cols; j++)
            if (start == 0 || where[j] >= 0)
                places[j] = start + where[j];
    }
}

static void search_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                           int64_t first, int64_t cols)
{
    int32_t keys[WIDTH];
    int64_t places[WIDTH] = {0};
    search_block(k, args, args->n, cols, args->x + first, keys, args->index_out ? places : NULL);
    for (int64_t j = 0; j < cols; j++)
        tilemm__store_key(args, first + j, keys[j], places[j]);
}

static void sum_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                        int64_t first, int64_t cols, double *lanes)
{
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    levels_t levels = {cols, {0}, lanes + LANES * cols};
    const double *sums = lanes;
    double largest = 0;
    int64_t counts[WIDTH] = {0};
    for (int64_t start = 0; start < args->n; start += TILE) {
        const int64_t m = tilemm__min(args->n - start, TILE);
        const float *x = args->x + first + start * args->istride;
        largest = larger_or_nan(
            largest, k->sum_down(args->op, args->nan_ignore, m, cols, x, args->istride, lanes));
        if (counted)
            k->count_down(m, cols, x, args->istride, counts);
        if (args->n > TILE)
            levels_add(&levels, 0, lanes);
    }
    if (args->n > TILE)
        sums = levels_finish(&levels, tilemm__tile_count(args->n));
    store_columns(k, args, first, cols, sums, counted ? counts : NULL, largest);
}

/* Partial results of rows: those of row block r of column j at [r * count + j]; the largest
 * magnitude in row block r of column block c at [r * blocks + c]. */
typedef struct {
    double *sums; /* of sums, or */
    int32_t *keys;
    int64_t *extras; /* counts, or places */
    double *largest;
} partials_t;

/* What every thread of a call needs to know. */
typedef struct {
    const tilemm__reduce_cpu_t *k;
    const tilemm__reduce_args_t *args;
    const tilemm__reduce_cpu_plan_t *plan;
    int64_t row_blocks, blocks; /* of columns */
    partials_t partials;
    char *lanes;  /* plan->lanes bytes for each thread */
    int64_t next; /* the next block that no thread has taken */
} job_t;

/* Take blocks until none is left, with the thread's `lanes`. */
static void take_columns(job_t *job, double *lanes)
{
    const tilemm__reduce_args_t *const args = job->args;
    const int64_t width = job->plan->width;
    for (int64_t i = take(&job->next, 1); i < job->blocks; i = take(&job->next, 1)) {
        const int64_t first = i * width, cols = tilemm__min(args->count - first, width);
        if (tilemm__op_is_order(args->op))
            search_columns(job->k, args, first, cols);
        else
            sum_columns(job->k, args, first, cols, lanes);
    }
}

/* Block i: rows of some columns. */
static void reduce_block(const job_t *job, int64_t i, double *lanes)
{
    const tilemm__reduce_cpu_t *const k = job->k;
    const tilemm__reduce_args_t *const args = job->args;
    const partials_t *const partials = &job->partials;
    const int64_t r = i / job->blocks, start = r * job->plan->rows;
    const int64_t first = i % job->blocks * job->plan->width;
    const int64_t rows = tilemm__min(args->n - start, job->plan->rows);
    const int64_t cols = tilemm__min(args->count - first, job->plan->width);
    const int64_t at = r * args->count + first;
    const float *x = args->x + first + start * args->istride;
    if (tilemm__op_is_order(args->op)) {
        int64_t *places = args->index_out ? partials->extras + at : NULL;
        search_block(k, args, rows, cols, x, partials->keys + at, places);
        for (int64_t j = 0; places && j < cols; j++)
            places[j] += start;
    } else {
        partials->largest[i] =
            k->sum_down(args->op, args->nan_ignore, rows, cols, x, args->istride, lanes);
        memcpy(partials->sums + at, lanes, (size_t)cols * sizeof *lanes);
        if (tilemm__sum_is_counted(args->op, args->nan_ignore)) {
            memset(partials->extras + at, 0, (size_t)cols * sizeof *partials->extras);
            k->count_down(rows, cols, x, args->istride, partials->extras + at);
        }
    }
}

/* The sums of block s of columns. */
static void join_sums(const job_t *job, int64_t s, double *lanes)
{
    const tilemm__reduce_args_t *const args = job->args;
    const partials_t *const partials = &job->partials;
    const int64_t first = s * job->plan->width;
    const int64_t cols = tilemm__min(args->count - first, job->plan->width);
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    levels_t levels = {cols, {0}, lanes};
    int64_t counts[WIDTH] = {0};
    double largest = 0;
    for (int64_t r = 0; r < job->row_blocks; r++) {
        largest = larger_or_nan(largest, partials->largest[r * job->blocks + s]);
        const int64_t at = r * args->count + first;
        levels_add(&levels, 0, partials->sums + at);
        for (int64_t j = 0; counted && j < cols; j++)
            counts[j] += partials->extras[at + j];
    }
    store_columns(job->k, args, first, cols, levels_finish(&levels, job->row_blocks),
                  counted ? counts : NULL, largest);
}

static void join_keys(const job_t *job, int64_t column)
{
    const tilemm__reduce_args_t *const args = job->args;
    const partials_t *const partials = &job->partials;
    int32_t best = TILEMM__KEY_NONE;
    int64_t place = 0;
    for (int64_t r = 0; r < job->row_blocks;
         r++) { /* the first of equal ones has the lowest place */
        const int64_t at = r * args->count + column;
        if (partials->keys[at] > best) {
            best = partials->keys[at];
            place = args->index_out ? partials->extras[at] : 0;
        }
    }
    tilemm__store_key(args, column, best, place);
}

static void take_column_blocks(job_t *job, thread_t me, double *lanes)
{
    const tilemm__reduce_args_t *const args = job->args;
    const int64_t all = job->row_blocks * job->blocks, width = job->plan->width;
    int64_t s, end;
    for (int64_t i = take(&job->next, 1); i < all; i = take(&job->next, 1))
        reduce_block(job, i, lanes);
    tilemm__meet(me);
    my_share(me, job->blocks, &s, &end);
    for (; s < end; s++) {
        if (!tilemm__op_is_order(args->op))
            join_sums(job, s, lanes);
        else
            for (int64_t j = s * width; j < tilemm__min(args->count, (s + 1) * width); j++)
                join_keys(job, j);
    }
}

static void run_share(job_t *job, thread_t me, double *lanes)
{
    if (job->plan->method == TILEMM__REDUCE_COLUMNS)
        take_columns(job, lanes);
    else
        take_column_blocks(job, me, lanes);
}

static __attribute__((noinline)) void run_on_stack(job_t *job, thread_t me)
{
    double lanes[TILEMM__REDUCE_STACK_LANES];
    run_share(job, me, lanes);
}

static void run_part(void *data, thread_t me)
{
    job_t *const job = data;
    if (job->plan->lanes)
        run_share(job, me, (double *)(void *)(job->lanes + (size_t)me.number * job->plan->lanes));
    else
        run_on_stack(job, me);
}

void tilemm__reduce_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace)
{
    job_t job = {.k = k,
                 .args = args,
                 .plan = plan,
                 .blocks = tilemm__div_up(args->count, plan->width),
                 .lanes = workspace};
    if (plan->method == TILEMM__REDUCE_COLUMN_BLOCKS) {
        void *const partials = job.lanes + (size_t)plan->threads * plan->lanes;
        job.row_blocks = tilemm__div_up(args->n, plan->rows);
        double *const largest = partials, *const values = largest + job.row_blocks * job.blocks;
        void *const keys = values; /* a search's, in the same place */
        job.partials =
            (partials_t){values, keys, (int64_t *)keys + job.row_blocks * args->count, largest};
    }
    tilemm__run_team(plan->threads, run_part, &job);
}
