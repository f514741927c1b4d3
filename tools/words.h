/* words.h - the words of a command line: tables of them, and the nearest ones to a mistyped word.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_WORDS_H
#define TILEMM_TOOLS_WORDS_H

#include <stddef.h>

/* A word of a table that ends with a NULL name. */
typedef struct {
    const char *name;
    int value;
} word_t;

/* Store the value of a word: 0, or -1 where it is none of these. */
int parse_word(const char *text, const word_t *words, int *value);
/* The word of a value, or "?". */
const char *word_of(const word_t *words, int value);

/* "fp32, strict or tf32" */
void list_words(const word_t *words, char *text, size_t size);

/* What may have been meant by a mistyped word: the candidates that begin with it, else those at the
 * least edit distance, at most 2. */
typedef struct {
    const char *word;
    int distance;
    char text[256];
} near_t;

near_t near_start(const char *word);
void near_consider(near_t *near, const char *prefix, const char *candidate);
const char *near_end(near_t *near); /* "" or "; did you mean --sizes or --suite?" */

#endif
