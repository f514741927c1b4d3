/* cost_cuda.h - sizes at which one way to reduce on a GPU becomes faster than another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * All ways read each element once, and all reach the bandwidth of memory if there are enough
 * elements. For fewer elements they differ in launches, barriers and idle multiprocessors. So there
 * is no estimate of time: the plan compares sizes with these. */
#ifndef TILEMM_LIB_REDUCE_COST_CUDA_H
#define TILEMM_LIB_REDUCE_COST_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int busy_threads;
    size_t workspace;
    int held_warps;
    int split_tiles, split4_tiles;
    int split_blocks, column_blocks;
    int64_t low_rows, narrow_rows, two_tiles_rows;
    int narrow_columns, few_blocks;
    int full_eighths, lane_cols, narrow_threads;
    int group_segments, busy_segments;
    int64_t warp_elements[2];
    int list_blocks;
    int64_t list_segments;
} tilemm__reduce_cuda_cost_t;

extern const tilemm__reduce_cuda_cost_t tilemm__reduce_cuda_cost;

#endif
