/* plan_sgemm_cpu.h - how a SGEMM is blocked and shared out on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_PLAN_SGEMM_CPU_H
#define TILEMM_PLAN_SGEMM_CPU_H

#include "args.h"
#include "traits.h"

/* A set of panels of at most this size lies on the stack of the thread that uses it. */
enum { TILEMM__SGEMM_STACK_BYTES = 32768 };
/* Likewise of a vector that is multiplied by a matrix, and of the sums, at most so many floats. */
enum { TILEMM__SGEMM_VECTOR_PIECE = 3072 };

/* The loops, from the outside: n by n_panel, k by kc, pack Ns; m by m_panel, pack Ms; the product
 * of the two by parts of m_part x n_part; within a part Ns panels, then Ms panels, a tile each.
 *
 * Where `shared`, one matrix of the batch is done at a time: all threads pack the same panels and
 * then take parts of their product. Otherwise C is cut into tasks of m_task x n_task, each done
 * by one thread with panels of its own.
 *
 * kc and chain depend on the problem, the tile and the caches, and on nothing else: so results have
 * the same bits with any number of threads and any workspace. The one exception is a workspace too
 * small for one Ms and one Ns panel, where kc shrinks to what the stack can hold. */
typedef struct {
    int swap;     /* C^T = op(B)^T op(A)^T is computed: what follows is of that problem */
    int direct;   /* Ns is read from B where it lies; a last panel of part vectors is packed */
    int in_place; /* Ms is read from A where it lies, in panels of `rows` */
    int vector;   /* one row: B is read once and where it lies, kc x n_panel at a time */
    int shared;
    int on_stack; /* panels lie on the stack */
    int threads;
    int64_t kc;
    int64_t chain;            /* products added up one after the other, in a tile */
    int64_t rows;             /* of a tile: mr, or less that all of them are the same */
    int64_t m_panel, n_panel; /* rows and columns packed at a time, multiples of mr and nr */
    int64_t m_part, n_part;   /* likewise */
    int64_t m_task, n_task;   /* likewise, where not shared */
    int64_t tasks;            /* in all the batch; 1 where shared */
    size_t ms_bytes;          /* of one set of panels: Ms lies first ... */
    size_t set_bytes;         /* ... and all of it, a multiple of 64 */
    size_t workspace;         /* that the plan needs: a set for each thread, or a shared one */
} tilemm__sgemm_cpu_plan_t;

/* Plan for tiles of mr x nr, at most `threads` threads and at most `workspace` bytes. args->k is
 * not 0. With any workspace there is a plan. */
void tilemm__plan_sgemm_cpu(tilemm__sgemm_cpu_plan_t *plan, const tilemm__sgemm_args_t *args,
                            const tilemm__cpu_traits_t *traits, int mr, int nr, int threads,
                            size_t workspace);

#endif
