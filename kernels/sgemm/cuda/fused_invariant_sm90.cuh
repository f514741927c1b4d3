/* fused_invariant_sm90.cuh - what the fused SGEMM kernels do so that the bits of an element depend
 * on its row of op(A) and its column of op(B) alone. For invariant_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule is in doc/numerics.md. Planes are made of 2^16 times the numbers, whatever their
 * neighbours are. Lines that then overflow, with numbers from 2^45 on, Inf or NaN in a part of k,
 * are noted: columns of op(B) in shared memory, a bit each, with the planes; rows of op(A) by the
 * threads that have them. Their elements are computed again by FP32 multiply-adds when the part
 * ends (fused_chain_sm90.cuh).
 *
 * A tile's parts of k may follow each other in one block: the sum of those before is in shared
 * memory meanwhile, where the finished tile goes. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_INVARIANT_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_INVARIANT_SM90_CUH

#include "fused_chain_sm90.cuh"
#include "fused_products_sm90.cuh"
#include "fused_store_sm90.cuh"

/* ---- lines that planes do not carry -----------------------------------------------------------
 */

/* Which of a lane's LINES lines of a stage have numbers that overflow as planes, a bit each. The
 * window has the largest h: in BF16, numbers from 2^45 - 2^36 on are rounded to 2^45. */
template <int LINES, bool K_MAJOR, typename FIRST>
static __device__ __forceinline__ unsigned exact_lines_of(const float *stage, const FIRST &first,
                                                          const window_t &window)
{
    const float LEAST = (float)((1ull << 45) - (1ull << 36));
    unsigned lines = 0;
    if (!__any_sync(~0u, window_most(window) >= MOST_BF16))
        return 0;
    for_each_number<LINES, K_MAJOR>(stage, first, [&](int line, float x) {
        lines |= !(fabsf(x) < LEAST) ? 1u << line : 0; /* NaN too */
    });
    return lines;
}

/* The converter: note a warp's columns of a step, with its planes. */
template <typename S>
static __device__ __forceinline__ void note_columns(shared_t<S> &shared, unsigned stage,
                                                    unsigned buffer, const first_t<S, false> &first,
                                                    const window_t &window)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned lines = exact_lines_of<S::LINES, S::B_K>(shared.b.at[stage], first, window);
    unsigned columns = 0;
#pragma unroll
    for (int j = 0; j < S::LINES; j++)
        columns |= (lines >> j & 1) << tilemm__fused_line(lane, j, S::LINES, S::B_APART);
    columns = __reduce_or_sync(~0u, columns);
    if (lane == 0)
        shared.exact[buffer][threadIdx.x % WARPGROUP / 32] = columns;
}

/* The multipliers: add a step's lines to those of the part. */
template <typename S>
static __device__ __forceinline__ void note_lines(multiplier_t<S> &at, const shared_t<S> &shared)
{
    /* Lane 0 alone reads, since it alone reports that all has been read. */
    const bool first_lane = threadIdx.x % 32 == 0;
    const uint4 exact = first_lane ? *(const uint4 *)shared.exact[at.buffer] : uint4{0, 0, 0, 0};
    if (__any_sync(~0u, exact.x | exact.y | exact.z | exact.w)) {
        const unsigned x = __shfl_sync(~0u, exact.x, 0), y = __shfl_sync(~0u, exact.y, 0);
        const unsigned z = __shfl_sync(~0u, exact.z, 0), w = __shfl_sync(~0u, exact.w, 0);
        const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
        at.columns |= upper ? (odd ? w : z) : (odd ? y : x);
    }
    at.rows |= at.next_rows;
    at.next_rows = 0;
    at.exact = __any_sync(~0u, at.rows | at.columns);
}

/* ---- parts of k --------------------------------------------------------------------------------
 */

/* The length of the parts of k: of BF16 planes, or of FP16 planes (fused_half_sm90.cuh). */
template <typename S>
static __device__ __forceinline__ int64_t part_length(const fused_t &problem)
{
    return S::HALF ? problem.k_half : problem.k_part;
}

template <typename S>
static __device__ __forceinline__ void begin_part(multiplier_t<S> &at, const fused_t &problem)
{
    at.part_end = (int)min((int64_t)at.place.end, at.k + part_length<S>(problem));
    at.rows = at.columns = 0;
    at.exact = false;
}

/* Where the part of k that ends at part_end began. */
template <typename S>
static __device__ __forceinline__ int part_begin(const multiplier_t<S> &at, const fused_t &problem)
{
    const int k_part = (int)part_length<S>(problem);
    return (at.part_end - 1 - at.place.k) / k_part * k_part + at.place.k;
}

/* After the last step of a part, whose stage of op(A) has not been left: compute the elements of
 * exact lines again, if the warpgroup has any. `next`: the planes of the next step. */
template <typename S>
static __device__ __forceinline__ void end_chains(multiplier_t<S> &at, fragments_t<S> &next,
                                                  shared_t<S> &shared, const fused_t &problem)
{
    if (some_of_warpgroup(at.exact))
        replace_exact(at, next, shared, problem, part_begin(at, problem));
    else
        leave_stage<S>(problem, &shared.a.empty[(at.count - 1) % S::STAGES]);
}

/* After the last step of a part. Returns whether it was the item's last one: the total is the sum
 * of all parts then. */
template <typename S>
static __device__ __forceinline__ bool end_part(multiplier_t<S> &at, shared_t<S> &shared,
                                                const fused_t &problem)
{
    float *const sum = shared.bulk + threadIdx.x / 32 * 16 * S::BN + threadIdx.x % 32;
    const int from = part_begin(at, problem);
    const bool last = at.part_end >= at.place.end;
    if (from == at.place.k) {
        if (last)
            return true;
        if (S::BULK && threadIdx.x % 32 == 0)
            tensor_wait_read(); /* the tile before has gone */
        __syncwarp();
    }
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float before = from == at.place.k ? 0.0f : sum[i * 32];
        at.total[i] = before + at.total[i];
        if (!last)
            sum[i * 32] = at.total[i];
    }
    if (last)
        return true;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] = at.part[i] = 0.0f;
    begin_part(at, problem);
    return false;
}

#endif
