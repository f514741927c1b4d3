/* simulated_cuda.c - see simulated_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "simulated_cuda.h"

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
    _Alignas(16) char args[SIMULATED_ARGS];
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
static int works_done;
static rng_t rng = {11};

/* What cudaMalloc has given. */
typedef struct block {
    struct block *next;
    const char *begin, *end;
} block_t;
static block_t *blocks;

/* The last that cudaHostAlloc has given. */
static block_t chunks[16];

simulated_t simulated = {.device_bytes = (size_t)1 << 40,
                         .fail_copies_after = -1,
                         .slow_device = -1,
                         .sgemm_device = -1};

void *need(void *memory)
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
    LOCKED(simulated.allocations++; (*stream)->next = legacy.next; legacy.next = *stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    LOCKED(stream->destroyed = 1; simulated.allocations--; remove_streams());
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
    LOCKED(simulated.allocations++);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    LOCKED(simulated.allocations--);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    LOCKED(queue(stream, (work_t){.kind = RECORD}); event->record = stream_of(stream)->last);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    LOCKED(while (event->record && !event->record->done) run_some());
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    pthread_mutex_lock(&lock);
    const int waits = event->record && !event->record->done;
    if (waits)
        run_some();
    pthread_mutex_unlock(&lock);
    return waits ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    pthread_mutex_lock(&lock);
    EXPECT(start->record->done && end->record->done, "the time of an event that has not come");
    *milliseconds =
        (float)(end->record->done - start->record->done) *
        (simulated.slow_device >= 0 && simulated.sgemm_device == simulated.slow_device ? 2.05f
                                                                                       : 1.0f);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (bytes > simulated.device_bytes)
        return cudaErrorMemoryAllocation;
    block_t *block = need(malloc(sizeof(*block)));
    *memory = need(aligned_alloc(256, (bytes + 255) / 256 * 256));
    memset(*memory, 0xff, bytes);
    pthread_mutex_lock(&lock);
    *block = (block_t){blocks, *memory, (char *)*memory + bytes};
    blocks = block;
    simulated.most_allocated = bytes > simulated.most_allocated ? bytes : simulated.most_allocated;
    simulated.allocations++;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(memory);
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
    simulated.allocations--;
    pthread_mutex_unlock(&lock);
    free(block);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    if (simulated.fail_pinned)
        return cudaErrorMemoryAllocation;
    *memory = need(malloc(bytes));
    const block_t chunk = {NULL, *memory, (char *)*memory + bytes};
    LOCKED(chunks[simulated.pinned_blocks++ % 16] = chunk);
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    LOCKED(simulated.pinned_blocks -= memory != NULL);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = simulated.device_bytes;
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

int tilemm__cuda_is_readable(const void *byte)
{
    (void)byte;
    return 1;
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

typedef struct {
    const char *begin, *end;
    int place;
} area_t;
static area_t areas[16];
static int area_count;

void set_place(const void *memory, size_t bytes, int place)
{
    if (place != PAGEABLE)
        areas[area_count++] = (area_t){memory, (const char *)memory + bytes, place};
}

int place_at(const void *pointer)
{
    for (int i = 0; i < area_count; i++)
        if ((const char *)pointer >= areas[i].begin && (const char *)pointer < areas[i].end)
            return areas[i].place;
    return PAGEABLE;
}

void forget_places(void)
{
    area_count = 0;
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

void tilemm__set_kernel(tilemm_t ctx, const char *name)
{
    snprintf(ctx->kernel_text, sizeof(ctx->kernel_text), "%s", name);
    ctx->last_kernel = ctx->kernel_text;
}

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){.cuda = &tilemm__cuda(ctx)->traits,
                              .math = ctx->math,
                              .workspace = workspace,
                              .variant = ctx->variant};
}

/* Whether rows lie in one block, all of them: 0 if none does. */
static int is_allocated(const void *at, int64_t pitch, int64_t width, int64_t rows)
{
    const char *const first = at, *const last = first + (rows - 1) * pitch;
    const char *const begin = last < first ? last : first;
    const char *const end = (last < first ? first : last) + width;
    const block_t *block = blocks;
    while (block && !(end > block->begin && begin < block->end))
        block = block->next;
    EXPECT(!block || (begin >= block->begin && end <= block->end), "a copy past a buffer's end");
    return block != NULL;
}

static int is_pageable(const void *at)
{
    int is_chunk = 0;
    for (int i = 0; i < 16; i++)
        is_chunk |= (const char *)at >= chunks[i].begin && (const char *)at < chunks[i].end;
    return !is_chunk && place_at(at) == PAGEABLE;
}

static cudaError_t copy(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                        int64_t width, int64_t rows, int may_be_host, cudaStream_t stream)
{
    cudaError_t error = cudaErrorUnknown;
    pthread_mutex_lock(&lock);
    const int fails = simulated.fail_copies_after == 0;
    if (!fails) {
        const int to_device = is_allocated(to, pitch_to, width, rows);
        const int from_device = is_allocated(from, pitch_from, width, rows);
        const int on_device = to_device + from_device;
        EXPECT(may_be_host || on_device || place_at(to) >= 0 || place_at(from) >= 0,
               "a copy from host to host");
        EXPECT(rows == 1 || (width <= llabs(pitch_to) && width <= llabs(pitch_from)),
               "rows of %lld bytes overlap", (long long)width);
        simulated.fail_copies_after--;
        simulated.moved += (size_t)(width * rows);
        simulated.direct += (!to_device && is_pageable(to)) || (!from_device && is_pageable(from))
                                ? (size_t)(width * rows)
                                : 0;
        error = queue(stream, (work_t){.kind = COPY,
                                       .to = to,
                                       .from = from,
                                       .pitch_to = pitch_to,
                                       .pitch_from = pitch_from,
                                       .width = (size_t)width,
                                       .rows = rows});
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream)
{
    return copy(to, pitch_to, from, pitch_from, width, rows, 0, stream);
}

/* The caller need not know where either lies. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const int64_t width = (int64_t)bytes;
    return copy(to, width, from, width, width, 1, kind == cudaMemcpyDefault, stream);
}

/* ---- for the tests -------------------------------------------------------------------------- */

void simulated_call(cudaStream_t stream, void (*run)(const void *args), const void *args,
                    size_t bytes)
{
    work_t work = {.kind = CALL, .run = run};
    if (bytes > sizeof(work.args))
        exit(1);
    memcpy(work.args, args, bytes);
    pthread_mutex_lock(&lock);
    queue(stream, work);
    pthread_mutex_unlock(&lock);
}

void simulated_copy(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&lock);
    queue(stream, (work_t){.kind = COPY, .to = to, .from = from, .width = bytes, .rows = 1});
    pthread_mutex_unlock(&lock);
}

void simulated_note(tilemm_t ctx)
{
    pthread_mutex_lock(&lock);
    simulated.ran_on[tilemm__cuda(ctx)->device]++;
    pthread_mutex_unlock(&lock);
}

tilemm__cuda_traits_t simulated_traits(void)
{
    return (tilemm__cuda_traits_t){.cc = 90,
                                   .sm_count = 132,
                                   .max_threads_per_sm = 2048,
                                   .shared_per_block = 232448,
                                   .shared_per_sm = 233472,
                                   .l2_bytes = 50 << 20,
                                   .memory_bytes = (size_t)80 << 30};
}

void forget(void)
{
    while (finished) {
        work_t *next = finished->next;
        free(finished);
        finished = next;
    }
}

void check_left(tilemm_t ctx, const char *what, int number)
{
    tilemm__cuda_release_strips(ctx);
    EXPECT(simulated.allocations == 0, "%s %d: %d streams, events and buffers are left", what,
           number, simulated.allocations);
    forget();
    forget_places();
}

void read_timeline(const char *path, double work[4])
{
    static const char *const names[] = {"up", "up C", "compute", "down"};
    double last[4] = {0};
    char line[256], name[32];
    FILE *file = need(fopen(path, "r"));
    memset(work, 0, sizeof(last));
    EXPECT(fgets(line, sizeof(line), file) && !strcmp(line, "device,stream,begin_s,end_s,work\n"),
           "the heading");
    while (fgets(line, sizeof(line), file)) {
        double begin, end, amount;
        int device, lane = 0;
        EXPECT(sscanf(line, "%d,%31[^,],%lf,%lf,%lf", &device, name, &begin, &end, &amount) == 5,
               "%s", line);
        while (lane < 3 && strcmp(name, names[lane]) != 0)
            lane++;
        EXPECT(!strcmp(name, names[lane]) && device == 0, "%s", line);
        EXPECT(begin >= last[lane] && end >= begin && amount >= 0, "after %g: %s", last[lane],
               line);
        last[lane] = end;
        work[lane] += amount;
    }
    fclose(file);
    EXPECT(remove(path) == 0, "no file");
}
