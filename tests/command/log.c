/* log.c - TILEMM_LOG=1 prints each call as a `tilemm bench` command line on standard error; a
 * function that was set takes these lines; without either nothing is printed.
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

/* Lines that a function has taken. */
typedef struct {
    char text[CALLS][512];
    int count;
} taken_t;

static void take(const char *line, void *user)
{
    taken_t *taken = user;
    if (taken->count < CALLS)
        snprintf(taken->text[taken->count], sizeof taken->text[0], "%s", line);
    taken->count++;
}

/* Line number `call`, without its end. */
static void check_line(const char *line, int call)
{
    CHECK(strncmp(line, "tilemm bench ", 13) == 0, "a line is \"%s\"", line);
    CHECK(!strchr(line, '\n'), "two lines are one: \"%s\"", line);
    if (call >= CALLS)
        return;
    CHECK(strncmp(line + 13, said[call][0], strlen(said[call][0])) == 0, "call %d is \"%s\"", call,
          line);
    for (int i = 1; i < 3; i++)
        CHECK(strstr(line, said[call][i]), "\"%s\" is not in \"%s\"", said[call][i], line);
    CHECK(strstr(line, " --backend cpu"), "\"%s\" names no backend", line);
}

/* The calls' output on standard error, with TILEMM_LOG = value, and lines to `taken` if it is not
 * NULL; calls that are refused are not logged. */
static FILE *capture(const char *value, taken_t *taken)
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
    if (taken)
        CHECK_OK(ctx, tilemm_set_log(ctx, take, taken));
    EVERY_OPERATION(CHECK_DONE, ctx);
    CHECK(tilemm_ssum(ctx, -1, x, 1, result) == TILEMM_INVALID_ARGUMENT, "n = -1");
    tilemm_destroy(ctx);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(file);
    return file;
}

/* How many lines standard error has, each as it must be. */
static int count_lines(FILE *file)
{
    char line[1024];
    int count = 0;
    while (fgets(line, sizeof(line), file)) {
        char *end = strchr(line, '\n');
        CHECK(end, "a line without end: \"%s\"", line);
        if (end)
            *end = '\0';
        check_line(line, count++);
    }
    fclose(file);
    return count;
}

/* Another function, NULL, and the same one again, from one call to the next. */
static void changes(void)
{
    static taken_t first, second;
    float sum;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    taken_t *const to[] = {&first, NULL, &second, &first, NULL};
    for (int i = 0; i < 5; i++) {
        CHECK_OK(ctx, tilemm_set_log(ctx, to[i] ? take : NULL, to[i]));
        CHECK_OK(ctx, tilemm_ssum(ctx, 20, x, 1, &sum));
    }
    CHECK(first.count == 2 && second.count == 1, "%d and %d lines, must be 2 and 1", first.count,
          second.count);
    CHECK(tilemm_set_log(NULL, take, &first) == TILEMM_INVALID_ARGUMENT, "a NULL context");
    tilemm_destroy(ctx);
}

int main(void)
{
    static const char *const values[] = {NULL, "0", "1"};
    test_begin(TILEMM_BACKEND_CPU);
    memcpy(offsets, (const int64_t[]){0, 3, 3, 10}, 4 * sizeof *offsets);
    for (int i = 0; i < 3; i++) {
        static taken_t taken;
        const int printed = count_lines(capture(values[i], NULL));
        CHECK(printed == (i == 2 ? CALLS : 0), "TILEMM_LOG=%s: %d calls, %d lines",
              values[i] ? values[i] : "", CALLS, printed);
        taken.count = 0;
        CHECK(count_lines(capture(values[i], &taken)) == 0, "printed in spite of a function");
        CHECK(taken.count == CALLS, "%d calls, %d lines to the function", CALLS, taken.count);
        for (int call = 0; call < CALLS; call++)
            check_line(taken.text[call], call);
    }
    changes();
    return check_exit();
}
