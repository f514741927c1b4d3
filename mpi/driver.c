/* driver.c - see driver.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include <dlfcn.h>
#include <string.h>

int tilemm__find_function(void *library, const char *name, void *pointer)
{
    void *const symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

int tilemm__driver_open(tilemm__driver_t *x, tilemm_t ctx)
{
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int ordinal = -1;
    void *const cuda = x->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda || !tilemm__find_function(cuda, "cuInit", &init) ||
        !tilemm__find_function(cuda, "cuDeviceGet", &device_get) ||
        !tilemm__find_function(cuda, "cuDevicePrimaryCtxRetain", &retain) ||
        !tilemm__find_function(cuda, "cuDevicePrimaryCtxRelease_v2", &x->release) ||
        !tilemm__find_function(cuda, "cuCtxPushCurrent_v2", &x->push) ||
        !tilemm__find_function(cuda, "cuCtxPopCurrent_v2", &x->pop) ||
        tilemm_get_device(ctx, &ordinal) != TILEMM_SUCCESS || init(0) ||
        device_get(&x->device, ordinal) || retain(&x->context, x->device))
        return -1;
    x->retained = 1;
    return 0;
}

void tilemm__driver_close(tilemm__driver_t *x)
{
    if (x->retained)
        (void)x->release(x->device);
    if (x->library)
        (void)dlclose(x->library);
}

int tilemm__driver_enter(const tilemm__driver_t *x)
{
    return x->push(x->context);
}

int tilemm__driver_leave(const tilemm__driver_t *x, int error)
{
    void *context;
    return x->pop(&context) | error;
}
