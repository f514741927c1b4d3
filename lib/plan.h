/* plan.h - what every plan is given beside the problem.
 *
 * A plan is made by int tilemm__plan_...(const args *, const tilemm__limits_t *, plan *), which
 * returns TILEMM_SUCCESS, or why there is no plan. It is a pure function: it reads no matrix and
 * asks no device. limits->choices make it faster, and no different.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_PLAN_H
#define TILEMM_LIB_PLAN_H

#include "lib/traits.h"
#include "tilemm.h"

/* An operand of SGEMM on a GPU whose planes (kernels/sgemm/cuda/planes.h) stay at the begin of the
 * workspace from one product to the next. */
typedef struct {
    int64_t room;  /* lines that stay, of this product and others; 0: the planes do not stay */
    int64_t place; /* of the product's first line among these */
    int is_there;  /* all of the product's planes have been made */
} tilemm__sgemm_kept_t;

typedef struct {
    const tilemm__cuda_traits_t *cuda;         /* of the device that the plan is for, */
    const tilemm__cpu_traits_t *cpu;           /* or of the CPU; the other is NULL */
    const tilemm__cpu_tuning_t *tuning;        /* of the CPU */
    const struct tilemm__cpu_kernels *kernels; /* of the CPU: plans read their tiles' sizes */
    tilemm_math_t math;
    tilemm_invariance_t invariance;
    int threads;      /* of the CPU, at most */
    int team;         /* how many the context is set to, of which other calls may have some now */
    size_t workspace; /* bytes, at most */
    const char *variant; /* "", or: choose among the kernels whose names begin so, if any of them
                            can do the problem (TILEMM_VARIANT) */
    struct tilemm__sgemm_choices *choices; /* of SGEMM on a GPU: NULL, or what was chosen before */
    const tilemm__sgemm_kept_t *kept; /* of SGEMM on a GPU, one product without arrays: NULL, or
                                         for op(A) and op(B) */
} tilemm__limits_t;

#endif
