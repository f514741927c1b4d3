/* backend.c - the CPU backend: state, threads, workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <stdlib.h>

#include "cpu.h"
#include "team.h"

static tilemm__place_t cpu_locate(tilemm_t ctx, const void *pointer)
{
    if (!ctx->looked)
        tilemm__look_for_driver(ctx->state);
    ctx->looked = 1;
    return tilemm__is_device_pointer(ctx->state, pointer) ? TILEMM__DEVICE : TILEMM__HOST;
}

static tilemm_status_t cpu_open(tilemm_t ctx, int device)
{
    tilemm__cpu_state_t *state = calloc(1, sizeof *state);
    (void)device;
    if (!state)
        return TILEMM_OUT_OF_MEMORY;
    tilemm__cpu_read_traits(&state->traits, ctx->arch);
    state->kernels = tilemm__cpu_kernels_for(state->traits.isa);
    const tilemm_status_t status = tilemm__cpu_find_tuning(ctx, state);
    if (status != TILEMM_SUCCESS) {
        free(state);
        return status;
    }
    tilemm__look_for_driver(state);
    state->has_gpu = state->driver != NULL || tilemm__has_gpu();
    enum { FEW = 64 };
    const int processors = tilemm__processors();
    state->most_threads = 4 * processors > FEW ? 4 * processors : FEW;
    state->traits.threads = ctx->env_threads ? ctx->env_threads : tilemm__default_threads();
    ctx->state = state;
    return TILEMM_SUCCESS;
}

static tilemm_status_t cpu_close(tilemm_t ctx)
{
    tilemm__cpu_state_t *state = ctx->state;
    if (state->driver)
        dlclose(state->driver);
    free(state->buffer);
    free(state);
    return TILEMM_SUCCESS;
}

static tilemm_status_t cpu_synchronize(tilemm_t ctx)
{
    (void)ctx;
    return TILEMM_SUCCESS;
}

static tilemm_status_t cpu_set_stream(tilemm_t ctx, void *stream)
{
    if (!stream)
        return TILEMM_SUCCESS;
    return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                        "set_stream: cuda_stream = %p, must be NULL on a CPU context", stream);
}

int tilemm__cpu_threads(tilemm_t ctx)
{
    const tilemm__cpu_state_t *state = ctx->state;
    int threads = ctx->threads ? ctx->threads : state->traits.threads;
    return threads < state->most_threads ? threads : state->most_threads;
}

tilemm__limits_t tilemm__cpu_limits(tilemm_t ctx)
{
    const int threads = tilemm__cpu_threads(ctx);
    return (tilemm__limits_t){
        .cpu = tilemm__cpu_traits(ctx),
        .tuning = tilemm__cpu_tuning(ctx),
        .kernels = tilemm__cpu_kernels(ctx),
        .math = ctx->math,
        .invariance = ctx->invariance,
        .threads = tilemm__claim_threads(ctx->threads ? threads : 0, threads),
        .team = threads,
        .workspace = SIZE_MAX,
        .variant = ctx->variant,
    };
}

void *tilemm__cpu_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    enum { ALIGNMENT = 64, LEAST = 4096 };
    tilemm__cpu_state_t *state = ctx->state;
    if (ctx->workspace) {
        size_t skip = -(uintptr_t)ctx->workspace % ALIGNMENT;
        *got = ctx->workspace_bytes > skip ? ctx->workspace_bytes - skip : 0;
        return *got ? (char *)ctx->workspace + skip : NULL;
    }
    /* Where there is no room for all of it half of it may do, and so on. */
    for (; want > state->buffer_bytes && want >= LEAST; want /= 2) {
        void *larger;
        if (posix_memalign(&larger, ALIGNMENT, want) == 0) {
            free(state->buffer);
            state->buffer = larger;
            state->buffer_bytes = want;
        }
    }
    *got = state->buffer_bytes;
    return state->buffer;
}

static const char *cpu_tuning(tilemm_t ctx)
{
    return ((const tilemm__cpu_state_t *)ctx->state)->tuning_text;
}

/* Workspaces are the device's: what the CPU packs lies in memory of its own. */
static size_t cpu_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    (void)args;
    return 0;
}

const tilemm__backend_t tilemm__cpu_backend = {
    .id = TILEMM_BACKEND_CPU,
    .locate = cpu_locate,
    .open = cpu_open,
    .close = cpu_close,
    .synchronize = cpu_synchronize,
    .set_stream = cpu_set_stream,
    .threads = tilemm__cpu_threads,
    .tuning = cpu_tuning,
    .sgemm = tilemm__cpu_sgemm,
    .sgemm_workspace = cpu_sgemm_workspace,
    .transpose = tilemm__cpu_transpose,
    .transpose_inplace = tilemm__cpu_transpose_inplace,
    .reduce = tilemm__cpu_reduce,
    .reduce_segments = tilemm__cpu_reduce_segments,
    .sgemm_small = tilemm__cpu_sgemm_small,
    .transpose_small = tilemm__cpu_transpose_small,
    .reduce_small = tilemm__cpu_reduce_small,
};
