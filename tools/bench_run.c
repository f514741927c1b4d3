/* bench_run.c - what the verbs of `tilemm bench` share: the loop over sizes or a suite's rows, and
 * how one case is checked and measured.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

void bench_against(const machine_t *machine, char *text, size_t size)
{
    const char *peer = machine->blas     ? machine->blas->name
                       : machine->cublas ? machine->cublas->name
                                         : NULL;

    snprintf(text, size, "%s%s", peer ? ", against " : "", peer ? peer : "");
}

int bench_too_large(const char *verb, const char *size)
{
    return command_error("%s: %s is too large", verb, size);
}

int fit_int(const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] > INT_MAX || values[i] < 1)
            return 0;
    return 1;
}

int bench_measure(const machine_t *machine, const bench_options_t *options,
                  const bench_case_t *which, contender_t *contenders, int count,
                  int (*check)(const machine_t *machine, contender_t *contender, void *problem),
                  void *problem, report_t *report)
{
    int failed = 0;

    report_progress(report, "%s %s: errors", which->verb, which->size);
    for (int i = 0; !failed && i < count; i++)
        failed = check(machine, &contenders[i], problem);
    report_progress(report, "%s %s: times", which->verb, which->size);
    return failed || measure(machine, contenders, count, problem, options->reps) != 0 ? EXIT_FAILED
                                                                                      : EXIT_OK;
}

/* The options with what a suite's row sets of them. */
static bench_options_t apply_row(const bench_options_t *options, const bench_row_t *row)
{
    bench_options_t one = *options;

    if (row->layout) { /* a product */
        one.math = row->math;
        one.layout = row->layout;
        one.trans = row->trans;
        one.stride_c = row->by_pointers ? 0 : NOT_GIVEN;
    }
    one.batch = row->batch ? row->batch : 1;
    one.elem_size = row->elem_size;
    one.in_place = row->in_place;
    one.op = (int)row->op;
    one.axis = row->axis;
    one.arg = row->arg;
    one.segments = row->segments ? row->segments : -1;
    one.goal = row->goal;
    one.copy_goal = row->copy_goal;
    return one;
}

int bench_run(bench_verb_t verb, const machine_t *machine, const bench_options_t *options,
              report_t *report)
{
    static const struct {
        const char *suite_title;
        void (*title)(const machine_t *machine, const bench_options_t *options, char *title,
                      size_t size);
        int (*run)(const machine_t *machine, const bench_options_t *options,
                   const bench_size_t *size, report_t *report);
    } verbs[] = {
        [BENCH_GEMM] = {"SGEMM", bench_gemm_title, bench_gemm},
        [BENCH_TRANSPOSE] = {"transpose", bench_transpose_title, bench_transpose},
        [BENCH_REDUCE] = {"reductions", bench_reduce_title, bench_reduce},
    };
    const bench_row_t *rows = NULL;
    int count = options->size_count, status = EXIT_OK;
    char title[320], against[128] = "";

    if (options->suite) {
        rows = bench_suite(verb, options->suite, &count);
        if (verb != BENCH_REDUCE) /* which has a peer for each operation */
            bench_against(machine, against, sizeof against);
        snprintf(title, sizeof title, "%s, suite %s%s", verbs[verb].suite_title, options->suite,
                 against);
    } else {
        verbs[verb].title(machine, options, title, sizeof title);
    }
    report_table(report, machine, "%s", title);
    for (int i = 0; status == EXIT_OK && i < count; i++) {
        const bench_options_t one = rows ? apply_row(options, &rows[i]) : *options;

        if (rows && verb == BENCH_GEMM &&
            check_ours(machine, tilemm_set_math(machine->ctx, (tilemm_math_t)one.math)) != 0)
            return EXIT_FAILED;
        status = verbs[verb].run(machine, &one, rows ? &rows[i].size : &options->sizes[i], report);
    }
    return status;
}
