/* half_plans.h - checks of plans of invariant products from FP16 planes, and of those in tiles of a
 * warp. For plan_sgemm.c.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_HALF_PLANS_H
#define TILEMM_TESTS_UNIT_HALF_PLANS_H

#include <string.h>

#include "lib/sgemm/candidates_cuda.h"
#include "lib/sgemm/exchange.h"
#include "lib/sgemm/plan_cuda.h"
#include "lib/size.h"
#include "small_plans.h"
#include "tests/support/check.h"

/* What FP16 planes do not carry, of tiles of a size: BF16 planes in parts of k of their own; and
 * the classes of all lines and the slots of all tiles lie one after the other in the workspace. */
static void check_left(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan,
                       const tilemm__sgemm_fused_t *rest, const tilemm__sgemm_carry_places_t *carry,
                       size_t begin, int slots)
{
    const size_t batch = (size_t)args->batch_count, tiles = (size_t)rest->rows * rest->cols * batch;
    const int64_t most = args->k >= 5 * 2048 ? args->k / 2048 : 4;
    const int64_t part = (args->k + 32 * most - 1) / (32 * most) * 32;
    CHECK(rest->k_part == part && (rest->splits == 1 || rest->k_split == part) &&
              rest->partial_bytes == 0 && rest->store == TILEMM__SGEMM_STORE_THREADS &&
              rest->blocks > 0,
          "%s: parts of %lld, splits of %lld of the rest", plan->name, (long long)rest->k_part,
          (long long)rest->k_split);
    CHECK(carry->a >= begin && carry->b >= carry->a + batch * (size_t)rest->args.m &&
              carry->left >= carry->b + batch * (size_t)rest->args.n &&
              plan->workspace >= carry->left + tiles * TILEMM__SGEMM_CARRY_SLOTS,
          "%s: classes at %zu, %zu, %zu of %zu from %zu on", plan->name, carry->a, carry->b,
          carry->left, plan->workspace, begin);
    CHECK(slots >= 1 && slots <= TILEMM__SGEMM_CARRY_SLOTS, "%s: %d slots", plan->name, slots);
}

/* FP16 planes: parts of k in one block, or in a cluster. */
static void check_half(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const int64_t part = (args->k + 32 * 4 - 1) / (32 * 4) * 32;
    const int64_t parts = (args->k + part - 1) / part;
    if (plan->method == TILEMM__SGEMM_HALF_PLANES) {
        const tilemm__sgemm_half_plan_t *const half = &plan->as.half;
        const tilemm__sgemm_make_half_t *const make = &half->make;
        const int64_t depth = make->k_pitch * parts * 2; /* bytes */
        const int64_t lines[2] = {make->a.to.lines * args->batch_count,
                                  make->b.to.lines * args->batch_count};
        size_t end = 0;
        CHECK(make->k_part == part && make->parts == parts && make->k_pitch >= part &&
                  make->k_pitch % 64 == 0 && half->product.parts == parts &&
                  make->a.to.lines >= args->m && make->b.to.lines >= args->n &&
                  make->blocks == (lines[0] + lines[1]) / TILEMM__SGEMM_HALF_LINES * parts,
              "%s, k %lld: %lld parts of %lld, not %lld of %lld", plan->name, (long long)args->k,
              (long long)make->parts, (long long)make->k_part, (long long)parts, (long long)part);
        for (int i = 0; i < 2; i++) {
            const size_t bytes = (size_t)(lines[i] * depth);
            const size_t words = (size_t)(lines[i] * parts);
            CHECK(half->high[i] >= end && half->low[i] >= half->high[i] + bytes &&
                      half->words[i] >= half->low[i] + bytes &&
                      half->most[i] >= half->words[i] + words * 2,
                  "%s: planes %d", plan->name, i);
            end = half->most[i] + words / TILEMM__SGEMM_HALF_LINES;
        }
        CHECK(half->product.rows == half->rest.rows && half->product.cols == half->rest.cols,
              "%s: other tiles", plan->name);
        check_left(args, plan, &half->rest, &half->carry, end, half->product.carry.slots);
        return;
    }
    const tilemm__sgemm_fused_plan_t *const fused = &plan->as.fused;
    const tilemm__sgemm_fused_t *const p = &fused->product;
    CHECK(plan->method == TILEMM__SGEMM_FUSED && !strncmp(plan->name, "sgemm_half_sm90_", 16),
          "invariant, k %lld: %s", (long long)args->k, plan->name);
    const size_t lines = (size_t)(args->batch_count * p->splits);
    CHECK(p->k_half == part && fused->splitk.blocks == 0 &&
              p->goes_on == (p->partial_bytes == 0 && p->splits == fused->rest.splits) &&
              (p->splits == 1 || (p->splits == parts && p->k_split == part &&
                                  (p->cluster == (unsigned)parts) == (p->partial_bytes == 0))),
          "%s, k %lld: %lld splits of %lld, parts of %lld, not %lld of %lld", plan->name,
          (long long)args->k, (long long)p->splits, (long long)p->k_split, (long long)p->k_half,
          (long long)parts, (long long)part);
    CHECK(p->rows == fused->rest.rows && p->cols == fused->rest.cols, "%s: other tiles",
          plan->name);
    check_left(args, plan, &fused->rest, &fused->carry, p->partial_bytes, p->carry.slots);
    CHECK((fused->parts.blocks > 0) == (p->partial_bytes > 0), "%s: %u blocks add up", plan->name,
          fused->parts.blocks);
    if (fused->parts.blocks > 0)
        CHECK(fused->parts.parts == parts && p->carry.slots == 1 &&
                  fused->parts_a >= fused->carry.left &&
                  fused->parts_b >= fused->parts_a + lines * (size_t)p->args.m &&
                  plan->workspace >= fused->parts_b + lines * (size_t)p->args.n,
              "%s: classes of parts at %zu, %zu of %zu", plan->name, fused->parts_a, fused->parts_b,
              plan->workspace);
}

