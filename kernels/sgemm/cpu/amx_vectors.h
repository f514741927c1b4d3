/* amx_vectors.h - a matrix and one or two vectors, with the bits of the tile unit: its products of
 * planes and its sums, in its order, by FP32 multiply-adds. Planes are floats here, so that nothing
 * is packed. For amx.c alone.
 *
 * Sums cannot differ: planes of lines that need no scale are multiples of 2^(LEAST - 23), so that
 * all products and sums are normal numbers or 0, as the tile unit would have them; every
 * instruction rounds to nearest even, whatever the thread's mode.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_AMX_VECTORS_H
#define TILEMM_KERNELS_SGEMM_CPU_AMX_VECTORS_H

#include "amx_pack.h"

/* Sums of products of planes. The matrix's plane is named first; the smaller ones are in the order
 * that they have where the matrix is the caller's A. */
enum { LH, MH, MM, HM, HL, SMALLER_3, HH_3 = SMALLER_3, SUMS_3 };
enum { MH_2, HH_2, HM_2, SUMS_2 };

enum {
    MOST_VECTORS = TILEMM__PLANES_VECTORS,
    MOST_WIDTH = 1024, /* lines at a time */
    MOST_STEPS = 24    /* of k */
};
_Static_assert((int)MOST_VECTORS == 2, "as many as add_elements has");

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* How many sums there are of a vector and a group of lines. */
#define SUMS_OF(planes) ((planes) == 3 ? (int)SUMS_3 : (int)SUMS_2)

/* Sums of 16 lines and a vector: of the rows of half a step. */
typedef struct {
    __m512 of[SUMS_3];
} vector_sums_t;

/* What is kept of up to MOST_WIDTH lines, by 16, and some vectors. */
typedef struct {
    __m512i *most, *least;  /* [16 lines]: their range */
    vector_sums_t *half[2]; /* [16 lines][vector] */
    __m512 *total;          /* [16 lines][vector] */
    __m512 *largest;        /* [step][16 lines][vector]: the step's hh */
} kept_t;

/* Floats that are kept for a line. */
TILE_INLINE int64_t kept_of(const int planes, int64_t steps, int few)
{
    return 2 + few * (2 * SUMS_3 + 1 + (planes == 3 ? steps : 0));
}

/* Planes of x, each a float: as next_plane() has them. */
TILE_INLINE void split_floats(const int planes, __m512 x, __m512 plane[3])
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
#pragma GCC unroll 3
    for (int i = 0; i < planes; i++) {
        const __m512i bits = next_plane(planes, i, &x);
        plane[i] = _mm512_castsi512_ps(i == 2 ? bits : _mm512_and_si512(bits, upper));
    }
}

TILE_INLINE __m512 add_product(__m512 x, float y, __m512 sum)
{
    return _mm512_fmadd_round_ps(x, _mm512_set1_ps(y), sum, NEAREST);
}

/* Add products of 16 elements of a row, as planes, and of a vector's element. */
TILE_INLINE void add_products(const int planes, const __m512 x[3], const float *y,
                              vector_sums_t *sums)
{
    if (planes == 3) {
        sums->of[LH] = add_product(x[2], y[0], sums->of[LH]);
        sums->of[MH] = add_product(x[1], y[0], sums->of[MH]);
        sums->of[MM] = add_product(x[1], y[1], sums->of[MM]);
        sums->of[HM] = add_product(x[0], y[1], sums->of[HM]);
        sums->of[HL] = add_product(x[0], y[2], sums->of[HL]);
        sums->of[HH_3] = add_product(x[0], y[0], sums->of[HH_3]);
    } else {
        sums->of[MH_2] = add_product(x[1], y[0], sums->of[MH_2]);
        sums->of[HH_2] = add_product(x[0], y[0], sums->of[HH_2]);
        sums->of[HM_2] = add_product(x[0], y[1], sums->of[HM_2]);
    }
}

/* The same of 16 elements as they are, and of vectors. */
TILE_INLINE void add_elements(const int planes, const int few, __m512 x, const float *y,
                              range_t *range, vector_sums_t *s0, vector_sums_t *s1)
{
    __m512 plane[3];
    widen(range, x);
    split_floats(planes, x, plane);
    add_products(planes, plane, y, s0);
    if (few > 1)
        add_products(planes, plane, y + planes, s1);
}

/* Rows that are read at a time, so that sums need not be loaded and stored for each. Rows whose
 * distance is a power of two share a few sets of the caches: more would not stay there. */
enum { ROWS = 8, AHEAD = 2 * HALF /* floats of a row, asked for to L1 */ };

/* Add products of some rows, of all lines, and of vectors y: [row][vector][plane]. What is read
 * `after` comes to L2 meanwhile. Sums are variables, as GCC 12 would store those of an array after
 * each row. */
