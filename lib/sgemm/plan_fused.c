/* plan_fused.c - plans of SGEMM on tensor cores in one kernel, which makes BF16 planes itself, or
 * in TF32 mode rounds the operands to TF32; and of invariant products from such planes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

enum {
    FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    BULK_128X128 = TILEMM__sgemm_fused_sm90_128x128x32_nn_bulk,
    TF32_FIRST = TILEMM__sgemm_tf32_sm90_256x128x32_nn,
    TF32_END = TILEMM__sgemm_rest_sm90_128x128x32_nn,
    UNALIGNED_FIRST = TILEMM__sgemm_unaligned_sm90_128x128x32_nn,
    TF32_UNALIGNED_FIRST = TILEMM__sgemm_tf32_unaligned_sm90_128x128x32_nn,
    INVARIANT_FIRST = TILEMM__sgemm_invariant_sm90_128x128x32_nn,
    HALF_FIRST = TILEMM__sgemm_half_sm90_128x128x32_nn,
    INVARIANT_END = TILEMM__sgemm_warp_sm90_32x16_nn,
    ROWS_OF_TILE = TILEMM__SGEMM_ROWS_OF_TILE,
    MOST_CLUSTER = TILEMM__SGEMM_FUSED_MOST_CLUSTER,
    /* The shortest k: below, what the tensor cores truncate shows beside a plain FP32 sum; in TF32
     * mode most of a k-step is zeros. */
    LEAST_K = 32,
    LEAST_K_OF_TF32 = 16,
    /* Up to this k, what the tensor cores truncate in one sum is far below TF32's rounding. */
    LONGEST_K_OF_TF32 = 16384,
    /* So that unsigned holds the bytes from a row to the next of its phase. */
    MOST_LD = (1 << 28) - 1,
    /* Bytes of the largest copies of operands that pay with their memory. */
    MOST_COPIES = 1 << 30,
    /* The largest tile for which shared memory has room beside the operands: in a cluster. */
    LARGEST_IN_CLUSTER = 128 * 128,
    /* Parts of k of an invariant product, from LEAST_K on: with fewer, products of few tiles leave
     * multiprocessors idle; with more, or for a shorter k, ending them takes longer than they save.
     * Beyond what a cluster can have, of LONG_PART steps or more each, which the workspace holds.
     */
    INVARIANT_LEAST_K = 256,
    INVARIANT_PARTS = 4,
    INVARIANT_LONG_PART = 2048,
    HALF_LEAST_K = 513,
    HALF_MOST_K = 32768
};

/* Coordinates of the copy engine, and items, with a grid beyond. */
static const int64_t most = TILEMM__SGEMM_MOST_COORDINATE;

static tilemm__sgemm_fused_store_t store_of(const tilemm__sgemm_args_t *args,
                                            const tilemm__sgemm_trial_t *trial)
{
    const int tf32 = tilemm__sgemm_is_tf32(trial->variant);
    const int has_memory = tf32 ? tilemm__sgemm_tf32_has_tile(trial->variant)
                                : tilemm__sgemm_rows[trial->variant].facet;
    const int in_bulk = has_memory && trial->splits == 1 && tilemm__sgemm_is_stored_in_bulk(args);
    return in_bulk                                     ? TILEMM__SGEMM_STORE_BULK
           : has_memory && trial->splits == 1 && !tf32 ? TILEMM__SGEMM_STORE_ROWS
                                                       : TILEMM__SGEMM_STORE_THREADS;
}

/* The largest tile has two rows: whether this is the one for that number of splits. */
static int is_chosen_of_two(const tilemm__sgemm_args_t *args, int variant, int64_t splits)
{
    const int bulk = args->k <= TILEMM__SGEMM_FUSED_BULK_MOST_K && splits == 1;
    if (variant >= BULK_128X128 + ROWS_OF_TILE)
        return 1; /* the others have one */
    return bulk == (variant >= BULK_128X128);
}

int tilemm__sgemm_can_be_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    return limits->cuda->cc == 90 && args->m <= most && args->n <= most && args->k <= most;
}

int tilemm__sgemm_can_be_unaligned(const tilemm__sgemm_args_t *args)
{
    return args->lda <= MOST_LD && args->ldb <= MOST_LD;
}

