/* fused_kernel_sm90.cuh - the fused SGEMM kernels as a whole, and how they are launched. For
 * fused_sm90.cu and the other files of such kernels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_KERNEL_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_KERNEL_SM90_CUH

#include <cuda_runtime.h>

#include "fused_multiply_sm90.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tensor_map.cuh"

/* ---- kernels -------------------------------------------------------------------------------- */

/* FEED, CONVERT and MULTIPLY are what the feeder, the converter and the multipliers do, ADD_UP what
 * the last two do then in a cluster whose blocks share k. */
template <typename S, void (*FEED)(const fused_t &, const maps_t<S> &, shared_t<S> &),
          void (*CONVERT)(const fused_t &, const maps_t<S> &, shared_t<S> &),
          void (*MULTIPLY)(const fused_t &, const maps_t<S> &, shared_t<S> &),
          void (*ADD_UP)(const fused_t &, shared_t<S> &)>
static __device__ __forceinline__ void multiply_fused(const fused_t &problem, const maps_t<S> &maps)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;

    prepare(problem, maps, shared);
    if (S::INVARIANT && problem.carry.a)
        let_next_start(); /* mostly nothing is left, and this one is over at once */
    wait_for_previous();
    if (S::INVARIANT && problem.carry.a && !has_left<S>(problem))
        return;
    if (S::HAS_FEEDER && threadIdx.x >= S::LASTING) {
        registers_shrink<S::REGISTERS_FEEDER>();
        FEED(problem, maps, shared);
        return; /* the others' shared memory stays, and a cluster waits for no thread that ended */
    }
    if (threadIdx.x >= S::MULTIPLIERS * WARPGROUP) {
        registers_shrink<S::REGISTERS_CONVERTER>();
        CONVERT(problem, maps, shared);
    } else {
        registers_grow<S::REGISTERS_MULTIPLIER>();
        MULTIPLY(problem, maps, shared);
    }
    if (S::CLUSTER > 1)
        cluster_sync(); /* nobody leaves while another may still send to it */
    else if (problem.splits > 1 && !problem.partial)
        ADD_UP(problem, shared);
}

/* A row's kernel. */
#define FUSED_KERNEL(kind, unaligned, name, m, n, a_k, b_k, transposed, bulk)                      \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, kind, 1, unaligned> name##_t;                \
    FUSED_KERNEL_OF(name, feed, convert_b, multiply_items, add_up_splits)
