/* other.h - the BLAS of tests (other.c), which stands behind the drop-in.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_BLAS_OTHER_H
#define TILEMM_TESTS_BLAS_OTHER_H

#include <stdint.h>

/* What its routines do: they count the call, wait, and return. */
extern int other_calls, other_microseconds;

/* Its integers have 64 bits; the last m and lda that it was given. */
extern int other_is_wide;
extern int64_t other_m, other_lda;

#endif
