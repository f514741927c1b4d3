/* run_inplace_cpu.h - transpositions in place on the CPU: what the plan says, but FILL.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_RUN_INPLACE_CPU_H
#define TILEMM_LIB_TRANSPOSE_RUN_INPLACE_CPU_H

#include "team_cpu.h"

void tilemm__cpu_run_inplace(const job_t *job);

#endif
