/* transpose.h - the transpose kernels' parameters, which a plan fills in, and launchers.
 *
 * Pointers are device addresses; sizes, strides and leading dimensions count elements of 1, 2, 4, 8
 * or 16 bytes. Operands are aligned to the element, those of 16 bytes to 8 at least.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_CUDA_TRANSPOSE_H
#define TILEMM_KERNELS_TRANSPOSE_CUDA_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/division.h"
#include "kernels/transpose/inplace.h"
#include "kernels/transpose/layout.h"
#include "kernels/transpose/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads in a block of most kernels. */
enum { TILEMM__TRANSPOSE_THREADS = 256 };

/* Bytes of the matrices of a batch that a block has in shared memory, if they are small. */
enum { TILEMM__TRANSPOSE_BATCH_BYTES = 16384 };

/* How a kernel is launched. */
typedef struct {
    tilemm__transpose_variant_t variant;
    int concurrent; /* it may start while the kernel before still runs (launch.cuh) */
    unsigned blocks;
    unsigned threads; /* of a block: 0 for those of the row, or fewer (few, zip) */
} tilemm__transpose_launch_t;

/* dst (cols x rows) = transpose of src (rows x cols), for each of a batch, and the tiles that cover
 * it. Elements of 4 bytes are floats to be multiplied by alpha where scaled. */
typedef struct {
    const void *src;
    void *dst;
    int64_t rows, cols, batch;
    int64_t ld_src, ld_dst, stride_src, stride_dst;
    int elem_size;
    int scaled;
    float alpha;
    int early;     /* the next kernel's blocks may come before this kernel's have ended */
    int streaming; /* the data should not stay in the L2 cache */
    int halo;      /* rows of a tile beyond the rows that it writes; see the kernel */
    int tile_rows, tile_cols, tile_batch; /* elements of src, matrices */
} tilemm__transpose_tiles_t;

/* ---- out of place --------------------------------------------------------------------------- */

typedef struct {
    tilemm__transpose_tiles_t of;
    tilemm__division_t by_each, by_rows; /* elements of a matrix, rows; for 32-bit indices */
} tilemm__transpose_gather_t;

/* The `total` elements of the result in periods of `period`, of some matrices of `each` elements
 * and of `units` units, which are `step` elements of the source apart. A thread has the same unit
 * of `times` periods, 2^log_beside periods apart: `next` elements of the result, `next_from` of the
 * source. */
typedef struct {
    tilemm__transpose_tiles_t of;
    int total, period, each, units, step;
    int times, log_beside, next, next_from;
    tilemm__division_t by_each, by_rows, by_units;
} tilemm__transpose_repeated_t;

/* tile_batch whole matrices a block. A thread gathers 16 bytes `rounds` times. */
typedef struct {
    tilemm__transpose_tiles_t of;
    tilemm__division_t by_rows, by_cols;
    int rounds;
    int shared; /* bytes of shared memory */
} tilemm__transpose_packed_t;

/* The same, of matrices whose columns lie in shared memory: a thread transposes 8 bytes of 8 rows;
 * of these there are `across` beside each other, and `down` below each other. */
enum { TILEMM__TRANSPOSE_SQUARE_ROWS = 8 };

typedef struct {
    tilemm__transpose_tiles_t of;
    tilemm__division_t by_across, by_down;
    int shared; /* bytes of shared memory */
} tilemm__transpose_columns_t;

/* Tiles of 1- or 2-byte elements, V of which make 16 bytes. of.tile_rows includes of.halo, which is
 * V or, where all rows of the destination are aligned to 16 bytes, or it is flat, 0. flat: ld_dst
 * == rows, and tile_rows too; tile_cols is a multiple of V; `before` columns as a halo, of V - 1
 * elements at least. else: a warp takes 2^log_lanes pieces of 16 bytes one below the other, in
 * columns 2^log_apart apart; a tile has `parts` such groups of pieces in a column. */
typedef struct {
    tilemm__transpose_tiles_t of;
    int pitch;     /* bytes of shared memory from row to row: modulo 16 bytes ld_src */
    int pad;       /* 0 or 16 bytes more after every V rows */
    int together;  /* a tile has whole rows, of pitch ld_src; with a pad, from aligned addresses */
    int log_along; /* else: 2^log_along threads go along a row */
    int before;
    int log_lanes, log_apart;
    int sets, log_across, parts; /* columns that a lane takes, 2^log_across warps side by side */
    tilemm__division_t by_row, by_rows; /* ld_src, if together; rows */
    int shared;                         /* bytes of shared memory */
    uint64_t down, across, tiles;       /* tiles of a column of them, of a row, and in all */
} tilemm__transpose_skewed_t;

/* dst = alpha src, both rows x cols, by units of `unit` bytes, to which every row of both is
 * aligned; src == dst with equal strides is allowed. If zero, dst = +0 and src is not read. */
