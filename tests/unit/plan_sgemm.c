/* plan_sgemm.c - what holds of every plan of SGEMM on a GPU: for random problems, devices and
 * limits the workspace stays within the limit, there is a plan for any limit, the pieces of a
 * schedule cover the problem exactly once, and the same input gives the same plan.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/sgemm/candidates_cuda.h"
#include "lib/sgemm/choices_cuda.h"
#include "lib/sgemm/exchange.h"
#include "lib/sgemm/plan_cuda.h"
#include "lib/size.h"
#include "machines.h"
#include "half_plans.h"
#include "small_plans.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tests/support/sweep.h"

static tilemm__sgemm_args_t random_problem(void)
{
    float *const somewhere = (float *)((uintptr_t)1 << 30);
    tilemm__sgemm_args_t args = {.m = pick_size(15),
                                 .n = pick_size(15),
                                 .k = pick(20) ? pick_size(pick(4) ? 14 : 24) : 0,
                                 .trans_a = (int)pick(2),
                                 .trans_b = (int)pick(2),
                                 .alpha = 1.0f,
                                 .beta = (float)pick(2),
                                 .a = somewhere + pick(2),
                                 .b = somewhere + pick(2) * 4,
                                 .c = somewhere,
                                 .batch_count = pick(3) ? 1 : pick_size(10)};
    args.lda = tilemm__round_up(args.trans_a ? args.m : args.k, 1 + 3 * pick(2));
    args.ldb = tilemm__round_up(args.trans_b ? args.k : args.n, 1 + 3 * pick(2));
    args.ldc = args.n;
    args.stride_a = (args.lda * (args.trans_a ? args.k : args.m) + !pick(4)) * (pick(8) ? 1 : -1);
    args.stride_b = args.ldb * (args.trans_b ? args.n : args.k) + (pick(4) == 0);
    args.stride_c = args.ldc * args.m;
    return args;
}

/* The k-steps of sm90's tiles whose k is shared out: layers and tails make up a tile. */
static void check_stream_k(const char *name, const tilemm__sgemm_stream_k_t *walk,
                           int64_t batch_count, int64_t clusters)
{
    const int64_t tiles = (int64_t)walk->rows * walk->cols * batch_count;
    CHECK((int64_t)walk->whole + walk->shared == tiles, "%s: %u + %u tiles of %lld", name,
          walk->whole, walk->shared, (long long)tiles);
    if (walk->shared == 0)
        return;
    CHECK(walk->tail > 0 ? walk->layers * walk->layer + walk->tail == walk->steps
                         : (walk->layers - 1) * walk->layer < walk->steps &&
                               walk->layers * walk->layer >= walk->steps,
          "%s: %u layers of %u and %u of %u steps", name, walk->layers, walk->layer, walk->tail,
          walk->steps);
    CHECK((int64_t)walk->layers * walk->shared + walk->tail_clusters <= clusters,
          "%s: %u + %u clusters of %lld", name, walk->layers * walk->shared, walk->tail_clusters,
          (long long)clusters);
}

/* An operand of a part is copied if the copy engine cannot read it somewhere in the whole batch,
 * all of it, to where nothing else is. */
static void check_copies(const tilemm__sgemm_args_t *whole, const tilemm__sgemm_args_t *args,
                         const tilemm__sgemm_copies_t *copies, size_t begin,
                         const tilemm__sgemm_cuda_plan_t *plan)
{
    const int is_read[] = {tilemm__sgemm_is_readable_a(whole), tilemm__sgemm_is_readable_b(whole)};
    const int64_t numbers[2] = {args->m * args->k, args->n * args->k};
    unsigned blocks = 0;
    for (int i = 0; i < 2; i++) {
        const tilemm__sgemm_align_operand_t *operand = &copies->pass.operand[i];
        const int64_t rows = operand->rows * args->batch_count;
        CHECK(is_read[i] == (operand->blocks == 0), "%s: operand %d: %u blocks", plan->name, i,
              operand->blocks);
        blocks += operand->blocks;
        if (operand->blocks == 0)
            continue;
        CHECK(operand->rows * operand->cols == numbers[i] && operand->ld_to % 4 == 0 &&
                  operand->ld_to >= operand->cols,
              "%s: operand %d: %lld x %lld, rows at %lld", plan->name, i, (long long)operand->rows,
              (long long)operand->cols, (long long)operand->ld_to);
        CHECK(operand->count == rows * operand->ld_to &&
                  operand->blocks <= tilemm__div_up(operand->count, TILEMM__SGEMM_ALIGN_BLOCK) &&
                  (operand->blocks == TILEMM__SGEMM_MOST_BLOCKS || /* which stride */
                   (int64_t)operand->blocks * TILEMM__SGEMM_ALIGN_BLOCK >= operand->count),
              "%s: operand %d: %u blocks for %lld numbers", plan->name, i, operand->blocks,
              (long long)operand->count);
        CHECK(copies->at[i] % 16 == 0 && copies->at[i] >= begin, "%s: operand %d at %zu",
              plan->name, i, copies->at[i]);
        begin = copies->at[i] + (size_t)(rows * operand->ld_to) * sizeof(float);
        CHECK(begin <= plan->workspace, "%s: operand %d ends at %zu of %zu", plan->name, i, begin,
              plan->workspace);
    }
    CHECK(copies->pass.blocks == blocks, "%s: %u blocks", plan->name, copies->pass.blocks);
}

