/* plan_cuda.c - which kernels reduce vectors and segments on a GPU, one after the other.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <string.h>

#include "cost_cuda.h"
#include "lib/size.h"

enum { LANES = TILEMM__TILE_LANES, WARPS = TILEMM__REDUCE_WARPS, THREADS = WARPS * LANES };

/* ---- rows ------------------------------------------------------------------------------- */

const tilemm__reduce_row_t tilemm__reduce_rows[] = {
#define ROW(name, kernel, cc, ...) {#name, TILEMM__##kernel, cc, {__VA_ARGS__}},
    TILEMM__REDUCE_ROWS(ROW)
#undef ROW
};

static const tilemm__reduce_row_t *const rows = tilemm__reduce_rows;
static const tilemm__reduce_cuda_cost_t *const cost = &tilemm__reduce_cuda_cost;

enum { ANY = -1 };

/* The first row of a kernel whose first template arguments are these. */
static int find_row(tilemm__reduce_kernel_t kernel, int first, int second, int third)
{
    const int wanted[] = {first, second, third};
    for (int i = 0; i < TILEMM__REDUCE_ROW_COUNT; i++) {
        int fits = rows[i].kernel == kernel;
        for (int j = 0; j < 3; j++)
            fits = fits && (wanted[j] == ANY || wanted[j] == rows[i].facets[1 + j]);
        if (fits)
            return i;
    }
    return 0; /* never */
}

/* Make a launch of this row, with the threads that most kernels have. */
static void set_row(tilemm__reduce_launch_t *launch, int row, const tilemm__cuda_traits_t *traits)
{
    launch->variant = row;
    launch->kernel = rows[row].kernel;
    launch->threads = THREADS;
    launch->cluster = 1;
    launch->concurrent = rows[row].facets[0] && traits->cc >= 90;
}

static int begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* ---- sizes of launches ------------------------------------------------------------------ */

/* Blocks of a kernel that loops, so that a grid of any size does. */
static int64_t looped(int64_t blocks)
{
    return tilemm__min(blocks, INT32_MAX);
}

static int64_t blocks_of(const tilemm__reduce_launch_t *l, int64_t vectors)
{
    const int *facets = rows[l->variant].facets + 1;
    switch (l->kernel) {
    case TILEMM__SUM_TILES:
        return tilemm__div_up(vectors * l->items, l->threads / LANES / l->warps);
    case TILEMM__SUM_SPLIT: return vectors * l->items * facets[2];
    case TILEMM__SEARCH_TILES: return tilemm__div_up(vectors * l->items, WARPS / l->warps);
    case TILEMM__SUM_SHORT:
    case TILEMM__SEARCH_SHORT: return looped(tilemm__div_up(vectors, (int64_t)facets[0] * WARPS));
    case TILEMM__SEARCH_HELD: return vectors * l->items;
    case TILEMM__SUM_CLUSTER:
    case TILEMM__SEARCH_CLUSTER: return vectors * TILEMM__REDUCE_CLUSTER;
    case TILEMM__SINGLE: return tilemm__div_up(vectors, TILEMM__REDUCE_SINGLE_VECTORS * THREADS);
    case TILEMM__SUM_COLUMNS: return l->tiles * l->columns * facets[3];
    case TILEMM__SUM_NARROW: return l->tiles;
    case TILEMM__SUM_TWO_TILES:
    case TILEMM__SUM_LOW_COLUMNS: return l->columns;
    case TILEMM__SEARCH_COLUMNS: return l->tiles * l->columns;
    case TILEMM__SUM_FEW_ROWS:
    case TILEMM__SEARCH_FEW_ROWS:
        return tilemm__min(tilemm__div_up(vectors, TILEMM__REDUCE_FEW_THREADS), l->most_blocks);
    case TILEMM__PARTIALS_TILES: return looped(tilemm__div_up(vectors * l->tiles, WARPS));
    case TILEMM__PARTIALS_SHORT: return tilemm__div_up(vectors, LANES / l->group * WARPS);
    case TILEMM__PARTIALS_TRANSPOSED:
        return tilemm__div_up(vectors, TILEMM__REDUCE_TRANSPOSED_THREADS);
    default: return looped(vectors);
    }
}

