/* large.c - a product of a matrix of which each process has more than 2^31 elements,
 * nearly all of them zeros that were never written: memory of zeros costs none.
 *
 *     mpirun -n PROCESSES large
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/program.h"
#include "tilemm_mpi.h"

/* Of each process's part of A, and of B and C. */
enum { ROWS = 65544, COLS = 32776, N = 4, BLOCK = 64 };

static tilemm_t ctx;
static int procs, rank;

static float b_value(int64_t i, int64_t j)
{
    return (float)(i % 7 + j + 1);
}

/* The elements that are no zeros: some on each process, above all past the first 2^31. */
typedef struct {
    int64_t i, j; /* in the process's part */
    float value;
} element_t;
static const element_t elements[] = {
    {0, 0, 1},         {5, 32763, 2}, /* before 2^31, the next after it */
    {40000, 32764, 3}, {ROWS - 1, COLS - 2, 4}, {5, COLS - 1, 5}, {ROWS - 1, COLS - 1, 6}};
enum { COUNT = sizeof elements / sizeof *elements };

typedef struct {
    int desc[9];
    int64_t rows, cols;
    float *part;
} matrix_t;

static matrix_t make(tilemm_grid_t grid, int64_t m, int64_t n, int mb, int nb)
{
    matrix_t x;
    CHECK_OK(ctx, tilemm_grid_descriptor(grid, m, n, mb, nb, x.desc, &x.rows, &x.cols));
    x.part = test_need(calloc((size_t)(x.rows * x.cols) + 1, sizeof *x.part));
    return x;
}

/* All processes' parts of A lie below each other (rows x 1) or beside each other (1 x cols). */
static void try_grid(int rows, int cols, tilemm_stationary_t stationary)
{
    const int64_t m = (int64_t)ROWS * rows, k = (int64_t)COLS * cols;
    tilemm_grid_t grid;
    tilemm_psgemm_plan_t plan;
    CHECK_OK(ctx, tilemm_grid_create(&grid, MPI_COMM_WORLD, rows, cols, ctx));
    matrix_t a = make(grid, m, k, ROWS, COLS), b = make(grid, k, N, COLS, N),
             c = make(grid, m, N, ROWS, N);
    CHECK(a.rows == ROWS && a.cols == COLS && a.rows * a.cols > INT64_C(1) << 31, "%lld x %lld",
          (long long)a.rows, (long long)a.cols);
    for (int i = 0; i < COUNT; i++)
        a.part[elements[i].i + elements[i].j * a.rows] = elements[i].value;
    const int row = rank / cols;
    for (int64_t j = 0; j < b.cols; j++)
        for (int64_t i = 0; i < b.rows; i++)
            b.part[i + j * b.rows] = b_value(row * (int64_t)COLS + i, j);
    CHECK(tilemm_psgemm_plan(rows, cols, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, N, k, 1, 1, a.desc, 1,
                             1, b.desc, 1, 1, c.desc, 0, &plan) == TILEMM_SUCCESS &&
              plan.stationary == stationary,
          "%d x %d: %d stays", rows, cols, (int)plan.stationary);
    CHECK_OK(ctx, tilemm_psgemm(grid, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, N, k, 1, a.part, 1, 1,
                                a.desc, b.part, 1, 1, b.desc, 0, c.part, 1, 1, c.desc));
    for (int64_t j = 0; j < c.cols; j++)
        for (int64_t i = 0; i < c.rows; i++) {
            double want = 0;
            for (int e = 0; e < COUNT * cols; e++) /* those of the row's processes */
                if (elements[e % COUNT].i == i)
                    want += (double)elements[e % COUNT].value *
                            (double)b_value(elements[e % COUNT].j + e / COUNT * (int64_t)COLS, j);
            CHECK((double)c.part[i + j * c.rows] == want, "%d x %d: C(%lld, %lld) = %g, not %g",
                  rows, cols, (long long)i, (long long)j, (double)c.part[i + j * c.rows], want);
        }
    free(a.part);
    free(b.part);
    free(c.part);
    CHECK_OK(ctx, tilemm_grid_destroy(grid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test_begin(TILEMM_BACKEND_CPU);
    ctx = test_context(TILEMM_BACKEND_CPU, "");
    tilemm_set_threads(ctx, 1);
    try_grid(procs, 1, TILEMM_STATIONARY_C);
    if (procs > 1)
        try_grid(1, procs, TILEMM_STATIONARY_A);
    tilemm_destroy(ctx);
    int failed = rank == 0 ? check_exit() : check_failures > 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
