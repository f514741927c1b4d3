/* layout.c - every warp's accesses to the shared tiles of the GPU's SGEMM, by the layouts of
 * tile_layout.h and the memory model: each element has its place, and the wavefronts are those that
 * the layout's comment claims. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/planes.h"
#include "kernels/sgemm/cuda/skinny.h"
#include "tests/support/check.h"
#include "ffma_tiles.h"
#include "kernels/sgemm/layout.h"
#include "kernels/transpose/layout.h"
#include "kernels/reduce/layout.h"
#include "tilemm.h"

/* ---- shared tiles ----------------------------------------------------------------------- */

/* A warp's access of `width` elements a lane, at index[lane] of a tile, must have so many
 * conflicts. */
static void check_cost(const unsigned *index, int width, int conflicts, const char *what,
                       const tile_t *tile)
{
    static const int ccs[] = {75, 80, 86, 89, 90};
    tilemm_warp_access_t access;
    tilemm_shared_cost_t cost;

    access.elem_bytes = width * (int)sizeof(float);
    access.active = 0xffffffff;
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = index[lane] * sizeof(float);
    for (int i = 0; i < 5; i++) {
        CHECK(tilemm_model_shared(ccs[i], &access, &cost) == TILEMM_SUCCESS, "%s", what);
        CHECK(cost.conflicts == conflicts, "%s, tile %s: %d conflicts", what, tile->name,
              cost.conflicts);
    }
}

static void check_access(const unsigned *index, int width, const char *what, const tile_t *tile)
{
    check_cost(index, width, 0, what, tile);
}

/* A read of 16 bytes a lane must be served by halves of the warp. */
static void check_halves(const unsigned *index, const char *what, const tile_t *tile)
{
    tilemm_warp_access_t access = {.elem_bytes = 16, .active = 0xffffffff};
    tilemm_shared_cost_t cost;

    check_access(index, 4, what, tile);
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = index[lane] * sizeof(float);
    CHECK(tilemm_model_shared_load(90, &access, &cost) == TILEMM_SUCCESS && cost.wavefronts == 2,
          "%s, tile %s: %d wavefronts", what, tile->name, cost.wavefronts);
}

/* The thread whose first quad is at (m, n) has others, a constant apart. */
static void own(int *owners, const tile_t *tile, unsigned m, unsigned n)
{
    const unsigned apart_m = (unsigned)(tile->m / tile->quads_m);
    const unsigned apart_n = (unsigned)(tile->n / tile->quads_n);

    for (unsigned i = 0; i < (unsigned)tile->quads_m; i++)
        for (unsigned j = 0; j < (unsigned)tile->quads_n; j++)
            owners[(m + i * apart_m) * 128 + n + j * apart_n]++;
}

/* Each quad of a tile's rows and columns must have one thread that computes it. */
static void check_owners(const int *owners, const tile_t *tile)
{
    for (int m = 0; m < tile->m; m += 4)
        for (int n = 0; n < tile->n; n += 4)
            CHECK(owners[m * 128 + n] == 1, "tile %s: (%d, %d) has %d owners", tile->name, m, n,
                  owners[m * 128 + n]);
}

/* A tile of width x k is fetched: every element once in global memory and once in the
 * shared tile. */
