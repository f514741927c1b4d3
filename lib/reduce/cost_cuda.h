/* cost_cuda.h - sizes at which one way to reduce on a GPU becomes faster than another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * All ways read each element once, and all reach the bandwidth of memory if there are enough
 * elements. For fewer elements they differ in launches, barriers and idle multiprocessors. So there
 * is no estimate of time: the plan compares sizes with these, which were measured on an H200. */
#ifndef TILEMM_LIB_REDUCE_COST_CUDA_H
#define TILEMM_LIB_REDUCE_COST_CUDA_H

enum {
    /* One warp for every 64 threads that the device holds keeps its memory busy: a busy warp. With
     * more workspace (bytes) a pass is no faster. */
    COST_BUSY_THREADS = 64,
    COST_WORKSPACE = 64 << 20,

    /* Along vectors. A block searches up to 8192 elements in one launch. Sums of up to 8 tiles for
     * each busy warp are divided among two blocks, of up to 2 among four. */
    COST_SEARCH_BLOCK = 8192,
    COST_SPLIT_TILES = 8,
    COST_SPLIT4_TILES = 2,

    /* Columns. With fewer than 4 blocks for each multiprocessor, blocks have 32 warps. Up to 512
     * rows (a power of two times 32) a thread holds more of a column. Up to 128 rows a block has 1
     * or 2 warps, if the device holds at most 4 warps for each block. */
    COST_COLUMN_BLOCKS = 4,
    COST_LOW_ROWS = 512,
    COST_NARROW_ROWS = 128,
    COST_NARROW_COLUMNS = 4,

    /* Segments. With 32 for each warp that the device holds, a warp takes 32 at a time. With 4, a
     * warp takes segments of up to BUSY_ELEMENTS, otherwise of up to IDLE_ELEMENTS. Two blocks for
     * each multiprocessor take what the lists hold; the list of segments has 32768 entries. */
    COST_GROUP_SEGMENTS = 32,
    COST_BUSY_SEGMENTS = 4,
    COST_BUSY_ELEMENTS = 32768,
    COST_IDLE_ELEMENTS = 2048,
    COST_LIST_BLOCKS = 2,
    COST_LIST_SEGMENTS = 32768
};

#endif
