/* copies.c - see copies.h. The prototypes are those of CUDA's driver.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "copies.h"

#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "lane.h"
#include "lib/size.h"

enum { LAZY_ENABLE_PEER_ACCESS = 1, UNIFIED = 4, WAIT_GREATER_OR_EQUAL = 0, WRITE_AFTER_ALL = 0 };

/* Floats to which a window's parts are aligned, and to a multiple of which it is allocated: CUDA
 * shares pages, of 2 MiB, of which smaller allocations have only a part. */
enum { ALIGNED = 64, PAGE = 1 << 19 };

typedef struct {
    char bytes[64];
} handle_t; /* CUipcMemHandle */

/* CUDA_MEMCPY2D */
typedef struct {
    struct {
        size_t x, y;
        int type;
        void *host;
        uint64_t at;
        void *array;
        size_t pitch;
    } src, dst;
    size_t width, height;
} rectangle_t;

/* It begins with a number of each process along the side, which that process writes: how many times
 * its stream has come to a meeting. The room follows. */
typedef struct {
    int procs, me;
    int64_t floats; /* of the room; the same on all */
    float *memory;  /* this process's, or NULL */
    uint64_t *at;   /* [procs]: where the windows are in this process's memory; 0: not opened */
    uint32_t meetings;
} window_t;

struct tilemm__copies {
    tilemm_grid_t grid;
    tilemm__lane_t lane;
    window_t windows[2]; /* along each side of the grid */
    int (*get_handle)(handle_t *handle, uint64_t address);
    int (*open_handle)(uint64_t *address, handle_t handle, unsigned flags);
    int (*close_handle)(uint64_t address);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*copy_rows)(const rectangle_t *rectangle, void *stream);
    int (*write_value)(void *stream, uint64_t address, uint32_t value, unsigned flags);
    int (*wait_value)(void *stream, uint64_t address, uint32_t value, unsigned flags);
};

/* ---- windows ------------------------------------------------------------------------------- */

/* Floats before the room. */
static int64_t head_of(const window_t *window)
{
    return tilemm__round_up(window->procs, ALIGNED);
}

/* Collective, along the side: whether all processes can. */
static int all_can(const tilemm__copies_t *x, int side, int can)
{
    return !MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, x->grid->across[side]) && can;
}

/* Collective, along the side: a window is freed once nobody has it open. */
static void close_window(tilemm__copies_t *x, int side)
{
    window_t *const window = &x->windows[side];
    (void)tilemm__lane_synchronize(&x->lane);
    if (!tilemm__driver_enter(&x->lane.driver)) {
        for (int p = 0; p < window->procs; p++)
            if (p != window->me && window->at[p])
                (void)x->close_handle(window->at[p]);
        (void)tilemm__driver_leave(&x->lane.driver, 0);
    }
    memset(window->at, 0, (size_t)window->procs * sizeof *window->at);
    (void)all_can(x, side, 1);
    (void)tilemm_free_matrix(x->grid->ctx, window->memory);
    window->memory = NULL;
    window->floats = 0;
}

/* This process's window, whose numbers become 0, and its handle. Here a driver shows that it has
 * not got what meetings need. */
static int make(tilemm__copies_t *x, window_t *window, handle_t *handle)
{
    const uint64_t address = (uint64_t)(uintptr_t)window->memory;
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    error = x->get_handle(handle, address);
    for (int p = 0; p < window->procs && !error; p++)
        error = x->write_value(x->lane.stream, address + (uint64_t)p * sizeof(uint32_t), 0,
                               WRITE_AFTER_ALL);
    if (!error)
        error = x->wait_value(x->lane.stream, address, 0, WAIT_GREATER_OR_EQUAL);
    error = tilemm__driver_leave(&x->lane.driver, error);
    return error ? error : tilemm__lane_synchronize(&x->lane);
}

/* The others' windows. */
static int open_others(tilemm__copies_t *x, window_t *window, const handle_t *handles)
{
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    for (int p = 0; p < window->procs && !error; p++)
        if (p != window->me)
            error = x->open_handle(&window->at[p], handles[p], LAZY_ENABLE_PEER_ACCESS);
    return tilemm__driver_leave(&x->lane.driver, error);
}

tilemm_status_t tilemm__copies_room(tilemm__copies_t *x, int side, int64_t floats, float **room)
{
    window_t *const window = &x->windows[side];
    const int64_t head = head_of(window);
    tilemm_status_t status = TILEMM_SUCCESS;
    *room = NULL;
    if (!window->memory || window->floats < floats) {
        handle_t *const handles = calloc((size_t)window->procs, sizeof *handles);
        close_window(x, side);
        status = tilemm__alloc(x->grid, TILEMM_MEMORY_DEVICE, tilemm__round_up(head + floats, PAGE),
                               &window->memory);
        if (status == TILEMM_SUCCESS && !handles)
            status = tilemm__found(x->grid, TILEMM_OUT_OF_MEMORY, "psgemm: no memory for handles");
        if (status == TILEMM_SUCCESS && make(x, window, &handles[window->me]))
            status = tilemm__found(x->grid, TILEMM_INTERNAL_ERROR, "psgemm: CUDA failed");
        int can = all_can(x, side, status == TILEMM_SUCCESS);
        if (can) {
            window->at[window->me] = (uint64_t)(uintptr_t)window->memory;
            can = !MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, handles, sizeof *handles,
                                 MPI_BYTE, x->grid->across[side]) &&
                  !open_others(x, window, handles);
            if (!can)
                status = tilemm__found(x->grid, TILEMM_INTERNAL_ERROR,
                                       "psgemm: another GPU's memory cannot be opened");
            can = all_can(x, side, can);
        }
        free(handles);
        window->floats = floats;
        window->meetings = 0;
        if (!can) {
            close_window(x, side);
            return status;
        }
    }
    *room = window->memory + head;
    return status;
}

