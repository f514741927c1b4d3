/* sgemm_accuracy.c - the error of every math mode on difficult families of inputs, compared with
 * the reference library's on the same input. Prints the table that doc/numerics.md shows.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

#define INPUTS(X)                                                                                  \
    X(UNIFORM, "uniform [0, 1]")                                                                   \
    X(SYMMETRIC, "uniform [-1, 1]")                                                                \
    X(NORMAL, "normal")                                                                            \
    X(SPREAD_20, "exponents 2^+-20")                                                               \
    X(SPREAD_60, "exponents 2^+-60")                                                               \
    X(HUGE_IN_ROW, "one huge per row")                                                             \
    X(TINY_DECIDES, "one tiny decides")                                                            \
    X(MIXED_ROWS, "rows of mixed scale")                                                           \
    X(SUBNORMAL, "subnormal")                                                                      \
    X(NEAR_OVERFLOW, "near overflow")                                                              \
    X(INTEGERS, "integers to 2^11")                                                                \
    X(CANCELLATION, "cancellation")                                                                \
    X(SPARSE, "sparse")                                                                            \
    X(INF_NAN, "Inf and NaN")
#define VALUE(family, name) family,
#define NAME(family, name) name,
typedef enum { INPUTS(VALUE) FAMILIES } inputs_t;
static const char *const names[] = {INPUTS(NAME)};

static rng_t rng = {77};

static float normal(void)
{
    return rng_float(&rng, FAMILY_NORMAL);
}

/* A number of random sign and exponent in [-most, most]. */
static float spread(int most)
{
    return ldexpf(normal(), (int)rng_range(&rng, -most, most));
}

/* Element p along k of a row of A or a column of B. */
static float value(inputs_t family, int of_b, int64_t line, int64_t p, int64_t k)
{
    switch (family) {
    case UNIFORM: return (float)rng_unit(&rng);
    case SYMMETRIC: return (float)(2 * rng_unit(&rng) - 1);
    case SPREAD_20: return spread(20);
    case SPREAD_60: return spread(60) * (of_b ? 0x1p-20f : 0x1p-10f);
    case HUGE_IN_ROW: return p == (line * 7 + 3) % k && !of_b ? ldexpf(normal(), 40) : normal();
    case TINY_DECIDES:
        if (p == k / 2)
            return of_b ? 0x1p45f * (1 + fabsf(normal())) : 0x1p-32f * (1 + fabsf(normal()));
        return normal();
    case MIXED_ROWS: return ldexpf(normal(), (int)(line * 5 % 81) - 40);
    case SUBNORMAL: return ldexpf(normal(), of_b ? 100 : -133);
    case NEAR_OVERFLOW:
        return ldexpf((float)(2 * rng_unit(&rng) - 1), of_b ? 126 - 62 - (int)log2((double)k) : 62);
    case INTEGERS: return (float)rng_range(&rng, -2048, 2048);
    case SPARSE: return rng_range(&rng, 0, 63) == 0 || p == line % k ? normal() : 0.0f;
    default: return normal();
    }
}

typedef struct {
    gemm_t gemm; /* row-major, no transposes: A m x k, B k x n */
    float *a, *b, *c;
    int64_t sample; /* rows and columns that are checked */
    double *exact, *magnitude;
} problem_t;

static int64_t taken(int64_t i, int64_t count, int64_t of)
{
    return count > 1 ? i * (of - 1) / (count - 1) : 0;
}

