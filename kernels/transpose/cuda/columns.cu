/* columns.cu - transpose of batches of small matrices of 1- and 2-byte elements without gaps, whose
 * rows are aligned to 8 bytes: a block takes whole matrices through shared memory, where their
 * columns lie.
 *
 * A thread reads 8 bytes of each of 8 rows, transposes them in registers, and writes 8 elements of
 * each column. Columns are padded to whole 16 bytes, and a thread's by 16 bytes more, so that lanes
 * side by side write to other banks. The result is written by its aligned 16 bytes, which are cut
 * out of 32 of a column; where the column ends, the next one's first 16 are put behind.
 *
 * Assumes: compute capability 7.5 or later; ld_src == cols; ld_dst == rows, at least 16 bytes;
 * strides rows * cols; src and its rows aligned to 8 bytes; operands that do not overlap; sizes
 * above 0; dynamic shared memory as the plan says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* The rows come to shared memory as columns, of `matrices` matrices. */
template <int BYTES>
static __device__ __forceinline__ void columns_in(const tilemm__transpose_columns_t &s,
                                                  unsigned char *storage, const unsigned char *src,
                                                  int matrices)
{
    enum { ROWS = TILEMM__TRANSPOSE_SQUARE_ROWS, COLS = 8 / BYTES, CHUNK = ROWS * BYTES };
    const int rows = (int)s.of.rows, cols = (int)s.of.cols;
    const int across = cols / COLS, down = (rows + ROWS - 1) / ROWS;
    for (int x = threadIdx.x; x < matrices * across * down; x += THREADS) {
        const int row = (int)divided((uint32_t)x, s.by_across); /* of ROWS, counted through */
        const int matrix = (int)divided((uint32_t)row, s.by_down);
        const int i = (row - matrix * down) * ROWS, j = (x - row * across) * COLS;
        const unsigned char *from = src + ((matrix * rows + i) * cols + j) * BYTES;
        unsigned char *to =
            storage + tilemm__transpose_column(matrix * cols + j, s.pitch, BYTES) + i * BYTES;
        uint32_t in[ROWS][2] = {}, out[COLS][CHUNK / 4];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (i + k < rows)
                get<8>(in[k], from + k * cols * BYTES);
        transpose_rows<BYTES>(out, in);
#pragma unroll
        for (int k = 0; k < COLS; k++)
            put<CHUNK>(to + k * s.pitch, out[k]);
    }
}

/* 16 bytes of the result from element `number` on, which are of two columns at most. */
template <int BYTES>
static __device__ __forceinline__ void piece_of(uint32_t (&w)[4],
                                                const tilemm__transpose_columns_t &s,
                                                const unsigned char *storage, int number)
{
    enum { V = 16 / BYTES };
    const int rows = (int)s.of.rows;
    const int j = (int)divided((uint32_t)number, s.by_rows), i = number - j * rows;
    const int at = min(i, rows - (int)V) * BYTES; /* the last V, if fewer are left */
    const unsigned char *column = storage + tilemm__transpose_column(j, s.pitch, BYTES);
    uint32_t two[8];
    get<16>(two, column + at / 16 * 16);
    get<16>(two + 4, column + at / 16 * 16 + 16);
    funnel<BYTES, 16>(w, two, at % 16);
    if (i + (int)V > rows) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            two[k] = w[k];
        get<16>(two + 4, storage + tilemm__transpose_column(j + 1, s.pitch, BYTES));
        funnel<BYTES, 16>(w, two, (i + (int)V - rows) * BYTES);
    }
}

template <int BYTES>
static __device__ __forceinline__ void columns(const tilemm__transpose_columns_t s)
{
    typedef tilemm__element<BYTES> element;
    enum { V = 16 / BYTES };
    extern __shared__ __align__(16) unsigned char storage[];
    const tilemm__transpose_tiles_t &p = s.of;
    const int rows = (int)p.rows, area = rows * (int)p.cols;
    const int64_t first = (int64_t)blockIdx.x * p.tile_batch;
    const int matrices = (int)min((int64_t)p.tile_batch, p.batch - first), count = matrices * area;
    unsigned char *const dst = (unsigned char *)p.dst + first * area * BYTES;
    const int behind = (int)((uintptr_t)dst % 16); /* a border of 16 bytes */
    begin(p);
    columns_in<BYTES>(s, storage, (const unsigned char *)p.src + first * area * BYTES, matrices);
    __syncthreads();
    for (int at = threadIdx.x * 16 - behind; at < count * BYTES; at += THREADS * 16) {
        const int number = at / BYTES;
        if (number >= 0 && number + (int)V <= count) {
            uint32_t w[4];
            piece_of<BYTES>(w, s, storage, number);
            put<16>(dst + at, w);
        } else {
            for (int e = max(number, 0); e < min(number + (int)V, count); e++) {
                const int j = (int)divided((uint32_t)e, s.by_rows);
                ((element *)dst)[e] =
                    *(const element *)(storage + tilemm__transpose_column(j, s.pitch, BYTES) +
                                       (e - j * rows) * BYTES);
            }
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, ROOM_FOR(6)), tilemm__transpose_columns_t,             \
                     columns<bytes>)
TILEMM__TRANSPOSE_COLUMNS_ROWS(KERNEL)

int tilemm__launch_transpose_columns(const tilemm__transpose_launch_t *launch, const void *p,
                                     void *stream)
{
    const tilemm__transpose_columns_t *columns = (const tilemm__transpose_columns_t *)p;
#define COLUMNS_ROW(method, tag, bytes, rows, cols, chunk, access, threads, facet)                 \
    ROW_WITH_SHARED(method, tag, threads, (size_t)columns->shared)
    const row_t<tilemm__transpose_columns_t> rows[] = {TILEMM__TRANSPOSE_COLUMNS_ROWS(COLUMNS_ROW)};
    return launch_row(rows, launch, columns, stream);
}
