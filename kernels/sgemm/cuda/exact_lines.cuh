/* exact_lines.cuh - the exact lines of a product of planes (planes.h), by FP32 multiply-adds. For
 * exact_lines.cu and rest_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact lines are rows of op(A) in the first pass and columns of op(B) in the second, which works
 * on the transposed problem. A team of blocks takes GROUP lines. Each block gathers the exact ones
 * among them, and the team divides the tiles: 16 or 32 gathered lines (Ms) by OTHERS lines of the
 * other operand (Ns). The second pass begins with the blocks that the first one leaves idle.
 *
 * Gathered lines that do not lie along k are first copied to where they do, once by all of the
 * team: a tile that read them where they are would take a sector of memory for each number. A
 * block takes a chunk of that copy while there are any, then waits for the chunks that others
 * have taken, which are running: so this needs no block to be resident.
 *
 * Tiles are small, so that a few exact lines keep all multiprocessors busy. To have enough
 * multiply-adds for each read of Ms and Ns all the same, each warp computes the whole tile, for
 * one k in WARPS; in the end the warps' sums are added. Asynchronous copies of 4 bytes, which can
 * transpose, fill STAGES k-steps in a ring. If there are fewer tiles than blocks, or not much more,
 * blocks have pieces of tiles, ranges of k, and the last one of a tile adds up their sums in order.
 *
 * Accuracy: chains of CHAIN multiply-adds, whose sums are added with compensation: the next chain
 * starts with what the addition lost. So a warp's error does not grow with k beyond that of a
 * chain. The sums of warps, then of pieces, are added without.
 *
 * Assumes compute capability 8.0, and lines judged by tilemm__sgemm_judge_lines_launch(). */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_EXACT_LINES_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_EXACT_LINES_CUH

#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "planes.h"
#include "tile.cuh"

namespace exact_lines
{

enum {
    GROUP = TILEMM__SGEMM_EXACT_GROUP,
    THREADS = 256,
    WARPS = THREADS / 32,
    OTHERS = 32,
    BK = 64,
    CHAIN = 64,
    CHAIN_STEPS = CHAIN / (BK / WARPS),
    CHUNK = 1024 /* of k */
};
static_assert(THREADS * 32 == GROUP, "a thread for each 32 lines of a group");
static_assert(WARPS == 8, "a warp's rows are permuted alike (tilemm__exact_index)");

/* The exact lines of a group. */
struct gathered_t {
    unsigned short exact[GROUP]; /* their numbers in the group, ascending */
    unsigned votes[GROUP / 32];
    int counts[WARPS];
    unsigned chunk;
};

typedef tilemm__sgemm_exact_operand_t operand_t;
typedef tilemm__sgemm_exact_pass_t pass_t;

/* A tile's shared memory: Ms and Ns of a stage follow each other; then the warps' sums. */
template <int LINES, int STAGES>
union tile_t {
    __align__(16) float stages[STAGES][(LINES + OTHERS) * BK];
    float sums[WARPS][LINES * OTHERS];
};

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

/* Line and k, within a step of a tile, of copy i of this thread. Lanes lie along k where memory
 * does, else along the lines. */
template <int WIDTH>
static __device__ __forceinline__ void place_of(int i, int64_t k_step, int *line, int *k)
{
    const int at = threadIdx.x + i * THREADS;
    *line = k_step == 1 ? at / BK : at % WIDTH;
    *k = k_step == 1 ? at % BK : at / WIDTH;
}

/* Lines in memory. */
struct source_t {
    const float *origin;
    int64_t line_step, k_step;
    bool is_compact; /* gathered lines that follow each other */
};

static __device__ __forceinline__ source_t source_of(const operand_t &of, int64_t matrix)
{
    return {of.array ? of.array[matrix] : of.from + matrix * of.stride, of.line_step, of.k_step,
            false};
}

/* The `count` gathered lines of a group: where they lie along k, or there is no memory, they are
 * read there, else all of the team copies them. */
static __device__ source_t make_compact(const pass_t &p, int64_t matrix, int64_t line0, int count,
                                        bool has_memory, gathered_t &gathered)
{
    const operand_t &of = p.lines;
    const source_t from = source_of(of, matrix);
    const int64_t pitch = of.compact_pitch;
    if (of.k_step == 1 || !has_memory ||
        count > min((int64_t)GROUP, of.exact_stride - line0) / 2 * (pitch > 0))
        return from;

    float *const to = of.compact + (matrix * of.exact_stride + line0) / 2 * pitch;
    tilemm__sgemm_group_t &group =
        of.groups[matrix * of.groups_stride + line0 / TILEMM__SGEMM_ROUTE_LINES];
    const unsigned of_line = (unsigned)((p.k + CHUNK - 1) / CHUNK), chunks = count * of_line;
    for (;;) {
        if (threadIdx.x == 0)
            gathered.chunk = atomicAdd(&group.taken, 1);
        __syncthreads();
        const unsigned chunk = gathered.chunk, slot = chunk / of_line;
        if (chunk >= chunks)
            break;
        const int64_t k0 = (int64_t)(chunk - slot * of_line) * CHUNK + threadIdx.x;
        const float *const line = from.origin + (line0 + gathered.exact[slot]) * of.line_step;
        float x[CHUNK / THREADS];
#pragma unroll
        for (int i = 0; i < CHUNK / THREADS; i++)
            x[i] = __ldg(line + min(k0 + i * THREADS, p.k - 1) * of.k_step);
#pragma unroll
        for (int i = 0; i < CHUNK / THREADS; i++)
            if (k0 + i * THREADS < p.k)
                to[slot * pitch + k0 + i * THREADS] = x[i];
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&group.done, 1);
        }
    }
    if (threadIdx.x == 0) {
        while (*(volatile unsigned *)&group.done < chunks)
            ;
        __threadfence();
    }
    __syncthreads();
    return {to, pitch, 1, true};
}

