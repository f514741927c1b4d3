/* plan_cuda.c - see plan_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <stdio.h>
#include <string.h>

#include "candidates_cuda.h"
#include "choices_cuda.h"
#include "exchange.h"

enum {
    SM75_FIRST = TILEMM__sgemm_ffma_sm75_128x128x16_nn,
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x2_k,
    SKINNY_FIRST_M = TILEMM__sgemm_skinny_sm75_128x2_m,
    SKINNY_FIRST_LONG = TILEMM__sgemm_skinny_sm75_128x1_long,
    SMALL_BATCH_FIRST = TILEMM__sgemm_small_batch_sm75_4x4x4_nn,
    VECTOR_FIRST = TILEMM__sgemm_vector_sm75_4_k_aligned,
    SLICEK_FIRST = TILEMM__sgemm_slicek_sm80_32x64_nn,
    OUTER_FIRST = TILEMM__sgemm_outer_sm80_4,
    FITTED_FIRST = TILEMM__sgemm_fitted_sm80_4x4_nn,
    SHORT_FIRST = TILEMM__sgemm_short_sm80_128x128_nn,
    FUSED_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    WARP_FIRST = TILEMM__sgemm_warp_sm90_32x16_nn,
    PACKED_FIRST = TILEMM__sgemm_packed_sm90_4x4_nn,
    PLANES_FIRST = TILEMM__sgemm_zero_sm75,
    HALF_PLANES_FIRST = TILEMM__sgemm_half_planes_sm90_128x128x64,
    ROWS_OF_TILE = TILEMM__SGEMM_ROWS_OF_TILE,
    MOST_CLUSTER = TILEMM__SGEMM_MOST_CLUSTER
};

/* ---- C = beta C ----------------------------------------------------------------------------- */

static void fill_scale(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_SCALE;
    plan->as.scale = (tilemm__sgemm_scale_t){
        .args = *args,
        .walk = tilemm__sgemm_walk_rows(args->batch_count * args->m, args->n,
                                        TILEMM__SGEMM_MOST_BLOCKS),
        .variant = TILEMM__sgemm_scale_sm75,
    };
}

/* ---- skinny --------------------------------------------------------------------------------- */

/* Measured on an H200: the least k of a split, which pays for what adding up costs; the least k
 * that keeps the kernel reading; and up to how many columns and from how many rows on a shorter one
 * does too. */
enum { SKINNY_SPLIT_K = 256, SKINNY_LEAST_K = 256, SKINNY_ANY_K_N = 4, SKINNY_ANY_K_M = 32768 };

static int is_skinny(const tilemm__sgemm_args_t *args)
{
    const int64_t n = tilemm__min(args->m, args->n);
    if (args->k < SKINNY_LEAST_K)
        return n <= SKINNY_ANY_K_N && tilemm__max(args->m, args->n) >= SKINNY_ANY_K_M;
    return n <= TILEMM__SGEMM_SKINNY_MOST_N;
}

/* The skinny problem that `args` is: C' if it has fewer rows than columns. */
static tilemm__sgemm_skinny_t skinny_of(const tilemm__sgemm_args_t *args)
{
    const int transposed = args->m < args->n;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, transposed);
    tilemm__sgemm_skinny_t p = {
        .m = e.m,
        .n = e.n,
        .k = e.k,
        .alpha = e.alpha,
        .beta = e.beta,
        .x = e.a,
        .z = e.b,
        .c = e.c,
        .x_array = e.a_array,
        .z_array = e.b_array,
        .c_array = e.c_array,
        .x_along_k = tilemm__sgemm_a_is_along_k(&e),
        .transposed = transposed,
        .ldx = e.lda,
        .z_k = e.trans_b ? 1 : e.ldb,
        .z_n = e.trans_b ? e.ldb : 1,
        .c_m = transposed ? 1 : e.ldc,
        .c_n = transposed ? e.ldc : 1,
        .stride_x = e.stride_a,
        .stride_z = e.stride_b,
        .stride_c = e.stride_c,
        .batch_count = e.batch_count,
        .aligned_x = tilemm__sgemm_is_aligned_a(&e),
    };
    /* One column has no stride from column to column: let it not spoil aligned_z. */
    if (p.n == 1 && p.z_k == 1)
        p.z_n = 0;
    p.aligned_z =
        tilemm__is_aligned(p.z, p.z_array, p.z_k == 1 ? p.z_n : p.z_k, p.stride_z, p.batch_count);
    return p;
}

