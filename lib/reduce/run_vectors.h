/* run_vectors.h - reductions along vectors on the CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_RUN_VECTORS_H
#define TILEMM_LIB_REDUCE_RUN_VECTORS_H

#include "kernels/reduce/cpu/kernels.h"
#include "plan_cpu.h"

/* Sums are first added plainly, in the order that is fastest, with a bound on what the additions
 * lost: on the distance to the exact sum. The sum in the canonical order, with what it lost, is
 * nearer to the exact one than that. Only where the distance could change the result, the vector
 * is summed again in the canonical order; so the result is always that of the canonical order. */

/* Whether the result does not depend on what was lost, where a term passed up to `additions` plain
 * additions. Each loses at most 2^-53 of the magnitudes. */
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

#endif
