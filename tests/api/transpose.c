/* transpose.c - transposes and scaled copies are exact, for all element sizes, shapes, leading
 * dimensions, alignments, batches and kinds of memory; nothing outside the result is written.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

static operand_t source, result;

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

static void finish(tilemm_t ctx, tilemm_status_t status, const char *text)
{
    check_call(ctx, status, source.place != PLACE_HOST && result.place != PLACE_HOST, text);
    check_intact(&source, text, "the source");
    check_intact(&result, text, "bytes outside the result");
}

/* `batch` transposes of elements of `size` bytes; strides in elements. */
typedef struct {
    int64_t rows, cols;
    size_t size;
    int64_t ld_src, ld_dst, batch, stride_src, stride_dst;
} transposes_t;

/* Transpose random matrices by either function, and check all elements. */
static void run(tilemm_t ctx, const transposes_t *t, int is_batched, rng_t *rng)
{
    const int64_t rows = t->rows, cols = t->cols, ld_src = t->ld_src, ld_dst = t->ld_dst;
    const int64_t span_src = matrix_span(TILEMM_ROW_MAJOR, rows, cols, ld_src);
    const int64_t span_dst = matrix_span(TILEMM_ROW_MAJOR, cols, rows, ld_dst);
    const int64_t last = t->batch ? t->batch - 1 : 0, size = (int64_t)t->size;
    const int64_t first_src = t->stride_src < 0 ? last * -t->stride_src : 0;
    const int64_t first_dst = t->stride_dst < 0 ? last * -t->stride_dst : 0;
    place_anywhere(&source, t->size, t->batch ? last * llabs(t->stride_src) + span_src : 0, rng);
    place_anywhere(&result, t->size, t->batch ? last * llabs(t->stride_dst) + span_dst : 0, rng);
    rng_bytes(rng, source.image, source.bytes);
    operand_send(&source);
    operand_send(&result);
    for (int64_t i = 0; i < t->batch; i++)
        matrix_own(&result, t->size, first_dst + i * t->stride_dst, TILEMM_ROW_MAJOR, cols, rows,
                   ld_dst);
    const char *text = describe(rows, cols, t->size, ld_src, ld_dst, t->batch);
    const char *src = (char *)source.pointer + first_src * size;
    char *dst = (char *)result.pointer + first_dst * size;
    finish(ctx,
           is_batched ? tilemm_transpose_strided_batched(ctx, rows, cols, t->size, src, ld_src,
                                                         t->stride_src, dst, ld_dst, t->stride_dst,
                                                         t->batch)
                      : tilemm_transpose(ctx, rows, cols, t->size, src, ld_src, dst, ld_dst),
           text);
    for (int64_t m = 0; m < t->batch; m++) {
        const unsigned char *from = source.image + (first_src + m * t->stride_src) * size;
        const unsigned char *to = result.image + (first_dst + m * t->stride_dst) * size;
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                wrong += memcmp(from + (i * ld_src + j) * size, to + (j * ld_dst + i) * size,
                                t->size) != 0;
        CHECK(wrong == 0, "%s: %s: matrix %lld: %lld elements wrong (strides %lld, %lld)", text,
              tilemm_last_kernel(ctx), (long long)m, (long long)wrong, (long long)t->stride_src,
              (long long)t->stride_dst);
    }
}

static void one(tilemm_t ctx, int64_t rows, int64_t cols, size_t size, int64_t pad_src,
                int64_t pad_dst, rng_t *rng)
{
    const transposes_t t = {.rows = rows,
                            .cols = cols,
                            .size = size,
                            .ld_src = matrix_ld(TILEMM_ROW_MAJOR, rows, cols) + pad_src,
                            .ld_dst = matrix_ld(TILEMM_ROW_MAJOR, cols, rows) + pad_dst,
                            .batch = 1};
    run(ctx, &t, 0, rng);
}

static const size_t sizes[] = {1, 2, 4, 8, 16};

