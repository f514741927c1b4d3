/* reduce.c - reductions of one vector give the bits of the canonical order for every length,
 * increment, alignment, instruction set, number of threads and backend; indices with ties, NaN and
 * signed zeros. Sums, means, norms and dot products are within one ulp of the exact ones, whatever
 * cancels. With TILEMM_TEST_LONG=1 the GPU's bits are compared with the CPU's for a thousand
 * lengths.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

static operand_t X, Y, R; /* the vectors and the result */

static float *numbers(int64_t n, family_t family, rng_t *rng)
{
    float *x = host_array(n);
    matrix_fill(x, TILEMM_ROW_MAJOR, 1, n, n, family, rng);
    return x;
}

/* Pairs that cancel, and whose magnitudes add up to about 2^bits times the result. The positive
 * ones come first; some are shuffled. Both factors of a product vary. */
static void fill_cancelling(float *x, float *y, int64_t n, int bits, rng_t *rng)
{
    const int high = bits - (int)floor(log2((double)n));
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(1 + rng_unit(rng));
        y[i] = (float)(1 + rng_unit(rng));
    }
    for (int64_t i = 1; i < n / 2; i++) { /* the first pair does not cancel */
        const int64_t j = n - 1 - i, scale = rng_range(rng, high < -20 ? high - 4 : -20, high);
        x[i] = (float)ldexp((double)x[i], (int)scale);
        x[j] = -x[i];
        y[j] = y[i];
    }
    for (int64_t i = n - 1; i > 0 && rng_bits(rng) % 3; i--) {
        const int64_t j = rng_range(rng, 0, i);
        const float t = x[i], u = y[i];
        x[i] = x[j];
        x[j] = t;
        y[i] = y[j];
        y[j] = u;
    }
}

/* Room in R for a result of this size. Nothing but it may be written: result_end() checks, and
 * copies it. */
static void result_begin(size_t bytes, rng_t *rng)
{
    place_anywhere(&R, bytes, 1, rng);
    operand_send(&R);
    operand_own(&R, 0, bytes);
}

static void result_end(tilemm_t ctx, int op, void *result)
{
    if (R.place != PLACE_HOST)
        CHECK_OK(ctx, tilemm_synchronize(ctx));
    check_intact(&R, reduce_name(op), "bytes beside the result");
    memcpy(result, R.image, R.bytes);
}

/* Reduce n elements of X (and Y). */
static void call(tilemm_t ctx, int op, int64_t n, int64_t incx, int64_t incy, rng_t *rng,
                 float *result)
{
    result_begin(sizeof(float), rng);
    CHECK_OK(ctx, reduce_call(ctx, op, n, X.pointer, incx, op == REDUCE_DOT ? Y.pointer : NULL,
                              incy, R.pointer));
    result_end(ctx, op, result);
}

static const int threads[] = {1, 2, 3, 8};

static int takes_negative(int op)
{
    return op != TILEMM_SUMSQ && op != TILEMM_MEAN && op != TILEMM_AMAX && op != TILEMM_AMIN;
}

static tilemm_status_t index_call(tilemm_t ctx, int op, int64_t n, const float *x, int64_t incx,
                                  int64_t *index)
{
    return op == TILEMM_MAX    ? tilemm_ismax(ctx, n, x, incx, index)
           : op == TILEMM_MIN  ? tilemm_ismin(ctx, n, x, incx, index)
           : op == TILEMM_AMAX ? tilemm_isamax(ctx, n, x, incx, index)
                               : tilemm_isamin(ctx, n, x, incx, index);
}

static int64_t call_index(tilemm_t ctx, int op, int64_t n, int64_t incx, rng_t *rng)
{
    int64_t index;
    result_begin(sizeof(index), rng);
    CHECK_OK(ctx, index_call(ctx, op, n, X.pointer, incx, R.pointer));
    result_end(ctx, op, &index);
    return index;
}

/* The contiguous x and y, laid out with increments, must give the canonical bits and indices for
 * every op. */
