/* stationary_x.c - the product where A (or, of the transposed product, B) stays: panels of the
 * other operand travel, each process multiplies its part by them, and what it gets are parts of the
 * sums of C's panels, which go to the processes that have these and are added there, in FP64, in
 * the order of the processes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "kept.h"
#include "multiply.h"
#include "stationary.h"
#include "redistribute.h"

static const char where[] = "psgemm";

enum { PARTS = 2 }; /* panels whose parts are on their way or being made */

typedef struct {
    tilemm_grid_t grid;
    tilemm__view_t z; /* where the host reaches it */
    int side;         /* of the grid along which parts go */
    int me, procs;    /* this process's place there, of how many */
    int64_t m, panel; /* this process's rows of C, columns of a panel */
    float beta;
    double *sums; /* of a column */
    struct {
        float *mine;   /* m x panel: this process's part */
        float *others; /* the other processes' parts of this process's columns */
        MPI_Request *requests;
        int count;
        double posted;
    } slots[PARTS];
    MPI_Datatype column;
} parts_t;

/* Columns of C's panel i: [*begin, *end). */
static void columns_of(const parts_t *parts, int64_t i, int64_t *begin, int64_t *end)
{
    *begin = i * parts->panel;
    *end = tilemm__min(*begin + parts->panel, parts->z.cols.n);
}

/* How many of them a process has. */
static int64_t columns_at(const parts_t *parts, int owner, int64_t begin, int64_t end)
{
    return tilemm__dist_before(&parts->z.cols, owner, end) -
           tilemm__dist_before(&parts->z.cols, owner, begin);
}

static tilemm_status_t begin_parts(parts_t *parts)
{
    tilemm_grid_t grid = parts->grid;
    const int64_t floats = parts->m * parts->panel;
    tilemm_status_t status = TILEMM_SUCCESS;
    parts->column = MPI_DATATYPE_NULL;
    if (parts->procs == 1 || parts->m == 0)
        return status;
    /* Of its columns of a panel, no more than it has in all. */
    const int64_t most = tilemm__min(parts->panel, tilemm__dist_count(&parts->z.cols, parts->me));
    parts->sums = malloc((size_t)parts->m * sizeof *parts->sums);
    for (int s = 0; s < PARTS && status == TILEMM_SUCCESS; s++) {
        status = tilemm__take(grid, TILEMM_MEMORY_PINNED, floats, &parts->slots[s].mine);
        if (status == TILEMM_SUCCESS)
            status = tilemm__take(grid, TILEMM_MEMORY_PINNED, parts->m * most * (parts->procs - 1),
                                  &parts->slots[s].others);
        parts->slots[s].requests =
            malloc((size_t)(2 * parts->procs) * sizeof *parts->slots[s].requests);
        if (!parts->slots[s].requests || !parts->sums)
            status = tilemm__found(grid, TILEMM_OUT_OF_MEMORY, "%s: no memory for parts", where);
    }
    if (status == TILEMM_SUCCESS &&
        (MPI_Type_contiguous((int)parts->m, MPI_FLOAT, &parts->column) ||
         MPI_Type_commit(&parts->column)))
        status = tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    return status;
}

static void end_parts(parts_t *parts)
{
    for (int s = 0; s < PARTS; s++) {
        tilemm__give_back(parts->grid, parts->slots[s].mine);
        tilemm__give_back(parts->grid, parts->slots[s].others);
        free(parts->slots[s].requests);
    }
    free(parts->sums);
    if (parts->column != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&parts->column);
}

static tilemm_status_t mpi_status(tilemm_grid_t grid, int error)
{
    return error ? tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where)
                 : TILEMM_SUCCESS;
}

/* Send this process's part of panel i, and begin to receive the others'. */
static tilemm_status_t post_parts(parts_t *parts, int64_t i)
{
    enum { TAGS = 32768 }; /* MPI has at least that many */
    MPI_Comm comm = parts->grid->across[parts->side];
    const int s = (int)(i % PARTS);
    int64_t begin, end;
    int error = 0;
    columns_of(parts, i, &begin, &end);
    const int64_t mine = columns_at(parts, parts->me, begin, end);
    float *to = parts->slots[s].others;
    parts->slots[s].count = 0;
    parts->slots[s].posted = MPI_Wtime();
    for (int p = 0; p < parts->procs && mine > 0 && !error; p++) {
        if (p == parts->me)
            continue;
        error = MPI_Irecv(to, (int)mine, parts->column, p, (int)(i % TAGS), comm,
                          &parts->slots[s].requests[parts->slots[s].count++]);
        to += mine * parts->m;
    }
    for (int p = 0; p < parts->procs && !error; p++) {
        MPI_Datatype type;
        int first, count, made;
        if (p == parts->me)
            continue;
        error = tilemm__owner_type(&parts->z.cols, p, begin, end, parts->column, &type, &first,
                                   &count, &made);
        if (!error && count > 0)
            error =
                MPI_Isend(parts->slots[s].mine + first * parts->m, count, type, p, (int)(i % TAGS),
                          comm, &parts->slots[s].requests[parts->slots[s].count++]);
        if (made)
            error |= MPI_Type_free(&type);
    }
    return mpi_status(parts->grid, error);
}

