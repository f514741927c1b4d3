/* fused_sm90.cu - SGEMM in one launch on the tensor cores of compute capability 9.0: "fused" means
 * that the three BF16 planes of split precision (fused.h) are made inside the kernel.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C, k in steps of 32. The copy engine brings steps of both operands
 * to queues in shared memory. The planes of op(B) are in a ring there, those of op(A) in registers,
 * from which the tensor cores take them as well. Where C has few rows, the kernel computes the
 * transposed product.
 *
 * Roles: fused_multiply_sm90.cuh.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_kernel_sm90.cuh"

#define KERNEL(...) FUSED_KERNEL(FUSED_KIND, false, __VA_ARGS__)
TILEMM__SGEMM_FUSED_ROWS(KERNEL)

extern "C" int tilemm__sgemm_fused_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_FUSED_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
