/* joined.cu - transpose out of place, in registers, of 1- and 2-byte elements in rows of any
 * alignment, of data that stays in the L2 cache.
 *
 * A thread has ROWS rows of COLS elements, 8 bytes each. It reads the aligned 8 bytes in which a
 * row of it begins, and those behind, and takes its own out of both; transposes; and joins each
 * column, of WORDS words, with that of the lane above to as many aligned words that begin there.
 * Four lanes go along the rows and eight down; the first of these only lends. No shared memory, no
 * barrier: small matrices are over before a tile has passed through.
 *
 * Bytes between rows may be read, but nothing before a matrix's first element or after its last:
 * a row of a thread that would is read element by element.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; matrices
 * that lie within 2^31 - 2^16 bytes each; a grid of the exact size, of tiles down, tiles across,
 * and matrices.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"
#include "tile.cuh"
#include "variant.cuh"

enum { CHUNK = 8, WORD = 4, ALONG = 4, DOWN = 8 };

/* How far byte `at` from `base` on lies behind a border of UNIT bytes. */
template <int UNIT>
static __device__ __forceinline__ int behind(const unsigned char *base, int at)
{
    return (int)((unsigned)(uintptr_t)base + (unsigned)at) & (UNIT - 1);
}

/* A thread's rows, which begin `at` bytes behind `src` and `ld` from each other. Rows `low` to
 * `high`
 * - 1 and columns below `cols` of them are there, of a matrix of `bytes` bytes. */
template <int BYTES, int ROWS>
static __device__ __forceinline__ void rows_in(uint32_t (&in)[ROWS][CHUNK / 4],
                                               const unsigned char *src, int at, int ld, int low,
                                               int high, int cols, int bytes)
{
    const unsigned chunks = max(bytes - (2 * CHUNK - 1), 0); /* those before are followed by one */
    uint32_t two[ROWS][2 * CHUNK / WORD];
    bool by_element = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int from = at + i * ld - behind<CHUNK>(src, at + i * ld);
        const bool is_there = i >= low && i < high, is_inside = (unsigned)from < chunks;
        if (is_there && is_inside) {
            get<CHUNK>(two[i], src + from);
            get<CHUNK>(two[i] + CHUNK / WORD, src + from + CHUNK);
        }
        by_element |= is_there && !is_inside;
    }
    reads_end(); /* all are under way before the first is waited for */
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        funnel<BYTES, CHUNK>(in[i], two[i], behind<CHUNK>(src, at + i * ld));
    if (!by_element)
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int from = at + i * ld - behind<CHUNK>(src, at + i * ld);
        if (i < low || i >= high || (unsigned)from < chunks)
            continue;
        in[i][0] = in[i][1] = 0;
#pragma unroll
        for (int e = 0; e < CHUNK / BYTES; e++)
            if (e < cols)
                get_element<BYTES>(in[i], e, src + at + i * ld);
    }
}

/* A lane's column, after that of the lane above, from `back` bytes before it on. */
template <int WORDS>
static __device__ __forceinline__ void join(uint32_t (&column)[WORDS], int back)
{
    uint32_t two[2 * WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        two[k] = __shfl_up_sync(~0u, column[k], ALONG);
        two[WORDS + k] = column[k];
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (WORDS == 2)
            two[k] = back & WORD ? two[k] : two[k + 1];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        column[k] = __funnelshift_l(two[k], two[k + 1], back % WORD * 8);
}

template <int BYTES, int WORDS>
static __device__ __forceinline__ void joined(const tilemm__transpose_tiles_t p)
{
    enum { COLUMN = WORDS * WORD, ROWS = COLUMN / BYTES, COLS = CHUNK / BYTES };
    const int lane = threadIdx.x % 32, down = lane / ALONG;
    const int r = ((int)blockIdx.x * (DOWN - 1) + down - 1) * ROWS;
    const int c =
        ((int)((blockIdx.y * blockDim.x + threadIdx.x) / 32) * ALONG + lane % ALONG) * COLS;
    const int ld_src = (int)p.ld_src * BYTES, ld_dst = (int)p.ld_dst * BYTES;
    const unsigned char *const src =
        (const unsigned char *)p.src + blockIdx.z * p.stride_src * BYTES;
    unsigned char *const dst = (unsigned char *)p.dst + blockIdx.z * p.stride_dst * BYTES;
    const int low = -r, high = (int)p.rows - r, cols = (int)p.cols - c;
    const int to = c * ld_dst + r * BYTES;
    uint32_t in[ROWS][CHUNK / 4], column[COLS][WORDS];
    begin(p);
    rows_in<BYTES, ROWS>(in, src, r * ld_src + c * BYTES, ld_src, low, high, cols,
                         (int)(p.rows - 1) * ld_src + (int)p.cols * BYTES);
    transpose_rows<BYTES>(column, in);
#pragma unroll
    for (int j = 0; j < COLS; j++)
        join<WORDS>(column[j], behind<COLUMN>(dst, to + j * ld_dst));
    if (down == 0)
        return;
    const bool whole = low <= 1 - ROWS && high >= ROWS; /* wherever columns begin */
#pragma unroll
    for (int j = 0; j < COLS; j++) {
        unsigned char *const border =
            dst + (to + j * ld_dst - behind<COLUMN>(dst, to + j * ld_dst));
        if (whole && j < cols)
            put<COLUMN>(border, column[j]);
    }
    if (whole)
        return;
#pragma unroll
    for (int j = 0; j < COLS; j++) {
        const int back = behind<COLUMN>(dst, to + j * ld_dst);
#pragma unroll
        for (int e = 0; e < ROWS; e++) /* of row e - back / BYTES of the thread */
            if (j < cols && e >= low + back / BYTES && e < high + back / BYTES)
                put_element<BYTES>(dst + (to + j * ld_dst - back), e, column[j]);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_tiles_t, joined<bytes, chunk / WORD>)
TILEMM__TRANSPOSE_JOINED_ROWS(KERNEL)

/* No division: it would come before the first load. */
int tilemm__launch_transpose_joined(const tilemm__transpose_launch_t *launch, const void *p,
                                    void *stream)
{
    static const row_t<tilemm__transpose_tiles_t> rows[] = {TILEMM__TRANSPOSE_JOINED_ROWS(ROW)};
    const tilemm__transpose_tiles_t *tiles = (const tilemm__transpose_tiles_t *)p;
    return launch_row(
        rows, launch, tiles, stream,
        dim3((unsigned)tiles_along(tiles->rows + tiles->halo - 1, tiles->tile_rows - tiles->halo),
             (unsigned)tiles_along(tiles->cols, tiles->tile_cols), (unsigned)tiles->batch));
}
