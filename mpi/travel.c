/* travel.c - see travel.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "travel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "kept.h"
#include "nccl.h"
#include "redistribute.h"

int tilemm__owner_type(const tilemm__dist_t *d, int owner, int64_t begin, int64_t end,
                       MPI_Datatype column, MPI_Datatype *type, int *first, int *count, int *made)
{
    /* Runs of one owner: at most one for each block. */
    const int64_t most = tilemm__div_up(end - begin, tilemm__min(d->block, end - begin)) + 1;
    int *const lengths = malloc((size_t)(2 * most) * sizeof *lengths);
    int *const places = lengths ? lengths + most : NULL;
    int runs = 0, error = 0;
    *type = MPI_DATATYPE_NULL;
    *first = *count = *made = 0;
    if (!lengths)
        return MPI_ERR_NO_MEM;
    for (int64_t at = begin, next; at < end; at = next) {
        const tilemm__run_t run = tilemm__dist_run(d, at, end);
        next = run.end;
        if (run.owner != owner)
            continue;
        lengths[runs] = (int)(run.end - at);
        places[runs++] = (int)(at - begin);
    }
    if (runs == 1) {
        *type = column;
        *first = places[0];
        *count = lengths[0];
    } else if (runs > 1) {
        error = MPI_Type_indexed(runs, lengths, places, column, type);
        if (!error) {
            *made = *count = 1;
            error = MPI_Type_commit(type);
        }
    }
    free(lengths);
    return error;
}

tilemm__travel_t tilemm__travel_of(tilemm_grid_t grid, const tilemm__view_t *view, const char *name)
{
    const int me[2] = {grid->row, grid->col};
    return (tilemm__travel_t){.grid = grid,
                              .view = *view,
                              .name = name,
                              .side = !view->side,
                              .me = me[!view->side],
                              .alone = view->cols.procs == 1,
                              .rows = tilemm__view_rows(view, me),
                              .column = MPI_DATATYPE_NULL};
}

static void release_parts(tilemm__travel_t *travel)
{
    if (travel->parts)
        tilemm__ipc_release(travel->grid, travel->side, travel->parts);
    free(travel->parts);
    travel->parts = NULL;
}

int tilemm__travel_share(tilemm__travel_t *const travels[], int count)
{
    const tilemm_grid_t grid = travels[0]->grid;
    int can = grid->ipc != NULL;
    if (!can)
        return 0;
    for (int t = 0; t < count; t++) {
        tilemm__travel_t *const x = travels[t];
        const int room = x->view.cols.procs;
        int has_room = 1;
        if (x->alone || x->rows == 0)
            continue;
        x->parts = calloc((size_t)room, sizeof *x->parts);
        has_room = x->parts != NULL;
        if (MPI_Allreduce(MPI_IN_PLACE, &has_room, 1, MPI_INT, MPI_MIN, grid->across[x->side]))
            has_room = 0;
        if (!has_room || !tilemm__ipc_share(grid, x->side, &x->view, x->parts)) {
            free(x->parts);
            x->parts = NULL;
            can = 0;
        }
    }
    if (!MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, grid->all) && can)
        return 1;
    for (int t = 0; t < count; t++)
        release_parts(travels[t]);
    return 0;
}

tilemm_status_t tilemm__travel_leave(tilemm__travel_t *const travels[], int count)
{
    const tilemm_grid_t grid = travels[0]->grid;
    const tilemm_status_t status = tilemm__passed(grid, tilemm_synchronize(grid->ctx));
    for (int t = 0; t < count; t++)
        release_parts(travels[t]);
    return status;
}

/* A line on how panels travel. */
static void log_way(const tilemm__travel_t *travel)
{
    const tilemm_grid_t grid = travel->grid;
    const char *const way = travel->parts      ? "reading the other processes' memory"
                            : grid->copies     ? "copy engines"
                            : grid->nccl       ? "NCCL"
                            : !grid->cuda      ? "MPI"
                            : grid->device_mpi ? "MPI from device memory"
                                               : "MPI from pinned memory";
    fprintf(stderr, "tilemm: psgemm: panels of %lld along a %s by %s\n", (long long)travel->panel,
            travel->name, way);
}

