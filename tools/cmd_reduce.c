/* cmd_reduce.c - `tilemm reduce`: sums, norms, extremes and their positions in a .npy file.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "npy.h"

typedef struct {
    reduce_op_t op;
    int axis; /* -1: all elements */
    int nan;
    const char *input, *output;
    context_options_t context;
} reduce_options_t;

static const char help[] =
    "Usage: tilemm reduce OPERATION A.npy [OPTION]...\n"
    "Reduce float32 elements of a file in NumPy's .npy format: a vector, or a matrix in C or\n"
    "Fortran order. Prints the result, or one result a line.\n"
    "\n"
    "Operations: sum asum sumsq nrm2 mean max min amax amin (asum, amax, amin: of absolute\n"
    "values), and imax imin iamax iamin: the position, from 0, of the first such element.\n"
    "\n"
    "      --axis rows|cols       of a matrix: down the rows (one result a column), or along\n"
    "                             the columns (one result a row); without it, of all elements\n"
    "  -o, --output OUT.npy       write the results (float32; positions int64) to a file\n"
    "      --nan propagate|ignore NaN makes the result NaN, or is ignored "
    "(propagate)\n" CONTEXT_HELP "  -h, --help                 this help\n";

/* Returns 0, or -1 - the status to exit with. */
static int read_options(int argc, char **argv, reduce_options_t *o)
{
    command_option_t table[] = {
        {"axis", OPTION_WORD, &o->axis, .words = axis_words},
        {"output", OPTION_TEXT, &o->output, .letter = 'o'},
        {"nan", OPTION_WORD, &o->nan, .words = nan_words},
        CONTEXT_OPTIONS(o->context),
    };
    int op, first,
        status = command_options(argc, argv, help, table, sizeof table / sizeof table[0], &first);

    if (status)
        return status;
    if (argc - first != 2)
        return -1 - command_usage_error("reduce", "takes an operation and one file, A.npy");
    if (parse_word(argv[first], reduce_words, &op) != 0 || op == REDUCE_DOT)
        return -1 - command_usage_error("reduce", "'%s' is not an operation", argv[first]);
    o->op = (reduce_op_t)op;
    o->input = argv[first + 1];
    return 0;
}

/* The position in C order of the extreme of a matrix in Fortran order, from each row's. */
static int64_t first_in_rows(tilemm_reduce_t op, int64_t rows, int64_t cols, const float *values,
                             const int64_t *positions)
{
    int64_t best = -1;

    for (int64_t i = 0; i < rows; i++) {
        if (positions[i] < 0)
            continue;
        if (best < 0)
            best = i;
        else if (isnan(values[best]))
            break;
        else if (isnan(values[i]))
            best = i;
        else if (op == TILEMM_MAX || op == TILEMM_AMAX
                     ? values[i] > values[best] || (values[i] == values[best] &&
                                                    signbit(values[best]) && !signbit(values[i]))
                     : values[i] < values[best] || (values[i] == values[best] &&
                                                    !signbit(values[best]) && signbit(values[i])))
            best = i;
    }
    return best < 0 ? -1 : best * cols + positions[best];
}

static void print_results(int64_t count, const float *values, const int64_t *positions)
{
    for (int64_t i = 0; i < count; i++)
        if (positions)
            printf("%lld\n", (long long)positions[i]);
        else
            printf("%.9g\n", (double)values[i]);
}

static int reduce(tilemm_t ctx, const reduce_options_t *options, const npy_t *a)
{
    const tilemm_reduce_t op = reduce_value_op(options->op);
    const int index = reduce_is_index(options->op);
    /* Positions of all of a Fortran-order matrix are found row by row, for C order's first. */
    const int by_rows = index && options->axis < 0 && a->ndim == 2 && a->fortran_order;
    const int whole = options->axis < 0 && !by_rows;
    const tilemm_axis_t axis = whole || by_rows ? TILEMM_AXIS_COLS : (tilemm_axis_t)options->axis;
    const tilemm_layout_t layout = !whole && a->fortran_order ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR;
    const int64_t rows = whole ? 1 : a->shape[0];
    const int64_t cols = whole ? (int64_t)a->count : a->shape[1];
    const int64_t ld = layout == TILEMM_ROW_MAJOR ? cols : rows;
    const int64_t results = axis == TILEMM_AXIS_ROWS ? cols : rows;
    const int ndim = options->axis >= 0;
    int64_t count = ndim ? results : 1;
    const char descr[4] = {npy_native_order(), index ? 'i' : 'f', index ? '8' : '4', '\0'};
    float *values = calloc(results ? (size_t)results : 1, sizeof *values);
    int64_t *positions = index ? calloc(results ? (size_t)results : 1, sizeof *positions) : NULL;
    tilemm_status_t status;
    int failed = 1;

    if (!values || (index && !positions)) {
        command_error("no memory for %lld results", (long long)results);
    } else {
        status = index ? tilemm_sargreduce(ctx, op, axis, layout, rows, cols, a->data,
                                           ld > 1 ? ld : 1, values, 1, positions)
                       : tilemm_sreduce(ctx, op, axis, layout, rows, cols, a->data, ld > 1 ? ld : 1,
                                        values, 1);
        if (status != TILEMM_SUCCESS) {
            command_error("%s", tilemm_last_error(ctx));
        } else {
            if (by_rows)
                positions[0] = first_in_rows(op, rows, cols, values, positions);
            failed = 0;
            if (!options->output)
                print_results(count, values, positions);
            else
                failed =
                    npy_write(options->output, descr, index ? sizeof *positions : sizeof *values,
                              ndim, &count, index ? (void *)positions : (void *)values) != 0;
        }
    }
    free(values);
    free(positions);
    return failed ? EXIT_FAILED : EXIT_OK;
}

int command_reduce(int argc, char **argv)
{
    reduce_options_t options = {.axis = -1};
    npy_t a;
    tilemm_t ctx;
    int status = read_options(argc, argv, &options);

    if (status)
        return -1 - status;
    if ((options.output && npy_check_output(options.output) != 0) ||
        npy_open(&a, options.input) != 0)
        return EXIT_FAILED;
    status = EXIT_FAILED;
    if (npy_require_float32(&a, 1, 2) == 0) {
        if (options.axis >= 0 && a.ndim != 2) {
            command_error("%s: has 1 dimension, must have 2 for --axis", a.path);
        } else {
            ctx = command_context(&options.context);
            if (ctx) {
                tilemm_set_nan_policy(ctx, (tilemm_nan_t)options.nan);
                status = reduce(ctx, &options, &a);
                tilemm_destroy(ctx);
            }
        }
    }
    npy_close(&a);
    return status;
}
