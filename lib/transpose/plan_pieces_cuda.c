/* plan_pieces_cuda.c - see plan_pieces_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_pieces_cuda.h"

#include <math.h>
#include <string.h>

#include "lib/size.h"

/* A piece has a 16th of the matrix, so that little time goes by before the first is up and after
 * the last is transposed, but no less than what a copy and a launch are worth; and no more than
 * MOST_BYTES, whose rows are as long as the link likes. SLOTS of each side: one is on its way, one
 * is transposed, one waits. */
enum {
    SMALLEST_BYTES = 4 << 10, /* where memory is short */
    LEAST_BYTES = 256 << 10,
    MOST_BYTES = 256 << 20,
    FEWEST_PIECES = 16,
    SLOTS = 3,
    ALIGNMENT = 256,
    UNIT = 64,   /* sides of pieces are multiples of it, so that tiles are whole */
    NARROW = 64, /* bytes of a row: shorter ones lie side by side on the device, */
    ACCESS = 16  /* and others at multiples of this */
};

tilemm__transpose_args_t tilemm__transpose_normal(const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    const int64_t rows = p.trans ? p.cols : p.rows, cols = p.trans ? p.rows : p.cols;
    if (p.rows == 1)
        p.ld_src = p.cols;
    if (rows == 1)
        p.ld_dst = cols;
    return p;
}

int tilemm__transpose_is_in_pieces(const tilemm__transpose_args_t *args)
{
    return args->ld_src == args->ld_dst && (!args->trans || args->rows == args->cols);
}

/* Elements from row to row of a slot with pieces of `cols` of a matrix's columns. */
static int64_t slot_ld(int64_t cols, int64_t whole, int64_t ld, int64_t size)
{
    const int is_dense = cols == whole && ld == whole; /* one piece of memory */
    return is_dense || cols * size < NARROW ? cols : tilemm__round_up(cols, ACCESS / size);
}

/* Pieces of about `most` bytes. */
static void cut(const tilemm__transpose_args_t *p, int64_t most, tilemm__transpose_pieces_t *plan)
{
    const int64_t size = (int64_t)p->elem_size, elements = tilemm__max(most / size, 1);
    plan->items = 1;
    plan->rows = p->rows;
    plan->cols = p->cols;
    if ((double)p->rows * (double)p->cols <= (double)elements) {
        plan->items = tilemm__min(p->batch_count, elements / (p->rows * p->cols));
        return;
    }
    /* As many rows as columns where both sides' rows are cut; else rows as long as they are. */
    const int64_t square = (int64_t)sqrt((double)elements);
    const int64_t unit = square < UNIT ? 1 : UNIT;
    int64_t cols = p->trans ? tilemm__max(square, elements / tilemm__max(p->rows, 1)) : elements;
    if (plan->in_pairs)
        cols = square;
    cols = tilemm__min(cols, p->cols);
    if (cols < p->cols)
        cols = tilemm__max(cols / unit * unit, 1);
    plan->cols =
        plan->in_pairs ? cols : tilemm__even_size(p->cols, cols, cols < p->cols ? unit : 1);
    plan->cols = tilemm__min(plan->cols, cols);
    int64_t rows = plan->in_pairs ? plan->cols : tilemm__max(elements / plan->cols, 1);
    if (rows > unit && rows < p->rows)
        rows = rows / unit * unit;
    plan->rows = tilemm__min(rows, p->rows);
}

static size_t slot_bytes(int64_t rows, int64_t ld, int64_t items, int64_t size)
{
    return (size_t)tilemm__round_up(rows * ld * items * size, ALIGNMENT);
}

static void add_up(const tilemm__transpose_args_t *p, const tilemm__transpose_places_t *places,
                   tilemm__transpose_pieces_t *plan)
{
    const int64_t size = (int64_t)p->elem_size;
    const int64_t rows = p->trans ? plan->cols : plan->rows;
    const int64_t cols = p->trans ? plan->rows : plan->cols;
    const int slots = plan->in_pairs ? SLOTS + 1 : SLOTS;
    plan->ld_in = slot_ld(plan->cols, p->cols, p->ld_src, size);
    plan->ld_out = slot_ld(cols, p->trans ? p->rows : p->cols, p->ld_dst, size);
    plan->in_bytes = slot_bytes(plan->rows, plan->ld_in, plan->items, size);
    plan->out_bytes = slot_bytes(rows, plan->ld_out, plan->items, size);
    plan->in_slots = places->src_on_host && !(p->scaled && p->alpha == 0) ? slots : 0;
    plan->out_slots = places->dst_on_host ? slots : 0;
    plan->bytes =
        (size_t)plan->in_slots * plan->in_bytes + (size_t)plan->out_slots * plan->out_bytes;
    plan->is_narrow =
        (plan->in_slots && plan->rows * plan->items > 1 && plan->cols * size < NARROW &&
         !(plan->cols == p->cols && p->ld_src == p->cols)) ||
        (plan->out_slots && rows * plan->items > 1 && cols * size < NARROW && !(cols == p->ld_dst));
}

int tilemm__plan_transpose_pieces(const tilemm__transpose_args_t *args,
                                  const tilemm__transpose_places_t *places,
                                  tilemm__transpose_pieces_t *plan)
{
    const double all = (double)args->rows * (double)args->cols * (double)args->batch_count *
                       (double)args->elem_size;
    int64_t most = tilemm__clamp(all / FEWEST_PIECES, LEAST_BYTES, MOST_BYTES);
    memset(plan, 0, sizeof *plan);
    plan->in_pairs = args->src == args->dst && args->trans;
    for (;; most = most * 3 / 4) {
        cut(args, most, plan);
        add_up(args, places, plan);
        if (plan->bytes <= places->memory)
            break;
        if (most < SMALLEST_BYTES)
            return TILEMM_OUT_OF_MEMORY;
    }
    tilemm__transpose_walk_t walk = {0};
    tilemm__transpose_piece_t piece[2];
    int count;
    while ((count = tilemm__transpose_next(args, plan, &walk, piece)) > 0)
        for (int i = 0; i < count; i++) {
            const size_t matrix = (size_t)(piece[i].rows * piece[i].cols) * args->elem_size;
            const size_t bytes = matrix * (size_t)piece[i].items;
            /* The matrix that the whole batch shares goes up once a piece. */
            plan->up += !plan->in_slots ? 0 : args->stride_src == 0 ? matrix : bytes;
            plan->down += plan->out_slots ? bytes : 0;
        }
    return TILEMM_SUCCESS;
}

int tilemm__transpose_next(const tilemm__transpose_args_t *args,
                           const tilemm__transpose_pieces_t *plan, tilemm__transpose_walk_t *walk,
                           tilemm__transpose_piece_t piece[2])
{
    if (walk->item >= args->batch_count)
        return 0;
    piece[0] = (tilemm__transpose_piece_t){
        walk->item, tilemm__min(plan->items, args->batch_count - walk->item),
        walk->row,  tilemm__min(plan->rows, args->rows - walk->row),
        walk->col,  tilemm__min(plan->cols, args->cols - walk->col)};
    const int count = plan->in_pairs && walk->row != walk->col ? 2 : 1;
    piece[1] = (tilemm__transpose_piece_t){walk->item,    1,         walk->col,
                                           piece[0].cols, walk->row, piece[0].rows};
    walk->col += plan->cols;
    if (walk->col >= args->cols) {
        walk->row += plan->rows;
        walk->col = plan->in_pairs ? walk->row : 0;
        if (walk->row >= args->rows) {
            walk->row = walk->col = 0;
            walk->item += plan->items;
        }
    }
    return count;
}
