/* plan_split.c - see plan_sgemm_split.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_split.h"

#include <string.h>

#include "kernels/sgemm/cuda/split.h"
#include "lib/size.h"

/* The shortest k: below, the planes' last bit shows beside a plain FP32 sum. One plane has TF32's
 * bits whatever k is. */
enum { LEAST_K = 128, LEAST_K_OF_ONE = 16 };

/* Up to this k, lo lo is added too: there are too few products for it to average out. */
enum { LONGEST_K_OF_FOUR = 512 };

/* Up to this k, the wide tile's one sum over all of k truncates no more than TF32's rounding
 * shows. */
enum { LONGEST_K_UNSUMMED = 16384 };

/* What the tensor cores of a multiprocessor make of it, measured on an H200: the part of their
 * nominal rate; cycles for each tile beside its products; steps of k for each of the pieces of
 * one where its k is shared; a launch, in cycles; bytes moved in a cycle; what sharing k
 * must promise, since the chip's power is shared too. */
static const double part_of_rate = 0.75, per_tile = 5000, per_piece = 1, launch = 3000;
static const double bytes_per_cycle = 16, sharing_is_worth = 1.02;

/* Tiles of sgemm_split_sm90: rows and columns of C for a pair of blocks; the time of one next to
 * the 128 x 128 tile's. */
typedef struct {
    int tile, products;
    int rows, cols;
    double time;
    const char *name;
} shape_t;

