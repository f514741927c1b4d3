/* whole.cu - transpose in place of a matrix that the multiprocessors hold together: every block
 * reads its tiles, all blocks wait for each other, and every block writes its tiles. So each byte
 * is read and written once.
 *
 * Where rows are aligned, a thread holds squares in registers, which it transposes; others wait in
 * shared memory, element by element.
 *
 * Assumes: compute capability 7.5 or later; launch->blocks blocks run at once; sizes above 0; what
 * tilemm__transpose_whole_t says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"
#include "tile.cuh"
#include "variant.cuh"

enum { WHOLE_THREADS = 1024, LANES = 32, WARPS = WHOLE_THREADS / LANES };

/* ---- squares in registers -------------------------------------------------------------------- */

/* Where in the matrix a thread's square begins: of tile t, whose squares lie 4 down and 8 across,
 * one for each lane. */
template <int V>
static __device__ __forceinline__ void place_of(const tilemm__transpose_whole_t &p, int t,
                                                int64_t *row, int64_t *col)
{
    const int lane = threadIdx.x % LANES, c = (int)divided((uint32_t)t, p.by_down);
    *row = ((t - c * p.down) * TILEMM__WHOLE_SQUARES_DOWN + lane / TILEMM__WHOLE_SQUARES_ACROSS) *
           (int64_t)V;
    *col = (c * TILEMM__WHOLE_SQUARES_ACROSS + lane % TILEMM__WHOLE_SQUARES_ACROSS) * (int64_t)V;
}

/* A square has V rows of CHUNK bytes, V elements. */
template <int BYTES, int CHUNK>
static __device__ __forceinline__ void whole_squares(const tilemm__transpose_whole_t p)
{
    enum { V = CHUNK / BYTES, W = CHUNK / 4, COUNT = TILEMM__WHOLE_WORDS / (V * W) };
    uint32_t square[COUNT][V][W];
    const int first = blockIdx.x + gridDim.x * (threadIdx.x / LANES), step = gridDim.x * WARPS;
    wait_for_previous();
#pragma unroll
    for (int n = 0; n < COUNT; n++) {
        int64_t row, col;
        place_of<V>(p, first + n * step, &row, &col);
        if (first + n * step < p.tiles && row < p.rows && col < p.cols)
#pragma unroll
            for (int k = 0; k < V; k++)
                get<CHUNK>(square[n][k],
                           (unsigned char *)p.a + ((row + k) * p.ld_src + col) * BYTES);
    }
    cooperative_groups::this_grid().sync();
    const int again = (int)opaque((unsigned)first); /* no place is kept in registers meanwhile */
#pragma unroll
    for (int n = 0; n < COUNT; n++) {
        int64_t row, col;
        place_of<V>(p, again + n * step, &row, &col);
        if (again + n * step < p.tiles && row < p.rows && col < p.cols) {
            uint32_t out[V][W];
            transpose_block(tilemm__bytes<BYTES>(), out, square[n]);
#pragma unroll
            for (int k = 0; k < V; k++) {
                if (p.scaled) {
#pragma unroll
                    for (int w = 0; w < W; w++)
                        out[k][w] = times(out[k][w], p.alpha);
                }
                put<CHUNK>((unsigned char *)p.a + ((col + k) * p.ld_dst + row) * BYTES, out[k]);
            }
        }
    }
}

/* ---- elements in shared memory --------------------------------------------------------------- */

template <int BYTES, int EDGE>
static __device__ __forceinline__ void whole_elements(const tilemm__transpose_whole_t p)
{
    typedef tilemm__element<BYTES> element;
    typedef tilemm__aligned<BYTES> shared;
    enum { TILE = EDGE * tilemm__transpose_pitch(EDGE, BYTES) };
    extern __shared__ __align__(16) unsigned char storage[];
    const int x = threadIdx.x % EDGE, y = threadIdx.x / EDGE;
    shared *tile = (shared *)storage;
    static_assert(EDGE * EDGE == WHOLE_THREADS, "a thread has an element of each tile");
    wait_for_previous();
#pragma unroll 4
    for (int t = blockIdx.x; t < p.tiles; t += gridDim.x, tile += TILE) {
        const int c = (int)divided(t, p.by_down), r = t - c * p.down;
        const int64_t row = r * EDGE + y, col = c * EDGE + x;
        if (row < p.rows && col < p.cols)
            element_async<BYTES>(tile + tilemm__transpose_element(y, x, EDGE, BYTES),
                                 (const element *)p.a + row * p.ld_src + col);
    }
    copy_async_commit();
    copy_async_wait<0>();
    cooperative_groups::this_grid().sync();
    tile = (shared *)storage;
#pragma unroll 4
    for (int t = blockIdx.x; t < p.tiles; t += gridDim.x, tile += TILE) {
        const int c = (int)divided(t, p.by_down), r = t - c * p.down;
        const int64_t row = r * EDGE + x, col = c * EDGE + y;
        if (row < p.rows && col < p.cols) {
            element *to = (element *)p.a + col * p.ld_dst + row;
            write_element<BYTES>(to, tile + tilemm__transpose_element(x, y, EDGE, BYTES));
            if (p.scaled)
                *to = times(*to, p.alpha);
        }
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

template <int BYTES, int EDGE, int CHUNK, bool SQUARES>
static __device__ __forceinline__ void whole(const tilemm__transpose_whole_t &p)
{
    if constexpr (SQUARES)
        whole_squares<BYTES, CHUNK>(p);
    else
        whole_elements<BYTES, EDGE>(p);
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    static_assert(threads == WHOLE_THREADS, #tag);                                                 \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_whole_t,                            \
                     whole<bytes, rows, chunk, facet>)
TILEMM__TRANSPOSE_WHOLE_ROWS(KERNEL)

int tilemm__launch_transpose_whole(const tilemm__transpose_launch_t *launch, const void *p,
                                   void *stream)
{
    static const row_t<tilemm__transpose_whole_t> rows[] = {TILEMM__TRANSPOSE_WHOLE_ROWS(ROW)};
    const tilemm__transpose_whole_t *parameters = (const tilemm__transpose_whole_t *)p;
    return launch_at_once(rows, launch, parameters, (size_t)parameters->shared, stream);
}
