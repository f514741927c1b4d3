/* sgemm_left.cu - the lines that the split product leaves alone (sgemm_split.h), in FP32.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines are rows of op(A), or columns of op(B): then the problem is turned over. No list of them
 * exists. A team of blocks looks at a group of GROUP lines, each block gathers those that were
 * left, and they share the work: LINES gathered lines at a time by a tile of OTHERS lines of the
 * other operand, through shared tiles Ms (gathered lines, read by broadcast) and Ns (read with
 * stride one), while the next k-step comes through registers. Few lines are the usual case, so
 * tiles are narrow: many blocks share one line.
 *
 * Every k-step is summed apart, and these sums are added up with what each addition loses: the
 * error does not grow with k beyond a k-step's.
 *
 * Assumes: compute capability 7.5 or more; states that tilemm__sgemm_split_launch has made. */
#include <cuda_runtime.h>

#include "launch.cuh"
#include "sgemm_split.h"

enum {
    GROUP = 8192,
    LINES = 16,
    OTHERS = 32,
    BK = 64,
    THREADS = 256,
    PITCH = OTHERS + 4,
    BLOCKS = 1
};
enum { PART_MS = LINES * BK / THREADS, PART_NS = OTHERS * BK / THREADS };
static_assert(THREADS * 32 == GROUP, "a thread for each 32 lines of a group");
static_assert(THREADS * 2 == LINES * OTHERS, "a thread for two elements of C");

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

/* Lanes lie along k where memory does, or else along the lines. */
template <int WIDTH>
static __device__ __forceinline__ void place_of(int i, int64_t k_step, int *line, int *k)
{
    const int at = threadIdx.x + i * THREADS;

    *line = k_step == 1 ? at / BK : at % WIDTH;
    *k = k_step == 1 ? at % BK : at / WIDTH;
}

static __global__ void __launch_bounds__(THREADS)
    sgemm_left(const __grid_constant__ passes_t passes)
{
    const problem_t &p = passes.pass[blockIdx.y];
    __shared__ float ms[BK][LINES + 1];
    __shared__ __align__(16) float ns[BK][PITCH];
    __shared__ unsigned short left[GROUP];
    const int my_line = threadIdx.x / (OTHERS / 2), my_other = threadIdx.x % (OTHERS / 2) * 2;
    const int per_team = gridDim.x / passes.teams;
    const int team = blockIdx.x / per_team, member = blockIdx.x - team * per_team;
    const int64_t groups = (p.lines.count + GROUP - 1) / GROUP;
    const int64_t tiles = (p.others.count + OTHERS - 1) / OTHERS;

    wait_for_previous();
    if (*passes.left == 0)
        return;
    for (int64_t group = team; group < p.batch_count * groups; group += passes.teams) {
        const int64_t matrix = group / groups, line0 = (group - matrix * groups) * GROUP;
        const int count = gather(p, matrix, line0, left);
        const float *const x =
            p.lines.array ? p.lines.array[matrix] : p.lines.from + matrix * p.lines.stride;
        const float *const y =
            p.others.array ? p.others.array[matrix] : p.others.from + matrix * p.others.stride;
        float *const c = p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c;
        const int64_t parts = (count + LINES - 1) / LINES;

        for (int64_t item = member; item < parts * tiles; item += per_team) {
            const int first = (int)(item / tiles) * LINES;
            const int64_t other0 = item % tiles * OTHERS;
            float next_ms[PART_MS], next_ns[PART_NS];
            float total[2] = {0.0f, 0.0f}, lost[2] = {0.0f, 0.0f};
            int line_ms[PART_MS], line_ns[PART_NS]; /* of this thread's elements */

#pragma unroll
            for (int i = 0; i < PART_MS; i++) {
                int line, k;

                place_of<LINES>(i, p.lines.k_step, &line, &k);
                line_ms[i] = (int)line0 + left[min(first + line, count - 1)];
            }
#pragma unroll
            for (int i = 0; i < PART_NS; i++) {
                int line, k;

                place_of<OTHERS>(i, p.others.k_step, &line, &k);
                line_ns[i] = (int)min(other0 + line, p.others.count - 1);
            }

            for (int64_t k0 = -BK; k0 < p.k; k0 += BK) {
                const int64_t ahead = k0 + BK;

                /* The next k-step: past the end of k zeros, past the last line anything. */
#pragma unroll
                for (int i = 0; i < PART_MS; i++) {
                    int line, k;

                    place_of<LINES>(i, p.lines.k_step, &line, &k);
                    next_ms[i] = __ldg(x + line_ms[i] * p.lines.line_step +
                                       min(ahead + k, p.k - 1) * p.lines.k_step);
                    next_ms[i] = ahead + k < p.k ? next_ms[i] : 0.0f;
                }
#pragma unroll
                for (int i = 0; i < PART_NS; i++) {
                    int line, k;

                    place_of<OTHERS>(i, p.others.k_step, &line, &k);
                    next_ns[i] = __ldg(y + line_ns[i] * p.others.line_step +
                                       min(ahead + k, p.k - 1) * p.others.k_step);
                    next_ns[i] = ahead + k < p.k ? next_ns[i] : 0.0f;
                }
                if (k0 >= 0) {
                    float sum[2] = {0.0f, 0.0f};

#pragma unroll 16
                    for (int k = 0; k < BK; k++) {
                        const float a = ms[k][my_line];
                        const float2 b = *(const float2 *)&ns[k][my_other];

                        sum[0] = fmaf(a, b.x, sum[0]);
                        sum[1] = fmaf(a, b.y, sum[1]);
                    }
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        const float next = total[j] + sum[j], added = next - total[j];

                        lost[j] += (total[j] - (next - added)) + (sum[j] - added);
                        total[j] = next;
                    }
                }
                __syncthreads();
#pragma unroll
                for (int i = 0; i < PART_MS; i++) {
                    int line, k;

                    place_of<LINES>(i, p.lines.k_step, &line, &k);
                    ms[k][line] = next_ms[i];
                }
#pragma unroll
                for (int i = 0; i < PART_NS; i++) {
                    int line, k;

                    place_of<OTHERS>(i, p.others.k_step, &line, &k);
                    ns[k][line] = next_ns[i];
                }
                __syncthreads();
            }
#pragma unroll
            for (int j = 0; j < 2; j++)
                total[j] += isfinite(lost[j]) ? lost[j] : 0.0f; /* not where total is Inf or NaN */
            if (first + my_line < count) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const int64_t other = other0 + my_other + j;
                    float *const to = c + (line0 + left[first + my_line]) * p.line_step_c +
                                      other * p.other_step_c;

                    if (other >= p.others.count ||
                        (p.skip_others &&
                         is_left(p.others, *p.lines.sparse, matrix, other, p.one_plane)))
                        continue;
                    *to =
                        p.beta != 0.0f ? fmaf(p.beta, *to, p.alpha * total[j]) : p.alpha * total[j];
                }
            }
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
    return launch_after(sgemm_left, dim3((unsigned)(sms * BLOCKS), 2), THREADS, 0,
                        (cudaStream_t)stream, passes);
}
