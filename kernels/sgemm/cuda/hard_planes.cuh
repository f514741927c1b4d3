/* hard_planes.cuh - three BF16 planes of the operands of hard tiles (route.h), for hard_tiles.cuh.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Each element, times a power of two, becomes three BF16 numbers, x = h + m + l, of 8 bits each:
 * all of a float's 24. The power is a line's own, and brings its largest element to 2^TOP_LOG2 or
 * somewhat more: so no sum of products overflows before it is scaled back, and elements that are
 * not too far below the largest (route.h) keep all bits.
 *
 * Planes lie as the tensor cores read them from shared memory, in cores of 8 lines by 8 of k, so
 * that lines of a k-step follow each other, and one copy brings a tile's. A warp makes those of 8
 * lines, and takes a chunk of that work while there are any. Chunks are numbered along k last, and
 * those of a part of k are counted when they are made: so tiles begin when the first part is there,
 * and some warps make the others meanwhile. Where all tiles share k out, pieces of them begin in
 * the middle of k, so all warps make all parts first. Whoever waits for chunks waits for those that
 * others have taken, which are running: this needs no block to be resident. Lines whose tiles all
 * go elsewhere have no planes. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_HARD_PLANES_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_HARD_PLANES_CUH

#include <cuda_runtime.h>

#include "bf16_pair.cuh"
#include "rest.h"

namespace hard_tiles
{

enum {
    BK = TILEMM__SGEMM_HARD_K,
    CORE = TILEMM__SGEMM_HARD_LINES, /* lines, and k, of a core */
    PLANES = 3,
    LINE = PLANES * BK, /* BF16 numbers of a line in a k-step */
    CHUNK = TILEMM__SGEMM_HARD_CHUNK,
    AT_ONCE = 2, /* k-steps that a warp reads while it makes the planes of as many */
    TOP_LOG2 = TILEMM__SGEMM_HARD_TOP_LOG2
};
static_assert(BK == 4 * CORE, "a lane has a line of a core");
static_assert(CHUNK % (2 * AT_ONCE * BK) == 0, "whole steps at once, an even number of times");

typedef tilemm__sgemm_hard_operand_t operand_t;
typedef tilemm__sgemm_hard_t hard_t;

static __device__ __forceinline__ float power_of_two(int log2)
{
    return __uint_as_float((unsigned)(127 + log2) << 23);
}

/* log2 of what a line was multiplied by, from what the judgement says of it. Of zeros any will do.
 */
static __device__ __forceinline__ int scale_log2(unsigned judged)
{
    const int largest = tilemm__sgemm_judged_log2(judged);
    return largest == (int)TILEMM__SGEMM_PLANES_ZERO ? 0 : TOP_LOG2 - largest;
}

