/* fused_half_sm90.cuh - what the converters and the multipliers of a block do where invariant
 * products are computed from two FP16 planes (half_lines.cuh), half the products of three BF16
 * planes. For half_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule is in doc/numerics.md; what planes do not carry is left (carry.h). A line's scale is
 * that of a part of k. Its sums are taken back where the part ends: with the planes of a part's
 * last step come the columns' scales and classes, and the multipliers have those of their rows.
 *
 * A step of op(A) is converted while the tensor cores have the one before, to registers of its own.
 */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_HALF_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_HALF_SM90_CUH

#include "fused_multiply_sm90.cuh"

static_assert((int)HALF_FIRST == (int)BK, "the first step has the scale");

/* Where the part of an item's k that begins at k ends. */
static __device__ __forceinline__ int end_of_part(const place_t &place, const fused_t &problem,
                                                  int k)
{
    return (int)min((int64_t)place.end, k + problem.k_half);
}

/* Begin a part's lines with its first step, in a stage. */
template <int LINES, bool K_MAJOR>
static __device__ __forceinline__ void begin_lines(const float *stage, unsigned first,
                                                   half_lines_t<LINES> &lines)
{
    unsigned largest[LINES];
#pragma unroll
    for (int j = 0; j < LINES; j++)
        largest[j] = 0;
    for_each_number<LINES, K_MAJOR>(stage, first, [&](int line, float x) {
        largest[line] = max(largest[line], __float_as_uint(x) & 0x7fffffff);
    });
#pragma unroll
    for (int j = 0; j < LINES; j++) {
#pragma unroll
        for (int apart = 1; apart < 4; apart *= 2) /* four lanes have a line */
            largest[j] = max(largest[j], __shfl_xor_sync(~0u, largest[j], apart));
        lines.of[j] = {half_scale(largest[j]), 0, 0};
    }
}

/* ---- converters ----------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void convert_b_half(const fused_t &problem, const maps_t<S> &maps,
                                                      shared_t<S> &shared)
{
    const unsigned thread = threadIdx.x - S::MULTIPLIERS * WARPGROUP;
    const unsigned warp = thread / 32, lane = thread % 32;
    const unsigned line0 = warp * 8 * S::LINES, first = first_of<S, false>(problem, line0, 0);
    unsigned buffer = 0, parity = 1, count = 0;
    feed_t feed = {blockIdx.x, 0, 0, 0, 0, 0};
    for (int i = 0; i < S::STAGES - 1; i++) {
        if (thread == 0)
            feed_step<S, false>(feed, shared.b, problem, maps);
        else if (thread == 32 && i > 0)
            feed_step<S, true>(feed, shared.a, problem, maps);
    }
    for (unsigned item = blockIdx.x; item < problem.count; item += gridDim.x) {
        const place_t place = locate<S>(problem, item);
        half_lines_t<S::LINES> lines;
        int begin = place.k, end = place.k;
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK, count++) {
            const unsigned stage = count % S::STAGES;
            if (thread == 0)
                feed_step<S, false>(feed, shared.b, problem, maps);
            else if (thread == 32)
                feed_step<S, true>(feed, shared.a, problem, maps);
            __syncwarp();
            mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
            if (k >= end) {
                begin = k;
                end = end_of_part(place, problem, k);
                begin_lines<S::LINES, S::B_K>(shared.b.at[stage], first, lines);
            }
            mbarrier_wait(&shared.empty[buffer], parity);
            convert_b_lines<S>(shared.b.at[stage], first, line0, shared.planes[buffer], lines);
            leave_stage<S>(problem, &shared.b.empty[stage]);
            if (k + BK >= end) {
#pragma unroll
                for (int j = 0; j < S::LINES; j++) {
                    const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_K);
                    const unsigned its_class = half_class_of(lines.of[j], end - begin);
                    if (lane % 4 == 0) {
                        shared.inverses[buffer][line] = half_inverse(lines.of[j].scale);
                        shared.column_classes[buffer][line] = (unsigned char)its_class;
                    }
                }
            }
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            advance<S::BUFFERS>(&buffer, &parity);
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* The state of a multiplier thread beside what an invariant one has: its rows of which planes were
 * made last; what takes sums back from the scales of those that are multiplied, and their classes;
 * the least classes in the item. */
