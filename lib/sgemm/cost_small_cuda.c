/* cost_small_cuda.c - see cost_cuda.h: estimates of the kernels for small products, by FP32
 * multiply-adds: they are taken of the plan that the kernel is given.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"
#include "cost_parts_cuda.h"
#include "cost_table_cuda.h"

#include <math.h>

enum { SECTOR = TILEMM__SGEMM_SECTOR / sizeof(float) /* numbers */ };

/* ---- a matrix and a vector ------------------------------------------------------------------- */

enum { VECTOR_M_FIRST = TILEMM__sgemm_vector_sm75_8_m };

/* A matrix and a few vectors, rows along k and along m, fitted to 1185 and 366 products on an
 * H200, which leaves 13 and 10 %, and to 86 of several vectors. Cycles of a block, of one of 1024
 * threads besides, of each time that it reads, and of a multiprocessor for each block; in which a
 * cluster, and a second kernel, adds up parts of k; bytes that a multiprocessor reads in a cycle
 * from the L2 cache, and from one block, or from one of 1024 threads along k, or of the eight rows
 * of a sector along m; the part that waiting and reading add to each other; and for each vector but
 * the first, cycles of a block and of each time. */
static const struct {
    double block, large, round, start, meeting, second, cached, alone[2], both, pair, pair_round;
} vector_costs[2] = {{613, 2161, 569, 203, 2437, 4420, 38, {1500, 64.4}, 0.764, 0, 833},
                     {0, 1363, 624, 426, 1961, 2802, 30.3, {51.6, 14.3}, 0.471, 528, 300}};
/* The part of the L2 cache that numbers stay in; bytes of a vector that no L1 cache holds, and that
 * a multiprocessor reads in a cycle of one; sectors of memory that a block reads for each k beside
 * those that its rows fill, if they are not aligned. */
static const double vector_stays = 0.71, vector_long = 100e3, vector_again = 63.4,
                    vector_part = 0.59;
/* How much longer a block waits for numbers along k that it reads one by one: from the cache; from
 * memory, where it also waits for the rest of the sector that its row's part ends in. Fitted to 35
 * matrices. */
static const double vector_narrow[2] = {1.55, 1.8};
/* Cycles of a multiprocessor in which a thread reads a number, or four, of X and one of Z along m.
 */
static const double vector_load = 4.9 / 32;

/* Blocks read a few numbers ahead, and then wait for them. */
double tilemm__sgemm_vector_estimate(const tilemm__sgemm_vector_t *plan,
                                     const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const int along_m = plan->variant >= VECTOR_M_FIRST;
    const tilemm__family_cost_t *family =
        &tilemm__sgemm_family_costs[along_m ? TILEMM__OF_VECTOR_M : TILEMM__OF_VECTOR_K];
    const double k = (double)plan->k_split, rounds = (double)tilemm__div_up(plan->k_split, row->k);
    const double share = (double)plan->blocks / traits->sm_count, pairs = row->n / 2;
    const int is_large = row->threads > 256;
    const double resident = resident_of_clusters(row->blocks, (int)plan->cluster);
    const double block = vector_costs[along_m].block + is_large * vector_costs[along_m].large +
                         vector_costs[along_m].pair * pairs;
    const double of_all = (double)(plan->m + plan->n) * (double)plan->k * plan->blocks /
                          ((double)plan->per_matrix * plan->splits) * sizeof(float);
    const int is_cached = of_all <= vector_stays * (double)traits->l2_bytes;
    const double round = vector_costs[along_m].round + vector_costs[along_m].pair_round * pairs;
    const double lanes = (double)row->threads / row->m;
    const double narrow = along_m || row->facet ? 1
                          : is_cached           ? vector_narrow[0]
                                                : vector_narrow[1] * (1 + SECTOR / lanes);
    const double waiting = whole(share / resident + 1 - 1e-9) * (block + rounds * round * narrow) +
                           share * vector_costs[along_m].start * row->threads / 256;
    /* Bytes of a block. */
    const double rows = (double)tilemm__min(plan->m, row->m);
    /* Z is read once for all blocks; of columns that it lacks another is read, at half the cost. */
    const double columns = (plan->n + row->n) / (2.0 * plan->per_matrix);
    const double numbers = (rows * (double)plan->x_k + columns) * k;
    const double sectors = rows / SECTOR + (row->facet ? 0 : vector_part);
    const double bytes =
        sizeof(float) * (along_m ? k * (row->n + SECTOR * (sectors < 1 ? 1 : sectors)) : numbers);
    const double rate = is_cached ? vector_costs[along_m].cached : family->bytes;
    /* Blocks of a multiprocessor that do not divide k read the same numbers of the vector. */
    const double again =
        !along_m && plan->per_matrix > 1 && (double)plan->k * sizeof(float) > vector_long
            ? share * k * sizeof(float) / vector_again / (plan->splits > 1 ? 1 : resident)
            : 0;
    /* Of a row in four that is not whole, numbers are read one by one. */
    const double reads = row->facet ? (plan->m < row->m && plan->m % 4 ? 5 : 1) / 4.0 : 1;
    const double loads = along_m ? share * k * row->m * vector_load * reads : 0;
    const double all = share * bytes / rate + again;
    const double most = (double)tilemm__div_up(plan->blocks, traits->sm_count) * bytes /
                        vector_costs[along_m].alone[along_m ? row->m <= SECTOR : is_large];
    const double bytes_take = all > most ? all : most;
    const double reading = bytes_take > loads ? bytes_take : loads;
    const double both = vector_costs[along_m].both;
    return family->launch + (plan->cluster > 1 ? vector_costs[along_m].meeting : 0) +
           (plan->c_split ? vector_costs[along_m].second : 0) +
           (waiting > reading ? waiting + both * reading : reading + both * waiting);
}

