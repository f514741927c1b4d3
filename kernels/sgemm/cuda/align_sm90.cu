/* align_sm90.cu - operands that the copy engine cannot read, copied to rows that it can (align.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Each thread copies four numbers, which lie side by side in one row, and stores them as one.
 *
 * Assumes compute capability 9.0: the next kernel starts while this one ends. */
#include <cuda_runtime.h>

#include "align.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/sgemm/variants.h"

enum { THREADS = TILEMM__SGEMM_ALIGN_THREADS, EACH = 4 /* numbers of a thread */ };
static_assert(TILEMM__SGEMM_ALIGN_BLOCK == THREADS * EACH, "numbers of a block");

/* x / d, by = tilemm__division_by(d). */
static __device__ __forceinline__ uint64_t divided_long(uint64_t x, uint64_t d,
                                                        tilemm__division_t by)
{
    return x >> 31 == 0 ? divided((uint32_t)x, by) : x / d;
}

static __device__ __forceinline__ void copy_operand(const tilemm__sgemm_align_operand_t &operand,
                                                    unsigned block)
{
    const int64_t all = (int64_t)operand.blocks * TILEMM__SGEMM_ALIGN_BLOCK;
    for (int64_t at = (int64_t)block * TILEMM__SGEMM_ALIGN_BLOCK + threadIdx.x * EACH;
         at < operand.count; at += all) {
        const uint64_t line = divided_long(at, operand.ld_to, operand.by_ld_to);
        const uint64_t matrix = divided_long(line, operand.rows, operand.by_rows);
        const int64_t column = at - line * operand.ld_to, row = line - matrix * operand.rows;
        const float *const from =
            (operand.array ? operand.array[matrix] : operand.from + matrix * operand.stride) +
            row * operand.ld + column;
        float x[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            x[i] = column + i < operand.cols ? __ldg(from + i) : 0.0f;
        *(float4 *)(operand.to + at) = make_float4(x[0], x[1], x[2], x[3]);
    }
}

static __device__ __forceinline__ void copy_operands(const tilemm__sgemm_align_t &problem)
{
    const unsigned first = problem.operand[0].blocks;
    wait_for_previous();
    let_next_start();
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
    return launch_kernel(sgemm_align_sm90, {problem->blocks, THREADS, 0, 1, true},
                         (cudaStream_t)stream, *problem);
}
