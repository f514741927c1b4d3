/* plan_inplace_cuda.c - see plan_cuda.h: plans in place.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "cost_cuda.h"
#include "kernels/transpose/inplace.h"
#include "lib/size.h"
#include "plan_cuda.h"

#define cost tilemm__transpose_cost

/* Where the workspace is for plans: only its alignment matters. */
#define WORKSPACE ((void *)256)

/* What all parts of a plan are made from. */
typedef struct {
    const tilemm__transpose_args_t *args;
    const tilemm__limits_t *limits;
    int size;           /* of an element */
    int64_t room;       /* bytes of workspace */
    int square;         /* transposes a square */
    int permutes;       /* transposes another matrix, and no vector */
    int forward;        /* see inplace.h, as of the next */
    int64_t m, n;       /* the view */
    int64_t ld_rows;    /* leading dimension of the layout whose rows are the view's, */
    int64_t ld_cols;    /* and of the one whose rows are its columns */
    int64_t bytes, row; /* of all elements, of a row of the view */
    int64_t rows, cols; /* of the result */
} problem_t;

static problem_t problem_of(const tilemm__transpose_args_t *args, const tilemm__limits_t *limits)
{
    const int forward = tilemm__inplace_forward(args->rows, args->cols);
    const int size = (int)args->elem_size;
    const int transposes = args->trans && args->rows > 1 && args->cols > 1;
    return (problem_t){
        .args = args,
        .limits = limits,
        .size = size,
        .room = limits->workspace < INT64_MAX ? (int64_t)limits->workspace : INT64_MAX,
        .square = transposes && args->rows == args->cols,
        .permutes = transposes && args->rows != args->cols,
        .forward = forward,
        .m = forward ? args->rows : args->cols,
        .n = forward ? args->cols : args->rows,
        .ld_rows = forward ? args->ld_src : args->ld_dst,
        .ld_cols = forward ? args->ld_dst : args->ld_src,
        .row = tilemm__min(args->rows, args->cols) * size,
        .bytes = args->rows * args->cols * size,
        .rows = args->trans ? args->cols : args->rows,
        .cols = args->trans ? args->rows : args->cols,
    };
}

/* Slots that are moved, from rows of width_in to rows of width_out; whether any changes place. */
static int plan_move(const problem_t *p, int64_t total, int64_t width_in, int64_t width_out,
                     tilemm__transpose_move_t *move)
{
    move->a = p->args->dst;
    move->total = total;
    move->width_in = width_in;
    move->ld_in = p->args->ld_src;
    move->width_out = width_out;
    move->ld_out = p->args->ld_dst;
    return !tilemm__slots_agree(total, width_in, move->ld_in, width_out, move->ld_out);
}

/* The move through the workspace from byte `at` on. Returns 0, or -1 if it takes too many
 * intervals.
 */
static int plan_interval(const problem_t *p, int64_t at,
                         tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const int64_t interval = tilemm__min((p->room - at) / p->size, plan->move.total);
    if (interval < tilemm__div_up(plan->move.total, cost.intervals_most))
        return -1;
    plan->interval = interval;
    plan->move_at = (size_t)at;
    plan->move_out.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_move_out, p->size, 16, 0);
    plan->move_in.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_move_in, p->size, 16, 0);
    plan->move_out.blocks = plan->move_in.blocks = (unsigned)tilemm__min(
        tilemm__div_up(interval, tilemm__transpose_rows[plan->move_in.variant].threads), INT32_MAX);
    plan->workspace = (size_t)tilemm__max((int64_t)plan->workspace, at + interval * p->size);
    return 0;
}

/* The plan's name: a kernel's, and what else there is. */
static void set_name(tilemm__transpose_inplace_cuda_plan_t *plan,
                     tilemm__transpose_variant_t variant, const char *more)
{
    snprintf(plan->name, sizeof plan->name, "%s%s", tilemm__transpose_rows[variant].name, more);
}

/* One step out of place. */
static void plan_step(const problem_t *p, int trans, int64_t rows, int64_t cols, const void *src,
                      int64_t ld_src, void *dst, int64_t ld_dst, int scaled,
                      tilemm__transpose_cuda_plan_t *plan)
{
    tilemm__transpose_args_t args = *p->args;
    args.rows = rows;
    args.cols = cols;
    args.trans = trans;
    args.scaled = scaled;
    args.src = src;
    args.dst = dst;
    args.ld_src = ld_src;
    args.ld_dst = ld_dst;
    (void)tilemm__plan_transpose_cuda(&args, p->limits, plan);
}

