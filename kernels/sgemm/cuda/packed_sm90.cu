/* packed_sm90.cu - SGEMM by FP32 multiply-adds for batches of small matrices that lie one after the
 * other without gaps (packed.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Such a batch takes as long as its bytes, if these are moved well. A group of matrices is one run
 * of bytes of each operand, which the copy engine brings to shared memory as it is, whatever a
 * row's length; the next group is under way meanwhile. Sums go to shared memory, and to C as a run
 * of bytes, too.
 *
 * A thread has a square of C, and reads its rows and columns a number at a time. A sum is one chain
 * over all of k.
 *
 * Assumes: compute capability 9.0; what the host promises in tilemm__sgemm_packed_t. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mbarrier.cuh"
#include "kernels/cuda/tma.cuh"
#include "packed.h"

typedef tilemm__sgemm_packed_t problem_t;

enum { STAGES = TILEMM__SGEMM_PACKED_STAGES, SIDE = 4 };

/* A thread's matrix in its group, and its square's first row and column. */
typedef struct {
    int matrix, row, column;
} place_t;

/* Read a side's numbers of step `k`, from line `first` on, of an operand's matrix of `lines` lines,
 * `depth` long. */
template <bool ALONG_K>
static __device__ __forceinline__ void read_lines(const float *matrix, int lines, int depth, int k,
                                                  int first, float (&x)[SIDE])
{
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        x[i] = matrix[ALONG_K ? (first + i) * depth + k : k * lines + first + i];
}

/* The thread's sums. Lines that a matrix does not have are any that follow. */
template <bool A_K, bool B_K>
static __device__ __forceinline__ void multiply(const problem_t &problem, const place_t &place,
                                                const float *a, const float *b,
                                                float (&sum)[SIDE][SIDE])
{
    const int m = (int)problem.args.m, n = (int)problem.args.n, k = (int)problem.args.k;
    a += place.matrix * m * k;
    b += place.matrix * k * n;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++)
            sum[i][j] = 0.0f;
#pragma unroll 4
    for (int p = 0; p < k; p++) {
        float x[SIDE], y[SIDE];
        read_lines<A_K>(a, m, k, p, place.row, x);
        read_lines<B_K>(b, n, k, p, place.column, y);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++)
                sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
}

/* Leave alpha times the sums in a group of C, in shared memory or not. */
[[maybe_unused]] static __device__ __forceinline__ void
leave(const problem_t &problem, const place_t &place, const float (&sum)[SIDE][SIDE], float *group)
{
    const int m = (int)problem.args.m, n = (int)problem.args.n;
    float *const c = group + (place.matrix * m + place.row) * n + place.column;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++)
            if (place.row + i < m && place.column + j < n)
                c[i * n + j] = problem.args.alpha * (sum[i][j] + 0.0f); /* no -0 */
}

template <bool A_K, bool B_K>
static __device__ __forceinline__ void body(const problem_t &problem)
{
    extern __shared__ __align__(16) unsigned char memory[];
    uint64_t *const full = (uint64_t *)memory;
    const tilemm__sgemm_args_t &args = problem.args;
    const int words_a = (int)(args.m * args.k) * problem.together;
    const int words_b = (int)(args.k * args.n) * problem.together;
    const int words_c = (int)(args.m * args.n) * problem.together;
    float *const stages = (float *)(full + STAGES), *const c =
                                                        stages + STAGES * (words_a + words_b);
    const bool first = threadIdx.x == 0;
    const unsigned thread = threadIdx.x, matrix = divided(thread, problem.by_lanes);
    const unsigned lane = thread - matrix * (unsigned)(problem.lanes_m * problem.lanes_n);
    const unsigned lane_m = divided(lane, problem.by_lanes_n);
    const unsigned lane_n = lane - lane_m * (unsigned)problem.lanes_n;
    const place_t place = {(int)matrix, (int)lane_m * SIDE, (int)lane_n * SIDE};
    float sum[SIDE][SIDE];
    unsigned stage = 0, parity = 0;
    const auto ask_for = [&](uint64_t group, unsigned stage) {
        float *const to = stages + stage * (unsigned)(words_a + words_b);
        mbarrier_expect(&full[stage], (unsigned)(words_a + words_b) * 4);
        bulk_load(to, args.a + group * (unsigned)words_a, (unsigned)words_a * 4, &full[stage]);
        bulk_load(to + words_a, args.b + group * (unsigned)words_b, (unsigned)words_b * 4,
                  &full[stage]);
    };

    if (first) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&full[s], 1);
        mbarrier_fence_init();
    }
    __syncthreads();
    wait_for_previous();
    for (unsigned s = 0; s < STAGES && first; s++)
        if (blockIdx.x + (uint64_t)s * gridDim.x < problem.groups)
            ask_for(blockIdx.x + (uint64_t)s * gridDim.x, s);
#pragma unroll 1
    for (uint64_t group = blockIdx.x; group < problem.groups; group += gridDim.x) {
        const float *const a = stages + stage * (unsigned)(words_a + words_b);
        mbarrier_wait(&full[stage], parity);
        if (place.matrix < problem.together)
            multiply<A_K, B_K>(problem, place, a, a + words_a, sum);
        if (first)
            tensor_wait_read(); /* the group before is stored */
        __syncthreads();        /* the stage is read */
        if (first && group + (uint64_t)STAGES * gridDim.x < problem.groups)
            ask_for(group + (uint64_t)STAGES * gridDim.x, stage);
        if (place.matrix < problem.together)
            leave(problem, place, sum, c);
        fence_for_async();
        __syncthreads();
        if (first)
            bulk_store(args.c + group * (unsigned)words_c, c, (unsigned)words_c * 4);
        advance<STAGES>(&stage, &parity);
    }
    const int left = (int)(args.batch_count - (int64_t)problem.groups * problem.together);
    if (left > 0 && problem.groups % gridDim.x == blockIdx.x) {
#pragma unroll 8
        for (int i = (int)thread; i < words_a / problem.together * left; i += (int)blockDim.x)
            stages[i] = args.a[(uint64_t)problem.groups * (unsigned)words_a + (unsigned)i];
#pragma unroll 8
        for (int i = (int)thread; i < words_b / problem.together * left; i += (int)blockDim.x)
            stages[words_a + i] =
                args.b[(uint64_t)problem.groups * (unsigned)words_b + (unsigned)i];
        __syncthreads();
        if (place.matrix < left) {
            multiply<A_K, B_K>(problem, place, stages, stages + words_a, sum);
            leave(problem, place, sum, args.c + (uint64_t)problem.groups * (unsigned)words_c);
        }
    }
    if (first)
        tensor_wait_read(); /* before the shared memory goes */
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, side, threads)                                              \
    static_assert(side == SIDE, "what the kernel is written for");                                 \
    KERNEL_OF(name, (threads), (const __grid_constant__ problem_t problem),                        \
              body<!(trans_a), (trans_b) != 0>(problem))
TILEMM__SGEMM_PACKED_ROWS(KERNEL)

#define VARIANT(name, ...) name,
static void (*const variants[])(problem_t) = {TILEMM__SGEMM_PACKED_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_packed_launch(const problem_t *problem, void *stream)
{
    return launch_kernel(variants[problem->variant - TILEMM__sgemm_packed_sm90_4x4_nn],
                         {problem->blocks, problem->threads, problem->shared, 1, true},
                         (cudaStream_t)stream, *problem);
}
