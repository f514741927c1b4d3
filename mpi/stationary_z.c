/* stationary_z.c - the product where C stays: SUMMA (van de Geijn and Watts, "SUMMA: scalable
 * universal matrix multiplication algorithm", 1997). While a panel is multiplied the next ones
 * travel.
 *
 * Panels begin at multiples of their size, counted from where the sub-matrices begin, whatever the
 * grid, and are added to C in the order of k: so no element of C depends on the grid.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kept.h"
#include "multiply.h"
#include "stationary.h"
#include "redistribute.h"

static const char where[] = "psgemm";

/* The kernels of a CPU take small and narrow products another way, with other sums. Products of
 * LEAST_SIDE or more rows and columns and more than LEAST_WORK elements of C all go one way
 * (lib/sgemm/plan_cpu.h: SMALL_WORK, ALONE_WORK over ALONE_STEPS, STREAM_ROWS, chains). Where this
 * process's part of C is smaller, a larger one is computed, of zeros. */
enum { LEAST_SIDE = 33, LEAST_SQUARE = 182, LEAST_ELEMENTS = 32768 };

typedef struct {
    tilemm_grid_t grid;
    int64_t m, n;           /* of this process's part of C */
    int64_t m_work, n_work; /* the larger one; 0: none is needed */
    int64_t panel;
    float *x, *y, *z; /* m_work x panel, n_work x panel (of y'), m_work x n_work */
} work_t;

static void size_work(work_t *work)
{
    int64_t m = tilemm__max(work->m, LEAST_SIDE), n = tilemm__max(work->n, LEAST_SIDE);
    if (m * n <= LEAST_ELEMENTS) {
        if (m <= n) {
            n = tilemm__max(n, LEAST_SQUARE);
            m = tilemm__max(m, LEAST_ELEMENTS / n + 1);
        } else {
            m = tilemm__max(m, LEAST_SQUARE);
            n = tilemm__max(n, LEAST_ELEMENTS / m + 1);
        }
    }
    if (m != work->m || n != work->n) {
        work->m_work = m;
        work->n_work = n;
    }
}

/* Zeros, and C's elements if they count. */
static tilemm_status_t begin_work(work_t *work, const tilemm__view_t *z, float beta)
{
    tilemm_grid_t grid = work->grid;
    if (work->m == 0 || work->n == 0 || grid->cuda)
        return TILEMM_SUCCESS;
    size_work(work);
    if (work->m_work == 0)
        return TILEMM_SUCCESS;
    const struct {
        float **memory;
        int64_t count;
    } parts[] = {{&work->x, work->m_work * work->panel},
                 {&work->y, work->n_work * work->panel},
                 {&work->z, work->m_work * work->n_work}};
    for (int i = 0; i < 3; i++) {
        const tilemm_status_t status =
            tilemm__alloc(grid, TILEMM_MEMORY_HOST, parts[i].count, parts[i].memory);
        if (status != TILEMM_SUCCESS)
            return status;
        memset(*parts[i].memory, 0, (size_t)parts[i].count * sizeof(float));
    }
    return beta == 0.0f ? TILEMM_SUCCESS
                        : tilemm__copy_part(grid, work->m, work->n, z->at, z->rs, z->cs, work->z, 1,
                                            work->m_work);
}

/* The result is C's. */
static tilemm_status_t finish_work(const work_t *work, const tilemm__view_t *z)
{
    return work->z ? tilemm__copy_part(work->grid, work->m, work->n, work->z, 1, work->m_work,
                                       z->at, z->rs, z->cs)
                   : TILEMM_SUCCESS;
}

static void end_work(work_t *work)
{
    (void)tilemm_free_matrix(work->grid->ctx, work->x);
    (void)tilemm_free_matrix(work->grid->ctx, work->y);
    (void)tilemm_free_matrix(work->grid->ctx, work->z);
}

/* C = alpha x y + beta C of one panel: x is m x k, y turned n x k. */
static tilemm_status_t multiply(const work_t *work, int64_t k, float alpha,
                                const tilemm__panel_t *x, const tilemm__panel_t *turned, float beta,
                                const tilemm__view_t *z, tilemm__travel_t *const polled[2])
{
    tilemm_grid_t grid = work->grid;
    const tilemm__panel_t y = {turned->at, turned->cs, turned->rs};
    const tilemm__panel_t to = {z->at, z->rs, z->cs};
    if (work->m == 0 || work->n == 0)
        return TILEMM_SUCCESS;
    if (!work->z)
        return tilemm__multiply(grid, work->m, work->n, k, alpha, x, &y, beta, &to, polled);
    const tilemm__panel_t x_work = {work->x, 1, work->m_work}, y_work = {work->y, work->n_work, 1},
                          z_work = {work->z, 1, work->m_work};
    tilemm_status_t status =
        tilemm__copy_part(grid, work->m, k, x->at, x->rs, x->cs, work->x, 1, work->m_work);
    if (status == TILEMM_SUCCESS)
        status = tilemm__copy_part(grid, work->n, k, turned->at, turned->rs, turned->cs, work->y, 1,
                                   work->n_work);
    if (status == TILEMM_SUCCESS)
        status = tilemm__multiply(grid, work->m_work, work->n_work, k, alpha, &x_work, &y_work,
                                  beta, &z_work, polled);
    return status;
}

