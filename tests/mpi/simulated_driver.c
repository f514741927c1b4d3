/* simulated_driver.c - GPUs that are not there, for processes of libtilemm-mpi: contexts that
 * compute on the CPU and say that they are CUDA's, device memory in POSIX shared memory, and of
 * CUDA's driver what mpi/ calls. To be preloaded, and found as libcuda.so.1 (copies.sh).
 *
 * Streams are queues: now and then some of their first entries are carried out, in random order
 * among streams, the rest when somebody synchronizes; so what nothing orders happens in a wrong
 * order sooner or later. Of libtilemm what tilemm.h calls asynchronous is queued, of what
 * mpi/ calls; all else waits for the context's stream. A call outside of a context aborts, and so
 * does memory that is freed while another process has it open.
 *
 * Variables: SIMULATED_ONE_GPU=1, all processes have one GPU; SIMULATED_CLOSED=RANK, that process
 * cannot open other processes' memory; SIMULATED_LEAST=N, a process that ends after fewer copies
 * from others, or with memory that is not freed or closed, fails.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tilemm.h"

enum { MOST = 4096, MOST_STREAMS = 64, UNIFIED = 4, PATIENCE = 60 /* seconds */ };

typedef struct {
    char name[64]; /* of the shared memory; CUipcMemHandle */
} name_t;

/* Memory of this process, or another's that it has opened. Behind it stands how many processes have
 * opened it. */
typedef struct {
    char *at; /* NULL: this place is free */
    size_t bytes;
    name_t name;
    int is_opened, is_pinned;
} memory_t;
static memory_t memories[MOST];
static int is_used; /* this process has created a context: it is no shell of mpirun's */
static int depth;   /* contexts that are current */
static long copies;

static void need(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "simulated_driver.c: %s\n", what);
        abort();
    }
}

/* The memory that has some bytes, or NULL. */
static memory_t *find(const void *first, size_t bytes)
{
    const char *const at = first;
    for (int i = 0; i < MOST; i++)
        if (memories[i].at && at >= memories[i].at && at < memories[i].at + memories[i].bytes &&
            bytes <= (size_t)(memories[i].at + memories[i].bytes - at))
            return &memories[i];
    return NULL;
}

static int rank(void)
{
    const char *const text = getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : 0;
}

/* ---- streams --------------------------------------------------------------------------------- */

typedef struct {
    long recorded, done; /* how many times in a stream's queue, and carried out */
} event_t;

typedef struct {
    tilemm_t ctx;
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    const float *a, *b;
    float *c;
} product_t;

typedef struct {
    __typeof__(tilemm_copy_matrix_strided_batched) *function;
    tilemm_t ctx;
    int64_t rows, cols, ld_src, stride_src, ld_dst, stride_dst, count;
    size_t elem_size;
    const void *src;
    void *dst;
} batch_t;

typedef struct {
    enum { RECORD, WAIT_EVENT, WRITE_VALUE, WAIT_VALUE, COPY, PRODUCT, BATCH } what;
    event_t *event;
    long number; /* of the event's */
    uint32_t *at, value;
    char *dst;
    const char *src;
    size_t bytes;
    product_t product;
    batch_t batch;
} entry_t;

typedef struct {
    entry_t *entries;
    int begin, end, room;
} stream_t;

/* The first is the contexts'. */
static stream_t streams[MOST_STREAMS];
static int stream_count = 1;

static unsigned pick(unsigned count)
{
    static unsigned state;
    if (!state)
        state = (unsigned)time(NULL) + 7919u * (unsigned)rank();
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % count;
}

static int is_ready(const entry_t *x)
{
    return x->what == WAIT_EVENT ? x->event->done >= x->number
           : x->what == WAIT_VALUE
               ? (int32_t)(__atomic_load_n(x->at, __ATOMIC_ACQUIRE) - x->value) >= 0
               : 1;
}

