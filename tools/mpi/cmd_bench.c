/* cmd_bench.c - `tilemm-mpi bench`: its options, and its tables.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tools/output.h"

enum { VS_AUTO, VS_SCALAPACK, VS_ONE, VS_NONE };
enum { SCALING_NONE, SCALING_STRONG, SCALING_WEAK };

static const word_t trans_words[] = {{"nn", 0}, {"nt", 1}, {"tn", 2}, {"tt", 3}, {0}};
static const word_t vs_words[] = {
    {"scalapack", VS_SCALAPACK}, {"one", VS_ONE}, {"none", VS_NONE}, {0}};
static const word_t scaling_words[] = {{"strong", SCALING_STRONG}, {"weak", SCALING_WEAK}, {0}};
static const word_t memory_words[] = {{"host", 0}, {"device", 1}, {0}};

static const char help[] =
    "Usage: mpirun -n N tilemm-mpi bench [OPTION]...\n"
    "Measure distributed products: on CPUs beside ScaLAPACK's PSGEMM over OpenBLAS, where they\n"
    "are found, on GPUs beside the same product on one GPU. Contenders run in turns on random\n"
    "operands; a time is until the last process has ended, and the median is printed.\n\n"
    "      --sizes LIST           sizes, separated by commas: N or MxNxK (1024,2048)\n"
    "      --grid PxQ             rows and columns of processes (as square as it can be)\n"
    "      --block N|MxN          rows and columns of a block (64)\n"
    "      --trans nn|nt|tn|tt    which of A and B is transposed (nn)\n"
    "      --alpha X, --beta X    factors (1 and 0)\n"
    "      --vs scalapack|one|none  what to compare with: ScaLAPACK, or one process alone\n"
    "      --share                also each process's share alone, all at once: what the\n"
    "                             products would take if nothing travelled\n"
    "      --scaling strong|weak  a table of 1, 2, 4 ... processes: of the same sizes, or of\n"
    "                             sizes that grow with the square root of the processes\n"
    "      --processes LIST       the table's processes, separated by commas\n"
    "      --reps N               repetitions (by the time that one takes)\n"
    "      --csv FILE             the figures as CSV; - is standard output\n"
    "      --svg FILE             the scaling table's efficiency, drawn\n"
    "      --markdown             the tables in Markdown\n"
    "      --timeline FILE        of one size: when each process received and multiplied,\n"
    "                             drawn as .svg\n"
    "      --memory host|device   on GPUs: where the operands lie (device)\n"
    "      --math fp32|strict|tf32  how to compute (TILEMM_MATH, or fp32)\n"
    "      --backend auto|cpu|cuda  where to compute (auto)\n"
    "      --device N             which CUDA device (this process's share of them)\n"
    "      --threads N            CPU threads of a process (TILEMM_NUM_THREADS, or its share of\n"
    "                             the processors)\n"
    "  -h, --help                 this help\n";

typedef struct {
    backend_options_t backend;
    sizes_t sizes;
    counts_t processes;
    int grid[2], block[2], trans, vs, share, scaling, reps, markdown, on_device;
    float alpha, beta;
    const char *csv, *svg, *timeline;
    /* what follows from them */
    tilemm_t ctx;
    int threads;
    report_t report;
} bench_t;

static int ends_with_svg(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".svg") == 0;
}

/* What the options have wrong with each other, and, on the first process, with their files. */
static int check(const bench_t *o, int processes, int is_first)
{
    const int64_t grid = (int64_t)o->grid[0] * o->grid[1];
    if (o->grid[0] && o->scaling)
        return command_usage_error("bench", "--grid and --scaling exclude each other");
    if (o->grid[0] && grid != processes)
        return command_usage_error("bench", "--grid is of %lld processes, mpirun's are %d",
                                   (long long)grid, processes);
    if (o->processes.count && !o->scaling)
        return command_usage_error("bench", "--processes is for --scaling");
    for (int i = 0; i < o->processes.count; i++)
        if (o->processes.at[i] > processes)
            return command_usage_error("bench", "--processes has %d, mpirun's are %d",
                                       o->processes.at[i], processes);
    if (o->svg && !o->scaling)
        return command_usage_error("bench", "--svg is for --scaling");
    if (o->timeline && (o->sizes.count != 1 || o->scaling))
        return command_usage_error("bench", "--timeline is of one size: --sizes N");
    if ((o->svg && !ends_with_svg(o->svg)) || (o->timeline && !ends_with_svg(o->timeline)))
        return command_usage_error("bench", "--svg and --timeline take names that end with .svg");
    if (is_first &&
        ((o->csv && strcmp(o->csv, "-") != 0 && output_check(o->csv) != 0) ||
         (o->svg && output_check(o->svg) != 0) || (o->timeline && output_check(o->timeline) != 0)))
        return EXIT_FAILED;
    return EXIT_OK;
}

