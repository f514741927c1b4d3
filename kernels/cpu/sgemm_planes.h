/* sgemm_planes.h - what a CPU's matrix engine offers to SGEMM: operands split into BF16 planes
 * while they are packed, and the product of two packed panels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CPU_SGEMM_PLANES_H
#define TILEMM_KERNELS_CPU_SGEMM_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Rows or columns in a panel, and so the tile of C. */
enum { TILEMM__PLANES_LINES = 32 };

/* The sums of one tile of C, 64-byte aligned, by rows: C is what both give together. `large` has
 * the products of upper planes, `small` those of others. */
typedef struct {
    float large[TILEMM__PLANES_LINES * TILEMM__PLANES_LINES];
    float small[TILEMM__PLANES_LINES * TILEMM__PLANES_LINES];
    int not_by_tiles; /* they may have subnormal numbers, which the engine would take for 0 */
    char to_a_line[60];
} tilemm__planes_sum_t;

typedef struct {
    const char *name; /* "sgemm_bf16x6_amx_32x32" */
    int products;     /* of planes, for one product of floats */
    int depth;        /* of k in a panel */
    size_t bytes;     /* of a panel, a multiple of 64; panels are 64-byte aligned */

    /* A thread's tile registers, before and after it multiplies. */
    void (*begin)(void);
    void (*end)(void);

    /* Split one panel: k steps (1 to depth) of count lines (1 to 32), each a row of op(A) (ms) or a
     * column of op(B) (ns). If along_k, element p of line i is src[i * ld + p], else it is
     * src[p * ld + i]. */
    void (*pack_ms)(int64_t k, int count, const float *src, int64_t ld, int along_k, void *ms);
    void (*pack_ns)(int64_t k, int count, const float *src, int64_t ld, int along_k, void *ns);

    /* Whether planes carry the product of two panels with nothing lost. */
    int (*carries)(const void *ms, const void *ns);

    /* sum = Ms Ns, or += if `more`, of two panels that planes carry, packed with the same k. */
    void (*multiply)(int64_t k, const void *ms, const void *ns, int more,
                     tilemm__planes_sum_t *sum);

    /* C (m x n, columns side by side) = alpha sum + beta C. If beta is 0, C is not read. */
    void (*store)(const tilemm__planes_sum_t *sum, int m, int n, float alpha, float beta, float *c,
                  int64_t ldc);
} tilemm__sgemm_planes_t;

extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_fp32;
extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_tf32;

#endif
