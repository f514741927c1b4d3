/* bench_measure.c - how `tilemm bench` measures: contenders in turns, on the clock that fits.
 *
 * On the CPU by CLOCK_MONOTONIC: a sample has enough runs to take some milliseconds, and begins
 * with a pause, in which the peer's idle threads stop spinning, and a warm-up. On a GPU by events
 * on the stream: short runs are captured in a graph, several to a graph, so that the time is the
 * device's and not that of launching.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "gpu.h"
#include "quantile.h"

static const double cpu_sample_seconds = 5e-3, gpu_sample_seconds = 2e-3;
static const double warm_up_seconds = 1e-3, gpu_warm_up_seconds = 50e-3;
static const double graph_below_seconds = 200e-6, graph_seconds = 500e-6;
static const double progress_seconds = 0.2;
static const double seconds_each = 0.4; /* for all samples of a contender, unless reps says more */
enum { MIN_REPS = 5, MIN_REPS_LONG = 3, MAX_REPS = 31, MAX_GRAPH_RUNS = 64, MAX_RUNS = 1 << 20 };

/* How a sample of a contender is taken. */
typedef struct {
    void *graph; /* NULL: plain calls */
    int64_t runs_in_graph;
    int64_t times;   /* calls, or launches of the graph, in a sample */
    int64_t warm_up; /* calls before it, on the CPU */
    double seconds;  /* a sample, about */
    double *samples;
} plan_t;

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int repeat(const machine_t *machine, const contender_t *contender, void *problem,
                  const plan_t *plan, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        if (plan->graph ? check_peer("a graph", gpu_graph_launch(plan->graph, machine->stream))
                        : contender->run(machine, problem))
            return -1;
    return 0;
}

/* Seconds a run, or -1. */
static double sample(const machine_t *machine, const contender_t *contender, void *problem,
                     const plan_t *plan)
{
    const double runs = (double)plan->times * (double)plan->runs_in_graph;
    float milliseconds;
    if (contender->restore && contender->restore(machine, problem) != 0)
        return -1;
    if (!machine->on_gpu || contender->waits) {
        /* Idle threads, of OpenBLAS too as reference.c sets it, stop spinning sooner. */
        if (!machine->on_gpu)
            nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        if (repeat(machine, contender, problem, plan, plan->warm_up) != 0)
            return -1;
        const double begin = seconds_now();
        if (repeat(machine, contender, problem, plan, plan->times) != 0)
            return -1;
        return (seconds_now() - begin) / runs;
    }
    if (check_peer("the device", gpu_event_record(machine->start, machine->stream)) != 0 ||
        repeat(machine, contender, problem, plan, plan->times) != 0 ||
        check_peer("the device", gpu_event_record(machine->end, machine->stream)) != 0 ||
        check_peer("the device", gpu_event_synchronize(machine->end)) != 0 ||
        check_peer("the device", gpu_event_elapsed(&milliseconds, machine->start, machine->end)) !=
            0)
        return -1;
    return milliseconds * 1e-3 / runs;
}

/* Capture `runs` runs; no graph where the work cannot be captured. */
static void *capture(const machine_t *machine, const contender_t *contender, void *problem,
                     int64_t runs)
{
    int failed = 0;
    if (gpu_capture_begin(machine->stream) != 0)
        return NULL;
    for (int64_t i = 0; !failed && i < runs; i++)
        failed = contender->run(machine, problem) != 0;
    void *graph = gpu_capture_end(machine->stream);
    if (!failed)
        return graph;
    gpu_graph_destroy(graph);
    return NULL;
}

/* Decide on runs for a sample. Returns seconds a sample, or -1. */
static double plan_times(const machine_t *machine, const contender_t *contender, void *problem,
                         plan_t *plan)
{
    const double wanted = machine->on_gpu ? gpu_sample_seconds : cpu_sample_seconds;
    double seconds = HUGE_VAL;
    *plan = (plan_t){.runs_in_graph = 1, .times = 1};
    for (int i = 0; i < 3 && (i == 0 || seconds * i < 1); i++) {
        const double once = sample(machine, contender, problem, plan);
        if (once < 0)
            return -1;
        seconds = fmin(seconds, once);
    }
    if (contender->restore)
        return seconds;
    if (machine->on_gpu && !contender->waits && seconds < graph_below_seconds) {
        plan->runs_in_graph = tilemm__clamp(graph_seconds / seconds, 1, MAX_GRAPH_RUNS);
        plan->graph = capture(machine, contender, problem, plan->runs_in_graph);
        if (!plan->graph)
            plan->runs_in_graph = 1;
    }
    const double once = sample(machine, contender, problem, plan) * (double)plan->runs_in_graph;
    if (once < 0)
        return -1;
    plan->times = tilemm__clamp(ceil(wanted / once), 1, MAX_RUNS);
    plan->warm_up = tilemm__clamp(warm_up_seconds / once, 0, plan->times);
    return once * (double)plan->times;
}

