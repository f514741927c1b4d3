/* row_walk.h - how threads lie along the rows of a batch of matrices, for kernels that do the same
 * with each element. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_ROW_WALK_H
#define TILEMM_KERNELS_SGEMM_CUDA_ROW_WALK_H

#include <stdint.h>

enum {
    TILEMM__SGEMM_ROW_WALK_THREADS = 256,
    TILEMM__SGEMM_ROW_WALK_COLUMNS = 4 /* of a thread in an item */
};

/* An item is a tile: `across` threads lie along a row, and where rows are short a block takes
 * several. Block i takes items i, i + blocks, i + 2 blocks ... */
typedef struct {
    int64_t rows;          /* of all matrices */
    int64_t tiles, groups; /* items along a row, and down the rows */
    unsigned across;       /* a power of two */
    unsigned blocks;       /* 0: there is nothing to do */
} tilemm__sgemm_row_walk_t;

#ifdef __CUDACC__
/* Call work(row, column) for each of a thread's rows; its columns there are `column` and those at
 * multiples of walk.across after it. */
template <typename WORK>
static __device__ __forceinline__ void walk_rows(const tilemm__sgemm_row_walk_t &walk,
                                                 unsigned block, const WORK &work)
{
    const unsigned x = threadIdx.x % walk.across, y = threadIdx.x / walk.across;
    const unsigned down = TILEMM__SGEMM_ROW_WALK_THREADS / walk.across;
    for (uint64_t item = block; item < (uint64_t)(walk.tiles * walk.groups); item += walk.blocks) {
        const uint64_t group = item / (uint64_t)walk.tiles;
        const int64_t row = (int64_t)(group * down + y);
        const int64_t tile = (int64_t)(item - group * (uint64_t)walk.tiles);
        if (row < walk.rows)
            work(row, tile * walk.across * TILEMM__SGEMM_ROW_WALK_COLUMNS + x);
    }
}
#endif

#endif
