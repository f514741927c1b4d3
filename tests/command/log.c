/* log.c - TILEMM_LOG=1 prints each call as a `tilemm bench` command line on standard error;
 * without it nothing is printed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

static float a[64], b[64], c[64], result[16];
static int64_t indices[16];
static const int64_t offsets[] = {0, 3, 3, 10};

/* Every operation once, and what its line must contain. */
static const char *const said[][3] = {
    {"gemm", "2x3x4", "--beta 0.5"},   {"gemm", "2x3x4", "--batch 2"},
    {"gemm", "2x3x4", "--batch 1"},    {"transpose", "2x3", "--elem-size 8"},
    {"transpose", "2x3", "--batch 2"}, {"transpose", "2x3", "--in-place"},
    {"transpose", "2x3", "--alpha"},   {"transpose", "2x3", "--in-place"},
    {"reduce", "sum", "20"},           {"reduce", "asum", "20"},
    {"reduce", "nrm2", "20"},          {"reduce", "max", "20"},
    {"reduce", "min", "20"},           {"reduce", "dot", "20"},
    {"reduce", "amax", "20"},          {"reduce", "amin", "20"},
    {"reduce", "max", "20"},           {"reduce", "min", "20"},
    {"reduce", "mean", "4x5"},         {"reduce", "amin", "4x5"},
    {"reduce", "sumsq", "3"}};
enum { CALLS = sizeof(said) / sizeof(said[0]) };

static void calls(tilemm_t ctx)
{
    const float *const pa[] = {a}, *const pb[] = {b};
    float *const pc[] = {c};
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS;
#define DO(call) CHECK((call) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx))
    DO(tilemm_sgemm(ctx, row, no, no, 2, 3, 4, 1, a, 4, b, 3, 0.5f, c, 3));
    DO(tilemm_sgemm_strided_batched(ctx, row, no, no, 2, 3, 4, 1, a, 4, 8, b, 3, 12, 0, c, 3, 6,
                                    2));
    DO(tilemm_sgemm_batched(ctx, row, no, no, 2, 3, 4, 1, pa, 4, pb, 3, 0, pc, 3, 1));
    DO(tilemm_transpose(ctx, 2, 3, 8, a, 3, c, 2));
    DO(tilemm_transpose_strided_batched(ctx, 2, 3, 4, a, 3, 6, c, 2, 6, 2));
    DO(tilemm_transpose_inplace(ctx, 2, 3, 4, c, 3, 2));
    DO(tilemm_somatcopy(ctx, row, TILEMM_TRANS, 2, 3, 2, a, 3, c, 2));
    DO(tilemm_simatcopy(ctx, row, TILEMM_TRANS, 2, 3, 2, c, 3, 2));
    DO(tilemm_ssum(ctx, 20, a, 1, result));
    DO(tilemm_sasum(ctx, 20, a, 1, result));
    DO(tilemm_snrm2(ctx, 20, a, 1, result));
    DO(tilemm_smax(ctx, 20, a, 1, result));
    DO(tilemm_smin(ctx, 20, a, 1, result));
    DO(tilemm_sdot(ctx, 20, a, 1, b, 1, result));
    DO(tilemm_isamax(ctx, 20, a, 1, indices));
    DO(tilemm_isamin(ctx, 20, a, 1, indices));
    DO(tilemm_ismax(ctx, 20, a, 1, indices));
    DO(tilemm_ismin(ctx, 20, a, 1, indices));
    DO(tilemm_sreduce(ctx, TILEMM_MEAN, TILEMM_AXIS_ROWS, row, 4, 5, a, 5, result, 1));
    DO(tilemm_sargreduce(ctx, TILEMM_AMIN, TILEMM_AXIS_COLS, row, 4, 5, a, 5, result, 1, indices));
    DO(tilemm_sreduce_segments(ctx, TILEMM_SUMSQ, 3, a, offsets, result));
#undef DO
}

/* The calls' output on standard error, with TILEMM_LOG = value. */
static FILE *capture(const char *value)
{
    FILE *file = tmpfile();
    const int before = dup(2);
    if (!file || before < 0) {
        fprintf(stderr, "no temporary file\n");
        exit(1);
    }
    if (value)
        setenv("TILEMM_LOG", value, 1);
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    unsetenv("TILEMM_LOG");
    fflush(stderr);
    dup2(fileno(file), 2);
    calls(ctx);
    tilemm_destroy(ctx);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(file);
    return file;
}

int main(void)
{
    char line[1024];
    int count = 0;
    test_begin(TILEMM_BACKEND_CPU);
    FILE *file = capture("1");
    while (fgets(line, sizeof(line), file)) {
        CHECK(strncmp(line, "tilemm bench ", 13) == 0, "a line is \"%s\"", line);
        CHECK(line[strlen(line) - 1] == '\n', "a line without end: \"%s\"", line);
        if (count < CALLS) {
            CHECK(strncmp(line + 13, said[count][0], strlen(said[count][0])) == 0,
                  "call %d is \"%s\"", count, line);
            for (int i = 1; i < 3; i++)
                CHECK(strstr(line, said[count][i]), "\"%s\" is not in \"%s\"", said[count][i],
                      line);
        }
        count++;
    }
    CHECK(count == CALLS, "%d calls, %d lines", CALLS, count);
    fclose(file);
    for (int i = 0; i < 2; i++) {
        file = capture(i ? "0" : NULL);
        CHECK(!fgets(line, sizeof(line), file), "without TILEMM_LOG: \"%s\"", line);
        fclose(file);
    }
    return check_exit();
}
