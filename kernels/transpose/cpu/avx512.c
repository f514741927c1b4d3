/* avx512.c - transposing kernels for AVX-512 (F, BW, DQ, VL).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

static inline __m256i load_pair(const char *p, int64_t step)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + step));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static inline __m512i load_lanes(const char *p, int64_t step)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(load_pair(p, step)),
                              load_pair(p + 2 * step, step), 1);
}

static inline __m512i load_halves(const char *p, int64_t step)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + step));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

#define JOIN(x, y, lanes) _mm512_shuffle_i32x4((__m512i)(x), (__m512i)(y), lanes)

#define TILE_LOAD(p, step) load_lanes(p, step)
#define TILE_LOAD_HALVES(p, step) load_halves(p, step)
#define TILE_JOIN(x, y)                                                                            \
    do {                                                                                           \
        const __m512i even_ = JOIN(x, y, 0x88), odd_ = JOIN(x, y, 0xdd);                           \
        memcpy(&(x), &even_, 64);                                                                  \
        memcpy(&(y), &odd_, 64);                                                                   \
    } while (0)
#define TILE_STREAM(p, v) _mm512_stream_si512((__m512i *)(void *)(p), (__m512i)(v))
#define TILE_FENCE() _mm_sfence()

#define TILE_TABLE tilemm__transpose_cpu_avx512
#define TILE_BYTES 64
#include "tile.h"
