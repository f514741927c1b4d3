/* launch.cuh - kernels in a row that need not wait for each other's launch: on compute capability
 * 9.0 and later the next kernel's blocks are set up while the last blocks of the one before still
 * run (programmatic dependent launch).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_LAUNCH_CUH
#define TILEMM_KERNELS_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

/* Wait until the kernel before is finished and its results are seen. Every kernel that is launched
 * with launch_after() does this before it touches memory; or before it ends, if the kernel before
 * did it first, only then let it start, and has nothing to do with its memory. */
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

/* With `cluster` blocks to a cluster; 1 for none, or for what the kernel itself says. They go where
 * there is most room: elsewhere some multiprocessors get many blocks and others none. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static cudaError_t launch_cluster_after(void (*kernel)(PARAMETERS...), unsigned cluster, dim3 grid,
                                        dim3 threads, size_t shared, cudaStream_t stream,
                                        ARGUMENTS... arguments)
{
    cudaLaunchAttribute attributes[3];
    cudaLaunchConfig_t config = {};
    int device = 0, major = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    if (major >= 9) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.x = cluster;
        attributes[config.numAttrs].val.clusterDim.y = 1;
        attributes[config.numAttrs++].val.clusterDim.z = 1;
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
        attributes[config.numAttrs++].val.clusterSchedulingPolicyPreference =
            cudaClusterSchedulingPolicyLoadBalancing;
    }
    return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

template <typename... PARAMETERS, typename... ARGUMENTS>
static cudaError_t launch_after(void (*kernel)(PARAMETERS...), dim3 grid, dim3 threads,
                                size_t shared, cudaStream_t stream, ARGUMENTS... arguments)
{
    return launch_cluster_after(kernel, 1, grid, threads, shared, stream, arguments...);
}

#endif
