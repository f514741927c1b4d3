/* memmodel_search.c - the memory model's search for a layout: known best layouts, no smaller pad is
 * free of conflicts, and the library's own layouts are as good.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/sgemm/layout.h"
#include "kernels/transpose/layout.h"
#include "strided.h"
#include "tests/support/check.h"
#include "tilemm.h"

/* A row and a column, an element of each lane. */
static const tilemm_tile_access_t both[] = {{1, 32, 1}, {32, 1, 1}};

/* The conflicts of all columns of a tile of 32 rows, `pitch` elements apart, by the model. */
static int column_conflicts(int pitch, int cols, int elem_bytes)
{
    int conflicts = 0;
    for (int col = 0; col < cols; col++) {
        const tilemm_warp_access_t access =
            strided(elem_bytes, (uint64_t)(col * elem_bytes), (uint64_t)(pitch * elem_bytes));
        conflicts += shared_cost(90, 0, &access).conflicts;
    }
    return conflicts;
}

/* The library's own layouts are the ones that the search finds, or have the same cost. */
static void test_own_layouts(void)
{
    static const tilemm_tile_access_t ffma[] = {{8, 4, 1}, {1, 8, 4}};
    tilemm_tile_layout_t best;
    for (int size = 1; size <= 16; size *= 2)
        for (int edge = 32; edge <= 64; edge += 32) {
            const int pitch = tilemm__transpose_pitch(edge, size);
            const int conflicts = column_conflicts(pitch, edge, size);
            CHECK(tilemm_model_best_padding(90, edge, edge, size, both, 2, 0, &best) ==
                          TILEMM_SUCCESS &&
                      best.conflicts == 0 && best.pitch <= pitch,
                  "%d-byte elements: %d, ours is %d", size, best.pitch, pitch);
            CHECK(conflicts == 0, "%d-byte elements: %d conflicts", size, conflicts);
        }
    /* Ms and Ns of the kernel with asynchronous copies: filled 8 (rows) x 4 elements at a time,
     * read along rows by 16 bytes. */
    CHECK(tilemm_model_best_padding(90, 16, 64, 4, ffma, 2, 1, &best) == TILEMM_SUCCESS &&
              best.conflicts == 0,
          "%d conflicts", best.conflicts);
    for (int k = 0; k < 16; k++)
        for (int mn = 0; mn < 64; mn++)
            CHECK(tilemm_model_tile_index(&best, k, mn) ==
                      (int64_t)tilemm__ffma_index((unsigned)k, (unsigned)mn, 64, 1),
                  "(%d, %d): group %d, shift %d, mask %d", k, mn, best.group, best.shift,
                  best.mask);
}

static void layout_is(const char *what, int cc, int edge, int elem_bytes,
                      const tilemm_tile_access_t *accesses, int swizzle, int pitch, int group,
                      int shift, int mask)
{
    tilemm_tile_layout_t best;
    CHECK(tilemm_model_best_padding(cc, edge, edge, elem_bytes, accesses, 2, swizzle, &best) ==
              TILEMM_SUCCESS,
          "%s", what);
    CHECK(best.conflicts == 0 && best.pitch == pitch && best.mask == mask &&
              (!mask || (best.group == group && best.shift == shift)),
          "%s cc %d: pitch %d, group %d, shift %d, mask %d, %d conflicts", what, cc, best.pitch,
          best.group, best.shift, best.mask, best.conflicts);
}

