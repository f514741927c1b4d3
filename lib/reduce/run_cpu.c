/* run_cpu.c - reductions on the CPU: which threads take which tiles, and how the results of tiles
 * become the results of vectors.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "kernels/reduce/cpu/kernels.h"
#include "plan.h"
#include "lib/cpu/cpu.h"

enum {
    LANES = TILEMM__TILE_LANES,
    TILE = TILEMM__TILE_ELEMS,
    SPAN_TILES = TILEMM__REDUCE_STACK_TILES, /* two levels of folds */
    SPAN = TILE * SPAN_TILES,
    LEVELS = 9,        /* above spans: 2^20 * 2^45 elements */
    STRIP_LEVELS = 12, /* above tiles */
    STRIP = TILEMM__REDUCE_MAX_STRIP
};

/* ---- results ------------------------------------------------------------------------------ */

static void store_sum(const tilemm__reduce_args_t *args, int64_t vector, tilemm__sum_t sum,
                      int64_t count)
{
    args->out[vector * args->out_stride] = tilemm__sum_result(args->op, sum, count);
}

static void store_key(const tilemm__reduce_args_t *args, int64_t vector, int32_t key, int64_t index)
{
    if (args->out)
        args->out[vector * args->out_stride] = tilemm__key_result(args->op, key);
    if (args->index_out)
        args->index_out[vector * args->out_stride] = tilemm__index_result(key, index);
}

/* ---- sums along a vector ------------------------------------------------------------------ */

/* Most sums need not know what they lose, nor keep to the order. First all terms are added plainly,
 * in whatever order is fast, along with a bound on the sum of their magnitudes, and so on what the
 * additions lost: on how far the sum is from the exact one. The sum that the order gives, with what
 * it lost, is nearer to the exact one than that. Where the distance could change the result, and
 * only there, all is done once more, in order and nothing left out: so the result is always that
 * of the whole work. */
typedef tilemm__total_t total_t;

/* Whether the result is the same whatever was lost where a term passed up to `additions` that were
 * plain: each loses 2^-53 of the magnitudes or less. 3 more leave room for the roundings here, and
 * in the sum of the whole work. */
enum { TILE_ADDITIONS = TILEMM__TILE_ROWS + 5, FOLD_ADDITIONS = 5 };

static int is_certain(int op, const total_t *total, int additions)
{
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

/* The same of the plain sum of a short vector, not a mean, and quickly; the result is stored if it
 * is certain. A sum that is not finite is not. */
static inline int store_certain(const tilemm__reduce_args_t *args, tilemm__plain_t plain)
{
    const double lost = plain.magnitude * ((TILEMM__PLAIN_ADDITIONS + 3) * 0x1p-53);
    double low = plain.sum - lost, high = plain.sum + lost;
    if (args->op == TILEMM__NRM2) {
        low = sqrt(low);
        high = sqrt(high);
    }
    const float result = (float)low;
    if (tilemm__float_bits(result) != tilemm__float_bits((float)high) || result != result)
        return 0;
    *args->out = result;
    return 1;
}

/* The sum of m > 0 partial sums, whose place serves for the work. */
static tilemm__sum_t fold_all(int64_t m, tilemm__sum_t *partials)
{
    for (; m > 1; m = tilemm__fold_count(m)) {
        for (int64_t i = 0; i < m; i += LANES)
            partials[i / LANES] =
                tilemm__fold_lanes(partials + i, m - i < LANES ? (int)(m - i) : LANES);
    }
    return partials[0];
}

/* Where the sums of spans meet: 32 for each level, that are folded once they are there. To fold one
 * value leaves it as it is, so that levels past the last do no harm. */
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
    for (int level = 0; level < LEVELS - 1; level++) {
        if (levels->filled[level] > 0)
            levels_add(levels, level + 1,
                       tilemm__fold_lanes(levels->values[level], levels->filled[level]));
    }
    return tilemm__fold_lanes(levels->values[LEVELS - 1], levels->filled[LEVELS - 1]);
}

/* DOT's other operand from element `start` on; for others whatever can be passed on. */
static const float *other_operand(const tilemm__reduce_args_t *args, const float *x, int64_t start)
{
    return args->op == TILEMM__DOT ? args->y + start * args->y_istride : x;
}

