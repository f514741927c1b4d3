/* rows_cuda.c - see rows_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "rows_cuda.h"

#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/outer.h"
#include "kernels/sgemm/cuda/planes.h"
#include "kernels/sgemm/cuda/rest.h"
#include "kernels/sgemm/cuda/slicek.h"
#include "kernels/sgemm/cuda/vector.h"
#include "kernels/sgemm/cuda/warp.h"
#include "lib/size.h"

#define ROW(...) {__VA_ARGS__},
#define HELPER(row, x) ROW(#row, 0, 0, 0, x, 1, 0, 0, 0)
#define SPLITK(row, lanes, rows) ROW(#row, 0, 0, 0, (lanes) * (rows), 1, 0, 0, 0)
#define FFMA(row, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)             \
    ROW(#row, m, n, k, (m) / (quads_m) * ((n) / (quads_n)) / 16 * (groups), blocks,                \
        ((m) + (n)) * (k) * (stages)*4, 0, groups)
#define SKINNY(row, aligned, rows, n, a, b, c) ROW(#row, rows, n, 4, 256, 2, 0, 0, aligned)
#define SKINNY_LONG(row, aligned, rows, n, at_a_time, threads)                                     \
    ROW(#row, rows, n, 4, threads, 1, 0, 0, aligned)
#define SMALL_BATCH(row, trans_a, trans_b, p, threads) ROW(#row, p, p, p, threads, 1, 0, 0, 0)
/* k: of a time that a block reads. */
#define VECTOR_K(row, lanes, columns, threads, width, blocks)                                      \
    ROW(#row, (threads) / (lanes), columns, (lanes) * (width)*TILEMM__SGEMM_VECTOR_AHEAD_K(width), \
        threads, blocks, 0, 0, (width) == 4)
#define VECTOR_M(row, lanes, columns, threads, width, blocks)                                      \
    ROW(#row, (threads) / (lanes) * (width), columns, (lanes)*TILEMM__SGEMM_VECTOR_AHEAD_M(width), \
        threads, blocks, 0, 0, (width) == 4)
#define SLICEK(row, trans_a, trans_b, rows, columns, blocks)                                       \
    ROW(#row, rows, 32 * (columns), TILEMM__SGEMM_SLICEK_STEP, 32 * TILEMM__SGEMM_SLICEK_WARPS,    \
        blocks, 0, 0, 0)
/* n: a thread's columns. k: the most. */
#define OUTER(row, depth, aligned, blocks)                                                         \
    ROW(#row, 1, TILEMM__SGEMM_OUTER_COLUMNS, depth, TILEMM__SGEMM_OUTER_THREADS, blocks, 0, 0,    \
        aligned)
#define FITTED(row, trans_a, trans_b, side, blocks) ROW(#row, side, side, 4, 256, blocks, 0, 0, 0)
/* Columns are a thread's, 32 apart; of TF32 rows a warp's. */
#define SHORT_OF(apart, row, trans_a, trans_b, rows, columns, warps_m, warps_n, blocks)            \
    ROW(#row, (rows) * (warps_m), (apart) * (columns) * (warps_n), 16, 32 * (warps_m) * (warps_n), \
        blocks, 0, 0, 0)
#define SHORT(...) SHORT_OF(32, __VA_ARGS__)
#define SHORT_TF32(...) SHORT_OF(1, __VA_ARGS__)
/* facet: bulk; of TF32 rows the cluster. Threads: with a feeder, which some do not have. */
#define FUSED(row, m, n, a_k, b_k, transposed, facet)                                              \
    ROW(#row, transposed ? n : m, transposed ? m : n, TILEMM__SGEMM_FUSED_K, ((m) / 64 + 2) * 128, \
        (m) == 64 && (n) == 64 ? 2 : 1, 0, 0, facet)