static int parse(int argc, char **argv, bench_t *o)
{
    int first;
    command_option_t table[] = {
        {"sizes", OPTION_PARSED, &o->sizes, .parse = parse_sizes, .takes = "N or MxNxK, ..."},
        {"grid", OPTION_PARSED, o->grid, .parse = parse_pair, .takes = "PxQ"},
        {"block", OPTION_PARSED, o->block, .parse = parse_pair_or_one, .takes = "N or MxN"},
        {"trans", OPTION_WORD, &o->trans, .words = trans_words},
        {"alpha", OPTION_FLOAT, .value = &o->alpha},
        {"beta", OPTION_FLOAT, .value = &o->beta},
        {"vs", OPTION_WORD, &o->vs, .words = vs_words},
        {"share", OPTION_FLAG, .value = &o->share},
        {"scaling", OPTION_WORD, &o->scaling, .words = scaling_words},
        {"processes", OPTION_PARSED, &o->processes, .parse = parse_counts, .takes = "N, N ..."},
        {"reps", OPTION_INT, &o->reps, .low = 1, .high = 21},
        {"csv", OPTION_FILE, .value = &o->csv},
        {"svg", OPTION_FILE, .value = &o->svg},
        {"markdown", OPTION_FLAG, .value = &o->markdown},
        {"timeline", OPTION_FILE, .value = &o->timeline},
        {"memory", OPTION_WORD, &o->on_device, .words = memory_words},
        {"math", OPTION_WORD, &o->backend.math, .words = math_words},
        {"backend", OPTION_WORD, &o->backend.backend, .words = backend_words},
        {"device", OPTION_INT, &o->backend.device, .high = INT_MAX},
        {"threads", OPTION_INT, &o->backend.threads, .low = 1, .high = INT_MAX},
    };
    const int status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status == 0 && first < argc)
        return -1 - command_usage_error("bench", "'%s' is no option", argv[first]);
    return status;
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_heading(const bench_t *o, const char *text)
{
    char cpu[128] = "";
    command_cpu_name(cpu, sizeof cpu);
    printf("%s%s; %s, %d %s a process\n", o->markdown ? "\n" : "", text, cpu, o->threads,
           o->threads == 1 ? "thread" : "threads");
    if (o->markdown)
        puts("\n| processes | m x n x k | version | median | GFLOP/s | MB received a process | of "
             "the "
             "bound | error | ratio |\n|---|---|---|---|---|---|---|---|---|");
    else
        printf("%-12s %-20s %-40s %11s %10s %9s %9s %9s %7s\n", "processes", "m x n x k", "version",
               "seconds", "GFLOP/s", "MB", "of bound", "error", "ratio");
}

/* The ratio: a contender's time over libtilemm's; in a scaling table the efficiency. */
static void put_row(const bench_t *o, const record_t *r, double ratio)
{
    char where[48], size[80], bytes[32] = "", bound[32] = "", error[32] = "", text[32] = "";
    snprintf(where, sizeof where, "%d (%dx%d)", r->processes, r->rows, r->cols);
    snprintf(size, sizeof size, "%s %lldx%lldx%lld", r->trans, (long long)r->size.m,
             (long long)r->size.n, (long long)r->size.k);
    if (!isnan(r->bytes))
        snprintf(bytes, sizeof bytes, "%.2f", r->bytes * 1e-6);
    if (r->bound > 0)
        snprintf(bound, sizeof bound, "%.3f", r->bytes / r->bound);
    if (!isnan(r->error))
        snprintf(error, sizeof error, "%.1e", r->error);
    if (!isnan(ratio))
        snprintf(text, sizeof text, "%.3f", ratio);
    printf(o->markdown ? "| %s | %s | %s | %.6f s | %.2f | %s | %s | %s | %s |\n"
                       : "%-12s %-20s %-40s %11.6f %10.2f %9s %9s %9s %7s\n",
           where, size, r->name, r->median, r->gflops, bytes, bound, error, text);
    fflush(stdout);
}

