/* skewed.cu - transpose out of place of 1- and 2-byte elements in rows of any alignment: a tile's
 * rows lie in shared memory as skewed against 16 bytes as in memory.
 *
 * They come by the aligned 16 bytes of memory, past the registers. The pitch of the tile is, modulo
 * 16 bytes, that of memory: so an element's place is linear in row and column, whatever the
 * alignment of its row. A thread gathers 16 aligned bytes of the result, element by element, down a
 * column of the tile. Lanes side by side take pieces one below the other, 4 p words apart for a
 * pitch of p elements. If p is odd, 8 of them meet 8 banks, and each of four groups of 8 lanes
 * begins with another of its four words: no conflicts. If p is even, the tile has 16 bytes of
 * padding behind the rows of each piece.
 *
 * A result whose rows are short and have no gaps between them is written as one row: "flat". Pieces
 * then go on from one column of the tile to the next.
 *
 * So that writes begin at whole pieces, a block holds a halo before what it writes: rows of the
 * source, or, flat, columns. Bytes between rows may be read, but nothing before the first element
 * or after the last.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; what
 * tilemm__transpose_skewed_t says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { LANES = 32, PIECE = 16 };

/* A block's part of the source: from (r0, c0) on, rows i0 to i1 - 1 and columns j0 to j1 - 1 of it
 * are there. Its element (0, 0) is `origin` bytes into shared memory. */
typedef struct {
    const unsigned char *first, *end; /* of the matrix, the last byte excluded */
    unsigned char *dst;
    int64_t r0, c0;
    int i0, i1, j0, j1;
    int origin;
} part_t;

template <int BYTES>
static __device__ __forceinline__ part_t part_of(const tilemm__transpose_skewed_t &s, uint64_t t)
{
    const tilemm__transpose_tiles_t &p = s.of;
    const uint64_t column = quotient(t, s.down), number = quotient(column, s.across);
    part_t at;
    at.first = (const unsigned char *)p.src + (int64_t)number * p.stride_src * BYTES;
    at.end = at.first + ((p.rows - 1) * p.ld_src + p.cols) * BYTES;
    at.dst = (unsigned char *)p.dst + (int64_t)number * p.stride_dst * BYTES;
    at.r0 = (int64_t)(t - column * s.down) * (p.tile_rows - p.halo) - p.halo;
    at.c0 = (int64_t)(column - number * s.across) * p.tile_cols - s.before;
    at.i0 = (int)max(-at.r0, (int64_t)0);
    at.i1 = (int)min((int64_t)p.tile_rows, p.rows - at.r0);
    at.j0 = (int)max(-at.c0, (int64_t)0);
    at.j1 = (int)min((int64_t)p.tile_cols + s.before, p.cols - at.c0);
    at.origin =
        (int)(((uintptr_t)at.first + (uintptr_t)((at.r0 * p.ld_src + at.c0) * BYTES)) % PIECE);
    return at;
}

/* Where the tile's row i begins, from `origin` on. */
template <int BYTES>
static __device__ __forceinline__ int row_at(const tilemm__transpose_skewed_t &s, int i)
{
    return tilemm__skewed_row(i, s.pitch, s.pad, BYTES);
}

/* The aligned 16 bytes at `from`, or what the matrix has of them. */
template <int BYTES>
static __device__ __forceinline__ void piece_in(unsigned char *to, const unsigned char *from,
                                                const part_t &at, bool inside)
{
    typedef tilemm__element<BYTES> element;
    if (inside || (from >= at.first && from + PIECE <= at.end)) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        copy_async<PIECE>(shared_address(to), from);
#else
        uint32_t w[4];
        get<PIECE>(w, from);
        put<PIECE>(to, w);
#endif
        return;
    }
#pragma unroll 1
    for (int e = 0; e < PIECE; e += BYTES)
        if (from + e >= at.first && from + e < at.end)
            *(element *)(to + e) = *(const element *)(from + e);
}

