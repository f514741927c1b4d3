/* layout_sgemm_planes.c - the shared tiles of the GPU's split-precision kernels: each number has
 * one place, and no access of a warp has bank conflicts by the memory model. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bank_conflicts.h"
#include "kernels/sgemm/cuda/planes.h"
#include "kernels/sgemm/layout.h"

/* Of the tile of the pass that makes planes: lines, and pairs of k. Of the fused kernel: words from
 * one group of 8 lines of a plane to the next. */
enum {
    LINES = TILEMM__SGEMM_PLANES_LINES,
    PAIRS = TILEMM__SGEMM_PLANES_BLOCK / 2,
    PITCH = TILEMM__SGEMM_FUSED_PITCH(8) /* of the larger planes, of TF32 */
};

/* A step of 32 k of the fused kernel: each of 4 warps makes planes of 8 * count lines, of an octet
 * 4 words (BF16) or 8 (TF32). Each number is read once and each word of a plane written once,
 * without conflicts. */
static void check_fused_layout(unsigned count, int k_major, unsigned words)
{
    const char *const tile = k_major ? "fused, along k" : "fused, along lines";
    const unsigned lines = 4 * 8 * count; /* of 4 warps */
    static int seen[128 * 32], written[128 / 8 * PITCH];
    unsigned index[32];
    const unsigned pitch = TILEMM__SGEMM_FUSED_PITCH(words);
    memset(seen, 0, sizeof seen);
    memset(written, 0, sizeof written);
    for (unsigned warp = 0; warp < 4; warp++) {
        const unsigned line0 = warp * 8 * count;
        for (unsigned j = 0; j < count; j++)
            for (unsigned i = 0; i < 8; i++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned line = line0 + tilemm__fused_line(lane, j, count, k_major);
                    const unsigned octet = lane % 4, k = tilemm__fused_k(octet, i);
                    const unsigned first =
                        tilemm__fused_staged(line0 + tilemm__fused_line(lane, 0, count, k_major),
                                             tilemm__fused_k(octet, 0), k_major);
                    CHECK(line < lines && k < 32, "(%u, %u)", line, k);
                    index[lane] = tilemm__fused_staged(line, k, k_major);
                    mark(seen, lines * 32, index[lane], 1);
                    CHECK(index[lane] == (k_major ? ((first ^ (i / 4 * TILEMM__SGEMM_FUSED_HALF_K) ^
                                                      (i % 4 / 2 * 2)) +
                                                     i % 2 + j * TILEMM__SGEMM_FUSED_8_LINES)
                                                  : ((first ^ (i % 4 * TILEMM__SGEMM_FUSED_NEXT)) +
                                                     i / 4 * TILEMM__SGEMM_FUSED_HALF + j)),
                          "number %u of lane %u", i, lane);
                }
                if (k_major ? i % 2 == 0 : j == 0)
                    check_free(index, k_major ? 2 : (int)count, "read of a step", tile);
            }
        for (unsigned j = 0; j < count; j++)
            for (unsigned i = 0; i < words; i++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    index[lane] = tilemm__fused_word(
                        line0 + tilemm__fused_line(lane, j, count, k_major), lane % 4, i, words);
                    mark(written, lines / 8 * pitch, index[lane], 1);
                }
                check_free(index, 1, "write of a plane", tile);
            }
    }
    for (unsigned x = 0; x < lines * 32; x++)
        CHECK(seen[x] == 1, "number %u: %d", x, seen[x]);
    for (unsigned x = 0; x < lines / 8 * pitch; x++)
        CHECK(written[x] == (x % pitch < words * TILEMM__SGEMM_FUSED_CORE), "word %u: %d", x,
              written[x]);
}

/* A step of op(A) in TF32 as 8 warps read it, for products of 8 of k: a lane has its two lines at
 * k = lane % 4 and 4 further on. Where memory runs along the lines each number is read once,
 * without conflicts; else the tensor cores read, and each line is some thread's. */
static void check_tf32_layout(void)
{
    enum { WARPS = 8, STEP = WARPS * 16 * 32 };
    static int seen[STEP];
    int lines[WARPS * 16] = {0};
    unsigned index[32];
    memset(seen, 0, sizeof seen);
    for (unsigned warp = 0; warp < WARPS; warp++)
        for (unsigned i = 0; i < 8; i++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                const unsigned line = tilemm__tf32_line(warp * 32 + lane, 0, 0), k = lane % 4;
                const unsigned first = tilemm__fused_staged(line, k, 0);
                index[lane] = tilemm__fused_staged(line, k + i * 4, 0);
                mark(seen, STEP, index[lane], 2);
                CHECK(tilemm__tf32_line(warp * 32 + lane, 1, 0) == line + 1, "line %u", line);
                CHECK(index[lane] == (i % 2 ? first ^ TILEMM__SGEMM_TF32_NEXT_K : first) +
                                         i * TILEMM__SGEMM_TF32_HALF_SLICE,
                      "number %u of lane %u", i, lane);
                lines[tilemm__tf32_line(warp * 32 + lane, i % 2, 1)]++;
            }
            check_free(index, 2, "read of a step", "TF32, along lines");
        }
    for (unsigned x = 0; x < STEP; x++)
        CHECK(seen[x] == 1, "number %u: %d", x, seen[x]);
    for (unsigned line = 0; line < WARPS * 16; line++)
        CHECK(lines[line] == 4 * 4, "line %u: %d", line, lines[line]);
}

