/* plan_fused.c - plans of SGEMM on tensor cores in one kernel, which makes BF16 planes itself.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_fused.h"

#include <string.h>

#include "candidates_cuda.h"
#include "lib/size.h"

enum {
    FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    BULK_128X128 = TILEMM__sgemm_fused_sm90_128x128x32_nn_bulk,
    FIRST_TRANSPOSED = TILEMM__sgemm_fused_sm90_32x256x32_nn,
    END = TILEMM__sgemm_zero_sm75,
    ROWS_OF_TILE = 4,
    K = TILEMM__SGEMM_FUSED_K,
    MOST_CLUSTER = TILEMM__SGEMM_FUSED_MOST_CLUSTER,
    /* The shortest k: below, what the tensor cores truncate shows beside a plain FP32 sum. */
    LEAST_K = 32
};

/* Coordinates of the copy engine, and items, with a tile and a grid beyond. */
static const int64_t most = INT32_MAX - 65536;

/* Whether the copy engine can store C: it cannot add to it. */
static int is_bulk(const tilemm__sgemm_args_t *args, int64_t splits)
{
    return splits == 1 && args->beta == 0.0f && !args->c_array &&
           tilemm__is_aligned(args->c, args->ldc, args->stride_c, args->batch_count);
}

/* The largest tile has two rows: whether this is the one for that number of splits. */
static int is_chosen_of_two(const tilemm__sgemm_args_t *args, int variant, int64_t splits)
{
    const int bulk = args->k <= TILEMM__SGEMM_FUSED_BULK_MOST_K && is_bulk(args, splits);

    if (variant >= BULK_128X128 + ROWS_OF_TILE)
        return 1;
    return bulk == (variant >= BULK_128X128);
}

/* The splits of k that are tried: those of a cluster, then, with a workspace, the number that fills
 * the device. */
static int64_t try_splits(int i, int64_t count, const tilemm__cuda_traits_t *traits)
{
    if (i <= MOST_CLUSTER)
        return i;
    return traits->sm_count * (int64_t)(i - MOST_CLUSTER) / count;
}

int tilemm__sgemm_try_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *trial)
{
    const tilemm__cuda_traits_t *traits = limits->cuda;
    int found = 0;

    if (limits->math == TILEMM_MATH_FP32_STRICT || traits->cc != 90 || args->a_array ||
        args->b_array || args->k < LEAST_K || args->m > most || args->n > most || args->k > most ||
        !tilemm__is_aligned(args->a, args->lda, args->stride_a, args->batch_count) ||
        !tilemm__is_aligned(args->b, args->ldb, args->stride_b, args->batch_count))
        return TILEMM_NOT_SUPPORTED;
    for (int v = FIRST + args->trans_a * 2 + args->trans_b; v < END; v += ROWS_OF_TILE) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const double count = (double)tilemm__div_up(args->m, row->m) *
                             (double)tilemm__div_up(args->n, row->n) * (double)args->batch_count;

        if (count > (double)most || !tilemm__sgemm_is_allowed(limits, v))
            continue;
        for (int i = 1; i <= MOST_CLUSTER + row->blocks; i++) {
            const int64_t wanted = try_splits(i, (int64_t)count, traits);
            tilemm__sgemm_trial_t now = {.variant = v};

            if (wanted < 1 || (i > 1 && !tilemm__sgemm_may_divide_k(limits)))
                continue;
            now.k_split = tilemm__round_up(tilemm__div_up(args->k, wanted), K);
            now.splits = tilemm__div_up(args->k, now.k_split);
            now.cluster = now.splits > 1 && i <= MOST_CLUSTER;
            if (count * (double)now.splits > (double)most ||
                !is_chosen_of_two(args, v, now.splits) ||
                (now.splits > 1 && !now.cluster &&
                 (double)args->m * (double)args->n * (double)args->batch_count * sizeof(float) *
                         (double)now.splits >
                     (double)limits->workspace))
                continue;
            now.cycles = tilemm__sgemm_cuda_estimate(&now, args, traits);
            if (!found || now.cycles < trial->cycles)
                *trial = now;
            found = 1;
        }
    }
    return found ? TILEMM_SUCCESS : TILEMM_NOT_SUPPORTED;
}

/* The transposed product: C' = op(B)' op(A)'. */
static tilemm__sgemm_args_t transposed(const tilemm__sgemm_args_t *args)
{
    tilemm__sgemm_args_t other = *args;

    other.m = args->n, other.n = args->m;
    other.a = args->b, other.b = args->a;
    other.lda = args->ldb, other.ldb = args->lda;
    other.stride_a = args->stride_b, other.stride_b = args->stride_a;
    other.trans_a = !args->trans_b, other.trans_b = !args->trans_a;
    return other;
}

void tilemm__sgemm_fill_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    tilemm__sgemm_fused_t *const product = &plan->as.fused.product;
    const int is_transposed = trial->variant >= FIRST_TRANSPOSED;
    const int64_t rows = tilemm__div_up(args->m, row->m), cols = tilemm__div_up(args->n, row->n);
    const int64_t count = rows * cols * args->batch_count * trial->splits;

    plan->method = TILEMM__SGEMM_FUSED;
    plan->workspace = tilemm__sgemm_partial_bytes(args, trial);
    *product = (tilemm__sgemm_fused_t){
        .args = is_transposed ? transposed(args) : *args,
        .variant = trial->variant,
        .cluster = trial->cluster ? (unsigned)trial->splits : 1,
        .blocks = (uint64_t)(trial->cluster ? count
                                            : tilemm__min(count, (int64_t)limits->cuda->sm_count *
                                                                     row->blocks)),
        .splits = trial->splits,
        .k_split = trial->k_split,
        .partial_bytes = plan->workspace,
        .rows = (unsigned)(is_transposed ? cols : rows),
        .cols = (unsigned)(is_transposed ? rows : cols),
        .count = (unsigned)count,
        .bulk = (unsigned char)(row->facet && is_bulk(args, trial->splits)),
    };
    tilemm__sgemm_fill_splitk(args, limits, trial, &plan->as.fused.splitk);
}
