/* sgemm_fused.h - SGEMM on tensor cores in one launch, operands split as they are read: its tiles,
 * where they lie in shared memory, and the launcher. Needs no CUDA header.
 *
 * Each element becomes three BF16 numbers, x = h + m + l, of 8 bits each: all of a float's 24, at
 * any exponent, so there is nothing to scale. Six products of the nine are added, m m + h l + l h +
 * h m + m h + h h; those left out are below 2^-24 |a b|.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_SGEMM_FUSED_H
#define TILEMM_KERNELS_CUDA_SGEMM_FUSED_H

#include "../tile_layout.h"
#include "sgemm.h"

/* ---- tiles ---------------------------------------------------------------------------------- */

/* TILE(m, n): a block computes m x n of C, k in steps of TILEMM__SGEMM_FUSED_K. Those with n = 256
 * and less of m compute the transposed product. */
#define TILEMM__SGEMM_FUSED_TILES(TILE)                                                            \
    TILE(128, 128)                                                                                 \
    TILE(128, 64)                                                                                  \
    TILE(64, 64)                                                                                   \
    TILE(256, 32)                                                                                  \
    TILE(256, 16)                                                                                  \
    TILE(32, 256)                                                                                  \
    TILE(16, 256)

#define TILEMM__SGEMM_TILE_NAME(m, n) TILEMM__SGEMM_FUSED_##m##X##n,
enum { TILEMM__SGEMM_FUSED_TILES(TILEMM__SGEMM_TILE_NAME) TILEMM__SGEMM_FUSED_TILE_COUNT };
#undef TILEMM__SGEMM_TILE_NAME

enum {
    TILEMM__SGEMM_FUSED_K = 32,
    TILEMM__SGEMM_FUSED_MOST_CLUSTER = 8 /* blocks that share a tile's k */
};

/* ---- layout --------------------------------------------------------------------------------- */

/* A lane has 8 numbers of a step of a line (a row of op(A), a column of op(B)), octet number o =
 * lane % 4 of 4: k = 4 o to 4 o + 3, and these + 16. The tensor cores take pairs of a step in
 * another order: pair i of octet o is their pair 4 i + o, which is as good, being the same for both
 * operands. So a lane has the pairs of op(A) that it must give to the tensor cores. Octets 2 and 3
 * have the two pairs of a quad exchanged, for the banks' sake. The k of number i of an octet: */
TILEMM__LAYOUT unsigned tilemm__fused_k(unsigned octet, unsigned i)
{
    return octet * 4 + i / 4 * 16 + ((i % 4) ^ (octet & 2));
}

/* Which lines of a warp's 8 * count are a lane's, number j of them: where memory runs along k,
 * lines 8 apart, in the bit-reversed order that lets 16 lanes read pairs without conflicts; where
 * it runs along the lines, `count` neighbours, which are read together. */
TILEMM__LAYOUT unsigned tilemm__fused_line(unsigned lane, unsigned j, unsigned count, int k_major)
{
    const unsigned i = lane / 4, reversed = i % 2 * 4 + i / 2 % 2 * 2 + i / 4;

    return k_major ? j * 8 + reversed : i * count + j;
}

/* The index of a number of a step as the copy engine brings it, with its 128-byte swizzle: lines of
 * 32 of k; or, where memory runs along the lines, parts of 32 lines, each 32 of k by 32 lines. */
TILEMM__LAYOUT unsigned tilemm__fused_staged(unsigned line, unsigned k, int k_major)
{
    const unsigned row = k_major ? line : line / 32 * 32 + k, column = (k_major ? k : line) % 32;

    return row * 32 + ((column / 4) ^ (row % 8)) * 4 + column % 4;
}

/* From a lane's first number in a stage the others' places follow. Where memory runs along k, the
 * other half of the octet is exclusive or HALF_K, the other pair of a quad exclusive or 2, and the
 * line 8 further on is 8_LINES further on. Where memory runs along the lines, the other half is
 * HALF further on, and number i of a half is exclusive or i * NEXT. */
enum {
    TILEMM__SGEMM_FUSED_HALF_K = 16,
    TILEMM__SGEMM_FUSED_8_LINES = 8 * 32,
    TILEMM__SGEMM_FUSED_HALF = 16 * 32,
    TILEMM__SGEMM_FUSED_NEXT = 32 + 4
};

/* A plane of op(B)'s step is in cores of 8 lines by 4 pairs, 128 bytes, which the tensor cores read
 * without conflicts. 4 cores side by side along k, and 16 bytes to spare, so that lanes whose lines
 * are 2 or 4 apart also meet different banks. The index of a pair, in words of two halves: */
enum { TILEMM__SGEMM_FUSED_CORE = 32, TILEMM__SGEMM_FUSED_PITCH = 4 * 32 + 4 }; /* words */

TILEMM__LAYOUT unsigned tilemm__fused_pair(unsigned line, unsigned octet, unsigned i)
{
    return line / 8 * TILEMM__SGEMM_FUSED_PITCH + i * TILEMM__SGEMM_FUSED_CORE + line % 8 * 4 +
           octet;
}

/* The index of an element of a finished tile, `width` columns wide (a multiple of 32), as the copy
 * engine takes it with its 128-byte swizzle: for each warp's 16 rows, parts of 32 columns. */
TILEMM__LAYOUT unsigned tilemm__fused_tile(unsigned row, unsigned col, unsigned width)
{
    return tilemm__fused_staged(row / 16 * (width / 2) + col / 32 * 16 + row % 16, col % 32, 1);
}

/* ---- launcher ------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* As tilemm__sgemm_ffma_launch(), for compute capability 9.0 (sm_90a). `tile` is one of
 * TILEMM__SGEMM_FUSED_..., and k_split a multiple of TILEMM__SGEMM_FUSED_K. With splits > 1 and no
 * `partial`, the blocks of a cluster, one for each split and at most MOST_CLUSTER, add up what they
 * have, and no second launch is needed. A and B must be such that vector_a and vector_b hold: no
 * arrays of pointers, and pointers, leading dimensions and strides of whole 16 bytes. */
int tilemm__sgemm_fused_sm90_launch(const tilemm__sgemm_ffma_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
