/* banks.c - what one warp's access to shared memory costs, by the rules that the CUDA C++
 * Programming Guide gives for each compute capability.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "warp.h"

enum { MAX_BANKS = 32, MAX_WORDS = 4 * WARP };

/* An access as it is served: what was served so far, and what that cost. */
typedef struct {
    tilemm_bank_use_t *uses; /* room for TILEMM_MODEL_MOST_USES */
    int count;
    tilemm_shared_cost_t cost;
} service_t;

static void serve(service_t *service, int lane, int part, int bank, int wavefront)
{
    service->uses[service->count++] = (tilemm_bank_use_t){lane, part, bank, service->cost.ideal,
                                                          service->cost.wavefronts + wavefront};
}

/* A group of lanes has been served in this number of wavefronts. */
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
    int waiting[HALF_WARP], unserved = 0, steps = 0;
    for (int i = 0; i < HALF_WARP; i++) {
        waiting[i] = is_active(access, first + i);
        word[i] = access->addr[first + i] / 4 + (unsigned)part;
        unserved += waiting[i];
    }
    for (; unserved > 0; steps++) {
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
            unserved--;
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