#define NEXT(function)                                                                             \
    static __typeof__(function) *next;                                                             \
    if (!next)                                                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, #function);                                             \
    need(next != NULL, #function)

static void carry_out(const entry_t *x)
{
    const product_t *const p = &x->product;
    const batch_t *const b = &x->batch;
    NEXT(tilemm_sgemm);
    switch (x->what) {
    case RECORD: x->event->done = x->number; break;
    case WRITE_VALUE: __atomic_store_n(x->at, x->value, __ATOMIC_RELEASE); break;
    case COPY: memcpy(x->dst, x->src, x->bytes); break;
    case PRODUCT:
        need(next(p->ctx, p->layout, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a, p->lda,
                  p->b, p->ldb, p->beta, p->c, p->ldc) == TILEMM_SUCCESS,
             "a queued product failed");
        break;
    case BATCH:
        need(b->function(b->ctx, b->rows, b->cols, b->elem_size, b->src, b->ld_src, b->stride_src,
                         b->dst, b->ld_dst, b->stride_dst, b->count) == TILEMM_SUCCESS,
             "a queued copy failed");
        break;
    case WAIT_EVENT:
    case WAIT_VALUE: break;
    }
}

/* The first entry of a random stream, if it can be carried out. Returns whether it was. */
static int step(void)
{
    const unsigned first = pick((unsigned)stream_count);
    /* Other processes may be ahead. */
    if (pick(8) == 0)
        usleep(pick(500));
    for (int i = 0; i < stream_count; i++) {
        stream_t *const s = &streams[(first + (unsigned)i) % (unsigned)stream_count];
        if (s->begin < s->end && is_ready(&s->entries[s->begin])) {
            carry_out(&s->entries[s->begin++]);
            return 1;
        }
    }
    return 0;
}

static int drain(stream_t *s)
{
    const time_t since = time(NULL);
    while (s->begin < s->end)
        if (!step()) {
            need(time(NULL) - since < PATIENCE, "a stream waits in vain");
            sched_yield();
        }
    return 0;
}

static void push(stream_t *s, const entry_t *entry)
{
    if (s->begin == s->end)
        s->begin = s->end = 0;
    if (s->end == s->room) {
        s->room = 2 * s->room + 16;
        s->entries = realloc(s->entries, (size_t)s->room * sizeof *s->entries);
        need(s->entries != NULL, "no memory for a stream");
    }
    s->entries[s->end++] = *entry;
    /* Half of the time nothing happens until somebody waits. */
    for (unsigned steps = pick(2) ? pick(8) : 0; steps > 0; steps--)
        (void)step();
}

/* ---- libtilemm ------------------------------------------------------------------------------ */

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

tilemm_status_t tilemm_synchronize(tilemm_t ctx)
{
    NEXT(tilemm_synchronize);
    drain(&streams[0]);
    return next(ctx);
}

tilemm_status_t tilemm_copy_matrix(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                   const void *src, int64_t ld_src, void *dst, int64_t ld_dst)
{
    NEXT(tilemm_copy_matrix);
    drain(&streams[0]);
    return next(ctx, rows, cols, elem_size, src, ld_src, dst, ld_dst);
}

/* On the context's stream; done on return unless it is asynchronous. */
static tilemm_status_t queue(const entry_t *entry, int is_asynchronous)
{
    push(&streams[0], entry);
    if (!is_asynchronous)
        drain(&streams[0]);
    return TILEMM_SUCCESS;
}

static int is_on_device(const void *x)
{
    const memory_t *const memory = find(x, 1);
    return memory && !memory->is_pinned;
}

tilemm_status_t tilemm_copy_matrix_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                   size_t elem_size, const void *src,
                                                   int64_t ld_src, int64_t stride_src, void *dst,
                                                   int64_t ld_dst, int64_t stride_dst,
                                                   int64_t count)
{
    NEXT(tilemm_copy_matrix_strided_batched);
    const entry_t entry = {.what = BATCH,
                           .batch = {next, ctx, rows, cols, ld_src, stride_src, ld_dst, stride_dst,
                                     count, elem_size, src, dst}};
    return queue(&entry, find(src, 1) && find(dst, 1));
}

