/* fused_parts_sm90.cuh - a step of the fused SGEMM kernels with numbers that the windows of its
 * planes do not have (fused_sm90.cuh): any magnitude, Inf and NaN.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Each operand that has such numbers is divided by magnitude into one or two parts. The multipliers
 * make their planes from the numbers of the step, which still lie in the queues, and add the
 * products of each part of op(A) with each of op(B). Inf and NaN are in no part: where there are
 * some, the product of both operands' signs, with Inf and NaN among them, says which elements of
 * C are no longer finite. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_PARTS_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_PARTS_SM90_CUH

#include "fused_products_sm90.cuh"

/* ---- parts ---------------------------------------------------------------------------------- */

/* SIGNS: 1, 0, -1, Inf, NaN. WINDOW: all, in the windows that their planes have. BELOW, FROM: the
 * finite numbers of magnitudes below the split, times 2^16; and the others, times 2^-24. */
typedef enum { SIGNS, WINDOW, BELOW, FROM, KINDS } part_kind_t;

enum { FROM_LOG2 = -24 };

/* The numbers of a part: of magnitudes from `from` on and below `below`, times `scale`; or all bits
 * of `signs` are set. */
typedef struct {
    float from, below, scale;
    unsigned signs;
} part_t;

/* What numbers of a step there are. */
enum {
    SEEN_LARGE = 1 /* from 2^45 on: not BELOW */,
    SEEN_LITTLE = 2 /* below 2^-7: not FROM */,
    SEEN_SPECIAL = 4 /* Inf, NaN */
};

/* Where a step with large numbers is split: below all if there are no little ones. */
static __device__ __forceinline__ float split_of(unsigned seen)
{
    return !(seen & SEEN_LARGE) ? INFINITY : seen & SEEN_LITTLE ? 1.0f : 0.0f;
}

static __device__ __forceinline__ part_t part_of(part_kind_t kind, unsigned seen)
{
    const float split = split_of(seen);
    return kind == BELOW  ? part_t{0.0f, split, (float)(1 << WINDOW_LOG2), 0}
           : kind == FROM ? part_t{split, INFINITY, 1.0f / (1 << -FROM_LOG2), 0}
                          : part_t{0.0f, 0.0f, 0.0f, ~0u};
}

/* A number as planes of a part are made of it. Without branches: they would be many. */
static __device__ __forceinline__ float taken(float x, const part_t &part)
{
    const unsigned bits = __float_as_uint(x);
    const float size = fabsf(x), one = __uint_as_float((bits & 0x80000000) | 0x3f800000);
    const float sign = size > 0.0f && size < INFINITY ? one : x;
    const float scaled = size >= part.from && size < part.below ? x * part.scale : 0.0f;
    return __uint_as_float((__float_as_uint(sign) & part.signs) |
                           (__float_as_uint(scaled) & ~part.signs));
}

static __device__ __forceinline__ void note_h(unsigned, const part_t &)
{
}

/* What numbers a lane has in half a step. */
template <int LINES>
static __device__ __forceinline__ unsigned look_at(const float (&x)[LINES][OCTET / 2])
{
    const unsigned SPECIAL = 0x7f800000, LARGE_FROM = (127 + 45) << 23, NO_LITTLE = (127 - 7) << 23;
    unsigned most = 0, most_finite = 0, least = ~0u;
#pragma unroll
    for (int j = 0; j < LINES; j++)
#pragma unroll
        for (int i = 0; i < OCTET / 2; i++) {
            const unsigned size = __float_as_uint(x[j][i]) & 0x7fffffff;
            most = max(most, size);
            most_finite = max(most_finite, size < SPECIAL ? size : 0);
            least = min(least, size - 1); /* not of 0 */
        }
    return (most >= SPECIAL ? SEEN_SPECIAL : 0) | (most_finite >= LARGE_FROM ? SEEN_LARGE : 0) |
           (least < NO_LITTLE - 1 ? SEEN_LITTLE : 0);
}

/* Whether an operand of which numbers were seen has a part of this kind. */
static __device__ __forceinline__ bool has_part(bool beyond, unsigned seen, part_kind_t kind)
{
    return kind == WINDOW  ? !beyond
           : kind == BELOW ? beyond && split_of(seen) > 0.0f
                           : beyond && split_of(seen) < INFINITY;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Which bits some of THREADS threads at a barrier have. */
template <int THREADS>
static __device__ __forceinline__ unsigned or_at_barrier(unsigned barrier, unsigned bits)
{
    unsigned all = 0;
    for (unsigned bit = 1; bit <= SEEN_SPECIAL; bit *= 2)
        if (named_barrier_any<THREADS>(barrier, bits & bit))
            all |= bit;
    return __reduce_or_sync(~0u, all); /* which the compiler knows to be the warp's */
}

/* ---- the step ------------------------------------------------------------------------------- */

/* An operand of a step: whether some number is beyond the windows; and the planes' scales. */
typedef struct {
    bool beyond;
    unsigned scales;
} operand_t;

static __device__ __forceinline__ unsigned scales_of(const operand_t &operand, part_kind_t kind)
{
    return kind == WINDOW  ? operand.scales
           : kind == BELOW ? WINDOW_LOG2 * EVERY_BYTE
                           : (unsigned)FROM_LOG2 * EVERY_BYTE;
}

/* What numbers of step `count` a warpgroup's rows of op(A) have; and op(B), which the first
 * warpgroup looks at. */
template <typename S>
static __device__ __forceinline__ unsigned look_at_a(shared_t<S> &shared,
                                                     const first_t<S, true> &first, unsigned stage)
{
    unsigned seen = 0;
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        float x[ROWS][OCTET / 2];
        take<ROWS, S::A_K>(shared.a.at[stage], first, half, x);
        seen |= look_at(x);
    }
    return or_at_barrier<WARPGROUP>(warpgroup_barrier(), seen);
}

