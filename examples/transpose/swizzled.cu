/* swizzled.cu - transpose, step 4: a tile whose columns are permuted, another way in each row.
 * Shows that a swizzle does what padding does, and wastes no memory: after an exclusive or with the
 * row's number a column meets every bank once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

enum { EDGE = 32, ROWS = 8 }; /* a block of EDGE x ROWS threads moves a tile of EDGE x EDGE */

/* Where the element of that row and column lies in the tile. */
static __host__ __device__ int at(int row, int col)
{
    return row * EDGE + (col ^ row);
}

static __global__ void swizzled(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[EDGE * EDGE];
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < EDGE; y += ROWS)
        tile[at(y, x)] = in[(row + y) * cols + col + x];
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += ROWS)
        out[(col + y) * rows + row + x] = tile[at(x, y)];
}

static void step(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    swizzled<<<dim3(cols / EDGE, rows / EDGE), dim3(EDGE, ROWS), 0, stream>>>(out, in, rows, cols);
}

int main(int argc, char **argv)
{
    example_begin("transpose 4: a swizzled tile", 50);
    predict_global("load and store", 4, false, [](int lane) { return lane * 4; });
    predict_shared("store, a row of the tile", 4, true, [](int lane) { return at(0, lane) * 4; });
    predict_shared("load, a column of it", 4, false, [](int lane) { return at(lane, 0) * 4; });
    return transpose_ladder(argc, argv, step);
}
