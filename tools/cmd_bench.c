/* cmd_bench.c - `tilemm bench`: the options, and which measurements to make.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
    SIZES = 1,
    LAYOUT,
    TRANS,
    MATH,
    ELEM_SIZE,
    OP,
    AXIS,
    VS,
    REPS,
    CSV,
    JSON,
    PLOT,
    ALPHA,
    BETA,
    LDA,
    LDB,
    LDC,
    BATCH,
    STRIDE_A,
    STRIDE_B,
    STRIDE_C,
    LD_SRC,
    LD_DST,
    STRIDE_SRC,
    STRIDE_DST,
    IN_PLACE,
    NO_TRANS,
    INC,
    INC_Y,
    SEGMENTS,
    ARG,
    NAN_POLICY,
    SUITE
};

static const word_t verb_words[] = {
    {"gemm", BENCH_GEMM}, {"transpose", BENCH_TRANSPOSE}, {"reduce", BENCH_REDUCE}, {0}};
static const word_t vs_words[] = {
    {"openblas", VS_OPENBLAS}, {"cublas", VS_CUBLAS}, {"none", VS_NONE}, {0}};
static const word_t trans_words[] = {{"nn", 0}, {"nt", 1}, {"tn", 2}, {"tt", 3}, {0}};

/* The options that each verb takes, as bits 1 << verb; BENCH_ALL's are bit 0. */
enum { FOR_ALL = 15, FOR_GEMM = 2, FOR_TRANSPOSE = 4, FOR_REDUCE = 8 };

static const struct {
    struct option option;
    int verbs;
} table[] = {
    {{"sizes", required_argument, NULL, SIZES}, FOR_GEMM | FOR_TRANSPOSE | FOR_REDUCE},
    {{"suite", required_argument, NULL, SUITE}, FOR_GEMM | FOR_TRANSPOSE | FOR_REDUCE},
    {{"layout", required_argument, NULL, LAYOUT}, FOR_GEMM | FOR_REDUCE},
    {{"trans", required_argument, NULL, TRANS}, FOR_GEMM},
    {{"math", required_argument, NULL, MATH}, 1 | FOR_GEMM},
    {{"elem-size", required_argument, NULL, ELEM_SIZE}, FOR_TRANSPOSE},
    {{"op", required_argument, NULL, OP}, FOR_REDUCE},
    {{"axis", required_argument, NULL, AXIS}, FOR_REDUCE},
    {{"vs", required_argument, NULL, VS}, FOR_ALL},
    {{"reps", required_argument, NULL, REPS}, FOR_ALL},
    {{"csv", required_argument, NULL, CSV}, FOR_ALL},
    {{"json", required_argument, NULL, JSON}, FOR_ALL},
    {{"plot", required_argument, NULL, PLOT}, FOR_ALL},
    {{"alpha", required_argument, NULL, ALPHA}, FOR_GEMM | FOR_TRANSPOSE},
    {{"beta", required_argument, NULL, BETA}, FOR_GEMM},
    {{"lda", required_argument, NULL, LDA}, FOR_GEMM | FOR_REDUCE},
    {{"ldb", required_argument, NULL, LDB}, FOR_GEMM},
    {{"ldc", required_argument, NULL, LDC}, FOR_GEMM},
    {{"batch", required_argument, NULL, BATCH}, FOR_GEMM | FOR_TRANSPOSE},
    {{"stride-a", required_argument, NULL, STRIDE_A}, FOR_GEMM},
    {{"stride-b", required_argument, NULL, STRIDE_B}, FOR_GEMM},
    {{"stride-c", required_argument, NULL, STRIDE_C}, FOR_GEMM},
    {{"ld-src", required_argument, NULL, LD_SRC}, FOR_TRANSPOSE},
    {{"ld-dst", required_argument, NULL, LD_DST}, FOR_TRANSPOSE},
    {{"stride-src", required_argument, NULL, STRIDE_SRC}, FOR_TRANSPOSE},
    {{"stride-dst", required_argument, NULL, STRIDE_DST}, FOR_TRANSPOSE},
    {{"in-place", no_argument, NULL, IN_PLACE}, FOR_TRANSPOSE},
    {{"no-trans", no_argument, NULL, NO_TRANS}, FOR_TRANSPOSE},
    {{"inc", required_argument, NULL, INC}, FOR_REDUCE},
    {{"inc-y", required_argument, NULL, INC_Y}, FOR_REDUCE},
    {{"segments", required_argument, NULL, SEGMENTS}, FOR_REDUCE},
    {{"arg", no_argument, NULL, ARG}, FOR_REDUCE},
    {{"nan", required_argument, NULL, NAN_POLICY}, FOR_REDUCE},
    {{"help", no_argument, NULL, 'h'}, FOR_ALL},
};

