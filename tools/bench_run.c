/* bench_run.c - what the verbs of `tilemm bench` share: the loop over sizes or a suite's rows, and
 * how one case is checked and measured.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "gpu.h"
#include "host.h"

void append_peer(const machine_t *machine, char *text, size_t size)
{
    if (machine->blas || machine->cublas)
        append(text, size, ", against %s",
               machine->blas ? machine->blas->name : machine->cublas->name);
}

int fit_int(const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] > INT_MAX || values[i] < 1)
            return 0;
    return 1;
}

typedef struct {
    report_t *report;
    const bench_case_t *which;
} told_t;

static void tell_share(void *user, double share)
{
    const told_t *told = user;
    report_progress(told->report, "%s %s: times, %.0f %%", told->which->verb, told->which->size,
                    100 * share);
}

static int add_contenders(const bench_work_t *work, const machine_t *machine, bench_problem_t *p,
                          report_t *report)
{
    bench_bound_t bound = {0};
    work->add_contenders(machine, p);
    if (!is_on_host(p->options->memory))
        return 0;
    for (int i = 0; i < p->count; i++)
        p->contenders[i].waits = 1;
    report_progress(report, "%s %s: bound", p->which.verb, p->which.size);
    return work->bound(machine, p, &bound) != 0 || bench_add_bound(machine, p, &bound) != 0 ? -1
                                                                                            : 0;
}

/* Check each contender's result, then measure all. */
static int run_problem(const bench_work_t *work, const machine_t *machine, bench_problem_t *p,
                       report_t *report)
{
    const bench_case_t *which = &p->which;
    const told_t told = {report, which};
    const progress_t progress = {tell_share, (void *)(uintptr_t)&told};
    int failed = 0;
    report_progress(report, "%s %s: data", which->verb, which->size);
    if (buffers_open(machine, p->buffers, work->buffers, p->options->memory) != 0 ||
        work->fill(machine, p) != 0 || add_contenders(work, machine, p, report) != 0)
        return EXIT_FAILED;
    report_progress(report, "%s %s: errors", which->verb, which->size);
    for (int i = 0; !failed && i < p->count; i++)
        failed = p->contenders[i].bound <= 0 && work->check(machine, &p->contenders[i], p) != 0;
    report_progress(report, "%s %s: times", which->verb, which->size);
    if (failed || measure(machine, p->contenders, p->count, p, p->options->reps, &progress) != 0)
        return EXIT_FAILED;
    if (work->adjust_goals)
        work->adjust_goals(machine, p);
    report_case(report, which, p->contenders, p->count);
    return p->options->timeline && bench_timeline(machine, p) != 0 ? EXIT_FAILED : EXIT_OK;
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
    if (row->memory) {
        one.memory = row->memory;
        one.device_memory = row->device_memory;
    }
    return one;
}

/* A row's size with the largest sizes halved until its operands fit in the host's memory, and its
 * limit of device memory, which is at most half of what is free. */
static bench_size_t fit_row(const bench_work_t *work, const bench_row_t *row, bench_options_t *one)
{
    bench_size_t size = row->size;
    size_t free_bytes, total;
    if (gpu_memory(&free_bytes, &total) == 0)
        one->device_memory = tilemm__min(one->device_memory, (int64_t)(free_bytes / 2));
    for (;;) {
        bench_problem_t p = {.options = one, .which = work->which};
        const int too_large = work->shape(&p, &size) != 0;
        double bytes = 0;
        int64_t largest = 0;
        for (int i = 0; i < work->buffers; i++)
            bytes += (double)p.buffers[i].bytes;
        for (int i = 0; i < size.dims; i++)
            largest = tilemm__max(largest, size.dim[i]);
        if ((!too_large && bytes <= 0.8 * (double)host_free_memory("")) || largest < 2)
            return size;
        for (int i = 0; i < 3; i++)
            size.dim[i] = size.dim[i] == largest ? largest / 2 : size.dim[i];
    }
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
        if (count && rows->memory && !machine->on_gpu)
            return command_error("the suite %s is for a GPU, and there is none to compute on",
                                 options->suite);
        append(title, sizeof title, "%s, suite %s", work->suite_title, options->suite);
        if (verb != BENCH_REDUCE) /* which has a peer for each operation */
            append_peer(machine, title, sizeof title);
    } else {
        work->title(machine, options, title, sizeof title);
    }
    report_table(report, machine, title);
    for (int i = 0; status == EXIT_OK && i < count; i++) {
        bench_options_t one = rows ? apply_row(options, &rows[i]) : *options;
        bench_size_t size = rows ? rows[i].size : options->sizes[i];
        if (rows && rows[i].memory)
            size = fit_row(work, &rows[i], &one);
        if (check_ours(machine,
                       tilemm_set_device_memory(machine->ctx, (size_t)one.device_memory)) != 0)
            return EXIT_FAILED;
        if (rows && verb == BENCH_GEMM &&
            check_ours(machine, tilemm_set_math(machine->ctx, (tilemm_math_t)one.math)) != 0)
            return EXIT_FAILED;
        status = run_case(work, machine, &one, &size, report);
    }
    return status;
}