void tilemm__size_reduce_launch(tilemm__reduce_launch_t *launch, int64_t vectors, int64_t length)
{
    launch->args.count = vectors;
    if (launch->kernel < TILEMM__PARTIALS_TILES)
        launch->args.n = length;
    launch->length = length;
    launch->tiles = tilemm__tile_count(length);
    launch->columns = tilemm__div_up(vectors, TILEMM__DOWN_COLS);
    if (launch->kernel == TILEMM__SUM_TILES)
        launch->items = tilemm__div_up(launch->tiles, launch->item_tiles);
    else if (launch->kernel == TILEMM__SUM_SPLIT)
        launch->items = tilemm__div_up(launch->tiles, TILEMM__REDUCE_FOLD_TILES);
    else if (launch->kernel == TILEMM__SEARCH_HELD)
        launch->items = tilemm__div_up(launch->tiles, WARPS);
    for (launch->group = 1; launch->group < LANES && launch->group < length;)
        launch->group *= 2;
    launch->blocks = blocks_of(launch, vectors);
}

/* ---- the kernel that reads the elements ------------------------------------------------- */

typedef struct {
    const tilemm__reduce_args_t *args;
    const tilemm__cuda_traits_t *traits;
    int is_search, is_dot, is_unit, is_columns;
    int64_t tiles;    /* of a vector */
    int64_t warps;    /* that keep the device's memory busy */
    int64_t partials; /* that the workspace holds */
} problem_t;

/* Warps that the device holds. */
static int64_t resident_warps(const tilemm__cuda_traits_t *traits)
{
    return (int64_t)traits->sm_count * (traits->max_threads_per_sm / LANES);
}

/* Whether `items` items of each vector may be left in splits: the workspace must hold them, and the
 * next step must be a block for each vector. */
static int can_split(const problem_t *p, int64_t items)
{
    return p->args->count <= p->traits->sm_count && items <= TILEMM__TILE_ELEMS &&
           items * p->args->count * TILEMM__REDUCE_SPLITS <= p->partials;
}

/* The most vectors of this length that fill the 32 rows of a warp, a power of two. */
static int vectors_of_warp(int64_t length)
{
    int vectors = 1;
    while (vectors < LANES && 2 * vectors * length <= TILEMM__TILE_ELEMS)
        vectors *= 2;
    return vectors;
}

static int can_run(const problem_t *p, const tilemm__reduce_row_t *row)
{
    const int64_t n = p->args->n;
    const int *facets = row->facets + 1;
    if (row->cc > p->traits->cc)
        return 0;
    switch (row->kernel) {
    case TILEMM__SUM_TILES:
        return !p->is_search && facets[0] == p->is_dot && (p->is_unit || !facets[1]);
    case TILEMM__SUM_SPLIT:
        return !p->is_search && facets[0] == p->is_dot && (p->is_unit || !facets[1]) &&
               p->tiles > 1 && can_split(p, tilemm__div_up(p->tiles, TILEMM__REDUCE_FOLD_TILES));
    case TILEMM__SUM_CLUSTER:
        return !p->is_search && facets[0] == p->is_dot && p->is_unit &&
               p->tiles <= TILEMM__REDUCE_CLUSTER * WARPS;
    case TILEMM__SUM_SHORT:
        return !p->is_search && !p->is_dot && n <= TILEMM__TILE_ELEMS / facets[0];
    case TILEMM__SUM_BLOCK: return !p->is_search && facets[0] == p->is_dot && n > 0;
    case TILEMM__SINGLE: return n == 1 && !p->is_dot;
    case TILEMM__SEARCH_TILES: return p->is_search && facets[0] == !!p->args->nan_ignore;
    case TILEMM__SEARCH_SHORT: return p->is_search && n <= TILEMM__TILE_ELEMS / facets[0];
    case TILEMM__SEARCH_BLOCK: return p->is_search && n > 0;
    case TILEMM__SEARCH_HELD: return p->is_search && p->tiles > 1;
    case TILEMM__SEARCH_CLUSTER:
        return p->is_search && n > 0 && p->tiles <= TILEMM__REDUCE_CLUSTER * WARPS;
    case TILEMM__SUM_COLUMNS:
        return p->is_columns && !p->is_search &&
               (facets[3] == 1 || (p->tiles > 1 && can_split(p, p->tiles)));
    case TILEMM__SUM_TWO_TILES: return p->is_columns && !p->is_search && p->tiles == 2;
    case TILEMM__SUM_NARROW:
        return p->is_columns && !p->is_search && p->tiles > 1 &&
               p->args->count <= TILEMM__REDUCE_NARROW_COLS &&
               p->args->count * LANES / facets[0] <= TILEMM__REDUCE_NARROW_THREADS;
    case TILEMM__SUM_LOW_COLUMNS: return p->is_columns && !p->is_search && n <= facets[1] * LANES;
    case TILEMM__SUM_FEW_ROWS: return p->is_columns && !p->is_search && n <= facets[0];
    case TILEMM__SEARCH_COLUMNS:
        return p->is_columns && p->is_search && facets[2] == !!p->args->nan_ignore;
    case TILEMM__SEARCH_FEW_ROWS:
        return p->is_columns && p->is_search && facets[1] == !!p->args->nan_ignore &&
               n <= facets[0];
    default: return 0;
    }
}

