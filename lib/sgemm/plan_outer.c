/* plan_outer.c - plans of SGEMM by sums of few outer products: how many threads a row of C has, and
 * how many rows a tile.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

#include <math.h>

enum {
    FIRST = TILEMM__sgemm_outer_sm80_4,
    END = TILEMM__sgemm_fitted_sm80_4x4_nn,
    THREADS = TILEMM__SGEMM_OUTER_THREADS,
    COLUMNS = TILEMM__SGEMM_OUTER_COLUMNS,
    WARP = 32,
    WIDE = 4, /* numbers that are read at once */
    /* The fewest and the most rows that a thread has of a tile (turns), and the most rows of a
     * tile, as measured on an H200. */
    FEW_TURNS = 8,
    MOST_TURNS = 64,
    MOST_ROWS = 512,
    /* Up to this depth a block that goes from tile to tile gains nothing. */
    SHALLOW = 8
};

static const int64_t most = 1 << 30;

/* The plan with `threads` threads to a row of a tile, each of which has `turns` rows; `stays` says
 * that a block goes from tile to tile. Its blocks are 0 if it cannot be. */
static tilemm__sgemm_outer_t plan_of(const tilemm__sgemm_args_t *args, int variant, int threads,
                                     int turns, int stays, const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int whole_k = args->k % WIDE == 0, is_aligned = row->facet;
    const int apart = is_aligned ? 1 : threads > WARP / 2 ? WARP : threads;
    const int lanes = is_aligned ? threads : (int)tilemm__round_up(threads, apart);
    const int groups = THREADS / lanes;
    const int64_t most_rows = tilemm__min((int64_t)groups * turns, MOST_ROWS);
    const int rows = (int)tilemm__even_size(args->m, most_rows, groups);
    tilemm__sgemm_outer_t p = {
        .args = *args,
        .variant = variant,
        .wide_a = !args->trans_a && whole_k && tilemm__sgemm_is_aligned_a(args),
        .wide_b = (args->trans_b ? whole_k : args->n >= WIDE) && tilemm__sgemm_is_aligned_b(args),
        .lanes = lanes,
        .apart = apart,
        .groups = groups,
        .rows = rows,
        .stages = stays ? 2 : 1,
        .threads = (unsigned)tilemm__round_up((int64_t)lanes * groups, WARP),
        .concurrent = traits->cc >= 90,
    };
    const int lines = p.stages * rows + (args->trans_b ? COLUMNS * lanes : 0);
    p.shared = (size_t)(lines * tilemm__outer_pitch(row->k)) * sizeof(float);
    if (p.shared > traits->shared_per_block)
        return p;
    const int64_t tiles_n = tilemm__div_up(args->n, COLUMNS * lanes);
    const int64_t tiles_m = tilemm__div_up(args->m, rows);
    const double columns = (double)tiles_n * (double)args->batch_count;
    const double room = (double)traits->sm_count * tilemm__sgemm_outer_room(&p, traits);
    int64_t shares = tiles_m;
    if (stays && columns * (double)tiles_m > room)
        shares = columns < room ? (int64_t)(room / columns) : 1;
    int64_t each;
    shares = tilemm__sgemm_split(tiles_m, shares, 1, &each); /* as even as can be */
    if (columns * (double)shares > (double)most || (stays && shares == tiles_m))
        return p;
    p.shares = (int)shares;
    p.tiles_n = (unsigned)tiles_n;
    p.per_matrix = (unsigned)(tiles_n * shares);
    p.by_lanes = tilemm__division_by((uint32_t)lanes);
    p.by_apart = tilemm__division_by((uint32_t)apart);
    p.by_tiles_n = tilemm__division_by(p.tiles_n);
    p.by_per_matrix = tilemm__division_by(p.per_matrix);
    p.blocks = (unsigned)(p.per_matrix * args->batch_count);
    return p;
}

/* The best plan of a variant, and its cycles. Its blocks are 0 if there is none. */
static tilemm__sgemm_outer_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                     const tilemm__cuda_traits_t *traits, double *cycles)
{
    enum { SIDES = 5 };
    const int depth = tilemm__sgemm_rows[variant].k;
    const int most_turns = (int)tilemm__min(4 * depth, MOST_TURNS);
    const int64_t whole = tilemm__div_up(args->n, COLUMNS);
    tilemm__sgemm_outer_t best = {.blocks = 0};
    *cycles = HUGE_VAL;
    /* A tile has whole rows of C, or whole lines of memory. */
    for (int i = 0; i < SIDES; i++) {
        const int64_t threads = i > 0 ? THREADS >> (i - 1) : whole;
        if (threads > THREADS || (i > 0 && threads >= whole))
            continue;
        for (int turns = FEW_TURNS; turns <= most_turns; turns *= 2) {
            const int ways = depth > SHALLOW && turns < MOST_TURNS ? 2 : 1;
            for (int stays = 0; stays < ways; stays++) {
                const tilemm__sgemm_outer_t p =
                    plan_of(args, variant, (int)threads, turns, stays, traits);
                const double now = p.blocks ? tilemm__sgemm_outer_estimate(&p, traits) : HUGE_VAL;
                if (now >= *cycles)
                    continue;
                *cycles = now;
                best = p;
            }
        }
    }
    return best;
}

/* Whether a variant is for a problem: C is aligned as it says, and no shallower one has all of k.
 * Invariant sums end with a zero added, which makes +0 of -0: one step more, of zeros, does so. */
static int is_for(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int variant)
{
    enum { VARIANTS_OF_DEPTH = 2 };
    const int before = variant - VARIANTS_OF_DEPTH, aligned = tilemm__sgemm_is_aligned_c(args);
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[variant];
    const int64_t steps = args->k + (limits->invariance != TILEMM_INVARIANCE_NONE);
    return steps <= row->k && (before < FIRST || steps > tilemm__sgemm_rows[before].k) &&
           (row->facet == aligned || (aligned && *limits->variant)) &&
           tilemm__sgemm_is_allowed(limits, variant);
}

void tilemm__sgemm_try_outer(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             tilemm__sgemm_trial_t *best)
{
    if (limits->cuda->cc < 80 || args->m > most || args->n > most)
        return;
    for (int v = FIRST; v < END; v++) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (is_for(args, limits, v) && best_of(args, v, limits->cuda, &now.cycles).blocks)
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_outer(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles;
    plan->method = TILEMM__SGEMM_OUTER;
    plan->as.outer = best_of(args, trial->variant, limits->cuda, &cycles);
}
