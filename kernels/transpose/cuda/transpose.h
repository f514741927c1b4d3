/* transpose.h - how lib/ launches the transpose kernels: one struct and one launcher for each.
 *
 * Pointers are device addresses, sizes, strides and leading dimensions count elements, and every
 * launcher returns a cudaError_t. elem_size is 1, 2, 4, 8 or 16; operands are aligned to it, those
 * of 16 bytes to 8 at least.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_CUDA_TRANSPOSE_H
#define TILEMM_KERNELS_TRANSPOSE_CUDA_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/transpose/inplace.h"
#include "kernels/transpose/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads in a block of every kernel here but for those that say otherwise. */
enum { TILEMM__TRANSPOSE_THREADS = 256 };

/* What a strip's tile may hold, in bytes. */
enum { TILEMM__TRANSPOSE_STRIP_BYTES = 16384 };

/* How lanes turn a strip of short elements over, each `together` lines of it: matrices; or in each
 * of `groups` matrices columns, or rows. Element (x, y) of line i is number x + y tile_cols + i
 * in_line as it comes, and y + x tile_rows + i out_line as it goes. A warp takes 32 lanes' lines,
 * of which there are `sets` in a group; where that leaves warps idle, `parts` warps each take
 * `share` of their elements. */
typedef struct {
    int groups, lines, together, sets;
    int in_line, out_line;
    int across, down; /* x and y in a line */
    int parts, share;
} tilemm__transpose_turn_t;

/* dst (cols x rows) = transpose of src (rows x cols), for each of a batch. Elements of 4 bytes are
 * floats to be multiplied by alpha where scaled. */
typedef struct {
    const void *src;
    void *dst;
    int64_t rows, cols, batch;
    int64_t ld_src, ld_dst, stride_src, stride_dst;
    int elem_size;
    int scaled;
    float alpha;
    int access;    /* chunks: the bytes that every row of both operands is aligned to, 8 or 16 */
    int streaming; /* chunks: the data should not stay in the L2 cache */
    int halo;      /* shifted: elements, of together 16 or 32 bytes; 0: dst is aligned to a chunk */
    /* Strips only: the tile, in elements and matrices, and the bytes at once on either side: 16
     * where every line of the tile (see the kernel) is aligned to that, or an element. */
    int tile_rows, tile_cols, tile_batch, unit_in, unit_out;
} tilemm__transpose_launch_t;

/* Through 8- or 16-byte chunks; the tile's edge is 256, 128, 64, 32, 32 for elements of 1 to 16
 * bytes, or small: 128, 64, 32, 32, 16. */
int tilemm__launch_transpose_chunks(const tilemm__transpose_launch_t *launch, void *stream);
/* The same where rows are not aligned, with tiles of 128 x 128, 256 x 64, 128 x 64, 64 x 32 for
 * elements of 1 to 8 bytes. */
int tilemm__launch_transpose_shifted(const tilemm__transpose_launch_t *launch, void *stream);
/* Element by element, of up to 8 bytes; tiles of 128 x 32 or 32 x 128. */
int tilemm__launch_transpose_narrow(const tilemm__transpose_launch_t *launch, void *stream);
/* Matrices with few rows or columns, and batches of small ones: a tile of any shape. Elements of 4
 * bytes or more; access is 8 or 16 for those of 16. */
int tilemm__launch_transpose_strip(const tilemm__transpose_launch_t *launch, void *stream);
/* The same for elements of 1 or 2 bytes. */
int tilemm__launch_transpose_short(const tilemm__transpose_launch_t *launch,
                                   const tilemm__transpose_turn_t *turn, void *stream);
/* 16 bytes of the result for a thread; see transpose_gather.cu for what it asks. */
int tilemm__launch_transpose_gather(const tilemm__transpose_launch_t *launch, void *stream);

/* dst = alpha src, both rows x cols, by units of `unit` bytes, to which every row of both is
 * aligned; src == dst with equal strides is allowed. If zero, dst = +0 and src is not read. */
typedef struct {
    const void *src;
    void *dst;
    int64_t rows, cols, batch;
    int64_t ld_src, ld_dst, stride_src, stride_dst;
    int elem_size;
    int unit;       /* 16, or elem_size, or 8 for elements of 16 bytes */
    int block_cols; /* how many of the block's threads lie along a row: a power of two to 256 */
    int scaled, zero;
    float alpha;
} tilemm__transpose_copy_t;

int tilemm__launch_transpose_copy(const tilemm__transpose_copy_t *launch, void *stream);

/* The square matrix a (n x n) becomes its transpose, in place: each block swaps a pair of tiles.
 * access is 8 or 16 for the chunk kernel (tile edge 128, 64, 64, 32, 32 for 1 to 16 bytes), 0 for
 * element by element (edge 64, 64, 64, 32; not for elements of 16 bytes). */
typedef struct {
    void *a;
    int64_t n, ld;
    int elem_size;
    int access;
    int scaled;
    float alpha;
} tilemm__transpose_swap_t;

int tilemm__launch_transpose_swap(const tilemm__transpose_swap_t *launch, void *stream);

/* ---- in place, rectangular: see inplace.h for the maps ------------------------------------- */

/* Two passes (see transpose_panels.cu): panels of as many rows as make a run of this many bytes,
 * transposed by tiles of TILEMM__PANEL_WIDTH columns; then the runs are moved. */
enum { TILEMM__RUN_BYTES = 256 };

