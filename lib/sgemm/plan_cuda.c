/* plan_cuda.c - see plan_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <stdio.h>
#include <string.h>

#include "candidates_cuda.h"
#include "lib/size.h"
#include "plan_fused.h"
#include "plan_planes_cuda.h"

enum {
    SM75_FIRST = TILEMM__sgemm_ffma_sm75_128x128x16_nn,
    SM80_FIRST = TILEMM__sgemm_ffma_sm80_128x128x16_nn,
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x1_k,
    SMALL_BATCH_FIRST = TILEMM__sgemm_small_batch_sm75_4x4x4_nn,
    ROWS_OF_TILE = 4, /* by transposes */
    MOST_CLUSTER = TILEMM__SGEMM_MOST_CLUSTER,
    MOST_BLOCKS = 1 << 30 /* of a grid that strides over its items; the limit is twice that */
};

/* ---- what methods share --------------------------------------------------------------------- */

/* Among the rows of a tile, that of a problem's transposes. */
static int transposes(const tilemm__sgemm_args_t *args)
{
    return args->trans_a * 2 + args->trans_b;
}

/* The number of ranges that k falls into if there may be `splits`; *k_split is their length. */
static int64_t split(int64_t k, int64_t splits, int64_t unit, int64_t *k_split)
{
    *k_split = tilemm__round_up(tilemm__div_up(k, splits), unit);
    return tilemm__div_up(k, *k_split);
}

/* ---- C = beta C ----------------------------------------------------------------------------- */

static void fill_scale(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    enum { THREADS = 256 };
    int64_t columns, blocks;
    unsigned across = 1;

    while (across < THREADS && (int64_t)across * TILEMM__SGEMM_SCALE_COLUMNS < args->n)
        across *= 2;
    columns = (int64_t)across * TILEMM__SGEMM_SCALE_COLUMNS;
    plan->method = TILEMM__SGEMM_SCALE;
    plan->as.scale = (tilemm__sgemm_scale_t){
        .args = *args,
        .tiles = tilemm__div_up(args->n, columns),
        .groups = tilemm__div_up(args->batch_count * args->m, THREADS / across),
        .variant = TILEMM__sgemm_scale_sm75,
        .across = across,
        .down = THREADS / across,
    };
    blocks = plan->as.scale.tiles * plan->as.scale.groups;
    plan->as.scale.blocks = (unsigned)tilemm__min(blocks, MOST_BLOCKS);
}

/* ---- FP32 multiply-adds on tiles --------------------------------------------------------------
 */

/* The splits of a tile that are tried: none; those of a cluster; and the numbers that give each
 * multiprocessor 1, 2, 3 ... tiles. */
static int64_t try_splits(int i, double count, const tilemm__cuda_traits_t *traits)
{
    const int fill = i - MOST_CLUSTER;

    if (i < MOST_CLUSTER)
        return i + 1;
    return (int64_t)((double)traits->sm_count * (fill + 1) / count);
}

/* Whether a device has a row. sm80 leaves to sm75's kernel the narrow tiles only. */
static int has_ffma(const tilemm__sgemm_row_t *row, int variant, int cc)
{
    const int narrow = (row->m == 32) != (row->n == 32);

    return variant >= SM80_FIRST ? cc >= 80 : cc < 80 || narrow;
}

/* The tile and the splits that promise to take the least time. */
static int try_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                    tilemm__sgemm_trial_t *trial)
{
    const tilemm__cuda_traits_t *traits = limits->cuda;
    const double bytes =
        (double)args->m * (double)args->n * (double)args->batch_count * sizeof(float);
    int found = 0;

    for (int v = SM75_FIRST + transposes(args); v < SKINNY_FIRST; v += ROWS_OF_TILE) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const double count = (double)tilemm__div_up(args->m, row->m) *
                             (double)tilemm__div_up(args->n, row->n) * (double)args->batch_count;
        const int tries = MOST_CLUSTER + tilemm__sgemm_resident_blocks(row, traits);

        if (!has_ffma(row, v, traits->cc) || !tilemm__sgemm_is_allowed(limits, v))
            continue;
        for (int i = 0; i < tries; i++) {
            const int64_t wanted = try_splits(i, count, traits);
            tilemm__sgemm_trial_t now = {.variant = v};

            if (i > 0 && (wanted < 2 || !tilemm__sgemm_may_divide_k(limits)))
                continue;
            now.splits = split(args->k, wanted, row->k, &now.k_split);
            now.cluster =
                v >= SM80_FIRST && traits->cc >= 90 && now.splits > 1 && now.splits <= MOST_CLUSTER;
            if (now.splits > 1 && !now.cluster &&
                bytes * (double)now.splits > (double)limits->workspace) {
                const int64_t fewer = (int64_t)((double)limits->workspace / bytes);

                if (fewer < 2)
                    continue;
                now.splits = split(args->k, fewer, row->k, &now.k_split);
            }
            now.cycles = tilemm__sgemm_cuda_estimate(&now, args, traits);
            if (!found || now.cycles < trial->cycles)
                *trial = now;
            found = 1;
        }
    }
    return found ? TILEMM_SUCCESS : TILEMM_NOT_SUPPORTED;
}

