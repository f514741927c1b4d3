/* passes_cpu.h - reductions on the CPU: passes over vectors and over columns, and what they share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_PASSES_CPU_H
#define TILEMM_LIB_REDUCE_PASSES_CPU_H

#include "kernels/reduce/cpu/kernels.h"
#include "lib/cpu/team.h"
#include "plan_cpu.h"

static inline void tilemm__store_sum(const tilemm__reduce_args_t *args, int64_t vector,
                                     tilemm__sum_t sum, int64_t count)
{
    args->out[vector * args->out_stride] = tilemm__sum_result(args->op, sum, count);
}

static inline void tilemm__store_key(const tilemm__reduce_args_t *args, int64_t vector, int32_t key,
                                     int64_t index)
{
    if (args->out)
        args->out[vector * args->out_stride] = tilemm__key_result(args->op, key);
    if (args->index_out)
        args->index_out[vector * args->out_stride] = tilemm__index_result(key, index);
}

/* Sums are first added plainly, in the order that is fastest, with a bound on what the additions
 * lost: on the distance to the exact sum. The sum in the canonical order, with what it lost, is
 * nearer to the exact one than that. Only where the distance could change the result, the vector
 * is summed again in the canonical order; so the result is always that of the canonical order. */

/* Whether the result does not depend on what was lost, where a term passed up to `additions` plain
 * additions. Each loses at most 2^-52 of the magnitudes, in any rounding mode. */
int tilemm__sum_is_certain(int op, const tilemm__total_t *total, int additions);

/* The sum of the vector at x in the canonical order. `threads` threads write the sums of `tiles`
 * tiles at a time, a multiple of 1024, to `sums`; NULL: 1024 on the stack. */
tilemm__sum_t tilemm__sum_in_order(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                                   const float *x, int threads, int64_t tiles, tilemm__sum_t *sums);

/* One vector by this thread. */
void tilemm__reduce_vector(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                           int64_t vector);

/* Plans of methods VECTORS and TILES. */
void tilemm__reduce_vectors(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace);

/* Plans of methods COLUMNS and COLUMN_BLOCKS: down the rows of a matrix. */
void tilemm__reduce_columns(const tilemm__reduce_cpu_t *k, const tilemm__reduce_args_t *args,
                            const tilemm__reduce_cpu_plan_t *plan, void *workspace);

#endif
