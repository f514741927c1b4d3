/* tilemm_mpi.h - products, transposes and reductions of matrices that are spread over processes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * INTRODUCTION
 *
 * Matrices lie in ScaLAPACK's two-dimensional block-cyclic layout over a grid of MPI's processes,
 * each of which has a context of libtilemm for its share of the work:
 *
 *     tilemm_t ctx;
 *     tilemm_grid_t grid;
 *     int desc[9];
 *     int64_t rows, cols;
 *     MPI_Init(&argc, &argv);
 *     tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0);
 *     tilemm_grid_create(&grid, MPI_COMM_WORLD, 2, 2, ctx);
 *     tilemm_grid_descriptor(grid, n, n, 64, 64, desc, &rows, &cols);
 *     ... each process has its rows x cols elements of a, b and c, column-major, ld = rows ...
 *     tilemm_psgemm(grid, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, n, 1.0f, a, 1, 1, desc,
 *                   b, 1, 1, desc, 0.0f, c, 1, 1, desc);
 *     tilemm_grid_destroy(grid);
 *
 * Descriptors. Of type 1, nine integers: 1, context (not looked at), rows and columns of the whole
 * matrix, rows and columns of a block (MB, NB), the row and column of the grid that have its first
 * block, and the leading dimension of this process's part. Of type 2, eleven: 2, context, rows,
 * columns, rows and columns of the first block (IMB, INB), those of the other blocks (MB, NB), the
 * row and column of the grid that have the first block, and the leading dimension. Blocks may be
 * larger than the matrix. Types may be mixed.
 *
 * Collective calls. All processes of the grid call the same function with the same arguments; only
 * pointers and leading dimensions may differ. They agree on a status: all return the same, and
 * tilemm_last_error says which process saw what: "process 2 (row 1, column 0): psgemm: descc[8] =
 * 3, must be at least 16 (its local rows)". Calls whose arguments differ are found out and return
 * TILEMM_INVALID_ARGUMENT on all; with TILEMM_MPI_CHECK=1 the message names the argument and both
 * values. The error is that of the process with the lowest number that saw one.
 *
 * Memory. The local parts may lie wherever the context's operations take operands. A part whose
 * process has no elements of the sub-matrix is not looked at, and may be NULL. The calls have
 * finished when they return, for what this process reads and writes. On GPUs the memory of panels
 * stays with the grid for the next product, until tilemm_grid_destroy.
 *
 * Environment. They are read when a grid is created, besides those of the process's context.
 *
 * TILEMM_MPI_CHECK  1: a call whose arguments differ among the processes says which one differs.
 * TILEMM_MPI_IPC    0 or 1: 0 leaves CUDA's interprocess memory and the copy engines out.
 * TILEMM_MPI_LOG    1: the first process says on standard error how each product's panels travel.
 * TILEMM_MPI_NCCL   0 or 1: 0 leaves NCCL out.
 * TILEMM_MPI_PANEL  lines of a panel, on the first process. Bits of results depend on it.
 * TILEMM_SCALAPACK  auto, cpu, cuda or off: where libtilemm-scalapack.so computes.
 *
 * Transport. Where all contexts are CUDA's and all processes are on one host: if they share one
 * GPU, and the operands lie on it, each reads the others' parts by CUDA's interprocess memory,
 * which takes memory of cudaMalloc, tilemm_alloc_matrix or PyTorch's ordinary allocator; where C
 * stays they compute one after the other. If they have several GPUs, which reach each other's
 * memory, panels travel by the copy engines, wherever the operands lie. Elsewhere panels travel by
 * NCCL, if each process has a GPU of its own and libnccl.so.2 is found. All else travels by MPI:
 * from device memory where MPI takes it, else by way of pinned memory.
 *
 * Threads. MPI must be initialised; MPI_THREAD_FUNNELED is enough if the thread that initialised it
 * makes the calls.
 */
#ifndef TILEMM_MPI_H
#define TILEMM_MPI_H

#include <mpi.h>

#include "tilemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Processes in rows and columns, with a context each. */
typedef struct tilemm_grid *tilemm_grid_t;

