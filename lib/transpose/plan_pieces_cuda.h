/* plan_pieces_cuda.h - how a transpose with operands on the host goes through a GPU's memory:
 * pieces of the source go up, are transposed and come down.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_PLAN_PIECES_CUDA_H
#define TILEMM_LIB_TRANSPOSE_PLAN_PIECES_CUDA_H

#include "kernels/args.h"
#include "lib/plan.h"

/* What a plan is given beside the problem. */
typedef struct {
    size_t memory; /* bytes of the device, at most */
    int src_on_host, dst_on_host;
} tilemm__transpose_places_t;

typedef struct {
    int64_t rows, cols, items; /* of a piece at most: of src, and matrices of the batch */
    /* Piece (i, j) of a square in place, and piece (j, i), are taken together: both are up before
     * either comes down. */
    int in_pairs;
    int in_slots, out_slots;    /* 0: of what does not move, or lies on the device */
    int64_t ld_in, ld_out;      /* of slots, elements */
    size_t in_bytes, out_bytes; /* of a slot */
    size_t bytes;               /* of device memory */
    size_t up, down;            /* bytes moved */
    int is_narrow;              /* rows are too short for the copy engine: up, or down */
} tilemm__transpose_pieces_t;

/* Rows and columns of src, of these matrices of the batch. */
typedef struct {
    int64_t item, items, row, rows, col, cols;
} tilemm__transpose_piece_t;

/* Where the walk is: zeros at the start. */
typedef struct {
    int64_t item, row, col;
} tilemm__transpose_walk_t;

/* The problem with leading dimensions that are those of dense matrices where there is one row. */
tilemm__transpose_args_t tilemm__transpose_normal(const tilemm__transpose_args_t *args);

/* Whether the matrix can be transposed in place in pieces: it is square, or keeps its layout. */
int tilemm__transpose_is_in_pieces(const tilemm__transpose_args_t *args);

/* args is normal; in place (dst == src) it can be done in pieces. TILEMM_OUT_OF_MEMORY if
 * places->memory is too little for the smallest pieces. */
int tilemm__plan_transpose_pieces(const tilemm__transpose_args_t *args,
                                  const tilemm__transpose_places_t *places,
                                  tilemm__transpose_pieces_t *plan);

/* The next one or two pieces: how many; 0 after the last. */
int tilemm__transpose_next(const tilemm__transpose_args_t *args,
                           const tilemm__transpose_pieces_t *plan, tilemm__transpose_walk_t *walk,
                           tilemm__transpose_piece_t piece[2]);

#endif
