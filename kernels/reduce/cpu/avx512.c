/* avx512.c - the reductions for AVX-512: a tile's 32 lanes are 4 zmm accumulators.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>

static inline __m512d widen_part(const float *p, int count)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps((__mmask8)((1u << count) - 1), p));
}

/* The compiler need not know that it is 1. */
static inline __m512d add_by_fma(__m512d sum, __m512d term)
{
    __m512d one = _mm512_set1_pd(1.0);
    __asm__("" : "+v"(one));
    return _mm512_fmadd_pd(term, one, sum);
}

#define REDUCE_ISA "avx512"
#define REDUCE_TABLE tilemm__reduce_cpu_avx512
#define REDUCE_DOUBLES 8
#define REDUCE_WORDS 16
#define REDUCE_WIDEN(p) ((vec_d)_mm512_cvtps_pd(_mm256_loadu_ps(p)))
#define REDUCE_PART(p, count) ((vec_d)widen_part(p, count))
#define REDUCE_ADD(a, b) ((vec_d)add_by_fma((__m512d)(a), (__m512d)(b)))
#define REDUCE_ACROSS(v) _mm512_reduce_add_pd((__m512d)(v))
#define REDUCE_LARGEST(v) _mm512_reduce_max_epi32((__m512i)(v))
#define REDUCE_FIRST(v) __builtin_ctz(1u << 16 | _mm512_movepi32_mask((__m512i)(v)))
#define REDUCE_MAX(a, b) ((vec_w)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#include "tile.h"
