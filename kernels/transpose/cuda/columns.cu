/* columns.cu - transpose of batches of small matrices of 1- and 2-byte elements without gaps, whose
 * rows are aligned to 8 bytes: a block takes whole matrices through shared memory, where they lie
 * as they will in the result.
 *
 * A thread reads 8 bytes of each of 8 rows, transposes them in registers, and writes 8 elements of
 * each column, by the words that are aligned there and what is left before and behind. The result
 * is then copied by its aligned 16 bytes.
 *
 * Assumes: compute capability 7.5 or later; ld_src == cols; ld_dst == rows, at least 16 bytes;
 * strides rows * cols; src and its rows aligned to 8 bytes; operands that do not overlap; sizes
 * above 0; dynamic shared memory as the plan says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* Words to an address of shared memory that is a multiple of BYTES only. */
template <int BYTES, int WORDS>
static __device__ __forceinline__ void put_shifted(unsigned char *to, const uint32_t (&w)[WORDS])
{
    const int odd = (int)(shared_address(to) & 3); /* bytes behind a word's border */
    const int head = 4 - odd;
    if (odd == 0) {
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            ((uint32_t *)to)[k] = w[k];
        return;
    }
    if (BYTES == 1 && odd != 2)
        *to = (uint8_t)w[0];
    if (odd != 3)
        *(uint16_t *)(to + head - 2) = (uint16_t)(w[0] >> (head - 2) * 8);
#pragma unroll
    for (int k = 0; k < WORDS - 1; k++)
        *(uint32_t *)(to + head + 4 * k) = __funnelshift_r(w[k], w[k + 1], head * 8);
    to += 4 * WORDS - odd;
    const uint32_t rest = w[WORDS - 1] >> head * 8;
    if (odd != 1)
        *(uint16_t *)to = (uint16_t)rest;
    if (BYTES == 1 && odd != 2)
        to[odd - 1] = (uint8_t)(rest >> (odd - 1) * 8);
}

/* The rows come to shared memory as columns, of `matrices` matrices. */
template <int BYTES>
static __device__ __forceinline__ void columns_in(const tilemm__transpose_columns_t &s,
                                                  unsigned char *tile, const unsigned char *src,
                                                  int matrices)
{
    enum { ROWS = TILEMM__TRANSPOSE_SQUARE_ROWS, COLS = 8 / BYTES, WORDS = ROWS * BYTES / 4 };
    const int rows = (int)s.of.rows, cols = (int)s.of.cols;
    const int across = cols / COLS, down = (rows + ROWS - 1) / ROWS;
    for (int x = threadIdx.x; x < matrices * across * down; x += THREADS) {
        const int row = (int)divided((uint32_t)x, s.by_across); /* of ROWS, counted through */
        const int matrix = (int)divided((uint32_t)row, s.by_down);
        const int i = (row - matrix * down) * ROWS, j = (x - row * across) * COLS;
        const unsigned char *const from = src + ((matrix * rows + i) * cols + j) * BYTES;
        unsigned char *to = tile + ((matrix * cols + j) * rows + i) * BYTES;
        const int there = rows - i;
        uint32_t in[ROWS][2], out[COLS][WORDS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) /* the last row again, where there is no other */
            get<8>(in[k], from + min(k, there - 1) * cols * BYTES);
        transpose_rows<BYTES>(out, in);
        if (there >= ROWS) {
#pragma unroll
            for (int k = 0; k < COLS; k++)
                put_shifted<BYTES>(to + k * rows * BYTES, out[k]);
        } else {
#pragma unroll
            for (int k = 0; k < COLS; k++)
#pragma unroll
                for (int e = 0; e < ROWS - 1; e++)
                    if (e < there)
                        put_element<BYTES>(to + k * rows * BYTES, e, out[k]);
        }
    }
}

template <int BYTES>
static __device__ __forceinline__ void columns(const tilemm__transpose_columns_t s)
{
    typedef tilemm__element<BYTES> element;
    extern __shared__ __align__(16) unsigned char storage[];
    const tilemm__transpose_tiles_t &p = s.of;
    const int area = (int)(p.rows * p.cols) * BYTES;
    const int64_t first = (int64_t)blockIdx.x * p.tile_batch;
    const int matrices = (int)min((int64_t)p.tile_batch, p.batch - first);
    unsigned char *const dst = (unsigned char *)p.dst + first * area;
    const int behind = (int)((uintptr_t)dst % 16), bytes = matrices * area;
    unsigned char *const tile = storage + behind; /* as far behind a border of 16 bytes */
    begin(p);
    columns_in<BYTES>(s, tile, (const unsigned char *)p.src + first * area, matrices);
    __syncthreads();
    for (int at = threadIdx.x * 16 - behind; at < bytes; at += THREADS * 16) {
        if (at >= 0 && at + 16 <= bytes) {
            uint32_t w[4];
            get<16>(w, tile + at);
            put<16>(dst + at, w);
        } else {
            for (int e = max(at, 0); e < min(at + 16, bytes); e += BYTES)
                *(element *)(dst + e) = *(const element *)(tile + e);
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
