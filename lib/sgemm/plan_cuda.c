/* plan_cuda.c - see plan_sgemm_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernels/sgemm/cuda/ffma.h"
#include "lib/size.h"

/* A tile of one of the two kernels, and what that makes of a multiprocessor that has warps enough:
 * the part of its peak rate. Small squares read more of Ms and Ns for each multiply-add. The kernel
 * for compute capability 8.0 leaves only the narrow tiles to the other one. */
typedef struct {
    int m, n, k, groups, threads, blocks, stages;
    int sm80, number; /* which kernel's, and which of its tiles */
    int least_cc, most_cc;
    double peak;
    const char *name;
} tile_t;

enum { SM75_TILES = TILEMM__SGEMM_TILE_COUNT, SM80_TILES = TILEMM__SGEMM_SM80_TILE_COUNT };

#define THREADS(m, n, quads_m, quads_n) ((m) / (quads_m) * ((n) / (quads_n)) / 16)
#define SM75_PEAK(squares) ((squares) == 4 ? 0.77 : (squares) == 2 ? 0.65 : 0.43)
#define SM80_PEAK(m, n, squares, groups)                                                           \
    ((squares) == 1 ? 0.579 : (groups) > 1 ? 0.852 : (n) == 128 ? 0.99 : (m) == 128 ? 0.906 : 0.947)
