/* zip.cu - transpose out of place of matrices of 3 to 8 long rows of 1-byte elements to a result
 * without gaps, in registers: a thread has 16 columns, a unit. Its 16 bytes for each row of the
 * matrix then pass through shared memory, so that the lanes of a warp write side by side.
 *
 * A row that is not aligned comes by the aligned 16 bytes of memory: a thread joins its own with
 * those of the lane behind, and a warp's last lane only lends.
 *
 * Assumes: compute capability 7.5 or later; ld_dst == rows; dst, of every matrix, aligned to 16
 * bytes; operands that do not overlap; a grid of the exact size, as many blocks for each
 * matrix, of 1 to 8 warps.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

enum { LANES = 32, UNIT = 16 };

/* The byte of row n % ROWS, column n / ROWS, as the index of two_elements(). */
#define BYTE(n) ((n) % ROWS * UNIT + (n) / ROWS)

/* Where a lane's 16 bytes k lie among the warp's: 8 lanes meet 8 groups of 4 banks, as a lane has
 * an odd number of them or they are exchanged. */
template <int ROWS>
static __device__ __forceinline__ int staged(int lane, int k)
{
    enum { TWOS = ROWS & -ROWS }; /* a power of two */
    return lane * ROWS + (k / TWOS * TWOS | (k ^ lane * TWOS / 8) % TWOS);
}

template <int ROWS>
static __device__ __forceinline__ void zip(const tilemm__transpose_tiles_t p)
{
    const unsigned each = gridDim.x / (unsigned)p.batch;
    const unsigned number = p.batch == 1 ? 0 : blockIdx.x / each,
                   block = blockIdx.x - number * each;
    const int lane = threadIdx.x % LANES;
    const int64_t unit =
        ((int64_t)block * (blockDim.x / LANES) + threadIdx.x / LANES) * (LANES - 1) + lane;
    const int64_t column = unit * UNIT;
    const unsigned char *first = (const unsigned char *)p.src + number * p.stride_src;
    const unsigned char *end = first + (ROWS - 1) * p.ld_src + p.cols;
    unsigned char *dst = (unsigned char *)p.dst + number * p.stride_dst + column * ROWS;
    __shared__ uint4 stage[THREADS * ROWS];
    uint4 *const warp = stage + threadIdx.x / LANES * LANES * ROWS;
    uint32_t in[ROWS * 4];
    bool whole =
        column + UNIT <= p.cols; /* all aligned 16 bytes that the columns touch are there */
    begin(p);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const unsigned char *q = first + i * p.ld_src + column;
        const int skew = (int)((uintptr_t)q % 16);
        uint32_t two[8], w[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[k] = 0;
        if (q - skew >= first && q - skew + 16 <= end)
            get<16>(w, q - skew);
        whole = whole && q - skew >= first && q - skew + (skew ? 32 : 16) <= end;
        if (skew) { /* the same for all lanes */
#pragma unroll
            for (int k = 0; k < 4; k++) {
                two[k] = w[k];
                two[4 + k] = __shfl_down_sync(0xffffffff, w[k], 1);
            }
            funnel<1>(w, two, skew);
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            in[4 * i + k] = w[k];
    }
    whole = whole && lane < LANES - 1;
    if (whole) {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            uint32_t w[4];
#pragma unroll
            for (int m = 0; m < 4; m++) {
                const int n = 16 * k + 4 * m;
                w[m] = __byte_perm(two_elements<1>(in, BYTE(n), BYTE(n + 1)),
                                   two_elements<1>(in, BYTE(n + 2), BYTE(n + 3)), 0x5410);
            }
            put<16>(warp + staged<ROWS>(lane, k), w);
        }
    }
    const unsigned there = __ballot_sync(0xffffffff, whole);
    unsigned ends = __ballot_sync(0xffffffff, !whole && lane < LANES - 1 && column < p.cols);
    __syncwarp();
    dst -= lane * UNIT * ROWS; /* of the warp */
    /* Units that are not whole: the lanes share their bytes. */
    for (; ends; ends &= ends - 1) {
        const int at = (__ffs((int)ends) - 1) * UNIT * ROWS;
        const int64_t from = column + (__ffs((int)ends) - 1 - lane) * UNIT;
#pragma unroll
        for (int n = lane; n < UNIT * ROWS; n += LANES)
            if (from + n / ROWS < p.cols)
                dst[at + n] = first[n % ROWS * p.ld_src + from + n / ROWS];
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int n = k * LANES + lane, owner = n / ROWS;
        uint32_t w[4];
        if (!(there >> owner & 1))
            continue;
        get<16>(w, warp + staged<ROWS>(owner, n % ROWS));
        put<16>(dst + n * 16, w);
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads), tilemm__transpose_tiles_t, zip<rows>)
TILEMM__TRANSPOSE_ZIP_ROWS(KERNEL)

LAUNCHER(zip, tilemm__transpose_tiles_t, TILEMM__TRANSPOSE_ZIP_ROWS(ROW))
