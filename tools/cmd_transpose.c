/* cmd_transpose.c - `tilemm transpose`: the transpose of a .npy file.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "command.h"
#include "lib/size.h"
#include "npy.h"

static const char help[] =
    "Usage: tilemm transpose A.npy -o B.npy [OPTION]...\n"
    "Transpose a matrix in NumPy's .npy format, in C or Fortran order. Elements may be of any\n"
    "type of 1, 2, 4, 8 or 16 bytes and either byte order; they are moved as they are.\n"
    "B is written in C order.\n"
    "\n"
    "  -o, --output B.npy         the result\n" CONTEXT_HELP
    "  -h, --help                 this help\n";

static int transpose(tilemm_t ctx, const npy_t *a, const char *output)
{
    const int64_t rows = a->shape[0], cols = a->shape[1];
    const size_t bytes = a->count * a->item_size;
    void *b = malloc(bytes ? bytes : 1);
    int status;

    if (!b)
        return command_error("no memory for a result of %lld x %lld (%zu bytes)", (long long)cols,
                             (long long)rows, bytes);
    if (tilemm_transpose(ctx, rows, cols, a->item_size, a->data, tilemm__max(cols, 1), b,
                         tilemm__max(rows, 1)) != TILEMM_SUCCESS)
        status = command_error("%s", tilemm_last_error(ctx));
    else
        status = npy_write(output, a->descr, a->item_size, 2, (int64_t[]){cols, rows}, b);
    free(b);
    return status;
}

int command_transpose(int argc, char **argv)
{
    context_options_t context = {0};
    const char *output = NULL;
    command_option_t table[] = {
        {"output", OPTION_TEXT, &output, .letter = 'o'},
        CONTEXT_OPTIONS(context),
    };
    npy_t a;
    tilemm_t ctx = NULL;
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
    else if (npy_require_dims(&a, 2) == 0 &&
             a.fortran_order) /* the transpose in C order is what the file holds */
        status =
            npy_write(output, a.descr, a.item_size, 2, (int64_t[]){a.shape[1], a.shape[0]}, a.data);
    else if (a.ndim == 2 && (ctx = command_context(&context)) != NULL)
        status = transpose(ctx, &a, output);
    tilemm_destroy(ctx);
    npy_close(&a);
    return status;
}
