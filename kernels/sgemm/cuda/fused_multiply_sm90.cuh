/* fused_multiply_sm90.cuh - a block of the fused SGEMM kernels (fused_sm90.cu): the converter, the
 * multipliers, the epilogue. For fused_sm90.cu and rest_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Converter: one warpgroup makes the planes of op(B). Two of its threads ask for steps of op(A) and
 * op(B) ahead of their use.
 *
 * Multipliers: each of BM / 64 warpgroups has 64 rows. It makes the planes of its rows of op(A) a
 * step ahead, between the instructions for the tensor cores. The tensor core truncates as it adds.
 * So `part` has first the product of the large planes, then those of the others, and is added to
 * `total` in FP32 after each (promotion). Where planes cannot carry a number of a step (Inf, NaN,
 * next to overflow, below 2^-100), the warps concerned multiply that step in FP32. In a ROUTED
 * kernel there is no such number; two more products are added, and what the addition of the first
 * loses.
 *
 * Epilogue: to C, or to C by the copy engine while multipliers go on with the next tile; with
 * split-K to the partial products, or in a cluster to shared memory, where each block adds up some
 * rows of all splits, in order.
 *
 * Tile scheduler: blocks are persistent; reading and making planes run on into the next tile. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_MULTIPLY_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_MULTIPLY_SM90_CUH

#include <cuda_runtime.h>

#include "fused_sm90.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/wgmma.cuh"

/* ---- converter ------------------------------------------------------------------------------- */

/* Make the planes of a warp's 8 * LINES lines of a stage, from line0 on. */
template <typename S>
static __device__ __forceinline__ void
convert_b_lines(const float *stage, unsigned first, unsigned line0,
                unsigned (&planes)[S::PLANES][S::PLANE], range_t &range)
{
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2 && line0 < S::BN; half++) {
        float x[S::LINES][OCTET / 2];
        take<S::LINES, S::B_K>(stage, first, half, x);
#pragma unroll
        for (int j = 0; j < S::LINES; j++)
#pragma unroll
            for (int i = 0; i < S::WORDS / 2; i++) {
                const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_K);
                const unsigned at =
                    tilemm__fused_word(line, lane % 4, half * (S::WORDS / 2) + i, S::WORDS);
                unsigned word[S::PLANES];
                convert<S>(x[j], i, word, range);
#pragma unroll
                for (int p = 0; p < S::PLANES; p++)
                    planes[p][at] = word[p];
            }
    }
}

template <typename S>
static __device__ __forceinline__ void convert_b(const fused_t &problem, const maps_t &maps,
                                                 shared_t<S> &shared)
{
    const unsigned thread = threadIdx.x % WARPGROUP, warp = thread / 32, lane = thread % 32;
    const unsigned line0 = warp * 8 * S::LINES, first = first_of<S::LINES, S::B_K>(line0);
    unsigned buffer = 0, parity = 1, count = 0;
    const unsigned first_item = own_item<S>(problem, blockIdx.x);
    feed_t feed = {first_item, 0, 0, 0, 0, 0};
    for (int i = 0; i < S::STAGES - 1; i++) {
        if (thread == 0)
            feed_step<S, false>(feed, shared.b, problem, maps);
        else if (thread == 32 && i > 0)
            feed_step<S, true>(feed, shared.a, problem, maps);
    }
    for (unsigned item = first_item; item < problem.count;
         item = own_item<S>(problem, item + gridDim.x)) {
        const place_t place = locate<S>(problem, item);
#pragma unroll 1
        for (int k = place.k; k < place.end; k += BK, count++) {
            const unsigned stage = count % S::STAGES;
            range_t range = {~0u, 0};
            if (thread == 0)
                feed_step<S, false>(feed, shared.b, problem, maps);
            else if (thread == 32)
                feed_step<S, true>(feed, shared.a, problem, maps);
            __syncwarp();
            mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
            mbarrier_wait(&shared.empty[buffer], parity);
            convert_b_lines<S>(shared.b.at[stage], first, line0, shared.planes[buffer], range);
            const bool beyond = __any_sync(~0u, is_beyond_planes(range));

            __syncwarp(); /* all have read */
            if (lane == 0) {
                shared.beyond[buffer].warp[warp] = beyond;
                mbarrier_arrive(&shared.b.empty[stage]);
            }
            fence_for_async();
            mbarrier_arrive(&shared.full[buffer]);
            advance<S::BUFFERS>(&buffer, &parity);
        }
    }
}

