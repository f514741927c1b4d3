/* layout.h - where the elements of SGEMM's tiles and panels lie in near memory, as index functions
 * in C99 and CUDA: kernels, CPU packing, the bank model's tests and the documentation use the same
 * ones.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_LAYOUT_H
#define TILEMM_KERNELS_SGEMM_LAYOUT_H

#include "kernels/layout.h"

/* ---- SGEMM on the CPU: panels ------------------------------------------------------------ */

/* op(A) and op(B) are packed in panels that are k-major, one panel after the other. A Ms
 * panel has mr rows of op(A), whose elements of one k lie together and are read as broadcasts; a
 * Ns panel has nr columns of op(B), read as vectors with stride one. What fills panels
 * up at the edge does not matter. The index of an element in its panel: */
TILEMM__LAYOUT int64_t tilemm__cpu_ms_index(int64_t k, int64_t row, int64_t mr)
{
    return k * mr + row;
}

TILEMM__LAYOUT int64_t tilemm__cpu_ns_index(int64_t k, int64_t col, int64_t nr)
{
    return k * nr + col;
}

/* ---- SGEMM by FFMA: Ms and Ns ------------------------------------------------------------ */

/* The shared tiles Ms[k][m] and Ns[k][n], `width` (32, 64 or 128) elements of m or n to a
 * row. A tile is transposed if the operand's rows run along k in memory. Then a warp stores columns
 * of the tile, so the groups of 8 are permuted within each 32, another way for each group of 4
 * rows: neither the 4-byte stores of a column nor the 16-byte reads of a row conflict. The index of
 * an element in its tile: */
TILEMM__LAYOUT unsigned tilemm__ms_index(unsigned k, unsigned m, unsigned width, int transposed)
{
    return k * width + (transposed ? m ^ (((k >> 2) & 3) << 3) : m);
}

TILEMM__LAYOUT unsigned tilemm__ns_index(unsigned k, unsigned n, unsigned width, int transposed)
{
    return tilemm__ms_index(k, n, width, transposed);
}

/* Tiles are fetched in pieces of 128 elements, 4 to each lane of a warp: transposed pieces are 16
 * (k) by 8, others 128 / width (k) by width. `wide` tells how global memory is read: 16 bytes at a
 * time, the lane's elements 0 to 3 being neighbours there; or 4 bytes at a time, the warp's
 * elements of one number lying there in runs of 64 bytes or more. Turned and not wide, or wide and
 * not transposed, the lane's four are neighbours in the tile and go there as one. Which element of
 * the tile is number j of a lane: */
TILEMM__LAYOUT unsigned tilemm__fetch_k(unsigned piece, unsigned lane, unsigned j, unsigned width,
                                        int transposed, int wide)
{
    if (transposed)
        return piece / (width / 8) * 16 + (lane & 3) * 4 + (wide ? j : lane >> 3);
    return (piece * 128 + (wide ? lane * 4 + j : lane + j * 32)) / width;
}

