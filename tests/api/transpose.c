/* transpose.c - transposes and scaled copies are exact, for all element sizes, shapes, leading
 * dimensions, alignments, batches and kinds of memory; nothing outside the result is written.
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

static operand_t source, result;
static const char *arch = "";

static const char *describe(int64_t rows, int64_t cols, size_t size, int64_t ld_src, int64_t ld_dst,
                            int64_t batch)
{
    static char text[256];
    snprintf(text, sizeof(text),
             "TILEMM_ARCH=%s %lld x %lld of %zu bytes, ld %lld and %lld, batch %lld, %s+%u %s+%u",
             arch, (long long)rows, (long long)cols, size, (long long)ld_src, (long long)ld_dst,
             (long long)batch, place_name(source.place), (unsigned)((uintptr_t)source.pointer % 64),
             place_name(result.place), (unsigned)((uintptr_t)result.pointer % 64));
    return text;
}

static size_t alignment_of(size_t size)
{
    return size == 16 ? 8 : size;
}

static void finish(tilemm_t ctx, tilemm_status_t status, const char *text)
{
    CHECK(status == TILEMM_SUCCESS, "%s: %s: %s", text, tilemm_status_string(status),
          tilemm_last_error(ctx));
    if (source.place != PLACE_HOST && result.place != PLACE_HOST)
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s: %s", text, tilemm_last_error(ctx));
    operand_fetch(&source);
    operand_fetch(&result);
    CHECK(operand_intact(&source), "%s: the source changed", text);
    CHECK(operand_intact(&result), "%s: bytes outside the result changed", text);
    CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "%s: kernel %s", text,
          tilemm_last_kernel(ctx));
}

static int64_t wrong_elements(int64_t rows, int64_t cols, size_t size, const unsigned char *src,
                              int64_t ld_src, const unsigned char *dst, int64_t ld_dst)
{
    int64_t i, j, wrong = 0;
    for (i = 0; i < rows; i++)
        for (j = 0; j < cols; j++)
            wrong += memcmp(src + (size_t)(i * ld_src + j) * size,
                            dst + (size_t)(j * ld_dst + i) * size, size) != 0;
    return wrong;
}

static void one(tilemm_t ctx, int64_t rows, int64_t cols, size_t size, int64_t pad_src,
                int64_t pad_dst, rng_t *rng)
{
    int64_t ld_src = matrix_ld(TILEMM_ROW_MAJOR, rows, cols) + pad_src;
    int64_t ld_dst = matrix_ld(TILEMM_ROW_MAJOR, cols, rows) + pad_dst;
    const char *text;
    int64_t wrong;
    operand_prepare(&source, rng_place(rng, TEST_BACKEND),
                    size * (size_t)matrix_span(TILEMM_ROW_MAJOR, rows, cols, ld_src),
                    rng_offset(rng, alignment_of(size)));
    operand_prepare(&result, rng_place(rng, TEST_BACKEND),
                    size * (size_t)matrix_span(TILEMM_ROW_MAJOR, cols, rows, ld_dst),
                    rng_offset(rng, alignment_of(size)));
    rng_bytes(rng, source.image, source.bytes);
    operand_send(&source);
    operand_send(&result);
    if (rows && cols)
        matrix_own(&result, size, 0, TILEMM_ROW_MAJOR, cols, rows, ld_dst);
    text = describe(rows, cols, size, ld_src, ld_dst, 1);
    finish(ctx,
           tilemm_transpose(ctx, rows, cols, size, source.pointer, ld_src, result.pointer, ld_dst),
           text);
    wrong = wrong_elements(rows, cols, size, source.image, ld_src, result.image, ld_dst);
    CHECK(wrong == 0, "%s: %s: %lld elements wrong", text, tilemm_last_kernel(ctx),
          (long long)wrong);
}

static const size_t sizes[] = {1, 2, 4, 8, 16};

static void shapes(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const int64_t fixed[][2] = {{0, 0},    {0, 7},      {7, 0},      {1, 1},    {1, 1000},
                                       {1000, 1}, {700, 3},    {3, 700},    {31, 500}, {500, 31},
                                       {64, 64},  {65, 63},    {127, 129},  {2, 2},    {128, 256},
                                       {33, 33},  {1025, 127}, {513, 1031}, {5000, 2}, {2, 5000}};
    int s, f, round;
    for (s = 0; s < 5; s++) {
        for (f = 0; f < (int)(sizeof(fixed) / sizeof(fixed[0])); f++) {
            if (test_quick() && fixed[f][0] * fixed[f][1] > 20000)
                continue;
            one(ctx, fixed[f][0], fixed[f][1], sizes[s], 0, 0, rng);
            one(ctx, fixed[f][0], fixed[f][1], sizes[s], 1 + f % 5, f % 3, rng);
        }
        for (round = 0; round < rounds; round++)
            one(ctx, rng_size(rng, 300), rng_size(rng, 300), sizes[s],
                rng_range(rng, 0, 1) * rng_range(rng, 0, 40),
                rng_range(rng, 0, 1) * rng_range(rng, 0, 40), rng);
    }
}

/* More than the last cache holds. Such results are written around the caches if all their rows have
 * the same alignment. */