static void check_fetch(const tile_t *tile, unsigned width, unsigned k, int turned, int wide)
{
    const unsigned pieces = width * k / 128;
    const int together = turned ? !wide : wide; /* a lane's four go as one */
    unsigned index[32];
    static int fetched[128 * 32], stored[128 * 32];

    memset(fetched, 0, sizeof fetched);
    memset(stored, 0, sizeof stored);
    for (unsigned piece = 0; piece < pieces; piece++)
        for (unsigned j = 0; j < 4; j++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                const unsigned at_k = tilemm__fetch_k(piece, lane, j, width, turned, wide);
                const unsigned at_mn = tilemm__fetch_mn(piece, lane, j, width, turned, wide);

                CHECK(at_k < k && at_mn < width, "(%u, %u) in %u x %u", at_k, at_mn, k, width);
                index[lane] = tilemm__ms_index(at_k, at_mn, width, turned);
                CHECK(index[lane] < width * k, "%u", index[lane]);
                CHECK(index[lane] == tilemm__ns_index(at_k, at_mn, width, turned), "Ns");
                if (together) /* the four are neighbours, and lie on 16 bytes */
                    CHECK(index[lane] % 4 == j &&
                              index[lane] - j ==
                                  tilemm__ms_index(
                                      tilemm__fetch_k(piece, lane, 0, width, turned, wide),
                                      tilemm__fetch_mn(piece, lane, 0, width, turned, wide), width,
                                      turned),
                          "%u", index[lane]);
                if (wide) /* likewise in global memory */
                    CHECK((turned ? at_k : at_mn) % 4 == j, "(%u, %u)", at_k, at_mn);
                fetched[at_k * width + at_mn]++;
                stored[index[lane]]++;
            }
            if (!together)
                check_access(index, 1, "store by 4 bytes", tile);
            else if (j == 0)
                check_access(index, 4, "store by 16 bytes", tile);
        }
    for (unsigned i = 0; i < width * k; i++)
        CHECK(fetched[i] == 1 && stored[i] == 1, "element %u: %d, %d", i, fetched[i], stored[i]);
}

/* Every warp's reads of the squares that it multiplies; and each of C belongs to one thread. */
static void check_fragments(const tile_t *tile, int turned)
{
    const unsigned apart_m = (unsigned)(tile->m / tile->quads_m);
    const unsigned apart_n = (unsigned)(tile->n / tile->quads_n);
    static int owners[128 * 128];
    unsigned index_m[32], index_n[32];

    memset(owners, 0, sizeof owners);
    for (unsigned warp_m = 0; warp_m < apart_m; warp_m += 16)
        for (unsigned warp_n = 0; warp_n < apart_n; warp_n += 32)
            for (unsigned k = 0; k < (unsigned)tile->k; k++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned m = warp_m + tilemm__square_m(lane) * 4;
                    const unsigned n = warp_n + tilemm__square_n(lane) * 4;

                    index_m[lane] = tilemm__ms_index(k, m, (unsigned)tile->m, turned);
                    index_n[lane] = tilemm__ns_index(k, n, (unsigned)tile->n, turned);
                    for (int q = 1; q < tile->quads_m; q++) /* a constant apart */
                        CHECK(tilemm__ms_index(k, m + (unsigned)q * apart_m, (unsigned)tile->m,
                                               turned) == index_m[lane] + (unsigned)q * apart_m,
                              "%u", m);
                    for (int q = 1; q < tile->quads_n; q++)
                        CHECK(tilemm__ns_index(k, n + (unsigned)q * apart_n, (unsigned)tile->n,
                                               turned) == index_n[lane] + (unsigned)q * apart_n,
                              "%u", n);
                    for (unsigned e = 1; e < 4; e++)
                        CHECK(tilemm__ms_index(k, m + e, (unsigned)tile->m, turned) ==
                                  index_m[lane] + e,
                              "%u", m);
                    if (k == 0)
                        own(owners, tile, m, n);
                }
                check_halves(index_m, "read of Ms", tile);
                check_halves(index_n, "read of Ns", tile);
            }
    check_owners(owners, tile);
}

/* ---- shared tiles that are copied to ---------------------------------------------------- */

/* Of one group. */
static unsigned warps_of(const tile_t *tile)
{
    return (unsigned)(tile->m / tile->quads_m * (tile->n / tile->quads_n)) / 512;
}

/* The copies of a tile of `width`, turned, by 4 bytes and by 16: each element once, and no copy
 * conflicts. Wide ones are whole in memory as in the tile. */
