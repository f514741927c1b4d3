/* tile.h - the reductions' tile on a CPU, for every instruction set: a lane of the tile is
 * an element of a vector register, and a row of the tile is one load for each accumulator.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Included once by each instruction set's reduce.c, which defines
 *   REDUCE_TABLE    the table to fill
 *   REDUCE_DOUBLES  doubles in a register: 2, 4 or 8
 *   REDUCE_WORDS    floats, or 32-bit integers, in a register: twice as many
 *   REDUCE_WIDEN    DOUBLES floats at an address, as a vec_d
 *   REDUCE_PART     the first of them only, fewer than DOUBLES, and zeros
 *   REDUCE_ADD      the sum of two vec_d, as may be by a multiply-add with 1: the units that add
 *                   also widen, others multiply
 *   REDUCE_MAX      the larger of two integer vectors, element by element
 *   REDUCE_ACROSS   the sum of the elements of a vec_d, in any order
 *   REDUCE_LARGEST  the largest element of an integer vector
 *   REDUCE_FIRST    the number of the first element of an integer vector that is not 0, as all
 *                   bits of those are set; WORDS or more if there is none
 *
 * Assumes GNU vector extensions, and IEEE arithmetic: no flag that lets the compiler reorder. */
#include "kernels.h"

#if !defined(__GNUC__)
#error "the CPU kernels need GNU vector extensions"
#endif
#ifdef __FAST_MATH__
#error "the reductions promise an order of additions: build without -ffast-math"
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = TILEMM__TILE_LANES,
    ELEMS = TILEMM__TILE_ELEMS,
    DOUBLES = REDUCE_DOUBLES,
    WORDS = REDUCE_WORDS,
    PLAIN_REGS = 8, /* accumulators of a plain sum, enough to hide the latency of additions */
    ROW = PLAIN_REGS * DOUBLES,
    BLOCK = TILEMM__PLAIN_ROWS * ROW,
    KEY_REGS = 4 /* of a search */
};

typedef double vec_d __attribute__((vector_size(DOUBLES * 8)));
typedef int64_t vec_m __attribute__((vector_size(DOUBLES * 8)));
typedef int32_t vec_w __attribute__((vector_size(WORDS * 4)));
typedef uint32_t vec_u __attribute__((vector_size(WORDS * 4)));
typedef float vec_f __attribute__((vector_size(WORDS * 4)));
typedef float vec_h __attribute__((vector_size(DOUBLES * 4))); /* floats for one vec_d */
typedef int32_t vec_c __attribute__((vector_size(DOUBLES * 4)));

/* The same where a pointer has the alignment of an element only. */
typedef vec_d any_d __attribute__((aligned(8), may_alias));
typedef vec_m any_m __attribute__((aligned(8), may_alias));
typedef vec_w any_w __attribute__((aligned(4), may_alias));
typedef vec_u any_u __attribute__((aligned(4), may_alias));
typedef vec_f any_f __attribute__((aligned(4), may_alias));
typedef vec_h any_h __attribute__((aligned(4), may_alias));

/* ---- sums along a vector ------------------------------------------------------------------ */

/* What DOUBLES elements add. op and nan_ignore are constants in every caller. */
INLINE vec_d term(int op, int nan_ignore, vec_d x, vec_d y)
{
    vec_d t = x;
    if (op == TILEMM__ASUM) {
        vec_m magnitude = (vec_m){0} + INT64_MAX;
        t = (vec_d)((vec_m)t & magnitude);
    } else if (op == TILEMM__SUMSQ) {
        t *= t;
    } else if (op == TILEMM__DOT) {
        t *= y;
    }
    return nan_ignore ? (vec_d)((vec_m)t & (vec_m)(t == t)) : t;
}

INLINE vec_d term_at(int op, int nan_ignore, const float *x, const float *y)
{
    return term(op, nan_ignore, REDUCE_WIDEN(x), op == TILEMM__DOT ? REDUCE_WIDEN(y) : (vec_d){0});
}

