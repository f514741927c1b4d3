/* strip.cu - transpose out of place of matrices with few rows or columns, and of batches of small
 * ones, of elements of 4 bytes or more: tiles of any shape.
 *
 * A tile of tile_batch pieces of tile_rows x tile_cols lies in shared memory as if packed, and
 * swizzled, as lanes read it with a stride of several columns. For some shapes lanes still meet in
 * a bank; two passes, as in strip_bytes.cu, avoid that, but take longer for elements of this size.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* Four elements of a column, read in another order by each of four groups of 8 lanes, so that lanes
 * an odd number times 4 words apart meet each bank once. */
static __device__ __forceinline__ void gather_column(uint32_t (&v)[4], const uint32_t *tile, int f,
                                                     int step)
{
    const int group = (threadIdx.x >> 3) & 3;
    uint32_t w[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = tile[tilemm__transpose_strip(f + ((k + group) & 3) * step, 4)];
        /* w[k] is element k + group, modulo 4. */
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = group & 1 ? w[(k + 3) & 3] : w[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = group & 2 ? v[(k + 2) & 3] : v[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = w[k];
}

/* One function, as the compiler allocates registers otherwise, and worse, where it is cut. */
template <typename element>
static __device__ __forceinline__ void strip(const tilemm__transpose_strip_t s)
{
    enum { BYTES = sizeof(element), UNIT = 16 / BYTES, TOGETHER = 4 };
    __shared__ __align__(16) unsigned char storage[TILEMM__TRANSPOSE_STRIP_BYTES];
    element *tile = (element *)storage;
    const tilemm__transpose_tiles_t &p = s.of;
    const int height = p.tile_rows, width = p.tile_cols, area = height * width;
    begin(p);
    for (uint64_t t = blockIdx.x; t < s.tiles; t += gridDim.x) {
        const uint64_t group = quotient(t, s.each), inside = t - group * s.each;
        const uint64_t row = quotient(inside, s.tile_cols_count);
        const int64_t b0 = (int64_t)group * p.tile_batch, r0 = (int64_t)row * height;
        const int64_t c0 = (int64_t)(inside - row * s.tile_cols_count) * width;
        const element *src = (const element *)p.src + (b0 * p.stride_src + r0 * p.ld_src + c0);
        element *dst = (element *)p.dst + (b0 * p.stride_dst + c0 * p.ld_dst + r0);
        /* How much of the tile is there. */
        const int batch = (int)min((int64_t)p.tile_batch, p.batch - b0);
        const int rows = (int)min((int64_t)height, p.rows - r0);
        const int cols = (int)min((int64_t)width, p.cols - c0);
        int there;
        if (t != blockIdx.x)
            __syncthreads();
        there = !s.in.each ? batch * area : s.in.each == 1 ? rows * cols : cols;
        for (walk_t at = walk_from(&s.in); at.line < s.in.lines;) {
            uint32_t w[TOGETHER][4];
            int to[TOGETHER], count[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                const int b = (int)divided((uint32_t)at.line, s.in.by_each);
                const int r = at.line - b * s.in.each;
                count[k] = at.line < s.in.lines && b < batch && r < rows ? there - at.x : 0;
                to[k] = at.line * s.in.length + at.x;
                if (count[k] > 0) {
                    const element *q = src + (b * p.stride_src + r * p.ld_src + at.x);
                    if (s.in.unit == 1)
                        *(element *)w[k] = *q;
                    else if (count[k] >= UNIT)
                        get<16>(w[k], q);
                    else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++)
                            ((element *)w[k])[e] = e < count[k] ? q[e] : element();
                    }
                }
                walk_on(&s.in, &at);
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                element *q = tile + tilemm__transpose_strip(to[k], BYTES);
                if (count[k] <= 0)
                    continue;
                if (BYTES == 4 && p.scaled) {
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        w[k][e] = times(w[k][e], p.alpha);
                }
                if (s.in.unit == 1)
                    *q = *(element *)w[k];
                else
                    put<16>(q, w[k]);
            }
        }
        __syncthreads();
        there = !s.out.each ? batch * area : s.out.each == 1 ? rows * cols : rows;
        for (walk_t at = walk_from(&s.out); at.line < s.out.lines; walk_on(&s.out, &at)) {
            const int x = at.x;
            int b = (int)divided((uint32_t)at.line, s.out.by_each), c = at.line - b * s.out.each;
            int r = x;
            element *q = dst + (b * p.stride_dst + c * p.ld_dst + x);
            const int count = b < batch && c < cols ? there - x : 0;
            if (s.out.each <= 1) {
                /* x counts on over columns, and matrices. */
                c = (int)divided((uint32_t)x, s.by_rows);
                r = x - c * height;
                if (!s.out.each) {
                    b = (int)divided((uint32_t)c, s.by_cols);
                    c -= b * width;
                }
            }
            int f = b * area + r * width + c;
            if (count > 0) {
                if (s.out.unit == 1) {
                    *q = tile[tilemm__transpose_strip(f, BYTES)];
                } else {
                    uint32_t w[4];
                    if (BYTES == 4 && s.out.each > 1 && count >= UNIT) {
                        gather_column(w, (const uint32_t *)tile, f, width);
                    } else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++) {
                            if (e < count)
                                ((element *)w)[e] = tile[tilemm__transpose_strip(f, BYTES)];
                            f += width;
                            if (++r == height) {
                                r = 0;
                                f += 1 - area;
                                if (++c == width) {
                                    c = 0;
                                    f += area - width;
                                }
                            }
                        }
                    }
                    if (count >= UNIT) {
                        put<16>(q, w);
                    } else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++)
                            if (e < count)
                                q[e] = ((element *)w)[e];
                    }
                }
            }
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_strip_t,                            \
                     strip<tilemm__aligned<bytes, access>>)
TILEMM__TRANSPOSE_STRIP_ROWS(KERNEL)

LAUNCHER(strip, tilemm__transpose_strip_t, TILEMM__TRANSPOSE_STRIP_ROWS(ROW))
