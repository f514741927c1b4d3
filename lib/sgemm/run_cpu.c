/* run_cpu.c - SGEMM on the CPU: packs Ms and Ns as the plan says and runs the tile over them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

#include "lib/cpu/cpu.h"
#include "kernels/sgemm/cpu/kernels.h"
#include "lib/size.h"
#include "plan_cpu.h"
#include "lib/cpu/team.h"

/* One product, after the plan's swap, and where threads meet that do it together. */
typedef struct {
    const tilemm__sgemm_cpu_t *tile;
    const tilemm__sgemm_cpu_plan_t *plan;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    int64_t lda, ldb;
    int a_along_k, b_along_k; /* which index has stride one */
    float *c;
    int64_t rs_c, cs_c;
    float *ms, *ns;
    int64_t next; /* the next part that no thread has taken */
} product_t;

static const tilemm__sgemm_cpu_t *tile_for(tilemm__isa_t isa)
{
    switch (isa) {
#ifdef TILEMM_HAVE_AVX512
    case TILEMM__ISA_AMX:
    case TILEMM__ISA_AVX512: return &tilemm__sgemm_cpu_avx512;
#endif
#ifdef TILEMM_HAVE_AVX2
    case TILEMM__ISA_AVX2: return &tilemm__sgemm_cpu_avx2;
#endif
#ifdef TILEMM_HAVE_NEON
    case TILEMM__ISA_NEON: return &tilemm__sgemm_cpu_neon;
#endif
    default: return &tilemm__sgemm_cpu_generic;
    }
}

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
    product_t x = {
        .tile = tile,
        .k = args->k,
        .alpha = args->alpha,
        .beta = args->beta,
    };

    x.c = c_of(args, i);
    if (swap) {
        x.m = args->n;
        x.n = args->m;
        x.a = b;
        x.lda = args->ldb;
        x.a_along_k = args->trans_b;
        x.b = a;
        x.ldb = args->lda;
        x.b_along_k = !args->trans_a;
        x.rs_c = 1;
        x.cs_c = args->ldc;
    } else {
        x.m = args->m;
        x.n = args->n;
        x.a = a;
        x.lda = args->lda;
        x.a_along_k = !args->trans_a;
        x.b = b;
        x.ldb = args->ldb;
        x.b_along_k = args->trans_b;
        x.rs_c = args->ldc;
        x.cs_c = 1;
    }
    return x;
}

static void use_panels(product_t *x, void *memory)
{
    x->ms = memory;
    x->ns = x->ms + x->plan->ms_bytes / sizeof(float);
}

/* The block of C in work: rows from i, columns from j, steps from p on. */
typedef struct {
    int64_t i, m;
    int64_t j, n;
    int64_t p, k;
} block_t;

/* Whether the columns from j on, which are count, can be read as vectors where they lie. */
static int is_direct(const product_t *x, int64_t count)
{
    return x->plan->direct && (x->tile->masks || count == x->tile->nr || count == x->tile->vector);
}

/* Element (i, p) of op(A). */
static const float *a_at(const product_t *x, int64_t i, int64_t p)
{
    return x->a + (x->a_along_k ? i * x->lda + p : p * x->lda + i);
}

/* Pack the share of `thread` in the Ms panels of a block. */
static void pack_ms(const product_t *x, const block_t *at, int thread, int threads)
{
    const int64_t mr = x->tile->mr;
    const int64_t panels = x->plan->in_place ? 0 : tilemm__div_up(at->m, mr);

    for (int64_t q = panels * thread / threads; q < panels * (thread + 1) / threads; q++) {
        const int64_t i = at->i + q * mr;

        x->tile->pack_ms(at->k, (int)tilemm__min(mr, at->m - q * mr), a_at(x, i, at->p), x->lda,
                         x->a_along_k, x->ms + q * mr * at->k);
    }
}