static void vector(tilemm_t ctx, int64_t n, const float *x, const float *y, int64_t incx,
                   int64_t incy, int nan_ignore, rng_t *rng)
{
    place_anywhere(&X, sizeof(float), n ? (n - 1) * llabs(incx) + 1 : 0, rng);
    place_anywhere(&Y, sizeof(float), n ? (n - 1) * llabs(incy) + 1 : 0, rng);
    for (int64_t i = 0; i < n; i++) {
        X.numbers[vector_at(n, i, incx)] = x[i];
        Y.numbers[vector_at(n, i, incy)] = y[i];
    }
    operand_send(&X);
    operand_send(&Y);
    tilemm_set_nan_policy(ctx, nan_ignore ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
    for (int op = 0; op <= REDUCE_DOT; op++) {
        if (takes_negative(op) || incx > 0) {
            float got;
            call(ctx, op, n, incx, incy, rng, &got);
            const float want = reduce_exact_bits(op, nan_ignore, n, x, y);
            CHECK(float_bits(got) == float_bits(want),
                  "TILEMM_ARCH=%s %s of %lld, increments %lld %lld, NaN policy %d, %s+%u: %s: "
                  "%.9g (%08x), not %.9g (%08x)",
                  arch, reduce_name(op), (long long)n, (long long)incx, (long long)incy, nan_ignore,
                  place_name(X.place), (unsigned)((uintptr_t)X.pointer % 64),
                  tilemm_last_kernel(ctx), (double)got, (unsigned)float_bits(got), (double)want,
                  (unsigned)float_bits(want));
            CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "TILEMM_ARCH=%s: kernel %s",
                  arch, tilemm_last_kernel(ctx));
        }
        if (op >= TILEMM_MAX && op <= TILEMM_AMIN) {
            int64_t index = call_index(ctx, op, n, incx, rng);
            int64_t right = reduce_index(op, nan_ignore, n, x);
            CHECK(index == right,
                  "TILEMM_ARCH=%s index of %s of %lld, increment %lld, NaN policy %d: %s: %lld, "
                  "not %lld",
                  arch, reduce_name(op), (long long)n, (long long)incx, nan_ignore,
                  tilemm_last_kernel(ctx), (long long)index, (long long)right);
        }
    }
    check_intact(&X, "a reduction", "the input");
    check_intact(&Y, "a reduction", "the second input");
}

/* Put NaN, infinities, zeros of both signs and ties among the elements. */
static void sow(float *x, int64_t n, int what, rng_t *rng)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 3e38f, -3e38f};
    if (what == 0)
        return;
    for (int64_t i = 0; n && i < 1 + n / 50; i++) {
        float *to = x + rng_range(rng, 0, n - 1);
        if (what == 1) /* no NaN, at most one kind of infinity */
            *to = special[rng_range(rng, 0, 1) ? 1 : 3 + rng_range(rng, 0, 1)];
        else if (what == 2)
            *to = special[rng_range(rng, 0, 6)];
        else if (what == 3)
            *to = -NAN;
        else
            *to = x[rng_range(rng, 0, n - 1)];
    }
    for (int64_t i = 0; what >= 5 && i < n; i++)
        x[i] = what == 6 ? NAN : rng_bits(rng) & 1 ? -0.0f : 0.0f;
}

static void sweep(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256,
                                      1000, 1023, 1024, 1025, 1056, 2047, 2048, 2049, 4096, 5000,
                                      7777, 32768, 32769,
                                      /* limits of the methods for short vectors */
                                      8191, 8192, 8193, 16384, 16385};
    const int fixed = (int)(sizeof(lengths) / sizeof(lengths[0]));
    for (int round = 0; round < fixed * 2 + rounds; round++) {
        const int64_t n = round < fixed * 2 ? lengths[round % fixed] : rng_range(rng, 0, 6000);
        int64_t incx = round < fixed ? 1 : rng_range(rng, 1, 3),
                incy = round < fixed ? 1 : rng_range(rng, 1, 3);
        const family_t family = (family_t)rng_range(rng, 0, FAMILY_COUNT - 1);
        if (test_quick() && n > 20000)
            continue;
        if (round >= fixed && rng_bits(rng) & 1)
            incx = -incx;
        if (round >= fixed && rng_bits(rng) & 1)
            incy = -incy;
        float *x = numbers(n, family, rng);
        float *y = numbers(n, (family_t)rng_range(rng, 0, FAMILY_COUNT - 1), rng);
        sow(x, n, round % 7, rng);
        sow(y, n, round % 5 == 4 ? 2 : 0, rng);
        vector(ctx, n, x, y, incx, incy, 0, rng);
        vector(ctx, n, x, y, incx, incy, 1, rng);
        free(x);
        free(y);
    }
}

/* Vectors whose sums depend on the order of additions. That they do is checked too: the plain order
 * must give other bits at least once. */