/* ---- multipliers ---------------------------------------------------------------------------- */

/* A thread's words of a plane are fragments for products of 32 bytes of k. */
enum { FRAGMENT = 4, ALL_PRODUCTS = 8, CORE_BYTES = TILEMM__SGEMM_FUSED_CORE * 4 };

template <typename S>
using fragments_t = unsigned[S::PLANES][ROWS * S::WORDS];

/* Between two of these the tensor cores use the fragments. */
template <int PLANES, int WORDS>
static __device__ __forceinline__ void pin(unsigned (&a)[PLANES][WORDS])
{
#pragma unroll
    for (int p = 0; p < PLANES; p++)
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            asm volatile("" : "+r"(a[p][i])::"memory");
}

/* Make the planes of half a step of op(A): word i is of row i % 2. */
template <typename S>
static __device__ __forceinline__ void convert_a(const float *stage, unsigned first, int half,
                                                 fragments_t<S> &a, range_t &range)
{
    float x[ROWS][OCTET / 2];
    take<ROWS, S::A_K>(stage, first, half, x);
#pragma unroll
    for (int i = 0; i < S::WORDS; i++) {
        unsigned planes[S::PLANES];
        convert<S>(x[i % 2], i / 2, planes, range);
#pragma unroll
        for (int p = 0; p < S::PLANES; p++)
            a[p][half * S::WORDS + i] = planes[p];
    }
}

/* Start part = products FIRST to LAST - 1 of a step on the tensor cores; those after the first one
 * of a ROUTED kernel are added to what `part` is. Between the instructions, make the planes of half
 * of the next step.
 */
template <typename S, int FIRST, int LAST>
static __device__ __forceinline__ void
multiply(float (&part)[S::ACCUMULATORS], const fragments_t<S> &a,
         const unsigned (&b)[S::PLANES][S::PLANE], const float *stage, unsigned first,
         fragments_t<S> &next_a, range_t &range)
{
    const int PARTS = BK / 16, COUNT = (LAST - FIRST) * PARTS;
    const int of_a[ALL_PRODUCTS] = {0, 1, 2, 1, 0, 2, 0, 1};
    const int of_b[ALL_PRODUCTS] = {0, 2, 1, 1, 2, 0, 1, 0};
    const uint64_t b0 =
        wgmma_operand_cores(b[0], CORE_BYTES, TILEMM__SGEMM_FUSED_PITCH(S::WORDS) * 4);
    wgmma_fence();
#pragma unroll
    for (int w = 0; w < COUNT; w++) {
        const int p = FIRST + w / PARTS, i = w % PARTS;
        wgmma_bf16(part, a[of_a[p]] + i * FRAGMENT,
                   wgmma_operand_at(b0, of_b[p] * sizeof b[0] + i * 2 * CORE_BYTES),
                   w > 0 || (FIRST > 0 && S::ROUTED));
        if (w == (COUNT - 1) / 2)
            convert_a<S>(stage, first, FIRST > 0, next_a, range);
    }
    wgmma_commit();
}

/* Row i of a thread's ROWS in the tile, and its first column col: it has col + 8 i and the next. */
template <typename S>
static __device__ __forceinline__ unsigned row_of(int i)
{
    return threadIdx.x / 32 * 16 + tilemm__fused_line(threadIdx.x % 32, i, ROWS, S::A_K);
}

[[maybe_unused]] static __device__ __forceinline__ unsigned col_of(void)
{
    return threadIdx.x % 4 * 2;
}

