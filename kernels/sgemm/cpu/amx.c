/* amx.c - SGEMM on AMX's BF16 tiles: 32 x 32 of C in four tile registers, the planes of Ms and of
 * Ns in two each.
 *
 * An element x is h + m + l, three BF16 numbers, each to nearest of what is left: that is all 24
 * bits of it. Of the nine products FP32 mode takes the six whose weight is above 2^-24, TF32 mode
 * hh, hm and mh. The tile unit adds in FP32, rounds to nearest, and takes subnormal numbers for 0;
 * so lines are scaled to where nothing can be subnormal, and those whose range is too wide for that
 * are left to multiply-adds. A scale is a power of two, and changes no bit of a sum: so an element
 * of C depends on its row and its column, and not on the others of its tile.
 *
 * Assumptions: panels are 64-byte aligned; user memory has the alignment of a float and no more.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "amx_pack.h"
#include "amx_vectors.h"

/* A tile of C costs some hundred cycles beside its products, so panels are long: they come from L2
 * as they are used. */
enum { DEPTH_FP32 = 16 * STEP, DEPTH_TF32 = 24 * STEP };
_Static_assert((int)DEPTH_FP32 <= MOST_STEPS * (int)STEP &&
                   (int)DEPTH_TF32 <= MOST_STEPS * (int)STEP,
               "sums of vectors have room");

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
    uint32_t scaled, exact;
    __mmask16 mask[2];
    const head_t *rows, *columns; /* of the panels */
    float alpha, beta;
    float (*sums)[TILE_ROWS][HALF];
    float *c;
    int64_t ldc;
} addition_t;

/* The panel of the columns, of which there are n. */
TILE_INLINE void set_columns(addition_t *x, const head_t *head, int n)
{
    x->columns = head;
    x->mask[0] = first(n) & (__mmask16)~head->exact;
    x->mask[1] = first(n - HALF) & (__mmask16) ~(head->exact >> HALF);
}

/* The panel of the rows, of which there are m, after that of the columns. */
TILE_INLINE void set_rows(addition_t *x, const head_t *head, int m, float *c)
{
    x->rows = head;
    x->scaled = head->scaled | x->columns->scaled;
    x->exact = head->exact;
    x->i = 0;
    x->m = m;
    x->c = c;
}

/* Sums of a row and 16 columns of such scales. Not inlined, as it is seldom needed. */
static __attribute__((noinline)) __m512 unscaled(__m512 sums, int row, const int8_t *columns)
{
    const __m512i scale = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)columns));
    const __m512i down = _mm512_sub_epi32(_mm512_set1_epi32(-row), scale);
    return _mm512_scalef_ps(sums, _mm512_cvtepi32_ps(down));
}

/* `transposed`: rows of sums are columns of C. */
TILE_INLINE __m512 sums_at(const int transposed, const addition_t *x, int i, int half)
{
    if (!transposed)
        return _mm512_load_ps(x->sums[i / TILE_ROWS * 2 + half][i % TILE_ROWS]);
    const __m512i row = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_i32gather_ps(_mm512_slli_epi32(row, 4),
                               &x->sums[half * 2 + i / HALF][0][i % HALF], sizeof(float));
}

