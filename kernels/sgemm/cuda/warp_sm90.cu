/* warp_sm90.cu - products in tiles of a warp, by mma.sync, invariant or not: for few tiles, and few
 * rows or columns, which take as long as memory takes to answer (warp.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp has a part of k to itself (warp_sm90.cuh). Warps meet once, where the sums of a tile's
 * parts are added up.
 *
 * Assumes: compute capability 9.0; what the host promises in tilemm__sgemm_warp_t. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "warp.h"
#include "warp_sm90.cuh"

enum { WARPS_LOG2 = TILEMM__SGEMM_WARP_WARPS_LOG2, WARPS = 1 << WARPS_LOG2, THREADS = 32 * WARPS };

/* Steps of k that a warp has under way: small ones, of tiles for few blocks, are more. */
template <typename S>
static __host__ __device__ constexpr int stages(void)
{
    return S::M == 16 ? 3 : 2;
}

/* Dynamic shared memory; after it each warp's steps. */
template <typename S>
struct __align__(16) shared_t
{
    static const int PITCH = S::N + 1; /* of a tile of sums, which lies where steps were */
    static_assert(S::M * PITCH <= S::STEP, "the first step has room for it");
    float sums[WARPS][S::M * PITCH]; /* of parts before, each tile's */
    unsigned char part_rows[WARPS][S::M], part_columns[WARPS][S::N]; /* classes of a warp's part */
    unsigned char rows[WARPS][S::M], columns[WARPS][S::N];           /* the least of a tile's */
};

/* ---- a part of k ----------------------------------------------------------------------------- */

/* Multiply the part of k from `begin` to `end`. `ring`: the warp's steps. */
template <typename S, typename P>
static __device__ __forceinline__ void
multiply_part(const operand_t &a, const operand_t &b, int begin, int end, bool exchanged,
              bool compensates, float *ring, part_t<S, P> &part)
{
    steps_t<S, stages<S>()> steps(a, b, begin, ring);
    accumulators_t<S> q = {}, smaller;
    int copied = begin;
    const auto copy = [&](bool is_first) {
        steps.copy(copied < end, end - copied, is_first);
        copied += BK;
    };
    clear<S>(part.total);
    begin_lines<P, S::A_LINES>({}, part.a);
    begin_lines<P, S::B_LINES>({}, part.b);
#pragma unroll 1
    for (int i = 0; i < stages<S>(); i++)
        copy(true);
    const bool ahead = S::M == AHEAD;
    const float *step;
    half_numbers_t<S::A_LINES> numbers_a;
    half_numbers_t<S::B_LINES> numbers_b;
    const auto take_numbers = [&](int half) {
        take_half<S::M, S::A_K>(step, half, numbers_a);
        take_half<S::N, S::B_K>(step + S::WORDS_A, half, numbers_b);
    };
    const auto begin_step = [&](bool is_first) {
        step = steps.next();
        if (P::HALF && is_first) {
            take<S::M, S::A_K>(step, steps.numbers_a);
            take<S::N, S::B_K>(step + S::WORDS_A, steps.numbers_b);
            begin_lines<P>(steps.numbers_a, part.a);
            begin_lines<P>(steps.numbers_b, part.b);
        }
        take_numbers(0);
    };
    if (ahead)
        begin_step(true);
    const auto multiply_step = [&](int k, int halves) {
        if (!ahead)
            begin_step(k == begin);
        clear<S>(smaller);
#pragma unroll
        for (int half = 0; half < halves; half++) {
            planes_t<P, S::A_LINES> x;
            planes_t<P, S::B_LINES> y;
            if (half > 0)
                take_numbers(half);
            convert<P>(numbers_a, part.a, x);
            convert<P>(numbers_b, part.b, y);
            multiply<S, P>(q, x[0], y[0]);
            multiply_smaller<S, P>(smaller, x, y, exchanged);
        }
        __syncwarp(); /* all lanes have taken the step */
        copy(false);
        if (ahead && k + BK < end)
            begin_step(false);
        add_up<S, P>(q, compensates, smaller, part);
        for_accumulators<S>([&](int i, int j, int e) { q[i][j][e] = smaller[i][j][e]; });
    };
    for_steps(begin, end, multiply_step);
    add_up<S, P>(q, false, smaller, part);
    copy_async_wait_all();
    __syncwarp(); /* the ring is free */
}

