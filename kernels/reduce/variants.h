/* variants.h - every kernel of the reductions on a GPU, once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A row is X(name, kernel, cc, concurrent, ...):
 *   name        of the kernel: operation, method, lowest architecture, tile, facets
 *   kernel      what it is an instance of: TILEMM__<kernel> of cuda/reduce.h
 *   cc          lowest compute capability, major * 10 + minor
 *   concurrent  1 if it waits for the kernel before it by itself (kernels/cuda/launch.cuh)
 *   ...         template arguments, which the comment at each list names
 *
 * A tile is written rows x lanes where a warp has all of it, vectors x rows x lanes where a warp
 * has several vectors, and warps x rows x columns where the warps of a block share columns: rows
 * are the ones that one loop iteration loads; rows x lanes of a thread in sum_narrow, rows x
 * columns of a warp in few_rows. */
#ifndef TILEMM_KERNELS_REDUCE_VARIANTS_H
#define TILEMM_KERNELS_REDUCE_VARIANTS_H

/* Kernels that read the elements of vectors. */
#define TILEMM__REDUCE_SUMS(X)                                                                     \
    /* DOT: two operands; UNIT: contiguous elements; ROWS; RESIDENT: blocks of a multiprocessor */ \
    X(reduce_sum_tiles_sm75_32x32_unit, SUM_TILES, 75, 1, 0, 1, 32, 4)                             \
    X(reduce_sum_tiles_sm75_32x32_strided, SUM_TILES, 75, 1, 0, 0, 32, 2)                          \
    X(reduce_dot_tiles_sm75_8x32_unit, SUM_TILES, 75, 1, 1, 1, 8, 4)                               \
    X(reduce_dot_tiles_sm75_8x32_strided, SUM_TILES, 75, 1, 1, 0, 8, 2)                            \
    /* DOT; UNIT; SPLITS: blocks among which 32 tiles are divided; ROWS */                         \
    X(reduce_sum_split2_sm75_32x32_unit, SUM_SPLIT, 75, 1, 0, 1, 2, 32)                            \
    X(reduce_sum_split2_sm75_32x32_strided, SUM_SPLIT, 75, 1, 0, 0, 2, 32)                         \
    X(reduce_sum_split4_sm75_32x32_unit, SUM_SPLIT, 75, 1, 0, 1, 4, 32)                            \
    X(reduce_sum_split4_sm75_32x32_strided, SUM_SPLIT, 75, 1, 0, 0, 4, 32)                         \
    X(reduce_dot_split4_sm75_8x32_unit, SUM_SPLIT, 75, 1, 1, 1, 4, 8)                              \
    X(reduce_dot_split4_sm75_8x32_strided, SUM_SPLIT, 75, 1, 1, 0, 4, 8)                           \
    /* DOT */                                                                                      \
    X(reduce_sum_cluster_sm90_32x32, SUM_CLUSTER, 90, 1, 0)                                        \
    X(reduce_dot_cluster_sm90_8x32, SUM_CLUSTER, 90, 1, 1)                                         \
    /* VECTORS of a warp */                                                                        \
    X(reduce_sum_short_sm75_2x16x32, SUM_SHORT, 75, 0, 2)                                          \
    X(reduce_sum_short_sm75_4x8x32, SUM_SHORT, 75, 0, 4)                                           \
    X(reduce_sum_short_sm75_8x4x32, SUM_SHORT, 75, 0, 8)                                           \
    X(reduce_sum_short_sm75_16x2x32, SUM_SHORT, 75, 0, 16)                                         \
    X(reduce_sum_short_sm75_32x1x32, SUM_SHORT, 75, 0, 32)                                         \
    /* DOT */                                                                                      \
    X(reduce_sum_block_sm75_8x32, SUM_BLOCK, 75, 0, 0)                                             \
    X(reduce_dot_block_sm75_8x32, SUM_BLOCK, 75, 0, 1)                                             \
    /* Sums and searches of vectors of one element. */                                             \
    X(reduce_single_sm75_4x256, SINGLE, 75, 1)

