/* reduction.h - reductions in the plainest code: canonical bits, indices, exact sums.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_REDUCTION_H
#define TILEMM_TESTS_SUPPORT_REDUCTION_H

#include "random.h"
#include "tilemm.h"

/* The product of two vectors, after the values of tilemm_reduce_t. */
enum { REDUCE_DOT = TILEMM_AMIN + 1 };

const char *reduce_name(int op);

/* Element i of a vector with BLAS's increment. */
static inline int64_t vector_at(int64_t n, int64_t i, int64_t inc)
{
    return inc > 0 ? i * inc : (n - 1 - i) * -inc;
}

/* The result that the library promises for n contiguous elements: sums in the canonical order of
 * kernels/reduce/layout.h. y is the second vector of REDUCE_DOT. */
float reduce_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y);
int64_t reduce_index(int op, int nan_ignore, int64_t n, const float *x);

/* Fill n elements, `stride` apart, so that the bits of op's result depend on the order of
 * additions. Sums get large pairs that cancel, so that only rounding errors are left; where nothing
 * can cancel, two small elements decide a tie in FP32 only if they are added to each other first.
 */
void reduce_fill_order(int op, float *x, int64_t n, int64_t stride, rng_t *rng);

/* The exact sum (SUM, ASUM, SUMSQ, DOT) rounded to FP64, and the sum of the terms' magnitudes.
 * The accumulator is an integer as wide as products of floats. No element may be NaN or Inf. */
double reduce_exact(int op, int64_t n, const float *x, const float *y, double *magnitude);

/* The bits of a float, and the distance to the next larger magnitude. */
uint32_t float_bits(float value);
float float_ulp(float value);

/* Call the library's vector function for op, or tilemm_sreduce where there is none. */
tilemm_status_t reduce_call(tilemm_t ctx, int op, int64_t n, const float *x, int64_t incx,
                            const float *y, int64_t incy, float *result);

#endif
