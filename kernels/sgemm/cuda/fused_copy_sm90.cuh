/* fused_copy_sm90.cuh - steps of operands whose rows begin anywhere, copied by threads of the fused
 * SGEMM kernels to where the copy engine would put them. For fused_sm90.cuh.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The copy engine needs rows that begin at multiples of 16 bytes. Here a warp copies 128 bytes of a
 * row at a time, 4 bytes a lane. Numbers beyond k are zeros. Lines beyond the matrix, whose
 * products are not stored, are its last line again where memory runs along k, else zeros: lanes
 * that copy the same number do so one after the other. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_COPY_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_COPY_SM90_CUH

#include <cuda_runtime.h>

#include "fused.h"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"

/* A matrix as it lies in memory: `lines` rows of op(A), or columns of op(B), of k numbers each;
 * rows of memory are ld_bytes apart. */
typedef struct {
    const float *from;
    unsigned ld_bytes;
    int lines, k;
} source_t;

template <bool IS_A>
static __device__ __forceinline__ source_t source_of(const tilemm__sgemm_args_t &args, int matrix)
{
    const int64_t ld = IS_A ? args.lda : args.ldb, lines = IS_A ? args.m : args.n;
    const float *const from =
        IS_A ? (args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a)
             : (args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b);
    return {from, (unsigned)ld * 4, (int)lines, (int)args.k};
}

/* Copy COUNT rows of 32 numbers, a number a lane, to rows of a stage. `from` and `to` are the
 * lane's in the first row. Instead of rows after `last` that one is copied again, or zeros are
 * stored. Three or four instructions a row: an address is one multiply-add. */
template <int COUNT, bool ZEROS>
static __device__ __forceinline__ void copy_rows(unsigned to, const float *from, unsigned ld_bytes,
                                                 int last, int bytes)
{
    const int64_t first = opaque((int64_t)from);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const unsigned row = min(i, max(last, 0));
        copy_async_zero<4>(tilemm__fused_copied(to, i),
                           (const void *)(first + (int64_t)((uint64_t)row * ld_bytes)),
                           ZEROS && i > last ? 0 : bytes);
    }
}

/* Start the copies of a thread of a warpgroup: a step of LINES lines by 32 of k, to a stage. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ void copy_step(float *stage, const source_t &source, int line,
                                                 int k)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int COUNT = K_MAJOR ? LINES / 4 : 8, row = warp * COUNT; /* of a warp */
    const unsigned to = shared_address(stage) + row * 128 + lane * 4;
    const uint64_t ld = source.ld_bytes / 4;
    static_assert(LINES % 32 == 0 && COUNT % 8 == 0, "the swizzle begins anew with each warp");
    if (K_MAJOR) {
        const int first = min(line + row, source.lines - 1), at = min(k + lane, source.k - 1);
        copy_rows<COUNT, false>(to, source.from + first * ld + at, source.ld_bytes,
                                source.lines - 1 - first, k + lane < source.k ? 4 : 0);
        return;
    }
    const int first = min(k + row, source.k - 1);
    const int last = k + row < source.k ? source.k - 1 - first : -1;
#pragma unroll
    for (int part = 0; part < LINES; part += 32) {
        const int at = line + part + lane;
        copy_rows<COUNT, true>(to + part * 128,
                               source.from + first * ld + min(at, source.lines - 1),
                               source.ld_bytes, last, at < source.lines ? 4 : 0);
    }
}

#endif