/* ---- tiles that fit the matrices ------------------------------------------------------------- */

/* Cycles of a step of k of a block that is alone on a multiprocessor. */
static const double fitted_wait = 65;
/* How much longer tiles of one matrix take where one block is resident; others take their part. */
static const double fitted_alone = 0.8;
/* Cycles in which a multiprocessor stores an element of C that is not one of 16 bytes, for each
 * element of a thread's side. */
static const double fitted_store = 0.085;
/* Cycles in which it stores a row of C where a tile has few columns, and each lane so has a row of
 * its own, unless single elements, or 16 bytes, follow each other: measured with 1 to 11. */
static const double fitted_row = 3;
enum { FITTED_FEW_COLUMNS = 16 };

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
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_FITTED];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(plan->variant);
    const double warps = plan->threads / 32.0, k = (double)tilemm__round_up(args->k, 4);
    const double share = (double)tilemm__div_up(plan->blocks, traits->sm_count);
    const double room = (double)tilemm__sgemm_fitted_room(plan, traits);
    const double resident = warps * room;
    const double copies = k *
                          (plan->lanes_m * row->m / (double)plan->copies_a.width +
                           plan->lanes_n * row->n / (double)plan->copies_b.width) /
                          (plan->lanes_m * plan->lanes_n);
    const double block =
        cost->item + warps * k * cost->step + warps * copies * TILEMM__FITTED_COPY / resident;
    const double bytes_of_c = tilemm__sgemm_elements_of_c(args) * sizeof(float);
    const double least = bytes_of_all(args) / (family->bytes * traits->sm_count);
    /* Few blocks wait for each step of k. */
    const double waiting = share < room ? fitted_wait * k * (1 - share / room) : 0;
    const double busy = share * block + bytes_of_c / (2 * family->bytes * traits->sm_count);
    /* A tile that is a whole matrix reads nothing twice. Where few blocks are resident, seldom one
     * multiplies while others load and store. */
    const double several = plan->per_matrix > 1 ? 0.9 + fitted_alone / room : 1;
    const int follow = args->ldc == 1 || (args->ldc == 4 && tilemm__sgemm_is_aligned_c(args));
    const double rows = plan->lanes_n * row->n < FITTED_FEW_COLUMNS && !follow
                            ? fitted_row * (double)args->m * (double)args->batch_count
                            : 0;
    return family->launch + waiting + (busy > least ? busy : least) * several +
           fitted_store * row->m * stored_alone(args, traits) + rows / traits->sm_count;
}

/* ---- small batches ----------------------------------------------------------------------------
 */

/* Kernels for matrices of up to 4, 8, 16 and 32 rows and columns, not aligned and aligned: cycles
 * of a kernel, and of a multiprocessor for each matrix. Measured on an H200 with 2 to 1782
 * matrices. */
