/* errors_operations.c - every argument of every operation that can be wrong is refused, in words
 * that name it, and nothing is written.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "refused.h"

typedef struct {
    gemm_t gemm;
    const float *a, *b;
    float *c;
    int64_t batch_count;
} sgemm_t;

/* which: 0 the plain function, 1 by strides, 2 by arrays; a NULL matrix is a NULL array there. */
static tilemm_status_t sgemm(tilemm_t ctx, int which, const sgemm_t *s)
{
    const float *const a[] = {s->a}, *const b[] = {s->b};
    float *const c[] = {s->c};
    if (which == 0)
        return gemm_call(ctx, &s->gemm, s->a, s->b, s->c);
    if (which == 1)
        return gemm_call_strided(ctx, &s->gemm, s->a, 0, s->b, 0, s->c, 20, s->batch_count);
    return gemm_call_batched(ctx, &s->gemm, s->a ? a : NULL, s->b ? b : NULL, s->c ? c : NULL,
                             s->batch_count);
}

static void sgemm_errors(tilemm_t ctx)
{
    const tilemm_layout_t row = TILEMM_ROW_MAJOR, col = TILEMM_COL_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS, trans = TILEMM_TRANS;
    const sgemm_t good = {{row, no, no, 4, 5, 8, 1, 0, 8, 5, 5}, x, y, result, 1};
    /* Wrong only with what else is given: most have the same sizes, stored otherwise. */
    const struct {
        sgemm_t call;
        const char *text;
    } wrong[] = {
        {{{col, no, no, 4, 5, 8, 1, 0, 3, 8, 5}, x, y, result, 1}, "lda = 3, must be at least 4"},
        {{{col, no, no, 4, 5, 8, 1, 0, 4, 7, 5}, x, y, result, 1}, "ldb = 7, must be at least 8"},
        {{{col, no, no, 4, 5, 8, 1, 0, 4, 8, 3}, x, y, result, 1}, "ldc = 3, must be at least 4"},
        {{{row, trans, no, 4, 5, 8, 1, 0, 3, 5, 5}, x, y, result, 1},
         "lda = 3, must be at least 4"},
        {{{row, no, trans, 4, 5, 8, 1, 0, 8, 7, 5}, x, y, result, 1},
         "ldb = 7, must be at least 8"},
        {{{row, no, no, 4, 5, 0, 1, 0, 0, 5, 5}, x, y, result, 1}, "lda = 0, must be at least 1"},
        /* 4 * 2^62 elements: 0 in 64 bits */
        {{{row, no, no, 5, 5, 8, 1, 0, 8, 5, INT64_C(1) << 62}, x, y, result, 1},
         "ldc = 4611686018427387904"},
        /* C is used even where A and B are not */
        {{{row, no, no, 4, 5, 8, 0, 0, 8, 5, 5}, x, y, NULL, 1}, "c = NULL"},
    };
    static const char *const names[] = {"sgemm: ", "sgemm_strided_batched: ", "sgemm_batched: "};
    static const float *holed_a[2] = {x, NULL};
    static const float *const whole_b[2] = {y, y};
    static float *const whole_c[2] = {result, result + 20};
    for (int which = 0; which < 3; which++) {
        const char *name = names[which];
        sgemm_t s;
#define WRONG(field, value, ...)                                                                   \
    do {                                                                                           \
        s = good;                                                                                  \
        s.field = (value);                                                                         \
        REFUSED(sgemm(ctx, which, &s), name, __VA_ARGS__);                                         \
    } while (0)
        WRONG(gemm.layout, 0, "layout = 0", "must be");
        WRONG(gemm.layout, 103, "layout = 103", "must be");
        WRONG(gemm.transa, 0, "transa = 0", "must be");
        WRONG(gemm.transb, 113, "transb = 113", "must be");
        WRONG(gemm.m, -1, "m = -1", "must be at least 0");
        WRONG(gemm.n, -2, "n = -2", "must be at least 0");
        WRONG(gemm.k, INT64_MIN, "k = -9223372036854775808", "must be at least 0");
        WRONG(gemm.lda, 3, "lda = 3, must be at least 8");
        WRONG(gemm.lda, -8, "lda = -8, must be at least 8");
        WRONG(gemm.ldb, 4, "ldb = 4, must be at least 5");
        WRONG(gemm.ldc, 4, "ldc = 4, must be at least 5");
        WRONG(a, NULL, "a = NULL", "must be");
        WRONG(b, NULL, "b = NULL", "must be");
        WRONG(c, NULL, "c = NULL", "must be");
        WRONG(gemm.lda, INT64_MAX, "lda = 9223372036854775807");
        WRONG(gemm.ldc, INT64_MAX / 2, "ldc = 4611686018427387903");
        if (which)
            WRONG(batch_count, -3, "batch_count = -3", "must be at least 0");
        WRONG(gemm.m, INT64_MAX, "");
        for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
            REFUSED(sgemm(ctx, which, &wrong[i].call), name, wrong[i].text);
#undef WRONG
    }
    sgemm_t s = good;
    s.gemm.lda = 3;
    sgemm(ctx, 0, &s);
    CHECK(strcmp(tilemm_last_error(ctx),
                 "sgemm: lda = 3, must be at least 8 (row-major, NO_TRANS, k = 8)") == 0,
          "the header's example is \"%s\"", tilemm_last_error(ctx));
    REFUSED(gemm_call_batched(ctx, &good.gemm, holed_a, whole_b, whole_c, 2),
            "sgemm_batched: a[1] = NULL", "must be");
}

