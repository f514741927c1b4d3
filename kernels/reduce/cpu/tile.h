/* tile.h - the kernels of the reductions on a CPU: a lane of the tile is an element of a vector
 * register, and a row of the tile is one load for each accumulator.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Included once by each instruction set's file, which first defines what vectors.h asks for. */
#include "columns.h"
#include "searches.h"
#include "sums.h"

#define NAME(method) "reduce_" method "_" REDUCE_ISA "_32x32"
_Static_assert(TILEMM__TILE_ROWS == 32 && TILEMM__TILE_LANES == 32, "names say so");

const tilemm__reduce_cpu_t REDUCE_TABLE = {
    NAME("across"), NAME("down"), NAME("segments"), sum_short, BLOCK,      sum_plain,
    sum_tiles,      count,        extreme,          sum_down,  count_down, extreme_down};
