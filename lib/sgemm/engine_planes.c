/* engine_planes.c - panels of BF16 planes, multiplied by a CPU's matrix engine; where planes cannot
 * carry a panel, the FP32 tile multiplies the operands themselves.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include "lib/size.h"

typedef tilemm__sgemm_product_t product_t;
typedef tilemm__sgemm_block_t block_t;

enum { LINES = TILEMM__PLANES_LINES };
/* Products that the FP32 tile adds up one after the other. */
enum { CHAIN = 32 };
/* Steps that it does at a time. */
enum { EXACT_STEPS = 128 };

/* The panel that begins with line i of a block. */
static char *ms_at(const product_t *x, int64_t i)
{
    return x->ms + i / LINES * (int64_t)x->plan->panel_bytes;
}

static char *ns_at(const product_t *x, int64_t j)
{
    return x->ns + j / LINES * (int64_t)x->plan->panel_bytes;
}

static void pack_ms(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    for (int64_t i = first * LINES; i < end * LINES; i += LINES)
        x->plan->planes->pack_ms(at->k, (int)tilemm__min(LINES, at->m - i),
                                 tilemm__sgemm_a_at(x, at->i + i, at->p), x->lda, x->a_along_k,
                                 ms_at(x, i));
}

static void pack_ns(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    for (int64_t j = first * LINES; j < end * LINES; j += LINES)
        x->plan->planes->pack_ns(at->k, (int)tilemm__min(LINES, at->n - j),
                                 tilemm__sgemm_b_at(x, at->p, at->j + j), x->ldb, x->b_along_k,
                                 ns_at(x, j));
}

/* The product of two panels that planes do not carry: m rows from i and n columns from j of a
 * block, counted from the block's. */
static __attribute__((noinline)) void multiply_exactly(const product_t *x, const block_t *at,
                                                       int64_t i, int64_t j, int m, int n)
{
    const tilemm__sgemm_cpu_t *tile = x->tile;
    float packed[EXACT_STEPS * LINES] __attribute__((aligned(64)));
    float sum[LINES][LINES];
    float *c = x->c + (at->i + i) * x->rs_c + at->j + j;
    const float beta = tilemm__sgemm_beta(x, at);
    for (int64_t done = 0; done < at->k; done += EXACT_STEPS) {
        const int64_t steps = tilemm__min(EXACT_STEPS, at->k - done), p = at->p + done;
        for (int jj = 0; jj < n; jj += tile->nr) {
            const int columns = (int)tilemm__min(tile->nr, n - jj);
            tile->pack_ns(steps, columns, tilemm__sgemm_b_at(x, p, at->j + j + jj), x->ldb,
                          x->b_along_k, packed);
            tile->strip(&(tilemm__sgemm_strip_t){
                .k = steps,
                .chain = CHAIN,
                .ms = tilemm__sgemm_a_at(x, at->i + i, p),
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
    for (int ii = 0; ii < m; ii++)
        for (int jj = 0; jj < n; jj++) {
            float *to = c + ii * x->rs_c + jj;
            *to = beta == 0.0f ? x->alpha * sum[ii][jj] : x->alpha * sum[ii][jj] + beta * *to;
        }
}

/* Columns by 32, and for each of them rows by 32, all that planes carry in one call. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    const tilemm__sgemm_planes_t *planes = x->plan->planes;
    const int64_t i1 = tilemm__min(at->m, i0 + x->plan->m_part);
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    for (int64_t j = j0; j < j1; j += LINES) {
        const int n = (int)tilemm__min(LINES, at->n - j);
        const char *ns = ns_at(x, j);
        for (int64_t i = i0, end; i < i1; i = end) {
            for (end = i; end < i1 && planes->carries(ms_at(x, end), ns); end += LINES)
                ;
            end = tilemm__min(end, i1);
            if (end > i) {
                planes->multiply(at->k, ms_at(x, i), x->plan->panel_bytes, ns, end - i, n, x->alpha,
                                 tilemm__sgemm_beta(x, at),
                                 x->c + (at->i + i) * x->rs_c + at->j + j, x->rs_c);
            } else {
                end = tilemm__min(i + LINES, i1);
                multiply_exactly(x, at, i, j, (int)(end - i), n);
            }
        }
    }
}

const tilemm__sgemm_engine_t tilemm__sgemm_engine_planes = {pack_ms, pack_ns, multiply};
