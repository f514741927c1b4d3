/* other.c - a BLAS that computes nothing and counts its calls. cblas_sgemm calls sgemm_, as that of
 * the reference does.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "other.h"

#include <stddef.h>
#include <unistd.h>

int other_calls, other_microseconds, other_is_wide;
int64_t other_m, other_lda;

const char *openblas_get_config(void);
void sgemm_(const char *transa, const char *transb, const void *m, const void *n, const void *k,
            const float *alpha, const float *a, const void *lda, const float *b, const void *ldb,
            const float *beta, float *c, const void *ldc, size_t length_a, size_t length_b);
void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
float sdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy);

static void work(void)
{
    other_calls++;
    if (other_microseconds)
        usleep((unsigned int)other_microseconds);
}

/* What OpenBLAS says of itself. */
const char *openblas_get_config(void)
{
    return other_is_wide ? "OpenBLAS 0 NO_AFFINITY USE64BITINT" : "OpenBLAS 0 NO_AFFINITY";
}

void sgemm_(const char *transa, const char *transb, const void *m, const void *n, const void *k,
            const float *alpha, const float *a, const void *lda, const float *b, const void *ldb,
            const float *beta, float *c, const void *ldc, size_t length_a, size_t length_b)
{
    (void)transa, (void)transb, (void)n, (void)k, (void)alpha, (void)a, (void)b, (void)ldb;
    (void)beta, (void)c, (void)ldc, (void)length_a, (void)length_b;
    other_m = other_is_wide ? *(const int64_t *)m : *(const int32_t *)m;
    other_lda = other_is_wide ? *(const int64_t *)lda : *(const int32_t *)lda;
    work();
}

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)layout, (void)transa, (void)transb;
    work();
    sgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}

float sdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy)
{
    (void)n, (void)x, (void)incx, (void)y, (void)incy;
    work();
    return 1234;
}
