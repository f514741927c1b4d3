/* fused_fp32_sm90.cuh - a step of the fused SGEMM kernels by FP32 multiply-adds: one with numbers
 * that the windows of its planes do not have (fused_sm90.cuh), of any magnitude, Inf and NaN.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Each warpgroup of multipliers multiplies its 64 rows for itself. Its threads have the numbers of
 * op(A) of which they made planes, and those of op(B) as the converter's threads have them. They
 * write some of k of all lines to a tile at a time, of which chains go on
 * (fused_chain_sm90.cuh). */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_FP32_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_FP32_SM90_CUH

#include "fused_chain_sm90.cuh"

/* Where a thread's numbers of a step are: in the stages, if these have been kept; else the planes
 * have all bits of them, times 1 / unscale. */
template <typename S>
struct numbers_t {
    const float *a, *b; /* stages, or NULL */
    float unscale_a, unscale_b;
    first_t<S, false> first_b;
    unsigned line; /* the thread's warp's first line of op(B) */
};

/* The next pair of a thread's octets of its rows of op(A): number `pair`; or, made of the planes
 * that come first, which then go. */
template <typename S>
static __device__ __forceinline__ void numbers_of_a(const numbers_t<S> &numbers,
                                                    const first_t<S, true> &first, int pair,
                                                    fragments_t<S> &a, float (&x)[ROWS][2])
{
    if (numbers.a) {
        take_pair<ROWS, S::A_K>(numbers.a, first, pair, x);
        return;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        bf16_numbers(a[0][i], a[1][i], a[2][i], x[i][0], x[i][1]);
        x[i][0] *= numbers.unscale_a;
        x[i][1] *= numbers.unscale_a;
    }
#pragma unroll
    for (int p = 0; p < S::PLANES; p++)
#pragma unroll
        for (int i = ROWS; i < ROWS * S::WORDS; i++)
            a[p][i - ROWS] = a[p][i];
}

/* A pair of the thread's octets of its lines of op(B). */
template <typename S>
static __device__ __forceinline__ void numbers_of_b(const numbers_t<S> &numbers,
                                                    const unsigned (&planes)[S::PLANES][S::PLANE],
                                                    int pair, float (&y)[S::LINES][2])
{
    const unsigned lane = threadIdx.x % 32;
    if (numbers.b) {
        take_pair<S::LINES, S::B_K>(numbers.b, numbers.first_b, pair, y);
        return;
    }
#pragma unroll
    for (int j = 0; j < S::LINES; j++) {
        const unsigned line = numbers.line + tilemm__fused_line(lane, j, S::LINES, S::B_APART);
        const unsigned at = tilemm__fused_word(line, lane % 4, pair, S::WORDS);
        bf16_numbers(planes[0][at], planes[1][at], planes[2][at], y[j][0], y[j][1]);
        y[j][0] *= numbers.unscale_b;
        y[j][1] *= numbers.unscale_b;
    }
}

/* Where a warpgroup's chains have their tile: the finished tile before has gone from there. */
template <typename S>
static __device__ __forceinline__ float *chains_of(shared_t<S> &shared)
{
    const unsigned warpgroup = opaque(threadIdx.x) / WARPGROUP;
    if (!S::HAS_TILE)
        return shared.chains + warpgroup * chain_t<S>::SIZE;
    if (threadIdx.x % 32 == 0)
        tensor_wait_read();
    __syncwarp();
    return shared.bulk + warpgroup * (chain_t<S>::ROWS_A * S::BN);
}

/* Let a warpgroup's chains go on over a step. `a` has the planes of op(A) if the step has
 * any; they may be no longer there then. */
template <typename S>
static __device__ __forceinline__ void multiply_fp32(const multiplier_t<S> &at, shared_t<S> &shared,
                                                     fragments_t<S> &a, const numbers_t<S> &numbers,
                                                     chains_t<S> &chains)
{
    typedef chain_t<S> C;
    /* No registers for the places of numbers in other steps. */
    const unsigned thread = opaque(threadIdx.x), warp = thread % WARPGROUP / 32, lane = thread % 32;
    float *const tile = chains_of(shared);
    float x[ROWS][2], y[S::LINES][2];
    static_assert(BK % C::STEP == 0 && C::STEP % 8 == 0, "a pair of each octet");
#pragma unroll 1
    for (int pair = 0; pair < OCTET / 2;) {
        float *mine = tile + lane % 4 * 2 * C::PITCH;
        named_barrier<WARPGROUP>(warpgroup_barrier()); /* what is there has been read */
#pragma unroll 1
        for (int k = 0; k < C::STEP; k += 8, pair++) {
            numbers_of_a(numbers, at.first, pair, a, x);
            numbers_of_b(numbers, shared.planes[at.buffer], pair, y);
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < ROWS; j++) {
                    const unsigned row = warp * 16 + tilemm__fused_line(lane, j, ROWS, S::A_APART);
                    mine[i * C::PITCH + tilemm__fused_chain_row(row, S::A_APART)] = x[j][i];
                }
                float *const of_b = mine + i * C::PITCH + C::ROWS_A + numbers.line;
                if (S::LINES == 4 && !S::B_APART) {
                    *(float4 *)(of_b + lane / 4 * 4) = make_float4(
                        y[0][i], y[1 % S::LINES][i], y[2 % S::LINES][i], y[3 % S::LINES][i]);
                } else {
#pragma unroll
                    for (int j = 0; j < S::LINES; j++)
                        of_b[tilemm__fused_line(lane, j, S::LINES, S::B_APART)] = y[j][i];
                }
            }
            mine += 8 * C::PITCH;
        }
        named_barrier<WARPGROUP>(warpgroup_barrier());
        multiply_chains<S>(tile, C::STEP, chains);
    }
}

/* Add a warpgroup's chains to the totals. */
template <typename S>
static __device__ __forceinline__ void add_chains(multiplier_t<S> &at, shared_t<S> &shared,
                                                  const chains_t<S> &chains)
{
    const unsigned warp = threadIdx.x % WARPGROUP / 32;
    float *const tile = chains_of(shared);
    named_barrier<WARPGROUP>(warpgroup_barrier()); /* what is there has been read */
    turn_chains<S>(tile + warp * chain_t<S>::OF_WARP, chains, [&](int column, int j, float2 v) {
        at.total[column / 2 + j * 2] += v.x;
        at.total[column / 2 + j * 2 + 1] += v.y;
    });
    named_barrier<WARPGROUP>(warpgroup_barrier()); /* then a finished tile may go there */
}

#endif
