/* backend.c - the CUDA backend: opening and closing a context on a device, its stream, and the
 * table of its operations.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>

#include "cuda.h"
#include "kernels/cuda/probe.h"
#include "multi.h"

/* The workspace that a context starts with, so that a first call can be captured in a graph. */
enum { FIRST_WORKSPACE = 32 << 20 };

static void release(tilemm__cuda_state_t *state)
{
    if (state->moved)
        cudaEventDestroy(state->moved);
    while (state->captured) {
        tilemm__cuda_buffer_t *next = state->captured->next;
        cudaFree(state->captured->device);
        free(state->captured);
        state->captured = next;
    }
    cudaFreeHost(state->chunks[0]);
    cudaFreeHost(state->chunks[1]);
    cudaFree(state->buffer);
    cudaFree(state->small);
    cudaFree(state->strips);
    free(state->choices);
    free(state);
}

static tilemm_status_t open_device(tilemm_t ctx, tilemm__cuda_state_t *state)
{
    int built = 0;
    cudaError_t error = cudaSetDevice(state->device);
    if (error == cudaSuccess)
        error = (cudaError_t)tilemm__cuda_probe(&built);
    if (error != cudaSuccess) { /* no such device, or this build has no code for it */
        tilemm__cuda_fail(ctx, "create", error);
        return error == cudaErrorMemoryAllocation ? TILEMM_OUT_OF_MEMORY : TILEMM_NO_DEVICE;
    }
    tilemm__cuda_read_traits(&state->traits, state->device, ctx->arch, built);
    error = cudaEventCreateWithFlags(&state->moved, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMalloc(&state->small, TILEMM__STAGE_SMALL);
    if (error != cudaSuccess)
        return tilemm__cuda_fail(ctx, "create", error);
    if (cudaMalloc(&state->buffer, FIRST_WORKSPACE) == cudaSuccess)
        state->buffer_bytes = FIRST_WORKSPACE;
    else
        (void)cudaGetLastError(); /* the methods that need none will have to do */
    return TILEMM_SUCCESS;
}

static tilemm_status_t cuda_open(tilemm_t ctx, int device)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    int driver = 0;
    if (error != cudaSuccess && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return tilemm__fail(ctx, TILEMM_NO_DEVICE, "create: no CUDA driver is installed");
    if (error != cudaSuccess) {
        tilemm__cuda_fail(ctx, "create", error);
        return TILEMM_NO_DEVICE;
    }
    if (device >= count)
        return tilemm__fail(ctx, TILEMM_NO_DEVICE, "create: device = %d, must be less than %d",
                            device, count);
    tilemm__cuda_state_t *state = calloc(1, sizeof *state);
    if (!state)
        return TILEMM_OUT_OF_MEMORY;
    tilemm__cuda_thread_t before = tilemm__cuda_enter_device(device);
    state->device = device;
    state->sharers = 1;
    tilemm_status_t status = open_device(ctx, state);
    if (status == TILEMM_SUCCESS)
        ctx->state = state;
    else
        release(state);
    tilemm__cuda_leave_device(device, before);
    return status;
}

static tilemm_status_t cuda_close(tilemm_t ctx)
{
    tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    /* The whole device: the user may have destroyed the stream already. */
    tilemm_status_t status =
        cudaDeviceSynchronize() == cudaSuccess ? TILEMM_SUCCESS : TILEMM_DEVICE_FAILURE;
    int device = tilemm__cuda(ctx)->device;
    release(tilemm__cuda(ctx));
    (void)cudaGetLastError();
    tilemm__cuda_leave_device(device, before);
    return status;
}

static tilemm_status_t cuda_synchronize(tilemm_t ctx)
{
    tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    cudaError_t error = cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    if (error == cudaSuccess)
        tilemm__cuda_release_strips(ctx);
    return tilemm__cuda_leave(ctx, before,
                              error == cudaSuccess ? TILEMM_SUCCESS
                                                   : tilemm__cuda_fail(ctx, "synchronize", error));
}

static tilemm_status_t cuda_set_stream(tilemm_t ctx, void *stream)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    cudaError_t error = cudaSuccess;
    /* The workspace is shared: new work waits for old. A capture cannot wait for what is outside
     * it; there the program orders its streams itself. */
    if (state->stream != (cudaStream_t)stream && !tilemm__cuda_is_capturing(state->stream) &&
        !tilemm__cuda_is_capturing((cudaStream_t)stream)) {
        error = cudaEventRecord(state->moved, state->stream);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent((cudaStream_t)stream, state->moved, 0);
    }
    if (error == cudaSuccess)
        state->stream = (cudaStream_t)stream;
    return tilemm__cuda_leave(ctx, before,
                              error == cudaSuccess ? TILEMM_SUCCESS
                                                   : tilemm__cuda_fail(ctx, "set_stream", error));
}

const tilemm__backend_t tilemm__cuda_backend = {
    .id = TILEMM_BACKEND_CUDA,
    .locate = tilemm__cuda_locate,
    .open = cuda_open,
    .open_multi = tilemm__multi_open,
    .close = cuda_close,
    .synchronize = cuda_synchronize,
    .set_stream = cuda_set_stream,
    .sgemm = tilemm__cuda_staged_sgemm,
    .sgemm_workspace = tilemm__cuda_sgemm_workspace,
    .transpose = tilemm__cuda_staged_transpose,
    .transpose_inplace = tilemm__cuda_staged_transpose_inplace,
    .copy = tilemm__cuda_copy,
    .allocate = tilemm__cuda_allocate,
    .deallocate = tilemm__cuda_deallocate,
    .pin = tilemm__cuda_pin,
    .unpin = tilemm__cuda_unpin,
    .reduce = tilemm__cuda_staged_reduce,
    .reduce_segments = tilemm__cuda_staged_segments,
};
