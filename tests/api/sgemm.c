/* sgemm.c - tilemm_sgemm against FP64 and the reference library, for layouts, transposes, ragged
 * sizes, leading dimensions, factors, alignments and kinds of memory; BLAS's conventions; the same
 * bits in every run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "guarded_gemm.h"

/* The worst error of each problem, summed over the sweep: ours and the reference library's. */
static double sum_ours, sum_theirs;

/* Our worst error must be at most twice the reference library's. */
static void compare(const gemm_t *g, const double *exact, const gemm_error_t *ours)
{
    float *theirs = host_array(gemm_span_c(g));
    if (g->beta == 0)
        memset(theirs, 0, C.bytes);
    else
        memcpy(theirs, C.sent, C.bytes);
    if (gemm_reference(TEST_BACKEND, g, A.numbers, B.numbers, theirs) == 0 && g->m > 1 &&
        g->n > 1) { /* a vector times a matrix is another routine in some libraries */
        const gemm_error_t peer = gemm_error(g, exact, exact + g->m * g->n, C.sent, theirs, 0);
        sum_ours += ours->worst;
        sum_theirs += peer.worst + ours->half_ulp / 2;
        /* The maximum of fewer elements says little: those count in the sweep's sum only. */
        if (g->m * g->n >= 256)
            CHECK(ours->worst <= 2 * peer.worst + ours->half_ulp,
                  "%s: worst error %.3g, the reference's %.3g", what, ours->worst, peer.worst);
    }
    free(theirs);
}

/* Call on operands that have been prepared; compare with FP64 and the reference library. */
static void run(tilemm_t ctx, const gemm_t *g, family_t family, tilemm_math_t math)
{
    double *exact = test_need(malloc(sizeof(double) * (size_t)(2 * g->m * g->n + 1)));
    send(g);
    finish(ctx, g, call(ctx, g), "");
    const gemm_error_t ours = check_product(g, math, 0, 0, 0, exact);
    if (family == FAMILY_INTEGER && fabsf(g->alpha) <= 1 && fabsf(g->beta) <= 1 && g->k < 100000)
        CHECK(ours.worst == 0, "%s: sums of small integers must be exact", what);
    if (math != TILEMM_MATH_TF32)
        compare(g, exact, &ours);
    free(exact);
}

static void limit_work(gemm_t *g, int64_t most)
{
    while (g->m * g->n * g->k > most) {
        int64_t *longest = g->m >= g->n && g->m >= g->k ? &g->m : g->n >= g->k ? &g->n : &g->k;
        *longest = *longest * 2 / 3;
    }
}

static void sweep(tilemm_t ctx, tilemm_math_t math, int rounds, uint64_t seed)
{
    static const float factors[] = {0, 1, -1, 2.5f, -0.375f};
    rng_t rng = {seed};
    tilemm_set_math(ctx, math);
    sum_ours = sum_theirs = 0;
    for (int round = 0; round < rounds; round++) {
        for (int combination = 0; combination < 8; combination++) {
            family_t family = (family_t)rng_range(&rng, 0, FAMILY_COUNT - 1);
            int64_t m = rng_size(&rng, 300), n = rng_size(&rng, 300), k = rng_size(&rng, 300);
            float alpha = factors[rng_range(&rng, 0, 4)], beta = factors[rng_range(&rng, 0, 4)];
            gemm_t g = gemm_by_bits(combination, (const int64_t[]){m, n, k}, alpha, beta);
            if (round < 3) { /* each size 0 and 1 in each combination */
                g.m = round == 0 ? 0 : round == 1 ? g.m : 1;
                g.n = round == 1 ? 1 : g.n;
                g.k = round == 2 ? combination / 4 : g.k;
            } else if (round == 3) {
                g.m = g.k = 300 - combination;
                g.n = 280 + combination;
                g.alpha = 1;
            } else if (round == 4) {
                g.n = 0;
            }
            if (g.alpha == 0 && rng_range(&rng, 0, 2))
                g.alpha = 1;
            if (round == 5) { /* few rows or columns and many, beyond what is small */
                const int64_t few = rng_range(&rng, 2, 140), many = rng_range(&rng, 500, 700);
                const int rows_are_few = (combination & COL_MAJOR) != 0;
                g.m = rows_are_few ? few : many;
                g.n = rows_are_few ? many : few;
                g.k = rng_range(&rng, 20, 300);
                g.alpha = 1;
            } else {
                limit_work(&g, test_quick() ? 60000 : round == 3 ? 27000000 : 2000000);
            }
            gemm_set_ld(&g, rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9),
                        rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9),
                        rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9));
            if (math == TILEMM_MATH_TF32 && family == FAMILY_SUBNORMAL)
                family = FAMILY_SIGNED; /* TF32's hardware may drop them */
            prepare(&g, family, ANYWHERE, &rng);
            run(ctx, &g, family, math);
        }
    }
    if (math != TILEMM_MATH_TF32)
        CHECK(sum_ours <= 2 * sum_theirs || sum_theirs == 0,
              "TILEMM_ARCH=%s: the problems' worst errors add to %.3g, the reference's to %.3g",
              arch, sum_ours, sum_theirs);
    if (sum_theirs > 0)
        printf("arch \"%s\", math %d: errors %.2f of twice the reference's\n", arch, (int)math,
               sum_ours / (2 * sum_theirs));
}

