/* layout.h - what the index functions of each operation's layout.h are declared with, in C and
 * CUDA.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_LAYOUT_H
#define TILEMM_KERNELS_LAYOUT_H

#include <stdint.h>

#ifdef __CUDACC__
#define TILEMM__LAYOUT static constexpr __host__ __device__ __forceinline__
#else
#define TILEMM__LAYOUT static inline
#endif

#endif
