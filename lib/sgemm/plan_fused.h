/* plan_fused.h - plans of products by BF16 planes that are made in the kernel.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_FUSED_H
#define TILEMM_LIB_SGEMM_PLAN_FUSED_H

#include "plan_types_cuda.h"

/* The best of the family within the limits, whose estimate is trial->cycles. Returns
 * TILEMM_NOT_SUPPORTED where the device, the mode or the problem is not for it. */
int tilemm__sgemm_try_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *trial);

/* Fill the plan's arm, workspace and all, for a trial. */
void tilemm__sgemm_fill_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan);

#endif
