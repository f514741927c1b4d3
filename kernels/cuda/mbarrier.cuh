/* mbarrier.cuh - barriers in shared memory (PTX mbarrier), at which threads and the copy engine
 * arrive. Compute capability 9.0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_MBARRIER_CUH
#define TILEMM_KERNELS_CUDA_MBARRIER_CUH

#include <stdint.h>

#include "shared.cuh"

/* A phase is complete after `arrivals` arrivals and all expected bytes. */
static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

/* Make initialised barriers visible to the copy engine and to the cluster. */
static __device__ __forceinline__ void mbarrier_fence_init(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrive, and expect `bytes` from the copy engine. */
static __device__ __forceinline__ void mbarrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void mbarrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

/* Arrive when all asynchronous copies (copy_async.cuh) that this thread has started are done. */
static __device__ __forceinline__ void mbarrier_arrive_after_copies(uint64_t *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

/* Arrive at the barrier at the same address in another block of the cluster. Without
 * ".release.cluster", which would wait for all of the thread's memory accesses: where only the
 * tensor cores have read, there are none to be ordered. */
static __device__ __forceinline__ void mbarrier_arrive_cluster(uint64_t *barrier, unsigned block)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}"
                 :
                 : "r"(shared_address(barrier)), "r"(block)
                 : "memory");
}

/* Wait until the phase of this parity is complete. */
static __device__ __forceinline__ void mbarrier_wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra finished;\n"
                 "bra again;\n"
                 "finished:\n"
                 "}"
                 :
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
}

/* Arrive, and wait for the other threads that the barrier counts, which may be at another place in
 * the code: for __syncthreads() and named barriers they may not, by the rules of compute-sanitizer.
 * All of them must wait, too: who arrives again before a phase is complete counts twice in it. */
static __device__ __forceinline__ void mbarrier_meet(uint64_t *barrier)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 ".reg .b64 phase;\n"
                 "mbarrier.arrive.shared::cta.b64 phase, [%0];\n"
                 "again:\n"
                 "mbarrier.try_wait.shared::cta.b64 done, [%0], phase;\n"
                 "@done bra finished;\n"
                 "bra again;\n"
                 "finished:\n"
                 "}"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

/* Go to the next of COUNT slots; the parity changes after the last. */
template <int COUNT>
static __device__ __forceinline__ void advance(unsigned *slot, unsigned *parity)
{
    if (++*slot == COUNT) {
        *slot = 0;
        *parity ^= 1;
    }
}

#endif
