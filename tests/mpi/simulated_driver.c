/* simulated_driver.c - GPUs that are not there, for processes of libtilemm-mpi: contexts that
 * compute on the CPU and say that they are CUDA's, device memory in POSIX shared memory, and of
 * CUDA's driver what mpi/ calls. To be preloaded, and found as libcuda.so.1 (copies.sh).
 *
 * A stream does everything at once; a call outside of a context aborts. Variables:
 * SIMULATED_ONE_GPU=1, all processes have one GPU; SIMULATED_CLOSED=RANK, that process cannot open
 * other processes' memory; SIMULATED_LEAST=N, a process that ends after fewer copies from others,
 * or with memory that is not freed or closed, fails.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tilemm.h"

enum { MOST = 4096, UNIFIED = 4 };

typedef struct {
    char name[64]; /* of the shared memory; CUipcMemHandle */
} name_t;

static struct {
    char *at; /* NULL: this place is free */
    size_t bytes;
    name_t name;
} allocations[MOST];
static int is_used;       /* this process has created a context: it is no shell of mpirun's */
static int depth, opened; /* contexts that are current; other processes' memory */
static long copies;

static void need(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "simulated_driver.c: %s\n", what);
        abort();
    }
}

/* The allocation that has a byte, or -1. */
static int find(const char *byte)
{
    for (int i = 0; i < MOST; i++)
        if (allocations[i].at && byte >= allocations[i].at &&
            byte < allocations[i].at + allocations[i].bytes)
            return i;
    return -1;
}

static int rank(void)
{
    const char *const text = getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : 0;
}

/* ---- libtilemm ------------------------------------------------------------------------------ */