/* ---- measurements ----------------------------------------------------------------------- */

/* Contenders of a problem, and what they need. */
typedef struct {
    contender_t list[MAX_CONTENDERS];
    int count;
    void *scalapack;
    share_product_t share, one;
} contenders_t;

static int open_contenders(const bench_t *o, problem_t *p, contenders_t *c)
{
    const char *peer = NULL;
    *c = (contenders_t){.list = {{.name = "libtilemm", .run = run_tilemm}}, .count = 1};
    if (o->vs == VS_SCALAPACK || (o->vs == VS_AUTO && !p->place->on_gpu))
        peer = scalapack_name(o->threads);
    if (o->vs == VS_SCALAPACK && !peer)
        return -command_error("ScaLAPACK or OpenBLAS is not found");
    if (peer && p->on_device)
        return -command_error("ScaLAPACK takes no operands on a device: --memory host");
    if (peer) {
        if (scalapack_open(p, &c->scalapack) != 0)
            return -1;
        c->list[c->count++] =
            (contender_t){.name = peer, .run = run_scalapack, .user = c->scalapack};
    }
    if (o->vs == VS_ONE || (o->vs == VS_AUTO && p->place->on_gpu)) {
        if (one_open(p, &c->one) != 0)
            return -1;
        c->list[c->count++] = (contender_t){.name = p->place->on_gpu ? "one GPU" : "one process",
                                            .run = run_one,
                                            .user = &c->one,
                                            .keeps_c = 1};
    }
    if (o->share) {
        if (share_open(p, &c->share) != 0)
            return -1;
        c->list[c->count++] = (contender_t){
            .name = "share alone", .run = multiply_share, .user = &c->share, .keeps_c = 1};
    }
    return 0;
}

static void close_contenders(contenders_t *c)
{
    scalapack_close(c->scalapack);
    share_close(&c->share);
    share_close(&c->one);
}

/* What a process takes of the whole k, where less was run. */
static void scale(contender_t *contender)
{
    const double by =
        contender->run == multiply_share ? ((share_product_t *)contender->user)->scale : 1;
    contender->median *= by;
    contender->q1 *= by;
    contender->q3 *= by;
}

static int bench_size(bench_t *o, const place_t *place, const size3_t *size)
{
    problem_t p = {.size = *size,
                   .transa = o->trans & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                   .transb = o->trans & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                   .alpha = o->alpha,
                   .beta = o->beta,
                   .block = {o->block[0], o->block[1]},
                   .on_device = place->on_gpu && o->on_device};
    contenders_t c = {0};
    char title[160];
    if (problem_open(&p, place) != 0)
        return -1;
    int failed = open_contenders(o, &p, &c) != 0 || measure(&p, c.list, c.count, o->reps) != 0;
    const int first = o->report.count;
    for (int i = 0; !failed && i < c.count; i++) {
        scale(&c.list[i]);
        failed = report_add(&o->report, &p, &c.list[i], o->threads) != 0;
    }
    for (int i = first; !failed && i < o->report.count; i++) {
        record_t *r = &o->report.records[i];
        const record_t *base = &o->report.records[0], *ours = &o->report.records[first];
        if (o->scaling)
            r->efficiency = r->gflops / r->processes / (base->gflops / base->processes);
        put_row(o, r, o->scaling ? r->efficiency : i == first ? NAN : r->median / ours->median);
    }
    snprintf(title, sizeof title, "PSGEMM %lldx%lldx%lld on %dx%d processes", (long long)size->m,
             (long long)size->n, (long long)size->k, place->rows, place->cols);
    if (!failed && o->timeline)
        failed = draw_timeline(&p, title, o->timeline) != 0;
    close_contenders(&c);
    problem_close(&p);
    return failed ? -1 : 0;
}

static int bench_sizes(bench_t *o)
{
    place_t place;
    char text[160];
    int size, failed = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!o->grid[0])
        square_grid(size, &o->grid[0], &o->grid[1]);
    if (place_open(&place, MPI_COMM_WORLD, o->grid[0], o->grid[1], o->ctx) != 0)
        return -1;
    snprintf(text, sizeof text, "PSGEMM on %d processes, %dx%d, blocks of %dx%d", size, o->grid[0],
             o->grid[1], o->block[0], o->block[1]);
    put_heading(o, text);
    for (int i = 0; !failed && i < o->sizes.count; i++)
        failed = bench_size(o, &place, &o->sizes.at[i]) != 0;
    place_close(&place);
    return failed ? -1 : 0;
}

