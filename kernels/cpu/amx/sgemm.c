/* sgemm.c - SGEMM on AMX's BF16 tiles: 32 x 32 of C in four tile registers, the planes of Ms and of
 * Ns in two each.
 *
 * An element x is h + m + l, three BF16 numbers, each to nearest of what is left: that is all 24
 * bits of it. Of the nine products FP32 mode takes the six whose weight is above 2^-24, TF32 mode
 * hh, hm and mh. The tile unit adds in FP32, rounds to nearest, and takes subnormal numbers for 0;
 * so panels are scaled to where nothing can be subnormal, and those whose range is too wide for
 * that are refused (see carries).
 *
 * Assumptions: panels are 64-byte aligned; user memory has the alignment of a float and no more.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../sgemm_planes.h"
#include "tile.h"

#include <math.h>

#define TILE_INLINE static inline __attribute__((always_inline))

enum { LINES = TILEMM__PLANES_LINES, HALF = 16, STEP = 32 };
/* A plane of 32 lines for one step is two tiles. */
enum { PLANE_BYTES = 2 * TILE_BYTES };
_Static_assert((int)PLANE_BYTES == (int)TILEMM__PLANE_BYTES, "as the header says");
/* A tile of C needs some hundred cycles between the last product of one panel and the first of the
 * next, so panels are long: they come from L2 as they are used. */
enum { DEPTH_FP32 = 18 * STEP, DEPTH_TF32 = 24 * STEP };
/* At the head of a panel. */
typedef struct {
    int scale; /* elements are 2^scale times what they were */
    int least; /* the exponent of the smallest but 0, so scaled; REFUSED if planes cannot be */
    char to_a_line[56];
} head_t;
_Static_assert(sizeof(head_t) == TILEMM__PLANES_HEAD, "tiles begin at a line of memory");

/* Scaled elements are below 2^(MOST + 1), so that no sum of a panel overflows: 2^114 2^10 at most.
 * With e the exponent of an element, its planes are multiples of 2^(e - 23), hence normal or 0 from
 * -103 on. Products of planes, and their sums, are multiples of 2^(e - 23) 2^(f - 23), normal or 0
 * if e + f >= -80. */
enum { MOST = 56, LEAST_ELEMENT = -103, LEAST_PRODUCT = -80, REFUSED = -1000 };
/* Where panels are left as they are. */
enum { UNSCALED_LEAST = LEAST_PRODUCT / 2 };

/* ---- packing ----------------------------------------------------------------------------- */

/* Twice the bits, without the sign, of the largest element seen, and of the smallest but 0, less 1.
 */
typedef struct {
    __m512i most, least;
} range_t;

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

/* 16 x 16 floats, in place. */
static void turn(float (*x)[HALF])
{
    __m512 r[HALF], t[HALF];

    for (int i = 0; i < HALF; i++)
        r[i] = _mm512_load_ps(x[i]);
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i += 4) {
        for (int j = 0; j < 2; j++) {
            const __m512d low = _mm512_castps_pd(t[i + j]), high = _mm512_castps_pd(t[i + j + 2]);

            r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
            r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
        }
    }
    /* Lane l of r[4 g + j] has column 4 l + j of rows 4 g to 4 g + 3. */
#pragma GCC unroll 16
    for (int j = 0; j < 4; j++) {
        const __m512 low02 = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x88);
        const __m512 low13 = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xdd);
        const __m512 high02 = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x88);
        const __m512 high13 = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xdd);

        _mm512_store_ps(x[j], _mm512_shuffle_f32x4(low02, high02, 0x88));
        _mm512_store_ps(x[4 + j], _mm512_shuffle_f32x4(low13, high13, 0x88));
        _mm512_store_ps(x[8 + j], _mm512_shuffle_f32x4(low02, high02, 0xdd));
        _mm512_store_ps(x[12 + j], _mm512_shuffle_f32x4(low13, high13, 0xdd));
    }
}

/* Split the next plane off x: what its upper 16 bits say after rounding is the plane's. */
TILE_INLINE __m512i rounded(__m512 *x, int last)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    const __m512i sum = _mm512_add_epi32(_mm512_castps_si512(*x), _mm512_set1_epi32(0x8000));

    if (!last)
        *x = _mm512_sub_ps(*x, _mm512_castsi512_ps(_mm512_and_si512(sum, upper)));
    return sum;
}

