/* sgemm_tile.h - the SGEMM micro-kernel and its packing, in GNU vector extensions: one source for
 * every instruction set. Included once by each kernels/cpu/<isa>/sgemm.c.
 *
 * The including file defines
 *     TILE_BYTES    bytes in a vector
 *     TILE_MR       rows of the tile
 *     TILE_HEIGHTS(X)  X(1) X(2) ... X(TILE_MR)
 *     TILE_NR       columns of the tile, a multiple of the floats in a vector
 *     TILE_ISA      avx512 ...: part of the kernel's name and of the table's
 *     TILE_METHOD   "fma" or "mul"
 *     TILE_LANES    1 if multiplying by a lane of a register is free (then 4 divides TILE_MR);
 *                   0 if broadcasting a float from memory is
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

#include "sgemm.h"
#include "tile_layout.h"

/* Whatever CFLAGS say: at -O2 some loops would stay, and with them all sums lie in memory. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define TILE_INLINE static inline __attribute__((always_inline))
/* Unrolled early, so that arrays of vectors become registers. */
#define TILE_UNROLL _Pragma("GCC unroll 32")
#define TILE_LEAST(x, y) ((x) < (y) ? (x) : (y))

typedef float vec_t __attribute__((vector_size(TILE_BYTES)));
typedef float four_t __attribute__((vector_size(16)));
/* The same in memory that is aligned to a float only. */
typedef float vec_mem_t __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef float four_mem_t __attribute__((vector_size(16), aligned(4), may_alias));

enum { VECTOR = TILE_BYTES / 4, VECTORS = TILE_NR / VECTOR };
enum { LINE = 16 }; /* floats in a cache line */

/* ---- the micro-kernel -------------------------------------------------------------------- */

/* What the including file offers for a vector of which only the first elements are there. */
#ifndef TILE_MASK
#define TILE_MASK 0
typedef int mask_t;
#define MASK_OF(count) (count)
#define LOAD_MASKED(mask, from) (*(const vec_mem_t *)(from))
#define STORE_MASKED(mask, to, x) ((void)(mask), *(vec_mem_t *)(to) = (x))
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

/* The rows of op(A) that are next to each other along k are reached from one pointer for every
 * five, by the strides that an address can have: 14 pointers would not fit in registers. */
enum { REACH = 5 };

/* rows, vectors, along_k and masked are constants once this is inlined: the part of the tile that
 * is computed, how op(A) lies, and whether the last vector of columns is not whole. */
TILE_INLINE void tile(const int rows, const int vectors, const int along_k, const int masked,
                      int64_t k, int64_t chain, const float *restrict ms, int64_t ld_ms,
                      const float *restrict ns, int64_t ld_ns, int n, float alpha, float beta,
                      float *restrict c, int64_t rs_c, int64_t cs_c)
{
    float part[TILE_MR * TILE_NR]; /* chains that are done; then what is not whole vectors of C */
    vec_t sum[TILE_MR][VECTORS];
    const mask_t mask = MASK_OF(n - (vectors - 1) * VECTOR);
    const int whole = n == vectors * VECTOR;
    const char *at[(TILE_MR + REACH - 1) / REACH];
    const int64_t step = ld_ms * (int64_t)sizeof(float), step3 = 3 * step;

    TILE_UNROLL
    for (int i = 0; i < rows; i += REACH)
        at[i / REACH] = (const char *)(ms + i * (along_k ? ld_ms : 1));

    /* C is met once in k steps, so it has left the near caches; it comes back meanwhile. */
    if (cs_c == 1 && k >= 64) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            __builtin_prefetch(c + i * rs_c, 1);
            __builtin_prefetch(c + i * rs_c + n - 1, 1);
        }
    }

    for (int64_t done = 0;;) {
        const int64_t steps = TILE_LEAST(chain, k - done);

        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] = (vec_t){0};
        }

        for (int64_t p = 0; p < steps; p++) {
            vec_t b[VECTORS];

            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                b[v] = load(masked && v == vectors - 1, mask, ns + v * VECTOR);
            if (along_k) {
                TILE_UNROLL
                for (int i = 0; i < rows; i++) {
                    const char *row = at[i / REACH];
                    const void *one = i % REACH == 3 ? row + step3 : row + i % REACH * step;
                    const float a = *(const float *)one;

                    TILE_UNROLL
                    for (int v = 0; v < vectors; v++)
                        sum[i][v] += a * b[v];
                }
                TILE_UNROLL
                for (int i = 0; i < rows; i += REACH) {
                    at[i / REACH] += sizeof(float);
#ifdef __GNUC__ /* else the compiler makes a pointer for each row */
                    __asm__("" : "+r"(at[i / REACH]));
#endif
                }
            } else {
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
                            sum[q + i][v] += (left == 4 ? a[i] : ms[q + i]) * b[v];
                    }
                }
