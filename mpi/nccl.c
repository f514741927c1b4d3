/* nccl.c - see nccl.h. The prototypes are those of NCCL 2 and of CUDA's driver, of which no header
 * is needed to build.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "nccl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NCCL_FLOAT = 7, STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2 };

typedef struct {
    char bytes[128];
} unique_id_t;

struct tilemm__nccl {
    tilemm_grid_t grid;
    void *libraries[2];
    void *comms[2]; /* along each side of the grid */
    void *context, *stream, *events[TILEMM__NCCL_EVENTS];
    int device; /* CUdevice */
    int retained;

    int (*get_unique_id)(unique_id_t *);
    int (*comm_init_rank)(void **comm, int ranks, unique_id_t id, int rank);
    int (*comm_destroy)(void *comm);
    int (*broadcast)(const void *from, void *to, size_t count, int type, int root, void *comm,
                     void *stream);
    int (*group_start)(void), (*group_end)(void);

    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
};

/* ---- libraries ----------------------------------------------------------------------------- */

/* A library's function into *pointer, which is one to a function. */
static int find(void *library, const char *name, void *pointer)
{
    void *const symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int load(tilemm__nccl_t *x)
{
    void *const nccl = x->libraries[0] = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    void *const cuda = x->libraries[1] = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return nccl && cuda && find(nccl, "ncclGetUniqueId", &x->get_unique_id) &&
           find(nccl, "ncclCommInitRank", &x->comm_init_rank) &&
           find(nccl, "ncclCommDestroy", &x->comm_destroy) &&
           find(nccl, "ncclBroadcast", &x->broadcast) &&
           find(nccl, "ncclGroupStart", &x->group_start) &&
           find(nccl, "ncclGroupEnd", &x->group_end) && find(cuda, "cuInit", &x->init) &&
           find(cuda, "cuDeviceGet", &x->device_get) &&
           find(cuda, "cuDevicePrimaryCtxRetain", &x->retain) &&
           find(cuda, "cuDevicePrimaryCtxRelease_v2", &x->release) &&
           find(cuda, "cuCtxPushCurrent_v2", &x->push) &&
           find(cuda, "cuCtxPopCurrent_v2", &x->pop) &&
           find(cuda, "cuStreamCreate", &x->stream_create) &&
           find(cuda, "cuStreamDestroy_v2", &x->stream_destroy) &&
           find(cuda, "cuEventCreate", &x->event_create) &&
           find(cuda, "cuEventDestroy_v2", &x->event_destroy) &&
           find(cuda, "cuEventRecord", &x->event_record) &&
           find(cuda, "cuStreamWaitEvent", &x->stream_wait);
}

/* ---- the GPU ------------------------------------------------------------------------------- */

/* The device of the context, as libtilemm uses it: its primary context. */
static int enter(tilemm__nccl_t *x)
{
    return x->push(x->context);
}

static int leave(tilemm__nccl_t *x, int error)
{
    void *context;
    return x->pop(&context) | error;
}

static int open_device(tilemm__nccl_t *x)
{
    int ordinal = -1;
    if (tilemm_get_device(x->grid->ctx, &ordinal) != TILEMM_SUCCESS || x->init(0) ||
        x->device_get(&x->device, ordinal) || x->retain(&x->context, x->device))
        return -1;
    x->retained = 1;
    int error = enter(x);
    if (error)
        return error;
    error = x->stream_create(&x->stream, STREAM_NON_BLOCKING);
    for (int i = 0; i < TILEMM__NCCL_EVENTS && !error; i++)
        error = x->event_create(&x->events[i], EVENT_DISABLE_TIMING);
    return leave(x, error);
}

static void *stream_of(const tilemm__nccl_t *x)
{
    void *stream = NULL;
    (void)tilemm_get_stream(x->grid->ctx, &stream);
    return stream;
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
        error = enter(x);
        if (!error)
            error = leave(x, x->comm_init_rank(&x->comms[side], procs, id, me));
    }
    return all_can(grid, !error) ? 0 : -1;
}

void tilemm__nccl_close(tilemm__nccl_t *x)
{
    if (!x)
        return;
    if (x->retained && !enter(x)) {
        for (int side = 0; side < 2; side++)
            if (x->comms[side])
                (void)x->comm_destroy(x->comms[side]);
        for (int i = 0; i < TILEMM__NCCL_EVENTS; i++)
            if (x->events[i])
                (void)x->event_destroy(x->events[i]);
        if (x->stream)
            (void)x->stream_destroy(x->stream);
        (void)leave(x, 0);
        (void)x->release(x->device);
    }
    /* NCCL leaves threads behind: its library stays loaded. */
    if (x->libraries[1])
        (void)dlclose(x->libraries[1]);
    free(x);
}

tilemm__nccl_t *tilemm__nccl_open(tilemm_grid_t grid)
{
    const char *const wanted = getenv("TILEMM_MPI_NCCL");
    tilemm__nccl_t *const x = calloc(1, sizeof *x);
    int can = 0;
    if (x) {
        x->grid = grid;
        can = grid->cuda && !(wanted && !strcmp(wanted, "0")) && load(x) && !open_device(x);
    }
    if (all_can(grid, can) && !open_side(x, 0) && !open_side(x, 1))
        return x;
    tilemm__nccl_close(x);
    return NULL;
}

/* ---- broadcasts ---------------------------------------------------------------------------- */

int tilemm__nccl_begin(tilemm__nccl_t *x)
{
    void *const ready = x->events[TILEMM__NCCL_EVENTS - 1];
    int error = enter(x);
    if (error)
        return error;
    error = x->event_record(ready, stream_of(x));
    if (!error)
        error = x->stream_wait(x->stream, ready, 0);
    return leave(x, error) | x->group_start();
}

int tilemm__nccl_broadcast(tilemm__nccl_t *x, int side, float *device, int64_t count, int root)
{
    int error = enter(x);
    if (error)
        return error;
    error =
        x->broadcast(device, device, (size_t)count, NCCL_FLOAT, root, x->comms[side], x->stream);
    return leave(x, error);
}

int tilemm__nccl_end(tilemm__nccl_t *x, int event)
{
    int error = enter(x);
    if (error)
        return error;
    error = x->group_end();
    if (!error)
        error = x->event_record(x->events[event], x->stream);
    return leave(x, error);
}

int tilemm__nccl_wait(tilemm__nccl_t *x, int event)
{
    int error = enter(x);
    if (error)
        return error;
    return leave(x, x->stream_wait(stream_of(x), x->events[event], 0));
}
