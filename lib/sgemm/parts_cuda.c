/* parts_cuda.c - products that go through a GPU's memory in strips: those of large operands on the
 * host, and a GPU's part of a product that several share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "lib/cuda/flow.h"
#include "pipeline_cuda.h"

enum { FLOAT = sizeof(float) };

/* A batch in pieces; or, where its products are large or memory is short, one product after the
 * other. */
static tilemm_status_t run(tilemm__pipeline_call_t *call, double bytes)
{
    enum { LARGE = 256 << 20 };
    const tilemm__sgemm_args_t *const args = call->args;
    tilemm__sgemm_args_t p = *args;
    tilemm_status_t status = TILEMM_SUCCESS;
    if (args->batch_count > 1 && bytes <= LARGE && tilemm__cuda_run_batch(call, &status))
        return status;
    p.batch_count = 1;
    call->args = call->whole = &p;
    for (int64_t i = 0; i < args->batch_count && status == TILEMM_SUCCESS; i++) {
        p.a = args->a + i * args->stride_a;
        p.b = args->b + i * args->stride_b;
        p.c = args->c + i * args->stride_c;
        status = tilemm__cuda_run_pipeline(call);
    }
    return status;
}

int tilemm__cuda_pipelined_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                 tilemm_status_t *status)
{
    const void *const operands[] = {args->a, args->b, args->c};
    const int64_t strides[] = {args->stride_a, args->stride_b, args->stride_c};
    const double bytes[] = {(double)args->m * (double)args->k * FLOAT,
                            (double)args->k * (double)args->n * FLOAT,
                            (double)args->m * (double)args->n * FLOAT};
    const double product = bytes[0] + bytes[1] + bytes[2];
    tilemm__pipeline_call_t call = {
        .ctx = ctx, .args = args, .whole = args, .places = {.link = 1}, .waits = 1};
    double on_host = 0;
    int refused = 0;
    if (args->a_array || args->b_array || args->c_array || args->k == 0 ||
        !tilemm__cuda_is_large(ctx, product * (double)args->batch_count))
        return 0;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    for (int i = 0; i < 3; i++) {
        const tilemm__place_t place = tilemm__cuda_locate(ctx, operands[i]);
        call.places.on_host[i] = place == TILEMM__HOST;
        if (call.places.on_host[i])
            on_host += bytes[i] * (double)(strides[i] ? args->batch_count : 1);
        refused |= place == TILEMM__ELSEWHERE;
    }
    int runs = !refused && tilemm__cuda_is_large(ctx, on_host) &&
               !tilemm__cuda_is_capturing(tilemm__cuda(ctx)->stream);
    if (runs) {
        call.places.memory = tilemm__cuda_memory_limit(ctx);
        runs = call.places.memory > 0;
    }
    if (runs)
        *status = run(&call, product);
    (void)tilemm__cuda_leave(ctx, before, TILEMM_SUCCESS);
    return runs;
}

tilemm_status_t tilemm__cuda_sgemm_part(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                        const tilemm__sgemm_args_t *whole, double peer_link,
                                        struct tilemm__relay *relay, int member)
{
    const void *const operands[] = {args->a, args->b, args->c};
    /* Whose times are written waits. */
    tilemm__pipeline_call_t call = {
        .ctx = ctx, .args = args, .whole = whole, .waits = *ctx->timeline != 0};
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(ctx);
    tilemm_status_t status;
    int far = 0, on_host = 0;
    for (int i = 0; i < 3; i++) {
        const tilemm__place_t place = tilemm__cuda_locate(ctx, operands[i]);
        call.places.on_host[i] = place == TILEMM__HOST || place == TILEMM__ELSEWHERE;
        far |= call.places.on_host[i];
        call.on_gpu[i] = place == TILEMM__ELSEWHERE;
        call.waits |= place == TILEMM__HOST;
        on_host |= place == TILEMM__HOST;
    }
    if (far) {
        call.places.memory = tilemm__cuda_memory_limit(ctx);
        call.relay = relay && relay->members ? relay : NULL;
        call.places.link = on_host ? 1 : peer_link;
        if (call.relay)
            call.places.sharers[relay->side] = relay->members;
        call.me = call.relay ? relay->index[member] : 0;
        status = tilemm__cuda_run_pipeline(&call);
    } else {
        char variant[sizeof ctx->variant];
        memcpy(variant, ctx->variant, sizeof variant);
        tilemm__cuda_choose_kernel(ctx, whole);
        status = tilemm__cuda_sgemm(ctx, args);
        memcpy(ctx->variant, variant, sizeof variant);
    }
    return tilemm__cuda_leave(ctx, before, status);
}
