/* transpose_inplace.c - transposes and scaled copies in place, with leading dimensions that
 * change, and with as little workspace as can be: the new layout is right, and what belongs to
 * neither layout is untouched.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/support/archs.h"
#include "tests/support/support.h"

static operand_t matrix, workspace;
static size_t workspace_bytes; /* the user's, or 0 */
static int refused;            /* calls for which it was too small */
static const size_t sizes[] = {1, 2, 4, 8, 16};

/* Whether a workspace of the user's may be too small. On a GPU it is large enough if it holds the
 * matrix; or 64 KiB, 128 bytes for each element of the shorter side, and 1/64 of the matrix. */
static int may_be_too_small(int64_t rows, int64_t cols, size_t size)
{
    const int64_t bytes = rows * cols * (int64_t)size;
    const int64_t enough = 65536 + 128 * (rows < cols ? rows : cols) + bytes / 64;
    const int64_t aligned = (int64_t)workspace_bytes - 255; /* used from a multiple of 256 on */
    return TEST_BACKEND == TILEMM_BACKEND_CUDA && workspace_bytes > 0 && aligned < bytes &&
           aligned < enough;
}

/* Any of the operations: transpose_inplace on elements of `size` bytes (scaled == 0), or simatcopy.
 */
static void one(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans, int64_t rows, int64_t cols,
                size_t size, int scaled, float alpha, int64_t pad_in, int64_t pad_out, rng_t *rng)
{
    const int64_t out_rows = trans == TILEMM_TRANS ? cols : rows;
    const int64_t out_cols = trans == TILEMM_TRANS ? rows : cols;
    const int64_t ld_in = matrix_ld(layout, rows, cols) + pad_in;
    const int64_t ld_out = matrix_ld(layout, out_rows, out_cols) + pad_out;
    const int64_t span_in = matrix_span(layout, rows, cols, ld_in);
    const int64_t span_out = matrix_span(layout, out_rows, out_cols, ld_out);
    const int64_t span = span_in > span_out ? span_in : span_out;
    const size_t bytes = size * (size_t)span;
    int64_t wrong = 0;
    char text[256];
    place_anywhere(&matrix, size, span, rng);
    if (!scaled)
        rng_bytes(rng, matrix.image, bytes);
    else if (alpha != 0) /* else NaN, not to be read */
        matrix_fill(matrix.numbers, layout, rows, cols, ld_in, FAMILY_WIDE, rng);
    operand_send(&matrix);
    unsigned char *old = test_need(malloc(bytes + 1));
    memcpy(old, matrix.image, bytes);
    matrix_own(&matrix, size, 0, layout, rows, cols, ld_in);
    matrix_own(&matrix, size, 0, layout, out_rows, out_cols, ld_out);
    snprintf(text, sizeof(text),
             "TILEMM_ARCH=%s %s %s %lld x %lld of %zu bytes, ld %lld to %lld, alpha %g, %s, "
             "workspace %zu",
             arch, layout == TILEMM_ROW_MAJOR ? "row" : "col",
             trans == TILEMM_TRANS ? "TRANS" : "NO_TRANS", (long long)rows, (long long)cols, size,
             (long long)ld_in, (long long)ld_out, (double)alpha, place_name(matrix.place),
             workspace_bytes);
    const tilemm_status_t status =
        scaled
            ? tilemm_simatcopy(ctx, layout, trans, rows, cols, alpha, matrix.pointer, ld_in, ld_out)
            : tilemm_transpose_inplace(ctx, rows, cols, size, matrix.pointer, ld_in, ld_out);
    if (status == TILEMM_OUT_OF_MEMORY && may_be_too_small(rows, cols, size)) {
        CHECK(strstr(tilemm_last_error(ctx), "bytes of workspace are too few") != NULL, "%s: %s",
              text, tilemm_last_error(ctx));
        operand_fetch(&matrix);
        CHECK(memcmp(matrix.image, old, bytes) == 0, "%s: a failure changed the matrix", text);
        refused++;
        free(old);
        return;
    }
    check_call(ctx, status, matrix.place != PLACE_HOST, text);
    check_intact(&matrix, text, "bytes of neither layout");
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const unsigned char *from = old + (size_t)matrix_at(layout, i, j, ld_in) * size;
            const unsigned char *to =
                matrix.image + size * (size_t)(trans == TILEMM_TRANS
                                                   ? matrix_at(layout, j, i, ld_out)
                                                   : matrix_at(layout, i, j, ld_out));
            if (scaled) {
                float want;
                memcpy(&want, from, sizeof(want));
                want = alpha != 0 ? alpha * want : 0.0f;
                wrong += memcmp(&want, to, sizeof(want)) != 0;
            } else {
                wrong += memcmp(from, to, size) != 0;
            }
        }
    }
    CHECK(wrong == 0, "%s: %s: %lld elements wrong", text, tilemm_last_kernel(ctx),
          (long long)wrong);
    free(old);
}

