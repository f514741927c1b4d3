/* command.c - option values and contexts for the verbs of the `tilemm` command.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

const word_t backend_words[] = {
    {"auto", TILEMM_BACKEND_AUTO}, {"cpu", TILEMM_BACKEND_CPU}, {"cuda", TILEMM_BACKEND_CUDA}, {0}};
const word_t math_words[] = {{"fp32", TILEMM_MATH_FP32},
                             {"strict", TILEMM_MATH_FP32_STRICT},
                             {"tf32", TILEMM_MATH_TF32},
                             {0}};
const word_t invariance_words[] = {{"none", TILEMM_INVARIANCE_NONE},
                                   {"batch", TILEMM_INVARIANT},
                                   {"across", TILEMM_INVARIANT_ACROSS},
                                   {0}};
const word_t nan_words[] = {
    {"propagate", TILEMM_NAN_PROPAGATE}, {"ignore", TILEMM_NAN_IGNORE}, {0}};
const word_t axis_words[] = {{"rows", TILEMM_AXIS_ROWS}, {"cols", TILEMM_AXIS_COLS}, {0}};
const word_t size_words[] = {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {0}};
const word_t layout_words[] = {{"row", TILEMM_ROW_MAJOR}, {"col", TILEMM_COL_MAJOR}, {0}};
const word_t reduce_words[] = {
    {"dot", REDUCE_DOT},     {"sum", TILEMM_SUM},     {"asum", TILEMM_ASUM},
    {"sumsq", TILEMM_SUMSQ}, {"nrm2", TILEMM_NRM2},   {"mean", TILEMM_MEAN},
    {"max", TILEMM_MAX},     {"min", TILEMM_MIN},     {"amax", TILEMM_AMAX},
    {"amin", TILEMM_AMIN},   {"imax", REDUCE_IMAX},   {"imin", REDUCE_IMIN},
    {"iamax", REDUCE_IAMAX}, {"iamin", REDUCE_IAMIN}, {0}};

int parse_int64(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || isspace((unsigned char)*text) || *end || errno || number < low ||
        number > high)
        return -1;
    *value = number;
    return 0;
}

/* As strtof, which also takes inf and nan; but 1e400 and 1e-400 are no floats. */
static int parse_float(const char *text, float *value)
{
    char *end;
    errno = 0;
    const float number = strtof(text, &end);
    if (end == text || isspace((unsigned char)*text) || *end ||
        (errno && (number == 0 || isinf(number))))
        return -1;
    *value = number;
    return 0;
}

int parse_device(const char *text, void *context_options)
{
    context_options_t *context = context_options;
    int64_t number;
    if (parse_int64(text, 0, INT_MAX, &number) != 0)
        return -1;
    context->device = (int)number;
    context->device_given = 1;
    return 0;
}