/* ------------------------------------------------------------------------------------------
 * Grid: processes in rows and columns, and how a matrix is spread over them
 *
 * grid        the grid.
 * comm        the processes. The grid works on a copy of it.
 * rows, cols  of the grid, at least 1.
 * ctx         the context of this process; it must outlive the grid.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a NULL, MPI that is not initialised, or sizes that are out of
 * bounds; TILEMM_OUT_OF_MEMORY; TILEMM_INTERNAL_ERROR if MPI fails.
 * ------------------------------------------------------------------------------------------ */

/* Create a grid of the first rows * cols processes of comm: process number i is in row i / cols and
 * column i % cols. All processes of comm call it, with the same rows and cols. Those that are left
 * over get a grid too, in which they have row -1 and column -1; their calls succeed at once, and
 * do nothing. *grid is NULL when the call fails. */
tilemm_status_t tilemm_grid_create(tilemm_grid_t *grid, MPI_Comm comm, int rows, int cols,
                                   tilemm_t ctx);

/* Release the grid. All its processes call it, before MPI_Finalize. NULL is allowed. */
tilemm_status_t tilemm_grid_destroy(tilemm_grid_t grid);

/* Store the grid's rows and columns, and this process's row and column, -1 if it is left over. Any
 * of the pointers may be NULL.
 *
 * row, col  receive this process's place in the grid. */
tilemm_status_t tilemm_grid_get(tilemm_grid_t grid, int *rows, int *cols, int *row, int *col);

/* Make the descriptor of an m x n matrix in blocks of mb x nb, whose first block is in row 0 and
 * column 0 of the grid, with the least leading dimension; store the rows and columns of this
 * process's part in *local_rows and *local_cols, either of which may be NULL. Not collective.
 *
 * m, n                    rows and columns of the matrix.
 * mb, nb                  rows and columns of a block, at least 1.
 * desc                    receives the descriptor, of type 1.
 * local_rows, local_cols  receive this process's rows and columns. */
tilemm_status_t tilemm_grid_descriptor(tilemm_grid_t grid, int64_t m, int64_t n, int mb, int nb,
                                       int desc[9], int64_t *local_rows, int64_t *local_cols);

/* A step of a product as it was, in seconds of MPI_Wtime: "row" (a panel's way along a row of the
 * grid), "column", "compute", "reduce" or "redistribute". work is floating-point operations of
 * "compute", else bytes that this process received. */
typedef void (*tilemm_grid_step_t)(const char *name, double begin, double end, double work,
                                   void *user);

/* Have step(..., user) called in this process for each step of a product; NULL, as at the start:
 * nobody. Not collective.
 *
 * step  is called by the thread that calls the operation.
 * user  is handed to it. */
tilemm_status_t tilemm_grid_set_step(tilemm_grid_t grid, tilemm_grid_step_t step, void *user);

/* ------------------------------------------------------------------------------------------
 * Distributed: products, transposes and reductions of matrices on a grid
 *
 * grid             the grid.
 * transa, transb   whether A and B are transposed.
 * m, n, k          sizes of the sub-matrices, as in the operation of the same name on one machine.
 * alpha, beta      factors, by BLAS's rules: what is multiplied by 0 is not read.
 * a, b, c          this process's part of the whole matrices, column-major.
 * ia, ja           row and column, counted from 1, where the sub-matrix of A begins.
 * ib, jb           of B.
 * ic, jc           of C.
 * desca            A's descriptor.
 * descb            B's descriptor.
 * descc            C's descriptor.
 *
 * Returns TILEMM_INVALID_ARGUMENT for an argument that breaks a rule, on any process;
 * TILEMM_OUT_OF_MEMORY; TILEMM_NOT_SUPPORTED; TILEMM_DEVICE_FAILURE; TILEMM_INTERNAL_ERROR if MPI
 * fails. All processes return the same.
 * ------------------------------------------------------------------------------------------ */

