/* device.c - the CUDA device of a context: its traits, the calling thread's settings around a call,
 * and where pointers lie.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda.h"
#include "kernels/sgemm/cuda/planes.h"

tilemm_status_t tilemm__cuda_fail(tilemm_t ctx, const char *what, int cuda_error)
{
    tilemm_status_t status =
        cuda_error == cudaErrorMemoryAllocation ? TILEMM_OUT_OF_MEMORY : TILEMM_DEVICE_FAILURE;
    (void)cudaGetLastError(); /* not the next call's error */
    if (cuda_error == TILEMM__UNREADABLE)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "%s: an operand is in no memory that this process can read (freed?)",
                            what);
    return tilemm__fail(ctx, status, "%s: %s", what, cudaGetErrorString((cudaError_t)cuda_error));
}

/* The system reads a signal mask there before it refuses what to do with it. */
int tilemm__cuda_is_readable(const void *byte)
{
    const uintptr_t mask = (uintptr_t)byte & ~(uintptr_t)7;
    const int before = errno;
    const int is = syscall(SYS_rt_sigprocmask, ~0, mask, NULL, 8) == 0 || errno != EFAULT;
    errno = before;
    return is;
}

tilemm__cuda_thread_t tilemm__cuda_enter_device(int device)
{
    tilemm__cuda_thread_t before = {-1, cudaStreamCaptureModeRelaxed};
    if (cudaGetDevice(&before.device) != cudaSuccess)
        before.device = -1;
    if (before.device != device)
        cudaSetDevice(device);
    /* So that an allocation does not break the capture of another thread. */
    cudaThreadExchangeStreamCaptureMode(&before.mode);
    (void)cudaGetLastError();
    return before;
}

void tilemm__cuda_leave_device(int device, tilemm__cuda_thread_t before)
{
    cudaThreadExchangeStreamCaptureMode(&before.mode);
    if (before.device >= 0 && before.device != device)
        cudaSetDevice(before.device);
}

tilemm__cuda_thread_t tilemm__cuda_enter(tilemm_t ctx)
{
    return tilemm__cuda_enter_device(tilemm__cuda(ctx)->device);
}

tilemm_status_t tilemm__cuda_leave(tilemm_t ctx, tilemm__cuda_thread_t before,
                                   tilemm_status_t status)
{
    tilemm__cuda_leave_device(tilemm__cuda(ctx)->device, before);
    return status;
}

tilemm__place_t tilemm__cuda_locate(tilemm_t ctx, const void *pointer)
{
    struct cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        /* On a lost device every question fails. Then nothing may be read on the host; the kernel
         * that is launched instead reports the loss. */
        return error == cudaErrorInvalidValue ? TILEMM__HOST : TILEMM__DEVICE;
    }
    if (attributes.type == cudaMemoryTypeManaged)
        return TILEMM__MANAGED;
    if (attributes.type != cudaMemoryTypeDevice)
        return TILEMM__HOST;
    return attributes.device == tilemm__cuda(ctx)->device ? TILEMM__DEVICE : TILEMM__ELSEWHERE;
}

int tilemm__cuda_is_on_host(tilemm_t ctx, const void *pointer)
{
    return tilemm__cuda_locate(ctx, pointer) == TILEMM__HOST;
}

int tilemm__cuda_is_far(tilemm_t ctx, const void *pointer)
{
    const tilemm__place_t place = tilemm__cuda_locate(ctx, pointer);
    return place == TILEMM__HOST || place == TILEMM__ELSEWHERE;
}

static int attribute(enum cudaDeviceAttr which, int device)
{
    int value = 0;
    (void)cudaDeviceGetAttribute(&value, which, device);
    return value;
}

void tilemm__cuda_read_traits(tilemm__cuda_traits_t *traits, int device, const char *arch,
                              int built)
{
    struct cudaDeviceProp properties;
    memset(traits, 0, sizeof *traits);
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
        size_t length = strnlen(properties.name, sizeof traits->name - 1);
        memcpy(traits->name, properties.name, length);
        traits->memory_bytes = properties.totalGlobalMem;
    }
    traits->cc = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                 attribute(cudaDevAttrComputeCapabilityMinor, device);
    if (!strncmp(arch, "sm", 2) && atoi(arch + 2) < traits->cc)
        traits->cc = atoi(arch + 2);
    /* What the kernels do was settled when they were compiled: nothing of 8.0 or 9.0 in code for
     * less. */
    if (traits->cc >= 90 && built < 90)
        traits->cc = 80;
    if (traits->cc >= 80 && built < 80)
        traits->cc = 75;
    if (traits->cc >= 90 && !tilemm__sgemm_planes_sm90_is_built())
        traits->cc = 80; /* code for sm_90 without its extensions, or for newer chips: as sm_80 */
    traits->sm_count = attribute(cudaDevAttrMultiProcessorCount, device);
    traits->max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
    traits->shared_per_block = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    traits->shared_per_sm = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    traits->l2_bytes = (size_t)attribute(cudaDevAttrL2CacheSize, device);
}

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){.cuda = &tilemm__cuda(ctx)->traits,
                              .math = ctx->math,
                              .invariance = ctx->invariance,
                              .workspace = workspace,
                              .variant = ctx->variant};
}
