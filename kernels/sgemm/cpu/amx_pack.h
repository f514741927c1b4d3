/* amx_pack.h - panels of BF16 planes for AMX: how elements are split, lines scaled, and pairs laid
 * out. For amx.c alone, which says what planes are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_AMX_PACK_H
#define TILEMM_KERNELS_SGEMM_CPU_AMX_PACK_H

#include "planes.h"
#include "amx_tile.h"

#include <math.h>

#define TILE_INLINE static inline __attribute__((always_inline))

enum { LINES = TILEMM__PLANES_LINES, HALF = 16, STEP = 32 };
/* A plane of 32 lines for one step is two tiles. */
enum { PLANE_BYTES = 2 * TILE_BYTES };
_Static_assert((int)PLANE_BYTES == (int)TILEMM__PLANE_BYTES, "as the header says");
typedef tilemm__planes_head_t head_t;

/* Exponents of the elements of a line, scaled or not, but of zeros. The planes of an element are
 * multiples of 2^(LEAST - 23), products of planes and their sums of 2^(2 LEAST - 46) = 2^-126: all
 * are normal numbers or 0. No sum overflows: it is at most 768 2^(2 MOST + 2) < 2^124. */
enum { LEAST = -40, MOST = 56 };

/* Twice the bits without the sign: of the largest element; of the smallest but 0, less 1. */
typedef struct {
    __m512i most, least;
} range_t;

/* Of no element. */
TILE_INLINE range_t no_range(void)
{
    return (range_t){_mm512_setzero_si512(), _mm512_set1_epi32(-1)};
}

TILE_INLINE void widen(range_t *range, __m512 x)
{
    const __m512i twice = _mm512_slli_epi32(_mm512_castps_si512(x), 1);
    range->most = _mm512_max_epu32(range->most, twice);
    range->least = _mm512_min_epu32(range->least, _mm512_sub_epi32(twice, _mm512_set1_epi32(1)));
}

/* The exponent of the float with such bits; of a subnormal one that of its last bit's place. */
static int exponent_of(uint32_t twice)
{
    const int biased = (int)(twice >> 24);
    return (biased ? biased : 1) - 127;
}

TILE_INLINE __mmask16 first(int64_t count)
{
    return count >= 16 ? 0xffff : count <= 0 ? 0 : (__mmask16)((1u << count) - 1);
}

/* Four floats from each of 16 lines of memory; lane l is of line 4 l + q. */
TILE_INLINE __m512 load_lanes(const float *from, int64_t ld)
{
    const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)),
                                            _mm_loadu_ps(from + 4 * ld), 1);
    const __m512 most =
        _mm512_insertf32x4(_mm512_castps256_ps512(low), _mm_loadu_ps(from + 8 * ld), 2);
    return _mm512_insertf32x4(most, _mm_loadu_ps(from + 12 * ld), 3);
}

/* 16 x 4 floats, transposed: what moves stays in its lane. */
TILE_INLINE void load_transposed(const float *from, int64_t ld, __m512 x[4])
{
    const __m512 r0 = load_lanes(from, ld), r1 = load_lanes(from + ld, ld);
    const __m512 r2 = load_lanes(from + 2 * ld, ld), r3 = load_lanes(from + 3 * ld, ld);
    const __m512 even_low = _mm512_unpacklo_ps(r0, r1), even_high = _mm512_unpackhi_ps(r0, r1);
    const __m512 odd_low = _mm512_unpacklo_ps(r2, r3), odd_high = _mm512_unpackhi_ps(r2, r3);
    x[0] = _mm512_shuffle_ps(even_low, odd_low, 0x44);
    x[1] = _mm512_shuffle_ps(even_low, odd_low, 0xee);
    x[2] = _mm512_shuffle_ps(even_high, odd_high, 0x44);
    x[3] = _mm512_shuffle_ps(even_high, odd_high, 0xee);
}

/* Split the next plane off x: what its upper 16 bits say after rounding is the plane's. Of three
 * planes the last has all that is left, and need not be rounded. */
