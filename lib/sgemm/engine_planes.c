/* engine_planes.c - panels of BF16 planes, multiplied by a CPU's matrix engine; where planes cannot
 * carry a line, the FP32 tile multiplies the operands themselves.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <limits.h>

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

/* Block number q of kc steps. */
static block_t part_of(const product_t *x, const block_t *at, int64_t q)
{
    block_t part = *at;
    part.p += q * x->plan->kc;
    part.k = tilemm__min(x->plan->kc, at->k - q * x->plan->kc);
    return part;
}

static void pack_ms(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    if (x->plan->as_read)
        return;
    const int64_t panels = tilemm__div_up(at->m, LINES);
    for (int64_t i = first; i < end; i++) {
        const block_t part = part_of(x, at, i / panels);
        const tilemm__planes_lines_t lines = rows_at(x, &part, i % panels * LINES);
        x->plan->planes->pack_ms(part.k, &lines, ms_at(x, i * LINES));
    }
}

static void pack_ns(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    if (x->plan->as_read)
        return;
    const int64_t panels = tilemm__div_up(at->n, LINES);
    for (int64_t j = first; j < end; j++) {
        const block_t part = part_of(x, at, j / panels);
        const tilemm__planes_lines_t lines = columns_at(x, &part, j % panels * LINES);
        x->plan->planes->pack_ns(part.k, &lines, ns_at(x, j * LINES));
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

/* Of a block one of whose operands is split as it is read: lines of that, `count` from `first` on,
 * and of the other operand, few, with their panel: number f, of part q of the block. */
typedef struct {
    int are_rows; /* the lines are rows of op(A) */
    tilemm__planes_lines_t lines, few;
    void *to;    /* the lines' panel */
    void *panel; /* of the others, or their planes as vectors */
    tilemm__planes_product_t product;
    int64_t i, j; /* of C */
} as_read_t;

/* How many panels the others have. */
static int64_t few_panels(const product_t *x, const block_t *at)
{
    return tilemm__div_up(x->plan->as_read == TILEMM__SGEMM_A_AS_READ ? at->n : at->m, LINES);
}

static as_read_t as_read_at(const product_t *x, const block_t *at, int64_t first, int64_t count,
                            int64_t q, int64_t f)
{
    const int are_rows = x->plan->as_read == TILEMM__SGEMM_A_AS_READ;
    const int64_t i = are_rows ? first : f * LINES, j = are_rows ? f * LINES : first;
    const int64_t panel = (q * few_panels(x, at) + f) * LINES;
    as_read_t r = {.are_rows = are_rows,
                   .lines = are_rows ? rows_at(x, at, i) : columns_at(x, at, j),
                   .few = are_rows ? columns_at(x, at, j) : rows_at(x, at, i),
                   .to = are_rows ? ms_at(x, 0) : ns_at(x, 0),
                   .panel = are_rows ? ns_at(x, panel) : ms_at(x, panel),
                   .product = product_at(x, at, i, j),
                   .i = i,
                   .j = j};
    r.lines.count = (int)tilemm__min(count, (are_rows ? at->m : at->n) - first);
    return r;
}

/* The others' panels: columns of tiles if the lines lie along k, else rows. */
static void pack_few(const product_t *x, const block_t *at)
{
    const tilemm__sgemm_planes_t *planes = x->plan->planes;
    for (int64_t q = 0; q * x->plan->kc < at->k; q++)
        for (int64_t f = 0; f < few_panels(x, at); f++) {
            const block_t part = part_of(x, at, q);
            const as_read_t r = as_read_at(x, &part, 0, LINES, q, f);
            (r.lines.along_k ? planes->pack_ns : planes->pack_ms)(part.k, &r.few, r.panel);
        }
}

/* The others as vectors. Returns 0 if they need a scale. */
static int split_few(const product_t *x, const block_t *at)
{
    for (int64_t q = 0; q * x->plan->kc < at->k; q++) {
        const block_t part = part_of(x, at, q);
        const as_read_t r = as_read_at(x, &part, 0, LINES, q, 0);
        if (!x->plan->planes->split_vectors(part.k, &r.few, r.panel))
            return 0;
    }
    return 1;
}

/* The product of lines and vectors, as many lines as the kernel takes: their number, or 0 if one
 * needs a scale. */
static int64_t multiply_vectors(const product_t *x, const block_t *at, int64_t line, int64_t q)
{
    const tilemm__sgemm_cpu_blocks_t *const plan = x->plan;
    const block_t part = part_of(x, at, q);
    as_read_t r = as_read_at(x, &part, line, INT_MAX, q, 0);
    const float *const after = (q + 1) * plan->kc < at->k
                                   ? r.lines.src + plan->kc
                                   : r.lines.src - q * plan->kc + TILEMM__PLANES_GROUP * r.lines.ld;
    return plan->planes->multiply_vectors(&r.product, &r.lines, r.are_rows, r.to, plan->panel_bytes,
                                          r.panel, r.few.count, after)
               ? r.lines.count
               : 0;
}

/* The product of up to 32 lines with the panels; of copies of the lines, if there are some. */
static void multiply_lines(const product_t *x, const block_t *at, int64_t line, int64_t count,
                           int64_t q, const float *copies)
{
    const block_t part = part_of(x, at, q);
    for (int64_t f = 0; f < few_panels(x, at); f++) {
        as_read_t r = as_read_at(x, &part, line, count, q, f);
        if (copies) {
            r.lines.src = copies + line % x->plan->copied;
            r.lines.ld = tilemm__sgemm_cpu_copied_ld(x->plan);
        }
        x->plan->planes->multiply_as_read(&r.product, &r.lines, r.are_rows, r.to, r.panel,
                                          r.few.count);
        const uint32_t of_lines = exact_of(r.to), of_few = exact_of(r.panel);
        if (r.are_rows)
            multiply_exact_lines(x, &part, r.i, r.j, r.lines.count, r.few.count, of_lines, of_few);
        else
            multiply_exact_lines(x, &part, r.i, r.j, r.few.count, r.lines.count, of_few, of_lines);
    }
}

/* Copy lines that do not lie along k, from `first` on: memory gives one row after the other
 * fastest. */
static const float *copy_lines(const product_t *x, const block_t *at, int64_t first)
{
    enum { AHEAD = 4, IN_A_LINE = 16 }; /* rows; floats of a line of memory */
    const as_read_t r = as_read_at(x, at, first, x->plan->copied, 0, 0);
    const int64_t ld = tilemm__sgemm_cpu_copied_ld(x->plan);
    float *const copies = (float *)(void *)(x->ms + x->plan->copies_at);
    for (int64_t p = 0; p < at->k; p++) {
        const float *const row = r.lines.src + p * r.lines.ld;
        for (int i = 0; i < r.lines.count && p + AHEAD < at->k; i += IN_A_LINE)
            __builtin_prefetch(row + AHEAD * r.lines.ld + i, 0, 2);
        memcpy(copies + p * ld, row, sizeof *row * (size_t)r.lines.count);
    }
    return copies;
}

/* The lines of one operand, split as they are read: as a matrix with the other's lines as vectors,
 * until some line needs a scale; or by 32, with the other's panels. */
static void multiply_as_read(const product_t *x, const block_t *at)
{
    const tilemm__sgemm_cpu_blocks_t *const plan = x->plan;
    const int are_rows = plan->as_read == TILEMM__SGEMM_A_AS_READ;
    const int along_k = are_rows ? x->a_along_k : x->b_along_k;
    const int64_t count = are_rows ? at->m : at->n;
    int as_vectors = plan->as_vectors && split_few(x, at);
    const float *copies = NULL;
    if (!as_vectors)
        pack_few(x, at);
    for (int64_t line = 0, done; line < count; line += done) {
        if (plan->copied && line % plan->copied == 0)
            copies = copy_lines(x, at, line);
        done = as_vectors && along_k ? TILEMM__PLANES_GROUP : LINES;
        for (int64_t q = 0; q * plan->kc < at->k; q++) {
            const int64_t taken = as_vectors ? multiply_vectors(x, at, line, q) : 0;
            if (taken) {
                done = taken;
                continue;
            }
            if (as_vectors)
                pack_few(x, at);
            as_vectors = 0;
            multiply_lines(x, at, line, done, q, copies);
        }
    }
}

/* Columns by 32, and for each of them rows by 32, all in one call for a block of kc steps. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    if (x->plan->as_read) {
        multiply_as_read(x, at);
        return;
    }
    const tilemm__sgemm_planes_t *planes = x->plan->planes;
    const int64_t i1 = tilemm__min(at->m, i0 + x->plan->m_part);
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    const int64_t rows = tilemm__round_up(at->m, LINES), columns = tilemm__round_up(at->n, LINES);
    for (int64_t q = 0; q * x->plan->kc < at->k; q++) {
        const block_t part = part_of(x, at, q);
        for (int64_t j = j0; j < j1; j += LINES) {
            const tilemm__planes_product_t product = product_at(x, &part, i0, j);
            const char *const ns = ns_at(x, q * columns + j);
            const int n = (int)tilemm__min(LINES, at->n - j);
            planes->multiply(&product, ms_at(x, q * rows + i0), x->plan->panel_bytes, ns, i1 - i0,
                             n);
            for (int64_t i = i0; i < i1; i += LINES)
                multiply_exact_lines(x, &part, i, j, (int)tilemm__min(LINES, i1 - i), n,
                                     exact_of(ms_at(x, q * rows + i)), exact_of(ns));
        }
    }
}

const tilemm__sgemm_engine_t tilemm__sgemm_engine_planes = {pack_ms, pack_ns, multiply};
