/* cost_cuda.c - sizes at which one way to reduce on a GPU becomes faster than another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"

/* Measured on an H200. */
const tilemm__reduce_cuda_cost_t tilemm__reduce_cuda_cost = {
    /* All vectors. A busy warp: one for each so many threads that the device holds keeps memory
     * busy. Workspace: bytes; with more, a pass is no faster. */
    .busy_threads = 64,
    .workspace = (size_t)64 << 20,

    /* Along vectors. A block searches up to so many elements in one launch. Sums are divided among
     * blocks up to so many tiles for each busy warp: in two, or up to the second number in four. */
    .search_block = 8192,
    .split_tiles = 8,
    .split4_tiles = 2,

    /* Columns. With fewer blocks for each multiprocessor, blocks have 32 warps. Up to low_rows rows
     * (a power of two times 32) a thread holds more of a column. Up to narrow_rows rows a block has
     * 1 or 2 warps, if the warps that the device holds are at most narrow_columns for each block. */
    .column_blocks = 4,
    .low_rows = 512,
    .narrow_rows = 128,
    .narrow_columns = 4,

    /* Segments. With so many segments for each warp that the device holds, a warp takes 32 at a
     * time; with busy_segments, it takes segments of up to the second number of elements, otherwise
     * the first. Blocks for each multiprocessor that take what the lists hold; entries of the list
     * of segments. */
    .group_segments = 32,
    .busy_segments = 4,
    .warp_elements = {2048, 32768},
    .list_blocks = 2,
    .list_segments = 32768,
};
