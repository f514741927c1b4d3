/* plan_pieces_cuda.c - see plan_pieces_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_pieces_cuda.h"

#include <string.h>

#include "lib/size.h"

/* A piece has an eighth of the elements, since a GPU reads the last one in little time, but no less
 * than what a copy and a launch are worth. */
enum {
    SMALLEST_BYTES = 16 << 10, /* where memory is short: a tile of two vectors or more */
    LEAST_BYTES = 256 << 10,
    MOST_BYTES = 256 << 20,
    FEWEST_PIECES = 8,
    SLOTS = TILEMM__PIECES_SLOTS,
    ALIGNMENT = 256,
    NARROW = 64,      /* bytes of a row for which the copy engine is no slower */
    GOOD_COLS = 1024, /* of a piece of columns: rows of 4 KB */
    TILE = TILEMM__TILE_ELEMS,
    FOLD = TILEMM__KEPT_ELEMENTS,
    FLOAT = sizeof(float)
};

static size_t align(int64_t bytes)
{
    return (size_t)tilemm__round_up(bytes, ALIGNMENT);
}

int tilemm__reduce_is_in_pieces(const tilemm__reduce_args_t *args)
{
    return args->n > 0 && (args->count == 1 || args->istride == 1 || args->vstride == 1);
}

static tilemm__pieces_kind_t kind_of(const tilemm__reduce_args_t *args)
{
    const int unit_y = args->op != TILEMM__DOT || args->y_istride == 1;
    if (args->istride == 1 && unit_y)
        return TILEMM__PIECES_LINES;
    return args->count == 1 ? TILEMM__PIECES_SPREAD : TILEMM__PIECES_COLUMNS;
}

/* Pieces of about `most` bytes: of x and y together. */
static void cut(const tilemm__reduce_args_t *p, int64_t most, int keeps_parts,
                tilemm__reduce_pieces_t *plan)
{
    const int64_t operands = p->op == TILEMM__DOT ? 2 : 1, fits = most / FLOAT / operands;
    plan->kind = kind_of(p);
    plan->unit = TILE;
    plan->elements = p->n;
    if (plan->kind != TILEMM__PIECES_COLUMNS) {
        plan->in_parts = p->n > fits || keeps_parts;
        plan->vectors = plan->in_parts ? 1 : tilemm__min(p->count, fits / p->n);
        if (plan->in_parts) {
            plan->unit = fits >= FOLD ? FOLD : TILE;
            plan->elements = fits / plan->unit * plan->unit;
        }
        return;
    }
    const int64_t cols = fits / p->n; /* of whole columns */
    plan->in_parts = cols < tilemm__min(p->count, GOOD_COLS);
    plan->vectors = tilemm__min(p->count, plan->in_parts ? fits / TILE : cols);
    if (plan->in_parts) {
        plan->vectors = tilemm__max(plan->vectors, 1);
        plan->elements = tilemm__max(fits / plan->vectors / TILE, 1) * TILE;
        if (plan->elements >= p->n) { /* as many as there are: whole columns after all */
            plan->elements = p->n;
            plan->in_parts = 0;
        }
    }
}

static void add_up(const tilemm__reduce_args_t *p, const tilemm__reduce_places_t *places,
                   tilemm__reduce_pieces_t *plan)
{
    const int is_columns = plan->kind == TILEMM__PIECES_COLUMNS;
    const int64_t across = is_columns ? plan->vectors : plan->elements;
    const int64_t lines = is_columns ? plan->elements : plan->vectors;
    const int64_t whole = is_columns ? p->count : p->n;
    const int64_t pitch = is_columns ? p->istride : p->vstride;
    /* Lines that follow one another in memory do so on the device too. */
    plan->ld = lines == 1 || (across == whole && pitch == across) || across * FLOAT < NARROW
                   ? across
                   : tilemm__round_up(across, 4);
    plan->is_narrow = plan->kind == TILEMM__PIECES_SPREAD ||
                      (lines > 1 && across * FLOAT < NARROW && pitch != across);
    plan->y_at = places->x_on_host ? align(lines * plan->ld * FLOAT) : 0;
    plan->in_bytes = plan->y_at + (places->y_on_host ? align(plan->elements * FLOAT) : 0);
    plan->out_bytes = !plan->in_parts && places->out_on_host
                          ? align(plan->vectors * (p->index_out ? 2 : 1) * FLOAT)
                          : 0;
    plan->part_bytes = plan->in_parts
                           ? align((int64_t)tilemm__part_bytes(
                                 p, tilemm__div_up(plan->elements, plan->unit) * plan->vectors))
                           : 0;
    plan->bytes = SLOTS * (plan->in_bytes + plan->out_bytes + plan->part_bytes);
}

