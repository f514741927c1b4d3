/* left.cu - the lines that the split product leaves alone (sgemm_split.h), in FP32.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines are rows of op(A), or columns of op(B): then the problem is turned over. No list of them
 * exists. A team of blocks looks at a group of GROUP lines, each block gathers those that were
 * left, and they share the work: gathered lines by lines of the other operand, through shared tiles
 * Ms (gathered lines, read by broadcast) and Ns (read with stride one), while the next k-step comes
 * through registers. Few lines are the usual case: for these tiles are narrow, so that many blocks
 * share one line. Where many were left, up to all, a tile is large, and a thread has 8 x 8 of it.
 *
 * CHAIN of k are summed apart, and these sums added up; what an addition loses is where the next
 * sum begins. So the error does not grow with k beyond a chain's.
 *
 * Assumes: compute capability 7.5 or more; states that tilemm__sgemm_split_launch has made. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "split.h"

enum { GROUP = 8192, THREADS = 256, BLOCKS = 1, CHAIN = 64, MANY = 48 };
static_assert(THREADS * 32 == GROUP, "a thread for each 32 lines of a group");

/* A tile of LINES gathered lines by OTHERS, of which a thread has M x N: M lines that follow each
 * other, and N others by quads, which are read with stride one. */
template <int LINES_, int OTHERS_, int BK_, int M_, int N_>
struct tile_t {
    static const int LINES = LINES_, OTHERS = OTHERS_, BK = BK_, M = M_, N = N_;
    static const int QUAD = N < 4 ? N : 4, QUADS = N / QUAD;
    /* Where number j of a thread's others lies, from its first. */
    static __device__ constexpr int other(int j)
    {
        return j / QUAD * (OTHERS / QUADS) + j % QUAD;
    }
    static const int PART_MS = LINES * BK / THREADS, PART_NS = OTHERS * BK / THREADS;
    __align__(16) float ms[2][BK * tilemm__left_pitch(LINES)];
    __align__(16) float ns[2][BK * tilemm__left_pitch(OTHERS)];
    static_assert(LINES * OTHERS == THREADS * M * N, "a thread for each M x N");
    static_assert(CHAIN % BK == 0, "a chain is whole steps");
};
typedef tile_t<16, 32, 64, 1, 2> few_t;
typedef tile_t<128, 128, 8, 8, 8> many_t;

/* Element (line, p) of an operand is from[line * line_step + p * k_step]: one of the steps is 1. */
typedef struct {
    const float *from;
    const float *const *array;
    int64_t stride, count, line_step, k_step;
    const tilemm__split_state_t *states;
    int64_t states_stride;
    const unsigned *sparse; /* of this operand */
} operand_t;

typedef struct {
    operand_t lines, others;
    int64_t k, batch_count;
    int one_plane;   /* of the product */
    int skip_others; /* elements whose other line was left too are not for this pass */
    float alpha, beta;
    float *c;
    float *const *c_array;
    int64_t stride_c, line_step_c, other_step_c;
} problem_t;

/* What is left of rows, then what is left of columns. */
typedef struct {
    problem_t pass[2];
    const unsigned *left; /* zero if nothing is */
    int teams;            /* of blocks */
} passes_t;

/* Reads in any case, so that many of them are under way at a time. */
static __device__ __forceinline__ bool is_left(const operand_t &of, unsigned other_sparse,
                                               int64_t matrix, int64_t line, int one_plane)
{
    const tilemm__split_state_t state =
        of.states[matrix * of.states_stride + min(line, of.count - 1)];

    return line < of.count & tilemm__split_is_left(state, other_sparse, one_plane);
}

/* Gather the numbers of a group's lines that were left, in order, so that all blocks of a team have
 * the same. Returns how many. */
static __device__ __forceinline__ int gather(const problem_t &p, int64_t matrix, int64_t line0,
                                             unsigned short *left)
{
    const int WARPS = THREADS / 32, AT_ONCE = 8;
    __shared__ unsigned votes[GROUP / 32];
    __shared__ int counts[WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned other_sparse = *p.others.sparse;
    const int words = (int)min((int64_t)GROUP / 32, (p.lines.count - line0 + 31) / 32);
    int before = 0, all = 0;

    votes[threadIdx.x] = 0;
    __syncthreads();
    for (int first = warp; first < words; first += AT_ONCE * WARPS) {
        bool mine[AT_ONCE];

#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            mine[i] = is_left(p.lines, other_sparse, matrix,
                              line0 + (first + i * WARPS) * 32 + lane, p.one_plane);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const unsigned vote = __ballot_sync(~0u, mine[i]);

            if (lane == 0 && first + i * WARPS < words)
                votes[first + i * WARPS] = vote;
        }
    }
    __syncthreads();

    unsigned mine = votes[threadIdx.x];
    int sum = __popc(mine);

