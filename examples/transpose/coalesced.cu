/* coalesced.cu - transpose, step 2: through a tile in shared memory. Shows coalescing and what bank
 * conflicts cost: global memory is read and written along rows now, but a column of the tile lies
 * in one bank, so that each load takes 32 wavefronts.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "tile.h"

static __host__ __device__ int at(int row, int col)
{
    return row * EDGE + col;
}

int main(int argc, char **argv)
{
    return run<EDGE * EDGE>(argc, argv, "transpose 2: through a shared tile, coalesced");
}