static void fill_tiles(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_trial_t *trial, tilemm__sgemm_ffma_t *tiles)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const int sm80 = trial->variant >= SM80_FIRST;

    *tiles = (tilemm__sgemm_ffma_t){
        .args = *args,
        .variant = trial->variant,
        .splits = trial->splits,
        .k_split = trial->k_split,
        .cluster = trial->cluster ? (unsigned)trial->splits : 1,
        .tiles_m = (uint64_t)tilemm__div_up(args->m, row->m),
        .tiles_n = (uint64_t)tilemm__div_up(args->n, row->n),
        .partial_bytes = tilemm__sgemm_partial_bytes(args, trial),
        .concurrent = sm80 && limits->cuda->cc >= 90,
    };
    tiles->blocks =
        tiles->tiles_m * tiles->tiles_n * (uint64_t)args->batch_count * (uint64_t)trial->splits;
    if (!sm80) {
        tiles->aligned_a =
            !args->a_array && args->m >= row->m && (!args->trans_a || args->m % 4 == 0) &&
            tilemm__is_aligned(args->a, args->lda, args->stride_a, args->batch_count);
        tiles->aligned_b =
            !args->b_array && args->n >= row->n && (args->trans_b || args->n % 4 == 0) &&
            tilemm__is_aligned(args->b, args->ldb, args->stride_b, args->batch_count);
        tiles->aligned_c =
            args->n % 4 == 0 &&
            (trial->splits > 1 ||
             (!args->c_array &&
              tilemm__is_aligned(args->c, args->ldc, args->stride_c, args->batch_count)));
    }
}

static void fill_ffma(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                      const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_FFMA;
    fill_tiles(args, limits, trial, &plan->as.ffma.tiles);
    tilemm__sgemm_fill_splitk(args, limits, trial, &plan->as.ffma.splitk);
    plan->as.ffma.fringe.blocks = 0;
    plan->workspace = plan->as.ffma.tiles.partial_bytes;
}

/* ---- skinny --------------------------------------------------------------------------------- */

/* Measured on an H200: blocks for each multiprocessor, so that enough reads are under way; the
 * least k of a split, which pays for what adding up costs; the least k that keeps the kernel
 * reading; and up to how many rows its blocks had better be small. */
enum { SKINNY_BLOCKS = 2, SKINNY_SPLIT_K = 256, SKINNY_LEAST_K = 256, SKINNY_FEW_ROWS = 1024 };

static int is_skinny(const tilemm__sgemm_args_t *args)
{
    return args->k >= SKINNY_LEAST_K &&
           tilemm__min(args->m, args->n) <= TILEMM__SGEMM_SKINNY_MOST_N;
}

