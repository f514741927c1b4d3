/* probe.cu - can this build run on the current device?
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime_api.h>

#include "probe.h"

static __global__ void probe(void)
{
}

extern "C" int tilemm__cuda_probe(int *cc)
{
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, probe);
    (void)cudaGetLastError();
    if (error == cudaSuccess)
        *cc = attributes.ptxVersion;
    return (int)error;
}
