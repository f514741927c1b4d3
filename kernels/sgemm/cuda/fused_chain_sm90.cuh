/* fused_chain_sm90.cuh - what planes do not carry: a warpgroup's rows of a tile by chains of FP32
 * multiply-adds, over steps (fused_fp32_sm90.cuh), or in an invariant product over a part of k
 * (fused_invariant_sm90.cuh).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers come to a tile in shared memory, chain_t::STEP of k at a time. A warp has its 16 rows
 * and all columns, a thread 8 rows and 1 to 8 columns. The chains go by shared memory to the
 * threads that have the elements of the tensor cores.
 *
 * In an invariant product the numbers come from global memory, through registers, to the
 * warpgroup's rows of the stage of op(A) of which planes were made last: the multipliers have not
 * left it. Warps all of whose elements planes carry only help to read. The chains replace the
 * elements of exact lines. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_CHAIN_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_CHAIN_SM90_CUH

#include "fused_products_sm90.cuh"

/* A thread's chains. */
template <typename S>
using chains_t = float[chain_t<S>::OF_THREAD][chain_t<S>::COLUMNS];

/* An operand's numbers of a step, LINES lines by STEP of k. */
template <int LINES, int STEP, bool K_MAJOR>
struct lines_t {
    static const int COUNT = LINES * STEP / WARPGROUP;            /* of a thread */
    static const int NEXT = WARPGROUP / (K_MAJOR ? STEP : LINES); /* lines, or k */
    static_assert(COUNT * WARPGROUP == LINES * STEP && NEXT > 0, "whole lines");
    const float *from; /* the thread's first number of a step */
    int64_t ld;
    int lines; /* that exist */

    static __device__ __forceinline__ int line(int i)
    {
        const int thread = threadIdx.x % WARPGROUP;
        return K_MAJOR ? thread / STEP + i * NEXT : thread % LINES;
    }

    static __device__ __forceinline__ int k(int i)
    {
        const int thread = threadIdx.x % WARPGROUP;
        return K_MAJOR ? thread % STEP : thread / LINES + i * NEXT;
    }

    __device__ __forceinline__ lines_t(const float *matrix, int64_t ld, int64_t first, int64_t end,
                                       int from_k)
        : ld(ld), lines((int)min(end - first, (int64_t)LINES))
    {
        const int64_t l = first + line(0), at = from_k + k(0);
        from = matrix + (K_MAJOR ? l * ld + at : at * ld + l);
    }

    /* Read a step of which `depth` of k exist, and go to the next one. Lines beyond the matrix are
     * any. */
    __device__ __forceinline__ void read(int depth, float (&x)[COUNT])
    {
        const int64_t ld = opaque(this->ld); /* no registers for its multiples */
        const float *at = from;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            x[i] = line(i) < lines && k(i) < depth ? *at : 0.0f;
            at += NEXT * ld;
        }
        from += K_MAJOR ? STEP : STEP * ld;
    }
};

/* Multiply a step of `depth` of k. */
template <typename S>
static __device__ __forceinline__ void multiply_chains(const float *tile, int depth,
                                                       chains_t<S> &chains)
{
    typedef chain_t<S> C;
    const unsigned thread = opaque(threadIdx.x), warp = thread % WARPGROUP / 32, lane = thread % 32;
    const float *a = tile + warp * 16 + lane % 2 * C::OF_THREAD;
    const float *b = tile + C::ROWS_A + lane / 2 * C::WIDE;
#pragma unroll(C::AT_ONCE)
    for (int k = 0; k < depth; k++) {
        float x[C::OF_THREAD], y[C::COLUMNS];
#pragma unroll
        for (int i = 0; i < C::OF_THREAD; i += 4)
            *(float4 *)&x[i] = *(const float4 *)(a + i);
#pragma unroll
        for (int i = 0; i < C::COLUMNS; i += C::WIDE) {
            if (C::WIDE == 4)
                *(float4 *)&y[i] = *(const float4 *)(b + i * 16);
            else if (C::WIDE == 2)
                *(float2 *)&y[i] = *(const float2 *)(b + i * 16);
            else
                y[i] = b[i * 16];
        }
#pragma unroll
        for (int i = 0; i < C::OF_THREAD; i++)
#pragma unroll
            for (int j = 0; j < C::COLUMNS; j++)
                chains[i][j] = fmaf(x[i], y[j], chains[i][j]);
        a += C::PITCH;
        b += C::PITCH;
    }
}

/* Call give(column, j, v) with the chains v of two columns, column + lane % 4 * 2 and the next, and
 * of row j of the thread, as the tensor cores have them. `turned` is the warp's. */
template <typename S, typename GIVE>
static __device__ __forceinline__ void turn_chains(float *turned, const chains_t<S> &chains,
                                                   GIVE give)
{
    typedef chain_t<S> C;
    const unsigned lane = opaque(threadIdx.x) % 32;
#pragma unroll
    for (int first = 0; first < C::COLUMNS; first += C::WIDE)
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            __syncwarp();
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int c = 0; c < C::WIDE; c++)
                    turned[tilemm__fused_chain_turned(lane % 2 * 4 + i, lane / 2 * C::WIDE + c,
                                                      C::TURNED)] = chains[j * 4 + i][first + c];
            __syncwarp();