static const shape_t shapes[] = {
    {TILEMM__SPLIT_128X128, 3, 128, 256, 1.0, "128x128x64"},
    {TILEMM__SPLIT_128X128_DOWN, 3, 256, 128, 1.02, "128x128x64"},
    {TILEMM__SPLIT_128X64, 3, 128, 128, 0.58, "128x64x64"},
    {TILEMM__SPLIT_128X128, 4, 128, 256, 1.0, "128x128x64"},
    {TILEMM__SPLIT_128X256, 1, 128, 512, 2.0, "128x256x64"},
    {TILEMM__SPLIT_128X128, 1, 128, 256, 1.25, "128x128x64"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* FP16 products with FP32 sums that a multiprocessor's tensor cores make in a cycle. */
static double rate(int cc, int sm90)
{
    if (sm90)
        return 2048;
    return cc == 86 || cc == 89 || cc >= 120 ? 256 : 1024; /* consumers' chips */
}

static size_t take(size_t *at, int64_t bytes)
{
    const size_t begin = *at;

    *at += (size_t)tilemm__round_up(bytes, 1024);
    return begin;
}

/* Bytes of the counters of a pair of tiles. */
enum { PAIR_COUNTER_BYTES = TILEMM__SPLIT_PAIR * TILEMM__SPLIT_COUNTERS * (int)sizeof(unsigned) };

/* Cycles of so many pairs of tiles, each of so many steps. Chooses whether the k of those that are
 * left over after whole rounds is shared by all clusters, if there is room. */
static double share(int64_t pairs, int64_t clusters, int64_t steps, double step, int64_t pair_bytes,
                    size_t room, int64_t *shared, size_t *bytes)
{
    const int64_t rest = pairs % clusters;
    const double round = (double)steps * step + per_tile;
    const double rounds = (double)(pairs / clusters) * round;
    int64_t layers, layer, pieces;
    double cycles;

    *shared = 0;
    *bytes = 0;
    if (rest == 0)
        return rounds;
    tilemm__split_share(rest, clusters, steps, &layers, &layer);
    cycles =
        (double)layer * step + per_tile + (double)(layers + TILEMM__SPLIT_TAILS) * per_piece * step;
    /* A last panel with fewer steps may have more layers. */
    pieces = rest * (clusters / rest + TILEMM__SPLIT_TAILS);
    if ((rounds + cycles) * sharing_is_worth > rounds + round ||
        (size_t)(pieces * pair_bytes + rest * PAIR_COUNTER_BYTES + 1024) > room)
        return rounds + round;
    *shared = rest;
    *bytes = (size_t)(pieces * pair_bytes);
    return rounds + cycles;
}

/* Cycles of the products of one panel; chooses the tile, and what is shared with so many bytes. */
static double product_cycles(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                             int64_t k, int64_t batch, size_t room, tilemm__split_plan_t *plan)
{
    const double step = plan->products * 128.0 * 128 * 64 / rate(traits->cc, plan->sm90) /
                        part_of_rate; /* 64 of k of a 128 x 128 tile */
    const double steps = (double)tilemm__div_up(k, 64);
    double best = -1;

    if (!plan->sm90) {
        const double tiles = (double)tilemm__div_up(args->m, 128) *
                             (double)tilemm__div_up(args->n, 128) * (double)batch;
        const double rounds = tiles / traits->sm_count;

        return (rounds < 1 ? 1 : rounds) * (steps * step + per_tile);
    }
    for (int i = 0; i < SHAPES; i++) {
        const shape_t *shape = &shapes[i];
        const int64_t pairs =
            tilemm__div_up(args->m, shape->rows) * tilemm__div_up(args->n, shape->cols) * batch;
        const int64_t bytes = (int64_t)shape->rows * shape->cols * (int64_t)sizeof(float);
        int64_t shared;
        size_t partial_bytes;
        const double cycles = share(pairs, traits->sm_count / 2, tilemm__div_up(k, 64),
                                    step * shape->time, bytes, room, &shared, &partial_bytes);

        if (shape->tile == TILEMM__SPLIT_128X256 && k > LONGEST_K_UNSUMMED)
            continue;
        if (shape->products == plan->products && (best < 0 || cycles < best)) {
            best = cycles;
            plan->tile = shape->tile;
            plan->shared = shared;
            plan->partial_bytes = partial_bytes;
        }
    }
    return best;
}

/* Lay the workspace out for panels of so much of k and groups of so many matrices. */
static void lay_out(const tilemm__sgemm_args_t *args, int64_t k_panel, int64_t batch_group,
                    tilemm__split_plan_t *plan)
{
    const int64_t lines_a = tilemm__round_up(args->m, TILEMM__SPLIT_ALIGN_MN) * batch_group;
    const int64_t lines_b = tilemm__round_up(args->n, TILEMM__SPLIT_ALIGN_MN) * batch_group;
    const int64_t depth = tilemm__round_up(k_panel, TILEMM__SPLIT_ALIGN_K);
    const int64_t blocks = tilemm__div_up(k_panel, TILEMM__SPLIT_BLOCK);
    const int64_t both = plan->products > 1;
    size_t at = 0;

    plan->k_panel = k_panel;
    plan->batch_group = batch_group;
    plan->hi_a = take(&at, lines_a * depth * 2);
    plan->lo_a = take(&at, lines_a * depth * 2 * both);
    plan->hi_b = take(&at, lines_b * depth * 2);
    plan->lo_b = take(&at, lines_b * depth * 2 * both);
    plan->exponents_a = take(&at, lines_a * blocks * 4);
    plan->exponents_b = take(&at, lines_b * blocks * 4);
    plan->zero = at;
    plan->states_a = take(&at, lines_a * (int64_t)sizeof(tilemm__split_state_t));
    plan->states_b = take(&at, lines_b * (int64_t)sizeof(tilemm__split_state_t));
    plan->sparse = take(&at, 3 * sizeof(unsigned));
    plan->zero_bytes = at - plan->zero;
    plan->bytes = at;
}

/* The largest panels and groups that fit: whole problems, then groups of matrices, then panels of
 * one matrix. Returns 0 if not even the smallest panel does. */
static int fit(const tilemm__sgemm_args_t *args, size_t workspace, tilemm__split_plan_t *plan)
{
    int64_t low = 0, high;

    lay_out(args, args->k, args->batch_count, plan);
    if (plan->bytes <= workspace)
        return 1;
    for (high = args->batch_count - 1; low < high;) { /* low fits, and what is above high not */
        const int64_t middle = high - (high - low) / 2;

        lay_out(args, args->k, middle, plan);
        if (plan->bytes <= workspace)
            low = middle;
        else
            high = middle - 1;
    }
    if (low > 0) {
        lay_out(args, args->k, low, plan);
        return 1;
    }
    if (args->a_array || args->b_array) /* addresses that nobody can add to */
        return 0;
    for (high = (args->k - 1) / TILEMM__SPLIT_BLOCK; low < high;) { /* in blocks of k */
        const int64_t middle = high - (high - low) / 2;

        lay_out(args, middle * TILEMM__SPLIT_BLOCK, 1, plan);
        if (plan->bytes <= workspace)
            low = middle;
        else
            high = middle - 1;
    }
    if (low == 0)
        return 0;
    /* Panels of much the same size. */
    low = tilemm__div_up(tilemm__div_up(args->k, TILEMM__SPLIT_BLOCK),
                         tilemm__div_up(args->k, low * TILEMM__SPLIT_BLOCK));
    lay_out(args, low * TILEMM__SPLIT_BLOCK, 1, plan);
    return 1;
}

int tilemm__plan_sgemm_split(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__split_plan_t *plan)
{
    const int one = math == TILEMM_MATH_TF32;
    /* Coordinates of the copy engine, and the kernels' tile counts. */
    const int64_t most = INT32_MAX / 2;
    /* Never more than this, however much there is. */
    const size_t eighth = traits->memory_bytes / 8,
                 bound = eighth > ((size_t)64 << 20) ? eighth : (size_t)64 << 20,
                 most_bytes = workspace < bound ? workspace : bound;
    int64_t panels, groups;

    memset(plan, 0, sizeof *plan);
    if (math == TILEMM_MATH_FP32_STRICT || traits->cc < 80 ||
        args->k < (one ? LEAST_K_OF_ONE : LEAST_K) || args->k > most || args->m > most ||
        args->n > most || (double)args->m * (double)args->n * (double)args->batch_count > 1e15)
        return 0;
    plan->products = one ? 1 : args->k <= LONGEST_K_OF_FOUR ? 4 : 3;
    plan->sm90 = traits->cc == 90;
    if (!fit(args, most_bytes, plan))
        return 0;
    while (plan->batch_group > 1 &&
           (double)plan->batch_group *
                   (double)tilemm__round_up(args->m > args->n ? args->m : args->n, 128) >
               (double)most)
        lay_out(args, plan->k_panel, plan->batch_group / 2, plan);
    while (plan->batch_group > 1 &&
           (double)plan->batch_group * (double)tilemm__round_up(plan->k_panel, 64) > (double)most)
        lay_out(args, plan->k_panel, plan->batch_group / 2, plan);
    panels = tilemm__div_up(args->k, plan->k_panel);
    groups = tilemm__div_up(args->batch_count, plan->batch_group);

    /* Reading the operands and writing the planes; a later panel reads and writes C once more. */
    plan->cycles = ((double)args->m + (double)args->n) * (double)args->k *
                   (double)args->batch_count * (one ? 6 : 8);
    plan->cycles +=
        (double)(panels - 1) * (double)args->m * (double)args->n * (double)args->batch_count * 8;
    plan->cycles /= bytes_per_cycle * traits->sm_count;
    plan->cycles += (double)groups * (double)panels *
                    (product_cycles(args, traits, tilemm__min(plan->k_panel, args->k),
                                    plan->batch_group, most_bytes - plan->bytes, plan) +
                     4 * launch);
    plan->counters = take(&plan->bytes, plan->shared * PAIR_COUNTER_BYTES);
    plan->zero_bytes = plan->bytes - plan->zero;
    plan->partial = take(&plan->bytes, (int64_t)plan->partial_bytes);
    return 1;
}

const char *tilemm__split_tile_name(const tilemm__split_plan_t *plan)
{
    for (int i = 0; plan->sm90 && i < SHAPES; i++)
        if (shapes[i].tile == plan->tile && shapes[i].products == plan->products)
            return shapes[i].name;
    return "128x128x32";
}
