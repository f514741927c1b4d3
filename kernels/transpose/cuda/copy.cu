/* copy.cu - the transpose that does not transpose: a scaled copy of a matrix, rows of it
 * coalesced; and the fill with zeros that alpha = 0 asks for.
 *
 * Assumes: compute capability 7.5 or later; rows aligned to the launch's unit; operands that do not
 * overlap, or are the same with the same strides; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { TOGETHER = TILEMM__COPY_UNITS };

/* A unit of elements of BYTES bytes each; floats are scaled where the launch says so. */
template <typename unit, int BYTES>
static __device__ __forceinline__ void copy(const tilemm__transpose_copy_t c)
{
    typedef tilemm__element<BYTES> element;
    enum { PER_UNIT = sizeof(unit) / BYTES };
    const auto &p = c.of;
    const int x = threadIdx.x % p.block_cols, y = threadIdx.x / p.block_cols;
    for (uint64_t t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        const uint64_t line = quotient(t, c.tiles_across), number = quotient(line, c.tiles_down);
        const int64_t row = (int64_t)(line - number * c.tiles_down) * c.tile_rows + y;
        const int64_t col = (int64_t)(t - line * c.tiles_across) * c.tile_cols + x;
        const element *src = (const element *)p.src +
                             ((int64_t)number * p.stride_src + row * p.ld_src + col * PER_UNIT);
        element *dst =
            (element *)p.dst + ((int64_t)number * p.stride_dst + row * p.ld_dst + col * PER_UNIT);
        unit v[TOGETHER];
        if (t == blockIdx.x)
            wait_for_previous();
            /* How many elements of unit k there are. */
#define THERE(k)                                                                                   \
    (row + (k)*c.row_step < p.rows ? p.cols - (col + (k)*c.col_step) * PER_UNIT : (int64_t)0)

#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const element *q = src + (k * c.row_step * p.ld_src + k * c.col_step * PER_UNIT);
            const int64_t there = THERE(k);
            v[k] = unit();
            if (p.zero)
                continue;
            if (there >= PER_UNIT) {
                v[k] = *(const unit *)q;
            } else {
#pragma unroll
                for (int e = 0; e < PER_UNIT; e++)
                    if (e < there)
                        ((element *)&v[k])[e] = q[e];
            }
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            element *q = dst + (k * c.row_step * p.ld_dst + k * c.col_step * PER_UNIT);
            const int64_t there = THERE(k);
            if (p.scaled && !p.zero) {
#pragma unroll
                for (int e = 0; e < PER_UNIT; e++)
                    ((element *)&v[k])[e] = times(((element *)&v[k])[e], p.alpha);
            }
            if (there >= PER_UNIT) {
                *(unit *)q = v[k];
            } else {
#pragma unroll
                for (int e = 0; e < PER_UNIT; e++)
                    if (e < there)
                        q[e] = ((const element *)&v[k])[e];
            }
        }
#undef THERE
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_copy_t,                             \
                     copy<tilemm__aligned<bytes, access>, bytes>)
TILEMM__TRANSPOSE_COPY_ROWS(KERNEL)

LAUNCHER(copy, tilemm__transpose_copy_t, TILEMM__TRANSPOSE_COPY_ROWS(ROW))