#pragma unroll
            for (int column = 0; column < C::TURNED; column += 8)
                give(first * 16 + column, j,
                     *(const float2 *)(turned + tilemm__fused_chain_turned(
                                                    lane / 4, column + lane % 4 * 2, C::TURNED)));
        }
}

/* Let the chains of exact lines replace the thread's totals. `turned` is the warp's. */
template <typename S>
static __device__ __forceinline__ void take_chains(multiplier_t<S> &at, float *turned,
                                                   const chains_t<S> &chains)
{
    const int WARP_COLUMNS = 8 * S::LINES; /* of the converter's */
    unsigned rows = at.rows;
    rows |= __shfl_xor_sync(~0u, rows, 1);
    rows |= __shfl_xor_sync(~0u, rows, 2); /* four lanes have a row */
    turn_chains<S>(turned, chains, [&](int column, int j, float2 v) {
        const unsigned columns = __shfl_sync(~0u, at.columns, column / WARP_COLUMNS) >>
                                 (column % WARP_COLUMNS + threadIdx.x % 4 * 2);
        float *const total = &at.total[column / 2 + j * 2];
        if ((rows >> j | columns) & 1)
            total[0] = v.x;
        if ((rows >> j | columns >> 1) & 1)
            total[1] = v.y;
    });
}

/* Compute the elements of the warpgroup's exact lines again, from `from` of k to the part's end,
 * and leave the stage of op(A). The planes of the next step, `next`, are in memory meanwhile: the
 * registers would not suffice, and the compiler would keep others there in every step. */
template <typename S>
static __device__ __forceinline__ void replace_exact(multiplier_t<S> &at, fragments_t<S> &next,
                                                     shared_t<S> &shared, const fused_t &problem,
                                                     int from)
{
    typedef chain_t<S> C;
    typedef lines_t<C::ROWS_A, C::STEP, S::A_K> lines_a_t;
    typedef lines_t<S::BN, C::STEP, S::B_K> lines_b_t;
    static_assert(C::SIZE <= C::ROWS_A * BK, "the stage has room for it");
    const tilemm__sgemm_args_t &args = problem.args;
    const int warpgroup = threadIdx.x / WARPGROUP;
    const unsigned stage = (at.count - 1) % S::STAGES;
    float *const tile = shared.a.at[stage] + warpgroup * (S::STAGE_A / S::MULTIPLIERS);
    lines_a_t of_a(source_of<true>(args, (int)at.place.matrix).from, args.lda,
                   at.place.m + (int64_t)(warpgroup * C::ROWS_A), args.m, from);
    lines_b_t of_b(source_of<false>(args, (int)at.place.matrix).from, args.ldb, at.place.n, args.n,
                   from);
    float a[lines_a_t::COUNT], b[lines_b_t::COUNT];
    chains_t<S> chains;
    volatile unsigned kept[S::PLANES][ROWS * S::WORDS];
#pragma unroll
    for (int p = 0; p < S::PLANES; p++)
#pragma unroll
        for (int i = 0; i < ROWS * S::WORDS; i++)
            kept[p][i] = next[p][i];
#pragma unroll
    for (int i = 0; i < C::OF_THREAD; i++)
#pragma unroll
        for (int j = 0; j < C::COLUMNS; j++)
            chains[i][j] = 0.0f;
    of_a.read(at.part_end - from, a);
    of_b.read(at.part_end - from, b);
#pragma unroll 1
    for (int k = from; k < at.part_end; k += C::STEP) {
        named_barrier<WARPGROUP>(warpgroup_barrier()); /* what is there has been read */
#pragma unroll
        for (int i = 0; i < lines_a_t::COUNT; i++)
            tile[lines_a_t::k(i) * C::PITCH +
                 tilemm__fused_chain_row(lines_a_t::line(i), S::A_APART)] = a[i];
#pragma unroll
        for (int i = 0; i < lines_b_t::COUNT; i++)
            tile[lines_b_t::k(i) * C::PITCH + C::ROWS_A + lines_b_t::line(i)] = b[i];
        named_barrier<WARPGROUP>(warpgroup_barrier());
        of_a.read(at.part_end - k - C::STEP, a);
        of_b.read(at.part_end - k - C::STEP, b);
        if (at.exact)
            multiply_chains<S>(tile, min(C::STEP, at.part_end - k), chains);
    }
    named_barrier<WARPGROUP>(warpgroup_barrier());
    if (at.exact)
        take_chains<S>(at, tile + threadIdx.x % WARPGROUP / 32 * C::OF_WARP, chains);
    fence_for_async(); /* the stage was written */
    leave_stage<S>(problem, &shared.a.empty[stage]);
#pragma unroll
    for (int p = 0; p < S::PLANES; p++)
#pragma unroll
        for (int i = 0; i < ROWS * S::WORDS; i++)
            next[p][i] = kept[p][i];
}

#endif
