/* ipc.h - operands of processes of one host, by CUDA's interprocess memory. Where they share one
 * GPU each reads the others' parts where they lie, and no panel travels. Where GPUs reach each
 * other's memory their copy engines bring panels, which leave the multiprocessors to the products.
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

/* Collective, over the grid: NULL on all processes unless there are several, of one host. */
tilemm__ipc_t *tilemm__ipc_open(tilemm_grid_t grid);
void tilemm__ipc_close(tilemm__ipc_t *ipc);

/* Whether all processes use one GPU. */
int tilemm__ipc_is_one_gpu(const tilemm__ipc_t *ipc);

/* Collective, along a side of the grid, once this process's part is written: parts[p] is the part
 * of process p there. Returns whether all can read all of them, or, on several GPUs, copy their
 * columns; where not, e.g. because some lie on the host, there is nothing to release. */
int tilemm__ipc_share(tilemm_grid_t grid, int side, const tilemm__view_t *view,
                      tilemm__part_t *parts);

/* Once nothing reads them. The owners may then free them as soon as all have called it. */
void tilemm__ipc_release(tilemm_grid_t grid, int side, tilemm__part_t *parts);

/* Copies between begin and end go on beside the context's stream, after what is queued there;
 * `event`, as in lane.h, tells of their end. copy: `count` columns of `rows` floats from number
 * `local` on of a part, to columns next to each other. Each returns 0, or not. */
int tilemm__ipc_begin(const tilemm__ipc_t *ipc);
int tilemm__ipc_copy(const tilemm__ipc_t *ipc, const tilemm__part_t *part, int64_t local,
                     int64_t rows, int64_t count, float *to);
int tilemm__ipc_end(const tilemm__ipc_t *ipc, int event);
/* What is queued on the context's stream from now on waits for the event. */
int tilemm__ipc_wait(const tilemm__ipc_t *ipc, int event);

#endif
