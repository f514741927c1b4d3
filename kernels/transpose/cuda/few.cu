/* few.cu - transpose out of place of matrices of 2 to 8 columns of 1-, 2- or 4-byte elements,
 * without gaps, in registers: a thread has as many rows, a unit, as make 16 bytes of each row of
 * the result.
 *
 * Where rows of the result are not aligned to 16 bytes (SHIFTED), a thread writes the aligned 16
 * bytes that begin in the unit before: the lane before has that. A warp's first lane only lends.
 *
 * Assumes: compute capability 7.5 or later; ld_src == cols; src, of every matrix, aligned to 16
 * bytes, and without SHIFTED the rows of dst, too; operands that do not overlap; a grid of the
 * exact size, as many blocks for each matrix, of 1 to 8 warps.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { LANES = 32 };

/* What has no 16 bytes at the ends of rows of the result, element by element: of the units of the
 * warp's lanes that have `ends`. All lanes share the elements of each: from row `row` on, of
 * columns whose 16 bytes begin before the result's row does; or of all, if it is not `whole`. */
template <int BYTES, int COLS, bool SHIFTED>
static __device__ __forceinline__ void
ends_out(tilemm__element<BYTES> *dst, const tilemm__element<BYTES> *src, bool ends, int64_t row,
         bool whole, const tilemm__transpose_tiles_t &p)
{
    enum { UNIT = 16 / BYTES };
    for (unsigned left = __ballot_sync(~0u, ends); left; left &= left - 1) {
        const int lane = __ffs((int)left) - 1;
        const int64_t first = __shfl_sync(~0u, row, lane);
        const bool is_whole = __shfl_sync(~0u, whole, lane);
#pragma unroll
        for (int e = threadIdx.x % LANES; e < COLS * UNIT; e += LANES) {
            const int j = e / UNIT;
            tilemm__element<BYTES> *to = dst + j * p.ld_dst;
            const int64_t low = first - (SHIFTED ? (int)((uintptr_t)to % 16) / BYTES : 0);
            const int64_t i = low + e % UNIT;
            if (i >= 0 && i < p.rows && (!is_whole || low < 0))
                to[i] = p.scaled ? times(src[i * COLS + j], p.alpha) : src[i * COLS + j];
        }
    }
}

template <int BYTES, int COLS, bool SHIFTED>
static __device__ __forceinline__ void few(const tilemm__transpose_tiles_t p)
{
    typedef tilemm__element<BYTES> element;
    enum { UNIT = 16 / BYTES, WARP_UNITS = SHIFTED ? LANES - 1 : LANES };
    const unsigned each = gridDim.x / (unsigned)p.batch;
    const unsigned number = p.batch == 1 ? 0 : blockIdx.x / each,
                   block = blockIdx.x - number * each;
    const int lane = threadIdx.x % LANES;
    const int64_t unit =
        ((int64_t)block * (blockDim.x / LANES) + threadIdx.x / LANES) * WARP_UNITS + lane - SHIFTED;
    const int64_t row = unit * UNIT;
    const bool whole = row >= 0 && row + UNIT <= p.rows;
    const element *matrix = (const element *)p.src + number * p.stride_src;
    element *dst = (element *)p.dst + number * p.stride_dst;
    uint32_t in[4 * COLS];
    begin(p);
#pragma unroll
    for (int k = 0; k < 4 * COLS; k++)
        in[k] = 0;
    if (whole) {
#pragma unroll
        for (int k = 0; k < COLS; k++)
            get<16>(in + 4 * k, matrix + row * COLS + k * UNIT);
        if (BYTES == 4 && p.scaled) {
#pragma unroll
            for (int k = 0; k < 4 * COLS; k++)
                in[k] = times(in[k], p.alpha);
        }
    }
#pragma unroll
    for (int j = 0; j < COLS; j++) {
        element *to = dst + j * p.ld_dst;
        uint32_t w[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[k] = word_of_elements<BYTES, COLS>(in, k * (4 / BYTES) * COLS + j);
        /* How far the row of the result begins behind a border, the same for all lanes. */
        const int back = SHIFTED ? (int)((uintptr_t)to % 16) / BYTES : 0;
        if (back) {
            uint32_t two[8];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                two[k] = __shfl_up_sync(0xffffffff, w[k], 1);
                two[4 + k] = w[k];
            }
            funnel<BYTES>(w, two, 16 - back * BYTES);
        }
        if (whole && row >= back && lane >= SHIFTED)
            put<16, true>(to + (row - back), w);
    }
    const bool has_rows = lane >= SHIFTED && row - (SHIFTED ? UNIT : 0) < p.rows;
    ends_out<BYTES, COLS, SHIFTED>(dst, matrix, has_rows && (!whole || (SHIFTED && row < UNIT)),
                                   row, whole, p);
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, ROOM_FOR(bytes * cols < 32 ? 4 : 3)),                  \
                     tilemm__transpose_tiles_t, few<bytes, cols, facet>)
TILEMM__TRANSPOSE_FEW_ROWS(KERNEL)

LAUNCHER(few, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_FEW_ROWS(ROW))
