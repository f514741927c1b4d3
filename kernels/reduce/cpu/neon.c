/* neon.c - the reductions for NEON: a tile's 32 lanes are 16 q accumulators, of the 32 there are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <arm_neon.h>

/* 16 bits of each word make 64. */
static inline int first_word(uint32x4_t v)
{
    const uint64_t bits = vget_lane_u64(vreinterpret_u64_u16(vmovn_u32(v)), 0);
    return bits ? __builtin_ctzll(bits) / 16 : 4;
}

#define REDUCE_ISA "neon"
#define REDUCE_TABLE tilemm__reduce_cpu_neon
#define REDUCE_DOUBLES 2
#define REDUCE_WORDS 4
#define REDUCE_WIDEN(p) ((vec_d)vcvt_f64_f32(vld1_f32(p)))
#define REDUCE_PART(p, count) ((void)(count), (vec_d){(p)[0], 0})
#define REDUCE_ADD(a, b) ((a) + (b))
#define REDUCE_ACROSS(v) vaddvq_f64((float64x2_t)(v))
#define REDUCE_LARGEST(v) vmaxvq_s32((int32x4_t)(v))
#define REDUCE_FIRST(v) first_word((uint32x4_t)(v))
#define REDUCE_MAX(a, b) ((vec_w)vmaxq_s32((int32x4_t)(a), (int32x4_t)(b)))
#include "tile.h"
