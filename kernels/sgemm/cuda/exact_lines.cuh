/* exact_lines.cuh - the exact lines of a product of planes (planes.h), by FP32 multiply-adds. For
 * exact_lines.cu and rest_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact lines are rows of op(A) in the first pass and columns of op(B) in the second, which works
 * on the transposed problem. A team of blocks takes GROUP lines. Each block gathers the exact ones
 * among them, and the team divides the tiles: gathered lines (Ms, read by broadcast) by lines of
 * the other operand (Ns, read with stride one). The next k-step comes through registers meanwhile.
 * Tiles are narrow, so that many blocks share the usual few exact lines; for more than MANY lines
 * they are large, and a thread has 8 x 8 elements.
 *
 * Accuracy: chains of CHAIN multiply-adds, whose sums are added with compensation: the next chain
 * starts with what the addition lost. So the error does not grow with k beyond that of a chain.
 *
 * Assumes compute capability 7.5, and lines judged by tilemm__sgemm_judge_lines_launch(). */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_EXACT_LINES_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_EXACT_LINES_CUH

#include <cuda_runtime.h>

#include "planes.h"
#include "tile.cuh"

namespace exact_lines
{

enum {
    GROUP = TILEMM__SGEMM_EXACT_GROUP,
    THREADS = 256,
    WARPS = THREADS / 32,
    CHAIN = 64,
    MANY = 48
};
static_assert(THREADS * 32 == GROUP, "a thread for each 32 lines of a group");

/* The exact lines of a group. */
struct gathered_t {
    unsigned short exact[GROUP]; /* their numbers in the group, ascending */
    unsigned votes[GROUP / 32];
    int counts[WARPS];
};

typedef tilemm__sgemm_exact_operand_t operand_t;
typedef tilemm__sgemm_exact_pass_t pass_t;

/* A tile of LINES gathered lines by OTHERS. A thread has M x N of it: M neighbouring lines, and N
 * others in groups of QUAD neighbours, which lanes read with stride one. */
template <int LINES_, int OTHERS_, int BK_, int M_, int N_>
struct tile_t {
    static const int LINES = LINES_, OTHERS = OTHERS_, BK = BK_, M = M_, N = N_;
    static const int QUAD = N < 4 ? N : 4, QUADS = N / QUAD;
    /* The distance of a thread's other number j from its first. */
    static __device__ constexpr int other(int j)
    {
        return j / QUAD * (OTHERS / QUADS) + j % QUAD;
    }
    static const int PART_MS = LINES * BK / THREADS, PART_NS = OTHERS * BK / THREADS;
    __align__(16) float ms[2][BK * tilemm__exact_pitch(LINES)];
    __align__(16) float ns[2][BK * tilemm__exact_pitch(OTHERS)];
    static_assert(LINES * OTHERS == THREADS * M * N, "a thread for each M x N");
    static_assert(CHAIN % BK == 0, "a chain is whole steps");
};
typedef tile_t<16, 32, 64, 1, 2> few_t;
typedef tile_t<128, 128, 8, 8, 8> many_t;

/* Whether a line is exact. Reads even past the last line, without a branch, so that many reads are
 * under way at a time. */
static __device__ __forceinline__ bool
is_exact(const operand_t &of, const tilemm__sgemm_density_t &other, int64_t matrix, int64_t line)
{
    const unsigned cases = of.exact[matrix * of.exact_stride + min(line, of.count - 1)];
    return line < of.count & (cases >> tilemm__sgemm_route_case(other) & 1);
}

/* Whether a line's group is hard: other kernels compute all of its tiles. */
static __device__ __forceinline__ bool
is_hard(const operand_t &of, const tilemm__sgemm_density_t &other, int64_t matrix, int64_t line)
{
    return tilemm__sgemm_is_hard(
        of.groups[matrix * of.groups_stride + min(line, of.count - 1) / TILEMM__SGEMM_ROUTE_LINES],
        tilemm__sgemm_route_case(other));
}

/* Gather the numbers of a group's exact lines in ascending order. Returns their count. */
static __device__ __forceinline__ int gather(const pass_t &p, int64_t matrix, int64_t line0,
                                             gathered_t &gathered)
{
    const int AT_ONCE = 8;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const tilemm__sgemm_density_t other = *p.others.density;
    const int words = (int)min((int64_t)GROUP / 32, (p.lines.count - line0 + 31) / 32);
    int before = 0, all = 0;
    gathered.votes[threadIdx.x] = 0;
    __syncthreads();
    for (int first = warp; first < words; first += AT_ONCE * WARPS) {
        bool mine[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            mine[i] = is_exact(p.lines, other, matrix, line0 + (first + i * WARPS) * 32 + lane) &
                      !is_hard(p.lines, other, matrix, line0 + (first + i * WARPS) * 32 + lane);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const unsigned vote = __ballot_sync(~0u, mine[i]);
            if (lane == 0 && first + i * WARPS < words)
                gathered.votes[first + i * WARPS] = vote;
        }
    }
    __syncthreads();

    unsigned mine = gathered.votes[threadIdx.x];
    int sum = __popc(mine);

#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const int other = __shfl_up_sync(~0u, sum, apart);
        if (lane >= apart)
            sum += other;
    }
    if (lane == 31)
        gathered.counts[warp] = sum;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? gathered.counts[w] : 0;
        all += gathered.counts[w];
    }
    before += sum - __popc(mine);
    for (; mine; mine &= mine - 1)
        gathered.exact[before++] = (unsigned short)(threadIdx.x * 32 + __ffs((int)mine) - 1);
    __syncthreads();
    return all;
}

