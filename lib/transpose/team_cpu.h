/* team_cpu.h - what the CPU's transpositions out of place and in place share: threads, their
 * scratch, and rows that are copied; and one thread's part of each.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_TEAM_CPU_H
#define TILEMM_LIB_TRANSPOSE_TEAM_CPU_H

#include <string.h>

#include "kernels/cpu.h"
#include "lib/cpu/team.h"
#include "lib/size.h"
#include "plan_cpu.h"

typedef tilemm__transpose_cpu_plan_t plan_t;

/* What every thread needs to know. */
typedef struct {
    const tilemm__transpose_args_t *args;
    const tilemm__transpose_cpu_t *kernels;
    const plan_t *plan;
    int64_t next;    /* the first block that no thread has taken */
    char *workspace; /* plan->workspace bytes, each thread's scratch first; or NULL */
} job_t;

/* This thread's scratch: of the workspace, or else what it has on its stack. */
static inline char *my_scratch(const job_t *job, thread_t me, char *stack, size_t *bytes)
{
    *bytes = job->workspace ? job->plan->scratch : TILEMM__TRANSPOSE_STACK;
    return job->workspace ? job->workspace + (size_t)me.number * job->plan->scratch : stack;
}

static inline void copy_rows(char *restrict dst, int64_t ld_dst, const char *restrict src,
                             int64_t ld_src, int64_t rows, int64_t cols, int64_t size)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(dst + i * ld_dst * size, src + i * ld_src * size, (size_t)(cols * size));
}

/* blocks_cpu.c: one thread's part of SIMD; of COPY, FILL, and MOVE's scaling. For
 * tilemm__run_team(). */
void tilemm__cpu_transpose_blocks(void *job, thread_t me);
void tilemm__cpu_copy_blocks(void *job, thread_t me);
/* run_inplace_cpu.c: all threads' parts of all methods in place but FILL. */
void tilemm__cpu_run_inplace(job_t *job);

#endif
