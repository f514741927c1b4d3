/* memory.c - memory that a context allocates or pins, and copies between any two places.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cuda.h"

static tilemm_status_t leave(tilemm_t ctx, tilemm__cuda_thread_t before, const char *what,
                             cudaError_t error)
{
    return tilemm__cuda_leave(
        ctx, before, error == cudaSuccess ? TILEMM_SUCCESS : tilemm__cuda_fail(ctx, what, error));
}

tilemm_status_t tilemm__cuda_allocate(tilemm_t ctx, tilemm_memory_t where, size_t bytes,
                                      void **memory)
{
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    const cudaError_t error =
        where == TILEMM_MEMORY_PINNED   ? cudaHostAlloc(memory, bytes, cudaHostAllocPortable)
        : where == TILEMM_MEMORY_DEVICE ? cudaMalloc(memory, bytes)
                                        : cudaMallocManaged(memory, bytes, cudaMemAttachGlobal);
    return leave(ctx, before, "alloc_matrix", error);
}

tilemm_status_t tilemm__cuda_deallocate(tilemm_t ctx, tilemm_memory_t where, void *memory)
{
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    const cudaError_t error =
        where == TILEMM_MEMORY_PINNED ? cudaFreeHost(memory) : cudaFree(memory);
    return leave(ctx, before, "free_matrix", error);
}

tilemm_status_t tilemm__cuda_pin(tilemm_t ctx, void *memory, size_t bytes)
{
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    if (error == cudaSuccess || error == cudaErrorMemoryAllocation)
        return leave(ctx, before, "register_host", error);
    (void)cudaGetLastError(); /* the memory's fault, not the device's */
    return tilemm__cuda_leave(
        ctx, before,
        tilemm__fail(
            ctx, error == cudaErrorNotSupported ? TILEMM_NOT_SUPPORTED : TILEMM_INVALID_ARGUMENT,
            "register_host: memory = %p, must be host memory that is not registered: %s", memory,
            cudaGetErrorString(error)));
}

tilemm_status_t tilemm__cuda_unpin(tilemm_t ctx, void *memory)
{
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    return leave(ctx, before, "unregister_host", cudaHostUnregister(memory));
}

int tilemm__cuda_is_pageable(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    (void)cudaGetLastError();
    return error != cudaSuccess || attributes.type == cudaMemoryTypeUnregistered;
}

cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (rows == 1 || (pitch_to == width && pitch_from == width))
        return cudaMemcpyAsync(to, from, (size_t)(width * rows), cudaMemcpyDefault, stream);
    /* The copy engine's largest pitch, and what it takes for one at all. */
    if (pitch_to >= width && pitch_from >= width && pitch_to <= INT32_MAX &&
        pitch_from <= INT32_MAX)
        return cudaMemcpy2DAsync(to, (size_t)pitch_to, from, (size_t)pitch_from, (size_t)width,
                                 (size_t)rows, cudaMemcpyDefault, stream);
    for (int64_t r = 0; r < rows && error == cudaSuccess; r++)
        error = cudaMemcpyAsync((char *)to + r * pitch_to, (const char *)from + r * pitch_from,
                                (size_t)width, cudaMemcpyDefault, stream);
    return error;
}

tilemm_status_t tilemm__cuda_copy(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    const tilemm__place_t src = tilemm__cuda_locate(ctx, args->src);
    const tilemm__place_t dst = tilemm__cuda_locate(ctx, args->dst);
    const int64_t size = (int64_t)args->elem_size;
    const cudaStream_t stream = tilemm__cuda(ctx)->stream;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    cudaError_t error = cudaSuccess;
    if (src != TILEMM__HOST && src != TILEMM__ELSEWHERE && dst != TILEMM__HOST &&
        dst != TILEMM__ELSEWHERE)
        return tilemm__cuda_leave(ctx, before, tilemm__cuda_transpose(ctx, args));
    if ((src == TILEMM__HOST && !tilemm__cuda_is_readable(args->src)) ||
        (dst == TILEMM__HOST && !tilemm__cuda_is_readable(args->dst)))
        return leave(ctx, before, "copy_matrix", TILEMM__UNREADABLE);
    const int waits = tilemm__cuda_is_pageable(args->src) || tilemm__cuda_is_pageable(args->dst);
    if (waits && tilemm__cuda_is_capturing(stream))
        return tilemm__cuda_leave(
            ctx, before,
            tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                         "copy_matrix: memory that is not pinned cannot be captured in a graph"));
    for (int64_t i = 0; i < args->batch_count && error == cudaSuccess; i++)
        error = tilemm__cuda_copy_rows((char *)args->dst + i * args->stride_dst * size,
                                       args->ld_dst * size,
                                       (const char *)args->src + i * args->stride_src * size,
                                       args->ld_src * size, args->cols * size, args->rows, stream);
    if (waits && error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return leave(ctx, before, "copy_matrix", error);
}
