/* cost_cuda.c - see cost_cuda.h.
 *
 * A device's multiprocessors take a kernel's items (tiles of C, times splits of k) in waves. A wave
 * costs what an item costs, and its k-steps. Both depend on how many blocks share a multiprocessor:
 * one alone leaves part of it idle, and in between the cost grows in proportion.
 *
 *   cycles = launch + start + waves x (item + steps x step) + bytes / bandwidth + extras
 *
 * Extras: what the blocks of a cluster add up, and the second kernel of split-K.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"

#include "kernels/sgemm/cuda/ffma.h"
#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/planes.h"

/* ---- the constants -------------------------------------------------------------------------- */

/* A tile, for all rows that differ in transposes only: cycles of a wave beside its k-steps, and of
 * a k-step, with one block on a multiprocessor and with `blocks`. */
typedef struct {
    const char *tile;
    int blocks;
    double start; /* until the first item is under way, beside the family's launch */
    double item_alone, step_alone, item, step;
} tile_cost_t;

/* A family of kernels: cycles, and bytes that a multiprocessor moves in a cycle. */
typedef struct {
    double launch;        /* all launches that each call needs */
    double second_kernel; /* adding up split-K's partial products, beside their bytes */
    double cluster;       /* meeting in a cluster, for each wave */
    double cluster_bytes; /* read of the other blocks of a cluster */
    double bytes;         /* of operands or results in global memory */
} family_cost_t;

enum { OF_FFMA, OF_SKINNY, OF_VECTOR, OF_FITTED, OF_SHORT, OF_FUSED, OF_PLANES, FAMILIES };

