/* plan_pieces_cuda.h - how vectors and segments on the host go through a GPU's memory to be
 * reduced: in pieces of whole vectors, or of parts that begin where the canonical order lets them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_PLAN_PIECES_CUDA_H
#define TILEMM_LIB_REDUCE_PLAN_PIECES_CUDA_H

#include "kernels/reduce/cuda/reduce.h"
#include "lib/plan.h"

/* How the vectors lie. A LINE's elements are contiguous; COLUMNS begin side by side; the elements
 * of the only vector are SPREAD. They are dense on the device. */
typedef enum {
    TILEMM__PIECES_LINES,
    TILEMM__PIECES_COLUMNS,
    TILEMM__PIECES_SPREAD
} tilemm__pieces_kind_t;

typedef struct {
    size_t memory;            /* bytes of the device, at most */
    int x_on_host, y_on_host; /* y of DOT */
    int out_on_host;
    int keeps_parts; /* the partial results of the only vector are wanted */
} tilemm__reduce_places_t;

/* Elements of a partial result that is kept: 32 tiles. */
enum { TILEMM__KEPT_ELEMENTS = TILEMM__TILE_ELEMS * TILEMM__REDUCE_FOLD_TILES };

enum { TILEMM__PIECES_SLOTS = 4 };

typedef struct {
    tilemm__pieces_kind_t kind;
    int64_t vectors;  /* of a piece, at most */
    int64_t elements; /* of each of them, at most: all n, or a multiple of `unit` */
    int in_parts;     /* vectors are divided: pieces leave partial results, one for each unit */
    int64_t unit;
    int64_t ld;            /* on the device, from line to line, or from row to row */
    size_t in_bytes, y_at; /* of a slot; where y begins in it */
    size_t out_bytes;      /* of a slot of values or indices that go down */
    size_t part_bytes;     /* of a slot of partial results */
    size_t bytes;          /* of device memory */
    size_t up, down;       /* bytes moved; partial results not counted */
    int is_narrow;         /* rows are too short for the copy engine */
} tilemm__reduce_pieces_t;

/* Elements begin ... end - 1 of these vectors. */
typedef struct {
    int64_t vector, vectors, begin, end;
    int in_part, is_last; /* of a vector that is divided */
} tilemm__reduce_piece_t;

/* Where the walk is: zeros at the start. */
typedef struct {
    int64_t vector, element;
} tilemm__reduce_walk_t;

/* Whether vectors lie in one of the three ways. */
int tilemm__reduce_is_in_pieces(const tilemm__reduce_args_t *args);

/* TILEMM_OUT_OF_MEMORY if places->memory is too little for the smallest pieces. */
int tilemm__plan_reduce_pieces(const tilemm__reduce_args_t *args,
                               const tilemm__reduce_places_t *places,
                               tilemm__reduce_pieces_t *plan);
/* The next piece; 0 after the last. */
int tilemm__reduce_next(const tilemm__reduce_args_t *args, const tilemm__reduce_pieces_t *plan,
                        tilemm__reduce_walk_t *walk, tilemm__reduce_piece_t *piece);

/* The same of segments, whose offsets the host can read and do not decrease. A piece has whole
 * segments, with all elements that lie between their offsets, or a part of one: begin and end count
 * from x. y_at is where the offsets begin in a slot. */
int tilemm__plan_segments_pieces(const tilemm__segments_args_t *args, const int64_t *offsets,
                                 const tilemm__reduce_places_t *places,
                                 tilemm__reduce_pieces_t *plan);
int tilemm__segments_next(const int64_t *offsets, int64_t segments,
                          const tilemm__reduce_pieces_t *plan, tilemm__reduce_walk_t *walk,
                          tilemm__reduce_piece_t *piece);

/* Partial results in a slot: `entries` of them, with counts or indices if the operation has such.
 */
static inline size_t tilemm__part_bytes(const tilemm__reduce_args_t *args, int64_t entries)
{
    const int search = tilemm__op_is_order(args->op);
    const size_t value = (size_t)entries * (search ? sizeof(int32_t) : sizeof(tilemm__sum_t));
    const int extras = args->index_out || tilemm__sum_is_counted(args->op, args->nan_ignore);
    return (value + 7) / 8 * 8 + (extras ? (size_t)entries * sizeof(int64_t) : 0);
}

static inline tilemm__partials_t tilemm__part_of(const tilemm__reduce_args_t *args, int64_t entries,
                                                 void *memory)
{
    const int search = tilemm__op_is_order(args->op);
    const size_t value = (size_t)entries * (search ? sizeof(int32_t) : sizeof(tilemm__sum_t));
    int64_t *const extras = (int64_t *)(void *)((char *)memory + (value + 7) / 8 * 8);
    if (search)
        return (tilemm__partials_t){.keys = memory, .indices = args->index_out ? extras : NULL};
    return (tilemm__partials_t){
        .sums = memory,
        .counts = tilemm__sum_is_counted(args->op, args->nan_ignore) ? extras : NULL};
}

#endif
