/* bench_run.c - what the verbs of `tilemm bench` share: the loop over sizes or a suite's rows, and
 * how one case is checked and measured.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"

void append_peer(const machine_t *machine, char *text, size_t size)
{
    if (machine->blas || machine->cublas)
        append(text, size, ", against %s",
               machine->blas ? machine->blas->name : machine->cublas->name);
}

contender_t *add_contender(bench_problem_t *p, const char *name,
                           int (*run)(const machine_t *machine, void *problem))
{
    contender_t *added = &p->contenders[p->count++];
    *added = (contender_t){.name = name, .run = run, .norm_error = (double)NAN};
    return added;
}

int fit_int(const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] > INT_MAX || values[i] < 1)
            return 0;
    return 1;
}

/* Check each contender's result, then measure all. */
static int run_problem(const bench_work_t *work, const machine_t *machine, bench_problem_t *p,
                       report_t *report)
{
    const bench_case_t *which = &p->which;
    int failed = 0;
    report_progress(report, "%s %s: data", which->verb, which->size);
    if (buffers_open(machine, p->buffers, work->buffers) != 0 || work->fill(machine, p) != 0)
        return EXIT_FAILED;
    work->add_contenders(machine, p);
    report_progress(report, "%s %s: errors", which->verb, which->size);
    for (int i = 0; !failed && i < p->count; i++)
        failed = work->check(machine, &p->contenders[i], p);
    report_progress(report, "%s %s: times", which->verb, which->size);
    if (failed || measure(machine, p->contenders, p->count, p, p->options->reps) != 0)
        return EXIT_FAILED;
    if (work->adjust_goals)
        work->adjust_goals(machine, p);
    report_case(report, which, p->contenders, p->count);
    return EXIT_OK;
}

static int run_case(const bench_work_t *work, const machine_t *machine,
                    const bench_options_t *options, const bench_size_t *size, report_t *report)
{
    bench_problem_t p = {.options = options, .which = work->which};
    if (work->shape(&p, size) != 0)
        return command_error("%s: %s is too large", p.which.verb, p.which.size);
    const int status = run_problem(work, machine, &p, report);
    buffers_close(p.buffers);
    free(p.c_before);
    free(p.exact);
    return status;
}

/* The options with what a suite's row sets of them. */
static bench_options_t apply_row(const bench_options_t *options, const bench_row_t *row)
{
    bench_options_t one = *options;
    if (row->layout) { /* a product */
        one.math = row->math;
        one.layout = row->layout;
        one.trans = row->trans;
        one.data = row->data;
        one.stride[2] = row->by_pointers ? 0 : NOT_GIVEN;
    }
    one.batch = row->batch;
    one.elem_size = row->elem_size;
    one.in_place = row->in_place;
    one.op = row->op;
    one.axis = row->axis;
    one.arg = row->arg;
    one.segments = row->segments ? row->segments : -1;
    one.goal = row->goal;
    one.bytes_goal = row->bytes_goal;
    return one;
}

int bench_run(bench_verb_t verb, const machine_t *machine, const bench_options_t *options,
              report_t *report)
{
    static const bench_work_t *const verbs[] = {[BENCH_GEMM] = &bench_gemm,
                                                [BENCH_TRANSPOSE] = &bench_transpose,
                                                [BENCH_REDUCE] = &bench_reduce};
    const bench_work_t *work = verbs[verb];
    const bench_row_t *rows = NULL;
    int count = options->size_count, status = EXIT_OK;
    char title[320] = "";
    if (options->suite) {
        rows = bench_suite(verb, options->suite, &count);
        append(title, sizeof title, "%s, suite %s", work->suite_title, options->suite);
        if (verb != BENCH_REDUCE) /* which has a peer for each operation */
            append_peer(machine, title, sizeof title);
    } else {
        work->title(machine, options, title, sizeof title);
    }
    report_table(report, machine, title);
    for (int i = 0; status == EXIT_OK && i < count; i++) {
        const bench_options_t one = rows ? apply_row(options, &rows[i]) : *options;
        if (rows && verb == BENCH_GEMM &&
            check_ours(machine, tilemm_set_math(machine->ctx, (tilemm_math_t)one.math)) != 0)
            return EXIT_FAILED;
        status = run_case(work, machine, &one, rows ? &rows[i].size : &options->sizes[i], report);
    }
    return status;
}
