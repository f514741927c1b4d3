/* tile.cu - transpose out of place, through a tile in shared memory that is free of bank
 * conflicts (but for strips), with both sides coalesced.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; as much
 * alignment as the launch says.
 *
 * Four kernels. `chunks` moves 8- or 16-byte chunks on every side and turns small blocks over in
 * registers; `shifted` does so where rows are not aligned; `narrow` and `strip` take matrices that
 * are far from filling a square tile (strips of shorter elements: transpose_short.cu). Each block
 * walks over tiles with the stride of the grid, so that any number of tiles fits any grid.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "tile.cuh"

enum { THREADS = TILEMM__TRANSPOSE_THREADS };

/* Where a tile lies: source and destination, and how much of it is there. */
typedef struct {
    const unsigned char *src;
    unsigned char *dst;
    int64_t rows, cols;
} place_t;

/* Blocks that run together go down the same columns of the source: they write to whole rows of the
 * destination, which memory takes best. */
static __device__ __forceinline__ place_t place(const tilemm__transpose_launch_t *p, uint64_t t,
                                                uint64_t tile_rows, uint64_t tile_cols, int edge,
                                                int bytes)
{
    const uint64_t column = quotient(t, tile_rows), number = quotient(column, tile_cols);
    const int64_t i = (int64_t)(t - column * tile_rows) * edge;
    const int64_t j = (int64_t)(column - number * tile_cols) * edge;
    place_t at;

    at.src = (const unsigned char *)p->src +
             ((int64_t)number * p->stride_src + i * p->ld_src + j) * bytes;
    at.dst =
        (unsigned char *)p->dst + ((int64_t)number * p->stride_dst + j * p->ld_dst + i) * bytes;
    at.rows = p->rows - i;
    at.cols = p->cols - j;
    return at;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Blocks that should fit a multiprocessor at least, which bounds registers: so that it holds 1536
 * threads, all that compute capability 7.5 has, or half of that where a thread holds a lot. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64 && (threads) <= 256 ? 768 / (threads) : 1024 / (threads))
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 800 &&                                             \
    __CUDA_ARCH__ < 890 /* 8.6 and 8.7 have 16 blocks at most */
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64        ? ((threads) > 256 ? 1024 : 768) / (threads)                               \
     : (threads) >= 128 ? 1536 / (threads)                                                         \
                        : 16)
#else
#define RESIDENT(held, threads)                                                                    \
    ((held) > 64 ? ((threads) > 256 ? 1024 : 768) / (threads) : 1536 / (threads))
#endif

template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM, int THREADS>
static __global__ void __launch_bounds__(THREADS, RESIDENT(EDGE *EDGE *BYTES / THREADS, THREADS))
    chunks(const tilemm__transpose_launch_t p)
{
    extern __shared__ __align__(16) unsigned char storage[];
    const uint64_t tile_rows = tiles_along(p.rows, EDGE), tile_cols = tiles_along(p.cols, EDGE);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;

    wait_for_previous();
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const place_t at = place(&p, t, tile_rows, tile_cols, EDGE, BYTES);

        if (t != blockIdx.x)
            __syncthreads();
        chunks_in<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>(storage, at.src, p.ld_src, at.rows,
                                                              at.cols, p.scaled, p.alpha);
        __syncthreads();
        chunks_out<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>(at.dst, storage, p.ld_dst, at.cols,
                                                               at.rows);
    }
}

/* ---- shifted chunks -------------------------------------------------------------------------- */

/* CHUNK bytes out of two chunks, from byte `shift` on, a multiple of BYTES. */
template <int BYTES, int CHUNK>
static __device__ __forceinline__ void funnel(uint32_t (&out)[CHUNK / 4],
                                              uint32_t (&two)[CHUNK / 2], int shift)
{
    enum { W = CHUNK / 4 };

    if (W == 4) {
#pragma unroll
        for (int k = 0; k < 6; k++)
            two[k] = shift & 8 ? two[k + 2] : two[k];
    }
    if (BYTES <= 4) {
#pragma unroll
        for (int k = 0; k < W + 1; k++)
            two[k] = shift & 4 ? two[k + 1] : two[k];
    }
#pragma unroll
    for (int k = 0; k < W; k++)
        out[k] = BYTES < 4 ? __funnelshift_r(two[k], two[k + 1], shift % 4 * 8) : two[k];
}

