/* split.cu - operands of SGEMM made into planes of FP16: see sgemm_split.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass: a block reads a tile of MN lines by one block of k, keeps it in registers, finds
 * each line's exponent, and writes the planes, whose memory runs along k whatever the operand's
 * does. Reads and writes are coalesced: by 16 bytes where the operand is aligned, by pairs of
 * 4-byte reads where not.
 * Low tiles let three blocks be resident, which keep reads and writes going at once.
 *
 * K-major: a warp has LINES lines, its lanes lie along k. Not k-major: lanes lie along m or n, the
 * warps and the quarters of a warp along k; what they find is combined in shared memory, and the
 * planes are turned over there, so that one product's kernel serves all layouts.
 *
 * The states are zeroed by a kernel of its own, while blocks read their tiles. That one is launched
 * after all before it is finished, or else those reads would be too early.
 *
 * Assumes: compute capability 8.0 or more; planes that lie as in tilemm__split_operand_t. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "split.h"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    BLOCK_K = TILEMM__SPLIT_BLOCK,
    OF_LINE = BLOCK_K * WARPS / THREADS, /* elements of a thread in one line, k-major */
    MN = TILEMM__SPLIT_LINES,
    NEAR = 8 /* binades below the largest that count as near it */
};
static_assert(TILEMM__SPLIT_ALIGN_MN % MN == 0, "tiles end where the planes do");
static_assert(BLOCK_K % 128 == 0, "a warp reads 128 of k at a time");

/* The operand in memory, and how far its planes go beyond it. */
typedef struct {
    const float *from;
    const float *const *array;
    int64_t mn, k, ld, stride;
    int64_t mn_planes, k_planes;
    int k_major; /* memory runs along k */
    int wide;    /* aligned for reads of 16 bytes */
    tilemm__split_operand_t to;
} operand_t;

/* The exponent of a block whose largest element has these bits (without sign): it brings that to
 * [2^14, 2^15). Tiny ones stay lower, so that the factor 2^-exponent is a float. */
static __device__ __forceinline__ int exponent_of(unsigned largest)
{
    return max((int)(largest >> 23) - 127 - 14, -112);
}

static __device__ __forceinline__ bool is_finite(unsigned largest)
{
    return largest < 0x7f800000u;
}

[[maybe_unused]] static __device__ __forceinline__ float factor_of(unsigned largest)
{
    return is_finite(largest) ? __uint_as_float((unsigned)(127 - exponent_of(largest)) << 23)
                              : 0.0f;
}

/* What a line's block is to the product; lines past the last are zeros. near: how many of its
 * `valid` elements are near the largest; lossy: whether one is too small for the planes. */
[[maybe_unused]] static __device__ void judge(const operand_t &op, int64_t matrix, int64_t line,
                                              int64_t block, int64_t blocks, unsigned largest,
                                              int near, bool lossy)
{
    const int64_t valid = min((int64_t)BLOCK_K, op.k - block * BLOCK_K);
    const bool zero = largest == 0;
    const bool sparse = !zero && (int64_t)near * 5 < valid * 3;
    const int exponent = exponent_of(largest);
    tilemm__split_state_t *const state = &op.to.states[matrix * op.mn_planes + line];
    unsigned flags = 0;

    op.to.exponents[(matrix * blocks + block) * op.mn_planes + line] =
        zero || !is_finite(largest) ? TILEMM__SPLIT_ZERO : exponent;
    if (zero)
        return;
    if (!is_finite(largest) || (lossy && sparse))
        flags |= TILEMM__SPLIT_SPECIAL;
    if (lossy)
        flags |= TILEMM__SPLIT_LOSSY;
    if (flags)
        atomicOr(&state->flags, flags);
    atomicMax(&state->top, (unsigned)(exponent + 256) << 16 | (unsigned)near);
    atomicMax(&state->bottom, 512u - (unsigned)(exponent + 256));
    if (sparse && *(volatile unsigned *)op.to.sparse == 0)
        *(volatile unsigned *)op.to.sparse = 1;
}

[[maybe_unused]] static __device__ __forceinline__ bool is_near(float x)
{
    return fabsf(x) >= (float)(1 << (14 - NEAR));
}

[[maybe_unused]] static __device__ __forceinline__ bool is_lossy(float x)
{
    return x != 0.0f && fabsf(x) < 0x1p-13f;
}

