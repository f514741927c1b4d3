/* log.c - what a context says: messages of errors, names of kernels, and the log of calls.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

const char *tilemm_status_string(tilemm_status_t status)
{
    switch (status) {
    case TILEMM_SUCCESS: return "success";
    case TILEMM_INVALID_ARGUMENT: return "invalid argument";
    case TILEMM_OUT_OF_MEMORY: return "out of memory";
    case TILEMM_NO_DEVICE: return "no usable device";
    case TILEMM_NOT_SUPPORTED: return "not supported";
    case TILEMM_DEVICE_FAILURE: return "device failure";
    case TILEMM_INTERNAL_ERROR: return "internal error";
    }
    return "unknown status";
}

tilemm_status_t tilemm__fail(tilemm_t ctx, tilemm_status_t status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(ctx->last_error, sizeof ctx->last_error, format, list);
    va_end(list);
    return status;
}

void tilemm__set_kernel(tilemm_t ctx, const char *name)
{
    snprintf(ctx->kernel_text, sizeof ctx->kernel_text, "%s", name);
    ctx->last_kernel = ctx->kernel_text;
}

void tilemm__set_kernel_name(tilemm_t ctx, const char *name)
{
    ctx->last_kernel = name;
}

/* What takes lines where TILEMM_LOG=1. One call, so that lines of several threads do not mix. */
static void print_line(const char *line, void *user)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

tilemm_status_t tilemm_set_log(tilemm_t ctx, tilemm_log_t function, void *user)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    ctx->log = function ? function : ctx->env_log ? print_line : NULL;
    ctx->log_user = user;
    return TILEMM_SUCCESS;
}

void tilemm__log(tilemm_t ctx, const char *format, ...)
{
    char call[512], line[sizeof call + 64];
    va_list list;
    if (!ctx->log)
        return;
    va_start(list, format);
    vsnprintf(call, sizeof call, format, list);
    va_end(list);
    snprintf(line, sizeof line, "tilemm bench %s --backend %s", call,
             ctx->backend->id == TILEMM_BACKEND_CPU ? "cpu" : "cuda");
    ctx->log(line, ctx->log_user);
}

const char *tilemm_last_error(tilemm_t ctx)
{
    return ctx ? ctx->last_error : "the context is NULL";
}

const char *tilemm_last_kernel(tilemm_t ctx)
{
    return ctx ? ctx->last_kernel : "";
}

const char *tilemm_tuning(tilemm_t ctx)
{
    return ctx && ctx->backend->tuning ? ctx->backend->tuning(ctx) : "";
}
