/* tma.cuh - boxes of tensors between global and shared memory by the copy engine (PTX
 * cp.async.bulk.tensor). tensor_map.cuh describes tensors. Compute capability 9.0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_TMA_CUH
#define TILEMM_KERNELS_CUDA_TMA_CUH

#include <cuda.h> /* CUtensorMap */
#include <stdint.h>

#include "shared.cuh"

/* Make this thread's writes to shared memory visible to the copy engine and the tensor cores. */
static __device__ __forceinline__ void fence_for_async(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void tensor_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"((uint64_t)map) : "memory");
}

/* Copy the box at (x, y) of a tensor to shared memory; its bytes are counted at the barrier. */
static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int x, int y,
                                                   uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y),
                   "r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int x, int y,
                                                   int z, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y), "r"(z),
                   "r"(shared_address(barrier))
                 : "memory");
}

/* The same, to the same address in every block of the cluster whose bit in `blocks` is set. */
static __device__ __forceinline__ void tensor_load_multicast(void *to, const CUtensorMap *map,
                                                             int x, int y, uint64_t *barrier,
                                                             unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y),
                   "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

static __device__ __forceinline__ void tensor_load_multicast(void *to, const CUtensorMap *map,
                                                             int x, int y, int z, uint64_t *barrier,
                                                             unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y), "r"(z),
                   "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

/* Copy a box from shared memory to (x, y, z). What lies outside the tensor is not written. */
static __device__ __forceinline__ void tensor_store(const CUtensorMap *map, int x, int y, int z,
                                                    const void *from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"((uint64_t)map), "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
                 : "memory");
}

/* Copy a run of bytes to shared memory, or from there. The bytes and both addresses are multiples
 * of 16. */
static __device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes,
                                                 uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void bulk_store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

/* Wait until the stores that this thread has started have read shared memory. */
static __device__ __forceinline__ void tensor_wait_read(void)
{
    asm volatile("cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read 0;" ::
                     : "memory");
}

#endif
