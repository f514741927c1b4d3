/* plan_cpu.c - how a SGEMM is blocked and shared out on the CPU: a pure function of the problem,
 * the caches, the kernels' panels, the threads and the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cpu.h"

#include <math.h>

#include "lib/size.h"

typedef tilemm__sgemm_cpu_plan_t plan_t;
typedef tilemm__sgemm_cpu_blocks_t blocks_t;

enum {
    NARROW_PANELS = 4,   /* of Ns: up to this, packing op(A), along k, takes longer than it saves */
    NARROW_KC = 2048,    /* steps at a time then: rows of A are read in long runs */
    FEW_BYTES = 4 << 20, /* of shared panels: up to this, those of several blocks of k */
    FEW_STEPS = 32,      /* up to this, C is what takes time: it is written row by row */
    PACK_WORK = 24, /* multiply-adds that take as long as to pack an element that others read too */
    AS_READ_PARTS = 1 /* for each thread, each of which packs the other operand for itself */
};

/* The matrix engine, in cycles of one core. A product of two tiles takes 16, and a step of a 32 x
 * 32 tile of C has four for each product of planes; splitting 16 elements takes 16; adding a
 * panel's sums to C 400; configuring the tiles and waking up the unit 12000. FP32 multiply-adds: 32
 * a cycle at most, three quarters of that in practice. */
enum { LINES = TILEMM__PLANES_LINES, STEP = 32 };
static const double TILE_CYCLES = 16, ELEMENT_CYCLES = 1, SUM_CYCLES = 400, START_CYCLES = 12000,
                    FMA_CYCLES = 1 / 24.0;

/* The problem after the swap, and what an engine makes of it. */
typedef struct {
    const tilemm__cpu_traits_t *cpu;
    const tilemm__cpu_tuning_t *tuning;
    int64_t m, n, k, batch_count;
    double work, thread_work; /* of one matrix, and what pays for one more thread */
    double tile_work;         /* of one element of C */
    double line_work;         /* to pack a row or a column */
    int64_t ms_bytes;         /* of L2, for a part of Ms */
    int64_t most_ns;          /* bytes, for Ns, and half of that for Ms */
    int few_panels;           /* one way: what is packed for the other way is used little */
    int64_t parts;            /* for each thread: the last to finish is less late */
    int invariant;
} shape_t;

/* ---- one set of panels -------------------------------------------------------------------- */

static size_t packed_bytes(const blocks_t *b, int64_t lines)
{
    if (b->planes)
        return (size_t)b->k_blocks * (size_t)tilemm__div_up(lines, LINES) * b->panel_bytes;
    return (size_t)tilemm__round_up(b->kc * lines * (int64_t)sizeof(float), 64);
}

/* Of Ms; or of the chains of all rows, where these are in its place. */
static size_t ms_bytes(const blocks_t *b, int64_t m, int64_t n)
{
    if (tilemm__sgemm_cpu_keeps_chains(b))
        return (size_t)(b->m_panel * n) * sizeof(float);
    if (b->as_read == TILEMM__SGEMM_A_AS_READ)
        return b->panel_bytes;
    return b->in_place ? 0 : packed_bytes(b, m);
}

static void size_set(blocks_t *b)
{
    b->ms_bytes = ms_bytes(b, b->m_panel, b->n_panel);
    b->copies_at = b->ms_bytes + (b->as_read == TILEMM__SGEMM_B_AS_READ
                                      ? b->panel_bytes
                                      : packed_bytes(b, b->direct ? b->nr : b->n_panel));
    b->set_bytes = b->copies_at + tilemm__sgemm_cpu_copied_bytes(b);
}

/* Of the least set that one thread can do with. */
static size_t least_bytes(const blocks_t *b)
{
    blocks_t least = *b;
    least.k_blocks = 1;
    if (!b->as_read)
        return ms_bytes(&least, b->mr, b->nr) + packed_bytes(&least, b->nr);
    least.copied = 0;
    size_set(&least);
    return least.set_bytes;
}

