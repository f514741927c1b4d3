/* simulated_cuda.h - a CUDA runtime of the tests' own: what is queued on a stream runs late, and
 * streams run in random order but for the events between them. A copy or product that is not
 * ordered after what it needs makes a wrong result. And what of the library is not under test.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_SIMULATED_CUDA_H
#define TILEMM_TESTS_UNIT_SIMULATED_CUDA_H

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/transfer.h"
#include "lib/sgemm/plan_cuda.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* ---- a runtime ------------------------------------------------------------------------------ */

typedef enum { COPY, PRODUCT, CALL, RECORD, WAIT } kind_t;

typedef struct work {
    struct work *next;
    kind_t kind;
    int done;           /* the time: how many works were done before, and this one */
    struct work *after; /* WAIT: the record, or NULL */
    char *to;
    const char *from;
    size_t pitch_to, pitch_from, width, rows;
    tilemm__sgemm_args_t product;
    void (*call)(void *data); /* CALL: data is freed after it */
    void *data;
} work_t;

struct CUstream_st {
    struct CUstream_st *next;
    work_t *first, *last;
    int destroyed; /* goes once its work has run */
};

struct CUevent_st {
    work_t *record;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUstream_st legacy, *streams = &legacy;
static work_t *finished;
static rng_t rng = {11};
static int works_done, allocations, fail_copies_after = -1;
static int slow_device = -2; /* takes twice the time */
static size_t device_bytes = (size_t)1 << 40, most_allocated;

/* What cudaMalloc has given. */
typedef struct block {
    struct block *next;
    char *begin, *end;
} block_t;
static block_t *blocks;

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memory;
}

static struct CUstream_st *stream_of(cudaStream_t stream)
{
    return stream ? stream : &legacy;
}

static void multiply(const tilemm__sgemm_args_t *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += (double)p->a[p->trans_a ? l * p->lda + i : i * p->lda + l] *
                       (double)p->b[p->trans_b ? j * p->ldb + l : l * p->ldb + j];
            float *const c = &p->c[i * p->ldc + j];
            *c = p->alpha * (float)sum + (p->beta != 0 ? p->beta * *c : 0);
        }
}

/* Run the first work of a stream; 0 if there is none, or it waits. */
static int run_one(struct CUstream_st *stream)
{
    work_t *work = stream->first;
    if (!work || (work->kind == WAIT && work->after && !work->after->done))
        return 0;
    for (size_t r = 0; work->kind == COPY && r < work->rows; r++)
        memcpy(work->to + r * work->pitch_to, work->from + r * work->pitch_from, work->width);
    if (work->kind == PRODUCT)
        multiply(&work->product);
    if (work->kind == CALL) {
        work->call(work->data);
        free(work->data);
    }
    work->done = ++works_done;
    stream->first = work->next;
    work->next = finished;
    finished = work;
    return 1;
}

static void remove_streams(void)
{
    for (struct CUstream_st **link = &streams; *link;) {
        struct CUstream_st *const stream = *link;
        if (!stream->destroyed || stream->first) {
            link = &stream->next;
            continue;
        }
        *link = stream->next;
        free(stream);
    }
}

static void run_some(void)
{
    int count = 0;
    remove_streams();
    for (struct CUstream_st *s = streams; s; s = s->next)
        count++;
    struct CUstream_st *s = streams;
    for (int64_t skip = rng_range(&rng, 0, count - 1); skip > 0; skip--)
        s = s->next;
    for (int64_t left = rng_range(&rng, 1, 4); left > 0 && run_one(s); left--)
        ;
}

static cudaError_t queue(cudaStream_t stream, work_t what)
{
    work_t *work = need(malloc(sizeof(*work)));
    struct CUstream_st *s = stream_of(stream);
    *work = what;
    if (s->first)
        s->last->next = work;
    else
        s->first = work;
    s->last = work;
    return cudaSuccess;
}

