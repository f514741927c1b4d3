/* cmd_model.c - `tilemm-mpi model`: products on machines that are not here, by their plans and a
 * few rates; and the same estimate for the processes that are here, beside their measured times.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for sched_getaffinity */
#endif

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "tools/output.h"

/* An H200 with operands in its memory, as doc/performance.md has it; a message of NCCL. */
static const double h200_rate = 215, h200_overhead = 20, nccl_latency = 15;

static const char help[] =
    "Usage: [mpirun -n N] tilemm-mpi model [OPTION]...\n"
    "Estimate products on clusters of GPUs from what their plans send and from a few rates: the\n"
    "best grid, the time, and the efficiency. Under mpirun with more than one process the same\n"
    "estimate is made for 2, 4, 8 ... of the processes that are there, from rates that are\n"
    "measured first, and printed beside the measured times of products, with its error.\n\n"
    "      --nodes LIST           nodes, separated by commas (1,4,16,64,256,1024)\n"
    "      --gpus-per-node N      processes of a node, one for each GPU (8)\n"
    "      --sizes LIST           sizes of products: N or MxNxK (65536,262144,1048576)\n"
    "      --block N|MxN          rows and columns of a block (512)\n"
    "      --link X               GB/s that a GPU receives from other nodes (50)\n"
    "      --nvlink X             GB/s that a GPU receives from its own node (400)\n"
    "      --rate X               TFLOP/s of a GPU (215, an H200's with split precision)\n"
    "      --latency X            microseconds of a message (15)\n"
    "      --overhead X           microseconds that a product of panels takes to begin (20)\n"
    "      --check-sizes LIST     sizes of the products that are measured (512,1024,2048)\n"
    "      --check-block N|MxN    their blocks (64)\n"
    "      --no-check             measure nothing\n"
    "      --csv FILE             the table as CSV; - is standard output\n"
    "      --markdown             the tables in Markdown\n"
    "  -h, --help                 this help\n";

/* Seconds that each rate is measured. */
static const double seconds_each = 0.25;

typedef struct {
    counts_t nodes;
    int per_node, block[2], check_block[2], no_check, markdown;
    sizes_t sizes, check_sizes;
    float link, nvlink, rate, latency, overhead;
    const char *csv;
} options_t;

static int parse(int argc, char **argv, options_t *o)
{
    int first;
    command_option_t table[] = {
        {"nodes", OPTION_PARSED, &o->nodes, .parse = parse_counts, .takes = "N,N,..."},
        {"gpus-per-node", OPTION_INT, &o->per_node, .low = 1, .high = 1024},
        {"sizes", OPTION_PARSED, &o->sizes, .parse = parse_sizes, .takes = "N or MxNxK, ..."},
        {"block", OPTION_PARSED, o->block, .parse = parse_pair_or_one, .takes = "N or MxN"},
        {"link", OPTION_FLOAT, .value = &o->link},
        {"nvlink", OPTION_FLOAT, .value = &o->nvlink},
        {"rate", OPTION_FLOAT, .value = &o->rate},
        {"latency", OPTION_FLOAT, .value = &o->latency},
        {"overhead", OPTION_FLOAT, .value = &o->overhead},
        {"check-sizes", OPTION_PARSED, &o->check_sizes, .parse = parse_sizes,
         .takes = "N or MxNxK, ..."},
        {"check-block", OPTION_PARSED, o->check_block, .parse = parse_pair_or_one,
         .takes = "N or MxN"},
        {"no-check", OPTION_FLAG, .value = &o->no_check},
        {"csv", OPTION_FILE, .value = &o->csv},
        {"markdown", OPTION_FLAG, .value = &o->markdown},
    };
    const int status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status)
        return status;
    if (first < argc)
        return -1 - command_usage_error("model", "'%s' is no option", argv[first]);
    if (!(o->link > 0 && o->nvlink > 0 && o->rate > 0 && o->latency >= 0 && o->overhead >= 0))
        return -1 - command_usage_error("model", "rates must be more than 0");
    return 0;
}

static problem_t problem_of(const size3_t *size, const int block[2])
{
    return (problem_t){.size = *size,
                       .transa = TILEMM_NO_TRANS,
                       .transb = TILEMM_NO_TRANS,
                       .alpha = 1,
                       .block = {block[0], block[1]}};
}

