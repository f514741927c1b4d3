/* avx2.c - transposing kernels for AVX2.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>
#include <stdint.h>

static inline __m256i load_lanes(const char *p, int64_t step)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + step));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

#define TILE_LOAD(p, step) load_lanes(p, step)
#define TILE_STREAM(p, v) _mm256_stream_si256((__m256i *)(void *)(p), (__m256i)(v))
#define TILE_FENCE() _mm_sfence()

#define TILE_TABLE tilemm__transpose_cpu_avx2
#define TILE_BYTES 32
#include "tile.h"
