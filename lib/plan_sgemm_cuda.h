/* plan_sgemm_cuda.h - which kernels multiply two matrices on a GPU, with which tile, and whether k
 * is split: a pure function of the problem, the device's traits and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_PLAN_SGEMM_CUDA_H
#define TILEMM_PLAN_SGEMM_CUDA_H

#include "args.h"
#include "traits.h"

typedef enum {
    TILEMM__SGEMM_NOTHING, /* k = 0, beta = 1: C is the result */
    TILEMM__SGEMM_SCALE,   /* k = 0: C = beta C */
    TILEMM__SGEMM_FFMA     /* shared tiles, FP32 multiply-adds */
} tilemm__sgemm_kernel_t;

typedef struct {
    tilemm__sgemm_kernel_t kernel;
    /* What follows is of FFMA, and means what it does in tilemm__sgemm_ffma_t. */
    int tile;
    int vector_a, vector_b, vector_c;
    int64_t splits, k_split;
    size_t workspace_bytes; /* for the partial products; 0 if splits is 1 */
    char name[64];          /* "" for NOTHING */
} tilemm__sgemm_cuda_plan_t;

/* The plan with up to so many bytes of workspace. Fewer make for fewer splits, none for none. */
void tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                             size_t workspace, tilemm__sgemm_cuda_plan_t *plan);

#endif
