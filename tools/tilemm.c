/* tilemm.c - the `tilemm` command: which verb, --help and --version.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"info", command_info, "what this build and this machine can do"},
    {"bench", command_bench, "measure speed and error, next to OpenBLAS, cuBLAS and CUB"},
    {"gemm", command_gemm, "matrix product of two .npy files"},
    {"transpose", command_transpose, "transpose of a .npy file"},
    {"reduce", command_reduce, "sum, norm, maximum ... of a .npy file"},
    {"banks", command_banks, "draw a warp's access to shared memory"},
    {"coalescing", command_coalescing, "draw a warp's access to global memory"},
};

static void print_help(void)
{
    puts("Usage: tilemm VERB [OPTION]... [FILE]...\n"
         "Tiled linear algebra on CUDA GPUs and CPUs, from the command line.\n");
    for (int i = 0; i < COUNT_OF(verbs); i++)
        printf("  %-10s  %s\n", verbs[i].name, verbs[i].summary);
    puts("\n"
         "  tilemm VERB --help   the options of a verb\n"
         "  tilemm --version     the version of the command and of the library\n"
         "\n"
         "Exit status: 0 success, 1 failure, 2 mistake in the command line.");
}

/* What was printed must have arrived, else the status is a failure. */
static int finish(int status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_OK)
        return command_error("cannot write to standard output");
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return command_usage_error("", "which verb?");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return finish(EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("tilemm %d.%d.%d, library %s\n", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
               TILEMM_VERSION_PATCH, tilemm_version());
        return finish(EXIT_OK);
    }
    for (int i = 0; i < COUNT_OF(verbs); i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return finish(verbs[i].run(argc - 1, argv + 1));
    return command_usage_error("", "'%s' is not a verb of tilemm", argv[1]);
}