/* Make the panels fewer until a set has at most `limit` bytes. Ns, the larger, first: what is lost
 * is that Ms is packed again for each of its parts. Returns 0 if that cannot be. */
static int shrink_set(blocks_t *b, size_t limit)
{
    const int chains = tilemm__sgemm_cpu_keeps_chains(b);
    for (size_set(b); b->set_bytes > limit && b->k_blocks > 1; size_set(b))
        b->k_blocks /= 2;
    if (b->set_bytes > limit && b->copied) {
        b->copied = 0;
        size_set(b);
    }
    if (b->as_read)
        return b->set_bytes <= limit;
    for (; b->set_bytes > limit; size_set(b))
        if (b->n_panel > b->nr &&
            (chains || (!b->direct && (b->n_panel >= b->m_panel || b->m_panel == b->mr))))
            b->n_panel = tilemm__round_up(b->n_panel / 2, b->nr);
        else if (b->m_panel > b->mr && !chains)
            b->m_panel = tilemm__round_up(b->m_panel / 2, b->mr);
        else
            return 0;
    return 1;
}

/* ---- threads and blocks ------------------------------------------------------------------- */

/* Pieces of a product that `threads` threads share. */
static int64_t parts_for(const shape_t *x, int threads)
{
    return threads * x->parts;
}

/* The size of enough pieces of `total`, whole panels each. */
static int64_t share_out(const shape_t *x, int64_t total, int64_t lines, int threads)
{
    return tilemm__round_up(tilemm__div_up(total, parts_for(x, threads)), lines);
}

static void count_tasks(const shape_t *x, plan_t *plan)
{
    plan->tasks =
        tilemm__div_up(x->m, plan->m_task) * tilemm__div_up(x->n, plan->n_task) * x->batch_count;
    plan->threads = (int)tilemm__min(plan->threads, plan->tasks);
}

/* As many threads as `work` pays for, where `thread_work` pays for one more. */
static int threads_for(double work, double thread_work, int64_t most)
{
    return (int)tilemm__clamp(work / thread_work, 1, most);
}

/* A thread of a team is late by this part of a task: others want its processor. */
static const double LATE = 0.25;

/* Cut C into `down` x `across` tasks, if that costs less than *least, the least so far. */
static void try_grid(const shape_t *x, int threads, int64_t down, int64_t across, double *least,
                     plan_t *plan)
{
    const int64_t mr = plan->blocked.mr, nr = plan->blocked.nr;
    const int64_t row = plan->blocked.planes || plan->blocked.in_place ? mr : 1;
    const int64_t m = tilemm__round_up(tilemm__div_up(x->m, down), row);
    const int64_t n = tilemm__round_up(tilemm__div_up(x->n, across), nr);
    const int64_t count = tilemm__div_up(x->m, m) * tilemm__div_up(x->n, n) * x->batch_count;
    /* A panel that is not full takes longer than its share. */
    const double rows = (double)(m + tilemm__round_up(m, mr)) / 2;
    const double cost = ((double)tilemm__div_up(count, threads) + LATE) *
                        (rows * (double)n * x->tile_work + (double)(m + n) * x->line_work);
    if (cost < *least) {
        *least = cost;
        plan->m_task = m;
        plan->n_task = n;
    }
}

/* Tasks for threads that pack for themselves alone: enough that none waits long for the last task,
 * and of the shape in which the fewest elements are packed more than once. */
static void plan_grid(const shape_t *x, int threads, plan_t *plan)
{
    enum { MOST_EACH = 4 };
    double least = HUGE_VAL;
    for (int64_t tasks = threads; tasks <= (int64_t)MOST_EACH * threads; tasks *= 2)
        for (int64_t side = 1; side * side <= tasks; side++)
            if (tasks % side == 0) {
                try_grid(x, threads, side, tasks / side, &least, plan);
                try_grid(x, threads, tasks / side, side, &least, plan);
            }
}

