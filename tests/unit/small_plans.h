/* small_plans.h - checks of plans of small products by FP32 multiply-adds, for plan_sgemm.c.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_SMALL_PLANS_H
#define TILEMM_TESTS_UNIT_SMALL_PLANS_H

#include "lib/sgemm/candidates_cuda.h"
#include "lib/sgemm/exchange.h"
#include "tests/support/check.h"

/* The splits cover k, and none is empty. */
static void check_splits(const char *name, int64_t k, int64_t splits, int64_t k_split)
{
    CHECK(splits >= 1 && (splits - 1) * k_split < k && splits * k_split >= k,
          "%s: %lld splits of %lld for k = %lld", name, (long long)splits, (long long)k_split,
          (long long)k);
}

/* As the kernel divides. */
static void check_division(const char *name, tilemm__division_t by, int64_t x, int64_t d)
{
    const uint64_t product = (uint64_t)x * by.magic >> 32;
    const int64_t quotient = by.magic ? (int64_t)(product >> by.shift) : x;
    CHECK(quotient == x / d, "%s: %lld / %lld = %lld", name, (long long)x, (long long)d,
          (long long)quotient);
}

/* A fitted tile's threads find their places by products in place of divisions, and copy each line
 * of a step; accesses of C are as wide as its alignment. */
static void check_fitted(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_fitted_t *const p = &plan->as.fitted;
    const int side = tilemm__sgemm_rows[p->variant].m, of_tile = p->lanes_m * p->lanes_n;
    const int64_t tiles[] = {0, p->per_matrix - 1, p->per_matrix, p->tiles_n, p->tiles - 1};
    for (int i = 0; i < 2; i++) {
        const tilemm__fitted_copies_t *const copies = i ? &p->copies_b : &p->copies_a;
        const int along_k = i ? args->trans_b : !args->trans_a;
        const int line = along_k ? p->depth : (i ? p->lanes_n : p->lanes_m) * side;
        const int across = (line + copies->width - 1) / copies->width;
        CHECK(copies->lines >= 1 && (copies->lines == 1 || copies->lines * across <= of_tile),
              "%s: %d lines of %d copies at once", plan->name, copies->lines, across);
        for (int thread = 0; thread < of_tile; thread++)
            check_division(plan->name, copies->by_across, thread, across);
    }
    for (unsigned thread = 0; thread < p->threads; thread++) {
        check_division(plan->name, p->by_lanes_n, thread, p->lanes_n);
        check_division(plan->name, p->by_lanes, thread, of_tile);
    }
    for (int i = 0; i < 5; i++) {
        check_division(plan->name, p->by_per_matrix, tiles[i], p->per_matrix);
        check_division(plan->name, p->by_tiles_n, tiles[i] % p->per_matrix, p->tiles_n);
    }
    CHECK(((uintptr_t)args->c / sizeof(float) | (uint64_t)args->ldc) % (uint64_t)p->width_c == 0,
          "%s: C is stored %d numbers at a time", plan->name, p->width_c);
}

/* Batches without gaps: a group of each operand is a run of bytes that the copy engine takes, and
 * has a thread for each square of C; the groups are whole ones; threads find their places without
 * divisions. */