/* total += a step's product in FP32, from the operands. */
template <typename S>
static __device__ __forceinline__ void multiply_fp32(float (&total)[S::ACCUMULATORS],
                                                     const tilemm__sgemm_args_t &args,
                                                     const place_t &place, int k0)
{
    const float *const a = args.a + place.matrix * args.stride_a;
    const float *const b = args.b + place.matrix * args.stride_b;
    const int64_t row0 = min((int64_t)place.m + row_of<S>(0), args.m - 1);
    const int64_t row1 = min((int64_t)place.m + row_of<S>(1), args.m - 1);
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4) {
        int64_t col = (int64_t)place.n + col_of() + i * 2;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        col = opaque(col); /* no registers for the places of all columns */
        const int64_t col0 = min(col, args.n - 1), col1 = min(col + 1, args.n - 1);

#pragma unroll 1
        for (int64_t k = k0; k < min(place.end, k0 + BK); k++) {
            const float a0 = __ldg(a + (S::A_K ? row0 * args.lda + k : k * args.lda + row0));
            const float a1 = __ldg(a + (S::A_K ? row1 * args.lda + k : k * args.lda + row1));
            const float b0 = __ldg(b + (S::B_K ? col0 * args.ldb + k : k * args.ldb + col0));
            const float b1 = __ldg(b + (S::B_K ? col1 * args.ldb + k : k * args.ldb + col1));
            sum[0] = fmaf(a0, b0, sum[0]);
            sum[1] = fmaf(a0, b1, sum[1]);
            sum[2] = fmaf(a1, b0, sum[2]);
            sum[3] = fmaf(a1, b1, sum[3]);
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            total[i + j] += sum[j];
    }
}

/* ---- epilogue ------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void to_shared(const float (&total)[S::ACCUMULATORS], float alpha,
                                                 float *tile)
{
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 2)
        *(float2 *)(tile +
                    tilemm__fused_tile(row_of<S>(i / 2 % 2), col_of() + i / 4 * 8, S::LINES_B)) =
            make_float2(alpha * total[i], alpha * total[i + 1]);
}

/* Store in C by the copy engine, each warp its 16 rows. */
template <typename S>
static __device__ __forceinline__ void store_bulk(const float (&total)[S::ACCUMULATORS],
                                                  float alpha, const CUtensorMap *c,
                                                  const place_t &place, float *tile)
{
    const int row = threadIdx.x / 32 * 16;
    if (threadIdx.x % 32 == 0)
        tensor_wait_read();
    __syncwarp(); /* the tile before has gone */
    to_shared<S>(total, alpha, tile);
    fence_for_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        for (int col = 0; col < S::BN; col += 32)
            tensor_store(c, place.n + col, place.m + row, (int)place.matrix,
                         tile + tilemm__fused_tile(row, col, S::LINES_B));
}

/* Store in C, or in the partial products. */
template <typename S>
static __device__ __forceinline__ void store(const float (&total)[S::ACCUMULATORS],
                                             const fused_t &problem, const place_t &place)
{
    const tilemm__sgemm_args_t &args = problem.args;
    float *const whole =
        problem.partial
            ? problem.partial + (place.split * args.batch_count + place.matrix) * args.m * args.n
        : args.c_array ? args.c_array[place.matrix]
                       : args.c + place.matrix * args.stride_c;
    const int64_t ld = !problem.partial ? args.ldc : S::TRANSPOSED ? args.m : args.n;
    const float alpha = problem.partial ? 1.0f : args.alpha;
    const float beta = problem.partial ? 0.0f : args.beta;
    const int64_t cols = args.n - place.n - col_of();
#pragma unroll
    for (int h = 0; h < ROWS; h++) {
        const int64_t row = (int64_t)place.m + row_of<S>(h), col = (int64_t)place.n + col_of();
        const int64_t next = S::TRANSPOSED ? ld : 1; /* column */
        float *const to = whole + (S::TRANSPOSED ? col * ld + row : row * ld + col);
        const bool pairs = !S::TRANSPOSED && ((uint64_t)to & 7) == 0;
        if (row >= args.m)
            continue;
        if (pairs && cols > S::BN - 8 + 1 && beta == 0.0f) {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i += 4)
                *(float2 *)(to + i * 2) =
                    make_float2(alpha * total[i + h * 2], alpha * total[i + h * 2 + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i += 4)
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float v = alpha * total[i + h * 2 + j];
                    float *const at = to + (i * 2 + j) * next;
                    if (i * 2 + j < cols)
                        *at = beta != 0.0f ? fmaf(beta, *at, v) : v;
                }
        }
    }
}

