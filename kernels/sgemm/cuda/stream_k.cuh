/* stream_k.cuh - which tiles the clusters of planes_sm90.cu, and the blocks of rest_sm90.cu,
 * compute: whole ones, then pieces of the last tiles, whose k-steps are shared out among all
 * clusters (stream-K).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * tilemm__sgemm_stream_k_t says what a schedule is. Clusters have BLOCKS blocks. A cluster walks
 * its pieces with an iterator of one word: stream_k_start(), then stream_k_next() until that
 * returns false. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_STREAM_K_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_STREAM_K_CUH

#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/tile_walk.cuh"
#include "planes.h"

typedef tilemm__sgemm_stream_k_t stream_k_t;
typedef tilemm__sgemm_stream_k_sums_t stream_k_sums_t;

/* Steps [begin, end) of a cluster's tile. */
typedef struct {
    unsigned tile, begin, end;
} piece_t;

/* Where the range of tail cluster number `cluster` begins, in steps of the tails. */
static __device__ __forceinline__ unsigned tail_range(const stream_k_t &s, unsigned cluster)
{
    return (unsigned)((uint64_t)cluster * s.shared * s.tail / s.tail_clusters);
}

/* The tail cluster whose range has a step of the tails: the last that begins at it or before. */
static __device__ __forceinline__ unsigned tail_owner(const stream_k_t &s, unsigned step)
{
    return (unsigned)((((uint64_t)step + 1) * s.tail_clusters - 1) / (s.shared * s.tail));
}

/* The iterator of a cluster whose whole tiles are done: see stream_k_next(). */
static __device__ __forceinline__ unsigned shared_start(const stream_k_t &s, unsigned cluster)
{
    const unsigned in_layers = s.layers * s.shared;
    return s.whole + (cluster >= in_layers && cluster - in_layers < s.tail_clusters
                          ? tail_range(s, cluster - in_layers)
                          : 0);
}

/* The iterator to begin with. */
template <unsigned BLOCKS>
static __device__ __forceinline__ unsigned stream_k_start(const stream_k_t &s)
{
    const unsigned cluster = blockIdx.x / BLOCKS;
    return cluster < s.whole ? cluster : shared_start(s, cluster);
}

/* The piece at the iterator, which then goes to the next one. The iterator is the number of a whole
 * tile; then s.whole + 0 or 1 pieces of a layer done; or s.whole + the next step of the tails.
 * Returns false after the last piece. */
template <unsigned BLOCKS>
static __device__ __forceinline__ bool stream_k_next(const stream_k_t &s, unsigned *at,
                                                     piece_t *piece)
{
    const unsigned cluster = blockIdx.x / BLOCKS, clusters = gridDim.x / BLOCKS;
    const unsigned in_layers = s.layers * s.shared;
    if (*at < s.whole) {
        piece->tile = *at;
        piece->begin = 0;
        piece->end = s.steps;
        *at += clusters;
        if (*at >= s.whole)
            *at = shared_start(s, cluster);
        return true;
    }

    const unsigned from = *at - s.whole;

    if (cluster < in_layers) {
        const unsigned layer = cluster / s.shared;
        piece->tile = s.whole + cluster - layer * s.shared;
        piece->begin = layer * s.layer;
        piece->end = min(s.steps, piece->begin + s.layer);
        *at = s.whole + 1;
        return from == 0;
    }
    if (cluster - in_layers >= s.tail_clusters)
        return false;

    const unsigned to = tail_range(s, cluster - in_layers + 1), tile = from / s.tail;

    piece->tile = s.whole + tile;
    piece->begin = s.layers * s.layer + from - tile * s.tail;
    piece->end = min(s.steps, piece->begin + to - from);
    *at += piece->end - piece->begin;
    return from != to;
}

/* ---- sums of pieces ------------------------------------------------------------------------ */

/* Store the sums of a piece of a tile, in one unit, beside those of the tile's other pieces.
 * Returns true for the last piece to come; x is then the sum of all in the order of k, so that its
 * bits do not depend on which came last. Warps work alone: a thread reads what threads of the same
 * number have written. `thread` is one of ALL consumer threads, `rank` one of the cluster's blocks.
 */
template <unsigned BLOCKS, unsigned ALL, int COUNT>
static __device__ __forceinline__ bool add_up(float (&x)[COUNT], const stream_k_sums_t &to,
                                              const stream_k_t &s, const piece_t &piece,
                                              unsigned rank, unsigned thread)
{
    const unsigned BLOCK_QUADS = ALL * COUNT / 4; /* of a block's tile */
    const unsigned cluster = blockIdx.x / BLOCKS, in_layers = s.layers * s.shared;
    const unsigned tile = piece.tile - s.whole;
    unsigned pieces = s.layers, number = cluster / s.shared; /* the tile's pieces; this one */
    if (s.tail > 0) {
        const unsigned first = tail_owner(s, tile * s.tail);
        const unsigned last = tail_owner(s, (tile + 1) * s.tail - 1);
        if (cluster >= in_layers)
            number = pieces + cluster - in_layers - first;
        pieces += last - first + 1;
    }

    float4 *const sums =
        (float4 *)to.partial + thread +
        (tile * (s.layers + TILEMM__SGEMM_STREAM_K_TAILS) * BLOCKS + rank) * (uint64_t)BLOCK_QUADS;
    const unsigned apart = BLOCKS * BLOCK_QUADS; /* pieces */
    unsigned before = 0;

#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        __stcg(sums + number * apart + i / 4 * ALL, pack(x + i));
    __threadfence();
    __syncwarp();
    if (thread % 32 == 0)
        before = atomicAdd(
            &to.counters[(tile * BLOCKS + rank) * TILEMM__SGEMM_STREAM_K_COUNTERS + thread / 32],
            1);
    if (__shfl_sync(~0u, before, 0) < pieces - 1)
        return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = 0.0f;
    for (unsigned p = 0; p < pieces; p++) {
        const float4 *const from = sums + p * apart;
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            add(x + i, __ldcg(from + i / 4 * ALL));
            if (i % 32 == 28)
                reads_end();
        }
    }
    return true;
}

#endif
