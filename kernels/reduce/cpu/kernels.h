/* kernels.h - the CPU kernels of the reductions: one table for each instruction set.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CPU_KERNELS_H
#define TILEMM_KERNELS_REDUCE_CPU_KERNELS_H

#include "kernels/reduce/ops.h"

/* A sum, the number of its terms, and an upper bound of the sum of their magnitudes (Inf or NaN:
 * not known). */
typedef struct {
    tilemm__sum_t sum;
    double magnitude;
    int64_t count;
} tilemm__total_t;

/* Rows of registers that a plain sum adds up one after the other, and the number of plain additions
 * that a term passes then. */
enum { TILEMM__PLAIN_ROWS = 128, TILEMM__PLAIN_ADDITIONS = TILEMM__PLAIN_ROWS + 8 };

/* The plain sum of terms, and an upper bound of the sum of their magnitudes. */
typedef struct {
    double sum, magnitude;
} tilemm__plain_t;

/* Strides are in elements and may be negative; pointers need the alignment of their type. */
typedef struct {
    const char *name_across, *name_down, *name_segments;
    /* sum_plain for 1 to short_n contiguous elements. */
    tilemm__plain_t (*sum_short)(int op, int nan_ignore, int64_t n, const float *x, const float *y);
    int64_t short_n;
    /* Add the n > 0 elements x[i * istride] to a total; y[i * y_istride] is DOT's other operand.
     * Terms are added in any order, each by up to TILEMM__PLAIN_ADDITIONS plain additions. */
    void (*sum_plain)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__total_t *total);
    /* sums[t] = the sum of tile t in the canonical order with its rounding errors; n <= 2^20. */
    void (*sum_tiles)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__sum_t *restrict sums);
    /* The number of elements that are not NaN. */
    int64_t (*count)(int64_t n, const float *x, int64_t istride);
    /* The largest key of n > 0 elements; *index, if not NULL, gets its lowest position. */
    int32_t (*extreme)(tilemm__order_t order, int64_t n, const float *x, int64_t istride,
                       int64_t *index);
    /* Down the rows: one tile, 1 to 1024 rows, of each of `cols` columns; element (i, j) is
     * x[i * istride + j]. `lanes` has room for 32 rows of cols doubles; the plain sums are in the
     * first row. Returns the largest magnitude of all terms, or Inf or NaN if it is not known. */
    double (*sum_down)(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                       int64_t istride, double *restrict lanes);
    /* counts[j] += the number of elements of column j that are not NaN. */
    void (*count_down)(int64_t rows, int64_t cols, const float *x, int64_t istride,
                       int64_t *restrict counts);
    /* keys[j] = the largest of keys[j] and the keys of column j; if it changes, and `where` is not
     * NULL, where[j] = the row. At most 2^30 rows. */
    void (*extreme_down)(tilemm__order_t order, int64_t rows, int64_t cols, const float *x,
                         int64_t istride, int32_t *restrict keys, int32_t *restrict where);
} tilemm__reduce_cpu_t;

extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_generic;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_avx2;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_avx512;
extern const tilemm__reduce_cpu_t tilemm__reduce_cpu_neon;

#endif