#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const int other = __shfl_up_sync(~0u, sum, apart);

        if (lane >= apart)
            sum += other;
    }
    if (lane == 31)
        counts[warp] = sum;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? counts[w] : 0;
        all += counts[w];
    }
    before += sum - __popc(mine);
    for (; mine; mine &= mine - 1)
        left[before++] = (unsigned short)(threadIdx.x * 32 + __ffs((int)mine) - 1);
    __syncthreads();
    return all;
}

/* Where number i of this thread's lies in a step of a tile: lanes lie along k where memory does, or
 * else along the lines. */
template <int WIDTH, int BK>
static __device__ __forceinline__ void place_of(int i, int64_t k_step, int *line, int *k)
{
    const int at = threadIdx.x + i * THREADS;

    *line = k_step == 1 ? at / BK : at % WIDTH;
    *k = k_step == 1 ? at % BK : at / WIDTH;
}

/* This thread's part of a step that begins at k0: past the end of k zeros, past the last line
 * anything. `line_of` tells a line's number. */
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
static __device__ __forceinline__ void put(float (&to)[BK * tilemm__left_pitch(WIDTH)],
                                           const float (&x)[WIDTH * BK / THREADS], int64_t k_step)
{
#pragma unroll
    for (int i = 0; i < WIDTH * BK / THREADS; i++) {
        int line, k;

        place_of<WIDTH, BK>(i, k_step, &line, &k);
        to[tilemm__left_index(k, line, WIDTH)] = x[i];
    }
}

/* One tile: the gathered lines from number `first` on, by the others from other0 on. */
template <typename T>
static __device__ __forceinline__ void multiply(T &tile, const problem_t &p, int64_t matrix,
                                                int64_t line0, const unsigned short *left,
                                                int count, int first, int64_t other0)
{
    const int my_line = threadIdx.x / (T::OTHERS / T::N) * T::M;
    const int my_other = threadIdx.x % (T::OTHERS / T::N) * T::QUAD;
    const float *const x =
        p.lines.array ? p.lines.array[matrix] : p.lines.from + matrix * p.lines.stride;
    const float *const y =
        p.others.array ? p.others.array[matrix] : p.others.from + matrix * p.others.stride;
    const auto line_of = [&](int line) { return line0 + left[min(first + line, count - 1)]; };
    const auto other_of = [&](int other) { return min(other0 + other, p.others.count - 1); };
    float sum[T::M][T::N] = {}, total[T::M][T::N] = {};
    float next_ms[T::PART_MS], next_ns[T::PART_NS];

    fetch<T::LINES, T::BK>(next_ms, p.lines, x, 0, p.k, line_of);
    fetch<T::OTHERS, T::BK>(next_ns, p.others, y, 0, p.k, other_of);
    __syncthreads(); /* the last tile is no longer read */
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
                a[i] = tile.ms[now][tilemm__left_index(k, my_line + i, T::LINES)];
#pragma unroll
            for (int j = 0; j < T::N; j++)
                b[j] = tile.ns[now][tilemm__left_index(k, my_other + T::other(j), T::OTHERS)];
#pragma unroll
            for (int i = 0; i < T::M; i++)
#pragma unroll
                for (int j = 0; j < T::N; j++)
                    sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
        put<T::LINES, T::BK>(tile.ms[now ^ 1], next_ms, p.lines.k_step);
        put<T::OTHERS, T::BK>(tile.ns[now ^ 1], next_ns, p.others.k_step);
        if ((k0 + T::BK) % CHAIN == 0 || k0 + T::BK >= p.k)
#pragma unroll
            for (int i = 0; i < T::M; i++)
#pragma unroll
                for (int j = 0; j < T::N; j++) {
                    const float next = total[i][j] + sum[i][j], added = next - total[i][j];
                    const float lost = (total[i][j] - (next - added)) + (sum[i][j] - added);

                    total[i][j] = next;
                    sum[i][j] = isfinite(lost) ? lost : 0.0f; /* not with Inf or NaN */
                }
        __syncthreads();
    }

    float *const c = p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c;

