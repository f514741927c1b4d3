/* nccl.c - see nccl.h. The prototypes are those of NCCL 2, of which no header is needed to build.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "nccl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

enum { NCCL_FLOAT = 7 };

typedef struct {
    char bytes[128];
} unique_id_t;

struct tilemm__nccl {
    tilemm_grid_t grid;
    tilemm__lane_t lane;
    void *comms[2]; /* along each side of the grid */

    int (*get_unique_id)(unique_id_t *);
    int (*comm_init_rank)(void **comm, int ranks, unique_id_t id, int rank);
    int (*comm_destroy)(void *comm);
    int (*broadcast)(const void *from, void *to, size_t count, int type, int root, void *comm,
                     void *stream);
    int (*group_start)(void), (*group_end)(void);
};

/* ---- libraries ----------------------------------------------------------------------------- */

/* NCCL leaves threads behind: its library stays loaded. */
static int load(tilemm__nccl_t *x)
{
    void *const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    return nccl && tilemm__find_function(nccl, "ncclGetUniqueId", &x->get_unique_id) &&
           tilemm__find_function(nccl, "ncclCommInitRank", &x->comm_init_rank) &&
           tilemm__find_function(nccl, "ncclCommDestroy", &x->comm_destroy) &&
           tilemm__find_function(nccl, "ncclBroadcast", &x->broadcast) &&
           tilemm__find_function(nccl, "ncclGroupStart", &x->group_start) &&
           tilemm__find_function(nccl, "ncclGroupEnd", &x->group_end);
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* Collective: whether all processes can. */
static int all_can(tilemm_grid_t grid, int can)
{
    return !MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->all) && can;
}

/* Collective. Two processes on one GPU are refused on all of the side. */
static int open_side(tilemm__nccl_t *x, int side)
{
    const tilemm_grid_t grid = x->grid;
    const int procs = side == 0 ? grid->rows : grid->cols;
    const int me = side == 0 ? grid->row : grid->col;
    unique_id_t id;
    memset(&id, 0, sizeof id);
    int can = procs == 1 || me != 0 || !x->get_unique_id(&id);
    if (MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, grid->across[side]))
        can = 0;
    if (!all_can(grid, can))
        return -1;
    int error = 0;
    if (procs > 1) {
        error = tilemm__driver_enter(&x->lane.driver);
        if (!error)
            error = tilemm__driver_leave(&x->lane.driver,
                                         x->comm_init_rank(&x->comms[side], procs, id, me));
    }
    return all_can(grid, !error) ? 0 : -1;
}

void tilemm__nccl_close(tilemm__nccl_t *x)
{
    if (!x)
        return;
    for (int side = 0; side < 2; side++)
        if (x->comms[side] && !tilemm__driver_enter(&x->lane.driver)) {
            (void)x->comm_destroy(x->comms[side]);
            (void)tilemm__driver_leave(&x->lane.driver, 0);
        }
    tilemm__lane_close(&x->lane);
    free(x);
}

tilemm__nccl_t *tilemm__nccl_open(tilemm_grid_t grid)
{
    const char *const wanted = getenv("TILEMM_MPI_NCCL");
    tilemm__nccl_t *const x = calloc(1, sizeof *x);
    int can = 0;
    if (x) {
        x->grid = grid;
        can =
            !(wanted && !strcmp(wanted, "0")) && load(x) && !tilemm__lane_open(&x->lane, grid->ctx);
    }
    if (all_can(grid, can) && !open_side(x, 0) && !open_side(x, 1))
        return x;
    tilemm__nccl_close(x);
    return NULL;
}

/* ---- broadcasts ---------------------------------------------------------------------------- */

int tilemm__nccl_begin(tilemm__nccl_t *x)
{
    return tilemm__lane_begin(&x->lane) | x->group_start();
}

int tilemm__nccl_broadcast(tilemm__nccl_t *x, int side, float *device, int64_t count, int root)
{
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    error = x->broadcast(device, device, (size_t)count, NCCL_FLOAT, root, x->comms[side],
                         x->lane.stream);
    return tilemm__driver_leave(&x->lane.driver, error);
}

int tilemm__nccl_end(tilemm__nccl_t *x, int event)
{
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    error = tilemm__driver_leave(&x->lane.driver, x->group_end());
    return error ? error : tilemm__lane_end(&x->lane, event);
}

int tilemm__nccl_wait(tilemm__nccl_t *x, int event)
{
    return tilemm__lane_wait(&x->lane, event);
}
