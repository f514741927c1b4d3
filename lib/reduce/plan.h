/* plan.h - how reductions are cut into tiles and shared out, on both backends.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_PLAN_H
#define TILEMM_LIB_REDUCE_PLAN_H

#include "kernels/args.h"
#include "kernels/reduce/layout.h"
#include "lib/traits.h"

/* Nothing here changes a result: sums are added in the canonical order of tile_layout.h whatever
 * the plan, and the other reductions do not depend on an order. With any workspace there is a
 * plan. */

/* ---- CPU -------------------------------------------------------------------------------- */

/* Sums of the tiles of a vector, up to so many, and the lanes of a strip lie on the stack. */
enum { TILEMM__REDUCE_STACK_TILES = 1024, TILEMM__REDUCE_STACK_LANES = 12288 };
/* Columns of a strip at most. */
enum { TILEMM__REDUCE_MAX_STRIP = 256 };

typedef enum {
    TILEMM__REDUCE_VECTORS, /* each thread takes whole vectors */
    TILEMM__REDUCE_TILES,   /* one vector at a time: all threads share its tiles */
    TILEMM__REDUCE_STRIPS,  /* down the rows: each thread takes strips of columns */
    TILEMM__REDUCE_PIECES   /* down the rows: pieces of strips, put together afterwards */
} tilemm__reduce_cpu_method_t;

typedef struct {
    tilemm__reduce_cpu_method_t method;
    int threads;
    int64_t panel;      /* TILES: tiles at a time, a multiple of 1024 */
    int64_t strip;      /* STRIPS, PIECES: columns */
    int64_t piece_rows; /* PIECES: rows; one tile if their sums are wanted */
    size_t workspace;   /* bytes that the plan uses; none where the stack does */
} tilemm__reduce_cpu_plan_t;

void tilemm__plan_reduce_cpu(tilemm__reduce_cpu_plan_t *plan, const tilemm__reduce_args_t *args,
                             const tilemm__cpu_traits_t *traits, int threads, size_t workspace);

/* ---- CUDA ------------------------------------------------------------------------------- */

typedef enum {
    TILEMM__STEP_TILES,   /* warps take tiles, or `width` vectors of one short tile each */
    TILEMM__STEP_BLOCK,   /* a block of 32 warps takes a whole vector: this finishes it */
    TILEMM__STEP_EACH,    /* a thread takes vectors of one element */
    TILEMM__STEP_CLUSTER, /* a cluster of blocks does, a warp for each tile */
    TILEMM__STEP_DOWN,    /* a block of `width` warps takes a tile of each of 32 columns */
    TILEMM__STEP_BESIDE   /* a thread takes up to 32 partial results that a step down has left */
} tilemm__reduce_step_kind_t;

/* One launch. It reads the elements, or the partial results of the step before, and leaves `items`
 * partial results of each vector; one is the result. An item is of the elements `tiles` tiles (of a
 * search every items-th `share` of them), of partial results 1024. */
typedef struct {
    tilemm__reduce_step_kind_t kind;
    int width;
    int tiles;      /* of elements for an item: 1 or 32 */
    int share;      /* warps that take them: 1, 2, 4 or 8 */
    int parts;      /* partial results of an item: 1, or 2 or 4 for as many blocks */
    int64_t length; /* of each vector that it reads */
    int64_t items;  /* of each vector; 1 for STEP_BLOCK */
    int64_t place;  /* where its partial results begin in the workspace, in partial results */
} tilemm__reduce_step_t;

/* Each step divides the length by 1024 or more: seven do for any length that 64 bits can hold. */
enum { TILEMM__REDUCE_MAX_STEPS = 7 };

/* For each `vectors` vectors: the first step, or where panel is less than its items the first two,
 * for each `panel` items; then the other steps. */
typedef struct {
    int64_t vectors;
    int64_t panel;
    int64_t room; /* partial results that the workspace holds: so many values, then, where there
                     are counts or indices too, so many of those, of 8 bytes each */
    size_t value_bytes;
    int has_extras;
    int steps;
    tilemm__reduce_step_t step[TILEMM__REDUCE_MAX_STEPS];
    size_t workspace;
} tilemm__reduce_cuda_plan_t;

void tilemm__plan_reduce_cuda(tilemm__reduce_cuda_plan_t *plan, const tilemm__reduce_args_t *args,
                              const tilemm__cuda_traits_t *traits, size_t workspace);

/* Segments, whose lengths only the device knows. Warps take those of up to warp_limit elements,
 * `group` of them at a time. The others they put on two lists: blocks then take whole segments of
 * up to a span, 2^20 elements, from one list and spans of longer segments from the other. What a
 * list has no room for is done by the warp that found it. */
typedef struct {
    int group; /* 1 or 32 */
    int64_t warp_limit;
    int64_t room;      /* of the list of segments */
    int64_t span_room; /* of the list of spans */
    int blocks;        /* that work on the lists */
    size_t workspace;  /* bytes */
} tilemm__segments_cuda_plan_t;

void tilemm__plan_segments_cuda(tilemm__segments_cuda_plan_t *plan,
                                const tilemm__segments_args_t *args,
                                const tilemm__cuda_traits_t *traits, size_t workspace);

#endif
