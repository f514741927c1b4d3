/* bf16_pair.cuh - pairs of numbers in BF16 planes, x = h + m + l.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_BF16_PAIR_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_BF16_PAIR_CUH

#include <cuda_runtime.h>

static __device__ __forceinline__ unsigned bf16_pair(float low, float high)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/* The next plane of a pair, of which what is left stays. */
static __device__ __forceinline__ unsigned bf16_plane(float &low, float &high)
{
    const unsigned pair = bf16_pair(low, high);
    low -= __uint_as_float(pair << 16);
    high -= __uint_as_float(pair & 0xffff0000);
    return pair;
}

/* The numbers of a pair again, whose planes have all their bits. */
static __device__ __forceinline__ void bf16_numbers(unsigned h, unsigned m, unsigned l, float &low,
                                                    float &high)
{
    const unsigned HIGH = 0xffff0000;
    low = __uint_as_float(h << 16) + (__uint_as_float(m << 16) + __uint_as_float(l << 16));
    high = __uint_as_float(h & HIGH) + (__uint_as_float(m & HIGH) + __uint_as_float(l & HIGH));
}

/* The largest |h| so far, in either half of `most`; the signs are any. */
static __device__ __forceinline__ void bf16_note(unsigned h, unsigned &most)
{
    asm("max.NaN.xorsign.abs.bf16x2 %0, %0, %1;" : "+r"(most) : "r"(h));
}

/* That, as BF16. */
static __device__ __forceinline__ unsigned bf16_most(unsigned most)
{
    return max(most & 0x7fff, most >> 16 & 0x7fff);
}

#endif
