/* swizzled.cu - transpose, step 4: a tile whose columns are permuted, another way in each row.
 * Shows that a swizzle does what padding does, and wastes no memory: after an exclusive or with the
 * row's number a column meets every bank once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "tile.h"

static __host__ __device__ int at(int row, int col)
{
    return row * EDGE + (col ^ row);
}

int main(int argc, char **argv)
{
    return run<EDGE * EDGE>(argc, argv, "transpose 4: a swizzled tile");
}