TILE_INLINE __m512i next_plane(const int planes, const int plane, __m512 *x)
{
    const __m512i bits = _mm512_castps_si512(*x);
    if (plane == 2)
        return bits;
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    const __m512i sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x8000));
    if (plane < planes - 1)
        *x = _mm512_sub_ps(*x, _mm512_castsi512_ps(_mm512_and_si512(sum, upper)));
    return sum;
}

/* A row of a tile of each plane, the first at h, the others from `rest` on: pairs of an element of
 * x and one of y. */
TILE_INLINE void split(const int planes, const int scaled, __m512 factor, range_t *range, __m512 x,
                       __m512 y, char *h, char *rest)
{
    if (scaled) {
        x = _mm512_mul_ps(x, factor);
        y = _mm512_mul_ps(y, factor);
    } else {
        widen(range, x);
        widen(range, y);
    }
#pragma GCC unroll 3
    for (int plane = 0; plane < planes; plane++) {
        const __m512i lower = _mm512_srli_epi32(next_plane(planes, plane, &x), 16);
        const __m512i upper = next_plane(planes, plane, &y);
        const __m512i mask = _mm512_set1_epi32((int)0xffff0000);
        /* lower | (upper & mask) */
        _mm512_store_si512(plane == 0 ? h : rest + (plane - 1) * PLANE_BYTES,
                           _mm512_ternarylogic_epi32(lower, upper, mask, 0xf8));
    }
}

/* Four rows of a tile of each plane, from row i on: of 16 lines and one step. A pair is k = q and
 * q + 16 of the step: so both operands come to their pairs without a shuffle. Rows of Ms' tiles are
 * lines, their pairs lie along k; the rows of Ns' tiles are pairs. Lines of memory are those rows;
 * their columns if `transposed`. `factors` of the 16 lines, if they are scaled. */
TILE_INLINE void pack_rows(const int planes, const int transposed, const int along_k,
                           const float *src, int64_t ld, int i, const int scaled,
                           const float *factors, range_t *range, char *h, char *rest)
{
    const float *other = src + (along_k ? HALF : HALF * ld);
    __m512 x[4], y[4], factor = _mm512_setzero_ps();
    if (transposed) {
        load_transposed(src + i, ld, x);
        load_transposed(other + i, ld, y);
    }
    if (scaled)
        factor = _mm512_loadu_ps(factors);
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) {
        if (!transposed) {
            x[q] = _mm512_loadu_ps(src + (i + q) * ld);
            y[q] = _mm512_loadu_ps(other + (i + q) * ld);
        }
        if (scaled && transposed != along_k)
            factor = _mm512_set1_ps(factors[i + q]);
        split(planes, scaled, factor, range, x[q], y[q], h + (i + q) * TILE_ROW_BYTES,
              rest + (i + q) * TILE_ROW_BYTES);
    }
}

/* What there is of 32 lines and one step, and zeros. */
static __attribute__((noinline)) void fill_step(int64_t rows, int64_t columns, const float *src,
                                                int64_t ld, float (*to)[STEP])
{
    memset(to, 0, sizeof(float) * STEP * STEP);
    for (int64_t i = 0; i < rows && i < STEP; i++)
        memcpy(to[i], src + i * ld, sizeof(float) * (size_t)(columns < STEP ? columns : STEP));
}

/* The step of `whole` lines that begins with p, and how far its lines of memory are apart: where it
 * lies, or in `part`. */
static inline const float *step_at(const tilemm__planes_lines_t *x, int whole, int64_t k, int64_t p,
                                   float (*part)[STEP], int64_t *apart)
{
    const float *const src = x->src + (x->along_k ? p : p * x->ld);
    *apart = x->ld;
    if (k - p >= STEP && x->count == whole)
        return src;
    fill_step(x->along_k ? x->count : k - p, x->along_k ? k - p : x->count, src, x->ld, part);
    *apart = STEP;
    return part[0];
}

/* Copy the step of 32 lines, and ask for the next one: rows of memory that are far apart may share
 * a set of L1, and hardware's prefetchers do not follow 32 of them. */
TILE_INLINE void copy_step(const tilemm__planes_lines_t *x, int64_t k, int64_t p,
                           float (*part)[STEP])
{
    int64_t apart;
    const float *from = step_at(x, LINES, k, p, part, &apart);
    const int64_t next = x->along_k ? STEP : STEP * apart;
    if (from == part[0])
        return;
    for (int i = 0; i < STEP; i++, from += apart)
        for (int j = 0; j < STEP; j += HALF) {
            _mm_prefetch((const char *)(from + next + j), _MM_HINT_T0);
            _mm512_store_ps(part[i] + j, _mm512_loadu_ps(from + j));
        }
}

