/* travel.h - panels of an operand on their way along one side of the grid, some of them ahead.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_TRAVEL_H
#define TILEMM_MPI_TRAVEL_H

#include "descriptor.h"
#include "grid.h"
#include "ipc.h"

/* Panels that are on their way or in use at a time. */
enum { TILEMM__SLOTS = 3 };

/* The columns of a view travel: those of a panel come from the processes that have them to all that
 * have the same rows. */
typedef struct {
    tilemm_grid_t grid;
    tilemm__view_t view;
    const char *name;      /* of the step */
    int side;              /* along which it travels */
    int me;                /* this process's place there */
    int alone;             /* nobody else is there: panels are used where they lie */
    int64_t rows;          /* of this process */
    int64_t panel;         /* columns of a panel */
    tilemm__part_t *parts; /* of the processes along the side, which this one reads; or NULL */
    MPI_Datatype column;
    struct {
        float *panel;  /* where MPI puts it: rows next to each other, ld = rows */
        float *device; /* a copy for the GPU, where MPI cannot reach its memory; or NULL */
        MPI_Request *requests;
        int count;
        double posted, bytes;
    } slots[TILEMM__SLOTS];
} tilemm__travel_t;

/* A panel as an operand. */
typedef struct {
    float *at;
    int64_t rs, cs;
} tilemm__panel_t;

/* The columns of a view are to travel. */
tilemm__travel_t tilemm__travel_of(tilemm_grid_t grid, const tilemm__view_t *view,
                                   const char *name);

/* Collective, over the grid: whether the processes can read each other's parts of all of these, in
 * which case a panel is put together where it is needed, when it is waited for. */
int tilemm__travel_share(tilemm__travel_t *const travels[], int count);

/* Collective, along the side: memory for panels of `panel` columns. tilemm__travel_end releases
 * what there is, also after a failure. */
tilemm_status_t tilemm__travel_begin(tilemm__travel_t *travel, int64_t panel);
void tilemm__travel_end(tilemm__travel_t *travel);

/* Wait for what is queued, and let go of the other processes' parts: once all have, their owners
 * may free them. */
tilemm_status_t tilemm__travel_leave(tilemm__travel_t *const travels[], int count);

/* Panel number i sets out; past the last one nothing does. All along the side must call it, in the
 * same order, whatever it returned before. */
tilemm_status_t tilemm__travel_post(tilemm__travel_t *travel, int64_t i);

/* Let messages go on. */
void tilemm__travel_poll(tilemm__travel_t *travel);

/* Wait until panel number i is here. */
tilemm_status_t tilemm__travel_wait(tilemm__travel_t *travel, int64_t i, tilemm__panel_t *panel);

/* The runs of one owner among columns begin to end, as one of MPI's types over a buffer of whole
 * columns; MPI_DATATYPE_NULL if it has none, and the number of columns. *made: free it. 0 or an
 * error of MPI. */
int tilemm__owner_type(const tilemm__dist_t *d, int owner, int64_t begin, int64_t end,
                       MPI_Datatype column, MPI_Datatype *type, int *first, int *count, int *made);

#endif
