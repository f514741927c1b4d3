/* tf32_sm90.cu - SGEMM in TF32 in one launch on the tensor cores of compute capability 9.0, as
 * fused_sm90.cu: the copy engine rounds numbers to TF32 (to nearest even) as it brings them; where
 * rows do not begin at multiples of 16 bytes, who reads them next does.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The tensor cores take TF32 operands from shared memory only along k. Where the copy engine
 * brings op(B) along k they read it as it comes (tf32_direct_sm90.cuh). Else, as in this file, the
 * converter writes it again, along k, and op(A) comes from registers.
 *
 * Feeder: one thread asks the copy engine for steps, or a warpgroup copies them. To ask takes a
 * good part of a step's time, for which nobody else should wait.
 *
 * Multipliers: the tensor cores go on with a step while the next one of op(A) is read. Their sum is
 * over all of an item's k.
 *
 * Layout: fused_sm90.cu. Epilogue and tile scheduler: fused_multiply_sm90.cuh.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_kernel_sm90.cuh"
#include "tf32_direct_sm90.cuh"

/* ---- converter ------------------------------------------------------------------------------- */

/* The bits of a number in TF32. The copy engine has rounded those of aligned operands. */
template <typename S>
static __device__ __forceinline__ unsigned tf32_of(float x)
{
    unsigned bits = __float_as_uint(x);
    if (S::UNALIGNED)
        asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

/* Write 8 * LINES lines of a stage, from line0 on, along k. */
template <typename S>
static __device__ __forceinline__ void write_lines(const fused_t &problem, unsigned matrix,
                                                   const float *stage, unsigned line0,
                                                   unsigned (&plane)[S::PLANE])
{
    const unsigned lane = threadIdx.x % 32;
    const first_t<S, false> first = first_of<S, false>(problem, line0, matrix);
    float x[2][S::LINES][OCTET / 2];
    take<S::LINES, S::B_K>(stage, first, 0, x[0]);
    take<S::LINES, S::B_K>(stage, first, 1, x[1]);
#pragma unroll
    for (int j = 0; j < S::LINES; j++)
#pragma unroll
        for (int i = 0; i < OCTET; i++) {
            const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_APART);
            plane[tilemm__fused_word(line, lane % 4, i, S::WORDS)] =
                tf32_of<S>(x[i / (OCTET / 2)][j][i % (OCTET / 2)]);
        }
}

/* A warp of the converter takes every CONVERTING-th group of 8 * LINES lines of a step. */
template <typename S>
static __device__ __forceinline__ void rewrite_tf32(const fused_t &problem, shared_t<S> &shared,
                                                    unsigned warp)
{
    const int GROUP_LINES = 8 * S::LINES;
    unsigned buffer = 0, parity = 1, stage = 0, filled = 0;
    for (unsigned item = blockIdx.x; item < problem.count; item += gridDim.x) {
        const place_t place = locate<S>(problem, item);
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK) {
            mbarrier_wait(&shared.b.full[stage], filled);
            mbarrier_wait(&shared.empty[buffer], parity);
            for (unsigned line0 = warp * GROUP_LINES; line0 < S::BN;
                 line0 += S::CONVERTING * GROUP_LINES)
                write_lines<S>(problem, place.matrix, shared.b.at[stage], line0,
                               shared.planes[buffer][0]);
            leave_stage<S>(problem, &shared.b.empty[stage]);
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            advance<S::STAGES>(&stage, &filled);
            advance<S::BUFFERS>(&buffer, &parity);
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* Read a step of op(A). */
template <typename S>
static __device__ __forceinline__ void read_rows(const multiplier_t<S> &at, shared_t<S> &shared,
                                                 unsigned (&a)[STEP_WORDS])
{
    const int HALF = STEP_WORDS / 2;
    const unsigned stage = at.count % S::STAGES;
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float x[ROWS][OCTET / 2];
        take<ROWS, S::A_K>(shared.a.at[stage], at.first, half, x);
#pragma unroll
        for (int i = 0; i < HALF; i++)
            a[half * HALF + i] = tf32_of<S>(x[i % 2][i / 2]);
    }
}

/* Read a step of op(A), start total += the step's products, and leave op(A)'s stage: not before,
 * since reads with bank conflicts can take longer than what tells the copy engine that the stage is
 * free; the products have waited for what they read. */
template <typename S>
static __device__ __forceinline__ void start_rewritten(multiplier_t<S> &at, shared_t<S> &shared,
                                                       const fused_t &problem,
                                                       unsigned (&a)[STEP_WORDS])
{
    read_rows(at, shared, a);
    mbarrier_wait(&shared.full[at.buffer], at.parity);
    const uint64_t b = wgmma_operand_cores(shared.planes[at.buffer][0], CORE_BYTES,
                                           TILEMM__SGEMM_FUSED_PITCH(S::WORDS) * 4);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < STEP_WORDS; i += FRAGMENT)
        wgmma_tf32(at.total, a + i, wgmma_operand_at(b, i / FRAGMENT * 2 * CORE_BYTES), 1);
    wgmma_commit();
    leave_stage<S>(problem, &shared.a.empty[at.count % S::STAGES]);
    at.count++;
}

