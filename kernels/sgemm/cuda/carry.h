/* carry.h - which elements of an invariant product two FP16 planes carry: what the kernels that
 * make them tell the kernel that computes the others from three BF16 planes.
 *
 * A line (a row of op(A), a column of op(B)) has a class in each part of k, by its own numbers
 * alone: DENSE, HALF or NONE (half_lines.cuh). Planes carry the elements of two lines whose least
 * classes are DENSE and DENSE, or DENSE and HALF: then an eighth of the products or more are not
 * small, and what planes lose of small numbers is nothing beside these.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_CARRY_H
#define TILEMM_KERNELS_SGEMM_CUDA_CARRY_H

#include <stdint.h>

enum {
    TILEMM__SGEMM_CARRY_NONE = 0,
    TILEMM__SGEMM_CARRY_HALF = 1,
    TILEMM__SGEMM_CARRY_DENSE = 2,
    TILEMM__SGEMM_CARRY_LEAST = 3,  /* sum of two lines' classes whose elements planes carry */
    TILEMM__SGEMM_CARRY_SLOTS = 16, /* bytes for a tile */
    TILEMM__SGEMM_CARRY_ROWS = 16   /* of a tile with a slot, where a block has all of k */
};

/* The least class of each of op(A)'s lines, of all matrices, of op(B)'s. Of each tile, [matrix][row
 * of tiles][column of tiles], `slots` of its SLOTS bytes say whether planes do not carry some
 * element of it. */
typedef struct {
    unsigned char *a, *b; /* NULL: planes are not asked */
    unsigned char *left;
    int slots;
} tilemm__sgemm_carry_t;

#endif
