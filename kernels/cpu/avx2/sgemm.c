/* sgemm.c - SGEMM's tile for AVX2 with FMA (-mavx2 -mfma): 12 sums + 2 of Ns + 1 broadcast
 * of 16 registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_NR 16
#define TILE_ISA avx2
#define TILE_METHOD "fma"
#define TILE_LANES 0

#include "../sgemm_tile.h"