/* ---- a trial ----------------------------------------------------------------------------------
 */

/* The bytes of the copies of operands that a variant needs. */
static double copies_of(const tilemm__sgemm_args_t *args, int variant)
{
    return tilemm__sgemm_reads_unaligned(variant) ? 0 : tilemm__sgemm_copies_bytes(args);
}

/* Whether the variants that read operands however they are aligned are tried: they are slower where
 * these are aligned. */
static int try_unaligned(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    return (tilemm__sgemm_copies_bytes(args) > 0 || *limits->variant) &&
           tilemm__sgemm_can_be_unaligned(args);
}

/* Keep a trial, whose variant and splits are set, if it can be done and is better. `count` is the
 * number of tiles. */
static void try(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, double count,
                tilemm__sgemm_trial_t now, tilemm__sgemm_trial_t *best)
{
    const double partial = now.splits == 1 || now.cluster ? 0
                                                          : tilemm__sgemm_elements_of_c(args) *
                                                                sizeof(float) * (double)now.splits;
    if (count * (double)now.splits <= (double)most &&
        is_chosen_of_two(args, now.variant, now.splits) &&
        ((tilemm__sgemm_is_half(now.variant) && partial == 0) /* which takes the memory it needs */
         || partial + copies_of(args, now.variant) <= (double)limits->workspace))
        tilemm__sgemm_keep_better(args, limits, now, best);
}

static double tiles_of(int variant, const tilemm__sgemm_args_t *args)
{
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(variant, args);
    return (double)(walk.rows * walk.cluster) * (double)walk.cols * (double)args->batch_count;
}

static int may_be_cluster(int variant)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[variant];
    return row->m * row->n <= LARGEST_IN_CLUSTER;
}

/* ---- invariant products ------------------------------------------------------------------------
 */

int tilemm__sgemm_has_half(int64_t k)
{
    return k >= HALF_LEAST_K && k <= HALF_MOST_K;
}

int64_t tilemm__sgemm_invariant_parts(int64_t k, int half, int64_t *k_part)
{
    const int64_t parts =
        k < INVARIANT_LEAST_K ? 1 : tilemm__max(k / INVARIANT_LONG_PART, INVARIANT_PARTS);
    return tilemm__sgemm_split(k, half ? INVARIANT_PARTS : parts, TILEMM__SGEMM_FUSED_K, k_part);
}

void tilemm__sgemm_try_invariant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                                 tilemm__sgemm_trial_t *best)
{
    int64_t k_part;
    const int half = tilemm__sgemm_has_half(args->k);
    const int64_t parts = tilemm__sgemm_invariant_parts(args->k, half, &k_part);
    if (!tilemm__sgemm_can_be_fused(args, limits))
        return;
    for (int v = INVARIANT_FIRST + tilemm__sgemm_transposes(args); v < INVARIANT_END;
         v += ROWS_OF_TILE) {
        const double count = tiles_of(v, args);
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1};
        if (!tilemm__sgemm_is_allowed(limits, v) || tilemm__sgemm_is_half(v) != half ||
            (tilemm__sgemm_reads_unaligned(v) && !try_unaligned(args, limits)))
            continue;
        /* One block, parts one after the other; a cluster; or the workspace. */
        tilemm__sgemm_split(args->k, 1, TILEMM__SGEMM_FUSED_K, &now.k_split);
        try(args, limits, count, now, best);
        now.splits = parts;
        now.k_split = k_part;
        if (parts > 1)
            try(args, limits, count, now, best);
        now.cluster = 1;
        if (parts > 1 && parts <= MOST_CLUSTER && may_be_cluster(v) &&
            tilemm__sgemm_may_divide_k(limits))
            try(args, limits, count, now, best);
    }
}

tilemm__sgemm_carry_places_t tilemm__sgemm_place_carry(const tilemm__sgemm_fused_t *rest,
                                                       size_t *workspace)
{
    const tilemm__sgemm_args_t *args = &rest->args;
    const int64_t batch = args->batch_count, tiles = (int64_t)rest->rows * rest->cols * batch;
    tilemm__sgemm_carry_places_t at;
    at.a = (size_t)tilemm__round_up((int64_t)*workspace, TILEMM__SGEMM_LINE);
    at.b = at.a + (size_t)(batch * args->m);
    at.left = (size_t)tilemm__round_up((int64_t)at.b + batch * args->n, TILEMM__SGEMM_LINE);
    *workspace = at.left + (size_t)tiles * TILEMM__SGEMM_CARRY_SLOTS;
    return at;
}