static void check_copies(const tile_t *tile, unsigned width)
{
    const unsigned warps = warps_of(tile) * (unsigned)tile->groups, depth = (unsigned)tile->k;
    static int copied[128 * 32];

    for (int form = 0; form < 3; form++) {
        const int turned = form == 0, wide = form == 2;
        const unsigned line = turned ? 4 * warps : wide ? 128 * warps / width : warps;
        const unsigned lines = (turned ? width : depth) / line;
        const unsigned along = turned ? depth / 8 : wide ? 1 : width / 32;
        unsigned index[32];

        memset(copied, 0, sizeof copied);
        for (unsigned i = 0; i < lines; i++)
            for (unsigned j = 0; j < along; j++)
                for (unsigned warp = 0; warp < warps; warp++) {
                    for (unsigned lane = 0; lane < 32; lane++) {
                        const unsigned thread = warp * 32 + lane;
                        const unsigned x = tilemm__ffma_line(thread, i, width, warps, turned, wide);
                        const unsigned y = tilemm__ffma_along(thread, j, width, turned, wide);
                        const unsigned k = turned ? y : x, mn = turned ? x : y;

                        CHECK(k < depth && mn < width, "(%u, %u) in %u x %u", k, mn, depth, width);
                        index[lane] = tilemm__ffma_index(k, mn, width, turned);
                        CHECK(index[lane] < width * depth, "%u", index[lane]);
                        for (unsigned e = 0; e < (wide ? 4u : 1u); e++) {
                            CHECK(tilemm__ffma_index(k, mn + e, width, turned) == index[lane] + e,
                                  "(%u, %u)", k, mn);
                            copied[index[lane] + e]++;
                        }
                        CHECK(!wide || mn % 4 == 0, "%u", mn);
                    }
                    check_access(index, wide ? 4 : 1, "copy", tile);
                }
        for (unsigned e = 0; e < width * depth; e++)
            CHECK(copied[e] == 1, "tile %s: element %u: %d", tile->name, e, copied[e]);
    }
}

/* Every warp's reads of the squares that it multiplies; and each of C belongs to one thread. */
static void check_ffma_fragments(const tile_t *tile, int turned)
{
    const unsigned apart_m = (unsigned)(tile->m / tile->quads_m);
    const unsigned apart_n = (unsigned)(tile->n / tile->quads_n);
    const unsigned lanes_m = tile->quads_m < tile->quads_n ? 8 : 4, lanes_n = 32 / lanes_m;
    const unsigned warps_n = apart_n / 4 / lanes_n;
    static int owners[128 * 128];
    unsigned index_m[32], index_n[32];

    memset(owners, 0, sizeof owners);
    for (unsigned warp = 0; warp < warps_of(tile); warp++)
        for (unsigned k = 0; k < (unsigned)tile->k; k++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                const unsigned m =
                    (warp / warps_n * lanes_m + tilemm__ffma_square_m(lane, lanes_m)) * 4;
                const unsigned n =
                    (warp % warps_n * lanes_n + tilemm__ffma_square_n(lane, lanes_m)) * 4;

                index_m[lane] = tilemm__ffma_index(k, m, (unsigned)tile->m, turned);
                index_n[lane] = tilemm__ffma_index(k, n, (unsigned)tile->n, turned);
                for (unsigned q = 0; q < (unsigned)tile->quads_m; q++) /* a constant apart */
                    for (unsigned e = 0; e < 4; e++)
                        CHECK(tilemm__ffma_index(k, m + q * apart_m + e, (unsigned)tile->m,
                                                 turned) == index_m[lane] + q * apart_m + e,
                              "%u", m);
                for (unsigned q = 0; q < (unsigned)tile->quads_n; q++)
                    for (unsigned e = 0; e < 4; e++)
                        CHECK(tilemm__ffma_index(k, n + q * apart_n + e, (unsigned)tile->n,
                                                 turned) == index_n[lane] + q * apart_n + e,
                              "%u", n);
                if (k == 0)
                    own(owners, tile, m, n);
            }
            check_halves(index_m, "read of Ms", tile);
            check_halves(index_n, "read of Ns", tile);
        }
    check_owners(owners, tile);
}