/* Up to `rows` rows of it. */
TILE_INLINE void add_rows(const int transposed, addition_t *x, int rows)
{
    const int end = x->i + rows < x->m ? x->i + rows : x->m;
    for (; x->i < end; x->i++) {
        const int i = x->i;
        if (__builtin_expect(x->exact >> i & 1, 0))
            continue;
        for (int half = 0; half < 2; half++) {
            float *c = x->c + i * x->ldc + half * HALF;
            __m512 v = sums_at(transposed, x, i, half);
            if (__builtin_expect(x->scaled, 0))
                v = unscaled(v, x->rows->scale[i], x->columns->scale + half * HALF);
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
    add_rows(0, x->before, x->rows);
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
 * which meets few roundings, from the end, whose planes are near. Each product keeps one plane.
 * `exchanged`: a is of the caller's B, and products have the order that they would have in its
 * place. */
TILE_INLINE void products(const int planes, int exchanged, int steps, const char *a, const char *b,
                          sums_t sums, meanwhile_t *other)
{
    const int bytes = planes * PLANE_BYTES;
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    for (int p = 0; p < steps; p++, a += bytes, b += bytes) {
        if (planes == 3 && !exchanged) {
            load_planes(a + L, b + H);
            multiply_then_a(a + M); /* lh */
            meanwhile(other);
            multiply_then_b(b + M); /* mh */
            meanwhile(other);
            multiply_then_a(a + H); /* mm */
            meanwhile(other);
            multiply_then_b(b + L); /* hm */
            meanwhile(other);
            multiply_last(); /* hl */
        } else if (planes == 3) {
            load_planes(a + H, b + L);
            multiply_then_b(b + M); /* hl */
            meanwhile(other);
            multiply_then_a(a + M); /* hm */
            meanwhile(other);
            multiply_then_b(b + H); /* mm */
            meanwhile(other);
            multiply_then_a(a + L); /* mh */
            meanwhile(other);
            multiply_last(); /* lh */
        } else if (!exchanged) {
            load_planes(a + M, b + H);
            multiply_then_a(a + H); /* mh */
            meanwhile(other);
            multiply_then_b(b + M); /* hh */
            meanwhile(other);
            multiply_last(); /* hm */
        } else {
            load_planes(a + H, b + M);
            multiply_then_b(b + H); /* hm */
            meanwhile(other);
            multiply_then_a(a + M); /* hh */
            meanwhile(other);
            multiply_last(); /* mh */
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

TILE_INLINE void multiply(const int planes, const tilemm__planes_product_t *x, const void *ms,
                          size_t panel_bytes, const void *ns, int64_t m, int n)
{
    const int steps = (int)((x->k + STEP - 1) / STEP), times = steps * (planes == 3 ? 4 : 2);
    const int64_t tiles = (m + LINES - 1) / LINES, lines = (int64_t)panel_bytes / 64;
    const head_t *head_a = ms, *head_b = ns;
    sums_t sums __attribute__((aligned(64)));
    addition_t before = {.alpha = x->alpha, .beta = x->beta, .sums = sums, .ldc = x->ldc};
    set_columns(&before, head_b, n);
    meanwhile_t other = {.before = &before,
                         .rows = (LINES + times - 1) / times,
                         .next = (const char *)ns + panel_bytes,
                         .lines = (int)((lines + tiles * times - 1) / (tiles * times)),
                         .ldc = x->ldc,
                         .last = n - 1};

    for (int64_t i = 0; i < tiles; i++) {
        const int rows = (int)(m - i * LINES < LINES ? m - i * LINES : LINES);
        head_a = (const head_t *)((const char *)ms + i * (int64_t)panel_bytes);
        other.c = x->c + i * LINES * x->ldc;
        other.c_rows = x->beta != 0.0f ? rows : 0;
        products(planes, x->exchanged, steps, (const char *)(head_a + 1),
                 (const char *)(head_b + 1), sums, &other);
        set_rows(&before, head_a, rows, x->c + i * LINES * x->ldc);
    }
    add_rows(0, &before, LINES);
}

/* ---- the product of lines that are split as they are read ---------------------------------- */

/* The products of planes that go along with the reading, in their order. */
typedef struct {
    int a, b;
} planes_t;
static const planes_t order_of_3[2][5] = {{{L, H}, {M, H}, {M, M}, {H, M}, {H, L}},
                                          {{H, L}, {H, M}, {M, M}, {M, H}, {L, H}}};
static const planes_t order_of_2[2][3] = {{{M, H}, {H, H}, {H, M}}, {{H, M}, {H, H}, {M, H}}};

/* Products of the rows' first or second 16 lines; both[0] and both[1]: whether rows and columns are
 * more than 16. */
TILE_INLINE void multiply_half(int half, const int *both)
{
    if (half == 0) {
        TILE_MULTIPLY(0, 4, 6);
        if (both[1])
            TILE_MULTIPLY(1, 4, 7);
    } else if (both[0]) {
        TILE_MULTIPLY(2, 5, 6);
        if (both[1])
            TILE_MULTIPLY(3, 5, 7);
    }
}

TILE_INLINE void load_rows(const char *a, const int *both)
{
    TILE_LOAD(4, a);
    if (both[0])
        TILE_LOAD(5, a + TILE_BYTES);
}

TILE_INLINE void load_columns(const char *b, const int *both)
{
    TILE_LOAD(6, b);
    if (both[1])
        TILE_LOAD(7, b + TILE_BYTES);
}

/* Rows `first` to end - 1 of a step that comes after the next one: no prefetcher of hardware sees
 * where rows of 128 bytes that are far apart go on. */
TILE_INLINE void prefetch_rows(const float *from, int64_t ld, int first, int end)
{
    for (int i = first; i < end; i++) {
        _mm_prefetch((const char *)(from + i * ld), _MM_HINT_T0);
        _mm_prefetch((const char *)(from + i * ld + HALF), _MM_HINT_T0);
    }
}

/* Planes of 32 lines and one step: the first at h, the others from `rest` on. */
static inline const char *plane_at(int plane, const char *h, const char *rest)
{
    return plane == H ? h : rest + plane - M;
}

/* As products(), of lines that are rows of tiles if they lie along k, else columns, with a panel.
 * While the planes of one step are multiplied those of the next are made, at `to`: there the high
 * planes of all steps stay, and the others of two, so that all of it lies in L1. */
TILE_INLINE void products_as_read(const int planes, int exchanged, int64_t k,
                                  const tilemm__planes_lines_t *lines, char *to, const char *panel,
                                  int few, sums_t sums, range_t *range)
{
    enum { QUARTERS = 8 };
    const int bytes = planes * PLANE_BYTES, count = planes == 3 ? 5 : 3, parts = 2 * count;
    const int along_k = lines->along_k;
    const int both[2] = {along_k || few > HALF, !along_k || few > HALF};
    const planes_t *const order = planes == 3 ? order_of_3[exchanged] : order_of_2[exchanged];
    char *h = to, *rest = to + (k + STEP - 1) / STEP * PLANE_BYTES;
    char *other = rest + (planes - 1) * PLANE_BYTES;
    float part[STEP][STEP] __attribute__((aligned(64)));
    int64_t apart;
    const float *from = step_at(lines, LINES, k, 0, part, &apart);
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
#define PACK_QUARTER(q, h, rest)                                                                   \
    pack_rows(planes, 0, along_k, from + (q) / 4 * HALF * (along_k ? apart : 1), apart,            \
              (q) % 4 * 4, 0, NULL, range, (h) + (q) / 4 * TILE_BYTES,                             \
              (rest) + (q) / 4 * TILE_BYTES)
    for (int q = 0; q < QUARTERS; q++)
        PACK_QUARTER(q, h, rest);
    for (int64_t p = 0; p < k; p += STEP, h += PLANE_BYTES, panel += bytes) {
        const int more = k - p > STEP;
        const char *const a_h = along_k ? h : panel, *const b_h = along_k ? panel : h;
        const char *const a_rest = along_k ? rest : panel + M, *b_rest = along_k ? panel + M : rest;
        if (more)
            from = step_at(lines, LINES, k, p + STEP, part, &apart);
        load_rows(plane_at(order[0].a, a_h, a_rest), both);
        load_columns(plane_at(order[0].b, b_h, b_rest), both);
#pragma GCC unroll 10
        for (int i = 0; i < parts; i++) {
            multiply_half(i % 2, both);
            if (more) {
                if (!along_k && k - p > 2 * STEP)
                    prefetch_rows(from + STEP * apart, apart, i * STEP / parts,
                                  (i + 1) * STEP / parts);
#pragma GCC unroll 2
                for (int q = i * QUARTERS / parts; q < (i + 1) * QUARTERS / parts; q++)
                    PACK_QUARTER(q, h + PLANE_BYTES, other);
            }
            if (i % 2 == 1 && i + 1 < parts) {
                const planes_t *const next = &order[i / 2 + 1];
                if (next->a != next[-1].a)
                    load_rows(plane_at(next->a, a_h, a_rest), both);
                if (next->b != next[-1].b)
                    load_columns(plane_at(next->b, b_h, b_rest), both);
            }
        }
        char *const last = rest;
        rest = other;
        other = last;
    }
#undef PACK_QUARTER
    for (int64_t p = 0; planes == 3 && p < k; p += STEP) {
        h -= PLANE_BYTES;
        panel -= bytes;
        load_rows(along_k ? h : panel, both);
        load_columns(along_k ? panel : h, both);
        multiply_half(0, both);
        multiply_half(1, both);
    }
    TILE_STORE(0, sums[0]);
    TILE_STORE(1, sums[1]);
    TILE_STORE(2, sums[2]);
    TILE_STORE(3, sums[3]);
}

/* Lines that turn out to need a scale are packed, and multiplied once more. */
TILE_INLINE void multiply_as_read(const int planes, const tilemm__planes_product_t *x,
                                  const tilemm__planes_lines_t *lines, int are_rows, void *to,
                                  const void *panel, int few)
{
    const int steps = (int)((x->k + STEP - 1) / STEP), along_k = lines->along_k;
    /* Rows of tiles are of the caller's B. */
    const int exchanged = (along_k == are_rows) == x->exchanged;
    const head_t *head = panel;
    head_t *const head_of_lines = to;
    char *const made = (char *)(head_of_lines + 1);
    const char *const other = (const char *)(head + 1);
    sums_t sums __attribute__((aligned(64)));
    range_t range = no_range();
    memset(head_of_lines, 0, sizeof *head_of_lines);
    products_as_read(planes, exchanged, x->k, lines, made, other, few, sums, &range);
    if (!is_plain_range(range)) {
        addition_t nothing = {.m = 0};
        meanwhile_t idle = {.before = &nothing};
        pack(planes, along_k, x->k, lines, to);
        products(planes, exchanged, steps, along_k ? made : other, along_k ? other : made, sums,
                 &idle);
    }
    addition_t sum = {.alpha = x->alpha, .beta = x->beta, .sums = sums, .ldc = x->ldc};
    set_columns(&sum, are_rows ? head : head_of_lines, are_rows ? few : lines->count);
    set_rows(&sum, are_rows ? head_of_lines : head, are_rows ? lines->count : few, x->c);
    if (are_rows == along_k)
        add_rows(0, &sum, LINES);
    else
        add_rows(1, &sum, LINES);
}

/* ---- the product of lines with few vectors ------------------------------------------------- */

TILE_INLINE int multiply_vectors(const int planes, const tilemm__planes_product_t *x,
                                 tilemm__planes_lines_t *lines, int are_rows, void *memory,
                                 size_t bytes, const float *vectors, int few, const float *after)
{
    take_lines(planes, x->k, bytes, few, lines);
    if (lines->along_k)
        return few == 1 ? multiply_along_k(planes, 1, x, lines, are_rows, vectors, after)
                        : multiply_along_k(planes, 2, x, lines, are_rows, vectors, after);
    return few == 1 ? multiply_rows(planes, 1, x, lines, are_rows, memory, vectors)
                    : multiply_rows(planes, 2, x, lines, are_rows, memory, vectors);
}

/* ---- the tables -------------------------------------------------------------------------- */

#define TABLE(mode, name, planes, count, depth)                                                    \
    static void pack_ms_##mode(int64_t k, const tilemm__planes_lines_t *lines, void *ms)           \
    {                                                                                              \
        pack(planes, 1, k, lines, ms);                                                             \
    }                                                                                              \
    static void pack_ns_##mode(int64_t k, const tilemm__planes_lines_t *lines, void *ns)           \
    {                                                                                              \
        pack(planes, 0, k, lines, ns);                                                             \
    }                                                                                              \
    static void multiply_##mode(const tilemm__planes_product_t *x, const void *ms,                 \
                                size_t panel_bytes, const void *ns, int64_t m, int n)              \
    {                                                                                              \
        multiply(planes, x, ms, panel_bytes, ns, m, n);                                            \
    }                                                                                              \
    static void multiply_as_read_##mode(const tilemm__planes_product_t *x,                         \
                                        const tilemm__planes_lines_t *lines, int are_rows,         \
                                        void *to, const void *panel, int few)                      \
    {                                                                                              \
        multiply_as_read(planes, x, lines, are_rows, to, panel, few);                              \
    }                                                                                              \
    static int split_vectors_##mode(int64_t k, const tilemm__planes_lines_t *vectors, float *to)   \
    {                                                                                              \
        return split_few(planes, k, vectors, to);                                                  \
    }                                                                                              \
    static int multiply_vectors_##mode(                                                            \
        const tilemm__planes_product_t *x, tilemm__planes_lines_t *lines, int are_rows,            \
        void *memory, size_t bytes, const float *vectors, int few, const float *after)             \
    {                                                                                              \
        return multiply_vectors(planes, x, lines, are_rows, memory, bytes, vectors, few, after);   \
    }                                                                                              \
    const tilemm__sgemm_planes_t tilemm__sgemm_planes_amx_##mode = {name,                          \
                                                                    planes,                        \
                                                                    count,                         \
                                                                    depth,                         \
                                                                    TILE_EMULATED,                 \
                                                                    tile_begin,                    \
                                                                    tile_end,                      \
                                                                    pack_ms_##mode,                \
                                                                    pack_ns_##mode,                \
                                                                    multiply_##mode,               \
                                                                    multiply_as_read_##mode,       \
                                                                    split_vectors_##mode,          \
                                                                    multiply_vectors_##mode};

TABLE(fp32, "sgemm_bf16x6_amx_32x32", 3, 6, DEPTH_FP32)
TABLE(tf32, "sgemm_bf16x3_amx_32x32", 2, 3, DEPTH_TF32)
