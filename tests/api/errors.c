/* errors.c - every argument that can be wrong is refused, in words that name it, and nothing has
 * been written; a NULL context never crashes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

/* Inputs, and outputs that must stay as they are. */
static float x[64], y[64], result[64];
static int64_t indices[64], offsets[8];

static int untouched(void)
{
    size_t i;
    for (i = 0; i < sizeof(result); i++)
        if (((unsigned char *)result)[i] != 0xff)
            return 0;
    for (i = 0; i < sizeof(indices); i++)
        if (((unsigned char *)indices)[i] != 0xff)
            return 0;
    return 1;
}

/* The call was refused, and the message holds all of these (up to NULL). */
static void refused(tilemm_t ctx, tilemm_status_t status, ...)
{
    const char *message = tilemm_last_error(ctx), *part;
    va_list parts;
    va_start(parts, status);
    part = va_arg(parts, const char *);
    CHECK(status == TILEMM_INVALID_ARGUMENT, "%s...: %s", part, tilemm_status_string(status));
    for (; part; part = va_arg(parts, const char *))
        CHECK(strstr(message, part), "\"%s\" is not in \"%s\"", part, message);
    va_end(parts);
    CHECK(untouched(), "something was written: %s", message);
}

/* ---- SGEMM ------------------------------------------------------------------------------- */

typedef struct {
    int layout, transa, transb;
    int64_t m, n, k;
    float alpha;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float beta;
    float *c;
    int64_t ldc, batch_count;
} sgemm_t;

static const char *const sgemm_names[] = {"sgemm: ", "sgemm_strided_batched: ", "sgemm_batched: "};

/* which: 0 the plain function, 1 by strides, 2 by arrays; a NULL matrix is a NULL array there. */
static tilemm_status_t sgemm(tilemm_t ctx, int which, const sgemm_t *s)
{
    const float *a[1], *b[1];
    float *c[1];
    tilemm_layout_t layout = (tilemm_layout_t)s->layout;
    tilemm_op_t transa = (tilemm_op_t)s->transa, transb = (tilemm_op_t)s->transb;
    a[0] = s->a;
    b[0] = s->b;
    c[0] = s->c;
    if (which == 0)
        return tilemm_sgemm(ctx, layout, transa, transb, s->m, s->n, s->k, s->alpha, s->a, s->lda,
                            s->b, s->ldb, s->beta, s->c, s->ldc);
    if (which == 1)
        return tilemm_sgemm_strided_batched(ctx, layout, transa, transb, s->m, s->n, s->k, s->alpha,
                                            s->a, s->lda, 0, s->b, s->ldb, 0, s->beta, s->c, s->ldc,
                                            20, s->batch_count);
    return tilemm_sgemm_batched(ctx, layout, transa, transb, s->m, s->n, s->k, s->alpha,
                                s->a ? a : NULL, s->lda, s->b ? b : NULL, s->ldb, s->beta,
                                s->c ? c : NULL, s->ldc, s->batch_count);
}

