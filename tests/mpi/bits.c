/* bits.c - results that must not depend on the grid, bit by bit: products where C stays, and
 * reductions. It prints a line for each product, which is the same with any number of processes.
 *
 *     mpirun -n PROCESSES bits
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spread.h"
#include "tests/support/check.h"
#include "tests/support/program.h"

enum { MOST_PLACES = 12 };

static tilemm_t ctx;
static place_t places[MOST_PLACES];
static int place_count, rank;

/* C is square enough, and its operands are laid out as it is, for it to stay on these grids. */
static const struct {
    int64_t m, n, k;
    int nb;
    float alpha, beta;
} products[] = {
    {600, 600, 600, 64, 1.0f, 0.0f},  {300, 280, 700, 32, -0.5f, 1.5f},
    {7, 5, 900, 2, 1.0f, 1.0f},       {1, 400, 300, 24, 2.0f, 0.0f},
    {400, 1, 300, 24, 1.0f, -1.0f},   {513, 130, 257, 50, 1.0f, 0.0f},
    {100, 3000, 33, 128, 1.0f, 0.0f}, {64, 64, 1, 16, 1.0f, 1.0f},
};

/* 0: C does not stay on this grid. */
static uint64_t product(size_t i, const place_t *place)
{
    const int64_t m = products[i].m, n = products[i].n, k = products[i].k;
    const int nb = products[i].nb;
    spread_t a = spread_plain(place, m, k, nb, nb, 1), b = spread_plain(place, k, n, nb, nb, 2);
    spread_t c = spread_plain(place, m, n, nb, nb, 3);
    tilemm_psgemm_plan_t plan;
    CHECK(tilemm_psgemm_plan(place->rows, place->cols, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k, 1,
                             1, a.desc, 1, 1, b.desc, 1, 1, c.desc, 0, &plan) == TILEMM_SUCCESS,
          "product %zu has no plan", i);
    if (plan.stationary != TILEMM_STATIONARY_C)
        return 0;
    spread_fill(&a, place);
    spread_fill(&b, place);
    spread_fill(&c, place);
    CHECK_OK(ctx, tilemm_psgemm(place->grid, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k,
                                products[i].alpha, a.part, 1, 1, a.desc, b.part, 1, 1, b.desc,
                                products[i].beta, c.part, 1, 1, c.desc));
    const uint64_t digest = spread_digest(&c);
    spread_free(&a);
    spread_free(&b);
    spread_free(&c);
    return digest;
}

static void try_products(void)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        uint64_t digest = 0;
        int stayed = 0;
        for (int p = 0; p < place_count; p++) {
            const uint64_t next = product(i, &places[p]);
            if (next == 0)
                continue;
            CHECK(stayed++ == 0 || next == digest, "product %zu has other bits on %d x %d", i,
                  places[p].rows, places[p].cols);
            digest = next;
        }
        if (rank == 0 && stayed)
            printf("product %zu %016llx\n", i, (unsigned long long)digest);
    }
}

/* ---- reductions ---------------------------------------------------------------------------- */

/* Numbers that cancel: large ones among small ones. */
static float value(const spread_t *x, int64_t i, int64_t j, int with_nan)
{
    const float v = spread_value(x, i, j);
    if (with_nan && v > 0.99f)
        return NAN;
    return v > 0.5f ? v * 1e9f : v < -0.5f ? v * 1e9f : v;
}

/* The part, and all of the sub-matrix in column-major order. */
static float *fill(spread_t *x, const place_t *place, int with_nan)
{
    spread_fill(x, place);
    for (int64_t c = 0; c < x->local_cols; c++)
        for (int64_t r = 0; r < x->local_rows; r++)
            x->part[r + c * x->ld] = value(x, x->row_of[r], x->col_of[c], with_nan);
    float *all = test_need(malloc((size_t)(x->rows * x->cols + 1) * sizeof *all));
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++)
            all[i + j * x->rows] = value(x, x->i + i, x->j + j, with_nan);
    return all;
}

static void reduce(spread_t *x, const place_t *place, int with_nan, tilemm_nan_t policy)
{
    const int64_t count = x->rows * x->cols;
    float *all = fill(x, place, with_nan);
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, policy));
    for (int op = TILEMM_SUM; op <= TILEMM_AMIN && place->row >= 0; op++) {
        float is = -1, must = -2;
        CHECK_OK(ctx, tilemm_sreduce(ctx, (tilemm_reduce_t)op, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR,
                                     count, 1, all, count > 0 ? count : 1, &must, 1));
        CHECK_OK(ctx, tilemm_psreduce(place->grid, (tilemm_reduce_t)op, x->rows, x->cols, x->part,
                                      x->i + 1, x->j + 1, x->desc, &is));
        CHECK(!memcmp(&is, &must, sizeof is), "op %d of %lld x %lld on %d x %d: %.9g, must be %.9g",
              op, (long long)x->rows, (long long)x->cols, place->rows, place->cols, (double)is,
              (double)must);
    }
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE));
    free(all);
    spread_free(x);
}

static void try_reductions(void)
{
    static const int64_t sides[][2] = {{0, 5},     {3, 0},     {1, 1},     {31, 33},   {1024, 32},
                                       {1025, 32}, {200, 190}, {1, 40000}, {70000, 1}, {700, 900}};
    rng_t rng = {7};
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
        for (int p = 0; p < place_count; p++) {
            const int most_block = (int)rng_range(&rng, 1, 100);
            spread_t x = spread_random(&rng, &places[p], sides[s][0], sides[s][1], most_block);
            const int with_nan = rng_range(&rng, 0, 2) == 0;
            reduce(&x, &places[p], with_nan,
                   rng_range(&rng, 0, 1) ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
        }
}

int main(int argc, char **argv)
{
    int procs = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test_begin(TILEMM_BACKEND_CPU);
    ctx = test_context(TILEMM_BACKEND_CPU, "");
    /* Mode FP32 may go by a part's size where there is AMX. */
    tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT);
    tilemm_set_threads(ctx, 1);
    for (int rows = 1; rows <= procs; rows++)
        for (int cols = procs / rows; cols >= 1 && place_count < MOST_PLACES; cols--)
            if (rows * cols == procs || rows * cols == procs - 1)
                places[place_count++] = spread_place(MPI_COMM_WORLD, rows, cols, ctx);
    try_products();
    try_reductions();
    for (int i = 0; i < place_count; i++)
        CHECK_OK(ctx, tilemm_grid_destroy(places[i].grid));
    tilemm_destroy(ctx);
    int failed = rank == 0 ? check_exit() : check_failures > 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