/* Tiles of a warp, of any kernel: C or C', the parts of k, and where the workspace has their sums.
 */
static void check_tiles_of_warps(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                                 const tilemm__sgemm_cuda_plan_t *plan, int64_t part, int64_t parts)
{
    const tilemm__sgemm_warp_t *const p = &plan->as.warp.product;
    const tilemm__sgemm_splitk_t *const splitk = &plan->as.warp.splitk;
    const int exchanged = p->args.exchanged != args->exchanged;
    const tilemm__sgemm_args_t e = tilemm__sgemm_exchange(args, exchanged);
    const int half = args->k > 512 && args->k <= 32768;
    const int in_workspace = p->splits > 1 && !half;
    const int64_t half_part = (args->k + 32 * 4 - 1) / (32 * 4) * 32;
    const int64_t half_parts = (args->k + half_part - 1) / half_part;
    CHECK(p->args.m == e.m && p->args.n == e.n && p->args.k == e.k &&
              p->args.exchanged == e.exchanged && p->c_m == (exchanged ? 1 : args->ldc) &&
              p->c_n == (exchanged ? args->ldc : 1) && p->partial_m == (exchanged ? 1 : args->n) &&
              p->partial_n == (exchanged ? args->n : 1),
          "%s: C is %lld x %lld", plan->name, (long long)p->args.m, (long long)p->args.n);
    CHECK(p->half == half && p->k_part == part && p->parts == parts &&
              (!half || (p->k_half == half_part && p->parts_half == half_parts)),
          "%s, k %lld: parts of %d and %d", plan->name, (long long)args->k, p->k_half, p->k_part);
    CHECK((splitk->blocks > 0) == in_workspace &&
              plan->workspace == (in_workspace ? (size_t)parts * (size_t)args->batch_count *
                                                     (size_t)args->m * (size_t)args->n * 4
                                               : 0) &&
              plan->workspace <= limits->workspace,
          "%s: %zu bytes", plan->name, plan->workspace);
    CHECK(!in_workspace == !strstr(plan->name, "+splitk"), "%s: %d splits", plan->name, p->splits);
    CHECK(splitk->blocks == 0 ||
              (splitk->variant == TILEMM__sgemm_splitk_sm75_256x1 && splitk->splits == parts),
          "%s: parts are not added one after the other", plan->name);
    CHECK(p->wide_a <= tilemm__sgemm_is_aligned_a(&p->args) &&
              p->wide_b <= tilemm__sgemm_is_aligned_b(&p->args),
          "%s: not aligned", plan->name);
}

/* A resident kernel: each matrix, and each part of k where k is divided, has `shares` blocks, which
 * take all of its tiles, and find their places without divisions; up to eight vectors; warps that
 * share a tile if k has several parts; planes, steps and sums within shared memory. */
