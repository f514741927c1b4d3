/* reduce_axis.c - reductions of a matrix along either axis, with indices, and of segments: each
 * result has the bits of the same reduction of one vector; nothing else is written.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

static operand_t A, out, index_out, offsets;

enum { OPS = TILEMM_AMIN + 1 };

/* what: 0 leaves the number, 1 may replace it by a zero or one, 2 by NaN or Inf too. (3 is for
 * matrix_along: data whose sums depend on the order of additions.) */
static void sow(float *x, rng_t *rng, int what)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f};
    if (what && rng_range(rng, 0, 9) == 0)
        *x = special[rng_range(rng, what == 1 ? 3 : 0, 6)];
}

static void finish(tilemm_t ctx, tilemm_status_t status, const char *text)
{
    check_call(ctx, status, 1, text);
    check_intact(&A, text, "the input");
    check_intact(&out, text, "bytes beside the results");
}

static void matrix_along(tilemm_t ctx, tilemm_layout_t layout, tilemm_axis_t axis, int op, int arg,
                         int64_t rows, int64_t cols, int what, rng_t *rng)
{
    const int nan_ignore = rng_bits(rng) & 1, with_out = !arg || rng_bits(rng) & 1;
    const int down = axis == TILEMM_AXIS_ROWS;
    const int64_t lda = matrix_ld(layout, rows, cols) + rng_range(rng, 0, 1) * rng_range(rng, 0, 9);
    const int64_t count = down ? cols : rows, n = down ? rows : cols;
    /* Element i of vector v is A.numbers[v * vstride + i * istride]. */
    const int64_t vstride = down ? matrix_at(layout, 0, 1, lda) : matrix_at(layout, 1, 0, lda);
    const int64_t istride = down ? matrix_at(layout, 1, 0, lda) : matrix_at(layout, 0, 1, lda);
    const int64_t inc = rng_range(rng, 0, 2) ? 1 : rng_range(rng, 0, 1) ? 3 : -2;
    const int64_t slots = count ? (count - 1) * llabs(inc) + 1 : 0;
    float *line = host_array(n + 1);
    tilemm_status_t status;
    char text[256];
    place_anywhere(&A, sizeof(float), matrix_span(layout, rows, cols, lda), rng);
    place_anywhere(&out, sizeof(float), slots, rng);
    place_anywhere(&index_out, sizeof(int64_t), slots, rng);
    matrix_fill(A.numbers, layout, rows, cols, lda, (family_t)rng_range(rng, 0, FAMILY_COUNT - 1),
                rng);
    for (int64_t v = 0; v < count && what == 3; v++)
        reduce_fill_order(op, A.numbers + v * vstride, n, istride, rng);
    for (int64_t i = 0; i < rows && what < 3; i++)
        for (int64_t j = 0; j < cols; j++)
            sow(A.numbers + matrix_at(layout, i, j, lda), rng, what);
    operand_send(&A);
    operand_send(&out);
    operand_send(&index_out);
    for (int64_t v = 0; v < count; v++) {
        if (with_out)
            operand_own(&out, sizeof(float) * (size_t)vector_at(count, v, inc), sizeof(float));
        if (arg)
            operand_own(&index_out, sizeof(int64_t) * (size_t)vector_at(count, v, inc),
                        sizeof(int64_t));
    }
    snprintf(text, sizeof(text),
             "TILEMM_ARCH=%s %s%s of %s %lld x %lld ld %lld axis %d incout %lld NaN policy %d, %s "
             "%s %s",
             arch, arg ? "arg" : "", reduce_name(op),
             layout == TILEMM_ROW_MAJOR ? "row-major" : "column-major", (long long)rows,
             (long long)cols, (long long)lda, (int)axis, (long long)inc, nan_ignore,
             place_name(A.place), place_name(out.place), place_name(index_out.place));
    tilemm_set_nan_policy(ctx, nan_ignore ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
    if (arg)
        status = tilemm_sargreduce(ctx, (tilemm_reduce_t)op, axis, layout, rows, cols, A.pointer,
                                   lda, with_out ? out.pointer : NULL, inc, index_out.pointer);
    else
        status = tilemm_sreduce(ctx, (tilemm_reduce_t)op, axis, layout, rows, cols, A.pointer, lda,
                                out.pointer, inc);
    finish(ctx, status, text);
    check_intact(&index_out, text, "bytes beside the indices");
    for (int64_t v = 0; v < count; v++) {
        for (int64_t i = 0; i < n; i++)
            line[i] = A.numbers[v * vstride + i * istride];
        if (with_out) {
            float got = out.numbers[vector_at(count, v, inc)];
            float want = reduce_exact_bits(op, nan_ignore, n, line, NULL);
            CHECK(float_bits(got) == float_bits(want), "%s: %s: result %lld: %.9g, not %.9g", text,
                  tilemm_last_kernel(ctx), (long long)v, (double)got, (double)want);
        }
        if (arg) {
            int64_t got, want = reduce_index(op, nan_ignore, n, line);
            memcpy(&got, index_out.image + sizeof(got) * (size_t)vector_at(count, v, inc),
                   sizeof(got));
            CHECK(got == want, "%s: %s: index %lld: %lld, not %lld", text, tilemm_last_kernel(ctx),
                  (long long)v, (long long)got, (long long)want);
        }
    }
    free(line);
}

static void matrix(tilemm_t ctx, int op, int arg, int64_t rows, int64_t cols, int what, rng_t *rng)
{
    tilemm_layout_t layout = rng_bits(rng) & 1 ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR;
    tilemm_axis_t axis = rng_bits(rng) & 1 ? TILEMM_AXIS_ROWS : TILEMM_AXIS_COLS;
    matrix_along(ctx, layout, axis, op, arg, rows, cols, what, rng);
}

/* Down the rows of wide matrices, for which a GPU has a kernel for each range of heights. */
static void wide(tilemm_t ctx, rng_t *rng)
{
    static const int64_t shapes[][2] = {
        {1, 40000},   {31, 40001},  {33, 17000},  {100, 34000}, {128, 36000}, {200, 17000},
        {400, 17001}, {600, 17000}, {1025, 9001}, {4000, 4400}, {700, 6001},  {3000, 1537},
        {300, 8191},  {5000, 121},  {100, 70000}, {8, 300001},  {20, 150001}, {1200, 3001},
        {1500, 1700}, {64, 3001},   {1025, 3001}, {2048, 3001}, {1030, 9000}, {1025, 9002}};
    for (int i = 0; i < (int)(sizeof(shapes) / sizeof(shapes[0])); i++)
        for (int what = 0; what < 4; what++) {
            int op = what == 3 ? TILEMM_SUM : (i + what) % OPS;
            if (i < 4 || !test_quick() || what == 3)
                matrix_along(ctx, TILEMM_ROW_MAJOR, TILEMM_AXIS_ROWS, op, op >= TILEMM_MAX && i % 2,
                             shapes[i][0], shapes[i][1], what, rng);
        }
}

static void matrices(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const int64_t fixed[][2] = {{0, 0},    {0, 5},   {5, 0},     {1, 1},     {1, 3000},
                                       {3000, 1}, {31, 65}, {1025, 33}, {33, 1025}, {2, 5000},
                                       {5000, 2}, {64, 64}, {300, 300}, {1024, 7},  {7, 2049}};
    for (int f = 0; f < (int)(sizeof(fixed) / sizeof(fixed[0])); f++) {
        for (int op = 0; op < OPS; op++) {
            matrix(ctx, op, 0, fixed[f][0], fixed[f][1], f % 3, rng);
            for (int round = 0; round < 3 && op < TILEMM_MAX; round++) /* either axis, mostly */
                matrix(ctx, op, 0, fixed[f][0], fixed[f][1], 3, rng);
            if (op >= TILEMM_MAX)
                matrix(ctx, op, 1, fixed[f][0], fixed[f][1], (f + 1) % 3, rng);
        }
    }
    for (int round = 0; round < rounds; round++) {
        const int op = (int)rng_range(rng, 0, OPS - 1);
        matrix(ctx, op, op >= TILEMM_MAX && round & 1, rng_size(rng, 200), rng_size(rng, 200),
               round % 4, rng);
    }
}

/* lengths: 0: short and empty, 1: mixed with long ones, 2: all the same, 3: all empty. */
static void segments(tilemm_t ctx, int op, int64_t count, int lengths, rng_t *rng)
{
    const int nan_ignore = rng_bits(rng) & 1;
    int64_t *offset = malloc(sizeof(int64_t) * (size_t)(count + 1));
    const int64_t same = rng_range(rng, 1, 70);
    char text[160];
    offset[0] = rng_range(rng, 0, 2) * 3;
    for (int64_t s = 0; s < count; s++)
        offset[s + 1] = offset[s] + (lengths == 0   ? rng_range(rng, 0, 4)
                                     : lengths == 2 ? same
                                     : lengths == 3 ? 0
                                     : rng_range(rng, 0, 9) == 0
                                         ? rng_range(rng, 0, test_quick() ? 4000 : 40000)
                                         : rng_range(rng, 0, 300));
    place_anywhere(&A, sizeof(float), offset[count], rng);
    place_anywhere(&offsets, sizeof(int64_t), count + 1, rng);
    place_anywhere(&out, sizeof(float), count, rng);
    for (int64_t i = offset[0]; i < offset[count]; i++) {
        A.numbers[i] = rng_float(rng, FAMILY_NORMAL);
        sow(A.numbers + i, rng, op % 3);
    }
    for (int64_t s = 1; s < count; s += 2)
        reduce_fill_order(op, A.numbers + offset[s], offset[s + 1] - offset[s], 1, rng);
    memcpy(offsets.image, offset, offsets.bytes);
    operand_send(&A);
    operand_send(&offsets);
    operand_send(&out);
    operand_own(&out, 0, out.bytes);
    snprintf(text, sizeof(text), "TILEMM_ARCH=%s %s of %lld segments (kind %d), %s %s %s", arch,
             reduce_name(op), (long long)count, lengths, place_name(A.place),
             place_name(offsets.place), place_name(out.place));
    tilemm_set_nan_policy(ctx, nan_ignore ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
    finish(ctx,
           tilemm_sreduce_segments(ctx, (tilemm_reduce_t)op, count, A.pointer, offsets.pointer,
                                   out.pointer),
           text);
    check_intact(&offsets, text, "the offsets");
    for (int64_t s = 0; s < count; s++) {
        const float got = out.numbers[s];
        const float want = reduce_exact_bits(op, nan_ignore, offset[s + 1] - offset[s],
                                             A.numbers + offset[s], NULL);
        CHECK(float_bits(got) == float_bits(want), "%s: %s: segment %lld of %lld: %.9g, not %.9g",
              text, tilemm_last_kernel(ctx), (long long)s, (long long)(offset[s + 1] - offset[s]),
              (double)got, (double)want);
    }
    free(offset);
}

/* Offsets on the device that decrease stand for an empty segment. */
static void decreasing(tilemm_t ctx, rng_t *rng)
{
    static const int64_t offset[] = {0, 4, 2, 6};
    static const float want[] = {6.0f, 0.0f, 14.0f};
    operand_prepare(&A, PLACE_DEVICE, 6 * sizeof(float), 0);
    operand_prepare(&offsets, PLACE_DEVICE, sizeof(offset), 0);
    operand_prepare(&out, rng_place(rng, TEST_BACKEND), sizeof(want), 0);
    for (int i = 0; i < 6; i++)
        A.numbers[i] = (float)i;
    memcpy(offsets.image, offset, sizeof(offset));
    operand_send(&A);
    operand_send(&offsets);
    operand_send(&out);
    operand_own(&out, 0, out.bytes);
    finish(ctx,
           tilemm_sreduce_segments(ctx, TILEMM_SUM, 3, A.pointer, offsets.pointer, out.pointer),
           "offsets that decrease");
    for (int i = 0; i < 3; i++)
        CHECK(out.numbers[i] == want[i], "offsets that decrease: segment %d: %g", i,
              (double)out.numbers[i]);
}

/* Rows so far apart that the last ones lie past 2^32 elements. */
static void far_apart(tilemm_t ctx)
{
    enum { ROWS = 100, COLS = 5 };
    const int64_t ld = ((int64_t)1 << 26) + 7;
    size_t bytes = sizeof(float) * (size_t)((ROWS - 1) * ld + COLS);
    float *big = sparse_alloc(TEST_BACKEND, bytes);
    float a[ROWS][COLS], down[COLS], along[ROWS];
    int64_t where[COLS];
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    if (!big) {
        printf("no memory for rows past 2^32 elements: left out\n");
        return;
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++)
            a[i][j] = (float)((i * 37 + j * 11) % 101 - 50);
        sparse_write(TEST_BACKEND, big + i * ld, a[i], sizeof(a[i]));
    }
    CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, ROWS, COLS,
                                 big, ld, down, 1));
    CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR, COLS, ROWS,
                                 big, ld, along, 1));
    CHECK_OK(ctx, tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_COLS, TILEMM_COL_MAJOR, COLS, ROWS,
                                    big, ld, NULL, 1, where));
    for (int j = 0; j < COLS; j++) {
        float sum = 0;
        int best = 0;
        for (int i = 0; i < ROWS; i++) {
            sum += a[i][j];
            best = a[i][j] > a[best][j] ? i : best;
        }
        CHECK(down[j] == sum, "past 2^32: column %d: %g, not %g", j, (double)down[j], (double)sum);
        CHECK(where[j] == best, "past 2^32: column %d: index %lld, not %d", j, (long long)where[j],
              best);
    }
    for (int i = 0; i < ROWS; i++) {
        float sum = 0;
        for (int j = 0; j < COLS; j++)
            sum += a[i][j];
        CHECK(along[i] == sum, "past 2^32: row %d: %g, not %g", i, (double)along[i], (double)sum);
    }
    sparse_free(TEST_BACKEND, big, bytes);
}

int main(void)
{
    rng_t rng = {6000};
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 0)) != NULL) {
        for (int threads = 1; threads <= 3; threads += 2) {
            tilemm_set_threads(ctx, threads);
            matrices(ctx, test_quick() ? 20 : 150, &rng);
            for (int op = 0; op < OPS; op++) {
                segments(ctx, op, rng_range(&rng, 1, 50), 1, &rng);
                segments(ctx, op, rng_range(&rng, 1, test_quick() ? 300 : 3000), 0, &rng);
                segments(ctx, op, rng_range(&rng, 1, 400), 2, &rng);
                segments(ctx, op, 5, 3, &rng);
                segments(ctx, op, 0, 3, &rng);
                segments(ctx, op, 1, 1, &rng);
            }
        }
        if (TEST_BACKEND == TILEMM_BACKEND_CUDA) {
            decreasing(ctx, &rng);
            wide(ctx, &rng);
        }
        far_apart(ctx);
    }
    operand_free(&A);
    operand_free(&out);
    operand_free(&index_out);
    operand_free(&offsets);
    return check_exit();
}
