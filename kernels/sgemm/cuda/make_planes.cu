/* make_planes.cu - the pass that makes FP16 planes of SGEMM's operands (planes.h), and the kernel
 * that zeroes the lines' states before it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block reads a tile of MN lines by one block of k to registers, finds each line's exponent and
 * writes the planes, whose memory always runs along k. Reads are of 16 bytes where the operand is
 * aligned, else pairs of 4-byte reads. Tiles have few lines so that three blocks are resident,
 * which read and write at the same time.
 *
 * K-major operands: a warp has LINES lines, its lanes lie along k. Others: lanes lie along m or n,
 * warps and quarters of a warp along k; maxima, counts and transposes go through shared memory.
 *
 * Assumes compute capability 8.0, and planes that lie as in tilemm__sgemm_planes_operand_t. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "neighbours.cuh"
#include "planes.h"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    BLOCK_K = TILEMM__SGEMM_PLANES_BLOCK,
    OF_LINE = BLOCK_K * WARPS / THREADS, /* elements of a thread in one line, k-major */
    MN = TILEMM__SGEMM_PLANES_LINES,
    NEAR = 8, /* elements less than 2^NEAR below the largest count as near it */
    COUNT_BITS = TILEMM__SGEMM_NOTE_BITS,
    COUNT_MASK = TILEMM__SGEMM_NOTE_MASK
};
static_assert(BLOCK_K < 1 << COUNT_BITS, "counts do not run over");
static_assert(TILEMM__SGEMM_PLANES_ALIGN_MN % MN == 0, "tiles end where the planes do");
static_assert(BLOCK_K % 128 == 0, "a warp reads 128 of k at a time");

typedef tilemm__sgemm_make_operand_t operand_t;

/* The exponent of a block whose largest element has the bits `largest`, without sign. Divided by
 * 2^exponent that element is in [2^14, 2^15), or below if it is subnormal. */
static __device__ __forceinline__ int exponent_of(unsigned largest)
{
    return (int)(largest >> 23) - 127 - TILEMM__SGEMM_PLANES_TOP_LOG2;
}

static __device__ __forceinline__ bool is_finite(unsigned largest)
{
    return largest < 0x7f800000u;
}

/* What elements are divided by 2^exponent with: two factors, since 2^-exponent may be no float. */
[[maybe_unused]] static __device__ __forceinline__ float2 factors_of(unsigned largest)
{
    const int LEAST = -112, exponent = exponent_of(largest), first = max(exponent, LEAST);
    return is_finite(largest)
               ? make_float2(__uint_as_float((unsigned)(127 - first) << 23),
                             __uint_as_float((unsigned)(127 + first - exponent) << 23))
               : make_float2(0.0f, 0.0f);
}

/* Note what a line's block holds, by its largest element, the least (range_t), and counted(): how
 * many elements are near the largest; too small for the planes, or zero; zero, with those that fill
 * the block up. Lines past the last are zeros. */
[[maybe_unused]] static __device__ void note(const operand_t &op, int64_t matrix, int64_t line,
                                             int64_t block, int64_t blocks, unsigned largest,
                                             unsigned least, unsigned counts)
{
    const int near = (int)(counts & COUNT_MASK), tiny = (int)(counts >> COUNT_BITS & COUNT_MASK),
              zeros = (int)(counts >> 2 * COUNT_BITS);
    const unsigned LEAST = (127 - 6) << 23, MOST = (127 + 11) << 23; /* of even numbers' largest */
    const int64_t valid = min((int64_t)BLOCK_K, op.k - block * BLOCK_K);
    const bool lossy = tiny > zeros;
    const bool sparse = largest != 0 && (int64_t)near * 5 < valid * 3;
    unsigned word = 0;
    if (largest != 0 && is_finite(largest))
        word = (unsigned)(exponent_of(largest) + TILEMM__SGEMM_NOTE_BIAS)
                   << TILEMM__SGEMM_NOTE_BITS |
               (unsigned)near;
    if (sparse)
        word |= TILEMM__SGEMM_NOTE_SPARSE;
    if (lossy)
        word |= TILEMM__SGEMM_NOTE_LOSSY;
    if (!is_finite(largest) || (lossy && sparse))
        word |= TILEMM__SGEMM_NOTE_EXACT;
    if (!is_finite(largest))
        word |= TILEMM__SGEMM_NOTE_SPECIAL;
    if (largest < LEAST || largest >= MOST || tiny > BLOCK_K - valid)
        word |= TILEMM__SGEMM_NOTE_UNEVEN;
    word |= min(least >> (23 + TILEMM__SGEMM_NOTE_LEAST_UNIT_LOG2),
                (unsigned)TILEMM__SGEMM_NOTE_LEAST_MOST)
            << TILEMM__SGEMM_NOTE_LEAST;
    op.to.notes[(matrix * blocks + block) * op.to.notes_pitch + line] = word;
}

