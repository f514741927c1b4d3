/* pipeline_cuda.h - a product in strips, once it is settled that it takes this way.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PIPELINE_CUDA_H
#define TILEMM_LIB_SGEMM_PIPELINE_CUDA_H

#include "lib/cuda/cuda.h"
#include "lib/cuda/relay.h"
#include "plan_pipeline.h"

typedef struct {
    tilemm_t ctx;
    const tilemm__sgemm_args_t *args;
    const tilemm__sgemm_args_t *whole; /* what args is a part of, whose kernel it takes */
    tilemm__pipeline_places_t places;  /* other GPUs are as far as the host */
    int on_gpu[3];                     /* A, B or C lies on another GPU */
    int waits; /* until all is done; else all is queued, and the strips lie in the context's buffer
                */
    tilemm__relay_t *relay; /* with other devices, or NULL; `me` of them */
    int me;
} tilemm__pipeline_call_t;

tilemm_status_t tilemm__cuda_run_pipeline(const tilemm__pipeline_call_t *call);

/* A batch with operands on the host, k not 0, in pieces: returns 1, and its status; 0 if memory is
 * too little for one product. It waits. (batch_cuda.c) */
int tilemm__cuda_run_batch(const tilemm__pipeline_call_t *call, tilemm_status_t *status);

/* Have all parts of a product take the kernel of the whole, with k undivided: so they have its
 * bits, unless it divides k itself. One of tensor cores that does leaves each part its own. Sets
 * ctx->variant, which the caller restores.
 */
void tilemm__cuda_choose_kernel(tilemm_t ctx, const tilemm__sgemm_args_t *whole);

/* Have copies of operands, whose rows lie otherwise, take the kernel of operands that lie on the
 * device as the caller's do, unless that divides k. Sets ctx->variant likewise. */
void tilemm__cuda_keep_bits(tilemm_t ctx, const tilemm__sgemm_args_t *whole);

#endif
