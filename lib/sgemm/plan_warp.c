/* plan_warp.c - plans of invariant products in tiles of a warp, or of a team of warps: whether C or
 * C' is computed, and the blocks that share the parts of k.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

#include <math.h>

enum {
    FIRST = TILEMM__sgemm_warp_sm90_32x16_nn,
    TEAM_FIRST = TILEMM__sgemm_team_sm90_32x8_nn,
    RESIDENT_FIRST = TILEMM__sgemm_resident_sm90_32x8_k,
    END = TILEMM__sgemm_packed_sm90_4x4_nn,
    WARPS = TILEMM__SGEMM_WARP_WARPS,
    BLOCKS = 4, /* to a multiprocessor, among which parts of k are shared out */
    TEAMS = 4   /* of a cluster, each with a part of FP16 planes */
};

static const int64_t most = 1 << 30;

/* The logarithm of the warps of a block that have a tile, by its parts of k. */
static int slots_log2_of(int64_t parts)
{
    return parts == 1 ? 0 : parts == 2 ? 1 : TILEMM__SGEMM_WARP_WARPS_LOG2;
}

/* Parts of k for each block of BF16 planes, if blocks share them: `blocks` are those of all tiles.
 */
static int64_t parts_split_of(int64_t parts, int slots, double blocks,
                              const tilemm__limits_t *limits)
{
    const int64_t wanted = (int64_t)(BLOCKS * limits->cuda->sm_count / blocks);
    const int64_t each = tilemm__div_up(parts, tilemm__max(wanted, 1));
    return tilemm__min(tilemm__round_up(each, slots), parts);
}

/* The plan of a variant that is for it. Its blocks are 0 if it cannot be, or they are too many. */
static tilemm__sgemm_warp_t plan_of(const tilemm__sgemm_args_t *args, int variant, int exchange,
                                    const tilemm__limits_t *limits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    const int half = tilemm__sgemm_has_half(args->k), team = variant >= TEAM_FIRST;
    int64_t k_half, k_part;
    const int64_t parts_half = tilemm__sgemm_invariant_parts(args->k, 1, &k_half);
    const int64_t parts = tilemm__sgemm_invariant_parts(args->k, 0, &k_part);
    const int slots_log2 = slots_log2_of(half ? parts_half : parts), slots = 1 << slots_log2;
    const int64_t tiles_m = tilemm__div_up(e.m, row->m), tiles_n = tilemm__div_up(e.n, row->n);
    const int64_t tiles_short = tilemm__min(tiles_m, tiles_n);
    const double per_matrix = (double)tiles_m * (double)tiles_n;
    const double tiles = per_matrix * (double)e.batch_count;
    const double blocks = team ? tiles : ceil(tiles * slots / WARPS);
    const double partial = tilemm__sgemm_elements_of_c(args) * sizeof(float) * (double)parts;
    const int has_room = partial <= (double)limits->workspace && tilemm__sgemm_may_divide_k(limits);
    const int64_t parts_split = team ? 1
                                : !half && parts > slots && has_room
                                    ? parts_split_of(parts, slots, blocks, limits)
                                    : parts;
    const int64_t splits = team && half ? parts_half : tilemm__div_up(parts, parts_split);
    if (tiles * (double)splits > (double)most ||
        (team && (half ? splits != TEAMS : splits == 1 || !has_room)))
        return (tilemm__sgemm_warp_t){.blocks = 0};
    return (tilemm__sgemm_warp_t){
        .args = e,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .variant = variant,
        .wide_a = tilemm__sgemm_is_aligned_a(&e),
        .wide_b = tilemm__sgemm_is_aligned_b(&e),
        .half = half,
        .compensates = limits->invariance == TILEMM_INVARIANCE_NONE,
        .k_half = (int)k_half,
        .k_part = (int)k_part,
        .parts_half = (int)parts_half,
        .parts = (int)parts,
        .slots_log2 = slots_log2,
        .splits = (int)splits,
        .parts_split = (int)parts_split,
        .partial_m = exchange ? 1 : args->n,
        .partial_n = exchange ? args->n : 1,
        .m_is_short = tiles_m <= tiles_n,
        .tiles_short = (unsigned)tiles_short,
        .per_matrix = (unsigned)per_matrix,
        .tiles = (unsigned)tiles,
        .by_tiles_short = tilemm__division_by((unsigned)tiles_short),
        .by_per_matrix = tilemm__division_by((unsigned)per_matrix),
        .by_splits = tilemm__division_by((unsigned)splits),
        .blocks = (unsigned)(blocks * (double)splits),
    };
}

/* The better of C and C'. Its blocks are 0 if there is none. */
static tilemm__sgemm_warp_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                    const tilemm__limits_t *limits, double *cycles)
{
    tilemm__sgemm_warp_t best = {.blocks = 0};
    for (int exchange = 0; exchange < 2; exchange++) {
        double now = 0;
        tilemm__sgemm_warp_t p = {.blocks = 0};
        if (variant >= RESIDENT_FIRST)
            p = tilemm__sgemm_resident_of(args, variant, exchange, limits, &now);
        else if (tilemm__sgemm_is_row_for(args, variant - FIRST, exchange))
            p = plan_of(args, variant, exchange, limits);
        if (p.blocks && variant < RESIDENT_FIRST)
            now = (variant >= TEAM_FIRST ? tilemm__sgemm_team_estimate
                                         : tilemm__sgemm_warp_estimate)(&p, limits->cuda);
        if (p.blocks && (!best.blocks || now < *cycles)) {
            *cycles = now;
            best = p;
        }
    }
    return best;
}

void tilemm__sgemm_try_warp(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_trial_t *best)
{
    /* In the default mode only kernels that compensate are candidates; none for one or two vectors,
     * whose matrix other kernels read at memory's speed; and their estimate must be shorter than
     * another kernel's by the factor `worth`. */
    enum { LEAST_FREE = 3 };
    const int is_free = limits->invariance == TILEMM_INVARIANCE_NONE;
    const int end = is_free ? TEAM_FIRST : END;
    const double worth = is_free ? 1.08 : 1;
    if (is_free && tilemm__min(args->m, args->n) < LEAST_FREE && !*limits->variant)
        return;
    for (int v = FIRST; v < end; v++) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (!tilemm__sgemm_is_allowed(limits, v) || !best_of(args, v, limits, &now.cycles).blocks)
            continue;
        now.cycles *= worth;
        tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_warp(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles = 0;
    tilemm__sgemm_warp_plan_t *const warp = &plan->as.warp;
    tilemm__sgemm_trial_t parts = *trial;
    plan->method = TILEMM__SGEMM_WARP;
    warp->product = best_of(args, trial->variant, limits, &cycles);
    const int in_workspace = warp->product.splits > 1 && !warp->product.half;
    parts.splits = in_workspace ? warp->product.parts : 1;
    plan->workspace = tilemm__sgemm_partial_bytes(args, &parts);
    tilemm__sgemm_fill_splitk(args, limits, &parts, &warp->splitk);
}
