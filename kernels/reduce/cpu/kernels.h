/* kernels.h - the CPU kernels of the reductions: one table for each instruction set.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CPU_KERNELS_H
#define TILEMM_KERNELS_REDUCE_CPU_KERNELS_H

#include "kernels/reduce/ops.h"

/* A sum and how many terms it has; and at least the sum of their magnitudes, unless nothing is lost
 * (Inf or NaN: not known). */
typedef struct {
    tilemm__sum_t sum;
    double magnitude;
    int64_t count;
} tilemm__total_t;

/* Of a plain sum: rows of registers that are added up one after the other, and so how many plain
 * additions a term passes. */
enum { TILEMM__PLAIN_ROWS = 128, TILEMM__PLAIN_ADDITIONS = TILEMM__PLAIN_ROWS + 8 };

/* What terms add up to, plainly; and at least what their magnitudes do. */
typedef struct {
    double sum, magnitude;
} tilemm__plain_t;

/* All strides are of elements and may be negative; pointers need the alignment of their type. */
typedef struct {
    /* Of up to short_n elements side by side, 1 at least: the same as sum_plain. */
    tilemm__plain_t (*sum_short)(int op, int nan_ignore, int64_t n, const float *x, const float *y);
    int64_t short_n;
    /* Add the vector of n > 0 elements x[i * istride] to a total, y with y_istride being DOT's
     * other operand. The first adds in whatever order is fast, TILEMM__PLAIN_ADDITIONS of them
     * plainly, and the total's magnitude grows. The second does the whole work: sums[t] = the sum
     * of tile t, and what it lost, for n <= 2^20. */
    void (*sum_plain)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__total_t *total);
    void (*sum_tiles)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__sum_t *restrict sums);
    /* How many of the n elements are not NaN. */
    int64_t (*count)(int64_t n, const float *x, int64_t istride);
    /* The largest key of n > 0 elements; *index, if not NULL, gets the lowest position of it. */
    int32_t (*extreme)(tilemm__order_t order, int64_t n, const float *x, int64_t istride,
                       int64_t *index);
    /* Down the rows: one tile, 1 to 1024 rows, of each of `cols` columns; element (i, j) is
     * x[i * istride + j]. lanes is room for 32 rows of cols doubles; the sums are its first, added
     * plainly. Returns the largest magnitude of all terms, Inf or NaN where it does not know. */
    double (*sum_down)(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                       int64_t istride, double *restrict lanes);
    /* counts[j] += how many elements of column j are not NaN. */
    void (*count_down)(int64_t rows, int64_t cols, const float *x, int64_t istride,
                       int64_t *restrict counts);
    /* keys[j] = the largest of it and the keys of column j; where it changes, and where is not
     * NULL, where[j] = the row. rows is at most 2^30. */
    void (*extreme_down)(tilemm__order_t order, int64_t rows, int64_t cols, const float *x,
                         int64_t istride, int32_t *restrict keys, int32_t *restrict where);
} tilemm__reduce_cpu_t;

extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_generic;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_avx2;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_avx512;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_neon;

#endif