/* What `tilemm bench --calibrate` prints: measured on an H200. */
/* clang-format off */
static const tile_cost_t tile_costs[] = {
    {"ffma_sm75_128x128x16",      2,    0, 3000, 3437.714, 3000, 6097.455},
    {"ffma_sm75_64x64x16",        4,    0, 3000, 1248.492, 3000, 3611.569},
    {"ffma_sm75_128x32x16",       4,    0, 3000, 1248.492, 3000, 3611.569},
    {"ffma_sm75_32x128x16",       4,    0, 3000, 1248.492, 3000, 3611.569},
    {"ffma_sm75_32x32x32",        8,    0, 3000, 1887.256, 3000, 5459.349},
    {"ffma_sm80_128x128x16",      2,    0, 3500, 2673.778, 3500, 4742.465},
    {"ffma_sm80_128x64x16",       4,    0, 3000, 1791.435, 3000, 5050},
    {"ffma_sm80_64x64x16",        8,    0, 3000, 1713.875, 3000, 4957.804},
    {"ffma_sm80_64x64x64",        2,    0, 3000, 3180.169, 4200, 5583.925},
    {"ffma_sm80_32x32x16",        10,   0, 3000, 728,     3000, 2500},
    {"ffma_sm80_32x32x32",        5,    0, 3259, 727.765, 3889, 2496.332},
    {"fitted_sm80_4x4",           1,    0,  300, 7.5,     300, 7.5},
    {"fitted_sm80_8x8",           1,    0,  300, 22,      300, 22},
    {"short_sm80_128x128",        2,    0, 3017, 3396, 5293, 5686},
    {"short_sm80_64x128",         3,    0, 1138, 2359, 3562, 4913},
    {"short_sm80_128x64",         3,    0, 1204, 2366, 4138, 4990},
    {"short_sm80_128x32",         4,    0, 661, 1900, 3377, 4593},
    {"short_sm80_32x64",          7,    0, 312, 1366, 2982, 3196},
    {"short_sm80_16x256",         4,    0, 621, 2090, 3283, 4761},
    {"short_sm80_4x256",          8,    0, 0, 1271, 4582, 2818},
    {"fused_sm90_128x128x32",     1, 3000, 3700, 2400,  10500, 2400},
    {"fused_sm90_128x128x32_bulk",1, 3000, 3700, 2400,   3700, 2400},
    {"fused_sm90_128x64x32",      1, 3000, 1930, 1480,   2600, 1750},
    {"fused_sm90_64x64x32",       2, 1500, 1500, 1250,   2200, 1950},
    {"fused_sm90_256x32x32",      1, 4000, 2500, 1800,   3200, 2200},
    {"fused_sm90_256x16x32",      1, 4000, 2500, 1650,   2500, 2200},
    {"fused_sm90_32x256x32",      1, 4000, 2500, 1800,   5000, 1800},
    {"fused_sm90_16x256x32",      1, 4000, 2500, 1650,   2500, 2200},
    {"fused_sm90_64x128x32",      1, 3000, 1930, 1480,   3500, 1750},
    {"tf32_sm90_128x256x32",      1,    0, 4000, 1200,   4000, 1370},
    {"tf32_sm90_128x128x32",      1,    0, 3500, 640,    3000, 790},
    {"tf32_sm90_128x64x32",       1,    0, 500, 478,     1000, 540},
    {"tf32_sm90_128x32x32",       1,    0, 200, 440,     300, 450},
    {"tf32_sm90_64x256x32",       1,    0, 1500, 780,    1500, 840},
    {"tf32_sm90_64x64x32",        2,    0, 200, 322,     500, 540},
    {"tf32_sm90_128x256x32_tn",   1,    0, 11800, 2150,  12000, 2130},
    {"tf32_sm90_128x128x32_tn",   1,    0, 6800, 1180,   7900, 1220},
    {"tf32_sm90_128x64x32_tn",    1,    0, 3900, 1092,   6500, 1092},
    {"tf32_sm90_128x32x32_tn",    1,    0, 3000, 982,    5600, 982},
    {"tf32_sm90_64x256x32_tn",    1,    0, 5800, 1825,   6600, 1825},
    {"tf32_sm90_64x64x32_tn",     2,    0, 2200, 994,    4900, 1253},
    {"rest_sm90_128x128x32",      1, 3000, 3400, 2850,   3400, 2850},
    {"rest_sm90_128x64x32",       1, 3000, 1775, 1790,   1775, 1790},
    {"unaligned_sm90_128x128x32", 1, 3000, 3000, 2800,   3000, 2950},
    {"unaligned_sm90_128x64x32",  1, 3000, 2000, 1900,   2000, 2000},
    {"unaligned_sm90_64x64x32",   2, 2000, 2000, 1700,   2000, 2390},
    {"planes_sm80_p1",            1,    0, 5000, 1365.3, 5000, 1365.3},
    {"planes_sm80_p3",            1,    0, 5000, 4096,   5000, 4096},
    {"planes_sm80_p4",            1,    0, 5000, 5461.3, 5000, 5461.3},
    {"planes_sm90_128x128x64_p3_1x2", 1, 0, 5000, 2048,  5000, 2048},
    {"planes_sm90_128x128x64_p3_2x1", 1, 0, 5000, 2089,  5000, 2089},
    {"planes_sm90_128x64x64_p3_1x2",  1, 0, 5000, 1187.8, 5000, 1187.8},
    {"planes_sm90_128x128x64_p4_1x2", 1, 0, 5000, 2730.7, 5000, 2730.7},
    {"planes_sm90_128x256x64_p1_1x2", 1, 0, 23000, 1615, 23000, 1615},
    {"planes_sm90_128x128x64_p1_1x2", 1, 0, 12500, 882, 12500, 882},
};
static const family_cost_t family_costs[FAMILIES] = {
    [OF_FFMA]   = {  400, 2650, 1250,  9.5, 17.5},
    [OF_SKINNY] = { 5500,    0,    0,    0, 18.5},
    [OF_VECTOR] = { 1500,    0,    0,    0, 18.5},
    [OF_FITTED] = { 4000,    0,    0,    0, 16},
    [OF_SHORT]  = { 2450,    0,    0,    0, 9.4},
    [OF_FUSED]  = { 4000, 4000, 1000, 10,   16},
    [OF_PLANES] = {17000,    0,    0,    0, 16},
};
/* clang-format on */

/* Cycles by which a grid of few blocks of the smallest tile is shorter, as the next kernel is set
 * up meanwhile. */
static const double early = 850;
/* Cycles that a warp's copies of 4 bytes, not 16, take for each line of 32 numbers. */
static const double narrow_copy = 0.43;
/* Cycles of each copy of a thread in a step that is not whole, if copies are checked, and if not;
 * and how much longer steps take in a tile that is larger than C. */
static const double ffma_part = 62, ffma_first = 20, ffma_small = 1.5;
/* Blocks by which a multiprocessor may have more than its part, for each block of a cluster: one
 * lies in a group of CLUSTER_SMS multiprocessors. */