/* ---- squares -------------------------------------------------------------------------------- */

static void plan_swap(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    const int aligned = tilemm__alignment(args->dst, args->ld_src, 0, 1, args->elem_size);
    tilemm__transpose_variant_t variant =
        tilemm__transpose_row(TILEMM__TRANSPOSE_BY_swap, p->size, aligned, 0);
    const tilemm__transpose_variant_t elements =
        tilemm__transpose_row(TILEMM__TRANSPOSE_BY_swap_elements, p->size, aligned, 0);
    if (variant == TILEMM__TRANSPOSE_VARIANTS ||
        (elements != TILEMM__TRANSPOSE_VARIANTS &&
         !tilemm__transpose_is_allowed(p->limits, tilemm__transpose_rows[variant].name) &&
         tilemm__transpose_is_allowed(p->limits, tilemm__transpose_rows[elements].name)))
        variant = elements;
    plan->method = TILEMM__INPLACE_SWAP;
    plan->scale = 0;
    plan->arm.swap.swap = (tilemm__transpose_swap_t){
        args->dst, p->n, args->ld_src, args->scaled && args->alpha != 1.0f, args->alpha};
    const int64_t tiles = tilemm__div_up(p->n, tilemm__transpose_rows[variant].rows);
    const int64_t pairs = tiles % 2 ? (tiles + 1) / 2 * tiles : tiles / 2 * (tiles + 1);
    plan->arm.swap.launch =
        (tilemm__transpose_launch_t){.variant = variant,
                                     .concurrent = p->limits->cuda->cc >= 90,
                                     .blocks = (unsigned)tilemm__min(pairs, INT32_MAX)};
    set_name(plan, variant, "");
}

/* ---- rectangles that the multiprocessors hold ------------------------------------------------ */

/* Bytes of shared memory of a tile of the kernel's; none in registers. */
static int64_t whole_tile_bytes(const tilemm__transpose_row_t *row)
{
    return row->facet
               ? 0
               : (int64_t)row->rows * tilemm__transpose_pitch(row->rows, row->bytes) * row->bytes;
}

/* The row of the kernel that has them in registers, or in shared memory, if it takes the problem,
 * or TILEMM__TRANSPOSE_VARIANTS; and its tiles. */
static tilemm__transpose_variant_t whole_row(const problem_t *p, int in_registers, int64_t *tiles)
{
    const tilemm__cuda_traits_t *traits = p->limits->cuda;
    const tilemm__transpose_args_t *args = p->args;
    const int aligned =
        (int)tilemm__min(tilemm__alignment(args->dst, args->ld_src, 0, 1, args->elem_size),
                         tilemm__alignment(args->dst, args->ld_dst, 0, 1, args->elem_size));
    const tilemm__transpose_variant_t variant =
        tilemm__transpose_row(TILEMM__TRANSPOSE_BY_whole, p->size, aligned, in_registers);
    *tiles = 0;
    if (!p->permutes || variant == TILEMM__TRANSPOSE_VARIANTS)
        return TILEMM__TRANSPOSE_VARIANTS;
    const tilemm__transpose_row_t *row = &tilemm__transpose_rows[variant];
    const int is_forced = *p->limits->variant && tilemm__transpose_is_allowed(p->limits, row->name);
    const int side = row->chunk / p->size; /* of a thread's square, in registers */
    if (in_registers && ((p->size == 4 && p->bytes < cost.whole_bytes && !is_forced) ||
                         args->rows % side || args->cols % side))
        return TILEMM__TRANSPOSE_VARIANTS;
    const int64_t squares = TILEMM__WHOLE_WORDS / (side * row->chunk / 4);
    const int64_t of_one = in_registers ? row->threads / 32 * squares
                                        : (int64_t)traits->shared_per_block / whole_tile_bytes(row);
    const int64_t room = traits->sm_count * of_one;
    const int64_t across = tilemm__div_up(args->cols, row->cols);
    const int64_t down = tilemm__div_up(args->rows, row->rows);
    if (across > room || down > room / across)
        return TILEMM__TRANSPOSE_VARIANTS;
    *tiles = across * down;
    return variant;
}