/* The rows of X that a block had better have, as measured on an H200: few where X has few; many
 * where k is so short that starting and ending a block shows. */
static int skinny_rows(const tilemm__sgemm_skinny_t *p)
{
    enum { FEWEST = 128, FEW = 1024, MANY = 32768, MOST = 131072, SHORT_K = 512 };
    if (p->n == 1 && !p->x_along_k && p->m <= FEW)
        return p->m <= FEWEST && !p->aligned_x ? 64 : 128;
    if (p->m <= FEW)
        return 16;
    if (p->n > SKINNY_ANY_K_N)
        return 128;
    if (p->x_along_k)
        return p->k <= SHORT_K ? 256 : 128;
    return p->m >= MOST && p->k <= SHORT_K ? 1024 : p->m >= MANY ? 256 : 128;
}

/* The variant for a problem with `rows` rows of X to a block; -1 if there is none. */
static int skinny_variant(const tilemm__sgemm_skinny_t *p, int rows)
{
    const int end = p->x_along_k ? SKINNY_FIRST_M : SKINNY_FIRST_LONG;
    for (int v = p->x_along_k ? SKINNY_FIRST : SKINNY_FIRST_M; v < end; v++) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        if (row->m == rows && row->n >= p->n && row->facet == p->aligned_x)
            return v;
    }
    return -1;
}

/* The blocks of a cluster that take the splits, and add them up themselves; 0 if the splits are too
 * many for that. Clusters of more than 4 run at once only where there are few. */
static int64_t skinny_cluster(int64_t tiles, int64_t splits, const tilemm__cuda_traits_t *traits)
{
    int64_t cluster = tilemm__min(splits, MOST_CLUSTER);
    if (cluster > 4 && tiles * cluster * 4 > 5 * (int64_t)traits->sm_count)
        cluster = 4;
    return splits <= 2 * cluster ? cluster : 0;
}

/* The splits of a skinny problem whose variant is set, and room for their sums in the workspace:
 * returns the bytes of the counters, after those of the sums. */
static size_t split_skinny(const tilemm__cuda_traits_t *traits, int64_t most_splits,
                           size_t workspace, tilemm__sgemm_skinny_t *p)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[p->variant];
    const int64_t tiles = tilemm__div_up(p->m, row->m) * p->batch_count;
    const size_t counter_bytes = (size_t)tilemm__round_up(tiles * (int64_t)sizeof(unsigned), 1024);
    /* A part of k of kernels _long begins at a line of the cache. */
    const int unit = p->variant >= SKINNY_FIRST_LONG ? TILEMM__SGEMM_LINE / (int)sizeof(float) : 4;
    int64_t splits = tilemm__min(row->blocks * traits->sm_count / tiles,
                                 tilemm__min(p->k / SKINNY_SPLIT_K, most_splits));
    const int64_t cluster = traits->cc >= 90 ? skinny_cluster(tiles, splits, traits) : 0;
    size_t bytes = 0;
    p->cluster = 1;
    p->partial_bytes = 0;
    if (cluster > 1) {
        p->splits = tilemm__sgemm_split(p->k, cluster, unit, &p->k_split);
        p->cluster = (unsigned)p->splits;
    } else {
        for (; splits > 1; splits /= 2) { /* until there is room */
            p->splits = tilemm__sgemm_split(p->k, splits, unit, &p->k_split);
            p->partial_bytes = (size_t)tilemm__round_up(
                tiles * row->m * row->n * p->splits * (int64_t)sizeof(float), 1024);
            bytes = counter_bytes;
            if (p->partial_bytes + bytes <= workspace)
                break;
        }
        if (splits <= 1) {
            p->splits = 1;
            p->k_split = p->k;
            p->partial_bytes = bytes = 0;
        }
    }
    p->concurrent = traits->cc >= 90;
    p->tiles = tilemm__div_up(p->m, row->m);
    p->blocks = (uint64_t)(tiles * p->splits);
    return bytes;
}

