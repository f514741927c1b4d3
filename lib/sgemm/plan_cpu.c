/* plan_cpu.c - how a SGEMM is blocked and shared out on the CPU: a pure function of the
 * problem, the caches, the tile, the threads and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "plan_cpu.h"

#include "lib/size.h"

#include <limits.h>

/* Multiply-adds that pay for waking one more thread: some 10 us of them. */
static const double THREAD_WORK = 1 << 20;
/* The same for a vector times a matrix, which waits for memory. */
static const double VECTOR_WORK = 1 << 18;
enum { LONG_CHAIN = 128 };
/* Steps at a time in a thin C: rows of A are read in long runs. */
enum { THIN_KC = 2048 };
/* As many rows of C pay for packing B. */
enum { STREAM_ROWS = 32 };
/* Where there are so few steps C is what takes time: it is written row by row. */
enum { FEW_STEPS = 32 };
/* Parts that each thread should find, so that the last to finish is not much later. */
enum { PARTS_PER_THREAD = 8 };

/* How many rows or columns of kc floats lie in so many bytes. */
static int64_t that_fit(int64_t bytes, int64_t kc)
{
    return bytes / (kc * (int64_t)sizeof(float));
}

static size_t panel_bytes(int64_t kc, int64_t width)
{
    return ((size_t)kc * (size_t)width * sizeof(float) + 63) / 64 * 64;
}

static void size_set(tilemm__sgemm_cpu_plan_t *plan, int nr)
{
    plan->ms_bytes = plan->in_place ? 0 : panel_bytes(plan->kc, plan->m_panel);
    plan->set_bytes = plan->ms_bytes + panel_bytes(plan->kc, plan->direct ? nr : plan->n_panel);
}

/* Make the panels smaller until a set has at most `limit` bytes. Ns, the larger, first: what is
 * lost is that Ms is packed again for each of its parts. Returns 0 if that cannot be. */
static int shrink_set(tilemm__sgemm_cpu_plan_t *plan, int mr, int nr, size_t limit)
{
    for (size_set(plan, nr); plan->set_bytes > limit; size_set(plan, nr)) {
        if (!plan->direct && plan->n_panel > nr &&
            (plan->n_panel >= plan->m_panel || plan->m_panel == mr))
            plan->n_panel = tilemm__round_up(plan->n_panel / 2, nr);
        else if (plan->m_panel > mr)
            plan->m_panel = tilemm__round_up(plan->m_panel / 2, mr);
        else
            return 0;
    }
    return 1;
}

/* Cut `total` into enough pieces, of whole tiles, for the threads to share. */
static int64_t share_out(int64_t total, int64_t tile, int threads)
{
    return tilemm__round_up(tilemm__div_up(total, (int64_t)threads * PARTS_PER_THREAD), tile);
}

/* The problem after the swap. */
typedef struct {
    int64_t m, n, k, batch_count;
    int mr, nr;
    int narrow; /* a few panels one way: what is packed for the other way is used little */
} shape_t;

static void count_tasks(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x)
{
    if (plan->shared) {
        plan->tasks = 1;
        plan->m_task = plan->n_task = 0;
    } else {
        plan->tasks = tilemm__div_up(x->m, plan->m_task) * tilemm__div_up(x->n, plan->n_task) *
                      x->batch_count;
        plan->threads = (int)tilemm__min(plan->threads, plan->tasks);
    }
}

/* How many threads work, and on what. */
static void plan_threads(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x, int threads)
{
    const double wanted = (double)x->m * (double)x->n * (double)x->k / THREAD_WORK;
    const int one = (int)tilemm__clamp(wanted, 1, threads);
    const int over_batch = (int)tilemm__min(
        x->batch_count, tilemm__clamp(wanted * (double)x->batch_count, 1, threads));

    plan->m_task = tilemm__round_up(x->m, x->mr);
    plan->n_task = tilemm__round_up(x->n, x->nr);
    if (over_batch > one || x->batch_count >= 4 * (int64_t)threads) {
        plan->threads = over_batch;
    } else {
        plan->threads = one;
        plan->shared = one > 1 && !x->narrow && !plan->stream;
        /* In a narrow problem the longer operand is best packed by the one thread that uses it. */
        if (one > 1 && x->m < x->n)
            plan->n_task = share_out(x->n, x->nr, one);
        else if (one > 1)
            plan->m_task = share_out(x->m, x->mr, one);
    }
    plan->direct = plan->direct && !plan->shared;
    count_tasks(plan, x);
}

/* What is packed at a time, and cut into what parts: a part of Ms stays in three quarters of L2
 * while Ns panels pass, all of Ns in half of L3, or of the L2s together. */