/* Leave op(B)'s step in a stage or a buffer. */
template <typename S>
static __device__ __forceinline__ void leave_step(shared_t<S> &shared, unsigned step)
{
    if constexpr (S::DIRECT)
        leave_stage(shared, step);
    else if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.empty[step]);
}

/* Start a step; wait for the one before, `previous`, if it is of the same item, and leave it. */
template <typename S>
static __device__ __forceinline__ void start_step(multiplier_t<S> &at, shared_t<S> &shared,
                                                  const fused_t &problem, unsigned (&a)[STEP_WORDS],
                                                  unsigned &previous)
{
    if constexpr (S::DIRECT)
        start_stage(at, shared, a);
    else
        start_rewritten(at, shared, problem, a);
    wgmma_wait<1>();
    if (at.k > at.place.k)
        leave_step(shared, previous);
    previous = at.buffer;
    advance<S::DIRECT ? S::STAGES : S::BUFFERS>(&at.buffer, &at.parity);
    at.k += BK;
}

template <typename S>
static __device__ __forceinline__ void multiply(const fused_t &problem, const maps_t<S> &maps,
                                                shared_t<S> &shared)
{
    unsigned a[2][STEP_WORDS], previous = 0;
    multiplier_t<S> at;
    at.item = first_item<S>();
    at.buffer = at.parity = at.count = 0;
    if constexpr (S::DIRECT)
        at.first = tilemm__fused_staged(row_of<S>(0), threadIdx.x % 4, false);
    else
        at.first = first_of_a<S>(problem, 0);
    if (S::DIRECT && at.item >= problem.count)
        return;
    begin_item(at, problem);
#pragma unroll 1
    do {
        if constexpr (S::UNALIGNED)
            at.first = first_of_a<S>(problem, at.place.matrix);
        wgmma_pin(at.total);
#pragma unroll 1
        for (;;) {
            start_step(at, shared, problem, a[0], previous);
            if (at.k >= at.place.end)
                break;
            start_step(at, shared, problem, a[1], previous);
            if (at.k >= at.place.end)
                break;
        }
        wgmma_wait<0>();
        wgmma_pin(at.total);
        leave_step(shared, previous);
    } while (end_item(at, shared, problem, maps));
    if (S::BULK && problem.store == TILEMM__SGEMM_STORE_BULK)
        tensor_wait_read(); /* before the shared memory goes */
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* What the converter does. */
template <typename S>
static __device__ __forceinline__ void bring(const fused_t &problem, const maps_t<S> &maps,
                                             shared_t<S> &shared)
{
    const unsigned warp = threadIdx.x % WARPGROUP / 32;
    if constexpr (S::DIRECT)
        bring_items(problem, maps, shared);
    else if (warp < S::CONVERTING)
        rewrite_tf32(problem, shared, warp);
    else if (threadIdx.x % 32 == 0)
        feed_items(problem, maps, shared);
}

#define KERNEL(name, m, n, a_k, b_k, transposed, cluster)                                          \
    typedef shape_t<m, n, a_k, b_k, transposed, (a_k) && (b_k) && (n) >= 64, TF32_KIND, cluster>   \
        name##_t;                                                                                  \
    FUSED_KERNEL_OF(name, feed, bring, multiply, add_up_splits)
TILEMM__SGEMM_TF32_ROWS(KERNEL)

#define UNALIGNED_KERNEL(name, m, n, a_k, b_k, transposed, bulk)                                   \
    typedef shape_t<m, n, a_k, b_k, transposed, bulk, TF32_KIND, 1, true> name##_t;                \
    FUSED_KERNEL_OF(name, feed, bring, multiply, add_up_splits)
TILEMM__SGEMM_TF32_UNALIGNED_ROWS(UNALIGNED_KERNEL)

extern "C" int tilemm__sgemm_tf32_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_TF32_ROWS(LAUNCH)
        TILEMM__SGEMM_TF32_UNALIGNED_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
