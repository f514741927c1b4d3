/* tf32_sm90.cu - SGEMM in TF32 in one launch on the tensor cores of compute capability 9.0, as
 * fused_sm90.cu: the copy engine rounds numbers to TF32 (to nearest even) as it brings them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The tensor cores take TF32 operands from shared memory only along k. Where op(B) runs along k
 * they read it as it comes (tf32_direct_sm90.cuh). Else, as in this file, the converter writes it
 * again, along k, and op(A) comes from registers.
 *
 * The warps of the converter take turns in asking for the steps of op(B), those of the multipliers
 * in asking for op(A)'s: to ask takes a good part of a step's time. Whoever asks must not wait for
 * another role, nor for the slowest of its own: there is a step's room to spare.
 *
 * Multipliers: the tensor cores go on with one half of a step while the other half of op(A) is
 * read. Their sum is over all of an item's k.
 *
 * Layout: fused_sm90.cu. Epilogue and tile scheduler: fused_multiply_sm90.cuh.
 *
 * Assumes compute capability 9.0 (sm_90a). */
#include <cuda_runtime.h>

#include "fused_kernel_sm90.cuh"
#include "tf32_direct_sm90.cuh"

/* ---- feed ------------------------------------------------------------------------------------ */

/* Go to the feed's next item. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void feed_item(feed_t &feed, const fused_t &problem)
{
    set_place<S, IS_A>(feed, locate<S>(problem, feed.item));
    feed.item += gridDim.x;
}

/* Move a warp's feed on by `steps` steps, into the items that follow. Past the last one, k is not
 * below end. */
template <typename S, bool IS_A>
static __device__ __forceinline__ void move_feed(feed_t &feed, int steps, const fused_t &problem)
{
    feed.count += steps;
    feed.k += steps * BK;
    while (feed.k >= feed.end && feed.item < problem.count) {
        const int beyond = (feed.k - feed.end) / BK * BK;
        feed_item<S, IS_A>(feed, problem);
        feed.k += beyond;
    }
}

/* A warp's part of the feed of an operand: every WARPS-th step. */
template <typename S, bool IS_A, int WARPS>
struct turns_t {
    static const unsigned AHEAD = S::STAGES - 2; /* steps */
    typedef queue_t<IS_A ? S::BM : S::LINES_B, S::STAGES> operand_t;
    feed_t feed;
    unsigned warp;
    static_assert(AHEAD <= WARPS, "a warp asks for one step at first");

    __device__ __forceinline__ turns_t(operand_t &queue, const fused_t &problem, const maps_t &maps,
                                       unsigned warp)
        : feed{blockIdx.x, 0, 0, 0, 0, 0}, warp(warp)
    {
        feed_item<S, IS_A>(feed, problem);
        move_feed<S, IS_A>(feed, warp, problem);
        if (warp < AHEAD)
            ask(queue, problem, maps);
    }

    /* Ask for a step, if there is one, and go to the warp's next. */
    __device__ __forceinline__ void ask(operand_t &queue, const fused_t &problem,
                                        const maps_t &maps)
    {
        if (threadIdx.x % 32 == 0 && feed.k < feed.end) {
            ask_for<S, IS_A>(feed, queue, problem, maps);
            move_feed<S, IS_A>(feed, WARPS, problem);
        }
        __syncwarp();
    }

    /* The same, while step `count` is worked on, if it is the warp's turn. */
    __device__ __forceinline__ void ask_ahead(operand_t &queue, unsigned count,
                                              const fused_t &problem, const maps_t &maps)
    {
        if ((count + AHEAD) % WARPS == warp)
            ask(queue, problem, maps);
    }
};

/* ---- converter ------------------------------------------------------------------------------- */

/* Write a warp's 8 * LINES lines of a stage, from line0 on, along k. */
template <typename S>
static __device__ __forceinline__ void write_lines(const float *stage, unsigned first,
                                                   unsigned line0, unsigned (&plane)[S::PLANE])
{
    const unsigned lane = threadIdx.x % 32;
    float x[2][S::LINES][OCTET / 2];
    if (line0 >= S::BN)
        return;
    take<S::LINES, S::B_K>(stage, first, 0, x[0]);
    take<S::LINES, S::B_K>(stage, first, 1, x[1]);
#pragma unroll
    for (int j = 0; j < S::LINES; j++)
#pragma unroll
        for (int i = 0; i < OCTET; i++) {
            const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_K);
            plane[tilemm__fused_word(line, lane % 4, i, S::WORDS)] =
                __float_as_uint(x[i / (OCTET / 2)][j][i % (OCTET / 2)]);
        }
}

