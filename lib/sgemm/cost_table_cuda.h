/* cost_table_cuda.h - constants of the estimate of cost_cuda.c, of tiles and of families of
 * kernels: measured on one device, as `tilemm bench --calibrate` prints them, or fitted.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_COST_TABLE_CUDA_H
#define TILEMM_LIB_SGEMM_COST_TABLE_CUDA_H

/* A tile, for all rows that differ in transposes only: cycles of a wave beside its k-steps, and of
 * a k-step, with one block on a multiprocessor and with `blocks`. */
typedef struct {
    const char *tile;
    int blocks;
    double start; /* until the first item is under way, beside the family's launch */
    double item_alone, step_alone, item, step;
} tilemm__tile_cost_t;

/* A family of kernels: cycles, and bytes that a multiprocessor moves in a cycle. */
typedef struct {
    double launch;        /* all launches that each call needs */
    double second_kernel; /* adding up split-K's partial products, beside their bytes */
    double cluster;       /* meeting in a cluster, for each wave */
    double cluster_bytes; /* read of the other blocks of a cluster */
    double bytes;         /* of operands or results in global memory */
} tilemm__family_cost_t;

/* The families. A matrix and a vector: rows along k, along m. */
enum {
    TILEMM__OF_FFMA_SM75,
    TILEMM__OF_FFMA,
    TILEMM__OF_SKINNY,
    TILEMM__OF_VECTOR_K,
    TILEMM__OF_VECTOR_M,
    TILEMM__OF_SLICEK,
    TILEMM__OF_FITTED,
    TILEMM__OF_SHORT,
    TILEMM__OF_FUSED,
    TILEMM__OF_PLANES,
    TILEMM__OF_HALF_PLANES,
    TILEMM__FAMILIES
};

/* What the costs of tiles leave out, in cycles. Fitted tiles: a thread's copies, shared among the
 * resident warps. A short k: to copy a number, or four if they are aligned; to store one of C. */
#define TILEMM__FITTED_COPY 480.0
#define TILEMM__SHORT_COPY 0.145
#define TILEMM__SHORT_STORE 0.03

extern const tilemm__family_cost_t tilemm__sgemm_family_costs[TILEMM__FAMILIES];

/* What a variant's tile costs. */
const tilemm__tile_cost_t *tilemm__sgemm_tile_cost(int variant);

#endif
