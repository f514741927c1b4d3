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

#include "cost_parts_cuda.h"
#include "cost_table_cuda.h"
#include "kernels/sgemm/cuda/ffma.h"
#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/half_planes.h"
#include "kernels/sgemm/cuda/planes.h"

/* ---- the constants -------------------------------------------------------------------------- */

/* Of multiply-adds in FP32, by kernels before compute capability 8.0, and by others. Of these,
 * steps, blocks of a full multiprocessor and bytes were fitted to 9850 times of products on H200s,
 * what blocks alone, launches, clusters and copies take since to 26800 times of 1077 products: 8
 * percent are left between the estimate and what was measured. Cycles of a block's copies of 4
 * bytes, not 16, in a step, for each 32 numbers: of operands that are not aligned, or that tiles
 * transpose. */
static const double ffma_narrow[2] = {0.69, 1.82};
/* Of a thread's copy in a step that is not whole. */
static const double ffma_part = 5.7;
/* In which a multiprocessor stores an element of C that is not one of 16 bytes. */
static const double ffma_store[2] = {0.79, 0.31};
/* By which a grid of few blocks of a tile of 32 rows is shorter, as the next kernel is set up
 * meanwhile. */
static const double early = 1070;
enum { SCHEDULERS = 4 };
/* Where clusters of tiles of multiply-adds share multiprocessors, places that they leave empty are
 * taken for so many times as many. */
static const double clusters_just_fit = 1.4;
/* Cycles of the second kernel of split-K for each split. */
static const double splitk_split = 10;
/* Of skinny kernels, fitted to 135 products on an H200. Cycles that one takes to start, for each
 * column of its tile. */
static const double skinny_start = 300;
/* Bytes that a multiprocessor reads in a cycle for tiles of up to 4, 8 and 16 columns, if each has
 * a block; and at most, with fewer blocks or two to each. */
static const double skinny_bytes[3][2] = {{15.2, 26}, {10.3, 20}, {7, 12}};
/* The part of that rate that tiles of 16 rows reach where X is not aligned; the part of memory's
 * that kernels of one column reach: _long, where X is not aligned and where it is, and the other.
 */
static const double skinny_few = 0.65, skinny_long[2] = {0.84, 0.96}, skinny_of_one = 0.85;
/* The part of the room for blocks that clusters of 3, 5, 6 or 7 fill at once. */
static const double skinny_fits = 0.94;
/* Cycles of each wave of its blocks but the first, and of each step of k of that. */
static const double skinny_wave = 3500, skinny_wave_step = 9;
/* Cycles in which a cluster adds up its splits; in which the last block does, and for each column;
 * with one column, and in kernels _long. */
static const double skinny_meeting = 800, skinny_last = 4300, skinny_last_column = 500,
                    skinny_last_one[2] = {10000, 14000};
/* Cycles that a row of X takes besides; three times as many if it is not aligned. */
static const double skinny_line = 8;
/* How much longer planes of several matrices are multiplied than those of one. */
static const double planes_batch = 1.5;
/* Of planes made in the kernel, and of TF32, fitted to 2900 and 8200 products by their tiles on
 * H200s, which leaves 9 and 11 % between the estimate and what was measured. Cycles of the pass
 * that copies operands to aligned rows, and how often it moves their bytes. */
static const double copies_start = 2550, copies_passes = 2.12;
/* Bytes that a multiprocessor reads in a cycle if all do: in rows that do not begin at multiples of
 * a sector of the L2 cache; nor of a line; in others, of more data than the cache holds; of less.
 */
static const double l2_bytes[4] = {19.5, 29.6, 41.8, 58.3};
/* Bytes that one moves at most, in tiles with up to 32 rows or columns. */
static const double narrow_bytes = 21.3;
/* The part of the shorter of multiplying and moving that the longer does not hide; with multiply-
 * adds in FP32. */
static const double fused_both = 0.16, ffma_both[2] = {0.2, 0.17};
/* Cycles that warps take to store a tile by rows instead of the copy engine; where they read
 * operands that are not aligned, for each element of the tiles of a multiprocessor. */