template <typename S>
struct half_multiplier_t : multiplier_t<S> {
    int part_begin; /* k */
    half_lines_t<ROWS> lines;
    float inverses[ROWS];
    unsigned row_classes[ROWS], classes[ROWS];
};

/* Multiply a step, whose planes of op(A) are `a`, and make those of the next one. If it `ends` a
 * part, the step after it begins one. The smaller products of the step are left in `part`, for the
 * next one. */
template <typename S>
static __device__ __forceinline__ void
multiply_half_step(half_multiplier_t<S> &at, shared_t<S> &shared, const fused_t &problem,
                   fragments_t<S> &a, bool ends)
{
    fragments_t<S> next;
    float x[2][ROWS][OCTET / 2];
    const unsigned stage = at.count % S::STAGES;

    mbarrier_wait(&shared.full[at.buffer], at.parity);
    multiply<S, LARGE_PRODUCT>(at.part, a, shared.planes[at.buffer], 0);
    multiply<S, LARGE_PRODUCT>(at.part, a, shared.planes[at.buffer], 1);
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
    if (__any_sync(~0u, ends)) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            at.row_classes[i] = half_class_of(at.lines.of[i], at.part_end - at.part_begin);
            at.inverses[i] = half_inverse(at.lines.of[i].scale);
        }
        begin_lines<ROWS, S::A_K>(shared.a.at[stage], at.first, at.lines);
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        take<ROWS, S::A_K>(shared.a.at[stage], at.first, half, x[half]);
    convert_rows<S>(x[0], 0, next, at.lines);
    pin(next, 0); /* not later, when the tensor cores may be idle */
    wgmma_wait<0>();
    wgmma_pin(at.part);
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] += at.part[i];
    wgmma_pin(at.part);
    multiply<S, SMALLER_PRODUCTS>(at.part, a, shared.planes[at.buffer], 0, false, at.exchanged);
    multiply<S, SMALLER_PRODUCTS>(at.part, a, shared.planes[at.buffer], 1, true, at.exchanged);
    leave_stage<S>(problem, &shared.a.empty[stage],
                   have_come(problem, x[1][0]) && have_come(problem, x[1][1]));
    convert_rows<S>(x[1], 1, next, at.lines);
    pin(next, 1);
    wgmma_wait<0>();
    pin(a, 0);
    pin(a, 1);
    wgmma_pin(at.part);
    if (!ends && threadIdx.x % 32 == 0) /* else end_half_part() does */
        mbarrier_arrive(&shared.empty[at.buffer]);
#pragma unroll
    for (int p = 0; p < S::PLANES; p++)
#pragma unroll
        for (int i = 0; i < ROWS * S::WORDS; i++)
            a[p][i] = next[p][i];
    at.count++;
    at.k += BK;
    if (!ends)
        advance<S::BUFFERS>(&at.buffer, &at.parity);
}

/* After the last step of a part: add the last products, take the sums back from the lines' scales,
 * and note the classes. */
template <typename S>
static __device__ __forceinline__ void end_half_part(half_multiplier_t<S> &at, shared_t<S> &shared)
{
    const float *const inverses = shared.inverses[at.buffer] + col_of();
    const unsigned thread = threadIdx.x % WARPGROUP;
    unsigned char *const columns = shared.columns[threadIdx.x / WARPGROUP];
    const bool is_first = at.part_begin == at.place.k;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4) {
        const float2 columns_inverses = *(const float2 *)(inverses + i * 2);
#pragma unroll
        for (int j = 0; j < 4; j++)
            at.total[i + j] =
                __fmul_rn(at.total[i + j] + at.part[i + j],
                          at.inverses[j / 2] * (j % 2 ? columns_inverses.y : columns_inverses.x));
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        at.classes[i] = is_first ? at.row_classes[i] : min(at.classes[i], at.row_classes[i]);
    for (unsigned column = thread; column < S::BN; column += WARPGROUP) {
        const unsigned now = shared.column_classes[at.buffer][column];
        columns[column] = (unsigned char)(is_first ? now : min(now, (unsigned)columns[column]));
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.empty[at.buffer]);
    advance<S::BUFFERS>(&at.buffer, &at.parity);
}