/* Room in this process's window, at the same place as in the others'. */
static tilemm_status_t take_room(tilemm__travel_t *travel)
{
    enum { ALIGNED = 64 }; /* floats, for any vector access */
    const int64_t floats = tilemm__round_up(travel->rows * travel->panel, ALIGNED);
    float *room;
    const tilemm_status_t status =
        tilemm__copies_room(travel->grid->copies, travel->side, TILEMM__SLOTS * floats, &room);
    for (int i = 0; i < TILEMM__SLOTS && room; i++)
        travel->slots[i].panel = room + i * floats;
    return status;
}

/* Memory of this process's own. */
static tilemm_status_t take_slots(tilemm__travel_t *travel)
{
    const tilemm_grid_t grid = travel->grid;
    const int separate = grid->cuda && !grid->device_mpi && !grid->nccl && !travel->parts;
    const int slots = travel->parts ? 1 : TILEMM__SLOTS;
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int i = 0; i < slots && status == TILEMM_SUCCESS; i++) {
        const int64_t floats = travel->rows * travel->panel;
        status = tilemm__take(grid, separate ? TILEMM_MEMORY_PINNED : TILEMM_MEMORY_DEVICE, floats,
                              &travel->slots[i].panel);
        if (separate && status == TILEMM_SUCCESS)
            status = tilemm__take(grid, TILEMM_MEMORY_DEVICE, floats, &travel->slots[i].device);
        travel->slots[i].requests =
            malloc((size_t)travel->view.cols.procs * sizeof *travel->slots[i].requests);
        if (!travel->slots[i].requests)
            status = tilemm__found(grid, TILEMM_OUT_OF_MEMORY, "psgemm: no memory for panels");
    }
    /* A descriptor's rows are an int. */
    if (status == TILEMM_SUCCESS &&
        (MPI_Type_contiguous((int)travel->rows, MPI_FLOAT, &travel->column) ||
         MPI_Type_commit(&travel->column)))
        status = tilemm__found(grid, TILEMM_INTERNAL_ERROR, "psgemm: MPI failed");
    return status;
}

tilemm_status_t tilemm__travel_begin(tilemm__travel_t *travel, int64_t panel)
{
    travel->panel = tilemm__max(1, tilemm__min(panel, travel->view.cols.n));
    if (travel->alone || travel->rows == 0)
        return TILEMM_SUCCESS;
    if (travel->grid->log)
        log_way(travel);
    return travel->grid->copies ? take_room(travel) : take_slots(travel);
}

void tilemm__travel_end(tilemm__travel_t *travel)
{
    for (int i = 0; i < TILEMM__SLOTS && travel->grid; i++) {
        if (!travel->grid->copies)
            tilemm__give_back(travel->grid, travel->slots[i].panel);
        tilemm__give_back(travel->grid, travel->slots[i].device);
        free(travel->slots[i].requests);
    }
    release_parts(travel);
    if (travel->grid && travel->column != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&travel->column);
    memset(travel, 0, sizeof *travel);
}

/* Runs of one owner that are equally long and evenly spaced. */
typedef struct {
    tilemm__run_t first;
    int64_t length, spacing, count;
} runs_t;

/* The next ones at or behind *at and before end, and *at behind them. Returns whether there are
 * any. */
static int next_runs(const tilemm__dist_t *cols, int owner, int64_t *at, int64_t end, runs_t *runs)
{
    *runs = (runs_t){.count = 0};
    while (*at < end) {
        const tilemm__run_t run = tilemm__dist_run(cols, *at, end);
        if (run.owner == owner) {
            if (runs->count == 0) {
                runs->first = run;
                runs->length = run.end - run.begin;
            } else if (runs->count == 1) {
                runs->spacing = run.begin - runs->first.begin;
            }
            if (run.end - run.begin != runs->length ||
                run.begin != runs->first.begin + runs->count * runs->spacing)
                break;
            runs->count++;
        }
        *at = run.end;
    }
    return runs->count > 0;
}

/* A process's columns of a panel, into it, from where its part lies: runs that are evenly spaced in
 * one copy. */
static tilemm_status_t pack(const tilemm__travel_t *travel, int owner, const tilemm__part_t *part,
                            int64_t begin, int64_t end, float *panel)
{
    const int64_t rows = travel->rows;
    tilemm_status_t status = TILEMM_SUCCESS;
    runs_t runs;
    for (int64_t at = begin;
         status == TILEMM_SUCCESS && next_runs(&travel->view.cols, owner, &at, end, &runs);)
        status = tilemm__copy_parts(
            travel->grid, rows, runs.length, part->at + runs.first.local * part->cs, part->rs,
            part->cs, runs.length * part->cs, panel + (runs.first.begin - begin) * rows, 1, rows,
            runs.spacing * rows, runs.count);
    return status;
}

