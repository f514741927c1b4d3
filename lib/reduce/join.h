/* join.h - the host's part of a reduction in pieces: partial results, as they come down, are joined
 * in the canonical order of kernels/reduce/layout.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_JOIN_H
#define TILEMM_LIB_REDUCE_JOIN_H

#include "kernels/reduce/cuda/reduce.h"

enum { TILEMM__JOIN_LEVELS = 13 }; /* 32 numbers each: enough for any length of 64 bits */

/* Zeros before tilemm__join_begin, which may be called again for other vectors. */
typedef struct {
    int op, nan_ignore, has_index;
    int64_t vectors, room; /* room: vectors that the arrays can hold */
    /* Of each level up to 31 numbers that wait for others: number i of vector v at
     * [i * vectors + v]. */
    tilemm__sum_t *waiting[TILEMM__JOIN_LEVELS];
    int count[TILEMM__JOIN_LEVELS];
    int32_t *keys;   /* of each vector: the best so far, */
    int64_t *extras; /* and its index; or the number of elements that are not NaN */
} tilemm__join_t;

/* 0, or -1 if host memory ran out. */
int tilemm__join_begin(tilemm__join_t *join, int op, int nan_ignore, int has_index,
                       int64_t vectors);
/* The next `items` partial results of each vector, transposed. 0 or -1. */
int tilemm__join_add(tilemm__join_t *join, const tilemm__partials_t *partials, int64_t items);
/* The results of vectors of n elements; out or index_out may be NULL. */
void tilemm__join_finish(tilemm__join_t *join, int64_t n, float *out, int64_t *index_out,
                         int64_t out_stride);
void tilemm__join_end(tilemm__join_t *join);

#endif
