/* pointer.c - is a pointer to memory that only a GPU can read? Works without CUDA headers, in
 * builds without CUDA too: the program around the library may use CUDA.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for dl_iterate_phdr */
#endif

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "cpu.h"

/* Of the driver's interface: CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *,
 * void **data, CUdeviceptr). It gives 0 for addresses that it does not know; cuPointerGetAttribute
 * fails there, which tools like compute-sanitizer report as the program's error. */
typedef int (*get_attributes_t)(unsigned int count, int *attributes, void **data,
                                unsigned long long pointer);

/* CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_MEMORYTYPE_DEVICE */
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, MEMORY_TYPE_DEVICE = 2 };

/* What shows that the driver's part in the kernel is there: Linux, in containers of any kind, on
 * Tegra, on WSL. Without it no process gets device memory, and short calls need not look for the
 * driver itself, which would take a third of their time. */
int tilemm__has_gpu(void)
{
#ifdef __linux__
    static const char *const signs[] = {"/proc/driver/nvidia", "/sys/module/nvidia",
                                        "/dev/nvidiactl", "/dev/nvmap", "/dev/dxg"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (access(signs[i], F_OK) == 0)
            return 1;
    return 0;
#else
    return 1;
#endif
}

/* Libraries that the process has loaded so far. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1; /* the first entry tells */
}

/* To look for the driver takes a search of the file system, so that is done only when libraries
 * have been loaded since. */
void tilemm__look_for_driver(tilemm__cpu_state_t *state)
{
    unsigned long long loads = 0;
    if (state->driver)
        return;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == state->driver_loads)
        return;
    state->driver_loads = loads;
    state->driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (state->driver)
        state->get_attributes = dlsym(state->driver, "cuPointerGetAttributes");
}

int tilemm__cpu_may_have_device(tilemm_t ctx)
{
    tilemm__cpu_state_t *state = ctx->state;
    if (state->has_gpu)
        tilemm__look_for_driver(state);
    return state->get_attributes != NULL;
}

int tilemm__is_device_pointer(const tilemm__cpu_state_t *state, const void *pointer)
{
    unsigned int type = 0, managed = 0;
    get_attributes_t get_attributes;
    /* A process has device memory only if it has the driver loaded. */
    if (!state->get_attributes)
        return 0;
    *(void **)&get_attributes = state->get_attributes;
    return get_attributes(2, (int[]){MEMORY_TYPE, IS_MANAGED}, (void *[]){&type, &managed},
                          (uintptr_t)pointer) == 0 &&
           type == MEMORY_TYPE_DEVICE && !managed;
}
