/* svg.h - what the command's drawings share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_SVG_H
#define TILEMM_TOOLS_SVG_H

#include <stdio.h>

/* At most `length` characters of a text; attributes are "" or begin with a blank. */
void svg_text(FILE *file, int x, int y, const char *attributes, const char *text, int length);

#endif
