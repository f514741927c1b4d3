/* launch.cuh - kernels in a row that need not wait for each other's launch: on compute capability
 * 9.0 and later the next kernel's blocks are set up while the last blocks of the one before still
 * run (programmatic dependent launch).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_LAUNCH_CUH
#define TILEMM_KERNELS_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

/* Wait until the kernel before is finished and its results are seen. Every kernel that is launched
 * with launch_after() does this before it touches memory. */
static __device__ __forceinline__ void wait_for_previous(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* From here on the next kernel's blocks may take the room that this kernel's leave. */
static __device__ __forceinline__ void let_next_start(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

template <typename... PARAMETERS, typename... ARGUMENTS>
static cudaError_t launch_after(void (*kernel)(PARAMETERS...), dim3 grid, dim3 threads,
                                size_t shared, cudaStream_t stream, ARGUMENTS... arguments)
{
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = {};
    int device = 0, major = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = major >= 9 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

#endif
