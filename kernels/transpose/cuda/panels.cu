/* panels.cu - transpose in place of a matrix that is not square, in two passes.
 *
 * The m x n view (see inplace.h) is cut into p panels of `height` rows. Going forward, the first
 * pass transposes each panel where it lies: its columns become runs of `height` elements, one after
 * the other. Run c of panel i is then in slot i n + c, and belongs in slot c p + i: the second pass
 * moves whole runs. Backward, runs are moved first, from slot c p + i to slot i n + c.
 *
 * Rows that are left over, fewer than `height`, wait elsewhere meanwhile. The slots are those of
 * the matrix whose rows have m elements: slot s lies at s / p m + s % p height, so that what waits
 * has its place. The panel's own place is up to one panel away from its slots.
 *
 * First pass: a block has `WIDTH` columns of a panel at a time. A panel may be written when all of
 * it, and what lies in its slots (the panel before it in the order of work), has been read: blocks
 * count what they have read. All blocks run at once and take tiles in order, so that one always
 * gets on.
 *
 * Second pass: the moves form cycles. Every `stride`th run is saved first, which cuts the cycles
 * into chains that are independent of each other: each begins with a place whose run was saved, and
 * ends with a run that was saved. One warp follows a chain, several moves at a time. Cycles of
 * which nothing was saved are found by what no chain has marked; they are few and short, or, where
 * the shape is such that they are not, many.
 *
 * Assumes: compute capability 7.5 or later; m >= n; p n < 2^32; a run has 256 bytes; n no more than
 * tilemm__launch_transpose_panels says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"

enum {
    THREADS = TILEMM__TRANSPOSE_THREADS, /* of all kernels but panels */
    PANEL_THREADS = 128,
    WIDTH = TILEMM__PANEL_WIDTH,
    RUN_BYTES = TILEMM__RUN_BYTES,
    STAGES = TILEMM__PANEL_STAGES
};

/* ---- panels ---------------------------------------------------------------------------------- */

template <int BYTES>
struct panel_tile {
    typedef typename tilemm__element<BYTES>::type element;
    typedef typename tilemm__shared_element<BYTES>::type shared;
    enum { HEIGHT = RUN_BYTES / BYTES };

    static __device__ __forceinline__ element *slot(const tilemm__transpose_panels_t *q, int64_t s)
    {
        return (element *)q->a + (q->rest ? s * HEIGHT + s / q->panels * q->rest : s * HEIGHT);
    }

    /* Forward the last panel comes first, as its slots are behind it; backward the first. */
    static __device__ __forceinline__ int64_t panel_of(const tilemm__transpose_panels_t *q,
                                                       int64_t order)
    {
        return q->forward ? q->panels - 1 - order : order;
    }

    /* Rows of the panel to the tile, which keeps them; runs of the panel to the tile's columns. */
    static __device__ __forceinline__ void in(const tilemm__transpose_panels_t *q, int64_t order,
                                              int64_t c0, shared *tile)
    {
        const int64_t panel = panel_of(q, order);

        if (q->forward) {
            enum { STEP = PANEL_THREADS / WIDTH };
            const int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
            const int at = tilemm__panel_element(y, x, BYTES);
            const element *from = (const element *)q->a + ((panel * HEIGHT + y) * q->n + c0 + x);

            if (c0 + x < q->n) {
#pragma unroll
                for (int r = 0; r < HEIGHT; r += STEP) {
                    /* Always true: but the compiler then keeps the copies in order. */
                    if (BYTES < 4 || y + r < HEIGHT)
                        copy_async<BYTES>(tile + (BYTES < 4
                                                      ? tilemm__panel_below(at, r, BYTES)
                                                      : tilemm__panel_element(y + r, x, BYTES)),
                                          from);
                    from += STEP * q->n;
                }
            }
        } else {
            enum {
                LANES = HEIGHT < PANEL_THREADS ? HEIGHT : PANEL_THREADS,
                STEP = PANEL_THREADS / LANES
            };
            const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;

#pragma unroll 4
            for (int c = y; c < WIDTH; c += STEP) {
                if (c0 + c < q->n)
                    copy_async<BYTES>(tile + tilemm__panel_element(x, c, BYTES),
                                      slot(q, panel * q->n + c0 + c) + x);
            }
        }
    }

