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
#include "kernels/sgemm/cuda/planes.h"

/* ---- the constants -------------------------------------------------------------------------- */

/* Cycles by which a grid of few blocks of the smallest tile is shorter, as the next kernel is set
 * up meanwhile. */
static const double early = 850;
/* Cycles that a warp's copies of 4 bytes, not 16, take for each line of 32 numbers. */
static const double narrow_copy = 0.43;
/* Cycles of each copy of a thread in a step that is not whole, if copies are checked, and if not;
 * and how much longer steps take in a tile that is larger than C, and by how much in the smallest.
 */
static const double ffma_part = 62, ffma_first = 20, ffma_small = 1.5, ffma_checked = 420;
/* Blocks by which a multiprocessor may have more than its part, for each block of a cluster: one
 * lies in a group of CLUSTER_SMS multiprocessors. */
static const double cluster_imbalance = 0.031;
enum { SCHEDULERS = 4 };
/* Cycles of the second kernel of split-K for each split. */
static const double splitk_split = 25;
/* Cycles that a skinny kernel takes for each column of its tile; 1.5 times, if more than four. */
static const double skinny_start = 500;
/* Cycles of each wave of its blocks but the first, and of each step of k of that. */
static const double skinny_wave = 3500, skinny_wave_step = 9;
/* Cycles in which a cluster adds up its splits; in which the last block does, and for each column.
 */
static const double skinny_meeting = 800, skinny_last = 4300, skinny_last_column = 500;
/* Part of the time of reading X by which each column of Z makes a skinny product longer. */
static const double skinny_column = 0.028;
/* Cycles that a row of X takes besides; twice as many with several columns, and three times if it
 * is not aligned. */
static const double skinny_line = 4;
/* Cycles in which a multiprocessor stores an element of C beyond those for 16 bytes at a time: in
 * tiles of 64 and more rows and columns of sm80, and in others; in TF32, and there of each element
 * however it is stored. */
static const double ffma_store = 0.9, ffma_store_small = 0.45, tf32_store = 0.9,
                    tf32_store_wide = 0.35;
/* How much longer planes of several matrices are multiplied than those of one. */
static const double planes_batch = 1.5;
/* Cycles of the pass that copies operands to aligned rows, beside the bytes that it moves: in TF32,
 * and in FP32; measured at 401^3 to 767^3 and in batches of 99^3 to 250^3. */
static const double tf32_copies = 3000, fused_copies = 3000, fused_copy_passes = 2.5;
/* Cycles that warps take to store a tile by rows instead of the copy engine; where they read
 * operands that are not aligned, for each element of the tiles of a multiprocessor. */
static const double fused_store = 1500, unaligned_store = 0.3;
/* Bytes that a multiprocessor reads in a cycle at most: in tiles with up to 32 rows or columns, and
 * in TF32; in TF32 from L2, if all do. */
static const double narrow_alone_bytes = 12.8, tf32_alone_bytes = 28, tf32_l2_bytes = 44;
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

/* Multiply-adds of a multiprocessor in a cycle for which the table's steps are given, in FP16 on
 * tensor cores by mma.sync. */
enum { SM80_RATE = 1024 };

/* ---- parts of the estimate ------------------------------------------------------------------- */

