/* pieces_cuda.c - a transpose with operands on the host, as plan_pieces_cuda.h says: pieces go up,
 * are transposed and come down, on three streams at once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "lib/cuda/flow.h"
#include "lib/size.h"
#include "plan_pieces_cuda.h"

typedef struct {
    tilemm_t ctx;
    const tilemm__transpose_args_t *args;
    tilemm__transpose_pieces_t plan;
    char *buffer;
    tilemm__timeline_t timeline;
    tilemm__feed_t feed;
    tilemm__drain_t drain;
    int in, out; /* the next slots */
} pieces_t;

/* ---- a piece -------------------------------------------------------------------------------- */

/* Bring a piece up, if src moves: p gets its place on the device. */
static cudaError_t bring_up(pieces_t *x, const tilemm__transpose_piece_t *piece, int slot,
                            tilemm__transpose_args_t *p)
{
    const tilemm__transpose_args_t *const args = x->args;
    const int64_t size = (int64_t)args->elem_size;
    char *const host =
        (char *)(uintptr_t)args->src +
        (piece->item * args->stride_src + piece->row * args->ld_src + piece->col) * size;
    p->src = host;
    if (!x->plan.in_slots)
        return cudaSuccess;
    char *const device = x->buffer + (size_t)slot * x->plan.in_bytes;
    const int is_shared = args->stride_src == 0; /* one matrix for the whole batch */
    const tilemm__matrices_t matrices = {.rows = piece->rows,
                                         .cols = piece->cols,
                                         .count = is_shared ? 1 : piece->items,
                                         .elem_size = size,
                                         .ld = args->ld_src,
                                         .stride = args->stride_src,
                                         .device_ld = x->plan.ld_in};
    const tilemm__rectangle_t at = tilemm__rectangle_of(&matrices, host, device);
    p->src = device;
    p->ld_src = x->plan.ld_in;
    p->stride_src = is_shared ? 0 : piece->rows * x->plan.ld_in;
    return tilemm__feed(&x->feed, slot, &at);
}

/* Have dst's place on the device in p; in a slot, once that is empty. */
static cudaError_t make_room(pieces_t *x, const tilemm__transpose_piece_t *piece, int slot,
                             tilemm__transpose_args_t *p)
{
    const tilemm__transpose_args_t *const args = x->args;
    const int64_t size = (int64_t)args->elem_size;
    const int64_t row = args->trans ? piece->col : piece->row;
    const int64_t col = args->trans ? piece->row : piece->col;
    const int64_t rows = args->trans ? piece->cols : piece->rows;
    const int64_t cols = args->trans ? piece->rows : piece->cols;
    char *const host =
        (char *)args->dst + (piece->item * args->stride_dst + row * args->ld_dst + col) * size;
    p->dst = host;
    if (!x->plan.out_slots)
        return cudaSuccess;
    char *const device =
        x->buffer + (size_t)x->plan.in_slots * x->plan.in_bytes + (size_t)slot * x->plan.out_bytes;
    const cudaError_t error = tilemm__drain_await(&x->drain, slot, tilemm__cuda(x->ctx)->stream);
    const tilemm__matrices_t matrices = {.rows = rows,
                                         .cols = cols,
                                         .count = piece->items,
                                         .elem_size = size,
                                         .ld = args->ld_dst,
                                         .stride = args->stride_dst,
                                         .device_ld = x->plan.ld_out};
    x->drain.slot[slot].at = tilemm__rectangle_of(&matrices, host, device);
    p->dst = device;
    p->ld_dst = x->plan.ld_out;
    p->stride_dst = rows * x->plan.ld_out;
    return error;
}

/* One or two pieces: all of them are up before the first comes down. */
static tilemm_status_t run_pieces(pieces_t *x, const tilemm__transpose_piece_t *piece, int count)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    tilemm__transpose_args_t p[2] = {*x->args, *x->args};
    int in[2] = {0, 0};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        in[i] = x->in;
        x->in = x->plan.in_slots ? (x->in + 1) % x->plan.in_slots : 0;
        error = bring_up(x, &piece[i], in[i], &p[i]);
    }
    if (error == cudaSuccess && x->plan.in_slots)
        error = tilemm__feed_await(&x->feed, stream);
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        const int out = x->out;
        x->out = x->plan.out_slots ? (x->out + 1) % x->plan.out_slots : 0;
        error = make_room(x, &piece[i], out, &p[i]);
        if (error != cudaSuccess)
            break;
        p[i].rows = piece[i].rows;
        p[i].cols = piece[i].cols;
        p[i].batch_count = piece[i].items;
        tilemm__timeline_begin(&x->timeline, TILEMM__LANE_COMPUTE, stream);
        const tilemm_status_t status = tilemm__cuda_transpose(x->ctx, &p[i]);
        tilemm__timeline_end(&x->timeline, TILEMM__LANE_COMPUTE, stream, 0);
        if (status != TILEMM_SUCCESS)
            return status;
        if (x->plan.in_slots)
            error = tilemm__feed_release(&x->feed, in[i], stream);
        if (error == cudaSuccess && x->plan.out_slots)
            error = tilemm__drain(&x->drain, out, stream);
    }
    return error == cudaSuccess ? TILEMM_SUCCESS : tilemm__cuda_fail(x->ctx, "transpose", error);
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* The buffer; a plan for half the memory where there is less than it seemed. */
static tilemm_status_t allocate(pieces_t *x, tilemm__transpose_places_t places)
{
    for (;; places.memory /= 2) {
        const int fits = tilemm__plan_transpose_pieces(x->args, &places, &x->plan);
        if (fits != TILEMM_SUCCESS && x->args->src == x->args->dst)
            return TILEMM__LEFT_TO_CPU;
        if (fits != TILEMM_SUCCESS)
            return tilemm__fail(x->ctx, TILEMM_OUT_OF_MEMORY,
                                "transpose: %zu bytes of device memory are too few for pieces of "
                                "the operands on the host",
                                places.memory);
        if (x->plan.bytes > 0)
            x->buffer = tilemm__cuda_strips(x->ctx, x->plan.bytes, places.memory);
        if (x->plan.bytes == 0 || x->buffer)
            return TILEMM_SUCCESS;
    }
}