#define REST(row, m, n, a_k, b_k) ROW(#row, m, n, TILEMM__SGEMM_HARD_K, 384, 1, 0, 0, 0)
#define WARP(row, trans_a, trans_b, m, n, blocks)                                                  \
    ROW(#row, m, n, TILEMM__SGEMM_WARP_K, 32 * TILEMM__SGEMM_WARP_WARPS, blocks, 0, 0, 0)
/* facet: steps of a warp in a round. */
#define TEAM(row, trans_a, trans_b, m, n, warps, each, blocks)                                     \
    ROW(#row, m, n, TILEMM__SGEMM_WARP_K, 32 * (warps), blocks, 0, 0, each)
#define RESIDENT(row, a_k, m)                                                                      \
    ROW(#row, m, 8, TILEMM__SGEMM_WARP_K, 32 * TILEMM__SGEMM_RESIDENT_WARPS, 1, 0, 0, 0)
#define PACKED(row, trans_a, trans_b, side, threads) ROW(#row, side, side, 1, threads, 1, 0, 0, 0)
#define PLANES_SM80(row, products, m, n, k, warp_m, warp_n, stages, blocks, promotes)              \
    ROW(#row, m, n, k, (m) / (warp_m) * ((n) / (warp_n)) * 32, blocks, 0, products, promotes)
#define PLANES_SM90(row, products, m, n, k) ROW(#row, m, n, k, 384, 1, 0, products, 0)
#define HALF_PLANES(row, m, n, k) ROW(#row, m, n, k, 384, 1, 0, 3, 0)

const tilemm__sgemm_row_t tilemm__sgemm_rows[TILEMM__SGEMM_CUDA_VARIANTS] = {
    TILEMM__SGEMM_SCALE_ROWS(HELPER) TILEMM__SGEMM_SPLITK_ROWS(SPLITK) TILEMM__SGEMM_ALIGN_ROWS(
        HELPER) TILEMM__SGEMM_FFMA_SM75_ROWS(FFMA) TILEMM__SGEMM_FFMA_SM80_ROWS(FFMA)
        TILEMM__SGEMM_SKINNY_K_ROWS(SKINNY) TILEMM__SGEMM_SKINNY_M_ROWS(
            SKINNY) TILEMM__SGEMM_SKINNY_LONG_ROWS(SKINNY_LONG)
            TILEMM__SGEMM_SMALL_BATCH_ROWS(SMALL_BATCH) TILEMM__SGEMM_VECTOR_K_ROWS(
                VECTOR_K) TILEMM__SGEMM_VECTOR_M_ROWS(VECTOR_M) TILEMM__SGEMM_SLICEK_ROWS(SLICEK)
                TILEMM__SGEMM_OUTER_ROWS(OUTER) TILEMM__SGEMM_FITTED_ROWS(
                    FITTED) TILEMM__SGEMM_SHORT_ROWS(SHORT)
                    TILEMM__SGEMM_SHORT_TF32_ROWS(SHORT_TF32) TILEMM__SGEMM_FUSED_ROWS(
                        FUSED) TILEMM__SGEMM_TF32_ROWS(FUSED) TILEMM__SGEMM_REST_ROWS(REST)
                        TILEMM__SGEMM_UNALIGNED_ROWS(FUSED) TILEMM__SGEMM_TF32_UNALIGNED_ROWS(
                            FUSED) TILEMM__SGEMM_INVARIANT_ROWS(FUSED)
                            TILEMM__SGEMM_HALF_ROWS(FUSED) TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(
                                FUSED) TILEMM__SGEMM_WARP_ROWS(WARP) TILEMM__SGEMM_TEAM_ROWS(TEAM)
                                TILEMM__SGEMM_RESIDENT_ROWS(RESIDENT) TILEMM__SGEMM_PACKED_ROWS(
                                    PACKED) TILEMM__SGEMM_ZERO_ROWS(HELPER)
                                    TILEMM__SGEMM_MAKE_PLANES_ROWS(
                                        HELPER) TILEMM__SGEMM_JUDGE_LINES_ROWS(HELPER)
                                        TILEMM__SGEMM_MAKE_HALF_ROWS(HELPER)
                                            TILEMM__SGEMM_HALF_PARTS_ROWS(HELPER)
                                                TILEMM__SGEMM_PLANES_SM80_ROWS(PLANES_SM80)
                                                    TILEMM__SGEMM_PLANES_SM90_ROWS(PLANES_SM90)
                                                        TILEMM__SGEMM_HALF_PLANES_ROWS(HALF_PLANES)
                                                            TILEMM__SGEMM_EXACT_LINES_ROWS(HELPER)};

enum {
    TF32_FIRST = TILEMM__sgemm_tf32_sm90_256x128x32_nn,
    REST_FIRST = TILEMM__sgemm_rest_sm90_128x128x32_nn,
    INVARIANT_FIRST = TILEMM__sgemm_invariant_sm90_128x128x32_nn,
    HALF_FIRST = TILEMM__sgemm_half_sm90_128x128x32_nn,
    INVARIANT_UNALIGNED_FIRST = TILEMM__sgemm_invariant_unaligned_sm90_128x128x32_nn,
    INVARIANT_END = TILEMM__sgemm_warp_sm90_32x16_nn,
    UNALIGNED_FIRST = TILEMM__sgemm_unaligned_sm90_128x128x32_nn,
    TF32_UNALIGNED_FIRST = TILEMM__sgemm_tf32_unaligned_sm90_128x128x32_nn,
    ROWS_OF_TILE = 4, /* by transposes */
    NT = 1,
    TN = 2
};

/* Whether a variant computes C' = op(B)' op(A)'. */
static const unsigned char is_transposed[TILEMM__SGEMM_CUDA_VARIANTS] = {
#define TRANSPOSED(row, m, n, a_k, b_k, transposed, facet) [TILEMM__##row] = transposed,
    TILEMM__SGEMM_FUSED_ROWS(TRANSPOSED) TILEMM__SGEMM_UNALIGNED_ROWS(TRANSPOSED)
        TILEMM__SGEMM_TF32_ROWS(TRANSPOSED) TILEMM__SGEMM_TF32_UNALIGNED_ROWS(TRANSPOSED)
            TILEMM__SGEMM_INVARIANT_ROWS(TRANSPOSED) TILEMM__SGEMM_HALF_ROWS(TRANSPOSED)
                TILEMM__SGEMM_INVARIANT_UNALIGNED_ROWS(TRANSPOSED)};

int tilemm__sgemm_resident_blocks(const tilemm__sgemm_row_t *row,
                                  const tilemm__cuda_traits_t *traits)
{
    const size_t reserved = traits->cc >= 80 ? 1024 : 0; /* by the system, for each block */
    const size_t shared = (size_t)row->shared + reserved;
    const int64_t by_shared = shared ? (int64_t)(traits->shared_per_sm / shared) : row->blocks;
    const int64_t by_threads = traits->max_threads_per_sm / row->threads;
    return (int)tilemm__max(1, tilemm__min(row->blocks, tilemm__min(by_threads, by_shared)));
}

int tilemm__sgemm_resident_plan(const tilemm__sgemm_row_t *row, int threads, size_t shared,
                                const tilemm__cuda_traits_t *traits)
{
    tilemm__sgemm_row_t block = *row;
    block.threads = threads;
    block.shared = (int)shared;
    block.blocks = row->blocks * row->threads / threads;
    return tilemm__sgemm_resident_blocks(&block, traits);
}

/* Whether it is a variant of TF32 whose operands the copy engine brings. */
static int is_tf32_aligned(int variant)
{
    return variant >= TF32_FIRST && variant < REST_FIRST;
}

int tilemm__sgemm_is_tf32(int variant)
{
    return is_tf32_aligned(variant) ||
           (variant >= TF32_UNALIGNED_FIRST && variant < INVARIANT_FIRST);
}

int tilemm__sgemm_is_half(int variant)
{
    return variant >= HALF_FIRST && variant < INVARIANT_UNALIGNED_FIRST;
}

int tilemm__sgemm_tf32_converts(int variant)
{
    return is_tf32_aligned(variant) && (variant - TF32_FIRST) % ROWS_OF_TILE == TN;
}

int tilemm__sgemm_tf32_has_tile(int variant)
{
    enum { LEAST_N = 64 };
    return is_tf32_aligned(variant) && (variant - TF32_FIRST) % ROWS_OF_TILE == NT &&
           tilemm__sgemm_rows[variant].n >= LEAST_N;
}

int tilemm__sgemm_reads_unaligned(int variant)
{
    return (variant >= UNALIGNED_FIRST && variant < INVARIANT_FIRST) ||
           (variant >= INVARIANT_UNALIGNED_FIRST && variant < INVARIANT_END);
}

int64_t tilemm__sgemm_pairs(const tilemm__sgemm_row_t *row, int64_t m, int64_t n, int64_t batch)
{
    return tilemm__div_up(m, row->m) *
           tilemm__div_up(n, (int64_t)row->n * TILEMM__SGEMM_STREAM_K_PAIR) * batch;
}

tilemm__sgemm_fused_walk_t tilemm__sgemm_fused_walk(int variant, const tilemm__sgemm_args_t *args)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[variant];
    const int transposed = is_transposed[variant];
    const int64_t rows = tilemm__div_up(args->m, row->m), cols = tilemm__div_up(args->n, row->n);
    const int cluster = is_tf32_aligned(variant) ? row->facet : 1;
    const int cluster_n = tilemm__fused_cluster_n(transposed ? row->n : row->m,
                                                  transposed ? row->m : row->n, cluster);
    const int cluster_m = cluster / cluster_n;
    return (tilemm__sgemm_fused_walk_t){
        .rows = tilemm__div_up(transposed ? cols : rows, cluster_m),
        .cols = tilemm__div_up(transposed ? rows : cols, cluster_n),
        .cluster = cluster,
        .cluster_m = cluster_m,
        .cluster_n = cluster_n,
        .transposed = transposed,
    };
}
