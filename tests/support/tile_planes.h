/* tile_planes.h - the sums of invariant products on AMX, as doc/numerics.md has them: BF16 planes,
 * multiplied by TDPBF16PS. In plain C, without its subnormal numbers: elements are scaled so that
 * none come up.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_TILE_PLANES_H
#define TILEMM_TESTS_SUPPORT_TILE_PLANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A machine with AMX has FMA, which the compiler may use here: the C library's fmaf() is a call. */
#ifdef __x86_64__
#define TILE_TARGET __attribute__((target("fma")))
#else
#define TILE_TARGET
#endif

enum { TILE_STEP = 32, TILE_MOST_BLOCK = 768, TILE_WIDEST = 96 };
enum { TILE_H = 0, TILE_M, TILE_L, TILE_PLANES };

/* A line in a block of k: its elements, times 2^scale, as planes. */
typedef struct {
    int scale;
    float plane[TILE_PLANES][TILE_MOST_BLOCK];
} tile_line_t;

/* The nearest number of BF16, ties away from 0. */
static inline float tile_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x8000) & 0xffff0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* The exponent of a float that is finite and not 0; of a subnormal one -126. */
static inline int tile_exponent(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int biased = (int)(bits >> 23 & 255);
    return (biased > 0 ? biased : 1) - 127;
}

/* k elements, `step` apart, of a block that is filled up with zeros. Returns 0 if planes do not
 * carry the line. */
static inline int tile_line(int64_t k, const float *x, int64_t step, tile_line_t *line)
{
    int most = -127, least = 128;
    for (int64_t p = 0; p < k; p++) {
        const float element = x[p * step];
        if (!isfinite(element))
            return 0;
        if (element == 0)
            continue;
        const int exponent = tile_exponent(element);
        most = exponent > most ? exponent : most;
        least = exponent < least ? exponent : least;
    }
    if (most - least > TILE_WIDEST)
        return 0;
    line->scale = 56 - most;
    /* 2^scale may be too large for a float. Neither of the two products is rounded. */
    const float root = ldexpf(1, line->scale / 2), rest = ldexpf(1, line->scale - line->scale / 2);
    memset(line->plane, 0, sizeof line->plane);
    for (int64_t p = 0; p < k; p++) {
        float left = x[p * step] * root * rest;
        for (int plane = 0; plane < TILE_PLANES; plane++) {
            line->plane[plane][p] = tile_bf16(left);
            left -= line->plane[plane][p];
        }
    }
    return 1;
}

/* TDPBF16PS: an element of C and 32 products. */
TILE_TARGET static inline float tile_dot(float sum, const float *a, const float *b)
{
    float lower = 0, upper = 0;
    for (int q = 0; q < TILE_STEP / 2; q++) {
        lower = fmaf(a[q], b[q], lower);
        upper = fmaf(a[q + TILE_STEP / 2], b[q + TILE_STEP / 2], upper);
    }
    volatile float both = lower + upper;
    return sum + both;
}

/* A block's sum by multiply-adds: chains of 32, added up to sums of 128, which are added up. */
TILE_TARGET static inline float tile_exact(int64_t k, const float *a, const float *b, int64_t ldb)
{
    enum { CHAIN = 32, PIECE = 128 };
    float all = 0;
    for (int64_t piece = 0; piece < k; piece += PIECE) {
        float sum = 0;
        for (int64_t first = piece; first < k && first < piece + PIECE; first += CHAIN) {
            float chain = 0;
            for (int64_t p = first; p < k && p < first + CHAIN; p++)
                chain = fmaf(a[p], b[p * ldb], chain);
            sum = first == piece ? chain : sum + chain;
        }
        all = piece == 0 ? sum : all + sum;
    }
    return all;
}

/* The sum of a block of row a, whose planes are x unless that is NULL, and of column b. */
TILE_TARGET static inline float tile_block(int tf32, int64_t k, const float *a,
                                           const tile_line_t *x, const float *b, int64_t ldb)
{
    static const int small[][2] = {
        {TILE_L, TILE_H}, {TILE_M, TILE_H}, {TILE_M, TILE_M}, {TILE_H, TILE_M}, {TILE_H, TILE_L}};
    static const int three[][2] = {{TILE_M, TILE_H}, {TILE_H, TILE_H}, {TILE_H, TILE_M}};
    tile_line_t y;
    if (!x || !tile_line(k, b, ldb, &y))
        return tile_exact(k, a, b, ldb);
    float sum = 0;
    int64_t p = 0;
    for (; p < k; p += TILE_STEP)
        for (int i = 0; i < (tf32 ? 3 : 5); i++) {
            const int *const of = (tf32 ? three : small)[i];
            sum = tile_dot(sum, x->plane[of[0]] + p, y.plane[of[1]] + p);
        }
    while (!tf32 && p > 0) {
        p -= TILE_STEP;
        sum = tile_dot(sum, x->plane[TILE_H] + p, y.plane[TILE_H] + p);
    }
    return (float)ldexp(sum, -(x->scale + y.scale));
}

/* The sums of row a and n columns of b, whose elements are ldb apart. */
static inline void tile_sums(int tf32, int64_t n, int64_t k, const float *a, const float *b,
                             int64_t ldb, float *sums)
{
    const int64_t depth = tf32 ? 768 : 512, blocks = (k + depth - 1) / depth;
    const int64_t least = (k + blocks - 1) / blocks;
    const int64_t block = (least + TILE_STEP - 1) / TILE_STEP * TILE_STEP;
    for (int64_t p = 0; p < k; p += block) {
        const int64_t length = k - p < block ? k - p : block;
        tile_line_t line;
        const tile_line_t *const x = tile_line(length, a + p, 1, &line) ? &line : NULL;
        for (int64_t j = 0; j < n; j++) {
            const float sum = tile_block(tf32, length, a + p, x, b + p * ldb + j, ldb);
            sums[j] = p == 0 ? sum : sums[j] + sum;
        }
    }
}

#endif