template <typename S, typename P>
static __device__ __forceinline__ void leave_sums(const part_t<S, P> &part, float *sums)
{
    for_accumulators<S>([&](int i, int j, int e) {
        sums[row_of<S>(i, e) * shared_t<S>::PITCH + column_of<S>(j, e)] = part.total[i][j][e];
    });
}

/* Of FP16 planes: take the sums back from the scales, and leave them with the lines' classes. */
template <typename S>
static __device__ __forceinline__ void
end_part(part_t<S, fp16_t> &part, const operand_t &, const operand_t &, int begin, int end,
         unsigned char *rows, unsigned char *columns, float *sums)
{
    const int group = (int)threadIdx.x % 32 / 4;
    float inverses[S::B_LINES][2];
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++) {
        const unsigned its_class = half_class_of(part.b[j], end - begin);
        const float inverse = half_inverse(part.b[j].scale);
        inverses[j][0] = of_column(inverse, 0), inverses[j][1] = of_column(inverse, 1);
        if (threadIdx.x % 4 == 0)
            columns[tilemm__warp_line(group, j, S::N, S::B_K)] = (unsigned char)its_class;
    }
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++) {
        const unsigned its_class = half_class_of(part.a[i], end - begin);
        const float inverse = half_inverse(part.a[i].scale);
        if (threadIdx.x % 4 == 0)
            rows[tilemm__warp_line(group, i, S::M, S::A_K)] = (unsigned char)its_class;
#pragma unroll
        for (int j = 0; j < S::N_TILES; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &total = part.total[i / 2][j][i % 2 * 2 + e];
                total = __fmul_rn(total, inverse * inverses[j][e]);
            }
    }
    leave_sums(part, sums);
}

/* Of BF16 planes: leave the sums, and in place of those of lines that overflow chains of
 * multiply-adds. */
template <typename S>
static __device__ __forceinline__ void end_part(part_t<S, bf16_t> &part, const operand_t &a,
                                                const operand_t &b, int begin, int end,
                                                unsigned char *, unsigned char *, float *sums)
{
    unsigned rows = 0, columns = 0; /* a bit for each of A_LINES, for two of each of B_LINES */
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++)
        rows |= (bf16_most(part.a[i]) >= bf16_t::MOST) << i;
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++)
        columns |= (bf16_most(part.b[j]) >= bf16_t::MOST) << j;
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) { /* four lanes have a line */
        rows |= __shfl_xor_sync(~0u, rows, apart);
        columns |= __shfl_xor_sync(~0u, columns, apart);
    }
    leave_sums(part, sums);
    if (!__any_sync(~0u, rows | columns))
        return;
    columns = of_column(columns, 0) | of_column(columns, 1) << 16;
#pragma unroll 1
    for (int at = 0; at < S::M_TILES * S::N_TILES * 4; at++) {
        const int i = at / 4 / S::N_TILES, j = at / 4 % S::N_TILES, e = at % 4;
        const int row = row_of<S>(i, e), column = column_of<S>(j, e);
        const bool overflows = rows >> (2 * i + e / 2) & 1 || columns >> (j + e % 2 * 16) & 1;
        if (!overflows || row >= a.lines || column >= b.lines)
            continue;
        sums[row * shared_t<S>::PITCH + column] = chain_of<S>(a, b, row, column, begin, end);
    }
}

/* ---- a block's tiles ------------------------------------------------------------------------ */

/* What a block has: its tiles, and of the warp the tile, its slot, and the operands' lines. */
typedef struct {
    int tiles, group, slot; /* the warp's tile, of these */
    tile_t tile;            /* the warp's */
    operand_t a, b;
    float *rings; /* all warps' steps */
    int ring;     /* words of a warp's */
} block_t;

