/* tensor_core.h - what a tensor core of compute capability 9.0 makes of 16 products of BF16 or FP16
 * numbers and an FP32 sum (wgmma, k16), in integers.
 *
 * The products are exact. All terms are cut off at a common last bit, 25 bits below the largest
 * exponent among them (a product's is the sum of its factors'; zeros have none) or below -133, if
 * that is larger; added exactly; and the result is cut off to FP32.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_TENSOR_CORE_H
#define TILEMM_TESTS_SUPPORT_TENSOR_CORE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { TENSOR_CORE_K = 16, TENSOR_CORE_BITS = 25 };

/* The nearest number of BF16, ties to even, of a finite one. */
static inline float to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* The nearest number of FP16, ties to even, of a finite one: in FP16, Inf from 65520 on. */
static inline float to_fp16(float x)
{
    int exponent;
    if (!(fabsf(x) < 65520))
        return x > 0 ? INFINITY : -INFINITY;
    frexpf(x, &exponent); /* |x| < 2^exponent */
    const int last = (exponent - 1 > -14 ? exponent - 1 : -14) - 10;
    return ldexpf(rintf(ldexpf(x, -last)), last);
}

/* A number format of products: bits after the first one, and the exponent of subnormal numbers. */
typedef struct {
    int bits, least;
} tensor_core_format_t;

static const tensor_core_format_t tensor_core_fp32 = {23, -126}, tensor_core_bf16 = {7, -126},
                                  tensor_core_fp16 = {10, -14};

/* x, of that format, is the result * 2^(*exponent - format.bits). */
static inline int64_t tensor_core_significand(float x, tensor_core_format_t format, int *exponent)
{
    int beyond;
    if (x == 0) {
        *exponent = format.least;
        return 0;
    }
    frexpf(x, &beyond);
    *exponent = beyond - 1 > format.least ? beyond - 1 : format.least;
    return (int64_t)ldexp((double)x, format.bits - *exponent);
}

/* sum + a[0] b[0] + ... + a[15] b[15], of finite numbers. */
static inline float tensor_core(tensor_core_format_t format, const float *a, const float *b,
                                float sum)
{
    enum { LEAST = -133, FP32_BITS = 23 };
    int64_t term[TENSOR_CORE_K + 1]; /* times 2^(exponent - 23) */
    int exponent[TENSOR_CORE_K + 1], most = LEAST;
    for (int i = 0; i < TENSOR_CORE_K; i++) {
        int of_b;
        const int64_t x = tensor_core_significand(a[i], format, &exponent[i]);
        const int64_t y = tensor_core_significand(b[i], format, &of_b);
        term[i] = x * y * (1 << (FP32_BITS - 2 * format.bits));
        exponent[i] += of_b;
    }
    term[TENSOR_CORE_K] = tensor_core_significand(sum, tensor_core_fp32, &exponent[TENSOR_CORE_K]);
    for (int i = 0; i <= TENSOR_CORE_K; i++)
        if (term[i] != 0 && exponent[i] > most)
            most = exponent[i];
    int64_t all = 0; /* times 2^(most - BITS) */
    for (int i = 0; i <= TENSOR_CORE_K; i++) {
        const int down = most - exponent[i];
        if (down < 32) /* towards zero */
            all += term[i] * (1 << (TENSOR_CORE_BITS - 23)) / ((int64_t)1 << down);
    }
    /* To FP32, towards zero: at most 24 bits, and none below 2^-149. */
    int last = most - TENSOR_CORE_BITS;
    for (; last < -149 || all >= 1 << 24 || all <= -(1 << 24); last++)
        all /= 2;
    return all == 0 ? 0.0f : ldexpf((float)all, last);
}

#endif