static const struct {
    double start, each;
} small_batch_costs[4][2] = {{{4650, 30}, {3150, 20}},
                             {{5900, 90}, {3500, 47}},
                             {{6400, 250}, {3870, 150}},
                             {{7300, 600}, {4600, 808}}};

double tilemm__sgemm_small_batch_estimate(const tilemm__sgemm_small_batch_t *plan,
                                          const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_args_t *args = &plan->args;
    const int which = (plan->variant - TILEMM__sgemm_small_batch_sm75_4x4x4_nn) / 4;
    const int aligned = plan->aligned_a && plan->aligned_b;
    const double least = bytes_of_all(args) /
                         (tilemm__sgemm_family_costs[TILEMM__OF_FITTED].bytes * traits->sm_count);
    const double cycles =
        small_batch_costs[which][aligned].start +
        small_batch_costs[which][aligned].each * (double)args->batch_count / traits->sm_count;
    return cycles > least ? cycles : least;
}

/* ---- k shared out among warps ---------------------------------------------------------------- */

/* Tiles whose k is shared out: cycles of each wave of blocks, of each stage after the first ones,
 * of a warp's step of k and for each element of a thread, of a cluster's meeting and for each block
 * of it; and those by which blocks keep each other waiting: for each block, each element of a
 * thread, in each step each 16 bytes that a warp reads and each of these elements, copy of a warp,
 * and element of C that has no neighbours. */
static const struct {
    double wait, stage, step, step_element, meeting, cluster, block, element, read, multiply, copy,
        scatter;
} slicek_costs = {838, 183, 131, 2.6, 2126, 26, 248, 24.2, 5, 10.1, 5.27, 0.8};
/* By how much they must promise to be faster than others. */
static const double slicek_worth = 1.05;

double tilemm__sgemm_slicek_estimate(const tilemm__sgemm_slicek_t *plan,
                                     const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_args_t *args = &plan->args;
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_SLICEK];
    /* What a block has on average: rows and columns. */
    const double rows = (double)args->m * plan->tiles_n / plan->per_matrix;
    const double columns = (double)args->n / plan->tiles_n, k = plan->k_split;
    /* Elements of a thread, 16 bytes that it reads in a step, steps of a warp, and copies. */
    const double elements = row->m * row->n / 32.0, reads = row->m + row->k * row->n / 32.0;
    const double steps = whole((k / row->k - 1) / TILEMM__SGEMM_SLICEK_WARPS + 1);
    const double copies =
        k / 32 * (rows / (plan->wide_a ? 4 : 1) + columns / (plan->wide_b ? 4 : 1));
    const double apart = (double)tilemm__min(plan->c_n, SECTOR);
    const double busy = slicek_costs.block + slicek_costs.element * elements +
                        steps * (slicek_costs.read * reads + slicek_costs.multiply * elements) +
                        slicek_costs.copy * copies +
                        slicek_costs.scatter * rows * columns * (apart - 1) / (SECTOR - 1);
    const double stages = (double)tilemm__div_up(plan->k_split, TILEMM__SGEMM_SLICEK_DEPTH);
    const double later = stages > TILEMM__SGEMM_SLICEK_STAGES
                             ? slicek_costs.stage * (stages - TILEMM__SGEMM_SLICEK_STAGES)
                             : 0;
    const double waiting =
        slicek_costs.wait + later +
        steps * (slicek_costs.step + slicek_costs.step_element * elements) +
        (plan->splits > 1 ? slicek_costs.meeting + slicek_costs.cluster * plan->splits : 0);
    const double resident = resident_of_clusters(
        tilemm__sgemm_resident_plan(row, row->threads, plan->shared, traits), plan->splits);
    const double share = (double)plan->blocks / traits->sm_count;
    const double waves = whole(share / resident + 1e-9);
    const double last = whole(share - waves * resident + 1 - 1e-9);
    const double least = bytes_of_all(args) / (family->bytes * traits->sm_count);
    const double all = (waves + (last > 0)) * waiting + (waves * resident + last) * busy;
    return family->launch + slicek_worth * (all > least ? all : least);
}

/* ---- tiles of a warp --------------------------------------------------------------------------
 */

