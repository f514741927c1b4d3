/* run_cuda.h - the operation on a GPU. tilemm__cuda_staged_...() takes operands anywhere.
 * tilemm__cuda_...() takes device addresses only: it plans, launches on the context's stream, and
 * neither waits nor allocates but through tilemm__cuda_workspace().
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_RUN_CUDA_H
#define TILEMM_LIB_TRANSPOSE_RUN_CUDA_H

#include "lib/cuda/cuda.h"

tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args);

#endif
