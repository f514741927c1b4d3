/* outer.h - SGEMM where k is so short that C is a sum of few outer products: the struct that the
 * kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_OUTER_H
#define TILEMM_KERNELS_SGEMM_CUDA_OUTER_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__SGEMM_OUTER_THREADS = 256, /* of a block, at most */
    TILEMM__SGEMM_OUTER_COLUMNS = 4    /* of a thread */
};

/* A tile of C has `rows` rows, and COLUMNS columns for each of `lanes` threads: neighbours in an
 * _aligned variant. Otherwise threads form strips of `apart`, of which lanes is a multiple; a strip
 * has COLUMNS * apart neighbouring columns, and a thread every `apart`-th of them. `groups` groups
 * of lanes take turns at the rows. Of the tiles below each other `shares` blocks take turns, each
 * with `stages` of them (1, 2) in shared memory at a time. k is at most the variant's depth; m, n
 * and the number of blocks are at most 2^30. */
typedef struct {
    tilemm__sgemm_args_t args;
    int variant;
    int wide_a, wide_b; /* read 16 bytes at a time: along k, of which there are whole fours; B along
                           n if it runs so, of which there is a four */
    int lanes, apart, groups, rows;
    int shares, stages;
    unsigned tiles_n, per_matrix; /* tiles side by side; blocks of a matrix */
    tilemm__division_t by_lanes, by_apart, by_tiles_n, by_per_matrix;
    unsigned blocks, threads;
    size_t shared;  /* bytes of a block */
    int concurrent; /* may start before the kernel before has ended */
} tilemm__sgemm_outer_t;

/* Queues on `stream` (a cudaStream_t) and returns a cudaError_t. */
int tilemm__sgemm_outer_launch(const tilemm__sgemm_outer_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
