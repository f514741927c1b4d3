/* ffma_tiles.h - the tiles of the GPU's FP32 multiply-add kernels, as kernels/sgemm/variants.h
 * lists them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_FFMA_TILES_H
#define TILEMM_TESTS_UNIT_FFMA_TILES_H

#include "kernels/sgemm/variants.h"

typedef struct {
    unsigned m, n, k, quads_m, quads_n, groups;
    const char *name;
} tile_t;

/* One of the four rows of a tile, which differ in transposes. */
#define TILE(row, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)             \
    {m, n, k, quads_m, quads_n, groups, #row},
static const tile_t sm75_tiles[] = {TILEMM__SGEMM_FFMA_SM75_ROWS(TILE)};
static const tile_t sm80_tiles[] = {TILEMM__SGEMM_FFMA_SM80_ROWS(TILE)};

#endif
