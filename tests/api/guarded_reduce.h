/* guarded_reduce.h - reductions of vectors in guarded memory, and their inputs.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_GUARDED_REDUCE_H
#define TILEMM_TESTS_API_GUARDED_REDUCE_H

#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

static operand_t X, Y, R; /* the vectors and the result */
static const char *arch = "";

static inline float *numbers(int64_t n, family_t family, rng_t *rng)
{
    float *x = host_array(n);
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] = rng_float(rng, family);
    return x;
}

/* Pairs that cancel, and whose magnitudes add up to about 2^bits times the result. The positive
 * ones come first; some are shuffled. Both factors of a product vary. */
static inline void fill_cancelling(float *x, float *y, int64_t n, int bits, rng_t *rng)
{
    const int high = bits - (int)floor(log2((double)n));
    int64_t i, pairs = n / 2;
    for (i = 0; i < n; i++) {
        x[i] = (float)(1 + rng_unit(rng));
        y[i] = (float)(1 + rng_unit(rng));
    }
    for (i = 1; i < pairs; i++) { /* the first pair does not cancel */
        int64_t j = n - 1 - i, scale = rng_range(rng, high < -20 ? high - 4 : -20, high);
        x[i] = (float)ldexp((double)x[i], (int)scale);
        x[j] = -x[i];
        y[j] = y[i];
    }
    for (i = n - 1; i > 0 && rng_bits(rng) % 3; i--) {
        int64_t j = rng_range(rng, 0, i);
        float t = x[i], u = y[i];
        x[i] = x[j];
        x[j] = t;
        y[i] = y[j];
        y[j] = u;
    }
}

/* Room in R for a result of this size. Nothing but it may be written: result_end() checks, and
 * copies it. */
static inline void result_begin(size_t bytes, rng_t *rng)
{
    operand_prepare(&R, rng_place(rng, TEST_BACKEND), bytes, rng_offset(rng, bytes));
    operand_send(&R);
    operand_own(&R, 0, bytes);
}

static inline void result_end(tilemm_t ctx, int op, void *result)
{
    if (R.place != PLACE_HOST)
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    operand_fetch(&R);
    CHECK(operand_intact(&R), "%s: bytes beside the result changed", reduce_name(op));
    memcpy(result, R.image, R.bytes);
}

/* Reduce n elements of X (and Y). */
static inline void call(tilemm_t ctx, int op, int64_t n, int64_t incx, int64_t incy, rng_t *rng,
                        float *result)
{
    result_begin(sizeof(float), rng);
    CHECK(reduce_call(ctx, op, n, X.pointer, incx, op == REDUCE_DOT ? Y.pointer : NULL, incy,
                      R.pointer) == TILEMM_SUCCESS,
          "%s of %lld: %s", reduce_name(op), (long long)n, tilemm_last_error(ctx));
    result_end(ctx, op, result);
}

#endif
