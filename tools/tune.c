/* tune.c - how `tilemm tune` finds the constants of the CPU's plans: two contexts, each with
 * another value of a constant, do the same work in turns, and the faster one goes on to the next
 * value.
 *
 * A constant from which something pays is asked with a problem between the two values, on which
 * they decide differently; others with some usual problems. A context reads its value from a file,
 * as any program would.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fileno, ftruncate */
#endif
#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum {
    REPS = 11,
    MOST_SIZES = 4,
    LONG_LD = 520, /* beyond it no product is taken for small, which has no threads */
    SEGMENT = 48   /* elements; a segment costs as much as 16 more */
};
/* How much faster another value must be. */
static const double clearly = 1.03;

typedef enum { PRODUCT, VECTOR, TRANSPOSE, SUM, SEGMENTS } work_t;

typedef enum { ALWAYS, WITH_THREADS, WITH_AMX, WITH_AMX_THREADS } needs_t;

static const struct {
    work_t work;
    needs_t needs;
    int fp32;    /* of products: not strict */
    double step; /* from a value to the next */
    int most;    /* steps up; down there are three */
    double per;  /* plans decide otherwise from `per` times the value of work on; or 0 */
    int64_t sizes[MOST_SIZES]; /* where it is 0: of the problems */
} constants[TUNE_COUNT] = {
    [TUNE_sgemm_thread_work] = {PRODUCT, WITH_THREADS, .step = 2, .most = 4, .per = 2},
    [TUNE_sgemm_vector_work] = {VECTOR, WITH_THREADS, .step = 2, .most = 4, .per = 2},
    [TUNE_sgemm_a_bytes] = {PRODUCT, ALWAYS, .step = 4 / 3.0, .most = 2, .sizes = {512, 1000}},
    [TUNE_sgemm_parts] = {PRODUCT, WITH_THREADS, .step = 2, .most = 2, .sizes = {256, 384, 768}},
    [TUNE_sgemm_shared_work] = {PRODUCT, WITH_THREADS, .step = 4, .most = 3,
                                .sizes = {512, 1000, 1500}},
    [TUNE_amx_percent] = {PRODUCT, WITH_AMX, 1, 1.25, 4, .sizes = {48, 64, 96, 128}},
    /* A step that is small would change no plan. */
    [TUNE_amx_team_percent] = {PRODUCT, WITH_AMX_THREADS, 1, 4, 1, .sizes = {256, 512, 1024, 1536}},
    [TUNE_amx_thread_cycles] = {PRODUCT, WITH_AMX_THREADS, 1, 2, 4, .sizes = {128, 192, 256}},
    [TUNE_transpose_thread_bytes] = {TRANSPOSE, WITH_THREADS, .step = 2, .most = 4, .per = 2},
    [TUNE_transpose_far_bytes] = {TRANSPOSE, ALWAYS, .step = 2, .most = 2, .per = 1},
    [TUNE_transpose_block_bytes] = {TRANSPOSE, ALWAYS, .step = 2, .most = 2, .sizes = {2512, 4096}},
    [TUNE_reduce_thread_elements] = {SUM, WITH_THREADS, .step = 2, .most = 4, .per = 1},
    [TUNE_segments_thread_elements] = {SEGMENTS, WITH_THREADS, .step = 2, .most = 4, .per = 1},
};

static const struct {
    const char *name;
    int64_t least, most;
} bounds[TUNE_COUNT] = {
#define CONSTANT(name, least, most) {#name, least, most},
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
};

/* What is being tuned. */
typedef struct {
    const char *built_in;
    tuned_t *tuned;
    FILE *file;    /* of the context that is being created */
    char path[64]; /* its name */
    double begin, seconds;
    int processors; /* that a context uses */
    int has_amx;
    int out_of_time;
} tune_t;

/* The same work for two contexts. */
typedef struct {
    tilemm_t ctx[2];
    work_t work;
    int64_t n;
    float *in[2], *out;
    int64_t *offsets;
} problem_t;

/* ---- the text ----------------------------------------------------------------------------- */

/* The number of a constant in a text, or -1. */
static int64_t number_in(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoll(line + length, NULL, 10);
    }
    return -1;
}

