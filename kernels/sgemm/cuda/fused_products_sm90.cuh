/* fused_products_sm90.cuh - the planes of a step in the fused SGEMM kernels, their products, and
 * the sums of these.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_PRODUCTS_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_PRODUCTS_SM90_CUH

#include "fused_sm90.cuh"
#include "half_lines.cuh"
#include "kernels/cuda/named_barrier.cuh"
#include "kernels/cuda/wgmma.cuh"

/* ---- planes --------------------------------------------------------------------------------- */

/* Lines of a thread in FP16 planes. */
template <int LINES>
struct half_lines_t {
    half_line_t of[LINES];
};

/* How line j of a thread is taken: as all of them; or each by itself. */
template <typename CHOICE>
static __device__ __forceinline__ CHOICE &line_of(CHOICE &choice, int)
{
    return choice;
}

template <int LINES>
static __device__ __forceinline__ half_line_t &line_of(half_lines_t<LINES> &lines, int j)
{
    return lines.of[j];
}

/* Pair i of half an octet, in FP16 planes. */
template <typename S>
static __device__ __forceinline__ void convert(const float (&half)[OCTET / 2], int i,
                                               unsigned (&planes)[S::PLANES], half_line_t &line)
{
    half_pair(half[i * 2], half[i * 2 + 1], line.scale, planes[0], planes[1]);
    half_note(planes[0], i == 0, line); /* which numbers are asked: HALF_ASKED */
}

/* Make the planes of a warp's 8 * LINES lines of a stage of op(B), from line0 on. */
template <typename S, typename CHOICE>
static __device__ __forceinline__ void
convert_b_lines(const float *stage, const first_t<S, false> &first, unsigned line0,
                unsigned (&planes)[S::PLANES][S::PLANE], CHOICE &choice)
{
    const unsigned lane = threadIdx.x % 32;
    float both[2][S::LINES][OCTET / 2];
    if (S::HALF) /* all reads before the first planes are stored */
#pragma unroll
        for (int half = 0; half < 2; half++)
            take<S::LINES, S::B_K>(stage, first, half, both[half]);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float(&x)[S::LINES][OCTET / 2] = both[half];
        if (!S::HALF)
            take<S::LINES, S::B_K>(stage, first, half, x);
#pragma unroll
        for (int j = 0; j < S::LINES; j++)
#pragma unroll
            for (int i = 0; i < S::WORDS / 2; i++) {
                const unsigned line = line0 + tilemm__fused_line(lane, j, S::LINES, S::B_APART);
                const unsigned at =
                    tilemm__fused_word(line, lane % 4, half * (S::WORDS / 2) + i, S::WORDS);
                unsigned word[S::PLANES];
                convert<S>(x[j], i, word, line_of(choice, j));
#pragma unroll
                for (int p = 0; p < S::PLANES; p++)
                    planes[p][at] = word[p];
            }
    }
}

/* A thread's words of a plane are fragments for products of 32 bytes of k. */
enum { FRAGMENT = 4, PRODUCTS = 6, CORE_BYTES = TILEMM__SGEMM_FUSED_CORE * 4 };

template <typename S>
using fragments_t = unsigned[S::PLANES][ROWS * S::WORDS];

/* The fragments of half a step stay where they are until here: the tensor cores may use them. */
template <int PLANES, int WORDS>
static __device__ __forceinline__ void pin(unsigned (&a)[PLANES][WORDS], int half)
{
#pragma unroll
    for (int p = 0; p < PLANES; p++)
#pragma unroll
        for (int i = 0; i < WORDS / 2; i++)
            asm volatile("" : "+r"(a[p][half * WORDS / 2 + i])::"memory");
}