/* The sum of parts of k that the workspace holds. */
static void fill_parts(const tilemm__sgemm_args_t *args, const tilemm__sgemm_trial_t *trial,
                       tilemm__sgemm_fused_plan_t *fused, size_t *workspace)
{
    enum { THREADS = 256, MOST = 4096 /* blocks */ };
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__sgemm_args_t *exchanged = &fused->product.args;
    const int64_t count = args->batch_count * args->m * args->n;
    const int64_t lines = args->batch_count * trial->splits; /* times those of a matrix */
    fused->parts.blocks = 0;
    if (fused->product.partial_bytes == 0)
        return;
    fused->parts = (tilemm__sgemm_half_parts_t){
        .args = *args,
        .count = count,
        .parts = (int)trial->splits,
        .transposed = tilemm__sgemm_fused_walk(trial->variant, args).transposed,
        .tile_m = row->m,
        .tile_n = row->n,
        .rows = fused->product.rows,
        .cols = fused->product.cols,
        .blocks = (unsigned)tilemm__min(tilemm__div_up(count, THREADS), MOST),
    };
    fused->parts_a = *workspace;
    fused->parts_b = fused->parts_a + (size_t)(lines * exchanged->m);
    *workspace = fused->parts_b + (size_t)(lines * exchanged->n);
}

/* What FP16 planes do not carry: the same tiles from BF16 planes. A cluster has their parts of k
 * only where these are as many. */
static void fill_rest(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                      const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    tilemm__sgemm_fused_plan_t *const fused = &plan->as.fused;
    tilemm__sgemm_trial_t rest = *trial;
    int64_t k_part;
    rest.variant += INVARIANT_FIRST - HALF_FIRST;
    if (!trial->cluster || tilemm__sgemm_invariant_parts(args->k, 0, &k_part) != trial->splits) {
        rest.cluster = 0;
        rest.splits = tilemm__sgemm_split(args->k, 1, TILEMM__SGEMM_FUSED_K, &rest.k_split);
    }
    /* Of the kernel's tile, which may be transposed. */
    const int64_t tile_rows =
        tilemm__sgemm_fused_walk(trial->variant, args).transposed ? row->n : row->m;
    fused->product.carry.slots = trial->cluster      ? (int)trial->splits
                                 : trial->splits > 1 ? 1
                                                     : (int)(tile_rows / TILEMM__SGEMM_CARRY_ROWS);
    fused->rest = tilemm__sgemm_fused_of(args, limits, &rest);
    fused->rest.store = TILEMM__SGEMM_STORE_THREADS;
    fused->product.goes_on =
        rest.splits == trial->splits && fused->product.k_split == fused->rest.k_split;
    fused->carry = tilemm__sgemm_place_carry(&fused->rest, &plan->workspace);
    fused->splitk.blocks = 0;
    fill_parts(args, trial, fused, &plan->workspace);
}

/* ---- all products ------------------------------------------------------------------------------
 */

/* Keep the best of the rows of a range, if it is better. */
static void try_rows(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int first,
                     int end, tilemm__sgemm_trial_t *best)
{
    const tilemm__cuda_traits_t *traits = limits->cuda;
    const int64_t longest_k = tilemm__sgemm_is_tf32(first) ? LONGEST_K_OF_TF32 : most;
    for (int v = first + tilemm__sgemm_transposes(args); v < end; v += ROWS_OF_TILE) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(v, args);
        const double count = tiles_of(v, args);
        if (count > (double)most || !tilemm__sgemm_is_allowed(limits, v))
            continue;
        for (int i = 1; i <= MOST_CLUSTER + row->blocks; i++) {
            const int64_t wanted = tilemm__sgemm_try_splits(i, count, traits);
            tilemm__sgemm_trial_t now = {.variant = v};
            if (wanted < 1 || (i > 1 && !tilemm__sgemm_may_divide_k(limits)))
                continue;
            now.splits = tilemm__sgemm_split(args->k, wanted, row->k, &now.k_split);
            now.cluster =
                now.splits > 1 && i <= MOST_CLUSTER && may_be_cluster(v) && walk.cluster == 1;
            if (now.k_split <= longest_k)
                try(args, limits, count, now, best);
        }
    }
}

