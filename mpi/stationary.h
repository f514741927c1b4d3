/* stationary.h - the two ways in which a distributed product is computed, once its operands are
 * where the plan wants them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_STATIONARY_H
#define TILEMM_MPI_STATIONARY_H

#include "grid.h"
#include "plan.h"

/* The first of two that is not TILEMM_SUCCESS. */
static inline tilemm_status_t tilemm__first_of(tilemm_status_t status, tilemm_status_t next)
{
    return status == TILEMM_SUCCESS ? next : status;
}

/* z stays: panels of x and y travel. Collective: all return the same. */
tilemm_status_t tilemm__run_stationary_z(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta);

/* x stays: panels of y travel, and the parts of z's panels are added up. */
tilemm_status_t tilemm__run_stationary_x(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta);

#endif