#define TILEMM__REDUCE_SEARCHES(X)                                                                 \
    /* IGNORE: NaN is left out */                                                                  \
    X(reduce_search_tiles_sm75_16x32_propagate, SEARCH_TILES, 75, 1, 0)                            \
    X(reduce_search_tiles_sm75_16x32_ignore, SEARCH_TILES, 75, 1, 1)                               \
    X(reduce_search_held_sm75_32x32, SEARCH_HELD, 75, 1)                                           \
    X(reduce_search_cluster_sm90_32x32, SEARCH_CLUSTER, 90, 1)                                     \
    /* VECTORS of a warp */                                                                        \
    X(reduce_search_short_sm75_2x16x32, SEARCH_SHORT, 75, 0, 2)                                    \
    X(reduce_search_short_sm75_4x8x32, SEARCH_SHORT, 75, 0, 4)                                     \
    X(reduce_search_short_sm75_8x4x32, SEARCH_SHORT, 75, 0, 8)                                     \
    X(reduce_search_short_sm75_16x2x32, SEARCH_SHORT, 75, 0, 16)                                   \
    X(reduce_search_short_sm75_32x1x32, SEARCH_SHORT, 75, 0, 32)                                   \
    X(reduce_search_block_sm75_8x32, SEARCH_BLOCK, 75, 0)

/* Kernels that read the elements of columns. */
#define TILEMM__REDUCE_COLUMNS(X)                                                                  \
    /* WARPS; ROWS; RESIDENT; SPLITS: blocks among which the lanes of a tile are divided. */       \
    X(reduce_sum_columns_sm75_8x4x32_split1, SUM_COLUMNS, 75, 1, 8, 4, 4, 1)                       \
    X(reduce_sum_columns_sm75_8x8x32_split1, SUM_COLUMNS, 75, 1, 8, 8, 2, 1)                       \
    X(reduce_sum_columns_sm75_8x16x32_split4, SUM_COLUMNS, 75, 1, 8, 16, 4, 4)                     \
    X(reduce_sum_columns_sm75_32x16x32_split1, SUM_COLUMNS, 75, 1, 32, 16, 1, 1)                   \
    /* WARPS; ROWS */                                                                              \
    X(reduce_sum_two_tiles_sm75_32x16x32, SUM_TWO_TILES, 75, 1, 32, 16)                            \
    /* LANES of a thread; ROWS. */                                                                 \
    X(reduce_sum_narrow_sm75_32x1, SUM_NARROW, 75, 1, 1, 32)                                       \
    X(reduce_sum_narrow_sm75_4x4, SUM_NARROW, 75, 1, 4, 4)                                         \
    /* WARPS; ROWS of 32 elements that a column has at most; RESIDENT. */                          \
    X(reduce_sum_low_columns_sm75_2x2x32, SUM_LOW_COLUMNS, 75, 1, 2, 2, 10)                        \
    X(reduce_sum_low_columns_sm75_2x4x32, SUM_LOW_COLUMNS, 75, 1, 2, 4, 10)                        \
    X(reduce_sum_low_columns_sm75_4x4x32, SUM_LOW_COLUMNS, 75, 1, 4, 4, 5)                         \
    X(reduce_sum_low_columns_sm75_4x8x32, SUM_LOW_COLUMNS, 75, 1, 4, 8, 6)                         \
    /* ROWS, elements that a column has at most. */                                                \
    X(reduce_sum_few_rows_sm75_32x32, SUM_FEW_ROWS, 75, 1, 32)                                     \
    X(reduce_sum_few_rows_sm75_8x32, SUM_FEW_ROWS, 75, 1, 8)                                       \
    /* WARPS; ROWS; IGNORE; RESIDENT */                                                            \
    X(reduce_search_columns_sm75_2x2x32_propagate, SEARCH_COLUMNS, 75, 1, 2, 2, 0, 16)             \
    X(reduce_search_columns_sm75_2x2x32_ignore, SEARCH_COLUMNS, 75, 1, 2, 2, 1, 16)                \
    X(reduce_search_columns_sm75_4x4x32_propagate, SEARCH_COLUMNS, 75, 1, 4, 4, 0, 8)              \
    X(reduce_search_columns_sm75_4x4x32_ignore, SEARCH_COLUMNS, 75, 1, 4, 4, 1, 8)                 \
    X(reduce_search_columns_sm75_8x8x32_propagate, SEARCH_COLUMNS, 75, 1, 8, 8, 0, 4)              \
    X(reduce_search_columns_sm75_8x8x32_ignore, SEARCH_COLUMNS, 75, 1, 8, 8, 1, 4)                 \
    X(reduce_search_columns_sm75_16x16x32_propagate, SEARCH_COLUMNS, 75, 1, 16, 16, 0, 2)          \
    X(reduce_search_columns_sm75_16x16x32_ignore, SEARCH_COLUMNS, 75, 1, 16, 16, 1, 2)             \
    /* ROWS; IGNORE */                                                                             \
    X(reduce_search_few_rows_sm75_32x32_propagate, SEARCH_FEW_ROWS, 75, 1, 32, 0)                  \
    X(reduce_search_few_rows_sm75_32x32_ignore, SEARCH_FEW_ROWS, 75, 1, 32, 1)                     \
    X(reduce_search_few_rows_sm75_8x32_propagate, SEARCH_FEW_ROWS, 75, 1, 8, 0)                    \
    X(reduce_search_few_rows_sm75_8x32_ignore, SEARCH_FEW_ROWS, 75, 1, 8, 1)

