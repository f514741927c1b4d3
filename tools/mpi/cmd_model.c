/* cmd_model.c - `tilemm-mpi model`: products on machines that are not here, by their plans and a
 * few rates.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
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

static int parse(int argc, char **argv, model_options_t *o)
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

/* ---- the table -------------------------------------------------------------------------- */

/* The fastest grid of `processes`. 0, or -1 where no plan can be made. */
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

static void put_estimate(const model_options_t *o, const size3_t *s, int nodes, const int grid[2],
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

static int put_table(const model_options_t *o, double worst, int checked, FILE *csv)
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
            const problem_t p = model_problem(&o->sizes.at[i], o->block);
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

static int write_table(const model_options_t *o, double worst, int checked)
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
    model_options_t o = {
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
        failed = model_check(&o, &worst) != 0;
    if (!failed && rank == 0)
        failed = write_table(&o, worst, checks) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return failed ? EXIT_FAILED : EXIT_OK;
}