/* The row for columns of which blocks of 32 would be in part empty, or -1. */
static int find_narrow(const problem_t *p, int64_t columns)
{
    const int64_t count = p->args->count, sm_count = p->traits->sm_count;
    const int is_one = p->tiles <= sm_count;
    if (p->tiles == 1 || count > TILEMM__REDUCE_NARROW_COLS ||
        8 * count > cost->full_eighths * columns * TILEMM__DOWN_COLS)
        return -1;
    if (count <= cost->lane_cols || (is_one && count * LANES <= TILEMM__REDUCE_NARROW_THREADS))
        return find_row(TILEMM__SUM_NARROW, 1, ANY, ANY);
    /* Other blocks are faster where these are few, or a wave and a bit. */
    const int64_t wave = sm_count * (cost->narrow_threads / (count * LANES / 4));
    if (is_one || (columns > 1 && p->tiles > wave && p->tiles <= 2 * wave))
        return -1;
    return find_row(TILEMM__SUM_NARROW, 4, ANY, ANY);
}

/* Of sums whose blocks take a tile of 32 columns each: those with the most loads under way of
 * which all run at once, or else those of which most do. Blocks of few rows need not be large. */
static int find_tall(const problem_t *p, int64_t blocks)
{
    enum { RESIDENT = 3 }; /* the facet */
    const int all[] = {find_row(TILEMM__SUM_COLUMNS, 32, 16, ANY),
                       find_row(TILEMM__SUM_COLUMNS, 8, 8, ANY),
                       find_row(TILEMM__SUM_COLUMNS, 8, 4, ANY)};
    int i = p->args->n <= cost->low_rows;
    while (i < 2 && blocks > (int64_t)rows[all[i]].facets[RESIDENT] * p->traits->sm_count)
        i++;
    return all[i];
}

/* Of searches down columns: up to 256 rows blocks that have all loads under way; of more rows large
 * ones if all of them run at once, or else those of 256. */
static int find_search(const problem_t *p, int64_t blocks)
{
    enum { RESIDENT = 4 }; /* the facet */
    const int64_t n = p->args->n;
    const int ignore = !!p->args->nan_ignore;
    const int large = find_row(TILEMM__SEARCH_COLUMNS, 16, 16, ignore);
    if (n > 8 * LANES && blocks <= (int64_t)rows[large].facets[RESIDENT] * p->traits->sm_count)
        return large;
    const int warps = n <= 2 * LANES ? 2 : n <= 4 * LANES ? 4 : 8;
    return find_row(TILEMM__SEARCH_COLUMNS, warps, warps, ignore);
}