/* Tiles cover C, as the kernel sees it, without a row or column of them too many; clusters are
 * whole. */
static void check_fused(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_fused_t *p = &plan->as.fused.product;
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(plan->variant, args);
    const int64_t high = (walk.transposed ? row->n : row->m) * walk.cluster_m;
    const int64_t wide = (walk.transposed ? row->m : row->n) * walk.cluster_n;
    const tilemm__sgemm_args_t seen = tilemm__sgemm_exchange(args, walk.transposed);
    CHECK(p->store != TILEMM__SGEMM_STORE_BULK || (args->n % 4 == 0 && args->beta == 0),
          "%s: writes past rows of C", plan->name);
    CHECK(p->store == TILEMM__SGEMM_STORE_THREADS || (row->facet && p->splits == 1),
          "%s: has no memory for rows of C", plan->name);
    check_splits(plan->name, args->k, p->splits, p->k_split);
    if (tilemm__sgemm_reads_unaligned(plan->variant)) {
        CHECK(plan->as.fused.copies.pass.blocks == 0 && p->args.a == seen.a &&
                  p->args.a_array == seen.a_array && p->args.b == seen.b &&
                  p->args.b_array == seen.b_array && p->args.lda == seen.lda &&
                  p->args.ldb == seen.ldb,
              "%s: operands are not as they were given", plan->name);
        CHECK(seen.lda < 1 << 28 && seen.ldb < 1 << 28, "%s: rows of A %lld apart, of B %lld",
              plan->name, (long long)seen.lda, (long long)seen.ldb);
        /* Four maps for every fourth matrix leave the other operand four in all. */
        CHECK(!p->phased || ((!p->uneven_a || !seen.trans_a || seen.trans_b) &&
                             (!p->uneven_b || seen.trans_b || !seen.trans_a)),
              "%s: both operands have maps for every fourth matrix", plan->name);
        CHECK(!p->phased || (!seen.a_array && !seen.b_array), "%s: phases of an array", plan->name);
    } else {
        check_copies(&seen, &seen, &plan->as.fused.copies, p->partial_bytes, plan);
        CHECK(tilemm__sgemm_is_readable_a(&p->args) && tilemm__sgemm_is_readable_b(&p->args),
              "%s: the copy engine cannot read an operand", plan->name);
    }
    CHECK(p->args.m == (walk.transposed ? args->n : args->m) && p->rows * high >= p->args.m &&
              (p->rows - 1) * high < p->args.m && p->cols * wide >= p->args.n &&
              (p->cols - 1) * wide < p->args.n,
          "%s: %u x %u tiles of %lld x %lld", plan->name, p->rows, p->cols, (long long)p->args.m,
          (long long)p->args.n);
    CHECK((int64_t)p->count == p->rows * p->cols * args->batch_count * p->splits &&
              p->blocks % p->cluster == 0 && p->blocks <= (uint64_t)p->count * walk.cluster &&
              (walk.cluster == 1 ||
               (p->cluster == (unsigned)walk.cluster && (p->splits == 1 || p->partial_bytes > 0))),
          "%s: %u items, %llu blocks in clusters of %u", plan->name, p->count,
          (unsigned long long)p->blocks, p->cluster);
}

