/* half_parts_sm90.cu - the sum of the parts of k of an invariant product from FP16 planes
 * (half_parts.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread adds up an element of C at a time, its parts in their order.
 *
 * Assumes compute capability 9.0. */
#include <cuda_runtime.h>

#include "half_parts.h"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"

typedef tilemm__sgemm_half_parts_t problem_t;

enum { THREADS = 256 };

/* The least class of line `line` of a matrix, of `lines`. */
static __device__ __forceinline__ unsigned least_class(const problem_t &problem,
                                                       const unsigned char *classes, int64_t matrix,
                                                       int64_t lines, int64_t line)
{
    unsigned least = TILEMM__SGEMM_CARRY_DENSE;
    for (int part = 0; part < problem.parts; part++)
        least = min(least,
                    (unsigned)classes[(part * problem.args.batch_count + matrix) * lines + line]);
    return least;
}

static __device__ __forceinline__ void add_parts(const problem_t &problem)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const tilemm__sgemm_carry_t &carry = problem.carry;
    const bool t = problem.transposed;
    let_next_start();
    wait_for_previous();
    for (int64_t at = blockIdx.x * (int64_t)THREADS + threadIdx.x; at < problem.count;
         at += (int64_t)gridDim.x * THREADS) {
        const int64_t line = at / args.n, j = at - line * args.n;
        const int64_t matrix = line / args.m, i = line - matrix * args.m;
        float *const c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
        float sum = 0.0f;
        for (int part = 0; part < problem.parts; part++)
            sum += problem.partial[part * problem.count + at];
        const unsigned of_row =
            least_class(problem, t ? problem.classes_b : problem.classes_a, matrix, args.m, i);
        const unsigned of_column =
            least_class(problem, t ? problem.classes_a : problem.classes_b, matrix, args.n, j);
        const bool is_carried = of_row + of_column >= TILEMM__SGEMM_CARRY_LEAST;
        if (j == 0)
            (t ? carry.b : carry.a)[matrix * args.m + i] = (unsigned char)of_row;
        if (i == 0)
            (t ? carry.a : carry.b)[matrix * args.n + j] = (unsigned char)of_column;
        if (!is_carried) {
            const int64_t row = i / problem.tile_m, col = j / problem.tile_n;
            const int64_t tile =
                (matrix * problem.rows + (t ? col : row)) * problem.cols + (t ? row : col);
            carry.left[tile * TILEMM__SGEMM_CARRY_SLOTS] = 1; /* which was 0 */
        }
        if (is_carried || args.beta == 0.0f)
            epilogue_store(c + i * args.ldc + j, sum, args.alpha, args.beta);
    }
}

#define HALF_PARTS(name, threads)                                                                  \
    static __global__ void __launch_bounds__(threads)                                              \
        name(const __grid_constant__ problem_t problem)                                            \
    {                                                                                              \
        static_assert(threads == THREADS, "what the kernel is written for");                       \
        add_parts(problem);                                                                        \
    }
TILEMM__SGEMM_HALF_PARTS_ROWS(HALF_PARTS)

extern "C" int tilemm__sgemm_half_parts_launch(const problem_t *problem, void *stream)
{
    return launch_kernel(sgemm_half_parts_sm90, {problem->blocks, THREADS, 0, 1, true},
                         (cudaStream_t)stream, *problem);
}
