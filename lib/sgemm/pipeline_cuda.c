/* pipeline_cuda.c - a product with operands on the host, as plan_pipeline.h says: strips go up,
 * rectangles of C are multiplied and come down, on three streams at once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline_cuda.h"

#include <stdio.h>
#include <string.h>

#include "lib/cuda/flow.h"
#include "lib/size.h"
#include "plan_cuda.h"

enum {
    SLOTS = TILEMM__PIPELINE_C_SLOTS,
    STRIPS = TILEMM__PIPELINE_STRIPS, /* slots of the feed for each side */
    FLOAT = sizeof(float)
};

typedef struct {
    tilemm_t ctx;
    const tilemm__sgemm_args_t *args;
    tilemm__pipeline_plan_t plan;
    int waits;          /* operands lie on the host; else all is queued */
    char *buffer;       /* the context's */
    float *side[2], *c; /* in the buffer, or the user's on the device */
    tilemm__timeline_t timeline;
    tilemm__feed_t feed;
    tilemm__drain_t drain;     /* of C */
    tilemm__transfer_t from_c; /* pinned C comes up on a stream of its own */
    tilemm__relay_t *relay;    /* with other devices, or NULL; `me` of them; once all agree */
    int me, relays;
    int on_gpu[3];
    cudaStream_t from_others;
    cudaEvent_t has_others;
} pipeline_t;

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

/* `lines` lines of a side from strip i on: on the host, and in this device's slot. */
static tilemm__rectangle_t lines_of(const pipeline_t *x, int s, int64_t i, int64_t part,
                                    int64_t lines)
{
    const tilemm__pipeline_side_t *const side = &x->plan.side[s];
    const int64_t ld = s ? x->args->ldb : x->args->lda;
    const int64_t depth = tilemm__pipeline_depth(&x->plan, x->args->k, part);
    return (tilemm__rectangle_t){.host =
                                     (char *)(uintptr_t)strip_of(x, s, i, part * x->plan.k_part),
                                 .device = (char *)slot_of(x, s, i, part),
                                 .host_pitch = ld * FLOAT,
                                 .device_pitch = side->ld * FLOAT,
                                 .width = (side->rows ? depth : lines) * FLOAT,
                                 .rows = side->rows ? lines : depth,
                                 .on_gpu = x->on_gpu[s]};
}

/* Rows of a rectangle: share j of `shares`. */
static tilemm__rectangle_t share_of(tilemm__rectangle_t at, int j, int shares)
{
    const int64_t from = at.rows * j / shares, to = at.rows * (j + 1) / shares;
    at.host += from * at.host_pitch;
    at.device += from * at.device_pitch;
    at.rows = to - from;
    return at;
}

/* This device's share of `count` strips goes up; the others' come from their devices, by streams
 * and links of their own. Others may take these strips one by one. */
