/* few.cu - transpose out of place of matrices of 2 to 8 columns of 1- or 2-byte elements, without
 * gaps, in registers: a thread has as many rows as make 16 bytes of each row of the result.
 *
 * Assumes: compute capability 7.5 or later; ld_src == cols; src, and the rows of dst, aligned to 16
 * bytes; operands that do not overlap; one matrix; a grid of the exact size.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* Two elements of what a thread has, side by side in a word, below two that have no meaning. */
template <int BYTES, int WORDS>
static __device__ __forceinline__ uint32_t two_elements(const uint32_t (&in)[WORDS], int first,
                                                        int second)
{
    enum { EACH = 4 / BYTES };
    const int a = first % EACH * BYTES, b = second % EACH * BYTES + 4;
    return __byte_perm(in[first / EACH], in[second / EACH],
                       BYTES == 2 ? a | (a + 1) << 4 | b << 8 | (b + 1) << 12 : a | b << 4);
}

template <int BYTES, int COLS>
static __device__ __forceinline__ void few(const tilemm__transpose_tiles_t p)
{
    typedef tilemm__element<BYTES> element;
    enum { UNIT = 16 / BYTES, EACH = 4 / BYTES };
    const int64_t row = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * UNIT;
    const element *src = (const element *)p.src + row * COLS;
    element *dst = (element *)p.dst + row;
    uint32_t in[4 * COLS];
    begin(p);
    if (row + UNIT <= p.rows) {
#pragma unroll
        for (int k = 0; k < COLS; k++)
            get<16>(in + 4 * k, src + k * UNIT);
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            uint32_t w[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int first = k * EACH * COLS + j;
                w[k] = two_elements<BYTES>(in, first, first + COLS);
                if (BYTES == 1)
                    w[k] = __byte_perm(
                        w[k], two_elements<BYTES>(in, first + 2 * COLS, first + 3 * COLS), 0x5410);
            }
            put<16, true>(dst + j * p.ld_dst, w);
        }
    } else {
        for (int64_t i = 0; row + i < p.rows; i++)
            for (int j = 0; j < COLS; j++)
                dst[j * p.ld_dst + i] = src[i * COLS + j];
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_tiles_t, few<bytes, cols>)
TILEMM__TRANSPOSE_FEW_ROWS(KERNEL)

LAUNCHER(few, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_FEW_ROWS(ROW))
