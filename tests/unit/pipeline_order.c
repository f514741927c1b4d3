/* pipeline_order.c - the pipeline of SGEMM on a CUDA runtime of the test's own: what is queued on a
 * stream runs late, and streams run in random order but for the events between them. A copy or
 * product that is not ordered after what it needs makes a wrong C.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cuda/transfer.h"
#include "lib/sgemm/plan_cuda.h"
#include "lib/sgemm/plan_pipeline.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* ---- a runtime ------------------------------------------------------------------------------ */

typedef enum { COPY, PRODUCT, RECORD, WAIT } kind_t;

typedef struct work {
    struct work *next;
    kind_t kind;
    int done;           /* the time: how many works were done before, and this one */
    struct work *after; /* WAIT: the record, or NULL */
    char *to;
    const char *from;
    size_t pitch_to, pitch_from, width, rows;
    tilemm__sgemm_args_t product;
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
static rng_t rng = {11};
static char *device_memory, *device_end;
static int works_done, allocations, fail_copies_after = -1;
static size_t device_bytes = (size_t)1 << 40, most_allocated;

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
    allocations++;
    LOCKED((*stream)->next = legacy.next; legacy.next = *stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    CHECK(!stream->first, "a stream with work is destroyed");
    struct CUstream_st **link = &streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    allocations--;
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
    allocations++;
    *event = need(calloc(1, sizeof(**event)));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    allocations--;
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
    CHECK(start->record->done && end->record->done, "the time of an event that has not come");
    *milliseconds = (float)(end->record->done - start->record->done);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (bytes > device_bytes)
        return cudaErrorMemoryAllocation;
    *memory = need(aligned_alloc(256, (bytes + 255) / 256 * 256));
    memset(*memory, 0xff, bytes);
    device_memory = *memory;
    device_end = device_memory + bytes;
    most_allocated = bytes > most_allocated ? bytes : most_allocated;
    allocations++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    allocations -= memory != NULL;
    free(memory);
    return cudaSuccess;
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

/* ---- what of the library is not under test -------------------------------------------------- */

static tilemm__cuda_state_t state;
static const float *on_device[3];
static const void *is_pinned[3];

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
    (void)ctx;
    for (int i = 0; i < 3; i++)
        if (pointer == on_device[i])
            return TILEMM__DEVICE;
    return TILEMM__HOST;
}

int tilemm__cuda_is_pageable(const void *pointer)
{
    for (int i = 0; i < 3; i++)
        if (pointer == is_pinned[i])
            return 0;
    return 1;
}

int tilemm__cuda_is_capturing(cudaStream_t stream)
{
    (void)stream;
    return 0;
}

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){
        .cuda = &state.traits, .math = ctx->math, .workspace = workspace, .variant = ctx->variant};
}

void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    (void)ctx;
    (void)want;
    *got = 0;
    return NULL;
}

size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    (void)args;
    return 0;
}

tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    pthread_mutex_lock(&lock);
    queue(NULL, (work_t){.kind = PRODUCT, .product = *args});
    pthread_mutex_unlock(&lock);
    return TILEMM_SUCCESS;
}

cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream)
{
    const char *const on_gpu = (char *)to >= device_memory && (char *)to < device_end ? to : from;
    const int64_t pitch = on_gpu == to ? pitch_to : pitch_from;
    if (fail_copies_after == 0)
        return cudaErrorUnknown;
    fail_copies_after--;
    CHECK(on_gpu >= device_memory && on_gpu + (rows - 1) * pitch + width <= device_end,
          "a copy outside the buffer");
    CHECK(width <= pitch_to && width <= pitch_from, "rows of %lld bytes overlap", (long long)width);
    LOCKED(queue(stream, (work_t){.kind = COPY,
                                  .to = to,
                                  .from = from,
                                  .pitch_to = (size_t)pitch_to,
                                  .pitch_from = (size_t)pitch_from,
                                  .width = (size_t)width,
                                  .rows = (size_t)rows}));
}

/* ---- products ------------------------------------------------------------------------------- */

