/* layout_sgemm_ffma.c - the shared tiles of the GPU's FP32 multiply-add kernels: each element has
 * one place, and no access of a warp has bank conflicts by the memory model, but one of a tile's
 * last: sums go to the order of C in twice the wavefronts. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "bank_conflicts.h"
#include "ffma_tiles.h"
#include "kernels/sgemm/layout.h"

/* A shared tile of `width` x k elements, fetched through registers: each element is read once from
 * global memory and stored once. */
static void check_fetch(const tile_t *tile, unsigned width, unsigned k, int transposed, int wide)
{
    const unsigned pieces = width * k / 128;
    const int together = transposed ? !wide : wide; /* a lane's four go as one */
    unsigned index[32];
    static int fetched[128 * 32], stored[128 * 32];
    memset(fetched, 0, sizeof fetched);
    memset(stored, 0, sizeof stored);
    for (unsigned piece = 0; piece < pieces; piece++)
        for (unsigned j = 0; j < 4; j++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                const unsigned at_k = tilemm__fetch_k(piece, lane, j, width, transposed, wide);
                const unsigned at_mn = tilemm__fetch_mn(piece, lane, j, width, transposed, wide);
                CHECK(at_k < k && at_mn < width, "(%u, %u) in %u x %u", at_k, at_mn, k, width);
                index[lane] = tilemm__ms_index(at_k, at_mn, width, transposed);
                mark(stored, width * k, index[lane], 1);
                if (together) /* the four are neighbours, and lie on 16 bytes */
                    CHECK(index[lane] % 4 == j &&
                              index[lane] - j ==
                                  tilemm__ms_index(
                                      tilemm__fetch_k(piece, lane, 0, width, transposed, wide),
                                      tilemm__fetch_mn(piece, lane, 0, width, transposed, wide),
                                      width, transposed),
                          "%u", index[lane]);
                if (wide) /* likewise in global memory */
                    CHECK((transposed ? at_k : at_mn) % 4 == j, "(%u, %u)", at_k, at_mn);
                fetched[at_k * width + at_mn]++;
            }
            if (!together)
                check_free(index, 1, "store by 4 bytes", tile->name);
            else if (j == 0)
                check_free(index, 4, "store by 16 bytes", tile->name);
        }
    for (unsigned i = 0; i < width * k; i++)
        CHECK(fetched[i] == 1 && stored[i] == 1, "element %u: %d, %d", i, fetched[i], stored[i]);
}

/* The warps of one group of threads. */
static unsigned warps_of(const tile_t *tile)
{
    return tile->m / tile->quads_m * (tile->n / tile->quads_n) / 512;
}

/* A shared tile of `width` x k elements, filled by asynchronous copies: transposed, by 4 bytes, and
 * by 16 bytes. Each element is copied once, without conflicts; 16 bytes are contiguous. */
static void check_copies(const tile_t *tile, unsigned width)
{
    const unsigned warps = warps_of(tile) * tile->groups, depth = tile->k;
    static int copied[128 * 32];
    for (int form = 0; form < 3; form++) {
        const int transposed = form == 0, wide = form == 2;
        const unsigned line = transposed ? 4 * warps : wide ? 128 * warps / width : warps;
        const unsigned lines = (transposed ? width : depth) / line;
        const unsigned along = transposed ? depth / 8 : wide ? 1 : width / 32;
        unsigned index[32];
        memset(copied, 0, sizeof copied);
        for (unsigned i = 0; i < lines; i++)
            for (unsigned j = 0; j < along; j++)
                for (unsigned warp = 0; warp < warps; warp++) {
                    for (unsigned lane = 0; lane < 32; lane++) {
                        const unsigned thread = warp * 32 + lane;
                        const unsigned x =
                            tilemm__ffma_line(thread, i, width, warps, transposed, wide);
                        const unsigned y = tilemm__ffma_along(thread, j, width, transposed, wide);
                        const unsigned k = transposed ? y : x, mn = transposed ? x : y;
                        CHECK(k < depth && mn < width, "(%u, %u) in %u x %u", k, mn, depth, width);
                        index[lane] = tilemm__ffma_index(k, mn, width, transposed);
                        mark(copied, width * depth, index[lane], wide ? 4 : 1);
                        for (unsigned e = 0; e < (wide ? 4u : 1u); e++)
                            CHECK(tilemm__ffma_index(k, mn + e, width, transposed) ==
                                      index[lane] + e,
                                  "(%u, %u)", k, mn);
                        CHECK(!wide || mn % 4 == 0, "%u", mn);
                    }
                    check_free(index, wide ? 4 : 1, "copy", tile->name);
                }
        for (unsigned e = 0; e < width * depth; e++)
            CHECK(copied[e] == 1, "tile %s: element %u: %d", tile->name, e, copied[e]);
    }
}

typedef unsigned index_t(unsigned k, unsigned mn, unsigned width, int transposed);

/* A thread's squares of 4 x 4 in a row or column of a tile of `width` elements: the first begins at
 * `mn`, the others follow a constant distance apart, each of four neighbours. */
