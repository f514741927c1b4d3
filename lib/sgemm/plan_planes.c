/* plan_planes.c - SGEMM by BF16 planes on a CPU's matrix engine: a pure function of the
 * problem, the caches, the engine's panels, the threads and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "plan_planes.h"

#include "lib/size.h"

enum { LINES = TILEMM__PLANES_LINES, STEP = 32 };
/* Parts that each thread should find, so that the last to finish is not much later. */
enum { PARTS_PER_THREAD = 8 };

/* Cycles of one core. A product of two tiles takes 16, and a step of a 32 x 32 tile of C has four
 * for each product of planes; splitting 16 elements is some 10; a panel's sums on their way to C
 * cost some 400; configuring tiles and waking up the unit some thousands. FP32 multiply-adds: 32 a
 * cycle at most, three quarters of that in practice. */
static const double TILE_CYCLES = 16, ELEMENT_CYCLES = 10.0 / 16, SUM_CYCLES = 400,
                    START_CYCLES = 4000, FMA_CYCLES = 1 / 24.0;
/* What pays for waking one more thread: some 10 us. */
static const double THREAD_CYCLES = 40000;

/* The cycles that one matrix takes by tiles. */
static double cycles(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes)
{
    const double tiles =
        (double)tilemm__div_up(args->m, LINES) * (double)tilemm__div_up(args->n, LINES);
    const double elements = ((double)args->m + (double)args->n) * (double)args->k;

    return START_CYCLES +
           tiles * (double)tilemm__div_up(args->k, STEP) * 4 * planes->products * TILE_CYCLES +
           tiles * (double)tilemm__div_up(args->k, planes->depth) * SUM_CYCLES +
           elements * ELEMENT_CYCLES;
}

static void size_set(tilemm__sgemm_planes_plan_t *plan)
{
    plan->m_part = tilemm__min(plan->m_part, plan->m_panel);
    plan->ms_bytes = (size_t)(plan->m_panel / LINES) * plan->panel_bytes;
    plan->set_bytes = plan->ms_bytes + (size_t)(plan->n_panel / LINES) * plan->panel_bytes;
}

/* Make the panels fewer until a set has at most `limit` bytes. Returns 0 if that cannot be. */
static int shrink_set(tilemm__sgemm_planes_plan_t *plan, size_t limit)
{
    for (size_set(plan); plan->set_bytes > limit; size_set(plan)) {
        if (plan->n_panel > LINES && plan->n_panel >= plan->m_panel)
            plan->n_panel = tilemm__round_up(plan->n_panel / 2, LINES);
        else if (plan->m_panel > LINES)
            plan->m_panel = tilemm__round_up(plan->m_panel / 2, LINES);
        else
            return 0;
    }
    return 1;
}

int tilemm__planes_pay(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes)
{
    const double fma_cycles = (double)args->m * (double)args->n * (double)args->k * FMA_CYCLES;

    /* Sums of less than a step would meet more roundings than they have products. */
    return args->k >= STEP && (planes->always || cycles(args, planes) <= fma_cycles);
}

int tilemm__plan_sgemm_planes(tilemm__sgemm_planes_plan_t *plan, const tilemm__sgemm_args_t *args,
                              const tilemm__cpu_traits_t *traits,
                              const tilemm__sgemm_planes_t *planes, int threads, size_t workspace)
{
    const double tile_cycles = cycles(args, planes);
    const int one = (int)tilemm__clamp(tile_cycles / THREAD_CYCLES, 1, threads);
    const int over_batch = (int)tilemm__min(
        args->batch_count,
        tilemm__clamp(tile_cycles * (double)args->batch_count / THREAD_CYCLES, 1, threads));
    const int64_t l2 = (int64_t)traits->l2_bytes;
    int64_t l3, line_bytes;
    size_t sets;

    *plan = (tilemm__sgemm_planes_plan_t){.threads = one, .shared = one > 1};
    if (!tilemm__planes_pay(args, planes))
        return 0;
    if (over_batch > one || args->batch_count >= 4 * (int64_t)threads) {
        plan->shared = 0;
        plan->threads = over_batch;
    }

    /* A part of Ms stays in half of L2 while Ns passes; all of Ns in half of L3, or of the L2s. */
    l3 = tilemm__max((int64_t)traits->l3_bytes, l2 * tilemm__max(2, plan->threads));
    plan->depth = tilemm__even_size(args->k, planes->depth, STEP);
    plan->panel_bytes = tilemm__planes_bytes(planes, plan->depth);
    line_bytes = (int64_t)plan->panel_bytes / LINES;
    plan->m_part = tilemm__even_size(args->m, l2 / 2 / line_bytes, LINES);
    plan->m_panel = plan->m_part;
    if (plan->shared) {
        const int64_t parts = (int64_t)plan->threads * PARTS_PER_THREAD;

        plan->m_panel = tilemm__even_size(
            args->m, tilemm__max(plan->m_part, tilemm__min(l3 / 4, 16 << 20) / line_bytes), LINES);
        plan->n_panel =
            tilemm__even_size(args->n, tilemm__min(l3 / 2, 32 << 20) / line_bytes, LINES);
        while (plan->m_part > LINES &&
               tilemm__div_up(plan->m_panel, plan->m_part) * (plan->n_panel / LINES) < parts)
            plan->m_part = tilemm__round_up(plan->m_part / 2, LINES);
    } else {
        plan->n_panel = tilemm__even_size(
            args->n,
            tilemm__min(tilemm__max(l3 / 2 / plan->threads, l2 / 2), 32 << 20) / line_bytes, LINES);
    }
    /* Fewer threads rather than none of this. */
    sets = 2 * plan->panel_bytes;
    if (!plan->shared)
        plan->threads =
            (int)tilemm__max(1, tilemm__min(plan->threads, (int64_t)(workspace / sets)));
    sets = plan->shared ? 1 : (size_t)plan->threads;
    if (!shrink_set(plan, workspace / sets))
        return 0;
    plan->workspace = plan->set_bytes * sets;
    plan->n_part = plan->n_panel;
    if (plan->shared) /* not so many parts that handing them out costs */
        plan->n_part = LINES * tilemm__max(1, tilemm__div_up(plan->m_panel, plan->m_part) *
                                                  (plan->n_panel / LINES) /
                                                  (4 * (int64_t)plan->threads * PARTS_PER_THREAD));
    return 1;
}