static problem_t make(inputs_t family, int64_t mn, int64_t k)
{
    problem_t p;
    memset(&p, 0, sizeof(p));
    p.gemm = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, mn, mn, k, 1, 0);
    p.a = host_array(mn * k);
    p.b = host_array(k * mn);
    p.c = host_array(mn * mn);
    for (int64_t i = 0; i < mn; i++)
        for (int64_t q = 0; q < k; q++)
            p.a[i * k + q] = value(family, 0, i, q, k);
    for (int64_t q = 0; q < k; q++)
        for (int64_t j = 0; j < mn; j++)
            p.b[q * mn + j] = value(family, 1, j, q, k);
    if (family == CANCELLATION) /* the second half of k nearly cancels the first */
        for (int64_t q = 0; q < k / 2; q++)
            for (int64_t i = 0; i < mn; i++) {
                p.a[i * k + k / 2 + q] = p.a[i * k + q];
                p.b[(k / 2 + q) * mn + i] = -p.b[q * mn + i] * (1 + 0x1p-14f * normal());
            }
    if (family == INF_NAN && mn > 8) {
        p.a[3 * k + k / 2] = INFINITY;
        p.b[(k - 1) * mn + 5] = NAN;
        p.b[0 * mn + 7] = -INFINITY;
    }
    p.sample = mn * mn * k > (int64_t)20 << 20 && mn > 48 ? 48 : mn;
    const int64_t count = p.sample * p.sample;
    p.exact = test_need(malloc((size_t)count * 2 * sizeof(double)));
    p.magnitude = p.exact + count;
    for (int64_t x = 0; x < count; x++)
        p.exact[x] = gemm_dot(&p.gemm, p.a, p.b, taken(x / p.sample, p.sample, mn),
                              taken(x % p.sample, p.sample, mn), &p.magnitude[x]);
    return p;
}

typedef struct {
    double worst, frobenius; /* the largest |error| / (|A||B|); relative */
    int misplaced;           /* results that should be Inf or NaN and are not, or the reverse */
} error_t;

static error_t error_of(const problem_t *p)
{
    error_t e = {0, 0, 0};
    double errors = 0, results = 0;
    for (int64_t x = 0; x < p->sample * p->sample; x++) {
        const int64_t i = taken(x / p->sample, p->sample, p->gemm.m);
        const double got = p->c[i * p->gemm.n + taken(x % p->sample, p->sample, p->gemm.n)];
        const double want = p->exact[x], error = fabs(got - want);
        if (!isfinite(want) || !isfinite(got)) {
            e.misplaced += !gemm_right(got, want, 0);
            continue;
        }
        errors += error * error;
        results += want * want;
        /* Half of the smallest subnormal is not an error. */
        if (p->magnitude[x] > 0 && error > 0x1p-150)
            e.worst = fmax(e.worst, error / p->magnitude[x]);
    }
    e.frobenius = results > 0 ? sqrt(errors / results) : 0;
    return e;
}

static error_t ours(tilemm_t ctx, problem_t *p, tilemm_math_t mode)
{
    memset(p->c, 0xff, (size_t)(p->gemm.m * p->gemm.n) * sizeof(float));
    CHECK_OK(ctx, tilemm_set_math(ctx, mode));
    CHECK_OK(ctx, gemm_call(ctx, &p->gemm, p->a, p->b, p->c));
    return error_of(p);
}

/* The bounds of FP32 mode. For each product: an error below one FP32 ulp of |A||B|, or at most
 * twice the reference library's (either may divide k, which makes errors smaller). For each family:
 * the largest errors over all shapes exceed the reference's by a margin for chance at most. */
static error_t largest[FAMILIES][2]; /* ours, the reference's */

static void note(error_t *largest_so_far, const error_t *e)
{
    largest_so_far->worst = fmax(largest_so_far->worst, e->worst);
    largest_so_far->frobenius = fmax(largest_so_far->frobenius, e->frobenius);
}

static void check_family(inputs_t family)
{
    const error_t *x = &largest[family][0], *reference = &largest[family][1];
    const double ulp = 0x1p-23, one_rounding = 0x1p-25; /* the norm of one rounding's errors */
    /* In these families few results dominate the norm. */
    int few = family == MIXED_ROWS || family == SPREAD_60;
    if (reference->worst > 0)
        CHECK(x->worst <= fmax(ulp, 1.1 * reference->worst) &&
                  (few || x->worst <= ulp || x->frobenius <= one_rounding ||
                   x->frobenius <= 1.02 * reference->frobenius),
              "%s: %.2e %.2e, reference %.2e %.2e", names[family], x->worst, x->frobenius,
              reference->worst, reference->frobenius);
}

