/* resident_sm90.cu - invariant products of a matrix and up to eight vectors, by mma.sync: a block
 * makes the vectors' planes once, and multiplies tile after tile of the matrix by them (warp.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A tile of a warp (warp_sm90.cuh) converts eight columns of op(B) even where there is one, and
 * conversions are most of its instructions. Here the planes of op(B) stay in shared memory, as
 * lanes read them. Warps that share a tile have a part of k each, and meet where its sums are added
 * up; each goes on copying op(A) of the tiles that follow (resident_steps_sm90.cuh).
 *
 * Assumes: compute capability 9.0; what the host promises in tilemm__sgemm_warp_t. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/named_barrier.cuh"
#include "resident_steps_sm90.cuh"

/* op(B) of a block's matrix, and how far its numbers are apart along k, and along n. */
typedef struct {
    const float *from;
    int64_t k, n;
} vectors_t;

static __device__ __forceinline__ vectors_t vectors_of(const problem_t &problem,
                                                       const block_t &block)
{
    const tilemm__sgemm_args_t &args = problem.args;
    return {args.b_array ? args.b_array[block.matrix] : args.b + block.matrix * args.stride_b,
            args.trans_b ? 1 : args.ldb, args.trans_b ? args.ldb : 1};
}

/* ---- op(B)'s planes ------------------------------------------------------------------------- */

/* Words that a lane reads of a step: of each half, of each plane, two. */
template <typename P>
struct words_t {
    static const int WORDS = HALVES * P::PLANES * 2, QUADS = WORDS / 4;
};

/* Where the first four words are of step `step` of a column, for lanes with the k of lane `quad` of
 * four; the next four are 4 * columns further. */
template <typename P>
static __device__ __forceinline__ uint4 *planes_of(const problem_t &problem, const block_t &block,
                                                   int step, int column, int quad)
{
    const int columns = (int)problem.args.n;
    return block.planes + (step * words_t<P>::QUADS * columns + column) * 4 + quad;
}

[[maybe_unused]] static __device__ __forceinline__ void
end_column(shared_t &shared, const half_line_t &line, int part, int column, int length)
{
    const unsigned its_class = half_class_of<32>(line, length);
    shared.inverses[part][column] = half_inverse(line.scale);
    shared.classes[part][column] = (unsigned char)its_class;
}

[[maybe_unused]] static __device__ __forceinline__ void end_column(shared_t &shared, unsigned line,
                                                                   int part, int column, int)
{
    shared.overflows[part][column] =
        __reduce_max_sync(~0u, bf16_most(line)) >= (unsigned)bf16_t::MOST;
}

/* Make the planes of all columns in the block's parts of k: a warp those of one in a part. */
template <typename P>
static __device__ __forceinline__ void make_planes(const problem_t &problem, const block_t &block)
{
    const int columns = (int)problem.args.n, lane = (int)threadIdx.x % 32, quad = lane % 4;
    const parts_t parts = parts_of<P>(problem, block);
    const int items = (parts.end - parts.first) * columns;
    const vectors_t b = vectors_of(problem, block);
    for (int item = (int)threadIdx.x / 32; item < items; item += problem.warps) {
        const int part = item / columns, column = item - part * columns;
        const int begin = (parts.first + part) * parts.length;
        const int length = (int)min(problem.args.k - begin, (int64_t)parts.length);
        const float *const from = b.from + begin * b.k + column * b.n;
        typename P::line_t line;
#pragma unroll 1
        for (int first = 0; first < length; first += 8 * BK) {
            const int k = first + lane / 4 * BK + quad * OF_LANE;
            numbers_t<1> x;
#pragma unroll
            for (int half = 0; half < HALVES; half++)
#pragma unroll
                for (int i = 0; i < OF_LANE; i++)
                    x[half][0][i] =
                        k + half * 16 + i < length ? from[(k + half * 16 + i) * b.k] : 0.0f;
            if (first == 0) { /* the first four lanes have the first step */
                typename P::line_t lines[1];
                begin_lines<P>(x, lines);
                line = lines[0];
                if constexpr (P::HALF)
                    line.scale = __shfl_sync(~0u, line.scale, 0);
            }
            unsigned words[words_t<P>::WORDS];
#pragma unroll
            for (int half = 0; half < HALVES; half++) {
                unsigned planes[P::PLANES][2];
                P::convert(x[half][0], line, planes);
#pragma unroll
                for (int i = 0; i < P::PLANES * 2; i++)
                    words[half * P::PLANES * 2 + i] = planes[i / 2][i % 2];
            }
            if (k - quad * OF_LANE >= length)
                continue; /* no such step */
            uint4 *const to =
                planes_of<P>(problem, block, (part * parts.length + k) / BK, column, quad);
#pragma unroll
            for (int i = 0; i < words_t<P>::QUADS; i++)
                to[i * 4 * columns] =
                    make_uint4(words[i * 4], words[i * 4 + 1], words[i * 4 + 2], words[i * 4 + 3]);
        }
        end_column(*block.shared, line, part, column, length);
    }
}