enum { TABLE_LENGTH = sizeof table / sizeof table[0] };

static void print_help(void)
{
    puts("Usage: tilemm bench [gemm|transpose|reduce] [OPTION]...\n"
         "Measure speed and error next to OpenBLAS on the CPU, or cuBLAS and CUB on a GPU, where\n"
         "they are found. Without a verb: a short table of SGEMM, transpose and sum on the best\n"
         "backend; where that is a GPU, one of the CPU follows.\n");
    puts("All verbs:\n"
         "      --sizes LIST           sizes, separated by commas: N; MxNxK for gemm; RxC for\n"
         "                             transpose and for reduce by axis\n"
         "      --vs openblas|cublas|none  what to compare with (what is there)\n"
         "      --reps N               repetitions (as many as make sense)\n"
         "      --csv FILE             the figures as CSV; - is standard output\n"
         "      --json FILE            the figures as JSON; - is standard output\n"
         "      --plot FILE.svg        rate against size, drawn by gnuplot\n" CONTEXT_HELP
         "  -h, --help                 this help\n");
    puts("gemm:\n"
         "      --suite h200|cpu|cpu-avx2|cpu-amx  a fixed list of products, each with the\n"
         "                             ratio aimed at on that chip, in place of --sizes\n"
         "      --layout row|col       storage order (row)\n"
         "      --trans nn|nt|tn|tt    which of A and B is transposed (nn)\n"
         "      --math fp32|strict|tf32  how to compute (TILEMM_MATH, or fp32)\n"
         "      --alpha X, --beta X    factors (1 and 0)\n"
         "      --lda N, --ldb N, --ldc N   leading dimensions (no gaps)\n"
         "      --batch N              matrices of one shape at once (1)\n"
         "      --stride-a N, --stride-b N, --stride-c N   from one to the next (no gaps);\n"
         "                             --stride-c 0: matrices given by arrays of pointers\n");
    puts("transpose:\n"
         "      --suite h200|cpu       a fixed list of shapes, each with the ratios aimed at\n"
         "      --elem-size 1|2|4|8|16  bytes (4)\n"
         "      --in-place             in place\n"
         "      --alpha X              scaled, of floats\n"
         "      --no-trans             with or without --alpha: a scaled copy, not transposed\n"
         "      --ld-src N, --ld-dst N, --batch N, --stride-src N, --stride-dst N   as for gemm\n");
    puts("reduce:\n"
         "      --suite h200|cpu       a fixed list, each with the ratio aimed at\n"
         "      --op OPERATION         sum asum sumsq nrm2 mean max min amax amin dot,\n"
         "                             or a position: imax imin iamax iamin (sum)\n"
         "      --axis rows|cols       of matrices: down the rows, or along the columns\n"
         "      --layout row|col, --lda N   the matrices' storage (row, no gaps)\n"
         "      --arg                  by axis: positions with the values\n"
         "      --segments N           of a vector in so many pieces\n"
         "      --inc N, --inc-y N     the vectors' increments (1)\n"
         "      --nan propagate|ignore what NaN does (propagate)");
}

/* "1024", "300x200", "1024x32x7,64": 0, or -1. */
static int parse_sizes(const char *text, bench_options_t *options)
{
    options->size_count = 0;
    for (;;) {
        bench_size_t *size = &options->sizes[options->size_count];
        if (options->size_count == MAX_SIZES)
            return -1;
        for (size->dims = 0;;) {
            char digits[24];
            size_t length = strspn(text, "0123456789");
            if (!length || length >= sizeof digits || size->dims == 3)
                return -1;
            memcpy(digits, text, length);
            digits[length] = '\0';
            if (parse_int64(digits, 0, INT64_MAX, &size->dim[size->dims++]) != 0)
                return -1;
            text += length;
            if (*text != 'x')
                break;
            text++;
        }
        options->size_count++;
        if (!*text)
            return 0;
        if (*text++ != ',')
            return -1;
    }
}