#define FUSED_KERNEL_OF(name, feed, convert, multiply, add_up)                                     \
    static __global__ void __launch_bounds__(name##_t::THREADS, name##_t::BLOCKS) name(            \
        const __grid_constant__ fused_t problem, const __grid_constant__ maps_t<name##_t> maps)    \
    {                                                                                              \
        multiply_fused<name##_t, feed<name##_t>, convert<name##_t>, multiply<name##_t>,            \
                       add_up<name##_t>>(problem, maps);                                           \
    }

/* ---- tensor maps ---------------------------------------------------------------------------- */

/* Describe matrices of y lines of x numbers, for copies of box_y lines of box_x; `tf32`: rounded to
 * TF32, to nearest. */
static bool describe(CUtensorMap *map, bool tf32, const float *data, int64_t x, int64_t y,
                     int64_t ld, int64_t stride, int64_t batch, int box_y, int box_x = 32,
                     CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B)
{
    const tensor_encode_t encode = tensor_encoder();
    const cuuint64_t size[3] = {(cuuint64_t)x, (cuuint64_t)y, (cuuint64_t)batch};
    const cuuint64_t pitch[2] = {(cuuint64_t)ld * sizeof(float),
                                 (cuuint64_t)(batch > 1 ? stride : ld) * sizeof(float)};
    const cuuint32_t box[3] = {(cuuint32_t)box_x, (cuuint32_t)box_y, 1};
    const CUtensorMapDataType type =
        tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    return encode && tensor_describe(encode, map, type, 3, data, size, pitch, box, swizzle);
}

/* The same for each phase of the lines, from the multiple of 16 bytes before its first one on. A
 * phase that matrices of up to three lines lack is the first one again: rows or columns of C that
 * are not stored. (k is never so small.) */
static bool describe_phases(CUtensorMap *maps, const float *data, int64_t x, int64_t y, int64_t ld,
                            int64_t stride, int64_t batch, int box_y, int box_x)
{
    enum { PHASES = TILEMM__SGEMM_PHASES, UNIT = 16 / sizeof(float) };
    for (int64_t phase = 0; phase < PHASES; phase++) {
        const int64_t first = phase < y ? phase : 0, lines = (y - first + PHASES - 1) / PHASES;
        const float *const from = data + first * ld;
        const int64_t shift = (int64_t)((uintptr_t)from / sizeof(float) % UNIT);
        if (!describe(&maps[phase], false, from - shift, shift + x, lines, ld * PHASES, stride,
                      batch, box_y / PHASES, box_x, CU_TENSOR_MAP_SWIZZLE_NONE))
            return false;
    }
    return true;
}

/* The same of matrices that do not lie multiples of 16 bytes apart: four sets of maps, of which set
 * i has matrices i, i + 4 ... */
static bool describe_fourths(CUtensorMap *maps, const float *data, int64_t x, int64_t y, int64_t ld,
                             int64_t stride, int64_t batch, int box_y, int box_x)
{
    for (int64_t i = 0; i < (batch < 4 ? batch : 4); i++)
        if (!describe_phases(maps + i * TILEMM__SGEMM_PHASES, data + i * stride, x, y, ld,
                             stride * 4, (batch - i + 3) / 4, box_y, box_x))
            return false;
    return true;
}

/* An operand of a problem for the copy engine. Returns false if it cannot be described. */
template <typename S, bool IS_A>
static bool describe_operand(const fused_t *problem, CUtensorMap *maps)
{
    const tilemm__sgemm_args_t *const args = &problem->args;
    const bool K_MAJOR = IS_A ? S::A_K : S::B_K;
    const float *const data = IS_A ? args->a : args->b;
    const int64_t lines = IS_A ? args->m : args->n, ld = IS_A ? args->lda : args->ldb;
    const int64_t stride = IS_A ? args->stride_a : args->stride_b;
    const int64_t x = K_MAJOR ? args->k : lines, y = K_MAJOR ? lines : args->k;
    static_assert(BK == 32, "a box's width");
    if (S::UNALIGNED) {
        const int GROUP = IS_A ? S::GROUP_A : S::GROUP_B;
        const int box_y = K_MAJOR ? GROUP : BK, box_x = tilemm__phased_row(GROUP, K_MAJOR);
        const int64_t batch = args->batch_count;
        const bool uneven = IS_A ? problem->uneven_a : problem->uneven_b;
        if (uneven && !K_MAJOR)
            return describe_fourths(maps, data, x, y, ld, stride, batch, box_y, box_x);
        return describe_phases(maps, data, x, uneven ? y * batch : y, ld, stride,
                               uneven ? 1 : batch, box_y, box_x);
    }
    return describe(maps, S::TF32, data, x, y, ld, stride, args->batch_count,
                    !K_MAJOR ? BK
                    : IS_A   ? S::BM / S::CLUSTER_N
                             : S::BN / S::CLUSTER_M);
}

/* Both. */
template <typename S>
static bool describe_operands(const fused_t *problem, maps_t<S> *maps)
{
    return describe_operand<S, true>(problem, maps->a) &&
           describe_operand<S, false>(problem, maps->b);
}

/* ---- launcher ------------------------------------------------------------------------------- */

/* More than half of a multiprocessor's shared memory. */
enum { SPREAD_BYTES = 115 << 10 };

template <typename S>
static int launch(void (*kernel)(fused_t, maps_t<S>), const fused_t *problem, cudaStream_t stream,
                  size_t bytes = sizeof(shared_t<S>))
{
    const tilemm__sgemm_args_t *const args = &problem->args;
    maps_t<S> maps;
    static_assert(sizeof(shared_t<S>) <= 227 << 10, "what a block can have");
    if (((!S::UNALIGNED || problem->phased) && !describe_operands<S>(problem, &maps)) ||
        (problem->store == TILEMM__SGEMM_STORE_BULK &&
         !describe(&maps.c, false, args->c, args->n, args->m, args->ldc, args->stride_c,
                   args->batch_count, 16)))
        return cudaErrorInvalidValue;
    if (problem->spread && bytes < SPREAD_BYTES)
        bytes = SPREAD_BYTES;
    return launch_kernel(kernel,
                         {(unsigned)problem->blocks, S::THREADS, bytes, problem->cluster, true},
                         stream, *problem, maps);
}

#endif
