/* avx2.c - the reductions for AVX2: a tile's 32 lanes are 8 ymm accumulators.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>
#include <stdint.h>

static inline __m256d widen_part(const float *p, int count)
{
    const __m128i wanted = _mm_cmplt_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(count));
    return _mm256_cvtps_pd(_mm_maskload_ps(p, wanted));
}

/* The compiler need not know that it is 1. */
static inline __m256d add_by_fma(__m256d sum, __m256d term)
{
    __m256d one = _mm256_set1_pd(1.0);
    __asm__("" : "+x"(one));
    return _mm256_fmadd_pd(term, one, sum);
}

static inline double across(__m256d v)
{
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

static inline int32_t largest_word(__m256i v)
{
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

#define REDUCE_ISA "avx2"
#define REDUCE_TABLE tilemm__reduce_cpu_avx2
#define REDUCE_DOUBLES 4
#define REDUCE_WORDS 8
#define REDUCE_WIDEN(p) ((vec_d)_mm256_cvtps_pd(_mm_loadu_ps(p)))
#define REDUCE_PART(p, count) ((vec_d)widen_part(p, count))
#define REDUCE_ADD(a, b) ((vec_d)add_by_fma((__m256d)(a), (__m256d)(b)))
#define REDUCE_ACROSS(v) across((__m256d)(v))
#define REDUCE_LARGEST(v) largest_word((__m256i)(v))
#define REDUCE_FIRST(v) __builtin_ctz(1u << 8 | (unsigned)_mm256_movemask_ps((__m256)(v)))
#define REDUCE_MAX(a, b) ((vec_w)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#include "tile.h"
