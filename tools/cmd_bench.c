/* cmd_bench.c - `tilemm bench`: the options, and which measurements to make.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"

static const word_t verb_words[] = {
    {"gemm", BENCH_GEMM}, {"transpose", BENCH_TRANSPOSE}, {"reduce", BENCH_REDUCE}, {0}};
static const word_t vs_words[] = {
    {"openblas", VS_OPENBLAS}, {"cublas", VS_CUBLAS}, {"none", VS_NONE}, {0}};
const word_t trans_words[] = {{"nn", 0}, {"nt", 1}, {"tn", 2}, {"tt", 3}, {0}};

#define DATA_WORD(value, name, text) {name, value},
const word_t data_words[] = {DATA_SUITE(DATA_WORD) DATA_OTHERS(DATA_WORD){0}};

static const char help[] =
    "Usage: tilemm bench [gemm|transpose|reduce] [OPTION]...\n"
    "Measure speed and error next to OpenBLAS on the CPU, or cuBLAS and CUB on a GPU, where\n"
    "they are found. Without a verb: a short table of SGEMM, transpose and sum on the best\n"
    "backend; where that is a GPU, one of the CPU follows. With --suite: those of all verbs.\n\n"
    "All verbs:\n"
    "      --sizes LIST           sizes, separated by commas: N; MxNxK for gemm; RxC for\n"
    "                             transpose and for reduce by axis\n"
    "      --vs openblas|cublas|none  what to compare with (what is there)\n"
    "      --reps N               repetitions (by the time that one takes)\n"
    "      --csv FILE             the figures as CSV; - is standard output\n"
    "      --json FILE            the figures as JSON; - is standard output\n"
    "      --markdown             the tables in Markdown\n"
    "      --memory device|pinned|pageable|managed  on a GPU: where operands and results lie\n"
    "                             (device); the host's are compared with cublasXt, and with\n"
    "                             the bound: the link, or the work on the device\n"
    "      --devices LIST         these CUDA devices together, as in 0,1; one may stand there "
    "more\n"
    "                             than once\n"
    "      --device-memory SIZE   the most of the device's memory to take for operands on\n"
    "                             the host: 4G, 512M (what is free)\n"
    "      --calibrate            instead: the constants that plans choose by, on this GPU\n"
    "      --plot FILE            rate against size, .svg, .png, .pdf or .eps\n" CONTEXT_HELP
    "  -h, --help                 this help\n\n"
    "gemm:\n"
    "      --suite h200|everyday|ragged|data|host|cpu|cpu-avx2|cpu-amx  a fixed list of\n"
    "                             products, each with the ratio aimed at, in place of --sizes\n"
    "      --layout row|col       storage order (row)\n"
    "      --trans nn|nt|tn|tt    which of A and B is transposed (nn)\n"
    "      --math fp32|strict|tf32  how to compute (TILEMM_MATH, or fp32)\n"
    "      --invariance none|batch|across  what bits may depend on, beside the default mode\n"
    "                             (TILEMM_INVARIANCE, or none)\n"
    "      --data NAME            a family of data: normal, wide, sparse-1 ... (normal);\n"
    "                             'tilemm help suites' has all\n"
    "      --alpha X, --beta X    factors (1 and 0)\n"
    "      --lda N, --ldb N, --ldc N   leading dimensions (no gaps)\n"
    "      --batch N              matrices of one shape at once (1)\n"
    "      --stride-a N, --stride-b N, --stride-c N   from one to the next (no gaps);\n"
    "                             --stride-c 0: matrices given by arrays of pointers\n"
    "      --timeline FILE        of one size with operands on the host: when the device copied\n"
    "                             and multiplied, drawn as .svg\n\n"
    "transpose:\n"
    "      --suite h200|everyday|host|cpu  a fixed list of shapes, each with the ratios aimed at\n"
    "      --elem-size 1|2|4|8|16  bytes (4)\n"
    "      --in-place             in place\n"
    "      --alpha X              scaled, of floats\n"
    "      --no-trans             with or without --alpha: a scaled copy, not transposed\n"
    "      --ld-src N, --ld-dst N, --batch N, --stride-src N, --stride-dst N   as for gemm\n\n"
    "reduce:\n"
    "      --suite h200|everyday|host|cpu  a fixed list, each with the ratio aimed at\n"
    "      --op OPERATION         sum asum sumsq nrm2 mean max min amax amin dot,\n"
    "                             or a position: imax imin iamax iamin (sum)\n"
    "      --axis rows|cols       of matrices: down the rows, or along the columns\n"
    "      --layout row|col, --lda N   the matrices' storage (row, no gaps)\n"
    "      --arg                  by axis: positions with the values\n"
    "      --segments N           of a vector in N pieces\n"
    "      --inc N, --inc-y N     the vectors' increments (1)\n"
    "      --nan propagate|ignore what NaN does (propagate)\n";

/* "1024", "300x200", "1024x32x7,64": 0, or -1. */
static int parse_sizes(const char *text, void *value)
{
    bench_options_t *options = value;
    char *end;
    options->size_count = 0;
    do {
        if (options->size_count == MAX_SIZES)
            return -1;
        bench_size_t *size = &options->sizes[options->size_count++];
        size->dims = 0;
        do {
            errno = 0;
            if (!isdigit((unsigned char)*text) || size->dims == 3)
                return -1;
            size->dim[size->dims++] = strtoll(text, &end, 10);
            if (errno)
                return -1;
            text = end + 1;
        } while (*end == 'x');
        if (size->dims == 1)
            size->dim[1] = size->dim[2] = size->dim[0];
    } while (*end == ',');
    return *end ? -1 : 0;
}