static const double cluster_imbalance = 0.031;
enum { CLUSTER_SMS = 16, SCHEDULERS = 4 };
/* Cycles that a skinny kernel takes for each column of its tile; 1.5 times, if more than four. */
static const double skinny_start = 500;
/* Cycles that a block of a matrix and a vector takes, beside those of each time that it reads. */
static const double vector_block = 1000, vector_round = 750;
/* Cycles of a multiprocessor for each block, and the part that waiting adds to reading. */
static const double vector_start = 230, vector_both = 0.25;
/* Part of the time of reading X by which each column of Z makes a skinny product longer. */
static const double skinny_column = 0.028;
/* Cycles that a fitted kernel's copies of a thread take, shared among the resident warps. */
static const double fitted_copy = 480;
/* How much longer tiles of one matrix take where one block is resident; others take their part. */
static const double fitted_alone = 0.8;
/* Cycles that a row of X takes besides; twice as many with several columns, and three times if it
 * is not aligned. */
static const double skinny_line = 4;
/* Cycles that a kernel for a short k takes to copy a number, or four if they are aligned; and to
 * store an element of C, beside those for one whose neighbours are in other lines of memory. */
static const double short_copy = 0.13, short_store = 0.065, short_scatter = 3.4;
/* Cycles in which a multiprocessor stores an element of C beyond those for 16 bytes at a time: in
 * tiles of 64 and more rows and columns of sm80, and in others; in fitted tiles for each element of
 * a thread's side; in TF32. */
static const double ffma_store = 0.9, ffma_store_small = 0.45, fitted_store = 0.085,
                    tf32_store = 0.9;
/* The k from which on multiply-adds of other blocks hide these. */
static const double hides_store = 256;
/* How much longer planes of several matrices are multiplied than those of one. */
static const double planes_batch = 1.5;
/* Cycles of the pass that copies operands to aligned rows, beside the bytes that it moves: in TF32,
 * and in FP32; measured at 401^3 to 767^3 and in batches of 99^3 to 250^3. */
static const double tf32_copies = 3000, fused_copies = 3000, fused_copy_passes = 2.5;
/* Cycles that warps take to store a tile by rows instead of the copy engine; where they read
 * operands that are not aligned, for each element of the tiles of a multiprocessor. */
static const double fused_store = 1500, unaligned_store = 0.3;
/* Bytes that a multiprocessor reads in a cycle at most, in TF32. */
static const double tf32_alone_bytes = 28;
/* How much longer a product in TF32 takes for the part of a tile's lines of op(B) that it lacks. */
static const double tf32_lacking = 0.4;
/* Cycles that a cluster takes to meet in TF32 beyond those of the other kernels. */
static const double tf32_meeting = 5000;
/* How much longer waves of clusters take, which leave some multiprocessors empty. */
static const double fused_cluster_waves = 1.1;
/* How much longer planes are made of an operand that does not run along k; for longer k planes are
 * preferred all the same, since their sums are more exact than those of the other kernels. */
static const double planes_across = 1.45, planes_most_across = 8192;
/* And of many matrices that are not aligned. */
static const double planes_unaligned = 4;
/* Cycles that one plane takes beside two, measured at 1000^3 to 2000^3; and how much faster than
 * the fused kernels, which take any data alike, planes must be: hard data takes them twice as long.
 */
static const double planes_of_one = 30000, planes_hard_data = 1.1;
/* Steps of k that each piece of a tile costs where k is shared out. */
static const double stream_k_piece = 1;

/* Multiply-adds of a multiprocessor in a cycle for which the table's steps are given, in FP32 and
 * in FP16 on tensor cores by mma.sync. */
enum { FFMA_RATE = 128, SM80_RATE = 1024 };

/* ---- parts of the estimate ------------------------------------------------------------------- */

enum {
    FFMA_FIRST = TILEMM__sgemm_ffma_sm75_128x128x16_nn,
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x1_k,
    FITTED_FIRST = TILEMM__sgemm_fitted_sm80_4x4_nn,
    FUSED_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    SM80_FIRST = TILEMM__sgemm_planes_sm80_128x128x32_p1,
    SM90_FIRST = TILEMM__sgemm_planes_sm90_128x128x64_p3_1x2,
    TF32_FIRST = TILEMM__sgemm_tf32_sm90_256x128x32_nn,
    REST_FIRST = TILEMM__sgemm_rest_sm90_128x128x32_nn,
    INVARIANT_FIRST = TILEMM__sgemm_invariant_sm90_128x128x32_nn,
    INVARIANT_UNALIGNED_FIRST = TILEMM__sgemm_invariant_unaligned_sm90_128x128x32_nn,
    INVARIANT_END = TILEMM__sgemm_zero_sm75,
    AS_INVARIANT_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn_bulk,
    UNALIGNED_FIRST = TILEMM__sgemm_unaligned_sm90_128x128x32_nn,
    ROWS_OF_TILE = 4, /* by transposes */
    TN = 2,
    FFMA_TILES = (SKINNY_FIRST - FFMA_FIRST) / ROWS_OF_TILE,
    FITTED_AND_FUSED_TILES = (INVARIANT_FIRST - FITTED_FIRST) / ROWS_OF_TILE,
    TF32_TILES = (REST_FIRST - TF32_FIRST) / ROWS_OF_TILE, /* each has two costs */
    SM80_TILES = 3                                         /* by products: 1, 3, 4 */
};

