/* results.h - where the CPU stores the results of reductions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_RESULTS_H
#define TILEMM_LIB_REDUCE_RESULTS_H

#include "kernels/reduce/cpu/kernels.h"

static inline void tilemm__store_sum(const tilemm__reduce_args_t *args, int64_t vector,
                                     tilemm__sum_t sum, int64_t count)
{
    args->out[vector * args->out_stride] = tilemm__sum_result(args->op, sum, count);
}

static inline void tilemm__store_key(const tilemm__reduce_args_t *args, int64_t vector, int32_t key,
                                     int64_t index)
{
    if (args->out)
        args->out[vector * args->out_stride] = tilemm__key_result(args->op, key);
    if (args->index_out)
        args->index_out[vector * args->out_stride] = tilemm__index_result(key, index);
}

#endif
