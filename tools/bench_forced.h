/* bench_forced.h - what the parts of `tilemm bench --calibrate` share: how long a call takes on a
 * GPU by a kernel that its plan is given no choice of.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_FORCED_H
#define TILEMM_TOOLS_BENCH_FORCED_H

#include "bench.h"
#include "gpu.h"

typedef struct {
    machine_t machine;
    gpu_traits_t gpu;
    int device;
    double hertz;
    char kernel[96]; /* of the last measurement, as tilemm_last_kernel says */
} forced_t;

/* Open the GPU that the options name; machine_close(&at->machine) ends it. 0, or the status to exit
 * with, after a message. */
int forced_open(forced_t *at, const bench_options_t *options);

/* Device memory full of numbers that are not zero, which would need less power; NULL on failure. */
void *forced_operand(forced_t *at, size_t bytes);

/* Clock cycles of run(machine, problem), the median, in a context in which TILEMM_VARIANT is
 * `variant`; -1 where the device or the problem has no such kernel, or something failed. */
double forced_cycles(forced_t *at, const char *variant, tilemm_math_t math,
                     int (*run)(const machine_t *machine, void *problem), void *problem);

/* Measure and print those constants of lib/transpose/cost_cuda.c and lib/reduce/cost_cuda.c that
 * are sizes at which two kernels are equally fast. 0, or EXIT_FAILED with a message. */
int bench_crossovers(forced_t *at);

#endif
