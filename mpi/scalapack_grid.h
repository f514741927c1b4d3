/* scalapack_grid.h - grids of libtilemm on the grids of BLACS contexts, for the ScaLAPACK drop-in.
 *
 * psgemm_ and pstran_ (scalapack.c) look at those arguments that are the same on all processes. A
 * call that libtilemm-mpi can take goes to it, on a grid kept for the BLACS context
 * (scalapack_grid.c). Every other call, one with a wrong argument too, goes to the ScaLAPACK
 * behind: the routine that the program would call if this library were not there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_SCALAPACK_GRID_H
#define TILEMM_MPI_SCALAPACK_GRID_H

#include "tilemm_mpi.h"

/* A BLACS context: its handle, its grid, and where in it this process is. */
typedef struct {
    int handle, rows, cols, row, col;
} tilemm__blacs_t;

/* Ask BLACS for the context's grid. Returns 0 where there is no such grid, or no BLACS. `caller` is
 * the address that the routine returns to. */
int tilemm__blacs_ask(int handle, const void *caller, tilemm__blacs_t *blacs);

/* A grid of libtilemm on a BLACS context, or NULL where the ScaLAPACK behind is to compute; NULL on
 * all processes then. Collective. `work` is floating-point operations a process. *on_gpu tells
 * where the grid computes. */
tilemm_grid_t tilemm__scalapack_grid(const tilemm__blacs_t *blacs, double work, int *on_gpu);

/* Whether all processes of the grid say yes. Collective. */
int tilemm__scalapack_agree(const tilemm__blacs_t *blacs, int yes);

/* The GPU failed: it is not used again on this context. Collective. */
void tilemm__scalapack_lose_gpu(const tilemm__blacs_t *blacs);

/* Why the last call of the context's grid failed, in words. */
const char *tilemm__scalapack_error(const tilemm__blacs_t *blacs);

/* A symbol of the library that the caller belongs to, or of the libraries that it needs. */
void *tilemm__scalapack_find_from(const char *name, const void *caller);

/* Whether TILEMM_LOG=1. */
int tilemm__scalapack_logs(void);

#endif
