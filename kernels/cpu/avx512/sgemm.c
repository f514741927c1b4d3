/* sgemm.c - SGEMM's tile for AVX-512 F, BW, DQ, VL: 28 sums + 2 of Ns + 1 broadcast of 32
 * registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define TILE_BYTES 64
#define TILE_MR 14
#define TILE_NR 32
#define TILE_ISA avx512
#define TILE_METHOD "fma"
#define TILE_LANES 0

#include "../sgemm_tile.h"
