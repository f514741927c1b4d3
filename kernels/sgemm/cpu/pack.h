/* pack.h - packing of SGEMM's panels, and the square transposition that it uses: part of tile.h,
 * which includes it once. Assumes nothing of the alignment of what it reads and writes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */

#include "vectors.h"

/* ---- squares of four ---------------------------------------------------------------------- */

/* Within each four floats of a vector: the first or last two of x and of y, interleaved (LOW, HIGH)
 * or not. */
#if TILE_BYTES == 16
#if defined(__clang__) || __GNUC__ >= 12
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef int32_t four_index_t __attribute__((vector_size(16)));
#define TILE_SHUFFLE(x, y, i, j, k, l) __builtin_shuffle(x, y, (four_index_t){i, j, k, l})
#endif
#define TILE_LOW(x, y) TILE_SHUFFLE(x, y, 0, 4, 1, 5)
#define TILE_HIGH(x, y) TILE_SHUFFLE(x, y, 2, 6, 3, 7)
#define TILE_FIRST(x, y) TILE_SHUFFLE(x, y, 0, 1, 4, 5)
#define TILE_LAST(x, y) TILE_SHUFFLE(x, y, 2, 3, 6, 7)
#define LOAD_LANES(row, q, p) (*(const four_mem_t *)((row)[q] + (p)))
#endif

/* Transpose the square of four by four in each lane of four vectors. */
TILE_INLINE void transpose_lanes(const vec_t r[4], vec_t out[4])
{
    const vec_t even_low = TILE_LOW(r[0], r[1]), even_high = TILE_HIGH(r[0], r[1]);
    const vec_t odd_low = TILE_LOW(r[2], r[3]), odd_high = TILE_HIGH(r[2], r[3]);
    out[0] = TILE_FIRST(even_low, odd_low);
    out[1] = TILE_LAST(even_low, odd_low);
    out[2] = TILE_FIRST(even_high, odd_high);
    out[3] = TILE_LAST(even_high, odd_high);
}

/* ---- packing ----------------------------------------------------------------------------- */

/* Four steps of VECTOR rows, each contiguous along k, as vectors of one step each. Row 4 l + q is
 * lane l of what is loaded for q: then all that moves stays in its lane. */
TILE_INLINE void transpose_four(const float *const row[VECTOR], int64_t p, vec_t out[4])
{
    vec_t r[4];
    TILE_UNROLL
    for (int q = 0; q < 4; q++)
        r[q] = LOAD_LANES(row, q, p);
    transpose_lanes(r, out);
}

/* Rows of a panel of `width`: a vector of them, or up to the panel's end, each contiguous along k.
 * Those from count on are copies of the last one. A vector that is longer than there are rows runs
 * on into the next step, which is stored later, but for the last one. */
TILE_INLINE void pack_rows(const int width, const int rows, int64_t k, int count, const float *src,
                           int64_t ld, float *dst)
{
    const float *row[VECTOR];
    TILE_UNROLL
    for (int i = 0; i < VECTOR; i++)
        row[i] = src + TILE_LEAST(i, count - 1) * ld;
    if (k < 4) {
        for (int64_t p = 0; p < k; p++)
            for (int i = 0; i < rows; i++)
                dst[p * width + i] = row[i][p];
        return;
    }
    /* The last four steps may have some of the four before in them: that is done twice. */
    for (int64_t q = 0; q < k; q += 4) {
        const int64_t p = TILE_LEAST(q, k - 4);
        vec_t out[4];
        transpose_four(row, p, out);
        TILE_UNROLL
        for (int j = 0; j < 4; j++) {
            float *to = dst + (p + j) * width;
            if (j < 3 || p + 4 < k)
                *(vec_mem_t *)to = out[j];
            else
                memcpy(to, &out[j], sizeof(float) * (size_t)rows);
        }
    }
}

/* Ms and Ns panels differ in their width alone. */
TILE_INLINE void pack(const int width, int64_t k, int count, const float *restrict src, int64_t ld,
                      int along_k, float *restrict dst)
{
    if (along_k) {
        TILE_UNROLL
        for (int i = 0; i < width; i += VECTOR) {
            if (i < count)
                pack_rows(width, TILE_LEAST(VECTOR, width - i), k, count - i, src + i * ld, ld,
                          dst + i);
        }
    } else if (count == width) {
        for (int64_t p = 0; p < k; p++)
            memcpy(dst + tilemm__cpu_panel_index(p, 0, width), src + p * ld, sizeof(float) * width);
    } else {
        for (int64_t p = 0; p < k; p++) {
            float *to = dst + tilemm__cpu_panel_index(p, 0, width);

            for (int i = 0; i < count; i++)
                to[i] = src[p * ld + i];
            for (int i = count; i < width; i++)
                to[i] = 0.0f;
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
