/* cost_cuda.c - the crossing points of the reductions' ways, measured on an H200.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"

const tilemm__reduce_cuda_cost_t tilemm__reduce_cuda_cost = {
    .busy_warps = 1,
    .workspace = (size_t)64 << 20,
    .search_block = 8192,
    .split_tiles = 8,
    .split4_tiles = 2,
    .column_blocks = 4,
    .low_rows = 512,
    .narrow_rows = 128,
    .narrow_columns = 4,
    .group_segments = 32,
    .busy_segments = 4,
    .warp_elements = {2048, 32768},
    .list_blocks = 2,
    .list_segments = 32768,
};
