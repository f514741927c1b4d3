/* layout.h - where the elements of a transpose's tiles lie in shared memory: index functions in C99
 * and CUDA, for the kernels and for the bank model's tests.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_LAYOUT_H
#define TILEMM_KERNELS_TRANSPOSE_LAYOUT_H

#include "kernels/layout.h"

/* Tiles of operands whose rows are aligned, kept transposed: tile row c is column c of the source.
 * A row is per_row chunks (8 or 16 bytes) of per_chunk elements. A thread transposes a block of
 * per_chunk x per_chunk in registers and stores its chunks: lanes store to rows per_chunk apart,
 * and then read along one row. By the exclusive or both meet each bank once. The position, in
 * chunks: */
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

TILEMM__LAYOUT int tilemm__transpose_element(int row, int col, int width, int elem_size)
{
    return row * tilemm__transpose_pitch(width, elem_size) + col;
}

/* A tile of a slab in place: SLAB_WIDTH columns of RUN_BYTES bytes. Lanes go along a row; or down a
 * column, element by element; or eight of them down a column, in steps of 16 bytes, in each of four
 * columns side by side, the first a multiple of four. For elements of a word or more an odd pitch
 * is enough. Shorter elements have 8 or 16 rows in 16 bytes: words of a row change places, by
 * exclusive or with bits of the row's number that differ among the lanes of either column access.
 * The index of an element: */
enum { TILEMM__SLAB_WIDTH = 64, TILEMM__RUN_BYTES = 256 };

TILEMM__LAYOUT int tilemm__slab_pitch(int elem_size)
{
    return TILEMM__SLAB_WIDTH + (elem_size < 4 ? 0 : 1);
}

TILEMM__LAYOUT int tilemm__slab_element(int row, int col, int elem_size)
{
    return row * tilemm__slab_pitch(elem_size) +
           (elem_size == 1   ? col ^ (((row >> 1) ^ (row >> 4 & 6)) & 15) << 2
            : elem_size == 2 ? col ^ ((row ^ (row >> 3 & 4)) & 31) << 1
                             : col);
}

/* The index `rows` rows below that of an element, whose row has none of the bits of `rows`. */
TILEMM__LAYOUT int tilemm__slab_below(int index, int rows, int elem_size)
{
    const int step = tilemm__slab_element(rows, 0, elem_size);
    return elem_size < 4 ? index ^ step : index + step;
}

/* Tiles of words of elements of 1 and 2 bytes, each from as many rows of the source: lanes write
 * two or four words side by side, and read columns, of which a tile has `pieces` (4 or 8) of
 * four words, one below the other. By the exclusive or these meet each bank once. The place of
 * column `col` in row `word`: */
TILEMM__LAYOUT int tilemm__transpose_word(int word, int col, int pieces)
{
    return col ^ ((word / 4 & (pieces - 1)) * (32 / pieces));
}

/* Skewed tiles: rows lie `pitch` bytes apart, which agrees with memory modulo 16 bytes, and those
 * of 16 bytes of a column have `pad` bytes behind them. Where row `row` begins: */
TILEMM__LAYOUT int tilemm__skewed_row(int row, int pitch, int pad, int elem_size)
{
    return row * pitch + (int)((unsigned)row / (16u / (unsigned)elem_size)) * pad;
}

/* The column of a skewed tile that a lane of group `group` takes as its number `set`, where a warp
 * has 2^log_groups groups of lanes, 2^log_apart columns apart. */
TILEMM__LAYOUT int tilemm__skewed_column(int set, int group, int log_groups, int log_apart)
{
    const int apart = 1 << log_apart;
    return (set >> log_apart << (log_groups + log_apart)) + group * apart + (set & (apart - 1));
}

#endif
