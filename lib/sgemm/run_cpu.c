/* run_cpu.c - SGEMM on the CPU, as the plan says: one call for each small matrix, a vector times a
 * matrix, or blocks of packed panels. The last is one driver for both engines (engine.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "engine.h"
#include "invariant.h"
#include "lib/cpu/cpu.h"
#include "lib/cpu/team.h"
#include "lib/size.h"

typedef tilemm__sgemm_product_t product_t;
typedef tilemm__sgemm_block_t block_t;
typedef tilemm__sgemm_cpu_plan_t plan_t;

static float *c_of(const tilemm__sgemm_args_t *args, int64_t i)
{
    return args->c_array ? args->c_array[i] : args->c + i * args->stride_c;
}

/* Matrix i of the batch. Inline, so that a small product is not copied from structure to structure,
 * which takes longer than its calls. */
static inline __attribute__((always_inline)) product_t
product_of(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cpu_t *tile, int swap, int64_t i)
{
    const float *a = args->a_array ? args->a_array[i] : args->a + i * args->stride_a;
    const float *b = args->b_array ? args->b_array[i] : args->b + i * args->stride_b;
    product_t x = {.tile = tile, .k = args->k, .alpha = args->alpha, .beta = args->beta};
    x.c = c_of(args, i);
    x.m = swap ? args->n : args->m;
    x.n = swap ? args->m : args->n;
    x.a = swap ? b : a;
    x.lda = swap ? args->ldb : args->lda;
    x.a_along_k = swap ? args->trans_b : !args->trans_a;
    x.b = swap ? a : b;
    x.ldb = swap ? args->lda : args->ldb;
    x.b_along_k = swap ? !args->trans_a : args->trans_b;
    x.rs_c = swap ? 1 : args->ldc;
    x.cs_c = swap ? args->ldc : 1;
    x.exchanged = args->exchanged;
    return x;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void use_panels(product_t *x, void *memory)
{
    x->ms = memory;
    x->ns = x->ms + x->plan->ms_bytes;
}

/* A thread's share of a number of panels. */
static void pack(const product_t *x, const block_t *at, int64_t panels, thread_t me,
                 void (*pack_panels)(const product_t *x, const block_t *at, int64_t first,
                                     int64_t end))
{
    int64_t first, end;
    my_share(me, panels, &first, &end);
    if (first < end)
        pack_panels(x, at, first, end);
}

/* What one thread of a team does of a product; all of it if the team is one.
 * Parts are handed out as threads come for them; who does a part makes no difference to it. */
static void run_blocks(product_t *x, thread_t me)
{
    const tilemm__sgemm_cpu_blocks_t *plan = x->plan;
    const tilemm__sgemm_engine_t *engine =
        plan->planes ? &tilemm__sgemm_engine_planes : &tilemm__sgemm_engine_fma;
    block_t at;
    for (at.j = 0; at.j < x->n; at.j += plan->n_panel) {
        at.n = tilemm__min(plan->n_panel, x->n - at.j);
        for (at.p = 0; at.p < x->k; at.p += at.k) {
            at.k = tilemm__min(plan->kc * plan->k_blocks, x->k - at.p);
            const int64_t blocks = tilemm__div_up(at.k, plan->kc);
            pack(x, &at, tilemm__div_up(at.n, plan->nr) * blocks, me, engine->pack_ns);
            for (at.i = 0; at.i < x->m; at.i += plan->m_panel) {
                at.m = tilemm__min(plan->m_panel, x->m - at.i);
                pack(x, &at, tilemm__div_up(at.m, plan->mr) * blocks, me, engine->pack_ms);
                if (me.number == 0)
                    x->next = 0;
                tilemm__meet(me);
                const int64_t across = tilemm__div_up(at.n, plan->n_part);
                const int64_t parts = tilemm__div_up(at.m, plan->m_part) * across;
                for (int64_t part = take(&x->next, 1); part < parts; part = take(&x->next, 1))
                    engine->multiply(x, &at, part / across * plan->m_part,
                                     part % across * plan->n_part);
                tilemm__meet(me);
            }
        }
    }
}

static __attribute__((noinline)) void run_on_stack(product_t *x)
{
    float panels[TILEMM__SGEMM_STACK_BYTES / sizeof(float)] __attribute__((aligned(64)));
    use_panels(x, panels);
    run_blocks(x, (thread_t){0, 1, NULL});
}

/* ---- a vector times a matrix --------------------------------------------------------------- */

/* The vector's elements of k steps from p on; a has room for them. */
static const float *vector_at(const product_t *x, int64_t p, int64_t k, float *a)
{
    const float *const from = tilemm__sgemm_a_at(x, 0, p);
    if (x->a_along_k || x->lda == 1)
        return from;
    for (int64_t i = 0; i < k; i++)
        a[i] = from[i * x->lda];
    return a;
}

/* One row of C. Where rows of B are added up, sums of some of them are added up apart, as chains of
 * additions lose more the longer they are. */
static __attribute__((noinline)) void run_vector(const product_t *x, const plan_t *plan)
{
    enum { ROWS = 256 };
    float a[TILEMM__SGEMM_VECTOR_PIECE], y[TILEMM__SGEMM_VECTOR_PIECE];
    float part[TILEMM__SGEMM_VECTOR_PIECE];
    const int64_t n_panel = plan->vector.n_panel;
    const int64_t kc = x->b_along_k ? plan->vector.kc : tilemm__min(plan->vector.kc, ROWS);
    for (int64_t j = 0; j < x->n; j += n_panel) {
        const int64_t n = tilemm__min(n_panel, x->n - j);
        float *c = x->c + j * x->cs_c;
        for (int64_t i = 0; i < n; i++)
            y[i] = 0.0f;
        for (int64_t p = 0; p < x->k; p += kc) {
            const int64_t k = tilemm__min(kc, x->k - p);
            for (int64_t i = 0; i < n; i++)
                part[i] = 0.0f;
            x->tile->times_vector(k, n, vector_at(x, p, k, a), tilemm__sgemm_b_at(x, p, j), x->ldb,
                                  x->b_along_k, part);
            for (int64_t i = 0; i < n; i++)
                y[i] += part[i];
        }
        if (x->beta == 0.0f)
            for (int64_t i = 0; i < n; i++)
                c[i * x->cs_c] = x->alpha * y[i];
        else
            for (int64_t i = 0; i < n; i++)
                c[i * x->cs_c] = x->alpha * y[i] + x->beta * c[i * x->cs_c];
    }
}

/* The same of an invariant product: alpha is 1, and beta 0. */
static __attribute__((noinline)) void run_vector_in_order(const product_t *x, const plan_t *plan)
{
    enum { CHAIN = TILEMM__SGEMM_INVARIANT_CHAIN };
    float a[TILEMM__SGEMM_VECTOR_PIECE], y[TILEMM__SGEMM_VECTOR_PIECE];
    float chain[TILEMM__SGEMM_VECTOR_PIECE];
    const int64_t n_panel = plan->vector.n_panel;
    const int64_t kc = x->b_along_k ? plan->vector.kc : CHAIN;
    for (int64_t j = 0; j < x->n; j += n_panel) {
        const int64_t n = tilemm__min(n_panel, x->n - j);
        for (int64_t p = 0; p < x->k; p += kc) {
            const int64_t k = tilemm__min(kc, x->k - p);
            const float *const from = vector_at(x, p, k, a), *const b = tilemm__sgemm_b_at(x, p, j);
            float *const to = p == 0 ? y : chain; /* the first chain becomes the sum */
            if (x->b_along_k) {
                x->tile->dots_in_order(k, CHAIN, n, from, b, x->ldb, p == 0, y);
                continue;
            }
            for (int64_t i = 0; i < n; i++)
                to[i] = 0.0f;
            x->tile->rows_in_order(k, n, from, b, x->ldb, to);
            for (int64_t i = 0; i < n && to == chain; i++)
                y[i] += to[i];
        }
        for (int64_t i = 0; i < n; i++)
            x->c[(j + i) * x->cs_c] = y[i];
    }
}

/* ---- small products ------------------------------------------------------------------------ */

/* The whole of one. */
static inline void run_small(const product_t *x, int64_t chain)
{
    tilemm__sgemm_strip_t all = {
        .k = x->k,
        .chain = chain,
        .ms = x->a,
        .row_ms = x->a_along_k ? x->lda : 1,
        .ld_ms = x->lda,
        .along_k = x->a_along_k,
        .ns = x->b,
        .ld_ns = x->ldb,
        .m = x->m,
        .alpha = x->alpha,
        .beta = x->beta,
        .c = x->c,
        .rs_c = x->rs_c,
        .cs_c = x->cs_c,
    };
    x->tile->small(&all, x->n, x->b_along_k);
}

/* Prefetch a small matrix, or so much of it that the hardware sees where it goes on. */
static inline void prefetch(const float *x, int64_t lines, int64_t ld)
{
    const int64_t end = tilemm__min(lines * ld, 1024);
    for (int64_t i = 0; i < end; i += 16)
        __builtin_prefetch(x + i);
}

/* ---- plain sums ---------------------------------------------------------------------------- */

static void run_plain(const product_t *x)
{
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t j = 0; j < x->n; j++)
            x->c[i * x->rs_c + j * x->cs_c] =
                tilemm__sgemm_plain(x->k, tilemm__sgemm_a_at(x, i, 0), x->a_along_k ? 1 : x->lda,
                                    tilemm__sgemm_b_at(x, 0, j), x->b_along_k ? 1 : x->ldb);
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* Task number `task`: a small matrix of the batch, or a part of the C of one matrix. */
static void run_task(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cpu_t *tile,
                     const plan_t *plan, int64_t task, void *memory)
{
    if (plan->way == TILEMM__SGEMM_CPU_SMALL) {
        const product_t x = product_of(args, tile, plan->swap, task);
        if (task + plan->small.ahead < args->batch_count) {
            const product_t later = product_of(args, tile, 0, task + plan->small.ahead);
            prefetch(later.a, args->trans_a ? args->k : args->m, args->lda);
            prefetch(later.b, args->trans_b ? args->n : args->k, args->ldb);
            prefetch(later.c, args->m, args->ldc);
        }
        run_small(&x, plan->small.chain);
        return;
    }
    const int64_t across = tilemm__div_up(plan->swap ? args->m : args->n, plan->n_task);
    const int64_t each = tilemm__div_up(plan->swap ? args->n : args->m, plan->m_task) * across;
    product_t x = product_of(args, tile, plan->swap, task / each);
    const int64_t i = task % each / across * plan->m_task;
    const int64_t j = task % each % across * plan->n_task;
    x.m = tilemm__min(plan->m_task, x.m - i);
    x.n = tilemm__min(plan->n_task, x.n - j);
    x.a += x.a_along_k ? i * x.lda : i;
    x.b += x.b_along_k ? j * x.ldb : j;
    x.c += i * x.rs_c + j * x.cs_c;
    if (plan->way == TILEMM__SGEMM_CPU_VECTOR) {
        (plan->vector.in_order ? run_vector_in_order : run_vector)(&x, plan);
        return;
    }
    if (plan->way == TILEMM__SGEMM_CPU_PLAIN) {
        run_plain(&x);
        return;
    }
    x.plan = &plan->blocked;
    if (plan->blocked.on_stack) {
        run_on_stack(&x);
    } else {
        use_panels(&x, memory);
        run_blocks(&x, (thread_t){0, 1, NULL});
    }
}

/* Take or release the matrix engine's registers, in each thread that multiplies. */
static void use_engine(const plan_t *plan, int use)
{
    if (plan->way == TILEMM__SGEMM_CPU_BLOCKED && plan->blocked.planes)
        (use ? plan->blocked.planes->begin : plan->blocked.planes->end)();
}

/* What every thread of a call needs to know. */
typedef struct {
    const tilemm__sgemm_args_t *args;
    const tilemm__sgemm_cpu_t *tile;
    const plan_t *plan;
    char *workspace;
    int64_t next;      /* the next task that no thread has taken */
    product_t product; /* the one that all do together */
} job_t;

/* Tasks may be as small as a matrix of one element: they are taken some at a time. */
static void run_tasks(void *data, thread_t me)
{
    job_t *const job = data;
    const plan_t *const plan = job->plan;
    /* One thread's sets of panels are plan->workspace / plan->threads bytes. */
    void *const memory =
        job->workspace ? job->workspace + me.number * (plan->workspace / plan->threads) : NULL;
    const int64_t some = 1 + (me.of > 1 ? plan->tasks / ((int64_t)me.of * 32) : plan->tasks);
    use_engine(plan, 1);
    for (int64_t task = take(&job->next, some); task < plan->tasks; task = take(&job->next, some))
        for (int64_t i = task; i < tilemm__min(plan->tasks, task + some); i++)
            run_task(job->args, job->tile, plan, i, memory);
    use_engine(plan, 0);
}

static void run_product(void *data, thread_t me)
{
    job_t *const job = data;
    use_engine(job->plan, 1);
    run_blocks(&job->product, me);
    use_engine(job->plan, 0);
}

static void run_shared(job_t *job)
{
    for (int64_t i = 0; i < job->args->batch_count; i++) {
        job->product = product_of(job->args, job->tile, job->plan->swap, i);
        job->product.plan = &job->plan->blocked;
        use_panels(&job->product, job->workspace);
        tilemm__run_team(job->plan->threads, run_product, job);
    }
}

enum { PAYS = 65536 }; /* elements that are read and written, for threads */

/* C = beta C, which no kernel is needed for. */
static void scale(void *data, thread_t me)
{
    const tilemm__sgemm_args_t *const args = ((const job_t *)data)->args;
    int64_t row, end;
    my_share(me, args->m * args->batch_count, &row, &end);
    for (; row < end; row++) {
        float *c = c_of(args, row / args->m) + row % args->m * args->ldc;
        if (args->beta == 0.0f)
            for (int64_t j = 0; j < args->n; j++)
                c[j] = 0.0f;
        else
            for (int64_t j = 0; j < args->n; j++)
                c[j] *= args->beta;
    }
}

/* ---- invariant products -------------------------------------------------------------------- */

/* C = alpha * sums + beta * C; the sums lie in C where sums is NULL. */
typedef struct {
    const tilemm__sgemm_args_t *args; /* has the numbers of rows, columns and matrices */
    const float *sums;                /* dense */
} epilogue_t;

static void run_epilogue(void *data, thread_t me)
{
    const epilogue_t *const x = data;
    const tilemm__sgemm_args_t *const p = x->args;
    int64_t row, end;
    my_share(me, p->m * p->batch_count, &row, &end);
    for (; row < end; row++) {
        float *const c = c_of(p, row / p->m) + row % p->m * p->ldc;
        tilemm__sgemm_epilogue(p->n, p->alpha, x->sums ? x->sums + row * p->n : c, p->beta, c);
    }
}

static void finish(tilemm_t ctx, const tilemm__sgemm_args_t *args, const float *sums)
{
    const double elements = (double)args->m * (double)args->n * (double)args->batch_count;
    const int threads = tilemm__cpu_limits(ctx).threads;
    epilogue_t epilogue = {args, sums};
    tilemm__run_team(elements > PAYS ? threads : 1, run_epilogue, &epilogue);
    tilemm__release_threads(threads);
}

/* A part of a batch, from a matrix, a row and a column on. */
static tilemm__sgemm_args_t part_of(const tilemm__sgemm_args_t *all, int64_t matrix, int64_t i,
                                    int64_t j)
{
    tilemm__sgemm_args_t p = *all;
    if (p.a_array)
        p.a_array += matrix;
    else
        p.a += matrix * p.stride_a + (p.trans_a ? i : i * p.lda);
    if (p.b_array)
        p.b_array += matrix;
    else
        p.b += matrix * p.stride_b + (p.trans_b ? j * p.ldb : j);
    if (p.c_array)
        p.c_array += matrix;
    else
        p.c += matrix * p.stride_c + i * p.ldc + j;
    return p;
}

/* An array of one matrix is that matrix, of which a part can be taken. */
static tilemm__sgemm_args_t one_of(const tilemm__sgemm_args_t *all, int64_t matrix)
{
    tilemm__sgemm_args_t p = part_of(all, matrix, 0, 0);
    p.a = p.a_array ? p.a_array[0] : p.a;
    p.b = p.b_array ? p.b_array[0] : p.b;
    p.c = p.c_array ? p.c_array[0] : p.c;
    p.a_array = p.b_array = NULL;
    p.c_array = NULL;
    p.batch_count = 1;
    return p;
}

/* The sums of some part, and then its epilogue. */
static tilemm_status_t run_sums(tilemm_t ctx, const tilemm__sgemm_args_t *part, float *sums)
{
    tilemm__sgemm_args_t p = *part;
    p.alpha = 1;
    p.beta = 0;
    p.c = sums;
    p.c_array = NULL;
    p.ldc = p.n;
    p.stride_c = p.m * p.n;
    const tilemm_status_t status = tilemm__cpu_sgemm(ctx, &p);
    if (status == TILEMM_SUCCESS)
        finish(ctx, part, sums);
    return status;
}

/* alpha and beta after all sums, which need memory of their own if C is read: of several matrices,
 * or of a part of one. */
static tilemm_status_t run_invariant(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    enum { MOST = 4 << 20, FEW = 32 };
    float few[FEW * FEW];
    tilemm_status_t status = TILEMM_SUCCESS;
    if (args->beta == 0) {
        tilemm__sgemm_args_t sums = *args;
        sums.alpha = 1;
        status = tilemm__cpu_sgemm(ctx, &sums);
        if (status == TILEMM_SUCCESS)
            finish(ctx, args, NULL);
        return status;
    }
    const int64_t most_columns = tilemm__min(args->n, MOST);
    const int64_t most_rows = tilemm__min(args->m, MOST / most_columns);
    const int64_t matrices =
        most_rows < args->m || most_columns < args->n
            ? 1
            : tilemm__min(args->batch_count, tilemm__max(MOST / (args->m * args->n), 1));
    float *const sums = malloc((size_t)(matrices * most_rows * most_columns) * sizeof *sums);
    const int64_t rows = sums ? most_rows : tilemm__min(args->m, FEW);
    const int64_t columns = sums ? most_columns : tilemm__min(args->n, FEW);
    const int64_t group = sums ? matrices : 1;
    for (int64_t first = 0; first < args->batch_count && status == TILEMM_SUCCESS; first += group) {
        if (rows == args->m && columns == args->n) {
            tilemm__sgemm_args_t part = part_of(args, first, 0, 0);
            part.batch_count = tilemm__min(group, args->batch_count - first);
            status = run_sums(ctx, &part, sums ? sums : few);
            continue;
        }
        const tilemm__sgemm_args_t one = one_of(args, first);
        for (int64_t i = 0; i < args->m; i += rows)
            for (int64_t j = 0; j < args->n && status == TILEMM_SUCCESS; j += columns) {
                tilemm__sgemm_args_t part = part_of(&one, 0, i, j);
                part.m = tilemm__min(rows, args->m - i);
                part.n = tilemm__min(columns, args->n - j);
                status = run_sums(ctx, &part, sums ? sums : few);
            }
    }
    free(sums);
    return status;
}

/* ---- the backend's functions --------------------------------------------------------------- */

tilemm_status_t tilemm__cpu_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    if (ctx->invariance != TILEMM_INVARIANCE_NONE && args->k > 0 && args->alpha != 0.0f &&
        (args->alpha != 1.0f || args->beta != 0.0f))
        return run_invariant(ctx, args);
    tilemm__limits_t limits = tilemm__cpu_limits(ctx);
    plan_t plan;
    job_t job = {.args = args, .tile = tilemm__cpu_kernels(ctx)->sgemm, .plan = &plan};
    if (args->k == 0 || args->alpha == 0.0f) {
        const double elements = (double)args->m * (double)args->n * (double)args->batch_count;
        tilemm__set_kernel_name(ctx, "");
        if (args->beta != 1.0f)
            tilemm__run_team(elements > PAYS ? limits.threads : 1, scale, &job);
        tilemm__release_threads(limits.threads);
        return TILEMM_SUCCESS;
    }

    void *own = NULL;
    tilemm_status_t status = tilemm__plan_sgemm_cpu(args, &limits, &plan);
    if (plan.workspace) {
        job.workspace = tilemm__cpu_workspace(ctx, plan.workspace, &limits.workspace);
        if (limits.workspace < plan.workspace)
            status = tilemm__plan_sgemm_cpu(args, &limits, &plan);
    }
    if (status == TILEMM_OUT_OF_MEMORY) { /* what it takes at least */
        limits.workspace = plan.blocked.set_bytes;
        if (posix_memalign(&own, 64, limits.workspace) != 0) {
            tilemm__release_threads(limits.threads);
            return tilemm__fail(ctx, status, "sgemm: %zu bytes of host memory: none",
                                limits.workspace);
        }
        job.workspace = own;
        tilemm__plan_sgemm_cpu(args, &limits, &plan);
    }
    tilemm__release_threads(limits.threads - plan.threads);
    tilemm__set_kernel_name(ctx, plan.name);
    if (plan.way == TILEMM__SGEMM_CPU_BLOCKED && plan.blocked.shared)
        run_shared(&job);
    else
        tilemm__run_team(plan.threads, run_tasks, &job);
    tilemm__release_threads(plan.threads);
    free(own);
    return TILEMM_SUCCESS;
}