/* The blocks of a cluster have one tile, each a split of its k: add up, each some rows. */
template <typename S>
static __device__ __forceinline__ void add_up(shared_t<S> &shared, const fused_t &problem)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const place_t place = locate<S>(problem, blockIdx.x);
    const int blocks = (int)problem.splits, rank = (int)place.split;
    const int rows = (int)min((int64_t)S::BM, args.m - place.m);
    const int cols = (int)min((int64_t)S::BN, args.n - place.n);
    const int share = (rows + blocks - 1) / blocks, last = min(rows, (rank + 1) * share);
    const float *const tile = tile_of(shared);
    float *const c =
        args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c;
    cluster_sync();
    for (int at = rank * share * S::BN + (int)threadIdx.x; at < last * S::BN; at += S::THREADS) {
        const int i = at / S::BN, j = at % S::BN;
        if (j < cols) {
            const int64_t row = (int64_t)place.m + i, col = (int64_t)place.n + j;
            float *const to = c + (S::TRANSPOSED ? col * args.ldc + row : row * args.ldc + col);
            float sum = 0.0f;
#pragma unroll 4
            for (int block = 0; block < blocks; block++)
                sum += cluster_read(tile + tilemm__fused_tile(i, j, S::LINES_B), block);
            sum *= args.alpha;
            *to = args.beta != 0.0f ? fmaf(args.beta, *to, sum) : sum;
        }
    }
    cluster_sync(); /* nobody leaves while another may still read from it */
}

/* ---- items ---------------------------------------------------------------------------------- */

/* The state of a multiplier thread. */
template <typename S>
struct multiplier_t {
    unsigned first; /* of its numbers in a stage of op(A) */
    unsigned count; /* of steps of op(A) of which planes were made */
    unsigned buffer, parity;
    bool beyond; /* whether planes cannot carry the thread's numbers of the step */
    unsigned item;
    place_t place;
    int k; /* of the next step */
    float total[S::ACCUMULATORS], part[S::ACCUMULATORS];
};

/* total += part. If `keeps`, part becomes what the addition lost (Dekker, "A floating-point
 * technique for extending the available precision", 1971: exact where total is the larger). */
template <typename S>
static __device__ __forceinline__ void add_part(multiplier_t<S> &at, bool in_fp32, bool keeps)
{
    if (in_fp32)
        return;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float sum = at.total[i] + at.part[i];
        if (keeps)
            at.part[i] -= sum - at.total[i];
        at.total[i] = sum;
    }
}

/* Multiply a step, and make the planes of the next one. */
template <typename S>
static __device__ __forceinline__ void step(multiplier_t<S> &at, shared_t<S> &shared,
                                            fragments_t<S> &a, fragments_t<S> &next_a,
                                            const fused_t &problem)
{
    const unsigned stage = at.count % S::STAGES, lane = threadIdx.x % 32;
    range_t range = {~0u, 0};
    mbarrier_wait(&shared.full[at.buffer], at.parity);
    pin(a);
    wgmma_pin(at.part);
    mbarrier_wait(&shared.a.full[stage], at.count / S::STAGES % 2);
    multiply<S, 0, 1>(at.part, a, shared.planes[at.buffer], shared.a.at[stage], at.first, next_a,
                      range);
    /* Lane 0 alone reads, since it alone reports that all has been read. */
    const bool in_fp32 =
        !S::ROUTED && __any_sync(~0u, at.beyond | (lane == 0 && shared.beyond[at.buffer].any != 0));

    wgmma_wait<0>();
    wgmma_pin(at.part);
    add_part(at, in_fp32, S::ROUTED);
    wgmma_pin(at.part);
    multiply<S, 1 + ALL_PRODUCTS - S::PRODUCTS, ALL_PRODUCTS>(
        at.part, a, shared.planes[at.buffer], shared.a.at[stage], at.first, next_a, range);
    at.beyond = is_beyond_planes(range);
    __syncwarp(); /* all have read */
    if (lane == 0)
        mbarrier_arrive(&shared.a.empty[stage]);
    at.count++;
    wgmma_wait<0>();
    pin(a);
    wgmma_pin(at.part);
    if (lane == 0)
        mbarrier_arrive(&shared.empty[at.buffer]);
    if (in_fp32)
        multiply_fp32<S>(at.total, problem.args, at.place, at.k);
    add_part(at, in_fp32, false);
    at.k += BK;
    advance<S::BUFFERS>(&at.buffer, &at.parity);
}