/* No pointer is aligned as its type is; calls are small, and so large that they take another way.
 */
static void misaligned_sgemm(tilemm_t ctx)
{
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS;
    static const char *const names[] = {"sgemm: ", "sgemm_strided_batched: ", "sgemm_batched: "};
    const float *const a[] = {x, x, NULL}, *const b[] = {y, y, NULL};
    float *const c[] = {result, result + 20, NULL};
    for (int by = 1; by < 4; by++)
        for (int which = 0; which < 6; which++) {
            const sgemm_t good = {
                {row, no, no, which < 3 ? 4 : 400, 5, 8, 1, 0, 8, 5, 5}, x, y, result, 1};
            const char *name = names[which % 3];
            const int batched = which % 3 == 2;
            sgemm_t s = good;
            s.a = shifted(x, by);
            REFUSED(sgemm(ctx, which % 3, &s), name, batched ? "a[0] = 0x" : "a = 0x",
                    "must be aligned to 4 bytes");
            s = good;
            s.b = shifted(y, by);
            REFUSED(sgemm(ctx, which % 3, &s), name, batched ? "b[0] = 0x" : "b = 0x",
                    "must be aligned to 4 bytes");
            s = good;
            s.c = shifted(result, by);
            REFUSED(sgemm(ctx, which % 3, &s), name, batched ? "c[0] = 0x" : "c = 0x",
                    "must be aligned to 4 bytes");
        }
    const gemm_t g = {row, no, no, 4, 5, 8, 1, 0, 8, 5, 5};
    for (int by = 1; by < 8; by++) {
        REFUSED(gemm_call_batched(ctx, &g, shifted(a, by), b, c, 2), "sgemm_batched: a = 0x",
                "must be aligned to 8 bytes");
        REFUSED(gemm_call_batched(ctx, &g, a, shifted(b, by), c, 2), "sgemm_batched: b = 0x",
                "must be aligned to 8 bytes");
        REFUSED(gemm_call_batched(ctx, &g, a, b, shifted(c, by), 2), "sgemm_batched: c = 0x",
                "must be aligned to 8 bytes");
    }
}

static void misaligned_transposes(tilemm_t ctx)
{
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t trans = TILEMM_TRANS;
#define M(call, where, name, alignment)                                                            \
    REFUSED(call, where ": " name " = 0x", "must be aligned to " alignment " bytes")
    for (int by = 1; by < 8; by++) {
        void *const s = shifted(x, by), *const d = shifted(indices, by);
        M(tilemm_transpose(ctx, 2, 3, 8, s, 3, indices, 2), "transpose", "src", "8");
        M(tilemm_transpose(ctx, 2, 3, 8, x, 3, d, 2), "transpose", "dst", "8");
        M(tilemm_transpose(ctx, 2, 3, 16, s, 3, indices, 2), "transpose", "src", "8");
        M(tilemm_transpose(ctx, 2, 3, 16, x, 3, d, 2), "transpose", "dst", "8");
        M(tilemm_transpose_strided_batched(ctx, 2, 2, 8, s, 2, 4, indices, 2, 4, 2),
          "transpose_strided_batched", "src", "8");
        M(tilemm_transpose_strided_batched(ctx, 2, 2, 8, x, 2, 4, d, 2, 4, 2),
          "transpose_strided_batched", "dst", "8");
        M(tilemm_transpose_inplace(ctx, 2, 3, 8, d, 3, 2), "transpose_inplace", "a", "8");
        if (by % 4 == 0)
            continue;
        M(tilemm_transpose(ctx, 2, 3, 4, s, 3, result, 2), "transpose", "src", "4");
        M(tilemm_transpose(ctx, 2, 3, 4, x, 3, d, 2), "transpose", "dst", "4");
        M(tilemm_somatcopy(ctx, row, trans, 2, 3, 2, s, 3, result, 2), "somatcopy", "a", "4");
        M(tilemm_somatcopy(ctx, row, trans, 2, 3, 2, x, 3, d, 2), "somatcopy", "b", "4");
        M(tilemm_simatcopy(ctx, row, trans, 2, 3, 2, d, 3, 2), "simatcopy", "a", "4");
        if (by % 2 == 0)
            continue;
        M(tilemm_transpose(ctx, 2, 3, 2, s, 3, result, 2), "transpose", "src", "2");
        M(tilemm_transpose_inplace(ctx, 2, 3, 2, d, 3, 2), "transpose_inplace", "a", "2");
    }
}

