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
 *   threads  of a block; few, zip: at most
 *   facet    tile: data need not stay in the L2 cache; gather: 1 for that, 2 for 64-bit indices;
 *            skewed: the result is flat; few: rows of it are aligned to an element; whole: in
 *            registers; save, chains, cycles: long runs
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

/* A row, and the one for data that need not stay in the L2 cache. */
#define TILEMM__TRANSPOSE_TILE_PAIR(X, tag, bytes, edge, chunk, access, threads)                   \
    X(tile, tag, bytes, edge, edge, chunk, access, threads, 0)                                     \
    X(tile, tag##_stream, bytes, edge, edge, chunk, access, threads, 1)

#define TILEMM__TRANSPOSE_TILE_ROWS(X)                                                             \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 256x256x1, 1, 256, 8, 8, 512)                                   \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 128x128x1, 1, 128, 8, 8, 256)                                   \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 128x128x2, 2, 128, 16, 16, 256)                                 \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 64x64x2, 2, 64, 16, 16, 64)                                     \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 64x64x4, 4, 64, 16, 16, 256)                                    \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 32x32x4, 4, 32, 16, 16, 64)                                     \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 32x32x8, 8, 32, 16, 16, 256)                                    \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 32x32x16, 16, 32, 16, 8, 256)                                   \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 32x32x16_aligned, 16, 32, 16, 16, 256)                          \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 16x16x16, 16, 16, 16, 8, 64)                                    \
    TILEMM__TRANSPOSE_TILE_PAIR(X, 16x16x16_aligned, 16, 16, 16, 16, 64)

#define TILEMM__TRANSPOSE_SHIFTED_ROWS(X)                                                          \
    X(shifted, 128x64x4, 4, 128, 64, 16, 4, 256, 0)                                                \
    X(shifted, 64x32x8, 8, 64, 32, 16, 8, 256, 0)

/* For tall matrices, and for wide ones; of 4 bytes also where the shorter side has up to 16. */
#define TILEMM__TRANSPOSE_NARROW_ROWS(X)                                                           \
    X(narrow, 128x32x4, 4, 128, 32, 4, 4, 256, 0)                                                  \
    X(narrow, 32x128x4, 4, 32, 128, 4, 4, 256, 0)                                                  \
    X(narrow, 256x16x4, 4, 256, 16, 4, 4, 256, 0)                                                  \
    X(narrow, 16x256x4, 4, 16, 256, 4, 4, 256, 0)                                                  \
    X(narrow, 128x32x8, 8, 128, 32, 8, 8, 256, 0)                                                  \
    X(narrow, 32x128x8, 8, 32, 128, 8, 8, 256, 0)

#define TILEMM__TRANSPOSE_GATHER_FACETS(X, tag, bytes, cols, access)                               \
    X(gather, tag, bytes, 1, cols, 16, access, 256, 0)                                             \
    X(gather, tag##_stream, bytes, 1, cols, 32, access, 256, 1)                                    \
    X(gather, tag##_wide, bytes, 1, cols, 16, access, 256, 2)                                      \
    X(gather, tag##_wide_stream, bytes, 1, cols, 32, access, 256, 3)

#define TILEMM__TRANSPOSE_GATHER_ROWS(X)                                                           \
    TILEMM__TRANSPOSE_GATHER_FACETS(X, 1x16x1, 1, 16, 1)                                           \
    TILEMM__TRANSPOSE_GATHER_FACETS(X, 1x8x2, 2, 8, 2)                                             \
    TILEMM__TRANSPOSE_GATHER_FACETS(X, 1x4x4, 4, 4, 4)                                             \
    TILEMM__TRANSPOSE_GATHER_FACETS(X, 1x2x8, 8, 2, 8)                                             \
    TILEMM__TRANSPOSE_GATHER_FACETS(X, 1x1x16, 16, 1, 8)

/* A thread has 4 elements. */
#define TILEMM__TRANSPOSE_ELEMENTS_ROWS(X)                                                         \
    X(elements, 1x4x1, 1, 1, 4, 4, 1, 256, 0)                                                      \
    X(elements, 1x4x2, 2, 1, 4, 8, 2, 256, 0)                                                      \
    X(elements, 1x4x4, 4, 1, 4, 16, 4, 256, 0)                                                     \
    X(elements, 1x4x8, 8, 1, 4, 32, 8, 256, 0)                                                     \
    X(elements, 1x4x16, 16, 1, 4, 64, 8, 256, 0)

/* A thread gathers 4 units of 4 elements. */
#define TILEMM__TRANSPOSE_REPEATED_ROWS(X)                                                         \
    X(repeated, 4x4x1, 1, 4, 4, 4, 1, 256, 0)                                                      \
    X(repeated, 4x4x2, 2, 4, 4, 8, 2, 256, 0)

#define TILEMM__TRANSPOSE_PACKED_ROWS(X)                                                           \
    X(packed, x1, 1, 0, 0, 16, 1, 256, 0)                                                          \
    X(packed, x2, 2, 0, 0, 16, 2, 256, 0)

#define TILEMM__TRANSPOSE_COLUMNS_ROWS(X)                                                          \
    X(columns, x1, 1, 0, 0, 8, 1, 256, 0)                                                          \
    X(columns, x2, 2, 0, 0, 8, 2, 256, 0)

#define TILEMM__TRANSPOSE_FEW_PAIR(X, rows, cols, bytes)                                           \
    X(few, rows##x##cols##x##bytes, bytes, rows, cols, 16, 16, 256, 0)                             \
    X(few, rows##x##cols##x##bytes##_shifted, bytes, rows, cols, 16, bytes, 256, 1)

#define TILEMM__TRANSPOSE_FEW_SIZE(X, rows, bytes)                                                 \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 2, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 3, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 4, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 5, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 6, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 7, bytes)                                                  \
    TILEMM__TRANSPOSE_FEW_PAIR(X, rows, 8, bytes)

#define TILEMM__TRANSPOSE_FEW_ROWS(X)                                                              \
    TILEMM__TRANSPOSE_FEW_SIZE(X, 16, 1)                                                           \
    TILEMM__TRANSPOSE_FEW_SIZE(X, 8, 2)                                                            \
    TILEMM__TRANSPOSE_FEW_SIZE(X, 4, 4)

#define TILEMM__TRANSPOSE_ZIP_ROWS(X)                                                              \
    X(zip, 3x16x1, 1, 3, 16, 16, 1, 256, 0)                                                        \
    X(zip, 4x16x1, 1, 4, 16, 16, 1, 256, 0)                                                        \
    X(zip, 5x16x1, 1, 5, 16, 16, 1, 256, 0)                                                        \
    X(zip, 6x16x1, 1, 6, 16, 16, 1, 256, 0)                                                        \
    X(zip, 7x16x1, 1, 7, 16, 16, 1, 256, 0)                                                        \
    X(zip, 8x16x1, 1, 8, 16, 16, 1, 256, 0)

/* For results of tall columns, and for flat ones. */
#define TILEMM__TRANSPOSE_SKEWED_ROWS(X)                                                           \
    X(skewed, x1, 1, 0, 0, 16, 1, 256, 0)                                                          \
    X(skewed, x1_flat, 1, 0, 0, 16, 1, 256, 1)                                                     \
    X(skewed, x2, 2, 0, 0, 16, 2, 256, 0)                                                          \
    X(skewed, x2_flat, 2, 0, 0, 16, 2, 256, 1)

/* From the smallest tile to the largest. */
#define TILEMM__TRANSPOSE_WORDS_ROWS(X)                                                            \
    X(words, 64x32x1, 1, 64, 32, 16, 1, 128, 0)                                                    \
    X(words, 128x32x1, 1, 128, 32, 16, 1, 128, 0)                                                  \
    X(words, 128x64x1, 1, 128, 64, 16, 1, 128, 0)                                                  \
    X(words, 64x16x2, 2, 64, 16, 16, 2, 128, 0)                                                    \
    X(words, 64x32x2, 2, 64, 32, 16, 2, 128, 0)

#define TILEMM__TRANSPOSE_DIRECT_ROWS(X)                                                           \
    X(direct, 64x64x1, 1, 64, 64, 8, 8, 64, 0)                                                     \
    X(direct, 64x64x2, 2, 64, 64, 16, 16, 64, 0)                                                   \
    X(direct, 32x32x4, 4, 32, 32, 16, 16, 64, 0)                                                   \
    X(direct, 16x16x8, 8, 16, 16, 16, 16, 64, 0)                                                   \
    X(direct, 8x8x16, 16, 8, 8, 16, 16, 64, 0)

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

/* Squares in registers, of 4 down and 8 across in a tile; then elements in shared memory. */
#define TILEMM__TRANSPOSE_WHOLE_ROWS(X)                                                            \
    X(whole, 32x64x1_aligned, 1, 32, 64, 8, 8, 1024, 1)                                            \
    X(whole, 32x64x2_aligned, 2, 32, 64, 16, 16, 1024, 1)                                          \
    X(whole, 16x32x4_aligned, 4, 16, 32, 16, 16, 1024, 1)                                          \
    X(whole, 32x32x4, 4, 32, 32, 4, 4, 1024, 0)                                                    \
    X(whole, 32x32x8, 8, 32, 32, 8, 8, 1024, 0)                                                    \
    X(whole, 32x32x16, 16, 32, 32, 16, 8, 1024, 0)

#define TILEMM__TRANSPOSE_SLABS_ROWS(X)                                                            \
    X(slabs, 256x64x1, 1, 256, 64, 16, 1, 128, 0)                                                  \
    X(slabs, 128x64x2, 2, 128, 64, 16, 2, 128, 0)                                                  \
    X(slabs, 64x64x4, 4, 64, 64, 16, 4, 128, 0)                                                    \
    X(slabs, 32x64x8, 8, 32, 64, 16, 8, 128, 0)                                                    \
    X(slabs, 16x64x16, 16, 16, 64, 16, 8, 128, 0)

/* For runs and slots that are aligned to 1, 2, 4 and 8 bytes. */
#define TILEMM__TRANSPOSE_UNIT_ROWS(X, method, threads)                                            \
    X(method, x1, 1, 0, 0, 1, 1, threads, 0)                                                       \
    X(method, x2, 2, 0, 0, 2, 2, threads, 0)                                                       \
    X(method, x4, 4, 0, 0, 4, 4, threads, 0)                                                       \
    X(method, x8, 8, 0, 0, 8, 8, threads, 0)

#define TILEMM__TRANSPOSE_RUN_ROWS(X, method, threads)                                             \
    TILEMM__TRANSPOSE_UNIT_ROWS(X, method, threads)                                                \
    X(method, x1_long, 1, 0, 0, 1, 1, threads, 1)                                                  \
    X(method, x2_long, 2, 0, 0, 2, 2, threads, 1)                                                  \
    X(method, x4_long, 4, 0, 0, 4, 4, threads, 1)                                                  \
    X(method, x8_long, 8, 0, 0, 8, 8, threads, 1)

#define TILEMM__TRANSPOSE_SAVE_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, save, 256)
#define TILEMM__TRANSPOSE_CHAINS_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, chains, 32)
#define TILEMM__TRANSPOSE_CYCLES_ROWS(X) TILEMM__TRANSPOSE_RUN_ROWS(X, cycles, 256)

#define TILEMM__TRANSPOSE_MOVE_ROWS(X, method)                                                     \
    TILEMM__TRANSPOSE_UNIT_ROWS(X, method, 256)                                                    \
    X(method, x16, 16, 0, 0, 16, 8, 256, 0)

#define TILEMM__TRANSPOSE_MOVE_OUT_ROWS(X) TILEMM__TRANSPOSE_MOVE_ROWS(X, move_out)
#define TILEMM__TRANSPOSE_MOVE_IN_ROWS(X) TILEMM__TRANSPOSE_MOVE_ROWS(X, move_in)

#define TILEMM__TRANSPOSE_ROWS(X)                                                                  \
    TILEMM__TRANSPOSE_COPY_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_TILE_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_SHIFTED_ROWS(X)                                                              \
    TILEMM__TRANSPOSE_NARROW_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_GATHER_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_ELEMENTS_ROWS(X)                                                             \
    TILEMM__TRANSPOSE_REPEATED_ROWS(X)                                                             \
    TILEMM__TRANSPOSE_PACKED_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_COLUMNS_ROWS(X)                                                              \
    TILEMM__TRANSPOSE_FEW_ROWS(X)                                                                  \
    TILEMM__TRANSPOSE_ZIP_ROWS(X)                                                                  \
    TILEMM__TRANSPOSE_SKEWED_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_WORDS_ROWS(X)                                                                \
    TILEMM__TRANSPOSE_DIRECT_ROWS(X)                                                               \
    TILEMM__TRANSPOSE_SWAP_ROWS(X)                                                                 \
    TILEMM__TRANSPOSE_SWAP_ELEMENTS_ROWS(X)                                                        \
    TILEMM__TRANSPOSE_WHOLE_ROWS(X)                                                                \
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
