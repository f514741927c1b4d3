/* invariant_rule.h - the orders of sums of invariant products on a GPU, as doc/numerics.md states
 * them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_INVARIANT_RULE_H
#define TILEMM_TESTS_SUPPORT_INVARIANT_RULE_H

#include "tests/support/tensor_core.h"

/* Whether the tensor cores leave so short a k to multiply-adds. */
static inline int is_one_chain(int64_t k)
{
    return k < 64;
}

/* A chain of multiply-adds over a part of k. */
static inline float invariant_chain(int64_t k, const float *a, const float *b, int64_t ldb)
{
    float sum = 0;
    for (int64_t p = 0; p < k; p++)
        sum = fmaf(a[p], b[p * ldb], sum);
    return sum;
}

enum { STEP_OF_PLANES = 32, H = 0, M, L, PLANES };

/* The planes of a step of a line, 2^16 times its numbers; zeros after `depth`. Returns 0 if some
 * number is not for planes. */
static inline int invariant_planes(int64_t depth, const float *x, int64_t next,
                                   float (*planes)[STEP_OF_PLANES])
{
    const float limit = 0x1p45f - 0x1p36f;
    for (int p = 0; p < STEP_OF_PLANES; p++) {
        float left = p < depth ? x[p * next] : 0;
        if (!(fabsf(left) < limit))
            return 0;
        left *= 0x1p16f;
        for (int i = 0; i < PLANES; i++) {
            planes[i][p] = to_bf16(left);
            left -= planes[i][p];
        }
    }
    return 1;
}

/* Over a part of k: six products of planes. */
static inline float invariant_part(int64_t k, const float *a, const float *b, int64_t ldb)
{
    static const int smaller[][2] = {{M, M}, {H, L}, {L, H}, {H, M}, {M, H}};
    float x[PLANES][STEP_OF_PLANES], y[PLANES][STEP_OF_PLANES], total = 0, part = 0;
    for (int64_t p = 0; p < k; p += STEP_OF_PLANES) {
        if (!invariant_planes(k - p, a + p, 1, x) || !invariant_planes(k - p, b + p * ldb, ldb, y))
            return invariant_chain(k, a, b, ldb);
        for (int half = 0; half < STEP_OF_PLANES; half += TENSOR_CORE_K)
            part = tensor_core(tensor_core_bf16, x[H] + half, y[H] + half, part);
        total = fmaf(part, 0x1p-32f, total);
        part = 0;
        for (int half = 0; half < STEP_OF_PLANES; half += TENSOR_CORE_K)
            for (int i = 0; i < 5; i++)
                part = tensor_core(tensor_core_bf16, x[smaller[i][0]] + half,
                                   y[smaller[i][1]] + half, part);
    }
    return fmaf(part, 0x1p-32f, total);
}

/* ---- FP16 planes ---------------------------------------------------------------------------- */

enum { LEAST_K_OF_HALF = 513, MOST_K_OF_HALF = 32768, LOG2_OF_HALF = 10, NONE = 0, HALF, DENSE };

/* A line's class in a part of k, by its planes' larger ones. */
static inline int half_class(int64_t k, const float *high)
{
    int64_t near = 0, asked = 0;
    float most = 0;
    for (int64_t p = 0; p < k; p++) {
        if (!(fabsf(high[p]) < INFINITY))
            return NONE;
        if (0xcc33 >> p % 16 & 1) {
            asked++;
            near += fabsf(high[p]) >= 16;
        }
        most = fmaxf(most, fabsf(high[p]));
    }
    return most == 0 || near * 8 >= asked * 7 ? DENSE : near * 4 >= asked ? HALF : NONE;
}

/* The planes of a line in a part of k, filled up with zeros; their class. *log2 is that of the
 * scale. */
static inline int half_planes(int64_t k, const float *x, int64_t next, float *high, float *low,
                              int *log2)
{
    float most = 0;
    for (int64_t p = 0; p < k && p < STEP_OF_PLANES; p++)
        most = fabsf(x[p * next]) <= most ? most : fabsf(x[p * next]); /* or NaN */
    int exponent = isfinite(most) ? -126 : 128;
    if (isfinite(most) && most >= 0x1p-126f) {
        frexpf(most, &exponent);
        exponent--;
    } else if (isfinite(most)) {
        exponent = -127;
    }
    *log2 = LOG2_OF_HALF - exponent;
    const int has_scale = *log2 <= 60;
    *log2 = !has_scale ? 0 : *log2 < -60 ? -60 : *log2;
    for (int64_t p = 0; p < (k + STEP_OF_PLANES - 1) / STEP_OF_PLANES * STEP_OF_PLANES; p++) {
        const float scaled = p < k ? ldexpf(x[p * next], *log2) : 0;
        high[p] = isfinite(scaled) ? to_fp16(scaled) : INFINITY;
        low[p] = isfinite(high[p]) ? to_fp16(scaled - high[p]) : 0;
    }
    if (!has_scale) /* zeros, or too small */
        for (int64_t p = 0; p < k; p++)
            if (x[p * next] != 0) /* NaN too */
                return NONE;
    return has_scale ? half_class(k, high) : DENSE;
}