/* The trial of a skinny problem whose variant and splits are set. */
static tilemm__sgemm_trial_t skinny_trial(const tilemm__sgemm_skinny_t *p)
{
    return (tilemm__sgemm_trial_t){.variant = p->variant,
                                   .splits = p->splits,
                                   .k_split = p->k_split,
                                   .cluster = p->cluster > 1};
}

/* Try a variant for the problem that `args` is, if it is one and allowed. */
static int try_skinny_variant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_skinny_t p, int variant, tilemm__sgemm_trial_t *best)
{
    p.variant = variant;
    if (variant < 0 || !tilemm__sgemm_is_allowed(limits, variant))
        return 0;
    split_skinny(limits->cuda, INT64_MAX, limits->workspace, &p);
    tilemm__sgemm_keep_better(args, limits, skinny_trial(&p), best);
    return 1;
}

static void try_skinny(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       tilemm__sgemm_trial_t *best)
{
    const int others[] = {128, 16, 64, 256, 1024}; /* if limits->variant forbids the first */
    const tilemm__sgemm_skinny_t p = skinny_of(args);
    if (p.n == 1 && p.x_along_k &&
        (p.m <= tilemm__sgemm_rows[SKINNY_FIRST_LONG].m || *limits->variant))
        try_skinny_variant(args, limits, p, SKINNY_FIRST_LONG + p.aligned_x, best);
    /* The kernels of plan_vector.c read one column's other matrices faster, but those along m that
     * are not aligned. */
    if (p.n == 1 && (p.x_along_k || p.aligned_x) && !*limits->variant &&
        tilemm__max(p.m, p.k) <= TILEMM__SGEMM_VECTOR_MOST)
        return;
    int tried = try_skinny_variant(args, limits, p, skinny_variant(&p, skinny_rows(&p)), best);
    for (int i = 0; i < 5 && !tried; i++)
        tried = try_skinny_variant(args, limits, p, skinny_variant(&p, others[i]), best);
}

static void fill_skinny(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                        const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__sgemm_skinny_t *const product = &plan->as.skinny.product;
    plan->method = TILEMM__SGEMM_SKINNY;
    *product = skinny_of(args);
    product->variant = trial->variant;
    const size_t bytes = split_skinny(limits->cuda, INT64_MAX, limits->workspace, product);
    plan->workspace = product->partial_bytes + bytes;
    plan->as.skinny.zero = tilemm__sgemm_zero_of(bytes);
}

/* ---- tiles and a skinny fringe --------------------------------------------------------------- */

/* Up to four columns or rows that whole tiles leave over are faster with the skinny kernel: it is
 * concurrent with the tiles, which hide about half of it, and needs few blocks. Neither uses
 * workspace. The fringe's sums have an order of their own. If this takes fewer cycles than the best
 * so far, it becomes the best, the plan is filled, and 1 is returned. */
