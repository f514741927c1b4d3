/* batch_cuda.c - batches of products with operands on the host: some matrices go up while others
 * are multiplied and others come down, on three streams at once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/cuda/flow.h"
#include "lib/size.h"
#include "pipeline_cuda.h"

/* A piece has a 16th of the batch, so that little time goes by before the first is up and after the
 * last is multiplied, but no less than what copies and a launch are worth. */
enum {
    A,
    B,
    C,
    OPERANDS,
    SLOTS = 3, /* one is on its way, one is multiplied, one waits */
    FEWEST_PIECES = 16,
    LEAST_BYTES = 1 << 20,
    MOST_BYTES = 256 << 20,
    SMALL_BYTES = 64 << 10, /* of a matrix: copied one by one they take longer than by threads */
    ALIGNMENT = 256,
    FLOAT = sizeof(float)
};

/* A matrix of each product, in the user's memory and, if it moves, in SLOTS slots of the device. */
typedef struct {
    const float *user;
    int64_t rows, cols, ld, stride, device_ld;
    int moves, is_shared; /* one matrix for the whole batch, which goes up once */
    char *slots;
    size_t slot_bytes;
} operand_t;

typedef struct {
    tilemm_t ctx;
    const tilemm__sgemm_args_t *args;
    operand_t operand[OPERANDS];
    int64_t items; /* of a piece */
    size_t bytes;
    char *buffer;
    tilemm__timeline_t timeline;
    tilemm__feed_t feed;
    tilemm__drain_t drain;
} batch_t;

/* ---- the plan ------------------------------------------------------------------------------- */

static operand_t operand_of(const float *user, int64_t rows, int64_t cols, int64_t ld,
                            int64_t stride, int moves)
{
    operand_t x = {.user = user,
                   .rows = rows,
                   .cols = cols,
                   .ld = ld,
                   .stride = stride,
                   .moves = moves,
                   .is_shared = stride == 0};
    x.device_ld = ld == cols ? cols : tilemm__round_up(cols, 4);
    return x;
}

static size_t item_bytes(const operand_t *x)
{
    return (size_t)(x->rows * x->device_ld) * FLOAT;
}

/* The bytes that the slots take, with `items` matrices in each. */
static size_t lay_out(batch_t *x, int64_t items)
{
    size_t bytes = 0;
    x->items = items;
    for (int o = 0; o < OPERANDS; o++) {
        operand_t *const operand = &x->operand[o];
        const int64_t many = operand->is_shared ? 1 : items;
        operand->slot_bytes = (size_t)tilemm__round_up(
            operand->moves ? (int64_t)item_bytes(operand) * many : 0, ALIGNMENT);
        operand->slots = x->buffer ? x->buffer + bytes : NULL;
        bytes += operand->slot_bytes * (operand->is_shared ? 1 : SLOTS);
    }
    return bytes;
}

/* Returns 0 if not even one product fits. */
static int plan(batch_t *x, size_t memory)
{
    double item = 0;
    for (int o = 0; o < OPERANDS; o++)
        if (x->operand[o].moves && !x->operand[o].is_shared)
            item += (double)item_bytes(&x->operand[o]);
    const double count = (double)x->args->batch_count;
    const double most = tilemm__clamp(item * count / FEWEST_PIECES, LEAST_BYTES, MOST_BYTES);
    int64_t items = item * count <= most ? x->args->batch_count : (int64_t)(most / item);
    for (items = tilemm__max(items, 1); (x->bytes = lay_out(x, items)) > memory; items /= 2)
        if (items == 1)
            return 0;
    return 1;
}

/* ---- a piece -------------------------------------------------------------------------------- */

/* Matrices [first, first + count) of an operand, and their slot. */
static tilemm__rectangle_t matrices_of(const operand_t *x, int64_t first, int64_t count, int slot)
{
    const tilemm__matrices_t matrices = {.rows = x->rows,
                                         .cols = x->cols,
                                         .count = x->is_shared ? 1 : count,
                                         .elem_size = FLOAT,
                                         .ld = x->ld,
                                         .stride = x->stride,
                                         .device_ld = x->device_ld};
    return tilemm__rectangle_of(&matrices, (char *)(uintptr_t)(x->user + first * x->stride),
                                x->slots + (x->is_shared ? 0 : (size_t)slot * x->slot_bytes));
}