void tune_text(const char *built_in, const tuned_t tuned[TUNE_COUNT],
               char text[TILEMM__TUNING_WRITTEN])
{
    enum { SIZE = TILEMM__TUNING_WRITTEN };
    *text = '\0';
    for (const char *line = built_in; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n"), word = strcspn(line, " \n");
        int i = 0;
        while (i < TUNE_COUNT &&
               (strlen(tuned[i].name) != word || memcmp(line, tuned[i].name, word)))
            i++;
        if (i < TUNE_COUNT)
            append(text, SIZE, "%s %lld\n", tuned[i].name, (long long)tuned[i].after);
        else if (*line == '#')
            append(text, SIZE, "# by 'tilemm tune'; without a line its constant is as built in\n");
        else
            append(text, SIZE, "%.*s\n", (int)length, line);
        if (!line[length])
            break;
    }
}

/* ---- a measurement ------------------------------------------------------------------------ */

static tilemm_status_t work(tilemm_t ctx, const problem_t *p)
{
    const int64_t n = p->n, ld = tilemm__max(n, LONG_LD);
    switch (p->work) {
    case PRODUCT:
        return tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, n, 1,
                            p->in[0], ld, p->in[1], ld, 0, p->out, ld);
    case VECTOR:
        return tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 1, n, n, 1,
                            p->in[0], n, p->in[1], n, 0, p->out, n);
    case TRANSPOSE: return tilemm_transpose(ctx, n, n, sizeof(float), p->in[0], n, p->out, n);
    case SUM: return tilemm_ssum(ctx, n, p->in[0], 1, p->out);
    default: return tilemm_sreduce_segments(ctx, TILEMM_SUM, n, p->in[0], p->offsets, p->out);
    }
}

static int run(const machine_t *machine, const problem_t *p, int which)
{
    machine_t at;
    const tilemm_status_t status = work(p->ctx[which], p);
    if (status == TILEMM_SUCCESS)
        return 0;
    at = *machine;
    at.ctx = p->ctx[which];
    return check_ours(&at, status);
}

static int run_first(const machine_t *machine, void *problem)
{
    return run(machine, problem, 0);
}

static int run_second(const machine_t *machine, void *problem)
{
    return run(machine, problem, 1);
}

/* The side, or the length, of a problem of so much work, as its plan counts it. */
static int64_t size_of(work_t work, double amount)
{
    const double side = work == PRODUCT     ? cbrt(amount)
                        : work == VECTOR    ? sqrt(amount)
                        : work == TRANSPOSE ? sqrt(amount / (2 * sizeof(float)))
                        : work == SUM       ? amount
                                            : amount / (SEGMENT + 16);
    int64_t n = (int64_t)side;
    /* Rows that are aligned, and do not all share the same sets of the caches. */
    if (work == TRANSPOSE)
        n = n / 16 * 16 + (n / 16 % 16 == 0 ? 16 : 0);
    return tilemm__max(n, 1);
}

static void close_problem(problem_t *p)
{
    for (int i = 0; i < 2; i++) {
        tilemm_destroy(p->ctx[i]);
        free(p->in[i]);
    }
    free(p->out);
    free(p->offsets);
}

static float *numbers(int64_t count)
{
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; x && i < count; i++)
        x[i] = 0.25f * (float)(i % 31) - 3;
    return x;
}

/* Operands; 0, or -1 with a message. */
static int open_problem(problem_t *p)
{
    const int64_t n = p->n, ld = p->work == PRODUCT ? tilemm__max(n, LONG_LD) : n;
    const int64_t count = p->work == SUM ? n : p->work == SEGMENTS ? n * SEGMENT : n * ld;
    const int two = p->work == PRODUCT || p->work == VECTOR;
    p->in[0] = numbers(count);
    p->in[1] = two ? numbers(count) : NULL;
    p->out = numbers(count);
    p->offsets = p->work == SEGMENTS ? malloc((size_t)(n + 1) * sizeof *p->offsets) : NULL;
    if (!p->in[0] || !p->out || (two && !p->in[1]) || (p->work == SEGMENTS && !p->offsets))
        return -command_error("no memory for a problem of %lld", (long long)n);
    for (int64_t i = 0; p->offsets && i <= n; i++)
        p->offsets[i] = i * SEGMENT;
    return 0;
}

