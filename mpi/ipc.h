/* ipc.h - operands of processes that share one GPU: each reads the others' parts where they lie, by
 * CUDA's interprocess memory, and no panel travels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_IPC_H
#define TILEMM_MPI_IPC_H

#include "descriptor.h"
#include "grid.h"

/* A process's part of a matrix, in this process's memory. */
typedef struct {
    float *at;
    int64_t rs, cs;
    void *mapped; /* to be closed; NULL: this process's own, or nothing */
} tilemm__part_t;

/* Collective, over the grid: NULL on all processes unless all use one GPU, of which there are
 * several processes. */
tilemm__ipc_t *tilemm__ipc_open(tilemm_grid_t grid);
void tilemm__ipc_close(tilemm__ipc_t *ipc);

/* Collective, along a side of the grid, once this process's part is written: parts[p] is the part
 * of process p there. Returns whether all can read all of them; where not, e.g. because some lie on
 * the host, there is nothing to release. */
int tilemm__ipc_share(tilemm_grid_t grid, int side, const tilemm__view_t *view,
                      tilemm__part_t *parts);

/* Once nothing reads them. The owners may then free them as soon as all have called it. */
void tilemm__ipc_release(tilemm_grid_t grid, int side, tilemm__part_t *parts);

#endif
