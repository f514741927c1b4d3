/* ipc.c - see ipc.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "ipc.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { LAZY_ENABLE_PEER_ACCESS = 1 };

typedef struct {
    char bytes[64];
} handle_t; /* CUipcMemHandle */

/* What a process tells the others of its part. */
typedef struct {
    handle_t handle; /* of the allocation that it lies in */
    uint64_t offset; /* in bytes */
    int64_t rs, cs;
    enum { UNREADABLE, EMPTY, READABLE } state;
} card_t;

struct tilemm__ipc {
    tilemm__driver_t driver;
    card_t *cards; /* of the longer side of the grid */
    int (*get_range)(uint64_t *base, size_t *bytes, uint64_t address);
    int (*get_handle)(handle_t *handle, uint64_t address);
    int (*open_handle)(uint64_t *address, handle_t handle, unsigned flags);
    int (*close_handle)(uint64_t address);
};

static int procs_along(tilemm_grid_t grid, int side)
{
    return side == 0 ? grid->rows : grid->cols;
}

static int load(tilemm__ipc_t *x, char uuid[16])
{
    int (*get_uuid)(char *uuid, int device);
    void *const cuda = x->driver.library;
    return tilemm__find_function(cuda, "cuMemGetAddressRange_v2", &x->get_range) &&
           tilemm__find_function(cuda, "cuIpcGetMemHandle", &x->get_handle) &&
           tilemm__find_function(cuda, "cuIpcOpenMemHandle_v2", &x->open_handle) &&
           tilemm__find_function(cuda, "cuIpcCloseMemHandle", &x->close_handle) &&
           tilemm__find_function(cuda, "cuDeviceGetUuid_v2", &get_uuid) &&
           !get_uuid(uuid, x->driver.device);
}

void tilemm__ipc_close(tilemm__ipc_t *x)
{
    if (!x)
        return;
    tilemm__driver_close(&x->driver);
    free(x->cards);
    free(x);
}

tilemm__ipc_t *tilemm__ipc_open(tilemm_grid_t grid)
{
    const char *const wanted = getenv("TILEMM_MPI_IPC");
    tilemm__ipc_t *const x = calloc(1, sizeof *x);
    char mine[16] = {0}, first[16];
    int can = 0;
    if (x && grid->rows * grid->cols > 1 && !(wanted && !strcmp(wanted, "0"))) {
        x->cards =
            calloc((size_t)(grid->rows > grid->cols ? grid->rows : grid->cols), sizeof *x->cards);
        can = x->cards && !tilemm__driver_open(&x->driver, grid->ctx) && load(x, mine);
    }
    memcpy(first, mine, sizeof first);
    if (MPI_Bcast(first, sizeof first, MPI_BYTE, 0, grid->all) || memcmp(first, mine, sizeof mine))
        can = 0;
    if (!MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->all) && can)
        return x;
    tilemm__ipc_close(x);
    return NULL;
}

static card_t card_of(const tilemm__ipc_t *x, tilemm_grid_t grid, const tilemm__view_t *view)
{
    const int me[2] = {grid->row, grid->col};
    card_t card;
    uint64_t base = 0;
    size_t bytes;
    memset(&card, 0, sizeof card);
    card.rs = view->rs;
    card.cs = view->cs;
    if (tilemm__view_rows(view, me) == 0 || tilemm__view_cols(view, me) == 0) {
        card.state = EMPTY;
        return card;
    }
    const uint64_t address = (uint64_t)(uintptr_t)view->at;
    if (tilemm_synchronize(grid->ctx) == TILEMM_SUCCESS && !tilemm__driver_enter(&x->driver) &&
        !tilemm__driver_leave(&x->driver, x->get_range(&base, &bytes, address) ||
                                              x->get_handle(&card.handle, base)))
        card.state = READABLE;
    card.offset = address - base;
    return card;
}

int tilemm__ipc_share(tilemm_grid_t grid, int side, const tilemm__view_t *view,
                      tilemm__part_t *parts)
{
    const tilemm__ipc_t *const x = grid->ipc;
    const int procs = procs_along(grid, side), me = side == 0 ? grid->row : grid->col;
    const card_t mine = card_of(x, grid, view);
    int can = !MPI_Allgather(&mine, sizeof mine, MPI_BYTE, x->cards, sizeof mine, MPI_BYTE,
                             grid->across[side]) &&
              !tilemm__driver_enter(&x->driver);
    const int entered = can;
    memset(parts, 0, (size_t)procs * sizeof *parts);
    for (int p = 0; p < procs && entered; p++) {
        const card_t *const card = &x->cards[p];
        uint64_t base = 0;
        parts[p] = (tilemm__part_t){.at = view->at, .rs = card->rs, .cs = card->cs};
        can = can && card->state != UNREADABLE;
        if (p == me || !can || card->state == EMPTY)
            continue;
        can = !x->open_handle(&base, card->handle, LAZY_ENABLE_PEER_ACCESS);
        parts[p].mapped = can ? (void *)(uintptr_t)base : NULL;
        parts[p].at = can ? (float *)(uintptr_t)(base + card->offset) : NULL;
    }
    if (entered)
        can = !tilemm__driver_leave(&x->driver, !can);
    if (!MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->across[side]) && can)
        return 1;
    tilemm__ipc_release(grid, side, parts);
    return 0;
}

void tilemm__ipc_release(tilemm_grid_t grid, int side, tilemm__part_t *parts)
{
    const tilemm__ipc_t *const x = grid->ipc;
    if (tilemm__driver_enter(&x->driver))
        return;
    for (int p = 0; p < procs_along(grid, side); p++) {
        if (parts[p].mapped)
            (void)x->close_handle((uint64_t)(uintptr_t)parts[p].mapped);
        parts[p].mapped = NULL;
    }
    (void)tilemm__driver_leave(&x->driver, 0);
}