/* BF16 planes lie where nothing is that hard tiles need, and these cover C. */
static void check_rest(const tilemm__limits_t *limits, const tilemm__sgemm_cuda_plan_t *plan,
                       const tilemm__sgemm_planes_part_t *part)
{
    const tilemm__sgemm_planes_cuda_plan_t *planes = &plan->as.planes;
    const tilemm__sgemm_hard_t *hard = &part->rest.bf16;
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[part->rest.variant];
    const tilemm__sgemm_planes_product_t *product = &part->product;
    const size_t needed[] = {planes->a.notes,       planes->a.exact,  planes->a.groups,
                             planes->b.notes,       planes->b.exact,  planes->b.groups,
                             planes->density,       planes->counters, planes->hard_counters,
                             planes->partial,       planes->a.bf16,   planes->b.bf16,
                             planes->exact_counters};
    const int has_pieces = planes->exact_partial > 0; /* of exact lines */
    const size_t pieces = (size_t)part->rest.exact.blocks * TILEMM__SGEMM_EXACT_PIECES * 2;
    const size_t partial_end = has_pieces ? planes->exact_partial : plan->workspace;
    if (has_pieces)
        CHECK(planes->exact_partial % 16 == 0 &&
                  planes->exact_partial + pieces * TILEMM__SGEMM_EXACT_TILE * sizeof(float) <=
                      plan->workspace &&
                  planes->exact_counters + pieces * sizeof(unsigned) <= planes->partial &&
                  (planes->exact_counters + pieces * sizeof(unsigned) <=
                       planes->density + planes->zeros * sizeof(unsigned) ||
                   plan->keeps),
              "%s: pieces of exact lines at %zu and %zu of %zu", plan->name, planes->exact_counters,
              planes->exact_partial, plan->workspace);
    CHECK(!has_pieces || tilemm__sgemm_may_divide_k(limits), "%s: exact lines divided along k",
          plan->name);
    if (part->rest.blocks == 0)
        return;
    CHECK(hard->walk.rows == tilemm__div_up(product->m, row->m) &&
              hard->walk.cols == tilemm__div_up(product->n, row->n) &&
              hard->walk.steps == tilemm__div_up(product->k, row->k) &&
              hard->batch_count == product->batch_count,
          "%s: hard tiles of %u x %u", plan->name, hard->walk.rows, hard->walk.cols);
    check_stream_k(plan->name, &hard->walk, hard->batch_count, limits->cuda->sm_count);
    CHECK(part->rest.blocks == (unsigned)limits->cuda->sm_count, "%s: %u blocks", plan->name,
          part->rest.blocks);
    CHECK(hard->walk.shared == 0 || !hard->routes.no_bf16, "%s: no memory to share k out",
          plan->name);
    if (hard->routes.no_bf16)
        return;
    for (int i = 0; i < 2; i++) {
        const tilemm__sgemm_make_operand_t *of = i ? &hard->b.of : &hard->a.of;
        const size_t begin = i ? planes->b.bf16 : planes->a.bf16;
        const size_t end = begin + (size_t)(of->mn_planes * of->k_planes * hard->batch_count *
                                            TILEMM__SGEMM_HARD_BYTES);
        CHECK(begin % 16 == 0 && end <= plan->workspace, "%s: BF16 planes up to %zu of %zu",
              plan->name, end, plan->workspace);
        for (size_t j = 0; j < sizeof needed / sizeof *needed; j++)
            CHECK(needed[j] <= begin || needed[j] >= end, "%s: BF16 planes of operand %d",
                  plan->name, i);
    }
    const size_t bytes = (size_t)hard->walk.shared *
                         (hard->walk.layers + TILEMM__SGEMM_STREAM_K_TAILS) *
                         (size_t)(row->m * row->n) * sizeof(float);
    CHECK(planes->partial + bytes <= partial_end, "%s: sums of %zu bytes", plan->name, bytes);
    CHECK(planes->hard_counters +
                  hard->walk.shared * TILEMM__SGEMM_STREAM_K_COUNTERS * sizeof(unsigned) <=
              planes->exact_counters,
          "%s: counters of hard tiles", plan->name);
    CHECK(planes->exact_counters <= planes->density + planes->zeros * sizeof(unsigned) ||
              plan->keeps,
          "%s: counters that are not zeros", plan->name);
}