/* ---- the check -------------------------------------------------------------------------- */

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

enum { SMALL = 256, LARGE = 1024, DEPTH = 256, BYTES = 1 << 21 };
typedef struct {
    double small, large;          /* seconds of products of panels */
    double message, bytes;        /* of broadcasts between two processes */
    double message_all, byte_all; /* between all */
} times_t;

/* Two processes multiply at once, and send each other. */
static void time_pair(tilemm_t ctx, MPI_Comm comm, float *memory, times_t *t)
{
    time_product(ctx, LARGE, DEPTH, memory);
    MPI_Barrier(comm);
    t->small = time_product(ctx, SMALL, DEPTH, memory);
    MPI_Barrier(comm);
    t->large = time_product(ctx, LARGE, DEPTH, memory);
    t->message = time_broadcast(comm, 64, (char *)memory);
    t->bytes = time_broadcast(comm, BYTES, (char *)memory);
}

/* Rates of this machine. A process receives what another sends: nothing copies for them, and both
 * are busy meanwhile. Collective. 0, or -1. */
static int calibrate(tilemm_t ctx, int processes, int processors, machine_t *machine)
{
    const size_t elements = 2 * LARGE * DEPTH + LARGE * LARGE;
    float *memory = calloc(elements, sizeof *memory);
    MPI_Comm pair;
    times_t t = {0};
    int rank, failed = !memory, any;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (any || MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair)) {
        free(memory);
        return -command_error("no memory to measure rates with");
    }
    for (size_t i = 0; i < elements; i++)
        memory[i] = (float)(i % 1023) / 512 - 1;
    if (rank < 2) {
        time_pair(ctx, pair, memory, &t);
        MPI_Comm_free(&pair);
    }
    wait_quietly(MPI_COMM_WORLD);
    t.message_all = time_broadcast(MPI_COMM_WORLD, 64, (char *)memory);
    t.byte_all = time_broadcast(MPI_COMM_WORLD, BYTES, (char *)memory);
    free(memory);
    MPI_Bcast(&t, sizeof t / sizeof(double), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const double small = 2.0 * SMALL * SMALL * DEPTH, large = 2.0 * LARGE * LARGE * DEPTH;
    const double without = processes > processors ? processes - processors : HUGE_VAL;
    const double byte = fmax(t.bytes - t.message, 1e-9) / BYTES;
    *machine = (machine_t){
        .rate = (large - small) / fmax(t.large - t.small, 1e-9),
        .latency = t.message,
        .message_turn = fmax(0, t.message_all - t.message) / without,
        .link = 1 / byte,
        .within = 1 / byte,
        .byte_turn = fmax(0, (t.byte_all - t.message_all) / BYTES - byte) / without,
        .per_node = processes,
        .processors = processors,
    };
    machine->overhead = fmax(0, t.small - small / machine->rate);
    return 0;
}

static int check_one(const options_t *o, const machine_t *machine, const place_t *place,
                     const size3_t *size, double *worst)
{
    problem_t p = problem_of(size, o->check_block);
    contender_t contender = {.name = "libtilemm", .run = run_tilemm};
    estimate_t e;
    char text[80];
    if (problem_open(&p, place) != 0)
        return -1;
    const int failed = measure(&p, &contender, 1, 0) != 0;
    if (!failed) {
        model_estimate(machine, size, place->rows, place->cols, &p.plan, &e);
        const double error = e.seconds / contender.least - 1;
        *worst = fmax(*worst, fabs(error));
        snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)size->m, (long long)size->n,
                 (long long)size->k);
        printf(o->markdown ? "| %d (%dx%d) | %s | %.5f | %.5f | %+.0f %% |\n"
                           : "%4d (%dx%d)  %-18s %10.5f %10.5f %+6.0f %%\n",
               place->size, place->rows, place->cols, text, contender.least, e.seconds,
               100 * error);
        fflush(stdout);
    }
    problem_close(&p);
    return failed ? -1 : 0;
}

