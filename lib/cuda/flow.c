/* flow.c - see flow.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "flow.h"

static const unsigned event_flags = cudaEventDisableTiming;

/* ---- how much -------------------------------------------------------------------------------- */

size_t tilemm__cuda_memory_limit(tilemm_t ctx)
{
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    size_t free_bytes = 0, total;
    if (!ctx->device_memory && cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        (void)cudaGetLastError();
    return ctx->device_memory ? ctx->device_memory
                              : (free_bytes / (size_t)state->sharers + state->strips_bytes) / 4 * 3;
}

int tilemm__cuda_is_large(tilemm_t ctx, double bytes)
{
    enum { PAYS = 16 << 20 };
    return bytes > PAYS || (ctx->device_memory && bytes > (double)ctx->device_memory);
}

/* ---- up ------------------------------------------------------------------------------------- */

cudaError_t tilemm__feed_open(tilemm_t ctx, int pageable, tilemm__timeline_t *timeline,
                              tilemm__feed_t *feed)
{
    cudaError_t error = tilemm__transfer_open(ctx, 0, pageable, &feed->up);
    feed->up.timeline = timeline;
    feed->up.lane = TILEMM__LANE_UP;
    if (error == cudaSuccess && timeline)
        tilemm__timeline_open(timeline, ctx, feed->up.stream);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&feed->is_up, event_flags);
    if (error == cudaSuccess)
        error = cudaEventRecord(feed->is_up, tilemm__cuda(ctx)->stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(feed->up.stream, feed->is_up, 0) : error;
}

cudaError_t tilemm__feed(tilemm__feed_t *feed, int slot, const tilemm__rectangle_t *at)
{
    const cudaError_t error =
        feed->used[slot] ? cudaStreamWaitEvent(feed->up.stream, feed->used[slot], 0) : cudaSuccess;
    return error == cudaSuccess ? tilemm__transfer(&feed->up, at) : error;
}

cudaError_t tilemm__feed_await(tilemm__feed_t *feed, cudaStream_t stream)
{
    const cudaError_t error = cudaEventRecord(feed->is_up, feed->up.stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(stream, feed->is_up, 0) : error;
}

cudaError_t tilemm__feed_release(tilemm__feed_t *feed, int slot, cudaStream_t stream)
{
    const cudaError_t error =
        feed->used[slot] ? cudaSuccess : cudaEventCreateWithFlags(&feed->used[slot], event_flags);
    return error == cudaSuccess ? cudaEventRecord(feed->used[slot], stream) : error;
}

void tilemm__feed_close(tilemm__feed_t *feed)
{
    tilemm__transfer_close(&feed->up);
    if (feed->is_up)
        cudaEventDestroy(feed->is_up);
    for (int i = 0; i < TILEMM__FEED_SLOTS; i++)
        if (feed->used[i])
            cudaEventDestroy(feed->used[i]);
}

/* ---- down ----------------------------------------------------------------------------------- */

static cudaError_t move_down(tilemm__drain_t *drain, tilemm__drain_slot_t *slot)
{
    cudaError_t error = cudaStreamWaitEvent(drain->down.stream, slot->ready, 0);
    if (error == cudaSuccess)
        error = tilemm__transfer(&drain->down, &slot->at);
    return error == cudaSuccess ? cudaEventRecord(slot->down, drain->down.stream) : error;
}

static void *empty_slots(void *argument)
{
    tilemm__drain_t *const drain = argument;
    cudaError_t error = cudaSetDevice(drain->down.device);
    pthread_mutex_lock(&drain->mutex);
    for (int q = 0;; q = (q + 1) % drain->slots) {
        tilemm__drain_slot_t *const slot = &drain->slot[q];
        while (!slot->under_way && !drain->ends)
            pthread_cond_wait(&drain->changed, &drain->mutex);
        if (!slot->under_way)
            break;
        pthread_mutex_unlock(&drain->mutex);
        if (error == cudaSuccess)
            error = move_down(drain, slot);
        pthread_mutex_lock(&drain->mutex);
        slot->under_way = 0;
        drain->error = error;
        pthread_cond_signal(&drain->changed);
    }
    pthread_mutex_unlock(&drain->mutex);
    return NULL;
}

cudaError_t tilemm__drain_open(tilemm_t ctx, int slots, int pageable, tilemm__timeline_t *timeline,
                               tilemm__drain_t *drain)
{
    pthread_mutex_init(&drain->mutex, NULL);
    pthread_cond_init(&drain->changed, NULL);
    drain->slots = slots;
    drain->is_open = 1;
    cudaError_t error = tilemm__transfer_open(ctx, 1, pageable, &drain->down);
    drain->down.timeline = timeline;
    drain->down.lane = TILEMM__LANE_DOWN;
    if (error == cudaSuccess && timeline && !timeline->start)
        tilemm__timeline_open(timeline, ctx, drain->down.stream);
    for (int q = 0; q < slots; q++) {
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&drain->slot[q].ready, event_flags);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&drain->slot[q].down, event_flags);
    }
    if (error == cudaSuccess && pageable)
        drain->has_thread = tilemm__start_thread(&drain->thread, empty_slots, drain) == 0;
    return error;
}

