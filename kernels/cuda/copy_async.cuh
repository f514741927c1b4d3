/* copy_async.cuh - asynchronous copies from global to shared memory (PTX cp.async).
 *
 * A copy passes no register. Copies form groups: copy_async_commit() ends one, copy_async_wait()
 * waits for the thread's own; other threads see the data after a __syncthreads() that follows.
 * Both addresses are aligned to the size of the copy. `to` is an address in shared memory, see
 * shared.cuh.
 *
 * Assumes compute capability 8.0. For older devices the functions are empty, so that a kernel that
 * copies through registers there need not hide its calls.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_COPY_ASYNC_CUH
#define TILEMM_KERNELS_CUDA_COPY_ASYNC_CUH

#include <cuda_runtime.h>

/* Copies of 16 bytes bypass the L1 cache (.cg) unless `cached`; smaller ones (.ca) cannot. `before`
 * and `after` are the assembly around the copy %0, %1, %2: to, from, BYTES; other operands follow
 * from %3 on. */
#define COPY_ASYNC(cached, before, after, ...)                                                     \
    do {                                                                                           \
        if (BYTES == 16 && !(cached))                                                              \
            asm volatile(before "cp.async.cg.shared.global [%0], [%1], %2" after::__VA_ARGS__      \
                         : "memory");                                                              \
        else                                                                                       \
            asm volatile(before "cp.async.ca.shared.global [%0], [%1], %2" after::__VA_ARGS__      \
                         : "memory");                                                              \
    } while (0)

/* Copy 4, 8 or 16 bytes. */
template <int BYTES>
static __device__ __forceinline__ void copy_async(unsigned to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "what the instruction copies");
#if __CUDA_ARCH__ >= 800
    COPY_ASYNC(false, "", ";", "r"(to), "l"(from), "n"(BYTES));
#endif
}

/* Copy the first `valid` of 4, 8 or 16 bytes, and fill up with zeros. `from` is a valid address
 * even where `valid` is 0. CACHED: what is copied stays in the L1 cache. */
template <int BYTES, bool CACHED = false>
static __device__ __forceinline__ void copy_async_zero(unsigned to, const void *from, int valid)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "what the instruction copies");
#if __CUDA_ARCH__ >= 800
    COPY_ASYNC(CACHED, "", ", %3;", "r"(to), "l"(from), "n"(BYTES), "r"(valid));
#endif
}

/* Copy 4 or 16 bytes if `yes`, without a branch, which would keep the compiler from mixing copies
 * with the instructions around them. */
template <int BYTES>
static __device__ __forceinline__ void copy_async_if(bool yes, unsigned to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 16, "sizes in use");
#if __CUDA_ARCH__ >= 800
    COPY_ASYNC(false, "{\n.reg .pred yes;\nsetp.ne.b32 yes, %3, 0;\n@yes ", ";\n}", "r"(to),
               "l"(from), "n"(BYTES), "r"((int)yes));
#endif
}

/* Copy 16 bytes if `yes`, else write zeros; `from` is then not read. */
[[maybe_unused]] static __device__ __forceinline__ void copy_async_or_zero(bool yes, unsigned to,
                                                                           const void *from)
{
    const int BYTES = 16;
#if __CUDA_ARCH__ >= 800
    COPY_ASYNC(false, "{\n.reg .pred no;\nsetp.eq.b32 no, %3, 0;\n", ", no;\n}", "r"(to), "l"(from),
               "n"(BYTES), "r"((int)yes));
#endif
}

/* The copies since the last call are a group. */
static __device__ __forceinline__ void copy_async_commit(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Wait until at most the PENDING latest groups of this thread are unfinished. */
template <int PENDING>
static __device__ __forceinline__ void copy_async_wait(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(PENDING) : "memory");
#endif
}

/* Wait for all copies of this thread, in groups or not. */
static __device__ __forceinline__ void copy_async_wait_all(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
