/* reduce.c - the reductions for NEON: a tile's 32 lanes are 16 q accumulators, of the 32 there are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <arm_neon.h>

#define REDUCE_TABLE tilemm__reduce_cpu_neon
#define REDUCE_DOUBLES 2
#define REDUCE_WORDS 4
#define REDUCE_WIDEN(p) ((vec_d)vcvt_f64_f32(vld1_f32(p)))
#define REDUCE_PART(p, count) ((void)(count), (vec_d){(p)[0], 0})
#define REDUCE_ADD(a, b) ((a) + (b))
#define REDUCE_ANY(v) (vmaxvq_u32((uint32x4_t)(v)) != 0)
#define REDUCE_MAX(a, b) ((vec_w)vmaxq_s32((int32x4_t)(a), (int32x4_t)(b)))
#include "../reduce_tile.h"
