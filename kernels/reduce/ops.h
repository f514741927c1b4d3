/* ops.h - the reductions, element by element: what an operation does with an element, how
 * two partial results combine, how a result is finished. C99 and CUDA: both backends compile this
 * and keep to the order of layout.h, so they return the same bits.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_OPS_H
#define TILEMM_KERNELS_REDUCE_OPS_H

#include <math.h>
#include <string.h>

#include "kernels/args.h"
#include "layout.h"

#ifdef __CUDACC__
#define TILEMM__REDUCE static __host__ __device__ __forceinline__
#else
#define TILEMM__REDUCE static inline
#endif

TILEMM__REDUCE uint32_t tilemm__float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TILEMM__REDUCE float tilemm__bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define TILEMM__NAN_BITS 0x7fc00000u

/* ---- sums ------------------------------------------------------------------------------- */

/* A partial result: a sum in FP64 and the sum of its rounding errors. For the mean that leaves NaN
 * out, the number of the other elements is kept as well. */
typedef struct
#ifdef __CUDACC__
    __align__(16)
#endif
{
    double sum, lost;
}
tilemm__sum_t;

/* The term of an element, for DOT of two. Squares and products of floats are exact in FP64, so it
 * does not matter whether a compiler fuses them with the addition. */
TILEMM__REDUCE double tilemm__sum_term(int op, int nan_ignore, float x, float y)
{
    double term = x;
    if (op == TILEMM__ASUM)
        term = fabs(term);
    else if (op == TILEMM__SUMSQ || op == TILEMM__NRM2)
        term *= x;
    else if (op == TILEMM__DOT)
        term *= y;
    return nan_ignore && term != term ? 0.0 : term;
}

/* The rounding error of the sum of a and b, exact if all are finite: Knuth's TwoSum (The Art of
 * Computer Programming, volume 2, 4.2.2). */
TILEMM__REDUCE double tilemm__sum_error(double a, double b, double sum)
{
    const double part = sum - a;
    return (a - (sum - part)) + (b - part);
}

TILEMM__REDUCE tilemm__sum_t tilemm__sum_join(tilemm__sum_t a, tilemm__sum_t b)
{
    const double sum = a.sum + b.sum;
    const tilemm__sum_t joined = {sum, (a.lost + b.lost) + tilemm__sum_error(a.sum, b.sum, sum)};
    return joined;
}

/* The same if b has no rounding error: a.lost + 0 is a.lost, because `lost` starts at +0 and so is
 * never -0. */
TILEMM__REDUCE tilemm__sum_t tilemm__sum_add(tilemm__sum_t a, double b)
{
    const double sum = a.sum + b;
    const tilemm__sum_t joined = {sum, a.lost + tilemm__sum_error(a.sum, b, sum)};
    return joined;
}

/* Whether the elements that are not NaN must be counted. */
TILEMM__REDUCE int tilemm__sum_is_counted(int op, int nan_ignore)
{
    return op == TILEMM__MEAN && nan_ignore;
}

/* The result from the sum and the number of elements. If the sum is not finite, `lost` has no
 * meaning. */
TILEMM__REDUCE float tilemm__sum_result(int op, tilemm__sum_t sum, int64_t count)
{
    double value = sum.sum - sum.sum == 0.0 ? sum.sum + sum.lost : sum.sum;
    if (op == TILEMM__MEAN && count == 0)
        return tilemm__bits_float(TILEMM__NAN_BITS);
    if (op == TILEMM__NRM2)
        value = sqrt(value);
    else if (op == TILEMM__MEAN)
        value /= (double)count;
    const float result = (float)value;
    return result != result ? tilemm__bits_float(TILEMM__NAN_BITS) : result;
}

/* Fold up to 32 numbers by halves; the first becomes the sum. A number without a partner would add
 * +0, and stays as it is. */
TILEMM__REDUCE tilemm__sum_t tilemm__fold_lanes(tilemm__sum_t *lanes, int used)
{
    for (int half = TILEMM__TILE_LANES / 2; half > 0; half /= 2) {
        for (int l = half; l < used; l++)
            lanes[l - half] = tilemm__sum_join(lanes[l - half], lanes[l]);
        used = used < half ? used : half;
    }
    return lanes[0];
}

/* ---- largest and smallest --------------------------------------------------------------- */

/* A partial result is a key, and for an arg-reduction an index. Every operation searches for the
 * largest key. A key is an integer made of the float's bits that is ordered as the operation needs:
 * -0 comes before +0, and no number has the least or the largest integer. */
#define TILEMM__KEY_NONE INT32_MIN /* of no element, and of NaN if it is left out */
#define TILEMM__KEY_NAN INT32_MAX  /* of NaN otherwise: it wins */

typedef struct {
    uint32_t keep; /* mask of the bits that are compared */
    uint32_t flip; /* all ones to search for the smallest */
    int32_t nan;   /* the key of NaN */
} tilemm__order_t;

TILEMM__REDUCE int tilemm__op_is_order(int op)
{
    return op >= TILEMM__MAX && op <= TILEMM__AMIN;
}

TILEMM__REDUCE tilemm__order_t tilemm__order_of(int op, int nan_ignore)
{
    const tilemm__order_t order = {op == TILEMM__AMAX || op == TILEMM__AMIN ? 0x7fffffffu
                                                                            : 0xffffffffu,
                                   op == TILEMM__MIN || op == TILEMM__AMIN ? 0xffffffffu : 0,
                                   nan_ignore ? TILEMM__KEY_NONE : TILEMM__KEY_NAN};
    return order;
}

/* The bits below the sign of negative floats are inverted, so that integers order them. */
TILEMM__REDUCE uint32_t tilemm__order_bits(uint32_t bits)
{
    return bits ^ ((0u - (bits >> 31)) >> 1);
}

TILEMM__REDUCE int32_t tilemm__key_of(tilemm__order_t order, uint32_t bits)
{
    uint32_t key = tilemm__order_bits(bits & order.keep) ^ order.flip;
    return (bits & 0x7fffffffu) > 0x7f800000u ? order.nan : (int32_t)key;
}

TILEMM__REDUCE float tilemm__key_result(int op, int32_t key)
{
    if (key == TILEMM__KEY_NAN)
        return tilemm__bits_float(TILEMM__NAN_BITS);
    if (key == TILEMM__KEY_NONE)
        return tilemm__bits_float(op == TILEMM__MAX    ? 0xff800000u
                                  : op == TILEMM__AMAX ? 0
                                                       : 0x7f800000u);
    return tilemm__bits_float(tilemm__order_bits((uint32_t)key ^ tilemm__order_of(op, 0).flip));
}

TILEMM__REDUCE int64_t tilemm__index_result(int32_t key, int64_t index)
{
    return key == TILEMM__KEY_NONE ? -1 : index;
}

/* Whether the first of two partial results of an arg-reduction stands before the second. */
TILEMM__REDUCE int tilemm__key_wins(int32_t key, int64_t index, int32_t other, int64_t other_index)
{
    return key > other || (key == other && index < other_index);
}

#endif