/* Rows that are not aligned are read by the aligned chunks that they touch, and written by aligned
 * chunks too. For the latter the tile's part of each row of the destination is moved back to the
 * border of a memory transfer: the tile holds `halo` rows of the source more than it writes, those
 * before its own. Bytes between rows may be read, but nothing before the first element or after
 * the last. */
template <int BYTES, int CHUNK, int ROWS, int COLS>
static __global__ void __launch_bounds__(THREADS, BYTES == 2 ? 2 : 4)
    shifted(const tilemm__transpose_launch_t p)
{
    enum {
        V = CHUNK / BYTES,
        W = CHUNK / 4,
        ACROSS = COLS / V,
        DOWN = ROWS / V,
        STEP = THREADS / ACROSS,
        OUT_STEP = THREADS / DOWN
    };
    __shared__ __align__(16) unsigned char tile[ROWS * COLS * BYTES];
    const int halo = p.halo, height = ROWS - halo;
    const uint64_t tile_rows = ((uint64_t)p.rows + (halo ? halo - 1 : 0) + height - 1) / height;
    const uint64_t tile_cols = tiles_along(p.cols, COLS);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;

    wait_for_previous();
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
                        get<false>(tilemm__bytes<CHUNK>(), two[i], q - shift);
                        if (shift)
                            get<false>(tilemm__bytes<CHUNK>(), two[i] + W, q - shift + CHUNK);
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
                            get<false>(tilemm__bytes<CHUNK>(), two[i], q - shift);
                            if (second)
                                get<false>(tilemm__bytes<CHUNK>(), two[i] + W, q - shift + CHUNK);
                        }
                    }
                }
#pragma unroll
                for (int i = 0; i < V; i++) {
                    const unsigned char *q = base + i * row_bytes;

                    funnel<BYTES, CHUNK>(in[i], two[i], (int)((uintptr_t)q % CHUNK));
                    if (single >> i & 1) {
#pragma unroll
                        for (int e = 0; e < V; e++) {
                            if (e < there)
                                get_element(tilemm__bytes<BYTES>(), in[i], e, q);
                        }
                    }
                    if (BYTES == 4 && p.scaled) {
#pragma unroll
                        for (int k = 0; k < W; k++)
                            in[i][k] = times(in[i][k], p.alpha);
                    }
                }
                turn(tilemm__bytes<BYTES>(), out, in);
#pragma unroll
                for (int j = 0; j < V; j++)
                    put<false>(tilemm__bytes<CHUNK>(),
                               tile + tilemm__transpose_chunk(x * V + j, y + s * STEP, DOWN, V) *
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
                get<false>(tilemm__bytes<CHUNK>(), two,
                           tile + tilemm__transpose_chunk(c, from / V, DOWN, V) * CHUNK);
                if (shift)
                    get<false>(tilemm__bytes<CHUNK>(), two + W,
                               tile + tilemm__transpose_chunk(c, from / V + 1, DOWN, V) * CHUNK);
                funnel<BYTES, CHUNK>(w, two, shift * BYTES);
                if (inside || (r >= 0 && r + V <= p.rows)) {
                    put<true>(tilemm__bytes<CHUNK>(), q, w);
                } else {
#pragma unroll
                    for (int e = 0; e < V; e++) {
                        if (r + e >= 0 && r + e < p.rows)
                            put_element(tilemm__bytes<BYTES>(), q, e, w);
                    }
                }
            }
        }
    }
}

/* ---- narrow tiles, element by element -------------------------------------------------------- */

