/* half_sm90.cu - invariant products in one launch on the tensor cores of compute capability 9.0,
 * from two FP16 planes that the kernel makes itself (fused_half_sm90.cuh). What these do not carry
 * is for invariant_sm90.cu, afterwards.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes compute capability 9.0 (sm_90a); parts of k of at most 32768, so that counts of near
 * numbers are exact in FP16; one split, or a cluster whose blocks have a part each. */
#include <cuda_runtime.h>

#include "fused_half_sm90.cuh"
#include "fused_kernel_sm90.cuh"

#define KERNEL(name, m, n, a_k, b_k, transposed, bulk)                                             \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, HALF_KIND> name##_t;                         \
    FUSED_KERNEL_OF(name, convert_b_half, multiply_half_items, add_up_half)
TILEMM__SGEMM_HALF_ROWS(KERNEL)

extern "C" int tilemm__sgemm_half_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_HALF_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
