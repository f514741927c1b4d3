/* run_vectors.c - reductions on the CPU along vectors: which threads take which tiles, and how the
 * sums of tiles become the sums of vectors.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "lib/size.h"
#include "passes_cpu.h"

enum {
    LANES = TILEMM__TILE_LANES,
    TILE = TILEMM__TILE_ELEMS,
    SPAN_TILES = TILEMM__REDUCE_STACK_TILES, /* two levels of folds */
    LEVELS = 9                               /* above spans: 2^20 * 2^45 elements */
};

/* ---- sums ------------------------------------------------------------------------------- */

int tilemm__sum_is_certain(int op, const tilemm__total_t *total, int additions)
{
    /* 3 more for the roundings here and in the canonical order. */
    const double lost = total->magnitude * (additions + 3) * 0x1p-52;
    tilemm__sum_t low = total->sum, high = total->sum;
    if (low.sum - low.sum != 0) /* not finite: nothing to lose */
        return 1;
    if (lost - lost != 0) /* no bound */
        return 0;
    low.lost -= lost;
    high.lost += lost;
    if (op == TILEMM__NRM2 && !(low.sum + low.lost >= 0))
        return 0;
    return tilemm__float_bits(tilemm__sum_result(op, low, total->count)) ==
           tilemm__float_bits(tilemm__sum_result(op, high, total->count));
}

/* The sum of m > 0 partial sums, which are overwritten. */
static tilemm__sum_t fold_all(int64_t m, tilemm__sum_t *partials)
{
    for (; m > 1; m = tilemm__fold_count(m))
        for (int64_t i = 0; i < m; i += LANES)
            partials[i / LANES] =
                tilemm__fold_lanes(partials + i, m - i < LANES ? (int)(m - i) : LANES);
    return partials[0];
}

/* Levels above spans: 32 values each, which are folded and go one level up once they are there. To
 * fold one value leaves it as it is, so levels past the last do no harm. */
typedef struct {
    int filled[LEVELS];
    tilemm__sum_t values[LEVELS][LANES];
} levels_t;

static void levels_add(levels_t *levels, int level, tilemm__sum_t value)
{
    for (; level < LEVELS; level++) {
        levels->values[level][levels->filled[level]++] = value;
        if (levels->filled[level] < LANES)
            return;
        value = tilemm__fold_lanes(levels->values[level], LANES);
        levels->filled[level] = 0;
    }
}

static tilemm__sum_t levels_finish(levels_t *levels)
{
    for (int level = 0; level < LEVELS - 1; level++)
        if (levels->filled[level] > 0)
            levels_add(levels, level + 1,
                       tilemm__fold_lanes(levels->values[level], levels->filled[level]));
    return tilemm__fold_lanes(levels->values[LEVELS - 1], levels->filled[LEVELS - 1]);
}

/* Element `start` of DOT's other operand; for other operations any valid pointer. */
static const float *other_operand(const tilemm__reduce_args_t *args, const float *x, int64_t start)
{
    return args->op == TILEMM__DOT ? args->y + start * args->y_istride : x;
}

/* Add m elements, from element `start` of a vector on, to a total. */
static void add_plain(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                      const float *x, int64_t start, int64_t m, tilemm__total_t *total)
{
    const float *part = x + start * args->istride;
    k->sum_plain(args->op, args->nan_ignore, m, part, args->istride,
                 other_operand(args, part, start), args->y_istride, total);
    if (tilemm__sum_is_counted(args->op, args->nan_ignore)) /* the others were left out */
        total->count += k->count(m, part, args->istride) - m;
}

/* The plain sum of elements `start` to end - 1 of a vector. */
static tilemm__total_t sum_plain(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                 const float *x, int64_t start, int64_t end)
{
    enum { NEAR = 16384 }; /* elements that the first cache keeps until they are counted */
    const int64_t step =
        tilemm__sum_is_counted(args->op, args->nan_ignore) ? (int64_t)NEAR : args->n;
    tilemm__total_t total = {{0, 0}, 0, 0};
    for (; start < end; start += step)
        add_plain(k, args, x, start, tilemm__min(end - start, step), &total);
    return total;
}

/* What every thread needs to know that does its part of one vector, and what they find. */
typedef struct {
    const tilemm__reduce_cpu_t *k;
    const tilemm__reduce_args_t *args;
    const float *x;
    pthread_mutex_t lock; /* of total, key and place */
    tilemm__total_t total;
    int32_t key;
    int64_t place;       /* of the key, */
    int wants_place;     /* if it is wanted */
    int64_t first, here; /* tiles whose sums are wanted */
    tilemm__sum_t *sums;
} job_t;

/* This thread's share of a vector's plain sum; totals are added in any order. */
static void add_share(void *data, thread_t me)
{
    enum { GRAIN = 16384 }; /* elements */
    job_t *const job = data;
    const int64_t n = job->args->n;
    int64_t start, end;
    my_share(me, tilemm__div_up(n, GRAIN), &start, &end);
    const tilemm__total_t mine =
        sum_plain(job->k, job->args, job->x, start * GRAIN, tilemm__min(end * GRAIN, n));
    pthread_mutex_lock(&job->lock);
    job->total.sum = tilemm__sum_join(job->total.sum, mine.sum);
    job->total.magnitude += mine.magnitude;
    job->total.count += mine.count;
    pthread_mutex_unlock(&job->lock);
}

