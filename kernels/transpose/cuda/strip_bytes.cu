/* strip_bytes.cu - transpose out of place of matrices with few rows or columns, and of batches of
 * small ones, of elements of 1 or 2 bytes: tiles of any shape.
 *
 * A tile of tile_batch pieces of tile_rows x tile_cols comes into shared memory in the order of its
 * bytes, as if packed, and leaves a second buffer in the same way, by 16 bytes where the alignment
 * allows. In between each lane transposes its own lines, element by element: whole matrices where
 * the tile has many, else columns, or rows. All lanes of a warp are at the same place of their
 * lines, so that no index is divided and no two meet in a bank (layout.h). Nor do they where whole
 * tiles come and go without gaps; a warp's access that crosses a border of 128 bytes may have
 * conflicts of two ways.
 *
 * Assumes: compute capability 7.5 or later; operands that do not overlap; sizes above 0; as much
 * alignment as the launch says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"
#include "variant.cuh"

static_assert(TILEMM__TRANSPOSE_STRIP_BYTES % 128 == 0, "the swizzle permutes whole 128 bytes");
static_assert(TILEMM__TRANSPOSE_STRIP_BYTES <= 24 * 1024, "two buffers in 48 KiB");

/* What the 128 bytes with this number are xor'd with in a side's buffer. */
template <int BYTES, bool SWIZZLED>
static __device__ __forceinline__ int swizzle(const tilemm__strip_buffer_t *side, int number)
{
    return SWIZZLED
               ? tilemm__strip_swizzle((int)divided((uint32_t)number, side->by_period), side->mask)
               : 0;
}

/* A lane's elements in a side's buffer. The swizzle changes once at most, at `border`. */
typedef struct {
    int first, border, before, behind;
} lane_t;

template <int BYTES, bool SWIZZLED>
static __device__ __forceinline__ lane_t lane_from(const tilemm__strip_buffer_t *side, int element)
{
    const int region =
        SWIZZLED ? (int)divided((uint32_t)(element * BYTES / 128), side->by_period) : 0;
    return {element * BYTES, (region + 1) * side->period * 128,
            SWIZZLED ? tilemm__strip_swizzle(region, side->mask) : 0,
            SWIZZLED ? tilemm__strip_swizzle(region + 1, side->mask) : 0};
}

template <bool SWIZZLED>
static __device__ __forceinline__ int lane_at(const lane_t *lane, int byte)
{
    return SWIZZLED ? byte ^ (byte < lane->border ? lane->before : lane->behind) : byte;
}

/* Exchange the words of 16 bytes as the lower bits of a swizzle say. */
template <bool SWIZZLED>
static __device__ __forceinline__ void exchange(uint32_t (&w)[4], int by)
{
    if (SWIZZLED) {
        const uint4 v =
            by & 4 ? make_uint4(w[1], w[0], w[3], w[2]) : make_uint4(w[0], w[1], w[2], w[3]);
        w[0] = by & 8 ? v.z : v.x;
        w[1] = by & 8 ? v.w : v.y;
        w[2] = by & 8 ? v.x : v.z;
        w[3] = by & 8 ? v.y : v.w;
    }
}

/* Where a unit lies in memory, in elements from the tile's first one; returns how many elements of
 * its line exist from there on, if the tile has `rows` lines of each of `batch` matrices. */
static __device__ __forceinline__ int place(const tilemm__strip_buffer_t *side, walk_t at,
                                            int there, int rows, int batch, int64_t *offset)
{
    const int b = (int)divided((uint32_t)at.line, side->by_each), r = at.line - b * side->each;
    *offset = b * side->stride + r * side->ld + at.x;
    return at.line < side->lines && b < batch && r < rows ? there - at.x : 0;
}

/* Transpose `count` elements, in_step and out_step bytes from each other. If WRAPPED, they begin
 * with number y of a column of `column` elements; the next column begins `back` bytes further. */
