/* cmd_tune.c - `tilemm tune`: measure what the CPU's plans can only guess, and write it to the file
 * that contexts read.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getloadavg */
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "output.h"
#include "tune.h"

enum { MOST_SECONDS = 60 };

static const char help[] =
    "Usage: tilemm tune [OPTION]...\n"
    "Measure on this machine what the CPU's plans can only guess: from which sizes on threads, "
    "AMX\n"
    "and stores around the caches pay, and how large blocks are best. Write it to a small text\n"
    "file, which contexts on this processor read from then on. A constant changes only where\n"
    "that is clearly faster. Other work on the machine meanwhile makes the result worse.\n"
    "\n"
    "  -o, --output FILE          the file (TILEMM_TUNING, or tilemm/tuning in XDG_CONFIG_HOME or\n"
    "                             ~/.config); - is standard output\n"
    "      --time SECONDS         at most so long, 1 to 60 (60)\n"
    "  -h, --help                 this help\n"
    "\n"
    "TILEMM_TUNING=none: contexts read no file. 'tilemm info' tells what is in force. The file is\n"
    "for one instruction set (TILEMM_ARCH), and is left aside on another processor.\n";

/* The file that contexts read where -o names none: 0, or EXIT_FAILED with a message. */
static int own_file(char path[PATH_MAX])
{
    const char *named = getenv("TILEMM_TUNING");
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = PATH_MAX;
    if (named && *named && strcmp(named, "none") != 0)
        length = snprintf(path, PATH_MAX, "%s", named);
    else if (config && *config == '/')
        length = snprintf(path, PATH_MAX, "%s/tilemm/tuning", config);
    else if (home && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.config/tilemm/tuning", home);
    else
        return command_error("neither XDG_CONFIG_HOME nor HOME is a folder: -o names a file");
    return length < PATH_MAX ? EXIT_OK : command_error("the name of the file is too long");
}

/* Make the folders that a file's name begins with. What fails is said when the file is opened. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* as the specification of XDG_CONFIG_HOME says */
        *slash = '/';
    }
}

static void print_table(FILE *out, const tuned_t tuned[TUNE_COUNT])
{
    fprintf(out, "%-26s %12s %12s   %s\n", "constant", "built in", "found", "faster");
    for (int i = 0; i < TUNE_COUNT; i++) {
        const tuned_t *t = &tuned[i];
        fprintf(out, "%-26s %12lld ", t->name, (long long)t->before);
        if (t->why)
            fprintf(out, "%12s   %s\n", "-", t->why);
        else if (t->after == t->before)
            fprintf(out, "%12s\n", "kept");
        else
            fprintf(out, "%12lld   %.2f times\n", (long long)t->after, t->gain);
    }
}

/* Write the text: 0, or EXIT_FAILED with a message. */
static int write_text(const char *path, const char *text)
{
    output_t output;
    if (strcmp(path, "-") == 0)
        return fputs(text, stdout) < 0 ? EXIT_FAILED : EXIT_OK;
    if (output_open(&output, path) != 0)
        return EXIT_FAILED;
    fputs(text, output.file);
    return output_close(&output, EXIT_OK);
}

/* The constants that are built in, as a text. */
static int read_built_in(char text[TILEMM__TUNING_WRITTEN])
{
    tilemm_t ctx = NULL;
    setenv("TILEMM_TUNING", "none", 1);
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        return command_error("%s", tilemm_create_error());
    snprintf(text, TILEMM__TUNING_WRITTEN, "%s", tilemm_tuning(ctx));
    tilemm_destroy(ctx);
    return EXIT_OK;
}

int command_tune(int argc, char **argv)
{
    const char *output = NULL;
    char own[PATH_MAX], built_in[TILEMM__TUNING_WRITTEN], text[TILEMM__TUNING_WRITTEN];
    char shown[PATH_MAX + 16] = "";
    tuned_t tuned[TUNE_COUNT];
    int seconds = MOST_SECONDS, first;
    command_option_t table[] = {
        {"output", OPTION_FILE, .value = &output, .letter = 'o'},
        {"time", OPTION_INT, &seconds, .low = 1, .high = MOST_SECONDS},
    };
    const int status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status)
        return -1 - status;
    if (first < argc)
        return command_usage_error("tune", "takes no arguments");
    if (!output) {
        if (own_file(own) != EXIT_OK)
            return EXIT_FAILED;
        make_folders(own);
        output = own;
    }
    const int to_stdout = strcmp(output, "-") == 0;
    FILE *const table_stream = to_stdout ? stderr : stdout;
    double load = 0;
    const int is_busy = getloadavg(&load, 1) == 1 && load > 0.5;
    unsetenv("TILEMM_LOG"); /* nobody wants to run these calls again */
    if ((!to_stdout && output_check(output) != 0) || read_built_in(built_in) != EXIT_OK ||
        tune(built_in, seconds, tuned) != 0)
        return EXIT_FAILED;
    tune_text(built_in, tuned, text);
    if (write_text(output, text) != EXIT_OK)
        return EXIT_FAILED;
    print_table(table_stream, tuned);
    if (is_busy)
        fprintf(
            table_stream,
            "\nother programs were at work (load %.1f): on an idle machine threads pay sooner\n",
            load);
    append_escaped(shown, sizeof shown, output);
    if (!to_stdout)
        printf("\nwritten to %s\n", shown);
    return EXIT_OK;
}
