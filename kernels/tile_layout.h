/* tile_layout.h - where the elements of each tile lie in near memory, as index functions.
 *
 * C99 and CUDA: kernels, CPU packing, the bank model's tests and the documentation use these
 * alike, so that a wrong pad or swizzle is seen with no GPU in sight.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TILE_LAYOUT_H
#define TILEMM_KERNELS_TILE_LAYOUT_H

#include <stdint.h>

#ifdef __CUDACC__
#define TILEMM__LAYOUT static __host__ __device__ __forceinline__
#else
#define TILEMM__LAYOUT static inline
#endif

/* ---- SGEMM: Ms and Ns ------------------------------------------------------------------ */

/* CPU: op(A) and op(B) are packed in panels that are k-major, one panel after the other. A Ms
 * panel has mr rows of op(A), whose elements of one k lie together and are read as broadcasts; a
 * Ns panel has nr columns of op(B), read as vectors with stride one. Panels at the edge are filled
 * up with zeros. The index of an element in its panel: */
TILEMM__LAYOUT int64_t tilemm__cpu_ms_index(int64_t k, int64_t row, int64_t mr)
{
    return k * mr + row;
}

TILEMM__LAYOUT int64_t tilemm__cpu_ns_index(int64_t k, int64_t col, int64_t nr)
{
    return k * nr + col;
}

/* CUDA: the shared tiles Ms[k][m] and Ns[k][n], `width` (32, 64 or 128) elements of m or n to a
 * row. A tile is turned if the operand's rows run along k in memory. Then a warp stores columns of
 * the tile, so the groups of 8 are permuted within each 32, another way for each group of 4 rows:
 * neither the 4-byte stores of a column nor the 16-byte reads of a row conflict. The index of an
 * element in its tile: */
TILEMM__LAYOUT unsigned tilemm__ms_index(unsigned k, unsigned m, unsigned width, int turned)
{
    return k * width + (turned ? m ^ (((k >> 2) & 3) << 3) : m);
}

TILEMM__LAYOUT unsigned tilemm__ns_index(unsigned k, unsigned n, unsigned width, int turned)
{
    return tilemm__ms_index(k, n, width, turned);
}

/* Tiles are fetched in pieces of 128 elements, 4 to each lane of a warp: turned pieces are 16 (k)
 * by 8, others 128 / width (k) by width. `wide` tells how global memory is read: 16 bytes at a
 * time, the lane's elements 0 to 3 being neighbours there; or 4 bytes at a time, the warp's
 * elements of one number lying there in runs of 64 bytes or more. Turned and not wide, or wide and
 * not turned, the lane's four are neighbours in the tile and go there as one. Which element of the
 * tile is number j of a lane: */
TILEMM__LAYOUT unsigned tilemm__fetch_k(unsigned piece, unsigned lane, unsigned j, unsigned width,
                                        int turned, int wide)
{
    if (turned)
        return piece / (width / 8) * 16 + (lane & 3) * 4 + (wide ? j : lane >> 3);
    return (piece * 128 + (wide ? lane * 4 + j : lane + j * 32)) / width;
}

TILEMM__LAYOUT unsigned tilemm__fetch_mn(unsigned piece, unsigned lane, unsigned j, unsigned width,
                                         int turned, int wide)
{
    if (turned)
        return piece % (width / 8) * 8 + (wide ? lane >> 2 : ((lane >> 2) & 1) * 4 + j);
    return (piece * 128 + (wide ? lane * 4 + j : lane + j * 32)) % width;
}

/* A warp multiplies 4 (m) x 8 (n) squares of 4 x 4; which of them is a lane's. Every two
 * neighbours read the same of Ns, and every two that are two apart the same of Ms: so a 16-byte
 * read of either is served by halves, not quarters, of the warp. */
TILEMM__LAYOUT unsigned tilemm__square_m(unsigned lane)
{
    return (lane >> 4) * 2 + (lane & 1);
}

TILEMM__LAYOUT unsigned tilemm__square_n(unsigned lane)
{
    return (lane >> 1) & 7;
}

/* ---- transpose -------------------------------------------------------------------------- */

/* Chunks, for operands whose rows are aligned. The tile is edge x edge elements and is kept
 * transposed: tile row c is column c of the source. A row is per_row chunks (8 or 16 bytes) of
 * per_chunk elements. A thread turns a per_chunk x per_chunk block over in registers and stores
 * its per_chunk chunks; lanes that follow each other store to rows per_chunk apart, and then read
 * along one row. The exclusive or lets both meet each bank once. The position, in chunks: */
TILEMM__LAYOUT int tilemm__transpose_chunk(int row, int chunk, int per_row, int per_chunk)
{
    return row * per_row + (chunk ^ ((row / per_chunk) & (per_row - 1)));
}

/* Elements one by one, for operands that are not aligned. Lanes write along a row of the source
 * and read down its columns: the pitch is an odd number of words (of elements wider than that). */
TILEMM__LAYOUT int tilemm__transpose_pitch(int edge, int elem_size)
{
    return edge + (elem_size < 4 ? 4 / elem_size : 1);
}

/* Strips: a tile that lies as in packed memory, written along its rows by 16 bytes, and read down
 * its columns. Groups of 16 bytes are permuted within each 128, another way in each of 8 such
 * lines. The position of element f, in elements: */
TILEMM__LAYOUT int tilemm__transpose_strip(int f, int elem_size)
{
    return f ^ ((f / (128 / elem_size) & 7) * (16 / elem_size));
}

/* ---- reductions: the canonical tile ------------------------------------------------------ */

/* The canonical tile is 32 rows of 32 lanes, 1024 consecutive elements of a vector: element e of
 * the tile is in lane e % 32, row e / 32. Each lane adds its elements in the order of rows,
 * starting from +0; then lanes are folded by halves: lane l takes lane l + 16, then l + 8, + 4,
 * + 2, + 1; lane 0 holds the tile's sum. Elements past the end of the vector count as +0. The sums
 * of every 32 consecutive tiles are folded by halves in the same way, then those of every 32 such
 * groups, until one number is left. All in FP64; what each addition's rounding loses is summed
 * beside it in the same order, and joins the sum at the very end (reduce_ops.h). */
enum { TILEMM__TILE_LANES = 32, TILEMM__TILE_ROWS = 32, TILEMM__TILE_ELEMS = 1024 };

/* How many tiles a vector of n elements has. An empty one has one: its result is written too. */
TILEMM__LAYOUT int64_t tilemm__tile_count(int64_t n)
{
    return n > 0 ? (n - 1) / TILEMM__TILE_ELEMS + 1 : 1;
}

/* How many numbers are left of m when every 32 have been folded. */
TILEMM__LAYOUT int64_t tilemm__fold_count(int64_t m)
{
    return (m - 1) / TILEMM__TILE_LANES + 1;
}

/* Down the rows of a matrix, `groups` threads share the tile of one column: thread g has the lanes
 * g, g + groups, g + 2 * groups and so on, and folds them until one for each thread is left. These
 * lie in near memory lane by lane, 32 columns wide, so that both who writes and who reads has 32
 * columns side by side. */
enum { TILEMM__DOWN_COLS = 32 };

TILEMM__LAYOUT int tilemm__down_index(int lane, int col)
{
    return lane * TILEMM__DOWN_COLS + col;
}

#endif
