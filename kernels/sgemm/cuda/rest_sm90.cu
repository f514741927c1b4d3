/* rest_sm90.cu - what a product of FP16 planes leaves over (route.h), on the tensor cores of
 * compute capability 9.0 as far as possible, in one kernel: with ordinary data there is nothing
 * left, and each launch would cost as much as this one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * First all warps make BF16 planes (hard_planes.cuh). The producer and the multipliers compute hard
 * tiles from them (hard_tiles.cuh). Then the multipliers go on alone: hard tiles by FP32
 * multiply-adds (ffma_sm80.cuh), and exact lines (exact_lines.cuh). A barrier of the block is then
 * one of the threads that are left.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include "exact_lines.cuh"
#include "ffma_sm80.cuh"
#include "hard_tiles.cuh"
#include "kernels/cuda/launch.cuh"

typedef tilemm__sgemm_rest_t rest_t;
typedef hard_tiles::hard_t hard_t;
typedef exact_lines::shared_t<6> exact_shared_t;

/* The multipliers: all hard tiles that go to FP32 multiply-adds. They share k out as those from
 * BF16 planes do, by the same numbers of tiles and pieces. */
template <class S>
static __device__ __forceinline__ void multiply_fp32_tiles(const rest_t &problem)
{
    const hard_t &hard = problem.bf16;
    const tilemm__sgemm_args_t &args = problem.fp32.args;
    unsigned next = stream_k_start<1>(hard.walk);
    piece_t piece;
    static_assert(S::BM == hard_tiles::BM && S::BN == hard_tiles::BN, "the same tiles");
#pragma unroll 1
    while (hard_tiles::next_piece(hard, TILEMM__SGEMM_BY_FP32, &next, &piece)) {
        const hard_tiles::place_t at = hard_tiles::locate(hard, piece.tile);
        const int64_t k0 = (int64_t)piece.begin * hard_tiles::BK;
        const int64_t k = min(args.k, (int64_t)piece.end * hard_tiles::BK);
        const tile_place_t place = {at.matrix,
                                    0,
                                    at.m,
                                    at.n,
                                    max((int64_t)0, min(at.m, args.m - S::BM)),
                                    max((int64_t)0, min(at.n, args.n - S::BN)),
                                    k0,
                                    k - k0};
        const auto begin = [] {
            __syncthreads(); /* the tile before is no longer read */
            return true;
        };
        const auto finish = [&](float(&sums)[4 * S::QM][4 * S::QN]) {
            typedef float flat_t[16 * S::QM * S::QN];
            __syncthreads(); /* the stages are all read: from here on each warp is alone */
            return piece.tile < hard.walk.whole ||
                   add_up<1, S::WARPS * 32>(*(flat_t *)&sums, hard.sums, hard.walk, piece, 0,
                                            threadIdx.x);
        };
        ffma_sm80::compute<S>(problem.fp32, place, begin, finish);
    }
}

/* The multipliers are the threads that the other parts are written for. */
template <bool A_K, bool B_K>
static __device__ __forceinline__ void compute_rest(const rest_t &problem)
{
    typedef ffma_sm80::shape<128, 128, 16, 2, 2, 1, 4, A_K, B_K, 16> fp32_t;
    extern __shared__ __align__(1024) unsigned char memory[];
    hard_tiles::shared_t &shared = *(hard_tiles::shared_t *)memory;
    static_assert((int)hard_tiles::MULTIPLYING == (int)exact_lines::THREADS, "a thread for each");
    static_assert((int)hard_tiles::MULTIPLYING == fp32_t::WARPS * 32, "a thread for each");
    static_assert(fp32_t::SHARED_BYTES <= sizeof(shared), "room for both");
    static_assert(sizeof(exact_shared_t) <= sizeof(shared), "room for both");
    wait_for_previous();
    let_next_start();

    const unsigned left = *problem.bf16.routes.left;

    if (left == 0)
        return;
    if (left & TILEMM__SGEMM_BY_BF16)
        hard_tiles::prepare(problem.bf16, shared);
    if (threadIdx.x >= hard_tiles::MULTIPLYING) {
        registers_shrink<hard_tiles::REGISTERS_PRODUCER>();
        if (left & TILEMM__SGEMM_BY_BF16)
            hard_tiles::produce(problem.bf16, shared);
        return;
    }
    registers_grow<hard_tiles::REGISTERS_MULTIPLIER>();
    if (left & TILEMM__SGEMM_BY_BF16)
        hard_tiles::multiply_tiles(problem.bf16, problem.fp32.args, shared);
    if (left & TILEMM__SGEMM_BY_FP32)
        multiply_fp32_tiles<fp32_t>(problem);
    if (left & TILEMM__SGEMM_BY_LINES) {
        __syncthreads();
        exact_lines::compute(problem.exact, !(left & TILEMM__SGEMM_BY_BF16),
                             *(exact_shared_t *)memory);
    }
}

#define REST(name, m, n, a_k, b_k)                                                                 \
    static_assert(m == hard_tiles::BM && n == hard_tiles::BN, "what the code is written for");     \
    KERNEL_OF(name, (hard_tiles::THREADS, 1), (const __grid_constant__ rest_t problem),            \
              compute_rest<a_k, b_k>(problem))
TILEMM__SGEMM_REST_ROWS(REST)

extern "C" int tilemm__sgemm_rest_launch(const rest_t *problem, void *stream)
{
    const launch_t how = {problem->blocks, hard_tiles::THREADS, sizeof(hard_tiles::shared_t), 1,
                          true};
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch_kernel(name, how, (cudaStream_t)stream, *problem);
        TILEMM__SGEMM_REST_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
