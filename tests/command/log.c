/* log.c - TILEMM_LOG=1 prints each call as a `tilemm bench` command line on standard error;
 * without it nothing is printed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/api/refused.h"

/* What the line of each operation must contain. */
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

#define CHECK_DONE(call) CHECK_OK(ctx, call)

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
    EVERY_OPERATION(CHECK_DONE, ctx);
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
    memcpy(offsets, (const int64_t[]){0, 3, 3, 10}, 4 * sizeof *offsets);
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
