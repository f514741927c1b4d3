/* psreduce.c - the reduction of a distributed sub-matrix.
 *
 * Extremes are found where the elements are. Sums have a canonical order (kernels/reduce/layout.h),
 * here of the elements in column-major order: each process gets a run of consecutive ones that
 * begins at a multiple of GROUP, the elements of 32 tiles, and adds up each group; all processes
 * get the groups' sums, and fold them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernels/reduce/ops.h"
#include "redistribute.h"

static const char where[] = "psreduce";

enum { LANES = TILEMM__TILE_LANES, TILE = TILEMM__TILE_ELEMS, GROUP = LANES * TILE };

typedef struct {
    tilemm_grid_t grid;
    int op, nan_ignore;
    tilemm__view_t a; /* where the host reaches it */
    int64_t total;    /* elements of the sub-matrix */
    int64_t run;      /* of a process's run, a multiple of GROUP; the last ones are shorter */
    int procs;
    float *out, *in;          /* elements that go and come, by process */
    int64_t *sent, *received; /* how many, of each process */
    const float **at;         /* the next one of each process */
    MPI_Request *requests;
    tilemm__sum_t *groups; /* of all of the sub-matrix */
    int *counts, *places;  /* of each process, in groups */
} sum_t;

/* ---- the canonical order ------------------------------------------------------------------- */

/* Elements come in order; sums of groups leave. */
typedef struct {
    int op, nan_ignore;
    int elements; /* in tile */
    int tiles;    /* in sums */
    int64_t counted;
    float tile[TILE];
    tilemm__sum_t sums[LANES];
    tilemm__sum_t *groups; /* the next one */
} adder_t;

static tilemm__sum_t tile_sum(adder_t *x)
{
    double sum[LANES] = {0}, lost[LANES] = {0};
    tilemm__sum_t lanes[LANES];
    memset(x->tile + x->elements, 0, (size_t)(TILE - x->elements) * sizeof(float));
    for (int e = 0; e < TILE; e += LANES)
        for (int l = 0; l < LANES; l++) {
            const double term = tilemm__sum_term(x->op, x->nan_ignore, x->tile[e + l], 0.0f);
            const double next = sum[l] + term;
            lost[l] += tilemm__sum_error(sum[l], term, next);
            sum[l] = next;
        }
    for (int l = 0; l < LANES; l++)
        lanes[l] = (tilemm__sum_t){sum[l], lost[l]};
    return tilemm__fold_lanes(lanes, LANES);
}

static void end_group(adder_t *x)
{
    if (x->tiles > 0)
        *x->groups++ = tilemm__fold_lanes(x->sums, x->tiles);
    x->tiles = 0;
}

static void end_tile(adder_t *x)
{
    for (int e = 0; e < x->elements; e++)
        x->counted += x->tile[e] == x->tile[e];
    if (x->elements > 0)
        x->sums[x->tiles++] = tile_sum(x);
    x->elements = 0;
    if (x->tiles == LANES)
        end_group(x);
}

static void add(adder_t *x, const float *elements, int64_t count)
{
    while (count > 0) {
        const int some = (int)tilemm__min(count, TILE - x->elements);
        memcpy(x->tile + x->elements, elements, (size_t)some * sizeof(float));
        x->elements += some;
        elements += some;
        count -= some;
        if (x->elements == TILE)
            end_tile(x);
    }
}

/* ---- elements to their runs ---------------------------------------------------------------- */

/* This process's elements, in column-major order, which is that of the processes they go to. */
static void pack(sum_t *x)
{
    tilemm_grid_t grid = x->grid;
    const tilemm__view_t *const a = &x->a;
    float *to = x->out;
    for (int64_t j = 0, next_j; j < a->cols.n; j = next_j) {
        const tilemm__run_t col = tilemm__dist_run(&a->cols, j, a->cols.n);
        next_j = col.end;
        for (int64_t c = j; c < next_j && col.owner == grid->col; c++)
            for (int64_t i = 0, next_i; i < a->rows.n; i = next_i) {
                const tilemm__run_t row = tilemm__dist_run(&a->rows, i, a->rows.n);
                /* Up to the end of the run that element (i, c) is in. */
                const int64_t element = i + c * a->rows.n, rank = element / x->run;
                next_i = tilemm__min(row.end, i + (rank + 1) * x->run - element);
                if (row.owner != grid->row)
                    continue;
                memcpy(to, a->at + row.local + (col.local + c - j) * a->cs,
                       (size_t)(next_i - i) * sizeof(float));
                to += next_i - i;
                x->sent[rank] += next_i - i;
            }
    }
}

/* Go through this process's run: count what comes from each process, or add it up. */
static void walk(sum_t *x, adder_t *adder)
{
    const tilemm__view_t *const a = &x->a;
    const int64_t begin = tilemm__min(x->total, x->grid->rank * x->run);
    const int64_t end = tilemm__min(x->total, begin + x->run), m = a->rows.n;
    for (int64_t e = begin, next; e < end; e = next) {
        const int64_t i = e % m, j = e / m;
        const tilemm__run_t row = tilemm__dist_run(&a->rows, i, tilemm__min(m, i + end - e));
        const int rank = row.owner * x->grid->cols + tilemm__dist_owner(&a->cols, j);
        next = e + row.end - i;
        if (adder) {
            add(adder, x->at[rank], next - e);
            x->at[rank] += next - e;
        } else {
            x->received[rank] += next - e;
        }
    }
}