static int try_fringe(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                      tilemm__sgemm_trial_t *best, tilemm__sgemm_cuda_plan_t *plan)
{
    enum { WHOLE = 128, FRINGE_SPLITS = 2 };
    tilemm__limits_t none = *limits;
    int found = 0;
    none.workspace = 0;
    if (limits->cuda->cc < 90 || args->a_array || args->b_array || args->c_array ||
        !tilemm__sgemm_may_divide_k(limits))
        return 0;
    for (int rows = 0; rows < 2; rows++) {
        const int64_t over = (rows ? args->m : args->n) % WHOLE;
        tilemm__sgemm_args_t whole = *args, fringe = *args;
        tilemm__sgemm_trial_t tiles = {.variant = -1};
        if (over == 0 || over > SKINNY_ANY_K_N || over == (rows ? args->m : args->n))
            continue;
        if (rows) {
            whole.m -= over;
            fringe.m = over;
            fringe.a += whole.m * (args->trans_a ? 1 : args->lda);
            fringe.c += whole.m * args->ldc;
        } else {
            whole.n -= over;
            fringe.n = over;
            fringe.b += whole.n * (args->trans_b ? args->ldb : 1);
            fringe.c += whole.n;
        }
        if (args->k < SKINNY_LEAST_K || !is_skinny(&fringe))
            continue;
        tilemm__sgemm_skinny_t skinny = skinny_of(&fringe);
        skinny.variant = skinny_variant(&skinny, skinny_rows(&skinny));
        skinny.fringe = 1;
        tilemm__sgemm_try_ffma(&whole, &none, &tiles);
        if (skinny.variant < 0 || tiles.variant < 0)
            continue;
        split_skinny(limits->cuda, FRINGE_SPLITS, 0, &skinny);
        const tilemm__sgemm_trial_t trial = skinny_trial(&skinny);
        const double alone = tilemm__sgemm_cuda_estimate(&trial, &fringe, limits->cuda);
        tiles.cycles += tiles.cycles > alone ? alone / 2 : alone - tiles.cycles / 2;
        if (tiles.cycles < best->cycles) {
            *best = tiles;
            found = 1;
            tilemm__sgemm_fill_ffma(&whole, limits, &tiles, plan);
            plan->as.ffma.tiles.lets_start = 1;
            plan->as.ffma.fringe = skinny;
        }
    }
    return found;
}

/* ---- small batch ----------------------------------------------------------------------------- */

/* The fewest matrices of a batch for which it pays to have several to a block; and between which
 * sizes tiles that fit are faster than those of 32 x 32. */
enum { SMALL_LEAST_BATCH = 8, SMALL_MOST_OF_16 = 16, SMALL_LEAST_OF_32 = 24 };

/* The row for a small batch; -1 if the problem is none, or no row is allowed. */
static int small_batch_variant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    const int64_t size = tilemm__max(tilemm__max(args->m, args->n), args->k);
    /* A vector of the longest k has a kernel of its own. */
    if (args->batch_count < SMALL_LEAST_BATCH ||
        (tilemm__min(args->m, args->n) == 1 && args->k == TILEMM__SGEMM_SMALL_BATCH_MOST &&
         !*limits->variant))
        return -1;
    /* Of the largest kernel's threads too many would be idle, or copy too few bytes at a time. */
    const int aligned = tilemm__sgemm_is_aligned_a(args) && tilemm__sgemm_is_aligned_b(args);
    if (size > SMALL_MOST_OF_16 && (size <= SMALL_LEAST_OF_32 || !aligned) &&
        limits->cuda->cc >= 90 && args->batch_count >= 2 * limits->cuda->sm_count &&
        !*limits->variant)
        return -1;
    for (int v = SMALL_BATCH_FIRST + tilemm__sgemm_transposes(args); v < VECTOR_FIRST;
         v += ROWS_OF_TILE)
        if (size <= tilemm__sgemm_rows[v].m && tilemm__sgemm_is_allowed(limits, v))
            return v;
    return -1;
}