/* Whether neither operand runs along k. */
static int tf32_converts(int variant)
{
    return tilemm__sgemm_is_tf32(variant) && (variant - TF32_FIRST) % ROWS_OF_TILE == TN;
}

static const tile_cost_t *tile_cost(int variant)
{
    const int products = tilemm__sgemm_rows[variant].products;
    const tile_cost_t *const fitted = tile_costs + FFMA_TILES;
    const tile_cost_t *const planes = fitted + FITTED_AND_FUSED_TILES + TF32_TILES;
    if (variant >= INVARIANT_FIRST && variant < INVARIANT_END) /* in the order of the others */
        variant += variant < INVARIANT_UNALIGNED_FIRST
                       ? AS_INVARIANT_FIRST - INVARIANT_FIRST
                       : UNALIGNED_FIRST - INVARIANT_UNALIGNED_FIRST;
    if (variant >= SM90_FIRST)
        return planes + SM80_TILES + variant - SM90_FIRST;
    if (variant >= SM80_FIRST)
        return planes + (products > 1 ? products - 2 : 0);
    if (variant >= FITTED_FIRST)
        return fitted + (variant - FITTED_FIRST) / ROWS_OF_TILE +
               (variant >= REST_FIRST || tf32_converts(variant) ? TF32_TILES : 0);
    return &tile_costs[(variant - FFMA_FIRST) / ROWS_OF_TILE];
}

static double whole(double x)
{
    return (double)(int64_t)x;
}

/* Elements of C, a multiprocessor's part, if they are not stored 16 bytes at a time; fewer, the
 * more other blocks' multiply-adds hide them. */
static double stored_alone(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits)
{
    const int wide = args->n % 4 == 0 && tilemm__sgemm_is_aligned_c(args);
    const double exposed = 1 - (double)args->k / hides_store;
    return wide || exposed < 0 ? 0 : exposed * tilemm__sgemm_elements_of_c(args) / traits->sm_count;
}

static double elements_of_a_and_b(const tilemm__sgemm_args_t *args)
{
    return ((double)args->m + (double)args->n) * (double)args->k * (double)args->batch_count;
}

/* Adding up split-K's partial products: a second kernel, which reads what the first one wrote. */
static double second_kernel(const family_cost_t *family, const tilemm__sgemm_trial_t *trial,
                            double bytes_of_c, const tilemm__cuda_traits_t *traits)
{
    if (trial->splits == 1 || trial->cluster)
        return 0;
    return family->second_kernel +
           2 * bytes_of_c * (double)trial->splits / (family->bytes * traits->sm_count);
}

/* ---- FP32 multiply-adds ---------------------------------------------------------------------- */

/* Multiply-adds in a cycle: data-centre Ampere and Turing; others. */
static double ffma_rate(int cc)
{
    return cc <= 80 ? 64 : 128;
}

/* Cycles of `x` blocks on a multiprocessor for `steps` steps each; `narrow` of each step's cycles
 * are those of 4-byte copies. Up to a warp for each scheduler, blocks cost no more than one. */
static double ffma_wave(const tile_cost_t *cost, const tilemm__sgemm_row_t *row, double x,
                        double steps, double narrow, int cc)
{
    const double alone = SCHEDULERS * 32 > row->threads ? SCHEDULERS * 32.0 / row->threads : 1;
    const double more = x > alone ? x - alone : 0, blocks = cost->blocks - alone;
    const double per_block = (cost->step - cost->step_alone) / blocks;
    const double step = cost->step_alone + more * per_block;
    return cost->item_alone + more * (cost->item - cost->item_alone) / blocks +
           steps * step * (FFMA_RATE / ffma_rate(cc) + narrow / per_block);
}

/* Of a multiprocessor's `blocks`, in clusters, how many add up parts while no other block
 * multiplies: measured with 2 and 8 resident. */
