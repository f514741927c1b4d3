/* invariant.h - what invariant products on the CPU have beside the tiles: their epilogue, and the
 * order of their sums in plain C. doc/numerics.md has both in words.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_INVARIANT_H
#define TILEMM_LIB_SGEMM_INVARIANT_H

#include <stdint.h>

/* An element of op(A) op(B) from k elements of a row and of a column, so far apart each. */
float tilemm__sgemm_plain(int64_t k, const float *a, int64_t step_a, const float *b,
                          int64_t step_b);

/* c = alpha * sum + beta * c, each product and the sum rounded; c is not read where beta is 0. */
void tilemm__sgemm_epilogue(int64_t n, float alpha, const float *sum, float beta, float *c);

#endif
