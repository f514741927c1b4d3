/* gather.cu - transpose of small matrices, or of a few long rows, to a result without gaps: each
 * thread gathers 16 bytes of it, element by element.
 *
 * Threads side by side read the same few lines, which the L1 cache keeps: no tile in shared memory,
 * no barrier, and all loads of a thread in flight at once.
 *
 * Assumes: compute capability 7.5 or later; ld_dst == rows, stride_dst == rows * cols; dst aligned
 * to 16 bytes; no more than 2^31 - 1 blocks of 4 KiB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* CHUNKS of 16 bytes a thread. index is int32_t where that holds all of them, source and result. */
template <typename element, typename index, int CHUNKS>
static __device__ __forceinline__ void gather(const tilemm__transpose_gather_t g)
{
    enum { COUNT = 16 / sizeof(element), SHORT = sizeof(index) == 4 };
    union {
        element e[COUNT];
        uint4 all;
    } chunk[CHUNKS];
    const tilemm__transpose_tiles_t &p = g.of;
    const index rows = (index)p.rows, cols = (index)p.cols, each = rows * cols;
    const index total = each * (index)p.batch, ld = (index)p.ld_src;
    const index first = ((index)blockIdx.x * CHUNKS * THREADS + (index)threadIdx.x) * COUNT;
    begin(p);
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
            for (int k = 0; k < COUNT; k++)
                if (at + k < total)
                    to[k] = chunk[c].e[k];
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(                                                                              \
        method, tag, (threads), tilemm__transpose_gather_t,                                        \
        gather<tilemm__element<bytes>, std::conditional<(facet & 2) != 0, int64_t, int32_t>::type, \
               chunk / 16>)
TILEMM__TRANSPOSE_GATHER_ROWS(KERNEL)

LAUNCHER(gather, tilemm__transpose_gather_t, TILEMM__TRANSPOSE_GATHER_ROWS(ROW))
