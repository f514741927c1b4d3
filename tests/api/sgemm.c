/* sgemm.c - tilemm_sgemm against FP64 and the reference library, for layouts, transposes, ragged
 * sizes, leading dimensions, factors, alignments and kinds of memory; BLAS's conventions; the same
 * bits in every run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

static operand_t A, B, C;
static float *theirs, *before;
static double *dot, *mag;

/* The worst error of each problem, summed over the sweep: ours and the reference library's. */
static double sum_ours, sum_theirs;

static const char *arch = "";

static const char *describe(const gemm_t *g)
{
    static char text[256];
    snprintf(text, sizeof(text),
             "TILEMM_ARCH=%s %s %c%c m %lld n %lld k %lld alpha %g beta %g lda %lld ldb %lld ldc "
             "%lld A %s+%u B %s+%u C %s+%u",
             arch, g->layout == TILEMM_ROW_MAJOR ? "row" : "col",
             g->transa == TILEMM_TRANS ? 'T' : 'N', g->transb == TILEMM_TRANS ? 'T' : 'N',
             (long long)g->m, (long long)g->n, (long long)g->k, (double)g->alpha, (double)g->beta,
             (long long)g->lda, (long long)g->ldb, (long long)g->ldc, place_name(A.place),
             (unsigned)((uintptr_t)A.pointer % 64), place_name(B.place),
             (unsigned)((uintptr_t)B.pointer % 64), place_name(C.place),
             (unsigned)((uintptr_t)C.pointer % 64));
    return text;
}

/* At least `count` elements of `size` bytes, in place of `memory`, which has room for *have. */
static void *grow(void *memory, int64_t *have, int64_t count, size_t size)
{
    if (count <= *have)
        return memory;
    free(memory);
    *have = count;
    return test_need(malloc(size * (size_t)count));
}

static void reserve(const gemm_t *g)
{
    static int64_t have[4];
    theirs = grow(theirs, &have[0], gemm_span_c(g), sizeof(float));
    before = grow(before, &have[1], gemm_span_c(g), sizeof(float));
    dot = grow(dot, &have[2], g->m * g->n, sizeof(double));
    mag = grow(mag, &have[3], g->m * g->n, sizeof(double));
}

/* Place and fill the operands' images. */
static void prepare(const gemm_t *g, family_t family, rng_t *rng)
{
    operand_prepare(&A, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)gemm_span_a(g),
                    rng_offset(rng, sizeof(float)));
    operand_prepare(&B, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)gemm_span_b(g),
                    rng_offset(rng, sizeof(float)));
    operand_prepare(&C, rng_place(rng, TEST_BACKEND), sizeof(float) * (size_t)gemm_span_c(g),
                    rng_offset(rng, sizeof(float)));
    gemm_fill_a(g, A.numbers, family, rng);
    gemm_fill_b(g, B.numbers, family, rng);
    if (g->beta != 0) /* else C stays NaN */
        matrix_fill(C.numbers, g->layout, g->m, g->n, g->ldc, family, rng);
}

static void send(const gemm_t *g)
{
    operand_send(&A);
    operand_send(&B);
    operand_send(&C);
    matrix_own(&C, sizeof(float), 0, g->layout, g->m, g->n, g->ldc);
    reserve(g);
    if (C.bytes)
        memcpy(before, C.image, C.bytes);
}

static tilemm_status_t call(tilemm_t ctx, const gemm_t *g)
{
    int reads = g->alpha != 0 && g->k > 0;
    return tilemm_sgemm(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k, g->alpha,
                        reads ? A.pointer : NULL, g->lda, reads ? B.pointer : NULL, g->ldb, g->beta,
                        C.pointer, g->ldc);
}

