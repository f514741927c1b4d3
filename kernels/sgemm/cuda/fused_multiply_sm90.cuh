/* fused_multiply_sm90.cuh - a block of the fused SGEMM kernels (fused_sm90.cu): the feeder, the
 * converter, the multipliers, the epilogue. For fused_sm90.cu and the other files of such kernels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Feeder: a thread of one more warpgroup asks for steps of op(A) and op(B) ahead of their use; in
 * an UNALIGNED kernel that is not phased the warpgroup copies them. Without a feeder two threads of
 * the converter ask.
 *
 * Converter: one warpgroup makes the planes of op(B).
 *
 * Multipliers: each of BM / 64 warpgroups has 64 rows. It makes the planes of its rows of op(A) a
 * step ahead, in the registers of those that the tensor cores have used. The tensor core truncates
 * as it adds.
 * So `part` has the smaller products of a step, then that of the large planes of the next, and is
 * added to `total` in FP32 (promotion). Steps with numbers that the planes' windows do not have are
 * multiplied in FP32 (fused_fp32_sm90.cuh).
 *
 * Sparse items: where most numbers are zeros a sum rests on few products, h h has hardly an error,
 * and what promotion loses is most of the error. So there a KEEPS kernel goes on with it, too. The
 * converter decides once for an item, by a sample of a step of each operand, and tells the
 * multipliers with the windows of each step from then on. Such an item's steps take longer; those
 * of others have no instruction for it, since the vote on unusual windows is there anyway.
 *
 * Epilogue: to C, or to C by the copy engine while multipliers go on with the next tile; with
 * split-K to the partial products, or in a cluster to shared memory, where each block adds up some
 * rows of all splits, in order.
 *
 * Tile scheduler: blocks are persistent; reading and making planes run on into the next tile. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_MULTIPLY_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_MULTIPLY_SM90_CUH

#include <cuda_runtime.h>

#include "fused_fp32_sm90.cuh"
#include "fused_invariant_sm90.cuh"
#include "fused_products_sm90.cuh"
#include "fused_store_sm90.cuh"

/* Of the windows of a step's planes, in the bytes of a word, bit 0 of those whose numbers the
 * multipliers may need. */
static __device__ __forceinline__ unsigned watched(unsigned windows)
{
    return (windows | windows / HUGE_ONES) & EVERY_BYTE * BEYOND;
}

/* ---- feeder ---------------------------------------------------------------------------------- */

/* Steps of both operands, as far ahead as the queues have room: one thread asks for them, or all
 * of the warpgroup copy them. A step of op(B) follows the one before of op(A): so the converter of
 * a KEEPS kernel, which leaves a step of op(A) when it has the next one of op(B), leaves none
 * twice. op(A)'s last one is followed by a step of zeros, since multipliers make the planes of one
 * step too many; not those of TF32. */
template <typename S>
static __device__ __forceinline__ void feed_items(const fused_t &problem, const maps_t<S> &maps,
                                                  shared_t<S> &shared)
{
    feed_t of_a, of_b;
    of_a.count = of_b.count = 0;
    for (unsigned item = own_item<S>(problem, blockIdx.x); item < problem.count;
         item = own_item<S>(problem, item + gridDim.x)) {
        const place_t place = locate<S>(problem, item);
        set_place<S, true>(of_a, place);
        set_place<S, false>(of_b, place);
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK) {
            of_a.k = of_b.k = k;
            /* No registers for the places of all lines. */
            of_a.line = (int)opaque((unsigned)of_a.line);
            of_b.line = (int)opaque((unsigned)of_b.line);
            ask_for<S, false>(of_b, shared.b, problem, maps);
            ask_for<S, true>(of_a, shared.a, problem, maps);
            of_a.count = ++of_b.count;
        }
    }
    if (!S::TF32) {
        of_a.k = (int)((problem.args.k + BK - 1) / BK * BK);
        ask_for<S, true>(of_a, shared.a, problem, maps);
    }
    if (is_copied<S>(problem))
        copy_async_wait_all();
}