#pragma unroll
    for (int j = 0; j < T::N; j++) {
        const int64_t other = other0 + my_other + T::other(j);

        if (other >= p.others.count ||
            (p.skip_others && is_left(p.others, *p.lines.sparse, matrix, other, p.one_plane)))
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

/* The tiles of a group's lines that are this block's. */
template <typename T>
static __device__ __forceinline__ void multiply_group(T &tile, const problem_t &p, int64_t matrix,
                                                      int64_t line0, const unsigned short *left,
                                                      int count, int member, int members)
{
    const int64_t tiles = (p.others.count + T::OTHERS - 1) / T::OTHERS;
    const int64_t parts = (count + T::LINES - 1) / T::LINES;

    for (int64_t item = member; item < parts * tiles; item += members) {
        const int64_t other0 = item % tiles * T::OTHERS;
        const int64_t other = other0 + threadIdx.x % T::OTHERS;

        /* Nothing to do where the other pass has done it all. */
        if (p.skip_others &&
            __syncthreads_and(other >= p.others.count ||
                              is_left(p.others, *p.lines.sparse, matrix, other, p.one_plane)))
            continue;
        multiply(tile, p, matrix, line0, left, count, (int)(item / tiles) * T::LINES, other0);
    }
}

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    sgemm_left(const __grid_constant__ passes_t passes)
{
    __shared__ union {
        few_t few;
        many_t many;
    } tile;
    __shared__ unsigned short left[GROUP];
    const int per_team = gridDim.x / passes.teams;
    const int team = blockIdx.x / per_team, member = blockIdx.x - team * per_team;

    wait_for_previous();
    if (*passes.left == 0)
        return;
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        const problem_t &p = passes.pass[pass];
        const int64_t groups = (p.lines.count + GROUP - 1) / GROUP;

        for (int64_t group = team; group < p.batch_count * groups; group += passes.teams) {
            const int64_t matrix = group / groups, line0 = (group - matrix * groups) * GROUP;
            const int count = gather(p, matrix, line0, left);

            if (count > MANY)
                multiply_group(tile.many, p, matrix, line0, left, count, member, per_team);
            else
                multiply_group(tile.few, p, matrix, line0, left, count, member, per_team);
            __syncthreads(); /* `left` is no longer read */
        }
    }
}

static operand_t describe(const float *from, const float *const *array, int64_t stride, int64_t ld,
                          int k_major, const tilemm__split_operand_t *planes)
{
    operand_t op;

    op.from = from;
    op.array = array;
    op.stride = stride;
    op.count = planes->mn;
    op.line_step = k_major ? ld : 1;
    op.k_step = k_major ? 1 : ld;
    op.states = planes->states;
    op.states_stride =
        (planes->mn + TILEMM__SPLIT_ALIGN_MN - 1) / TILEMM__SPLIT_ALIGN_MN * TILEMM__SPLIT_ALIGN_MN;
    op.sparse = planes->sparse;
    return op;
}

extern "C" int tilemm__sgemm_left_launch(const tilemm__sgemm_args_t *args,
                                         const tilemm__split_operand_t *a,
                                         const tilemm__split_operand_t *b, int one_plane,
                                         const unsigned *left, void *stream)
{
    const operand_t op_a =
        describe(args->a, args->a_array, args->stride_a, args->lda, !args->trans_a, a);
    const operand_t op_b =
        describe(args->b, args->b_array, args->stride_b, args->ldb, args->trans_b, b);
    passes_t passes;
    int device = 0, sms = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    for (int turned = 0; turned < 2; turned++) {
        problem_t *const p = &passes.pass[turned];

        p->lines = turned ? op_b : op_a;
        p->others = turned ? op_a : op_b;
        p->k = args->k;
        p->batch_count = args->batch_count;
        p->one_plane = one_plane;
        p->skip_others = turned;
        p->alpha = args->alpha;
        p->beta = args->beta;
        p->c = args->c;
        p->c_array = args->c_array;
        p->stride_c = args->stride_c;
        p->line_step_c = turned ? 1 : args->ldc;
        p->other_step_c = turned ? args->ldc : 1;
    }
    const int64_t lines = args->m > args->n ? args->m : args->n;
    const int64_t groups = (lines + GROUP - 1) / GROUP * args->batch_count;

    passes.left = left;
    passes.teams = (int)(groups < sms * BLOCKS ? groups : sms * BLOCKS);
    return launch_after(sgemm_left, (unsigned)(sms * BLOCKS), THREADS, 0, (cudaStream_t)stream,
                        passes);
}
