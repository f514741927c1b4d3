/* plan.c - see plan.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <limits.h>
#include <stdlib.h>

enum { FLOAT_BYTES = sizeof(float) };

/* ---- redistribution ------------------------------------------------------------------------ */

/* Lines by their owner before and after. */
static int64_t *count_lines(const tilemm__dist_t *from, const tilemm__dist_t *to)
{
    int64_t *const lines = calloc((size_t)from->procs * (size_t)to->procs, sizeof *lines);
    for (int64_t at = 0, end; lines && at < from->n; at = end) {
        const tilemm__run_t x = tilemm__dist_run(from, at, from->n),
                            y = tilemm__dist_run(to, at, x.end);
        end = y.end;
        lines[(int64_t)x.owner * to->procs + y.owner] += end - at;
    }
    return lines;
}

int tilemm__traffic_begin(tilemm__traffic_t *traffic, const tilemm__view_t *from,
                          const tilemm__view_t *to)
{
    *traffic = (tilemm__traffic_t){count_lines(&from->rows, &to->rows),
                                   count_lines(&from->cols, &to->cols), from, to};
    if (traffic->rows && traffic->cols)
        return 0;
    tilemm__traffic_end(traffic);
    return -1;
}

void tilemm__traffic_end(tilemm__traffic_t *traffic)
{
    free(traffic->rows);
    free(traffic->cols);
    traffic->rows = traffic->cols = NULL;
}

/* Of one side: all lines that come to `mine`, the lines that it has already, and their owners. */
static void count_coming(const int64_t *lines, int from_procs, int to_procs, int before, int mine,
                         int64_t *all, int64_t *here, int64_t *owners)
{
    *all = *owners = 0;
    for (int p = 0; p < from_procs; p++) {
        const int64_t count = lines[(int64_t)p * to_procs + mine];
        *all += count;
        *owners += count > 0;
    }
    *here = lines[(int64_t)before * to_procs + mine];
}

void tilemm__traffic_of(const tilemm__traffic_t *traffic, const int me[2], double *floats,
                        int64_t *messages)
{
    const tilemm__view_t *const from = traffic->from, *const to = traffic->to;
    int64_t rows, rows_here, row_owners, cols, cols_here, col_owners;
    count_coming(traffic->rows, from->rows.procs, to->rows.procs, me[from->side], me[to->side],
                 &rows, &rows_here, &row_owners);
    count_coming(traffic->cols, from->cols.procs, to->cols.procs, me[!from->side], me[!to->side],
                 &cols, &cols_here, &col_owners);
    *floats = (double)rows * (double)cols - (double)rows_here * (double)cols_here;
    *messages = row_owners * col_owners - (rows_here > 0 && cols_here > 0);
}

/* ---- variants ------------------------------------------------------------------------------ */

/* Lines that nothing fixes: equal shares, in blocks of at most a panel. */
static tilemm__dist_t fresh(int64_t n, int procs, int64_t panel)
{
    const int64_t share = tilemm__max(tilemm__div_up(n, procs), 1);
    const int64_t block = tilemm__even_size(share, panel, 1);
    return (tilemm__dist_t){n, block, block, procs, 0};
}

/* Where an operand must be: rows on `side` as `rows` are; its columns stay if they can. Returns
 * whether it must be moved for it. */
static int need(const tilemm__view_t *is, int side, const tilemm__dist_t *rows, const int procs[2],
                int64_t panel, tilemm__view_t *used)
{
    const int right_side = is->side == side || procs[0] * procs[1] == 1;
    *used = *is;
    if (right_side && tilemm__dist_same(&is->rows, rows))
        return 0;
    *used = (tilemm__view_t){.rows = *rows,
                             .cols = right_side ? is->cols : fresh(is->cols.n, procs[!side], panel),
                             .side = side};
    return 1;
}

/* Bytes and messages of panels: the columns of a view travel along the other side. Most owners of a
 * panel's lines, each of which sends a message. */
static int64_t owners_of_panel(const tilemm__dist_t *d, int64_t panel)
{
    if (d->procs == 1 || d->n == 0)
        return 0;
    return tilemm__min(d->procs, tilemm__div_up(tilemm__min(panel, d->n), d->block) + 1);
}

