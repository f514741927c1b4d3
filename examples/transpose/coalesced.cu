/* coalesced.cu - transpose, step 2: through a tile in shared memory. Shows coalescing and what bank
 * conflicts cost: global memory is read and written along rows now, but a column of the tile lies
 * in one bank, so that each load takes 32 wavefronts.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

enum { EDGE = 32, ROWS = 8 }; /* a block of EDGE x ROWS threads moves a tile of EDGE x EDGE */

/* Where the element of that row and column lies in the tile. */
static __host__ __device__ int at(int row, int col)
{
    return row * EDGE + col;
}

static __global__ void coalesced(float *out, const float *in, int rows, int cols)
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
    coalesced<<<dim3(cols / EDGE, rows / EDGE), dim3(EDGE, ROWS), 0, stream>>>(out, in, rows, cols);
}

int main(int argc, char **argv)
{
    example_begin("transpose 2: through a shared tile, coalesced", 50);
    predict_global("load and store", 4, false, [](int lane) { return lane * 4; });
    predict_shared("store, a row of the tile", 4, true, [](int lane) { return at(0, lane) * 4; });
    predict_shared("load, a column of it", 4, false, [](int lane) { return at(lane, 0) * 4; });
    return transpose_ladder(argc, argv, step);
}
