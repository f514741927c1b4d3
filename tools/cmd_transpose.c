/* cmd_transpose.c - `tilemm transpose`: the transpose of a .npy file.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "lib/size.h"
#include "npy.h"
#include "output.h"

static const char help[] =
    "Usage: tilemm transpose A.npy -o B.npy [OPTION]...\n"
    "Transpose a matrix in NumPy's .npy format, in C or Fortran order. Elements may be of any\n"
    "type of 1, 2, 4, 8 or 16 bytes and either byte order; they are moved as they are.\n"
    "B is written in C order.\n"
    "\n"
    "  -o, --output B.npy         the result\n" CONTEXT_HELP
    "  -h, --help                 this help\n";

static int transpose(const context_options_t *options, const npy_t *a, const char *output)
{
    const int64_t rows = a->shape[0], cols = a->shape[1], shape[2] = {cols, rows};
    npy_output_t b;
    int status = EXIT_FAILED;
    if (a->fortran_order) /* the transpose in C order is what the file holds */
        return npy_write(output, a->descr, a->item_size, 2, shape, a->data);
    if (npy_create(&b, output, a->descr, a->item_size, 2, shape) != 0)
        return EXIT_FAILED;
    tilemm_t ctx = command_context(options);
    if (ctx && tilemm_transpose(ctx, rows, cols, a->item_size, a->data, tilemm__max(cols, 1),
                                b.data, tilemm__max(rows, 1)) != TILEMM_SUCCESS)
        command_error("%s", tilemm_last_error(ctx));
    else if (ctx)
        status = EXIT_OK;
    tilemm_destroy(ctx);
    return npy_finish(&b, status);
}

int command_transpose(int argc, char **argv)
{
    context_options_t context = {0};
    const char *output = NULL;
    command_option_t table[] = {
        {"output", OPTION_FILE, .value = &output, .letter = 'o'},
        {"A.npy", .kind = OPTION_OPERANDS},
        CONTEXT_OPTIONS(context),
    };
    npy_t a;
    int first, status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status)
        return -1 - status;
    if (argc - first != 1)
        return command_usage_error("transpose", "takes one file, A.npy");
    if (!output)
        return command_usage_error("transpose", "where to? -o B.npy is missing");
    if (output_check(output) != 0 || npy_open(&a, argv[first]) != 0)
        return EXIT_FAILED;
    status = EXIT_FAILED;
    if (!a.item_size || a.item_size > 16 || (a.item_size & (a.item_size - 1)))
        command_error("%s: has elements of %zu bytes ('%s'), must be 1, 2, 4, 8 or 16 bytes",
                      a.path, a.item_size, a.descr);
    else if (npy_require_dims(&a, 2) == 0)
        status = transpose(&context, &a, output);
    npy_close(&a);
    return status;
}
