/* cpu.h - the CPU backend's own state and services.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CPU_CPU_H
#define TILEMM_LIB_CPU_CPU_H

#include "kernels/cpu.h"
#include "lib/internal.h"
#include "lib/plan.h"
#include "lib/tuning.h"

typedef struct {
    tilemm__cpu_traits_t traits;
    tilemm__cpu_tuning_t tuning;
    char tuning_text[TILEMM__TUNING_WRITTEN]; /* for tilemm_tuning() */
    const tilemm__cpu_kernels_t *kernels;
    void *buffer; /* workspace of the context's own, 64-byte aligned */
    size_t buffer_bytes;
    int most_threads; /* more are of no use, and the runtime may not have them */
    int has_gpu;      /* this machine may have one of NVIDIA's, or its driver was there at first */
    void *driver;     /* NVIDIA's, once the process has it loaded, and its cuPointerGetAttributes */
    void *get_attributes;
    unsigned long long driver_loads; /* libraries loaded when it was last looked for */
} tilemm__cpu_state_t;

static inline const tilemm__cpu_traits_t *tilemm__cpu_traits(tilemm_t ctx)
{
    return &((const tilemm__cpu_state_t *)ctx->state)->traits;
}

static inline const tilemm__cpu_kernels_t *tilemm__cpu_kernels(tilemm_t ctx)
{
    return ((const tilemm__cpu_state_t *)ctx->state)->kernels;
}

static inline const tilemm__cpu_tuning_t *tilemm__cpu_tuning(tilemm_t ctx)
{
    return &((const tilemm__cpu_state_t *)ctx->state)->tuning;
}

/* lib/cpu/tuning.c: set state->tuning and its text, by the user's file where there is one that
 * fits; state has traits and kernels. A file that is broken is TILEMM_INVALID_ARGUMENT. */
tilemm_status_t tilemm__cpu_find_tuning(tilemm_t ctx, tilemm__cpu_state_t *state);

/* lib/cpu/features.c: read the traits off the machine (arch: TILEMM_ARCH's cap, or ""). */
void tilemm__cpu_read_traits(tilemm__cpu_traits_t *traits, const char *arch);
/* lib/cpu/kernels.c: NULL where they are not compiled in. */
const tilemm__cpu_kernels_t *tilemm__cpu_kernels_for(tilemm__isa_t isa);

/* How many threads the context may use. */
int tilemm__cpu_threads(tilemm_t ctx);
/* What the plan of a call is given, with any amount of workspace. Threads are claimed (team.h):
 * what the plan leaves of them is to be released at once, the others when the call has finished. */
tilemm__limits_t tilemm__cpu_limits(tilemm_t ctx);

/* Up to `want` bytes of workspace, 64-byte aligned, valid until the next call: the user's, or the
 * context's own. *got is less, or 0 (and NULL returned), if that is smaller and cannot grow. */
void *tilemm__cpu_workspace(tilemm_t ctx, size_t want, size_t *got);

/* lib/cpu/pointer.c: whether a pointer is to memory that only a GPU can read, by the driver that
 * was last looked for; whether some pointer may be such, now. */
int tilemm__has_gpu(void); /* whether the machine may have such memory at all; takes system calls */
void tilemm__look_for_driver(tilemm__cpu_state_t *state);
int tilemm__is_device_pointer(const tilemm__cpu_state_t *state, const void *pointer);
int tilemm__cpu_may_have_device(tilemm_t ctx);

tilemm_status_t tilemm__cpu_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args);
int tilemm__cpu_sgemm_small(tilemm_t ctx, const tilemm__sgemm_args_t *args);
int tilemm__cpu_transpose_small(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cpu_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cpu_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cpu_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args);
int tilemm__cpu_reduce_small(tilemm_t ctx, const tilemm__reduce_args_t *args);
tilemm_status_t tilemm__cpu_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args);

#endif