static void sgemm_errors(tilemm_t ctx)
{
    static const sgemm_t good = {TILEMM_ROW_MAJOR,
                                 TILEMM_NO_TRANS,
                                 TILEMM_NO_TRANS,
                                 4,
                                 5,
                                 8,
                                 1,
                                 x,
                                 8,
                                 y,
                                 5,
                                 0,
                                 result,
                                 5,
                                 1};
    static const float *holed_a[2] = {x, NULL};
    static const float *const whole_b[2] = {y, y};
    static float *const whole_c[2] = {result, result + 20};
    int which;
    for (which = 0; which < 3; which++) {
        const char *name = sgemm_names[which];
        sgemm_t s;
#define WRONG(field, value, ...)                                                                   \
    do {                                                                                           \
        s = good;                                                                                  \
        s.field = (value);                                                                         \
        refused(ctx, sgemm(ctx, which, &s), name, __VA_ARGS__, (const char *)NULL);                \
    } while (0)
        WRONG(layout, 0, "layout = 0", "must be");
        WRONG(layout, 103, "layout = 103", "must be");
        WRONG(transa, 0, "transa = 0", "must be");
        WRONG(transb, 113, "transb = 113", "must be");
        WRONG(m, -1, "m = -1", "must be at least 0");
        WRONG(n, -2, "n = -2", "must be at least 0");
        WRONG(k, INT64_MIN, "k = -9223372036854775808", "must be at least 0");
        WRONG(lda, 3, "lda = 3, must be at least 8");
        WRONG(lda, -8, "lda = -8, must be at least 8");
        WRONG(ldb, 4, "ldb = 4, must be at least 5");
        WRONG(ldc, 4, "ldc = 4, must be at least 5");
        WRONG(a, NULL, "a = NULL", "must be");
        WRONG(b, NULL, "b = NULL", "must be");
        WRONG(c, NULL, "c = NULL", "must be");
        WRONG(lda, INT64_MAX, "lda = 9223372036854775807");
        WRONG(ldc, INT64_MAX / 2, "ldc = 4611686018427387903");
        if (which)
            WRONG(batch_count, -3, "batch_count = -3", "must be at least 0");
        s = good;
        s.m = INT64_MAX;
        refused(ctx, sgemm(ctx, which, &s), name, (const char *)NULL);
        s = good; /* 4 * 2^62 elements: 0, to who does not look */
        s.m = 5;
        s.ldc = INT64_C(1) << 62;
        refused(ctx, sgemm(ctx, which, &s), name, "ldc = 4611686018427387904", (const char *)NULL);
        /* the same sizes stored otherwise want other leading dimensions */
        s = good;
        s.layout = TILEMM_COL_MAJOR;
        s.lda = 3;
        s.ldb = 8;
        refused(ctx, sgemm(ctx, which, &s), name, "lda = 3, must be at least 4",
                (const char *)NULL);
        s.lda = 4;
        s.ldb = 7;
        refused(ctx, sgemm(ctx, which, &s), name, "ldb = 7, must be at least 8",
                (const char *)NULL);
        s.ldb = 8;
        s.ldc = 3;
        refused(ctx, sgemm(ctx, which, &s), name, "ldc = 3, must be at least 4",
                (const char *)NULL);
        s = good;
        s.transa = TILEMM_TRANS;
        s.lda = 3;
        refused(ctx, sgemm(ctx, which, &s), name, "lda = 3, must be at least 4",
                (const char *)NULL);
        s = good;
        s.transb = TILEMM_TRANS;
        s.ldb = 7;
        refused(ctx, sgemm(ctx, which, &s), name, "ldb = 7, must be at least 8",
                (const char *)NULL);
        s = good;
        s.k = 0;
        s.lda = 0;
        refused(ctx, sgemm(ctx, which, &s), name, "lda = 0, must be at least 1",
                (const char *)NULL);
        s = good; /* C is used even where A and B are not */
        s.alpha = 0;
        s.c = NULL;
        refused(ctx, sgemm(ctx, which, &s), name, "c = NULL", (const char *)NULL);
#undef WRONG
    }
    {
        sgemm_t s = good;
        s.lda = 3;
        sgemm(ctx, 0, &s);
        CHECK(strcmp(tilemm_last_error(ctx),
                     "sgemm: lda = 3, must be at least 8 (row-major, NO_TRANS, k = 8)") == 0,
              "the header's example is \"%s\"", tilemm_last_error(ctx));
    }
    refused(ctx,
            tilemm_sgemm_batched(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 4, 5, 8,
                                 1, holed_a, 8, whole_b, 5, 0, whole_c, 5, 2),
            "sgemm_batched: a[1] = NULL", "must be", (const char *)NULL);
}

/* ---- transposes ---------------------------------------------------------------------------- */

