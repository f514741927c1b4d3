/* shared.cuh - shared memory by its own 32-bit addresses, mostly 16 bytes at a time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_SHARED_CUH
#define TILEMM_KERNELS_CUDA_SHARED_CUH

#include <cuda_runtime.h>

/* The address that PTX instructions on shared memory take. */
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Read or write 16 aligned bytes. In assembly, because the compiler may take a 16-byte access apart
 * and not join it again. */
static __device__ __forceinline__ float4 shared_read(unsigned from)
{
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(from));
    return v;
}

/* Read 4 bytes. */
static __device__ __forceinline__ float shared_read_float(unsigned from)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(from));
    return v;
}

static __device__ __forceinline__ void shared_write(unsigned to, float4 v)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

#endif