/* "4G": bytes, or K, M, G or T of them, of 1024 each; at least 1. 0, or -1. */
static int parse_bytes(const char *text, void *value)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    int64_t bytes = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : 0;
    const char *unit = bytes > 0 && *end ? strchr(units, *end) : NULL;
    if (errno || bytes < 1 || (*end && (!unit || end[1])) ||
        (unit && __builtin_mul_overflow(bytes, (int64_t)1 << 10 * (unit - units + 1), &bytes)))
        return -1;
    *(int64_t *)value = bytes;
    return 0;
}

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), rest = strlen(end);
    return length > rest && strcmp(text + length - rest, end) == 0;
}

/* What the parser of single options cannot see. Returns a status. */
static int check_options(bench_options_t *o)
{
    const tilemm_reduce_t value_op = reduce_value_op(o->op);
    const int is_extreme = value_op >= TILEMM_MAX && value_op <= TILEMM_AMIN;
    const int most_dims = o->verb == BENCH_GEMM                    ? 3
                          : o->verb == BENCH_REDUCE && o->axis < 0 ? 1
                                                                   : 2;
    const int by_axis = o->axis >= 0, segments = o->segments >= 0;
    const int of_cpu = o->vs == VS_OPENBLAS, of_gpu = o->vs == VS_CUBLAS;
    int count, suites = 0;
    for (int i = 0; i < o->size_count; i++)
        if (o->sizes[i].dims > most_dims || (most_dims == 3 && o->sizes[i].dims == 2))
            return command_usage_error("bench", "--sizes takes %s here",
                                       most_dims == 3   ? "N or MxNxK"
                                       : most_dims == 2 ? "N or RxC"
                                                        : "N");
    for (int verb = BENCH_GEMM; o->suite && verb <= BENCH_REDUCE; verb++)
        suites += (o->verb == BENCH_ALL || verb == (int)o->verb) &&
                  bench_suite((bench_verb_t)verb, o->suite, &count);
    if (o->suite && !suites)
        return command_usage_error("bench", "bench %s has no suite %s; see 'tilemm help suites'",
                                   word_of(verb_words, (int)o->verb), o->suite);
    const struct {
        int is_wrong;
        const char *message;
    } rules[] = {
        {o->suite && o->size_count, "--suite and --sizes exclude each other"},
        {o->verb == BENCH_TRANSPOSE && (o->scaled || o->no_trans) &&
             (o->elem_size != sizeof(float) || o->batch != 1),
         "--alpha and --no-trans are for 4-byte elements and no --batch"},
        {o->verb == BENCH_TRANSPOSE && o->in_place && o->batch != 1,
         "--in-place and --batch exclude each other"},
        {by_axis && segments, "--axis and --segments exclude each other"},
        {o->op == REDUCE_DOT && (by_axis || segments), "dot is of vectors"},
        {segments && reduce_is_index(o->op), "--segments has no positions"},
        {o->arg && (!by_axis || !is_extreme), "--arg is for max, min, amax and amin by --axis"},
        {o->inc == 0 || o->inc_y == 0, "an increment must not be 0"},
        {of_cpu && o->context.device_count, "OpenBLAS does not run on CUDA devices"},
        {of_cpu && o->context.backend == TILEMM_BACKEND_CUDA,
         "OpenBLAS does not run on the cuda backend"},
        {of_gpu && o->context.backend == TILEMM_BACKEND_CPU,
         "cuBLAS does not run on the cpu backend"},
        {o->plot && !report_can_plot(o->plot),
         "--plot takes a file's name that ends with .svg, .png, .pdf or .eps"},
        {o->context.device_count && o->context.device_given,
         "--devices and --device exclude each other"},
        {o->context.device_count && o->context.backend == TILEMM_BACKEND_CPU,
         "--devices is for the cuda backend"},
        {o->memory && o->context.backend == TILEMM_BACKEND_CPU, "--memory is for the cuda backend"},
        {o->device_memory && !is_on_host(o->memory),
         "--device-memory is for operands on the host: --memory pinned or pageable"},
        {o->timeline && !is_on_host(o->memory),
         "--timeline is for operands on the host: --memory pinned or pageable"},
        {o->timeline && o->size_count != 1, "--timeline is of one size: --sizes N"},
        {o->timeline && o->batch != 1, "--timeline and --batch exclude each other"},
        {o->timeline && !ends_with(o->timeline, ".svg"),
         "--timeline takes a file's name that ends with .svg"},
        {o->csv && o->json && strcmp(o->csv, "-") == 0 && strcmp(o->json, "-") == 0,
         "--csv and --json cannot both have standard output"},
    };
    for (int i = 0; i < COUNT_OF(rules); i++)
        if (rules[i].is_wrong)
            return command_usage_error("bench", "%s", rules[i].message);
    if (o->context.device_count)
        o->context.backend = TILEMM_BACKEND_CUDA;
    if (of_cpu || of_gpu) /* a peer says which backend is meant */
        o->context.backend = of_cpu ? TILEMM_BACKEND_CPU : TILEMM_BACKEND_CUDA;
    return EXIT_OK;
}