/* Call on operands that have been sent; compare with FP64 and the reference library. */
static void run(tilemm_t ctx, const gemm_t *g, family_t family, tilemm_math_t math)
{
    double input_error = math == TILEMM_MATH_TF32 ? 0x1p-9 : 0;
    gemm_error_t ours, peer;
    tilemm_status_t status = call(ctx, g);
    CHECK(status == TILEMM_SUCCESS, "%s: %s: %s", describe(g), tilemm_status_string(status),
          tilemm_last_error(ctx));
    if (A.place != PLACE_HOST || B.place != PLACE_HOST || C.place != PLACE_HOST)
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s: %s", describe(g),
              tilemm_last_error(ctx));
    operand_fetch(&A);
    operand_fetch(&B);
    operand_fetch(&C);
    CHECK(operand_intact(&A) && operand_intact(&B), "%s: inputs changed", describe(g));
    CHECK(operand_intact(&C), "%s: bytes outside C changed", describe(g));
    CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "%s: kernel %s", describe(g),
          tilemm_last_kernel(ctx));
    gemm_exact(g, A.numbers, B.numbers, dot, mag);
    ours = gemm_error(g, dot, mag, before, C.numbers, input_error);
    CHECK(ours.outside == 0,
          "%s: %s: %lld elements out of bounds, first (%lld, %lld): %.9g, exact %.9g, bound %.3g",
          describe(g), tilemm_last_kernel(ctx), (long long)ours.outside, (long long)ours.i,
          (long long)ours.j, ours.got, ours.want, ours.bound);
    if (family == FAMILY_INTEGER && fabsf(g->alpha) <= 1 && fabsf(g->beta) <= 1 && g->k < 100000)
        CHECK(ours.worst == 0, "%s: %s: sums of small integers must be exact", describe(g),
              tilemm_last_kernel(ctx));
    if (math == TILEMM_MATH_TF32 || !C.bytes)
        return;
    memcpy(theirs, before, C.bytes);
    if (g->beta == 0)
        memset(theirs, 0, C.bytes);
    if (gemm_reference(TEST_BACKEND, g, A.numbers, B.numbers, theirs))
        return;
    peer = gemm_error(g, dot, mag, before, theirs, 0);
    /* Not for a vector times a matrix, which some libraries compute by another routine. The maximum
     * of fewer than 256 elements says little: those count in the sweep's sum only. */
    if (g->m > 1 && g->n > 1) {
        sum_ours += ours.worst;
        sum_theirs += peer.worst + ours.half_ulp / 2;
        if (g->m * g->n >= 256)
            CHECK(ours.worst <= 2 * peer.worst + ours.half_ulp,
                  "%s: %s: worst error %.3g, the reference's %.3g", describe(g),
                  tilemm_last_kernel(ctx), ours.worst, peer.worst);
    }
}

static void limit_work(gemm_t *g, int64_t most)
{
    while (g->m * g->n * g->k > most) {
        if (g->m >= g->n && g->m >= g->k)
            g->m = g->m * 2 / 3;
        else if (g->n >= g->k)
            g->n = g->n * 2 / 3;
        else
            g->k = g->k * 2 / 3;
    }
}

static const tilemm_layout_t layouts[] = {TILEMM_ROW_MAJOR, TILEMM_COL_MAJOR};
static const tilemm_op_t ops[] = {TILEMM_NO_TRANS, TILEMM_TRANS};

static void sweep(tilemm_t ctx, tilemm_math_t math, int rounds, uint64_t seed)
{
    static const float factors[] = {0, 1, -1, 2.5f, -0.375f};
    rng_t rng = {seed};
    int round, combination;
    tilemm_set_math(ctx, math);
    sum_ours = sum_theirs = 0;
    for (round = 0; round < rounds; round++) {
        for (combination = 0; combination < 8; combination++) {
            family_t family = (family_t)rng_range(&rng, 0, FAMILY_COUNT - 1);
            int64_t m = rng_size(&rng, 300), n = rng_size(&rng, 300), k = rng_size(&rng, 300);
            float alpha = factors[rng_range(&rng, 0, 4)], beta = factors[rng_range(&rng, 0, 4)];
            gemm_t g = gemm_make(layouts[combination & 1], ops[combination >> 1 & 1],
                                 ops[combination >> 2], m, n, k, alpha, beta);
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
            limit_work(&g, test_quick() ? 60000 : round == 3 ? 27000000 : 2000000);
            gemm_set_ld(&g, rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9),
                        rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9),
                        rng_range(&rng, 0, 1) * rng_range(&rng, 0, 9));
            if (math == TILEMM_MATH_TF32 && family == FAMILY_SUBNORMAL)
                family = FAMILY_SIGNED; /* TF32's hardware may drop them */
            prepare(&g, family, &rng);
            send(&g);
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
    int round, s;
    for (round = 0; round < (test_quick() ? 6 : 24); round++) {
        int64_t m = rng_range(&rng, 1, 70), n = rng_range(&rng, 1, 70), k = rng_range(&rng, 1, 70);
        gemm_t g = gemm_make(layouts[round & 1], ops[round >> 1 & 1], ops[round >> 2 & 1], m, n, k,
                             round % 3 ? 1.0f : -2.0f, (float)(round % 3 - 1));
        gemm_set_ld(&g, round % 4, round % 5, round % 3);
        prepare(&g, FAMILY_INTEGER, &rng);
        for (s = 0; s < 4; s++) {
            int64_t i = rng_range(&rng, 0, g.m - 1), j = rng_range(&rng, 0, g.n - 1);
            int64_t p = rng_range(&rng, 0, g.k - 1);
            float *a = A.numbers, *b = B.numbers, *c = C.numbers;
            if (round % 4 != 1)
                a[gemm_at_a(&g, i, p)] = special[s];
            if (round % 4 != 2)
                b[gemm_at_b(&g, p, j)] = special[s];
            c[matrix_at(g.layout, i, j, g.ldc)] = special[s]; /* not read if beta is 0 */
        }
        send(&g);
        run(ctx, &g, FAMILY_COUNT, TILEMM_MATH_FP32);
    }
    for (s = 0; s < 2; s++) { /* 3e38 * 2 in every element, of either sign */
        gemm_t g = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 5, 33, 1, 1, 0);
        int64_t e;
        prepare(&g, FAMILY_SIGNED, &rng);
        for (e = 0; e < 5; e++)
            A.numbers[e] = 3e38f;
        for (e = 0; e < 33; e++)
            B.numbers[e] = s || e % 2 ? -2.0f : 2.0f;
        send(&g);
        run(ctx, &g, FAMILY_COUNT, TILEMM_MATH_FP32);
    }
}

