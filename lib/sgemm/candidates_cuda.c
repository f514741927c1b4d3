/* candidates_cuda.c - see candidates_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

#include <string.h>

int tilemm__sgemm_is_allowed(const tilemm__limits_t *limits, int variant)
{
    return !strncmp(tilemm__sgemm_rows[variant].name, limits->variant,
                    strcspn(limits->variant, "+"));
}

int tilemm__sgemm_may_divide_k(const tilemm__limits_t *limits)
{
    return !strchr(limits->variant, '+');
}

int64_t tilemm__sgemm_split(int64_t k, int64_t splits, int64_t unit, int64_t *k_split)
{
    *k_split = tilemm__round_up(tilemm__div_up(k, splits), unit);
    return tilemm__div_up(k, *k_split);
}

int64_t tilemm__sgemm_try_splits(int i, double count, const tilemm__cuda_traits_t *traits)
{
    const int fill = i - TILEMM__SGEMM_MOST_CLUSTER;
    return fill <= 0 ? i : (int64_t)((double)traits->sm_count * fill / count);
}

void tilemm__sgemm_keep_better(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               tilemm__sgemm_trial_t now, tilemm__sgemm_trial_t *best)
{
    now.cycles = tilemm__sgemm_cuda_estimate(&now, args, limits->cuda);
    tilemm__sgemm_keep(&now, best);
}

size_t tilemm__sgemm_partial_bytes(const tilemm__sgemm_args_t *args,
                                   const tilemm__sgemm_trial_t *trial)
{
    if (trial->splits == 1 || trial->cluster)
        return 0;
    return (size_t)trial->splits * (size_t)args->batch_count * (size_t)args->m * (size_t)args->n *
           sizeof(float);
}

tilemm__sgemm_zero_t tilemm__sgemm_zero_of(size_t bytes)
{
    enum { THREADS = 256, BYTES = 16 /* of a thread */ };
    const int64_t count = (int64_t)bytes / BYTES;
    return (tilemm__sgemm_zero_t){.count = count,
                                  .variant = TILEMM__sgemm_zero_sm75,
                                  .blocks = (unsigned)tilemm__div_up(count, THREADS)};
}

void tilemm__sgemm_fill_splitk(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_splitk_t *splitk)
{
    enum { MANY_SPLITS = 16, LANES = 256, LANES_OF_MANY = 32 };
    /* Invariant parts of k are added one after the other. */
    const int many = trial->splits >= MANY_SPLITS && limits->invariance == TILEMM_INVARIANCE_NONE;
    const int64_t count = args->batch_count * args->m * args->n;
    const int64_t blocks = tilemm__div_up(count, many ? LANES_OF_MANY : LANES);
    splitk->blocks = 0;
    if (tilemm__sgemm_partial_bytes(args, trial) == 0)
        return;
    *splitk = (tilemm__sgemm_splitk_t){
        .args = *args,
        .splits = trial->splits,
        .count = count,
        .variant = many ? TILEMM__sgemm_splitk_sm75_32x8 : TILEMM__sgemm_splitk_sm75_256x1,
        .blocks = (unsigned)tilemm__min(blocks, TILEMM__SGEMM_MOST_BLOCKS),
        .concurrent = limits->cuda->cc >= 90,
    };
}

tilemm__sgemm_row_walk_t tilemm__sgemm_walk_rows(int64_t rows, int64_t cols, int64_t most)
{
    unsigned across = 1;
    while (across < TILEMM__SGEMM_ROW_WALK_THREADS &&
           (int64_t)across * TILEMM__SGEMM_ROW_WALK_COLUMNS < cols)
        across *= 2;
    const int64_t tiles = tilemm__div_up(cols, (int64_t)across * TILEMM__SGEMM_ROW_WALK_COLUMNS);
    const int64_t groups = tilemm__div_up(rows, TILEMM__SGEMM_ROW_WALK_THREADS / across);
    return (tilemm__sgemm_row_walk_t){
        .rows = rows,
        .tiles = tiles,
        .groups = groups,
        .across = across,
        .blocks = (unsigned)tilemm__min(tiles * groups, most),
    };
}
