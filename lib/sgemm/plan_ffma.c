/* plan_ffma.c - plans of SGEMM by FP32 multiply-adds on shared tiles: the tile and the splits that
 * promise to take the least time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

enum {
    SM75_FIRST = TILEMM__sgemm_ffma_sm75_128x128x16_nn,
    SM80_FIRST = TILEMM__sgemm_ffma_sm80_128x128x16_nn,
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x2_k,
    ROWS_OF_TILE = TILEMM__SGEMM_ROWS_OF_TILE,
    MOST_CLUSTER = TILEMM__SGEMM_MOST_CLUSTER,
    STEP = 16 /* of k; rows of longer steps add up chains */
};

/* Whether the sum of a split is one chain of multiply-adds in the order of k, however C is cut. All
 * such rows for a device put the zeros that fill a k-step up in the same place, and divide k
 * alike. */
static int adds_in_one_chain(int variant)
{
    return tilemm__sgemm_rows[variant].k == STEP;
}

/* The longest chain of a split of k_split. Of a longer step two groups of threads have a half each;
 * the smallest tile adds up the sums of steps. */
static int64_t chain_of(const tilemm__sgemm_row_t *row, int64_t k_split)
{
    enum { SMALLEST = 32 };
    return row->k == STEP ? k_split : row->m == SMALLEST && row->n == SMALLEST ? STEP : k_split / 2;
}

/* The splits of an invariant product: a cluster, which needs no workspace. With fewer, products
 * with few tiles leave multiprocessors idle; with shorter ones, the cluster's sum is what costs. */
static int64_t invariant_splits(int64_t k, int cc)
{
    enum { LEAST = 128 };
    return cc >= 90 ? tilemm__max(tilemm__min(k / LEAST, MOST_CLUSTER), 1) : 1;
}

/* The longest chain in FP32 mode, unless k is divided by MOST_CLUSTER, for which no workspace is
 * needed. Where C has few tiles a library divides k, and its sums are the more exact: ours are of
 * MOST_PARTS such parts at most, or of LEAST of k. */
static int64_t longest_chain(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    enum { LEAST = 80, MOST_PARTS = 3 };
    const int64_t parts = (int64_t)(limits->cuda->sm_count / tilemm__sgemm_library_tiles(args));
    if (limits->math != TILEMM_MATH_FP32 || limits->cuda->cc < 90 || parts <= MOST_PARTS)
        return INT64_MAX;
    return tilemm__max(args->k * MOST_PARTS / parts, LEAST);
}

void tilemm__sgemm_try_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *best)
{
    const tilemm__cuda_traits_t *traits = limits->cuda;
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const int invariant = limits->invariance != TILEMM_INVARIANCE_NONE;
    const int may_divide = !invariant && tilemm__sgemm_may_divide_k(limits);
    const int64_t longest = may_divide ? longest_chain(args, limits) : INT64_MAX;
    for (int v = SM75_FIRST + tilemm__sgemm_transposes(args); v < SKINNY_FIRST; v += ROWS_OF_TILE) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const double count = tilemm__sgemm_tiles_of_c(row, args);
        const int tries = MOST_CLUSTER + tilemm__sgemm_resident_blocks(row, traits);
        const int sm80 = v >= SM80_FIRST;
        if (sm80 != (traits->cc >= 80) || !tilemm__sgemm_is_allowed(limits, v) ||
            (invariant && !adds_in_one_chain(v)))
            continue;
        for (int i = 1; i <= tries; i++) {
            const int64_t wanted = tilemm__sgemm_try_splits(i, count, traits);
            tilemm__sgemm_trial_t now = {.variant = v};
            if (invariant ? i != invariant_splits(args->k, traits->cc)
                          : i > 1 && (wanted < 2 || !may_divide))
                continue;
            now.splits = tilemm__sgemm_split(args->k, wanted, row->k, &now.k_split);
            now.cluster = sm80 && traits->cc >= 90 && now.splits > 1 && now.splits <= MOST_CLUSTER;
            if (now.splits > 1 && !now.cluster &&
                bytes * (double)now.splits > (double)limits->workspace) {
                const int64_t fewer = (int64_t)((double)limits->workspace / bytes);
                if (fewer < 2)
                    continue;
                now.splits = tilemm__sgemm_split(args->k, fewer, row->k, &now.k_split);
            }
            if (chain_of(row, now.k_split) > longest && wanted < MOST_CLUSTER)
                continue;
            tilemm__sgemm_keep_better(args, limits, now, best);
        }
    }
}

tilemm__sgemm_ffma_t tilemm__sgemm_ffma_of(const tilemm__sgemm_args_t *args,
                                           const tilemm__limits_t *limits,
                                           const tilemm__sgemm_trial_t *trial)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const int sm80 = trial->variant >= SM80_FIRST;
    const int64_t tiles_m = tilemm__div_up(args->m, row->m);
    const int64_t tiles_n = tilemm__div_up(args->n, row->n);
    return (tilemm__sgemm_ffma_t){
        .args = *args,
        .variant = trial->variant,
        .aligned_a = !sm80 && args->m >= row->m && (!args->trans_a || args->m % 4 == 0) &&
                     tilemm__sgemm_is_aligned_a(args),
        .aligned_b = !sm80 && args->n >= row->n && (args->trans_b || args->n % 4 == 0) &&
                     tilemm__sgemm_is_aligned_b(args),
        .aligned_c =
            !sm80 && args->n % 4 == 0 && (trial->splits > 1 || tilemm__sgemm_is_aligned_c(args)),
        .splits = trial->splits,
        .k_split = trial->k_split,
        .cluster = trial->cluster ? (unsigned)trial->splits : 1,
        .tiles_m = (uint64_t)tiles_m,
        .tiles_n = (uint64_t)tiles_n,
        .blocks = (uint64_t)tiles_m * (uint64_t)tiles_n * (uint64_t)args->batch_count *
                  (uint64_t)trial->splits,
        .partial_bytes = tilemm__sgemm_partial_bytes(args, trial),
        .concurrent = sm80 && limits->cuda->cc >= 90,
    };
}

void tilemm__sgemm_fill_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_FFMA;
    plan->variant = trial->variant;
    plan->as.ffma.tiles = tilemm__sgemm_ffma_of(args, limits, trial);
    plan->workspace = plan->as.ffma.tiles.partial_bytes;
    tilemm__sgemm_fill_splitk(args, limits, trial, &plan->as.ffma.splitk);
    plan->as.ffma.fringe.blocks = 0;
}