static void try(tilemm_t ctx, inputs_t family, int64_t mn, int64_t k)
{
    problem_t p = make(family, mn, k);
    char kernel[64];
    const error_t strict = ours(ctx, &p, TILEMM_MATH_FP32_STRICT);
    const error_t tf32 = ours(ctx, &p, TILEMM_MATH_TF32), fp32 = ours(ctx, &p, TILEMM_MATH_FP32);
    snprintf(kernel, sizeof(kernel), "%s", tilemm_last_kernel(ctx));
    const int has_reference = gemm_reference(TEST_BACKEND, &p.gemm, p.a, p.b, p.c) == 0;
    const error_t reference = has_reference ? error_of(&p) : (error_t){0};
    const int has_tf32 =
        TEST_BACKEND == TILEMM_BACKEND_CUDA && gemm_cublas(1, &p.gemm, p.a, p.b, p.c) == 0;
    const error_t their_tf32 = has_tf32 ? error_of(&p) : (error_t){0};
    const error_t columns[] = {fp32, strict, reference, tf32, their_tf32};
    printf("%-20s %5lld %6lld |", names[family], (long long)mn, (long long)k);
    for (int c = 0; c < 5; c++)
        printf(" %8.1e %8.1e |", columns[c].worst, columns[c].frobenius);
    printf(" %s\n", kernel);
    CHECK(!fp32.misplaced && !strict.misplaced && !tf32.misplaced,
          "%s, %lld x %lld: %d, %d, %d of Inf and NaN are misplaced", names[family], (long long)mn,
          (long long)k, fp32.misplaced, strict.misplaced, tf32.misplaced);
    if (has_reference) {
        note(&largest[family][0], &fp32);
        note(&largest[family][1], &reference);
        CHECK(fp32.worst <= fmax(0x1p-23, 2 * reference.worst),
              "%s, %lld x %lld, %s: %.2e %.2e, reference %.2e %.2e", names[family], (long long)mn,
              (long long)k, kernel, fp32.worst, fp32.frobenius, reference.worst,
              reference.frobenius);
    }
    /* Bounds of doc/numerics.md. */
    CHECK(strict.worst <= (double)(k + 2) * 0x1p-24, "%s: %.2e", names[family], strict.worst);
    CHECK(tf32.worst <= 0x1p-10 + (double)(k + 2) * 0x1p-24, "%s: %.2e", names[family], tf32.worst);
    if (has_tf32)
        CHECK(tf32.worst <= fmax(their_tf32.worst * 1.25, 0x1p-11),
              "%s, %lld x %lld: %.2e, cuBLAS %.2e", names[family], (long long)mn, (long long)k,
              tf32.worst, their_tf32.worst);
    free(p.a);
    free(p.b);
    free(p.c);
    free(p.exact);
}

int main(void)
{
    static const int64_t sizes[][2] = {{96, 1},    {96, 3},    {96, 16},   {96, 64},
                                       {128, 130}, {200, 300}, {250, 512}, {128, 1024},
                                       {64, 4096}, {24, 65536}};
    static const int64_t gpu_sizes[][2] = {
        {1024, 200}, {1024, 1024}, {1500, 4000}, {600, 16384}, {300, 65536}};
    test_begin(TEST_BACKEND);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("worst |error| / (|A||B|), and relative Frobenius error, against FP64\n"
           "%-20s %5s %6s | %17s | %17s | %17s | %17s | %17s |\n",
           "input", "m = n", "k", "FP32", "strict", "reference FP32", "TF32", "reference TF32");
    for (int family = 0; family < FAMILIES; family++) {
        for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++)
            if (!test_quick() || sizes[s][1] <= 1024)
                try(ctx, (inputs_t)family, sizes[s][0], sizes[s][1]);
        for (int s = 0; TEST_BACKEND == TILEMM_BACKEND_CUDA && s < 5; s++)
            if (!test_quick() || gpu_sizes[s][1] <= 1024)
                try(ctx, (inputs_t)family, gpu_sizes[s][0], gpu_sizes[s][1]);
        if (!test_quick()) /* quick tests have too few shapes */
            check_family((inputs_t)family);
    }
    tilemm_destroy(ctx);
    return check_exit();
}
