/* align_sm90.cu - operands that the copy engine cannot read, copied to rows that it can (align.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads lie along rows; all numbers of an item are read before the first is written.
 *
 * Assumes compute capability 9.0: the next kernel starts while this one ends. */
#include <cuda_runtime.h>

#include "align.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/sgemm/variants.h"
#include "route.h"

enum { COLUMNS = TILEMM__SGEMM_ROW_WALK_COLUMNS };

static __device__ __forceinline__ void copy_operand(const tilemm__sgemm_align_operand_t &operand,
                                                    unsigned block)
{
    walk_rows(operand.walk, block, [&](int64_t row, int64_t column) {
        const uint64_t matrix = (uint64_t)row / (uint64_t)operand.rows;
        const float *const first =
            operand.array ? operand.array[matrix] : operand.from + (int64_t)matrix * operand.stride;
        const float *__restrict__ const from =
            first + (row - (int64_t)matrix * operand.rows) * operand.ld;
        float *__restrict__ const to = operand.to + row * operand.ld_to;
        float x[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int64_t j = column + i * (int64_t)operand.walk.across;
            x[i] = j < operand.cols ? from[j] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int64_t j = column + i * (int64_t)operand.walk.across;
            if (j < operand.ld_to)
                to[j] = x[i];
        }
    });
}

static __device__ __forceinline__ void copy_operands(const tilemm__sgemm_align_t &problem)
{
    const unsigned first = problem.operand[0].walk.blocks;
    wait_for_previous();
    let_next_start();
    if (problem.left && !(*problem.left & TILEMM__SGEMM_BY_BF16))
        return;
    if (blockIdx.x < first)
        copy_operand(problem.operand[0], blockIdx.x);
    else
        copy_operand(problem.operand[1], blockIdx.x - first);
}

#define ALIGN(name, threads)                                                                       \
    KERNEL_OF(name, (threads), (const __grid_constant__ tilemm__sgemm_align_t problem),            \
              copy_operands(problem))
TILEMM__SGEMM_ALIGN_ROWS(ALIGN)

extern "C" int tilemm__sgemm_align_launch(const tilemm__sgemm_align_t *problem, void *stream)
{
    return launch_kernel(sgemm_align_sm90,
                         {problem->blocks, TILEMM__SGEMM_ROW_WALK_THREADS, 0, 1, true},
                         (cudaStream_t)stream, *problem);
}
