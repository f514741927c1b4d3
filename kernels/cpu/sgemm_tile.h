/* sgemm_tile.h - the SGEMM micro-kernel and its packing, in GNU vector extensions: one source for
 * every instruction set. Included once by each kernels/cpu/<isa>/sgemm.c.
 *
 * The including file defines
 *     TILE_BYTES    bytes in a vector
 *     TILE_MR       rows of the tile
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

#define TILE_INLINE static inline __attribute__((always_inline))
/* Unrolled early, so that arrays of vectors become registers. */
#define TILE_UNROLL _Pragma("GCC unroll 32")
#define TILE_LEAST(x, y) ((x) < (y) ? (x) : (y))

typedef float vec_t __attribute__((vector_size(TILE_BYTES)));
typedef float quad_t __attribute__((vector_size(16)));
/* The same in memory that is aligned to a float only. */
typedef float vec_mem_t __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef float quad_mem_t __attribute__((vector_size(16), aligned(4), may_alias));

enum { VECTOR = TILE_BYTES / 4, VECTORS = TILE_NR / VECTOR };
enum { LINE = 16 }; /* floats in a cache line */

/* ---- the micro-kernel -------------------------------------------------------------------- */

/* Store a part of a tile that is not whole vectors of C. Out of line: it is rarely needed. */
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

/* rows and vectors are constants once this is inlined: the part of the tile that is computed. */
TILE_INLINE void tile(const int rows, const int vectors, int64_t k, int64_t chain,
                      const float *restrict ms, const float *restrict ns, int64_t ld_ns, int m,
                      int n, float alpha, float beta, float *restrict c, int64_t rs_c, int64_t cs_c)
{
    float part[TILE_MR * TILE_NR]; /* chains that are done; then what is not whole vectors of C */
    vec_t sum[TILE_MR][VECTORS];

    /* C is met once in k steps, so it has left the near caches; it comes back meanwhile. */
    if (cs_c == 1) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            if (i >= m)
                break;
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
                b[v] = *(const vec_mem_t *)(ns + v * VECTOR);
#if TILE_LANES
            TILE_UNROLL
            for (int q = 0; q < (rows + 3) / 4; q++) {
                const quad_t a = *(const quad_mem_t *)(ms + 4 * q);

                TILE_UNROLL
                for (int i = 0; i < 4; i++) {
                    if (4 * q + i >= rows)
                        break;
                    TILE_UNROLL
                    for (int v = 0; v < vectors; v++)
                        sum[4 * q + i][v] += a[i] * b[v];
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
            /* Some steps ahead, where the hardware does not look between panels. */
            __builtin_prefetch(ms + 16 * TILE_MR);
            TILE_UNROLL
            for (int j = 0; j < vectors * VECTOR; j += LINE)
                __builtin_prefetch(ns + 8 * ld_ns + j);
            ms += TILE_MR;
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

    if (cs_c != 1 || n != vectors * VECTOR) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(part + i * TILE_NR + v * VECTOR) = sum[i][v];
        }
        store_part(part, m, n, beta, c, rs_c, cs_c);
    } else if (beta == 0.0f) {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            if (i >= m)
                break;
            TILE_UNROLL
            for (int v = 0; v < vectors; v++)
                *(vec_mem_t *)(c + i * rs_c + v * VECTOR) = sum[i][v];
        }
    } else {
        TILE_UNROLL
        for (int i = 0; i < rows; i++) {
            if (i >= m)
                break;
            TILE_UNROLL
            for (int v = 0; v < vectors; v++) {
                vec_mem_t *to = (vec_mem_t *)(c + i * rs_c + v * VECTOR);
                *to = sum[i][v] + beta * *to;
            }
        }
    }
}

#define TILE_RUN(rows)                                                                             \
    do {                                                                                           \
        if (n <= VECTOR)                                                                           \
            tile(TILE_LEAST(rows, TILE_MR), 1, k, chain, ms, ns, ld_ns, m, n, alpha, beta, c,      \
                 rs_c, cs_c);                                                                      \
        else                                                                                       \
            tile(TILE_LEAST(rows, TILE_MR), VECTORS, k, chain, ms, ns, ld_ns, m, n, alpha, beta,   \
                 c, rs_c, cs_c);                                                                   \
    } while (0)

/* Edge tiles compute the next larger of a few heights: rows past m are zeros and not stored. */
static void kernel(int64_t k, int64_t chain, const float *ms, const float *ns, int64_t ld_ns, int m,
                   int n, float alpha, float beta, float *c, int64_t rs_c, int64_t cs_c)
{
    if (m == 1)
        TILE_RUN(1);
    else if (m == 2)
        TILE_RUN(2);
    else if (m <= 4 && 4 < TILE_MR)
        TILE_RUN(4);
    else if (m <= 8 && 8 < TILE_MR)
        TILE_RUN(8);
    else
        TILE_RUN(TILE_MR);
}

/* ---- packing ----------------------------------------------------------------------------- */

#if defined(__clang__) || __GNUC__ >= 12
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef int32_t quad_index_t __attribute__((vector_size(16)));
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shuffle(x, y, (quad_index_t){i, j, k, l})
#endif

/* Four steps of four rows, each row contiguous along k, into a panel of `width`. */
TILE_INLINE void pack_quad(const int width, const float *src, int64_t ld, float *dst)
{
    const quad_t r0 = *(const quad_mem_t *)(src + 0 * ld);
    const quad_t r1 = *(const quad_mem_t *)(src + 1 * ld);
    const quad_t r2 = *(const quad_mem_t *)(src + 2 * ld);
    const quad_t r3 = *(const quad_mem_t *)(src + 3 * ld);
    const quad_t even_low = TILE_SHUFFLE(r0, r1, 0, 4, 1, 5);
    const quad_t even_high = TILE_SHUFFLE(r0, r1, 2, 6, 3, 7);
    const quad_t odd_low = TILE_SHUFFLE(r2, r3, 0, 4, 1, 5);
    const quad_t odd_high = TILE_SHUFFLE(r2, r3, 2, 6, 3, 7);

    *(quad_mem_t *)(dst + 0 * width) = TILE_SHUFFLE(even_low, odd_low, 0, 1, 4, 5);
    *(quad_mem_t *)(dst + 1 * width) = TILE_SHUFFLE(even_low, odd_low, 2, 3, 6, 7);
    *(quad_mem_t *)(dst + 2 * width) = TILE_SHUFFLE(even_high, odd_high, 0, 1, 4, 5);
    *(quad_mem_t *)(dst + 3 * width) = TILE_SHUFFLE(even_high, odd_high, 2, 3, 6, 7);
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
    kernel,
    pack_ms,
    pack_ns,
};
