/* sgemm_batched.c - batched products against FP64: positive, negative and zero strides, gaps, and
 * arrays of pointers in any order and kind of memory; nothing outside the results is written.
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

static operand_t A, B, C, array_a, array_b, array_c;
static const char *arch = "";

static const char *describe(const gemm_t *g, int64_t batch, int64_t sa, int64_t sb, int64_t sc)
{
    static char text[256];
    snprintf(text, sizeof(text),
             "TILEMM_ARCH=%s %s %c%c %lld x %lld x %lld alpha %g beta %g batch %lld strides %lld "
             "%lld %lld, %s %s %s",
             arch, g->layout == TILEMM_ROW_MAJOR ? "row" : "col",
             g->transa == TILEMM_TRANS ? 'T' : 'N', g->transb == TILEMM_TRANS ? 'T' : 'N',
             (long long)g->m, (long long)g->n, (long long)g->k, (double)g->alpha, (double)g->beta,
             (long long)batch, (long long)sa, (long long)sb, (long long)sc, place_name(A.place),
             place_name(B.place), place_name(C.place));
    return text;
}

/* The element at which matrix 0 starts, if `batch` matrices `stride` apart fill the operand from
 * its first element on. */
static int64_t first_of(int64_t batch, int64_t stride)
{
    return stride < 0 ? (batch - 1) * -stride : 0;
}

static size_t bytes_of(int64_t batch, int64_t stride, int64_t span)
{
    return sizeof(float) * (size_t)(span ? (batch - 1) * llabs(stride) + span : 0);
}

static void random_gemm(gemm_t *g, rng_t *rng, int64_t most)
{
    static const float factors[] = {1, -1, 2.5f, 0};
    g->layout = rng_bits(rng) & 1 ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR;
    g->transa = rng_bits(rng) & 1 ? TILEMM_NO_TRANS : TILEMM_TRANS;
    g->transb = rng_bits(rng) & 1 ? TILEMM_NO_TRANS : TILEMM_TRANS;
    g->m = rng_size(rng, most);
    g->n = rng_size(rng, most);
    g->k = rng_size(rng, most);
    g->alpha = factors[rng_range(rng, 0, 7) % 4];
    g->beta = factors[rng_range(rng, 0, 3)];
    gemm_set_ld(g, rng_range(rng, 0, 2), rng_range(rng, 0, 2), rng_range(rng, 0, 2));
}

/* Compare matrix `which`, whose A, B and C (before and after the call) are these, with FP64. */
static void compare(tilemm_t ctx, const gemm_t *g, int64_t which, const float *a, const float *b,
                    const float *old, const float *c, const char *text)
{
    size_t count = (size_t)(g->m * g->n + 1);
    double *dot = malloc(sizeof(double) * count), *mag = malloc(sizeof(double) * count);
    gemm_error_t error;
    gemm_exact(g, a, b, dot, mag);
    error = gemm_error(g, dot, mag, old, c, 0);
    CHECK(error.outside == 0,
          "%s: %s: matrix %lld: %lld elements out of bounds, first (%lld, %lld): %.9g, exact %.9g",
          text, tilemm_last_kernel(ctx), (long long)which, (long long)error.outside,
          (long long)error.i, (long long)error.j, error.got, error.want);
    free(dot);
    free(mag);
}

static void finish(tilemm_t ctx, tilemm_status_t status, const char *text)
{
    CHECK(status == TILEMM_SUCCESS, "%s: %s: %s", text, tilemm_status_string(status),
          tilemm_last_error(ctx));
    CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s: %s", text, tilemm_last_error(ctx));
    operand_fetch(&A);
    operand_fetch(&B);
    operand_fetch(&C);
    CHECK(operand_intact(&A) && operand_intact(&B), "%s: inputs changed", text);
    CHECK(operand_intact(&C), "%s: bytes outside C changed", text);
    CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "%s: kernel %s", text,
          tilemm_last_kernel(ctx));
}

