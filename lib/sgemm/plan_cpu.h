/* plan_cpu.h - how a SGEMM is blocked and shared out on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_CPU_H
#define TILEMM_LIB_SGEMM_PLAN_CPU_H

#include "kernels/args.h"
#include "kernels/sgemm/cpu/kernels.h"
#include "lib/traits.h"

/* A set of panels of at most this size lies on the stack of the thread that uses it. */
enum { TILEMM__SGEMM_STACK_BYTES = 32768 };
/* Where B comes from memory, so many floats of its rows further on are asked for. */
enum { TILEMM__SGEMM_STREAM_AHEAD = 64 };
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
    int stream;   /* of direct: B comes from memory; Ms is in_place */
    int direct;   /* Ns is read from B where it lies; a last panel of part vectors is packed */
    int in_place; /* Ms is op(A) where it lies */
    int small;    /* one call for each matrix, operands where they lie: nothing below but threads,
                     tasks, ahead */
    int vector;   /* one row: B is read once and where it lies, kc x n_panel at a time */
    int shared;
    int on_stack; /* panels lie on the stack */
    int threads;
    int64_t kc;
    int64_t chain;            /* products added up one after the other, in a tile */
    int64_t m_panel, n_panel; /* rows and columns packed at a time, multiples of mr and nr */
    int64_t m_part, n_part;   /* likewise */
    int64_t m_task, n_task;   /* likewise, where not shared */
    int64_t tasks;            /* in all the batch; 1 where shared */
    int64_t ahead;            /* of small ones: which matrix of the batch is asked for meanwhile */
    size_t ms_bytes;          /* of one set of panels: Ms lies first ... */
    size_t set_bytes;         /* ... and all of it, a multiple of 64 */
    size_t workspace;         /* that the plan needs: a set for each thread, or a shared one */
} tilemm__sgemm_cpu_plan_t;

/* Small matrices, of which A is read where it lies, and B too if its columns are next to each
 * other: else B is packed on the stack. Little may be computed here, as it takes longer than the
 * smallest products. */
enum { TILEMM__SGEMM_SMALL_WORK = 1 << 21, TILEMM__SGEMM_SMALL_CHAIN = 32 };

static inline int tilemm__sgemm_cpu_is_small_of(int64_t m, int64_t n, int64_t k, int64_t lda,
                                                int nr, int threads)
{
    /* Rows further apart are better packed: those of a tile would be in the same few sets of L1. */
    enum { MOST_LD = 512 };

    if ((m | n | k) >> 21 != 0 || k * nr > TILEMM__SGEMM_SMALL_FLOATS || lda > MOST_LD || m == 1)
        return 0;
    return m * n <= TILEMM__SGEMM_SMALL_WORK / k - (threads > 1);
}

/* Whether vectors of C's columns would be mostly empty. */
static inline int tilemm__sgemm_cpu_is_thin(const tilemm__sgemm_args_t *args, int nr)
{
    return args->n < args->m && args->n <= nr / 2;
}

/* The shorter side of a thin C is best the rows. C's vector stores are lost, so only there; and not
 * where op(A), which then is to be read as vectors, would have to be turned for it: that takes
 * longer than the product. */
static inline int tilemm__sgemm_cpu_swaps(const tilemm__sgemm_args_t *args, int nr)
{
    return tilemm__sgemm_cpu_is_thin(args, nr) && (args->trans_a || args->n == 1);
}

/* The same of a single product, before there is a plan. */
static inline int tilemm__sgemm_cpu_is_small(const tilemm__sgemm_args_t *args, int nr, int threads)
{
    return !tilemm__sgemm_cpu_swaps(args, nr) &&
           tilemm__sgemm_cpu_is_small_of(args->m, args->n, args->k, args->lda, nr, threads);
}

/* Plan for tiles of mr x nr, at most `threads` threads and at most `workspace` bytes. args->k is
 * not 0. With any workspace there is a plan. */
void tilemm__plan_sgemm_cpu(tilemm__sgemm_cpu_plan_t *plan, const tilemm__sgemm_args_t *args,
                            const tilemm__cpu_traits_t *traits, int mr, int nr, int threads,
                            size_t workspace);

#endif
