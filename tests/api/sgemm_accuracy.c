/* sgemm_accuracy.c - the error of every math mode on difficult families of inputs, compared with
 * the reference library's on the same input. Prints the table that doc/numerics.md shows.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"
#include "tools/data.h"

typedef struct {
    gemm_t gemm; /* row-major, no transposes: A m x k, B k x n */
    float *a, *b, *c;
    int64_t rows; /* of C that are checked */
    double *exact, *magnitude;
} problem_t;

/* Row i of those that are checked, the first and last among them. */
static int64_t taken(const problem_t *p, int64_t i)
{
    return p->rows > 1 ? i * (p->gemm.m - 1) / (p->rows - 1) : 0;
}

/* The same data in every run, quick or not: a product and a family have a seed. */
static problem_t make(data_t family, const int64_t size[3])
{
    enum { WORK = 1 << 25, LEAST = 12 };
    const int64_t m = size[0], n = size[1], k = size[2], affordable = WORK / (n * k);
    const uint64_t seed = (((uint64_t)family * 8209 + (uint64_t)m) * 8209 + (uint64_t)n) * 131101;
    problem_t p;
    memset(&p, 0, sizeof(p));
    p.gemm = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k, 1, 0);
    p.a = host_array(m * k);
    p.b = host_array(k * n);
    p.c = host_array(m * n);
    data_fill(family, 0, seed + (uint64_t)k, m, k, p.a, k, 1);
    data_fill(family, 1, seed + (uint64_t)k, n, k, p.b, 1, n);
    /* One number everywhere has one error, which is chance: each row has its own number. */
    for (int64_t i = 0; family == DATA_EQUAL && i < m; i++)
        for (int64_t j = 0; j < k; j++)
            p.a[i * k + j] *= 1.0f + (float)i / (float)m;
    p.rows = affordable < LEAST ? LEAST : affordable;
    if (p.rows > m)
        p.rows = m;
    p.exact = test_need(malloc((size_t)(p.rows * n) * 2 * sizeof(double)));
    p.magnitude = p.exact + p.rows * n;
    float *lines = host_array(p.rows * k);
    gemm_t some = p.gemm;
    some.m = p.rows;
    for (int64_t i = 0; i < p.rows; i++)
        memcpy(lines + i * k, p.a + taken(&p, i) * k, (size_t)k * sizeof(float));
    gemm_exact(&some, lines, p.b, p.exact, p.magnitude);
    free(lines);
    return p;
}

typedef struct {
    double worst, frobenius; /* the largest |error| / (|A||B|); relative */
    int misplaced;           /* results that should be Inf or NaN and are not, or the reverse */
} error_t;

