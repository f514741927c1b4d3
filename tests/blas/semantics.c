/* semantics.c - every routine of the BLAS drop-in, under every name, does what the reference BLAS
 * does: results, quick returns, increments, indices, NaN, error exits, floating-point environment.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE */
#endif

#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* What the handlers were called with. */
static struct {
    int calls, from_cblas;
    int64_t number;
    char name[32], text[80];
} error;

static void record(int from_cblas, int64_t number, const char *name, size_t length,
                   const char *format, va_list *list)
{
    error.calls++;
    error.from_cblas = from_cblas;
    error.number = number;
    snprintf(error.name, sizeof error.name, "%.*s", (int)length, name);
    error.text[0] = '\0';
    if (list)
        vsnprintf(error.text, sizeof error.text, format, *list);
}

#define XERBLA(name, type)                                                                         \
    void name(const char *routine, const type *number, size_t length);                             \
    void name(const char *routine, const type *number, size_t length)                              \
    {                                                                                              \
        record(0, *number, routine, length, NULL, NULL);                                           \
    }
XERBLA(xerbla_, int32_t)
XERBLA(scipy_xerbla_, int32_t)
XERBLA(xerbla_64_, int64_t)
XERBLA(xerbla_64, int64_t)
XERBLA(scipy_xerbla_64_, int64_t)

#define CBLAS_XERBLA(name, type)                                                                   \
    void name(type number, const char *routine, const char *format, ...);                          \
    void name(type number, const char *routine, const char *format, ...)                           \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        record(1, number, routine, strlen(routine), format, &list);                                \
        va_end(list);                                                                              \
    }
CBLAS_XERBLA(cblas_xerbla, int)
CBLAS_XERBLA(scipy_cblas_xerbla, int)
CBLAS_XERBLA(cblas_xerbla64_, int64_t)
CBLAS_XERBLA(cblas_xerbla_64, int64_t)
CBLAS_XERBLA(scipy_cblas_xerbla64_, int64_t)

static void check_error(const char *what, int from_cblas, int64_t number, const char *name)
{
    CHECK(error.calls == 1 && error.from_cblas == from_cblas && error.number == number &&
              strcmp(error.name, name) == 0,
          "%s: %d calls, the last of %s with %lld of '%s', not %lld of '%s'", what, error.calls,
          error.from_cblas ? "cblas_xerbla" : "xerbla", (long long)error.number, error.name,
          (long long)number, name);
    memset(&error, 0, sizeof error);
}

enum { MOST = 40, PAD = 3, FLOATS = 3 * (MOST + PAD) * (MOST + PAD) };
static float a[FLOATS], b[FLOATS], c[FLOATS], before[FLOATS];

static float number(void)
{
    return (float)(rand() % 2001 - 1000) / 1000;
}

static void fill(float *x)
{
    for (int i = 0; i < FLOATS; i++)
        x[i] = number();
}

static int64_t at(int by_columns, int64_t i, int64_t j, int64_t ld)
{
    return by_columns ? i + j * ld : i * ld + j;
}

/* The elements of C that are part of the matrix are near alpha op(A) op(B) + beta C; no other has
 * changed. */
static void check_product(const char *what, int by_columns, int ta, int tb, const sizes_t *s,
                          float alpha, const float *a_, const float *b_, float beta,
                          const float *old, const float *got)
{
    static char own[FLOATS];
    memset(own, 0, sizeof own);
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            const int64_t to = at(by_columns, i, j, s->ldc);
            double sum = 0;
            for (int64_t l = 0; l < s->k && alpha != 0; l++)
                sum += (double)a_[at(by_columns != ta, i, l, s->lda)] *
                       (double)b_[at(by_columns != tb, l, j, s->ldb)];
            const double want = alpha * sum + (beta == 0 ? 0 : (double)beta * (double)old[to]);
            own[to] = 1;
            CHECK(fabs((double)got[to] - want) <= 1e-5 * (double)(s->k + 1),
                  "%s: C(%lld, %lld) = %g, must be %g", what, (long long)i, (long long)j,
                  (double)got[to], want);
        }
    for (int i = 0; i < FLOATS; i++)
        if (!own[i])
            CHECK(memcmp(&got[i], &old[i], sizeof got[i]) == 0, "%s: element %d was written", what,
                  i);
}

/* The leading dimensions of a product, with padding. */
static void set_ld(sizes_t *s, int by_columns, int ta, int tb)
{
    s->lda = (by_columns != ta ? s->m : s->k) + rand() % PAD;
    s->ldb = (by_columns != tb ? s->k : s->n) + rand() % PAD;
    s->ldc = (by_columns ? s->m : s->n) + rand() % PAD;
    s->lda += s->lda == 0, s->ldb += s->ldb == 0, s->ldc += s->ldc == 0;
}

