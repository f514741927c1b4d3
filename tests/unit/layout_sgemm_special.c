/* layout_sgemm_special.c - the shared tiles of the GPU's kernels for small batches, skinny products
 * and exact lines: each word has one place, and the accesses of warps have the bank conflicts that
 * the layouts promise, by the memory model. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bank_conflicts.h"
#include "kernels/sgemm/cuda/short.h"
#include "kernels/sgemm/layout.h"

/* Small batch: matrices of p x p; whole warps of threads, which compute 4 x 4 elements each. The
 * matrices are copied by 4 words or by one, and read along k or across it. */
static void check_small_batch(int p)
{
    const int lanes_m = p / 4, per_matrix = lanes_m * lanes_m;
    const int group = per_matrix < 32 ? 32 : per_matrix, matrices = group / per_matrix;
    const int pitch = tilemm__small_batch_pitch(p), words = matrices * pitch;
    const char *const tile = "small batch";
    static int copied[32 * 36];
    unsigned index[32];
    CHECK(words <= (int)(sizeof copied / sizeof *copied), "%d", words);
    for (int wide = 0; wide < 2; wide++) {
        const int per_row = wide ? p / 4 : p, per_piece = p / per_row;
        memset(copied, 0, sizeof copied);
        for (int first = 0; first < matrices * p * per_row; first += 32) {
            for (int lane = 0; lane < 32; lane++) {
                const int piece = first + lane, matrix = piece / (p * per_row);
                const int row = piece / per_row % p, column = piece % per_row * per_piece;
                index[lane] = (unsigned)(matrix * pitch +
                                         tilemm__small_batch_piece(row, column, p) + column % 4);
                mark(copied, (unsigned)words, index[lane], (unsigned)per_piece);
            }
            check_conflicts(index, per_piece, p > 4 ? 0 : wide ? 4 : 1, "copy of a matrix", tile);
        }
        for (int x = 0; x < words; x++)
            CHECK(copied[x] == (x % pitch < p * p), "word %d: %d", x, copied[x]);
    }
    for (int along_k = 0; along_k < 2; along_k++)
        for (int is_n = 0; is_n < 2; is_n++)
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < p; k += 4)
                    for (int warp = 0; warp < group / 32; warp++) {
                        for (int lane = 0; lane < 32; lane++) {
                            const int thread = warp * 32 + lane, of = thread % per_matrix;
                            const int square = is_n ? of % lanes_m : of / lanes_m;
                            index[lane] =
                                (unsigned)(thread / per_matrix * pitch +
                                           (along_k
                                                ? tilemm__small_batch_piece(square * 4 + i, k, p)
                                                : tilemm__small_batch_piece(k + i, square * 4, p)));
                        }
                        check_free(index, 4, "read of a matrix", tile);
                    }
}

/* Tiles that fit: `lines` rows of `length` words lie in places of their own, and 8 lanes that read
 * 4 words of neighbouring quads have no conflicts. */
static void check_fitted(int lanes, int depth, int along_k)
{
    static int seen[256 * 260];
    const int side = 8 * lanes, words = tilemm__fitted_words(side, depth, along_k);
    const int lines = along_k ? side : depth, length = along_k ? depth : side;
    unsigned index[32];
    CHECK(words <= (int)(sizeof seen / sizeof *seen), "%d", words);
    memset(seen, 0, sizeof seen);
    for (int line = 0; line < lines; line++)
        for (int i = 0; i < length; i += 4)
            mark(seen, (unsigned)words, (unsigned)tilemm__fitted_index(line, i, length, along_k),
                 4);
    for (int x = 0; x < words; x++)
        CHECK(seen[x] <= 1, "word %d: %d", x, seen[x]);
    for (int k = 0; k < depth; k += 4)
        for (int i = 0; i < 8; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int quad = lane % lanes * 4 + i / 4 * (side / 2);
                index[lane] =
                    (unsigned)(along_k ? tilemm__fitted_index(quad + i % 4, k, length, 1)
                                       : tilemm__fitted_index(k + i % 4, quad, length, 0));
            }
            check_free(index, 4, "read of a tile", "fitted");
        }
}

