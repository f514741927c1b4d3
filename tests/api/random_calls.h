/* random_calls.h - random calls of every operation on device operands, for calls that are planned
 * and captured but never run: nothing is read or written, so sizes may be larger than the memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_RANDOM_CALLS_H
#define TILEMM_TESTS_API_RANDOM_CALLS_H

#include <stdio.h>

#include "tests/support/support.h"

enum { OPERAND_BYTES = 1 << 20 };

static char *operands;      /* OPERAND_BYTES of device memory, in which all operands begin */
static char call_text[256]; /* the last call, in words */

static inline int chance(rng_t *rng, int of)
{
    return rng_range(rng, 0, of - 1) == 0;
}

/* A number from 1 to 2^bits, of any magnitude. */
static inline int64_t magnitude(rng_t *rng, int bits)
{
    const int64_t most = (int64_t)1 << rng_range(rng, 0, bits);
    return rng_range(rng, most / 2 + 1, most);
}

/* The address of operand `number`: a multiple of 256, or every other time `offset` bytes further.
 */
static inline void *address(rng_t *rng, int number, size_t offset)
{
    return operands + number * (OPERAND_BYTES / 8) + (chance(rng, 2) ? 0 : offset);
}

static inline tilemm_op_t any_op(rng_t *rng)
{
    return chance(rng, 2) ? TILEMM_TRANS : TILEMM_NO_TRANS;
}

static inline tilemm_layout_t any_layout(rng_t *rng)
{
    return chance(rng, 2) ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR;
}

/* Sizes are multiples of `unit`, except those of small batches. */
static inline void sgemm_sizes(rng_t *rng, int64_t unit, int64_t *m, int64_t *n, int64_t *k,
                               int64_t *batch)
{
    const int64_t small = (int64_t)1 << rng_range(rng, 2, 5);
    *batch = chance(rng, 4) ? rng_range(rng, 2, 20) : 1;
    switch (rng_range(rng, 0, 6)) {
    case 0: /* small batch */
        *m = rng_range(rng, 1, small);
        *n = rng_range(rng, 1, small);
        *k = rng_range(rng, 1, small);
        *batch = magnitude(rng, 14);
        return;
    case 1: /* skinny */
        *m = magnitude(rng, 17);
        *n = magnitude(rng, 5);
        *k = magnitude(rng, 17);
        break;
    case 2: /* deep */
        *m = rng_range(rng, 1, 300);
        *n = rng_range(rng, 1, 300);
        *k = magnitude(rng, 18);
        break;
    case 3: /* large */
        *m = rng_range(rng, 500, 9000);
        *n = rng_range(rng, 500, 9000);
        *k = rng_range(rng, 30, 9000);
        break;
    default:
        *m = magnitude(rng, 13);
        *n = magnitude(rng, 13);
        *k = magnitude(rng, 13);
    }
    *m = (*m + unit - 1) / unit * unit;
    *n = *n < 8 ? *n : (*n + unit - 1) / unit * unit;
    *k = (*k + unit - 1) / unit * unit;
    if (chance(rng, 2)) {
        int64_t swap = *m;
        *m = *n;
        *n = swap;
    }
}