/* What the process at `me` receives of panels and parts, in floats. */
static double panel_floats(const tilemm__psgemm_plan_t *plan, const int me[2])
{
    const tilemm__view_t *const x = &plan->used.x, *const y = &plan->used.y,
                                *const z = &plan->used.z;
    if (plan->report.stationary == TILEMM_STATIONARY_C) {
        /* y's columns are z's: its rows travel along side 0. */
        const double m = (double)tilemm__view_rows(z, me), n = (double)tilemm__view_cols(z, me);
        return m * (double)(x->cols.n - tilemm__view_cols(x, me)) +
               n * (double)(y->rows.n - tilemm__view_rows(y, me));
    }
    const double k = (double)tilemm__view_rows(y, me), m = (double)tilemm__view_rows(z, me);
    return k * (double)(y->cols.n - tilemm__view_cols(y, me)) +
           m * (double)tilemm__view_cols(z, me) * (double)(z->cols.procs - 1);
}

/* Bytes of panels and parts if all were spread evenly. */
static double bound_of(const tilemm__psgemm_plan_t *plan, const int procs[2])
{
    const tilemm__view_t *const x = &plan->used.x, *const z = &plan->used.z;
    const double m = (double)z->rows.n, n = (double)z->cols.n, k = (double)x->cols.n;
    const double p = procs[x->side], q = procs[!x->side];
    if (plan->report.stationary == TILEMM_STATIONARY_C)
        return FLOAT_BYTES * (m / p * k * (1 - 1 / q) + n / q * k * (1 - 1 / p));
    return FLOAT_BYTES * (k / q * n * (1 - 1 / p) + m / p * n * (1 - 1 / q));
}

/* The most that any process receives. Returns 0, or -1 if memory ran out. */
static int count_bytes(const int procs[2], tilemm__psgemm_plan_t *plan)
{
    const tilemm__product_t *const is = &plan->as_is, *const used = &plan->used;
    const struct {
        int moves;
        const tilemm__view_t *from, *to;
    } moves[] = {{plan->move_x, &is->x, &used->x},
                 {plan->move_y, &is->y, &used->y},
                 {plan->move_z, &used->z, &is->z}};
    tilemm_psgemm_plan_t *const report = &plan->report;
    tilemm__traffic_t traffic[3] = {{0}};
    int failed = 0;
    for (int i = 0; i < 3; i++)
        if (moves[i].moves)
            failed |= tilemm__traffic_begin(&traffic[i], moves[i].from, moves[i].to);
    int64_t most_moved = 0;
    for (int row = 0; row < procs[0] && !failed; row++)
        for (int col = 0; col < procs[1]; col++) {
            const int me[2] = {row, col};
            double floats = 0, all_floats = 0;
            int64_t messages = 0, all_messages = 0;
            for (int i = 0; i < 3; i++)
                if (moves[i].moves) {
                    tilemm__traffic_of(&traffic[i], me, &floats, &messages);
                    all_floats += floats;
                    all_messages += messages;
                }
            const double bytes = FLOAT_BYTES * (all_floats + panel_floats(plan, me));
            report->bytes_redistributed =
                bytes > report->bytes ? FLOAT_BYTES * all_floats : report->bytes_redistributed;
            report->bytes = bytes > report->bytes ? bytes : report->bytes;
            most_moved = tilemm__max(most_moved, all_messages);
        }
    for (int i = 0; i < 3; i++)
        tilemm__traffic_end(&traffic[i]);
    const int parts = report->stationary != TILEMM_STATIONARY_C;
    report->messages =
        most_moved +
        report->panels *
            (owners_of_panel(parts ? &used->y.cols : &used->x.cols, report->panel) +
             (parts ? used->z.cols.procs - 1 : owners_of_panel(&used->y.rows, report->panel)));
    report->bound = bound_of(plan, procs);
    return failed ? -1 : 0;
}

