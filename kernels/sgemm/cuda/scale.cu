/* scale.cu - C = beta C: what SGEMM is where alpha or k is 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads lie along the rows of C.
 *
 * Assumes: compute capability 7.5 or more. */
#include <cuda_runtime.h>

#include "ffma.h"
#include "kernels/cuda/launch.cuh"

#define KERNEL(name, threads)                                                                      \
    static __global__ void __launch_bounds__(threads)                                              \
        name(const __grid_constant__ tilemm__sgemm_scale_t problem)                                \
    {                                                                                              \
        body(problem);                                                                             \
    }

static __device__ __forceinline__ void body(const tilemm__sgemm_scale_t &problem)
{
    const tilemm__sgemm_args_t &args = problem.args;
    walk_rows(problem.walk, blockIdx.x, [&](int64_t row, int64_t column) {
        const uint64_t matrix = (uint64_t)row / (uint64_t)args.m;
        float *c = args.c_array ? args.c_array[matrix] : args.c + (int64_t)matrix * args.stride_c;

        c += (row - (int64_t)matrix * args.m) * args.ldc;
#pragma unroll
        for (int i = 0; i < TILEMM__SGEMM_ROW_WALK_COLUMNS; i++) {
            const int64_t j = column + i * (int64_t)problem.walk.across;
            if (j < args.n)
                c[j] = args.beta == 0.0f ? 0.0f : args.beta * c[j];
        }
    });
}

TILEMM__SGEMM_SCALE_ROWS(KERNEL)

extern "C" int tilemm__sgemm_scale_launch(const tilemm__sgemm_scale_t *problem, void *stream)
{
    return launch_kernel(sgemm_scale_sm75,
                         {problem->walk.blocks, TILEMM__SGEMM_ROW_WALK_THREADS, 0, 1, false},
                         (cudaStream_t)stream, *problem);
}
