/* bench_forced.c - see bench_forced.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "bench_forced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 9 };

int forced_open(forced_t *at, const bench_options_t *options)
{
    bench_options_t gpu_only = *options;
    *at = (forced_t){.device = options->context.device};
    if (gpu_count() <= at->device)
        return command_error("--calibrate needs a GPU: %s", gpu_error());
    if (gpu_describe(at->device, &at->gpu) != 0)
        return command_error("the device cannot be described");
    at->hertz = at->gpu.clock_khz * 1e3;
    gpu_only.context.backend = TILEMM_BACKEND_CUDA;
    gpu_only.vs = VS_NONE;
    return machine_open(&at->machine, &gpu_only);
}

void *forced_operand(forced_t *at, size_t bytes)
{
    void *operand = gpu_malloc(bytes + 1);
    if (operand)
        gpu_fill_async(operand, 0x3f, bytes, at->machine.stream);
    return operand;
}

double forced_cycles(forced_t *at, const char *variant, tilemm_math_t math,
                     int (*run)(const machine_t *machine, void *problem), void *problem)
{
    machine_t machine = at->machine;
    contender_t ours = {.name = "tilemm", .run = run};
    double cycles = -1;
    setenv("TILEMM_VARIANT", variant, 1);
    if (tilemm_create(&machine.ctx, TILEMM_BACKEND_CUDA, at->device) == TILEMM_SUCCESS) {
        tilemm_set_stream(machine.ctx, machine.stream);
        tilemm_set_math(machine.ctx, math);
        if (run_once(&machine, &ours, problem) == 0 &&
            strncmp(ours.kernel, variant, strcspn(variant, "+")) == 0 &&
            measure(&machine, &ours, 1, problem, REPS, NULL) == 0)
            cycles = ours.median * at->hertz;
        snprintf(at->kernel, sizeof at->kernel, "%s", ours.kernel);
        tilemm_destroy(machine.ctx);
    }
    unsetenv("TILEMM_VARIANT");
    return cycles;
}
