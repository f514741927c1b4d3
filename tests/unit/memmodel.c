/* memmodel.c - the memory model's costs, on the cases printed in NVIDIA's guides, worked by hand;
 * and what it refuses.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "strided.h"
#include "tests/support/check.h"
#include "tilemm.h"

typedef tilemm_status_t shared_model_t(int cc, const tilemm_warp_access_t *access,
                                       tilemm_shared_cost_t *cost);

static void cost_is(shared_model_t *model, const char *what, int cc,
                    const tilemm_warp_access_t *access, int wavefronts, int ideal, int degree)
{
    tilemm_shared_cost_t cost = {0, 0, 0, 0};
    CHECK(model(cc, access, &cost) == TILEMM_SUCCESS, "%s cc %d", what, cc);
    CHECK(cost.wavefronts == wavefronts && cost.ideal == ideal && cost.degree == degree &&
              cost.conflicts == wavefronts - ideal,
          "%s cc %d: %d wavefronts, %d ideal, degree %d, %d conflicts, expected %d, %d, %d", what,
          cc, cost.wavefronts, cost.ideal, cost.degree, cost.conflicts, wavefronts, ideal, degree);
}

#define shared_is(...) cost_is(tilemm_model_shared, __VA_ARGS__)
#define load_is(...) cost_is(tilemm_model_shared_load, __VA_ARGS__)

static void global_is(const char *what, int cc, int l1, int store,
                      const tilemm_warp_access_t *access, int transactions, int bytes,
                      double efficiency)
{
    tilemm_global_cost_t cost;
    CHECK(tilemm_model_global(cc, l1, store, access, &cost) == TILEMM_SUCCESS, "%s cc %d", what,
          cc);
    CHECK(cost.transactions == transactions && cost.transaction_bytes_total == bytes &&
              fabs(cost.efficiency - efficiency) < 1e-12,
          "%s cc %d: %d transactions, %d bytes, efficiency %g, expected %d, %d, %g", what, cc,
          cost.transactions, cost.transaction_bytes_total, cost.efficiency, transactions, bytes,
          efficiency);
}

static int gcd(int a, int b)
{
    return b ? gcd(b, a % b) : a;
}

/* With a stride of s words gcd(s, banks) lanes share a bank: odd strides have no conflicts. Among
 * them are structs of two and three floats, and columns of a 32 x 32 tile and of a 32 x 33 one. */
static void test_strides(void)
{
    for (int s = 1; s <= 64; s++) {
        tilemm_warp_access_t access = strided(4, 0, 4u * (unsigned)s);
        int on_16 = gcd(s, 16), on_32 = gcd(s, 32);
        shared_is("stride", 10, &access, 2 * on_16, 2, on_16);
        shared_is("stride", 13, &access, 2 * on_16, 2, on_16);
        shared_is("stride", 20, &access, on_32, 1, on_32);
        shared_is("stride", 50, &access, on_32, 1, on_32);
        shared_is("stride", 90, &access, on_32, 1, on_32);
        shared_is("stride", 121, &access, on_32, 1, on_32);
        /* 3.x, 4-byte mode: words i and i + 32 of an aligned 64 do not conflict, so the lanes of
         * one bank cost one pass for each 256 bytes in which they lie. */
        int segments = 0;
        for (int lane = 0; lane < 32; lane += 32 / on_32)
            segments += lane == 0 || lane * s / 64 != (lane - 32 / on_32) * s / 64;
        shared_is("stride", 35, &access, segments, 1, segments);
    }
}