static void check_plan(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_ffma_plan_t *ffma = &plan->as.ffma;
    const tilemm__sgemm_planes_cuda_plan_t *planes = &plan->as.planes;
    /* FP16 planes made in the kernel take what they need. */
    CHECK(plan->workspace <= limits->workspace || !strncmp(plan->name, "sgemm_half_sm90_", 16),
          "%s: %zu bytes of %zu", plan->name, plan->workspace, limits->workspace);
    CHECK(plan->variant < 0 || !strncmp(plan->name, tilemm__sgemm_rows[plan->variant].name,
                                        strlen(tilemm__sgemm_rows[plan->variant].name)),
          "%s is variant %d", plan->name, plan->variant);
    switch (plan->method) {
    case TILEMM__SGEMM_FFMA:
        check_splits(plan->name, args->k, ffma->tiles.splits, ffma->tiles.k_split);
        if (ffma->fringe.blocks > 0) {
            const tilemm__sgemm_skinny_t *fringe = &ffma->fringe;
            const int64_t rows = fringe->transposed ? fringe->n : fringe->m;
            const int64_t cols = fringe->transposed ? fringe->m : fringe->n;
            check_splits(plan->name, args->k, fringe->splits, fringe->k_split);
            CHECK(ffma->tiles.args.m * ffma->tiles.args.n + rows * cols == args->m * args->n,
                  "%s: a fringe of %lld x %lld", plan->name, (long long)rows, (long long)cols);
        }
        break;
    case TILEMM__SGEMM_SKINNY:
        check_splits(plan->name, args->k, plan->as.skinny.product.splits,
                     plan->as.skinny.product.k_split);
        break;
    case TILEMM__SGEMM_FITTED: check_fitted(args, plan); break;
    case TILEMM__SGEMM_PACKED: check_packed(args, limits, plan); break;
    case TILEMM__SGEMM_VECTOR: check_vector(args, plan); break;
    case TILEMM__SGEMM_SLICEK: check_slicek(args, limits, plan); break;
    case TILEMM__SGEMM_OUTER: check_outer(args, limits, plan); break;
    case TILEMM__SGEMM_SHORT: check_short(args, limits, plan); break;
    case TILEMM__SGEMM_FUSED: check_fused(args, plan); break;
    case TILEMM__SGEMM_PLANES:
        for (int i = 0; i < 4; i++) {
            const int64_t k = i % 2 ? args->k % planes->k_part : planes->k_part;
            const int64_t batch =
                i / 2 ? args->batch_count % planes->batch_group : planes->batch_group;
            const tilemm__sgemm_planes_product_t *product = &planes->part[i / 2][i % 2].product;
            if (k == 0 || batch == 0)
                continue;
            CHECK(product->k == k && product->batch_count == batch && product->m == args->m &&
                      product->n == args->n,
                  "%s: part %d", plan->name, i);
            if (limits->cuda->cc == 90)
                check_stream_k(plan->name, &product->walk.stream_k, batch,
                               (int64_t)product->blocks / TILEMM__SGEMM_STREAM_K_PAIR);
            check_rest(limits, plan, &planes->part[i / 2][i % 2]);
        }
        break;
    default: break;
    }
}

/* An invariant product from planes: sums of parts of k, which depend on k alone, in one block, a
 * cluster or the workspace, and are added one after the other. */
static void check_invariant_from_planes(const tilemm__sgemm_args_t *args,
                                        const tilemm__limits_t *limits,
                                        const tilemm__sgemm_cuda_plan_t *plan)
{
    const char *const family = "sgemm_invariant_";
    const tilemm__sgemm_fused_t *const p = &plan->as.fused.product;
    const tilemm__sgemm_splitk_t *const splitk = &plan->as.fused.splitk;
    const int64_t few = args->k < 256 ? 1 : 4;
    const int64_t most = args->k >= 5 * 2048 ? args->k / 2048 : few;
    const int64_t part = (args->k + 32 * most - 1) / (32 * most) * 32;
    const int64_t parts = (args->k + part - 1) / part;
    if (plan->method == TILEMM__SGEMM_WARP) {
        (strncmp(plan->name, "sgemm_resident_", 15) ? check_warp : check_resident)(
            args, limits, plan, part, parts);
        return;
    }
    if (args->k > 512 && args->k <= 32768) {
        check_half(args, plan);
        return;
    }
    CHECK(plan->method == TILEMM__SGEMM_FUSED && !strncmp(plan->name, family, strlen(family)),
          "invariant, k %lld: %s", (long long)args->k, plan->name);
    CHECK(p->k_part == part && (p->splits == 1 || (p->splits == parts && p->k_split == part)),
          "%s, k %lld: %lld splits of %lld, parts of %lld, not %lld of %lld", plan->name,
          (long long)args->k, (long long)p->splits, (long long)p->k_split, (long long)p->k_part,
          (long long)parts, (long long)part);
    CHECK(splitk->blocks == 0 || splitk->variant == TILEMM__sgemm_splitk_sm75_256x1,
          "%s: parts are not added one after the other", plan->name);
}

/* One order of sums: chains over parts of k, which depend on k and the device alone, in a cluster;
 * of tiles with k-steps of 16 that the device's architecture has, whatever else the problem is, and
 * whatever variant is asked for. */