/* How many threads work, and on what. */
static void plan_threads(const shape_t *x, int threads, plan_t *plan)
{
    blocks_t *b = &plan->blocked;
    const int one = threads_for(x->work, x->thread_work, threads);
    const int over_batch = threads_for(x->work * (double)x->batch_count, x->thread_work,
                                       tilemm__min(x->batch_count, threads));
    plan->m_task = tilemm__round_up(x->m, b->mr);
    plan->n_task = tilemm__round_up(x->n, b->nr);
    plan->threads = one;
    if (over_batch > one || x->batch_count >= 4 * (int64_t)threads) {
        plan->threads = over_batch;
    } else if (one > 1) {
        const int few = x->few_panels || b->stream;
        const double each = (double)x->m * (double)x->n * (double)x->k / one;
        b->shared = !few && each >= (double)x->tuning->sgemm_shared_work;
        /* With few panels one way the longer operand is best packed by the thread that uses it. */
        if (!few && !b->shared)
            plan_grid(x, one, plan);
        else if (x->m < x->n)
            plan->n_task = share_out(x, x->n, b->nr, one);
        else
            plan->m_task = share_out(x, x->m, b->mr, one);
    }
    if (b->shared) {
        b->direct = 0;
        plan->tasks = 1;
        plan->m_task = plan->n_task = 0;
    } else {
        count_tasks(x, plan);
    }
}

/* What is packed at a time, and cut into what parts: a part of Ms stays in L2 while Ns passes, all
 * of Ns in half of L3, or of the L2s together. */
static void plan_panels(const shape_t *x, plan_t *plan)
{
    blocks_t *b = &plan->blocked;
    const int64_t l2 = (int64_t)x->cpu->l2_bytes;
    const int64_t l3 = tilemm__max((int64_t)x->cpu->l3_bytes, l2 * tilemm__max(2, plan->threads));
    /* Bytes of a row or column, packed. */
    const int64_t line =
        b->planes ? (int64_t)b->panel_bytes / LINES : b->kc * (int64_t)sizeof(float);
    const int64_t m_limit = tilemm__max(x->ms_bytes / line, b->mr);
    if (b->shared) {
        const int64_t parts = parts_for(x, plan->threads);
        b->m_panel = tilemm__even_size(
            x->m, tilemm__max(m_limit, tilemm__min(l3 / 4, x->most_ns / 2) / line), b->mr);
        b->n_panel = tilemm__even_size(x->n, tilemm__min(l3 / 2, x->most_ns) / line, b->nr);
        b->m_part = tilemm__even_size(b->m_panel, m_limit, b->mr);
        /* Threads of which few have a part to multiply would meet all the time. */
        if (b->planes)
            b->k_blocks =
                (int)tilemm__clamp((double)(FEW_BYTES / ((b->m_panel + b->n_panel) * line)), 1,
                                   tilemm__div_up(x->k, b->kc));
        while (b->m_part > b->mr &&
               tilemm__div_up(b->m_panel, b->m_part) * (b->n_panel / b->nr) < parts)
            b->m_part = tilemm__round_up(b->m_part / 2, b->mr);
        /* A bound on the parts: handing them out takes time. */
        b->n_part = b->nr * tilemm__max(1, tilemm__div_up(b->m_panel, b->m_part) *
                                               (b->n_panel / b->nr) / (4 * parts));
    } else if ((b->in_place && !b->direct) || b->as_read) {
        /* Rows that several panels meet stay in L2. */
        b->m_panel = b->in_place && plan->n_task > b->nr
                         ? tilemm__even_size(plan->m_task, m_limit, b->mr)
                         : plan->m_task;
        b->n_panel = plan->n_task;
    } else if (b->direct) {
        b->m_panel = tilemm__even_size(plan->m_task, m_limit, b->mr);
        b->n_panel = plan->n_task;
        if (tilemm__sgemm_cpu_keeps_chains(b))
            b->m_panel = plan->m_task;
        /* C, met every kc steps, stays in L2. */
        if (b->stream)
            b->n_panel = tilemm__even_size(plan->n_task,
                                           l2 / 2 / (b->m_panel * (int64_t)sizeof(float)), b->nr);
    } else {
        /* Ns that serves few Ms panels is made and used while it lies in L2. */
        const int64_t ns_bytes =
            x->few_panels ? l2 / 4
                          : tilemm__min(tilemm__max(l3 / 2 / plan->threads, l2 / 2), x->most_ns);
        b->m_panel = tilemm__even_size(plan->m_task, m_limit, b->mr);
        b->n_panel = tilemm__even_size(plan->n_task, ns_bytes / line, b->nr);
    }
}