template <typename S>
static __device__ __forceinline__ unsigned look_at_b(shared_t<S> &shared,
                                                     const first_t<S, false> &first, unsigned stage)
{
    unsigned seen = 0;
#pragma unroll 1
    for (int half = 0; half < 2 && threadIdx.x < WARPGROUP; half++) {
        float x[S::LINES][OCTET / 2];
        take<S::LINES, S::B_K>(shared.b.at[stage], first, half, x);
        seen |= look_at(x);
    }
    return or_at_barrier<S::MULTIPLIERS * WARPGROUP>(ALL_MULTIPLIERS, seen);
}

/* Start products of a step, and wait for them. */
template <typename S, products_t WHICH>
static __device__ __forceinline__ void multiply_now(multiplier_t<S> &at, shared_t<S> &shared,
                                                    fragments_t<S> &a, bool adds)
{
    pin(a, 0);
    pin(a, 1);
    wgmma_pin(at.part);
    multiply<S, WHICH>(at.part, a, shared.planes[at.buffer], 0, adds);
    multiply<S, WHICH>(at.part, a, shared.planes[at.buffer], 1);
    wgmma_wait<0>();
    pin(a, 0);
    pin(a, 1);
    wgmma_pin(at.part);
}

static __device__ __forceinline__ bool is_finite(float x)
{
    return fabsf(x) <= FLT_MAX;
}

/* total += part, the large planes' product; `part` becomes 0. Planes h are rounded: where the sum
 * overflows, but not the product, `part` waits for the smaller products. Where the product
 * overflows, these may be of either sign, and do not count. */
template <typename S>
static __device__ __forceinline__ void add_large(multiplier_t<S> &at)
{
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float part = at.part[i], sum = sum_of(at, i);
        const bool waits = !is_finite(sum) && is_finite(part);
        at.part[i] = waits ? part : 0.0f;
        at.total[i] = waits ? at.total[i] : sum;
    }
}

/* Add the products of one part of op(A) and one of op(B), whose planes are there. */
template <typename S>
static __device__ __forceinline__ void add_products(multiplier_t<S> &at, shared_t<S> &shared,
                                                    fragments_t<S> &a, bool signs)
{
    multiply_now<S, LARGE_PRODUCT>(at, shared, a, false);
    if (signs) {
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++)
            at.total[i] = is_finite(at.part[i]) ? at.total[i] : at.total[i] + at.part[i];
        return;
    }
    add_large(at);
    multiply_now<S, SMALLER_PRODUCTS>(at, shared, a, true);
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float sum = sum_of(at, i);
        at.total[i] = is_finite(at.total[i]) ? sum : at.total[i];
    }
}

/* Multiply a step by parts. All multipliers come here if op(B) is beyond its windows, else
 * the warpgroups whose op(A) is. Planes of both are there, if only in their windows; those of an
 * operand that is beyond are made again for each part. */
template <typename S>
static __device__ __forceinline__ void multiply_parts(multiplier_t<S> &at, shared_t<S> &shared,
                                                      fragments_t<S> &a, const fused_t &problem,
                                                      const operand_t &of_a, const operand_t &of_b)
{
    const unsigned count = at.count - 1;
    const int MULTIPLIERS = S::MULTIPLIERS * WARPGROUP;
    const unsigned stage = count % S::STAGES, line0 = threadIdx.x / 32 * 8 * S::LINES;
    const first_t<S, false> first_b = first_of<S, false>(problem, line0, at.place.matrix);
    unsigned seen_a = 0, seen_b = 0;
    bool special;
    if (of_a.beyond)
        seen_a = look_at_a(shared, at.first, stage);
    special = seen_a & SEEN_SPECIAL;
    if (of_b.beyond) {
        mbarrier_wait(&shared.b.full[stage], count / S::STAGES % 2);
        seen_b = look_at_b(shared, first_b, stage);
        special = __any_sync(~0u, named_barrier_any<MULTIPLIERS>(
                                      ALL_MULTIPLIERS, special || (seen_b & SEEN_SPECIAL)));
    }
#pragma unroll 1
    for (int b = special ? SIGNS : WINDOW; b < KINDS; b++) {
        const part_kind_t kind_b = (part_kind_t)b;
        if (kind_b != SIGNS && !has_part(of_b.beyond, seen_b, kind_b))
            continue;
        if (of_b.beyond) {
            const part_t part = part_of(kind_b, seen_b);
            named_barrier<MULTIPLIERS>(ALL_MULTIPLIERS); /* the planes before are no longer read */
            if (threadIdx.x < WARPGROUP)
                convert_b_lines<S>(shared.b.at[stage], first_b, line0, shared.planes[at.buffer],
                                   part);
            fence_for_async();
            named_barrier<MULTIPLIERS>(ALL_MULTIPLIERS);
        }
#pragma unroll 1
        for (int kind = kind_b == SIGNS ? SIGNS : WINDOW; kind < (kind_b == SIGNS ? WINDOW : KINDS);
             kind++) {
            const part_kind_t kind_a = (part_kind_t)kind;
            if (kind_a != SIGNS && !has_part(of_a.beyond, seen_a, kind_a))
                continue;
            if (of_a.beyond) {
                const part_t part = part_of(kind_a, seen_a);
                convert_a<S>(shared.a.at[stage], at.first, 0, a, part);
                convert_a<S>(shared.a.at[stage], at.first, 1, a, part);
            }
            at.scales = UNSCALED + scales_of(of_a, kind_a) + scales_of(of_b, kind_b);
            add_products(at, shared, a, kind_a == SIGNS);
        }
    }
}

#endif