TILEMM__LAYOUT unsigned tilemm__fetch_mn(unsigned piece, unsigned lane, unsigned j, unsigned width,
                                         int transposed, int wide)
{
    if (transposed)
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

/* ---- SGEMM by FFMA, filled by copies ------------------------------------------------------ */

/* For compute capability 8.0 and more, whose tiles are filled by asynchronous copies. A shared tile
 * has `width` (a multiple of 32) elements of m or n to a row of one k. It is transposed
 * if the operand's rows run along k in memory: then it is filled 8 (k) x 4 (m or n) elements at a
 * time, and the groups of 4 are permuted within each 32, another way for each k % 8, so that those
 * 32 elements meet every bank once. Reads are along a row, and whole groups of 4: the permutation
 * does not touch them. The index of an element in its tile: */
TILEMM__LAYOUT unsigned tilemm__ffma_index(unsigned k, unsigned mn, unsigned width, int transposed)
{
    return k * width + (transposed ? mn ^ ((k & 7) << 2) : mn);
}

/* A thread copies elements of some lines of the operand in memory (a line is one m or n if
 * transposed, one k if not), and of each the elements a constant apart. The copies are of 16 bytes
 * if `wide`, for tiles that are not transposed, else of 4. Which line, and which element of the
 * line: */
TILEMM__LAYOUT unsigned tilemm__ffma_line(unsigned thread, unsigned i, unsigned width,
                                          unsigned warps, int transposed, int wide)
{
    if (transposed)
        return i * 4 * warps + thread / 8;
    return wide ? (i * 128 * warps + thread * 4) / width : i * warps + thread / 32;
}

TILEMM__LAYOUT unsigned tilemm__ffma_along(unsigned thread, unsigned j, unsigned width,
                                           int transposed, int wide)
{
    if (transposed)
        return j * 8 + thread % 8;
    return wide ? thread * 4 % width : j * 32 + thread % 32;
}

/* A warp multiplies lanes_m x (32 / lanes_m) squares of 4 x 4, lanes_m being 4 or 8; which of them
 * is a lane's. Pairs of lanes read the same of either tile, as tilemm__square_m() explains. */
TILEMM__LAYOUT unsigned tilemm__ffma_square_m(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_n(lane) : tilemm__square_m(lane);
}

TILEMM__LAYOUT unsigned tilemm__ffma_square_n(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_m(lane) : tilemm__square_n(lane);
}

/* ---- SGEMM by FFMA: matrices of up to 32 x 32 --------------------------------------------- */

/* A matrix is p (4, 8, 16 or 32) rows of p words, as it is stored. The pieces of 4 words of a row
 * change places by exclusive or, another way for each 4 rows, so that 8 lanes that read pieces side
 * by side in one row, or the same piece of every fourth row, meet no bank twice. The word at which
 * the piece begins that has this column: */
TILEMM__LAYOUT int tilemm__small_batch_piece(int row, int column, int p)
{
    return row * p + (((column / 4) ^ (row / 4 % (p / 4))) * 4);
}

/* Words from matrix to matrix: where 8 lanes span several, they must not share banks. Copies of
 * matrices of 4 x 4 take twice the wavefronts that they need for it. */
TILEMM__LAYOUT int tilemm__small_batch_pitch(int p)
{
    return p * p + (p == 4 ? 4 : p == 8 ? 8 : 0);
}

/* ---- SGEMM by FFMA: skinny products ---------------------------------------------------------- */

/* Z has n (1, 4, 8 or 16) columns, and stands in shared memory so many steps of k at a time: */
TILEMM__LAYOUT int tilemm__skinny_depth(int n)
{
    return n == 1 ? 4096 : n <= 4 ? 1024 : 512;
}

/* Either `lanes` lanes stand along k and read 4 words of
 * one column each: a column is a row of the tile. With lanes of 0 they read all columns of one k.
 * Rows are 4 words longer than they need, so that lanes on 8 of them do not meet in a bank. */
TILEMM__LAYOUT int tilemm__skinny_pitch(int n, int lanes)
{
    return lanes ? tilemm__skinny_depth(n) + 4 : n == 1 ? 1 : n + 4;
}

/* The word of (k, column). Where lanes read X by single words (not `wide`), the four of a lane are
 * `lanes` apart in k, and stand side by side here. */
TILEMM__LAYOUT int tilemm__skinny_index(int k, int column, int pitch, int lanes, int wide)
{
    if (!lanes)
        return k * pitch + column;
    if (!wide)
        k = k / (4 * lanes) * (4 * lanes) + k % lanes * 4 + k / lanes % 4;
    return column * pitch + k;
}

/* ---- SGEMM by FFMA: gathered lines --------------------------------------------------------- */

/* Ms[k][line] and Ns[k][line], `width` lines to a row, and 4 words to spare: lanes store along k on
 * 8 of the banks, which takes 4 wavefronts where k is 32 or more deep, and one where it is 8. Lanes
 * along rows of 16 lines take two. */
TILEMM__LAYOUT int tilemm__exact_pitch(int width)
{
    return width + 4;
}

TILEMM__LAYOUT int tilemm__exact_index(int k, int line, int width)
{
    return k * tilemm__exact_pitch(width) + line;
}

/* ---- SGEMM by tensor cores: planes of halves ----------------------------------------------- */

/* Rows (lines of m or n, or steps of k where memory runs along the lines) of 4 or 8 pieces of 16
 * bytes. The tensor cores take matrices of 8 rows by one piece, so the pieces of a row change
 * places by exclusive or with its number, or where two rows share 128 bytes with half of it. For 8
 * pieces this is what the copy engine calls its 128-byte swizzle. What a piece's number is xor'd
 * with: */
TILEMM__LAYOUT unsigned tilemm__tensor_swizzle(unsigned row, unsigned per_row)
{
    return per_row == 4 ? row / 2 % 4 : row % 8;
}

/* The pass that makes the planes transposes one, `pitch` pairs of k to a line. Pieces of 16 bytes
 * change places by exclusive or with half of the line's number, so that neither writes by lanes on
 * lines, 2 or 4 apart, nor reads by lanes along k conflict. The position of a pair, in words: */
TILEMM__LAYOUT unsigned tilemm__planes_transposed(unsigned line, unsigned pair, unsigned pitch)
{
    return line * pitch + ((pair / 4) ^ (line / 2)) * 4 + pair % 4;
}

/* ---- SGEMM by tensor cores: split in the kernel -------------------------------------------- */

/* A lane has 8 numbers of a step of a line (a row of op(A), a column of op(B)), octet number o =
 * lane % 4 of 4: k = 4 o to 4 o + 3, and these + 16. The tensor cores take pairs of a step in
 * another order: pair i of octet o is their pair 4 i + o, which is as good, being the same for both
 * operands. So a lane has the pairs of op(A) that it must give to the tensor cores. Octets 2 and 3
 * have the two pairs of a quad exchanged, for the banks' sake. The k of number i of an octet: */
TILEMM__LAYOUT unsigned tilemm__fused_k(unsigned octet, unsigned i)
{
    return octet * 4 + i / 4 * 16 + ((i % 4) ^ (octet & 2));
}

/* Which lines of a warp's 8 * count are a lane's, number j of them: where memory runs along k,
 * lines 8 apart, in the bit-reversed order that lets 16 lanes read pairs without conflicts; where
 * it runs along the lines, `count` neighbours, which are read together. */
TILEMM__LAYOUT unsigned tilemm__fused_line(unsigned lane, unsigned j, unsigned count, int k_major)
{
    const unsigned i = lane / 4, reversed = i % 2 * 4 + i / 2 % 2 * 2 + i / 4;

    return k_major ? j * 8 + reversed : i * count + j;
}

/* The index of a number of a step as the copy engine brings it, with its 128-byte swizzle: lines of
 * 32 of k; or, where memory runs along the lines, parts of 32 lines, each 32 of k by 32 lines.
 * (Written out: by tilemm__tensor_swizzle() the compiler makes 2 % more instructions of it.) */
TILEMM__LAYOUT unsigned tilemm__fused_staged(unsigned line, unsigned k, int k_major)
{
    const unsigned row = k_major ? line : line / 32 * 32 + k, column = (k_major ? k : line) % 32;

    return row * 32 + ((column / 4) ^ (row % 8)) * 4 + column % 4;
}

/* From a lane's first number in a stage the others' places follow. Where memory runs along k, the
 * other half of the octet is exclusive or HALF_K, the other pair of a quad exclusive or 2, and the
 * line 8 further on is 8_LINES further on. Where memory runs along the lines, the other half is
 * HALF further on, and number i of a half is exclusive or i * NEXT. */
enum {
    TILEMM__SGEMM_FUSED_HALF_K = 16,
    TILEMM__SGEMM_FUSED_8_LINES = 8 * 32,
    TILEMM__SGEMM_FUSED_HALF = 16 * 32,
    TILEMM__SGEMM_FUSED_NEXT = 32 + 4
};

/* A plane of op(B)'s step is in cores of 8 lines by 4 pairs, 128 bytes, which the tensor cores read
 * without conflicts. 4 cores side by side along k, and 16 bytes to spare, so that lanes whose lines
 * are 2 or 4 apart also meet different banks. The index of a pair, in words of two halves: */
enum { TILEMM__SGEMM_FUSED_CORE = 32, TILEMM__SGEMM_FUSED_PITCH = 4 * 32 + 4 }; /* words */

TILEMM__LAYOUT unsigned tilemm__fused_pair(unsigned line, unsigned octet, unsigned i)
{
    return line / 8 * TILEMM__SGEMM_FUSED_PITCH + i * TILEMM__SGEMM_FUSED_CORE + line % 8 * 4 +
           octet;
}

/* The index of an element of a finished tile, `width` columns wide (a multiple of 32), as the copy
 * engine takes it with its 128-byte swizzle: for each warp's 16 rows, parts of 32 columns. */
TILEMM__LAYOUT unsigned tilemm__fused_tile(unsigned row, unsigned col, unsigned width)
{
    return tilemm__fused_staged(row / 16 * (width / 2) + col / 32 * 16 + row % 16, col % 32, 1);
}

#endif
