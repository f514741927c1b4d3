/* model_check.c - the model held to measurements: the processes that are here, by rates that are
 * measured before and between the products, beside the times that these take.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for sched_getaffinity */
#endif

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "model.h"

/* Seconds that each rate is measured, each time. */
static const double seconds_each = 0.1;
enum { SMALL = 256, LARGE = 1024, DEPTH = 256, BYTES = 1 << 21, MAX_CHECKS = 128 };

/* Seconds: the least of all. */
typedef struct {
    double small, large;           /* of products of panels */
    double message, bytes;         /* of broadcasts between two processes */
    double message_all, bytes_all; /* between all */
} times_t;
enum { TIMES = sizeof(times_t) / sizeof(double) };

/* A product as it was measured. */
typedef struct {
    size3_t size;
    int rows, cols;
    tilemm_psgemm_plan_t plan;
    double seconds;
} check_t;

typedef struct {
    const model_options_t *options;
    tilemm_t ctx;
    int processes, rank;
    times_t times;
    check_t checks[MAX_CHECKS];
    int count;
} checks_t;

problem_t model_problem(const size3_t *size, const int block[2])
{
    return (problem_t){.size = *size,
                       .transa = TILEMM_NO_TRANS,
                       .transb = TILEMM_NO_TRANS,
                       .alpha = 1,
                       .block = {block[0], block[1]}};
}

/* ---- rates ------------------------------------------------------------------------------ */

/* Seconds of a product of panels on this process: the least of many. */
static double time_product(tilemm_t ctx, int64_t n, int64_t k, float *memory)
{
    const double end = MPI_Wtime() + seconds_each;
    double least = HUGE_VAL, begin;
    while ((begin = MPI_Wtime()) < end) {
        tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, k, 1, memory, n,
                     memory + n * k, k, 1, memory + 2 * n * k, n);
        tilemm_synchronize(ctx);
        least = fmin(least, MPI_Wtime() - begin);
    }
    return least;
}

/* Seconds of a broadcast, which each process of comm begins in turn: the least of many. */
static double time_broadcast(MPI_Comm comm, int bytes, char *memory)
{
    int size, more = 1;
    double least = HUGE_VAL;
    const double end = MPI_Wtime() + seconds_each;
    MPI_Comm_size(comm, &size);
    while (more) {
        MPI_Barrier(comm);
        const double begin = MPI_Wtime();
        for (int root = 0; root < size; root++) {
            MPI_Request request;
            MPI_Ibcast(memory, bytes, MPI_CHAR, root, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(comm);
        least = fmin(least, (MPI_Wtime() - begin) / size);
        more = MPI_Wtime() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, comm);
    }
    return least;
}

/* Two processes multiply at once, and send each other; then all send. Collective. 0, or -1. */
static int take_times(checks_t *c)
{
    const size_t elements = 2 * LARGE * DEPTH + LARGE * LARGE;
    float *memory = malloc(elements * sizeof *memory);
    MPI_Comm pair;
    times_t t = {0};
    double *least = (double *)&c->times, *got = (double *)&t;
    int failed = !memory, any;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any || MPI_Comm_split(MPI_COMM_WORLD, c->rank < 2 ? 0 : MPI_UNDEFINED, c->rank, &pair)) {
        free(memory);
        return -command_error("no memory to measure rates with");
    }
    for (size_t i = 0; i < elements; i++)
        memory[i] = (float)(i % 1023) / 512 - 1;
    if (c->rank < 2) {
        time_product(c->ctx, LARGE, DEPTH, memory);
        MPI_Barrier(pair);
        t.small = time_product(c->ctx, SMALL, DEPTH, memory);
        MPI_Barrier(pair);
        t.large = time_product(c->ctx, LARGE, DEPTH, memory);
        t.message = time_broadcast(pair, 64, (char *)memory);
        t.bytes = time_broadcast(pair, BYTES, (char *)memory);
        MPI_Comm_free(&pair);
    }
    wait_quietly(MPI_COMM_WORLD);
    t.message_all = time_broadcast(MPI_COMM_WORLD, 64, (char *)memory);
    t.bytes_all = time_broadcast(MPI_COMM_WORLD, BYTES, (char *)memory);
    free(memory);
    MPI_Bcast(&t, TIMES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++)
        least[i] = least[i] > 0 ? fmin(least[i], got[i]) : got[i];
    return 0;
}

/* A process receives what another sends: nothing copies for them, and both are busy meanwhile. */
static machine_t machine_of(const times_t *t, int processes, int processors)
{
    const double small = 2.0 * SMALL * SMALL * DEPTH, large = 2.0 * LARGE * LARGE * DEPTH;
    const double without = processes > processors ? processes - processors : HUGE_VAL;
    const double byte = fmax(t->bytes - t->message, 1e-9) / BYTES;
    machine_t machine = {
        .rate = large / t->large,
        .latency = t->message,
        .message_turn = fmax(0, t->message_all - t->message) / without,
        .link = 1 / byte,
        .within = 1 / byte,
        .byte_turn = fmax(0, (t->bytes_all - t->message_all) / BYTES - byte) / without,
        .per_node = processes,
        .processors = processors,
    };
    machine.overhead = fmax(0, t->small - small / machine.rate);
    return machine;
}

