/* reduce.h - the CUDA kernels of the reductions, as a host compiler sees them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_REDUCE_H
#define TILEMM_KERNELS_REDUCE_CUDA_REDUCE_H

#include "kernels/reduce/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Partial results: number i of vector v at [v * items + i]. Sums have `sums`, and counts where the
 * mean leaves NaN out; searches have `keys`, and indices where those are wanted. What an operation
 * has not is NULL. */
typedef struct {
    tilemm__sum_t *sums;
    int64_t *counts;
    int32_t *keys;
    int64_t *indices;
} tilemm__partials_t;

/* All launchers queue on the stream and return a cudaError_t. Where `to` is NULL each vector has
 * one item, and its result goes to args->out and args->index_out; otherwise the partial results of
 * the items go to *to. */

/* Sums of 32 numbers, tiles or a tile's lanes, may be left in parts, each by a block: of P parts
 * numbers i, i + P, i + 2 * P and so on are folded to part i. Part i of all items of a vector comes
 * before part i + 1. */
enum { TILEMM__MOST_PARTS = 4 };

/* Vectors of floats in `items` each, for `share` warps (1, 2, 4 or 8); of sums an item is 1 or 32
 * tiles, or 32 in 2 or 4 parts, of searches every items-th `share` tiles. Or `width` vectors to a
 * warp: 2, 4, 8, 16 or 32 of at most 1024 / width elements. first_index is added to indices. */
int tilemm__reduce_across(const tilemm__reduce_args_t *args, int width, int tiles, int share,
                          int parts, int64_t items, int64_t first_index,
                          const tilemm__partials_t *to, void *stream);

/* Vectors of one float each, but for DOT. */
int tilemm__reduce_each(const tilemm__reduce_args_t *args, void *stream);

/* Whole vectors of floats that lie side by side, of up to 64 tiles, for sums: a cluster of
 * blocks for each. Needs compute capability 9.0. */
int tilemm__reduce_across_cluster(const tilemm__reduce_args_t *args, void *stream);

/* Whole vectors of floats, of any length, a block of 32 warps for each. */
int tilemm__reduce_across_block(const tilemm__reduce_args_t *args, void *stream);

/* The next levels: of args->count vectors of `length` partial results each, one of every 1024. Of
 * args only op, policy, count, n and where results go count here. */
int tilemm__reduce_partials(const tilemm__reduce_args_t *args, int64_t length,
                            const tilemm__partials_t *from, const tilemm__partials_t *to,
                            void *stream);

/* Whole vectors of partial results, up to 2^15 items each, or 2^10 in parts, a block of up to 32
 * warps for each. */
int tilemm__reduce_partials_block(const tilemm__reduce_args_t *args, int64_t length, int parts,
                                  const tilemm__partials_t *from, void *stream);

/* Vectors that lie side by side, vstride == 1; `warps` of a block share 32 columns: for sums 1
 * to 32 elements, 2 to 128, 4 to 512, 8, or 8 for each of 4 parts, or 32; for searches 4 or 32.
 * Partial results lie as above, or where they are `beside` number i of vector v at [i * count + v].
 */
int tilemm__reduce_down(const tilemm__reduce_args_t *args, int warps, int parts, int beside,
                        int64_t first_index, const tilemm__partials_t *to, void *stream);

/* The results from up to 32 partial results of each vector that lie so. */
int tilemm__reduce_beside(const tilemm__reduce_args_t *args, int64_t length,
                          const tilemm__partials_t *from, void *stream);

/* Segments. The workspace begins with the lists' lengths, then has the list of spans and the list
 * of segments that blocks take. */
#define TILEMM__SEGMENTS_HEAD 64 /* bytes */
#define TILEMM__SPAN_BYTES 40
#define TILEMM__SEGMENT_BYTES 8
#define TILEMM__SEGMENTS_BYTES(room, span_room)                                                    \
    ((size_t)TILEMM__SEGMENTS_HEAD + (size_t)(span_room)*TILEMM__SPAN_BYTES +                      \
     (size_t)(room)*TILEMM__SEGMENT_BYTES)

/* group, warp_limit, room, span_room and blocks are those of the plan; workspace, 16-byte aligned,
 * may be NULL where both rooms are 0. */
int tilemm__reduce_segments(const tilemm__segments_args_t *args, int group, int64_t warp_limit,
                            int64_t room, int64_t span_room, int blocks, void *workspace,
                            void *stream);

#ifdef __cplusplus
}
#endif

#endif