/* Apart from the order of streams, which depends on time: the products are the same in each run. */
static rng_t problems = {20261123};

enum { FLOAT_BYTES = sizeof(float) };

/* op is m x n or n x m; the memory is longer than it must be. */
static float *matrix(int64_t rows, int64_t ld)
{
    float *x = need(malloc((size_t)(rows * ld) * sizeof(*x)));
    for (int64_t i = 0; i < rows * ld; i++)
        x[i] = (float)rng_range(&problems, -4, 4);
    return x;
}

/* What the file of a product's timeline says: each stream's steps follow each other, and all of the
 * product's work is there. */
static void check_timeline(const char *path, const tilemm__sgemm_args_t *p)
{
    static const char *const names[] = {"up", "up C", "compute", "down"};
    double last[4] = {0}, work[4] = {0};
    char line[256], name[32];
    FILE *file = need(fopen(path, "r"));
    CHECK(fgets(line, sizeof(line), file) && !strcmp(line, "device,stream,begin_s,end_s,work\n"),
          "the heading");
    while (fgets(line, sizeof(line), file)) {
        double begin, end, amount;
        int device, lane = 0;
        CHECK(sscanf(line, "%d,%31[^,],%lf,%lf,%lf", &device, name, &begin, &end, &amount) == 5,
              "%s", line);
        while (lane < 3 && strcmp(name, names[lane]) != 0)
            lane++;
        CHECK(!strcmp(name, names[lane]) && device == 0, "%s", line);
        CHECK(begin >= last[lane] && end >= begin && amount > 0, "after %g: %s", last[lane], line);
        last[lane] = end;
        work[lane] += amount;
    }
    fclose(file);
    CHECK(remove(path) == 0, "no file");
    const double bytes[] = {(double)p->m * (double)p->k * FLOAT_BYTES,
                            (double)p->k * (double)p->n * FLOAT_BYTES,
                            (double)p->m * (double)p->n * FLOAT_BYTES};
    double up = p->beta != 0 && !on_device[2] ? bytes[2] : 0;
    for (int o = 0; o < 2; o++)
        up += on_device[o] ? 0 : bytes[o];
    CHECK(work[0] + work[1] >= up, "%g of %g bytes up", work[0] + work[1], up);
    CHECK(work[2] == 2 * (double)p->m * (double)p->n * (double)p->k, "%g operations", work[2]);
    CHECK(work[3] == (on_device[2] ? 0 : bytes[2]), "%g bytes down", work[3]);
}

