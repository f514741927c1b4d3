/* archs.h - calls on a context of each instruction set, and what each of them must keep to.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_ARCHS_H
#define TILEMM_TESTS_SUPPORT_ARCHS_H

#include "check.h"
#include "operand.h"
#include "program.h"

static const char *arch = ""; /* the context's TILEMM_ARCH */

/* Close the context (NULL at first), and open one for the next TILEMM_ARCH: NULL after the last. */
static inline tilemm_t next_arch(tilemm_t ctx, tilemm_backend_t backend, int threads)
{
    static const char *const *next;
    if (ctx)
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    else
        next = test_archs(backend);
    if (!*next)
        return NULL;
    arch = *next++;
    ctx = test_context(backend, arch);
    tilemm_set_threads(ctx, threads); /* without effect on a GPU */
    return ctx;
}

/* Prepare an operand of `count` elements anywhere. */
static inline void place_anywhere(operand_t *operand, size_t elem_size, int64_t count, rng_t *rng)
{
    operand_prepare(operand, rng_place(rng, TEST_BACKEND), elem_size * (size_t)count,
                    rng_offset(rng, elem_size == 16 ? 8 : elem_size));
}

/* Check the status and the kernel of a call; wait for its work if asked to. */
static inline void check_call(tilemm_t ctx, tilemm_status_t status, int wait, const char *text)
{
    const char *kernel = tilemm_last_kernel(ctx);
    CHECK(status == TILEMM_SUCCESS, "%s: %s: %s", text, tilemm_status_string(status),
          tilemm_last_error(ctx));
    if (wait)
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s: %s", text, tilemm_last_error(ctx));
    CHECK(test_kernel_allowed(kernel, arch), "%s: kernel %s", text, kernel);
}

/* Fetch an operand; only the bytes that the library owns may have changed. */
static inline void check_intact(operand_t *operand, const char *text, const char *what)
{
    operand_fetch(operand);
    CHECK(operand_intact(operand), "%s: %s changed", text, what);
}

#endif