static void transpose_errors(tilemm_t ctx)
{
    static const size_t bad_size[] = {0, 3, 5, 12, 32, (size_t)-1};
    static const char *const size_text[] = {"elem_size = 0",  "elem_size = 3",  "elem_size = 5",
                                            "elem_size = 12", "elem_size = 32", "elem_size = "};
    float *r = result;
    int i;
#define T(rows, cols, size, src, ld_src, dst, ld_dst, ...)                                         \
    do {                                                                                           \
        refused(ctx, tilemm_transpose(ctx, rows, cols, size, src, ld_src, dst, ld_dst),            \
                "transpose: ", __VA_ARGS__, (const char *)NULL);                                   \
        refused(ctx,                                                                               \
                tilemm_transpose_strided_batched(ctx, rows, cols, size, src, ld_src, 0, dst,       \
                                                 ld_dst, 20, 2),                                   \
                "transpose_strided_batched: ", __VA_ARGS__, (const char *)NULL);                   \
    } while (0)
    T(-1, 5, 4, x, 5, r, 4, "rows = -1", "must be at least 0");
    T(4, -5, 4, x, 5, r, 4, "cols = -5", "must be at least 0");
    T(4, 5, 4, x, 4, r, 4, "ld_src = 4, must be at least 5");
    T(4, 5, 4, x, 5, r, 3, "ld_dst = 3, must be at least 4");
    T(4, 5, 4, x, INT64_MAX, r, 4, "ld_src = 9223372036854775807");
    T(0, 0, 4, x, 0, r, 1, "ld_src = 0, must be at least 1");
    T(4, 5, 4, NULL, 5, r, 4, "src = NULL", "must be");
    T(4, 5, 4, x, 5, NULL, 4, "dst = NULL", "must be");
    T(4, 5, 4, (const char *)x + 1, 5, r, 4, "src = ", "must be");
    T(4, 5, 8, x, 5, (char *)indices + 4, 4, "dst = ", "must be");
    for (i = 0; i < 6; i++)
        T(4, 5, bad_size[i], x, 5, r, 4, size_text[i], "must be 1, 2, 4, 8 or 16");
#undef T
    refused(ctx, tilemm_transpose_strided_batched(ctx, 4, 5, 4, x, 5, 0, r, 4, 20, -1),
            "transpose_strided_batched: batch_count = -1", "must be at least 0",
            (const char *)NULL);
#define I(rows, cols, size, a, ld_in, ld_out, ...)                                                 \
    refused(ctx, tilemm_transpose_inplace(ctx, rows, cols, size, a, ld_in, ld_out),                \
            "transpose_inplace: ", __VA_ARGS__, (const char *)NULL)
    I(-1, 5, 4, r, 5, 4, "rows = -1", "must be at least 0");
    I(4, -1, 4, r, 5, 4, "cols = -1", "must be at least 0");
    I(4, 5, 7, r, 5, 4, "elem_size = 7", "must be 1, 2, 4, 8 or 16");
    I(4, 5, 4, r, 4, 4, "ld_in = 4, must be at least 5");
    I(4, 5, 4, r, 5, 3, "ld_out = 3, must be at least 4");
    I(4, 5, 4, NULL, 5, 4, "a = NULL", "must be");
#undef I
#define S(layout, trans, rows, cols, a, lda, b, ldb, ...)                                          \
    refused(ctx,                                                                                   \
            tilemm_somatcopy(ctx, (tilemm_layout_t)(layout), (tilemm_op_t)(trans), rows, cols,     \
                             2.0f, a, lda, b, ldb),                                                \
            "somatcopy: ", __VA_ARGS__, (const char *)NULL)
    S(100, TILEMM_TRANS, 4, 5, x, 5, r, 4, "layout = 100", "must be");
    S(TILEMM_ROW_MAJOR, 3, 4, 5, x, 5, r, 4, "trans = 3", "must be");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, -4, 5, x, 5, r, 4, "rows = -4", "must be at least 0");
    S(TILEMM_COL_MAJOR, TILEMM_TRANS, -4, 5, x, 5, r, 5, "rows = -4", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, -5, x, 5, r, 4, "cols = -5", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, x, 4, r, 4, "lda = 4, must be at least 5");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, x, 5, r, 3, "ldb = 3, must be at least 4");
    S(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, 4, 5, x, 5, r, 4, "ldb = 4, must be at least 5");
    S(TILEMM_COL_MAJOR, TILEMM_TRANS, 4, 5, x, 3, r, 5, "lda = 3, must be at least 4");
    S(TILEMM_COL_MAJOR, TILEMM_TRANS, 4, 5, x, 4, r, 4, "ldb = 4, must be at least 5");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, NULL, 5, r, 4, "a = NULL", "must be");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, x, 5, NULL, 4, "b = NULL", "must be");