/* alpha = 0 and k = 0 do not read A and B, beta = 0 does not read C, beta = 1 changes nothing:
 * C = beta C in every bit. */
static void unread(tilemm_t ctx, uint64_t seed)
{
    static const float betas[] = {0, 1, -1, 0.3f};
    rng_t rng = {seed};
    int which, b;
    for (which = 0; which < 4; which++) {
        for (b = 0; b < 4; b++) {
            gemm_t g = gemm_make(layouts[which & 1], TILEMM_NO_TRANS, TILEMM_TRANS, 37, 53,
                                 which & 2 ? 40 : 0, which & 2 ? 0 : 1, betas[b]);
            int64_t i, j, wrong = 0;
            gemm_set_ld(&g, 0, 0, 3);
            operand_prepare(&C, rng_place(&rng, TEST_BACKEND),
                            sizeof(float) * (size_t)gemm_span_c(&g), rng_offset(&rng, 4));
            if (g.beta != 0)
                matrix_fill(C.numbers, g.layout, g.m, g.n, g.ldc, FAMILY_SIGNED, &rng);
            reserve(&g);
            memcpy(before, C.image, C.bytes);
            operand_send(&C);
            matrix_own(&C, sizeof(float), 0, g.layout, g.m, g.n, g.ldc);
            CHECK(call(ctx, &g) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            operand_fetch(&C);
            CHECK(operand_intact(&C), "%s", describe(&g));
            for (i = 0; i < g.m; i++) {
                for (j = 0; j < g.n; j++) {
                    int64_t e = matrix_at(g.layout, i, j, g.ldc);
                    float want = g.beta != 0 ? g.beta * before[e] : 0.0f;
                    wrong += C.numbers[e] != want;
                }
            }
            CHECK(wrong == 0, "%s: %lld elements differ", describe(&g), (long long)wrong);
        }
    }
    /* m or n of 0: nothing is looked at */
    CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 0, 4, 4, 1, NULL, 4,
                       NULL, 4, 0, NULL, 4) == TILEMM_SUCCESS,
          "m = 0: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 4, 0, 4, 1, NULL, 4,
                       NULL, 4, 1, NULL, 4) == TILEMM_SUCCESS,
          "n = 0: %s", tilemm_last_error(ctx));
}

/* The same bits from call to call, from context to context, and, on the CPU, for every number of
 * threads. */
