/* candidates_cuda.c - see candidates_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

#include <string.h>

#include "lib/size.h"

enum { MOST_BLOCKS = 1 << 30 /* of a grid that strides over its items; the limit is twice that */ };

int tilemm__sgemm_is_allowed(const tilemm__limits_t *limits, int variant)
{
    return !strncmp(tilemm__sgemm_rows[variant].name, limits->variant,
                    strcspn(limits->variant, "+"));
}

int tilemm__sgemm_may_divide_k(const tilemm__limits_t *limits)
{
    return !strchr(limits->variant, '+');
}

size_t tilemm__sgemm_partial_bytes(const tilemm__sgemm_args_t *args,
                                   const tilemm__sgemm_trial_t *trial)
{
    if (trial->splits == 1 || trial->cluster)
        return 0;
    return (size_t)trial->splits * (size_t)args->batch_count * (size_t)args->m * (size_t)args->n *
           sizeof(float);
}

void tilemm__sgemm_fill_splitk(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_splitk_t *splitk)
{
    enum { MANY_SPLITS = 16, LANES = 256, LANES_OF_MANY = 32 };
    const int many = trial->splits >= MANY_SPLITS;
    const int64_t count = args->batch_count * args->m * args->n;
    const int64_t blocks = tilemm__div_up(count, many ? LANES_OF_MANY : LANES);

    splitk->blocks = 0;
    if (tilemm__sgemm_partial_bytes(args, trial) == 0)
        return;
    *splitk = (tilemm__sgemm_splitk_t){
        .args = *args,
        .splits = trial->splits,
        .count = count,
        .variant = many ? TILEMM__sgemm_splitk_sm75_32x8 : TILEMM__sgemm_splitk_sm75_256x1,
        .blocks = (unsigned)tilemm__min(blocks, MOST_BLOCKS),
        .concurrent = limits->cuda->cc >= 90,
    };
}