#define NEXT(function)                                                                             \
    static __typeof__(function) *next;                                                             \
    if (!next)                                                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, #function);                                             \
    need(next != NULL, #function)

tilemm_status_t tilemm_create(tilemm_t *ctx, tilemm_backend_t backend, int device)
{
    NEXT(tilemm_create);
    (void)backend, (void)device;
    is_used = 1;
    return next(ctx, TILEMM_BACKEND_CPU, 0);
}

tilemm_status_t tilemm_get_backend(tilemm_t ctx, tilemm_backend_t *backend)
{
    (void)ctx;
    *backend = TILEMM_BACKEND_CUDA;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_get_device(tilemm_t ctx, int *device)
{
    (void)ctx;
    *device = 0;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_get_stream(tilemm_t ctx, void **stream)
{
    (void)ctx;
    *stream = NULL;
    return TILEMM_SUCCESS;
}

/* Device memory is NaN at first. */
tilemm_status_t tilemm_alloc_matrix(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols,
                                    size_t elem_size, void **matrix, int64_t *ld)
{
    static int made;
    const size_t bytes = (size_t)rows * (size_t)cols * elem_size;
    int i = 0;
    NEXT(tilemm_alloc_matrix);
    if (where != TILEMM_MEMORY_DEVICE || bytes == 0)
        return next(ctx, TILEMM_MEMORY_HOST, rows, cols, elem_size, matrix, ld);
    while (i < MOST && allocations[i].at)
        i++;
    need(i < MOST, "too many allocations");
    snprintf(allocations[i].name.name, sizeof(name_t), "/tilemm_%ld_%d", (long)getpid(), made++);
    const int file = shm_open(allocations[i].name.name, O_CREAT | O_RDWR, 0600);
    need(file >= 0 && ftruncate(file, (off_t)bytes) == 0, "shm_open");
    void *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    need(at != MAP_FAILED, "mmap");
    close(file);
    memset(at, 0xff, bytes);
    allocations[i].at = *matrix = at;
    allocations[i].bytes = bytes;
    *ld = cols;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_free_matrix(tilemm_t ctx, void *matrix)
{
    const int i = matrix ? find(matrix) : -1;
    NEXT(tilemm_free_matrix);
    if (i < 0)
        return next(ctx, matrix);
    need(allocations[i].at == matrix, "memory is freed that begins elsewhere");
    munmap(allocations[i].at, allocations[i].bytes);
    shm_unlink(allocations[i].name.name);
    allocations[i].at = NULL;
    return TILEMM_SUCCESS;
}

/* ---- CUDA's driver: contexts, streams, events -------------------------------------------------
 */

static char token; /* what handles point to */

static int inside(void)
{
    need(depth > 0, "a call outside of a context");
    return 0;
}

int cuInit(unsigned flags)
{
    return (int)flags;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &token;
    return device;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

int cuCtxPushCurrent_v2(void *context)
{
    depth++;
    return context != &token;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = &token;
    inside();
    depth--;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &token;
    return inside();
}

int cuStreamDestroy_v2(void *stream)
{
    return inside() || stream != &token;
}

int cuStreamSynchronize(void *stream)
{
    return inside() || stream != &token;
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = &token;
    return inside();
}

int cuEventDestroy_v2(void *event)
{
    return inside() || event != &token;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    return inside() || event != &token;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream, (void)flags;
    return inside() || event != &token;
}

/* ---- memory between processes -----------------------------------------------------------------
 */

int cuDeviceGetUuid_v2(char *uuid, int device)
{
    memset(uuid, 0, 16);
    if (!getenv("SIMULATED_ONE_GPU"))
        uuid[0] = (char)(1 + rank());
    return device;
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    const int i = find((const char *)(uintptr_t)address);
    if (inside() || i < 0)
        return 1;
    *base = (uint64_t)(uintptr_t)allocations[i].at;
    *bytes = allocations[i].bytes;
    return 0;
}

int cuIpcGetMemHandle(name_t *handle, uint64_t address)
{
    const int i = find((const char *)(uintptr_t)address);
    if (inside() || i < 0)
        return 1;
    *handle = allocations[i].name;
    return 0;
}

int cuIpcOpenMemHandle_v2(uint64_t *address, name_t handle, unsigned flags)
{
    const char *const closed = getenv("SIMULATED_CLOSED");
    struct stat info;
    (void)flags;
    if (inside() || (closed && atoi(closed) == rank()))
        return 1;
    const int file = shm_open(handle.name, O_RDONLY, 0);
    need(file >= 0 && fstat(file, &info) == 0, "another process has freed its memory");
    void *const at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, file, 0);
    need(at != MAP_FAILED, "mmap");
    close(file);
    *address = (uint64_t)(uintptr_t)at;
    opened++;
    return 0;
}

/* Memory stays mapped: of how many bytes it is nobody says. */
int cuIpcCloseMemHandle(uint64_t address)
{
    opened--;
    return inside() || address == 0;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    char *const dst = (char *)(uintptr_t)to;
    need(bytes > 0 && find(dst) >= 0 && find(dst) == find(dst + bytes - 1), "a copy to nowhere");
    memcpy(dst, (const char *)(uintptr_t)from, bytes);
    copies += find((const char *)(uintptr_t)from) < 0;
    return inside() || stream != &token;
}

/* CUDA_MEMCPY2D */
typedef struct {
    struct {
        size_t x, y;
        int type;
        void *host;
        uint64_t at;
        void *array;
        size_t pitch;
    } src, dst;
    size_t width, height;
} rectangle_t;

int cuMemcpy2DAsync_v2(const rectangle_t *r, void *stream)
{
    int error = r->src.type != UNIFIED || r->dst.type != UNIFIED || r->src.pitch < r->width ||
                r->dst.pitch < r->width;
    for (size_t i = 0; i < r->height && !error; i++)
        error = cuMemcpyAsync(r->dst.at + i * r->dst.pitch, r->src.at + i * r->src.pitch, r->width,
                              stream);
    return error;
}

__attribute__((destructor)) static void end(void)
{
    const char *const least = getenv("SIMULATED_LEAST");
    int left = 0;
    if (!is_used || !least)
        return;
    for (int i = 0; i < MOST; i++)
        if (allocations[i].at) {
            left++;
            shm_unlink(allocations[i].name.name);
        }
    if (copies < atol(least) || opened != 0 || left != 0) {
        fprintf(stderr, "simulated_driver.c: process %d: %ld copies, %d not closed, %d not freed\n",
                rank(), copies, opened, left);
        _exit(1);
    }
}
