/* gemm.c - matrices and matrix products: FP64 results, error bounds, the reference library.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"
#include "tools/gpu.h"
#include "tools/reference.h"

int64_t matrix_ld(tilemm_layout_t layout, int64_t rows, int64_t cols)
{
    int64_t ld = layout == TILEMM_ROW_MAJOR ? cols : rows;
    return ld > 0 ? ld : 1;
}

int64_t matrix_span(tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld)
{
    return rows && cols ? matrix_at(layout, rows - 1, cols - 1, ld) + 1 : 0;
}

void matrix_fill(float *x, tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld,
                 family_t family, rng_t *rng)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            x[matrix_at(layout, i, j, ld)] = rng_float(rng, family);
}

void matrix_own(operand_t *operand, size_t elem_size, int64_t first, tilemm_layout_t layout,
                int64_t rows, int64_t cols, int64_t ld)
{
    const int64_t lines = layout == TILEMM_ROW_MAJOR ? rows : cols;
    const int64_t length = layout == TILEMM_ROW_MAJOR ? cols : rows;
    for (int64_t line = 0; length && line < lines; line++)
        operand_own(operand, (size_t)(first + line * ld) * elem_size, (size_t)length * elem_size);
}

gemm_t gemm_make(tilemm_layout_t layout, tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                 int64_t n, int64_t k, float alpha, float beta)
{
    gemm_t gemm = {layout, transa, transb, m, n, k, alpha, beta, 0, 0, 0};
    gemm_set_ld(&gemm, 0, 0, 0);
    return gemm;
}

gemm_t gemm_by_bits(int bits, const int64_t size[3], float alpha, float beta)
{
    return gemm_make(bits & COL_MAJOR ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                     bits & TRANS_A ? TILEMM_TRANS : TILEMM_NO_TRANS,
                     bits & TRANS_B ? TILEMM_TRANS : TILEMM_NO_TRANS, size[0], size[1], size[2],
                     alpha, beta);
}

void gemm_set_ld(gemm_t *g, int64_t pad_a, int64_t pad_b, int64_t pad_c)
{
    g->lda = pad_a + matrix_ld(gemm_layout(g, g->transa), g->m, g->k);
    g->ldb = pad_b + matrix_ld(gemm_layout(g, g->transb), g->k, g->n);
    g->ldc = pad_c + matrix_ld(g->layout, g->m, g->n);
}

const char *gemm_text(const gemm_t *g)
{
    static char text[200];
    snprintf(text, sizeof(text),
             "%s %c%c m %lld n %lld k %lld alpha %g beta %g lda %lld ldb %lld ldc %lld",
             g->layout == TILEMM_ROW_MAJOR ? "row" : "col", g->transa == TILEMM_TRANS ? 'T' : 'N',
             g->transb == TILEMM_TRANS ? 'T' : 'N', (long long)g->m, (long long)g->n,
             (long long)g->k, (double)g->alpha, (double)g->beta, (long long)g->lda,
             (long long)g->ldb, (long long)g->ldc);
    return text;
}

tilemm_status_t gemm_call(tilemm_t ctx, const gemm_t *g, const float *a, const float *b, float *c)
{
    return tilemm_sgemm(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k, g->alpha, a, g->lda,
                        b, g->ldb, g->beta, c, g->ldc);
}

tilemm_status_t gemm_call_strided(tilemm_t ctx, const gemm_t *g, const float *a, int64_t stride_a,
                                  const float *b, int64_t stride_b, float *c, int64_t stride_c,
                                  int64_t batch)
{
    return tilemm_sgemm_strided_batched(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k,
                                        g->alpha, a, g->lda, stride_a, b, g->ldb, stride_b, g->beta,
                                        c, g->ldc, stride_c, batch);
}

tilemm_status_t gemm_call_batched(tilemm_t ctx, const gemm_t *g, const float *const *a,
                                  const float *const *b, float *const *c, int64_t batch)
{
    return tilemm_sgemm_batched(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k, g->alpha, a,
                                g->lda, b, g->ldb, g->beta, c, g->ldc, batch);
}

void gemm_exact(const gemm_t *g, const float *a, const float *b, double *dot, double *mag)
{
    double *line = test_need(malloc(sizeof(double) * (size_t)(g->n ? g->n : 1)));
    for (int64_t i = 0; i < g->m * g->n; i++)
        dot[i] = mag[i] = 0;
    for (int64_t p = 0; p < g->k; p++) {
        for (int64_t j = 0; j < g->n; j++)
            line[j] = b[gemm_at_b(g, p, j)];
        for (int64_t i = 0; i < g->m; i++) {
            double x = a[gemm_at_a(g, i, p)];
            double *restrict d = dot + i * g->n, *restrict s = mag + i * g->n;
            for (int64_t j = 0; j < g->n; j++) {
                double product = x * line[j];
                d[j] += product;
                s[j] += fabs(product);
            }
        }
    }
    free(line);
}

double gemm_dot(const gemm_t *g, const float *a, const float *b, int64_t i, int64_t j, double *mag)
{
    double sum = 0;
    *mag = 0;
    for (int64_t p = 0; p < g->k; p++) {
        double product = (double)a[gemm_at_a(g, i, p)] * (double)b[gemm_at_b(g, p, j)];
        sum += product;
        *mag += fabs(product);
    }
    return sum;
}

int gemm_right(double got, double want, double bound)
{
    if (isnan(want))
        return isnan(got);
    return isinf((float)want) ? got == (float)want : fabs(got - want) <= bound;
}

double gemm_tolerance(tilemm_math_t math, int64_t k)
{
    return (math == TILEMM_MATH_TF32 ? 0x1p-10 : 0) + (8 + sqrt((double)k)) * 0x1p-24;
}

gemm_error_t gemm_error(const gemm_t *g, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error)
{
    gemm_error_t error = {0, -1, -1, 0, 0, 0, 0, 0};
    const double alpha = g->alpha != 0 && g->k > 0 ? (double)g->alpha : 0;
    double roundings = (double)g->k + (fabs((double)g->alpha) != 1 || g->beta != 0 ? 2 : 0);
    for (int64_t x = 0; x < g->m * g->n; x++) {
        int64_t i = x / g->n, j = x % g->n, e = matrix_at(g->layout, i, j, g->ldc);
        double old = g->beta != 0 ? (double)g->beta * c_before[e] : 0;
        double want = (alpha != 0 ? alpha * dot[x] : 0) + old, got = c[e];
        double scale = (alpha != 0 ? fabs(alpha) * mag[x] : 0) + fabs(old);
        double bound = (roundings * 0x1p-24 + input_error) * scale +
                       roundings * (1 + fabs((double)g->alpha)) * 0x1p-149;
        if (isfinite((float)want) && scale > 0x1p-100) {
            error.worst = fmax(error.worst, fabs(got - want) / scale);
            error.half_ulp = fmax(error.half_ulp, fabs(want) / scale * 0x1p-24);
        }
        if (!gemm_right(got, want, bound) && error.outside++ == 0) {
            error.i = i;
            error.j = j;
            error.got = got;
            error.want = want;
            error.bound = bound;
        }
    }
    return error;
}

int gemm_cublas(int tf32, const gemm_t *g, const float *a, const float *b, float *c)
{
    const reference_cublas_t *cublas = reference_cublas();
    const size_t bytes_a = sizeof(float) * (size_t)gemm_span_a(g);
    const size_t bytes_b = sizeof(float) * (size_t)gemm_span_b(g);
    const size_t bytes_c = sizeof(float) * (size_t)gemm_span_c(g);
    const int ta = g->transa == TILEMM_TRANS, tb = g->transb == TILEMM_TRANS;
    if (!cublas)
        return -1;
    float *da = gpu_malloc(bytes_a), *db = gpu_malloc(bytes_b), *dc = gpu_malloc(bytes_c);
    int failed = !da || !db || !dc || gpu_to_device(da, a, bytes_a) ||
                 gpu_to_device(db, b, bytes_b) || gpu_to_device(dc, c, bytes_c) ||
                 cublas->set_stream(NULL);
    if (!failed && g->layout == TILEMM_COL_MAJOR)
        failed = cublas->sgemm(tf32, ta, tb, (int)g->m, (int)g->n, (int)g->k, g->alpha, da,
                               (int)g->lda, db, (int)g->ldb, g->beta, dc, (int)g->ldc);
    else if (!failed)
        failed = cublas->sgemm(tf32, tb, ta, (int)g->n, (int)g->m, (int)g->k, g->alpha, db,
                               (int)g->ldb, da, (int)g->lda, g->beta, dc, (int)g->ldc);
    failed = failed || gpu_synchronize() || gpu_to_host(c, dc, bytes_c);
    gpu_free(da);
    gpu_free(db);
    gpu_free(dc);
    return failed ? -1 : 0;
}

int gemm_reference(tilemm_backend_t backend, const gemm_t *g, const float *a, const float *b,
                   float *c)
{
    if (!g->m || !g->n || !g->k)
        return -1;
    if (backend == TILEMM_BACKEND_CUDA)
        return gemm_cublas(0, g, a, b, c);
    const reference_blas_t *blas = reference_blas();
    if (!blas || !blas->sgemm)
        return -1;
    blas->sgemm(g->layout, g->transa, g->transb, (int)g->m, (int)g->n, (int)g->k, g->alpha, a,
                (int)g->lda, b, (int)g->ldb, g->beta, c, (int)g->ldc);
    return 0;
}