/* Line and k, within a step of a tile, of element i of this thread. Lanes lie along k where memory
 * does, else along the lines. */
template <int WIDTH, int BK>
static __device__ __forceinline__ void place_of(int i, int64_t k_step, int *line, int *k)
{
    const int at = threadIdx.x + i * THREADS;
    *line = k_step == 1 ? at / BK : at % WIDTH;
    *k = k_step == 1 ? at % BK : at / WIDTH;
}

/* Load this thread's part of the step that begins at k0: zeros past the end of k, any number past
 * the last line. line_of(i) is the number of the tile's line i. */
template <int WIDTH, int BK, typename line_of_t>
static __device__ __forceinline__ void fetch(float (&x)[WIDTH * BK / THREADS], const operand_t &of,
                                             const float *from, int64_t k0, int64_t end,
                                             const line_of_t &line_of)
{
#pragma unroll
    for (int i = 0; i < WIDTH * BK / THREADS; i++) {
        int line, k;
        place_of<WIDTH, BK>(i, of.k_step, &line, &k);
        asm volatile("" : "+r"(line)); /* no registers for the lines of all steps */
        x[i] = __ldg(from + line_of(line) * of.line_step + min(k0 + k, end - 1) * of.k_step);
        x[i] = k0 + k < end ? x[i] : 0.0f;
    }
}

template <int WIDTH, int BK>
static __device__ __forceinline__ void put(float (&to)[BK * tilemm__exact_pitch(WIDTH)],
                                           const float (&x)[WIDTH * BK / THREADS], int64_t k_step)
{
#pragma unroll
    for (int i = 0; i < WIDTH * BK / THREADS; i++) {
        int line, k;
        place_of<WIDTH, BK>(i, k_step, &line, &k);
        to[tilemm__exact_index(k, line, WIDTH)] = x[i];
    }
}

/* Store a tile: the gathered lines from number `first` of `count` on, by others from other0 on. */
template <typename T, typename line_of_t>
static __device__ __forceinline__ void store(const float (&total)[T::M][T::N], const pass_t &p,
                                             int64_t matrix, int count, int first, int64_t other0,
                                             int my_line, int my_other, const line_of_t &line_of)
{
    float *const c = p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c;
#pragma unroll
    for (int j = 0; j < T::N; j++) {
        const int64_t other = other0 + my_other + T::other(j);
        if (other >= p.others.count ||
            (p.skip_others && is_exact(p.others, *p.lines.density, matrix, other)))
            continue;
#pragma unroll
        for (int i = 0; i < T::M; i++) {
            float *const to = c + line_of(my_line + i) * p.line_step_c + other * p.other_step_c;
            const float v = p.alpha * total[i][j];

            if (first + my_line + i < count)
                *to = p.beta != 0.0f ? fmaf(p.beta, *to, v) : v;
        }
    }
}

