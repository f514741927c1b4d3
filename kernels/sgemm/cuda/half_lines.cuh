/* half_lines.cuh - two FP16 planes of a line (a row of op(A), a column of op(B)) in a part of k,
 * and its class (carry.h). The rule is in doc/numerics.md.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The line is scaled by the power of two that brings the largest number of the part's first step,
 * 32 of k, to [2^10, 2^11): x 2^s = h + l, h = fp16(x 2^s), l = fp16(x 2^s - h). So no pass has to
 * find a scale, and l needs none of its own: numbers down to 2^-12 of that largest one keep 23
 * bits, and what smaller ones lose is less than 2^-35 of it.
 *
 * Half of the numbers are asked whether they are near, 2^4 or more in planes. A line is DENSE where
 * seven eighths of those are, HALF where a quarter is. It is neither if some number is 2^16 or more
 * in planes, or if those of the first step are zeros or below 2^-50; but one of zeros is DENSE. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_HALF_LINES_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_HALF_LINES_CUH

#include <cuda_runtime.h>

#include "carry.h"

enum {
    HALF_FIRST = 32,     /* of k, of which the largest number sets the scale */
    HALF_LOG2 = 10,      /* of that number, in planes */
    HALF_MOST_LOG2 = 60, /* of a scale, and of its inverse */
    HALF_NO_LOG2 = 126,  /* of the scale of a line that has none */
    HALF_NEAR = 0x4c00,  /* 2^4 in FP16 */
    HALF_INF = 0x7c00,   /* in FP16 */
    HALF_ASKED = 0xcc33, /* of 16 of k, a bit each: which are asked whether they are near */
    HALF_WORD_CLASS = 8  /* the first bit of the class in a word */
};

/* A line so far: its scale, how many numbers were near, and the largest |h|. The last two are FP16,
 * in either half. */
typedef struct {
    float scale;
    unsigned near, most;
} half_line_t;

/* The scale of a line whose largest number of the first step has the bits `largest`, no sign; of
 * one that is 0 or too small 2^HALF_NO_LOG2, with which no number but 0 vanishes from planes. */
[[maybe_unused]] static __device__ __forceinline__ float half_scale(unsigned largest)
{
    const int log2 = HALF_LOG2 + 127 - (int)(largest >> 23);
    const int bounded = log2 > HALF_MOST_LOG2 ? (int)HALF_NO_LOG2 : max(log2, -(int)HALF_MOST_LOG2);
    return __uint_as_float((unsigned)(127 + bounded) << 23);
}

/* Both planes of a pair of numbers. */
[[maybe_unused]] static __device__ __forceinline__ void half_pair(float x, float y, float scale,
                                                                  unsigned &high, unsigned &low)
{
    float hx, hy;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(y * scale), "f"(x * scale));
    asm("{\n"
        ".reg .b16 first, second;\n"
        "mov.b32 {first, second}, %2;\n"
        "cvt.f32.f16 %0, first;\n"
        "cvt.f32.f16 %1, second;\n"
        "}"
        : "=f"(hx), "=f"(hy)
        : "r"(high));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(low)
        : "f"(fmaf(y, scale, -hy)), "f"(fmaf(x, scale, -hx)));
}

/* Ask a pair of h whether they are near. */
[[maybe_unused]] static __device__ __forceinline__ void half_ask(unsigned h, half_line_t &line)
{
    asm("{\n"
        ".reg .b32 size, near;\n"
        "abs.f16x2 size, %1;\n"
        "set.ge.f16x2.f16x2 near, size, %2;\n"
        "add.f16x2 %0, %0, near;\n"
        "}"
        : "+r"(line.near)
        : "r"(h), "r"(HALF_NEAR * 0x10001));
}

/* Note a pair of h. */
[[maybe_unused]] static __device__ __forceinline__ void half_note(unsigned h, bool asked,
                                                                  half_line_t &line)
{
    asm("max.NaN.xorsign.abs.f16x2 %0, %0, %1;" : "+r"(line.most) : "r"(h));
    if (asked)
        half_ask(h, line);
}

