/* tile.cuh - shared by the FFMA kernels: a block's tile, and sums of chains of multiply-adds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_TILE_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_TILE_CUH

#include <cuda_runtime.h>

#include "ffma.h"
#include "kernels/cuda/tile_walk.cuh"

/* A block's tile of one matrix, and its range of k. */
typedef struct {
    uint64_t matrix, split;
    int64_t begin_m, begin_n; /* where the tile begins, rows and columns counted in whole tiles */
    int64_t m0, n0;           /* where it lies: the last one is moved back to end with the matrix */
    int64_t k0, depth;
} tile_place_t;

/* Tile number `block` of BM x BN. The splits of a tile follow each other, then tiles, then
 * matrices.
 */
template <int BM, int BN>
static __device__ __forceinline__ tile_place_t tile_place(const tilemm__sgemm_ffma_t &problem,
                                                          uint64_t block)
{
    const uint64_t tiles_m = problem.tiles_m, tiles_n = problem.tiles_n;
    const tilemm__sgemm_args_t &args = problem.args;
    tile_place_t p;
    uint64_t tile = block;
    p.split = p.matrix = 0;
    if (problem.splits > 1) {
        tile = block / (uint64_t)problem.splits;
        p.split = block - tile * problem.splits;
    }
    if (args.batch_count > 1) {
        p.matrix = tile / (tiles_m * tiles_n);
        tile -= p.matrix * (tiles_m * tiles_n);
    }

    const tile_position_t<uint64_t> at = tile_walk<16>(tile, tiles_m, tiles_n);

    p.begin_m = at.row * BM;
    p.begin_n = at.col * BN;
    p.m0 = max((int64_t)0, min(p.begin_m, args.m - BM));
    p.n0 = max((int64_t)0, min(p.begin_n, args.n - BN));
    p.k0 = (int64_t)p.split * problem.k_split;
    p.depth = min(problem.k_split, args.k - p.k0);
    return p;
}

/* End a chain: total += sum, and sum = what the addition lost, unless that is not finite. */
template <int M, int N>
static __device__ __forceinline__ void end_chain(float (&total)[M][N], float (&sum)[M][N])
{
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float next = total[i][j] + sum[i][j], added = next - total[i][j];
            const float lost = (total[i][j] - (next - added)) + (sum[i][j] - added);
            total[i][j] = next;
            sum[i][j] = isfinite(lost) ? lost : 0.0f;
        }
}

#endif
