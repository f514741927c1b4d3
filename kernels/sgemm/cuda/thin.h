/* thin.h - the CUDA kernels of SGEMM for thin and for tiny products, FP32 multiply-adds only:
 * what the host side asks of them. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_THIN_H
#define TILEMM_KERNELS_SGEMM_CUDA_THIN_H

#include "kernels/sgemm/layout.h"
#include "sgemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- thin ----------------------------------------------------------------------------------- */

/* C (m x n) = alpha X Z + beta C with 1 <= n <= TILEMM__SGEMM_THIN_MOST_N: X (m x k) is large and
 * read once, Z (k x n) is thin. k is positive. A product with few rows is the same with A and B
 * changed over: tilemm__sgemm_thin_of() sets all this.
 *
 * A block computes `rows` rows of C, tilemm__sgemm_thin_rows() of the shape, over one split of k.
 * With splits > 1, split s takes k from s * k_split on (a multiple of 4; no split is empty). Then
 * either partial is NULL, and the splits (up to TILEMM__SGEMM_MOST_CLUSTER, on compute
 * capability 9.0 or more) are a cluster; or partial holds tilemm__sgemm_thin_partials() floats, and
 * counters as many words as there are tiles of rows in the whole batch: those must be zero, and are
 * zero again afterwards. */
enum { TILEMM__SGEMM_THIN_MOST_N = 16 };

/* A block of 8 warps: WIDE has them on rows of their own, FEW on parts of k.
 *
 * Which products, measured on an H200 beside cuBLAS FP32: k of 1000 and more (at 64 and 16 it
 * lost), but not m = n = 1, a dot product, where it lost too. FEW was the faster at m = 1024 with 4
 * splits of k = 1024, and serves m = 16 with k = 2^24; WIDE at m = 8192. Two blocks fit a
 * multiprocessor: tiles * batch_count * splits is best just under twice the multiprocessors. */
enum { TILEMM__SGEMM_THIN_WIDE = 0, TILEMM__SGEMM_THIN_FEW };

typedef struct {
    int64_t m, n, k;
    float alpha, beta;
    const float *x, *z;
    float *c;
    const float *const *x_array, *const *z_array;
    float *const *c_array;
    int x_along_k;    /* X's elements side by side follow k: element (i, p) is x[i * ldx + p]; */
    int64_t ldx;      /* or else x[p * ldx + i] */
    int64_t z_k, z_n; /* element (p, j) of Z is z[p * z_k + j * z_n]; one of them is 1 */
    int64_t c_m, c_n; /* element (i, j) of C is c[i * c_m + j * c_n] */
    int64_t stride_x, stride_z, stride_c;
    int64_t batch_count;
    int shape;    /* TILEMM__SGEMM_THIN_WIDE or FEW */
    int vector_x; /* 16-byte reads of X: addresses, ldx and stride_x are multiples of that */
    int vector_z; /* likewise of Z, and of its one stride that is not 1 */
    int64_t splits, k_split;
    float *partial;
    unsigned *counters;
    int beside; /* the kernel before this one has lets_start: it is waited for at the end */
} tilemm__sgemm_thin_t;

/* Rows of C that a block computes. */
static inline int64_t tilemm__sgemm_thin_rows(int shape)
{
    return shape == TILEMM__SGEMM_THIN_FEW ? 16 : 128;
}

/* Columns that the kernel is compiled for: n rounded up. */
static inline int64_t tilemm__sgemm_thin_columns(int64_t n)
{
    return n <= 1 ? 1 : n <= 4 ? 4 : n <= 8 ? 8 : 16;
}

/* The counters: 4 bytes each. */
static inline int64_t tilemm__sgemm_thin_tiles(const tilemm__sgemm_thin_t *problem)
{
    const int64_t rows = tilemm__sgemm_thin_rows(problem->shape);

    return ((problem->m - 1) / rows + 1) * problem->batch_count;
}

/* The floats of partial. */
static inline int64_t tilemm__sgemm_thin_partials(const tilemm__sgemm_thin_t *problem)
{
    return tilemm__sgemm_thin_tiles(problem) * tilemm__sgemm_thin_rows(problem->shape) *
           tilemm__sgemm_thin_columns(problem->n) * problem->splits;
}

/* The problem that `args` is, with C turned over if `turned` (then m takes the part of n). What is
 * left to set: shape, vector_x, vector_z, splits, k_split, partial, counters. */
static inline tilemm__sgemm_thin_t tilemm__sgemm_thin_of(const tilemm__sgemm_args_t *args,
                                                         int turned)
{
    tilemm__sgemm_thin_t p;

    p.m = turned ? args->n : args->m;
    p.n = turned ? args->m : args->n;
    p.k = args->k;
    p.alpha = args->alpha;
    p.beta = args->beta;
    p.x = turned ? args->b : args->a;
    p.z = turned ? args->a : args->b;
    p.c = args->c;
    p.x_array = turned ? args->b_array : args->a_array;
    p.z_array = turned ? args->a_array : args->b_array;
    p.c_array = args->c_array;
    p.x_along_k = turned ? args->trans_b : !args->trans_a;
    p.ldx = turned ? args->ldb : args->lda;
    if (turned) {
        p.z_k = args->trans_a ? args->lda : 1;
        p.z_n = args->trans_a ? 1 : args->lda;
    } else {
        p.z_k = args->trans_b ? 1 : args->ldb;
        p.z_n = args->trans_b ? args->ldb : 1;
    }
    p.c_m = turned ? 1 : args->ldc;
    p.c_n = turned ? args->ldc : 1;
    p.stride_x = turned ? args->stride_b : args->stride_a;
    p.stride_z = turned ? args->stride_a : args->stride_b;
    p.stride_c = args->stride_c;
    p.batch_count = args->batch_count;
    p.shape = TILEMM__SGEMM_THIN_WIDE;
    p.vector_x = p.vector_z = 0;
    p.splits = 1;
    p.k_split = args->k;
    p.partial = NULL;
    p.counters = NULL;
    p.beside = 0;
    /* A vector's elements lie side by side however it is called. */
    if (p.m == 1 && !p.x_along_k && p.ldx == 1) {
        p.x_along_k = 1;
    }
    /* One column has no stride from column to column: let it not spoil vector_z. */
    if (p.n == 1 && p.z_k == 1) {
        p.z_n = 0;
    }
    return p;
}

int tilemm__sgemm_thin_launch(const tilemm__sgemm_thin_t *problem, void *stream);

/* ---- tiny ----------------------------------------------------------------------------------- */

/* A batch of products with m, n and k all from 1 to TILEMM__SGEMM_TINY_MOST. */
enum { TILEMM__SGEMM_TINY_MOST = 32 };

typedef struct {
    tilemm__sgemm_args_t args;
    /* Move A, B, C 16 bytes at a time: addresses, ld and stride are multiples of that (of every
     * matrix, in a batch of pointers). The sizes may be any. */
    int vector_a, vector_b, vector_c;
} tilemm__sgemm_tiny_t;

int tilemm__sgemm_tiny_launch(const tilemm__sgemm_tiny_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
