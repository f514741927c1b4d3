/* named_barrier.cuh - barriers of some of a block's threads (PTX barrier, by number; 0 is that of
 * __syncthreads). All threads of a warp arrive together.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_NAMED_BARRIER_CUH
#define TILEMM_KERNELS_CUDA_NAMED_BARRIER_CUH

/* Wait for THREADS threads, and see their writes to memory. */
template <int THREADS>
static __device__ __forceinline__ void named_barrier(unsigned number)
{
    asm volatile("bar.sync %0, %1;" : : "r"(number), "n"(THREADS) : "memory");
}

/* The same. Returns whether `mine` holds for one of them. */
template <int THREADS>
static __device__ __forceinline__ bool named_barrier_any(unsigned number, bool mine)
{
    unsigned any;
    asm volatile("{\n"
                 ".reg .pred in, out;\n"
                 "setp.ne.u32 in, %1, 0;\n"
                 "bar.red.or.pred out, %2, %3, in;\n"
                 "selp.u32 %0, 1, 0, out;\n"
                 "}"
                 : "=r"(any)
                 : "r"((unsigned)mine), "r"(number), "n"(THREADS)
                 : "memory");
    return any;
}

#endif
