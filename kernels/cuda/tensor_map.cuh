/* tensor_map.cuh - descriptions of tensors in global memory for the bulk tensor copy engine.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_TENSOR_MAP_CUH
#define TILEMM_KERNELS_CUDA_TENSOR_MAP_CUH

#include <cuda.h>
#include <cuda_runtime.h>

typedef CUresult (*tensor_encode_t)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                    const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                    const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                    CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The driver's function, or 0. Found through the runtime, so that nothing links against the driver.
 */
static tensor_encode_t tensor_encoder(void)
{
    void *function = 0;
    cudaDriverEntryPointQueryResult found;

    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return 0;
    return (tensor_encode_t)function;
}

/* Describe a tensor of `rank` sizes, the fastest first, in elements. `pitch` has the distances in
 * bytes along all but the first. A copy brings a box of `box` elements, which has the swizzle in
 * shared memory, and zeros where it lies outside the tensor. */
static bool tensor_describe(tensor_encode_t encode, CUtensorMap *map, CUtensorMapDataType type,
                            cuuint32_t rank, const void *data, const cuuint64_t *size,
                            const cuuint64_t *pitch, const cuuint32_t *box,
                            CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B)
{
    const cuuint32_t step[3] = {1, 1, 1};
    return encode(map, type, rank, (void *)data, size, pitch, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

#endif