static error_t error_of(const problem_t *p)
{
    error_t e = {0, 0, 0};
    const int64_t n = p->gemm.n;
    double errors = 0, results = 0;
    for (int64_t x = 0; x < p->rows * n; x++) {
        const double got = p->c[taken(p, x / n) * n + x % n];
        const double want = p->exact[x], error = fabs(got - want);
        if (!isfinite(want) || !isfinite(got)) {
            e.misplaced += !gemm_right(got, want, 0);
            continue;
        }
        errors += error * error;
        results += want * want;
        /* What k sums and their product with alpha lose where they are subnormal is no error. */
        if (error > (double)(p->gemm.k + 2) * 0x1p-150)
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

/* Few results dominate the norm. */
static int few_dominate(data_t family)
{
    switch (family) {
    case DATA_WIDE:
    case DATA_WIDE_LINES:
    case DATA_WIDE_20:
    case DATA_WIDE_60:
    case DATA_WIDE_120:
    case DATA_WIDE_ROWS:
    case DATA_WIDE_PERMUTED:
    case DATA_SOFTMAX:
    case DATA_OUTLIERS_100:
    case DATA_OUTLIERS_1000:
    case DATA_OUTLIERS_HUGE:
    case DATA_HUGE_IN_LINE:
    case DATA_HUGE_LINES:
    case DATA_LOGNORMAL:
    case DATA_CAUCHY: return 1;
    default: return 0;
    }
}

/* A family's largest errors, and the largest ratios of ours to the reference's. */
typedef struct {
    error_t ours, reference;
    double worst_ratio, frobenius_ratio;
} family_errors_t;

static void note(error_t *largest_so_far, const error_t *e)
{
    largest_so_far->worst = fmax(largest_so_far->worst, e->worst);
    largest_so_far->frobenius = fmax(largest_so_far->frobenius, e->frobenius);
}

/* The bounds of FP32 mode, for each product: an error below one FP32 ulp of |A||B|, or at most
 * twice the reference library's, three times where a GPU's planes are used (the reference may
 * divide k, which makes its errors smaller). In some families all terms have one sign, and
 * roundings do not average out: 2^-22 or, of planes, 2^-20 is allowed there. Of planes at sides of
 * about 1000, where cuBLAS hardly divides k: 1.75 of cuBLAS's largest error and 1.33 of its norm,
 * where what one rounding makes is no error. And for each family: the largest errors over all
 * shapes exceed the reference's by a margin for chance at most, or are no larger than two roundings
 * make; of a GPU three and a little where each result is a sum of two products: of these multiply-
 * adds round the second with the sum, and tensor cores both before. There the norm is bounded too,
 * though few results dominate it. */
static void check_product(family_errors_t *family_errors, data_t family, const char *text,
                          int is_planes, int is_tight, const error_t *fp32,
                          const error_t *reference)
{
    const int one_sign = family == DATA_RELU || family == DATA_BYTES || family == DATA_EQUAL;
    const double least = !one_sign ? 0x1p-23 : is_planes ? 0x1p-20 : 0x1p-22;
    const double worst = fp32->worst / fmax(reference->worst, 0x1p-24);
    const double frobenius = fp32->frobenius / fmax(reference->frobenius, 0x1p-25);
    note(&family_errors->ours, fp32);
    note(&family_errors->reference, reference);
    family_errors->worst_ratio = fmax(family_errors->worst_ratio, worst);
    family_errors->frobenius_ratio = fmax(family_errors->frobenius_ratio, frobenius);
    if (is_tight)
        CHECK(worst <= 1.75 && (frobenius <= 1.33 || few_dominate(family)),
              "%s: %.2e %.2e, %.2f and %.2f of cuBLAS's %.2e %.2e", text, fp32->worst,
              fp32->frobenius, worst, frobenius, reference->worst, reference->frobenius);
    else
        CHECK(fp32->worst <= fmax(least, (is_planes ? 3 : 2) * reference->worst),
              "%s: %.2e %.2e, reference %.2e %.2e", text, fp32->worst, fp32->frobenius,
              reference->worst, reference->frobenius);
}

static void check_family(const family_errors_t *errors, data_t family)
{
    const error_t *x = &errors->ours, *reference = &errors->reference;
    const double ulp = 0x1p-23, one_rounding = 0x1p-25; /* the norm of one rounding's errors */
    const int is_sum_of_two = TEST_BACKEND == TILEMM_BACKEND_CUDA && family == DATA_HUGE_IN_LINE;
    const double least = is_sum_of_two ? 3.25 * 0x1p-24 : ulp;
    if (reference->worst <= 0)
        return;
    printf("%-39s | at most %4.2f and %4.2f of the reference's errors\n", data_text(family),
           errors->worst_ratio, errors->frobenius_ratio);
    /* Quick tests have too few shapes; where all results are the same, there is but one error. */
    if (!test_quick() && family != DATA_EQUAL)
        CHECK(x->worst <= fmax(least, 1.25 * reference->worst) &&
                  ((few_dominate(family) && !is_sum_of_two) || x->worst <= ulp ||
                   x->frobenius <= one_rounding || x->frobenius <= 1.25 * reference->frobenius),
              "%s: %.2e %.2e, reference %.2e %.2e", data_text(family), x->worst, x->frobenius,
              reference->worst, reference->frobenius);
}

static void try(tilemm_t ctx, family_errors_t *errors, data_t family, const int64_t size[3])
{
    problem_t p = make(family, size);
    const int64_t k = p.gemm.k;
    char kernel[64], text[160];
    const error_t strict = ours(ctx, &p, TILEMM_MATH_FP32_STRICT);
    const error_t tf32 = ours(ctx, &p, TILEMM_MATH_TF32), fp32 = ours(ctx, &p, TILEMM_MATH_FP32);
    snprintf(kernel, sizeof(kernel), "%s", tilemm_last_kernel(ctx));
    const int is_planes = strstr(kernel, "planes_sm90") != NULL;
    const int is_tight = is_planes && size[0] >= 900 && k <= 1500;
    const int has_reference = gemm_reference(TEST_BACKEND, &p.gemm, p.a, p.b, p.c) == 0;
    const error_t reference = has_reference ? error_of(&p) : (error_t){0};
    const int has_tf32 =
        TEST_BACKEND == TILEMM_BACKEND_CUDA && gemm_cublas(1, &p.gemm, p.a, p.b, p.c) == 0;
    const error_t their_tf32 = has_tf32 ? error_of(&p) : (error_t){0};
    const error_t columns[] = {fp32, strict, reference, tf32, their_tf32};
    snprintf(text, sizeof(text), "%s, %lld x %lld x %lld", data_text(family), (long long)size[0],
             (long long)size[1], (long long)size[2]);
    printf("%-39s |", text);
    for (int c = 0; c < 5; c++)
        printf(" %8.1e %8.1e |", columns[c].worst, columns[c].frobenius);
    printf(" %s\n", kernel);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s", kernel);
    CHECK(!fp32.misplaced && !strict.misplaced && !tf32.misplaced,
          "%s: %d, %d, %d of Inf and NaN are misplaced", text, fp32.misplaced, strict.misplaced,
          tf32.misplaced);
    if (has_reference)
        check_product(errors, family, text, is_planes, is_tight, &fp32, &reference);
    /* Bounds of doc/numerics.md. */
    CHECK(strict.worst <= (double)(k + 2) * 0x1p-24, "%s: %.2e", text, strict.worst);
    /* A GPU has subnormal numbers with TF32's last place, as cuBLAS has. */
    if (family != DATA_SUBNORMAL || !has_tf32)
        CHECK(tf32.worst <= 0x1p-10 + (double)(k + 2) * 0x1p-24, "%s: %.2e", text, tf32.worst);
    if (has_tf32)
        CHECK(tf32.worst <= fmax(their_tf32.worst * 1.25, 0x1p-11), "%s: %.2e, cuBLAS %.2e", text,
              tf32.worst, their_tf32.worst);
    free(p.a);
    free(p.b);
    free(p.c);
    free(p.exact);
}

int main(void)
{
    /* The GPU's kernels that split operands themselves, and from 768 on its planes. */
    static const int64_t sizes[][3] = {{96, 96, 1},       {96, 96, 3},       {96, 96, 16},
                                       {96, 96, 64},      {128, 128, 130},   {200, 200, 300},
                                       {250, 250, 512},   {384, 384, 384},   {128, 128, 1024},
                                       {64, 64, 4096},    {24, 24, 65536},   {512, 512, 512},
                                       {1024, 1024, 200}, {768, 768, 768},   {1024, 1024, 1024},
                                       {1100, 900, 1500}, {1001, 999, 1203}, {1500, 1500, 4000},
                                       {600, 600, 16384}, {300, 300, 65536}, {880, 1200, 1030}};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes), CPU_SIZES = 11, EMULATED_WORK = 1 << 24 };
    test_begin(TEST_BACKEND);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("worst |error| / (|A||B|), and relative Frobenius error, against FP64\n"
           "%-39s | %17s | %17s | %17s | %17s | %17s |\n",
           "input", "FP32", "strict", "reference FP32", "TF32", "reference TF32");
    for (int family = 0; family < DATA_FAMILIES; family++) {
        family_errors_t errors = {{0, 0, 0}, {0, 0, 0}, 0, 0};
        for (int s = 0; s < (TEST_BACKEND == TILEMM_BACKEND_CUDA ? SIZES : CPU_SIZES); s++)
            if ((!test_quick() || sizes[s][2] <= 1024) &&
                (!test_is_run_by_another() ||
                 sizes[s][0] * sizes[s][1] * sizes[s][2] <= EMULATED_WORK))
                try(ctx, &errors, (data_t)family, sizes[s]);
        check_family(&errors, (data_t)family);
    }
    tilemm_destroy(ctx);
    return check_exit();
}
