/* share.h - the share of its machine that a process has.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_SHARE_H
#define TILEMM_MPI_SHARE_H

#include <mpi.h>

typedef struct {
    int processes; /* of the communicator on this machine */
    int number;    /* this process's number among them */
    int threads;   /* for its work, or 0: the environment or the library's default says */
    int devices;   /* CUDA devices */
    int device;    /* this process's */
} tilemm__share_t;

/* Processors that several processes may run on are shared out evenly, and so are CUDA devices.
 * Collective. */
void tilemm__share(MPI_Comm comm, tilemm__share_t *share);

#endif