/* Block number `number` of those that have tiles. */
template <typename S>
static __device__ __forceinline__ block_t locate(const problem_t &problem, unsigned number,
                                                 float *rings)
{
    const int warp = (int)threadIdx.x / 32;
    block_t block;
    block.tiles = WARPS >> problem.slots_log2;
    block.group = warp >> problem.slots_log2;
    block.slot = warp & ((1 << problem.slots_log2) - 1);
    const unsigned tile = number * block.tiles + block.group;
    const bool exists = tile < problem.tiles; /* else an address, and no lines */
    block.tile = locate_tile<S>(problem, exists ? tile : problem.tiles - 1, exists);
    block.a = rows_of<S>(problem, block.tile);
    block.b = columns_of<S>(problem, block.tile);
    block.rings = rings;
    block.ring = stages<S>() * S::STEP;
    return block;
}

/* Store the sums of all of k where the lanes have them, unless some line overflows. Returns whether
 * it did. */
template <typename S>
static __device__ __forceinline__ bool store_alone(const problem_t &problem, const tile_t &tile,
                                                   const part_t<S, bf16_t> &part)
{
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++)
        most = max(most, bf16_most(part.a[i]));
#pragma unroll
    for (int j = 0; j < S::B_LINES; j++)
        most = max(most, bf16_most(part.b[j]));
    if (__any_sync(~0u, most >= bf16_t::MOST))
        return false;
    for_accumulators<S>([&](int i, int j, int e) {
        const int row = row_of<S>(i, e), column = column_of<S>(j, e);
        if (row < tile.rows && column < tile.columns)
            store(problem, tile, row, column, part.total[i][j][e]);
    });
    return true;
}

/* Multiply a round of parts of k, `length` each: one for each slot, from `first` on, before `end`.
 * Returns whether the warp stored its tile, which it does only where k is one part. */
template <typename S, typename P>
static __device__ __forceinline__ bool multiply_round(const problem_t &problem,
                                                      const block_t &block, shared_t<S> &shared,
                                                      int first, int end, int length)
{
    bool stored = false;
    const int warp = (int)threadIdx.x / 32, part = first + block.slot;
    float *const ring = block.rings + warp * block.ring;
    if (part < end) {
        const int begin = part * length, last = (int)min(problem.args.k, (int64_t)begin + length);
        part_t<S, P> sums;
        multiply_part<S, P>(block.a, block.b, begin, last, problem.args.exchanged,
                            problem.compensates, ring, sums);
        if constexpr (!P::HALF)
            stored = problem.parts == 1 && store_alone(problem, block.tile, sums);
        if (!stored)
            end_part<S>(sums, block.a, block.b, begin, last, shared.part_rows[warp],
                        shared.part_columns[warp], ring);
    }
    __syncthreads();
    return stored;
}

/* Call do_element(row, column, sums) for each element of the warp's tile that exists, which it
 * shares with the tile's other warps; `sums` are a ring apart, a part's each. Neighbouring threads
 * have neighbours in C's memory. */
template <typename S, typename DO_ELEMENT>
static __device__ __forceinline__ void for_elements(const problem_t &problem, const block_t &block,
                                                    const DO_ELEMENT &do_element)
{
    const bool by_rows = problem.c_n == 1;
    const int count = by_rows ? block.tile.rows * S::N : block.tile.columns * S::M;
    const float *const sums = block.rings + (block.group << problem.slots_log2) * block.ring;
    const int thread = block.slot * 32 + (int)threadIdx.x % 32;
    for (int i = thread; i < count; i += 32 << problem.slots_log2) {
        const int row = by_rows ? i / S::N : i % S::M;
        const int column = by_rows ? i % S::N : i / S::M;
        if (row < block.tile.rows && column < block.tile.columns)
            do_element(row, column, sums + row * shared_t<S>::PITCH + column);
    }
}

/* The sums of `count` parts, added to that of the parts before. */
[[maybe_unused]] static __device__ __forceinline__ float
sum_of(const block_t &block, const float *sums, int count, float before)
{
    for (int slot = 0; slot < count; slot++)
        before += sums[slot * block.ring];
    return before;
}

/* ---- FP16 planes ---------------------------------------------------------------------------- */

