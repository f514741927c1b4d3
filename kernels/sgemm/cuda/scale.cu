/* scale.cu - C = beta C: what SGEMM is where alpha or k is 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads lie along the rows of C; where these are short a block takes several.
 *
 * Assumes: compute capability 7.5 or more. */
#include <cuda_runtime.h>

#include "sgemm.h"

enum { THREADS = 256, PER_THREAD = 4 };

/* Blocks are chunks of columns, by groups of rows of all the batch. */
static __global__ void __launch_bounds__(THREADS)
    sgemm_scale(const __grid_constant__ tilemm__sgemm_args_t args, int64_t chunks, int64_t groups)
{
    const int64_t rows = args.batch_count * args.m;

    for (uint64_t block = blockIdx.x; block < (uint64_t)(chunks * groups); block += gridDim.x) {
        const uint64_t group = block / (uint64_t)chunks;
        const uint64_t row = group * blockDim.y + threadIdx.y;
        const int64_t col = (block - group * chunks) * blockDim.x * PER_THREAD + threadIdx.x;

        if (row >= (uint64_t)rows)
            continue;

        const uint64_t matrix = row / (uint64_t)args.m;
        float *c = args.c_array ? args.c_array[matrix] : args.c + (int64_t)matrix * args.stride_c;

        c += (int64_t)(row - matrix * args.m) * args.ldc;
#pragma unroll
        for (int i = 0; i < PER_THREAD; i++) {
            const int64_t j = col + i * (int64_t)blockDim.x;

            if (j < args.n)
                c[j] = args.beta == 0.0f ? 0.0f : args.beta * c[j];
        }
    }
}

extern "C" int tilemm__sgemm_scale_launch(const tilemm__sgemm_args_t *args, void *stream)
{
    unsigned across = 1;

    while (across < THREADS && (int64_t)across * PER_THREAD < args->n)
        across *= 2;

    const unsigned down = THREADS / across;
    const int64_t chunks = (args->n + across * PER_THREAD - 1) / (across * PER_THREAD);
    const int64_t groups = (args->batch_count * args->m + down - 1) / down;
    const int64_t most = 1 << 30;
    const int64_t blocks = chunks * groups;

    sgemm_scale<<<(unsigned)(blocks < most ? blocks : most), dim3(across, down), 0,
                  (cudaStream_t)stream>>>(*args, chunks, groups);
    return cudaGetLastError();
}
