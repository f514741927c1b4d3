/* model.c - see model.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "model.h"

/* Whether the ranks first, first + step, ... (count of them) are on more than one node. */
static int spans(const machine_t *machine, int64_t first, int64_t step, int count)
{
    return first / machine->per_node != (first + step * (count - 1)) / machine->per_node;
}

/* Bytes that travel along rows of the grid, as a share of all but redistribution. */
static double row_share(const size3_t *s, int rows, int cols, tilemm_stationary_t stationary)
{
    const double m = (double)s->m, n = (double)s->n, k = (double)s->k;
    const double along_row = (cols - 1.0) / cols / rows, along_col = (rows - 1.0) / rows / cols;
    double by_row = 0, by_col = 0;
    switch (stationary) {
    case TILEMM_STATIONARY_C: /* panels of A, panels of B */
        by_row = m * k * along_row;
        by_col = k * n * along_col;
        break;
    case TILEMM_STATIONARY_A: /* parts of C, panels of B */
        by_row = m * n * along_row;
        by_col = k * n * along_col;
        break;
    case TILEMM_STATIONARY_B: /* panels of A, parts of C */
        by_row = m * k * along_row;
        by_col = m * n * along_col;
        break;
    }
    return by_row + by_col > 0 ? by_row / (by_row + by_col) : 0;
}

void model_estimate(const machine_t *machine, const size3_t *s, int rows, int cols,
                    const tilemm_psgemm_plan_t *plan, estimate_t *e)
{
    const double processes = (double)rows * cols;
    const double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    const double panels = fmax((double)plan->panels, 1);
    /* Processes that share processors take turns. */
    const double turns = machine->processors ? fmax(1, processes / machine->processors) : 1;
    const double without = machine->processors ? fmax(0, processes - machine->processors) : 0;
    int row_spans = 0;
    for (int r = 0; r < rows && !row_spans; r++)
        row_spans = spans(machine, (int64_t)r * cols, 1, cols);
    const int any_spans = spans(machine, 0, 1, (int)processes);
    const double by_row = row_spans ? machine->link : machine->within;
    const double by_col = spans(machine, 0, cols, rows) ? machine->link : machine->within;
    const double share = row_share(s, rows, cols, plan->stationary);
    const double moved = plan->bytes - plan->bytes_redistributed;
    const double before =
        plan->bytes_redistributed / (any_spans ? machine->link : machine->within) +
        plan->bytes_redistributed * without * machine->byte_turn;
    /* A broadcast's last process hears of it after as many messages as its tree has levels. */
    const double levels = fmax(1, ceil(log2(fmax(rows, cols))));
    e->compute = (flops / processes / machine->rate + panels * machine->overhead) * turns;
    e->travel =
        processes > 1
            ? moved * (share / by_row + (1 - share) / by_col + without * machine->byte_turn) +
                  (double)plan->messages *
                      (levels * machine->latency + without * machine->message_turn)
            : 0;
    if (machine->overlaps) /* the first panels' way, then the longer of both, the last product */
        e->seconds = before + e->travel / panels + e->compute / panels +
                     fmax(e->travel, e->compute) * (panels - 1) / panels;
    else
        e->seconds = before + e->travel + e->compute;
    e->travel += before;
    const double most = machine->processors ? fmin(processes, machine->processors) : processes;
    e->efficiency = flops / (most * machine->rate * e->seconds);
}
