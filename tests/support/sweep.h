/* sweep.h - how much a test program had better try.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_SWEEP_H
#define TILEMM_TESTS_SUPPORT_SWEEP_H

/* Whether TILEMM_TEST_QUICK=1 asks for small sweeps. */
int test_quick(void);

/* Whether another program runs this one, an emulator say, which is slow: RUN names it. */
int test_is_run_by_another(void);

#endif