static void products(const names_t *set)
{
    static const float factors[] = {0, 1, -0.5f};
    static const char *const letters[] = {"N", "n", "T", "t", "C", "c"};
    static const int enumerators[] = {NO_TRANS, TRANS, CONJ_TRANS};
    char what[160];
    for (int round = 0; round < 250; round++) {
        const int form = rand() % 3, x = rand() % 3, y = rand() % 3; /* Fortran, rows, columns */
        const int by_columns = form != 1;
        sizes_t s = {rand() % MOST, rand() % MOST, rand() % MOST, 0, 0, 0};
        const float alpha = factors[rand() % 3], beta = factors[rand() % 3];
        set_ld(&s, by_columns, x > 0, y > 0);
        fill(a), fill(b), fill(c);
        if (beta == 0.0f) /* C is not read */
            for (int i = 0; i < FLOATS; i++)
                c[i] = NAN;
        memcpy(before, c, sizeof c);
        const int nothing = alpha == 0.0f || s.k == 0; /* A and B are not read */
        if (form == 0)
            call_sgemm(set, letters[2 * x + rand() % 2], letters[2 * y + rand() % 2], &s, alpha,
                       nothing ? NULL : a, nothing ? NULL : b, beta, c);
        else
            call_cblas_sgemm(set, form == 1 ? ROW : COL, enumerators[x], enumerators[y], &s, alpha,
                             nothing ? NULL : a, nothing ? NULL : b, beta, c);
        snprintf(what, sizeof what, "%s%s form %d, %lldx%lldx%lld, trans %d %d, alpha %g, beta %g",
                 set->before, set->after_c, form, (long long)s.m, (long long)s.n, (long long)s.k, x,
                 y, (double)alpha, (double)beta);
        check_product(what, by_columns, x > 0, y > 0, &s, alpha, a, b, beta, before, c);
    }
    CHECK(error.calls == 0, "an error was reported");
}

/* Each product of a batch is the single one; what lies between them stays. */
static void batches(const names_t *set)
{
    const sizes_t s = {9, 8, 7, 9, 9, 9}, short_c = {9, 8, 7, 9, 9, 1},
                  short_b = {9, 8, 7, 9, 1, 9};
    const int64_t stride = 100;
    for (int layout = ROW; layout <= COL; layout++) {
        fill(a), fill(b), fill(c);
        memcpy(before, c, sizeof c);
        for (int i = 0; i < 3; i++)
            call_cblas_sgemm(set, layout, NO_TRANS, CONJ_TRANS, &s, 1, a + i * stride, b, 2,
                             before + i * stride);
        call_batch(set, layout, NO_TRANS, CONJ_TRANS, &s, a, stride, b, 0, 2, c, stride, 3);
        for (int i = 0; i < FLOATS; i++)
            CHECK(fabsf(c[i] - before[i]) <= 1e-5f, "batch: element %d is %g, not %g", i,
                  (double)c[i], (double)before[i]);
        memcpy(before, c, sizeof c);
        call_batch(set, layout, NO_TRANS, TRANS, &s, a, stride, b, 0, 2, c, stride, 0);
        call_batch(set, layout, NO_TRANS, TRANS, &short_c, a, stride, b, 0, 2, c, stride, 1);
        check_error("batch ldc", 1, 16, "cblas_sgemm_batch_strided");
        call_batch(set, layout, NO_TRANS, TRANS, &short_b, a, stride, b, 0, 2, c, stride, 1);
        check_error("batch ldb", 1, 12, "cblas_sgemm_batch_strided");
        call_batch(set, layout, NO_TRANS, TRANS, &s, a, stride, b, 0, 2, c, stride, -1);
        check_error("batch count", 1, 18, "cblas_sgemm_batch_strided");
        CHECK(memcmp(before, c, sizeof c) == 0, "a batch of none, or a wrong one, was computed");
    }
}

