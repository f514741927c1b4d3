/* plan_half.c - plans of invariant products from FP16 planes that a pass makes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

enum {
    FIRST = TILEMM__sgemm_half_planes_sm90_128x128x64,
    END = TILEMM__sgemm_exact_lines_sm80,
    /* Of BF16 planes: tiles in the order of these. */
    REST_FIRST = TILEMM__sgemm_invariant_sm90_128x128x32_nn,
    UNALIGNED_REST_FIRST = TILEMM__sgemm_invariant_unaligned_sm90_128x128x32_nn,
    PAIR = 2 /* blocks of a cluster */
};

/* Of a matrix, with lines of zeros. */
static int64_t lines_of(int64_t mn)
{
    return tilemm__round_up(mn, TILEMM__SGEMM_HALF_ALIGN_MN);
}

/* The parts of k, k of a part's numbers, and of a part in a plane. */
static int64_t parts_of(int64_t k, int64_t *k_part, int64_t *pitch)
{
    const int64_t parts = tilemm__sgemm_invariant_parts(k, 1, k_part);
    *pitch = tilemm__round_up(*k_part, TILEMM__SGEMM_HALF_ALIGN_K);
    return parts;
}

/* The kernel that computes what planes do not carry. */
static int rest_of(const tilemm__sgemm_args_t *args, int variant)
{
    const int first = tilemm__sgemm_copies_bytes(args) > 0 ? UNALIGNED_REST_FIRST : REST_FIRST;
    return first + (variant - FIRST) * TILEMM__SGEMM_ROWS_OF_TILE + tilemm__sgemm_transposes(args);
}

void tilemm__sgemm_try_half_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                                   tilemm__sgemm_trial_t *best)
{
    int64_t k_part, pitch;
    const int64_t parts = parts_of(args->k, &k_part, &pitch);
    const double lines = (double)lines_of(args->m) + (double)lines_of(args->n);
    const double batch = (double)args->batch_count;
    const double bytes = lines * batch * (double)(parts * pitch) * sizeof(float);
    const int64_t most = TILEMM__SGEMM_MOST_COORDINATE; /* and of tiles */
    if (!tilemm__sgemm_has_half(args->k) || !tilemm__sgemm_can_be_fused(args, limits) ||
        (tilemm__sgemm_copies_bytes(args) > 0 && !tilemm__sgemm_can_be_unaligned(args)) ||
        lines * batch > (double)most ||
        bytes * 1.1 > (double)limits->workspace) /* words and classes beside the planes */
        return;
    for (int v = FIRST; v < END; v++) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        const double tiles = (double)tilemm__div_up(args->m, row->m) *
                             (double)tilemm__div_up(args->n, row->n) * batch;
        if (tiles <= (double)most && tilemm__sgemm_is_allowed(limits, v))
            tilemm__sgemm_keep_better(args, limits, now, best);
    }
}

/* An operand, and where its planes lie. */
static tilemm__sgemm_half_operand_t operand_of(const tilemm__sgemm_args_t *args, int is_b)
{
    return is_b ? (tilemm__sgemm_half_operand_t){.from = args->b,
                                                 .array = args->b_array,
                                                 .mn = args->n,
                                                 .ld = args->ldb,
                                                 .stride = args->stride_b,
                                                 .k_major = args->trans_b,
                                                 .wide = tilemm__sgemm_is_aligned_b(args),
                                                 .to = {.lines = lines_of(args->n)}}
                : (tilemm__sgemm_half_operand_t){.from = args->a,
                                                 .array = args->a_array,
                                                 .mn = args->m,
                                                 .ld = args->lda,
                                                 .stride = args->stride_a,
                                                 .k_major = !args->trans_a,
                                                 .wide = tilemm__sgemm_is_aligned_a(args),
                                                 .to = {.lines = lines_of(args->m)}};
}

/* Take `bytes` of the workspace. */
static size_t take(size_t *workspace, int64_t bytes)
{
    const size_t at = (size_t)tilemm__round_up((int64_t)*workspace, 256);
    *workspace = at + (size_t)bytes;
    return at;
}

void tilemm__sgemm_fill_half_planes(const tilemm__sgemm_args_t *args,
                                    const tilemm__limits_t *limits,
                                    const tilemm__sgemm_trial_t *trial,
                                    tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const int64_t batch = args->batch_count;
    const int64_t rows = tilemm__div_up(args->m, row->m), cols = tilemm__div_up(args->n, row->n);
    const int64_t pairs = rows * tilemm__div_up(cols, PAIR) * batch;
    tilemm__sgemm_half_plan_t *const half = &plan->as.half;
    tilemm__sgemm_trial_t rest = *trial;
    int64_t k_part, k_pitch;
    const int64_t parts = parts_of(args->k, &k_part, &k_pitch);
    plan->method = TILEMM__SGEMM_HALF_PLANES;
    half->make = (tilemm__sgemm_make_half_t){
        .a = operand_of(args, 0),
        .b = operand_of(args, 1),
        .k = args->k,
        .k_part = k_part,
        .k_pitch = k_pitch,
        .parts = parts,
        .batch_count = batch,
    };
    const int64_t lines[2] = {half->make.a.to.lines * batch, half->make.b.to.lines * batch};
    half->make.blocks_a = (unsigned)(lines[0] / TILEMM__SGEMM_HALF_LINES * parts);
    half->make.blocks =
        half->make.blocks_a + (unsigned)(lines[1] / TILEMM__SGEMM_HALF_LINES * parts);
    half->product = (tilemm__sgemm_half_product_t){
        .m = args->m,
        .n = args->n,
        .batch_count = batch,
        .k_pitch = k_pitch,
        .parts = parts,
        .variant = trial->variant,
        .exchanged = args->exchanged,
        .alpha = args->alpha,
        .beta = args->beta,
        .c = args->c,
        .c_array = args->c_array,
        .ldc = args->ldc,
        .stride_c = args->stride_c,
        .rows = (unsigned)rows,
        .cols = (unsigned)cols,
        .pairs = (unsigned)pairs,
        .blocks = (unsigned)(tilemm__min(pairs, limits->cuda->sm_count / PAIR) * PAIR),
        .carry = {.slots = TILEMM__SGEMM_HALF_ALIGN_MN / TILEMM__SGEMM_CARRY_ROWS},
    };
    rest.variant = rest_of(args, trial->variant);
    tilemm__sgemm_split(args->k, 1, TILEMM__SGEMM_FUSED_K, &rest.k_split);
    half->rest = tilemm__sgemm_fused_of(args, limits, &rest);
    half->rest.store = TILEMM__SGEMM_STORE_THREADS;
    for (int i = 0; i < 2; i++) {
        half->high[i] = take(&plan->workspace, lines[i] * parts * k_pitch * 2);
        half->low[i] = take(&plan->workspace, lines[i] * parts * k_pitch * 2);
        half->words[i] = take(&plan->workspace, lines[i] * parts * 2);
        half->most[i] = take(&plan->workspace, lines[i] / TILEMM__SGEMM_HALF_LINES * parts);
    }
    half->carry = tilemm__sgemm_place_carry(&half->rest, &plan->workspace);
}
