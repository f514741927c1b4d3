/* candidates_cuda.h - the families of kernels with a file of their own, and what all families ask
 * before they are candidates of a plan.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_CANDIDATES_CUDA_H
#define TILEMM_LIB_SGEMM_CANDIDATES_CUDA_H

#include "plan_types_cuda.h"

enum {
    TILEMM__SGEMM_ROWS_OF_TILE = 4,     /* by transposes */
    TILEMM__SGEMM_MOST_BLOCKS = 1 << 30 /* of a grid that strides over its items, half the limit */
};

/* Rows, k and blocks that the kernels of plan_vector.c take at most. */
enum { TILEMM__SGEMM_VECTOR_MOST = 1 << 30 };

/* Whether limits->variant lets the plan choose a row: its name begins so, up to a '+'. */
int tilemm__sgemm_is_allowed(const tilemm__limits_t *limits, int variant);
/* Whether k may be divided among blocks or shared out. Calibration keeps it whole, with a '+'. */
int tilemm__sgemm_may_divide_k(const tilemm__limits_t *limits);

/* Among the rows of a tile, that of a problem's transposes. */
static inline int tilemm__sgemm_transposes(const tilemm__sgemm_args_t *args)
{
    return args->trans_a * 2 + args->trans_b;
}

/* Whether row `number`, counted from a tile's first one, is for C, or with `exchange` for C'. */
static inline int tilemm__sgemm_is_row_for(const tilemm__sgemm_args_t *args, int number,
                                           int exchange)
{
    const int transposes =
        exchange ? !args->trans_b * 2 + !args->trans_a : tilemm__sgemm_transposes(args);
    return number % TILEMM__SGEMM_ROWS_OF_TILE == transposes;
}

/* The number of ranges that k falls into if there may be `splits`; *k_split is their length. */
int64_t tilemm__sgemm_split(int64_t k, int64_t splits, int64_t unit, int64_t *k_split);

/* The splits of each of `count` tiles that are tried, i from 1 on: none; those of a cluster; and
 * the numbers that give each multiprocessor 1, 2, 3 ... tiles. */
int64_t tilemm__sgemm_try_splits(int i, double count, const tilemm__cuda_traits_t *traits);

/* `now` becomes the best if it takes fewer cycles. */
static inline void tilemm__sgemm_keep(const tilemm__sgemm_trial_t *now, tilemm__sgemm_trial_t *best)
{
    if (best->variant < 0 || now->cycles < best->cycles)
        *best = *now;
}

/* The same with the cycles that are estimated. */
void tilemm__sgemm_keep_better(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               tilemm__sgemm_trial_t now, tilemm__sgemm_trial_t *best);

/* The kernel that makes zeros of `bytes`, whose blocks are 0 if there are none. */
tilemm__sgemm_zero_t tilemm__sgemm_zero_of(size_t bytes);

/* The second kernel of split-K, whose blocks are 0 if there is none. */
void tilemm__sgemm_fill_splitk(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_splitk_t *splitk);

/* Bytes of split-K's partial products; 0 in a cluster, or with one split. */
size_t tilemm__sgemm_partial_bytes(const tilemm__sgemm_args_t *args,
                                   const tilemm__sgemm_trial_t *trial);

/* How at most `most` blocks walk the rows, of `cols` numbers, of a batch of matrices. */
tilemm__sgemm_row_walk_t tilemm__sgemm_walk_rows(int64_t rows, int64_t cols, int64_t most);

/* Copies of operands for the fused kernels (plan_align.c). The problem as these see it: what they
 * cannot read has no address yet, and lies as its copy will. */
tilemm__sgemm_args_t tilemm__sgemm_aligned(const tilemm__sgemm_args_t *args);
/* The bytes of workspace that the copies take at most. */
double tilemm__sgemm_copies_bytes(const tilemm__sgemm_args_t *args);
/* The pass that makes the copies, from *bytes of the workspace on, which grows by what they take.
 */
tilemm__sgemm_copies_t tilemm__sgemm_plan_copies(const tilemm__sgemm_args_t *args, size_t *bytes);

/* FP32 multiply-adds (plan_ffma.c), BF16 planes or TF32 that are made in the kernel (plan_fused.c),
 * and FP16 planes that a pass makes (plan_planes_cuda.c). try: keep the family's best, where
 * device, mode and problem are for it, if that is better than the best so far. fill: the plan's
 * arm, workspace and all, for a trial. of: the struct that the kernels take. */
void tilemm__sgemm_try_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
tilemm__sgemm_ffma_t tilemm__sgemm_ffma_of(const tilemm__sgemm_args_t *args,
                                           const tilemm__limits_t *limits,
                                           const tilemm__sgemm_trial_t *trial);
void tilemm__sgemm_try_fitted(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_fitted(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_vector(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_vector(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_slicek(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_slicek(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_outer(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_outer(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_short(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_short(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
void tilemm__sgemm_try_invariant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                                 tilemm__sgemm_trial_t *best);
void tilemm__sgemm_try_warp(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_warp(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);
/* The plan of a resident kernel, for C' if `exchange`, and its estimate. Its blocks are 0 if it
 * cannot be. */
tilemm__sgemm_warp_t tilemm__sgemm_resident_of(const tilemm__sgemm_args_t *args, int variant,
                                               int exchange, const tilemm__limits_t *limits,
                                               double *cycles);
tilemm__sgemm_fused_t tilemm__sgemm_fused_of(const tilemm__sgemm_args_t *args,
                                             const tilemm__limits_t *limits,
                                             const tilemm__sgemm_trial_t *trial);
/* Whether the fused kernels can do the problem, from copies of operands if need be; those of them
 * that read operands however they are aligned. */
int tilemm__sgemm_can_be_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits);
int tilemm__sgemm_can_be_unaligned(const tilemm__sgemm_args_t *args);
/* Invariant products. Whether a k has FP16 planes: a shorter one has too few products for what
 * these lose to be little beside FP32's own roundings, and the parts of a longer one are too long.
 */
int tilemm__sgemm_has_half(int64_t k);
/* The parts of k, each with a sum of its own, and the length of each but the last: of FP16 planes,
 * or of the three BF16 planes. */
int64_t tilemm__sgemm_invariant_parts(int64_t k, int half, int64_t *k_part);
/* Where what planes carry is told to the kernel `rest`, from *workspace on, which grows. */
tilemm__sgemm_carry_places_t tilemm__sgemm_place_carry(const tilemm__sgemm_fused_t *rest,
                                                       size_t *workspace);
/* FP16 planes of an invariant product by a pass (plan_half.c). */
void tilemm__sgemm_try_half_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                                   tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_half_planes(const tilemm__sgemm_args_t *args,
                                    const tilemm__limits_t *limits,
                                    const tilemm__sgemm_trial_t *trial,
                                    tilemm__sgemm_cuda_plan_t *plan);
/* `plain`: the cycles of FP32 multiply-adds. */
void tilemm__sgemm_try_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              double plain, tilemm__sgemm_trial_t *best);
void tilemm__sgemm_fill_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);

#endif
