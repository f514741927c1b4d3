/* plan.c - plans of distributed products, without MPI: which matrix stays, and how many bytes that
 * moves, beside the bound of the way chosen and a count of every element.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tilemm_mpi.h"

typedef struct {
    int rows, cols;
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    int nb;
} problem_t;

static tilemm_psgemm_plan_t plan_of(const problem_t *p)
{
    const int turn_a = p->transa == TILEMM_TRANS, turn_b = p->transb == TILEMM_TRANS;
    const int64_t am = turn_a ? p->k : p->m, an = turn_a ? p->m : p->k;
    const int64_t bm = turn_b ? p->n : p->k, bn = turn_b ? p->k : p->n;
    const int a[9] = {1, 0, (int)am, (int)an, p->nb, p->nb, 0, 0, 1};
    const int b[9] = {1, 0, (int)bm, (int)bn, p->nb, p->nb, 0, 0, 1};
    const int c[9] = {1, 0, (int)p->m, (int)p->n, p->nb, p->nb, 0, 0, 1};
    tilemm_psgemm_plan_t plan = {.bytes = -1};
    CHECK(tilemm_psgemm_plan(p->rows, p->cols, p->transa, p->transb, p->m, p->n, p->k, 1, 1, a, 1,
                             1, b, 1, 1, c, 0, &plan) == TILEMM_SUCCESS,
          "no plan");
    return plan;
}

/* Where nothing is redistributed and no block is most of a share: at most 1.05 of the bound. */
static void try_bounds(void)
{
    static const int grids[][2] = {{1, 1}, {2, 2},  {1, 4},   {2, 3},
                                   {4, 4}, {8, 16}, {32, 32}, {64, 128}};
    static const tilemm_op_t ops[] = {TILEMM_NO_TRANS, TILEMM_TRANS};
    int seen[3] = {0};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (int o = 0; o < 4; o++)
            for (int s = 0; s < 8; s++) {
                const int64_t large = (int64_t)64 * 100 * grids[g][0] * grids[g][1] / 2,
                              small = large / 32, odd = large - 31;
                const problem_t p = {grids[g][0],
                                     grids[g][1],
                                     ops[o / 2],
                                     ops[o % 2],
                                     s & 1 ? small : odd,
                                     s & 2 ? small : large,
                                     s & 4 ? small : large,
                                     8};
                const tilemm_psgemm_plan_t plan = plan_of(&p);
                seen[plan.stationary]++;
                const double moved = plan.bytes - plan.bytes_redistributed;
                CHECK(moved <= 1.05 * plan.bound && plan.bytes >= 0,
                      "%d x %d: %.0f bytes, the bound is %.0f (stationary %d)", p.rows, p.cols,
                      moved, plan.bound, (int)plan.stationary);
                if (!plan.redistributed)
                    CHECK(plan.bytes <= 1.05 * plan.bound, "%.0f bytes, bound %.0f", plan.bytes,
                          plan.bound);
            }
    CHECK(seen[0] && seen[1] && seen[2], "C stays %d times, A %d, B %d", seen[0], seen[1], seen[2]);
}