/* A size for a number of processes: weak scaling keeps a process's elements of each matrix. */
static size3_t size_for(const bench_t *o, const size3_t *size, int processes)
{
    const double by = o->scaling == SCALING_WEAK ? sqrt(processes) : 1;
    return (size3_t){llround((double)size->m * by), llround((double)size->n * by),
                     llround((double)size->k * by)};
}

/* A part of the table: the first `count` processes compute, the others wait. */
static int bench_scaled(bench_t *o, const size3_t *size, int count)
{
    MPI_Comm comm;
    place_t place;
    int rank, rows, cols, failed = 0, any = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm) !=
        MPI_SUCCESS)
        return -1;
    square_grid(count, &rows, &cols);
    if (rank < count) {
        const size3_t scaled = size_for(o, size, count);
        failed = place_open(&place, comm, rows, cols, o->ctx) != 0;
        if (!failed) {
            failed = bench_size(o, &place, &scaled) != 0;
            place_close(&place);
        }
        MPI_Comm_free(&comm);
    }
    wait_quietly(MPI_COMM_WORLD);
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any ? -1 : 0;
}

static int bench_scaling(bench_t *o)
{
    char text[160];
    int size, failed = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int count = 1; !o->processes.count || o->processes.at[o->processes.count - 1] < count;
         count = 2 * count < size ? 2 * count : size) {
        o->processes.at[o->processes.count++] = count;
        if (count == size)
            break;
    }
    snprintf(text, sizeof text, "PSGEMM, %s scaling, blocks of %dx%d; the ratio is the efficiency",
             o->scaling == SCALING_WEAK ? "weak" : "strong", o->block[0], o->block[1]);
    put_heading(o, text);
    for (int i = 0; !failed && i < o->processes.count; i++)
        failed = bench_scaled(o, &o->sizes.at[0], o->processes.at[i]) != 0;
    return failed ? -1 : 0;
}

/* ---- files ------------------------------------------------------------------------------ */

static int write_csv(const bench_t *o)
{
    output_t output;
    if (strcmp(o->csv, "-") == 0) {
        report_csv(&o->report, stdout);
        return 0;
    }
    if (output_open(&output, o->csv) != 0)
        return -1;
    report_csv(&o->report, output.file);
    return output_close(&output, EXIT_OK) == EXIT_OK ? 0 : -1;
}

static int write_svg(const bench_t *o)
{
    output_t output;
    char title[80];
    const char *of = o->scaling == SCALING_WEAK ? "Weak" : "Strong";
    snprintf(title, sizeof title, "%s scaling of PSGEMM, from %lldx%lldx%lld on", of,
             (long long)o->sizes.at[0].m, (long long)o->sizes.at[0].n, (long long)o->sizes.at[0].k);
    if (output_open(&output, o->svg) != 0)
        return -1;
    report_svg(&o->report, title, output.file);
    return output_close(&output, EXIT_OK) == EXIT_OK ? 0 : -1;
}

int command_mpi_bench(int argc, char **argv)
{
    bench_t o = {.backend = {.backend = TILEMM_BACKEND_AUTO, .device = -1, .math = -1},
                 .sizes = {2, {{1024, 1024, 1024}, {2048, 2048, 2048}}},
                 .block = {64, 64},
                 .alpha = 1,
                 .on_device = 1};
    int rank, size, status = parse(argc, argv, &o);
    if (status)
        return -1 - status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    status = check(&o, size, rank == 0);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status != EXIT_OK)
        return status;
    o.ctx = open_context(&o.backend, &o.threads);
    if (!o.ctx)
        return EXIT_FAILED;
    scalapack_name(o.threads); /* all processes look for it, before some wait */
    int failed = (o.scaling ? bench_scaling(&o) : bench_sizes(&o)) != 0;
    if (!failed && rank == 0)
        failed = (o.csv && write_csv(&o) != 0) || (o.svg && write_svg(&o) != 0);
    free(o.report.records);
    tilemm_destroy(o.ctx);
    return failed ? EXIT_FAILED : EXIT_OK;
}
