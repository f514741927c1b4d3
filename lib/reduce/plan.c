/* plan.c - how reductions are cut into tiles and shared out, on both backends.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <string.h>

#include "kernels/reduce/cuda/reduce.h"
#include "kernels/reduce/ops.h"
#include "lib/size.h"

/* a * b for sizes, or the largest size. */
static size_t product(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

/* Whether each partial result has a count or an index beside its value. */
static int has_extras(const tilemm__reduce_args_t *args)
{
    return tilemm__sum_is_counted(args->op, args->nan_ignore) || args->index_out != NULL;
}

/* Whether columns lie side by side and their elements do not. */
static int is_down(const tilemm__reduce_args_t *args)
{
    return args->count > 1 && args->vstride == 1 && args->istride != 1 && args->n > 1 &&
           args->op != TILEMM__DOT;
}

/* ---- CPU -------------------------------------------------------------------------------- */

/* A thread is worth starting for so many elements. */
enum { ELEMENTS_PER_THREAD = 32768 };
/* Enough that threads seldom meet, and no more memory than they need for that. */
enum { MAX_PANEL_TILES = 131072 };

static int64_t strip_width(const tilemm__reduce_args_t *args, const tilemm__cpu_traits_t *traits,
                           int threads)
{
    /* One set of 32 lanes for the tile, and one for each level that tiles' sums may reach. */
    int64_t sets = 1, width;
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        sets++;
    if (tilemm__op_is_order(args->op)) /* which need no lanes */
        return TILEMM__REDUCE_MAX_STRIP;
    width =
        tilemm__min(TILEMM__REDUCE_STACK_LANES / (TILEMM__TILE_LANES * sets),
                    (int64_t)(traits->l1d_bytes / 4 * 3 / (TILEMM__TILE_LANES * sizeof(double))));
    width = tilemm__min(width, TILEMM__REDUCE_MAX_STRIP);
    if (args->n <= TILEMM__TILE_ELEMS) /* nothing else can be shared out */
        width = tilemm__min(width, tilemm__div_up(args->count, threads));
    return width <= 16 ? 16 : width / 16 * 16;
}

void tilemm__plan_reduce_cpu(tilemm__reduce_cpu_plan_t *plan, const tilemm__reduce_args_t *args,
                             const tilemm__cpu_traits_t *traits, int threads, size_t workspace)
{
    const int64_t tiles = tilemm__tile_count(args->n);
    const int is_order = tilemm__op_is_order(args->op);
    const double elements = (double)args->n * (double)args->count;
    memset(plan, 0, sizeof *plan);
    if (elements / ELEMENTS_PER_THREAD < threads)
        threads = 1 + (int)(elements / ELEMENTS_PER_THREAD);
    plan->threads = threads;
    if (is_down(args)) {
        int64_t strips;
        plan->method = TILEMM__REDUCE_STRIPS;
        plan->strip = strip_width(args, traits, threads);
        strips = tilemm__div_up(args->count, plan->strip);
        if (threads > 1 && tiles > 1 && strips < 4 * (int64_t)threads) {
            /* Searches need no tile of their own: as many pieces as keep the threads busy. */
            int64_t rows = is_order
                               ? tilemm__div_up(tiles, 2 * (int64_t)threads) * TILEMM__TILE_ELEMS
                               : TILEMM__TILE_ELEMS;
            size_t bytes = /* for each piece of a strip what is largest */
                product((size_t)tilemm__div_up(args->n, rows),
                        product((size_t)args->count, has_extras(args) ? 16 : 8) + 8 * strips);
            if (bytes <= workspace) {
                plan->method = TILEMM__REDUCE_PIECES;
                plan->piece_rows = rows;
                plan->workspace = bytes;
                return;
            }
        }
        plan->threads = (int)tilemm__min(threads, strips);
    } else if (threads > 1 && tiles >= 4 * (int64_t)threads && args->count < 8 * (int64_t)threads) {
        int64_t whole =
            tilemm__div_up(tiles, TILEMM__REDUCE_STACK_TILES) * TILEMM__REDUCE_STACK_TILES;
        plan->method = TILEMM__REDUCE_TILES;
        plan->panel = tilemm__min(tilemm__min(whole, MAX_PANEL_TILES),
                                  (int64_t)(workspace / sizeof(tilemm__sum_t)));
        plan->panel = plan->panel / TILEMM__REDUCE_STACK_TILES * TILEMM__REDUCE_STACK_TILES;
        if (is_order || plan->panel <= TILEMM__REDUCE_STACK_TILES)
            plan->panel = TILEMM__REDUCE_STACK_TILES;
        else
            plan->workspace = (size_t)plan->panel * sizeof(tilemm__sum_t);
    } else {
        plan->method = TILEMM__REDUCE_VECTORS;
        plan->threads = (int)tilemm__min(threads, args->count);
    }
}

/* ---- CUDA ------------------------------------------------------------------------------- */

/* Partial results are a small part of the elements; past this size panels cost nothing. */
#define WORKSPACE_ENOUGH ((size_t)64 << 20)

enum { MOST_PARTED = 1024 }; /* items that a block takes */

static int64_t warps_at_once(const tilemm__cuda_traits_t *traits)
{
    return (int64_t)traits->sm_count * (traits->max_threads_per_sm / 64);
}

static tilemm__reduce_step_t *add_step(tilemm__reduce_cuda_plan_t *plan,
                                       tilemm__reduce_step_kind_t kind, int width, int64_t length,
                                       int64_t items)
{
    tilemm__reduce_step_t *step = &plan->step[plan->steps++];
    step->kind = kind;
    step->width = width;
    step->tiles = step->share = step->parts = 1;
    step->length = length;
    step->items = items;
    return step;
}

/* How many vectors of one tile each a warp takes: as many as fill its 32 rows. */
static int vectors_per_warp(int64_t length)
{
    int width = 1;
    while (width < 32 && 2 * width * length <= TILEMM__TILE_ELEMS)
        width *= 2;
    return width;
}

static int is_unit(const tilemm__reduce_args_t *args)
{
    return args->istride == 1 && (args->op != TILEMM__DOT || args->y_istride == 1);
}

/* Whether a step may leave its items in parts: there must be room for them all, and the next step
 * must be blocks. */
static int can_part(const tilemm__reduce_args_t *args, const tilemm__cuda_traits_t *traits,
                    int64_t items, int64_t most)
{
    return args->count <= traits->sm_count && items <= MOST_PARTED &&
           items * args->count * TILEMM__MOST_PARTS <= most;
}

/* The step that reads vectors side by side or with any stride, for no more than `most` items. */
static void add_across(tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                       const tilemm__cuda_traits_t *traits, int64_t most)
{
    /* In parts a warp has one tile: no loss as long as few other tiles follow it. */
    enum { BLOCK_ELEMENTS = 8192, GROUP = 32, MOST_SHARE = 8, QUARTERED = 8, CLUSTER_TILES = 64 };
    const int64_t tiles = tilemm__tile_count(args->n), warps = warps_at_once(traits);
    tilemm__reduce_step_t *step;
    if (args->n == 1 && args->op != TILEMM__DOT) {
        add_step(plan, TILEMM__STEP_EACH, 1, args->n, 1);
    } else if (tiles == 1) {
        const int width = args->op == TILEMM__DOT ? 1 : vectors_per_warp(args->n);
        add_step(plan, TILEMM__STEP_TILES, width, args->n, 1);
    } else if (tilemm__op_is_order(args->op)) {
        /* As many warps as there are at once, and then no more than their work takes. */
        const int64_t busy = args->count < warps ? tilemm__min(tiles, warps / args->count) : 1;
        int share = 1;
        int64_t items;
        while (share < MOST_SHARE && 2 * share <= busy)
            share *= 2;
        items = tilemm__min(busy / share, most);
        items = tilemm__div_up(tiles, tilemm__div_up(tiles, items * share) * share);
        if (args->n <= BLOCK_ELEMENTS && args->count <= traits->sm_count) /* saves a launch */
            add_step(plan, TILEMM__STEP_BLOCK, 1, args->n, 1);
        else
            add_step(plan, TILEMM__STEP_TILES, 1, args->n, items)->share = share;
    } else if (traits->cc >= 90 && tiles > MOST_SHARE && tiles <= CLUSTER_TILES && is_unit(args) &&
               args->count * tiles <= warps) {
        add_step(plan, TILEMM__STEP_CLUSTER, 1, args->n, 1); /* saves a launch */
    } else {
        /* Few warps would be busy: each takes one tile. Many: each takes two or more. */
        const int64_t items = tilemm__div_up(tiles, GROUP);
        const int each = tiles <= warps / args->count ? 1 : 2;
        step = add_step(plan, TILEMM__STEP_TILES, 1, args->n, items);
        step->tiles = GROUP;
        while (step->share < MOST_SHARE && each * step->share < tiles)
            step->share *= 2;
        if (tiles > MOST_SHARE && tiles <= QUARTERED * warps / args->count &&
            args->op != TILEMM__DOT && can_part(args, traits, items, most))
            step->parts = args->count * tiles <= 2 * warps ? TILEMM__MOST_PARTS : 2;
        else if (tiles > MOST_SHARE && tiles <= warps / args->count) { /* a warp for each tile */
            step->items = tiles;
            step->tiles = step->share = 1;
        }
    }
}

/* Partial results of one vector that a step leaves. */
static int64_t left_by(const tilemm__reduce_step_t *step)
{
    return step->items * step->parts;
}

/* Levels above the last step, until there is one result. */
static void add_levels(tilemm__reduce_cuda_plan_t *plan, int64_t count, int sm_count)
{
    enum { BLOCK_PARTIALS = 32768 };
    while (left_by(&plan->step[plan->steps - 1]) > 1) {
        const tilemm__reduce_step_t *before = &plan->step[plan->steps - 1];
        const int64_t length = before->items;
        if (before->kind == TILEMM__STEP_DOWN && before->parts == 1 && length <= TILEMM__TILE_LANES)
            add_step(plan, TILEMM__STEP_BESIDE, 1, length, 1); /* whose writes are whole lines */
        else if (before->parts > 1 ||
                 (length > TILEMM__TILE_LANES && length <= BLOCK_PARTIALS && count <= sm_count))
            add_step(plan, TILEMM__STEP_BLOCK, 1, length, 1); /* saves a launch */
        else
            add_step(plan, TILEMM__STEP_TILES, 1, length, tilemm__tile_count(length));
    }
}

/* The same of all steps from `first` on: the last one leaves none. */
static int64_t partials(const tilemm__reduce_cuda_plan_t *plan, int first)
{
    int64_t sum = 0;
    for (int i = first; i < plan->steps - 1; i++)
        sum += left_by(&plan->step[i]);
    return sum;
}

void tilemm__plan_reduce_cuda(tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                              const tilemm__cuda_traits_t *traits, size_t workspace)
{
    const int sm_count = traits->sm_count;
    const int64_t warps_to_fill = (int64_t)sm_count * (traits->max_threads_per_sm / 32);
    const size_t value = tilemm__op_is_order(args->op) ? sizeof(int32_t) : sizeof(tilemm__sum_t);
    const size_t entry = value + (has_extras(args) ? sizeof(int64_t) : 0);
    const int64_t available =
        (int64_t)((workspace < WORKSPACE_ENOUGH ? workspace : WORKSPACE_ENOUGH) / entry / 2 * 2);
    int64_t items;
    memset(plan, 0, sizeof *plan);
    plan->value_bytes = value;
    plan->has_extras = entry > value;
    plan->vectors = args->count;
    if (is_down(args)) {
        const int64_t columns = tilemm__div_up(args->count, TILEMM__DOWN_COLS);
        const int64_t tiles = tilemm__tile_count(args->n);
        const int is_order = tilemm__op_is_order(args->op);
        int width = 8;
        if (columns * tiles < 4 * (int64_t)sm_count)
            width = 32;
        else if (is_order || (args->n > 128 && args->n <= 512))
            width = 4;
        else if (args->n <= 128) /* with enough columns no more than have to meet */
            width = columns < warps_to_fill / 4 ? 4 : args->n > 32 ? 2 : 1;
        tilemm__reduce_step_t *step = add_step(plan, TILEMM__STEP_DOWN, width, args->n, tiles);
        if (width == 32 && tiles > 1 && !is_order && can_part(args, traits, tiles, available)) {
            step->width = 8;
            step->parts = TILEMM__MOST_PARTS;
        }
    } else {
        add_across(plan, args, traits, available > 0 ? available : 1);
    }
    add_levels(plan, args->count, sm_count);
    items = plan->panel = plan->step[0].items;
    if (plan->steps == 1)
        return;

    plan->vectors = tilemm__min(args->count, available / partials(plan, 0));
    if (plan->vectors > TILEMM__DOWN_COLS && plan->vectors < args->count)
        plan->vectors = plan->vectors / TILEMM__DOWN_COLS * TILEMM__DOWN_COLS;
    if (plan->vectors == 0 && items > TILEMM__TILE_ELEMS && !tilemm__op_is_order(args->op)) {
        /* Not even one vector: its items in panels, of which the second step leaves few enough to
         * keep them all. */
        plan->vectors = 1;
        plan->steps = 1;
        add_step(plan, TILEMM__STEP_TILES, 1, items, tilemm__tile_count(items));
        add_levels(plan, 1, sm_count);
        plan->panel = available - partials(plan, 1);
        plan->panel = plan->panel < 0 ? 0 : plan->panel / TILEMM__TILE_ELEMS * TILEMM__TILE_ELEMS;
    }
    if (plan->vectors == 0 || plan->panel == 0) { /* blocks, which need no room */
        plan->vectors = args->count;
        plan->panel = 1;
        plan->steps = 0;
        add_step(plan, TILEMM__STEP_BLOCK, 1, args->n, 1);
        return;
    }
    for (int i = 0; i < plan->steps - 1; i++) {
        plan->step[i].place = plan->room;
        plan->room +=
            plan->vectors * (i == 0 ? plan->panel : plan->step[i].items) * plan->step[i].parts;
    }
    plan->room = (plan->room + 1) / 2 * 2; /* indices behind an even number of keys are aligned */
    plan->workspace = (size_t)plan->room * entry;
}

void tilemm__plan_segments_cuda(tilemm__segments_cuda_plan_t *plan,
                                const tilemm__segments_args_t *args,
                                const tilemm__cuda_traits_t *traits, size_t workspace)
{
    enum { SPAN_SHIFT = 20, SEGMENT_ROOM = 32768 };
    const int64_t warps_to_fill = (int64_t)traits->sm_count * (traits->max_threads_per_sm / 32);
    size_t bytes = workspace;
    memset(plan, 0, sizeof *plan);
    /* With many segments the warps themselves keep the device busy. */
    plan->group = args->segments >= 32 * warps_to_fill ? 32 : 1;
    plan->warp_limit = args->segments >= 4 * warps_to_fill ? 32768 : 2048;
    plan->blocks = 2 * traits->sm_count;
    /* Segments of more than a span have at most twice as many spans as their elements fill; so
     * this many for all that memory holds. */
    plan->span_room = (int64_t)(traits->memory_bytes / sizeof(float) >> SPAN_SHIFT) * 2 + 2;
    plan->room = tilemm__min(args->segments, SEGMENT_ROOM);
    if (bytes < TILEMM__SEGMENTS_BYTES(0, 0)) {
        plan->room = plan->span_room = 0;
        return;
    }
    bytes -= TILEMM__SEGMENTS_BYTES(0, 0);
    plan->span_room = tilemm__min(plan->span_room, (int64_t)(bytes / TILEMM__SPAN_BYTES));
    bytes -= (size_t)plan->span_room * TILEMM__SPAN_BYTES;
    plan->room = tilemm__min(plan->room, (int64_t)(bytes / TILEMM__SEGMENT_BYTES));
    plan->workspace = TILEMM__SEGMENTS_BYTES(plan->room, plan->span_room);
}
