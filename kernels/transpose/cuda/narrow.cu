/* narrow.cu - transpose out of place of 4- and 8-byte elements, of matrices with a side of less
 * than 32, or of small ones whose rows are not aligned: tiles of 128 x 32, 32 x 128, 256 x 16 or 16
 * x 256, element by element.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "tile.cuh"
#include "variant.cuh"

template <int BYTES, int ROWS, int COLS>
static __device__ __forceinline__ void narrow(const tilemm__transpose_tiles_t p)
{
    typedef tilemm__element<BYTES> element;
    enum { STEP = THREADS / COLS, OUT_STEP = THREADS / ROWS };
    __shared__ element tile[ROWS * tilemm__transpose_pitch(COLS, BYTES)];
    const uint64_t tile_rows = tiles_along(p.rows, ROWS), tile_cols = tiles_along(p.cols, COLS);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;
    begin(p);
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const uint64_t column = quotient(t, tile_rows), number = quotient(column, tile_cols);
        const int64_t r0 = (int64_t)(t - column * tile_rows) * ROWS;
        const int64_t c0 = (int64_t)(column - number * tile_cols) * COLS;
        if (t != blockIdx.x)
            __syncthreads();
        {
            const int x = threadIdx.x % COLS, y = threadIdx.x / COLS;
            const element *q = (const element *)p.src +
                               ((int64_t)number * p.stride_src + (r0 + y) * p.ld_src + c0 + x);
            const int rows = c0 + x < p.cols ? (int)min((int64_t)ROWS, p.rows - r0) : 0;
            if (rows == ROWS) {
#pragma unroll
                for (int r = 0; r < ROWS; r += STEP) {
                    element_async<BYTES>(tile + tilemm__transpose_element(y + r, x, COLS, BYTES),
                                         q);
                    q += STEP * p.ld_src;
                }
            } else {
                for (int r = y; r < rows; r += STEP) {
                    element_async<BYTES>(tile + tilemm__transpose_element(r, x, COLS, BYTES), q);
                    q += STEP * p.ld_src;
                }
            }
            copy_async_commit();
            copy_async_wait<0>();
        }
        __syncthreads();
        {
            const int x = threadIdx.x % ROWS, y = threadIdx.x / ROWS;
            const int cols = r0 + x < p.rows ? (int)min((int64_t)COLS, p.cols - c0) : 0;
            element *q =
                (element *)p.dst + ((int64_t)number * p.stride_dst + (c0 + y) * p.ld_dst + r0 + x);
#pragma unroll 4
            for (int c = y; c < cols; c += OUT_STEP) {
                const element v = tile[tilemm__transpose_element(x, c, COLS, BYTES)];
                *q = p.scaled ? times(v, p.alpha) : v;
                q += OUT_STEP * p.ld_dst;
            }
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, 4), tilemm__transpose_tiles_t,                         \
                     narrow<bytes, rows, cols>)
TILEMM__TRANSPOSE_NARROW_ROWS(KERNEL)

LAUNCHER(narrow, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_NARROW_ROWS(ROW))
