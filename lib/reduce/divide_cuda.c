/* divide_cuda.c - see divide_cuda.h: units go up into two slots in turn, while the units before are
 * reduced.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "divide_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "lib/cuda/transfer.h"
#include "lib/size.h"

enum { UNIT = TILEMM__REDUCE_UNIT, MOST_UNITS = 16 /* of a slot: 64 MiB */ };

void tilemm__join_pieces(const tilemm__reduce_args_t *args, int64_t units, tilemm__piece_t *pieces,
                         float *value, int64_t *index)
{
    if (tilemm__op_is_order(args->op)) {
        tilemm__piece_t best = pieces[0];
        for (int64_t u = 1; u < units; u++)
            if (tilemm__key_wins(pieces[u].key, pieces[u].index, best.key, best.index))
                best = pieces[u];
        *value = tilemm__key_result(args->op, best.key);
        if (args->index_out)
            *index = tilemm__index_result(best.key, best.index);
        return;
    }
    int64_t count = 0;
    for (int64_t u = 0; u < units; u++)
        count += pieces[u].count;
    for (int64_t m = units; m > 1; m = tilemm__fold_count(m))
        for (int64_t i = 0; i < m; i += TILEMM__TILE_LANES) {
            tilemm__sum_t lanes[TILEMM__TILE_LANES];
            const int used = (int)tilemm__min(m - i, TILEMM__TILE_LANES);
            for (int l = 0; l < used; l++)
                lanes[l] = pieces[i + l].sum;
            pieces[i / TILEMM__TILE_LANES].sum = tilemm__fold_lanes(lanes, used);
        }
    *value =
        tilemm__sum_result(args->op, pieces[0].sum,
                           tilemm__sum_is_counted(args->op, args->nan_ignore) ? count : args->n);
}

/* Results on the device, and a copy on the host: sums and counts, or values and indices. */
typedef struct {
    tilemm__sum_t *sums;
    int64_t *counts; /* or indices */
    float *values;
} results_t;

typedef struct {
    tilemm_t ctx;
    const tilemm__reduce_args_t *args;
    int64_t slot_units;
    char *buffer;
    float *slot[2][2]; /* of x, and of y */
    results_t results;
    tilemm__transfer_t up;
    cudaEvent_t is_up, used[2];
} stream_t;

static size_t results_bytes(int64_t units)
{
    return (size_t)units * (sizeof(tilemm__sum_t) + sizeof(int64_t) + sizeof(float));
}

static results_t place_results(char *memory, int64_t units)
{
    results_t r = {.sums = (tilemm__sum_t *)(void *)memory};
    r.counts = (int64_t *)(r.sums + units);
    r.values = (float *)(void *)(r.counts + units);
    return r;
}

/* `count` units of n elements each (the last unit may be alone, and shorter), in a slot. */
static tilemm_status_t reduce_slot(const stream_t *s, int slot, int64_t skip, int64_t at,
                                   int64_t count, int64_t n)
{
    tilemm__reduce_args_t p = *s->args;
    p.count = count;
    p.n = n;
    p.x = s->slot[slot][0] + skip * UNIT;
    p.vstride = n;
    p.y = p.op == TILEMM__DOT ? s->slot[slot][1] + skip * UNIT : NULL;
    p.out_stride = 1;
    p.out = s->results.values + at;
    p.index_out = s->results.counts + at;
    if (tilemm__op_is_order(p.op))
        return tilemm__cuda_reduce(s->ctx, &p);
    p.index_out = NULL;
    tilemm__partials_t to = {.sums = s->results.sums + at, .counts = s->results.counts + at};
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int64_t u = 0; u < count && p.op == TILEMM__DOT && status == TILEMM_SUCCESS; u++) {
        p.count = 1; /* pairs of vectors are taken one by one */
        status = tilemm__cuda_partial_sums(s->ctx, &p, &to);
        p.x += UNIT;
        p.y += UNIT;
        to.sums++;
    }
    return p.op == TILEMM__DOT ? status : tilemm__cuda_partial_sums(s->ctx, &p, &to);
}

