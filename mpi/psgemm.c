/* psgemm.c - the distributed product: check, plan, redistribute what must be, multiply.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "stationary.h"

#include "check.h"
#include "redistribute.h"

static const char where[] = "psgemm";

/* The call's arguments but for the operands. */
typedef struct {
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    float alpha, beta;
} call_t;

/* ---- arguments ----------------------------------------------------------------------------- */

static int check_op(tilemm_grid_t grid, const char *name, tilemm_op_t op)
{
    if (op == TILEMM_NO_TRANS || op == TILEMM_TRANS)
        return 1;
    (void)tilemm__found(grid, TILEMM_INVALID_ARGUMENT,
                        "%s: %s = %d, must be TILEMM_NO_TRANS (111) or TILEMM_TRANS (112)", where,
                        name, (int)op);
    return 0;
}

static tilemm_status_t check_call(tilemm_grid_t grid, const call_t *call,
                                  const tilemm__submatrix_t matrices[3],
                                  const float *const arrays[3], tilemm__product_t *product)
{
    const int unread = call->alpha == 0.0f || call->k == 0;
    static const float nothing; /* what is not read may be NULL */
    if (!check_op(grid, "transa", call->transa) || !check_op(grid, "transb", call->transb) ||
        !tilemm__check_size(grid, where, "m", call->m) ||
        !tilemm__check_size(grid, where, "n", call->n) ||
        !tilemm__check_size(grid, where, "k", call->k) ||
        !tilemm__check_matrix(grid, where, &matrices[0], unread ? &nothing : arrays[0],
                              &product->x) ||
        !tilemm__check_matrix(grid, where, &matrices[1], unread ? &nothing : arrays[1],
                              &product->y) ||
        !tilemm__check_matrix(grid, where, &matrices[2], arrays[2], &product->z))
        return TILEMM_INVALID_ARGUMENT;
    if (call->transa == TILEMM_TRANS)
        product->x = tilemm__transposed(&product->x);
    if (call->transb == TILEMM_TRANS)
        product->y = tilemm__transposed(&product->y);
    return TILEMM_SUCCESS;
}

static void list_arguments(const call_t *call, const tilemm__submatrix_t matrices[3],
                           tilemm__arguments_t *arguments)
{
    static const char *const names[3][3] = {
        {"ia", "ja", "desca"}, {"ib", "jb", "descb"}, {"ic", "jc", "descc"}};
    tilemm__add_argument(arguments, "transa", call->transa);
    tilemm__add_argument(arguments, "transb", call->transb);
    tilemm__add_argument(arguments, "m", call->m);
    tilemm__add_argument(arguments, "n", call->n);
    tilemm__add_argument(arguments, "k", call->k);
    tilemm__add_float(arguments, "alpha", call->alpha);
    tilemm__add_float(arguments, "beta", call->beta);
    for (int i = 0; i < 3; i++) {
        tilemm__add_argument(arguments, names[i][0], matrices[i].i);
        tilemm__add_argument(arguments, names[i][1], matrices[i].j);
        tilemm__add_descriptor(arguments, names[i][2], matrices[i].desc);
    }
}

/* ---- the product --------------------------------------------------------------------------- */

/* An operand to where the plan wants it. */
static tilemm_status_t bring(tilemm_grid_t grid, const tilemm__view_t *is, tilemm__view_t *used)
{
    tilemm__view_t staged = {.at = NULL};
    tilemm_status_t status = tilemm__stage(grid, is, 0, &staged);
    if (status == TILEMM_SUCCESS)
        status = tilemm__alloc_view(grid, TILEMM_MEMORY_PINNED, used);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS)
        status = tilemm__redistribute(grid, where, &staged, used, 1.0f, 0.0f);
    (void)tilemm__unstage(grid, is, 0, &staged);
    return status;
}