#define IS_NARROW(m, n) (((m) == 32) != ((n) == 32))
#define SM75_TILE(m, n, k, quads_m, quads_n, blocks)                                               \
    {m,                                                                                            \
     n,                                                                                            \
     k,                                                                                            \
     1,                                                                                            \
     THREADS(m, n, quads_m, quads_n),                                                              \
     blocks,                                                                                       \
     2,                                                                                            \
     0,                                                                                            \
     TILEMM__SGEMM_##m##X##n##X##k,                                                                \
     75,                                                                                           \
     IS_NARROW(m, n) ? INT_MAX : 79,                                                               \
     SM75_PEAK((quads_m) * (quads_n)),                                                             \
     #m "x" #n "x" #k},
#define SM80_TILE(m, n, k, quads_m, quads_n, groups, stages, blocks)                               \
    {m,                                                                                            \
     n,                                                                                            \
     k,                                                                                            \
     groups,                                                                                       \
     THREADS(m, n, quads_m, quads_n) * (groups),                                                   \
     blocks,                                                                                       \
     stages,                                                                                       \
     1,                                                                                            \
     TILEMM__SGEMM_SM80_##m##X##n##X##k,                                                           \
     80,                                                                                           \
     INT_MAX,                                                                                      \
     SM80_PEAK(m, n, (quads_m) * (quads_n), groups),                                               \
     #m "x" #n "x" #k},
static const tile_t tiles[SM75_TILES + SM80_TILES] = {TILEMM__SGEMM_FFMA_TILES(SM75_TILE)
                                                          TILEMM__SGEMM_FFMA_SM80_TILES(SM80_TILE)};

/* The estimate's other figures, measured on an H200, in clock cycles: what a launch takes; how much
 * less it takes if the next kernel is set up meanwhile; what each wave of blocks takes beside its
 * multiply-adds (index arithmetic, the first loads, the last stores), and what more in clusters; a
 * second kernel in the stream; what a warp's copies of 4 bytes take; bytes that a multiprocessor
 * moves in a cycle, that it reads from the others of a cluster, and of groups' sums to shared
 * memory and back; the warps for each scheduler with which half the peak is reached, and in tiles
 * of several groups; and by how many blocks a multiprocessor may have more than its share for each
 * block of a cluster. A cluster goes to a part of the device that has so many multiprocessors. */
static const double launch = 400, early = 850, per_wave = 3000, in_cluster = 1250;
static const double second_kernel = 2650, narrow_copy = 0.43;
static const double bytes_per_cycle = 17.5, cluster_bytes = 9.5, group_bytes = 52;
static const double half_warps = 0.585, half_in_groups = 0.646, cluster_imbalance = 0.031;
enum { CLUSTER_SMS = 16, SCHEDULERS = 4 };

/* Blocks of a tile that a multiprocessor holds. */
static int resident_blocks(const tile_t *tile, const tilemm__cuda_traits_t *traits)
{
    const size_t reserved = traits->cc >= 80 ? 1024 : 0; /* by the system, for each block */
    const size_t shared =
        (size_t)(tile->m + tile->n) * (size_t)tile->k * (size_t)tile->stages * sizeof(float);
    const size_t by_shared = traits->shared_per_sm / (shared + reserved);
    const int by_threads = traits->max_threads_per_sm / tile->threads;
    int blocks = tile->blocks;

    if (blocks > by_threads)
        blocks = by_threads;
    if ((size_t)blocks > by_shared)
        blocks = (int)by_shared;
    return blocks > 0 ? blocks : 1;
}

static double whole(double x)
{
    return (double)(int64_t)x;
}

/* How much the copies of 4 bytes of an operand take: of one that is turned over by them, and twice
 * that of one that is not aligned, whose copies are all made at once. */
static int narrowness(int turned, const void *array, const void *pointer, int64_t ld,
                      int64_t stride, int64_t batch)
{
    return array || !tilemm__is_quads(pointer, ld, stride, batch) ? 2 : turned;
}

/* Cycles that a multiprocessor takes for so many blocks at once, each of so many cycles at the peak
 * rate. Fewer than a warp for each scheduler leave some without work. */
static double together(const tile_t *tile, double count, double cycles)
{
    const double warps = count * tile->threads / 32 / SCHEDULERS;
    const double busy = warps < 1 ? 1 : warps;

    return count * cycles * (busy + (tile->groups > 1 ? half_in_groups : half_warps)) / warps;
}

/* Cycles that so many blocks of depth k take, clusters of so many or 1. They come in waves of as
 * many as the multiprocessors hold, of clusters only whole ones. */
static double estimate(const tile_t *tile, const tilemm__cuda_traits_t *traits,
                       const tilemm__sgemm_args_t *args, double count, int64_t k, int64_t cluster)
{
    /* Multiply-adds in a cycle: data-centre Ampere and Turing have half as many as the others. */
    const double lanes = traits->cc <= 80 ? 64 : 128;
    const double area = (double)tile->m * tile->n, depth = (double)tilemm__round_up(k, tile->k);
    const int narrow_a = narrowness(tile->sm80 && !args->trans_a, args->a_array, args->a, args->lda,
                                    args->stride_a, args->batch_count);
    const int narrow_b = narrowness(tile->sm80 && args->trans_b, args->b_array, args->b, args->ldb,
                                    args->stride_b, args->batch_count);
    const double copies = narrow_a * tile->m + narrow_b * tile->n;
    const double sums = tile->groups > 1 ? area * tile->groups * sizeof(float) : 0;
    const double cycles =
        area * depth / lanes / tile->peak + copies * depth / 32 * narrow_copy + sums / group_bytes;
    const int most = resident_blocks(tile, traits), of_part = CLUSTER_SMS * most;
    const double resident = (double)(of_part / cluster * cluster) / CLUSTER_SMS;
    const double share = count / traits->sm_count, waves = whole(share / resident + 1e-9);
    double rest = whole(share - waves * resident + 1 - 1e-9), sum = launch;

    sum += waves * (per_wave + together(tile, resident, cycles));
    if (rest > 0) {
        if (cluster > 1)
            rest += cluster_imbalance * (double)cluster;
        sum += per_wave + together(tile, rest < most ? rest : most, cycles);
    }
    if (cluster > 1)
        sum += (waves + (rest > 0)) * in_cluster +
               whole(share + 1 - 1e-9) * area * sizeof(float) / cluster_bytes;
    if (tile->sm80 && traits->cc >= 90 && tile->m == 32 && count <= TILEMM__SGEMM_FEW_BLOCKS)
        sum -= early;
    return sum;
}

/* The number of ranges that k falls into if there may be `splits`; *k_split is their length. */
static int64_t split(int64_t k, int64_t splits, int64_t tile_k, int64_t *k_split)
{
    *k_split = tilemm__round_up(tilemm__div_up(k, splits), tile_k);
    return tilemm__div_up(k, *k_split);
}

/* The splits of a tile that are tried: none; as many as a cluster has; and as many as give each
 * multiprocessor 1, 2, 3 ... tiles. */
static int64_t try_splits(int i, double count, const tilemm__cuda_traits_t *traits)
{
    const int fill = i - TILEMM__SGEMM_MOST_CLUSTER;

    if (i < TILEMM__SGEMM_MOST_CLUSTER)
        return i + 1;
    return (int64_t)((double)traits->sm_count * (fill + 1) / count);
}

/* Find the tile and the splits that promise to take the least time. Returns it, in cycles. */
static double choose(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                     size_t workspace, tilemm__sgemm_cuda_plan_t *plan)
{
    const double elements = (double)args->m * (double)args->n * (double)args->batch_count;
    const double bytes = elements * sizeof(float);
    double best = -1;

    for (int t = 0; t < SM75_TILES + SM80_TILES; t++) {
        const tile_t *tile = &tiles[t];
        const double count = (double)tilemm__div_up(args->m, tile->m) *
                             (double)tilemm__div_up(args->n, tile->n) * (double)args->batch_count;
        const int tries = TILEMM__SGEMM_MOST_CLUSTER + resident_blocks(tile, traits);

        if (traits->cc < tile->least_cc || traits->cc > tile->most_cc)
            continue;
        for (int i = 0; i < tries; i++) {
            double cycles;
            int64_t k_split, splits = try_splits(i, count, traits);
            int cluster;

            if (i > 0 && splits < 2)
                continue;
            splits = split(args->k, splits, tile->k, &k_split);
            cluster = tile->sm80 && traits->cc >= 90 && splits > 1 &&
                      splits <= TILEMM__SGEMM_MOST_CLUSTER;
            if (splits > 1 && !cluster && bytes * (double)splits > (double)workspace) {
                splits = (int64_t)((double)workspace / bytes);
                if (splits < 2)
                    continue;
                splits = split(args->k, splits, tile->k, &k_split);
            }
            cycles =
                estimate(tile, traits, args, count * (double)splits, k_split, cluster ? splits : 1);
            cycles += bytes / (bytes_per_cycle * traits->sm_count);
            if (splits > 1 && !cluster)
                cycles += second_kernel +
                          2 * bytes * (double)splits / (bytes_per_cycle * traits->sm_count);
            if (best < 0 || cycles < best) {
                best = cycles;
                plan->sm80 = tile->sm80;
                plan->tile = tile->number;
                plan->splits = splits;
                plan->k_split = k_split;
                plan->cluster = cluster;
            }
        }
    }
    return best;
}

static const tile_t *tile_of(const tilemm__sgemm_cuda_plan_t *plan)
{
    return &tiles[(plan->sm80 ? SM75_TILES : 0) + plan->tile];
}

/* The end of a name: how k is split. */
static void name_splits(tilemm__sgemm_cuda_plan_t *plan)
{
    const size_t length = strlen(plan->name);

    if (plan->splits > 1)
        snprintf(plan->name + length, sizeof plan->name - length, "_%s%lld",
                 plan->cluster ? "cluster" : "splitk", (long long)plan->splits);
}

/* The bytes of the partial products, if the workspace has them. */
static size_t partial_bytes(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    if (plan->splits == 1 || plan->cluster)
        return 0;
    return (size_t)plan->splits * (size_t)args->batch_count * (size_t)args->m * (size_t)args->n *
           sizeof(float);
}

static void plan_ffma(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    const tile_t *tile = tile_of(plan);

    plan->kernel = TILEMM__SGEMM_FFMA;
    if (!plan->sm80) {
        plan->vector_a = !args->a_array && args->m >= tile->m &&
                         (!args->trans_a || args->m % 4 == 0) &&
                         tilemm__is_quads(args->a, args->lda, args->stride_a, args->batch_count);
        plan->vector_b = !args->b_array && args->n >= tile->n &&
                         (args->trans_b || args->n % 4 == 0) &&
                         tilemm__is_quads(args->b, args->ldb, args->stride_b, args->batch_count);
        plan->vector_c = args->n % 4 == 0 &&
                         (plan->splits > 1 ||
                          (!args->c_array && tilemm__is_quads(args->c, args->ldc, args->stride_c,
                                                              args->batch_count)));
    }
    plan->workspace_bytes = partial_bytes(args, plan);
    snprintf(plan->name, sizeof plan->name, "sgemm_ffma_sm%d_%s", plan->sm80 ? 80 : 75, tile->name);
    name_splits(plan);
    if (plan->rest_m + plan->rest_n > 0)
        snprintf(plan->name + strlen(plan->name), sizeof plan->name - strlen(plan->name),
                 "_and_thin%lld", (long long)(plan->rest_m + plan->rest_n));
}

/* ---- thin ------------------------------------------------------------------------------- */

/* Measured on an H200: blocks for each multiprocessor, so that enough reads are under way; the
 * least k of a split, which pays for what adding up costs; the least k that keeps the kernel
 * reading; and up to how many rows its blocks had better be small. */
enum { THIN_BLOCKS = 2, THIN_SPLIT_K = 256, THIN_LEAST_K = 256, THIN_FEW_ROWS = 1024 };

static int is_thin(const tilemm__sgemm_args_t *args)
{
    return args->k >= THIN_LEAST_K &&
           (args->m <= TILEMM__SGEMM_THIN_MOST_N || args->n <= TILEMM__SGEMM_THIN_MOST_N);
}

/* Cycles that it takes: reading the large operand, and multiply-adds, which are not quite hidden.
 */
static double thin_cycles(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits)
{
    const double thin_launch = 5000, thin_bytes_per_cycle = 18.5, for_each = 0.028;
    const double m = (double)args->m, n = (double)args->n;

    return thin_launch + (m + n) * (double)args->k * (double)args->batch_count * sizeof(float) /
                             (thin_bytes_per_cycle * traits->sm_count) *
                             (1 + for_each * (m < n ? m : n));
}

/* How many of the splits that there might be the blocks of a cluster take, and add up themselves; 0
 * if they are too many for that. Clusters of more than 4 run at once only where there are few. */
static int64_t thin_cluster(int64_t tiles, int64_t splits, const tilemm__cuda_traits_t *traits)
{
    int64_t cluster = splits < TILEMM__SGEMM_MOST_CLUSTER ? splits : TILEMM__SGEMM_MOST_CLUSTER;

    if (cluster > 4 && tiles * cluster * 4 > 5 * (int64_t)traits->sm_count)
        cluster = 4;
    return splits <= 2 * cluster ? cluster : 0;
}

/* The thin problem that `args` is, its splits, and room for their sums. */
static void set_thin(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                     int64_t most_splits, size_t workspace, tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__sgemm_thin_t *const thin = &plan->thin;
    int64_t tiles, splits, cluster;

    *thin = tilemm__sgemm_thin_of(args, args->m < args->n);
    thin->shape = thin->m <= THIN_FEW_ROWS ? TILEMM__SGEMM_THIN_FEW : TILEMM__SGEMM_THIN_WIDE;
    thin->vector_x =
        !thin->x_array && tilemm__is_quads(thin->x, thin->ldx, thin->stride_x, thin->batch_count);
    thin->vector_z =
        !thin->z_array && tilemm__is_quads(thin->z, thin->z_k == 1 ? thin->z_n : thin->z_k,
                                           thin->stride_z, thin->batch_count);
    tiles = tilemm__sgemm_thin_tiles(thin);
    splits = THIN_BLOCKS * traits->sm_count / tiles;
    if (splits > args->k / THIN_SPLIT_K)
        splits = args->k / THIN_SPLIT_K;
    if (splits > most_splits)
        splits = most_splits;
    cluster = traits->cc >= 90 ? thin_cluster(tiles, splits, traits) : 0;
    if (cluster > 1) {
        thin->splits = split(args->k, cluster, 4, &thin->k_split);
        return;
    }
    for (; splits > 1; splits /= 2) { /* until there is room */
        thin->splits = split(args->k, splits, 4, &thin->k_split);
        plan->counters = (size_t)tilemm__round_up(tilemm__sgemm_thin_partials(thin) * 4, 1024);
        plan->counter_bytes = (size_t)tilemm__round_up(tiles * (int64_t)sizeof(unsigned), 1024);
        if (plan->counters + plan->counter_bytes <= workspace)
            return;
    }
    thin->splits = 1;
    thin->k_split = args->k;
    plan->counters = plan->counter_bytes = 0;
}

static void plan_thin(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                      size_t workspace, tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_thin_t *const thin = &plan->thin;
    size_t length;

    plan->kernel = TILEMM__SGEMM_THIN;
    set_thin(args, traits, INT64_MAX, workspace, plan);
    plan->workspace_bytes = plan->counters + plan->counter_bytes;
    snprintf(plan->name, sizeof plan->name, "sgemm_thin_sm75_%lldx%lld%s",
             (long long)tilemm__sgemm_thin_rows(thin->shape),
             (long long)tilemm__sgemm_thin_columns(thin->n), args->m < args->n ? "_turned" : "");
    length = strlen(plan->name);
    if (thin->splits > 1)
        snprintf(plan->name + length, sizeof plan->name - length, "_%s%lld",
                 plan->counter_bytes ? "splitk" : "cluster", (long long)thin->splits);
}

/* Columns or rows that whole tiles leave over are better off with the thin kernel if they are few:
 * it runs beside the tiles, where these leave multiprocessors free, and needs few blocks. Both do
 * without workspace. Find out, given the cycles without that; returns the least. */
static double choose_rest(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                          double best, tilemm__sgemm_cuda_plan_t *plan)
{
    enum { WHOLE = 128, REST_SPLITS = 2 };
    const int64_t left_m = args->m % WHOLE, left_n = args->n % WHOLE;

    if (traits->cc < 90 || args->a_array || args->b_array || args->c_array)
        return best;
    for (int rows = 0; rows < 2; rows++) {
        const int64_t left = rows ? left_m : left_n;
        tilemm__sgemm_args_t whole = *args, rest = *args;
        tilemm__sgemm_cuda_plan_t trial = *plan;
        double cycles;

        if (left == 0 || left > TILEMM__SGEMM_THIN_MOST_N || left == (rows ? args->m : args->n))
            continue;
        if (rows) {
            whole.m -= left;
            rest.m = left;
            rest.a += whole.m * (args->trans_a ? 1 : args->lda);
            rest.c += whole.m * args->ldc;
        } else {
            whole.n -= left;
            rest.n = left;
            rest.b += whole.n * (args->trans_b ? args->ldb : 1);
            rest.c += whole.n;
        }
        if (!is_thin(&rest))
            continue;
        cycles = choose(&whole, traits, 0, &trial) + thin_cycles(&rest, traits);
        if (cycles < best) {
            best = cycles;
            *plan = trial;
            plan->rest_m = rows ? left : 0;
            plan->rest_n = rows ? 0 : left;
            set_thin(&rest, traits, REST_SPLITS, 0, plan);
            plan->thin.beside = 1;
        }
    }
    return best;
}

/* ---- tiny ------------------------------------------------------------------------------- */

/* The fewest matrices of a batch for which it pays to have several to a block. */
enum { TINY_LEAST_BATCH = 8 };

static int is_tiny(const tilemm__sgemm_args_t *args)
{
    return args->batch_count >= TINY_LEAST_BATCH && args->m <= TILEMM__SGEMM_TINY_MOST &&
           args->n <= TILEMM__SGEMM_TINY_MOST && args->k <= TILEMM__SGEMM_TINY_MOST;
}

static void plan_tiny(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    const int64_t mn = args->m > args->n ? args->m : args->n, most = mn > args->k ? mn : args->k;

    plan->kernel = TILEMM__SGEMM_TINY;
    plan->vector_a = !args->a_array && tilemm__is_quads(args->a, args->lda, args->stride_a, 2);
    plan->vector_b = !args->b_array && tilemm__is_quads(args->b, args->ldb, args->stride_b, 2);
    plan->vector_c = !args->c_array && tilemm__is_quads(args->c, args->ldc, args->stride_c, 2);
    snprintf(plan->name, sizeof plan->name, "sgemm_tiny_sm75_%d",
             most <= 4    ? 4
             : most <= 8  ? 8
             : most <= 16 ? 16
                          : 32);
}

/* ---- fused ------------------------------------------------------------------------------ */

static void plan_fused(const tilemm__sgemm_args_t *args, const tilemm__fused_plan_t *fused,
                       tilemm__sgemm_cuda_plan_t *plan)
{
    plan->kernel = TILEMM__SGEMM_FUSED;
    plan->tile = fused->tile;
    plan->cluster = fused->cluster;
    plan->splits = fused->splits;
    plan->k_split = fused->k_split;
    plan->vector_a = plan->vector_b = 1;
    plan->workspace_bytes = partial_bytes(args, plan);
    snprintf(plan->name, sizeof plan->name, "sgemm_fused_sm90_%s", tilemm__fused_tile_name(fused));
    name_splits(plan);
}

/* ---- split ------------------------------------------------------------------------------ */

static void plan_split(const tilemm__sgemm_args_t *args, tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__split_plan_t *split = &plan->split;
    size_t length;

    plan->kernel = TILEMM__SGEMM_SPLIT;
    plan->workspace_bytes = split->bytes;
    snprintf(plan->name, sizeof plan->name, "sgemm_split_%s_%s_p%d", split->sm90 ? "sm90" : "sm80",
             tilemm__split_tile_name(split), split->products);
    length = strlen(plan->name);
    if (split->k_panel < args->k)
        snprintf(plan->name + length, sizeof plan->name - length, "_panel%lld",
                 (long long)split->k_panel);
    length = strlen(plan->name);
    if (split->shared > 0)
        snprintf(plan->name + length, sizeof plan->name - length, "_streamk");
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

void tilemm__plan_sgemm_cuda(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__fused_plan_t fused;
    double cycles;
    int has_fused, has_split;

    memset(plan, 0, sizeof *plan);
    plan->splits = 1;
    if (args->k == 0) {
        plan->kernel = args->beta == 1.0f ? TILEMM__SGEMM_NOTHING : TILEMM__SGEMM_SCALE;
        if (plan->kernel == TILEMM__SGEMM_SCALE)
            snprintf(plan->name, sizeof plan->name, "sgemm_scale_sm75");
        return;
    }
    if (is_beyond_memory(args)) { /* any tile will do */
        plan->splits = split(args->k, 1, tile_of(plan)->k, &plan->k_split);
        plan_ffma(args, plan);
        return;
    }
    if (is_tiny(args)) {
        plan_tiny(args, plan);
        return;
    }
    has_fused = tilemm__plan_sgemm_fused(args, math, traits, workspace, &fused);
    if (is_thin(args)) {
        if (has_fused && fused.cycles < thin_cycles(args, traits))
            plan_fused(args, &fused, plan);
        else
            plan_thin(args, traits, workspace, plan);
        return;
    }
    cycles = choose(args, traits, workspace, plan);
    cycles = choose_rest(args, traits, cycles, plan);
    has_fused = has_fused && fused.cycles < cycles;
    has_split = tilemm__plan_sgemm_split(args, math, traits, workspace, &plan->split) &&
                plan->split.cycles < (has_fused ? fused.cycles : cycles);
    if (has_split)
        plan_split(args, plan);
    else if (has_fused)
        plan_fused(args, &fused, plan);
    else
        plan_ffma(args, plan);
}
