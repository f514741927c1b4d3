/* stage_cuda.c - reductions on a GPU with operands anywhere: those on the host are staged.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "lib/cuda/cuda.h"

tilemm_status_t tilemm__cuda_staged_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    tilemm__reduce_args_t p = *args;
    int64_t no_stride = 0, out_stride = p.out_stride;
    if (p.out && p.index_out &&
        tilemm__cuda_is_far(ctx, p.out) != tilemm__cuda_is_far(ctx, p.index_out)) {
        /* Both results share a stride, which staging changes: one after the other. */
        p.index_out = NULL;
        tilemm_status_t status = tilemm__cuda_staged_reduce(ctx, &p);
        p = *args;
        p.out = NULL;
        return status == TILEMM_SUCCESS ? tilemm__cuda_staged_reduce(ctx, &p) : status;
    }
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "reduce");
    if (p.n > 0 && p.count > 1 && p.vstride != 1)
        p.x = tilemm__stage(&stage, p.x, 1, p.count, p.n, sizeof(float), &p.vstride, &no_stride,
                            TILEMM__STAGE_IN);
    else if (p.n > 0)
        p.x = tilemm__stage(&stage, p.x, 1, p.n, p.count, sizeof(float), &p.istride, &no_stride,
                            TILEMM__STAGE_IN);
    if (p.n > 0 && p.op == TILEMM__DOT)
        p.y = tilemm__stage(&stage, p.y, 1, p.n, 1, sizeof(float), &p.y_istride, &no_stride,
                            TILEMM__STAGE_IN);
    p.out = tilemm__stage(&stage, p.out, 1, p.count, 1, sizeof(float), &out_stride, &no_stride,
                          TILEMM__STAGE_OUT);
    if (p.index_out) {
        out_stride = args->out_stride;
        p.index_out = tilemm__stage(&stage, p.index_out, 1, p.count, 1, sizeof(int64_t),
                                    &out_stride, &no_stride, TILEMM__STAGE_OUT);
    }
    p.out_stride = out_stride;
    if (stage.status == TILEMM_SUCCESS)
        stage.status = tilemm__cuda_reduce(ctx, &p);
    return tilemm__stage_end(&stage);
}

/* x on the host: its extent stands in the offsets, which may lie on the device. */
static const float *stage_segments(tilemm__stage_t *stage, const tilemm__segments_args_t *p)
{
    tilemm_t ctx = stage->ctx;
    const int64_t *offsets = p->offsets;
    int64_t *copy = NULL;
    if (!tilemm__cuda_is_on_host(ctx, p->x)) { /* as it is, or refused */
        int64_t ld = 1, stride = 0;
        return tilemm__stage(stage, p->x, 1, 1, 1, sizeof(float), &ld, &stride, 0);
    }
    if (!tilemm__cuda_is_on_host(ctx, offsets)) {
        size_t bytes = ((size_t)p->segments + 1) * sizeof *copy;
        if (!(copy = malloc(bytes))) {
            stage->status = tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "reduce: host memory ran out");
            return NULL;
        }
        cudaError_t error = cudaMemcpyAsync(copy, offsets, bytes, cudaMemcpyDeviceToHost,
                                            tilemm__cuda(ctx)->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
        if (error != cudaSuccess)
            stage->status = tilemm__cuda_fail(ctx, "reduce", error);
        offsets = copy;
    }
    const float *x = p->x;
    if (stage->status == TILEMM_SUCCESS) {
        int64_t first = INT64_MAX, last = 0;
        for (int64_t s = 0; s < p->segments; s++) { /* offsets on the device may decrease */
            if (offsets[s] < 0 || offsets[s] >= offsets[s + 1])
                continue;
            first = offsets[s] < first ? offsets[s] : first;
            last = offsets[s + 1] > last ? offsets[s + 1] : last;
        }
        int64_t n = last - first, ld = n, stride = 0;
        if (last > 0) {
            const float *staged = tilemm__stage(stage, x + first, 1, 1, n, sizeof(float), &ld,
                                                &stride, TILEMM__STAGE_IN);
            /* Offsets count from x, which has no place on the device if first is not 0. */
            x = (const float *)((uintptr_t)staged - (uintptr_t)first * sizeof(float));
        }
    }
    free(copy);
    return x;
}

tilemm_status_t tilemm__cuda_staged_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    tilemm__segments_args_t p = *args;
    int64_t ld = p.segments + 1, no_stride = 0;
    tilemm__stage_t stage = tilemm__stage_begin(ctx, "reduce");
    if (p.x)
        p.x = stage_segments(&stage, &p);
    p.offsets = tilemm__stage(&stage, p.offsets, 1, 1, p.segments + 1, sizeof(int64_t), &ld,
                              &no_stride, TILEMM__STAGE_IN);
    ld = p.segments;
    p.out = tilemm__stage(&stage, p.out, 1, 1, p.segments, sizeof(float), &ld, &no_stride,
                          TILEMM__STAGE_OUT);
    if (stage.status == TILEMM_SUCCESS)
        stage.status = tilemm__cuda_reduce_segments(ctx, &p);
    return tilemm__stage_end(&stage);
}
