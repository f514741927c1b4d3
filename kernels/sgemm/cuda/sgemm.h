/* sgemm.h - the CUDA kernels of SGEMM: what the host side asks of them. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_SGEMM_H
#define TILEMM_KERNELS_SGEMM_CUDA_SGEMM_H

#include "kernels/args.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tiles that the FFMA kernel is compiled for: TILE(m, n, k, quads_m, quads_n, blocks). A block
 * computes m x n of C and takes k at a time; a thread has quads_m x quads_n squares of 4 x 4; the
 * registers leave room for that many blocks on a multiprocessor. */
#define TILEMM__SGEMM_FFMA_TILES(TILE)                                                             \
    TILE(128, 128, 16, 2, 2, 2)                                                                    \
    TILE(64, 64, 16, 2, 1, 4)                                                                      \
    TILE(128, 32, 16, 2, 1, 4)                                                                     \
    TILE(32, 128, 16, 1, 2, 4)                                                                     \
    TILE(32, 32, 32, 1, 1, 8)

/* A tile's number: TILEMM__SGEMM_128X128X16 and so on. */
#define TILEMM__SGEMM_TILE_NAME(m, n, k, quads_m, quads_n, blocks) TILEMM__SGEMM_##m##X##n##X##k,
enum { TILEMM__SGEMM_FFMA_TILES(TILEMM__SGEMM_TILE_NAME) TILEMM__SGEMM_TILE_COUNT };
#undef TILEMM__SGEMM_TILE_NAME

/* One product for the FFMA kernel, 0 < k <= TILEMM__SGEMM_MOST_K. With splits > 1, split s takes k
 * from s * k_split on (k_split is a multiple of the tile's k, and no split is empty), and its part
 * of the product, alpha and beta left out, goes to partial + s * batch_count * m * n: dense
 * row-major matrices. With splits = 1, k_split is k or more. */
typedef struct {
    tilemm__sgemm_args_t args;
    int tile;
    /* Move A, B, C (or the partial products) 16 bytes at a time. For A: m >= the tile's; the
     * address, lda and stride_a are multiples of 16 bytes; if A's rows run along m, so is m. For B
     * likewise with n. For what is stored: address, ld, stride and n. */
    int vector_a, vector_b, vector_c;
    int64_t splits, k_split;
    float *partial;
    /* The next kernel in the stream is one that waits for this one only at its end, and computes
     * other elements of C: it may start as soon as all blocks of this one have. The kernel for
     * compute capability 8.0 sees to that; after the other one the next kernel follows as ever. */
    int lets_start;
} tilemm__sgemm_ffma_t;

/* The launchers queue on `stream` (a cudaStream_t) and return a cudaError_t. */

/* C = alpha op(A) op(B) + beta C, or the partial products where splits > 1. */
int tilemm__sgemm_ffma_launch(const tilemm__sgemm_ffma_t *problem, void *stream);

/* C = alpha * (the sum of the partial products, in a fixed order) + beta C. */
int tilemm__sgemm_splitk_launch(const tilemm__sgemm_ffma_t *problem, void *stream);

/* C = beta C; beta = 0 stores zeros. */
int tilemm__sgemm_scale_launch(const tilemm__sgemm_args_t *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
