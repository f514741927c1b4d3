/* sgemm_hard_tiles.c - products of FP16 planes with groups of 512 lines of every kind side by side:
 * ordinary ones, ones with few exact lines, and hard ones, which go to BF16 planes or to FP32
 * multiply-adds. All elements against FP64; the same bits again.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "guarded_gemm.h"
#include "kernels/size.h"

static rng_t rng = {20261129};

enum { GROUP = 512 };

/* What the lines of a group have: numbers of a size; with one of 2^50 in a few lines; exponents of
 * 2^+-20; these times 2^35, or 2^-110, or a power of the line's own; numbers so far apart that BF16
 * planes lose bits of some; or Inf and NaN here and there. */
typedef enum { PLAIN, FEW, WIDE, HUGE_ONES, TINY, OWN, SPREAD, SPECIAL } kind_t;

static float number(kind_t kind, int64_t line, int64_t p)
{
    const float x = (float)(2 * rng_unit(&rng) - 1);
    const int wide = (int)rng_range(&rng, -20, 20), rare = (line * 31 + p) % 97 == 0;
    switch (kind) {
    case PLAIN: return x;
    case FEW: return line % 200 == 7 && p == line % 100 ? 0x1p50f : x;
    case WIDE: return ldexpf(x, wide);
    case HUGE_ONES: return ldexpf(x, wide + 35);
    case TINY: return ldexpf(x, wide - 110);
    case OWN: return ldexpf(x, wide + (int)(line * 37 % 80) - 40);
    case SPREAD: return ldexpf(x, rare ? 50 : p % 2 ? wide : wide - 120);
    default: return rare && line % 50 == 0 ? (line % 100 ? INFINITY : NAN) : ldexpf(x, wide);
    }
}

static void fill(const gemm_t *g, float *x, int of_b, const kind_t *kinds)
{
    const int64_t lines = of_b ? g->n : g->m;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t p = 0; p < g->k; p++)
            x[of_b ? gemm_at_b(g, p, line) : gemm_at_a(g, line, p)] =
                number(kinds[line / GROUP], line, p);
}

/* Products of a batch, the kinds of whose groups move on by one in each matrix. */
static void try_kinds(tilemm_t ctx, const gemm_t *g, int mode, const kind_t *of_a,
                      const kind_t *of_b, int64_t batch)
{
    const double most = modes[mode] == TILEMM_MATH_TF32 ? INFINITY : (*arch ? 48 : 16) * 0x1p-24;
    char name[100];
    snprintf(name, sizeof name, "%s, kinds %d x %d, batch %lld", mode_names[mode], of_a[0], of_b[0],
             (long long)batch);
    place_batch(g, batch, &rng);
    for (int64_t i = 0; i < batch; i++) {
        fill(g, A.numbers + i * gemm_span_a(g), 0, of_a + i);
        fill(g, B.numbers + i * gemm_span_b(g), 1, of_b + i);
    }
    run_by_planes(ctx, g, mode, batch, most, 3, name, &rng);
}

/* All kinds in one operand, beside one kind or some in the other: in every layout, aligned or not,
 * with tiles whose k is shared out, and with few and many of them. */
static void try_all(tilemm_t ctx)
{
    static const kind_t many[] = {WIDE, PLAIN, FEW,     HUGE_ONES, OWN,   SPREAD,
                                  TINY, PLAIN, SPECIAL, WIDE,      PLAIN, FEW};
    static const kind_t others[][3] = {
        {PLAIN, PLAIN, PLAIN}, {WIDE, PLAIN, WIDE}, {FEW, SPREAD, PLAIN}, {TINY, WIDE, OWN}};
    static const int64_t sizes[][3] = {
        {9 * GROUP, 300, 650}, {9 * GROUP - 77, 1100, 130}, {4 * GROUP + 1, 600, 1537}};
    for (int x = 0; x < 12; x++) {
        const int64_t *const size = sizes[x % 3];
        const int exchanged = x / 3 % 2; /* the many kinds are op(B)'s */
        const int64_t of[] = {size[exchanged], size[!exchanged], size[2]};
        gemm_t g = gemm_by_bits(x * 5 % 8, of, x % 4 == 3 ? -0.75f : 1, x % 5 == 4 ? 0.5f : 0);
        if (test_quick() && x % 3 != x / 3 % 3)
            continue;
        gemm_set_ld(&g, x % 2, x / 2 % 2 * 3, x % 3 % 2);
        try_kinds(ctx, &g, x == 5 ? 2 : 0, exchanged ? others[x % 4] : many,
                  exchanged ? many : others[x % 4], 1);
    }
    gemm_t g = gemm_by_bits(TRANS_A, (int64_t[]){700, 800, 200}, 1, 0);
    try_kinds(ctx, &g, 0, many, many + 3, 5);
    /* Hard throughout: the last tiles share k out. */
    g = gemm_by_bits(0, (int64_t[]){1500, 1500, 1000}, 1, 1);
    try_kinds(ctx, &g, 0, (kind_t[]){WIDE, WIDE, WIDE}, (kind_t[]){PLAIN, PLAIN, PLAIN}, 1);
    try_kinds(ctx, &g, 0, (kind_t[]){SPREAD, SPECIAL, SPREAD}, (kind_t[]){WIDE, FEW, WIDE}, 1);
    g = gemm_by_bits(TRANS_B, (int64_t[]){1000, 1030, 2100}, 1, 0);
    try_kinds(ctx, &g, 0, (kind_t[]){OWN, OWN}, (kind_t[]){WIDE, WIDE, WIDE}, 1);
}

/* Few tiles, which share k out: from BF16 planes, by multiply-adds, or some of both. */
static void try_few(tilemm_t ctx)
{
    static const kind_t of_a[][3] = {{WIDE, SPREAD, PLAIN}, {SPREAD, WIDE}, {SPECIAL, PLAIN, FEW}};
    static const kind_t of_b[][3] = {{SPREAD, WIDE}, {SPREAD, PLAIN, TINY}, {WIDE, WIDE}};
    static const int64_t sizes[][3] = {{300, 260, 9001}, {1030, 600, 3000}, {70, 515, 5003}};
    for (int x = 0; x < 9; x++) {
        gemm_t g = gemm_by_bits(x * 3 % 8, sizes[x % 3], 1, x % 2 ? -1.5f : 0);
        if (test_quick() && x % 3 != x / 3)
            continue;
        gemm_set_ld(&g, x % 2, x / 2 % 2 * 3, x % 3 % 2);
        try_kinds(ctx, &g, 0, of_a[x / 3], of_b[x / 3], 1);
    }
    gemm_t g = gemm_by_bits(TRANS_A, (int64_t[]){120, 130, 2500}, 1, 0);
    try_kinds(ctx, &g, 0, (kind_t[]){SPREAD, WIDE, PLAIN}, (kind_t[]){SPREAD, TINY, OWN}, 3);
}

int main(void)
{
    static const char *const archs[] = {"", "sm80"};
    test_begin(TILEMM_BACKEND_CUDA);
    for (int i = 0; i < 2; i++) {
        arch = archs[i];
        setenv("TILEMM_VARIANT", *arch ? "sgemm_planes_sm80" : "sgemm_planes", 1);
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);
        try_all(ctx);
        try_few(ctx);
        tilemm_destroy(ctx);
    }
    free_operands();
    return check_exit();
}
