/* generic.c - the reductions for any CPU: vectors of 16 bytes, which each compiler can lower.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>

typedef int32_t words __attribute__((vector_size(16)));

static inline int32_t largest_word(words v)
{
    const int32_t low = v[0] > v[1] ? v[0] : v[1], high = v[2] > v[3] ? v[2] : v[3];
    return low > high ? low : high;
}

static inline int first_word(words v)
{
    int i = 0;
    while (i < 4 && !v[i])
        i++;
    return i;
}

#define REDUCE_ISA "generic"
#define REDUCE_TABLE tilemm__reduce_cpu_generic
#define REDUCE_DOUBLES 2
#define REDUCE_WORDS 4
#define REDUCE_WIDEN(p) ((vec_d){(p)[0], (p)[1]})
#define REDUCE_PART(p, count) ((void)(count), (vec_d){(p)[0], 0})
#define REDUCE_ADD(a, b) ((a) + (b))
#define REDUCE_ACROSS(v) ((v)[0] + (v)[1])
#define REDUCE_LARGEST(v) largest_word(v)
#define REDUCE_FIRST(v) first_word(v)
#define REDUCE_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#include "tile.h"