static double exposed_sums(double blocks, double resident)
{
    const double first = blocks < 2 ? blocks : 2;
    return first + (blocks - first) * 2 / (resident > 2 ? resident : 2);
}

static double ffma_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                            const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tile_cost_t *cost = tile_cost(trial->variant);
    const family_cost_t *family = &family_costs[OF_FFMA];
    const int sm80 = trial->variant >= TILEMM__sgemm_ffma_sm80_128x128x16_nn;
    /* How often 4-byte copies cost: for an operand that they transpose, and more for one that is
     * not aligned, the more of them a multiprocessor makes beside its multiply-adds. */
    const int unaligned = !sm80 || row->m == 32 ? 2 : row->m == 64 ? 4 : 3;
    const int narrow_a = !tilemm__sgemm_is_aligned_a(args) ? unaligned : sm80 && !args->trans_a;
    const int narrow_b = !tilemm__sgemm_is_aligned_b(args) ? unaligned : sm80 && args->trans_b;
    const double narrow =
        (double)(narrow_a * row->m + narrow_b * row->n) * row->k / 32 * narrow_copy;
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double count = tilemm__sgemm_tiles_of_c(row, args) * (double)trial->splits;
    /* A first step that is not whole; in tiles that C does not fill all steps are copied slowly. */
    const int unfilled = args->m < row->m || args->n < row->n;
    const double copy = unfilled || args->k < row->k || !sm80 ? ffma_part : ffma_first;
    const double part = args->k % row->k ? copy * (row->m + row->n) * row->k / row->threads : 0;
    const int small = unfilled && row->m > 32 && row->n > 32;
    const double steps = (double)tilemm__div_up(trial->k_split, row->k) * (small ? ffma_small : 1);
    const int cluster = trial->cluster ? (int)trial->splits : 1;
    const int most = tilemm__sgemm_resident_blocks(row, traits), of_part = CLUSTER_SMS * most;
    /* Blocks of a multiprocessor in a wave: of clusters only whole ones. */
    const double resident = (double)(of_part / cluster * cluster) / CLUSTER_SMS;
    const double share = count / traits->sm_count, waves = whole(share / resident + 1e-9);
    double last = whole(share - waves * resident + 1 - 1e-9), sum = family->launch + cost->start;
    sum += waves * (ffma_wave(cost, row, resident, steps, narrow, traits->cc) + part * resident);
    if (last > 0) {
        if (cluster > 1)
            last += cluster_imbalance * cluster;
        last = last < most ? last : most;
        sum += ffma_wave(cost, row, last, steps, narrow, traits->cc) + part * last;
    }
    if (cluster > 1)
        sum += (waves + (last > 0)) * family->cluster +
               exposed_sums(whole(share + 1 - 1e-9), resident) * (double)row->m * row->n *
                   sizeof(float) / family->cluster_bytes;
    if (sm80 && traits->cc >= 90 && row->m == 32 && count <= TILEMM__SGEMM_FEW_BLOCKS)
        sum -= early;
    const double store = sm80 && row->m >= 64 ? ffma_store : ffma_store_small;
    if (trial->splits == 1 || trial->cluster)
        sum += store * stored_alone(args, traits);
    return sum + bytes / (family->bytes * traits->sm_count) +
           second_kernel(family, trial, bytes, traits);
}

/* Reading the large operand, and multiply-adds, which hide less with many columns, unaligned. */
static double skinny_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                              const tilemm__cuda_traits_t *traits)
{
    const family_cost_t *family = &family_costs[OF_SKINNY];
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const double lines = (double)tilemm__max(args->m, args->n) * (double)args->batch_count;
    const double numbers = elements_of_a_and_b(args) + tilemm__sgemm_elements_of_c(args);
    const double exposed = !row->facet && row->n > 4 ? row->n / 4 : 1;
    return family->launch + skinny_start * row->n * (row->n > 4 ? 1.5 : 1) +
           numbers * sizeof(float) / (family->bytes * traits->sm_count) * exposed *
               (1 + skinny_column * (double)tilemm__min(args->m, args->n)) +
           lines / traits->sm_count * skinny_line * (row->n > 1 ? 2 : 1) * (row->facet ? 1 : 3);
}