static inline tilemm_status_t call_sgemm(tilemm_t ctx, rng_t *rng)
{
    static const tilemm_math_t modes[] = {TILEMM_MATH_FP32, TILEMM_MATH_FP32_STRICT,
                                          TILEMM_MATH_TF32};
    const int mode = (int)rng_range(rng, 0, 2), arrays = chance(rng, 8);
    const int aligned = chance(rng, 2);
    const int64_t unit = aligned ? 4 : 1;
    int64_t m, n, k, batch;
    sgemm_sizes(rng, aligned ? (int64_t)4 << rng_range(rng, 0, 5) : 1, &m, &n, &k, &batch);
    const float alpha = chance(rng, 20) ? 0.0f : 1.5f, beta = chance(rng, 2) ? 0.0f : 0.5f;
    tilemm_layout_t layout = any_layout(rng);
    tilemm_op_t transa = any_op(rng), transb = any_op(rng);
    gemm_t g = gemm_make(layout, transa, transb, m, n, k, alpha, beta);
    if (chance(rng, 2))
        gemm_set_ld(&g, unit * rng_range(rng, 0, 4), unit * rng_range(rng, 0, 4),
                    unit * rng_range(rng, 0, 4));
    const size_t offset = aligned ? 0 : sizeof(float);
    void *a = address(rng, 0, offset), *b = address(rng, 1, offset), *c = address(rng, 2, offset);
    const int64_t pad = unit * rng_range(rng, 0, 1);
    const int invariant = chance(rng, 4);
    snprintf(call_text, sizeof call_text, "sgemm %s batch %lld%s at %p %p %p mode %d%s",
             gemm_text(&g), (long long)batch, arrays ? " by arrays" : "", a, b, c, mode,
             invariant ? " invariant" : "");
    tilemm_set_math(ctx, modes[mode]);
    tilemm_set_invariance(ctx, invariant ? TILEMM_INVARIANT : TILEMM_INVARIANCE_NONE);
    if (arrays) /* of pointers, on the device */
        return gemm_call_batched(ctx, &g,
                                 (const float *const *)(void *)(operands + OPERAND_BYTES / 2),
                                 (const float *const *)(void *)(operands + OPERAND_BYTES / 4),
                                 (float *const *)(void *)operands, batch);
    if (batch > 1)
        return gemm_call_strided(ctx, &g, a, gemm_span_a(&g) + pad, b, gemm_span_b(&g) + pad, c,
                                 gemm_span_c(&g) + pad, batch);
    return gemm_call(ctx, &g, a, b, c);
}

/* At most `most` elements of a matrix, and 2^38 in all. */
static inline void transpose_sizes(rng_t *rng, int64_t most, int64_t *rows, int64_t *cols,
                                   int64_t *batch)
{
    *batch = chance(rng, 4) ? magnitude(rng, 24) : 1;
    switch (rng_range(rng, 0, 5)) {
    case 0: /* strips */
        *rows = magnitude(rng, 26);
        *cols = rng_range(rng, 1, 140);
        break;
    case 1: /* small */
        *rows = rng_range(rng, 1, 100);
        *cols = rng_range(rng, 1, 100);
        break;
    case 2: /* large */
        *rows = rng_range(rng, 1000, 100000);
        *cols = rng_range(rng, 1000, 100000);
        break;
    case 3: /* few columns, and aligned rows of the result */
        *rows = 16 * magnitude(rng, 20);
        *cols = rng_range(rng, 2, 8);
        return;
    default: *rows = magnitude(rng, 14); *cols = magnitude(rng, 14);
    }
    if (chance(rng, 2)) {
        int64_t swap = *rows;
        *rows = *cols;
        *cols = swap;
    }
    if (chance(rng, 4))
        *cols = *rows;
    if (chance(rng, 2)) {
        *rows = (*rows + 31) / 32 * 32;
        *cols = (*cols + 31) / 32 * 32;
    }
    while (*rows * *cols > most) {
        *rows = *rows / 2 + 1;
        *cols = *cols / 2 + 1;
    }
    while (*batch > 1 && *rows * *cols * *batch > (int64_t)1 << 38)
        *batch /= 2;
}

