/* slicek.h - SGEMM of small tiles whose k is shared out among the warps of a block: the struct that
 * the kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_SLICEK_H
#define TILEMM_KERNELS_SGEMM_CUDA_SLICEK_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__SGEMM_SLICEK_WARPS = 8,
    TILEMM__SGEMM_SLICEK_STEP = 4, /* of k, that a warp takes at a time */
    TILEMM__SGEMM_SLICEK_STAGES = 3,
    TILEMM__SGEMM_SLICEK_MOST_CLUSTER = 8
};

/* C, or C' with the operands exchanged: element (i, j) is c[i * c_m + j * c_n], and args.ldc is not
 * used. A cluster of `splits` blocks has a tile; each takes k_split of k, a multiple of STEP, the
 * last what is left, one step or more. m, n, k and the number of blocks are below 2^30. */
typedef struct {
    tilemm__sgemm_args_t args;
    int64_t c_m, c_n;
    int variant;
    int wide_a, wide_b; /* copied 16 bytes at a time */
    int splits, k_split;
    unsigned tiles_n, per_matrix; /* in a row of tiles, in a matrix */
    tilemm__division_t by_tiles_n, by_per_matrix, by_splits;
    unsigned blocks;
    size_t shared;  /* bytes of a block */
    int concurrent; /* may start before the kernel before has ended */
} tilemm__sgemm_slicek_t;

int tilemm__sgemm_slicek_launch(const tilemm__sgemm_slicek_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