static void check_packed(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                         const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_packed_t *const p = &plan->as.packed;
    const int64_t of[] = {args->m * args->k, args->k * args->n, args->m * args->n};
    const uintptr_t at = (uintptr_t)args->a | (uintptr_t)args->b | (uintptr_t)args->c;
    const int64_t lanes_m = tilemm__div_up(args->m, 4), lanes_n = tilemm__div_up(args->n, 4);
    CHECK(args->stride_a == of[0] && args->stride_b == of[1] && args->stride_c == of[2] &&
              args->lda * (args->trans_a ? args->k : args->m) == of[0] &&
              args->ldb * (args->trans_b ? args->n : args->k) == of[1] && args->ldc == args->n &&
              args->beta == 0 && at % 16 == 0,
          "%s: has gaps", plan->name);
    for (int i = 0; i < 3; i++)
        CHECK(of[i] * p->together % 4 == 0, "%s: %lld numbers of %d matrices", plan->name,
              (long long)of[i], p->together);
    CHECK(p->lanes_m == lanes_m && p->lanes_n == lanes_n && p->together >= 1 &&
              p->groups == args->batch_count / p->together && p->blocks >= 1 &&
              p->blocks <= tilemm__div_up(args->batch_count, p->together) && p->threads % 32 == 0 &&
              p->threads >= lanes_m * lanes_n * p->together && p->threads <= 1024,
          "%s: %u groups of %d, %u blocks of %u", plan->name, p->groups, p->together, p->blocks,
          p->threads);
    CHECK(p->shared <= limits->cuda->shared_per_block &&
              p->shared >= (size_t)(p->together * (2 * (of[0] + of[1]) + of[2]) + 4 * args->k) * 4,
          "%s: %zu bytes", plan->name, p->shared);
    for (unsigned thread = 0; thread < p->threads; thread++) {
        check_division(plan->name, p->by_lanes, thread, lanes_m * lanes_n);
        check_division(plan->name, p->by_lanes_n, thread, lanes_n);
    }
}

/* A short k: the tiles cover C or C', whose element (i, j) is where args says; blocks find their
 * places without divisions; the stages fit; copies are aligned; and FP32 mode has no long chains.
 */
static void check_short(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                        const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_short_t *const p = &plan->as.short_k;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int exchanged = p->args.exchanged != args->exchanged;
    const int64_t tiles_m = tilemm__div_up(p->args.m, row->m);
    const int64_t tiles_n = tilemm__div_up(p->args.n, row->n), matrix = tiles_m * tiles_n;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchanged);
    CHECK(p->args.m == e.m && p->args.n == e.n && p->args.k == e.k &&
              p->c_m == (exchanged ? 1 : args->ldc) && p->c_n == (exchanged ? args->ldc : 1),
          "%s: C is %lld x %lld", plan->name, (long long)p->args.m, (long long)p->args.n);
    CHECK(p->tiles_n == tiles_n && p->per_matrix == matrix &&
              p->blocks == matrix * args->batch_count,
          "%s: %u blocks", plan->name, p->blocks);
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1) {
        check_division(plan->name, p->by_per_matrix, block, matrix);
        check_division(plan->name, p->by_tiles_n, block % matrix, tiles_n);
    }
    const int tf32 = p->variant >= TILEMM__sgemm_short_tf32_sm80_128x128_nn;
    const int64_t depth = tilemm__round_up(tilemm__min(args->k, 16), tf32 ? 8 : 1);
    CHECK(p->depth == depth && p->shared <= limits->cuda->shared_per_block,
          "%s: %d steps, %zu bytes", plan->name, p->depth, p->shared);
    CHECK(p->wide_a <= tilemm__sgemm_is_aligned_a(&p->args) &&
              p->wide_b <= tilemm__sgemm_is_aligned_b(&p->args),
          "%s: not aligned", plan->name);
    CHECK(tf32 ? limits->math == TILEMM_MATH_TF32 && args->k <= 16384
               : args->k <= 64 || limits->math != TILEMM_MATH_FP32 ||
                     row->m * row->n <= TILEMM__SGEMM_SHORT_TOTALS * row->threads,
          "%s: a chain of %lld", plan->name, (long long)args->k);
}

/* Tiles whose k is shared out: they cover C or C', clusters k; blocks find their places without
 * divisions; stages and sums fit; copies are aligned; and FP32 mode has no long chains. */
