/* plan_vector.c - plans of SGEMM of a matrix and up to four vectors without shared memory: how many
 * threads share a row of the matrix.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

enum {
    FIRST = TILEMM__sgemm_vector_sm75_8_k,
    FIRST_M = TILEMM__sgemm_vector_sm75_8_m,
    END = TILEMM__sgemm_slicek_sm80_32x64_nn,
    STEP = 4,        /* of k, that is divided */
    MOST_COLUMNS = 4 /* of a variant */
};

static const int64_t most = 1 << 30;

/* The plan of a variant. Its blocks are 0 if it cannot do the problem, or k is too short for the
 * splits. */
static tilemm__sgemm_vector_t plan_of(const tilemm__sgemm_args_t *args, int variant, int splits,
                                      const tilemm__cuda_traits_t *traits)
{
    const int exchange = args->m < args->n;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
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
        .ldx = e.lda,
        .z_k = e.trans_b ? 1 : e.ldb,
        .z_n = e.trans_b ? e.ldb : 1,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .stride_x = e.stride_a,
        .stride_z = e.stride_b,
        .stride_c = e.stride_c,
        .variant = variant,
        .concurrent = traits->cc >= 90,
    };
    const int z_is_wide = p.z_k == 1 && tilemm__is_aligned(p.z, p.z_array, p.n > 1 ? p.z_n : 0,
                                                           p.stride_z, args->batch_count);
    const int64_t per_matrix = tilemm__div_up(p.m, row->m);
    const int along_m = variant >= FIRST_M;
    if (p.n > row->n || (row->n > 1 && p.n <= row->n / 2) ||
        tilemm__sgemm_split(p.k, splits, STEP, &p.k_split) != splits || along_m != e.trans_a ||
        (row->facet && !(tilemm__sgemm_is_aligned_a(&e) && (along_m || z_is_wide))) ||
        (double)per_matrix * (double)args->batch_count * splits > (double)most)
        return p;
    p.splits = (unsigned)splits;
    p.by_splits = tilemm__division_by(p.splits);
    p.per_matrix = (unsigned)per_matrix;
    p.by_per_matrix = tilemm__division_by(p.per_matrix);
    p.blocks = (unsigned)(per_matrix * args->batch_count * splits);
    return p;
}

/* The best of clusters of 1, 2, 4 and 8. Its blocks are 0 if there is none. */
static tilemm__sgemm_vector_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                      const tilemm__limits_t *limits, double *cycles)
{
    enum { MOST_CLUSTER = TILEMM__SGEMM_MOST_CLUSTER };
    const int divides =
        variant >= FIRST_M && limits->cuda->cc >= 90 && tilemm__sgemm_may_divide_k(limits);
    tilemm__sgemm_vector_t best = {.blocks = 0};
    for (int splits = 1; splits <= (divides ? MOST_CLUSTER : 1); splits *= 2) {
        const tilemm__sgemm_vector_t p = plan_of(args, variant, splits, limits->cuda);
        if (p.blocks == 0)
            break;
        const double now = tilemm__sgemm_vector_estimate(&p, limits->cuda);
        if (best.blocks > 0 && now >= *cycles)
            continue; /* a cluster of two may not pay where one of eight does */
        *cycles = now;
        best = p;
    }
    return best;
}

void tilemm__sgemm_try_vector(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best)
{
    /* With a shorter k most of the threads of a row would be idle; of a larger matrix whose rows
     * run along k the skinny kernels read faster, measured on an H100. With several columns they do
     * so sooner, on an H200, and with more than two where rows run along m as well. */
    enum {
        LEAST_K_ALONG_M = 8,
        LEAST_K = 32,
        MOST_NUMBERS = 1 << 26,
        MOST_OF_TWO = 3 << 22,
        LONGEST_OF_TWO = 4096,
        MOST_OF_FOUR = 1 << 22,
        LONGEST_OF_FOUR = 1024,
        MOST_ALONG_M = 3 << 23
    };
    const int64_t columns = tilemm__min(args->m, args->n), k = args->k;
    const int along_m = tilemm__sgemm_exchange(args, args->m < args->n).trans_a;
    const double numbers = (double)tilemm__max(args->m, args->n) * (double)k;
    const int pays = along_m ? k >= LEAST_K_ALONG_M && (columns <= 2 || numbers <= MOST_ALONG_M)
                     : columns == 1 ? k >= LEAST_K && numbers <= MOST_NUMBERS
                     : columns == 2
                         ? k >= LEAST_K && k <= LONGEST_OF_TWO && numbers <= MOST_OF_TWO
                         : k >= LEAST_K && k <= LONGEST_OF_FOUR && numbers <= MOST_OF_FOUR;
    if (columns > MOST_COLUMNS || tilemm__max(tilemm__max(args->m, args->n), args->k) > most ||
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
    plan->method = TILEMM__SGEMM_VECTOR;
    plan->as.vector = best_of(args, trial->variant, limits, &cycles);
}