/* A short k: words of `width` rows or columns lie in places of their own. A warp's copies of an
 * operand that runs along k write to different banks; so do others, and reads with stride one; and
 * those of tensor cores from a tile that is padded for them. */
static void check_short(int width, int along_k, int tf32)
{
    enum { DEPTH = TILEMM__SGEMM_SHORT_DEPTH, TOGETHER = TILEMM__SGEMM_SHORT_TOGETHER };
    const int pitch = tilemm__short_pitch(width, along_k || tf32);
    unsigned index[32];
    CHECK(pitch >= width && pitch % 4 == 0, "pitch %d of %d", pitch, width);
    for (int k = 0; k < DEPTH; k += along_k ? TOGETHER : 1)
        for (int line = 0; line < width; line += along_k ? 32 / TOGETHER : 32) {
            for (int lane = 0; lane < 32; lane++)
                index[lane] = (unsigned)(along_k ? (k + tilemm__short_k(lane)) * pitch + line +
                                                       tilemm__short_line(lane)
                                                 : k * pitch + line + lane);
            check_free(index, 1, along_k ? "copy along k" : "copy or read", "short");
        }
    for (int k = 0; k < DEPTH && tf32; k += 8)
        for (int line = 0; line < width; line += 8) {
            for (int lane = 0; lane < 32; lane++)
                index[lane] = (unsigned)((k + lane % 4 * 2) * pitch + line + lane / 4);
            check_free(index, 1, "read for tensor cores", "short");
        }
}

/* Tiles of a warp: elements have places of their own, lines are those of a lane each; a warp's
 * copies, of 4 bytes and of 16, and its reads of half a step are free of conflicts. */
static void check_warp(int lines, int along_k)
{
    enum { DEPTH = TILEMM__SGEMM_WARP_K };
    const int words = tilemm__warp_words(lines, along_k), of_lane = lines / 8;
    int seen[48 * DEPTH], taken[32];
    unsigned index[32];
    memset(seen, 0, sizeof seen);
    memset(taken, 0, sizeof taken);
    for (int k = 0; k < DEPTH; k++)
        for (int line = 0; line < lines; line++)
            mark(seen, (unsigned)words, (unsigned)tilemm__warp_index(k, line, lines, along_k), 1);
    for (int group = 0; group < 8; group++)
        for (int j = 0; j < of_lane; j++)
            mark(taken, (unsigned)lines, (unsigned)tilemm__warp_line(group, j, lines, along_k), 1);
    for (int line = 0; line < lines; line++)
        CHECK(taken[line] == 1, "line %d: %d", line, taken[line]);
    for (int wide = 1; wide <= 4; wide += 3) { /* words of a lane's copy */
        const int row = along_k ? DEPTH : lines;
        for (int first = 0; first < DEPTH * lines; first += 32 * wide) {
            for (int lane = 0; lane < 32; lane++) {
                const int at = first + lane * wide;
                index[lane] = (unsigned)tilemm__warp_index(
                    along_k ? at % row : at / row, along_k ? at / row : at % row, lines, along_k);
            }
            check_free(index, wide, "copy", "warp");
        }
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < (along_k ? of_lane : 4); i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int k = half * 16 + lane % 4 * 4 + (along_k ? 0 : i);
                const int line = tilemm__warp_line(lane / 4, along_k ? i : 0, lines, along_k);
                index[lane] = (unsigned)tilemm__warp_index(k, line, lines, along_k);
            }
            check_free(index, along_k ? 4 : of_lane, "read of numbers", "warp");
        }
}

/* Outer products: elements have places of their own; lanes that read the same k of up to eight rows
 * of Ms, or of 32 neighbouring columns of Ns, are free of conflicts. */