/* C = alpha op(A) op(B) + beta C. op(A) is m x k, op(B) k x n. The sub-matrices begin anywhere, and
 * blocks and first processes may differ. The plan (tilemm_psgemm_plan) decides what travels. The
 * result has the same bits from run to run on the same grid. Where C is stationary it has the same
 * bits for every grid of the same block sizes; doc/numerics.md says for which contexts. */
tilemm_status_t tilemm_psgemm(tilemm_grid_t grid, tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                              int64_t n, int64_t k, float alpha, const float *a, int64_t ia,
                              int64_t ja, const int *desca, const float *b, int64_t ib, int64_t jb,
                              const int *descb, float beta, float *c, int64_t ic, int64_t jc,
                              const int *descc);

/* C = alpha A' + beta C, where C is m x n and A is n x m: PBLAS's pstran. */
tilemm_status_t tilemm_pstran(tilemm_grid_t grid, int64_t m, int64_t n, float alpha, const float *a,
                              int64_t ia, int64_t ja, const int *desca, float beta, float *c,
                              int64_t ic, int64_t jc, const int *descc);

/* *result = the reduction of all elements of the m x n sub-matrix of A, on every process of the
 * grid. NaN is treated as the contexts' NaN policy says, which must be the same on all.
 *
 * op      which reduction.
 * result  receives the value, in host memory.
 *
 * Sums have the bits of tilemm_ssum and its sisters of the sub-matrix's elements in column-major
 * order, as one vector: they depend neither on the grid nor on the blocks. For that elements
 * travel: a process needs memory for about two copies of its part. Extremes need none. */
tilemm_status_t tilemm_psreduce(tilemm_grid_t grid, tilemm_reduce_t op, int64_t m, int64_t n,
                                const float *a, int64_t ia, int64_t ja, const int *desca,
                                float *result);

/* ------------------------------------------------------------------------------------------
 * Plan: what a distributed product moves
 *
 * rows, cols       of the grid.
 * transa, transb   whether A and B are transposed.
 * m, n, k          sizes of the product.
 * ia, ja           row and column, counted from 1, where the sub-matrix of A begins.
 * ib, jb           of B.
 * ic, jc           of C.
 * desca            A's descriptor.
 * descb            B's descriptor.
 * descc            C's descriptor.
 * plan             receives the plan.
 * ------------------------------------------------------------------------------------------ */

/* The matrix that does not travel. */
typedef enum {
    TILEMM_STATIONARY_C = 0, /* panels of A travel along rows, those of B along columns */
    TILEMM_STATIONARY_A,     /* panels of B travel, parts of C's panels are added up */
    TILEMM_STATIONARY_B      /* panels of A travel, parts of C's panels are added up */
} tilemm_stationary_t;

/* What a product moves. Bytes and messages are what one process receives: the process that receives
 * most. */
typedef struct {
    tilemm_stationary_t stationary;
    int redistributed;          /* 1: A, 2: B, 4: C is redistributed before or after; their sum */
    int64_t panels;             /* how many, one after the other */
    int64_t panel;              /* lines of k, or of n or m, in each but the last */
    int64_t messages;           /* of panels, and redistribution */
    double bytes;               /* of panels, parts of C and redistribution, together */
    double bytes_redistributed; /* the share of redistribution */
    double bound;               /* bytes of panels and parts of C if all were spread evenly */
} tilemm_psgemm_plan_t;

/* Make the plan of tilemm_psgemm with these arguments on a grid of rows x cols processes. It needs
 * neither MPI nor a grid. panel is lines in a panel, or 0 for what a CPU context takes. Returns
 * TILEMM_INVALID_ARGUMENT for an argument that tilemm_psgemm would refuse. */
tilemm_status_t tilemm_psgemm_plan(int rows, int cols, tilemm_op_t transa, tilemm_op_t transb,
                                   int64_t m, int64_t n, int64_t k, int64_t ia, int64_t ja,
                                   const int *desca, int64_t ib, int64_t jb, const int *descb,
                                   int64_t ic, int64_t jc, const int *descc, int64_t panel,
                                   tilemm_psgemm_plan_t *plan);

#ifdef __cplusplus
}
#endif

#endif /* TILEMM_MPI_H */
