/* tma.cu - transpose, step 6: the copy engine of compute capability 9.0 and later brings the tile.
 * Shows that one thread can ask for a whole tile, that the engine swizzles it on its way to shared
 * memory, and that no register or address computation is spent on the load.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"
#include <cuda.h>

enum { EDGE = 32, WARPS = 8 }; /* a warp writes four columns of the tile */

/* Where the engine's 128-byte swizzle puts a vector of 4 elements of the tile, in vectors. */
static __host__ __device__ int at(int row, int chunk)
{
    return row * (EDGE / 4) + (chunk ^ (row & 7));
}

/* One thread: bring the box at (x, y) to `tile`, and have its bytes counted at the barrier. */
static __device__ void bring(float4 *tile, const CUtensorMap *map, int x, int y, uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    const unsigned at = (unsigned)__cvta_generic_to_shared(barrier);

    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                 "r"(EDGE * EDGE * 4)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(at)
                 : "memory");
#endif
}

/* All threads: wait until the tile is there. */
static __device__ void await(uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    unsigned there = 0;

    while (!there)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(there)
                     : "r"((unsigned)__cvta_generic_to_shared(barrier))
                     : "memory");
#endif
}

static __global__ void tma(float *out, const __grid_constant__ CUtensorMap in, int rows)
{
    __shared__ __align__(1024)
        float4 tile[EDGE * EDGE / 4]; /* where the swizzle's pattern starts */
    __shared__ uint64_t barrier;
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const int lane = threadIdx.x, chunk = threadIdx.y;

    if (lane == 0 && chunk == 0)
        bring(tile, &in, (int)col, (int)row, &barrier);
    __syncthreads(); /* the barrier has been set up */
    await(&barrier);

    const float4 r = tile[at(lane, chunk)];
    float *to = &out[(col + chunk * 4) * rows + row + lane];
    to[0] = r.x;
    to[(size_t)rows] = r.y;
    to[(size_t)rows * 2] = r.z;
    to[(size_t)rows * 3] = r.w;
}

/* Describe the matrix to the engine. The driver's function is found through the runtime. */
static CUtensorMap describe(const float *in, int rows, int cols)
{
    const cuuint64_t size[2] = {(cuuint64_t)cols, (cuuint64_t)rows};
    const cuuint64_t pitch[1] = {(cuuint64_t)cols * sizeof(float)};
    const cuuint32_t box[2] = {EDGE, EDGE}, stride[2] = {1, 1};
    cudaDriverEntryPointQueryResult found;
    void *encode;
    CUtensorMap map;

    CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                          cudaEnableDefault, &found));
    expect(found == cudaDriverEntryPointSuccess, "the driver has no cuTensorMapEncodeTiled");
    expect(((decltype(&cuTensorMapEncodeTiled))encode)(
               &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)in, size, pitch, box, stride,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
           "cuTensorMapEncodeTiled");
    return map;
}

static void step(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    tma<<<dim3(cols / EDGE, rows / EDGE), dim3(EDGE, WARPS), 0, stream>>>(
        out, describe(in, rows, cols), rows);
}

int main(int argc, char **argv)
{
    example_begin("transpose 6: the copy engine (TMA) brings the tile, swizzled", 90);
    predict_shared("load, a column of chunks", 16, false,
                   [](int lane) { return at(lane, 0) * 16; });
    predict_global("store", 4, true, [](int lane) { return lane * 4; });
    return transpose_ladder(argc, argv, step);
}