#define LOCKED(statement)                                                                          \
    do {                                                                                           \
        pthread_mutex_lock(&lock);                                                                 \
        statement;                                                                                 \
        pthread_mutex_unlock(&lock);                                                               \
        return cudaSuccess;                                                                        \
    } while (0)

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = need(calloc(1, sizeof(**stream)));
    LOCKED(allocations++; (*stream)->next = legacy.next; legacy.next = *stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    LOCKED(stream->destroyed = 1; allocations--; remove_streams());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    LOCKED(while (stream_of(stream)->first) run_some());
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    LOCKED(queue(stream, (work_t){.kind = WAIT, .after = event->record}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    *event = need(calloc(1, sizeof(**event)));
    LOCKED(allocations++);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    LOCKED(allocations--);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    LOCKED(queue(stream, (work_t){.kind = RECORD}); event->record = stream_of(stream)->last);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    LOCKED(while (event->record && !event->record->done) run_some());
}

/* Where a product has run. */
static int sgemm_device = -1;

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    pthread_mutex_lock(&lock);
    CHECK(start->record->done && end->record->done, "the time of an event that has not come");
    *milliseconds = (float)(end->record->done - start->record->done) *
                    (sgemm_device == slow_device ? 2.05f : 1.0f);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (bytes > device_bytes)
        return cudaErrorMemoryAllocation;
    block_t *block = need(malloc(sizeof(*block)));
    *memory = need(aligned_alloc(256, (bytes + 255) / 256 * 256));
    memset(*memory, 0xff, bytes);
    pthread_mutex_lock(&lock);
    *block = (block_t){blocks, *memory, (char *)*memory + bytes};
    blocks = block;
    most_allocated = bytes > most_allocated ? bytes : most_allocated;
    allocations++;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* Waits for the device, as the real one does. */
cudaError_t cudaFree(void *memory)
{
    if (!memory)
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    for (int left = 1; left;) {
        left = 0;
        for (struct CUstream_st *s = streams; s; s = s->next)
            left |= s->first != NULL;
        if (left)
            run_some();
    }
    block_t **link = &blocks;
    while ((*link)->begin != memory)
        link = &(*link)->next;
    block_t *const block = *link;
    *link = block->next;
    allocations--;
    pthread_mutex_unlock(&lock);
    free(block);
    free(memory);
    return cudaSuccess;
}

/* Whether all of it lies in one block. */
static int is_allocated(const char *begin, const char *end)
{
    const block_t *block = blocks;
    while (block && !(begin >= block->begin && end <= block->end))
        block = block->next;
    return block != NULL;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = need(malloc(bytes));
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = device_bytes;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    (void)device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

/* ---- what of the library is not under test -------------------------------------------------- */

/* Memory that is not plain host memory: the device's ordinal, or one of these. */
enum { PINNED = -1, MANAGED = -2, PAGEABLE = -3 };
typedef struct {
    const char *begin, *end;
    int place;
} area_t;
static area_t areas[16];
static int area_count;

static void add_area(const void *memory, size_t bytes, int place)
{
    if (place != PAGEABLE)
        areas[area_count++] = (area_t){memory, (const char *)memory + bytes, place};
}

static int place_at(const void *pointer)
{
    for (int i = 0; i < area_count; i++)
        if ((const char *)pointer >= areas[i].begin && (const char *)pointer < areas[i].end)
            return areas[i].place;
    return PAGEABLE;
}

tilemm_status_t tilemm__fail(tilemm_t ctx, tilemm_status_t status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(ctx->last_error, sizeof(ctx->last_error), format, list);
    va_end(list);
    return status;
}

tilemm_status_t tilemm__cuda_fail(tilemm_t ctx, const char *what, int cuda_error)
{
    return tilemm__fail(ctx, TILEMM_DEVICE_FAILURE, "%s: %d", what, cuda_error);
}

tilemm__cuda_thread_t tilemm__cuda_enter(tilemm_t ctx)
{
    (void)ctx;
    return (tilemm__cuda_thread_t){0, cudaStreamCaptureModeRelaxed};
}

tilemm_status_t tilemm__cuda_leave(tilemm_t ctx, tilemm__cuda_thread_t before,
                                   tilemm_status_t status)
{
    (void)ctx;
    (void)before;
    return status;
}

tilemm__place_t tilemm__cuda_locate(tilemm_t ctx, const void *pointer)
{
    const int place = place_at(pointer);
    return place == MANAGED                     ? TILEMM__MANAGED
           : place < 0                          ? TILEMM__HOST
           : place == tilemm__cuda(ctx)->device ? TILEMM__DEVICE
                                                : TILEMM__ELSEWHERE;
}

int tilemm__cuda_is_pageable(const void *pointer)
{
    return place_at(pointer) == PAGEABLE;
}

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){.cuda = &tilemm__cuda(ctx)->traits,
                              .math = ctx->math,
                              .workspace = workspace,
                              .variant = ctx->variant};
}

size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    (void)args;
    return 0;
}

tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    pthread_mutex_lock(&lock);
    sgemm_device = tilemm__cuda(ctx)->device;
    if (args->m != 2048) /* which is measured: multi.c */
        queue(tilemm__cuda(ctx)->stream, (work_t){.kind = PRODUCT, .product = *args});
    pthread_mutex_unlock(&lock);
    return TILEMM_SUCCESS;
}

cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream)
{
    cudaError_t error = cudaErrorUnknown;
    pthread_mutex_lock(&lock);
    const int fails = fail_copies_after == 0;
    fail_copies_after -= !fails;
    CHECK(fails || is_allocated(to, (char *)to + (rows - 1) * pitch_to + width) ||
              is_allocated(from, (const char *)from + (rows - 1) * pitch_from + width),
          "a copy outside the buffers");
    CHECK(width <= pitch_to && width <= pitch_from, "rows of %lld bytes overlap", (long long)width);
    if (!fails)
        error = queue(stream, (work_t){.kind = COPY,
                                       .to = to,
                                       .from = from,
                                       .pitch_to = (size_t)pitch_to,
                                       .pitch_from = (size_t)pitch_from,
                                       .width = (size_t)width,
                                       .rows = (size_t)rows});
    pthread_mutex_unlock(&lock);
    return error;
}

static tilemm__cuda_traits_t simulated_traits(void)
{
    return (tilemm__cuda_traits_t){.cc = 90,
                                   .sm_count = 132,
                                   .max_threads_per_sm = 2048,
                                   .shared_per_block = 232448,
                                   .shared_per_sm = 233472,
                                   .l2_bytes = 50 << 20,
                                   .memory_bytes = (size_t)80 << 30};
}

/* Forget what has run. */
static void forget(void)
{
    while (finished) {
        work_t *next = finished->next;
        free(finished);
        finished = next;
    }
}

#endif
