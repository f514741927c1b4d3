/* plan_pieces.c - transposes and reductions of host operands in pieces: pieces cover each element
 * once, memory stays within the limit, no byte moves twice, parts begin where sums let them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/reduce/plan_pieces_cuda.h"
#include "lib/transpose/plan_pieces_cuda.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* Elements without arithmetic that overflows: sizes go up to 2^50. */
static double product(int64_t a, int64_t b, int64_t c)
{
    return (double)a * (double)b * (double)c;
}

/* ---- transposes ----------------------------------------------------------------------------- */

static void check_transpose(const tilemm__transpose_args_t *p,
                            const tilemm__transpose_places_t *places, unsigned char *seen)
{
    tilemm__transpose_pieces_t plan;
    tilemm__transpose_walk_t walk = {0};
    tilemm__transpose_piece_t piece[2];
    const size_t all = (size_t)(p->rows * p->cols * p->batch_count) * p->elem_size;
    const int64_t size = (int64_t)p->elem_size;
    int64_t wrong = 0, too_large = 0;
    int count;
    if (tilemm__plan_transpose_pieces(p, places, &plan) != TILEMM_SUCCESS) {
        CHECK(places->memory < (size_t)10 * 4096 * 4, "no plan for %zu bytes", places->memory);
        return;
    }
    if (seen)
        memset(seen, 0, (size_t)(p->rows * p->cols * p->batch_count));
    double covered = 0;
    while ((count = tilemm__transpose_next(p, &plan, &walk, piece)) > 0)
        for (int i = 0; i < count; i++) {
            const tilemm__transpose_piece_t *q = &piece[i];
            covered += product(q->rows, q->cols, q->items);
            wrong += q->row < 0 || q->col < 0 || q->rows < 1 || q->cols < 1 || q->items < 1 ||
                     q->row + q->rows > p->rows || q->col + q->cols > p->cols ||
                     q->item + q->items > p->batch_count;
            const int64_t out = (p->trans ? q->cols : q->rows) * plan.ld_out * q->items;
            too_large +=
                plan.in_slots && q->rows * plan.ld_in * q->items * size > (int64_t)plan.in_bytes;
            too_large += plan.out_slots && out * size > (int64_t)plan.out_bytes;
            too_large += plan.ld_in < q->cols || plan.ld_out < (p->trans ? q->rows : q->cols);
            for (int64_t b = q->item; seen && b < q->item + q->items; b++)
                for (int64_t r = q->row; r < q->row + q->rows; r++)
                    for (int64_t c = q->col; c < q->col + q->cols; c++)
                        wrong += seen[(b * p->rows + r) * p->cols + c]++ != 0;
            /* Both of a pair, each other's mirror image. */
            wrong += count == 2 && (piece[0].row != piece[1].col || piece[0].rows != piece[1].cols);
        }
    CHECK(wrong == 0 && too_large == 0 && covered == product(p->rows, p->cols, p->batch_count),
          "%lldx%lld x %lld of %zu bytes: %lld wrong, %lld too large, %g covered",
          (long long)p->rows, (long long)p->cols, (long long)p->batch_count, p->elem_size,
          (long long)wrong, (long long)too_large, covered);
    CHECK(plan.bytes <= places->memory, "%zu bytes of %zu", plan.bytes, places->memory);
    CHECK(plan.up == (places->src_on_host ? all : 0) &&
              plan.down == (places->dst_on_host ? all : 0),
          "%zu bytes up, %zu down, the matrix has %zu", plan.up, plan.down, all);
}

