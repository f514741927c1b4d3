/* simulated_reduce.c - see simulated_reduce.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "simulated_reduce.h"

#include <stdlib.h>

#include "kernels/reduce/ops.h"
#include "lib/reduce/plan_pieces_cuda.h"
#include "simulated_cuda.h"

/* ---- the canonical order, plainly ----------------------------------------------------------- */

typedef struct {
    tilemm__sum_t sum;
    int64_t count, index;
    int32_t key;
} result_t;

/* Of elements begin ... end - 1 of a vector; indices count from element 0 of it. */
static result_t reduce(const tilemm__reduce_args_t *p, const float *x, const float *y,
                       int64_t begin, int64_t end)
{
    const tilemm__order_t order = tilemm__order_of(p->op, p->nan_ignore);
    result_t r = {.key = TILEMM__KEY_NONE};
    int64_t numbers = 0;
    tilemm__sum_t *sum = need(calloc((size_t)((end - begin) / 1024 + 1), sizeof(*sum)));
    for (int64_t tile = begin; tile < end; tile += 1024) {
        tilemm__sum_t lane[32] = {{0, 0}};
        for (int64_t i = tile; i < tile + 1024 && i < end; i++) {
            const float v = x[i * p->istride], w = y ? y[i * p->y_istride] : 0;
            const double term =
                tilemm__op_is_order(p->op) ? 0 : tilemm__sum_term(p->op, p->nan_ignore, v, w);
            const int32_t key = tilemm__key_of(order, tilemm__float_bits(v));
            lane[(i - tile) % 32] = tilemm__sum_add(lane[(i - tile) % 32], term);
            r.count += v == v;
            if (key > r.key) {
                r.key = key;
                r.index = i;
            }
        }
        sum[numbers++] = tilemm__fold_lanes(lane, 32);
    }
    for (; numbers > 1; numbers = (numbers + 31) / 32)
        for (int64_t i = 0; i < numbers; i += 32)
            sum[i / 32] = tilemm__fold_lanes(sum + i, (int)(numbers - i < 32 ? numbers - i : 32));
    r.sum = sum[0];
    free(sum);
    return r;
}

void reduce_vectors(const void *args)
{
    const tilemm__reduce_args_t *p = args;
    const int counted = tilemm__sum_is_counted(p->op, p->nan_ignore);
    for (int64_t v = 0; v < p->count; v++) {
        const result_t r =
            reduce(p, p->x + v * p->vstride, p->op == TILEMM__DOT ? p->y : NULL, 0, p->n);
        if (p->out)
            p->out[v * p->out_stride] =
                tilemm__op_is_order(p->op)
                    ? tilemm__key_result(p->op, r.key)
                    : tilemm__sum_result(p->op, r.sum, counted ? r.count : p->n);
        if (p->index_out)
            p->index_out[v * p->out_stride] = tilemm__index_result(r.key, r.index);
    }
}

tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    simulated_note(ctx);
    simulated_call(tilemm__cuda(ctx)->stream, reduce_vectors, args, sizeof(*args));
    return TILEMM_SUCCESS;
}

typedef struct {
    tilemm__reduce_args_t args;
    int64_t unit, first_index;
    void *partials;
} part_t;

static void reduce_part(const void *args)
{
    const part_t *part = args;
    const tilemm__reduce_args_t *p = &part->args;
    const int64_t items = (p->n + part->unit - 1) / part->unit;
    const tilemm__partials_t to = tilemm__part_of(p, items * p->count, part->partials);
    for (int64_t i = 0; i < items; i++)
        for (int64_t v = 0; v < p->count; v++) {
            const int64_t end = (i + 1) * part->unit < p->n ? (i + 1) * part->unit : p->n;
            const result_t r = reduce(p, p->x + v * p->vstride, p->op == TILEMM__DOT ? p->y : NULL,
                                      i * part->unit, end);
            if (to.sums)
                to.sums[i * p->count + v] = r.sum;
            if (to.counts)
                to.counts[i * p->count + v] = r.count;
            if (to.keys)
                to.keys[i * p->count + v] = r.key;
            if (to.indices)
                to.indices[i * p->count + v] = part->first_index + r.index;
        }
}

tilemm_status_t tilemm__cuda_reduce_part(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                         int64_t unit, int64_t first_index, void *partials)
{
    const part_t part = {*args, unit, first_index, partials};
    if (first_index % unit != 0)
        simulated.faults++;
    simulated_note(ctx);
    simulated_call(tilemm__cuda(ctx)->stream, reduce_part, &part, sizeof(part));
    return TILEMM_SUCCESS;
}

void reduce_segments(const void *args)
{
    const tilemm__segments_args_t *p = args;
    for (int64_t s = 0; s < p->segments; s++) {
        const tilemm__reduce_args_t vector = {.op = p->op,
                                              .nan_ignore = p->nan_ignore,
                                              .count = 1,
                                              .n = p->offsets[s + 1] - p->offsets[s],
                                              .x = p->x + p->offsets[s],
                                              .istride = 1,
                                              .out = p->out + s,
                                              .out_stride = 1};
        reduce_vectors(&vector);
    }
}

tilemm_status_t tilemm__cuda_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    simulated_note(ctx);
    simulated_call(tilemm__cuda(ctx)->stream, reduce_segments, args, sizeof(*args));
    return TILEMM_SUCCESS;
}