static void check_resident(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                           const tilemm__sgemm_cuda_plan_t *plan, int64_t part, int64_t parts)
{
    const tilemm__sgemm_warp_t *const p = &plan->as.warp.product;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const int along_m = strstr(plan->name, "x8_m") != NULL, divides = parts > 16;
    const int64_t slots = (int64_t)1 << p->slots_log2, groups = p->warps / slots;
    const int64_t tiles = tilemm__div_up(p->args.m, row->m);
    const int64_t items = args->batch_count * (divides ? parts : 1);
    const int64_t rounds = tilemm__div_up(tiles, p->shares * groups);
    const int64_t bytes_of_a_k = p->args.n * 3 * 2; /* three planes of 2 bytes */
    const int64_t k = divides ? part : args->k;
    check_tiles_of_warps(args, limits, plan, part, parts);
    CHECK(p->args.trans_a == along_m && p->args.n <= TILEMM__SGEMM_RESIDENT_COLUMNS,
          "%s: %lld vectors", plan->name, (long long)p->args.n);
    CHECK(slots == (parts > 1 && !divides ? 4 : 1) && p->splits == (divides ? parts : 1),
          "%s: %lld warps to a tile, %d splits of %lld parts", plan->name, (long long)slots,
          p->splits, (long long)parts);
    CHECK((p->warps == 4 || p->warps == 8) && p->per_matrix == tiles && p->shares > 0 &&
              p->blocks == p->shares * items && p->shares * groups * (rounds - 1) < tiles &&
              (p->shares - 1) * groups < tiles,
          "%s: %u blocks of %d warps for %u tiles of %lld matrices or parts", plan->name, p->blocks,
          p->warps, p->per_matrix, (long long)items);
    CHECK(p->planes * 16 >= tilemm__div_up(k, 32) * 32 * bytes_of_a_k &&
              p->shared >= sizeof(tilemm__sgemm_resident_t) + p->planes * 16 +
                               (size_t)(p->warps * tilemm__resident_stages(row->m) *
                                        tilemm__warp_words(row->m, !along_m)) *
                                   4 +
                               (slots > 1 ? (size_t)(groups * 5 * row->m * p->args.n) * 4 : 0) &&
              p->shared <= limits->cuda->shared_per_block,
          "%s, k %lld: %u bytes of shared memory, %u times 16 of planes", plan->name,
          (long long)args->k, p->shared, p->planes);
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1) {
        check_division(plan->name, p->by_shares, block, p->shares);
        check_division(plan->name, p->by_splits, block / p->shares, p->splits);
    }
}

/* Tiles of a warp: blocks cover C or C' and, where they share them, the parts of k of BF16 planes,
 * each once; warps have a part of FP16 planes each, or a cluster's blocks, if they are a team;
 * blocks find their places without divisions. */
static void check_warp(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_cuda_plan_t *plan, int64_t part, int64_t parts)
{
    const tilemm__sgemm_warp_t *const p = &plan->as.warp.product;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[p->variant];
    const tilemm__sgemm_args_t *const e = &p->args;
    const int half = p->half, half_parts = p->parts_half;
    const int team = !strncmp(plan->name, "sgemm_team_", 11);
    const int64_t slots = (int64_t)1 << p->slots_log2;
    const int64_t tiles_m = tilemm__div_up(e->m, row->m), tiles_n = tilemm__div_up(e->n, row->n);
    const int64_t tiles_short = tilemm__min(tiles_m, tiles_n);
    const int64_t matrix = tiles_m * tiles_n;
    const int64_t tiles = matrix * args->batch_count;
    check_tiles_of_warps(args, limits, plan, part, parts);
    CHECK(slots <= 4 && (!half || half_parts <= slots) && slots < 2 * (half ? half_parts : parts),
          "%s: %lld warps for %lld parts", plan->name, (long long)slots, (long long)parts);
    CHECK(team ? p->splits == (half ? 4 : parts) && p->splits > 1 && (!half || half_parts == 4)
               : p->parts_split * (p->splits - 1) < parts && p->parts_split * p->splits >= parts &&
                     (p->splits == 1 || (!half && p->parts_split % slots == 0)),
          "%s: %d splits of %d parts of %lld", plan->name, p->splits, p->parts_split,
          (long long)parts);
    CHECK(p->tiles_short == tiles_short && p->m_is_short == (tiles_m <= tiles_n) &&
              p->per_matrix == matrix && p->tiles == tiles &&
              p->blocks == (team ? tiles : tilemm__div_up(tiles, 4 / slots)) * p->splits,
          "%s: %u tiles, %u blocks", plan->name, p->tiles, p->blocks);
    for (int64_t block = 0; block < p->blocks; block += p->blocks / 7 + 1)
        check_division(plan->name, p->by_splits, block, p->splits);
    for (int64_t tile = 0; tile < tiles; tile += tiles / 7 + 1) {
        check_division(plan->name, p->by_per_matrix, tile, matrix);
        check_division(plan->name, p->by_tiles_short, tile % matrix, tiles_short);
    }
}

#endif
