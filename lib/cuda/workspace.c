/* workspace.c - device workspace: the user's, or a buffer of the context that grows; and its buffer
 * for strips.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "cuda.h"

int tilemm__cuda_is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t error = cudaStreamIsCapturing(stream, &status);
    (void)cudaGetLastError();
    /* The legacy stream cannot be asked while another stream captures. */
    return error == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

/* Take a larger buffer, if there is one. The old one is kept if a graph goes on using it. */
static void grow(tilemm__cuda_state_t *state, size_t bytes)
{
    tilemm__cuda_buffer_t *kept = NULL;
    void *larger = NULL;
    if (state->in_graph && !(kept = malloc(sizeof *kept)))
        return;
    if (cudaMalloc(&larger, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        free(kept);
        return;
    }
    if (kept) {
        *kept = (tilemm__cuda_buffer_t){state->captured, state->buffer};
        state->captured = kept;
    } else {
        cudaFree(state->buffer); /* waits until nothing uses it */
    }
    state->buffer = larger;
    state->buffer_bytes = bytes;
    state->in_graph = 0;
}

void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    enum { ALIGNMENT = 256 };
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    if (ctx->workspace) {
        size_t skip = -(uintptr_t)ctx->workspace % ALIGNMENT;
        *got = ctx->workspace_bytes > skip ? ctx->workspace_bytes - skip : 0;
        return *got ? (char *)ctx->workspace + skip : NULL;
    }
    int capturing = tilemm__cuda_is_capturing(state->stream);
    if (want > state->buffer_bytes && !capturing)
        grow(state, want);
    state->in_graph |= capturing;
    *got = state->buffer_bytes;
    return state->buffer;
}

void *tilemm__cuda_lend(tilemm_t ctx, size_t bytes)
{
    void *memory = NULL;
    if (cudaMallocAsync(&memory, bytes, tilemm__cuda(ctx)->stream) == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    return NULL;
}

void tilemm__cuda_return(tilemm_t ctx, void *memory)
{
    cudaFreeAsync(memory, tilemm__cuda(ctx)->stream);
}

void tilemm__cuda_release_strips(tilemm_t ctx)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    if (state->strips)
        cudaFree(state->strips); /* waits until nothing uses it */
    state->strips = NULL;
    state->strips_bytes = 0;
}

void tilemm__cuda_trim_strips(tilemm_t ctx)
{
    enum { PART = 4 };
    const tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    if (state->strips_bytes > state->traits.memory_bytes / PART)
        tilemm__cuda_release_strips(ctx);
}

void *tilemm__cuda_strips(tilemm_t ctx, size_t bytes, size_t most)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    if (bytes > state->strips_bytes || most < state->strips_bytes) {
        tilemm__cuda_release_strips(ctx);
        if (cudaMalloc(&state->strips, bytes) == cudaSuccess) {
            state->strips_bytes = bytes;
        } else {
            (void)cudaGetLastError();
            state->strips = NULL;
        }
    }
    return bytes <= state->strips_bytes ? state->strips : NULL;
}