static const char *name_of(int option)
{
    for (int i = 0; i < TABLE_LENGTH; i++)
        if (table[i].option.val == option)
            return table[i].option.name;
    return "?";
}

/* Options whose values are words. 1 taken, 0 not one of them, -1 wrong. */
static int take_word_option(int option, bench_options_t *o)
{
    const struct {
        int option;
        const word_t *words;
        int *value;
    } all[] = {
        {LAYOUT, layout_words, &o->layout},
        {MATH, math_words, &o->math},
        {OP, reduce_words, &o->op},
        {AXIS, axis_words, &o->axis},
        {VS, vs_words, &o->vs},
        {NAN_POLICY, nan_words, &o->nan},
    };
    int trans;

    if (option == TRANS) {
        if (parse_word(optarg, trans_words, &trans) != 0)
            return -1;
        o->transa = trans & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        o->transb = trans & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        return 1;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (option == all[i].option)
            return parse_word(optarg, all[i].words, all[i].value) == 0 ? 1 : -1;
    return 0;
}

static int take_number_option(int option, bench_options_t *o)
{
    const struct {
        int option;
        int64_t low, high, *value;
    } all[] = {
        {ELEM_SIZE, 1, 16, &o->elem_size},
        {REPS, 1, 1000000, &o->reps},
        {LDA, 0, INT64_MAX, &o->lda},
        {LDB, 0, INT64_MAX, &o->ldb},
        {LDC, 0, INT64_MAX, &o->ldc},
        {BATCH, 0, INT64_MAX, &o->batch},
        {STRIDE_A, -INT64_MAX, INT64_MAX, &o->stride_a},
        {STRIDE_B, -INT64_MAX, INT64_MAX, &o->stride_b},
        {STRIDE_C, -INT64_MAX, INT64_MAX, &o->stride_c},
        {LD_SRC, 0, INT64_MAX, &o->ld_src},
        {LD_DST, 0, INT64_MAX, &o->ld_dst},
        {STRIDE_SRC, -INT64_MAX, INT64_MAX, &o->stride_src},
        {STRIDE_DST, -INT64_MAX, INT64_MAX, &o->stride_dst},
        {INC, -INT64_MAX, INT64_MAX, &o->inc},
        {INC_Y, -INT64_MAX, INT64_MAX, &o->inc_y},
        {SEGMENTS, 0, INT64_MAX - 1, &o->segments},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (option == all[i].option)
            return parse_int64(optarg, all[i].low, all[i].high, all[i].value) == 0 ? 1 : -1;
    return 0;
}

/* The rest. */
static int take_other_option(int option, bench_options_t *o)
{
    switch (option) {
    case SIZES: return parse_sizes(optarg, o) == 0 ? 1 : -1;
    case ALPHA: o->scaled = 1; return parse_float(optarg, &o->alpha) == 0 ? 1 : -1;
    case BETA: return parse_float(optarg, &o->beta) == 0 ? 1 : -1;
    case SUITE: o->suite = optarg; return 1;
    case CSV: o->csv = optarg; return 1;
    case JSON: o->json = optarg; return 1;
    case PLOT: o->plot = optarg; return 1;
    case IN_PLACE: return o->in_place = 1;
    case NO_TRANS: return o->no_trans = 1;
    case ARG: return o->arg = 1;
    default: return 0;
    }
}

/* What the parser of single options cannot see. Returns a status. */
static int check_options(bench_options_t *o)
{
    const int is_extreme = reduce_value_op((reduce_op_t)o->op) >= TILEMM_MAX &&
                           reduce_value_op((reduce_op_t)o->op) <= TILEMM_AMIN;
    const int most_dims = o->verb == BENCH_GEMM                    ? 3
                          : o->verb == BENCH_REDUCE && o->axis < 0 ? 1
                                                                   : 2;
    int count;

    for (int i = 0; i < o->size_count; i++)
        if (o->sizes[i].dims > most_dims || (most_dims == 3 && o->sizes[i].dims == 2))
            return command_usage_error("bench", "--sizes takes %s here",
                                       most_dims == 3   ? "N or MxNxK"
                                       : most_dims == 2 ? "N or RxC"
                                                        : "N");
    if (o->suite && !(o->verb == BENCH_REDUCE      ? bench_reduce_has_suite(o->suite)
                      : o->verb == BENCH_TRANSPOSE ? bench_transpose_has_suite(o->suite)
                                                   : bench_suite(o->suite, &count) != NULL))
        return command_usage_error("bench", "--suite does not take '%s'", o->suite);
    if (o->suite && o->size_count)
        return command_usage_error("bench", "--suite and --sizes exclude each other");
    if (o->elem_size & (o->elem_size - 1))
        return command_usage_error("bench", "--elem-size takes 1, 2, 4, 8 or 16");
    if (o->verb == BENCH_TRANSPOSE && (o->scaled || o->no_trans) &&
        (o->elem_size != sizeof(float) || o->batch != 1))
        return command_usage_error("bench", "--alpha and --no-trans are for 4-byte elements and no "
                                            "--batch");
    if (o->verb == BENCH_TRANSPOSE && o->in_place && o->batch != 1)
        return command_usage_error("bench", "--in-place and --batch exclude each other");
    if (o->axis >= 0 && o->segments >= 0)
        return command_usage_error("bench", "--axis and --segments exclude each other");
    if (o->op == REDUCE_DOT && (o->axis >= 0 || o->segments >= 0))
        return command_usage_error("bench", "dot is of vectors");
    if (o->segments >= 0 && reduce_is_index((reduce_op_t)o->op))
        return command_usage_error("bench", "--segments has no positions");
    if (o->arg && (o->axis < 0 || !is_extreme))
        return command_usage_error("bench", "--arg is for max, min, amax and amin by --axis");
    if (o->inc == 0 || o->inc_y == 0)
        return command_usage_error("bench", "an increment must not be 0");
    if ((o->vs == VS_OPENBLAS && o->context.backend == TILEMM_BACKEND_CUDA) ||
        (o->vs == VS_CUBLAS && o->context.backend == TILEMM_BACKEND_CPU))
        return command_usage_error("bench", "%s does not run on the %s backend",
                                   o->vs == VS_OPENBLAS ? "OpenBLAS" : "cuBLAS",
                                   word_of(backend_words, o->context.backend));
    if (o->csv && o->json && strcmp(o->csv, "-") == 0 && strcmp(o->json, "-") == 0)
        return command_usage_error("bench", "--csv and --json cannot both have standard output");
    /* A peer says which backend is meant. */
    if (o->context.backend == TILEMM_BACKEND_AUTO && o->vs == VS_OPENBLAS)
        o->context.backend = TILEMM_BACKEND_CPU;
    if (o->context.backend == TILEMM_BACKEND_AUTO && o->vs == VS_CUBLAS)
        o->context.backend = TILEMM_BACKEND_CUDA;
    return EXIT_OK;
}

/* Returns 0, or -1 - the status to exit with. */
static int read_options(int argc, char **argv, bench_options_t *options)
{
    struct option long_options[TABLE_LENGTH + 4] = {{0}};
    const struct option context_options[] = {CONTEXT_LONG_OPTIONS};
    const char *name;
    int option, taken, verb, seen[TABLE_LENGTH] = {0};

    for (int i = 0; i < TABLE_LENGTH; i++)
        long_options[i] = table[i].option;
    memcpy(long_options + TABLE_LENGTH, context_options, sizeof context_options);
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return -1 - EXIT_OK;
        }
        if (option == '?' || option == ':')
            return -1 - command_bad_option("bench", option, argv);
        for (int i = 0; i < TABLE_LENGTH; i++)
            seen[i] |= table[i].option.val == option;
        taken = command_context_option("bench", option, optarg, &options->context);
        if (taken < 0)
            return -1 - EXIT_USAGE;
        if (!taken)
            taken = take_word_option(option, options);
        if (!taken)
            taken = take_number_option(option, options);
        if (!taken)
            taken = take_other_option(option, options);
        if (taken < 0)
            return -1 -
                   command_usage_error("bench", "--%s does not take '%s'", name_of(option), optarg);
    }
    if (argc - optind > 1)
        return -1 - command_usage_error("bench", "too many words: '%s'", argv[optind + 1]);
    if (optind < argc) {
        if (parse_word(argv[optind], verb_words, &verb) != 0)
            return -1 - command_usage_error("bench", "'%s' is none of gemm, transpose and reduce",
                                            argv[optind]);
        options->verb = (bench_verb_t)verb;
    }
    name = options->verb == BENCH_ALL ? "" : argv[optind];
    for (int i = 0; i < TABLE_LENGTH; i++)
        if (seen[i] && !(table[i].verbs & 1 << options->verb))
            return -1 - command_usage_error("bench", "--%s is not an option of bench%s%s",
                                            table[i].option.name, *name ? " " : "", name);
    taken = check_options(options);
    return taken ? -1 - taken : 0;
}

