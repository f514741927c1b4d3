/* words.cu - transpose out of place of 1- and 2-byte elements in rows of any alignment: squares of
 * words in registers, and tiles of them in shared memory.
 *
 * A square is a word wide and has as many rows as a word has elements. Lanes side by side read
 * words side by side: the aligned one in which its own begins, and the one behind. A thread
 * transposes its squares, and writes their words to a tile in shared memory, whose rows are those
 * of the squares: so its columns are rows of the result. Then it reads 16 bytes of these, from
 * wherever they begin to be aligned in memory: a piece. Lanes one below the other have the pieces
 * of a column.
 *
 * Where rows of the result are not aligned to 16 bytes, a tile has a halo, the rows of a piece
 * before those that it writes. Bytes between rows may be read, but nothing before a matrix's first
 * element or after its last: words that go beyond are read element by element.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; matrices
 * that would lie within 2^31 - 2^16 bytes with 128 rows and columns more; a grid of the exact size,
 * of tiles down, tiles across, and matrices.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/registers.cuh"
#include "tile.cuh"
#include "variant.cuh"

enum { WORD = 4, PIECE = 16, BANKS = 32 };

/* How far byte `at` from `base` on lies behind a border of UNIT bytes. */
template <int UNIT>
static __device__ __forceinline__ int behind(const unsigned char *base, int at)
{
    return (int)((unsigned)(uintptr_t)base + (unsigned)at) & (UNIT - 1);
}

template <int BYTES, int ROWS, int COLS, int THREADS>
static __device__ __forceinline__ void words(const tilemm__transpose_tiles_t p)
{
    enum {
        SIDE = WORD / BYTES, /* of a square */
        ALONG = COLS / SIDE, /* squares in a row of them */
        DOWN = THREADS / ALONG,
        SQUARES = ROWS / SIDE / DOWN,  /* of a thread */
        PIECES = ROWS * BYTES / PIECE, /* of a column */
        ACROSS = THREADS / PIECES,     /* columns at a time */
        UNIT = PIECE / BYTES,          /* elements of a piece */
        PITCH = COLS < BANKS ? BANKS : COLS
    };
    static_assert(SQUARES * DOWN * SIDE == ROWS && COLS % ACROSS == 0, "whole passes");
    __shared__ __align__(16) uint32_t tile[(ROWS / SIDE + 1) * PITCH];
    const int x = threadIdx.x % ALONG, y = threadIdx.x / ALONG;
    const int r0 = (int)blockIdx.x * (ROWS - p.halo) - p.halo, c0 = (int)blockIdx.y * COLS;
    const int rows = (int)p.rows - r0, cols = (int)p.cols - c0;
    const int ld_src = (int)p.ld_src * BYTES, ld_dst = (int)p.ld_dst * BYTES;
    const unsigned char *const src =
        (const unsigned char *)p.src + blockIdx.z * p.stride_src * BYTES;
    unsigned char *const dst = (unsigned char *)p.dst + blockIdx.z * p.stride_dst * BYTES;
    const int from = r0 * ld_src + (c0 + x * SIDE) * BYTES;
    /* A word that begins below this is followed by another one of the matrix. */
    const int bytes = (int)(p.rows - 1) * ld_src + (int)p.cols * BYTES;
    const unsigned followed = max(bytes - (2 * WORD - 1), 0);
    const bool is_across = x * SIDE < cols;
    bool by_element = false;
    uint32_t two[SQUARES][SIDE][2];
    begin(p);
#pragma unroll
    for (int s = 0; s < SQUARES; s++)
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const int row = (s * DOWN + y) * SIDE + i, at = from + row * ld_src;
            const int word = at - behind<WORD>(src, at);
            const bool is_there = is_across && row >= -r0 && row < rows;
            if (is_there && (unsigned)word < followed) {
                two[s][i][0] = *(const uint32_t *)(src + word);
                two[s][i][1] = *(const uint32_t *)(src + word + WORD);
            }
            by_element |= is_there && (unsigned)word >= followed;
        }
    reads_end(); /* all are under way before the first is waited for */
#pragma unroll
    for (int s = 0; s < SQUARES; s++) {
        const int w = s * DOWN + y;
        uint32_t in[SIDE][1], out[SIDE][1];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const int at = from + (w * SIDE + i) * ld_src;
            in[i][0] = __funnelshift_r(two[s][i][0], two[s][i][1], behind<WORD>(src, at) * 8);
        }
        if (by_element) {
#pragma unroll
            for (int i = 0; i < SIDE; i++) {
                const int row = w * SIDE + i, at = from + row * ld_src;
                if (row < -r0 || row >= rows || (unsigned)(at - behind<WORD>(src, at)) < followed)
                    continue;
                in[i][0] = 0;
#pragma unroll
                for (int e = 0; e < SIDE; e++)
                    if (x * SIDE + e < cols)
                        get_element<BYTES>(in[i], e, src + at);
            }
        }
        transpose_block(tilemm__bytes<BYTES>(), out, in);
        uint32_t side[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            side[i] = out[i][0];
        put<SIDE * WORD>(tile + w * PITCH + tilemm__transpose_word(w, x * SIDE, PIECES), side);
    }
    __syncthreads();

    const int piece = threadIdx.x % PIECES;
#pragma unroll
    for (int set = 0; set < COLS / ACROSS; set++) {
        const int j = set * ACROSS + threadIdx.x / PIECES;
        const int border = (c0 + j) * ld_dst + r0 * BYTES + piece * PIECE;
        const int back = behind<PIECE>(dst, border);
        const int begins = piece * PIECE - back, i = begins / BYTES, first = begins / WORD;
        uint32_t w[5], out[4];
        if (j >= cols || piece * PIECE < p.halo * BYTES || i < -r0 || i + UNIT > rows)
            continue;
#pragma unroll
        for (int k = 0; k < 5; k++)
            w[k] = tile[(first + k) * PITCH + tilemm__transpose_word(first + k, j, PIECES)];
#pragma unroll
        for (int k = 0; k < 4; k++)
            out[k] = __funnelshift_r(w[k], w[k + 1], begins % WORD * 8);
        put<PIECE>(dst + border - back, out);
    }
    /* The first and the last piece of a column, if not all of it is there: a lane has an element,
     * so that a warp writes few sectors. */
    if (r0 >= 0 && rows >= ROWS)
        return;
#pragma unroll 4
    for (int n = threadIdx.x; n < 2 * COLS * UNIT; n += THREADS) {
        const int j = n / UNIT % COLS, column = (c0 + j) * ld_dst + r0 * BYTES;
        const int back = behind<PIECE>(dst, column) / BYTES;
        const int low = max(p.halo - back, -r0), high = min(ROWS - back, rows); /* the block's */
        const int head = (low + back) / UNIT * UNIT - back;
        const int tail = (high - 1 + back) / UNIT * UNIT - back;
        const bool is_tail = n >= COLS * UNIT;
        const int begins = is_tail ? tail : head, i = begins + n % UNIT, w = i / SIDE;
        const bool whole = begins >= low && begins + UNIT <= high;
        if (j < cols && !whole && i >= low && i < high && (!is_tail || tail > head))
            ((tilemm__element<BYTES> *)(dst + column))[i] =
                (tilemm__element<BYTES>)(tile[w * PITCH + tilemm__transpose_word(w, j, PIECES)] >>
                                         i % SIDE * BYTES * 8);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_tiles_t,                            \
                     words<bytes, rows, cols, threads>)
TILEMM__TRANSPOSE_WORDS_ROWS(KERNEL)

GRID_LAUNCHER(words, TILEMM__TRANSPOSE_WORDS_ROWS(ROW))
