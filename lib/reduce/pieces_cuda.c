/* pieces_cuda.c - reductions of what lies on the host, as plan_pieces_cuda.h says: pieces go up
 * while others are reduced. Results of whole vectors come down as they are; partial results of
 * divided vectors come down and are joined on the host, in their order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "lib/cuda/flow.h"
#include "lib/size.h"
#include "plan_pieces_cuda.h"

enum { SLOTS = TILEMM__PIECES_SLOTS, FLOAT = sizeof(float) };

/* Partial results of a piece on their way down. */
typedef struct {
    cudaEvent_t down;
    int is_under_way;
    tilemm__reduce_piece_t piece;
} landing_t;

typedef struct {
    tilemm_t ctx;
    tilemm__reduce_args_t args; /* of segments: a vector's, but for where its elements lie */
    const int64_t *offsets;     /* of segments, where the host can read them; else NULL */
    const tilemm__segments_args_t *segments;
    tilemm__reduce_places_t places;
    tilemm__reduce_pieces_t plan;
    char *buffer;
    tilemm__timeline_t timeline;
    tilemm__feed_t feed;
    tilemm__drain_t drain;
    int in, out;  /* the next slots */
    char *landed; /* pinned, if it could be: SLOTS of part_bytes */
    int is_pinned, next_landing;
    landing_t landing[SLOTS];
    tilemm__join_t join;
    tilemm__partials_t kept; /* instead: of a whole vector, begun `before` elements earlier */
    int64_t before;
    float *values; /* of divided vectors, for results on the device */
    int64_t *indices;
} pieces_t;

static tilemm_status_t fail(const pieces_t *x, cudaError_t error)
{
    return error == cudaSuccess ? TILEMM_SUCCESS : tilemm__cuda_fail(x->ctx, "reduce", error);
}

static tilemm_status_t no_memory(const pieces_t *x)
{
    return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY, "reduce: host memory ran out");
}

static void begin_compute(pieces_t *x)
{
    tilemm__timeline_begin(&x->timeline, TILEMM__LANE_COMPUTE, tilemm__cuda(x->ctx)->stream);
}

/* An operation an element. */
static void end_compute(pieces_t *x, const tilemm__reduce_piece_t *piece)
{
    const int64_t vectors = x->offsets ? 1 : piece->vectors;
    tilemm__timeline_end(&x->timeline, TILEMM__LANE_COMPUTE, tilemm__cuda(x->ctx)->stream,
                         (double)vectors * (double)(piece->end - piece->begin));
}

/* ---- up ------------------------------------------------------------------------------------- */

/* Where elements lie on the host, and in a slot. */
static tilemm__rectangle_t rectangle_of(const pieces_t *x, const tilemm__reduce_piece_t *piece,
                                        char *slot)
{
    const tilemm__reduce_args_t *const p = &x->args;
    const int64_t elements = piece->end - piece->begin;
    const float *const from = p->x + piece->vector * p->vstride + piece->begin * p->istride;
    tilemm__rectangle_t at = {.host = (char *)(uintptr_t)from,
                              .device = slot,
                              .host_pitch = p->vstride * FLOAT,
                              .device_pitch = x->plan.ld * FLOAT,
                              .width = elements * FLOAT,
                              .rows = piece->vectors};
    if (x->plan.kind == TILEMM__PIECES_COLUMNS) {
        at.host_pitch = p->istride * FLOAT;
        at.width = piece->vectors * FLOAT;
        at.rows = elements;
    } else if (x->plan.kind == TILEMM__PIECES_SPREAD) {
        at.host_pitch = p->istride * FLOAT;
        at.device_pitch = at.width = FLOAT;
        at.rows = elements;
    }
    return at;
}