TILE_INLINE void pack_all(const int planes, const int transposed, const int along_k, int64_t k,
                          const tilemm__planes_lines_t *lines, const int scaled,
                          const float *factors, range_t *range, char *to)
{
    for (int64_t p = 0; p < k; p += STEP, to += planes * PLANE_BYTES) {
        float part[STEP][STEP] __attribute__((aligned(64)));
        copy_step(lines, k, p, part);
        for (int half = 0; half < LINES; half += HALF) {
            char *const tile = to + half / HALF * TILE_BYTES;
            for (int i = 0; i < HALF; i += 4)
                pack_rows(planes, transposed, along_k, along_k ? part[half] : part[0] + half, STEP,
                          i, scaled, factors + half, range, tile, tile + PLANE_BYTES);
        }
    }
}

/* Whether planes carry elements of such a range as they are. */
static int is_plain(uint32_t most, uint32_t least)
{
    return most == 0 || (exponent_of(most) <= MOST && exponent_of(least + 1) >= LEAST);
}

static int is_plain_range(range_t range)
{
    return is_plain(_mm512_reduce_max_epu32(range.most), _mm512_reduce_min_epu32(range.least));
}

/* Scales for the lines of a panel, and the factors that they are. */
static __attribute__((noinline)) void scale_lines(int64_t k, const tilemm__planes_lines_t *lines,
                                                  head_t *head, float *factors)
{
    uint32_t most[LINES] = {0}, least[LINES] = {0};
    for (int i = 0; i < lines->count; i += lines->along_k ? 1 : HALF) {
        range_t range = no_range();
        if (lines->along_k) {
            for (int64_t p = 0; p < k; p += HALF)
                widen(&range, _mm512_maskz_loadu_ps(first(k - p), lines->src + i * lines->ld + p));
            most[i] = _mm512_reduce_max_epu32(range.most);
            least[i] = _mm512_reduce_min_epu32(range.least);
        } else {
            const __mmask16 mask = first(lines->count - i);
            for (int64_t p = 0; p < k; p++)
                widen(&range, _mm512_maskz_loadu_ps(mask, lines->src + p * lines->ld + i));
            _mm512_storeu_si512(most + i, range.most);
            _mm512_storeu_si512(least + i, range.least);
        }
    }
    head->scaled = 1;
    for (int i = 0; i < LINES; i++) {
        factors[i] = 1.0f;
        if (is_plain(most[i], least[i]))
            continue;
        /* As large as may be; 2^127 is the largest scale that is a float. */
        const int up = MOST - exponent_of(most[i]), scale = up < 127 ? up : 127;
        if (most[i] >= 0xff000000 /* Inf or NaN */ || exponent_of(least[i] + 1) + scale < LEAST) {
            head->exact |= UINT32_C(1) << i;
            factors[i] = 0.0f;
        } else {
            head->scale[i] = (int8_t)scale;
            factors[i] = ldexpf(1.0f, scale);
        }
    }
}

/* Panels are split as they are, and again if the range of their elements then shows that lines must
 * be scaled. What planes of exact lines hold does not matter. */
TILE_INLINE void pack(const int planes, const int of_ms, int64_t k,
                      const tilemm__planes_lines_t *lines, void *panel)
{
    head_t *head = panel;
    char *to = (char *)(head + 1);
    float factors[LINES];
    range_t range = no_range();
    memset(head, 0, sizeof *head);
    if (lines->along_k)
        pack_all(planes, !of_ms, 1, k, lines, 0, factors, &range, to);
    else
        pack_all(planes, of_ms, 0, k, lines, 0, factors, &range, to);
    if (is_plain_range(range))
        return;
    scale_lines(k, lines, head, factors);
    if (lines->along_k)
        pack_all(planes, !of_ms, 1, k, lines, 1, factors, &range, to);
    else
        pack_all(planes, of_ms, 0, k, lines, 1, factors, &range, to);
}

#endif
