/* driver.h - CUDA's driver, loaded at run time, and the device of a context. The prototypes are the
 * driver's, of which no header is needed to build.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_DRIVER_H
#define TILEMM_MPI_DRIVER_H

#include "tilemm.h"

typedef struct {
    void *library, *context;
    int device; /* CUdevice */
    int retained;
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
} tilemm__driver_t;

/* The device of a context, as libtilemm uses it: its primary context. Returns 0, or not;
 * tilemm__driver_close releases what there is. */
int tilemm__driver_open(tilemm__driver_t *driver, tilemm_t ctx);
void tilemm__driver_close(tilemm__driver_t *driver);

/* Make the device's context this thread's, and undo it; leave returns `error`, or its own. */
int tilemm__driver_enter(const tilemm__driver_t *driver);
int tilemm__driver_leave(const tilemm__driver_t *driver, int error);

/* A library's function into *pointer, which is one to a function. Returns whether it has it. */
int tilemm__find_function(void *library, const char *name, void *pointer);

#endif