int tilemm__cpu_sgemm_small(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__cpu_kernels_t *kernels = tilemm__cpu_kernels(ctx);
    const int invariant = ctx->invariance != TILEMM_INVARIANCE_NONE;
    const tilemm__sgemm_planes_t *planes = tilemm__sgemm_cpu_planes(kernels, ctx->math);
    const int threads = tilemm__cpu_threads(ctx);
    if (invariant &&
        (args->alpha != 1.0f || args->beta != 0.0f || !tilemm__sgemm_cpu_is_fused(kernels->sgemm)))
        return 0;
    if (tilemm__cpu_may_have_device(ctx) ||
        !tilemm__sgemm_cpu_is_small(args, kernels->sgemm->nr, threads) ||
        tilemm__sgemm_cpu_invariant_by_planes(planes, ctx->invariance, args->k) ||
        (!invariant && planes &&
         tilemm__sgemm_cpu_planes_pay(args, tilemm__cpu_tuning(ctx), planes, threads)))
        return 0;
    const product_t x = product_of(args, kernels->sgemm, 0, 0);
    run_small(&x, invariant ? TILEMM__SGEMM_INVARIANT_CHAIN
                            : tilemm__sgemm_cpu_chain((double)(x.m * x.n * x.k)));
    tilemm__set_kernel_name(ctx, kernels->sgemm->name);
    return 1;
}