static const double fused_store = 796, unaligned_store = 0.111;
/* How much longer a step takes where threads copy operands that are not aligned; in TF32. */
static const double copied_step = 1.25, tf32_copied_step = 1.4;
/* Cycles in which a multiprocessor stores an element of C that is not one of 16 bytes: of aligned
 * operands, and of others; in TF32, and more for each element of a tile in kernels that compute C';
 * and in TF32 of each element however it is stored. */
static const double fused_alone[2] = {0.378, 0.26}, tf32_alone = 0.15, tf32_alone_tile = 2.8e-5,
                    tf32_store = 0.14;
/* Of parts of k of FP16 planes the third kernel, which computes what these do not carry. */
static const double half_third_kernel = 8000;
/* How much longer the pass takes to read numbers that are not aligned to 16 bytes. */
static const double half_planes_narrow = 1.7;
/* How much longer waves of clusters take, which leave some multiprocessors empty. */
static const double fused_cluster_waves = 1.17;
/* Cycles by which kernels that compute C' take longer to add up, for each block of a cluster of
 * three or more. */
static const double fused_transposed_sum = 500;
/* Cycles by which TF32 begins sooner, and by which its clusters take longer to meet: where all run
 * at once, and where not; how much longer it takes for the part of a tile's lines of an operand
 * that C lacks. */
static const double tf32_sooner = 240, tf32_meeting[2] = {1200, 29400}, tf32_lacking = 0.17;
/* How much longer planes are made of an operand that does not run along k; for longer k planes are
 * preferred all the same, since their sums are more exact than those of the other kernels. */
static const double planes_across = 1.45, planes_most_across = 8192;
/* And of many matrices that are not aligned; one plane of them. */
static const double planes_unaligned = 4, planes_unaligned_one = 1.11;
/* Bytes that making one plane of a number moves, fitted to 437 products; two. */
static const double planes_bytes[2] = {10.5, 8};
/* Of products with a short k, cycles in which a multiprocessor stores an element of C after its
 * last products, up to so many of them; and as many more for each element of C that is not one of
 * 16 bytes; k from which on other products hide that. */
static const double planes_store = 0.5, planes_last = 60000, planes_alone = 0.3,
                    planes_hides = 1600;
/* Cycles that one plane takes beside two, fitted likewise; and how much faster than the other
 * kernels planes must be: one, whose estimate is coarse, and several, which hard data takes twice
 * as long, and the fused kernels, which take any data alike, do not. */
static const double planes_of_one = 6500, planes_margin[2] = {1.05, 1.1};
/* Cycles that it costs to share out the k of tiles, fitted to 85 products with and without on an
 * H200: where clusters are too few for two pieces of each tile and the rest; where they are not,
 * and for each step of k. */
static const double stream_k_one = 31000, stream_k_more = 9500, stream_k_step = 100;

/* Multiply-adds of a multiprocessor in a cycle for which the table's steps are given, in FP16 on
 * tensor cores by mma.sync. */
enum { SM80_RATE = 1024 };

/* ---- parts of the estimate ------------------------------------------------------------------- */

enum {
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x2_k,
    SKINNY_FIRST_LONG = TILEMM__sgemm_skinny_sm75_128x1_long,
    FUSED_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    SM80_FIRST = TILEMM__sgemm_planes_sm80_128x128x32_p1,
    HALF_PLANES_FIRST = TILEMM__sgemm_half_planes_sm90_128x128x64,
    SM90_FIRST = TILEMM__sgemm_planes_sm90_128x128x64_p3_1x2
};

/* Adding up split-K's partial products: a second kernel, which reads what the first one wrote. */
static double second_kernel(const tilemm__family_cost_t *family, const tilemm__sgemm_trial_t *trial,
                            double bytes_of_c, const tilemm__cuda_traits_t *traits)
{
    if (trial->splits == 1 || trial->cluster)
        return 0;
    return family->second_kernel + splitk_split * (double)trial->splits +
           2 * bytes_of_c * (double)trial->splits / (family->bytes * traits->sm_count);
}

/* Multiplying, and reading, of which the longer hides part of the other. */
static double overlapped(double x, double y, double part)
{
    return x > y ? x + part * y : y + part * x;
}

/* ---- FP32 multiply-adds ---------------------------------------------------------------------- */

/* What a block costs besides the table: the copies of a step; and those of a step that is not
 * whole. */