/* Compute and store a tile. */
template <typename T>
static __device__ __forceinline__ void multiply(T &tile, const pass_t &p, int64_t matrix,
                                                int64_t line0, const unsigned short *exact,
                                                int count, int first, int64_t other0)
{
    const int my_line = threadIdx.x / (T::OTHERS / T::N) * T::M;
    const int my_other = threadIdx.x % (T::OTHERS / T::N) * T::QUAD;
    const float *const x =
        p.lines.array ? p.lines.array[matrix] : p.lines.from + matrix * p.lines.stride;
    const float *const y =
        p.others.array ? p.others.array[matrix] : p.others.from + matrix * p.others.stride;
    const auto line_of = [&](int line) { return line0 + exact[min(first + line, count - 1)]; };
    const auto other_of = [&](int other) { return min(other0 + other, p.others.count - 1); };
    float sum[T::M][T::N] = {}, total[T::M][T::N] = {};
    float next_ms[T::PART_MS], next_ns[T::PART_NS];
    fetch<T::LINES, T::BK>(next_ms, p.lines, x, 0, p.k, line_of);
    fetch<T::OTHERS, T::BK>(next_ns, p.others, y, 0, p.k, other_of);
    __syncthreads(); /* the tile before is no longer read */
    put<T::LINES, T::BK>(tile.ms[0], next_ms, p.lines.k_step);
    put<T::OTHERS, T::BK>(tile.ns[0], next_ns, p.others.k_step);
    __syncthreads();
    for (int64_t k0 = 0; k0 < p.k; k0 += T::BK) {
        const int now = (int)(k0 / T::BK % 2);
        fetch<T::LINES, T::BK>(next_ms, p.lines, x, k0 + T::BK, p.k, line_of);
        fetch<T::OTHERS, T::BK>(next_ns, p.others, y, k0 + T::BK, p.k, other_of);
#pragma unroll 8
        for (int k = 0; k < T::BK; k++) {
            float a[T::M], b[T::N];
#pragma unroll
            for (int i = 0; i < T::M; i++)
                a[i] = tile.ms[now][tilemm__exact_index(k, my_line + i, T::LINES)];
#pragma unroll
            for (int j = 0; j < T::N; j++)
                b[j] = tile.ns[now][tilemm__exact_index(k, my_other + T::other(j), T::OTHERS)];
#pragma unroll
            for (int i = 0; i < T::M; i++)
#pragma unroll
                for (int j = 0; j < T::N; j++)
                    sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
        put<T::LINES, T::BK>(tile.ms[now ^ 1], next_ms, p.lines.k_step);
        put<T::OTHERS, T::BK>(tile.ns[now ^ 1], next_ns, p.others.k_step);
        if ((k0 + T::BK) % CHAIN == 0 || k0 + T::BK >= p.k)
            end_chain(total, sum);
        __syncthreads();
    }

    store<T>(total, p, matrix, count, first, other0, my_line, my_other, line_of);
}

/* Compute the tiles of a group that are this block's. */
template <typename T>
static __device__ __forceinline__ void multiply_group(T &tile, const pass_t &p, int64_t matrix,
                                                      int64_t line0, const unsigned short *exact,
                                                      int count, int member, int members)
{
    const int64_t tiles = (p.others.count + T::OTHERS - 1) / T::OTHERS;
    const int64_t parts = (count + T::LINES - 1) / T::LINES;
    for (int64_t item = member; item < parts * tiles; item += members) {
        const int64_t other0 = item % tiles * T::OTHERS;
        const int64_t other = other0 + threadIdx.x % T::OTHERS;
        static_assert(TILEMM__SGEMM_ROUTE_LINES % T::OTHERS == 0, "a tile is of one group");
        if (is_hard(p.others, *p.lines.density, matrix, other0))
            continue;
        /* Skip tiles that the first pass has done completely. */
        if (p.skip_others && __syncthreads_and(other >= p.others.count ||
                                               is_exact(p.others, *p.lines.density, matrix, other)))
            continue;
        multiply(tile, p, matrix, line0, exact, count, (int)(item / tiles) * T::LINES, other0);
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Shared memory. */
struct shared_t {
    union {
        few_t few;
        many_t many;
    } tile;
    gathered_t gathered;
};

/* Compute the exact lines, by the first THREADS threads of the grid's blocks. */
static __device__ __forceinline__ void compute(const tilemm__sgemm_exact_lines_t &problem,
                                               shared_t &shared)
{
    const int per_team = gridDim.x / problem.teams;
    const int team = blockIdx.x / per_team, member = blockIdx.x - team * per_team;
#pragma unroll 1
    for (int number = 0; number < 2; number++) {
        const pass_t &p = problem.pass[number];
        const int64_t groups = (p.lines.count + GROUP - 1) / GROUP;
        for (int64_t group = team; group < p.batch_count * groups; group += problem.teams) {
            const int64_t matrix = group / groups, line0 = (group - matrix * groups) * GROUP;
            const int count = gather(p, matrix, line0, shared.gathered);
            if (count > MANY)
                multiply_group(shared.tile.many, p, matrix, line0, shared.gathered.exact, count,
                               member, per_team);
            else
                multiply_group(shared.tile.few, p, matrix, line0, shared.gathered.exact, count,
                               member, per_team);
            __syncthreads(); /* `exact` is no longer read */
        }
    }
}

} /* namespace exact_lines */

#endif
