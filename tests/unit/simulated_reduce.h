/* simulated_reduce.h - the reductions of simulated GPUs (simulated_cuda.h): plain loops in the
 * canonical order of kernels/reduce/layout.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_SIMULATED_REDUCE_H
#define TILEMM_TESTS_UNIT_SIMULATED_REDUCE_H

/* At once: of a tilemm__reduce_args_t, and of a tilemm__segments_args_t. */
void reduce_vectors(const void *args);
void reduce_segments(const void *args);

#endif
