/* engine.h - what multiplies packed panels on the CPU: between the blocked driver (run_cpu.c) and
 * its two engines, FP32 multiply-adds (engine_fma.c) and a matrix engine on BF16 planes
 * (engine_planes.c).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_ENGINE_H
#define TILEMM_LIB_SGEMM_ENGINE_H

#include "plan_cpu.h"

/* One product, after the plan's swap, and where the threads meet that do it together. */
typedef struct {
    const tilemm__sgemm_cpu_t *tile;
    const tilemm__sgemm_cpu_blocks_t *plan;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    int64_t lda, ldb;
    int a_along_k, b_along_k; /* which index has stride one */
    float *c;
    int64_t rs_c, cs_c;
    int exchanged; /* A is the caller's B */
    char *ms, *ns; /* one set of panels */
    int64_t next;  /* the next part that no thread has taken */
} tilemm__sgemm_product_t;

/* The block of C in work: rows from i, columns from j, steps from p on. */
typedef struct {
    int64_t i, m;
    int64_t j, n;
    int64_t p, k;
} tilemm__sgemm_block_t;

typedef struct {
    /* Pack panels number `first` to end - 1 of a block, counted from the block's first: of all its
     * rows or columns for one block of kc steps, then for the next. */
    void (*pack_ms)(const tilemm__sgemm_product_t *x, const tilemm__sgemm_block_t *at,
                    int64_t first, int64_t end);
    void (*pack_ns)(const tilemm__sgemm_product_t *x, const tilemm__sgemm_block_t *at,
                    int64_t first, int64_t end);
    /* Multiply the panels of one part of a block: rows from i0, columns from j0, counted from the
     * block's. */
    void (*multiply)(const tilemm__sgemm_product_t *x, const tilemm__sgemm_block_t *at, int64_t i0,
                     int64_t j0);
} tilemm__sgemm_engine_t;

extern const tilemm__sgemm_engine_t tilemm__sgemm_engine_fma, tilemm__sgemm_engine_planes;

/* Element (i, p) of op(A), element (p, j) of op(B). */
static inline const float *tilemm__sgemm_a_at(const tilemm__sgemm_product_t *x, int64_t i,
                                              int64_t p)
{
    return x->a + (x->a_along_k ? i * x->lda + p : p * x->lda + i);
}

static inline const float *tilemm__sgemm_b_at(const tilemm__sgemm_product_t *x, int64_t p,
                                              int64_t j)
{
    return x->b + (x->b_along_k ? j * x->ldb + p : p * x->ldb + j);
}

/* beta belongs to the first steps; the others add to what those stored. */
static inline float tilemm__sgemm_beta(const tilemm__sgemm_product_t *x,
                                       const tilemm__sgemm_block_t *at)
{
    return at->p == 0 ? x->beta : 1.0f;
}

#endif