/* This thread's copies of an operand to tiles of WIDTH lines. */
template <int WIDTH>
struct copies_t {
    static const int COUNT = WIDTH * BK / THREADS;
    const float *origin, *from[COUNT]; /* of the matrix; of the next step */
    unsigned to[COUNT];                /* bytes into the tile */
    int64_t k_step;

    /* line_of(i) is the number of the tile's line i. The first step begins at k0. */
    template <typename line_of_t>
    __device__ __forceinline__ copies_t(const source_t &of, const line_of_t &line_of, int64_t k0)
        : origin(of.origin), k_step(of.k_step)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            int line, k;
            place_of<WIDTH>(i, k_step, &line, &k);
            from[i] = origin + line_of(line) * of.line_step + (k0 + k) * k_step;
            to[i] = tilemm__exact_index(k, line, WIDTH) * sizeof(float);
        }
    }

    /* Make copy i of the next step if `yes`: that step is whole. */
    __device__ __forceinline__ void copy(bool yes, unsigned tile, int i)
    {
        copy_async_if<4>(yes, tile + to[i], from[i]);
        from[i] += BK * k_step;
    }

    /* Make all copies of the last step, which has `left` of k and is filled up with zeros. */
    __device__ __forceinline__ void copy_part(unsigned tile, int left) const
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            int line, k;
            place_of<WIDTH>(i, k_step, &line, &k);
            copy_async_zero<4>(tile + to[i], k < left ? from[i] : origin, k < left ? 4 : 0);
        }
    }
};

/* Read LINES / 4 of a lane's lines, or four of its others, in squares of 4 that are 16 lines apart.
 * Lines are permuted within a square as those of k are. */
template <int QUADS>
static __device__ __forceinline__ void
read_fragment(float (&x)[4 * QUADS], const unsigned (&from)[QUADS], unsigned step, int k)
{
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        float v[4];
        unpack(v, shared_read(from[q] + step));
#pragma unroll
        for (int j = 0; j < 4; j++)
            x[4 * q + j] = v[tilemm__exact_index(k, j, 16) % 4];
    }
}

/* Compute this warp's sums of a tile over `depth` of k from k0 on, and leave them in tile.sums.
 * line_of(i) is the number of the tile's line i in `from`. */
