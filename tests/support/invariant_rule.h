/* invariant_rule.h - the orders of sums of invariant products on a GPU, as doc/numerics.md states
 * them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_INVARIANT_RULE_H
#define TILEMM_TESTS_SUPPORT_INVARIANT_RULE_H

#include "tests/support/tensor_core.h"

/* The shortest k that the tensor cores have. */
enum { LEAST_K_OF_PLANES = 32 };

/* A chain of multiply-adds over a part of k. */
static inline float invariant_chain(int64_t k, const float *a, const float *b, int64_t ldb)
{
    float sum = 0;
    for (int64_t p = 0; p < k; p++)
        sum = fmaf(a[p], b[p * ldb], sum);
    return sum;
}

/* The same in steps, of which the first has what is left, and is filled up with zeros. */
static inline float invariant_stepped_chain(int64_t k, const float *a, const float *b, int64_t ldb)
{
    enum { STEP = 16 };
    const int64_t first = k % STEP;
    float sum = invariant_chain(first, a, b, ldb);
    if (first > 0)
        sum += 0.0f;
    for (int64_t p = first; p < k; p++)
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
            part = tensor_core_bf16(x[H] + half, y[H] + half, part);
        total = fmaf(part, 0x1p-32f, total);
        part = 0;
        for (int half = 0; half < STEP_OF_PLANES; half += TENSOR_CORE_K)
            for (int i = 0; i < 5; i++)
                part = tensor_core_bf16(x[smaller[i][0]] + half, y[smaller[i][1]] + half, part);
    }
    return fmaf(part, 0x1p-32f, total);
}

/* Of element (i, j): a sum over each part of k, added up from 0 on; or one, whose chain zeros fill
 * up. */
static inline float invariant_sum_of(int fused, int is_hopper, int64_t k, const float *a,
                                     const float *b, int64_t ldb)
{
    if (is_hopper && k < LEAST_K_OF_PLANES)
        return invariant_chain(k, a, b, ldb) + (k % 4 == 0 ? -0.0f : 0.0f);
    enum { LONG_PART = 2048 };
    const int64_t step = fused ? 16 : STEP_OF_PLANES, least = fused ? 128 : 64;
    const int64_t few = fused ? 8 : k / LONG_PART > 4 ? k / LONG_PART : 4;
    const int64_t most = is_hopper ? few : 1;
    const int64_t parts = k / least < 1 ? 1 : k / least < most ? k / least : most;
    const int64_t part = (k + parts * step - 1) / (parts * step) * step;
    float all = 0;
    for (int64_t begin = 0; begin < k; begin += part) {
        const int64_t depth = k - begin < part ? k - begin : part;
        const float sum = (fused ? invariant_stepped_chain : invariant_part)(depth, a + begin,
                                                                             b + begin * ldb, ldb);
        all = depth == k ? sum : all + sum;
    }
    return all;
}

#endif