/* Make the planes of half a step of op(A), numbers x: word i is of row i % 2. */
template <typename S, typename CHOICE>
static __device__ __forceinline__ void convert_rows(const float (&x)[ROWS][OCTET / 2], int half,
                                                    fragments_t<S> &a, CHOICE &choice)
{
#pragma unroll
    for (int i = 0; i < S::WORDS; i++) {
        unsigned planes[S::PLANES];
        convert<S>(x[i % 2], i / 2, planes, line_of(choice, i % 2));
#pragma unroll
        for (int p = 0; p < S::PLANES; p++)
            a[p][half * S::WORDS + i] = planes[p];
    }
}

template <typename S, typename CHOICE>
static __device__ __forceinline__ void convert_a(const float *stage, const first_t<S, true> &first,
                                                 int half, fragments_t<S> &a, CHOICE &choice)
{
    float x[ROWS][OCTET / 2];
    take<ROWS, S::A_K>(stage, first, half, x);
    convert_rows<S>(x, half, a, choice);
}

/* Products of planes: h h; and the smaller ones, down to 2^-16 of it: of FP16 planes the last two,
 * in which m stands for l. */
enum products_t { LARGE_PRODUCT, SMALLER_PRODUCTS };

template <typename S>
static __device__ __forceinline__ void multiply_planes(float (&part)[S::ACCUMULATORS],
                                                       const unsigned *a, uint64_t b, bool adds)
{
    if constexpr (S::HALF)
        wgmma(part, a, b, adds);
    else
        wgmma_bf16(part, a, b, adds);
}

/* Start part += product i of half a step. If `exchanged`, the smaller ones are in the order of the
 * product whose operands have changed places. */
template <typename S>
static __device__ __forceinline__ void multiply_product(float (&part)[S::ACCUMULATORS],
                                                        const fragments_t<S> &a,
                                                        const unsigned (&b)[S::PLANES][S::PLANE],
                                                        int half, int i, bool adds, bool exchanged)
{
    const int of_a[PRODUCTS] = {0, 1, 0, 2, 0, 1};
    const int of_b[PRODUCTS] = {0, 1, 2, 0, 1, 0};
    const uint64_t b0 =
        wgmma_operand_cores(b[0], CORE_BYTES, TILEMM__SGEMM_FUSED_PITCH(S::WORDS) * 4);
    const int plane_a = exchanged ? of_b[i] : of_a[i], plane_b = exchanged ? of_a[i] : of_b[i];
    static_assert(BK == 32 && FRAGMENT * 2 == ROWS * S::WORDS, "an instruction has half a step");
    multiply_planes<S>(part, a[plane_a] + half * FRAGMENT,
                       wgmma_operand_at(b0, plane_b * sizeof b[0] + half * 2 * CORE_BYTES), adds);
}

/* The first product of a kind. */
template <typename S>
static __device__ constexpr int first_product(products_t which)
{
    return which == LARGE_PRODUCT ? 0 : S::HALF ? 4 : 1;
}

/* Start part += products of half a step, as one group. */
template <typename S, products_t WHICH>
static __device__ __forceinline__ void multiply(float (&part)[S::ACCUMULATORS],
                                                const fragments_t<S> &a,
                                                const unsigned (&b)[S::PLANES][S::PLANE], int half,
                                                bool adds = true, bool exchanged = false)
{
    const int FIRST = first_product<S>(WHICH), END = WHICH == LARGE_PRODUCT ? 1 : PRODUCTS;
    wgmma_fence();
    if (exchanged) {
#pragma unroll
        for (int i = FIRST; i < END; i++)
            multiply_product<S>(part, a, b, half, i, i > FIRST || adds, true);
    } else {
#pragma unroll
        for (int i = FIRST; i < END; i++)
            multiply_product<S>(part, a, b, half, i, i > FIRST || adds, false);
    }
    wgmma_commit();
}

/* ---- barriers ------------------------------------------------------------------------------- */

/* The number of the barrier of all multipliers; that of a warpgroup of them. */
enum { ALL_MULTIPLIERS = 1 };

[[maybe_unused]] static __device__ __forceinline__ unsigned warpgroup_barrier(void)
{
    return 2 + threadIdx.x / WARPGROUP;
}