/* Wrong arguments: the first in the order in which the reference looks. */
static void errors(const names_t *set)
{
    /* sizes, and the number in sgemm_ as it is called for column-major and row-major products */
    static const struct {
        sizes_t sizes;
        int by_columns, by_rows;
    } wrong[] = {
        {{-1, 5, 5, 9, 9, 9}, 3, 4},   {{5, -1, 5, 9, 9, 9}, 4, 3}, {{5, 5, -1, 9, 9, 9}, 5, 5},
        {{5, 6, 7, 4, 9, 9}, 8, 10},   {{5, 6, 7, 9, 5, 9}, 10, 8}, {{5, 6, 7, 9, 9, 4}, 13, 13},
        {{-1, -1, -1, 0, 0, 0}, 3, 3}, {{0, 0, 0, 0, 1, 1}, 8, 10}, {{0, 0, 0, 1, 1, 0}, 13, 13}};
    const sizes_t good = {2, 2, 2, 2, 2, 2};
    char what[64];
    fill(c);
    memcpy(before, c, sizeof c);
    call_sgemm(set, "X", "Y", &wrong[6].sizes, 1, a, b, 0, c);
    check_error("transa", 0, 1, "SGEMM ");
    call_sgemm(set, "t", "\0", &wrong[6].sizes, 1, a, b, 0, c);
    check_error("transb", 0, 2, "SGEMM ");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(what, sizeof what, "%ssgemm%s, sizes %d", set->before, set->after_c, (int)i);
        call_sgemm(set, "N", "N", &wrong[i].sizes, 1, a, b, 0, c);
        check_error(what, 0, wrong[i].by_columns, "SGEMM ");
        call_cblas_sgemm(set, COL, NO_TRANS, NO_TRANS, &wrong[i].sizes, 1, a, b, 0, c);
        check_error(what, 0, wrong[i].by_columns, "SGEMM ");
        call_cblas_sgemm(set, ROW, NO_TRANS, NO_TRANS, &wrong[i].sizes, 1, a, b, 0, c);
        check_error(what, 0, wrong[i].by_rows, "SGEMM ");
    }
    call_cblas_sgemm(set, 0, 0, 0, &good, 1, a, b, 0, c);
    CHECK(strcmp(error.text, "Illegal layout setting, 0\n") == 0, "'%s'", error.text);
    check_error("layout", 1, 1, "cblas_sgemm");
    call_cblas_sgemm(set, ROW, 114, 0, &good, 1, a, b, 0, c);
    CHECK(strcmp(error.text, "Illegal TransA setting, 114\n") == 0, "'%s'", error.text);
    check_error("TransA", 1, 2, "cblas_sgemm");
    call_cblas_sgemm(set, COL, TRANS, 7, &good, 1, a, b, 0, c);
    CHECK(strcmp(error.text, "Illegal TransB setting, 7\n") == 0, "'%s'", error.text);
    check_error("TransB", 1, 3, "cblas_sgemm");
    CHECK(memcmp(before, c, sizeof c) == 0, "C was written");
}

/* Vectors by the reference's rules, in FP64. */
static const float *first(const float *x, int64_t n, int64_t inc)
{
    return inc < 0 ? x - (n - 1) * inc : x;
}

static double reference(int norm, int64_t n, const float *x, int64_t incx)
{
    double sum = 0;
    if (!norm && incx <= 0)
        return 0;
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)first(x, n, incx)[i * incx];
        sum += norm ? value * value : fabs(value);
    }
    return norm ? sqrt(sum) : sum;
}

static int64_t reference_isamax(int64_t n, const float *x, int64_t incx)
{
    int64_t best = 0;
    if (n < 1 || incx <= 0)
        return -1;
    for (int64_t i = 1; i < n; i++)
        if (fabsf(x[i * incx]) > fabsf(x[best * incx]))
            best = i;
    return best;
}

static int near(double got, double want)
{
    return isnan(want)   ? isnan(got)
           : isinf(want) ? got == want
                         : fabs(got - want) <= 1e-6 * (1 + fabs(want));
}

static void vectors(const names_t *set)
{
    static const int sizes[] = {-3, 0, 1, 2, 3, 17, 100, 1000}, steps[] = {-3, -1, 0, 1, 2};
    for (int special = 0; special < 5; special++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 5; j++) {
                const int n = sizes[i], incx = steps[j], incy = steps[(j + i) % 5];
                fill(a), fill(b);
                if (special == 1 || special == 3)
                    a[0] = NAN;
                if (special >= 2)
                    a[2 * (n / 2 > 0 ? n / 2 : 0)] = special == 4 ? -INFINITY : NAN;
                double dot = 0;
                for (int l = 0; l < n; l++)
                    dot +=
                        (double)first(a, n, incx)[l * incx] * (double)first(b, n, incy)[l * incy];
                for (int in_c = 0; in_c < 2; in_c++) {
                    const double asum = (double)call_norm(set, in_c, "sasum", n, a, incx);
                    const double nrm2 = (double)call_norm(set, in_c, "snrm2", n, a, incx);
                    const double sdot = (double)call_sdot(set, in_c, n, a, incx, b, incy);
                    const int64_t found = call_isamax(set, in_c, n, a, incx);
                    const int64_t best = reference_isamax(n, a, incx);
                    CHECK(near(asum, reference(0, n, a, incx)), "sasum %d, %d: %g", n, incx, asum);
                    CHECK(near(nrm2, reference(1, n, a, incx)), "snrm2 %d, %d: %g", n, incx, nrm2);
                    CHECK(near(sdot, dot), "sdot %d, %d, %d: %g, not %g", n, incx, incy, sdot, dot);
                    CHECK(found == (in_c ? (best < 0 ? 0 : best) : best + 1),
                          "isamax %d, %d, in C %d, case %d: %lld, not %lld", n, incx, in_c, special,
                          (long long)found, (long long)best);
                }
            }
    CHECK(error.calls == 0, "an error was reported");
}