static int choose_columns(const problem_t *p)
{
    const int64_t n = p->args->n, columns = tilemm__div_up(p->args->count, TILEMM__DOWN_COLS);
    const int64_t sm_count = p->traits->sm_count, blocks = columns * p->tiles;
    if (n <= LANES) {
        const int most = n <= 8 ? 8 : LANES;
        return p->is_search ? find_row(TILEMM__SEARCH_FEW_ROWS, most, !!p->args->nan_ignore, ANY)
                            : find_row(TILEMM__SUM_FEW_ROWS, most, ANY, ANY);
    }
    if (p->is_search)
        return find_search(p, blocks);
    const int narrow = find_narrow(p, columns);
    if (narrow >= 0)
        return narrow;
    if (p->tiles > 1 && p->tiles < cost->split_blocks * sm_count && can_split(p, p->tiles))
        return find_row(TILEMM__SUM_COLUMNS, 8, 16, ANY);
    /* Two tiles at once save a launch. That is worth less than twice the multiprocessors. */
    if (p->tiles == 2 && columns <= sm_count && (blocks > sm_count || n <= cost->two_tiles_rows))
        return find_row(TILEMM__SUM_TWO_TILES, ANY, ANY, ANY);
    if (n > cost->low_rows || (n > cost->narrow_rows && blocks <= cost->column_blocks * sm_count))
        return find_tall(p, blocks);
    if (n <= 2 * LANES)
        return find_row(TILEMM__SUM_LOW_COLUMNS, 2, 2, ANY);
    if (n > cost->narrow_rows)
        return find_row(TILEMM__SUM_LOW_COLUMNS, 4, 8, ANY);
    return find_row(TILEMM__SUM_LOW_COLUMNS,
                    columns < resident_warps(p->traits) / cost->narrow_columns ? 4 : 2, 4, ANY);
}

static int choose_row(const problem_t *p)
{
    const int64_t n = p->args->n, count = p->args->count;
    if (p->is_columns)
        return choose_columns(p);
    if (n == 1 && !p->is_dot)
        return find_row(TILEMM__SINGLE, ANY, ANY, ANY);
    const int vectors = p->is_dot ? 1 : vectors_of_warp(n);
    /* A vector of more than 256 elements has a warp to itself while the device's threads are enough
     * for as many warps. */
    const int is_alone = !p->is_search && vectors == 2 && count <= resident_warps(p->traits);
    if (vectors > 1 && !is_alone)
        return find_row(p->is_search ? TILEMM__SEARCH_SHORT : TILEMM__SUM_SHORT, vectors, ANY, ANY);
    /* A cluster for each vector saves a launch, but clusters begin one after the other: there are
     * to be few, or of sums of 16 tiles and more as many as are busy. */
    const int few = count <= p->traits->sm_count;
    if (p->is_search) {
        const int cluster = find_row(TILEMM__SEARCH_CLUSTER, ANY, ANY, ANY);
        if (few && can_run(p, &rows[cluster]) && count * p->tiles <= p->warps)
            return cluster;
        if (few && p->tiles > 1 && count * p->tiles <= p->warps / cost->held_warps)
            return find_row(TILEMM__SEARCH_HELD, ANY, ANY, ANY);
        return find_row(TILEMM__SEARCH_TILES, !!p->args->nan_ignore, ANY, ANY);
    }
    const int cluster = find_row(TILEMM__SUM_CLUSTER, p->is_dot, ANY, ANY);
    if (p->tiles > WARPS / 2 && (few || p->tiles >= 2 * WARPS) && can_run(p, &rows[cluster]) &&
        count * p->tiles <= p->warps)
        return cluster;
    /* Where a block's warps would have to take more than one tile each. */
    if (p->tiles > WARPS && p->tiles <= cost->split_tiles * p->warps / count) {
        const int is_short = count * p->tiles <= cost->split4_tiles * p->warps;
        const int split =
            find_row(TILEMM__SUM_SPLIT, p->is_dot, p->is_unit, is_short || p->is_dot ? 4 : 2);
        if (can_run(p, &rows[split]))
            return split;
    }
    return find_row(TILEMM__SUM_TILES, p->is_dot, p->is_unit, ANY);
}

/* The row that the plan is to use (TILEMM_VARIANT): the chosen one if its name begins so, or the
 * first that does and can. */
static int force_row(const problem_t *p, const char *variant, int chosen)
{
    if (begins_with(rows[chosen].name, variant))
        return chosen;
    for (int i = 0; i < TILEMM__REDUCE_ROW_COUNT; i++)
        if (begins_with(rows[i].name, variant) && can_run(p, &rows[i]))
            return i;
    return chosen;
}

/* ---- steps ------------------------------------------------------------------------------ */

static tilemm__reduce_step_t *add_step(tilemm__reduce_cuda_plan_t *plan, int64_t length,
                                       int64_t items)
{
    tilemm__reduce_step_t *step = &plan->step[plan->steps++];
    memset(step, 0, sizeof *step);
    step->length = length;
    step->items = items;
    step->splits = 1;
    return step;
}

