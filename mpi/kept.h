/* kept.h - memory for panels, which stays with a grid of CUDA contexts from one product to the
 * next: to allocate a gigabyte takes milliseconds on a GPU, and tenths of a second where it is
 * pinned.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_KEPT_H
#define TILEMM_MPI_KEPT_H

#include "grid.h"

/* Memory for `count` floats: the host's on a CPU context. tilemm_free_matrix frees it. */
tilemm_status_t tilemm__alloc(tilemm_grid_t grid, tilemm_memory_t where, int64_t count,
                              float **memory);

/* Memory for `count` floats, as tilemm__alloc gives it, or some that was given back. What is kept
 * and too small, or more than twice as large, is freed. */
tilemm_status_t tilemm__take(tilemm_grid_t grid, tilemm_memory_t where, int64_t count,
                             float **memory);
/* Nothing that is queued or under way uses it any more, or only the context's stream does. NULL is
 * nothing. */
void tilemm__give_back(tilemm_grid_t grid, float *memory);

/* Free what has been given back. */
void tilemm__free_kept(tilemm_grid_t grid);

#endif