/* A row of a tile of each plane: pairs of an element of x and one of y. */
TILE_INLINE void split(const int planes, __m512 x, __m512 y, char *to)
{
#pragma GCC unroll 3
    for (int plane = 0; plane < planes; plane++) {
        const __m512i lower = _mm512_srli_epi32(rounded(&x, plane == planes - 1), 16);
        const __m512i upper = rounded(&y, plane == planes - 1);
        const __m512i mask = _mm512_set1_epi32((int)0xffff0000);

        /* lower | (upper & mask) */
        _mm512_store_si512(to + plane * PLANE_BYTES,
                           _mm512_ternarylogic_epi32(lower, upper, mask, 0xf8));
    }
}

/* The planes of 16 lines and one step. A pair is k = q and q + 16 of the step: so both operands
 * come to their pairs without a shuffle. Rows of Ms' tiles are lines, their pairs lie along k; the
 * rows of Ns' tiles are pairs. Lines of memory are those rows, or, if `turned`, they are turned. */
TILE_INLINE void pack_half(const int planes, const int turned, const int by_line, int64_t k,
                           int64_t count, const float *src, int64_t ld, const int scaled,
                           __m512 scale, range_t *range, char *to)
{
    float x[2][HALF][HALF] __attribute__((aligned(64)));

    for (int side = 0; side < 2; side++) {
        /* Of the 16 lines of memory and of their elements, those that are there. */
        const int64_t steps = k - side * HALF;
        const int64_t rows = by_line ? count : steps, columns = by_line ? steps : count;
        const float *from = src + (by_line ? side * HALF : side * HALF * ld);
        const __mmask16 mask = first(columns);

        for (int i = 0; i < HALF; i++) {
            __m512 v = _mm512_setzero_ps();

            if (i < rows)
                v = _mm512_maskz_loadu_ps(mask, from + i * ld);
            /* Two steps ahead, as lines of memory may lie in as many pages. */
            _mm_prefetch(from + i * ld + 2 * STEP * (by_line ? 1 : ld), _MM_HINT_T0);
            if (scaled)
                v = _mm512_mul_ps(v, scale);
            else
                widen(range, v);
            _mm512_store_ps(x[side][i], v);
        }
        if (turned)
            turn(x[side]);
    }
    for (int i = 0; i < HALF; i++)
        split(planes, _mm512_load_ps(x[0][i]), _mm512_load_ps(x[1][i]), to + i * TILE_ROW_BYTES);
}

TILE_INLINE void pack_all(const int planes, const int turned, const int along_k, int64_t k,
                          int64_t count, const float *src, int64_t ld, const int scaled,
                          __m512 scale, range_t *range, char *to)
{
    for (int64_t p = 0; p < k; p += STEP) {
        for (int half = 0; half < 2; half++) {
            const int64_t i = half * HALF;
            const float *from = src + (along_k ? i * ld + p : p * ld + i);

            pack_half(planes, turned, along_k, k - p, count - i, from, ld, scaled, scale, range,
                      to + half * TILE_BYTES);
        }
        to += planes * PLANE_BYTES;
    }
}

/* Panels are split as they are, and again, scaled, if their range then shows that they must be. */
TILE_INLINE void pack(const int planes, const int of_ms, int64_t k, int count, const float *src,
                      int64_t ld, int along_k, void *panel)
{
    head_t *head = panel;
    char *to = (char *)(head + 1);
    range_t range = {_mm512_setzero_si512(), _mm512_set1_epi32(-1)};
    uint32_t most, least;

    if (along_k)
        pack_all(planes, !of_ms, 1, k, count, src, ld, 0, _mm512_setzero_ps(), &range, to);
    else
        pack_all(planes, of_ms, 0, k, count, src, ld, 0, _mm512_setzero_ps(), &range, to);
    head->scale = head->least = 0;
    most = _mm512_reduce_max_epu32(range.most);
    least = _mm512_reduce_min_epu32(range.least) + 1;
    if (most == 0)
        return;
    if (most >= 0xff000000) { /* Inf or NaN */
        head->least = REFUSED;
        return;
    }
    head->least = exponent_of(least);
    if (exponent_of(most) <= MOST && head->least >= UNSCALED_LEAST)
        return;

    /* As large as may be; 2^127 is the largest scale that is a float. */
    head->scale = MOST - exponent_of(most) < 127 ? MOST - exponent_of(most) : 127;
    head->least += head->scale;
    if (head->least < LEAST_ELEMENT) {
        head->least = REFUSED;
        return;
    }
    const __m512 scale = _mm512_set1_ps(ldexpf(1.0f, head->scale));

    if (along_k)
        pack_all(planes, !of_ms, 1, k, count, src, ld, 1, scale, &range, to);
    else
        pack_all(planes, of_ms, 0, k, count, src, ld, 1, scale, &range, to);
}

