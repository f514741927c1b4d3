/* layout.h - the canonical tile of the reductions, as index functions in C99 and CUDA: kernels,
 * CPU packing, the bank model's tests and the documentation use the same ones.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_LAYOUT_H
#define TILEMM_KERNELS_REDUCE_LAYOUT_H

#include "kernels/layout.h"

/* ---- reductions: the canonical tile ------------------------------------------------------ */

/* The canonical tile is 32 rows of 32 lanes, 1024 consecutive elements of a vector: element e of
 * the tile is in lane e % 32, row e / 32. Each lane adds its elements in the order of rows,
 * starting from +0; then lanes are folded by halves: lane l adds lane l + 16, then l + 8, + 4, + 2,
 * + 1; lane 0 holds the tile's sum. Elements past the end of the vector count as +0. The sums of
 * every 32 consecutive tiles are folded in the same way, then those of every 32 such groups, until
 * one number is left. All additions are in FP64; their rounding errors are added in the same order
 * to a second sum, which joins the first at the very end (ops.h). */
enum { TILEMM__TILE_LANES = 32, TILEMM__TILE_ROWS = 32, TILEMM__TILE_ELEMS = 1024 };

/* The tiles of a vector of n elements; an empty vector has one, since it has a result. */
TILEMM__LAYOUT int64_t tilemm__tile_count(int64_t n)
{
    return n > 0 ? (n - 1) / TILEMM__TILE_ELEMS + 1 : 1;
}

/* The numbers that are left of m when every 32 have been folded. */
TILEMM__LAYOUT int64_t tilemm__fold_count(int64_t m)
{
    return (m - 1) / TILEMM__TILE_LANES + 1;
}

/* Down the rows of a matrix, W threads have the tile of one column: thread t has lanes t, t + W,
 * t + 2 * W and so on, and folds them to one. These lie in near memory lane by lane, 32 columns
 * wide, so that a warp writes and reads 32 adjacent columns. */
enum { TILEMM__DOWN_COLS = 32 };

TILEMM__LAYOUT int tilemm__down_index(int lane, int col)
{
    return lane * TILEMM__DOWN_COLS + col;
}

#endif