/* Returns 0, or -1 - the status to exit with. */
static int read_options(int argc, char **argv, bench_options_t *o)
{
    /* The verbs that take an option, as bits 1 << verb; BENCH_ALL's is bit 0. */
    enum { GEMM = 1 << BENCH_GEMM, TRANSPOSE = 1 << BENCH_TRANSPOSE, REDUCE = 1 << BENCH_REDUCE };
    enum { EACH = GEMM | TRANSPOSE | REDUCE, ALL = EACH | 1 };
#define SIZE(member) OPTION_INT64, &o->member, .high = INT64_MAX
#define STRIDE(member) OPTION_INT64, &o->member, .low = -INT64_MAX, .high = INT64_MAX
    struct {
        int verbs;
        command_option_t option;
    } all[] = {
        {GEMM | TRANSPOSE, {"alpha", OPTION_FLOAT, .value = &o->alpha}}, /* the first */
        {EACH,
         {"sizes", OPTION_PARSED, o, .parse = parse_sizes,
          .takes =
              "sizes with commas between them: N, MxNxK of gemm, RxC of transpose and reduce"}},
        {ALL, {"suite", OPTION_TEXT, .value = &o->suite, .words = suite_words}},
        {GEMM | REDUCE, {"layout", OPTION_WORD, &o->layout, .words = layout_words}},
        {GEMM, {"trans", OPTION_WORD, &o->trans, .words = trans_words}},
        {1 | GEMM, {"math", OPTION_WORD, &o->math, .words = math_words}},
        {GEMM, {"invariance", OPTION_WORD, &o->invariance, .words = invariance_words}},
        {GEMM, {"data", OPTION_WORD, &o->data, .words = data_words}},
        {TRANSPOSE, {"elem-size", OPTION_WORD, &o->elem_size, .words = size_words}},
        {REDUCE, {"op", OPTION_WORD, &o->op, .words = reduce_words}},
        {REDUCE, {"axis", OPTION_WORD, &o->axis, .words = axis_words}},
        {ALL, {"vs", OPTION_WORD, &o->vs, .words = vs_words}},
        {ALL, {"reps", OPTION_INT64, &o->reps, .low = 1, .high = 1000000}},
        {ALL, {"csv", OPTION_FILE, .value = &o->csv}},
        {ALL, {"json", OPTION_FILE, .value = &o->json}},
        {ALL, {"plot", OPTION_FILE, .value = &o->plot}},
        {ALL, {"markdown", OPTION_FLAG, .value = &o->markdown}},
        {EACH, {"memory", OPTION_WORD, &o->memory, .words = memory_words}},
        {EACH,
         {"device-memory", OPTION_PARSED, &o->device_memory, .parse = parse_bytes,
          .takes = "a number of bytes from 1, or of K, M, G or T of them"}},
        {EACH,
         {"devices", OPTION_PARSED, &o->context, .parse = parse_devices,
          .takes = "numbers from 0 with commas between them"}},
        {GEMM, {"timeline", OPTION_FILE, .value = &o->timeline}},
        {1, {"calibrate", OPTION_FLAG, .value = &o->calibrate}},
        {GEMM, {"beta", OPTION_FLOAT, .value = &o->beta}},
        {GEMM | REDUCE, {"lda", SIZE(ld[0])}},
        {GEMM, {"ldb", SIZE(ld[1])}},
        {GEMM, {"ldc", SIZE(ld[2])}},
        {GEMM | TRANSPOSE, {"batch", SIZE(batch)}},
        {GEMM, {"stride-a", STRIDE(stride[0])}},
        {GEMM, {"stride-b", STRIDE(stride[1])}},
        {GEMM, {"stride-c", STRIDE(stride[2])}},
        {TRANSPOSE, {"ld-src", SIZE(ld[0])}},
        {TRANSPOSE, {"ld-dst", SIZE(ld[1])}},
        {TRANSPOSE, {"stride-src", STRIDE(stride[0])}},
        {TRANSPOSE, {"stride-dst", STRIDE(stride[1])}},
        {TRANSPOSE, {"in-place", OPTION_FLAG, .value = &o->in_place}},
        {TRANSPOSE, {"no-trans", OPTION_FLAG, .value = &o->no_trans}},
        {REDUCE, {"inc", STRIDE(inc)}},
        {REDUCE, {"inc-y", STRIDE(inc_y)}},
        {REDUCE, {"segments", OPTION_INT64, &o->segments, .high = INT64_MAX - 1}},
        {REDUCE, {"arg", OPTION_FLAG, .value = &o->arg}},
        {REDUCE, {"nan", OPTION_WORD, &o->nan, .words = nan_words}},
    };
#undef SIZE
#undef STRIDE
    enum { COUNT = COUNT_OF(all) };
    int verb = BENCH_ALL, first, status;
    const command_option_t others[] = {CONTEXT_OPTIONS(o->context),
                                       {"verb", OPTION_ARGUMENT, &verb, .words = verb_words}};
    command_option_t options[COUNT + COUNT_OF(others)];
    for (int i = 0; i < COUNT; i++) {
        options[i] = all[i].option;
        options[i].only = all[i].verbs;
    }
    memcpy(options + COUNT, others, sizeof others);
    status = command_options(argc, argv, help, options, COUNT_OF(options), &first);
    if (status)
        return status;
    if (first < argc)
        return -1 - command_usage_error("bench", "too many words: '%s'", argv[first]);
    o->verb = (bench_verb_t)verb;
    for (int i = 0; i < COUNT; i++)
        if (options[i].given && !(options[i].only & 1 << verb))
            return -1 - command_usage_error("bench", "--%s is not an option of bench%s%s",
                                            options[i].name, verb ? " " : "",
                                            verb ? word_of(verb_words, verb) : "");
    o->scaled = options[0].given;
    status = check_options(o);
    return status ? -1 - status : 0;
}

