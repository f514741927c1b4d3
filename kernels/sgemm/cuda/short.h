/* short.h - SGEMM where k is short, or memory is not aligned: the struct that the kernels take, and
 * the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_SHORT_H
#define TILEMM_KERNELS_SGEMM_CUDA_SHORT_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__SGEMM_SHORT_DEPTH = 16, /* steps of k in a stage */
    TILEMM__SGEMM_SHORT_STAGES = 4,
    TILEMM__SGEMM_SHORT_STEP_OF_TF32 = 8, /* steps of k of an instruction */
    TILEMM__SGEMM_SHORT_STORED_ROWS = 8,  /* of C, by a warp at a time in TF32 */
    TILEMM__SGEMM_SHORT_STORED_MOST = 64, /* columns of these */
    TILEMM__SGEMM_SHORT_TOTALS = 16       /* elements of C of a thread, at most, that end chains */
};

/* C, or C' with the operands exchanged: element (i, j) is c[i * c_m + j * c_n], and args.ldc is not
 * used. A stage has room for `depth` steps of k: for all of a k that is shorter than a stage, of
 * TF32 rounded up to STEP_OF_TF32. m, n, k and the number of tiles are below 2^30. */
typedef struct {
    tilemm__sgemm_args_t args;
    int64_t c_m, c_n;
    int variant;
    int wide_a, wide_b; /* of an operand whose rows do not run along k: copied 16 bytes at a time */
    int depth;
    unsigned tiles_n, per_matrix; /* in a row of tiles, in a matrix */
    tilemm__division_t by_tiles_n, by_per_matrix;
    unsigned blocks; /* a tile each */
    size_t shared;   /* bytes of a block */
    int concurrent;  /* may start before the kernel before has ended */
} tilemm__sgemm_short_t;

int tilemm__sgemm_short_launch(const tilemm__sgemm_short_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