/* Count an access to `width` words from an index on, of so many. */
static void mark(int *accesses, unsigned words, unsigned index, unsigned width)
{
    CHECK(index + width <= words, "%u", index);
    for (unsigned i = index; i < index + width && i < words; i++)
        accesses[i]++;
}

/* A lane's numbers of a warp's `count` lines by 8 octets: each number of the step once, the reads
 * and the writes of planes free of conflicts. */
static void check_fused_layout(unsigned count, int k_major)
{
    const tile_t tile = {.name = k_major ? "fused, along k" : "fused, along lines"};
    const unsigned lines = 4 * 8 * count; /* of 4 warps */
    static int seen[128 * 32], written[128 / 8 * TILEMM__SGEMM_FUSED_PITCH];
    unsigned index[32];

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
                    check_access(index, k_major ? 2 : (int)count, "read of a step", &tile);
            }
        for (unsigned j = 0; j < count; j++)
            for (unsigned i = 0; i < 4; i++) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    index[lane] = tilemm__fused_pair(
                        line0 + tilemm__fused_line(lane, j, count, k_major), lane % 4, i);
                    mark(written, lines / 8 * TILEMM__SGEMM_FUSED_PITCH, index[lane], 1);
                }
                check_access(index, 1, "write of a plane", &tile);
            }
    }
    for (unsigned x = 0; x < lines * 32; x++)
        CHECK(seen[x] == 1, "number %u: %d", x, seen[x]);
    for (unsigned x = 0; x < lines / 8 * TILEMM__SGEMM_FUSED_PITCH; x++)
        CHECK(written[x] == (x % TILEMM__SGEMM_FUSED_PITCH < 128), "word %u: %d", x, written[x]);
}

/* A finished tile: each element once; two at a time are written, and rows are read, without
 * conflicts. */
static void check_fused_tile(unsigned rows, unsigned width, int k_major)
{
    const tile_t tile = {.name = "fused, finished"};
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
                check_access(index, 2, "write of a tile", &tile);
            }
    for (unsigned x = 0; x < rows * width; x++)
        CHECK(written[x] == 1, "element %u: %d", x, written[x]);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned col = 0; col < width; col += 32) {
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = tilemm__fused_tile(row, col + lane, width);
            check_access(index, 1, "read of a tile", &tile);
        }
}

/* A plane as the split pass turns it over: 8 warps write `vec` neighbouring lines each lane, pairs
 * of k further on with every so many lanes; they read lines along k. */
static void check_split_turned(unsigned vec)
{
    enum { THREADS = 256, PAIRS = TILEMM__SGEMM_PLANES_BLOCK / 2 };
    const tile_t tile = {.name = "plane turned over"};
    const unsigned across = TILEMM__SGEMM_PLANES_LINES / vec, down = THREADS / across;
    static int written[TILEMM__SGEMM_PLANES_LINES * PAIRS];
    unsigned index[32];

    memset(written, 0, sizeof written);
    for (unsigned warp = 0; warp < THREADS / 32; warp++)
        for (unsigned v = 0; v < vec; v++)
            for (unsigned first = 0; first < PAIRS; first += down) {
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned thread = warp * 32 + lane;

                    index[lane] = tilemm__split_turned(thread % across * vec + v,
                                                       first + thread / across, PAIRS);
                    mark(written, TILEMM__SGEMM_PLANES_LINES * PAIRS, index[lane], 1);
                }
                check_access(index, 1, "write of a plane", &tile);
            }
    for (unsigned x = 0; x < TILEMM__SGEMM_PLANES_LINES * PAIRS; x++)
        CHECK(written[x] == 1, "word %u: %d", x, written[x]);
    for (unsigned line = 0; line < TILEMM__SGEMM_PLANES_LINES; line++)
        for (unsigned first = 0; first < PAIRS; first += 128) {
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = tilemm__split_turned(line, first + lane * 4, PAIRS);
            check_access(index, 4, "read of a plane", &tile);
        }
}

