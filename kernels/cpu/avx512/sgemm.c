/* sgemm.c - SGEMM's tile for AVX-512 F, BW, DQ, VL: 28 sums + 2 of Ns + 1 broadcast of 32
 * registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>

#define TILE_MASK 1
typedef __mmask16 mask_t;
#define MASK_OF(count) ((__mmask16)((1u << (count)) - 1))
#define LOAD_MASKED(mask, from) _mm512_maskz_loadu_ps(mask, from)
#define STORE_MASKED(mask, to, x) _mm512_mask_storeu_ps(to, mask, (__m512)(x))

#define TILE_BYTES 64
#define TILE_MR 14
#define TILE_HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define TILE_NR 32
#define TILE_ISA avx512
#define TILE_METHOD "fma"
#define TILE_LANES 0

#include "../sgemm_tile.h"
