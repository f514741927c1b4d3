/* tile.h - the CPU's transposing kernels, one source for all instruction sets.
 *
 * A tile is transposed in registers. Let an element have e bytes and a vector V. A tile is V / e
 * rows of 16 / e columns, 16 bytes of each row. Row r of the first 16 / e rows goes to the lowest
 * 16 bytes of register r, row r + 16 / e to the next 16 bytes, and so on; then every 16-byte lane
 * transposes a square on its own, by log2(16 / e) rounds of interleaving, and each register ends
 * up as V bytes, contiguous, of one row of the result:
 *
 *     V = 32, e = 8:   load      | 00 01 | 20 21 |   interleave   | 00 10 | 20 30 |
 *                                | 10 11 | 30 31 |                | 01 11 | 21 31 |
 *
 * No round's shuffle crosses a lane, so the same rounds serve every width. Where V = 64, four tiles
 * side by side are loaded by half vectors, and lanes change places after the rounds: fewer loads,
 * and each cache line is read at once. At ragged edges tiles overlap their neighbours and write the
 * same values again; blocks of fewer rows than a tile have tiles with V = 16, blocks of less than
 * 16 / e rows or columns are moved element by element.
 *
 * Before including this an instruction set's file defines
 *   TILE_TABLE            the name of its table
 *   TILE_BYTES            V: 16, 32 or 64
 *   TILE_LOAD(p, step)    a vector of the 16 bytes at p, p + step, ... (step in bytes; V > 16 only)
 *   TILE_LOAD_HALVES(p, step)  a vector of the 32 bytes at p and at p + step (V = 64 only)
 *   TILE_JOIN(x, y)       of two vectors' lanes: the even ones of x and y to x, the odd ones to y
 *                         (V = 64 only)
 *   TILE_STREAM(p, v)     store around the caches to an aligned address, and
 *   TILE_FENCE()          order such stores before later ones; both or neither.
 * All functions are static: objects compiled for different instruction sets share no code.
 * Assumptions: as in kernels.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILE_ELEM

#include <string.h>

#include "kernels.h"

#if defined(__clang__)
#define TILE_SHUFFLE(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#define TILE_UNROLL _Pragma("unroll")
#else
#define TILE_SHUFFLE(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#define TILE_UNROLL _Pragma("GCC unroll 16")
#endif

#define TILE_INLINE static inline __attribute__((always_inline))
/* Short loops run a quarter slower where they lie badly in the cache's lines. */
#define TILE_ALIGNED __attribute__((aligned(64)))

#define TILE_PASTE_(x, y) x##_##y
#define TILE_PASTE(x, y) TILE_PASTE_(x, y)

/* The elements of one 16-byte lane, from number o on, each followed by the one at its place in a
 * second vector, which has numbers from n on: half a lane of each. */
#define TILE_PAIR(o, n) (o), (o) + (n)
#define TILE_PAIRS_8(o, n) TILE_PAIR(o, n)
#define TILE_PAIRS_4(o, n) TILE_PAIR(o, n), TILE_PAIR((o) + 1, n)
#define TILE_PAIRS_2(o, n) TILE_PAIRS_4(o, n), TILE_PAIRS_4((o) + 2, n)
#define TILE_PAIRS_1(o, n) TILE_PAIRS_2(o, n), TILE_PAIRS_2((o) + 4, n)

/* For all lanes of a vector of 16, 32, 64 bytes; o is 0 for the lower halves, 8 / e for the
 * upper. */
#define TILE_LANES_16(pairs, e, o) pairs(o, 16 / (e))
#define TILE_LANES_32(pairs, e, o) pairs(o, 32 / (e)), pairs((o) + 16 / (e), 32 / (e))
#define TILE_LANES_64(pairs, e, o)                                                                 \
    pairs(o, 64 / (e)), pairs((o) + 16 / (e), 64 / (e)), pairs((o) + 32 / (e), 64 / (e)),          \
        pairs((o) + 48 / (e), 64 / (e))