typedef struct {
    double copies, part;
} ffma_extra_t;

/* Cycles of `x` blocks on a multiprocessor for `steps` steps each. Up to a warp for each scheduler,
 * blocks cost no more than one; and blocks of two warps as much as the next even number of them. */
static double ffma_wave(const tilemm__tile_cost_t *cost, const tilemm__sgemm_row_t *row, double x,
                        double steps, ffma_extra_t extra, int cc)
{
    const double alone = SCHEDULERS * 32 > row->threads ? SCHEDULERS * 32.0 / row->threads : 1;
    const double even = alone * whole(x / alone + 1 - 1e-9);
    const double blocks = alone == 1 ? x : even < cost->blocks ? even : cost->blocks;
    const double more = blocks > alone ? (blocks - alone) / (cost->blocks - alone) : 0;
    const double step = cost->step_alone + more * (cost->step - cost->step_alone);
    return cost->item_alone + more * (cost->item - cost->item_alone) +
           steps * (step * FFMA_RATE / ffma_rate(cc) + x * extra.copies) + x * extra.part;
}

/* Of a multiprocessor's `blocks`, in clusters, how many add up parts while no other block
 * multiplies: measured with 2 and 8 resident. */
static double exposed_sums(double blocks, double resident)
{
    const double first = blocks < 2 ? blocks : 2;
    return first + (blocks - first) * 2 / (resident > 2 ? resident : 2);
}

/* The most blocks that a multiprocessor has of a last wave, which is `share` blocks for each: where
 * clusters leave places empty, more than its part. Cards differ in how many they leave: a share
 * that only just fits in two blocks or more is taken for one that does not. */
static double resident_of_last(double share, int most, int cluster)
{
    int last = 1;
    if (share <= 1e-9)
        return 0;
    while (last < most) {
        const double empty = last - resident_of_clusters(last, cluster);
        if (share <= last - (last > 1 ? clusters_just_fit : 1) * empty + 1e-9)
            break;
        last++;
    }
    return last;
}

static double ffma_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                            const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const int sm80 = trial->variant >= TILEMM__sgemm_ffma_sm80_128x128x16_nn;
    const tilemm__family_cost_t *family =
        &tilemm__sgemm_family_costs[sm80 ? TILEMM__OF_FFMA : TILEMM__OF_FFMA_SM75];
    const int narrow_a = !tilemm__sgemm_is_aligned_a(args) || (sm80 && !args->trans_a);
    const int narrow_b = !tilemm__sgemm_is_aligned_b(args) || (sm80 && args->trans_b);
    const ffma_extra_t extra = {
        .copies = ffma_narrow[sm80] * (narrow_a * row->m + narrow_b * row->n) * row->k / 32,
        .part = args->k % row->k ? ffma_part * (row->m + row->n) * row->k / row->threads : 0};
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double count = tilemm__sgemm_tiles_of_c(row, args) * (double)trial->splits;
    const double steps = (double)tilemm__div_up(trial->k_split, row->k);
    const int cluster = trial->cluster ? (int)trial->splits : 1;
    const int most = tilemm__sgemm_resident_blocks(row, traits);
    const double resident = resident_of_clusters(most, cluster);
    const double share = count / traits->sm_count, waves = whole(share / resident + 1e-9);
    const double last = resident_of_last(share - waves * resident, most, cluster);
    double sum = family->launch + cost->start;
    sum += waves * ffma_wave(cost, row, resident, steps, extra, traits->cc);
    if (last > 0)
        sum += ffma_wave(cost, row, last, steps, extra, traits->cc);
    if (cluster > 1)
        sum += (waves + (last > 0)) * family->cluster +
               exposed_sums(whole(share + 1 - 1e-9), resident) * (double)row->m * row->n *
                   sizeof(float) / family->cluster_bytes;
    if (sm80 && traits->cc >= 90 && row->m == 32 && count <= TILEMM__SGEMM_FEW_BLOCKS)
        sum -= early;
    if (trial->splits == 1 || trial->cluster)
        sum += ffma_store[sm80] * stored_alone(args, traits);
    const double least = bytes_of_all(args) / (family->bytes * traits->sm_count);
    return overlapped(sum, least, ffma_both[sm80]) + second_kernel(family, trial, bytes, traits);
}

