/* plan_cpu.h - how a SGEMM is done on the CPU: in which way, cut into which blocks, and how those
 * are shared out among threads.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_CPU_H
#define TILEMM_LIB_SGEMM_PLAN_CPU_H

#include <string.h>

#include "kernels/args.h"
#include "kernels/cpu.h"
#include "lib/plan.h"

/* A set of panels of at most this size lies on the stack of the thread that uses it. */
enum { TILEMM__SGEMM_STACK_BYTES = 32768 };
/* There an invariant product of few rows takes 16 steps at a time, a part of a chain. */
enum { TILEMM__SGEMM_STREAM_STEPS = 16, TILEMM__SGEMM_STREAM_FEW_ROWS = 12 };
/* Where B comes from memory, it is prefetched along its rows by this many floats. */
enum { TILEMM__SGEMM_STREAM_AHEAD = 64 };
/* Floats, at most, of a vector that is multiplied by a matrix, and of its sums, at a time. */
enum { TILEMM__SGEMM_VECTOR_PIECE = 3072 };

typedef enum {
    TILEMM__SGEMM_CPU_SMALL,   /* one call for each matrix, operands where they lie */
    TILEMM__SGEMM_CPU_VECTOR,  /* one row: B is read once, where it lies, kc x n_panel at a time */
    TILEMM__SGEMM_CPU_BLOCKED, /* packed panels */
    TILEMM__SGEMM_CPU_PLAIN    /* fmaf() for each product: tilemm__sgemm_plain */
} tilemm__sgemm_cpu_way_t;

/* The order in which an invariant product adds up along k, in every way: chains of 128 steps,
 * which begin at 0, and are added up one after the other. doc/numerics.md has it in words. */
enum { TILEMM__SGEMM_INVARIANT_CHAIN = 128 };

/* From this k on planes multiply an invariant product: doc/numerics.md. */
enum { TILEMM__SGEMM_INVARIANT_PLANES = 128 };

/* By planes: an operand that is split while it is multiplied, as the other one has few lines. */
typedef enum {
    TILEMM__SGEMM_NONE_AS_READ = 0,
    TILEMM__SGEMM_A_AS_READ,
    TILEMM__SGEMM_B_AS_READ
} tilemm__sgemm_as_read_t;

/* BLOCKED. The loops, from the outside: n by n_panel, k by kc, pack Ns; m by m_panel, pack Ms; the
 * product of the two by parts of m_part x n_part.
 *
 * Panels are multiplied by one of two engines: FP32 multiply-adds, or a matrix engine on BF16
 * planes. kc and chain depend on the problem, the engine and the caches, and on nothing else: so
 * results have the same bits with any number of threads and any workspace. The exception is a
 * workspace too small for one panel of each kind: multiply-adds then shrink kc to what the stack
 * can hold (not where the product is invariant), and planes leave the product to multiply-adds, or
 * refuse it, if it is invariant. */
typedef struct {
    const tilemm__sgemm_planes_t *planes; /* the matrix engine; NULL: multiply-adds */
    int direct;   /* Ns is read from B where it lies; a last panel of part vectors is packed */
    int stream;   /* of direct: B comes from memory; Ms is in_place */
    int in_place; /* Ms is op(A) where it lies */
    tilemm__sgemm_as_read_t
        as_read;    /* the operand that is split as it is read, a panel at a time */
    int as_vectors; /* with as_read: the other operand's lines are vectors, which are not packed */
    int copied;     /* with as_read: lines that are copied at a time, row by row, as they come from
                       memory, and do not lie along k; or 0 */
    int k_blocks;   /* planes: blocks of kc whose panels have room. With as_read, of the other
                       operand, since long lines are read best in one go; else only where panels
                       that are shared are few */
    int shared;     /* a matrix of the batch at a time: all threads pack the same panels, and then
                       take parts of their product */
    int on_stack;   /* panels lie on the stack */
    int mr, nr;     /* rows or columns in a panel of Ms and of Ns */
    int64_t kc;
    int64_t chain; /* multiply-adds: products added up one after the other, in a tile */
    int in_order;  /* invariant: chains are added to C one after the other; kc is of whole ones,
                      or less than one, with the chains that go on lying where Ms would */
    int64_t m_panel, n_panel; /* rows and columns packed at a time, multiples of mr and nr */
    int64_t m_part, n_part;   /* likewise */
    size_t panel_bytes;       /* planes: of one panel */
    size_t ms_bytes;          /* of one set of panels: Ms lies first ... */
    size_t copies_at;         /* ... then Ns, then copied lines ... */
    size_t set_bytes;         /* ... and all of it, a multiple of 64 */
} tilemm__sgemm_cpu_blocks_t;

typedef struct {
    const char *name; /* of the kernel */
    tilemm__sgemm_cpu_way_t way;
    int swap; /* C^T = op(B)^T op(A)^T is computed: all sizes here are of that problem */
    int threads;
    int64_t m_task, n_task; /* C is cut into tasks of this size, each done by one thread; unless
                               small or shared */
    int64_t tasks;          /* in all the batch; 1 where shared */
    size_t workspace;       /* that the plan needs: a set for each thread, or a shared one */
    union {
        struct {
            int64_t chain; /* as blocked.chain */
            int64_t ahead; /* how much further in the batch the matrix is that is prefetched */
        } small;
        struct {
            int in_order; /* invariant */
            int64_t kc, n_panel;
        } vector;
        tilemm__sgemm_cpu_blocks_t blocked;
    };
} tilemm__sgemm_cpu_plan_t;

