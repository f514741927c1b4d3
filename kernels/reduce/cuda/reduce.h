/* reduce.h - the CUDA kernels of the reductions as a host compiler sees them: the structs that they
 * work on, and how one is launched.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_REDUCE_H
#define TILEMM_KERNELS_REDUCE_CUDA_REDUCE_H

#include "kernels/reduce/ops.h"
#include "kernels/reduce/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__REDUCE_WARPS = 8,              /* of most blocks */
    TILEMM__REDUCE_BLOCK_WARPS = 32,       /* of blocks that take a whole vector, at most */
    TILEMM__REDUCE_CLUSTER = 8,            /* blocks of a cluster, the most that is portable */
    TILEMM__REDUCE_SPLITS = 4,             /* of an item, at most */
    TILEMM__REDUCE_FOLD_TILES = 32,        /* tiles of an item whose sums a block folds */
    TILEMM__REDUCE_LAST_PARTIALS = 8192,   /* of a vector that PARTIALS_LAST takes, at most */
    TILEMM__REDUCE_BLOCK_PARTIALS = 32768, /* likewise PARTIALS_BLOCK */
    TILEMM__REDUCE_SINGLE_VECTORS = 4,     /* of a thread */
    TILEMM__REDUCE_FEW_THREADS = 128,      /* of a block of FEW_ROWS */
    TILEMM__REDUCE_NARROW_COLS = 64,       /* columns that SUM_NARROW takes, at most */
    TILEMM__REDUCE_NARROW_THREADS = 512,   /* of a block of it, at most */
    TILEMM__REDUCE_TRANSPOSED_THREADS = 64 /* of a block of PARTIALS_TRANSPOSED */
};

/* Partial results: number i of vector v at [v * items + i], or at [i * vectors + v] if they are
 * `transposed`. Sums have `sums`, and `counts` for the mean that leaves NaN out; searches have
 * `keys`, and `indices` where those are wanted. The other pointers are NULL. As a kernel's `to`,
 * all NULL: each vector has one item, and its result goes to args.out and args.index_out.
 *
 * An item's sum may be split among S = 2 or 4 blocks: split i has every S-th of the 32 numbers that
 * are folded, from number i on. Split i of all items of a vector lies before split i + 1. */
typedef struct {
    tilemm__sum_t *sums;
    int64_t *counts;
    int32_t *keys;
    int64_t *indices;
} tilemm__partials_t;

/* Segments. The workspace holds two lists, of which `taken` counts the entries: [0] spans, 2^20
 * elements each, of long segments, [1] segments that blocks take; perhaps more than they hold. */
typedef struct {
    unsigned long long *taken;
    int64_t *span_segment; /* the segment of each span, -1 for none */
    int64_t *span_number;  /* which span of it */
    union {
        tilemm__sum_t *sums; /* of the span */
        int32_t *keys;
    } value;
    int64_t *counts;
    int64_t *segments;
    int64_t span_room, room; /* entries that each list holds */
} tilemm__segment_lists_t;

enum {
    TILEMM__SPAN_TILES = 1024,
    TILEMM__LISTS_HEAD = 64, /* bytes, for `taken` */
    TILEMM__SPAN_BYTES = sizeof(tilemm__sum_t) + 3 * sizeof(int64_t),
    TILEMM__SEGMENT_BYTES = sizeof(int64_t)
};

