/* exact_lines.cu - the kernel that computes the exact lines of a product of planes, where
 * rest_sm90.cu does not.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "exact_lines.cuh"
#include "kernels/cuda/launch.cuh"

/* In the least shared memory of a multiprocessor of compute capability 8. */
typedef exact_lines::shared_t<4> shared_t;
static_assert(sizeof(shared_t) <= 99 << 10, "what a block may have");

#define EXACT_LINES(name, threads)                                                                 \
    static __global__ void __launch_bounds__(threads, TILEMM__SGEMM_EXACT_BLOCKS)                  \
        name(const __grid_constant__ tilemm__sgemm_exact_lines_t problem)                          \
    {                                                                                              \
        static_assert(threads == exact_lines::THREADS, "what the code is written for");            \
        extern __shared__ __align__(16) unsigned char memory[];                                    \
        wait_for_previous();                                                                       \
        if (*problem.left & TILEMM__SGEMM_BY_LINES)                                                \
            exact_lines::compute(problem, true, *(shared_t *)memory);                              \
    }
TILEMM__SGEMM_EXACT_LINES_ROWS(EXACT_LINES)

extern "C" int tilemm__sgemm_exact_lines_launch(const tilemm__sgemm_exact_lines_t *problem,
                                                void *stream)
{
    return launch_kernel(
        sgemm_exact_lines_sm80,
        {problem->blocks, exact_lines::THREADS, sizeof(shared_t), 1, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
