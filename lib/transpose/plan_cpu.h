/* plan_cpu.h - how the CPU backend does a transposition.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_PLAN_CPU_H
#define TILEMM_LIB_TRANSPOSE_PLAN_CPU_H

#include "kernels/args.h"
#include "lib/traits.h"

typedef enum {
    TILEMM__TRANSPOSE_CPU_FILL,   /* zeros */
    TILEMM__TRANSPOSE_CPU_COPY,   /* no transposition, to another place */
    TILEMM__TRANSPOSE_CPU_SIMD,   /* blocks, to another place */
    TILEMM__TRANSPOSE_CPU_MOVE,   /* in place: scale, and move slots (lib/inplace.h) */
    TILEMM__TRANSPOSE_CPU_SWAP,   /* in place, square: swap pairs of blocks, and move slots */
    TILEMM__TRANSPOSE_CPU_PANELS, /* in place: panels of rows, then runs, change places: two passes
                                   */
    TILEMM__TRANSPOSE_CPU_C2R,    /* in place: permute the input's slots forward, and move them */
    TILEMM__TRANSPOSE_CPU_R2C     /* in place: move slots, and permute the output's backward */
} tilemm__transpose_method_t;

/* PANELS: the view (lib/inplace.h) is cut into panels of block_rows rows, and `rest` rows left
 * over. Each panel is transposed where it lies, and then is columns of block_rows elements, runs,
 * which change places: a matrix of runs is transposed. Backward it is the other way round. A run
 * has so many bytes at most, and a whole number of cache lines. */
enum { TILEMM__TRANSPOSE_RUN = 256 };

/* Bytes on each thread's stack that serve as scratch where there is no workspace. */
enum { TILEMM__TRANSPOSE_STACK = 16384 };

typedef struct {
    tilemm__transpose_method_t method;
    int kind; /* of element: the entry of the kernel table, kernels/cpu/transpose.h */
    int threads;
    int tile_rows, tile_cols;        /* for the kernel's name */
    int64_t rows, cols, batch_count; /* of the source, after what can be joined was joined */
    int64_t ld_src, ld_dst;
    int64_t block_rows, block_cols; /* what a thread takes at a time, of the source */
    int buffered;                   /* copy each block of the source to scratch first */
    int stream;                     /* write around the caches */
    int lines;                      /* transpose each block to scratch first, and write it row by
                                       row, whole lines around the caches */
    int along_rows;                 /* blocks in order of the source's rows, not of the result's */
    int ahead;                      /* ask for the next block of the source before each block */
    int64_t head;      /* rows before the first one that is written to an aligned address; they are
                          a block of their own, not streamed */
    int64_t head_cols; /* columns before the first one that is read from the start of a cache
                          line; blocks of their own */
    int64_t rest;      /* PANELS: rows that are kept in the workspace meanwhile */
    size_t rest_bytes; /* of workspace for them, behind the threads' scratch */
    size_t scratch;    /* bytes of workspace for each thread; 0: what is on its stack must do */
} tilemm__plan_transpose_cpu_t;

/* Which entry of the kernel table: of elements, or of floats that are multiplied. */
int tilemm__transpose_kind(const tilemm__transpose_args_t *args);

/* Plan for at most `threads` threads and `workspace` bytes: pure, reads no matrix. With SIZE_MAX
 * the plan's threads * scratch + rest_bytes is the workspace that it would like; a plan for less
 * may be slower, and works. */
void tilemm__plan_transpose_cpu(const tilemm__transpose_args_t *args, int in_place,
                                const tilemm__cpu_traits_t *traits, int threads, size_t workspace,
                                tilemm__plan_transpose_cpu_t *plan);

/* Into how many blocks the rows and the columns of the source are cut; and all matrices of the
 * batch. */
int64_t tilemm__transpose_row_blocks(const tilemm__plan_transpose_cpu_t *plan);
int64_t tilemm__transpose_col_blocks(const tilemm__plan_transpose_cpu_t *plan);
int64_t tilemm__transpose_tasks(const tilemm__plan_transpose_cpu_t *plan);

/* "simd", "swap", ... as in kernel names. */
const char *tilemm__transpose_method_name(tilemm__transpose_method_t method);

/* Rows of a block in scratch are so many elements apart: a cache line more than they need, so
 * that the rows of a block do not all meet in the same sets. */
static inline int64_t tilemm__transpose_block_ld(int64_t block_cols, size_t elem_size)
{
    return block_cols + (int64_t)(64 / elem_size);
}

#endif
