/* move.cu - the move of a matrix in place from one leading dimension to another, an interval of
 * slots at a time: out to the workspace, and in to their places. inplace.h has the maps.
 *
 * An interval may be moved at once, and intervals one after the other: a slot that falls never
 * lands on one that rises or stays, nor on one that falls and has a higher number outside its
 * interval, which is in the workspace by then; a slot that rises likewise, from the other end. Each
 * slot's class follows from its number, so that only the elements are kept.
 *
 * Assumes: compute capability 7.5 or later; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { THREADS = TILEMM__TRANSPOSE_THREADS };

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
    KERNEL_OF(method, tag, (THREADS, 4), tilemm__transpose_move_t, move<bytes, in>)
#define KERNEL_OUT(method, tag, bytes, ...) KERNEL(method, tag, bytes, false)
#define KERNEL_IN(method, tag, bytes, ...) KERNEL(method, tag, bytes, true)
TILEMM__TRANSPOSE_MOVE_OUT_ROWS(KERNEL_OUT)
TILEMM__TRANSPOSE_MOVE_IN_ROWS(KERNEL_IN)

LAUNCHER(move, tilemm__transpose_move_t,
         TILEMM__TRANSPOSE_MOVE_OUT_ROWS(ROW) TILEMM__TRANSPOSE_MOVE_IN_ROWS(ROW))