static void test_shared_widths(void)
{
    tilemm_warp_access_t bytes = strided(1, 0, 1), halves = strided(2, 0, 2);
    tilemm_warp_access_t doubles = strided(8, 0, 8), quads = strided(16, 0, 16);
    /* 1.x: four lanes read parts of one word. Each step broadcasts one of the half-warp's four
     * words and serves one lane of every other bank: 4 steps. Elements of two bytes: 2 steps. */
    shared_is("bytes", 11, &bytes, 8, 2, 4);
    shared_is("halves", 11, &halves, 4, 2, 2);
    /* 1.x: a double is two requests of stride two; 16 bytes four of stride four. */
    shared_is("doubles", 13, &doubles, 8, 4, 2);
    shared_is("quads", 13, &quads, 32, 8, 4);
    for (int cc = 20; cc <= 90; cc += 10) {
        shared_is("bytes", cc, &bytes, 1, 1, 1);
        shared_is("halves", cc, &halves, 1, 1, 1);
    }
    shared_is("doubles", 20, &doubles, 2, 2, 1);
    shared_is("quads", 20, &quads, 5, 4, 2); /* one more than the worst quarter-warp */
    shared_is("doubles", 35, &doubles, 1, 1, 1);
    shared_is("quads", 35, &quads, 2, 2, 1);
    shared_is("doubles", 80, &doubles, 2, 2, 1);
    shared_is("quads", 80, &quads, 4, 4, 1);
    /* Every other double: 16 lanes of a group on 16 of 32 banks, two words each. */
    tilemm_warp_access_t sparse = strided(8, 0, 16);
    shared_is("stride of two doubles", 80, &sparse, 4, 2, 2);
    /* On 3.x, 8-byte mode, bank = address / 8 % 32: a stride of two is two ways. */
    shared_is("stride of two doubles", 35, &sparse, 2, 1, 2);
}

static void test_shared_sharing(void)
{
    tilemm_warp_access_t one_word = strided(4, 128, 0);
    for (int cc = 20; cc <= 90; cc += 10)
        shared_is("broadcast", cc, &one_word, 1, 1, 1);
    shared_is("broadcast", 10, &one_word, 2, 2, 1);

    /* Two words of different banks; eight lanes of each half-warp read either. 2.x and later serve
     * any number of shared words at once. 1.x serves one word a step, and one lane of the other
     * bank: the other seven lanes take a second step. */
    tilemm_warp_access_t two_words = strided(4, 0, 0);
    for (unsigned lane = 0; lane < 32; lane++)
        two_words.addr[lane] = lane % 2 * 4;
    shared_is("two words", 10, &two_words, 4, 2, 2);
    shared_is("two words", 20, &two_words, 1, 1, 1);
    shared_is("two words", 90, &two_words, 1, 1, 1);

    /* Wide loads: two neighbouring groups of lanes are served together if every lane's neighbour,
     * or its next neighbour but one, reads the same. Stores are not. Measured on 9.0. */
    tilemm_warp_access_t pairs = strided(8, 0, 0), next_but_one = strided(16, 0, 0), mixed;
    for (unsigned lane = 0; lane < 32; lane++) {
        pairs.addr[lane] = lane / 2 * 8;
        next_but_one.addr[lane] = (lane / 4 * 2 + lane % 2) * 16;
    }
    load_is("pairs", 90, &pairs, 1, 1, 1); /* 16 elements, 32 words */
    shared_is("pairs", 90, &pairs, 2, 2, 1);
    load_is("pairs", 35, &pairs, 1, 1, 1);               /* always one group */
    load_is("pairs", 20, &pairs, 2, 2, 1);               /* not on 2.x */
    load_is("next but one", 90, &next_but_one, 2, 2, 1); /* quarters are halves */
    shared_is("next but one", 90, &next_but_one, 4, 4, 1);
    mixed = pairs; /* neighbours in the first 16, next but one in the others: neither holds */
    for (unsigned lane = 16; lane < 32; lane++)
        mixed.addr[lane] = next_but_one.addr[lane] / 2;
    load_is("mixed", 90, &mixed, 2, 2, 1);
    mixed = strided(16, 0, 16); /* in one half only */
    for (unsigned lane = 0; lane < 16; lane++)
        mixed.addr[lane] = lane / 2 * 32;
    load_is("half of the warp", 90, &mixed, 4, 4, 1);
    mixed = strided(8, 0, 8); /* one lane of each pair: 16 lanes on 16 banks */
    mixed.active = 0x55555555u;
    load_is("every other lane", 90, &mixed, 2, 1, 2);
    shared_is("every other lane", 90, &mixed, 2, 2, 1);

    /* Inactive lanes cause no conflicts. */
    tilemm_warp_access_t column = strided(4, 0, 32 * 4);
    column.active = 0x00010001u;
    shared_is("two lanes of a column", 90, &column, 2, 1, 2);
    shared_is("two lanes of a column", 10, &column, 2, 2, 1);
    column.active = 0;
    shared_is("no lane", 90, &column, 0, 0, 0);
    shared_is("no lane", 10, &column, 0, 0, 0);
    tilemm_warp_access_t quads = strided(16, 0, 16);
    quads.active = 0xff;
    shared_is("one quarter-warp", 90, &quads, 1, 1, 1);
}

