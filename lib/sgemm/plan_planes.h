/* plan_planes.h - whether a SGEMM is best split into BF16 planes for a CPU's matrix engine,
 * and how it is then blocked and shared out.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_PLANES_H
#define TILEMM_LIB_SGEMM_PLAN_PLANES_H

#include "kernels/args.h"
#include "kernels/sgemm/cpu/planes.h"
#include "lib/traits.h"

/* The loops, from the outside: n by n_panel, k by depth, pack Ns; m by m_panel, pack Ms; the
 * product of the two by parts of m_part x n_part; within a part columns by 32, rows by 32.
 *
 * Where `shared`, one matrix of the batch is done at a time: all threads pack the same panels and
 * then take parts of their product. Otherwise each thread does matrices by itself.
 *
 * depth depends on k alone: so results have the same bits with any number of threads and any
 * workspace that is enough. */
typedef struct {
    int shared;
    int threads;
    int64_t depth;            /* of k in a panel, a multiple of 32 */
    int64_t m_panel, n_panel; /* rows and columns packed at a time, multiples of 32 */
    int64_t m_part, n_part;   /* likewise */
    size_t panel_bytes;       /* of 32 rows or columns */
    size_t ms_bytes;          /* of one set of panels: Ms lies first ... */
    size_t set_bytes;         /* ... and all of it */
    size_t workspace;         /* that the plan needs: a set for each thread, or a shared one */
} tilemm__sgemm_planes_plan_t;

/* Whether tiles are faster than FP32 multiply-adds; args->k is not 0. */
int tilemm__planes_pay(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes);

/* Plan for at most `threads` threads and at most `workspace` bytes; args->k is not 0. Returns 0 if
 * they do not pay, or if that is too little workspace. */
int tilemm__plan_sgemm_planes(tilemm__sgemm_planes_plan_t *plan, const tilemm__sgemm_args_t *args,
                              const tilemm__cpu_traits_t *traits,
                              const tilemm__sgemm_planes_t *planes, int threads, size_t workspace);

#endif