enum {
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x1_k,
    FUSED_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn,
    SM80_FIRST = TILEMM__sgemm_planes_sm80_128x128x32_p1,
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

/* ---- FP32 multiply-adds ---------------------------------------------------------------------- */

/* Cycles of `x` blocks on a multiprocessor for `steps` steps each; `narrow` of each step's cycles
 * are those of 4-byte copies. Up to a warp for each scheduler, blocks cost no more than one. */
static double ffma_wave(const tilemm__tile_cost_t *cost, const tilemm__sgemm_row_t *row, double x,
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
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FFMA];
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
    const int most = tilemm__sgemm_resident_blocks(row, traits);
    const double resident = resident_of_clusters(most, cluster);
    const double share = count / traits->sm_count, waves = whole(share / resident + 1e-9);
    double last = whole(share - waves * resident + 1 - 1e-9), sum = family->launch + cost->start;
    sum += waves * (ffma_wave(cost, row, resident, steps, narrow, traits->cc) + part * resident);
    if (last > 0) {
        if (cluster > 1)
            last += cluster_imbalance * cluster;
        last = last < most ? last : most;
        sum += ffma_wave(cost, row, last, steps, narrow, traits->cc) + part * last;
    }
    if (sm80 && unfilled && !small)
        sum += (waves + (last > 0)) * steps * ffma_checked;
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
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_SKINNY];
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const double lines = (double)tilemm__max(args->m, args->n) * (double)args->batch_count;
    const double numbers = elements_of_a_and_b(args) + tilemm__sgemm_elements_of_c(args);
    /* Two blocks on a multiprocessor: later waves wait again for all that they read. */
    const double blocks = (double)tilemm__div_up(tilemm__max(args->m, args->n), row->m) *
                          (double)args->batch_count * (double)trial->splits;
    const double waves = blocks / (2.0 * traits->sm_count), later = waves > 1 ? waves - 1 : 0;
    const double exposed = !row->facet && row->n > 4 ? row->n / 4 : 1;
    return family->launch + skinny_start * row->n * (row->n > 4 ? 1.5 : 1) +
           numbers * sizeof(float) / (family->bytes * traits->sm_count) * exposed *
               (1 + skinny_column * (double)tilemm__min(args->m, args->n)) +
           later * (skinny_wave + skinny_wave_step * (double)trial->k_split) +
           (trial->cluster      ? skinny_meeting
            : trial->splits > 1 ? skinny_last + skinny_last_column * row->n
                                : 0) +
           lines / traits->sm_count * skinny_line * (row->n > 1 ? 2 : 1) * (row->facet ? 1 : 3);
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

/* Reading operands, and writing them where the copy engine can read them. */
static double copies_estimate(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                              int tf32)
{
    const double lines = (tilemm__sgemm_is_readable_a(args) ? 0 : (double)args->m) +
                         (tilemm__sgemm_is_readable_b(args) ? 0 : (double)args->n);
    const double bytes = lines * (double)args->k * (double)args->batch_count * sizeof(float);
    return bytes > 0
               ? (tf32 ? tf32_copies : fused_copies) +
                     fused_copy_passes * bytes /
                         (tilemm__sgemm_family_costs[TILEMM__OF_FUSED].bytes * traits->sm_count)
               : 0;
}

/* Blocks are persistent: whole waves, but for one of fewer items than multiprocessors. */
static double fused_estimate(const tilemm__sgemm_trial_t *trial, const tilemm__sgemm_args_t *args,
                             const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(trial->variant);
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FUSED];
    const double bytes = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double moved =
        bytes * (args->beta != 0.0f ? 2 : 1) + elements_of_a_and_b(args) * sizeof(float);
    const int tf32 = tilemm__sgemm_is_tf32(trial->variant);
    const int unaligned = tilemm__sgemm_reads_unaligned(trial->variant);
    const tilemm__sgemm_fused_walk_t walk = tilemm__sgemm_fused_walk(trial->variant, args);
    const int64_t items = walk.rows * walk.cluster * walk.cols * args->batch_count * trial->splits;
    const int narrow = tilemm__min(row->m, row->n) <= 32;
    const double alone = tf32 ? tf32_alone_bytes : narrow ? narrow_alone_bytes : family->bytes;
    const double all = family->bytes * traits->sm_count;
    const double few =
        alone * (double)(tf32 || narrow ? tilemm__min(items, traits->sm_count) : traits->sm_count);
    const int high = walk.transposed ? row->n : row->m, wide = walk.transposed ? row->m : row->n;
    const double read = (double)items * (double)trial->k_split * sizeof(float) *
                        ((double)high / walk.cluster_n + (double)wide / walk.cluster_m);
    const double by_l2 = tf32 ? read / (tf32_l2_bytes * traits->sm_count) : 0;
    const double by_memory = moved / (few < all ? few : all);
    const double least = by_l2 > by_memory ? by_l2 : by_memory;
    const int64_t lines = walk.transposed ? args->m : args->n;
    const int64_t room_for = walk.cols * walk.cluster_n * wide;
    const double lacks = tf32 && !tilemm__sgemm_tf32_converts(trial->variant)
                             ? 1 - (double)lines / (double)room_for
                             : 0;
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
        cycles +=
            tf32_store_wide * exposed_store(args, traits) + tf32_store * stored_alone(args, traits);
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
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(variant);
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
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_PLANES];
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