/* What a kind of element has, TILE_KIND, of TILE_ELEM bytes each. */
#define NAME(name) TILE_PASTE(name, TILE_KIND)
#define ELEM NAME(elem)
#define TILE NAME(tile)
#define STRIP NAME(strip)
#define SQUARE (16 / TILE_ELEM)
/* Tiles that are taken side by side: those of a cache line, if they fit the registers. */
#define WIDE (TILE_ELEM >= 4 && TILE_BYTES == 64 ? 4 : 1)

/* One round: registers r and r + SQUARE / 2 give registers 2 r and 2 r + 1. */
#define INTERLEAVE(type, bytes, x, y, o)                                                           \
    TILE_SHUFFLE(type, x, y,                                                                       \
                 TILE_PASTE(TILE_LANES, bytes)(TILE_PASTE(TILE_PAIRS, TILE_ELEM), TILE_ELEM, o))
#define ROUND(type, bytes, to, from)                                                               \
    TILE_UNROLL                                                                                    \
    for (int r = 0; r < SQUARE / 2; r++) {                                                         \
        to[2 * r] = INTERLEAVE(type, bytes, from[r], from[r + SQUARE / 2], 0);                     \
        to[2 * r + 1] = INTERLEAVE(type, bytes, from[r], from[r + SQUARE / 2], 8 / TILE_ELEM);     \
    }

/* Bytes of a block that lies in L1 with its result. */
enum { IN_L1 = 16 << 10 };

/* Callers' arrays, of whatever type they are, as elements of 1 to 16 bytes. */
typedef uint8_t __attribute__((may_alias)) elem_1;
typedef uint16_t __attribute__((may_alias)) elem_2;
typedef uint32_t __attribute__((may_alias)) elem_4;
typedef uint64_t __attribute__((may_alias)) elem_8;
typedef struct {
    elem_8 half[2];
} __attribute__((may_alias)) elem_16;
typedef float __attribute__((may_alias)) elem_scaled;

typedef float vector_float __attribute__((vector_size(TILE_BYTES)));
#if TILE_BYTES > 16
typedef float lane_float __attribute__((vector_size(16)));
#else
typedef uint64_t vector_load __attribute__((vector_size(16)));

TILE_INLINE vector_load load_lane(const char *p)
{
    vector_load v;
    memcpy(&v, p, 16);
    return v;
}
#define TILE_LOAD(p, step) load_lane(p)
#endif
#ifndef TILE_STREAM
#define TILE_STREAM(p, v) memcpy(p, &(v), TILE_BYTES)
#define TILE_FENCE() ((void)0)
#endif

/* What is left at either end is less than a line. */
TILE_INLINE void copy_less(char *dst, const char *src, int64_t bytes)
{
    int64_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        memcpy(dst + i, src + i, 8);
    for (; i < bytes; i++)
        dst[i] = src[i];
}

static void stream(int64_t rows, int64_t bytes, char *src, int64_t src_step, char *dst,
                   int64_t dst_step, int began, int goes_on)
{
    for (int64_t row = 0; row < rows; row++, src += src_step, dst += dst_step) {
        int64_t i = -(int64_t)((uintptr_t)dst % 64);
        if (!began) {
            i += i < 0 ? 64 : 0;
            i = i < bytes ? i : bytes;
            copy_less(dst, src, i);
        }
        for (; i + 64 <= bytes; i += 64) {
            TILE_UNROLL
            for (int part = 0; part < 64; part += TILE_BYTES) {
                vector_float v;
                memcpy(&v, src + i + part, TILE_BYTES);
                TILE_STREAM(dst + i + part, v);
            }
        }
        if (goes_on)
            memcpy(src - TILEMM__STREAM_LEAD, src + bytes - TILEMM__STREAM_LEAD,
                   TILEMM__STREAM_LEAD);
        else
            copy_less(dst + i, src + i, bytes - i);
    }
    TILE_FENCE();
}

static void scale(int64_t n, const float *src, float *dst, float alpha)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] = alpha * src[i];
}

#define TILE_ELEM 1
#include "tile.h"
#define TILE_ELEM 2
#include "tile.h"
#define TILE_ELEM 4
#include "tile.h"
#define TILE_ELEM 8
#include "tile.h"
#define TILE_ELEM 16
#include "tile.h"
#define TILE_ELEM 4
#define TILE_KIND scaled
#define TILE_SCALED
#include "tile.h"