/* Likewise Ns. Where B is read directly, a last panel that is not whole vectors lies first. */
static void pack_ns(const product_t *x, const block_t *at, int thread, int threads)
{
    const int64_t nr = x->tile->nr;

    if (x->plan->direct && x->tile->masks)
        return;

    const int64_t panels = tilemm__div_up(at->n, nr);
    const int64_t first = x->plan->direct ? panels - 1 : panels * thread / threads;
    const int64_t end = x->plan->direct ? panels : panels * (thread + 1) / threads;

    for (int64_t q = first; q < end; q++) {
        const int64_t j = at->j + q * nr;
        const int64_t count = tilemm__min(nr, at->n - q * nr);
        const float *from = x->b + (x->b_along_k ? j * x->ldb + at->p : at->p * x->ldb + j);

        if (!is_direct(x, count))
            x->tile->pack_ns(at->k, (int)count, from, x->ldb, x->b_along_k,
                             x->plan->direct ? x->ns : x->ns + q * nr * at->k);
    }
}

/* The tiles of one part of a block: rows from i, columns from j, counted from the block's. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    const int64_t nr = x->tile->nr;
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    tilemm__sgemm_strip_t strip = {
        .k = at->k,
        .chain = x->plan->chain,
        .ms = x->ms + i0 * at->k,
        .row_ms = at->k,
        .ld_ms = x->tile->mr,
        .m = tilemm__min(at->m - i0, x->plan->m_part),
        .rows = x->tile->mr,
        .alpha = x->alpha,
        /* beta belongs to the first steps; the others add to what those stored. */
        .beta = at->p == 0 ? x->beta : 1.0f,
        .rs_c = x->rs_c,
        .cs_c = x->cs_c,
    };

    if (x->plan->in_place) {
        /* Of one height; and not too many rows, as lines far apart may all be of one set of L1. */
        const int64_t most = x->plan->direct ? x->tile->mr : tilemm__min(x->tile->tall, 8);

        strip.ms = a_at(x, at->i + i0, at->p);
        strip.row_ms = x->a_along_k ? x->lda : 1;
        strip.ld_ms = x->lda;
        strip.along_k = x->a_along_k;
        strip.rows = (int)tilemm__div_up(strip.m, tilemm__div_up(strip.m, most));
    }
    for (int64_t j = j0; j < j1; j += nr) {
        strip.n = (int)tilemm__min(nr, at->n - j);
        strip.ns = x->ns + (x->plan->direct ? 0 : j * at->k);
        strip.ld_ns = nr;
        strip.ahead = 64 * nr; /* Ns comes from L3 */
        strip.c = x->c + (at->i + i0) * x->rs_c + (at->j + j) * x->cs_c;
        if (is_direct(x, strip.n)) {
            strip.ns = x->b + at->p * x->ldb + at->j + j;
            strip.ld_ns = x->ldb;
            /* A stream goes along the rows of B, whose pages the tile is in already. */
            strip.ahead = x->plan->stream ? TILEMM__SGEMM_STREAM_AHEAD : 8 * x->ldb;
        }
        x->tile->strip(&strip);
    }
}

/* Multiply the packed panels of a block. The parts are handed out as threads come for them; who
 * does a part makes no difference to it. */
static void multiply_block(product_t *x, const block_t *at, int threads)
{
    const int64_t across = tilemm__div_up(at->n, x->plan->n_part);
    const int64_t parts = tilemm__div_up(at->m, x->plan->m_part) * across;

    for (int64_t part = take(&x->next, threads); part < parts; part = take(&x->next, threads))
        multiply(x, at, part / across * x->plan->m_part, part % across * x->plan->n_part);
}

/* What thread `thread` of a team of `threads` does of a product; all of it if the team is one. */
static void run(product_t *x, int thread, int threads)
{
    const tilemm__sgemm_cpu_plan_t *plan = x->plan;
    block_t at;

    for (at.j = 0; at.j < x->n; at.j += plan->n_panel) {
        at.n = tilemm__min(plan->n_panel, x->n - at.j);
        for (at.p = 0; at.p < x->k; at.p += plan->kc) {
            at.k = tilemm__min(plan->kc, x->k - at.p);
            pack_ns(x, &at, thread, threads);
            for (at.i = 0; at.i < x->m; at.i += plan->m_panel) {
                at.m = tilemm__min(plan->m_panel, x->m - at.i);
                pack_ms(x, &at, thread, threads);
                if (thread == 0)
                    x->next = 0;
                meet(threads);
                multiply_block(x, &at, threads);
                meet(threads);
            }
        }
    }
}

