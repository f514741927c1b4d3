/* data.h - data for operands: normal numbers, bytes, and the families of `tilemm bench gemm
 * --data`, which tests compute with too.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_DATA_H
#define TILEMM_TOOLS_DATA_H

#include <stddef.h>
#include <stdint.h>

/* A line is a row of op(A) or a column of op(B), of k elements. Both operands are of the family but
 * where the text names A alone: B is normal then. X(value, name, text). */
#define DATA_SUITE(X) /* those of bench's suite `data` */                                          \
    X(DATA_NORMAL, "normal", "normal")                                                             \
    X(DATA_WIDE, "wide", "exponents 2^+-40")                                                       \
    X(DATA_WIDE_LINES, "wide-lines", "rows of mixed scale")                                        \
    X(DATA_OUTLIERS_100, "outliers-100", "1 of 100 times 2^20")                                    \
    X(DATA_OUTLIERS_1000, "outliers-1000", "1 of 1000 times 2^20")                                 \
    X(DATA_OUTLIERS_HUGE, "outliers-huge", "1 of 4000 times 2^60")                                 \
    X(DATA_HUGE_IN_LINE, "huge-in-line", "one huge per row")                                       \
    X(DATA_HUGE_LINES, "huge-lines", "a few huge rows")                                            \
    X(DATA_LOGNORMAL, "lognormal", "exp(4 normal)")                                                \
    X(DATA_CAUCHY, "cauchy", "Cauchy")                                                             \
    X(DATA_PERMUTATION, "permutation", "A a permutation")                                          \
    X(DATA_DIAGONAL, "diagonal", "A diagonal")                                                     \
    X(DATA_SPARSE_0_5, "sparse-0.5", "A 0.5 % dense")                                              \
    X(DATA_SPARSE_1, "sparse-1", "A 1 % dense")                                                    \
    X(DATA_SPARSE_3, "sparse-3", "A 3 % dense")                                                    \
    X(DATA_SPARSE_10, "sparse-10", "A 10 % dense")                                                 \
    X(DATA_SPARSE_20, "sparse-20", "A 20 % dense")                                                 \
    X(DATA_BOTH_0_5, "both-0.5", "both 0.5 % dense")                                               \
    X(DATA_BOTH_1, "both-1", "both 1 % dense")                                                     \
    X(DATA_BOTH_3, "both-3", "both 3 % dense")                                                     \
    X(DATA_BOTH_10, "both-10", "both 10 % dense")                                                  \
    X(DATA_BOTH_20, "both-20", "both 20 % dense")                                                  \
    X(DATA_ZERO_BLOCKS, "zero-blocks", "half the 128x128 zero")                                    \
    X(DATA_ZERO_STRIPS, "zero-strips", "half of k zero")                                           \
    X(DATA_RELU, "relu", "negatives zero")                                                         \
    X(DATA_TINY, "tiny", "A times 2^-120")                                                         \
    X(DATA_SOFTMAX, "softmax", "A exp(16 normal - 64)")                                            \
    X(DATA_WIDE_120, "wide-120", "A with exponents 2^+-120")                                       \
    X(DATA_HUGE, "huge", "times 2^58")                                                             \
    X(DATA_BYTES, "bytes", "integers 0 to 255")                                                    \
    X(DATA_EQUAL, "equal", "all 0.3")                                                              \
    X(DATA_INF_NAN, "inf-nan", "Inf and NaN")
#define DATA_OTHERS(X)                                                                             \
    X(DATA_UNIFORM, "uniform", "uniform [0, 1]")                                                   \
    X(DATA_SYMMETRIC, "symmetric", "uniform [-1, 1]")                                              \
    X(DATA_WIDE_20, "wide-20", "exponents 2^+-20")                                                 \
    X(DATA_WIDE_60, "wide-60", "exponents 2^+-60")                                                 \
    X(DATA_WIDE_ROWS, "wide-rows", "A 2^+-120, 1 row of 7 tiny")                                   \
    X(DATA_WIDE_PERMUTED, "wide-permuted", "A 2^+-110, B a permutation")                           \
    X(DATA_TINY_DECIDES, "tiny-decides", "one tiny decides")                                       \
    X(DATA_SUBNORMAL, "subnormal", "subnormal")                                                    \
    X(DATA_NEAR_OVERFLOW, "near-overflow", "near overflow")                                        \
    X(DATA_OVERFLOW, "overflow", "some products overflow")                                         \
    X(DATA_WIDE_STEPS, "wide-steps", "A's columns 2^+-60, B's rows back")                          \
    X(DATA_HUGE_AND_TINY, "huge-and-tiny", "2^64 in 2^-30, 2^58 in 2^-80")                         \
    X(DATA_INTEGERS, "integers", "integers to 2^11")                                               \
    X(DATA_CANCELLATION, "cancellation", "cancellation")

#define DATA_VALUE(value, name, text) value,
typedef enum { DATA_SUITE(DATA_VALUE) DATA_OTHERS(DATA_VALUE) DATA_FAMILIES } data_t;
#undef DATA_VALUE

const char *data_name(data_t family);
const char *data_text(data_t family);

/* Fill the lines of op(A), or of op(B): element p of line l is x[l * line_step + p * step]. It
 * depends on family, seed, l, p and k alone. */
void data_fill(data_t family, int of_b, uint64_t seed, int64_t lines, int64_t k, float *x,
               int64_t line_step, int64_t step);

void fill_normal(float *x, size_t count, uint64_t seed); /* mean 0, variance 1 */
void fill_bytes(void *x, size_t bytes, uint64_t seed);

#endif
