/* multi.c - a context over several devices: its members, what orders their work, and errors.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multi.h"
#include "relay.h"

/* Seconds by which a divided call begins later: threads, events and streams. */
#define START 40e-6

/* ---- errors ------------------------------------------------------------------------------- */

/* A member's failure as the context's: "sgemm: device 1: out of memory". A device that failed is
 * lost, and so is the context. */
static tilemm_status_t take_failure(tilemm_t ctx, int number, tilemm_status_t status, int divided)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    const char *const text = multi->member[number].ctx->last_error;
    const char *const colon = strchr(text, ':');
    const int where = colon ? (int)(colon - text) : 0;
    if (status == TILEMM_SUCCESS)
        return status;
    if (status == TILEMM_INVALID_ARGUMENT || status == TILEMM_NOT_SUPPORTED)
        return tilemm__fail(ctx, status, "%s", text);
    tilemm__fail(ctx, status, "%.*s: device %d%s%s%s", where, text, multi->devices.ordinal[number],
                 colon ? "" : ": ", colon ? colon : text,
                 divided && !strstr(text, TILEMM__UNDEFINED) ? "; " TILEMM__UNDEFINED : "");
    if (status == TILEMM_DEVICE_FAILURE) {
        multi->lost = 1;
        snprintf(multi->why, sizeof multi->why, "%s", ctx->last_error);
    }
    return status;
}

/* ---- members ------------------------------------------------------------------------------ */

static void copy_settings(tilemm_t ctx)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    int given = 0;
    for (int i = 0; i < multi->devices.count; i++) {
        tilemm_t member = multi->member[i].ctx;
        const size_t sharers = (size_t)tilemm__cuda(member)->sharers;
        member->math = ctx->math;
        member->invariance = ctx->invariance;
        member->nan_policy = ctx->nan_policy;
        member->device_memory = ctx->device_memory / sharers;
        if (ctx->device_memory && !member->device_memory)
            member->device_memory = 1;
        /* One member works in what the user gave. */
        const int takes = ctx->workspace && !given &&
                          tilemm__cuda_locate(member, ctx->workspace) != TILEMM__ELSEWHERE;
        member->workspace = takes ? ctx->workspace : NULL;
        member->workspace_bytes = takes ? ctx->workspace_bytes : 0;
        given |= takes;
    }
}

tilemm_status_t tilemm__multi_begin(tilemm_t ctx)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    if (multi->lost)
        return tilemm__fail(ctx, TILEMM_DEVICE_FAILURE, "%.200s (the context is lost)", multi->why);
    copy_settings(ctx);
    return TILEMM_SUCCESS;
}

static tilemm_status_t open_member(tilemm_t ctx, int number, int device)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    tilemm__member_t *member = &multi->member[number];
    tilemm_t own = calloc(1, sizeof *own);
    if (!own)
        return TILEMM_OUT_OF_MEMORY;
    *own = (struct tilemm_context){
        .backend = &tilemm__cuda_backend, .device = device, .math = ctx->math, .last_kernel = ""};
    memcpy(own->arch, ctx->arch, sizeof own->arch);
    memcpy(own->variant, ctx->variant, sizeof own->variant);
    memcpy(own->timeline, ctx->timeline, sizeof own->timeline);
    const tilemm_status_t status = own->backend->open(own, device);
    if (status != TILEMM_SUCCESS) {
        const char *const why = *own->last_error ? own->last_error : "create: host memory ran out";
        const size_t head = strlen("create: ");
        if (strncmp(why, "create: device", head + 6) == 0) /* a number that is wrong */
            tilemm__fail(ctx, status, "%s", why);
        else
            tilemm__fail(ctx, status, "create: device %d: %s", device, why + head);
        free(own);
        return status;
    }
    member->ctx = own;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(own);
    tilemm__cuda_state_t *state = tilemm__cuda(own);
    cudaError_t error = cudaEventCreateWithFlags(&member->done, cudaEventDisableTiming);
    if (error == cudaSuccess && number == 0)
        error = cudaEventCreateWithFlags(&multi->begun, cudaEventDisableTiming);
    if (error == cudaSuccess && number > 0)
        error = cudaStreamCreateWithFlags(&member->own, cudaStreamNonBlocking);
    state->stream = member->own;
    state->of_several = 1;
    return tilemm__cuda_leave(own, before,
                              error == cudaSuccess ? TILEMM_SUCCESS
                                                   : tilemm__cuda_fail(ctx, "create", error));
}

