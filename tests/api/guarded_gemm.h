/* guarded_gemm.h - products on guarded operands, checked in FP64 on all elements or on a sample.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_GUARDED_GEMM_H
#define TILEMM_TESTS_API_GUARDED_GEMM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

enum { MODES = 3, SAMPLES = 200 };

static const tilemm_math_t modes[] = {TILEMM_MATH_FP32, TILEMM_MATH_FP32_STRICT, TILEMM_MATH_TF32};
static const char *const mode_names[] = {"FP32", "strict", "TF32"};

static operand_t A, B, C;
static char what[400]; /* the call, for messages */

/* Operands of these numbers of floats: on the device, each `skip` floats behind an aligned address,
 * or in random places. */
enum { ANYWHERE = -1 };
static inline void place_operands(const int64_t count[3], int64_t skip, rng_t *rng)
{
    operand_t *const operand[] = {&A, &B, &C};
    for (int i = 0; i < 3; i++)
        if (skip < 0)
            place_anywhere(operand[i], sizeof(float), count[i], rng);
        else
            operand_prepare(operand[i], PLACE_DEVICE, sizeof(float) * (size_t)count[i],
                            skip * (int64_t)sizeof(float));
}

/* Place and fill the operands of a product; C stays NaN where beta is 0. */
static inline void prepare(const gemm_t *g, family_t family, int64_t skip, rng_t *rng)
{
    const int64_t count[] = {gemm_span_a(g), gemm_span_b(g), gemm_span_c(g)};
    place_operands(count, skip, rng);
    gemm_fill_a(g, A.numbers, family, rng);
    gemm_fill_b(g, B.numbers, family, rng);
    if (g->beta != 0)
        matrix_fill(C.numbers, g->layout, g->m, g->n, g->ldc, family, rng);
}

static inline void send(const gemm_t *g)
{
    operand_send(&A);
    operand_send(&B);
    operand_send(&C);
    matrix_own(&C, sizeof(float), 0, g->layout, g->m, g->n, g->ldc);
}

static inline tilemm_status_t call(tilemm_t ctx, const gemm_t *g)
{
    const int reads = g->alpha != 0 && g->k > 0;
    return gemm_call(ctx, g, reads ? A.pointer : NULL, reads ? B.pointer : NULL, C.pointer);
}

/* After a call with this status: fetch the operands, and check all but the numbers in C. A call on
 * host memory alone needs no synchronization. */
static inline void finish(tilemm_t ctx, const gemm_t *g, tilemm_status_t status, const char *name)
{
    snprintf(what, sizeof(what), "TILEMM_ARCH=%s %s A %s+%u B %s+%u C %s+%u %s (%s)", arch,
             gemm_text(g), place_name(A.place), (unsigned)((uintptr_t)A.pointer % 64),
             place_name(B.place), (unsigned)((uintptr_t)B.pointer % 64), place_name(C.place),
             (unsigned)((uintptr_t)C.pointer % 64), name, tilemm_last_kernel(ctx));
    check_call(ctx, status, A.place != PLACE_HOST || B.place != PLACE_HOST || C.place != PLACE_HOST,
               what);
    check_intact(&A, what, "A");
    check_intact(&B, what, "B");
    check_intact(&C, what, "bytes outside C");
}

/* Compute the product of operands that have been sent, in a mode. */
static inline void run_mode(tilemm_t ctx, const gemm_t *g, int mode, const char *name)
{
    char text[100];
    snprintf(text, sizeof(text), "%s %s", mode_names[mode], name);
    CHECK_OK(ctx, tilemm_set_math(ctx, modes[mode]));
    operand_resend(&C);
    finish(ctx, g, call(ctx, g), text);
}

/* Compare all elements with FP64, for A, B and C from these elements on. Leaves the exact results
 * at `exact`, and their magnitudes behind them. */
