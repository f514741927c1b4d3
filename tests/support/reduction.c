/* reduction.c - reductions in the plainest code: canonical bits, indices, exact sums.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "reduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

const char *reduce_name(int op)
{
    static const char *const name[] = {"sum", "asum", "sumsq", "nrm2", "mean",
                                       "max", "min",  "amax",  "amin", "dot"};
    return name[op];
}

uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float float_ulp(float value)
{
    float magnitude = fabsf(value);
    if (magnitude >= 0x1.fffffep127f)
        return 0x1p104f;
    return nextafterf(magnitude, INFINITY) - magnitude;
}

/* A sum and what its roundings lost. */
typedef struct {
    double sum, lost;
} pair_t;

static pair_t pair_add(pair_t a, pair_t b)
{
    /* volatile: no compiler may take the error of a sum for 0 */
    volatile double sum = a.sum + b.sum, part = sum - a.sum, rest = sum - part;
    volatile double error = a.sum - rest;
    error = error + (b.sum - part);
    return (pair_t){sum, (a.lost + b.lost) + error};
}

/* Fold up to 32 numbers: lane l takes lane l + 16, then l + 8, and so on. */
static pair_t fold(const pair_t *value, int64_t count)
{
    pair_t lane[32] = {{0, 0}};
    memcpy(lane, value, sizeof(*lane) * (size_t)count);
    for (int half = 16; half; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] = pair_add(lane[l], lane[l + half]);
    return lane[0];
}

/* The sum of one canonical tile of up to 1024 terms. */
static pair_t tile_sum(const pair_t *term, int64_t count)
{
    pair_t lane[32] = {{0, 0}};
    for (int64_t e = 0; e < count; e++)
        lane[e % 32] = pair_add(lane[e % 32], term[e]);
    return fold(lane, 32);
}

/* The sum of the sums of tiles. */
static pair_t canonical_sum(pair_t *sum, int64_t count)
{
    for (; count > 1; count = (count + 31) / 32)
        for (int64_t i = 0; i < count; i += 32)
            sum[i / 32] = fold(sum + i, count - i < 32 ? count - i : 32);
    return sum[0];
}

static double term_of(int op, int nan_ignore, float x, const float *y, int64_t i)
{
    double term = x;
    if (op == TILEMM_ASUM)
        term = fabs(term);
    else if (op == TILEMM_SUMSQ || op == TILEMM_NRM2)
        term = term * term;
    else if (op == REDUCE_DOT)
        term = term * (double)y[i];
    return nan_ignore && isnan(term) ? 0 : term;
}

static float sum_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    const int64_t tiles = n ? (n + 1023) / 1024 : 1;
    int64_t numbers = 0;
    pair_t *sums = test_need(malloc(sizeof(pair_t) * (size_t)(tiles + 1)));
    pair_t term[1024];
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t first = tile * 1024, count = n - first < 1024 ? n - first : 1024;
        for (int64_t e = 0; e < count; e++) {
            term[e] = (pair_t){term_of(op, nan_ignore, x[first + e], y, first + e), 0};
            numbers += !isnan(x[first + e]);
        }
        sums[tile] = tile_sum(term, count);
    }
    const pair_t total = canonical_sum(sums, tiles);
    double result = isfinite(total.sum) ? total.sum + total.lost : total.sum;
    free(sums);
    if (op == TILEMM_NRM2)
        result = sqrt(result);
    if (op == TILEMM_MEAN)
        result = result / (double)(nan_ignore ? numbers : n);
    return isnan(result) ? NAN : (float)result;
}

/* Whether a is ahead of b for op; -0 is less than +0. */
static int is_ahead(int op, float a, float b)
{
    if (op == TILEMM_AMAX || op == TILEMM_AMIN) {
        a = fabsf(a);
        b = fabsf(b);
    }
    if (op == TILEMM_MIN || op == TILEMM_AMIN)
        return a < b || (a == b && signbit(a) && !signbit(b));
    return a > b || (a == b && !signbit(a) && signbit(b));
}

int64_t reduce_index(int op, int nan_ignore, int64_t n, const float *x)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(x[i])) {
            if (!nan_ignore)
                return i;
        } else if (best < 0 || is_ahead(op, x[i], x[best])) {
            best = i;
        }
    }
    return best;
}

float reduce_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    const int is_sum = op < TILEMM_MAX || op == REDUCE_DOT;
    const int64_t best = is_sum ? -1 : reduce_index(op, nan_ignore, n, x);
    float value = op == TILEMM_AMAX ? 0.0f : op == TILEMM_MAX ? -INFINITY : INFINITY;
    if (is_sum)
        value = sum_exact_bits(op, nan_ignore, n, x, y);
    else if (best >= 0)
        value = op >= TILEMM_AMAX ? fabsf(x[best]) : x[best];
    if (isnan(value)) {
        uint32_t bits = UINT32_C(0x7fc00000);
        memcpy(&value, &bits, sizeof(value));
    }
    return value;
}

