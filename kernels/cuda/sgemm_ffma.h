/* sgemm_ffma.h - SGEMM by FP32 multiply-adds with asynchronous copies: its tiles, where they lie in
 * shared memory, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_SGEMM_FFMA_H
#define TILEMM_KERNELS_CUDA_SGEMM_FFMA_H

#include "../tile_layout.h"
#include "sgemm.h"

/* ---- tiles ---------------------------------------------------------------------------------- */

/* TILE(m, n, k, quads_m, quads_n, groups, stages, blocks): as in TILEMM__SGEMM_FFMA_TILES; so many
 * groups of threads that compute the whole tile, each over its part of every k-step; and the number
 * of k-steps that shared memory holds. A warp has 8 x 4 lanes if a thread's part is wider than it
 * is high, else 4 x 8. */
#define TILEMM__SGEMM_FFMA_SM80_TILES(TILE)                                                        \
    TILE(128, 128, 16, 2, 2, 1, 4, 2)                                                              \
    TILE(128, 64, 16, 2, 2, 1, 3, 4)                                                               \
    TILE(64, 64, 16, 2, 2, 1, 3, 8)                                                                \
    TILE(64, 64, 64, 2, 2, 4, 3, 2)                                                                \
    TILE(32, 32, 32, 1, 1, 2, 3, 5)

/* A tile's number: TILEMM__SGEMM_SM80_128X64X16 and so on. */
#define TILEMM__SGEMM_TILE_NAME(m, n, k, quads_m, quads_n, groups, stages, blocks)                 \
    TILEMM__SGEMM_SM80_##m##X##n##X##k,
enum { TILEMM__SGEMM_FFMA_SM80_TILES(TILEMM__SGEMM_TILE_NAME) TILEMM__SGEMM_SM80_TILE_COUNT };
#undef TILEMM__SGEMM_TILE_NAME

/* So many blocks of the smallest tile leave room on every multiprocessor for the next kernel's to
 * be set up meanwhile. Of larger grids the next one's blocks would crowd where the first ones end.
 */
enum { TILEMM__SGEMM_FEW_BLOCKS = 256 };

/* ---- layout --------------------------------------------------------------------------------- */

/* A shared tile has `width` (a multiple of 32) elements of m or n to a row of one k. It is turned
 * if the operand's rows run along k in memory: then it is filled 8 (k) x 4 (m or n) elements at a
 * time, and the groups of 4 are permuted within each 32, another way for each k % 8, so that those
 * 32 elements meet every bank once. Reads are along a row, and whole groups of 4: the permutation
 * does not touch them. The index of an element in its tile: */
TILEMM__LAYOUT unsigned tilemm__ffma_index(unsigned k, unsigned mn, unsigned width, int turned)
{
    return k * width + (turned ? mn ^ ((k & 7) << 2) : mn);
}

/* A thread copies elements of some lines of the operand in memory (a line is one m or n if turned,
 * one k if not), and of each the elements a constant apart. The copies are of 16 bytes if `wide`,
 * for tiles that are not turned, else of 4. Which line, and which element of the line: */
TILEMM__LAYOUT unsigned tilemm__ffma_line(unsigned thread, unsigned i, unsigned width,
                                          unsigned warps, int turned, int wide)
{
    if (turned)
        return i * 4 * warps + thread / 8;
    return wide ? (i * 128 * warps + thread * 4) / width : i * warps + thread / 32;
}

TILEMM__LAYOUT unsigned tilemm__ffma_along(unsigned thread, unsigned j, unsigned width, int turned,
                                           int wide)
{
    if (turned)
        return j * 8 + thread % 8;
    return wide ? thread * 4 % width : j * 32 + thread % 32;
}

/* A warp multiplies lanes_m x (32 / lanes_m) squares of 4 x 4, lanes_m being 4 or 8; which of them
 * is a lane's. Pairs of lanes read the same of either tile, as tilemm__square_m() explains. */
TILEMM__LAYOUT unsigned tilemm__ffma_square_m(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_n(lane) : tilemm__square_m(lane);
}

TILEMM__LAYOUT unsigned tilemm__ffma_square_n(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_m(lane) : tilemm__square_n(lane);
}

/* ---- launcher ------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* As tilemm__sgemm_ffma_launch(), for compute capability 8.0 or more. `tile` is one of
 * TILEMM__SGEMM_SM80_..., and k_split a multiple of its k. vector_a, vector_b and vector_c are not
 * looked at: each block sees for itself how its operands are aligned. With splits > 1 and partial
 * NULL (compute capability 9.0 or more, up to TILEMM__SGEMM_MOST_CLUSTER splits) the kernel itself
 * adds up the parts, first to last, and C is the result. */
int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
