/* layout.h - where the elements of SGEMM's tiles and panels lie in near memory: index functions in
 * C99 and CUDA, which the kernels, the CPU's packing and the tests of the layouts share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_LAYOUT_H
#define TILEMM_KERNELS_SGEMM_LAYOUT_H

#include "kernels/layout.h"

/* ---- SGEMM on the CPU: panels ------------------------------------------------------------ */

/* The index of an element in its panel of `width` lines. Panels are k-major and follow each other.
 * An Ms panel has rows of op(A), read as broadcasts; an Ns panel has columns of op(B), read as
 * vectors. The padding of the last panel may be any value. */
TILEMM__LAYOUT int64_t tilemm__cpu_panel_index(int64_t k, int64_t line, int64_t width)
{
    return k * width + line;
}

/* ---- SGEMM by FFMA: Ms and Ns ------------------------------------------------------------ */

/* The index of an element in the shared tile Ms[k][m] or Ns[k][n], whose rows have `width` (32, 64
 * or 128) elements. A tile is transposed if the operand's rows run along k in memory. A warp then
 * stores columns of the tile, and the groups of 8 elements are permuted within each 32 by the
 * number of the group of 4 rows: so 4-byte stores down a column have no conflicts, and neither have
 * 16-byte reads along a row. */
TILEMM__LAYOUT unsigned tilemm__ms_index(unsigned k, unsigned m, unsigned width, int transposed)
{
    return k * width + (transposed ? m ^ (((k >> 2) & 3) << 3) : m);
}

/* The k, and below the m or n, of element j (0 to 3) of a lane. A warp fetches pieces of 128
 * elements: 16 (k) by 8 if transposed, else 128 / width (k) by width. If `wide`, a lane reads its
 * four elements from global memory as one; else the warp's elements j are runs of 64 bytes or more
 * there. If exactly one of `transposed` and `wide` holds, a lane's four elements are neighbours in
 * the tile and are stored as one. */
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

/* The row and column of a lane's square among the 4 (m) x 8 (n) squares of 4 x 4 that a warp
 * multiplies. Lanes 2 i and 2 i + 1 read the same part of Ns, and lanes two apart the same part of
 * Ms: so a 16-byte read of either takes 2 wavefronts, not 4. */
TILEMM__LAYOUT unsigned tilemm__square_m(unsigned lane)
{
    return (lane >> 4) * 2 + (lane & 1);
}

TILEMM__LAYOUT unsigned tilemm__square_n(unsigned lane)
{
    return (lane >> 1) & 7;
}

/* ---- SGEMM by FFMA, filled by copies ------------------------------------------------------ */

/* The index of an element in a shared tile that asynchronous copies fill (compute capability 8.0).
 * A row has one k and `width` elements, a multiple of 32. A transposed tile is filled 8 (k) x 4 (m
 * or n) elements at a time. Its groups of 4 elements are permuted within each 32 by k % 8, so that
 * such 32 elements lie in different banks. Reads are of whole groups, which stay together. */
TILEMM__LAYOUT unsigned tilemm__ffma_index(unsigned k, unsigned mn, unsigned width, int transposed)
{
    return k * width + (transposed ? mn ^ ((k & 7) << 2) : mn);
}

/* The line, and below the element of the line, of copy (i, j) of a thread. A line of the operand's
 * memory is one m or n if transposed, else one k. Copies are of 16 bytes if `wide` (tiles that are
 * not transposed), else of 4. */
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

/* The row and column of a lane's square among the lanes_m x (32 / lanes_m) squares that a warp
 * multiplies; lanes_m is 4 or 8. See tilemm__square_m(). */
TILEMM__LAYOUT unsigned tilemm__ffma_square_m(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_n(lane) : tilemm__square_m(lane);
}

TILEMM__LAYOUT unsigned tilemm__ffma_square_n(unsigned lane, unsigned lanes_m)
{
    return lanes_m == 8 ? tilemm__square_m(lane) : tilemm__square_n(lane);
}