static void copies(const names_t *set)
{
    static const int ops[] = {NO_TRANS, TRANS, CONJ_TRANS, 114};
    for (int layout = ROW; layout <= COL; layout++)
        for (int i = 0; i < 8; i++) {
            const int trans = i % 4 == 1 || i % 4 == 2, by_columns = layout == COL,
                      in_place = i > 3;
            const int rows = 11, cols = 6, lda = (by_columns ? rows : cols) + 2;
            const int ldb = (by_columns != trans ? rows : cols) + 1;
            fill(a), fill(b);
            memcpy(before, a, sizeof a);
            if (in_place)
                memcpy(b, a, sizeof a);
            call_copy(set, layout, ops[i % 4], rows, cols, 3, in_place ? b : a, lda,
                      in_place ? NULL : b, ldb);
            for (int r = 0; r < rows; r++)
                for (int l = 0; l < cols; l++)
                    CHECK(b[at(by_columns != trans, r, l, ldb)] ==
                              3 * before[at(by_columns, r, l, lda)],
                          "layout %d, trans %d, in place %d: (%d, %d)", layout, ops[i % 4],
                          in_place, r, l);
            memcpy(c, b, sizeof c);
            call_copy(set, layout, TRANS, 0, 5, 3, a, 9, in_place ? NULL : b, 9);
            const char *name = in_place ? "cblas_simatcopy" : "cblas_somatcopy";
            call_copy(set, 99, TRANS, 5, 5, 3, a, 9, in_place ? NULL : b, 9);
            check_error("layout", 1, 1, name);
            call_copy(set, layout, 99, 5, 5, 3, a, 9, in_place ? NULL : b, 9);
            check_error("trans", 1, 2, name);
            call_copy(set, layout, TRANS, -1, 5, 3, a, 9, in_place ? NULL : b, 9);
            check_error("rows", 1, 3, name);
            call_copy(set, layout, TRANS, 5, -1, 3, a, 9, in_place ? NULL : b, 9);
            check_error("cols", 1, 4, name);
            call_copy(set, layout, TRANS, 5, 5, 3, a, 4, in_place ? NULL : b, 9);
            check_error("lda", 1, 7, name);
            call_copy(set, layout, TRANS, 5, 5, 3, a, 9, in_place ? NULL : b, 4);
            check_error("ldb", 1, in_place ? 8 : 9, name);
            CHECK(memcmp(b, c, sizeof c) == 0, "a wrong call wrote");
        }
}

/* Rounding, trapping, flags and errno are as before; values overflow meanwhile. */
static void environment(const names_t *set)
{
    const sizes_t s = {4, 4, 4, 4, 4, 4};
    for (int i = 0; i < FLOATS; i++)
        a[i] = i % 2 ? 3e38f : -3e38f, b[i] = 2.1f;
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_UPWARD);
#ifdef __GLIBC__
    feenableexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO);
#endif
    errno = 1234;
    call_sgemm(set, "N", "N", &s, 1, a, b, 0, c);
    call_cblas_sgemm(set, ROW, TRANS, NO_TRANS, &s, 1, a, b, 0, c);
    const float sum = call_norm(set, 0, "sasum", 100, a, 1);
    const int number_of_error = errno, flags = fetestexcept(FE_ALL_EXCEPT), round = fegetround();
#ifdef __GLIBC__
    CHECK(fegetexcept() == (FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO), "traps have changed");
    fedisableexcept(FE_ALL_EXCEPT);
#endif
    fesetround(FE_TONEAREST);
    CHECK(isinf(sum), "the sum is %g", (double)sum);
    CHECK(round == FE_UPWARD, "the rounding mode has changed");
    CHECK((flags & ~FE_INEXACT) == 0, "flags %x were raised", (unsigned int)flags);
    CHECK(number_of_error == 1234, "errno has become %d", number_of_error);
}

static void signals(void)
{
    struct sigaction action;
    for (int i = 1; i < 32; i++)
        if (sigaction(i, NULL, &action) == 0)
            CHECK(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN,
                  "signal %d has a handler", i);
}

int main(void)
{
    srand(1);
    for (int i = 0; i < NAMES; i++) {
        products(&all_names[i]);
        batches(&all_names[i]);
        errors(&all_names[i]);
        vectors(&all_names[i]);
        copies(&all_names[i]);
        environment(&all_names[i]);
    }
    signals();
    return check_exit();
}