enum { SKINNY_RESIDENT = 2 /* blocks on a multiprocessor */ };

/* Bytes that a multiprocessor reads in a cycle: one of skinny_bytes for tiles of a row. */
static double skinny_rate(const tilemm__sgemm_row_t *row, int two)
{
    enum { FEWEST = 16 /* rows */ };
    return skinny_bytes[row->n > 4 ? row->n / 8 : 0][two] *
           (row->m == FEWEST && !row->facet ? skinny_few : 1);
}

/* Bytes of the operands that a block reads. */
static double skinny_bytes_of(const tilemm__sgemm_trial_t *trial)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    return (double)(row->m + row->n) * (double)trial->k_split * sizeof(float);
}

/* Cycles in which a multiprocessor reads the operands of its part of `blocks`. */
static double skinny_reading(const tilemm__sgemm_trial_t *trial, double blocks,
                             const tilemm__cuda_traits_t *traits)
{
    enum { FEW = 3 };
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const double rate[2] = {skinny_rate(row, 0), skinny_rate(row, 1)};
    const double share = blocks / traits->sm_count, waves = share / SKINNY_RESIDENT;
    const double bytes = skinny_bytes_of(trial);
    if (share <= 1)
        return bytes / (rate[0] < share * rate[1] ? rate[0] / share : rate[1]);
    return (waves < FEW ? whole(waves + 1 - 1e-9) : waves + 0.5) * SKINNY_RESIDENT * bytes /
           rate[1];
}

/* Cycles of the blocks that are left where a wave of clusters does not fit. */
static double skinny_late(const tilemm__sgemm_trial_t *trial, double blocks,
                          const tilemm__cuda_traits_t *traits)
{
    const int is_power = (trial->splits & (trial->splits - 1)) == 0;
    const double waves = blocks / (SKINNY_RESIDENT * (double)traits->sm_count);
    return trial->cluster && !is_power && waves > skinny_fits && waves <= 1
               ? skinny_bytes_of(trial) / skinny_rate(&tilemm__sgemm_rows[trial->variant], 0)
               : 0;
}

/* Reading the large operand, and multiply-adds. */
static double skinny_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                              const tilemm__cuda_traits_t *traits)
{
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_SKINNY];
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const double lines = (double)tilemm__max(args->m, args->n) * (double)args->batch_count;
    /* Two blocks on a multiprocessor: later waves wait again for all that they read. */
    const double blocks = (double)tilemm__div_up(tilemm__max(args->m, args->n), row->m) *
                          (double)args->batch_count * (double)trial->splits;
    const double waves = blocks / (SKINNY_RESIDENT * (double)traits->sm_count);
    const double later = waves > 1 ? waves - 1 : 0;
    const int is_long = trial->variant >= SKINNY_FIRST_LONG;
    const double part = row->n > 1 ? 1 : is_long ? skinny_long[row->facet] : skinny_of_one;
    const double last =
        row->n > 1 ? skinny_last + skinny_last_column * row->n : skinny_last_one[is_long];
    const double least = bytes_of_all(args) / (family->bytes * part * traits->sm_count);
    const double reading = is_long ? 0 : skinny_reading(trial, blocks, traits);
    return family->launch + skinny_start * row->n + (reading > least ? reading : least) +
           skinny_late(trial, blocks, traits) +
           later * (skinny_wave + skinny_wave_step * (double)trial->k_split) +
           (trial->cluster      ? skinny_meeting
            : trial->splits > 1 ? last
                                : 0) +
           lines / traits->sm_count * skinny_line * (row->facet ? 1 : 3);
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

/* Reading operands, and writing them where the copy engine can read them. */
static double copies_estimate(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits)
{
    const double lines = (tilemm__sgemm_is_readable_a(args) ? 0 : (double)args->m) +
                         (tilemm__sgemm_is_readable_b(args) ? 0 : (double)args->n);
    const double bytes = lines * (double)args->k * (double)args->batch_count * sizeof(float);
    return bytes > 0 ? copies_start + copies_passes * bytes /
                                          (tilemm__sgemm_family_costs[TILEMM__OF_FUSED].bytes *
                                           traits->sm_count)
                     : 0;
}

