/* cmd_transpose.c - `tilemm transpose`: the transpose of a .npy file.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "npy.h"

static const char help[] =
    "Usage: tilemm transpose A.npy -o B.npy [OPTION]...\n"
    "Transpose a matrix in NumPy's .npy format, in C or Fortran order. Elements may be of any\n"
    "type of 1, 2, 4, 8 or 16 bytes and either byte order; they are moved as they are.\n"
    "B is written in C order.\n"
    "\n"
    "  -o, --output B.npy         the result\n" CONTEXT_HELP
    "  -h, --help                 this help\n";

static int is_supported_size(size_t bytes)
{
    return bytes && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

static int transpose(const context_options_t *options, const npy_t *a, const char *output)
{
    const int64_t rows = a->shape[0], cols = a->shape[1], shape[2] = {cols, rows};
    void *b;
    tilemm_t ctx;
    int status = EXIT_FAILED;

    /* In Fortran order the transpose in C order is what the file holds. */
    if (a->fortran_order)
        return npy_write(output, a->descr, a->item_size, 2, shape, a->data) == 0 ? EXIT_OK
                                                                                 : EXIT_FAILED;
    b = malloc(a->count ? a->count * a->item_size : 1);
    if (!b)
        return command_error("no memory for a result of %lld x %lld (%zu bytes)", (long long)cols,
                             (long long)rows, a->count * a->item_size);
    ctx = command_context(options);
    if (ctx) {
        if (tilemm_transpose(ctx, rows, cols, a->item_size, a->data, cols > 1 ? cols : 1, b,
                             rows > 1 ? rows : 1) != TILEMM_SUCCESS)
            command_error("%s", tilemm_last_error(ctx));
        else if (npy_write(output, a->descr, a->item_size, 2, shape, b) == 0)
            status = EXIT_OK;
        tilemm_destroy(ctx);
    }
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
    int first,
        status = command_options(argc, argv, help, table, sizeof table / sizeof table[0], &first);

    if (status)
        return -1 - status;
    if (argc - first != 1)
        return command_usage_error("transpose", "takes one file, A.npy");
    if (!output)
        return command_usage_error("transpose", "where to? -o B.npy is missing");
    status = EXIT_FAILED;
    if (npy_check_output(output) != 0 || npy_open(&a, argv[first]) != 0)
        return EXIT_FAILED;
    if (!is_supported_size(a.item_size))
        command_error("%s: has elements of %zu bytes ('%s'), must be 1, 2, 4, 8 or 16 bytes",
                      a.path, a.item_size, a.descr);
    else if (a.ndim != 2)
        command_error("%s: has %d dimension%s, must have 2", a.path, a.ndim,
                      a.ndim == 1 ? "" : "s");
    else
        status = transpose(&context, &a, output);
    npy_close(&a);
    return status;
}
