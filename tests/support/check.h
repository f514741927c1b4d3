/* check.h - what every test program needs: counted checks, and the exit status for Automake.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_CHECK_H
#define TILEMM_TESTS_SUPPORT_CHECK_H

#include <stdio.h>

static long check_count, check_failures;

/* Count a check; say what failed, for the first 20 failures. */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition) && check_failures++ < 20) {                                               \
            fprintf(stderr, "%s:%d: failed: %s: ", __FILE__, __LINE__, #condition);                \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

/* Check that a call of the library on ctx succeeds. */
#define CHECK_OK(ctx, call) CHECK((call) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx))

enum { CHECK_SKIPPED = 77 };

/* The value for main to return. A program that checked nothing has failed. */
static inline int check_exit(void)
{
    printf("%ld checks, %ld failed\n", check_count, check_failures);
    return check_failures || !check_count ? 1 : 0;
}

#endif
