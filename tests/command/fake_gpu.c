/* fake_gpu.c - for bench_host.sh: what `tilemm bench` finds on a machine with a GPU, made of host
 * memory. Compiled once with each of DRIVER (libcuda.so.1), MODULE (libtilemm-cuda.so) and CUBLAS
 * (libcublas.so.13).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static inline void pause_for(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* ---- the driver ----------------------------------------------------------------------------- */

#ifdef DRIVER
typedef unsigned long long address_t;

enum { BLOCKS = 256 };
static struct {
    char *at;
    size_t bytes;
    char kind; /* d, p, m: device, pinned, managed */
} blocks[BLOCKS];

/* Where memory lies: d, p, m, or h for the host's that is pageable. */
char fake_place(const void *pointer)
{
    const char *at = pointer;
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at && at >= blocks[i].at && at < blocks[i].at + blocks[i].bytes)
            return blocks[i].kind;
    return 'h';
}

static int allocate(void **to, size_t bytes, char kind)
{
    int i = 0;
    while (i < BLOCKS && blocks[i].at)
        i++;
    *to = i < BLOCKS ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    if (!*to)
        return 2;
    blocks[i].at = *to;
    blocks[i].bytes = bytes;
    blocks[i].kind = kind;
    return 0;
}

static int release(void *memory, const char *kinds)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at == memory && strchr(kinds, blocks[i].kind)) {
            blocks[i].at = NULL;
            free(memory);
            return 0;
        }
    fprintf(stderr, "fake driver: freed in another way than allocated\n");
    return 1;
}

__attribute__((destructor)) static void look_for_leaks(void)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at)
            fprintf(stderr, "fake driver: %zu bytes of %c are left\n", blocks[i].bytes,
                    blocks[i].kind);
}

static int copy(void *to, const void *from, size_t bytes, const char *to_kinds, const char *kinds)
{
    if (!strchr(to_kinds, fake_place(to)) || !strchr(kinds, fake_place(from))) {
        fprintf(stderr, "fake driver: a copy of memory of another kind\n");
        return 1;
    }
    memcpy(to, from, bytes);
    return 0;
}

#define SUCCEEDS(name, ...)                                                                        \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        return 0;                                                                                  \
    }
SUCCEEDS(cuInit, unsigned flags)
SUCCEEDS(cuCtxSetCurrent, void *context)
SUCCEEDS(cuCtxSynchronize, void)
SUCCEEDS(cuStreamDestroy_v2, void *stream)
SUCCEEDS(cuStreamSynchronize, void *stream)
SUCCEEDS(cuEventSynchronize, void *event)
SUCCEEDS(cuGraphDestroy, void *graph)
SUCCEEDS(cuGraphExecDestroy, void *graph)
#define STORES(name, type, value, ...)                                                             \
    int name(type *result, ##__VA_ARGS__)                                                          \
    {                                                                                              \
        *result = value;                                                                           \
        return 0;                                                                                  \
    }
STORES(cuDriverGetVersion, int, 13000)
STORES(cuDeviceGetCount, int, 1)
STORES(cuDeviceGet, int, 0, int ordinal)
STORES(cuDeviceGetAttribute, int, 9, int attribute, int device)
STORES(cuDeviceTotalMem_v2, size_t, (size_t)1 << 34, int device)
STORES(cuDevicePrimaryCtxRetain, void *, blocks, int device)
STORES(cuStreamCreate, void *, blocks, unsigned flags)

int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "a fake error";
    return 0;
}
int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    snprintf(name, (size_t)length, "Fake GPU");
    return 0;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = (size_t)1 << (getenv("FAKE_SMALL") ? 16 : 34);
    return 0;
}
int cuMemAlloc_v2(address_t *to, size_t bytes)
{
    void *memory = NULL;
    const int error = allocate(&memory, bytes, 'd');
    *to = (uintptr_t)memory;
    return error;
}
int cuMemAllocManaged(address_t *to, size_t bytes, unsigned flags)
{
    void *memory = NULL;
    const int error = allocate(&memory, bytes, 'm');
    (void)flags;
    *to = (uintptr_t)memory;
    return error;
}
int cuMemAllocHost_v2(void **to, size_t bytes)
{
    return getenv("FAKE_NO_PINNED") ? 2 : allocate(to, bytes, 'p');
}
int cuMemFree_v2(address_t address)
{
    return release((void *)(uintptr_t)address, "dm");
}
int cuMemFreeHost(void *memory)
{
    return release(memory, "p");
}
int cuMemcpyHtoD_v2(address_t to, const void *from, size_t bytes)
{
    return copy((void *)(uintptr_t)to, from, bytes, "dm", "hp");
}
int cuMemcpyDtoH_v2(void *to, address_t from, size_t bytes)
{
    return copy(to, (void *)(uintptr_t)from, bytes, "hp", "dm");
}
int cuMemcpyHtoDAsync_v2(address_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    return copy((void *)(uintptr_t)to, from, bytes, "d", "p");
}
int cuMemcpyDtoHAsync_v2(void *to, address_t from, size_t bytes, void *stream)
{
    (void)stream;
    return copy(to, (void *)(uintptr_t)from, bytes, "p", "d");
}
int cuMemcpyDtoDAsync_v2(address_t to, address_t from, size_t bytes, void *stream)
{
    (void)stream;
    return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, "dm", "dm");
}
int cuMemsetD8Async(address_t to, unsigned char byte, size_t bytes, void *stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(struct timespec));
    return *event ? 0 : 2;
}
int cuEventDestroy_v2(void *event)
{
    free(event);
    return 0;
}
int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    return clock_gettime(CLOCK_MONOTONIC, event);
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    const struct timespec *from = start, *to = end;
    *milliseconds = (float)(1e3 * (double)(to->tv_sec - from->tv_sec) +
                            1e-6 * (double)(to->tv_nsec - from->tv_nsec));
    return 0;
}
/* No graphs: work on the host cannot be captured. */
int cuStreamBeginCapture_v2(void *stream, int mode)
{
    if (getenv("FAKE_NO_CAPTURE"))
        fprintf(stderr, "fake driver: a capture\n");
    (void)stream;
    (void)mode;
    return 1;
}
int cuStreamEndCapture(void *stream, void **graph)
{
    (void)stream;
    (void)graph;
    return 1;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
    (void)executable;
    (void)graph;
    (void)flags;
    return 1;
}
int cuGraphLaunch(void *executable, void *stream)
{
    (void)executable;
    (void)stream;
    return 1;
}
#endif