/* Whether each device reads every other one's memory; they are told to. */
static int open_peers(const tilemm__multi_devices_t *devices)
{
    int all = 1;
    for (int i = 0; i < devices->count; i++)
        for (int j = 0; j < devices->count; j++) {
            int can = 0;
            if (devices->ordinal[i] == devices->ordinal[j])
                continue;
            if (cudaDeviceCanAccessPeer(&can, devices->ordinal[i], devices->ordinal[j]) !=
                cudaSuccess)
                can = 0;
            if (can) {
                const tilemm__cuda_thread_t before = tilemm__cuda_enter_device(devices->ordinal[i]);
                const cudaError_t error = cudaDeviceEnablePeerAccess(devices->ordinal[j], 0);
                can = error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
                (void)cudaGetLastError();
                tilemm__cuda_leave_device(devices->ordinal[i], before);
            }
            all &= can;
        }
    (void)cudaGetLastError();
    return all;
}

/* Milliseconds of a product of MEASURED on each side, the best of three; 0 if it cannot be done. */
static float measure_product(tilemm_t member)
{
    enum { MEASURED = 2048, TRIES = 4 };
    const size_t elements = (size_t)MEASURED * MEASURED;
    const cudaStream_t stream = tilemm__cuda(member)->stream;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(member);
    cudaEvent_t begin = NULL, end = NULL;
    float *matrices = NULL, best = 0;
    cudaError_t error = cudaMalloc((void **)&matrices, 3 * elements * sizeof *matrices);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(matrices, 0, 2 * elements * sizeof *matrices, stream);
    if (error == cudaSuccess)
        error = cudaEventCreate(&begin);
    if (error == cudaSuccess)
        error = cudaEventCreate(&end);
    for (int i = 0; i < TRIES && error == cudaSuccess; i++) { /* the first one loads the kernel */
        const tilemm__sgemm_args_t product = {.m = MEASURED,
                                              .n = MEASURED,
                                              .k = MEASURED,
                                              .alpha = 1,
                                              .a = matrices,
                                              .b = matrices + elements,
                                              .c = matrices + 2 * elements,
                                              .lda = MEASURED,
                                              .ldb = MEASURED,
                                              .ldc = MEASURED,
                                              .batch_count = 1};
        float now = 0;
        error = cudaEventRecord(begin, stream);
        if (error == cudaSuccess && tilemm__cuda_sgemm(member, &product) != TILEMM_SUCCESS)
            error = cudaErrorUnknown;
        if (error == cudaSuccess)
            error = cudaEventRecord(end, stream);
        if (error == cudaSuccess)
            error = cudaEventSynchronize(end);
        if (error == cudaSuccess)
            error = cudaEventElapsedTime(&now, begin, end);
        if (i > 0 && now > 0 && (best == 0 || now < best))
            best = now;
    }
    (void)cudaGetLastError();
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    cudaFree(matrices);
    (void)tilemm__cuda_leave(member, before, TILEMM_SUCCESS);
    return error == cudaSuccess ? best : 0;
}

/* Devices of one model have one rate. Others are measured, once; in twentieths of the fastest, so
 * that a context divides the next time as it did this time. */
