/* vectors.h - vectors of floats of the including file's instruction set (TILE_BYTES, TILE_NR: see
 * tile.h), and how functions of them are inlined and unrolled.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_VECTORS_H
#define TILEMM_KERNELS_SGEMM_CPU_VECTORS_H

/* Whatever CFLAGS say: at -O2 some loops would stay, and with them all sums lie in memory. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define TILE_INLINE static inline __attribute__((always_inline))
/* Unrolled early, so that arrays of vectors become registers. */
#ifdef __clang__ /* which leaves the other pragma aside, and warns of loops that it has removed */
#pragma clang diagnostic ignored "-Wpass-failed"
#define TILE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TILE_UNROLL _Pragma("GCC unroll 32")
#endif
#define TILE_LEAST(x, y) ((x) < (y) ? (x) : (y))

typedef float vec_t __attribute__((vector_size(TILE_BYTES)));
typedef float four_t __attribute__((vector_size(16)));
/* The same in memory that is aligned to a float only. */
typedef float vec_mem_t __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef float four_mem_t __attribute__((vector_size(16), aligned(4), may_alias));

enum { VECTOR = TILE_BYTES / 4, VECTORS = TILE_NR / VECTOR };
enum { LINE = 16 }; /* floats in a cache line */

#endif
