/* main.c - the `tilemm-mpi` command, run under mpirun: which verb, help and --version.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"bench", command_mpi_bench, "measure distributed products, next to ScaLAPACK's"},
    {"model", command_mpi_model, "estimate products on larger machines, and check the estimate"},
};

static int print_help(void)
{
    puts("Usage: mpirun -n N tilemm-mpi VERB [OPTION]...\n"
         "Products of matrices that are spread over processes.\n");
    for (int i = 0; i < COUNT_OF(verbs); i++)
        printf("  %-11s  %s\n", verbs[i].name, verbs[i].summary);
    puts("\n"
         "  tilemm-mpi VERB --help   the options of a verb\n"
         "  tilemm-mpi --version     the version of the command and of the library\n"
         "\n"
         "Exit status: 0 success, 1 failure, 2 mistake in the command line.");
    return EXIT_OK;
}

static int complete_verb(const char *word)
{
    for (int i = 0; i < COUNT_OF(verbs); i++)
        if (strncmp(verbs[i].name, word, strlen(word)) == 0)
            puts(verbs[i].name);
    return EXIT_OK;
}

/* Whether the words ask for what needs no MPI. */
static int needs_no_mpi(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            strcmp(argv[i], "--complete") == 0)
            return 1;
    return 0;
}

/* Only the first process speaks. Its number, before MPI has begun, is what mpirun has set. */
static void silence(int is_first)
{
    const int nowhere = is_first ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
}

static int is_first_by_environment(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (int i = 0; i < COUNT_OF(names); i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), "0") == 0;
    return 1;
}

static int run_verb(int argc, char **argv)
{
    near_t near = near_start(argv[1]);
    for (int i = 0; i < COUNT_OF(verbs); i++) {
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
        near_consider(&near, "", verbs[i].name);
    }
    return command_usage_error("", "'%s' is not a verb of tilemm-mpi%s", argv[1], near_end(&near));
}

static int finish(int status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_OK)
        return command_error("cannot write to standard output");
    return status;
}

int main(int argc, char **argv)
{
    int provided, rank, status;
    command_name = "tilemm-mpi";
    const int is_first = is_first_by_environment();
    if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
        if (argc < 4)
            return finish(complete_verb(argc > 2 ? argv[2] : ""));
        argv[1] = argv[2]; /* the verb completes its own words */
        argv[2] = (char *)"--complete";
        return finish(run_verb(argc, argv));
    }
    silence(is_first);
    if (argc < 2)
        return command_usage_error("", "which verb?");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return finish(print_help());
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("tilemm-mpi %d.%d.%d, library %s\n", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
               TILEMM_VERSION_PATCH, tilemm_version());
        return finish(EXIT_OK);
    }
    if (needs_no_mpi(argc, argv))
        return finish(run_verb(argc, argv));
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return command_error("MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    silence(rank == 0);
    status = finish(run_verb(argc, argv));
    MPI_Finalize();
    return status;
}