int tilemm__reduce_next(const tilemm__reduce_args_t *args, const tilemm__reduce_pieces_t *plan,
                        tilemm__reduce_walk_t *walk, tilemm__reduce_piece_t *piece)
{
    if (walk->vector >= args->count)
        return 0;
    const int64_t vectors = tilemm__min(plan->vectors, args->count - walk->vector);
    const int64_t elements = tilemm__min(plan->elements, args->n - walk->element);
    *piece = (tilemm__reduce_piece_t){walk->vector,   vectors,
                                      walk->element,  walk->element + elements,
                                      plan->in_parts, walk->element + elements == args->n};
    walk->element += elements;
    if (piece->is_last) {
        walk->element = 0;
        walk->vector += vectors;
    }
    return 1;
}

int tilemm__plan_reduce_pieces(const tilemm__reduce_args_t *args,
                               const tilemm__reduce_places_t *places, tilemm__reduce_pieces_t *plan)
{
    const double vectors = (double)args->count * (double)args->n * FLOAT;
    const double all = args->op == TILEMM__DOT ? 2 * vectors : vectors;
    int64_t most = tilemm__clamp(all / FEWEST_PIECES, LEAST_BYTES, MOST_BYTES);
    for (;; most = most * 3 / 4) {
        memset(plan, 0, sizeof *plan);
        cut(args, most, places->keeps_parts, plan);
        add_up(args, places, plan);
        if (places->keeps_parts && plan->unit < FOLD)
            return TILEMM_OUT_OF_MEMORY;
        if (plan->bytes <= places->memory)
            break;
        if (most * 3 / 4 < SMALLEST_BYTES)
            return TILEMM_OUT_OF_MEMORY;
    }
    const size_t elements = (size_t)(args->count * args->n) * FLOAT;
    plan->up = (places->x_on_host ? elements : 0) + (places->y_on_host ? elements : 0);
    plan->down = !places->out_on_host
                     ? 0
                     : (size_t)args->count * ((args->out ? sizeof(float) : 0) +
                                              (args->index_out ? sizeof(int64_t) : 0));
    return TILEMM_SUCCESS;
}

/* ---- segments ------------------------------------------------------------------------------- */

int tilemm__segments_next(const int64_t *offsets, int64_t segments,
                          const tilemm__reduce_pieces_t *plan, tilemm__reduce_walk_t *walk,
                          tilemm__reduce_piece_t *piece)
{
    const int64_t first = walk->vector;
    int64_t end = first;
    if (first >= segments)
        return 0;
    if (offsets[first + 1] - offsets[first] > plan->elements) {
        const int64_t begin = offsets[first] + walk->element;
        const int64_t part = plan->elements / plan->unit * plan->unit;
        const int64_t left = offsets[first + 1] - begin;
        *piece = (tilemm__reduce_piece_t){first,       1, begin, begin + tilemm__min(part, left), 1,
                                          left <= part};
        walk->element = piece->is_last ? 0 : walk->element + part;
        walk->vector += piece->is_last;
        return 1;
    }
    while (end < segments && end - first < plan->vectors &&
           offsets[end + 1] - offsets[first] <= plan->elements)
        end++;
    *piece = (tilemm__reduce_piece_t){first, end - first, offsets[first], offsets[end], 0, 1};
    walk->vector = end;
    return 1;
}

int tilemm__plan_segments_pieces(const tilemm__segments_args_t *args, const int64_t *offsets,
                                 const tilemm__reduce_places_t *places,
                                 tilemm__reduce_pieces_t *plan)
{
    const int64_t elements = offsets[args->segments] - offsets[0];
    const tilemm__reduce_args_t part = {.op = args->op, .nan_ignore = args->nan_ignore};
    int64_t most = tilemm__clamp((double)elements * FLOAT / FEWEST_PIECES, LEAST_BYTES, MOST_BYTES);
    for (;; most = most * 3 / 4) {
        memset(plan, 0, sizeof *plan);
        plan->elements = most / FLOAT;
        plan->vectors = tilemm__min(plan->elements / 4, args->segments);
        plan->in_parts = elements > plan->elements; /* perhaps */
        plan->unit = plan->elements >= FOLD ? FOLD : TILE;
        plan->ld = plan->elements;
        plan->y_at = align(plan->elements * FLOAT);
        plan->in_bytes = plan->y_at + (places->y_on_host ? align((plan->vectors + 1) * 8) : 0);
        plan->out_bytes = places->out_on_host ? align(plan->vectors * FLOAT) : 0;
        plan->part_bytes =
            align((int64_t)tilemm__part_bytes(&part, tilemm__div_up(plan->elements, plan->unit)));
        plan->bytes = SLOTS * (plan->in_bytes + plan->out_bytes + plan->part_bytes);
        if (plan->bytes <= places->memory)
            break;
        if (most * 3 / 4 < SMALLEST_BYTES)
            return TILEMM_OUT_OF_MEMORY;
    }
    plan->up = (size_t)elements * FLOAT +
               (places->y_on_host ? (size_t)(args->segments + 1) * sizeof(int64_t) : 0);
    plan->down = places->out_on_host ? (size_t)args->segments * FLOAT : 0;
    return TILEMM_SUCCESS;
}
