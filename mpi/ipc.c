/* ipc.c - see ipc.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "ipc.h"

#include <stdlib.h>
#include <string.h>

#include "lane.h"

enum { LAZY_ENABLE_PEER_ACCESS = 1, UNIFIED = 4 };

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

/* CUDA_MEMCPY2D */
typedef struct {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    uint64_t src;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    uint64_t dst;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
} rectangle_t;

struct tilemm__ipc {
    tilemm__lane_t lane;
    int is_one_gpu;
    card_t *cards; /* of the longer side of the grid */
    int (*get_range)(uint64_t *base, size_t *bytes, uint64_t address);
    int (*get_handle)(handle_t *handle, uint64_t address);
    int (*open_handle)(uint64_t *address, handle_t handle, unsigned flags);
    int (*close_handle)(uint64_t address);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*copy_rows)(const rectangle_t *rectangle, void *stream);
};

static int procs_along(tilemm_grid_t grid, int side)
{
    return side == 0 ? grid->rows : grid->cols;
}

static int load(tilemm__ipc_t *x, char uuid[16])
{
    int (*get_uuid)(char *uuid, int device);
    void *const cuda = x->lane.driver.library;
    return tilemm__find_function(cuda, "cuMemGetAddressRange_v2", &x->get_range) &&
           tilemm__find_function(cuda, "cuIpcGetMemHandle", &x->get_handle) &&
           tilemm__find_function(cuda, "cuIpcOpenMemHandle_v2", &x->open_handle) &&
           tilemm__find_function(cuda, "cuIpcCloseMemHandle", &x->close_handle) &&
           tilemm__find_function(cuda, "cuMemcpyAsync", &x->copy) &&
           tilemm__find_function(cuda, "cuMemcpy2DAsync_v2", &x->copy_rows) &&
           tilemm__find_function(cuda, "cuDeviceGetUuid_v2", &get_uuid) &&
           !get_uuid(uuid, x->lane.driver.device);
}

/* Collective: whether all processes of the grid are on this one's host. */
static int is_one_host(tilemm_grid_t grid)
{
    MPI_Comm host;
    int count = 0;
    if (MPI_Comm_split_type(grid->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host))
        return 0;
    if (MPI_Comm_size(host, &count))
        count = 0;
    (void)MPI_Comm_free(&host);
    return count == grid->rows * grid->cols;
}

void tilemm__ipc_close(tilemm__ipc_t *x)
{
    if (!x)
        return;
    tilemm__lane_close(&x->lane);
    free(x->cards);
    free(x);
}

tilemm__ipc_t *tilemm__ipc_open(tilemm_grid_t grid)
{
    const char *const wanted = getenv("TILEMM_MPI_IPC");
    tilemm__ipc_t *const x = calloc(1, sizeof *x);
    char mine[16] = {0}, first[16];
    int can = 0;
    int is[2] = {0, is_one_host(grid)}; /* one GPU; one host */
    if (x && grid->rows * grid->cols > 1 && !(wanted && !strcmp(wanted, "0"))) {
        x->cards =
            calloc((size_t)(grid->rows > grid->cols ? grid->rows : grid->cols), sizeof *x->cards);
        can = x->cards && !tilemm__lane_open(&x->lane, grid->ctx) && load(x, mine);
    }
    memcpy(first, mine, sizeof first);
    is[0] = !MPI_Bcast(first, sizeof first, MPI_BYTE, 0, grid->all) &&
            !memcmp(first, mine, sizeof mine) && can;
    is[1] = is[1] && can;
    if (!MPI_Allreduce(MPI_IN_PLACE, is, 2, MPI_INT, MPI_MIN, grid->all) && (is[0] || is[1])) {
        x->is_one_gpu = is[0];
        return x;
    }
    tilemm__ipc_close(x);
    return NULL;
}

int tilemm__ipc_is_one_gpu(const tilemm__ipc_t *x)
{
    return x->is_one_gpu;
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
    if (tilemm_synchronize(grid->ctx) == TILEMM_SUCCESS && !tilemm__driver_enter(&x->lane.driver) &&
        !tilemm__driver_leave(&x->lane.driver, x->get_range(&base, &bytes, address) ||
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
              !tilemm__driver_enter(&x->lane.driver);
    const int entered = can;
    memset(parts, 0, (size_t)procs * sizeof *parts);
    for (int p = 0; p < procs && entered; p++) {
        const card_t *const card = &x->cards[p];
        uint64_t base = 0;
        parts[p] = (tilemm__part_t){.at = view->at, .rs = card->rs, .cs = card->cs};
        /* A copy engine turns nothing. */
        can = can && card->state != UNREADABLE &&
              (x->is_one_gpu || card->state == EMPTY || card->rs == 1);
        if (p == me || !can || card->state == EMPTY)
            continue;
        can = !x->open_handle(&base, card->handle, LAZY_ENABLE_PEER_ACCESS);
        parts[p].mapped = can ? (void *)(uintptr_t)base : NULL;
        parts[p].at = can ? (float *)(uintptr_t)(base + card->offset) : NULL;
    }
    if (entered)
        can = !tilemm__driver_leave(&x->lane.driver, !can);
    if (!MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->across[side]) && can)
        return 1;
    tilemm__ipc_release(grid, side, parts);
    return 0;
}

void tilemm__ipc_release(tilemm_grid_t grid, int side, tilemm__part_t *parts)
{
    const tilemm__ipc_t *const x = grid->ipc;
    (void)tilemm__lane_synchronize(&x->lane);
    if (tilemm__driver_enter(&x->lane.driver))
        return;
    for (int p = 0; p < procs_along(grid, side); p++) {
        if (parts[p].mapped)
            (void)x->close_handle((uint64_t)(uintptr_t)parts[p].mapped);
        parts[p].mapped = NULL;
    }
    (void)tilemm__driver_leave(&x->lane.driver, 0);
}

int tilemm__ipc_begin(const tilemm__ipc_t *x)
{
    return tilemm__lane_begin(&x->lane);
}

/* Columns that lie next to each other go as one; else those whose distance a copy engine takes. */
int tilemm__ipc_copy(const tilemm__ipc_t *x, const tilemm__part_t *part, int64_t local,
                     int64_t rows, int64_t count, float *to)
{
    const size_t bytes = (size_t)rows * sizeof *to, pitch = (size_t)part->cs * sizeof *to;
    const uint64_t dst = (uint64_t)(uintptr_t)to;
    const uint64_t src = (uint64_t)(uintptr_t)part->at + (uint64_t)local * pitch;
    const rectangle_t rectangle = {.src_type = UNIFIED,
                                   .src = src,
                                   .src_pitch = pitch,
                                   .dst_type = UNIFIED,
                                   .dst = dst,
                                   .dst_pitch = bytes,
                                   .width = bytes,
                                   .height = (size_t)count};
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    if (pitch == bytes || count == 1)
        error = x->copy(dst, src, bytes * (size_t)count, x->lane.stream);
    else if (pitch <= INT32_MAX)
        error = x->copy_rows(&rectangle, x->lane.stream);
    else
        for (int64_t i = 0; i < count && !error; i++)
            error = x->copy(dst + (uint64_t)i * bytes, src + (uint64_t)i * pitch, bytes,
                            x->lane.stream);
    return tilemm__driver_leave(&x->lane.driver, error);
}

int tilemm__ipc_end(const tilemm__ipc_t *x, int event)
{
    return tilemm__lane_end(&x->lane, event);
}

int tilemm__ipc_wait(const tilemm__ipc_t *x, int event)
{
    return tilemm__lane_wait(&x->lane, event);
}
