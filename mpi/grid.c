/* grid.c - create and destroy grids, make descriptors.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "grid.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "distribution.h"
#include "ipc.h"
#include "kept.h"
#include "nccl.h"

void tilemm__step(tilemm_grid_t grid, const char *name, double begin, double work)
{
    if (grid->step)
        grid->step(name, begin, MPI_Wtime(), work, grid->user);
}

/* Open MPI and others say so by this function, which not all of them have. */
static int takes_device_memory(void)
{
    int (*query)(void) = NULL;
    void *const symbol = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    memcpy(&query, &symbol, sizeof query);
    return query && query() == 1;
}

/* The grid's communicators, of comm's first rows * cols processes. 0 or an error of MPI. */
static int split(tilemm_grid_t grid, MPI_Comm comm, int rank)
{
    const int inside = rank < grid->rows * grid->cols;
    int error = MPI_Comm_split(comm, inside ? 0 : MPI_UNDEFINED, rank, &grid->all);
    if (error || !inside)
        return error;
    const char *const check = getenv("TILEMM_MPI_CHECK");
    grid->check = check && !strcmp(check, "1");
    const char *const log = getenv("TILEMM_MPI_LOG");
    grid->log = rank == 0 && log && !strcmp(log, "1");
    const char *const panel = getenv("TILEMM_MPI_PANEL");
    grid->panel = panel && atoi(panel) > 0 ? atoi(panel) : 0;
    grid->rank = rank;
    grid->row = rank / grid->cols;
    grid->col = rank % grid->cols;
    /* Errors come back as statuses. */
    error = MPI_Comm_set_errhandler(grid->all, MPI_ERRORS_RETURN);
    /* All processes compare, or none. */
    if (!error)
        error = MPI_Allreduce(MPI_IN_PLACE, &grid->check, 1, MPI_INT, MPI_MAX, grid->all);
    if (!error)
        error = MPI_Bcast(&grid->panel, 1, MPI_INT, 0, grid->all);
    if (!error)
        error = MPI_Comm_split(grid->all, grid->col, grid->row, &grid->across[0]);
    if (!error)
        error = MPI_Comm_split(grid->all, grid->row, grid->col, &grid->across[1]);
    /* Contexts may differ: all try, or none. */
    int cuda = grid->cuda;
    if (!error)
        error = MPI_Allreduce(MPI_IN_PLACE, &cuda, 1, MPI_INT, MPI_MIN, grid->all);
    if (!error && cuda)
        grid->ipc = tilemm__ipc_open(grid);
    if (!error && cuda && !grid->ipc)
        grid->copies = tilemm__copies_open(grid);
    if (!error && cuda && !grid->ipc && !grid->copies)
        grid->nccl = tilemm__nccl_open(grid);
    return error;
}

static int release(tilemm_grid_t grid)
{
    int error = 0;
    tilemm__free_kept(grid);
    tilemm__nccl_close(grid->nccl);
    tilemm__copies_close(grid->copies);
    tilemm__ipc_close(grid->ipc);
    MPI_Comm *const comms[] = {&grid->across[0], &grid->across[1], &grid->all};
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++)
        if (*comms[i] != MPI_COMM_NULL)
            error |= MPI_Comm_free(comms[i]);
    free(grid);
    return error;
}

/* What is wrong with the arguments on this process, or NULL. Of comm's size only if it is known. */
static const char *refuse_grid(int rows, int cols, tilemm_t ctx, int size, char *text, size_t room)
{
    if (!ctx)
        return "grid_create: ctx = NULL, must be a valid context";
    if (rows < 1 || cols < 1) {
        snprintf(text, room, "grid_create: %s = %d, must be at least 1", rows < 1 ? "rows" : "cols",
                 rows < 1 ? rows : cols);
        return text;
    }
    if ((int64_t)rows * cols > size) {
        snprintf(text, room,
                 "grid_create: rows = %d with cols = %d, must be at most %d processes together",
                 rows, cols, size);
        return text;
    }
    return NULL;
}

/* Whether rows and cols are the same on all processes and none has found an error, which no message
 * of another process explains here: there may be no context. */
static int all_agree(MPI_Comm comm, int rows, int cols, int bad, int *differ)
{
    int mine[5] = {bad ? -1 : 0, rows, -rows, cols, -cols}, least[5];
    if (MPI_Allreduce(mine, least, 5, MPI_INT, MPI_MIN, comm))
        return 0;
    *differ = least[1] != -least[2] || least[3] != -least[4];
    return least[0] == 0 && !*differ;
}

