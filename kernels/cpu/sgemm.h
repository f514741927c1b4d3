/* sgemm.h - what each instruction set offers to SGEMM on the CPU: a tile, its micro-kernel and
 * the packing of its panels. kernels/tile_layout.h says where the elements of a panel lie.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CPU_SGEMM_H
#define TILEMM_KERNELS_CPU_SGEMM_H

#include <stdint.h>

typedef struct {
    const char *name; /* "sgemm_fma_avx512_14x32" */
    int mr, nr;       /* rows and columns of the tile */
    int vector;       /* floats in a vector: it divides nr */
    int masks;        /* whether part of a vector can be read and written: else see kernel */

    /* C (m x n, m <= mr, n <= nr) = alpha Ms Ns + beta C over k >= 1 steps. Products are added up
     * `chain` at a time, and those sums one after the other: the shorter the chain the smaller the
     * error, and the more work.
     * Element (i, p) of Ms is ms[i * ld_ms + p] if along_k, else ms[p * ld_ms + i]: op(A) where it
     * lies, or a packed panel, whose ld_ms is mr.
     * The elements of Ns of one k lie together, those of the next ld_ns further: nr for a packed
     * panel. Without masks they are read up to column `vector` if n <= vector, else up to nr.
     * C's rows are rs_c apart, its columns cs_c. If beta is 0, C is not read. */
    void (*kernel)(int64_t k, int64_t chain, const float *ms, int64_t ld_ms, int along_k,
                   const float *ns, int64_t ld_ns, int m, int n, float alpha, float beta, float *c,
                   int64_t rs_c, int64_t cs_c);

    /* y (n) += a (k) B (k x n), where element (p, j) of B is b[j * ldb + p] if along_k, else
     * b[p * ldb + j]. It reads B once, in order. Columns do not depend on their neighbours, but for
     * the last n % vector of them. */
    void (*times_vector)(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                         int along_k, float *y);

    /* Pack one panel of k steps. count is how many rows (at most mr) or columns (at most nr) there
     * are; the rest is set to 0. If along_k, element i of step p is src[i * ld + p], else it is
     * src[p * ld + i]. */
    void (*pack_ms)(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ms);
    void (*pack_ns)(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ns);
} tilemm__sgemm_cpu_t;

extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_generic;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_avx2;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_avx512;
extern const tilemm__sgemm_cpu_t tilemm__sgemm_cpu_neon;

#endif
