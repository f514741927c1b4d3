/* output.h - files that the command writes: a file appears, or is replaced, when all is written.
 *
 * While it is written a file has no name, where the file system can do that (O_TMPFILE): nothing is
 * left, however the command ends. Elsewhere it has a temporary name, which every signal that can be
 * caught removes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_OUTPUT_H
#define TILEMM_TOOLS_OUTPUT_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct output {
    const char *path;
    FILE *file;
    char target[PATH_MAX];    /* the path without symbolic links */
    char temporary[PATH_MAX]; /* "" while the file has no name */
    int replaces;             /* a file, which was `old` */
    struct stat old;
    struct output *next; /* of those with a temporary name */
} output_t;

/* 0, or -1 with a message: also where something is there that is read-only or no regular file. */
int output_open(output_t *output, const char *path);

/* The same with a temporary name, as where the file system has no files without a name. */
int output_open_named(output_t *output, const char *path);

/* Whether output_open will work: to be asked before long work. 0, or -1 with a message. */
int output_check(const char *path);

/* Close it; give it its name if status is EXIT_OK and all was written, with the permissions of the
 * file that it replaces, otherwise remove it. Returns the status, or EXIT_FAILED with a message. */
int output_close(output_t *output, int status);

/* Remove the files that are being written, for a handler of a signal that ends the command. */
void output_abandon(void);

#endif