tilemm_status_t tilemm_grid_create(tilemm_grid_t *out, MPI_Comm comm, int rows, int cols,
                                   tilemm_t ctx)
{
    int ready = 0, ended = 0, size = 0, rank = 0, differ = 0;
    char text[TILEMM__MESSAGE_BYTES];
    if (out)
        *out = NULL;
    MPI_Initialized(&ready);
    MPI_Finalized(&ended);
    if (!ready || ended || comm == MPI_COMM_NULL)
        return ctx ? tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT, "grid_create: %s",
                                  ready && !ended ? "comm = MPI_COMM_NULL, must be a communicator"
                                                  : "MPI is not initialised")
                   : TILEMM_INVALID_ARGUMENT;
    if (MPI_Comm_size(comm, &size) || MPI_Comm_rank(comm, &rank))
        return tilemm__fail(ctx, TILEMM_INTERNAL_ERROR, "grid_create: MPI failed");
    const char *wrong = refuse_grid(rows, cols, ctx, size, text, sizeof text);
    if (!out)
        wrong = "grid_create: grid = NULL, must be a valid pointer";
    tilemm_grid_t grid = wrong ? NULL : calloc(1, sizeof *grid);
    if (!all_agree(comm, rows, cols, !grid, &differ)) {
        free(grid);
        if (!ctx)
            return TILEMM_INVALID_ARGUMENT;
        if (!wrong && !grid)
            return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "grid_create: out of memory");
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT, "%s",
                            wrong    ? wrong
                            : differ ? "grid_create: rows or cols differ between processes"
                                     : "grid_create: another process was called with an argument "
                                       "that is not valid, or ran out of memory");
    }
    *grid = (struct tilemm_grid){.ctx = ctx,
                                 .rows = rows,
                                 .cols = cols,
                                 .row = -1,
                                 .col = -1,
                                 .rank = -1,
                                 .all = MPI_COMM_NULL,
                                 .across = {MPI_COMM_NULL, MPI_COMM_NULL}};
    tilemm_backend_t backend = TILEMM_BACKEND_CPU;
    (void)tilemm_get_backend(ctx, &backend);
    grid->cuda = backend == TILEMM_BACKEND_CUDA;
    grid->device_mpi = grid->cuda && takes_device_memory();
    if (split(grid, comm, rank)) {
        (void)release(grid);
        return tilemm__fail(ctx, TILEMM_INTERNAL_ERROR, "grid_create: MPI failed");
    }
    *out = grid;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_grid_destroy(tilemm_grid_t grid)
{
    if (!grid)
        return TILEMM_SUCCESS;
    const tilemm_t ctx = grid->ctx;
    return release(grid) ? tilemm__fail(ctx, TILEMM_INTERNAL_ERROR, "grid_destroy: MPI failed")
                         : TILEMM_SUCCESS;
}

tilemm_status_t tilemm_grid_get(tilemm_grid_t grid, int *rows, int *cols, int *row, int *col)
{
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    if (rows)
        *rows = grid->rows;
    if (cols)
        *cols = grid->cols;
    if (row)
        *row = grid->row;
    if (col)
        *col = grid->col;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_grid_set_step(tilemm_grid_t grid, tilemm_grid_step_t step, void *user)
{
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    grid->step = step;
    grid->user = user;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_grid_descriptor(tilemm_grid_t grid, int64_t m, int64_t n, int mb, int nb,
                                       int desc[9], int64_t *local_rows, int64_t *local_cols)
{
    if (!grid)
        return TILEMM_INVALID_ARGUMENT;
    const struct {
        const char *name;
        int64_t value, least;
    } sizes[] = {{"m", m, 0}, {"n", n, 0}, {"mb", mb, 1}, {"nb", nb, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < sizes[i].least || sizes[i].value > INT_MAX)
            return tilemm__fail(grid->ctx, TILEMM_INVALID_ARGUMENT,
                                "grid_descriptor: %s = %lld, must be from %d to %d", sizes[i].name,
                                (long long)sizes[i].value, (int)sizes[i].least, INT_MAX);
    if (!desc)
        return tilemm__fail(grid->ctx, TILEMM_INVALID_ARGUMENT,
                            "grid_descriptor: desc = NULL, must be a valid pointer");
    const tilemm__dist_t down = {m, mb, mb, grid->rows, 0}, along = {n, nb, nb, grid->cols, 0};
    const int64_t rows = grid->row < 0 ? 0 : tilemm__dist_count(&down, grid->row);
    const int64_t cols = grid->col < 0 ? 0 : tilemm__dist_count(&along, grid->col);
    const int values[9] = {1, 0, (int)m, (int)n, mb, nb, 0, 0, (int)(rows > 1 ? rows : 1)};
    memcpy(desc, values, sizeof values);
    if (local_rows)
        *local_rows = rows;
    if (local_cols)
        *local_cols = cols;
    return TILEMM_SUCCESS;
}
