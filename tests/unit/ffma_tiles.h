/* ffma_tiles.h - the tiles of the GPU's FP32 multiply-add kernels, as their headers list them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_FFMA_TILES_H
#define TILEMM_TESTS_UNIT_FFMA_TILES_H

#include "kernels/sgemm/cuda/ffma.h"

typedef struct {
    int m, n, k, quads_m, quads_n, groups;
    const char *name;
} tile_t;

#define SM75_TILE(m, n, k, quads_m, quads_n, blocks)                                               \
    {m, n, k, quads_m, quads_n, 1, #m "x" #n "x" #k},
#define SM80_TILE(m, n, k, quads_m, quads_n, groups, stages, blocks)                               \
    {m, n, k, quads_m, quads_n, groups, #m "x" #n "x" #k},
static const tile_t sm75_tiles[] = {TILEMM__SGEMM_FFMA_TILES(SM75_TILE)};
static const tile_t sm80_tiles[] = {TILEMM__SGEMM_FFMA_SM80_TILES(SM80_TILE)};

#endif