/* For a side of no more than 32 elements, whose rows are seldom aligned. */
template <int BYTES, int ROWS, int COLS>
static __global__ void __launch_bounds__(THREADS, 4) narrow(const tilemm__transpose_launch_t p)
{
    typedef typename tilemm__element<BYTES>::type element;
    enum { STEP = THREADS / COLS, OUT_STEP = THREADS / ROWS };
    __shared__ element tile[ROWS * tilemm__transpose_pitch(COLS, BYTES)];
    const uint64_t tile_rows = tiles_along(p.rows, ROWS), tile_cols = tiles_along(p.cols, COLS);
    const uint64_t tiles = tile_rows * tile_cols * (uint64_t)p.batch;

    wait_for_previous();
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const uint64_t column = quotient(t, tile_rows), number = quotient(column, tile_cols);
        const int64_t r0 = (int64_t)(t - column * tile_rows) * ROWS;
        const int64_t c0 = (int64_t)(column - number * tile_cols) * COLS;

        if (t != blockIdx.x)
            __syncthreads();
        {
            const int x = threadIdx.x % COLS, y = threadIdx.x / COLS;
            const element *q = (const element *)p.src +
                               ((int64_t)number * p.stride_src + (r0 + y) * p.ld_src + c0 + x);
            const int rows = c0 + x < p.cols ? (int)min((int64_t)ROWS, p.rows - r0) : 0;

            if (rows == ROWS) {
#pragma unroll
                for (int r = 0; r < ROWS; r += STEP) {
                    copy_async<BYTES>(tile + tilemm__transpose_element(y + r, x, COLS, BYTES), q);
                    q += STEP * p.ld_src;
                }
            } else {
                for (int r = y; r < rows; r += STEP) {
                    copy_async<BYTES>(tile + tilemm__transpose_element(r, x, COLS, BYTES), q);
                    q += STEP * p.ld_src;
                }
            }
            async_commit();
            async_wait<0>();
        }
        __syncthreads();
        {
            const int x = threadIdx.x % ROWS, y = threadIdx.x / ROWS;
            const int cols = r0 + x < p.rows ? (int)min((int64_t)COLS, p.cols - c0) : 0;
            element *q =
                (element *)p.dst + ((int64_t)number * p.stride_dst + (c0 + y) * p.ld_dst + r0 + x);

#pragma unroll 4
            for (int c = y; c < cols; c += OUT_STEP) {
                const element v = tile[tilemm__transpose_element(x, c, COLS, BYTES)];

                *q = p.scaled ? times(v, p.alpha) : v;
                q += OUT_STEP * p.ld_dst;
            }
        }
    }
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* One side of a tile as lines that are consecutive in memory: rows of the source, columns of it
 * (which are rows of the destination), or, where these follow each other without a gap, whole
 * matrices, or the whole tile. 2^log_lanes threads go along a line, by units of `unit` elements. */
typedef struct {
    int length, lines; /* elements in a line, lines in a tile */
    int each;          /* lines in a matrix; 0: the tile is one line */
    division_t by_each;
    int log_lanes, unit;
} side_t;

typedef struct {
    tilemm__transpose_launch_t launch;
    side_t in, out;
    division_t by_rows, by_cols;
    uint64_t tile_cols, each, tiles; /* tiles in a row of them, in a matrix, in all */
} strip_t;

/* Four elements, read from shared memory by four groups of 8 lanes in four orders, so that lanes
 * whose elements are an odd number times 4 words apart meet each bank once. */