/* ---- a part of a tile ----------------------------------------------------------------------- */

/* Multiply `length` of k, of which the lane's planes of op(B) are from `y` on. */
template <typename S, typename P>
static __device__ __forceinline__ void multiply_part(source_t<S> &source, const uint4 *y,
                                                     int columns, int length, bool exchanged,
                                                     part_t<S, P> &part)
{
    accumulators_t<S> q = {}, smaller;
    clear<S>(part.total);
    begin_lines<P, S::A_LINES>({}, part.a);
    const bool ahead = S::M == AHEAD;
    const float *step;
    half_numbers_t<S::A_LINES> numbers;
    unsigned words[words_t<P>::WORDS];
    const auto begin_step = [&](bool is_first) {
        step = source.next();
        if (P::HALF && is_first) {
            numbers_t<S::A_LINES> first;
            take<S::M, S::A_K>(step, first);
            begin_lines<P>(first, part.a);
        }
        take_half<S::M, S::A_K>(step, 0, numbers);
#pragma unroll
        for (int i = 0; i < words_t<P>::QUADS; i++) {
            const uint4 w = *y;
            words[i * 4] = w.x, words[i * 4 + 1] = w.y;
            words[i * 4 + 2] = w.z, words[i * 4 + 3] = w.w;
            y += 4 * columns;
        }
    };
    if (ahead)
        begin_step(true);
    const auto multiply_step = [&](int k, int halves) {
        if (!ahead)
            begin_step(k == 0);
        clear<S>(smaller);
#pragma unroll
        for (int half = 0; half < halves; half++) {
            planes_t<P, S::A_LINES> x;
            planes_t<P, 1> of_b;
#pragma unroll
            for (int i = 0; i < P::PLANES * 2; i++)
                of_b[i / 2][0][i % 2] = words[half * P::PLANES * 2 + i];
            if (half > 0)
                take_half<S::M, S::A_K>(step, half, numbers);
            convert<P>(numbers, part.a, x);
            multiply<S, P>(q, x[0], of_b[0]);
            multiply_smaller<S, P>(smaller, x, of_b, exchanged);
        }
        __syncwarp(); /* all lanes have taken the step */
        source.copy();
        if (ahead && k + BK < length)
            begin_step(false);
        add_up<S, P>(q, false, smaller, part);
        for_accumulators<S>([&](int i, int j, int e) { q[i][j][e] = smaller[i][j][e]; });
    };
    for_steps(0, length, multiply_step);
    add_up<S, P>(q, false, smaller, part);
}

