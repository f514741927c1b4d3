/* words.c - the words of a command line: those that may have been meant, and completions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "command.h"

enum { MOST_LETTERS = 32, FAR = 3 };

void list_words(const word_t *words, char *text, size_t size)
{
    for (const word_t *word = words; word->name; word++)
        append(text, size, "%s%s", word == words ? "" : word[1].name ? ", " : " or ", word->name);
}

/* How many letters must be added, removed or changed; at most FAR. */
static int edit_distance(const char *a, const char *b)
{
    const int length = (int)strlen(b);
    int row[MOST_LETTERS];
    if (length >= MOST_LETTERS || strlen(a) >= MOST_LETTERS)
        return FAR;
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            const int least = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            const int changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least < changed ? least : changed;
        }
    }
    return row[length] < FAR ? row[length] : FAR;
}

near_t near_start(const char *word)
{
    return (near_t){.word = word, .distance = FAR - 1};
}

void near_consider(near_t *near, const char *prefix, const char *candidate)
{
    char word[MOST_LETTERS];
    const int length = (int)strcspn(near->word, "="); /* --sizes=8 */
    if (!length || length >= MOST_LETTERS)
        return;
    snprintf(word, sizeof word, "%.*s", length, near->word);
    const int distance =
        strncmp(word, candidate, (size_t)length) ? edit_distance(word, candidate) : 0;
    /* Of a word of two letters another one shares none at a distance of two. */
    if (distance > near->distance || distance >= length || distance >= (int)strlen(candidate))
        return;
    if (distance < near->distance)
        near->text[0] = '\0';
    near->distance = distance;
    append(near->text, sizeof near->text, "%s%s%s", *near->text ? " or " : "; did you mean ",
           prefix, candidate);
}

const char *near_end(near_t *near)
{
    append(near->text, sizeof near->text, "%s", *near->text ? "?" : "");
    return near->text;
}

static void offer(const char *prefix, const char *candidate, const char *word)
{
    char text[MOST_LETTERS];
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

void command_complete(int argc, char **argv, const command_option_t *options, int count)
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