static void test_global(void)
{
    tilemm_warp_access_t aligned = strided(4, 1024, 4), shifted = strided(4, 1028, 4);
    tilemm_warp_access_t permuted = aligned, one_word = strided(4, 1024, 0);
    tilemm_warp_access_t scattered = strided(4, 0, 4096);
    for (unsigned lane = 0; lane < 32; lane++)
        permuted.addr[lane] = 1024 + (lane * 5 + 3) % 32 * 4;

    global_is("aligned", 10, 0, 0, &aligned, 2, 128, 1.0);
    global_is("permuted", 10, 0, 0, &permuted, 32, 1024, 0.125);
    global_is("shifted", 11, 0, 0, &shifted, 32, 1024, 0.125);
    /* 1.2: the first half-warp's 64 bytes use both halves of one 128-byte segment; the second runs
     * one word past it, and the segment of that word shrinks to 32 bytes. */
    global_is("aligned", 13, 0, 0, &aligned, 2, 128, 1.0);
    global_is("permuted", 13, 0, 0, &permuted, 2, 256, 0.5); /* each half-warp over all 128 */
    global_is("shifted", 13, 0, 0, &shifted, 3, 128 + 64 + 32, 128.0 / 224);
    global_is("scattered", 13, 0, 0, &scattered, 32, 1024, 0.125);

    for (int cc = 20; cc < 40; cc += 10) {
        global_is("aligned, L1", cc, 1, 0, &aligned, 1, 128, 1.0);
        global_is("permuted, L1", cc, 1, 0, &permuted, 1, 128, 1.0);
        global_is("shifted, L1", cc, 1, 0, &shifted, 2, 256, 0.5);
        global_is("shifted, no L1", cc, 0, 0, &shifted, 5, 160, 0.8);
        global_is("shifted, store", cc, 1, 1, &shifted, 5, 160, 0.8);
        global_is("one word, L1", cc, 1, 0, &one_word, 1, 128, 0.03125);
        global_is("one word, no L1", cc, 0, 0, &one_word, 1, 32, 0.125);
        global_is("scattered, L1", cc, 1, 0, &scattered, 32, 4096, 0.03125);
    }
    for (int cc = 50; cc <= 120; cc += 10) {
        global_is("aligned", cc, 1, 0, &aligned, 4, 128, 1.0);
        global_is("permuted", cc, 1, 0, &permuted, 4, 128, 1.0);
        global_is("shifted", cc, 1, 0, &shifted, 5, 160, 0.8);
        global_is("one word", cc, 1, 0, &one_word, 1, 32, 0.125);
        global_is("scattered", cc, 1, 1, &scattered, 32, 1024, 0.125);
    }
    tilemm_warp_access_t doubles = strided(8, 0, 8), quads = strided(16, 0, 16);
    global_is("doubles", 10, 0, 0, &doubles, 2, 256, 1.0);
    global_is("quads", 10, 0, 0, &quads, 4, 512, 1.0);
    global_is("doubles, L1", 20, 1, 0, &doubles, 2, 256, 1.0);
    global_is("quads", 90, 1, 0, &quads, 16, 512, 1.0);
    tilemm_warp_access_t bytes = strided(1, 0, 1);
    global_is("bytes", 10, 0, 0, &bytes, 32, 1024, 32.0 / 1024);
    global_is("bytes", 12, 0, 0, &bytes, 2, 64, 0.5);
    global_is("bytes", 90, 0, 0, &bytes, 1, 32, 1.0);
    bytes.active = 0;
    global_is("no lane", 90, 0, 0, &bytes, 0, 0, 1.0);
}