template <int BYTES>
static __device__ __forceinline__ void rows_in(const tilemm__transpose_skewed_t &s,
                                               const part_t &at, unsigned char *storage)
{
    const tilemm__transpose_tiles_t &p = s.of;
    const int64_t ld = p.ld_src * BYTES;
    const unsigned char *from = at.first + ((at.r0 + at.i0) * p.ld_src + at.c0 + at.j0) * BYTES;
    const unsigned char *last = from + (at.i1 - at.i0 - 1) * ld + (at.j1 - at.j0) * BYTES;
    const bool inside = at.first + PIECE <= from && last + PIECE <= at.end;
    unsigned char *to = storage + at.origin + at.j0 * BYTES;
    if (s.together) { /* with what lies between the rows */
        const int skew = (int)((uintptr_t)from % PIECE);
        const int bytes = skew + (int)(last - from);
        to += row_at<BYTES>(s, at.i0) - skew;
        for (int x = threadIdx.x; x * PIECE < bytes; x += THREADS)
            piece_in<BYTES>(to + x * PIECE + (s.pad ? (int)divided(x, s.by_row) * s.pad : 0),
                            from - skew + x * PIECE, at, inside);
    } else {
        const int width = (at.j1 - at.j0) * BYTES, step = THREADS >> s.log_along;
        const int x = (threadIdx.x & ((1 << s.log_along) - 1)) * PIECE;
        int i = at.i0 + (int)(threadIdx.x >> s.log_along);
        from += (i - at.i0) * ld;
        if (inside &&
            step % (PIECE / BYTES) == 0) { /* a thread's rows are as skewed as each other */
            const int skew = (int)((uintptr_t)from % PIECE);
            const int apart = step * s.pitch + step / (PIECE / BYTES) * s.pad;
            to += row_at<BYTES>(s, i) - skew + x;
            from += x - skew;
            if (x >= skew + width)
                i = at.i1;
#pragma unroll 4
            for (; i < at.i1; i += step, from += step * ld, to += apart)
                piece_in<BYTES>(to, from, at, true);
        }
        for (; i < at.i1; i += step, from += step * ld) {
            const int skew = (int)((uintptr_t)from % PIECE), row = row_at<BYTES>(s, i) - skew;
            for (int piece = x; piece < skew + width; piece += PIECE << s.log_along)
                piece_in<BYTES>(to + row + piece, from - skew + piece, at, inside);
        }
    }
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
}

/* 16 bytes at `to`, of which elements low to high - 1 are wanted. */
template <int BYTES>
static __device__ __forceinline__ void piece_out(unsigned char *to, const uint32_t (&w)[4], int low,
                                                 int high)
{
    enum { V = PIECE / BYTES };
    if (low <= 0 && high >= V) {
        put<PIECE, true>(to, w);
    } else {
#pragma unroll
        for (int e = 0; e < V; e++)
            if (e >= low && e < high)
                put_element<BYTES>(to, e, w);
    }
}

template <int BYTES>
static __device__ __forceinline__ void columns_out(const tilemm__transpose_skewed_t &s,
                                                   const part_t &at, const unsigned char *storage)
{
    enum { V = PIECE / BYTES, WARPS = THREADS / LANES };
    const tilemm__transpose_tiles_t &p = s.of;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int group = lane >> s.log_lanes;
    const int above = p.halo + (lane & ((1 << s.log_lanes) - 1)) * V;
    const int64_t ld = p.ld_dst * BYTES;
    unsigned char *const first = at.dst + (at.c0 * p.ld_dst + at.r0) * BYTES;
    storage += at.origin;
    for (int set = warp & ((1 << s.log_across) - 1); set < s.sets; set += 1 << s.log_across) {
        const int j = tilemm__skewed_column(set, group, 5 - s.log_lanes, s.log_apart);
        if (j >= at.j1 || j >= p.tile_cols)
            continue;
        unsigned char *row = first + (uint32_t)j * ld;
        /* How far the row begins behind a piece's border: so much less of the halo is used. */
        const int back = p.halo ? (int)((uintptr_t)row % PIECE) / BYTES : 0;
        for (int part = warp >> s.log_across; part < s.parts; part += WARPS >> s.log_across) {
            const int i = above + (part << s.log_lanes) * V - back;
            const unsigned char *from = storage + row_at<BYTES>(s, i) + j * BYTES;
            uint32_t w[4];
            if (i >= at.i1 || i + V <= at.i0)
                continue;
            if (s.pad)
                column_of<BYTES, false>(w, from, s.pitch, back ? back : (int)V, s.pad);
            else
                column_of<BYTES, true>(w, from, s.pitch, V, 0);
            piece_out<BYTES>(row + i * BYTES, w, at.i0 - i, at.i1 - i);
        }
    }
}