static void orders(tilemm_t ctx, rng_t *rng)
{
    static const int ops[] = {TILEMM_SUM, TILEMM_ASUM, TILEMM_SUMSQ, TILEMM_MEAN, REDUCE_DOT};
    int differ[5] = {0};
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    for (int round = 0; round < (test_quick() ? 12 : 40); round++) {
        const int64_t most = round % 4 == 0   ? 40
                             : round % 4 == 1 ? 3000
                             : test_quick()   ? 9000
                                              : 300000;
        const int64_t n = rng_range(rng, 2, most);
        tilemm_set_threads(ctx, threads[round / 2 % 4]);
        for (int o = 0; o < 5; o++) {
            double plain = 0;
            float got;
            place_anywhere(&X, sizeof(float), n, rng);
            place_anywhere(&Y, sizeof(float), n, rng);
            reduce_fill_order(ops[o], X.numbers, n, 1, rng);
            for (int64_t i = 0; i < n; i++) {
                const double x = X.numbers[i];
                Y.numbers[i] = 1.0f;
                plain += ops[o] == TILEMM_ASUM ? fabs(x) : ops[o] == TILEMM_SUMSQ ? x * x : x;
            }
            if (ops[o] == TILEMM_MEAN)
                plain /= (double)n;
            operand_send(&X);
            operand_send(&Y);
            call(ctx, ops[o], n, 1, 1, rng, &got);
            const float want = reduce_exact_bits(ops[o], 0, n, X.numbers, Y.numbers);
            differ[o] += float_bits((float)plain) != float_bits(want);
            CHECK(float_bits(got) == float_bits(want),
                  "TILEMM_ARCH=%s %s of %lld in another order: %s: %.9g, not %.9g", arch,
                  reduce_name(ops[o]), (long long)n, tilemm_last_kernel(ctx), (double)got,
                  (double)want);
        }
    }
    for (int o = 0; o < 5; o++)
        CHECK(differ[o] > 0, "%s does not depend on the order here", reduce_name(ops[o]));
    tilemm_set_threads(ctx, 2);
}

/* Long vectors, with every number of threads. */
static void lengthy(tilemm_t ctx, int64_t n, family_t family, int64_t incx, rng_t *rng)
{
    float *x = numbers(n, family, rng), *y = numbers(n, FAMILY_SIGNED, rng);
    for (int t = 0; t < (TEST_BACKEND == TILEMM_BACKEND_CPU ? 4 : 1); t++) {
        CHECK_OK(ctx, tilemm_set_threads(ctx, threads[t]));
        vector(ctx, n, x, y, incx, 1, t & 1, rng);
    }
    tilemm_set_threads(ctx, 2);
    free(x);
    free(y);
}

/* The GPU gives the CPU's bits, for every op and random lengths up to 2^26. */
static void both(tilemm_t ctx, int rounds, rng_t *rng)
{
    const int64_t most = test_quick() ? 1 << 23 : 1 << 26; /* more tiles than warps at once */
    tilemm_t cpu = test_context(TILEMM_BACKEND_CPU, "");
    float *x = numbers(most, FAMILY_NORMAL, rng), *y = numbers(most, FAMILY_SIGNED, rng);
    fill_cancelling(x, y, most / 2, 40, rng);
    operand_prepare(&X, PLACE_DEVICE, sizeof(float) * (size_t)most, 0);
    operand_prepare(&Y, PLACE_DEVICE, sizeof(float) * (size_t)most, 0);
    memcpy(X.image, x, X.bytes);
    memcpy(Y.image, y, Y.bytes);
    operand_send(&X);
    operand_send(&Y);
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    for (int round = 0; round < rounds; round++) {
        const int64_t n =
            round & 1 ? rng_range(rng, 1, most) : (int64_t)exp2(rng_unit(rng) * log2((double)most));
        const int64_t first = rng_range(rng, 0, most - n);
        const float *device_x = (const float *)X.pointer + first;
        const float *device_y = (const float *)Y.pointer + first;
        for (int op = 0; op <= REDUCE_DOT; op++) {
            float here = -1, there = -2;
            CHECK(reduce_call(cpu, op, n, x + first, 1, y + first, 1, &here) == TILEMM_SUCCESS &&
                      reduce_call(ctx, op, n, device_x, 1, device_y, 1, &there) == TILEMM_SUCCESS,
                  "%s of %lld: %s%s", reduce_name(op), (long long)n, tilemm_last_error(cpu),
                  tilemm_last_error(ctx));
            CHECK(float_bits(here) == float_bits(there),
                  "%s of %lld from %lld: CPU %.9g (%08x), GPU %.9g (%08x)", reduce_name(op),
                  (long long)n, (long long)first, (double)here, (unsigned)float_bits(here),
                  (double)there, (unsigned)float_bits(there));
            if (op >= TILEMM_MAX && op <= TILEMM_AMIN) {
                int64_t at = -2, where = -3;
                CHECK(index_call(cpu, op, n, x + first, 1, &at) == TILEMM_SUCCESS &&
                          index_call(ctx, op, n, device_x, 1, &where) == TILEMM_SUCCESS &&
                          at == where,
                      "index of %s of %lld from %lld: CPU %lld, GPU %lld", reduce_name(op),
                      (long long)n, (long long)first, (long long)at, (long long)where);
            }
        }
    }
    free(x);
    free(y);
    CHECK(tilemm_destroy(cpu) == TILEMM_SUCCESS, "tilemm_destroy");
}