static void test_padding(void)
{
    static const tilemm_tile_access_t quads_down[] = {{1, 32, 1}, {32, 1, 4}};
    tilemm_tile_layout_t best;
    /* The classic: 32 x 33 floats. An odd pitch has no conflicts on 16 banks or on 32. */
    for (int cc = 10; cc <= 120; cc += 10)
        layout_is("floats", cc == 40 ? 50 : cc, 32, 4, both, 0, 33, 0, 0, 0);
    /* A swizzle needs all of 32 columns on 32 banks, half of them on 16. */
    layout_is("floats", 90, 32, 4, both, 1, 32, 1, 0, 31);
    layout_is("floats", 13, 32, 4, both, 1, 32, 1, 0, 15);
    /* Doubles: the 16 of a half-warp are 66 words apart. */
    layout_is("doubles", 90, 32, 8, both, 0, 33, 0, 0, 0);
    layout_is("doubles", 90, 32, 8, both, 1, 32, 1, 0, 15);
    layout_is("quads", 90, 32, 16, both, 0, 33, 0, 0, 0);
    layout_is("quads", 90, 32, 16, both, 1, 32, 1, 0, 7);
    /* Elements narrower than a bank: an odd number of words. */
    layout_is("halves", 90, 64, 2, both, 0, 66, 0, 0, 0);
    layout_is("bytes", 90, 128, 1, both, 0, 132, 0, 0, 0);
    /* Four columns at a time: rows stay aligned to 16 bytes; 8 lanes use 8 groups of 4 banks. */
    layout_is("quads of floats", 90, 32, 4, quads_down, 0, 36, 0, 0, 0);
    layout_is("quads of floats", 90, 32, 4, quads_down, 1, 32, 4, 0, 7);

    /* Every smaller pad has conflicts by the model. */
    for (int bytes = 1; bytes <= 16; bytes *= 2)
        for (int cols = 8; cols <= 160; cols += 8) {
            CHECK(tilemm_model_best_padding(90, 32, cols, bytes, both, 2, 0, &best) ==
                          TILEMM_SUCCESS &&
                      best.conflicts == 0,
                  "32 x %d elements of %d bytes", cols, bytes);
            for (int pitch = cols; pitch <= best.pitch; pitch++)
                CHECK((column_conflicts(pitch, cols, bytes) == 0) == (pitch == best.pitch),
                      "pitch %d, best %d, %d columns", pitch, best.pitch, cols);
        }
    /* A swizzle is one to one in each row. */
    CHECK(tilemm_model_best_padding(90, 64, 64, 4, both, 2, 1, &best) == TILEMM_SUCCESS, "64");
    for (int row = 0; row < 64; row++) {
        uint64_t seen = 0;
        for (int col = 0; col < 64; col++)
            seen |= (uint64_t)1 << (tilemm_model_tile_index(&best, row, col) - row * best.pitch);
        CHECK(seen == UINT64_MAX, "row %d", row);
    }
    /* A swizzle cannot permute these columns: there is none. */
    CHECK(tilemm_model_best_padding(90, 64, 33, 8, both, 2, 1, &best) == TILEMM_SUCCESS &&
              best.mask == 0,
          "33 columns");
    CHECK(tilemm_model_best_padding(90, 32, 1, 4, both, 2, 0, &best) == TILEMM_SUCCESS &&
              best.pitch == 1 && best.conflicts == 0,
          "one column");

#define REFUSED(...)                                                                               \
    CHECK(tilemm_model_best_padding(__VA_ARGS__) == TILEMM_INVALID_ARGUMENT, #__VA_ARGS__)
    REFUSED(9, 32, 32, 4, both, 2, 0, &best);
    REFUSED(90, 0, 32, 4, both, 2, 0, &best);
    REFUSED(90, 32, 0, 4, both, 2, 0, &best);
    REFUSED(90, 32, 32, 3, both, 2, 0, &best);
    REFUSED(90, 32, 32, 32, both, 2, 0, &best);
    REFUSED(90, 32, 32, 0, both, 2, 0, &best);
    REFUSED(90, 512, 129, 4, both, 2, 0, &best);
    REFUSED(90, 2147483647, 2147483647, 4, both, 2, 0, &best);
    REFUSED(90, 32, 32, 4, NULL, 2, 0, &best);
    REFUSED(90, 32, 32, 4, both, 0, 0, &best);
    REFUSED(90, 32, 32, 4, both, 2, 0, NULL);
    static const tilemm_tile_access_t bad[] = {{1, 33, 1}, {1, 0, 1}, {4, 9, 1}, {8, 4, 8}};
    for (int i = 0; i < 4; i++)
        REFUSED(90, 32, 32, 4, &bad[i], 1, 0, &best);
    REFUSED(90, 32, 33, 4, (&(tilemm_tile_access_t){8, 4, 3}), 1, 0, &best);
    REFUSED(90, 32, 34, 4, (&(tilemm_tile_access_t){8, 4, 4}), 1, 0, &best);
}

int main(void)
{
    test_padding();
    test_own_layouts();
    return check_exit();
}
