/* run_columns.h - reductions down the rows of a matrix on the CPU: plans of methods COLUMNS and
 * COLUMN_BLOCKS.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_RUN_COLUMNS_H
#define TILEMM_LIB_REDUCE_RUN_COLUMNS_H

#include "kernels/reduce/cpu/kernels.h"
#include "plan_cpu.h"

void tilemm__reduce_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace);

#endif
