/* sgemm_exact_lines.c - rows and columns that the planes of split precision cannot carry (Inf, NaN,
 * magnitudes far apart, subnormals) are as accurate as all others, in every math mode on the GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "device_gemm.h"

/* Row-major, without padding, transposed by the bits of `transposed`, alpha 1. */
static problem_t plain_problem(int transposed, int64_t m, int64_t n, int64_t k, float beta)
{
    gemm_t g = gemm_make(TILEMM_ROW_MAJOR, transposed & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                         transposed & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS, m, n, k, 1.0f, beta);
    return make_problem(&g, FAMILY_NORMAL, 0);
}

/* One element of A, of B or of both is special. It must have the effect that IEEE arithmetic gives
 * it; all other results must be as accurate as without it. */
static void try_special_elements(const char *arch)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN, 1e30f, 1e-30f, 3e38f, 1e-42f};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < (int)(sizeof(specials) / sizeof(*specials)); s++)
        for (int side = 0; side < 6; side++) {
            const int small = side >= 3; /* and the rows are aligned */
            gemm_t g = gemm_make(
                s & 1 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR, s & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                side % 3 == 1 ? TILEMM_TRANS : TILEMM_NO_TRANS, small ? 384 : 700,
                small ? 420 : 650, small ? 1000 : 1100, 1.0f, s % 2 ? 0.25f : 0.0f);
            if (small)
                gemm_set_ld(&g, 4, 8, 3);
            else
                gemm_set_ld(&g, 1, 2, 3);
            problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
            int64_t row = 137, col = 401, at = 555;
            if (side % 3 != 1)
                p.host[0][gemm_at_a(&g, row, at)] = specials[s];
            if (side % 3 != 0)
                p.host[1][gemm_at_b(&g, at, col)] = specials[s];
            if (side % 3 == 2 && fabsf(specials[s]) < 1) /* multiply it by a huge one */
                p.host[1][gemm_at_b(&g, at, col)] = 1e30f;
            for (int m = 0; m < MODES; m++) {
                char name[40], what[160];
                snprintf(name, sizeof(name), "%g on side", (double)specials[s]);
                run(ctx, arch, &p, m, name, side, &what);
                /* With 3e38 a sum may overflow at any step: its row and column are not checked. */
                if (fabsf(specials[s]) < 1e38f || isinf(specials[s]) || isnan(specials[s])) {
                    for (int64_t x = 0; x < 40; x++) {
                        check_element(&p, row, x * g.n / 40, tolerance_of(modes[m], g.k), what);
                        check_element(&p, x * g.m / 40, col, tolerance_of(modes[m], g.k), what);
                    }
                    if (side % 3 == 2)
                        check_element(&p, row, col, tolerance_of(modes[m], g.k), what);
                }
                for (int x = 0; x < SAMPLES; x++) {
                    int64_t i = rng_range(&rng, 0, g.m - 1), j = rng_range(&rng, 0, g.n - 1);
                    if (i != row && j != col)
                        check_element(&p, i, j, tolerance_of(modes[m], g.k), what);
                }
                check_between(&p, what);
            }
            free_problem(&p, 0);
        }
    tilemm_destroy(ctx);
}

/* Other lines that planes cannot carry: small elements where the other operand is sparse, blocks of
 * k whose magnitudes lie far apart, sums of few products. beta C must be added once. */
static void try_mixed_magnitudes(const char *arch)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < 6; s++) {
        problem_t p = plain_problem(s, 600, 520, 1300, 3.0f);
        const gemm_t *g = &p.gemm;
        for (int64_t i = 0; i < g->m; i += 7)
            for (int64_t q = 0; q < g->k; q++) {
                float *x = &p.host[0][gemm_at_a(g, i, q)];
                if (s < 2 && q % 100 == 50)
                    *x *= 1e-12f; /* loses bits next to its neighbours */
                else if (s == 2 || s == 3)
                    *x = q < 512 ? *x * 1e14f : *x;
                else if (s > 3)
                    *x = q % 190 == 3 ? *x : 0.0f;
            }
        for (int64_t j = 0; j < g->n && s < 2; j += 11) /* sparse: one large, the others small */
            for (int64_t q = 0; q < g->k; q++)
                p.host[1][gemm_at_b(g, q, j)] *= q % 100 == 50 ? 1e12f : 1.0f;
        for (int m = 0; m < MODES; m++) {
            char what[160];
            run(ctx, arch, &p, m, "mixed magnitudes", s, &what);
            check_sample(&p, tolerance_of(modes[m], g->k), what);
            for (int64_t x = 0; x < 40; x++) {
                check_element(&p, x * 14, x * 11, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 14 + 1, x * 11, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 14, x * 11 + 1, tolerance_of(modes[m], g->k), what);
            }
        }
        free_problem(&p, 0);
    }
    tilemm_destroy(ctx);
}

/* Rows whose only number is so small that its upper plane is zero, among ordinary rows. It is
 * multiplied by huge numbers, so the results are ordinary. */
static void try_lone_subnormals(const char *arch)
{
    static const int64_t sizes[][3] = {{512, 512, 512}, {700, 600, 96}, {1024, 1024, 1024}};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < 12; s++) {
        const int64_t *size = sizes[s / 4];
        problem_t p = plain_problem(s, size[0], size[1], size[2], 0.0f);
        const gemm_t *g = &p.gemm;
        for (int64_t i = 0; i < g->m; i += 5)
            for (int64_t q = 0; q < g->k; q++)
                p.host[0][gemm_at_a(g, i, q)] = q == 41 ? 0x1.4p-140f : 0.0f;
        for (int64_t j = 0; j < g->n; j++)
            p.host[1][gemm_at_b(g, 41, j)] *= 0x1p100f;
        for (int m = 0; m < MODES; m++) {
            char what[160];
            run(ctx, arch, &p, m, "lone subnormals", s, &what);
            for (int64_t x = 0; x < 100; x++) {
                check_element(&p, x * 5, x * 3, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 5 + 1, x * 3, tolerance_of(modes[m], g->k), what);
            }
        }
        free_problem(&p, 0);
    }
    tilemm_destroy(ctx);
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CUDA);
    for (const char *const *arch = test_archs(TILEMM_BACKEND_CUDA); *arch; arch++) {
        try_special_elements(*arch);
        try_mixed_magnitudes(*arch);
        try_lone_subnormals(*arch);
    }
    return check_exit();
}