static cudaError_t open_pieces(pieces_t *x)
{
    const tilemm__transpose_pieces_t *const plan = &x->plan;
    const int narrow = plan->is_narrow;
    cudaError_t error = cudaSuccess;
    if (plan->in_slots)
        error = tilemm__feed_open(x->ctx, narrow || tilemm__cuda_is_pageable(x->args->src),
                                  &x->timeline, &x->feed);
    if (error == cudaSuccess && plan->out_slots)
        error = tilemm__drain_open(x->ctx, plan->out_slots,
                                   narrow || tilemm__cuda_is_pageable(x->args->dst), &x->timeline,
                                   &x->drain);
    return error;
}

static tilemm_status_t close_pieces(pieces_t *x, tilemm_status_t status)
{
    const cudaError_t error = tilemm__flow_wait(x->ctx, &x->feed, &x->drain);
    if (status == TILEMM_SUCCESS && error != cudaSuccess)
        status = tilemm__cuda_fail(x->ctx, "transpose", error);
    tilemm__timeline_close(&x->timeline, status == TILEMM_SUCCESS);
    tilemm__feed_close(&x->feed);
    tilemm__drain_close(&x->drain);
    tilemm__cuda_trim_strips(x->ctx);
    return tilemm__flow_status(x->ctx, status);
}

static tilemm_status_t run(tilemm_t ctx, const tilemm__transpose_args_t *args,
                           const tilemm__transpose_places_t *places)
{
    pieces_t x = {.ctx = ctx, .args = args};
    tilemm__transpose_walk_t walk = {0};
    tilemm__transpose_piece_t piece[2];
    char kernel[sizeof ctx->kernel_text] = "";
    tilemm_status_t status = allocate(&x, *places);
    int count;
    if (status != TILEMM_SUCCESS)
        return status;
    const cudaError_t error = open_pieces(&x);
    if (error != cudaSuccess)
        status = tilemm__cuda_fail(ctx, "transpose", error);
    while (status == TILEMM_SUCCESS &&
           (count = tilemm__transpose_next(args, &x.plan, &walk, piece)) > 0) {
        status = run_pieces(&x, piece, count);
        if (!*kernel) /* later pieces may be smaller */
            snprintf(kernel, sizeof kernel, "%s", ctx->last_kernel);
    }
    if (status == TILEMM_SUCCESS)
        tilemm__set_kernel(ctx, kernel);
    return close_pieces(&x, status);
}

int tilemm__cuda_transpose_pieces(tilemm_t ctx, const tilemm__transpose_args_t *args,
                                  tilemm_status_t *status)
{
    const tilemm__transpose_args_t p = tilemm__transpose_normal(args);
    const double bytes =
        (double)p.rows * (double)p.cols * (double)p.batch_count * (double)p.elem_size;
    const int reads = !p.scaled || p.alpha != 0;
    /* As they lie, copies of less are waited for no longer than threads and streams are made. */
    if ((p.src == p.dst && !tilemm__transpose_is_in_pieces(&p)) ||
        !tilemm__cuda_is_large(ctx, 2 * bytes))
        return 0;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    const tilemm__place_t src = reads ? tilemm__cuda_locate(ctx, p.src) : TILEMM__DEVICE;
    const tilemm__place_t dst = tilemm__cuda_locate(ctx, p.dst);
    tilemm__transpose_places_t places = {.src_on_host = src == TILEMM__HOST,
                                         .dst_on_host = dst == TILEMM__HOST};
    const int sides = places.src_on_host + places.dst_on_host;
    int runs = sides > 0 && src != TILEMM__ELSEWHERE && dst != TILEMM__ELSEWHERE &&
               tilemm__cuda_is_large(ctx, sides * bytes) &&
               !tilemm__cuda_is_capturing(tilemm__cuda(ctx)->stream);
    if (runs) {
        places.memory = tilemm__cuda_memory_limit(ctx);
        *status = run(ctx, &p, &places);
    }
    (void)tilemm__cuda_leave(ctx, before, TILEMM_SUCCESS);
    return runs;
}
