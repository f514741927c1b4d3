/* transpose_tile.cu - transpose out of place, through a tile in shared memory that is free of bank
 * conflicts, with both sides coalesced.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; as much
 * alignment as the launch says.
 *
 * Four kernels. `chunks` moves 8- or 16-byte chunks on every side and turns small blocks over in
 * registers; `scalar` and `words` do without alignment; `strip` takes matrices that are far from
 * filling a square tile. Each block walks over tiles with the stride of the grid, so that any
 * number of tiles fits any grid.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "transpose_tile.cuh"

/* Blocks that should fit a multiprocessor at least, which bounds registers: with tiles of 32 KiB,
 * with those of 16 KiB whose threads hold less, and with what has no chunks. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { THREADS = TILEMM__TRANSPOSE_THREADS, LARGE = 3, SMALL = 4, SINGLE = 4 };
#else
enum { THREADS = TILEMM__TRANSPOSE_THREADS, LARGE = 3, SMALL = 6, SINGLE = 4 };
#endif

/* Where a tile lies: source and destination, and how much of it is there. */
typedef struct {
    const unsigned char *src;
    unsigned char *dst;
    int64_t rows, cols;
} place_t;

static __device__ __forceinline__ place_t place(const tilemm__transpose_launch_t *p, uint64_t t,
                                                uint64_t tile_rows, uint64_t tile_cols, int edge,
                                                int bytes)
{
    const uint64_t each = tile_rows * tile_cols, number = t / each;
    int64_t i, j;
    place_t at;

    tilemm__transpose_order(t - number * each, tile_rows, tile_cols, p->band, &i, &j);
    i *= edge;
    j *= edge;
    at.src = (const unsigned char *)p->src +
             ((int64_t)number * p->stride_src + i * p->ld_src + j) * bytes;
    at.dst =
        (unsigned char *)p->dst + ((int64_t)number * p->stride_dst + j * p->ld_dst + i) * bytes;
    at.rows = p->rows - i;
    at.cols = p->cols - j;
    return at;
}

static __host__ __device__ __forceinline__ uint64_t tiles_along(int64_t size, int edge)
{
    return ((uint64_t)size + (uint64_t)edge - 1) / (uint64_t)edge;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM>
static __global__ void __launch_bounds__(THREADS, (EDGE * EDGE * BYTES > 16384 ? LARGE : SMALL))
    chunks(const tilemm__transpose_launch_t p)
{
    __shared__ __align__(16) unsigned char tile[EDGE * EDGE * BYTES];
    const uint64_t tile_rows = tiles_along(p.rows, EDGE), tile_cols = tiles_along(p.cols, EDGE);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;

    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const place_t at = place(&p, t, tile_rows, tile_cols, EDGE, BYTES);

        if (t != blockIdx.x)
            __syncthreads();
        chunks_in<BYTES, CHUNK, EDGE, ALIGN, STREAM>(tile, at.src, p.ld_src, at.rows, at.cols,
                                                     p.scaled, p.alpha);
        __syncthreads();
        chunks_out<BYTES, CHUNK, EDGE, ALIGN, STREAM>(at.dst, tile, p.ld_dst, at.cols, at.rows);
    }
}

/* ---- element by element ---------------------------------------------------------------------- */

template <int BYTES, int EDGE>
static __global__ void __launch_bounds__(THREADS, SINGLE) scalar(const tilemm__transpose_launch_t p)
{
    __shared__
        typename tilemm__element<BYTES>::type tile[EDGE * (EDGE + (BYTES < 4 ? 4 / BYTES : 1))];
    const uint64_t tile_rows = tiles_along(p.rows, EDGE), tile_cols = tiles_along(p.cols, EDGE);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;

    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const place_t at = place(&p, t, tile_rows, tile_cols, EDGE, BYTES);

        if (t != blockIdx.x)
            __syncthreads();
        elements_in<BYTES, EDGE>(tile, at.src, p.ld_src, at.rows, at.cols, p.scaled, p.alpha);
        __syncthreads();
        elements_out<BYTES, EDGE>(at.dst, tile, p.ld_dst, at.cols, at.rows);
    }
}

/* ---- words of small elements ----------------------------------------------------------------- */

/* The word of 4 bytes at p, at any address. Bytes from -before to after - 1 around it are in the
 * same row; where that includes it and the aligned words that it touches they are read instead,
 * else its bytes one by one. Bytes past the row are 0. */
static __device__ __forceinline__ uint32_t get_word(const unsigned char *p, int64_t before,
                                                    int64_t after)
{
    const int shift = (int)((uintptr_t)p & 3);
    uint32_t word = 0;

    if (shift == 0 && after >= 4)
        return *(const uint32_t *)p;
    if (before >= shift && after >= 8 - shift) {
        const uint32_t *q = (const uint32_t *)(p - shift);

        return __funnelshift_r(q[0], q[1], shift * 8);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k < after)
            word |= (uint32_t)p[k] << (k * 8);
    }
    return word;
}

