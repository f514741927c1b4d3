/* access.c - what one warp's access to shared or global memory costs, by the rules that the CUDA
 * C++ Programming Guide gives for each compute capability.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tilemm.h"

enum { WARP = 32, HALF_WARP = 16, MAX_BANKS = 32, MAX_WORDS = 4 * WARP };

tilemm_status_t tilemm_model_check(int cc, const tilemm_warp_access_t *access, char *message,
                                   size_t size)
{
    if (size > 0)
        message[0] = '\0';
    if (cc < 10) {
        snprintf(message, size, "cc = %d, must be 10 (compute capability 1.0) or more", cc);
        return TILEMM_INVALID_ARGUMENT;
    }
    if (!access) {
        snprintf(message, size, "access is NULL");
        return TILEMM_INVALID_ARGUMENT;
    }
    int width = access->elem_bytes;
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16) {
        snprintf(message, size, "elem_bytes = %d, must be 1, 2, 4, 8 or 16", width);
        return TILEMM_INVALID_ARGUMENT;
    }
    for (int lane = 0; lane < WARP; lane++)
        if (access->active >> lane & 1 && access->addr[lane] % (unsigned)width) {
            snprintf(message, size, "addr[%d] = %" PRIu64 ", must be a multiple of elem_bytes = %d",
                     lane, access->addr[lane], width);
            return TILEMM_INVALID_ARGUMENT;
        }
    return TILEMM_SUCCESS;
}

static int is_valid(int cc, const tilemm_warp_access_t *access)
{
    return tilemm_model_check(cc, access, NULL, 0) == TILEMM_SUCCESS;
}

static int is_active(const tilemm_warp_access_t *access, int lane)
{
    return access->active >> lane & 1;
}

/* The position of a value in a set, to which it is added if it is new. */
static int place(uint64_t *set, int *size, uint64_t value)
{
    int i = 0;
    while (i < *size && set[i] != value)
        i++;
    set[i] = value;
    *size += i == *size;
    return i;
}

/* ---- shared memory ----------------------------------------------------------------------- */

/* An access as it is served: what was served so far, and what that cost. */
typedef struct {
    tilemm_bank_use_t *uses; /* room for TILEMM_MODEL_MOST_USES */
    int count;
    tilemm_shared_cost_t cost;
} service_t;

static void serve(service_t *service, int lane, int part, int bank, int wavefront)
{
    tilemm_bank_use_t *use = &service->uses[service->count++];
    use->lane = lane;
    use->part = part;
    use->bank = bank;
    use->group = service->cost.ideal;
    use->wavefront = service->cost.wavefronts + wavefront;
}

/* So many wavefronts have served a group of lanes. */
static void end_group(service_t *service, int wavefronts)
{
    service->cost.wavefronts += wavefronts;
    service->cost.ideal += wavefronts > 0;
    if (wavefronts > service->cost.degree)
        service->cost.degree = wavefronts;
}

/* 1.x: a half-warp's request for 4-byte words (part of wider elements) goes in steps. A step
 * serves every lane that wants the broadcast word, and one lane of each other bank. The guide
 * leaves open which word is broadcast; taken here is the one that most lanes of the fullest bank
 * want, which takes the fewest steps. */
static void group_1x(const tilemm_warp_access_t *access, int first, int part, service_t *service)
{
    enum { BANKS = 16 };
    uint64_t word[HALF_WARP];
    int waiting[HALF_WARP], left = 0, steps = 0;
    for (int i = 0; i < HALF_WARP; i++) {
        waiting[i] = is_active(access, first + i);
        word[i] = access->addr[first + i] / 4 + (unsigned)part;
        left += waiting[i];
    }
    for (; left > 0; steps++) {
        int load[BANKS] = {0}, fullest = -1, most = 0;
        uint64_t broadcast = 0;
        for (int i = 0; i < HALF_WARP; i++)
            load[word[i] % BANKS] += waiting[i];
        for (int bank = 0; bank < BANKS; bank++)
            if (load[bank] && (fullest < 0 || load[bank] > load[fullest]))
                fullest = bank;
        for (int i = 0; i < HALF_WARP; i++) {
            int wanted = 0;
            for (int j = 0; j < HALF_WARP; j++)
                wanted += waiting[j] && word[j] == word[i];
            if (waiting[i] && (int)(word[i] % BANKS) == fullest && wanted > most) {
                most = wanted;
                broadcast = word[i];
            }
        }
        int served[BANKS] = {0};
        served[fullest] = 1;
        for (int i = 0; i < HALF_WARP; i++) {
            int bank = (int)(word[i] % BANKS);
            if (!waiting[i] || (word[i] != broadcast && served[bank]))
                continue;
            served[bank] = 1;
            serve(service, first + i, part, bank, steps);
            waiting[i] = 0;
            left--;
        }
    }
    end_group(service, steps);
}

/* 2.x and later: a bank serves one row of the banks after the other, where 32 banks of `bank_bytes`
 * make rows of `row_bytes` bytes; all lanes that want its part of a row have it together. */
