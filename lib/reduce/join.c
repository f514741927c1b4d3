/* join.c - see join.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "join.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = TILEMM__TILE_LANES };

void tilemm__join_end(tilemm__join_t *join)
{
    for (int level = 0; level < TILEMM__JOIN_LEVELS; level++)
        free(join->waiting[level]);
    free(join->keys);
    free(join->extras);
    memset(join, 0, sizeof *join);
}

int tilemm__join_begin(tilemm__join_t *join, int op, int nan_ignore, int has_index, int64_t vectors)
{
    if (vectors > join->room) {
        tilemm__join_end(join);
        join->keys = malloc((size_t)vectors * sizeof *join->keys);
        join->extras = malloc((size_t)vectors * sizeof *join->extras);
        if (!join->keys || !join->extras)
            return -1;
        join->room = vectors;
    }
    join->op = op;
    join->nan_ignore = nan_ignore;
    join->has_index = has_index;
    join->vectors = vectors;
    memset(join->count, 0, sizeof join->count);
    for (int64_t v = 0; v < vectors; v++) {
        join->keys[v] = TILEMM__KEY_NONE;
        join->extras[v] = 0;
    }
    return 0;
}

/* Fold the numbers of a level to one of each vector: tilemm__fold_lanes() of all vectors. */
static const tilemm__sum_t *fold(tilemm__join_t *join, int level)
{
    const int64_t vectors = join->vectors;
    tilemm__sum_t *const numbers = join->waiting[level];
    int used = join->count[level];
    join->count[level] = 0;
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int l = half; l < used; l++)
            for (int64_t v = 0; v < vectors; v++)
                numbers[(l - half) * vectors + v] =
                    tilemm__sum_join(numbers[(l - half) * vectors + v], numbers[l * vectors + v]);
        used = used < half ? used : half;
    }
    return numbers;
}

/* A number of each vector. 32 of a level become one of the next. */
static int add_sums(tilemm__join_t *join, const tilemm__sum_t *sums)
{
    for (int level = 0;; level++) {
        tilemm__sum_t **const waiting = &join->waiting[level];
        if (!*waiting && !(*waiting = malloc((size_t)(LANES * join->room) * sizeof **waiting)))
            return -1;
        memcpy(*waiting + join->count[level] * join->vectors, sums,
               (size_t)join->vectors * sizeof *sums);
        if (++join->count[level] < LANES)
            return 0;
        sums = fold(join, level);
    }
}

static void add_keys(tilemm__join_t *join, const int32_t *keys, const int64_t *indices)
{
    for (int64_t v = 0; v < join->vectors; v++) {
        const int64_t index = indices ? indices[v] : 0;
        if (tilemm__key_wins(keys[v], index, join->keys[v], join->extras[v])) {
            join->keys[v] = keys[v];
            join->extras[v] = index;
        }
    }
}

int tilemm__join_add(tilemm__join_t *join, const tilemm__partials_t *partials, int64_t items)
{
    const int64_t vectors = join->vectors;
    for (int64_t i = 0; i < items; i++) {
        if (partials->keys) {
            add_keys(join, partials->keys + i * vectors,
                     partials->indices ? partials->indices + i * vectors : NULL);
            continue;
        }
        for (int64_t v = 0; v < vectors && partials->counts; v++)
            join->extras[v] += partials->counts[i * vectors + v];
        if (add_sums(join, partials->sums + i * vectors))
            return -1;
    }
    return 0;
}

/* What waits is folded level by level: the last group of each is not whole. */
static const tilemm__sum_t *fold_all(tilemm__join_t *join)
{
    int top = TILEMM__JOIN_LEVELS - 1;
    while (top > 0 && join->count[top] == 0)
        top--;
    for (int level = 0; level < top; level++)
        if (join->count[level] > 0) {
            const tilemm__sum_t *const sums = fold(join, level);
            memcpy(join->waiting[level + 1] + join->count[level + 1] * join->vectors, sums,
                   (size_t)join->vectors * sizeof *sums);
            join->count[level + 1]++;
        }
    return fold(join, top);
}

void tilemm__join_finish(tilemm__join_t *join, int64_t n, float *out, int64_t *index_out,
                         int64_t out_stride)
{
    const int is_search = tilemm__op_is_order(join->op);
    const int counted = tilemm__sum_is_counted(join->op, join->nan_ignore);
    const tilemm__sum_t *const sums = is_search ? NULL : fold_all(join);
    for (int64_t v = 0; v < join->vectors; v++) {
        if (out)
            out[v * out_stride] =
                is_search ? tilemm__key_result(join->op, join->keys[v])
                          : tilemm__sum_result(join->op, sums[v], counted ? join->extras[v] : n);
        if (index_out)
            index_out[v * out_stride] = tilemm__index_result(join->keys[v], join->extras[v]);
    }
}
