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
                         {(unsigned)launch->blocks, (unsigned)launch->threads, launch->shared,
                          (unsigned)launch->cluster, launch->concurrent != 0},
                         (cudaStream_t)stream, parameters...);
}

extern "C" int tilemm__reduce_launch(const tilemm__reduce_launch_t *l, void *stream)
{
    switch (l->kernel) {
    case TILEMM__SUM_CLUSTER:
    case TILEMM__SEARCH_CLUSTER:
    case TILEMM__SUM_BLOCK:
    case TILEMM__SINGLE:
    case TILEMM__SUM_FEW_ROWS:
    case TILEMM__SEARCH_FEW_ROWS:
    case TILEMM__SEARCH_BLOCK: return start(l, stream, l->args);
    case TILEMM__SUM_TILES:
        return start(l, stream, l->args, l->item_tiles, l->warps, l->items, l->to);
    case TILEMM__SUM_SPLIT:
    case TILEMM__SEARCH_HELD: return start(l, stream, l->args, l->items, l->to);
    case TILEMM__SUM_SHORT: return start(l, stream, l->args, l->to);
    case TILEMM__SEARCH_TILES:
        return start(l, stream, l->args, l->warps, l->items, l->first_index, l->to);
    case TILEMM__SEARCH_SHORT: return start(l, stream, l->args, l->first_index, l->to);
    case TILEMM__SUM_COLUMNS:
        return start(l, stream, l->args, l->tiles, l->columns, l->transposed, l->to);
    case TILEMM__SUM_NARROW: return start(l, stream, l->args, l->tiles, l->to);
    case TILEMM__SUM_TWO_TILES:
    case TILEMM__SUM_LOW_COLUMNS: return start(l, stream, l->args, l->columns);
    case TILEMM__SEARCH_COLUMNS:
        return start(l, stream, l->args, l->tiles, l->columns, l->transposed, l->first_index,
                     l->to);
    case TILEMM__PARTIALS_TILES:
        return start(l, stream, l->args, l->length, l->tiles, l->from, l->to);
    case TILEMM__PARTIALS_SHORT:
        return start(l, stream, l->args, (int)l->length, l->group, l->from, l->to);
    case TILEMM__PARTIALS_TRANSPOSED:
    case TILEMM__PARTIALS_LAST:
    case TILEMM__PARTIALS_BLOCK: return start(l, stream, l->args, (int)l->length, l->from);
    case TILEMM__SEGMENTS_WARP:
    case TILEMM__SEGMENTS_GROUP: return start(l, stream, l->segments, l->warp_limit, l->lists);
    case TILEMM__SEGMENTS_BLOCK:
    case TILEMM__SEGMENTS_SPANS: return start(l, stream, l->segments, l->lists);
    }
    return cudaErrorInvalidValue;
}