/* Over a part of k, three products of FP16 planes; the classes of both lines are lowered to those
 * of the part, and if planes do not carry the element, the result is any. */
static inline float half_part(int64_t k, const float *a, const float *b, int64_t ldb, int *class_a,
                              int *class_b)
{
    enum { MOST_PART = MOST_K_OF_HALF / 4 + STEP_OF_PLANES };
    static float x[2][MOST_PART], y[2][MOST_PART];
    int log2_a, log2_b;
    const int of_a = half_planes(k, a, 1, x[0], x[1], &log2_a);
    const int of_b = half_planes(k, b, ldb, y[0], y[1], &log2_b);
    float total = 0, part = 0;
    *class_a = of_a < *class_a ? of_a : *class_a;
    *class_b = of_b < *class_b ? of_b : *class_b;
    if (*class_a + *class_b < HALF + DENSE)
        return 0;
    for (int64_t p = 0; p < k; p += STEP_OF_PLANES) {
        for (int half = 0; half < STEP_OF_PLANES; half += TENSOR_CORE_K)
            part = tensor_core(tensor_core_fp16, x[0] + p + half, y[0] + p + half, part);
        total += part;
        part = 0;
        for (int half = 0; half < STEP_OF_PLANES; half += TENSOR_CORE_K) {
            part = tensor_core(tensor_core_fp16, x[0] + p + half, y[1] + p + half, part);
            part = tensor_core(tensor_core_fp16, x[1] + p + half, y[0] + p + half, part);
        }
    }
    return ldexpf(total + part, -log2_a - log2_b);
}

/* The sum over all parts of k. Returns whether planes carry the element. */
static inline int half_sum(int64_t k, const float *a, const float *b, int64_t ldb, float *sum)
{
    const int64_t parts = 4;
    const int64_t part =
        (k + parts * STEP_OF_PLANES - 1) / (parts * STEP_OF_PLANES) * STEP_OF_PLANES;
    int class_a = DENSE, class_b = DENSE;
    if (k < LEAST_K_OF_HALF || k > MOST_K_OF_HALF)
        return 0;
    *sum = 0;
    for (int64_t begin = 0; begin < k; begin += part) {
        const int64_t depth = k - begin < part ? k - begin : part;
        *sum += half_part(depth, a + begin, b + begin * ldb, ldb, &class_a, &class_b);
    }
    return class_a + class_b >= HALF + DENSE;
}

/* ---- all kernels ---------------------------------------------------------------------------- */

/* Of element (i, j): a sum over each part of k, added up from 0 on; or one, to which multiply-adds
 * (`fused`) add 0. */
static inline float invariant_sum_of(int fused, int is_hopper, int64_t k, const float *a,
                                     const float *b, int64_t ldb)
{
    enum { LONG_PART = 2048, FOUR_PARTS = 256 };
    fused |= is_hopper && is_one_chain(k);
    const int64_t step = fused ? 16 : STEP_OF_PLANES;
    const int64_t chains = k / 128 < 1 ? 1 : k / 128 < 8 ? k / 128 : 8;
    const int64_t sums = k < FOUR_PARTS ? 1 : k / LONG_PART > 4 ? k / LONG_PART : 4;
    const int64_t parts = !is_hopper ? 1 : fused ? chains : sums;
    const int64_t part = (k + parts * step - 1) / (parts * step) * step;
    float all = 0;
    if (!fused && half_sum(k, a, b, ldb, &all))
        return all;
    all = 0;
    for (int64_t begin = 0; begin < k; begin += part) {
        const int64_t depth = k - begin < part ? k - begin : part;
        const float sum =
            (fused ? invariant_chain : invariant_part)(depth, a + begin, b + begin * ldb, ldb);
        all = depth == k && !fused ? sum : all + sum;
    }
    return all;
}

#endif
