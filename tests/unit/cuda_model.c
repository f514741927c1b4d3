/* cuda_model.c - see cuda_model.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cuda_model.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

/* ---- a runtime ------------------------------------------------------------------------------ */

typedef enum { COPY, CALL, RECORD, WAIT } kind_t;

typedef struct work {
    struct work *next;
    kind_t kind;
    int done;           /* the time: how many works were done before, and this one */
    struct work *after; /* WAIT: the record, or NULL */
    char *to;
    const char *from;
    int64_t pitch_to, pitch_from, rows;
    size_t width;
    void (*run)(const void *args); /* CALL */
    char args[MODEL_ARGS];
} work_t;

struct CUstream_st {
    struct CUstream_st *next;
    work_t *first, *last;
};

struct CUevent_st {
    work_t *record;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUstream_st legacy, *streams = &legacy;
static work_t *finished;
static int works_done;
static rng_t rng = {11};
static char *device_memory, *device_end;

/* The test counts what is wrong here at its end: check.h counts for one file. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition) && model.faults++ < 20) {                                                 \
            fprintf(stderr, "failed: %s: ", #condition);                                           \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

model_t model = {.device_bytes = (size_t)1 << 40, .fail_copies_after = -1};

void *model_need(void *memory)
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

/* Run the first work of a stream; 0 if there is none, or it waits. */
static int run_one(struct CUstream_st *stream)
{
    work_t *work = stream->first;
    if (!work || (work->kind == WAIT && work->after && !work->after->done))
        return 0;
    for (int64_t r = 0; work->kind == COPY && r < work->rows; r++)
        memcpy(work->to + r * work->pitch_to, work->from + r * work->pitch_from, work->width);
    if (work->kind == CALL)
        work->run(work->args);
    work->done = ++works_done;
    stream->first = work->next;
    work->next = finished;
    finished = work;
    return 1;
}

static void run_some(void)
{
    int count = 0;
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
    work_t *work = model_need(malloc(sizeof(*work)));
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
    *stream = model_need(calloc(1, sizeof(**stream)));
    model.allocations++;
    LOCKED((*stream)->next = legacy.next; legacy.next = *stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    EXPECT(!stream->first, "a stream with work is destroyed");
    struct CUstream_st **link = &streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    model.allocations--;
    pthread_mutex_unlock(&lock);
    free(stream);
    return cudaSuccess;
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
    model.allocations++;
    *event = model_need(calloc(1, sizeof(**event)));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    model.allocations--;
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    LOCKED(queue(stream, (work_t){.kind = RECORD}); event->record = stream_of(stream)->last);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    LOCKED(while (event->record && !event->record->done) run_some());
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    pthread_mutex_lock(&lock);
    EXPECT(start->record->done && end->record->done, "the time of an event that has not come");
    *milliseconds = (float)(end->record->done - start->record->done);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (bytes > model.device_bytes)
        return cudaErrorMemoryAllocation;
    *memory = model_need(aligned_alloc(256, (bytes + 255) / 256 * 256));
    memset(*memory, 0xff, bytes);
    device_memory = *memory;
    device_end = device_memory + bytes;
    model.most_allocated = bytes > model.most_allocated ? bytes : model.most_allocated;
    model.allocations++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    model.allocations -= memory != NULL;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    if (model.fail_pinned)
        return cudaErrorMemoryAllocation;
    *memory = model_need(malloc(bytes));
    model.pinned_blocks++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    model.pinned_blocks -= memory != NULL;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = model.device_bytes;
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

/* ---- what of the library is not under test -------------------------------------------------- */

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

/* Whether it is in an operand that lies on the device. */
static int is_operand(const void *pointer)
{
    for (int i = 0; i < MODEL_OPERANDS; i++) {
        const model_operand_t *const on = &model.on_device[i];
        if (on->at && (const char *)pointer >= on->at && (const char *)pointer < on->at + on->bytes)
            return 1;
    }
    return 0;
}

tilemm__place_t tilemm__cuda_locate(tilemm_t ctx, const void *pointer)
{
    (void)ctx;
    return is_operand(pointer) ? TILEMM__DEVICE : TILEMM__HOST;
}

int tilemm__cuda_is_on_host(tilemm_t ctx, const void *pointer)
{
    return tilemm__cuda_locate(ctx, pointer) == TILEMM__HOST;
}

int tilemm__cuda_is_pageable(const void *pointer)
{
    for (int i = 0; i < MODEL_OPERANDS; i++)
        if (pointer && pointer == model.pinned[i])
            return 0;
    return 1;
}

void tilemm__set_kernel(tilemm_t ctx, const char *name)
{
    snprintf(ctx->kernel_text, sizeof(ctx->kernel_text), "%s", name);
    ctx->last_kernel = ctx->kernel_text;
}

int tilemm__cuda_is_capturing(cudaStream_t stream)
{
    (void)stream;
    return 0;
}

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){.cuda = &model.state.traits,
                              .math = ctx->math,
                              .workspace = workspace,
                              .variant = ctx->variant};
}

void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    (void)ctx;
    (void)want;
    *got = 0;
    return NULL;
}