static void same_bits(uint64_t seed)
{
    static const int64_t shape[][3] = {{257, 129, 300}, {64, 64, 1500}, {3, 500, 700},
                                       {500, 1, 333},   {1, 1, 5000},   {32, 300, 40}};
    static const int threads[] = {1, 2, 3, 8};
    rng_t rng = {seed};
    int s, t, again;
    for (s = 0; s < 6; s++) {
        gemm_t g = gemm_make(layouts[s & 1], ops[s >> 1 & 1], ops[s & 1], shape[s][0], shape[s][1],
                             shape[s][2], 1.5f, s & 1 ? 0.5f : 0.0f);
        float *first = NULL, *start;
        if (test_quick())
            g.k /= 4;
        gemm_set_ld(&g, 1, 0, 2);
        prepare(&g, FAMILY_NORMAL, &rng);
        start = malloc(C.bytes);
        memcpy(start, C.image, C.bytes);
        for (t = 0; t < 4; t++) {
            tilemm_t ctx = test_context(TEST_BACKEND, arch);
            if (TEST_BACKEND == TILEMM_BACKEND_CPU)
                CHECK(tilemm_set_threads(ctx, threads[t]) == TILEMM_SUCCESS, "%s",
                      tilemm_last_error(ctx));
            for (again = 0; again < 2; again++) {
                memcpy(C.image, start, C.bytes);
                send(&g);
                CHECK(call(ctx, &g) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                operand_fetch(&C);
                if (!first) {
                    first = malloc(C.bytes);
                    memcpy(first, C.image, C.bytes);
                }
                CHECK(memcmp(first, C.image, C.bytes) == 0,
                      "%s: other bits with %d threads, call %d", describe(&g), threads[t], again);
            }
            tilemm_destroy(ctx);
        }
        free(first);
        free(start);
    }
}

/* Shapes that run every loop over blocks, panels and waves of tiles more than once. */
static void shapes(tilemm_t ctx, uint64_t seed)
{
    static const int64_t shape[][3] = {
        {20, 6100, 40}, {6100, 20, 40}, {33, 29, 2500},  {510, 1100, 30}, {1030, 70, 530},
        {4, 40000, 9},  {40000, 3, 17}, {700, 650, 300}, {1, 3000, 2000}, {3000, 1, 2000}};
    rng_t rng = {seed};
    int s;
    for (s = 0; s < (int)(sizeof(shape) / sizeof(shape[0])); s++) {
        tilemm_layout_t layout = layouts[rng_range(&rng, 0, 1)];
        tilemm_op_t transa = ops[rng_range(&rng, 0, 1)], transb = ops[rng_range(&rng, 0, 1)];
        gemm_t g = gemm_make(layout, transa, transb, shape[s][0], shape[s][1], shape[s][2],
                             s % 3 ? 1.0f : -0.5f, s % 2 ? 1.0f : 0.0f);
        gemm_set_ld(&g, s % 2, s % 3, s % 5);
        prepare(&g, (family_t)(s % 3), &rng);
        send(&g);
        run(ctx, &g, (family_t)(s % 3), TILEMM_MATH_FP32);
    }
}

static void deep(tilemm_t ctx, uint64_t seed)
{
    rng_t rng = {seed};
    int f;
    for (f = 0; f < 4; f++) {
        gemm_t g = gemm_make(layouts[f & 1], ops[f & 1], ops[f >> 1], 21, 23,
                             test_quick() ? 4000 : 100000, 1, 0);
        family_t family = f % 2 ? FAMILY_SIGNED : FAMILY_POSITIVE;
        prepare(&g, family, &rng);
        send(&g);
        run(ctx, &g, family, TILEMM_MATH_FP32);
    }
}

int main(void)
{
    const char *const *name;
    uint64_t seed = 1;
    test_begin(TEST_BACKEND);
    for (name = test_archs(TEST_BACKEND); *name; name++, seed += 100) {
        tilemm_t ctx = test_context(TEST_BACKEND, *name);
        int rounds = test_quick() ? 8 : **name ? 24 : 48;
        arch = *name;
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, 2);
        sweep(ctx, TILEMM_MATH_FP32, rounds, seed);
        sweep(ctx, TILEMM_MATH_FP32_STRICT, rounds / 4, seed + 1);
        sweep(ctx, TILEMM_MATH_TF32, rounds / 4, seed + 2);
        tilemm_set_math(ctx, TILEMM_MATH_FP32);
        specials(ctx, seed + 3);
        unread(ctx, seed + 4);
        same_bits(seed + 5);
        deep(ctx, seed + 6);
        if (!test_quick())
            shapes(ctx, seed + 7);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    operand_free(&A);
    operand_free(&B);
    operand_free(&C);
    free(theirs);
    free(before);
    free(dot);
    free(mag);
    return check_exit();
}
