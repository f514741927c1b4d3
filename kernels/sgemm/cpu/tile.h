/* tile.h - the SGEMM micro-kernel and its packing, in GNU vector extensions: one source for
 * every instruction set. Included once by each instruction set's file.
 *
 * The including file defines
 *     TILE_BYTES    bytes in a vector
 *     TILE_MR       rows of the tile
 *     TILE_HEIGHTS(X)  X(1) X(2) ... X(TILE_MR)
 *     TILE_TALL     rows of the tile if its columns are one vector, and so have fewer sums
 *     TILE_TALL_HEIGHTS(X)  X(TILE_MR + 1) ... X(TILE_TALL)
 *     TILE_NR       columns of the tile, a multiple of the floats in a vector
 *     TILE_ISA      avx512 ...: part of the kernel's name and of the table's
 *     TILE_METHOD   "fma" or "mul"
 *     TILE_LANES    1 if multiplying by a lane of a register is free (then 4 divides TILE_MR);
 *                   0 if broadcasting a float from memory is
 *     TILE_STEPS    steps at a time where both panels are packed and whole, for which whole vectors
 *                   must have functions of their own: more than 1 where loop counters and
 *                   prefetches take what multiply-adds need
 *     TILE_STEPS_IN_PLACE  the same where op(A) is read in place along k: 1 or 2; with four, gcc
 *                   has too few registers for pointers
 *
 * Assumptions: the whole tile of accumulators fits in registers, with room for the TILE_NR columns
 * of Ns and one broadcast; the compiler may contract a * b + c. User memory and panels have the
 * alignment of a float and no more. Everything here is static, so that no code for one instruction
 * set can be linked in the place of another's.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"
#include "kernels/sgemm/layout.h"
#include "vectors.h"

/* ---- the micro-kernel -------------------------------------------------------------------- */

/* What the including file offers for a vector of which only the first elements are there.
 * TILE_WHOLE_APART: reading it costs more than a whole one, which then has functions of its own. */
#ifndef TILE_MASK
#define TILE_MASK 0
#define TILE_WHOLE_APART 0
typedef int mask_t;
#define MASK_OF(count) (count)
#define LOAD_MASKED(mask, from) (*(const vec_mem_t *)(from))
#define STORE_MASKED(mask, to, x) ((void)(mask), *(vec_mem_t *)(to) = (x))
#endif

/* sum += a b, where the including file has no better way; and of single floats. Files of fused
 * multiply-adds say so outright, as the bits of invariant products need it: a compiler may leave
 * the two apart in some loops (gcc 13 does in chains of at most 256 bits). */
#ifndef ADD_PRODUCT
#define ADD_PRODUCT(sum, a, b) ((sum) += (a) * (b))
#endif
#ifdef __FP_FAST_FMAF
#define ADD_ONE(sum, a, b) ((sum) = __builtin_fmaf(a, b, sum))
#else
#define ADD_ONE(sum, a, b) ((sum) += (a) * (b))
#endif

TILE_INLINE vec_t load(const int masked, mask_t mask, const float *from)
{
    (void)mask;
    if (masked)
        return (vec_t)LOAD_MASKED(mask, from);
    return *(const vec_mem_t *)from;
}

/* Store a tile to a C without whole vectors. Out of line: it is rarely needed. */
static __attribute__((noinline)) void store_part(const float *restrict part, int m, int n,
                                                 float beta, float *restrict c, int64_t rs_c,
                                                 int64_t cs_c)
{
    for (int i = 0; i < m; i++) {
        const float *from = part + i * TILE_NR;
        float *to = c + i * rs_c;
        if (beta == 0.0f) {
            for (int j = 0; j < n; j++)
                to[j * cs_c] = from[j];
        } else {
            for (int j = 0; j < n; j++)
                to[j * cs_c] = from[j] + beta * to[j * cs_c];
        }
    }
}

/* C on top of the sums of a first chain. Out of line: inlined, it costs the smallest products,
 * which never have it, a hundredth. */