static void group_of(const tilemm_warp_access_t *access, int first, int lanes, unsigned bank_bytes,
                     unsigned row_bytes, service_t *service)
{
    uint64_t rows[MAX_BANKS][MAX_WORDS];
    int size[MAX_BANKS] = {0}, worst = 0;
    unsigned width = (unsigned)access->elem_bytes;
    unsigned step = width < bank_bytes ? width : bank_bytes;
    for (int lane = first; lane < first + lanes; lane++) {
        if (!is_active(access, lane))
            continue;
        for (unsigned part = 0; part < width / step; part++) {
            uint64_t address = access->addr[lane] + part * step;
            int bank = (int)(address / bank_bytes % MAX_BANKS);
            int wavefront = place(rows[bank], &size[bank], address / row_bytes);
            serve(service, lane, (int)part, bank, wavefront);
            if (size[bank] > worst)
                worst = size[bank];
        }
    }
    end_group(service, worst);
}

/* Whether each active lane wants the same as the one whose number differs in the bits `apart`, or
 * that one is not active. */
static int is_shared(const tilemm_warp_access_t *access, int apart)
{
    for (int lane = 0; lane < WARP; lane++)
        if (is_active(access, lane) && is_active(access, lane ^ apart) &&
            access->addr[lane] != access->addr[lane ^ apart])
            return 0;
    return 1;
}

static void serve_all(int cc, int is_store, const tilemm_warp_access_t *access, service_t *service)
{
    int width = access->elem_bytes, major = cc / 10;
    if (major == 1) {
        int parts = width > 4 ? width / 4 : 1;
        for (int first = 0; first < WARP; first += HALF_WARP)
            for (int part = 0; part < parts; part++)
                group_1x(access, first, part, service);
    } else {
        /* Banks of 4 bytes, 128 bytes to a row, where lanes that want one word share it. On 3.x a
         * bank is 8 bytes wide: in its 8-byte mode (taken for elements of 8 bytes and more) a row
         * is 256 bytes; in its 4-byte mode words i and i + 32 of an aligned 64 are one row. */
        int wide = major == 3;
        unsigned bank_bytes = wide && width >= 8 ? 8 : 4;
        unsigned row_bytes = wide ? 256 : 128;
        int bytes = wide ? 256 : 128; /* that one pass can move */
        int lanes = width * WARP > bytes ? bytes / width : WARP;
        /* Every two groups of a load are one where all neighbours share, or all next but one. */
        if (major >= 5 && !is_store && lanes < WARP &&
            (is_shared(access, 1) || is_shared(access, 2)))
            lanes *= 2;
        for (int first = 0; first < WARP; first += lanes)
            group_of(access, first, lanes, bank_bytes, row_bytes, service);
        if (major == 2 && width == 16 && service->cost.wavefronts > 0) {
            /* The guide: one way more than the worst quarter-warp. */
            service->cost.wavefronts++;
            service->cost.degree++;
        }
    }
    service->cost.conflicts = service->cost.wavefronts - service->cost.ideal;
}

