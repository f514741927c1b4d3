/* args.h - what an entry point asks of a kernel: problems already checked and brought to one
 * canonical form. C99 and CUDA; shared by lib/ and kernels/. Sizes and strides are elements.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_ARGS_H
#define TILEMM_KERNELS_ARGS_H

#include <stddef.h>
#include <stdint.h>

/* C (m x n) = alpha op(A) op(B) + beta C, all row-major: a column-major problem is the row-major
 * one with A and B, m and n changed over. A is stored m x k, or k x m if trans_a; B k x n, or
 * n x k if trans_b. Matrix i of a batch is at a + i * stride_a, or at a_array[i] where a_array is
 * not NULL; likewise b and c. m, n and batch_count are positive; where k or alpha is 0, k is 0
 * and A and B are not to be looked at. `exchanged` says that the caller's A is B here. */
typedef struct {
    int64_t m, n, k;
    int trans_a, trans_b;
    float alpha, beta;
    const float *a, *b;
    float *c;
    const float *const *a_array, *const *b_array;
    float *const *c_array;
    int64_t lda, ldb, ldc;
    int64_t stride_a, stride_b, stride_c;
    int64_t batch_count;
    int exchanged;
} tilemm__sgemm_args_t;

/* dst = alpha op(src), row-major. src is rows x cols; dst is cols x rows if trans, rows x cols if
 * not. scaled is 0 where elements are moved uninterpreted; if it is 1 elem_size is 4 and elements
 * are floats; with alpha 0 src is not read. In place: dst == src and batch_count == 1. All sizes
 * are positive. */
typedef struct {
    int64_t rows, cols;
    size_t elem_size;
    int trans, scaled;
    float alpha;
    const void *src;
    void *dst;
    int64_t ld_src, ld_dst;
    int64_t stride_src, stride_dst;
    int64_t batch_count;
} tilemm__transpose_args_t;

/* The reductions as kernels see them: tilemm_reduce_t's values, and two that it does not have. */
enum {
    TILEMM__SUM = 0,
    TILEMM__ASUM,
    TILEMM__SUMSQ,
    TILEMM__NRM2,
    TILEMM__MEAN,
    TILEMM__MAX,
    TILEMM__MIN,
    TILEMM__AMAX,
    TILEMM__AMIN,
    TILEMM__DOT
};

/* count vectors of n elements each: element i of vector v is x[v * vstride + i * istride], and
 * its result goes to out[v * out_stride]. Any stride may be negative. DOT has count 1 and
 * multiplies with y[i * y_istride]. An arg-reduction (op MAX to AMIN) has index_out, with
 * out_stride too, and perhaps no out. count is positive, n may be 0. */
typedef struct {
    int op;
    int nan_ignore;
    int64_t count, n;
    const float *x;
    int64_t istride, vstride;
    const float *y;
    int64_t y_istride;
    float *out;
    int64_t *index_out;
    int64_t out_stride;
} tilemm__reduce_args_t;

/* out[s] = the reduction of x[offsets[s]] ... x[offsets[s + 1] - 1]. segments is positive. */
typedef struct {
    int op;
    int nan_ignore;
    int64_t segments;
    const float *x;
    const int64_t *offsets;
    float *out;
} tilemm__segments_args_t;

#endif
