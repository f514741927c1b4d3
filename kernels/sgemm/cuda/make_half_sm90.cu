/* make_half_sm90.cu - the pass that makes the FP16 planes of an invariant product (half_planes.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block has LINES lines of a part of k, CHUNK numbers of each at a time: the first ones set the
 * scales, and after the last one the classes are known.
 *
 * Where memory runs along k a warp has two lines, and its lanes lie along k. Else lanes lie along
 * the lines, and planes are transposed in shared memory.
 *
 * Assumes compute capability 9.0. */
#include <cuda_runtime.h>

#include "half_lines.cuh"
#include "half_planes.h"
#include "kernels/cuda/launch.cuh"
#include "neighbours.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    LINES = TILEMM__SGEMM_HALF_LINES,
    CHUNK = TILEMM__SGEMM_HALF_CHUNK
};

typedef tilemm__sgemm_half_operand_t operand_t;
typedef tilemm__sgemm_make_half_t problem_t;

/* A block's lines of a part of k. */
typedef struct {
    int64_t matrix, part, line, k, depth; /* the first ones; numbers of each line */
} place_t;

[[maybe_unused]] static __device__ __forceinline__ unsigned size_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffff;
}

/* Whether the pair of k that begins at k, even, is asked if its numbers are near. */
[[maybe_unused]] static __device__ __forceinline__ bool is_asked(unsigned k)
{
    return HALF_ASKED >> k % 16 & 1;
}

[[maybe_unused]] static __device__ __forceinline__ unsigned most_of(const half_line_t &line)
{
    return max(line.most & 0x7fff, line.most >> 16 & 0x7fff);
}

/* Where a line's word, and its number at k of the part in a plane, are. */
[[maybe_unused]] static __device__ __forceinline__ int64_t word_of(const problem_t &problem,
                                                                   const operand_t &op,
                                                                   const place_t &place,
                                                                   int64_t line)
{
    return (place.part * problem.batch_count + place.matrix) * op.to.lines + line;
}

[[maybe_unused]] static __device__ __forceinline__ int64_t plane_of(const problem_t &problem,
                                                                    const operand_t &op,
                                                                    const place_t &place,
                                                                    int64_t line, int64_t k)
{
    return ((place.matrix * op.to.lines + line) * problem.parts + place.part) * problem.k_pitch + k;
}

/* Store the word of a line of the block, with its class, and leave the class for the block, if the
 * line exists. */
[[maybe_unused]] static __device__ __forceinline__ void
leave_word(const problem_t &problem, const operand_t &op, const place_t &place, int64_t line,
           float scale, unsigned its_class, unsigned char *classes)
{
    op.to.words[word_of(problem, op, place, line)] =
        (unsigned short)half_word(half_inverse(scale), its_class);
    classes[(unsigned)line % LINES] =
        (unsigned char)(line < op.mn ? its_class : TILEMM__SGEMM_CARRY_NONE);
}