static tilemm__sgemm_small_batch_t small_batch_of(const tilemm__sgemm_args_t *args,
                                                  const tilemm__limits_t *limits, int variant)
{
    return (tilemm__sgemm_small_batch_t){
        .args = *args,
        .aligned_a = tilemm__sgemm_is_aligned_a(args),
        .aligned_b = tilemm__sgemm_is_aligned_b(args),
        .aligned_c = tilemm__sgemm_is_aligned_c(args),
        .variant = variant,
        .concurrent = limits->cuda->cc >= 90,
    };
}

static void try_small_batch(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *best)
{
    const int variant = small_batch_variant(args, limits);
    if (variant < 0)
        return;
    const tilemm__sgemm_small_batch_t p = small_batch_of(args, limits, variant);
    *best = (tilemm__sgemm_trial_t){
        .variant = variant,
        .splits = 1,
        .k_split = args->k,
        .cycles = tilemm__sgemm_small_batch_estimate(&p, limits->cuda),
    };
}

static void fill_small_batch(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_SMALL_BATCH;
    plan->as.small_batch = small_batch_of(args, limits, trial->variant);
}

/* ---- the choice ------------------------------------------------------------------------- */

/* Elements of C, and of A and B with their padding, that no device holds. Up to these the other
 * methods' sizes in bytes fit 64 bits. The workspace query passes on whatever sizes it is given. */
static const double most_of_c = 1e15, most_of_a_and_b = 1e17;

static int is_beyond_memory(const tilemm__sgemm_args_t *args)
{
    const double sides = (double)args->m + (double)args->n, padding = 256;
    return tilemm__sgemm_elements_of_c(args) > most_of_c ||
           (sides + padding) * (double)args->k * (double)args->batch_count > most_of_a_and_b;
}

/* ---- invariant products ------------------------------------------------------------------------
 */

/* Beyond, the copy engine's coordinates end. */
enum { MOST_K_OF_PLANES = TILEMM__SGEMM_MOST_COORDINATE };

/* Whether an invariant product is one chain of multiply-adds: in strict mode before k is cut into
 * parts; else while tensor cores are no faster, which take 32 of k at a time, on small matrices. */
static int is_one_chain(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    enum { SHORT_K = 64, SHORT_STRICT_K = 256 };
    const int strict = limits->math == TILEMM_MATH_FP32_STRICT;
    return limits->cuda->cc == 90 && args->k < (strict ? SHORT_STRICT_K : SHORT_K);
}

/* k, the device and the mode decide which families have an invariant product, all of whose kernels
 * add in one order. */
static void try_invariant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                          tilemm__sgemm_trial_t *best)
{
    if (is_one_chain(args, limits)) {
        tilemm__sgemm_try_ffma(args, limits, best);
        tilemm__sgemm_try_fitted(args, limits, best);
        tilemm__sgemm_try_short(args, limits, best);
        tilemm__sgemm_try_packed(args, limits, best);
        tilemm__sgemm_try_outer(args, limits, best);
    } else if (limits->cuda->cc != 90 || limits->math == TILEMM_MATH_FP32_STRICT ||
               args->k > MOST_K_OF_PLANES) {
        tilemm__sgemm_try_ffma(args, limits, best);
    } else {
        tilemm__sgemm_try_invariant(args, limits, best);
        tilemm__sgemm_try_half_planes(args, limits, best);
        tilemm__sgemm_try_warp(args, limits, best);
    }
}