/* The largest magnitude and, one less, the least that is not 0: their bits. */
typedef struct {
    unsigned largest, least;
} range_t;

[[maybe_unused]] static __device__ __forceinline__ void add_to_range(float x, range_t &range)
{
    const unsigned magnitude = __float_as_uint(x) & 0x7fffffffu;
    range.largest = max(range.largest, magnitude);
    range.least = min(range.least, magnitude - 1);
}

[[maybe_unused]] static __device__ __forceinline__ bool is_near(float x)
{
    return fabsf(x) >= (float)(1 << (14 - NEAR));
}

[[maybe_unused]] static __device__ __forceinline__ bool is_tiny(float x)
{
    return fabsf(x) < 0x1p-13f;
}

/* Counts of near, tiny and zero elements in one word: of an element divided by 2^exponent, which
 * may have made it 0, and of the element. */
[[maybe_unused]] static __device__ __forceinline__ unsigned counted(float scaled, float x)
{
    return is_near(scaled) + (is_tiny(scaled) << COUNT_BITS) + ((x == 0.0f) << 2 * COUNT_BITS);
}

/* hi and lo of two scaled neighbours. */
[[maybe_unused]] static __device__ __forceinline__ void hi_lo(float x, float y, __half2 *hi,
                                                              __half2 *lo)
{
    *hi = __floats2half2_rn(x, y);

    const float2 back = __half22float2(*hi);

    *lo = __floats2half2_rn((x - back.x) * 2048.0f, (y - back.y) * 2048.0f);
}

/* Store VEC neighbours along k in both planes. */
template <int VEC>
static __device__ __forceinline__ void store(const operand_t &op, int64_t at, const float *x)
{
    __half2 hi[VEC / 2], lo[VEC / 2];
#pragma unroll
    for (int i = 0; i < VEC / 2; i++)
        hi_lo(x[2 * i], x[2 * i + 1], &hi[i], &lo[i]);
    if (VEC == 4) {
        *(uint2 *)(op.to.hi + at) = *(const uint2 *)hi;
        if (op.to.lo)
            *(uint2 *)(op.to.lo + at) = *(const uint2 *)lo;
    } else {
        *(__half2 *)(op.to.hi + at) = hi[0];
        if (op.to.lo)
            *(__half2 *)(op.to.lo + at) = lo[0];
    }
}

template <int VEC>
static __device__ __forceinline__ void make_k_major(const operand_t &op, const float *from,
                                                    int64_t matrix, int64_t line0, int64_t block,
                                                    int64_t blocks)
{
    const int LINES = MN / WARPS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t line = line0 + warp * LINES, k0 = block * BLOCK_K + lane * VEC;
    float x[LINES][OF_LINE];
#pragma unroll
    for (int l = 0; l < LINES; l++)
#pragma unroll
        for (int i = 0; i < OF_LINE; i += VEC) {
            const int64_t k = k0 + i * 32;
            load<VEC>(&x[l][i], from + (line + l) * op.ld + k, line + l < op.mn ? op.k - k : 0);
        }
#pragma unroll
    for (int l = 0; l < LINES; l++) {
        range_t range = {0, ~0u};
        unsigned count = 0;
#pragma unroll
        for (int i = 0; i < OF_LINE; i++)
            add_to_range(x[l][i], range);

        const unsigned largest = __reduce_max_sync(~0u, range.largest);
        const unsigned least = __reduce_min_sync(~0u, range.least);

        const float2 factors = factors_of(largest);

#pragma unroll
        for (int i = 0; i < OF_LINE; i++) {
            const float scaled = is_finite(largest) ? x[l][i] * factors.x * factors.y : 0.0f;
            count += counted(scaled, x[l][i]);
            x[l][i] = scaled;
        }
        count = __reduce_add_sync(~0u, count);
        if (lane == 0)
            note(op, matrix, line + l, block, blocks, largest, least, count);
#pragma unroll
        for (int i = 0; i < OF_LINE; i += VEC) {
            const int64_t k = k0 + i * 32;
            if (k < op.k_planes)
                store<VEC>(op, (matrix * op.mn_planes + line + l) * op.to.pitch + k, &x[l][i]);
        }
    }
}

