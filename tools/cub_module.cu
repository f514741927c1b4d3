/* cub_module.cu - CUB's DeviceReduce behind C functions, to compare with (tools/reference.h).
 *
 * A module of its own, loaded at run time: CUB is C++, and neither the library nor the command
 * depends on it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include <stddef.h>
#include <stdint.h>

#define MODULE_API extern "C" __attribute__((visibility("default")))

MODULE_API int tilemm_cub_version(void)
{
    return CUB_VERSION;
}

MODULE_API int tilemm_cub_sum(void *workspace, size_t *workspace_bytes, const float *x, int64_t n,
                              float *result, void *stream)
{
    return (int)cub::DeviceReduce::Sum(workspace, *workspace_bytes, x, result, n,
                                       (cudaStream_t)stream);
}

MODULE_API int tilemm_cub_max(void *workspace, size_t *workspace_bytes, const float *x, int64_t n,
                              float *result, void *stream)
{
    return (int)cub::DeviceReduce::Max(workspace, *workspace_bytes, x, result, n,
                                       (cudaStream_t)stream);
}

MODULE_API int tilemm_cub_min(void *workspace, size_t *workspace_bytes, const float *x, int64_t n,
                              float *result, void *stream)
{
    return (int)cub::DeviceReduce::Min(workspace, *workspace_bytes, x, result, n,
                                       (cudaStream_t)stream);
}
