/* gather.cu - transpose of small matrices, or of a few long rows, to a result without
 * gaps: each thread puts together 16 bytes of it from elements that it finds by their numbers.
 *
 * Threads side by side read from the same few lines, which the L1 cache keeps for them: no tile in
 * shared memory, no barrier, and all loads of a thread under way at once.
 *
 * Assumes: compute capability 7.5 or later; ld_dst == rows, stride_dst == rows * cols; dst aligned
 * to 16 bytes; no more than 2^31 - 1 blocks of 4 KiB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "tile.cuh"

enum { THREADS = TILEMM__TRANSPOSE_THREADS };

typedef struct {
    tilemm__transpose_launch_t launch;
    division_t by_each, by_rows;
} gather_t;

/* CHUNKS of 16 bytes a thread. index is int32_t where that holds all of them, source and result. */
template <typename element, typename index, int CHUNKS>
static __global__ void __launch_bounds__(THREADS) gather_small(const gather_t g)
{
    enum { COUNT = 16 / sizeof(element), SHORT = sizeof(index) == 4 };
    union {
        element e[COUNT];
        uint4 all;
    } chunk[CHUNKS];
    const tilemm__transpose_launch_t &p = g.launch;
    const index rows = (index)p.rows, cols = (index)p.cols, each = rows * cols;
    const index total = each * (index)p.batch, ld = (index)p.ld_src;
    const index first = ((index)blockIdx.x * CHUNKS * THREADS + (index)threadIdx.x) * COUNT;

    wait_for_previous();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const index at = first + c * THREADS * COUNT;
        index number = SHORT ? (index)divided((uint32_t)at, g.by_each)
                             : (index)quotient((uint64_t)at, (uint64_t)each);
        const index place = at - number * each;
        index j = SHORT ? (index)divided((uint32_t)place, g.by_rows)
                        : (index)quotient((uint64_t)place, (uint64_t)rows);
        index i = place - j * rows, from = number * (index)p.stride_src + i * ld + j;

        if (at >= total)
            break;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            chunk[c].e[k] = ((const element *)p.src)[from];
            from += ld;
            if (++i == rows) {
                i = 0;
                from += 1 - rows * ld;
                if (++j == cols) { /* behind the last matrix it is read again */
                    j = 0;
                    from -= cols;
                    if (++number < (index)p.batch)
                        from += (index)p.stride_src;
                }
            }
        }
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const index at = first + c * THREADS * COUNT;
        element *to = (element *)p.dst + at;

        if (p.scaled) {
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                chunk[c].e[k] = times(chunk[c].e[k], p.alpha);
        }
        if (at + COUNT <= total) {
            *(uint4 *)to = chunk[c].all;
        } else {
#pragma unroll
            for (int k = 0; k < COUNT; k++) {
                if (at + k < total)
                    to[k] = chunk[c].e[k];
            }
        }
    }
}

template <typename element, typename index>
static cudaError_t run(const gather_t *g, cudaStream_t stream)
{
    /* Two chunks a thread where memory is what limits, more threads where latency does. */
    const tilemm__transpose_launch_t *p = &g->launch;
    const auto kernel =
        p->streaming ? gather_small<element, index, 2> : gather_small<element, index, 1>;
    const uint64_t bytes =
        (uint64_t)p->rows * (uint64_t)p->cols * (uint64_t)p->batch * sizeof(element);
    const uint64_t each = THREADS * 16 * (p->streaming ? 2 : 1);

    return launch_after(kernel, (unsigned)((bytes + each - 1) / each), THREADS, 0, stream, *g);
}

template <typename index>
static int launch(const gather_t *g, cudaStream_t stream)
{
    switch (g->launch.elem_size) {
    case 1: return (int)run<uint8_t, index>(g, stream);
    case 2: return (int)run<uint16_t, index>(g, stream);
    case 4: return (int)run<uint32_t, index>(g, stream);
    case 8: return (int)run<uint2, index>(g, stream);
    case 16: return (int)run<tilemm__pair, index>(g, stream);
    default: return (int)cudaErrorInvalidValue;
    }
}

int tilemm__launch_transpose_gather(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    /* As far from the first matrix as an index comes, at the end of a column: the stride may be
     * negative. */
    const int64_t stride = p->stride_src < 0 ? -p->stride_src : p->stride_src;
    const int64_t last = (p->batch - 1) * stride + p->rows * p->ld_src + p->cols;
    /* Two blocks' chunks more, which threads may number behind the end. */
    const int64_t room = INT32_MAX - 2 * THREADS * 16;
    gather_t g;

    g.launch = *p;
    if (last > room || p->rows * p->cols * p->batch > room)
        return launch<int64_t>(&g, s);
    g.by_each = division_by((uint32_t)(p->rows * p->cols));
    g.by_rows = division_by((uint32_t)p->rows);
    return launch<int32_t>(&g, s);
}