static void strided(tilemm_t ctx, int rounds, rng_t *rng)
{
    while (rounds--) {
        gemm_t g;
        int64_t batch = rng_range(rng, 0, 9), sa, sb, sc, i, fa, fb, fc;
        float *old;
        const char *text;
        int reads;
        random_gemm(&g, rng, batch > 4 ? 40 : 100);
        if (!batch)
            batch = test_quick() ? 50 : 400;
        if (batch > 10) {
            g.m = g.m % 9;
            g.n = g.n % 9;
            g.k = g.k % 9;
            gemm_set_ld(&g, 0, 1, 0);
        }
        reads = g.alpha != 0 && g.k > 0;
        sa = rng_range(rng, 0, 3) ? gemm_span_a(&g) + rng_range(rng, 0, 5) : 0;
        sb = rng_range(rng, 0, 3) ? gemm_span_b(&g) + rng_range(rng, 0, 5) : 0;
        sc = gemm_span_c(&g) + rng_range(rng, 0, 5);
        if (rng_range(rng, 0, 3) == 0) { /* inputs may overlap */
            sa = sa / 3;
        }
        sa = rng_range(rng, 0, 2) ? sa : -sa;
        sb = rng_range(rng, 0, 2) ? sb : -sb;
        sc = rng_range(rng, 0, 2) ? sc : -sc;
        operand_prepare(&A, rng_place(rng, TEST_BACKEND), bytes_of(batch, sa, gemm_span_a(&g)),
                        rng_offset(rng, 4));
        operand_prepare(&B, rng_place(rng, TEST_BACKEND), bytes_of(batch, sb, gemm_span_b(&g)),
                        rng_offset(rng, 4));
        operand_prepare(&C, rng_place(rng, TEST_BACKEND), bytes_of(batch, sc, gemm_span_c(&g)),
                        rng_offset(rng, 4));
        fa = A.bytes ? first_of(batch, sa) : 0;
        fb = B.bytes ? first_of(batch, sb) : 0;
        fc = C.bytes ? first_of(batch, sc) : 0;
        for (i = 0; i < batch; i++) {
            if (A.bytes)
                gemm_fill_a(&g, A.numbers + fa + i * sa, FAMILY_NORMAL, rng);
            if (B.bytes)
                gemm_fill_b(&g, B.numbers + fb + i * sb, FAMILY_NORMAL, rng);
            if (C.bytes && g.beta != 0)
                matrix_fill(C.numbers + fc + i * sc, g.layout, g.m, g.n, g.ldc, FAMILY_NORMAL, rng);
        }
        operand_send(&A);
        operand_send(&B);
        operand_send(&C);
        old = malloc(C.bytes + 1);
        memcpy(old, C.image, C.bytes);
        for (i = 0; i < batch && C.bytes; i++)
            matrix_own(&C, sizeof(float), fc + i * sc, g.layout, g.m, g.n, g.ldc);
        text = describe(&g, batch, sa, sb, sc);
        finish(ctx,
               tilemm_sgemm_strided_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k,
                                            g.alpha, reads ? (float *)A.pointer + fa : NULL, g.lda,
                                            sa, reads ? (float *)B.pointer + fb : NULL, g.ldb, sb,
                                            g.beta, (float *)C.pointer + fc, g.ldc, sc, batch),
               text);
        for (i = 0; i < batch && C.bytes; i++)
            compare(ctx, &g, i, A.numbers + (A.bytes ? fa + i * sa : 0),
                    B.numbers + (B.bytes ? fb + i * sb : 0), old + fc + i * sc,
                    C.numbers + fc + i * sc, text);
        free(old);
    }
}

/* Prepare an array of `batch` pointers into an operand: matrix i begins at element first[i]. */
static void point(operand_t *array, const operand_t *to, const int64_t *first, int64_t batch,
                  place_t place)
{
    int64_t i;
    operand_prepare(array, place, sizeof(float *) * (size_t)batch, 0);
    for (i = 0; i < batch; i++) {
        const float *pointer = (const float *)to->pointer + first[i];
        memcpy(array->image + sizeof(pointer) * (size_t)i, &pointer, sizeof(pointer));
    }
    operand_send(array);
}

/* An array in device memory must hold addresses that the GPU can read. */
static place_t array_place(const operand_t *matrices, rng_t *rng)
{
    place_t place = rng_place(rng, TEST_BACKEND);
    if (matrices->place == PLACE_HOST || matrices->place == PLACE_PINNED)
        return place == PLACE_PINNED ? PLACE_PINNED : PLACE_HOST;
    return place;
}

