/* vectorised.cu - transpose, step 5: 16 bytes at a time. Shows wide accesses on every side: each
 * thread transposes a block of 4 x 4 in registers, between float4 loads and stores. A quarter of
 * the instructions move the same bytes, and a tile of 64 x 64 keeps more of them in flight.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

enum { EDGE = 64, ACROSS = EDGE / 4 }; /* a block of ACROSS x ACROSS threads */

/* Where a vector of 4 lies in the tile, which is stored transposed, in vectors. Neighbouring
 * threads store to rows 4 apart, and load from one row: with the exclusive or both meet each bank
 * once. */
static __host__ __device__ int at(int row, int chunk)
{
    return row * ACROSS + (chunk ^ (row / 4));
}

static __global__ void vectorised(float *out, const float *in, int rows, int cols)
{
    __shared__ float4 tile[EDGE * ACROSS];
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const int x = threadIdx.x, y = threadIdx.y;
    float4 r[4];

    for (int i = 0; i < 4; i++)
        r[i] = *(const float4 *)&in[(row + y * 4 + i) * cols + col + x * 4];
    tile[at(x * 4 + 0, y)] = make_float4(r[0].x, r[1].x, r[2].x, r[3].x);
    tile[at(x * 4 + 1, y)] = make_float4(r[0].y, r[1].y, r[2].y, r[3].y);
    tile[at(x * 4 + 2, y)] = make_float4(r[0].z, r[1].z, r[2].z, r[3].z);
    tile[at(x * 4 + 3, y)] = make_float4(r[0].w, r[1].w, r[2].w, r[3].w);
    __syncthreads();
    for (int i = 0; i < 4; i++)
        *(float4 *)&out[(col + y * 4 + i) * rows + row + x * 4] = tile[at(y * 4 + i, x)];
}

int main(int argc, char **argv)
{
    example_begin("transpose 5: 16 bytes at a time, blocks of 4 x 4 turned over in registers", 50);
    predict_global("load and store, 8192 wide", 16, false,
                   [](int lane) { return (lane / 16 * 4 * 8192 + lane % 16 * 4) * 4; });
    predict_shared("store, rows 4 apart", 16, true,
                   [](int lane) { return at(lane % 16 * 4, lane / 16) * 16; });
    predict_shared("load, a row of the tile", 16, false,
                   [](int lane) { return at(lane / 16 * 4, lane % 16) * 16; });
    return transpose_ladder(argc, argv, vectorised, dim3(EDGE, EDGE), dim3(ACROSS, ACROSS));
}