const tilemm__transpose_cpu_t TILE_TABLE = {
    TILE_BYTES,
    {block_1, block_2, block_4, block_8, block_16, block_scaled},
    stream,
    scale,
    {shuffle_1, shuffle_2, shuffle_4, shuffle_8, shuffle_16, shuffle_scaled},
    {skew_1, skew_2, skew_4, skew_8, skew_16},
};

#else /* TILE_ELEM: what there is for each kind of element */

#ifdef TILE_SCALED
#define SCALE(x) (alpha * (x))
#define SCALE_VECTOR(v, floats) ((v) = (__typeof__(v))((floats)(v)*alpha))
#else
#define SCALE(x) (x)
#define SCALE_VECTOR(v, floats) ((void)alpha)
#endif

#ifndef TILE_KIND
#define TILE_KIND TILE_ELEM
#endif

/* Vectors of whole lanes: of unsigned integers as wide as an element, or as half of one of 16. */
#if TILE_ELEM >= 8
#define WORD uint64_t
#elif TILE_ELEM == 4
#define WORD uint32_t
#elif TILE_ELEM == 2
#define WORD uint16_t
#else
#define WORD uint8_t
#endif

typedef WORD NAME(vector) __attribute__((vector_size(TILE_BYTES)));
#if TILE_BYTES > 16
typedef WORD NAME(lane) __attribute__((vector_size(16)));
#endif

/* All rounds: the square that is in each lane of v is transposed. */
#if TILE_ELEM < 16
#define ROUNDS(type, bytes, v)                                                                     \
    do {                                                                                           \
        type w[SQUARE];                                                                            \
        ROUND(type, bytes, w, v)                                                                   \
        if (SQUARE > 2) {                                                                          \
            ROUND(type, bytes, v, w)                                                               \
        }                                                                                          \
        if (SQUARE > 4) {                                                                          \
            ROUND(type, bytes, w, v)                                                               \
        }                                                                                          \
        if (SQUARE > 8) {                                                                          \
            ROUND(type, bytes, v, w)                                                               \
        }                                                                                          \
        if (SQUARE == 2 || SQUARE == 8) {                                                          \
            TILE_UNROLL                                                                            \
            for (int r = 0; r < SQUARE; r++)                                                       \
                v[r] = w[r];                                                                       \
        }                                                                                          \
    } while (0)
#else
#define ROUNDS(type, bytes, v) ((void)0)
#endif

/* TILE_BYTES / TILE_ELEM rows, SQUARE columns. Strides are in bytes here. */
TILE_INLINE void NAME(tile)(const char *src, int64_t src_step, char *dst, int64_t dst_step,
                            float alpha)
{
    NAME(vector) v[SQUARE];
    TILE_UNROLL
    for (int r = 0; r < SQUARE; r++)
        v[r] = (NAME(vector))TILE_LOAD(src + r * src_step, SQUARE * src_step);
    ROUNDS(NAME(vector), TILE_BYTES, v);
    TILE_UNROLL
    for (int r = 0; r < SQUARE; r++) {
        SCALE_VECTOR(v[r], vector_float);
        memcpy(dst + r * dst_step, &v[r], TILE_BYTES);
    }
}

#if WIDE > 1
/* WIDE tiles side by side. Half a vector is loaded at a time, two rows to a register,
 * which leaves half of the turning of lanes for after the rounds. */
TILE_INLINE void NAME(wide_tile)(const char *src, int64_t src_step, char *dst, int64_t dst_step,
                                 float alpha)
{
    NAME(vector) v[WIDE][SQUARE];
    TILE_UNROLL
    for (int q = 0; q < WIDE; q++) {
        TILE_UNROLL
        for (int r = 0; r < SQUARE; r++)
            v[q][r] = (NAME(vector))TILE_LOAD_HALVES(
                src + (r + q / 2 * 2 * SQUARE) * src_step + q % 2 * 32, SQUARE * src_step);
        ROUNDS(NAME(vector), TILE_BYTES, v[q]);
    }
    TILE_UNROLL
    for (int r = 0; r < SQUARE; r++) {
        TILE_JOIN(v[0][r], v[2][r]);
        TILE_JOIN(v[1][r], v[3][r]);
    }
    TILE_UNROLL
    for (int q = 0; q < WIDE; q++) {
        TILE_UNROLL
        for (int r = 0; r < SQUARE; r++) {
            char *const to = dst + ((q % 2 * 2 + q / 2) * SQUARE + r) * dst_step;
            SCALE_VECTOR(v[q][r], vector_float);
            memcpy(to, &v[q][r], TILE_BYTES);
        }
    }
}
#define WIDE_TILE NAME(wide_tile)
#else
#define WIDE_TILE TILE
#endif