static void check_invariant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            const tilemm__sgemm_cuda_plan_t *plan)
{
    const int cc = limits->cuda->cc;
    const char *const family = cc >= 80 ? "sgemm_ffma_sm80_" : "sgemm_ffma_sm75_";
    const tilemm__sgemm_ffma_t *const tiles = &plan->as.ffma.tiles;
    const int64_t most = cc < 90 || args->k < 256 ? 1 : args->k < 1024 ? args->k / 128 : 8;
    const int64_t part = (args->k + 16 * most - 1) / (16 * most) * 16;
    if (args->k == 0)
        return;
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[plan->variant];
    const int strict = limits->math == TILEMM_MATH_FP32_STRICT;
    if (cc == 90 && args->k < (strict ? 256 : 64)) { /* one chain */
        const int is_tile = plan->method == TILEMM__SGEMM_FFMA && row->k == 16 &&
                            plan->as.ffma.tiles.splits == 1 && plan->as.ffma.fringe.blocks == 0;
        const int is_short = plan->method == TILEMM__SGEMM_SHORT && !strstr(plan->name, "tf32") &&
                             (args->k <= 16 || row->m * row->n > 16 * row->threads);
        const int is_small = plan->method == TILEMM__SGEMM_FITTED ||
                             plan->method == TILEMM__SGEMM_PACKED ||
                             plan->method == TILEMM__SGEMM_OUTER;
        CHECK((is_tile || is_short || is_small) && plan->workspace == 0, "%s, invariant: %s",
              limits->cuda->name, plan->name);
        CHECK(plan->method != TILEMM__SGEMM_OUTER || args->k < row->k,
              "%s, invariant: no zero is added to %lld products", plan->name, (long long)args->k);
        return;
    }
    if (cc == 90 && !strict) {
        check_invariant_from_planes(args, limits, plan);
        return;
    }
    const int64_t splits = (args->k + part - 1) / part;
    CHECK(plan->method == TILEMM__SGEMM_FFMA && !strncmp(plan->name, family, strlen(family)) &&
              tilemm__sgemm_rows[plan->variant].k == 16 && plan->as.ffma.fringe.blocks == 0 &&
              plan->workspace == 0,
          "%s, invariant: %s", limits->cuda->name, plan->name);
    CHECK(tiles->splits == splits && tiles->cluster == (unsigned)splits &&
              (splits == 1 || tiles->k_split == part),
          "%s, k %lld: %lld splits of %lld, not %lld of %lld", plan->name, (long long)args->k,
          (long long)tiles->splits, (long long)tiles->k_split, (long long)splits, (long long)part);
}

/* ---- planes that stay ------------------------------------------------------------------------ */

typedef struct {
    size_t begin, end;
} area_t;

static int overlap(area_t x, area_t y)
{
    return x.begin < y.end && y.begin < x.end;
}

/* The bytes of what stays of an operand: of all its room, hi, lo, notes. */
static void areas_of(const tilemm__sgemm_planes_places_t *at, const tilemm__sgemm_kept_t *kept,
                     const tilemm__sgemm_planes_operand_t *of, int64_t k, int products,
                     area_t *areas)
{
    const size_t line = (size_t)of->pitch * 2, word = sizeof(unsigned);
    const size_t blocks = (size_t)tilemm__div_up(k, TILEMM__SGEMM_PLANES_BLOCK);
    const size_t room = (size_t)kept->room, place = (size_t)kept->place;
    areas[0].begin = at->hi - place * line;
    areas[0].end = areas[0].begin + room * line;
    areas[1].begin = products > 1 ? at->lo - place * line : 0;
    areas[1].end = products > 1 ? areas[1].begin + room * line : 0;
    areas[2].begin = at->notes - place * word;
    areas[2].end = areas[2].begin + room * blocks * word;
}

/* Lines of a side: the room is that of a few strips. */
static tilemm__sgemm_kept_t random_kept(int64_t lines)
{
    enum { UNIT = TILEMM__SGEMM_PLANES_ALIGN_MN };
    const int64_t units = tilemm__div_up(lines, UNIT), before = pick(4);
    return (tilemm__sgemm_kept_t){.room = (before + units + pick(4)) * UNIT,
                                  .place = before * UNIT,
                                  .is_there = (int)pick(2)};
}

/* A product of several whose planes stay: they are at the same place whatever the other operand is,
 * nothing else is there, and what is not there is made. Returns whether the plan keeps them. */
