/* plan_fitted.c - plans of SGEMM by FP32 multiply-adds in tiles that fit the matrices: how many
 * threads a tile has, how many tiles a block, and how much of k is in shared memory at a time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

#include <math.h>

enum {
    FIRST = TILEMM__sgemm_fitted_sm80_4x4_nn,
    END = TILEMM__sgemm_short_sm80_128x128_nn,
    ROWS_OF_TILE = TILEMM__SGEMM_ROWS_OF_TILE,
    MOST_THREADS = TILEMM__SGEMM_FITTED_MOST_THREADS,
    MOST_LANES = 32,
    /* Threads that a block of several tiles has about, so that blocks of a multiprocessor differ in
     * what they do; the longest k that is tried whole, and the k-step otherwise. */
    GOOD_THREADS = 128,
    STEP = 32,
    MOST_WHOLE_K = 1024,
    /* What a block takes of shared memory, if it can be. */
    GOOD_BYTES = 56 << 10
};

static const int64_t most = 1 << 30;

static int width_of(const void *pointer, const void *array, int64_t ld, int64_t stride,
                    int64_t batch)
{
    const uint64_t all = (uint64_t)(uintptr_t)pointer | (uint64_t)ld * sizeof(float) |
                         (batch > 1 ? (uint64_t)stride * sizeof(float) : 0);
    return array ? 1 : all % 16 == 0 ? 4 : all % 8 == 0 ? 2 : 1;
}

/* The threads along a side of `extent` if it falls into `tiles` tiles. */
static int lanes_of(int64_t extent, int64_t tiles, int side)
{
    return (int)tilemm__div_up(tilemm__div_up(extent, tiles), side);
}

/* Bytes of shared memory of a tile's step. */
static size_t bytes_of(const tilemm__sgemm_args_t *args, int tile_m, int tile_n, int depth)
{
    return (size_t)(tilemm__fitted_words(tile_m, depth, !args->trans_a) +
                    tilemm__fitted_words(tile_n, depth, args->trans_b)) *
           sizeof(float);
}

static tilemm__sgemm_fitted_t fit(const tilemm__sgemm_args_t *args, int variant, int lanes_m,
                                  int lanes_n, const tilemm__cuda_traits_t *traits)
{
    const int side = tilemm__sgemm_rows[variant].m;
    const int tile_m = lanes_m * side, tile_n = lanes_n * side, of_tile = lanes_m * lanes_n;
    tilemm__sgemm_fitted_t p = {
        .args = *args,
        .variant = variant,
        .lanes_m = lanes_m,
        .lanes_n = lanes_n,
        .copies_a.width =
            width_of(args->a, args->a_array, args->lda, args->stride_a, args->batch_count),
        .copies_b.width =
            width_of(args->b, args->b_array, args->ldb, args->stride_b, args->batch_count),
        .width_c = width_of(args->c, args->c_array, args->ldc, args->stride_c, args->batch_count),
        .concurrent = traits->cc >= 90,
    };
    const int64_t tiles_n = tilemm__div_up(args->n, tile_n);
    const int64_t per_matrix = tilemm__div_up(args->m, tile_m) * tiles_n;
    const int64_t tiles = per_matrix * args->batch_count;
    p.stages = 1;
    p.depth = (int)tilemm__round_up(tilemm__min(args->k, MOST_WHOLE_K), 4);
    size_t bytes = bytes_of(args, tile_m, tile_n, p.depth);
    if (args->k > p.depth || bytes > GOOD_BYTES) {
        p.stages = 2;
        p.depth = STEP;
        bytes = 2 * bytes_of(args, tile_m, tile_n, p.depth);
    }
    p.together = (int)tilemm__max(
        1, tilemm__min(tilemm__min(GOOD_THREADS / of_tile, (int64_t)(GOOD_BYTES / bytes)),
                       tiles / traits->sm_count));
    p.threads = (unsigned)tilemm__round_up(of_tile * p.together, 32);
    p.shared = bytes * (size_t)p.together;
    p.tiles_n = (unsigned)tiles_n;
    p.per_matrix = (unsigned)per_matrix;
    p.tiles = (unsigned)tiles;
    p.blocks = (unsigned)tilemm__div_up(tiles, p.together);
    return p;
}

