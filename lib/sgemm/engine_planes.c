/* engine_planes.c - panels of BF16 planes, multiplied by a CPU's matrix engine; where planes cannot
 * carry a line, the FP32 tile multiplies the operands themselves.
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

/* Lines of a block: rows of op(A) from i on, columns of op(B) from j on. */
static tilemm__planes_lines_t rows_at(const product_t *x, const block_t *at, int64_t i)
{
    return (tilemm__planes_lines_t){tilemm__sgemm_a_at(x, at->i + i, at->p), x->lda, x->a_along_k,
                                    (int)tilemm__min(LINES, at->m - i)};
}

static tilemm__planes_lines_t columns_at(const product_t *x, const block_t *at, int64_t j)
{
    return (tilemm__planes_lines_t){tilemm__sgemm_b_at(x, at->p, at->j + j), x->ldb, x->b_along_k,
                                    (int)tilemm__min(LINES, at->n - j)};
}

static void pack_ms(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    if (x->plan->as_read)
        return;
    for (int64_t i = first * LINES; i < end * LINES; i += LINES) {
        const tilemm__planes_lines_t lines = rows_at(x, at, i);
        x->plan->planes->pack_ms(at->k, &lines, ms_at(x, i));
    }
}

static void pack_ns(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    if (x->plan->as_read)
        return;
    for (int64_t j = first * LINES; j < end * LINES; j += LINES) {
        const tilemm__planes_lines_t lines = columns_at(x, at, j);
        x->plan->planes->pack_ns(at->k, &lines, ns_at(x, j));
    }
}

/* The product of lines that planes do not carry: m rows from i and n columns from j of a block,
 * counted from the block's. */
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

static uint32_t exact_of(const char *panel)
{
    return ((const tilemm__planes_head_t *)(const void *)panel)->exact;
}

/* The end of the lines from `first` on, of `count`, that are all exact, or all not. */
static int run_of(uint32_t exact, int first, int count)
{
    int end = first + 1;
    while (end < count && (exact >> end & 1) == (exact >> first & 1))
        end++;
    return end;
}

/* What planes left of a tile of C: exact rows, and exact columns of the other rows. */
static void multiply_exact_lines(const product_t *x, const block_t *at, int64_t i, int64_t j, int m,
                                 int n, uint32_t rows, uint32_t columns)
{
    if (!(rows | columns))
        return;
    for (int row = 0, end; row < m; row = end) {
        end = run_of(rows, row, m);
        if (rows >> row & 1) {
            multiply_exactly(x, at, i + row, j, end - row, n);
            continue;
        }
        for (int column = 0, last; column < n; column = last) {
            last = run_of(columns, column, n);
            if (columns >> column & 1)
                multiply_exactly(x, at, i + row, j + column, end - row, last - column);
        }
    }
}

static tilemm__planes_product_t product_at(const product_t *x, const block_t *at, int64_t i,
                                           int64_t j)
{
    return (tilemm__planes_product_t){
        at->k,   x->alpha,    tilemm__sgemm_beta(x, at), x->c + (at->i + i) * x->rs_c + at->j + j,
        x->rs_c, x->exchanged};
}

/* Block number q of kc steps. */
static block_t part_of(const product_t *x, const block_t *at, int64_t q)
{
    block_t part = *at;
    part.p += q * x->plan->kc;
    part.k = tilemm__min(x->plan->kc, at->k - q * x->plan->kc);
    return part;
}

/* The lines of one operand by 32, split as they are read, with the panels of the other, which are
 * packed first: columns of tiles if those lines lie along k, else rows. */
static void multiply_as_read(const product_t *x, const block_t *at)
{
    const tilemm__sgemm_planes_t *planes = x->plan->planes;
    const int are_rows = x->plan->as_read == TILEMM__SGEMM_A_AS_READ;
    const int along_k = are_rows ? x->a_along_k : x->b_along_k;
    const int64_t count = are_rows ? at->m : at->n, blocks = tilemm__div_up(at->k, x->plan->kc);
    for (int64_t q = 0; q < blocks; q++) {
        const block_t part = part_of(x, at, q);
        const tilemm__planes_lines_t few =
            are_rows ? columns_at(x, &part, 0) : rows_at(x, &part, 0);
        (along_k ? planes->pack_ns : planes->pack_ms)(
            part.k, &few, are_rows ? ns_at(x, q * LINES) : ms_at(x, q * LINES));
    }
    for (int64_t line = 0; line < count; line += LINES)
        for (int64_t q = 0; q < blocks; q++) {
            const block_t part = part_of(x, at, q);
            const int64_t i = are_rows ? line : 0, j = are_rows ? 0 : line;
            const tilemm__planes_lines_t rows = rows_at(x, &part, i),
                                         columns = columns_at(x, &part, j);
            const tilemm__planes_product_t product = product_at(x, &part, i, j);
            char *const ms = ms_at(x, are_rows ? 0 : q * LINES);
            char *const ns = ns_at(x, are_rows ? q * LINES : 0);
            planes->multiply_as_read(&product, are_rows ? &rows : &columns, are_rows,
                                     are_rows ? ms : ns, are_rows ? ns : ms,
                                     are_rows ? columns.count : rows.count);
            multiply_exact_lines(x, &part, i, j, rows.count, columns.count, exact_of(ms),
                                 exact_of(ns));
        }
}

/* Columns by 32, and for each of them rows by 32, all in one call. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    const tilemm__sgemm_planes_t *planes = x->plan->planes;
    const int64_t i1 = tilemm__min(at->m, i0 + x->plan->m_part);
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    if (x->plan->as_read) {
        multiply_as_read(x, at);
        return;
    }
    for (int64_t j = j0; j < j1; j += LINES) {
        const tilemm__planes_product_t product = product_at(x, at, i0, j);
        const int n = (int)tilemm__min(LINES, at->n - j);
        planes->multiply(&product, ms_at(x, i0), x->plan->panel_bytes, ns_at(x, j), i1 - i0, n);
        for (int64_t i = i0; i < i1; i += LINES)
            multiply_exact_lines(x, at, i, j, (int)tilemm__min(LINES, i1 - i), n,
                                 exact_of(ms_at(x, i)), exact_of(ns_at(x, j)));
    }
}

const tilemm__sgemm_engine_t tilemm__sgemm_engine_planes = {pack_ms, pack_ns, multiply};