/* Each thread for itself. */
static void unshare(const shape_t *x, plan_t *plan)
{
    plan->blocked.shared = 0;
    plan->n_task = share_out(x, x->n, plan->blocked.nr, plan->threads);
    plan->m_task = share_out(x, x->m, plan->blocked.mr, 1);
    count_tasks(x, plan);
}

/* About `best` steps, of which each chain is in one piece. */
static int64_t whole_chains(int64_t k, int64_t best)
{
    enum { CHAIN = TILEMM__SGEMM_INVARIANT_CHAIN };
    return tilemm__min(tilemm__round_up(k, 4), tilemm__max(best / CHAIN, 1) * CHAIN);
}

/* With one panel of each kind on the stack of each thread. */
static void plan_for_stack(const shape_t *x, plan_t *plan)
{
    blocks_t *b = &plan->blocked;
    const int64_t floats = TILEMM__SGEMM_STACK_BYTES / (int64_t)sizeof(float);
    if (b->shared)
        unshare(x, plan);
    b->on_stack = 1;
    b->stream = b->direct = 0;
    b->in_place = 0;
    b->kc = tilemm__min(b->kc, floats / (b->mr + b->nr));
    b->kc = x->invariant ? whole_chains(x->k, b->kc) : tilemm__even_size(x->k, b->kc, 4);
    b->m_panel = b->mr;
    b->n_panel = b->nr;
    size_set(b);
}

/* Fit the panels into the workspace. Returns 0 if that cannot be, which is so with planes alone. */
static int fit_workspace(const shape_t *x, size_t workspace, plan_t *plan)
{
    blocks_t *b = &plan->blocked;
    size_set(b);
    /* Threads that share small panels would wait for each other most of the time. */
    if (b->shared && !b->planes && b->set_bytes / 4 > workspace) {
        unshare(x, plan);
        plan_panels(x, plan);
        size_set(b);
    }
    b->on_stack = !b->planes && !b->shared && b->set_bytes <= TILEMM__SGEMM_STACK_BYTES;

    /* Fewer threads before shorter panels, which would change the sums. */
    const size_t least = least_bytes(b);
    if (!b->shared && !b->on_stack && least <= workspace)
        plan->threads = threads_for((double)(workspace / least), 1, plan->threads);
    const size_t sets = b->shared ? 1 : (size_t)plan->threads;
    if (!b->on_stack && !shrink_set(b, workspace / sets)) {
        if (b->planes)
            return 0;
        plan_for_stack(x, plan);
    }
    plan->workspace = b->on_stack ? 0 : b->set_bytes * sets;
    return 1;
}

/* Threads and blocks for an engine whose mr, nr and kc are known. Returns as fit_workspace. */
static int plan_blocks(const shape_t *x, const tilemm__limits_t *limits, plan_t *plan)
{
    blocks_t *b = &plan->blocked;
    plan->way = TILEMM__SGEMM_CPU_BLOCKED;
    plan_threads(x, limits->threads, plan);
    plan_panels(x, plan);
    if (!fit_workspace(x, limits->workspace, plan))
        return 0;
    if (!b->shared) {
        const int by_rows = b->kc <= FEW_STEPS && !b->direct && !b->planes && b->n_panel > b->nr;
        b->m_part = by_rows ? b->mr : b->m_panel;
        b->n_part = b->n_panel;
    }
    b->m_part = tilemm__min(b->m_part, b->m_panel);
    b->n_part = tilemm__min(b->n_part, b->n_panel);
    return 1;
}