template <typename element, bool SWIZZLED, bool WRAPPED>
static __device__ __forceinline__ void
transpose_line(unsigned char *transposed, int out, const lane_t *to, int out_step,
               const unsigned char *tile, int in, const lane_t *from, int in_step, int count, int y,
               int column, int back)
{
    enum { TOGETHER = 4 };
    while (count > 0) {
        element v[TOGETHER];
        const int some = min(count, (int)TOGETHER);
        if (some == TOGETHER) {
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                v[k] = *(const element *)(tile + lane_at<SWIZZLED>(from, in));
                in += in_step;
                if (WRAPPED && ++y == column) {
                    y = 0;
                    in += back;
                }
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++)
                *(element *)(transposed + lane_at<SWIZZLED>(to, out + k * out_step)) = v[k];
            out += TOGETHER * out_step;
        } else {
#pragma unroll 1
            for (int k = 0; k < some; k++) {
                *(element *)(transposed + lane_at<SWIZZLED>(to, out)) =
                    *(const element *)(tile + lane_at<SWIZZLED>(from, in));
                in += in_step;
                out += out_step;
                if (WRAPPED && ++y == column) {
                    y = 0;
                    in += back;
                }
            }
        }
        count -= TOGETHER;
    }
}

/* One function, as the compiler allocates registers otherwise, and worse, where it is cut. */
template <typename element, bool SWIZZLED>
static __device__ __forceinline__ void strip(const tilemm__transpose_strip_bytes_t s)
{
    enum { BYTES = sizeof(element), UNIT = 16 / BYTES, TOGETHER = 4, LANES = 32 };
    __shared__ __align__(128) unsigned char tile[TILEMM__TRANSPOSE_STRIP_BYTES];
    __shared__ __align__(128) unsigned char transposed[TILEMM__TRANSPOSE_STRIP_BYTES];
    const tilemm__transpose_tiles_t &p = s.of;
    const tilemm__strip_lines_t &lines = s.lines;
    const int height = p.tile_rows, width = p.tile_cols, area = height * width;
    begin(p);
    for (uint64_t t = blockIdx.x; t < s.tiles; t += gridDim.x) {
        const uint64_t group = quotient(t, s.each), inside = t - group * s.each;
        const uint64_t row = quotient(inside, s.tile_cols_count);
        const int64_t b0 = (int64_t)group * p.tile_batch, r0 = (int64_t)row * height;
        const int64_t c0 = (int64_t)(inside - row * s.tile_cols_count) * width;
        const unsigned char *src =
            (const unsigned char *)p.src + (b0 * p.stride_src + r0 * p.ld_src + c0) * BYTES;
        unsigned char *dst =
            (unsigned char *)p.dst + (b0 * p.stride_dst + c0 * p.ld_dst + r0) * BYTES;
        /* How much of the tile is there. */
        const int batch = (int)min((int64_t)p.tile_batch, p.batch - b0);
        const int rows = (int)min((int64_t)height, p.rows - r0);
        const int cols = (int)min((int64_t)width, p.cols - c0);
        const int bytes = p.tile_batch * area * BYTES;
        const bool whole = batch == p.tile_batch && bytes % 16 == 0;
        const int in_there = !s.in.each ? batch * area : s.in.each == 1 ? rows * cols : cols;
        const int out_there = !s.out.each ? batch * area : s.out.each == 1 ? rows * cols : rows;
        if (whole && s.in.unit > 1 && !s.in.each) {
            for (int first = threadIdx.x * 16; first < bytes; first += TOGETHER * THREADS * 16) {
                uint32_t w[TOGETHER][4];
#pragma unroll
                for (int k = 0; k < TOGETHER; k++)
                    if (first + k * THREADS * 16 < bytes)
                        get<16>(w[k], src + first + k * THREADS * 16);
#pragma unroll
                for (int k = 0; k < TOGETHER; k++) {
                    const int x = first + k * THREADS * 16;
                    const int by = swizzle<BYTES, SWIZZLED>(&s.in, x / 128);
                    if (x >= bytes)
                        continue;
                    exchange<SWIZZLED>(w[k], by);
                    put<16>(tile + (x ^ (by & ~15)), w[k]);
                }
            }
        } else
            for (walk_t at = walk_from(&s.in); at.line < s.in.lines;) {
                uint32_t w[TOGETHER][4];
                int to[TOGETHER];
                bool full[TOGETHER];
#pragma unroll
                for (int k = 0; k < TOGETHER; k++) {
                    int64_t offset;
                    const int count = place(&s.in, at, in_there, rows, batch, &offset);
                    const element *q = (const element *)(src + offset * BYTES);
                    to[k] = (at.line * s.in.length + at.x) * BYTES;
                    full[k] = count >= s.in.unit;
                    if (s.in.unit == 1) {
                        if (full[k])
                            *(element *)w[k] = *q;
                    } else if (full[k]) {
                        get<16>(w[k], q);
                    } else {
                        /* The end of a line. */
#pragma unroll 1
                        for (int e = 0; e < count; e++)
                            *(element *)(tile + ((to[k] + e * BYTES) ^
                                                 swizzle<BYTES, SWIZZLED>(&s.in, to[k] / 128))) =
                                q[e];
                    }
                    walk_on(&s.in, &at);
                }
#pragma unroll
                for (int k = 0; k < TOGETHER; k++) {
                    const int by = swizzle<BYTES, SWIZZLED>(&s.in, to[k] / 128);
                    if (!full[k])
                        continue;
                    if (s.in.unit == 1) {
                        *(element *)(tile + (to[k] ^ by)) = *(element *)w[k];
                    } else {
                        exchange<SWIZZLED>(w[k], by);
                        put<16>(tile + (to[k] ^ (by & ~15)), w[k]);
                    }
                }
            }
        __syncthreads();
        for (int item = threadIdx.x / LANES; item < lines.groups * lines.sets * lines.parts;
             item += THREADS / LANES) {
            const int set = (int)divided((uint32_t)item, s.by_parts),
                      part = item - set * lines.parts;
            const int number = (int)divided((uint32_t)set, s.by_sets);
            const int line =
                ((set - number * lines.sets) * LANES + (int)threadIdx.x % LANES) * lines.together;
            const int begin = part * lines.elements;
            const int end = min(begin + lines.elements, lines.across * lines.down);
            const int x0 = (int)divided((uint32_t)begin, s.by_down), y0 = begin - x0 * lines.down;
            const lane_t from =
                lane_from<BYTES, SWIZZLED>(&s.in, number * area + line * lines.in_line);
            const lane_t to =
                lane_from<BYTES, SWIZZLED>(&s.out, number * area + line * lines.out_line);
            for (int j = 0; j < lines.together && line + j < lines.lines; j++) {
                const int in = from.first + (j * lines.in_line + x0 + y0 * width) * BYTES;
                const int out = to.first + (j * lines.out_line + x0 * height + y0) * BYTES;
                const int count = end - begin;
                if (lines.across == 1)
                    transpose_line<element, SWIZZLED, false>(transposed, out, &to, BYTES, tile, in,
                                                             &from, width * BYTES, count, 0, 0, 0);
                else if (lines.down == 1)
                    transpose_line<element, SWIZZLED, false>(transposed, out, &to, height * BYTES,
                                                             tile, in, &from, BYTES, count, 0, 0,
                                                             0);
                else
                    transpose_line<element, SWIZZLED, true>(transposed, out, &to, BYTES, tile, in,
                                                            &from, width * BYTES, count, y0, height,
                                                            (1 - height * width) * BYTES);
            }
        }
        __syncthreads();
        if (whole && s.out.unit > 1 && !s.out.each) {
#pragma unroll 4
            for (int x = threadIdx.x * 16; x < bytes; x += THREADS * 16) {
                const int by = swizzle<BYTES, SWIZZLED>(&s.out, x / 128);
                uint32_t w[4];
                get<16>(w, transposed + (x ^ (by & ~15)));
                exchange<SWIZZLED>(w, by);
                put<16>(dst + x, w);
            }
        } else
            for (walk_t at = walk_from(&s.out); at.line < s.out.lines; walk_on(&s.out, &at)) {
                const int from = (at.line * s.out.length + at.x) * BYTES;
                const int by = swizzle<BYTES, SWIZZLED>(&s.out, from / 128);
                int64_t offset;
                const int count = place(&s.out, at, out_there, cols, batch, &offset);
                element *q = (element *)(dst + offset * BYTES);
                if (s.out.unit > 1 && count >= UNIT) {
                    uint32_t w[4];
                    get<16>(w, transposed + (from ^ (by & ~15)));
                    exchange<SWIZZLED>(w, by);
                    put<16>(q, w);
                } else {
                    /* One element, or the end of a line. */
#pragma unroll 1
                    for (int e = 0; e < min(count, s.out.unit); e++)
                        q[e] = *(const element *)(transposed + ((from + e * BYTES) ^ by));
                }
            }
    }
}

#define KERNEL(method, tag, bytes, rows, cols, chunk, access, threads, facet)                      \
    TRANSPOSE_KERNEL(method, tag, (threads, ROOM_FOR(4)), tilemm__transpose_strip_bytes_t,         \
                     strip<tilemm__element<bytes>, facet>)
TILEMM__TRANSPOSE_STRIP_BYTES_ROWS(KERNEL)

LAUNCHER(strip_bytes, tilemm__transpose_strip_bytes_t, TILEMM__TRANSPOSE_STRIP_BYTES_ROWS(ROW))