/* The skinny problem that `args` is: C' if it has fewer rows than columns. */
static tilemm__sgemm_skinny_t skinny_of(const tilemm__sgemm_args_t *args)
{
    const int transposed = args->m < args->n;
    tilemm__sgemm_skinny_t p = {
        .m = transposed ? args->n : args->m,
        .n = transposed ? args->m : args->n,
        .k = args->k,
        .alpha = args->alpha,
        .beta = args->beta,
        .x = transposed ? args->b : args->a,
        .z = transposed ? args->a : args->b,
        .c = args->c,
        .x_array = transposed ? args->b_array : args->a_array,
        .z_array = transposed ? args->a_array : args->b_array,
        .c_array = args->c_array,
        .x_along_k = transposed ? args->trans_b : !args->trans_a,
        .transposed = transposed,
        .ldx = transposed ? args->ldb : args->lda,
        .c_m = transposed ? 1 : args->ldc,
        .c_n = transposed ? args->ldc : 1,
        .stride_x = transposed ? args->stride_b : args->stride_a,
        .stride_z = transposed ? args->stride_a : args->stride_b,
        .stride_c = args->stride_c,
        .batch_count = args->batch_count,
    };
    const int z_along_k = transposed ? !args->trans_a : args->trans_b;
    const int64_t ldz = transposed ? args->lda : args->ldb;

    p.z_k = z_along_k ? 1 : ldz;
    p.z_n = z_along_k ? ldz : 1;
    /* A vector's elements lie side by side however it is called. */
    if (p.m == 1 && !p.x_along_k && p.ldx == 1)
        p.x_along_k = 1;
    /* One column has no stride from column to column: let it not spoil aligned_z. */
    if (p.n == 1 && p.z_k == 1)
        p.z_n = 0;
    p.aligned_x = !p.x_array && tilemm__is_aligned(p.x, p.ldx, p.stride_x, p.batch_count);
    p.aligned_z = !p.z_array &&
                  tilemm__is_aligned(p.z, p.z_k == 1 ? p.z_n : p.z_k, p.stride_z, p.batch_count);
    return p;
}

