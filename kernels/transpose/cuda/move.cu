/* move.cu - the move of a matrix in place from one leading dimension to another, an interval of
 * slots at a time: out to the workspace, and in to their places. inplace.h has the maps.
 *
 * inplace.h proves that an interval may be moved at once, intervals of slots that fall in ascending
 * order, of slots that rise in descending order. A slot's class follows from its number.
 *
 * Assumes: compute capability 7.5 or later; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

template <int BYTES, bool IN>
static __device__ __forceinline__ void move(const tilemm__transpose_move_t p)
{
    typedef tilemm__element<BYTES> element;
    element *const a = (element *)p.a, *const workspace = (element *)p.workspace;
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t k = p.begin + (int64_t)blockIdx.x * THREADS + threadIdx.x; k < p.end;
         k += stride) {
        const int64_t from = tilemm__slot(k, p.width_in, p.ld_in);
        const int64_t to = tilemm__slot(k, p.width_out, p.ld_out);
        if (!(p.rising ? to > from : to < from))
            continue;
        if (IN)
            a[to] = workspace[k - p.begin];
        else
            workspace[k - p.begin] = a[from];
    }
}

#define KERNEL(method, tag, bytes, in)                                                             \
    TRANSPOSE_KERNEL(method, tag, (THREADS, 4), tilemm__transpose_move_t, move<bytes, in>)
#define KERNEL_OUT(method, tag, bytes, ...) KERNEL(method, tag, bytes, false)
#define KERNEL_IN(method, tag, bytes, ...) KERNEL(method, tag, bytes, true)
TILEMM__TRANSPOSE_MOVE_OUT_ROWS(KERNEL_OUT)
TILEMM__TRANSPOSE_MOVE_IN_ROWS(KERNEL_IN)

LAUNCHER(move, tilemm__transpose_move_t,
         TILEMM__TRANSPOSE_MOVE_OUT_ROWS(ROW) TILEMM__TRANSPOSE_MOVE_IN_ROWS(ROW))