static int check_kept(int i)
{
    tilemm__sgemm_args_t args = random_problem();
    tilemm__sgemm_kept_t kept[2];
    tilemm__limits_t limits = {.cuda = &gpus[pick(GPUS)],
                               .math =
                                   (tilemm_math_t)(pick(2) ? TILEMM_MATH_FP32 : TILEMM_MATH_TF32),
                               .workspace = SIZE_MAX,
                               .variant = "",
                               .kept = kept};
    static tilemm__sgemm_cuda_plan_t plan, other;
    area_t stay[6], others[4];
    int areas = 0, clash = 0;
    args.batch_count = 1;
    args.k = tilemm__max(args.k, 1);
    kept[0] = i % 3 ? random_kept(args.m) : (tilemm__sgemm_kept_t){0};
    kept[1] = i % 3 != 1 ? random_kept(args.n) : (tilemm__sgemm_kept_t){0};
    CHECK(tilemm__plan_sgemm_cuda(&args, &limits, &plan) == TILEMM_SUCCESS, "no plan");
    CHECK(!plan.keeps || plan.method == TILEMM__SGEMM_PLANES, "%s keeps planes", plan.name);
    if (!plan.keeps)
        return 0;
    const tilemm__sgemm_planes_cuda_plan_t *planes = &plan.as.planes;
    const tilemm__sgemm_planes_part_t *part = &planes->part[0][0];
    const tilemm__sgemm_make_planes_t *make = &part->make;
    const int products = part->product.products;
    CHECK(planes->k_part == args.k && planes->batch_group == 1, "%s: in parts", plan.name);
    unsigned blocks = 0;
    for (int s = 0; s < 2; s++) {
        const tilemm__sgemm_planes_places_t *at = s ? &planes->b : &planes->a;
        const tilemm__sgemm_make_operand_t *made = s ? &make->b : &make->a;
        const tilemm__sgemm_planes_operand_t *all = s ? &part->judge.b.of : &part->judge.a.of;
        const int64_t lines = s ? args.n : args.m;
        const int stays = kept[s].room > 0;
        CHECK(all->mn == lines && all->notes_pitch == (stays ? kept[s].room : made->to.notes_pitch),
              "%s: operand %d: notes of %lld lines", plan.name, s, (long long)all->notes_pitch);
        CHECK(made->mn == (kept[s].is_there ? 0 : lines) && made->mn_planes >= made->mn &&
                  made->mn_planes <= all->notes_pitch,
              "%s: operand %d: %lld lines", plan.name, s, (long long)made->mn);
        blocks += (unsigned)(made->mn_planes / TILEMM__SGEMM_PLANES_LINES *
                             tilemm__div_up(args.k, TILEMM__SGEMM_PLANES_BLOCK));
        others[2 * s] = (area_t){at->exact, at->exact + (size_t)lines * sizeof(unsigned)};
        if (!stays) {
            others[2 * s + 1] = (area_t){at->hi, at->hi + (size_t)(all->pitch * lines) * 2};
            continue;
        }
        others[2 * s + 1] = (area_t){planes->a.groups, plan.workspace};
        areas_of(at, &kept[s], all, args.k, products, stay + areas);
        CHECK(stay[areas].begin % 1024 == 0 && at->hi % 1024 == 0, "%s: operand %d: hi at %zu",
              plan.name, s, at->hi);
        areas += 3;
    }
    CHECK(make->blocks == blocks, "%s: %u blocks, not %u", plan.name, make->blocks, blocks);
    for (int x = 0; x < areas; x++) {
        for (int y = 0; y < x; y++)
            clash += overlap(stay[x], stay[y]);
        for (int y = 0; y < 4; y++)
            clash += overlap(stay[x], others[y]);
    }
    CHECK(clash == 0, "%s: %d clashes with what stays", plan.name, clash);
    /* Groups, densities and counters are zeros before they are added to. */
    CHECK(planes->zeros == 0 && planes->a.groups < planes->b.groups &&
              planes->b.groups < planes->density && planes->density < planes->counters &&
              planes->a.groups + (size_t)planes->zero.count * 16 == planes->partial,
          "%s: zeros", plan.name);
    /* The next product, with other lines of what does not stay. */
    if (i % 3 == 0)
        args.m = 1 + pick(2 * args.m);
    if (i % 3 == 1)
        args.n = 1 + pick(2 * args.n);
    CHECK(tilemm__plan_sgemm_cuda(&args, &limits, &other) == TILEMM_SUCCESS, "no plan");
    if (other.keeps)
        for (int s = 0; s < 2; s++) {
            const tilemm__sgemm_planes_places_t *x = s ? &planes->b : &planes->a;
            const tilemm__sgemm_planes_places_t *y = s ? &other.as.planes.b : &other.as.planes.a;
            CHECK(kept[s].room == 0 || (x->hi == y->hi && x->lo == y->lo && x->notes == y->notes),
                  "%s: operand %d has moved", plan.name, s);
        }
    return 1;
}