/* ---- what to measure ------------------------------------------------------------------------- */

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

static int run_verb(bench_verb_t verb, const machine_t *machine, bench_options_t *options,
                    report_t *report)
{
    const int given = options->size_count;
    int status;

    if (options->suite)
        return verb == BENCH_TRANSPOSE ? bench_transpose_suite(machine, options, report)
               : verb == BENCH_REDUCE  ? bench_reduce_suite(machine, options, report)
                                       : bench_gemm_suite(machine, options, report);
    for (size_t i = 0; !given && i < sizeof usual / sizeof usual[0]; i++)
        if (usual[i].verb == verb && usual[i].on_gpu == machine->on_gpu &&
            usual[i].by_axis == (verb == BENCH_REDUCE && options->axis >= 0))
            parse_sizes(options->verb == BENCH_ALL ? usual[i].short_sizes : usual[i].sizes,
                        options);
    status = verb == BENCH_GEMM        ? bench_gemm(machine, options, report)
             : verb == BENCH_TRANSPOSE ? bench_transpose(machine, options, report)
                                       : bench_reduce(machine, options, report);
    options->size_count = given;
    return status;
}

static int run_on(bench_options_t *options, report_t *report, int *was_gpu)
{
    static const bench_verb_t all[] = {BENCH_GEMM, BENCH_TRANSPOSE, BENCH_REDUCE};
    machine_t machine;
    int status;

    report_progress(report, "starting");
    status = machine_open(&machine, options);
    if (status != EXIT_OK)
        return status;
    *was_gpu = machine.on_gpu;
    if (options->verb != BENCH_ALL)
        status = run_verb(options->verb, &machine, options, report);
    else
        for (size_t i = 0; status == EXIT_OK && i < sizeof all / sizeof all[0]; i++)
            status = run_verb(all[i], &machine, options, report);
    if (options->vs == VS_DEFAULT && !machine.blas && !machine.cublas && !machine.cub)
        report_note(report, "(%s was not found: no comparison)",
                    machine.on_gpu ? "cuBLAS" : "OpenBLAS");
    machine_close(&machine);
    return status;
}