static cudaError_t move_share(pipeline_t *x, int s, int64_t i, int64_t count)
{
    tilemm__relay_t *const relay = x->relay;
    const tilemm__rectangle_t strips =
        lines_of(x, s, i, 0, tilemm__pipeline_lines(&x->plan.side[s], i, i + count));
    cudaError_t error = cudaSuccess;
    for (int turn = 0; turn < relay->members && error == cudaSuccess; turn++) {
        const int j = (x->me + turn) % relay->members;
        const tilemm__rectangle_t at = share_of(strips, j, relay->members);
        if (turn == 0) {
            if (at.rows > 0)
                error = tilemm__transfer(&x->feed.up, &at);
            for (int64_t up = i; up < i + count && error == cudaSuccess; up++)
                error = cudaEventRecord(relay->member[j].is_up[up], x->feed.up.stream);
            if (error == cudaSuccess)
                tilemm__relay_announce(relay, j, count);
            continue;
        }
        if (!tilemm__relay_wait(relay, j, i + count - 1))
            return cudaErrorNotReady;
        error = cudaStreamWaitEvent(x->from_others, relay->member[j].is_up[i + count - 1], 0);
        if (error == cudaSuccess && at.rows > 0)
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

/* `count` strips at once: more than one go where nothing has been. */
static cudaError_t move_up(pipeline_t *x, int s, int64_t what, int64_t count)
{
    const tilemm__pipeline_plan_t *const plan = &x->plan;
    const tilemm__pipeline_side_t *const side = &plan->side[s];
    const int64_t i = what / plan->parts, part = what % plan->parts;
    const int64_t lines = tilemm__pipeline_lines(side, i, i + count);
    cudaError_t error = cudaSuccess;
    if (x->relays && s == x->relay->side) {
        /* A share of columns is some of their rows, of however many columns. */
        const int64_t together = side->rows ? 1 : count;
        for (int64_t j = i; j < i + count && error == cudaSuccess; j += together)
            error = move_share(x, s, j, together);
        return error;
    }
    const tilemm__rectangle_t at = lines_of(x, s, i, part, lines);
    return tilemm__feed(&x->feed, s * STRIPS + (int)(what % side->slots), &at);
}

/* The product of a step, with addresses on the device, its C in this slot. */
static tilemm__sgemm_args_t product_of(const pipeline_t *x, const tilemm__pipeline_step_t *step,
                                       int slot)
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
        p.ldc = tilemm__pipeline_ld(p.n, x->args->ldc);
        p.c = x->c + slot * plan->c_elements;
    }
    return p;
}

/* What stays in the workspace from one step to the next: returns whether anything does. */
static int kept_of(const pipeline_t *x, const tilemm__pipeline_step_t *step,
                   tilemm__sgemm_kept_t *kept)
{
    for (int s = 0; s < 2; s++)
        kept[s] = tilemm__pipeline_kept(&x->plan.side[s], step, s);
    return kept[0].room > 0 || kept[1].room > 0;
}

/* Empty the slot, and bring its part of C up if the product adds to it. */
static cudaError_t prepare_c(pipeline_t *x, const tilemm__sgemm_args_t *p,
                             const tilemm__pipeline_step_t *step, int slot)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const tilemm__transfer_t *const up = x->drain.has_thread ? &x->feed.up : &x->from_c;
    tilemm__drain_slot_t *const to = &x->drain.slot[slot];
    float *const host = x->args->c + step->begin[0] * x->plan.side[0].strip * x->args->ldc +
                        step->begin[1] * x->plan.side[1].strip;
    cudaError_t error = tilemm__drain_await(&x->drain, slot, p->beta != 0 ? up->stream : stream);
    to->at = (tilemm__rectangle_t){.host = (char *)host,
                                   .device = (char *)p->c,
                                   .host_pitch = x->args->ldc * FLOAT,
                                   .device_pitch = p->ldc * FLOAT,
                                   .width = p->n * FLOAT,
                                   .rows = p->m,
                                   .on_gpu = x->on_gpu[2]};
    if (error != cudaSuccess || p->beta == 0)
        return error;
    error = tilemm__transfer(up, &to->at);
    if (error == cudaSuccess)
        error = cudaEventRecord(to->ready, up->stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(stream, to->ready, 0) : error;
}

/* What the step multiplies that is not there. */
static cudaError_t bring_up(pipeline_t *x, const tilemm__pipeline_step_t *step)
{
    cudaError_t error = cudaSuccess;
    for (int s = 0; s < 2 && error == cudaSuccess; s++)
        if (step->ups[s] > 0)
            error = move_up(x, s, step->up[s], step->ups[s]);
    return error;
}

/* The step no longer reads what will make room for others. */
static cudaError_t release(pipeline_t *x, const tilemm__pipeline_step_t *step, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (int s = 0; s < 2; s++) {
        const tilemm__pipeline_side_t *const side = &x->plan.side[s];
        if (!side->moves || side->slots == side->strips * x->plan.parts)
            continue;
        for (int64_t i = step->begin[s]; i < step->end[s] && error == cudaSuccess; i++)
            error = tilemm__feed_release(
                &x->feed, s * STRIPS + (int)((i * x->plan.parts + step->part) % side->slots),
                stream);
    }
    return error;
}