/* Chains: a warp's rows lie in 16 words, a lane's 8 side by side in the order in which lanes
 * exchange them; and each of the elements that they exchange has a word. */
static void check_chains(unsigned width, int k_major)
{
    static int written[8 * 64];
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned j = 0; j < 2; j++) {
            const unsigned of = lane / 4, row = 48 + tilemm__fused_line(lane, j, 2, k_major);
            CHECK(tilemm__fused_chain_row(row, k_major) == 48 + of / 4 * 8 + j * 4 + of % 4,
                  "row %u", row);
        }
    memset(written, 0, sizeof written);
    for (unsigned of = 0; of < 8; of++)
        for (unsigned column = 0; column < width; column++) {
            const unsigned at = tilemm__fused_chain_turned(of, column, width);
            mark(written, 8 * width, at, 1);
            CHECK(column % 4 == 0 || at == tilemm__fused_chain_turned(of, column - 1, width) + 1,
                  "%u, %u", of, column);
        }
    for (unsigned x = 0; x < 8 * width; x++)
        CHECK(written[x] == 1, "element %u: %d", x, written[x]);
}

/* A finished tile of C in shared memory: each element is written once, two at a time; rows are
 * read. Neither has conflicts. */
static void check_fused_tile(unsigned rows, unsigned width, int k_major)
{
    const char *const tile = "fused, finished";
    static int written[128 * 128];
    unsigned index[32];
    memset(written, 0, sizeof written);
    for (unsigned warp = 0; warp < rows / 16; warp++)
        for (unsigned half = 0; half < 2; half++)
            for (unsigned col = 0; col < width; col += 8) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    index[lane] =
                        tilemm__fused_tile(warp * 16 + tilemm__fused_line(lane, half, 2, k_major),
                                           col + lane % 4 * 2, width);
                    mark(written, rows * width, index[lane], 2);
                }
                check_free(index, 2, "write of a tile", tile);
            }
    for (unsigned x = 0; x < rows * width; x++)
        CHECK(written[x] == 1, "element %u: %d", x, written[x]);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned col = 0; col < width; col += 32) {
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = tilemm__fused_tile(row, col + lane, width);
            check_free(index, 1, "read of a tile", tile);
        }
}

/* A plane that the pass transposes: each lane of 8 warps writes pairs of k of `vec` neighbouring
 * lines; lines are read along k. */
static void check_transposed_plane(unsigned vec)
{
    enum { THREADS = 256 };
    const char *const tile = "plane transposed over";
    const unsigned across = LINES / vec, down = THREADS / across;
    static int written[LINES * PAIRS];
    unsigned index[32];
    memset(written, 0, sizeof written);
    for (unsigned warp = 0; warp < THREADS / 32; warp++)
        for (unsigned v = 0; v < vec; v++)
            for (unsigned first = 0; first < PAIRS; first += down) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned thread = warp * 32 + lane;
                    index[lane] = tilemm__planes_transposed(thread % across * vec + v,
                                                            first + thread / across, PAIRS);
                    mark(written, LINES * PAIRS, index[lane], 1);
                }
                check_free(index, 1, "write of a plane", tile);
            }
    for (unsigned x = 0; x < LINES * PAIRS; x++)
        CHECK(written[x] == 1, "word %u: %d", x, written[x]);
    for (unsigned line = 0; line < LINES; line++)
        for (unsigned first = 0; first < PAIRS; first += 128) {
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = tilemm__planes_transposed(line, first + lane * 4, PAIRS);
            check_free(index, 4, "read of a plane", tile);
        }
}

/* Where a piece of a row lies, in pieces. */
static unsigned plane_piece(unsigned row, unsigned piece, unsigned per_row)
{
    return row * per_row + (piece ^ tilemm__tensor_swizzle(row, per_row));
}

/* A plane's tile of `rows` rows of `per_row` pieces of 16 bytes. It is copied piece by piece; an
 * instruction reads four matrices of 8 rows by one piece, in the order that A or B needs. */