/* The place of a lane's four neighbours in C among those of its warp, by rows of C. */
TILEMM__LAYOUT unsigned tilemm__ffma_ordered(unsigned lane, unsigned lanes_m)
{
    return tilemm__ffma_square_m(lane, lanes_m) * (32 / lanes_m) +
           tilemm__ffma_square_n(lane, lanes_m);
}

/* ---- SGEMM by FFMA: matrices of up to 32 x 32 --------------------------------------------- */

/* The word at which the piece of 4 words with this column begins, in a matrix of p rows of p words
 * (p is 4, 8, 16 or 32). The pieces of a row are permuted by the number of the group of 4 rows, so
 * that 8 lanes have no conflicts when they read neighbouring pieces of a row, or the same piece of
 * every fourth row. */
TILEMM__LAYOUT int tilemm__small_batch_piece(int row, int column, int p)
{
    return row * p + (((column / 4) ^ (row / 4 % (p / 4))) * 4);
}

/* Words from matrix to matrix. The padding is for 8 lanes that read several matrices. It makes
 * copies of 4 x 4 matrices take twice the wavefronts. */
TILEMM__LAYOUT int tilemm__small_batch_pitch(int p)
{
    return p * p + (p == 4 ? 4 : p == 8 ? 8 : 0);
}

/* ---- SGEMM by FFMA: tiles that fit the matrices --------------------------------------------- */

/* The word of number `i` of line `line` of an operand's part of a tile: rows as they are stored,
 * `pitch` words (a multiple of 4) apart, with 4 words after each 4 rows if they run along k. So 8
 * lanes that read 4 words along k of every fourth row have no bank conflicts. */
TILEMM__LAYOUT int tilemm__fitted_index(int line, int i, int pitch, int along_k)
{
    return line * pitch + (along_k ? line / 4 * 4 : 0) + i;
}

/* Its words: `side` rows or columns (a multiple of 4), `depth` steps of k. */
TILEMM__LAYOUT int tilemm__fitted_words(int side, int depth, int along_k)
{
    return side * depth + (along_k ? side : 0);
}

/* ---- SGEMM: a short k ------------------------------------------------------------------------ */

/* Words from a k to the next of an operand's part of a tile, which has `width` rows or columns. An
 * operand that runs along k is copied by lanes of which 8 have neighbouring k, and 4 neighbouring
 * rows: these write to different banks. For tensor cores, lanes read 8 neighbours of 4 k, which are
 * 2 apart: from different banks where the tile is `padded`. */
TILEMM__LAYOUT int tilemm__short_pitch(int width, int padded)
{
    return width + (padded ? 4 : 0);
}

/* k shared out among warps: an operand's tile of `lines` lines lies as in memory, along k with 4
 * words of padding behind the DEPTH of k of a stage, or a line for each k. The place of an element,
 * and the words of a stage: */
enum { TILEMM__SGEMM_SLICEK_DEPTH = 128, TILEMM__SLICEK_PITCH = TILEMM__SGEMM_SLICEK_DEPTH + 4 };

TILEMM__LAYOUT int tilemm__slicek_index(int k, int line, int lines, int along_k)
{
    return along_k ? line * TILEMM__SLICEK_PITCH + k : k * lines + line;
}

TILEMM__LAYOUT int tilemm__slicek_words(int lines, int along_k)
{
    return lines * (along_k ? TILEMM__SLICEK_PITCH : TILEMM__SGEMM_SLICEK_DEPTH);
}

enum { TILEMM__SGEMM_SHORT_TOGETHER = 8 };

/* The k, beside multiples of 8, and the first row that a thread copies of it. */
TILEMM__LAYOUT int tilemm__short_k(int thread)
{
    return thread % TILEMM__SGEMM_SHORT_TOGETHER;
}

TILEMM__LAYOUT int tilemm__short_line(int thread)
{
    return thread / TILEMM__SGEMM_SHORT_TOGETHER;
}

/* Words from a row to the next of a tile of rows along k, `depth` of k each: an odd number of 16
 * bytes, so that lanes with up to 8 rows read the same k of all of them without bank conflicts. */
TILEMM__LAYOUT int tilemm__outer_pitch(int depth)
{
    return (depth / 4 | 1) * 4;
}

/* ---- SGEMM: tiles of a warp ------------------------------------------------------------------ */