/* ---- the library's module ------------------------------------------------------------------- */

#ifdef MODULE
#include "lib/build_id.h"
#include "lib/internal.h"
#include "lib/load_cuda.h"

extern const tilemm__module_t tilemm_cuda_module;

static char place_of(const void *pointer)
{
    char (*fake_place)(const void *pointer);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&fake_place = driver ? dlsym(driver, "fake_place") : NULL;
    return fake_place ? fake_place(pointer) : '?';
}

static tilemm__place_t locate(tilemm_t ctx, const void *pointer)
{
    const char place = place_of(pointer);
    (void)ctx;
    return place == 'd' ? TILEMM__DEVICE : place == 'm' ? TILEMM__MANAGED : TILEMM__HOST;
}

static int members = 1; /* of the last context */

static tilemm_status_t open_device(tilemm_t ctx, int device)
{
    (void)ctx;
    members = 1;
    return device == 0 ? TILEMM_SUCCESS : TILEMM_NO_DEVICE;
}
static tilemm_status_t open_devices(tilemm_t ctx, int count, const int *devices)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += devices[i] != 0;
    members = count;
    ctx->backend = tilemm_cuda_module.backend;
    return wrong ? TILEMM_NO_DEVICE : TILEMM_SUCCESS;
}
static tilemm_status_t no_work(tilemm_t ctx)
{
    (void)ctx;
    return TILEMM_SUCCESS;
}
static tilemm_status_t set_stream(tilemm_t ctx, void *stream)
{
    (void)ctx;
    (void)stream;
    return TILEMM_SUCCESS;
}
static size_t workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    (void)args;
    return 0;
}

/* The kernel's name tells where the operands lie, the limit of device memory, and the devices. */
static void set_kernel(tilemm_t ctx, const void *x, const void *y, const void *z)
{
    snprintf(ctx->kernel_text, sizeof ctx->kernel_text, "fake_%c%c%c+limit%zu", place_of(x),
             place_of(y), place_of(z), ctx->device_memory);
    if (members > 1)
        snprintf(strchr(ctx->kernel_text, 0), 16, "+devices%d", members);
    ctx->last_kernel = ctx->kernel_text;
}

static void write_timeline(const tilemm_t ctx)
{
    FILE *file = *ctx->timeline && ctx->device_memory ? fopen(ctx->timeline, "a") : NULL;
    if (!file)
        return;
    struct stat info;
    if (fstat(fileno(file), &info) == 0 && info.st_size == 0)
        fputs("device,stream,begin_s,end_s,work\n", file);
    fputs("0,up,7.0,7.1,1000\n0,compute,7.1,7.3,1000\n0,down,7.3,7.4,1000\n", file);
    fclose(file);
}

