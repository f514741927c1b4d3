/* pstran.c - the distributed transpose: a redistribution of the transposed view.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "redistribute.h"

static const char where[] = "pstran";

static tilemm_status_t run(tilemm_grid_t grid, const tilemm__view_t *a, const tilemm__view_t *c,
                           float alpha, float beta)
{
    tilemm__view_t from = {.at = NULL}, to = {.at = NULL};
    tilemm_status_t status = tilemm__stage(grid, a, 0, &from);
    if (status == TILEMM_SUCCESS)
        status = tilemm__stage(grid, c, beta == 0.0f, &to);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS) {
        const tilemm__view_t turned = tilemm__transposed(&from);
        status = tilemm__redistribute(grid, where, &turned, &to, alpha, beta);
        if (status == TILEMM_SUCCESS)
            status = tilemm__agree(grid, where, tilemm__unstage(grid, c, 1, &to), NULL);
    }
    (void)tilemm__unstage(grid, a, 0, &from);
    (void)tilemm__unstage(grid, c, 0, &to);
    return status;
}

tilemm_status_t tilemm_pstran(tilemm_grid_t grid, int64_t m, int64_t n, float alpha, const float *a,
                              int64_t ia, int64_t ja, const int *desca, float beta, float *c,
                              int64_t ic, int64_t jc, const int *descc)
{
    static const float nothing; /* what is not read may be NULL */
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    if (grid->row < 0)
        return TILEMM_SUCCESS;
    const tilemm__submatrix_t from = {"a", ia, ja, desca, n, m}, to = {"c", ic, jc, descc, m, n};
    tilemm__arguments_t arguments = {.count = 0};
    tilemm__view_t a_view, c_view;
    tilemm__add_argument(&arguments, "m", m);
    tilemm__add_argument(&arguments, "n", n);
    tilemm__add_float(&arguments, "alpha", alpha);
    tilemm__add_float(&arguments, "beta", beta);
    tilemm__add_argument(&arguments, "ia", ia);
    tilemm__add_argument(&arguments, "ja", ja);
    tilemm__add_descriptor(&arguments, "desca", desca);
    tilemm__add_argument(&arguments, "ic", ic);
    tilemm__add_argument(&arguments, "jc", jc);
    tilemm__add_descriptor(&arguments, "descc", descc);
    const int valid =
        tilemm__check_size(grid, where, "m", m) && tilemm__check_size(grid, where, "n", n) &&
        tilemm__check_matrix(grid, where, &from, alpha == 0.0f ? &nothing : a, &a_view) &&
        tilemm__check_matrix(grid, where, &to, c, &c_view);
    const tilemm_status_t status =
        tilemm__agree(grid, where, valid ? TILEMM_SUCCESS : TILEMM_INVALID_ARGUMENT, &arguments);
    if (status != TILEMM_SUCCESS || m == 0 || n == 0)
        return status;
    if (alpha == 0.0f)
        return tilemm__agree(grid, where, tilemm__scale(grid, &c_view, beta), NULL);
    return run(grid, &a_view, &c_view, alpha, beta);
}