template <typename S>
static __device__ __forceinline__ void feed(const fused_t &problem, const maps_t<S> &maps,
                                            shared_t<S> &shared)
{
    if (is_copied<S>(problem) || threadIdx.x % WARPGROUP == 0)
        feed_items(problem, maps, shared);
}

/* ---- converter ------------------------------------------------------------------------------- */

/* Whether an item is sparse: SPARSE or 0. In its second step, number `count`, of which `depth` of k
 * exist: the first one has nothing to lose. Warp 0 looks at the step of op(B), whose stage it has
 * not left. Warp 1 looks at op(A)'s step before, which has come, or the multipliers wait for it
 * too. They may have left its stage, but this warp leaves it as well, after this. */
template <typename S>
static __device__ __forceinline__ unsigned sparse_bit(shared_t<S> &shared, const fused_t &problem,
                                                      const place_t &place, unsigned count,
                                                      int depth)
{
    const unsigned warp = threadIdx.x % WARPGROUP / 32, before = count - 1;
    bool sparse = false;
    if (warp == 0) {
        sparse = is_sparse<S::BN, S::B_K>(shared.b.at[count % S::STAGES], problem.args.n - place.n,
                                          depth);
    } else if (warp == 1) {
        mbarrier_wait(&shared.a.full[before % S::STAGES], before / S::STAGES % 2);
        sparse =
            is_sparse<S::BM, S::A_K>(shared.a.at[before % S::STAGES], problem.args.m - place.m, BK);
    }
    return sparse ? SPARSE : 0;
}

template <typename S>
static __device__ __forceinline__ void convert_b(const fused_t &problem, const maps_t<S> &maps,
                                                 shared_t<S> &shared)
{
    const unsigned thread = threadIdx.x % WARPGROUP, warp = thread / 32, lane = thread % 32;
    const unsigned line0 = warp * 8 * S::LINES;
    first_t<S, false> first = first_of<S, false>(problem, line0, 0);
    unsigned buffer = 0, parity = 1, count = 0;
    unsigned large = 0;
    const unsigned first_item = own_item<S>(problem, blockIdx.x);
    feed_t feed = {first_item, 0, 0, 0, 0, 0};
    for (int i = 0; i < S::STAGES - 1; i++) {
        if (thread == 0 && !S::HAS_FEEDER)
            feed_step<S, false>(feed, shared.b, problem, maps);
        else if (thread == 32 && i > 0 && !S::HAS_FEEDER)
            feed_step<S, true>(feed, shared.a, problem, maps);
    }
    for (unsigned item = first_item; item < problem.count;
         item = own_item<S>(problem, item + gridDim.x)) {
        const place_t place = locate<S>(problem, item);
        unsigned sparse = 0;
        if (S::UNALIGNED)
            first = first_of<S, false>(problem, line0, place.matrix);
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK, count++) {
            const unsigned stage = count % S::STAGES;
            window_t window;
            if (thread == 0 && !S::HAS_FEEDER)
                feed_step<S, false>(feed, shared.b, problem, maps);
            else if (thread == 32 && !S::HAS_FEEDER)
                feed_step<S, true>(feed, shared.a, problem, maps);
            __syncwarp();
            mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
            /* In few steps little is lost, and looking costs more. */
            if (S::KEEPS && k == place.k + BK && place.end > place.k + FEW_STEPS * BK)
                sparse = sparse_bit<S>(shared, problem, place, count, place.end - k);
            if (S::KEEPS && thread == 32 && count > 0)
                mbarrier_arrive(&shared.a.empty[(count - 1) % S::STAGES]);
            mbarrier_wait(&shared.empty[buffer], parity);
            do { /* again where another window fits */
                window = {large};
                convert_b_lines<S>(shared.b.at[stage], first, line0, shared.planes[buffer], window);
                if (S::INVARIANT)
                    note_columns<S>(shared, stage, buffer, first, window);
                else
                    look_beyond<S::LINES, S::B_K>(shared.b.at[stage], first, window);
                large = window.large;
            } while (!S::INVARIANT && window.fits);
            const unsigned byte = large | (window.beyond ? BEYOND : 0) | sparse;
            /* If it is watched, the multipliers may read the stage too. */
            leave_stage<S>(problem, &shared.b.empty[stage], S::INVARIANT || watched(byte) == 0);
            if (!S::INVARIANT && lane == 0)
                ((unsigned char *)&shared.windows[buffer])[warp] = byte;
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            advance<S::BUFFERS>(&buffer, &parity);
        }
    }
}

