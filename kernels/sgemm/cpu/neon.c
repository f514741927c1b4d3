/* neon.c - SGEMM's tile for NEON on aarch64: 24 sums + 3 of Ns + 2 of Ms of 32 registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef __aarch64__
#include <arm_neon.h>
#define ADD_PRODUCT(sum, a, b) ((sum) = vfmaq_n_f32(sum, b, a))
#else /* to test it elsewhere */
#define ADD_PRODUCT(sum, a, b)                                                                     \
    for (int l = 0; l < VECTOR; l++)                                                               \
    (sum)[l] = __builtin_fmaf(a, (b)[l], (sum)[l])
#endif

#define TILE_BYTES 16
#define TILE_MR 8
#define TILE_HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define TILE_TALL 8
#define TILE_TALL_HEIGHTS(X)
#define TILE_NR 12
#define TILE_ISA neon
#define TILE_METHOD "fma"
#define TILE_LANES 1
#define TILE_STEPS 1
#define TILE_STEPS_IN_PLACE 1

#include "tile.h"
