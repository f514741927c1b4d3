/* elements.cu - transpose of batches of small matrices to a result that has gaps, or is not aligned
 * to 16 bytes: element by element, in the order of the result.
 *
 * Lanes side by side write side by side. They read the same few lines, which the L1 cache keeps.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; fewer
 * elements in all, with those of a last block, than 2^31.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* COUNT elements a thread, THREADS apart. */
template <int BYTES, int COUNT>
static __device__ __forceinline__ void elements(const tilemm__transpose_gather_t g)
{
    typedef tilemm__element<BYTES> element;
    const tilemm__transpose_tiles_t &p = g.of;
    const uint32_t rows = (uint32_t)p.rows, each = rows * (uint32_t)p.cols;
    const uint32_t total = each * (uint32_t)p.batch;
    const uint32_t first = blockIdx.x * COUNT * THREADS + threadIdx.x;
    element v[COUNT];
    int64_t to[COUNT];
    begin(p);
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const uint32_t at = min(first + k * THREADS, total - 1);
        const uint32_t number = divided(at, g.by_each), place = at - number * each;
        const uint32_t j = divided(place, g.by_rows), i = place - j * rows;
        v[k] = ((const element *)p.src)[number * p.stride_src + i * p.ld_src + j];
        to[k] = number * p.stride_dst + j * p.ld_dst + i;
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        if (first + k * THREADS < total)
            ((element *)p.dst)[to[k]] = p.scaled ? times(v[k], p.alpha) : v[k];
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_gather_t, elements<bytes, cols>)
TILEMM__TRANSPOSE_ELEMENTS_ROWS(KERNEL)

LAUNCHER(elements, tilemm__transpose_gather_t, TILEMM__TRANSPOSE_ELEMENTS_ROWS(ROW))