/* Bring A or B up; the shared one before the first piece. */
static cudaError_t bring_up(batch_t *x, int o, int64_t first, int64_t count, int slot)
{
    const operand_t *const operand = &x->operand[o];
    if (!operand->moves || (operand->is_shared && first > 0))
        return cudaSuccess;
    const tilemm__rectangle_t at = matrices_of(operand, first, count, slot);
    return tilemm__feed(&x->feed, operand->is_shared ? SLOTS + o : slot, &at);
}

/* Empty C's slot, and bring C up if the products add to it. */
static cudaError_t prepare_c(batch_t *x, int64_t first, int64_t count, int slot)
{
    const int adds = x->args->beta != 0;
    if (!x->operand[C].moves)
        return cudaSuccess;
    const cudaError_t error = tilemm__drain_await(
        &x->drain, slot, adds ? x->feed.up.stream : tilemm__cuda(x->ctx)->stream);
    tilemm__rectangle_t *const at = &x->drain.slot[slot].at;
    *at = matrices_of(&x->operand[C], first, count, slot);
    return error == cudaSuccess && adds ? tilemm__transfer(&x->feed.up, at) : error;
}

/* The products of a piece, with addresses on the device. */
static tilemm__sgemm_args_t products_of(const batch_t *x, int64_t first, int64_t count, int slot)
{
    tilemm__sgemm_args_t p = *x->args;
    const float *at[OPERANDS];
    int64_t *const ld[] = {&p.lda, &p.ldb, &p.ldc};
    int64_t *const stride[] = {&p.stride_a, &p.stride_b, &p.stride_c};
    for (int o = 0; o < OPERANDS; o++) {
        const operand_t *const operand = &x->operand[o];
        at[o] = operand->user + first * operand->stride;
        if (!operand->moves)
            continue;
        at[o] = (const float *)(const void *)(operand->slots + (operand->is_shared ? 0 : slot) *
                                                                   operand->slot_bytes);
        *ld[o] = operand->device_ld;
        *stride[o] = operand->is_shared ? 0 : operand->rows * operand->device_ld;
    }
    p.a = at[A];
    p.b = at[B];
    p.c = (float *)(uintptr_t)at[C];
    p.batch_count = count;
    return p;
}

static tilemm_status_t run_piece(batch_t *x, int64_t first, int64_t count, int slot)
{
    const cudaStream_t stream = tilemm__cuda(x->ctx)->stream;
    const tilemm__sgemm_args_t p = products_of(x, first, count, slot);
    cudaError_t error = bring_up(x, A, first, count, slot);
    if (error == cudaSuccess)
        error = bring_up(x, B, first, count, slot);
    if (error == cudaSuccess)
        error = prepare_c(x, first, count, slot);
    if (error == cudaSuccess)
        error = tilemm__feed_await(&x->feed, stream);
    if (error != cudaSuccess)
        return tilemm__cuda_fail(x->ctx, "sgemm_batched", error);
    tilemm__timeline_begin(&x->timeline, TILEMM__LANE_COMPUTE, stream);
    const tilemm_status_t status = tilemm__cuda_sgemm(x->ctx, &p);
    tilemm__timeline_end(&x->timeline, TILEMM__LANE_COMPUTE, stream,
                         2 * (double)p.m * (double)p.n * (double)p.k * (double)count);
    if (status != TILEMM_SUCCESS)
        return status;
    error = tilemm__feed_release(&x->feed, slot, stream);
    if (error == cudaSuccess && x->operand[C].moves)
        error = tilemm__drain(&x->drain, slot, stream);
    return error == cudaSuccess ? TILEMM_SUCCESS
                                : tilemm__cuda_fail(x->ctx, "sgemm_batched", error);
}