static const struct {
    bench_verb_t verb;
    int on_gpu, by_axis;
    const char *sizes, *short_sizes;
} usual[] = {
    {BENCH_GEMM, 0, 0, "64,128,256,512,1024,2048", "256,1024,2048"},
    {BENCH_GEMM, 1, 0, "256,512,1024,2048,4096,8192", "512,1024,4096,8192"},
    {BENCH_TRANSPOSE, 0, 0, "256,1024,4096,1000x3000,8192", "1024,4096"},
    {BENCH_TRANSPOSE, 1, 0, "256,1024,4096,8192,16384", "1024,4096,8192"},
    {BENCH_REDUCE, 0, 0, "4096,65536,1048576,16777216,67108864", "65536,1048576,16777216"},
    {BENCH_REDUCE, 1, 0, "65536,1048576,16777216,268435456", "1048576,16777216,268435456"},
    {BENCH_REDUCE, 0, 1, "256,1024,4096,100000x128", NULL},
    {BENCH_REDUCE, 1, 1, "1024,4096,16384,1048576x128", NULL},
};

/* The options with the usual sizes of a verb, where they name none. */
static bench_options_t with_sizes(bench_verb_t verb, int on_gpu, const bench_options_t *options)
{
    bench_options_t one = *options;
    for (int i = 0; !options->size_count && !options->suite && i < COUNT_OF(usual); i++)
        if (usual[i].verb == verb && usual[i].on_gpu == on_gpu &&
            usual[i].by_axis == (verb == BENCH_REDUCE && options->axis >= 0))
            parse_sizes(options->verb == BENCH_ALL ? usual[i].short_sizes : usual[i].sizes, &one);
    return one;
}

