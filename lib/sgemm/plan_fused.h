/* plan_fused.h - the tile and the splits of k with which one kernel splits two matrices into
 * BF16 planes and multiplies them on tensor cores.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_FUSED_H
#define TILEMM_LIB_SGEMM_PLAN_FUSED_H

#include "kernels/args.h"
#include "tilemm.h"
#include "lib/traits.h"

typedef struct {
    int tile;    /* TILEMM__SGEMM_FUSED_... */
    int cluster; /* the splits are a cluster; else the workspace has the partial products */
    int64_t splits, k_split;
    double cycles; /* estimate */
} tilemm__fused_plan_t;

/* Whether an operand can be moved 16 bytes at a time: its address, its leading dimension and, in a
 * batch, its stride are whole 16 bytes. */
static inline int tilemm__is_quads(const void *pointer, int64_t ld, int64_t stride, int64_t batch)
{
    uint64_t all = (uint64_t)(uintptr_t)pointer | (uint64_t)ld * sizeof(float);

    if (batch > 1)
        all |= (uint64_t)stride * sizeof(float);
    return all % 16 == 0;
}

/* The plan with up to so many bytes of workspace. Returns 0 if the kernel cannot do it, or not as
 * accurately as FP32 multiply-adds. */
int tilemm__plan_sgemm_fused(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__fused_plan_t *plan);

/* "128x128x32" */
const char *tilemm__fused_tile_name(const tilemm__fused_plan_t *plan);

#endif
