/* input.h - files that the command reads.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_INPUT_H
#define TILEMM_TOOLS_INPUT_H

/* Open a regular file; with `pipes` also a pipe without a name, as the shell's <(...) gives.
 * Others, as named pipes and devices, on which reading may wait for ever, are refused and not
 * opened. Returns a descriptor, or -1 with a message. */
int input_open(const char *path, int pipes);

#endif
