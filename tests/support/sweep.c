/* sweep.c - see sweep.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

int test_is_run_by_another(void)
{
    const char *runner = getenv("RUN");
    return runner && *runner;
}

int test_quick(void)
{
    const char *quick = getenv("TILEMM_TEST_QUICK");
    return quick && strcmp(quick, "1") == 0;
}
