/* tilemm.c - the `tilemm` command: which verb, help and --version.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "topics.h"

#include <stdio.h>
#include <string.h>

static int command_help(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"info", command_info, "what this build and this machine can do"},
    {"doctor", command_doctor, "what would make it faster here, and what to type"},
    {"bench", command_bench, "measure speed and error, next to OpenBLAS, cuBLAS and CUB"},
    {"tune", command_tune, "measure what the CPU's plans guess, for contexts to come"},
    {"gemm", command_gemm, "matrix product of two .npy files"},
    {"transpose", command_transpose, "transpose of a .npy file"},
    {"reduce", command_reduce, "sum, norm, maximum ... of a .npy file"},
    {"banks", command_banks, "draw a warp's access to shared memory"},
    {"coalescing", command_coalescing, "draw a warp's access to global memory"},
    {"help", command_help, "explain a verb or a topic"},
};

static void print_help(void)
{
    puts("Usage: tilemm VERB [OPTION]... [FILE]...\n"
         "Tiled linear algebra on CUDA GPUs and CPUs, from the command line.\n");
    for (int i = 0; i < COUNT_OF(verbs); i++)
        printf("  %-11s  %s\n", verbs[i].name, verbs[i].summary);
    puts("\nTopics of 'tilemm help TOPIC':\n");
    for (int i = 0; i < TOPICS; i++)
        printf("  %-11s  %s\n", topics[i].name, topics[i].summary);
    puts("\n"
         "  tilemm VERB --help   the options of a verb\n"
         "  tilemm --version     the version of the command and of the library\n"
         "\n"
         "Exit status: 0 success, 1 failure, 2 mistake in the command line, 3 findings of doctor.");
}

static int command_help(int argc, char **argv)
{
    static const char help[] = "Usage: tilemm help [VERB|TOPIC]\n"
                               "Explain a verb or a topic; 'tilemm help' lists them.\n"
                               "\n"
                               "  -h, --help                 this help\n";
    enum { VERBS = COUNT_OF(verbs) };
    word_t words[VERBS + TOPICS + 1] = {{0}};
    int topic, first;
    for (int i = 0; i < VERBS + TOPICS; i++)
        words[i] = (word_t){i < VERBS ? verbs[i].name : topics[i - VERBS].name, i};
    command_option_t table[] = {{"topic", OPTION_ARGUMENT, &topic, .words = words}};
    const int status = command_options(argc, argv, help, table, 1, &first);
    if (status)
        return -1 - status;
    if (first < argc)
        return command_usage_error("help", "takes one topic");
    if (!table[0].given)
        print_help();
    else if (topic < VERBS)
        return verbs[topic].run(2, (char *[]){(char *)verbs[topic].name, "--help", NULL});
    else
        topics[topic - VERBS].print();
    return EXIT_OK;
}

static void complete_verb(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    for (int i = 0; i < COUNT_OF(verbs) + 2; i++) {
        const char *name = i < 2 ? options[i] : verbs[i - 2].name;
        if (strncmp(name, word, strlen(word)) == 0 && (i >= 2 || *word))
            puts(name);
    }
}

/* What was printed must have arrived, else the status is a failure. */
static int finish(int status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && (status == EXIT_OK || status == EXIT_FINDINGS))
        return command_error("cannot write to standard output");
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return command_usage_error("", "which verb?");
    char *word = argv[1];
    near_t near = near_start(word);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help();
        return finish(EXIT_OK);
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("tilemm %d.%d.%d, library %s\n", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
               TILEMM_VERSION_PATCH, tilemm_version());
        return finish(EXIT_OK);
    }
    if (strcmp(word, "--complete") == 0) {
        if (argc < 4) {
            complete_verb(argc > 2 ? argv[2] : "");
            return finish(EXIT_OK);
        }
        argv[1] = argv[2]; /* the verb completes its own words */
        argv[2] = word;
    }
    for (int i = 0; i < COUNT_OF(verbs); i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return finish(verbs[i].run(argc - 1, argv + 1));
    if (argv[1] != word)
        return EXIT_OK; /* nothing completes a verb that is none */
    for (int i = 0; i < COUNT_OF(verbs); i++)
        near_consider(&near, "", verbs[i].name);
    for (int i = 0; i < TOPICS; i++)
        near_consider(&near, "help ", topics[i].name);
    return command_usage_error("", "'%s' is not a verb of tilemm%s", word, near_end(&near));
}
