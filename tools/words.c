/* words.c - see words.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <stdio.h>
#include <string.h>

#include "message.h"

enum { MOST_LETTERS = 32, FAR = 3 };

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
