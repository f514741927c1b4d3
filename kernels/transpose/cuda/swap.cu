/* swap.cu - transpose of a square matrix in place: each block takes a pair of tiles that
 * mirror each other into shared memory, and writes each where the other was.
 *
 * Assumes: compute capability 7.5 or later; as much alignment as the launch says; n above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

typedef struct {
    unsigned char *upper, *lower; /* tile (j, i), tile (i, j); equal on the diagonal */
    int64_t rows, cols;           /* of the lower one that are there */
} pair_t;

/* Pair t of edge tiles, i >= j. Rows r and edge - 1 - r of the lower triangle have edge + 1 tiles
 * together: they make row r of a rectangle that is edge + 1 wide. */
static __device__ __forceinline__ pair_t pair(const tilemm__transpose_swap_t *p, uint64_t t,
                                              uint64_t edge, int size, int bytes)
{
    const uint64_t r = t / (edge + 1), c = t - r * (edge + 1);
    const int64_t i = (int64_t)(c < edge - r ? edge - 1 - r : r) * size;
    const int64_t j = (int64_t)(c < edge - r ? c : c - (edge - r)) * size;
    pair_t at;
    at.lower = (unsigned char *)p->a + (i * p->ld + j) * bytes;
    at.upper = (unsigned char *)p->a + (j * p->ld + i) * bytes;
    at.rows = p->n - i;
    at.cols = p->n - j;
    return at;
}

template <int BYTES, int CHUNK, int EDGE, int ALIGN>
static __device__ __forceinline__ void swap(const tilemm__transpose_swap_t p)
{
    __shared__ __align__(16) unsigned char lower[EDGE * EDGE * BYTES];
    __shared__ __align__(16) unsigned char upper[EDGE * EDGE * BYTES];
    const uint64_t edge = tiles_along(p.n, EDGE), pairs = edge * (edge + 1) / 2;
    wait_for_previous();
    for (uint64_t t = blockIdx.x; t < pairs; t += gridDim.x) {
        const pair_t at = pair(&p, t, edge, EDGE, BYTES);
        if (t != blockIdx.x)
            __syncthreads();
        tile_in<BYTES, CHUNK, EDGE, ALIGN, false, THREADS>(lower, at.lower, p.ld, at.rows, at.cols,
                                                           p.scaled, p.alpha);
        if (at.upper != at.lower)
            tile_in<BYTES, CHUNK, EDGE, ALIGN, false, THREADS>(upper, at.upper, p.ld, at.cols,
                                                               at.rows, p.scaled, p.alpha);
        __syncthreads();
        tile_out<BYTES, CHUNK, EDGE, ALIGN, false, THREADS>(at.upper, lower, p.ld, at.cols,
                                                            at.rows);
        if (at.upper != at.lower)
            tile_out<BYTES, CHUNK, EDGE, ALIGN, false, THREADS>(at.lower, upper, p.ld, at.rows,
                                                                at.cols);
    }
}

template <int BYTES, int EDGE>
static __device__ __forceinline__ void swap_elements(const tilemm__transpose_swap_t p)
{
    enum { ELEMENTS = EDGE * (EDGE + (BYTES < 4 ? 4 / BYTES : 1)) };
    __shared__ tilemm__element<BYTES> lower[ELEMENTS], upper[ELEMENTS];
    const uint64_t edge = tiles_along(p.n, EDGE), pairs = edge * (edge + 1) / 2;
    wait_for_previous();
    for (uint64_t t = blockIdx.x; t < pairs; t += gridDim.x) {
        const pair_t at = pair(&p, t, edge, EDGE, BYTES);
        if (t != blockIdx.x)
            __syncthreads();
        elements_in<BYTES, EDGE>(lower, at.lower, p.ld, at.rows, at.cols, p.scaled, p.alpha);
        if (at.upper != at.lower)
            elements_in<BYTES, EDGE>(upper, at.upper, p.ld, at.cols, at.rows, p.scaled, p.alpha);
        __syncthreads();
        elements_out<BYTES, EDGE>(at.upper, lower, p.ld, at.cols, at.rows);
        if (at.upper != at.lower)
            elements_out<BYTES, EDGE>(at.lower, upper, p.ld, at.rows, at.cols);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_swap_t,                             \
                     swap<bytes, chunk, rows, access>)
TILEMM__TRANSPOSE_SWAP_ROWS(KERNEL)

#define KERNEL_ELEMENTS(method, tag, bytes, rows, cols, chunk, access, threads, facet)             \
    TRANSPOSE_KERNEL(method, tag, (threads, 4), tilemm__transpose_swap_t,                          \
                     swap_elements<bytes, rows>)
TILEMM__TRANSPOSE_SWAP_ELEMENTS_ROWS(KERNEL_ELEMENTS)

LAUNCHER(swap, tilemm__transpose_swap_t,
         TILEMM__TRANSPOSE_SWAP_ROWS(ROW) TILEMM__TRANSPOSE_SWAP_ELEMENTS_ROWS(ROW))
