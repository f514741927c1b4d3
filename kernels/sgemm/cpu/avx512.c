/* avx512.c - SGEMM's tile for AVX-512 F, BW, DQ, VL: 28 sums + 2 of Ns + 1 broadcast of 32
 * registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>
#include <stdint.h>

#define TILE_MASK 1
#define TILE_WHOLE_APART 1
typedef __mmask16 mask_t;
#define MASK_OF(count) ((__mmask16)((1u << (count)) - 1))
#define LOAD_MASKED(mask, from) _mm512_maskz_loadu_ps(mask, from)
#define STORE_MASKED(mask, to, x) _mm512_mask_storeu_ps(to, mask, (__m512)(x))
#define ADD_PRODUCT(sum, a, b) ((sum) = _mm512_fmadd_ps(_mm512_set1_ps(a), b, sum))

/* Lane l is from row 4 l + q. */
static inline __m512 load_lanes(const float *const *row, int64_t p)
{
    const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[0] + p)),
                                            _mm_loadu_ps(row[4] + p), 1);
    const __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[8] + p)),
                                             _mm_loadu_ps(row[12] + p), 1);
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

#define LOAD_LANES(row, q, p) load_lanes((row) + (q), p)
#define TILE_LOW(x, y) _mm512_unpacklo_ps(x, y)
#define TILE_HIGH(x, y) _mm512_unpackhi_ps(x, y)
#define TILE_FIRST(x, y) _mm512_shuffle_ps(x, y, 0x44)
#define TILE_LAST(x, y) _mm512_shuffle_ps(x, y, 0xee)

#define TILE_BYTES 64
#define TILE_MR 14
#define TILE_HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define TILE_TALL 16
#define TILE_TALL_HEIGHTS(X) X(15) X(16)
#define TILE_NR 32
#define TILE_ISA avx512
#define TILE_METHOD "fma"
#define TILE_LANES 0
#define TILE_STEPS 1
#define TILE_STEPS_IN_PLACE 2

#include "tile.h"