static __device__ __forceinline__ void gather_turned(uint32_t (&v)[4], const uint32_t *tile, int f,
                                                     int step)
{
    const int group = (threadIdx.x >> 3) & 3;
    uint32_t w[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = tile[tilemm__transpose_strip(f + ((k + group) & 3) * step, 4)];
        /* w[k] is element k + group, modulo 4. */
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = group & 1 ? w[(k + 3) & 3] : w[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = group & 2 ? v[(k + 2) & 3] : v[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = w[k];
}

/* A tile of tile_batch pieces of tile_rows x tile_cols lies in shared memory as it does in packed
 * memory; swizzled, as lanes read it with a stride of several columns.
 * For some shapes lanes still meet in a bank; two passes through shared memory, as
 * transpose_short.cu makes them, would free it, but take longer for elements of this size. */
template <typename element>
static __global__ void __launch_bounds__(THREADS) strip(const strip_t s)
{
    enum { BYTES = sizeof(element), UNIT = 16 / BYTES, TOGETHER = 4 };
    __shared__ __align__(16) unsigned char storage[TILEMM__TRANSPOSE_STRIP_BYTES];
    element *tile = (element *)storage;
    const tilemm__transpose_launch_t &p = s.launch;
    const int height = p.tile_rows, width = p.tile_cols, area = height * width;

    wait_for_previous();
    for (uint64_t t = blockIdx.x; t < s.tiles; t += gridDim.x) {
        const uint64_t group = quotient(t, s.each), inside = t - group * s.each;
        const uint64_t row = quotient(inside, s.tile_cols);
        const int64_t b0 = (int64_t)group * p.tile_batch, r0 = (int64_t)row * height;
        const int64_t c0 = (int64_t)(inside - row * s.tile_cols) * width;
        const element *src = (const element *)p.src + (b0 * p.stride_src + r0 * p.ld_src + c0);
        element *dst = (element *)p.dst + (b0 * p.stride_dst + c0 * p.ld_dst + r0);
        /* How much of the tile is there. */
        const int batch = (int)min((int64_t)p.tile_batch, p.batch - b0);
        const int rows = (int)min((int64_t)height, p.rows - r0);
        const int cols = (int)min((int64_t)width, p.cols - c0);
        int line, x, there;

        if (t != blockIdx.x)
            __syncthreads();
        line = threadIdx.x >> s.in.log_lanes;
        x = (threadIdx.x & ((1 << s.in.log_lanes) - 1)) * s.in.unit;
        there = !s.in.each ? batch * area : s.in.each == 1 ? rows * cols : cols;
        while (line < s.in.lines) {
            uint32_t w[TOGETHER][4];
            int to[TOGETHER], count[TOGETHER];

#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                const int b = (int)divided((uint32_t)line, s.in.by_each), r = line - b * s.in.each;

                count[k] = line < s.in.lines && b < batch && r < rows ? there - x : 0;
                to[k] = line * s.in.length + x;
                if (count[k] > 0) {
                    const element *q = src + (b * p.stride_src + r * p.ld_src + x);

                    if (s.in.unit == 1)
                        *(element *)w[k] = *q;
                    else if (count[k] >= UNIT)
                        get<false>(tilemm__bytes<16>(), w[k], q);
                    else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++)
                            ((element *)w[k])[e] = e < count[k] ? q[e] : element();
                    }
                }
                x += s.in.unit << s.in.log_lanes;
                if (x >= s.in.length) {
                    x = (threadIdx.x & ((1 << s.in.log_lanes) - 1)) * s.in.unit;
                    line += THREADS >> s.in.log_lanes;
                }
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                element *q = tile + tilemm__transpose_strip(to[k], BYTES);

                if (count[k] <= 0)
                    continue;
                if (BYTES == 4 && p.scaled) {
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        w[k][e] = times(w[k][e], p.alpha);
                }
                if (s.in.unit == 1)
                    *q = *(element *)w[k];
                else
                    put<false>(tilemm__bytes<16>(), q, w[k]);
            }
        }
        __syncthreads();
        line = threadIdx.x >> s.out.log_lanes;
        x = (threadIdx.x & ((1 << s.out.log_lanes) - 1)) * s.out.unit;
        there = !s.out.each ? batch * area : s.out.each == 1 ? rows * cols : rows;
        while (line < s.out.lines) {
            int b = (int)divided((uint32_t)line, s.out.by_each), c = line - b * s.out.each, r = x;
            element *q = dst + (b * p.stride_dst + c * p.ld_dst + x);
            const int count = b < batch && c < cols ? there - x : 0;
            int f;

            if (s.out.each <= 1) {
                /* x counts on over columns, and matrices. */
                c = (int)divided((uint32_t)x, s.by_rows);
                r = x - c * height;
                if (!s.out.each) {
                    b = (int)divided((uint32_t)c, s.by_cols);
                    c -= b * width;
                }
            }
            f = b * area + r * width + c;
            if (count > 0) {
                if (s.out.unit == 1) {
                    *q = tile[tilemm__transpose_strip(f, BYTES)];
                } else {
                    uint32_t w[4];

                    if (BYTES == 4 && s.out.each > 1 && count >= UNIT) {
                        gather_turned(w, (const uint32_t *)tile, f, width);
                    } else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++) {
                            if (e < count)
                                ((element *)w)[e] = tile[tilemm__transpose_strip(f, BYTES)];
                            f += width;
                            if (++r == height) {
                                r = 0;
                                f += 1 - area;
                                if (++c == width) {
                                    c = 0;
                                    f += area - width;
                                }
                            }
                        }
                    }
                    if (count >= UNIT) {
                        put<false>(tilemm__bytes<16>(), q, w);
                    } else {
#pragma unroll
                        for (int e = 0; e < UNIT; e++) {
                            if (e < count)
                                q[e] = ((element *)w)[e];
                        }
                    }
                }
            }
            x += s.out.unit << s.out.log_lanes;
            if (x >= s.out.length) {
                x = (threadIdx.x & ((1 << s.out.log_lanes) - 1)) * s.out.unit;
                line += THREADS >> s.out.log_lanes;
            }
        }
    }
}