/* Of FP16 planes: take the sums back from the scales, and note the rows' classes. */
template <typename S>
static __device__ __forceinline__ void end_part(const problem_t &, const block_t &block,
                                                const rows_of_tile_t &, part_t<S, fp16_t> &part,
                                                int number, int, int length)
{
    const int group = (int)threadIdx.x % 32 / 4, quad = (int)threadIdx.x % 4;
    const float *const inverses = block.shared->inverses[number] + quad * 2;
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++) {
        const unsigned its_class = half_class_of(part.a[i], length);
        const float inverse = half_inverse(part.a[i].scale);
        if (quad == 0)
            block.shared->part_rows[threadIdx.x / 32][tilemm__warp_line(group, i, S::M, S::A_K)] =
                (unsigned char)its_class;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            float &total = part.total[i / 2][0][i % 2 * 2 + e];
            total = __fmul_rn(total, inverse * inverses[e]);
        }
    }
}

/* Of BF16 planes: put chains of multiply-adds in place of sums of lines that overflow. */
template <typename S>
static __device__ __forceinline__ void end_part(const problem_t &problem, const block_t &block,
                                                const rows_of_tile_t &tile, part_t<S, bf16_t> &part,
                                                int number, int begin, int length)
{
    const int quad = (int)threadIdx.x % 4;
    unsigned rows = 0; /* a bit for each of A_LINES */
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++)
        rows |= (bf16_most(part.a[i]) >= bf16_t::MOST) << i;
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) /* four lanes have a line */
        rows |= __shfl_xor_sync(~0u, rows, apart);
    const unsigned char *const overflows = block.shared->overflows[number] + quad * 2;
    const bool columns[2] = {quad * 2 < tile.columns && overflows[0] != 0,
                             quad * 2 + 1 < tile.columns && overflows[1] != 0};
    if (!__any_sync(~0u, rows != 0 || columns[0] || columns[1]))
        return;
    const operand_t a = rows_of<S>(problem, tile);
    const vectors_t b = vectors_of(problem, block);
    for_accumulators<S>([&](int i, int j, int e) {
        const int row = row_of<S>(i, e), column = column_of<S>(j, e);
        if (((rows >> (2 * i + e / 2) & 1) || columns[e % 2]) && row < tile.rows &&
            column < tile.columns)
            part.total[i][j][e] =
                chain(a.from + (S::A_K ? row * a.ld + begin : begin * a.ld + row),
                      S::A_K ? 1 : a.ld, b.from + begin * b.k + column * b.n, b.k, length);
    });
}

/* Store a part's sums where the lanes have them: in C, or in the workspace if there are splits. */
template <typename S>
static __device__ __forceinline__ void store_part(const problem_t &problem,
                                                  const rows_of_tile_t &tile, int number,
                                                  const part_t<S, bf16_t> &part)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const bool is_final = problem.splits == 1;
    const int first = row_of<S>(0, 0), column = column_of<S>(0, 0);
    const int apart = S::A_K ? 8 : 1; /* a lane's rows */
    const int64_t to_m = is_final ? problem.c_m : problem.partial_m;
    const int64_t to_n = is_final ? problem.c_n : problem.partial_n;
    float *to = !is_final ? problem.partial + number * elements_of_c(problem) +
                                tile.matrix * (args.m * args.n)
                : args.c_array ? args.c_array[tile.matrix]
                               : args.c + tile.matrix * args.stride_c;
    to += (tile.m + first) * to_m + column * to_n;
#pragma unroll
    for (int i = 0; i < S::A_LINES; i++) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const float sum = part.total[i / 2][0][i % 2 * 2 + e];
            const int row = first + i * apart;
            if (row < tile.first || row >= tile.rows || column + e >= tile.columns)
                continue;
            if (is_final)
                epilogue_store(to + e * to_n, sum, args.alpha, args.beta);
            else
                to[e * to_n] = sum;
        }
        to += apart * to_m;
    }
}

/* ---- the sums of a tile's parts -------------------------------------------------------------- */