/* ---- items ---------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void begin_half_part(half_multiplier_t<S> &at,
                                                       const fused_t &problem)
{
    at.part_begin = at.k;
    at.part_end = end_of_part(at.place, problem, at.k);
}

/* Note with the tile, in a slot of its own, whether planes do not carry some element of `count`
 * rows from `first` on. Returns that. */
template <typename S>
static __device__ __forceinline__ bool note_left(const shared_t<S> &shared, const fused_t &problem,
                                                 const place_t &place, const unsigned char *columns,
                                                 unsigned first, unsigned count, unsigned slot)
{
    const uint64_t tile = tile_number<S>(problem, place);
    const bool left = half_least(shared.rows + first, count) + half_least(columns, S::BN) <
                      TILEMM__SGEMM_CARRY_LEAST;
    if (threadIdx.x % 32 == 0)
        problem.carry.left[tile * TILEMM__SGEMM_CARRY_SLOTS + slot] = left;
    return left;
}

/* Note classes of lines with the operand: from `first` of the tile's on, `step` apart. */
static __device__ __forceinline__ void note_classes(unsigned char *to, int64_t matrix,
                                                    int64_t lines, int64_t line, unsigned first,
                                                    unsigned end, unsigned step,
                                                    const unsigned char *classes)
{
    for (unsigned i = first; i < end && line + i < lines; i += step)
        to[matrix * lines + line + i] = classes[i];
}

/* Store an item's tile, or in a cluster leave it to add_up_half(): all of it; or with beta, what
 * planes carry. Partial products go with their part's classes, and half_parts_sm90.cu finds what is
 * left. */
template <typename S>
static __device__ __forceinline__ void store_half(half_multiplier_t<S> &at, shared_t<S> &shared,
                                                  const fused_t &problem, const maps_t<S> &maps)
{
    const unsigned thread = threadIdx.x % WARPGROUP, warp = threadIdx.x / 32;
    const unsigned char *const columns = shared.columns[threadIdx.x / WARPGROUP];
    if (threadIdx.x % 4 == 0)
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            shared.rows[row_of<S>(i)] = (unsigned char)at.classes[i];
    named_barrier<WARPGROUP>(warpgroup_barrier());
    if (problem.splits > 1 && !problem.partial) {
        for (unsigned i = thread; i < S::BN; i += WARPGROUP)
            shared.classes[S::BM + i] = columns[i]; /* each warpgroup the same */
        for (unsigned i = thread; i < 64; i += WARPGROUP)
            shared.classes[threadIdx.x / WARPGROUP * 64 + i] =
                shared.rows[threadIdx.x / WARPGROUP * 64 + i];
        store_item(at, shared, problem, maps);
        return;
    }
    const int64_t matrix = at.place.split * problem.args.batch_count + at.place.matrix;
    note_classes(problem.carry.a, matrix, problem.args.m, at.place.m,
                 threadIdx.x / WARPGROUP * 64 + thread, (threadIdx.x / WARPGROUP + 1) * 64,
                 WARPGROUP, shared.rows);
    if (threadIdx.x < WARPGROUP)
        note_classes(problem.carry.b, matrix, problem.args.n, at.place.n, thread, S::BN, WARPGROUP,
                     columns);
    if (problem.partial) {
        if (threadIdx.x == 0)
            problem.carry.left[tile_number<S>(problem, at.place) * TILEMM__SGEMM_CARRY_SLOTS] = 0;
        store<S>(at.total, problem, at.place, all_t());
        return;
    }
    const bool left = note_left<S>(shared, problem, at.place, columns,
                                   warp * TILEMM__SGEMM_CARRY_ROWS, TILEMM__SGEMM_CARRY_ROWS, warp);
    if (left)
        shared.has_left = 1;
    if (left && problem.args.beta != 0.0f)
        store<S>(at.total, problem, at.place,
                 carried_t{shared.rows, columns, TILEMM__SGEMM_CARRY_LEAST});
    else
        store_item(at, shared, problem, maps);
}

