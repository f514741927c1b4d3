/* fused.h - SGEMM on tensor cores in one launch, operands split as they are read: its tiles,
 * where they lie in shared memory, and the launcher. Needs no CUDA header.
 *
 * Each element becomes three BF16 numbers, x = h + m + l, of 8 bits each: all of a float's 24, at
 * any exponent, so there is nothing to scale. Six products of the nine are added, m m + h l + l h +
 * h m + m h + h h; those left out are below 2^-24 |a b|.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_H
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_H

#include "kernels/sgemm/layout.h"
#include "sgemm.h"
#include "kernels/sgemm/variants.h"

/* ---- tiles ---------------------------------------------------------------------------------- */

/* TILE(m, n): a block computes m x n of C, k in steps of TILEMM__SGEMM_FUSED_K. Those with n = 256
 * and less of m compute the transposed product. */
#define TILEMM__SGEMM_FUSED_TILES(TILE)                                                            \
    TILE(128, 128)                                                                                 \
    TILE(128, 64)                                                                                  \
    TILE(64, 64)                                                                                   \
    TILE(256, 32)                                                                                  \
    TILE(256, 16)                                                                                  \
    TILE(32, 256)                                                                                  \
    TILE(16, 256)

#define TILEMM__SGEMM_TILE_NAME(m, n) TILEMM__SGEMM_FUSED_##m##X##n,
enum { TILEMM__SGEMM_FUSED_TILES(TILEMM__SGEMM_TILE_NAME) TILEMM__SGEMM_FUSED_TILE_COUNT };
#undef TILEMM__SGEMM_TILE_NAME

enum {
    TILEMM__SGEMM_FUSED_K = 32,
    TILEMM__SGEMM_FUSED_MOST_CLUSTER = 8 /* blocks that share a tile's k */
};

/* ---- the problem ---------------------------------------------------------------------------- */

/* One product, as the kernel sees it: of a transposed variant `args` is that of C' = op(B)' op(A)',
 * that is m and n, A and B have changed places, and trans_a is what trans_b was not. C is still
 * row-major. Split s takes k from s * k_split on, a multiple of TILEMM__SGEMM_FUSED_K. With
 * splits > 1 either the splits of a tile are a cluster and add up what they have; or the split's
 * part of the product, alpha and beta left out, goes to partial + s * batch_count * m * n, dense
 * and row-major like C. */
typedef struct {
    tilemm__sgemm_args_t args; /* no arrays of A or B; A and B aligned for 16-byte copies */
    int variant;
    unsigned cluster; /* blocks; 1: none */
    uint64_t blocks;  /* of the grid: each takes every blocks-th item */
    int64_t splits, k_split;
    float *partial; /* NULL: a cluster, or one split */
    size_t partial_bytes;
    /* Items: a tile of a matrix and one split of its k. */
    unsigned rows, cols; /* of tiles in a matrix */
    unsigned count;      /* of items */
    unsigned char bulk;  /* the copy engine stores C: splits = 1, beta = 0, aligned C, no array */
} tilemm__sgemm_fused_t;

/* ---- launcher ------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* As tilemm__sgemm_ffma_launch(), for compute capability 9.0 (sm_90a). `tile` is one of
 * TILEMM__SGEMM_FUSED_..., and k_split a multiple of TILEMM__SGEMM_FUSED_K. With splits > 1 and no
 * `partial`, the blocks of a cluster, one for each split and at most MOST_CLUSTER, add up what they
 * have, and no second launch is needed. A and B must be such that vector_a and vector_b hold: no
 * arrays of pointers, and pointers, leading dimensions and strides of whole 16 bytes. */
int tilemm__sgemm_fused_sm90_launch(const tilemm__sgemm_ffma_t *problem, void *stream);

/* For compute capability 9.0 (sm_90a): looks the variant up, makes the tensor maps, queues. */
int tilemm__sgemm_fused_launch(const tilemm__sgemm_fused_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