/* Blocks read a few numbers ahead, and then wait for them. */
double tilemm__sgemm_vector_estimate(const tilemm__sgemm_vector_t *plan,
                                     const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const family_cost_t *family = &family_costs[OF_VECTOR];
    const int ahead = row->facet ? 4 : 8; /* steps of row->k */
    const double rounds = (double)tilemm__div_up(plan->k, (int64_t)row->k * ahead);
    const double waves =
        (double)tilemm__div_up(plan->blocks, (int64_t)traits->sm_count * row->blocks);
    const double matrices = (double)plan->blocks / plan->per_matrix;
    const double bytes = matrices * (double)plan->m * (double)plan->k * sizeof(float);
    const double waiting = waves * (vector_block + rounds * vector_round) +
                           (double)plan->blocks / traits->sm_count * vector_start;
    const double reading = bytes / (family->bytes * traits->sm_count);
    return family->launch +
           (waiting > reading ? waiting + vector_both * reading : reading + vector_both * waiting);
}

/* ---- tiles that fit the matrices ------------------------------------------------------------- */

int64_t tilemm__sgemm_fitted_room(const tilemm__sgemm_fitted_t *plan,
                                  const tilemm__cuda_traits_t *traits)
{
    const int64_t threads =
        (int64_t)tilemm__sgemm_rows[plan->variant].blocks * TILEMM__SGEMM_FITTED_MOST_THREADS;
    const int64_t by_shared = (int64_t)(traits->shared_per_sm / (plan->shared + 1024));
    return tilemm__max(1, tilemm__min(threads / plan->threads, by_shared));
}

/* Blocks wait for their copies and multiply in turns, so their costs add up. */
double tilemm__sgemm_fitted_estimate(const tilemm__sgemm_fitted_t *plan,
                                     const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_args_t *args = &plan->args;
    const family_cost_t *family = &family_costs[OF_FITTED];
    const tile_cost_t *cost = tile_cost(plan->variant);
    const double warps = plan->threads / 32.0, k = (double)tilemm__round_up(args->k, 4);
    const double share = (double)tilemm__div_up(plan->blocks, traits->sm_count);
    const double resident = warps * (double)tilemm__sgemm_fitted_room(plan, traits);
    const double copies = k *
                          (plan->lanes_m * row->m / (double)plan->copies_a.width +
                           plan->lanes_n * row->n / (double)plan->copies_b.width) /
                          (plan->lanes_m * plan->lanes_n);
    const double block =
        cost->item + warps * k * cost->step + warps * copies * fitted_copy / resident;
    const double bytes_of_c = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double least = (bytes_of_c + elements_of_a_and_b(args) * sizeof(float)) /
                         (family->bytes * traits->sm_count);
    const double busy = share * block + bytes_of_c / (2 * family->bytes * traits->sm_count);
    /* A tile that is a whole matrix reads nothing twice. Where few blocks are resident, seldom one
     * multiplies while others load and store. */
    const double several =
        plan->per_matrix > 1 ? 0.9 + fitted_alone / (double)tilemm__sgemm_fitted_room(plan, traits)
                             : 1;
    return family->launch + (busy > least ? busy : least) * several +
           fitted_store * row->m * stored_alone(args, traits);
}

/* ---- a short k ------------------------------------------------------------------------------- */

