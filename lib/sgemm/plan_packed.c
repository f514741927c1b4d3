/* plan_packed.c - plans of SGEMM by FP32 multiply-adds for batches of small matrices that lie one
 * after the other without gaps: how many of them are a group.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

enum {
    FIRST = TILEMM__sgemm_packed_sm90_4x4_nn,
    END = TILEMM__sgemm_zero_sm75,
    STAGES = TILEMM__SGEMM_PACKED_STAGES,
    MOST_SIDE = 128,  /* of a matrix */
    WIDE = 4,         /* numbers whose bytes are copied at once */
    GOOD_THREADS = 96 /* of a group, at least */
};

/* Whether an operand's matrices lie one after the other, from an aligned address on. */
static int is_packed(const float *pointer, const void *array, int64_t rows, int64_t cols,
                     int64_t ld, int64_t stride)
{
    return !array && ld == cols && stride == rows * cols &&
           (uint64_t)(uintptr_t)pointer % (WIDE * sizeof(float)) == 0;
}

/* Where k is a multiple of four, rows that run along k meet in few banks, and mostly all rows are
 * aligned: others are faster. */
static int is_for_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    const int64_t most = tilemm__max(tilemm__max(args->m, args->n), args->k);
    return limits->cuda->cc == 90 && args->beta == 0.0f && args->batch_count > 1 &&
           args->batch_count <= INT32_MAX / 2 && most <= MOST_SIDE && args->k % WIDE != 0 &&
           is_packed(args->a, args->a_array, args->trans_a ? args->k : args->m,
                     args->trans_a ? args->m : args->k, args->lda, args->stride_a) &&
           is_packed(args->b, args->b_array, args->trans_b ? args->n : args->k,
                     args->trans_b ? args->k : args->n, args->ldb, args->stride_b) &&
           is_packed(args->c, args->c_array, args->m, args->n, args->ldc, args->stride_c);
}

/* The matrices of a group: the fewest of which all operands have a multiple of WIDE numbers, or as
 * many of these as have GOOD_THREADS. */
static int together_of(const tilemm__sgemm_args_t *args, int lanes)
{
    int unit = 1;
    while (args->m * args->k * unit % WIDE || args->k * args->n * unit % WIDE ||
           args->m * args->n * unit % WIDE)
        unit *= 2;
    return unit * (int)tilemm__div_up(GOOD_THREADS, (int64_t)lanes * unit);
}

/* The plan. Its blocks are 0 if a block cannot have a group. */
static tilemm__sgemm_packed_t plan_of(const tilemm__sgemm_args_t *args, int variant,
                                      const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int lanes_m = (int)tilemm__div_up(args->m, row->m);
    const int lanes_n = (int)tilemm__div_up(args->n, row->n), lanes = lanes_m * lanes_n;
    const int together = together_of(args, lanes);
    const int64_t stage = (args->m + args->n) * args->k * together;
    /* Lines that a matrix does not have are read, too: up to a side. */
    const int64_t words = STAGES * stage + args->m * args->n * together + row->m * (args->k + 1);
    tilemm__sgemm_packed_t p = {
        .args = *args,
        .variant = variant,
        .lanes_m = lanes_m,
        .lanes_n = lanes_n,
        .together = together,
        .by_lanes = tilemm__division_by((uint32_t)lanes),
        .by_lanes_n = tilemm__division_by((uint32_t)lanes_n),
        .groups = (unsigned)(args->batch_count / together),
        .threads = (unsigned)tilemm__round_up((int64_t)lanes * together, 32),
        .shared = STAGES * sizeof(uint64_t) + (size_t)words * sizeof(float),
    };
    if (p.threads <= (unsigned)row->threads && p.shared <= traits->shared_per_block) {
        const int64_t all = tilemm__div_up(args->batch_count, together); /* what is left is one */
        const int room = tilemm__sgemm_resident_plan(row, (int)p.threads, p.shared, traits);
        p.blocks = (unsigned)tilemm__min(all, (int64_t)traits->sm_count * room);
    }
    return p;
}

void tilemm__sgemm_try_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best)
{
    if (!is_for_packed(args, limits))
        return;
    for (int v = FIRST + tilemm__sgemm_transposes(args); v < END; v += TILEMM__SGEMM_ROWS_OF_TILE) {
        const tilemm__sgemm_packed_t p = plan_of(args, v, limits->cuda);
        const tilemm__sgemm_trial_t now = {
            .variant = v,
            .splits = 1,
            .k_split = args->k,
            .cycles = p.blocks ? tilemm__sgemm_packed_estimate(&p, limits->cuda) : 0,
        };
        if (p.blocks && tilemm__sgemm_is_allowed(limits, v))
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_PACKED;
    plan->as.packed = plan_of(args, trial->variant, limits->cuda);
}