/* ---- launchers ------------------------------------------------------------------------------- */

static unsigned square_grid(const tilemm__transpose_launch_t *p, int edge)
{
    return grid_for(tiles_along(p->rows, edge) * tiles_along(p->cols, edge) * (uint64_t)p->batch);
}

template <int BYTES, int CHUNK, int EDGE, int ALIGN, bool STREAM, int THREADS>
static cudaError_t run_chunks(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    const int bytes = EDGE * EDGE * BYTES;

    if (bytes > 48 * 1024) {
        const cudaError_t error =
            cudaFuncSetAttribute(chunks<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

        if (error != cudaSuccess)
            return error;
    }
    return launch_after(chunks<BYTES, CHUNK, EDGE, ALIGN, STREAM, THREADS>, square_grid(p, EDGE),
                        THREADS, bytes, stream, *p);
}

template <int BYTES, int CHUNK, int EDGE, int ALIGN, int THREADS>
static cudaError_t launch_chunks(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    return p->streaming ? run_chunks<BYTES, CHUNK, EDGE, ALIGN, true, THREADS>(p, stream)
                        : run_chunks<BYTES, CHUNK, EDGE, ALIGN, false, THREADS>(p, stream);
}

int tilemm__launch_transpose_chunks(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size * 1000 + p->tile_rows) {
    case 1256: return (int)launch_chunks<1, 8, 256, 8, 512>(p, s);
    case 1128: return (int)launch_chunks<1, 8, 128, 8, 256>(p, s);
    case 2128: return (int)launch_chunks<2, 16, 128, 16, 256>(p, s);
    case 2064: return (int)launch_chunks<2, 16, 64, 16, 64>(p, s);
    case 4064: return (int)launch_chunks<4, 16, 64, 16, 256>(p, s);
    case 4032: return (int)launch_chunks<4, 16, 32, 16, 64>(p, s);
    case 8032: return (int)launch_chunks<8, 16, 32, 16, 256>(p, s);
    case 16032:
        return (int)(p->access == 16 ? launch_chunks<16, 16, 32, 16, 256>(p, s)
                                     : launch_chunks<16, 16, 32, 8, 256>(p, s));
    case 16016:
        return (int)(p->access == 16 ? launch_chunks<16, 16, 16, 16, 64>(p, s)
                                     : launch_chunks<16, 16, 16, 8, 64>(p, s));
    default: return (int)cudaErrorInvalidValue;
    }
}

