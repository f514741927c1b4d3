/* run_vectors.c - reductions on the CPU along vectors: which threads take which tiles, and how the
 * sums of tiles become the sums of vectors.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
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
    const double lost = total->magnitude * (additions + 3) * 0x1p-53;
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

/* The plain sum of a vector by this thread. */
static tilemm__total_t sum_plain(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                 const float *x)
{
    enum { NEAR = 16384 }; /* elements that the first cache keeps until they are counted */
    const int64_t step =
        tilemm__sum_is_counted(args->op, args->nan_ignore) ? (int64_t)NEAR : args->n;
    tilemm__total_t total = {{0, 0}, 0, 0};
    for (int64_t start = 0; start < args->n; start += step)
        add_plain(k, args, x, start, tilemm__min(args->n - start, step), &total);
    return total;
}

/* The same by all threads, whose totals are added in any order. */
static tilemm__total_t sum_plain_by_all(const tilemm__reduce_cpu_t *k,
                                        const tilemm__reduce_args_t *args, const float *x,
                                        int threads)
{
    enum { GRAIN = 16384 }; /* elements that a thread takes at a time */
    tilemm__total_t total = {{0, 0}, 0, 0};
#pragma omp parallel num_threads(threads)
    {
        tilemm__total_t mine = {{0, 0}, 0, 0};
#pragma omp for schedule(static) nowait
        for (int64_t start = 0; start < args->n; start += GRAIN)
            add_plain(k, args, x, start, tilemm__min(args->n - start, GRAIN), &mine);
#pragma omp critical(tilemm__reduce_sum)
        {
            total.sum = tilemm__sum_join(total.sum, mine.sum);
            total.magnitude += mine.magnitude;
            total.count += mine.count;
        }
    }
    return total;
}

tilemm__sum_t tilemm__sum_in_order(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                   const float *x, int threads, int64_t tiles, tilemm__sum_t *sums)
{
    enum { GRAIN = 16 }; /* tiles that a thread takes at a time: 64 KiB */
    const int64_t all = tilemm__tile_count(args->n);
    const int64_t grain = threads > 1 ? (int64_t)GRAIN : SPAN_TILES;
    tilemm__sum_t on_stack[SPAN_TILES];
    levels_t levels;
    if (!sums) {
        sums = on_stack;
        tiles = SPAN_TILES;
    }
    memset(levels.filled, 0, sizeof levels.filled);
    for (int64_t first = 0; first < all; first += tiles) {
        const int64_t here = tilemm__min(all - first, tiles);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (int64_t t = 0; t < here; t += grain) {
            const int64_t start = (first + t) * TILE;
            const int64_t m = tilemm__min(args->n, (first + tilemm__min(t + grain, here)) * TILE);
            const float *part = x + start * args->istride;
            k->sum_tiles(args->op, args->nan_ignore, m - start, part, args->istride,
                         other_operand(args, part, start), args->y_istride, sums + t);
        }
        if (all <= SPAN_TILES)
            return fold_all(all, sums);
        for (int64_t t = 0; t < here; t += SPAN_TILES)
            levels_add(&levels, 0, fold_all(tilemm__min(here - t, SPAN_TILES), sums + t));
    }
    return levels_finish(&levels);
}

/* ---- searches --------------------------------------------------------------------------- */

static int32_t search_by_all(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                             const float *x, int threads, int64_t *index)
{
    const tilemm__order_t order = tilemm__order_of(args->op, args->nan_ignore);
    const int64_t tiles = tilemm__tile_count(args->n);
    int32_t best = TILEMM__KEY_NONE;
    int64_t where = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        const int64_t start = tiles / threads * part * TILE;
        const int64_t m = part + 1 < threads
                              ? tiles / threads * TILE
                              : args->n - start; /* the last part has the fringe too */
        int64_t place = 0;
        int32_t key =
            k->extreme(order, m, x + start * args->istride, args->istride, index ? &place : NULL);
#pragma omp critical(tilemm__reduce_extreme)
        if (tilemm__key_wins(key, start + place, best, where)) {
            best = key;
            where = start + place;
        }
    }
    if (index)
        *index = where;
    return best;
}

/* ---- vectors ---------------------------------------------------------------------------- */

/* One vector by `threads` threads; tiles and sums as for tilemm__sum_in_order(). */
static void reduce_by(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                      int64_t vector, int threads, int64_t tiles, tilemm__sum_t *sums)
{
    const float *x = args->x + vector * args->vstride;
    if (tilemm__op_is_order(args->op)) {
        int64_t place = 0, *const wanted = args->index_out ? &place : NULL;
        const int32_t key = threads > 1 ? search_by_all(k, args, x, threads, wanted)
                                        : k->extreme(tilemm__order_of(args->op, args->nan_ignore),
                                                     args->n, x, args->istride, wanted);
        tilemm__store_key(args, vector, key, place);
    } else {
        tilemm__total_t total =
            threads > 1 ? sum_plain_by_all(k, args, x, threads) : sum_plain(k, args, x);
        if (!tilemm__sum_is_certain(args->op, &total, TILEMM__PLAIN_ADDITIONS))
            total.sum = tilemm__sum_in_order(k, args, x, threads, tiles, sums);
        tilemm__store_sum(args, vector, total.sum, total.count);
    }
}

void tilemm__reduce_vector(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                           int64_t vector)
{
    reduce_by(k, args, vector, 1, 0, NULL);
}

void tilemm__reduce_vectors(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace)
{
    if (plan->method == TILEMM__REDUCE_TILES) {
        tilemm__sum_t *const sums = plan->workspace ? workspace : NULL;
        for (int64_t v = 0; v < args->count; v++)
            reduce_by(k, args, v, plan->threads, plan->tiles, sums);
    } else if (plan->threads == 1) { /* a parallel region takes longer than a short vector */
        for (int64_t v = 0; v < args->count; v++)
            tilemm__reduce_vector(k, args, v);
    } else {
#pragma omp parallel for num_threads(plan->threads) schedule(static)
        for (int64_t v = 0; v < args->count; v++)
            tilemm__reduce_vector(k, args, v);
    }
}