/* ---- items ---------------------------------------------------------------------------------- */

/* After the planes of the next step of op(A) were made: note whether their window has all numbers,
 * and leave the stage. Not yet if `holds`: end_chains() does. */
template <typename S>
static __device__ __forceinline__ void end_planes(multiplier_t<S> &at, shared_t<S> &shared,
                                                  const fused_t &problem, window_t &window,
                                                  bool holds)
{
    const float *const stage = shared.a.at[at.count % S::STAGES];
    if (S::INVARIANT)
        at.next_rows |= exact_lines_of<ROWS, S::A_K>(stage, at.first, window);
    else
        look_beyond<ROWS, S::A_K>(stage, at.first, window);
    at.beyond = window.beyond;
    at.fits = window.fits;
    at.large = window.large;
    at.are_watched = !S::INVARIANT && named_barrier_any<WARPGROUP>(warpgroup_barrier(),
                                                                   window.beyond || window.fits ||
                                                                       (window.large & HUGE_ONES));
    /* If it is watched, check_windows() reads the stage too. */
    leave_stage<S>(problem, &shared.a.empty[at.count % S::STAGES], !at.are_watched && !holds);
    at.count++;
}

/* The k of pair `pair` of an octet of a step. */
template <typename S>
static __device__ __forceinline__ int k_of(unsigned octet, unsigned pair)
{
    return (int)(S::UNALIGNED ? tilemm__phased_k(octet, pair * 2)
                              : tilemm__fused_k(octet, pair * 2));
}

/* All windows of op(B)'s planes of a step together. */
static __device__ __forceinline__ unsigned any_window(unsigned windows)
{
    return (windows | windows >> 8 | windows >> 16 | windows >> 24) & 0xff;
}

/* Whether some number of a step is not even beside the other operand's windows, of which `others`
 * has the bits: of a part of op(B), which is this thread's; or of its rows of op(A), whose planes
 * are `a`. Numbers beyond the matrices do not count. */
template <typename S>
static __device__ __forceinline__ bool
has_uneven_b(const multiplier_t<S> &at, const shared_t<S> &shared, const fused_t &problem,
             unsigned windows, unsigned others)
{
    const int lines = (int)min((int64_t)S::BN, problem.args.n - at.place.n);
    const int depth = at.place.end - at.k;
    bool uneven = false;
    for (int line = (int)(opaque(threadIdx.x) % WARPGROUP); line < lines; line += WARPGROUP) {
        const even_t even = even_beside(others, windows >> line / (8 * S::LINES) * 8);
#pragma unroll
        for (int i = 0; i < BK / 2; i++)
            uneven |= is_uneven(
                shared.planes[at.buffer][0][tilemm__fused_word(line, i % 4, i / 4, S::WORDS)],
                depth - k_of<S>(i % 4, i / 4), even);
    }
    return uneven;
}

template <typename S>
static __device__ __forceinline__ bool has_uneven_a(const multiplier_t<S> &at,
                                                    const fused_t &problem, const fragments_t<S> &a,
                                                    unsigned others)
{
    const even_t even = even_beside(others, at.large);
    const int depth = at.place.end - at.k;
    const unsigned octet = opaque(threadIdx.x) % 4;
    bool uneven[ROWS] = {};
#pragma unroll
    for (int i = 0; i < ROWS * S::WORDS; i++)
        uneven[i % 2] |= is_uneven(a[0][i], depth - k_of<S>(octet, i / 2), even);
    return (uneven[0] && at.place.m + row_of<S>(0) < problem.args.m) ||
           (uneven[1] && at.place.m + row_of<S>(1) < problem.args.m);
}

