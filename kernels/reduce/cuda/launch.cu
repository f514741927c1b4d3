/* launch.cu - launches a kernel of the reductions by its row.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "reduce.h"

static const void *find_kernel(int variant)
{
    static const void *(*const find[])(int) = {
        tilemm__reduce_sum_kernel, tilemm__reduce_search_kernel, tilemm__reduce_column_kernel,
        tilemm__reduce_partial_kernel, tilemm__reduce_segment_kernel};
    const void *kernel = NULL;

    for (int i = 0; !kernel && i < (int)(sizeof find / sizeof *find); i++)
        kernel = find[i](variant);
    return kernel;
}

/* Launch with these parameters, which are the kernel's in number, order and type. */
template <typename... PARAMETERS>
static cudaError_t start(const tilemm__reduce_launch_t *launch, void *stream,
                         const PARAMETERS &...parameters)
{
    const auto kernel = (void (*)(PARAMETERS...))find_kernel(launch->variant);

    if (launch->blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration; /* more elements than any memory holds */
    return launch_kernel(kernel,
                         {(unsigned)launch->blocks, (unsigned)launch->threads, 0,
                          (unsigned)launch->cluster, launch->concurrent != 0},
                         (cudaStream_t)stream, parameters...);
}

static cudaError_t launch_row(const tilemm__reduce_launch_t *l, void *stream)
{
    switch (l->kernel) {
    case TILEMM__SUM_CLUSTER:
    case TILEMM__SUM_BLOCK:
    case TILEMM__SINGLE:
    case TILEMM__SEARCH_BLOCK: return start(l, stream, l->with.args);
    case TILEMM__SUM_TILES: {
        const tilemm__sum_tiles_t &p = l->with.sum_tiles;
        return start(l, stream, p.args, p.tiles, p.warps, p.items, p.to);
    }
    case TILEMM__SUM_SPLIT: {
        const tilemm__sum_split_t &p = l->with.sum_split;
        return start(l, stream, p.args, p.items, p.to);
    }
    case TILEMM__SUM_SHORT: {
        const tilemm__sum_short_t &p = l->with.sum_short;
        return start(l, stream, p.args, p.to);
    }
    case TILEMM__SEARCH_TILES: {
        const tilemm__search_tiles_t &p = l->with.search_tiles;
        return start(l, stream, p.args, p.warps, p.items, p.first_index, p.to);
    }
    case TILEMM__SEARCH_SHORT: {
        const tilemm__search_short_t &p = l->with.search_short;
        return start(l, stream, p.args, p.first_index, p.to);
    }
    case TILEMM__SUM_COLUMNS: {
        const tilemm__sum_columns_t &p = l->with.sum_columns;
        return start(l, stream, p.args, p.tiles, p.columns, p.transposed, p.to);
    }
    case TILEMM__SUM_LOW_COLUMNS: {
        const tilemm__sum_low_columns_t &p = l->with.sum_low_columns;
        return start(l, stream, p.args, p.columns);
    }
    case TILEMM__SEARCH_COLUMNS: {
        const tilemm__search_columns_t &p = l->with.search_columns;
        return start(l, stream, p.args, p.tiles, p.columns, p.transposed, p.first_index, p.to);
    }
    case TILEMM__PARTIALS_TILES: {
        const tilemm__partials_tiles_t &p = l->with.partials_tiles;
        return start(l, stream, p.args, p.length, p.tiles, p.from, p.to);
    }
    case TILEMM__PARTIALS_SHORT: {
        const tilemm__partials_short_t &p = l->with.partials_short;
        return start(l, stream, p.args, p.length, p.group, p.from, p.to);
    }
    case TILEMM__PARTIALS_TRANSPOSED:
    case TILEMM__PARTIALS_LAST:
    case TILEMM__PARTIALS_BLOCK: {
        const tilemm__partials_last_t &p = l->with.partials_last;
        return start(l, stream, p.args, p.length, p.from);
    }
    case TILEMM__SEGMENTS_WARP:
    case TILEMM__SEGMENTS_GROUP: {
        const tilemm__segments_warp_t &p = l->with.segments_warp;
        return start(l, stream, p.args, p.warp_limit, p.lists);
    }
    case TILEMM__SEGMENTS_BLOCK:
    case TILEMM__SEGMENTS_SPANS: {
        const tilemm__segments_lists_t &p = l->with.segments_lists;
        return start(l, stream, p.args, p.lists);
    }
    }
    return cudaErrorInvalidValue;
}

extern "C" int tilemm__reduce_launch(const tilemm__reduce_launch_t *launch, void *stream)
{
    return (int)launch_row(launch, stream);
}