/* Fitted to 807 products by their three tiles on an H200, which leaves 7 to 10 % between the
 * estimate and what was measured. Cycles of a launch; of a step of FP16 planes and of one of BF16
 * planes, which a wave of blocks waits for; of each block, and of each of its steps, which blocks
 * beside it have no part of; of these for each line of a warp's tile that is not copied 16 bytes at
 * a time; and bytes that a multiprocessor reads in a cycle from memory, of operands beyond L2. */
static const struct {
    double launch, wave[2], block, step[2], narrow, memory;
} warp_costs[] = {
    {4180, {780, 830}, 1880, {535, 625}, 8.5, 16.3},
    {4260, {577, 535}, 970, {490, 582}, 10.5, 16.3},
    {3530, {372, 400}, 900, {291, 320}, 9.5, 14.7},
};
/* Of a round of parts of k but the first; of a second kernel, and of each part that it adds. */
static const double warp_round = 20000, warp_second = 9000, warp_part = 60;
/* Bytes that a multiprocessor reads in a cycle; and the part by which reading and multiplying take
 * longer beside each other. */
static const double warp_bytes = 28, warp_beside = 0.08;

double tilemm__sgemm_warp_estimate(const tilemm__sgemm_warp_t *plan,
                                   const tilemm__cuda_traits_t *traits)
{
    enum { FIRST = TILEMM__sgemm_warp_sm90_32x16_nn, ROWS_OF_TILE = 4 };
    const int tile = (plan->variant - FIRST) / ROWS_OF_TILE;
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const double rounds =
        plan->half ? 1 : (double)tilemm__div_up(plan->parts_split, 1 << plan->slots_log2);
    const double steps =
        rounds * (double)tilemm__div_up(plan->half ? plan->k_half : plan->k_part, row->k);
    const double share = (double)plan->blocks / traits->sm_count, full = share / row->blocks;
    const double here = share < 3 ? whole(share + 1 - 1e-9) : share + 0.5;
    const double waves = full <= 1 ? 1 : full < 1.5 ? 2 : full + 0.3;
    const double narrow =
        warp_costs[tile].narrow * ((plan->wide_a ? 0 : row->m) + (plan->wide_b ? 0 : row->n));
    const double cycles =
        waves * steps * (warp_costs[tile].wave[!plan->half] + narrow) +
        here * (warp_costs[tile].block + steps * (warp_costs[tile].step[!plan->half] + narrow)) +
        (rounds - 1) * warp_round;
    const double bytes = (double)plan->blocks * TILEMM__SGEMM_WARP_WARPS * steps *
                         (row->m + row->n) * row->k * sizeof(float);
    const double all = bytes_of_all(&plan->args);
    const double reads = bytes / (warp_bytes * traits->sm_count);
    const double memory =
        all > (double)traits->l2_bytes ? all / (warp_costs[tile].memory * traits->sm_count) : 0;
    const double least = reads > memory ? reads : memory;
    return warp_costs[tile].launch +
           (cycles > least ? cycles + warp_beside * least : least + warp_beside * cycles) +
           (plan->splits > 1 ? warp_second + warp_part * plan->parts : 0);
}

/* ---- batches without gaps ----------------------------------------------------------------------
 */

/* Fitted to 43 batches on an H200, which leaves 12 %, but for a step, which is that of 29 others
 * with a k up to 113. Cycles of a launch; of a warp's step of k,
 * which reads shared memory; of each group of a block; bytes that a multiprocessor moves in a
 * cycle; and the part by which two of these three take longer beside the longest. */
static const double packed_launch = 4330, packed_step = 18, packed_group = 650, packed_bytes = 20.5,
                    packed_beside = 0.32;

double tilemm__sgemm_packed_estimate(const tilemm__sgemm_packed_t *plan,
                                     const tilemm__cuda_traits_t *traits)
{
    enum { FEW = 4 };
    const double share = (double)plan->groups / traits->sm_count;
    const double groups = share < FEW ? whole(share + 1 - 1e-9) : share + 0.5;
    const double busy = groups * plan->threads / 32 * (double)plan->args.k * packed_step;
    const double waiting = packed_group * (double)tilemm__div_up(plan->groups, plan->blocks);
    const double moving = bytes_of_all(&plan->args) / (packed_bytes * traits->sm_count);
    const double longer = busy > waiting ? busy : waiting;
    const double longest = longer > moving ? longer : moving;
    return packed_launch + longest + packed_beside * (busy + waiting + moving - longest);
}