#undef S
#define S(layout, trans, rows, cols, a, lda, ldb, ...)                                             \
    refused(ctx,                                                                                   \
            tilemm_simatcopy(ctx, (tilemm_layout_t)(layout), (tilemm_op_t)(trans), rows, cols,     \
                             2.0f, a, lda, ldb),                                                   \
            "simatcopy: ", __VA_ARGS__, (const char *)NULL)
    S(100, TILEMM_TRANS, 4, 5, r, 5, 4, "layout = 100", "must be");
    S(TILEMM_ROW_MAJOR, 3, 4, 5, r, 5, 4, "trans = 3", "must be");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, -4, 5, r, 5, 4, "rows = -4", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, -5, r, 5, 4, "cols = -5", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, r, 4, 4, "lda = 4, must be at least 5");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, r, 5, 3, "ldb = 3, must be at least 4");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, NULL, 5, 4, "a = NULL", "must be");
#undef S
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reduction_errors(tilemm_t ctx)
{
    typedef tilemm_status_t (*vector_t)(tilemm_t, int64_t, const float *, int64_t, float *);
    typedef tilemm_status_t (*index_t)(tilemm_t, int64_t, const float *, int64_t, int64_t *);
    static const vector_t vectors[] = {tilemm_ssum, tilemm_sasum, tilemm_snrm2, tilemm_smax,
                                       tilemm_smin};
    static const char *const vector_names[] = {"ssum: ", "sasum: ", "snrm2: ", "smax: ", "smin: "};
    static const index_t index_functions[] = {tilemm_isamax, tilemm_isamin, tilemm_ismax,
                                              tilemm_ismin};
    static const char *const index_names[] = {"isamax: ", "isamin: ", "ismax: ", "ismin: "};
    float *r = result;
    int f;
    for (f = 0; f < 5; f++) {
        refused(ctx, vectors[f](ctx, -1, x, 1, r), vector_names[f], "n = -1", "must be at least 0",
                (const char *)NULL);
        refused(ctx, vectors[f](ctx, 8, x, 0, r), vector_names[f], "incx = 0", "must not be 0",
                (const char *)NULL);
        refused(ctx, vectors[f](ctx, 8, NULL, 1, r), vector_names[f], "x = NULL", "must be",
                (const char *)NULL);
        refused(ctx, vectors[f](ctx, 8, x, 1, NULL), vector_names[f], "result = NULL", "must be",
                (const char *)NULL);
        refused(ctx, vectors[f](ctx, 8, x, INT64_MIN, r), vector_names[f],
                "incx = ", (const char *)NULL);
        refused(ctx, vectors[f](ctx, INT64_MAX, x, 3, r), vector_names[f], "incx = 3",
                (const char *)NULL);
    }
    for (f = 0; f < 4; f++) {
        refused(ctx, index_functions[f](ctx, -1, x, 1, indices), index_names[f], "n = -1",
                "must be at least 0", (const char *)NULL);
        refused(ctx, index_functions[f](ctx, 8, x, 0, indices), index_names[f], "incx = 0",
                "must not be 0", (const char *)NULL);
        refused(ctx, index_functions[f](ctx, 8, NULL, 1, indices), index_names[f], "x = NULL",
                "must be", (const char *)NULL);
        refused(ctx, index_functions[f](ctx, 8, x, 1, NULL), index_names[f], "index = NULL",
                "must be", (const char *)NULL);
    }
    refused(ctx, tilemm_sdot(ctx, -1, x, 1, y, 1, r), "sdot: n = -1", "must be at least 0",
            (const char *)NULL);
    refused(ctx, tilemm_sdot(ctx, 8, x, 0, y, 1, r), "sdot: incx = 0", "must not be 0",
            (const char *)NULL);
    refused(ctx, tilemm_sdot(ctx, 8, x, 1, y, 0, r), "sdot: incy = 0", "must not be 0",
            (const char *)NULL);
    refused(ctx, tilemm_sdot(ctx, 8, NULL, 1, y, 1, r), "sdot: x = NULL", "must be",
            (const char *)NULL);
    refused(ctx, tilemm_sdot(ctx, 8, x, 1, NULL, 1, r), "sdot: y = NULL", "must be",
            (const char *)NULL);
    refused(ctx, tilemm_sdot(ctx, 8, x, 1, y, 1, NULL), "sdot: result = NULL", "must be",
            (const char *)NULL);
#define R(op, axis, layout, rows, cols, a, lda, out, incout, ...)                                  \
    do {                                                                                           \
        refused(ctx,                                                                               \
                tilemm_sreduce(ctx, (tilemm_reduce_t)(op), (tilemm_axis_t)(axis),                  \
                               (tilemm_layout_t)(layout), rows, cols, a, lda, out, incout),        \
                "sreduce: ", __VA_ARGS__, (const char *)NULL);                                     \
        refused(ctx,                                                                               \
                tilemm_sargreduce(ctx, (tilemm_reduce_t)(op), (tilemm_axis_t)(axis),               \
                                  (tilemm_layout_t)(layout), rows, cols, a, lda, out, incout,      \
                                  indices),                                                        \
                "sargreduce: ", __VA_ARGS__, (const char *)NULL);                                  \
    } while (0)
    R(9, 0, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 1, "op = 9", "must be");
    R(-1, 0, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 1, "op = -1", "must be");
    R(TILEMM_MAX, 2, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 1, "axis = 2", "must be");
    R(TILEMM_MAX, 0, 99, 4, 5, x, 5, r, 1, "layout = 99", "must be");
    R(TILEMM_MAX, 0, TILEMM_ROW_MAJOR, -4, 5, x, 5, r, 1, "rows = -4", "must be at least 0");
    R(TILEMM_MAX, 0, TILEMM_ROW_MAJOR, 4, -5, x, 5, r, 1, "cols = -5", "must be at least 0");
    R(TILEMM_MAX, 1, TILEMM_ROW_MAJOR, 4, 5, x, 4, r, 1, "lda = 4, must be at least 5");
    R(TILEMM_MAX, 1, TILEMM_COL_MAJOR, 4, 5, x, 3, r, 1, "lda = 3, must be at least 4");
    R(TILEMM_MAX, 0, TILEMM_ROW_MAJOR, 4, 5, NULL, 5, r, 1, "a = NULL", "must be");
    R(TILEMM_MAX, 0, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 0, "incout = 0", "must not be 0");
#undef R
    refused(
        ctx,
        tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5, x, 5, NULL, 1),
        "sreduce: out = NULL", "must be", (const char *)NULL);
    refused(ctx,
            tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 1,
                              NULL),
            "sargreduce: index_out = NULL", "must be", (const char *)NULL);
    for (f = TILEMM_SUM; f < TILEMM_MAX; f++)
        refused(ctx,
                tilemm_sargreduce(ctx, (tilemm_reduce_t)f, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5,
                                  x, 5, r, 1, indices),
                "sargreduce: op = ", "must be", (const char *)NULL);
    offsets[0] = 0;
    offsets[1] = 3;
    offsets[2] = 8;
    refused(ctx, tilemm_sreduce_segments(ctx, (tilemm_reduce_t)77, 2, x, offsets, r),
            "sreduce_segments: op = 77", "must be", (const char *)NULL);
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, -2, x, offsets, r),
            "sreduce_segments: segments = -2", "must be at least 0", (const char *)NULL);
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, NULL, offsets, r),
            "sreduce_segments: x = NULL", "must be", (const char *)NULL);
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, NULL, r),
            "sreduce_segments: offsets = NULL", "must be", (const char *)NULL);
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, offsets, NULL),
            "sreduce_segments: out = NULL", "must be", (const char *)NULL);
    offsets[2] = 2;
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, offsets, r),
            "sreduce_segments: offsets[2] = 2", "must be at least 3", (const char *)NULL);
    offsets[0] = -1;
    refused(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, offsets, r),
            "sreduce_segments: offsets[0] = -1", "must be at least 0", (const char *)NULL);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