/* The piece's problem, with addresses on the device but for results; it is brought up. */
static cudaError_t bring_up(pieces_t *x, const tilemm__reduce_piece_t *piece, int in,
                            tilemm__reduce_args_t *p)
{
    const int spread = x->plan.kind == TILEMM__PIECES_SPREAD;
    char *const slot = x->buffer + (size_t)in * x->plan.in_bytes;
    cudaError_t error = cudaSuccess;
    *p = x->args;
    p->count = piece->vectors;
    p->n = piece->end - piece->begin;
    p->x += piece->vector * p->vstride + piece->begin * p->istride;
    if (x->places.x_on_host) {
        const tilemm__rectangle_t at = rectangle_of(x, piece, slot);
        error = tilemm__feed(&x->feed, in, &at);
        p->x = (const float *)(void *)slot;
        p->istride = x->plan.kind == TILEMM__PIECES_COLUMNS ? x->plan.ld : 1;
        p->vstride = x->plan.kind == TILEMM__PIECES_COLUMNS ? 1 : x->plan.ld;
    }
    if (p->op != TILEMM__DOT)
        return error;
    p->y += piece->begin * p->y_istride;
    if (x->places.y_on_host) {
        const tilemm__rectangle_t at = {.host = (char *)(uintptr_t)p->y,
                                        .device = slot + x->plan.y_at,
                                        .host_pitch = p->y_istride * FLOAT,
                                        .device_pitch = spread ? FLOAT : p->n * FLOAT,
                                        .width = spread ? FLOAT : p->n * FLOAT,
                                        .rows = spread ? p->n : 1};
        if (error == cudaSuccess)
            error = tilemm__feed(&x->feed, in, &at);
        p->y = (const float *)(void *)(slot + x->plan.y_at);
        p->y_istride = 1;
    }
    return error;
}

/* ---- partial results ------------------------------------------------------------------------ */

/* Partial results to their places among those of all the vector. */
static void keep(const pieces_t *x, const tilemm__partials_t *from, int64_t at, size_t items)
{
    if (from->sums)
        memcpy(x->kept.sums + at, from->sums, items * sizeof *from->sums);
    if (from->counts)
        memcpy(x->kept.counts + at, from->counts, items * sizeof *from->counts);
    if (from->keys)
        memcpy(x->kept.keys + at, from->keys, items * sizeof *from->keys);
    if (from->indices)
        memcpy(x->kept.indices + at, from->indices, items * sizeof *from->indices);
}

/* Join what has landed, once it has; the last of a vector makes its result. */
static tilemm_status_t take_landed(pieces_t *x, int slot)
{
    landing_t *const landing = &x->landing[slot];
    if (!landing->is_under_way)
        return TILEMM_SUCCESS;
    landing->is_under_way = 0;
    const cudaError_t error = cudaEventSynchronize(landing->down);
    if (error != cudaSuccess)
        return fail(x, error);
    const tilemm__reduce_args_t *const p = &x->args;
    const tilemm__reduce_piece_t *const piece = &landing->piece;
    const int64_t start = x->offsets ? x->offsets[piece->vector] : 0;
    const int64_t items = tilemm__div_up(piece->end - piece->begin, x->plan.unit);
    const tilemm__partials_t partials =
        tilemm__part_of(p, items * piece->vectors, x->landed + (size_t)slot * x->plan.part_bytes);
    if (x->places.keeps_parts) {
        keep(x, &partials, (x->before + piece->begin) / x->plan.unit, (size_t)items);
        return TILEMM_SUCCESS;
    }
    if ((piece->begin == start && tilemm__join_begin(&x->join, p->op, p->nan_ignore,
                                                     p->index_out != NULL, piece->vectors)) ||
        tilemm__join_add(&x->join, &partials, items))
        return no_memory(x);
    if (!piece->is_last)
        return TILEMM_SUCCESS;
    float *const out = x->values ? x->values + piece->vector
                       : p->out  ? p->out + piece->vector * p->out_stride
                                 : NULL;
    int64_t *const index_out = x->indices     ? x->indices + piece->vector
                               : p->index_out ? p->index_out + piece->vector * p->out_stride
                                              : NULL;
    tilemm__join_finish(&x->join, piece->end - start, out, index_out,
                        x->values || x->indices ? 1 : p->out_stride);
    return TILEMM_SUCCESS;
}

