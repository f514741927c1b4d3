/* half_sm90.cu - invariant products in one launch on the tensor cores of compute capability 9.0,
 * from two FP16 planes that the kernel makes itself (fused_half_sm90.cuh). What these do not carry
 * follows from three BF16 planes, as in invariant_sm90.cu: in the same kernel where it can, since
 * with ordinary data there is nothing left, and a launch would take longer than what a small
 * product gains; else by that one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Assumes compute capability 9.0 (sm_90a); parts of k of at most 32768, so that counts of near
 * numbers are exact in FP16; one split, or each part a split. */
#include <cuda_runtime.h>

#include "fused_half_sm90.cuh"
#include "fused_kernel_sm90.cuh"

/* Of a second warpgroup that converts, where only one goes on. */
enum { REGISTERS_IDLE = 40 };

/* Shared memory has room for both, one after the other, and then for the barrier of the block. */
template <typename S, typename R>
struct room_t {
    static const size_t BARRIER = sizeof(shared_t<S>) > sizeof(shared_t<R>) ? sizeof(shared_t<S>)
                                                                            : sizeof(shared_t<R>);
    static const size_t BYTES = BARRIER + sizeof(uint64_t);
    static_assert(BYTES <= 227 << 10, "what a block can have");
};

/* S: the tile from FP16 planes, R: from BF16 planes. */
template <typename S, typename R>
static __device__ __forceinline__ void multiply_half(const fused_t &problem, const maps_t<S> &maps)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    shared_t<R> &again = *(shared_t<R> *)memory;
    const bool is_idle = threadIdx.x >= R::LASTING; /* what follows has one converter */
    uint64_t *const all = (uint64_t *)(memory + room_t<S, R>::BARRIER); /* threads of the block */

    if (threadIdx.x == 0)
        mbarrier_init(all, S::THREADS);
    prepare(problem, maps, shared);
    wait_for_previous();
    let_next_start();
    if (threadIdx.x >= S::MULTIPLIERS * WARPGROUP) {
        registers_shrink<S::REGISTERS_CONVERTER>();
        convert_b_half(problem, maps, shared);
        if (!end_items(problem, shared, all))
            return;
        if (is_idle) {
            registers_shrink<REGISTERS_IDLE>();
            mbarrier_meet(all);
        } else {
            if (S::CONVERTERS > 1)
                registers_grow<R::REGISTERS_CONVERTER>();
            mbarrier_meet(all);
            convert_b(problem, maps, again);
        }
    } else {
        registers_grow<S::REGISTERS_MULTIPLIER>();
        multiply_half_items(problem, maps, shared);
        if (!end_items(problem, shared, all))
            return;
        begin_barriers(problem, maps, again);
        mbarrier_meet(all);
        multiply_items(problem, maps, again);
    }
    if (problem.splits > 1 && is_idle) { /* as the others in add_up_splits() */
        cluster_sync();
        cluster_sync();
    } else if (problem.splits > 1) {
        add_up_splits(problem, again);
    }
}

#define KERNEL(name, m, n, a_k, b_k, transposed, bulk)                                             \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, HALF_KIND> name##_t;                         \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, INVARIANT_KIND, 1, false, false>             \
        name##_rest_t;                                                                             \
    static __global__ void __launch_bounds__(name##_t::THREADS, name##_t::BLOCKS) name(            \
        const __grid_constant__ fused_t problem, const __grid_constant__ maps_t<name##_t> maps)    \
    {                                                                                              \
        multiply_half<name##_t, name##_rest_t>(problem, maps);                                     \
    }
TILEMM__SGEMM_HALF_ROWS(KERNEL)

extern "C" int tilemm__sgemm_half_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name:                                                                           \
        return launch<name##_t>(name, problem, (cudaStream_t)stream,                               \
                                room_t<name##_t, name##_rest_t>::BYTES);
        TILEMM__SGEMM_HALF_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