/* Add m elements, from element `start` of a vector on, to a total. */
static void add_plain(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                      const float *x, int64_t start, int64_t m, total_t *total)
{
    const float *part = x + start * args->istride;
    k->sum_plain(args->op, args->nan_ignore, m, part, args->istride,
                 other_operand(args, part, start), args->y_istride, total);
    if (tilemm__sum_is_counted(args->op, args->nan_ignore)) /* not those that were left out */
        total->count += k->count(m, part, args->istride) - m;
}

/* The sum of one vector by one thread. */
static total_t sum_plain(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                         const float *x)
{
    enum { NEAR = 16384 }; /* elements that the first cache keeps for whoever counts them */
    const int64_t step =
        tilemm__sum_is_counted(args->op, args->nan_ignore) ? (int64_t)NEAR : args->n;
    total_t total = {{0, 0}, 0, 0};
    for (int64_t start = 0; start < args->n; start += step)
        add_plain(k, args, x, start, args->n - start < step ? args->n - start : step, &total);
    return total;
}

/* The same by all threads. Their order is another one each time. */
static total_t sum_plain_shared(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                const float *x, int threads)
{
    enum { GRAIN = 16384 }; /* elements that a thread takes at a time */
    total_t total = {{0, 0}, 0, 0};
#pragma omp parallel num_threads(threads)
    {
        total_t mine = {{0, 0}, 0, 0};
#pragma omp for schedule(static) nowait
        for (int64_t start = 0; start < args->n; start += GRAIN)
            add_plain(k, args, x, start, args->n - start < GRAIN ? args->n - start : (int64_t)GRAIN,
                      &mine);
#pragma omp critical(tilemm__reduce_sum)
        {
            total.sum = tilemm__sum_join(total.sum, mine.sum);
            total.magnitude += mine.magnitude;
            total.count += mine.count;
        }
    }
    return total;
}

/* The sums of the tiles of m <= 2^20 elements, from element `start` of a vector on. */
static void sum_tiles(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                      const float *x, int64_t start, int64_t m, tilemm__sum_t *sums)
{
    const float *part = x + start * args->istride;
    k->sum_tiles(args->op, args->nan_ignore, m, part, args->istride,
                 other_operand(args, part, start), args->y_istride, sums);
}

/* The same of m <= 2^20 elements, added up. */
static tilemm__sum_t sum_span(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                              const float *x, int64_t start, int64_t m)
{
    tilemm__sum_t sums[SPAN_TILES];
    sum_tiles(k, args, x, start, m, sums);
    return fold_all(tilemm__tile_count(m), sums);
}

static tilemm__sum_t sum_spans(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                               const float *x)
{
    levels_t levels = {{0}, {{{0, 0}}}};
    for (int64_t start = 0; start < args->n; start += SPAN)
        levels_add(&levels, 0,
                   sum_span(k, args, x, start, args->n - start < SPAN ? args->n - start : SPAN));
    return levels_finish(&levels);
}

/* The whole work for one vector by one thread. */
static tilemm__sum_t sum_vector(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                const float *x)
{
    return args->n <= SPAN ? sum_span(k, args, x, 0, args->n) : sum_spans(k, args, x);
}

/* The same by all threads: panel by panel they write the sums of its tiles. */
static tilemm__sum_t sum_vector_shared(const tilemm__reduce_cpu_t *k,
                                       const tilemm__reduce_args_t *args, const float *x,
                                       const tilemm__reduce_cpu_plan_t *plan, tilemm__sum_t *panel)
{
    enum { GRAIN = 16 }; /* tiles that a thread takes at a time: 64 KiB */
    const int64_t tiles = tilemm__tile_count(args->n);
    levels_t levels = {{0}, {{{0, 0}}}};
    for (int64_t first = 0; first < tiles; first += plan->panel) {
        const int64_t here = tiles - first < plan->panel ? tiles - first : plan->panel;
#pragma omp parallel for num_threads(plan->threads) schedule(static)
        for (int64_t t = 0; t < here; t += GRAIN) {
            const int64_t start = (first + t) * TILE;
            const int64_t end = (first + (t + GRAIN < here ? t + GRAIN : here)) * TILE;
            sum_tiles(k, args, x, start, (end < args->n ? end : args->n) - start, panel + t);
        }
        for (int64_t t = 0; t < here; t += SPAN_TILES)
            levels_add(&levels, 0,
                       fold_all(here - t < SPAN_TILES ? here - t : SPAN_TILES, panel + t));
    }
    return levels_finish(&levels);
}

/* ---- extremes ------------------------------------------------------------------------------- */

