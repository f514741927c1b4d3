/* memmodel_pictures.c - the memory model's pictures (which lane uses which bank in which wavefront,
 * and which bytes are moved) agree with its costs, for random accesses.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "strided.h"
#include "tests/support/check.h"
#include "tilemm.h"

static uint32_t next_random(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Any active lanes, at random elements of a narrow or wide window of memory. */
static tilemm_warp_access_t random_access(void)
{
    tilemm_warp_access_t access = {.elem_bytes = 1 << next_random() % 5};
    uint32_t window = 1u << (next_random() % 12 + 1);
    access.active = next_random() % 3 ? 0xffffffffu : next_random() * 257u;
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = (uint64_t)(next_random() % window) * (unsigned)access.elem_bytes;
    return access;
}

/* The pictures show every lane, and add up to the costs. */
static void test_pictures(void)
{
    static const int ccs[] = {10, 13, 20, 35, 50, 75, 90, 120};
    for (int i = 0; i < 4000; i++) {
        int cc = ccs[i % 8], l1 = i / 8 % 2, store = i / 16 % 2, count, last = -1;
        int width, part_bytes, parts, lanes = 0;
        tilemm_warp_access_t access = random_access();
        tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
        tilemm_transaction_t moved[32];
        tilemm_shared_cost_t shared;
        tilemm_global_cost_t global;
        static int seen[128][32];
        uint64_t wanted[128][32];
        memset(seen, 0, sizeof seen);
        width = access.elem_bytes;
        part_bytes = cc / 10 == 3 && width >= 8 ? 8 : width < 4 ? width : 4;
        parts = width / part_bytes;
        for (int lane = 0; lane < 32; lane++)
            lanes += access.active >> lane & 1;
        CHECK(tilemm_model_banks(cc, store, &access, uses, &count) == TILEMM_SUCCESS, "banks");
        const tilemm_status_t status = store ? tilemm_model_shared(cc, &access, &shared)
                                             : tilemm_model_shared_load(cc, &access, &shared);
        CHECK(status == TILEMM_SUCCESS, "shared");
        CHECK(count == lanes * parts, "%d uses of %d lanes, width %d", count, lanes, width);
        for (int u = 0; u < count; u++) {
            int bank = uses[u].bank, wave = uses[u].wavefront;
            uint64_t address = access.addr[uses[u].lane] + (unsigned)(uses[u].part * part_bytes);
            uint64_t word = address / 4;
            CHECK(access.active >> uses[u].lane & 1 && uses[u].part < parts, "lane, part");
            CHECK(uses[u].group < shared.ideal && uses[u].group <= wave, "group");
            CHECK(wave < shared.wavefronts && bank >= 0 && bank < (cc < 20 ? 16 : 32), "bank");
            if (cc / 10 == 3) /* a row of 64 words */
                word = address / 256;
            CHECK(!seen[wave][bank] || wanted[wave][bank] == word,
                  "cc %d: two words of bank %d in one wavefront", cc, bank);
            seen[wave][bank] = 1;
            wanted[wave][bank] = word;
            last = wave > last ? wave : last;
        }
        CHECK(shared.wavefronts == last + 1 + (cc < 30 && cc >= 20 && width == 16 && count),
              "cc %d: %d wavefronts, %d used", cc, shared.wavefronts, last + 1);

        CHECK(tilemm_model_transactions(cc, l1, store, &access, moved, &count) == TILEMM_SUCCESS,
              "transactions");
        CHECK(tilemm_model_global(cc, l1, store, &access, &global) == TILEMM_SUCCESS, "global");
        CHECK(count == global.transactions && count <= 32, "%d transactions", count);
        for (int lane = 0; lane < 32; lane++) {
            int covered = 0;
            if (!(access.active >> lane & 1))
                continue;
            for (int t = 0; t < count; t++)
                covered |=
                    access.addr[lane] >= moved[t].addr &&
                    access.addr[lane] + (unsigned)width <= moved[t].addr + (unsigned)moved[t].bytes;
            CHECK(covered, "cc %d: lane %d's bytes are not moved", cc, lane);
        }
        for (int t = 0; t < count; t++) {
            for (int other = 0; other < t && cc >= 50; other++)
                CHECK(moved[other].addr != moved[t].addr, "cc %d: a sector is moved twice", cc);
            CHECK(cc < 50 || moved[t].bytes == 32, "cc %d: a sector of %d bytes", cc,
                  moved[t].bytes);
            global.transaction_bytes_total -= moved[t].bytes;
            CHECK(moved[t].addr % (unsigned)moved[t].bytes == 0, "an unaligned transaction");
        }
        CHECK(global.transaction_bytes_total == 0, "bytes");
    }
    tilemm_warp_access_t access = strided(4, 0, 4);
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    tilemm_transaction_t moved[32];
    int count;
    CHECK(tilemm_model_banks(90, 0, NULL, uses, &count) == TILEMM_INVALID_ARGUMENT, "access");
    CHECK(tilemm_model_banks(90, 0, &access, NULL, &count) == TILEMM_INVALID_ARGUMENT, "uses");
    CHECK(tilemm_model_banks(90, 0, &access, uses, NULL) == TILEMM_INVALID_ARGUMENT, "count");
    CHECK(tilemm_model_transactions(9, 0, 0, &access, moved, &count) == TILEMM_INVALID_ARGUMENT,
          "cc");
    CHECK(tilemm_model_transactions(90, 0, 0, &access, NULL, &count) == TILEMM_INVALID_ARGUMENT,
          "moved");
    CHECK(tilemm_model_transactions(90, 0, 0, &access, moved, NULL) == TILEMM_INVALID_ARGUMENT,
          "count");
}

int main(void)
{
    test_pictures();
    return check_exit();
}
