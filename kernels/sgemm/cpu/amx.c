/* amx.c - SGEMM on AMX's BF16 tiles: 32 x 32 of C in four tile registers, the planes of Ms and of
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
#include "planes.h"
#include "amx_tile.h"

#include <math.h>

#define TILE_INLINE static inline __attribute__((always_inline))

enum { LINES = TILEMM__PLANES_LINES, HALF = 16, STEP = 32 };
/* A plane of 32 lines for one step is two tiles. */
enum { PLANE_BYTES = 2 * TILE_BYTES };
_Static_assert((int)PLANE_BYTES == (int)TILEMM__PLANE_BYTES, "as the header says");
/* A tile of C costs some hundred cycles beside its products, so panels are long: they come from L2
 * as they are used. */
enum { DEPTH_FP32 = 16 * STEP, DEPTH_TF32 = 24 * STEP };
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

/* Twice the bits without the sign: of the largest element; of the smallest but 0, less 1. */
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

/* A row of a tile of each plane: pairs of an element of x and one of y. */
TILE_INLINE void split(const int planes, const int scaled, __m512 scale, range_t *range, __m512 x,
                       __m512 y, char *to)
{
    if (scaled) {
        x = _mm512_mul_ps(x, scale);
        y = _mm512_mul_ps(y, scale);
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
        _mm512_store_si512(to + plane * PLANE_BYTES,
                           _mm512_ternarylogic_epi32(lower, upper, mask, 0xf8));
    }
}

/* The planes of 16 lines and one step. A pair is k = q and q + 16 of the step: so both operands
 * come to their pairs without a shuffle. Rows of Ms' tiles are lines, their pairs lie along k; the
 * rows of Ns' tiles are pairs. Lines of memory are those rows; their columns if `transposed`. */
