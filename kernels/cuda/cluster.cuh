/* cluster.cuh - blocks of a cluster that meet and read each other's shared memory, in kernels that
 * are compiled for older devices too: there a block is alone, and none of this is reached.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_CLUSTER_CUH
#define TILEMM_KERNELS_CUDA_CLUSTER_CUH

#include <stdint.h>

#include <cuda_runtime.h>

/* All threads of the cluster meet: what one wrote to shared memory before it arrived, the others
 * see once they have waited. */
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

/* ---- mail: what blocks leave in the shared memory of the cluster's first ------------------------
 */

/* One thread of the first block says how many bytes will come, before the cluster meets; who waits
 * until they have come sees them. `mail` and what is pushed lie at the same place in all blocks. */
static __device__ __forceinline__ void mail_expect(uint64_t *mail, int bytes)
{
#if __CUDA_ARCH__ >= 900
    const unsigned box = (unsigned)__cvta_generic_to_shared(mail);

    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(box) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(box), "r"(bytes)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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
                 "}" ::"r"((unsigned)__cvta_generic_to_shared(mail))
                 : "memory");
#endif
}

/* Something of 8 or 16 bytes, aligned to as many. */
template <typename T>
static __device__ __forceinline__ void mail_push(uint64_t *mail, T *to, T value)
{
    static_assert(sizeof(T) == 8 || sizeof(T) == 16, "one store");
#if __CUDA_ARCH__ >= 900
    union {
        T value;
        unsigned long long word[2];
    } v;
    unsigned box, there;

    v.value = value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;"
                 : "=r"(box)
                 : "r"((unsigned)__cvta_generic_to_shared(mail)));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;"
                 : "=r"(there)
                 : "r"((unsigned)__cvta_generic_to_shared(to)));
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

#endif