/* Inf and NaN in A, B and C propagate as in IEEE arithmetic, and nowhere else; products that
 * overflow are Inf. */
static void specials(tilemm_t ctx, uint64_t seed)
{
    static const float special[] = {INFINITY, -INFINITY, NAN, 0.0f};
    rng_t rng = {seed};
    for (int round = 0; round < (test_quick() ? 6 : 24); round++) {
        int64_t m = rng_range(&rng, 1, 70), n = rng_range(&rng, 1, 70), k = rng_range(&rng, 1, 70);
        gemm_t g = gemm_by_bits(round, (const int64_t[]){m, n, k}, round % 3 ? 1.0f : -2.0f,
                                (float)(round % 3 - 1));
        gemm_set_ld(&g, round % 4, round % 5, round % 3);
        prepare(&g, FAMILY_INTEGER, ANYWHERE, &rng);
        for (int s = 0; s < 4; s++) {
            int64_t i = rng_range(&rng, 0, m - 1), j = rng_range(&rng, 0, n - 1);
            int64_t p = rng_range(&rng, 0, k - 1);
            if (round % 4 != 1)
                A.numbers[gemm_at_a(&g, i, p)] = special[s];
            if (round % 4 != 2)
                B.numbers[gemm_at_b(&g, p, j)] = special[s];
            /* not read if beta is 0 */
            C.numbers[matrix_at(g.layout, i, j, g.ldc)] = special[s];
        }
        run(ctx, &g, FAMILY_COUNT, TILEMM_MATH_FP32);
    }
    for (int s = 0; s < 2; s++) { /* 3e38 * 2 in every element, of either sign */
        gemm_t g = gemm_by_bits(0, (const int64_t[]){5, 33, 1}, 1, 0);
        prepare(&g, FAMILY_SIGNED, ANYWHERE, &rng);
        for (int e = 0; e < 5; e++)
            A.numbers[e] = 3e38f;
        for (int e = 0; e < 33; e++)
            B.numbers[e] = s || e % 2 ? -2.0f : 2.0f;
        run(ctx, &g, FAMILY_COUNT, TILEMM_MATH_FP32);
    }
}

/* alpha = 0 and k = 0 do not read A and B, beta = 0 does not read C, beta = 1 changes nothing:
 * C = beta C in every bit. */
static void unread(tilemm_t ctx, uint64_t seed)
{
    static const float betas[] = {0, 1, -1, 0.3f};
    rng_t rng = {seed};
    for (int which = 0; which < 16; which++) {
        const int alpha_0 = which & 2;
        gemm_t g = gemm_by_bits(which % 2 + TRANS_B, (const int64_t[]){37, 53, alpha_0 ? 40 : 0},
                                alpha_0 ? 0 : 1, betas[which / 4]);
        int64_t wrong = 0;
        gemm_set_ld(&g, 0, 0, 3);
        prepare(&g, FAMILY_SIGNED, ANYWHERE, &rng);
        send(&g);
        finish(ctx, &g, call(ctx, &g), "");
        for (int64_t x = 0; x < g.m * g.n; x++) {
            int64_t e = matrix_at(g.layout, x / g.n, x % g.n, g.ldc);
            wrong += C.numbers[e] != (g.beta != 0 ? g.beta * C.sent[e] : 0.0f);
        }
        CHECK(wrong == 0, "%s: %lld elements differ", what, (long long)wrong);
    }
    for (int z = 0; z < 2; z++) { /* m or n of 0: nothing is looked at */
        gemm_t g = gemm_by_bits(z, (const int64_t[]){z ? 4 : 0, z ? 0 : 4, 4}, 1, (float)z);
        CHECK_OK(ctx, gemm_call(ctx, &g, NULL, NULL, NULL));
    }
}

/* The same bits from call to call, from context to context, and, on the CPU, for every number of
 * threads: of the last product two share their panels, where more pack for themselves. */
