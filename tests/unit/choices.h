/* choices.h - what the plans choose for random problems: one line for each problem, and in it the
 * choice on each of four machines.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_CHOICES_H
#define TILEMM_TESTS_UNIT_CHOICES_H

#include "lib/plan.h"
#include "machines.h"
#include "tests/support/random.h"

/* A size from 1 to most: of any order of magnitude, and often a multiple of a power of two. */
int64_t choices_size(int64_t most);
/* An address with which nothing is read: 4-, 8- or, mostly, 256-byte aligned. */
void *choices_address(void);
/* The limits of a plan on CPU number `machine` of machines.h, without a math mode. */
tilemm__limits_t choices_cpu_limits(int machine, size_t workspace);

/* Each prints a line for each of `problems` problems. */
void choices_sgemm(int problems);
void choices_transpose(int problems);
void choices_reduce(int problems);

#endif
