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

/* A matrix as it is stored. */
typedef struct {
    int64_t rows, cols;
} shape_t;

static shape_t shape_a(const gemm_t *g)
{
    return g->transa == TILEMM_TRANS ? (shape_t){g->k, g->m} : (shape_t){g->m, g->k};
}

static shape_t shape_b(const gemm_t *g)
{
    return g->transb == TILEMM_TRANS ? (shape_t){g->n, g->k} : (shape_t){g->k, g->n};
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
    const shape_t a = shape_a(g), b = shape_b(g);
    g->lda = pad_a + matrix_ld(g->layout, a.rows, a.cols);
    g->ldb = pad_b + matrix_ld(g->layout, b.rows, b.cols);
    g->ldc = pad_c + matrix_ld(g->layout, g->m, g->n);
}

int64_t gemm_span_a(const gemm_t *g)
{
    return matrix_span(g->layout, shape_a(g).rows, shape_a(g).cols, g->lda);
}

int64_t gemm_span_b(const gemm_t *g)
{
    return matrix_span(g->layout, shape_b(g).rows, shape_b(g).cols, g->ldb);
}

int64_t gemm_span_c(const gemm_t *g)
{
    return matrix_span(g->layout, g->m, g->n, g->ldc);
}

void gemm_fill_a(const gemm_t *g, float *a, family_t family, rng_t *rng)
{
    matrix_fill(a, g->layout, shape_a(g).rows, shape_a(g).cols, g->lda, family, rng);
}

void gemm_fill_b(const gemm_t *g, float *b, family_t family, rng_t *rng)
{
    matrix_fill(b, g->layout, shape_b(g).rows, shape_b(g).cols, g->ldb, family, rng);
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
            const double x = a[gemm_at_a(g, i, p)];
            double *restrict d = dot + i * g->n, *restrict s = mag + i * g->n;
            for (int64_t j = 0; j < g->n; j++) {
                d[j] += x * line[j];
                s[j] += fabs(x * line[j]);
            }
        }
    }
    free(line);
}

gemm_error_t gemm_error(const gemm_t *g, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error)
{
    gemm_error_t error = {0, -1, -1, 0, 0, 0, 0, 0};
    const double alpha = g->alpha,
                 roundings = (double)g->k + (fabs(alpha) != 1 || g->beta != 0 ? 2 : 0);
    const int reads_ab = alpha != 0 && g->k > 0;
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            const int64_t e = matrix_at(g->layout, i, j, g->ldc);
            const double old = g->beta != 0 ? (double)g->beta * c_before[e] : 0;
            const double want = (reads_ab ? alpha * dot[i * g->n + j] : 0) + old;
            const double scale = (reads_ab ? fabs(alpha) * mag[i * g->n + j] : 0) + fabs(old);
            const double got = c[e];
            double bound = 0;
            int right;
            if (isnan(want)) {
                right = isnan(got);
            } else if (isinf((float)want)) {
                right = got == (float)want;
            } else {
                const double off = fabs(got - want);
                bound = (roundings * 0x1p-24 + input_error) * scale +
                        roundings * (1 + fabs(alpha)) * 0x1p-149;
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
    if (!cublas)
        return -1;
    const size_t bytes_a = sizeof(float) * (size_t)gemm_span_a(g);
    const size_t bytes_b = sizeof(float) * (size_t)gemm_span_b(g);
    const size_t bytes_c = sizeof(float) * (size_t)gemm_span_c(g);
    const int ta = g->transa == TILEMM_TRANS, tb = g->transb == TILEMM_TRANS;
    float *da = gpu_malloc(bytes_a), *db = gpu_malloc(bytes_b), *dc = gpu_malloc(bytes_c);
    int failed = !da || !db || !dc || gpu_to_device(da, a, bytes_a) ||
                 gpu_to_device(db, b, bytes_b) || gpu_to_device(dc, c, bytes_c) ||
                 cublas->set_stream(NULL);
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
    if (!g->m || !g->n || !g->k)
        return -1;
    if (backend == TILEMM_BACKEND_CUDA)
        return gemm_cublas(g, a, b, c);
    const reference_blas_t *blas = reference_blas();
    if (!blas || !blas->sgemm)
        return -1;
    blas->sgemm(g->layout, g->transa, g->transb, (int)g->m, (int)g->n, (int)g->k, g->alpha, a,
                (int)g->lda, b, (int)g->ldb, g->beta, c, (int)g->ldc);
    return 0;
}
