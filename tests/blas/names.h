/* names.h - calls of the BLAS drop-in's routines under every name, with integers of either width.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_BLAS_NAMES_H
#define TILEMM_TESTS_BLAS_NAMES_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/support/check.h"

/* A set of names: what stands before and after BLAS's name, in Fortran and in C. */
typedef struct {
    const char *before, *after_fortran, *after_c;
    int wide;
} names_t;

static const names_t all_names[] = {{"", "_", "", 0},
                                    {"", "_64_", "64_", 1},
                                    {"", "_64", "_64", 1},
                                    {"scipy_", "_", "", 0},
                                    {"scipy_", "_64_", "64_", 1}};
enum { NAMES = 5, ROW = 101, COL = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

/* Where symbols are looked for: RTLD_DEFAULT, or a library. */
static void *names_library;

/* A routine; c says that it is CBLAS's. */
static inline void *routine(const names_t *set, int c, const char *stem)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s%s%s", set->before, c ? "cblas_" : "", stem,
             c ? set->after_c : set->after_fortran);
    void *found = dlsym(names_library, name);
    CHECK(found != NULL, "no %s", name);
    return found;
}

typedef struct {
    int64_t m, n, k, lda, ldb, ldc;
} sizes_t;

/* Not inlined: GCC 12 merges the two calls of a routine, with integers of either width, where it
 * sees that they pass the same numbers. */
#define ROUTINE __attribute__((noinline, unused)) static

/* Integers as Fortran passes them; high halves that must not be read hold ones. */
typedef union {
    int32_t narrow;
    int64_t wide;
} integer_t;

static inline integer_t integer(const names_t *set, int64_t value)
{
    integer_t x = {.wide = -1};
    if (set->wide)
        x.wide = value;
    else
        x.narrow = (int32_t)value;
    return x;
}

ROUTINE void call_sgemm(const names_t *set, const char *transa, const char *transb,
                        const sizes_t *s, float alpha, const float *a, const float *b, float beta,
                        float *c)
{
    void (*f)(const char *, const char *, const void *, const void *, const void *, const float *,
              const float *, const void *, const float *, const void *, const float *, float *,
              const void *, size_t, size_t);
    const integer_t m = integer(set, s->m), n = integer(set, s->n), k = integer(set, s->k),
                    lda = integer(set, s->lda), ldb = integer(set, s->ldb),
                    ldc = integer(set, s->ldc);
    *(void **)&f = routine(set, 0, "sgemm");
    f(transa, transb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}

#define INTEGERS(type) (type) s->m, (type)s->n, (type)s->k

ROUTINE void call_cblas_sgemm(const names_t *set, int layout, int transa, int transb,
                              const sizes_t *s, float alpha, const float *a, const float *b,
                              float beta, float *c)
{
    void (*narrow)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                   float, float *, int);
    void (*wide)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
                 const float *, int64_t, float, float *, int64_t);
    *(void **)&narrow = *(void **)&wide = routine(set, 1, "sgemm");
    if (set->wide)
        wide(layout, transa, transb, INTEGERS(int64_t), alpha, a, s->lda, b, s->ldb, beta, c,
             s->ldc);
    else
        narrow(layout, transa, transb, INTEGERS(int), alpha, a, (int)s->lda, b, (int)s->ldb, beta,
               c, (int)s->ldc);
}

ROUTINE void call_batch(const names_t *set, int layout, int transa, int transb, const sizes_t *s,
                        const float *a, int64_t stride_a, const float *b, int64_t stride_b,
                        float beta, float *c, int64_t stride_c, int64_t batch)
{
    void (*narrow)(int, int, int, int, int, int, float, const float *, int, int, const float *, int,
                   int, float, float *, int, int, int);
    void (*wide)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, int64_t,
                 const float *, int64_t, int64_t, float, float *, int64_t, int64_t, int64_t);
    *(void **)&narrow = *(void **)&wide = routine(set, 1, "sgemm_batch_strided");
    if (set->wide)
        wide(layout, transa, transb, INTEGERS(int64_t), 1, a, s->lda, stride_a, b, s->ldb, stride_b,
             beta, c, s->ldc, stride_c, batch);
    else
        narrow(layout, transa, transb, INTEGERS(int), 1, a, (int)s->lda, (int)stride_a, b,
               (int)s->ldb, (int)stride_b, beta, c, (int)s->ldc, (int)stride_c, (int)batch);
}

