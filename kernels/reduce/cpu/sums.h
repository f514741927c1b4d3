/* sums.h - sums along a vector, on a CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CPU_SUMS_H
#define TILEMM_KERNELS_REDUCE_CPU_SUMS_H

#include "vectors.h"

/* The terms of DOUBLES elements. op and nan_ignore are constants in every caller. */
INLINE vec_d term(int op, int nan_ignore, vec_d x, vec_d y)
{
    vec_d t = x;
    if (op == TILEMM__ASUM) {
        vec_m magnitude = (vec_m){0} + INT64_MAX;
        t = (vec_d)((vec_m)t & magnitude);
    } else if (op == TILEMM__SUMSQ) {
        t *= t;
    } else if (op == TILEMM__DOT) {
        t *= y;
    }
    return nan_ignore ? (vec_d)((vec_m)t & (vec_m)(t == t)) : t;
}

INLINE vec_d term_at(int op, int nan_ignore, const float *x, const float *y)
{
    return term(op, nan_ignore, REDUCE_WIDEN(x), op == TILEMM__DOT ? REDUCE_WIDEN(y) : (vec_d){0});
}

/* sum + the terms, rounded once whether fused or not, because products of floats are exact. */
INLINE vec_d add_term(int op, int nan_ignore, vec_d sum, const float *x, const float *y)
{
    const vec_d t = term_at(op, nan_ignore, x, y);
    return op == TILEMM__SUM || op == TILEMM__ASUM ? REDUCE_ADD(sum, t) : sum + t;
}

/* The magnitudes of WORDS terms, to single precision. */
INLINE vec_f magnitude(int op, int nan_ignore, const float *x, const float *y)
{
    vec_f t = *(const any_f *)x;
    if (op == TILEMM__DOT)
        t *= *(const any_f *)y;
    if (nan_ignore)
        t = (vec_f)((vec_u)t & (vec_u)(t == t));
    return (vec_f)((vec_u)t & 0x7fffffffu);
}

/* Whether no term is negative: then the sum is also the sum of the magnitudes. */
INLINE int is_positive(int op)
{
    return op != TILEMM__SUM && op != TILEMM__DOT;
}

/* Each float takes several instructions, so fewer loads fit the processor's window than memory
 * could serve: a row is prefetched this many elements ahead. */
enum { AHEAD = 3072, DOT_AHEAD = 1024 };

INLINE void prefetch_ahead(const float *row, int ahead)
{
    enum { LINE = 64 / sizeof(float) };
#pragma GCC unroll 4
    for (int i = 0; i < ROW; i += LINE)
        __builtin_prefetch(row + ahead + i);
}

/* Add up the n <= BLOCK terms of a block, each by up to TILEMM__PLAIN_ADDITIONS additions. `more`
 * elements lie past its end. */
