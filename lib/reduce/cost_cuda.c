/* cost_cuda.c - sizes at which one way to reduce on a GPU becomes faster than another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"

/* Measured on an H200. */
const tilemm__reduce_cuda_cost_t tilemm__reduce_cuda_cost = {
    /* One warp for every busy_threads threads that the device holds keeps its memory busy: a busy
     * warp. With more workspace (bytes) a pass is no faster. */
    .busy_threads = 64,
    .workspace = (size_t)64 << 20,

    /* Along vectors. A warp searches a tile with all loads in flight if there are held_warps busy
     * warps for each. Sums of up to split_tiles tiles for each busy warp are divided among two
     * blocks, of up to split4_tiles, and dot products, among four. */
    .held_warps = 4,
    .split_tiles = 8,
    .split4_tiles = 4,

    /* Columns. With fewer tiles of a column than split_blocks for each multiprocessor, blocks of
     * sums may have a part of a tile's lanes. Up to low_rows rows, with more blocks than
     * column_blocks for each, and up to narrow_rows rows in any case, a thread has more of a column
     * at a time; from 65 rows on a block has 2 warps instead of 4 if the device holds at most
     * narrow_columns warps for each block. Up to 32 rows there are at most few_blocks blocks for
     * each multiprocessor. Up to two_tiles_rows rows a block has both tiles of a column even if
     * there are multiprocessors for each. Columns of which blocks of 32 are filled to full_eighths
     * eighths at most are narrow; a thread has one lane of up to lane_cols of them, and a
     * multiprocessor narrow_threads threads of blocks of more. */
    .split_blocks = 4,
    .column_blocks = 4,
    .low_rows = 256,
    .narrow_rows = 128,
    .two_tiles_rows = 1536,
    .narrow_columns = 4,
    .few_blocks = 8,
    .full_eighths = 7,
    .lane_cols = 10,
    .narrow_threads = 1024,

    /* Segments. With group_segments for each warp that the device holds, a warp takes 32 at a time.
     * A warp takes segments of up to warp_elements[0] elements; [1] if there are busy_segments for
     * each warp. list_blocks blocks for each multiprocessor take what the lists hold; the list of
     * segments has list_segments entries. */
    .group_segments = 32,
    .busy_segments = 4,
    .warp_elements = {2048, 32768},
    .list_blocks = 2,
    .list_segments = 32768,
};