#if TILE_BYTES > 16
/* SQUARE rows and columns. */
TILE_INLINE void NAME(small_tile)(const char *src, int64_t src_step, char *dst, int64_t dst_step,
                                  float alpha)
{
    NAME(lane) v[SQUARE];
    TILE_UNROLL
    for (int r = 0; r < SQUARE; r++)
        memcpy(&v[r], src + r * src_step, 16);
    ROUNDS(NAME(lane), 16, v);
    TILE_UNROLL
    for (int r = 0; r < SQUARE; r++) {
        SCALE_VECTOR(v[r], lane_float);
        memcpy(dst + r * dst_step, &v[r], 16);
    }
}
#endif

/* `tiles` times SQUARE rows of the result, from end to end. The last tile may overlap the one
 * before it. If so asked, the lines of the result that are written next are prefetched. */
TILE_INLINE void NAME(strip)(int64_t rows, const char *src, int64_t src_step, char *dst,
                             int64_t dst_step, float alpha, int tiles, const int ask)
{
    const int64_t tile_rows = TILE_BYTES / TILE_ELEM;
    int64_t i = 0;
    for (; rows - i >= tile_rows; i += tile_rows) {
        const int64_t ahead = (i + tile_rows) * TILE_ELEM;
        if (ask && ahead % 64 == 0 && rows - i >= 2 * tile_rows)
            for (int t = 0; t < tiles * SQUARE; t++)
                __builtin_prefetch(dst + t * dst_step + ahead, 1);
        if (tiles % WIDE == 0)
            for (int t = 0; t < tiles; t += WIDE)
                WIDE_TILE(src + i * src_step + t * 16, src_step,
                          dst + t * SQUARE * dst_step + i * TILE_ELEM, dst_step, alpha);
        else
            for (int t = 0; t < tiles; t++)
                TILE(src + i * src_step + t * 16, src_step,
                     dst + t * SQUARE * dst_step + i * TILE_ELEM, dst_step, alpha);
    }
    if (i == rows)
        return;
#if TILE_BYTES > 16
    if (rows < tile_rows) {
        while (i < rows) {
            i = rows - i < SQUARE ? rows - SQUARE : i;
            for (int t = 0; t < tiles; t++)
                NAME(small_tile)
            (src + i * src_step + t * 16, src_step, dst + t * SQUARE * dst_step + i * TILE_ELEM,
             dst_step, alpha);
            i += SQUARE;
        }
        return;
    }
#endif
    i = rows - tile_rows;
    for (int t = 0; t < tiles; t++)
        TILE(src + i * src_step + t * 16, src_step, dst + t * SQUARE * dst_step + i * TILE_ELEM,
             dst_step, alpha);
}

static void NAME(block)(int64_t rows, int64_t cols, const void *src, int64_t ld_src, void *dst,
                        int64_t ld_dst, float alpha, int near)
{
    const int64_t src_step = ld_src * TILE_ELEM, dst_step = ld_dst * TILE_ELEM;
    const ELEM *const s = src;
    ELEM *const d = dst;
    if (rows < SQUARE) {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                d[j * ld_dst + i] = SCALE(s[i * ld_src + j]);
    } else if (cols < SQUARE) {
        for (int64_t j = 0; j < cols; j++)
            for (int64_t i = 0; i < rows; i++)
                d[j * ld_dst + i] = SCALE(s[i * ld_src + j]);
    } else {
        const char *const from = src;
        char *const to = dst;
        int64_t j = 0;
        /* Four tiles side by side read whole cache lines of the source at once. A source in a near
         * cache is read for few rows of the result at a time. */
        const int ask = rows * cols * TILE_ELEM > IN_L1;
        if (!near && ask)
            for (; cols - j >= 4 * SQUARE; j += 4 * SQUARE)
                STRIP(rows, from + j * TILE_ELEM, src_step, to + j * dst_step, dst_step, alpha, 4,
                      1);
        else if (!near)
            for (; cols - j >= 4 * SQUARE; j += 4 * SQUARE)
                STRIP(rows, from + j * TILE_ELEM, src_step, to + j * dst_step, dst_step, alpha, 4,
                      0);
        while (j < cols) {
            j = cols - j < SQUARE ? cols - SQUARE : j;
            STRIP(rows, from + j * TILE_ELEM, src_step, to + j * dst_step, dst_step, alpha, 1, 0);
            j += SQUARE;
        }
    }
    (void)alpha;
}