static __attribute__((noinline)) void
add_to_part(float *restrict part, int m, int n, const float *restrict c, int64_t rs_c, int64_t cs_c)
{
    for (int i = 0; i < m; i++) {
        float *const to = part + i * TILE_NR;
        const float *const from = c + i * rs_c;
        int j = 0;
        for (; cs_c == 1 && j + VECTOR <= n; j += VECTOR)
            *(vec_mem_t *)(to + j) += *(const vec_mem_t *)(from + j);
        for (; j < n; j++)
            to[j] += from[j * cs_c];
    }
}

/* A row of C that is `apart` floats further. Volatile: else the compiler finds the addresses of all
 * rows before it adds anything up, and keeps them in memory. */
TILE_INLINE float *next_row(float *row, int64_t apart)
{
    row += apart;
    __asm__ volatile("" : "+r"(row));
    return row;
}

/* The sums of one tile on their way to C, at c: rows, vectors and masked as tile() has them. part
 * is room for the tile. */
TILE_INLINE void store_tile(const int rows, const int vectors, const int masked, const mask_t mask,
                            const tilemm__sgemm_strip_t *x, vec_t sum[TILE_TALL][VECTORS],
                            float *part, float *c)
{
    const int whole = x->n == vectors * VECTOR;
    const int64_t rs_c = x->rs_c, cs_c = x->cs_c;
    if (x->alpha != 1.0f) {
        const float alpha = x->alpha;
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] *= alpha;
        }
    }
    const float beta = x->beta;
    if (beta != 0.0f && cs_c == 1 && (masked || whole)) {
        float *from = c;
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] += beta * load(masked && v == vectors - 1, mask, from + v * VECTOR);
            from = next_row(from, rs_c);
        }
    }
    if (cs_c != 1 || (!masked && !whole)) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(part + i * TILE_NR + v * VECTOR) = sum[i][v];
        }
        store_part(part, rows, x->n, beta, c, rs_c, cs_c);
    } else if (!masked || whole) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(c + v * VECTOR) = sum[i][v];
            c = next_row(c, rs_c);
        }
    } else {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors - 1; v++)
                *(vec_mem_t *)(c + v * VECTOR) = sum[i][v];
            STORE_MASKED(mask, c + (vectors - 1) * VECTOR, sum[i][vectors - 1]);
            c = next_row(c, rs_c);
        }
    }
}

/* The rows of op(A) that are next to each other along k are reached from one pointer for every
 * five, by the strides that an address can have: 14 pointers would not fit in registers. */
enum { REACH = 5 };

/* C is asked for from the chain on that has the step ASK before the last one. */
enum { ASK = 96 };

/* Step `later` after the one that at, or ms, stands for, with the Ns of that step; apart is how far
 * rows are apart, in bytes. */
TILE_INLINE void add_step(const int rows, const int vectors, const int along_k, const int masked,
                          const mask_t mask, const int later, const char *const *at, int64_t apart,
                          const float *ms, const float *ns, vec_t sum[TILE_TALL][VECTORS])
{
    vec_t b[VECTORS];
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        b[v] = load(masked && v == vectors - 1, mask, ns + v * VECTOR);
    if (along_k) {
        const int64_t apart3 = 3 * apart;
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            const char *row = at[i / REACH];
            const float *one =
                (const float *)(const void *)(i % REACH == 3 ? row + apart3
                                                             : row + i % REACH * apart);
            const float a = one[later];
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                ADD_PRODUCT(sum[i][v], a, b[v]);
        }
        return;
    }
#if TILE_LANES
    TILE_UNROLL
    for (int q = 0; q < rows; q += 4) {
        const int left = TILE_LEAST(4, rows - q);
        four_t a = {0};
        if (left == 4)
            a = *(const four_mem_t *)(ms + q);
        TILE_UNROLL
        for (int i = 0; i < left; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                ADD_PRODUCT(sum[q + i][v], left == 4 ? a[i] : ms[q + i], b[v]);
        }
    }
#else
    TILE_UNROLL
    for (int i = 0; i < rows; i++) {
        TILE_UNROLL
        for (int v = 0; v < vectors; v++)
            ADD_PRODUCT(sum[i][v], ms[i], b[v]);
    }
#endif
}