/* Call do_element(row, column, sums) for the tile's elements that exist; `sums` are a tile apart,
 * a warp's each, and the last those of the parts before. Neighbouring threads have neighbours in
 * C's memory. */
template <typename S, typename DO_ELEMENT>
static __device__ __forceinline__ void for_elements(const problem_t &problem, const block_t &block,
                                                    const rows_of_tile_t &tile,
                                                    const DO_ELEMENT &do_element)
{
    const int columns = tile.columns, thread = block.slot * 32 + (int)threadIdx.x % 32;
    for (int i = thread; i < S::M * columns; i += SLOTS * 32) {
        const int row = problem.c_n == 1 ? i / columns : i % S::M;
        const int column = problem.c_n == 1 ? i % columns : i / S::M;
        if (row >= tile.first && row < tile.rows)
            do_element(row, column, block.sums + column * S::M + row);
    }
}

/* The class of a row in all parts of FP16 planes. */
static __device__ __forceinline__ unsigned class_of_row(const problem_t &problem,
                                                        const block_t &block, int row)
{
    unsigned least = TILEMM__SGEMM_CARRY_DENSE;
    for (int slot = 0; slot < problem.parts_half; slot++)
        least = min(least, (unsigned)block.shared->part_rows[block.group * SLOTS + slot][row]);
    return least;
}

static __device__ __forceinline__ bool is_carried(const problem_t &problem, const block_t &block,
                                                  unsigned class_of_row, int column)
{
    unsigned least = TILEMM__SGEMM_CARRY_DENSE;
    for (int part = 0; part < problem.parts_half; part++)
        least = min(least, (unsigned)block.shared->classes[part][column]);
    return class_of_row + least >= TILEMM__SGEMM_CARRY_LEAST;
}

/* Add up `count` parts of FP16 planes, and store what these carry. Returns whether they leave
 * something of the group's tile. `rows`: its rows' classes. */
template <typename S>
static __device__ __forceinline__ bool add_half(const problem_t &problem, const block_t &block,
                                                const rows_of_tile_t &tile, int count,
                                                unsigned char *rows)
{
    const int columns = tile.columns;
    bool left = false;
    for_elements<S>(problem, block, tile, [&](int row, int column, const float *sums) {
        const unsigned of_row = class_of_row(problem, block, row);
        float sum = 0.0f;
        for (int slot = 0; slot < count; slot++)
            sum += sums[slot * S::M * columns];
        if (column == 0)
            rows[row] = (unsigned char)of_row;
        if (is_carried(problem, block, of_row, column))
            store(problem, tile, row, column, sum);
        else
            left = true;
    });
    return named_barrier_any<SLOTS * 32>(1 + block.group, left);
}

/* The same of BF16 planes: the parts from `first` on, of `all`; after the last store what FP16
 * planes have left, if there were some. */
template <typename S>
static __device__ __forceinline__ void add_bf16(const problem_t &problem, const block_t &block,
                                                const rows_of_tile_t &tile, int count, int first,
                                                int all, const unsigned char *rows)
{
    const int columns = tile.columns;
    for_elements<S>(problem, block, tile, [&](int row, int column, float *sums) {
        float &before = sums[SLOTS * S::M * columns];
        float sum = first > 0 ? before : 0.0f;
        for (int slot = 0; slot < count; slot++)
            sum += sums[slot * S::M * columns];
        if (first + count < all)
            before = sum;
        else if (!problem.half || !is_carried(problem, block, rows[row], column))
            store(problem, tile, row, column, sum);
    });
    named_barrier<SLOTS * 32>(1 + block.group); /* the sums are free */
}

/* ---- a group's tiles ------------------------------------------------------------------------ */

/* Multiply the tiles of some rounds. If `make`, make op(B)'s planes first, which all warps of the
 * block do together. Returns how many rounds are left, which `left` then has. */
