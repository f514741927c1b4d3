/* sgemm_exact_lines.c - products of FP16 planes with lines (rows of op(A), columns of op(B)) that
 * planes cannot carry: none, some, or all, in one operand or both, at both ends, with Inf and NaN
 * in place. All elements against FP64; the same bits again.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "guarded_gemm.h"
#include "kernels/size.h"

static rng_t rng = {20261124};

/* Number i of `count` lines of `lines`: the first, the last, and between. */
static int64_t spread(int64_t i, int64_t count, int64_t lines)
{
    return count > 1 ? i * (lines - 1) / (count - 1) : 0;
}

/* Make `count` of the rows of op(A), or of the columns of op(B), exact. */
static void spoil(const gemm_t *g, float *x, int of_b, int64_t count)
{
    static const float bad[] = {INFINITY, 1e15f, NAN, -INFINITY, -1e15f};
    const int64_t lines = of_b ? g->n : g->m;
    for (int64_t i = 0; i < count; i++) {
        const int64_t line = spread(i, count, lines), p = (line * 7 + 3) % g->k;
        x[of_b ? gemm_at_b(g, p, line) : gemm_at_a(g, line, p)] = bad[i % 5];
    }
}

/* A batch of products, whose matrices have different numbers of exact lines: counts of A's and of
 * B's in the first matrix. */
static void try_lines(tilemm_t ctx, const gemm_t *g, int mode, int64_t in_a, int64_t in_b,
                      int64_t batch)
{
    const int64_t span_a = gemm_span_a(g), span_b = gemm_span_b(g);
    char name[100];
    snprintf(name, sizeof name, "%s, %lld x %lld exact lines, batch %lld", mode_names[mode],
             (long long)in_a, (long long)in_b, (long long)batch);
    place_batch(g, batch, &rng);
    for (int64_t i = 0; i < batch; i++) {
        gemm_fill_a(g, A.numbers + i * span_a, FAMILY_NORMAL, &rng);
        gemm_fill_b(g, B.numbers + i * span_b, FAMILY_NORMAL, &rng);
        spoil(g, A.numbers + i * span_a, 0, (in_a + i * 7) % (g->m + 1));
        spoil(g, B.numbers + i * span_b, 1, (in_b + i * 5) % (g->n + 1));
    }
    run_by_planes(ctx, g, mode, batch, INFINITY, 1, name, &rng);
}

static void try_counts(tilemm_t ctx)
{
    static const int64_t counts[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 49, 1000};
    static const int64_t sizes[][3] = {{150, 173, 517}, {290, 132, 128}, {95, 260, 200}};
    const int most = (int)(sizeof counts / sizeof *counts);
    for (int c = 0; c < most; c++)
        for (int side = 0; side < 3; side++) {
            const int x = c * 3 + side, transposed = x % 8;
            gemm_t g = gemm_by_bits(transposed, sizes[(x + c) % 3], x % 4 == 3 ? -0.75f : 1,
                                    x % 5 == 4 ? 0.5f : 0);
            if (test_quick() && c % 2 && c != 5)
                continue;
            gemm_set_ld(&g, x % 3, x / 2 % 3, x % 2);
            try_lines(ctx, &g, 0, side == 1 ? 0 : tilemm__min(counts[c], g.m),
                      side == 0 ? 0 : tilemm__min(counts[c], g.n), 1 + (x % 4 == 0));
            /* One plane of each operand takes any k from 16 on. */
            g.k = x % 2 ? 17 : 70;
            gemm_set_ld(&g, 0, 0, 0);
            try_lines(ctx, &g, 2, side == 1 ? 0 : tilemm__min(counts[c], g.m),
                      side == 0 ? 0 : tilemm__min(counts[c], g.n), 1);
        }
}

/* More lines than a team of blocks takes at a time, in either operand. */
static void try_many_lines(tilemm_t ctx)
{
    for (int side = 0; side < 2; side++) {
        const int64_t size[] = {side ? 40 : 9000, side ? 9000 : 40, 130};
        gemm_t g = gemm_by_bits(side * TRANS_A, size, 1, 0);
        try_lines(ctx, &g, 0, side ? 3 : 70, side ? 70 : 3, 1);
    }
}

/* Few tiles, which are divided along k; in a batch and with both operands' lines. */
static void try_long_k(tilemm_t ctx)
{
    static const int64_t sizes[][3] = {
        {300, 41, 9001}, {41, 300, 3000}, {512, 600, 2049}, {9000, 33, 1500}};
    for (int x = 0; x < 8; x++) {
        const int64_t *const size = sizes[x % 4];
        gemm_t g = gemm_by_bits(x * 3 % 8, size, x % 4 == 3 ? -0.75f : 1, x % 5 == 4 ? 0.5f : 0);
        if (test_quick() && x % 4 != x / 4 && x != 3)
            continue;
        gemm_set_ld(&g, x % 3, x / 2 % 3, x % 2);
        /* Of A 70, in two teams; or of either operand, or of both. */
        try_lines(ctx, &g, 0, size[0] > 1000 ? 70 : x % 3 ? 3 : 0, x % 3 == 1 ? 0 : 2, 1 + x % 3);
    }
}

int main(void)
{
    static const char *const archs[] = {"", "sm80"};
    test_begin(TILEMM_BACKEND_CUDA);
    for (int i = 0; i < 2; i++) {
        arch = archs[i];
        setenv("TILEMM_VARIANT", *arch ? "sgemm_planes_sm80" : "sgemm_planes", 1);
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);
        try_counts(ctx);
        try_many_lines(ctx);
        try_long_k(ctx);
        tilemm_destroy(ctx);
    }
    free_operands();
    return check_exit();
}