/* ---- teams of warps ----------------------------------------------------------------------------
 */

/* Fitted to 81 products with k from 600 to 300000 on an H200, which leaves 5 % for the wide tile,
 * 10 % for the other one. Cycles of a launch; of a wave of blocks, and for each block on a
 * multiprocessor; of a round; of a step of each warp, of FP16 planes and of BF16 planes, with one
 * block there and with two; for each line of a tile that is not copied 16 bytes at a time in such a
 * step; of the kernel that adds up parts of BF16 planes, and of each part. */
static const struct {
    double launch, wave, block, round, step[2][2], narrow, second, part;
} team_costs[] = {
    {200, 4785, 1095, 1758, {{1906}, {1563}}, 27.2, 2270, 85.5},
    {1935, 1206, 2313, 1875, {{1205, 2006}, {1150, 1907}}, 59, 243, 237},
};
/* Part of the multiprocessors that clusters of four can have, one block to each. */
static const double team_part_of_all = 30.0 / 33;

double tilemm__sgemm_team_estimate(const tilemm__sgemm_warp_t *plan,
                                   const tilemm__cuda_traits_t *traits)
{
    enum { FIRST = TILEMM__sgemm_team_sm90_32x8_nn, ROWS_OF_TILE = 4 };
    const int tile = (plan->variant - FIRST) / ROWS_OF_TILE;
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const int64_t warps = row->threads / 32;
    const int64_t steps = tilemm__div_up(plan->half ? plan->k_half : plan->k_part, row->k);
    const double rounds = (double)tilemm__div_up(steps, warps * row->facet);
    const double narrow = (plan->wide_a ? 0 : row->m) + (plan->wide_b ? 0 : row->n);
    const double room = traits->sm_count * (plan->half ? team_part_of_all : 1);
    const double share = plan->blocks / room, full = share / row->blocks;
    /* Of two blocks the multiprocessor takes the next one while another works. */
    const double waves = full <= 1 ? 1 : row->blocks > 1 ? full : whole(full + 1 - 1e-9);
    const int here = share <= 1 || row->blocks == 1 ? 1 : 2;
    const double step =
        team_costs[tile].step[!plan->half][here - 1] + team_costs[tile].narrow * narrow;
    return team_costs[tile].launch +
           waves * (team_costs[tile].wave + here * team_costs[tile].block +
                    rounds * team_costs[tile].round + (double)tilemm__div_up(steps, warps) * step) +
           (plan->half ? 0 : team_costs[tile].second + team_costs[tile].part * plan->parts);
}

/* ---- a matrix and a few vectors ----------------------------------------------------------------
 */

/* Fitted to 500 products of up to eight rows or columns by both tiles on an H200, which leaves 10
 * %. Cycles of a launch; of a vector's planes in a part of k, and of each 256 of k of these; of a
 * round of tiles; of a step of FP16 planes and of one of BF16 planes, which a warp waits for, and
 * which warps beside it have no part of; of either if the matrix is not copied 16 bytes at a time;
 * of the kernel that adds up parts, and of each part. */
static const struct {
    double launch, vector, planes, round, wait[2], step[2], narrow, second, part;
} resident_costs[] = {
    {1350, 1920, 374, 4200, {994, 65}, {229, 659}, 1405, 22400, 9},
    {3370, 1090, 576, 1920, {294, 177}, {282, 370}, 904, 6300, 23},
};
static const double resident_bytes = 15.5, resident_narrow_step = 0.3;

