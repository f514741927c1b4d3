/* mma.cuh - products of a warp on the tensor cores (PTX mma.sync).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_MMA_CUH
#define TILEMM_KERNELS_CUDA_MMA_CUH

#include <cuda_runtime.h>

/* If `yes`, sum += a b, 16 x 16 by 16 x 8. Lane 4 i + j has of a rows i and i + 8, k 2 j and 2 j +
 * 1, in the first two words, and k 8 further on in the others; of b column i and the same k; of the
 * sum both rows, one after the other, and columns 2 j and 2 j + 1. */
#define MMA(name, types)                                                                           \
    [[maybe_unused]] static __device__ __forceinline__ void name(                                  \
        float(&sum)[4], const unsigned(&a)[4], const unsigned(&b)[2], bool yes = true)             \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     ".reg .pred yes;\n"                                                           \
                     "setp.ne.b32 yes, %10, 0;\n"                                                  \
                     "@yes mma.sync.aligned.m16n8k16.row.col.f32." types ".f32 {%0, %1, %2, %3}, " \
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"                             \
                     "}"                                                                           \
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),           \
                       "r"((int)yes));                                                             \
    }

/* Compute capability 8.0. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MMA(mma_fp16, "f16.f16")
MMA(mma_bf16, "bf16.bf16")
#endif

#endif