/* Where the planes of `line` and of those after it begin in a k-step, in BF16 numbers. */
static __device__ __forceinline__ int64_t place_of(const operand_t &op, int64_t matrix,
                                                   unsigned step, unsigned steps, int64_t line)
{
    return ((matrix * steps + step) * op.of.mn_planes + line) * LINE;
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* 8 lines of an operand, along CHUNK of k: part `part` of `matrix`. */
struct chunk_t {
    bool of_a;
    unsigned matrix, part;
    int64_t line;
};

static __device__ __forceinline__ unsigned parts_of(const hard_t &hard)
{
    return (unsigned)((hard.a.of.k + CHUNK - 1) / CHUNK);
}

/* Chunks of a part of k of a matrix. */
static __device__ __forceinline__ unsigned chunks_of(const hard_t &hard)
{
    return (unsigned)((hard.a.of.mn_planes + hard.b.of.mn_planes) / CORE);
}

/* How many chunks of a part are made. */
static __device__ __forceinline__ unsigned *made_of(const hard_t &hard, unsigned matrix,
                                                    unsigned part)
{
    return hard.made + 1 + (uint64_t)matrix * parts_of(hard) + part;
}

/* Neighbours have neighbouring lines. */
static __device__ __forceinline__ chunk_t chunk_at(const hard_t &hard, unsigned number)
{
    const unsigned of_part = chunks_of(hard), parts = parts_of(hard), column = number / of_part;
    const unsigned at = number - column * of_part;
    const unsigned of_a = (unsigned)(hard.a.of.mn_planes / CORE), matrix = column / parts;
    return {at < of_a, matrix, column - matrix * parts,
            (int64_t)(at < of_a ? at : at - of_a) * CORE};
}

/* Whether groups of op(A), and of op(B), are hard of a matrix. */
struct any_hard_t {
    unsigned matrix;
    bool a, b;
};

static __device__ __forceinline__ bool any_hard(const tilemm__sgemm_group_t *groups, unsigned count,
                                                const tilemm__sgemm_density_t &other)
{
    bool any = false;
    for (unsigned i = threadIdx.x % 32; i < count && !any; i += 32)
        any = tilemm__sgemm_is_hard(groups[i], tilemm__sgemm_route_case(other));
    return __any_sync(~0u, any);
}

static __device__ __forceinline__ any_hard_t any_hard_of(const hard_t &hard, unsigned matrix)
{
    const tilemm__sgemm_routes_t &routes = hard.routes;
    return {matrix,
            any_hard(routes.a + (uint64_t)matrix * routes.rows, routes.rows, routes.density[1]),
            any_hard(routes.b + (uint64_t)matrix * routes.cols, routes.cols, routes.density[0])};
}

/* Whether some tile from BF16 planes may have a chunk's lines: a group of the other operand is
 * hard, or their own. */
static __device__ __forceinline__ bool is_needed(const hard_t &hard, const chunk_t &chunk,
                                                 const any_hard_t &any)
{
    const tilemm__sgemm_routes_t &routes = hard.routes;
    const unsigned group = (unsigned)(chunk.line / TILEMM__SGEMM_ROUTE_LINES);
    if (chunk.of_a ? any.b : any.a)
        return true;
    return chunk.of_a
               ? tilemm__sgemm_is_hard(routes.a[(uint64_t)chunk.matrix * routes.rows + group],
                                       tilemm__sgemm_route_case(routes.density[1]))
               : tilemm__sgemm_is_hard(routes.b[(uint64_t)chunk.matrix * routes.cols + group],
                                       tilemm__sgemm_route_case(routes.density[0]));
}

/* ---- planes --------------------------------------------------------------------------------- */

/* Read the lane's elements of a step: `left` of its line are there from them on, if any. */
template <bool K_MAJOR>
static __device__ __forceinline__ void read(const float *from, int64_t ld, bool wide, int64_t left,
                                            float (&x)[CORE])
{
    if (K_MAJOR && wide && left >= CORE) {
#pragma unroll
        for (int i = 0; i < CORE; i += 4) {
            const float4 v = __ldg((const float4 *)(from + i));
            x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < CORE; i++)
        x[i] = i < left ? __ldg(from + (K_MAJOR ? i : i * ld)) : 0.0f;
}

/* Store the lane's elements of a step, scaled: a line of a core in each plane. */
static __device__ __forceinline__ void store(float (&x)[CORE], float2 scale, unsigned short *to)
{
    unsigned planes[PLANES][CORE / 2];
#pragma unroll
    for (int i = 0; i < CORE / 2; i++) {
        float low = x[2 * i] * scale.x * scale.y, high = x[2 * i + 1] * scale.x * scale.y;
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            planes[p][i] = bf16_plane(low, high);
    }
#pragma unroll
    for (int p = 0; p < PLANES; p++)
        *(uint4 *)(to + p * (CORE * BK)) =
            make_uint4(planes[p][0], planes[p][1], planes[p][2], planes[p][3]);
}

/* Make the planes of a chunk. Neighbouring lanes lie as memory does. */
template <bool K_MAJOR>
static __device__ __forceinline__ void make_chunk(const operand_t &op, const chunk_t &chunk)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned within = K_MAJOR ? lane / 4 : lane % CORE; /* line, and core along k */
    const unsigned core = K_MAJOR ? lane % 4 : lane / CORE;
    const unsigned steps = (unsigned)((op.of.k + BK - 1) / BK), first = chunk.part * (CHUNK / BK);
    const unsigned end = min(steps, first + CHUNK / BK);
    const int64_t line = chunk.line + within;
    const bool exists = line < op.of.mn;
    const float *const matrix =
        op.of.array ? op.of.array[chunk.matrix] : op.of.from + chunk.matrix * op.of.stride;
    const int log2 =
        exists ? scale_log2(__ldg(op.of.to.exact + chunk.matrix * op.of.mn_planes + line)) : 0;
    const float2 scale =
        make_float2(power_of_two(min(log2, 127)), power_of_two(max(log2, 127) - 127));
    unsigned short *to = op.planes + place_of(op, chunk.matrix, first, steps, chunk.line) +
                         core * (CORE * CORE) + within * CORE;
    float x[2][AT_ONCE][CORE];
    const auto read_steps = [&](unsigned step, float(&y)[AT_ONCE][CORE]) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            const int64_t k = (int64_t)(step + s) * BK + core * CORE;
            read<K_MAJOR>(matrix + (K_MAJOR ? line * op.of.ld + k : k * op.of.ld + line), op.of.ld,
                          op.of.wide, exists && step + s < end ? op.of.k - k : 0, y[s]);
        }
    };
    const auto store_steps = [&](unsigned step, float(&y)[AT_ONCE][CORE]) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            if (step + s < end)
                store(y[s], scale, to);
            to += op.of.mn_planes * LINE;
        }
    };
    read_steps(first, x[0]);
