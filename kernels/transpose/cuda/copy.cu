/* copy.cu - the transpose that does not transpose: a scaled copy of a matrix, rows of it
 * coalesced; and the fill with zeros that alpha = 0 asks for.
 *
 * Assumes: compute capability 7.5 or later; rows aligned to the launch's unit; operands that do not
 * overlap, or are the same with the same strides; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"

/* Each thread moves this many units, all read before any is written. */
enum { THREADS = TILEMM__TRANSPOSE_THREADS, TOGETHER = 4 };

typedef struct {
    tilemm__transpose_copy_t launch;
    int row_step, col_step; /* from one unit of a thread to its next */
    int tile_rows, tile_cols;
    uint64_t tiles_down, tiles_across, tiles;
} copy_t;

/* A unit of elements of BYTES bytes each; floats are scaled where the launch says so. */
template <typename unit, int BYTES>
static __global__ void __launch_bounds__(THREADS) copy(const copy_t c)
{
    typedef typename tilemm__element<BYTES>::type element;
    enum { PER_UNIT = sizeof(unit) / BYTES };
    const tilemm__transpose_copy_t &p = c.launch;
    const int x = threadIdx.x % p.block_cols, y = threadIdx.x / p.block_cols;

    for (uint64_t t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        const uint64_t line = t / c.tiles_across, number = line / c.tiles_down;
        const int64_t row = (int64_t)(line - number * c.tiles_down) * c.tile_rows + y;
        const int64_t col = (int64_t)(t - line * c.tiles_across) * c.tile_cols + x;
        const element *src = (const element *)p.src +
                             ((int64_t)number * p.stride_src + row * p.ld_src + col * PER_UNIT);
        element *dst =
            (element *)p.dst + ((int64_t)number * p.stride_dst + row * p.ld_dst + col * PER_UNIT);
        unit v[TOGETHER];

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
                for (int e = 0; e < PER_UNIT; e++) {
                    if (e < there)
                        ((element *)&v[k])[e] = q[e];
                }
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
                for (int e = 0; e < PER_UNIT; e++) {
                    if (e < there)
                        q[e] = ((const element *)&v[k])[e];
                }
            }
        }
#undef THERE
    }
}

template <typename unit, int BYTES>
static void run(const copy_t *c, cudaStream_t stream)
{
    const unsigned grid = (unsigned)(c->tiles < 0x7fffffff ? c->tiles : 0x7fffffff);

    copy<unit, BYTES><<<grid, THREADS, 0, stream>>>(*c);
}

int tilemm__launch_transpose_copy(const tilemm__transpose_copy_t *launch, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    const int per_unit = launch->unit < launch->elem_size ? 1 : launch->unit / launch->elem_size;
    /* In a row, the last perhaps in part. */
    const int64_t units = (launch->cols + per_unit - 1) / per_unit;
    copy_t c;

    c.launch = *launch;
    /* A thread's units lie along the row where a row has enough of them, else down the rows. */
    if (units >= (int64_t)launch->block_cols * TOGETHER) {
        c.row_step = 0;
        c.col_step = launch->block_cols;
        c.tile_rows = THREADS / launch->block_cols;
        c.tile_cols = launch->block_cols * TOGETHER;
    } else {
        c.row_step = THREADS / launch->block_cols;
        c.col_step = 0;
        c.tile_rows = c.row_step * TOGETHER;
        c.tile_cols = launch->block_cols;
    }
    c.tiles_down = ((uint64_t)launch->rows + c.tile_rows - 1) / c.tile_rows;
    c.tiles_across = ((uint64_t)units + c.tile_cols - 1) / c.tile_cols;
    c.tiles = c.tiles_down * c.tiles_across * (uint64_t)launch->batch;
    switch (launch->elem_size) {
    case 1:
        if (launch->unit == 16)
            run<uint4, 1>(&c, s);
        else
            run<uint8_t, 1>(&c, s);
        break;
    case 2:
        if (launch->unit == 16)
            run<uint4, 2>(&c, s);
        else
            run<uint16_t, 2>(&c, s);
        break;
    case 4:
        if (launch->unit == 16)
            run<uint4, 4>(&c, s);
        else
            run<uint32_t, 4>(&c, s);
        break;
    case 8:
        if (launch->unit == 16)
            run<uint4, 8>(&c, s);
        else
            run<uint2, 8>(&c, s);
        break;
    case 16:
        if (launch->unit == 16)
            run<uint4, 16>(&c, s);
        else
            run<tilemm__pair, 16>(&c, s);
        break;
    default: return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}