template <int VEC>
static __device__ __forceinline__ void make_k_major(const problem_t &problem, const operand_t &op,
                                                    const place_t &place, const float *from,
                                                    unsigned char *classes)
{
    const int OF_WARP = LINES / WARPS, OF_LANE = CHUNK / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t first = place.line + warp * OF_WARP;
    half_line_t lines[OF_WARP];
    for (int64_t k0 = 0; k0 < problem.k_pitch; k0 += CHUNK) {
        float x[OF_WARP][OF_LANE];
#pragma unroll
        for (int l = 0; l < OF_WARP; l++)
#pragma unroll
            for (int i = 0; i < OF_LANE; i += VEC) {
                const int64_t k = k0 + lane * VEC + i * 32;
                load<VEC>(&x[l][i], from + (first + l) * op.ld + place.k + k,
                          first + l < op.mn ? place.depth - k : 0);
            }
#pragma unroll
        for (int l = 0; l < OF_WARP; l++) {
            if (k0 == 0) {
                unsigned largest = 0;
#pragma unroll
                for (int i = 0; i < VEC; i++)
                    largest = max(largest, lane * VEC < HALF_FIRST ? size_bits(x[l][i]) : 0);
                lines[l] = {half_scale(__reduce_max_sync(~0u, largest)), 0, 0};
            }
#pragma unroll
            for (int i = 0; i < OF_LANE; i += VEC) {
                const int64_t k = k0 + lane * VEC + i * 32;
                unsigned high[VEC / 2], low[VEC / 2];
#pragma unroll
                for (int j = 0; j < VEC / 2; j++) {
                    half_pair(x[l][i + 2 * j], x[l][i + 2 * j + 1], lines[l].scale, high[j],
                              low[j]);
                    half_note(high[j], is_asked(lane * VEC + i * 32 + 2 * j), lines[l]);
                }
                if (k >= problem.k_pitch)
                    continue;
                const int64_t at = plane_of(problem, op, place, first + l, k);
                if (VEC == 4) {
                    *(uint2 *)(op.to.high + at) = make_uint2(high[0], high[VEC / 2 - 1]);
                    *(uint2 *)(op.to.low + at) = make_uint2(low[0], low[VEC / 2 - 1]);
                } else {
                    *(unsigned *)(op.to.high + at) = high[0];
                    *(unsigned *)(op.to.low + at) = low[0];
                }
            }
        }
    }
#pragma unroll
    for (int l = 0; l < OF_WARP; l++) {
        const int near = (int)__reduce_add_sync(~0u, (unsigned)half_count(lines[l].near));
        const unsigned most = __reduce_max_sync(~0u, most_of(lines[l]));
        if (lane == 0)
            leave_word(problem, op, place, first + l, lines[l].scale,
                       half_class(lines[l].scale, near, half_asked((int)place.depth), most),
                       classes);
    }
}

/* Shared memory for lines that memory does not run along. */
struct shared_t {
    __align__(16) unsigned plane[2][LINES * CHUNK / 2]; /* pairs, transposed */
    unsigned found[WARPS][LINES], near[WARPS][LINES];
};

template <int VEC>
static __device__ __forceinline__ void make_mn_major(const problem_t &problem, const operand_t &op,
                                                     const place_t &place, const float *from,
                                                     shared_t &shared, unsigned char *classes)
{
    const int ACROSS = LINES / VEC, DOWN = THREADS / ACROSS; /* threads along lines, pairs of k */
    const int ROWS = LINES * CHUNK / THREADS / VEC, OF_WARP = LINES / WARPS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int mine = threadIdx.x % ACROSS * VEC, pair0 = threadIdx.x / ACROSS;
    const int64_t line = place.line + mine;
    half_line_t lines[VEC];
    for (int64_t k0 = 0; k0 < problem.k_pitch; k0 += CHUNK) {
        float x[ROWS][VEC]; /* rows of pairs of k, which are DOWN pairs apart */
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int64_t k = k0 + (pair0 + i / 2 * DOWN) * 2 + i % 2;
            load<VEC>(x[i], from + (place.k + k) * op.ld + line,
                      k < place.depth ? op.mn - line : 0);
        }
        if (k0 == 0) {
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                unsigned largest = 0;
                if (pair0 * 2 < HALF_FIRST)
                    largest = max(size_bits(x[0][v]), size_bits(x[1][v]));
#pragma unroll
                for (int apart = ACROSS; apart < 32; apart *= 2)
                    largest = max(largest, __shfl_xor_sync(~0u, largest, apart));
                if (lane < ACROSS)
                    shared.found[warp][mine + v] = largest;
            }
            __syncthreads();
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                unsigned largest = 0;
#pragma unroll
                for (int w = 0; w < WARPS; w++)
                    largest = max(largest, shared.found[w][mine + v]);
                lines[v] = {half_scale(largest), 0, 0};
            }
        }
        __syncthreads(); /* all have read the chunk before, and the largest */
#pragma unroll
        for (int v = 0; v < VEC; v++)
#pragma unroll
            for (int i = 0; i < ROWS; i += 2) {
                const unsigned pair = pair0 + i / 2 * DOWN;
                const unsigned at =
                    tilemm__planes_transposed((unsigned)(mine + v), pair, CHUNK / 2);
                unsigned high, low;
                half_pair(x[i][v], x[i + 1][v], lines[v].scale, high, low);
                half_note(high, is_asked(pair * 2), lines[v]);
                shared.plane[0][at] = high;
                shared.plane[1][at] = low;
            }
        __syncthreads();