static int carries(const void *ms, const void *ns)
{
    const head_t *a = ms, *b = ns;

    return a->least + b->least >= LEAST_PRODUCT;
}

/* ---- the product ------------------------------------------------------------------------- */

/* Registers 0 to 3 are C, 4 and 5 a plane of Ms, 6 and 7 one of Ns. (The intrinsics take nothing
 * but plain numbers for them.) */
#define LOAD_A0(plane) TILE_LOAD(4, a + (plane)*PLANE_BYTES)
#define LOAD_A1(plane) TILE_LOAD(5, a + (plane)*PLANE_BYTES + TILE_BYTES)
#define LOAD_B0(plane) TILE_LOAD(6, b + (plane)*PLANE_BYTES)
#define LOAD_B1(plane) TILE_LOAD(7, b + (plane)*PLANE_BYTES + TILE_BYTES)

/* Each of the four sums is used at every fourth product, by when it is there. A register is loaded
 * anew right after its last use. */
#define THEN_A(plane)                                                                              \
    do {                                                                                           \
        TILE_MULTIPLY(0, 4, 6);                                                                    \
        TILE_MULTIPLY(1, 4, 7);                                                                    \
        LOAD_A0(plane);                                                                            \
        TILE_MULTIPLY(2, 5, 6);                                                                    \
        TILE_MULTIPLY(3, 5, 7);                                                                    \
        LOAD_A1(plane);                                                                            \
    } while (0)
#define THEN_B(plane)                                                                              \
    do {                                                                                           \
        TILE_MULTIPLY(0, 4, 6);                                                                    \
        TILE_MULTIPLY(1, 4, 7);                                                                    \
        TILE_MULTIPLY(2, 5, 6);                                                                    \
        LOAD_B0(plane);                                                                            \
        TILE_MULTIPLY(3, 5, 7);                                                                    \
        LOAD_B1(plane);                                                                            \
    } while (0)
#define LAST                                                                                       \
    do {                                                                                           \
        TILE_MULTIPLY(0, 4, 6);                                                                    \
        TILE_MULTIPLY(1, 4, 7);                                                                    \
        TILE_MULTIPLY(2, 5, 6);                                                                    \
        TILE_MULTIPLY(3, 5, 7);                                                                    \
    } while (0)
#define LOAD(plane_a, plane_b)                                                                     \
    do {                                                                                           \
        LOAD_A0(plane_a);                                                                          \
        LOAD_B0(plane_b);                                                                          \
        LOAD_B1(plane_b);                                                                          \
        LOAD_A1(plane_a);                                                                          \
    } while (0)

enum { H, M, L };

/* The sums of 32 x 32 of C, of four tiles. */
typedef float sums_t[4][TILE_ROWS][HALF];

static inline void begin_sums(void)
{
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
}

static inline void end_sums(sums_t sums)
{
    TILE_STORE(0, sums[0]);
    TILE_STORE(1, sums[1]);
    TILE_STORE(2, sums[2]);
    TILE_STORE(3, sums[3]);
}

/* The small products of one panel of three planes; of two, all. From product to product one of the
 * two planes stays in its registers. */
TILE_INLINE void products(const int planes, int64_t k, const char *a, const char *b)
{
    const int bytes = planes * PLANE_BYTES;

    for (int64_t p = 0; p < k; p += STEP, a += bytes, b += bytes) {
        LOAD(planes - 1, H);
        if (planes == 3) {
            THEN_A(M); /* lh */
            THEN_B(M); /* mh */
            THEN_A(H); /* mm */
            THEN_B(L); /* hm */
            LAST;      /* hl */
        } else {
            THEN_A(H); /* mh */
            THEN_B(M); /* hh */
            LAST;      /* hm */
        }
    }
}

