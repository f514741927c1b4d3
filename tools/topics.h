/* topics.h - what `tilemm help TOPIC` explains beside the verbs, and the environment.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_TOPICS_H
#define TILEMM_TOOLS_TOPICS_H

typedef struct {
    const char *name, *summary;
    void (*print)(void);
} topic_t;

enum { TOPICS = 4 };
extern const topic_t topics[TOPICS];

/* The variables of the library, then others that matter. */
typedef struct {
    const char *name, *values, *text;
} variable_t;

enum { VARIABLES_OF_LIBRARY = 11, VARIABLES = 26 };
extern const variable_t variables[VARIABLES];

#endif
