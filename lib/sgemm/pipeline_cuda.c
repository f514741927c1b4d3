/* pipeline_cuda.c - a product with operands on the host, as plan_pipeline.h says: strips go up,
 * rectangles of C are multiplied and come down, on three streams at once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/cuda/timeline.h"
#include "lib/cuda/transfer.h"
#include "lib/size.h"
#include "pipeline_cuda.h"
#include "plan_cuda.h"

enum { SLOTS = TILEMM__PIPELINE_C_SLOTS, FLOAT = sizeof(float) };

/* A slot of C: multiplied, then on its way down. */
typedef struct {
    tilemm__rectangle_t at;
    cudaEvent_t multiplied, down;
    int under_way; /* the thread that empties has not done so yet */
} slot_t;

typedef struct {
    tilemm_t ctx;
    const tilemm__sgemm_args_t *args;
    tilemm__pipeline_plan_t plan;
    int waits; /* operands lie on the host; else all is queued, and the buffer is the context's */
    char *buffer;
    float *side[2], *c;                  /* in the buffer, or the user's on the device */
    tilemm__transfer_t up, from_c, down; /* pinned C comes up on a stream of its own */
    cudaEvent_t is_up, used[2][TILEMM__PIPELINE_STRIPS];
    slot_t slots[SLOTS];
    tilemm__relay_t *relay; /* with other devices, or NULL; `me` of them; once all agree */
    int me, relays;
    int on_gpu[2];
    cudaStream_t from_others;
    cudaEvent_t has_others;
    tilemm__timeline_t timeline;
    /* Pageable C: a thread empties the slots in their order. */
    int has_thread, ends;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    cudaError_t down_error;
} pipeline_t;

static cudaError_t move(pipeline_t *x, tilemm__lane_t lane, const tilemm__transfer_t *of,
                        const tilemm__rectangle_t *at)
{
    tilemm__timeline_begin(&x->timeline, lane, of->stream);
    const cudaError_t error = tilemm__transfer(of, at);
    tilemm__timeline_end(&x->timeline, lane, of->stream, (double)at->width * (double)at->rows);
    return error;
}

/* ---- down ----------------------------------------------------------------------------------- */

static cudaError_t move_down(pipeline_t *x, slot_t *slot)
{
    cudaError_t error = cudaStreamWaitEvent(x->down.stream, slot->multiplied, 0);
    if (error == cudaSuccess)
        error = move(x, TILEMM__LANE_DOWN, &x->down, &slot->at);
    return error == cudaSuccess ? cudaEventRecord(slot->down, x->down.stream) : error;
}

static void *empty_slots(void *argument)
{
    pipeline_t *const x = argument;
    cudaError_t error = cudaSetDevice(x->down.device);
    pthread_mutex_lock(&x->mutex);
    for (int q = 0;; q = (q + 1) % SLOTS) {
        slot_t *const slot = &x->slots[q];
        while (!slot->under_way && !x->ends)
            pthread_cond_wait(&x->changed, &x->mutex);
        if (!slot->under_way)
            break;
        pthread_mutex_unlock(&x->mutex);
        if (error == cudaSuccess)
            error = move_down(x, slot);
        pthread_mutex_lock(&x->mutex);
        slot->under_way = 0;
        x->down_error = error;
        pthread_cond_signal(&x->changed);
    }
    pthread_mutex_unlock(&x->mutex);
    return NULL;
}

static cudaError_t send_down(pipeline_t *x, slot_t *slot)
{
    if (!x->has_thread)
        return move_down(x, slot);
    pthread_mutex_lock(&x->mutex);
    slot->under_way = 1;
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->mutex);
    return cudaSuccess;
}

/* Until the thread has emptied the slot. */
static cudaError_t wait_for(pipeline_t *x, const slot_t *slot)
{
    if (!x->has_thread)
        return cudaSuccess;
    pthread_mutex_lock(&x->mutex);
    while (slot->under_way)
        pthread_cond_wait(&x->changed, &x->mutex);
    const cudaError_t error = x->down_error;
    pthread_mutex_unlock(&x->mutex);
    return error;
}