static int32_t extreme_shared(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                              const float *x, int threads, int64_t *index)
{
    const tilemm__order_t order = tilemm__order_of(args->op, args->nan_ignore);
    const int64_t tiles = tilemm__tile_count(args->n);
    int32_t best = TILEMM__KEY_NONE;
    int64_t where = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        const int64_t start = tiles / threads * part * TILE;
        const int64_t m =
            part + 1 < threads ? tiles / threads * TILE : args->n - start; /* the rest */
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

static void reduce_vector(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                          int64_t vector)
{
    const float *x = args->x + vector * args->vstride;
    int64_t place = 0;
    if (tilemm__op_is_order(args->op)) {
        int32_t key = k->extreme(tilemm__order_of(args->op, args->nan_ignore), args->n, x,
                                 args->istride, args->index_out ? &place : NULL);
        store_key(args, vector, key, place);
    } else {
        total_t total = sum_plain(k, args, x);
        if (!is_certain(args->op, &total, TILEMM__PLAIN_ADDITIONS))
            total.sum = sum_vector(k, args, x);
        store_sum(args, vector, total.sum, total.count);
    }
}

static void reduce_vectors(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                           const tilemm__reduce_cpu_plan_t *plan)
{
    if (plan->threads == 1) { /* a parallel region of one thread takes longer than a short vector */
        for (int64_t v = 0; v < args->count; v++)
            reduce_vector(k, args, v);
        return;
    }
#pragma omp parallel for num_threads(plan->threads) schedule(static)
    for (int64_t v = 0; v < args->count; v++)
        reduce_vector(k, args, v);
}

static void reduce_tiles(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                         const tilemm__reduce_cpu_plan_t *plan, tilemm__sum_t *workspace)
{
    tilemm__sum_t on_stack[SPAN_TILES];
    tilemm__sum_t *panel = plan->workspace ? workspace : on_stack;
    for (int64_t v = 0; v < args->count; v++) {
        const float *x = args->x + v * args->vstride;
        int64_t place = 0;
        if (tilemm__op_is_order(args->op)) {
            int32_t key =
                extreme_shared(k, args, x, plan->threads, args->index_out ? &place : NULL);
            store_key(args, v, key, place);
        } else {
            total_t total = sum_plain_shared(k, args, x, plan->threads);
            if (!is_certain(args->op, &total, TILEMM__PLAIN_ADDITIONS))
                total.sum = sum_vector_shared(k, args, x, plan, panel);
            store_sum(args, v, total.sum, total.count);
        }
    }
}

/* ---- down the rows ------------------------------------------------------------------------ */

/* The larger of two numbers that are not negative; NaN is larger than any. */
static double larger(double a, double b)
{
    return a > b || a != a ? a : b;
}

/* Levels of a strip: for each 32 values of `cols` columns in `lanes`, one after the other, as many
 * as the vectors need. */
typedef struct {
    int64_t cols;
    int filled[STRIP_LEVELS];
    double *lanes;
} strip_levels_t;

/* Fold the lanes of each column; the first row gets the sums. */
static void fold_strip(int64_t cols, double *lanes)
{
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        double *restrict low = lanes;
        const double *restrict high = lanes + half * cols;
        for (int64_t j = 0; j < half * cols; j++)
            low[j] += high[j];
    }
}

/* Add one value of each column to a level; `values` is no part of that. A level that is full is
 * folded when the next value comes: the vector's last level never is here. */
static void strip_add(strip_levels_t *levels, int level, const double *values)
{
    const int64_t cols = levels->cols;
    double *lanes = levels->lanes + level * LANES * cols;
    if (levels->filled[level] == LANES) {
        fold_strip(cols, lanes);
        strip_add(levels, level + 1, lanes);
        levels->filled[level] = 0;
    }
    if (levels->filled[level] == 0)
        memset(lanes, 0, (size_t)(LANES * cols) * sizeof *lanes);
    memcpy(lanes + levels->filled[level]++ * cols, values, (size_t)cols * sizeof *lanes);
}

/* The results of columns whose terms were added plainly. Those that are not certain are done again,
 * one by one. */
static void store_strip(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                        int64_t first, int64_t cols, const double *sums, const int64_t *counts,
                        double largest)
{
    int additions = TILE_ADDITIONS;
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        additions += FOLD_ADDITIONS;
    for (int64_t j = 0; j < cols; j++) {
        total_t total = {{sums[j], 0}, largest * (double)args->n, counts ? counts[j] : args->n};
        if (!is_certain(args->op, &total, additions))
            total.sum = sum_vector(k, args, args->x + first + j);
        store_sum(args, first + j, total.sum, total.count);
    }
}