static void large(tilemm_t ctx, rng_t *rng)
{
    const int64_t bytes = (int64_t)68 << 19;
    int s;

    for (s = 0; s < 5; s++) {
        const int64_t size = (int64_t)sizes[s], rows = 1500 + rng_range(rng, 0, 200);
        const int64_t cols = bytes / size / rows + 1;

        one(ctx, rows, cols, sizes[s], -cols & 63, -rows & 63, rng);
        one(ctx, rows, cols, sizes[s], 1 - cols % 2, 1 - rows % 2, rng);
    }
}

static void batches(tilemm_t ctx, int rounds, rng_t *rng)
{
    int round;
    for (round = 0; round < rounds; round++) {
        size_t size = sizes[round % 5];
        int64_t rows = rng_size(rng, 70), cols = rng_size(rng, 70), batch = rng_range(rng, 0, 12);
        int64_t ld_src = matrix_ld(TILEMM_ROW_MAJOR, rows, cols) + rng_range(rng, 0, 3);
        int64_t gaps =
            rng_range(rng, 0, 1); /* without gaps, the result may be written by 16 bytes */
        int64_t ld_dst = matrix_ld(TILEMM_ROW_MAJOR, cols, rows) + gaps * rng_range(rng, 0, 3);
        int64_t span_src, span_dst, stride_src, stride_dst, first_src = 0, first_dst = 0, i;
        size_t step_src, step_dst;
        const char *text;
        if (batch > 10) {
            batch *= 30;
            rows = rows % 6;
            cols = cols % 6;
        }
        if (!gaps)
            ld_dst = matrix_ld(TILEMM_ROW_MAJOR, cols, rows);
        span_src = matrix_span(TILEMM_ROW_MAJOR, rows, cols, ld_src);
        span_dst = matrix_span(TILEMM_ROW_MAJOR, cols, rows, ld_dst);
        stride_src = rng_range(rng, 0, 3) ? span_src + rng_range(rng, 0, 7) : 0;
        stride_dst = span_dst + gaps * rng_range(rng, 0, 7);
        stride_src = rng_range(rng, 0, 2) ? stride_src : -stride_src;
        stride_dst = rng_range(rng, 0, 2) ? stride_dst : -stride_dst;
        operand_prepare(&source, rng_place(rng, TEST_BACKEND),
                        batch ? size * (size_t)((batch - 1) * llabs(stride_src) + span_src) : 0,
                        rng_offset(rng, alignment_of(size)));
        operand_prepare(&result, rng_place(rng, TEST_BACKEND),
                        batch ? size * (size_t)((batch - 1) * llabs(stride_dst) + span_dst) : 0,
                        rng_offset(rng, alignment_of(size)));
        if (batch && stride_src < 0)
            first_src = (batch - 1) * -stride_src;
        if (batch && stride_dst < 0)
            first_dst = (batch - 1) * -stride_dst;
        rng_bytes(rng, source.image, source.bytes);
        operand_send(&source);
        operand_send(&result);
        for (i = 0; i < batch && span_dst; i++)
            matrix_own(&result, size, first_dst + i * stride_dst, TILEMM_ROW_MAJOR, cols, rows,
                       ld_dst);
        text = describe(rows, cols, size, ld_src, ld_dst, batch);
        step_src = size * (size_t)first_src;
        step_dst = size * (size_t)first_dst;
        finish(ctx,
               tilemm_transpose_strided_batched(
                   ctx, rows, cols, size, (unsigned char *)source.pointer + step_src, ld_src,
                   stride_src, (unsigned char *)result.pointer + step_dst, ld_dst, stride_dst,
                   batch),
               text);
        for (i = 0; i < batch && span_dst; i++) {
            int64_t wrong = wrong_elements(
                rows, cols, size, source.image + (size_t)(first_src + i * stride_src) * size,
                ld_src, result.image + (size_t)(first_dst + i * stride_dst) * size, ld_dst);
            CHECK(wrong == 0, "%s: %s: matrix %lld: %lld elements wrong (strides %lld, %lld)", text,
                  tilemm_last_kernel(ctx), (long long)i, (long long)wrong, (long long)stride_src,
                  (long long)stride_dst);
        }
    }
}

