/* fused_sm90.cu - SGEMM in one launch on the tensor cores of compute capability 9.0: "fused" means
 * that the three BF16 planes of split precision (fused.h) are made inside the kernel.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout. A tile is BM x BN of C, k in steps of 32. The copy engine brings steps of both operands
 * to queues in shared memory. The planes of op(B) are in a ring there, those of op(A) in registers,
 * from which the tensor cores take them as well. Where C has few rows, the kernel computes the
 * transposed product.
 *
 * Roles: fused_multiply_sm90.cuh.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_multiply_sm90.cuh"

/* ---- kernels -------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void multiply_fused(const fused_t &problem, const maps_t &maps)
{
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;

    prepare(maps, shared);
    wait_for_previous();
    if (threadIdx.x >= S::MULTIPLIERS * WARPGROUP) {
        registers_shrink<S::REGISTERS_CONVERTER>();
        convert_b<S>(problem, maps, shared);
    } else {
        registers_grow<S::REGISTERS_MULTIPLIER>();
        multiply_items<S>(problem, maps, shared);
    }
    if (problem.splits > 1 && !problem.partial)
        add_up<S>(shared, problem);
#endif
}

/* 384 threads, one block to a multiprocessor; or 256, two of them. */
#define FUSED(name, m, n, a_k, b_k, transposed, bulk)                                              \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, false> name##_t;                             \
    static __global__ void __launch_bounds__(name##_t::THREADS,                                    \
                                             name##_t::MULTIPLIERS == 1 ? 2 : 1)                   \
        name(const __grid_constant__ fused_t problem, const __grid_constant__ maps_t maps)         \
    {                                                                                              \
        multiply_fused<name##_t>(problem, maps);                                                   \
    }
TILEMM__SGEMM_FUSED_ROWS(FUSED)

/* ---- launcher ------------------------------------------------------------------------------- */

template <typename S>
static int launch(void (*kernel)(fused_t, maps_t), const fused_t *problem, cudaStream_t stream)
{
    const tilemm__sgemm_args_t *const args = &problem->args;
    maps_t maps;
    if (!describe_operands<S>(problem, &maps) ||
        (problem->bulk && !describe(&maps.c, args->c, args->n, args->m, args->ldc, args->stride_c,
                                    args->batch_count, 16)))
        return cudaErrorInvalidValue;
    return launch_kernel(
        kernel,
        {(unsigned)problem->blocks, S::THREADS, sizeof(shared_t<S>), problem->cluster, true},
        stream, *problem, maps);
}

extern "C" int tilemm__sgemm_fused_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_FUSED_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
