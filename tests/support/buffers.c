/* buffers.c - plain memory on the host and the device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "buffers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "program.h"
#include "tools/gpu.h"

void *device_array(size_t bytes)
{
    return test_need(gpu_malloc(bytes));
}

float *host_array(int64_t count)
{
    return test_need(malloc((size_t)(count > 0 ? count : 1) * sizeof(float)));
}

void *sparse_alloc(tilemm_backend_t backend, size_t bytes)
{
    if (backend == TILEMM_BACKEND_CUDA) {
        void *memory = gpu_malloc(bytes);
        if (memory && gpu_fill_async(memory, 0, bytes, NULL))
            test_give_up("filling device memory failed");
        gpu_synchronize();
        return memory;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sparse_free(tilemm_backend_t backend, void *memory, size_t bytes)
{
    if (backend == TILEMM_BACKEND_CUDA)
        gpu_free(memory);
    else if (memory)
        munmap(memory, bytes);
}

void sparse_write(tilemm_backend_t backend, void *to, const void *from, size_t bytes)
{
    if (backend != TILEMM_BACKEND_CUDA)
        memcpy(to, from, bytes);
    else if (gpu_to_device(to, from, bytes) || gpu_synchronize())
        test_give_up("copy to the device failed");
}

void sparse_read(tilemm_backend_t backend, void *to, const void *from, size_t bytes)
{
    if (backend != TILEMM_BACKEND_CUDA)
        memcpy(to, from, bytes);
    else if (gpu_synchronize() || gpu_to_host(to, from, bytes))
        test_give_up("copy from the device failed");
}
