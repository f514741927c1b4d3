/* tile.h - steps 2 to 4 of the transpose ladder: through a tile in shared memory of CELLS floats,
 * where the element of a row and a column lies at at(row, col), which a step defines.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

enum { EDGE = 32, ROWS = 8 }; /* a block of EDGE x ROWS threads moves a tile of EDGE x EDGE */

static __host__ __device__ int at(int row, int col);

template <int CELLS>
static __global__ void through_tile(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[CELLS];
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < EDGE; y += ROWS)
        tile[at(y, x)] = in[(row + y) * cols + col + x];
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += ROWS)
        out[(col + y) * rows + row + x] = tile[at(x, y)];
}

template <int CELLS>
static int run(int argc, char **argv, const char *what)
{
    example_begin(what, 50);
    predict_global("load and store", 4, false, [](int lane) { return lane * 4; });
    predict_shared("store, a row of the tile", 4, true, [](int lane) { return at(0, lane) * 4; });
    predict_shared("load, a column of it", 4, false, [](int lane) { return at(lane, 0) * 4; });
    return transpose_ladder(argc, argv, through_tile<CELLS>, dim3(EDGE, EDGE), dim3(EDGE, ROWS));
}
