/* tile.cu - transpose out of place of matrices whose rows are aligned, by square tiles.
 *
 * A tile passes through shared memory by chunks of 8 or 16 bytes, free of bank conflicts, with both
 * sides coalesced; small blocks are transposed in registers. Each block walks over tiles with the
 * stride of the grid, so that any number of tiles fits any grid.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap and whose rows are aligned
 * to the row's access; sizes above 0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* Where a tile lies, and how much of it is there. */
typedef struct {
    const unsigned char *src;
    unsigned char *dst;
    int64_t rows, cols;
} place_t;

/* Blocks that run together go down the same columns of the source, and so write whole rows of the
 * destination: memory is fastest so. */
static __device__ __forceinline__ place_t place(const tilemm__transpose_tiles_t *p, uint64_t t,
                                                uint64_t tile_rows, uint64_t tile_cols, int edge,
                                                int bytes)
{
    const uint64_t column = quotient(t, tile_rows), number = quotient(column, tile_cols);
    const int64_t i = (int64_t)(t - column * tile_rows) * edge;
    const int64_t j = (int64_t)(column - number * tile_cols) * edge;
    const int64_t src = (int64_t)number * p->stride_src + i * p->ld_src + j;
    const int64_t dst = (int64_t)number * p->stride_dst + j * p->ld_dst + i;
    return {(const unsigned char *)p->src + src * bytes, (unsigned char *)p->dst + dst * bytes,
            p->rows - i, p->cols - j};
}

/* Blocks that a multiprocessor must have room for, which bounds registers: 1536 threads (1024 is
 * the most on compute capability 7.5), or half of that where a thread holds over 64 bytes. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64 && (threads) <= 256 ? 768 / (threads) : 1024 / (threads))
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 800 &&                                             \
    __CUDA_ARCH__ < 890 /* 8.6 and 8.7 have 16 blocks at most */
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64        ? ((threads) > 256 ? 1024 : 768) / (threads)                               \
     : (threads) >= 128 ? 1536 / (threads)                                                         \
                        : 16)
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200 /* see ROOM_FOR() */
#define RESIDENT(held, threads) ((threads) > 256 ? 2 : 0)
#else
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64 ? ((threads) > 256 ? 1024 : 768) / (threads) : 1536 / (threads))
#endif

template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM, int THREADS>
static __device__ __forceinline__ void tile(const tilemm__transpose_tiles_t p)
{
    extern __shared__ __align__(16) unsigned char storage[];
    const uint64_t tile_rows = tiles_along(p.rows, EDGE), tile_cols = tiles_along(p.cols, EDGE);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;
    begin(p);
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const place_t at = place(&p, t, tile_rows, tile_cols, EDGE, BYTES);
        if (t != blockIdx.x)
            __syncthreads();
        tile_in<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>(storage, at.src, p.ld_src, at.rows,
                                                            at.cols, p.scaled, p.alpha);
        __syncthreads();
        tile_out<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>(at.dst, storage, p.ld_dst, at.cols,
                                                             at.rows);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, RESIDENT(rows * cols * bytes / threads, threads)),     \
                     tilemm__transpose_tiles_t, tile<bytes, chunk, rows, access, facet, threads>)
TILEMM__TRANSPOSE_TILE_ROWS(KERNEL)

#define TILE_ROW(method, tag, bytes, rows, cols, chunk, access, threads, facet)                    \
    ROW_WITH_SHARED(method, tag, threads, rows *cols *bytes)

LAUNCHER(tile, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_TILE_ROWS(TILE_ROW))
