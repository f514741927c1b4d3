/* variants.h - every SGEMM kernel for GPUs, a row each: ROW(name, parameters ...). The rows make
 * the kernels (called `name`), the launchers' and the plan's tables, and the numbers that plans
 * store (TILEMM__ and the name).
 *
 * A name has the operation, the method, the least architecture, the tile (rows and columns of C,
 * and the k-step) and other parameters: _nt says that A is not transposed and B is.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_VARIANTS_H
#define TILEMM_KERNELS_SGEMM_VARIANTS_H

#include <stdint.h>

/* The longest k that the kernels' counters hold: 256 GiB of one row. */
#define TILEMM__SGEMM_MOST_K ((int64_t)1 << 36)

/* The most blocks of a cluster that divides k: what every device with clusters can run. */
enum { TILEMM__SGEMM_MOST_CLUSTER = 8 };

/* ---- helpers: C = beta C; the sum of split-K's partial products; aligned copies ----------------
 */

/* ROW(name, threads) */
#define TILEMM__SGEMM_SCALE_ROWS(ROW) ROW(sgemm_scale_sm75, 256)

/* ROW(name, lanes, rows): `rows` rows of `lanes` threads; a row adds up a part of the splits. */
#define TILEMM__SGEMM_SPLITK_ROWS(ROW)                                                             \
    ROW(sgemm_splitk_sm75_256x1, 256, 1)                                                           \
    ROW(sgemm_splitk_sm75_32x8, 32, 8)

/* Copies that the copy engine can read: ROW(name, threads). */
#define TILEMM__SGEMM_ALIGN_ROWS(ROW) ROW(sgemm_align_sm90, 256)

/* ---- FP32 multiply-adds --------------------------------------------------------------------- */

/* ROW(name, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks): a thread computes
 * quads_m x quads_n squares of 4 x 4; each of `groups` groups of threads computes the tile over its
 * part of every k-step; shared memory holds `stages` k-steps; registers suffice for `blocks` blocks
 * on a multiprocessor. A warp of sm80 has 8 x 4 lanes if quads_m < quads_n, else 4 x 8. */