/* The items of a product: tiles times splits. */
static int64_t items_of(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args)
{
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(trial->variant, args);
    return walk.rows * walk.cluster * walk.cols * args->batch_count * trial->splits;
}

/* Bytes of the operands and of C, which beta reads too. */
static double bytes_moved(const tilemm__sgemm_args_t *args)
{
    return bytes_of_all(args) +
           (args->beta != 0.0f ? tilemm__sgemm_elements_of_c(args) * sizeof(float) : 0);
}

/* Which of l2_bytes[] are those of an operand. */
static int rate_of(int64_t ld, int stays)
{
    const int64_t bytes = ld * (int64_t)sizeof(float);
    return bytes % TILEMM__SGEMM_SECTOR ? 0 : bytes % TILEMM__SGEMM_LINE ? 1 : 2 + stays;
}

/* Moving the bytes takes this: through memory once, and through L2 what all `items` read. */
static double moving_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                              const tilemm__cuda_traits_t *traits, int64_t items)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(trial->variant, args);
    const int64_t lda = tilemm__sgemm_is_readable_a(args)
                            ? args->lda
                            : tilemm__sgemm_ld_of_copy(args->trans_a ? args->m : args->k);
    const int64_t ldb = tilemm__sgemm_is_readable_b(args)
                            ? args->ldb
                            : tilemm__sgemm_ld_of_copy(args->trans_b ? args->k : args->n);
    const double moved = bytes_moved(args);
    const int stays = moved <= (double)traits->l2_bytes;
    const int rate_a = rate_of(lda, stays), rate_b = rate_of(ldb, stays);
    /* Blocks of a cluster read some lines together. */
    const double lines_a = (double)row->m / (walk.transposed ? walk.cluster_m : walk.cluster_n);
    const double lines_b = (double)row->n / (walk.transposed ? walk.cluster_n : walk.cluster_m);
    const double read = (double)items * (double)trial->k_split * sizeof(float);
    const double by_l2 = read * (lines_a / l2_bytes[rate_a] + lines_b / l2_bytes[rate_b]);
    const double by_memory = moved / tilemm__sgemm_family_costs[TILEMM__OF_FUSED].bytes;
    return (by_memory > by_l2 ? by_memory : by_l2) / traits->sm_count;
}

/* A cluster's sum; aligned copies; and split-K's second kernel. */
static double fused_extras(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                           const tilemm__cuda_traits_t *traits, double meeting)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FUSED];
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double sum = (double)row->m * row->n * sizeof(float) / family->cluster_bytes;
    const int by_parts =
        tilemm__sgemm_is_half(trial->variant) && trial->splits > 1 && !trial->cluster;
    const int late = trial->cluster && trial->splits > 2 &&
                     tilemm__sgemm_fused_walk(trial->variant, args).transposed;
    return (trial->cluster ? family->cluster + meeting + sum : 0) + by_parts * half_third_kernel +
           (late ? fused_transposed_sum * (double)trial->splits : 0) +
           (tilemm__sgemm_reads_unaligned(trial->variant) ? 0 : copies_estimate(args, traits)) +
           second_kernel(family, trial, bytes, traits);
}

int tilemm__sgemm_is_spread(int64_t blocks, int cluster, const tilemm__cuda_traits_t *traits)
{
    return (double)blocks <= traits->sm_count * resident_of_clusters(1, cluster);
}

/* The steps of an item, which count as `longer` if threads copy operands that are not aligned. */
static double steps_of(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                       double longer)
{
    const int copied =
        tilemm__sgemm_reads_unaligned(trial->variant) && !tilemm__sgemm_has_phases(args);
    return (double)tilemm__div_up(trial->k_split, tilemm__sgemm_rows[trial->variant].k) *
           (copied ? longer : 1);
}