static __attribute__((noinline)) void run_on_stack(product_t *x)
{
    float panels[TILEMM__SGEMM_STACK_BYTES / sizeof(float)] __attribute__((aligned(64)));

    use_panels(x, panels);
    run(x, 0, 1);
}

/* One row of C. Where rows of B are added up, sums of some of them are added up apart, as chains of
 * additions lose more the longer they are. */
static __attribute__((noinline)) void run_vector(const product_t *x)
{
    enum { ROWS = 256 };
    float a[TILEMM__SGEMM_VECTOR_PIECE], y[TILEMM__SGEMM_VECTOR_PIECE];
    float part[TILEMM__SGEMM_VECTOR_PIECE];
    const int64_t kc = x->b_along_k ? x->plan->kc : tilemm__min(x->plan->kc, ROWS);

    for (int64_t j = 0; j < x->n; j += x->plan->n_panel) {
        const int64_t n = tilemm__min(x->plan->n_panel, x->n - j);
        float *c = x->c + j * x->cs_c;

        for (int64_t i = 0; i < n; i++)
            y[i] = 0.0f;
        for (int64_t p = 0; p < x->k; p += kc) {
            const int64_t k = tilemm__min(kc, x->k - p);
            const float *from = a_at(x, 0, p);

            if (!x->a_along_k && x->lda != 1) {
                for (int64_t i = 0; i < k; i++)
                    a[i] = from[i * x->lda];
                from = a;
            }
            for (int64_t i = 0; i < n; i++)
                part[i] = 0.0f;
            x->tile->times_vector(k, n, from,
                                  x->b + (x->b_along_k ? j * x->ldb + p : p * x->ldb + j), x->ldb,
                                  x->b_along_k, part);
            for (int64_t i = 0; i < n; i++)
                y[i] += part[i];
        }
        if (x->beta == 0.0f) {
            for (int64_t i = 0; i < n; i++)
                c[i * x->cs_c] = x->alpha * y[i];
        } else {
            for (int64_t i = 0; i < n; i++)
                c[i * x->cs_c] = x->alpha * y[i] + x->beta * c[i * x->cs_c];
        }
    }
}

