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

#ifdef __cplusplus
}
#endif

#endif