static inline tilemm_status_t call_transpose(tilemm_t ctx, rng_t *rng)
{
    const int which = (int)rng_range(rng, 0, 5);
    const size_t size = which > 3 ? 4 : (size_t)1 << rng_range(rng, 0, 4);
    const float alpha = (float)rng_range(rng, 0, 2);
    const tilemm_layout_t layout = any_layout(rng);
    const tilemm_op_t trans = any_op(rng);
    int64_t rows, cols, batch;
    const int in_place = which == 3 || which == 5; /* many launches if large */
    transpose_sizes(rng, (int64_t)1 << (in_place ? 27 : 38), &rows, &cols, &batch);
    const int padded = chance(rng, 2);
    const int64_t pad_in = padded ? rng_range(rng, 0, 16) : 0;
    const int64_t pad_out = padded ? rng_range(rng, 0, 16) : 0;
    const int64_t ld_in = (which < 4 || layout == TILEMM_ROW_MAJOR ? cols : rows) + pad_in;
    const int is_transposed = which < 4 || trans == TILEMM_TRANS;
    const int64_t ld_out =
        ((which < 4 || layout == TILEMM_ROW_MAJOR) == is_transposed ? rows : cols) + pad_out;
    const int64_t gap = chance(rng, 2) ? 0 : rng_range(rng, 0, 4096);
    void *src = address(rng, 0, size == 16 ? 8 : size);
    void *dst = address(rng, 1, size == 16 ? 8 : size);
    snprintf(call_text, sizeof call_text,
             "transpose function %d %lld x %lld of %zu bytes ld %lld %lld batch %lld gap %lld "
             "layout %d trans %d alpha %g at %p %p",
             which, (long long)rows, (long long)cols, size, (long long)ld_in, (long long)ld_out,
             (long long)batch, (long long)gap, (int)layout, (int)trans, (double)alpha, src, dst);
    switch (which) {
    case 0: return tilemm_transpose(ctx, rows, cols, size, src, ld_in, dst, ld_out);
    case 1:
    case 2: {
        const int64_t span_in = rows * ld_in + gap, span_out = cols * ld_out + gap;
        return tilemm_transpose_strided_batched(ctx, rows, cols, size, src, ld_in, span_in, dst,
                                                ld_out, span_out, batch);
    }
    case 3: return tilemm_transpose_inplace(ctx, rows, cols, size, dst, ld_in, ld_out);
    case 4: return tilemm_somatcopy(ctx, layout, trans, rows, cols, alpha, src, ld_in, dst, ld_out);
    default: return tilemm_simatcopy(ctx, layout, trans, rows, cols, alpha, dst, ld_in, ld_out);
    }
}

static inline tilemm_status_t call_reduce(tilemm_t ctx, rng_t *rng)
{
    static tilemm_status_t (*const searches[])(tilemm_t, int64_t, const float *, int64_t,
                                               int64_t *) = {tilemm_isamax, tilemm_isamin,
                                                             tilemm_ismax, tilemm_ismin};
    /* None is negative: such a vector begins at its last element, beyond the memory there is. */
    static const int64_t incs[] = {1, 1, 1, 2, 33, 7};
    const int which = (int)rng_range(rng, 0, 5), op = (int)rng_range(rng, 0, REDUCE_DOT);
    const tilemm_reduce_t reduction = (tilemm_reduce_t)(op % REDUCE_DOT);
    const tilemm_reduce_t search = (tilemm_reduce_t)(TILEMM_MAX + op % 4);
    const tilemm_axis_t axis = chance(rng, 2) ? TILEMM_AXIS_ROWS : TILEMM_AXIS_COLS;
    const tilemm_layout_t layout = any_layout(rng);
    const int64_t n = magnitude(rng, 33), inc = incs[rng_range(rng, 0, 5)];
    const int64_t rows = magnitude(rng, 17), cols = magnitude(rng, 17);
    const int64_t segments = magnitude(rng, 24), pad = chance(rng, 2) ? 0 : rng_range(rng, 1, 9);
    const int64_t lda = matrix_ld(layout, rows, cols) + pad;
    float *x = address(rng, 0, 4), *y = address(rng, 1, 4), *out = address(rng, 2, 4);
    int64_t *index = (int64_t *)(void *)(operands + OPERAND_BYTES / 2);
    tilemm_set_nan_policy(ctx, chance(rng, 2) ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
    snprintf(call_text, sizeof call_text,
             "reduce function %d %s n %lld inc %lld, %lld x %lld lda %lld layout %d axis %d, %lld "
             "segments, at %p %p %p",
             which, reduce_name(op), (long long)n, (long long)inc, (long long)rows, (long long)cols,
             (long long)lda, (int)layout, (int)axis, (long long)segments, (void *)x, (void *)y,
             (void *)out);
    switch (which) {
    case 0: return reduce_call(ctx, op, n, x, inc, y, inc, out);
    case 1: return searches[op % 4](ctx, n, x, inc, index);
    case 2:
    case 3: return tilemm_sreduce(ctx, reduction, axis, layout, rows, cols, x, lda, out, inc);
    case 4:
        return tilemm_sargreduce(ctx, search, axis, layout, rows, cols, x, lda, out, inc, index);
    default: return tilemm_sreduce_segments(ctx, reduction, segments, x, index, out);
    }
}

#endif