/* The scales of a step's planes: of op(A)'s in this warp; of op(B)'s. */
template <typename S>
static __device__ __forceinline__ unsigned scales_of_a(const multiplier_t<S> &at)
{
    return EVERY_BYTE * window_log2(at.large);
}

static __device__ __forceinline__ unsigned scales_of_b(unsigned windows)
{
    return window_log2(windows & EVERY_BYTE * (LARGE | HUGE_ONES), EVERY_BYTE);
}

/* The windows of op(B)'s planes of the step. Lane 0 alone reads, since it alone reports that all
 * has been read. */
template <typename S>
static __device__ __forceinline__ unsigned windows_of_b(const multiplier_t<S> &at,
                                                        const shared_t<S> &shared)
{
    const bool first_lane = threadIdx.x % 32 == 0;
    return __shfl_sync(~0u, first_lane ? shared.windows[at.buffer] : 0, 0);
}

/* The item after this one: problem.count or more if there is none. */
template <typename S>
static __device__ __forceinline__ unsigned item_after(const multiplier_t<S> &at,
                                                      const fused_t &problem)
{
    return own_item<S>(problem, at.item + next_items<S>());
}

/* Where the rows are of which planes are made next: at the end of an item those of the next one,
 * perhaps of another matrix. (If there is no next item they are not used.) */
template <typename S>
static __device__ __forceinline__ void find_next_rows(multiplier_t<S> &at, const fused_t &problem)
{
    if (S::UNALIGNED && problem.uneven_a && at.k + BK >= at.place.end)
        at.first = first_of_a<S>(problem, locate<S>(problem, item_after(at, problem)).matrix);
}

template <typename S>
static __device__ __forceinline__ void go_to_next_step(multiplier_t<S> &at)
{
    at.k += BK;
    advance<S::BUFFERS>(&at.buffer, &at.parity);
}

/* After a step that has been multiplied in FP32: make the planes of op(A) of the next one; or, if
 * it is known to go the same way, keep its numbers in their stage instead. */
template <typename S>
static __device__ __forceinline__ void make_next(multiplier_t<S> &at, shared_t<S> &shared,
                                                 fragments_t<S> &a, const fused_t &problem,
                                                 bool is_known)
{
    const unsigned stage = at.count % S::STAGES;
    window_t window = {at.large};
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
    if (is_known) {
        at.are_watched = true;
        at.count++;
    } else {
        find_next_rows(at, problem);
        convert_a<S>(shared.a.at[stage], at.first, 0, a, window);
        convert_a<S>(shared.a.at[stage], at.first, 1, a, window);
        end_planes(at, shared, problem, window, false);
    }
    go_to_next_step(at);
}

/* Whether a step is to be multiplied in FP32: numbers are beyond the windows, products may
 * overflow, or planes or sums lose bits that count. Makes planes of op(A) again where another
 * window fits. */
template <typename S>
static __device__ __forceinline__ bool needs_fp32(const multiplier_t<S> &at, shared_t<S> &shared,
                                                  fragments_t<S> &a, const fused_t &problem,
                                                  unsigned windows)
{
    const unsigned of_b = any_window(windows);
    bool needs = false;
    if (at.fits) {
        const float *const stage = shared.a.at[(at.count - 1) % S::STAGES];
        window_t again = {at.large};
        convert_a<S>(stage, at.first, 0, a, again);
        convert_a<S>(stage, at.first, 1, a, again);
    }
    if (__any_sync(~0u, at.are_watched)) {
        needs = some_of_warpgroup(at.beyond);
        if (!needs && some_of_warpgroup(at.large & HUGE_ONES)) {
            const unsigned of_a = (some_of_warpgroup(at.large & RISKY) ? RISKY : 0) |
                                  (some_of_warpgroup(at.large & LOSSY) ? LOSSY : 0);
            needs = some_of_warpgroup(has_uneven_b(at, shared, problem, windows, of_a));
        }
    }
    if (watched(windows) && !needs)
        needs = some_of_warpgroup((of_b & BEYOND) || has_uneven_a(at, problem, a, of_b));
    return needs;
}

