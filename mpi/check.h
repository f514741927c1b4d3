/* check.h - checks of arguments that the operations share, and beta's part of them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_CHECK_H
#define TILEMM_MPI_CHECK_H

#include "descriptor.h"
#include "grid.h"

/* Each returns 1, or 0 once the message is stored. `where` is the operation's name. */
int tilemm__check_size(tilemm_grid_t grid, const char *where, const char *name, int64_t size);
/* The view of a sub-matrix whose part here is at `array`. */
int tilemm__check_matrix(tilemm_grid_t grid, const char *where, const tilemm__submatrix_t *x,
                         const float *array, tilemm__view_t *view);

/* z = beta z. Not collective. */
tilemm_status_t tilemm__scale(tilemm_grid_t grid, const tilemm__view_t *z, float beta);

#endif