/* Of `lines` lines some, often a few more than whole tiles. */
static int64_t random_strip(int64_t lines)
{
    enum { TILE = 128, FEW = 4 };
    const int64_t some = 1 + (int64_t)pick((uint64_t)lines);
    return pick(2) ? some : tilemm__min(lines, some / TILE * TILE + 1 + (int64_t)pick(FEW));
}

/* A kernel that is asked for with a '+' has the same sums for any rows and columns of a product. */
static void check_strip(const tilemm__sgemm_args_t *whole, const tilemm__limits_t *limits)
{
    tilemm__sgemm_args_t strip = *whole;
    tilemm__sgemm_cuda_plan_t plan;
    strip.m = random_strip(whole->m);
    strip.n = random_strip(whole->n);
    if (tilemm__sgemm_copies_bytes(&strip) > 0) /* strips of the host's operands are aligned */
        return;
    tilemm__plan_sgemm_cuda(&strip, limits, &plan);
    const char *const what = strchr(plan.name, '+');
    CHECK(!what || !strcmp(what, "+aligned"), "%lld x %lld of %lld x %lld x %lld: %s, for %s",
          (long long)strip.m, (long long)strip.n, (long long)whole->m, (long long)whole->n,
          (long long)whole->k, plan.name, limits->variant);
}

/* Sums of outer products are the same however C is stored. */
static void forget_alignment_of_c(tilemm__sgemm_cuda_plan_t *plan)
{
    char *const suffix = strstr(plan->name, "_aligned");
    if (plan->method == TILEMM__SGEMM_OUTER && suffix)
        *suffix = 0;
}

/* A product whose operands are copied to where rows lie without gaps: asked for by its name and a
 * '+', a kernel that does not divide k is taken again, and does not either. Skinny and vector
 * kernels may need rows that are aligned. Returns whether there was anything to ask for. */
static int check_staged(void)
{
    tilemm__sgemm_args_t args = random_problem();
    tilemm__limits_t limits = {.cuda = &gpus[pick(GPUS)],
                               .math = (tilemm_math_t)pick(3),
                               .workspace = SIZE_MAX,
                               .variant = ""};
    static tilemm__sgemm_cuda_plan_t plan, staged;
    char name[64];
    args.a = args.b = args.c = NULL;
    args.lda += pick(5);
    args.ldb += pick(5);
    args.ldc += pick(5);
    tilemm__plan_sgemm_cuda(&args, &limits, &plan);
    if (plan.variant < 0 || strchr(plan.name, '+') || plan.method == TILEMM__SGEMM_SKINNY ||
        plan.method == TILEMM__SGEMM_VECTOR)
        return 0;
    forget_alignment_of_c(&plan);
    snprintf(name, sizeof(name), "%.*s+", (int)sizeof(name) - 2, plan.name);
    limits.variant = name;
    args.lda = args.trans_a ? args.m : args.k;
    args.ldb = args.trans_b ? args.k : args.n;
    args.ldc = args.n;
    tilemm__plan_sgemm_cuda(&args, &limits, &staged);
    /* Tensor cores have rows that are not aligned copied once more, up to a limit. */
    const double copies = tilemm__sgemm_copies_bytes(&args);
    char *const aligned = strstr(staged.name, "+aligned");
    if (aligned && copies > 0)
        *aligned = 0;
    forget_alignment_of_c(&staged);
    CHECK(!strcmp(plan.name, staged.name) || (plan.method == TILEMM__SGEMM_FUSED && copies > 0),
          "%lld x %lld x %lld: %s, staged %s", (long long)args.m, (long long)args.n,
          (long long)args.k, plan.name, staged.name);
    if (plan.method != TILEMM__SGEMM_PLANES && args.batch_count == 1)
        check_strip(&args, &limits);
    return 1;
}

/* An invariant product whose rows are too far apart for most kernels that read operands that are
 * not aligned has a plan without room for their copies, too. */
static void check_far_apart(void)
{
    tilemm__limits_t limits = {.invariance = TILEMM_INVARIANT, .variant = ""};
    tilemm__sgemm_args_t args = {
        .m = 100, .n = 100, .k = 100, .alpha = 1, .batch_count = 1, .ldb = 100, .ldc = 100};
    static tilemm__sgemm_cuda_plan_t plan;
    for (int i = 0; i < 3 * GPUS; i++) {
        limits.cuda = &gpus[i % GPUS];
        args.lda = i < GPUS ? ((int64_t)1 << 30) + 1 : ((int64_t)1 << 28) - i / GPUS % 2;
        for (int room = 0; room < 2; room++) {
            limits.workspace = room ? 1 << 20 : 0;
            const int status = tilemm__plan_sgemm_cuda(&args, &limits, &plan);
            CHECK(status == TILEMM_SUCCESS && plan.workspace <= limits.workspace,
                  "%s, workspace of %zu: status %d", limits.cuda->name, limits.workspace, status);
        }
    }
}