template <int BYTES, int CHUNK, int ROWS, int COLS>
static int launch_shifted(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    const int64_t height = ROWS - p->halo, before = p->halo ? p->halo - 1 : 0;

    const unsigned grid = grid_for(tiles_along(p->rows + before, (int)height) *
                                   tiles_along(p->cols, COLS) * (uint64_t)p->batch);

    return (int)launch_after(shifted<BYTES, CHUNK, ROWS, COLS>, grid, THREADS, 0, stream, *p);
}

int tilemm__launch_transpose_shifted(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size) {
    case 1: return launch_shifted<1, 8, 128, 128>(p, s);
    case 2: return launch_shifted<2, 16, 256, 64>(p, s);
    case 4: return launch_shifted<4, 16, 128, 64>(p, s);
    case 8: return launch_shifted<8, 16, 64, 32>(p, s);
    default: return (int)cudaErrorInvalidValue;
    }
}

template <int BYTES>
static int launch_narrow(const tilemm__transpose_launch_t *p, cudaStream_t stream)
{
    const unsigned grid = grid_for(tiles_along(p->rows, p->tile_rows) *
                                   tiles_along(p->cols, p->tile_cols) * (uint64_t)p->batch);

    return (int)launch_after(p->tile_rows > p->tile_cols ? narrow<BYTES, 128, 32>
                                                         : narrow<BYTES, 32, 128>,
                             grid, THREADS, 0, stream, *p);
}

int tilemm__launch_transpose_narrow(const tilemm__transpose_launch_t *p, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;

    switch (p->elem_size) {
    case 1: return launch_narrow<1>(p, s);
    case 2: return launch_narrow<2>(p, s);
    case 4: return launch_narrow<4>(p, s);
    case 8: return launch_narrow<8>(p, s);
    default: return (int)cudaErrorInvalidValue;
    }
}

int tilemm__launch_transpose_strip(const tilemm__transpose_launch_t *p, void *stream)
{
    unsigned grid;
    const int whole = p->tile_rows == p->rows && p->tile_cols == p->cols;
    cudaStream_t s = (cudaStream_t)stream;
    strip_t strips;

    strips.launch = *p;
    strips.in = lines_of<side_t>(p, p->tile_cols, p->tile_rows,
                                 p->tile_cols == p->cols && p->ld_src == p->cols,
                                 whole && p->stride_src == p->rows * p->cols, p->unit_in);
    strips.out = lines_of<side_t>(p, p->tile_rows, p->tile_cols,
                                  p->tile_rows == p->rows && p->ld_dst == p->rows,
                                  whole && p->stride_dst == p->rows * p->cols, p->unit_out);
    strips.by_rows = division_by((uint32_t)p->tile_rows);
    strips.by_cols = division_by((uint32_t)p->tile_cols);
    strips.tile_cols = tiles_along(p->cols, p->tile_cols);
    strips.each = tiles_along(p->rows, p->tile_rows) * strips.tile_cols;
    strips.tiles = strips.each * tiles_along(p->batch, p->tile_batch);
    grid = grid_for(strips.tiles);
    switch (p->elem_size) {
    case 4: return (int)launch_after(strip<uint32_t>, grid, THREADS, 0, s, strips);
    case 8: return (int)launch_after(strip<uint2>, grid, THREADS, 0, s, strips);
    case 16:
        return (int)launch_after(p->access == 16 ? strip<uint4> : strip<tilemm__pair>, grid,
                                 THREADS, 0, s, strips);
    default: return (int)cudaErrorInvalidValue;
    }
}
