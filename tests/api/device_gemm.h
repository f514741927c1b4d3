/* device_gemm.h - one product on device memory in a math mode, checked in FP64 on a sample of its
 * elements: for tests at sizes where an FP64 product of all elements takes too long.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_DEVICE_GEMM_H
#define TILEMM_TESTS_API_DEVICE_GEMM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"
#include "tools/gpu.h"

enum { MODES = 3, SAMPLES = 200 };

static const tilemm_math_t modes[] = {TILEMM_MATH_FP32, TILEMM_MATH_FP32_STRICT, TILEMM_MATH_TF32};
static const char *const mode_names[] = {"FP32", "strict", "TF32"};
static rng_t rng = {20261121};

/* A problem's arrays of A, B and C on the host and the device; C's first contents. */
typedef struct {
    gemm_t gemm;
    int64_t spans[3];
    float *host[3], *before, *device[3];
} problem_t;

/* Random operands; each array on the device starts `skip` elements behind an aligned address. */
static inline problem_t make_problem(const gemm_t *gemm, family_t family, int64_t skip)
{
    problem_t p;
    memset(&p, 0, sizeof(p));
    p.gemm = *gemm;
    p.spans[0] = gemm_span_a(gemm);
    p.spans[1] = gemm_span_b(gemm);
    p.spans[2] = gemm_span_c(gemm);
    for (int i = 0; i < 3; i++) {
        p.host[i] = host_array(p.spans[i]);
        p.device[i] = (float *)device_array((size_t)(p.spans[i] + skip) * sizeof(float)) + skip;
        memset(p.host[i], 0xff, (size_t)p.spans[i] * sizeof(float));
    }
    gemm_fill_a(gemm, p.host[0], family, &rng);
    gemm_fill_b(gemm, p.host[1], family, &rng);
    if (gemm->beta != 0)
        matrix_fill(p.host[2], gemm->layout, gemm->m, gemm->n, gemm->ldc, FAMILY_NORMAL, &rng);
    p.before = host_array(p.spans[2]);
    memcpy(p.before, p.host[2], (size_t)p.spans[2] * sizeof(float));
    return p;
}

static inline void free_problem(problem_t *p, int64_t skip)
{
    for (int i = 0; i < 3; i++) {
        gpu_free(p->device[i] - skip);
        free(p->host[i]);
    }
    free(p->before);
}

static inline tilemm_status_t call(tilemm_t ctx, const problem_t *p)
{
    const gemm_t *g = &p->gemm;
    return tilemm_sgemm(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k, g->alpha,
                        p->device[0], g->lda, p->device[1], g->ldb, g->beta, p->device[2], g->ldc);
}

static inline void send(problem_t *p)
{
    for (int i = 0; i < 3; i++)
        CHECK(gpu_to_device(p->device[i], i < 2 ? p->host[i] : p->before,
                            (size_t)p->spans[i] * sizeof(float)) == 0,
              "copy");
}

static inline void fetch(problem_t *p)
{
    CHECK(gpu_synchronize() == 0 &&
              gpu_to_host(p->host[2], p->device[2], (size_t)p->spans[2] * sizeof(float)) == 0,
          "copy back");
}

/* Element (i, j) must be as near to FP64 as tolerance (|alpha| |A||B| + |beta C|), or be the same
 * Inf or NaN. */
static inline void check_element(const problem_t *p, int64_t i, int64_t j, double tolerance,
                                 const char *what)
{
    const gemm_t *g = &p->gemm;
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < g->k; k++) {
        double product =
            (double)p->host[0][gemm_at_a(g, i, k)] * (double)p->host[1][gemm_at_b(g, k, j)];
        sum += product;
        magnitude += fabs(product);
    }
    double want = g->alpha * sum, bound = fabs(g->alpha) * magnitude;
    if (g->beta != 0) {
        double old = g->beta * (double)p->before[matrix_at(g->layout, i, j, g->ldc)];
        want += old;
        bound += fabs(old);
    }
    double got = p->host[2][matrix_at(g->layout, i, j, g->ldc)];
    if (fabs(want) > 3.5e38)
        want = want > 0 ? INFINITY : -INFINITY;
    if (isnan(want) || isinf(want))
        CHECK(isnan(want) ? isnan(got) : got == want, "%s: (%lld, %lld) is %g, not %g", what,
              (long long)i, (long long)j, got, want);
    else
        CHECK(fabs(got - want) <= tolerance * bound + 1e-44, "%s: (%lld, %lld) is %.9g, not %.9g",
              what, (long long)i, (long long)j, got, want);
}

static inline void check_sample(const problem_t *p, double tolerance, const char *what)
{
    for (int s = 0; s < SAMPLES; s++) /* the corners first */
        check_element(p, s & 1 && s < 4 ? p->gemm.m - 1 : rng_range(&rng, 0, p->gemm.m - 1),
                      s & 2 && s < 4 ? p->gemm.n - 1 : rng_range(&rng, 0, p->gemm.n - 1), tolerance,
                      what);
}

/* The gaps between the lines of C are as they were. */
static inline void check_between(const problem_t *p, const char *what)
{
    const gemm_t *g = &p->gemm;
    int64_t rows = g->layout == TILEMM_ROW_MAJOR ? g->m : g->n;
    int64_t width = g->layout == TILEMM_ROW_MAJOR ? g->n : g->m;
    int changed = 0;
    for (int64_t r = 0; r + 1 < rows; r++)
        changed |= memcmp(p->host[2] + r * g->ldc + width, p->before + r * g->ldc + width,
                          (size_t)(g->ldc - width) * sizeof(float)) != 0;
    CHECK(!changed, "%s: bytes between the rows of C have changed", what);
}

/* FP32 and strict promise an error that grows like that of one FP32 sum. TF32 rounds its inputs to
 * 11 bits. */
static inline double tolerance_of(tilemm_math_t mode, int64_t k)
{
    double fp32 = (8 + sqrt((double)k)) * 0x1p-24;
    return mode == TILEMM_MATH_TF32 ? 0x1p-10 + fp32 : fp32;
}

/* Compute the product in a mode; `what` then names the case, the mode and the kernel. */
static inline void run(tilemm_t ctx, const char *arch, problem_t *p, int mode, const char *name,
                       int number, char (*what)[160])
{
    CHECK(tilemm_set_math(ctx, modes[mode]) == TILEMM_SUCCESS, "set_math");
    send(p);
    CHECK(call(ctx, p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    fetch(p);
    snprintf(*what, sizeof(*what), "%s %s %s %d (%s)", arch, mode_names[mode], name, number,
             tilemm_last_kernel(ctx));
}

#endif
