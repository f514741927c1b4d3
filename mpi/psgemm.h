/* psgemm.h - the two ways in which a distributed product is computed, once its operands are where
 * the plan wants them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_PSGEMM_H
#define TILEMM_MPI_PSGEMM_H

#include "plan.h"
#include "travel.h"

/* z stays: panels of x and y travel. Collective: all return the same. */
tilemm_status_t tilemm__run_stationary_z(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta);

/* x stays: panels of y travel, and the parts of z's panels are added up. */
tilemm_status_t tilemm__run_stationary_x(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta);

/* z = alpha x y + beta z on this process: m x n x k elements. With `polled`, messages of these
 * operands go on meanwhile. */
tilemm_status_t tilemm__multiply(tilemm_grid_t grid, int64_t m, int64_t n, int64_t k, float alpha,
                                 const tilemm__panel_t *x, const tilemm__panel_t *y, float beta,
                                 const tilemm__panel_t *z, tilemm__travel_t *const polled[2]);

#endif
