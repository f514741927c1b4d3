/* naive.cu - transpose, step 1: each thread moves one element. Shows what a strided store costs:
 * a warp reads 32 neighbours, and writes each to another row, 4 bytes of a 32-byte sector.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

enum { COLS = 32, ROWS = 8 }; /* of a block */

static __global__ void naive(float *out, const float *in, int rows, int cols)
{
    const size_t col = blockIdx.x * COLS + threadIdx.x;
    const size_t row = blockIdx.y * ROWS + threadIdx.y;

    out[col * rows + row] = in[row * cols + col];
}

int main(int argc, char **argv)
{
    example_begin("transpose 1: naive, each thread moves one element", 50);
    predict_global("load", 4, false, [](int lane) { return lane * 4; });
    predict_global("store, 8192 rows", 4, true, [](int lane) { return lane * 4 * 8192; });
    return transpose_ladder(argc, argv, naive, dim3(COLS, ROWS), dim3(COLS, ROWS));
}