/* The large products of three planes. */
TILE_INLINE void products_hh(int64_t k, const char *a, const char *b)
{
    const int bytes = 3 * PLANE_BYTES;

    for (int64_t p = 0; p < k; p += STEP, a += bytes, b += bytes) {
        LOAD(H, H);
        LAST;
    }
}

/* To 16 columns of C; `mask` says which of them there are. */
TILE_INLINE void store(__mmask16 mask, __m512 x, float beta, float *c)
{
    if (beta != 0.0f)
        x = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_maskz_loadu_ps(mask, c), x);
    _mm512_mask_storeu_ps(c, mask, x);
}

/* With three planes small products have sums of their own: what those lose is small too, and each
 * result meets few roundings of its own size. */
TILE_INLINE void multiply(const int planes, int64_t k, const void *ms, const void *ns, int m, int n,
                          float alpha, float beta, float *c, int64_t ldc)
{
    sums_t sum __attribute__((aligned(64))), small __attribute__((aligned(64)));
    const head_t *head_a = ms, *head_b = ns;
    const char *a = (const char *)(head_a + 1), *b = (const char *)(head_b + 1);
    const int scale = -(head_a->scale + head_b->scale);
    /* Two factors beside alpha: their product may be no float. */
    const __m512 f = _mm512_set1_ps(scale ? ldexpf(1.0f, scale / 2) : 1.0f);
    const __m512 g = _mm512_set1_ps(scale ? ldexpf(1.0f, scale - scale / 2) : 1.0f);
    const __m512 factor = _mm512_set1_ps(alpha);

    /* C has left the near caches since the last panel; it comes back to L2 meanwhile. (Planes that
     * pass would drive it out of L1; they themselves are fetched in time by the hardware.) */
    for (int i = 0; i < m; i++) {
        _mm_prefetch(c + i * ldc, _MM_HINT_T1);
        _mm_prefetch(c + i * ldc + n - 1, _MM_HINT_T1);
    }
    begin_sums();
    products(planes, k, a, b);
    if (planes == 3) {
        end_sums(small);
        begin_sums();
        products_hh(k, a, b);
    }
    end_sums(sum);

    for (int i = 0; i < m; i++) {
        for (int half = 0; half * HALF < n; half++) {
            const int tile = i / TILE_ROWS * 2 + half, row = i % TILE_ROWS;
            __m512 x = _mm512_load_ps(sum[tile][row]);

            if (planes == 3)
                x = _mm512_add_ps(x, _mm512_load_ps(small[tile][row]));
            if (scale)
                x = _mm512_mul_ps(_mm512_mul_ps(x, f), g);
            store(first(n - half * HALF), _mm512_mul_ps(factor, x), beta,
                  c + i * ldc + half * HALF);
        }
    }
}

/* ---- the tables -------------------------------------------------------------------------- */

static void begin(void)
{
    tile_begin();
}

static void end(void)
{
    tile_end();
}

#define TABLE(mode, planes, count, depth)                                                          \
    static void pack_ms_##mode(int64_t k, int lines, const float *src, int64_t ld, int along_k,    \
                               void *ms)                                                           \
    {                                                                                              \
        pack(planes, 1, k, lines, src, ld, along_k, ms);                                           \
    }                                                                                              \
    static void pack_ns_##mode(int64_t k, int lines, const float *src, int64_t ld, int along_k,    \
                               void *ns)                                                           \
    {                                                                                              \
        pack(planes, 0, k, lines, src, ld, along_k, ns);                                           \
    }                                                                                              \
    static void multiply_##mode(int64_t k, const void *ms, const void *ns, int m, int n,           \
                                float alpha, float beta, float *c, int64_t ldc)                    \
    {                                                                                              \
        multiply(planes, k, ms, ns, m, n, alpha, beta, c, ldc);                                    \
    }                                                                                              \
    const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_##mode = {                               \
        "sgemm_bf16x" #count "_amx_32x32",                                                         \
        planes,                                                                                    \
        count,                                                                                     \
        depth,                                                                                     \
        TILE_EMULATED,                                                                             \
        begin,                                                                                     \
        end,                                                                                       \
        pack_ms_##mode,                                                                            \
        pack_ns_##mode,                                                                            \
        carries,                                                                                   \
        multiply_##mode,                                                                           \
    };

TABLE(fp32, 3, 6, DEPTH_FP32)
TABLE(tf32, 2, 3, DEPTH_TF32)