/* The event of a slot. */
static int event_of(const tilemm__travel_t *travel, int s)
{
    return travel->side * TILEMM__SLOTS + s;
}

/* Run after run, all at once. */
static int post_nccl(tilemm__travel_t *travel, int64_t begin, int64_t end, int s)
{
    tilemm__nccl_t *const nccl = travel->grid->nccl;
    int error = tilemm__nccl_begin(nccl);
    for (int64_t at = begin, next; at < end && !error; at = next) {
        const tilemm__run_t run = tilemm__dist_run(&travel->view.cols, at, end);
        next = run.end;
        error = tilemm__nccl_broadcast(nccl, travel->side,
                                       travel->slots[s].panel + (at - begin) * travel->rows,
                                       (run.end - at) * travel->rows, run.owner);
    }
    return error | tilemm__nccl_end(nccl, event_of(travel, s));
}

/* The others' columns out of their windows. This process's have been written over those of the
 * panel that used the slot before, number i: the stream has waited for panel i + 1, and when that
 * set out the others had copied panel i. */
static int post_copies(tilemm__travel_t *travel, int64_t begin, int64_t end, int s)
{
    tilemm__copies_t *const copies = travel->grid->copies;
    const tilemm__dist_t *const cols = &travel->view.cols;
    const int64_t rows = travel->rows;
    const int64_t panel = travel->slots[s].panel - travel->slots[0].panel;
    int error = tilemm__copies_begin(copies, travel->side);
    for (int p = 0; p < cols->procs; p++) {
        runs_t runs;
        for (int64_t at = begin; p != travel->me && next_runs(cols, p, &at, end, &runs);)
            error |= tilemm__copies_get(copies, travel->side, p,
                                        panel + (runs.first.begin - begin) * rows,
                                        runs.length * rows, runs.spacing * rows, runs.count);
    }
    return tilemm__copies_end(copies, event_of(travel, s)) | error;
}

/* Owner after owner. */
static int post_mpi(tilemm__travel_t *travel, int64_t begin, int64_t end, int s)
{
    const tilemm__dist_t *const cols = &travel->view.cols;
    int error = 0;
    for (int owner = 0; owner < cols->procs; owner++) {
        MPI_Datatype type;
        int first, count, made;
        int failed = tilemm__owner_type(cols, owner, begin, end, travel->column, &type, &first,
                                        &count, &made);
        if (!failed && count > 0)
            failed = MPI_Ibcast(travel->slots[s].panel + first * travel->rows, count, type, owner,
                                travel->grid->across[travel->side],
                                &travel->slots[s].requests[travel->slots[s].count++]);
        if (made)
            failed |= MPI_Type_free(&type);
        error |= failed;
    }
    return error;
}

/* This process's columns, into a panel that is to travel. */
static tilemm_status_t pack_mine(const tilemm__travel_t *travel, int64_t begin, int64_t end,
                                 float *panel)
{
    const tilemm__view_t *const x = &travel->view;
    const tilemm__part_t mine = {.at = x->at, .rs = x->rs, .cs = x->cs};
    const tilemm_status_t status = pack(travel, travel->me, &mine, begin, end, panel);
    /* MPI reads memory that a queued copy may still write. Other GPUs' streams wait for it. */
    if (travel->grid->cuda && !travel->grid->copies && !travel->grid->nccl &&
        status == TILEMM_SUCCESS)
        return tilemm__passed(travel->grid, tilemm_synchronize(travel->grid->ctx));
    return status;
}

/* Bytes of a panel that are not this process's. */
static double bytes_of(const tilemm__travel_t *travel, int64_t begin, int64_t end)
{
    const tilemm__dist_t *const cols = &travel->view.cols;
    const int64_t mine =
        tilemm__dist_before(cols, travel->me, end) - tilemm__dist_before(cols, travel->me, begin);
    return (double)(end - begin - mine) * (double)travel->rows * sizeof(float);
}

/* The column behind panel i. */
static int64_t panel_end(const tilemm__travel_t *travel, int64_t i)
{
    return tilemm__min((i + 1) * travel->panel, travel->view.cols.n);
}

