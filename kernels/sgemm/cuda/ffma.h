/* ffma.h - SGEMM by FP32 multiply-adds with asynchronous copies: its tiles, where they lie in
 * shared memory, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FFMA_H
#define TILEMM_KERNELS_SGEMM_CUDA_FFMA_H

#include "kernels/sgemm/layout.h"
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