template <typename S, typename P>
static __device__ __forceinline__ int multiply_tiles(const problem_t &problem, const block_t &block,
                                                     const rounds_t &rounds, bool make,
                                                     unsigned char *left)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const parts_t parts = parts_of<P>(problem, block);
    const int columns = (int)args.n, lane = (int)threadIdx.x % 32;
    source_t<S> source(problem, block, rounds, parts);
    int count_left = 0;
    if (make) {
        make_planes<P>(problem, block);
        __syncthreads();
    }
#pragma unroll 1
    for (int i = 0; i < rounds.count; i++) {
        const rows_of_tile_t tile = tile_of<S>(problem, block, rounds, i);
        const int round = rounds.left ? rounds.left[i] : i;
#pragma unroll 1
        for (int first = parts.first; first < parts.end; first += block.slots) {
            const int number = first + block.slot, begin = number * parts.length;
            part_t<S, P> part;
            if (number < parts.end) {
                const int length = (int)min(args.k - begin, (int64_t)parts.length);
                const uint4 *const y =
                    planes_of<P>(problem, block, (number - parts.first) * parts.length / BK,
                                 min(lane / 4, columns - 1), lane % 4);
                multiply_part<S, P>(source, y, columns, length, args.exchanged, part);
                end_part<S>(problem, block, tile, part, number - parts.first, begin, length);
            }
            if constexpr (!P::HALF)
                if (block.slots == 1) {
                    store_part<S>(problem, tile, number, part);
                    continue;
                }
            if (number < parts.end)
                for_accumulators<S>([&](int i, int j, int e) {
                    const int column = column_of<S>(j, e);
                    if (column < columns)
                        block.sums[(block.slot * columns + column) * S::M + row_of<S>(i, e)] =
                            part.total[i][j][e];
                });
            named_barrier<SLOTS * 32>(1 + block.group);
            const int count = min((int)SLOTS, parts.end - first);
            unsigned char *const rows = block.shared->rows[block.group][round % CHUNK];
            if constexpr (!P::HALF)
                add_bf16<S>(problem, block, tile, count, first, parts.end, rows);
            else if (add_half<S>(problem, block, tile, count, rows))
                left[count_left++] = (unsigned char)round;
        }
    }
    copy_async_wait_all();
    return count_left;
}

template <typename S>
static __device__ __forceinline__ void body(const problem_t &problem)
{
    extern __shared__ __align__(16) unsigned char memory[];
    wait_for_previous();
    const block_t block = locate<S>(problem, memory);
    unsigned char *const left = problem.half ? block.shared->left[block.group] : nullptr;
    const int most = problem.half ? (int)CHUNK : INT32_MAX; /* rounds at a time */
    bool has_planes = false;
#pragma unroll 1
    for (int first = 0; __syncthreads_or(first < block.rounds); first += most) {
        int count = max(min(block.rounds - first, most), 0);
        if (problem.half) {
            count = multiply_tiles<S, fp16_t>(problem, block, {first, count, nullptr}, !has_planes,
                                              left);
            has_planes = true;
            if (!__syncthreads_or(count > 0))
                continue;
        }
        multiply_tiles<S, bf16_t>(problem, block, {first, count, left}, true, nullptr);
        if (!problem.half)
            break;
        has_planes = false;
    }
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, a_k, m)                                                                       \
    typedef shape_t<(m) / 16, 1, (a_k) != 0, true> name##_t;                                       \
    KERNEL_OF(name, (32 * TILEMM__SGEMM_RESIDENT_WARPS, 2),                                        \
              (const __grid_constant__ problem_t problem), body<name##_t>(problem))
TILEMM__SGEMM_RESIDENT_ROWS(KERNEL)

extern "C" int tilemm__sgemm_resident_launch(const problem_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name:                                                                           \
        return launch_kernel(                                                                      \
            name, {problem->blocks, (unsigned)(32 * problem->warps), problem->shared, 1, true},    \
            (cudaStream_t)stream, *problem);
        TILEMM__SGEMM_RESIDENT_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
