/* multiply.h - products on one process, while messages go on.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_MULTIPLY_H
#define TILEMM_MPI_MULTIPLY_H

#include "travel.h"

/* z = alpha x y + beta z on this process: m x n x k elements. With `polled`, messages of these
 * operands go on meanwhile. */
tilemm_status_t tilemm__multiply(tilemm_grid_t grid, int64_t m, int64_t n, int64_t k, float alpha,
                                 const tilemm__panel_t *x, const tilemm__panel_t *y, float beta,
                                 const tilemm__panel_t *z, tilemm__travel_t *const polled[2]);

#endif