/* B = alpha op(A): one rounding. With alpha = 0 the source, full of NaN here, is not read. */
static void scaled(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const float alphas[] = {1, -1, 2.5f, 0, 0.1f};
    int round;
    for (round = 0; round < rounds; round++) {
        tilemm_layout_t layout = round & 1 ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR;
        tilemm_op_t trans = round & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        float alpha = alphas[round / 4 % 5];
        int64_t rows = rng_size(rng, 200), cols = rng_size(rng, 200), i, j, wrong = 0;
        int64_t out_rows = trans == TILEMM_TRANS ? cols : rows;
        int64_t out_cols = trans == TILEMM_TRANS ? rows : cols;
        int64_t lda = matrix_ld(layout, rows, cols) + rng_range(rng, 0, 4);
        int64_t ldb = matrix_ld(layout, out_rows, out_cols) + rng_range(rng, 0, 4);
        const float *a, *b;
        const char *text;
        operand_prepare(&source, rng_place(rng, TEST_BACKEND),
                        4 * (size_t)matrix_span(layout, rows, cols, lda), rng_offset(rng, 4));
        operand_prepare(&result, rng_place(rng, TEST_BACKEND),
                        4 * (size_t)matrix_span(layout, out_rows, out_cols, ldb),
                        rng_offset(rng, 4));
        if (alpha != 0)
            matrix_fill(source.numbers, layout, rows, cols, lda, (family_t)(round % FAMILY_COUNT),
                        rng);
        a = source.numbers;
        b = result.numbers;
        operand_send(&source);
        operand_send(&result);
        if (rows && cols)
            matrix_own(&result, 4, 0, layout, out_rows, out_cols, ldb);
        text = describe(rows, cols, 4, lda, ldb, 1);
        finish(ctx,
               tilemm_somatcopy(ctx, layout, trans, rows, cols, alpha, source.pointer, lda,
                                result.pointer, ldb),
               text);
        for (i = 0; i < rows; i++) {
            for (j = 0; j < cols; j++) {
                float want = alpha != 0 ? alpha * a[matrix_at(layout, i, j, lda)] : 0.0f;
                float got = trans == TILEMM_TRANS ? b[matrix_at(layout, j, i, ldb)]
                                                  : b[matrix_at(layout, i, j, ldb)];
                wrong += float_bits(got) != float_bits(want);
            }
        }
        CHECK(wrong == 0, "somatcopy layout %d trans %d alpha %g: %s: %s: %lld elements wrong",
              (int)layout, (int)trans, (double)alpha, text, tilemm_last_kernel(ctx),
              (long long)wrong);
    }
}

/* Rows so far apart that the last ones lie past 2^32 elements: of the source, then of the result.
 */
static void far_apart(tilemm_t ctx)
{
    enum { ROWS = 100, COLS = 9 };
    const int64_t ld = ((int64_t)1 << 26) + 11;
    size_t bytes = sizeof(float) * (size_t)((ROWS - 1) * ld + COLS);
    float *big = sparse_alloc(TEST_BACKEND, bytes);
    float *small = sparse_alloc(TEST_BACKEND, sizeof(float) * ROWS * COLS);
    float a[ROWS][COLS], got[ROWS][COLS], transposed[COLS][ROWS];
    int i, j;
    if (!big || !small) {
        printf("no memory for rows past 2^32 elements: left out\n");
    } else {
        for (i = 0; i < ROWS; i++) {
            for (j = 0; j < COLS; j++)
                a[i][j] = (float)(i * COLS + j + 1);
            sparse_write(TEST_BACKEND, big + i * ld, a[i], sizeof(a[i]));
        }
        CHECK(tilemm_transpose(ctx, ROWS, COLS, 4, big, ld, small, ROWS) == TILEMM_SUCCESS,
              "past 2^32: %s", tilemm_last_error(ctx));
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        sparse_read(TEST_BACKEND, transposed, small, sizeof(transposed));
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLS; j++)
                CHECK(transposed[j][i] == a[i][j], "from past 2^32: (%d, %d)", i, j);
        memset(got, 0, sizeof(got));
        for (i = 0; i < ROWS; i++)
            sparse_write(TEST_BACKEND, big + i * ld, got[i], sizeof(got[i]));
        CHECK(tilemm_transpose(ctx, COLS, ROWS, 4, small, ROWS, big, ld) == TILEMM_SUCCESS,
              "past 2^32: %s", tilemm_last_error(ctx));
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        for (i = 0; i < ROWS; i++)
            sparse_read(TEST_BACKEND, got[i], big + i * ld, sizeof(got[i]));
        CHECK(memcmp(got, a, sizeof(a)) == 0, "to past 2^32");
    }
    sparse_free(TEST_BACKEND, big, bytes);
    sparse_free(TEST_BACKEND, small, sizeof(float) * ROWS * COLS);
}

int main(void)
{
    const char *const *name;
    rng_t rng = {3000};
    test_begin(TEST_BACKEND);
    for (name = test_archs(TEST_BACKEND); *name; name++) {
        tilemm_t ctx = test_context(TEST_BACKEND, *name);
        arch = *name;
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, 3);
        shapes(ctx, test_quick() ? 5 : **name ? 30 : 80, &rng);
        if (TEST_BACKEND == TILEMM_BACKEND_CPU && !test_quick())
            large(ctx, &rng);
        batches(ctx, test_quick() ? 20 : 100, &rng);
        scaled(ctx, test_quick() ? 20 : 80, &rng);
        far_apart(ctx);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    operand_free(&source);
    operand_free(&result);
    return check_exit();
}