static void setting_errors(tilemm_t ctx)
{
    refused(ctx, tilemm_get_backend(ctx, NULL), "get_backend: backend = NULL", "must be",
            (const char *)NULL);
    refused(ctx, tilemm_set_math(ctx, (tilemm_math_t)3), "set_math: math = 3", "must be",
            (const char *)NULL);
    refused(ctx, tilemm_set_nan_policy(ctx, (tilemm_nan_t)2), "set_nan_policy: policy = 2",
            "must be", (const char *)NULL);
    refused(ctx, tilemm_set_threads(ctx, -1), "set_threads: threads = -1", "must be at least 0",
            (const char *)NULL);
    refused(ctx, tilemm_set_workspace(ctx, NULL, 64), "set_workspace: ", "bytes = 64", "must be",
            (const char *)NULL);
    refused(ctx, tilemm_set_workspace(ctx, x, 0), "set_workspace: ", "bytes = 0", "must be",
            (const char *)NULL);
    CHECK(tilemm_set_stream(ctx, NULL) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    if (TEST_BACKEND == TILEMM_BACKEND_CPU) {
        CHECK(tilemm_set_stream(ctx, x) == TILEMM_NOT_SUPPORTED, "set_stream on a CPU context");
        CHECK(strstr(tilemm_last_error(ctx), "set_stream: ") &&
                  strstr(tilemm_last_error(ctx), "must be"),
              "\"%s\"", tilemm_last_error(ctx));
    } else {
        refused(ctx, tilemm_set_workspace(ctx, x, sizeof(x)),
                "set_workspace: workspace = ", "must be", (const char *)NULL);
    }
}

static void workspace_errors(tilemm_t ctx)
{
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS;
    size_t bytes = 12345;
    refused(ctx, tilemm_sgemm_workspace(ctx, (tilemm_layout_t)100, no, no, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: layout = 100", "must be", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, (tilemm_op_t)0, no, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: transa = 0", "must be", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, (tilemm_op_t)1, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: transb = 1", "must be", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, no, -1, 2, 2, 1, &bytes),
            "sgemm_workspace: m = -1", "must be at least 0", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 2, -2, 2, 1, &bytes),
            "sgemm_workspace: n = -2", "must be at least 0", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, -3, 1, &bytes),
            "sgemm_workspace: k = -3", "must be at least 0", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, 2, -4, &bytes),
            "sgemm_workspace: batch_count = -4", "must be at least 0", (const char *)NULL);
    refused(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, 2, 1, NULL),
            "sgemm_workspace: bytes = NULL", "must be", (const char *)NULL);
    CHECK(bytes == 12345, "%zu", bytes);
    CHECK(tilemm_sgemm_workspace(ctx, row, no, no, 0, 5, 5, 1, &bytes) == TILEMM_SUCCESS &&
              bytes == 0,
          "%s: %zu", tilemm_last_error(ctx), bytes);
    CHECK(tilemm_sgemm_workspace(ctx, row, no, no, 2000, 2000, 2000, 1, &bytes) == TILEMM_SUCCESS,
          "%s", tilemm_last_error(ctx));
    CHECK(TEST_BACKEND == TILEMM_BACKEND_CUDA || bytes == 0, "%zu bytes on a CPU", bytes);
}

