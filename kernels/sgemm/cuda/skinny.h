/* skinny.h - SGEMM of skinny products and of small batches by FP32 multiply-adds: the structs that
 * the kernels take, and the launchers. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_SKINNY_H
#define TILEMM_KERNELS_SGEMM_CUDA_SKINNY_H

#include <stddef.h>

#include "kernels/args.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- skinny --------------------------------------------------------------------------------- */

enum { TILEMM__SGEMM_SKINNY_MOST_N = 16 };

/* C (m x n) = alpha X Z + beta C with 0 < k, 1 <= n <= MOST_N. X (m x k) is large and read once. A
 * product with few rows is the same with A and B exchanged.
 *
 * A block computes the variant's rows of C over one split of k. Split s takes k from s * k_split
 * on, a multiple of 4; no split is empty. With splits > 1 either the splits of a tile of rows are a
 * cluster (up to TILEMM__SGEMM_MOST_CLUSTER, compute capability 9.0); or `partial` has the
 * variant's rows x columns floats for each block, and `counters` a word for each tile of rows of
 * the batch: zero before and after. */
typedef struct {
    int64_t m, n, k;
    float alpha, beta;
    const float *x, *z;
    float *c;
    const float *const *x_array, *const *z_array;
    float *const *c_array;
    int x_along_k;    /* X's elements side by side follow k: element (i, p) is x[i * ldx + p]; */
    int transposed;   /* (C' is computed: A and B are exchanged) */
    int64_t ldx;      /* or else x[p * ldx + i] */
    int64_t z_k, z_n; /* element (p, j) of Z is z[p * z_k + j * z_n]; one of them is 1 */
    int64_t c_m, c_n; /* element (i, j) of C is c[i * c_m + j * c_n] */
    int64_t stride_x, stride_z, stride_c;
    int64_t batch_count;
    int variant;
    int aligned_x; /* X's address, ldx and stride_x are multiples of 16 bytes: see the variant */
    int aligned_z; /* likewise Z, and its one stride that is not 1 */
    unsigned cluster;
    int64_t splits, k_split;
    float *partial; /* NULL: a cluster, or one split */
    unsigned *counters;
    int fringe;     /* the kernel before this one has lets_start: it is waited for at the end */
    int concurrent; /* may start before the kernel before has ended */
    int64_t first, tiles; /* the grid's first block; tiles of rows of a matrix */
    uint64_t blocks;      /* of all grids */
    size_t partial_bytes; /* rounded up to 1024; the counters follow in the workspace */
} tilemm__sgemm_skinny_t;

int tilemm__sgemm_skinny_launch(const tilemm__sgemm_skinny_t *problem, void *stream);

/* ---- small batch ---------------------------------------------------------------------------- */

/* A batch of products with m, n and k all from 1 to MOST. */
enum { TILEMM__SGEMM_SMALL_BATCH_MOST = 32 };

typedef struct {
    tilemm__sgemm_args_t args;
    /* A, B, C are moved 16 bytes at a time: addresses, ld and stride are multiples of that, of
     * every matrix. The sizes may be any. */
    int aligned_a, aligned_b, aligned_c;
    int variant;
    int64_t first;  /* the grid's first matrix */
    int concurrent; /* may start before the kernel before has ended */
} tilemm__sgemm_small_batch_t;

int tilemm__sgemm_small_batch_launch(const tilemm__sgemm_small_batch_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