/* The sum of both halves of a count. */
[[maybe_unused]] static __device__ __forceinline__ int half_count(unsigned near)
{
    float sum;
    asm("{\n"
        ".reg .b16 low, high;\n"
        ".reg .f32 x, y;\n"
        "mov.b32 {low, high}, %1;\n"
        "cvt.f32.f16 x, low;\n"
        "cvt.f32.f16 y, high;\n"
        "add.f32 %0, x, y;\n"
        "}"
        : "=f"(sum)
        : "r"(near));
    return (int)sum;
}

/* How many of the first `k` of a part are asked. */
[[maybe_unused]] static __device__ __forceinline__ int half_asked(int k)
{
    return k / 16 * 8 + __popc(HALF_ASKED & ((1u << k % 16) - 1));
}

/* The class of a line `near` of whose `asked` numbers are near, and whose largest |h| has the bits
 * `most`. */
[[maybe_unused]] static __device__ __forceinline__ unsigned half_class(float scale, int near,
                                                                       int asked, unsigned most)
{
    const bool has_no_scale = scale == __uint_as_float((127u + HALF_NO_LOG2) << 23);
    if (most >= HALF_INF || (has_no_scale && most > 0))
        return TILEMM__SGEMM_CARRY_NONE;
    if (has_no_scale || near * 8 >= asked * 7)
        return TILEMM__SGEMM_CARRY_DENSE;
    return near * 4 >= asked ? TILEMM__SGEMM_CARRY_HALF : TILEMM__SGEMM_CARRY_NONE;
}

/* What LANES lanes side by side have of a line together: how many numbers were near, and the
 * largest |h|. */
template <int LANES>
[[maybe_unused]] static __device__ __forceinline__ void half_gather(const half_line_t &line,
                                                                    int &near, unsigned &most)
{
    near = half_count(line.near);
    most = max(line.most & 0x7fff, line.most >> 16 & 0x7fff);
#pragma unroll
    for (int apart = 1; apart < LANES; apart *= 2) {
        near += __shfl_xor_sync(~0u, near, apart);
        most = max(most, __shfl_xor_sync(~0u, most, apart));
    }
}

/* The class of such a line, after `k` of its part. */
template <int LANES = 4>
[[maybe_unused]] static __device__ __forceinline__ unsigned half_class_of(const half_line_t &line,
                                                                          int k)
{
    int near;
    unsigned most;
    half_gather<LANES>(line, near, most);
    return half_class(line.scale, near, half_asked(k), most);
}

/* The least class of `count` lines, for all threads of the warp. */
[[maybe_unused]] static __device__ __forceinline__ unsigned half_least(const unsigned char *classes,
                                                                       unsigned count)
{
    unsigned least = TILEMM__SGEMM_CARRY_DENSE;
    for (unsigned i = threadIdx.x % 32; i < count; i += 32)
        least = min(least, (unsigned)classes[i]);
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2)
        least = min(least, __shfl_xor_sync(~0u, least, apart));
    return least;
}

/* What takes sums back from a line's scale. With that of the other line it is a float, too. */
[[maybe_unused]] static __device__ __forceinline__ float half_inverse(float scale)
{
    return __uint_as_float((254u << 23) - __float_as_uint(scale));
}

/* That and the class in one word. */
[[maybe_unused]] static __device__ __forceinline__ unsigned half_word(float inverse,
                                                                      unsigned its_class)
{
    return __float_as_uint(inverse) >> 23 | its_class << HALF_WORD_CLASS;
}

[[maybe_unused]] static __device__ __forceinline__ unsigned half_word_class(unsigned word)
{
    return word >> HALF_WORD_CLASS;
}

[[maybe_unused]] static __device__ __forceinline__ float half_word_inverse(unsigned word)
{
    return __uint_as_float(word << 23 & 0x7f800000);
}

#endif
