/* avx512/transpose.c - transposing kernels for AVX-512 (F, BW, DQ, VL).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>
#include <stdint.h>

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

static inline void turn_lanes(__m512 v[4])
{
    const __m512 low = _mm512_shuffle_f32x4(v[0], v[1], 0x44);
    const __m512 high = _mm512_shuffle_f32x4(v[0], v[1], 0xee);
    const __m512 other_low = _mm512_shuffle_f32x4(v[2], v[3], 0x44);
    const __m512 other_high = _mm512_shuffle_f32x4(v[2], v[3], 0xee);

    v[0] = _mm512_shuffle_f32x4(low, other_low, 0x88);
    v[1] = _mm512_shuffle_f32x4(low, other_low, 0xdd);
    v[2] = _mm512_shuffle_f32x4(high, other_high, 0x88);
    v[3] = _mm512_shuffle_f32x4(high, other_high, 0xdd);
}

#define TILE_LOAD(p, step) load_lanes(p, step)
#define TILE_TURN(v) turn_lanes(v)
#define TILE_STREAM(p, v) _mm512_stream_si512((__m512i *)(void *)(p), (__m512i)(v))
#define TILE_FENCE() _mm_sfence()

#define TILE_TABLE tilemm__transpose_cpu_avx512
#define TILE_BYTES 64
#include "../transpose_tile.h"