void tilemm__sgemm_try_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best)
{
    const int tf32 = limits->math == TILEMM_MATH_TF32;
    if (limits->math == TILEMM_MATH_FP32_STRICT || args->k < (tf32 ? LEAST_K_OF_TF32 : LEAST_K) ||
        !tilemm__sgemm_can_be_fused(args, limits))
        return;
    if (tilemm__sgemm_copies_bytes(args) <= MOST_COPIES)
        try_rows(args, limits, tf32 ? TF32_FIRST : FIRST, tf32 ? TF32_END : TF32_FIRST, best);
    if (try_unaligned(args, limits))
        try_rows(args, limits, tf32 ? TF32_UNALIGNED_FIRST : UNALIGNED_FIRST,
                 tf32 ? INVARIANT_FIRST : TF32_UNALIGNED_FIRST, best);
}

tilemm__sgemm_fused_t tilemm__sgemm_fused_of(const tilemm__sgemm_args_t *args,
                                             const tilemm__limits_t *limits,
                                             const tilemm__sgemm_trial_t *trial)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(trial->variant, args);
    const int64_t count = walk.rows * walk.cols * args->batch_count * trial->splits;
    const int64_t room = (int64_t)limits->cuda->sm_count * row->blocks / walk.cluster;
    const tilemm__sgemm_args_t read =
        tilemm__sgemm_reads_unaligned(trial->variant) ? *args : tilemm__sgemm_aligned(args);
    const unsigned cluster = trial->cluster ? (unsigned)trial->splits : (unsigned)walk.cluster;
    const int64_t blocks = (trial->cluster ? count : tilemm__min(count, room)) * walk.cluster;
    int64_t k_part, k_half;
    tilemm__sgemm_invariant_parts(args->k, 0, &k_part);
    tilemm__sgemm_invariant_parts(args->k, 1, &k_half);
    const tilemm__sgemm_args_t exchanged = tilemm__sgemm_exchange(&read, walk.transposed);
    return (tilemm__sgemm_fused_t){
        .args = exchanged,
        .variant = trial->variant,
        .cluster = cluster,
        .blocks = (uint64_t)blocks,
        .splits = trial->splits,
        .k_split = trial->k_split,
        .k_part = k_part,
        .k_half = k_half,
        .partial_bytes = tilemm__sgemm_partial_bytes(args, trial),
        .rows = (unsigned)walk.rows,
        .cols = (unsigned)walk.cols,
        .count = (unsigned)count,
        .store = (unsigned char)store_of(args, trial),
        .phased = (unsigned char)tilemm__sgemm_has_phases(&exchanged),
        .spread = (unsigned char)tilemm__sgemm_is_spread(blocks, (int)cluster, limits->cuda),
        .uneven_a = tilemm__is_uneven(exchanged.stride_a, exchanged.batch_count),
        .uneven_b = tilemm__is_uneven(exchanged.stride_b, exchanged.batch_count),
    };
}

void tilemm__sgemm_fill_fused(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    const int transposed = tilemm__sgemm_fused_walk(trial->variant, args).transposed;
    const tilemm__sgemm_args_t exchanged = tilemm__sgemm_exchange(args, transposed);
    plan->method = TILEMM__SGEMM_FUSED;
    plan->as.fused.product = tilemm__sgemm_fused_of(args, limits, trial);
    plan->workspace = plan->as.fused.product.partial_bytes;
    plan->as.fused.copies.pass.blocks = 0;
    plan->as.fused.rest.blocks = 0;
    if (!tilemm__sgemm_reads_unaligned(trial->variant))
        plan->as.fused.copies = tilemm__sgemm_plan_copies(&exchanged, &plan->workspace);
    tilemm__sgemm_fill_splitk(args, limits, trial, &plan->as.fused.splitk);
    if (tilemm__sgemm_is_half(trial->variant))
        fill_rest(args, limits, trial, plan);
}