static int plan_c(const tilemm__product_t *is, const int procs[2], int64_t panel,
                  tilemm__psgemm_plan_t *plan)
{
    const tilemm__view_t turned = tilemm__transposed(&is->y);
    tilemm__view_t y;
    *plan = (tilemm__psgemm_plan_t){.as_is = *is, .used = *is};
    plan->move_x = need(&is->x, 0, &is->z.rows, procs, panel, &plan->used.x);
    plan->move_y = need(&turned, 1, &is->z.cols, procs, panel, &y);
    plan->used.y = tilemm__transposed(&y);
    plan->report = (tilemm_psgemm_plan_t){.stationary = TILEMM_STATIONARY_C,
                                          .redistributed = plan->move_x | plan->move_y << 1,
                                          .panels = tilemm__div_up(is->x.cols.n, panel),
                                          .panel = panel};
    return count_bytes(procs, plan);
}

/* x stays. y's rows are as x's columns; z's rows as x's rows. */
static int plan_x(const tilemm__product_t *is, const int procs[2], int64_t panel, int is_a,
                  tilemm__psgemm_plan_t *plan)
{
    *plan = (tilemm__psgemm_plan_t){.as_is = *is, .used = *is};
    plan->move_y = need(&is->y, !is->x.side, &is->x.cols, procs, panel, &plan->used.y);
    plan->move_z = need(&is->z, is->x.side, &is->x.rows, procs, panel, &plan->used.z);
    plan->report = (tilemm_psgemm_plan_t){
        .stationary = is_a ? TILEMM_STATIONARY_A : TILEMM_STATIONARY_B,
        .redistributed = (is_a ? plan->move_y << 1 : plan->move_y) | plan->move_z << 2,
        .panels = tilemm__div_up(is->z.cols.n, panel),
        .panel = panel};
    return count_bytes(procs, plan);
}

int tilemm__plan_psgemm(const tilemm__product_t *product, const int procs[2], int64_t panel,
                        tilemm__psgemm_plan_t *plan)
{
    const tilemm__product_t turned = {tilemm__transposed(&product->y),
                                      tilemm__transposed(&product->x),
                                      tilemm__transposed(&product->z)};
    tilemm__psgemm_plan_t other;
    int failed = plan_c(product, procs, panel, plan);
    for (int is_a = 0; is_a < 2 && !failed; is_a++) {
        failed = plan_x(is_a ? product : &turned, procs, panel, is_a, &other);
        if (!failed && other.report.bytes < plan->report.bytes)
            *plan = other;
    }
    return failed;
}

/* ---- the public function ------------------------------------------------------------------- */

tilemm_status_t tilemm_psgemm_plan(int rows, int cols, tilemm_op_t transa, tilemm_op_t transb,
                                   int64_t m, int64_t n, int64_t k, int64_t ia, int64_t ja,
                                   const int *desca, int64_t ib, int64_t jb, const int *descb,
                                   int64_t ic, int64_t jc, const int *descc, int64_t panel,
                                   tilemm_psgemm_plan_t *out)
{
    char text[256];
    const int turn_a = transa == TILEMM_TRANS, turn_b = transb == TILEMM_TRANS;
    const int procs[2] = {rows, cols};
    const tilemm__submatrix_t a = {"a", ia, ja, desca, turn_a ? k : m, turn_a ? m : k};
    const tilemm__submatrix_t b = {"b", ib, jb, descb, turn_b ? n : k, turn_b ? k : n};
    const tilemm__submatrix_t c = {"c", ic, jc, descc, m, n};
    tilemm__product_t product;
    tilemm__psgemm_plan_t plan;
    if (!out || rows < 1 || cols < 1 || rows > INT_MAX / cols || m < 0 || n < 0 || k < 0 ||
        panel < 0 || (!turn_a && transa != TILEMM_NO_TRANS) ||
        (!turn_b && transb != TILEMM_NO_TRANS) ||
        tilemm__view(&a, procs, NULL, NULL, text, sizeof text, &product.x) ||
        tilemm__view(&b, procs, NULL, NULL, text, sizeof text, &product.y) ||
        tilemm__view(&c, procs, NULL, NULL, text, sizeof text, &product.z))
        return TILEMM_INVALID_ARGUMENT;
    if (turn_a)
        product.x = tilemm__transposed(&product.x);
    if (turn_b)
        product.y = tilemm__transposed(&product.y);
    if (tilemm__plan_psgemm(&product, procs, panel ? panel : TILEMM__PANEL_CPU, &plan))
        return TILEMM_OUT_OF_MEMORY;
    *out = plan.report;
    return TILEMM_SUCCESS;
}