TILE_INLINE void add_rows_of(const int planes, const int few, const int rows, const float *from,
                             int64_t ld, int count, const float *after, const float *y, kept_t kept,
                             vector_sums_t *sums)
{
    int at = 0;
    for (int g = 0; g * HALF < count; g++, from += HALF, sums += few) {
        const __mmask16 mask = first(count - g * HALF);
        range_t range = {kept.most[g], kept.least[g]};
        vector_sums_t s0 = sums[0], s1 = sums[few - 1];
#pragma GCC unroll 8
        for (int row = 0; row < rows; row++) {
            const __m512 x = _mm512_maskz_loadu_ps(mask, from + row * ld);
            _mm_prefetch((const char *)(from + row * ld + AHEAD), _MM_HINT_T0);
            _mm_prefetch((const char *)(after + at), _MM_HINT_T1);
            at += HALF;
            if (at >= count) {
                after += ld;
                at = 0;
            }
            add_elements(planes, few, x, y + row * few * planes, &range, &s0, &s1);
        }
        kept.most[g] = range.most;
        kept.least[g] = range.least;
        sums[0] = s0;
        if (few > 1)
            sums[1] = s1;
    }
}

TILE_INLINE __m512 add(__m512 x, __m512 y)
{
    return _mm512_add_round_ps(x, y, NEAREST);
}

/* Both halves' sums of a step are added to the total, but for hh, which waits for the end. */
TILE_INLINE void add_step(const int planes, const vector_sums_t *low, const vector_sums_t *high,
                          int is_a, __m512 *total, __m512 *largest)
{
    const int smaller = planes == 3 ? (int)SMALLER_3 : (int)SUMS_2;
    __m512 sums[SUMS_3];
    for (int i = 0; i < SUMS_OF(planes); i++)
        sums[i] = add(low->of[i], high->of[i]);
    for (int i = 0; i < smaller; i++)
        *total = add(*total, is_a ? sums[i] : sums[smaller - 1 - i]);
    if (planes == 3)
        *largest = sums[HH_3];
}

/* The total with hh of all steps, from the last one on, `apart` from one to the next. */
TILE_INLINE __m512 add_largest(const int planes, __m512 total, const __m512 *largest, int steps,
                               int apart)
{
    for (int step = steps - 1; planes == 3 && step >= 0; step--)
        total = add(total, largest[step * apart]);
    return total;
}

/* Write 16 lines, or `count`, and vector j. */
static void write_sums(const tilemm__planes_product_t *x, __m512 sums, int line, int count,
                       int are_rows, int j)
{
    float to[HALF] __attribute__((aligned(64)));
    float *const c = x->c + (are_rows ? line * x->ldc + j : j * x->ldc + line);
    const int64_t apart = are_rows ? x->ldc : 1;
    _mm512_store_ps(to, _mm512_mul_ps(_mm512_set1_ps(x->alpha), sums));
    for (int i = 0; i < HALF && i < count - line; i++)
        c[i * apart] = x->beta == 0.0f ? to[i] : fmaf(x->beta, c[i * apart], to[i]);
}

/* As many lines as memory of `bytes` is enough for. */
TILE_INLINE void take_lines(const int planes, int64_t k, size_t bytes, int few,
                            tilemm__planes_lines_t *lines)
{
    const int64_t each = kept_of(planes, (k + STEP - 1) / STEP, few) * (int64_t)sizeof(float);
    const int64_t room = (int64_t)bytes / each / HALF * HALF;
    const int most = lines->along_k ? (int)HALF : (int)(room < MOST_WIDTH ? room : MOST_WIDTH);
    if (lines->count > most)
        lines->count = most;
}

/* As multiply_vectors (planes.h), of lines that do not lie along k. */
TILE_INLINE int multiply_rows(const int planes, const int few, const tilemm__planes_product_t *x,
                              const tilemm__planes_lines_t *lines, int are_rows, void *memory,
                              const float *vectors)
{
    const int groups = (lines->count + HALF - 1) / HALF, steps = (int)((x->k + STEP - 1) / STEP);
    const int all = groups * few, is_a = are_rows != x->exchanged;
    kept_t kept;
    kept.most = memory;
    kept.least = kept.most + groups;
    kept.half[0] = (vector_sums_t *)(kept.least + groups);
    kept.half[1] = kept.half[0] + all;
    kept.total = (__m512 *)(kept.half[1] + all);
    kept.largest = kept.total + all;
    memset(memory, 0, (size_t)((char *)kept.largest - (char *)memory));
    memset(kept.least, -1, (size_t)groups * sizeof *kept.least);
    for (int64_t p = 0; p < x->k;) {
        const int rows = x->k - p >= ROWS ? ROWS : 1;
        const float *const from = lines->src + p * lines->ld;
        const float *const after =
            p + rows < x->k ? from + rows * lines->ld : lines->src + lines->count;
        const float *const y = vectors + p * few * planes;
        vector_sums_t *const sums = kept.half[p % STEP / HALF];
        __m512 *const largest = kept.largest + p / STEP * all;
        if (rows == ROWS)
            add_rows_of(planes, few, ROWS, from, lines->ld, lines->count, after, y, kept, sums);
        else
            add_rows_of(planes, few, 1, from, lines->ld, lines->count, after, y, kept, sums);
        p += rows;
        if (p % STEP != 0 && p < x->k)
            continue;
        for (int i = 0; i < all; i++)
            add_step(planes, &kept.half[0][i], &kept.half[1][i], is_a, &kept.total[i], largest + i);
        memset(kept.half[0], 0, 2 * (size_t)all * sizeof *kept.half[0]);
    }
    for (int g = 0; g < groups; g++)
        if (!is_plain_range((range_t){kept.most[g], kept.least[g]}))
            return 0;
    for (int i = 0; i < all; i++)
        write_sums(x, add_largest(planes, kept.total[i], kept.largest + i, steps, all),
                   i / few * HALF, lines->count, are_rows, i % few);
    return 1;
}

