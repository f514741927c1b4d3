/* bench_crossovers.h - the sizes at which one kernel becomes faster than another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_CROSSOVERS_H
#define TILEMM_TOOLS_BENCH_CROSSOVERS_H

#include "bench_forced.h"

/* Measure and print those constants of lib/transpose/cost_cuda.c and lib/reduce/cost_cuda.c that
 * are such sizes. 0, or EXIT_FAILED with a message. */
int bench_crossovers(forced_t *at);

#endif