/* ---- matrices of up to 32 x 32 ---------------------------------------------------------- */

/* Matrices of p x p by threads of 4 x 4, in groups of whole warps: copied by pieces or by words,
 * and read along k or across it. */
static void check_tiny(int p)
{
    const int lanes_m = p / 4, per_matrix = lanes_m * lanes_m;
    const int group = per_matrix < 32 ? 32 : per_matrix, matrices = group / per_matrix;
    const int pitch = tilemm__small_batch_pitch(p), words = matrices * pitch;
    const tile_t tile = {.name = "tiny"};
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
            check_cost(index, per_piece, p > 4 ? 0 : wide ? 4 : 1, "copy of a matrix", &tile);
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
                        check_access(index, 4, "read of a matrix", &tile);
                    }
}

/* ---- thin products ---------------------------------------------------------------------- */

/* A chunk of Z of n columns: each word in its place, and read without conflicts, by `lanes` lanes
 * along k or, if 0, by 32 / along_m lanes. */
static void check_thin(int n, int lanes, int wide, int along_m)
{
    const int chunk = tilemm__skinny_depth(n), pitch = tilemm__skinny_pitch(n, lanes);
    const int words = lanes ? n * pitch : chunk * pitch;
    const tile_t tile = {.name = lanes ? "thin, across" : "thin, down"};
    static int seen[16 * 4096];
    unsigned index[32];

    CHECK(words <= (int)(sizeof seen / sizeof *seen), "%d", words);
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < chunk; k++)
        for (int j = 0; j < n; j++)
            mark(seen, (unsigned)words, (unsigned)tilemm__skinny_index(k, j, pitch, lanes, wide),
                 1);
    for (int x = 0; x < words; x++)
        CHECK(seen[x] == (x % pitch < (lanes ? chunk : n)), "word %d: %d", x, seen[x]);

    if (lanes)
        for (int k0 = 0; k0 < chunk; k0 += 4 * lanes)
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
                check_access(index, 4, "read of Z", &tile);
            }
    else
        for (int k0 = 0; k0 + 32 / along_m <= chunk; k0 += 32 / along_m)
            for (int j = 0; j < n; j += 4) {
                for (int lane = 0; lane < 32; lane++)
                    index[lane] =
                        (unsigned)tilemm__skinny_index(k0 + lane / along_m, j, pitch, 0, wide);
                check_access(index, n < 4 ? 1 : 4, "read of Z", &tile);
            }
}

/* ---- gathered lines --------------------------------------------------------------------- */

/* A tile of `lines` gathered lines by `others`, depth k, of which a thread of 256 has m x n: stored
 * by lanes along k, or along the lines, and read without conflicts. */
static void check_left(int lines, int others, int depth, int m, int n)
{
    const tile_t tile = {.name = "gathered lines"};
    const int quad = n < 4 ? n : 4, stores_along_k = depth < 32 ? 0 : 3;
    unsigned index[32];

    for (int side = 0; side < 2; side++) {
        const int width = side ? others : lines;

        for (int along_k = 0; along_k < 2; along_k++)
            for (int first = 0; first < width * depth; first += 32) {
                for (int lane = 0; lane < 32; lane++) {
                    const int at = first + lane;

                    index[lane] =
                        (unsigned)tilemm__left_index(along_k ? at % depth : at / width,
                                                     along_k ? at / depth : at % width, width);
                }
                check_cost(index, 1, along_k ? stores_along_k : width < 32, "store of a tile",
                           &tile);
            }
    }
    for (int k = 0; k < depth; k++)
        for (int warp = 0; warp < 8; warp++) {
            for (int i = 0; i < m; i += 4) {
                for (int lane = 0; lane < 32; lane++)
                    index[lane] = (unsigned)tilemm__left_index(
                        k, (warp * 32 + lane) / (others / n) * m + i, lines);
                check_access(index, m < 4 ? 1 : 4, "read of Ms", &tile);
            }
            for (int q = 0; q < n / quad; q++) {
                for (int lane = 0; lane < 32; lane++)
                    index[lane] = (unsigned)tilemm__left_index(
                        k, (warp * 32 + lane) % (others / n) * quad + q * others / (n / quad),
                        others);
                check_access(index, quad, "read of Ns", &tile);
            }
        }
}