TILE_INLINE void pack_half(const int planes, const int transposed, const int along_k,
                           const float *src, int64_t ld, const int scaled, __m512 scale,
                           range_t *range, char *to)
{
    const float *other = src + (along_k ? HALF : HALF * ld);
    for (int i = 0; i < HALF; i += 4) {
        __m512 x[4], y[4];
        if (transposed) {
            load_transposed(src + i, ld, x);
            load_transposed(other + i, ld, y);
        }
#pragma GCC unroll 4
        for (int q = 0; q < 4; q++) {
            if (!transposed) {
                x[q] = _mm512_loadu_ps(src + (i + q) * ld);
                y[q] = _mm512_loadu_ps(other + (i + q) * ld);
            }
            split(planes, scaled, scale, range, x[q], y[q], to + (i + q) * TILE_ROW_BYTES);
        }
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

TILE_INLINE void pack_all(const int planes, const int transposed, const int along_k, int64_t k,
                          int64_t count, const float *src, int64_t ld, const int scaled,
                          __m512 scale, range_t *range, char *to)
{
    const int64_t next = along_k ? STEP : STEP * ld;
    for (int64_t p = 0; p < k; p += STEP, src += next, to += planes * PLANE_BYTES) {
        float part[STEP][STEP] __attribute__((aligned(64)));
        const float *from = src;
        int64_t apart = ld;
        if (k - p < STEP || count < LINES) {
            fill_step(along_k ? count : k - p, along_k ? k - p : count, src, ld, part);
            from = part[0];
            apart = STEP;
        }
        for (int half = 0; half < 2; half++)
            pack_half(planes, transposed, along_k, from + half * HALF * (along_k ? apart : 1),
                      apart, scaled, scale, range, to + half * TILE_BYTES);
    }
}

/* Panels are split as they are, and again, scaled, if their range then shows that they must be. */
TILE_INLINE void pack(const int planes, const int of_ms, int64_t k, int count, const float *src,
                      int64_t ld, int along_k, void *panel)
{
    head_t *head = panel;
    char *to = (char *)(head + 1);
    range_t range = {_mm512_setzero_si512(), _mm512_set1_epi32(-1)};
    if (along_k)
        pack_all(planes, !of_ms, 1, k, count, src, ld, 0, _mm512_setzero_ps(), &range, to);
    else
        pack_all(planes, of_ms, 0, k, count, src, ld, 0, _mm512_setzero_ps(), &range, to);
    head->scale = head->least = 0;
    const uint32_t most = _mm512_reduce_max_epu32(range.most);
    const uint32_t least = _mm512_reduce_min_epu32(range.least) + 1;
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

/* Registers 0 to 3 are C, 4 and 5 a plane of Ms, 6 and 7 one of Ns. (The intrinsics take plain
 * numbers only.) Each of the four sums is used at every fourth product, when it is ready. A
 * register is loaded anew right after its last use: a and b are the next planes. */
TILE_INLINE void load_planes(const char *a, const char *b)
{
    TILE_LOAD(4, a);
    TILE_LOAD(6, b);
    TILE_LOAD(7, b + TILE_BYTES);
    TILE_LOAD(5, a + TILE_BYTES);
}

TILE_INLINE void multiply_then_a(const char *a)
{
    TILE_MULTIPLY(0, 4, 6);
    TILE_MULTIPLY(1, 4, 7);
    TILE_LOAD(4, a);
    TILE_MULTIPLY(2, 5, 6);
    TILE_MULTIPLY(3, 5, 7);
    TILE_LOAD(5, a + TILE_BYTES);
}

TILE_INLINE void multiply_then_b(const char *b)
{
    TILE_MULTIPLY(0, 4, 6);
    TILE_MULTIPLY(1, 4, 7);
    TILE_MULTIPLY(2, 5, 6);
    TILE_LOAD(6, b);
    TILE_MULTIPLY(3, 5, 7);
    TILE_LOAD(7, b + TILE_BYTES);
}

TILE_INLINE void multiply_last(void)
{
    TILE_MULTIPLY(0, 4, 6);
    TILE_MULTIPLY(1, 4, 7);
    TILE_MULTIPLY(2, 5, 6);
    TILE_MULTIPLY(3, 5, 7);
}

/* Where the planes of a step lie. */
enum { H = 0, M = PLANE_BYTES, L = 2 * PLANE_BYTES };

/* The sums of a tile of C. */
typedef float sums_t[4][TILE_ROWS][HALF];

/* A tile of C to which sums are added while the next one is multiplied, so that the tile unit does
 * not wait for that. */
typedef struct {
    int i, m; /* the rows from i to m are still to come */
    int scaled;
    __mmask16 mask[2];
    float f, g; /* undo the scale: in two factors, as their product may be no float */
    float alpha, beta;
    const float (*sums)[TILE_ROWS][HALF];
    float *c;
    int64_t ldc;
} addition_t;

/* Up to `rows` rows of it. */
TILE_INLINE void add_rows(addition_t *x, int rows)
{
    const int end = x->i + rows < x->m ? x->i + rows : x->m;
    for (; x->i < end; x->i++) {
        for (int half = 0; half < 2; half++) {
            const int tile = x->i / TILE_ROWS * 2 + half, row = x->i % TILE_ROWS;
            float *c = x->c + x->i * x->ldc + half * HALF;
            __m512 v = _mm512_load_ps(x->sums[tile][row]);
            if (x->scaled)
                v = _mm512_mul_ps(_mm512_mul_ps(v, _mm512_set1_ps(x->f)), _mm512_set1_ps(x->g));
            v = _mm512_mul_ps(_mm512_set1_ps(x->alpha), v);
            if (x->beta != 0.0f)
                v = _mm512_fmadd_ps(_mm512_set1_ps(x->beta),
                                    _mm512_maskz_loadu_ps(x->mask[half], c), v);
            _mm512_mask_storeu_ps(c, x->mask[half], v);
        }
    }
}

/* Work for other tiles, a little between any two products: the CPU looks for none far beyond tile
 * instructions. Few reads can be under way at once, and tile loads need most. */
typedef struct {
    addition_t *before; /* the tile whose sums are there */
    int rows;           /* of it, each time */
    const char *next;   /* the next panel of Ns comes to L2 */
    int lines;          /* of memory, each time */
    const float *c;     /* C of this tile, if its elements are needed: a row of it comes to L2 */
    int64_t ldc;
    int c_rows, last; /* rows still to come; the last column */
} meanwhile_t;

TILE_INLINE void meanwhile(meanwhile_t *x)
{
    add_rows(x->before, x->rows);
    for (int i = 0; i < x->lines; i++, x->next += 64)
        _mm_prefetch(x->next, _MM_HINT_T1);
    if (x->c_rows > 0) {
        _mm_prefetch(x->c, _MM_HINT_T1);
        _mm_prefetch(x->c + x->last / 2, _MM_HINT_T1);
        _mm_prefetch(x->c + x->last, _MM_HINT_T1);
        x->c += x->ldc;
        x->c_rows--;
    }
}

/* All products of a tile. Of three planes the small ones come first, which lose little; then hh,
 * which meets few roundings, from the end, whose planes are near. Each product keeps one plane. */
TILE_INLINE void products(const int planes, int steps, const char *a, const char *b, sums_t sums,
                          meanwhile_t *other)
{
    const int bytes = planes * PLANE_BYTES;
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    for (int p = 0; p < steps; p++, a += bytes, b += bytes) {
        load_planes(a + (planes - 1) * PLANE_BYTES, b + H);
        if (planes == 3) {
            multiply_then_a(a + M); /* lh */
            meanwhile(other);
            multiply_then_b(b + M); /* mh */
            meanwhile(other);
            multiply_then_a(a + H); /* mm */
            meanwhile(other);
            multiply_then_b(b + L); /* hm */
            meanwhile(other);
            multiply_last(); /* hl */
        } else {
            multiply_then_a(a + H); /* mh */
            meanwhile(other);
            multiply_then_b(b + M); /* hh */
            meanwhile(other);
            multiply_last(); /* hm */
        }
    }
    for (int p = 0; planes == 3 && p < steps; p++) {
        a -= bytes;
        b -= bytes;
        load_planes(a + H, b + H);
        multiply_last();
    }
    TILE_STORE(0, sums[0]);
    TILE_STORE(1, sums[1]);
    TILE_STORE(2, sums[2]);
    TILE_STORE(3, sums[3]);
}

TILE_INLINE void multiply(const int planes, int64_t k, const void *ms, size_t panel_bytes,
                          const void *ns, int64_t m, int n, float alpha, float beta, float *c,
                          int64_t ldc)
{
    const int steps = (int)((k + STEP - 1) / STEP), times = steps * (planes == 3 ? 4 : 2);
    const int64_t tiles = (m + LINES - 1) / LINES, lines = (int64_t)panel_bytes / 64;
    const head_t *head_b = ns;
    sums_t sums __attribute__((aligned(64)));
    addition_t before = {.mask = {first(n), first(n - HALF)},
                         .alpha = alpha,
                         .beta = beta,
                         .sums = sums,
                         .ldc = ldc};
    meanwhile_t other = {.before = &before,
                         .rows = (LINES + times - 1) / times,
                         .next = (const char *)ns + panel_bytes,
                         .lines = (int)((lines + tiles * times - 1) / (tiles * times)),
                         .ldc = ldc,
                         .last = n - 1};

    for (int64_t i = 0; i < tiles; i++) {
        const head_t *head_a = (const head_t *)((const char *)ms + i * (int64_t)panel_bytes);
        const int scale = -(head_a->scale + head_b->scale);
        const int rows = (int)(m - i * LINES < LINES ? m - i * LINES : LINES);
        other.c = c + i * LINES * ldc;
        other.c_rows = beta != 0.0f ? rows : 0;
        products(planes, steps, (const char *)(head_a + 1), (const char *)(head_b + 1), sums,
                 &other);
        before.i = 0;
        before.m = rows;
        before.c = c + i * LINES * ldc;
        before.scaled = scale != 0;
        before.f = scale ? ldexpf(1.0f, scale / 2) : 1.0f;
        before.g = scale ? ldexpf(1.0f, scale - scale / 2) : 1.0f;
    }
    add_rows(&before, LINES);
}

/* ---- the tables -------------------------------------------------------------------------- */

#define TABLE(mode, name, planes, count, depth)                                                    \
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
    static void multiply_##mode(int64_t k, const void *ms, size_t panel_bytes, const void *ns,     \
                                int64_t m, int n, float alpha, float beta, float *c, int64_t ldc)  \
    {                                                                                              \
        multiply(planes, k, ms, panel_bytes, ns, m, n, alpha, beta, c, ldc);                       \
    }                                                                                              \
    const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_##mode = {                               \
        name,     planes,         count,          depth,   TILE_EMULATED,  tile_begin,             \
        tile_end, pack_ms_##mode, pack_ns_##mode, carries, multiply_##mode};

TABLE(fp32, "sgemm_bf16x6_amx_32x32", 3, 6, DEPTH_FP32)
TABLE(tf32, "sgemm_bf16x3_amx_32x32", 2, 3, DEPTH_TF32)
