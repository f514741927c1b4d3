/* reduce.h - the CPU kernels of the reductions: one table for each instruction set.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CPU_REDUCE_H
#define TILEMM_KERNELS_CPU_REDUCE_H

#include "../reduce_ops.h"

/* All strides are of elements and may be negative; pointers need the alignment of their type. */
typedef struct {
    /* sums[t] = the sum of tile t, for each tile of the vector of 0 < n <= 2^20 elements
     * x[i * istride]; y with y_istride is DOT's other operand. The first adds plainly, leaves 0 as
     * what is lost, and returns a number that is no less than the sum of the terms' magnitudes (Inf
     * or NaN where it does not know); the second does the whole work. */
    double (*sum_tiles)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                        const float *y, int64_t y_istride, tilemm__sum_t *restrict sums);
    double (*sum_tiles_lossless)(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
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