/* Integers: every order of additions has the same sum. */
static int product(int i)
{
    enum { MOST = 500 };
    struct tilemm_context ctx = {.state = &state, .math = TILEMM_MATH_FP32_STRICT};
    tilemm__sgemm_args_t p = {.m = rng_range(&problems, 1, i % 5 ? MOST : 40),
                              .n = rng_range(&problems, 1, MOST),
                              .k = rng_range(&problems, 1, i % 7 ? 60 : 4000),
                              .trans_a = (int)rng_range(&problems, 0, 1),
                              .trans_b = (int)rng_range(&problems, 0, 1),
                              .alpha = 2,
                              .beta = (float)rng_range(&problems, 0, 1),
                              .batch_count = 1};
    const int64_t rows_a = p.trans_a ? p.k : p.m, rows_b = p.trans_b ? p.n : p.k;
    p.lda = (p.trans_a ? p.m : p.k) + rng_range(&problems, 0, 3);
    p.ldb = (p.trans_b ? p.k : p.n) + rng_range(&problems, 0, 3);
    p.ldc = p.n + rng_range(&problems, 0, 3);
    float *a = matrix(rows_a, p.lda), *b = matrix(rows_b, p.ldb), *c = matrix(p.m, p.ldc);
    const size_t c_bytes = (size_t)(p.m * p.ldc) * sizeof(*c);
    float *want = need(malloc(c_bytes));
    const int places = (int)rng_range(&problems, 1, 7), pinned = (int)rng_range(&problems, 0, 7);
    const float *const operands[] = {a, b, c};
    size_t host = 0;
    for (int o = 0; o < 3; o++) {
        on_device[o] = places >> o & 1 ? NULL : operands[o];
        is_pinned[o] = pinned >> o & 1 ? operands[o] : NULL;
        host += places >> o & 1 ? (size_t)(o == 0   ? p.m * p.k
                                           : o == 1 ? p.k * p.n
                                                    : p.m * p.n) *
                                      sizeof(float)
                                : 0;
    }
    memcpy(want, c, c_bytes);
    p.a = a;
    p.b = b;
    p.c = want;
    multiply(&p);
    if (p.beta == 0) /* is not read */
        for (int64_t r = 0; r < p.m; r++)
            for (int64_t j = 0; j < p.n; j++)
                c[r * p.ldc + j] = NAN;
    p.c = c;
    ctx.device_memory = (size_t)((double)host * (0.3 + 0.69 * rng_unit(&problems)));
    device_bytes = i % 4 ? (size_t)1 << 40 : ctx.device_memory / 2; /* less than it seemed */
    if (i % 2)
        snprintf(ctx.timeline, sizeof(ctx.timeline), "pipeline_order.%d.csv", (int)getpid());
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    most_allocated = 0;
    CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status), "no pipeline");
    CHECK(most_allocated <= ctx.device_memory, "%zu bytes of %zu", most_allocated,
          ctx.device_memory);
    if (status == TILEMM_SUCCESS) {
        int64_t wrong = 0;
        for (int64_t at = 0; at < p.m * p.ldc; at++)
            wrong += memcmp(&c[at], &want[at], sizeof(*c)) != 0;
        CHECK(wrong == 0,
              "%d: %lldx%lldx%lld %d%d, beta %g, places %d, pinned %d, %zu of %zu bytes: %lld of C",
              i, (long long)p.m, (long long)p.n, (long long)p.k, p.trans_a, p.trans_b,
              (double)p.beta, places, pinned, ctx.device_memory, host, (long long)wrong);
        if (*ctx.timeline)
            check_timeline(ctx.timeline, &p);
    } else {
        CHECK(status == TILEMM_OUT_OF_MEMORY && ctx.device_memory < 400000, "%d: %s (%zu)", i,
              ctx.last_error, ctx.device_memory);
    }
    /* A copy that fails is a status, and nothing is left behind. */
    if (i % 3 == 0 && status == TILEMM_SUCCESS) {
        fail_copies_after = (int)rng_range(&problems, 0, 3);
        CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status) &&
                  (status == TILEMM_DEVICE_FAILURE || fail_copies_after >= 0),
              "%d: status %d", i, (int)status);
        fail_copies_after = -1;
        CHECK(status == TILEMM_SUCCESS || !*ctx.timeline || access(ctx.timeline, F_OK) != 0,
              "%d: the timeline of a call that failed", i);
        if (*ctx.timeline)
            remove(ctx.timeline);
    }
    CHECK(allocations == 0, "%d: %d streams, events and buffers are left", i, allocations);
    CHECK(!*ctx.variant, "%s", ctx.variant);
    while (finished) {
        work_t *next = finished->next;
        free(finished);
        finished = next;
    }
    free(a);
    free(b);
    free(c);
    free(want);
    return status == TILEMM_SUCCESS;
}

int main(void)
{
    enum { PRODUCTS = 300 };
    int done = 0;
    state.traits = (tilemm__cuda_traits_t){.cc = 90,
                                           .sm_count = 132,
                                           .max_threads_per_sm = 2048,
                                           .shared_per_block = 232448,
                                           .shared_per_sm = 233472,
                                           .l2_bytes = 50 << 20,
                                           .memory_bytes = (size_t)80 << 30};
    for (int i = 0; i < PRODUCTS; i++)
        done += product(i);
    CHECK(done > PRODUCTS / 3, "only %d products were done", done);
    free(state.chunks[0]);
    free(state.chunks[1]);
    return check_exit();
}
