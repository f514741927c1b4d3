/* rows_cuda.h - the rows of kernels/reduce/variants.h, and launches made from them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_ROWS_CUDA_H
#define TILEMM_LIB_REDUCE_ROWS_CUDA_H

#include "kernels/reduce/cuda/reduce.h"
#include "lib/traits.h"

typedef struct {
    const char *name;
    tilemm__reduce_kernel_t kernel;
    int cc;
    int facets[5]; /* `concurrent`, then the template arguments */
} tilemm__reduce_row_t;

extern const tilemm__reduce_row_t tilemm__reduce_rows[TILEMM__REDUCE_ROW_COUNT];

enum { TILEMM__ANY = -1 };

/* The first row of a kernel whose first template arguments are these. */
int tilemm__find_reduce_row(tilemm__reduce_kernel_t kernel, int first, int second, int third);

/* Make a launch of this row, with the threads that most kernels have. */
void tilemm__set_reduce_row(tilemm__reduce_launch_t *launch, int row,
                            const tilemm__cuda_traits_t *traits);

/* Make a launch for `vectors` vectors, of each of which it reads `length` elements or partial
 * results: all that the plan says, or less for the last vectors and the last range. */
void tilemm__size_reduce_launch(tilemm__reduce_launch_t *launch, int64_t vectors, int64_t length);

#endif