/* Whether chains lie in the workspace, as a block of k may be less than one. */
static inline int tilemm__sgemm_cpu_keeps_chains(const tilemm__sgemm_cpu_blocks_t *b)
{
    return b->in_order && b->kc < TILEMM__SGEMM_INVARIANT_CHAIN && b->stream;
}

/* Floats from one copied row to the next: not a power of two. */
static inline int64_t tilemm__sgemm_cpu_copied_ld(const tilemm__sgemm_cpu_blocks_t *b)
{
    return b->copied + 16;
}

static inline size_t tilemm__sgemm_cpu_copied_bytes(const tilemm__sgemm_cpu_blocks_t *b)
{
    return b->copied ? (size_t)(b->kc * tilemm__sgemm_cpu_copied_ld(b)) * sizeof(float) : 0;
}

/* Plan for limits->kernels; args->k is not 0. TILEMM_OUT_OF_MEMORY where an invariant product is
 * one of planes, and needs plan->blocked.set_bytes of workspace at least; else any workspace will
 * do. */
int tilemm__plan_sgemm_cpu(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                           tilemm__sgemm_cpu_plan_t *plan);

/* ---- what a single small product asks before there is a plan ------------------------------ */

/* Small matrices: A is read where it lies, and B too if its columns are next to each other, else B
 * is packed on the stack. Few operations here: they take longer than the smallest products. */
enum { TILEMM__SGEMM_SMALL_WORK = 1 << 21 };
/* One thread alone does larger ones so as well: packing takes longer than reading A and B from L2
 * does. That is so up to ALONE_STEPS steps of k, and for more rows than where B is streamed: there
 * several threads have panels of the same length, and so the same sums. */
enum { TILEMM__SGEMM_ALONE_WORK = 1 << 23, TILEMM__SGEMM_ALONE_STEPS = 256 };
/* From this many rows of C on, packing B pays. */
enum { TILEMM__SGEMM_STREAM_ROWS = 32 };

/* Products that a tile adds up one after the other. The less of them the smaller the error, which
 * counts where a C has few elements: its largest error is one of few. */
static inline int64_t tilemm__sgemm_cpu_chain(double work)
{
    enum { TINY_WORK = 1 << 17 };
    return work <= TINY_WORK ? 32 : work <= TILEMM__SGEMM_SMALL_WORK ? 64 : 128;
}

static inline int tilemm__sgemm_cpu_is_small_of(int64_t m, int64_t n, int64_t k, int64_t lda,
                                                int nr, int threads)
{
    /* Rows further apart are better packed: those of a tile would be in the same few sets of L1. */
    enum { MOST_LD = 512 };
    if ((m | n | k) >> 21 != 0 || k * nr > TILEMM__SGEMM_SMALL_FLOATS || lda > MOST_LD || m == 1)
        return 0;
    if (threads == 1 && k <= TILEMM__SGEMM_ALONE_STEPS && m > TILEMM__SGEMM_STREAM_ROWS)
        return m * n <= TILEMM__SGEMM_ALONE_WORK / k;
    return m * n <= TILEMM__SGEMM_SMALL_WORK / k - (threads > 1);
}

/* Whether vectors of C's columns would be mostly empty. */
static inline int tilemm__sgemm_cpu_is_skinny(const tilemm__sgemm_args_t *args, int nr)
{
    return args->n < args->m && args->n <= nr / 2;
}

/* A skinny C is best computed as C', though its vector stores are lost. Not where op(A), then read
 * as vectors, would have to be transposed for it: that takes longer than the product. */
static inline int tilemm__sgemm_cpu_swaps(const tilemm__sgemm_args_t *args, int nr)
{
    return tilemm__sgemm_cpu_is_skinny(args, nr) && (args->trans_a || args->n == 1);
}

static inline int tilemm__sgemm_cpu_is_small(const tilemm__sgemm_args_t *args, int nr, int threads)
{
    /* No index of B or C overflows. */
    return (args->ldb | args->ldc) >> 21 == 0 && !tilemm__sgemm_cpu_swaps(args, nr) &&
           tilemm__sgemm_cpu_is_small_of(args->m, args->n, args->k, args->lda, nr, threads);
}

/* Whether the tile multiplies and adds with one rounding. */
static inline int tilemm__sgemm_cpu_is_fused(const tilemm__sgemm_cpu_t *tile)
{
    return strncmp(tile->name, "sgemm_fma_", 10) == 0;
}

/* The matrix engine that a mode may use, or NULL. */
static inline const tilemm__sgemm_planes_t *
tilemm__sgemm_cpu_planes(const tilemm__cpu_kernels_t *kernels, tilemm_math_t math)
{
    return math == TILEMM_MATH_FP32   ? kernels->planes_fp32
           : math == TILEMM_MATH_TF32 ? kernels->planes_tf32
                                      : NULL;
}

/* Whether it multiplies an invariant product: that goes by k, so that no other line counts. */
static inline int tilemm__sgemm_cpu_invariant_by_planes(const tilemm__sgemm_planes_t *planes,
                                                        tilemm_invariance_t invariance, int64_t k)
{
    return planes && invariance == TILEMM_INVARIANT && k >= TILEMM__SGEMM_INVARIANT_PLANES;
}

/* Whether it is faster than multiply-adds in a context that is set to `team` threads; args->k is
 * not 0. How many of them a call has makes no difference, or what other calls do would. */
int tilemm__sgemm_cpu_planes_pay(const tilemm__sgemm_args_t *args,
                                 const tilemm__cpu_tuning_t *tuning,
                                 const tilemm__sgemm_planes_t *planes, int team);

#endif