/* How a tile's threads copy lines of `pitch` numbers. */
static void share_out_copies(int pitch, int threads, tilemm__fitted_copies_t *copies)
{
    const int across = (int)tilemm__div_up(pitch, copies->width);
    copies->lines = (int)tilemm__max(threads / across, 1);
    copies->by_across = tilemm__division_by((uint32_t)across);
}

/* What the kernel would otherwise compute in each thread. */
static void prepare(tilemm__sgemm_fitted_t *p)
{
    const int side = tilemm__sgemm_rows[p->variant].m, of_tile = p->lanes_m * p->lanes_n;
    share_out_copies(p->args.trans_a ? p->lanes_m * side : p->depth, of_tile, &p->copies_a);
    share_out_copies(p->args.trans_b ? p->depth : p->lanes_n * side, of_tile, &p->copies_b);
    p->by_lanes_n = tilemm__division_by((uint32_t)p->lanes_n);
    p->by_lanes = tilemm__division_by((uint32_t)of_tile);
    p->by_tiles_n = tilemm__division_by(p->tiles_n);
    p->by_per_matrix = tilemm__division_by(p->per_matrix);
}

/* The best tile of a variant, and its cycles. */
static tilemm__sgemm_fitted_t best_of(const tilemm__sgemm_args_t *args, int variant,
                                      const tilemm__cuda_traits_t *traits, double *cycles)
{
    const int side = tilemm__sgemm_rows[variant].m;
    tilemm__sgemm_fitted_t best = {.tiles = 0};
    *cycles = HUGE_VAL;
    /* A side falls into 1, 2, 3 ... tiles as even as can be; a long one into tiles of 32, 16, 8
     * lanes. */
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const int64_t least_m = tilemm__div_up(args->m, MOST_LANES * side);
            const int64_t least_n = tilemm__div_up(args->n, MOST_LANES * side);
            const int64_t tiles_m = least_m < 4 ? least_m + i : least_m << i;
            const int64_t tiles_n = least_n < 4 ? least_n + j : least_n << j;
            const int lanes_m = lanes_of(args->m, tiles_m, side);
            const int lanes_n = lanes_of(args->n, tiles_n, side);
            const double tiles = (double)tiles_m * (double)tiles_n * (double)args->batch_count;
            if (lanes_m * lanes_n > MOST_THREADS || tiles_m > args->m || tiles_n > args->n ||
                tiles > (double)most)
                continue;
            const tilemm__sgemm_fitted_t p = fit(args, variant, lanes_m, lanes_n, traits);
            const double now = tilemm__sgemm_fitted_estimate(&p, traits);
            if (now < *cycles) {
                *cycles = now;
                best = p;
            }
        }
    return best;
}

/* Whether a problem is of the kinds that are faster so, as measured on an H100: batches, and a
 * short k beside a short side. */
static int is_for_fitted(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits)
{
    enum { SHORT_K = 128, FEW_OF_B = 1536 };
    return traits->cc >= 90 && args->k <= SHORT_K &&
           (args->batch_count > 1 || tilemm__min(args->m, args->n) * args->k <= FEW_OF_B);
}

void tilemm__sgemm_try_fitted(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              tilemm__sgemm_trial_t *best)
{
    if (limits->cuda->cc < 80 || args->k > most || args->m > most || args->n > most ||
        (!*limits->variant && limits->invariance == TILEMM_INVARIANCE_NONE &&
         !is_for_fitted(args, limits->cuda)))
        return;
    for (int v = FIRST + tilemm__sgemm_transposes(args); v < END; v += ROWS_OF_TILE) {
        tilemm__sgemm_trial_t now = {.variant = v, .splits = 1, .k_split = args->k};
        if (!tilemm__sgemm_is_allowed(limits, v))
            continue;
        best_of(args, v, limits->cuda, &now.cycles);
        if (now.cycles < HUGE_VAL)
            tilemm__sgemm_keep(&now, best);
    }
}

void tilemm__sgemm_fill_fitted(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    double cycles;
    plan->method = TILEMM__SGEMM_FITTED;
    plan->as.fitted = best_of(args, trial->variant, limits->cuda, &cycles);
    prepare(&plan->as.fitted);
}