/* A step of an operand's tile of `lines` lines (8, 16, 32): along k, or a line for each k. Four
 * lanes with neighbouring fours of k, and eight groups of such, read without bank conflicts: 4
 * words along k of line `group` of eight; or of each k lines / 8 words, side by side. */
enum { TILEMM__SGEMM_WARP_K = 32 };

/* The word of an element. */
TILEMM__LAYOUT int tilemm__warp_index(int k, int line, int lines, int along_k)
{
    return along_k ? line * TILEMM__SGEMM_WARP_K + (k ^ (line & 1) << 4)
                   : k * lines + k / 4 * 8 + line;
}

TILEMM__LAYOUT int tilemm__warp_words(int lines, int along_k)
{
    return lines * TILEMM__SGEMM_WARP_K + (along_k ? 0 : TILEMM__SGEMM_WARP_K / 4 * 8);
}

/* Line j of those that the lanes of a group have, lines / 8. */
TILEMM__LAYOUT int tilemm__warp_line(int group, int j, int lines, int along_k)
{
    return along_k ? j * 8 + group : group * (lines / 8) + j;
}

/* Steps that a warp of a resident kernel has under way, by the lines of its tile (16 or 32). */
TILEMM__LAYOUT int tilemm__resident_stages(int lines)
{
    return 64 / lines;
}

/* ---- SGEMM by FFMA: skinny products ---------------------------------------------------------- */

/* How many k of Z, which has n (1, 2, 4, 8 or 16) columns, are in shared memory at a time. */
TILEMM__LAYOUT int tilemm__skinny_depth(int n)
{
    return n == 1 ? 4096 : n <= 4 ? 1024 : 512;
}

/* Words from row to row of the tile. With `lanes` lanes along k, each of which reads 4 words of a
 * column, a row of the tile is a column of Z; with lanes = 0 it is one k. The 4 words of padding
 * keep lanes on 8 rows from bank conflicts. */
TILEMM__LAYOUT int tilemm__skinny_pitch(int n, int lanes)
{
    return lanes ? tilemm__skinny_depth(n) + 4 : n == 1 ? 1 : n + 4;
}

/* The word of (k, column). If not `wide`, lanes read X by single words: a lane's four k are `lanes`
 * apart, and are neighbours here. */
TILEMM__LAYOUT int tilemm__skinny_index(int k, int column, int pitch, int lanes, int wide)
{
    if (!lanes)
        return k * pitch + column;
    if (!wide)
        k = k / (4 * lanes) * (4 * lanes) + k % lanes * 4 + k / lanes % 4;
    return column * pitch + k;
}

/* ---- SGEMM by FFMA: gathered lines --------------------------------------------------------- */

/* The index of an element in Ms[k][line] or Ns[k][line], of 16 or 32 lines. A row's groups of 4
 * lines are permuted by k % 8, and the 4 lines of each group by k / 8 % 4: so 32 k of a line lie in
 * different banks, and reads of whole groups stay together. */
TILEMM__LAYOUT int tilemm__exact_index(int k, int line, int width)
{
    return k * width + (line ^ (k % 8 * width / 32 * 4) ^ (k / 8 % 4));
}

/* ---- SGEMM by tensor cores: planes of halves ----------------------------------------------- */

/* What the number of a piece of 16 bytes is xor'd with, in a row of 4 or 8 pieces. A row is a line
 * of m or n, or one k where memory runs along the lines. The tensor cores read 8 rows by one piece
 * at a time, which then lie in different banks. For 8 pieces this is the copy engine's 128-byte
 * swizzle. */
TILEMM__LAYOUT unsigned tilemm__tensor_swizzle(unsigned row, unsigned per_row)
{
    return per_row == 4 ? row / 2 % 4 : row % 8;
}

/* The word of a pair of k in a plane that the pass transposes; a line has `pitch` pairs. Pieces of
 * 16 bytes are permuted by half of the line's number: so writes by lanes on lines 2 or 4 apart have
 * no conflicts, and neither have reads by lanes along k. */
TILEMM__LAYOUT unsigned tilemm__planes_transposed(unsigned line, unsigned pair, unsigned pitch)
{
    return line * pitch + ((pair / 4) ^ (line / 2)) * 4 + pair % 4;
}

