/* refused.h - operands of small calls. A call with wrong arguments must be refused, say why, and
 * write nothing.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_API_REFUSED_H
#define TILEMM_TESTS_API_REFUSED_H

#include <stdarg.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

/* Inputs of calls (x and y are all 1), and outputs: all bytes 0xff, which must stay so. */
static _Alignas(16) float x[64], y[64], result[64];
static int64_t indices[64], offsets[8];

/* The address `bytes` bytes after a pointer, to be used as one that is not aligned. */
static inline void *shifted(const void *pointer, int bytes)
{
    return (char *)(uintptr_t)pointer + bytes;
}

/* Every operation once, as DO(call). */
#define EVERY_OPERATION(DO, ctx)                                                                   \
    DO(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 3, 4, 1, x, 4, y,  \
                    3, 0.5f, result, 3));                                                          \
    DO(tilemm_sgemm_strided_batched(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 3, \
                                    4, 1, x, 4, 8, y, 3, 12, 0, result, 3, 6, 2));                 \
    DO(tilemm_sgemm_batched(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 3, 4, 1,   \
                            (const float *const[]){x}, 4, (const float *const[]){y}, 3, 0,         \
                            (float *const[]){result}, 3, 1));                                      \
    DO(tilemm_transpose(ctx, 2, 3, 8, x, 3, result, 2));                                           \
    DO(tilemm_transpose_strided_batched(ctx, 2, 3, 4, x, 3, 6, result, 2, 6, 2));                  \
    DO(tilemm_transpose_inplace(ctx, 2, 3, 4, result, 3, 2));                                      \
    DO(tilemm_somatcopy(ctx, TILEMM_ROW_MAJOR, TILEMM_TRANS, 2, 3, 2, x, 3, result, 2));           \
    DO(tilemm_simatcopy(ctx, TILEMM_ROW_MAJOR, TILEMM_TRANS, 2, 3, 2, result, 3, 2));              \
    DO(tilemm_ssum(ctx, 20, x, 1, result));                                                        \
    DO(tilemm_sasum(ctx, 20, x, 1, result));                                                       \
    DO(tilemm_snrm2(ctx, 20, x, 1, result));                                                       \
    DO(tilemm_smax(ctx, 20, x, 1, result));                                                        \
    DO(tilemm_smin(ctx, 20, x, 1, result));                                                        \
    DO(tilemm_sdot(ctx, 20, x, 1, y, 1, result));                                                  \
    DO(tilemm_isamax(ctx, 20, x, 1, indices));                                                     \
    DO(tilemm_isamin(ctx, 20, x, 1, indices));                                                     \
    DO(tilemm_ismax(ctx, 20, x, 1, indices));                                                      \
    DO(tilemm_ismin(ctx, 20, x, 1, indices));                                                      \
    DO(tilemm_sreduce(ctx, TILEMM_MEAN, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 4, 5, x, 5, result,    \
                      1));                                                                         \
    DO(tilemm_sargreduce(ctx, TILEMM_AMIN, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 4, 5, x, 5, result, \
                         1, indices));                                                             \
    DO(tilemm_sreduce_segments(ctx, TILEMM_SUMSQ, 3, x, offsets, result))

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