int command_bench(int argc, char **argv)
{
    bench_options_t options = {
        .layout = TILEMM_ROW_MAJOR,
        .alpha = 1,
        .batch = 1,
        .transa = TILEMM_NO_TRANS,
        .transb = TILEMM_NO_TRANS,
        .math = -1,
        .lda = NOT_GIVEN,
        .ldb = NOT_GIVEN,
        .ldc = NOT_GIVEN,
        .stride_a = NOT_GIVEN,
        .stride_b = NOT_GIVEN,
        .stride_c = NOT_GIVEN,
        .elem_size = sizeof(float),
        .ld_src = NOT_GIVEN,
        .ld_dst = NOT_GIVEN,
        .stride_src = NOT_GIVEN,
        .stride_dst = NOT_GIVEN,
        .op = REDUCE_SUM,
        .axis = -1,
        .inc = 1,
        .inc_y = 1,
        .segments = -1,
    };
    const char *math = getenv("TILEMM_MATH");
    report_t *report;
    int status = read_options(argc, argv, &options), was_gpu = 0, at_end;

    if (status)
        return -1 - status;
    if (options.math < 0 && (!math || parse_word(math, math_words, &options.math) != 0))
        options.math = TILEMM_MATH_FP32;
    report = report_open(&options);
    if (!report)
        return EXIT_FAILED;
    status = run_on(&options, report, &was_gpu);
    if (status == EXIT_OK && was_gpu && options.verb == BENCH_ALL &&
        options.context.backend == TILEMM_BACKEND_AUTO) {
        options.context.backend = TILEMM_BACKEND_CPU;
        status = run_on(&options, report, &was_gpu);
    }
    at_end = report_close(report);
    return status == EXIT_OK ? at_end : status;
}