static int plan_whole(const problem_t *p, int in_registers,
                      tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    tilemm__transpose_whole_t *whole = &plan->arm.whole.whole;
    int64_t tiles;
    const tilemm__transpose_variant_t variant = whole_row(p, in_registers, &tiles);
    if (variant == TILEMM__TRANSPOSE_VARIANTS)
        return -1;
    const tilemm__transpose_row_t *row = &tilemm__transpose_rows[variant];
    const int64_t blocks = tilemm__min(tiles, p->limits->cuda->sm_count);
    plan->method = TILEMM__INPLACE_WHOLE;
    plan->scale = 0;
    plan->arm.whole.launch = (tilemm__transpose_launch_t){
        .variant = variant, .concurrent = p->limits->cuda->cc >= 90, .blocks = (unsigned)blocks};
    *whole = (tilemm__transpose_whole_t){.a = args->dst,
                                         .rows = args->rows,
                                         .cols = args->cols,
                                         .ld_src = args->ld_src,
                                         .ld_dst = args->ld_dst,
                                         .scaled = args->scaled && args->alpha != 1.0f,
                                         .alpha = args->alpha,
                                         .tiles = (int)tiles};
    whole->down = (int)tilemm__div_up(args->rows, row->rows);
    whole->by_down = tilemm__division_by((uint32_t)whole->down);
    whole->shared = (int)(tilemm__div_up(tiles, blocks) * whole_tile_bytes(row));
    set_name(plan, variant, "");
    return 0;
}

static int plan_in_registers(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    return plan_whole(p, 1, plan);
}

static int plan_in_shared(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    return plan_whole(p, 0, plan);
}

/* ---- slabs ---------------------------------------------------------------------------------- */

/* The second pass, of `slabs` n runs of run_bytes each. */
static void plan_chains(const problem_t *p, int64_t slabs, int64_t height, uint32_t stride,
                        tilemm__transpose_slabs_plan_t *plan)
{
    tilemm__transpose_chains_t *chains = &plan->chains;
    const int64_t run_bytes = height * p->size;
    const int is_long = run_bytes != TILEMM__RUN_BYTES;
    const int64_t gap_bytes = (p->ld_cols - slabs * height) * p->size;
    const uint64_t all =
        (uint64_t)(uintptr_t)p->args->dst | (uint64_t)gap_bytes | (uint64_t)run_bytes | 8;
    const int unit = (int)(all & -all);
    const uint32_t slots = (uint32_t)(slabs * p->n);
    chains->a = p->args->dst;
    chains->n = p->n;
    chains->slabs = slabs;
    chains->gap_bytes = gap_bytes;
    chains->forward = p->forward;
    chains->stride = stride;
    chains->slots = slots;
    chains->samples = (slots - 1) / stride + 1;
    chains->d = (uint32_t)(p->forward ? slabs : p->n);
    chains->e = (uint32_t)(p->forward ? p->n : slabs);
    chains->run_bytes = run_bytes;
    chains->pieces = (uint32_t)tilemm__div_up(run_bytes, TILEMM__RUN_BYTES);
    plan->save.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_save, unit, 8, is_long);
    plan->chain.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_chains, unit, 8, is_long);
    plan->cycle.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_cycles, unit, 8, is_long);
    /* A warp for each run saved, for each chain, and for each 32 marks. */
    plan->save.blocks = (chains->samples - 1) / 8 + 1;
    plan->chain.blocks = chains->samples;
    plan->cycle.blocks = (slots - 1) / 32 / 8 + 1;
    plan->marks_bytes = (size_t)((slots - 1) / 32 + 1) * sizeof *chains->marks;
}

/* The bytes of workspace for the marks of `runs` runs. */
static int64_t marks_room(int64_t runs)
{
    return tilemm__round_up(runs / 8 + 4, 256);
}

/* The least stride between saved runs. */
static int64_t least_stride(int64_t runs)
{
    return runs <= cost.stride_few_runs ? cost.stride_of_few : cost.stride_least;
}

