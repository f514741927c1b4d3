/* avx2.c - SGEMM's tile for AVX2 with FMA (-mavx2 -mfma): 12 sums + 2 of Ns + 1 broadcast
 * of 16 registers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <immintrin.h>

#define TILE_MASK 1
/* A masked load takes one of the two multipliers. */
#define TILE_WHOLE_APART 1
typedef __m256i mask_t;
#define MASK_OF(count)                                                                             \
    _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD_MASKED(mask, from) _mm256_maskload_ps(from, mask)
#define STORE_MASKED(mask, to, x) _mm256_maskstore_ps(to, mask, (__m256)(x))

/* Said outright that the sum stays in its register: gcc 11 and 12 else give it another one by and
 * by, and move or spill what was there, one instruction for every four that multiply. */
#define ADD_PRODUCT(sum, a, b)                                                                     \
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(_mm256_set1_ps(a)), "x"(b))

/* Lane l is from row 4 l + q. */
#define LOAD_LANES(row, q, p)                                                                      \
    _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((row)[q] + (p))),                     \
                         _mm_loadu_ps((row)[4 + (q)] + (p)), 1)
#define TILE_LOW(x, y) _mm256_unpacklo_ps(x, y)
#define TILE_HIGH(x, y) _mm256_unpackhi_ps(x, y)
#define TILE_FIRST(x, y) _mm256_shuffle_ps(x, y, 0x44)
#define TILE_LAST(x, y) _mm256_shuffle_ps(x, y, 0xee)

#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define TILE_TALL 8
#define TILE_TALL_HEIGHTS(X) X(7) X(8)
#define TILE_NR 16
#define TILE_ISA avx2
#define TILE_METHOD "fma"
#define TILE_LANES 0
#define TILE_STEPS 4
#define TILE_STEPS_IN_PLACE 2

#include "tile.h"