/* ---- the matrix engine -------------------------------------------------------------------- */

/* The cycles that one matrix takes. */
static double planes_cycles(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes)
{
    const double tiles =
        (double)tilemm__div_up(args->m, LINES) * (double)tilemm__div_up(args->n, LINES);
    const double elements = ((double)args->m + (double)args->n) * (double)args->k;
    return START_CYCLES +
           tiles * (double)tilemm__div_up(args->k, STEP) * 4 * planes->products * TILE_CYCLES +
           tiles * (double)tilemm__div_up(args->k, planes->depth) * SUM_CYCLES +
           elements * ELEMENT_CYCLES;
}

int tilemm__sgemm_cpu_planes_pay(const tilemm__sgemm_args_t *args,
                                 const tilemm__cpu_tuning_t *tuning,
                                 const tilemm__sgemm_planes_t *planes, int team)
{
    /* Three threads, and work for them: no constant of tuning, which would change bits. */
    enum { TEAM = 3, TEAM_WORK = TEAM << 19 };
    const double work = (double)args->m * (double)args->n * (double)args->k;
    const double fma_cycles = work * FMA_CYCLES;
    double slower = (double)tuning->amx_percent / 100;
    if (team >= TEAM && work * (double)args->batch_count >= TEAM_WORK)
        slower *= (double)tuning->amx_team_percent / 100;
    /* Sums of less than a step would meet more roundings than they have products. */
    return args->k >= STEP &&
           (planes->always || slower * planes_cycles(args, planes) <= fma_cycles);
}

/* Whether an operand is split as it is read: the fields as_read, as_vectors, copied, k_blocks. */
static void plan_as_read(const tilemm__sgemm_args_t *args, const tilemm__cpu_traits_t *cpu,
                         blocks_t *b)
{
    enum {
        MOST_PANELS = 2,   /* of the other operand: the lines are split for each */
        MANY = 4 * LINES,  /* lines, for two, from memory */
        PANELS_IN_L2 = 8,  /* of all blocks of k */
        COPIED = 8 * LINES /* lines at a time */
    };
    const int64_t few = tilemm__min(args->m, args->n), lines = tilemm__max(args->m, args->n);
    const int64_t panels = tilemm__div_up(few, LINES);
    const int is_a = args->m > args->n, along_k = is_a ? !args->trans_a : args->trans_b;
    const int from_memory =
        (double)lines * (double)args->k * sizeof(float) > (double)cpu->l2_bytes / 2;
    if (panels > MOST_PANELS || (panels > 1 && (lines < MANY || !from_memory)))
        return;
    b->as_read = is_a ? TILEMM__SGEMM_A_AS_READ : TILEMM__SGEMM_B_AS_READ;
    b->as_vectors = few <= (from_memory ? TILEMM__PLANES_VECTORS : along_k ? 0 : 1);
    if (from_memory && !along_k && !b->as_vectors)
        b->copied = (int)tilemm__min(COPIED, tilemm__round_up(lines, LINES));
    if (along_k)
        b->k_blocks = (int)tilemm__min(tilemm__div_up(args->k, b->kc), PANELS_IN_L2 / panels);
}

/* Returns 0 if the workspace is too small. */
static int plan_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_planes_t *planes, plan_t *plan)
{
    const int64_t kc = tilemm__even_size(args->k, planes->depth, STEP);
    shape_t x = {
        .cpu = limits->cpu,
        .tuning = limits->tuning,
        .m = args->m,
        .n = args->n,
        .k = args->k,
        .batch_count = args->batch_count,
        .work = planes_cycles(args, planes),
        .thread_work = (double)limits->tuning->amx_thread_cycles,
        .tile_work = (double)tilemm__div_up(args->k, STEP) * 4 * planes->products * TILE_CYCLES /
                     (LINES * LINES),
        .line_work = (double)args->k * ELEMENT_CYCLES * 2, /* as others read it too */
        .ms_bytes = (int64_t)limits->cpu->l2_bytes / 2,
        .most_ns = 32 << 20,
        .parts = limits->tuning->sgemm_parts,
    };
    *plan = (plan_t){
        .name = planes->name,
        .blocked = {.planes = planes,
                    .k_blocks = 1,
                    .mr = LINES,
                    .nr = LINES,
                    .kc = kc,
                    .panel_bytes = tilemm__planes_bytes(planes, kc)},
    };
    plan_as_read(args, limits->cpu, &plan->blocked);
    if (plan->blocked.as_read) {
        x.few_panels = 1;
        x.parts = AS_READ_PARTS;
    }
    return plan_blocks(&x, limits, plan);
}