tilemm_status_t tilemm_transpose_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                 size_t elem_size, const void *src, int64_t ld_src,
                                                 int64_t stride_src, void *dst, int64_t ld_dst,
                                                 int64_t stride_dst, int64_t count)
{
    NEXT(tilemm_transpose_strided_batched);
    const entry_t entry = {.what = BATCH,
                           .batch = {next, ctx, rows, cols, ld_src, stride_src, ld_dst, stride_dst,
                                     count, elem_size, src, dst}};
    return queue(&entry, is_on_device(src) && is_on_device(dst));
}

tilemm_status_t tilemm_sgemm(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                             tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc)
{
    const entry_t entry = {
        .what = PRODUCT,
        .product = {ctx, layout, transa, transb, m, n, k, lda, ldb, ldc, alpha, beta, a, b, c}};
    return queue(&entry, is_on_device(a) && is_on_device(b) && is_on_device(c));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int *openers(const memory_t *x)
{
    return (int *)(void *)(x->at + (x->bytes + 63) / 64 * 64);
}

static size_t mapped_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64 + sizeof(int);
}

/* Maps the shared memory of that name. */
static memory_t *map(const char *name, int flags, size_t bytes)
{
    struct stat info;
    int i = 0;
    while (i < MOST && memories[i].at)
        i++;
    need(i < MOST, "too much memory");
    const int file = shm_open(name, flags, 0600);
    need(file >= 0, bytes ? "shm_open" : "another process has freed its memory");
    need(!bytes || ftruncate(file, (off_t)mapped_bytes(bytes)) == 0, "ftruncate");
    need(fstat(file, &info) == 0, "fstat");
    void *const at = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    need(at != MAP_FAILED, "mmap");
    close(file);
    memories[i] =
        (memory_t){.at = at, .bytes = (size_t)info.st_size - sizeof(int), .is_opened = bytes == 0};
    snprintf(memories[i].name.name, sizeof(name_t), "%s", name);
    return &memories[i];
}

/* Device and pinned memory are NaN at first. */
tilemm_status_t tilemm_alloc_matrix(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols,
                                    size_t elem_size, void **matrix, int64_t *ld)
{
    static int made;
    const size_t bytes = (size_t)rows * (size_t)cols * elem_size;
    char name[sizeof(name_t)];
    NEXT(tilemm_alloc_matrix);
    if (where == TILEMM_MEMORY_HOST || bytes == 0)
        return next(ctx, TILEMM_MEMORY_HOST, rows, cols, elem_size, matrix, ld);
    snprintf(name, sizeof name, "/tilemm_%ld_%d", (long)getpid(), made++);
    memory_t *const x = map(name, O_CREAT | O_RDWR, bytes);
    x->is_pinned = where == TILEMM_MEMORY_PINNED;
    memset(x->at, 0xff, bytes);
    *matrix = x->at;
    *ld = cols;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_free_matrix(tilemm_t ctx, void *matrix)
{
    memory_t *const x = matrix ? find(matrix, 1) : NULL;
    NEXT(tilemm_free_matrix);
    drain(&streams[0]);
    if (!x)
        return next(ctx, matrix);
    need(x->at == matrix && !x->is_opened, "memory is freed that begins elsewhere");
    need(__atomic_load_n(openers(x), __ATOMIC_ACQUIRE) == 0,
         "memory is freed that another process has open");
    munmap(x->at, mapped_bytes(x->bytes));
    shm_unlink(x->name.name);
    x->at = NULL;
    return TILEMM_SUCCESS;
}

/* ---- CUDA's driver: contexts, streams, events ------------------------------------------------ */

static char token; /* what a context's handle points to */

static int inside(void)
{
    need(depth > 0, "a call outside of a context");
    return 0;
}

static stream_t *stream_of(void *stream)
{
    return stream ? stream : &streams[0];
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
    need(stream_count < MOST_STREAMS && flags == 1, "cuStreamCreate");
    *stream = &streams[stream_count++];
    return inside();
}

int cuStreamDestroy_v2(void *stream)
{
    return inside() || drain(stream);
}

int cuStreamSynchronize(void *stream)
{
    return inside() || drain(stream_of(stream));
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(event_t));
    return inside() || !*event;
}