#else
                TILE_UNROLL
                for (int i = 0; i < rows; i++) {
                    TILE_UNROLL
                    for (int v = 0; v < vectors; v++)
                        sum[i][v] += ms[i] * b[v];
                }
#endif
                __builtin_prefetch(ms + 16 * ld_ms);
                ms += ld_ms;
            }
            /* Some steps ahead, where the hardware does not look between panels, nor between the
             * small matrices of a batch. */
            TILE_UNROLL
            for (int j = 0; j < vectors * VECTOR; j += LINE)
                __builtin_prefetch(ns + 8 * ld_ns + j);
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
    }

    TILE_UNROLL
    for (int i = 0; i < rows; i++) {
        TILE_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] *= alpha;
    }

    if (beta != 0.0f && cs_c == 1 && (masked || whole)) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] +=
                    beta * load(masked && v == vectors - 1, mask, c + i * rs_c + v * VECTOR);
        }
    }
    if (cs_c != 1 || (!masked && !whole)) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(part + i * TILE_NR + v * VECTOR) = sum[i][v];
        }
        store_part(part, rows, n, beta, c, rs_c, cs_c);
    } else if (!masked || whole) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(c + i * rs_c + v * VECTOR) = sum[i][v];
        }
    } else {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors - 1; v++)
                *(vec_mem_t *)(c + i * rs_c + v * VECTOR) = sum[i][v];
            STORE_MASKED(mask, c + i * rs_c + (vectors - 1) * VECTOR, sum[i][vectors - 1]);
        }
    }
}

/* A function for each part of a tile: its rows, one vector or all, and how op(A) lies. All have the
 * arguments of `kernel`, so that it can jump to them. */
#define TILE_ARGUMENTS                                                                             \
    int64_t k, int64_t chain, const float *ms, int64_t ld_ms, int along_k, const float *ns,        \
        int64_t ld_ns, int m, int n, float alpha, float beta, float *c, int64_t rs_c, int64_t cs_c
#define TILE_VECTORS_1 1
#define TILE_VECTORS_all VECTORS
#define TILE_FUNCTION(rows, vectors, along)                                                        \
    static void tile_##rows##_##vectors##_##along(TILE_ARGUMENTS)                                  \
    {                                                                                              \
        (void)m;                                                                                   \
        (void)along_k;                                                                             \
        tile(rows, TILE_VECTORS_##vectors, along, TILE_MASK, k, chain, ms, ld_ms, ns, ld_ns, n,    \
             alpha, beta, c, rs_c, cs_c);                                                          \
    }
#define TILE_FUNCTIONS(rows)                                                                       \
    TILE_FUNCTION(rows, 1, 0)                                                                      \
    TILE_FUNCTION(rows, 1, 1)                                                                      \
    TILE_FUNCTION(rows, all, 0)                                                                    \
    TILE_FUNCTION(rows, all, 1)