static int exchange(sum_t *x)
{
    tilemm_grid_t grid = x->grid;
    int used = 0, error = 0;
    float *to = x->in, *from = x->out;
    for (int rank = 0; rank < x->procs && !error; rank++) {
        x->at[rank] = to;
        if (rank != grid->rank)
            error = tilemm__post(grid, 0, to, x->received[rank], rank, x->requests, &used);
        to += x->received[rank];
    }
    for (int rank = 0; rank < x->procs && !error; rank++) {
        if (rank != grid->rank)
            error = tilemm__post(grid, 1, from, x->sent[rank], rank, x->requests, &used);
        else
            x->at[rank] = from;
        from += x->sent[rank];
    }
    if (used)
        error |= MPI_Waitall(used, x->requests, MPI_STATUSES_IGNORE);
    return error;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static int64_t group_count(const sum_t *x)
{
    return tilemm__div_up(x->total, GROUP);
}

static tilemm_status_t begin_sum(sum_t *x)
{
    const int me[2] = {x->grid->row, x->grid->col};
    const size_t procs = (size_t)x->procs;
    const int64_t mine = tilemm__view_rows(&x->a, me) * tilemm__view_cols(&x->a, me);
    x->sent = calloc(procs, sizeof *x->sent);
    x->received = calloc(procs, sizeof *x->received);
    x->at = malloc(procs * sizeof *x->at);
    x->counts = malloc(procs * sizeof *x->counts);
    x->places = malloc(procs * sizeof *x->places);
    x->out = malloc((size_t)(mine + 1) * sizeof(float));
    x->in = malloc((size_t)(x->run + 1) * sizeof(float));
    x->groups = malloc((size_t)(group_count(x) + 1) * sizeof *x->groups);
    x->requests = malloc(
        (size_t)(tilemm__most_messages(x->grid, mine) + tilemm__most_messages(x->grid, x->run)) *
        sizeof *x->requests);
    if (!x->sent || !x->received || !x->at || !x->counts || !x->places || !x->out || !x->in ||
        !x->groups || !x->requests)
        return tilemm__found(x->grid, TILEMM_OUT_OF_MEMORY, "%s: no memory for elements", where);
    return TILEMM_SUCCESS;
}

static void end_sum(sum_t *x)
{
    free(x->sent);
    free(x->received);
    free(x->at);
    free(x->counts);
    free(x->places);
    free(x->out);
    free(x->in);
    free(x->groups);
    free(x->requests);
}

/* All processes get all groups' sums. */
static int share_groups(sum_t *x)
{
    MPI_Datatype number;
    int place = 0;
    for (int rank = 0; rank < x->procs; rank++) {
        const int64_t begin = tilemm__min(x->total, rank * x->run);
        const int64_t end = tilemm__min(x->total, begin + x->run);
        x->places[rank] = place;
        x->counts[rank] = (int)tilemm__div_up(end - begin, GROUP);
        place += x->counts[rank];
    }
    int error = MPI_Type_contiguous(2, MPI_DOUBLE, &number);
    if (error)
        return error;
    error = MPI_Type_commit(&number);
    if (!error)
        error = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x->groups, x->counts, x->places,
                               number, x->grid->all);
    return error | MPI_Type_free(&number);
}

static tilemm__sum_t fold_groups(sum_t *x)
{
    int64_t count = group_count(x);
    if (count == 0)
        return (tilemm__sum_t){0, 0};
    while (count > 1) {
        for (int64_t g = 0; g < count; g += LANES)
            x->groups[g / LANES] =
                tilemm__fold_lanes(x->groups + g, (int)tilemm__min(LANES, count - g));
        count = tilemm__fold_count(count);
    }
    return x->groups[0];
}

static tilemm_status_t sum(sum_t *x, float *result)
{
    adder_t adder = {.op = x->op, .nan_ignore = x->nan_ignore};
    pack(x);
    walk(x, NULL);
    int error = exchange(x);
    adder.groups = x->groups + tilemm__min(x->total, x->grid->rank * x->run) / GROUP;
    if (!error) {
        walk(x, &adder);
        end_tile(&adder);
        end_group(&adder);
        error = share_groups(x);
    }
    int64_t counted = adder.counted;
    if (!error && tilemm__sum_is_counted(x->op, x->nan_ignore))
        error = MPI_Allreduce(MPI_IN_PLACE, &counted, 1, MPI_INT64_T, MPI_SUM, x->grid->all);
    else
        counted = x->total;
    if (error)
        return tilemm__found(x->grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    *result = tilemm__sum_result(x->op, fold_groups(x), counted);
    return TILEMM_SUCCESS;
}

static tilemm_status_t reduce_sum(tilemm_grid_t grid, const tilemm__view_t *a, tilemm_reduce_t op,
                                  tilemm_nan_t policy, float *result)
{
    const int64_t total = a->rows.n * a->cols.n;
    const int procs = grid->rows * grid->cols;
    sum_t x = {.grid = grid,
               .op = (int)op,
               .nan_ignore = policy == TILEMM_NAN_IGNORE,
               .total = total,
               .run = tilemm__max(1, tilemm__div_up(tilemm__div_up(total, GROUP), procs)) * GROUP,
               .procs = procs};
    tilemm_status_t status = tilemm__stage(grid, a, 0, &x.a);
    if (status == TILEMM_SUCCESS)
        status = begin_sum(&x);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS)
        status = tilemm__agree(grid, where, sum(&x, result), NULL);
    end_sum(&x);
    (void)tilemm__unstage(grid, a, 0, &x.a);
    return status;
}

