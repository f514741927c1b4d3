/* tile_walk.cuh - the order in which blocks take the tiles of a matrix: in groups of rows of tiles,
 * down the columns of each group, so that blocks that run at one time share operands in the L2
 * cache.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_TILE_WALK_CUH
#define TILEMM_KERNELS_CUDA_TILE_WALK_CUH

#include <cuda_runtime.h>

template <typename T>
struct tile_position_t {
    T row, col;
};

/* Which tile of rows x cols is number `tile`, in groups of GROUP rows. T is unsigned or uint64_t.
 */
template <unsigned GROUP, typename T>
static __device__ __forceinline__ tile_position_t<T> tile_walk(T tile, T rows, T cols)
{
    const T group = tile / (GROUP * cols), in_group = tile - group * (GROUP * cols);
    const T height = min((T)GROUP, rows - group * GROUP), col = in_group / height;
    return {group * GROUP + (in_group - col * height), col};
}

#endif