/* sum + the term: by one rounding, fused or not, for products of floats are exact. */
INLINE vec_d add_term(int op, int nan_ignore, vec_d sum, const float *x, const float *y)
{
    const vec_d t = term_at(op, nan_ignore, x, y);
    return op == TILEMM__SUM || op == TILEMM__ASUM ? REDUCE_ADD(sum, t) : sum + t;
}

/* The magnitudes of WORDS terms, to single precision. */
INLINE vec_f magnitude(int op, int nan_ignore, const float *x, const float *y)
{
    vec_f t = *(const any_f *)x;
    if (op == TILEMM__DOT) {
        t *= *(const any_f *)y;
    }
    if (nan_ignore) {
        t = (vec_f)((vec_u)t & (vec_u)(t == t));
    }
    return (vec_f)((vec_u)t & 0x7fffffffu);
}

/* Whether terms are no less than 0, so that their sum is that of their magnitudes. */
INLINE int is_positive(int op)
{
    return op != TILEMM__SUM && op != TILEMM__DOT;
}

/* Each float is worked on for longer than one FP32 addition takes, so fewer loads fit the
 * processor's window than memory could serve: a row is asked for well before it is needed. */
enum { AHEAD = 3072, DOT_AHEAD = 1024 };

INLINE void prefetch_ahead(const float *row, int ahead)
{
    enum { LINE = 64 / sizeof(float) };
#pragma GCC unroll 4
    for (int i = 0; i < ROW; i += LINE) {
        __builtin_prefetch(row + ahead + i);
    }
}

/* Add up the n <= BLOCK terms of one block: TILEMM__PLAIN_ADDITIONS at most that a term passes.
 * Past its end lie `more` elements. */
