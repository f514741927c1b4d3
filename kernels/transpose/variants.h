/* variants.h - every instantiation of every transpose kernel, once each: the rows from which
 * kernels, their names, the plan's table and the launchers' tables are made.
 *
 * X(method, tag, bytes, rows, cols, chunk, access, threads, facet):
 *   method   the kernel; its file in cuda/ says what it does
 *   tag      what follows the lowest compute capability in the name: tile x element bytes, facets
 *   bytes    of an element; of the kernels that move runs: bytes that all runs are aligned to
 *   rows, cols  the tile in elements of the source; 0: any, given with the launch
 *   chunk    bytes that a thread moves at once
 *   access   bytes that the rows of the operands are aligned to at least
 *   threads  of a block
 *   facet    tile: data need not stay in the L2 cache; gather: 1 for that, 2 for 64-bit indices;
 *            strip_bytes: the buffers are swizzled; save, chains, cycles: long runs
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_VARIANTS_H
#define TILEMM_KERNELS_TRANSPOSE_VARIANTS_H

/* clang-format off */

/* ---- out of place --------------------------------------------------------------------------- */

#define TILEMM__TRANSPOSE_COPY_ROWS(X)                                                             \
    X(copy, x1, 1, 0, 0, 1, 1, 256, 0)                                                             \
    X(copy, x1_aligned, 1, 0, 0, 16, 16, 256, 0)                                                   \
    X(copy, x2, 2, 0, 0, 2, 2, 256, 0)                                                             \
    X(copy, x2_aligned, 2, 0, 0, 16, 16, 256, 0)                                                   \
    X(copy, x4, 4, 0, 0, 4, 4, 256, 0)                                                             \
    X(copy, x4_aligned, 4, 0, 0, 16, 16, 256, 0)                                                   \
    X(copy, x8, 8, 0, 0, 8, 8, 256, 0)                                                             \
    X(copy, x8_aligned, 8, 0, 0, 16, 16, 256, 0)                                                   \
    X(copy, x16, 16, 0, 0, 16, 8, 256, 0)                                                          \
    X(copy, x16_aligned, 16, 0, 0, 16, 16, 256, 0)

#define TILEMM__TRANSPOSE_TILE_ROWS(X)                                                             \
    X(tile, 256x256x1, 1, 256, 256, 8, 8, 512, 0)                                                  \
    X(tile, 256x256x1_stream, 1, 256, 256, 8, 8, 512, 1)                                           \
    X(tile, 128x128x1, 1, 128, 128, 8, 8, 256, 0)                                                  \
    X(tile, 128x128x1_stream, 1, 128, 128, 8, 8, 256, 1)                                           \
    X(tile, 128x128x2, 2, 128, 128, 16, 16, 256, 0)                                                \
    X(tile, 128x128x2_stream, 2, 128, 128, 16, 16, 256, 1)                                         \
    X(tile, 64x64x2, 2, 64, 64, 16, 16, 64, 0)                                                     \
    X(tile, 64x64x2_stream, 2, 64, 64, 16, 16, 64, 1)                                              \
    X(tile, 64x64x4, 4, 64, 64, 16, 16, 256, 0)                                                    \
    X(tile, 64x64x4_stream, 4, 64, 64, 16, 16, 256, 1)                                             \
    X(tile, 32x32x4, 4, 32, 32, 16, 16, 64, 0)                                                     \
    X(tile, 32x32x4_stream, 4, 32, 32, 16, 16, 64, 1)                                              \
    X(tile, 32x32x8, 8, 32, 32, 16, 16, 256, 0)                                                    \
    X(tile, 32x32x8_stream, 8, 32, 32, 16, 16, 256, 1)                                             \
    X(tile, 32x32x16, 16, 32, 32, 16, 8, 256, 0)                                                   \
    X(tile, 32x32x16_stream, 16, 32, 32, 16, 8, 256, 1)                                            \
    X(tile, 32x32x16_aligned, 16, 32, 32, 16, 16, 256, 0)                                          \
    X(tile, 32x32x16_aligned_stream, 16, 32, 32, 16, 16, 256, 1)                                   \
    X(tile, 16x16x16, 16, 16, 16, 16, 8, 64, 0)                                                    \
    X(tile, 16x16x16_stream, 16, 16, 16, 16, 8, 64, 1)                                             \
    X(tile, 16x16x16_aligned, 16, 16, 16, 16, 16, 64, 0)                                           \
    X(tile, 16x16x16_aligned_stream, 16, 16, 16, 16, 16, 64, 1)

