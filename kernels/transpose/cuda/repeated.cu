/* repeated.cu - transpose of batches of small matrices of 1- and 2-byte elements to a result
 * without gaps, gathered element by element.
 *
 * The way through the source repeats after a period: as many matrices as are a whole number of
 * units, of COUNT elements, of the result. A thread has the same unit of several periods: it
 * computes once where that unit's elements are, and then adds steps. Threads side by side read the
 * same few lines, which the L1 cache keeps: no tile in shared memory, no barrier, and all loads of
 * a thread in flight at once.
 *
 * Assumes: compute capability 7.5 or later; ld_dst == rows, stride_dst == rows * cols; dst aligned
 * to 16 bytes; indices that 31 bits hold.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"
#include "tile.cuh"
#include "variant.cuh"

/* Units of COUNT elements, TIMES at most. */
template <int BYTES, int COUNT, int TIMES>
static __device__ __forceinline__ void repeated(const tilemm__transpose_repeated_t g)
{
    typedef tilemm__element<BYTES> element;
    enum { UNIT = COUNT * BYTES };
    const tilemm__transpose_tiles_t &p = g.of;
    const uint32_t thread = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t set = divided(thread, g.by_units), beside = (1u << g.log_beside) - 1;
    const uint32_t number = (thread - set * (uint32_t)g.units) * COUNT; /* in its period */
    const int period = (int)((set & ~beside) * g.times + (set & beside));
    const int at = period * g.period + (int)number;
    /* Elements from here to the end of the thread's last unit, or of all. */
    const int left = min(g.total - at, (g.times - 1) * g.next + COUNT);
    element of[TIMES][COUNT] = {};
    const element *from[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const uint32_t place = number + k, matrix = divided(place, g.by_each);
        const uint32_t in = place - matrix * (uint32_t)g.each;
        const uint32_t j = divided(in, g.by_rows), i = in - j * (uint32_t)p.rows;
        const int index =
            period * g.step + (int)matrix * (int)p.stride_src + (int)i * (int)p.ld_src + (int)j;
        /* Made now, not again for every load. */
        from[k] = (const element *)opaque((int64_t)((const element *)p.src + index));
        __builtin_assume(__isGlobal(from[k]));
    }
    begin(p);
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            if (t * g.next + k < left)
                of[t][k] = *from[k];
            from[k] += g.next_from;
        }
    }
    reads_end(); /* all are under way before the first is waited for */
    unsigned char *to = (unsigned char *)p.dst + (int64_t)at * BYTES;
#pragma unroll
    for (int t = 0; t < TIMES; t++, to += g.next * BYTES) {
        union {
            element e[COUNT];
            uint32_t words[UNIT / 4];
        } unit;
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            unit.e[k] = of[t][k];
        if (t * g.next + COUNT <= left) {
            put<UNIT>(to, unit.words);
        } else { /* the last of all, in part, or none */
#pragma unroll
            for (int k = 0; k < COUNT - 1; k++)
                if (t * g.next + k < left)
                    put_element<BYTES>(to, k, unit.words);
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_repeated_t,                         \
                     repeated<bytes, cols, rows>)
TILEMM__TRANSPOSE_REPEATED_ROWS(KERNEL)

LAUNCHER(repeated, tilemm__transpose_repeated_t, TILEMM__TRANSPOSE_REPEATED_ROWS(ROW))