static void set_rates(tilemm__multi_t *multi)
{
    tilemm__multi_devices_t *devices = &multi->devices;
    const tilemm__cuda_traits_t *first = &tilemm__cuda(multi->member[0].ctx)->traits;
    double fastest = 0;
    int alike = 1;
    for (int i = 0; i < devices->count; i++) {
        const tilemm__cuda_traits_t *traits = &tilemm__cuda(multi->member[i].ctx)->traits;
        devices->rate[i] = 1;
        alike &= traits->sm_count == first->sm_count && traits->cc == first->cc &&
                 strcmp(traits->name, first->name) == 0;
    }
    for (int i = 0; i < devices->count && !alike; i++) {
        const float time = measure_product(multi->member[i].ctx);
        devices->rate[i] = time > 0 ? 1 / (double)time : 0;
        fastest = devices->rate[i] > fastest ? devices->rate[i] : fastest;
    }
    for (int i = 0; i < devices->count && fastest > 0; i++) {
        const double twentieths = nearbyint(devices->rate[i] / fastest * 20);
        devices->rate[i] = (twentieths > 1 ? twentieths : 1) / 20;
    }
}

static tilemm_status_t close_members(tilemm__multi_t *multi)
{
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int i = 0; i < multi->devices.count; i++) {
        tilemm__member_t *member = &multi->member[i];
        if (!member->ctx)
            continue;
        const int device = multi->devices.ordinal[i];
        const tilemm__cuda_thread_t before = tilemm__cuda_enter_device(device);
        const tilemm_status_t now = member->ctx->backend->close(member->ctx);
        status = status == TILEMM_SUCCESS ? now : status;
        if (member->done)
            cudaEventDestroy(member->done);
        if (i == 0 && multi->begun)
            cudaEventDestroy(multi->begun);
        if (member->own)
            cudaStreamDestroy(member->own);
        (void)cudaGetLastError();
        tilemm__cuda_leave_device(device, before);
        free(member->ctx);
    }
    free(multi);
    return status;
}

tilemm_status_t tilemm__multi_open(tilemm_t ctx, int count, const int *devices)
{
    tilemm__multi_t *multi = calloc(1, sizeof *multi);
    tilemm_status_t status = TILEMM_SUCCESS;
    if (!multi)
        return TILEMM_OUT_OF_MEMORY;
    ctx->backend = &tilemm__multi_backend;
    ctx->state = multi;
    multi->devices.count = count;
    multi->devices.start = START;
    memcpy(multi->devices.ordinal, devices, (size_t)count * sizeof *devices);
    for (int i = 0; i < count && status == TILEMM_SUCCESS; i++)
        status = open_member(ctx, i, devices[i]);
    if (status != TILEMM_SUCCESS) {
        (void)close_members(multi);
        ctx->state = NULL;
        return status;
    }
    for (int i = 0; i < count; i++) {
        int sharers = 0;
        for (int j = 0; j < count; j++)
            sharers += devices[i] == devices[j];
        tilemm__cuda(multi->member[i].ctx)->sharers = sharers;
    }
    multi->devices.peers = !ctx->no_peers && open_peers(&multi->devices);
    set_rates(multi);
    return TILEMM_SUCCESS;
}

/* ---- where operands lie ------------------------------------------------------------------- */

int tilemm__multi_place(tilemm_t ctx, const void *pointer)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        /* On a lost device every question fails, see tilemm__cuda_locate(). */
        return error == cudaErrorInvalidValue ? (int)TILEMM__ON_HOST
                                              : tilemm__multi(ctx)->devices.ordinal[0];
    }
    return attributes.type == cudaMemoryTypeManaged  ? (int)TILEMM__ANYWHERE
           : attributes.type == cudaMemoryTypeDevice ? attributes.device
                                                     : (int)TILEMM__ON_HOST;
}

int tilemm__multi_member_on(tilemm_t ctx, int place)
{
    const tilemm__multi_devices_t *devices = &tilemm__multi(ctx)->devices;
    if (place < 0)
        return 0;
    for (int i = 0; i < devices->count; i++)
        if (devices->ordinal[i] == place)
            return i;
    return -1;
}