/* Shared memory for a tile that is not k-major. */
struct shared_t {
    __align__(16) __half2 plane[MN * BLOCK_K / 2]; /* transposed */
    unsigned found[WARPS][MN];                     /* the largest, then counts */
    unsigned least[WARPS];                         /* of all lines */
};

template <int VEC>
static __device__ __forceinline__ void make_mn_major(const operand_t &op, const float *from,
                                                     int64_t matrix, int64_t line0, int64_t block,
                                                     int64_t blocks, shared_t &shared)
{
    const int PART = MN * BLOCK_K / THREADS, LINES = MN / WARPS; /* of a thread; of a warp */
    const int ACROSS = MN / VEC, DOWN = THREADS / ACROSS, ROWS = PART / VEC;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int mine = threadIdx.x % ACROSS * VEC, pair0 = threadIdx.x / ACROSS;
    const int64_t line = line0 + mine, k0 = block * BLOCK_K;
    float x[ROWS][VEC]; /* rows of pairs of k, which are DOWN pairs apart */
    unsigned largest[VEC], count[VEC];
    unsigned least = ~0u;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int64_t k = k0 + (pair0 + i / 2 * DOWN) * 2 + i % 2;
        load<VEC>(x[i], from + k * op.ld + line, k < op.k ? op.mn - line : 0);
    }

#pragma unroll
    for (int v = 0; v < VEC; v++) {
        range_t range = {0, ~0u};
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            add_to_range(x[i][v], range);
        largest[v] = range.largest;
        least = min(least, range.least);
#pragma unroll
        for (int apart = ACROSS; apart < 32; apart *= 2)
            largest[v] = max(largest[v], __shfl_xor_sync(~0u, largest[v], apart));
        if (lane < ACROSS)
            shared.found[warp][mine + v] = largest[v];
    }
    least = __reduce_min_sync(~0u, least);
    if (lane == 0)
        shared.least[warp] = least;
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VEC; v++)
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            largest[v] = max(largest[v], shared.found[w][mine + v]);

#pragma unroll
    for (int v = 0; v < VEC; v++) {
        const float2 factors = factors_of(largest[v]);
        count[v] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float scaled = is_finite(largest[v]) ? x[i][v] * factors.x * factors.y : 0.0f;
            count[v] += counted(scaled, x[i][v]);
            x[i][v] = scaled;
        }
