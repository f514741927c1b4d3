/* launch.cuh - kernels by name, launches, and kernels in a row that need not wait for each other's
 * launch: on compute capability 9.0 and later the next kernel's blocks are set up while the last
 * blocks of the one before still run (programmatic dependent launch).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_LAUNCH_CUH
#define TILEMM_KERNELS_CUDA_LAUNCH_CUH

#include <pthread.h>
#include <stdint.h>

#include <cuda_runtime.h>

/* Wait until the kernel before has finished and its results are visible. Every kernel that is
 * launched with `concurrent` calls this before it touches memory. It may do so only before it ends
 * if the kernel before called this first and then let_next_start(), and shares no memory with it.
 */
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

/* Blocks that should fit on a multiprocessor together: a bound on registers. For Blackwell the
 * compiler would spill some to keep within it, and takes few more where it is free. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define ROOM_FOR(blocks) 0
#else
#define ROOM_FOR(blocks) (blocks)
#endif

/* A kernel that makes one call; bounds: the arguments of __launch_bounds__, in parentheses. */
#define KERNEL_OF(name, bounds, parameters, ...)                                                   \
    static __global__ void __launch_bounds__ bounds name parameters                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* How a kernel is launched. */
typedef struct {
    dim3 grid, threads;
    size_t shared;    /* bytes of dynamic shared memory */
    unsigned cluster; /* blocks; 0 or 1 for none, or for what the kernel itself declares */
    bool concurrent;  /* it may start before the kernel before has ended; the device has compute
                         capability 9.0, and the kernel calls wait_for_previous() */
    bool at_once;     /* all blocks run at once, so that they may wait for each other */
} launch_t;

/* Launch a kernel, whose arguments are converted to its parameters' types. Clusters go where there
 * is most room: otherwise some multiprocessors get many blocks and others none. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static cudaError_t launch_kernel(void (*kernel)(PARAMETERS...), const launch_t &how,
                                 cudaStream_t stream, ARGUMENTS... arguments)
{
    cudaLaunchAttribute attributes[4];
    cudaLaunchConfig_t config = {how.grid, how.threads, how.shared, stream, attributes, 0};

    if (how.at_once) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (how.concurrent) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (how.cluster > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs++].val.clusterDim = {how.cluster, 1, 1};
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
        attributes[config.numAttrs++].val.clusterSchedulingPolicyPreference =
            cudaClusterSchedulingPolicyLoadBalancing;
    }
    if (how.shared <= 48 << 10) /* what a kernel may have without asking */
        return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);

    /* No other thread may change what the kernel may have before this one has launched it. */
    static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&asking);
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)how.shared);
    if (error == cudaSuccess)
        error = cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
    pthread_mutex_unlock(&asking);
    return error;
}

/* Launch `blocks` blocks in as few grids as possible: launch(first, count) launches `count` blocks,
 * the first of them number `first`. Both are multiples of `cluster` where `blocks` is. */
template <typename LAUNCH>
static cudaError_t launch_grids(uint64_t blocks, unsigned cluster, const LAUNCH &launch)
{
    const uint64_t most = (1u << 30) / cluster * cluster; /* half of a grid's limit */
    cudaError_t error = cudaSuccess;
    for (uint64_t first = 0; error == cudaSuccess && first < blocks; first += most)
        error = launch(first, (unsigned)(blocks - first < most ? blocks - first : most));
    return error;
}

/* The same for a kernel that finds the number of a grid's first block in problem.first. */
template <typename PROBLEM>
static cudaError_t launch_grids(void (*kernel)(PROBLEM), PROBLEM problem, launch_t how,
                                void *stream)
{
    return launch_grids(problem.blocks, how.cluster, [&](uint64_t first, unsigned count) {
        problem.first = first;
        how.grid = count;
        return launch_kernel(kernel, how, (cudaStream_t)stream, problem);
    });
}

#endif