/* Fill in the arm of a choice. */
static void fill(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                 const tilemm__sgemm_trial_t *choice, tilemm__sgemm_cuda_plan_t *plan)
{
    if (choice->variant >= HALF_PLANES_FIRST)
        tilemm__sgemm_fill_half_planes(args, limits, choice, plan);
    else if (choice->variant >= PLANES_FIRST)
        tilemm__sgemm_fill_planes(args, limits, choice, plan);
    else if (choice->variant >= PACKED_FIRST)
        tilemm__sgemm_fill_packed(args, limits, choice, plan);
    else if (choice->variant >= WARP_FIRST)
        tilemm__sgemm_fill_warp(args, limits, choice, plan);
    else if (choice->variant >= FUSED_FIRST)
        tilemm__sgemm_fill_fused(args, limits, choice, plan);
    else if (choice->variant >= SHORT_FIRST)
        tilemm__sgemm_fill_short(args, limits, choice, plan);
    else if (choice->variant >= FITTED_FIRST)
        tilemm__sgemm_fill_fitted(args, limits, choice, plan);
    else if (choice->variant >= OUTER_FIRST)
        tilemm__sgemm_fill_outer(args, limits, choice, plan);
    else if (choice->variant >= SLICEK_FIRST)
        tilemm__sgemm_fill_slicek(args, limits, choice, plan);
    else if (choice->variant >= VECTOR_FIRST)
        tilemm__sgemm_fill_vector(args, limits, choice, plan);
    else if (choice->variant >= SMALL_BATCH_FIRST)
        fill_small_batch(args, limits, choice, plan);
    else if (choice->variant >= SKINNY_FIRST)
        fill_skinny(args, limits, choice, plan);
    else
        tilemm__sgemm_fill_ffma(args, limits, choice, plan);
    plan->variant = choice->variant;
}

static int choose(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                  tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__sgemm_trial_t best = {.variant = -1};
    if (limits->invariance != TILEMM_INVARIANCE_NONE) {
        try_invariant(args, limits, &best);
        if (best.variant >= 0)
            fill(args, limits, &best, plan);
        return best.variant >= 0 ? TILEMM_SUCCESS : TILEMM_NOT_SUPPORTED;
    }
    const tilemm__sgemm_trial_t *const before = tilemm__sgemm_chosen(args, limits);
    if (before) {
        fill(args, limits, before, plan);
        return TILEMM_SUCCESS;
    }
    try_small_batch(args, limits, &best);
    if (is_skinny(args))
        try_skinny(args, limits, &best);
    tilemm__sgemm_try_ffma(args, limits, &best);
    const double plain = best.cycles;
    const int has_fringe = best.variant >= 0 && try_fringe(args, limits, &best, plan);
    tilemm__sgemm_try_vector(args, limits, &best);
    tilemm__sgemm_try_fitted(args, limits, &best);
    tilemm__sgemm_try_short(args, limits, &best);
    tilemm__sgemm_try_fused(args, limits, &best);
    tilemm__sgemm_try_slicek(args, limits, &best);
    tilemm__sgemm_try_packed(args, limits, &best);
    tilemm__sgemm_try_outer(args, limits, &best);
    if (limits->math == TILEMM_MATH_FP32 && limits->cuda->cc == 90 && !is_one_chain(args, limits) &&
        args->k <= MOST_K_OF_PLANES)
        tilemm__sgemm_try_warp(args, limits, &best);
    if ((best.variant < SKINNY_FIRST || best.variant >= SHORT_FIRST) &&
        !(is_skinny(args) && !*limits->variant))
        tilemm__sgemm_try_planes(args, limits, plain, &best);
    if (best.variant < 0)
        return TILEMM_NOT_SUPPORTED;
    if (has_fringe && best.variant < SKINNY_FIRST) { /* whose plan is filled in */
        plan->variant = best.variant;
        return TILEMM_SUCCESS;
    }
    tilemm__sgemm_remember(args, limits, &best);
    fill(args, limits, &best, plan);
    return TILEMM_SUCCESS;
}

/* ---- the name -------------------------------------------------------------------------------- */

static void add_text(tilemm__sgemm_cuda_plan_t *plan, const char *what)
{
    strncat(plan->name, what, sizeof plan->name - strlen(plan->name) - 1);
}

static void add_name(tilemm__sgemm_cuda_plan_t *plan, const char *what, int64_t number)
{
    const size_t length = strlen(plan->name);
    snprintf(plan->name + length, sizeof plan->name - length, "%s%lld", what, (long long)number);
}