static TILE_ALIGNED void NAME(shuffle)(const tilemm__inplace_t *view, int64_t i, void *row,
                                       void *temp, int backward, float alpha)
{
    /* Along a row the target rises by m, mod n, but for column q b, where it is
     * (i + q) mod m mod n, as q b m is a multiple of n. */
    const int64_t m = view->m, n = view->n, b = view->b, step = m % n;
    ELEM *restrict const x = row;
    ELEM *restrict const t = temp;
    int64_t first = i % n;
    for (int64_t q = 0, j = 0; j < n; q++) {
        const int64_t end = j + b;
        int64_t target = first;
        if (backward) {
            for (; j < end; j++) {
                t[j] = x[target];
                target = target >= n - step ? target - (n - step) : target + step;
            }
        } else {
            for (; j < end; j++) {
                t[target] = x[j];
                target = target >= n - step ? target - (n - step) : target + step;
            }
        }
        first = first + 1 < n && i + q + 1 != m ? first + 1 : 0;
    }
    (void)alpha;
    for (int64_t j = 0; j < n; j++)
        x[j] = SCALE(t[j]);
}

#ifndef TILE_SCALED
static TILE_ALIGNED void NAME(skew)(int64_t m, int64_t cols, void *matrix, int64_t ld,
                                    const int *shift)
{
    enum {
        WIDTH = TILEMM__SKEW_BYTES / TILE_ELEM < TILEMM__SKEW_COLS ? TILEMM__SKEW_BYTES / TILE_ELEM
                                                                   : TILEMM__SKEW_COLS,
        ROWS = TILEMM__SKEW_COLS,
        PREFETCH = 16
    };
    /* The rows from the present one to the last column's source, in a ring of ROWS rows; and the
     * first rows, which the last ones need after they are overwritten. */
    ELEM ring[ROWS * WIDTH], first[ROWS * WIDTH];
    ELEM *const base = matrix;
    const size_t bytes = (size_t)cols * sizeof(ELEM);
    const int ahead = shift[cols - 1];
    unsigned offset[WIDTH];
    for (int x = 0; x < cols; x++)
        offset[x] = (unsigned)(shift[x] * WIDTH + x);
    for (int64_t i = 0; i < ahead; i++) {
        memcpy(first + i * WIDTH, base + i * ld, bytes);
        memcpy(ring + i * WIDTH, base + i * ld, bytes);
    }
    for (int64_t i = 0; i < m; i++) {
        const int64_t next = i + ahead;
        const unsigned here = (unsigned)(i % ROWS * WIDTH);
        ELEM *restrict const out = base + i * ld;
        /* Rows are too far from each other for the hardware to prefetch the next. */
        if (next + PREFETCH < m) {
            __builtin_prefetch(base + (next + PREFETCH) * ld, 1);
            __builtin_prefetch(base + (next + PREFETCH) * ld + cols - 1, 1);
        }
        memcpy(ring + next % ROWS * WIDTH, next < m ? base + next * ld : first + (next - m) * WIDTH,
               bytes);
        for (int x = 0; x < cols; x++)
            out[x] = ring[(here + offset[x]) % (ROWS * WIDTH)];
    }
}
#endif

#undef WIDE_TILE
#undef SCALE
#undef SCALE_VECTOR
#undef WORD
#undef ROUNDS
#undef TILE_SCALED
#undef TILE_KIND
#undef TILE_ELEM
#endif
