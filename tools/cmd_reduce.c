/* cmd_reduce.c - `tilemm reduce`: sums, norms, extremes and their positions in a .npy file.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "lib/size.h"
#include "npy.h"
#include "output.h"

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
    "(propagate)\n" NPY_FORCE_HELP CONTEXT_HELP "  -h, --help                 this help\n";

/* The position in C order of the extreme of a matrix in Fortran order, from each row's. */
static int64_t first_in_rows(tilemm_reduce_t op, int64_t rows, int64_t cols, const float *values,
                             const int64_t *positions)
{
    const float sign = op == TILEMM_MAX || op == TILEMM_AMAX ? 1.0f : -1.0f;
    int64_t best = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (positions[i] < 0)
            continue;
        const float x = sign * values[i], y = best < 0 ? 0 : sign * values[best];
        if (best >= 0 && isnan(y))
            break;
        if (best < 0 || isnan(x) || x > y || (x == y && signbit(y) && !signbit(x)))
            best = i;
    }
    return best < 0 ? -1 : best * cols + positions[best];
}

static int reduce(tilemm_t ctx, int operation, int of_axis, const npy_t *a, const char *output,
                  int force)
{
    const tilemm_reduce_t op = reduce_value_op(operation);
    const int index = reduce_is_index(operation), ndim = of_axis >= 0;
    /* Positions of all of a Fortran-order matrix are found row by row, for C order's first. */
    const int by_rows = index && of_axis < 0 && a->ndim == 2 && a->fortran_order;
    const int whole = of_axis < 0 && !by_rows;
    const tilemm_axis_t axis = of_axis < 0 ? TILEMM_AXIS_COLS : (tilemm_axis_t)of_axis;
    const tilemm_layout_t layout = !whole && a->fortran_order ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR;
    const int64_t rows = whole ? 1 : a->shape[0];
    const int64_t cols = whole ? (int64_t)a->count : a->shape[1];
    const int64_t ld = tilemm__max(layout == TILEMM_ROW_MAJOR ? cols : rows, 1);
    const int64_t results = axis == TILEMM_AXIS_ROWS ? cols : rows, count = ndim ? results : 1;
    if (npy_check_result(a, NULL, 1, results, index ? sizeof(int64_t) : sizeof(float), force) != 0)
        return EXIT_FAILED;
    float *values = calloc((size_t)tilemm__max(results, 1), sizeof *values);
    int64_t *positions = calloc((size_t)tilemm__max(results, 1), sizeof *positions);
    int status = EXIT_OK;
    if (!values || !positions) {
        free(values);
        free(positions);
        return command_error("no memory for %lld results", (long long)results);
    }
    const tilemm_status_t done =
        index ? tilemm_sargreduce(ctx, op, axis, layout, rows, cols, a->data, ld, values, 1,
                                  positions)
              : tilemm_sreduce(ctx, op, axis, layout, rows, cols, a->data, ld, values, 1);
    if (by_rows)
        positions[0] = first_in_rows(op, rows, cols, values, positions);
    if (done != TILEMM_SUCCESS)
        status = command_error("%s", tilemm_last_error(ctx));
    else if (output && index)
        status = npy_write(output, NPY_NATIVE "i8", sizeof *positions, ndim, &count, positions);
    else if (output)
        status = npy_write(output, NPY_NATIVE "f4", sizeof *values, ndim, &count, values);
    for (int64_t i = 0; status == EXIT_OK && !output && i < count; i++)
        if (index)
            printf("%lld\n", (long long)positions[i]);
        else
            printf("%.9g\n", (double)values[i]);
    free(values);
    free(positions);
    return status;
}

int command_reduce(int argc, char **argv)
{
    const char *output = NULL;
    context_options_t context = {0};
    int axis = -1 /* all elements */, nan = 0, force = 0, op, first;
    command_option_t table[] = {
        {"operation", OPTION_ARGUMENT, &op, .words = reduce_words + 1},
        {"A.npy", .kind = OPTION_OPERANDS},
        {"axis", OPTION_WORD, &axis, .words = axis_words},
        {"output", OPTION_FILE, .value = &output, .letter = 'o'},
        {"nan", OPTION_WORD, &nan, .words = nan_words},
        {"force", OPTION_FLAG, .value = &force},
        CONTEXT_OPTIONS(context),
    };
    npy_t a;
    tilemm_t ctx;
    int status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status)
        return -1 - status;
    if (argc - first != 1)
        return command_usage_error("reduce", "takes an operation and one file, A.npy");
    if ((output && output_check(output) != 0) || npy_open(&a, argv[first]) != 0)
        return EXIT_FAILED;
    status = EXIT_FAILED;
    const int is_taken = npy_require_float32(&a, 1) == 0;
    if (is_taken && axis >= 0 && a.ndim != 2) {
        command_error("%s: has 1 dimension, must have 2 for --axis", a.path);
    } else if (is_taken && (ctx = command_context(&context)) != NULL) {
        tilemm_set_nan_policy(ctx, (tilemm_nan_t)nan);
        status = reduce(ctx, op, axis, &a, output, force);
        tilemm_destroy(ctx);
    }
    npy_close(&a);
    return status;
}