/* After the last step of a part. Returns whether there is more to do. */
template <typename S>
static __device__ __forceinline__ bool go_on_half(half_multiplier_t<S> &at, shared_t<S> &shared,
                                                  const fused_t &problem, const maps_t<S> &maps)
{
    end_half_part(at, shared);
    if (end_part(at, shared, problem)) {
        store_half(at, shared, problem, maps);
        if (!next_item(at, problem))
            return false;
    }
    begin_half_part(at, problem);
    return true;
}

template <typename S>
static __device__ __forceinline__ void
multiply_half_items(const fused_t &problem, const maps_t<S> &maps, shared_t<S> &shared)
{
    fragments_t<S> a; /* of a step, and then of the next */
    half_multiplier_t<S> at;
    at.item = blockIdx.x;
    at.buffer = at.parity = at.count = 0;
    at.exchanged = problem.args.exchanged;
    at.first = first_of_a<S>(problem, 0);
    begin_item(at, problem);
    begin_half_part(at, problem);
    mbarrier_wait(&shared.a.full[0], 0);
    begin_lines<ROWS, S::A_K>(shared.a.at[0], at.first, at.lines);
    convert_a<S>(shared.a.at[0], at.first, 0, a, at.lines);
    convert_a<S>(shared.a.at[0], at.first, 1, a, at.lines);
    leave_stage<S>(problem, &shared.a.empty[0], have_come(problem, a[0]));
    at.count = 1;
#pragma unroll 1
    do
#pragma unroll 1
        do
            multiply_half_step(at, shared, problem, a, at.k + BK >= at.part_end);
        while (at.k < at.part_end);
    while (go_on_half(at, shared, problem, maps));
    if (S::BULK && problem.store == TILEMM__SGEMM_STORE_BULK)
        tensor_wait_read(); /* before the shared memory goes */
}

/* The blocks of a cluster have one tile, each a part of k: a line's class is the least of its
 * parts'. Returns whether planes do not carry some element of the tile. */
template <typename S>
static __device__ __forceinline__ bool add_up_half(const fused_t &problem, shared_t<S> &shared,
                                                   uint64_t *all)
{
    const place_t place = locate<S>(problem, blockIdx.x);
    const share_t share = share_of<S>(problem, place);
    const unsigned count = (unsigned)max(share.last - share.first, 0);
    unsigned char *const columns = shared.columns[0];
    cluster_sync();
    for (int line = (int)threadIdx.x; line < S::BM + S::BN; line += S::THREADS) {
        float least = TILEMM__SGEMM_CARRY_DENSE;
        for (unsigned block = 0; block < problem.splits; block++)
            least = fminf(least, cluster_read(&shared.classes[line], block));
        (line < S::BM ? shared.rows + line : columns + line - S::BM)[0] = (unsigned char)least;
    }
    mbarrier_meet(all);
    note_classes(problem.carry.a, place.matrix, problem.args.m, place.m,
                 (unsigned)share.first + threadIdx.x, (unsigned)share.last, S::THREADS,
                 shared.rows);
    if (place.split == 0)
        note_classes(problem.carry.b, place.matrix, problem.args.n, place.n, threadIdx.x, S::BN,
                     S::THREADS, columns);
    if (threadIdx.x < 32)
        note_left<S>(shared, problem, place, columns, (unsigned)share.first, count, place.split);
    add_up(shared, problem, place,
           carried_t{shared.rows, columns,
                     problem.args.beta != 0.0f ? TILEMM__SGEMM_CARRY_LEAST : 0u});
    return half_least(shared.rows, S::BM) + half_least(columns, S::BN) < TILEMM__SGEMM_CARRY_LEAST;
}

/* All threads, after the block's items. Returns whether the block goes on with what is left of
 * them: nobody uses the shared memory any more then. */
template <typename S>
static __device__ __forceinline__ bool end_items(const fused_t &problem, shared_t<S> &shared,
                                                 uint64_t *all)
{
    if (problem.partial)
        return false;
    if (problem.splits > 1) {
        const bool left = add_up_half(problem, shared, all);
        if (!left || !problem.goes_on)
            return false;
        cluster_sync();
        return true;
    }
    if (!problem.goes_on)
        return false;
    fence_for_async();
    mbarrier_meet(all);
    if (!shared.has_left)
        return false;
    mbarrier_meet(all);
    return true;
}

#endif