/* Elements 2^31 + 1 apart and, if and_many, 2^31 + 9 elements. */
static void far_apart(tilemm_t ctx, int and_many)
{
    const int64_t inc = ((int64_t)1 << 31) + 1, many = ((int64_t)1 << 31) + 9;
    size_t bytes = sizeof(float) * (size_t)(2 * inc + 1);
    float *x = sparse_alloc(TEST_BACKEND, bytes);
    static const float value[] = {1.5f, -7.0f, 4.0f};
    float result = 0;
    int64_t index = -2;
    if (!x) {
        printf("no memory past 2^31 elements: left out\n");
        return;
    }
    for (int i = 0; i < 3; i++)
        sparse_write(TEST_BACKEND, x + i * inc, value + i, sizeof(float));
    CHECK(tilemm_ssum(ctx, 3, x, inc, &result) == TILEMM_SUCCESS && result == -1.5f,
          "ssum with a large increment: %g: %s", (double)result, tilemm_last_error(ctx));
    CHECK(tilemm_isamax(ctx, 3, x, -inc, &index) == TILEMM_SUCCESS && index == 1,
          "isamax with a large increment: %lld: %s", (long long)index, tilemm_last_error(ctx));
    CHECK(tilemm_ismax(ctx, 3, x, -inc, &index) == TILEMM_SUCCESS && index == 0,
          "ismax with a large increment: %lld: %s", (long long)index, tilemm_last_error(ctx));
    if (and_many) {
        const float end = 9.0f;
        sparse_write(TEST_BACKEND, x + many - 2, &end, sizeof(end));
        CHECK(tilemm_isamax(ctx, many, x, 1, &index) == TILEMM_SUCCESS && index == many - 2,
              "isamax of 2^31 + 9: %lld: %s", (long long)index, tilemm_last_error(ctx));
        CHECK(tilemm_ssum(ctx, many, x, 1, &result) == TILEMM_SUCCESS && result == 3.5f,
              "ssum of 2^31 + 9: %g: %s", (double)result, tilemm_last_error(ctx));
    }
    sparse_free(TEST_BACKEND, x, bytes);
}

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
        char what[32];
        snprintf(what, sizeof(what), "family %d", round % FAMILY_COUNT);
        operand_prepare(&X, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 4);
        operand_prepare(&Y, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)n, 8);
        matrix_fill(X.numbers, TILEMM_ROW_MAJOR, 1, n, n, (family_t)(round % FAMILY_COUNT), rng);
        matrix_fill(Y.numbers, TILEMM_ROW_MAJOR, 1, n, n, (family_t)((round + 1) % FAMILY_COUNT),
                    rng);
        operand_send(&X);
        operand_send(&Y);
        for (int o = 0; o < 6; o++) {
            float got;
            call(ctx, ops[o], n, 1, 1, rng, &got);
            promised += check_exact(ops[o], n, X.numbers, Y.numbers, got, what);
        }
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
    const int cuda = TEST_BACKEND == TILEMM_BACKEND_CUDA;
    rng_t rng = {5000}, exact_rng = {5001};
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 2)) != NULL) {
        sweep(ctx, test_quick() ? 5 : *arch ? 60 : 150, &rng);
        orders(ctx, &rng);
        if (test_quick()) {
            lengthy(ctx, 50000, FAMILY_NORMAL, 1, &rng);
        } else {
            lengthy(ctx, (1 << 20) + 3, FAMILY_NORMAL, 1, &rng);
            lengthy(ctx, rng_range(&rng, 100000, 1 << 18), FAMILY_WIDE, -2, &rng);
            for (int i = 0; i < (cuda ? 12 : *arch ? 0 : 2); i++)
                lengthy(ctx, rng_range(&rng, 1, 1 << 22), (family_t)(i % FAMILY_COUNT), 1, &rng);
            for (int i = 0; cuda && !*arch && i < 2; i++)
                lengthy(ctx, (1 << 26) - rng_range(&rng, 0, 5000), FAMILY_SIGNED, 1, &rng);
        }
        if (cuda && !*arch && !TEST_SANITIZED)
            both(ctx, getenv("TILEMM_TEST_LONG") ? 1000 : test_quick() ? 10 : 30, &rng);
        exactness(ctx, &exact_rng);
        cancellation(ctx, &exact_rng);
        norms(ctx, &exact_rng);
        far_apart(ctx, !*arch && !test_quick() && !TEST_SANITIZED);
    }
    operand_free(&X);
    operand_free(&Y);
    operand_free(&R);
    return check_exit();
}
