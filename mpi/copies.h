/* copies.h - panels from the GPUs of other processes of one host by copy engines, which leave the
 * multiprocessors to the products.
 *
 * Along each side of the grid each process has a window: memory of the library's own, which the
 * other processes there have opened as CUDA's interprocess memory. A process writes its columns of
 * a panel into its window, and the others copy them to the same place in theirs. Before that their
 * streams meet, by numbers that they write into each other's windows: no multiprocessor and no
 * message of MPI has a part in it. Windows stay open from one product to the next: to open one may
 * take milliseconds, and the user's own memory must not stay open, as it may be freed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_COPIES_H
#define TILEMM_MPI_COPIES_H

#include "grid.h"

/* Collective, over the grid: NULL on all processes unless there are several, all of one host, whose
 * GPUs reach each other's memory. */
tilemm__copies_t *tilemm__copies_open(tilemm_grid_t grid);
void tilemm__copies_close(tilemm__copies_t *copies);

/* Collective, along a side of the grid, with the same number on all, while nothing is queued there:
 * room for `floats` floats in this process's window, at an address for any vector access. What was
 * in the window is lost. */
tilemm_status_t tilemm__copies_room(tilemm__copies_t *copies, int side, int64_t floats,
                                    float **room);

/* Collective, along a side: the streams meet. Copies from begin to end come after what is queued on
 * all these processes' context's streams by now, and after all copies that they began before.
 * `event`, as in lane.h, tells of their end: so who has waited for it may write to what the others
 * got after an earlier begin. get: `count` pieces of `length` floats, `spacing` apart, from floats
 * `first`, first + spacing, ... of process `from`'s room to the same ones of this one's. Each
 * returns 0, or not; who has got an error goes on, for the others' sake. */
int tilemm__copies_begin(tilemm__copies_t *copies, int side);
int tilemm__copies_get(const tilemm__copies_t *copies, int side, int from, int64_t first,
                       int64_t length, int64_t spacing, int64_t count);
int tilemm__copies_end(const tilemm__copies_t *copies, int event);

/* What is queued on the context's stream from now on waits for the event. */
int tilemm__copies_wait(const tilemm__copies_t *copies, int event);

#endif
