/* unaligned_sm90.cu - SGEMM in one launch on the tensor cores of compute capability 9.0, as
 * fused_sm90.cu and invariant_sm90.cu, of operands whose rows begin anywhere: the copy engine
 * brings them by phases of rows (layout.h), or threads copy them (fused_copy_sm90.cuh).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_kernel_sm90.cuh"

#define KERNEL(...) FUSED_KERNEL(FUSED_KIND, true, __VA_ARGS__)
TILEMM__SGEMM_UNALIGNED_ROWS(KERNEL)

#define INVARIANT_KERNEL(...) FUSED_KERNEL(INVARIANT_KIND, true, __VA_ARGS__)
TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(INVARIANT_KERNEL)

extern "C" int tilemm__sgemm_unaligned_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_UNALIGNED_ROWS(LAUNCH)
        TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