static void shapes(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const int64_t fixed[][2] = {{0, 0},    {0, 7},      {7, 0},      {1, 1},    {1, 1000},
                                       {1000, 1}, {700, 3},    {3, 700},    {31, 500}, {500, 31},
                                       {64, 64},  {65, 63},    {127, 129},  {2, 2},    {128, 256},
                                       {33, 33},  {1025, 127}, {513, 1031}, {5000, 2}, {2, 5000}};
    for (int s = 0; s < 5; s++) {
        for (int f = 0; f < (int)(sizeof(fixed) / sizeof(fixed[0])); f++) {
            if (test_quick() && fixed[f][0] * fixed[f][1] > 20000)
                continue;
            one(ctx, fixed[f][0], fixed[f][1], sizes[s], 0, 0, rng);
            one(ctx, fixed[f][0], fixed[f][1], sizes[s], 1 + f % 5, f % 3, rng);
        }
        for (int round = 0; round < rounds; round++)
            one(ctx, rng_size(rng, 300), rng_size(rng, 300), sizes[s],
                rng_range(rng, 0, 1) * rng_range(rng, 0, 40),
                rng_range(rng, 0, 1) * rng_range(rng, 0, 40), rng);
    }
}

/* More than the last cache holds. Such results are written around the caches. */
static void large(tilemm_t ctx, rng_t *rng)
{
    const int64_t bytes = (int64_t)68 << 19;
    for (int s = 0; s < 5; s++) {
        const int64_t size = (int64_t)sizes[s], rows = 1500 + rng_range(rng, 0, 200);
        const int64_t cols = bytes / size / rows + 1;
        one(ctx, rows, cols, sizes[s], -cols & 63, -rows & 63, rng);
        one(ctx, rows, cols, sizes[s], 1 - cols % 2, 1 - rows % 2, rng);
    }
}

/* Small results that a tuning has written around the caches: in blocks of few rows, so that what
 * is left of their lines waits for the next block, and for no block of another strip, matrix or
 * thread. */