/* The sums of this thread's share of the tiles. */
static void sum_tiles(void *data, thread_t me)
{
    enum { GRAIN = 16 }; /* tiles: 64 KiB */
    const job_t *const job = data;
    const tilemm__reduce_args_t *const args = job->args;
    int64_t t, end;
    my_share(me, tilemm__div_up(job->here, GRAIN), &t, &end);
    t *= GRAIN;
    end = tilemm__min(end * GRAIN, job->here);
    if (t < end) {
        const int64_t start = (job->first + t) * TILE;
        const int64_t m = tilemm__min(args->n, (job->first + end) * TILE) - start;
        const float *part = job->x + start * args->istride;
        job->k->sum_tiles(args->op, args->nan_ignore, m, part, args->istride,
                          other_operand(args, part, start), args->y_istride, job->sums + t);
    }
}

tilemm__sum_t tilemm__sum_in_order(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                   const float *x, int threads, int64_t tiles, tilemm__sum_t *sums)
{
    const int64_t all = tilemm__tile_count(args->n);
    tilemm__sum_t on_stack[SPAN_TILES];
    levels_t levels;
    if (!sums) {
        sums = on_stack;
        tiles = SPAN_TILES;
    }
    memset(levels.filled, 0, sizeof levels.filled);
    for (int64_t first = 0; first < all; first += tiles) {
        const int64_t here = tilemm__min(all - first, tiles);
        job_t job = {.k = k, .args = args, .x = x, .first = first, .here = here, .sums = sums};
        tilemm__run_team(threads, sum_tiles, &job);
        if (all <= SPAN_TILES)
            return fold_all(all, sums);
        for (int64_t t = 0; t < here; t += SPAN_TILES)
            levels_add(&levels, 0, fold_all(tilemm__min(here - t, SPAN_TILES), sums + t));
    }
    return levels_finish(&levels);
}

/* ---- searches --------------------------------------------------------------------------- */

/* This thread's share of a vector. */
static void search_share(void *data, thread_t me)
{
    job_t *const job = data;
    const tilemm__reduce_args_t *const args = job->args;
    int64_t tile, end, place = 0;
    my_share(me, tilemm__tile_count(args->n), &tile, &end);
    if (tile == end)
        return;
    const int64_t start = tile * TILE, m = tilemm__min(args->n, end * TILE) - start;
    const int32_t key = job->k->extreme(tilemm__order_of(args->op, args->nan_ignore), m,
                                        job->x + start * args->istride, args->istride,
                                        job->wants_place ? &place : NULL);
    pthread_mutex_lock(&job->lock);
    if (tilemm__key_wins(key, start + place, job->key, job->place)) {
        job->key = key;
        job->place = start + place;
    }
    pthread_mutex_unlock(&job->lock);
}

/* ---- vectors ---------------------------------------------------------------------------- */

/* One vector by the threads of the plan. */
static void reduce_together(job_t *job, int64_t vector, const tilemm__reduce_cpu_plan_t *plan,
                            tilemm__sum_t *sums)
{
    const tilemm__reduce_args_t *const args = job->args;
    job->x = args->x + vector * args->vstride;
    job->total = (tilemm__total_t){{0, 0}, 0, 0};
    job->key = TILEMM__KEY_NONE;
    job->place = 0;
    if (tilemm__op_is_order(args->op)) {
        tilemm__run_team(plan->threads, search_share, job);
        tilemm__store_key(args, vector, job->key, job->place);
    } else {
        tilemm__run_team(plan->threads, add_share, job);
        if (!tilemm__sum_is_certain(args->op, &job->total, TILEMM__PLAIN_ADDITIONS))
            job->total.sum =
                tilemm__sum_in_order(job->k, args, job->x, plan->threads, plan->tiles, sums);
        tilemm__store_sum(args, vector, job->total.sum, job->total.count);
    }
}

void tilemm__reduce_vector(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                           int64_t vector)
{
    const float *x = args->x + vector * args->vstride;
    if (tilemm__op_is_order(args->op)) {
        int64_t place = 0;
        const int32_t key = k->extreme(tilemm__order_of(args->op, args->nan_ignore), args->n, x,
                                       args->istride, args->index_out ? &place : NULL);
        tilemm__store_key(args, vector, key, place);
    } else {
        tilemm__total_t total = sum_plain(k, args, x, 0, args->n);
        if (!tilemm__sum_is_certain(args->op, &total, TILEMM__PLAIN_ADDITIONS))
            total.sum = tilemm__sum_in_order(k, args, x, 1, 0, NULL);
        tilemm__store_sum(args, vector, total.sum, total.count);
    }
}

/* This thread's share of the vectors. */
static void reduce_share(void *data, thread_t me)
{
    const job_t *const job = data;
    int64_t v, end;
    my_share(me, job->args->count, &v, &end);
    for (; v < end; v++)
        tilemm__reduce_vector(job->k, job->args, v);
}

void tilemm__reduce_vectors(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace)
{
    job_t job = {.k = k,
                 .args = args,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .wants_place = args->index_out != NULL};
    if (plan->method == TILEMM__REDUCE_TILES)
        for (int64_t v = 0; v < args->count; v++)
            reduce_together(&job, v, plan, plan->workspace ? workspace : NULL);
    else
        tilemm__run_team(plan->threads, reduce_share, &job);
}