INLINE tilemm__plain_t sum_block(int op, int nan_ignore, int64_t n, int64_t more, const float *x,
                                 const float *y)
{
    const int ahead = op == TILEMM__DOT ? DOT_AHEAD : AHEAD;
    vec_d sum[PLAIN_REGS], rest = {0}; /* rest: magnitudes of what is no whole row */
    vec_f size[PLAIN_REGS / 2];
    int64_t e = 0;
    tilemm__plain_t plain;
#pragma GCC unroll 8
    for (int i = 0; i < PLAIN_REGS; i++) {
        sum[i] = (vec_d){0};
    }
#pragma GCC unroll 4
    for (int i = 0; i < PLAIN_REGS / 2; i++) {
        size[i] = (vec_f){0};
    }
    for (; e + ROW <= n; e += ROW) {
        if (more >= ahead) {
            prefetch_ahead(x + e, ahead);
            if (op == TILEMM__DOT) {
                prefetch_ahead(y + e, ahead);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < PLAIN_REGS; i++) {
            sum[i] = add_term(op, nan_ignore, sum[i], x + e + i * DOUBLES, y + e + i * DOUBLES);
        }
        if (!is_positive(op)) {
#pragma GCC unroll 4
            for (int i = 0; i < PLAIN_REGS / 2; i++) {
                size[i] += magnitude(op, nan_ignore, x + e + i * WORDS, y + e + i * WORDS);
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < PLAIN_REGS; i++) {
        if (e + DOUBLES <= n) {
            const vec_d t = term_at(op, nan_ignore, x + e, y + e);
            sum[i] += t;
            rest += (vec_d)((vec_m)t & INT64_MAX);
            e += DOUBLES;
        }
    }
    if (e < n) {
        const int count = (int)(n - e);
        const vec_d t = term(op, nan_ignore, REDUCE_PART(x + e, count),
                             op == TILEMM__DOT ? REDUCE_PART(y + e, count) : (vec_d){0});
        sum[PLAIN_REGS - 1] += t;
        rest += (vec_d)((vec_m)t & INT64_MAX);
    }
    plain.sum = REDUCE_ACROSS(((sum[0] + sum[1]) + (sum[2] + sum[3])) +
                              ((sum[4] + sum[5]) + (sum[6] + sum[7])));
    if (is_positive(op)) {
        plain.magnitude = plain.sum;
        return plain;
    }
    if (n >= ROW) {
        float sizes[WORDS];
        *(any_f *)sizes = (size[0] + size[1]) + (size[2] + size[3]);
        /* A float of `size` has added up few terms. */
        rest += (REDUCE_WIDEN(sizes) + REDUCE_WIDEN(sizes + DOUBLES)) * (1 + 0x1p-7);
    }
    plain.magnitude = REDUCE_ACROSS(rest);
    if (op == TILEMM__DOT) { /* a product that is too small for a float is off by at most 2^-149 */
        plain.magnitude += (double)n * 0x1p-148;
    }
    return plain;
}

INLINE void add_block(tilemm__total_t *total, int64_t n, tilemm__plain_t plain)
{
    total->sum = tilemm__sum_add(total->sum, plain.sum);
    total->magnitude += plain.magnitude;
    total->count += n;
}

/* *sum + more, and what that loses. */
INLINE void add_lossless(vec_d *sum, vec_d *lost, vec_d more)
{
    const vec_d next = *sum + more, part = next - *sum;
    *lost += (*sum - (next - part)) + (more - part);
    *sum = next;
}

/* The sum of one tile of n elements, 1 to 1024, that lie side by side, in the order of
 * tile_layout.h, and what its additions lose. */
INLINE tilemm__sum_t sum_tile(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    enum { REGS = LANES / DOUBLES, GROUP = REGS < 4 ? REGS : 4 };
    const int64_t full = n / LANES * LANES;
    float row[2][LANES] = {{0}};
    vec_d sum[REGS], lost[REGS];
    tilemm__sum_t lanes[DOUBLES];
    memcpy(row[0], x + full, (size_t)(n - full) * sizeof *x);
    if (op == TILEMM__DOT) {
        memcpy(row[1], y + full, (size_t)(n - full) * sizeof *y);
    }
    for (int first = 0; first < REGS; first += GROUP) {
        vec_d s[GROUP] = {{0}}, t[GROUP] = {{0}};
        for (int64_t e = first * DOUBLES; e < full; e += LANES) {
#pragma GCC unroll 4
            for (int i = 0; i < GROUP; i++) {
                const int64_t at = e + i * DOUBLES;
                add_lossless(&s[i], &t[i], term_at(op, nan_ignore, x + at, y + at));
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < GROUP; i++) {
            const int at = (first + i) * DOUBLES;
            add_lossless(&s[i], &t[i], term_at(op, nan_ignore, row[0] + at, row[1] + at));
            sum[first + i] = s[i];
            lost[first + i] = t[i];
        }
    }
    /* Fold by halves: registers first, then what lanes the last one has. */
#pragma GCC unroll 4
    for (int half = REGS / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < half; i++) {
            lost[i] += lost[i + half];
            add_lossless(&sum[i], &lost[i], sum[i + half]);
        }
    }
    for (int l = 0; l < DOUBLES; l++) {
        lanes[l].sum = sum[0][l];
        lanes[l].lost = lost[0][l];
    }
    return tilemm__fold_lanes(lanes, DOUBLES);
}

/* Bring the n <= 1024 elements of a strided vector side by side. */
static void gather(int64_t n, const float *x, int64_t istride, float *restrict tile)
{
    for (int64_t i = 0; i < n; i++) {
        tile[i] = x[i * istride];
    }
}

/* A piece of a vector, side by side: where it lies, or gathered to `packed`. */
INLINE const float *side_by_side(int64_t n, const float *x, int64_t istride, float *packed)
{
    if (istride == 1) {
        return x;
    }
    gather(n, x, istride, packed);
    return packed;
}

INLINE void sum_plain_op(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                         const float *y, int64_t y_istride, tilemm__total_t *total)
{
    const int strided = istride != 1 || (op == TILEMM__DOT && y_istride != 1);
    if (!strided) {
        for (int64_t start = 0; start < n; start += BLOCK) {
            const int64_t m = n - start < BLOCK ? n - start : BLOCK;
            add_block(total, m, sum_block(op, nan_ignore, m, n - start - m, x + start, y + start));
        }
        return;
    }
    for (int64_t start = 0; start < n; start += ELEMS) {
        const int64_t m = n - start < ELEMS ? n - start : ELEMS;
        float packed[2][ELEMS];
        const float *part = side_by_side(m, x + start * istride, istride, packed[0]);
        const float *other = part;
        if (op == TILEMM__DOT) {
            other = side_by_side(m, y + start * y_istride, y_istride, packed[1]);
        }
        add_block(total, m, sum_block(op, nan_ignore, m, 0, part, other));
    }
}

INLINE void sum_tiles_op(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                         const float *y, int64_t y_istride, tilemm__sum_t *restrict sums)
{
    for (int64_t start = 0; start < n; start += ELEMS) {
        const int64_t m = n - start < ELEMS ? n - start : ELEMS;
        float packed[2][ELEMS];
        const float *part = side_by_side(m, x + start * istride, istride, packed[0]);
        const float *other = part;
        if (op == TILEMM__DOT) {
            other = side_by_side(m, y + start * y_istride, y_istride, packed[1]);
        }
        sums[start / ELEMS] = sum_tile(op, nan_ignore, m, part, other);
    }
}

/* Make op and nan_ignore constants. */
#define FOR_EACH_SUM(call)                                                                         \
    switch (op * 2 + !!nan_ignore) {                                                               \
    case TILEMM__ASUM * 2: call(TILEMM__ASUM, 0); break;                                           \
    case TILEMM__ASUM * 2 + 1: call(TILEMM__ASUM, 1); break;                                       \
    case TILEMM__SUMSQ * 2:                                                                        \
    case TILEMM__NRM2 * 2: call(TILEMM__SUMSQ, 0); break;                                          \
    case TILEMM__SUMSQ * 2 + 1:                                                                    \
    case TILEMM__NRM2 * 2 + 1: call(TILEMM__SUMSQ, 1); break;                                      \
    case TILEMM__SUM * 2 + 1:                                                                      \
    case TILEMM__MEAN * 2 + 1: call(TILEMM__SUM, 1); break;                                        \
    case TILEMM__DOT * 2: call(TILEMM__DOT, 0); break;                                             \
    case TILEMM__DOT * 2 + 1: call(TILEMM__DOT, 1); break;                                         \
    default: call(TILEMM__SUM, 0); break;                                                          \
    }

static void sum_plain(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__total_t *total)
{
#define CALL(o, ignore) sum_plain_op(o, ignore, n, x, istride, y, y_istride, total)
    FOR_EACH_SUM(CALL)
#undef CALL
}

static tilemm__plain_t sum_short(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
#define CALL(o, ignore) return sum_block(o, ignore, n, 0, x, y)
    FOR_EACH_SUM(CALL)
#undef CALL
}

static void sum_tiles(int op, int nan_ignore, int64_t n, const float *x, int64_t istride,
                      const float *y, int64_t y_istride, tilemm__sum_t *restrict sums){
#define CALL(o, ignore) sum_tiles_op(o, ignore, n, x, istride, y, y_istride, sums)
    FOR_EACH_SUM(CALL)
#undef CALL
}

/* ---- counts and extremes along a vector --------------------------------------------------- */

/* All ones where a float is NaN. */
INLINE vec_w is_nan(vec_u bits)
{
    return (vec_w)(bits & 0x7fffffffu) > 0x7f800000;
}

static int64_t count(int64_t n, const float *x, int64_t istride)
{
    int64_t nans = 0;
    for (int64_t start = 0; start < n; start += ELEMS) {
        int64_t m = n - start < ELEMS ? n - start : ELEMS, e = 0;
        const float *tile = x + start * istride;
        float packed[ELEMS];
        vec_w found = {0};
        if (istride != 1) {
            gather(m, tile, istride, packed);
            tile = packed;
        }
        for (; e + WORDS <= m; e += WORDS) {
            found -= is_nan(*(const any_u *)(tile + e));
        }
        for (int i = 0; i < WORDS; i++) {
            nans += found[i];
        }
        for (; e < m; e++) {
            nans += tile[e] != tile[e];
        }
    }
    return n - nans;
}

/* tilemm__key_of for a register of floats. */
INLINE vec_w keys_of(tilemm__order_t order, vec_u bits)
{
    vec_u kept = bits & order.keep;
    vec_w key = (vec_w)(kept ^ ((vec_u)((vec_w)kept >> 31) & 0x7fffffffu) ^ order.flip);
    vec_w nan = is_nan(bits);
    return (key & ~nan) | (nan & order.nan);
}

/* Whether the bits of magnitudes order them: NaN, that wins, has larger ones than Inf. */
INLINE int is_magnitude(tilemm__order_t order)
{
    return order.keep == 0x7fffffffu && order.flip == 0 && order.nan == TILEMM__KEY_NAN;
}

/* The largest key of n <= 1024 elements that lie side by side; `plain` is is_magnitude(order). */
INLINE int32_t largest(int plain, tilemm__order_t order, int64_t n, const float *x)
{
    int32_t best = TILEMM__KEY_NONE;
    vec_w key[KEY_REGS];
    int64_t e = 0;
    for (int i = 0; i < KEY_REGS; i++) {
        key[i] = (vec_w){0} + TILEMM__KEY_NONE;
    }
    for (; e + KEY_REGS * WORDS <= n; e += KEY_REGS * WORDS) {
#pragma GCC unroll 4
        for (int i = 0; i < KEY_REGS; i++) {
            const vec_u bits = *(const any_u *)(x + e + i * WORDS);
            const vec_w more = plain ? (vec_w)(bits & 0x7fffffffu) : keys_of(order, bits);
            key[i] = REDUCE_MAX(key[i], more);
        }
    }
    for (; e + WORDS <= n; e += WORDS) {
        const vec_u bits = *(const any_u *)(x + e);
        const vec_w more = plain ? (vec_w)(bits & 0x7fffffffu) : keys_of(order, bits);
        key[0] = REDUCE_MAX(key[0], more);
    }
    key[0] = REDUCE_MAX(REDUCE_MAX(key[0], key[1]), REDUCE_MAX(key[2], key[3]));
    if (e < n && n >= WORDS) { /* some of these once more: that is no harm */
        const vec_u bits = *(const any_u *)(x + n - WORDS);
        const vec_w more = plain ? (vec_w)(bits & 0x7fffffffu) : keys_of(order, bits);
        key[0] = REDUCE_MAX(key[0], more);
        e = n;
    }
    best = REDUCE_LARGEST(key[0]);
    for (; e < n; e++) {
        int32_t k = tilemm__key_of(order, tilemm__float_bits(x[e]));
        best = k > best ? k : best;
    }
    return plain && best > 0x7f800000 ? TILEMM__KEY_NAN : best;
}

/* Where the key first is, in a vector that has it. */
static int64_t find_strided(tilemm__order_t order, int32_t key, const float *x, int64_t istride)
{
    int64_t i = 0;
    while (tilemm__key_of(order, tilemm__float_bits(x[i * istride])) != key) {
        i++;
    }
    return i;
}

/* The same of n elements side by side; `plain`: is_magnitude(order), and the key is no NaN's. */
INLINE int64_t find(int plain, tilemm__order_t order, int32_t key, int64_t n, const float *x)
{
    int64_t i = 0;
    for (; i + KEY_REGS * WORDS <= n; i += KEY_REGS * WORDS) {
        vec_w here = {0};
#pragma GCC unroll 4
        for (int r = 0; r < KEY_REGS; r++) {
            const vec_u bits = *(const any_u *)(x + i + r * WORDS);
            here |= (plain ? (vec_w)(bits & 0x7fffffffu) : keys_of(order, bits)) == key;
        }
        if (REDUCE_FIRST(here) < WORDS) {
            break;
        }
    }
    for (; i + WORDS <= n; i += WORDS) {
        const int first = REDUCE_FIRST(keys_of(order, *(const any_u *)(x + i)) == key);
        if (first < WORDS) {
            return i + first;
        }
    }
    return i + find_strided(order, key, x + i, 1);
}

static int32_t extreme(tilemm__order_t order, int64_t n, const float *x, int64_t istride,
                       int64_t *index)
{
    int32_t best = TILEMM__KEY_NONE;
    int64_t best_start = 0;
    for (int64_t start = 0; start < n; start += ELEMS) {
        int64_t m = n - start < ELEMS ? n - start : ELEMS;
        const float *tile = x + start * istride;
        float packed[ELEMS];
        int32_t key;
        if (istride != 1) {
            gather(m, tile, istride, packed);
            tile = packed;
        }
        key = is_magnitude(order) ? largest(1, order, m, tile) : largest(0, order, m, tile);
        if (key > best) {
            best = key;
            best_start = start;
        }
    }
    /* Where it is need be looked for in one tile only: the first that has it. */
    if (index && best != TILEMM__KEY_NONE) {
        *index = istride != 1
                     ? best_start + find_strided(order, best, x + best_start * istride, istride)
                 : is_magnitude(order) && best != TILEMM__KEY_NAN
                     ? best_start + find(1, order, best, n - best_start, x + best_start)
                     : best_start + find(0, order, best, n - best_start, x + best_start);
    }
    return best;
}

/* ---- down the rows ------------------------------------------------------------------------- */

/* Rows may lie pages apart, which no hardware prefetcher follows: ask for one that comes soon. */
INLINE void prefetch_row(int64_t i, int64_t rows, int64_t cols, const float *x, int64_t istride)
{
    enum { AHEAD = 8, LINE = 64 / sizeof(float), PAGE = 4096 / sizeof(float) };
    if (i + AHEAD < rows && (istride >= PAGE || istride <= -PAGE)) {
        const float *row = x + (i + AHEAD) * istride;
        for (int64_t j = 0; j < cols; j += LINE) {
            __builtin_prefetch(row + j);
        }
    }
}

/* The bits of WORDS magnitudes, which integers order; those of NaN count as 0 if they are ignored.
 */
INLINE vec_w magnitude_bits(int nan_ignore, const float *x)
{
    vec_u bits = *(const any_u *)x & 0x7fffffffu;
    return (vec_w)(nan_ignore ? bits & ~(vec_u)is_nan(bits) : bits);
}

/* Columns are taken a register at a time; memory is read row by row, and the 32 lanes of all
 * columns lie in a buffer that fits L1. `first` is set for the tile's first row of each lane. */
INLINE void add_down(int op, int nan_ignore, int first, int64_t cols, const float *x,
                     double *restrict lane, vec_w *largest)
{
    int64_t j = 0;
    for (; j + WORDS <= cols; j += WORDS) {
#pragma GCC unroll 2
        for (int64_t i = j; i < j + WORDS; i += DOUBLES) {
            vec_d t = term_at(op, nan_ignore, x + i, x + i);
            vec_d sum = {0};
            if (!first) {
                sum = *(const any_d *)(lane + i);
            }
            *(any_d *)(lane + i) = sum + t;
        }
        *largest = REDUCE_MAX(*largest, magnitude_bits(nan_ignore, x + j));
    }
    if (j < cols) {
        float rest[WORDS] = {0};
        for (int i = 0; j < cols; i++, j++) {
            rest[i] = x[j];
            lane[j] = (first ? 0.0 : lane[j]) + tilemm__sum_term(op, nan_ignore, x[j], x[j]);
        }
        *largest = REDUCE_MAX(*largest, magnitude_bits(nan_ignore, rest));
    }
}

INLINE double sum_down_op(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                          int64_t istride, double *restrict lanes)
{
    vec_w largest = {0};
    int32_t bits = 0;
    double term;
    for (int64_t i = 0; i < rows && i < LANES; i++) {
        prefetch_row(i, rows, cols, x, istride);
        add_down(op, nan_ignore, 1, cols, x + i * istride, lanes + i * cols, &largest);
    }
    for (int64_t i = LANES; i < rows; i++) {
        prefetch_row(i, rows, cols, x, istride);
        add_down(op, nan_ignore, 0, cols, x + i * istride, lanes + i % LANES * cols, &largest);
    }
    if (rows < LANES) {
        memset(lanes + rows * cols, 0, (size_t)((LANES - rows) * cols) * sizeof *lanes);
    }
    for (int64_t half = LANES / 2; half > 0; half /= 2) {
        double *restrict low = lanes;
        const double *restrict high = lanes + half * cols;
        for (int64_t j = 0; j < half * cols; j++) {
            low[j] += high[j];
        }
    }
    for (int i = 0; i < WORDS; i++) {
        bits = largest[i] > bits ? largest[i] : bits;
    }
    term = tilemm__bits_float((uint32_t)bits);
    return op == TILEMM__SUMSQ ? term * term : term;
}

static double sum_down(int op, int nan_ignore, int64_t rows, int64_t cols, const float *x,
                       int64_t istride, double *restrict lanes)
{
#define CALL(o, ignore) return sum_down_op(o, ignore, rows, cols, x, istride, lanes)
    FOR_EACH_SUM(CALL)
#undef CALL
}

static void count_down(int64_t rows, int64_t cols, const float *x, int64_t istride,
                       int64_t *restrict counts)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * istride;
        int64_t j = 0;
        for (; j + DOUBLES <= cols; j += DOUBLES) {
            vec_h value = *(const any_h *)(row + j);
            *(any_m *)(counts + j) -= __builtin_convertvector((vec_c)(value == value), vec_m);
        }
        for (; j < cols; j++) {
            counts[j] += row[j] == row[j];
        }
    }
}

INLINE void extreme_down_op(int has_where, tilemm__order_t order, int64_t rows, int64_t cols,
                            const float *x, int64_t istride, int32_t *restrict keys,
                            int32_t *restrict where)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * istride;
        int64_t j = 0;
        prefetch_row(i, rows, cols, x, istride);
        for (; j + WORDS <= cols; j += WORDS) {
            vec_w key = keys_of(order, *(const any_u *)(row + j));
            vec_w old = *(const any_w *)(keys + j);
            *(any_w *)(keys + j) = REDUCE_MAX(key, old);
            if (has_where) {
                vec_w greater = key > old, place = *(const any_w *)(where + j);
                *(any_w *)(where + j) = (greater & (int32_t)i) | (place & ~greater);
            }
        }
        for (; j < cols; j++) {
            int32_t key = tilemm__key_of(order, tilemm__float_bits(row[j]));
            if (key > keys[j]) {
                keys[j] = key;
                if (has_where) {
                    where[j] = (int32_t)i;
                }
            }
        }
    }
}

static void extreme_down(tilemm__order_t order, int64_t rows, int64_t cols, const float *x,
                         int64_t istride, int32_t *restrict keys, int32_t *restrict where)
{
    if (where) {
        extreme_down_op(1, order, rows, cols, x, istride, keys, where);
    } else {
        extreme_down_op(0, order, rows, cols, x, istride, keys, where);
    }
}

const tilemm__reduce_cpu_t REDUCE_TABLE = {sum_short, BLOCK,    sum_plain,  sum_tiles,   count,
                                           extreme,   sum_down, count_down, extreme_down};
