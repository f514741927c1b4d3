/* plan.h - which matrix of a product stays, what is redistributed, and what that moves: pure
 * functions, the same on all processes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_PLAN_H
#define TILEMM_MPI_PLAN_H

#include "descriptor.h"
#include "tilemm_mpi.h"

/* Lines of a panel. On the CPU the length of a range of k of its kernels; on a GPU enough for its
 * products to take longer than to begin; more where processes share the GPU and panels are not kept
 * ahead: C is read and written for each. */
enum { TILEMM__PANEL_CPU = 256, TILEMM__PANEL_CUDA = 4096, TILEMM__PANEL_SHARED = 8192 };

/* The product as views: x is op(A), y op(B), z C. Where B stays it is the transposed product,
 * z' = y' x', so that the roles of the two variants that add up parts of C are the same. */
typedef struct {
    tilemm__view_t x, y, z;
} tilemm__product_t;

typedef struct {
    tilemm_psgemm_plan_t report;
    tilemm__product_t as_is; /* where the operands lie */
    tilemm__product_t used;  /* where they are when the product begins: views without data */
    int move_x, move_y, move_z;
} tilemm__psgemm_plan_t;

/* Plan for a grid of procs[0] x procs[1] processes. Returns 0, or -1 if memory ran out. */
int tilemm__plan_psgemm(const tilemm__product_t *product, const int procs[2], int64_t panel,
                        tilemm__psgemm_plan_t *plan);

/* What the process at `me` receives, in floats and messages, when `from` is redistributed to `to`.
 * Returns 0, or -1 if memory ran out. */
typedef struct {
    int64_t *rows, *cols; /* [owner in from * procs + owner in to]: lines of both */
    const tilemm__view_t *from, *to;
} tilemm__traffic_t;
int tilemm__traffic_begin(tilemm__traffic_t *traffic, const tilemm__view_t *from,
                          const tilemm__view_t *to);
void tilemm__traffic_end(tilemm__traffic_t *traffic);
void tilemm__traffic_of(const tilemm__traffic_t *traffic, const int me[2], double *floats,
                        int64_t *messages);

#endif
