/* plan_vector.c - plans of SGEMM of a matrix and a few vectors without shared memory: how many
 * threads share a row of the matrix, and how many blocks a long k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

enum {
    FIRST = TILEMM__sgemm_vector_sm75_4_k_aligned,
    FIRST_M = TILEMM__sgemm_vector_sm75_8_m,
    END = TILEMM__sgemm_slicek_sm80_32x64_nn,
    STEP = 4,         /* of k, that is divided */
    MOST_COLUMNS = 4, /* of C, or rows if these are fewer */
    MOST_FEW = 32,    /* rows */
    MOST_APART = 4    /* numbers of a row that a warp still reads well */
};

/* Whether a variant computes C': if C has fewer rows than columns; but a block that has one row and
 * several columns takes a vector for its row, and few rows of a matrix for its columns, so that it
 * reads its part of the vector once. */
static int is_exchanged(const tilemm__sgemm_args_t *args, int variant)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int is_vector = variant < FIRST_M && row->m == 1 && row->n > 1;
    return (args->m < args->n) != (is_vector && tilemm__min(args->m, args->n) == 1);
}

/* The product of X and Z: C' if `exchange`. A row of numbers that lie side by side runs along k
 * however it is called, and has no distance to the next one. */
static tilemm__sgemm_args_t x_of(const tilemm__sgemm_args_t *args, int exchange)
{
    tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    if (e.m == 1 && tilemm__sgemm_a_is_along_k(&e)) {
        e.trans_a = 0;
        e.lda = tilemm__round_up(e.k, 4);
    }
    return e;
}

/* The plan of a variant. Its blocks are 0 if it cannot do the problem, or k is too short for the
 * splits, of which more than a cluster has go to the workspace. */
static tilemm__sgemm_vector_t plan_of(const tilemm__sgemm_args_t *args, int variant, int splits,
                                      const tilemm__limits_t *limits)
{
    const int exchange = is_exchanged(args, variant), along_m = variant >= FIRST_M;
    const tilemm__sgemm_args_t e = x_of(args, exchange);
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int is_strided = !along_m && e.trans_a;
    tilemm__sgemm_vector_t p = {
        .m = e.m,
        .n = (int)e.n,
        .k = e.k,
        .alpha = e.alpha,
        .beta = e.beta,
        .x = e.a,
        .z = e.b,
        .c = e.c,
        .x_array = e.a_array,
        .z_array = e.b_array,
        .c_array = e.c_array,
        .ldx = is_strided ? 1 : e.lda,
        .x_k = is_strided ? (int)tilemm__min(e.lda, MOST_APART + 1) : 1,
        .z_k = e.trans_b ? 1 : e.ldb,
        .z_n = e.trans_b ? e.ldb : 1,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .stride_x = e.stride_a,
        .stride_z = e.stride_b,
        .stride_c = e.stride_c,
        .variant = variant,
        .cluster = 1,
        .concurrent = limits->cuda->cc >= 90,
    };
    const int z_is_wide = p.z_k == 1 && tilemm__is_aligned(p.z, p.z_array, p.n > 1 ? p.z_n : 0,
                                                           p.stride_z, args->batch_count);
    const int64_t per_matrix = tilemm__div_up(p.m, row->m);
    /* Of few rows, not four or eight ..., a thread would read some one by one. And a kernel that is
     * asked for by its name reads what it would read in parts. */
    const int is_few = along_m && e.m < MOST_FEW && e.m % 4 != 0;
    const int reads_alone = is_few || *limits->variant;
    const int aligned = tilemm__sgemm_is_aligned_a(&e) && (along_m || (z_is_wide && !is_strided));
    if (p.n > row->n || (row->n > 1 && p.n <= row->n / 2) ||
        tilemm__sgemm_split(p.k, splits, STEP, &p.k_split) != splits || (along_m && !e.trans_a) ||
        (is_strided && (e.lda > MOST_APART || row->m > 1)) || row->facet > aligned ||
        (row->facet < aligned && !reads_alone) ||
        (double)per_matrix * (double)args->batch_count * splits > TILEMM__SGEMM_VECTOR_MOST)
        return p;
    if (splits > TILEMM__SGEMM_MOST_CLUSTER) { /* partial products, dense, and added up later */
        p.c_array = NULL;
        p.alpha = 1;
        p.beta = 0;
        p.c_m = exchange ? 1 : args->n;
        p.c_n = exchange ? args->n : 1;
        p.stride_c = args->m * args->n;
        p.c_split = args->batch_count * p.stride_c;
    } else {
        p.cluster = (unsigned)splits;
    }
    p.splits = (unsigned)splits;
    p.by_splits = tilemm__division_by(p.splits);
    p.per_matrix = (unsigned)per_matrix;
    p.by_per_matrix = tilemm__division_by(p.per_matrix);
    p.blocks = (unsigned)(per_matrix * args->batch_count * splits);
    return p;
}

