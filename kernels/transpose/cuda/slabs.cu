/* slabs.cu - the first pass of a transpose in place of a matrix that is not square: slabs of rows
 * are transposed where they lie. The second pass, chains.cu, moves runs.
 *
 * The m x n view (see inplace.h) is cut into `slabs` slabs of `height` rows. Forward, each slab is
 * transposed: its columns become runs of `height` elements. Run c of slab i is then in slot i n +
 * c, and belongs in slot c slabs + i. Backward, runs move first, from slot c slabs + i to i n + c.
 *
 * The fringe, fewer than `height` rows, waits in the workspace. The slots are those of the matrix
 * whose rows have m elements: slot s lies at s / slabs m + s % slabs height, which leaves the
 * fringe's place free. A slab lies at most one slab away from its slots.
 *
 * A block takes WIDTH columns of a slab at a time. A slab may be written when all of it, and of the
 * slab before it in the order of work, which lies in its slots, has been read: blocks count the
 * tiles they have read. All blocks run at once and take tiles in order, so there is no deadlock.
 *
 * Assumes: compute capability 7.5 or later; m >= n; a run has 256 bytes; launch->blocks blocks run
 * at once, and are not fewer than the tiles of a slab.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "tile.cuh"
#include "variant.cuh"

enum { SLAB_THREADS = 128, WIDTH = TILEMM__SLAB_WIDTH };
enum { RUN_BYTES = TILEMM__RUN_BYTES, STAGES = TILEMM__SLAB_STAGES };

template <int BYTES>
struct slab_tile {
    typedef tilemm__element<BYTES> element;
    typedef tilemm__aligned<BYTES> shared;
    enum { HEIGHT = RUN_BYTES / BYTES, LANES = HEIGHT < SLAB_THREADS ? HEIGHT : SLAB_THREADS };

    static __device__ __forceinline__ element *slot(const tilemm__transpose_slabs_t *q, int64_t s)
    {
        return (element *)q->a + (q->fringe ? s * HEIGHT + s / q->slabs * q->fringe : s * HEIGHT);
    }

    /* Forward the last slab comes first, as its slots are behind it; backward the first. */
    static __device__ __forceinline__ int64_t slab_of(const tilemm__transpose_slabs_t *q,
                                                      int64_t order)
    {
        return q->forward ? q->slabs - 1 - order : order;
    }

    /* Rows of the slab to the tile, which keeps them; runs of the slab to the tile's columns. */
    static __device__ __forceinline__ void in(const tilemm__transpose_slabs_t *q, int64_t order,
                                              int64_t c0, shared *tile)
    {
        const int64_t slab = slab_of(q, order);
        if (q->forward) {
            enum { STEP = SLAB_THREADS / WIDTH };
            const int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
            const int at = tilemm__slab_element(y, x, BYTES);
            const element *from = (const element *)q->a + ((slab * HEIGHT + y) * q->n + c0 + x);
            if (c0 + x < q->n) {
#pragma unroll
                for (int r = 0; r < HEIGHT; r += STEP) {
                    /* Always true: but the compiler then keeps the copies in order. */
                    if (BYTES < 4 || y + r < HEIGHT)
                        element_async<BYTES>(tile + (BYTES < 4
                                                         ? tilemm__slab_below(at, r, BYTES)
                                                         : tilemm__slab_element(y + r, x, BYTES)),
                                             from);
                    from += STEP * q->n;
                }
            }
        } else {
            enum { STEP = SLAB_THREADS / LANES };
            const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
#pragma unroll 4
            for (int c = y; c < WIDTH; c += STEP) {
#pragma unroll
                for (int r = 0; r < HEIGHT; r += LANES)
                    if (c0 + c < q->n)
                        element_async<BYTES>(tile + tilemm__slab_element(x + r, c, BYTES),
                                             slot(q, slab * q->n + c0 + c) + x + r);
            }
        }
    }

    static __device__ __forceinline__ void out(const tilemm__transpose_slabs_t *q, int64_t order,
                                               int64_t c0, const shared *tile)
    {
        const int64_t slab = slab_of(q, order);
        if (!q->forward) {
            enum { STEP = SLAB_THREADS / WIDTH, TOGETHER = 4 };
            const int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
            const int at = tilemm__slab_element(y, x, BYTES);
            element *to = (element *)q->a + ((slab * HEIGHT + y) * q->n + c0 + x);
            if (c0 + x < q->n) {
                if (BYTES < 4) {
                    for (int r = 0; r < HEIGHT; r += TOGETHER * STEP) {
                        const int block = tilemm__slab_below(at, r, BYTES);
#pragma unroll
                        for (int k = 0; k < TOGETHER; k++) {
                            write_element<BYTES>(to,
                                                 tile + tilemm__slab_below(block, k * STEP, BYTES));
                            to += STEP * q->n;
                        }
                    }
                } else {
#pragma unroll 4
                    for (int r = y; r < HEIGHT; r += STEP) {
                        write_element<BYTES>(to, tile + tilemm__slab_element(r, x, BYTES));
                        to += STEP * q->n;
                    }
                }
            }
        } else if (q->wide) {
            /* Eight neighbours write 128 bytes of a run, four columns side by side. */
            enum { V = 16 / BYTES };
            const int x = threadIdx.x % 8 * V, y = threadIdx.x / 8;
            for (int c = y; c < WIDTH && c0 + c < q->n; c += SLAB_THREADS / 8) {
                element *to = slot(q, slab * q->n + c0 + c);
#pragma unroll
                for (int r = x; r < HEIGHT; r += 8 * V) {
                    const int at = tilemm__slab_element(r, c, BYTES);
                    union {
                        shared e[V];
                        uint32_t w[4];
                    } column;
#pragma unroll
                    for (int k = 0; k < V; k++)
                        column.e[k] = tile[tilemm__slab_below(at, k, BYTES)];
                    put<16>(to + r, column.w);
                }
            }
        } else {
            enum { STEP = SLAB_THREADS / LANES };
            const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
#pragma unroll 4
            for (int c = y; c < WIDTH; c += STEP) {
#pragma unroll
                for (int r = 0; r < HEIGHT; r += LANES)
                    if (c0 + c < q->n)
                        write_element<BYTES>(slot(q, slab * q->n + c0 + c) + x + r,
                                             tile + tilemm__slab_element(x + r, c, BYTES));
            }
        }
    }
};

