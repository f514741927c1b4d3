/* A product of matrices that are spread over processes:
 *
 *     mpicc distributed.c $(pkg-config --cflags --libs tilemm_mpi) -o distributed
 *     mpirun -n 4 ./distributed 2000
 *
 * Each process makes its own part of A and B. The trace of C = A B is checked: element (i, j) of A
 * is 1 / (i + j + 1), counted from 0, and B is 2 on the diagonal, so that C is 2 A. */
#include <stdio.h>
#include <stdlib.h>

#include <tilemm_mpi.h>

enum { BLOCK = 64 };

/* The number in the whole matrix of a process's row or column: blocks are dealt out in turn. */
static int64_t whole(int64_t local, int process, int processes)
{
    return (local / BLOCK * processes + process) * BLOCK + local % BLOCK;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000;
    int size, rows = 1, cols, row, col, desc[9];
    int64_t high, wide;
    tilemm_t ctx;
    tilemm_grid_t grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i * i <= size; i++)
        if (size % i == 0)
            rows = i;
    cols = size / rows;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS ||
        tilemm_grid_create(&grid, MPI_COMM_WORLD, rows, cols, ctx) != TILEMM_SUCCESS ||
        tilemm_grid_get(grid, NULL, NULL, &row, &col) != TILEMM_SUCCESS ||
        tilemm_grid_descriptor(grid, n, n, BLOCK, BLOCK, desc, &high, &wide) != TILEMM_SUCCESS) {
        fprintf(stderr, "no grid of %d x %d processes\n", rows, cols);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    /* Parts are column-major, with the leading dimension that the descriptor has. */
    const int64_t ld = desc[8];
    float *a = malloc((size_t)(ld * wide + 1) * sizeof *a);
    float *b = malloc((size_t)(ld * wide + 1) * sizeof *b);
    float *c = malloc((size_t)(ld * wide + 1) * sizeof *c);
    for (int64_t j = 0; j < wide; j++)
        for (int64_t i = 0; i < high; i++) {
            const int64_t at_row = whole(i, row, rows), at_col = whole(j, col, cols);
            a[j * ld + i] = 1.0f / (float)(at_row + at_col + 1);
            b[j * ld + i] = at_row == at_col ? 2.0f : 0.0f;
        }

    const double begin = MPI_Wtime();
    if (tilemm_psgemm(grid, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, n, 1.0f, a, 1, 1, desc, b, 1, 1,
                      desc, 0.0f, c, 1, 1, desc) != TILEMM_SUCCESS) {
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const double seconds = MPI_Wtime() - begin;

    double part = 0, trace = 0, wanted = 0;
    for (int64_t j = 0; j < wide; j++)
        for (int64_t i = 0; i < high; i++)
            if (whole(i, row, rows) == whole(j, col, cols))
                part += c[j * ld + i];
    MPI_Reduce(&part, &trace, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int64_t i = 0; i < n; i++)
        wanted += 2.0 / (double)(2 * i + 1);
    if (row == 0 && col == 0)
        printf("%d x %d processes, %.1f GFLOP/s, trace %.4f, must be %.4f\n", rows, cols,
               2e-9 * (double)n * (double)n * (double)n / seconds, trace, wanted);

    free(a), free(b), free(c);
    tilemm_grid_destroy(grid);
    tilemm_destroy(ctx);
    MPI_Finalize();
    return 0;
}