    static __device__ __forceinline__ void out(const tilemm__transpose_panels_t *q, int64_t order,
                                               int64_t c0, const shared *tile)
    {
        const int64_t panel = panel_of(q, order);

        if (!q->forward) {
            enum { STEP = PANEL_THREADS / WIDTH, TOGETHER = 4 };
            const int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
            const int at = tilemm__panel_element(y, x, BYTES);
            element *to = (element *)q->a + ((panel * HEIGHT + y) * q->n + c0 + x);

            if (c0 + x < q->n) {
                if (BYTES < 4) {
                    for (int r = 0; r < HEIGHT; r += TOGETHER * STEP) {
                        const int block = tilemm__panel_below(at, r, BYTES);

#pragma unroll
                        for (int k = 0; k < TOGETHER; k++) {
                            write_element<BYTES>(
                                to, tile + tilemm__panel_below(block, k * STEP, BYTES));
                            to += STEP * q->n;
                        }
                    }
                } else {
#pragma unroll 4
                    for (int r = y; r < HEIGHT; r += STEP) {
                        write_element<BYTES>(to, tile + tilemm__panel_element(r, x, BYTES));
                        to += STEP * q->n;
                    }
                }
            }
        } else if (q->wide) {
            /* Eight neighbours write 128 bytes of a run, four columns side by side. */
            enum { V = 16 / BYTES };
            const int x = threadIdx.x % 8 * V, y = threadIdx.x / 8;

            for (int c = y; c < WIDTH && c0 + c < q->n; c += PANEL_THREADS / 8) {
                element *to = slot(q, panel * q->n + c0 + c);

#pragma unroll
                for (int r = x; r < HEIGHT; r += 8 * V) {
                    const int at = tilemm__panel_element(r, c, BYTES);
                    union {
                        shared e[V];
                        uint32_t w[4];
                    } column;

#pragma unroll
                    for (int k = 0; k < V; k++)
                        column.e[k] = tile[tilemm__panel_below(at, k, BYTES)];
                    put<false>(tilemm__bytes<16>(), to + r, column.w);
                }
            }
        } else {
            enum {
                LANES = HEIGHT < PANEL_THREADS ? HEIGHT : PANEL_THREADS,
                STEP = PANEL_THREADS / LANES
            };
            const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;

#pragma unroll 4
            for (int c = y; c < WIDTH; c += STEP) {
                if (c0 + c < q->n)
                    write_element<BYTES>(slot(q, panel * q->n + c0 + c) + x,
                                         tile + tilemm__panel_element(x, c, BYTES));
            }
        }
    }
};

static __device__ __forceinline__ void wait_for(const unsigned *count, unsigned slabs)
{
    while (*(const volatile unsigned *)count < slabs)
        ;
}

static __device__ __forceinline__ void signal_read(unsigned *count)
{
    __threadfence();
    atomicAdd(count, 1);
}

/* A tile is written while the next one has arrived, and the one after that is on its way. */
template <int BYTES>
static __global__ void __launch_bounds__(PANEL_THREADS, TILEMM__PANEL_BLOCKS)
    panels(const tilemm__transpose_panels_t q)
{
    typedef panel_tile<BYTES> tiles;
    typedef typename tiles::shared element;
    enum { TILE = tiles::HEIGHT * tilemm__panel_pitch(BYTES) };
    extern __shared__ __align__(16) unsigned char storage[];
    element *const tile = (element *)storage;
    const unsigned slabs = (unsigned)((q.n + WIDTH - 1) / WIDTH);
    const int64_t total = q.panels * slabs, step = gridDim.x;
    int stage = 0;

    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        const int64_t t = blockIdx.x + ahead * step;

        if (t < total)
            tiles::in(&q, t / slabs, t % slabs * WIDTH, tile + ahead * TILE);
        async_commit();
    }
    async_wait<STAGES - 2>();
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x < total)
        signal_read(&q.counts[blockIdx.x / slabs]);
    for (int64_t t = blockIdx.x; t < total; t += step) {
        const int64_t order = t / slabs, last = t + (STAGES - 1) * step;

        if (last < total)
            tiles::in(&q, last / slabs, last % slabs * WIDTH,
                      tile + (stage + STAGES - 1) % STAGES * TILE);
        async_commit();
        async_wait<STAGES - 2>();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (t + step < total)
                signal_read(&q.counts[(t + step) / slabs]);
            wait_for(&q.counts[order], slabs);
            if (q.rest && order > 0)
                wait_for(&q.counts[order - 1], slabs);
            __threadfence();
        }
        __syncthreads();
        tiles::out(&q, order, (t - order * slabs) * WIDTH, tile + stage * TILE);
        __syncthreads();
        stage = (stage + 1) % STAGES;
    }
}