/* A context in which a constant has this value, and the others what was found. */
static tilemm_t context_with(tune_t *at, int which, int64_t value)
{
    char text[TILEMM__TUNING_WRITTEN];
    tilemm_t ctx = NULL;
    const int64_t found = at->tuned[which].after;
    at->tuned[which].after = value;
    tune_text(at->built_in, at->tuned, text);
    at->tuned[which].after = found;
    rewind(at->file);
    if (fputs(text, at->file) < 0 || fflush(at->file) != 0 ||
        ftruncate(fileno(at->file), (off_t)strlen(text)) != 0)
        command_error("a temporary file cannot be written");
    else if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        command_error("%s", tilemm_create_error());
    else if (constants[which].needs == WITH_THREADS && constants[which].per > 0)
        tilemm_set_threads(ctx, 2); /* where two begin to pay */
    else if (constants[which].work == TRANSPOSE)
        tilemm_set_threads(ctx, 1); /* plans make allowance for more */
    tilemm_set_math(ctx, constants[which].fp32 ? TILEMM_MATH_FP32 : TILEMM_MATH_FP32_STRICT);
    return ctx;
}

/* Whether there is time to measure a problem; -1 with a message. */
static int has_time(const tune_t *at, const machine_t *machine, problem_t *p)
{
    enum { SAMPLES = 2 * (REPS + 4) };
    if (run_first(machine, p) != 0) /* memory is there */
        return -1;
    const double begin = seconds_now();
    if (run_first(machine, p) != 0)
        return -1;
    const double end = seconds_now();
    return end - at->begin + SAMPLES * (5e-3 + fmax(5e-3, end - begin)) < at->seconds;
}

/* The time of a problem with the first value over that with the second, the lesser ratio of those
 * of medians and of lower quartiles, which other programs on the machine disturb less; 0 where
 * there is no time to measure it, -1 with a message. */
static double ratio_of(tune_t *at, int which, const int64_t values[2], int64_t n)
{
    const machine_t machine = {0};
    problem_t p = {.work = constants[which].work, .n = n};
    contender_t contenders[2] = {{.name = "tilemm", .run = run_first},
                                 {.name = "tilemm", .run = run_second}};
    double ratio = -1;
    for (int i = 0; i < 2; i++)
        p.ctx[i] = context_with(at, which, values[i]);
    if (p.ctx[0] && p.ctx[1] && open_problem(&p) == 0)
        ratio = has_time(at, &machine, &p);
    if (ratio > 0)
        ratio = measure(&machine, contenders, 2, &p, REPS, NULL) == 0
                    ? fmin(contenders[0].median / contenders[1].median,
                           contenders[0].q1 / contenders[1].q1)
                    : -1;
    close_problem(&p);
    return ratio;
}

/* The same of a problem between the two, on which they decide differently. Large transposes take
 * two such: rows that share few sets of the caches may want the other way. */
static double ratio_between(tune_t *at, int which, const int64_t values[2])
{
    enum { ALIASED = 256 }; /* floats of a row */
    const double per = constants[which].per;
    const double least = per * (double)tilemm__min(values[0], values[1]);
    const double most = per * (double)tilemm__max(values[0], values[1]);
    const work_t work = constants[which].work;
    const double ratio = ratio_of(at, which, values, size_of(work, sqrt(least * most)));
    const int64_t side = (int64_t)sqrt(most / (2 * sizeof(float))) / ALIASED * ALIASED;
    if (which != TUNE_transpose_far_bytes || ratio <= clearly ||
        2 * sizeof(float) * (double)(side * side) <= least)
        return ratio;
    const double aliased = ratio_of(at, which, values, side);
    return fmin(ratio, aliased);
}