static cudaError_t fill_slot(stream_t *s, int slot, int64_t start, int64_t elements)
{
    const float *const from[] = {s->args->x + start, s->args->y ? s->args->y + start : NULL};
    cudaError_t error = cudaStreamWaitEvent(s->up.stream, s->used[slot], 0);
    for (int i = 0; i < (s->args->op == TILEMM__DOT ? 2 : 1) && error == cudaSuccess; i++) {
        const int64_t bytes = elements * (int64_t)sizeof(float);
        const tilemm__rectangle_t at = {
            (char *)(uintptr_t)from[i], (char *)s->slot[slot][i], bytes, bytes, bytes, 1};
        error = tilemm__transfer(&s->up, &at);
    }
    if (error == cudaSuccess)
        error = cudaEventRecord(s->is_up, s->up.stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(tilemm__cuda(s->ctx)->stream, s->is_up, 0)
                                : error;
}

static tilemm_status_t run(stream_t *s, int64_t first, int64_t end)
{
    const int64_t n = s->args->n;
    int slot = 0;
    for (int64_t u = first; u < end; u += s->slot_units, slot = !slot) {
        const int64_t start = u * UNIT;
        const int64_t elements = tilemm__min(n, tilemm__min(u + s->slot_units, end) * UNIT) - start;
        const int64_t whole = elements / UNIT, rest = elements % UNIT;
        cudaError_t error = fill_slot(s, slot, start, elements);
        tilemm_status_t status = TILEMM_SUCCESS;
        if (error == cudaSuccess && whole > 0)
            status = reduce_slot(s, slot, 0, u - first, whole, UNIT);
        if (error == cudaSuccess && rest > 0 && status == TILEMM_SUCCESS)
            status = reduce_slot(s, slot, whole, u - first + whole, 1, rest);
        if (status != TILEMM_SUCCESS)
            return status;
        if (error == cudaSuccess)
            error = cudaEventRecord(s->used[slot], tilemm__cuda(s->ctx)->stream);
        if (error != cudaSuccess)
            return tilemm__cuda_fail(s->ctx, "reduce", error);
    }
    return TILEMM_SUCCESS;
}

static cudaError_t open_stream(stream_t *s, int64_t units)
{
    const int vectors = s->args->op == TILEMM__DOT ? 2 : 1;
    const size_t unit_bytes = UNIT * sizeof(float), limit = s->ctx->device_memory;
    s->slot_units = tilemm__min(units, MOST_UNITS);
    while (limit && s->slot_units > 1 &&
           2 * (size_t)s->slot_units * (size_t)vectors * unit_bytes > limit)
        s->slot_units /= 2;
    const size_t slot = (size_t)s->slot_units * unit_bytes;
    cudaError_t error =
        cudaMalloc((void **)&s->buffer, 2 * (size_t)vectors * slot + results_bytes(units));
    for (int i = 0; i < 2 && error == cudaSuccess; i++) {
        for (int v = 0; v < vectors; v++)
            s->slot[i][v] = (float *)(void *)(s->buffer + (size_t)(i * vectors + v) * slot);
        error = cudaEventCreateWithFlags(&s->used[i], cudaEventDisableTiming);
    }
    if (error != cudaSuccess)
        return error;
    s->results = place_results(s->buffer + 2 * (size_t)vectors * slot, units);
    const int pageable = tilemm__cuda_is_pageable(s->args->x) ||
                         (vectors == 2 && tilemm__cuda_is_pageable(s->args->y));
    error = tilemm__transfer_open(s->ctx, 0, pageable, &s->up);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&s->is_up, cudaEventDisableTiming);
    /* The copies come after what the stream has to do first: it may make the vector. */
    if (error == cudaSuccess)
        error = cudaEventRecord(s->is_up, tilemm__cuda(s->ctx)->stream);
    return error == cudaSuccess ? cudaStreamWaitEvent(s->up.stream, s->is_up, 0) : error;
}

/* The results on the host, as pieces. */
static void take_pieces(const tilemm__reduce_args_t *args, const results_t *r, int64_t first,
                        int64_t units, tilemm__piece_t *pieces)
{
    const int is_order = tilemm__op_is_order(args->op);
    const tilemm__order_t order = tilemm__order_of(args->op, args->nan_ignore);
    for (int64_t u = 0; u < units; u++) {
        tilemm__piece_t *const piece = &pieces[u];
        memset(piece, 0, sizeof *piece);
        if (!is_order) {
            piece->sum = r->sums[u];
            piece->count = tilemm__sum_is_counted(args->op, args->nan_ignore) ? r->counts[u] : 0;
            continue;
        }
        const int none = r->counts[u] < 0; /* all are NaN, and left out */
        piece->key =
            none ? TILEMM__KEY_NONE : tilemm__key_of(order, tilemm__float_bits(r->values[u]));
        piece->index = (first + u) * UNIT + r->counts[u];
    }
}

tilemm_status_t tilemm__cuda_reduce_units(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          int64_t first, int64_t end, tilemm__piece_t *pieces)
{
    stream_t s = {.ctx = ctx, .args = args};
    const int64_t units = end - first;
    const cudaStream_t stream = tilemm__cuda(ctx)->stream;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    char *const host = malloc(results_bytes(units));
    tilemm_status_t status = TILEMM_SUCCESS;
    cudaError_t error = host ? open_stream(&s, units) : cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        status = run(&s, first, end);
    if (error == cudaSuccess && status == TILEMM_SUCCESS)
        error = cudaMemcpyAsync(host, s.results.sums, results_bytes(units), cudaMemcpyDeviceToHost,
                                stream);
    /* Also after a failure: what is under way uses what is freed here. */
    if (s.up.stream) {
        const cudaError_t now = cudaStreamSynchronize(s.up.stream);
        error = error == cudaSuccess ? now : error;
    }
    const cudaError_t now = cudaStreamSynchronize(stream);
    error = error == cudaSuccess ? now : error;
    if (error != cudaSuccess && status == TILEMM_SUCCESS)
        status = tilemm__cuda_fail(ctx, "reduce", error);
    if (status == TILEMM_SUCCESS) {
        const results_t results = place_results(host, units);
        take_pieces(args, &results, first, units, pieces);
    }
    tilemm__transfer_close(&s.up);
    if (s.is_up)
        cudaEventDestroy(s.is_up);
    for (int i = 0; i < 2; i++)
        if (s.used[i])
            cudaEventDestroy(s.used[i]);
    cudaFree(s.buffer);
    free(host);
    return tilemm__cuda_leave(ctx, before, status);
}