static void end_thread(pipeline_t *x)
{
    if (!x->has_thread)
        return;
    pthread_mutex_lock(&x->mutex);
    x->ends = 1;
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->mutex);
    pthread_join(x->thread, NULL);
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* Where strip i of a side begins, from k0 on, in the user's matrix. */
static const float *strip_of(const pipeline_t *x, int s, int64_t i, int64_t k0)
{
    const tilemm__pipeline_side_t *const side = &x->plan.side[s];
    const float *const base = s ? x->args->b : x->args->a;
    const int64_t ld = s ? x->args->ldb : x->args->lda, line = i * side->strip;
    return side->rows ? base + line * ld + k0 : base + k0 * ld + line;
}

/* The same on the device. */
static float *slot_of(const pipeline_t *x, int s, int64_t i, int64_t part)
{
    const tilemm__pipeline_side_t *const side = &x->plan.side[s];
    if (!side->moves)
        return (float *)(uintptr_t)strip_of(x, s, i, part * x->plan.k_part);
    const int64_t line = (i * x->plan.parts + part) % side->slots * side->strip;
    return x->side[s] + (side->rows ? line * side->ld : line);
}

static int64_t ld_of(const pipeline_t *x, int s)
{
    return x->plan.side[s].moves ? x->plan.side[s].ld : s ? x->args->ldb : x->args->lda;
}

/* ---- a step --------------------------------------------------------------------------------- */

/* Lines [from, to) of strip i of a side: on the host, and in this device's slot. */
static tilemm__rectangle_t lines_of(const pipeline_t *x, int s, int64_t i, int64_t part,
                                    int64_t from, int64_t to)
{
    const tilemm__pipeline_side_t *const side = &x->plan.side[s];
    const int64_t ld = s ? x->args->ldb : x->args->lda;
    const int64_t depth = tilemm__pipeline_depth(&x->plan, x->args->k, part);
    const float *const host = strip_of(x, s, i, part * x->plan.k_part);
    return (tilemm__rectangle_t){
        .host = (char *)(uintptr_t)(host + from * (side->rows ? ld : 1)),
        .device = (char *)(slot_of(x, s, i, part) + from * (side->rows ? side->ld : 1)),
        .host_pitch = ld * FLOAT,
        .device_pitch = side->ld * FLOAT,
        .width = (side->rows ? depth : to - from) * FLOAT,
        .rows = side->rows ? to - from : depth};
}

/* This device's share of a strip goes up; the others' come from their devices, by streams and links
 * of their own. */
static cudaError_t move_share(pipeline_t *x, int s, int64_t i)
{
    tilemm__relay_t *const relay = x->relay;
    const int64_t lines = tilemm__pipeline_lines(&x->plan.side[s], i, i + 1);
    cudaError_t error = cudaSuccess;
    for (int turn = 0; turn < relay->members && error == cudaSuccess; turn++) {
        const int j = (x->me + turn) % relay->members;
        const int64_t from = lines * j / relay->members, to = lines * (j + 1) / relay->members;
        const tilemm__rectangle_t at = lines_of(x, s, i, 0, from, to);
        if (turn == 0) {
            if (from < to)
                error = move(x, TILEMM__LANE_UP, &x->up, &at);
            if (error == cudaSuccess)
                error = cudaEventRecord(relay->member[j].is_up[i], x->up.stream);
            if (error == cudaSuccess)
                tilemm__relay_announce(relay, j);
            continue;
        }
        if (!tilemm__relay_wait(relay, j, i))
            return cudaErrorNotReady;
        error = cudaStreamWaitEvent(x->from_others, relay->member[j].is_up[i], 0);
        if (error == cudaSuccess && from < to)
            error =
                tilemm__cuda_copy_rows(at.device, at.device_pitch,
                                       relay->member[j].slots + (at.device - (char *)x->side[s]),
                                       at.device_pitch, at.width, at.rows, x->from_others);
    }
    if (error == cudaSuccess)
        error = cudaEventRecord(x->has_others, x->from_others);
    return error == cudaSuccess
               ? cudaStreamWaitEvent(tilemm__cuda(x->ctx)->stream, x->has_others, 0)
               : error;
}