/* up: what bring_up() returned. */
static tilemm_status_t run_step(pipeline_t *x, const tilemm__pipeline_step_t *step, int slot,
                                cudaError_t up)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const tilemm__sgemm_args_t p = product_of(x, step, slot);
    const int moves_c = x->plan.c_elements > 0;
    cudaError_t error = up == cudaSuccess ? tilemm__feed_await(&x->feed, stream) : up;
    if (error == cudaSuccess && moves_c && step->part == 0)
        error = prepare_c(x, &p, step, slot);
    if (error == cudaErrorNotReady)
        return tilemm__fail(x->ctx, TILEMM_INTERNAL_ERROR, "sgemm: another device has failed");
    if (error != cudaSuccess)
        return tilemm__cuda_fail(x->ctx, "sgemm", error);
    tilemm__timeline_begin(&x->timeline, TILEMM__LANE_COMPUTE, stream);
    tilemm__sgemm_kept_t kept[2];
    const tilemm_status_t status =
        tilemm__cuda_sgemm_kept(x->ctx, &p, kept_of(x, step, kept) ? kept : NULL);
    tilemm__timeline_end(&x->timeline, TILEMM__LANE_COMPUTE, stream,
                         2 * (double)p.m * (double)p.n * (double)p.k);
    if (status != TILEMM_SUCCESS)
        return status;
    error = release(x, step, stream);
    if (error == cudaSuccess && moves_c && step->part + 1 == x->plan.parts)
        error = tilemm__drain(&x->drain, slot, stream);
    return error == cudaSuccess ? TILEMM_SUCCESS : tilemm__cuda_fail(x->ctx, "sgemm", error);
}

