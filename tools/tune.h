/* tune.h - what `tilemm tune` measures: the constants of the CPU's plans, one after the other.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_TUNE_H
#define TILEMM_TOOLS_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/tuning.h"

/* The constants, in the order of the table in lib/tuning.h. */
enum {
#define CONSTANT(name, least, most) TUNE_##name,
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
        TUNE_COUNT
};

typedef struct {
    const char *name;
    int64_t before, after; /* built in, and found */
    double gain;           /* how many times faster where the two decide differently; 1: kept */
    const char *why;       /* it was not measured, or NULL */
} tuned_t;

/* Measure all constants for about `seconds` at most, on this machine and with TILEMM_ARCH and
 * TILEMM_NUM_THREADS as they are; built_in is the text of the tuning to begin with (tilemm_tuning).
 * A constant changes only where that is clearly faster, twice. Shows on standard error, where that
 * is a terminal, what is being measured. 0, or EXIT_FAILED with a message. */
int tune(const char *built_in, double seconds, tuned_t tuned[TUNE_COUNT]);

/* The text of a tuning with the constants that were found, and what built_in says it is for. */
void tune_text(const char *built_in, const tuned_t tuned[TUNE_COUNT],
               char text[TILEMM__TUNING_WRITTEN]);

#endif