/* Panel after panel. Once one fails here the others still travel, for those who need them. */
static tilemm_status_t run(work_t *work, tilemm__travel_t travels[2], float alpha, float beta,
                           const tilemm__view_t *z)
{
    const int64_t k = travels[0].view.cols.n, panel = work->panel;
    tilemm__travel_t *const polled[2] = {&travels[0], &travels[1]};
    tilemm_status_t status = TILEMM_SUCCESS, next;
    for (int64_t i = 1 - TILEMM__SLOTS; i * panel < k; i++) {
        tilemm__panel_t panels[2] = {{NULL, 1, 1}, {NULL, 1, 1}};
        for (int t = 0; t < 2; t++) {
            if (i >= 0) {
                next = tilemm__travel_wait(&travels[t], i, &panels[t]);
                status = status == TILEMM_SUCCESS ? next : status;
            }
        }
        for (int t = 0; t < 2; t++) {
            next = tilemm__travel_post(&travels[t], i + TILEMM__SLOTS - 1);
            status = status == TILEMM_SUCCESS ? next : status;
        }
        if (i >= 0 && status == TILEMM_SUCCESS)
            status = multiply(work, tilemm__min(panel, k - i * panel), alpha, &panels[0],
                              &panels[1], i == 0 ? beta : 1.0f, z, polled);
    }
    return status;
}

/* Processes that share a GPU compute one after the other. Where two computed at once, 16384^3 took
 * 1.46 times as long as on one process, and in turns 1.04 times. Each process passes the turn on,
 * whatever happened to it. */
enum { TURN = 7 }; /* a tag */

static tilemm_status_t take_turn(tilemm_grid_t grid)
{
    if (grid->rank > 0 &&
        MPI_Recv(NULL, 0, MPI_BYTE, grid->rank - 1, TURN, grid->all, MPI_STATUS_IGNORE))
        return tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    return TILEMM_SUCCESS;
}

static tilemm_status_t end_turn(tilemm_grid_t grid)
{
    const tilemm_status_t status = tilemm__passed(grid, tilemm_synchronize(grid->ctx));
    if (grid->rank + 1 < grid->rows * grid->cols &&
        MPI_Send(NULL, 0, MPI_BYTE, grid->rank + 1, TURN, grid->all))
        return tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    return status;
}

tilemm_status_t tilemm__run_stationary_z(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta)
{
    const int me[2] = {grid->row, grid->col};
    const tilemm__view_t *const z = &product->z, turned = tilemm__transposed(&product->y);
    tilemm__travel_t travels[2] = {tilemm__travel_of(grid, &product->x, "row"),
                                   tilemm__travel_of(grid, &turned, "column")};
    tilemm__travel_t *const both[2] = {&travels[0], &travels[1]};
    const int shared = tilemm__travel_share(both, 2);
    if (shared && !grid->panel)
        panel = TILEMM__PANEL_SHARED;
    panel = tilemm__min(panel, product->x.cols.n);
    work_t work = {
        .grid = grid, .m = tilemm__view_rows(z, me), .n = tilemm__view_cols(z, me), .panel = panel};
    tilemm_status_t status = tilemm__travel_begin(&travels[0], panel);
    status = tilemm__first_of(status, tilemm__travel_begin(&travels[1], panel));
    if (status == TILEMM_SUCCESS)
        status = begin_work(&work, z, beta);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS) {
        if (shared)
            status = take_turn(grid);
        status = tilemm__first_of(status, run(&work, travels, alpha, beta, z));
        if (status == TILEMM_SUCCESS)
            status = finish_work(&work, z);
        if (shared)
            status = tilemm__first_of(status, end_turn(grid));
        status = tilemm__first_of(status, tilemm__travel_leave(both, 2));
        status = tilemm__agree(grid, where, status, NULL);
    }
    end_work(&work);
    for (int t = 0; t < 2; t++)
        tilemm__travel_end(&travels[t]);
    return status;
}