template <typename S>
static __device__ __forceinline__ void begin_item(multiplier_t<S> &at, const fused_t &problem)
{
    at.place = locate<S>(problem, at.item);
    at.k = at.place.k;
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++)
        at.total[i] = 0.0f;
}

/* After a step: if it was an item's last, store the tile and go to the next item. Returns whether
 * there is more to do. */
template <typename S>
static __device__ __forceinline__ bool go_on(multiplier_t<S> &at, shared_t<S> &shared,
                                             const fused_t &problem, const maps_t &maps)
{
    if (at.k < at.place.end)
        return true;
    if (problem.splits > 1 && !problem.partial) { /* for add_up() */
        /* Wait for the other multipliers. */
        asm volatile("bar.sync 1, %0;" : : "n"(S::MULTIPLIERS * WARPGROUP) : "memory");
        to_shared<S>(at.total, 1.0f, tile_of(shared));
    } else if (S::BULK && problem.bulk) {
        store_bulk<S>(at.total, problem.args.alpha, &maps.c, at.place, shared.bulk);
    } else {
        store<S>(at.total, problem, at.place);
    }
    at.item = own_item<S>(problem, at.item + gridDim.x);
    if (at.item >= problem.count)
        return false;
    begin_item(at, problem);
    return true;
}

template <typename S>
static __device__ __forceinline__ void multiply_items(const fused_t &problem, const maps_t &maps,
                                                      shared_t<S> &shared)
{
    fragments_t<S> a[2]; /* of one step, and of the next */
    multiplier_t<S> at;
    range_t range = {~0u, 0};
    at.item = own_item<S>(problem, blockIdx.x);
    at.buffer = at.parity = 0;
    at.first = first_of<ROWS, S::A_K>(threadIdx.x / 32 * 16);
    begin_item(at, problem);
    mbarrier_wait(&shared.a.full[0], 0);
    convert_a<S>(shared.a.at[0], at.first, 0, a[0], range);
    convert_a<S>(shared.a.at[0], at.first, 1, a[0], range);
    at.beyond = is_beyond_planes(range);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(&shared.a.empty[0]);
    at.count = 1;
#pragma unroll 1
    do {
        step<S>(at, shared, a[0], a[1], problem);
        if (!go_on(at, shared, problem, maps))
            break;
        step<S>(at, shared, a[1], a[0], problem);
    } while (go_on(at, shared, problem, maps));
    if (S::BULK && problem.bulk)
        tensor_wait_read(); /* before the shared memory goes */
}

/* ---- a block -------------------------------------------------------------------------------- */

/* Prepare the shared memory, with all threads of the block. */
template <typename S>
static __device__ __forceinline__ void prepare(const maps_t &maps, shared_t<S> &shared)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < S::BUFFERS; i++) {
            mbarrier_init(&shared.full[i], WARPGROUP);
            mbarrier_init(&shared.empty[i], S::MULTIPLIERS * WARPGROUP / 32);
        }
        for (int i = 0; i < S::STAGES; i++) {
            mbarrier_init(&shared.a.full[i], 1);
            mbarrier_init(&shared.a.empty[i], S::MULTIPLIERS * WARPGROUP / 32);
            mbarrier_init(&shared.b.full[i], 1);
            mbarrier_init(&shared.b.empty[i], WARPGROUP / 32);
        }
        mbarrier_fence_init();
        tensor_prefetch(&maps.a);
        tensor_prefetch(&maps.b);
    }
    __syncthreads();
}

#endif