/* Leave the stages of a step's operands that are watched. */
template <typename S>
static __device__ __forceinline__ void leave_watched(const multiplier_t<S> &at, shared_t<S> &shared,
                                                     const fused_t &problem, unsigned windows)
{
    const unsigned stage = (at.count - 1) % S::STAGES, of_b = watched(windows);
    leave_stage<S>(problem, &shared.a.empty[stage], at.are_watched);
    if (of_b) {
        mbarrier_meet(&shared.multipliers); /* which may have read it */
        /* For the warp of the converter, which did not. */
        leave_stage<S>(problem, &shared.b.empty[stage],
                       threadIdx.x < WARPGROUP && (of_b >> threadIdx.x / 32 * 8 & 1));
    }
}

/* Where the numbers of a step are. */
template <typename S>
static __device__ __forceinline__ numbers_t<S>
numbers_of(const multiplier_t<S> &at, shared_t<S> &shared, const fused_t &problem, unsigned windows)
{
    const unsigned count = at.count - 1, stage = count % S::STAGES;
    const unsigned warp = opaque(threadIdx.x) % WARPGROUP / 32, line = warp * 8 * S::LINES;
    const bool keeps_b = watched(windows);
    if (keeps_b)
        mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
    return {at.are_watched ? shared.a.at[stage] : NULL,
            keeps_b ? shared.b.at[stage] : NULL,
            unscale(UNSCALED + scales_of_a(at), 0),
            unscale(UNSCALED + scales_of_b(windows), warp),
            first_of<S, false>(problem, line, at.place.matrix),
            line};
}

/* Whether numbers that the usual windows do not have are in the rows of each of a warpgroup's
 * warps, or in the columns of each of the converter's: mostly not single ones then. */
template <typename S>
static __device__ __forceinline__ bool is_dense(const multiplier_t<S> &at, unsigned windows)
{
    const bool mine = at.beyond || (at.large & HUGE_ONES);
    return !some_of_warpgroup(!mine) || watched(windows) == EVERY_BYTE * BEYOND;
}

/* Multiply a step in FP32, and those that follow it while they are to be, as long as chains may be:
 * after two of them, if the second one is dense, the others without a look. Returns whether the
 * step after these is an item's next one and has been looked at: then `windows` are its own. */
template <typename S>
static __device__ __forceinline__ bool multiply_in_fp32(multiplier_t<S> &at, shared_t<S> &shared,
                                                        fragments_t<S> &a, const fused_t &problem,
                                                        unsigned &windows)
{
    const int LONGEST = chain_t<S>::LONGEST;
    chains_t<S> chains;
    bool next, needs, is_known = false;
#pragma unroll
    for (int i = 0; i < chain_t<S>::OF_THREAD; i++)
#pragma unroll
        for (int j = 0; j < chain_t<S>::COLUMNS; j++)
            chains[i][j] = 0.0f;
#pragma unroll 1
    do {
        multiply_fp32<S>(at, shared, a, numbers_of(at, shared, problem, windows), chains);
        leave_watched(at, shared, problem, windows);
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&shared.empty[at.buffer]);
        next = LONGEST > BK && at.k + BK < at.place.end && (at.k + BK) % LONGEST != 0;
        is_known &= next;
        make_next(at, shared, a, problem, is_known);
        if (next) {
            mbarrier_wait(&shared.full[at.buffer], at.parity);
            windows = windows_of_b(at, shared);
        }
        needs = is_known;
        if (next && !is_known) {
            needs = __any_sync(~0u, needs_fp32(at, shared, a, problem, windows));
            is_known = needs && is_dense(at, windows);
        }
    } while (needs);
    add_chains<S>(at, shared, chains);
    return next;
}

