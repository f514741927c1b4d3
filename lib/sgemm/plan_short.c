/* plan_short.c - plans of SGEMM where k is short, or memory is not aligned: whether C or C' is
 * computed, and how much of k is in shared memory at a time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

#include <math.h>

enum {
    FIRST = TILEMM__sgemm_short_sm80_128x128_nn,
    TF32_FIRST = TILEMM__sgemm_short_tf32_sm80_128x128_nn,
    END = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    DEPTH = TILEMM__SGEMM_SHORT_DEPTH
};

static const int64_t most = 1 << 30;

/* The plan of a variant that is for it. Its blocks are 0 if its tiles are too many. */
static tilemm__sgemm_short_t plan_of(const tilemm__sgemm_args_t *args, int variant, int exchange,
                                     const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    const int tf32 = variant >= TF32_FIRST, step = tf32 ? TILEMM__SGEMM_SHORT_STEP_OF_TF32 : 1;
    tilemm__sgemm_short_t p = {
        .args = e,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .variant = variant,
        .wide_a = tilemm__sgemm_is_aligned_a(&e),
        .wide_b = tilemm__sgemm_is_aligned_b(&e),
        .depth = (int)tilemm__round_up(tilemm__min(args->k, DEPTH), step),
        .concurrent = traits->cc >= 90,
    };
    const int64_t tiles_n = tilemm__div_up(e.n, row->n);
    const int64_t per_matrix = tilemm__div_up(e.m, row->m) * tiles_n;
    const int64_t stages = tilemm__min(tilemm__div_up(args->k, DEPTH), TILEMM__SGEMM_SHORT_STAGES);
    const int words = p.depth * (tilemm__short_pitch(row->m, tf32 || !e.trans_a) +
                                 tilemm__short_pitch(row->n, tf32 || e.trans_b));
    if ((double)per_matrix * (double)e.batch_count > (double)most)
        return p;
    p.tiles_n = (unsigned)tiles_n;
    p.per_matrix = (unsigned)per_matrix;
    p.by_tiles_n = tilemm__division_by(p.tiles_n);
    p.by_per_matrix = tilemm__division_by(p.per_matrix);
    p.blocks = (unsigned)(per_matrix * e.batch_count);
    /* The stages; in TF32 rows of C of each warp take their place in the end. */
    const int64_t stored = tf32 ? row->threads / 32 * TILEMM__SGEMM_SHORT_STORED_ROWS *
                                      tilemm__short_pitch(TILEMM__SGEMM_SHORT_STORED_MOST, 1)
                                : 0;
    p.shared = (size_t)tilemm__max(words * stages, stored) * sizeof(float);
    return p;
}

/* The better of C and C'. */
static tilemm__sgemm_short_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                     const tilemm__cuda_traits_t *traits, double *cycles)
{
    tilemm__sgemm_short_t best = {.blocks = 0};
    *cycles = HUGE_VAL;
    for (int exchange = 0; exchange < 2; exchange++) {
        if (!tilemm__sgemm_is_row_for(args, variant - FIRST, exchange))
            continue;
        const tilemm__sgemm_short_t p = plan_of(args, variant, exchange, traits);
        const double now = p.blocks ? tilemm__sgemm_short_estimate(&p, traits) : HUGE_VAL;
        if (now >= *cycles)
            continue;
        *cycles = now;
        best = p;
    }
    return best;
}

/* Whether a variant's sums are as exact as those of the other families in this mode; or for an
 * invariant product, whether they are one chain. */
static int is_exact_enough(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                           int variant)
{
    enum { MOST_CHAIN = 64, MOST_CHAIN_OF_TF32 = 16384 };
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int ends_chains = row->m * row->n <= TILEMM__SGEMM_SHORT_TOTALS * row->threads;
    if (limits->invariance != TILEMM_INVARIANCE_NONE)
        return variant < TF32_FIRST && (args->k <= DEPTH || !ends_chains);
    if (variant >= TF32_FIRST)
        return limits->math == TILEMM_MATH_TF32 && args->k <= MOST_CHAIN_OF_TF32;
    return args->k <= MOST_CHAIN || limits->math != TILEMM_MATH_FP32 || ends_chains;
}

void tilemm__sgemm_try_short(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best)
{
    if (limits->cuda->cc < 80 || args->k > most || args->m > most || args->n > most)
        return;
    for (int v = FIRST; v < END; v++) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (tilemm__sgemm_is_allowed(limits, v) && is_exact_enough(args, limits, v) &&
            best_of(args, v, limits->cuda, &now.cycles).blocks)
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_short(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles;
    plan->method = TILEMM__SGEMM_SHORT;
    plan->as.short_k = best_of(args, trial->variant, limits->cuda, &cycles);
}
