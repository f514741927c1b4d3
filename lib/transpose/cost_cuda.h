/* cost_cuda.h - what was measured of transposes on a GPU, and what plans choose by.
 *
 * A transpose moves each byte once, and the kernels differ in which shapes they do so well: plans
 * choose by thresholds, not by estimates of time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_COST_CUDA_H
#define TILEMM_LIB_TRANSPOSE_COST_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    /* Out of place. */
    int short_side;            /* elements: a shorter side leaves too much of a tile empty; */
    int bytes_side;            /* of 1-byte elements, of words_bytes[0] in all */
    int64_t gather_bytes[2];   /* of a matrix of a batch that is gathered at most; [1] of one that
                                  might be packed, of more data than the L2 cache should hold */
    int64_t repeated_bytes[2]; /* likewise by threads that repeat their way; [1] where each matrix
                                  of the result is aligned */
    int gather_rows[3]; /* of a matrix that is gathered at most, if it has more columns; [1] of
                           1- and 2-byte elements, of gather_least bytes in all or more; [2] of
                           data that does not stay in L2 */
    int64_t gather_least;
    int64_t elements_most; /* of a matrix of a batch that is not gathered, 16 bytes at a time, but
                              element by element */
    int gather_cols;       /* columns of a matrix that is gathered at most, of elements up to
                              gather_elem_size bytes */
    int gather_elem_size;  /* bytes */
    int tile_side[2];      /* elements of 4, 8 bytes: tiles suit an aligned matrix from there */
    int64_t tile_bytes;    /* of 1 byte: those suit a matrix of a batch of more bytes */
    int small_tiles;       /* tiles for each multiprocessor up to which smaller tiles are better */
    int full_thirds;       /* of the larger tiles' area: smaller ones that need less are better */
    int64_t odd_bytes; /* of a matrix of a batch that is gathered at most where no tile is full or
                          aligned, of elements from 4 bytes on */
    int64_t odd_elements;   /* in all that are gathered then */
    int64_t narrow_bytes;   /* of a matrix that narrow tiles take then, of 4- or 8-byte elements */
    int64_t words_bytes[2]; /* in all that are transposed by words, but for few rows, and for
                               matrices of a batch up to packed_bytes; [1] in rows longer than
                               skewed_whole; */
    int64_t words_small, words_middle; /* by the smallest tiles, and of bytes by the next ones */
    int64_t packed_bytes; /* of a matrix of a batch that goes through shared memory whole; */
    int64_t packed_few;   /* if there are fewer matrices than multiprocessors, but a third */
    int64_t
        columns_least; /* of one of bytes in aligned rows whose columns are laid, and at most; */
    int64_t columns_most;
    int columns_tenths[2][2][2]; /* and tenths of square tiles that it fills, of 1 and 2 bytes: with
                                    columns of other lengths than of 32 bytes, and with such; of
                                    data that stays in L2, and of other */
    int skewed_whole;            /* bytes of rows that a skewed tile has whole */
    int skewed_wide;         /* bytes of rows of a skewed tile, of data that does not stay in L2 */
    int skewed_least;        /* bytes of rows of a skewed tile at least; */
    int skewed_waves;        /* waves of tiles up to which it has 128, from the second on */
    int skewed_places[2];    /* blocks of such tiles on a multiprocessor, of 1 and 2 bytes */
    int64_t skewed_bytes;    /* of a skewed tile at most; */
    int skewed_tiles;        /* but there should be this number for each multiprocessor */
    int flat_bytes;          /* of the columns of a flat one, at most */
    int64_t direct_bytes[3]; /* in all that pass through registers alone; [1] and [2]: elements of 8
                                and 16 bytes */
    int few_cols;     /* of 1-, 2- or 4-byte elements that a thread transposes in registers, */
    int few_rows;     /* if there are at least this number of rows */
    int few_batch;    /* matrices at most, */
    int zip_rows;     /* likewise rows, of 1-byte elements, */
    int zip_cols;     /* if there are at least this number of columns */
    int early_blocks; /* for each multiprocessor, up to which the next kernel starts early, and
                         blocks for few columns or rows are made smaller; */
    int early_direct; /* multiprocessors for each direct tile */
    double streaming_share; /* of the L2 cache: more data than that should not stay in it */

    /* In place. */
    int64_t whole_bytes;     /* of a rectangle of 4-byte elements from which registers hold it, not
                                shared memory */
    int64_t workspace_bytes; /* worth having whatever the size of the matrix */
    int workspace_share;     /* 1 / this of the matrix is worth having; */
    int memory_share;        /* all of the matrix, if it has up to 1 / this of the memory */
    int slabs_least;         /* slabs, so that the fringe is small beside them */
    int slab_cols_least;     /* columns of slabs, which have a tile for every 64 */
    int stride_of_few;       /* runs, of which one is saved, where there are few runs: up to */
    int stride_few_runs;     /* this number; chains must be short, since few run at a time */
    int stride_least;        /* likewise in larger matrices */
    int stride_most;         /* likewise, beyond which chains are too few and too long */
    int run_bytes_least;     /* of a run that is moved: a sector */
    int intervals_most; /* of a move from one leading dimension to another: two launches each */
} tilemm__transpose_cost_t;

/* As measured on an H200. */
extern const tilemm__transpose_cost_t tilemm__transpose_cost;

#endif