/* Items of sums: 32 tiles for up to 8 warps of a block, or a tile for each warp. */
static void set_sum_tiles(tilemm__reduce_step_t *step, const problem_t *p)
{
    tilemm__reduce_launch_t *const launch = &step->launch;
    const int64_t room = p->warps / p->args->count; /* warps for each vector that keep it busy */
    const int each = p->tiles <= room ? 1 : 2;      /* tiles for each warp */
    launch->item_tiles = launch->warps = 1;
    if (p->tiles > WARPS && p->tiles <= room) {
        step->items = p->tiles;
    } else if (p->tiles > 1) {
        launch->item_tiles = TILEMM__REDUCE_FOLD_TILES;
        step->items = tilemm__div_up(p->tiles, launch->item_tiles);
        while (launch->warps < WARPS && each * launch->warps < p->tiles)
            launch->warps *= 2;
    }
}

/* Items of searches: as many warps as keep the device busy, but no more than there are tiles. */
static void set_search_tiles(tilemm__reduce_step_t *step, const problem_t *p)
{
    tilemm__reduce_launch_t *const launch = &step->launch;
    const int64_t count = p->args->count;
    const int64_t busy = count < p->warps ? tilemm__min(p->tiles, p->warps / count) : 1;
    for (launch->warps = 1; launch->warps < WARPS && 2 * launch->warps <= busy;)
        launch->warps *= 2;
    const int64_t most = tilemm__min(busy / launch->warps, p->partials);
    const int64_t turns = tilemm__div_up(p->tiles, most * launch->warps);
    step->items = launch->items = tilemm__div_up(p->tiles, turns * launch->warps);
}

/* Threads of a block whose warps take `each` rows of 32 numbers at a time. */
static int block_threads(int64_t length, int64_t each)
{
    return (int)tilemm__min(tilemm__div_up(length, each * LANES), TILEMM__REDUCE_BLOCK_WARPS) *
           LANES;
}

/* The step that reads the elements, by this row. */
static void add_first(tilemm__reduce_cuda_plan_t *plan, const problem_t *p, int row)
{
    const int *facets = rows[row].facets + 1;
    tilemm__reduce_step_t *step = add_step(plan, p->args->n, 1);
    tilemm__reduce_launch_t *launch = &step->launch;
    set_row(launch, row, p->traits);
    launch->args = *p->args;
    switch (launch->kernel) {
    case TILEMM__SUM_TILES: set_sum_tiles(step, p); break;
    case TILEMM__SUM_SPLIT:
        step->items = tilemm__div_up(p->tiles, TILEMM__REDUCE_FOLD_TILES);
        step->splits = facets[2];
        launch->threads = LANES / step->splits * LANES;
        break;
    case TILEMM__SEARCH_HELD: step->items = tilemm__div_up(p->tiles, WARPS); break;
    case TILEMM__SUM_CLUSTER:
    case TILEMM__SEARCH_CLUSTER:
        launch->threads = (int)tilemm__div_up(p->tiles, TILEMM__REDUCE_CLUSTER) * LANES;
        launch->cluster = TILEMM__REDUCE_CLUSTER;
        break;
    case TILEMM__SUM_BLOCK:
    case TILEMM__SEARCH_BLOCK:
        launch->threads = block_threads(p->args->n, TILEMM__TILE_ROWS);
        break;
    case TILEMM__SEARCH_TILES: set_search_tiles(step, p); break;
    case TILEMM__SUM_NARROW:
        step->items = p->tiles;
        launch->threads = (int)tilemm__round_up(p->args->count * (LANES / facets[0]), LANES);
        launch->shared = (size_t)((p->args->count | 1) * (LANES / facets[0])) *
                         (sizeof(tilemm__sum_t) + sizeof(int));
        break;
    case TILEMM__SUM_COLUMNS: step->splits = facets[3];  /* fall through */
    case TILEMM__SEARCH_COLUMNS: step->items = p->tiles; /* fall through */
    case TILEMM__SUM_TWO_TILES:
    case TILEMM__SUM_LOW_COLUMNS: launch->threads = facets[0] * LANES; break;
    case TILEMM__SUM_FEW_ROWS:
    case TILEMM__SEARCH_FEW_ROWS:
        launch->threads = TILEMM__REDUCE_FEW_THREADS;
        launch->most_blocks = (int64_t)p->traits->sm_count * cost->few_blocks;
        break;
    default: break;
    }
}

/* Partial results of one vector that a step leaves. */
static int64_t left_by(const tilemm__reduce_step_t *step)
{
    return step->items * step->splits;
}

