/* fitted.h - SGEMM by FP32 multiply-adds in tiles whose sides fit the matrices: the struct that the
 * kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FITTED_H
#define TILEMM_KERNELS_SGEMM_CUDA_FITTED_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TILEMM__SGEMM_FITTED_MOST_THREADS = 256 };

/* How a tile's threads copy a step of an operand. */
typedef struct {
    int width; /* numbers that a copy moves: 4, 2 or 1, as the operand is aligned */
    int lines; /* that are copied at once */
    tilemm__division_t by_across; /* by the copies of a whole line */
} tilemm__fitted_copies_t;

/* A tile of C has lanes_m x lanes_n threads, each with a square of the variant's side. `together`
 * tiles, of one matrix or of several, share a block. Of k, `depth` steps (a multiple of 4) are in
 * shared memory at a time: in one stage if that is all of k, or else in two by turns. m, n, k and
 * the number of tiles are below 2^30. */
typedef struct {
    tilemm__sgemm_args_t args;
    int variant;
    int lanes_m, lanes_n, together, depth, stages;
    tilemm__fitted_copies_t copies_a, copies_b;
    int width_c;                         /* numbers of C that are stored at a time: 4, 2 or 1 */
    unsigned tiles_n, per_matrix, tiles; /* in a row of tiles, in a matrix, in the batch */
    tilemm__division_t by_lanes_n, by_lanes, by_tiles_n, by_per_matrix; /* by_lanes: of a tile */
    unsigned blocks;
    unsigned threads; /* of a block: its tiles', rounded up to warps */
    size_t shared;    /* bytes of a block */
    int concurrent;   /* may start before the kernel before has ended */
} tilemm__sgemm_fitted_t;

int tilemm__sgemm_fitted_launch(const tilemm__sgemm_fitted_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