static void transpose_errors(tilemm_t ctx)
{
    static const size_t bad_size[] = {0, 3, 5, 12, 32, (size_t)-1};
    static const char *const size_text[] = {"elem_size = 0",  "elem_size = 3",  "elem_size = 5",
                                            "elem_size = 12", "elem_size = 32", "elem_size = "};
    float *r = result;
#define T(rows, cols, size, src, ld_src, dst, ld_dst, ...)                                         \
    do {                                                                                           \
        REFUSED(tilemm_transpose(ctx, rows, cols, size, src, ld_src, dst, ld_dst),                 \
                "transpose: ", __VA_ARGS__);                                                       \
        REFUSED(tilemm_transpose_strided_batched(ctx, rows, cols, size, src, ld_src, 0, dst,       \
                                                 ld_dst, 20, 2),                                   \
                "transpose_strided_batched: ", __VA_ARGS__);                                       \
    } while (0)
    T(-1, 5, 4, x, 5, r, 4, "rows = -1", "must be at least 0");
    T(4, -5, 4, x, 5, r, 4, "cols = -5", "must be at least 0");
    T(4, 5, 4, x, 4, r, 4, "ld_src = 4, must be at least 5");
    T(4, 5, 4, x, 5, r, 3, "ld_dst = 3, must be at least 4");
    T(4, 5, 4, x, INT64_MAX, r, 4, "ld_src = 9223372036854775807");
    T(0, 0, 4, x, 0, r, 1, "ld_src = 0, must be at least 1");
    T(4, 5, 4, NULL, 5, r, 4, "src = NULL", "must be");
    T(4, 5, 4, x, 5, NULL, 4, "dst = NULL", "must be");
    for (int i = 0; i < 6; i++)
        T(4, 5, bad_size[i], x, 5, r, 4, size_text[i], "must be 1, 2, 4, 8 or 16");
#undef T
    REFUSED(tilemm_transpose_strided_batched(ctx, 4, 5, 4, x, 5, 0, r, 4, 20, -1),
            "transpose_strided_batched: batch_count = -1", "must be at least 0");
#define I(rows, cols, size, a, ld_in, ld_out, ...)                                                 \
    REFUSED(tilemm_transpose_inplace(ctx, rows, cols, size, a, ld_in, ld_out),                     \
            "transpose_inplace: ", __VA_ARGS__)
    I(-1, 5, 4, r, 5, 4, "rows = -1", "must be at least 0");
    I(4, -1, 4, r, 5, 4, "cols = -1", "must be at least 0");
    I(4, 5, 7, r, 5, 4, "elem_size = 7", "must be 1, 2, 4, 8 or 16");
    I(4, 5, 4, r, 4, 4, "ld_in = 4, must be at least 5");
    I(4, 5, 4, r, 5, 3, "ld_out = 3, must be at least 4");
    I(4, 5, 4, NULL, 5, 4, "a = NULL", "must be");
#undef I
#define S(layout, trans, rows, cols, a, lda, b, ldb, ...)                                          \
    REFUSED(tilemm_somatcopy(ctx, (tilemm_layout_t)(layout), (tilemm_op_t)(trans), rows, cols,     \
                             2.0f, a, lda, b, ldb),                                                \
            "somatcopy: ", __VA_ARGS__)
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
    REFUSED(tilemm_simatcopy(ctx, (tilemm_layout_t)(layout), (tilemm_op_t)(trans), rows, cols,     \
                             2.0f, a, lda, ldb),                                                   \
            "simatcopy: ", __VA_ARGS__)
    S(100, TILEMM_TRANS, 4, 5, r, 5, 4, "layout = 100", "must be");
    S(TILEMM_ROW_MAJOR, 3, 4, 5, r, 5, 4, "trans = 3", "must be");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, -4, 5, r, 5, 4, "rows = -4", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, -5, r, 5, 4, "cols = -5", "must be at least 0");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, r, 4, 4, "lda = 4, must be at least 5");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, r, 5, 3, "ldb = 3, must be at least 4");
    S(TILEMM_ROW_MAJOR, TILEMM_TRANS, 4, 5, NULL, 5, 4, "a = NULL", "must be");
