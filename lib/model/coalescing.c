/* coalescing.c - what one warp's access to global memory moves, by the rules that the CUDA C++
 * Programming Guide gives for each compute capability.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "warp.h"

/* What an access moves: no rule takes more transactions than a warp has lanes. */
typedef struct {
    tilemm_transaction_t *moved;
    int count;
} traffic_t;

static void move(traffic_t *traffic, uint64_t addr, uint64_t bytes)
{
    traffic->moved[traffic->count++] = (tilemm_transaction_t){addr, (int)bytes};
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
    if (active && in_sequence)
        for (unsigned part = 0; part < (width == 16 ? 2u : 1u); part++)
            move(traffic, base + part * 128, width == 4 ? 64 : 128);
    else
        for (int lane = first; lane < first + HALF_WARP; lane++)
            if (is_active(access, lane))
                move(traffic, access->addr[lane] / 32 * 32, 32);
}

/* 1.2 and 1.3: the segment of the lowest lane that waits takes along all lanes that fall in it, and
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

tilemm_status_t tilemm_model_transactions(int cc, int cached_in_l1, int is_store,
                                          const tilemm_warp_access_t *access,
                                          tilemm_transaction_t *moved, int *count)
{
    traffic_t traffic = {.moved = moved};
    if (!moved || !count || !is_valid(cc, access))
        return TILEMM_INVALID_ARGUMENT;
    const int width = access->elem_bytes;
    const int lanes = cc < 20 ? HALF_WARP : cc < 50 && width > 4 ? 128 / width : WARP;
    const unsigned block = cc < 50 && cached_in_l1 && !is_store ? 128 : 32;
    for (int first = 0; first < WARP; first += lanes)
        if (cc < 12)
            global_10(access, first, &traffic);
        else if (cc < 20)
            global_12(access, first, &traffic);
        else
            global_blocks(access, first, lanes, block, &traffic);
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
    *cost =
        (tilemm_global_cost_t){.transactions = count, .bytes_requested = distinct_bytes(access)};
    for (int i = 0; i < count; i++)
        cost->transaction_bytes_total += moved[i].bytes;
    cost->efficiency = count ? (double)cost->bytes_requested / cost->transaction_bytes_total : 1.0;
    return TILEMM_SUCCESS;
}
