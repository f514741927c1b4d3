/* sgemm_large.c - products whose operands span more than 2^31 or 2^32 elements.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

/* A matrix as the library sees it: lines far apart, in memory of which only the lines are touched.
 */
static float *scatter(const float *from, int64_t lines, int64_t length, int64_t ld)
{
    float *to = sparse_alloc(TEST_BACKEND, sizeof(float) * (size_t)((lines - 1) * ld + length));
    for (int64_t line = 0; to && from && line < lines; line++)
        sparse_write(TEST_BACKEND, to + line * ld, from + line * length,
                     sizeof(float) * (size_t)length);
    return to;
}

/* The product `g`, whose lines may be far apart, at all elements of C or at a sample of 400. */
static void multiply(tilemm_t ctx, const gemm_t *g, tilemm_math_t math)
{
    gemm_t dense = *g;
    rng_t rng = {77};
    gemm_set_ld(&dense, 0, 0, 0);
    const int64_t lines_a = g->m * g->k / dense.lda, lines_b = g->k * g->n / dense.ldb;
    const int64_t lines_c = g->m * g->n / dense.ldc, all = g->m * g->n;
    const int64_t checked = all < 10000 ? all : 400;
    float *host_a = host_array(g->m * g->k), *host_b = host_array(g->k * g->n);
    gemm_fill_a(&dense, host_a, FAMILY_SIGNED, &rng);
    gemm_fill_b(&dense, host_b, FAMILY_SIGNED, &rng);
    float *a = scatter(host_a, lines_a, dense.lda, g->lda);
    float *b = scatter(host_b, lines_b, dense.ldb, g->ldb);
    float *c = scatter(NULL, lines_c, dense.ldc, g->ldc);
    if (!a || !b || !c) {
        printf("no memory for %s: left out\n", gemm_text(g));
    } else {
        CHECK_OK(ctx, tilemm_set_math(ctx, math));
        CHECK_OK(ctx, gemm_call(ctx, g, a, b, c));
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        for (int64_t x = 0; x < checked; x++) { /* the last elements first */
            const int64_t at = checked == all || x < 4 ? all - 1 - x : rng_range(&rng, 0, all - 1);
            const int64_t i = at / g->n, j = at % g->n;
            double magnitude, want = gemm_dot(&dense, host_a, host_b, i, j, &magnitude);
            float got;
            sparse_read(TEST_BACKEND, &got, c + matrix_at(g->layout, i, j, g->ldc), sizeof(got));
            CHECK(gemm_right(got, want, gemm_tolerance(math, g->k) * magnitude),
                  "%s (%s): (%lld, %lld) is %.9g, not %.9g", gemm_text(g), tilemm_last_kernel(ctx),
                  (long long)i, (long long)j, (double)got, want);
        }
    }
    sparse_free(TEST_BACKEND, a, sizeof(float) * (size_t)gemm_span_a(g));
    sparse_free(TEST_BACKEND, b, sizeof(float) * (size_t)gemm_span_b(g));
    sparse_free(TEST_BACKEND, c, sizeof(float) * (size_t)gemm_span_c(g));
    free(host_a);
    free(host_b);
}

/* A matrix whose rows are so far apart that the last ones lie past 2^32 elements: as A, as B, as C.
 * C = A B, C = A' B, and the same as column-major products of the transposes. */
static void far_apart(tilemm_t ctx)
{
    for (int pass = 0; pass < 4; pass++) {
        const tilemm_op_t op = pass & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        const int64_t m = pass & 1 ? 7 : 40, k = pass & 1 ? 40 : 7, n = 37;
        gemm_t g = pass < 2 ? gemm_make(TILEMM_ROW_MAJOR, op, TILEMM_NO_TRANS, m, n, k, 1, 0)
                            : gemm_make(TILEMM_COL_MAJOR, TILEMM_NO_TRANS, op, n, m, k, 1, 0);
        *(pass < 2 ? &g.lda : &g.ldb) = g.ldc = ((int64_t)1 << 27) + 5;
        multiply(ctx, &g, TILEMM_MATH_FP32);
    }
}

/* More than 2^31 elements of C; and rows of A more than 2^31 bytes apart. */
static void large(tilemm_t ctx)
{
    static const int64_t size[][4] = {
        {65539, 32771, 3, 3}, {50000, 50000, 1000, 1000}, {40, 300, 400, (int64_t)600 << 20}};
    for (int s = 0; s < 6; s++) {
        gemm_t g = gemm_by_bits(0, size[s / 2], 1, 0);
        g.lda = size[s / 2][3];
        multiply(ctx, &g, s % 2 ? TILEMM_MATH_TF32 : TILEMM_MATH_FP32);
    }
}

int main(void)
{
    tilemm_t ctx = NULL;
    test_begin_alone(TEST_BACKEND); /* it takes several GB */
    while ((ctx = next_arch(ctx, TEST_BACKEND, 2)) != NULL) {
        far_apart(ctx);
        if (TEST_BACKEND == TILEMM_BACKEND_CUDA && !*arch && !test_quick())
            large(ctx);
    }
    return check_exit();
}
