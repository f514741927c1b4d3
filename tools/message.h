/* message.h - what the command says: its messages and statuses, and texts put together.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_MESSAGE_H
#define TILEMM_TOOLS_MESSAGE_H

#include <stddef.h>

/* The statuses of the command; the last is doctor's. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_FINDINGS = 3 };

extern const char *command_name; /* "tilemm", or what the program sets */

/* Print "tilemm: ..." on standard error, escaped as by append_escaped(). Returns EXIT_FAILED. */
int command_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a mistake in the command line, with where to find help. Returns EXIT_USAGE. */
int command_usage_error(const char *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append to a text in an array of `size` bytes. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void append_escaped(char *text, size_t size, const char *from); /* control characters as \x1b */

#endif