/* Kernels that read partial results. SEARCH: keys; otherwise sums. */
#define TILEMM__REDUCE_PARTIALS(X)                                                                 \
    X(reduce_sum_partials_tiles_sm75_8x32, PARTIALS_TILES, 75, 1, 0)                               \
    X(reduce_search_partials_tiles_sm75_32x32, PARTIALS_TILES, 75, 1, 1)                           \
    X(reduce_sum_partials_short_sm75_1x32, PARTIALS_SHORT, 75, 1, 0)                               \
    X(reduce_search_partials_short_sm75_1x32, PARTIALS_SHORT, 75, 1, 1)                            \
    X(reduce_sum_partials_transposed_sm75_32x64, PARTIALS_TRANSPOSED, 75, 1, 0)                    \
    X(reduce_search_partials_transposed_sm75_32x64, PARTIALS_TRANSPOSED, 75, 1, 1)                 \
    /* SPLITS of each partial result; ROWS of 32 of them that a warp has */                        \
    X(reduce_sum_partials_last_sm75_1x32_split1, PARTIALS_LAST, 75, 1, 1, 1)                       \
    X(reduce_sum_partials_last_sm75_1x32_split2, PARTIALS_LAST, 75, 1, 2, 1)                       \
    X(reduce_sum_partials_last_sm75_1x32_split4, PARTIALS_LAST, 75, 1, 4, 1)                       \
    X(reduce_sum_partials_last_sm75_2x32_split1, PARTIALS_LAST, 75, 1, 1, 2)                       \
    X(reduce_sum_partials_last_sm75_8x32_split1, PARTIALS_LAST, 75, 1, 1, 8)                       \
    X(reduce_sum_partials_block_sm75_8x32, PARTIALS_BLOCK, 75, 1, 0)                               \
    X(reduce_search_partials_block_sm75_8x32, PARTIALS_BLOCK, 75, 1, 1)

/* Segments: the first two kernels read all elements, the others what those have left. SEARCH. */
#define TILEMM__REDUCE_SEGMENTS(X)                                                                 \
    X(reduce_sum_segments_warp_sm75_16x32, SEGMENTS_WARP, 75, 0, 0)                                \
    X(reduce_search_segments_warp_sm75_16x32, SEGMENTS_WARP, 75, 0, 1)                             \
    X(reduce_sum_segments_group_sm75_32x1x32, SEGMENTS_GROUP, 75, 0, 0)                            \
    X(reduce_search_segments_group_sm75_32x1x32, SEGMENTS_GROUP, 75, 0, 1)                         \
    X(reduce_sum_segments_block_sm75_8x32, SEGMENTS_BLOCK, 75, 0, 0)                               \
    X(reduce_search_segments_block_sm75_8x32, SEGMENTS_BLOCK, 75, 0, 1)                            \
    X(reduce_sum_segments_spans_sm75_8x32, SEGMENTS_SPANS, 75, 0, 0)                               \
    X(reduce_search_segments_spans_sm75_8x32, SEGMENTS_SPANS, 75, 0, 1)

/* ---- all of them ------------------------------------------------------------------------ */

#define TILEMM__REDUCE_ROWS(X)                                                                     \
    TILEMM__REDUCE_SUMS(X)                                                                         \
    TILEMM__REDUCE_SEARCHES(X)                                                                     \
    TILEMM__REDUCE_COLUMNS(X) TILEMM__REDUCE_PARTIALS(X) TILEMM__REDUCE_SEGMENTS(X)

/* The index of a row: TILEMM__reduce_sum_tiles_sm75_32x32_unit and so on. */
#define TILEMM__ENUMERATOR(name, ...) TILEMM__##name,
enum { TILEMM__REDUCE_ROWS(TILEMM__ENUMERATOR) TILEMM__REDUCE_ROW_COUNT };
#undef TILEMM__ENUMERATOR

#endif