tilemm_status_t tilemm__travel_post(tilemm__travel_t *travel, int64_t i)
{
    const int64_t begin = i * travel->panel;
    const int64_t end = panel_end(travel, i);
    const int s = (int)(i % TILEMM__SLOTS);
    if (travel->alone || travel->parts || travel->rows == 0 || begin >= end)
        return TILEMM_SUCCESS;
    const tilemm_status_t status = pack_mine(travel, begin, end, travel->slots[s].panel);
    travel->slots[s].count = 0;
    travel->slots[s].posted = MPI_Wtime();
    travel->slots[s].bytes = bytes_of(travel, begin, end);
    const tilemm_grid_t grid = travel->grid;
    const int error = grid->copies ? post_copies(travel, begin, end, s)
                      : grid->nccl ? post_nccl(travel, begin, end, s)
                                   : post_mpi(travel, begin, end, s);
    return error ? tilemm__found(grid, TILEMM_INTERNAL_ERROR, "psgemm: %s failed",
                                 grid->copies ? "a copy from another GPU"
                                 : grid->nccl ? "NCCL"
                                              : "MPI")
                 : status;
}

void tilemm__travel_poll(tilemm__travel_t *travel)
{
    for (int s = 0; s < TILEMM__SLOTS; s++) {
        int done = 0;
        if (travel->slots[s].count > 0 &&
            !MPI_Testall(travel->slots[s].count, travel->slots[s].requests, &done,
                         MPI_STATUSES_IGNORE) &&
            done) {
            travel->slots[s].count = 0;
            tilemm__step(travel->grid, travel->name, travel->slots[s].posted,
                         travel->slots[s].bytes);
        }
    }
}

/* A panel out of all processes' parts: queued after what uses the one before. */
static tilemm_status_t read_panel(const tilemm__travel_t *travel, int64_t i, tilemm__panel_t *panel)
{
    const int64_t begin = i * travel->panel;
    const int64_t end = panel_end(travel, i);
    const double posted = MPI_Wtime();
    tilemm_status_t status = TILEMM_SUCCESS;
    *panel = (tilemm__panel_t){travel->slots[0].panel, 1, travel->rows};
    for (int p = 0; p < travel->view.cols.procs && status == TILEMM_SUCCESS; p++)
        status = pack(travel, p, &travel->parts[p], begin, end, panel->at);
    tilemm__step(travel->grid, travel->name, posted, bytes_of(travel, begin, end));
    return status;
}

tilemm_status_t tilemm__travel_wait(tilemm__travel_t *travel, int64_t i, tilemm__panel_t *panel)
{
    const int s = (int)(i % TILEMM__SLOTS);
    const tilemm__view_t *const x = &travel->view;
    tilemm_status_t status = TILEMM_SUCCESS;
    if (travel->alone || travel->rows == 0) {
        *panel = (tilemm__panel_t){x->at ? x->at + i * travel->panel * x->cs : NULL, x->rs, x->cs};
        return status;
    }
    if (travel->parts)
        return read_panel(travel, i, panel);
    if (travel->slots[s].count > 0) {
        if (MPI_Waitall(travel->slots[s].count, travel->slots[s].requests, MPI_STATUSES_IGNORE))
            status = tilemm__found(travel->grid, TILEMM_INTERNAL_ERROR, "psgemm: MPI failed");
        travel->slots[s].count = 0;
        tilemm__step(travel->grid, travel->name, travel->slots[s].posted, travel->slots[s].bytes);
    }
    if (travel->grid->copies && tilemm__copies_wait(travel->grid->copies, event_of(travel, s)))
        status = tilemm__found(travel->grid, TILEMM_INTERNAL_ERROR, "psgemm: CUDA failed");
    if (travel->grid->nccl && tilemm__nccl_wait(travel->grid->nccl, event_of(travel, s)))
        status = tilemm__found(travel->grid, TILEMM_INTERNAL_ERROR, "psgemm: NCCL failed");
    *panel = (tilemm__panel_t){travel->slots[s].panel, 1, travel->rows};
    if (travel->slots[s].device) {
        const int64_t cols = panel_end(travel, i) - i * travel->panel;
        if (status == TILEMM_SUCCESS)
            status = tilemm__copy_part(travel->grid, travel->rows, cols, panel->at, 1, travel->rows,
                                       travel->slots[s].device, 1, travel->rows);
        panel->at = travel->slots[s].device;
    }
    return status;
}