cudaError_t tilemm__drain_await(tilemm__drain_t *drain, int slot, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (drain->has_thread) {
        pthread_mutex_lock(&drain->mutex);
        while (drain->slot[slot].under_way)
            pthread_cond_wait(&drain->changed, &drain->mutex);
        error = drain->error;
        pthread_mutex_unlock(&drain->mutex);
    }
    return error == cudaSuccess ? cudaStreamWaitEvent(stream, drain->slot[slot].down, 0) : error;
}

cudaError_t tilemm__drain(tilemm__drain_t *drain, int slot, cudaStream_t stream)
{
    const cudaError_t error = cudaEventRecord(drain->slot[slot].ready, stream);
    if (error != cudaSuccess || !drain->has_thread)
        return error == cudaSuccess ? move_down(drain, &drain->slot[slot]) : error;
    pthread_mutex_lock(&drain->mutex);
    drain->slot[slot].under_way = 1;
    pthread_cond_signal(&drain->changed);
    pthread_mutex_unlock(&drain->mutex);
    return cudaSuccess;
}

cudaError_t tilemm__drain_end(tilemm__drain_t *drain)
{
    if (drain->has_thread) {
        pthread_mutex_lock(&drain->mutex);
        drain->ends = 1;
        pthread_cond_signal(&drain->changed);
        pthread_mutex_unlock(&drain->mutex);
        pthread_join(drain->thread, NULL);
        drain->has_thread = 0;
    }
    return drain->error;
}

void tilemm__drain_close(tilemm__drain_t *drain)
{
    if (!drain->is_open)
        return;
    (void)tilemm__drain_end(drain);
    tilemm__transfer_close(&drain->down);
    for (int q = 0; q < drain->slots; q++) {
        if (drain->slot[q].ready)
            cudaEventDestroy(drain->slot[q].ready);
        if (drain->slot[q].down)
            cudaEventDestroy(drain->slot[q].down);
    }
    pthread_cond_destroy(&drain->changed);
    pthread_mutex_destroy(&drain->mutex);
}

/* ---- both ----------------------------------------------------------------------------------- */

cudaError_t tilemm__flow_wait(tilemm_t ctx, const tilemm__feed_t *feed, tilemm__drain_t *drain)
{
    const cudaStream_t streams[] = {feed->up.stream, drain->down.stream};
    cudaError_t error = tilemm__drain_end(drain), now;
    for (int i = 0; i < 2; i++)
        if (streams[i] && (now = cudaStreamSynchronize(streams[i])) != cudaSuccess)
            error = error == cudaSuccess ? now : error;
    now = cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    return error == cudaSuccess ? now : error;
}

cudaError_t tilemm__flow_follow(tilemm_t ctx, const tilemm__feed_t *feed, tilemm__drain_t *drain)
{
    const cudaStream_t streams[] = {feed->up.stream, drain->down.stream};
    cudaError_t error = tilemm__drain_end(drain);
    for (int i = 0; i < 2 && error == cudaSuccess; i++) {
        error = cudaEventRecord(feed->is_up, streams[i]);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(tilemm__cuda(ctx)->stream, feed->is_up, 0);
    }
    return error;
}

tilemm_status_t tilemm__flow_status(tilemm_t ctx, tilemm_status_t status)
{
    char text[sizeof ctx->last_error];
    memcpy(text, ctx->last_error, sizeof text);
    return status == TILEMM_SUCCESS ? status
                                    : tilemm__fail(ctx, status, "%s; " TILEMM__UNDEFINED, text);
}
