/* rows_cuda.c - the rows of kernels/reduce/variants.h, and launches made from them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "rows_cuda.h"

#include "kernels/reduce/variants.h"
#include "lib/size.h"

enum { LANES = TILEMM__TILE_LANES, WARPS = TILEMM__REDUCE_WARPS, THREADS = WARPS * LANES };

const tilemm__reduce_row_t tilemm__reduce_rows[] = {
#define ROW(name, kernel, cc, ...) {#name, TILEMM__##kernel, cc, {__VA_ARGS__}},
    TILEMM__REDUCE_ROWS(ROW)
#undef ROW
};

int tilemm__find_reduce_row(tilemm__reduce_kernel_t kernel, int first, int second, int third)
{
    const int wanted[] = {first, second, third};

    for (int i = 0; i < TILEMM__REDUCE_ROW_COUNT; i++) {
        int fits = tilemm__reduce_rows[i].kernel == kernel;

        for (int j = 0; j < 3; j++)
            fits = fits &&
                   (wanted[j] == TILEMM__ANY || wanted[j] == tilemm__reduce_rows[i].facets[1 + j]);
        if (fits)
            return i;
    }
    return 0; /* never */
}

void tilemm__set_reduce_row(tilemm__reduce_launch_t *launch, int row,
                            const tilemm__cuda_traits_t *traits)
{
    launch->variant = row;
    launch->kernel = tilemm__reduce_rows[row].kernel;
    launch->threads = THREADS;
    launch->cluster = 1;
    launch->concurrent = tilemm__reduce_rows[row].facets[0] && traits->cc >= 90;
}

/* ---- sizes of launches ------------------------------------------------------------------ */

/* Blocks of a kernel that loops, so that a grid of any size does. */
static int64_t looped(int64_t blocks)
{
    return tilemm__min(blocks, INT32_MAX);
}

void tilemm__size_reduce_launch(tilemm__reduce_launch_t *launch, int64_t vectors, int64_t length)
{
    const int *facets = tilemm__reduce_rows[launch->variant].facets + 1;
    const int64_t tiles = tilemm__tile_count(length);
    const int64_t columns = tilemm__div_up(vectors, TILEMM__DOWN_COLS);
    int64_t blocks = looped(vectors);

    launch->with.args.count = vectors;
    if (launch->kernel < TILEMM__PARTIALS_TILES)
        launch->with.args.n = length;
    switch (launch->kernel) {
    case TILEMM__SUM_TILES: {
        tilemm__sum_tiles_t *p = &launch->with.sum_tiles;

        p->items = tilemm__div_up(tiles, p->tiles);
        blocks = tilemm__div_up(vectors * p->items, launch->threads / LANES / p->warps);
        break;
    }
    case TILEMM__SUM_SPLIT:
        launch->with.sum_split.items = tilemm__div_up(tiles, TILEMM__REDUCE_FOLD_TILES);
        blocks = vectors * launch->with.sum_split.items * facets[1];
        break;
    case TILEMM__SEARCH_TILES: {
        const tilemm__search_tiles_t *p = &launch->with.search_tiles;

        blocks = tilemm__div_up(vectors * p->items, WARPS / p->warps);
        break;
    }
    case TILEMM__SUM_SHORT:
    case TILEMM__SEARCH_SHORT:
        blocks = looped(tilemm__div_up(vectors, (int64_t)facets[0] * WARPS));
        break;
    case TILEMM__SUM_CLUSTER: blocks = vectors * TILEMM__REDUCE_CLUSTER; break;
    case TILEMM__SINGLE:
        blocks = tilemm__div_up(vectors, TILEMM__REDUCE_SINGLE_VECTORS * THREADS);
        break;
    case TILEMM__SUM_COLUMNS:
        launch->with.sum_columns.tiles = tiles;
        launch->with.sum_columns.columns = columns;
        blocks = tiles * columns * facets[3];
        break;
    case TILEMM__SUM_LOW_COLUMNS:
        launch->with.sum_low_columns.columns = columns;
        blocks = columns;
        break;
    case TILEMM__SEARCH_COLUMNS:
        launch->with.search_columns.tiles = tiles;
        launch->with.search_columns.columns = columns;
        blocks = tiles * columns;
        break;
    case TILEMM__PARTIALS_TILES:
        launch->with.partials_tiles.length = length;
        launch->with.partials_tiles.tiles = tiles;
        blocks = looped(tilemm__div_up(vectors * tiles, WARPS));
        break;
    case TILEMM__PARTIALS_SHORT: {
        tilemm__partials_short_t *p = &launch->with.partials_short;

        p->length = (int)length;
        for (p->group = 1; p->group < length;)
            p->group *= 2;
        blocks = tilemm__div_up(vectors, LANES / p->group * WARPS);
        break;
    }
    case TILEMM__PARTIALS_TRANSPOSED:
        launch->with.partials_last.length = (int)length;
        blocks = tilemm__div_up(vectors, TILEMM__REDUCE_TRANSPOSED_THREADS);
        break;
    case TILEMM__PARTIALS_LAST:
    case TILEMM__PARTIALS_BLOCK: launch->with.partials_last.length = (int)length; break;
    default: break; /* a block for each vector */
    }
    launch->blocks = blocks;
}