double tilemm__sgemm_resident_estimate(const tilemm__sgemm_warp_t *plan, int here,
                                       const tilemm__cuda_traits_t *traits)
{
    enum { FIRST = TILEMM__sgemm_resident_sm90_32x8_k, ROWS_OF_TILE = 2, PLANES = 256 };
    const int tile = (plan->variant - FIRST) / ROWS_OF_TILE;
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const int64_t k = plan->half ? plan->k_half : plan->k_part;
    const int64_t groups = plan->warps >> plan->slots_log2;
    const int64_t parts = plan->splits > 1 ? 1 : plan->half ? plan->parts_half : plan->parts;
    const double vectors = (double)tilemm__div_up(parts * plan->args.n, plan->warps);
    const double make = vectors * (resident_costs[tile].vector +
                                   resident_costs[tile].planes * (double)tilemm__div_up(k, PLANES));
    const double rounds = (double)tilemm__div_up(plan->per_matrix, plan->shares * groups);
    const double steps = rounds * (double)tilemm__div_up(parts, 1 << plan->slots_log2) *
                         (double)tilemm__div_up(k, row->k);
    const double share = (double)plan->blocks / traits->sm_count, full = share / here;
    const double blocks = share < 4 ? whole(share + 1 - 1e-9) : share;
    const double waves = full <= 1 ? 1 : full < 3 ? whole(full + 1 - 1e-9) : full + 0.5;
    const double narrow = plan->wide_a ? 0 : resident_costs[tile].narrow;
    const double waiting = waves * (make + rounds * resident_costs[tile].round +
                                    steps * (resident_costs[tile].wait[!plan->half] + narrow));
    const double busy = blocks * plan->warps / 4 * steps *
                        (resident_costs[tile].step[!plan->half] + resident_narrow_step * narrow);
    const double bytes = (double)plan->args.batch_count * (double)plan->args.m *
                         (double)plan->args.k * sizeof(float);
    const double least = make + bytes / (resident_bytes * traits->sm_count);
    const double cycles = waiting + busy;
    return resident_costs[tile].launch +
           (cycles > least ? cycles + warp_beside * least : least + warp_beside * cycles) +
           (plan->splits > 1
                ? resident_costs[tile].second + resident_costs[tile].part * plan->splits
                : 0);
}

/* ---- sums of few outer products ----------------------------------------------------------------
 */

/* Fitted to 850 plans of 450 products on an H200, which leaves 13 %. Cycles of a launch; of a block
 * for each step of k that its variant has, of each of a thread's rows for each of these steps, of
 * each copy of a thread, and of each tile, which a wave of blocks waits for; of a warp for each
 * step of a row (four multiply-adds, and a quarter of a read of Ms), and by which it takes longer
 * to store a row in four pieces; of each copy of a warp; bytes that a multiprocessor moves in a
 * cycle; and how long it takes to read a number for the first time, and again, if to write one
 * takes 1. */
static const struct {
    double launch, depth, row, copy, tile, step, pieces, copying, bytes, first, again;
} outer_costs = {2730, 149, 14, 32, 89, 4.25, 38, 7.9, 16.1, 1.43, 0.2};

/* The blocks that a multiprocessor holds. */
int tilemm__sgemm_outer_room(const tilemm__sgemm_outer_t *plan, const tilemm__cuda_traits_t *traits)
{
    return tilemm__sgemm_resident_plan(&tilemm__sgemm_rows[plan->variant], (int)plan->threads,
                                       plan->shared, traits);
}

double tilemm__sgemm_outer_estimate(const tilemm__sgemm_outer_t *plan,
                                    const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *const row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_args_t *const args = &plan->args;
    const double share = (double)plan->blocks / traits->sm_count;
    const double full = share / tilemm__sgemm_outer_room(plan, traits);
    /* What a block has: tiles, rows and columns of each, and of a thread's rows. */
    const double tiles = (double)tilemm__div_up(tilemm__div_up(args->m, plan->rows), plan->shares);
    const double rows = (double)tilemm__min(plan->rows, args->m);
    const double columns = (double)tilemm__min(TILEMM__SGEMM_OUTER_COLUMNS * plan->lanes, args->n);
    const double turns = (double)tilemm__div_up((int64_t)rows, plan->groups);
    const double copies_a = row->k * rows / (plan->wide_a ? 4 : 1);
    const double copies_b = args->trans_b ? row->k * columns / (plan->wide_b ? 4 : 1) : 0;
    const double all_copies = tiles * copies_a + copies_b;
    const double waiting =
        (full <= 1 ? 1 : full + 1) *
        (outer_costs.depth * row->k + outer_costs.copy * (copies_a + copies_b) / plan->threads +
         tiles * (outer_costs.tile + outer_costs.row * row->k * turns));
    const double issued = outer_costs.step * row->k + (row->facet ? 0 : outer_costs.pieces);
    const double warps = plan->threads / 32.0;
    const double busy = (share < 1 ? 1 : share) * (warps / 4 * tiles * turns * issued +
                                                   outer_costs.copying * all_copies / 32);
    const double first = elements_of_a_and_b(args);
    const double read = (double)plan->blocks * (tiles * rows + columns) * (double)args->k;
    const double of_c = tilemm__sgemm_elements_of_c(args) * (args->beta != 0.0f ? 2 : 1);
    const double again = read > first ? read - first : 0;
    const double moving = sizeof(float) *
                          (of_c + outer_costs.first * first + outer_costs.again * again) /
                          (outer_costs.bytes * traits->sm_count);
    /* Each of the three hides most of the shorter ones. */
    return outer_costs.launch + sqrt(waiting * waiting + busy * busy + moving * moving);
}

