/* stage_cuda.c - transposes on a GPU with operands anywhere: those on the host are staged,
 * or go through in pieces.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/cuda/flow.h"

tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    tilemm_status_t status;
    if (tilemm__cuda_transpose_pieces(ctx, args, &status))
        return status;
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

/* Whether the matrix lies on the host and the context may not have as much of the device's memory.
 */
static int is_too_large(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    const double bytes = (double)args->rows * (double)args->cols * (double)args->elem_size;
    if (!tilemm__cuda_is_large(ctx, bytes))
        return 0;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    const int is = tilemm__cuda_is_on_host(ctx, args->dst) &&
                   !tilemm__cuda_is_capturing(tilemm__cuda(ctx)->stream) &&
                   bytes > (double)tilemm__cuda_memory_limit(ctx);
    (void)tilemm__cuda_leave(ctx, before, TILEMM_SUCCESS);
    return is;
}

tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    int64_t no_stride = 0;
    tilemm_status_t status;
    if (tilemm__cuda_transpose_pieces(ctx, args, &status))
        return status;
    if (is_too_large(ctx, args))
        return TILEMM__LEFT_TO_CPU;
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "transpose");
    p.dst = tilemm__stage(&stage, p.dst, 1, p.rows, p.cols, p.elem_size, &p.ld_src, &no_stride,
                          TILEMM__STAGE_IN);
    p.src = p.dst;
    if (p.dst != args->dst) /* dense on the device, where the two layouts take the same room */
        p.ld_dst = p.trans ? p.rows : p.cols;
    if (stage.status == TILEMM_SUCCESS)
        stage.status = tilemm__cuda_transpose_inplace(ctx, &p);
    const int is_changed = stage.status == TILEMM_SUCCESS; /* from here on the host's matrix */
    if (stage.status == TILEMM_SUCCESS && p.dst != args->dst)
        tilemm__stage_copy_out(&stage, args->dst, p.dst, p.trans ? p.cols : p.rows, p.ld_dst,
                               p.elem_size, args->ld_dst);
    const int on_host = stage.active;
    status = tilemm__stage_end(&stage);
    /* A workspace that the user gave too little of is an error, whatever else there is. */
    return status == TILEMM_OUT_OF_MEMORY && on_host && !is_changed && !ctx->workspace
               ? TILEMM__LEFT_TO_CPU
               : status;
}