/* ---- SGEMM by tensor cores: split in the kernel -------------------------------------------- */

/* The k of number i of an octet. A lane has 8 numbers of a step of a line (a row of op(A), a column
 * of op(B)), octet o = lane % 4: k = 4 o to 4 o + 3, and these + 16. Pair i of octet o is the
 * tensor cores' pair 4 i + o. That changes the order of k, alike for both operands, and gives each
 * lane the pairs of op(A) that the tensor cores take from it. Octets 2 and 3 have the two pairs of
 * each four exchanged, against bank conflicts. */
TILEMM__LAYOUT unsigned tilemm__fused_k(unsigned octet, unsigned i)
{
    return octet * 4 + i / 4 * 16 + ((i % 4) ^ (octet & 2));
}

/* Line j of a lane's `count` lines, of a warp's 8 * count. Where memory runs along k they are 8
 * apart, in bit-reversed order so that 16 lanes read pairs without conflicts; else they are
 * neighbours, which are read together. */
TILEMM__LAYOUT unsigned tilemm__fused_line(unsigned lane, unsigned j, unsigned count, int k_major)
{
    const unsigned i = lane / 4, reversed = i % 2 * 4 + i / 2 % 2 * 2 + i / 4;
    return k_major ? j * 8 + reversed : i * count + j;
}

/* The index of a number of a step as the copy engine stores it, with its 128-byte swizzle: lines of
 * 32 k; or, where memory runs along the lines, parts of 32 k by 32 lines. (Not by
 * tilemm__tensor_swizzle(), with which the kernel has 2 % more instructions.) */
TILEMM__LAYOUT unsigned tilemm__fused_staged(unsigned line, unsigned k, int k_major)
{
    const unsigned row = k_major ? line : line / 32 * 32 + k, column = (k_major ? k : line) % 32;
    return row * 32 + ((column / 4) ^ (row % 8)) * 4 + column % 4;
}

/* The indices of a lane's other numbers, from that of its first. Where memory runs along k: xor
 * HALF_K for the other half of the octet, xor 2 for the other pair of four, + 8_LINES for the line
 * 8 further on. Else: + HALF for the other half, xor i * NEXT for number i of a half. */
enum {
    TILEMM__SGEMM_FUSED_HALF_K = 16,
    TILEMM__SGEMM_FUSED_8_LINES = 8 * 32,
    TILEMM__SGEMM_FUSED_HALF = 16 * 32,
    TILEMM__SGEMM_FUSED_NEXT = 32 + 4
};

/* A step of an operand whose rows of memory begin anywhere, though the copy engine reads from
 * multiples of 16 bytes on. Every fourth row begins equally far behind such a multiple: by the
 * shift, 0 to 3 numbers, of a phase of rows, 0 to 3. So a box for each phase brings rows from the
 * multiple on, 4 numbers longer than a step; or 8 longer than `group` lines, against bank
 * conflicts. Rows of a phase follow each other in shared memory, then phases; groups of lines are
 * apart. */
enum { TILEMM__SGEMM_PHASES = 4 };

/* The numbers of a box's rows. */
TILEMM__LAYOUT unsigned tilemm__phased_row(unsigned group, int k_major)
{
    return k_major ? 32 + 4 : group + 8;
}

/* The index of a number, to which the shift of its phase is added: that of row line % 4 if memory
 * runs along k, else k % 4. */
TILEMM__LAYOUT unsigned tilemm__phased(unsigned line, unsigned k, unsigned group, int k_major)
{
    const unsigned row = k_major ? line % group : k, column = k_major ? k : line % group;
    const unsigned rows = k_major ? group : 32, pitch = tilemm__phased_row(group, k_major);
    const unsigned before = row % TILEMM__SGEMM_PHASES * (rows / TILEMM__SGEMM_PHASES);
    return line / group * rows * pitch + (before + row / TILEMM__SGEMM_PHASES) * pitch + column;
}

