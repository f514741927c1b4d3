/* registers.cuh - values in registers: four floats as an array or as a float4, and values about
 * which the compiler must not reason.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_REGISTERS_CUH
#define TILEMM_KERNELS_CUDA_REGISTERS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

static __device__ __forceinline__ float4 pack(const float *x)
{
    return make_float4(x[0], x[1], x[2], x[3]);
}

static __device__ __forceinline__ void unpack(float *x, float4 v)
{
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
    x[3] = v.w;
}

/* x[i] += element i of v. */
static __device__ __forceinline__ void add(float *x, float4 v)
{
    x[0] += v.x;
    x[1] += v.y;
    x[2] += v.z;
    x[3] += v.w;
}

/* The same value, but the compiler does not know that. It computes what depends on it where that is
 * used, not ahead of a loop, where registers are scarcer than instructions. */
static __device__ __forceinline__ unsigned opaque(unsigned x)
{
    asm volatile("" : "+r"(x));
    return x;
}

static __device__ __forceinline__ int64_t opaque(int64_t x)
{
    asm volatile("" : "+l"(x));
    return x;
}

#endif
