/* cluster.cuh - blocks of a cluster that meet and read each other's shared memory, in kernels that
 * are compiled for older devices too: there a block is alone, and none of this is reached.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_CLUSTER_CUH
#define TILEMM_KERNELS_CUDA_CLUSTER_CUH

#include <cuda_runtime.h>

/* All threads of the cluster meet: what one wrote to shared memory before, the others see after. */
static __device__ __forceinline__ void cluster_sync(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* Read what lies at `from` in the shared memory of the cluster's block `rank`. */
static __device__ __forceinline__ float4 cluster_read(unsigned from, unsigned rank)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .u32 there;\n"
                 "mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
                 "}"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(from), "r"(rank)
                 : "memory");
#endif
    return v;
}

static __device__ __forceinline__ float cluster_read(const float *from, unsigned rank)
{
    float v = 0.0f;

#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .u32 there;\n"
                 "mapa.shared::cluster.u32 there, %1, %2;\n"
                 "ld.shared::cluster.f32 %0, [there];\n"
                 "}"
                 : "=f"(v)
                 : "r"((unsigned)__cvta_generic_to_shared(from)), "r"(rank)
                 : "memory");
#endif
    return v;
}

/* Something of 8 or 16 bytes, aligned to as many. */
template <typename T>
static __device__ __forceinline__ T cluster_read(const T *from, unsigned rank)
{
    static_assert(sizeof(T) == 8 || sizeof(T) == 16, "one load");
    union {
        unsigned long long word[2];
        T value;
    } v = {};

#if __CUDA_ARCH__ >= 900
    unsigned there;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"((unsigned)__cvta_generic_to_shared(from)), "r"(rank));
    if (sizeof(T) == 16)
        asm volatile("ld.shared::cluster.v2.u64 {%0, %1}, [%2];"
                     : "=l"(v.word[0]), "=l"(v.word[1])
                     : "r"(there)
                     : "memory");
    else
        asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(v.word[0]) : "r"(there) : "memory");
#endif
    return v.value;
}

#endif