/* ---- multiply-adds ------------------------------------------------------------------------ */

/* One row of A and of C: it takes as long as reading B does. */
static void plan_vector(const shape_t *x, int nr, int threads, plan_t *plan)
{
    const double work = (double)x->n * (double)x->k * (double)x->batch_count;
    plan->way = TILEMM__SGEMM_CPU_VECTOR;
    plan->m_task = 1;
    plan->threads = threads_for(work, (double)x->tuning->sgemm_vector_work, threads);
    plan->n_task = tilemm__round_up(x->n, nr);
    if (plan->threads > 1 && x->batch_count < 4 * (int64_t)plan->threads)
        plan->n_task = share_out(x, x->n, nr, plan->threads);
    plan->vector.in_order = x->invariant;
    plan->vector.kc = x->invariant ? tilemm__min(x->k, TILEMM__SGEMM_VECTOR_PIECE)
                                   : tilemm__even_size(x->k, TILEMM__SGEMM_VECTOR_PIECE, 4);
    plan->vector.n_panel = tilemm__min(plan->n_task, TILEMM__SGEMM_VECTOR_PIECE);
    count_tasks(x, plan);
}

/* Small matrices: all that is shared out is the batch. */
static void plan_small(const shape_t *x, int threads, int64_t chain, plan_t *plan)
{
    /* What is prefetched: a line of memory takes 100 ns to come. */
    enum { AHEAD_BYTES = 12 << 10, MOST_AHEAD = 16 };
    const int64_t bytes = (x->m * x->k + x->k * x->n + x->m * x->n) * (int64_t)sizeof(float);
    plan->way = TILEMM__SGEMM_CPU_SMALL;
    plan->small.chain = chain;
    plan->small.ahead = tilemm__min(tilemm__div_up(AHEAD_BYTES, bytes), MOST_AHEAD);
    plan->tasks = x->batch_count;
    plan->threads = threads_for(x->work * (double)x->batch_count, x->thread_work,
                                tilemm__min(x->batch_count, threads));
}

/* Without a fused multiply-add in hardware, in the order that all instruction sets have. */
static void plan_plain(const shape_t *x, int threads, plan_t *plan)
{
    enum { ROWS = 8, COLUMNS = 64 };
    plan->name = "sgemm_fmaf_plain";
    plan->way = TILEMM__SGEMM_CPU_PLAIN;
    plan->m_task = ROWS;
    plan->n_task = COLUMNS;
    plan->threads = threads;
    count_tasks(x, plan);
}