/* The kernels; launch.cu lists their parameters. */
typedef enum {
    TILEMM__SUM_TILES,
    TILEMM__SUM_SPLIT,           /* items of 32 tiles */
    TILEMM__SUM_CLUSTER,         /* contiguous vectors of up to 64 tiles */
    TILEMM__SUM_SHORT,           /* vectors of up to 1024 / VECTORS elements */
    TILEMM__SUM_BLOCK,           /* any vectors */
    TILEMM__SINGLE,              /* vectors of one element */
    TILEMM__SEARCH_TILES,        /* an item has tiles (i + j * items) * warps and the following
                                    ones, `warps` in all, for j = 0, 1, ... */
    TILEMM__SEARCH_HELD,         /* items of 8 tiles */
    TILEMM__SEARCH_CLUSTER,      /* vectors of up to 64 tiles */
    TILEMM__SEARCH_SHORT,        /* as SUM_SHORT */
    TILEMM__SEARCH_BLOCK,        /* any vectors */
    TILEMM__SUM_COLUMNS,         /* vectors whose first elements are contiguous (vstride is 1) */
    TILEMM__SUM_TWO_TILES,       /* likewise, of 1025 to 2048 elements */
    TILEMM__SUM_NARROW,          /* as SUM_COLUMNS, of few columns */
    TILEMM__SUM_LOW_COLUMNS,     /* as SUM_COLUMNS, of up to 32 * ROWS elements */
    TILEMM__SUM_FEW_ROWS,        /* as SUM_COLUMNS, of up to ROWS elements; loops */
    TILEMM__SEARCH_COLUMNS,      /* as SUM_COLUMNS */
    TILEMM__SEARCH_FEW_ROWS,     /* as SUM_FEW_ROWS */
    TILEMM__PARTIALS_TILES,      /* of every 1024 of `length` partial results one is left */
    TILEMM__PARTIALS_SHORT,      /* of up to `group` one is left */
    TILEMM__PARTIALS_TRANSPOSED, /* a thread a vector: up to 32 */
    TILEMM__PARTIALS_LAST,       /* a block a vector: up to 1024 * ROWS sums */
    TILEMM__PARTIALS_BLOCK,      /* a block a vector: up to 2^15 sums, any number of keys */
    TILEMM__SEGMENTS_WARP,       /* a warp takes a segment; those of more than warp_limit elements
                                    are put on the lists if those have room */
    TILEMM__SEGMENTS_GROUP,      /* likewise; a warp takes 32 segments */
    TILEMM__SEGMENTS_BLOCK,      /* blocks take what the lists hold */
    TILEMM__SEGMENTS_SPANS       /* the spans of each segment become its result */
} tilemm__reduce_kernel_t;

typedef struct {
    int variant; /* row of variants.h */
    tilemm__reduce_kernel_t kernel;
    int threads;    /* of a block */
    int cluster;    /* blocks of a cluster */
    size_t shared;  /* bytes of dynamic shared memory */
    int concurrent; /* may begin before the kernel before it has ended */
    int64_t blocks;

    /* What kernels take, as launch.cu lists it. */
    union {
        struct { /* of vectors */
            /* Kernels that read partial results use op, nan_ignore, count, n, and where results
             * go. */
            tilemm__reduce_args_t args;
            int64_t length;      /* elements or partial results of a vector */
            int64_t tiles;       /* of 1024 of them: of a vector */
            int64_t columns;     /* of blocks: count / 32, rounded up */
            int64_t items;       /* of a vector */
            int item_tiles;      /* 1, or 32 */
            int warps;           /* of a block that take an item: 1, 2, 4 or 8 */
            int group;           /* a power of two up to 32 */
            int64_t most_blocks; /* of FEW_ROWS */
            int transposed;      /* the partial results `to` */
            int64_t first_index; /* of element 0, in searches of parts of vectors */
            tilemm__partials_t from, to;
        };
        struct { /* of segments: TILEMM__SEGMENTS_... */
            tilemm__segments_args_t segments;
            int64_t warp_limit;
            tilemm__segment_lists_t lists;
        };
    };
} tilemm__reduce_launch_t;

/* Queue the kernel on the stream. Returns a cudaError_t. */
int tilemm__reduce_launch(const tilemm__reduce_launch_t *launch, void *stream);

/* The kernel of a row, or NULL if the file has not that row: sums.cu, searches.cu and so on. */
const void *tilemm__reduce_sum_kernel(int variant);
const void *tilemm__reduce_search_kernel(int variant);
const void *tilemm__reduce_column_kernel(int variant);
const void *tilemm__reduce_partial_kernel(int variant);
const void *tilemm__reduce_segment_kernel(int variant);

#ifdef __cplusplus
}
#endif

#endif
