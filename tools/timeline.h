/* timeline.h - the file that TILEMM_TIMELINE names, drawn: a row for each stream of each device, a
 * bar for each step.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_TIMELINE_H
#define TILEMM_TOOLS_TIMELINE_H

#include <stdio.h>

/* Draw the steps that `trace` holds as SVG. 0, or -1 with a message: it is no such file, or has no
 * step. */
int timeline_draw(FILE *trace, const char *title, FILE *svg);

/* The same with a line of explanation, and another word for device. */
int timeline_draw_of(FILE *trace, const char *title, const char *explanation, const char *device,
                     FILE *svg);

#endif