static void plain(tilemm_t ctx, int64_t rows, int64_t cols, size_t size, int64_t pad_in,
                  int64_t pad_out, rng_t *rng)
{
    one(ctx, TILEMM_ROW_MAJOR, TILEMM_TRANS, rows, cols, size, 0, 1, pad_in, pad_out, rng);
}

static void sweep(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const float alphas[] = {1, -1, 2.5f, 0};
    static const int64_t fixed[][2] = {{0, 5},   {5, 0},     {1, 1},     {1, 300},   {300, 1},
                                       {3, 500}, {500, 3},   {31, 257},  {64, 64},   {65, 65},
                                       {33, 97}, {200, 200}, {128, 64},  {64, 128},  {100, 100},
                                       {2, 3},   {97, 101},  {1000, 37}, {37, 1000}, {513, 511}};
    for (int s = 0; s < 5; s++) {
        for (int f = 0; f < (int)(sizeof(fixed) / sizeof(fixed[0])); f++) {
            if (test_quick() && fixed[f][0] * fixed[f][1] > 10000)
                continue;
            plain(ctx, fixed[f][0], fixed[f][1], sizes[s], 0, 0, rng);
        }
        for (int round = 0; round < rounds; round++) {
            int64_t rows = rng_size(rng, 150), cols = rng_size(rng, 150);
            const int64_t pad = rng_range(rng, 0, 9);
            if (round % 3 == 0)
                cols = rows;
            plain(ctx, rows, cols, sizes[s], round % 2 * pad, round / 2 % 2 * rng_range(rng, 0, 9),
                  rng);
            if (rows == cols)
                plain(ctx, rows, cols, sizes[s], pad, pad, rng);
        }
    }
    for (int round = 0; round < rounds * 2; round++) {
        tilemm_layout_t layout = round & 1 ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR;
        tilemm_op_t trans = round & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        int64_t rows = rng_size(rng, 150), cols = round % 3 ? rng_size(rng, 150) : rows;
        one(ctx, layout, trans, rows, cols, 4, 1, alphas[round / 4 % 4], rng_range(rng, 0, 6),
            rng_range(rng, 0, 6), rng);
    }
}

static void lend_workspace(tilemm_t ctx, size_t bytes, int64_t offset)
{
    workspace_bytes = bytes;
    operand_prepare(&workspace, TEST_BACKEND == TILEMM_BACKEND_CUDA ? PLACE_DEVICE : PLACE_HOST,
                    bytes, offset);
    operand_send(&workspace);
    operand_own(&workspace, 0, bytes);
    CHECK_OK(ctx, tilemm_set_workspace(ctx, workspace.pointer, bytes));
}

static void take_back_workspace(tilemm_t ctx)
{
    CHECK_OK(ctx, tilemm_set_workspace(ctx, NULL, 0));
    check_intact(&workspace, "workspace", "bytes beside it");
    workspace_bytes = 0;
}

/* Workspaces of the user's from nothing worth naming upwards: too small for most shapes on a GPU,
 * and then nothing is written; the last one is large enough for all. */