static void null_contexts(void)
{
    tilemm_backend_t backend = TILEMM_BACKEND_AUTO;
    const float *a[1] = {x};
    float *c[1] = {result};
    tilemm_layout_t row = TILEMM_ROW_MAJOR;
    tilemm_op_t no = TILEMM_NO_TRANS;
    size_t bytes = 0;
#define NO(call) CHECK((call) == TILEMM_INVALID_ARGUMENT && untouched(), "with a NULL context")
    NO(tilemm_create(NULL, TILEMM_BACKEND_CPU, 0));
    NO(tilemm_get_backend(NULL, &backend));
    NO(tilemm_set_stream(NULL, NULL));
    NO(tilemm_synchronize(NULL));
    NO(tilemm_set_math(NULL, TILEMM_MATH_FP32));
    NO(tilemm_set_nan_policy(NULL, TILEMM_NAN_IGNORE));
    NO(tilemm_set_threads(NULL, 1));
    NO(tilemm_set_workspace(NULL, NULL, 0));
    NO(tilemm_sgemm(NULL, row, no, no, 2, 2, 2, 1, x, 2, y, 2, 0, result, 2));
    NO(tilemm_sgemm_strided_batched(NULL, row, no, no, 2, 2, 2, 1, x, 2, 4, y, 2, 4, 0, result, 2,
                                    4, 2));
    NO(tilemm_sgemm_workspace(NULL, row, no, no, 2, 2, 2, 1, &bytes));
    NO(tilemm_sgemm_batched(NULL, row, no, no, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, 1));
    NO(tilemm_transpose(NULL, 2, 2, 4, x, 2, result, 2));
    NO(tilemm_transpose_strided_batched(NULL, 2, 2, 4, x, 2, 4, result, 2, 4, 2));
    NO(tilemm_transpose_inplace(NULL, 2, 2, 4, result, 2, 2));
    NO(tilemm_somatcopy(NULL, row, no, 2, 2, 1, x, 2, result, 2));
    NO(tilemm_simatcopy(NULL, row, no, 2, 2, 1, result, 2, 2));
    NO(tilemm_ssum(NULL, 2, x, 1, result));
    NO(tilemm_sasum(NULL, 2, x, 1, result));
    NO(tilemm_snrm2(NULL, 2, x, 1, result));
    NO(tilemm_smax(NULL, 2, x, 1, result));
    NO(tilemm_smin(NULL, 2, x, 1, result));
    NO(tilemm_sdot(NULL, 2, x, 1, y, 1, result));
    NO(tilemm_isamax(NULL, 2, x, 1, indices));
    NO(tilemm_isamin(NULL, 2, x, 1, indices));
    NO(tilemm_ismax(NULL, 2, x, 1, indices));
    NO(tilemm_ismin(NULL, 2, x, 1, indices));
    NO(tilemm_sreduce(NULL, TILEMM_SUM, TILEMM_AXIS_ROWS, row, 2, 2, x, 2, result, 1));
    NO(tilemm_sargreduce(NULL, TILEMM_MAX, TILEMM_AXIS_ROWS, row, 2, 2, x, 2, result, 1, indices));
    NO(tilemm_sreduce_segments(NULL, TILEMM_SUM, 1, x, offsets, result));
#undef NO
    CHECK(tilemm_destroy(NULL) == TILEMM_SUCCESS, "tilemm_destroy(NULL)");
    CHECK(tilemm_last_error(NULL) != NULL, "tilemm_last_error(NULL)");
    CHECK(tilemm_last_kernel(NULL) != NULL, "tilemm_last_kernel(NULL)");
}