/* The row for a problem, with 128 rows of X to a block or with 16. */
static int skinny_variant(const tilemm__sgemm_skinny_t *p, int few)
{
    const int columns = p->n <= 1 ? 0 : p->n <= 4 ? 1 : p->n <= 8 ? 2 : 3;
    const int first = p->x_along_k ? SKINNY_FIRST : TILEMM__sgemm_skinny_sm75_128x1_m;

    return first + (few * 4 + columns) * 2 + p->aligned_x;
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
    int64_t splits = tilemm__min(SKINNY_BLOCKS * traits->sm_count / tiles,
                                 tilemm__min(p->k / SKINNY_SPLIT_K, most_splits));
    const int64_t cluster = traits->cc >= 90 ? skinny_cluster(tiles, splits, traits) : 0;
    size_t bytes = 0;

    p->cluster = 1;
    p->partial_bytes = 0;
    if (cluster > 1) {
        p->splits = split(p->k, cluster, 4, &p->k_split);
        p->cluster = (unsigned)p->splits;
    } else {
        for (; splits > 1; splits /= 2) { /* until there is room */
            p->splits = split(p->k, splits, 4, &p->k_split);
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

static int try_skinny(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                      tilemm__sgemm_trial_t *trial)
{
    const tilemm__sgemm_skinny_t p = skinny_of(args);
    const int few = p.m <= SKINNY_FEW_ROWS;

    *trial = (tilemm__sgemm_trial_t){.variant = skinny_variant(&p, few), .splits = 1};
    if (!tilemm__sgemm_is_allowed(limits, trial->variant))
        trial->variant = skinny_variant(&p, !few);
    trial->cycles = tilemm__sgemm_cuda_estimate(trial, args, limits->cuda);
    return tilemm__sgemm_is_allowed(limits, trial->variant) ? TILEMM_SUCCESS : TILEMM_NOT_SUPPORTED;
}

static void fill_skinny(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                        const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    enum { ZERO_THREADS = 256, ZERO_BYTES = 16 /* of a thread */ };
    tilemm__sgemm_skinny_t *const product = &plan->as.skinny.product;
    size_t counter_bytes;

    plan->method = TILEMM__SGEMM_SKINNY;
    *product = skinny_of(args);
    product->variant = trial->variant;
    counter_bytes = split_skinny(limits->cuda, INT64_MAX, limits->workspace, product);
    plan->workspace = product->partial_bytes + counter_bytes;
    plan->as.skinny.zero = (tilemm__sgemm_zero_t){
        .count = (int64_t)(counter_bytes / ZERO_BYTES),
        .variant = TILEMM__sgemm_zero_sm75,
        .blocks = (unsigned)tilemm__div_up((int64_t)(counter_bytes / ZERO_BYTES), ZERO_THREADS),
    };
}

/* ---- tiles and a skinny fringe ----------------------------------------------------------------
 */

/* Columns or rows that whole tiles leave over are better off with the skinny kernel if they are
 * few: it is concurrent with the tiles, where these leave multiprocessors free, and needs few
 * blocks. Neither uses workspace. Fills the plan and returns its cycles if these are fewer than
 * `best`. */
static double try_fringe(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                         double best, tilemm__sgemm_cuda_plan_t *plan)
{
    enum { WHOLE = 128, FRINGE_SPLITS = 2 };
    tilemm__limits_t none = *limits;

    none.workspace = 0;
    if (limits->cuda->cc < 90 || args->a_array || args->b_array || args->c_array)
        return best;
    for (int rows = 0; rows < 2; rows++) {
        const int64_t over = (rows ? args->m : args->n) % WHOLE;
        tilemm__sgemm_args_t whole = *args, fringe = *args;
        tilemm__sgemm_trial_t tiles, skinny = {.splits = 1};
        tilemm__sgemm_skinny_t *const p = &plan->as.ffma.fringe;
        double cycles;

        if (over == 0 || over > TILEMM__SGEMM_SKINNY_MOST_N || over == (rows ? args->m : args->n))
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
        skinny.variant = SKINNY_FIRST;
        if (!is_skinny(&fringe) || try_ffma(&whole, &none, &tiles) != TILEMM_SUCCESS)
            continue;
        cycles = tiles.cycles + tilemm__sgemm_cuda_estimate(&skinny, &fringe, limits->cuda);
        if (cycles < best) {
            best = cycles;
            fill_ffma(&whole, limits, &tiles, plan);
            plan->variant = tiles.variant;
            plan->as.ffma.tiles.lets_start = 1;
            *p = skinny_of(&fringe);
            p->variant = skinny_variant(p, p->m <= SKINNY_FEW_ROWS);
            p->fringe = 1;
            split_skinny(limits->cuda, FRINGE_SPLITS, 0, p);
        }
    }
    return best;
}

/* ---- small batch ------------------------------------------------------------------------------
 */

/* The fewest matrices of a batch for which it pays to have several to a block. */
enum { SMALL_LEAST_BATCH = 8 };

/* The row for a small batch; -1 if the problem is none, or no row is allowed. */
static int small_batch_variant(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    const int64_t size = tilemm__max(tilemm__max(args->m, args->n), args->k);

    if (args->batch_count < SMALL_LEAST_BATCH)
        return -1;
    for (int v = SMALL_BATCH_FIRST + transposes(args); v < TILEMM__sgemm_fused_sm90_128x128x32_nn;
         v += ROWS_OF_TILE)
        if (size <= tilemm__sgemm_rows[v].m && tilemm__sgemm_is_allowed(limits, v))
            return v;
    return -1;
}

static void fill_small_batch(const tilemm__sgemm_args_t *args, int variant,
                             tilemm__sgemm_cuda_plan_t *plan)
{
    plan->method = TILEMM__SGEMM_SMALL_BATCH;
    plan->variant = variant;
    plan->as.small_batch = (tilemm__sgemm_small_batch_t){
        .args = *args,
        .aligned_a = !args->a_array && tilemm__is_aligned(args->a, args->lda, args->stride_a, 2),
        .aligned_b = !args->b_array && tilemm__is_aligned(args->b, args->ldb, args->stride_b, 2),
        .aligned_c = !args->c_array && tilemm__is_aligned(args->c, args->ldc, args->stride_c, 2),
        .variant = variant,
    };
}

/* ---- the choice ------------------------------------------------------------------------- */

/* Elements of C, and of A and B with their padding, that no device holds. Up to these the other
 * methods' sizes in bytes fit 64 bits. The workspace query passes on whatever sizes it is given. */
static const double most_of_c = 1e15, most_of_a_and_b = 1e17;

static int is_beyond_memory(const tilemm__sgemm_args_t *args)
{
    const double m = (double)args->m, n = (double)args->n, batch = (double)args->batch_count;
    const double padding = 256;

    return m * n * batch > most_of_c ||
           (m + n + padding) * (double)args->k * batch > most_of_a_and_b;
}

/* The better of two methods so far: one that was found is better than none. */
static int is_better(int status, const tilemm__sgemm_trial_t *trial, double best)
{
    return status == TILEMM_SUCCESS && (best < 0 || trial->cycles < best);
}

static int choose(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                  tilemm__sgemm_cuda_plan_t *plan)
{
    typedef void fill_t(const tilemm__sgemm_args_t *, const tilemm__limits_t *,
                        const tilemm__sgemm_trial_t *, tilemm__sgemm_cuda_plan_t *);
    const int small_batch = small_batch_variant(args, limits);
    tilemm__sgemm_trial_t trial, best;
    fill_t *fill = NULL;

    if (small_batch >= 0) {
        fill_small_batch(args, small_batch, plan);
        return TILEMM_SUCCESS;
    }
    best.cycles = -1;
    if (is_skinny(args) && try_skinny(args, limits, &trial) == TILEMM_SUCCESS) {
        best = trial;
        fill = fill_skinny;
    } else if (try_ffma(args, limits, &trial) == TILEMM_SUCCESS) {
        best = trial;
        fill = fill_ffma;
        best.cycles = try_fringe(args, limits, best.cycles, plan);
        if (best.cycles < trial.cycles)
            fill = NULL; /* it is filled */
    }
    if (is_better(tilemm__sgemm_try_fused(args, limits, &trial), &trial, best.cycles)) {
        best = trial;
        fill = tilemm__sgemm_fill_fused;
    }
    if (fill != fill_skinny && !(is_skinny(args) && !*limits->variant) &&
        is_better(tilemm__sgemm_try_planes(args, limits, &trial), &trial, best.cycles)) {
        best = trial;
        fill = tilemm__sgemm_fill_planes;
    }
    if (best.cycles < 0)
        return TILEMM_NOT_SUPPORTED;
    if (fill) {
        fill(args, limits, &best, plan);
        plan->variant = best.variant;
    }
    return TILEMM_SUCCESS;
}

/* ---- the name ---------------------------------------------------------------------------------
 */

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

    snprintf(plan->name, sizeof plan->name, "%s",
             plan->variant < 0 ? "" : tilemm__sgemm_rows[plan->variant].name);
    switch (plan->method) {
    case TILEMM__SGEMM_NOTHING:
    case TILEMM__SGEMM_SCALE:
    case TILEMM__SGEMM_SMALL_BATCH: break;
    case TILEMM__SGEMM_FFMA:
        add_splits(plan, ffma->tiles.splits, ffma->tiles.cluster);
        if (ffma->fringe.blocks > 0)
            add_name(plan, "+skinny", ffma->fringe.n);
        break;
    case TILEMM__SGEMM_SKINNY:
        add_splits(plan, plan->as.skinny.product.splits, plan->as.skinny.product.cluster);
        break;
    case TILEMM__SGEMM_FUSED:
        add_splits(plan, plan->as.fused.product.splits, plan->as.fused.product.cluster);
        break;
    case TILEMM__SGEMM_PLANES:
        if (plan->as.planes.k_part < args->k)
            add_name(plan, "+k", plan->as.planes.k_part);
        if (plan->as.planes.part[0][0].product.shared > 0)
            snprintf(plan->name + strlen(plan->name), sizeof plan->name - strlen(plan->name),
                     "+streamk");
        break;
    }
}

int tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__limits_t any = *limits;
    int status = TILEMM_SUCCESS;

    any.variant = "";
    if (!limits->variant)
        limits = &any;
    plan->method = TILEMM__SGEMM_NOTHING;
    plan->variant = -1;
    plan->workspace = 0;
    if (args->k > TILEMM__SGEMM_MOST_K)
        return TILEMM_NOT_SUPPORTED;
    if (args->k == 0 && args->beta != 1.0f) {
        fill_scale(args, plan);
        plan->variant = TILEMM__sgemm_scale_sm75;
    } else if (args->k > 0 && is_beyond_memory(args)) { /* any tile will do */
        tilemm__sgemm_trial_t trial = {.variant = SM75_FIRST + transposes(args)};

        trial.splits = split(args->k, 1, tilemm__sgemm_rows[trial.variant].k, &trial.k_split);
        fill_ffma(args, limits, &trial, plan);
        plan->variant = trial.variant;
    } else if (args->k > 0) {
        status = choose(args, limits, plan);
        if (status != TILEMM_SUCCESS)
            status = choose(args, &any, plan);
    }
    if (status == TILEMM_SUCCESS)
        set_name(args, plan);
    return status;
}