/* ---- planes of halves ------------------------------------------------------------------- */

/* The position of a piece, in pieces. */
static unsigned plane_piece(unsigned row, unsigned piece, unsigned per_row)
{
    return row * per_row + (piece ^ tilemm__tensor_swizzle(row, per_row));
}

/* A plane's tile of `rows` rows, `per_row` pieces each: copied piece by piece, and read by matrices
 * of 8 rows by one piece, four to an instruction, as either operand wants them. */
static void check_planes(unsigned rows, unsigned per_row)
{
    const tile_t tile = {.name = per_row == 4 ? "rows of 64 bytes" : "rows of 128 bytes"};
    static int copied[256 * 8];
    unsigned index[32];

    memset(copied, 0, sizeof copied);
    for (unsigned first = 0; first < rows * per_row; first += 32) {
        for (unsigned lane = 0; lane < 32; lane++) {
            const unsigned piece = first + lane;

            index[lane] = plane_piece(piece / per_row, piece % per_row, per_row) * 4;
            mark(copied, rows * per_row, index[lane] / 4, 1);
        }
        check_access(index, 4, "copy of a plane", &tile);
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
                check_access(index, 4, "read of a fragment", &tile);
            }
}

int main(void)
{
    for (int p = 4; p <= 32; p *= 2)
        check_tiny(p);
    for (int n = 1; n <= 16; n = n < 4 ? 4 : n * 2) {
        for (int wide = 0; wide < 2; wide++) {
            check_thin(n, 8, wide, 0);
            check_thin(n, 16, wide, 0);
        }
        check_thin(n, 0, 1, 4);
        check_thin(n, 0, 1, 32);
    }
    check_left(16, 32, 64, 1, 2);
    check_left(128, 128, 8, 8, 8);
    check_planes(128, 8);
    check_planes(64, 4);
    for (unsigned count = 1; count <= 4; count *= 2)
        for (int k_major = 0; k_major < 2; k_major++)
            check_fused_layout(count, k_major);
    check_split_turned(4);
    check_split_turned(2);
    for (int k_major = 0; k_major < 2; k_major++) {
        check_fused_tile(128, 128, k_major);
        check_fused_tile(128, 64, k_major);
        check_fused_tile(256, 32, k_major);
    }
    for (int t = 0; t < TILEMM__SGEMM_SM80_TILE_COUNT; t++) {
        check_copies(&sm80_tiles[t], (unsigned)sm80_tiles[t].m);
        check_copies(&sm80_tiles[t], (unsigned)sm80_tiles[t].n);
        for (int turned = 0; turned < 2; turned++)
            check_ffma_fragments(&sm80_tiles[t], turned);
    }
    for (int t = 0; t < TILEMM__SGEMM_TILE_COUNT; t++)
        for (int turned = 0; turned < 2; turned++) {
            for (int wide = 0; wide < 2; wide++) {
                check_fetch(&sm75_tiles[t], (unsigned)sm75_tiles[t].m, (unsigned)sm75_tiles[t].k,
                            turned, wide);
                check_fetch(&sm75_tiles[t], (unsigned)sm75_tiles[t].n, (unsigned)sm75_tiles[t].k,
                            turned, wide);
            }
            check_fragments(&sm75_tiles[t], turned);
        }
    return check_exit();
}
