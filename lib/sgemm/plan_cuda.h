/* plan_cuda.h - which kernels multiply two matrices on a GPU, with which tile, grid, cluster and
 * schedule: all that execution must know but the addresses in the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_CUDA_H
#define TILEMM_LIB_SGEMM_PLAN_CUDA_H

#include "plan_types_cuda.h"

/* The plan for limits->cuda with up to limits->workspace bytes: less makes for fewer splits and
 * shorter parts. TILEMM_NOT_SUPPORTED if k is more than TILEMM__SGEMM_MOST_K; other sizes are any.
 */
int tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_cuda_plan_t *plan);

#endif