static int64_t greatest_common_divisor(int64_t x, int64_t y)
{
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* One run of how many is saved, if `room` bytes hold the saved ones; 0 if no stride fits. The
 * permutation multiplies a run's number modulo runs - 1. With a divisor of that in common, saved
 * runs would lie in few cycles, and the others would be left to one warp each. */
static uint32_t stride_for(int64_t runs, int64_t run_bytes, int64_t room)
{
    int64_t stride = least_stride(runs);
    while (stride <= cost.stride_most && ((runs - 1) / stride + 1 > room / run_bytes ||
                                          greatest_common_divisor(runs - 1, stride) > 1))
        stride += 2;
    return stride <= cost.stride_most ? (uint32_t)stride : 0;
}

/* The fringe: from where it lies to the workspace, transposed, and from there. */
static void plan_fringe(const problem_t *p, int64_t m0, tilemm__transpose_slabs_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    const int64_t fringe = p->m - m0;
    const int64_t rows = p->forward ? fringe : p->n, cols = p->forward ? p->n : fringe;
    const int64_t along_rows = m0 * p->ld_rows * p->size, along_cols = m0 * p->size;
    if (!fringe)
        return;
    plan->fringe_from = p->forward ? along_rows : along_cols;
    plan->fringe_to = p->forward ? along_cols : along_rows;
    plan_step(p, 1, rows, cols, (unsigned char *)args->dst + plan->fringe_from, args->ld_src,
              WORKSPACE, rows, 0, &plan->fringe[0]);
    plan_step(p, 0, cols, rows, WORKSPACE, rows, (unsigned char *)args->dst + plan->fringe_to,
              args->ld_dst, 0, &plan->fringe[1]);
}

/* Blocks of the kernel of slabs that run at once, as shared memory bounds them. */
static int64_t slab_blocks(const tilemm__cuda_traits_t *traits)
{
    const int64_t each = (int64_t)traits->shared_per_block / TILEMM__SLAB_SHARED;
    return traits->sm_count * tilemm__min(each, TILEMM__SLAB_BLOCKS);
}

/* Whether that kernel takes the problem: rows follow each other, and all tiles of a slab run at
 * once. */
static int has_slab_kernel(const problem_t *p)
{
    const int64_t slabs = p->m / (TILEMM__RUN_BYTES / p->size);
    return p->ld_rows == p->n && p->ld_cols == p->m && slabs >= cost.slabs_least &&
           p->n >= cost.slab_cols_least &&
           (p->n - 1) / TILEMM__SLAB_WIDTH < slab_blocks(p->limits->cuda) &&
           p->n < UINT32_MAX / slabs;
}

/* Where the parts of the workspace begin for that kernel: counts, marks, and (the result) the runs
 * that are saved. */
static int64_t slab_saved_at(const problem_t *p, int64_t *counts_at, int64_t *marks_at)
{
    const int64_t height = TILEMM__RUN_BYTES / p->size, slabs = p->m / height;
    *counts_at = tilemm__round_up(p->m % height * p->row, 256);
    *marks_at = *counts_at + tilemm__round_up(slabs * (int64_t)sizeof(unsigned), 256);
    return *marks_at + marks_room(slabs * p->n);
}

/* Both passes, the first by one kernel. Returns 0, or -1 if that cannot be. */
static int plan_slab_kernel(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const int64_t height = TILEMM__RUN_BYTES / p->size, slabs = p->m / height;
    tilemm__transpose_slabs_plan_t *arm = &plan->arm.slabs;
    int64_t counts_at, marks_at;
    if (!has_slab_kernel(p))
        return -1;
    const int64_t saved_at = slab_saved_at(p, &counts_at, &marks_at);
    const uint32_t stride = stride_for(slabs * p->n, TILEMM__RUN_BYTES, p->room - saved_at);
    if (saved_at >= p->room || !stride)
        return -1;
    plan->method = TILEMM__INPLACE_SLABS;
    arm->fringe_bytes = p->m % height * p->row;
    plan_fringe(p, slabs * height, arm);
    plan_chains(p, slabs, height, stride, arm);
    arm->counts_at = (size_t)counts_at;
    arm->counts_bytes = (size_t)slabs * sizeof(unsigned);
    arm->marks_at = (size_t)marks_at;
    arm->saved_at = (size_t)saved_at;
    arm->slabs.a = p->args->dst;
    arm->slabs.n = p->n;
    arm->slabs.slabs = slabs;
    arm->slabs.fringe = p->m % height;
    arm->slabs.forward = p->forward;
    arm->slabs.wide = ((uintptr_t)p->args->dst | (uintptr_t)arm->chains.gap_bytes) % 16 == 0;
    arm->launch.variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_slabs, p->size, 16, 0);
    arm->launch.blocks = (unsigned)slab_blocks(p->limits->cuda);
    plan->workspace = (size_t)(saved_at + arm->chains.samples * (int64_t)TILEMM__RUN_BYTES);
    set_name(plan, arm->launch.variant, "+chains");
    return 0;
}

