/* neighbours.cuh - reads of neighbours in memory, for the passes that make planes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_NEIGHBOURS_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_NEIGHBOURS_CUH

#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"

/* Load VEC neighbours at p, of which `valid` exist; the others are zeros. */
template <int VEC>
static __device__ __forceinline__ void load(float *x, const float *__restrict__ p, int64_t valid)
{
    if (VEC == 4 && valid >= 4) {
        unpack(x, __ldcs((const float4 *)p));
    } else {
#pragma unroll
        for (int i = 0; i < VEC; i++)
            x[i] = i < valid ? __ldcs(p + i) : 0.0f;
    }
}

#endif