static void plan_panels(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x,
                        const tilemm__cpu_traits_t *traits)
{
    const int64_t l2 = (int64_t)traits->l2_bytes;
    const int64_t l3 = tilemm__max((int64_t)traits->l3_bytes, l2 * tilemm__max(2, plan->threads));
    const int64_t m_limit = that_fit(l2 / 4 * 3, plan->kc);

    if (plan->shared) {
        const int64_t parts = (int64_t)plan->threads * PARTS_PER_THREAD;

        plan->m_panel = tilemm__even_size(
            x->m, tilemm__max(m_limit, that_fit(tilemm__min(l3 / 4, 8 << 20), plan->kc)), x->mr);
        plan->n_panel =
            tilemm__even_size(x->n, that_fit(tilemm__min(l3 / 2, 16 << 20), plan->kc), x->nr);
        plan->m_part = tilemm__even_size(plan->m_panel, m_limit, x->mr);
        while (plan->m_part > x->mr &&
               tilemm__div_up(plan->m_panel, plan->m_part) * (plan->n_panel / x->nr) < parts)
            plan->m_part = tilemm__round_up(plan->m_part / 2, x->mr);
        /* Not so many that handing them out costs. */
        plan->n_part = x->nr * tilemm__max(1, tilemm__div_up(plan->m_panel, plan->m_part) *
                                                  (plan->n_panel / x->nr) / (4 * parts));
    } else if (plan->in_place && !plan->direct) {
        plan->m_panel = plan->m_task;
        plan->n_panel = plan->n_task;
    } else if (plan->direct) {
        plan->m_panel = tilemm__even_size(plan->m_task, m_limit, x->mr);
        plan->n_panel = plan->n_task;
        /* C, met every kc steps, stays in L2. */
        if (plan->stream)
            plan->n_panel = tilemm__even_size(plan->n_task, that_fit(l2 / 2, plan->m_panel), x->nr);
    } else {
        /* Ns that serves few Ms panels is made and used while it lies in L2. */
        const int64_t ns_bytes =
            x->narrow ? l2 / 4 : tilemm__min(tilemm__max(l3 / 2 / plan->threads, l2 / 2), 16 << 20);

        plan->m_panel = tilemm__even_size(plan->m_task, m_limit, x->mr);
        plan->n_panel = tilemm__even_size(plan->n_task, that_fit(ns_bytes, plan->kc), x->nr);
    }
}

/* Threads that share small panels would wait for each other most of the time: each for itself. */
static void unshare(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x)
{
    plan->shared = 0;
    plan->n_task = share_out(x->n, x->nr, plan->threads);
    plan->m_task = share_out(x->m, x->mr, 1);
    count_tasks(plan, x);
}

/* With one panel of each kind on the stack of each thread. */
static void plan_for_stack(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x)
{
    const int64_t floats = TILEMM__SGEMM_STACK_BYTES / (int64_t)sizeof(float);

    plan->on_stack = 1;
    plan->in_place = plan->stream = 0;
    plan->direct = 0;
    plan->kc = tilemm__even_size(x->k, tilemm__min(plan->kc, floats / (x->mr + x->nr)), 4);
    plan->m_panel = x->mr;
    plan->n_panel = x->nr;
    size_set(plan, x->nr);
}

/* Steps at a time where B is read once, from memory: so few rows that most of them, some panels
 * wide, stay in L1 wherever they lie; but that not too many sums are added up in C, one after the
 * other. */
static int64_t stream_kc(int64_t k, int64_t limit)
{
    return tilemm__max(24, tilemm__min(limit, k / 170));
}

/* One row of A and of C: it takes as long as reading B does. */
static void plan_vector(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x, int threads)
{
    const double work = (double)x->n * (double)x->k * (double)x->batch_count;

    plan->vector = 1;
    plan->on_stack = 1;
    plan->chain = LONG_CHAIN;
    plan->m_task = plan->m_panel = plan->m_part = 1;
    plan->kc = tilemm__even_size(x->k, TILEMM__SGEMM_VECTOR_PIECE, 4);
    plan->threads = (int)tilemm__clamp(work / VECTOR_WORK, 1, threads);
    plan->n_task = tilemm__round_up(x->n, x->nr);
    if (plan->threads > 1 && x->batch_count < 4 * (int64_t)plan->threads)
        plan->n_task = share_out(x->n, x->nr, plan->threads);
    plan->n_panel = plan->n_part = tilemm__min(plan->n_task, TILEMM__SGEMM_VECTOR_PIECE);
    count_tasks(plan, x);
}