/* Device memory that a copy touches lies in the buffer, or in an operand. */
static void check_range(const void *at, int64_t pitch, int64_t width, int64_t rows)
{
    const char *const last = (const char *)at + (rows - 1) * pitch;
    const char *const low = last < (const char *)at ? last : at, *const high =
                                                                     low == last ? at : last;
    if (low >= device_memory && low < device_end)
        EXPECT(high + width <= device_end, "a copy past the buffer's end");
    else
        EXPECT(high < device_memory || high >= device_end, "a copy from before the buffer");
}

cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream)
{
    const int in_buffer = ((char *)to >= device_memory && (char *)to < device_end) ||
                          ((const char *)from >= device_memory && (const char *)from < device_end);
    if (model.fail_copies_after == 0)
        return cudaErrorUnknown;
    model.fail_copies_after--;
    EXPECT(in_buffer || is_operand(to) || is_operand(from), "a copy from host to host");
    check_range(to, pitch_to, width, rows);
    check_range(from, pitch_from, width, rows);
    EXPECT(rows == 1 || width <= llabs(pitch_to), "rows of %lld bytes overlap", (long long)width);
    LOCKED(model.moved += (size_t)(width * rows); queue(stream, (work_t){.kind = COPY,
                                                                         .to = to,
                                                                         .from = from,
                                                                         .pitch_to = pitch_to,
                                                                         .pitch_from = pitch_from,
                                                                         .width = (size_t)width,
                                                                         .rows = rows}));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind;
    return tilemm__cuda_copy_rows(to, (int64_t)bytes, from, (int64_t)bytes, (int64_t)bytes, 1,
                                  stream);
}

/* ---- for the tests -------------------------------------------------------------------------- */

void model_call(void (*run)(const void *args), const void *args, size_t bytes)
{
    work_t work = {.kind = CALL, .run = run};
    if (bytes > sizeof(work.args))
        exit(1);
    memcpy(work.args, args, bytes);
    pthread_mutex_lock(&lock);
    queue(model.state.stream, work);
    pthread_mutex_unlock(&lock);
}

void model_start(void)
{
    model.state.traits = (tilemm__cuda_traits_t){.cc = 90,
                                                 .sm_count = 132,
                                                 .max_threads_per_sm = 2048,
                                                 .shared_per_block = 232448,
                                                 .shared_per_sm = 233472,
                                                 .l2_bytes = 50 << 20,
                                                 .memory_bytes = (size_t)80 << 30};
}

void model_check_left(const char *what, int number)
{
    EXPECT(model.allocations == 0, "%s %d: %d streams, events and buffers are left", what, number,
           model.allocations);
    EXPECT(model.pinned_blocks == !!model.state.chunks[0] + !!model.state.chunks[1],
           "%s %d: pinned memory is left", what, number);
    memset(model.on_device, 0, sizeof(model.on_device)); /* others may get these addresses */
    memset(model.pinned, 0, sizeof(model.pinned));
    while (finished) {
        work_t *next = finished->next;
        free(finished);
        finished = next;
    }
}

void model_end(void)
{
    free(model.state.chunks[0]);
    free(model.state.chunks[1]);
}