/* The least classes of the block's lines in `parts` parts. */
template <typename S>
static __device__ __forceinline__ void least_classes(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int parts)
{
    for (int i = (int)threadIdx.x; i < (S::M + S::N) * block.tiles; i += THREADS) {
        const int group = i / (S::M + S::N), line = i % (S::M + S::N);
        unsigned least = TILEMM__SGEMM_CARRY_DENSE;
        for (int slot = 0; slot < parts; slot++) {
            const int warp = (group << problem.slots_log2) + slot;
            const unsigned now =
                line < S::M ? shared.part_rows[warp][line] : shared.part_columns[warp][line - S::M];
            least = min(least, now);
        }
        (line < S::M ? shared.rows[group] + line : shared.columns[group] + line - S::M)[0] =
            (unsigned char)least;
    }
    __syncthreads();
}

template <typename S>
static __device__ __forceinline__ bool is_carried(const shared_t<S> &shared, int group, int row,
                                                  int column)
{
    return shared.rows[group][row] + shared.columns[group][column] >= TILEMM__SGEMM_CARRY_LEAST;
}

/* Returns whether these planes do not carry some element of the block. */
template <typename S>
static __device__ __forceinline__ bool multiply_half(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared)
{
    const int parts = problem.parts_half;
    bool left = false;
    multiply_round<S, fp16_t>(problem, block, shared, 0, parts, problem.k_half);
    least_classes(problem, block, shared, parts);
    for_elements<S>(problem, block, [&](int row, int column, const float *sums) {
        if (is_carried(shared, block.group, row, column))
            store(problem, block.tile, row, column, sum_of(block, sums, parts, 0.0f));
        else
            left = true;
    });
    return __syncthreads_or(left);
}

/* ---- BF16 planes ---------------------------------------------------------------------------- */

/* All elements, or what FP16 planes do not carry. */
template <typename S>
static __device__ __forceinline__ void multiply_bf16(const problem_t &problem, const block_t &block,
                                                     shared_t<S> &shared, int split)
{
    const int first = split * problem.parts_split;
    const int end = min(problem.parts, first + problem.parts_split);
#pragma unroll 1
    for (int part = first; part < end; part += 1 << problem.slots_log2) {
        const int count = min(1 << problem.slots_log2, end - part);
        const auto take = [&](int row, int column, const float *sums) {
            if (problem.splits > 1) {
                float *const to = partial_of(problem, block.tile, row, column, part);
                for (int slot = 0; slot < count; slot++)
                    to[slot * elements_of_c(problem)] = sums[slot * block.ring];
                return;
            }
            float &before = shared.sums[block.group][row * shared_t<S>::PITCH + column];
            const float sum =
                problem.parts == 1 ? *sums : sum_of(block, sums, count, part > 0 ? before : 0.0f);
            if (part + count < end)
                before = sum;
            else if (!problem.half || !is_carried(shared, block.group, row, column))
                store(problem, block.tile, row, column, sum);
        };
        if (!multiply_round<S, bf16_t>(problem, block, shared, part, end, problem.k_part))
            for_elements<S>(problem, block, take);
        __syncthreads();
    }
}

template <typename S>
static __device__ __forceinline__ void body(const problem_t &problem)
{
    extern __shared__ __align__(16) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const unsigned number = divided(blockIdx.x, problem.by_splits);
    wait_for_previous();
    const block_t block = locate<S>(problem, number, (float *)(&shared + 1));
    if (!problem.half || multiply_half<S>(problem, block, shared))
        multiply_bf16<S>(problem, block, shared, (int)(blockIdx.x - number * problem.splits));
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, trans_a, trans_b, m, n, blocks)                                               \
    typedef shape_t<(m) / 16, (n) / 8, !(trans_a), (trans_b) != 0> name##_t;                       \
    KERNEL_OF(name, (THREADS, ROOM_FOR(blocks)), (const __grid_constant__ problem_t problem),      \
              body<name##_t>(problem))
TILEMM__SGEMM_WARP_ROWS(KERNEL)

extern "C" int tilemm__sgemm_warp_launch(const problem_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name:                                                                           \
        return launch_kernel(name,                                                                 \
                             {problem->blocks, THREADS,                                            \
                              sizeof(shared_t<name##_t>) +                                         \
                                  WARPS * stages<name##_t>() * name##_t::STEP * sizeof(float),     \
                              1, true},                                                            \
                             (cudaStream_t)stream, *problem);
        TILEMM__SGEMM_WARP_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