/* What was chosen before makes no other plan, for the same problem elsewhere either. */
static void check_choices(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                          const tilemm__sgemm_cuda_plan_t *plan)
{
    static struct tilemm__sgemm_choices of_device[GPUS];
    static tilemm__sgemm_cuda_plan_t again;
    tilemm__limits_t with_choices = *limits;
    tilemm__sgemm_args_t elsewhere = *args;
    with_choices.choices = &of_device[limits->cuda - gpus];
    elsewhere.alpha = 2;
    elsewhere.a += 64;
    elsewhere.b += 64;
    elsewhere.c += 64;
    for (int i = 0; i < 3; i++) {
        const tilemm__sgemm_args_t *const now = i < 2 ? args : &elsewhere;
        CHECK(tilemm__plan_sgemm_cuda(now, &with_choices, &again) == TILEMM_SUCCESS &&
                  !strcmp(plan->name, again.name) && plan->workspace == again.workspace,
              "%s, then %s", plan->name, again.name);
        check_plan(now, limits, &again);
    }
}

/* A batch of small matrices without gaps. */
static tilemm__sgemm_args_t packed_problem(void)
{
    const int64_t m = 1 + pick(50), n = 1 + pick(50), k = 1 + pick(60);
    const int trans_a = pick(2), trans_b = pick(2);
    return (tilemm__sgemm_args_t){.m = m,
                                  .n = n,
                                  .k = k,
                                  .trans_a = trans_a,
                                  .trans_b = trans_b,
                                  .alpha = 2.0f,
                                  .a = (const float *)(uintptr_t)(4096 + pick(8) / 7 * 4),
                                  .b = (const float *)(uintptr_t)8192,
                                  .c = (float *)(uintptr_t)16384,
                                  .lda = trans_a ? m : k,
                                  .ldb = trans_b ? k : n,
                                  .ldc = n,
                                  .stride_a = m * k,
                                  .stride_b = k * n,
                                  .stride_c = m * n,
                                  .batch_count = 1 + pick(20000)};
}

int main(void)
{
    /* The host's arithmetic is the same on all processors: an emulator may see less of it. */
    const int rounds = test_is_run_by_another() ? 3000 : 20000;
    int keep = 0, staged = 0, packed = 0;
    for (int i = 0; i < rounds; i++)
        staged += check_staged();
    CHECK(staged > rounds / 20, "only %d plans do not divide k", staged);
    for (int i = 0; i < rounds; i++)
        keep += check_kept(i);
    CHECK(keep > rounds / 20, "only %d plans keep planes", keep);
    for (int i = 0; i < rounds * 3 / 2; i++) {
        const tilemm__sgemm_args_t args = i % 8 == 7 ? packed_problem() : random_problem();
        const tilemm__limits_t limits = {
            .cuda = &gpus[pick(GPUS)],
            .math = (tilemm_math_t)pick(3),
            .invariance = i % 4 ? TILEMM_INVARIANCE_NONE : TILEMM_INVARIANT,
            .workspace = pick(3)   ? (size_t)1 << pick(36)
                         : pick(2) ? SIZE_MAX
                                   : 0,
            .variant = pick(4) ? "" : tilemm__sgemm_rows[pick(TILEMM__SGEMM_CUDA_VARIANTS)].name};
        static tilemm__sgemm_cuda_plan_t plan, again;
        const int is_planned = tilemm__plan_sgemm_cuda(&args, &limits, &plan) == TILEMM_SUCCESS;
        CHECK(is_planned, "%lld x %lld x %lld: no plan", (long long)args.m, (long long)args.n,
              (long long)args.k);
        check_plan(&args, &limits, &plan);
        packed += plan.method == TILEMM__SGEMM_PACKED;
        if (limits.invariance != TILEMM_INVARIANCE_NONE)
            check_invariant(&args, &limits, &plan);
        tilemm__plan_sgemm_cuda(&args, &limits, &again);
        CHECK(!strcmp(plan.name, again.name) && plan.workspace == again.workspace, "%s, then %s",
              plan.name, again.name);
        check_choices(&args, &limits, &plan);
    }
    CHECK(packed > rounds / 200, "only %d plans are for batches without gaps", packed);
    check_far_apart();
    return check_exit();
}