/* To the rows `steps` further along k. */
TILE_INLINE void step_on(const int rows, const int steps, const char **at)
{
    TILE_UNROLL
    for (int i = 0; i < rows; i += REACH) {
        at[i / REACH] += steps * (int64_t)sizeof(float);
        /* Else the compiler makes a pointer for each row. */
        __asm__("" : "+r"(at[i / REACH]));
    }
}

/* Request a row of C, and return the next one. Rows that are not aligned end in one line more. */
TILE_INLINE float *ask_for_row(const int vectors, const tilemm__sgemm_strip_t *x, float *row)
{
    TILE_UNROLL
    for (int j = 0; j < vectors * VECTOR; j += LINE)
        __builtin_prefetch(row + j, 1);
    __builtin_prefetch(row + x->n - 1, 1);
    return next_row(row, x->rs_c);
}

/* The sums of one tile, from row i0 of x on. Constants once this is inlined: the rows and vectors
 * that are computed, how op(A) lies, and whether the last vector of columns is not whole. */
TILE_INLINE void tile(const int rows, const int vectors, const int along_k, const int masked,
                      const tilemm__sgemm_strip_t *x, int64_t i0)
{
    float part[TILE_TALL * TILE_NR]; /* chains that are done; then what is not whole vectors of C */
    vec_t sum[TILE_TALL][VECTORS];
    const mask_t mask = MASK_OF(x->n - (vectors - 1) * VECTOR);
    const int64_t ahead = i0 == 0 ? x->ahead : 8 * x->ld_ns;
    const float *ms = x->ms + i0 * x->row_ms, *ns = x->ns;
    const int64_t k = x->k, ld_ms = x->ld_ms, ld_ns = x->ld_ns, rs_c = x->rs_c, cs_c = x->cs_c;
    float *const c = x->c + i0 * rs_c;
    const int packed =
        !along_k && vectors == VECTORS && !masked && ld_ms == TILE_MR && ld_ns == TILE_NR;
    const char *at[(TILE_TALL + REACH - 1) / REACH];
    const int64_t apart = ld_ms * (int64_t)sizeof(float);
    TILE_UNROLL
    for (int i = 0; i < rows; i += REACH)
        at[i / REACH] = (const char *)(ms + i * (along_k ? ld_ms : 1));

    for (int64_t done = 0;;) {
        const int64_t steps = TILE_LEAST(x->chain, k - done);
        /* C is met once in k steps, so it has left the near caches; it comes back meanwhile, not so
         * early that the panels drive it out again. */
        const int ask = cs_c == 1 && k >= ASK &&
                        ((done <= k - ASK && k - ASK < done + steps) || (x->c_first && done == 0));
        float *wanted = c;
        int asks = ask ? rows : 0;
        for (; TILE_STEPS > 1 && asks > 0; asks--)
            wanted = ask_for_row(vectors, x, wanted);
        if (__builtin_expect(x->goes_on, 0)) {
            float *row = next_row(c, 0);
            TILE_UNROLL
            for (int i = 0; i < rows; i++) {
                TILE_UNROLL
                for (int v = 0; v < vectors; v++)
                    sum[i][v] = load(masked && v == vectors - 1, mask, row + v * VECTOR);
                row = next_row(row, rs_c);
            }
        } else {
            TILE_UNROLL
            for (int i = 0; i < rows; i++) {
                TILE_UNROLL
                for (int v = 0; v < vectors; v++)
                    sum[i][v] = (vec_t){0};
            }
        }

        int64_t left = steps;
        if (TILE_STEPS > 1 && packed) {
            /* The next panel of Ns comes from L3 while this one is used: a share of it for each
             * chain, as many at once would take all that waits for memory. */
            const int64_t share = steps * rows * TILE_NR / x->m;
            const float *next = ns + (k - done) * TILE_NR + (i0 * k + done * rows) * TILE_NR / x->m;
            for (int64_t q = 0; q <= share; q += LINE)
                __builtin_prefetch(next + q, 0, 2);
            for (; left >= TILE_STEPS; left -= TILE_STEPS) {
                TILE_UNROLL
                for (int q = 0; q < TILE_STEPS; q++)
                    add_step(rows, vectors, 0, 0, mask, 0, NULL, 0, ms + q * TILE_MR,
                             ns + q * TILE_NR, sum);
                ms += TILE_STEPS * TILE_MR;
                ns += TILE_STEPS * TILE_NR;
            }
        }
        if (TILE_STEPS_IN_PLACE > 1 && along_k && vectors > 1) {
            for (; left >= TILE_STEPS_IN_PLACE; left -= TILE_STEPS_IN_PLACE) {
                TILE_UNROLL
                for (int q = 0; q < TILE_STEPS_IN_PLACE; q++) {
                    add_step(rows, vectors, 1, masked, mask, q, at, apart, NULL, ns, sum);
                    TILE_UNROLL
                    for (int j = 0; j < vectors * VECTOR; j += LINE)
                        __builtin_prefetch(ns + ahead + j);
                    ns += ld_ns;
                    /* Else the compiler makes a pointer for each step. */
                    __asm__("" : "+r"(ns));
                }
                step_on(rows, TILE_STEPS_IN_PLACE, at);
            }
        }
        for (; left > 0; left--) {
            /* All rows at once would take all that can wait for memory, and panels wait for L2. */
            if (TILE_STEPS == 1 && asks > 0 && left % 4 == 0) {
                wanted = ask_for_row(vectors, x, wanted);
                asks--;
            }
            add_step(rows, vectors, along_k, masked, mask, 0, at, apart, ms, ns, sum);
            if (along_k) {
                step_on(rows, 1, at);
            } else {
                if (vectors > 1) /* else every read counts: there is one for each product */
                    __builtin_prefetch(ms + 16 * ld_ms);
                ms += ld_ms;
            }
            /* Where the hardware does not look: between panels, and between the small matrices of
             * a batch. */
            TILE_UNROLL
            for (int j = vectors > 1 ? 0 : VECTOR; j < vectors * VECTOR; j += LINE)
                __builtin_prefetch(ns + ahead + j);
            ns += ld_ns;
        }

        if (done > 0) {
            TILE_UNROLL
            for (int i = 0; i < rows; i++) {
                TILE_UNROLL
                for (int v = 0; v < vectors; v++)
                    sum[i][v] += *(const vec_mem_t *)(part + i * TILE_NR + v * VECTOR);
            }
        }
        done += steps;
        if (done == k)
            break;
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(part + i * TILE_NR + v * VECTOR) = sum[i][v];
        }
        if (x->c_first && done == steps)
            add_to_part(part, rows, x->n, c, rs_c, cs_c);
    }

    store_tile(rows, vectors, masked, mask, x, sum, part, next_row(c, 0));
}