/* Every function refuses the access; the message names the wrong argument, its value and what it
 * must be. */
static void refused(int cc, const tilemm_warp_access_t *access, const char *text)
{
    tilemm_shared_cost_t shared;
    tilemm_global_cost_t global;
    char message[128];
    CHECK(tilemm_model_shared(cc, access, &shared) == TILEMM_INVALID_ARGUMENT, "%s", text);
    CHECK(tilemm_model_shared_load(cc, access, &shared) == TILEMM_INVALID_ARGUMENT, "%s", text);
    CHECK(tilemm_model_global(cc, 0, 0, access, &global) == TILEMM_INVALID_ARGUMENT, "%s", text);
    CHECK(tilemm_model_check(cc, access, message, sizeof message) == TILEMM_INVALID_ARGUMENT, "%s",
          text);
    CHECK(!strcmp(message, text), "'%s', not '%s'", message, text);
}

static void test_errors(void)
{
    tilemm_warp_access_t access = strided(4, 0, 4), bad = access;
    tilemm_shared_cost_t shared;
    tilemm_global_cost_t global;
    char message[128] = "x", cut[8];
    CHECK(tilemm_model_shared(90, &access, NULL) == TILEMM_INVALID_ARGUMENT, "cost");
    CHECK(tilemm_model_shared_load(90, &access, NULL) == TILEMM_INVALID_ARGUMENT, "cost");
    CHECK(tilemm_model_global(90, 0, 0, &access, NULL) == TILEMM_INVALID_ARGUMENT, "cost");
    CHECK(tilemm_model_check(90, &access, message, sizeof message) == TILEMM_SUCCESS, "good");
    CHECK(!*message, "%s", message);
    refused(9, &access, "cc = 9, must be 10 (compute capability 1.0) or more");
    refused(-1, &access, "cc = -1, must be 10 (compute capability 1.0) or more");
    refused(90, NULL, "access is NULL");
    for (int width = -1; width <= 17; width++) {
        bad = strided(width, 0, 16);
        if (width == 1 || width == 2 || width == 4 || width == 8 || width == 16) {
            CHECK(tilemm_model_shared(90, &bad, &shared) == TILEMM_SUCCESS, "%d", width);
            CHECK(tilemm_model_global(90, 0, 0, &bad, &global) == TILEMM_SUCCESS, "%d", width);
        } else {
            snprintf(message, sizeof message, "elem_bytes = %d, must be 1, 2, 4, 8 or 16", width);
            refused(90, &bad, message);
        }
    }
    bad = access;
    bad.addr[7] = 30;
    refused(90, &bad, "addr[7] = 30, must be a multiple of elem_bytes = 4");
    CHECK(tilemm_model_check(90, &bad, cut, sizeof cut) == TILEMM_INVALID_ARGUMENT, "cut");
    CHECK(!strcmp(cut, "addr[7]"), "%s", cut);
    CHECK(tilemm_model_check(90, &bad, NULL, 0) == TILEMM_INVALID_ARGUMENT, "no message");
    bad.active &= ~(1u << 7);
    CHECK(tilemm_model_shared(90, &bad, &shared) == TILEMM_SUCCESS, "misaligned but inactive");
}

int main(void)
{
    test_strides();
    test_shared_widths();
    test_shared_sharing();
    test_global();
    test_errors();
    return check_exit();
}
