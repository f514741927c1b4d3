/* rest.h - what a product of FP16 planes (planes.h) leaves over, in one launch: the struct that the
 * kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_REST_H
#define TILEMM_KERNELS_SGEMM_CUDA_REST_H

#include "ffma.h"
#include "planes.h"

enum {
    TILEMM__SGEMM_HARD_K = 32,      /* a k-step */
    TILEMM__SGEMM_HARD_BYTES = 6,   /* of an element, in three BF16 planes */
    TILEMM__SGEMM_HARD_CHUNK = 256, /* of k, of which a warp makes planes of 8 lines at a time */
    TILEMM__SGEMM_HARD_LINES = 8
};

/* An operand of hard tiles: `of` is as the pass had it that made FP16 planes, and has the judged
 * lines. `planes` has room for [matrix][k-step][8 lines][plane][8 of k][line][k] of BF16, lines as
 * many as FP16 planes have, and is 16-byte aligned. It may be where FP16 planes are, which nobody
 * needs any more. */
typedef struct {
    tilemm__sgemm_make_operand_t of;
    unsigned short *planes;
} tilemm__sgemm_hard_operand_t;

/* Hard tiles: those from BF16 planes (hard_tiles.cuh), and what those by FP32 multiply-adds have in
 * common with them: routes, walk and sums. */
typedef struct {
    tilemm__sgemm_hard_operand_t a, b;
    tilemm__sgemm_routes_t routes;
    int64_t batch_count;
    tilemm__sgemm_stream_k_t walk; /* of blocks, over all tiles of C */
    tilemm__sgemm_stream_k_sums_t sums;
    unsigned first; /* chunks of planes that all warps make before tiles begin, about */
    unsigned *made; /* zeros before: the chunks that were taken; and, [matrix][part of k of
                       TILEMM__SGEMM_HARD_CHUNK], those that are made */
} tilemm__sgemm_hard_t;

/* Hard tiles from BF16 planes, other hard tiles by FP32 multiply-adds, and exact lines. The grids
 * of `fp32` and `exact` are not used: hard tiles of both kinds follow bf16.walk. */
typedef struct {
    tilemm__sgemm_hard_t bf16;
    tilemm__sgemm_ffma_t fp32; /* one split, tiles of 128 x 128; with the product's arguments */
    tilemm__sgemm_exact_lines_t exact;
    int variant;
    unsigned blocks; /* of the grid, no more than run at a time; 0: not launched */
} tilemm__sgemm_rest_t;

#ifdef __cplusplus
extern "C" {
#endif

/* For compute capability 9.0 (sm_90a): looks the variant up and queues. */
int tilemm__sgemm_rest_launch(const tilemm__sgemm_rest_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