int tilemm__plan_sgemm_cpu(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                           tilemm__sgemm_cpu_plan_t *plan)
{
    const tilemm__sgemm_cpu_t *tile = limits->kernels->sgemm;
    const tilemm__cpu_traits_t *cpu = limits->cpu;
    const int mr = tile->mr, nr = tile->nr, threads = limits->threads;
    const int swap = tilemm__sgemm_cpu_swaps(args, nr);
    const int64_t m = swap ? args->n : args->m, n = swap ? args->m : args->n, k = args->k;
    const int64_t lda = swap ? args->ldb : args->lda, ldb = swap ? args->lda : args->ldb;
    const int b_along_k = swap ? !args->trans_a : args->trans_b;
    const int invariant = limits->invariance != TILEMM_INVARIANCE_NONE;
    const tilemm__sgemm_planes_t *planes = tilemm__sgemm_cpu_planes(limits->kernels, limits->math);
    if (tilemm__sgemm_cpu_invariant_by_planes(planes, limits->invariance, k))
        return plan_planes(args, limits, planes, plan) ? TILEMM_SUCCESS : TILEMM_OUT_OF_MEMORY;
    if (!invariant && planes &&
        tilemm__sgemm_cpu_planes_pay(args, limits->tuning, planes, limits->team) &&
        plan_planes(args, limits, planes, plan))
        return TILEMM_SUCCESS;
    const int narrow = !swap && !args->trans_a && n < m && n <= (int64_t)NARROW_PANELS * nr;
    const shape_t x = {
        .cpu = cpu,
        .tuning = limits->tuning,
        .m = m,
        .n = n,
        .k = k,
        .batch_count = args->batch_count,
        .work = (double)m * (double)n * (double)k,
        .thread_work = (double)limits->tuning->sgemm_thread_work,
        .tile_work = (double)k,
        .line_work = (double)k * PACK_WORK,
        .ms_bytes = limits->tuning->sgemm_a_bytes,
        .most_ns = 16 << 20,
        .few_panels = m <= 2 * mr || n <= 2 * nr,
        .parts = limits->tuning->sgemm_parts,
        .invariant = invariant,
    };
    const int64_t chain =
        invariant ? TILEMM__SGEMM_INVARIANT_CHAIN : tilemm__sgemm_cpu_chain(x.work);
    *plan = (plan_t){.name = tile->name, .swap = swap};
    if (limits->invariance == TILEMM_INVARIANT_ACROSS && !tilemm__sgemm_cpu_is_fused(tile)) {
        plan_plain(&x, threads, plan);
        return TILEMM_SUCCESS;
    }
    if (m == 1) {
        plan_vector(&x, nr, threads, plan);
        return TILEMM_SUCCESS;
    }
    if (tilemm__sgemm_cpu_is_small_of(m, n, k, lda, nr, threads)) {
        plan_small(&x, threads, chain, plan);
        return TILEMM_SUCCESS;
    }
    const double b_span = (double)k * (double)ldb * sizeof(float);
    /* B where it lies: if its elements are read by few tiles, packing is pure loss; if all of it
     * lies in L1, nearly so. What comes from memory does so along rows of B. */
    const int may_be_direct = !b_along_k && !narrow;
    const int stream =
        may_be_direct && m <= TILEMM__SGEMM_STREAM_ROWS && b_span > (double)cpu->l2_bytes;
    /* A panel of Ns is half as large again as L1, which costs little as what is read in order comes
     * soon enough from L2: the more steps, the more seldom is C loaded and stored. */
    const int64_t kc_limit = tilemm__max(
        128, tilemm__min(512, (int64_t)cpu->l1d_bytes * 3 / 2 / (nr * (int64_t)sizeof(float))));
    /* Where B is read once, from memory: few enough steps for most of those rows to stay in L1,
     * some panels wide; enough for few sums to be added up in C one after the other. */
    const int64_t stream_kc = tilemm__max(24, tilemm__min(kc_limit, k / 170));
    const int64_t kc_best = narrow ? NARROW_KC : stream ? stream_kc : kc_limit;
    const int64_t kc = !invariant ? tilemm__even_size(k, kc_best, 4)
                       : stream && m <= TILEMM__SGEMM_STREAM_FEW_ROWS ? TILEMM__SGEMM_STREAM_STEPS
                                                                      : whole_chains(k, kc_best);
    plan->blocked = (blocks_t){
        .stream = stream,
        .direct = stream ||
                  (may_be_direct && (m <= mr || (m <= 8 * mr && b_span <= (double)cpu->l1d_bytes))),
        .in_place = narrow || stream,
        .mr = mr,
        .nr = nr,
        .kc = kc,
        .k_blocks = 1,
        .chain = chain,
        .in_order = invariant,
    };
    (void)plan_blocks(&x, limits, plan);
    return TILEMM_SUCCESS;
}
