/* splitk.cu - the sum of the partial products of a split k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block has ROWS rows of LANES lanes, a lane for one element of C at a time. Row r of a
 * lane adds the r-th part of the splits, first to last; then row 0 adds the rows' sums in order.
 * The order depends on the number of splits alone, so the bits repeat.
 *
 * Assumes: compute capability 7.5 or more; at least two splits; partial products that lie as
 * tilemm__sgemm_splitk_t says. */
#include <cuda_runtime.h>

#include "ffma.h"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"

enum { MANY = 32 };

template <int LANES, int ROWS>
static __device__ __forceinline__ void body(const tilemm__sgemm_splitk_t &problem)
{
    const int64_t count = problem.count;
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
            int64_t s = begin;
            for (; s + MANY <= end; s += MANY) { /* many reads before the first sum */
                float next[MANY];
#pragma unroll
                for (int j = 0; j < MANY; j++, from += count)
                    next[j] = *from;
#pragma unroll
                for (int j = 0; j < MANY; j++)
                    sum += next[j];
            }
#pragma unroll 8
            for (; s < end; s++, from += count)
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
            epilogue_store(base + row_in * args.ldc + col, sum, args.alpha, args.beta);
        }
        if (ROWS > 1)
            __syncthreads(); /* part is written again */
    }
}

#define KERNEL(name, lanes, rows)                                                                  \
    static __global__ void __launch_bounds__(lanes *rows)                                          \
        name(const __grid_constant__ tilemm__sgemm_splitk_t problem)                               \
    {                                                                                              \
        body<lanes, rows>(problem);                                                                \
    }
TILEMM__SGEMM_SPLITK_ROWS(KERNEL)

typedef struct {
    void (*kernel)(tilemm__sgemm_splitk_t);
    dim3 threads;
} variant_t;

#define VARIANT(name, lanes, rows) {name, dim3(lanes, rows)},
static const variant_t variants[] = {TILEMM__SGEMM_SPLITK_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_splitk_launch(const tilemm__sgemm_splitk_t *problem, void *stream)
{
    const variant_t &row = variants[problem->variant - TILEMM__sgemm_splitk_sm75_256x1];
    return launch_kernel(row.kernel, {problem->blocks, row.threads, 0, 1, problem->concurrent != 0},
                         (cudaStream_t)stream, *problem);
}