#pragma unroll
        for (int apart = ACROSS; apart < 32; apart *= 2)
            count[v] += __shfl_xor_sync(~0u, count[v], apart);
    }

    /* Transpose each plane in shared memory. */
    for (int low = 0; low < (op.to.lo ? 2 : 1); low++) {
        unsigned short *const to = low ? op.to.lo : op.to.hi;
        __syncthreads(); /* all have read the largest, or the plane */
#pragma unroll
        for (int v = 0; v < VEC; v++) {
            if (!low && lane < ACROSS)
                shared.found[warp][mine + v] = count[v];
#pragma unroll
            for (int i = 0; i < ROWS; i += 2) {
                __half2 hi, lo;
                hi_lo(x[i][v], x[i + 1][v], &hi, &lo);
                shared.plane[tilemm__planes_transposed(
                    (unsigned)(mine + v), (unsigned)(pair0 + i / 2 * DOWN), BLOCK_K / 2)] =
                    low ? lo : hi;
            }
        }
        __syncthreads();
#pragma unroll
        for (int l = warp * LINES; l < (warp + 1) * LINES; l++)
#pragma unroll
            for (int pair = lane * 4; pair < BLOCK_K / 2; pair += 128)
                if (k0 + pair * 2 < op.k_planes)
                    *(uint4 *)(to + (matrix * op.mn_planes + line0 + l) * op.to.pitch + k0 +
                               pair * 2) =
                        *(const uint4 *)&shared.plane[tilemm__planes_transposed(
                            (unsigned)l, (unsigned)pair, BLOCK_K / 2)];
    }
    if (threadIdx.x < ACROSS) {
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            least = min(least, shared.least[w]);
#pragma unroll
        for (int v = 0; v < VEC; v++) {
            unsigned sum = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++)
                sum += shared.found[w][mine + v];
            note(op, matrix, line + v, block, blocks, largest[v], least, sum);
        }
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Blocks of operand a, then those of b. The next block has the tile beside it in memory. */
static __device__ __forceinline__ void make_planes(const operand_t &a, const operand_t &b,
                                                   unsigned blocks_a, unsigned *zero,
                                                   unsigned zeros)
{
#if __CUDA_ARCH__ >= 800
    const operand_t &op = blockIdx.x < blocks_a ? a : b;
    const unsigned index = blockIdx.x < blocks_a ? blockIdx.x : blockIdx.x - blocks_a;
    const unsigned blocks = (unsigned)((op.k + BLOCK_K - 1) / BLOCK_K);
    const unsigned groups = (unsigned)(op.mn_planes / MN);
    const unsigned matrix = index / (blocks * groups), tile = index - matrix * (blocks * groups);
    const float *from = op.array ? op.array[matrix] : op.from + matrix * op.stride;

    const int64_t line = (int64_t)(op.k_major ? tile / blocks : tile % groups) * MN;
    const unsigned block = op.k_major ? tile % blocks : tile / groups;

    let_next_start();
    if (blockIdx.x == 0)
        for (unsigned i = threadIdx.x; i < zeros; i += THREADS)
            zero[i] = 0;
    if (block == 0 && line % TILEMM__SGEMM_ROUTE_LINES == 0 && threadIdx.x == 0) {
        const int64_t of_matrix =
            (op.mn + TILEMM__SGEMM_ROUTE_LINES - 1) / TILEMM__SGEMM_ROUTE_LINES;
        op.to.groups[matrix * of_matrix + line / TILEMM__SGEMM_ROUTE_LINES] = {};
    }

    if (op.k_major) {
        if (op.wide)
            make_k_major<4>(op, from, matrix, line, block, blocks);
        else
            make_k_major<2>(op, from, matrix, line, block, blocks);
    } else {
        __shared__ shared_t shared;
        if (op.wide)
            make_mn_major<4>(op, from, matrix, line, block, blocks, shared);
        else
            make_mn_major<2>(op, from, matrix, line, block, blocks, shared);
    }
#endif
}

#define MAKE_PLANES(name, threads)                                                                 \
    static __global__ void __launch_bounds__(threads, 3)                                           \
        name(const __grid_constant__ operand_t a, const __grid_constant__ operand_t b,             \
             unsigned blocks_a, unsigned *zero, unsigned zeros)                                    \
    {                                                                                              \
        static_assert(threads == THREADS, "what the kernel is written for");                       \
        make_planes(a, b, blocks_a, zero, zeros);                                                  \
    }
TILEMM__SGEMM_MAKE_PLANES_ROWS(MAKE_PLANES)

#define ZERO(name, threads)                                                                        \
    static __global__ void __launch_bounds__(threads) name(uint4 *begin, int64_t count)            \
    {                                                                                              \
        static_assert(threads == THREADS, "what the launcher has");                                \
        const int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;                             \
        let_next_start();                                                                          \
        if (i < count)                                                                             \
            begin[i] = make_uint4(0, 0, 0, 0);                                                     \
    }
TILEMM__SGEMM_ZERO_ROWS(ZERO)

/* ---- launchers ------------------------------------------------------------------------------ */

extern "C" int tilemm__sgemm_make_planes_launch(const tilemm__sgemm_make_planes_t *problem,
                                                void *stream)
{
    return launch_kernel(sgemm_make_planes_sm80, {problem->blocks, THREADS, 0, 1, false},
                         (cudaStream_t)stream, problem->a, problem->b, problem->blocks_a,
                         problem->zero, problem->zeros);
}

extern "C" int tilemm__sgemm_zero_launch(const tilemm__sgemm_zero_t *problem, void *stream)
{
    return launch_kernel(sgemm_zero_sm75, {problem->blocks, THREADS, 0, 1, false},
                         (cudaStream_t)stream, (uint4 *)problem->begin, problem->count);
}