/* Of a step some of whose planes are watched, or whose windows are new: multiply it and perhaps
 * others in FP32 if need be, and begin the sums of the step after these, or of this one, in its
 * windows. Returns whether that one has been looked at: then `windows` are its own. */
template <typename S>
static __device__ __forceinline__ bool check_windows(multiplier_t<S> &at, shared_t<S> &shared,
                                                     fragments_t<S> &a, const fused_t &problem,
                                                     unsigned &windows)
{
    bool ready = true;
    add_part(at, false);
    if (__any_sync(~0u, needs_fp32(at, shared, a, problem, windows)))
        ready = __any_sync(~0u, multiply_in_fp32(at, shared, a, problem, windows));
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.part[i] = 0.0f;
    at.scales = UNSCALED + scales_of_a(at) + scales_of_b(windows);
    if (ready)
        leave_watched(at, shared, problem, windows);
    return ready;
}

/* Whether check_windows() is needed, or a KEEPS kernel's item is sparse. */
template <typename S>
static __device__ __forceinline__ bool is_unusual(const multiplier_t<S> &at, unsigned windows)
{
    const bool are_new = at.scales != UNSCALED + scales_of_a(at) + scales_of_b(windows);
    return at.are_watched || are_new ||
           (S::KEEPS ? windows & EVERY_BYTE * (BEYOND | HUGE_ONES | SPARSE) : watched(windows));
}

/* Multiply the smaller products of a step, and make the planes of the next one in the registers of
 * those that they have used: of the first half while the second is multiplied, then of that. A
 * warpgroup's products follow each other, and an instruction waits until the one before has begun:
 * conversions go in between. */
template <typename S, bool EXCHANGED>
static __device__ __forceinline__ void multiply_and_make(multiplier_t<S> &at, shared_t<S> &shared,
                                                         fragments_t<S> &a, window_t &window,
                                                         bool adds)
{
    const int FIRST = first_product<S>(SMALLER_PRODUCTS);
    const float *const stage = shared.a.at[at.count % S::STAGES];
    float x[ROWS][OCTET / 2];
    take<ROWS, S::A_K>(stage, at.first, 0, x);
    multiply<S, SMALLER_PRODUCTS>(at.part, a, shared.planes[at.buffer], 0, adds, EXCHANGED);
    multiply_product<S>(at.part, a, shared.planes[at.buffer], 1, FIRST, true, EXCHANGED);
    wgmma_commit();
    wgmma_wait<1>();
    pin(a, 0);
    multiply_product<S>(at.part, a, shared.planes[at.buffer], 1, FIRST + 1, true, EXCHANGED);
    convert_rows<S>(x, 0, a, window);
    pin(a, 0);
#pragma unroll
    for (int i = FIRST + 2; i < PRODUCTS; i++)
        multiply_product<S>(at.part, a, shared.planes[at.buffer], 1, i, true, EXCHANGED);
    wgmma_commit();
    take<ROWS, S::A_K>(stage, at.first, 1, x);
    wgmma_wait<0>();
    pin(a, 1);
    wgmma_pin(at.part);
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.empty[at.buffer]);
    convert_rows<S>(x, 1, a, window);
}

/* Multiply a step, whose planes of op(A) are `a`, and make those of the next one. The smaller
 * products of the step are left in `part`, for the next one; if KEEPS, with what the addition of
 * the products before lost. */
