/* packed.cu - transpose of batches of small matrices of 1- and 2-byte elements without gaps: a
 * block takes whole matrices through shared memory, where they lie as in memory.
 *
 * They come and go by the aligned 16 bytes of memory, wherever a matrix begins. A thread gathers 16
 * bytes of the result from shared memory, element by element, and begins with another of their four
 * words in each of four groups of 8 lanes: for an odd number of columns lanes meet each bank once.
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

template <int BYTES>
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
                put<16>(storage + (c + k * THREADS) * 16, w[k]);
    }
    if (threadIdx.x < 32 && (head || tail)) {
        const int e =
            threadIdx.x % 16 * BYTES + (threadIdx.x < 16 ? 0 : (chunks - 1) * 16) - before;
        if (threadIdx.x % 16 < UNIT && e >= 0 && e < bytes)
            *(element *)(storage + before + e) = *(const element *)(src + e);
    }
    __syncthreads();
    const int behind = (int)((uintptr_t)dst % 16);
    for (int x = 0; x < s.rounds; x++) {
        const int c = x * THREADS + (int)threadIdx.x, number = (c * 16 - behind) / BYTES;
        if (c * 16 >= behind + bytes)
            break;
        if (number >= 0 && number + UNIT <= count) { /* one column ends at most */
            const at_t at = at_element<BYTES>(s, number);
            uint32_t w[4];
            column_of<BYTES, true>(w, storage + before + at.from, cols * BYTES, at.left, at.next);
            put<16>(dst + number * BYTES, w);
        } else {
            for (int e = max(number, 0); e < min(number + (int)UNIT, count); e++)
                ((element *)dst)[e] =
                    *(const element *)(storage + before + at_element<BYTES>(s, e).from);
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
                     packed<bytes>)
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
