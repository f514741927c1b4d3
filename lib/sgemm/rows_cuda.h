/* rows_cuda.h - the kernels of SGEMM on a GPU as the host sees them: what stands in the rows of
 * kernels/sgemm/variants.h, and what follows from it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_ROWS_CUDA_H
#define TILEMM_LIB_SGEMM_ROWS_CUDA_H

#include "kernels/args.h"
#include "kernels/sgemm/variants.h"
#include "lib/traits.h"

/* A row of kernels/sgemm/variants.h as the host sees it. What a family does not have is 0. */
typedef struct {
    const char *name;
    int m, n, k; /* the tile of C, and a step of k */
    int threads;
    int blocks;   /* that the registers let fit a multiprocessor */
    int shared;   /* bytes of shared memory of a block */
    int products; /* of planes */
    int facet;    /* FFMA: groups of threads; fused: bulk; TF32: cluster; skinny, vector, outer:
                     aligned */
} tilemm__sgemm_row_t;

extern const tilemm__sgemm_row_t tilemm__sgemm_rows[TILEMM__SGEMM_CUDA_VARIANTS];

/* Blocks of a row that a multiprocessor holds. */
int tilemm__sgemm_resident_blocks(const tilemm__sgemm_row_t *row,
                                  const tilemm__cuda_traits_t *traits);
/* The same with a plan's own threads, fewer than the row's, and bytes of shared memory. */
int tilemm__sgemm_resident_plan(const tilemm__sgemm_row_t *row, int threads, size_t shared,
                                const tilemm__cuda_traits_t *traits);

/* Tiles of the clusters of a row of FP16 planes on compute capability 9.0, each of two blocks side
 * by side, in `batch` matrices of m x n. */
int64_t tilemm__sgemm_pairs(const tilemm__sgemm_row_t *row, int64_t m, int64_t n, int64_t batch);

/* How a fused kernel walks C: rows and columns of clusters of tiles; of C' if `transposed`. */
typedef struct {
    int64_t rows, cols;
    int cluster, cluster_m, cluster_n; /* tiles: all, those below each other, those side by side */
    int transposed;
} tilemm__sgemm_fused_walk_t;

int tilemm__sgemm_is_tf32(int variant);
/* Whether it is one of which neither operand runs along k. */
int tilemm__sgemm_tf32_converts(int variant);
/* Whether it is one with shared memory for the copy engine to store C from. */
int tilemm__sgemm_tf32_has_tile(int variant);
/* Whether it makes FP16 planes in the kernel, and leaves what these do not carry to another. */
int tilemm__sgemm_is_half(int variant);
/* Whether a variant of the fused kernels reads operands however they are aligned. */
int tilemm__sgemm_reads_unaligned(int variant);
tilemm__sgemm_fused_walk_t tilemm__sgemm_fused_walk(int variant, const tilemm__sgemm_args_t *args);

#endif
