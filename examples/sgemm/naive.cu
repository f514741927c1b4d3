/* naive.cu - SGEMM, step 1: a thread for each element of C. Shows the start of the ladder: every
 * multiply-add is paid with two loads, which are coalesced (B) or broadcast (A), and only the
 * caches keep them from memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

enum { COLS = 32, ROWS = 8 }; /* of a block */

static __global__ void naive(float *c, const float *a, const float *b, int n)
{
    const size_t col = blockIdx.x * COLS + threadIdx.x;
    const size_t row = blockIdx.y * ROWS + threadIdx.y;
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[(size_t)k * n + col];
    c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 1: naive, a thread for each element of C", 50);
    predict_global("load of A", 4, false, [](int) { return 0; });
    predict_global("load of B", 4, false, [](int lane) { return lane * 4; });
    return sgemm_ladder(argc, argv, "naive", naive, COLS, ROWS, dim3(COLS, ROWS));
}