#pragma unroll
        for (int l = warp * OF_WARP; l < (warp + 1) * OF_WARP; l++)
#pragma unroll
            for (int pair = lane * 4; pair < CHUNK / 2; pair += 128) {
                const unsigned from_word =
                    tilemm__planes_transposed((unsigned)l, (unsigned)pair, CHUNK / 2);
                if (k0 + pair * 2 >= problem.k_pitch)
                    continue;
                const int64_t at = plane_of(problem, op, place, place.line + l, k0 + pair * 2);
                *(uint4 *)(op.to.high + at) = *(const uint4 *)&shared.plane[0][from_word];
                *(uint4 *)(op.to.low + at) = *(const uint4 *)&shared.plane[1][from_word];
            }
    }
#pragma unroll
    for (int v = 0; v < VEC; v++) {
        unsigned near = (unsigned)half_count(lines[v].near), most = most_of(lines[v]);
#pragma unroll
        for (int apart = ACROSS; apart < 32; apart *= 2) {
            near += __shfl_xor_sync(~0u, near, apart);
            most = max(most, __shfl_xor_sync(~0u, most, apart));
        }
        if (lane < ACROSS) {
            shared.near[warp][mine + v] = near;
            shared.found[warp][mine + v] = most;
        }
    }
    __syncthreads();
    if (threadIdx.x < ACROSS) {
#pragma unroll
        for (int v = 0; v < VEC; v++) {
            unsigned near = 0, most = 0;
            for (int w = 0; w < WARPS; w++) {
                near += shared.near[w][mine + v];
                most = max(most, shared.found[w][mine + v]);
            }
            leave_word(problem, op, place, line + v, lines[v].scale,
                       half_class(lines[v].scale, (int)near, half_asked((int)place.depth), most),
                       classes);
        }
    }
}

/* Blocks of operand a, then those of b. The next block has the lines beside it in memory. */
static __device__ __forceinline__ void make_half(const problem_t &problem)
{
    const bool of_a = blockIdx.x < problem.blocks_a;
    const operand_t &op = of_a ? problem.a : problem.b;
    const unsigned groups = (unsigned)(op.to.lines / LINES), parts = (unsigned)problem.parts;
    const unsigned index = of_a ? blockIdx.x : blockIdx.x - problem.blocks_a;
    const unsigned matrix = index / (groups * parts), inside = index - matrix * (groups * parts);
    const unsigned group = op.k_major ? inside / parts : inside % groups;
    const unsigned part = op.k_major ? inside % parts : inside / groups;
    const int64_t k = part * problem.k_part;
    const place_t place = {matrix, part, (int64_t)group * LINES, k,
                           min(problem.k_part, problem.k - k)};
    const float *const from = op.array ? op.array[matrix] : op.from + matrix * op.stride;
    __shared__ shared_t shared;
    __shared__ unsigned char classes[LINES];
    let_next_start();
    if (op.k_major && op.wide)
        make_k_major<4>(problem, op, place, from, classes);
    else if (op.k_major)
        make_k_major<2>(problem, op, place, from, classes);
    else if (op.wide)
        make_mn_major<4>(problem, op, place, from, shared, classes);
    else
        make_mn_major<2>(problem, op, place, from, shared, classes);
    __syncthreads();
    if (threadIdx.x < LINES) {
        const unsigned most = __reduce_max_sync((1u << LINES) - 1, (unsigned)classes[threadIdx.x]);
        if (threadIdx.x == 0)
            op.to.most[word_of(problem, op, place, place.line) / LINES] = (unsigned char)most;
    }
}

#define MAKE_HALF(name, threads)                                                                   \
    static __global__ void __launch_bounds__(threads, 3)                                           \
        name(const __grid_constant__ problem_t problem)                                            \
    {                                                                                              \
        static_assert(threads == THREADS, "what the kernel is written for");                       \
        make_half(problem);                                                                        \
    }
TILEMM__SGEMM_MAKE_HALF_ROWS(MAKE_HALF)

extern "C" int tilemm__sgemm_make_half_launch(const tilemm__sgemm_make_half_t *problem,
                                              void *stream)
{
    return launch_kernel(sgemm_make_half_sm90, {problem->blocks, THREADS, 0, 1, false},
                         (cudaStream_t)stream, *problem);
}