#define TILEMM__SGEMM_FFMA_TILE(ROW, sm, m, n, k, ...)                                             \
    ROW(sgemm_ffma_##sm##_##m##x##n##x##k##_nn, 0, 0, m, n, k, __VA_ARGS__)                        \
    ROW(sgemm_ffma_##sm##_##m##x##n##x##k##_nt, 0, 1, m, n, k, __VA_ARGS__)                        \
    ROW(sgemm_ffma_##sm##_##m##x##n##x##k##_tn, 1, 0, m, n, k, __VA_ARGS__)                        \
    ROW(sgemm_ffma_##sm##_##m##x##n##x##k##_tt, 1, 1, m, n, k, __VA_ARGS__)
#define TILEMM__SGEMM_FFMA_SM75_ROWS(ROW)                                                          \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm75, 128, 128, 16, 2, 2, 1, 2, 2)                                \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm75, 64, 64, 16, 2, 1, 1, 2, 4)                                  \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm75, 128, 32, 16, 2, 1, 1, 2, 4)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm75, 32, 128, 16, 1, 2, 1, 2, 4)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm75, 32, 32, 32, 1, 1, 1, 2, 8)
#define TILEMM__SGEMM_FFMA_SM80_ROWS(ROW)                                                          \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 128, 128, 16, 2, 2, 1, 4, 2)                                \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 128, 64, 16, 2, 2, 1, 3, 4)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 64, 64, 16, 2, 2, 1, 3, 8)                                  \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 64, 64, 32, 2, 2, 2, 3, 4)                                  \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 128, 32, 16, 2, 1, 1, 3, 4)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 32, 128, 16, 1, 2, 1, 3, 4)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 32, 64, 16, 1, 2, 1, 3, 9)                                  \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 32, 32, 16, 1, 1, 1, 3, 10)                                 \
    TILEMM__SGEMM_FFMA_TILE(ROW, sm80, 32, 32, 32, 1, 1, 2, 3, 5)

/* Skinny products C = X Z, Z of at most n columns; _k: X's rows run along k in memory, _m: along m;
 * _aligned: X is read 16 bytes at a time. Of _k:
 * ROW(name, aligned, rows, n, lanes_k, rows of a thread, warps along k), of _m:
 * ROW(name, aligned, rows, n, lanes_m, k-steps of a thread, warps along k). */
#define TILEMM__SGEMM_SKINNY_SHAPE(ROW, rows, n, along, ...)                                       \
    ROW(sgemm_skinny_sm75_##rows##x##n##_##along, 0, rows, n, __VA_ARGS__)                         \
    ROW(sgemm_skinny_sm75_##rows##x##n##_##along##_aligned, 1, rows, n, __VA_ARGS__)
#define TILEMM__SGEMM_SKINNY_K_ROWS(ROW)                                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 2, k, 16, 8, 1)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 4, k, 16, 8, 1)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 8, k, 8, 4, 1)                                            \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 16, k, 8, 4, 1)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 256, 2, k, 8, 8, 1)                                            \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 256, 4, k, 8, 8, 1)                                            \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 4, k, 8, 4, 8)                                             \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 8, k, 8, 4, 8)                                             \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 16, k, 8, 4, 8)
#define TILEMM__SGEMM_SKINNY_M_ROWS(ROW)                                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 2, m, 32, 8, 8)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 4, m, 32, 8, 8)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 8, m, 32, 8, 8)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 16, m, 32, 4, 8)                                          \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 1024, 2, m, 32, 8, 1)                                          \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 1024, 4, m, 32, 8, 1)                                          \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 256, 2, m, 32, 8, 4)                                           \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 256, 4, m, 32, 8, 4)                                           \
    ROW(sgemm_skinny_sm75_64x1_m, 0, 64, 1, 16, 8, 8)                                              \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 4, m, 4, 8, 8)                                             \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 8, m, 4, 4, 8)                                             \
    TILEMM__SGEMM_SKINNY_SHAPE(ROW, 16, 16, m, 4, 4, 8)
/* _long: rows run along k; a block reads a part of k of row after row. ROW(name, aligned, rows, n,
 * rows at a time, threads). */
#define TILEMM__SGEMM_SKINNY_LONG_ROWS(ROW) TILEMM__SGEMM_SKINNY_SHAPE(ROW, 128, 1, long, 4, 1024)

/* Batches of products with m, n and k up to p: ROW(name, trans_a, trans_b, p, threads). */
#define TILEMM__SGEMM_SMALL_BATCH_SIZE(ROW, p, threads)                                            \
    ROW(sgemm_small_batch_sm75_##p##x##p##x##p##_nn, 0, 0, p, threads)                             \
    ROW(sgemm_small_batch_sm75_##p##x##p##x##p##_nt, 0, 1, p, threads)                             \
    ROW(sgemm_small_batch_sm75_##p##x##p##x##p##_tn, 1, 0, p, threads)                             \
    ROW(sgemm_small_batch_sm75_##p##x##p##x##p##_tt, 1, 1, p, threads)
#define TILEMM__SGEMM_SMALL_BATCH_ROWS(ROW)                                                        \
    TILEMM__SGEMM_SMALL_BATCH_SIZE(ROW, 4, 128)                                                    \
    TILEMM__SGEMM_SMALL_BATCH_SIZE(ROW, 8, 128)                                                    \
    TILEMM__SGEMM_SMALL_BATCH_SIZE(ROW, 16, 128)                                                   \
    TILEMM__SGEMM_SMALL_BATCH_SIZE(ROW, 32, 64)

/* A matrix and a few vectors: ROW(name, lanes, columns, threads, width, blocks): `lanes` of a
 * block's threads share a row of the matrix, which they read `width` numbers at a time, for up to
 * `columns` vectors; registers suffice for `blocks` blocks on a multiprocessor. _k: rows run along
 * k; _m: along m, and a thread has `width` of them. */
#define TILEMM__SGEMM_VECTOR_K_ROWS(ROW)                                                           \
    ROW(sgemm_vector_sm75_4_k_aligned, 4, 1, 256, 4, 5)                                            \
    ROW(sgemm_vector_sm75_8_k, 8, 1, 256, 1, 8)                                                    \
    ROW(sgemm_vector_sm75_8_k_aligned, 8, 1, 256, 4, 5)                                            \
    ROW(sgemm_vector_sm75_32_k, 32, 1, 256, 1, 8)                                                  \
    ROW(sgemm_vector_sm75_32_k_aligned, 32, 1, 256, 4, 5)                                          \
    ROW(sgemm_vector_sm75_256_k, 256, 1, 256, 1, 4)                                                \
    ROW(sgemm_vector_sm75_256_k_aligned, 256, 1, 256, 4, 5)                                        \
    ROW(sgemm_vector_sm75_1024_k, 1024, 1, 1024, 1, 1)                                             \
    ROW(sgemm_vector_sm75_1024_k_aligned, 1024, 1, 1024, 4, 1)                                     \
    ROW(sgemm_vector_sm75_32x2_k_aligned, 32, 2, 256, 4, 4)                                        \
    ROW(sgemm_vector_sm75_256x2_k_aligned, 256, 2, 256, 4, 4)                                      \
    ROW(sgemm_vector_sm75_256x4_k_aligned, 256, 4, 256, 4, 3)                                      \
    ROW(sgemm_vector_sm75_256x8_k_aligned, 256, 8, 256, 4, 2)                                      \
    ROW(sgemm_vector_sm75_32x4_k_aligned, 32, 4, 256, 4, 3)
#define TILEMM__SGEMM_VECTOR_M_ROWS(ROW)                                                           \
    ROW(sgemm_vector_sm75_8_m, 8, 1, 256, 1, 4)                                                    \
    ROW(sgemm_vector_sm75_8_m_aligned, 8, 1, 256, 4, 4)                                            \
    ROW(sgemm_vector_sm75_16_m, 16, 1, 256, 1, 4)                                                  \
    ROW(sgemm_vector_sm75_32_m, 32, 1, 256, 1, 4)                                                  \
    ROW(sgemm_vector_sm75_32_m_aligned, 32, 1, 256, 4, 4)                                          \
    ROW(sgemm_vector_sm75_64_m, 64, 1, 256, 1, 4)                                                  \
    ROW(sgemm_vector_sm75_128_m, 128, 1, 1024, 1, 1)                                               \
    ROW(sgemm_vector_sm75_128_m_aligned, 128, 1, 256, 4, 4)                                        \
    ROW(sgemm_vector_sm75_512_m_aligned, 512, 1, 1024, 4, 1)                                       \
    ROW(sgemm_vector_sm75_8x2_m_aligned, 8, 2, 256, 4, 3)                                          \
    ROW(sgemm_vector_sm75_32x2_m_aligned, 32, 2, 256, 4, 3)                                        \
    ROW(sgemm_vector_sm75_128x2_m_aligned, 128, 2, 256, 4, 3)                                      \
    ROW(sgemm_vector_sm75_8x4_m_aligned, 8, 4, 256, 4, 2)                                          \
    ROW(sgemm_vector_sm75_32x4_m_aligned, 32, 4, 256, 4, 2)                                        \
    ROW(sgemm_vector_sm75_128x4_m_aligned, 128, 4, 256, 4, 2)

/* Tiles whose k is shared out among the warps: ROW(name, trans_a, trans_b, rows, columns, blocks):
 * a thread computes rows x columns of C, a warp all of a tile; registers suffice for `blocks`
 * blocks on a multiprocessor. */
#define TILEMM__SGEMM_SLICEK_TILE(ROW, tile, ...)                                                  \
    ROW(sgemm_slicek_sm80_##tile##_nn, 0, 0, __VA_ARGS__)                                          \
    ROW(sgemm_slicek_sm80_##tile##_nt, 0, 1, __VA_ARGS__)                                          \
    ROW(sgemm_slicek_sm80_##tile##_tn, 1, 0, __VA_ARGS__)                                          \
    ROW(sgemm_slicek_sm80_##tile##_tt, 1, 1, __VA_ARGS__)
#define TILEMM__SGEMM_SLICEK_ROWS(ROW)                                                             \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 32x64, 32, 2, 1)                                                \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 16x64, 16, 2, 2)                                                \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 8x64, 8, 2, 3)                                                  \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 32x32, 32, 1, 2)                                                \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 16x32, 16, 1, 3)                                                \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 8x32, 8, 1, 4)                                                  \
    TILEMM__SGEMM_SLICEK_TILE(ROW, 4x32, 4, 1, 6)

/* Sums of few outer products: ROW(name, depth, aligned, blocks): k up to `depth`; _aligned: C is
 * stored 16 bytes at a time; registers suffice for `blocks` blocks on a multiprocessor. */
#define TILEMM__SGEMM_OUTER_DEPTH(ROW, depth, blocks)                                              \
    ROW(sgemm_outer_sm80_##depth, depth, 0, blocks)                                                \
    ROW(sgemm_outer_sm80_##depth##_aligned, depth, 1, blocks)
#define TILEMM__SGEMM_OUTER_ROWS(ROW)                                                              \
    TILEMM__SGEMM_OUTER_DEPTH(ROW, 4, 4)                                                           \
    TILEMM__SGEMM_OUTER_DEPTH(ROW, 8, 3)                                                           \
    TILEMM__SGEMM_OUTER_DEPTH(ROW, 16, 2)                                                          \
    TILEMM__SGEMM_OUTER_DEPTH(ROW, 24, 2)

/* Tiles that fit the matrices: ROW(name, trans_a, trans_b, side, blocks): a thread computes side x
 * side of C; registers suffice for `blocks` blocks of 256 threads on a multiprocessor. */
#define TILEMM__SGEMM_FITTED_SIDE(ROW, side, blocks)                                               \
    ROW(sgemm_fitted_sm80_##side##x##side##_nn, 0, 0, side, blocks)                                \
    ROW(sgemm_fitted_sm80_##side##x##side##_nt, 0, 1, side, blocks)                                \
    ROW(sgemm_fitted_sm80_##side##x##side##_tn, 1, 0, side, blocks)                                \
    ROW(sgemm_fitted_sm80_##side##x##side##_tt, 1, 1, side, blocks)
#define TILEMM__SGEMM_FITTED_ROWS(ROW)                                                             \
    TILEMM__SGEMM_FITTED_SIDE(ROW, 4, 4)                                                           \
    TILEMM__SGEMM_FITTED_SIDE(ROW, 8, 2)

/* A short k, or memory that is not aligned: ROW(name, trans_a, trans_b, rows, columns, warps_m,
 * warps_n, blocks): a thread, or for TF32 a warp, computes rows x columns of C, a block has warps_m
 * x warps_n warps; registers suffice for `blocks` blocks on a multiprocessor. */
#define TILEMM__SGEMM_SHORT_TILE(ROW, kind, tile, ...)                                             \
    ROW(sgemm_short_##kind##sm80_##tile##_nn, 0, 0, __VA_ARGS__)                                   \
    ROW(sgemm_short_##kind##sm80_##tile##_nt, 0, 1, __VA_ARGS__)                                   \
    ROW(sgemm_short_##kind##sm80_##tile##_tn, 1, 0, __VA_ARGS__)                                   \
    ROW(sgemm_short_##kind##sm80_##tile##_tt, 1, 1, __VA_ARGS__)
#define TILEMM__SGEMM_SHORT_ROWS(ROW)                                                              \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 128x128, 16, 4, 8, 1, 2)                                       \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 64x128, 8, 4, 8, 1, 3)                                         \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 128x64, 16, 2, 8, 1, 3)                                        \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 128x32, 16, 1, 8, 1, 4)                                        \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 32x64, 8, 2, 4, 1, 7)                                          \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 16x256, 16, 1, 1, 8, 4)                                        \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 4x256, 4, 1, 1, 8, 8)                                          \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 32x32, 8, 1, 4, 1, 10)                                         \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 16x64, 8, 1, 2, 2, 10)                                         \
    TILEMM__SGEMM_SHORT_TILE(ROW, , 4x64, 4, 1, 1, 2, 16)
#define TILEMM__SGEMM_SHORT_TF32_ROWS(ROW)                                                         \
    TILEMM__SGEMM_SHORT_TILE(ROW, tf32_, 128x128, 32, 64, 4, 2, 2)                                 \
    TILEMM__SGEMM_SHORT_TILE(ROW, tf32_, 64x64, 32, 32, 2, 2, 6)                                   \
    TILEMM__SGEMM_SHORT_TILE(ROW, tf32_, 32x128, 32, 32, 1, 4, 5)

/* ---- tensor cores, BF16 planes made in the kernel -------------------------------------------- */

/* ROW(name, m, n, a_k, b_k, transposed, bulk): the tile m x n, and whether the memory of A and of B
 * runs along k. If `transposed` the kernel computes C' = op(B)' op(A)', m, n, A and B are those of
 * that product, and the name has n x m. With `bulk` there is memory to store C from. */
#define TILEMM__SGEMM_FUSED_TILE(ROW, method, tile, bulk_name, m, n, bulk)                         \
    ROW(sgemm_##method##_sm90_##tile##x32_nn##bulk_name, m, n, 1, 0, 0, bulk)                      \
    ROW(sgemm_##method##_sm90_##tile##x32_nt##bulk_name, m, n, 1, 1, 0, bulk)                      \
    ROW(sgemm_##method##_sm90_##tile##x32_tn##bulk_name, m, n, 0, 0, 0, bulk)                      \
    ROW(sgemm_##method##_sm90_##tile##x32_tt##bulk_name, m, n, 0, 1, 0, bulk)
#define TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, method, tile, m, n)                               \
    ROW(sgemm_##method##_sm90_##tile##x32_nn, m, n, 0, 1, 1, 0)                                    \
    ROW(sgemm_##method##_sm90_##tile##x32_nt, m, n, 1, 1, 1, 0)                                    \
    ROW(sgemm_##method##_sm90_##tile##x32_tn, m, n, 0, 0, 1, 0)                                    \
    ROW(sgemm_##method##_sm90_##tile##x32_tt, m, n, 1, 0, 1, 0)
#define TILEMM__SGEMM_FUSED_ROWS(ROW)                                                              \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 128x128, , 128, 128, 0)                                   \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 128x128, _bulk, 128, 128, 1)                              \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 128x64, , 128, 64, 1)                                     \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 64x64, , 64, 64, 1)                                       \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 256x32, , 256, 32, 0)                                     \
    TILEMM__SGEMM_FUSED_TILE(ROW, fused, 192x64, , 192, 64, 0)                                     \
    TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, fused, 64x192, 192, 64)                               \
    TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, fused, 32x256, 256, 32)                               \
    TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, fused, 64x128, 128, 64)

/* As FUSED_ROWS, of operands whose rows may begin anywhere, and matrices be given by pointers. */
#define TILEMM__SGEMM_UNALIGNED_TILES(ROW, method)                                                 \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 128x128, , 128, 128, 1)                                  \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 128x64, , 128, 64, 1)                                    \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 64x64, , 64, 64, 1)
#define TILEMM__SGEMM_UNALIGNED_ROWS(ROW) TILEMM__SGEMM_UNALIGNED_TILES(ROW, unaligned)
/* The same, rounded to TF32. */
#define TILEMM__SGEMM_TF32_UNALIGNED_ROWS(ROW)                                                     \
    TILEMM__SGEMM_FUSED_TILE(ROW, tf32_unaligned, 128x128, , 128, 128, 0)                          \
    TILEMM__SGEMM_FUSED_TILE(ROW, tf32_unaligned, 128x64, , 128, 64, 0)                            \
    TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, tf32_unaligned, 32x128, 128, 32)

/* As FUSED_ROWS, of operands rounded to TF32: ROW(name, m, n, a_k, b_k, transposed, cluster). The
 * kernel is fastest where its B runs along k, and so is transposed where B does not but A does. The
 * rows of tiles then lie in clusters of blocks that share B; or its columns, and they share A,
 * where a tile has more rows than columns. */
#define TILEMM__SGEMM_TF32_TILE(ROW, m, n, pair, cluster)                                          \
    ROW(sgemm_tf32_sm90_##n##x##m##x32##pair##_nn, m, n, 0, 1, 1, cluster)                         \
    ROW(sgemm_tf32_sm90_##m##x##n##x32##pair##_nt, m, n, 1, 1, 0, cluster)                         \
    ROW(sgemm_tf32_sm90_##m##x##n##x32##pair##_tn, m, n, 0, 0, 0, 1)                               \
    ROW(sgemm_tf32_sm90_##m##x##n##x32##pair##_tt, m, n, 0, 1, 0, cluster)
#define TILEMM__SGEMM_TF32_ROWS(ROW)                                                               \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 256, , 2)                                                    \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 192, , 2)                                                    \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 128, , 2)                                                    \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 64, , 1)                                                     \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 64, _pair, 2)                                                \
    TILEMM__SGEMM_TF32_TILE(ROW, 128, 32, , 1)                                                     \
    TILEMM__SGEMM_TF32_TILE(ROW, 64, 64, , 1)

/* ---- what a product of FP16 planes leaves over ------------------------------------------------
 */

/* ROW(name, m, n, a_k, b_k): as FUSED_ROWS, of hard tiles (route.h); then the exact lines. */
#define TILEMM__SGEMM_REST_ROWS(ROW)                                                               \
    ROW(sgemm_rest_sm90_128x128x32_nn, 128, 128, 1, 0)                                             \
    ROW(sgemm_rest_sm90_128x128x32_nt, 128, 128, 1, 1)                                             \
    ROW(sgemm_rest_sm90_128x128x32_tn, 128, 128, 0, 0)                                             \
    ROW(sgemm_rest_sm90_128x128x32_tt, 128, 128, 0, 1)

/* ---- invariant products ------------------------------------------------------------------------
 */

/* As FUSED_ROWS, with one order of sums: from BF16 planes, and in the same tiles from FP16 planes.
 */
#define TILEMM__SGEMM_INVARIANT_TILES(ROW, method)                                                 \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 128x128, , 128, 128, 1)                                  \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 128x64, , 128, 64, 1)                                    \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 64x64, , 64, 64, 1)                                      \
    TILEMM__SGEMM_FUSED_TILE(ROW, method, 256x32, , 256, 32, 0)                                    \
    TILEMM__SGEMM_FUSED_TRANSPOSED_TILE(ROW, method, 32x256, 256, 32)
#define TILEMM__SGEMM_INVARIANT_ROWS(ROW) TILEMM__SGEMM_INVARIANT_TILES(ROW, invariant)
#define TILEMM__SGEMM_HALF_ROWS(ROW) TILEMM__SGEMM_INVARIANT_TILES(ROW, half)
#define TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(ROW)                                                \
    TILEMM__SGEMM_UNALIGNED_TILES(ROW, invariant_unaligned)

/* Tiles of a warp: ROW(name, trans_a, trans_b, m, n, blocks): registers suffice for `blocks` blocks
 * on a multiprocessor. */
#define TILEMM__SGEMM_WARP_TILE(ROW, kind, tile, ...)                                              \
    ROW(sgemm_##kind##_sm90_##tile##_nn, 0, 0, __VA_ARGS__)                                        \
    ROW(sgemm_##kind##_sm90_##tile##_nt, 0, 1, __VA_ARGS__)                                        \
    ROW(sgemm_##kind##_sm90_##tile##_tn, 1, 0, __VA_ARGS__)                                        \
    ROW(sgemm_##kind##_sm90_##tile##_tt, 1, 1, __VA_ARGS__)
#define TILEMM__SGEMM_WARP_ROWS(ROW)                                                               \
    TILEMM__SGEMM_WARP_TILE(ROW, warp, 32x16, 32, 16, 3)                                           \
    TILEMM__SGEMM_WARP_TILE(ROW, warp, 32x8, 32, 8, 4)                                             \
    TILEMM__SGEMM_WARP_TILE(ROW, warp, 16x8, 16, 8, 4)

/* Such tiles, with a team of warps that share the steps of a part of k: ROW(name, trans_a, trans_b,
 * m, n, warps, each, blocks): up to `each` steps of a warp in a round. */
#define TILEMM__SGEMM_TEAM_ROWS(ROW)                                                               \
    TILEMM__SGEMM_WARP_TILE(ROW, team, 32x8, 32, 8, 8, 4, 1)                                       \
    TILEMM__SGEMM_WARP_TILE(ROW, team, 16x8, 16, 8, 8, 4, 2)

/* Tiles of a warp of a matrix and up to eight vectors, whose planes stay in shared memory:
 * ROW(name, a_k, m): _k says that the matrix runs along k in memory, _m that it runs along m. */
#define TILEMM__SGEMM_RESIDENT_ROWS(ROW)                                                           \
    ROW(sgemm_resident_sm90_32x8_k, 1, 32)                                                         \
    ROW(sgemm_resident_sm90_32x8_m, 0, 32)                                                         \
    ROW(sgemm_resident_sm90_16x8_k, 1, 16)                                                         \
    ROW(sgemm_resident_sm90_16x8_m, 0, 16)

/* Batches of small matrices without gaps: ROW(name, trans_a, trans_b, side, threads): a thread has
 * side x side of C, a block up to `threads`. */
#define TILEMM__SGEMM_PACKED_ROWS(ROW)                                                             \
    ROW(sgemm_packed_sm90_4x4_nn, 0, 0, 4, 1024)                                                   \
    ROW(sgemm_packed_sm90_4x4_nt, 0, 1, 4, 1024)                                                   \
    ROW(sgemm_packed_sm90_4x4_tn, 1, 0, 4, 1024)                                                   \
    ROW(sgemm_packed_sm90_4x4_tt, 1, 1, 4, 1024)

/* The sum of parts of k, ROW(name, threads). FP16 planes made by a pass, ROW(name, threads), and
 * their product, ROW(name, m, n, k). */
#define TILEMM__SGEMM_MAKE_HALF_ROWS(ROW) ROW(sgemm_make_half_sm90, 256)
#define TILEMM__SGEMM_HALF_PARTS_ROWS(ROW) ROW(sgemm_half_parts_sm90, 256)
#define TILEMM__SGEMM_HALF_PLANES_ROWS(ROW)                                                        \
    ROW(sgemm_half_planes_sm90_128x128x64, 128, 128, 64)                                           \
    ROW(sgemm_half_planes_sm90_128x64x64, 128, 64, 64)

/* ---- tensor cores, FP16 planes made by a pass ------------------------------------------------ */

/* Zeros (for other kernels), planes, the judgement of their lines, and the exact lines after the
 * product: ROW(name, threads). */
#define TILEMM__SGEMM_ZERO_ROWS(ROW) ROW(sgemm_zero_sm75, 256)
#define TILEMM__SGEMM_MAKE_PLANES_ROWS(ROW) ROW(sgemm_make_planes_sm80, 256)
#define TILEMM__SGEMM_JUDGE_LINES_ROWS(ROW) ROW(sgemm_judge_lines_sm80, 256)
#define TILEMM__SGEMM_EXACT_LINES_ROWS(ROW) ROW(sgemm_exact_lines_sm80, 256)

/* ROW(name, products, m, n, k, warp_m, warp_n, stages, blocks, promotes): `products` of planes are
 * added (_p3: 3); a warp has warp_m x warp_n of the tile; `blocks` fit a multiprocessor. With one
 * product, `promotes` adds up in registers what each TILEMM__SGEMM_PLANES_BLOCK of k gives. */
#define TILEMM__SGEMM_PLANES_SM80_ROWS(ROW)                                                        \
    ROW(sgemm_planes_sm80_128x128x32_p1, 1, 128, 128, 32, 64, 64, 3, 2, 0)                         \
    ROW(sgemm_planes_sm80_128x128x64_p1, 1, 128, 128, 64, 64, 64, 3, 2, 0)                         \
    ROW(sgemm_planes_sm80_128x128x32_p1_promoted, 1, 128, 128, 32, 64, 32, 3, 1, 1)                \
    ROW(sgemm_planes_sm80_128x128x32_p3, 3, 128, 128, 32, 64, 32, 3, 1, 0)                         \
    ROW(sgemm_planes_sm80_128x128x64_p3, 3, 128, 128, 64, 64, 32, 3, 1, 0)                         \
    ROW(sgemm_planes_sm80_64x64x32_p3, 3, 64, 64, 32, 32, 32, 3, 2, 0)                             \
    ROW(sgemm_planes_sm80_64x64x64_p3, 3, 64, 64, 64, 32, 32, 3, 2, 0)                             \
    ROW(sgemm_planes_sm80_64x64x32_p4, 4, 64, 64, 32, 32, 32, 3, 2, 0)

/* ROW(name, products, m, n, k): a cluster has two blocks side by side (_1x2). */
#define TILEMM__SGEMM_PLANES_SM90_ROWS(ROW)                                                        \
    ROW(sgemm_planes_sm90_128x128x64_p3_1x2, 3, 128, 128, 64)                                      \
    ROW(sgemm_planes_sm90_128x64x64_p3_1x2, 3, 128, 64, 64)                                        \
    ROW(sgemm_planes_sm90_128x128x64_p4_1x2, 4, 128, 128, 64)                                      \
    ROW(sgemm_planes_sm90_128x256x64_p1_1x2, 1, 128, 256, 64)                                      \
    ROW(sgemm_planes_sm90_128x128x64_p1_1x2, 1, 128, 128, 64)

/* ---- all of them ----------------------------------------------------------------------------- */

#define TILEMM__SGEMM_CUDA_ROWS(ROW)                                                               \
    TILEMM__SGEMM_SCALE_ROWS(ROW)                                                                  \
    TILEMM__SGEMM_SPLITK_ROWS(ROW)                                                                 \
    TILEMM__SGEMM_ALIGN_ROWS(ROW)                                                                  \
    TILEMM__SGEMM_FFMA_SM75_ROWS(ROW)                                                              \
    TILEMM__SGEMM_FFMA_SM80_ROWS(ROW)                                                              \
    TILEMM__SGEMM_SKINNY_K_ROWS(ROW)                                                               \
    TILEMM__SGEMM_SKINNY_M_ROWS(ROW)                                                               \
    TILEMM__SGEMM_SKINNY_LONG_ROWS(ROW)                                                            \
    TILEMM__SGEMM_SMALL_BATCH_ROWS(ROW)                                                            \
    TILEMM__SGEMM_VECTOR_K_ROWS(ROW)                                                               \
    TILEMM__SGEMM_VECTOR_M_ROWS(ROW)                                                               \
    TILEMM__SGEMM_SLICEK_ROWS(ROW)                                                                 \
    TILEMM__SGEMM_OUTER_ROWS(ROW)                                                                  \
    TILEMM__SGEMM_FITTED_ROWS(ROW)                                                                 \
    TILEMM__SGEMM_SHORT_ROWS(ROW)                                                                  \
    TILEMM__SGEMM_SHORT_TF32_ROWS(ROW)                                                             \
    TILEMM__SGEMM_FUSED_ROWS(ROW)                                                                  \
    TILEMM__SGEMM_TF32_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_REST_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_UNALIGNED_ROWS(ROW)                                                              \
    TILEMM__SGEMM_TF32_UNALIGNED_ROWS(ROW)                                                         \
    TILEMM__SGEMM_INVARIANT_ROWS(ROW)                                                              \
    TILEMM__SGEMM_HALF_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(ROW)                                                    \
    TILEMM__SGEMM_WARP_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_TEAM_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_RESIDENT_ROWS(ROW)                                                               \
    TILEMM__SGEMM_PACKED_ROWS(ROW)                                                                 \
    TILEMM__SGEMM_ZERO_ROWS(ROW)                                                                   \
    TILEMM__SGEMM_MAKE_PLANES_ROWS(ROW)                                                            \
    TILEMM__SGEMM_JUDGE_LINES_ROWS(ROW)                                                            \
    TILEMM__SGEMM_MAKE_HALF_ROWS(ROW)                                                              \
    TILEMM__SGEMM_HALF_PARTS_ROWS(ROW)                                                             \
    TILEMM__SGEMM_PLANES_SM80_ROWS(ROW)                                                            \
    TILEMM__SGEMM_PLANES_SM90_ROWS(ROW)                                                            \
    TILEMM__SGEMM_HALF_PLANES_ROWS(ROW)                                                            \
    TILEMM__SGEMM_EXACT_LINES_ROWS(ROW)

#define TILEMM__SGEMM_ROW_NUMBER(name, ...) TILEMM__##name,
enum { TILEMM__SGEMM_CUDA_ROWS(TILEMM__SGEMM_ROW_NUMBER) TILEMM__SGEMM_CUDA_VARIANTS };
#undef TILEMM__SGEMM_ROW_NUMBER

#endif