static tilemm_status_t sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *p)
{
    for (int64_t v = 0; v < p->batch_count; v++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                const float *a = p->a + v * p->stride_a, *b = p->b + v * p->stride_b;
                float *c = p->c + v * p->stride_c + i * p->ldc + j;
                double sum = 0;
                for (int64_t l = 0; l < p->k; l++)
                    sum += (double)a[p->trans_a ? l * p->lda + i : i * p->lda + l] *
                           (double)b[p->trans_b ? j * p->ldb + l : l * p->ldb + j];
                *c = (float)((double)p->alpha * sum +
                             (p->beta != 0 ? (double)p->beta * (double)*c : 0));
            }
    set_kernel(ctx, p->a, p->b, p->c);
    write_timeline(ctx);
    return TILEMM_SUCCESS;
}

static tilemm_status_t transpose(tilemm_t ctx, const tilemm__transpose_args_t *p)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->cols; j++)
            memcpy((char *)p->dst + (size_t)(j * p->ld_dst + i) * p->elem_size,
                   (const char *)p->src + (size_t)(i * p->ld_src + j) * p->elem_size, p->elem_size);
    set_kernel(ctx, p->src, p->src, p->dst);
    return TILEMM_SUCCESS;
}

static tilemm_status_t reduce(tilemm_t ctx, const tilemm__reduce_args_t *p)
{
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += (double)p->x[i * p->istride];
    *p->out = (float)sum;
    set_kernel(ctx, p->x, p->x, p->out);
    return TILEMM_SUCCESS;
}

static const tilemm__backend_t backend = {.id = TILEMM_BACKEND_CUDA,
                                          .locate = locate,
                                          .open = open_device,
                                          .open_multi = open_devices,
                                          .close = no_work,
                                          .synchronize = no_work,
                                          .set_stream = set_stream,
                                          .sgemm = sgemm,
                                          .sgemm_workspace = workspace,
                                          .transpose = transpose,
                                          .reduce = reduce};
const tilemm__module_t tilemm_cuda_module = {.build = TILEMM__BUILD, .backend = &backend};
#endif

/* ---- cuBLAS --------------------------------------------------------------------------------- */

#ifdef CUBLAS
static int block, handle;

int cublasCreate_v2(void **made)
{
    *made = &handle;
    return 0;
}
int cublasXtCreate(void **made)
{
    *made = &handle;
    return 0;
}
int cublasGetProperty(int property, int *value)
{
    *value = property == 0 ? 13 : 0;
    return 0;
}
int cublasXtDeviceSelect(void *at, int count, const int *devices)
{
    static int calls; /* a handle takes its devices once, and each once */
    return at != &handle || count != 1 || devices[0] != 0 || calls++;
}
int cublasXtSetBlockDim(void *at, int size)
{
    block = size;
    return at != &handle || size < 1;
}
/* Blocks of 4096 are the best. */
int cublasXtSgemm(void *at, int transa, int transb, size_t m, size_t n, size_t k,
                  const float *alpha, const float *a, size_t lda, const float *b, size_t ldb,
                  const float *beta, float *c, size_t ldc)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += (double)a[transa ? l + i * lda : i + l * lda] *
                       (double)b[transb ? j + l * ldb : l + j * ldb];
            c[i + j * ldc] = (float)((double)*alpha * sum +
                                     (*beta != 0 ? (double)*beta * (double)c[i + j * ldc] : 0));
        }
    pause_for(block == 4096 ? 1000 : 20000000);
    return at != &handle;
}
#define NOT_HERE(name)                                                                             \
    int name(void)                                                                                 \
    {                                                                                              \
        return 15;                                                                                 \
    }
int cublasSetStream_v2(void *at, void *stream)
{
    (void)stream;
    return at && at != &handle;
}
NOT_HERE(cublasSetMathMode)
NOT_HERE(cublasSetPointerMode_v2)
NOT_HERE(cublasSgemm_v2)
NOT_HERE(cublasSgemmStridedBatched)
NOT_HERE(cublasSgeam)
NOT_HERE(cublasSasum_v2)
NOT_HERE(cublasSnrm2_v2)
NOT_HERE(cublasSdot_v2)
NOT_HERE(cublasIsamax_v2)
NOT_HERE(cublasIsamin_v2)
NOT_HERE(cublasSgemv_v2)
#endif
