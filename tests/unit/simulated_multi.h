/* simulated_multi.h - contexts over several simulated GPUs (simulated_cuda.h): members whose
 * operations are plain loops, in the order of their streams.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_SIMULATED_MULTI_H
#define TILEMM_TESTS_UNIT_SIMULATED_MULTI_H

#include <stdlib.h>
#include <string.h>

#include "lib/cuda/multi.h"
#include "simulated_cuda.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

enum { SLOW = 3 /* a device of another model, of half the rate */ };

/* ---- what else multi.c calls ---------------------------------------------------------------- */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    const int place = place_at(pointer);
    memset(attributes, 0, sizeof(*attributes));
    attributes->type = place >= 0          ? cudaMemoryTypeDevice
                       : place == MANAGED  ? cudaMemoryTypeManaged
                       : place == PAGEABLE ? cudaMemoryTypeUnregistered
                                           : cudaMemoryTypeHost;
    attributes->device = place >= 0 ? place : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device;
    (void)peer;
    *can = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer;
    (void)flags;
    return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    (void)memory;
    (void)value;
    (void)bytes;
    (void)stream;
    return cudaSuccess;
}

tilemm__cuda_thread_t tilemm__cuda_enter_device(int device)
{
    return (tilemm__cuda_thread_t){device, cudaStreamCaptureModeRelaxed};
}

void tilemm__cuda_leave_device(int device, tilemm__cuda_thread_t before)
{
    (void)device;
    (void)before;
}

static int is_on_host(const void *pointer)
{
    return place_at(pointer) == PAGEABLE || place_at(pointer) == PINNED;
}

/* Matrices of a batch on the device are queued; those on the host are done at once. */
tilemm_status_t tilemm__cuda_staged_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    simulated_note(ctx);
    for (int64_t i = 0; i < args->batch_count; i++) {
        tilemm__sgemm_args_t one = *args;
        one.batch_count = 1;
        one.a = args->a_array ? args->a_array[i] : args->a + i * args->stride_a;
        one.b = args->b_array ? args->b_array[i] : args->b + i * args->stride_b;
        one.c = args->c_array ? args->c_array[i] : args->c + i * args->stride_c;
        (void)tilemm__cuda_sgemm(ctx, &one);
        if (is_on_host(one.a) || is_on_host(one.b) || is_on_host(one.c))
            cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    }
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    simulated_note(ctx);
    for (int64_t b = 0; b < args->batch_count; b++)
        for (int64_t i = 0; i < args->rows; i++)
            for (int64_t j = 0; j < args->cols; j++)
                ((float *)args->dst)[b * args->stride_dst +
                                     (args->trans ? j * args->ld_dst + i : i * args->ld_dst + j)] =
                    ((const float *)args->src)[b * args->stride_src + i * args->ld_src + j];
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args)
{
    (void)args;
    simulated_note(ctx);
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_copy(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    (void)args;
    simulated_note(ctx);
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    simulated_note(ctx);
    for (int64_t v = 0; v < args->count; v++) {
        double sum = 0;
        for (int64_t i = 0; i < args->n; i++)
            sum += (double)args->x[v * args->vstride + i * args->istride];
        args->out[v * args->out_stride] = (float)sum;
    }
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    simulated_note(ctx);
    for (int64_t s = 0; s < args->segments; s++) {
        double sum = 0;
        for (int64_t i = args->offsets[s]; i < args->offsets[s + 1]; i++)
            sum += (double)args->x[i];
        args->out[s] = (float)sum;
    }
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_allocate(tilemm_t ctx, tilemm_memory_t where, size_t bytes,
                                      void **memory)
{
    (void)where;
    (void)bytes;
    *memory = NULL;
    return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "alloc_matrix: out of memory");
}

tilemm_status_t tilemm__cuda_deallocate(tilemm_t ctx, tilemm_memory_t where, void *memory)
{
    (void)ctx;
    (void)where;
    (void)memory;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_pin(tilemm_t ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)memory;
    (void)bytes;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_unpin(tilemm_t ctx, void *memory)
{
    (void)ctx;
    (void)memory;
    return TILEMM_SUCCESS;
}

static tilemm_status_t open_device(tilemm_t ctx, int device)
{
    if (device >= SIMULATED_DEVICES)
        return tilemm__fail(ctx, TILEMM_NO_DEVICE, "create: device = %d, must be less than %d",
                            device, (int)SIMULATED_DEVICES);
    tilemm__cuda_state_t *state = need(calloc(1, sizeof(*state)));
    state->device = device;
    state->sharers = 1;
    state->traits = simulated_traits();
    if (device == SLOW)
        state->traits.sm_count /= 2;
    ctx->state = state;
    return TILEMM_SUCCESS;
}

static tilemm_status_t close_device(tilemm_t ctx)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    cudaFree(state->strips);
    cudaFree(state->buffer);
    free(state->chunks[0]);
    free(state->chunks[1]);
    free(state);
    return TILEMM_SUCCESS;
}

static tilemm_status_t synchronize(tilemm_t ctx)
{
    cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    return TILEMM_SUCCESS;
}

static tilemm_status_t set_stream(tilemm_t ctx, void *stream)
{
    tilemm__cuda(ctx)->stream = stream;
    return TILEMM_SUCCESS;
}

const tilemm__backend_t tilemm__cuda_backend = {.id = TILEMM_BACKEND_CUDA,
                                                .locate = tilemm__cuda_locate,
                                                .open = open_device,
                                                .open_multi = tilemm__multi_open,
                                                .close = close_device,
                                                .synchronize = synchronize,
                                                .set_stream = set_stream};

/* ---- contexts ------------------------------------------------------------------------------- */

static rng_t problems = {19};

static void open_context(struct tilemm_context *ctx, int count, const int *devices)
{
    *ctx = (struct tilemm_context){.math = TILEMM_MATH_FP32_STRICT, .last_kernel = ""};
    CHECK(tilemm__multi_open(ctx, count, devices) == TILEMM_SUCCESS, "%s", ctx->last_error);
    tilemm__multi(ctx)->devices.start = 0; /* small problems are divided too */
}

static void close_context(struct tilemm_context *ctx)
{
    CHECK(ctx->backend->synchronize(ctx) == TILEMM_SUCCESS, "%s", ctx->last_error);
    CHECK(ctx->backend->close(ctx) == TILEMM_SUCCESS, "close");
    CHECK(simulated.allocations == 0, "%d streams, events and buffers are left",
          simulated.allocations);
    forget();
}

static void fill(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)rng_range(&problems, -4, 4);
}

static int64_t differences(const float *got, const float *want, int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += memcmp(&got[i], &want[i], sizeof(*got)) != 0;
    return wrong;
}

#endif
