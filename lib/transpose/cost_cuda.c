/* cost_cuda.c - see cost_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"

const tilemm__transpose_cost_t tilemm__transpose_cost = {
    .strip_side = 32,
    .narrow_side = 17,
    .gather_bytes = {2048, 256},
    .gather_rows = {16, 28},
    .tile_side = {24, 20, 28},
    .gather_cols = 4,
    .gather_elem_size = 4,
    .small_tiles = 4,
    .full_thirds = 2,
    .half_strips = 2,
    .odd_bytes = {12 << 10, 256 << 10},
    .odd_elements = {1 << 17, 1 << 19},
    .narrow_bytes = 80 << 20,
    .packed_bytes = 96 << 10,
    .few_cols = 8,
    .early_blocks = 2,
    .streaming_share = 0.5,
    .workspace_bytes = 4 << 20,
    .workspace_share = 32,
    .slabs_least = 32,
    .slab_cols_least = 128,
    .stride_of_few = 11,
    .stride_few_runs = 1 << 18,
    .stride_least = 37,
    .stride_most = 257,
    .run_bytes_least = 32,
    .intervals_most = 256,
};