/* Steps above the last one, until there is one result. */
static void add_levels(tilemm__reduce_cuda_plan_t *plan, int64_t count,
                       const tilemm__cuda_traits_t *traits)
{
    while (left_by(&plan->step[plan->steps - 1]) > 1) {
        const tilemm__reduce_step_t *before = &plan->step[plan->steps - 1];
        const int is_columns = before->launch.kernel == TILEMM__SUM_COLUMNS ||
                               before->launch.kernel == TILEMM__SEARCH_COLUMNS;
        const int64_t length = before->items;
        tilemm__reduce_step_t *step = add_step(plan, length, 1);
        if (is_columns && before->splits == 1 && length <= LANES) {
            step->launch.kernel = TILEMM__PARTIALS_TRANSPOSED;
        } else if (before->splits > 1 ||
                   (length > LANES && length <= TILEMM__REDUCE_BLOCK_PARTIALS &&
                    count <= traits->sm_count)) {
            step->launch.kernel = TILEMM__PARTIALS_BLOCK; /* saves a launch */
        } else {
            step->launch.kernel = TILEMM__PARTIALS_TILES;
            step->items = tilemm__tile_count(length);
        }
    }
}

/* The same of all steps from `first` on: the last one leaves none. */
static int64_t partials_from(const tilemm__reduce_cuda_plan_t *plan, int first)
{
    int64_t sum = 0;
    for (int i = first; i < plan->steps - 1; i++)
        sum += left_by(&plan->step[i]);
    return sum;
}

/* The row of a step that reads partial results, once the number of vectors is known. */
static void set_level(tilemm__reduce_cuda_plan_t *plan, int number, const problem_t *p)
{
    tilemm__reduce_step_t *step = &plan->step[number];
    const int64_t length = step->length;
    const int splits = step[-1].splits;
    /* Blocks of several vectors have fewer warps, so that they fit beside the kernel before. */
    const int each = splits > 1                           ? 1
                     : plan->vectors > 1 || length > 2048 ? 8
                     : length > 1024                      ? 2
                                                          : 1;
    int row;
    if (step->launch.kernel == TILEMM__PARTIALS_TILES && length <= LANES)
        row = find_row(TILEMM__PARTIALS_SHORT, p->is_search, ANY, ANY);
    else if (step->launch.kernel == TILEMM__PARTIALS_BLOCK && !p->is_search &&
             length <= TILEMM__REDUCE_LAST_PARTIALS)
        row = find_row(TILEMM__PARTIALS_LAST, splits, each, ANY);
    else
        row = find_row(step->launch.kernel, p->is_search, ANY, ANY);
    set_row(&step->launch, row, p->traits);
    step->launch.args = *p->args;
    if (step->launch.kernel == TILEMM__PARTIALS_TRANSPOSED)
        step->launch.threads = TILEMM__REDUCE_TRANSPOSED_THREADS;
    else if (step->launch.kernel == TILEMM__PARTIALS_LAST ||
             step->launch.kernel == TILEMM__PARTIALS_BLOCK)
        step->launch.threads = block_threads(length, p->is_search ? 8 : each);
}

/* How many vectors, or how many items of one vector, the workspace holds at a time; if not even
 * that, blocks take whole vectors and need none. */
static void fit_workspace(tilemm__reduce_cuda_plan_t *plan, const problem_t *p, int64_t available)
{
    const int64_t items = plan->step[0].items;
    plan->vectors = tilemm__min(p->args->count, available / partials_from(plan, 0));
    if (plan->vectors > TILEMM__DOWN_COLS && plan->vectors < p->args->count)
        plan->vectors = plan->vectors / TILEMM__DOWN_COLS * TILEMM__DOWN_COLS;
    if (plan->vectors == 0 && items > TILEMM__TILE_ELEMS && !p->is_search) {
        /* Steps 0 and 1 for a range of items at a time; step 1 leaves few enough to keep all. */
        plan->vectors = 1;
        plan->steps = 1;
        add_step(plan, items, tilemm__tile_count(items))->launch.kernel = TILEMM__PARTIALS_TILES;
        add_levels(plan, 1, p->traits);
        plan->range = tilemm__max(available - partials_from(plan, 1), 0);
        plan->range = plan->range / TILEMM__TILE_ELEMS * TILEMM__TILE_ELEMS;
    }
    if (plan->vectors == 0 || plan->range == 0) {
        plan->vectors = p->args->count;
        plan->range = 1;
        plan->steps = 0;
        add_first(plan, p,
                  p->is_search ? find_row(TILEMM__SEARCH_BLOCK, ANY, ANY, ANY)
                               : find_row(TILEMM__SUM_BLOCK, p->is_dot, ANY, ANY));
    }
}