/* Half a step of 16 lines that lie along k, and are asked for `ahead` floats later. They go through
 * a block, as lines whose distance is a power of two share a set of L1, which does not hold 16. */
TILE_INLINE void add_lines(const int planes, const int few, const float *from, int64_t ld,
                           const float *ahead, int64_t ld_ahead, const float *y, range_t *range,
                           vector_sums_t *sums)
{
    enum { LD = HALF + 4 };
    float block[HALF][LD] __attribute__((aligned(64)));
    const __m512 zero = _mm512_setzero_ps();
    vector_sums_t s0 = {{zero, zero, zero, zero, zero, zero}}, s1 = s0;
    for (int i = 0; i < HALF; i++) {
        _mm512_storeu_ps(block[i], _mm512_loadu_ps(from + i * ld));
        _mm_prefetch((const char *)(ahead + i * ld_ahead), _MM_HINT_T0);
    }
    for (int p = 0; p < HALF; p += 4, y += 4 * few * planes) {
        __m512 x[4];
        load_transposed(block[0] + p, LD, x);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            add_elements(planes, few, x[i], y + i * few * planes, range, &s0, &s1);
    }
    sums[0] = s0;
    if (few > 1)
        sums[1] = s1;
}

/* As multiply_vectors, of 16 lines that lie along k. */
TILE_INLINE int multiply_along_k(const int planes, const int few, const tilemm__planes_product_t *x,
                                 const tilemm__planes_lines_t *lines, int are_rows,
                                 const float *vectors, const float *after)
{
    enum { LATER = 128 };
    const int is_a = are_rows != x->exchanged;
    __m512 total[MOST_VECTORS], largest[MOST_STEPS][MOST_VECTORS];
    float part[STEP][STEP] __attribute__((aligned(64)));
    range_t range = no_range();
    int steps = 0;
    memset(total, 0, sizeof total);
    for (int64_t p = 0; p < x->k; p += STEP, steps++) {
        int64_t apart;
        const float *const from = step_at(lines, HALF, x->k, p, part, &apart);
        const float *const ahead =
            p + LATER < x->k ? lines->src + p + LATER : after + (p + LATER - x->k);
        const float *const y = vectors + p * few * planes;
        vector_sums_t low[MOST_VECTORS], high[MOST_VECTORS];
        add_lines(planes, few, from, apart, ahead, lines->ld, y, &range, low);
        add_lines(planes, few, from + HALF, apart, ahead + HALF, lines->ld, y + HALF * few * planes,
                  &range, high);
        for (int j = 0; j < few; j++)
            add_step(planes, &low[j], &high[j], is_a, &total[j], &largest[steps][j]);
    }
    if (!is_plain_range(range))
        return 0;
    for (int j = 0; j < few; j++)
        write_sums(x, add_largest(planes, total[j], &largest[0][j], steps, MOST_VECTORS), 0,
                   lines->count, are_rows, j);
    return 1;
}

/* As split_vectors (planes.h). */
TILE_INLINE int split_few(const int planes, int64_t k, const tilemm__planes_lines_t *lines,
                          float *to)
{
    const int64_t apart = lines->along_k ? lines->ld : 1, ahead = lines->along_k ? 1 : lines->ld;
    const int few = lines->count;
    memset(to, 0, (size_t)((k + STEP - 1) / STEP * STEP * few * planes) * sizeof *to);
    for (int j = 0; j < few; j++) {
        range_t range = no_range();
        for (int64_t p = 0; p < k; p += HALF) {
            float from[HALF] __attribute__((aligned(64))) = {0};
            float plane[3][HALF] __attribute__((aligned(64)));
            __m512 split[3];
            for (int64_t i = 0; i < HALF && p + i < k; i++)
                from[i] = lines->src[j * apart + (p + i) * ahead];
            widen(&range, _mm512_load_ps(from));
            split_floats(planes, _mm512_load_ps(from), split);
            for (int i = 0; i < planes; i++)
                _mm512_store_ps(plane[i], split[i]);
            for (int64_t i = 0; i < HALF && p + i < k; i++)
                for (int of = 0; of < planes; of++)
                    to[((p + i) * few + j) * planes + of] = plane[of][i];
        }
        if (!is_plain_range(range))
            return 0;
    }
    return 1;
}

#endif