static cudaError_t move_up(pipeline_t *x, int s, int64_t what)
{
    const tilemm__pipeline_plan_t *const plan = &x->plan;
    const tilemm__pipeline_side_t *const side = &plan->side[s];
    const int64_t i = what / plan->parts, part = what % plan->parts;
    const int64_t lines = tilemm__pipeline_lines(side, i, i + 1);
    if (x->relays && s == x->relay->side)
        return move_share(x, s, i);
    const tilemm__rectangle_t at = lines_of(x, s, i, part, 0, lines);
    const cudaError_t error = cudaStreamWaitEvent(x->up.stream, x->used[s][what % side->slots], 0);
    if (error == cudaSuccess && x->on_gpu[s]) { /* not by threads of the CPU */
        const tilemm__transfer_t direct = {.stream = x->up.stream};
        return move(x, TILEMM__LANE_UP, &direct, &at);
    }
    return error == cudaSuccess ? move(x, TILEMM__LANE_UP, &x->up, &at) : error;
}

/* The product of a step, with addresses on the device; its C begins at *c. */
static tilemm__sgemm_args_t product_of(const pipeline_t *x, const tilemm__pipeline_step_t *step,
                                       const slot_t *slot)
{
    const tilemm__pipeline_plan_t *const plan = &x->plan;
    tilemm__sgemm_args_t p = *x->args;
    p.m = tilemm__pipeline_lines(&plan->side[0], step->begin[0], step->end[0]);
    p.n = tilemm__pipeline_lines(&plan->side[1], step->begin[1], step->end[1]);
    p.k = tilemm__pipeline_depth(plan, x->args->k, step->part);
    p.a = slot_of(x, 0, step->begin[0], step->part);
    p.b = slot_of(x, 1, step->begin[1], step->part);
    p.lda = ld_of(x, 0);
    p.ldb = ld_of(x, 1);
    p.c = x->args->c + step->begin[0] * plan->side[0].strip * x->args->ldc +
          step->begin[1] * plan->side[1].strip;
    if (step->part > 0)
        p.beta = 1;
    if (plan->c_elements > 0) {
        p.ldc = tilemm__round_up(p.n, 64);
        p.c = x->c + (slot - x->slots) * plan->c_elements;
    }
    return p;
}

static cudaError_t prepare_c(pipeline_t *x, const tilemm__sgemm_args_t *p,
                             const tilemm__pipeline_step_t *step, slot_t *slot)
{
    cudaError_t error = wait_for(x, slot);
    float *const host = x->args->c + step->begin[0] * x->plan.side[0].strip * x->args->ldc +
                        step->begin[1] * x->plan.side[1].strip;
    slot->at = (tilemm__rectangle_t){.host = (char *)host,
                                     .device = (char *)p->c,
                                     .host_pitch = x->args->ldc * FLOAT,
                                     .device_pitch = p->ldc * FLOAT,
                                     .width = p->n * FLOAT,
                                     .rows = p->m};
    const tilemm__transfer_t *const up = x->has_thread ? &x->up : &x->from_c;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(p->beta != 0 ? up->stream : tilemm__cuda(x->ctx)->stream,
                                    slot->down, 0);
    if (error != cudaSuccess || p->beta == 0)
        return error;
    error = move(x, x->has_thread ? TILEMM__LANE_UP : TILEMM__LANE_UP_C, up, &slot->at);
    if (error == cudaSuccess)
        error = cudaEventRecord(slot->multiplied, up->stream);
    return error == cudaSuccess
               ? cudaStreamWaitEvent(tilemm__cuda(x->ctx)->stream, slot->multiplied, 0)
               : error;
}