/* hi and lo of two scaled neighbours. */
[[maybe_unused]] static __device__ __forceinline__ void halves(float x, float y, __half2 *hi,
                                                               __half2 *lo)
{
    *hi = __floats2half2_rn(x, y);

    const float2 back = __half22float2(*hi);

    *lo = __floats2half2_rn((x - back.x) * 2048.0f, (y - back.y) * 2048.0f);
}

/* Those of VEC neighbours along k, to both planes. */
template <int VEC>
static __device__ __forceinline__ void store(const operand_t &op, int64_t at, const float *x)
{
    __half2 hi[VEC / 2], lo[VEC / 2];

#pragma unroll
    for (int i = 0; i < VEC / 2; i++)
        halves(x[2 * i], x[2 * i + 1], &hi[i], &lo[i]);
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

/* VEC neighbours at p, of which `there` exist. */
template <int VEC>
static __device__ __forceinline__ void load(float *x, const float *__restrict__ p, int64_t there)
{
    if (VEC == 4 && there >= 4) {
        const float4 v = __ldcs((const float4 *)p);

        x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
    } else {
#pragma unroll
        for (int i = 0; i < VEC; i++)
            x[i] = i < there ? __ldcs(p + i) : 0.0f;
    }
}

template <int VEC>
static __device__ __forceinline__ void split_k_major(const operand_t &op, const float *from,
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
    wait_for_previous(); /* the states are zeroed */
    let_next_start();
#pragma unroll
    for (int l = 0; l < LINES; l++) {
        unsigned largest = 0;
        int near = 0;
        bool lossy = false;

#pragma unroll
        for (int i = 0; i < OF_LINE; i++)
            largest = max(largest, __float_as_uint(x[l][i]) & 0x7fffffffu);
        largest = __reduce_max_sync(~0u, largest);

        const float factor = factor_of(largest);

#pragma unroll
        for (int i = 0; i < OF_LINE; i++) {
            x[l][i] = is_finite(largest) ? x[l][i] * factor : 0.0f;
            near += is_near(x[l][i]);
            lossy |= is_lossy(x[l][i]);
        }
        near = __reduce_add_sync(~0u, near);
        lossy = __any_sync(~0u, lossy);
        if (lane == 0)
            judge(op, matrix, line + l, block, blocks, largest, near, lossy);
#pragma unroll
        for (int i = 0; i < OF_LINE; i += VEC) {
            const int64_t k = k0 + i * 32;

            if (k < op.k_planes)
                store<VEC>(op, (matrix * op.mn_planes + line + l) * op.to.pitch + k, &x[l][i]);
        }
    }
}

/* Of a tile that is not k-major. */
struct shared_t {
    __align__(16) __half2 plane[MN * BLOCK_K / 2]; /* as it is turned over */
    unsigned found[WARPS][MN];                     /* the largest, then near and lossy */
};

template <int VEC>
static __device__ __forceinline__ void split_mn_major(const operand_t &op, const float *from,
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

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int64_t k = k0 + (pair0 + i / 2 * DOWN) * 2 + i % 2;

        load<VEC>(x[i], from + k * op.ld + line, k < op.k ? op.mn - line : 0);
    }
    wait_for_previous(); /* the states are zeroed */
    let_next_start();

#pragma unroll
    for (int v = 0; v < VEC; v++) {
        largest[v] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            largest[v] = max(largest[v], __float_as_uint(x[i][v]) & 0x7fffffffu);
#pragma unroll
        for (int apart = ACROSS; apart < 32; apart *= 2)
            largest[v] = max(largest[v], __shfl_xor_sync(~0u, largest[v], apart));
        if (lane < ACROSS)
            shared.found[warp][mine + v] = largest[v];
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VEC; v++)
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            largest[v] = max(largest[v], shared.found[w][mine + v]);

            /* Counted together: near in the low half, lossy in the high one. */
#pragma unroll
    for (int v = 0; v < VEC; v++) {
        const float factor = factor_of(largest[v]);

        count[v] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            x[i][v] = is_finite(largest[v]) ? x[i][v] * factor : 0.0f;
            count[v] += is_near(x[i][v]) + (is_lossy(x[i][v]) << 16);
        }
#pragma unroll
        for (int apart = ACROSS; apart < 32; apart *= 2)
            count[v] += __shfl_xor_sync(~0u, count[v], apart);
    }

    /* Each plane turned over in shared memory. */
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

                halves(x[i][v], x[i + 1][v], &hi, &lo);
                shared.plane[tilemm__split_turned((unsigned)(mine + v),
                                                  (unsigned)(pair0 + i / 2 * DOWN), BLOCK_K / 2)] =
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
                        *(const uint4 *)&shared
                             .plane[tilemm__split_turned((unsigned)l, (unsigned)pair, BLOCK_K / 2)];
    }
    if (threadIdx.x < ACROSS) {
#pragma unroll
        for (int v = 0; v < VEC; v++) {
            unsigned sum = 0;

#pragma unroll
            for (int w = 0; w < WARPS; w++)
                sum += shared.found[w][mine + v];
            judge(op, matrix, line + v, block, blocks, largest[v], (int)(sum & 0xffff),
                  sum >> 16 != 0);
        }
    }
}