/* The sums of the columns, once m > 0 values of each have been added to level 0. */
static const double *strip_finish(strip_levels_t *levels, int64_t m)
{
    double *lanes = levels->lanes;
    fold_strip(levels->cols, lanes);
    for (int level = 1; m > LANES; level++) {
        strip_add(levels, level, lanes);
        lanes = levels->lanes + level * LANES * levels->cols;
        fold_strip(levels->cols, lanes);
        m = tilemm__fold_count(m);
    }
    return lanes;
}

/* The keys, and perhaps the places, of `rows` rows of a strip. */
static void search_strip(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                         int64_t rows, int64_t cols, const float *x, int32_t *restrict keys,
                         int64_t *restrict places)
{
    enum { MAX_ROWS = 1 << 30 };
    const tilemm__order_t order = tilemm__order_of(args->op, args->nan_ignore);
    int32_t where[STRIP];
    for (int64_t j = 0; j < cols; j++)
        keys[j] = TILEMM__KEY_NONE;
    for (int64_t start = 0; start < rows; start += MAX_ROWS) {
        const int64_t m = rows - start < MAX_ROWS ? rows - start : MAX_ROWS;
        for (int64_t j = 0; j < cols; j++)
            where[j] = -1;
        k->extreme_down(order, m, cols, x + start * args->istride, args->istride, keys,
                        places ? where : NULL);
        for (int64_t j = 0; places && j < cols; j++) {
            if (start == 0 || where[j] >= 0)
                places[j] = start + where[j];
        }
    }
}

static void search_whole_strip(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                               int64_t first, int64_t cols)
{
    int32_t keys[STRIP];
    int64_t places[STRIP] = {0};
    search_strip(k, args, args->n, cols, args->x + first, keys, args->index_out ? places : NULL);
    for (int64_t j = 0; j < cols; j++)
        store_key(args, first + j, keys[j], places[j]);
}

static void sum_whole_strip(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            int64_t first, int64_t cols)
{
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    double lanes[TILEMM__REDUCE_STACK_LANES];
    strip_levels_t levels = {cols, {0}, lanes + LANES * cols};
    const double *sums = lanes;
    double largest = 0;
    int64_t counts[STRIP] = {0};
    for (int64_t start = 0; start < args->n; start += TILE) {
        const int64_t m = args->n - start < TILE ? args->n - start : TILE;
        const float *x = args->x + first + start * args->istride;
        largest = larger(largest,
                         k->sum_down(args->op, args->nan_ignore, m, cols, x, args->istride, lanes));
        if (counted)
            k->count_down(m, cols, x, args->istride, counts);
        if (args->n > TILE)
            strip_add(&levels, 0, lanes);
    }
    if (args->n > TILE)
        sums = strip_finish(&levels, tilemm__tile_count(args->n));
    store_strip(k, args, first, cols, sums, counted ? counts : NULL, largest);
}

static void reduce_strips(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                          const tilemm__reduce_cpu_plan_t *plan)
{
#pragma omp parallel for num_threads(plan->threads) schedule(dynamic) if (plan->threads > 1)
    for (int64_t first = 0; first < args->count; first += plan->strip) {
        const int64_t cols = args->count - first < plan->strip ? args->count - first : plan->strip;
        if (tilemm__op_is_order(args->op))
            search_whole_strip(k, args, first, cols);
        else
            sum_whole_strip(k, args, first, cols);
    }
}

/* Partial results of pieces: piece p of column j is at [p * count + j]; what is largest in piece p
 * of strip s at [p * strips + s]. */
typedef struct {
    double *sums; /* or */
    int32_t *keys;
    int64_t *extras; /* counts or places */
    double *largest;
} pieces_t;

static void reduce_piece(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                         const pieces_t *pieces, int64_t at, double *largest, int64_t start,
                         int64_t rows, int64_t first, int64_t cols)
{
    const float *x = args->x + first + start * args->istride;
    if (tilemm__op_is_order(args->op)) {
        int64_t *places = args->index_out ? pieces->extras + at : NULL;
        search_strip(k, args, rows, cols, x, pieces->keys + at, places);
        for (int64_t j = 0; places && j < cols; j++)
            places[j] += start;
    } else {
        double lanes[TILEMM__REDUCE_STACK_LANES];
        *largest = k->sum_down(args->op, args->nan_ignore, rows, cols, x, args->istride, lanes);
        memcpy(pieces->sums + at, lanes, (size_t)cols * sizeof *lanes);
        if (tilemm__sum_is_counted(args->op, args->nan_ignore)) {
            memset(pieces->extras + at, 0, (size_t)cols * sizeof *pieces->extras);
            k->count_down(rows, cols, x, args->istride, pieces->extras + at);
        }
    }
}