static void transposes(rng_t *rng)
{
    enum { MOST = 900 };
    static char matrix[1], other[1];
    unsigned char *seen = malloc((size_t)MOST * MOST * 20);
    if (!seen)
        exit(1);
    for (int i = 0; i < 600; i++) {
        tilemm__transpose_args_t p = {.rows = rng_range(rng, 1, i % 5 ? MOST : 4),
                                      .cols = rng_range(rng, 1, i % 7 ? MOST : 4),
                                      .elem_size = (size_t)1 << rng_range(rng, 0, 4),
                                      .trans = i % 3 != 0,
                                      .src = other,
                                      .dst = matrix,
                                      .batch_count = i % 4 ? 1 : rng_range(rng, 1, 20)};
        if (i % 6 == 5) { /* in place */
            p.src = p.dst = matrix;
            p.batch_count = 1;
            p.cols = p.trans ? p.rows : p.cols;
        }
        p.ld_src = p.cols + rng_range(rng, 0, 1) * 3;
        p.ld_dst =
            p.src == p.dst ? p.ld_src : (p.trans ? p.rows : p.cols) + rng_range(rng, 0, 1) * 3;
        p.stride_src = p.rows * p.ld_src;
        p.stride_dst = (p.trans ? p.cols : p.rows) * p.ld_dst;
        const int side = p.src == p.dst ? 3 : (int)rng_range(rng, 1, 3);
        const tilemm__transpose_places_t places = {(size_t)rng_range(rng, 1, 8 << 20), side & 1,
                                                   side >> 1};
        check_transpose(&p, &places, seen);
    }
    free(seen);
    /* Large: by sizes alone. Rows of the copies are long enough for the copy engine. */
    const tilemm__transpose_args_t large = {.src = other,
                                            .dst = matrix,
                                            .rows = 65536,
                                            .cols = 32768,
                                            .elem_size = 4,
                                            .trans = 1,
                                            .ld_src = 32768,
                                            .ld_dst = 65536,
                                            .batch_count = 1};
    const tilemm__transpose_places_t roomy = {(size_t)100 << 30, 1, 1};
    tilemm__transpose_pieces_t plan;
    check_transpose(&large, &roomy, NULL);
    CHECK(tilemm__plan_transpose_pieces(&large, &roomy, &plan) == TILEMM_SUCCESS &&
              plan.rows * 4 >= 8192 && plan.cols * 4 >= 8192 && !plan.is_narrow,
          "pieces of %lld x %lld", (long long)plan.rows, (long long)plan.cols);
    const tilemm__transpose_args_t tall = {.src = other,
                                           .dst = matrix,
                                           .rows = (int64_t)1 << 36,
                                           .cols = 3,
                                           .elem_size = 4,
                                           .trans = 1,
                                           .ld_src = 3,
                                           .ld_dst = (int64_t)1 << 36,
                                           .batch_count = 1};
    check_transpose(&tall, &roomy, NULL);
}

/* ---- reductions ----------------------------------------------------------------------------- */

static void check_reduce(const tilemm__reduce_args_t *p, const tilemm__reduce_places_t *places)
{
    tilemm__reduce_pieces_t plan;
    tilemm__reduce_walk_t walk = {0};
    tilemm__reduce_piece_t piece;
    int64_t wrong = 0, vector = 0, element = 0;
    const size_t all = (size_t)(p->count * p->n) * 4;
    if (tilemm__plan_reduce_pieces(p, places, &plan) != TILEMM_SUCCESS) {
        CHECK(places->memory < (size_t)4 * (64 << 10), "no plan for %zu bytes", places->memory);
        return;
    }
    while (tilemm__reduce_next(p, &plan, &walk, &piece)) {
        const int64_t elements = piece.end - piece.begin;
        const int64_t lines = plan.kind == TILEMM__PIECES_COLUMNS ? elements : piece.vectors;
        const int64_t across = plan.kind == TILEMM__PIECES_COLUMNS ? piece.vectors : elements;
        wrong += piece.vector != vector || piece.begin != element || elements < 1 ||
                 piece.vectors < 1 || piece.vector + piece.vectors > p->count || piece.end > p->n;
        wrong += piece.is_last != (piece.end == p->n) || (!piece.in_part && elements != p->n);
        wrong += piece.in_part && (piece.begin % plan.unit != 0 || plan.unit % 1024 != 0);
        /* It fits its slots. */
        const size_t x_bytes = (size_t)(((lines - 1) * plan.ld + across) * 4);
        wrong += plan.ld < across || (places->x_on_host && x_bytes > plan.in_bytes) ||
                 (places->x_on_host && places->y_on_host && x_bytes > plan.y_at);
        wrong += places->y_on_host && plan.y_at + (size_t)elements * 4 > plan.in_bytes;
        wrong += piece.in_part && tilemm__part_bytes(p, (elements + plan.unit - 1) / plan.unit *
                                                            piece.vectors) > plan.part_bytes;
        wrong += !piece.in_part && places->out_on_host &&
                 (size_t)piece.vectors * (p->index_out ? 8 : 4) > plan.out_bytes;
        element = piece.is_last ? 0 : piece.end;
        vector += piece.is_last ? piece.vectors : 0;
    }
    CHECK(wrong == 0 && vector == p->count && element == 0,
          "%lld vectors of %lld, istride %lld: %lld wrong, %lld covered", (long long)p->count,
          (long long)p->n, (long long)p->istride, (long long)wrong, (long long)vector);
    CHECK(plan.bytes <= places->memory, "%zu bytes of %zu", plan.bytes, places->memory);
    CHECK(plan.up == all * (size_t)(places->x_on_host + places->y_on_host), "%zu bytes up of %zu",
          plan.up, all);
}