template <int LINES, int STAGES, typename line_of_t>
static __device__ __forceinline__ void
multiply(tile_t<LINES, STAGES> &tile, const pass_t &p, int64_t matrix, const source_t &from,
         const line_of_t &line_of, int64_t other0, int64_t k0, int64_t depth)
{
    const int M = LINES / 4, QUADS = M / 4, K_OF_WARP = BK / WARPS, PARTS = 4;
    const unsigned MS_BYTES = LINES * BK * sizeof(float), STAGE_BYTES = sizeof(tile.stages[0]);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_line = tilemm__ffma_square_m(lane, 4) * 4;
    const int my_other = tilemm__ffma_square_n(lane, 4) * 4;
    const unsigned ring = shared_address(tile.stages), ring_end = ring + STAGES * STAGE_BYTES;
    copies_t<LINES> lines(from, line_of, k0);
    copies_t<OTHERS> others(
        source_of(p.others, matrix),
        [&](int other) { return min(other0 + other, p.others.count - 1); }, k0);
    const int COPIES = lines.COUNT + others.COUNT;
    int64_t left = depth; /* that no copies have been made of */
    unsigned filling = ring, at = ring;
    unsigned from_m[QUADS], from_n[1];
    float sum[M][4] = {}, total[M][4] = {}, a[2][M], b[2][4];
    const auto copy = [&](int i) {
        if (i < lines.COUNT)
            lines.copy(left >= BK, filling, i);
        else
            others.copy(left >= BK, filling + MS_BYTES, i - lines.COUNT);
    };
    const auto copy_part = [&] {
        if (left > 0 && left < BK) {
            lines.copy_part(filling, (int)left);
            others.copy_part(filling + MS_BYTES, (int)left);
        }
    };
    const auto advance = [&](unsigned stage) {
        return stage + STAGE_BYTES == ring_end ? ring : stage + STAGE_BYTES;
    };
#pragma unroll
    for (int q = 0; q < QUADS; q++)
        from_m[q] = tilemm__exact_index(warp, q * 16 + my_line, LINES) * sizeof(float);
    from_n[0] = MS_BYTES + tilemm__exact_index(warp, my_other, OTHERS) * sizeof(float);
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        copy_part();
#pragma unroll
        for (int i = 0; i < COPIES; i++)
            copy(i);
        copy_async_commit();
        left -= BK;
        filling = advance(filling);
    }
    const int steps = (int)((depth + BK - 1) / BK);
#pragma unroll 1
    for (int step = 1; step <= steps; step++) {
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        read_fragment<QUADS>(a[0], from_m, at, 0);
        read_fragment<1>(b[0], from_n, at, 0);
        copy_part();
#pragma unroll
        for (int k = 0; k < K_OF_WARP; k++) {
            const int now = k % 2;
            if (k + 1 < K_OF_WARP) {
                const unsigned row = (k + 1) * WARPS;
                read_fragment<QUADS>(a[now ^ 1], from_m, at + row * LINES * sizeof(float), row);
                read_fragment<1>(b[now ^ 1], from_n, at + row * OTHERS * sizeof(float), row);
            }
            /* Fill the stage that was multiplied last, a few copies at a time: many delay reads,
             * and the compiler puts empty reads before each few. */
#pragma unroll
            for (int i = 0; i < COPIES; i++)
                if (i * PARTS / COPIES * (K_OF_WARP / PARTS) == k)
                    copy(i);
#pragma unroll
            for (int i = 0; i < M; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fmaf(a[now][i], b[now][j], sum[i][j]);
        }
        copy_async_commit();
        left -= BK;
        filling = advance(filling);
        at = advance(at);
        if (step % CHAIN_STEPS == 0 || step == steps)
            end_chain(total, sum);
    }
    __syncthreads(); /* the stages are all read */
#pragma unroll
    for (int i = 0; i < M; i++)
        *(float4 *)&tile.sums[warp][(i / 4 * 16 + my_line + i % 4) * OTHERS + my_other] =
            pack(total[i]);
}

/* In how many pieces tiles are divided, and of which length but for the last one. */
struct pieces_t {
    unsigned count, length;
};

/* As many pieces of each of a pass's tiles as its team of `members` blocks has done after one
 * round, or two ..., whichever ends first: where there are two passes, each has half of the blocks.
 * A piece takes as long as if it had START more of k. */