template <int BYTES>
static __device__ __forceinline__ void flat_out(const tilemm__transpose_skewed_t &s,
                                                const part_t &at, const unsigned char *storage)
{
    enum { V = PIECE / BYTES, EACH = 4 / BYTES };
    const tilemm__transpose_tiles_t &p = s.of;
    const int rows = (int)p.rows, back = (int)((uintptr_t)at.dst % PIECE) / BYTES;
    const int64_t column = at.c0 + s.before, left_over = p.cols - column - p.tile_cols;
    /* Elements that the block writes: of its columns, from `back` before them on; the last block
     * all that are left. */
    const int count = p.tile_cols * rows + (left_over <= 0 ? (int)left_over * rows + back : 0);
    unsigned char *dst = at.dst + (column * rows - back) * BYTES;
    const int next = BYTES - rows * s.pitch - rows / V * s.pad;
    for (int c = threadIdx.x * V; c < count; c += THREADS * V) {
        const int number = s.before * rows + c - back;
        const int j = (int)divided(number, s.by_rows);
        int i = number - j * rows;
        const unsigned char *from = storage + at.origin + row_at<BYTES>(s, i) + j * BYTES;
        uint32_t w[4];
        if (!s.pad && rows >= V) { /* one column ends at most */
            column_of<BYTES, false>(w, from, s.pitch, rows - i, next);
            piece_out<BYTES>(dst + c * BYTES, w, column == 0 ? back - c : 0,
                             left_over <= 0 ? count - c : (int)V);
            continue;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint32_t e[EACH];
#pragma unroll
            for (int x = 0; x < EACH; x++) {
                e[x] = *(const tilemm__element<BYTES> *)from;
                from += s.pitch;
                i++;
                if (s.pad && i % V == 0)
                    from += s.pad;
                if (i == rows) {
                    i = 0;
                    from += next;
                }
            }
            w[k] = word_of<BYTES>(e);
        }
        piece_out<BYTES>(dst + c * BYTES, w, column == 0 ? back - c : 0,
                         left_over <= 0 ? count - c : (int)V);
    }
}

template <int BYTES, bool FLAT>
static __device__ __forceinline__ void skewed(const tilemm__transpose_skewed_t s)
{
    extern __shared__ __align__(16) unsigned char storage[];
    for (uint64_t t = blockIdx.x; t < s.tiles; t += gridDim.x) {
        const part_t at = part_of<BYTES>(s, t);
        if (t == blockIdx.x)
            begin(s.of);
        else
            __syncthreads();
        rows_in<BYTES>(s, at, storage);
        if (FLAT)
            flat_out<BYTES>(s, at, storage);
        else
            columns_out<BYTES>(s, at, storage);
    }
}

/* Blocks that a multiprocessor should hold; compute capability 7.5 holds 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { BLOCKS_OF_BYTES = 4 };
#else
enum { BLOCKS_OF_BYTES = 5 };
#endif

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag,                                                                  \
                     (threads, ROOM_FOR(facet || bytes == 2 ? 4 : (int)BLOCKS_OF_BYTES)),          \
                     tilemm__transpose_skewed_t, skewed<bytes, facet>)
TILEMM__TRANSPOSE_SKEWED_ROWS(KERNEL)

int tilemm__launch_transpose_skewed(const tilemm__transpose_launch_t *launch, const void *p,
                                    void *stream)
{
    const tilemm__transpose_skewed_t *skewed = (const tilemm__transpose_skewed_t *)p;
#define SKEWED_ROW(method, tag, bytes, rows, cols, chunk, access, threads, facet)                  \
    ROW_WITH_SHARED(method, tag, threads, (size_t)skewed->shared)
    const row_t<tilemm__transpose_skewed_t> rows[] = {TILEMM__TRANSPOSE_SKEWED_ROWS(SKEWED_ROW)};
    return launch_row(rows, launch, skewed, stream);
}
