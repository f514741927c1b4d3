/* half_parts.h - the sum of the parts of k of an invariant product from FP16 planes, where each has
 * blocks of its own: the struct that the kernel takes, and its launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_HALF_PARTS_H
#define TILEMM_KERNELS_SGEMM_CUDA_HALF_PARTS_H

#include "kernels/args.h"
#include "kernels/sgemm/cuda/carry.h"
#include "kernels/sgemm/variants.h"

/* C = alpha sum + beta C of the elements that planes carry; of others too where beta is 0. Of each
 * part there are the sums, dense and row-major like C, of all matrices, and the classes of C's rows
 * and columns. Their least ones, and which tiles have elements that planes do not carry, are for
 * the next kernel. If `transposed`, op(A)'s lines of `carry`, and its rows of tiles, are C's
 * columns. */
typedef struct {
    tilemm__sgemm_args_t args; /* A and B are not used */
    const float *partial;
    int64_t count; /* of elements of C, all matrices */
    int parts;
    int transposed;
    unsigned char *classes_a, *classes_b; /* of each part, as in `carry` */
    tilemm__sgemm_carry_t carry;
    int tile_m, tile_n;  /* of C */
    unsigned rows, cols; /* of tiles in a matrix, as the kernel before has them */
    unsigned blocks;     /* of the grid */
} tilemm__sgemm_half_parts_t;

#ifdef __cplusplus
extern "C" {
#endif

int tilemm__sgemm_half_parts_launch(const tilemm__sgemm_half_parts_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