static __global__ void __launch_bounds__(THREADS) sgemm_split_zero(uint4 *begin, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    let_next_start();
    if (i < count)
        begin[i] = make_uint4(0, 0, 0, 0);
}

/* The blocks of operand a, then those of b: each a tile, the next one lying beside it in memory. */
static __global__ void __launch_bounds__(THREADS, 3)
    sgemm_split(const __grid_constant__ operand_t a, const __grid_constant__ operand_t b,
                unsigned blocks_a)
{
#if __CUDA_ARCH__ >= 800
    const operand_t &op = blockIdx.x < blocks_a ? a : b;
    const unsigned index = blockIdx.x < blocks_a ? blockIdx.x : blockIdx.x - blocks_a;
    const unsigned blocks = (unsigned)((op.k + BLOCK_K - 1) / BLOCK_K);
    const unsigned groups = (unsigned)(op.mn_planes / MN);
    const unsigned matrix = index / (blocks * groups), tile = index - matrix * (blocks * groups);
    const float *from = op.array ? op.array[matrix] : op.from + matrix * op.stride;

    if (op.k_major) {
        const int64_t line = (int64_t)(tile / blocks) * MN;

        if (op.wide)
            split_k_major<4>(op, from, matrix, line, tile % blocks, blocks);
        else
            split_k_major<2>(op, from, matrix, line, tile % blocks, blocks);
    } else {
        __shared__ shared_t shared;
        const int64_t line = (int64_t)(tile % groups) * MN;

        if (op.wide)
            split_mn_major<4>(op, from, matrix, line, tile / groups, blocks, shared);
        else
            split_mn_major<2>(op, from, matrix, line, tile / groups, blocks, shared);
    }
#endif
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static operand_t describe(const float *from, const float *const *array, int64_t mn, int64_t k,
                          int64_t ld, int k_major, int64_t stride,
                          const tilemm__split_operand_t *to)
{
    const uint64_t all = (uint64_t)(uintptr_t)from | (uint64_t)ld * 4 | (uint64_t)stride * 4;
    operand_t op;

    op.from = from;
    op.array = array;
    op.mn = mn;
    op.k = k;
    op.ld = ld;
    op.k_major = k_major;
    op.stride = stride;
    op.mn_planes = round_up(mn, TILEMM__SPLIT_ALIGN_MN);
    op.k_planes = round_up(k, TILEMM__SPLIT_ALIGN_K);
    op.wide = !array && all % 16 == 0;
    op.to = *to;
    return op;
}

extern "C" int tilemm__sgemm_split_launch(const tilemm__sgemm_args_t *args,
                                          const tilemm__split_operand_t *a,
                                          const tilemm__split_operand_t *b, void *stream)
{
    const operand_t op_a = describe(args->a, args->a_array, args->m, args->k, args->lda,
                                    !args->trans_a, args->batch_count > 1 ? args->stride_a : 0, a);
    const operand_t op_b = describe(args->b, args->b_array, args->n, args->k, args->ldb,
                                    args->trans_b, args->batch_count > 1 ? args->stride_b : 0, b);
    const int64_t blocks_k = (args->k + BLOCK_K - 1) / BLOCK_K * args->batch_count;
    const int64_t lines = op_a.mn_planes + op_b.mn_planes;
    const int64_t blocks_a = blocks_k * (op_a.mn_planes / MN), blocks = blocks_k * (lines / MN);

    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    return launch_after(sgemm_split, (unsigned)blocks, THREADS, 0, (cudaStream_t)stream, op_a, op_b,
                        (unsigned)blocks_a);
}

extern "C" int tilemm__sgemm_split_zero_launch(void *begin, size_t bytes, void *stream)
{
    const int64_t count = (int64_t)(bytes / sizeof(uint4));

    sgemm_split_zero<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0,
                       (cudaStream_t)stream>>>((uint4 *)begin, count);
    return cudaGetLastError();
}