static void around(tilemm_t ctx, int rounds, rng_t *rng)
{
    const char *const tuning = tilemm_tuning(ctx), *before = getenv("TILEMM_TUNING");
    const char *const constants = strstr(tuning, "sgemm_thread_work");
    char path[64];
    FILE *const file = test_need(tmpfile());
    CHECK(constants, "no constants in '%s'", tuning);
    fprintf(file,
            "%.*stranspose_thread_bytes 4096\ntranspose_far_bytes 4096\n"
            "transpose_block_bytes 8192\n",
            constants ? (int)(constants - tuning) : 0, tuning);
    fflush(file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    setenv("TILEMM_TUNING", path, 1);
    tilemm_t other = test_context(TEST_BACKEND, arch);
    if (before)
        setenv("TILEMM_TUNING", before, 1);
    else
        unsetenv("TILEMM_TUNING");
    CHECK(strstr(tilemm_tuning(other), "transpose_far_bytes 4096\n"), "%s", tilemm_tuning(other));
    for (int i = 0; i < rounds; i++) {
        const int64_t size = (int64_t)sizes[i % 5], rows = rng_range(rng, 256 / size, 1500);
        const int64_t cols = rng_range(rng, 1, 300), batch = i % 3 ? 1 : 3;
        const transposes_t t = {.rows = rows,
                                .cols = cols,
                                .size = (size_t)size,
                                .ld_src = cols + rng_range(rng, 0, 3),
                                .ld_dst = rows + rng_range(rng, 0, 3),
                                .batch = batch,
                                .stride_src = rows * (cols + 5),
                                .stride_dst = cols * (rows + 5)};
        tilemm_set_threads(other, 1 + i % 4);
        run(other, &t, batch > 1, rng);
    }
    CHECK(tilemm_destroy(other) == TILEMM_SUCCESS, "tilemm_destroy");
    fclose(file);
}

static void batches(tilemm_t ctx, int rounds, rng_t *rng)
{
    for (int round = 0; round < rounds; round++) {
        transposes_t t = {.size = sizes[round % 5]};
        t.rows = rng_size(rng, 70);
        t.cols = rng_size(rng, 70);
        t.batch = rng_range(rng, 0, 12);
        t.ld_src = matrix_ld(TILEMM_ROW_MAJOR, t.rows, t.cols) + rng_range(rng, 0, 3);
        /* without gaps, the result may be written by 16 bytes */
        const int64_t gaps = rng_range(rng, 0, 1);
        t.ld_dst = matrix_ld(TILEMM_ROW_MAJOR, t.cols, t.rows) + gaps * rng_range(rng, 0, 3);
        if (t.batch > 10) {
            t.batch *= 30;
            t.rows = t.rows % 6;
            t.cols = t.cols % 6;
        }
        if (!gaps)
            t.ld_dst = matrix_ld(TILEMM_ROW_MAJOR, t.cols, t.rows);
        t.stride_src = matrix_span(TILEMM_ROW_MAJOR, t.rows, t.cols, t.ld_src);
        t.stride_src = rng_range(rng, 0, 3) ? t.stride_src + rng_range(rng, 0, 7) : 0;
        t.stride_dst = matrix_span(TILEMM_ROW_MAJOR, t.cols, t.rows, t.ld_dst);
        t.stride_dst += gaps * rng_range(rng, 0, 7);
        t.stride_src = rng_range(rng, 0, 2) ? t.stride_src : -t.stride_src;
        t.stride_dst = rng_range(rng, 0, 2) ? t.stride_dst : -t.stride_dst;
        run(ctx, &t, 1, rng);
    }
}

/* Few columns or rows, where rows of the result are aligned and where not; of batches, too. Batches
 * without gaps, and long ones of few columns or rows, of elements of 1 and 2 bytes. */
static void narrow(tilemm_t ctx, int rounds, rng_t *rng)
{
    for (int round = 0; round < rounds; round++) {
        transposes_t t = {.size = sizes[round % 3], .batch = rng_range(rng, 1, 3)};
        const int64_t longer = rng_range(rng, 1, 9000), shorter = 2 + round / 3 % 7;
        const int is_wide = rng_range(rng, 0, 1), is_aligned = rng_range(rng, 0, 1);
        t.rows = is_wide ? shorter : longer;
        t.cols = is_wide ? longer : shorter;
        t.ld_src = t.cols + (is_wide ? rng_range(rng, 0, 3) : 0);
        t.ld_dst = t.rows + (is_aligned ? -t.rows & 15 : 0);
        t.stride_src = (t.rows * t.ld_src + 15) & -16;
        t.stride_dst = (t.cols * t.ld_dst + 15) & -16;
        run(ctx, &t, 1, rng);
        t.size = sizes[round % 2];
        t.rows = rng_range(rng, 8, 150);
        t.cols = rng_range(rng, 1, 150);
        t.batch = rng_range(rng, 2, 12);
        t.ld_src = t.cols;
        t.ld_dst = t.rows;
        t.stride_src = t.stride_dst = t.rows * t.cols;
        run(ctx, &t, 1, rng);
        t.rows = t.ld_dst = 8 * rng_range(rng, 1, 12);
        t.cols = t.ld_src = 8 * rng_range(rng, 1, 12);
        t.batch = rng_range(rng, 150, 300); /* more than there are multiprocessors */
        t.stride_src = t.stride_dst = t.rows * t.cols;
        run(ctx, &t, 1, rng);
        t.size = 1;
        t.rows = 3 + round % 6;
        t.cols = t.ld_src = 2048 + rng_range(rng, 0, 5000);
        t.ld_src += rng_range(rng, 0, 1) * rng_range(rng, 0, 40);
        t.ld_dst = t.rows;
        t.batch = rng_range(rng, 1, 3);
        t.stride_src = t.rows * t.ld_src + rng_range(rng, 0, 3);
        t.stride_dst = (t.rows * t.cols + 15) & -16;
        run(ctx, &t, 1, rng);
        t.size = sizes[round % 2];
        one(ctx, is_wide ? rng_range(rng, 9, 70) : longer, is_wide ? longer : rng_range(rng, 9, 70),
            t.size, rng_range(rng, 0, 1) * rng_range(rng, 0, 40), rng_range(rng, 0, 3), rng);
    }
}

/* B = alpha op(A): one rounding. With alpha = 0 the source, full of NaN here, is not read. */
static void scaled(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const float alphas[] = {1, -1, 2.5f, 0, 0.1f};
    for (int round = 0; round < rounds; round++) {
        tilemm_layout_t layout = round & 1 ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR;
        tilemm_op_t trans = round & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        float alpha = alphas[round / 4 % 5];
        const int is_long = round % 5 == 4; /* few columns, or rows */
        int64_t rows = rng_size(rng, is_long ? 9000 : 200), wrong = 0;
        int64_t cols = is_long ? rng_range(rng, 2, 8) : rng_size(rng, 200);
        int64_t out_rows = trans == TILEMM_TRANS ? cols : rows;
        int64_t out_cols = trans == TILEMM_TRANS ? rows : cols;
        int64_t lda = matrix_ld(layout, rows, cols) + !is_long * rng_range(rng, 0, 4);
        int64_t ldb = matrix_ld(layout, out_rows, out_cols) + rng_range(rng, 0, 4);
        place_anywhere(&source, 4, matrix_span(layout, rows, cols, lda), rng);
        place_anywhere(&result, 4, matrix_span(layout, out_rows, out_cols, ldb), rng);
        const float *a = source.numbers, *b = result.numbers;
        if (alpha != 0)
            matrix_fill(source.numbers, layout, rows, cols, lda, (family_t)(round % FAMILY_COUNT),
                        rng);
        operand_send(&source);
        operand_send(&result);
        matrix_own(&result, 4, 0, layout, out_rows, out_cols, ldb);
        const char *text = describe(rows, cols, 4, lda, ldb, 1);
        finish(ctx,
               tilemm_somatcopy(ctx, layout, trans, rows, cols, alpha, source.pointer, lda,
                                result.pointer, ldb),
               text);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < cols; j++) {
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

/* Kernels that are chosen for large matrices or for many only, on small ones: each takes what it
 * can do. */
static const struct {
    const char *name;
    size_t size;
    int64_t least_rows, most_rows, least_cols, most_cols;
} rare[] = {
    {"transpose_words_sm75_64x32x1", 1, 1, 150, 1, 150},
    {"transpose_words_sm75_128x32x1", 1, 1, 300, 1, 150},
    {"transpose_words_sm75_128x64x1", 1, 1, 300, 1, 200},
    {"transpose_words_sm75_64x16x2", 2, 1, 150, 1, 100},
    {"transpose_words_sm75_64x32x2", 2, 1, 150, 1, 100},
    {"transpose_skewed_sm75_x1", 1, 200, 3000, 1, 160},
    {"transpose_skewed_sm75_x1_flat", 1, 1, 190, 1, 1500},
    {"transpose_skewed_sm75_x2", 2, 200, 2000, 1, 80},
    {"transpose_skewed_sm75_x2_flat", 2, 1, 90, 1, 900},
    {"transpose_packed", 1, 16, 90, 1, 90},
    {"transpose_columns", 2, 8, 60, 8, 8},
    {"transpose_few", 1, 1, 9000, 2, 8},
    {"transpose_few", 2, 1, 5000, 2, 8},
    {"transpose_few", 4, 1, 3000, 2, 8},
    {"transpose_zip", 1, 3, 8, 1, 9000},
    {"transpose_elements", 1, 1, 40, 1, 40},
    {"transpose_elements", 2, 1, 40, 1, 40},
    {"transpose_elements", 4, 1, 30, 1, 30},
    {"transpose_elements", 8, 1, 20, 1, 20},
    {"transpose_elements", 16, 1, 20, 1, 20},
    {"transpose_gather", 1, 1, 60, 1, 300},
    {"transpose_repeated", 2, 1, 30, 1, 30},
    {"transpose_tile", 1, 256, 256, 128, 512},
    {"transpose_tile_sm75_64x64x2_stream", 2, 128, 256, 64, 256},
    {"transpose_tile_sm75_64x64x4_stream", 4, 64, 128, 64, 256},
    {"transpose_tile_sm75_32x32x8_stream", 8, 32, 96, 32, 96},
    {"transpose_shifted", 4, 100, 300, 60, 200},
    {"transpose_shifted", 8, 60, 200, 30, 100},
    {"transpose_narrow_sm75_128x32x4", 4, 1, 200, 1, 60},
    {"transpose_narrow_sm75_32x128x4", 4, 1, 60, 1, 200},
    {"transpose_narrow_sm75_256x16x4", 4, 1, 400, 1, 30},
    {"transpose_narrow_sm75_16x256x4", 4, 1, 30, 1, 400},
    {"transpose_narrow_sm75_128x32x8", 8, 1, 200, 1, 60},
    {"transpose_narrow_sm75_32x128x8", 8, 1, 60, 1, 200},
};

static void forced(int rounds, rng_t *rng)
{
    for (size_t k = 0; k < sizeof rare / sizeof rare[0]; k++) {
        int taken = 0;
        tilemm_t ctx = test_context_of(TEST_BACKEND, "", rare[k].name);
        /* Longer where few are as the kernel wants them: not in the host's memory, or aligned. */
        for (int i = 0; i < rounds || (taken < 3 && i < 100 * rounds); i++) {
            transposes_t t = {.size = rare[k].size};
            const int is_aligned = i % 4 == 0, has_gaps = i % 3 == 0;
            t.rows = rng_range(rng, rare[k].least_rows, rare[k].most_rows);
            t.cols = rng_range(rng, rare[k].least_cols, rare[k].most_cols);
            t.batch = i % 2 ? 1 : rng_range(rng, 2, i % 10 ? 5 : 200);
            while (t.rows * t.cols * t.batch > 400000)
                t.batch = (t.batch + 1) / 2;
            t.ld_src = t.cols + has_gaps * rng_range(rng, 0, 9);
            t.ld_dst = t.rows + has_gaps * rng_range(rng, 0, 9);
            if (is_aligned) {
                t.ld_src = (t.cols + 15) & -16;
                t.ld_dst = (t.rows + 15) & -16;
            }
            t.stride_src = t.rows * t.ld_src + has_gaps * rng_range(rng, 0, 5);
            t.stride_dst = t.cols * t.ld_dst + has_gaps * rng_range(rng, 0, 5);
            if (i % 5 == 2) { /* the matrices aligned */
                t.stride_src = (t.stride_src + 15) & -16;
                t.stride_dst = (t.stride_dst + 15) & -16;
            }
            if (i % 7 == 3)
                t.stride_src = -t.stride_src;
            run(ctx, &t, t.batch > 1, rng);
            taken += strncmp(tilemm_last_kernel(ctx), rare[k].name, strlen(rare[k].name)) == 0;
        }
        CHECK(taken > 0, "%s: taken by no transpose of %zu bytes", rare[k].name, rare[k].size);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

/* Rows so far apart that the last ones lie past 2^32 elements of `size` bytes: of the source, then
 * of the result. */
static void far_apart(tilemm_t ctx, size_t size, rng_t *rng)
{
    enum { ROWS = 100, COLS = 9, SIZE = 4 };
    const int64_t ld = ((int64_t)1 << 26) + 11;
    const size_t bytes = size * (size_t)((ROWS - 1) * ld + COLS), row = size * COLS;
    char *big = sparse_alloc(TEST_BACKEND, bytes);
    char *small = sparse_alloc(TEST_BACKEND, row * ROWS);
    unsigned char a[ROWS * COLS * SIZE], got[ROWS * COLS * SIZE] = {0};
    unsigned char transposed[COLS * ROWS * SIZE];
    if (!big || !small) {
        printf("no memory for rows past 2^32 elements: left out\n");
    } else {
        int64_t wrong = 0;
        rng_bytes(rng, a, row * ROWS);
        for (int i = 0; i < ROWS; i++)
            sparse_write(TEST_BACKEND, big + i * ld * (int64_t)size, a + i * row, row);
        CHECK_OK(ctx, tilemm_transpose(ctx, ROWS, COLS, size, big, ld, small, ROWS));
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        sparse_read(TEST_BACKEND, transposed, small, row * ROWS);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLS; j++)
                wrong += memcmp(transposed + (j * ROWS + i) * size, a + (i * COLS + j) * size,
                                size) != 0;
        CHECK(wrong == 0, "from past 2^32, %zu bytes: %lld elements wrong", size, (long long)wrong);
        for (int i = 0; i < ROWS; i++)
            sparse_write(TEST_BACKEND, big + i * ld * (int64_t)size, got + i * row, row);
        CHECK_OK(ctx, tilemm_transpose(ctx, COLS, ROWS, size, small, ROWS, big, ld));
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        for (int i = 0; i < ROWS; i++)
            sparse_read(TEST_BACKEND, got + i * row, big + i * ld * (int64_t)size, row);
        CHECK(memcmp(got, a, row * ROWS) == 0, "to past 2^32, %zu bytes", size);
    }
    sparse_free(TEST_BACKEND, big, bytes);
    sparse_free(TEST_BACKEND, small, row * ROWS);
}

int main(void)
{
    rng_t rng = {3000};
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 3)) != NULL) {
        shapes(ctx, test_quick() ? 5 : *arch ? 30 : 80, &rng);
        if (TEST_BACKEND == TILEMM_BACKEND_CPU && !test_quick())
            large(ctx, &rng);
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            around(ctx, test_quick() ? 60 : 400, &rng);
        batches(ctx, test_quick() ? 20 : 100, &rng);
        narrow(ctx, test_quick() ? 21 : 105, &rng);
        scaled(ctx, test_quick() ? 20 : 80, &rng);
        for (int i = 0; i < 3; i++)
            far_apart(ctx, sizes[i], &rng);
    }
    if (TEST_BACKEND == TILEMM_BACKEND_CUDA)
        forced(test_quick() ? 20 : 120, &rng);
    operand_free(&source);
    operand_free(&result);
    return check_exit();
}