static tilemm_status_t run_step(pipeline_t *x, const tilemm__pipeline_step_t *step, slot_t *slot)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const tilemm__sgemm_args_t p = product_of(x, step, slot);
    const int moves_c = x->plan.c_elements > 0;
    cudaError_t error = cudaSuccess;
    for (int s = 0; s < 2 && error == cudaSuccess; s++)
        if (step->up[s] >= 0)
            error = move_up(x, s, step->up[s]);
    if (error == cudaSuccess)
        error = cudaEventRecord(x->is_up, x->up.stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(stream, x->is_up, 0);
    if (error == cudaSuccess && moves_c && step->part == 0)
        error = prepare_c(x, &p, step, slot);
    if (error == cudaErrorNotReady)
        return tilemm__fail(x->ctx, TILEMM_INTERNAL_ERROR, "sgemm: another device has failed");
    if (error != cudaSuccess)
        return tilemm__cuda_fail(x->ctx, "sgemm", error);
    tilemm__timeline_begin(&x->timeline, TILEMM__LANE_COMPUTE, stream);
    const tilemm_status_t status = tilemm__cuda_sgemm(x->ctx, &p);
    tilemm__timeline_end(&x->timeline, TILEMM__LANE_COMPUTE, stream,
                         2 * (double)p.m * (double)p.n * (double)p.k);
    if (status != TILEMM_SUCCESS)
        return status;
    for (int s = 0; s < 2; s++)
        for (int64_t i = step->begin[s]; i < step->end[s] && x->plan.side[s].moves; i++)
            if (error == cudaSuccess)
                error = cudaEventRecord(
                    x->used[s][(i * x->plan.parts + step->part) % x->plan.side[s].slots], stream);
    if (error == cudaSuccess && moves_c && step->part + 1 == x->plan.parts) {
        error = cudaEventRecord(slot->multiplied, stream);
        if (error == cudaSuccess)
            error = send_down(x, slot);
    }
    return error == cudaSuccess ? TILEMM_SUCCESS : tilemm__cuda_fail(x->ctx, "sgemm", error);
}

static tilemm_status_t run_steps(pipeline_t *x)
{
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    tilemm_status_t status = TILEMM_SUCCESS;
    size_t most = 0, got;
    /* All workspace at once: while it grows nothing runs. */
    tilemm__pipeline_begin(&walk);
    while (tilemm__pipeline_next(&x->plan, &walk, &step)) {
        const tilemm__sgemm_args_t p = product_of(x, &step, x->slots);
        const size_t bytes = tilemm__cuda_sgemm_workspace(x->ctx, &p);
        most = bytes > most ? bytes : most;
    }
    (void)tilemm__cuda_workspace(x->ctx, most, &got);
    int q = 0;
    tilemm__pipeline_begin(&walk);
    while (status == TILEMM_SUCCESS && tilemm__pipeline_next(&x->plan, &walk, &step)) {
        status = run_step(x, &step, &x->slots[q]);
        if (step.part + 1 == x->plan.parts)
            q = (q + 1) % SLOTS;
    }
    return status;
}

/* ---- begin and end -------------------------------------------------------------------------- */

static cudaError_t open_relay(pipeline_t *x)
{
    const unsigned flags = cudaEventDisableTiming;
    cudaError_t error = cudaStreamCreateWithFlags(&x->from_others, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&x->has_others, flags);
    for (int64_t i = 0; i < x->plan.side[x->relay->side].strips && i < TILEMM__PIPELINE_STRIPS; i++)
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&x->relay->member[x->me].is_up[i], flags);
    return error;
}

/* Whether all devices hold the shared strips in the same places to the end. */
static int agree(pipeline_t *x, int is_open)
{
    tilemm__relay_t *const relay = x->relay;
    const tilemm__pipeline_side_t *const side = &x->plan.side[relay->side];
    relay->member[x->me].slots = (char *)x->side[relay->side];
    relay->member[x->me].strip = side->strip;
    relay->member[x->me].ld = side->ld;
    int same =
        tilemm__relay_meet(relay, is_open && x->plan.way == TILEMM__PIPELINE_WHOLE && side->moves &&
                                      side->strips <= TILEMM__PIPELINE_STRIPS);
    for (int j = 0; j < relay->members; j++)
        same &= relay->member[j].strip == side->strip && relay->member[j].ld == side->ld;
    return same && relay->members > 1;
}