static void pointers(tilemm_t ctx, int rounds, rng_t *rng)
{
    enum { MOST = 12 };
    while (rounds--) {
        gemm_t g;
        int64_t batch = rng_range(rng, 1, MOST), i, fa[MOST], fb[MOST], fc[MOST];
        float *old;
        const char *text;
        int reads;
        random_gemm(&g, rng, 60);
        reads = g.alpha != 0 && g.k > 0;
        operand_prepare(&A, rng_place(rng, TEST_BACKEND),
                        bytes_of(batch, gemm_span_a(&g) + 1, gemm_span_a(&g)), rng_offset(rng, 4));
        operand_prepare(&B, rng_place(rng, TEST_BACKEND),
                        bytes_of(batch, gemm_span_b(&g), gemm_span_b(&g)), rng_offset(rng, 4));
        operand_prepare(&C, rng_place(rng, TEST_BACKEND),
                        bytes_of(batch, gemm_span_c(&g) + 3, gemm_span_c(&g)), rng_offset(rng, 4));
        for (i = 0; i < batch; i++) { /* A in any order and repeated, B and C backwards */
            fa[i] = A.bytes ? rng_range(rng, 0, batch - 1) * (gemm_span_a(&g) + 1) : 0;
            fb[i] = B.bytes ? (batch - 1 - i) * gemm_span_b(&g) : 0;
            fc[i] = C.bytes ? (batch - 1 - i) * (gemm_span_c(&g) + 3) : 0;
        }
        for (i = 0; i < batch; i++) {
            if (A.bytes)
                gemm_fill_a(&g, A.numbers + fa[i], FAMILY_SIGNED, rng);
            if (B.bytes)
                gemm_fill_b(&g, B.numbers + fb[i], FAMILY_SIGNED, rng);
            if (C.bytes && g.beta != 0)
                matrix_fill(C.numbers + fc[i], g.layout, g.m, g.n, g.ldc, FAMILY_SIGNED, rng);
        }
        operand_send(&A);
        operand_send(&B);
        operand_send(&C);
        old = malloc(C.bytes + 1);
        memcpy(old, C.image, C.bytes);
        for (i = 0; i < batch && C.bytes; i++)
            matrix_own(&C, sizeof(float), fc[i], g.layout, g.m, g.n, g.ldc);
        point(&array_a, &A, fa, batch, array_place(&A, rng));
        point(&array_b, &B, fb, batch, array_place(&B, rng));
        point(&array_c, &C, fc, batch, array_place(&C, rng));
        text = describe(&g, batch, 0, 0, 0);
        finish(ctx,
               tilemm_sgemm_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, g.alpha,
                                    reads ? array_a.pointer : NULL, g.lda,
                                    reads ? array_b.pointer : NULL, g.ldb, g.beta, array_c.pointer,
                                    g.ldc, batch),
               text);
        operand_fetch(&array_a);
        operand_fetch(&array_b);
        operand_fetch(&array_c);
        CHECK(operand_intact(&array_a) && operand_intact(&array_b) && operand_intact(&array_c),
              "%s: arrays changed", text);
        for (i = 0; i < batch && C.bytes; i++)
            compare(ctx, &g, i, A.numbers + fa[i], B.numbers + fb[i], old + fc[i],
                    C.numbers + fc[i], text);
        free(old);
    }
}

/* A batch of none succeeds; a batch gives the same bits in every run. */
static void edges(tilemm_t ctx, rng_t *rng)
{
    gemm_t g = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 33, 17, 65, 1, 0);
    float *first;
    int again;
    CHECK(tilemm_sgemm_strided_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, 1, NULL,
                                       g.lda, 0, NULL, g.ldb, 0, 0, NULL, g.ldc, 0,
                                       0) == TILEMM_SUCCESS,
          "batch_count = 0: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sgemm_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, 1, NULL, g.lda,
                               NULL, g.ldb, 0, NULL, g.ldc, 0) == TILEMM_SUCCESS,
          "batch_count = 0: %s", tilemm_last_error(ctx));
    operand_prepare(&A, rng_place(rng, TEST_BACKEND), 8 * 4 * (size_t)gemm_span_a(&g), 0);
    operand_prepare(&B, rng_place(rng, TEST_BACKEND), 8 * 4 * (size_t)gemm_span_b(&g), 0);
    operand_prepare(&C, rng_place(rng, TEST_BACKEND), 8 * 4 * (size_t)gemm_span_c(&g), 0);
    matrix_fill(A.numbers, TILEMM_ROW_MAJOR, 1, 8 * gemm_span_a(&g), 1, FAMILY_NORMAL, rng);
    matrix_fill(B.numbers, TILEMM_ROW_MAJOR, 1, 8 * gemm_span_b(&g), 1, FAMILY_NORMAL, rng);
    operand_send(&A);
    operand_send(&B);
    first = malloc(C.bytes);
    for (again = 0; again < 3; again++) {
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, again + 1);
        operand_send(&C);
        CHECK(tilemm_sgemm_strided_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, 1,
                                           A.pointer, g.lda, gemm_span_a(&g), B.pointer, g.ldb,
                                           gemm_span_b(&g), 0, C.pointer, g.ldc, gemm_span_c(&g),
                                           8) == TILEMM_SUCCESS,
              "%s", tilemm_last_error(ctx));
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        operand_fetch(&C);
        if (again == 0)
            memcpy(first, C.image, C.bytes);
        CHECK(memcmp(first, C.image, C.bytes) == 0, "other bits on call %d", again);
    }
    if (TEST_BACKEND == TILEMM_BACKEND_CPU)
        tilemm_set_threads(ctx, 2);
    free(first);
}

int main(void)
{
    const char *const *name;
    rng_t rng = {2000};
    test_begin(TEST_BACKEND);
    for (name = test_archs(TEST_BACKEND); *name; name++) {
        tilemm_t ctx = test_context(TEST_BACKEND, *name);
        int rounds = test_quick() ? 12 : **name ? 60 : 200;
        arch = *name;
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, 2);
        strided(ctx, rounds, &rng);
        pointers(ctx, rounds, &rng);
        edges(ctx, &rng);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    operand_free(&A);
    operand_free(&B);
    operand_free(&C);
    operand_free(&array_a);
    operand_free(&array_b);
    operand_free(&array_c);
    return check_exit();
}
