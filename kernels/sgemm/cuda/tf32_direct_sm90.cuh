/* tf32_direct_sm90.cuh - a step of the TF32 kernels (tf32_sm90.cu) where op(B) runs along k: the
 * tensor cores read it as the copy engine writes it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Producer: one thread asks the copy engine for steps of both operands, rounded to TF32. In a
 * cluster of CLUSTER blocks, whose tiles lie below each other, each brings its part of the lines of
 * op(B) to all of them; or of op(A), if they lie side by side.
 *
 * Multipliers: each of BM / 64 warpgroups has 64 rows. op(A) comes from shared memory too if it
 * runs along k, else from registers, which are filled for a step while the tensor cores work on the
 * one before.
 *
 * Layout: steps as the copy engine writes them, with its 128-byte swizzle. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_TF32_DIRECT_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_TF32_DIRECT_SM90_CUH

#include "fused_multiply_sm90.cuh"

/* ---- producer ------------------------------------------------------------------------------- */

/* Ask for a step of an operand: for PARTS blocks, this one's part of the lines. */
template <int LINES, int PARTS, bool K_MAJOR>
static __device__ __forceinline__ void bring(float *stage, const CUtensorMap *map, int line, int k,
                                             int matrix, unsigned rank, uint64_t *full)
{
    const int MINE = LINES / PARTS, STEP = K_MAJOR ? MINE : 32;
#pragma unroll
    for (int i = 0; i < MINE; i += STEP) {
        const int first = (PARTS > 1 ? (int)rank * MINE : 0) + i;
        float *const to = stage + first * BK;
        const int x = K_MAJOR ? k : line + first, y = K_MAJOR ? line + first : k;
        if (PARTS > 1)
            tensor_load_multicast(to, map, x, y, matrix, full, (1 << PARTS) - 1);
        else
            tensor_load(to, map, x, y, matrix, full);
    }
}

/* Ask for a step of both operands, of one of which the cluster's other blocks bring parts. */
template <typename S>
static __device__ __forceinline__ void bring_step(const maps_t<S> &maps, const place_t &place,
                                                  int k, shared_t<S> &shared, unsigned stage,
                                                  unsigned rank)
{
    const int matrix = (int)place.matrix;
    uint64_t *const full = &shared.a.full[stage];
    mbarrier_expect(full, (S::BM + S::BN) * BK * 4);
    bring<S::BM, S::CLUSTER_N, S::A_K>(shared.a.at[stage], maps.a, place.m, k, matrix, rank, full);
    bring<S::BN, S::CLUSTER_M, true>(shared.b.at[stage], maps.b, place.n, k, matrix, rank, full);
}

template <typename S>
static __device__ __forceinline__ void bring_items(const fused_t &problem, const maps_t<S> &maps,
                                                   shared_t<S> &shared)
{
    const unsigned rank = S::CLUSTER > 1 ? cluster_rank() : 0;
    unsigned stage = 0, parity = 1;
    if (threadIdx.x % WARPGROUP != 0)
        return;
    for (unsigned item = first_item<S>(); item < problem.count; item += next_items<S>()) {
        const place_t place = locate<S>(problem, item);
        for (int k = place.k; k < place.end; k += BK) {
            mbarrier_wait(&shared.a.empty[stage], parity);
            bring_step(maps, place, k, shared, stage, rank);
            advance<S::STAGES>(&stage, &parity);
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* Products of 8 of k in a step, and registers of op(A) for each of them. */
enum { SLICES = BK / 8, STEP_WORDS = SLICES * FRAGMENT };

/* Read a step of op(A) from lines that memory runs along: of each slice the lane's two lines at its
 * two places of k. */
template <typename S>
static __device__ __forceinline__ void read_a(const float *stage, unsigned first,
                                              unsigned (&a)[STEP_WORDS])
{
#pragma unroll
    for (int i = 0; i < (S::A_K ? 0 : SLICES * 2); i++) {
        const uint2 lines =
            *(const uint2 *)(stage + (i % 2 ? first ^ TILEMM__SGEMM_TF32_NEXT_K : first) +
                             i * TILEMM__SGEMM_TF32_HALF_SLICE);
        a[i * 2] = lines.x;
        a[i * 2 + 1] = lines.y;
    }
}

/* Start total += the products of a step. */
template <typename S>
static __device__ __forceinline__ void multiply_stage(multiplier_t<S> &at, shared_t<S> &shared,
                                                      const unsigned (&a)[STEP_WORDS])
{
    const unsigned group = threadIdx.x / WARPGROUP;
    const uint64_t b = wgmma_operand(shared.b.at[at.buffer]);
    const uint64_t from_a = wgmma_operand(shared.a.at[at.buffer] + group * 64 * BK);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < SLICES; i++) {
        const unsigned bytes = i * 8 * sizeof(float);
        if (S::A_K)
            wgmma_tf32(at.total, wgmma_operand_at(from_a, bytes), wgmma_operand_at(b, bytes), 1);
        else
            wgmma_tf32(at.total, a + i * FRAGMENT, wgmma_operand_at(b, bytes), 1);
    }
    wgmma_commit();
}

/* Tell all blocks that bring parts of a stage that this warp has read it. */
template <typename S>
static __device__ __forceinline__ void leave_stage(shared_t<S> &shared, unsigned stage)
{
    const unsigned lane = threadIdx.x % 32;
    __syncwarp();
    if (S::CLUSTER > 1 && lane < S::CLUSTER)
        mbarrier_arrive_cluster(&shared.a.empty[stage], lane);
    else if (S::CLUSTER == 1 && lane == 0)
        mbarrier_arrive(&shared.a.empty[stage]);
}

/* Read a step of op(A) if it does not run along k, and start total += the step's products. */
template <typename S>
static __device__ __forceinline__ void start_stage(multiplier_t<S> &at, shared_t<S> &shared,
                                                   unsigned (&a)[STEP_WORDS])
{
    mbarrier_wait(&shared.a.full[at.buffer], at.parity);
    read_a<S>(shared.a.at[at.buffer], at.first, a);
    multiply_stage(at, shared, a);
}

#endif
