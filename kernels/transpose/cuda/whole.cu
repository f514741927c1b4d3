/* whole.cu - transpose in place of a matrix that the multiprocessors' shared memory holds: every
 * block reads its tiles, all blocks wait for each other, and every block writes its tiles. So each
 * byte is read and written once.
 *
 * Assumes: compute capability 7.5 or later; launch->blocks blocks run at once; sizes above 0; what
 * tilemm__transpose_whole_t says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { WHOLE_THREADS = 1024 };

template <int BYTES, int EDGE>
static __device__ __forceinline__ void whole(const tilemm__transpose_whole_t p)
{
    typedef tilemm__element<BYTES> element;
    typedef tilemm__aligned<BYTES> shared;
    enum { TILE = EDGE * tilemm__transpose_pitch(EDGE, BYTES) };
    extern __shared__ __align__(16) unsigned char storage[];
    const int x = threadIdx.x % EDGE, y = threadIdx.x / EDGE;
    shared *tile = (shared *)storage;
    static_assert(EDGE * EDGE == WHOLE_THREADS, "a thread has an element of each tile");
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

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    static_assert(threads == WHOLE_THREADS && rows == cols, #tag);                                 \
    TRANSPOSE_KERNEL(method, tag, (threads, 1), tilemm__transpose_whole_t, whole<bytes, rows>)
TILEMM__TRANSPOSE_WHOLE_ROWS(KERNEL)

int tilemm__launch_transpose_whole(const tilemm__transpose_launch_t *launch, const void *p,
                                   void *stream)
{
    static const row_t<tilemm__transpose_whole_t> rows[] = {TILEMM__TRANSPOSE_WHOLE_ROWS(ROW)};
    const tilemm__transpose_whole_t *parameters = (const tilemm__transpose_whole_t *)p;
    return launch_at_once(rows, launch, parameters, (size_t)parameters->shared, stream);
}
