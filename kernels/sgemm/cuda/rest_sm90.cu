/* rest_sm90.cu - what a product of FP16 planes leaves over (route.h), on the tensor cores of
 * compute capability 9.0 as far as possible, in one kernel: with ordinary data there is nothing
 * left, and each launch would cost as much as this one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * First hard tiles from three BF16 planes, as fused_sm90.cu has them; the accumulated sum is
 * compensated, since in such data few products decide a sum. Then the multipliers go on, and the
 * threads of the feeder and of the converter end: hard tiles by FP32 multiply-adds
 * (ffma_sm80.cuh), and exact lines (exact_lines.cuh). A barrier of the block is then one of the
 * threads that are left.
 *
 * Assumes compute capability 9.0 (sm_90a), and blocks that are all resident. */
#include "exact_lines.cuh"
#include "ffma_sm80.cuh"
#include "fused_kernel_sm90.cuh"
#include "rest.h"

typedef tilemm__sgemm_rest_t rest_t;
typedef exact_lines::shared_t<6> exact_shared_t;

/* The multipliers of S are the threads that the other parts are written for. */
template <typename S, bool A_K, bool B_K>
static __device__ __forceinline__ void compute_rest(const rest_t &problem, const maps_t<S> &maps)
{
    typedef ffma_sm80::shape<128, 128, 16, 2, 2, 1, 4, A_K, B_K, 16> ffma_t;
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    static_assert(S::MULTIPLIERS * WARPGROUP == exact_lines::THREADS, "a thread for each");
    static_assert(S::MULTIPLIERS * WARPGROUP == ffma_t::WARPS * 32, "a thread for each");
    static_assert(ffma_t::SHARED_BYTES <= sizeof(shared), "room for both");
    wait_for_previous();
    let_next_start();

    const unsigned left = *problem.bf16.routes.left;

    if (left == 0)
        return;

    const bool bf16 = (left & TILEMM__SGEMM_BY_BF16) &&
                      own_item<S>(problem.bf16, blockIdx.x) < problem.bf16.count;

    if (bf16)
        prepare(problem.bf16, maps, shared);
    if (threadIdx.x >= S::LASTING) {
        registers_shrink<S::REGISTERS_FEEDER>();
        if (bf16)
            feed<S>(problem.bf16, maps, shared);
        return;
    }
    if (threadIdx.x >= S::MULTIPLIERS * WARPGROUP) {
        registers_shrink<S::REGISTERS_CONVERTER>();
        if (bf16)
            convert_b<S>(problem.bf16, maps, shared);
        return;
    }
    registers_grow<S::REGISTERS_MULTIPLIER>();
    if (bf16)
        multiply_items<S>(problem.bf16, maps, shared);
    if (left & TILEMM__SGEMM_BY_FP32) {
#pragma unroll 1
        for (uint64_t tile = blockIdx.x; tile < problem.fp32.blocks; tile += gridDim.x) {
            __syncthreads(); /* the tile before is no longer read */
            ffma_sm80::body<ffma_t>(problem.fp32, tile);
        }
    }
    if (left & TILEMM__SGEMM_BY_LINES) {
        __syncthreads();
        exact_lines::compute(problem.exact, *(exact_shared_t *)memory);
    }
}

#define REST(name, m, n, a_k, b_k)                                                                 \
    typedef shape_t<m, n, a_k, b_k, false, false, REST_KIND> name##_t;                             \
    static_assert(sizeof(exact_shared_t) <= sizeof(shared_t<name##_t>), "room for both");          \
    static __global__ void __launch_bounds__(name##_t::THREADS, 1) name(                           \
        const __grid_constant__ rest_t problem, const __grid_constant__ maps_t<name##_t> maps)     \
    {                                                                                              \
        compute_rest<name##_t, a_k, b_k>(problem, maps);                                           \
    }
TILEMM__SGEMM_REST_ROWS(REST)

template <typename S>
static int launch(void (*kernel)(rest_t, maps_t<S>), const rest_t *problem, cudaStream_t stream)
{
    maps_t<S> maps;
    if (!describe_operands<S>(&problem->bf16, &maps))
        return cudaErrorInvalidValue;
    return launch_kernel(kernel, {problem->blocks, S::THREADS, sizeof(shared_t<S>), 1, true},
                         stream, *problem, maps);
}

extern "C" int tilemm__sgemm_rest_launch(const rest_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_REST_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
