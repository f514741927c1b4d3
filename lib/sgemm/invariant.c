/* invariant.c - see invariant.h. Compiled without contraction, as plans are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include <math.h>

#include "lib/size.h"
#include "plan_cpu.h"

enum { BLOCK = TILEMM__SGEMM_INVARIANT_BLOCK, CHAIN = TILEMM__SGEMM_INVARIANT_CHAIN };

float tilemm__sgemm_plain(int64_t k, const float *a, int64_t step_a, const float *b, int64_t step_b)
{
    float all = 0;
    for (int64_t first = 0; first < k; first += BLOCK) {
        const int64_t end = tilemm__min(first + BLOCK, k);
        float block = 0;
        for (int64_t p = first; p < end;) {
            const int64_t chain_end = tilemm__min(p + CHAIN, end);
            const int is_first = p == first;
            float chain = 0;
            for (; p < chain_end; p++)
                chain = fmaf(a[p * step_a], b[p * step_b], chain);
            block = is_first ? chain : chain + block;
        }
        all = first == 0 ? block : block + all;
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
