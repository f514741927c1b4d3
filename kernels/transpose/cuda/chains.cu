/* chains.cu - the second pass of a transpose in place of a matrix that is not square: runs of
 * elements change places. slabs.cu is the first pass, and says where runs lie and belong.
 *
 * The moves form cycles. Every `stride`th run is saved first, which cuts the cycles into
 * independent chains: each begins with a place whose run was saved, and ends with a saved run. One
 * warp follows a chain, several moves at a time, and marks the runs that it moves. Cycles without a
 * saved run are found by what no chain has marked: they are few and short for most shapes, many for
 * others.
 *
 * A run is RUN_BYTES bytes. Long runs have any length, and are moved in pieces of RUN_BYTES bytes
 * or less: the pieces of one number make the same moves.
 *
 * Assumes: compute capability 7.5 or later; fewer than 2^32 runs; runs, gaps and the matrix aligned
 * to the row's unit.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { RUN_BYTES = TILEMM__RUN_BYTES };

/* Where the run comes from that belongs in slot k: slots in two orders, k = x d + y and y e + x. */
static __device__ __forceinline__ uint32_t source(const tilemm__transpose_chains_t *c, uint32_t k)
{
    const uint32_t x = k / c->d;
    return (k - x * c->d) * c->e + x;
}

/* A lane's part of a run, or of a piece of one, in units that all runs are aligned to. */
template <typename unit, bool LONG>
struct part {
    enum { COUNT = RUN_BYTES / 32 / sizeof(unit) };
    const tilemm__transpose_chains_t *c;
    int64_t run_bytes;
    int64_t first; /* byte of the run */
    int units;     /* from the lane's first one to the end of the piece */

    __device__ __forceinline__ part(const tilemm__transpose_chains_t *of, uint32_t piece)
        : c(of), run_bytes(LONG ? of->run_bytes : RUN_BYTES), first((int64_t)piece * RUN_BYTES),
          units((int)(min(run_bytes - first, (int64_t)RUN_BYTES) / sizeof(unit)) -
                (int)threadIdx.x % 32)
    {
    }

    __device__ __forceinline__ unit *slot(uint32_t k) const
    {
        int64_t at = k * run_bytes + first;
        if (c->gap_bytes)
            at += k / c->slabs * c->gap_bytes;
        return (unit *)((unsigned char *)c->a + at) + threadIdx.x % 32;
    }

    __device__ __forceinline__ unit *saved(uint32_t sample) const
    {
        return (unit *)((unsigned char *)c->saved + sample * run_bytes + first) + threadIdx.x % 32;
    }

    __device__ __forceinline__ void get(unit (&v)[COUNT], const unit *from) const
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            if (!LONG || k * 32 < units)
                v[k] = from[k * 32];
    }

    __device__ __forceinline__ void put(unit *to, const unit (&v)[COUNT]) const
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            if (!LONG || k * 32 < units)
                to[k * 32] = v[k];
    }
};

template <typename unit, bool LONG>
static __device__ __forceinline__ void save(const tilemm__transpose_chains_t c, uint32_t piece)
{
    typedef part<unit, LONG> parts;
    const parts at(&c, piece);
    const uint32_t sample = (blockIdx.x * THREADS + threadIdx.x) / 32;
    unit v[parts::COUNT];
    if (sample >= c.samples)
        return;
    at.get(v, at.slot(sample * c.stride));
    at.put(at.saved(sample), v);
}

template <typename unit, bool LONG>
static __device__ __forceinline__ void chains(const tilemm__transpose_chains_t c, uint32_t piece)
{
    typedef part<unit, LONG> parts;
    const parts at(&c, piece);
    enum { TOGETHER = parts::COUNT >= 4 ? 2 : 8 / parts::COUNT };
    uint32_t place = blockIdx.x * c.stride;
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
                last = k % c.stride == 0;
                at.get(v[i], last ? at.saved(k / c.stride) : at.slot(k));
                count = i + 1;
            }
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            if (i < count) {
                at.put(at.slot(i ? from[i - 1] : place), v[i]);
                if ((!LONG || piece == 0) && threadIdx.x == 0 && from[i] % c.stride != 0)
                    atomicOr(&c.marks[from[i] / 32], 1u << from[i] % 32);
            }
        }
        place = k;
    }
}

/* A warp looks at the marks of 32 slots, and moves the cycles without marks that have their lowest
 * slot among them. */
template <typename unit, bool LONG>
static __device__ __forceinline__ void cycles(const tilemm__transpose_chains_t c, uint32_t piece)
{
    typedef part<unit, LONG> parts;
    const parts at(&c, piece);
    enum { TOGETHER = parts::COUNT >= 4 ? 1 : 4 / parts::COUNT };
    const uint32_t word = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const uint32_t k = word * 32 + lane;
    bool lowest = false;
    if (word > (c.slots - 1) / 32)
        return;
    if (k < c.slots && !(c.marks[word] >> lane & 1) && k % c.stride != 0) {
        uint32_t i = source(&c, k);
        if (i != k) {
            while (i > k)
                i = source(&c, i);
            lowest = i == k;
        }
    }
    unsigned leaders = __ballot_sync(0xffffffff, lowest);
    while (leaders) {
        const uint32_t first = __shfl_sync(0xffffffff, k, __ffs(leaders) - 1);
        uint32_t place = first;
        unit kept[parts::COUNT];
        bool last = false;
        leaders &= leaders - 1;
        at.get(kept, at.slot(first));
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
                        at.get(v[n], at.slot(i));
                        count = n + 1;
                    }
                }
            }
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (n < count) {
                    at.put(at.slot(place), v[n]);
                    place = from[n];
                }
            }
        }
        at.put(at.slot(place), kept);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    static __global__ void __launch_bounds__(threads)                                              \
        TILEMM__TRANSPOSE_NAME(method, tag)(const tilemm__transpose_chains_t c)                    \
    {                                                                                              \
        if (!facet)                                                                                \
            method<tilemm__element<bytes>, false>(c, 0);                                           \
        for (uint32_t piece = blockIdx.y; facet && piece < c.pieces; piece += gridDim.y)           \
            method<tilemm__element<bytes>, facet>(c, piece);                                       \
    }
TILEMM__TRANSPOSE_SAVE_ROWS(KERNEL)
TILEMM__TRANSPOSE_CHAINS_ROWS(KERNEL)
TILEMM__TRANSPOSE_CYCLES_ROWS(KERNEL)

int tilemm__launch_transpose_chains(const tilemm__transpose_launch_t *launch, const void *p,
                                    void *stream)
{
    static const row_t<tilemm__transpose_chains_t> rows[] = {TILEMM__TRANSPOSE_SAVE_ROWS(
        ROW) TILEMM__TRANSPOSE_CHAINS_ROWS(ROW) TILEMM__TRANSPOSE_CYCLES_ROWS(ROW)};
    const tilemm__transpose_chains_t *c = (const tilemm__transpose_chains_t *)p;
    return launch_row(rows, launch, c, stream,
                      dim3(launch->blocks, c->pieces < 65535 ? c->pieces : 65535));
}