/* ---- products --------------------------------------------------------------------------- */

static int check_size(checks_t *c, const place_t *place, const size3_t *size)
{
    problem_t p = model_problem(size, c->options->check_block);
    contender_t contender = {.name = "libtilemm", .run = run_tilemm};
    if (problem_open(&p, place) != 0)
        return -1;
    const int failed = measure(&p, &contender, 1, 0) != 0;
    if (!failed && c->count < MAX_CHECKS)
        c->checks[c->count++] = (check_t){*size, place->rows, place->cols, p.plan, contender.least};
    problem_close(&p);
    return failed ? -1 : 0;
}

/* The first `count` processes multiply. */
static int check_count(checks_t *c, int count)
{
    MPI_Comm comm;
    place_t place = {0};
    int rows, cols, failed = 0, any = 1;
    if (MPI_Comm_split(MPI_COMM_WORLD, c->rank < count ? 0 : MPI_UNDEFINED, c->rank, &comm))
        return -1;
    square_grid(count, &rows, &cols);
    if (c->rank < count) {
        failed = place_open(&place, comm, rows, cols, c->ctx) != 0;
        for (int i = 0; !failed && i < c->options->check_sizes.count; i++)
            failed = check_size(c, &place, &c->options->check_sizes.at[i]) != 0;
        place_close(&place);
        MPI_Comm_free(&comm);
    }
    wait_quietly(MPI_COMM_WORLD);
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any ? -1 : 0;
}

/* Processors that any of the processes may run on: mpirun may have bound each to some. */
static int processors_of_all(void)
{
    cpu_set_t set;
    unsigned char mine[CPU_SETSIZE] = {0}, any[CPU_SETSIZE] = {0};
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            mine[i] = CPU_ISSET(i, &set) != 0;
    MPI_Allreduce(mine, any, CPU_SETSIZE, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < CPU_SETSIZE; i++)
        count += any[i];
    return count ? count : 1;
}

static double put_check(const checks_t *c, const machine_t *machine, const check_t *check)
{
    const size3_t *s = &check->size;
    estimate_t e;
    char text[80];
    model_estimate(machine, s, check->rows, check->cols, &check->plan, &e);
    const double error = e.seconds / check->seconds - 1;
    snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)s->m, (long long)s->n,
             (long long)s->k);
    printf(c->options->markdown ? "| %d (%dx%d) | %s | %.5f | %.5f | %+.0f %% |\n"
                                : "%4d (%dx%d)  %-18s %10.5f %10.5f %+6.0f %%\n",
           check->rows * check->cols, check->rows, check->cols, text, check->seconds, e.seconds,
           100 * error);
    return fabs(error);
}

static void put_checks(const checks_t *c, int processors, double *worst)
{
    const machine_t machine = machine_of(&c->times, c->processes, processors);
    char cpu[128];
    command_cpu_name(cpu, sizeof cpu);
    printf(
        "%sThe model on %d processes of %s (%d processors), by rates measured on two:\n"
        "%.1f GFLOP/s and %.1f us a product, %.2f GB/s and %.1f us a message; for each process\n"
        "without a processor of its own %.1f us a message and %.3f ns a byte more. Measured: the\n"
        "least time of each product.\n",
        c->options->markdown ? "\n" : "", c->processes, cpu, processors, machine.rate * 1e-9,
        machine.overhead * 1e6, machine.within * 1e-9, machine.latency * 1e6,
        machine.message_turn * 1e6, machine.byte_turn * 1e9);
    if (c->options->markdown)
        puts("\n| processes | m x n x k | measured, s | model, s | error |\n|---|---|---|---|---|");
    else
        puts("processes   m x n x k          measured s    model s    error");
    for (int i = 0; i < c->count; i++)
        *worst = fmax(*worst, put_check(c, &machine, &c->checks[i]));
}

int model_check(const model_options_t *options, double *worst)
{
    const backend_options_t backend = {TILEMM_BACKEND_CPU, -1, 1, -1};
    checks_t *c = calloc(1, sizeof *c);
    int threads, failed = !c, any = 1;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any) {
        c->options = options;
        MPI_Comm_size(MPI_COMM_WORLD, &c->processes);
        MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
        c->ctx = open_context(&backend, &threads);
        failed = !c->ctx;
    }
    const int processors = any ? 1 : processors_of_all();
    failed = any || failed || take_times(c) != 0;
    for (int count = 2; !failed && count <= c->processes; count *= 2)
        failed = check_count(c, count) != 0 || take_times(c) != 0;
    if (!failed)
        put_checks(c, processors, worst);
    if (c)
        tilemm_destroy(c->ctx);
    free(c);
    return failed ? -1 : 0;
}