template <int BYTES>
static cudaError_t run_panels(const tilemm__transpose_panels_t *q, cudaStream_t stream)
{
    const int bytes = TILEMM__PANEL_SHARED;
    const int64_t slabs = (q->n + WIDTH - 1) / WIDTH;
    tilemm__transpose_panels_t copy = *q;
    void *arguments[] = {&copy};
    int device, processors, each;
    cudaError_t error =
        cudaFuncSetAttribute(panels<BYTES>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(panels<BYTES>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, panels<BYTES>, PANEL_THREADS,
                                                              bytes);
    if (error == cudaSuccess && slabs > (int64_t)processors * each)
        error = cudaErrorInvalidConfiguration;
    if (error == cudaSuccess)
        error = cudaMemsetAsync(q->counts, 0, (size_t)q->panels * sizeof *q->counts, stream);
    if (error == cudaSuccess)
        error = cudaLaunchCooperativeKernel((const void *)panels<BYTES>,
                                            dim3((unsigned)(processors * each)),
                                            dim3(PANEL_THREADS), arguments, (size_t)bytes, stream);
    return error;
}

int tilemm__launch_transpose_panels(const tilemm__transpose_panels_t *q, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (q->elem_size) {
    case 1: return (int)run_panels<1>(q, s);
    case 2: return (int)run_panels<2>(q, s);
    case 4: return (int)run_panels<4>(q, s);
    case 8: return (int)run_panels<8>(q, s);
    case 16: return (int)run_panels<16>(q, s);
    default: return (int)cudaErrorInvalidValue;
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Where the run comes from that belongs in slot k: slots in two orders, k = x d + y and y e + x. */
typedef struct {
    tilemm__transpose_chains_t q;
    uint32_t slots, samples, d, e;
} chains_t;

static __device__ __forceinline__ uint32_t source(const chains_t *c, uint32_t k)
{
    const uint32_t x = k / c->d;

    return (k - x * c->d) * c->e + x;
}

/* A lane's part of a run, in units that all runs are aligned to. */
template <typename unit>
struct part {
    enum { COUNT = RUN_BYTES / 32 / sizeof(unit) };

    static __device__ __forceinline__ unit *slot(const chains_t *c, uint32_t k)
    {
        int64_t at = (int64_t)k * RUN_BYTES;

        if (c->q.rest_bytes)
            at += k / c->q.panels * c->q.rest_bytes;
        return (unit *)((unsigned char *)c->q.a + at) + threadIdx.x % 32;
    }

    static __device__ __forceinline__ unit *saved(const chains_t *c, uint32_t sample)
    {
        return (unit *)((unsigned char *)c->q.saved + (int64_t)sample * RUN_BYTES) +
               threadIdx.x % 32;
    }

    static __device__ __forceinline__ void get(unit (&v)[COUNT], const unit *from)
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            v[k] = from[k * 32];
    }

    static __device__ __forceinline__ void put(unit *to, const unit (&v)[COUNT])
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            to[k * 32] = v[k];
    }
};

template <typename unit>
static __global__ void __launch_bounds__(THREADS) save(const chains_t c)
{
    typedef part<unit> parts;
    const uint32_t sample = (blockIdx.x * THREADS + threadIdx.x) / 32;
    unit v[parts::COUNT];

    if (sample >= c.samples)
        return;
    parts::get(v, parts::slot(&c, sample * c.q.stride));
    parts::put(parts::saved(&c, sample), v);
}

template <typename unit>
static __global__ void __launch_bounds__(32) chains(const chains_t c)
{
    typedef part<unit> parts;
    enum { TOGETHER = parts::COUNT >= 4 ? 2 : 8 / parts::COUNT };
    uint32_t place = blockIdx.x * c.q.stride;
    bool last = false;

    while (!last) {
        unit v[TOGETHER][parts::COUNT];
        uint32_t from[TOGETHER], k = place;
        int count = 0;

        /* Read all before writing: each move's place was read by the one before it. */
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            if (!last) {
                from[i] = k = source(&c, k);
                last = k % c.q.stride == 0;
                parts::get(v[i], last ? parts::saved(&c, k / c.q.stride) : parts::slot(&c, k));
                count = i + 1;
            }
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            if (i < count) {
                parts::put(parts::slot(&c, i ? from[i - 1] : place), v[i]);
                if (threadIdx.x == 0 && from[i] % c.q.stride != 0)
                    atomicOr(&c.q.marks[from[i] / 32], 1u << from[i] % 32);
            }
        }
        place = k;
    }
}