int tilemm__plan_reduce_cuda(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                             tilemm__reduce_cuda_plan_t *plan)
{
    const int extras = tilemm__sum_is_counted(args->op, args->nan_ignore) || args->index_out;
    const size_t value = tilemm__op_is_order(args->op) ? sizeof(int32_t) : sizeof(tilemm__sum_t);
    const size_t entry = value + (extras ? sizeof(int64_t) : 0);
    const size_t bytes = limits->workspace < cost->workspace ? limits->workspace : cost->workspace;
    const int64_t available = (int64_t)(bytes / entry / 2 * 2);
    const tilemm__cuda_traits_t *traits = limits->cuda;
    const int is_dot = args->op == TILEMM__DOT;
    problem_t p = {.args = args,
                   .traits = traits,
                   .is_search = tilemm__op_is_order(args->op),
                   .is_dot = is_dot,
                   .is_unit = args->istride == 1 && (!is_dot || args->y_istride == 1),
                   .is_columns = args->count > 1 && args->vstride == 1 && args->istride != 1 &&
                                 args->n > 1 && !is_dot,
                   .tiles = tilemm__tile_count(args->n),
                   .warps = (int64_t)traits->sm_count *
                            (traits->max_threads_per_sm / cost->busy_threads),
                   .partials = tilemm__max(available, 1)};
    tilemm__reduce_launch_t *const first = &plan->step[0].launch;
    memset(plan, 0, sizeof *plan);
    plan->value_bytes = value;
    plan->has_extras = extras;
    plan->vectors = args->count;
    add_first(plan, &p, force_row(&p, limits->variant, choose_row(&p)));
    add_levels(plan, args->count, traits);
    plan->range = plan->step[0].items;
    if (plan->steps > 1)
        fit_workspace(plan, &p, available);
    for (int i = 1; i < plan->steps; i++)
        set_level(plan, i, &p);
    first->transposed =
        plan->steps > 1 && plan->step[1].launch.kernel == TILEMM__PARTIALS_TRANSPOSED;
    if (first->kernel == TILEMM__SUM_TILES && plan->vectors * plan->step[0].items == 1)
        first->threads = first->warps * LANES;
    for (int i = 0; i < plan->steps; i++) {
        tilemm__reduce_step_t *step = &plan->step[i];
        tilemm__size_reduce_launch(&step->launch, plan->vectors, step->length);
        step->place = plan->room;
        if (i < plan->steps - 1)
            plan->room += plan->vectors * (i == 0 ? plan->range : step->items) * step->splits;
    }
    plan->room = tilemm__round_up(plan->room, 2); /* so that 8-byte extras are aligned */
    plan->workspace = (size_t)plan->room * entry;
    plan->range_elements = plan->range * TILEMM__TILE_ELEMS;
    if (first->kernel == TILEMM__SUM_TILES)
        plan->range_elements *= first->item_tiles;
    if (plan->range == plan->step[0].items)
        plan->range_elements = tilemm__max(args->n, 1);
    plan->name = rows[first->variant].name;
    return TILEMM_SUCCESS;
}

void tilemm__plan_reduce_part_cuda(const tilemm__reduce_args_t *args, int64_t unit,
                                   int64_t first_index, const tilemm__limits_t *limits,
                                   tilemm__reduce_launch_t *launch)
{
    const int is_search = tilemm__op_is_order(args->op), is_dot = args->op == TILEMM__DOT;
    const int ignore = !!args->nan_ignore;
    const int is_unit = args->istride == 1 && (!is_dot || args->y_istride == 1);
    memset(launch, 0, sizeof *launch);
    if (args->count > 1)
        set_row(launch,
                is_search ? find_row(TILEMM__SEARCH_COLUMNS, 8, ANY, ignore)
                          : find_row(TILEMM__SUM_COLUMNS, 8, 4, ANY),
                limits->cuda);
    else
        set_row(launch,
                is_search ? find_row(TILEMM__SEARCH_TILES, ignore, ANY, ANY)
                          : find_row(TILEMM__SUM_TILES, is_dot, is_unit, ANY),
                limits->cuda);
    launch->threads = args->count > 1 ? rows[launch->variant].facets[1] * LANES : THREADS;
    launch->concurrent = 0; /* copies and kernels of other pieces come before */
    launch->args = *args;
    launch->first_index = first_index;
    launch->transposed = 1;
    launch->item_tiles = (int)(unit / TILEMM__TILE_ELEMS);
    launch->warps = tilemm__min(launch->item_tiles, WARPS);
    launch->items = tilemm__div_up(args->n, unit);
    tilemm__size_reduce_launch(launch, args->count, args->n);
}