typedef struct {
    struct {
        const void *src;
        void *dst;
        int64_t rows, cols, batch;
        int64_t ld_src, ld_dst, stride_src, stride_dst;
        int elem_size;
        int unit;       /* 16, or elem_size, or 8 for elements of 16 bytes */
        int block_cols; /* threads of the block along a row: a power of two to 256 */
        int scaled, zero;
        float alpha;
    } of;
    int row_step, col_step; /* from one unit of a thread to its next */
    int tile_rows, tile_cols;
    uint64_t tiles_down, tiles_across, tiles;
} tilemm__transpose_copy_t;

enum { TILEMM__COPY_UNITS = 4 }; /* that a thread moves, all read before any is written */

/* ---- in place ------------------------------------------------------------------------------- */

/* The square matrix a (n x n) becomes its transpose: each block swaps a pair of tiles. */
typedef struct {
    void *a;
    int64_t n, ld;
    int scaled;
    float alpha;
} tilemm__transpose_swap_t;

/* The rows x cols matrix at a becomes its transpose, with another leading dimension. Of
 * g blocks, block b has the tiles b, b + g, b + 2g ..., counted down columns of `down` tiles, and
 * `shared` bytes of shared memory for all of them; or its warps have them in registers, and sizes
 * and leading dimensions are whole squares. */
enum {
    TILEMM__WHOLE_SQUARES_DOWN = 4, /* of a tile, */
    TILEMM__WHOLE_SQUARES_ACROSS = 8,
    TILEMM__WHOLE_WORDS = 48 /* registers of a thread for its squares */
};

typedef struct {
    void *a;
    int64_t rows, cols, ld_src, ld_dst;
    int scaled;
    float alpha;
    int down, tiles;
    tilemm__division_t by_down;
    int shared;
} tilemm__transpose_whole_t;

/* The first `slabs` slabs of the view at a, whose rows have n elements and follow each other; see
 * slabs.cu. wide: all runs are aligned to 16 bytes. counts has a number for each slab, 0 before.
 * The tiles of a slab must not be more than the blocks that run at once. */
typedef struct {
    void *a;
    int64_t n;
    int64_t slabs, fringe; /* fringe: m = slabs * height + fringe */
    int forward;
    int wide;
    unsigned *counts;
} tilemm__transpose_slabs_t;

/* Bytes of dynamic shared memory that a block of that kernel has, at most, and blocks that a
 * multiprocessor takes if it has that. */
enum {
    TILEMM__SLAB_STAGES = 3,
    TILEMM__SLAB_SHARED = TILEMM__SLAB_STAGES * TILEMM__RUN_BYTES * (TILEMM__SLAB_WIDTH + 1),
    TILEMM__SLAB_BLOCKS = 4
};

/* Move all runs, see chains.cu. Run k is at byte k run_bytes + k / slabs gap_bytes. marks has a bit
 * for each run, 0 before, saved has room for every stride-th run. */
typedef struct {
    void *a;
    int64_t n;
    int64_t slabs, gap_bytes;
    int forward;
    uint32_t stride;
    uint32_t *marks;
    void *saved;
    uint32_t slots, samples; /* runs, and those saved */
    uint32_t d, e;           /* forward slabs and n, else n and slabs */
    int64_t run_bytes;       /* of long runs, which have `pieces` pieces; else TILEMM__RUN_BYTES, */
    uint32_t pieces;         /* and 1 */
} tilemm__transpose_chains_t;

/* The move of `total` slots from tilemm__slot(k, width_in, ld_in) to tilemm__slot(k, width_out,
 * ld_out), slots begin to end - 1 of it: the slots that move to a lower place (if rising: higher).
 */
typedef struct {
    void *a;
    int64_t total;
    int64_t width_in, ld_in, width_out, ld_out;
    int64_t begin, end;
    int rising;
    void *workspace;
} tilemm__transpose_move_t;

/* ---- launchers ------------------------------------------------------------------------------ */

/* Launches the kernel of a row of its method with the parameters above, and returns a cudaError_t.
 * swap: also swap_elements; chains: save, then chains, then cycles; move: move_out to the
 * workspace, then move_in. */
typedef int tilemm__transpose_launcher_t(const tilemm__transpose_launch_t *launch,
                                         const void *parameters, void *stream);

tilemm__transpose_launcher_t tilemm__launch_transpose_copy, tilemm__launch_transpose_tile,
    tilemm__launch_transpose_shifted, tilemm__launch_transpose_narrow,
    tilemm__launch_transpose_gather, tilemm__launch_transpose_elements,
    tilemm__launch_transpose_repeated, tilemm__launch_transpose_packed,
    tilemm__launch_transpose_columns, tilemm__launch_transpose_words, tilemm__launch_transpose_few,
    tilemm__launch_transpose_skewed, tilemm__launch_transpose_direct, tilemm__launch_transpose_zip,
    tilemm__launch_transpose_swap, tilemm__launch_transpose_whole, tilemm__launch_transpose_slabs,
    tilemm__launch_transpose_chains, tilemm__launch_transpose_move;

#ifdef __cplusplus
}
#endif

#endif