static void same_bits(uint64_t seed, tilemm_math_t math)
{
    static const int64_t shape[][3] = {{257, 129, 300}, {64, 64, 1500}, {3, 500, 700},
                                       {500, 1, 333},   {1, 1, 5000},   {32, 300, 40},
                                       {520, 515, 512}};
    static const int threads[] = {1, 2, 3, 8};
    rng_t rng = {seed};
    for (int s = 0; s < 7; s++) {
        gemm_t g = gemm_by_bits((s & 3) + (s & 1) * 4, shape[s], 1.5f, s & 1 ? 0.5f : 0.0f);
        if (test_quick())
            g.k /= 4;
        gemm_set_ld(&g, 1, 0, 2);
        prepare(&g, FAMILY_NORMAL, ANYWHERE, &rng);
        send(&g);
        float *first = host_array(gemm_span_c(&g));
        for (int t = 0; t < 4; t++) {
            tilemm_t ctx = test_context(TEST_BACKEND, arch);
            CHECK_OK(ctx, tilemm_set_threads(ctx, threads[t]));
            CHECK_OK(ctx, tilemm_set_math(ctx, math));
            for (int again = 0; again < 2; again++) {
                operand_resend(&C);
                CHECK_OK(ctx, call(ctx, &g));
                CHECK_OK(ctx, tilemm_synchronize(ctx));
                operand_fetch(&C);
                if (t == 0 && again == 0)
                    memcpy(first, C.image, C.bytes);
                CHECK(memcmp(first, C.image, C.bytes) == 0,
                      "%s: other bits with %d threads, call %d", gemm_text(&g), threads[t], again);
            }
            tilemm_destroy(ctx);
        }
        free(first);
    }
}

/* Long sums; and shapes that run every loop over blocks, panels and waves of tiles more than once.
 */
static void shapes(tilemm_t ctx, uint64_t seed)
{
    enum { DEEP = 100000 };
    static const int64_t shape[][3] = {
        {21, 23, DEEP}, {21, 23, DEEP},  {21, 23, DEEP},  {21, 23, DEEP},  {20, 6100, 40},
        {6100, 20, 40}, {33, 29, 2500},  {510, 1100, 30}, {1030, 70, 530}, {4, 40000, 9},
        {40000, 3, 17}, {700, 650, 300}, {1, 3000, 2000}, {3000, 1, 2000}};
    rng_t rng = {seed};
    for (int s = 0; s < (test_quick() ? 4 : 14); s++) {
        const family_t family =
            s < 4 ? (family_t)(s % 2 ? FAMILY_SIGNED : FAMILY_POSITIVE) : (family_t)(s % 3);
        gemm_t g = gemm_by_bits((int)rng_range(&rng, 0, 7), shape[s], s % 3 ? 1.0f : -0.5f,
                                s < 4 || s % 2 ? 0.0f : 1.0f);
        if (test_quick())
            g.k = 4000;
        gemm_set_ld(&g, s % 2, s % 3, s % 5);
        prepare(&g, family, ANYWHERE, &rng);
        run(ctx, &g, family, TILEMM_MATH_FP32);
    }
}

/* Rows of C that begin at multiples of 16 bytes and do not end there: what follows them stays. */
static void padded_rows(tilemm_t ctx, uint64_t seed)
{
    enum { PIECE = 4 };
    static const int64_t sides[] = {2, 3, 33, 62, 63, 130, 131, 255};
    rng_t rng = {seed};
    for (int s = 0; s < 8; s++)
        for (int bits = 0; bits < 8; bits++) {
            gemm_t g = gemm_by_bits(bits, (const int64_t[]){sides[s], sides[7 - s], 96}, 1.25f, 0);
            gemm_set_ld(&g, -g.lda & (PIECE - 1), -g.ldb & (PIECE - 1), -g.ldc & (PIECE - 1));
            prepare(&g, FAMILY_NORMAL, TEST_BACKEND == TILEMM_BACKEND_CUDA ? 0 : ANYWHERE, &rng);
            run(ctx, &g, FAMILY_NORMAL, TILEMM_MATH_FP32);
        }
}

int main(void)
{
    uint64_t seed = 1;
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 2)) != NULL) {
        int rounds = test_quick() ? 8 : *arch ? 24 : 48;
        sweep(ctx, TILEMM_MATH_FP32, rounds, seed);
        sweep(ctx, TILEMM_MATH_FP32_STRICT, rounds / 4, seed + 1);
        sweep(ctx, TILEMM_MATH_TF32, rounds / 4, seed + 2);
        tilemm_set_math(ctx, TILEMM_MATH_FP32);
        specials(ctx, seed + 3);
        unread(ctx, seed + 4);
        same_bits(seed + 5, TILEMM_MATH_FP32);
        same_bits(seed + 5, TILEMM_MATH_FP32_STRICT);
        shapes(ctx, seed + 6);
        padded_rows(ctx, seed + 7);
        seed += 100;
    }
    free_operands();
    return check_exit();
}