static void join_sums(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                      const pieces_t *pieces, int64_t parts, double largest, int64_t first,
                      int64_t cols)
{
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    double lanes[TILEMM__REDUCE_STACK_LANES];
    strip_levels_t levels = {cols, {0}, lanes};
    int64_t counts[STRIP] = {0};
    for (int64_t p = 0; p < parts; p++) {
        const int64_t at = p * args->count + first;
        strip_add(&levels, 0, pieces->sums + at);
        for (int64_t j = 0; counted && j < cols; j++)
            counts[j] += pieces->extras[at + j];
    }
    store_strip(k, args, first, cols, strip_finish(&levels, parts), counted ? counts : NULL,
                largest);
}

static void join_keys(const tilemm__reduce_args_t *args, const pieces_t *pieces, int64_t parts,
                      int64_t column)
{
    int32_t best = TILEMM__KEY_NONE;
    int64_t place = 0;
    for (int64_t p = 0; p < parts; p++) { /* the first of equal ones has the lowest place */
        const int64_t at = p * args->count + column;
        if (pieces->keys[at] > best) {
            best = pieces->keys[at];
            place = args->index_out ? pieces->extras[at] : 0;
        }
    }
    store_key(args, column, best, place);
}

static void reduce_pieces(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                          const tilemm__reduce_cpu_plan_t *plan, void *workspace)
{
    const int64_t parts = (args->n - 1) / plan->piece_rows + 1;
    const int64_t strips = (args->count - 1) / plan->strip + 1;
    double *const largest = workspace, *const values = largest + parts * strips;
    void *const keys = values; /* a search's, in the same place */
    const pieces_t pieces = {values, keys, (int64_t *)keys + parts * args->count, largest};
#pragma omp parallel num_threads(plan->threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < parts * strips; i++) {
            const int64_t p = i / strips, start = p * plan->piece_rows;
            const int64_t first = i % strips * plan->strip;
            const int64_t rows =
                args->n - start < plan->piece_rows ? args->n - start : plan->piece_rows;
            const int64_t cols =
                args->count - first < plan->strip ? args->count - first : plan->strip;
            reduce_piece(k, args, &pieces, p * args->count + first, pieces.largest + i, start, rows,
                         first, cols);
        }
#pragma omp for schedule(static)
        for (int64_t s = 0; s < strips; s++) {
            const int64_t first = s * plan->strip;
            const int64_t cols =
                args->count - first < plan->strip ? args->count - first : plan->strip;
            if (!tilemm__op_is_order(args->op)) {
                double all = 0;
                for (int64_t p = 0; p < parts; p++)
                    all = larger(all, pieces.largest[p * strips + s]);
                join_sums(k, args, &pieces, parts, all, first, cols);
            }
            for (int64_t j = 0; tilemm__op_is_order(args->op) && j < cols; j++)
                join_keys(args, &pieces, parts, first + j);
        }
    }
}

/* ---- entry -------------------------------------------------------------------------------- */

static void run(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                const tilemm__reduce_cpu_plan_t *plan, void *workspace)
{
    switch (plan->method) {
    case TILEMM__REDUCE_VECTORS: reduce_vectors(k, args, plan); break;
    case TILEMM__REDUCE_TILES: reduce_tiles(k, args, plan, workspace); break;
    case TILEMM__REDUCE_STRIPS: reduce_strips(k, args, plan); break;
    case TILEMM__REDUCE_PIECES: reduce_pieces(k, args, plan, workspace); break;
    }
}

/* The results of vectors that have no elements, and perhaps no address. */
static void store_empty(const tilemm__reduce_args_t *args)
{
    for (int64_t v = 0; v < args->count; v++) {
        if (tilemm__op_is_order(args->op))
            store_key(args, v, TILEMM__KEY_NONE, -1);
        else
            store_sum(args, v, (tilemm__sum_t){0, 0}, 0);
    }
}