static tilemm__place_t multi_locate(tilemm_t ctx, const void *pointer)
{
    const int place = tilemm__multi_place(ctx, pointer);
    return place == TILEMM__ON_HOST                  ? TILEMM__HOST
           : place == TILEMM__ANYWHERE               ? TILEMM__MANAGED
           : tilemm__multi_member_on(ctx, place) < 0 ? TILEMM__ELSEWHERE
                                                     : TILEMM__DEVICE;
}

/* ---- running parts ------------------------------------------------------------------------ */

/* Threads begin once it is settled who has one. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int open;
} gate_t;

typedef struct {
    tilemm_t member;
    int number;
    tilemm__part_t part;
    void *data;
    gate_t *gate;
    tilemm_status_t status;
} job_t;

static void *work(void *argument)
{
    job_t *const job = argument;
    pthread_mutex_lock(&job->gate->mutex);
    while (!job->gate->open)
        pthread_cond_wait(&job->gate->changed, &job->gate->mutex);
    pthread_mutex_unlock(&job->gate->mutex);
    job->status = job->part(job->member, job->number, job->data);
    return NULL;
}

static void work_together(job_t *jobs, int count, tilemm__relay_t *relay)
{
    pthread_t threads[TILEMM__MOST_DEVICES];
    gate_t gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    sigset_t all, before;
    int made = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for its threads */
    for (int i = 0; i < count; i++)
        jobs[i].gate = &gate;
    while (made + 1 < count && pthread_create(&threads[made], NULL, work, &jobs[made + 1]) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (relay) /* who waits for another must not be in its way */
        relay->members = made + 1 == count ? count : 0;
    pthread_mutex_lock(&gate.mutex);
    gate.open = 1;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
    (void)work(&jobs[0]);
    for (int i = made + 1; i < count; i++)
        (void)work(&jobs[i]);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
}

/* Members' streams after the context's, or the context's after them. */
static tilemm_status_t order(tilemm_t ctx, const char *works, int ends)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    const tilemm_t first = multi->member[0].ctx;
    const cudaStream_t stream = tilemm__cuda(first)->stream;
    tilemm__cuda_thread_t before = tilemm__cuda_enter(first);
    cudaError_t error = ends ? cudaSuccess : cudaEventRecord(multi->begun, stream);
    int failed = 0;
    (void)tilemm__cuda_leave(first, before, TILEMM_SUCCESS);
    for (int i = 1; i < multi->devices.count && error == cudaSuccess; i++) {
        tilemm__member_t *member = &multi->member[i];
        if (!works[i])
            continue;
        before = tilemm__cuda_enter(member->ctx);
        error = ends ? cudaEventRecord(member->done, member->own)
                     : cudaStreamWaitEvent(member->own, multi->begun, 0);
        (void)tilemm__cuda_leave(member->ctx, before, TILEMM_SUCCESS);
        failed = i;
        if (!ends || error != cudaSuccess)
            continue;
        before = tilemm__cuda_enter(first);
        error = cudaStreamWaitEvent(stream, member->done, 0);
        (void)tilemm__cuda_leave(first, before, TILEMM_SUCCESS);
    }
    if (error == cudaSuccess)
        return TILEMM_SUCCESS;
    return take_failure(ctx, failed, tilemm__cuda_fail(multi->member[failed].ctx, "streams", error),
                        1);
}

tilemm_status_t tilemm__multi_run(tilemm_t ctx, const char *works, int waits, tilemm__part_t part,
                                  void *data, tilemm__relay_t *relay)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    job_t jobs[TILEMM__MOST_DEVICES];
    int count = 0, failed = -1;
    tilemm_status_t status = order(ctx, works, 0);
    if (status != TILEMM_SUCCESS)
        return status;
    for (int i = 0; i < multi->devices.count; i++)
        if (works[i])
            jobs[count++] = (job_t){.member = multi->member[i].ctx,
                                    .number = i,
                                    .part = part,
                                    .data = data,
                                    .status = TILEMM_SUCCESS};
    if (waits && count > 1)
        work_together(jobs, count, relay);
    else
        for (int i = 0; i < count; i++)
            jobs[i].status = part(jobs[i].member, jobs[i].number, data);
    for (int i = 0; i < count; i++) {
        if (jobs[i].status == TILEMM_SUCCESS)
            continue;
        /* A member that waited for another in vain is not the one to name. */
        if (failed < 0 || jobs[failed].status == TILEMM_INTERNAL_ERROR)
            failed = i;
    }
    status = order(ctx, works, 1);
    if (count > 0)
        tilemm__set_kernel(ctx, jobs[0].member->last_kernel);
    return failed < 0 ? status
                      : take_failure(ctx, jobs[failed].number, jobs[failed].status, count > 1);
}

