/* ffma.h - SGEMM by FP32 multiply-adds on shared tiles, the sum of split-K's partial products, and
 * C = beta C: the structs that their kernels take, and the launchers. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FFMA_H
#define TILEMM_KERNELS_SGEMM_CUDA_FFMA_H

#include "kernels/args.h"
#include "kernels/sgemm/cuda/route.h"
#include "kernels/sgemm/cuda/row_walk.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tiles ---------------------------------------------------------------------------------- */

/* The largest grid of a tile of 32 rows, or of compensated sums, whose last blocks the next
 * kernel's need not wait for. After larger grids these would crowd on the multiprocessors where the
 * first blocks end. */
enum { TILEMM__SGEMM_FEW_BLOCKS = 64 };

/* One product, 0 < k <= TILEMM__SGEMM_MOST_K. Split s takes k from s * k_split on; k_split is a
 * multiple of the tile's k, and no split is empty. With splits > 1 either the splits of a tile are
 * a cluster (sm80 on compute capability 9.0), which adds up their sums; or a split's product,
 * without alpha and beta, goes to the dense row-major matrices from partial + s * batch_count * m *
 * n on. With splits = 1, k_split is k or more. */
typedef struct {
    tilemm__sgemm_args_t args;
    int variant;
    /* Of sm75: A, B, C (or the partial products) are moved 16 bytes at a time. For A: m >= the
     * tile's; the address, lda and stride_a are multiples of 16 bytes, and so is m if A is
     * transposed. For B likewise with n. For C: address, ld, stride and n. Blocks
     * of sm80 test the alignment themselves. */
    int aligned_a, aligned_b, aligned_c;
    int64_t splits, k_split;
    float *partial; /* NULL: a cluster, or one split */
    /* Of sm80: the next kernel computes other elements of C and waits for this one at its end. It
     * may start as soon as all blocks of this one have started. */
    int lets_start;
    unsigned cluster;                 /* blocks; 1: none */
    uint64_t first, tiles_m, tiles_n; /* the grid's first block; tiles of a matrix */
    uint64_t blocks;                  /* of all grids: tiles of the batch, times splits */
    size_t partial_bytes;
    /* Of sm80's tile of 128 x 128: which tiles are the kernel's, with one split. */
    tilemm__sgemm_routes_t routes;
    int concurrent; /* may start before the kernel before has ended: compute capability 9.0 */
} tilemm__sgemm_ffma_t;

/* ---- the sum of split-K --------------------------------------------------------------------- */

/* C = alpha * (the sum of the partial products, in a fixed order) + beta C. */
typedef struct {
    tilemm__sgemm_args_t args; /* m, n, alpha, beta, C and the batch */
    const float *partial;
    int64_t splits, count; /* count: elements of C in the batch */
    int variant;
    unsigned blocks; /* of the grid; 0: not launched */
    int concurrent;
} tilemm__sgemm_splitk_t;

/* ---- C = beta C ----------------------------------------------------------------------------- */

/* beta = 0 stores zeros. */
typedef struct {
    tilemm__sgemm_args_t args;
    tilemm__sgemm_row_walk_t walk; /* of C's rows */
    int variant;
} tilemm__sgemm_scale_t;

/* ---- launchers ------------------------------------------------------------------------------ */

/* They look the variant up, queue on `stream` (a cudaStream_t) and return a cudaError_t. */
int tilemm__sgemm_ffma_sm75_launch(const tilemm__sgemm_ffma_t *problem, void *stream);
int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream);
int tilemm__sgemm_splitk_launch(const tilemm__sgemm_splitk_t *problem, void *stream);
int tilemm__sgemm_scale_launch(const tilemm__sgemm_scale_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
