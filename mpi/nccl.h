/* nccl.h - broadcasts along a side of the grid by NCCL, from GPU to GPU, on a stream of their own.
 *
 * libnccl.so.2 and libcuda.so.1 are loaded when a grid of CUDA contexts is created. Where a process
 * has neither, or shares its GPU with another process, which NCCL refuses, MPI does all of the
 * work.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_NCCL_H
#define TILEMM_MPI_NCCL_H

#include "grid.h"

/* Collective, over the grid: NULL on all processes if any of them cannot. */
tilemm__nccl_t *tilemm__nccl_open(tilemm_grid_t grid);
void tilemm__nccl_close(tilemm__nccl_t *nccl);

/* Broadcasts between begin and end are queued after what is queued on the context's stream, and go
 * together; `event`, as in lane.h, tells of their end. Each returns 0, or not. */
int tilemm__nccl_begin(tilemm__nccl_t *nccl);
int tilemm__nccl_broadcast(tilemm__nccl_t *nccl, int side, float *device, int64_t count, int root);
int tilemm__nccl_end(tilemm__nccl_t *nccl, int event);

/* What is queued on the context's stream from now on waits for the event. */
int tilemm__nccl_wait(tilemm__nccl_t *nccl, int event);

#endif