void reduce_fill_order(int op, float *x, int64_t n, int64_t stride, rng_t *rng)
{
    const int squares = op == TILEMM_SUMSQ || op == TILEMM_NRM2;
    if (n < 4)
        return;
    if (op == TILEMM_ASUM || squares) {
        const double value[4] = {1, 0x1p-24, 0.75 * 0x1p-53, 0.75 * 0x1p-53};
        for (int64_t i = 0; i < n; i++)
            x[i * stride] = 0;
        for (int p = 0; p < 4; p++) {
            float *to;
            do
                to = x + rng_range(rng, 0, n - 1) * stride;
            while (*to != 0);
            *to = (float)((squares ? sqrt(value[p]) : value[p]) * (rng_bits(rng) & 1 ? 1 : -1));
        }
        return;
    }
    /* Large values that cancel. Every other time they are so large that the sum of the rounding
     * errors is rounded too. */
    const int low = rng_bits(rng) & 1 ? 20 : 75;
    for (int64_t i = 0; i < n; i++)
        x[i * stride] = rng_float(rng, FAMILY_SIGNED);
    for (int64_t i = 0; i < n / 2; i++) {
        float value = (float)ldexp(1 + rng_unit(rng), low + (int)rng_range(rng, 0, 40));
        int64_t j = n - 1 - i; /* halves are mirrored: no pair meets before the last fold */
        x[i * stride] = i & 1 ? value : -value;
        x[j * stride] = i & 1 ? -value : value;
    }
}

/* An accumulator of 24 digits in base 2^32, the lowest of weight 2^-320. Digits are signed 64-bit
 * sums, which leaves room for 2^30 terms. */
enum { ACC_DIGITS = 24, ACC_LOW = -320 };

static void acc_add(int64_t *digit, double term)
{
    const int64_t sign = term < 0 ? -1 : 1;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(term), &exponent), 53);
    if (term == 0)
        return;
    exponent += -53 - ACC_LOW;
    while (exponent < 0) { /* a float's product ends at 2^-298: these bits are zero */
        mantissa >>= 1;
        exponent++;
    }
    const int shift = exponent % 32;
    exponent /= 32;
    digit[exponent] += sign * (int64_t)((mantissa << shift) & UINT32_MAX);
    mantissa >>= 32 - shift;
    digit[exponent + 1] += sign * (int64_t)(mantissa & UINT32_MAX);
    digit[exponent + 2] += sign * (int64_t)(mantissa >> 32);
}

static double acc_value(int64_t *digit)
{
    double value = 0;
    int sign = 1;
    for (;;) {
        int64_t carry = 0;
        for (int d = 0; d < ACC_DIGITS; d++) {
            int64_t all = digit[d] + carry;
            int64_t low = (int64_t)((uint64_t)all & UINT32_MAX);
            carry = (all - low) / ((int64_t)1 << 32);
            digit[d] = low;
        }
        if (carry >= 0)
            break;
        for (int d = 0; d < ACC_DIGITS; d++) /* negative: the magnitude instead */
            digit[d] = -digit[d];
        digit[ACC_DIGITS - 1] -= carry * ((int64_t)1 << 32);
        sign = -1;
    }
    for (int d = ACC_DIGITS - 1; d >= 0; d--)
        value += ldexp((double)digit[d], 32 * d + ACC_LOW);
    return sign * value;
}

double reduce_exact(int op, int64_t n, const float *x, const float *y, double *magnitude)
{
    int64_t sum[ACC_DIGITS] = {0};
    *magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        const double term = term_of(op, 0, x[i], y, i);
        acc_add(sum, term);
        *magnitude += fabs(term);
    }
    return acc_value(sum);
}

tilemm_status_t reduce_call(tilemm_t ctx, int op, int64_t n, const float *x, int64_t incx,
                            const float *y, int64_t incy, float *result)
{
    switch (op) {
    case TILEMM_SUM: return tilemm_ssum(ctx, n, x, incx, result);
    case TILEMM_ASUM: return tilemm_sasum(ctx, n, x, incx, result);
    case TILEMM_NRM2: return tilemm_snrm2(ctx, n, x, incx, result);
    case TILEMM_MAX: return tilemm_smax(ctx, n, x, incx, result);
    case TILEMM_MIN: return tilemm_smin(ctx, n, x, incx, result);
    case REDUCE_DOT: return tilemm_sdot(ctx, n, x, incx, y, incy, result);
    default: /* a column, so incx must be positive */
        return tilemm_sreduce(ctx, (tilemm_reduce_t)op, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, n, 1, x,
                              incx, result, 1);
    }
}
