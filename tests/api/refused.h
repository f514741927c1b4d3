/* refused.h - wrong arguments: a call must be refused, say why, and write nothing.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_REFUSED_H
#define TILEMM_TESTS_API_REFUSED_H

#include <stdarg.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

/* Inputs of calls (x and y are all 1), and outputs: all bytes 0xff, which must stay so. */
static float x[64], y[64], result[64];
static int64_t indices[64], offsets[8];

static inline void prepare_arguments(void)
{
    for (int i = 0; i < 64; i++)
        x[i] = y[i] = 1;
    memset(result, 0xff, sizeof(result));
    memset(indices, 0xff, sizeof(indices));
}

static inline int untouched(void)
{
    unsigned char all = 0xff;
    for (size_t i = 0; i < sizeof(result); i++)
        all &= ((unsigned char *)result)[i];
    for (size_t i = 0; i < sizeof(indices); i++)
        all &= ((unsigned char *)indices)[i];
    return all == 0xff;
}

/* The status says that an argument is invalid, and the message holds all of these (up to NULL). */
static inline void refused(tilemm_t ctx, tilemm_status_t status, ...)
{
    const char *message = tilemm_last_error(ctx), *part;
    va_list parts;
    va_start(parts, status);
    part = va_arg(parts, const char *);
    CHECK(status == TILEMM_INVALID_ARGUMENT, "%s...: %s", part, tilemm_status_string(status));
    for (; part; part = va_arg(parts, const char *))
        CHECK(strstr(message, part), "\"%s\" is not in \"%s\"", part, message);
    va_end(parts);
    CHECK(untouched(), "something was written: %s", message);
}

/* REFUSED(call, part...): the call on `ctx` is refused, and each part is in its message. */
#define REFUSED(call, ...) refused(ctx, call, __VA_ARGS__, (const char *)NULL)

#endif