#define TILEMM__TRANSPOSE_SHIFTED_ROWS(X)                                                          \
    X(shifted, 128x128x1, 1, 128, 128, 8, 1, 256, 0)                                               \
    X(shifted, 256x64x2, 2, 256, 64, 16, 2, 256, 0)                                                \
    X(shifted, 128x64x4, 4, 128, 64, 16, 4, 256, 0)                                                \
    X(shifted, 64x32x8, 8, 64, 32, 16, 8, 256, 0)

#define TILEMM__TRANSPOSE_NARROW_ROWS(X)                                                           \
    X(narrow, 128x32x4, 4, 128, 32, 4, 4, 256, 0)                                                  \
    X(narrow, 32x128x4, 4, 32, 128, 4, 4, 256, 0)                                                  \
    X(narrow, 128x32x8, 8, 128, 32, 8, 8, 256, 0)                                                  \
    X(narrow, 32x128x8, 8, 32, 128, 8, 8, 256, 0)

#define TILEMM__TRANSPOSE_STRIP_ROWS(X)                                                            \
    X(strip, x4, 4, 0, 0, 16, 4, 256, 0)                                                           \
    X(strip, x8, 8, 0, 0, 16, 8, 256, 0)                                                           \
    X(strip, x16, 16, 0, 0, 16, 8, 256, 0)                                                         \
    X(strip, x16_aligned, 16, 0, 0, 16, 16, 256, 0)

#define TILEMM__TRANSPOSE_STRIP_BYTES_ROWS(X)                                                      \
    X(strip_bytes, x1, 1, 0, 0, 16, 1, 256, 0)                                                     \
    X(strip_bytes, x1_swizzled, 1, 0, 0, 16, 1, 256, 1)                                            \
    X(strip_bytes, x2, 2, 0, 0, 16, 2, 256, 0)                                                     \
    X(strip_bytes, x2_swizzled, 2, 0, 0, 16, 2, 256, 1)

#define TILEMM__TRANSPOSE_GATHER_ROWS(X)                                                           \
    X(gather, 1x16x1, 1, 1, 16, 16, 1, 256, 0)                                                     \
    X(gather, 1x16x1_stream, 1, 1, 16, 32, 1, 256, 1)                                              \
    X(gather, 1x16x1_wide, 1, 1, 16, 16, 1, 256, 2)                                                \
    X(gather, 1x16x1_wide_stream, 1, 1, 16, 32, 1, 256, 3)                                         \
    X(gather, 1x8x2, 2, 1, 8, 16, 2, 256, 0)                                                       \
    X(gather, 1x8x2_stream, 2, 1, 8, 32, 2, 256, 1)                                                \
    X(gather, 1x8x2_wide, 2, 1, 8, 16, 2, 256, 2)                                                  \
    X(gather, 1x8x2_wide_stream, 2, 1, 8, 32, 2, 256, 3)                                           \
    X(gather, 1x4x4, 4, 1, 4, 16, 4, 256, 0)                                                       \
    X(gather, 1x4x4_stream, 4, 1, 4, 32, 4, 256, 1)                                                \
    X(gather, 1x4x4_wide, 4, 1, 4, 16, 4, 256, 2)                                                  \
    X(gather, 1x4x4_wide_stream, 4, 1, 4, 32, 4, 256, 3)                                           \
    X(gather, 1x2x8, 8, 1, 2, 16, 8, 256, 0)                                                       \
    X(gather, 1x2x8_stream, 8, 1, 2, 32, 8, 256, 1)                                                \
    X(gather, 1x2x8_wide, 8, 1, 2, 16, 8, 256, 2)                                                  \
    X(gather, 1x2x8_wide_stream, 8, 1, 2, 32, 8, 256, 3)                                           \
    X(gather, 1x1x16, 16, 1, 1, 16, 8, 256, 0)                                                     \
    X(gather, 1x1x16_stream, 16, 1, 1, 32, 8, 256, 1)                                              \
    X(gather, 1x1x16_wide, 16, 1, 1, 16, 8, 256, 2)                                                \
    X(gather, 1x1x16_wide_stream, 16, 1, 1, 32, 8, 256, 3)

/* ---- in place ------------------------------------------------------------------------------- */

#define TILEMM__TRANSPOSE_SWAP_ROWS(X)                                                             \
    X(swap, 128x128x1_aligned, 1, 128, 128, 8, 8, 256, 0)                                          \
    X(swap, 64x64x2_aligned, 2, 64, 64, 8, 8, 256, 0)                                              \
    X(swap, 64x64x4_aligned, 4, 64, 64, 16, 16, 256, 0)                                            \
    X(swap, 32x32x8_aligned, 8, 32, 32, 16, 16, 256, 0)                                            \
    X(swap, 32x32x16_aligned, 16, 32, 32, 16, 16, 256, 0)                                          \
    X(swap, 32x32x16, 16, 32, 32, 16, 8, 256, 0)

