/* cost_cuda.h - what was measured about reductions on a GPU: where one way becomes faster than
 * another.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_COST_CUDA_H
#define TILEMM_LIB_REDUCE_COST_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* Every way reads each element once, and all of them reach the memory's bandwidth for enough
 * elements. The ways differ in what they wait for where elements are few: launches, barriers,
 * multiprocessors that have no work. So there is no estimate of time, and the plan compares sizes
 * with these crossing points. */
typedef struct {
    /* All vectors. */
    int busy_warps;   /* warps for each 64 threads of the device that keep memory busy */
    size_t workspace; /* bytes of partial results; above, more passes cost nothing */
    /* Along vectors. */
    int64_t search_block; /* elements up to which a block searches a vector in one launch */
    int split_tiles;      /* tiles for each busy warp up to which a sum is split */
    int split4_tiles;     /* likewise, up to which it is split in four */
    /* Columns. */
    int column_blocks;   /* blocks for each multiprocessor; with fewer, they have 32 warps */
    int64_t low_rows;    /* rows up to which low columns have 4 warps */
    int64_t narrow_rows; /* rows up to which 1 or 2 warps suffice, if there are enough columns */
    int narrow_columns;  /* enough: blocks for each so many warps that the device holds */
    /* Segments. */
    int group_segments;       /* segments for each warp that the device holds: from here on a warp
                                 takes 32 at a time */
    int busy_segments;        /* likewise: from here on warps take segments of more elements */
    int64_t warp_elements[2]; /* of a segment that a warp takes: with fewer segments, with more */
    int list_blocks;          /* blocks for each multiprocessor that take what the lists hold */
    int64_t list_segments;    /* entries of the list of segments */
} tilemm__reduce_cuda_cost_t;

extern const tilemm__reduce_cuda_cost_t tilemm__reduce_cuda_cost;

#endif