static void check_slicek(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                         const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_slicek_t *const p = &plan->as.slicek;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int exchanged = p->args.exchanged != args->exchanged;
    const int64_t tiles_n = tilemm__div_up(p->args.n, row->n);
    const int64_t matrix = tilemm__div_up(p->args.m, row->m) * tiles_n;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchanged);
    CHECK(p->args.m == e.m && p->args.n == e.n && p->args.k == e.k &&
              p->c_m == (exchanged ? 1 : args->ldc) && p->c_n == (exchanged ? args->ldc : 1),
          "%s: C is %lld x %lld", plan->name, (long long)p->args.m, (long long)p->args.n);
    check_splits(plan->name, args->k, p->splits, p->k_split);
    CHECK(p->splits == 1 || (limits->cuda->cc >= 90 && p->splits <= 8 && p->k_split % 4 == 0),
          "%s: %d parts of %d", plan->name, p->splits, p->k_split);
    CHECK(p->tiles_n == tiles_n && p->per_matrix == matrix &&
              p->blocks == matrix * args->batch_count * p->splits,
          "%s: %u blocks", plan->name, p->blocks);
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1) {
        check_division(plan->name, p->by_splits, block, p->splits);
        check_division(plan->name, p->by_per_matrix, block / p->splits, matrix);
        check_division(plan->name, p->by_tiles_n, block / p->splits % matrix, tiles_n);
    }
    const size_t stages = (size_t)tilemm__min(tilemm__div_up(p->k_split, 128), 3);
    CHECK(p->shared <= limits->cuda->shared_per_block &&
              p->shared >= stages * (size_t)(row->m + row->n) * 128 * sizeof(float) &&
              p->shared >= (size_t)row->threads / 32 * (size_t)(row->m * row->n) * sizeof(float),
          "%s: %zu bytes", plan->name, p->shared);
    CHECK(p->wide_a <= tilemm__sgemm_is_aligned_a(&p->args) &&
              p->wide_b <= tilemm__sgemm_is_aligned_b(&p->args),
          "%s: not aligned", plan->name);
    CHECK(limits->math != TILEMM_MATH_FP32 || p->k_split <= 2048, "%s: chains for %d of k",
          plan->name, p->k_split);
}

/* Sums of few outer products: tiles cover C, and blocks all tiles, as even as can be; threads and
 * blocks find their places without divisions; what is read 16 bytes at a time is aligned; and k is
 * one chain. */
static void check_outer(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                        const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_outer_t *const p = &plan->as.outer;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int64_t tiles_m = tilemm__div_up(args->m, p->rows);
    const int64_t matrix = (int64_t)p->tiles_n * p->shares;
    CHECK(p->args.m == args->m && p->args.n == args->n && p->args.k == args->k &&
              p->args.lda == args->lda && p->args.ldb == args->ldb && p->args.ldc == args->ldc,
          "%s: C is %lld x %lld", plan->name, (long long)p->args.m, (long long)p->args.n);
    CHECK(args->k <= row->k && row->facet <= tilemm__sgemm_is_aligned_c(args), "%s: k is %lld",
          plan->name, (long long)args->k);
    CHECK(p->lanes >= 1 && p->lanes * p->groups <= (int)p->threads && p->threads % 32 == 0 &&
              p->threads <= 256 && p->rows % p->groups == 0 && p->rows <= 512,
          "%s: %d x %d of %u threads", plan->name, p->groups, p->lanes, p->threads);
    CHECK(row->facet ? p->apart == 1 : p->apart <= 32 && p->lanes % p->apart == 0,
          "%s: %d lanes, %d apart", plan->name, p->lanes, p->apart);
    CHECK(p->tiles_n == tilemm__div_up(args->n, 4 * p->lanes) && p->per_matrix == matrix &&
              p->blocks == matrix * args->batch_count,
          "%s: %u blocks", plan->name, p->blocks);
    CHECK(p->shares >= 1 && p->shares <= tiles_m &&
              tilemm__div_up(tiles_m, tilemm__div_up(tiles_m, p->shares)) == p->shares &&
              p->stages == (p->shares < tiles_m ? 2 : 1),
          "%s: %d blocks for %lld tiles", plan->name, p->shares, (long long)tiles_m);
    for (unsigned thread = 0; thread < p->threads; thread++) {
        check_division(plan->name, p->by_lanes, thread, p->lanes);
        check_division(plan->name, p->by_apart, thread % (unsigned)p->lanes, p->apart);
    }
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1) {
        check_division(plan->name, p->by_per_matrix, block, matrix);
        check_division(plan->name, p->by_tiles_n, block % matrix, p->tiles_n);
    }
    const int lines = p->stages * p->rows + (args->trans_b ? 4 * p->lanes : 0);
    CHECK(p->shared <= limits->cuda->shared_per_block &&
              p->shared >= (size_t)(lines * tilemm__outer_pitch(row->k)) * sizeof(float),
          "%s: %zu bytes", plan->name, p->shared);
    CHECK(p->wide_a <= (!args->trans_a && args->k % 4 == 0 && tilemm__sgemm_is_aligned_a(args)) &&
              p->wide_b <= ((args->trans_b ? args->k % 4 == 0 : args->n >= 4) &&
                            tilemm__sgemm_is_aligned_b(args)),
          "%s: not aligned", plan->name);
}