/* What looks wrong and is not. */
static void allowed(tilemm_t ctx)
{
    int64_t index = 5;
    float sum = 5, most = 5;
    static const int64_t none[] = {0, 0, 0};
    float out[2] = {5, 5};
    CHECK(tilemm_ssum(ctx, 0, NULL, 1, &sum) == TILEMM_SUCCESS && sum == 0, "ssum of nothing: %s",
          tilemm_last_error(ctx));
    CHECK(tilemm_smax(ctx, 0, NULL, -3, &most) == TILEMM_SUCCESS && most < -3e38f,
          "smax of nothing: %s", tilemm_last_error(ctx));
    CHECK(tilemm_isamax(ctx, 0, NULL, 1, &index) == TILEMM_SUCCESS && index == -1,
          "isamax of nothing: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2, out,
                         1) == TILEMM_SUCCESS &&
              out[0] == 0 && out[1] == 0,
          "sreduce of 0 rows: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2, NULL,
                         1) == TILEMM_SUCCESS,
          "sreduce to 0 results: %s", tilemm_last_error(ctx));
    out[0] = out[1] = 5;
    CHECK(tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, NULL, none, out) == TILEMM_SUCCESS &&
              out[0] == 0 && out[1] == 0,
          "empty segments: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce_segments(ctx, TILEMM_SUM, 0, NULL, NULL, NULL) == TILEMM_SUCCESS,
          "no segments: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose(ctx, 0, 3, 4, NULL, 3, NULL, 1) == TILEMM_SUCCESS,
          "transpose of 0 rows: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose_strided_batched(ctx, 2, 3, 4, NULL, 3, 0, NULL, 2, 0, 0) ==
              TILEMM_SUCCESS,
          "no transposes: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose_inplace(ctx, 3, 0, 4, NULL, 1, 3) == TILEMM_SUCCESS,
          "transpose in place of 0 columns: %s", tilemm_last_error(ctx));
}

