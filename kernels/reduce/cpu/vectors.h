/* vectors.h - the vector registers of an instruction set, for the reductions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * tile.h is included once by each instruction set's file, which defines
 *   REDUCE_ISA      its name
 *   REDUCE_TABLE    the table to fill
 *   REDUCE_DOUBLES  doubles in a register: 2, 4 or 8
 *   REDUCE_WORDS    floats, or 32-bit integers, in a register: twice as many
 *   REDUCE_WIDEN    DOUBLES floats at an address, as a vec_d
 *   REDUCE_PART     the first of them only, fewer than DOUBLES, and zeros
 *   REDUCE_ADD      the sum of two vec_d; may be a multiply-add with 1, which uses other units than
 *                   the conversions to double
 *   REDUCE_MAX      the larger of two integer vectors, element by element
 *   REDUCE_ACROSS   the sum of the elements of a vec_d, in any order
 *   REDUCE_LARGEST  the largest element of an integer vector
 *   REDUCE_FIRST    the number of the first element of an integer vector that is all ones, where
 *                   the others are 0; WORDS or more if there is none
 *
 * Assumes GNU vector extensions, and IEEE arithmetic: no flag that lets the compiler reorder. */
#ifndef TILEMM_KERNELS_REDUCE_CPU_VECTORS_H
#define TILEMM_KERNELS_REDUCE_CPU_VECTORS_H

#include "kernels.h"

#if !defined(__GNUC__)
#error "the CPU kernels need GNU vector extensions"
#endif
#ifdef __FAST_MATH__
#error "the reductions promise an order of additions: build without -ffast-math"
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = TILEMM__TILE_LANES,
    ELEMS = TILEMM__TILE_ELEMS,
    DOUBLES = REDUCE_DOUBLES,
    WORDS = REDUCE_WORDS,
    PLAIN_REGS = 8, /* accumulators of a plain sum, enough to hide the latency of additions */
    ROW = PLAIN_REGS * DOUBLES,
    BLOCK = TILEMM__PLAIN_ROWS * ROW,
    KEY_REGS = 4 /* of a search */
};

typedef double vec_d __attribute__((vector_size(DOUBLES * 8)));
typedef int64_t vec_m __attribute__((vector_size(DOUBLES * 8)));
typedef int32_t vec_w __attribute__((vector_size(WORDS * 4)));
typedef uint32_t vec_u __attribute__((vector_size(WORDS * 4)));
typedef float vec_f __attribute__((vector_size(WORDS * 4)));
typedef float vec_h __attribute__((vector_size(DOUBLES * 4))); /* floats for one vec_d */
typedef int32_t vec_c __attribute__((vector_size(DOUBLES * 4)));

/* The same where a pointer has the alignment of an element only. */
typedef vec_d any_d __attribute__((aligned(8), may_alias));
typedef vec_m any_m __attribute__((aligned(8), may_alias));
typedef vec_w any_w __attribute__((aligned(4), may_alias));
typedef vec_u any_u __attribute__((aligned(4), may_alias));
typedef vec_f any_f __attribute__((aligned(4), may_alias));
typedef vec_h any_h __attribute__((aligned(4), may_alias));

/* Copy n <= 1024 elements of a strided vector to contiguous memory. */
static void gather(int64_t n, const float *x, int64_t istride, float *restrict tile)
{
    for (int64_t i = 0; i < n; i++)
        tile[i] = x[i * istride];
}

/* n elements of a vector, contiguous: in their place, or gathered to `packed`. */
INLINE const float *contiguous(int64_t n, const float *x, int64_t istride, float *packed)
{
    if (istride == 1)
        return x;
    gather(n, x, istride, packed);
    return packed;
}

/* Call f(op, nan_ignore, ...) with op and nan_ignore as constants. */
#define FOR_EACH_SUM(f, ...)                                                                       \
    switch (op * 2 + !!nan_ignore) {                                                               \
    case TILEMM__ASUM * 2: f(TILEMM__ASUM, 0, __VA_ARGS__); break;                                 \
    case TILEMM__ASUM * 2 + 1: f(TILEMM__ASUM, 1, __VA_ARGS__); break;                             \
    case TILEMM__SUMSQ * 2:                                                                        \
    case TILEMM__NRM2 * 2: f(TILEMM__SUMSQ, 0, __VA_ARGS__); break;                                \
    case TILEMM__SUMSQ * 2 + 1:                                                                    \
    case TILEMM__NRM2 * 2 + 1: f(TILEMM__SUMSQ, 1, __VA_ARGS__); break;                            \
    case TILEMM__SUM * 2 + 1:                                                                      \
    case TILEMM__MEAN * 2 + 1: f(TILEMM__SUM, 1, __VA_ARGS__); break;                              \
    case TILEMM__DOT * 2: f(TILEMM__DOT, 0, __VA_ARGS__); break;                                   \
    case TILEMM__DOT * 2 + 1: f(TILEMM__DOT, 1, __VA_ARGS__); break;                               \
    default: f(TILEMM__SUM, 0, __VA_ARGS__); break;                                                \
    }

#endif