static inline gemm_error_t check_product(const gemm_t *g, tilemm_math_t math, int64_t a, int64_t b,
                                         int64_t c, double *exact)
{
    double *magnitude = exact + g->m * g->n;
    gemm_exact(g, A.numbers + a, B.numbers + b, exact, magnitude);
    const gemm_error_t error = gemm_error(g, exact, magnitude, C.sent + c, C.numbers + c,
                                          math == TILEMM_MATH_TF32 ? 0x1p-9 : 0);
    CHECK(error.outside == 0,
          "%s, from %lld: %lld elements out of bounds, first (%lld, %lld): %.9g, exact %.9g, bound "
          "%.3g",
          what, (long long)c, (long long)error.outside, (long long)error.i, (long long)error.j,
          error.got, error.want, error.bound);
    return error;
}

/* Place the operands of a batch of products, which follow each other. */
static inline void place_batch(const gemm_t *g, int64_t batch, rng_t *rng)
{
    const int64_t count[] = {batch * gemm_span_a(g), batch * gemm_span_b(g),
                             batch * gemm_span_c(g)};
    place_operands(count, 0, rng);
}

/* Compute a batch of products by planes, whose A and B are filled, in a mode. Compare all elements
 * with FP64, their errors with `most` of |A||B|, and the bits with those of `again` more calls. */
static inline void run_by_planes(tilemm_t ctx, const gemm_t *g, int mode, int64_t batch,
                                 double most, int again, const char *name, rng_t *rng)
{
    const int64_t span[] = {gemm_span_a(g), gemm_span_b(g), gemm_span_c(g)};
    double *const exact = test_need(malloc(sizeof(double) * (size_t)(2 * g->m * g->n)));
    if (g->beta != 0)
        for (int64_t i = 0; i < batch * span[2]; i++)
            C.numbers[i] = (float)rng_unit(rng);
    operand_send(&A);
    operand_send(&B);
    operand_send(&C);
    for (int64_t i = 0; i < batch; i++)
        matrix_own(&C, sizeof(float), i * span[2], g->layout, g->m, g->n, g->ldc);
    CHECK_OK(ctx, tilemm_set_math(ctx, modes[mode]));
    finish(ctx, g,
           gemm_call_strided(ctx, g, A.pointer, span[0], B.pointer, span[1], C.pointer, span[2],
                             batch),
           name);
    CHECK(strstr(tilemm_last_kernel(ctx), "planes"), "%s: not by planes", what);
    for (int64_t i = 0; i < batch; i++) {
        const gemm_error_t error =
            check_product(g, modes[mode], i * span[0], i * span[1], i * span[2], exact);
        CHECK(error.worst < most, "%s: an error of %.3g of |A||B|: bits are lost", what,
              error.worst);
    }

    float *const first = host_array(batch * span[2]);
    memcpy(first, C.image, C.bytes);
    for (int i = 0; i < again; i++) {
        operand_resend(&C);
        CHECK_OK(ctx, gemm_call_strided(ctx, g, A.pointer, span[0], B.pointer, span[1], C.pointer,
                                        span[2], batch));
        operand_fetch(&C);
        CHECK(memcmp(first, C.image, C.bytes) == 0, "%s: other bits", what);
    }
    free(first);
    free(exact);
}

static inline void check_element(const gemm_t *g, int64_t i, int64_t j, double tolerance)
{
    const int64_t at = matrix_at(g->layout, i, j, g->ldc);
    const double old = g->beta != 0 ? (double)g->beta * C.sent[at] : 0, got = C.numbers[at];
    double magnitude, want = (double)g->alpha * gemm_dot(g, A.numbers, B.numbers, i, j, &magnitude);
    want += old;
    CHECK(
        gemm_right(got, want, tolerance * (fabs((double)g->alpha) * magnitude + fabs(old)) + 1e-44),
        "%s: (%lld, %lld) is %.9g, not %.9g", what, (long long)i, (long long)j, got, want);
}

static inline void check_sample(const gemm_t *g, double tolerance, rng_t *rng)
{
    for (int s = 0; s < SAMPLES; s++) { /* the corners first */
        const int64_t i = s & 1 && s < 4 ? g->m - 1 : rng_range(rng, 0, g->m - 1);
        const int64_t j = s & 2 && s < 4 ? g->n - 1 : rng_range(rng, 0, g->n - 1);
        check_element(g, i, j, tolerance);
    }
}

static inline void free_operands(void)
{
    operand_free(&A);
    operand_free(&B);
    operand_free(&C);
}

#endif