int parse_devices(const char *text, void *context_options)
{
    context_options_t *context = context_options;
    char number[16];
    int64_t device;
    context->device_count = 0;
    for (;; text++) {
        const size_t length = strcspn(text, ",");
        if (context->device_count == MAX_DEVICES ||
            (size_t)snprintf(number, sizeof number, "%.*s", (int)length, text) >= sizeof number ||
            parse_int64(number, 0, INT_MAX, &device) != 0)
            return -1;
        context->devices[context->device_count++] = (int)device;
        text += length;
        if (!*text)
            break;
    }
    context->device = context->devices[0];
    return 0;
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

/* Why the CPU computes although a CUDA device was asked for by number. */
static void explain_cpu(tilemm_t ctx, int device)
{
    const char *wanted = getenv("TILEMM_BACKEND");
    tilemm_backend_t backend;
    tilemm_t gpu = NULL;
    if (tilemm_get_backend(ctx, &backend) != TILEMM_SUCCESS || backend != TILEMM_BACKEND_CPU)
        return;
    if (wanted && strcmp(wanted, "cpu") == 0)
        command_error("the CPU is used, not device %d: TILEMM_BACKEND = cpu", device);
    else if (tilemm_create(&gpu, TILEMM_BACKEND_CUDA, device) != TILEMM_SUCCESS)
        command_error("the CPU is used, not device %d: %s", device, tilemm_create_error());
    tilemm_destroy(gpu);
}

tilemm_t command_context(const context_options_t *options)
{
    tilemm_t ctx = NULL;
    const char *devices = getenv("TILEMM_DEVICES");
    int backend = options->backend;
    if (options->device_given || options->device_count) { /* those alone */
        unsetenv("TILEMM_DEVICES");
    } else if (backend == TILEMM_BACKEND_CUDA && devices && *devices) {
        setenv("TILEMM_BACKEND", "cuda", 1);
        backend = TILEMM_BACKEND_AUTO; /* which takes the list */
    }
    const tilemm_status_t status =
        options->device_count ? tilemm_create_multi(&ctx, options->device_count, options->devices)
                              : tilemm_create(&ctx, (tilemm_backend_t)backend, options->device);
    if (status != TILEMM_SUCCESS) {
        const int why = status == TILEMM_NO_DEVICE && gpu_count() == 0 && *gpu_error();
        command_error("%s%s%s%s", tilemm_create_error(), why ? " (" : "", why ? gpu_error() : "",
                      why ? "); 'tilemm doctor' says what to do" : "");
    } else if (tilemm_set_threads(ctx, options->threads) != TILEMM_SUCCESS) {
        command_error("%s", tilemm_last_error(ctx));
    } else {
        if (options->device_given && options->backend == TILEMM_BACKEND_AUTO)
            explain_cpu(ctx, options->device);
        return ctx;
    }
    tilemm_destroy(ctx);
    return NULL;
}

enum { MAX_OPTIONS = 64, FIRST_VALUE = 256 /* getopt's value of the first option */ };

static int take_option(const command_option_t *option, const char *text)
{
    int64_t number;
    int word;
    switch (option->kind) {
    case OPTION_FLAG: *(int *)option->value = 1; return 0;
    case OPTION_TEXT:
    case OPTION_FILE:
        *(const char **)option->value = text;
        if (option->words)
            return parse_word(text, option->words, &word);
        return (int64_t)strlen(text) >= (option->kind == OPTION_FILE ? 1 : option->low) ? 0 : -1;
    case OPTION_WORD:
    case OPTION_ARGUMENT: return parse_word(text, option->words, option->value);
    case OPTION_INT:
        if (parse_int64(text, option->low, option->high, &number) != 0)
            return -1;
        *(int *)option->value = (int)number;
        return 0;
    case OPTION_INT64: return parse_int64(text, option->low, option->high, option->value);
    case OPTION_FLOAT: return parse_float(text, option->value);
    default: return option->parse(text, option->value);
    }
}

/* "fp32, strict or tf32" */
static void describe_values(const command_option_t *option, char *text, size_t size)
{
    const int is_number = option->kind == OPTION_INT || option->kind == OPTION_INT64;
    const int64_t most = option->kind == OPTION_INT ? INT_MAX : INT64_MAX - 1;
    *text = '\0';
    if (option->takes)
        append(text, size, "%s", option->takes);
    else if (option->words)
        list_words(option->words, text, size);
    else if (is_number && option->low < -INT_MAX)
        append(text, size, "a whole number");
    else if (is_number && option->high >= most)
        append(text, size, "a number from %lld", (long long)option->low);
    else if (is_number)
        append(text, size, "a number from %lld to %lld", (long long)option->low,
               (long long)option->high);
    else
        append(text, size, "%s",
               option->kind == OPTION_FLOAT ? "a number that a float holds" : "a file's name");
}

/* "--math takes fp32, strict or tf32, not 'x'" */
static int wrong_value(const char *verb, const command_option_t *option, const char *text)
{
    char takes[512];
    near_t near = near_start(text);
    const int is_argument = option->kind == OPTION_ARGUMENT;
    describe_values(option, takes, sizeof takes);
    for (const word_t *word = option->words; word && word->name && isalpha(*text); word++)
        near_consider(&near, "", word->name);
    return command_usage_error(verb, "%s%s takes %s, not '%s'%s", is_argument ? "" : "--",
                               is_argument ? verb : option->name, takes, text, near_end(&near));
}

/* What getopt_long found wrong: got is '?' or ':'. */
static int wrong_option(const char *verb, const command_option_t *options, int count, int got,
                        const char *word)
{
    const command_option_t *option = optopt >= FIRST_VALUE ? &options[optopt - FIRST_VALUE] : NULL;
    const char short_option[3] = {'-', (char)optopt, '\0'};
    const int is_short = optopt > ' ' && optopt < 0x7f;
    near_t near = near_start(word + strspn(word, "-"));
    char takes[512];
    for (int i = 0; !option && is_short && i < count; i++)
        if (options[i].letter == optopt)
            option = &options[i];
    if (got == ':' && option) {
        describe_values(option, takes, sizeof takes);
        return command_usage_error(verb, "option '%s' needs a value: %s",
                                   is_short ? short_option : word, takes);
    }
    if (option)
        return command_usage_error(verb, "--%s takes no value", option->name);
    for (int i = 0; !is_short && i < count; i++)
        if (options[i].kind < OPTION_ARGUMENT)
            near_consider(&near, "--", options[i].name);
    return command_usage_error(verb, "option '%s' is not known here%s",
                               is_short ? short_option : word, near_end(&near));
}

/* ---- completion -------------------------------------------------------------------------- */

static void offer(const char *prefix, const char *candidate, const char *word)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", prefix, candidate);
    if (strncmp(text, word, strlen(word)) == 0)
        puts(text);
}

