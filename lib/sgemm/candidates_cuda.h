/* candidates_cuda.h - what all families of kernels ask before they are candidates of a plan, and
 * split-K, which two families have.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_CANDIDATES_CUDA_H
#define TILEMM_LIB_SGEMM_CANDIDATES_CUDA_H

#include "plan_types_cuda.h"

/* Whether limits->variant lets the plan choose a row: its name begins so, up to a '+'. And whether
 * k may be divided among blocks or shared out: not with a '+', by which calibration keeps k whole.
 */
int tilemm__sgemm_is_allowed(const tilemm__limits_t *limits, int variant);
int tilemm__sgemm_may_divide_k(const tilemm__limits_t *limits);

/* The second kernel of split-K, whose blocks are 0 if there is none. */
void tilemm__sgemm_fill_splitk(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_splitk_t *splitk);

/* Bytes of split-K's partial products; 0 in a cluster, or with one split. */
size_t tilemm__sgemm_partial_bytes(const tilemm__sgemm_args_t *args,
                                   const tilemm__sgemm_trial_t *trial);

#endif
