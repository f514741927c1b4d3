/* plan_cuda.h - which kernels transpose a matrix on a GPU, and with which tiles: pure
 * functions of the problem, the device's traits and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_PLAN_CUDA_H
#define TILEMM_LIB_TRANSPOSE_PLAN_CUDA_H

#include "kernels/transpose/cuda/transpose.h"
#include "kernels/args.h"
#include "lib/traits.h"

/* ---- out of place --------------------------------------------------------------------------- */

typedef enum {
    TILEMM__TRANSPOSE_COPY,    /* no transpose: scale, copy, or fill with zeros */
    TILEMM__TRANSPOSE_CHUNKS,  /* square tiles, aligned chunks */
    TILEMM__TRANSPOSE_SHIFTED, /* tiles, aligned chunks of rows that are not aligned */
    TILEMM__TRANSPOSE_NARROW,  /* tiles that are narrow one way, element by element */
    TILEMM__TRANSPOSE_STRIP,   /* tiles as narrow as the matrix, or of several matrices */
    TILEMM__TRANSPOSE_SHORT,   /* the same for elements of 1 or 2 bytes */
    TILEMM__TRANSPOSE_GATHER   /* small matrices, or few rows: 16 bytes of the result a thread */
} tilemm__transpose_kernel_t;

typedef struct {
    tilemm__transpose_kernel_t kernel;
    int access;                           /* bytes of one access to global memory */
    int tile_rows, tile_cols, tile_batch; /* elements of src, matrices */
    int unit_in, unit_out;                /* strip: bytes of an access on either side */
    tilemm__transpose_turn_t turn;        /* short */
    int halo;                             /* shifted: see the kernel */
    int streaming;                        /* more data than the L2 cache holds */
    /* Copy: it fills with zeros; as one row, where nothing lies between rows; threads along a row.
     */
    int zero, flat, block_cols;
    char name[64];
} tilemm__transpose_plan_t;

void tilemm__plan_transpose_cuda(const tilemm__transpose_args_t *args,
                                 const tilemm__cuda_traits_t *traits,
                                 tilemm__transpose_plan_t *plan);

/* ---- in place ------------------------------------------------------------------------------- */

typedef enum {
    TILEMM__INPLACE_NONE,   /* every element is in its slot already: move and scale at most */
    TILEMM__INPLACE_ZERO,   /* alpha = 0 */
    TILEMM__INPLACE_SWAP,   /* square: tiles change places */
    TILEMM__INPLACE_STAGED, /* out of place to the workspace, and copied back */
    TILEMM__INPLACE_RUNS,   /* few columns: blocks of rows, then runs, change places */
    TILEMM__INPLACE_PANELS, /* panels of rows, then runs, change places: two passes */
    TILEMM__INPLACE_C2R     /* columns, rows, columns: see inplace.h */
} tilemm__inplace_method_t;

typedef struct {
    tilemm__inplace_method_t method;
    int forward;  /* the permutation comes before the move; see inplace.h */
    int64_t m, n; /* the view */
    /* Swap. */
    int access, tile;
    /* Runs: so many blocks of `length` rows of the view, and `rest` rows left over, which wait in
     * the first rest_bytes of the workspace; elements of a run that a block takes. */
    int64_t chunks, length, rest;
    size_t rest_bytes;
    int slice;
    /* Panels: `chunks` of `length` rows, and `rest`, as for runs; every how many runs one is saved;
     * where in the workspace are the counts of the first pass, the marks of the second, and what it
     * saves. */
    uint32_t stride;
    size_t counts_at, marks_at, saved_at;
    /* C2R: columns that the workspace takes at a time, 0 for the method with none; rows that a
     * block takes into shared memory, or if 0, rows that the workspace takes. */
    int64_t panel;
    int rows_per_block;
    int64_t workspace_rows;
    /* The move: elements of an interval, 0 for a single block with no workspace. */
    int move;
    int64_t interval;
    /* Whether a pass of its own multiplies by alpha. */
    int scale;
    char name[64];
} tilemm__transpose_inplace_plan_t;

/* The bytes of workspace that serve the problem best. */
size_t tilemm__transpose_inplace_cuda_want(const tilemm__transpose_args_t *args,
                                           const tilemm__cuda_traits_t *traits);

/* The plan with so many bytes of workspace. Returns 0, or -1 if no method does with so few: they
 * all do with none, but where a row (of the view: its shorter side) exceeds shared memory, which
 * asks for the bytes of one row. */
int tilemm__plan_transpose_inplace_cuda(const tilemm__transpose_args_t *args,
                                        const tilemm__cuda_traits_t *traits, size_t workspace,
                                        tilemm__transpose_inplace_plan_t *plan);

#endif
