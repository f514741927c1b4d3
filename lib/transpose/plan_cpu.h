/* plan_cpu.h - how a transposition is done on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_PLAN_CPU_H
#define TILEMM_LIB_TRANSPOSE_PLAN_CPU_H

#include "kernels/args.h"
#include "kernels/transpose/inplace.h"
#include "lib/plan.h"

typedef enum {
    TILEMM__TRANSPOSE_CPU_FILL,  /* zeros */
    TILEMM__TRANSPOSE_CPU_COPY,  /* no transposition, out of place */
    TILEMM__TRANSPOSE_CPU_SIMD,  /* blocks, out of place */
    TILEMM__TRANSPOSE_CPU_MOVE,  /* in place: scale, and move slots (kernels/transpose/inplace.h) */
    TILEMM__TRANSPOSE_CPU_SWAP,  /* in place, square: swap pairs of blocks, and move slots */
    TILEMM__TRANSPOSE_CPU_SLABS, /* in place: slabs of rows, then runs, change places */
    TILEMM__TRANSPOSE_CPU_C2R,   /* in place: permute the input's slots forward, and move them */
    TILEMM__TRANSPOSE_CPU_R2C    /* in place: move slots, and permute the output's backward */
} tilemm__transpose_cpu_method_t;

/* FILL, COPY, SIMD, MOVE. A thread takes a block of the source at a time; its blocks follow each
 * other along rows of the result. */
typedef struct {
    int64_t rows, cols, batch_count; /* of the source, after what can be joined was joined */
    int64_t ld_src, ld_dst;
    int64_t block_rows, block_cols;
    int buffered; /* copy each block of the source to scratch first */
    int lines;    /* transpose each block to scratch, then write whole lines around the caches */
} tilemm__transpose_cpu_blocks_t;

/* SLABS. The m x n view (kernels/transpose/inplace.h) is cut into slabs of `height` rows, and a
 * fringe of rows that are kept in the workspace meanwhile. Each slab is transposed where it lies:
 * its n columns become runs of `height` elements. Then the matrix of runs is transposed. Backward
 * the runs come first. A run is whole cache lines, at most RUN bytes. */
enum { TILEMM__TRANSPOSE_RUN = 256 };

typedef struct {
    int forward;
    int64_t m, n;
    int64_t height, fringe;
} tilemm__transpose_cpu_slabs_t;

/* Bytes of scratch on each thread's stack, used where there is no workspace. */
enum { TILEMM__TRANSPOSE_STACK = 16384 };

typedef struct {
    tilemm__transpose_cpu_method_t method;
    int kind; /* of element: the entry of the kernel table, kernels/transpose/cpu/kernels.h */
    int threads;
    int tile_rows, tile_cols; /* for the kernel's name */
    size_t scratch;   /* bytes of workspace for each thread; 0: what is on its stack must do */
    size_t workspace; /* bytes of all threads' scratch; and behind it, SLABS: of the fringe */
    union {
        tilemm__transpose_cpu_blocks_t blocks;
        struct {
            int64_t side; /* of a block */
        } swap;
        tilemm__transpose_cpu_slabs_t slabs;
        struct { /* C2R and R2C */
            tilemm__inplace_t view;
            int64_t cols; /* that are permuted together */
        } cycles;
    };
} tilemm__transpose_cpu_plan_t;

/* Which entry of the kernel table: of elements, or of floats that are multiplied. */
int tilemm__transpose_kind(const tilemm__transpose_args_t *args);

/* Plan for limits->kernels. Any workspace will do; with less the plan may be slower. */
int tilemm__plan_transpose_cpu(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits,
                               tilemm__transpose_cpu_plan_t *plan);
int tilemm__plan_transpose_inplace_cpu(const tilemm__transpose_args_t *args,
                                       const tilemm__limits_t *limits,
                                       tilemm__transpose_cpu_plan_t *plan);

/* Fill in *view for m x n; both at least 1. */
void tilemm__inplace_init(tilemm__inplace_t *view, int64_t m, int64_t n);

/* Blocks that the rows and all matrices of the source are cut into. */
int64_t tilemm__transpose_row_blocks(const tilemm__transpose_cpu_blocks_t *b);
int64_t tilemm__transpose_tasks(const tilemm__transpose_cpu_blocks_t *b);

/* "simd", "swap", ... as in kernel names. */
const char *tilemm__transpose_method_name(tilemm__transpose_cpu_method_t method);

/* The leading dimension of a block in scratch: a cache line more than a row, so that rows do not
 * all meet in the same sets. Of `lines` that line is a row's lead. */
static inline int64_t tilemm__transpose_block_ld(int64_t block_cols, size_t elem_size)
{
    return block_cols + (int64_t)(64 / elem_size);
}

#endif
