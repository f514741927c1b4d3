/* stage_cuda.c - transposes on a GPU with operands anywhere: those on the host are staged.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/cuda/cuda.h"

tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "transpose");
    if (!p.scaled || p.alpha != 0.0f)
        p.src = tilemm__stage(&stage, p.src, p.batch_count, p.rows, p.cols, p.elem_size, &p.ld_src,
                              &p.stride_src, TILEMM__STAGE_IN);
    p.dst = tilemm__stage(&stage, p.dst, p.batch_count, p.trans ? p.cols : p.rows,
                          p.trans ? p.rows : p.cols, p.elem_size, &p.ld_dst, &p.stride_dst,
                          TILEMM__STAGE_OUT);
    if (stage.status == TILEMM_SUCCESS)
        stage.status = tilemm__cuda_transpose(ctx, &p);
    return tilemm__stage_end(&stage);
}

tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    int64_t no_stride = 0;
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "transpose");
    p.dst = tilemm__stage(&stage, p.dst, 1, p.rows, p.cols, p.elem_size, &p.ld_src, &no_stride,
                          TILEMM__STAGE_IN);
    p.src = p.dst;
    if (p.dst != args->dst) /* dense on the device, where the two layouts take the same room */
        p.ld_dst = p.trans ? p.rows : p.cols;
    if (stage.status == TILEMM_SUCCESS)
        stage.status = tilemm__cuda_transpose_inplace(ctx, &p);
    if (stage.status == TILEMM_SUCCESS && p.dst != args->dst)
        tilemm__stage_copy_out(&stage, args->dst, p.dst, p.trans ? p.cols : p.rows, p.ld_dst,
                               p.elem_size, args->ld_dst);
    return tilemm__stage_end(&stage);
}
