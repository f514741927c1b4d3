/* support.h - everything that tests of the public API share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_SUPPORT_H
#define TILEMM_TESTS_SUPPORT_SUPPORT_H

#include "tests/support/buffers.h"
#include "tests/support/gemm.h"
#include "tests/support/operand.h"
#include "tests/support/program.h"
#include "tests/support/random.h"
#include "tests/support/reduction.h"
#include "tests/support/sweep.h"

#endif