#ifdef TEST_CUDA
/* Device pointers on a CPU context are refused for each argument. */
static void device_on_cpu(void)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    void *device = gpu_malloc(4096);
    tilemm_layout_t row = TILEMM_ROW_MAJOR;
    tilemm_op_t no = TILEMM_NO_TRANS;
    CHECK(device != NULL, "gpu_malloc");
#define DEVICE(call, argument)                                                                     \
    refused(ctx, call, argument, "device memory", "must be", (const char *)NULL)
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, device, 2, y, 2, 0, result, 2), ": a = ");
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, x, 2, device, 2, 0, result, 2), ": b = ");
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, x, 2, y, 2, 0, device, 2), ": c = ");
    DEVICE(tilemm_transpose(ctx, 2, 2, 4, device, 2, result, 2), ": src = ");
    DEVICE(tilemm_transpose(ctx, 2, 2, 4, x, 2, device, 2), ": dst = ");
    DEVICE(tilemm_transpose_inplace(ctx, 2, 2, 4, device, 2, 2), ": a = ");
    DEVICE(tilemm_somatcopy(ctx, row, no, 2, 2, 2, device, 2, result, 2), ": a = ");
    DEVICE(tilemm_somatcopy(ctx, row, no, 2, 2, 2, x, 2, device, 2), ": b = ");
    DEVICE(tilemm_ssum(ctx, 2, device, 1, result), ": x = ");
    DEVICE(tilemm_ssum(ctx, 2, x, 1, device), ": result = ");
    DEVICE(tilemm_sdot(ctx, 2, x, 1, device, 1, result), ": y = ");
    DEVICE(tilemm_isamax(ctx, 2, x, 1, device), ": index = ");
    DEVICE(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, row, 2, 2, device, 2, result, 1),
           ": a = ");
    DEVICE(tilemm_sreduce_segments(ctx, TILEMM_SUM, 1, x, device, result), ": offsets = ");
    DEVICE(tilemm_set_workspace(ctx, device, 4096), ": workspace = ");
#undef DEVICE
    gpu_free(device);
    tilemm_destroy(ctx);
}
#endif

int main(void)
{
    tilemm_t ctx;
    float sum = 0;
    int i;
    test_begin(TEST_BACKEND);
    ctx = test_context(TEST_BACKEND, "");
    for (i = 0; i < 64; i++)
        x[i] = y[i] = 1;
    memset(result, 0xff, sizeof(result));
    memset(indices, 0xff, sizeof(indices));
    CHECK(strcmp(tilemm_last_error(ctx), "") == 0, "a new context says \"%s\"",
          tilemm_last_error(ctx));
    CHECK(strcmp(tilemm_last_kernel(ctx), "") == 0, "a new context says \"%s\"",
          tilemm_last_kernel(ctx));
    sgemm_errors(ctx);
    transpose_errors(ctx);
    reduction_errors(ctx);
    workspace_errors(ctx);
    setting_errors(ctx);
    null_contexts();
    allowed(ctx);
#ifdef TEST_CUDA
    device_on_cpu();
#endif
    /* the message stays; the context works on */
    CHECK(tilemm_ssum(ctx, 64, x, 1, &sum) == TILEMM_SUCCESS && sum == 64, "after all errors: %s",
          tilemm_last_error(ctx));
    CHECK(strcmp(tilemm_last_error(ctx), "") != 0, "the last error is gone");
    CHECK(strcmp(tilemm_last_kernel(ctx), "") != 0, "ssum of 64 elements names no kernel");
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
