/* packed.cu - transpose of batches of small matrices of 1- and 2-byte elements without gaps: a
 * block takes whole matrices through shared memory, where they lie as in memory.
 *
 * They come and go by the aligned 16 bytes of memory, wherever a matrix begins. A thread gathers 16
 * bytes of the result from shared memory, element by element, and begins with another of their four
 * words in each of four groups of 8 lanes: for an odd number of columns lanes meet each bank once.
 *
 * For an even number all words of a column may be in few banks. PADDED: every V rows of the source,
 * of V elements that make 16 bytes, have 16 bytes of padding behind them, counted from an aligned
 * address: 8 lanes, one below the other, meet 8 groups of 4 banks. Four such groups of lanes are
 * columns apart from each other, to meet the 4 banks of a group.
 *
 * Assumes: compute capability 7.5 or later; ld_src == cols, ld_dst == rows, at least 16
 * bytes; strides rows * cols; operands that do not overlap; sizes above 0; dynamic shared memory
 * for a block's matrices and 32 bytes more.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

/* An element of the result: its byte in the block's source, the elements to the end of its column,
 * and how much further than the next row the next column begins. */
typedef struct {
    int from, left, next;
} at_t;

template <int BYTES>
static __device__ __forceinline__ at_t at_element(const tilemm__transpose_packed_t &s, int number)
{
    const int rows = (int)s.of.rows, cols = (int)s.of.cols, area = rows * cols;
    const int column = (int)divided((uint32_t)number, s.by_rows), i = number - column * rows;
    const int matrix = (int)divided((uint32_t)column, s.by_cols), j = column - matrix * cols;
    return {(matrix * area + i * cols + j) * BYTES, rows - i,
            (1 - (j + 1 < cols ? area : cols)) * BYTES};
}

/* Where byte `at` lies, counted from an aligned address. */
template <bool PADDED>
static __device__ __forceinline__ int place_of(const tilemm__transpose_packed_t &s, int at)
{
    return PADDED ? at + (int)divided((uint32_t)at / 16, s.by_cols) * 16 : at;
}

/* Elements from byte `at` to the next padding. */
template <int BYTES>
static __device__ __forceinline__ int rows_to_pad(const tilemm__transpose_packed_t &s, int at)
{
    const uint32_t row = divided((uint32_t)at / BYTES, s.by_cols);
    return 16 / BYTES - (int)(row % (16 / BYTES));
}

/* As column_of, where rows are padded: 16 bytes of the result from element e on. */
template <int BYTES>
static __device__ __forceinline__ void
padded_column(uint32_t (&w)[4], const tilemm__transpose_packed_t &s, const unsigned char *storage,
              int at, const at_t &e)
{
    enum { EACH = 4 / BYTES };
    const int pitch = (int)s.of.cols * BYTES, left = min(e.left, 16 / BYTES);
    const int then = at + left * pitch + e.next; /* the next column, if this one ends */
    const unsigned char *near = storage + place_of<true>(s, at);
    const unsigned char *far = near;
    uint32_t padded = ~0u << rows_to_pad<BYTES>(s, at); /* of which elements padding was passed */
    if (left < 16 / BYTES) {
        far = storage + place_of<true>(s, then) - left * pitch;
        padded = (padded & ((1u << left) - 1)) | ~0u << (left + rows_to_pad<BYTES>(s, then));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t v[EACH];
#pragma unroll
        for (int x = 0; x < EACH; x++) {
            const int i = k * EACH + x;
            const unsigned pad = (i < 4 ? padded << (4 - i) : padded >> (i - 4)) & 16;
            v[x] = *(const tilemm__element<BYTES> *)((i < left ? near : far) + i * pitch + pad);
        }
        w[k] = word_of<BYTES>(v);
    }
}

/* The 16 bytes of the result that a thread gathers as its number x: those of lanes side by side
 * are, or are columns apart; or -1. */
template <bool PADDED>
static __device__ __forceinline__ int piece_of(const tilemm__transpose_packed_t &s, int x)
{
    if (!PADDED)
        return x * THREADS + threadIdx.x;
    const int turn = x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int set = (int)divided((uint32_t)turn, s.by_turns);
    const int below = (turn - set * s.turns) * 8 + lane % 8;
    return below < s.apart ? (set * 4 + lane / 8) * s.apart + below : -1;
}

