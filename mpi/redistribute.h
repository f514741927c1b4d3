/* redistribute.h - a matrix from one way in which it is dealt out to another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_REDISTRIBUTE_H
#define TILEMM_MPI_REDISTRIBUTE_H

#include "descriptor.h"
#include "grid.h"

/* Collective: to = alpha from + beta to, for views of the same size, each dealt out as it says.
 * Neither is transposed by it: for that, one of them is a transposed view. With beta 0 `to` is not
 * read. All processes return the same. */
tilemm_status_t tilemm__redistribute(tilemm_grid_t grid, const char *where,
                                     const tilemm__view_t *from, const tilemm__view_t *to,
                                     float alpha, float beta);

/* A view of a part, rows next to each other, for which there is memory as tilemm__alloc gives it
 * (kept.h). */
tilemm_status_t tilemm__alloc_view(tilemm_grid_t grid, tilemm_memory_t where, tilemm__view_t *view);

/* On a CUDA context: a copy of this process's part where the host reaches it, its elements too
 * unless `empty`. Otherwise the view itself. tilemm__unstage frees it, and puts it back before if
 * `changed`. */
tilemm_status_t tilemm__stage(tilemm_grid_t grid, const tilemm__view_t *view, int empty,
                              tilemm__view_t *staged);
tilemm_status_t tilemm__unstage(tilemm_grid_t grid, const tilemm__view_t *view, int changed,
                                tilemm__view_t *staged);

/* Begin to send or receive `count` floats, in as many messages as it takes; the requests are added
 * to those in use. 0 or an error of MPI. */
int tilemm__post(tilemm_grid_t grid, int sends, float *buffer, int64_t count, int rank,
                 MPI_Request *requests, int *used);
/* Of `count` floats to or from all processes together, at most. */
int64_t tilemm__most_messages(tilemm_grid_t grid, int64_t count);

/* dst = src for `count` parts of rows x cols elements, wherever they lie, `step` elements apart. */
tilemm_status_t tilemm__copy_parts(tilemm_grid_t grid, int64_t rows, int64_t cols, const float *src,
                                   int64_t rs_src, int64_t cs_src, int64_t step_src, float *dst,
                                   int64_t rs_dst, int64_t cs_dst, int64_t step_dst, int64_t count);

/* The same of one part. */
tilemm_status_t tilemm__copy_part(tilemm_grid_t grid, int64_t rows, int64_t cols, const float *src,
                                  int64_t rs_src, int64_t cs_src, float *dst, int64_t rs_dst,
                                  int64_t cs_dst);

#endif