tilemm_status_t tilemm__multi_run_one(tilemm_t ctx, int number, tilemm__part_t part, void *data)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    char works[TILEMM__MOST_DEVICES] = {0};
    if (number == 0) { /* on the context's stream: nothing to be ordered, also in a capture */
        const tilemm_t member = multi->member[0].ctx;
        const tilemm_status_t status = part(member, 0, data);
        tilemm__set_kernel(ctx, member->last_kernel);
        return take_failure(ctx, 0, status, 0);
    }
    works[number] = 1;
    return tilemm__multi_run(ctx, works, 0, part, data, NULL);
}

/* ---- the rest of the backend -------------------------------------------------------------- */

static tilemm_status_t multi_close(tilemm_t ctx)
{
    const tilemm_status_t status = close_members(tilemm__multi(ctx));
    ctx->state = NULL;
    return status;
}

static tilemm_status_t multi_synchronize(tilemm_t ctx)
{
    tilemm__multi_t *multi = tilemm__multi(ctx);
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int i = 0; i < multi->devices.count; i++) {
        const tilemm_t member = multi->member[i].ctx;
        const tilemm_status_t now = member->backend->synchronize(member);
        if (status == TILEMM_SUCCESS)
            status = take_failure(ctx, i, now, 0);
    }
    return status;
}

static tilemm_status_t multi_set_stream(tilemm_t ctx, void *stream)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    return take_failure(ctx, 0, first->backend->set_stream(first, stream), 0);
}

static size_t multi_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    first->math = ctx->math;
    first->invariance = ctx->invariance;
    return tilemm__cuda_sgemm_workspace(first, args);
}

/* Memory is the first device's, or any device's. */
static tilemm_status_t multi_allocate(tilemm_t ctx, tilemm_memory_t where, size_t bytes,
                                      void **memory)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    return take_failure(ctx, 0, tilemm__cuda_allocate(first, where, bytes, memory), 0);
}

static tilemm_status_t multi_deallocate(tilemm_t ctx, tilemm_memory_t where, void *memory)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    return take_failure(ctx, 0, tilemm__cuda_deallocate(first, where, memory), 0);
}

static tilemm_status_t multi_pin(tilemm_t ctx, void *memory, size_t bytes)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    return take_failure(ctx, 0, tilemm__cuda_pin(first, memory, bytes), 0);
}

static tilemm_status_t multi_unpin(tilemm_t ctx, void *memory)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    return take_failure(ctx, 0, tilemm__cuda_unpin(first, memory), 0);
}

const tilemm__backend_t tilemm__multi_backend = {
    .id = TILEMM_BACKEND_CUDA,
    .locate = multi_locate,
    .open_multi = tilemm__multi_open,
    .close = multi_close,
    .synchronize = multi_synchronize,
    .set_stream = multi_set_stream,
    .sgemm = tilemm__multi_sgemm,
    .sgemm_workspace = multi_sgemm_workspace,
    .transpose = tilemm__multi_transpose,
    .transpose_inplace = tilemm__multi_transpose_inplace,
    .copy = tilemm__multi_copy,
    .allocate = multi_allocate,
    .deallocate = multi_deallocate,
    .pin = multi_pin,
    .unpin = multi_unpin,
    .reduce = tilemm__multi_reduce,
    .reduce_segments = tilemm__multi_segments,
};