static void offer_words(const word_t *words, const char *word)
{
    for (; words && words->name; words++)
        offer("", words->name, word);
}

/* The option that this word is, if it takes a value. */
static const command_option_t *takes_value(const command_option_t *options, int count,
                                           const char *word, size_t length)
{
    for (int i = 0; i < count; i++) {
        const command_option_t *option = &options[i];
        if (option->kind == OPTION_FLAG || option->kind >= OPTION_ARGUMENT)
            continue;
        if ((length > 2 && strncmp(word, "--", 2) == 0 && strlen(option->name) == length - 2 &&
             strncmp(word + 2, option->name, length - 2) == 0) ||
            (length == 2 && word[0] == '-' && option->letter && word[1] == option->letter))
            return option;
    }
    return NULL;
}

/* Print what may stand in place of the last word of a verb's command line, one a line; ":files"
 * for the names of files. */
static void complete(int argc, char **argv, const command_option_t *options, int count)
{
    const char *word = argc > 0 ? argv[argc - 1] : "", *equals = strchr(word, '=');
    const command_option_t *pending = NULL, *argument = NULL;
    int arguments = 0, chosen = 0, operands = 0;
    for (int i = 0; i < count; i++) {
        argument = options[i].kind == OPTION_ARGUMENT ? &options[i] : argument;
        operands |= options[i].kind == OPTION_OPERANDS;
    }
    for (int i = 0; i < argc - 1; i++) {
        const command_option_t *option = takes_value(options, count, argv[i], strlen(argv[i]));
        if (option) { /* bash hands --trans=nn over as three words */
            i += strcmp(argv[i + 1], "=") == 0 ? 2 : 1;
            pending = i >= argc - 1 ? option : NULL;
        } else if (argv[i][0] != '-' && arguments++ == 0 && argument) {
            parse_word(argv[i], argument->words, &chosen);
        }
    }
    if (!pending && word[0] == '-' && equals) {
        pending = takes_value(options, count, word, (size_t)(equals - word));
        word = equals;
    }
    word += *word == '=';
    if (pending && pending->kind == OPTION_FILE) {
        puts(":files");
    } else if (pending) {
        offer_words(pending->words, word);
    } else if (word[0] == '-') {
        for (int i = 0; i < count; i++)
            if (options[i].kind < OPTION_ARGUMENT &&
                (!options[i].only || !argument || options[i].only & 1 << chosen))
                offer("--", options[i].name, word);
        offer("--", "help", word);
    } else if (argument && !arguments) {
        offer_words(argument->words, word);
    } else if (operands) {
        puts(":files");
    }
}

/* ---- all options of a verb -------------------------------------------------------------- */

int command_options(int argc, char **argv, const char *help, command_option_t *options, int count,
                    int *first)
{
    const char *verb = argv[0];
    struct option table[MAX_OPTIONS + 2] = {{0}};
    char letters[MAX_OPTIONS] = ":h";
    command_option_t *argument = NULL;
    int got, used = 0;
    if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
        complete(argc - 2, argv + 2, options, count);
        return -1 - EXIT_OK;
    }
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(letters);
        if (options[i].kind == OPTION_ARGUMENT)
            argument = &options[i];
        if (options[i].kind < OPTION_ARGUMENT)
            table[used++] = (struct option){
                options[i].name, options[i].kind == OPTION_FLAG ? no_argument : required_argument,
                NULL, FIRST_VALUE + i};
        if (options[i].letter)
            snprintf(letters + length, sizeof letters - length, "%c:", options[i].letter);
    }
    table[used] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = optind = 0; /* from the first word, also where 'help' took options before */
    while ((got = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        int i = 0;
        if (got == 'h') {
            fputs(help, stdout);
            return -1 - EXIT_OK;
        }
        if (got == '?' || got == ':')
            return -1 - wrong_option(verb, options, count, got, argv[optind - 1]);
        while (got < FIRST_VALUE ? options[i].letter != got : got != FIRST_VALUE + i)
            i++;
        options[i].given = 1;
        if (take_option(&options[i], optarg) != 0)
            return -1 - wrong_value(verb, &options[i], optarg);
    }
    if (argument && optind < argc) {
        argument->given = 1;
        if (take_option(argument, argv[optind]) != 0)
            return -1 - wrong_value(verb, argument, argv[optind]);
        optind++;
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