/* The parts of k that a plan divides. */
static tilemm__sgemm_trial_t parts_of(const tilemm__sgemm_vector_t *p)
{
    return (tilemm__sgemm_trial_t){.variant = p->variant,
                                   .splits = p->splits,
                                   .k_split = p->k_split,
                                   .cluster = p->cluster > 1};
}

/* The splits of an undivided plan that fill the device, of at least one step of what a block reads
 * at a time. */
static int filling_splits(const tilemm__sgemm_vector_t *p, const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int64_t room =
        (int64_t)tilemm__sgemm_resident_blocks(row, traits) * traits->sm_count / p->blocks;
    int64_t k_split;
    return (int)tilemm__sgemm_split(
        p->k, tilemm__max(tilemm__min(room, tilemm__div_up(p->k, row->k)), 1), STEP, &k_split);
}

/* Keep the plan of a variant with `splits` if it takes fewer cycles than the best so far, and the
 * workspace has room for it. */
static void keep_better(const tilemm__sgemm_args_t *args, int variant, int splits,
                        const tilemm__limits_t *limits, tilemm__sgemm_vector_t *best,
                        double *cycles)
{
    const tilemm__sgemm_vector_t p = plan_of(args, variant, splits, limits);
    const tilemm__sgemm_trial_t parts = parts_of(&p);
    if (p.blocks == 0 || tilemm__sgemm_partial_bytes(args, &parts) > limits->workspace)
        return;
    const double now = tilemm__sgemm_vector_estimate(&p, limits->cuda);
    if (best->blocks > 0 && now >= *cycles)
        return;
    *cycles = now;
    *best = p;
}

/* The best of one block, of clusters of 2, 4 and 8, and of as many splits as fill the device. Its
 * blocks are 0 if there is none. */
static tilemm__sgemm_vector_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                      const tilemm__limits_t *limits, double *cycles)
{
    enum { MOST_CLUSTER = TILEMM__SGEMM_MOST_CLUSTER };
    const int divides = (variant >= FIRST_M || tilemm__sgemm_rows[variant].m == 1) &&
                        tilemm__sgemm_may_divide_k(limits);
    tilemm__sgemm_vector_t best = {.blocks = 0};
    keep_better(args, variant, 1, limits, &best, cycles);
    if (best.blocks == 0 || !divides)
        return best;
    const int filling = filling_splits(&best, limits->cuda);
    /* A cluster of two may not pay where one of eight does. */
    for (int splits = 2; limits->cuda->cc >= 90 && splits <= MOST_CLUSTER; splits *= 2)
        keep_better(args, variant, splits, limits, &best, cycles);
    if (filling > MOST_CLUSTER)
        keep_better(args, variant, filling, limits, &best, cycles);
    return best;
}

void tilemm__sgemm_try_vector(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best)
{
    /* With a shorter k most of the threads of a row would be idle. With several columns the skinny
     * kernels read a larger matrix whose rows run along k faster, and with more than two where rows
     * run along m as well: measured on an H200. */
    enum {
        LEAST_K_ALONG_M = 8,
        LEAST_K = 32,
        MOST_OF_TWO = 3 << 22,
        LONGEST_OF_TWO = 4096,
        MOST_OF_FOUR = 1 << 22,
        LONGEST_OF_FOUR = 1024,
        MOST_ALONG_M = 3 << 23
    };
    const int64_t columns = tilemm__min(args->m, args->n), k = args->k;
    const int along_m = x_of(args, args->m < args->n).trans_a;
    const double numbers = (double)tilemm__max(args->m, args->n) * (double)k;
    const int pays = along_m ? k >= LEAST_K_ALONG_M && (columns <= 2 || numbers <= MOST_ALONG_M)
                     : columns == 1 ? k >= LEAST_K
                     : columns == 2
                         ? k >= LEAST_K && k <= LONGEST_OF_TWO && numbers <= MOST_OF_TWO
                         : k >= LEAST_K && k <= LONGEST_OF_FOUR && numbers <= MOST_OF_FOUR;
    if (columns > MOST_COLUMNS ||
        tilemm__max(tilemm__max(args->m, args->n), args->k) > TILEMM__SGEMM_VECTOR_MOST ||
        !(pays || *limits->variant))
        return;
    for (int v = FIRST; v < END; v++) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (tilemm__sgemm_is_allowed(limits, v) && best_of(args, v, limits, &now.cycles).blocks)
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_vector(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles;
    tilemm__sgemm_vector_plan_t *const vector = &plan->as.vector;
    plan->method = TILEMM__SGEMM_VECTOR;
    vector->product = best_of(args, trial->variant, limits, &cycles);
    const tilemm__sgemm_trial_t parts = parts_of(&vector->product);
    plan->workspace = tilemm__sgemm_partial_bytes(args, &parts);
    tilemm__sgemm_fill_splitk(args, limits, &parts, &vector->splitk);
}
