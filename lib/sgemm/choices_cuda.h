/* choices_cuda.h - what plans of SGEMM on a GPU chose before: a program that repeats a product, on
 * whatever addresses, does not wait for the estimates of all kernels again.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_CHOICES_CUDA_H
#define TILEMM_LIB_SGEMM_CHOICES_CUDA_H

#include "cost_cuda.h"
#include "lib/plan.h"

/* All that a choice depends on, for one device, and the choice; unused if m is 0. */
typedef struct {
    int64_t m, n, k, batch_count;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    int place_a, place_b, place_c; /* addresses modulo 16, or -1 for arrays */
    int trans_a, trans_b, exchanged, reads_c, keeps;
    tilemm_math_t math;
    size_t workspace;
    tilemm__sgemm_kept_t kept[2];
    tilemm__sgemm_trial_t choice;
} tilemm__sgemm_choice_t;

/* The latest choices, of each problem in one place: another problem may take it. All zeros at the
 * start. */
struct tilemm__sgemm_choices {
    tilemm__sgemm_choice_t at[64];
};

/* The choice for a problem, or NULL if it is not there; limits->choices may be NULL. */
const tilemm__sgemm_trial_t *tilemm__sgemm_chosen(const tilemm__sgemm_args_t *args,
                                                  const tilemm__limits_t *limits);
void tilemm__sgemm_remember(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            const tilemm__sgemm_trial_t *choice);

#endif