static cudaError_t open_pipeline(pipeline_t *x)
{
    const tilemm__pipeline_plan_t *const plan = &x->plan;
    const unsigned flags = cudaEventDisableTiming;
    const int pageable_c = plan->c_elements > 0 && tilemm__cuda_is_pageable(x->args->c);
    const int pageable = (pageable_c && x->args->beta != 0) ||
                         (plan->side[0].moves && tilemm__cuda_is_pageable(x->args->a)) ||
                         (plan->side[1].moves && tilemm__cuda_is_pageable(x->args->b));
    cudaError_t error = tilemm__transfer_open(x->ctx, 0, pageable, &x->up);
    if (error == cudaSuccess && x->waits)
        tilemm__timeline_open(&x->timeline, x->ctx, x->up.stream);
    if (error == cudaSuccess)
        error = tilemm__transfer_open(x->ctx, 0, 0, &x->from_c);
    if (error == cudaSuccess)
        error = tilemm__transfer_open(x->ctx, 1, pageable_c, &x->down);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&x->is_up, flags);
    if (x->relay && error == cudaSuccess)
        error = open_relay(x);
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < plan->side[s].slots && plan->side[s].moves; i++)
            if (error == cudaSuccess)
                error = cudaEventCreateWithFlags(&x->used[s][i], flags);
    for (int q = 0; q < SLOTS; q++) {
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&x->slots[q].multiplied, flags);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&x->slots[q].down, flags);
    }
    /* The copies come after what the stream has to do first: it may make the operands. */
    if (error == cudaSuccess)
        error = cudaEventRecord(x->is_up, tilemm__cuda(x->ctx)->stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(x->up.stream, x->is_up, 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(x->from_c.stream, x->is_up, 0);
    if (error == cudaSuccess && pageable_c)
        x->has_thread = pthread_create(&x->thread, NULL, empty_slots, x) == 0;
    return error;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

/* The streams that were opened, in the order of what they do. */
static cudaError_t wait_for_streams(const pipeline_t *x)
{
    const cudaStream_t streams[] = {x->up.stream, x->from_c.stream, x->from_others,
                                    tilemm__cuda(x->ctx)->stream, x->down.stream};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 5; i++) {
        const cudaError_t now =
            streams[i] || i == 3 ? cudaStreamSynchronize(streams[i]) : cudaSuccess;
        error = error == cudaSuccess ? now : error;
    }
    return error;
}

/* What was queued goes on without its streams and events; the context's stream waits for it. */
static cudaError_t follow(const pipeline_t *x)
{
    const cudaStream_t streams[] = {x->up.stream, x->down.stream};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 2 && error == cudaSuccess; i++) {
        error = cudaEventRecord(x->is_up, streams[i]);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(tilemm__cuda(x->ctx)->stream, x->is_up, 0);
    }
    return error;
}

static tilemm_status_t close_pipeline(pipeline_t *x, tilemm_status_t status)
{
    if (x->relay && status != TILEMM_SUCCESS)
        tilemm__relay_fail(x->relay);
    end_thread(x);
    cudaError_t error = x->down_error;
    if (error == cudaSuccess && !x->waits && status == TILEMM_SUCCESS)
        error = follow(x);
    if (x->waits || error != cudaSuccess || status != TILEMM_SUCCESS) {
        const cudaError_t now = wait_for_streams(x);
        error = error == cudaSuccess ? now : error;
    }
    if (status == TILEMM_SUCCESS && error != cudaSuccess)
        status = tilemm__cuda_fail(x->ctx, "sgemm", error);
    tilemm__timeline_close(&x->timeline, status == TILEMM_SUCCESS);
    tilemm__transfer_close(&x->up);
    tilemm__transfer_close(&x->from_c);
    tilemm__transfer_close(&x->down);
    destroy_event(x->is_up);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < TILEMM__PIPELINE_STRIPS; i++)
            destroy_event(x->used[s][i]);
    for (int q = 0; q < SLOTS; q++) {
        destroy_event(x->slots[q].multiplied);
        destroy_event(x->slots[q].down);
    }
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->mutex);
    if (x->relay) { /* the others may still copy from here */
        (void)tilemm__relay_meet(x->relay, 1);
        for (int i = 0; i < TILEMM__PIPELINE_STRIPS; i++)
            destroy_event(x->relay->member[x->me].is_up[i]);
        destroy_event(x->has_others);
        if (x->from_others)
            cudaStreamDestroy(x->from_others);
    }
    if (x->waits)
        cudaFree(x->buffer);
    return status;
}

