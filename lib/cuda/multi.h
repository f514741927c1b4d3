/* multi.h - a context over several devices: a member for each entry of the list, which is a context
 * of one device. Its operations divide a problem and call the members'.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_MULTI_H
#define TILEMM_LIB_CUDA_MULTI_H

#include "cuda.h"
#include "lib/plan_multi.h"

/* Member 0 works on the context's stream; the others on streams of their own, which are ordered
 * after it when a call begins, and before it when the call ends. */
typedef struct {
    tilemm_t ctx;
    cudaStream_t own; /* NULL for member 0 */
    cudaEvent_t done;
} tilemm__member_t;

typedef struct {
    tilemm__multi_devices_t devices;
    cudaEvent_t begun; /* what the context's stream had to do before a call */
    int lost;          /* a device failed: last_error says which */
    char why[256];
    tilemm__member_t member[TILEMM__MOST_DEVICES];
} tilemm__multi_t;

static inline tilemm__multi_t *tilemm__multi(tilemm_t ctx)
{
    return (tilemm__multi_t *)ctx->state;
}

extern const tilemm__backend_t tilemm__multi_backend;

/* ---- lib/cuda/multi_run.c: the operations -------------------------------------------------- */

tilemm_status_t tilemm__multi_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args);
tilemm_status_t tilemm__multi_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__multi_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__multi_copy(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__multi_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args);
tilemm_status_t tilemm__multi_segments(tilemm_t ctx, const tilemm__segments_args_t *args);

/* ---- lib/cuda/multi.c --------------------------------------------------------------------- */

tilemm_status_t tilemm__multi_open(tilemm_t ctx, int count, const int *devices);

/* TILEMM__ON_HOST, TILEMM__ANYWHERE, or the ordinal of the device. */
int tilemm__multi_place(tilemm_t ctx, const void *pointer);
/* The first member on this device; 0 for operands that are on none; -1 if it is not in the list. */
int tilemm__multi_member_on(tilemm_t ctx, int place);

/* One member's part of a call. */
typedef tilemm_status_t (*tilemm__part_t)(tilemm_t member, int number, void *data);

/* Begin a call: members get the context's settings. Fails where the context is lost. */
tilemm_status_t tilemm__multi_begin(tilemm_t ctx);
/* Have members do their parts, of which `works` says who has one: at the same time on threads if
 * `waits`, or else queued one after the other. relay, if not NULL, is opened where all have
 * threads. Returns the first failure, which names the device. */
struct tilemm__relay;
tilemm_status_t tilemm__multi_run(tilemm_t ctx, const char *works, int waits, tilemm__part_t part,
                                  void *data, struct tilemm__relay *relay);
/* The same of one member. */
tilemm_status_t tilemm__multi_run_one(tilemm_t ctx, int number, tilemm__part_t part, void *data);

#endif
