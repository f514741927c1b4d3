/* tile.cuh - what the transpose kernels share: registers to and from memory, small blocks
 * transposed in registers, tiles to and from shared memory.
 *
 * Assumes: compute capability 7.5 or later; blocks of THREADS threads where that is used.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_CUDA_TILE_CUH
#define TILEMM_KERNELS_TRANSPOSE_CUDA_TILE_CUH

#include <stdint.h>
#include <type_traits>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/shared.cuh"
#include "kernels/transpose/layout.h"
#include "transpose.h"

enum { THREADS = TILEMM__TRANSPOSE_THREADS }; /* of the blocks of most kernels */

/* What a kernel out of place does first. */
static __device__ __forceinline__ void begin(const tilemm__transpose_tiles_t &p)
{
    wait_for_previous();
    if (p.early)
        let_next_start();
}

/* Chooses an overload by a number of bytes. */
template <int BYTES>
struct tilemm__bytes {
};

/* The type to move one element with. 16-byte elements are aligned to 8 bytes only. */
struct __align__(8) tilemm__pair
{
    uint2 low, high;
};
uint8_t tilemm__element_of(tilemm__bytes<1>);
uint16_t tilemm__element_of(tilemm__bytes<2>);
uint32_t tilemm__element_of(tilemm__bytes<4>);
uint2 tilemm__element_of(tilemm__bytes<8>);
tilemm__pair tilemm__element_of(tilemm__bytes<16>);
template <int BYTES>
using tilemm__element = decltype(tilemm__element_of(tilemm__bytes<BYTES>()));

/* The same where rows are aligned to ACCESS bytes, or in shared memory. */
template <int BYTES, int ACCESS = BYTES>
using tilemm__aligned =
    typename std::conditional<ACCESS == 16, uint4, tilemm__element<BYTES>>::type;

/* ---- BYTES bytes between memory and words in registers -------------------------------------- */

/* 8 or 16 bytes by one access. STREAM: the data need not stay in the L2 cache. */
template <int BYTES, bool STREAM = false>
static __device__ __forceinline__ void get(uint32_t *w, const void *p)
{
    if (BYTES == 8) {
        const uint2 v = STREAM ? __ldcs((const uint2 *)p) : *(const uint2 *)p;
        w[0] = v.x;
        w[1] = v.y;
    } else {
        const uint4 v = STREAM ? __ldcs((const uint4 *)p) : *(const uint4 *)p;
        w[0] = v.x;
        w[1] = v.y;
        w[2] = v.z;
        w[3] = v.w;
    }
}

/* 4, 8 or 16 bytes likewise. */
template <int BYTES, bool STREAM = false>
static __device__ __forceinline__ void put(void *p, const uint32_t *w)
{
    static_assert(BYTES == 16 || BYTES == 8 || (BYTES == 4 && !STREAM), "one access");
    if (BYTES == 4)
        *(uint32_t *)p = w[0];
    else if (BYTES == 8 && STREAM)
        __stcs((uint2 *)p, make_uint2(w[0], w[1]));
    else if (BYTES == 8)
        *(uint2 *)p = make_uint2(w[0], w[1]);
    else if (STREAM)
        __stcs((uint4 *)p, make_uint4(w[0], w[1], w[2], w[3]));
    else
        *(uint4 *)p = make_uint4(w[0], w[1], w[2], w[3]);
}

/* A chunk at an address that is a multiple of ALIGN only. */
template <int CHUNK, int ALIGN, bool STREAM>
static __device__ __forceinline__ void get_chunk(uint32_t *w, const unsigned char *p)
{
#pragma unroll
    for (int at = 0; at < CHUNK; at += ALIGN)
        get<ALIGN, STREAM>(w + at / 4, p + at);
}

template <int CHUNK, int ALIGN, bool STREAM>
static __device__ __forceinline__ void put_chunk(unsigned char *p, const uint32_t *w)
{
#pragma unroll
    for (int at = 0; at < CHUNK; at += ALIGN)
        put<ALIGN, STREAM>(p + at, w + at / 4);
}

