/* descriptor.h - sub-matrices as ScaLAPACK's descriptors state them, and views of them: pure
 * functions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_DESCRIPTOR_H
#define TILEMM_MPI_DESCRIPTOR_H

#include <stddef.h>

#include "distribution.h"

/* A matrix as seen by one process, perhaps transposed. Its rows are dealt out along one side of the
 * grid, 0: to rows of processes, 1: to columns of processes; its columns along the other. */
typedef struct {
    tilemm__dist_t rows, cols;
    int side;
    float *at;      /* this process's first element; or NULL */
    int64_t rs, cs; /* to this process's next row and next column; one of them is 1 */
} tilemm__view_t;

/* A sub-matrix from (i, j), counted from 1, of an array that has a name, "a". */
typedef struct {
    const char *name;
    int64_t i, j;
    const int *desc;
    int64_t m, n;
} tilemm__submatrix_t;

/* Integers of a descriptor: 9, or 11 of type 2; 0 if it is neither. */
static inline int tilemm__descriptor_length(const int *desc)
{
    return !desc ? 0 : desc[0] == 1 ? 9 : desc[0] == 2 ? 11 : 0;
}

/* The view of a sub-matrix on a grid of procs[0] x procs[1], for the process at `me`, whose part of
 * the array is at `array`. With me NULL no process is meant: leading dimension and array are not
 * looked at. Returns 0, or -1 once what is wrong is written to text: "ia = 0, must be ...". */
int tilemm__view(const tilemm__submatrix_t *x, const int procs[2], const int me[2],
                 const float *array, char *text, size_t room, tilemm__view_t *view);

static inline tilemm__view_t tilemm__transposed(const tilemm__view_t *x)
{
    return (tilemm__view_t){x->cols, x->rows, !x->side, x->at, x->cs, x->rs};
}

/* Rows and columns that the process at `me` has. */
static inline int64_t tilemm__view_rows(const tilemm__view_t *x, const int me[2])
{
    return tilemm__dist_count(&x->rows, me[x->side]);
}
static inline int64_t tilemm__view_cols(const tilemm__view_t *x, const int me[2])
{
    return tilemm__dist_count(&x->cols, me[!x->side]);
}

#endif