double tilemm__sgemm_short_estimate(const tilemm__sgemm_short_t *plan,
                                    const tilemm__cuda_traits_t *traits)
{
    enum { LINE = 8 }; /* numbers of a sector */
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_args_t *args = &plan->args;
    const family_cost_t *family = &family_costs[OF_SHORT];
    const tile_cost_t *cost = tile_cost(plan->variant);
    /* What a block has on average: rows, columns and steps. */
    const double rows = (double)args->m * plan->tiles_n / plan->per_matrix;
    const double columns = (double)args->n / plan->tiles_n, steps = (double)args->k / row->k;
    const double copies = (plan->wide_a && args->trans_a ? rows / 4 : rows) +
                          (plan->wide_b && !args->trans_b ? columns / 4 : columns);
    const double apart = (double)tilemm__min(plan->c_n, LINE);
    const double item = rows * columns * (short_store + short_scatter * (apart - 1) / (LINE - 1));
    const double step = short_copy * row->k * copies;
    tilemm__sgemm_row_t with_shared = *row; /* which depends on k */
    with_shared.shared = (int)plan->shared;
    const double resident = tilemm__sgemm_resident_blocks(&with_shared, traits);
    const double slower = FFMA_RATE / ffma_rate(traits->cc);
    const double share = (double)plan->blocks / traits->sm_count;
    const double waves = whole(share / resident + 1e-9);
    const double last = whole(share - waves * resident + 1 - 1e-9);
    const double bytes = tilemm__sgemm_elements_of_c(args) * (args->beta != 0.0f ? 2 : 1) +
                         elements_of_a_and_b(args);
    const double least = bytes * sizeof(float) / (family->bytes * traits->sm_count);
    double busy = 0;
    for (int i = 0; i < 2; i++) { /* whole waves; the last one */
        const double x = i ? last : resident, more = (x - 1) / (cost->blocks - 1);
        if (x > 0)
            busy += (i ? 1 : waves) *
                    (cost->item_alone + more * (cost->item - cost->item_alone) + x * item +
                     steps * (slower * (cost->step_alone + more * (cost->step - cost->step_alone)) +
                              x * step));
    }
    return family->launch + (busy > least ? busy : least);
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

/* Reading operands, and writing them where the copy engine can read them. */
static double copies_estimate(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                              int tf32)
{
    const double lines = (tilemm__sgemm_is_aligned_a(args) ? 0 : (double)args->m) +
                         (tilemm__sgemm_is_aligned_b(args) ? 0 : (double)args->n);
    const double bytes = lines * (double)args->k * (double)args->batch_count * sizeof(float);
    return bytes > 0
               ? (tf32 ? tf32_copies : fused_copies) +
                     fused_copy_passes * bytes / (family_costs[OF_FUSED].bytes * traits->sm_count)
               : 0;
}

/* Blocks are persistent: whole waves, but for one of fewer items than multiprocessors. */
static double fused_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                             const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tile_cost_t *cost = tile_cost(trial->variant);
    const family_cost_t *family = &family_costs[OF_FUSED];
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double moved =
        bytes * (args->beta != 0.0f ? 2 : 1) + elements_of_a_and_b(args) * sizeof(float);
    const int tf32 = tilemm__sgemm_is_tf32(trial->variant);
    const int unaligned = tilemm__sgemm_reads_unaligned(trial->variant);
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(trial->variant, args);
    const int64_t items = walk.rows * walk.cluster * walk.cols * args->batch_count * trial->splits;
    const double rate = family->bytes * traits->sm_count;
    const double rate_alone = tf32_alone_bytes * (double)items;
    const double least = moved / (tf32 && rate_alone < rate ? rate_alone : rate);
    const int64_t lines = walk.transposed ? args->m : args->n;
    const int64_t room_for = walk.cols * (walk.transposed ? row->m : row->n);
    const double lacks =
        tf32 && !tf32_converts(trial->variant) ? 1 - (double)lines / (double)room_for : 0;
    const double steps = (double)tilemm__div_up(trial->k_split, row->k);
    /* Where the copy engine could store C but for its alignment, or beta. */
    const int by_rows = !tf32 && row->facet && !tilemm__sgemm_is_stored_in_bulk(args);
    const double store = !by_rows    ? 0
                         : unaligned ? unaligned_store * (double)(row->m * row->n * row->blocks)
                                     : fused_store;
    int64_t room = (int64_t)traits->sm_count * row->blocks;
    double cycles = family->launch + cost->start;
    const double copies = unaligned ? 0 : copies_estimate(args, traits, tf32);
    /* A cluster lies in one of several groups of multiprocessors: some of each stay empty. */
    if (trial->cluster && trial->splits > 2) {
        const int64_t slots = (int64_t)CLUSTER_SMS * row->blocks;
        if (row->blocks == 1)
            room = room * (trial->splits > 4 && !tf32 ? 6 : 9) / 10;
        else if (!tf32)
            room = trial->splits == slots / 4
                       ? room * 9 / 10
                       : room * (slots / trial->splits * trial->splits) / slots;
    }
    if (items <= traits->sm_count && items <= room)
        cycles += cost->item_alone + steps * cost->step_alone;
    else
        cycles += (double)tilemm__div_up(items, room) * (cost->item + store + steps * cost->step) *
                  (trial->cluster && items > room && !tf32 ? fused_cluster_waves : 1);
    cycles = ((cycles > least ? cycles : least) + cycles / 100) * (1 + tf32_lacking * lacks);
    if (trial->cluster)
        cycles += family->cluster + (tf32 ? tf32_meeting : 0) +
                  (double)row->m * row->n * sizeof(float) / family->cluster_bytes;
    if (tf32)
        cycles += tf32_store * stored_alone(args, traits);
    return cycles + copies + second_kernel(family, trial, bytes, traits);
}

/* A cost of 3 was measured for each piece that a tail's cluster has beside its own steps. */
enum { TAIL_PIECE_STEPS = 3 };

