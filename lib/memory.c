/* memory.c - memory of the library's own: matrices that a context allocates, and host memory that
 * it pins. A context lists what it holds and releases it at its end.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "internal.h"
#include "size.h"

static const char *const kinds[] = {"HOST", "PINNED", "DEVICE", "MANAGED"};

/* The link that leads to the holding at this address; NULL if there is none. */
static tilemm__holding_t **find(tilemm_t ctx, const void *memory, int registered)
{
    for (tilemm__holding_t **link = &ctx->holdings; *link; link = &(*link)->next)
        if ((*link)->memory == memory && (*link)->registered == registered)
            return link;
    return NULL;
}

static tilemm_status_t release(tilemm_t ctx, tilemm__holding_t *holding)
{
    if (holding->registered)
        return ctx->backend->unpin(ctx, holding->memory);
    if (holding->where != TILEMM_MEMORY_HOST)
        return ctx->backend->deallocate(ctx, holding->where, holding->memory);
    free(holding->memory);
    return TILEMM_SUCCESS;
}

static void hold(tilemm_t ctx, tilemm__holding_t *holding)
{
    holding->next = ctx->holdings;
    ctx->holdings = holding;
}

static tilemm_status_t let_go(tilemm_t ctx, tilemm__holding_t **link)
{
    tilemm__holding_t *holding = *link;
    const tilemm_status_t status = release(ctx, holding);
    *link = holding->next;
    free(holding);
    return status;
}

/* Work that is queued may use it. */
static tilemm_status_t let_go_idle(tilemm_t ctx, tilemm__holding_t **link)
{
    const tilemm_status_t before = ctx->backend->synchronize(ctx), status = let_go(ctx, link);
    return before != TILEMM_SUCCESS ? before : status;
}

void tilemm__release_holdings(tilemm_t ctx)
{
    while (ctx->holdings)
        (void)let_go(ctx, &ctx->holdings);
}

static tilemm_status_t allocate(tilemm_t ctx, tilemm__holding_t *holding, size_t bytes)
{
    /* A page: no matrix shares its first cache line, and the largest vectors are aligned. */
    enum { ALIGNMENT = 4096 };
    if (holding->where != TILEMM_MEMORY_HOST)
        return ctx->backend->allocate(ctx, holding->where, bytes, &holding->memory);
    if (posix_memalign(&holding->memory, ALIGNMENT, bytes) == 0)
        return TILEMM_SUCCESS;
    return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "alloc_matrix: %zu bytes of host memory: none",
                        bytes);
}

tilemm_status_t tilemm_alloc_matrix(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols,
                                    size_t elem_size, void **matrix, int64_t *ld)
{
    static const char name[] = "alloc_matrix";
    /* A cache line of the CPU; what a GPU's copies and loads like. */
    const int64_t row_bytes = ctx && ctx->backend->id == TILEMM_BACKEND_CUDA ? 256 : 64;
    if (!tilemm__check_context(ctx) ||
        !tilemm__check_pointer(ctx, name, "matrix", matrix, _Alignof(void *)))
        return TILEMM_INVALID_ARGUMENT;
    *matrix = NULL;
    if (!tilemm__check_pointer(ctx, name, "ld", ld, _Alignof(int64_t)) ||
        !tilemm__check_at_least(ctx, name, "rows", rows, 0) ||
        !tilemm__check_at_least(ctx, name, "cols", cols, 0))
        return TILEMM_INVALID_ARGUMENT;
    if ((unsigned)where > TILEMM_MEMORY_MANAGED)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "alloc_matrix: where = %d, must be one of tilemm_memory_t, 0 to 3",
                            (int)where);
    if (!tilemm__is_elem_size(elem_size))
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "alloc_matrix: elem_size = %zu, must be 1, 2, 4, 8 or 16 bytes",
                            elem_size);
    if (cols > INT64_MAX / 32 ||
        !tilemm__check_span(ctx, name, "matrix", "ld", rows, cols,
                            tilemm__round_up(cols, row_bytes), 1, 0, elem_size))
        return cols > INT64_MAX / 32
                   ? tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                                  "alloc_matrix: cols = %lld, must be at most %lld",
                                  (long long)cols, (long long)(INT64_MAX / 32))
                   : TILEMM_INVALID_ARGUMENT;
    if (where != TILEMM_MEMORY_HOST && !ctx->backend->allocate)
        return tilemm__fail(
            ctx, TILEMM_NOT_SUPPORTED,
            "alloc_matrix: where = TILEMM_MEMORY_%s (%d), must be TILEMM_MEMORY_HOST "
            "(0) on a CPU context",
            kinds[where], (int)where);
    const int64_t size = (int64_t)elem_size;
    const int64_t pitch = tilemm__max(tilemm__round_up(cols * size, row_bytes), row_bytes);
    tilemm__holding_t *holding = calloc(1, sizeof *holding);
    if (!holding)
        return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "alloc_matrix: host memory ran out");
    holding->where = where;
    const tilemm_status_t status = allocate(ctx, holding, (size_t)(pitch * tilemm__max(rows, 1)));
    if (status != TILEMM_SUCCESS) {
        free(holding);
        return status;
    }
    hold(ctx, holding);
    *matrix = holding->memory;
    *ld = pitch / size;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_free_matrix(tilemm_t ctx, void *matrix)
{
    if (!tilemm__check_context(ctx))
        return TILEMM_INVALID_ARGUMENT;
    if (!matrix)
        return TILEMM_SUCCESS;
    tilemm__holding_t **link = find(ctx, matrix, 0);
    if (!link)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "free_matrix: matrix = %p, must be from this context's alloc_matrix",
                            matrix);
    return let_go_idle(ctx, link);
}

tilemm_status_t tilemm_register_host(tilemm_t ctx, void *memory, size_t bytes)
{
    if (!tilemm__check_context(ctx) ||
        !tilemm__check_pointer(ctx, "register_host", "memory", memory, 1))
        return TILEMM_INVALID_ARGUMENT;
    if (bytes == 0)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "register_host: bytes = 0, must be at least 1");
    if (!ctx->backend->pin)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                            "register_host: must be called on a CUDA context");
    tilemm__holding_t *holding = calloc(1, sizeof *holding);
    if (!holding)
        return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "register_host: host memory ran out");
    *holding = (tilemm__holding_t){.memory = memory, .registered = 1};
    const tilemm_status_t status = ctx->backend->pin(ctx, memory, bytes);
    if (status != TILEMM_SUCCESS)
        free(holding);
    else
        hold(ctx, holding);
    return status;
}

tilemm_status_t tilemm_unregister_host(tilemm_t ctx, void *memory)
{
    if (!tilemm__check_context(ctx))
        return TILEMM_INVALID_ARGUMENT;
    tilemm__holding_t **link = find(ctx, memory, 1);
    if (!link)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "unregister_host: memory = %p, must be from this context's "
                            "register_host",
                            memory);
    return let_go_idle(ctx, link);
}

tilemm_status_t tilemm_set_device_memory(tilemm_t ctx, size_t bytes)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    ctx->device_memory = bytes;
    return TILEMM_SUCCESS;
}
