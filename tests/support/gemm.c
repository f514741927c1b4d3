/* gemm.c - matrices and matrix products: FP64 results, error bounds, the reference library.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "gemm.h"

#include <math.h>
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
    int64_t i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < cols; j++)
            x[matrix_at(layout, i, j, ld)] = rng_float(rng, family);
}

void matrix_own(operand_t *operand, size_t elem_size, int64_t first, tilemm_layout_t layout,
                int64_t rows, int64_t cols, int64_t ld)
{
    int64_t line, lines = layout == TILEMM_ROW_MAJOR ? rows : cols;
    int64_t length = layout == TILEMM_ROW_MAJOR ? cols : rows;
    for (line = 0; length && line < lines; line++)
        operand_own(operand, (size_t)(first + line * ld) * elem_size, (size_t)length * elem_size);
}

static int64_t rows_of(tilemm_op_t trans, int64_t rows, int64_t cols)
{
    return trans == TILEMM_TRANS ? cols : rows;
}

gemm_t gemm_make(tilemm_layout_t layout, tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                 int64_t n, int64_t k, float alpha, float beta)
{
    gemm_t gemm = {layout, transa, transb, m, n, k, alpha, beta, 0, 0, 0};
    gemm_set_ld(&gemm, 0, 0, 0);
    return gemm;
}

void gemm_set_ld(gemm_t *g, int64_t pad_a, int64_t pad_b, int64_t pad_c)
{
    g->lda = pad_a +
             matrix_ld(g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m));
    g->ldb = pad_b +
             matrix_ld(g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k));
    g->ldc = pad_c + matrix_ld(g->layout, g->m, g->n);
}

int64_t gemm_span_a(const gemm_t *g)
{
    return matrix_span(g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m),
                       g->lda);
}

int64_t gemm_span_b(const gemm_t *g)
{
    return matrix_span(g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k),
                       g->ldb);
}

int64_t gemm_span_c(const gemm_t *g)
{
    return matrix_span(g->layout, g->m, g->n, g->ldc);
}

void gemm_fill_a(const gemm_t *g, float *a, family_t family, rng_t *rng)
{
    matrix_fill(a, g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m),
                g->lda, family, rng);
}

void gemm_fill_b(const gemm_t *g, float *b, family_t family, rng_t *rng)
{
    matrix_fill(b, g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k),
                g->ldb, family, rng);
}

void gemm_exact(const gemm_t *g, const float *a, const float *b, double *dot, double *mag)
{
    double *line = test_need(malloc(sizeof(double) * (size_t)(g->n ? g->n : 1)));
    int64_t i, j, p;
    for (i = 0; i < g->m * g->n; i++)
        dot[i] = mag[i] = 0;
    for (p = 0; p < g->k; p++) {
        for (j = 0; j < g->n; j++)
            line[j] = b[gemm_at_b(g, p, j)];
        for (i = 0; i < g->m; i++) {
            double x = a[gemm_at_a(g, i, p)];
            double *restrict d = dot + i * g->n, *restrict s = mag + i * g->n;
            for (j = 0; j < g->n; j++) {
                double product = x * line[j];
                d[j] += product;
                s[j] += fabs(product);
            }
        }
    }
    free(line);
}

gemm_error_t gemm_error(const gemm_t *g, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error)
{
    gemm_error_t error = {0, -1, -1, 0, 0, 0, 0, 0};
    int reads_ab = g->alpha != 0 && g->k > 0;
    double roundings = (double)g->k + (fabs((double)g->alpha) != 1 || g->beta != 0 ? 2 : 0);
    int64_t i, j;
    for (i = 0; i < g->m; i++) {
        for (j = 0; j < g->n; j++) {
            int64_t e = matrix_at(g->layout, i, j, g->ldc);
            double old = g->beta != 0 ? (double)g->beta * c_before[e] : 0;
            double want = (reads_ab ? (double)g->alpha * dot[i * g->n + j] : 0) + old;
            double scale = (reads_ab ? fabs((double)g->alpha) * mag[i * g->n + j] : 0) + fabs(old);
            double got = c[e], bound = 0;
            int right;
            if (isnan(want)) {
                right = isnan(got);
            } else if (isinf((float)want)) {
                right = got == (float)want;
            } else {
                double off = fabs(got - want);
                bound = (roundings * 0x1p-24 + input_error) * scale +
                        roundings * (1 + fabs((double)g->alpha)) * 0x1p-149;
                right = off <= bound;
                if (scale > 0x1p-100) {
                    error.worst = fmax(error.worst, off / scale);
                    error.half_ulp = fmax(error.half_ulp, fabs(want) / scale * 0x1p-24);
                }
            }
            if (!right && error.outside++ == 0) {
                error.i = i;
                error.j = j;
                error.got = got;
                error.want = want;
                error.bound = bound;
            }
        }
    }
    return error;
}

/* cuBLAS on copies of the arrays in device memory. */
static int gemm_cublas(const gemm_t *g, const float *a, const float *b, float *c)
{
    const reference_cublas_t *cublas = reference_cublas();
    size_t bytes_a = sizeof(float) * (size_t)gemm_span_a(g);
    size_t bytes_b = sizeof(float) * (size_t)gemm_span_b(g);
    size_t bytes_c = sizeof(float) * (size_t)gemm_span_c(g);
    int ta = g->transa == TILEMM_TRANS, tb = g->transb == TILEMM_TRANS;
    float *da, *db, *dc;
    int failed;
    if (!cublas)
        return -1;
    da = gpu_malloc(bytes_a);
    db = gpu_malloc(bytes_b);
    dc = gpu_malloc(bytes_c);
    failed = !da || !db || !dc || gpu_to_device(da, a, bytes_a) || gpu_to_device(db, b, bytes_b) ||
             gpu_to_device(dc, c, bytes_c) || cublas->set_stream(NULL);
    if (!failed && g->layout == TILEMM_COL_MAJOR)
        failed = cublas->sgemm(0, ta, tb, (int)g->m, (int)g->n, (int)g->k, g->alpha, da,
                               (int)g->lda, db, (int)g->ldb, g->beta, dc, (int)g->ldc);
    else if (!failed)
        failed = cublas->sgemm(0, tb, ta, (int)g->n, (int)g->m, (int)g->k, g->alpha, db,
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
    const reference_blas_t *blas;
    if (!g->m || !g->n || !g->k)
        return -1;
    if (backend == TILEMM_BACKEND_CUDA)
        return gemm_cublas(g, a, b, c);
    blas = reference_blas();
    if (!blas || !blas->sgemm)
        return -1;
    blas->sgemm(g->layout, g->transa, g->transb, (int)g->m, (int)g->n, (int)g->k, g->alpha, a,
                (int)g->lda, b, (int)g->ldb, g->beta, c, (int)g->ldc);
    return 0;
}