static void little_workspace(tilemm_t ctx, int rounds, rng_t *rng)
{
    static const size_t bytes[] = {8, 1000, 20000, 50001, 160000};
    for (int b = 0; b < 5; b++) {
        lend_workspace(ctx, bytes[b], b & 1 ? -1 : 0);
        refused = 0;
        plain(ctx, 97, 101, 1, 0, 0, rng); /* rows of bytes that are not aligned */
        if (b == 0)
            CHECK(refused == (TEST_BACKEND == TILEMM_BACKEND_CUDA), "%zu bytes are enough",
                  bytes[b]);
        plain(ctx, 120, 45, 8, 3, 1, rng);
        plain(ctx, 45, 120, 16, 0, 7, rng);
        plain(ctx, 64, 64, 4, 0, 5, rng);
        sweep(ctx, rounds, rng);
        if (b == 0 && !test_quick()) { /* too many rows, or columns, for a bit each on a stack */
            plain(ctx, 140003, 3, 1, 0, 0, rng);
            plain(ctx, 3, 140003, 4, 0, 2, rng);
            plain(ctx, 140010, 6, 2, 1, 0, rng);
            plain(ctx, 9, 140010, 8, 0, 0, rng);
        }
        take_back_workspace(ctx);
    }
}

/* Shapes that are long enough for two passes over the matrix, with a workspace that does not hold
 * it: a fringe or none, aligned or not, cycles that are all short, and alpha. */
static void two_passes(tilemm_t ctx, rng_t *rng)
{
    lend_workspace(ctx, 300000, 0);
    for (int s = 0; s < 5; s++) {
        const int64_t height = 256 / (int64_t)sizes[s];
        const int64_t shapes[][2] = {{33 * height, 129},     {40 * height + 1, 128},
                                     {33 * height - 1, 203}, {64 * height, 192},
                                     {128 * height, 128},    {50 * height + height / 2, 131}};
        if (test_quick() && sizes[s] != 4)
            continue;
        for (int i = 0; i < (test_quick() ? 3 : 6); i++) {
            plain(ctx, shapes[i][0], shapes[i][1], sizes[s], 0, 0, rng);
            plain(ctx, shapes[i][1], shapes[i][0], sizes[s], 0, 0, rng);
        }
    }
    one(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, 131, 2500, 4, 1, 2.5f, 0, 0, rng);
    one(ctx, TILEMM_ROW_MAJOR, TILEMM_TRANS, 131, 2500, 4, 1, -1.0f, 0, 0, rng);
    take_back_workspace(ctx);
}

int main(void)
{
    rng_t rng = {4000};
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 3)) != NULL) {
        sweep(ctx, test_quick() ? 6 : 40, &rng);
        little_workspace(ctx, test_quick() ? 2 : 6, &rng);
        two_passes(ctx, &rng);
    }
    ctx = test_context(TEST_BACKEND, "");
    arch = "";
    for (int s = 2; s < 5; s++) { /* what GPUs hold in shared memory */
        const int64_t area = ((int64_t)5 << 20) / (int64_t)sizes[s], rows = 700 + s;
        plain(ctx, rows, area / rows, sizes[s], s % 2 * 3, 0, &rng);
        plain(ctx, area / rows, rows, sizes[s], 0, s % 2 * 5, &rng);
    }
    one(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, 1031, 1201, 4, 1, 2.5f, 0, 3, &rng);
    tilemm_destroy(ctx);
    if (!test_quick()) { /* larger than the caches */
        ctx = test_context(TEST_BACKEND, "");
        plain(ctx, 1500, 1100, 4, 0, 0, &rng);
        plain(ctx, 1100, 1500, 4, 8, 3, &rng);
        plain(ctx, 1536, 1536, 4, 0, 0, &rng);
        plain(ctx, 20000, 31, 4, 0, 0, &rng);
        plain(ctx, 31, 20000, 8, 0, 0, &rng);
        tilemm_destroy(ctx);
    }
    operand_free(&matrix);
    operand_free(&workspace);
    return check_exit();
}