void tilemm__sgemm_stream_k(int64_t tiles, int64_t clusters, int64_t steps, int64_t *layers,
                            int64_t *layer)
{
    *layers = clusters / tiles;
    *layer = tilemm__div_up(tiles * (steps + TAIL_PIECE_STEPS), clusters);
    if (*layers * *layer >= steps) { /* no tails */
        *layer = tilemm__div_up(steps, *layers);
        *layers = tilemm__div_up(steps, *layer);
    }
}

double tilemm__sgemm_stream_k_estimate(int variant, int64_t pairs, int64_t steps, int64_t shared,
                                       const tilemm__cuda_traits_t *traits)
{
    const tile_cost_t *cost = tile_cost(variant);
    const int64_t clusters = traits->sm_count / TILEMM__SGEMM_STREAM_K_PAIR;
    const double wave = cost->item + (double)steps * cost->step;
    int64_t layers, layer;
    if (shared == 0)
        return (double)tilemm__div_up(pairs, clusters) * wave;
    tilemm__sgemm_stream_k(shared, clusters, steps, &layers, &layer);
    return (double)(pairs / clusters) * wave + (double)layer * cost->step + cost->item +
           (double)(layers + TILEMM__SGEMM_STREAM_K_TAILS) * stream_k_piece * cost->step;
}

/* Reading the operands and writing the planes; the product; later parts of k read and write C. */
static double planes_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                              const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const family_cost_t *family = &family_costs[OF_PLANES];
    const double panels = (double)tilemm__div_up(args->k, trial->k_split);
    const double groups = (double)tilemm__div_up(args->batch_count, trial->batch_group);
    const int64_t steps = tilemm__div_up(tilemm__min(trial->k_split, args->k), 64);
    const double across = row->products > 1 && args->k <= planes_most_across ? planes_across : 1;
    const double unaligned = row->products > 1 && args->batch_count > 1 ? planes_unaligned : 1;
    const double lines = (double)args->m * (args->trans_a ? across : 1) *
                             (tilemm__sgemm_is_aligned_a(args) ? 1 : unaligned) +
                         (double)args->n * (args->trans_b ? 1 : across) *
                             (tilemm__sgemm_is_aligned_b(args) ? 1 : unaligned);
    const double numbers = lines * (double)args->k * (double)args->batch_count;
    const double bytes = numbers * (row->products == 1 ? 6 : 8) +
                         (panels - 1) * tilemm__sgemm_elements_of_c(args) * 2 * sizeof(float);
    double product;
    if (trial->variant >= SM90_FIRST) {
        const int64_t rows = tilemm__div_up(args->m, (int64_t)row->m * row->facet);
        const int64_t cols =
            tilemm__div_up(args->n, (int64_t)row->n * (TILEMM__SGEMM_STREAM_K_PAIR / row->facet));
        product = tilemm__sgemm_stream_k_estimate(trial->variant, rows * cols * trial->batch_group,
                                                  steps, trial->shared, traits);
    } else { /* as tiles of 128 x 128, whatever the row's are */
        const tile_cost_t *cost = tile_cost(trial->variant);
        const int cc = traits->cc;
        const double rate = cc == 86 || cc == 89 || cc >= 120 ? 256 : 1024; /* consumers' chips */
        const double waves = (double)tilemm__div_up(args->m, 128) *
                             (double)tilemm__div_up(args->n, 128) * (double)trial->batch_group /
                             traits->sm_count;
        product = (waves < 1 ? 1 : waves) *
                  (cost->item + (double)steps * cost->step * (SM80_RATE / rate));
    }
    const double cycles =
        bytes / (family->bytes * traits->sm_count) +
        groups * panels *
            (family->launch + (row->products == 1 ? planes_of_one : 0) +
             product * (row->products > 1 && trial->batch_group > 1 ? planes_batch : 1));
    return cycles * (traits->cc == 90 && row->products > 1 ? planes_hard_data : 1);
}

double tilemm__sgemm_cuda_estimate(const tilemm__sgemm_trial_t *trial,
                                   const tilemm__sgemm_args_t *args,
                                   const tilemm__cuda_traits_t *traits)
{
    if (trial->variant < SKINNY_FIRST)
        return ffma_estimate(trial, args, traits);
    if (trial->variant < FUSED_FIRST)
        return skinny_estimate(trial, args, traits);
    if (trial->variant < SM80_FIRST)
        return fused_estimate(trial, args, traits);
    return planes_estimate(trial, args, traits);
}