static void reductions(rng_t *rng)
{
    static float value;
    static int64_t index;
    for (int i = 0; i < 3000; i++) {
        const int shape = i % 4;
        tilemm__reduce_args_t p = {.op = shape == 3 ? TILEMM__DOT : (int)rng_range(rng, 0, 8),
                                   .nan_ignore = i % 2,
                                   .count = 1,
                                   .n = rng_range(rng, 1, (int64_t)1 << rng_range(rng, 1, 26)),
                                   .istride = i % 8 < 4 ? 1 : -3,
                                   .y_istride = 1,
                                   .out = &value};
        if (shape == 1 || shape == 2)
            p.count = rng_range(rng, 1, ((int64_t)1 << 26) / p.n + 1);
        if (shape == 1) {
            p.istride = 1;
            p.vstride = p.n + rng_range(rng, 0, 2);
        } else if (shape == 2) {
            p.vstride = 1;
            p.istride = p.count + rng_range(rng, 0, 2);
        }
        if (tilemm__op_is_order(p.op) && i % 3 == 0)
            p.index_out = &index;
        const int dot = p.op == TILEMM__DOT;
        const int x_on_host = !dot || i % 3 != 0;
        const tilemm__reduce_places_t places = {
            .memory = (size_t)rng_range(rng, 1, (int64_t)1 << rng_range(rng, 10, 30)),
            .x_on_host = x_on_host,
            .y_on_host = dot && (!x_on_host || i % 5 != 0),
            .out_on_host = (int)rng_range(rng, 0, 1)};
        check_reduce(&p, &places);
    }
    const tilemm__reduce_args_t large = {
        .op = TILEMM__SUM, .count = 1, .n = (int64_t)1 << 44, .istride = 1, .out = &value};
    const tilemm__reduce_places_t roomy = {(size_t)100 << 30, 1, 0, 1, 0};
    check_reduce(&large, &roomy);
}

static void segments(rng_t *rng)
{
    enum { MOST = 3000 };
    static int64_t offsets[MOST + 1];
    for (int i = 0; i < 500; i++) {
        tilemm__segments_args_t p = {.op = (int)rng_range(rng, 0, 8),
                                     .segments = rng_range(rng, 1, MOST)};
        offsets[0] = rng_range(rng, 0, (int64_t)1 << 40);
        for (int64_t s = 0; s < p.segments; s++)
            offsets[s + 1] =
                offsets[s] +
                rng_range(rng, 0, (int64_t)1 << rng_range(rng, 0, rng_range(rng, 0, 22)));
        if (i % 10 == 0) { /* whole parts: 2^16 elements, where there are few */
            p.segments = 3;
            for (int64_t s = 0; s < p.segments; s++)
                offsets[s + 1] = offsets[s] + ((int64_t)1 << (16 + s));
        }
        const tilemm__reduce_places_t places = {
            (size_t)rng_range(rng, 200 << 10, (int64_t)1 << rng_range(rng, 20, 30)) +
                (i % 10 ? 0 : (size_t)8 << 20),
            1, (int)rng_range(rng, 0, 1), (int)rng_range(rng, 0, 1), 0};
        tilemm__reduce_pieces_t plan;
        tilemm__reduce_walk_t walk = {0};
        tilemm__reduce_piece_t piece;
        int64_t wrong = 0, segment = 0, at = offsets[0];
        if (tilemm__plan_segments_pieces(&p, offsets, &places, &plan) != TILEMM_SUCCESS) {
            CHECK(places.memory < (size_t)4 * (64 << 10), "no plan for %zu bytes", places.memory);
            continue;
        }
        while (tilemm__segments_next(offsets, p.segments, &plan, &walk, &piece)) {
            wrong += piece.vector != segment || piece.begin != at || piece.vectors < 1;
            wrong += piece.end - piece.begin > plan.elements || piece.vectors > plan.vectors;
            wrong += piece.in_part ? (piece.begin - offsets[segment]) % plan.unit != 0 ||
                                         piece.is_last != (piece.end == offsets[segment + 1])
                                   : piece.end != offsets[segment + piece.vectors];
            wrong += piece.in_part && !plan.part_bytes;
            segment += piece.is_last ? piece.vectors : 0;
            at = piece.end;
        }
        CHECK(wrong == 0 && segment == p.segments && at == offsets[p.segments],
              "%d: %lld segments: %lld wrong", i, (long long)p.segments, (long long)wrong);
        CHECK(plan.bytes <= places.memory, "%zu bytes of %zu", plan.bytes, places.memory);
    }
}

int main(void)
{
    rng_t rng = {7};
    transposes(&rng);
    reductions(&rng);
    segments(&rng);
    return check_exit();
}