/* Entries of streams that are not carried out may still name it. */
int cuEventDestroy_v2(void *event)
{
    return inside() || !event;
}

int cuEventRecord(event_t *event, void *stream)
{
    const entry_t entry = {.what = RECORD, .event = event, .number = ++event->recorded};
    push(stream_of(stream), &entry);
    return inside();
}

int cuStreamWaitEvent(void *stream, event_t *event, unsigned flags)
{
    const entry_t entry = {.what = WAIT_EVENT, .event = event, .number = event->recorded};
    push(stream_of(stream), &entry);
    return inside() || flags != 0;
}

int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    const entry_t entry = {
        .what = WRITE_VALUE, .at = (uint32_t *)(uintptr_t)address, .value = value};
    need(find(entry.at, sizeof value) != NULL && address % sizeof value == 0, "a value to nowhere");
    push(stream_of(stream), &entry);
    return inside() || flags != 0;
}

int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    const entry_t entry = {
        .what = WAIT_VALUE, .at = (uint32_t *)(uintptr_t)address, .value = value};
    need(find(entry.at, sizeof value) != NULL && address % sizeof value == 0,
         "a value from nowhere");
    push(stream_of(stream), &entry);
    return inside() || flags != 0;
}

/* ---- CUDA's driver: memory between processes ------------------------------------------------- */

int cuDeviceGetUuid_v2(char *uuid, int device)
{
    memset(uuid, 0, 16);
    if (!getenv("SIMULATED_ONE_GPU"))
        uuid[0] = (char)(1 + rank());
    return device;
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    const memory_t *const x = find((const void *)(uintptr_t)address, 1);
    if (inside() || !x)
        return 1;
    *base = (uint64_t)(uintptr_t)x->at;
    *bytes = x->bytes;
    return 0;
}

int cuIpcGetMemHandle(name_t *handle, uint64_t address)
{
    const memory_t *const x = find((const void *)(uintptr_t)address, 1);
    if (inside() || !x || x->is_opened || x->is_pinned)
        return 1;
    *handle = x->name;
    return 0;
}

int cuIpcOpenMemHandle_v2(uint64_t *address, name_t handle, unsigned flags)
{
    const char *const closed = getenv("SIMULATED_CLOSED");
    if (inside() || flags != 1 || (closed && atoi(closed) == rank()))
        return 1;
    const memory_t *const x = map(handle.name, O_RDWR, 0);
    (void)__atomic_add_fetch(openers(x), 1, __ATOMIC_ACQ_REL);
    *address = (uint64_t)(uintptr_t)x->at;
    return 0;
}

int cuIpcCloseMemHandle(uint64_t address)
{
    memory_t *const x = find((const void *)(uintptr_t)address, 1);
    if (inside() || !x || !x->is_opened || address != (uint64_t)(uintptr_t)x->at)
        return 1;
    (void)__atomic_sub_fetch(openers(x), 1, __ATOMIC_ACQ_REL);
    munmap(x->at, mapped_bytes(x->bytes));
    x->at = NULL;
    return 0;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    const entry_t entry = {.what = COPY,
                           .dst = (char *)(uintptr_t)to,
                           .src = (const char *)(uintptr_t)from,
                           .bytes = bytes};
    const memory_t *const dst = find(entry.dst, bytes), *const src = find(entry.src, bytes);
    need(bytes > 0 && dst && src && !dst->is_opened, "a copy to or from nowhere");
    push(stream_of(stream), &entry);
    copies += src->is_opened;
    return inside();
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
    int not_closed = 0, not_freed = 0;
    if (!is_used || !least)
        return;
    for (int i = 0; i < MOST; i++)
        if (memories[i].at && memories[i].is_opened) {
            not_closed++;
        } else if (memories[i].at) {
            not_freed++;
            shm_unlink(memories[i].name.name);
        }
    if (copies < atol(least) || not_closed || not_freed) {
        fprintf(stderr, "simulated_driver.c: process %d: %ld copies, %d not closed, %d not freed\n",
                rank(), copies, not_closed, not_freed);
        _exit(1);
    }
}