/* ---- a short k ------------------------------------------------------------------------------- */

/* Cycles that a kernel for a short k takes to store an element of C whose neighbours are in other
 * lines of memory, beside those for any. */
static const double short_scatter = 1.6;
/* Part by which memory takes longer to write rows of C that are not aligned; and how long it takes
 * to read a number, if to write one takes 1; of an operand that runs along k. */
static const double short_parts = 0.25, short_read = 0.75, short_read_along_k = 1.4;
/* By how much these kernels must promise to be faster than others, whose figures are surer. */
static const double short_worth = 1.04;

double tilemm__sgemm_short_estimate(const tilemm__sgemm_short_t *plan,
                                    const tilemm__cuda_traits_t *traits)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[plan->variant];
    const tilemm__sgemm_args_t *args = &plan->args;
    const tilemm__family_cost_t *family = &tilemm__sgemm_family_costs[TILEMM__OF_SHORT];
    const tilemm__tile_cost_t *cost = tilemm__sgemm_tile_cost(plan->variant);
    /* What a block has on average: rows, columns and steps. */
    const double rows = (double)args->m * plan->tiles_n / plan->per_matrix;
    const double columns = (double)args->n / plan->tiles_n, steps = (double)args->k / row->k;
    const double copies = (plan->wide_a && args->trans_a ? rows / 4 : rows) +
                          (plan->wide_b && !args->trans_b ? columns / 4 : columns);
    const double apart = (double)tilemm__min(plan->c_n, SECTOR);
    const double item =
        rows * columns * (TILEMM__SHORT_STORE + short_scatter * (apart - 1) / (SECTOR - 1));
    const double step = TILEMM__SHORT_COPY * row->k * copies;
    const double resident = tilemm__sgemm_resident_plan(row, row->threads, plan->shared, traits);
    const double slower = FFMA_RATE / ffma_rate(traits->cc);
    const double share = (double)plan->blocks / traits->sm_count;
    const double waves = whole(share / resident + 1e-9);
    const double last = whole(share - waves * resident + 1 - 1e-9);
    const int by_rows = plan->c_n == 1; /* C's rows, as they lie, are of C here, or of C' */
    const int is_wide =
        (by_rows ? args->n : args->m) % 4 == 0 && (by_rows ? plan->c_m : plan->c_n) % 4 == 0;
    const double of_c = tilemm__sgemm_elements_of_c(args) * (args->beta != 0.0f ? 2 : 1) *
                        (is_wide ? 1 : 1 + short_parts);
    const double matrices = (double)args->batch_count * (double)args->k;
    const double of_a =
        matrices * (double)args->m * (args->trans_a ? short_read : short_read_along_k);
    const double of_b =
        matrices * (double)args->n * (args->trans_b ? short_read_along_k : short_read);
    const double least = (of_a + of_b + of_c) * sizeof(float) / (family->bytes * traits->sm_count);
    double busy = 0;
    for (int i = 0; i < 2; i++) { /* whole waves; the last one */
        const double x = i ? last : resident, more = (x - 1) / (cost->blocks - 1);
        if (x > 0)
            busy += (i ? 1 : waves) *
                    (cost->item_alone + more * (cost->item - cost->item_alone) + x * item +
                     steps * (slower * (cost->step_alone + more * (cost->step - cost->step_alone)) +
                              x * step));
    }
    return family->launch + short_worth * (busy > least ? busy : least);
}