static void check_planes(unsigned rows, unsigned per_row)
{
    const char *const tile = per_row == 4 ? "rows of 64 bytes" : "rows of 128 bytes";
    static int copied[256 * 8];
    unsigned index[32];
    memset(copied, 0, sizeof copied);
    for (unsigned first = 0; first < rows * per_row; first += 32) {
        for (unsigned lane = 0; lane < 32; lane++) {
            const unsigned piece = first + lane;
            index[lane] = plane_piece(piece / per_row, piece % per_row, per_row) * 4;
            mark(copied, rows * per_row, index[lane] / 4, 1);
        }
        check_free(index, 4, "copy of a plane", tile);
    }
    for (unsigned x = 0; x < rows * per_row; x++)
        CHECK(copied[x] == 1, "piece %u: %d", x, copied[x]);
    for (unsigned line = 0; line < rows; line += 16)
        for (unsigned k = 0; k < per_row; k += 2)
            for (unsigned is_b = 0; is_b < 2; is_b++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned odd = lane / 8 % 2, last = lane / 16;
                    const unsigned row = lane % 8 + (is_b ? last : odd) * 8;
                    const unsigned piece = is_b ? odd : last;
                    index[lane] = plane_piece(line + row, k + piece, per_row) * 4;
                    /* The kernel has it from the first fragment's address. */
                    CHECK(index[lane] ==
                              ((plane_piece(row, piece, per_row) ^ k) + line * per_row) * 4,
                          "line %u, piece %u", line, k);
                }
                check_free(index, 4, "read of a fragment", tile);
            }
}

/* A step by phases, of an operand whose rows begin anywhere: `shifts` has a byte for each phase. A
 * warp reads 8 * count lines, `next` apart, and meets each number once, with `conflicts` in each
 * read. Rows of a phase that warps copy, of 32 numbers each, fill what is between the shifts. */
static void check_phases(unsigned lines, unsigned group, unsigned count, unsigned next, int k_major,
                         unsigned shifts, int conflicts)
{
    enum { PHASES = TILEMM__SGEMM_PHASES };
    const char *const tile = k_major ? "phases, along k" : "phases, along lines";
    static int seen[2 * 32 * 72];
    int k_seen[32] = {0};
    unsigned index[32];
    const unsigned size = tilemm__phased_size(lines, group, k_major);
    CHECK(size == lines * 32 + (k_major ? lines * 4 : lines / group * 32 * 8), "size %u", size);
    memset(seen, 0, sizeof seen);
    for (unsigned line0 = 0; line0 < lines; line0 += 8 * count)
        for (unsigned i = 0; i < 8; i++)
            for (unsigned j = 0; j < count; j++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned line_0 = line0 + tilemm__fused_line(lane, 0, count, next == 8);
                    const unsigned line = line0 + tilemm__fused_line(lane, j, count, next == 8);
                    const unsigned k_0 = tilemm__phased_k(lane % 4, 0);
                    const unsigned k = tilemm__phased_k(lane % 4, i);
                    const unsigned half = i / 4 * tilemm__phased_k(0, 4);
                    index[lane] = tilemm__phased(line, k, group, k_major);
                    CHECK(index[lane] == tilemm__phased(line_0, k_0 + i % 4, group, k_major) +
                                             tilemm__phased(0, half, group, k_major) +
                                             tilemm__phased(j * next, 0, group, k_major),
                          "line %u, k %u", line, k);
                    index[lane] += shifts >> 8 * ((k_major ? line : k) % PHASES) & 3;
                    mark(seen, size, index[lane], 1);
                    k_seen[k]++;
                }
                check_conflicts(index, 1, conflicts, "read of a step", tile);
            }
    for (unsigned k = 0; k < 32; k++)
        CHECK(k_seen[k] == (int)lines, "k %u: %d", k, k_seen[k]);
    for (unsigned phase = 0; phase < PHASES; phase++)
        for (unsigned row = phase; row < (k_major ? lines : 32); row += PHASES)
            for (unsigned part = 0; part < (k_major ? 1 : lines / 32); part++)
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned first = tilemm__phased(k_major ? phase : part * 32,
                                                          k_major ? 0 : phase, group, k_major);
                    const unsigned next_row = tilemm__phased(
                        k_major ? row - phase : 0, k_major ? 0 : row - phase, group, k_major);
                    CHECK(seen[first + next_row + lane + (shifts >> 8 * phase & 3)] == 1,
                          "row %u, part %u, lane %u", row, part, lane);
                }
}

int main(void)
{
    check_planes(128, 8);
    check_planes(64, 4);
    check_tf32_layout();
    for (unsigned count = 1; count <= 4; count *= 2)
        for (int k_major = 0; k_major < 2; k_major++)
            for (unsigned words = 4; words <= 8; words += 4)
                check_fused_layout(count, k_major, words);
    check_transposed_plane(4);
    check_transposed_plane(2);
    for (int k_major = 0; k_major < 2; k_major++) {
        check_fused_tile(128, 128, k_major);
        check_fused_tile(128, 64, k_major);
        check_fused_tile(192, 64, k_major);
        check_fused_tile(256, 32, k_major);
        for (unsigned count = 1; count <= 4; count *= 2)
            check_phases(32 * count, 32 * count, count, 8, k_major, 0x03020100, k_major);
        check_phases(128, 64, 2, 8, k_major, 0x01020300, k_major);
        if (!k_major) /* of a transposed kernel's op(A) */
            check_phases(128, 128, 2, 1, k_major, 0x02010003, 1);
        for (unsigned width = 16; width <= 64; width *= 2)
            check_chains(width, k_major);
    }
    return check_exit();
}