/* How many cases a verb has; 0 where it is not measured. */
static int case_count(bench_verb_t verb, int on_gpu, const bench_options_t *options)
{
    int count = 0;
    if (options->verb != BENCH_ALL && options->verb != verb)
        return 0;
    if (!options->suite)
        return with_sizes(verb, on_gpu, options).size_count;
    bench_suite(verb, options->suite, &count);
    return count;
}

static int all_cases(int on_gpu, const bench_options_t *options)
{
    return case_count(BENCH_GEMM, on_gpu, options) + case_count(BENCH_TRANSPOSE, on_gpu, options) +
           case_count(BENCH_REDUCE, on_gpu, options);
}

/* *cpu_follows: whether the CPU is measured after a GPU, then whether it is after this one. */
static int run_on(const bench_options_t *options, report_t *report, int *cpu_follows)
{
    machine_t machine;
    report_progress(report, "starting");
    int status = machine_open(&machine, options);
    if (status != EXIT_OK)
        return status;
    *cpu_follows = *cpu_follows && machine.on_gpu;
    report_begin(report, &machine,
                 all_cases(machine.on_gpu, options) + (*cpu_follows ? all_cases(0, options) : 0));
    for (bench_verb_t verb = BENCH_GEMM; status == EXIT_OK && verb <= BENCH_REDUCE; verb++)
        if (case_count(verb, machine.on_gpu, options)) {
            const bench_options_t one = with_sizes(verb, machine.on_gpu, options);
            status = bench_run(verb, &machine, &one, report);
        }
    if (options->vs == VS_DEFAULT && !machine.blas && !machine.cublas && !machine.cub)
        report_note(report, machine.on_gpu ? "(cuBLAS was not found: no comparison)"
                                           : "(OpenBLAS was not found: no comparison)");
    machine_close(&machine);
    return status;
}

int command_bench(int argc, char **argv)
{
    bench_options_t options = {
        .layout = TILEMM_ROW_MAJOR,
        .alpha = 1,
        .batch = 1,
        .math = -1,
        .invariance = -1,
        .ld = {NOT_GIVEN, NOT_GIVEN, NOT_GIVEN},
        .stride = {NOT_GIVEN, NOT_GIVEN, NOT_GIVEN},
        .elem_size = sizeof(float),
        .op = TILEMM_SUM,
        .axis = -1,
        .inc = 1,
        .inc_y = 1,
        .segments = -1,
    };
    const char *math = getenv("TILEMM_MATH"), *log = getenv("TILEMM_LOG");
    int status = read_options(argc, argv, &options);
    if (status)
        return -1 - status;
    options.log = log && strcmp(log, "1") == 0;
    if (options.log)
        unsetenv("TILEMM_LOG"); /* calls are logged where run_once() says so */
    if (options.math < 0 && (!math || parse_word(math, math_words, &options.math) != 0))
        options.math = TILEMM_MATH_FP32;
    if (options.calibrate)
        return bench_calibrate(&options);
    if (options.timeline && output_check(options.timeline) != 0)
        return EXIT_FAILED;
    report_t *report = report_open(&options);
    if (!report)
        return EXIT_FAILED;
    int cpu_follows = options.verb == BENCH_ALL && !options.suite &&
                      options.context.backend == TILEMM_BACKEND_AUTO;
    status = run_on(&options, report, &cpu_follows);
    if (status == EXIT_OK && cpu_follows) {
        options.context.backend = TILEMM_BACKEND_CPU;
        status = run_on(&options, report, &cpu_follows);
    }
    const int at_end = report_close(report);
    return status == EXIT_OK ? at_end : status;
}
