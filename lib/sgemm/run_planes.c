/* run_planes.c - SGEMM on a CPU's matrix engine: packs operands as BF16 planes and multiplies
 * those; where planes cannot carry a panel, the FP32 tile multiplies the operands themselves.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#ifdef TILEMM_HAVE_AMX

#ifdef _OPENMP
#include <omp.h>
#endif

#include "lib/cpu/cpu.h"
#include "kernels/sgemm/cpu/kernels.h"
#include "kernels/sgemm/cpu/planes.h"
#include "lib/size.h"
#include "plan_planes.h"
#include "lib/cpu/team.h"

enum { LINES = TILEMM__PLANES_LINES };
/* Products that the FP32 tile adds up one after the other, as for small matrices. */
enum { CHAIN = 32 };
/* Of k, that it does at a time. */
enum { STRICT_STEPS = 128 };

/* One product, and where threads meet that do it together. */
typedef struct {
    const tilemm__sgemm_planes_t *planes;
    const tilemm__sgemm_cpu_t *tile;
    const tilemm__sgemm_planes_plan_t *plan;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    int64_t lda, ldb;
    int a_along_k, b_along_k; /* which index has stride one */
    float *c;
    int64_t ldc;
    char *ms, *ns;
    int64_t next; /* the next part that no thread has taken */
} product_t;

/* The block of C in work: rows from i, columns from j, steps from p on. */
typedef struct {
    int64_t i, m;
    int64_t j, n;
    int64_t p, k;
} block_t;

/* Matrix i of the batch. */
static product_t product_of(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes,
                            const tilemm__sgemm_cpu_t *tile,
                            const tilemm__sgemm_planes_plan_t *plan, int64_t i, char *workspace)
{
    return (product_t){
        .planes = planes,
        .tile = tile,
        .plan = plan,
        .m = args->m,
        .n = args->n,
        .k = args->k,
        .alpha = args->alpha,
        .beta = args->beta,
        .a = args->a_array ? args->a_array[i] : args->a + i * args->stride_a,
        .b = args->b_array ? args->b_array[i] : args->b + i * args->stride_b,
        .c = args->c_array ? args->c_array[i] : args->c + i * args->stride_c,
        .lda = args->lda,
        .ldb = args->ldb,
        .ldc = args->ldc,
        .a_along_k = !args->trans_a,
        .b_along_k = args->trans_b,
        .ms = workspace,
        .ns = workspace + plan->ms_bytes,
    };
}

static const float *a_at(const product_t *x, int64_t i, int64_t p)
{
    return x->a + (x->a_along_k ? i * x->lda + p : p * x->lda + i);
}

static const float *b_at(const product_t *x, int64_t p, int64_t j)
{
    return x->b + (x->b_along_k ? j * x->ldb + p : p * x->ldb + j);
}

static char *ms_at(const product_t *x, int64_t i)
{
    return x->ms + i / LINES * (int64_t)x->plan->panel_bytes;
}

static char *ns_at(const product_t *x, int64_t j)
{
    return x->ns + j / LINES * (int64_t)x->plan->panel_bytes;
}

/* Pack the share of `thread` in the panels of Ms (of_a) or Ns of a block. */
static void pack(const product_t *x, const block_t *at, int of_a, int thread, int threads)
{
    const int64_t lines = of_a ? at->m : at->n, panels = tilemm__div_up(lines, LINES);

    for (int64_t q = panels * thread / threads; q < panels * (thread + 1) / threads; q++) {
        const int64_t i = q * LINES;
        const int count = (int)tilemm__min(LINES, lines - i);

        if (of_a)
            x->planes->pack_ms(at->k, count, a_at(x, at->i + i, at->p), x->lda, x->a_along_k,
                               ms_at(x, i));
        else
            x->planes->pack_ns(at->k, count, b_at(x, at->p, at->j + i), x->ldb, x->b_along_k,
                               ns_at(x, i));
    }
}

/* The product of two panels that planes do not carry, in FP32: m rows from i, n columns from j, k
 * steps from p on. */
static __attribute__((noinline)) void multiply_strictly(const product_t *x, int64_t i, int64_t j,
                                                        int64_t p, int64_t k, int m, int n,
                                                        float beta)
{
    const tilemm__sgemm_cpu_t *tile = x->tile;
    float packed[STRICT_STEPS * LINES] __attribute__((aligned(64)));
    float sum[LINES][LINES];
    float *c = x->c + i * x->ldc + j;

    for (int64_t done = 0; done < k; done += STRICT_STEPS) {
        const int64_t steps = tilemm__min(STRICT_STEPS, k - done);

        for (int jj = 0; jj < n; jj += tile->nr) {
            const int columns = (int)tilemm__min(tile->nr, n - jj);

            tile->pack_ns(steps, columns, b_at(x, p + done, j + jj), x->ldb, x->b_along_k, packed);
            tile->strip(&(tilemm__sgemm_strip_t){
                .k = steps,
                .chain = CHAIN,
                .ms = a_at(x, i, p + done),
                .row_ms = x->a_along_k ? x->lda : 1,
                .ld_ms = x->lda,
                .along_k = x->a_along_k,
                .ns = packed,
                .ld_ns = tile->nr,
                .m = m,
                .rows = (int)tilemm__min(tile->mr, m),
                .n = columns,
                .alpha = 1.0f,
                .beta = done ? 1.0f : 0.0f,
                .c = &sum[0][jj],
                .rs_c = LINES,
                .cs_c = 1,
            });
        }
    }
    for (int ii = 0; ii < m; ii++) {
        for (int jj = 0; jj < n; jj++) {
            float *to = c + ii * x->ldc + jj;

            *to = beta == 0.0f ? x->alpha * sum[ii][jj] : x->alpha * sum[ii][jj] + beta * *to;
        }
    }
}

