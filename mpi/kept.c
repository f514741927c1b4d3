/* kept.c - see kept.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "kept.h"

tilemm_status_t tilemm__alloc(tilemm_grid_t grid, tilemm_memory_t where, int64_t count,
                              float **memory)
{
    void *matrix = NULL;
    int64_t ld;
    if (!grid->cuda)
        where = TILEMM_MEMORY_HOST;
    const tilemm_status_t status = tilemm__passed(
        grid, tilemm_alloc_matrix(grid->ctx, where, 1, count, sizeof(float), &matrix, &ld));
    *memory = matrix;
    return status;
}

static void free_entry(tilemm_grid_t grid, tilemm__kept_t *entry)
{
    (void)tilemm_free_matrix(grid->ctx, entry->memory);
    entry->memory = NULL;
}

/* The smallest that is free and fits; those that are free and do not fit go. */
static tilemm__kept_t *find(tilemm_grid_t grid, tilemm_memory_t where, int64_t count)
{
    tilemm__kept_t *best = NULL;
    for (int i = 0; i < TILEMM__MOST_KEPT; i++) {
        tilemm__kept_t *const entry = &grid->kept[i];
        if (!entry->memory || entry->in_use || entry->where != where)
            continue;
        if (entry->count < count || entry->count / 2 > count)
            free_entry(grid, entry);
        else if (!best || entry->count < best->count)
            best = entry;
    }
    return best;
}

tilemm_status_t tilemm__take(tilemm_grid_t grid, tilemm_memory_t where, int64_t count,
                             float **memory)
{
    tilemm__kept_t *entry = grid->cuda ? find(grid, where, count) : NULL;
    tilemm_status_t status = TILEMM_SUCCESS;
    if (!entry) {
        status = tilemm__alloc(grid, where, count, memory);
        for (int i = 0; i < TILEMM__MOST_KEPT && grid->cuda && *memory && !entry; i++)
            if (!grid->kept[i].memory)
                entry = &grid->kept[i];
        if (entry)
            *entry = (tilemm__kept_t){.memory = *memory, .where = where, .count = count};
    }
    if (entry) {
        entry->in_use = 1;
        *memory = entry->memory;
    }
    return status;
}

void tilemm__give_back(tilemm_grid_t grid, float *memory)
{
    for (int i = 0; i < TILEMM__MOST_KEPT && memory; i++)
        if (grid->kept[i].memory == memory) {
            grid->kept[i].in_use = 0;
            return;
        }
    (void)tilemm_free_matrix(grid->ctx, memory);
}

void tilemm__free_kept(tilemm_grid_t grid)
{
    for (int i = 0; i < TILEMM__MOST_KEPT; i++)
        if (grid->kept[i].memory && !grid->kept[i].in_use)
            free_entry(grid, &grid->kept[i]);
}