/* The buffers; a plan for half the memory where there is less than it seemed. */
static tilemm_status_t allocate(pipeline_t *x, tilemm__pipeline_places_t places)
{
    for (;; places.memory /= 2) {
        if (tilemm__plan_pipeline(x->args, &places, &x->plan) != TILEMM_SUCCESS)
            return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY,
                                "sgemm: %zu bytes of device memory are too few for tiles of the "
                                "operands on the host",
                                places.memory);
        if (!x->waits)
            x->buffer = tilemm__cuda_strips(x->ctx, x->plan.bytes);
        else if (cudaMalloc((void **)&x->buffer, x->plan.bytes) != cudaSuccess)
            x->buffer = NULL;
        if (x->buffer)
            break;
        (void)cudaGetLastError();
    }
    char *at = x->buffer;
    for (int s = 0; s < 2; s++) {
        const tilemm__pipeline_side_t *side = &x->plan.side[s];
        x->side[s] = (float *)(void *)at;
        if (side->moves)
            at += side->ld * (side->rows ? side->slots * side->strip : x->plan.k_part) * FLOAT;
    }
    x->c = (float *)(void *)at;
    return TILEMM_SUCCESS;
}

void tilemm__cuda_choose_kernel(tilemm_t ctx, const tilemm__sgemm_args_t *whole)
{
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__sgemm_args_t p = *whole;
    tilemm__sgemm_cuda_plan_t plan;
    if (*ctx->variant)
        return;
    p.a = p.b = p.c = NULL;
    p.lda = p.trans_a ? p.m : p.k;
    p.ldb = p.trans_b ? p.k : p.n;
    p.ldc = p.n;
    if (tilemm__plan_sgemm_cuda(&p, &limits, &plan) == TILEMM_SUCCESS && plan.variant >= 0)
        snprintf(ctx->variant, sizeof ctx->variant, "%s+", tilemm__sgemm_rows[plan.variant].name);
}

tilemm_status_t tilemm__cuda_run_pipeline(const tilemm__pipeline_call_t *call)
{
    pipeline_t pipeline = {.ctx = call->ctx,
                           .args = call->args,
                           .waits = call->waits,
                           .relay = call->relay,
                           .me = call->me,
                           .on_gpu = {call->on_gpu[0], call->on_gpu[1]}};
    pipeline_t *const x = &pipeline;
    const tilemm_t ctx = x->ctx;
    char variant[sizeof ctx->variant];
    pthread_mutex_init(&x->mutex, NULL);
    pthread_cond_init(&x->changed, NULL);
    tilemm_status_t status = allocate(x, call->places);
    const cudaError_t error = status == TILEMM_SUCCESS ? open_pipeline(x) : cudaSuccess;
    if (error != cudaSuccess)
        status = tilemm__cuda_fail(ctx, "sgemm", error);
    if (x->relay)
        x->relays = agree(x, status == TILEMM_SUCCESS);
    memcpy(variant, ctx->variant, sizeof variant);
    if (x->plan.parts == 1)
        tilemm__cuda_choose_kernel(ctx, call->whole);
    if (status == TILEMM_SUCCESS)
        status = run_steps(x);
    memcpy(ctx->variant, variant, sizeof variant);
    return close_pipeline(x, status);
}
