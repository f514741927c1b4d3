/* reduce.c - the reductions for AVX-512: a tile's 32 lanes are 4 zmm accumulators.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>

#define REDUCE_TABLE tilemm__reduce_cpu_avx512
#define REDUCE_DOUBLES 8
#define REDUCE_WORDS 16
#define REDUCE_WIDEN(p) ((vec_d)_mm512_cvtps_pd(_mm256_loadu_ps(p)))
#define REDUCE_MAX(a, b) ((vec_w)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#include "../reduce_tile.h"
