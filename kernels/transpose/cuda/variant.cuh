/* variant.cuh - a launcher's table of kernels, made from its rows of variants.h.
 *
 * A kernel is a plain function with the row's name around a template, its body:
 *
 *   #define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)
 *       TRANSPOSE_KERNEL(method, tag, (threads), PARAMETERS, body<bytes, ...>)
 *   ..._ROWS(KERNEL)
 *   LAUNCHER(method, PARAMETERS, ..._ROWS(ROW))
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_CUDA_VARIANT_CUH
#define TILEMM_KERNELS_TRANSPOSE_CUDA_VARIANT_CUH

#include "kernels/cuda/launch.cuh"
#include "transpose.h"

/* bounds: the arguments of __launch_bounds__, in parentheses; then the body. */
#define TRANSPOSE_KERNEL(method, tag, bounds, parameters, ...)                                     \
    KERNEL_OF(TILEMM__TRANSPOSE_NAME(method, tag), bounds, (const parameters p), __VA_ARGS__(p))

#define LAUNCHER(method, parameters, rows_of_method)                                               \
    int tilemm__launch_transpose_##method(const tilemm__transpose_launch_t *launch, const void *p, \
                                          void *stream)                                            \
    {                                                                                              \
        static const row_t<parameters> rows[] = {rows_of_method};                                  \
        return launch_row(rows, launch, (const parameters *)p, stream);                            \
    }

/* The same of kernels whose grid has tiles down, tiles across, and matrices: they need no
 * division, which would come before the first load. */
#define GRID_LAUNCHER(method, rows_of_method)                                                      \
    int tilemm__launch_transpose_##method(const tilemm__transpose_launch_t *launch, const void *p, \
                                          void *stream)                                            \
    {                                                                                              \
        static const row_t<tilemm__transpose_tiles_t> rows[] = {rows_of_method};                   \
        const tilemm__transpose_tiles_t *tiles = (const tilemm__transpose_tiles_t *)p;             \
        return launch_row(rows, launch, tiles, stream,                                             \
                          dim3((unsigned)tiles_along(tiles->rows + max(tiles->halo - 1, 0),        \
                                                     tiles->tile_rows - tiles->halo),              \
                               (unsigned)tiles_along(tiles->cols, tiles->tile_cols),               \
                               (unsigned)tiles->batch));                                           \
    }

template <typename PARAMETERS>
struct row_t {
    tilemm__transpose_variant_t variant;
    void (*kernel)(const PARAMETERS);
    unsigned threads;
    size_t shared; /* bytes of dynamic shared memory */
};

#define ROW_WITH_SHARED(method, tag, threads, shared)                                              \
    {TILEMM__TRANSPOSE_INDEX(method, tag), TILEMM__TRANSPOSE_NAME(method, tag), threads, shared},
#define ROW(method, tag, bytes, rows, cols, chunk, access, threads, facet)                         \
    ROW_WITH_SHARED(method, tag, threads, 0)

/* The rows of a method follow each other in variants.h, and so in the table. */
template <typename PARAMETERS, size_t COUNT>
static const row_t<PARAMETERS> *row_of(const row_t<PARAMETERS> (&rows)[COUNT], int variant)
{
    const int index = variant - rows[0].variant;
    return index >= 0 && index < (int)COUNT ? &rows[index] : NULL;
}

/* By launch->blocks blocks, or those of `grid`. */
template <typename PARAMETERS, size_t COUNT>
static int launch_row(const row_t<PARAMETERS> (&rows)[COUNT],
                      const tilemm__transpose_launch_t *launch, const PARAMETERS *p, void *stream,
                      dim3 grid = dim3(0))
{
    const row_t<PARAMETERS> *row = row_of(rows, launch->variant);
    if (!row)
        return (int)cudaErrorInvalidValue;
    const unsigned threads = launch->threads ? launch->threads : row->threads;
    const launch_t how = {grid.x ? grid : dim3(launch->blocks), dim3(threads), row->shared, 0,
                          launch->concurrent != 0};
    return (int)launch_kernel(row->kernel, how, (cudaStream_t)stream, *p);
}

/* The same by blocks that all run at once, and wait for each other, with as much shared memory as a
 * multiprocessor has. */
template <typename PARAMETERS, size_t COUNT>
static int launch_at_once(const row_t<PARAMETERS> (&rows)[COUNT],
                          const tilemm__transpose_launch_t *launch, const PARAMETERS *p,
                          size_t shared, void *stream)
{
    const row_t<PARAMETERS> *row = row_of(rows, launch->variant);
    if (!row)
        return (int)cudaErrorInvalidValue;
    const launch_t how = {
        dim3(launch->blocks), dim3(row->threads), shared, 0, launch->concurrent != 0, true};
    const cudaError_t error =
        cudaFuncSetAttribute(row->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
    return (int)(error ? error : launch_kernel(row->kernel, how, (cudaStream_t)stream, *p));
}

#endif