/* One column of C: `number` of this process's columns of the panel, `own` its own part. */
static void add_column(const parts_t *parts, int s, int64_t mine, int64_t number, const float *own,
                       float *to)
{
    const int64_t m = parts->m, rs = parts->z.rs;
    const float *others = parts->slots[s].others + number * m;
    double *const sums = parts->sums;
    for (int p = 0; p < parts->procs; p++) {
        const float *const part = p == parts->me ? own : others;
        for (int64_t r = 0; r < m; r++)
            sums[r] = p == 0 ? (double)part[r] : sums[r] + (double)part[r];
        others += p == parts->me ? 0 : mine * m;
    }
    if (parts->beta == 0.0f)
        for (int64_t r = 0; r < m; r++)
            to[r * rs] = (float)sums[r];
    else
        for (int64_t r = 0; r < m; r++)
            to[r * rs] = (float)(sums[r] + (double)parts->beta * (double)to[r * rs]);
}

/* Wait for the parts of panel i, and add them to C. */
static tilemm_status_t add_parts(parts_t *parts, int64_t i)
{
    const int s = (int)(i % PARTS);
    int64_t begin, end, number = 0;
    columns_of(parts, i, &begin, &end);
    const int64_t mine = columns_at(parts, parts->me, begin, end);
    const int error =
        MPI_Waitall(parts->slots[s].count, parts->slots[s].requests, MPI_STATUSES_IGNORE);
    tilemm__step(parts->grid, "reduce", parts->slots[s].posted,
                 (double)mine * (double)parts->m * (parts->procs - 1) * sizeof(float));
    for (int64_t at = begin, next; at < end && !error; at = next) {
        const tilemm__run_t run = tilemm__dist_run(&parts->z.cols, at, end);
        next = run.end;
        for (int64_t c = 0; run.owner == parts->me && c < run.end - at; c++)
            add_column(parts, s, mine, number++, parts->slots[s].mine + (at - begin + c) * parts->m,
                       parts->z.at + (run.local + c) * parts->z.cs);
    }
    return mpi_status(parts->grid, error);
}

/* Panel i of y is here: multiply. */
static tilemm_status_t multiply(parts_t *parts, const tilemm__product_t *product, int64_t i,
                                float alpha, const tilemm__panel_t *y, tilemm__travel_t *travel)
{
    const int me[2] = {parts->grid->row, parts->grid->col};
    const tilemm__panel_t x = {product->x.at, product->x.rs, product->x.cs};
    const int64_t k = tilemm__view_cols(&product->x, me);
    tilemm__travel_t *const polled[2] = {travel, travel};
    int64_t begin, end;
    columns_of(parts, i, &begin, &end);
    const int alone = parts->procs == 1;
    const tilemm__panel_t to = {alone ? parts->z.at + begin * parts->z.cs
                                      : parts->slots[i % PARTS].mine,
                                alone ? parts->z.rs : 1, alone ? parts->z.cs : parts->m};
    return tilemm__multiply(parts->grid, parts->m, end - begin, k, alpha, &x, y,
                            alone ? parts->beta : 0.0f, &to, polled);
}

/* Once something fails here, parts and panels still travel, for those who need them. */
static tilemm_status_t run(parts_t *parts, const tilemm__product_t *product,
                           tilemm__travel_t *travel, float alpha)
{
    const int64_t panels = tilemm__div_up(parts->z.cols.n, parts->panel);
    const int send = parts->procs > 1 && parts->m > 0;
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int64_t i = 1 - TILEMM__SLOTS; i <= panels; i++) {
        tilemm__panel_t y = {NULL, 1, 1};
        if (i >= 0 && i < panels)
            status = tilemm__first_of(status, tilemm__travel_wait(travel, i, &y));
        status = tilemm__first_of(status, tilemm__travel_post(travel, i + TILEMM__SLOTS - 1));
        if (i >= 0 && i < panels && parts->m > 0 && status == TILEMM_SUCCESS)
            status = multiply(parts, product, i, alpha, &y, travel);
        if (send && i >= 0 && i < panels)
            status = tilemm__first_of(status, post_parts(parts, i));
        if (send && i >= 1)
            status = tilemm__first_of(status, add_parts(parts, i - 1));
    }
    return status;
}

tilemm_status_t tilemm__run_stationary_x(tilemm_grid_t grid, const tilemm__product_t *product,
                                         int64_t panel, float alpha, float beta)
{
    const int me[2] = {grid->row, grid->col};
    const int side = !product->z.side;
    tilemm__travel_t travel = tilemm__travel_of(grid, &product->y, side == 0 ? "row" : "column");
    tilemm__travel_t *const one[1] = {&travel};
    panel = tilemm__min(panel, product->z.cols.n);
    parts_t parts = {.grid = grid,
                     .side = side,
                     .me = me[side],
                     .procs = product->z.cols.procs,
                     .m = tilemm__view_rows(&product->z, me),
                     .panel = panel,
                     .beta = beta,
                     .column = MPI_DATATYPE_NULL};
    (void)tilemm__travel_share(one, 1);
    tilemm_status_t status = tilemm__stage(grid, &product->z, beta == 0.0f, &parts.z);
    status = tilemm__first_of(status, tilemm__travel_begin(&travel, panel));
    if (status == TILEMM_SUCCESS)
        status = begin_parts(&parts);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS) {
        status = run(&parts, product, &travel, alpha);
        const tilemm_status_t put =
            tilemm__unstage(grid, &product->z, status == TILEMM_SUCCESS, &parts.z);
        status = tilemm__first_of(tilemm__first_of(status, put), tilemm__travel_leave(one, 1));
        status = tilemm__agree(grid, where, status, NULL);
    }
    (void)tilemm__unstage(grid, &product->z, 0, &parts.z);
    end_parts(&parts);
    tilemm__travel_end(&travel);
    return status;
}