static void check_outer(int depth)
{
    enum { LINES = 32, MOST = LINES * 32 };
    const int pitch = tilemm__outer_pitch(depth);
    static int seen[MOST];
    unsigned index[32];
    CHECK(pitch >= depth && pitch % 4 == 0 && LINES * pitch <= MOST, "pitch %d", pitch);
    memset(seen, 0, sizeof seen);
    for (int line = 0; line < LINES; line++)
        mark(seen, LINES * (unsigned)pitch, (unsigned)(line * pitch), depth);
    for (int x = 0; x < LINES * pitch; x++)
        CHECK(seen[x] == (x % pitch < depth), "word %d: %d", x, seen[x]);
    for (int k = 0; k < depth; k += 4)
        for (int lanes = 4; lanes <= 32; lanes *= 2) { /* to a row of Ms */
            for (int lane = 0; lane < 32; lane++)
                index[lane] = (unsigned)(lane / lanes * pitch + k);
            check_free(index, 4, "read of Ms", "outer");
        }
    for (int lane = 0; lane < 32; lane++)
        index[lane] = (unsigned)(lane * pitch);
    check_free(index, 4, "read of Ns", "outer");
}

/* k shared out: elements have places of their own; a warp's copies, of 4 bytes and of 16, and its
 * reads of Ns, along k or with stride one, are free of conflicts. */
static void check_slicek(int lines, int along_k)
{
    enum { DEPTH = TILEMM__SGEMM_SLICEK_DEPTH };
    const int words = tilemm__slicek_words(lines, along_k);
    static int seen[64 * TILEMM__SLICEK_PITCH];
    unsigned index[32];
    CHECK(words <= (int)(sizeof seen / sizeof *seen), "%d words", words);
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < DEPTH; k++)
        for (int line = 0; line < lines; line++)
            mark(seen, (unsigned)words, (unsigned)tilemm__slicek_index(k, line, lines, along_k), 1);
    for (int wide = 1; wide <= 4; wide += 3) { /* words of a lane's copy */
        const int row = along_k ? DEPTH : lines;
        for (int first = 0; first + 32 * wide <= DEPTH * lines; first += 32 * wide) {
            for (int lane = 0; lane < 32; lane++) {
                const int at = first + lane * wide;
                index[lane] = (unsigned)tilemm__slicek_index(
                    along_k ? at % row : at / row, along_k ? at / row : at % row, lines, along_k);
            }
            check_free(index, wide, "copy", "slicek");
        }
    }
    for (int k = 0; k < DEPTH && lines % 32 == 0; k += along_k ? 4 : 1)
        for (int line = 0; line < lines; line += 32) {
            for (int lane = 0; lane < 32; lane++)
                index[lane] = (unsigned)tilemm__slicek_index(k, line + lane, lines, along_k);
            check_free(index, along_k ? 4 : 1, "read of Ns", "slicek");
        }
}

/* Skinny products: each word of a tile of Z of n columns has one place, and reads by `lanes` lanes
 * along k, or if that is 0 by 32 / along_m lanes, have no conflicts. */
static void check_skinny(int n, int lanes, int wide, int along_m)
{
    const int depth = tilemm__skinny_depth(n), pitch = tilemm__skinny_pitch(n, lanes);
    const int words = lanes ? n * pitch : depth * pitch;
    const char *const tile = lanes ? "skinny, across" : "skinny, down";
    static int seen[16 * 4096];
    unsigned index[32];
    CHECK(words <= (int)(sizeof seen / sizeof *seen), "%d", words);
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < depth; k++)
        for (int j = 0; j < n; j++)
            mark(seen, (unsigned)words, (unsigned)tilemm__skinny_index(k, j, pitch, lanes, wide),
                 1);
    for (int x = 0; x < words; x++)
        CHECK(seen[x] == (x % pitch < (lanes ? depth : n)), "word %d: %d", x, seen[x]);

    if (lanes)
        for (int k0 = 0; k0 < depth; k0 += 4 * lanes)
            for (int j = 0; j < n; j++) {
                for (int lane = 0; lane < 32; lane++) {
                    index[lane] = (unsigned)(j * pitch + k0 + lane % lanes * 4);
                    for (int i = 0; i < 4; i++) { /* the k of the lane's word of X */
                        const int k = k0 + (wide ? lane % lanes * 4 + i : i * lanes + lane % lanes);

                        CHECK((unsigned)tilemm__skinny_index(k, j, pitch, lanes, wide) ==
                                  index[lane] + (unsigned)i,
                              "(%d, %d)", k, j);
                    }
                }
                check_free(index, 4, "read of Z", tile);
            }
    else
        for (int k0 = 0; k0 + 32 / along_m <= depth; k0 += 32 / along_m)
            for (int j = 0; j < n; j += 4) {
                for (int lane = 0; lane < 32; lane++)
                    index[lane] =
                        (unsigned)tilemm__skinny_index(k0 + lane / along_m, j, pitch, 0, wide);
                check_free(index, n < 4 ? 1 : 4, "read of Z", tile);
            }
}

