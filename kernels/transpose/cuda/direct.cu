/* direct.cu - transpose out of place of matrices that are over before a tile has passed through
 * shared memory: registers alone, and no barrier.
 *
 * A thread reads a chunk of each of V rows, V elements, transposes them in registers, and writes a
 * chunk of each of V columns. Eight lanes go down the rows and four along them: both sides move
 * whole sectors of 32 bytes, the writes 128 bytes in a row. What a thread moves, and where, is
 * known before it waits for the kernel before.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap and whose rows are aligned
 * to the row's access; sizes above 0; a grid of the exact size, of tiles down,
 * tiles across, and matrices.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

template <int BYTES, int CHUNK, int EDGE>
static __device__ __forceinline__ void direct(const tilemm__transpose_tiles_t p)
{
    enum { V = CHUNK / BYTES, W = CHUNK / 4, DOWN = EDGE / V };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int r = (int)blockIdx.x * EDGE + lane / 4 * V;
    const int c = (int)blockIdx.y * EDGE + (warp * (DOWN / 2) + lane % 4) * V;
    const unsigned char *src =
        (const unsigned char *)p.src + (blockIdx.z * p.stride_src + r * p.ld_src + c) * BYTES;
    unsigned char *dst =
        (unsigned char *)p.dst + (blockIdx.z * p.stride_dst + c * p.ld_dst + r) * BYTES;
    const int rows = (int)p.rows - r, cols = (int)p.cols - c;
    uint32_t in[V][W], out[V][W];
    static_assert(DOWN == 8, "lanes");
    begin(p);
    if (rows <= 0 || cols <= 0)
        return;
    if (rows >= V && cols >= V) {
#pragma unroll
        for (int i = 0; i < V; i++)
            get<CHUNK>(in[i], src + i * p.ld_src * BYTES);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++) {
#pragma unroll
            for (int k = 0; k < W; k++)
                in[i][k] = 0;
#pragma unroll
            for (int e = 0; e < V; e++)
                if (i < rows && e < cols)
                    get_element<BYTES>(in[i], e, src + i * p.ld_src * BYTES);
        }
    }
    if (BYTES == 4 && p.scaled) {
#pragma unroll
        for (int i = 0; i < V; i++) {
#pragma unroll
            for (int k = 0; k < W; k++)
                in[i][k] = times(in[i][k], p.alpha);
        }
    }
    transpose_block(tilemm__bytes<BYTES>(), out, in);
#pragma unroll
    for (int j = 0; j < V; j++) {
        unsigned char *to = dst + j * p.ld_dst * BYTES;
        if (j >= cols)
            break;
        if (rows >= V) {
            put<CHUNK>(to, out[j]);
        } else {
#pragma unroll
            for (int e = 0; e < V; e++)
                if (e < rows)
                    put_element<BYTES>(to, e, out[j]);
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_tiles_t, direct<bytes, chunk, rows>)
TILEMM__TRANSPOSE_DIRECT_ROWS(KERNEL)

GRID_LAUNCHER(direct, TILEMM__TRANSPOSE_DIRECT_ROWS(ROW))
