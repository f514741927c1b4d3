/* probe.h - can this build run on the current device?
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_PROBE_H
#define TILEMM_KERNELS_CUDA_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

/* 0 if the build has code for the current device, else a cudaError_t. *cc is then the compute
 * capability that this code was compiled for, which may be less than the device's. */
int tilemm__cuda_probe(int *cc);

#ifdef __cplusplus
}
#endif

#endif