template <typename S, bool KEEPS>
static __device__ __forceinline__ void multiply_step(multiplier_t<S> &at, shared_t<S> &shared,
                                                     fragments_t<S> &a, const fused_t &problem)
{
    window_t window = {at.large};

    multiply<S, LARGE_PRODUCT>(at.part, a, shared.planes[at.buffer], 0);
    multiply<S, LARGE_PRODUCT>(at.part, a, shared.planes[at.buffer], 1);
    mbarrier_wait(&shared.a.full[at.count % S::STAGES], at.count / S::STAGES % 2);
    wgmma_wait<0>();
    wgmma_pin(at.part);
    add_part(at, KEEPS);
    pin(a, 0);
    pin(a, 1);
    wgmma_pin(at.part);
    find_next_rows(at, problem);
    if (S::INVARIANT && at.exchanged)
        multiply_and_make<S, true>(at, shared, a, window, KEEPS);
    else
        multiply_and_make<S, false>(at, shared, a, window, KEEPS);
    end_planes(at, shared, problem, window, S::INVARIANT && at.k + BK >= at.part_end);
    go_to_next_step(at);
}

/* Look at the windows of a step, and multiply it. */
template <typename S>
static __device__ __forceinline__ void step(multiplier_t<S> &at, shared_t<S> &shared,
                                            fragments_t<S> &a, const fused_t &problem)
{
    mbarrier_wait(&shared.full[at.buffer], at.parity);
    if (S::INVARIANT) {
        note_lines(at, shared);
    } else {
        unsigned windows = windows_of_b(at, shared);
        /* Votes, so that the compiler knows that warps do not diverge: wgmma is slow where they
         * may. */
        if (__any_sync(~0u, is_unusual(at, windows))) {
            if ((!S::KEEPS || __any_sync(~0u, is_unusual(at, windows & ~(EVERY_BYTE * SPARSE)))) &&
                !__any_sync(~0u, check_windows(at, shared, a, problem, windows)))
                return;
            if (S::KEEPS && __any_sync(~0u, windows & EVERY_BYTE * SPARSE)) {
                multiply_step<S, true>(at, shared, a, problem);
                return;
            }
        }
    }
    multiply_step<S, false>(at, shared, a, problem);
}

template <typename S>
static __device__ __forceinline__ void begin_item(multiplier_t<S> &at, const fused_t &problem)
{
    at.place = locate<S>(problem, at.item);
    at.k = at.place.k;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] = at.part[i] = 0.0f;
    at.scales = UNSCALED + 2 * WINDOW_LOG2 * EVERY_BYTE;
    begin_part(at, problem);
}

/* Store an item's tile. */
template <typename S>
static __device__ __forceinline__ void store_item(multiplier_t<S> &at, shared_t<S> &shared,
                                                  const fused_t &problem, const maps_t<S> &maps)
{
    if (problem.splits > 1 && !problem.partial) { /* for add_up() */
        named_barrier<S::MULTIPLIERS * WARPGROUP>(ALL_MULTIPLIERS);
        to_shared<S>(at.total, 1.0f, tile_of(shared));
    } else if (S::INVARIANT && problem.carry.a) {
        store<S>(at.total, problem, at.place, left_t{problem, at.place});
    } else if (S::BULK && problem.store == TILEMM__SGEMM_STORE_BULK) {
        store_bulk<S>(at.total, problem.args.alpha, &maps.c, at.place, shared.bulk);
    } else if (S::BULK && problem.store == TILEMM__SGEMM_STORE_ROWS) {
        store_rows<S>(at.total, problem.args, at.place, shared.bulk);
    } else {
        store<S>(at.total, problem, at.place, all_t());
    }
}

/* Go to the next item. Returns whether there is one. */
template <typename S>
static __device__ __forceinline__ bool next_item(multiplier_t<S> &at, const fused_t &problem)
{
    at.item = item_after(at, problem);
    if (at.item >= problem.count)
        return false;
    begin_item(at, problem);
    return true;
}

/* Store an item's tile, and go to the next item. Returns whether there is one. */
template <typename S>
static __device__ __forceinline__ bool end_item(multiplier_t<S> &at, shared_t<S> &shared,
                                                const fused_t &problem, const maps_t<S> &maps)
{
    store_item(at, shared, problem, maps);
    return next_item(at, problem);
}

/* After a step, or INVARIANT after the last one of a part of k: if it was an item's last, end the
 * item. Returns whether there is more to do. */