static tilemm_status_t run_pieces(batch_t *x)
{
    tilemm_status_t status = TILEMM_SUCCESS;
    size_t got;
    /* All workspace at once: while it grows nothing runs. */
    const tilemm__sgemm_args_t p = products_of(x, 0, x->items, 0);
    (void)tilemm__cuda_workspace(x->ctx, tilemm__cuda_sgemm_workspace(x->ctx, &p), &got);
    int slot = 0;
    for (int64_t first = 0; first < x->args->batch_count && status == TILEMM_SUCCESS;
         first += x->items, slot = (slot + 1) % SLOTS)
        status = run_piece(x, first, tilemm__min(x->items, x->args->batch_count - first), slot);
    return status;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* Whether threads copy it: they must, or are faster than the copy engine. */
static int by_threads(const operand_t *x, int64_t count)
{
    if (!x->moves)
        return 0;
    const tilemm__rectangle_t at = matrices_of(x, 0, count, 0);
    return tilemm__cuda_is_pageable(x->user) ||
           (at.rows > 1 && at.width < TILEMM__NARROW_BYTES && at.width != at.host_pitch) ||
           (at.more > 0 && item_bytes(x) < SMALL_BYTES);
}

static cudaError_t open_batch(batch_t *x)
{
    const int threads_c = by_threads(&x->operand[C], x->items);
    const int threads_up = by_threads(&x->operand[A], x->items) ||
                           by_threads(&x->operand[B], x->items) ||
                           (threads_c && x->args->beta != 0);
    const cudaError_t error = tilemm__feed_open(x->ctx, threads_up, &x->timeline, &x->feed);
    return error == cudaSuccess
               ? tilemm__drain_open(x->ctx, SLOTS, threads_c, &x->timeline, &x->drain)
               : error;
}

static tilemm_status_t close_batch(batch_t *x, tilemm_status_t status)
{
    const cudaError_t error = tilemm__flow_wait(x->ctx, &x->feed, &x->drain);
    if (status == TILEMM_SUCCESS && error != cudaSuccess)
        status = tilemm__cuda_fail(x->ctx, "sgemm_batched", error);
    tilemm__timeline_close(&x->timeline, status == TILEMM_SUCCESS);
    tilemm__feed_close(&x->feed);
    tilemm__drain_close(&x->drain);
    tilemm__cuda_trim_strips(x->ctx);
    return tilemm__flow_status(x->ctx, status);
}

/* The buffer, of half the memory where there is less than it seemed; or 0. */
static int allocate(batch_t *x, size_t memory)
{
    for (; plan(x, memory); memory /= 2) {
        x->buffer = tilemm__cuda_strips(x->ctx, x->bytes, memory);
        if (x->buffer) {
            (void)lay_out(x, x->items);
            return 1;
        }
    }
    return 0;
}

int tilemm__cuda_run_batch(const tilemm__pipeline_call_t *call, tilemm_status_t *status)
{
    const tilemm__sgemm_args_t *const p = call->args;
    const int *const moves = call->places.on_host;
    batch_t batch = {
        .ctx = call->ctx,
        .args = p,
        .operand = {operand_of(p->a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, p->lda,
                               p->stride_a, moves[A]),
                    operand_of(p->b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, p->ldb,
                               p->stride_b, moves[B]),
                    operand_of(p->c, p->m, p->n, p->ldc, p->stride_c, moves[C])}};
    char variant[sizeof call->ctx->variant];
    if (!allocate(&batch, call->places.memory))
        return 0;
    memcpy(variant, call->ctx->variant, sizeof variant);
    tilemm__cuda_choose_kernel(call->ctx, p);
    const cudaError_t error = open_batch(&batch);
    *status = error == cudaSuccess ? run_pieces(&batch)
                                   : tilemm__cuda_fail(call->ctx, "sgemm_batched", error);
    memcpy(call->ctx->variant, variant, sizeof variant);
    *status = close_batch(&batch, *status);
    return 1;
}
