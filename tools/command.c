/* command.c - option values and contexts for the verbs of the `tilemm` command.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const word_t backend_words[] = {
    {"auto", TILEMM_BACKEND_AUTO}, {"cpu", TILEMM_BACKEND_CPU}, {"cuda", TILEMM_BACKEND_CUDA}, {0}};
const word_t math_words[] = {{"fp32", TILEMM_MATH_FP32},
                             {"strict", TILEMM_MATH_FP32_STRICT},
                             {"tf32", TILEMM_MATH_TF32},
                             {0}};
const word_t nan_words[] = {
    {"propagate", TILEMM_NAN_PROPAGATE}, {"ignore", TILEMM_NAN_IGNORE}, {0}};
const word_t axis_words[] = {{"rows", TILEMM_AXIS_ROWS}, {"cols", TILEMM_AXIS_COLS}, {0}};
const word_t size_words[] = {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {0}};
const word_t layout_words[] = {{"row", TILEMM_ROW_MAJOR}, {"col", TILEMM_COL_MAJOR}, {0}};
const word_t reduce_words[] = {
    {"sum", TILEMM_SUM},     {"asum", TILEMM_ASUM},   {"sumsq", TILEMM_SUMSQ},
    {"nrm2", TILEMM_NRM2},   {"mean", TILEMM_MEAN},   {"max", TILEMM_MAX},
    {"min", TILEMM_MIN},     {"amax", TILEMM_AMAX},   {"amin", TILEMM_AMIN},
    {"dot", REDUCE_DOT},     {"imax", REDUCE_IMAX},   {"imin", REDUCE_IMIN},
    {"iamax", REDUCE_IAMAX}, {"iamin", REDUCE_IAMIN}, {0}};

int parse_int64(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < low || number > high)
        return -1;
    *value = number;
    return 0;
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

tilemm_reduce_t reduce_value_op(int op)
{
    static const tilemm_reduce_t of_index[] = {TILEMM_MAX, TILEMM_MIN, TILEMM_AMAX, TILEMM_AMIN};
    return reduce_is_index(op) ? of_index[op - REDUCE_IMAX] : (tilemm_reduce_t)op;
}

int reduce_is_index(int op)
{
    return op >= REDUCE_IMAX;
}

tilemm_t command_context(const context_options_t *options)
{
    tilemm_t ctx = NULL;
    if (tilemm_create(&ctx, (tilemm_backend_t)options->backend, options->device) != TILEMM_SUCCESS)
        command_error("%s", tilemm_create_error());
    else if (tilemm_set_threads(ctx, options->threads) != TILEMM_SUCCESS)
        command_error("%s", tilemm_last_error(ctx));
    else
        return ctx;
    tilemm_destroy(ctx);
    return NULL;
}

enum { MAX_OPTIONS = 64, FIRST_VALUE = 256 /* getopt's value of the first option */ };

static int take_option(const command_option_t *option, const char *text)
{
    int64_t number;
    char *end;
    switch (option->kind) {
    case OPTION_FLAG: *(int *)option->value = 1; return 0;
    case OPTION_TEXT:
        *(const char **)option->value = text;
        return (int64_t)strlen(text) >= option->low ? 0 : -1;
    case OPTION_WORD: return parse_word(text, option->words, option->value);
    case OPTION_INT:
        if (parse_int64(text, option->low, option->high, &number) != 0)
            return -1;
        *(int *)option->value = (int)number;
        return 0;
    case OPTION_INT64: return parse_int64(text, option->low, option->high, option->value);
    case OPTION_FLOAT:
        *(float *)option->value = strtof(text, &end);
        return end == text || *end ? -1 : 0;
    default: return option->parse(text, option->value);
    }
}

/* "--math takes fp32, strict or tf32, not 'x'" */
static int wrong_value(const char *verb, const command_option_t *option, const char *text)
{
    char takes[160] = "";
    if (!option->takes && option->kind != OPTION_WORD)
        return command_usage_error(verb, "--%s does not take '%s'", option->name, text);
    for (const word_t *word = option->words; word && word->name; word++)
        append(takes, sizeof takes, "%s%s",
               word == option->words ? ""
               : word[1].name        ? ", "
                                     : " or ",
               word->name);
    return command_usage_error(verb, "--%s takes %s, not '%s'", option->name,
                               option->takes ? option->takes : takes, text);
}

int command_options(int argc, char **argv, const char *help, command_option_t *options, int count,
                    int *first)
{
    const char *verb = argv[0];
    struct option table[MAX_OPTIONS + 2] = {{0}};
    char letters[MAX_OPTIONS] = ":h";
    int got;
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(letters);
        table[i] = (struct option){options[i].name,
                                   options[i].kind == OPTION_FLAG ? no_argument : required_argument,
                                   NULL, FIRST_VALUE + i};
        if (options[i].letter)
            snprintf(letters + used, sizeof letters - used, "%c:", options[i].letter);
    }
    table[count] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = 0;
    while ((got = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        int i = 0;
        if (got == 'h') {
            fputs(help, stdout);
            return -1 - EXIT_OK;
        }
        if (got == '?' || got == ':') {
            const char short_option[3] = {'-', (char)optopt, '\0'};
            const int is_short = optopt > ' ' && optopt < 0x7f;
            return -1 - command_usage_error(verb,
                                            got == ':' ? "option '%s' needs a value"
                                                       : "option '%s' is not known here, or takes "
                                                         "no value",
                                            is_short ? short_option : argv[optind - 1]);
        }
        while (got < FIRST_VALUE ? options[i].letter != got : got != FIRST_VALUE + i)
            i++;
        options[i].given = 1;
        if (take_option(&options[i], optarg) != 0)
            return -1 - wrong_value(verb, &options[i], optarg);
    }
    *first = optind;
    return 0;
}

void command_cpu_name(char *name, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    name[0] = '\0';
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon)
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file)
        fclose(file);
}