#undef S
}

typedef tilemm_status_t (*vector_t)(tilemm_t, int64_t, const float *, int64_t, float *);
typedef tilemm_status_t (*index_t)(tilemm_t, int64_t, const float *, int64_t, int64_t *);
static const vector_t vectors[] = {tilemm_ssum, tilemm_sasum, tilemm_snrm2, tilemm_smax,
                                   tilemm_smin};
static const char *const vector_names[] = {"ssum: ", "sasum: ", "snrm2: ", "smax: ", "smin: "};
static const index_t searches[] = {tilemm_isamax, tilemm_isamin, tilemm_ismax, tilemm_ismin};
static const char *const search_names[] = {"isamax: ", "isamin: ", "ismax: ", "ismin: "};

static void misaligned_reductions(tilemm_t ctx)
{
    const tilemm_axis_t axis = TILEMM_AXIS_ROWS;
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    memcpy(offsets, (const int64_t[]){0, 3, 8}, 3 * sizeof *offsets);
    for (int by = 1; by < 8; by++) {
        const float *const odd = shifted(x, by);
        float *const r = shifted(result, by);
        int64_t *const i = shifted(indices, by), *const o = shifted(offsets, by);
        for (int inc = 1; inc < 3; inc++) { /* inc 1 may take a shorter way */
            for (int f = 0; f < 5 && by % 4; f++) {
                REFUSED(vectors[f](ctx, 8, odd, inc, result), vector_names[f], "x = 0x",
                        "must be aligned to 4 bytes");
                REFUSED(vectors[f](ctx, 8, x, inc, r), vector_names[f], "result = 0x",
                        "must be aligned to 4 bytes");
            }
            for (int f = 0; f < 4; f++) {
                REFUSED(searches[f](ctx, 8, x, inc, i), search_names[f], "index = 0x",
                        "must be aligned to 8 bytes");
                if (by % 4)
                    REFUSED(searches[f](ctx, 8, odd, inc, indices), search_names[f], "x = 0x",
                            "must be aligned to 4 bytes");
            }
            if (by % 4 == 0)
                continue;
            M(tilemm_sdot(ctx, 8, odd, inc, y, 1, result), "sdot", "x", "4");
            M(tilemm_sdot(ctx, 8, x, 1, odd, inc, result), "sdot", "y", "4");
            M(tilemm_sdot(ctx, 8, x, inc, y, 1, r), "sdot", "result", "4");
        }
        M(tilemm_sargreduce(ctx, TILEMM_MAX, axis, row, 4, 5, x, 5, result, 1, i), "sargreduce",
          "index_out", "8");
        M(tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, o, result), "sreduce_segments", "offsets",
          "8");
        if (by % 4 == 0)
            continue;
        M(tilemm_sreduce(ctx, TILEMM_SUM, axis, row, 4, 5, odd, 5, result, 1), "sreduce", "a", "4");
        M(tilemm_sreduce(ctx, TILEMM_SUM, axis, row, 4, 5, x, 5, r, 1), "sreduce", "out", "4");
        M(tilemm_sargreduce(ctx, TILEMM_MAX, axis, row, 4, 5, odd, 5, result, 1, indices),
          "sargreduce", "a", "4");
        M(tilemm_sargreduce(ctx, TILEMM_MAX, axis, row, 4, 5, x, 5, r, 1, indices), "sargreduce",
          "out", "4");
        M(tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, odd, offsets, result), "sreduce_segments",
          "x", "4");
        M(tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, x, offsets, r), "sreduce_segments", "out",
          "4");
    }
#undef M
}