template <typename S>
static __device__ __forceinline__ void rewrite_tf32(const fused_t &problem, const maps_t &maps,
                                                    shared_t<S> &shared)
{
    const unsigned warp = threadIdx.x % WARPGROUP / 32, lane = threadIdx.x % 32;
    const unsigned line0 = warp * 8 * S::LINES, first = first_of<S::LINES, S::B_K>(line0);
    turns_t<S, false, WARPGROUP / 32> turns(shared.b, problem, maps, warp);
    unsigned buffer = 0, parity = 1, count = 0;
    for (unsigned item = blockIdx.x; item < problem.count; item += gridDim.x) {
        const place_t place = locate<S>(problem, item);
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK, count++) {
            const unsigned stage = count % S::STAGES;
            turns.ask_ahead(shared.b, count, problem, maps);
            mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
            mbarrier_wait(&shared.empty[buffer], parity);
#pragma unroll
            for (int pass = 0; pass < S::BN; pass += 32 * S::LINES)
                write_lines<S>(shared.b.at[stage] + pass * BK, first, line0 + pass,
                               shared.planes[buffer][0]);
            __syncwarp(); /* all have read */
            if (lane == 0)
                mbarrier_arrive(&shared.b.empty[stage]);
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            advance<S::BUFFERS>(&buffer, &parity);
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

enum { HALF_WORDS = ROWS * OCTET / 2 };

/* Read half of a step of op(A). */
template <typename S>
static __device__ __forceinline__ void read_half(const float *stage, unsigned first, int half,
                                                 unsigned (&a)[HALF_WORDS])
{
    float x[ROWS][OCTET / 2];
    take<ROWS, S::A_K>(stage, first, half, x);
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i++)
        a[i] = __float_as_uint(x[i % 2][i / 2]);
}

/* Start total += the products of half a step. */
template <typename S>
static __device__ __forceinline__ void multiply_half(float (&total)[S::ACCUMULATORS],
                                                     const unsigned (&a)[HALF_WORDS],
                                                     const unsigned *b, int half)
{
    const uint64_t b0 = wgmma_operand_cores(b, CORE_BYTES, TILEMM__SGEMM_FUSED_PITCH(S::WORDS) * 4);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i += FRAGMENT)
        wgmma_tf32(total, a + i,
                   wgmma_operand_at(b0, (half * S::WORDS / 2 + i / FRAGMENT * 2) * CORE_BYTES), 1);
    wgmma_commit();
}

/* Wait for op(B)'s step and for op(A)'s; read and start its first
 * half. */
template <typename S>
static __device__ __forceinline__ void start_step(multiplier_t<S> &at, shared_t<S> &shared,
                                                  unsigned (&a)[HALF_WORDS])
{
    const unsigned stage = at.count % S::STAGES;
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
    read_half<S>(shared.a.at[stage], at.first, 0, a);
    mbarrier_wait(&shared.full[at.buffer], at.parity);
    multiply_half<S>(at.total, a, shared.planes[at.buffer][0], 0);
}

/* Read and start a step's second half. */
template <typename S>
static __device__ __forceinline__ void finish_step(multiplier_t<S> &at, shared_t<S> &shared,
                                                   unsigned (&a)[HALF_WORDS])
{
    const unsigned stage = at.count % S::STAGES;
    read_half<S>(shared.a.at[stage], at.first, 1, a);
    multiply_half<S>(at.total, a, shared.planes[at.buffer][0], 1);
    __syncwarp(); /* all have read */
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.a.empty[stage]);
    at.count++;
}

template <typename S>
static __device__ __forceinline__ void multiply_rewritten(const fused_t &problem,
                                                          const maps_t &maps, shared_t<S> &shared)
{
    unsigned a[2][HALF_WORDS];
    turns_t<S, true, S::MULTIPLIERS * WARPGROUP / 32> turns(shared.a, problem, maps,
                                                            threadIdx.x / 32);
    multiplier_t<S> at;
    at.item = blockIdx.x;
    at.buffer = at.parity = 0;
    at.count = 0;
    at.first = first_of<ROWS, S::A_K>(threadIdx.x / 32 * 16);
    begin_item(at, problem);
#pragma unroll 1
    do {
        wgmma_pin(at.total);
        start_step(at, shared, a[0]);
        turns.ask_ahead(shared.a, at.count, problem, maps);
        for (at.k += BK;; at.k += BK) {
            const unsigned buffer = at.buffer;
            finish_step(at, shared, a[1]);
            if (at.k >= at.place.end)
                break;
            advance<S::BUFFERS>(&at.buffer, &at.parity);
            wgmma_wait<1>();
            start_step(at, shared, a[0]);
            turns.ask_ahead(shared.a, at.count, problem, maps);
            wgmma_wait<1>();
            if (threadIdx.x % 32 == 0)
                mbarrier_arrive(&shared.empty[buffer]);
        }
        wgmma_wait<0>();
        wgmma_pin(at.total);
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&shared.empty[at.buffer]);
        advance<S::BUFFERS>(&at.buffer, &at.parity);
    } while (end_item(at, shared, problem, maps));
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* What the first and the other warpgroups do. */
template <typename S>
static __device__ __forceinline__ void feed(const fused_t &problem, const maps_t &maps,
                                            shared_t<S> &shared)
{
    if constexpr (S::DIRECT)
        bring_items(problem, maps, shared);
    else
        rewrite_tf32(problem, maps, shared);
}

template <typename S>
static __device__ __forceinline__ void multiply(const fused_t &problem, const maps_t &maps,
                                                shared_t<S> &shared)
{
    if constexpr (S::DIRECT)
        multiply_direct(problem, maps, shared);
    else
        multiply_rewritten(problem, maps, shared);
}

#define KERNEL(name, m, n, a_k, b_k, transposed, cluster)                                          \
    typedef shape_t<m, n, a_k, b_k, transposed, (a_k) && (b_k) && (n) >= 64, TF32_KIND, cluster>   \
        name##_t;                                                                                  \
    FUSED_KERNEL_OF(name, feed, multiply, add_up_splits)
TILEMM__SGEMM_TF32_ROWS(KERNEL)

extern "C" int tilemm__sgemm_tf32_launch(const fused_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_TF32_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