/* The shared memory of a block, at most, and blocks that a multiprocessor takes if it has that. */
enum {
    TILEMM__PANEL_STAGES = 3,
    TILEMM__PANEL_SHARED = TILEMM__PANEL_STAGES * TILEMM__RUN_BYTES * (TILEMM__PANEL_WIDTH + 1),
    TILEMM__PANEL_BLOCKS = 4
};

/* The first `panels` panels of the view at a, whose rows have n elements, which follow each other.
 * wide: all runs are aligned to 16 bytes. counts has room for a number for each panel. The tiles of
 * a panel must not be more than the blocks that run at once. */
typedef struct {
    void *a;
    int64_t n;
    int64_t panels, rest; /* rest: rows left over, m = panels * height + rest */
    int forward;
    int wide;
    int elem_size;
    unsigned *counts;
} tilemm__transpose_panels_t;

int tilemm__launch_transpose_panels(const tilemm__transpose_panels_t *launch, void *stream);

/* Move all runs. unit is what they are aligned to, up to 8 bytes. marks has room for a bit for each
 * run, saved for every stride-th run. */
typedef struct {
    void *a;
    int64_t n;
    int64_t panels, rest_bytes;
    int forward;
    int unit;
    uint32_t stride;
    uint32_t *marks;
    void *saved;
} tilemm__transpose_chains_t;

int tilemm__launch_transpose_chains(const tilemm__transpose_chains_t *launch, void *stream);

/* The row that a column operation reads row i of column j from. */
enum {
    TILEMM__COLUMNS_SAME,      /* i */
    TILEMM__COLUMNS_UP,        /* (i + j / div) mod m */
    TILEMM__COLUMNS_DOWN,      /* (i - j / div) mod m */
    TILEMM__COLUMNS_PERMUTED,  /* permuted(i) */
    TILEMM__COLUMNS_UNPERMUTED /* unpermuted(i) */
};

/* out(i, j) = in(source(i, j), j) for all rows i and `width` columns j, counted from `first` in the
 * map. in and out do not overlap. */
typedef struct {
    const void *in;
    void *out;
    int64_t ld_in, ld_out;
    int64_t first, width;
    int64_t div;
    int source;
    int elem_size;
    tilemm__inplace_t view;
} tilemm__transpose_columns_t;

int tilemm__launch_transpose_columns(const tilemm__transpose_columns_t *launch, void *stream);

/* Shuffle the rows of the view at a: forward, new(i, target(i, j)) = old(i, j); else
 * new(i, j) = old(i, target(i, j)). rows_per_block rows at a time lie in shared memory. */
typedef struct {
    void *a;
    int64_t ld;
    int forward;
    int rows_per_block;
    int elem_size;
    tilemm__inplace_t view;
} tilemm__transpose_rows_t;

int tilemm__launch_transpose_rows(const tilemm__transpose_rows_t *launch, void *stream);

/* The same from rows `in` to rows `out`, which do not overlap: `count` rows from row `first` on. */
typedef struct {
    const void *in;
    void *out;
    int64_t ld_in, ld_out;
    int64_t first, count;
    int forward;
    int elem_size;
    tilemm__inplace_t view;
} tilemm__transpose_long_rows_t;

int tilemm__launch_transpose_long_rows(const tilemm__transpose_long_rows_t *launch, void *stream);

/* Rotate the columns of the view, with no workspace: two passes that reverse columns, and then
 * their two parts. Up: new(i, j) = old((i + j / div) mod m, j); down: minus. */
typedef struct {
    void *a;
    int64_t m, n, ld;
    int64_t div;
    int up;
    int elem_size;
} tilemm__transpose_rotate_t;

int tilemm__launch_transpose_rotate(const tilemm__transpose_rotate_t *launch, void *stream);

/* Permute the rows of the view, with no workspace, by following cycles:
 * new row i = old row permuted(i) if forward, unpermuted(i) if not. */
typedef struct {
    void *a;
    int64_t ld;
    int forward;
    int elem_size;
    tilemm__inplace_t view;
} tilemm__transpose_cycles_t;

int tilemm__launch_transpose_cycles(const tilemm__transpose_cycles_t *launch, void *stream);

/* Runs of `length` slots change places, as the elements of a chunks x n matrix do that is
 * transposed (forward), or of an n x chunks matrix (not forward). Slot k is at
 * tilemm__slot(k, n, ld). A block takes `slice` elements of every run into shared memory. */
typedef struct {
    void *a;
    int64_t n, ld;
    int64_t chunks, length;
    int forward;
    int slice; /* a power of two */
    int elem_size;
} tilemm__transpose_runs_t;

int tilemm__launch_transpose_runs(const tilemm__transpose_runs_t *launch, void *stream);

/* The move of `total` slots from tilemm__slot(k, width_in, ld_in) to tilemm__slot(k, width_out,
 * ld_out). With workspace, an interval of slots at a time: first those of its slots that fall
 * (or, if rising, rise) go to the workspace, then from there to their places. */
typedef struct {
    void *a;
    int64_t total;
    int64_t width_in, ld_in, width_out, ld_out;
    int elem_size;
} tilemm__transpose_move_t;

int tilemm__launch_transpose_move(const tilemm__transpose_move_t *move, int64_t begin, int64_t end,
                                  int rising, void *workspace, void *stream);

/* The whole move by a single block, with no workspace: slow. */
int tilemm__launch_transpose_move_alone(const tilemm__transpose_move_t *move, void *stream);

#ifdef __cplusplus
}
#endif

#endif
