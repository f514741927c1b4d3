/* planes.h - what a CPU's matrix engine offers to SGEMM: operands split into BF16 planes
 * while they are packed, and the product of two packed panels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_PLANES_H
#define TILEMM_KERNELS_SGEMM_CPU_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Rows or columns in a panel, and so the tile of C. */
enum { TILEMM__PLANES_LINES = 32 };

typedef struct {
    const char *name; /* "sgemm_bf16x6_amx_32x32" */
    int planes;
    int products; /* of planes, for one product of floats */
    int depth;    /* of k in a panel, at most: a multiple of 32 */
    int always;   /* it is to be used whether it pays or not: emulated, by tests */

    /* A thread's tile registers, before and after it multiplies. */
    void (*begin)(void);
    void (*end)(void);

    /* Split one panel: k steps of count lines (1 to 32), each a row of op(A) (ms) or a column of
     * op(B) (ns). If along_k, element p of line i is src[i * ld + p], else src[p * ld + i]. */
    void (*pack_ms)(int64_t k, int count, const float *src, int64_t ld, int along_k, void *ms);
    void (*pack_ns)(int64_t k, int count, const float *src, int64_t ld, int along_k, void *ns);

    /* Whether planes carry the product of two panels with nothing lost. */
    int (*carries)(const void *ms, const void *ns);

    /* C (m x n, columns side by side, n at most 32) = alpha Ms Ns + beta C, of panels of Ms that
     * are panel_bytes apart and one of Ns, which planes carry, packed with the same k. If beta is
     * 0, C is not read. The panel that lies after that of Ns is asked for meanwhile. */
    void (*multiply)(int64_t k, const void *ms, size_t panel_bytes, const void *ns, int64_t m,
                     int n, float alpha, float beta, float *c, int64_t ldc);
} tilemm__sgemm_planes_t;

/* A panel begins with a line of memory about its range; a plane of 32 x 32 elements takes 2 KB. */
enum { TILEMM__PLANES_HEAD = 64, TILEMM__PLANE_BYTES = 2048 };

/* Bytes of a panel of k steps, a multiple of 64; panels are 64-byte aligned. */
static inline size_t tilemm__planes_bytes(const tilemm__sgemm_planes_t *planes, int64_t k)
{
    return TILEMM__PLANES_HEAD +
           (size_t)(k + 31) / 32 * (size_t)planes->planes * TILEMM__PLANE_BYTES;
}

extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_fp32;
extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_tf32;

#endif