/* A warp looks at the marks of 32 slots. The lowest slot of a cycle without marks stands for it;
 * the warp then moves the cycle's runs. */
template <typename unit>
static __global__ void __launch_bounds__(THREADS) unsaved(const chains_t c)
{
    typedef part<unit> parts;
    enum { TOGETHER = parts::COUNT >= 4 ? 1 : 4 / parts::COUNT };
    const uint32_t word = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const uint32_t k = word * 32 + lane;
    unsigned leaders;
    bool lowest = false;

    if (word > (c.slots - 1) / 32)
        return;
    if (k < c.slots && !(c.q.marks[word] >> lane & 1) && k % c.q.stride != 0) {
        uint32_t i = source(&c, k);

        if (i != k) {
            while (i > k)
                i = source(&c, i);
            lowest = i == k;
        }
    }
    leaders = __ballot_sync(0xffffffff, lowest);
    while (leaders) {
        const uint32_t first = __shfl_sync(0xffffffff, k, __ffs(leaders) - 1);
        uint32_t place = first;
        unit kept[parts::COUNT];
        bool last = false;

        leaders &= leaders - 1;
        parts::get(kept, parts::slot(&c, first));
        while (!last) {
            unit v[TOGETHER][parts::COUNT];
            uint32_t from[TOGETHER], i = place;
            int count = 0;

#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (!last) {
                    from[n] = i = source(&c, i);
                    last = i == first;
                    if (!last) {
                        parts::get(v[n], parts::slot(&c, i));
                        count = n + 1;
                    }
                }
            }
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (n < count) {
                    parts::put(parts::slot(&c, place), v[n]);
                    place = from[n];
                }
            }
        }
        parts::put(parts::slot(&c, place), kept);
    }
}

template <typename unit>
static cudaError_t run_chains(const chains_t *c, cudaStream_t stream)
{
    const size_t words = ((size_t)c->slots + 31) / 32;
    cudaError_t error = cudaMemsetAsync(c->q.marks, 0, words * sizeof *c->q.marks, stream);

    if (error != cudaSuccess)
        return error;
    save<unit><<<(c->samples - 1) / (THREADS / 32) + 1, THREADS, 0, stream>>>(*c);
    chains<unit><<<c->samples, 32, 0, stream>>>(*c);
    unsaved<unit><<<(unsigned)((words - 1) / (THREADS / 32) + 1), THREADS, 0, stream>>>(*c);
    return cudaGetLastError();
}

int tilemm__launch_transpose_chains(const tilemm__transpose_chains_t *q, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    chains_t c;

    c.q = *q;
    c.slots = (uint32_t)(q->panels * q->n);
    c.samples = (c.slots - 1) / q->stride + 1;
    c.d = (uint32_t)(q->forward ? q->panels : q->n);
    c.e = (uint32_t)(q->forward ? q->n : q->panels);
    switch (q->unit) {
    case 1: return (int)run_chains<uint8_t>(&c, s);
    case 2: return (int)run_chains<uint16_t>(&c, s);
    case 4: return (int)run_chains<uint32_t>(&c, s);
    case 8: return (int)run_chains<uint2>(&c, s);
    default: return (int)cudaErrorInvalidValue;
    }
}