/* Whether `mine` holds for some thread of the warpgroup. A vote follows the barrier, so that the
 * compiler knows that warps do not diverge: wgmma is slow where they may. */
[[maybe_unused]] static __device__ __forceinline__ bool some_of_warpgroup(bool mine)
{
    return __any_sync(~0u, named_barrier_any<WARPGROUP>(warpgroup_barrier(), mine));
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* The state of a multiplier thread. */
template <typename S>
struct multiplier_t {
    first_t<S, true> first;  /* of its numbers in a stage of op(A) */
    unsigned count;          /* of steps of op(A) that came: of the one at hand, too */
    unsigned buffer, parity; /* of planes of op(B) */
    unsigned large;          /* the window of the warp's planes, as in window_t */
    /* Of the planes at hand: whether the warp met numbers beyond its windows; whether they are to
     * be made again, in the window `large`; whether the warpgroup has kept the numbers. A step that
     * is known to be multiplied in FP32 has no planes, and of these only are_watched. */
    bool beyond, fits, are_watched;
    unsigned item;
    place_t place;
    int k; /* of the next step */
    float total[S::ACCUMULATORS], part[S::ACCUMULATORS];
    unsigned scales; /* of `part` */
    /* INVARIANT: where the part of k ends; and which lines planes do not carry: a bit for each of
     * the thread's rows of the next step, and of this part; columns, of one warp of the converter;
     * whether the warp has any. */
    int part_end;
    unsigned next_rows, rows, columns;
    bool exact;
    bool exchanged; /* and whether the operands have changed places */
};

/* Powers of two by which the products of a step were multiplied: a byte, its logarithm + 64, for
 * the columns of each warp of the converter. */
enum { UNSCALED = 0x40404040 };

/* 2^-s, of the scale 2^s of columns of the converter's warp; with `sign` -1: 2^s. */
static __device__ __forceinline__ float unscale(unsigned scales, int warp, int sign = 1)
{
    const int log2 = (int)(scales >> 8 * warp & 0xff) - 64;
    return __int_as_float((127 - sign * log2) << 23);
}

/* The converter's warp whose columns accumulator i is of. */
template <typename S>
static __device__ constexpr int warp_of(int i)
{
    return i / (4 * S::LINES);
}

/* Total i and its part. */
template <typename S>
static __device__ __forceinline__ float sum_of(const multiplier_t<S> &at, int i)
{
    const float scale =
        S::INVARIANT ? 1.0f / (1ull << 2 * WINDOW_LOG2) : unscale(at.scales, warp_of<S>(i));
    return fmaf(at.part[i], scale, at.total[i]);
}

/* The part of total i that is not in their sum (Dekker, "A floating-point technique for extending
 * the available precision", 1971: exact where the total is the larger). */
template <typename S>
static __device__ __forceinline__ float lost_by(const multiplier_t<S> &at, int i, float sum)
{
    return fmaf(at.total[i] - sum, unscale(at.scales, warp_of<S>(i), -1), at.part[i]);
}

/* total += part. If `keeps`, part becomes what the addition lost: of a sum that overflowed, 0; in a
 * KEEPS kernel 0 too from 2^120 on, beside totals of steps with huge numbers: the products of steps
 * with others may overflow with it. */
template <typename S>
static __device__ __forceinline__ void add_part(multiplier_t<S> &at, bool keeps)
{
    const float MOST_LOST = __uint_as_float(bits_of(120));
    if (keeps && S::KEEPS) {
#pragma unroll
        for (int i = 0; i < S::ACCUMULATORS; i++) {
            const float sum = sum_of(at, i), lost = lost_by(at, i, sum);
            at.part[i] = fabsf(lost) < MOST_LOST ? lost : 0.0f;
            at.total[i] = sum;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i++) {
        const float sum = sum_of(at, i);
        if (keeps)
            at.part[i] = lost_by(at, i, sum);
        at.total[i] = sum;
    }
}

#endif