#define TILE_ENTRIES(rows)                                                                         \
    {{tile_##rows##_1_0, tile_##rows##_1_1}, {tile_##rows##_all_0, tile_##rows##_all_1}},

TILE_HEIGHTS(TILE_FUNCTIONS)

static void (*const tiles[TILE_MR][2][2])(TILE_ARGUMENTS) = {TILE_HEIGHTS(TILE_ENTRIES)};

static void kernel(TILE_ARGUMENTS)
{
    tiles[m - 1][n > VECTOR][along_k](k, chain, ms, ld_ms, along_k, ns, ld_ns, m, n, alpha, beta, c,
                                      rs_c, cs_c);
}

/* ---- a vector times a matrix ------------------------------------------------------------- */

enum { STREAMS = 8, DOTS = 4 }; /* rows, or columns, of B that are read at once */

/* y += a B by rows of B, some at a time, so that y is seldom loaded and stored. */
TILE_INLINE void add_rows(const int rows, int64_t n, const float *a, const float *b, int64_t ldb,
                          float *restrict y)
{
    int64_t j = 0;

    for (; j + VECTOR <= n; j += VECTOR) {
        vec_t sum = a[0] * *(const vec_mem_t *)(b + j);

        TILE_UNROLL
        for (int p = 1; p < rows; p++)
            sum += a[p] * *(const vec_mem_t *)(b + p * ldb + j);
        *(vec_mem_t *)(y + j) += sum;
    }
    for (; j < n; j++) {
        float sum = a[0] * b[j];

        TILE_UNROLL
        for (int p = 1; p < rows; p++)
            sum += a[p] * b[p * ldb + j];
        y[j] += sum;
    }
}

/* y[j] += the product of a with each of some columns of B, which lie along k. */
TILE_INLINE void add_dots(const int columns, int64_t k, const float *a, const float *b, int64_t ldb,
                          float *restrict y)
{
    vec_t even[DOTS], odd[DOTS];
    int64_t p = 0;

    TILE_UNROLL
    for (int j = 0; j < columns; j++)
        even[j] = odd[j] = (vec_t){0};
    for (; p + 2 * VECTOR <= k; p += 2 * VECTOR) {
        const vec_t a0 = *(const vec_mem_t *)(a + p), a1 = *(const vec_mem_t *)(a + p + VECTOR);

        TILE_UNROLL
        for (int j = 0; j < columns; j++) {
            even[j] += a0 * *(const vec_mem_t *)(b + j * ldb + p);
            odd[j] += a1 * *(const vec_mem_t *)(b + j * ldb + p + VECTOR);
        }
    }
    for (int j = 0; j < columns; j++) {
        const vec_t sum = even[j] + odd[j];
        float lane[VECTOR], rest = 0.0f;

        memcpy(lane, &sum, sizeof lane);
        for (int64_t q = p; q < k; q++)
            rest += a[q] * b[j * ldb + q];
        for (int width = VECTOR / 2; width > 0; width /= 2) {
            for (int i = 0; i < width; i++)
                lane[i] += lane[i + width];
        }
        y[j] += lane[0] + rest;
    }
}

static void times_vector(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                         int along_k, float *y)
{
    if (along_k) {
        int64_t j = 0;

        for (; j + DOTS <= n; j += DOTS)
            add_dots(DOTS, k, a, b + j * ldb, ldb, y + j);
        for (; j < n; j++)
            add_dots(1, k, a, b + j * ldb, ldb, y + j);
    } else {
        int64_t p = 0;

        for (; p + STREAMS <= k; p += STREAMS)
            add_rows(STREAMS, n, a + p, b + p * ldb, ldb, y);
        for (; p < k; p++)
            add_rows(1, n, a + p, b + p * ldb, ldb, y);
    }
}

/* ---- packing ----------------------------------------------------------------------------- */

#if defined(__clang__) || __GNUC__ >= 12
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef int32_t four_index_t __attribute__((vector_size(16)));
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shuffle(x, y, (four_index_t){i, j, k, l})
#endif

/* Four steps of four rows, each row contiguous along k, into a panel of `width`. */
TILE_INLINE void pack_quad(const int width, const float *src, int64_t ld, float *dst)
{
    const four_t r0 = *(const four_mem_t *)(src + 0 * ld);
    const four_t r1 = *(const four_mem_t *)(src + 1 * ld);
    const four_t r2 = *(const four_mem_t *)(src + 2 * ld);
    const four_t r3 = *(const four_mem_t *)(src + 3 * ld);
    const four_t even_low = TILE_SHUFFLE(r0, r1, 0, 4, 1, 5);
    const four_t even_high = TILE_SHUFFLE(r0, r1, 2, 6, 3, 7);
    const four_t odd_low = TILE_SHUFFLE(r2, r3, 0, 4, 1, 5);
    const four_t odd_high = TILE_SHUFFLE(r2, r3, 2, 6, 3, 7);

    *(four_mem_t *)(dst + 0 * width) = TILE_SHUFFLE(even_low, odd_low, 0, 1, 4, 5);
    *(four_mem_t *)(dst + 1 * width) = TILE_SHUFFLE(even_low, odd_low, 2, 3, 6, 7);
    *(four_mem_t *)(dst + 2 * width) = TILE_SHUFFLE(even_high, odd_high, 0, 1, 4, 5);
    *(four_mem_t *)(dst + 3 * width) = TILE_SHUFFLE(even_high, odd_high, 2, 3, 6, 7);
}

/* Ms and Ns panels differ in their width alone: tilemm__cpu_ms_index and tilemm__cpu_ns_index are
 * the same function of it. */
TILE_INLINE void pack(const int width, int64_t k, int count, const float *restrict src, int64_t ld,
                      int along_k, float *restrict dst)
{
    if (!along_k && count == width) {
        for (int64_t p = 0; p < k; p++)
            memcpy(dst + tilemm__cpu_ns_index(p, 0, width), src + p * ld, sizeof(float) * width);
    } else if (!along_k) {
        for (int64_t p = 0; p < k; p++) {
            float *to = dst + tilemm__cpu_ns_index(p, 0, width);

            for (int i = 0; i < count; i++)
                to[i] = src[p * ld + i];
            for (int i = count; i < width; i++)
                to[i] = 0.0f;
        }
    } else {
        /* The last four rows may have some of the four before in them: that is done twice, the
         * same, as moving single rows costs more. */
        for (int q = 0; q < count && count >= 4; q += 4) {
            const int i = TILE_LEAST(q, count - 4);
            int64_t p = 0;

            for (; p + 4 <= k; p += 4)
                pack_quad(width, src + i * ld + p, ld, dst + tilemm__cpu_ns_index(p, i, width));
            for (; p < k; p++) {
                for (int j = i; j < i + 4; j++)
                    dst[tilemm__cpu_ns_index(p, j, width)] = src[j * ld + p];
            }
        }
        for (int i = 0; i < count && count < 4; i++) {
            for (int64_t p = 0; p < k; p++)
                dst[tilemm__cpu_ns_index(p, i, width)] = src[i * ld + p];
        }
        if (count < width) {
            for (int64_t p = 0; p < k; p++) {
                for (int i = count; i < width; i++)
                    dst[tilemm__cpu_ns_index(p, i, width)] = 0.0f;
            }
        }
    }
}

static void pack_ms(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ms)
{
    pack(TILE_MR, k, count, src, ld, along_k, ms);
}

static void pack_ns(int64_t k, int count, const float *src, int64_t ld, int along_k, float *ns)
{
    pack(TILE_NR, k, count, src, ld, along_k, ns);
}

/* ---- the table --------------------------------------------------------------------------- */

#define TILE_TEXT_(x) #x
#define TILE_TEXT(x) TILE_TEXT_(x)
#define TILE_TABLE_(isa) tilemm__sgemm_cpu_##isa
#define TILE_TABLE(isa) TILE_TABLE_(isa)

const tilemm__sgemm_cpu_t TILE_TABLE(TILE_ISA) = {
    "sgemm_" TILE_METHOD "_" TILE_TEXT(TILE_ISA) "_" TILE_TEXT(TILE_MR) "x" TILE_TEXT(TILE_NR),
    TILE_MR,
    TILE_NR,
    VECTOR,
    TILE_MASK,
    kernel,
    times_vector,
    pack_ms,
    pack_ns,
};
