/* plan_split.h - the product of split planes on a GPU (kernels/cuda/sgemm_split.h): its tile,
 * how much of k and of a batch it takes at a time, where all lies in the workspace, and what time
 * it promises to take. Pure functions of the problem and the device's traits.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_SPLIT_H
#define TILEMM_LIB_SGEMM_PLAN_SPLIT_H

#include "kernels/args.h"
#include "tilemm.h"
#include "lib/traits.h"

typedef struct {
    int products;   /* of planes: 1, 3 or 4 */
    int sm90;       /* which kernel: sgemm_split_sm90 or sgemm_split_sm80 */
    int tile;       /* of sgemm_split_sm90 */
    int64_t shared; /* pairs of its tiles whose k all clusters share out */
    /* A call takes k in panels of k_panel (a multiple of TILEMM__SPLIT_BLOCK, or all of k) and the
     * batch in groups of batch_group matrices. */
    int64_t k_panel, batch_group;
    /* Bytes from the workspace's begin; lo is not there if products is 1. The states, `sparse`
     * (three words: A's, B's, and whether lines are left) and the shared tiles' counters are zeroed
     * before each panel: zero_bytes from `zero` on. Then the shared tiles' partial sums. */
    size_t hi_a, lo_a, hi_b, lo_b, exponents_a, exponents_b;
    size_t zero, zero_bytes, states_a, states_b, sparse, counters;
    size_t partial, partial_bytes;
    size_t bytes;  /* of all */
    double cycles; /* that it should take: see plan_sgemm_cuda.c */
} tilemm__split_plan_t;

/* Plan with up to so many bytes. Returns 0 where the device or the problem is not for it, the mode
 * is strict, or there is no room for one panel. */
int tilemm__plan_sgemm_split(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__split_plan_t *plan);

/* "128x64x64": the tile of a plan. */
const char *tilemm__split_tile_name(const tilemm__split_plan_t *plan);

#endif
