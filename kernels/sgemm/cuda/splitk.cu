/* splitk.cu - the sum of the partial products of a split k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block has ROWS rows of LANES lanes, a lane for one element of C at a time. Row r of a
 * lane adds the r-th part of the splits, first to last; then row 0 adds the rows' sums in order.
 * The order depends on the number of splits alone, so the bits repeat.
 *
 * Assumes: compute capability 7.5 or more; at least two splits; partial products that lie as in
 * tilemm__sgemm_ffma_t. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "sgemm.h"

template <int LANES, int ROWS>
static __global__ void __launch_bounds__(LANES *ROWS)
    sgemm_splitk(const __grid_constant__ tilemm__sgemm_ffma_t problem, int64_t count)
{
    __shared__ float part[ROWS][LANES];
    const tilemm__sgemm_args_t &args = problem.args;
    const int64_t per_row = (problem.splits + ROWS - 1) / ROWS;
    const int64_t begin = min(threadIdx.y * per_row, problem.splits);
    const int64_t end = min(begin + per_row, problem.splits);

    wait_for_previous();
    for (int64_t first = (int64_t)blockIdx.x * LANES; first < count;
         first += (int64_t)gridDim.x * LANES) {
        const int64_t i = first + threadIdx.x;
        float sum = 0.0f;

        if (i < count) {
            const float *from = problem.partial + begin * count + i;

#pragma unroll 8
            for (int64_t s = begin; s < end; s++, from += count)
                sum += *from;
        }
        if (ROWS > 1) {
            part[threadIdx.y][threadIdx.x] = sum;
            __syncthreads();
            if (threadIdx.y == 0)
                for (int r = 1; r < ROWS; r++)
                    sum += part[r][threadIdx.x];
        }
        if (threadIdx.y == 0 && i < count) {
            const uint64_t row = (uint64_t)i / args.n, matrix = row / args.m;
            const int64_t col = i - row * args.n, row_in = row - matrix * args.m;
            float *const base =
                args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
            float *const to = base + row_in * args.ldc + col;
            float v = args.alpha * sum;

            if (args.beta != 0.0f)
                v = fmaf(args.beta, *to, v);
            *to = v;
        }
        if (ROWS > 1)
            __syncthreads(); /* part is written again */
    }
}

template <int LANES, int ROWS>
static int launch(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const int64_t count = problem->args.batch_count * problem->args.m * problem->args.n;
    const int64_t blocks = (count + LANES - 1) / LANES, most = 1 << 30;

    return launch_after(sgemm_splitk<LANES, ROWS>, (unsigned)(blocks < most ? blocks : most),
                        dim3(LANES, ROWS), 0, stream, *problem, count);
}

extern "C" int tilemm__sgemm_splitk_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    if (problem->splits < 16)
        return launch<256, 1>(problem, (cudaStream_t)stream);
    return launch<32, 8>(problem, (cudaStream_t)stream);
}