/* sasum and snrm2, in Fortran or in C. */
ROUTINE float call_norm(const names_t *set, int c, const char *stem, int64_t n, const float *x,
                        int64_t incx)
{
    float (*fortran)(const void *, const float *, const void *);
    float (*narrow)(int, const float *, int), (*wide)(int64_t, const float *, int64_t);
    const integer_t n_ = integer(set, n), incx_ = integer(set, incx);
    *(void **)&fortran = *(void **)&narrow = *(void **)&wide = routine(set, c, stem);
    return !c          ? fortran(&n_, x, &incx_)
           : set->wide ? wide(n, x, incx)
                       : narrow((int)n, x, (int)incx);
}

ROUTINE float call_sdot(const names_t *set, int c, int64_t n, const float *x, int64_t incx,
                        const float *y, int64_t incy)
{
    float (*fortran)(const void *, const float *, const void *, const float *, const void *);
    float (*narrow)(int, const float *, int, const float *, int);
    float (*wide)(int64_t, const float *, int64_t, const float *, int64_t);
    const integer_t n_ = integer(set, n), incx_ = integer(set, incx), incy_ = integer(set, incy);
    *(void **)&fortran = *(void **)&narrow = *(void **)&wide = routine(set, c, "sdot");
    return !c          ? fortran(&n_, x, &incx_, y, &incy_)
           : set->wide ? wide(n, x, incx, y, incy)
                       : narrow((int)n, x, (int)incx, y, (int)incy);
}

/* As the routine counts: from 1 in Fortran, where 0 is none, and from 0 in C. */
ROUTINE int64_t call_isamax(const names_t *set, int c, int64_t n, const float *x, int64_t incx)
{
    int32_t (*fortran)(const void *, const float *, const void *);
    int64_t (*fortran_64)(const void *, const float *, const void *);
    size_t (*narrow)(int, const float *, int), (*wide)(int64_t, const float *, int64_t);
    const integer_t n_ = integer(set, n), incx_ = integer(set, incx);
    *(void **)&fortran = *(void **)&fortran_64 = *(void **)&narrow = *(void **)&wide =
        routine(set, c, "isamax");
    return !c ? (set->wide ? fortran_64(&n_, x, &incx_) : fortran(&n_, x, &incx_))
              : (int64_t)(set->wide ? wide(n, x, incx) : narrow((int)n, x, (int)incx));
}

/* In place if b is NULL. */
ROUTINE void call_copy(const names_t *set, int layout, int trans, int64_t rows, int64_t cols,
                       float alpha, float *a, int64_t lda, float *b, int64_t ldb)
{
    void (*narrow)(int, int, int, int, float, const float *, int, float *, int);
    void (*wide)(int, int, int64_t, int64_t, float, const float *, int64_t, float *, int64_t);
    void (*narrow_in)(int, int, int, int, float, float *, int, int);
    void (*wide_in)(int, int, int64_t, int64_t, float, float *, int64_t, int64_t);
    *(void **)&narrow = *(void **)&wide = *(void **)&narrow_in = *(void **)&wide_in =
        routine(set, 1, b ? "somatcopy" : "simatcopy");
    if (b && set->wide)
        wide(layout, trans, rows, cols, alpha, a, lda, b, ldb);
    else if (b)
        narrow(layout, trans, (int)rows, (int)cols, alpha, a, (int)lda, b, (int)ldb);
    else if (set->wide)
        wide_in(layout, trans, rows, cols, alpha, a, lda, ldb);
    else
        narrow_in(layout, trans, (int)rows, (int)cols, alpha, a, (int)lda, (int)ldb);
}

#endif