/* Element e of a chunk that is not all there. The words of elements below 4 bytes are 0 before. */
template <int BYTES>
static __device__ __forceinline__ void get_element(uint32_t *w, int e, const unsigned char *p)
{
    typedef tilemm__element<(BYTES < 4 ? BYTES : 4)> word;
    const int at = e * BYTES;
    if (BYTES <= 4)
        w[at / 4] = (BYTES < 4 ? w[at / 4] : 0) | (uint32_t)((const word *)p)[e] << (at % 4 * 8);
    else
        get_chunk<BYTES, 8, false>(w + at / 4, p + at);
}

template <int BYTES>
static __device__ __forceinline__ void put_element(unsigned char *p, int e, const uint32_t *w)
{
    typedef tilemm__element<(BYTES < 4 ? BYTES : 4)> word;
    const int at = e * BYTES;
    if (BYTES <= 4)
        ((word *)p)[e] = (word)(w[at / 4] >> (at % 4 * 8));
    else
        put_chunk<BYTES, 8, false>(p + at, w + at / 4);
}

/* 16 bytes out of 32, from byte `shift` on, a multiple of BYTES. */
template <int BYTES>
static __device__ __forceinline__ void funnel(uint32_t (&out)[4], uint32_t (&two)[8], int shift)
{
#pragma unroll
    for (int k = 0; k < 6; k++)
        two[k] = shift & 8 ? two[k + 2] : two[k];
    if (BYTES <= 4) {
#pragma unroll
        for (int k = 0; k < 5; k++)
            two[k] = shift & 4 ? two[k + 1] : two[k];
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[k] = BYTES < 4 ? __funnelshift_r(two[k], two[k + 1], shift % 4 * 8) : two[k];
}

/* ---- elements between global and shared memory ----------------------------------------------- */

/* One element into shared memory, not through registers where the hardware can. It is there after
 * copy_async_commit, copy_async_wait and __syncthreads. Of elements of 16 bytes, lanes eight apart
 * copy different halves first, which are in different banks. */
template <int BYTES>
static __device__ __forceinline__ void element_async(tilemm__aligned<BYTES> *to,
                                                     const tilemm__element<BYTES> *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (BYTES >= 4) {
        const unsigned shared = shared_address(to);
        if (BYTES == 4)
            copy_async<4>(shared, from);
#pragma unroll
        for (int half = 0; half < BYTES / 8; half++) {
            const unsigned at = BYTES == 16 ? half * 8 ^ (threadIdx.x & 8) : 0;
            copy_async<8>(shared + at, (const char *)from + at);
        }
        return;
    }
#endif
    *(tilemm__element<BYTES> *)to = *from;
}

/* One element from shared memory. */
template <int BYTES>
static __device__ __forceinline__ void write_element(tilemm__element<BYTES> *to,
                                                     const tilemm__aligned<BYTES> *from)
{
    *to = *from;
}

template <>
__device__ __forceinline__ void write_element<16>(tilemm__pair *to, const uint4 *from)
{
    const uint4 v = *from;
    to->low = make_uint2(v.x, v.y);
    to->high = make_uint2(v.z, v.w);
}

/* ---- blocks in registers: chunk j of out is element j of every chunk of in ------------------ */

template <int V, int W>
static __device__ __forceinline__ void transpose_block(tilemm__bytes<1>, uint32_t (&out)[V][W],
                                                       uint32_t (&in)[V][W])
{
#pragma unroll
    for (int k = 0; k < W; k++) {
#pragma unroll
        for (int j = 0; j < W; j++) {
            /* The 4 x 4 bytes of word j of rows 4 k to 4 k + 3. */
            const uint32_t a = in[4 * k][j], b = in[4 * k + 1][j];
            const uint32_t c = in[4 * k + 2][j], d = in[4 * k + 3][j];
            const uint32_t ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
            const uint32_t cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
            out[4 * j][k] = __byte_perm(ab_low, cd_low, 0x5410);
            out[4 * j + 1][k] = __byte_perm(ab_low, cd_low, 0x7632);
            out[4 * j + 2][k] = __byte_perm(ab_high, cd_high, 0x5410);
            out[4 * j + 3][k] = __byte_perm(ab_high, cd_high, 0x7632);
        }
    }
}

template <int V, int W>
static __device__ __forceinline__ void transpose_block(tilemm__bytes<2>, uint32_t (&out)[V][W],
                                                       uint32_t (&in)[V][W])
{
#pragma unroll
    for (int j = 0; j < V; j++) {
#pragma unroll
        for (int k = 0; k < W; k++)
            out[j][k] =
                __byte_perm(in[2 * k][j / 2], in[2 * k + 1][j / 2], j % 2 ? 0x7632 : 0x5410);
    }
}

template <int BYTES, int V, int W>
static __device__ __forceinline__ void transpose_block(tilemm__bytes<BYTES>, uint32_t (&out)[V][W],
                                                       uint32_t (&in)[V][W])
{
    enum { WORDS = BYTES / 4 };
#pragma unroll
    for (int j = 0; j < V; j++) {
#pragma unroll
        for (int k = 0; k < W; k++)
            out[j][k] = in[k / WORDS][WORDS * j + k % WORDS];
    }
}

/* Rows of 1- or 2-byte elements to columns of them. */
template <int BYTES, int ROWS, int COLS, int IN, int OUT>
static __device__ __forceinline__ void transpose_rows(uint32_t (&out)[COLS][OUT],
                                                      const uint32_t (&in)[ROWS][IN])
{
    enum { SIDE = 4 / BYTES }; /* of squares of words */
    static_assert(COLS == IN * SIDE && ROWS == OUT * SIDE, "the sizes of one matrix");
#pragma unroll
    for (int i = 0; i < ROWS; i += SIDE)
#pragma unroll
        for (int j = 0; j < COLS; j += SIDE) {
            uint32_t rows[SIDE][1], cols[SIDE][1];
#pragma unroll
            for (int x = 0; x < SIDE; x++)
                rows[x][0] = in[i + x][j / SIDE];
            transpose_block(tilemm__bytes<BYTES>(), cols, rows);
#pragma unroll
            for (int x = 0; x < SIDE; x++)
                out[j + x][i / SIDE] = cols[x][0];
        }
}

/* Two elements, side by side in a word, below two that have no meaning. */
template <int BYTES, int WORDS>
static __device__ __forceinline__ uint32_t two_elements(const uint32_t (&in)[WORDS], int first,
                                                        int second)
{
    enum { EACH = 4 / BYTES };
    const int a = first % EACH * BYTES, b = second % EACH * BYTES + 4;
    return __byte_perm(in[first / EACH], in[second / EACH],
                       BYTES == 2 ? a | (a + 1) << 4 | b << 8 | (b + 1) << 12 : a | b << 4);
}

/* The word of elements first, first + APART, ... of what a thread has. */
template <int BYTES, int APART, int WORDS>
static __device__ __forceinline__ uint32_t word_of_elements(const uint32_t (&in)[WORDS], int first)
{
    if (BYTES == 4)
        return in[first];
    const uint32_t low = two_elements < BYTES == 4 ? 2 : BYTES > (in, first, first + APART);
    if (BYTES == 2)
        return low;
    return __byte_perm(low, two_elements<1>(in, first + 2 * APART, first + 3 * APART), 0x5410);
}

/* ---- 16 bytes of elements of 1 or 2 bytes, gathered from shared memory ------------------------
 */

/* A word of elements that stand alone. */
template <int BYTES>
static __device__ __forceinline__ uint32_t word_of(const uint32_t (&e)[4 / BYTES])
{
    if (BYTES == 2)
        return __byte_perm(e[0], e[1 % (4 / BYTES)], 0x5410);
    return __byte_perm(__byte_perm(e[0], e[1], 0x0040),
                       __byte_perm(e[2 % (4 / BYTES)], e[3 % (4 / BYTES)], 0x0040), 0x5410);
}

/* Elements one below the other, the first at `from`; those from number `before` on are `next` bytes
 * further. ROTATED: each of the four groups of 8 lanes begins with another word. */
template <int BYTES, bool ROTATED>
static __device__ __forceinline__ void column_of(uint32_t (&w)[4], const unsigned char *from,
                                                 int pitch, int before, int next)
{
    enum { EACH = 4 / BYTES };
    const int group = ROTATED ? threadIdx.x / 8 % 4 : 0;
    uint32_t v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int word = ROTATED ? (k + group) % 4 : k, left = before - word * EACH;
        const unsigned char *near = from + word * EACH * pitch, *far = near + next;
        uint32_t e[EACH];
#pragma unroll
        for (int x = 0; x < EACH; x++)
            e[x] = *(const tilemm__element<BYTES> *)((x < left ? near : far) + x * pitch);
        v[k] = word_of<BYTES>(e);
    }
    /* v[k] is word k + group, modulo 4. */
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = group & 1 ? v[(k + 3) & 3] : v[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = group & 2 ? w[(k + 2) & 3] : w[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = v[k];
}

/* t / d, by the short division where it will do. */
static __device__ __forceinline__ uint64_t quotient(uint64_t t, uint64_t d)
{
    return (t | d) >> 32 ? t / d : (uint32_t)t / (uint32_t)d;
}

/* alpha times a float; elements of other sizes are never scaled. */
template <typename T>
static __device__ __forceinline__ T times(T element, float alpha)
{
    (void)alpha;
    return element;
}

static __device__ __forceinline__ uint32_t times(uint32_t word, float alpha)
{
    return __float_as_uint(__uint_as_float(word) * alpha);
}

static __host__ __device__ __forceinline__ uint64_t tiles_along(int64_t size, int edge)
{
    return ((uint64_t)size + (uint64_t)edge - 1) / (uint64_t)edge;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* The tile of EDGE x EDGE elements at src, of which rows x cols are there, goes transposed to
 * shared memory (tilemm__transpose_chunk). ld is in elements. */
template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM, int THREADS>
static __device__ __forceinline__ void tile_in(unsigned char *tile, const unsigned char *src,
                                               int64_t ld, int64_t rows, int64_t cols, int scaled,
                                               float alpha)
{
    enum { V = CHUNK / BYTES, W = CHUNK / 4, Q = EDGE / V, STEP = THREADS / Q, BLOCKS = Q / STEP };
    const int x = threadIdx.x % Q, y = threadIdx.x / Q;
    const bool whole = rows >= EDGE && cols >= EDGE;
    const int64_t there = cols - x * V;
    src += ((int64_t)y * V * ld + x * V) * BYTES;
#pragma unroll
    for (int s = 0; s < BLOCKS; s++) {
        uint32_t in[V][W], out[V][W];
#pragma unroll
        for (int i = 0; i < V; i++) {
            const unsigned char *p = src + (s * STEP * V + i) * ld * BYTES;
            if (whole) {
                get_chunk<CHUNK, ALIGN, STREAM>(in[i], p);
                continue;
            }
#pragma unroll
            for (int k = 0; k < W; k++)
                in[i][k] = 0;
            if ((y + s * STEP) * V + i >= rows)
                continue;
            if (there >= V) {
                get_chunk<CHUNK, ALIGN, STREAM>(in[i], p);
            } else if (STREAM) {
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (e < there)
                        get_element<BYTES>(in[i], e, p);
            }
        }
        /* Apart, so that the loads above are in flight together, unless that takes registers that
         * whole tiles of large matrices need. */
        if (!STREAM && !whole && there > 0 && there < V) {
#pragma unroll
            for (int i = 0; i < V; i++) {
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (e < there && (y + s * STEP) * V + i < rows)
                        get_element<BYTES>(in[i], e, src + (s * STEP * V + i) * ld * BYTES);
            }
        }
        if (BYTES == 4 && scaled) {
#pragma unroll
            for (int i = 0; i < V; i++) {
#pragma unroll
                for (int k = 0; k < W; k++)
                    in[i][k] = times(in[i][k], alpha);
            }
        }
        transpose_block(tilemm__bytes<BYTES>(), out, in);
#pragma unroll
        for (int j = 0; j < V; j++)
            put<CHUNK>(tile + tilemm__transpose_chunk(x * V + j, y + s * STEP, Q, V) * CHUNK,
                       out[j]);
    }
}

/* The tile goes to dst, of which rows x cols elements are there. */
template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM, int THREADS>
static __device__ __forceinline__ void tile_out(unsigned char *dst, const unsigned char *tile,
                                                int64_t ld, int64_t rows, int64_t cols)
{
    enum { V = CHUNK / BYTES, W = CHUNK / 4, Q = EDGE / V, STEP = THREADS / Q };
    const int x = threadIdx.x % Q, y = threadIdx.x / Q;
    const bool whole = rows >= EDGE && cols >= EDGE;
    const int64_t there = cols - x * V;
    dst += ((int64_t)y * ld + x * V) * BYTES;
#pragma unroll
    for (int s = 0; s < EDGE / STEP; s++) {
        unsigned char *p = dst + s * STEP * ld * BYTES;
        uint32_t w[W];
        get<CHUNK>(w, tile + tilemm__transpose_chunk(y + s * STEP, x, Q, V) * CHUNK);
        if (whole) {
            put_chunk<CHUNK, ALIGN, STREAM>(p, w);
        } else if (y + s * STEP < rows) {
            if (there >= V) {
                put_chunk<CHUNK, ALIGN, STREAM>(p, w);
            } else {
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (e < there)
                        put_element<BYTES>(p, e, w);
            }
        }
    }
}

/* The same, element by element; the tile is not transposed (tilemm__transpose_element). */
template <int BYTES, int EDGE>
static __device__ __forceinline__ void
elements_in(tilemm__element<BYTES> *tile, const unsigned char *src, int64_t ld, int64_t rows,
            int64_t cols, int scaled, float alpha)
{
    typedef tilemm__element<BYTES> element;
    enum { STEP = THREADS / EDGE, PASSES = EDGE / STEP };
    const int x = threadIdx.x % EDGE, y = threadIdx.x / EDGE;
    const element *p = (const element *)src + ((int64_t)y * ld + x);
    element v[PASSES];
    if (rows >= EDGE && cols >= EDGE) {
#pragma unroll
        for (int s = 0; s < PASSES; s++)
            v[s] = p[s * STEP * ld];
    } else {
#pragma unroll
        for (int s = 0; s < PASSES; s++) {
            v[s] = element();
            if (y + s * STEP < rows && x < cols)
                v[s] = p[s * STEP * ld];
        }
    }
#pragma unroll
    for (int s = 0; s < PASSES; s++)
        tile[tilemm__transpose_element(y + s * STEP, x, EDGE, BYTES)] =
            scaled ? times(v[s], alpha) : v[s];
}

template <int BYTES, int EDGE>
static __device__ __forceinline__ void elements_out(unsigned char *dst,
                                                    const tilemm__element<BYTES> *tile, int64_t ld,
                                                    int64_t rows, int64_t cols)
{
    typedef tilemm__element<BYTES> element;
    enum { STEP = THREADS / EDGE, PASSES = EDGE / STEP };
    const int x = threadIdx.x % EDGE, y = threadIdx.x / EDGE;
    element *p = (element *)dst + ((int64_t)y * ld + x);
#pragma unroll
    for (int s = 0; s < PASSES; s++)
        if (y + s * STEP < rows && x < cols)
            p[s * STEP * ld] = tile[tilemm__transpose_element(x, y + s * STEP, EDGE, BYTES)];
}

#endif
