/* columns.h - sums, counts and searches down the rows of a matrix, on a CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CPU_COLUMNS_H
#define TILEMM_KERNELS_REDUCE_CPU_COLUMNS_H

#include "searches.h"
#include "sums.h"

/* Hardware prefetchers do not follow rows that lie pages apart: prefetch a row that follows. */
INLINE void prefetch_row(int64_t i, int64_t rows, int64_t cols, const float *x, int64_t istride)
{
    enum { AHEAD = 8, LINE = 64 / sizeof(float), PAGE = 4096 / sizeof(float) };
    if (i + AHEAD < rows && (istride >= PAGE || istride <= -PAGE)) {
        const float *row = x + (i + AHEAD) * istride;
        for (int64_t j = 0; j < cols; j += LINE)
            __builtin_prefetch(row + j);
    }
}

/* The bits of WORDS magnitudes, which integers order; 0 for NaN if it is ignored. */
INLINE vec_w magnitude_bits(int nan_ignore, const float *x)
{
    vec_u bits = *(const any_u *)x & 0x7fffffffu;
    return (vec_w)(nan_ignore ? bits & ~(vec_u)is_nan(bits) : bits);
}

/* Columns are taken a register at a time; memory is read row by row, and the 32 lanes of all
 * columns lie in a buffer that fits L1. `first` is set for the tile's first row of each lane. */
INLINE void add_down(int op, int nan_ignore, int first, int64_t cols, const float *x,
                     double *restrict lane, vec_w *largest)
{
    int64_t j = 0;
    for (; j + WORDS <= cols; j += WORDS) {
#pragma GCC unroll 2
        for (int64_t i = j; i < j + WORDS; i += DOUBLES) {
            vec_d t = term_at(op, nan_ignore, x + i, x + i);
            vec_d sum = {0};
            if (!first)
                sum = *(const any_d *)(lane + i);
            *(any_d *)(lane + i) = sum + t;
        }
        *largest = REDUCE_MAX(*largest, magnitude_bits(nan_ignore, x + j));
    }
    if (j < cols) {
        float rest[WORDS] = {0};
        for (int i = 0; j < cols; i++, j++) {
            rest[i] = x[j];
            lane[j] = (first ? 0.0 : lane[j]) + tilemm__sum_term(op, nan_ignore, x[j], x[j]);
        }
        *largest = REDUCE_MAX(*largest, magnitude_bits(nan_ignore, rest));
    }
}

INLINE double sum_down_op(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                          int64_t istride, double *restrict lanes)
{
    vec_w largest = {0};
    int32_t bits = 0;
    for (int64_t i = 0; i < rows && i < LANES; i++) {
        prefetch_row(i, rows, cols, x, istride);
        add_down(op, nan_ignore, 1, cols, x + i * istride, lanes + i * cols, &largest);
    }
    for (int64_t i = LANES; i < rows; i++) {
        prefetch_row(i, rows, cols, x, istride);
        add_down(op, nan_ignore, 0, cols, x + i * istride, lanes + i % LANES * cols, &largest);
    }
    if (rows < LANES)
        memset(lanes + rows * cols, 0, (size_t)((LANES - rows) * cols) * sizeof *lanes);
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        double *restrict low = lanes;
        const double *restrict high = lanes + half * cols;
        for (int64_t j = 0; j < half * cols; j++)
            low[j] += high[j];
    }
    for (int i = 0; i < WORDS; i++)
        bits = largest[i] > bits ? largest[i] : bits;
    const double term = tilemm__bits_float((uint32_t)bits);
    return op == TILEMM__SUMSQ ? term * term : term;
}

static double sum_down(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                       int64_t istride, double *restrict lanes)
{
    FOR_EACH_SUM(return sum_down_op, rows, cols, x, istride, lanes);
}

static void count_down(int64_t rows, int64_t cols, const float *x, int64_t istride,
                       int64_t *restrict counts)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * istride;
        int64_t j = 0;
        for (; j + DOUBLES <= cols; j += DOUBLES) {
            vec_h value = *(const any_h *)(row + j);
            *(any_m *)(counts + j) -= __builtin_convertvector((vec_c)(value == value), vec_m);
        }
        for (; j < cols; j++)
            counts[j] += row[j] == row[j];
    }
}

INLINE void extreme_down_op(int has_where, tilemm__order_t order, int64_t rows, int64_t cols,
                            const float *x, int64_t istride, int32_t *restrict keys,
                            int32_t *restrict where)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * istride;
        int64_t j = 0;
        prefetch_row(i, rows, cols, x, istride);
        for (; j + WORDS <= cols; j += WORDS) {
            vec_w key = keys_of(order, *(const any_u *)(row + j));
            vec_w old = *(const any_w *)(keys + j);
            *(any_w *)(keys + j) = REDUCE_MAX(key, old);
            if (has_where) {
                vec_w greater = key > old, place = *(const any_w *)(where + j);
                *(any_w *)(where + j) = (greater & (int32_t)i) | (place & ~greater);
            }
        }
        for (; j < cols; j++) {
            int32_t key = tilemm__key_of(order, tilemm__float_bits(row[j]));
            if (key > keys[j]) {
                keys[j] = key;
                if (has_where)
                    where[j] = (int32_t)i;
            }
        }
    }
}

static void extreme_down(tilemm__order_t order, int64_t rows, int64_t cols, const float *x,
                         int64_t istride, int32_t *restrict keys, int32_t *restrict where)
{
    if (where)
        extreme_down_op(1, order, rows, cols, x, istride, keys, where);
    else
        extreme_down_op(0, order, rows, cols, x, istride, keys, where);
}

#endif