/* Blocks are persistent: whole waves, but for one of fewer items than multiprocessors. */
static double fused_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                             const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FUSED];
    const int64_t items = items_of(trial, args);
    const double all = moving_estimate(trial, args, traits, items);
    const double alone =
        tilemm__min(row->m, row->n) > 32
            ? 0
            : bytes_moved(args) / (narrow_bytes * (double)tilemm__min(items, traits->sm_count));
    const double steps = steps_of(trial, args, copied_step);
    /* Where the copy engine could store C but for its alignment, or beta. */
    const double store = !row->facet || tilemm__sgemm_is_stored_in_bulk(args) ? 0
                         : tilemm__sgemm_reads_unaligned(trial->variant)
                             ? unaligned_store * (double)(row->m * row->n * row->blocks)
                             : fused_store;
    const int cluster = trial->cluster ? (int)trial->splits : 1;
    const int64_t room = tilemm__max(
        (int64_t)(traits->sm_count * resident_of_clusters(row->blocks, cluster)), cluster);
    double cycles = family->launch + cost->start;
    if (items <= room && tilemm__sgemm_is_spread(items, cluster, traits))
        cycles += cost->item_alone + steps * cost->step_alone;
    else
        cycles += (double)tilemm__div_up(items, room) * (cost->item + store + steps * cost->step) *
                  (trial->cluster && items > room ? fused_cluster_waves : 1);
    return overlapped(cycles, all > alone ? all : alone, fused_both) +
           fused_alone[tilemm__sgemm_reads_unaligned(trial->variant)] * stored_alone(args, traits) +
           fused_extras(trial, args, traits, 0);
}

/* The same in TF32. */
static double tf32_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                            const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FUSED];
    const int64_t items = items_of(trial, args);
    const double steps = steps_of(trial, args, tf32_copied_step);
    const int64_t room = (int64_t)traits->sm_count * row->blocks;
    const int at_once =
        (double)items <= traits->sm_count * resident_of_clusters(row->blocks, (int)trial->splits);
    double cycles = family->launch - tf32_sooner + cost->start;
    if (items <= traits->sm_count)
        cycles += cost->item_alone + steps * cost->step_alone;
    else
        cycles += (double)tilemm__div_up(items, room) * (cost->item + steps * cost->step);
    const double lacks_m = 1 - (double)args->m / (double)tilemm__round_up(args->m, row->m);
    const double lacks_n = 1 - (double)args->n / (double)tilemm__round_up(args->n, row->n);
    const double lacks =
        tilemm__sgemm_tf32_converts(trial->variant) || tilemm__sgemm_reads_unaligned(trial->variant)
            ? 0
        : lacks_m > lacks_n ? lacks_m
                            : lacks_n;
    const int transposed = tilemm__sgemm_fused_walk(trial->variant, args).transposed;
    return overlapped(cycles, moving_estimate(trial, args, traits, items), fused_both) *
               (1 + tf32_lacking * lacks) +
           tf32_store * exposed_store(args, traits) +
           (is_stored_wide(args) ? 0
                                 : (tf32_alone + transposed * tf32_alone_tile * row->m * row->n) *
                                       tilemm__sgemm_elements_of_c(args) / traits->sm_count) +
           fused_extras(trial, args, traits, tf32_meeting[!at_once]);
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

double tilemm__sgemm_stream_k_estimate(int variant, int64_t tiles, int64_t clusters, int64_t steps,
                                       int64_t shared)
{
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(variant);
    const double wave = cost->item + (double)steps * cost->step;
    int64_t layers, layer;
    if (shared == 0)
        return (double)tilemm__div_up(tiles, clusters) * wave;
    tilemm__sgemm_stream_k(shared, clusters, steps, &layers, &layer);
    return (double)(tiles / clusters) * wave + (double)layer * cost->step + cost->item +
           (layers == 1 ? stream_k_one : stream_k_more + stream_k_step * (double)steps);
}

