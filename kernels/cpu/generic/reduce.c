/* reduce.c - the reductions for any CPU: vectors of 16 bytes, which each compiler can lower.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define REDUCE_TABLE tilemm__reduce_cpu_generic
#define REDUCE_DOUBLES 2
#define REDUCE_WORDS 4
#define REDUCE_WIDEN(p) ((vec_d){(p)[0], (p)[1]})
#define REDUCE_PART(p, count) ((void)(count), (vec_d){(p)[0], 0})
#define REDUCE_ADD(a, b) ((a) + (b))
#define REDUCE_ANY(v) (((v)[0] | (v)[1] | (v)[2] | (v)[3]) != 0)
#define REDUCE_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#include "../reduce_tile.h"
