/* fused_copy_sm90.cuh - steps of operands whose rows begin anywhere, copied by threads of the fused
 * SGEMM kernels to where the copy engine would put them by phases. For fused_sm90.cuh.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Where phases of rows do not do (fused.h): matrices are given by pointers, or follow each other
 * backwards, or at distances that are no multiples of 16 bytes: with gaps, along k; or if neither
 * operand runs along k. A warp has a phase, and copies 128 bytes of a row at a time, 4 bytes a
 * lane. Numbers beyond k are zeros. Lines beyond the matrix, whose products are not stored, are its
 * last line again where memory runs along k, else zeros: lanes that copy the same number do so one
 * after the other. */
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

/* Copy 32 numbers, a number a lane, of each of COUNT rows of a phase, ld_bytes apart; row i to
 * place(i) floats from the first. `from` and `to` are the lane's in the first row. Instead of rows
 * after `last` that one is copied again, or zeros are stored. Three or four instructions a row: an
 * address is one multiply-add. */
template <int COUNT, bool ZEROS, typename PLACE>
static __device__ __forceinline__ void copy_rows(unsigned to, const float *from, unsigned ld_bytes,
                                                 int last, int bytes, const PLACE &place)
{
    const int64_t first = opaque((int64_t)from);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const unsigned row = min(i, max(last, 0));
        copy_async_zero<4>(to + place(i) * sizeof(float),
                           (const void *)(first + (int64_t)((uint64_t)row * ld_bytes)),
                           ZEROS && i > last ? 0 : bytes);
    }
}

/* Start the copies of a thread of a warpgroup: a step of LINES lines by 32 of k, to a stage. */
template <int LINES, int GROUP, bool K_MAJOR>
static __device__ __forceinline__ void copy_step(float *stage, const source_t &source, int line,
                                                 int k)
{
    const int PHASES = TILEMM__SGEMM_PHASES, COUNT = (K_MAJOR ? LINES : 32) / PHASES;
    const int lane = threadIdx.x % 32, phase = threadIdx.x / 32 % PHASES;
    const unsigned shifted = shared_address(stage + phase + lane);
    const uint64_t ld = source.ld_bytes / 4;
    const unsigned next = source.ld_bytes * PHASES;
    if (K_MAJOR) {
        const int first = min(line + phase, source.lines - 1), at = min(k + lane, source.k - 1);
        copy_rows<COUNT, false>(
            shifted + tilemm__phased(phase, 0, GROUP, true) * sizeof(float),
            source.from + first * ld + at, next, (source.lines - 1 - first) / PHASES,
            k + lane < source.k ? 4 : 0,
            [](int i) { return tilemm__phased(i * TILEMM__SGEMM_PHASES, 0, GROUP, true); });
        return;
    }
    const int first = min(k + phase, source.k - 1);
    const int last = k + phase < source.k ? (source.k - 1 - first) / PHASES : -1;
#pragma unroll
    for (int part = 0; part < LINES; part += 32) {
        const int at = line + part + lane;
        copy_rows<COUNT, true>(shifted + tilemm__phased(part, phase, GROUP, false) * sizeof(float),
                               source.from + first * ld + min(at, source.lines - 1), next, last,
                               at < source.lines ? 4 : 0, [](int i) {
                                   return tilemm__phased(0, i * TILEMM__SGEMM_PHASES, GROUP, false);
                               });
    }
}

#endif
