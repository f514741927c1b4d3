/* cluster.cuh - blocks of a cluster meet, read each other's shared memory and add up what it holds.
 *
 * For kernels that are compiled for devices before compute capability 9.0 too. There a block is
 * alone, the functions are empty and must not be reached.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_CLUSTER_CUH
#define TILEMM_KERNELS_CUDA_CLUSTER_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "mbarrier.cuh"

/* Declares a kernel's clusters of `blocks`; nothing on devices before compute capability 9.0. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CLUSTER_OF(blocks)
#endif

/* All threads of the cluster that have not ended meet: what one wrote to shared memory before it
 * arrived, the others see once they have waited. */
static __device__ __forceinline__ void cluster_arrive(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ void cluster_wait(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ void cluster_sync(void)
{
    cluster_arrive();
    cluster_wait();
}

/* This block's number in its cluster. */
static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* Read what lies at `from` in the shared memory of block `rank` of the cluster. */
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
                 : "r"(shared_address(from)), "r"(rank)
                 : "memory");
#endif
    return v;
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* The sum of what lies at `from` in blocks 0 to blocks - 1 of the cluster, added in this order.
 * `blocks` is at most MOST. */
template <int MOST>
static __device__ __forceinline__ float cluster_sum(const float *from, int blocks)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++)
        if (i < blocks)
            sum += cluster_read(from, i);
    return sum;
}

/* ---- mail: values that blocks store in the shared memory of the cluster's first block -------- */

/* One thread of the first block announces `bytes` before the cluster meets. mail_wait() returns
 * when they have arrived. `mail` and the values lie at the same address in all blocks. */
static __device__ __forceinline__ void mail_expect(uint64_t *mail, int bytes)
{
#if __CUDA_ARCH__ >= 900
    mbarrier_init(mail, 1);
    mbarrier_expect(mail, bytes);
    mbarrier_fence_init();
#endif
}

static __device__ __forceinline__ void mail_wait(uint64_t *mail)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(shared_address(mail))
                 : "memory");
#endif
}

/* The address in the first block of what lies at p in this one. */
static __device__ __forceinline__ unsigned in_first_block(const void *p)
{
    unsigned there = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(p)));
#endif
    return there;
}

/* Store a value of 8 or 16 bytes, aligned to its size, at `to`. */
template <typename T>
static __device__ __forceinline__ void mail_push(uint64_t *mail, T *to, T value)
{
    static_assert(sizeof(T) == 8 || sizeof(T) == 16, "one store");
#if __CUDA_ARCH__ >= 900
    union {
        T value;
        unsigned long long word[2];
    } v;
    v.value = value;
    const unsigned box = in_first_block(mail), there = in_first_block(to);
    if (sizeof(T) == 16)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, "
                     "[%3];" ::"r"(there),
                     "l"(v.word[0]), "l"(v.word[1]), "r"(box)
                     : "memory");
    else
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                there),
            "l"(v.word[0]), "r"(box)
            : "memory");
#endif
}

#endif