template <int BYTES, bool PADDED>
static __device__ __forceinline__ void packed(const tilemm__transpose_packed_t s)
{
    typedef tilemm__element<BYTES> element;
    enum { UNIT = 16 / BYTES, TOGETHER = 4 };
    extern __shared__ __align__(16) unsigned char storage[];
    const tilemm__transpose_tiles_t &p = s.of;
    const int rows = (int)p.rows, cols = (int)p.cols, area = rows * cols;
    const int64_t first = (int64_t)blockIdx.x * p.tile_batch;
    const int count = (int)min((int64_t)p.tile_batch, p.batch - first) * area,
              bytes = count * BYTES;
    const unsigned char *src = (const unsigned char *)p.src + first * area * BYTES;
    unsigned char *dst = (unsigned char *)p.dst + first * area * BYTES;
    begin(p);
    /* The operand's first and last 16 aligned bytes may not be all there. */
    const int before = (int)((uintptr_t)src % 16), chunks = (before + bytes + 15) / 16;
    const int head = first == 0 && before > 0;
    const int tail = first + p.tile_batch >= p.batch && (before + bytes) % 16 > 0;
    for (int c = head + threadIdx.x; c < chunks - tail; c += TOGETHER * THREADS) {
        uint32_t w[TOGETHER][4];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (c + k * THREADS < chunks - tail)
                get<16>(w[k], src - before + (c + k * THREADS) * 16);
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (c + k * THREADS < chunks - tail)
                put<16>(storage + place_of<PADDED>(s, (c + k * THREADS) * 16), w[k]);
    }
    if (threadIdx.x < 32 && (head || tail)) {
        const int e =
            threadIdx.x % 16 * BYTES + (threadIdx.x < 16 ? 0 : (chunks - 1) * 16) - before;
        if (threadIdx.x % 16 < UNIT && e >= 0 && e < bytes)
            *(element *)(storage + place_of<PADDED>(s, before + e)) = *(const element *)(src + e);
    }
    __syncthreads();
    const int behind = (int)((uintptr_t)dst % 16);
    for (int x = 0; x < s.rounds; x++) {
        const int c = piece_of<PADDED>(s, x), number = (c * 16 - behind) / BYTES;
        if (c < 0 || c * 16 >= behind + bytes)
            continue;
        if (number >= 0 && number + UNIT <= count) { /* one column ends at most */
            const at_t at = at_element<BYTES>(s, number);
            uint32_t w[4];
            if (PADDED)
                padded_column<BYTES>(w, s, storage, before + at.from, at);
            else
                column_of<BYTES, true>(w, storage + before + at.from, cols * BYTES, at.left,
                                       at.next);
            put<16>(dst + number * BYTES, w);
        } else {
            for (int e = max(number, 0); e < min(number + (int)UNIT, count); e++)
                ((element *)dst)[e] =
                    *(const element *)(storage +
                                       place_of<PADDED>(s, before + at_element<BYTES>(s, e).from));
        }
    }
}

/* Blocks that a multiprocessor should hold; compute capability 7.5 holds 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { BLOCKS = 4 };
#else
enum { BLOCKS = 6 };
#endif

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, ROOM_FOR((int)BLOCKS)), tilemm__transpose_packed_t,    \
                     packed<bytes, facet>)
TILEMM__TRANSPOSE_PACKED_ROWS(KERNEL)

int tilemm__launch_transpose_packed(const tilemm__transpose_launch_t *launch, const void *p,
                                    void *stream)
{
    const tilemm__transpose_packed_t *packed = (const tilemm__transpose_packed_t *)p;
#define PACKED_ROW(method, tag, bytes, rows, cols, chunk, access, threads, facet)                  \
    ROW_WITH_SHARED(method, tag, threads, (size_t)packed->shared)
    const row_t<tilemm__transpose_packed_t> rows[] = {TILEMM__TRANSPOSE_PACKED_ROWS(PACKED_ROW)};
    return launch_row(rows, launch, packed, stream);
}