/* C where it is wanted, from where the plan had it computed. */
static tilemm_status_t put(tilemm_grid_t grid, const tilemm__view_t *used, float beta,
                           const tilemm__view_t *is)
{
    tilemm__view_t staged = {.at = NULL};
    tilemm_status_t status = tilemm__stage(grid, is, beta == 0.0f, &staged);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS)
        status = tilemm__redistribute(grid, where, used, &staged, 1.0f, beta);
    const tilemm_status_t put_back = tilemm__unstage(grid, is, status == TILEMM_SUCCESS, &staged);
    return status == TILEMM_SUCCESS ? tilemm__agree(grid, where, put_back, NULL) : status;
}

/* All processes have the same plan, and come by the same collective steps. Each step returns what
 * all have agreed on. */
static tilemm_status_t run(tilemm_grid_t grid, tilemm__psgemm_plan_t *plan, float alpha, float beta)
{
    tilemm__product_t *const used = &plan->used;
    const int64_t panel = plan->report.panel;
    tilemm_status_t status = TILEMM_SUCCESS;
    if (plan->move_x)
        status = bring(grid, &plan->as_is.x, &used->x);
    if (plan->move_y && status == TILEMM_SUCCESS)
        status = bring(grid, &plan->as_is.y, &used->y);
    if (plan->move_z && status == TILEMM_SUCCESS)
        status = tilemm__agree(grid, where,
                               tilemm__alloc_view(grid, TILEMM_MEMORY_PINNED, &used->z), NULL);
    if (status == TILEMM_SUCCESS) {
        const float factor = plan->move_z ? 0.0f : beta;
        status = plan->report.stationary == TILEMM_STATIONARY_C
                     ? tilemm__run_stationary_z(grid, used, panel, alpha, factor)
                     : tilemm__run_stationary_x(grid, used, panel, alpha, factor);
    }
    if (plan->move_z && status == TILEMM_SUCCESS)
        status = put(grid, &used->z, beta, &plan->as_is.z);
    if (plan->move_x)
        (void)tilemm_free_matrix(grid->ctx, used->x.at);
    if (plan->move_y)
        (void)tilemm_free_matrix(grid->ctx, used->y.at);
    if (plan->move_z)
        (void)tilemm_free_matrix(grid->ctx, used->z.at);
    return status;
}

tilemm_status_t tilemm_psgemm(tilemm_grid_t grid, tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                              int64_t n, int64_t k, float alpha, const float *a, int64_t ia,
                              int64_t ja, const int *desca, const float *b, int64_t ib, int64_t jb,
                              const int *descb, float beta, float *c, int64_t ic, int64_t jc,
                              const int *descc)
{
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    if (grid->row < 0)
        return TILEMM_SUCCESS;
    const call_t call = {transa, transb, m, n, k, alpha, beta};
    const int turn_a = transa == TILEMM_TRANS, turn_b = transb == TILEMM_TRANS;
    const tilemm__submatrix_t matrices[3] = {{"a", ia, ja, desca, turn_a ? k : m, turn_a ? m : k},
                                             {"b", ib, jb, descb, turn_b ? n : k, turn_b ? k : n},
                                             {"c", ic, jc, descc, m, n}};
    const float *const arrays[3] = {a, b, c};
    const int procs[2] = {grid->rows, grid->cols};
    tilemm__arguments_t arguments = {.count = 0};
    tilemm__product_t product;
    tilemm__psgemm_plan_t plan;
    list_arguments(&call, matrices, &arguments);
    tilemm_status_t status =
        tilemm__agree(grid, where, check_call(grid, &call, matrices, arrays, &product), &arguments);
    if (status != TILEMM_SUCCESS || m == 0 || n == 0)
        return status;
    if (k == 0 || alpha == 0.0f)
        return tilemm__agree(grid, where, tilemm__scale(grid, &product.z, beta), NULL);
    const int64_t panel = grid->panel  ? grid->panel
                          : grid->cuda ? TILEMM__PANEL_CUDA
                                       : TILEMM__PANEL_CPU;
    if (tilemm__plan_psgemm(&product, procs, panel, &plan))
        status = tilemm__found(grid, TILEMM_OUT_OF_MEMORY, "%s: no memory for the plan", where);
    status = tilemm__agree(grid, where, status, NULL);
    return status == TILEMM_SUCCESS ? run(grid, &plan, alpha, beta) : status;
}