template <typename S>
static __device__ __forceinline__ bool go_on(multiplier_t<S> &at, fragments_t<S> &a,
                                             shared_t<S> &shared, const fused_t &problem,
                                             const maps_t<S> &maps)
{
    if (!S::INVARIANT && at.k < at.place.end)
        return true;
    add_part(at, false);
    if constexpr (S::INVARIANT) {
        end_chains(at, a, shared, problem);
        if (!end_part(at, shared, problem))
            return true;
    }
    return end_item(at, shared, problem, maps);
}

template <typename S>
static __device__ __forceinline__ void multiply_items(const fused_t &problem, const maps_t<S> &maps,
                                                      shared_t<S> &shared)
{
    fragments_t<S> a; /* of a step, and then of the next */
    multiplier_t<S> at;
    window_t window = {0};
    at.item = own_item<S>(problem, blockIdx.x);
    at.buffer = at.parity = at.count = at.next_rows = 0;
    at.large = window.large;
    at.exchanged = problem.args.exchanged;
    begin_item(at, problem);
    at.first = first_of_a<S>(problem, at.place.matrix);
    mbarrier_wait(&shared.a.full[0], 0);
    convert_a<S>(shared.a.at[0], at.first, 0, a, window);
    convert_a<S>(shared.a.at[0], at.first, 1, a, window);
    end_planes(at, shared, problem, window, false);
#pragma unroll 1
    do
#pragma unroll 1
        do
            step(at, shared, a, problem);
        while (S::INVARIANT && at.k < at.part_end);
    while (go_on(at, a, shared, problem, maps));
    if (S::BULK && problem.store == TILEMM__SGEMM_STORE_BULK)
        tensor_wait_read(); /* before the shared memory goes */
}

/* The blocks of a cluster have one tile, each a split of its k. */
template <typename S>
static __device__ __forceinline__ void add_up_splits(const fused_t &problem, shared_t<S> &shared)
{
    const place_t place = locate<S>(problem, blockIdx.x);
    cluster_sync();
    if (S::INVARIANT && problem.carry.a)
        add_up(shared, problem, place, left_t{problem, place});
    else
        add_up(shared, problem, place, all_t());
}

/* ---- a block -------------------------------------------------------------------------------- */

/* Prepare the shared memory; all threads of the block are to meet then. */
template <typename S>
static __device__ __forceinline__ void begin_barriers(const fused_t &problem, const maps_t<S> &maps,
                                                      shared_t<S> &shared)
{
    const bool copied = is_copied<S>(problem);
    if (threadIdx.x == 0) {
        shared.has_left = 0;
        for (int i = 0; i < S::BUFFERS; i++) {
            mbarrier_init(&shared.full[i], S::CONVERTING * 32);
            mbarrier_init(&shared.empty[i], S::MULTIPLIERS * WARPGROUP / 32);
        }
        for (int i = 0; i < S::STAGES; i++) {
            mbarrier_init(&shared.a.full[i], copied ? WARPGROUP : 1);
            mbarrier_init(&shared.a.empty[i],
                          S::MULTIPLIERS * WARPGROUP / 32 * S::CLUSTER * leaving_lanes<S>(problem) +
                              S::KEEPS);
            mbarrier_init(&shared.b.full[i], copied ? WARPGROUP : 1);
            mbarrier_init(&shared.b.empty[i], S::CONVERTING * leaving_lanes<S>(problem));
        }
        mbarrier_init(&shared.multipliers, S::MULTIPLIERS * WARPGROUP);
        mbarrier_fence_init();
        for (int i = 0; i < S::PHASES && !copied; i++) {
            tensor_prefetch(&maps.a[i]);
            tensor_prefetch(&maps.b[i]);
        }
    }
}

/* The same, and meet. */
template <typename S>
static __device__ __forceinline__ void prepare(const fused_t &problem, const maps_t<S> &maps,
                                               shared_t<S> &shared)
{
    begin_barriers(problem, maps, shared);
    if (S::CLUSTER > 1)
        cluster_sync();
    else
        __syncthreads();
}

#endif
