/* generic.c - SGEMM's tile for any machine: vectors of four floats, or what the compiler makes of
 * them. 8 sums + 2 of Ns + 2: fits 16 registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_HEIGHTS(X) X(1) X(2) X(3) X(4)
#define TILE_TALL 4
#define TILE_TALL_HEIGHTS(X)
#define TILE_NR 8
#define TILE_ISA generic
#define TILE_METHOD "mul"
#define TILE_LANES 0
#define TILE_STEPS 1
#define TILE_STEPS_IN_PLACE 1

#include "tile.h"