/* ---- extremes ------------------------------------------------------------------------------ */

/* Of a vector in host memory; its reduction of no elements if count is 0. */
static tilemm_status_t reduce_vector(tilemm_grid_t grid, tilemm_reduce_t op, int64_t count,
                                     const float *x, float *result)
{
    return tilemm__passed(grid, tilemm_sreduce(grid->ctx, op, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR,
                                               count, 1, x, tilemm__max(count, 1), result, 1));
}

/* Each column's, and then theirs. */
static tilemm_status_t reduce_part(tilemm_grid_t grid, const tilemm__view_t *a, tilemm_reduce_t op,
                                   float *results, float *result)
{
    const int me[2] = {grid->row, grid->col};
    const int64_t m = tilemm__view_rows(a, me), n = m > 0 ? tilemm__view_cols(a, me) : 0;
    tilemm_status_t status = TILEMM_SUCCESS;
    if (n > 0)
        status =
            tilemm__passed(grid, tilemm_sreduce(grid->ctx, op, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR,
                                                m, n, a->at, a->cs, results, 1));
    return status == TILEMM_SUCCESS ? reduce_vector(grid, op, n, results, result) : status;
}

static tilemm_status_t reduce_extreme(tilemm_grid_t grid, const tilemm__view_t *a,
                                      tilemm_reduce_t op, float *result)
{
    const int me[2] = {grid->row, grid->col};
    const int procs = grid->rows * grid->cols;
    const int64_t most = tilemm__max(procs, tilemm__view_cols(a, me));
    float *const results = malloc((size_t)most * sizeof *results);
    float mine = 0;
    tilemm_status_t status =
        results ? reduce_part(grid, a, op, results, &mine)
                : tilemm__found(grid, TILEMM_OUT_OF_MEMORY, "%s: no memory for columns", where);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS) {
        status = MPI_Allgather(&mine, 1, MPI_FLOAT, results, 1, MPI_FLOAT, grid->all)
                     ? tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where)
                     : reduce_vector(grid, op, procs, results, result);
        status = tilemm__agree(grid, where, status, NULL);
    }
    free(results);
    return status;
}

tilemm_status_t tilemm_psreduce(tilemm_grid_t grid, tilemm_reduce_t op, int64_t m, int64_t n,
                                const float *a, int64_t ia, int64_t ja, const int *desca,
                                float *result)
{
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    if (grid->row < 0)
        return TILEMM_SUCCESS;
    const tilemm__submatrix_t matrix = {"a", ia, ja, desca, m, n};
    tilemm__arguments_t arguments = {.count = 0};
    tilemm_nan_t policy = TILEMM_NAN_PROPAGATE;
    tilemm__view_t view;
    (void)tilemm_get_nan_policy(grid->ctx, &policy);
    tilemm__add_argument(&arguments, "op", op);
    tilemm__add_argument(&arguments, "m", m);
    tilemm__add_argument(&arguments, "n", n);
    tilemm__add_argument(&arguments, "ia", ia);
    tilemm__add_argument(&arguments, "ja", ja);
    tilemm__add_descriptor(&arguments, "desca", desca);
    tilemm__add_argument(&arguments, "the context's NaN policy", policy);
    tilemm_status_t status = TILEMM_INVALID_ARGUMENT;
    if ((int)op < TILEMM_SUM || op > TILEMM_AMIN)
        (void)tilemm__found(grid, status, "%s: op = %d, must be from TILEMM_SUM to TILEMM_AMIN",
                            where, (int)op);
    else if (!result || (uintptr_t)result % sizeof(float) != 0)
        (void)tilemm__found(grid, status, "%s: result = %p, must be a valid pointer", where,
                            (void *)result);
    else if (tilemm__check_size(grid, where, "m", m) && tilemm__check_size(grid, where, "n", n) &&
             tilemm__check_matrix(grid, where, &matrix, a, &view))
        status = TILEMM_SUCCESS;
    status = tilemm__agree(grid, where, status, &arguments);
    if (status != TILEMM_SUCCESS)
        return status;
    return op >= TILEMM_MAX ? reduce_extreme(grid, &view, op, result)
                            : reduce_sum(grid, &view, op, policy, result);
}
