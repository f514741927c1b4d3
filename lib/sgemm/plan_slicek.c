/* plan_slicek.c - plans of SGEMM of small tiles whose k is shared out among warps: whether C or C'
 * is computed, and the blocks of a cluster that share a tile's k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

#include <math.h>

enum {
    FIRST = TILEMM__sgemm_slicek_sm80_32x64_nn,
    END = TILEMM__sgemm_outer_sm80_4,
    STEP = TILEMM__SGEMM_SLICEK_STEP,
    MOST_CLUSTER = TILEMM__SGEMM_SLICEK_MOST_CLUSTER
};

static const int64_t most = 1 << 30;

/* The plan of a variant that is for it. Its blocks are 0 if they are too many or too large, or k is
 * too short for the splits. */
static tilemm__sgemm_slicek_t plan_of(const tilemm__sgemm_args_t *args, int variant, int exchange,
                                      int splits, const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    const int64_t tiles_n = tilemm__div_up(e.n, row->n);
    const int64_t per_matrix = tilemm__div_up(e.m, row->m) * tiles_n;
    int64_t k_split;
    tilemm__sgemm_slicek_t p = {
        .args = e,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .variant = variant,
        .wide_a = tilemm__sgemm_is_aligned_a(&e),
        .wide_b = tilemm__sgemm_is_aligned_b(&e),
        .splits = splits,
        .concurrent = traits->cc >= 90,
    };
    if (tilemm__sgemm_split(args->k, splits, STEP, &k_split) != splits ||
        (double)per_matrix * (double)e.batch_count * splits > (double)most)
        return p;
    /* The stages; the warps' sums take their place in the end. */
    const int64_t stages = tilemm__min(tilemm__div_up(k_split, TILEMM__SGEMM_SLICEK_DEPTH),
                                       TILEMM__SGEMM_SLICEK_STAGES);
    const int64_t words =
        tilemm__slicek_words(row->m, !e.trans_a) + tilemm__slicek_words(row->n, e.trans_b);
    const int64_t sums = (int64_t)TILEMM__SGEMM_SLICEK_WARPS * row->m * row->n;
    p.shared = (size_t)tilemm__max(words * stages, sums) * sizeof(float);
    if (p.shared > traits->shared_per_block)
        return p;
    p.k_split = (int)k_split;
    p.tiles_n = (unsigned)tiles_n;
    p.per_matrix = (unsigned)per_matrix;
    p.by_tiles_n = tilemm__division_by(p.tiles_n);
    p.by_per_matrix = tilemm__division_by(p.per_matrix);
    p.by_splits = tilemm__division_by((unsigned)splits);
    p.blocks = (unsigned)(per_matrix * e.batch_count * splits);
    return p;
}

/* Whether sums are as exact as those of the other families in this mode: a warp's are chains. */
static int is_exact_enough(const tilemm__sgemm_slicek_t *plan, tilemm_math_t math)
{
    enum { MOST_CHAIN = 256 };
    return math != TILEMM_MATH_FP32 || plan->k_split <= MOST_CHAIN * TILEMM__SGEMM_SLICEK_WARPS;
}

/* The best of C and C', and of clusters of 1, 2, 4 and 8: others leave multiprocessors idle. Its
 * blocks are 0 if there is none. */
static tilemm__sgemm_slicek_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                      const tilemm__limits_t *limits, double *cycles)
{
    const int divides = limits->cuda->cc >= 90 && tilemm__sgemm_may_divide_k(limits);
    tilemm__sgemm_slicek_t best = {.blocks = 0};
    *cycles = HUGE_VAL;
    for (int exchange = 0; exchange < 2; exchange++) {
        double before = HUGE_VAL;
        if (!tilemm__sgemm_is_row_for(args, variant - FIRST, exchange))
            continue;
        for (int splits = 1; splits <= (divides ? MOST_CLUSTER : 1); splits *= 2) {
            const tilemm__sgemm_slicek_t p = plan_of(args, variant, exchange, splits, limits->cuda);
            if (!p.blocks || !is_exact_enough(&p, limits->math))
                continue;
            const double now = tilemm__sgemm_slicek_estimate(&p, limits->cuda);
            if (now < *cycles) {
                *cycles = now;
                best = p;
            }
            if (now > before) /* and more so with more */
                break;
            before = now;
        }
    }
    return best;
}

/* Whether no plan can be better than the best so far: what all multiply-adds take at least. */
static int is_hopeless(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_trial_t *best)
{
    enum { MOST_RATE = 128 };
    return best->variant >= 0 && !*limits->variant &&
           tilemm__sgemm_elements_of_c(args) * (double)args->k >
               best->cycles * MOST_RATE * limits->cuda->sm_count;
}

void tilemm__sgemm_try_slicek(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best)
{
    if (limits->cuda->cc < 80 || args->k > most || args->m > most || args->n > most ||
        is_hopeless(args, limits, best))
        return;
    for (int v = FIRST; v < END; v++) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (tilemm__sgemm_is_allowed(limits, v) && best_of(args, v, limits, &now.cycles).blocks)
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_slicek(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles;
    plan->method = TILEMM__SGEMM_SLICEK;
    plan->as.slicek = best_of(args, trial->variant, limits, &cycles);
}