static void check_squares(index_t *index_of, unsigned k, unsigned mn, unsigned width,
                          unsigned quads, int transposed)
{
    const unsigned first = index_of(k, mn, width, transposed);
    for (unsigned q = 0; q < quads; q++)
        for (unsigned e = 0; e < 4; e++) {
            const unsigned further = q * (width / quads) + e;
            CHECK(index_of(k, mn + further, width, transposed) == first + further, "%u", mn);
        }
}

/* Every warp of lanes_m x (32 / lanes_m) lanes reads both tiles by halves of the warp; every square
 * of C has one thread. */
static void check_fragments(const tile_t *tile, index_t *index_of, unsigned lanes_m, int transposed)
{
    const unsigned bm = tile->m, bn = tile->n;
    const unsigned quads_m = tile->quads_m, quads_n = tile->quads_n;
    const unsigned lanes_n = 32 / lanes_m, warps_n = bn / quads_n / 4 / lanes_n;
    static int owners[128 * 128];
    unsigned index_m[32], index_n[32];
    memset(owners, 0, sizeof owners);
    for (unsigned warp = 0; warp < warps_of(tile); warp++)
        for (unsigned k = 0; k < tile->k; k++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                const unsigned m =
                    (warp / warps_n * lanes_m + tilemm__ffma_square_m(lane, lanes_m)) * 4;
                const unsigned n =
                    (warp % warps_n * lanes_n + tilemm__ffma_square_n(lane, lanes_m)) * 4;
                index_m[lane] = index_of(k, m, bm, transposed);
                index_n[lane] = index_of(k, n, bn, transposed);
                check_squares(index_of, k, m, bm, quads_m, transposed);
                check_squares(index_of, k, n, bn, quads_n, transposed);
                for (unsigned q = 0; q < quads_m * quads_n && k == 0; q++)
                    owners[(m + q / quads_n * (bm / quads_m)) * 128 + n +
                           q % quads_n * (bn / quads_n)]++;
            }
            check_halves(index_m, "read of Ms", tile->name);
            check_halves(index_n, "read of Ns", tile->name);
        }
    for (unsigned m = 0; m < bm; m += 4)
        for (unsigned n = 0; n < bn; n += 4)
            CHECK(owners[m * 128 + n] == 1, "tile %s: (%u, %u) has %d owners", tile->name, m, n,
                  owners[m * 128 + n]);
}

/* The places of a warp's fours of C, by which neighbouring lanes store neighbours: each is one
 * lane's, and they follow each other along rows, row after row. */
static void check_order(unsigned lanes_m)
{
    const unsigned lanes_n = 32 / lanes_m;
    unsigned m[32], n[32], index[32];
    memset(m, 0xff, sizeof m);
    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned at = tilemm__ffma_ordered(lane, lanes_m);
        CHECK(at < 32 && m[at % 32] == ~0u, "%u x %u lanes: lane %u has place %u", lanes_m, lanes_n,
              lane, at);
        m[at % 32] = tilemm__ffma_square_m(lane, lanes_m);
        n[at % 32] = tilemm__ffma_square_n(lane, lanes_m);
        index[lane] = at * 4;
    }
    check_conflicts(index, 4, 4, "write of sums", lanes_m == 8 ? "8 x 4" : "4 x 8");
    for (unsigned at = 0; at < 32; at++)
        CHECK(m[at] == at / lanes_n && n[at] == at % lanes_n,
              "%u x %u lanes: place %u has (%u, %u)", lanes_m, lanes_n, at, m[at], n[at]);
}

/* The rows of one tile, which differ in transposes, follow each other: the first is enough. */
static int is_first(const tile_t *tiles, size_t t)
{
    return t == 0 || memcmp(&tiles[t], &tiles[t - 1], offsetof(tile_t, name)) != 0;
}

int main(void)
{
    for (size_t t = 0; t < sizeof sm80_tiles / sizeof *sm80_tiles; t++) {
        const tile_t *tile = &sm80_tiles[t];
        if (!is_first(sm80_tiles, t))
            continue;
        check_copies(tile, tile->m);
        check_copies(tile, tile->n);
        for (int transposed = 0; transposed < 2; transposed++)
            check_fragments(tile, tilemm__ffma_index, tile->quads_m < tile->quads_n ? 8 : 4,
                            transposed);
    }
    check_order(4);
    check_order(8);
    for (size_t t = 0; t < sizeof sm75_tiles / sizeof *sm75_tiles; t++)
        for (int transposed = 0; transposed < 2 && is_first(sm75_tiles, t); transposed++) {
            const tile_t *tile = &sm75_tiles[t];
            for (int wide = 0; wide < 2; wide++) {
                check_fetch(tile, tile->m, tile->k, transposed, wide);
                check_fetch(tile, tile->n, tile->k, transposed, wide);
            }
            check_fragments(tile, tilemm__ms_index, 4, transposed);
        }
    return check_exit();
}