/* The first `count` processes multiply. */
static int check_count(const options_t *o, const machine_t *machine, tilemm_t ctx, int count,
                       double *worst)
{
    MPI_Comm comm;
    place_t place;
    int rank, rows, cols, failed = 0, any = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm))
        return -1;
    square_grid(count, &rows, &cols);
    if (rank < count) {
        failed = place_open(&place, comm, rows, cols, ctx) != 0;
        for (int i = 0; !failed && i < o->check_sizes.count; i++)
            failed = check_one(o, machine, &place, &o->check_sizes.at[i], worst) != 0;
        if (place.grid)
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

static int check(const options_t *o, int processes, double *worst)
{
    const backend_options_t backend = {TILEMM_BACKEND_CPU, -1, 1, -1};
    machine_t machine;
    char cpu[128] = "";
    int threads;
    tilemm_t ctx = open_context(&backend, &threads);
    if (!ctx)
        return -1;
    const int all = processors_of_all();
    int failed = calibrate(ctx, processes, all, &machine) != 0;
    if (!failed) {
        command_cpu_name(cpu, sizeof cpu);
        printf(
            "%sThe model on %d processes of %s (%d processors), by rates measured on two:\n"
            "%.1f GFLOP/s and %.1f us a product, %.2f GB/s and %.1f us a message; %.1f us more for "
            "each "
            "process\nwithout a processor of its own. Measured: the least time of each product.\n",
            o->markdown ? "\n" : "", processes, cpu, all, machine.rate * 1e-9,
            machine.overhead * 1e6, machine.within * 1e-9, machine.latency * 1e6,
            machine.message_turn * 1e6);
        if (o->markdown)
            puts("\n| processes | m x n x k | measured, s | model, s | error "
                 "|\n|---|---|---|---|---|");
        else
            puts("processes   m x n x k          measured s    model s    error");
    }
    for (int count = 2; !failed && count <= processes; count *= 2)
        failed = check_count(o, &machine, ctx, count, worst) != 0;
    tilemm_destroy(ctx);
    return failed ? -1 : 0;
}

/* ---- the table -------------------------------------------------------------------------- */

/* The fastest grid of so many processes. 0, or -1 where no plan can be made. */
static int best_grid(const machine_t *machine, const problem_t *p, int processes, int grid[2],
                     tilemm_psgemm_plan_t *best_plan, estimate_t *best)
{
    tilemm_psgemm_plan_t plan;
    estimate_t e;
    best->seconds = HUGE_VAL;
    for (int rows = 1; rows <= processes; rows++)
        if (processes % rows == 0 && rows <= 16 * (processes / rows) &&
            processes / rows <= 16 * rows &&
            problem_plan(p, rows, processes / rows, 2048, &plan) == 0) {
            model_estimate(machine, &p->size, rows, processes / rows, &plan, &e);
            if (e.seconds < best->seconds) {
                *best = e;
                *best_plan = plan;
                grid[0] = rows;
                grid[1] = processes / rows;
            }
        }
    return best->seconds < HUGE_VAL ? 0 : -1;
}

static void put_estimate(const options_t *o, const size3_t *s, int nodes, const int grid[2],
                         const tilemm_psgemm_plan_t *plan, const estimate_t *e, FILE *csv)
{
    const double processes = (double)grid[0] * grid[1];
    const double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    const double elements =
        (double)s->m * (double)s->k + (double)s->k * (double)s->n + (double)s->m * (double)s->n;
    static const char *const stays[] = {"C", "A", "B"};
    char size[80], shape[32];
    snprintf(size, sizeof size, "%lldx%lldx%lld", (long long)s->m, (long long)s->n,
             (long long)s->k);
    snprintf(shape, sizeof shape, "%dx%d", grid[0], grid[1]);
    printf(o->markdown ? "| %s | %d | %s | %s | %.4f | %.4f | %.4f | %.2f | %.3f | %.2f | %.2f |\n"
                       : "%-25s %6d %9s %2s %10.4f %10.4f %10.4f %10.2f %7.3f %9.2f %9.2f\n",
           size, nodes, shape, stays[plan->stationary], e->seconds, e->compute, e->travel,
           flops / e->seconds * 1e-15, e->efficiency, plan->bytes * 1e-9,
           4 * elements / processes * 1e-9);
    if (csv)
        fprintf(csv, "%lld,%lld,%lld,%d,%d,%d,%s,%.9g,%.9g,%.9g,%.9g,%.6g,%.9g,%.9g\n",
                (long long)s->m, (long long)s->n, (long long)s->k, nodes, grid[0], grid[1],
                stays[plan->stationary], e->seconds, e->compute, e->travel,
                flops / e->seconds * 1e-12, e->efficiency, plan->bytes, 4 * elements / processes);
}

static int put_table(const options_t *o, double worst, int checked, FILE *csv)
{
    const machine_t machine = {.rate = (double)o->rate * 1e12,
                               .overhead = (double)o->overhead * 1e-6,
                               .latency = (double)o->latency * 1e-6,
                               .link = (double)o->link * 1e9,
                               .within = (double)o->nvlink * 1e9,
                               .per_node = o->per_node,
                               .overlaps = 1};
    printf(
        "%s%d GPUs a node, each %.4g TFLOP/s, %.4g GB/s from other nodes, %.4g GB/s from its own",
        checked || o->markdown ? "\n" : "", o->per_node, (double)o->rate, (double)o->link,
        (double)o->nvlink);
    if (checked)
        printf("; the model's error above is at most %.0f %%\n", 100 * worst);
    else
        puts("; the model was not held to measurements in this run");
    if (o->markdown)
        puts("\n| m x n x k | nodes | grid | stays | s | products, s | messages, s | PFLOP/s | "
             "efficiency | GB received a GPU | GB of operands a GPU |\n"
             "|---|---|---|---|---|---|---|---|---|---|---|");
    else
        printf("%-25s %6s %9s %2s %10s %10s %10s %10s %7s %9s %9s\n", "m x n x k", "nodes", "grid",
               "", "s", "products", "messages", "PFLOP/s", "effic.", "GB moved", "GB a GPU");
    if (csv)
        fputs("m,n,k,nodes,rows,cols,stays,seconds,compute_s,travel_s,tflops,efficiency,bytes,"
              "operand_bytes\n",
              csv);
    for (int i = 0; i < o->sizes.count; i++)
        for (int j = 0; j < o->nodes.count; j++) {
            const problem_t p = problem_of(&o->sizes.at[i], o->block);
            tilemm_psgemm_plan_t plan = {0};
            estimate_t e = {0};
            int grid[2] = {0};
            if ((int64_t)o->nodes.at[j] * o->per_node > INT_MAX ||
                best_grid(&machine, &p, o->nodes.at[j] * o->per_node, grid, &plan, &e) != 0)
                return -command_error("no plan for %d nodes", o->nodes.at[j]);
            put_estimate(o, &o->sizes.at[i], o->nodes.at[j], grid, &plan, &e, csv);
        }
    return 0;
}

static int write_table(const options_t *o, double worst, int checked)
{
    output_t output;
    if (!o->csv || strcmp(o->csv, "-") == 0)
        return put_table(o, worst, checked, o->csv ? stdout : NULL);
    if (output_open(&output, o->csv) != 0)
        return -1;
    const int failed = put_table(o, worst, checked, output.file) != 0;
    return output_close(&output, failed ? EXIT_FAILED : EXIT_OK) == EXIT_OK ? 0 : -1;
}

int command_mpi_model(int argc, char **argv)
{
    options_t o = {
        .nodes = {6, {1, 4, 16, 64, 256, 1024}},
        .per_node = 8,
        .block = {512, 512},
        .check_block = {64, 64},
        .sizes = {3,
                  {{65536, 65536, 65536}, {262144, 262144, 262144}, {1048576, 1048576, 1048576}}},
        .check_sizes = {3, {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}}},
        .link = 50,
        .nvlink = 400,
        .rate = (float)h200_rate,
        .latency = (float)nccl_latency,
        .overhead = (float)h200_overhead};
    int rank, size, failed = 0;
    double worst = 0;
    const int status = parse(argc, argv, &o);
    if (status)
        return -1 - status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int checks = size > 1 && !o.no_check;
    if (checks)
        failed = check(&o, size, &worst) != 0;
    if (!failed && rank == 0)
        failed = write_table(&o, worst, checks) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return failed ? EXIT_FAILED : EXIT_OK;
}