/* Reading the operands and writing the planes; the product; later parts of k read and write C. */
static double planes_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                              const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_PLANES];
    const double panels = (double)tilemm__div_up(args->k, trial->k_split);
    const double groups = (double)tilemm__div_up(args->batch_count, trial->batch_group);
    const int64_t steps = tilemm__div_up(tilemm__min(trial->k_split, args->k), 64);
    const double across = row->products > 1 && args->k <= planes_most_across ? planes_across : 1;
    const double unaligned = row->products == 1      ? planes_unaligned_one
                             : args->batch_count > 1 ? planes_unaligned
                                                     : 1;
    const double lines = (double)args->m * (args->trans_a ? across : 1) *
                             (tilemm__sgemm_is_aligned_a(args) ? 1 : unaligned) +
                         (double)args->n * (args->trans_b ? 1 : across) *
                             (tilemm__sgemm_is_aligned_b(args) ? 1 : unaligned);
    const double numbers = lines * (double)args->k * (double)args->batch_count;
    const double bytes = numbers * planes_bytes[row->products > 1] +
                         (panels - 1) * tilemm__sgemm_elements_of_c(args) * 2 * sizeof(float);
    double product, stores = 0;
    if (trial->variant >= SM90_FIRST) {
        const int64_t pairs = tilemm__sgemm_pairs(row, args->m, args->n, trial->batch_group);
        product = tilemm__sgemm_stream_k_estimate(trial->variant, pairs,
                                                  traits->sm_count / TILEMM__SGEMM_STREAM_K_PAIR,
                                                  steps, trial->shared);
        const double elements = tilemm__sgemm_elements_of_c(args) / traits->sm_count;
        if (row->products > 1 && (double)args->k < planes_hides)
            stores = (1 - (double)args->k / planes_hides) *
                     (planes_store * (elements < planes_last ? elements : planes_last) +
                      (is_stored_wide(args) ? 0 : planes_alone * elements));
    } else { /* as tiles of 128 x 128, whatever the row's are */
        const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
        const int cc = traits->cc;
        const double rate = cc == 86 || cc == 89 || cc >= 120 ? 256 : 1024; /* consumers' chips */
        const double waves = (double)tilemm__div_up(args->m, 128) *
                             (double)tilemm__div_up(args->n, 128) * (double)trial->batch_group /
                             traits->sm_count;
        product = (waves < 1 ? 1 : waves) *
                  (cost->item + (double)steps * cost->step * (SM80_RATE / rate));
    }
    const double cycles =
        bytes / (family->bytes * traits->sm_count) + stores +
        groups * panels *
            (family->launch + (row->products == 1 ? planes_of_one : 0) +
             product * (row->products > 1 && trial->batch_group > 1 ? planes_batch : 1));
    return cycles * (traits->cc == 90 ? planes_margin[row->products > 1] : 1);
}

/* Reading the operands and writing the planes; then whole waves of clusters' tiles. */
static double half_planes_estimate(const tilemm__sgemm_trial_t *trial,
                                   const tilemm__sgemm_args_t *args,
                                   const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_HALF_PLANES];
    const double narrow = ((tilemm__sgemm_is_aligned_a(args) ? 0 : (double)args->m) +
                           (tilemm__sgemm_is_aligned_b(args) ? 0 : (double)args->n)) *
                          (double)args->k * (double)args->batch_count;
    const double numbers = elements_of_a_and_b(args) + half_planes_narrow * narrow;
    const double filled_up = ((double)tilemm__round_up(args->m, TILEMM__SGEMM_HALF_ALIGN_MN) +
                              (double)tilemm__round_up(args->n, TILEMM__SGEMM_HALF_ALIGN_MN)) *
                             (double)args->k * (double)args->batch_count;
    const int64_t pairs = tilemm__sgemm_pairs(row, args->m, args->n, args->batch_count);
    const int64_t waves = tilemm__div_up(pairs, traits->sm_count / TILEMM__SGEMM_STREAM_K_PAIR);
    return family->launch +
           (numbers + filled_up) * sizeof(float) / (family->bytes * traits->sm_count) +
           (double)waves * (cost->item + (double)tilemm__div_up(args->k, row->k) * cost->step) *
               (args->batch_count > 1 ? planes_batch : 1);
}

double tilemm__sgemm_cuda_estimate(const tilemm__sgemm_trial_t *trial,
                                   const tilemm__sgemm_args_t *args,
                                   const tilemm__cuda_traits_t *traits)
{
    if (trial->variant < SKINNY_FIRST)
        return ffma_estimate(trial, args, traits);
    if (trial->variant < FUSED_FIRST)
        return skinny_estimate(trial, args, traits);
    if (tilemm__sgemm_is_tf32(trial->variant))
        return tf32_estimate(trial, args, traits);
    if (trial->variant < SM80_FIRST)
        return fused_estimate(trial, args, traits);
    if (trial->variant >= HALF_PLANES_FIRST)
        return half_planes_estimate(trial, args, traits);
    return planes_estimate(trial, args, traits);
}
