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

void tilemm__log(tilemm_t ctx, const char *format, ...)
{
    char line[512];
    va_list list;
    if (!ctx->log)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    /* One call, so that lines of several threads do not mix. */
    fprintf(stderr, "tilemm bench %s --backend %s\n", line,
            ctx->backend->id == TILEMM_BACKEND_CPU ? "cpu" : "cuda");
}

const char *tilemm_last_error(tilemm_t ctx)
{
    return ctx ? ctx->last_error : "the context is NULL";
}

const char *tilemm_last_kernel(tilemm_t ctx)
{
    return ctx ? ctx->last_kernel : "";
}