/* The tiles of one part of a block: rows from i0, columns from j0, counted from the block's. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    const int64_t i1 = tilemm__min(at->m, i0 + x->plan->m_part);
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    /* beta belongs to the first panels; the others add to what those stored. */
    const float beta = at->p == 0 ? x->beta : 1.0f;

    for (int64_t j = j0; j < j1; j += LINES) {
        const int n = (int)tilemm__min(LINES, at->n - j);
        const char *ns = ns_at(x, j);

        for (int64_t i = i0, end; i < i1; i = end) {
            const char *ms = ms_at(x, i);

            for (end = i; end < i1 && x->planes->carries(ms_at(x, end), ns); end += LINES)
                ;
            end = tilemm__min(end, i1);
            if (end > i) {
                x->planes->multiply(at->k, ms, x->plan->panel_bytes, ns, end - i, n, x->alpha, beta,
                                    x->c + (at->i + i) * x->ldc + at->j + j, x->ldc);
            } else {
                end = tilemm__min(i + LINES, i1);
                multiply_strictly(x, at->i + i, at->j + j, at->p, at->k, (int)(end - i), n, beta);
            }
        }
    }
}

/* What thread `thread` of a team of `threads` does of a product; all of it if the team is one. */
static void run(product_t *x, int thread, int threads)
{
    const tilemm__sgemm_planes_plan_t *plan = x->plan;
    block_t at;

    for (at.j = 0; at.j < x->n; at.j += plan->n_panel) {
        at.n = tilemm__min(plan->n_panel, x->n - at.j);
        for (at.p = 0; at.p < x->k; at.p += plan->depth) {
            at.k = tilemm__min(plan->depth, x->k - at.p);
            pack(x, &at, 0, thread, threads);
            for (at.i = 0; at.i < x->m; at.i += plan->m_panel) {
                at.m = tilemm__min(plan->m_panel, x->m - at.i);
                pack(x, &at, 1, thread, threads);
                if (thread == 0)
                    x->next = 0;
                meet(threads);

                const int64_t across = tilemm__div_up(at.n, plan->n_part);
                const int64_t parts = tilemm__div_up(at.m, plan->m_part) * across;

                for (int64_t part = take(&x->next, threads); part < parts;
                     part = take(&x->next, threads))
                    multiply(x, &at, part / across * plan->m_part, part % across * plan->n_part);
                meet(threads);
            }
        }
    }
}

static void run_shared(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes,
                       const tilemm__sgemm_cpu_t *tile, const tilemm__sgemm_planes_plan_t *plan,
                       char *workspace)
{
    for (int64_t i = 0; i < args->batch_count; i++) {
        product_t x = product_of(args, planes, tile, plan, i, workspace);

#ifdef _OPENMP
#pragma omp parallel num_threads(plan->threads)
        {
            planes->begin();
            run(&x, omp_get_thread_num(), omp_get_num_threads());
            planes->end();
        }
#else
        planes->begin();
        run(&x, 0, 1);
        planes->end();
#endif
    }
}

/* A matrix to a thread. */
static void run_batch(const tilemm__sgemm_args_t *args, const tilemm__sgemm_planes_t *planes,
                      const tilemm__sgemm_cpu_t *tile, const tilemm__sgemm_planes_plan_t *plan,
                      char *workspace)
{
    int64_t next = 0;

#pragma omp parallel for num_threads(plan->threads) if (plan->threads > 1) schedule(static, 1)
    for (int worker = 0; worker < plan->threads; worker++) {
        planes->begin();
        for (;;) {
            int64_t i;

#pragma omp atomic capture
            i = next++;
            if (i >= args->batch_count)
                break;
            product_t x = product_of(args, planes, tile, plan, i,
                                     workspace + (size_t)worker * plan->set_bytes);
            run(&x, 0, 1);
        }
        planes->end();
    }
}

/* The context's, or NULL. */
static const tilemm__sgemm_planes_t *planes_of(tilemm_t ctx)
{
    if (tilemm__cpu_traits(ctx)->isa != TILEMM__ISA_AMX || ctx->math == TILEMM_MATH_FP32_STRICT)
        return NULL;
    return ctx->math == TILEMM_MATH_TF32 ? &tilemm__sgemm_planes_amx_tf32
                                         : &tilemm__sgemm_planes_amx_fp32;
}

int tilemm__cpu_wants_planes(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__sgemm_planes_t *planes = planes_of(ctx);

    return planes && tilemm__planes_pay(args, planes);
}

int tilemm__cpu_sgemm_planes(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                             const tilemm__sgemm_cpu_t *tile)
{
    const tilemm__cpu_traits_t *traits = tilemm__cpu_traits(ctx);
    const tilemm__sgemm_planes_t *planes = planes_of(ctx);
    const int threads = tilemm__cpu_threads(ctx);
    tilemm__sgemm_planes_plan_t plan;
    size_t got;
    char *workspace;

    if (!planes || !tilemm__plan_sgemm_planes(&plan, args, traits, planes, threads, SIZE_MAX))
        return 0;
    workspace = tilemm__cpu_workspace(ctx, plan.workspace, &got);
    if (got < plan.workspace &&
        !tilemm__plan_sgemm_planes(&plan, args, traits, planes, threads, got))
        return 0;
    tilemm__set_kernel_name(ctx, planes->name);
    if (plan.shared)
        run_shared(args, planes, tile, &plan, workspace);
    else
        run_batch(args, planes, tile, &plan, workspace);
    return 1;
}
#endif