static __device__ __forceinline__ void wait_for(const unsigned *count, unsigned across)
{
    while (*(const volatile unsigned *)count < across)
        ;
}

static __device__ __forceinline__ void signal_read(unsigned *count)
{
    __threadfence();
    atomicAdd(count, 1);
}

/* A tile is written while the next one has arrived, and the one after that is on its way. */
template <int BYTES>
static __device__ __forceinline__ void slabs(const tilemm__transpose_slabs_t q)
{
    typedef slab_tile<BYTES> tiles;
    typedef typename tiles::shared element;
    enum { TILE = tiles::HEIGHT * tilemm__slab_pitch(BYTES) };
    extern __shared__ __align__(16) unsigned char storage[];
    element *const tile = (element *)storage;
    const unsigned across = (unsigned)((q.n + WIDTH - 1) / WIDTH);
    const int64_t total = q.slabs * across, step = gridDim.x;
    int stage = 0;
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        const int64_t t = blockIdx.x + ahead * step;
        if (t < total)
            tiles::in(&q, t / across, t % across * WIDTH, tile + ahead * TILE);
        copy_async_commit();
    }
    copy_async_wait<STAGES - 2>();
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x < total)
        signal_read(&q.counts[blockIdx.x / across]);
    for (int64_t t = blockIdx.x; t < total; t += step) {
        const int64_t order = t / across, last = t + (STAGES - 1) * step;
        if (last < total)
            tiles::in(&q, last / across, last % across * WIDTH,
                      tile + (stage + STAGES - 1) % STAGES * TILE);
        copy_async_commit();
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (t + step < total)
                signal_read(&q.counts[(t + step) / across]);
            wait_for(&q.counts[order], across);
            if (q.fringe && order > 0)
                wait_for(&q.counts[order - 1], across);
            __threadfence();
        }
        __syncthreads();
        tiles::out(&q, order, (t - order * across) * WIDTH, tile + stage * TILE);
        __syncthreads();
        stage = (stage + 1) % STAGES;
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    static_assert(threads == SLAB_THREADS && cols == WIDTH && rows * bytes == RUN_BYTES, #tag);    \
    TRANSPOSE_KERNEL(method, tag, (threads, TILEMM__SLAB_BLOCKS), tilemm__transpose_slabs_t,       \
                     slabs<bytes>)
TILEMM__TRANSPOSE_SLABS_ROWS(KERNEL)

int tilemm__launch_transpose_slabs(const tilemm__transpose_launch_t *launch, const void *p,
                                   void *stream)
{
    static const row_t<tilemm__transpose_slabs_t> rows[] = {TILEMM__TRANSPOSE_SLABS_ROWS(ROW)};
    return launch_at_once(rows, launch, (const tilemm__transpose_slabs_t *)p, TILEMM__SLAB_SHARED,
                          stream);
}