/* A function for each part of a tile: its rows, one vector or all, how op(A) lies, and whether
 * there is a part of a vector. It does all whole tiles from row i on, and returns where it stopped.
 */
#define TILE_VECTORS_1 1
#define TILE_VECTORS_all VECTORS
#define TILE_FUNCTION(rows, vectors, along, part)                                                  \
    static int64_t tile_##rows##_##vectors##_##along##_##part(const tilemm__sgemm_strip_t *x,      \
                                                              int64_t i)                           \
    {                                                                                              \
        for (; i + rows <= x->m; i += rows)                                                        \
            tile(rows, TILE_VECTORS_##vectors, along, TILE_MASK &&part, x, i);                     \
        return i;                                                                                  \
    }
#if TILE_WHOLE_APART
#define TILE_FUNCTIONS(rows, vectors)                                                              \
    TILE_FUNCTION(rows, vectors, 0, 0)                                                             \
    TILE_FUNCTION(rows, vectors, 0, 1)                                                             \
    TILE_FUNCTION(rows, vectors, 1, 0)                                                             \
    TILE_FUNCTION(rows, vectors, 1, 1)
#define TILE_ENTRY(rows, vectors)                                                                  \
    {{tile_##rows##_##vectors##_0_1, tile_##rows##_##vectors##_1_1},                               \
     {tile_##rows##_##vectors##_0_0, tile_##rows##_##vectors##_1_0}},
#else
#define TILE_FUNCTIONS(rows, vectors)                                                              \
    TILE_FUNCTION(rows, vectors, 0, 1)                                                             \
    TILE_FUNCTION(rows, vectors, 1, 1)
#define TILE_ENTRY(rows, vectors) {{tile_##rows##_##vectors##_0_1, tile_##rows##_##vectors##_1_1}},
#endif
#define TILE_FUNCTIONS_1(rows) TILE_FUNCTIONS(rows, 1)
#define TILE_FUNCTIONS_all(rows) TILE_FUNCTIONS(rows, all)
#define TILE_ENTRY_1(rows) TILE_ENTRY(rows, 1)
#define TILE_ENTRY_all(rows) TILE_ENTRY(rows, all)

TILE_HEIGHTS(TILE_FUNCTIONS_1)
TILE_TALL_HEIGHTS(TILE_FUNCTIONS_1)
TILE_HEIGHTS(TILE_FUNCTIONS_all)

typedef int64_t (*tile_function_t)(const tilemm__sgemm_strip_t *x, int64_t i);
typedef tile_function_t tile_functions_t[1 + TILE_WHOLE_APART][2];

static const tile_functions_t narrow[TILE_TALL] = {TILE_HEIGHTS(TILE_ENTRY_1)
                                                       TILE_TALL_HEIGHTS(TILE_ENTRY_1)};
static const tile_functions_t wide[TILE_MR] = {TILE_HEIGHTS(TILE_ENTRY_all)};

static void strip(const tilemm__sgemm_strip_t *x)
{
    const tile_functions_t *const tiles = x->n > VECTOR ? wide : narrow;
    const int whole = TILE_WHOLE_APART && (x->n == VECTOR || x->n == TILE_NR);
    const int64_t i = tiles[x->rows - 1][whole][x->along_k](x, 0);
    if (i < x->m)
        tiles[x->m - i - 1][whole][x->along_k](x, i);
}

#include "pack.h"
#include "vector.h"

/* ---- small products ---------------------------------------------------------------------- */

/* A, and B unless it runs along k, are read where they lie. Without masks B is packed too where it
 * is not whole vectors. */
static void small(tilemm__sgemm_strip_t *x, int64_t n, int b_along_k)
{
    float panel[TILEMM__SGEMM_SMALL_FLOATS] __attribute__((aligned(64)));
    const float *const b = x->ns;
    const int64_t ldb = x->ld_ns;
    const int m = (int)x->m, most_rows = n > VECTOR ? TILE_MR : TILE_TALL;
    /* Tiles of one height, as low ones have too few sums to keep the multipliers busy. */
    const int parts = m <= most_rows ? 1 : (m + most_rows - 1) / most_rows;
    x->rows = parts == 1 ? m : (m + parts - 1) / parts;
    for (int64_t j = 0; j < n; j += TILE_NR) {
        x->n = (int)TILE_LEAST(TILE_NR, n - j);
        x->ns = b + j * (b_along_k ? ldb : 1);
        x->ld_ns = ldb;
        x->ahead = 8 * ldb;
        if (b_along_k || !(TILE_MASK || x->n == TILE_NR || x->n == VECTOR)) {
            pack_ns(x->k, x->n, x->ns, ldb, b_along_k, panel);
            x->ns = panel;
            x->ld_ns = TILE_NR;
        }
        strip(x);
        x->c += TILE_NR * x->cs_c;
    }
}

/* ---- the table --------------------------------------------------------------------------- */

#define TILE_TEXT_(x) #x
#define TILE_TEXT(x) TILE_TEXT_(x)
#define TILE_NAME                                                                                  \
    "sgemm_" TILE_METHOD "_" TILE_TEXT(TILE_ISA) "_" TILE_TEXT(TILE_MR) "x" TILE_TEXT(TILE_NR)
#define TILE_TABLE_(isa) tilemm__sgemm_cpu_##isa
#define TILE_TABLE(isa) TILE_TABLE_(isa)

const tilemm__sgemm_cpu_t TILE_TABLE(TILE_ISA) = {
    TILE_NAME, TILE_MR,      TILE_NR,       TILE_TALL,     VECTOR,  TILE_MASK, strip,
    small,     times_vector, rows_in_order, dots_in_order, pack_ms, pack_ns};
