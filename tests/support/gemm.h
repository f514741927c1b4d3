/* gemm.h - matrices and matrix products: FP64 results, error bounds, the reference library.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_GEMM_H
#define TILEMM_TESTS_SUPPORT_GEMM_H

#include "operand.h"
#include "random.h"
#include "tilemm.h"

static inline int64_t matrix_at(tilemm_layout_t layout, int64_t i, int64_t j, int64_t ld)
{
    return layout == TILEMM_ROW_MAJOR ? i * ld + j : i + j * ld;
}

/* The least leading dimension. */
int64_t matrix_ld(tilemm_layout_t layout, int64_t rows, int64_t cols);

/* The number of elements from the first to the last of the matrix, gaps included. */
int64_t matrix_span(tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld);

/* Fill it with random numbers; let the library write it, but not the gaps between its lines. */
void matrix_fill(float *x, tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld,
                 family_t family, rng_t *rng);
void matrix_own(operand_t *operand, size_t elem_size, int64_t first, tilemm_layout_t layout,
                int64_t rows, int64_t cols, int64_t ld);

typedef struct {
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    int64_t lda, ldb, ldc;
} gemm_t;

/* A product without padding: each leading dimension is the least. */
gemm_t gemm_make(tilemm_layout_t layout, tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                 int64_t n, int64_t k, float alpha, float beta);

/* The same, with layout and transposes as a sum of these. */
enum { COL_MAJOR = 1, TRANS_A = 2, TRANS_B = 4 };
gemm_t gemm_by_bits(int bits, const int64_t size[3], float alpha, float beta);

/* Set each leading dimension to the least plus its pad. */
void gemm_set_ld(gemm_t *gemm, int64_t pad_a, int64_t pad_b, int64_t pad_c);

/* The layout in which op(A) or op(B) is stored: a transposed row-major matrix is column-major. */
static inline tilemm_layout_t gemm_layout(const gemm_t *g, tilemm_op_t trans)
{
    return (g->layout == TILEMM_ROW_MAJOR) == (trans == TILEMM_NO_TRANS) ? TILEMM_ROW_MAJOR
                                                                         : TILEMM_COL_MAJOR;
}

/* The index of element (i, p) of op(A), and of element (p, j) of op(B). */
static inline int64_t gemm_at_a(const gemm_t *g, int64_t i, int64_t p)
{
    return matrix_at(gemm_layout(g, g->transa), i, p, g->lda);
}

static inline int64_t gemm_at_b(const gemm_t *g, int64_t p, int64_t j)
{
    return matrix_at(gemm_layout(g, g->transb), p, j, g->ldb);
}

/* The number of elements that A, B and C span. */
static inline int64_t gemm_span_a(const gemm_t *g)
{
    return matrix_span(gemm_layout(g, g->transa), g->m, g->k, g->lda);
}

static inline int64_t gemm_span_b(const gemm_t *g)
{
    return matrix_span(gemm_layout(g, g->transb), g->k, g->n, g->ldb);
}

static inline int64_t gemm_span_c(const gemm_t *g)
{
    return matrix_span(g->layout, g->m, g->n, g->ldc);
}

static inline void gemm_fill_a(const gemm_t *g, float *a, family_t family, rng_t *rng)
{
    matrix_fill(a, gemm_layout(g, g->transa), g->m, g->k, g->lda, family, rng);
}

static inline void gemm_fill_b(const gemm_t *g, float *b, family_t family, rng_t *rng)
{
    matrix_fill(b, gemm_layout(g, g->transb), g->k, g->n, g->ldb, family, rng);
}

/* The product as text, for messages; valid until the next call. */
const char *gemm_text(const gemm_t *gemm);

/* tilemm_sgemm and its batched forms. */
tilemm_status_t gemm_call(tilemm_t ctx, const gemm_t *gemm, const float *a, const float *b,
                          float *c);
tilemm_status_t gemm_call_strided(tilemm_t ctx, const gemm_t *gemm, const float *a,
                                  int64_t stride_a, const float *b, int64_t stride_b, float *c,
                                  int64_t stride_c, int64_t batch);
tilemm_status_t gemm_call_batched(tilemm_t ctx, const gemm_t *gemm, const float *const *a,
                                  const float *const *b, float *const *c, int64_t batch);

/* In FP64: dot = op(A) op(B) and mag = |op(A)| |op(B)|, both m x n, row-major. */
void gemm_exact(const gemm_t *gemm, const float *a, const float *b, double *dot, double *mag);

/* The same for element (i, j) alone: returns dot. */
double gemm_dot(const gemm_t *gemm, const float *a, const float *b, int64_t i, int64_t j,
                double *mag);

/* Whether a float differs from the FP64 result by `bound` at most; an overflow must be infinite,
 * and NaN must be NaN. */
int gemm_right(double got, double want, double bound);

/* The error to expect of a product in a math mode, per |alpha| (|A||B|) + |beta C|. FP32 and strict
 * promise one that grows like that of one FP32 sum. TF32 rounds its inputs to 11 bits. */
double gemm_tolerance(tilemm_math_t math, int64_t k);

/* How far a result is from FP64. Each of the k products is rounded at most k times, and twice more
 * unless |alpha| is 1 and beta is 0. So the bound of every element is, with u = 2^-24,
 *     |error| <= (k + 2) u (|alpha| (|A||B|) + |beta C|)
 * plus k + 2 roundings of subnormals. Where the inputs are rounded too (TF32), add input_error
 * times the same sum. An element that must be NaN or infinite must be exactly that. */
typedef struct {
    int64_t outside; /* elements that break the bound */
    int64_t i, j;    /* the first of them */
    double got, want, bound;
    double worst;    /* largest |error| / (|alpha| (|A||B|) + |beta C|) */
    double half_ulp; /* largest half ulp of a result, in the same measure */
} gemm_error_t;

gemm_error_t gemm_error(const gemm_t *gemm, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error);

/* The product by cuBLAS, or by OpenBLAS (CPU) or cuBLAS (CUDA), on arrays in host memory. Returns
 * 0, or -1 if the library is not there. */
int gemm_cublas(int tf32, const gemm_t *gemm, const float *a, const float *b, float *c);
int gemm_reference(tilemm_backend_t backend, const gemm_t *gemm, const float *a, const float *b,
                   float *c);

#endif
