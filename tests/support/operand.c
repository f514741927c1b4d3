/* operand.c - operands in every kind of memory, between guard bytes and guard pages.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "operand.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program.h"
#include "tools/gpu.h"

const char *place_name(place_t place)
{
    static const char *const name[] = {"host", "device", "managed", "pinned"};
    return name[place];
}

place_t rng_place(rng_t *rng, tilemm_backend_t backend)
{
    if (backend != TILEMM_BACKEND_CUDA || rng_range(rng, 0, 5) == 0)
        return PLACE_HOST;
    const int64_t one_of_ten = rng_range(rng, 0, 9);
    return one_of_ten == 0 ? PLACE_MANAGED : one_of_ten == 1 ? PLACE_PINNED : PLACE_DEVICE;
}

/* Host memory between two guard pages, which cannot be accessed. */
static unsigned char *fenced_alloc(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *all =
        mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    if (mprotect(all, page, PROT_NONE) || mprotect(all + page + bytes, page, PROT_NONE))
        test_give_up("mprotect failed");
    return all + page;
}

static void region_free(region_t *region, place_t place)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (region->memory && place == PLACE_HOST)
        munmap(region->memory - page, region->capacity + 2 * page);
    else if (region->memory && place == PLACE_PINNED)
        gpu_free_host(region->memory);
    else if (region->memory)
        gpu_free(region->memory);
    *region = (region_t){NULL, 0};
}

static void region_grow(region_t *region, place_t place, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (region->capacity >= bytes)
        return;
    region_free(region, place);
    region->capacity = (bytes + bytes / 4 + page - 1) / page * page;
    region->memory = test_need(place == PLACE_HOST      ? fenced_alloc(region->capacity)
                               : place == PLACE_DEVICE  ? gpu_malloc(region->capacity)
                               : place == PLACE_MANAGED ? gpu_malloc_managed(region->capacity)
                                                        : gpu_malloc_host(region->capacity));
}

static size_t whole(const operand_t *operand)
{
    return operand->guard_before + operand->bytes + operand->guard_after;
}

void operand_prepare(operand_t *operand, place_t place, size_t bytes, int64_t offset)
{
    operand->place = place;
    operand->bytes = bytes;
    operand->guard_before = GUARD_BYTES + (offset > 0 ? (size_t)offset : 0);
    operand->guard_after = place == PLACE_HOST && offset < 0 ? 0 : GUARD_BYTES;
    const size_t total = whole(operand);
    region_t *const region = &operand->region[place];
    region_grow(region, place, total);
    operand->memory = region->memory + (operand->guard_after ? 0 : region->capacity - total);
    operand->pointer = operand->memory + operand->guard_before;
    if (operand->capacity < total) {
        free(operand->store);
        free(operand->saved);
        free(operand->owned);
        operand->capacity = total + total / 4;
        operand->store = test_need(malloc(operand->capacity));
        operand->saved = test_need(malloc(operand->capacity));
        operand->owned = test_need(malloc(operand->capacity));
    }
    memset(operand->store, 0xff, total);
    operand->image = operand->store + operand->guard_before;
    operand->numbers = (void *)operand->image;
    operand->sent = (void *)(operand->saved + operand->guard_before);
}

int64_t rng_offset(rng_t *rng, size_t alignment)
{
    return rng_range(rng, 0, 2) == 0 ? -1 : (int64_t)alignment * rng_range(rng, 0, 3);
}

static void copy_to_memory(operand_t *operand)
{
    if (operand->place != PLACE_DEVICE)
        memcpy(operand->memory, operand->store, whole(operand));
    else if (gpu_to_device(operand->memory, operand->store, whole(operand)) || gpu_synchronize())
        test_give_up("copy to the device failed");
}

void operand_send(operand_t *operand)
{
    memcpy(operand->saved, operand->store, whole(operand));
    memset(operand->owned, 0, whole(operand));
    copy_to_memory(operand);
}

void operand_resend(operand_t *operand)
{
    memcpy(operand->store, operand->saved, whole(operand));
    copy_to_memory(operand);
}

void operand_own(operand_t *operand, size_t first_byte, size_t bytes)
{
    if (first_byte + bytes > operand->bytes)
        test_give_up("a test owns more than its operand has");
    memset(operand->owned + operand->guard_before + first_byte, 1, bytes);
}

void operand_fetch(operand_t *operand)
{
    if ((operand->place == PLACE_DEVICE || operand->place == PLACE_MANAGED) && gpu_synchronize())
        test_give_up("the device failed");
    if (operand->place != PLACE_DEVICE)
        memcpy(operand->store, operand->memory, whole(operand));
    else if (gpu_to_host(operand->store, operand->memory, whole(operand)))
        test_give_up("copy from the device failed");
}

int operand_intact(const operand_t *operand)
{
    const size_t total = whole(operand);
    unsigned char changed = 0;
    if (memcmp(operand->store, operand->saved, total) == 0)
        return 1;
    for (size_t i = 0; i < total; i++)
        changed |= (unsigned char)((operand->store[i] ^ operand->saved[i]) &
                                   (unsigned char)(operand->owned[i] - 1));
    return !changed;
}

void operand_free(operand_t *operand)
{
    for (int place = 0; place < PLACE_COUNT; place++)
        region_free(&operand->region[place], (place_t)place);
    free(operand->store);
    free(operand->saved);
    free(operand->owned);
    memset(operand, 0, sizeof(*operand));
}
