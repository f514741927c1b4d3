/* plan_resident.c - plans of invariant products of a matrix and up to eight vectors, whose planes
 * stay in shared memory: how many warps a block has, and the blocks that share the tiles.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"
#include "exchange.h"

#include <assert.h>

enum {
    FIRST = TILEMM__sgemm_resident_sm90_32x8_k,
    ROWS_OF_TILE = 2, /* along k, along m */
    SLOTS_LOG2 = 2,
    SLOTS = 1 << SLOTS_LOG2,
    STEP = TILEMM__SGEMM_WARP_K,
    ALL_WARPS = 16, /* of a multiprocessor, by their registers */
    /* 16 bytes each of a step of one column of three BF16 planes; two FP16 planes need less */
    QUADS = STEP * 3 / 8
};

static_assert((int)SLOTS == (int)TILEMM__SGEMM_RESIDENT_SLOTS, "the warps of a tile");

static const int64_t most = 1 << 30;

/* The plan with blocks of `warps` warps, and its estimate. Its blocks are 0 if it cannot be. */
static tilemm__sgemm_warp_t plan_of(const tilemm__sgemm_args_t *args, int variant, int exchange,
                                    int warps, const tilemm__limits_t *limits, double *cycles)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const tilemm__cuda_traits_t *const traits = limits->cuda;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    const int half = tilemm__sgemm_has_half(args->k), along_m = (variant - FIRST) % ROWS_OF_TILE;
    tilemm__sgemm_warp_t p = {.blocks = 0};
    int64_t k_half, k_part;
    const int64_t parts_half = tilemm__sgemm_invariant_parts(args->k, 1, &k_half);
    const int64_t parts = tilemm__sgemm_invariant_parts(args->k, 0, &k_part);
    const int divides = parts > TILEMM__SGEMM_RESIDENT_PARTS;
    const int slots = parts > 1 && !divides ? SLOTS : 1, groups = warps / slots;
    const double tiles = (double)tilemm__div_up(e.m, row->m);
    const double items = (double)e.batch_count * (double)(divides ? parts : 1);
    const double partial = tilemm__sgemm_elements_of_c(args) * sizeof(float) * (double)parts;
    if (along_m != e.trans_a || e.n > TILEMM__SGEMM_RESIDENT_COLUMNS ||
        tiles * items > (double)most ||
        (divides && !(partial <= (double)limits->workspace && tilemm__sgemm_may_divide_k(limits))))
        return p;
    const int64_t planes = tilemm__div_up(divides ? k_part : e.k, STEP) * QUADS * e.n;
    const int64_t steps =
        (int64_t)warps * tilemm__resident_stages(row->m) * tilemm__warp_words(row->m, !along_m);
    const int64_t sums = slots > 1 ? groups * (SLOTS + 1) * row->m * e.n : 0;
    const int64_t shared = (int64_t)sizeof(tilemm__sgemm_resident_t) + planes * 16 +
                           (steps + sums) * (int64_t)sizeof(float);
    if (shared > (int64_t)traits->shared_per_block)
        return p;
    tilemm__sgemm_row_t now = *row; /* of these warps, and of this k */
    now.shared = (int)shared;
    now.threads = warps * 32;
    now.blocks = ALL_WARPS / warps;
    const int here = tilemm__sgemm_resident_blocks(&now, traits);
    const int64_t room = (int64_t)here * traits->sm_count / (int64_t)items;
    const int64_t wanted = tilemm__div_up((int64_t)tiles, groups);
    const int64_t rounds = tilemm__div_up(wanted, tilemm__max(room, 1));
    const int64_t shares = tilemm__div_up(wanted, rounds);
    p = (tilemm__sgemm_warp_t){
        .args = e,
        .c_m = exchange ? 1 : args->ldc,
        .c_n = exchange ? args->ldc : 1,
        .variant = variant,
        .wide_a = tilemm__sgemm_is_aligned_a(&e),
        .half = half,
        .k_half = (int)k_half,
        .k_part = (int)k_part,
        .parts_half = (int)parts_half,
        .parts = (int)parts,
        .slots_log2 = slots == SLOTS ? SLOTS_LOG2 : 0,
        .splits = (int)(divides ? parts : 1),
        .partial_m = exchange ? 1 : args->n,
        .partial_n = exchange ? args->n : 1,
        .per_matrix = (unsigned)tiles,
        .blocks = (unsigned)(shares * (int64_t)items),
        .warps = warps,
        .shares = (unsigned)shares,
        .planes = (unsigned)planes,
        .shared = (unsigned)shared,
    };
    p.by_splits = tilemm__division_by((unsigned)p.splits);
    p.by_shares = tilemm__division_by(p.shares);
    *cycles = tilemm__sgemm_resident_estimate(&p, here, traits);
    return p;
}

tilemm__sgemm_warp_t tilemm__sgemm_resident_of(const tilemm__sgemm_args_t *args, int variant,
                                               int exchange, const tilemm__limits_t *limits,
                                               double *cycles)
{
    tilemm__sgemm_warp_t best = {.blocks = 0};
    for (int warps = SLOTS; warps <= TILEMM__SGEMM_RESIDENT_WARPS; warps *= 2) {
        double now = 0;
        const tilemm__sgemm_warp_t p = plan_of(args, variant, exchange, warps, limits, &now);
        if (p.blocks && (!best.blocks || now < *cycles)) {
            *cycles = now;
            best = p;
        }
    }
    return best;
}
