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
/* Lines, at most, that are multiplied as vectors; of a matrix that lies along k, with which they
 * are multiplied at a time. */
enum { TILEMM__PLANES_VECTORS = 2, TILEMM__PLANES_GROUP = 16 };

/* Lines of an operand (1 to 32, or more for multiply_vectors): rows of op(A) or columns of op(B).
 * If along_k, element p of line i is src[i * ld + p], else src[p * ld + i]. */
typedef struct {
    const float *src;
    int64_t ld;
    int along_k, count;
} tilemm__planes_lines_t;

/* C = alpha * sums over k + beta C, columns side by side. If beta is 0, C is not read. exchanged: A
 * is the caller's B, which says in which order products of planes are added up. */
typedef struct {
    int64_t k;
    float alpha, beta;
    float *c;
    int64_t ldc;
    int exchanged;
} tilemm__planes_product_t;

/* A panel begins with a line of memory about its lines. */
typedef struct {
    uint32_t exact;  /* those that planes cannot carry with nothing lost: bit i is line i's */
    uint32_t scaled; /* whether some are scaled, or exact */
    int8_t scale[TILEMM__PLANES_LINES]; /* line i is 2^scale times what it was */
    char to_a_line[24];
} tilemm__planes_head_t;

typedef struct {
    const char *name; /* "sgemm_bf16x6_amx_32x32" */
    int planes;
    int products; /* of planes, for one product of floats */
    int depth;    /* of k in a panel, at most: a multiple of 32 */
    int always;   /* it is to be used whether it pays or not: emulated, by tests */

    /* A thread's tile registers, before and after it multiplies. */
    void (*begin)(void);
    void (*end)(void);

    /* Split one panel of k steps: rows of tiles (ms), or columns. */
    void (*pack_ms)(int64_t k, const tilemm__planes_lines_t *lines, void *ms);
    void (*pack_ns)(int64_t k, const tilemm__planes_lines_t *lines, void *ns);

    /* m rows and n (at most 32) columns of C, of panels of Ms that are panel_bytes apart and one
     * of Ns. The panel that lies after that of Ns is asked for meanwhile. Elements of exact
     * lines stay as they are. */
    void (*multiply)(const tilemm__planes_product_t *x, const void *ms, size_t panel_bytes,
                     const void *ns, int64_t m, int n);

    /* The same of lines of A (are_rows) or B, which become a panel at `to` on the way, with those
     * of a panel, of which there are `few`. If the lines lie along k the panel is one of Ns, else
     * of Ms. */
    void (*multiply_as_read)(const tilemm__planes_product_t *x, const tilemm__planes_lines_t *lines,
                             int are_rows, void *to, const void *panel, int few);

    /* Split up to TILEMM__PLANES_VECTORS lines of k steps for multiply_vectors. They fit into a
     * panel. Returns 0 if some element needs a scale. */
    int (*split_vectors)(int64_t k, const tilemm__planes_lines_t *vectors, float *to);

    /* As multiply_as_read, of lines and `few` vectors, with `bytes` of memory: of up to 16 lines,
     * or if they do not lie along k of as many as fit there (16 at least); lines->count becomes
     * their number. `after` is where the first of the lines that are read next begins, if they lie
     * along k. Returns 0 if some element needs a scale; then C is as before. */
    int (*multiply_vectors)(const tilemm__planes_product_t *x, tilemm__planes_lines_t *lines,
                            int are_rows, void *memory, size_t bytes, const float *vectors, int few,
                            const float *after);
} tilemm__sgemm_planes_t;

/* A plane of 32 x 32 elements takes 2 KB. */
enum { TILEMM__PLANES_HEAD = sizeof(tilemm__planes_head_t), TILEMM__PLANE_BYTES = 2048 };

/* Bytes of a panel of k steps, a multiple of 64; panels are 64-byte aligned. */
static inline size_t tilemm__planes_bytes(const tilemm__sgemm_planes_t *planes, int64_t k)
{
    return TILEMM__PLANES_HEAD +
           (size_t)(k + 31) / 32 * (size_t)planes->planes * TILEMM__PLANE_BYTES;
}

extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_fp32;
extern const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_tf32;

#endif
