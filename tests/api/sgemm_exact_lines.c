/* sgemm_exact_lines.c - rows and columns that the planes of split precision cannot carry (Inf, NaN,
 * magnitudes far apart, subnormals) are as accurate as all others, in every math mode on the GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "guarded_gemm.h"

static rng_t rng = {20261121};

/* Prepare a row-major product without padding, transposed by the bits of `transposed`, alpha 1. */
static gemm_t make(int transposed, const int64_t size[3], float beta)
{
    const gemm_t g = gemm_by_bits(transposed % 4 * TRANS_A, size, 1.0f, beta);
    prepare(&g, FAMILY_NORMAL, 0, &rng);
    return g;
}

/* One element of A, of B or of both is special. It must have the effect that IEEE arithmetic gives
 * it; all other results must be as accurate as without it. */
static void try_special_elements(tilemm_t ctx)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN, 1e30f, 1e-30f, 3e38f, 1e-42f};
    static const int64_t sizes[][3] = {{700, 650, 1100}, {384, 420, 1000}};
    const int64_t row = 137, col = 401, at = 555;
    for (int s = 0; s < (int)(sizeof(specials) / sizeof(*specials)); s++)
        for (int side = 0; side < 6; side++) {
            const int small = side >= 3; /* and the rows are aligned */
            const float special = specials[s];
            gemm_t g = gemm_by_bits(s % 4 + (side % 3 == 1 ? TRANS_B : 0), sizes[small], 1.0f,
                                    s % 2 ? 0.25f : 0.0f);
            gemm_set_ld(&g, small ? 4 : 1, small ? 8 : 2, 3);
            prepare(&g, FAMILY_NORMAL, 0, &rng);
            if (side % 3 != 1)
                A.numbers[gemm_at_a(&g, row, at)] = special;
            if (side % 3 != 0)
                B.numbers[gemm_at_b(&g, at, col)] = special;
            if (side % 3 == 2 && fabsf(special) < 1) /* multiply it by a huge one */
                B.numbers[gemm_at_b(&g, at, col)] = 1e30f;
            send(&g);
            for (int m = 0; m < MODES; m++) {
                const double tolerance = gemm_tolerance(modes[m], g.k);
                char name[40];
                snprintf(name, sizeof(name), "%g on side %d", (double)special, side);
                run_mode(ctx, &g, m, name);
                /* With 3e38 a sum may overflow at any step: its row and column are not checked. */
                if (!isfinite(special) || fabsf(special) < 1e38f) {
                    for (int64_t x = 0; x < 40; x++) {
                        check_element(&g, row, x * g.n / 40, tolerance);
                        check_element(&g, x * g.m / 40, col, tolerance);
                    }
                    if (side % 3 == 2)
                        check_element(&g, row, col, tolerance);
                }
                for (int x = 0; x < SAMPLES; x++) {
                    int64_t i = rng_range(&rng, 0, g.m - 1), j = rng_range(&rng, 0, g.n - 1);
                    if (i != row && j != col)
                        check_element(&g, i, j, tolerance);
                }
            }
        }
}

/* Other lines that planes cannot carry: small elements where the other operand is sparse, blocks of
 * k whose magnitudes lie far apart, sums of few products. beta C must be added once. */
static void try_mixed_magnitudes(tilemm_t ctx)
{
    for (int s = 0; s < 6; s++) {
        const gemm_t g = make(s, (const int64_t[]){600, 520, 1300}, 3.0f);
        for (int64_t i = 0; i < g.m; i += 7)
            for (int64_t q = 0; q < g.k; q++) {
                float *x = &A.numbers[gemm_at_a(&g, i, q)];
                if (s < 2 && q % 100 == 50)
                    *x *= 1e-12f; /* loses bits next to its neighbours */
                else if (s == 2 || s == 3)
                    *x = q < 512 ? *x * 1e14f : *x;
                else if (s > 3)
                    *x = q % 190 == 3 ? *x : 0.0f;
            }
        for (int64_t j = 0; j < g.n && s < 2; j += 11) /* sparse: one large, the others small */
            for (int64_t q = 0; q < g.k; q++)
                B.numbers[gemm_at_b(&g, q, j)] *= q % 100 == 50 ? 1e12f : 1.0f;
        send(&g);
        for (int m = 0; m < MODES; m++) {
            const double tolerance = gemm_tolerance(modes[m], g.k);
            run_mode(ctx, &g, m, "mixed magnitudes");
            check_sample(&g, tolerance, &rng);
            for (int64_t x = 0; x < 40; x++) {
                check_element(&g, x * 14, x * 11, tolerance);
                check_element(&g, x * 14 + 1, x * 11, tolerance);
                check_element(&g, x * 14, x * 11 + 1, tolerance);
            }
        }
    }
}

/* Rows whose only number is so small that its upper plane is zero, among ordinary rows. It is
 * multiplied by huge numbers, so the results are ordinary. */
static void try_lone_subnormals(tilemm_t ctx)
{
    static const int64_t sizes[][3] = {{512, 512, 512}, {700, 600, 96}, {1024, 1024, 1024}};
    for (int s = 0; s < 12; s++) {
        const gemm_t g = make(s, sizes[s / 4], 0.0f);
        for (int64_t i = 0; i < g.m; i += 5)
            for (int64_t q = 0; q < g.k; q++)
                A.numbers[gemm_at_a(&g, i, q)] = q == 41 ? 0x1.4p-140f : 0.0f;
        for (int64_t j = 0; j < g.n; j++)
            B.numbers[gemm_at_b(&g, 41, j)] *= 0x1p100f;
        send(&g);
        for (int m = 0; m < MODES; m++) {
            run_mode(ctx, &g, m, "lone subnormals");
            for (int64_t x = 0; x < 100; x++) {
                check_element(&g, x * 5, x * 3, gemm_tolerance(modes[m], g.k));
                check_element(&g, x * 5 + 1, x * 3, gemm_tolerance(modes[m], g.k));
            }
        }
    }
}

int main(void)
{
    tilemm_t ctx = NULL;
    test_begin(TILEMM_BACKEND_CUDA);
    while ((ctx = next_arch(ctx, TILEMM_BACKEND_CUDA, 0)) != NULL) {
        try_special_elements(ctx);
        try_mixed_magnitudes(ctx);
        try_lone_subnormals(ctx);
    }
    free_operands();
    return check_exit();
}