#define TILEMM__TRANSPOSE_SWAP_ELEMENTS_ROWS(X)                                                    \
    X(swap_elements, 64x64x1, 1, 64, 64, 1, 1, 256, 0)                                             \
    X(swap_elements, 64x64x2, 2, 64, 64, 2, 2, 256, 0)                                             \
    X(swap_elements, 64x64x4, 4, 64, 64, 4, 4, 256, 0)                                             \
    X(swap_elements, 32x32x8, 8, 32, 32, 8, 8, 256, 0)

#define TILEMM__TRANSPOSE_SLABS_ROWS(X)                                                            \
    X(slabs, 256x64x1, 1, 256, 64, 16, 1, 128, 0)                                                  \
    X(slabs, 128x64x2, 2, 128, 64, 16, 2, 128, 0)                                                  \
    X(slabs, 64x64x4, 4, 64, 64, 16, 4, 128, 0)                                                    \
    X(slabs, 32x64x8, 8, 32, 64, 16, 8, 128, 0)                                                    \
    X(slabs, 16x64x16, 16, 16, 64, 16, 8, 128, 0)

/* The same rows for the three kernels that move runs. */
#define TILEMM__TRANSPOSE_RUN_ROWS(X, method, threads)                                             \
    X(method, x1, 1, 0, 0, 1, 1, threads, 0)                                                       \
    X(method, x2, 2, 0, 0, 2, 2, threads, 0)                                                       \
    X(method, x4, 4, 0, 0, 4, 4, threads, 0)                                                       \
    X(method, x8, 8, 0, 0, 8, 8, threads, 0)                                                       \
    X(method, x1_long, 1, 0, 0, 1, 1, threads, 1)                                                  \
    X(method, x2_long, 2, 0, 0, 2, 2, threads, 1)                                                  \
    X(method, x4_long, 4, 0, 0, 4, 4, threads, 1)                                                  \
    X(method, x8_long, 8, 0, 0, 8, 8, threads, 1)

#define TILEMM__TRANSPOSE_SAVE_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, save, 256)
#define TILEMM__TRANSPOSE_CHAINS_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, chains, 32)
#define TILEMM__TRANSPOSE_CYCLES_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, cycles, 256)

/* The same rows for both halves of the move. */
#define TILEMM__TRANSPOSE_MOVE_ROWS(X, method)                                                     \
    X(method, x1, 1, 0, 0, 1, 1, 256, 0)                                                           \
    X(method, x2, 2, 0, 0, 2, 2, 256, 0)                                                           \
    X(method, x4, 4, 0, 0, 4, 4, 256, 0)                                                           \
    X(method, x8, 8, 0, 0, 8, 8, 256, 0)                                                           \
    X(method, x16, 16, 0, 0, 16, 8, 256, 0)

#define TILEMM__TRANSPOSE_MOVE_OUT_ROWS(X) TILEMM__TRANSPOSE_MOVE_ROWS(X, move_out)
#define TILEMM__TRANSPOSE_MOVE_IN_ROWS(X) TILEMM__TRANSPOSE_MOVE_ROWS(X, move_in)

#define TILEMM__TRANSPOSE_ROWS(X)                                                                  \
    TILEMM__TRANSPOSE_COPY_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_TILE_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_SHIFTED_ROWS(X)                                                              \
    TILEMM__TRANSPOSE_NARROW_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_STRIP_ROWS(X)                                                                \
    TILEMM__TRANSPOSE_STRIP_BYTES_ROWS(X)                                                          \
    TILEMM__TRANSPOSE_GATHER_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_SWAP_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_SWAP_ELEMENTS_ROWS(X)                                                        \
    TILEMM__TRANSPOSE_SLABS_ROWS(X)                                                                \
    TILEMM__TRANSPOSE_SAVE_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_CHAINS_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_CYCLES_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_MOVE_OUT_ROWS(X)                                                             \
    TILEMM__TRANSPOSE_MOVE_IN_ROWS(X)

/* clang-format on */

/* The name of a kernel, and the index of its row. */
#define TILEMM__TRANSPOSE_NAME(method, tag) transpose_##method##_sm75_##tag
#define TILEMM__TRANSPOSE_INDEX(method, tag) TILEMM__TRANSPOSE_##method##_##tag

#define TILEMM__TRANSPOSE_ENUMERATOR(method, tag, ...) TILEMM__TRANSPOSE_INDEX(method, tag),
typedef enum {
    TILEMM__TRANSPOSE_ROWS(TILEMM__TRANSPOSE_ENUMERATOR) TILEMM__TRANSPOSE_VARIANTS
} tilemm__transpose_variant_t;

#endif
