/* invariant_sm90.cu - SGEMM in one launch on the tensor cores of compute capability 9.0, as
 * fused_sm90.cu, whose results' bits depend on what doc/numerics.md says alone
 * (fused_invariant_sm90.cuh).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Every row adds an element's products in the same order, and also its parts of k, be they a
 * cluster's, split-K's or one block's.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_kernel_sm90.cuh"

#define KERNEL(...) FUSED_KERNEL(INVARIANT_KIND, false, __VA_ARGS__)
TILEMM__SGEMM_INVARIANT_ROWS(KERNEL)

extern "C" int tilemm__sgemm_invariant_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_INVARIANT_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