static tilemm_status_t model_shared(int cc, int is_store, const tilemm_warp_access_t *access,
                                    tilemm_shared_cost_t *cost)
{
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    service_t service = {.uses = uses};
    if (!cost || !is_valid(cc, access))
        return TILEMM_INVALID_ARGUMENT;
    serve_all(cc, is_store, access, &service);
    *cost = service.cost;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_model_shared(int cc, const tilemm_warp_access_t *access,
                                    tilemm_shared_cost_t *cost)
{
    return model_shared(cc, 1, access, cost);
}

tilemm_status_t tilemm_model_shared_load(int cc, const tilemm_warp_access_t *access,
                                         tilemm_shared_cost_t *cost)
{
    return model_shared(cc, 0, access, cost);
}

tilemm_status_t tilemm_model_banks(int cc, int is_store, const tilemm_warp_access_t *access,
                                   tilemm_bank_use_t *uses, int *count)
{
    service_t service = {.uses = uses};
    if (!uses || !count || !is_valid(cc, access))
        return TILEMM_INVALID_ARGUMENT;
    serve_all(cc, is_store, access, &service);
    *count = service.count;
    return TILEMM_SUCCESS;
}

/* ---- global memory ------------------------------------------------------------------------ */

/* What an access moves: no rule takes more transactions than a warp has lanes. */
typedef struct {
    tilemm_transaction_t *moved;
    int count;
} traffic_t;

static void move(traffic_t *traffic, uint64_t addr, uint64_t bytes)
{
    tilemm_transaction_t *moved = &traffic->moved[traffic->count++];
    moved->addr = addr;
    moved->bytes = (int)bytes;
}

/* 1.0 and 1.1: a half-warp coalesces if lane k accesses word k of an aligned block of 16 words of
 * 4, 8 or 16 bytes; otherwise each lane has a transaction of its own. */
static void global_10(const tilemm_warp_access_t *access, int first, traffic_t *traffic)
{
    unsigned width = (unsigned)access->elem_bytes;
    uint64_t base = 0;
    int in_sequence = width >= 4, active = 0;
    for (int i = 0; i < HALF_WARP; i++) {
        if (!is_active(access, first + i))
            continue;
        uint64_t start = access->addr[first + i] - (uint64_t)i * width;
        if (!active++)
            base = start;
        in_sequence &= start == base && base % (HALF_WARP * width) == 0;
    }
    if (active && in_sequence) {
        for (unsigned part = 0; part < (width == 16 ? 2u : 1u); part++)
            move(traffic, base + part * 128, width == 4 ? 64 : 128);
    } else {
        for (int lane = first; lane < first + HALF_WARP; lane++)
            if (is_active(access, lane))
                move(traffic, access->addr[lane] / 32 * 32, 32);
    }
}

/* 1.2 and 1.3: the segment of the lowest lane left takes along all lanes that fall in it, and
 * shrinks by halves while one half is unused, down to 32 bytes. */
static void global_12(const tilemm_warp_access_t *access, int first, traffic_t *traffic)
{
    unsigned width = (unsigned)access->elem_bytes;
    uint64_t segment = width == 1 ? 32 : width == 2 ? 64 : 128;
    int waiting[HALF_WARP];
    for (int i = 0; i < HALF_WARP; i++)
        waiting[i] = is_active(access, first + i);
    for (int lane = 0; lane < HALF_WARP; lane++) {
        if (!waiting[lane])
            continue;
        uint64_t number = access->addr[first + lane] / segment;
        uint64_t low = UINT64_MAX, high = 0; /* first and last byte wanted */
        for (int i = lane; i < HALF_WARP; i++) {
            uint64_t address = access->addr[first + i];
            if (!waiting[i] || address / segment != number)
                continue;
            waiting[i] = 0;
            low = address < low ? address : low;
            high = address + width - 1 > high ? address + width - 1 : high;
        }
        uint64_t bytes = segment;
        while (bytes > 32 && low / (bytes / 2) == high / (bytes / 2))
            bytes /= 2;
        move(traffic, low / bytes * bytes, bytes);
    }
}

/* 2.x and later: each request (128 bytes' worth of lanes at most on 2.x and 3.x, the warp later)
 * moves the aligned blocks that it touches. */
static void global_blocks(const tilemm_warp_access_t *access, int first, int lanes, unsigned block,
                          traffic_t *traffic)
{
    uint64_t blocks[WARP];
    int size = 0;
    for (int lane = first; lane < first + lanes; lane++)
        if (is_active(access, lane)) /* aligned elements never straddle a block */
            place(blocks, &size, access->addr[lane] / block);
    for (int i = 0; i < size; i++)
        move(traffic, blocks[i] * block, block);
}

/* Bytes wanted, each counted once: elements are aligned, so they are the same or apart. */
static int distinct_bytes(const tilemm_warp_access_t *access)
{
    uint64_t addresses[WARP];
    int size = 0;
    for (int lane = 0; lane < WARP; lane++)
        if (is_active(access, lane))
            place(addresses, &size, access->addr[lane]);
    return size * access->elem_bytes;
}

static void move_all(int cc, int cached_in_l1, int is_store, const tilemm_warp_access_t *access,
                     traffic_t *traffic)
{
    int width = access->elem_bytes;
    int lanes = cc < 20 ? HALF_WARP : cc < 50 && width > 4 ? 128 / width : WARP;
    unsigned block = cc < 50 && cached_in_l1 && !is_store ? 128 : 32;
    for (int first = 0; first < WARP; first += lanes)
        if (cc < 12)
            global_10(access, first, traffic);
        else if (cc < 20)
            global_12(access, first, traffic);
        else
            global_blocks(access, first, lanes, block, traffic);
}

tilemm_status_t tilemm_model_transactions(int cc, int cached_in_l1, int is_store,
                                          const tilemm_warp_access_t *access,
                                          tilemm_transaction_t *moved, int *count)
{
    traffic_t traffic = {.moved = moved};
    if (!moved || !count || !is_valid(cc, access))
        return TILEMM_INVALID_ARGUMENT;
    move_all(cc, cached_in_l1, is_store, access, &traffic);
    *count = traffic.count;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_model_global(int cc, int cached_in_l1, int is_store,
                                    const tilemm_warp_access_t *access, tilemm_global_cost_t *cost)
{
    tilemm_transaction_t moved[WARP];
    int count;
    if (!cost || tilemm_model_transactions(cc, cached_in_l1, is_store, access, moved, &count) !=
                     TILEMM_SUCCESS)
        return TILEMM_INVALID_ARGUMENT;
    memset(cost, 0, sizeof *cost);
    cost->transactions = count;
    for (int i = 0; i < count; i++)
        cost->transaction_bytes_total += moved[i].bytes;
    cost->bytes_requested = distinct_bytes(access);
    cost->efficiency = count ? (double)cost->bytes_requested / cost->transaction_bytes_total : 1.0;
    return TILEMM_SUCCESS;
}
