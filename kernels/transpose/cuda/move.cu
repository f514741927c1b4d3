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

typedef struct {
    int64_t from, to;
} step_t;

static __device__ __forceinline__ step_t step_of(const tilemm__transpose_move_t *p, int64_t k)
{
    step_t step;

    step.from = tilemm__slot(k, p->width_in, p->ld_in);
    step.to = tilemm__slot(k, p->width_out, p->ld_out);
    return step;
}

static __device__ __forceinline__ bool moves(step_t step, bool rising)
{
    return rising ? step.to > step.from : step.to < step.from;
}

template <int BYTES, bool IN>
static __device__ __forceinline__ void move(const tilemm__transpose_move_t p)
{
    typedef typename tilemm__element<BYTES>::type element;
    element *const a = (element *)p.a, *const workspace = (element *)p.workspace;
    const int64_t stride = (int64_t)gridDim.x * THREADS;

    for (int64_t k = p.begin + (int64_t)blockIdx.x * THREADS + threadIdx.x; k < p.end;
         k += stride) {
        const step_t step = step_of(&p, k);

        if (!moves(step, p.rising))
            continue;
        if (IN)
            a[step.to] = workspace[k - p.begin];
        else
            workspace[k - p.begin] = a[step.from];
    }
}

#define KERNEL(method, tag, bytes, in)                                                             \
    static __global__ void __launch_bounds__(THREADS, 4)                                           \
        TILEMM__TRANSPOSE_NAME(method, tag)(const tilemm__transpose_move_t p)                      \
    {                                                                                              \
        move<bytes, in>(p);                                                                        \
    }
#define KERNEL_OUT(method, tag, bytes, ...) KERNEL(method, tag, bytes, false)
#define KERNEL_IN(method, tag, bytes, ...) KERNEL(method, tag, bytes, true)
TILEMM__TRANSPOSE_MOVE_OUT_ROWS(KERNEL_OUT)
TILEMM__TRANSPOSE_MOVE_IN_ROWS(KERNEL_IN)

int tilemm__launch_transpose_move(const tilemm__transpose_launch_t *launch,
                                  const tilemm__transpose_move_t *p, void *stream)
{
    static const row_t<tilemm__transpose_move_t> rows[] = {TILEMM__TRANSPOSE_MOVE_OUT_ROWS(ROW)
                                                               TILEMM__TRANSPOSE_MOVE_IN_ROWS(ROW)};

    return launch_row(rows, launch, p, stream);
}