static __device__ __forceinline__ pieces_t pieces_of(int64_t tiles, int64_t k, unsigned members,
                                                     unsigned passes)
{
    const unsigned MOST = 16, START = 512, LEAST_K = 4 * BK;
    unsigned best = 1;
    float least = INFINITY;
    if (tiles <= members * TILEMM__SGEMM_EXACT_PIECES)
#pragma unroll 1
        for (unsigned rounds = 1; rounds <= passes * TILEMM__SGEMM_EXACT_PIECES; rounds++) {
            const unsigned fit = rounds * members / (passes * (unsigned)tiles);
            const unsigned pieces = min(min(fit, MOST), (unsigned)k / LEAST_K);
            const float time = (float)rounds * ((float)k / (float)pieces + (float)START);
            if (pieces > 0 && time < least) {
                least = time;
                best = pieces;
            }
        }

    const unsigned length = ((unsigned)k + best - 1) / best;
    pieces_t pieces = {1, (length + BK - 1) / BK * BK};
    if (best > 1)
        pieces.count = ((unsigned)k + pieces.length - 1) / pieces.length;
    return pieces;
}

/* Leave a piece's sums beside those of the tile's other pieces, which follow each other in
 * `partial`. Returns true for the last piece to come; x is then the sum of all in the order of k.
 */
template <int COUNT>
static __device__ __forceinline__ bool add_up(float (&x)[COUNT], unsigned number, unsigned count,
                                              float *partial, unsigned *counter)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        __stcg(partial + number * TILEMM__SGEMM_EXACT_TILE + i * THREADS + threadIdx.x, x[i]);
    __threadfence();
    __syncthreads();
    if (!__syncthreads_or(threadIdx.x == 0 && atomicAdd(counter, 1) == count - 1))
        return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = 0.0f;
    for (unsigned from = 0; from < count; from++)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            x[i] += __ldcg(partial + from * TILEMM__SGEMM_EXACT_TILE + i * THREADS + threadIdx.x);
    return true;
}

/* Add the warps' sums of a piece of a tile, and store the tile's `count` lines when all `pieces`
 * are there, by the other line that is this thread's if `wanted`. */
template <int LINES, int STAGES>
static __device__ __forceinline__ void
store(const tile_t<LINES, STAGES> &tile, const pass_t &p, int64_t matrix, int64_t line0,
      const unsigned short *exact, int count, int64_t other, bool wanted, unsigned number,
      unsigned pieces, float *partial, unsigned *counter)
{
    const int COUNT = LINES * OTHERS / THREADS;
    float *const c = p.c_array ? p.c_array[matrix] : p.c + matrix * p.stride_c;
    float x[COUNT];
    static_assert(LINES * OTHERS <= TILEMM__SGEMM_EXACT_TILE, "memory for a piece");
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        float v[WARPS];
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            v[w] = tile.sums[w][i * THREADS + threadIdx.x];
#pragma unroll
        for (int apart = 1; apart < WARPS; apart *= 2)
#pragma unroll
            for (int w = 0; w < WARPS; w += 2 * apart)
                v[w] += v[w + apart];
        x[i] = v[0];
    }
    if (pieces > 1 && !add_up(x, number, pieces, partial, counter))
        return;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int line = (i * THREADS + (int)threadIdx.x) / OTHERS;
        if (wanted && line < count)
            epilogue_store(c + (line0 + exact[line]) * p.line_step_c + other * p.other_step_c, x[i],
                           p.alpha, p.beta);
    }
}

/* A team's blocks, and what pieces of its tiles are added up from, if that is not NULL. */
struct team_t {
    int first, members; /* the number of this block */
    float *partial;
    unsigned *counters;
};

/* Compute the tiles of a group's `count` exact lines, every members-th piece from number `first`
 * on. Returns the number of pieces. */