/* Exact lines: tiles of `width` lines, 64 of k deep. They are stored along k or along the lines by
 * 32 lanes at a time, and each warp reads every eighth k, all without conflicts. */
static void check_exact_lines(int width)
{
    enum { DEPTH = 64 };
    const char *const tile = "exact lines";
    static int stored[32 * DEPTH];
    unsigned index[32];
    for (int along_k = 0; along_k < 2; along_k++) {
        memset(stored, 0, sizeof stored);
        for (int first = 0; first < width * DEPTH; first += 32) {
            for (int lane = 0; lane < 32; lane++) {
                const int at = first + lane;
                index[lane] = (unsigned)tilemm__exact_index(
                    along_k ? at % DEPTH : at / width, along_k ? at / DEPTH : at % width, width);
                mark(stored, (unsigned)(width * DEPTH), index[lane], 1);
            }
            check_free(index, 1, along_k ? "store along k" : "store along the lines", tile);
        }
        for (int word = 0; word < width * DEPTH; word++)
            CHECK(stored[word] == 1, "word %d: %d", word, stored[word]);
    }
    for (int k = 0; k < DEPTH; k++)
        for (int square = 0; square < width / 16; square++)
            for (int of_n = 0; of_n <= (width == 32 && square == 0 ? 1 : 0); of_n++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const int line = 4 * (int)(of_n ? tilemm__ffma_square_n(lane, 4)
                                                    : tilemm__ffma_square_m(lane, 4)) +
                                     16 * square;
                    index[lane] = (unsigned)tilemm__exact_index(k % 8, line, width) +
                                  (unsigned)(k / 8 * 8 * width);
                    for (int i = 0; i < 4; i++)
                        CHECK((unsigned)tilemm__exact_index(k, line + i, width) ==
                                  index[lane] + (unsigned)(i ^ (k / 8 % 4)),
                              "k %d, line %d", k, line + i);
                }
                check_halves(index, of_n ? "read of Ns" : "read of Ms", tile);
            }
}

int main(void)
{
    for (int p = 4; p <= 32; p *= 2)
        check_small_batch(p);
    for (int n = 1; n <= 16; n *= 2) {
        for (int wide = 0; wide < 2; wide++) {
            check_skinny(n, 8, wide, 0);
            check_skinny(n, 16, wide, 0);
        }
        check_skinny(n, 0, 1, 4);
        check_skinny(n, 0, 1, 16);
        check_skinny(n, 0, 1, 32);
    }
    for (int lanes = 8; lanes <= 32; lanes += 8)
        for (int depth = 4; depth <= 64; depth += 4) {
            check_fitted(lanes, depth, 0);
            check_fitted(lanes, depth, 1);
        }
    for (int width = 32; width <= 256; width *= 2)
        for (int along_k = 0; along_k < 2; along_k++)
            for (int tf32 = 0; tf32 < 2; tf32++)
                check_short(width, along_k, tf32);
    for (int depth = 4; depth <= 24; depth += depth < 8 ? 4 : 8)
        check_outer(depth);
    for (int lines = 4; lines <= 64; lines *= 2) {
        check_slicek(lines, 0);
        check_slicek(lines, 1);
    }
    for (int lines = 8; lines <= 32; lines *= 2) {
        check_warp(lines, 0);
        check_warp(lines, 1);
    }
    check_exact_lines(16);
    check_exact_lines(32);
    return check_exit();
}
