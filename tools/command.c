/* command.c - messages, option values and contexts for the verbs of the `tilemm` command.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const word_t backend_words[] = {
    {"auto", TILEMM_BACKEND_AUTO}, {"cpu", TILEMM_BACKEND_CPU}, {"cuda", TILEMM_BACKEND_CUDA}, {0}};
const word_t math_words[] = {{"fp32", TILEMM_MATH_FP32},
                             {"strict", TILEMM_MATH_FP32_STRICT},
                             {"tf32", TILEMM_MATH_TF32},
                             {0}};
const word_t nan_words[] = {
    {"propagate", TILEMM_NAN_PROPAGATE}, {"ignore", TILEMM_NAN_IGNORE}, {0}};
const word_t axis_words[] = {{"rows", TILEMM_AXIS_ROWS}, {"cols", TILEMM_AXIS_COLS}, {0}};
const word_t layout_words[] = {{"row", TILEMM_ROW_MAJOR}, {"col", TILEMM_COL_MAJOR}, {0}};
const word_t reduce_words[] = {
    {"sum", REDUCE_SUM},     {"asum", REDUCE_ASUM},   {"sumsq", REDUCE_SUMSQ},
    {"nrm2", REDUCE_NRM2},   {"mean", REDUCE_MEAN},   {"max", REDUCE_MAX},
    {"min", REDUCE_MIN},     {"amax", REDUCE_AMAX},   {"amin", REDUCE_AMIN},
    {"dot", REDUCE_DOT},     {"imax", REDUCE_IMAX},   {"imin", REDUCE_IMIN},
    {"iamax", REDUCE_IAMAX}, {"iamin", REDUCE_IAMIN}, {0}};

static void print_message(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("tilemm: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int command_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int command_usage_error(const char *verb, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'tilemm%s%s --help'.\n", *verb ? " " : "", verb);
    return EXIT_USAGE;
}

int command_bad_option(const char *verb, int option, char **argv)
{
    const char short_option[3] = {'-', (char)optopt, '\0'};
    const int is_short = optopt > ' ' && optopt < 0x7f;
    const char *text = is_short ? short_option : argv[optind - 1];

    if (option == ':')
        return command_usage_error(verb, "option '%s' needs a value", text);
    return command_usage_error(verb, "option '%s' is not known here, or takes no value", text);
}

int parse_int64(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < low || number > high)
        return -1;
    *value = number;
    return 0;
}

int parse_float(const char *text, float *value)
{
    char *end;

    *value = strtof(text, &end);
    return end == text || *end ? -1 : 0;
}

int parse_word(const char *text, const word_t *words, int *value)
{
    for (; words->name; words++)
        if (strcmp(text, words->name) == 0) {
            *value = words->value;
            return 0;
        }
    return -1;
}

const char *word_of(const word_t *words, int value)
{
    while (words->name && words->value != value)
        words++;
    return words->name ? words->name : "?";
}

tilemm_reduce_t reduce_value_op(reduce_op_t op)
{
    switch (op) {
    case REDUCE_IMAX: return TILEMM_MAX;
    case REDUCE_IMIN: return TILEMM_MIN;
    case REDUCE_IAMAX: return TILEMM_AMAX;
    case REDUCE_IAMIN: return TILEMM_AMIN;
    default: return (tilemm_reduce_t)op;
    }
}

int reduce_is_index(reduce_op_t op)
{
    return op >= REDUCE_IMAX;
}

tilemm_t command_context(const context_options_t *options)
{
    static const char *const variables[] = {"TILEMM_BACKEND", "TILEMM_ARCH", "TILEMM_NUM_THREADS",
                                            "TILEMM_MATH", "TILEMM_LOG"};
    tilemm_t ctx = NULL;
    tilemm_status_t status =
        tilemm_create(&ctx, (tilemm_backend_t)options->backend, options->device);

    if (status == TILEMM_NO_DEVICE && options->backend == TILEMM_BACKEND_CUDA) {
        command_error("no CUDA device %d that this build of the library can use", options->device);
        return NULL;
    }
    if (status != TILEMM_SUCCESS) {
        command_error("cannot create a context on the %s backend: %s",
                      word_of(backend_words, options->backend), tilemm_status_string(status));
        if (status == TILEMM_INVALID_ARGUMENT || status == TILEMM_NO_DEVICE)
            for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
                if (getenv(variables[i]))
                    fprintf(stderr, "tilemm: is this a value that the library takes? %s=%s\n",
                            variables[i], getenv(variables[i]));
        return NULL;
    }
    status = tilemm_set_threads(ctx, options->threads);
    if (status != TILEMM_SUCCESS) {
        command_error("%s", tilemm_last_error(ctx));
        tilemm_destroy(ctx);
        return NULL;
    }
    return ctx;
}

int command_context_option(const char *verb, int option, const char *value,
                           context_options_t *options)
{
    int64_t number;

    switch (option) {
    case OPTION_BACKEND:
        if (parse_word(value, backend_words, &options->backend) == 0)
            return 1;
        command_usage_error(verb, "--backend takes auto, cpu or cuda, not '%s'", value);
        return -1;
    case OPTION_DEVICE:
        if (parse_int64(value, 0, INT_MAX, &number) == 0) {
            options->device = (int)number;
            return 1;
        }
        command_usage_error(verb, "--device takes a number from 0, not '%s'", value);
        return -1;
    case OPTION_THREADS:
        if (parse_int64(value, 0, INT_MAX, &number) == 0) {
            options->threads = (int)number;
            return 1;
        }
        command_usage_error(verb, "--threads takes a number from 0, not '%s'", value);
        return -1;
    default: return 0;
    }
}

/* The path itself, or what a symbolic link there points to. */
static int resolve_output(const char *path, char *target, size_t size)
{
    struct stat info;
    char resolved[PATH_MAX];

    if (lstat(path, &info) == 0) {
        if (S_ISLNK(info.st_mode)) {
            if (!realpath(path, resolved))
                return command_error("%s: %s", path, strerror(errno));
            path = resolved;
            if (stat(path, &info) != 0)
                return command_error("%s: %s", path, strerror(errno));
        }
        if (!S_ISREG(info.st_mode))
            return command_error("%s: exists and is not a regular file", path);
    } else if (errno != ENOENT) {
        return command_error("%s: %s", path, strerror(errno));
    }
    if ((size_t)snprintf(target, size, "%s", path) >= size)
        return command_error("%s: %s", path, strerror(ENAMETOOLONG));
    return 0;
}

/* A template for mkstemp beside the target. */
static int name_beside(const char *target, char *temporary, size_t size)
{
    const char *slash = strrchr(target, '/');
    int directory = slash ? (int)(slash - target) + 1 : 0;

    if (!target[directory])
        return command_error("%s: not a file's name", target);
    if ((size_t)snprintf(temporary, size, "%.*s.tilemm-XXXXXX", directory, target) >= size)
        return command_error("%s: %s", target, strerror(ENAMETOOLONG));
    return 0;
}

int output_names(const char *path, char *target, char *temporary, size_t size)
{
    return resolve_output(path, target, size) == 0 && name_beside(target, temporary, size) == 0
               ? 0
               : -1;
}
