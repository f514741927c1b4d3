/* plan_cuda.h - which kernels multiply two matrices on a GPU, with which tile, and whether k
 * is split: a pure function of the problem, the device's traits and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_CUDA_H
#define TILEMM_LIB_SGEMM_PLAN_CUDA_H

#include "kernels/args.h"
#include "kernels/sgemm/cuda/thin.h"
#include "plan_fused.h"
#include "plan_split.h"
#include "tilemm.h"
#include "lib/traits.h"

typedef enum {
    TILEMM__SGEMM_NOTHING, /* k = 0, beta = 1: C is the result */
    TILEMM__SGEMM_SCALE,   /* k = 0: C = beta C */
    TILEMM__SGEMM_FFMA,    /* shared tiles, FP32 multiply-adds */
    TILEMM__SGEMM_THIN,    /* few rows or columns, FP32 multiply-adds */
    TILEMM__SGEMM_TINY,    /* many tiny matrices, FP32 multiply-adds */
    TILEMM__SGEMM_FUSED,   /* planes of BF16 on tensor cores, in one kernel */
    TILEMM__SGEMM_SPLIT    /* planes of FP16 on tensor cores */
} tilemm__sgemm_kernel_t;

typedef struct {
    tilemm__sgemm_kernel_t kernel;
    size_t workspace_bytes;
    char name[64]; /* "" for NOTHING */
    /* Of FFMA and FUSED, as in tilemm__sgemm_ffma_t; vectors also of TINY. `sm80` tells whose tile
     * it is: that of the kernel for compute capability 8.0, which needs no vectors. Splits are a
     * cluster, or the workspace has the partial products, if there is more than one. */
    int sm80, tile, cluster;
    int vector_a, vector_b, vector_c;
    int64_t splits, k_split;
    /* Of FFMA: so many rows or columns at the end are left to the thin kernel, which runs beside
     * the tiles. Neither needs workspace then. */
    int64_t rest_m, rest_n;
    /* Of THIN, and of that rest: partial products, then the counters, which are zeroed before. */
    tilemm__sgemm_thin_t thin;
    size_t counters, counter_bytes;
    /* Of SPLIT. */
    tilemm__split_plan_t split;
} tilemm__sgemm_cuda_plan_t;

/* The plan with up to so many bytes of workspace. Fewer make for fewer splits and shorter panels;
 * none, for kernels that need none. k is at most TILEMM__SGEMM_MOST_K; other sizes are any. */
void tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__sgemm_cuda_plan_t *plan);

#endif
