/* invariant.c - see invariant.h. Compiled without contraction, as plans are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include <math.h>

#include "lib/size.h"
#include "plan_cpu.h"

float tilemm__sgemm_plain(int64_t k, const float *a, int64_t step_a, const float *b, int64_t step_b)
{
    enum { CHAIN = TILEMM__SGEMM_INVARIANT_CHAIN };
    float all = 0;
    for (int64_t p = 0; p < k;) {
        const int64_t end = tilemm__min(p + CHAIN, k);
        const int is_first = p == 0;
        float chain = 0;
        for (; p < end; p++)
            chain = fmaf(a[p * step_a], b[p * step_b], chain);
        all = is_first ? chain : all + chain;
    }
    return all;
}

void tilemm__sgemm_epilogue(int64_t n, float alpha, const float *sum, float beta, float *c)
{
    if (beta == 0)
        for (int64_t j = 0; j < n; j++)
            c[j] = alpha * sum[j];
    else
        for (int64_t j = 0; j < n; j++)
            c[j] = alpha * sum[j] + beta * c[j];
}
