/* shifted.cu - transpose out of place of matrices whose rows are not aligned, by tiles.
 *
 * Rows are read by the aligned chunks that they touch, and written by aligned chunks: the tile's
 * part of each row of the destination is moved back to the border of a memory transfer, for which
 * the tile holds `halo` rows of the source before those that it writes. Bytes between rows may be
 * read, but nothing before the first element or after the last.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; a halo of
 * 16 or 32 bytes, or none where the rows of the destination are aligned to a chunk.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* One function, as the compiler allocates registers otherwise, and worse, where it is cut. */
template <int BYTES, int CHUNK, int ROWS, int COLS>
static __device__ __forceinline__ void shifted(const tilemm__transpose_tiles_t p)
{
    enum { V = CHUNK / BYTES, W = CHUNK / 4, ACROSS = COLS / V, DOWN = ROWS / V };
    enum { STEP = THREADS / ACROSS, OUT_STEP = THREADS / DOWN };
    __shared__ __align__(16) unsigned char tile[ROWS * COLS * BYTES];
    const int halo = p.halo, height = ROWS - halo;
    const uint64_t tile_rows = ((uint64_t)p.rows + (halo ? halo - 1 : 0) + height - 1) / height;
    const uint64_t tile_cols = tiles_along(p.cols, COLS);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;
    begin(p);
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const uint64_t column = quotient(t, tile_rows), number = quotient(column, tile_cols);
        const int64_t r0 = (int64_t)(t - column * tile_rows) * height - halo;
        const int64_t c0 = (int64_t)(column - number * tile_cols) * COLS;
        const unsigned char *first =
            (const unsigned char *)p.src + (int64_t)number * p.stride_src * BYTES;
        const unsigned char *end = first + ((p.rows - 1) * p.ld_src + p.cols) * BYTES;
        /* Whether all chunks, and those after them, are there. */
        const bool inside =
            r0 >= 0 && r0 + ROWS <= p.rows && c0 + COLS + V <= p.cols && r0 + c0 > 0;
        const int64_t row_bytes = p.ld_src * BYTES;
        if (t != blockIdx.x)
            __syncthreads();
        {
            const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
            const unsigned char *base = first + ((r0 + y * V) * p.ld_src + c0 + x * V) * BYTES;
            const int64_t there = p.cols - c0 - x * V;
            for (int s = 0; s < DOWN / STEP; s++) {
                uint32_t two[V][2 * W], in[V][W], out[V][W];
                uint32_t single = 0;
#pragma unroll
                for (int i = 0; i < V; i++) {
                    const unsigned char *q = base + i * row_bytes;
                    const int shift = (int)((uintptr_t)q % CHUNK);
                    if (inside) {
                        get<CHUNK>(two[i], q - shift);
                        if (shift)
                            get<CHUNK>(two[i] + W, q - shift + CHUNK);
                    } else {
                        const int64_t r = r0 + (y + s * STEP) * V + i;
                        const bool second = there * BYTES > CHUNK - shift;
#pragma unroll
                        for (int k = 0; k < 2 * W; k++)
                            two[i][k] = 0;
                        if (r < 0 || r >= p.rows || there <= 0)
                            continue;
                        if (q - shift < first || q - shift + (second ? 2 : 1) * CHUNK > end) {
                            single |= 1u << i;
                        } else {
                            get<CHUNK>(two[i], q - shift);
                            if (second)
                                get<CHUNK>(two[i] + W, q - shift + CHUNK);
                        }
                    }
                }
#pragma unroll
                for (int i = 0; i < V; i++) {
                    const unsigned char *q = base + i * row_bytes;
                    funnel<BYTES>(in[i], two[i], (int)((uintptr_t)q % CHUNK));
                    if (single >> i & 1) {
#pragma unroll
                        for (int e = 0; e < V; e++)
                            if (e < there)
                                get_element<BYTES>(in[i], e, q);
                    }
                    if (BYTES == 4 && p.scaled) {
#pragma unroll
                        for (int k = 0; k < W; k++)
                            in[i][k] = times(in[i][k], p.alpha);
                    }
                }
                transpose_block(tilemm__bytes<BYTES>(), out, in);
#pragma unroll
                for (int j = 0; j < V; j++)
                    put<CHUNK>(tile + tilemm__transpose_chunk(x * V + j, y + s * STEP, DOWN, V) *
                                          CHUNK,
                               out[j]);
                base += STEP * V * row_bytes;
            }
        }
        __syncthreads();
        {
            const int x = threadIdx.x % DOWN, y = threadIdx.x / DOWN;
            const int cols = (int)min((int64_t)COLS, p.cols - c0);
            unsigned char *row = (unsigned char *)p.dst +
                                 ((int64_t)number * p.stride_dst + (c0 + y) * p.ld_dst) * BYTES;
#pragma unroll 4
            for (int c = y; c < COLS; c += OUT_STEP, row += OUT_STEP * p.ld_dst * BYTES) {
                /* How far this row starts behind the border: so much less of the halo is used. */
                const int back = halo ? (int)((uintptr_t)row & (halo * BYTES - 1)) / BYTES : 0;
                const int from = halo - back + x * V, shift = from % V;
                const int64_t r = r0 + from;
                unsigned char *q = row + r * BYTES;
                uint32_t two[2 * W], w[W];
                if (x * V >= height || c >= cols)
                    break;
                get<CHUNK>(two, tile + tilemm__transpose_chunk(c, from / V, DOWN, V) * CHUNK);
                if (shift)
                    get<CHUNK>(two + W,
                               tile + tilemm__transpose_chunk(c, from / V + 1, DOWN, V) * CHUNK);
                funnel<BYTES>(w, two, shift * BYTES);
                if (inside || (r >= 0 && r + V <= p.rows)) {
                    put<CHUNK, true>(q, w);
                } else {
#pragma unroll
                    for (int e = 0; e < V; e++)
                        if (r + e >= 0 && r + e < p.rows)
                            put_element<BYTES>(q, e, w);
                }
            }
        }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, ROOM_FOR(4)), tilemm__transpose_tiles_t,               \
                     shifted<bytes, chunk, rows, cols>)
TILEMM__TRANSPOSE_SHIFTED_ROWS(KERNEL)

LAUNCHER(shifted, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_SHIFTED_ROWS(ROW))