static tilemm_status_t run_part(pieces_t *x, const tilemm__reduce_piece_t *piece,
                                const tilemm__reduce_args_t *p)
{
    const int slot = x->next_landing;
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const tilemm__reduce_pieces_t *const plan = &x->plan;
    char *const partials =
        x->buffer + SLOTS * (plan->in_bytes + plan->out_bytes) + (size_t)slot * plan->part_bytes;
    landing_t *const landing = &x->landing[slot];
    tilemm_status_t status = take_landed(x, slot);
    if (status == TILEMM_SUCCESS) {
        const int64_t start = x->offsets ? x->offsets[piece->vector] : 0;
        begin_compute(x);
        status = tilemm__cuda_reduce_part(x->ctx, p, plan->unit, x->before + piece->begin - start,
                                          partials);
        end_compute(x, piece);
    }
    if (status != TILEMM_SUCCESS)
        return status;
    const size_t bytes = tilemm__part_bytes(p, tilemm__div_up(p->n, plan->unit) * piece->vectors);
    cudaError_t error = cudaMemcpyAsync(x->landed + (size_t)slot * plan->part_bytes, partials,
                                        bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(landing->down, stream);
    landing->is_under_way = error == cudaSuccess;
    landing->piece = *piece;
    x->next_landing = (slot + 1) % SLOTS;
    return fail(x, error);
}

/* The results of divided vectors or segments, where they are wanted on the device. */
static tilemm_status_t send_results(const pieces_t *x)
{
    const tilemm__reduce_args_t *const p = &x->args;
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    cudaError_t error = cudaSuccess;
    for (int64_t s = 0; x->values && x->offsets && s < x->segments->segments; s++)
        if (error == cudaSuccess && x->offsets[s + 1] - x->offsets[s] > x->plan.elements)
            error = cudaMemcpyAsync(p->out + s, x->values + s, FLOAT, cudaMemcpyDefault, stream);
    if (x->values && !x->offsets)
        error = tilemm__cuda_copy_rows(p->out, p->out_stride * FLOAT, x->values, FLOAT, FLOAT,
                                       p->count, stream);
    if (x->indices && error == cudaSuccess)
        error = tilemm__cuda_copy_rows(p->index_out, p->out_stride * 8, x->indices, 8, 8, p->count,
                                       stream);
    return fail(x, error);
}

/* ---- whole vectors and segments ------------------------------------------------------------- */

/* Room on the device for `count` results that go to `host`, each of `size` bytes. */
static cudaError_t result_room(pieces_t *x, void *host, int64_t stride, int64_t count, int64_t size,
                               void **room, int *slot)
{
    char *const device = x->buffer + SLOTS * x->plan.in_bytes + (size_t)x->out * x->plan.out_bytes;
    *slot = x->out;
    x->out = (x->out + 1) % SLOTS;
    const cudaError_t error = tilemm__drain_await(&x->drain, *slot, tilemm__cuda(x->ctx)->stream);
    x->drain.slot[*slot].at = (tilemm__rectangle_t){.host = host,
                                                    .device = device,
                                                    .host_pitch = stride * size,
                                                    .device_pitch = size,
                                                    .width = stride == 1 ? size * count : size,
                                                    .rows = stride == 1 ? 1 : count};
    *room = device;
    return error;
}

static tilemm_status_t run_whole(pieces_t *x, const tilemm__reduce_piece_t *piece,
                                 tilemm__reduce_args_t *p)
{
    const int64_t stride = p->out_stride;
    int slot[2] = {-1, -1};
    void *room;
    cudaError_t error = cudaSuccess;
    if (p->out)
        p->out += piece->vector * stride;
    if (p->index_out)
        p->index_out += piece->vector * stride;
    if (p->out && x->places.out_on_host) {
        error = result_room(x, p->out, stride, p->count, FLOAT, &room, &slot[0]);
        p->out = room;
        p->out_stride = 1;
    }
    if (p->index_out && x->places.out_on_host && error == cudaSuccess) {
        error = result_room(x, p->index_out, stride, p->count, 8, &room, &slot[1]);
        p->index_out = room;
        p->out_stride = 1;
    }
    if (error != cudaSuccess)
        return fail(x, error);
    begin_compute(x);
    const tilemm_status_t status = tilemm__cuda_reduce(x->ctx, p);
    end_compute(x, piece);
    for (int i = 0; i < 2 && status == TILEMM_SUCCESS; i++)
        if (slot[i] >= 0 && error == cudaSuccess)
            error = tilemm__drain(&x->drain, slot[i], tilemm__cuda(x->ctx)->stream);
    return status != TILEMM_SUCCESS ? status : fail(x, error);
}

/* Whole segments; x is in slot `in` already. */
static tilemm_status_t run_segments(pieces_t *x, const tilemm__reduce_piece_t *piece, int in,
                                    const float *elements)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    tilemm__segments_args_t p = *x->segments;
    int slot = -1;
    void *room;
    cudaError_t error = cudaSuccess;
    p.segments = piece->vectors;
    p.offsets += piece->vector;
    p.out += piece->vector;
    /* Offsets count from x, which has no place on the device if the first is not 0. */
    p.x = (const float *)((uintptr_t)elements - (uintptr_t)piece->begin * FLOAT);
    if (x->places.y_on_host) {
        char *const device = x->buffer + (size_t)in * x->plan.in_bytes + x->plan.y_at;
        const tilemm__rectangle_t at = {.host = (char *)(uintptr_t)p.offsets,
                                        .device = device,
                                        .width = (piece->vectors + 1) * 8,
                                        .rows = 1};
        error = tilemm__feed(&x->feed, in, &at);
        if (error == cudaSuccess)
            error = tilemm__feed_await(&x->feed, stream);
        p.offsets = (const int64_t *)(void *)device;
    }
    if (x->places.out_on_host && error == cudaSuccess) {
        error = result_room(x, p.out, 1, piece->vectors, FLOAT, &room, &slot);
        p.out = room;
    }
    if (error != cudaSuccess)
        return fail(x, error);
    begin_compute(x);
    const tilemm_status_t status = tilemm__cuda_reduce_segments(x->ctx, &p);
    end_compute(x, piece);
    if (status == TILEMM_SUCCESS && slot >= 0)
        error = tilemm__drain(&x->drain, slot, stream);
    return status != TILEMM_SUCCESS ? status : fail(x, error);
}