template <int BYTES>
static __global__ void __launch_bounds__(THREADS, SINGLE) words(const tilemm__transpose_launch_t p)
{
    /* A tile row is 128 bytes. Warps take rows in turn, eight at a time so that loads overlap. */
    enum { PER_WORD = 4 / BYTES, EDGE = 128 / BYTES, WARPS = THREADS / 32, TOGETHER = 8 };
    __shared__ uint32_t tile[EDGE * 32];
    const typename tilemm__element<BYTES>::type *elements =
        (const typename tilemm__element<BYTES>::type *)tile;
    const uint64_t tile_rows = tiles_along(p.rows, EDGE), tile_cols = tiles_along(p.cols, EDGE);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const place_t at = place(&p, t, tile_rows, tile_cols, EDGE, BYTES);
        const int64_t before = (p.cols - at.cols) * BYTES + lane * 4;
        const int64_t after = at.cols * BYTES - lane * 4;
        const int64_t height = at.rows < EDGE ? at.rows : (int64_t)EDGE;

        if (t != blockIdx.x)
            __syncthreads();
        for (int first = warp; first < EDGE; first += WARPS * TOGETHER) {
            uint32_t w[TOGETHER];

#pragma unroll
            for (int s = 0; s < TOGETHER; s++) {
                const int row = first + s * WARPS;

                w[s] = 0;
                if (row < at.rows && after > 0)
                    w[s] = get_word(at.src + row * p.ld_src * BYTES + lane * 4, before, after);
            }
#pragma unroll
            for (int s = 0; s < TOGETHER; s++)
                tile[tilemm__transpose_word(first + s * WARPS, lane, BYTES)] = w[s];
        }
        __syncthreads();
        for (int col = warp; col < EDGE && col < at.cols; col += WARPS) {
            unsigned char *row = at.dst + col * p.ld_dst * BYTES;
            /* The words of memory that the tile's part of this row touches: number 0 begins
             * `shift` elements before it, and number 32 holds its last `shift` elements. */
            const int shift = (int)((uintptr_t)row & 3) / BYTES;

            for (int word = lane; word <= (shift ? 32 : 31); word += 32) {
                const int r = word * PER_WORD - shift;
                uint32_t value = 0;

#pragma unroll
                for (int k = 0; k < PER_WORD; k++) {
                    if (r + k >= 0 && r + k < EDGE)
                        value |= (uint32_t)
                                     elements[tilemm__transpose_word(r + k, col / PER_WORD, BYTES) *
                                                  PER_WORD +
                                              col % PER_WORD]
                                 << (k * BYTES * 8);
                }
                if (r >= 0 && r + PER_WORD <= height) {
                    *(uint32_t *)(row + r * BYTES) = value;
                } else {
#pragma unroll
                    for (int k = 0; k < PER_WORD; k++) {
                        if (r + k >= 0 && r + k < height)
                            ((typename tilemm__element<BYTES>::type *)row)[r + k] =
                                (typename tilemm__element<BYTES>::type)(value >> (k * BYTES * 8));
                    }
                }
            }
        }
    }
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* Division of x < 2^16 by d < 2^16: magic is floor(2^32 / d) + 1, and the error x / 2^32 of
 * x * magic / 2^32 is below 1 / d. */
static uint32_t magic(int d)
{
    return d == 1 ? 0 : (uint32_t)((UINT64_C(1) << 32) / (uint64_t)d) + 1;
}

static __device__ __forceinline__ int divided(int x, uint32_t magic)
{
    return magic ? (int)__umulhi((uint32_t)x, magic) : x;
}

typedef struct {
    tilemm__transpose_launch_t launch;
    uint32_t magic_rows, magic_cols;
} strip_t;

