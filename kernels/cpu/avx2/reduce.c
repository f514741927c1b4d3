/* reduce.c - the reductions for AVX2: a tile's 32 lanes are 8 ymm accumulators.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>

#define REDUCE_TABLE tilemm__reduce_cpu_avx2
#define REDUCE_DOUBLES 4
#define REDUCE_WORDS 8
#define REDUCE_WIDEN(p) ((vec_d)_mm256_cvtps_pd(_mm_loadu_ps(p)))
#define REDUCE_MAX(a, b) ((vec_w)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#include "../reduce_tile.h"
