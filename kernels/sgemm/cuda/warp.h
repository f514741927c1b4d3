/* warp.h - invariant products in tiles of a warp, for few tiles, and few rows or columns: the
 * struct that the kernels take, and the launchers. Needs no CUDA header.
 *
 * The planes and sums are those of half_sm90.cu and invariant_sm90.cu, whose rules are in
 * doc/numerics.md: the bits of an element are the same by each, unless a product of the default
 * mode compensates.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_WARP_H
#define TILEMM_KERNELS_SGEMM_CUDA_WARP_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

enum {
    TILEMM__SGEMM_WARP_WARPS_LOG2 = 2,
    TILEMM__SGEMM_WARP_WARPS = 1 << TILEMM__SGEMM_WARP_WARPS_LOG2, /* of a block */
    /* Of a resident kernel: the most columns of op(B), warps of a block and parts of k; the warps
     * of a tile whose parts are shared, and tiles that a group of warps takes by
     * FP16 planes before it takes those by BF16 planes of which these leave something. */
    TILEMM__SGEMM_RESIDENT_COLUMNS = 8,
    TILEMM__SGEMM_RESIDENT_WARPS = 8,
    TILEMM__SGEMM_RESIDENT_PARTS = 16,
    TILEMM__SGEMM_RESIDENT_SLOTS = 4,
    TILEMM__SGEMM_RESIDENT_CHUNK = 32
};

/* What a block of a resident kernel has in shared memory: of each part and column what takes FP16
 * planes back from their scale, the class, and whether BF16 planes overflow; classes of the rows of
 * a warp's part, and of a tile; the tiles that are left. Op(B)'s planes follow, each warp's steps,
 * and if tiles are shared the sums of each warp and of the parts before. */
typedef struct {
    float inverses[TILEMM__SGEMM_RESIDENT_SLOTS][TILEMM__SGEMM_RESIDENT_COLUMNS];
    unsigned char classes[TILEMM__SGEMM_RESIDENT_SLOTS][TILEMM__SGEMM_RESIDENT_COLUMNS];
    unsigned char overflows[TILEMM__SGEMM_RESIDENT_PARTS][TILEMM__SGEMM_RESIDENT_COLUMNS];
    unsigned char part_rows[TILEMM__SGEMM_RESIDENT_WARPS][32];
    unsigned char rows[TILEMM__SGEMM_RESIDENT_WARPS / TILEMM__SGEMM_RESIDENT_SLOTS]
                      [TILEMM__SGEMM_RESIDENT_CHUNK][32];
    unsigned char left[TILEMM__SGEMM_RESIDENT_WARPS / TILEMM__SGEMM_RESIDENT_SLOTS]
                      [TILEMM__SGEMM_RESIDENT_CHUNK];
} tilemm__sgemm_resident_t;

/* C, or C' with the operands exchanged: element (i, j) is c[i * c_m + j * c_n], and args.ldc is not
 * used. 2^slots_log2 warps of a block have a tile, and take turns at its parts of k; the others
 * have the tiles after it. If `half`, there are FP16 planes of parts_half parts of k_half first, as
 * many as warps or fewer; and of what these do not carry BF16 planes of `parts` parts of k_part.
 * With splits > 1 a block has the BF16 planes of parts_split of these parts, whose sums, alpha and
 * beta left out, go to partial[part * batch_count * m * n + i * partial_m + j * partial_n], matrix
 * by matrix. k_half and k_part are multiples of TILEMM__SGEMM_WARP_K.
 *
 * For a team a tile has `splits` blocks, and slots_log2 and parts_split are not used. If
 * `half`, splits and parts_half are 4, and the blocks have a part each of either planes at a time.
 * Else splits is `parts`, 2 or more, and each part's sums go to `partial`.
 *
 * A resident kernel has blocks of `warps` warps; for each matrix, and each part of k if there are
 * `splits`, `shares` blocks that take its per_matrix tiles in turns. If `half`, or if there are
 * several parts and no splits, 2^slots_log2 is SLOTS; else it is 1. Shared memory has room for
 * `planes` times 16 bytes of op(B)'s planes, and is `shared` bytes in all. wide_b, parts_split,
 * tiles and what divides by these are not used. */
typedef struct {
    tilemm__sgemm_args_t args;
    int64_t c_m, c_n;
    int variant;
    int wide_a, wide_b; /* copied 16 bytes at a time */
    int half;
    int compensates; /* what a sum of BF16 planes' products loses is added to the next one: not by
                        the rules, and not done by teams and resident kernels */
    int k_half, k_part, parts_half, parts;
    int slots_log2;
    int splits, parts_split;
    float *partial; /* if splits > 1 */
    int64_t partial_m, partial_n;
    int m_is_short; /* C has fewer rows of tiles than columns, or as many */
    unsigned tiles_short, per_matrix, tiles; /* along the shorter side, in a matrix, in all */
    tilemm__division_t by_tiles_short, by_per_matrix, by_splits;
    unsigned blocks;
    int warps;
    unsigned shares, planes, shared;
    tilemm__division_t by_shares;
} tilemm__sgemm_warp_t;

#ifdef __cplusplus
extern "C" {
#endif

/* They queue on `stream` (a cudaStream_t) and return a cudaError_t. */
int tilemm__sgemm_warp_launch(const tilemm__sgemm_warp_t *problem, void *stream);
int tilemm__sgemm_team_launch(const tilemm__sgemm_warp_t *problem, void *stream);
int tilemm__sgemm_resident_launch(const tilemm__sgemm_warp_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