/* The numbers of such a step of `lines` lines, a multiple of `group`. */
TILEMM__LAYOUT unsigned tilemm__phased_size(unsigned lines, unsigned group, int k_major)
{
    return tilemm__phased(lines, 0, group, k_major);
}

/* The k of number i of an octet there: as tilemm__fused_k() in each half of a step, so that sums of
 * BF16 planes have the same bits; in order, so that a lane has one phase after the other. Where
 * memory runs along k a read takes two wavefronts if the shifts differ, as those of odd leading
 * dimensions do; along lines one, of lines 8 apart. */
TILEMM__LAYOUT unsigned tilemm__phased_k(unsigned octet, unsigned i)
{
    return octet * 4 + i / 4 * 16 + i % 4;
}

/* Chains of multiply-adds (fused_chain_sm90.cuh): the word of a warpgroup's row in a line of one k.
 * Rows are those of tilemm__fused_line(lane, j, 2, k_major); of a warp's 16, one lane in two reads
 * 8 side by side: first rows j = 0, then j = 1, of four lanes / 4. */
TILEMM__LAYOUT unsigned tilemm__fused_chain_row(unsigned row, int k_major)
{
    const unsigned i = row % 8, reversed = i % 2 * 4 + i / 2 % 2 * 2 + i / 4;
    const unsigned of = k_major ? reversed : row % 16 / 2, j = k_major ? row / 8 % 2 : row % 2;
    return row / 16 * 16 + of / 4 * 8 + j * 4 + of % 4;
}

/* The word of an element among those that a warp's lanes exchange: row j of each lane / 4, `width`
 * (16, 32 or 64) columns. */
TILEMM__LAYOUT unsigned tilemm__fused_chain_turned(unsigned of, unsigned column, unsigned width)
{
    return of * width + (column ^ (of * 8 % (width < 32 ? width : 32)));
}

/* Line j of a thread's two in a tile of op(A) in TF32, of which the tensor cores read op(B) as it
 * comes: lane / 4 and 8 more of the warp's 16, if memory runs along k. Else neighbours, which are
 * read together: two warps share 32 lines so that 16 lanes use all banks. From a lane's first
 * number, at k = lane % 4, those of half a slice of 8 k further on are at + i * HALF_SLICE, xor
 * NEXT_K if i is odd. */
enum { TILEMM__SGEMM_TF32_NEXT_K = 16, TILEMM__SGEMM_TF32_HALF_SLICE = 4 * 32 };

TILEMM__LAYOUT unsigned tilemm__tf32_line(unsigned thread, unsigned j, int k_major)
{
    const unsigned warp = thread / 32, i = thread % 32 / 4;
    const unsigned four = warp % 2 * 2 + i / 4 + i / 2 % 2 * 4;
    return k_major ? warp * 16 + j * 8 + i : warp / 2 * 32 + four * 4 + i % 2 * 2 + j;
}

/* Word i of a line's octet in a plane of op(B)'s step, of `words` for each octet: 4 pairs of BF16,
 * or 8 numbers in TF32. The plane is in cores of 8 lines by 4 words (128 bytes), which the tensor
 * cores read without conflicts. The cores along k and 16 bytes of padding follow each other, so
 * that lanes whose lines are 2 or 4 apart use different banks. */
enum { TILEMM__SGEMM_FUSED_CORE = 32 }; /* words */
#define TILEMM__SGEMM_FUSED_PITCH(words) ((words)*TILEMM__SGEMM_FUSED_CORE + 4)

TILEMM__LAYOUT unsigned tilemm__fused_word(unsigned line, unsigned octet, unsigned i,
                                           unsigned words)
{
    return line / 8 * TILEMM__SGEMM_FUSED_PITCH(words) + i * TILEMM__SGEMM_FUSED_CORE +
           line % 8 * 4 + octet;
}

/* The index of an element of a finished tile of `width` columns, a multiple of 32, as the copy
 * engine reads it with its 128-byte swizzle: for each warp's 16 rows, parts of 32 columns. */
TILEMM__LAYOUT unsigned tilemm__fused_tile(unsigned row, unsigned col, unsigned width)
{
    return tilemm__fused_staged(row / 16 * (width / 2) + col / 32 * 16 + row % 16, col % 32, 1);
}

#endif