static int take_samples(const machine_t *machine, contender_t *contenders, int count, void *problem,
                        plan_t *plans, int reps, const progress_t *progress)
{
    double told = seconds_now(), once = 0, done = 0;
    for (int i = 0; i < count; i++)
        once += plans[i].seconds;
    for (int r = 0; r < reps; r++)
        for (int i = 0; i < count; i++) {
            if (contenders[i].bound > 0)
                continue;
            /* Seldom enough to disturb nothing. */
            if (progress && seconds_now() - told >= progress_seconds) {
                progress->tell(progress->user, done / (once * reps));
                told = seconds_now();
            }
            plans[i].samples[r] = sample(machine, &contenders[i], problem, &plans[i]);
            if (plans[i].samples[r] < 0)
                return -1;
            done += plans[i].seconds;
        }
    for (int i = 0; i < count; i++) {
        contenders[i].q1 = contenders[i].median = contenders[i].q3 = contenders[i].bound;
        if (contenders[i].bound > 0)
            continue;
        sort_samples(plans[i].samples, reps);
        contenders[i].reps = reps;
        contenders[i].median = quantile(plans[i].samples, reps, 0.5);
        contenders[i].q1 = quantile(plans[i].samples, reps, 0.25);
        contenders[i].q3 = quantile(plans[i].samples, reps, 0.75);
    }
    return 0;
}

int measure(const machine_t *machine, contender_t *contenders, int count, void *problem,
            int64_t reps, const progress_t *progress)
{
    plan_t plans[MAX_CONTENDERS] = {{0}};
    double longest = 0;
    int result = 0;
    for (int i = 0; !result && i < count; i++) {
        if (contenders[i].bound > 0)
            continue;
        plans[i].seconds = plan_times(machine, &contenders[i], problem, &plans[i]);
        longest = fmax(longest, plans[i].seconds);
        result = plans[i].seconds < 0 ? -1 : 0;
    }
    if (!reps)
        reps = tilemm__clamp(seconds_each / longest, longest > 0.5 ? MIN_REPS_LONG : MIN_REPS,
                             MAX_REPS);
    for (int i = 0; !result && i < count; i++) {
        plans[i].samples = calloc((size_t)reps, sizeof(double));
        if (!plans[i].samples)
            result = -1 - command_error("no memory for %lld samples", (long long)reps);
    }
    if (machine->on_gpu) /* work until an idle GPU has raised its clocks */
        for (const double end = seconds_now() + gpu_warm_up_seconds;
             !result && seconds_now() < end;)
            result = sample(machine, &contenders[0], problem, &plans[0]) < 0 ? -1 : 0;
    if (!result)
        result = take_samples(machine, contenders, count, problem, plans, (int)reps, progress);
    for (int i = 0; i < count; i++) {
        free(plans[i].samples);
        gpu_graph_destroy(plans[i].graph);
    }
    return result;
}

static void print_line(const char *line, void *user)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

int run_once(const machine_t *machine, contender_t *contender, void *problem)
{
    contender->kernel[0] = '\0';
    tilemm_set_log(machine->ctx, machine->log ? print_line : NULL, NULL);
    const int failed = contender->run(machine, problem);
    tilemm_set_log(machine->ctx, NULL, NULL);
    if (failed)
        return -1;
    if (strcmp(contender->name, "tilemm") == 0 || strcmp(contender->name, "default") == 0)
        snprintf(contender->kernel, sizeof contender->kernel, "%s",
                 tilemm_last_kernel(machine->ctx));
    return machine->on_gpu ? check_peer("the device", gpu_stream_synchronize(machine->stream)) : 0;
}