/* The workspace of all steps; 0 if planes are to stay, and those of some step cannot. */
static size_t most_workspace(const pipeline_t *x)
{
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    tilemm__sgemm_args_t last = {0};
    size_t most = 0;
    tilemm__pipeline_begin(&walk);
    while (tilemm__pipeline_next(&x->plan, &walk, &step)) {
        const tilemm__sgemm_args_t p = product_of(x, &step, 0);
        tilemm__sgemm_kept_t kept[2];
        if (p.m == last.m && p.n == last.n && p.k == last.k) /* takes the same */
            continue;
        last = p;
        const int keeps = kept_of(x, &step, kept);
        const size_t bytes = keeps ? tilemm__cuda_sgemm_kept_workspace(x->ctx, &p, kept)
                                   : tilemm__cuda_sgemm_workspace(x->ctx, &p);
        if (keeps && bytes == 0)
            return 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* All workspace at once, since nothing runs while it grows; and as many planes as it has room for
 * stay in it. They take no more of a memory that the user limits than strips leave over, or than
 * steps take that keep nothing. */
static void take_workspace(pipeline_t *x)
{
    const size_t limit = x->ctx->device_memory;
    const size_t left = limit > x->plan.bytes ? limit - x->plan.bytes : 0;
    size_t got;
    tilemm__pipeline_keep(&x->plan, TILEMM__PIPELINE_KEEP_NONE);
    const size_t most = most_workspace(x);
    const size_t room = !limit ? SIZE_MAX : left > most ? left : most;
    for (int keep = TILEMM__PIPELINE_KEEP_MANY; keep > TILEMM__PIPELINE_KEEP_NONE; keep--) {
        if (!tilemm__pipeline_keep(&x->plan, (tilemm__pipeline_keep_t)keep))
            continue;
        const size_t bytes = most_workspace(x);
        if (bytes == 0 || bytes > room)
            continue;
        (void)tilemm__cuda_workspace(x->ctx, bytes, &got);
        if (got >= bytes)
            return;
    }
    tilemm__pipeline_keep(&x->plan, TILEMM__PIPELINE_KEEP_NONE);
    (void)tilemm__cuda_workspace(x->ctx, most, &got);
}

static tilemm_status_t run_steps(pipeline_t *x)
{
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    tilemm_status_t status = TILEMM_SUCCESS;
    cudaError_t up = cudaSuccess;
    int q = 0, is_first = 1;
    /* The first strips are on their way while the rest is settled. */
    tilemm__pipeline_begin(&walk);
    if (tilemm__pipeline_next(&x->plan, &walk, &step))
        up = bring_up(x, &step);
    take_workspace(x);
    tilemm__pipeline_begin(&walk);
    for (; status == TILEMM_SUCCESS && tilemm__pipeline_next(&x->plan, &walk, &step);
         is_first = 0) {
        status = run_step(x, &step, q, is_first ? up : bring_up(x, &step));
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
    const int pageable_c = plan->c_elements > 0 && tilemm__cuda_is_pageable(x->args->c);
    const int pageable = (pageable_c && x->args->beta != 0) ||
                         (plan->side[0].moves && tilemm__cuda_is_pageable(x->args->a)) ||
                         (plan->side[1].moves && tilemm__cuda_is_pageable(x->args->b));
    tilemm__timeline_t *const timeline = x->waits ? &x->timeline : NULL;
    cudaError_t error = tilemm__feed_open(x->ctx, pageable, timeline, &x->feed);
    if (error == cudaSuccess)
        error = tilemm__drain_open(x->ctx, SLOTS, pageable_c, timeline, &x->drain);
    if (error == cudaSuccess)
        error = tilemm__transfer_open(x->ctx, 0, 0, &x->from_c);
    x->from_c.timeline = timeline;
    x->from_c.lane = TILEMM__LANE_UP_C;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(x->from_c.stream, x->feed.is_up, 0);
    return x->relay && error == cudaSuccess ? open_relay(x) : error;
}

/* Until all is done; or the context's stream waits for it, and it goes on without its streams. */
static cudaError_t end_flow(pipeline_t *x, int waits)
{
    const cudaStream_t others[] = {x->from_c.stream, x->from_others};
    cudaError_t error = tilemm__drain_end(&x->drain), now;
    if (error == cudaSuccess && !waits)
        error = tilemm__flow_follow(x->ctx, &x->feed, &x->drain);
    if (error == cudaSuccess && !waits)
        return error;
    for (int i = 0; i < 2; i++)
        if (others[i] && (now = cudaStreamSynchronize(others[i])) != cudaSuccess)
            error = error == cudaSuccess ? now : error;
    now = tilemm__flow_wait(x->ctx, &x->feed, &x->drain);
    return error == cudaSuccess ? now : error;
}

static tilemm_status_t close_pipeline(pipeline_t *x, tilemm_status_t status)
{
    if (x->relay && status != TILEMM_SUCCESS)
        tilemm__relay_fail(x->relay);
    const cudaError_t error = end_flow(x, x->waits || status != TILEMM_SUCCESS);
    if (status == TILEMM_SUCCESS && error != cudaSuccess)
        status = tilemm__cuda_fail(x->ctx, "sgemm", error);
    tilemm__timeline_close(&x->timeline, status == TILEMM_SUCCESS);
    tilemm__feed_close(&x->feed);
    tilemm__drain_close(&x->drain);
    tilemm__transfer_close(&x->from_c);
    if (x->relay) { /* the others may still copy from here */
        (void)tilemm__relay_meet(x->relay, 1);
        for (int i = 0; i < TILEMM__PIPELINE_STRIPS; i++)
            if (x->relay->member[x->me].is_up[i])
                cudaEventDestroy(x->relay->member[x->me].is_up[i]);
        if (x->has_others)
            cudaEventDestroy(x->has_others);
        if (x->from_others)
            cudaStreamDestroy(x->from_others);
    }
    if (x->waits)
        tilemm__cuda_trim_strips(x->ctx);
    return x->buffer ? tilemm__flow_status(x->ctx, status) : status;
}

/* The buffers; a plan for half the memory where there is less than it seemed. */
static tilemm_status_t allocate(pipeline_t *x, tilemm__pipeline_places_t places)
{
    places.sm_count = tilemm__cuda(x->ctx)->traits.sm_count;
    for (;; places.memory /= 2) {
        if (tilemm__plan_pipeline(x->args, &places, &x->plan) != TILEMM_SUCCESS)
            return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY,
                                "sgemm: %zu bytes of device memory are too few for tiles of the "
                                "operands on the host",
                                places.memory);
        if (x->plan.parts > 1 && x->ctx->invariance != TILEMM_INVARIANCE_NONE)
            return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY,
                                "sgemm: %zu bytes of device memory are too few for tiles of the "
                                "operands on the host with all of k, as an invariant product needs",
                                places.memory);
        x->buffer = tilemm__cuda_strips(x->ctx, x->plan.bytes, places.memory);
        if (x->buffer)
            break;
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

/* The plan of the product of operands that lie on the device as the caller's do, at addresses that
 * are aligned. Returns whether there is one, and nothing forces a kernel. */
static int plan_resident(tilemm_t ctx, const tilemm__sgemm_args_t *whole,
                         tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__sgemm_args_t p = *whole;
    p.a = p.b = p.c = NULL;
    return !*ctx->variant && tilemm__plan_sgemm_cuda(&p, &limits, plan) == TILEMM_SUCCESS &&
           plan->variant >= 0;
}

/* Kernels that read operands however they are aligned have the sums of those that cannot; sums of
 * outer products are the same however C is stored. */
static void force(tilemm_t ctx, const tilemm__sgemm_cuda_plan_t *plan)
{
    static const char unaligned[] = "sgemm_unaligned";
    const char *const name = tilemm__sgemm_rows[plan->variant].name;
    const char *const suffix =
        plan->method == TILEMM__SGEMM_OUTER ? strstr(name, "_aligned") : NULL;
    if (!strncmp(name, unaligned, strlen(unaligned)))
        snprintf(ctx->variant, sizeof ctx->variant, "sgemm_fused%s+", name + strlen(unaligned));
    else
        snprintf(ctx->variant, sizeof ctx->variant, "%.*s+",
                 (int)(suffix ? suffix - name : (ptrdiff_t)strlen(name)), name);
}

void tilemm__cuda_keep_bits(tilemm_t ctx, const tilemm__sgemm_args_t *whole)
{
    tilemm__sgemm_cuda_plan_t plan;
    if (plan_resident(ctx, whole, &plan) && !strchr(plan.name, '+'))
        force(ctx, &plan);
}

void tilemm__cuda_choose_kernel(tilemm_t ctx, const tilemm__sgemm_args_t *whole)
{
    tilemm__sgemm_cuda_plan_t plan;
    if (!plan_resident(ctx, whole, &plan))
        return;
    /* Tensor cores truncate, which long sums show; but stream-K may divide the last tiles' alone.
     */
    const tilemm__sgemm_planes_product_t *const planes = &plan.as.planes.part[0][0].product;
    const int divides_k =
        ((plan.method == TILEMM__SGEMM_FUSED || plan.method == TILEMM__SGEMM_WARP) &&
         strchr(plan.name, '+')) ||
        (plan.method == TILEMM__SGEMM_PLANES &&
         (plan.as.planes.k_part < whole->k ||
          (planes->shared > 0 && planes->walk.stream_k.whole == 0)));
    if (!divides_k)
        force(ctx, &plan);
}

tilemm_status_t tilemm__cuda_run_pipeline(const tilemm__pipeline_call_t *call)
{
    pipeline_t pipeline = {.ctx = call->ctx,
                           .args = call->args,
                           .waits = call->waits,
                           .relay = call->relay,
                           .me = call->me,
                           .on_gpu = {call->on_gpu[0], call->on_gpu[1], call->on_gpu[2]}};
    pipeline_t *const x = &pipeline;
    const tilemm_t ctx = x->ctx;
    char variant[sizeof ctx->variant];
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
