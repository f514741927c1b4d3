/* kernels.h - what each instruction set offers to SGEMM on the CPU: a tile, its micro-kernel and
 * the packing of its panels. kernels/sgemm/layout.h says where the elements of a panel lie.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_KERNELS_H
#define TILEMM_KERNELS_SGEMM_CPU_KERNELS_H

#include <stdint.h>

/* Small products take a panel of Ns of at most this many floats. */
enum { TILEMM__SGEMM_SMALL_FLOATS = 8192 };

/* A strip of C, m x n with n <= nr: C = alpha Ms Ns + beta C over k >= 1 steps. */
typedef struct {
    int64_t k;
    int64_t chain; /* products in a sum; such sums are then added one after the other. The shorter
                      the smaller the error, and the more work */
    /* Element (i, p) of Ms, where i is a multiple of rows, is ms[i * row_ms], and p steps on
     * ld_ms * p; of the rows after it, within one tile, the next ones. If along_k, Ms is op(A)
     * where it lies with rows ld_ms apart and steps next to each other. */
    const float *ms;
    int64_t row_ms, ld_ms;
    int along_k;
    /* The elements of Ns of one k lie together, those of the next ld_ns further: nr for a packed
     * panel. Without masks they are read up to column `vector` if n <= vector, else up to nr. */
    const float *ns;
    int64_t ld_ns;
    int64_t ahead; /* how many floats further in Ns the first tile prefetches */
    int64_t m;
    int rows; /* of a tile, at most mr, or tall */
    int n;
    float alpha, beta; /* if beta is 0, C is not read */
    int c_first;       /* alpha is 1, beta 0, and k more than chain: the first sum is added to C */
    int goes_on;       /* alpha is 1, beta 0, cs_c 1, and k at most chain: the sum begins at C */
    float *c;
    int64_t rs_c, cs_c; /* how far apart C's rows and columns are */
} tilemm__sgemm_strip_t;

typedef struct {
    const char *name; /* "sgemm_fma_avx512_14x32" */
    int mr, nr;       /* rows and columns of the tile */
    int tall;         /* its rows if n is at most `vector` */
    int vector;       /* floats in a vector: it divides nr */
    int masks;        /* whether part of a vector can be read and written: else see ns */

    void (*strip)(const tilemm__sgemm_strip_t *x);

    /* The same of a C of any n, from op(A) and op(B) where they lie; rows is ignored, and *x is
     * overwritten. If b_along_k, element (p, j) of op(B) is ns[j * ld_ns + p], and k * nr is at
     * most TILEMM__SGEMM_SMALL_FLOATS. */
    void (*small)(tilemm__sgemm_strip_t *x, int64_t n, int b_along_k);

    /* y (n) += a (k) B (k x n), where element (p, j) of B is b[j * ldb + p] if along_k, else
     * b[p * ldb + j]. Reads B once, in order. Columns are independent but the last n % vector. */
    void (*times_vector)(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                         int along_k, float *y);

    /* The same in the order of k. Where rows of B lie together, y goes on, product by product;
     * where columns do, chains of `chain` products begin at 0, and are added to y, or the first of
     * them becomes y. Multiples of VECTOR steps are best. */
    void (*rows_in_order)(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                          float *y);
    void (*dots_in_order)(int64_t k, int64_t chain, int64_t n, const float *a, const float *b,
                          int64_t ldb, int is_first, float *y);

    /* Pack one panel of k steps from `count` rows (at most mr) or columns (at most nr); the others
     * may be anything. If along_k, element i of step p is src[i * ld + p], else src[p * ld + i]. */
    void (*pack_ms)(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ms);
    void (*pack_ns)(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ns);
} tilemm__sgemm_cpu_t;

extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_generic;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_avx2;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_avx512;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_neon;

#endif