template <typename element>
static __global__ void __launch_bounds__(THREADS) strip(const strip_t s)
{
    enum { TOGETHER = 8 };
    __shared__ __align__(16) unsigned char storage[TILEMM__TRANSPOSE_STRIP_BYTES];
    const tilemm__transpose_launch_t &p = s.launch;
    element *tile = (element *)storage;
    const uint64_t tile_rows = tiles_along(p.rows, p.tile_rows);
    const uint64_t tile_cols = tiles_along(p.cols, p.tile_cols);
    const uint64_t each = tile_rows * tile_cols;
    const uint64_t tiles = each * tiles_along(p.batch, p.tile_batch);
    const int total = p.tile_rows * p.tile_cols * p.tile_batch;

    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const uint64_t group = t / each, inside = t - group * each, row = inside / tile_cols;
        const int64_t b0 = (int64_t)group * p.tile_batch;
        const int64_t r0 = (int64_t)row * p.tile_rows;
        const int64_t c0 = (int64_t)(inside - row * tile_cols) * p.tile_cols;
        const element *src = (const element *)p.src + (b0 * p.stride_src + r0 * p.ld_src + c0);
        element *dst = (element *)p.dst + (b0 * p.stride_dst + c0 * p.ld_dst + r0);
        const int64_t matrices = p.batch - b0, rows = p.rows - r0, cols = p.cols - c0;

        if (t != blockIdx.x)
            __syncthreads();
        for (int first = threadIdx.x; first < total; first += THREADS * TOGETHER) {
            element v[TOGETHER];
            int to[TOGETHER];

#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                const int e = first + k * THREADS;
                const int line = divided(e, s.magic_cols), c = e - line * p.tile_cols;
                const int b = divided(line, s.magic_rows), r = line - b * p.tile_rows;

                to[k] = -1;
                if (e < total && b < matrices && r < rows && c < cols) {
                    to[k] = line * p.pitch + c;
                    v[k] = src[b * p.stride_src + r * p.ld_src + c];
                }
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                if (to[k] >= 0)
                    tile[to[k]] = p.scaled ? times(v[k], p.alpha) : v[k];
            }
        }
        __syncthreads();
        for (int e = threadIdx.x; e < total; e += THREADS) {
            const int line = divided(e, s.magic_rows), r = e - line * p.tile_rows;
            const int b = divided(line, s.magic_cols), c = line - b * p.tile_cols;

            if (b < matrices && r < rows && c < cols)
                dst[b * p.stride_dst + c * p.ld_dst + r] =
                    tile[(b * p.tile_rows + r) * p.pitch + c];
        }
    }
}

/* ---- launchers ------------------------------------------------------------------------------- */

static unsigned grid_for(uint64_t tiles)
{
    return (unsigned)(tiles < 0x7fffffff ? tiles : 0x7fffffff);
}

static unsigned square_grid(const tilemm__transpose_launch_t *p, int edge)
{
    return grid_for(tiles_along(p->rows, edge) * tiles_along(p->cols, edge) * (uint64_t)p->batch);
}

template <int BYTES, int CHUNK, int EDGE, int ALIGN>
static void launch_chunks(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    const unsigned grid = square_grid(p, EDGE);

    if (p->streaming)
        chunks<BYTES, CHUNK, EDGE, ALIGN, true><<<grid, THREADS, 0, stream>>>(*p);
    else
        chunks<BYTES, CHUNK, EDGE, ALIGN, false><<<grid, THREADS, 0, stream>>>(*p);
}

int tilemm__launch_transpose_chunks(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size) {
    case 1: launch_chunks<1, 8, 128, 8>(p, s); break;
    case 2: launch_chunks<2, 16, 128, 16>(p, s); break;
    case 4: launch_chunks<4, 16, 64, 16>(p, s); break;
    case 8: launch_chunks<8, 16, 64, 16>(p, s); break;
    case 16:
        if (p->access == 16)
            launch_chunks<16, 16, 32, 16>(p, s);
        else
            launch_chunks<16, 16, 32, 8>(p, s);
        break;
    default: return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}

int tilemm__launch_transpose_scalar(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size) {
    case 4: scalar<4, 64><<<square_grid(p, 64), THREADS, 0, s>>>(*p); break;
    case 8: scalar<8, 32><<<square_grid(p, 32), THREADS, 0, s>>>(*p); break;
    default: return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}

int tilemm__launch_transpose_words(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size) {
    case 1: words<1><<<square_grid(p, 128), THREADS, 0, s>>>(*p); break;
    case 2: words<2><<<square_grid(p, 64), THREADS, 0, s>>>(*p); break;
    default: return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}

int tilemm__launch_transpose_strip(const tilemm__transpose_launch_t *p, void *stream)
{
    const unsigned grid =
        grid_for(tiles_along(p->rows, p->tile_rows) * tiles_along(p->cols, p->tile_cols) *
                 tiles_along(p->batch, p->tile_batch));
    cudaStream_t s = (cudaStream_t)stream;
    strip_t strips;

    strips.launch = *p;
    strips.magic_rows = magic(p->tile_rows);
    strips.magic_cols = magic(p->tile_cols);
    switch (p->elem_size) {
    case 1: strip<uint8_t><<<grid, THREADS, 0, s>>>(strips); break;
    case 2: strip<uint16_t><<<grid, THREADS, 0, s>>>(strips); break;
    case 4: strip<uint32_t><<<grid, THREADS, 0, s>>>(strips); break;
    case 8: strip<uint2><<<grid, THREADS, 0, s>>>(strips); break;
    case 16:
        if (p->access == 16)
            strip<uint4><<<grid, THREADS, 0, s>>>(strips);
        else
            strip<tilemm__pair><<<grid, THREADS, 0, s>>>(strips);
        break;
    default: return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}
