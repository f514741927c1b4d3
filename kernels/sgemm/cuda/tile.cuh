/* tile.cuh - what the FFMA kernels have in common: which tile a block has, and how four
 * neighbours in C are stored.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_TILE_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_TILE_CUH

#include <cuda_runtime.h>

#include "sgemm.h"

/* A block's tile of one matrix, and its range of k. */
typedef struct {
    uint64_t matrix, split;
    int64_t begin_m, begin_n; /* where the tile begins, rows and columns counted in whole tiles */
    int64_t m0, n0;           /* where it lies: the last one is moved back to end with the matrix */
    int64_t k0, depth;
} tile_place_t;

/* Of BM x BN, tiles_m x tiles_n to a matrix. The splits of a tile follow each other, then tiles,
 * then matrices. Tiles are walked in columns of 16, for the L2 cache. */
template <int BM, int BN>
static __device__ __forceinline__ tile_place_t tile_place(const tilemm__sgemm_ffma_t &problem,
                                                          uint64_t block, uint64_t tiles_m,
                                                          uint64_t tiles_n)
{
    const uint64_t ROWS = 16;
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

    const uint64_t walk = tile / (ROWS * tiles_n), in_walk = tile - walk * (ROWS * tiles_n);
    const uint64_t rows = min(ROWS, tiles_m - walk * ROWS), tile_n = in_walk / rows;

    p.begin_m = (walk * ROWS + (in_walk - tile_n * rows)) * BM;
    p.begin_n = tile_n * BN;
    p.m0 = max((int64_t)0, min(p.begin_m, args.m - BM));
    p.n0 = max((int64_t)0, min(p.begin_n, args.n - BN));
    p.k0 = (int64_t)p.split * problem.k_split;
    p.depth = min(problem.k_split, args.k - p.k0);
    return p;
}

/* Store four neighbours in C, those in columns from `begin` up to `end` of 0 to 3; all or none if
 * `wide`. */
static __device__ __forceinline__ void store_four(float *c, const float *sum, float alpha,
                                                  float beta, bool wide, int begin, int end)
{
    if (wide) {
        if (begin <= 0 && end > 0) {
            float4 v = make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);

            if (beta != 0.0f) {
                const float4 old = *(const float4 *)c;

                v.x = fmaf(beta, old.x, v.x);
                v.y = fmaf(beta, old.y, v.y);
                v.z = fmaf(beta, old.z, v.z);
                v.w = fmaf(beta, old.w, v.w);
            }
            *(float4 *)c = v;
        }
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j >= begin && j < end) {
                float v = alpha * sum[j];

                if (beta != 0.0f)
                    v = fmaf(beta, c[j], v);
                c[j] = v;
            }
        }
    }
}

#endif