INLINE tilemm__plain_t sum_block(int op, int nan_ignore, int64_t n, int64_t more, const float *x,
                                 const float *y)
{
    const int ahead = op == TILEMM__DOT ? DOT_AHEAD : AHEAD;
    vec_d sum[PLAIN_REGS], rest = {0}; /* rest: magnitudes of the fringe */
    vec_f size[PLAIN_REGS / 2];
    int64_t e = 0;
#pragma GCC unroll 8
    for (int i = 0; i < PLAIN_REGS; i++)
        sum[i] = (vec_d){0};
#pragma GCC unroll 4
    for (int i = 0; i < PLAIN_REGS / 2; i++)
        size[i] = (vec_f){0};
    for (; e + ROW <= n; e += ROW) {
        if (more >= ahead) {
            prefetch_ahead(x + e, ahead);
            if (op == TILEMM__DOT)
                prefetch_ahead(y + e, ahead);
        }
#pragma GCC unroll 8
        for (int i = 0; i < PLAIN_REGS; i++)
            sum[i] = add_term(op, nan_ignore, sum[i], x + e + i * DOUBLES, y + e + i * DOUBLES);
        if (!is_positive(op)) {
#pragma GCC unroll 4
            for (int i = 0; i < PLAIN_REGS / 2; i++)
                size[i] += magnitude(op, nan_ignore, x + e + i * WORDS, y + e + i * WORDS);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < PLAIN_REGS; i++) {
        if (e + DOUBLES <= n) {
            const vec_d t = term_at(op, nan_ignore, x + e, y + e);
            sum[i] += t;
            rest += (vec_d)((vec_m)t & INT64_MAX);
            e += DOUBLES;
        }
    }
    if (e < n) {
        const int count = (int)(n - e);
        const vec_d t = term(op, nan_ignore, REDUCE_PART(x + e, count),
                             op == TILEMM__DOT ? REDUCE_PART(y + e, count) : (vec_d){0});
        sum[PLAIN_REGS - 1] += t;
        rest += (vec_d)((vec_m)t & INT64_MAX);
    }
    tilemm__plain_t plain;
    plain.sum = plain.magnitude = REDUCE_ACROSS(((sum[0] + sum[1]) + (sum[2] + sum[3])) +
                                                ((sum[4] + sum[5]) + (sum[6] + sum[7])));
    if (is_positive(op))
        return plain;
    if (n >= ROW) {
        float sizes[WORDS];
        *(any_f *)sizes = (size[0] + size[1]) + (size[2] + size[3]);
        /* The factor covers the rounding of `size`. */
        rest += (REDUCE_WIDEN(sizes) + REDUCE_WIDEN(sizes + DOUBLES)) * (1 + 0x1p-7);
    }
    plain.magnitude = REDUCE_ACROSS(rest);
    if (op == TILEMM__DOT) /* a product that underflows is off by at most 2^-149 */
        plain.magnitude += (double)n * 0x1p-148;
    return plain;
}

INLINE void add_block(tilemm__total_t *total, int64_t n, tilemm__plain_t plain)
{
    total->sum = tilemm__sum_add(total->sum, plain.sum);
    total->magnitude += plain.magnitude;
    total->count += n;
}

/* *sum + more, and its rounding error. */
INLINE void add_lossless(vec_d *sum, vec_d *lost, vec_d more)
{
    const vec_d next = *sum + more, part = next - *sum;
    *lost += (*sum - (next - part)) + (more - part);
    *sum = next;
}

/* The sum of a tile of n contiguous elements, 1 to 1024, in the canonical order, with its rounding
 * errors. */
INLINE tilemm__sum_t sum_tile(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    enum { REGS = LANES / DOUBLES, GROUP = REGS < 4 ? REGS : 4 };
    const int64_t full = n / LANES * LANES;
    float row[2][LANES] = {{0}};
    vec_d sum[REGS], lost[REGS];
    tilemm__sum_t lanes[DOUBLES];
    memcpy(row[0], x + full, (size_t)(n - full) * sizeof *x);
    if (op == TILEMM__DOT)
        memcpy(row[1], y + full, (size_t)(n - full) * sizeof *y);
    for (int first = 0; first < REGS; first += GROUP) {
        vec_d s[GROUP] = {{0}}, t[GROUP] = {{0}};
        for (int64_t e = first * DOUBLES; e < full; e += LANES) {
#pragma GCC unroll 4
            for (int i = 0; i < GROUP; i++) {
                const int64_t at = e + i * DOUBLES;
                add_lossless(&s[i], &t[i], term_at(op, nan_ignore, x + at, y + at));
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < GROUP; i++) {
            const int at = (first + i) * DOUBLES;
            add_lossless(&s[i], &t[i], term_at(op, nan_ignore, row[0] + at, row[1] + at));
            sum[first + i] = s[i];
            lost[first + i] = t[i];
        }
    }
    /* Fold by halves: registers first, then the lanes of the last one. */
#pragma GCC unroll 4
    for (int half = REGS / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < half; i++) {
            lost[i] += lost[i + half];
            add_lossless(&sum[i], &lost[i], sum[i + half]);
        }
    }
    for (int l = 0; l < DOUBLES; l++) {
        lanes[l].sum = sum[0][l];
        lanes[l].lost = lost[0][l];
    }
    return tilemm__fold_lanes(lanes, DOUBLES);
}

INLINE void sum_plain_op(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                         const float *y, int64_t y_istride, tilemm__total_t *total)
{
    const int strided = istride != 1 || (op == TILEMM__DOT && y_istride != 1);
    if (!strided) {
        for (int64_t start = 0; start < n; start += BLOCK) {
            const int64_t m = n - start < BLOCK ? n - start : BLOCK;
            add_block(total, m, sum_block(op, nan_ignore, m, n - start - m, x + start, y + start));
        }
        return;
    }
    for (int64_t start = 0; start < n; start += ELEMS) {
        const int64_t m = n - start < ELEMS ? n - start : ELEMS;
        float packed[2][ELEMS];
        const float *part = contiguous(m, x + start * istride, istride, packed[0]);
        const float *other =
            op != TILEMM__DOT ? part : contiguous(m, y + start * y_istride, y_istride, packed[1]);
        add_block(total, m, sum_block(op, nan_ignore, m, 0, part, other));
    }
}

INLINE void sum_tiles_op(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                         const float *y, int64_t y_istride, tilemm__sum_t *restrict sums)
{
    for (int64_t start = 0; start < n; start += ELEMS) {
        const int64_t m = n - start < ELEMS ? n - start : ELEMS;
        float packed[2][ELEMS];
        const float *part = contiguous(m, x + start * istride, istride, packed[0]);
        const float *other =
            op != TILEMM__DOT ? part : contiguous(m, y + start * y_istride, y_istride, packed[1]);
        sums[start / ELEMS] = sum_tile(op, nan_ignore, m, part, other);
    }
}

static void sum_plain(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__total_t *total)
{
    FOR_EACH_SUM(sum_plain_op, n, x, istride, y, y_istride, total);
}

static tilemm__plain_t sum_short(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    FOR_EACH_SUM(return sum_block, n, 0, x, y);
}

static void sum_tiles(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__sum_t *restrict sums)
{
    FOR_EACH_SUM(sum_tiles_op, n, x, istride, y, y_istride, sums);
}

#endif
