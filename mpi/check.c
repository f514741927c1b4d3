/* check.c - see check.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

int tilemm__check_size(tilemm_grid_t grid, const char *where, const char *name, int64_t size)
{
    if (size >= 0)
        return 1;
    (void)tilemm__found(grid, TILEMM_INVALID_ARGUMENT, "%s: %s = %lld, must be at least 0", where,
                        name, (long long)size);
    return 0;
}

int tilemm__check_matrix(tilemm_grid_t grid, const char *where, const tilemm__submatrix_t *x,
                         const float *array, tilemm__view_t *view)
{
    const int procs[2] = {grid->rows, grid->cols}, me[2] = {grid->row, grid->col};
    char text[TILEMM__MESSAGE_BYTES / 2];
    if (!tilemm__view(x, procs, me, array, text, sizeof text, view))
        return 1;
    (void)tilemm__found(grid, TILEMM_INVALID_ARGUMENT, "%s: %s", where, text);
    return 0;
}

tilemm_status_t tilemm__scale(tilemm_grid_t grid, const tilemm__view_t *z, float beta)
{
    const int me[2] = {grid->row, grid->col};
    const int64_t m = tilemm__view_rows(z, me), n = tilemm__view_cols(z, me);
    if (m == 0 || n == 0)
        return TILEMM_SUCCESS;
    const tilemm_status_t status =
        tilemm_sgemm(grid->ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, 0, 0.0f,
                     NULL, m, NULL, 1, beta, z->at, z->cs);
    return tilemm__passed(grid, status == TILEMM_SUCCESS ? tilemm_synchronize(grid->ctx) : status);
}