/* kind: 0 across, 1 down, 2 segments. */
static const char *kernel_name(tilemm__isa_t isa, int kind)
{
#define NAMES(isa)                                                                                 \
    {                                                                                              \
        "reduce_across_" isa "_32x32", "reduce_down_" isa "_32x32",                                \
            "reduce_segments_" isa "_32x32"                                                        \
    }
    static const char *const names[][3] = {NAMES("generic"), NAMES("avx2"), NAMES("avx512"),
                                           NAMES("neon")};
#undef NAMES
    _Static_assert(TILEMM__TILE_ROWS == 32 && TILEMM__TILE_LANES == 32, "names say so");
    switch (isa) {
    case TILEMM__ISA_AMX:
    case TILEMM__ISA_AVX512: return names[2][kind];
    case TILEMM__ISA_AVX2: return names[1][kind];
    case TILEMM__ISA_NEON: return names[3][kind];
    default: return names[0][kind];
    }
}

static void plan_and_run(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__cpu_traits_t *traits = tilemm__cpu_traits(ctx);
    const int threads = tilemm__cpu_threads(ctx);
    tilemm__reduce_cpu_plan_t plan;
    void *workspace = NULL;
    tilemm__plan_reduce_cpu(&plan, args, traits, threads, SIZE_MAX);
    if (plan.workspace > 0) {
        size_t got;
        workspace = tilemm__cpu_workspace(ctx, plan.workspace, &got);
        if (got < plan.workspace)
            tilemm__plan_reduce_cpu(&plan, args, traits, threads, got);
    }
    tilemm__set_kernel_name(ctx,
                            kernel_name(traits->isa, plan.method == TILEMM__REDUCE_STRIPS ||
                                                         plan.method == TILEMM__REDUCE_PIECES));
    run(tilemm__cpu_kernels(ctx)->reduce, args, &plan, workspace);
}

tilemm_status_t tilemm__cpu_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    if (args->n == 0)
        store_empty(args);
    else
        plan_and_run(ctx, args);
    return TILEMM_SUCCESS;
}

/* A sum that is certain is one block without a total; all else is as any vector. */
int tilemm__cpu_reduce_small(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__reduce_cpu_t *k = tilemm__cpu_kernels(ctx)->reduce;
    if (tilemm__cpu_may_have_device(ctx))
        return 0;
    tilemm__set_kernel_name(ctx, kernel_name(tilemm__cpu_traits(ctx)->isa, 0));
    if (tilemm__op_is_order(args->op) || args->n > k->short_n ||
        !store_certain(args, k->sum_short(args->op, args->nan_ignore, args->n, args->x,
                                          other_operand(args, args->x, 0))))
        reduce_vector(k, args, 0);
    return 1;
}

tilemm_status_t tilemm__cpu_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    enum { ALONE = 1 << 20, GRAIN = 64 }; /* longer segments are shared by all threads */
    const tilemm__cpu_traits_t *traits = tilemm__cpu_traits(ctx);
    const tilemm__reduce_cpu_t *k = tilemm__cpu_kernels(ctx)->reduce;
    const int64_t *offsets = args->offsets;
    const double elements = (double)offsets[args->segments] - (double)offsets[0];
    const int threads =
        elements + 16.0 * (double)args->segments < 65536 ? 1 : tilemm__cpu_threads(ctx);
    const int64_t grain =
        args->segments / threads / GRAIN < GRAIN ? args->segments / threads / GRAIN + 1 : GRAIN;
    const tilemm__reduce_args_t one = {.op = args->op,
                                       .nan_ignore = args->nan_ignore,
                                       .count = 1,
                                       .istride = 1,
                                       .y_istride = 1,
                                       .out_stride = 1};
    int64_t shared = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, grain) reduction(+ : shared) \
    if (threads > 1)
    for (int64_t s = 0; s < args->segments; s++) {
        tilemm__reduce_args_t segment = one;
        segment.n = offsets[s + 1] > offsets[s] ? offsets[s + 1] - offsets[s] : 0;
        segment.out = args->out + s;
        if (segment.n == 0) {
            store_empty(&segment);
        } else if (segment.n > ALONE && threads > 1) {
            shared++;
        } else {
            segment.x = args->x + offsets[s];
            reduce_vector(k, &segment, 0);
        }
    }
    for (int64_t s = 0; shared > 0; s++) {
        tilemm__reduce_args_t segment = one;
        segment.n = offsets[s + 1] > offsets[s] ? offsets[s + 1] - offsets[s] : 0;
        if (segment.n > ALONE) {
            segment.x = args->x + offsets[s];
            segment.out = args->out + s;
            plan_and_run(ctx, &segment);
            shared--;
        }
    }
    tilemm__set_kernel_name(ctx, kernel_name(traits->isa, 2));
    return TILEMM_SUCCESS;
}
