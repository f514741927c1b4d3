/* transpose_gather.cu - transpose of small matrices, or of a few long rows, to a result without
 * gaps: each thread puts together 16 bytes of it from elements that it finds by their numbers.
 *
 * Threads side by side read from the same few lines, which the L1 cache keeps for them: no tile in
 * shared memory, no barrier, and all loads of a thread under way at once.
 *
 * Assumes: compute capability 7.5 or later; ld_dst == rows, stride_dst == rows * cols; dst aligned
 * to 16 bytes; elements of 4 or 8 bytes; no more than 2^31 - 1 blocks of 4 KiB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "launch.cuh"
#include "transpose_tile.cuh"

enum { THREADS = TILEMM__TRANSPOSE_THREADS };

/* CHUNKS of 16 bytes a thread. */
template <typename element, int CHUNKS>
static __global__ void __launch_bounds__(THREADS) gather_small(const tilemm__transpose_launch_t p)
{
    enum { COUNT = 16 / sizeof(element) };
    union {
        element e[COUNT];
        uint4 all;
    } chunk[CHUNKS];
    const uint64_t rows = (uint64_t)p.rows, each = rows * (uint64_t)p.cols;
    const uint64_t total = each * (uint64_t)p.batch;
    const uint64_t first = ((uint64_t)blockIdx.x * CHUNKS * THREADS + threadIdx.x) * COUNT;

    wait_for_previous();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const uint64_t at = first + c * THREADS * COUNT;
        int64_t number = (int64_t)quotient(at, each);
        const uint64_t place = at - (uint64_t)number * each;
        int64_t j = (int64_t)quotient(place, rows), i = (int64_t)(place - (uint64_t)j * rows);
        const element *from = (const element *)p.src + number * p.stride_src;

        if (at >= total)
            break;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            chunk[c].e[k] = from[i * p.ld_src + j];
            if (++i == p.rows) {
                i = 0;
                if (++j == p.cols) { /* behind the last matrix it is read again */
                    j = 0;
                    if (++number < p.batch)
                        from += p.stride_src;
                }
            }
        }
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const uint64_t at = first + c * THREADS * COUNT;
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

template <typename element>
static cudaError_t run(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    /* Two chunks a thread where memory is what limits, more threads where latency does. */
    const auto kernel = p->streaming ? gather_small<element, 2> : gather_small<element, 1>;
    const uint64_t bytes =
        (uint64_t)p->rows * (uint64_t)p->cols * (uint64_t)p->batch * sizeof(element);
    const uint64_t each = THREADS * 16 * (p->streaming ? 2 : 1);

    return launch_after(kernel, (unsigned)((bytes + each - 1) / each), THREADS, 0, stream, *p);
}

int tilemm__launch_transpose_gather(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    return (int)(p->elem_size == 4 ? run<uint32_t>(p, s) : run<uint2>(p, s));
}