/* ---- segments --------------------------------------------------------------------------- */

static size_t lists_bytes(int64_t room, int64_t span_room)
{
    return TILEMM__LISTS_HEAD + (size_t)span_room * TILEMM__SPAN_BYTES +
           (size_t)room * TILEMM__SEGMENT_BYTES;
}

/* The lists that the workspace holds. A segment of more than a span has at most twice the spans
 * that its elements fill: so the list holds the spans of all elements that the memory can hold. */
static void size_lists(const tilemm__segments_args_t *args, const tilemm__limits_t *limits,
                       tilemm__segment_lists_t *lists)
{
    const size_t span = (size_t)TILEMM__SPAN_TILES * TILEMM__TILE_ELEMS * sizeof(float);
    size_t bytes = limits->workspace;
    memset(lists, 0, sizeof *lists);
    if (bytes < lists_bytes(0, 0))
        return;
    bytes -= lists_bytes(0, 0);
    lists->span_room = tilemm__min((int64_t)(limits->cuda->memory_bytes / span) * 2 + 2,
                                   (int64_t)(bytes / TILEMM__SPAN_BYTES));
    bytes -= (size_t)lists->span_room * TILEMM__SPAN_BYTES;
    lists->room = tilemm__min(tilemm__min(args->segments, cost->list_segments),
                              (int64_t)(bytes / TILEMM__SEGMENT_BYTES));
}

int tilemm__plan_segments_cuda(const tilemm__segments_args_t *args, const tilemm__limits_t *limits,
                               tilemm__segments_cuda_plan_t *plan)
{
    const tilemm__cuda_traits_t *traits = limits->cuda;
    const int64_t warps = resident_warps(traits);
    const int search = tilemm__op_is_order(args->op);
    const int many = args->segments >= cost->group_segments * warps;
    int row = find_row(many ? TILEMM__SEGMENTS_GROUP : TILEMM__SEGMENTS_WARP, search, ANY, ANY);
    const int other =
        find_row(many ? TILEMM__SEGMENTS_WARP : TILEMM__SEGMENTS_GROUP, search, ANY, ANY);
    tilemm__reduce_launch_t *const first = &plan->launch[0];
    memset(plan, 0, sizeof *plan);
    if (!begins_with(rows[row].name, limits->variant) &&
        begins_with(rows[other].name, limits->variant))
        row = other;
    set_row(first, row, traits);
    plan->name = rows[row].name;
    first->segments = *args;
    first->warp_limit = cost->warp_elements[args->segments >= cost->busy_segments * warps];
    size_lists(args, limits, &first->lists);
    if (limits->workspace >= lists_bytes(0, 0))
        plan->workspace = lists_bytes(first->lists.room, first->lists.span_room);
    first->blocks = looped(
        tilemm__div_up(args->segments, first->kernel == TILEMM__SEGMENTS_GROUP ? THREADS : WARPS));
    plan->launches = first->lists.span_room > 0 ? 3 : first->lists.room > 0 ? 2 : 1;
    for (int i = 1; i < plan->launches; i++) {
        tilemm__reduce_launch_t *launch = &plan->launch[i];
        *launch = *first;
        set_row(
            launch,
            find_row(i == 1 ? TILEMM__SEGMENTS_BLOCK : TILEMM__SEGMENTS_SPANS, search, ANY, ANY),
            traits);
        launch->blocks = cost->list_blocks * (int64_t)traits->sm_count;
        if (i == 1)
            launch->threads = TILEMM__REDUCE_BLOCK_WARPS * LANES;
    }
    return TILEMM_SUCCESS;
}
