/* reduce_exact.c - sums, means, norms and dot products of one vector are within one ulp of the
 * exact ones, whatever cancels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guarded_reduce.h"

/* The error is at most half an ulp and 2^-20 of one, and 2^-90 of the sum of magnitudes. Bounds
 * proved in doc/numerics.md: 2^-28 and 2^-91. Returns whether one ulp is promised: the sum of
 * magnitudes is at most 2^60 times the result. */
static int check_exact(int op, int64_t n, const float *x, const float *y, float got,
                       const char *what)
{
    double magnitude, exact = reduce_exact(op, n, x, y, &magnitude);
    const int promised = magnitude <= fabs(exact) * 0x1p60;
    if (op == TILEMM_NRM2)
        exact = sqrt(exact);
    if (op == TILEMM_MEAN) {
        exact /= (double)n;
        magnitude /= (double)n;
    }
    const double slack = (double)float_ulp((float)exact) * (0.5 + 0x1p-20) +
                         (op == TILEMM_NRM2 ? 0 : magnitude * 0x1p-90);
    CHECK(fabs(got - exact) <= slack, "TILEMM_ARCH=%s %s of %lld (%s): %.9g, exact %.17g", arch,
          reduce_name(op), (long long)n, what, (double)got, exact);
    return promised;
}

static void exactness(tilemm_t ctx, rng_t *rng)
{
    static const int ops[] = {TILEMM_SUM,  TILEMM_ASUM, TILEMM_SUMSQ,
                              TILEMM_NRM2, TILEMM_MEAN, REDUCE_DOT};
    int promised = 0;
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    for (int round = 0; round < 20; round++) {
        const int64_t n = round < 14 ? rng_range(rng, 1, 20000) : test_quick() ? 30000 : 300000;
        float *x = numbers(n, (family_t)(round % FAMILY_COUNT), rng);
        float *y = numbers(n, (family_t)((round + 1) % FAMILY_COUNT), rng);
        char what[32];
        snprintf(what, sizeof(what), "family %d", round % FAMILY_COUNT);
        operand_prepare(&X, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 4);
        operand_prepare(&Y, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 8);
        memcpy(X.image, x, X.bytes);
        memcpy(Y.image, y, Y.bytes);
        operand_send(&X);
        operand_send(&Y);
        for (int o = 0; o < 6; o++) {
            float got;
            call(ctx, ops[o], n, 1, 1, rng, &got);
            promised += check_exact(ops[o], n, x, y, got, what);
        }
        free(x);
        free(y);
    }
    CHECK(promised > 100, "only %d sums were held to one ulp", promised);
}

static void cancellation(tilemm_t ctx, rng_t *rng)
{
    static const int bits[] = {20, 27, 28, 28, 29, 40, 50, 58},
                     ops[] = {TILEMM_SUM, TILEMM_MEAN, REDUCE_DOT};
    const int rounds = test_quick() ? 16 : 64;
    int promised = 0, plain_fails = 0;
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    for (int round = 0; round < rounds; round++) {
        const int64_t n = rng_range(rng, 4, round % 4 ? 5000 : 200000);
        char what[32];
        snprintf(what, sizeof(what), "cancelling 2^%d", bits[round % 8]);
        operand_prepare(&X, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 4);
        operand_prepare(&Y, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 8);
        fill_cancelling(X.numbers, Y.numbers, n, bits[round % 8], rng);
        operand_send(&X);
        operand_send(&Y);
        for (int o = 0; o < 3; o++) {
            double plain = 0, magnitude;
            float got;
            call(ctx, ops[o], n, 1, 1, rng, &got);
            promised += check_exact(ops[o], n, X.numbers, Y.numbers, got, what);
            if (ops[o] != TILEMM_MEAN) { /* plain FP64, in the order of indices */
                for (int64_t i = 0; i < n; i++)
                    plain += (double)X.numbers[i] * (o == 0 ? 1 : (double)Y.numbers[i]);
                const double exact = reduce_exact(ops[o], n, X.numbers, Y.numbers, &magnitude);
                plain_fails += fabs(plain - exact) > (double)float_ulp((float)exact);
            }
        }
    }
    CHECK(promised >= rounds, "only %d sums were held to one ulp", promised);
    CHECK(plain_fails > 5, "FP64 alone is off by an ulp %d times only", plain_fails);
}

/* Values whose squares FP32 cannot represent. */
static void norms(tilemm_t ctx, rng_t *rng)
{
    static const float value[] = {1e38f, 1e-42f, 3.4e38f, 1e-45f};
    for (int v = 0; v < 4; v++) {
        const int64_t n = v == 2 ? 1 : 5;
        float got;
        const double want = sqrt((double)n) * (double)value[v];
        operand_prepare(&X, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 0);
        for (int64_t i = 0; i < n; i++)
            X.numbers[i] = i & 1 ? -value[v] : value[v];
        operand_send(&X);
        call(ctx, TILEMM_NRM2, n, 1, 1, rng, &got);
        CHECK(fabs(got - want) <= (double)float_ulp((float)want), "nrm2 of %lld times %g: %g",
              (long long)n, (double)value[v], (double)got);
    }
}

int main(void)
{
    rng_t rng = {5001};
    test_begin(TEST_BACKEND);
    for (const char *const *name = test_archs(TEST_BACKEND); *name; name++) {
        tilemm_t ctx = test_context(TEST_BACKEND, *name);
        arch = *name;
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, 2);
        exactness(ctx, &rng);
        cancellation(ctx, &rng);
        norms(ctx, &rng);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    operand_free(&X);
    operand_free(&Y);
    operand_free(&R);
    return check_exit();
}