#pragma unroll 1
    for (unsigned step = first; step < end; step += 2 * AT_ONCE) {
        read_steps(step + AT_ONCE, x[1]);
        store_steps(step, x[0]);
        read_steps(step + 2 * AT_ONCE, x[0]);
        store_steps(step + AT_ONCE, x[1]);
    }
}

/* Between accesses by threads and by the copy engine to global memory. */
static __device__ __forceinline__ void fence_global_for_async(void)
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* Make planes while there are chunks that nobody has taken, up to about number `until`; the warp
 * has taken `number`. All of its lanes call this. */
static __device__ __forceinline__ void make_chunks(const hard_t &hard, unsigned number,
                                                   unsigned until, any_hard_t any)
{
    const unsigned all = chunks_of(hard) * parts_of(hard) * (unsigned)hard.batch_count;
    const unsigned lane = threadIdx.x % 32;
    while (number < all) {
        const chunk_t chunk = chunk_at(hard, number);
        unsigned next = all;
        if (lane == 0 && number < until)
            next = atomicAdd(hard.made, 1);
        if (chunk.matrix != any.matrix)
            any = any_hard_of(hard, chunk.matrix);
        if (is_needed(hard, chunk, any)) {
            const operand_t &op = chunk.of_a ? hard.a : hard.b;
            if (op.of.k_major)
                make_chunk<true>(op, chunk);
            else
                make_chunk<false>(op, chunk);
            fence_global_for_async();
        }
        __syncwarp();
        if (lane == 0) {
            __threadfence();
            atomicAdd(made_of(hard, chunk.matrix, chunk.part), 1);
        }
        number = __shfl_sync(~0u, next, 0);
    }
}

/* All warps of a block: make planes, up to about chunk hard.first. `taken` is in shared memory. */
static __device__ __forceinline__ void make_first(const hard_t &hard, unsigned &taken)
{
    if (threadIdx.x == 0)
        taken = atomicAdd(hard.made, blockDim.x / 32);

    const any_hard_t any = any_hard_of(hard, 0);

    __syncthreads();
    make_chunks(hard, taken + threadIdx.x / 32, hard.first, any);
}

/* A warp: make all other planes. */
static __device__ __forceinline__ void make_others(const hard_t &hard)
{
    const unsigned number = threadIdx.x % 32 == 0 ? atomicAdd(hard.made, 1) : 0;
    make_chunks(hard, __shfl_sync(~0u, number, 0), ~0u, any_hard_of(hard, 0));
}

/* Wait until the planes of a part are made; then the calling thread may ask the copy engine for
 * them. */
static __device__ __forceinline__ void wait_for_planes(const hard_t &hard, unsigned matrix,
                                                       unsigned part)
{
    const unsigned all = chunks_of(hard);
    const volatile unsigned *const made = made_of(hard, matrix, part);
    while (*made < all)
        ;
    __threadfence();
    fence_global_for_async();
}

} /* namespace hard_tiles */

#endif