static tilemm_status_t run_piece(pieces_t *x, const tilemm__reduce_piece_t *piece)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const int in = x->in;
    tilemm__reduce_args_t p;
    tilemm_status_t status = TILEMM_SUCCESS;
    x->in = (in + 1) % SLOTS;
    /* Elements of segments count from x, whichever segment it is. */
    tilemm__reduce_piece_t where = *piece;
    if (x->offsets)
        where.vector = 0, where.vectors = 1;
    cudaError_t error = piece->end > piece->begin ? bring_up(x, &where, in, &p) : cudaSuccess;
    if (error == cudaSuccess)
        error = tilemm__feed_await(&x->feed, stream);
    if (error != cudaSuccess)
        return fail(x, error);
    if (piece->in_part)
        status = run_part(x, piece, &p);
    else if (x->offsets)
        status = run_segments(x, piece, in,
                              (float *)(void *)(x->buffer + (size_t)in * x->plan.in_bytes));
    else
        status = run_whole(x, piece, &p);
    return status == TILEMM_SUCCESS ? fail(x, tilemm__feed_release(&x->feed, in, stream)) : status;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* The buffer; a plan for half the memory where there is less than it seemed. */
static tilemm_status_t allocate(pieces_t *x)
{
    for (;; x->places.memory /= 2) {
        const int fits =
            x->offsets ? tilemm__plan_segments_pieces(x->segments, x->offsets, &x->places, &x->plan)
                       : tilemm__plan_reduce_pieces(&x->args, &x->places, &x->plan);
        if (fits != TILEMM_SUCCESS)
            return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY,
                                "reduce: %zu bytes of device memory are too few for pieces of the "
                                "operands on the host",
                                x->places.memory);
        x->buffer = tilemm__cuda_strips(x->ctx, x->plan.bytes, x->places.memory);
        if (x->buffer)
            return TILEMM_SUCCESS;
    }
}