/* The largest matrix stays, where that needs no redistribution. */
static void try_choices(void)
{
    static const struct {
        problem_t problem;
        tilemm_stationary_t stays;
        int redistributed;
    } cases[] = {
        {{4, 4, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 8192, 8192, 8192, 64}, TILEMM_STATIONARY_C, 0},
        {{4, 4, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 8192, 8192, 256, 64}, TILEMM_STATIONARY_C, 0},
        {{4, 4, TILEMM_NO_TRANS, TILEMM_TRANS, 8192, 256, 8192, 64}, TILEMM_STATIONARY_A, 0},
        {{4, 4, TILEMM_TRANS, TILEMM_NO_TRANS, 256, 8192, 8192, 64}, TILEMM_STATIONARY_B, 0},
        {{1, 1, TILEMM_TRANS, TILEMM_TRANS, 100, 200, 300, 64}, TILEMM_STATIONARY_C, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tilemm_psgemm_plan_t plan = plan_of(&cases[i].problem);
        CHECK(plan.stationary == cases[i].stays && plan.redistributed == cases[i].redistributed,
              "case %zu: %d stays, %d is redistributed", i, (int)plan.stationary,
              plan.redistributed);
    }
    /* 4 x 4, C stays: each process gets three quarters of 2048 x 8192 of A, and as much of B. */
    const tilemm_psgemm_plan_t plan = plan_of(&cases[0].problem);
    CHECK(plan.bytes == 4.0 * 2 * 2048 * 6144 && plan.bound == plan.bytes && plan.panels == 32 &&
              plan.panel == 256,
          "%.0f bytes, bound %.0f, %lld panels", plan.bytes, plan.bound, (long long)plan.panels);
    /* One process moves nothing, whatever the descriptors. */
    CHECK(plan_of(&cases[4].problem).bytes == 0 && plan_of(&cases[4].problem).messages == 0,
          "one process moves something");
}

/* Who has line `line` of a block-cyclic side. */
static int owner_of(int64_t line, int first, int block, int source, int procs)
{
    return (int)(((line < first ? 0 : 1 + (line - first) / block) + source) % procs);
}

/* Bytes of a redistributed A, element by element: a transposed product on one row of processes. */
static void try_redistribution(void)
{
    rng_t rng = {5};
    for (int i = 0; i < 200; i++) {
        const int procs = (int)rng_range(&rng, 2, 5), nb = (int)rng_range(&rng, 1, 9);
        const int mb = (int)rng_range(&rng, 1, 9), source = (int)rng_range(&rng, 0, procs - 1);
        const int m = (int)rng_range(&rng, 1, 60), k = (int)rng_range(&rng, 1, 60);
        /* On procs x 1, A's rows are not dealt out as C's: C has one column, and so stays. */
        const int a[11] = {2, 0, m, k, mb, 3, nb, 4, source, 0, m},
                  c[9] = {1, 0, m, 1, nb, 1, 0, 0, m};
        const int b[9] = {1, 0, k, 1, k, 1, 0, 0, k};
        tilemm_psgemm_plan_t plan;
        CHECK(tilemm_psgemm_plan(procs, 1, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, 1, k, 1, 1, a, 1, 1,
                                 b, 1, 1, c, 0, &plan) == TILEMM_SUCCESS,
              "no plan");
        if (plan.stationary != TILEMM_STATIONARY_C)
            continue;
        double most = 0;
        for (int p = 0; p < procs; p++) {
            int64_t rows = 0, here = 0;
            for (int64_t r = 0; r < m; r++)
                if (owner_of(r, nb, nb, 0, procs) == p) {
                    rows++;
                    here += owner_of(r, mb, nb, source, procs) == p;
                }
            const double bytes = 4.0 * (double)((rows - here) * k + (p == 0 ? 0 : k));
            most = bytes > most ? bytes : most;
        }
        CHECK(plan.bytes == most, "%d: %.0f bytes, must be %.0f", i, plan.bytes, most);
    }
}

static void try_errors(void)
{
    const int desc[9] = {1, 0, 9, 9, 2, 2, 0, 0, 9}, bad[9] = {1, 0, 9, 9, 2, 2, 2, 0, 9};
    tilemm_psgemm_plan_t plan;
#define PLAN(rows, m, i, d, out)                                                                   \
    tilemm_psgemm_plan(rows, 2, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, 9, 9, i, 1, d, 1, 1, desc, 1, \
                       1, desc, 0, out)
    CHECK(PLAN(2, 9, 1, desc, &plan) == TILEMM_SUCCESS, "a plan");
    CHECK(PLAN(0, 9, 1, desc, &plan) == TILEMM_INVALID_ARGUMENT, "rows");
    CHECK(PLAN(2, -1, 1, desc, &plan) == TILEMM_INVALID_ARGUMENT, "m");
    CHECK(PLAN(2, 9, 2, desc, &plan) == TILEMM_INVALID_ARGUMENT, "ia");
    CHECK(PLAN(2, 9, 1, bad, &plan) == TILEMM_INVALID_ARGUMENT, "desca");
    CHECK(PLAN(2, 9, 1, NULL, &plan) == TILEMM_INVALID_ARGUMENT, "no desca");
    CHECK(PLAN(2, 9, 1, desc, NULL) == TILEMM_INVALID_ARGUMENT, "no plan");
}

int main(void)
{
    try_bounds();
    try_choices();
    try_redistribution();
    try_errors();
    return check_exit();
}
