/* layout_search.c - layouts of shared tiles, found by trying: the pad or the swizzle with which
 * given accesses conflict least.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>

#include "tilemm.h"

enum { WARP = 32, MOST_BYTES = 256 * 1024, BANK_ROW = 256 /* bytes, of the widest banks */ };

typedef struct {
    int cc, rows, cols, elem_bytes;
    const tilemm_tile_access_t *accesses;
    int count;
} problem_t;

int64_t tilemm_model_tile_index(const tilemm_tile_layout_t *layout, int row, int col)
{
    return (int64_t)row * layout->pitch +
           (col ^ ((row >> layout->shift) & layout->mask) * layout->group);
}

static int is_power_of_2(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static int is_valid(const problem_t *p)
{
    if (p->cc < 10 || p->rows < 1 || p->cols < 1 || !is_power_of_2(p->elem_bytes) ||
        p->elem_bytes > 16 || !p->accesses || p->count < 1 ||
        (int64_t)p->rows * p->cols > MOST_BYTES / p->elem_bytes)
        return 0;
    for (int i = 0; i < p->count; i++) {
        const tilemm_tile_access_t *a = &p->accesses[i];
        if (a->high < 1 || a->wide < 1 || a->high > WARP || a->wide > WARP ||
            a->high * a->wide > WARP || !is_power_of_2(a->vector) ||
            a->vector > 16 / p->elem_bytes || p->cols % a->vector)
            return 0;
    }
    return 1;
}

/* The conflicts of a warp whose block begins at (row, col). Lanes beyond the tile are inactive. */
static int conflicts_at(const problem_t *p, const tilemm_tile_layout_t *layout,
                        const tilemm_tile_access_t *how, int row, int col)
{
    tilemm_warp_access_t access = {.elem_bytes = how->vector * p->elem_bytes};
    tilemm_shared_cost_t cost;
    for (int lane = 0; lane < how->high * how->wide; lane++) {
        int r = row + lane / how->wide, c = col + lane % how->wide * how->vector;
        if (r >= p->rows || c >= p->cols)
            continue;
        access.active |= 1u << lane;
        access.addr[lane] =
            (uint64_t)tilemm_model_tile_index(layout, r, c) * (unsigned)p->elem_bytes;
    }
    return tilemm_model_shared(p->cc, &access, &cost) == TILEMM_SUCCESS ? cost.conflicts : INT_MAX;
}

/* Tries a layout: it becomes the best if it has fewer conflicts. */
static void try_layout(const problem_t *p, tilemm_tile_layout_t layout, tilemm_tile_layout_t *best)
{
    for (int i = 0; i < p->count; i++) {
        const tilemm_tile_access_t *how = &p->accesses[i];
        for (int row = 0; row < p->rows; row += how->high)
            for (int col = 0; col < p->cols; col += how->wide * how->vector) {
                layout.conflicts += conflicts_at(p, &layout, how, row, col);
                if (layout.conflicts >= best->conflicts)
                    return;
            }
    }
    *best = layout;
}

tilemm_status_t tilemm_model_best_padding(int cc, int rows, int cols, int elem_bytes,
                                          const tilemm_tile_access_t *accesses, int count,
                                          int swizzle, tilemm_tile_layout_t *best)
{
    const problem_t problem = {cc, rows, cols, elem_bytes, accesses, count};
    tilemm_tile_layout_t layout = {.pitch = cols, .group = 1};
    int vector = 1;
    if (!best || !is_valid(&problem))
        return TILEMM_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++)
        if (accesses[i].vector > vector)
            vector = accesses[i].vector;
    best->conflicts = INT_MAX;
    if (!swizzle) {
        /* Vectors stay aligned; a pitch that is a row of the banks longer meets the same banks. */
        for (int pad = 0; pad * elem_bytes < BANK_ROW && best->conflicts; pad += vector) {
            layout.pitch = cols + pad;
            try_layout(&problem, layout, best);
        }
        return TILEMM_SUCCESS;
    }
    try_layout(&problem, layout, best);
    /* Vectors stay together, and every row keeps to its own place. */
    for (layout.mask = 1; cols % (layout.mask + 1) == 0; layout.mask = layout.mask * 2 + 1)
        for (layout.group = vector; cols % (layout.group * (layout.mask + 1)) == 0;
             layout.group *= 2)
            for (layout.shift = 0; rows >> layout.shift > 0 && best->conflicts; layout.shift++)
                try_layout(&problem, layout, best);
    return TILEMM_SUCCESS;
}