/* Host memory, pinned where that can be. */
static tilemm_status_t make_landing(pieces_t *x)
{
    const size_t bytes = SLOTS * x->plan.part_bytes;
    cudaError_t error = cudaHostAlloc((void **)&x->landed, bytes, cudaHostAllocPortable);
    x->is_pinned = error == cudaSuccess;
    if (!x->is_pinned) {
        (void)cudaGetLastError();
        x->landed = malloc(bytes);
        error = cudaSuccess;
    }
    const size_t results = (size_t)(x->offsets ? x->segments->segments : x->args.count);
    const int wants_values = !x->places.out_on_host && x->args.out;
    const int wants_indices = !x->places.out_on_host && x->args.index_out;
    if (wants_values)
        x->values = malloc(results * sizeof *x->values);
    if (wants_indices)
        x->indices = malloc(results * sizeof *x->indices);
    if (!x->landed || (wants_values && !x->values) || (wants_indices && !x->indices))
        return no_memory(x);
    for (int i = 0; i < SLOTS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&x->landing[i].down, cudaEventDisableTiming);
    return fail(x, error);
}

static tilemm_status_t open_pieces(pieces_t *x)
{
    const tilemm__reduce_args_t *const p = &x->args;
    const int spread_out = p->out_stride != 1 && p->count > 1;
    const void *const y = x->offsets ? (const void *)x->offsets : p->y;
    const int pageable = x->plan.is_narrow ||
                         (x->places.x_on_host && tilemm__cuda_is_pageable(p->x)) ||
                         (x->places.y_on_host && tilemm__cuda_is_pageable(y));
    tilemm_status_t status = fail(x, tilemm__feed_open(x->ctx, pageable, &x->timeline, &x->feed));
    if (status == TILEMM_SUCCESS && x->plan.out_bytes) {
        const int pageable_out = spread_out || (p->out && tilemm__cuda_is_pageable(p->out)) ||
                                 (p->index_out && tilemm__cuda_is_pageable(p->index_out));
        status = fail(x, tilemm__drain_open(x->ctx, SLOTS, pageable_out, &x->timeline, &x->drain));
    }
    return status == TILEMM_SUCCESS && x->plan.part_bytes ? make_landing(x) : status;
}

static tilemm_status_t close_pieces(pieces_t *x, tilemm_status_t status)
{
    const cudaError_t error = tilemm__flow_wait(x->ctx, &x->feed, &x->drain);
    if (status == TILEMM_SUCCESS)
        status = fail(x, error);
    tilemm__timeline_close(&x->timeline, status == TILEMM_SUCCESS);
    tilemm__feed_close(&x->feed);
    tilemm__drain_close(&x->drain);
    for (int i = 0; i < SLOTS; i++)
        if (x->landing[i].down)
            cudaEventDestroy(x->landing[i].down);
    if (x->is_pinned)
        cudaFreeHost(x->landed);
    else
        free(x->landed);
    free(x->values);
    free(x->indices);
    tilemm__join_end(&x->join);
    tilemm__cuda_trim_strips(x->ctx);
    return tilemm__flow_status(x->ctx, status);
}

static tilemm_status_t run(pieces_t *x)
{
    tilemm__reduce_walk_t walk = {0};
    tilemm__reduce_piece_t piece;
    tilemm_status_t status = allocate(x);
    if (status != TILEMM_SUCCESS)
        return status;
    status = open_pieces(x);
    while (status == TILEMM_SUCCESS &&
           (x->offsets
                ? tilemm__segments_next(x->offsets, x->segments->segments, &x->plan, &walk, &piece)
                : tilemm__reduce_next(&x->args, &x->plan, &walk, &piece)))
        status = run_piece(x, &piece);
    for (int i = 0; i < SLOTS && status == TILEMM_SUCCESS; i++)
        status = take_landed(x, (x->next_landing + i) % SLOTS);
    if (status == TILEMM_SUCCESS)
        status = send_results(x);
    return close_pieces(x, status);
}