/* A matrix and a few vectors: blocks cover the rows of X, and find their matrix by a product
 * in place of a division; what is read 16 bytes at a time is aligned; parts of k that no cluster
 * adds up are dense matrices, which the workspace holds and a second kernel adds up. */
static void check_vector(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_vector_t *const p = &plan->as.vector.product;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int along_m = p->variant >= TILEMM__sgemm_vector_sm75_8_m;
    /* One row and several columns: the vector is X. */
    const int takes_vector =
        !along_m && row->m == 1 && row->n > 1 && tilemm__min(args->m, args->n) == 1;
    const int exchange = (args->m < args->n) != takes_vector;
    tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchange);
    if (e.m == 1 && (!e.trans_a || e.lda == 1)) { /* a row of k, however it is called */
        e.trans_a = 0;
        e.lda = tilemm__round_up(e.k, 4);
    }
    const int is_strided = e.trans_a && !along_m;
    const int64_t per_matrix = tilemm__div_up(e.m, row->m);
    const tilemm__sgemm_splitk_t *const splitk = &plan->as.vector.splitk;
    const int64_t ldc = p->c_split ? args->n : args->ldc;
    CHECK(p->n == e.n && p->n <= row->n && (row->n == 1 || p->n > row->n / 2), "%s: %d columns",
          plan->name, p->n);
    CHECK(p->m == e.m && p->k == e.k && p->ldx == (is_strided ? 1 : e.lda) &&
              p->x_k == (is_strided ? e.lda : 1) && p->c_m == (exchange ? 1 : ldc) &&
              p->c_n == (exchange ? ldc : 1) && p->z_k == (e.trans_b ? 1 : e.ldb) &&
              p->z_n == (e.trans_b ? e.ldb : 1) && (e.trans_a || !along_m) &&
              (!is_strided || (e.lda <= 4 && !row->facet)),
          "%s: X is %lld x %lld", plan->name, (long long)p->m, (long long)p->k);
    check_splits(plan->name, args->k, p->splits, p->k_split);
    CHECK(p->splits == 1 || p->k_split % 4 == 0, "%s: %u parts of %lld", plan->name, p->splits,
          (long long)p->k_split);
    CHECK((p->splits > 8) == (p->c_split > 0) && (splitk->blocks > 0) == (p->c_split > 0),
          "%s: %u parts", plan->name, p->splits);
    if (p->c_split)
        CHECK(p->c_split == args->batch_count * args->m * args->n &&
                  p->stride_c == args->m * args->n && p->alpha == 1 && p->beta == 0 &&
                  plan->workspace == (size_t)(p->splits * p->c_split) * sizeof(float) &&
                  splitk->splits == p->splits && splitk->count == p->c_split,
              "%s: %u parts", plan->name, p->splits);
    CHECK(p->per_matrix == per_matrix && p->blocks == per_matrix * args->batch_count * p->splits,
          "%s: %u blocks", plan->name, p->blocks);
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1) {
        check_division(plan->name, p->by_splits, block, p->splits);
        check_division(plan->name, p->by_per_matrix, block / p->splits, p->per_matrix);
    }
    CHECK(!row->facet || (tilemm__sgemm_is_aligned_a(&e) &&
                          (along_m || (p->z_k == 1 && (uintptr_t)p->z % 16 == 0 &&
                                       (p->n == 1 || p->z_n % 4 == 0)))),
          "%s: X or Z is not aligned", plan->name);
}

#endif