template <int LINES, int STAGES>
static __device__ __forceinline__ int64_t multiply_group(tile_t<LINES, STAGES> &tile,
                                                         const pass_t &p, int64_t matrix,
                                                         int64_t line0, const source_t &from,
                                                         const unsigned short *exact, int count,
                                                         const team_t &team)
{
    const int parts = (count + LINES - 1) / LINES;
    const int64_t tiles = (p.others.count + OTHERS - 1) / OTHERS * parts;
    const unsigned passes = p.others.density->exact ? 2 : 1;
    const pieces_t pieces = pieces_of(tiles, p.k, team.members, team.partial ? passes : 0);
    static_assert(TILEMM__SGEMM_ROUTE_LINES % OTHERS == 0, "a tile is of one group");
#pragma unroll 1
    for (int64_t item = team.first; item < tiles * pieces.count; item += team.members) {
        const int64_t number = pieces.count == 1 ? item : (unsigned)item / pieces.count;
        const unsigned piece = (unsigned)(item - number * pieces.count);
        const int64_t k0 = (int64_t)piece * pieces.length;
        const int64_t depth = pieces.count == 1 ? p.k : min((int64_t)pieces.length, p.k - k0);
        const int64_t other0 = number / parts * OTHERS, other = other0 + threadIdx.x % OTHERS;
        const int before = (int)(number % parts) * LINES;
        const bool wanted = other < p.others.count &&
                            !is_hard(p.others, *p.lines.density, matrix, other) &&
                            !(p.skip_others && is_exact(p.others, *p.lines.density, matrix, other));

        if (!__syncthreads_or(wanted))
            continue;
        multiply(
            tile, p, matrix, from,
            [&](int line) {
                const int number = min(before + line, count - 1);
                return from.is_compact ? (int64_t)number : line0 + exact[number];
            },
            other0, k0, depth);
        __syncthreads();
        store(tile, p, matrix, line0, exact + before, count - before, other, wanted, piece,
              pieces.count, team.partial + number * pieces.count * TILEMM__SGEMM_EXACT_TILE,
              team.counters + number * pieces.count);
    }
    return tiles * pieces.count;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Shared memory. */
template <int STAGES>
struct shared_t {
    union {
        tile_t<16, STAGES> of_16;
        tile_t<32, STAGES> of_32;
    } tile;
    gathered_t gathered;
};

/* Compute the exact lines, by the first THREADS threads of the grid's blocks. `has_memory`: nobody
 * needs the planes any more. */
template <int STAGES>
static __device__ __forceinline__ void compute(const tilemm__sgemm_exact_lines_t &problem,
                                               bool has_memory, shared_t<STAGES> &shared)
{
    const unsigned short *const exact = shared.gathered.exact;
    int64_t taken = 0; /* of the team's members: they take its tiles in turn, of both passes */
#pragma unroll 1
    for (int number = 0; number < 2; number++) {
        const pass_t &p = problem.pass[number];
        const int members = gridDim.x / p.teams;
        const int team = blockIdx.x / members, member = blockIdx.x - team * members;
        const int64_t groups = (p.lines.count + GROUP - 1) / GROUP;
        const int64_t room =
            (int64_t)(number * gridDim.x + team * members) * TILEMM__SGEMM_EXACT_PIECES;
        /* A team of one block, which may have several groups, divides nothing. */
        const bool divides = problem.sums.partial && members > 1;
        if (p.teams != problem.pass[0].teams)
            taken = 0;
        for (int64_t group = team; group < p.batch_count * groups; group += p.teams) {
            const int64_t matrix = group / groups, line0 = (group - matrix * groups) * GROUP;
            const int count = gather(p, matrix, line0, shared.gathered);
            const team_t of = {(int)((member + members - taken % members) % members), members,
                               divides ? problem.sums.partial + room * TILEMM__SGEMM_EXACT_TILE
                                       : NULL,
                               problem.sums.counters + room};
            if (count == 0)
                continue;
            const source_t from =
                make_compact(p, matrix, line0, count, has_memory, shared.gathered);
            if (count > 16)
                taken +=
                    multiply_group(shared.tile.of_32, p, matrix, line0, from, exact, count, of);
            else
                taken +=
                    multiply_group(shared.tile.of_16, p, matrix, line0, from, exact, count, of);
            __syncthreads(); /* `exact` is no longer read */
        }
    }
}

} /* namespace exact_lines */

#endif