/* The whole of a small product. */
static inline void run_small(const product_t *x)
{
    tilemm__sgemm_strip_t all = {
        .k = x->k,
        .chain = TILEMM__SGEMM_SMALL_CHAIN,
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

/* Ask for a small matrix, or for so much of it that the hardware sees where it goes on. */
static inline void ask_for(const float *x, int64_t lines, int64_t ld)
{
    const int64_t end = tilemm__min(lines * ld, 1024);

    for (int64_t i = 0; i < end; i += 16)
        __builtin_prefetch(x + i);
}

/* Task number `task`: a part of the C of one matrix. */
static void run_task(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cpu_t *tile,
                     const tilemm__sgemm_cpu_plan_t *plan, int64_t task, void *memory)
{
    if (plan->small) {
        const product_t x = product_of(args, tile, plan->swap, task);

        if (task + plan->ahead < args->batch_count) {
            const product_t later = product_of(args, tile, 0, task + plan->ahead);

            ask_for(later.a, args->trans_a ? args->k : args->m, args->lda);
            ask_for(later.b, args->trans_b ? args->n : args->k, args->ldb);
            ask_for(later.c, args->m, args->ldc);
        }
        run_small(&x);
        return;
    }

    const int64_t across = tilemm__div_up(plan->swap ? args->m : args->n, plan->n_task);
    const int64_t each = tilemm__div_up(plan->swap ? args->n : args->m, plan->m_task) * across;
    product_t x = product_of(args, tile, plan->swap, task / each);
    const int64_t i = task % each / across * plan->m_task;
    const int64_t j = task % each % across * plan->n_task;

    x.plan = plan;
    x.m = tilemm__min(plan->m_task, x.m - i);
    x.n = tilemm__min(plan->n_task, x.n - j);
    x.a += x.a_along_k ? i * x.lda : i;
    x.b += x.b_along_k ? j * x.ldb : j;
    x.c += i * x.rs_c + j * x.cs_c;
    if (plan->vector) {
        run_vector(&x);
    } else if (plan->on_stack) {
        run_on_stack(&x);
    } else {
        use_panels(&x, memory);
        run(&x, 0, 1);
    }
}

static void run_tasks(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cpu_t *tile,
                      const tilemm__sgemm_cpu_plan_t *plan, char *workspace)
{
    if (plan->threads == 1) {
        for (int64_t task = 0; task < plan->tasks; task++)
            run_task(args, tile, plan, task, workspace);
        return;
    }

    /* Tasks may be as small as a matrix of one element: they are taken some at a time. */
    const int64_t stride = 1 + plan->tasks / ((int64_t)plan->threads * 32);
    int64_t next = 0;

#pragma omp parallel for num_threads(plan->threads) schedule(static, 1)
    for (int worker = 0; worker < plan->threads; worker++) {
        void *memory = plan->on_stack ? NULL : workspace + worker * plan->set_bytes;
        int64_t task;

        for (;;) {
#pragma omp atomic capture
            {
                task = next;
                next += stride;
            }
            if (task >= plan->tasks)
                break;
            for (int64_t end = tilemm__min(plan->tasks, task + stride); task < end; task++)
                run_task(args, tile, plan, task, memory);
        }
    }
}

static void run_shared(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cpu_t *tile,
                       const tilemm__sgemm_cpu_plan_t *plan, void *workspace)
{
    for (int64_t i = 0; i < args->batch_count; i++) {
        product_t x = product_of(args, tile, plan->swap, i);

        x.plan = plan;
        use_panels(&x, workspace);
#ifdef _OPENMP
#pragma omp parallel num_threads(plan->threads)
        run(&x, omp_get_thread_num(), omp_get_num_threads());
#else
        run(&x, 0, 1);
#endif
    }
}

/* C = beta C, which no kernel is needed for. */
static void scale(const tilemm__sgemm_args_t *args, int threads)
{
    const int64_t rows = args->m * args->batch_count;

    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) if ((double)rows * (double)args->n > 65536.0)
    for (int64_t row = 0; row < rows; row++) {
        float *c = c_of(args, row / args->m) + row % args->m * args->ldc;

        if (args->beta == 0.0f) {
            for (int64_t j = 0; j < args->n; j++)
                c[j] = 0.0f;
        } else {
            for (int64_t j = 0; j < args->n; j++)
                c[j] *= args->beta;
        }
    }
}

tilemm_status_t tilemm__cpu_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__cpu_traits_t *traits = tilemm__cpu_traits(ctx);
    const tilemm__sgemm_cpu_t *tile = tile_for(traits->isa);
    const int threads = tilemm__cpu_threads(ctx);
    tilemm__sgemm_cpu_plan_t plan;
    void *workspace = NULL;

    if (args->k == 0 || args->alpha == 0.0f) {
        tilemm__set_kernel(ctx, "%s", "");
        if (args->beta != 1.0f)
            scale(args, threads);
        return TILEMM_SUCCESS;
    }

#ifdef TILEMM_HAVE_AMX
    if (tilemm__cpu_sgemm_planes(ctx, args, tile))
        return TILEMM_SUCCESS;
#endif
    tilemm__plan_sgemm_cpu(&plan, args, traits, tile->mr, tile->nr, threads, SIZE_MAX);
    if (plan.workspace) {
        size_t got;

        workspace = tilemm__cpu_workspace(ctx, plan.workspace, &got);
        if (got < plan.workspace)
            tilemm__plan_sgemm_cpu(&plan, args, traits, tile->mr, tile->nr, threads, got);
    }
    tilemm__set_kernel_name(ctx, tile->name);
    if (plan.shared)
        run_shared(args, tile, &plan, workspace);
    else
        run_tasks(args, tile, &plan, workspace);
    return TILEMM_SUCCESS;
}

int tilemm__cpu_sgemm_small(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__cpu_traits_t *traits = tilemm__cpu_traits(ctx);
    const tilemm__sgemm_cpu_t *tile = tile_for(traits->isa);

    if (tilemm__cpu_may_have_device(ctx) ||
        !tilemm__sgemm_cpu_is_small(args, tile->nr, tilemm__cpu_threads(ctx)))
        return 0;

#ifdef TILEMM_HAVE_AMX
    if (tilemm__cpu_wants_planes(ctx, args))
        return 0;
#endif

    const product_t x = product_of(args, tile, 0, 0);

    run_small(&x);
    tilemm__set_kernel_name(ctx, tile->name);
    return 1;
}