/* Small matrices: all that is shared out is the batch. */
static void plan_small(tilemm__sgemm_cpu_plan_t *plan, const shape_t *x, int threads)
{
    /* What is asked for early: a line of memory takes some 100 ns to come. */
    enum { AHEAD_BYTES = 12 << 10, MOST_AHEAD = 16 };
    const double work = (double)x->m * (double)x->n * (double)x->k * (double)x->batch_count;
    const int64_t bytes = (x->m * x->k + x->k * x->n + x->m * x->n) * (int64_t)sizeof(float);

    plan->small = 1;
    plan->ahead = tilemm__min(tilemm__div_up(AHEAD_BYTES, bytes), MOST_AHEAD);
    plan->on_stack = 1;
    plan->tasks = x->batch_count;
    plan->threads = 1;
    if (threads > 1 && x->batch_count > 1)
        plan->threads =
            (int)tilemm__min(x->batch_count, tilemm__clamp(work / THREAD_WORK, 1, threads));
}

void tilemm__plan_sgemm_cpu(tilemm__sgemm_cpu_plan_t *plan, const tilemm__sgemm_args_t *args,
                            const tilemm__cpu_traits_t *traits, int mr, int nr, int threads,
                            size_t workspace)
{
    const int swap = tilemm__sgemm_cpu_swaps(args, nr);
    const shape_t x = {
        .m = swap ? args->n : args->m,
        .n = swap ? args->m : args->n,
        .k = args->k,
        .batch_count = args->batch_count,
        .mr = mr,
        .nr = nr,
        .narrow = (swap ? args->n : args->m) <= 2 * mr || (swap ? args->m : args->n) <= 2 * nr,
    };
    const int b_along_k = swap ? !args->trans_a : args->trans_b;
    const double b_span = (double)x.k * (double)(swap ? args->lda : args->ldb) * sizeof(float);
    /* A Ns panel is half as large again as L1, which costs little as what is read in order comes
     * soon enough from L2: the more steps, the more seldom is C loaded and stored. */
    const int64_t kc_limit =
        tilemm__max(128, tilemm__min(512, that_fit((int64_t)traits->l1d_bytes * 3 / 2, nr)));
    size_t sets, least_set;

    *plan = (tilemm__sgemm_cpu_plan_t){.swap = swap};
    if (x.m == 1) {
        plan_vector(plan, &x, threads);
        return;
    }
    if (tilemm__sgemm_cpu_is_small_of(x.m, x.n, x.k, swap ? args->ldb : args->lda, nr, threads)) {
        plan_small(plan, &x, threads);
        return;
    }
    const int thin = !swap && !args->trans_a && tilemm__sgemm_cpu_is_thin(args, nr);
    /* B where it lies: if its elements are read by few tiles, packing is pure loss; if all of it
     * lies in L1, nearly so. What comes from memory does so along rows of B. */
    const int stream =
        !b_along_k && !thin && x.m <= STREAM_ROWS && b_span > (double)traits->l2_bytes;

    plan->direct =
        stream || (!b_along_k && !thin &&
                   (x.m <= mr || (x.m <= 8 * mr && b_span <= (double)traits->l1d_bytes)));
    plan->stream = stream;
    plan->in_place = thin || stream;
    plan->kc = tilemm__even_size(x.k,
                                 thin     ? THIN_KC
                                 : stream ? stream_kc(x.k, kc_limit)
                                          : kc_limit,
                                 4);
    plan->chain = (double)x.m * (double)x.n * (double)x.k <= TILEMM__SGEMM_SMALL_WORK
                      ? TILEMM__SGEMM_SMALL_CHAIN
                      : LONG_CHAIN;

    plan_threads(plan, &x, threads);
    plan_panels(plan, &x, traits);
    size_set(plan, nr);
    if (plan->shared && plan->set_bytes / 4 > workspace) {
        unshare(plan, &x);
        plan_panels(plan, &x, traits);
        size_set(plan, nr);
    }
    /* Fewer threads before shorter panels, which would change the sums. */
    least_set = (plan->in_place ? 0 : panel_bytes(plan->kc, mr)) + panel_bytes(plan->kc, nr);
    if (!plan->shared && plan->set_bytes > TILEMM__SGEMM_STACK_BYTES && least_set <= workspace)
        plan->threads = (int)tilemm__min(
            plan->threads, tilemm__clamp((double)(workspace / least_set), 1, INT_MAX));
    sets = plan->shared ? 1 : (size_t)plan->threads;
    if (plan->set_bytes <= TILEMM__SGEMM_STACK_BYTES && !plan->shared)
        plan->on_stack = 1;
    else if (!shrink_set(plan, mr, nr, workspace / sets)) {
        if (plan->shared)
            unshare(plan, &x);
        plan_for_stack(plan, &x);
    }
    plan->workspace = plan->on_stack ? 0 : plan->set_bytes * sets;

    plan->m_part = plan->shared ? tilemm__min(plan->m_part, plan->m_panel)
                   : plan->kc <= FEW_STEPS && !plan->direct ? mr
                                                            : plan->m_panel;
    plan->n_part = plan->shared ? tilemm__min(plan->n_part, plan->n_panel) : plan->n_panel;
}
