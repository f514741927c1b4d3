/* spread.h - matrices of the tests that are spread over a grid: each process knows every element,
 * by a function of its place, and has its own part in memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_MPI_SPREAD_H
#define TILEMM_TESTS_MPI_SPREAD_H

#include <stdint.h>

#include "tests/support/random.h"
#include "tilemm_mpi.h"

/* A matrix, and the sub-matrix that is used. */
typedef struct {
    int desc[11];
    int64_t m, n;       /* of the whole matrix */
    int64_t i, j;       /* where the sub-matrix begins, from 0 */
    int64_t rows, cols; /* of the sub-matrix */
    uint64_t seed;      /* of its elements */
    int64_t local_rows, local_cols, ld;
    float *part;              /* this process's, ld x local_cols */
    int64_t *row_of, *col_of; /* of each local row and column: which of the whole it is */
} spread_t;

typedef struct {
    tilemm_grid_t grid;
    int rows, cols, row, col;
} place_t;

/* Collective: a grid, and this process's place in it. */
place_t spread_place(MPI_Comm comm, int rows, int cols, tilemm_t ctx);

/* A random matrix with a sub-matrix of rows x cols: descriptor of either type, blocks of any size,
 * any first process. All processes have the same random numbers, but for the leading dimension. */
spread_t spread_random(rng_t *rng, const place_t *place, int64_t rows, int64_t cols,
                       int most_block);

/* The matrix itself, in blocks of mb x nb from process (0, 0) on. */
spread_t spread_plain(const place_t *place, int64_t rows, int64_t cols, int mb, int nb,
                      uint64_t seed);

/* Allocate the part and fill it; what lies between the local rows and ld is filled too. */
void spread_fill(spread_t *x, const place_t *place);
void spread_free(spread_t *x);

/* Element (i, j) of the whole matrix, in [-1, 1]. */
float spread_value(const spread_t *x, int64_t i, int64_t j);

/* Whether (i, j) is in the sub-matrix. */
int spread_inside(const spread_t *x, int64_t i, int64_t j);

/* Whether all that is not in the sub-matrix is as spread_fill left it. */
int spread_untouched(const spread_t *x);

/* Collective: a number that depends on the bits and places of all elements of the sub-matrix, and
 * not on the grid. */
uint64_t spread_digest(const spread_t *x);

#endif
