/* memmodel_pictures.c - the memory model's pictures (which lane uses which bank in which wavefront,
 * and which bytes are moved) agree with its costs, for random accesses.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "strided.h"
#include "tests/support/random.h"
#include "tilemm.h"

/* Any active lanes, at random elements of a narrow or wide window of memory. */
static tilemm_warp_access_t random_access(void)
{
    tilemm_warp_access_t access = {.elem_bytes = 1 << pick(5)};
    const int64_t window = INT64_C(2) << pick(12);
    access.active = pick(3) ? 0xffffffffu : (uint32_t)pick(1 << 24) * 257u;
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = (uint64_t)pick(window) * (unsigned)access.elem_bytes;
    return access;
}

/* Each part of each active lane uses one bank, a bank holds one word of a wavefront, and the number
 * of wavefronts is the cost. */
static void check_banks(int cc, int store, const tilemm_warp_access_t *access)
{
    const int width = access->elem_bytes;
    const int part_bytes = cc / 10 == 3 && width >= 8 ? 8 : width < 4 ? width : 4;
    const int parts = width / part_bytes;
    int seen[128][32] = {{0}}, count, last = -1;
    uint64_t wanted[128][32];
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    const tilemm_shared_cost_t shared = shared_cost(cc, !store, access);
    CHECK(tilemm_model_banks(cc, store, access, uses, &count) == TILEMM_SUCCESS, "banks");
    CHECK(count == __builtin_popcount(access->active) * parts, "%d uses of lanes %08x, width %d",
          count, (unsigned)access->active, width);
    for (int u = 0; u < count; u++) {
        const int bank = uses[u].bank, wave = uses[u].wavefront;
        const uint64_t address = access->addr[uses[u].lane] + (unsigned)(uses[u].part * part_bytes);
        const uint64_t word = address / (cc / 10 == 3 ? 256 : 4); /* on 3.x a row of 64 words */
        CHECK(access->active >> uses[u].lane & 1 && uses[u].part < parts, "lane, part");
        CHECK(uses[u].group < shared.ideal && uses[u].group <= wave, "group");
        CHECK(wave < shared.wavefronts && bank >= 0 && bank < (cc < 20 ? 16 : 32), "bank");
        CHECK(!seen[wave][bank] || wanted[wave][bank] == word,
              "cc %d: two words of bank %d in one wavefront", cc, bank);
        seen[wave][bank] = 1;
        wanted[wave][bank] = word;
        last = wave > last ? wave : last;
    }
    CHECK(shared.wavefronts == last + 1 + (cc < 30 && cc >= 20 && width == 16 && count),
          "cc %d: %d wavefronts, %d used", cc, shared.wavefronts, last + 1);
}

/* Aligned transactions cover each active lane's bytes, and their bytes are the cost. */
static void check_transactions(int cc, int l1, int store, const tilemm_warp_access_t *access)
{
    const unsigned width = (unsigned)access->elem_bytes;
    tilemm_transaction_t moved[32];
    tilemm_global_cost_t global;
    int count;
    CHECK(tilemm_model_transactions(cc, l1, store, access, moved, &count) == TILEMM_SUCCESS,
          "transactions");
    CHECK(tilemm_model_global(cc, l1, store, access, &global) == TILEMM_SUCCESS, "global");
    CHECK(count == global.transactions && count <= 32, "%d transactions", count);
    for (int lane = 0; lane < 32; lane++) {
        const uint64_t from = access->addr[lane];
        int covered = 0;
        if (!(access->active >> lane & 1))
            continue;
        for (int t = 0; t < count; t++)
            covered |=
                from >= moved[t].addr && from + width <= moved[t].addr + (unsigned)moved[t].bytes;
        CHECK(covered, "cc %d: lane %d's bytes are not moved", cc, lane);
    }
    for (int t = 0; t < count; t++) {
        for (int other = 0; other < t && cc >= 50; other++)
            CHECK(moved[other].addr != moved[t].addr, "cc %d: a sector is moved twice", cc);
        CHECK(cc < 50 || moved[t].bytes == 32, "cc %d: a sector of %d bytes", cc, moved[t].bytes);
        global.transaction_bytes_total -= moved[t].bytes;
        CHECK(moved[t].addr % (unsigned)moved[t].bytes == 0, "an unaligned transaction");
    }
    CHECK(global.transaction_bytes_total == 0, "bytes");
}

#define REFUSED(call) CHECK((call) == TILEMM_INVALID_ARGUMENT, #call)

int main(void)
{
    static const int ccs[] = {10, 13, 20, 35, 50, 75, 90, 120};
    for (int i = 0; i < 4000; i++) {
        const tilemm_warp_access_t access = random_access();
        check_banks(ccs[i % 8], i / 16 % 2, &access);
        check_transactions(ccs[i % 8], i / 8 % 2, i / 16 % 2, &access);
    }
    const tilemm_warp_access_t access = strided(4, 0, 4);
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    tilemm_transaction_t moved[32];
    int count;
    REFUSED(tilemm_model_banks(90, 0, NULL, uses, &count));
    REFUSED(tilemm_model_banks(90, 0, &access, NULL, &count));
    REFUSED(tilemm_model_banks(90, 0, &access, uses, NULL));
    REFUSED(tilemm_model_transactions(9, 0, 0, &access, moved, &count));
    REFUSED(tilemm_model_transactions(90, 0, 0, &access, NULL, &count));
    REFUSED(tilemm_model_transactions(90, 0, 0, &access, moved, NULL));
    return check_exit();
}