static void reduction_errors(tilemm_t ctx)
{
    float *r = result;
    for (int f = 0; f < 5; f++) {
        REFUSED(vectors[f](ctx, -1, x, 1, r), vector_names[f], "n = -1", "must be at least 0");
        REFUSED(vectors[f](ctx, 8, x, 0, r), vector_names[f], "incx = 0", "must not be 0");
        REFUSED(vectors[f](ctx, 8, NULL, 1, r), vector_names[f], "x = NULL", "must be");
        REFUSED(vectors[f](ctx, 8, x, 1, NULL), vector_names[f], "result = NULL", "must be");
        REFUSED(vectors[f](ctx, 8, x, INT64_MIN, r), vector_names[f], "incx = ");
        REFUSED(vectors[f](ctx, INT64_MAX, x, 3, r), vector_names[f], "incx = 3");
    }
    for (int f = 0; f < 4; f++) {
        const char *name = search_names[f];
        REFUSED(searches[f](ctx, -1, x, 1, indices), name, "n = -1", "must be at least 0");
        REFUSED(searches[f](ctx, 8, x, 0, indices), name, "incx = 0", "must not be 0");
        REFUSED(searches[f](ctx, 8, NULL, 1, indices), name, "x = NULL", "must be");
        REFUSED(searches[f](ctx, 8, x, 1, NULL), name, "index = NULL", "must be");
    }
    REFUSED(tilemm_sdot(ctx, -1, x, 1, y, 1, r), "sdot: n = -1", "must be at least 0");
    REFUSED(tilemm_sdot(ctx, 8, x, 0, y, 1, r), "sdot: incx = 0", "must not be 0");
    REFUSED(tilemm_sdot(ctx, 8, x, 1, y, 0, r), "sdot: incy = 0", "must not be 0");
    REFUSED(tilemm_sdot(ctx, 8, NULL, 1, y, 1, r), "sdot: x = NULL", "must be");
    REFUSED(tilemm_sdot(ctx, 8, x, 1, NULL, 1, r), "sdot: y = NULL", "must be");
    REFUSED(tilemm_sdot(ctx, 8, x, 1, y, 1, NULL), "sdot: result = NULL", "must be");
#define R(op, axis, layout, rows, cols, a, lda, out, incout, ...)                                  \
    do {                                                                                           \
        REFUSED(tilemm_sreduce(ctx, (tilemm_reduce_t)(op), (tilemm_axis_t)(axis),                  \
                               (tilemm_layout_t)(layout), rows, cols, a, lda, out, incout),        \
                "sreduce: ", __VA_ARGS__);                                                         \
        REFUSED(tilemm_sargreduce(ctx, (tilemm_reduce_t)(op), (tilemm_axis_t)(axis),               \
                                  (tilemm_layout_t)(layout), rows, cols, a, lda, out, incout,      \
                                  indices),                                                        \
                "sargreduce: ", __VA_ARGS__);                                                      \
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
    REFUSED(
        tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5, x, 5, NULL, 1),
        "sreduce: out = NULL", "must be");
    REFUSED(tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5, x, 5, r, 1,
                              NULL),
            "sargreduce: index_out = NULL", "must be");
    for (int f = TILEMM_SUM; f < TILEMM_MAX; f++)
        REFUSED(tilemm_sargreduce(ctx, (tilemm_reduce_t)f, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5,
                                  x, 5, r, 1, indices),
                "sargreduce: op = ", "must be");
    offsets[0] = 0;
    offsets[1] = 3;
    offsets[2] = 8;
#define S(op, segments, x, offsets, out, ...)                                                      \
    REFUSED(tilemm_sreduce_segments(ctx, (tilemm_reduce_t)(op), segments, x, offsets, out),        \
            "sreduce_segments: ", __VA_ARGS__)
    S(77, 2, x, offsets, r, "op = 77", "must be");
    S(TILEMM_SUM, -2, x, offsets, r, "segments = -2", "must be at least 0");
    S(TILEMM_SUM, 2, NULL, offsets, r, "x = NULL", "must be");
    S(TILEMM_SUM, 2, x, NULL, r, "offsets = NULL", "must be");
    S(TILEMM_SUM, 2, x, offsets, NULL, "out = NULL", "must be");
    offsets[2] = 2;
    S(TILEMM_SUM, 2, x, offsets, r, "offsets[2] = 2", "must be at least 3");
    offsets[0] = -1;
    S(TILEMM_SUM, 2, x, offsets, r, "offsets[0] = -1", "must be at least 0");
#undef S
}

int main(void)
{
    test_begin(TEST_BACKEND);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
    prepare_arguments();
    sgemm_errors(ctx);
    transpose_errors(ctx);
    reduction_errors(ctx);
    misaligned_sgemm(ctx);
    misaligned_transposes(ctx);
    misaligned_reductions(ctx);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