/* ---- opening and closing ------------------------------------------------------------------- */

static int load(tilemm__copies_t *x)
{
    void *const cuda = x->lane.driver.library;
    return tilemm__find_function(cuda, "cuIpcGetMemHandle", &x->get_handle) &&
           tilemm__find_function(cuda, "cuIpcOpenMemHandle_v2", &x->open_handle) &&
           tilemm__find_function(cuda, "cuIpcCloseMemHandle", &x->close_handle) &&
           tilemm__find_function(cuda, "cuMemcpyAsync", &x->copy) &&
           tilemm__find_function(cuda, "cuMemcpy2DAsync_v2", &x->copy_rows) &&
           tilemm__find_function(cuda, "cuStreamWriteValue32_v2", &x->write_value) &&
           tilemm__find_function(cuda, "cuStreamWaitValue32_v2", &x->wait_value);
}

/* Collective: whether all processes of the grid are on one host. */
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

/* What no other process has a part in. */
static int begin(tilemm__copies_t *x, tilemm_grid_t grid)
{
    const int procs[2] = {grid->rows, grid->cols}, me[2] = {grid->row, grid->col};
    x->grid = grid;
    for (int side = 0; side < 2; side++) {
        x->windows[side] = (window_t){.procs = procs[side], .me = me[side]};
        x->windows[side].at = calloc((size_t)procs[side], sizeof *x->windows[side].at);
        if (!x->windows[side].at)
            return -1;
    }
    return tilemm__lane_open(&x->lane, grid->ctx) || !load(x);
}

static void end(tilemm__copies_t *x)
{
    if (!x)
        return;
    tilemm__lane_close(&x->lane);
    for (int side = 0; side < 2; side++)
        free(x->windows[side].at);
    free(x);
}

tilemm__copies_t *tilemm__copies_open(tilemm_grid_t grid)
{
    const char *const wanted = getenv("TILEMM_MPI_IPC");
    tilemm__copies_t *const x = calloc(1, sizeof *x);
    float *room;
    int can = is_one_host(grid) && x && grid->rows * grid->cols > 1 &&
              !(wanted && !strcmp(wanted, "0")) && !begin(x, grid);
    if (MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->all) || !can) {
        end(x);
        return NULL;
    }
    /* Whether windows can be opened is seen from small ones. */
    for (int side = 0; side < 2; side++)
        if (x->windows[side].procs > 1)
            can = tilemm__copies_room(x, side, 0, &room) == TILEMM_SUCCESS && room && can;
    if (!MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->all) && can)
        return x;
    tilemm__copies_close(x);
    return NULL;
}

void tilemm__copies_close(tilemm__copies_t *x)
{
    for (int side = 0; x && side < 2; side++)
        close_window(x, side);
    end(x);
}

/* ---- copies -------------------------------------------------------------------------------- */

/* What is queued on the lane from now on comes after what the others have queued on theirs. */
static int meet(tilemm__copies_t *x, int side)
{
    window_t *const window = &x->windows[side];
    const uint32_t number = ++window->meetings;
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    for (int p = 0; p < window->procs; p++)
        if (p != window->me)
            error |=
                x->write_value(x->lane.stream, window->at[p] + (uint64_t)window->me * sizeof number,
                               number, WRITE_AFTER_ALL);
    for (int p = 0; p < window->procs; p++)
        if (p != window->me)
            error |=
                x->wait_value(x->lane.stream, window->at[window->me] + (uint64_t)p * sizeof number,
                              number, WAIT_GREATER_OR_EQUAL);
    return tilemm__driver_leave(&x->lane.driver, error);
}

int tilemm__copies_begin(tilemm__copies_t *x, int side)
{
    const int error = tilemm__lane_begin(&x->lane);
    return meet(x, side) | error;
}

int tilemm__copies_get(const tilemm__copies_t *x, int side, int from, int64_t first, int64_t length,
                       int64_t spacing, int64_t count)
{
    const window_t *const window = &x->windows[side];
    const uint64_t offset = (uint64_t)(head_of(window) + first) * sizeof(float);
    const uint64_t src = window->at[from] + offset, dst = window->at[window->me] + offset;
    const size_t bytes = (size_t)length * sizeof(float), pitch = (size_t)spacing * sizeof(float);
    const rectangle_t rectangle = {.src = {.type = UNIFIED, .at = src, .pitch = pitch},
                                   .dst = {.type = UNIFIED, .at = dst, .pitch = pitch},
                                   .width = bytes,
                                   .height = (size_t)count};
    int error = tilemm__driver_enter(&x->lane.driver);
    if (error)
        return error;
    if (count > 1 && pitch <= INT32_MAX) /* which all devices take */
        error = x->copy_rows(&rectangle, x->lane.stream);
    else
        for (uint64_t i = 0; i < (uint64_t)count && !error; i++)
            error = x->copy(dst + i * pitch, src + i * pitch, bytes, x->lane.stream);
    return tilemm__driver_leave(&x->lane.driver, error);
}

int tilemm__copies_end(const tilemm__copies_t *x, int event)
{
    return tilemm__lane_end(&x->lane, event);
}

int tilemm__copies_wait(const tilemm__copies_t *x, int event)
{
    return tilemm__lane_wait(&x->lane, event);
}