/* How many times faster a constant's second value is than its first; as ratio_of. */
static double gain_of(tune_t *at, int which, int64_t first, int64_t second)
{
    const int64_t values[2] = {first, second};
    double logs = 0;
    int count = 0;
    if (constants[which].per > 0)
        return ratio_between(at, which, values);
    for (; count < MOST_SIZES && constants[which].sizes[count]; count++) {
        const double ratio = ratio_of(at, which, values, constants[which].sizes[count]);
        if (ratio <= 0)
            return ratio;
        logs += log(ratio);
    }
    return exp(logs / count);
}

/* ---- the constants ------------------------------------------------------------------------ */

/* Take another value, by the step or its inverse, as often as that is clearly faster in two
 * measurements. 0, or -1 with a message. */
static int climb(tune_t *at, int which, double step, int most)
{
    tuned_t *const tuned = &at->tuned[which];
    double logs = 0;
    int steps = 0;
    for (; steps < most && !at->out_of_time; steps++) {
        const int64_t next = tilemm__clamp(round((double)tuned->after * step), bounds[which].least,
                                           bounds[which].most);
        double gain = 0;
        if (next == tuned->after)
            break;
        for (int i = 0; i < 2 && (i == 0 || gain > clearly); i++) {
            const double once = gain_of(at, which, tuned->after, next);
            if (once < 0)
                return -1;
            at->out_of_time |= once == 0;
            gain = i == 0 ? once : fmin(gain, once);
        }
        if (gain <= clearly || at->out_of_time)
            break;
        tuned->after = next;
        logs += log(gain);
    }
    if (steps > 0)
        tuned->gain = exp(logs / (constants[which].per > 0 ? steps : 1));
    return 0;
}

/* Why a constant has no effect here, or NULL. */
static const char *why_not(const tune_t *at, int which)
{
    const needs_t needs = constants[which].needs;
    return needs >= WITH_AMX && !at->has_amx ? "needs AMX"
           : (needs == WITH_THREADS || needs == WITH_AMX_THREADS) && at->processors < 2
               ? "needs two threads"
               : NULL;
}

static int tune_all(tune_t *at)
{
    enum { STEPS_DOWN = 3 };
    const int on_terminal = isatty(STDERR_FILENO);
    int result = 0;
    for (int i = 0; i < TUNE_COUNT && result == 0; i++) {
        tuned_t *const tuned = &at->tuned[i];
        tuned->why = why_not(at, i);
        if (!tuned->why && at->out_of_time)
            tuned->why = "no time was left";
        if (tuned->why)
            continue;
        if (on_terminal) {
            fprintf(stderr, "\r\033[Kconstant %d of %d, %s, %.0f s", i + 1, (int)TUNE_COUNT,
                    tuned->name, seconds_now() - at->begin);
            fflush(stderr);
        }
        result = climb(at, i, 1 / constants[i].step, STEPS_DOWN);
        if (result == 0 && tuned->after == tuned->before)
            result = climb(at, i, constants[i].step, constants[i].most);
        if (at->out_of_time && tuned->after == tuned->before)
            tuned->why = "no time was left";
    }
    if (on_terminal)
        fputs("\r\033[K", stderr);
    return result;
}

int tune(const char *built_in, double seconds, tuned_t tuned[TUNE_COUNT])
{
    tune_t at = {.built_in = built_in, .tuned = tuned, .seconds = seconds, .begin = seconds_now()};
    tilemm_t ctx = NULL;
    for (int i = 0; i < TUNE_COUNT; i++) {
        const int64_t number = number_in(built_in, bounds[i].name);
        tuned[i] = (tuned_t){bounds[i].name, number, number, 1, NULL};
    }
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        return command_error("%s", tilemm_create_error());
    tilemm_get_threads(ctx, &at.processors);
    tilemm_destroy(ctx);
    at.has_amx = strstr(built_in, "\ninstruction-set amx\n") != NULL;
    at.file = tmpfile();
    if (!at.file)
        return command_error("no temporary file can be made");
    snprintf(at.path, sizeof at.path, "/proc/self/fd/%d", fileno(at.file));
    setenv("TILEMM_TUNING", at.path, 1);
    const int result = tune_all(&at);
    setenv("TILEMM_TUNING", "none", 1);
    fclose(at.file);
    return result == 0 ? 0 : EXIT_FAILED;
}