static void add_splits(tilemm__sgemm_cuda_plan_t *plan, int64_t splits, unsigned cluster)
{
    if (splits > 1 && cluster > 1)
        add_name(plan, "+cluster", splits);
    else if (splits > 1)
        add_name(plan, "+splitk", splits);
}

static void set_name(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_ffma_plan_t *ffma = &plan->as.ffma;
    const tilemm__sgemm_skinny_t *skinny = &plan->as.skinny.product;
    const tilemm__sgemm_vector_t *vector = &plan->as.vector.product;
    const tilemm__sgemm_fused_t *fused = &plan->as.fused.product;
    const tilemm__sgemm_planes_cuda_plan_t *planes = &plan->as.planes;
    snprintf(plan->name, sizeof plan->name, "%s",
             plan->variant < 0 ? "" : tilemm__sgemm_rows[plan->variant].name);
    if (plan->method == TILEMM__SGEMM_FFMA)
        add_splits(plan, ffma->tiles.splits, ffma->tiles.cluster);
    if (plan->method == TILEMM__SGEMM_FFMA && ffma->fringe.blocks > 0)
        add_name(plan, "+skinny", ffma->fringe.n);
    if (plan->method == TILEMM__SGEMM_SKINNY)
        add_splits(plan, skinny->splits, skinny->cluster);
    if (plan->method == TILEMM__SGEMM_VECTOR)
        add_splits(plan, vector->splits, vector->cluster);
    if (plan->method == TILEMM__SGEMM_SLICEK)
        add_splits(plan, plan->as.slicek.splits, (unsigned)plan->as.slicek.splits);
    if (plan->method == TILEMM__SGEMM_FITTED) {
        add_name(plan, "+", plan->as.fitted.lanes_m * tilemm__sgemm_rows[plan->variant].m);
        add_name(plan, "x", plan->as.fitted.lanes_n * tilemm__sgemm_rows[plan->variant].n);
    }
    if (plan->method == TILEMM__SGEMM_FUSED && plan->as.fused.copies.pass.blocks > 0)
        add_text(plan, "+aligned");
    if (plan->method == TILEMM__SGEMM_FUSED)
        add_splits(plan, fused->splits, fused->partial_bytes ? 1 : fused->cluster);
    if (plan->method == TILEMM__SGEMM_WARP && plan->workspace > 0)
        add_name(plan, "+splitk", plan->as.warp.product.splits);
    if (plan->method == TILEMM__SGEMM_PLANES && planes->k_part < args->k)
        add_name(plan, "+k", planes->k_part);
    if (plan->method == TILEMM__SGEMM_PLANES && planes->part[0][0].product.shared > 0)
        add_text(plan, "+streamk");
}

int tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__limits_t any = *limits;
    any.variant = "";
    plan->method = TILEMM__SGEMM_NOTHING;
    plan->variant = -1;
    plan->workspace = 0;
    plan->keeps = 0;
    if (args->k > TILEMM__SGEMM_MOST_K)
        return TILEMM_NOT_SUPPORTED;
    if (args->k == 0 && args->beta != 1.0f) {
        fill_scale(args, plan);
        plan->variant = TILEMM__sgemm_scale_sm75;
    } else if (args->k > 0 && is_beyond_memory(args)) { /* any tile will do */
        tilemm__sgemm_trial_t trial = {.variant = SM75_FIRST + tilemm__sgemm_transposes(args)};
        trial.splits =
            tilemm__sgemm_split(args->k, 1, tilemm__sgemm_rows[trial.variant].k, &trial.k_split);
        tilemm__sgemm_fill_ffma(args, limits, &trial, plan);
    } else if (args->k > 0 && choose(args, limits, plan) != TILEMM_SUCCESS &&
               choose(args, &any, plan) != TILEMM_SUCCESS) {
        return TILEMM_NOT_SUPPORTED;
    }
    set_name(args, plan);
    return TILEMM_SUCCESS;
}
