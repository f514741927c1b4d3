/* blocks_cpu.h - matrices that are taken block by block, out of place, on the CPU: one thread's
 * part.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_BLOCKS_CPU_H
#define TILEMM_LIB_TRANSPOSE_BLOCKS_CPU_H

#include "team_cpu.h"

void tilemm__cpu_transpose_blocks(const job_t *job, thread_t me);
/* Zeros, scaled rows and plain ones. */
void tilemm__cpu_copy_blocks(const job_t *job, thread_t me);

#endif