/* Whether this much on the host goes through in pieces, and if so their status. */
static int try_pieces(pieces_t *x, double bytes, int is_refused, tilemm_status_t *status)
{
    if (is_refused || bytes == 0 || !tilemm__cuda_is_large(x->ctx, bytes))
        return 0;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(x->ctx);
    const int runs = !tilemm__cuda_is_capturing(tilemm__cuda(x->ctx)->stream);
    if (runs) {
        x->places.memory = tilemm__cuda_memory_limit(x->ctx);
        *status = run(x);
    }
    (void)tilemm__cuda_leave(x->ctx, before, TILEMM_SUCCESS);
    return runs;
}

int tilemm__cuda_reduce_pieces(tilemm_t ctx, const tilemm__reduce_args_t *args,
                               tilemm_status_t *status)
{
    pieces_t x = {.ctx = ctx, .args = *args};
    const double bytes = (double)args->count * (double)args->n * FLOAT;
    const int is_dot = args->op == TILEMM__DOT;
    if (!tilemm__cuda_is_large(ctx, 2 * bytes) || !tilemm__reduce_is_in_pieces(args))
        return 0;
    const tilemm__place_t place_x = tilemm__cuda_locate(ctx, args->x);
    const tilemm__place_t place_y = is_dot ? tilemm__cuda_locate(ctx, args->y) : TILEMM__DEVICE;
    const tilemm__place_t out =
        tilemm__cuda_locate(ctx, args->out ? (const void *)args->out : args->index_out);
    x.places = (tilemm__reduce_places_t){.x_on_host = place_x == TILEMM__HOST,
                                         .y_on_host = place_y == TILEMM__HOST,
                                         .out_on_host = out == TILEMM__HOST};
    return try_pieces(&x, bytes * (x.places.x_on_host + x.places.y_on_host),
                      place_x == TILEMM__ELSEWHERE || place_y == TILEMM__ELSEWHERE ||
                          out == TILEMM__ELSEWHERE,
                      status);
}

tilemm_status_t tilemm__cuda_reduce_range(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          int64_t begin, int64_t end, void *partials)
{
    const int64_t entries = tilemm__div_up(args->n, TILEMM__KEPT_ELEMENTS);
    pieces_t x = {.ctx = ctx,
                  .args = *args,
                  .kept = tilemm__part_of(args, entries, partials),
                  .before = begin};
    x.args.n = end - begin;
    x.args.x += begin * args->istride;
    if (args->op == TILEMM__DOT)
        x.args.y += begin * args->y_istride;
    x.places = (tilemm__reduce_places_t){
        .x_on_host = 1, .y_on_host = args->op == TILEMM__DOT, .out_on_host = 1, .keeps_parts = 1};
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    x.places.memory = tilemm__cuda_memory_limit(ctx);
    return tilemm__cuda_leave(ctx, before, run(&x));
}

int tilemm__cuda_segments_pieces(tilemm_t ctx, const tilemm__segments_args_t *args,
                                 const int64_t *offsets, tilemm_status_t *status)
{
    pieces_t x = {.ctx = ctx,
                  .args = {.op = args->op,
                           .nan_ignore = args->nan_ignore,
                           .count = 1,
                           .x = args->x,
                           .istride = 1,
                           .out = args->out,
                           .out_stride = 1},
                  .offsets = offsets,
                  .segments = args};
    const tilemm__place_t place = tilemm__cuda_locate(ctx, args->offsets);
    const tilemm__place_t out = tilemm__cuda_locate(ctx, args->out);
    int is_refused = place == TILEMM__ELSEWHERE || out == TILEMM__ELSEWHERE || offsets[0] < 0;
    for (int64_t s = 0; s < args->segments && !is_refused; s++)
        is_refused = offsets[s] > offsets[s + 1]; /* on the device nobody has checked them */
    x.places = (tilemm__reduce_places_t){
        .x_on_host = 1, .y_on_host = place == TILEMM__HOST, .out_on_host = out == TILEMM__HOST};
    return try_pieces(&x, (double)(offsets[args->segments] - offsets[0]) * FLOAT, is_refused,
                      status);
}