/* Whether slabs of `height` rows leave room for all that has to lie in the workspace. */
static int has_room(const problem_t *p, int64_t height)
{
    const int64_t slabs = p->m / height, fringe = p->m % height * p->row;
    const int64_t room = p->room - tilemm__round_up(fringe, 256);
    return height * p->row <= room && p->n < UINT32_MAX / slabs &&
           stride_for(slabs * p->n, height * p->size, room - marks_room(slabs * p->n));
}

/* Both passes, the first through the workspace: as few slabs as it has room for, and no fringe if
 * possible. Returns 0, or -1 if the workspace is too small. */
static int plan_slabs_through(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    const int64_t most = p->m / tilemm__div_up(cost.run_bytes_least, p->size);
    const int64_t fewest =
        p->room / p->row ? tilemm__max(tilemm__div_up(p->m, p->room / p->row), 2) : most + 1;
    tilemm__transpose_slabs_plan_t *arm = &plan->arm.slabs;
    int64_t height = 0;
    for (int64_t count = fewest; count <= tilemm__min(most, 2 * fewest + 2); count++) {
        const int64_t candidate = p->m / count;
        if (has_room(p, candidate) && (!height || p->m % candidate == 0))
            height = candidate;
        if (height && p->m % height == 0)
            break;
    }
    if (!height)
        return -1;
    const int64_t slabs = p->m / height, m0 = slabs * height;
    const int64_t fringe = tilemm__round_up((p->m - m0) * p->row, 256);
    const int64_t marks = marks_room(slabs * p->n);
    plan->method = TILEMM__INPLACE_SLABS;
    arm->through = 1;
    arm->fringe_bytes = (p->m - m0) * p->row;
    plan_fringe(p, m0, arm);
    plan_chains(p, slabs, height,
                stride_for(slabs * p->n, height * p->size, p->room - fringe - marks), arm);
    arm->marks_at = (size_t)fringe;
    arm->saved_at = (size_t)(fringe + marks);
    arm->count = slabs;
    arm->slab_bytes = height * p->ld_rows * p->size;
    /* For the plan, a slab with no more alignment than any. */
    const int rows_at = tilemm__alignment(args->dst, height * p->ld_rows, 0, 1, args->elem_size);
    void *slab = (void *)(uintptr_t)(256 + rows_at % 16);
    if (p->forward) {
        plan_step(p, 1, height, p->n, slab, p->ld_rows, WORKSPACE, height, 0, &arm->steps[0]);
        plan_step(p, 0, height, p->n, WORKSPACE, p->n, slab, p->ld_rows, 0, &arm->steps[1]);
    } else {
        plan_step(p, 0, height, p->n, slab, p->ld_rows, WORKSPACE, p->n, 0, &arm->steps[0]);
        plan_step(p, 1, p->n, height, WORKSPACE, height, slab, p->ld_rows, 0, &arm->steps[1]);
    }
    plan->workspace =
        (size_t)tilemm__max(fringe + height * p->row,
                            (int64_t)arm->saved_at + arm->chains.samples * arm->chains.run_bytes);
    set_name(plan, arm->chain.variant, "+slabs");
    if (plan_move(p, m0 * p->n, p->forward ? p->n : m0, p->forward ? m0 : p->n, &plan->move))
        return plan_interval(p, fringe, plan);
    return 0;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static int plan_staged(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    if (p->bytes > p->room)
        return -1;
    plan->method = TILEMM__INPLACE_STAGED;
    plan->scale = 0;
    plan->workspace = (size_t)p->bytes;
    plan_step(p, args->trans, args->rows, args->cols, args->dst, args->ld_src, WORKSPACE, p->cols,
              args->scaled, &plan->arm.staged[0]);
    plan_step(p, 0, p->rows, p->cols, WORKSPACE, p->cols, args->dst, args->ld_dst, 0,
              &plan->arm.staged[1]);
    set_name(plan, plan->arm.staged[0].launch.variant, "+staged");
    return 0;
}

/* By the move alone, or after it has been transposed in the input slots. */
static int plan_moved(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    if (plan_interval(p, 0, plan) != 0)
        return -1;
    set_name(plan, plan->move_in.variant, "");
    if (p->square)
        plan_swap(p, plan);
    return 0;
}

/* Whether limits->variant allows one of the plan's kernels in place, or its name. */
static int is_allowed(const problem_t *p, const tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const tilemm__transpose_slabs_plan_t *slabs = &plan->arm.slabs;
    const tilemm__transpose_launch_t *const launches[] = {
        &plan->move_out, &plan->move_in, &slabs->save, &slabs->chain, &slabs->cycle};
    const int first = plan->interval ? 0 : 2, end = plan->method == TILEMM__INPLACE_SLABS ? 5 : 2;
    for (int i = first; i < end; i++)
        if (tilemm__transpose_is_allowed(p->limits,
                                         tilemm__transpose_rows[launches[i]->variant].name))
            return 1;
    return tilemm__transpose_is_allowed(p->limits, plan->name);
}

/* The first way that limits->variant allows; or, if it allows none, that there is room for. */
static int plan_way(const problem_t *p, tilemm__transpose_inplace_cuda_plan_t *plan)
{
    static int (*const ways[2][5])(const problem_t *, tilemm__transpose_inplace_cuda_plan_t *) = {
        {plan_staged, plan_moved, NULL},
        {plan_in_registers, plan_in_shared, plan_staged, plan_slab_kernel, plan_slabs_through}};
    const tilemm__transpose_inplace_cuda_plan_t start = *plan;
    for (int any = 0; any < 2; any++)
        for (int i = 0; i < 5 && ways[p->permutes][i]; i++) {
            *plan = start;
            if (ways[p->permutes][i](p, plan) == 0 && (any || is_allowed(p, plan)))
                return TILEMM_SUCCESS;
        }
    return TILEMM_OUT_OF_MEMORY;
}

size_t tilemm__transpose_inplace_cuda_want(const tilemm__transpose_args_t *args,
                                           const tilemm__cuda_traits_t *traits)
{
    const tilemm__limits_t limits = {.cuda = traits, .variant = ""};
    const problem_t p = problem_of(args, &limits);
    const int agree =
        tilemm__slots_agree(p.m * p.n, args->cols, args->ld_src, p.cols, args->ld_dst);
    const int64_t ample = (int64_t)(traits->memory_bytes / (size_t)cost.memory_share);
    int64_t want =
        tilemm__max(p.bytes / cost.workspace_share,
                    p.bytes <= ample ? p.bytes : tilemm__min(p.bytes, cost.workspace_bytes));
    int64_t tiles;
    if ((args->scaled && args->alpha == 0.0f) || (agree && !p.permutes) ||
        whole_row(&p, 1, &tiles) != TILEMM__TRANSPOSE_VARIANTS ||
        whole_row(&p, 0, &tiles) != TILEMM__TRANSPOSE_VARIANTS)
        return 0;
    if (p.permutes && has_slab_kernel(&p)) {
        const int64_t runs = p.m * p.n / (TILEMM__RUN_BYTES / p.size);
        int64_t counts_at, marks_at;
        want = tilemm__max(want, slab_saved_at(&p, &counts_at, &marks_at) +
                                     (runs / least_stride(runs) + 1) * TILEMM__RUN_BYTES);
    }
    return (size_t)tilemm__round_up(want, 256);
}

int tilemm__plan_transpose_inplace_cuda(const tilemm__transpose_args_t *args,
                                        const tilemm__limits_t *limits,
                                        tilemm__transpose_inplace_cuda_plan_t *plan)
{
    const problem_t p = problem_of(args, limits);
    const int zero = args->scaled && args->alpha == 0.0f;
    const int scale = args->scaled && args->alpha != 1.0f;
    memset(plan, 0, sizeof *plan);
    plan->forward = p.forward;
    const int moves = !zero && plan_move(&p, p.m * p.n, args->cols, p.cols, &plan->move);
    /* The last pass, where other kernels do not scale. */
    plan->scale = scale;
    plan_step(&p, 0, p.rows, p.cols, args->dst, args->ld_dst, args->dst, args->ld_dst, scale,
              &plan->scaling);
    if (zero || (!moves && !p.square && !p.permutes)) { /* scale, fill, or do nothing */
        snprintf(plan->name, sizeof plan->name, "%s", scale ? plan->scaling.name : "");
        return TILEMM_SUCCESS;
    }
    if (p.square && !moves) {
        plan_swap(&p, plan);
        return TILEMM_SUCCESS;
    }
    const int status = plan_way(&p, plan);
    if (status != TILEMM_SUCCESS) /* what there is a plan with, for any problem */
        plan->workspace = (size_t)tilemm__min(p.bytes, 65536 + 128 * p.n + p.bytes / 64);
    return status;
}
